"""
Begin and end lines: wrap a body in them, find sections that verify, take them out of a prompt.

    <!-- filerefs:begin -->
    …body…
    <!-- filerefs:end v1 sep=S chars=N sha256=HEX32 -->

The end line says how many newlines were written before the section (S), how many code points the body has (N) and
the beginning of its SHA-256.  A text that merely looks like a section has another digest and stays where it is, and
whatever a body holds, its own end line is the last one.  N and the digest are taken after CR LF -> LF, so that a
prompt that went through a file with CR LF line ends still verifies.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

BEGIN = "<!-- filerefs:begin -->"

_BEGIN_LINE = BEGIN + "\n"
_END_WORD = "<!-- filerefs:end "
_END_START = "\n" + _END_WORD + "v1 sep="
# Ten digits are more than any prompt has; without a bound, a forged number would be as slow to read as it is long.
_END = re.compile(_END_START + r"([02]) chars=(0|[1-9][0-9]{0,9}) sha256=([0-9a-f]{32}) -->")

# A digest is taken only where a begin line stands exactly where the end line says.  Nobody has that by accident
# more than a few times; a prompt that was made to have it often must not cost its square.
_FAILED_DIGESTS = 64
# Sections that only the removal of others uncovers: two or three are met, thousands were made to cost the square of their number.
_LAYERS = 16


class _Section(NamedTuple):
    """A section that verifies: where it starts and ends in the text with LF line ends, and its S."""

    start: int
    end: int
    separators: int


def wrap(body: str, separators: int, previous: str = "") -> str:
    """
    Return *body* as a section, from the begin line to the end line, without the *separators* newlines before it.

    Where *previous*, a text that `wrap` made, is the same section, that is returned: the digest is most of the work.

    Raises:
        UnicodeEncodeError: If *body* holds a lone surrogate; nothing could send such a section.
    """
    if previous and _is_section_of(previous, body, separators):
        return previous
    flat = body
    if "\r" in body:
        # A CR at the very end becomes half of a CR LF, so the newline behind the body is looked at too.
        flat = _flat(body + "\n")[:-1]
    digest = hashlib.sha256(flat.encode()).hexdigest()[:32]
    return f"{BEGIN}\n{body}{_END_START}{separators} chars={len(flat)} sha256={digest} -->"


def _is_section_of(section: str, body: str, separators: int) -> bool:
    end = section.rindex(_END_START)
    is_as_long = end == len(_BEGIN_LINE) + len(body)
    return is_as_long and section.startswith(body, len(_BEGIN_LINE)) and section.startswith(str(separators), end + len(_END_START))


def replace_separators(section: str, separators: int) -> str | None:
    """Return *section*, whole and verifying, for a place behind so many newlines; None if it is no section."""
    flat = _flat(section)
    if not section.startswith(_BEGIN_LINE) or [found[:2] for found in _sections(flat)] != [(0, len(flat))]:
        return None
    digit = section.rindex(_END_START) + len(_END_START)
    return f"{section[:digit]}{separators}{section[digit + 1 :]}"


def strip(prompt: str) -> str:
    """
    Return *prompt* without the sections in it that verify, wherever they stand; everything else byte for byte.

    With a section go the newlines that were written before it, if all of them are still there; if the host changed
    them, they are the host's.  A section may be uncovered by the removal of another; it goes too.  What looks like
    a section and does not verify stays, and so does what lies more than 16 layers deep.  Without anything to remove,
    *prompt* itself is returned.
    """
    for _ in range(_LAYERS):
        stripped = _without(prompt, _sections(_flat(prompt))) if _END_START in prompt else prompt
        if stripped is prompt:
            break
        prompt = stripped
    return prompt


def strip_known(prompt: str, section: str) -> str:
    """Return `strip(prompt)`; where *prompt* ends with *section*, a text that `wrap` made, without hashing it again."""
    if not section or not prompt.endswith(section):
        return strip(prompt)
    before = "\n" * int(section[section.rindex(_END_START) + len(_END_START)])
    prompt = prompt[: -len(section)]
    return strip(prompt.removesuffix(before))


def has_leftover(prompt: str) -> bool:
    """Tell whether *prompt*, stripped, still holds a begin line with an end line behind it: a changed or forged section."""
    if _END_WORD not in prompt:
        return False
    lines = _flat(prompt).split("\n")
    if BEGIN not in lines:
        return False
    return any(line.startswith(_END_WORD) for line in lines[lines.index(BEGIN) + 1 :])


def _flat(text: str) -> str:
    # A look for one character is a hundred times faster than one for two, and most texts have no CR.
    return text.replace("\r\n", "\n") if "\r" in text else text


def _sections(flat: str) -> list[_Section]:
    """Return the sections in a text with LF line ends, disjoint, the last one first."""
    found: list[_Section] = []
    failures, bound = 0, len(flat)
    while failures < _FAILED_DIGESTS and (bound := flat.rfind(_END_START, 0, bound)) >= 0:
        end = _END.match(flat, bound)
        start = _begin_of(flat, end) if end else -1
        if end is None or start < 0:
            continue
        if _digest(flat[start + len(_BEGIN_LINE) : bound]) == end[3]:
            found.append(_Section(start, end.end(), int(end[1])))
            # What stands inside belongs to the section, even where it is one itself.
            bound = start
        else:
            failures += 1
    return found


def _begin_of(flat: str, end: re.Match[str]) -> int:
    """Return where the begin line stands that *end* asks for, or a negative number."""
    start = end.start() - int(end[2]) - len(_BEGIN_LINE)
    return start if flat.startswith(_BEGIN_LINE, start) else -1


def _digest(body: str) -> str:
    # A prompt may hold lone surrogates.  No section does, but what is tried here may be no section.
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _without(prompt: str, sections: Iterable[_Section]) -> str:
    """Return *prompt* with its own line ends, *sections* taken out; they come last one first."""
    kept: list[str] = []
    feeds: list[int] | None = None
    stop = len(prompt)
    for section in sections:
        feeds = _merged_feeds(prompt) if feeds is None else feeds
        # Each merged line feed before a place hides one CR before it.
        start = section.start + bisect_left(feeds, section.start)
        end = section.end + bisect_left(feeds, section.end)
        kept.append(prompt[end:stop])
        stop = _before_separators(prompt, start, section.separators)
    return prompt[:stop] + "".join(reversed(kept)) if kept else prompt


def _merged_feeds(prompt: str) -> list[int]:
    """Return where the line feeds that stand for a CR LF are in the text with LF line ends, in order."""
    if "\r" not in prompt:
        return []
    lengths = map(len, prompt.split("\r\n")[:-1])
    return list(accumulate(lengths, lambda feed, length: feed + 1 + length))


def _before_separators(prompt: str, start: int, separators: int) -> int:
    """
    Return where the newlines before the section at *start* begin, or *start* if not all of them are there.

    They are CR LF exactly where the section's are: a prompt that ends in a bare CR keeps it.
    """
    newline = "\r\n" if prompt.startswith("\r", start + len(BEGIN)) else "\n"
    before = newline * separators
    return start - len(before) if prompt.endswith(before, 0, start) else start
