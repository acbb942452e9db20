"""The opening of each instruction file for the prompt, and tools by which a model fetches the rest."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from filerefs import naming
from filerefs.agentsmd import frames
from filerefs.agentsmd.excerpts import excerpt
from filerefs.agentsmd.rendering import heading_block, sections
from filerefs.agentsmd.wording import wording
from filerefs.errors import OptionError, OptionTypeError
from filerefs.limits import utf8_length
from filerefs.retrieval import Tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from filerefs.agentsmd.documents import Doc
    from filerefs.agentsmd.wording import Language, Wording

INLINE_BYTES: Final = 4096
GET: Final = "project_get"
LIST: Final = "project_list"

_LIST_PURPOSE = "Lists the instruction files of this project: name, size in bytes, and whether the prompt already shows all of it."
_GET_PURPOSE = "Returns the full text of an instruction file of this project. Call it before acting in an area whose file the prompt shows only in part."


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """
    One file in the catalogue.

    Attributes:
        name: What the catalogue and the tools call it: the file's own name, or, where two have the same, that with a number.
        text: All that is known of it: the whole file, or what a budget left of it.
        inline: What the prompt shows of it.
        stops_at_block: Whether that ends where a fenced block begins that does not fit, and is left out as a whole.

    .. versionadded:: 0.1
    """

    name: str
    text: str = field(repr=False)
    inline: str = field(repr=False)
    stops_at_block: bool = False

    @property
    def size(self) -> int:
        """UTF-8 bytes of `text`."""
        return utf8_length(self.text)

    @property
    def complete(self) -> bool:
        """Whether the prompt shows all of it."""
        return self.inline == self.text


def inline_bytes_for(context_window: int | None) -> int:
    """
    Return how many bytes of each file a prompt should show to a model with so many tokens; None stands for "not known".

    7/16 of a byte a token, and 4,096 at most: a handful of files then takes less than half of the smallest window.

    Raises:
        OptionError: If the window is not positive.

    .. versionadded:: 0.1
    """
    if context_window is None:
        return INLINE_BYTES
    if context_window <= 0:
        raise OptionError("context_window", context_window, "a number of tokens above 0, or None")
    return min(INLINE_BYTES, context_window * 7 // 16)


def entries(docs: Iterable[Doc], *, inline_bytes: int | None = INLINE_BYTES) -> list[Entry]:
    """
    Return an entry for each of *docs* that is not blank, in their order, with different names.

    Args:
        docs: What discovery found.
        inline_bytes: UTF-8 bytes that the prompt shows of each; None shows everything.

    Raises:
        OptionError: If *inline_bytes* is negative.

    .. versionadded:: 0.1
    """
    if inline_bytes is not None and inline_bytes < 0:
        raise OptionError("inline_bytes", inline_bytes, "a number of at least 0, or None")
    taken: set[str] = set()
    found = []
    for doc in docs:
        if doc.text.strip():
            shown = excerpt(doc.text, inline_bytes)
            found.append(Entry(name=_free_name(doc.name, taken), text=doc.text, inline=shown.text, stops_at_block=shown.stops_at_block))
    return found


def catalog(
    docs: Iterable[Doc | Entry],
    *,
    inline_bytes: int | None = INLINE_BYTES,
    language: Language = "en",
    tool: str = GET,
) -> str:
    """
    Return the opening of each file below a heading, and behind each one that is not whole how to get the rest.

    It is `render(style="headings")` where everything fits; "" where there is nothing to say.

    Args:
        docs: What discovery found, or entries made before.
        inline_bytes: As for `entries`; entries that are given keep theirs.
        language: "en" or "zh".
        tool: What the tool is called that fetches the rest.

    .. versionadded:: 0.1
    """
    said = wording(language)
    shown = _as_entries(docs, inline_bytes)
    if not shown:
        return ""
    notice = [] if all(entry.complete for entry in shown) else [said.excerpts.format(tool=tool)]
    blocks = []
    for entry in shown:
        blocks.append(heading_block(entry.name, entry.inline))
        if not entry.complete:
            blocks.append(_ending(entry, said, tool))
    return sections((said.introduction, *notice, *blocks))


def tools(docs: Iterable[Doc | Entry], *, inline_bytes: int | None = INLINE_BYTES, get: str = GET, list_: str = LIST) -> list[Tool]:
    """
    Return the two tools that go with the catalogue of *docs*; none where there is nothing to fetch.

    Args:
        docs: What `catalog` was given.
        inline_bytes: As it was for `catalog`: the list says which files the prompt shows in full.
        get: What the tool is called that returns a text.
        list_: What the tool is called that returns the list.

    .. versionadded:: 0.1
    """
    shown = _as_entries(docs, inline_bytes)
    if not shown:
        return []
    library = Library(shown, list_=list_)
    name = {"type": "string", "minLength": 1, "description": f"As {list_} gives it; the file name alone will do where only one file has it."}
    return [
        Tool(
            name=list_,
            description=_LIST_PURPOSE,
            parameters={"type": "object", "properties": {}, "additionalProperties": False},
            call=library.list,
        ),
        Tool(
            name=get,
            description=_GET_PURPOSE,
            parameters={"type": "object", "properties": {"name": name}, "required": ["name"], "additionalProperties": False},
            call=library.get,
        ),
    ]


class Library:
    """
    What the tools look things up in.

    .. versionadded:: 0.1
    """

    def __init__(self, shown: Sequence[Entry], *, list_: str = LIST) -> None:
        self._entries = {entry.name: entry for entry in shown}
        self._list = list_

    def list(self) -> list[dict[str, Any]]:
        """Return a row for each file, in order: `name`, `bytes` of its full text, and whether the prompt shows it `complete`."""
        return [{"name": entry.name, "bytes": entry.size, "complete": entry.complete} for entry in self._entries.values()]

    def get(self, name: str) -> str:
        """
        Return the full text of the file *name*; for a name that no file has, a sentence that says what to do.

        The exact name comes first, then the file name alone where exactly one file has it.

        Raises:
            OptionError: If *name* is empty.
            OptionTypeError: If it is no string.
        """
        if not isinstance(name, str):
            raise OptionTypeError("name", name, "the name of an instruction file")
        if not name.strip():
            raise OptionError("name", name, "the name of an instruction file")
        for wanted in (name, name.strip().removeprefix("./")):
            if wanted in self._entries:
                return self._entries[wanted].text
        same = [known for known in self._entries if known.rpartition("/")[2] == wanted]
        return self._entries[same[0]].text if len(same) == 1 else self._miss(name, same)

    def _miss(self, name: str, same: Sequence[str]) -> str:
        shown = naming.label(name)
        if same:
            return f"There are {len(same)} instruction files called {shown}: {_listed(same)}. Call again with one of these names."
        near = get_close_matches(name, self._entries, n=3, cutoff=0.5)
        nearest = f" The nearest: {_listed(near)}." if near else ""
        return f"There is no instruction file {shown}.{nearest} Call {self._list} to see the names."


def _as_entries(docs: Iterable[Doc | Entry], inline_bytes: int | None) -> list[Entry]:
    given = list(docs)
    made = iter(entries((doc for doc in given if not isinstance(doc, Entry)), inline_bytes=inline_bytes))
    if not any(isinstance(doc, Entry) for doc in given):
        return list(made)
    return [doc if isinstance(doc, Entry) else next(made) for doc in given if doc.text.strip()]


def _free_name(name: str, taken: set[str]) -> str:
    """Return *name*, or with a number behind it: what the prompt tells the model to fetch must be fetched."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    taken.add(free)
    return free


def _ending(entry: Entry, said: Wording, tool: str) -> str:
    # As JSON, since that is how a model writes the argument.
    quoted = json.dumps(entry.name, ensure_ascii=not entry.name.isprintable())
    block = said.block if entry.stops_at_block else ""
    return said.ending.format(name=frames.heading(entry.name), size=entry.size, tool=tool, quoted=quoted, block=block)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(naming.label, names))
