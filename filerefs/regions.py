"""Where a message is code: fenced blocks and inline code spans, in which nothing is a mention.

One pass lists the runs of backticks and tildes and a table pairs them, so the cost is linear in the message,
however the runs are arranged.  The rules are CommonMark's, chapters 4.5 and 6.1, without block quotes and lists.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import regex

_NO_CLOSER = -1


@cache
def _marks() -> regex.Pattern[str]:
    import regex

    return regex.compile(
        r"""(?mx)
          ^ [ ]{0,3} (?P<fence> `{3,}+ (?! [^\n]*` ) | ~{3,}+ ) (?P<info> [^\n]*+ )
        | (?P<ticks> `++ )
        | (?P<blank> ^ [ \t]*+ \r? \n (?: [ \t\r\n]* \n )? )
        """
    )


class Code(NamedTuple):
    """One piece of code and what it holds between its backticks; a fenced block counts as a whole."""

    start: int
    content_start: int
    content_end: int
    end: int


class CodeRegions:
    """
    The code of one message, to be asked from left to right.

    What a mention takes for itself (a quoted name may hold backticks) opens no code span: report it with `skip`.
    """

    __slots__ = ("_closers", "_ends", "_fence_starts", "_fences", "_next", "_starts")

    def __init__(self, message: str, *, spans: bool) -> None:
        self._fences: list[tuple[int, int]] = []
        # The runs of backticks outside fences: where each opens and ends, and which run closes it.
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._closers: list[int] = []
        self._next = 0
        if "`" in message or "~~~" in message:
            self._read(message, spans=spans)
        self._fence_starts = [start for start, _ in self._fences]

    def __bool__(self) -> bool:
        return bool(self._fences or self._starts)

    def around(self, position: int) -> Code | None:
        """
        Return the code in which *position* lies, or None.

        Positions must not decrease from call to call.
        """
        index = bisect_right(self._fence_starts, position) - 1
        if index >= 0 and position < self._fences[index][1]:
            start, end = self._fences[index]
            return Code(start, start, end, end)
        while self._next < len(self._starts) and self._starts[self._next] < position:
            closer = self._closers[self._next]
            if closer == _NO_CLOSER:
                self._next += 1
            elif self._ends[closer] > position:
                # A closing run counts in full, also where a backslash would take its first backtick as an opener.
                content_end = self._ends[closer] - (self._ends[self._next] - self._starts[self._next])
                return Code(self._starts[self._next], self._ends[self._next], content_end, self._ends[closer])
            else:
                self._next = closer + 1
        return None

    def first_span(self, start: int, end: int) -> int:
        """Return where the first code span that opens in start:end opens, or *end*."""
        index = bisect_left(self._starts, start, self._next)
        while index < len(self._starts) and self._starts[index] < end:
            if self._closers[index] != _NO_CLOSER:
                return self._starts[index]
            index += 1
        return end

    def skip(self, end: int) -> None:
        """Take note that everything before *end* is spoken for: backticks there open nothing."""
        self._next = bisect_left(self._starts, end, self._next)

    def _read(self, message: str, *, spans: bool) -> None:
        paragraph: list[tuple[int, int]] = []
        fence, fence_start = "", 0
        for match in _marks().finditer(message):
            kind = match.lastgroup
            if kind == "ticks":
                if spans and not fence:
                    paragraph.append(match.span())
            elif kind == "blank":
                self._pair(message, paragraph)
            elif not fence:
                self._pair(message, paragraph)
                fence, fence_start = match["fence"], match.start()
            elif match["fence"].startswith(fence) and not match["info"].strip():
                self._fences.append((fence_start, match.end()))
                fence = ""
        self._pair(message, paragraph)
        if fence:
            self._fences.append((fence_start, len(message)))

    def _pair(self, message: str, paragraph: list[tuple[int, int]]) -> None:
        """Take over the runs of one *paragraph*, each with the index of the next run as long as it, and empty it."""
        if not paragraph:
            return
        index = len(self._starts) + len(paragraph)
        latest: dict[int, int] = {}
        closers = []
        for place, (start, end) in enumerate(reversed(paragraph), 1):
            index -= 1
            length = end - start
            if start and message[start - 1] == "\\" and _is_escaped(message, start):
                # The backslash takes the first backtick out of an opening run; a closing run counts in full.
                paragraph[-place] = (start + 1, end)
                closers.append(latest.get(length - 1, _NO_CLOSER))
            else:
                closers.append(latest.get(length, _NO_CLOSER))
            latest[length] = index
        self._starts += [start for start, _ in paragraph]
        self._ends += [end for _, end in paragraph]
        self._closers += reversed(closers)
        paragraph.clear()


def _is_escaped(message: str, position: int) -> bool:
    backslashes = 0
    while position > backslashes and message[position - backslashes - 1] == "\\":
        backslashes += 1
    return backslashes % 2 == 1
