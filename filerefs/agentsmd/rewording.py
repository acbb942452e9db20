"""
The words that change when a text about one agent becomes a text for any: whole words of prose, and nothing else.

What stands in an address, a path, code, the target of a link, a tag or the name of a model means that very thing, and
stays; it is listed, so that a person can look at it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from filerefs.agentsmd.blocks import Blocks, Kind, lines
from filerefs.regions import CodeRegions

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE_NAME = "CLAUDE.md"
TARGET_NAME = "AGENTS.md"

_TERM = re.compile(r"claude(?:\.md|[ _-]?code)?(?![A-Za-z0-9_])", re.IGNORECASE | re.ASCII)
# What paths, addresses, options and identifiers are made of.
_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.~/\\:@%+#?&=$-")
_ENDING = ".,:;!?"
_MODEL = re.compile(r"[ \xa0-](?:v?\d|(?:opus|sonnet|haiku|instant)(?![A-Za-z0-9_]))", re.IGNORECASE)
_COMPOUND = re.compile(
    r"-(?:assisted|authored|based|compatible|driven|friendly|generated|like|only|powered|specific|style|written)(?=[.,:;!?]*$)", re.IGNORECASE
)
_TARGET = re.compile(r"\]\([^()\n]*\)|^ {0,3}\[[^\]\n]+\]:[^\n]*|<[^<>\n]*>", re.MULTILINE)
_LONGEST_TOKEN = 200


class Word(NamedTuple):
    """A word that changes, with its line, counted from 1."""

    line: int
    before: str
    after: str


class Kept(NamedTuple):
    """What holds such a word and stays, with its line, counted from 1, and what it was taken for."""

    line: int
    text: str
    reason: str


class Reworded(NamedTuple):
    """A text with other words, those that changed, and those that stayed; in order."""

    text: str
    words: tuple[Word, ...]
    kept: tuple[Kept, ...]


def reword(text: str, *, agent: str | None = None) -> Reworded:
    """
    Return *text* with `AGENTS.md` for `CLAUDE.md`, and *agent* for Claude and Claude Code in any case and spelling.

    Args:
        text: Markdown.
        agent: What the agent is called; None keeps its name.
    """
    code = CodeRegions(text, spans=True)
    inert = sorted([*_code_blocks(text), *(match.span() for match in _TARGET.finditer(text))])
    parts: list[str] = []
    words: list[Word] = []
    kept: list[Kept] = []
    position, line, counted = 0, 1, 0
    for match in _TERM.finditer(text):
        start, end = match.span()
        around = code.around(start)
        if _is_letter(text[start - 1 : start]) or _is_letter(text[end : end + 1]):
            continue
        line, counted = line + text.count("\n", counted, start), start
        reason = "code" if around else _reason(text, start, end, inert)
        after = TARGET_NAME if match[0].lower() == SOURCE_NAME.lower() else agent
        if reason or after is None:
            kept.append(Kept(line, text[slice(*_token(text, start, end))], reason or "the agent's name"))
        elif match[0] != after:
            words.append(Word(line, match[0], after))
            parts += [text[position:start], after]
            position = end
    return Reworded("".join([*parts, text[position:]]), tuple(words), tuple(kept))


def _reason(text: str, start: int, end: int, inert: list[tuple[int, int]]) -> str:
    """Return what the word at start:end is part of, "" if it is a word of prose."""
    # Pieces may overlap by one: a target inside a line of indented code.
    nearest = bisect_right(inert, (start, len(text)))
    if any(first <= start < last for first, last in inert[max(0, nearest - 2) : nearest]):
        return "code or the target of a link"
    if _MODEL.match(text, end):
        return "the name of a model"
    first, last = _token(text, start, end)
    behind = _COMPOUND.sub("", text[end:last]).rstrip(_ENDING)
    if first == start and not behind:
        return ""
    around = text[first:start] + behind
    if "@" in around:
        return "an address or a mention"
    return "a path or an address" if set(around) & set("/\\.:") else "a longer name"


def _token(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the run of characters starts and ends that the word at start:end stands in."""
    first, last = start, end
    while first > max(0, start - _LONGEST_TOKEN) and text[first - 1] in _SIGNS:
        first -= 1
    while last < min(len(text), end + _LONGEST_TOKEN) and text[last] in _SIGNS:
        last += 1
    return first, last


def _is_letter(sign: str) -> bool:
    """Tell whether *sign* makes a longer word of what it stands beside; one of a script without blanks does not."""
    return sign == "_" or (sign.isalnum() and sign < "\u0590") or "\u0300" <= sign < "\u0370"


def _code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where lines of indented code and of fenced blocks start and end, in lists and quotes as well."""
    blocks = Blocks()
    for start, stop, _ in lines(text):
        if blocks.read(text[start:stop]) in (Kind.CODE, Kind.FENCE):
            yield start, stop
