"""
The line at the end of an injected text, by which it is known again in a list of messages.

    …text…
    <!-- agentsmd:PART v1 KIND sep=S chars=N sha256=HEX32 -->

PART is the id of whoever put it there, KIND what the text is to earlier ones, S how many newlines were written before
the text, N its code points, HEX32 the beginning of the SHA-256 of its UTF-8.  Line ends are counted as LF.  What merely
looks like a mark, or stands in a message that holds more than the text, has another length or digest.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast

from filerefs.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind: TypeAlias = Literal["text", "replaced", "removed"]

_PART = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_MARK = re.compile(r"\n<!-- agentsmd:([A-Za-z0-9_.:-]{1,64}) v1 (text|replaced|removed) sep=([02]) chars=(0|[1-9][0-9]{0,9}) sha256=([0-9a-f]{32}) -->")
_START = "\n<!-- agentsmd:"
# Each try costs a digest; a prompt made of nothing but wrong marks must not cost its square.
_FAILED_DIGESTS = 64


class Marked(NamedTuple):
    """A text whose mark verifies: where it stands in what was searched, the newlines before it and the mark included."""

    part: str
    kind: Kind
    text: str
    separators: int
    start: int
    end: int


def check_part(part: str) -> None:
    """
    Do nothing if *part* can stand in a mark.

    Raises:
        OptionError: If it cannot.
    """
    if not _PART.fullmatch(part):
        raise OptionError("part", part, "1 to 64 of the characters A-Z a-z 0-9 _ . : -")


def mark(text: str, part: str, *, kind: Kind = "text", separators: int = 0) -> str:
    """Return *text* with its mark behind it, without the *separators* newlines before it."""
    flat = flatten(text)
    return f"{text}\n<!-- agentsmd:{part} v1 {kind} sep={separators} chars={len(flat)} sha256={_digest(flat)} -->"


def whole(content: str) -> Marked | None:
    """Return the text that *content* is, from its first character to the mark at its end; None if it is anything else."""
    found = next(_verified(content), None) if _START in content else None
    return found if found and not found.separators and (found.start, found.end) == (0, len(content)) else None


def find(content: str) -> list[Marked]:
    """Return the marked texts in *content*, disjoint, the last one first."""
    return list(_verified(content)) if _START in content else []


def flatten(text: str) -> str:
    """Return *text* with LF line ends, as it is where a line end stands behind it."""
    return (text + "\n").replace("\r\n", "\n")[:-1] if "\r" in text else text


def _verified(content: str) -> Iterator[Marked]:
    failures, bound = 0, len(content)
    while failures < _FAILED_DIGESTS and (bound := content.rfind(_START, 0, bound)) >= 0:
        match = _MARK.match(content, bound)
        # What made CR LF of our line ends put one in front of the mark as well.
        stop = bound - content.startswith("\r", bound - 1) if bound else 0
        if match is None:
            continue
        count, separators = int(match[4]), int(match[3])
        start = _step_back(content, stop, count)
        text = flatten(content[start:stop]) if start >= 0 else ""
        if start < 0 or len(text) != count or _digest(text) != match[5]:
            failures += 1
            continue
        front = start
        for newline in ("\r\n", "\n"):
            if content.endswith(newline * separators, 0, start):
                front = start - len(newline) * separators
                break
        yield Marked(match[1], cast("Kind", match[2]), text, separators, front, match.end())
        bound = start


def _step_back(content: str, stop: int, count: int) -> int:
    """Return where *count* code points before *stop* begin, CR LF counted as one; a negative number if there are not so many."""
    start = stop - count
    while 0 <= start != (further := stop - count - content.count("\r\n", start, stop)):
        start = further
    return start - 1 if start > 0 and content.startswith("\r\n", start - 1) else start


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
