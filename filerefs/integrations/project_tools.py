"""All tools by which a model gets to know a folder: what is in it, and its instruction files as they are when it asks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from filerefs import agentsmd
from filerefs.retrieval import file_tools

if TYPE_CHECKING:
    from filerefs import Preprocessor
    from filerefs.retrieval import Tool

NO_FILES: Final = "This project has no instruction files."

# The tools have the same form whatever the files are; those of a folder may come later.
_ANY: Final = agentsmd.Entry(name="AGENTS.md", text="any", inline="")


def project_tools(files: Preprocessor) -> list[Tool]:
    """
    Return `read_ref` and `list_files`, and `project_list` and `project_get`, which read the instruction files at each call.

    Only files below the root of *files* are instruction files here; none of them counts as shown in a prompt.
    """
    # The root is the folder itself: what lies above is out of bounds.
    loader = agentsmd.Loader(files.folder or ".", root=files.folder or files.root)
    return [*file_tools(files), *(replace(tool, call=partial(_call, loader, tool.name)) for tool in agentsmd.tools([_ANY]))]


def _call(loader: agentsmd.Loader, wanted: str, /, **arguments: Any) -> Any:  # noqa: ANN401 (as JSON may be)
    tools = {tool.name: tool for tool in agentsmd.tools(loader.read(), inline_bytes=0)}
    return tools[wanted].call(**arguments) if tools else NO_FILES
