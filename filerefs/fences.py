"""A text -> the fence around it: a line that it does not hold, so that it cannot close it."""

from __future__ import annotations

import re

# Longer ones are hard to tell apart for a reader, so the other kind of fence is tried first.
LONGEST_USUAL = 32

_BACKTICKS = re.compile("```+")
_TILDES = re.compile("~~~+")


def fence_for(text: str) -> str:
    """
    Return a fence that *text* does not hold: backticks, or tildes where that many backticks would be too many.

    CommonMark closes a fence only with a run of its own character that is at least as long.
    """
    if "`" not in text:
        return "```"
    fence = "```"
    # rfind: CPython's search from the left is several times slower for a needle of equal characters.
    while text.rfind(fence) >= 0 and len(fence) <= LONGEST_USUAL:
        fence += "`"
    if len(fence) <= LONGEST_USUAL:
        return fence
    backticks, tildes = _longest(_BACKTICKS, text) + 1, max(3, _longest(_TILDES, text) + 1)
    return "~" * tildes if tildes < backticks else "`" * backticks


def _longest(runs: re.Pattern[str], text: str) -> int:
    return max(map(len, runs.findall(text)), default=0)


def fenced(text: str, fence: str, language: str) -> str:
    """Return *text* between *fence* and *fence*, with *language* behind the first."""
    ending = "" if text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{ending}{fence}"
