"""A message and a cursor -> the mention that is being typed there, half as it is.  No disk: what it may become is for `completion`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filerefs.errors import OptionError
from filerefs.lenient import WORDS
from filerefs.mentions import parse, unescape_bare, unescape_quoted
from filerefs.regions import CodeRegions

if TYPE_CHECKING:
    from collections.abc import Callable

    from filerefs.mentions import CodePolicy

# A name has at most 4,095 bytes, and quotes and escapes around it; what is longer is not being typed.
_LONGEST = 8192
# What stands so far in front of an at-sign does not decide whether a mention opens there.
_SIGHT = 64
# At-signs that are looked at: a line of addresses has many, and each key must be quick.
_MOST_SIGNS = 200

_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’"}
# The beginning of a range (R10): what stands in front of it is a name already.
_RANGE = re.compile(r"(?<=.)(?::L?[0-9]*(?:[-–]L?[0-9]*|:[0-9]*)?|#L?[0-9]*(?:[-–]L?[0-9]*)?)\Z", re.DOTALL)
_CLOSED = re.compile(r'(?P<name>(?:[^"\\]++|\\["\\]|\\)*+)"(?P<more>.*)', re.DOTALL)
# White space ends a bare name: all but the no-break blanks, and what a backslash stands before.
_BLANKS = re.compile(r"(?<!\\)(?P<escapes>(?:\\\\)*)(?P<blanks>[^\S\u00a0\u2007\u202f]+)")


@dataclass(frozen=True, slots=True)
class HalfTyped:
    """
    The mention that the cursor stands in.

    Attributes:
        start: Where its at-sign stands, in code points.
        end: The cursor: what is chosen takes the place of `start:end`.
        query: What of a name is typed so far, quotes and escapes undone; "" right behind the at-sign.
        folder: The folder in it, with a slash at its end; "" for none, "./" for the root where that is typed.

    .. versionadded:: 0.1
    """

    start: int
    end: int
    query: str
    folder: str = ""


def find_token(text: str, cursor: int | None = None, *, code: CodePolicy = "inert", lenient: bool = True) -> HalfTyped | None:
    """
    Return the mention of *text* that is being typed at *cursor* (its end by default), or None.

    There is none in code, where `parse` finds none either, none where a range has begun (``@a.py:1``), and none behind
    an unquoted blank: whether a name goes on there, only a disk can tell.

    Args:
        text: The whole message, what stands behind the cursor included.
        cursor: In code points.
        code: As for `parse`: "load" offers names in inline code, too.
        lenient: As for `parse`: typographic quotes quote, a full-width at-sign is one.

    Raises:
        OptionError: If *cursor* is not in the text.

    .. versionadded:: 0.1
    """
    return _find(text, cursor, lambda run: _read(run, lenient=lenient), code=code, lenient=lenient)


def find_words(text: str, cursor: int | None = None, *, code: CodePolicy = "inert") -> HalfTyped | None:
    """
    Return the bare mention of *text* to whose name the words between it and *cursor* may belong, or None.

    That is so where `parse` is lenient: at most eight words, on one line, without another mention between them.

    Args:
        text: The whole message.
        cursor: In code points.
        code: As for `parse`.

    Raises:
        OptionError: If *cursor* is not in the text.
    """
    return _find(text, cursor, _read_words, code=code, lenient=True)


def _find(text: str, cursor: int | None, read: Callable[[str], str | None], *, code: CodePolicy, lenient: bool) -> HalfTyped | None:
    """Return the mention that the last at-sign opens which opens one, if *read* takes what is behind it for a name."""
    cursor = len(text) if cursor is None else cursor
    if not 0 <= cursor <= len(text):
        raise OptionError("cursor", cursor, f"a position in a text of {len(text)} characters")
    line = max(text.rfind("\n", 0, cursor) + 1, cursor - _LONGEST)
    start = cursor
    for _ in range(_MOST_SIGNS):
        start = max(text.rfind("@", line, start), text.rfind("＠", line, start) if lenient else -1)
        if start < 0:
            return None
        if _opens(text, line, start, lenient=lenient):
            name = read(text[start + 1 : cursor])
            # Regions cost a pass over the message; most keys are typed where there is no mention at all.
            if name is None or not _leads_inside(name) or CodeRegions(text, spans=code == "inert").around(start):
                return None
            return _half_typed(start, cursor, name)
    return None


def _opens(text: str, line: int, start: int, *, lenient: bool) -> bool:
    """Tell whether a name behind the at-sign at *start* would be a mention."""
    # A word in front, so that nothing in the middle of a line is taken for its beginning, which may fence code.
    before = text[line:start] if start - line <= _SIGHT else "x " + text[start - _SIGHT : start]
    references = parse(before + text[start] + "x", code="load", lenient=lenient)
    return bool(references) and references[-1].start == len(before)


def _leads_inside(name: str) -> bool:
    return not name.startswith(("/", "~/", "../")) and "\0" not in name


def _half_typed(start: int, cursor: int, name: str) -> HalfTyped:
    query = name.removeprefix("./")
    folder = query[: query.rfind("/") + 1]
    return HalfTyped(start, cursor, query, folder or ("./" if query != name else ""))


def _read(run: str, *, lenient: bool) -> str | None:
    quote = _QUOTES.get(run[:1]) if lenient or run[:1] in ('"', "'") else None
    return _read_bare(run) if quote is None else _read_quoted(run[1:], quote)


def _read_bare(run: str) -> str | None:
    if _BLANKS.search(run) or _RANGE.search(run):
        return None
    return unescape_bare(run).replace("\\", "/")


def _read_words(run: str) -> str | None:
    """Return the name that *run* begins, unquoted blanks and all; None without such blanks."""
    first, *words = _BLANKS.split(run)[::3]
    if not first or first[0] in _QUOTES or not 0 < len(words) <= WORDS or _RANGE.search(first) or _RANGE.search(run):
        return None
    if any(blanks.strip(" \t") for blanks in _BLANKS.split(run)[2::3]):
        return None
    return unescape_bare(run).replace("\\", "/")


def _read_quoted(run: str, quote: str) -> str | None:
    """Return what stands in quotes, closed or not; None if it is closed and not going on."""
    if quote == '"':
        closed = _CLOSED.fullmatch(run)
        name, more = (closed["name"], closed["more"]) if closed else (run, None)
        name = unescape_quoted(name)
    else:
        name, closing, behind = run.partition(quote)
        more = behind if closing else None
    if more is None:
        return name
    return name + more if name.endswith("/") and not re.search(r"[\s:#\"']", more) else None
