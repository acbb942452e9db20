"""llm: what the loaders of the plugin return, and the tools of its toolbox; loaded when one of them is asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import llm

from filerefs import FilerefsError, Preprocessor, agentsmd, format_ref
from filerefs.integrations.shared import project_tools
from filerefs.retrieval import fetch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filerefs.retrieval import Tool


_ADVICE: Final = "names are relative to the folder that llm was started in; `ls` there shows them"

# Its classes have no types where they are made.
_llm: Any = llm


def load_ref(argument: str) -> list[llm.Fragment | llm.Attachment]:
    """
    Return the files that *argument* names: their texts as one fragment, each image and PDF as an attachment.

    Raises:
        ValueError: If one of them cannot be read; it says why.
    """
    with Preprocessor(media=True) as files:
        fetched = fetch(files, argument, advice=_ADVICE)
        if fetched.problems:
            raise ValueError(" ".join(fetched.problems))
        names = [outcome.path for outcome in fetched.outcomes]
        media = list(_attachments(files, names))
    # What says of an image that it is there stays out where nothing but images were asked for.
    fragments = [] if len(media) == len(names) else [_llm.Fragment(fetched.text, f"ref:{argument}")]
    return [*fragments, *media]


def _attachments(files: Preprocessor, names: list[str]) -> Iterator[llm.Attachment]:
    """Yield the images and PDFs among *names*, read as a message would read them."""
    for medium in files.preprocess(" ".join(map(format_ref, names))).media:
        yield llm.Attachment(type=medium.media_type, content=medium.data)


def load_instructions(argument: str) -> llm.Fragment:
    """
    Return the instruction files that hold for the path *argument*, as a system prompt shows them.

    Raises:
        ValueError: If there are none.
    """
    text = agentsmd.render(_discover(argument))
    if not text:
        raise ValueError(f"no instruction files hold for {argument or '.'}")
    fragment: llm.Fragment = _llm.Fragment(text, f"agentsmd:{argument}")
    return fragment


def load_template(argument: str) -> llm.Template:
    """
    Return a template with the instruction files that hold for the folder *argument*, if there are any, and the tools for it.

    Raises:
        ValueError: If there is no such folder.
    """
    folder = argument or "."
    try:
        Preprocessor(folder).close()
    except FilerefsError as error:
        raise ValueError(str(error)) from error
    holds = bool(_discover(folder))
    tools = "Project" if folder == "." else f"Project({json.dumps(folder)})"
    template: llm.Template = _llm.Template(name=f"filerefs:{folder}", system_fragments=[f"agentsmd:{folder}"] if holds else None, tools=[tools])
    return template


def _discover(path: str) -> agentsmd.Discovery:
    try:
        return agentsmd.expand_imports(agentsmd.discover(path or "."))
    except FilerefsError as error:
        raise ValueError(str(error)) from error


def make_tools(root: str) -> dict[str, Tool]:
    """Return the tools for the folder *root* by their names; it stays open as long as they are kept."""
    return {tool.name: tool for tool in project_tools(Preprocessor(root))}
