"""What adapters do alike: how `files` is understood, when a host is told, and what becomes of instruction files."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from filerefs import Preprocessor, agentsmd
from filerefs.retrieval import file_tools

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from filerefs import Turn
    from filerefs.retrieval import Tool

NO_FILES: Final = "This project has no instruction files."


def open_files(files: Preprocessor | str | os.PathLike[str], *, media: bool = False) -> Preprocessor:
    """Return *files* as it is if it is a Preprocessor, which says itself whether it reads *media*; else one for the folder."""
    return files if isinstance(files, Preprocessor) else Preprocessor(files, media=media)


def tell(on_turn: Callable[[Turn], None] | None, turn: Turn) -> bool:
    """Return whether *turn* has references or warnings; if so, the host has been told of it."""
    has_news = bool(turn.outcomes or turn.warnings)
    if has_news and on_turn is not None:
        on_turn(turn)
    return has_news


def note_of(turn: Turn, typed: list[str]) -> dict[str, Any]:
    """Return what a history keeps of *turn* beside its message, as plain data: the *typed* texts and what the person was told."""
    return {"typed": typed, "warnings": [*turn.warnings], "notices": [*turn.notices]}


def open_loader(files: agentsmd.Loader | str | os.PathLike[str]) -> agentsmd.Loader:
    """Return *files* as it is if it is a Loader; else one for the folder."""
    return files if isinstance(files, agentsmd.Loader) else agentsmd.Loader(files)


def warnings_of(found: agentsmd.Discovery) -> list[str]:
    """Return what was left out of *found* or could not be read, one sentence each."""
    return [*found.warnings, *(problem.summary for problem in found.problems)]


def instructions_of(found: agentsmd.Discovery, *, catalog: bool) -> str:
    """Return what the model reads of *found*, "" for nothing: all of it or, as a *catalog*, the opening of each file."""
    return agentsmd.catalog(found) if catalog else agentsmd.render(found)


def instruction_tools(found: agentsmd.Discovery, *, catalog: bool) -> list[Tool]:
    """Return the tools that go with `instructions_of`; none where there is no file."""
    return agentsmd.tools(found) if catalog else agentsmd.tools(found, inline_bytes=None)


def live_tools(find: Callable[[], list[Tool]]) -> list[Tool]:
    """
    Return `project_list` and `project_get`, which answer with those of *find* as they are when they are called.

    They have the same form whatever the files are, and are there before the first file is.
    """
    sample = agentsmd.Entry(name="AGENTS.md", text="any", inline="")
    return [replace(tool, call=partial(_call, find, tool.name)) for tool in agentsmd.tools([sample])]


def project_tools(files: Preprocessor) -> list[Tool]:
    """
    Return `read_ref` and `list_files`, and `project_list` and `project_get`, which read the instruction files at each call.

    Only files below the root of *files* are instruction files here; none of them counts as shown in a prompt.
    """
    loader = folder_loader(files)
    return [*file_tools(files), *live_tools(lambda: agentsmd.tools(loader.read(), inline_bytes=0))]


def folder_loader(files: Preprocessor) -> agentsmd.Loader:
    """Return a Loader that sees what *files* sees: its root is the folder itself, and what lies above is out of bounds."""
    return agentsmd.Loader(files.folder or ".", root=files.folder or files.root)


def _call(find: Callable[[], list[Tool]], wanted: str, /, **arguments: Any) -> Any:  # noqa: ANN401 (as JSON may be)
    tools = {tool.name: tool for tool in find()}
    return tools[wanted].call(**arguments) if tools else NO_FILES
