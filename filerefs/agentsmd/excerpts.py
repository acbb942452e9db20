"""The opening of an instruction file: what is shown of one that is too long to be in every prompt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from filerefs.limits import utf8_length

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_BLANK_LINE = re.compile(r"\r?\n[ \t]*+(?:\r?\n|\Z)|\Z")


class _LineEnd(NamedTuple):
    """Where a line ends, without its line feed; whether a paragraph ends there; the fence that is open behind it, "" for none."""

    stop: int
    paragraph: bool
    fence: str


def excerpt(text: str, limit: int | None) -> str:
    """
    Return the opening of *text* in at most *limit* UTF-8 bytes; all of it if it fits or *limit* is None.

    It ends behind a paragraph; where that would give away more than half of what may be shown, behind a line; where
    that would, too (one long paragraph in one line), behind a word or a code point.  A fenced block is left out, or,
    where that would give away as much, closed.  No heading is left without a text below it, unless there is nothing else.
    """
    if limit is None or len(text) * 4 <= limit or utf8_length(text) <= limit:
        return text
    head = _fit(text, limit)
    ends = list(_line_ends(text, head))
    outside = [end for end in ends if not end.fence]
    paragraph = max((end.stop for end in outside if end.paragraph), default=0)
    line = max((end.stop for end in outside), default=0)
    for stop in (paragraph, line):
        if utf8_length(head[:stop]) * 2 >= limit:
            return _without_dangling_headings(head[:stop])
    shown = _behind_word(head)
    # Of what is cut, not of the whole: a line that was cut may be a fence, and one that is gone may have been.
    fence = _fence_at_end(head) or _fence_at_end(shown)
    return _without_dangling_headings(_closed(head, line, fence, limit) if fence else shown)


def fence_after(fence: str, line: str) -> str:
    """Return which fence is open behind *line* if *fence* is open before it; "" for none.  Block quotes and lists are not looked into."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return "" if match[1][0] == "`" and "`" in match[2] else match[1]
    return "" if match[1].startswith(fence) and not match[2].strip() else fence


def _fit(text: str, limit: int) -> str:
    return text[:limit].encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")


def _line_ends(text: str, head: str) -> Iterator[_LineEnd]:
    """Yield the ends of the lines of *text* that *head* has in full."""
    fence = ""
    for match in _LINE.finditer(head):
        line = match[0]
        if not line.endswith("\n") and text[match.end() : match.end() + 1] not in ("\n", "\r"):
            return
        fence = fence_after(fence, line)
        stop = match.start() + len(line.rstrip("\r\n"))
        yield _LineEnd(stop, _BLANK_LINE.match(text, stop) is not None, fence)


def _fence_at_end(head: str) -> str:
    fence = ""
    for match in _LINE.finditer(head):
        fence = fence_after(fence, match[0])
    return fence


def _closed(head: str, line: int, fence: str, limit: int) -> str:
    """Return *head*, whose end is inside a fenced block, cut behind a line and the block closed; without the block if it has no room."""
    body = _fit(head, limit - len(fence) - 1)
    stop = body.rfind("\n")
    if utf8_length(body[: max(stop, 0)]) * 4 < limit:
        stop = len(body)
    opened = head.find("\n", head.find(fence, line))
    shown = body[:stop].rstrip()
    left = _fence_at_end(shown)
    shown += f"\n{left}" if left else ""
    return shown if stop > opened >= 0 and utf8_length(shown) <= limit else head[:line]


def _behind_word(head: str) -> str:
    words = re.search(r"\s(?=\S*\Z)", head)
    return head[: words.start()] if words and utf8_length(head[: words.start()]) * 4 >= utf8_length(head) * 3 else head


def _without_dangling_headings(text: str) -> str:
    lines = text.rstrip().split("\n")
    kept = len(lines)
    while kept and (not lines[kept - 1].strip() or _HEADING.match(lines[kept - 1])):
        kept -= 1
    return "\n".join(lines[:kept]) if kept else "\n".join(lines[: _first_said(lines)])


def _first_said(lines: list[str]) -> int:
    return next((number for number, line in enumerate(lines, 1) if line.strip()), 0)
