"""
What a text leaves open, so that whatever stands behind it would fall into it: fenced blocks, comments, raw HTML.

A fenced block gets the line that ends it.  What HTML would go on reading has its `<` written as `&lt;`, where nothing
in the same text ends it; the words stay, and so does everything that is closed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from filerefs.agentsmd.blocks import Blocks, lines

if TYPE_CHECKING:
    from collections.abc import Callable

# By what opens it, what ends it; but for comments only where it begins a line.
_ENDS: Final = {
    "!--": "-->",
    "![cdata[": r"\]\]>",
    "?": r"\?>",
    "!": ">",
    **{name: rf"</{name}\s*>" for name in ("pre", "script", "style", "textarea")},
}
_OPENING = re.compile(
    r"(?P<front>(?:\A|(?<=[\n\r]))[ \t\f\v>*+\-\d.)]*+)?(?P<sign><|&(?P<amps>(?:amp;)*+)lt;)"
    r"(?=(?P<what>!--|!\[CDATA\[|\?|!(?=[a-z])|(?:pre|script|style|textarea)(?=[\s>]|\Z)))",
    re.IGNORECASE | re.ASCII,
)


def close_fence(text: str) -> str:
    """Return *text* with a line behind it that ends the fenced block that it leaves open; *text* itself if there is none."""
    if "```" not in text and "~~~" not in text:
        return text
    blocks = Blocks()
    for start, stop, _ in lines(text):
        blocks.read(text[start:stop])
    if not blocks.is_fenced:
        return text
    return text + ("" if text.endswith(("\n", "\r")) else "\n") + blocks.closing


def hide_openings(text: str) -> str:
    """Return *text* with every opening of a comment, of raw HTML and the like that nothing in it closes made visible as text."""
    return _change_openings(text, _escape)


def show_openings(text: str) -> str:
    """Return what `hide_openings` made *text* of."""
    return _change_openings(text, _unescape)


def _change_openings(text: str, change: Callable[[re.Match[str]], str]) -> str:
    if "<" not in text and "lt;" not in text:
        return text
    ends: dict[str, int] = {}

    def change_if_open(match: re.Match[str]) -> str:
        what = match["what"].lower()
        if what not in ends:
            ends[what] = max((end.start() for end in re.finditer(_ENDS[what], text, re.IGNORECASE | re.ASCII)), default=-1)
        is_open = ends[what] < match.end() and (what == "!--" or match["front"] is not None)
        return (match["front"] or "") + (change(match) if is_open else match["sign"])

    return _OPENING.sub(change_if_open, text)


def _escape(match: re.Match[str]) -> str:
    return "&lt;" if match["amps"] is None else f"&amp;{match['amps']}lt;"


def _unescape(match: re.Match[str]) -> str:
    if match["amps"] is None:
        return "<"
    return f"&{match['amps'][4:]}lt;" if match["amps"] else "<"
