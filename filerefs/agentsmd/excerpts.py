"""The opening of an instruction file: what is shown of one that is too long to be in every prompt."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from filerefs.agentsmd.blocks import Blocks, Kind, lines
from filerefs.limits import utf8_length

_PARAGRAPH_ENDS = (Kind.BLANK, Kind.HEADING, Kind.BREAK)
# What is no text that a heading above it could be about.
_NO_BODY = (*_PARAGRAPH_ENDS, Kind.UNDERLINE)
# What may be cut inside of a line: half a heading has no text below it, and half an opening fence opens nothing.
_DIVISIBLE = (Kind.TEXT, Kind.CODE, Kind.HTML)
_HTML_HEADING = re.compile(r"\s*<h[1-6](?:\s[^<>]*)?>.*</h[1-6]>\s*", re.IGNORECASE)
_LONGEST_CHARACTER = 32


class Excerpt(NamedTuple):
    """The beginning of a text that is shown, and whether a fenced block that does not fit is where it ends."""

    text: str
    stops_at_block: bool = False


class _Line(NamedTuple):
    start: int
    stop: int
    kind: Kind
    is_inside: bool


def excerpt(text: str, limit: int | None, *, whole_lines: bool = False) -> Excerpt:
    """
    Return the opening of *text* in at most *limit* UTF-8 bytes; all of it if it fits or *limit* is None.

    It ends behind a paragraph; where that would give away more than half of what may be shown, behind a line.  It
    never ends inside of a fenced block or a comment: one that does not fit is left out as a whole.  It does not end
    with a heading, so that none is without a text below it.

    Args:
        text: Markdown.
        limit: UTF-8 bytes.
        whole_lines: Whether a line is cut only if nothing is said before it, and nothing is shown where only headings
            fit.  Else a line is cut also where whole ones would give away more than half, and a heading is shown
            where nothing but headings is to be seen.
    """
    if limit is None or len(text) * 4 <= limit or utf8_length(text) <= limit:
        return Excerpt(text)
    head = text[:limit].encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")
    found = _read(text, len(head))
    whole = [line for line in found if line.stop <= len(head)]
    torn = found[len(whole)]
    stops_at_block = torn.kind is Kind.FENCE
    stop = _last_stop(found, whole, head, limit, whole_lines=whole_lines)
    if stop is None and torn.kind in _DIVISIBLE:
        shown = _behind_word(text, head).rstrip()
        # Half a line may be a heading, though the line is none.
        if len(shown) > torn.start and _is_end(_read(shown, len(shown))[-2]):
            return Excerpt(shown)
    if stop is None:
        stop = max((line.stop for line in whole if _is_end(line)), default=0)
    if not stop and not whole_lines and torn.kind in _NO_BODY:
        stop = next((line.stop for line in whole if line.kind is Kind.HEADING), 0)
    return Excerpt(head[:stop], stops_at_block)


def _last_stop(found: list[_Line], whole: list[_Line], head: str, limit: int, *, whole_lines: bool) -> int | None:
    """Return where the last paragraph or line ends that is worth to be the end; None if that gives away too much."""
    ends = [number for number, line in enumerate(whole) if _is_end(line)]
    paragraphs = [number for number in ends if found[number + 1].kind in _PARAGRAPH_ENDS]
    for numbers in (paragraphs, ends):
        stop = found[numbers[-1]].stop if numbers else 0
        if utf8_length(head[:stop]) * 2 >= limit and stop:
            return stop
    return found[ends[-1]].stop if ends and whole_lines else None


def _is_end(line: _Line) -> bool:
    return line.kind not in _NO_BODY and not line.is_inside


def _read(text: str, reach: int) -> list[_Line]:
    """
    Return the lines of *text* down to the first one that *reach* characters do not hold, and one more where it takes that.

    A paragraph that turns out to be a heading counts as one, also where its underline is not reached.
    """
    blocks = Blocks()
    found: list[_Line] = []
    for start, stop, _ in lines(text):
        # What the last line is shows only behind its paragraph.
        if found and found[-1].stop > reach and found[-1].kind is not Kind.TEXT:
            break
        line = text[start:stop]
        kind = blocks.read(line)
        if kind is Kind.HTML and _HTML_HEADING.fullmatch(line):
            kind = Kind.HEADING
        found.append(_Line(start, stop, kind, blocks.is_inside))
        if kind is Kind.UNDERLINE:
            _make_heading(found)
    # The end of the text ends its last paragraph, and is never reached.
    return [*found, _Line(len(text), len(text) + 1, Kind.BLANK, is_inside=False)]


def _make_heading(found: list[_Line]) -> None:
    """Take the paragraph above the last line for what it is."""
    number = len(found) - 2
    while number >= 0 and found[number].kind is Kind.TEXT:
        found[number] = found[number]._replace(kind=Kind.HEADING)
        number -= 1


def _behind_word(text: str, head: str) -> str:
    words = re.search(r"\s(?=\S*\Z)", head)
    if words and utf8_length(head[: words.start()]) * 4 >= utf8_length(head) * 3:
        return head[: words.start()]
    stop = len(head)
    # A letter and its accents, a sign and what joins it to the next one, are one character to people.
    while stop > max(0, len(head) - _LONGEST_CHARACTER) and _goes_on(text[stop - 1], text[stop]):
        stop -= 1
    return head[:stop]


def _goes_on(before: str, behind: str) -> bool:
    return "\u200d" in (before, behind) or unicodedata.category(behind).startswith("M")
