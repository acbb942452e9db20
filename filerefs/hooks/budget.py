"""How long a text is for a host, and what is left of a list that is too long for it."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filerefs.hooks.hosts import Unit

LIMIT: Final = 9_500
"""How much one event is answered with, context and warnings together, in the host's unit.  All of them pass on about 10,000."""
SHARE: Final = LIMIT // 4
"""What warnings may take of it, and what a list of names is not cut below."""


def measure(text: str, unit: Unit) -> int:
    """Return the length of *text* as a program counts it that keeps its strings in *unit*."""
    if text.isascii():
        return len(text)
    if unit == "utf-8":
        return len(text.encode("utf-8", "replace"))
    return len(text) + sum(sign > "\uffff" for sign in text)


def cut_list(lines: Sequence[str], room: int, unit: Unit, rest: str = "and {} more") -> str:
    """
    Return *lines*, or as many of them as fit into *room* and a line for the others; "" where not even that fits.

    Args:
        lines: What to join.
        room: How long the text may be.
        unit: In which unit.
        rest: The line behind a list that was cut; `{}` stands for how many are left out.
    """
    whole = "\n".join(lines)
    if measure(whole, unit) <= room:
        return whole
    left = room - measure(rest.format(len(lines)), unit)
    kept = sum(end <= left for end in accumulate(measure(line, unit) + 1 for line in lines))
    return "\n".join((*lines[:kept], rest.format(len(lines) - kept))) if kept else ""
