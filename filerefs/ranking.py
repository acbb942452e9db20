"""
Names + what is typed so far -> the names that may be meant, best first.

All names stand in one text, and a search is a handful of `str.find` on it: a hundred thousand names take
milliseconds, where a loop over them would take a tenth of a second.  The names are in order before anything is
searched, shallower and shorter first, so that the first hits of a search are its best.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from filerefs.hints import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

RANKS = ("base name equal", "base name begins", "base name contains", "path begins", "path contains", "path has these signs in this order")
_BEGINS = RANKS.index("path begins")

# A path has no NUL, so it separates them.
_END = "\0"
# Names that one search looks at for its last rank, the only one that is no plain find: a few milliseconds.
_EFFORT = 10_000
# One step of building, about half a millisecond: between two of them other threads may go on.
_CHUNK = 512
_KEPT_SEARCHES = 64


class Match(NamedTuple):
    """A name that matches, and how well: an index into `RANKS`, lower is better."""

    rank: int
    name: str

    @property
    def key(self) -> tuple[int, int, int, str]:
        """What matches are sorted by: rank, then shallower, shorter, and by the alphabet."""
        return (self.rank, *_weight(self.name), self.name)


def find_beginnings(query: str, names: Iterable[str]) -> list[Match]:
    """Return those of a few *names* that begin with *query*, best first; upper and lower case are as in `Index.search`."""
    spell = _compose if query != query.lower() else fold
    wanted = spell(query)
    return sorted((Match(_BEGINS, name) for name in names if spell(name).startswith(wanted)), key=lambda match: match.key)


class Found(NamedTuple):
    """Matches, best first, and whether a search that goes on may find more: ask the same again."""

    matches: list[Match]
    unfinished: bool


class Index:
    """
    Names to search; folders end in a slash.  Does not change, and may be shared by threads.

    Args:
        names: In any order; doubles count once.
        pause: Called again and again while the index is built.

    Attributes:
        names: All of them, shallower and shorter first.
    """

    __slots__ = ("_exact", "_folded", "_searches", "names")

    def __init__(self, names: Iterable[str], pause: Callable[[], object] = bool) -> None:
        self.names = _arrange(names, pause)
        self._folded = _Tables(self.names, fold, pause)
        self._exact = _Tables(self.names, _compose, pause)
        self._searches: dict[tuple[str, bool], tuple[tuple[int, ...], int]] = {}

    def search(self, query: str, limit: int) -> Found:
        """
        Return at most *limit* names that *query* may mean; all of them for "".

        Upper and lower case are the same unless *query* has a capital.  A name that is the query itself and a folder is
        left out: what is wanted then is in it.
        """
        if not query:
            return Found([Match(0, name) for name in self.names[:limit]], unfinished=False)
        if _END in query:
            return Found([], unfinished=False)
        exact = query != query.lower()
        tables = self._exact if exact else self._folded
        wanted = _compose(query) if exact else fold(query)
        hits: dict[int, int] = {}
        for rank, candidates in enumerate(tables.find(wanted)):
            for number in candidates:
                if len(hits) >= limit:
                    break
                if self.names[number] != query or query[-1] != "/":
                    hits.setdefault(number, rank)
        unfinished = False
        if len(hits) < limit:
            numbers, unfinished = self._find_signs(wanted, tables, limit, exact=exact)
            for number in islice((number for number in numbers if number not in hits and self.names[number] != query), limit - len(hits)):
                hits[number] = len(RANKS) - 1
        return Found([Match(rank, self.names[number]) for number, rank in hits.items()], unfinished and len(hits) < limit)

    def _find_signs(self, query: str, tables: _Tables, limit: int, *, exact: bool) -> tuple[tuple[int, ...], bool]:
        """Return the names that have the signs of *query* in order, and whether there are more to look at."""
        numbers, position = self._searches.get((query, exact), ((), 0))
        total = len(self.names)
        # Whatever the earlier ranks found is among these, too; so twice as many are wanted.
        if position < total and len(numbers) < 2 * limit:
            stop = min(position + _EFFORT, total)
            numbers = (*numbers, *islice(tables.find_signs(query, position, stop), 2 * limit))
            position = stop
            if len(self._searches) >= _KEPT_SEARCHES:
                self._searches.clear()
            self._searches[query, exact] = numbers, position
        return numbers, position < total and len(numbers) < 2 * limit


class _Tables:
    """The paths and the base names of an index in one spelling."""

    __slots__ = ("_bases", "_paths")

    def __init__(self, names: Sequence[str], spell: Callable[[str], str], pause: Callable[[], object]) -> None:
        self._paths = _Table((spell(name) for name in names), pause)
        self._bases = _Table((spell(name.rstrip("/").rpartition("/")[2]) for name in names), pause)

    def find(self, query: str) -> tuple[Iterator[int], ...]:
        """Return the numbers of the names for each rank but the last; better ranks are repeated in worse ones."""
        bases, paths = self._bases, self._paths
        begins = _END + query
        return *bases.find_all(begins + _END, begins, query), *paths.find_all(begins, query)

    def find_signs(self, query: str, first: int, stop: int) -> Iterator[int]:
        return self._paths.find_signs(query, first, stop)


class _Table:
    """Texts in a row, with a NUL before and behind each."""

    __slots__ = ("_starts", "_text")

    def __init__(self, texts: Iterable[str], pause: Callable[[], object]) -> None:
        pieces, starts, position = [""], [1], 1
        for chunk in _chunks(texts):
            for text in chunk:
                position += len(text) + 1
                starts.append(position)
            pieces.append(_END.join(chunk))
            pause()
        # Joined once: each copy of it is milliseconds in which no other thread goes on.
        self._text = _END.join((*pieces, ""))
        self._starts = starts

    def find_all(self, *wanted: str) -> tuple[Iterator[int], ...]:
        """Return what `find` yields for each; the last one is a part of the others, and mostly rules them out."""
        return tuple(map(self.find, wanted)) if wanted[-1] in self._text else tuple(iter(()) for _ in wanted)

    def find(self, wanted: str) -> Iterator[int]:
        """Yield the numbers of the texts that contain *wanted*, each once, in order."""
        find, text, starts = self._text.find, self._text, self._starts
        shift = wanted.startswith(_END)
        position = find(wanted)
        while position >= 0 and position + shift < len(text) - (not shift):
            number = bisect_right(starts, position + shift) - 1
            yield number
            position = find(wanted, starts[number + 1] - 1)

    def find_signs(self, wanted: str, first: int, stop: int) -> Iterator[int]:
        """Yield the numbers in first:stop of the texts that have the signs of *wanted* in their order."""
        signs = [re.escape(sign) for sign in wanted]
        pattern = re.compile(_END + "".join(f"[^{_END}{sign}]*+{sign}" for sign in signs))
        for match in pattern.finditer(self._text, self._starts[first] - 1, self._starts[stop]):
            yield bisect_right(self._starts, match.start() + 1) - 1


def _arrange(names: Iterable[str], pause: Callable[[], object]) -> list[str]:
    """Sort by depth, length and alphabet, in small steps: one sort of all would hold up every other thread."""
    groups: dict[tuple[int, int], dict[str, None]] = {}
    for chunk in _chunks(names):
        for name in chunk:
            groups.setdefault(_weight(name), {})[name] = None
        pause()
    arranged: list[str] = []
    for weight in sorted(groups):
        runs = []
        for chunk in _chunks(groups.pop(weight)):
            runs.append(sorted(chunk))
            pause()
        for chunk in _chunks(merge(*runs)):
            arranged += chunk
            pause()
    return arranged


def _chunks(names: Iterable[str]) -> Iterator[list[str]]:
    names = iter(names)
    while chunk := list(islice(names, _CHUNK)):
        yield chunk


def _weight(name: str) -> tuple[int, int]:
    return name.count("/") - name.endswith("/"), len(name)


def _compose(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)
