"""`filerefs parse`: the lines of a message that hold references, each reference with a line of carets under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filerefs import naming
from filerefs.terminal import columns, expand_tabs, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from filerefs import Ref

LINE_LENGTH = 160
_BEFORE, _TOKEN, _BEHIND = 40, 80, 40
_CUT = "..."


@dataclass(frozen=True, slots=True)
class _Excerpt:
    """Line *number* of a message, or the part of it from *first* to *last*, with what stands where it was cut."""

    number: int
    first: int
    last: int
    opening: str = ""
    closing: str = ""

    def render(self, message: str) -> str:
        return f"{self.number:5} | {self.opening}{_flat(message[self.first : self.last])}{self.closing}"

    def underline(self, message: str, reference: Ref) -> str:
        before = columns(self.opening + _flat(message[self.first : reference.start]))
        behind = columns(self.opening + _flat(message[self.first : min(reference.end, self.last)]))
        return f"      | {' ' * before}{'^' * max(behind - before, 1)} {_meaning(reference)}"


def underline(message: str, references: Iterable[Ref]) -> Iterator[str]:
    """
    Yield each line of *message* that holds references, with its number, and under it a line for each of them.

    Of a line of more than `LINE_LENGTH` characters only the neighbourhood of each reference is shown.  *references* are
    in order, as `parse` returns them.
    """
    number, line_start, seen, shown = 1, 0, 0, None
    for reference in references:
        # Only what was not looked at yet is searched: one line may be long and hold many references.
        if (newline := message.rfind("\n", seen, reference.start)) >= 0:
            number += message.count("\n", seen, reference.start)
            line_start = newline + 1
        seen = reference.start
        excerpt = _excerpt(message, number, line_start, reference)
        if excerpt != shown:
            yield excerpt.render(message)
        yield excerpt.underline(message, reference)
        shown = excerpt


def _excerpt(message: str, number: int, line_start: int, reference: Ref) -> _Excerpt:
    line_end = _line_end(message, reference.start, line_start + LINE_LENGTH)
    if line_end is not None:
        return _Excerpt(number, line_start, line_end)
    first = max(line_start, reference.start - _BEFORE)
    last = min(reference.end, reference.start + _TOKEN) + _BEHIND
    line_end = _line_end(message, reference.start, last)
    return _Excerpt(number, first, last if line_end is None else line_end, _CUT if first > line_start else "", _CUT if line_end is None else "")


def _line_end(message: str, start: int, stop: int) -> int | None:
    """Return where the line ends that goes on at *start*; None if that is behind *stop*."""
    if (newline := message.find("\n", start, stop + 1)) >= 0:
        return newline
    return len(message) if len(message) <= stop else None


def _flat(text: str) -> str:
    return expand_tabs(visible(text))


def _meaning(reference: Ref) -> str:
    path = naming.printable(reference.path)
    if reference.lines is None:
        return path
    first, last = reference.lines
    return f"{path}, {'line' if first == last else 'lines'} {naming.format_range((first, last))[1:]}"
