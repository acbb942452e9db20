"""One Ref -> what else it may mean, longest first: existence decides which (R8 to R12 of docs/grammar.md)."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from filerefs.mentions import Range, dots_only, read_range, unescape_bare
from filerefs.patterns import JOINED_LETTER, RANGE, range_at_end

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import regex

    from filerefs.mentions import Ref

READINGS = 32
"""How many cuts of one run are tried: the whole run, and those nearest to its beginning."""


class Reading(NamedTuple):
    """
    One way to read a mention.

    `end` is where it ends in the message, `names` are the spellings to look for, best first, `fragment` is what
    stands behind the name and was not understood (`#installation`, `:main`).
    """

    end: int
    names: tuple[str, ...]
    lines: Range | None = None
    fragment: str = ""


def readings(ref: Ref) -> Iterator[Reading]:
    """Yield the ways to read *ref*, longest first, made one at a time."""
    if ref.quoted:
        yield Reading(ref.end, spellings(ref.path, quoted=True), ref.lines)
        return
    run = ref.run
    start = ref.start + 1
    whole = len(run)
    # The whole run first, since most runs are just a name: then nothing else is made.
    if not _ends_sentence(run):
        yield from _at(run, start, whole, ())
    places = cuts(run)
    for end in places:
        if end < whole:
            yield from _at(run, start, end, places)
    if "#" in run:
        yield from _anchored(run, start, places)


def _at(run: str, start: int, end: int, places: Sequence[int]) -> Iterator[Reading]:
    """Yield what run[:end] may be: a name; a name and a range.  *places* are all where a name may end."""
    yield from _named(run, start, end, places)
    text = run[:end]
    if (":" in text or "#" in text) and (match := range_at_end().search(text)) and match.start():
        yield Reading(start + end, spellings(text[: match.start()], quoted=False), read_range(match))


def _anchored(run: str, start: int, places: Sequence[int]) -> Iterator[Reading]:
    """Yield the names in front of each `#anchor`: a sign that is in so many names must not cut before all else failed."""
    end = len(run)
    for _ in range(READINGS):
        end = run.rfind("#", 1, end)
        if end < 0:
            return
        if _fragment().match(run, end):
            yield from _named(run, start, end, places)


def _named(run: str, start: int, end: int, places: Sequence[int]) -> Iterator[Reading]:
    """Yield the name run[:end], with the range behind it or what else stands there and was not understood."""
    names = spellings(run[:end], quoted=False)
    behind = _range_behind().match(run, end) if end < len(run) else None
    if behind is not None and behind.end() not in places:
        # `@a.py:9!b`: what stands behind the range is no part of it, but the range is one.
        yield Reading(start + behind.end(), names, read_range(behind))
    elif behind is None or run[end] != "#":
        fragment = _fragment().match(run, end) if end < len(run) else None
        yield Reading(start + end, names, None, fragment[0] if fragment else "")


def spellings(text: str, *, quoted: bool) -> tuple[str, ...]:
    r"""
    Return the names that *text* may spell, best first: as it is, escapes undone, with `\` for `/`.

    In quotes the escapes are undone already.
    """
    if "\\" not in text:
        return (text,)
    plain = text if quoted else unescape_bare(text)
    return tuple(dict.fromkeys((text, plain, text.replace("\\", "/"), plain.replace("\\", "/"))))


def cuts(run: str) -> list[int]:
    """
    Return where a name may end in *run*, longest first: at most `READINGS` places, the end of the run among them.

    Where there are more places, those nearest to the beginning are kept: a name that holds dozens of separators
    is written in quotes, one that stands in front of minified code is not.
    """
    ends = {len(run)}
    _add_tail(run, len(run), ends)
    if run.isascii() and _ASCII_SEPARATORS.isdisjoint(run):
        return sorted(ends - {0}, reverse=True)
    # Twice as many as needed, since the tails of neighbouring cuts coincide.
    for match in islice(_cut().finditer(run, 1), 2 * READINGS):
        ends.add(match.start())
        _add_tail(run, match.start(), ends)
    ends.discard(0)
    if _ends_sentence(run):
        ends.discard(len(run))
    ordered = sorted(ends)
    kept = ordered[: READINGS - 1] + ordered[-1:] if len(ordered) > READINGS else ordered
    return kept[::-1]


def may_end(run: str, end: int) -> bool:
    """Tell, without making the cuts, whether one of them may be at *end* of an ASCII *run*: in front of a letter or digit none is."""
    return not run[end:].lstrip("._-")[:1].isalnum()


def _ends_sentence(run: str) -> bool:
    """Tell whether the dot at the end is a full stop behind a folder: that `folder/.` exists too must not swallow it."""
    return run.endswith("/.") and len(run) > 2


def _add_tail(run: str, end: int, ends: set[int]) -> None:
    """Add what is left of run[:end] when signs that only ever end a name are taken off one by one."""
    for _ in range(READINGS):
        last = run[end - 1 : end]
        if last == "s" and run[end - 2 : end - 1] in ("'", "’"):
            end -= 2
        elif not last or last not in _TAIL or (last == "." and dots_only(run, end)):
            return
        else:
            end -= 1
        ends.add(end)


_TAIL = ".:_-/\\#*?!~"

# Separators and brackets cut wherever they stand, with the backslash in front of them if there is one.  So does a change between a
# script without blanks and any other.  A dot never does: `@app.route` is not the folder `app`.
_SEPARATORS = r""",;:|<>()\[\]{}"'`＂＇、，；：｜＜＞（）［］｛｝「」『』【】〈〉《》〔〕“”„‘’‚«»‹›。！？…—–\u00a0\u2007\u202f"""

_ASCII_SEPARATORS = frozenset(",;:|<>()[]{}\"'`@")


@cache
def _cut() -> regex.Pattern[str]:
    import regex

    other = rf"[^{JOINED_LETTER}\p{{M}}]"
    return regex.compile(
        rf"""(?V1x) (?<! \\ ) (?= [{_SEPARATORS}@\uff20] | /@ | \\ [{_SEPARATORS}] )
                  | (?<= {JOINED_LETTER} ) (?= {other} )
                  | (?<= {other} ) (?= {JOINED_LETTER} )"""
    )


@cache
def _fragment() -> regex.Pattern[str]:
    import regex

    return regex.compile(r"[#:][\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}_.\-]*(?<![.\-])")


@cache
def _range_behind() -> regex.Pattern[str]:
    import regex

    return regex.compile(rf"(?V1x) {RANGE} (?! [A-Za-z0-9_] )")


def natural_end(ref: Ref) -> int | None:
    """
    Return where a sentence takes over inside the default reading of a bare *ref*, or None.

    `@nope.txt并总结` and `@nope.py—with` name `nope.txt` and `nope.py`; so much can be said without a disk.
    """
    if ref.quoted or ref.token.isascii():
        return None
    match = _junction().search(ref.token, 1)
    return ref.start + match.start() if match else None


@cache
def _junction() -> regex.Pattern[str]:
    import regex

    return regex.compile(rf"""(?V1x) (?<= [a-zA-Z0-9] ) (?= {JOINED_LETTER} ) | (?= [—–、，；：。！？（「『【“‘«…] )""")
