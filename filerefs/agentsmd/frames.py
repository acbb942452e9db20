r"""
What stands around an instruction file's text, and how a text is kept from closing or forging it.

A frame is plain text, so a text could hold one.  Whatever in a text looks like a frame is made visible as not being
one, and only that is touched:

- a tag of any style has its `<` written as `&lt;` (`&lt;/project_instructions>`), an `&lt;` that stood there as `&amp;lt;`;
- a line that looks like a line of the style in question gets a backslash in front (`\### svc/AGENTS.md`), one more
  where there were some;
- a fenced block that is left open is closed at the end, since a reader of Markdown would take the frame for its contents.

The first two are undone exactly by `restore`.  Looks like: whatever the case, with blanks or invisible characters
between letters, with full-width signs, behind any character that breaks a line.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, TypeAlias, get_args

from filerefs import naming
from filerefs.errors import OptionError

Style: TypeAlias = Literal["project_context", "instructions", "headings", "system_reminder"]

STYLES: tuple[Style, ...] = get_args(Style)

_BREAKS = "\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_INVISIBLE = (
    "\0-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
_BLANKS = " \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
# Possessive: a search that gives up never tries the same run of blanks again, so that hostile texts cost no more than others.
_GAP = f"[{_BLANKS}{_INVISIBLE}]*+"
_WIDE_GAP = f"[{_BLANKS}{_INVISIBLE}{_BREAKS}]*+"
_LINE_START = rf"(?:\A|(?<=[{_BREAKS}]))"

_ENTITIES = {"<": "lt", "\uff1c": "#xff1c", "\ufe64": "#xfe64"}
_SIGNS = {entity: sign for sign, entity in _ENTITIES.items()}
# Texts for agents like tags of their own, `<instructions>` among them: outside of its style only the exact word is a frame.
_TAGS = ("project_context", "project_instructions", "system-reminder")
_EXACT_TAG = "INSTRUCTIONS"

_FULL_WIDTH = 0xFEE0
_SHARP = "[#\uff03\ufe5f]"
_DOT_OR_SLASH = rf"[/\\\uff0f\uff3c]|[.\uff0e]{_GAP}[^\W\d_]"


def check_style(style: str) -> None:
    """
    Do nothing if *style* is one of `STYLES`.

    Raises:
        OptionError: If it is not.
    """
    if style not in STYLES:
        raise OptionError("style", style, f"one of {', '.join(STYLES)}")


def neutralise(text: str, style: Style) -> str:
    """Return *text* so that no part of it reads as a frame of *style*, nor as a tag of any other; see the module."""
    return neutralise_tags(neutralise_body(text, style), style)


def neutralise_body(text: str, style: Style) -> str:
    """Return *text* without a line that reads as one of *style*, and without an open block; for tags see `neutralise_tags`."""
    return close_fence(neutralise_lines(text, style))


def neutralise_tags(text: str, style: Style) -> str:
    """
    Return *text* with every tag of a frame made visible as text.

    Best done once for all that stands between two tags of the frame: the `<` that ends a name or a text may be
    completed by what follows.
    """
    return _tags(style).sub(_escape, text) if "<" in text or "&" in text or not text.isascii() else text


def neutralise_lines(text: str, style: Style) -> str:
    """Return *text* with a backslash in front of every line that reads as a line of *style*."""
    pattern = _lines(style)
    return pattern.sub(r"\1\\\2", text) if pattern else text


def restore(text: str, style: Style) -> str:
    """Return what `neutralise_tags` and `neutralise_lines` made *text* of."""
    text = _tags(style).sub(_unescape, text)
    pattern = _lines(style)
    return pattern.sub(lambda match: match[1] + match[2][1:], text) if pattern else text


def close_fence(text: str) -> str:
    """Return *text* with a line behind it that ends the fenced block that it leaves open; *text* itself if there is none."""
    fence = _open_fence(text)
    if not fence:
        return text
    return text + ("" if text.endswith("\n") else "\n") + fence


def attribute(name: str) -> str:
    """Return *name* as it stands between the quotes of an attribute: one printable line, escaped in one pass."""
    return naming.printable(name).translate(_ATTRIBUTE)


def heading(name: str) -> str:
    """Return *name* as it stands in a heading: one line that has a dot or a slash, as no other heading of a text is left to have."""
    shown = naming.label(name)
    return shown if re.search(_DOT_OR_SLASH, shown) and not re.match(_GAP + _SHARP, shown) else "./" + shown


_ATTRIBUTE = {ord("&"): "&amp;", ord(">"): "&gt;", ord('"'): "&quot;"} | {ord(sign): f"&{entity};" for sign, entity in _ENTITIES.items()}


def _loose(word: str, gap: str = _GAP) -> str:
    """Return a pattern for *word* that sees through blanks, invisible characters and full-width signs."""
    return gap.join(map(_either_width, word.replace(" ", "")))


def _either_width(sign: str) -> str:
    return f"[{re.escape(sign)}{chr(ord(sign) + _FULL_WIDTH)}]" if sign.isascii() else re.escape(sign)


@cache
def _tags(style: Style) -> re.Pattern[str]:
    exact = _loose(_EXACT_TAG, _WIDE_GAP)
    names = [*(_loose(tag, _WIDE_GAP) for tag in _TAGS), exact if style == "instructions" else f"(?-i:{exact})"]
    tail = rf"(?={_WIDE_GAP}[/\uff0f]?{_WIDE_GAP}(?:{'|'.join(names)})(?!(?![{_INVISIBLE}])[\w.:-]))"
    return re.compile(rf"(?:(?P<sign>[{''.join(_ENTITIES)}])|&(?P<amps>(?:amp;)*+)(?P<entity>{'|'.join(_SIGNS)});){tail}", re.IGNORECASE)


def _escape(match: re.Match[str]) -> str:
    return f"&{_ENTITIES[match['sign']]};" if match["sign"] else f"&amp;{match['amps']}{match['entity']};"


def _unescape(match: re.Match[str]) -> str:
    if match["sign"]:
        return match[0]
    if match["amps"]:
        return f"&{match['amps'][4:]}{match['entity']};"
    return _SIGNS.get(match["entity"], match[0])


@cache
def _lines(style: Style) -> re.Pattern[str] | None:
    looks = _LINE_FRAMES[style]
    return re.compile(rf"{_LINE_START}({_GAP})(\\*+)(?={'|'.join(looks)})", re.IGNORECASE) if looks else None


_LINE_FRAMES: dict[Style, tuple[str, ...]] = {
    "project_context": (),
    "instructions": (
        _SHARP + _GAP + _loose("AGENTS.md instructions"),
        _loose("--- project-doc ---"),
        rf"{_loose('for')}{_GAP}`[^{_BREAKS}]*`{_GAP}{_loose('with root')}",
    ),
    "headings": (
        rf"(?:{_SHARP}{_GAP}){{2}}{_loose('Project instructions')}",
        rf"(?:{_SHARP}{_GAP}){{3}}(?!{_SHARP})[^{_BREAKS}]*?(?:{_DOT_OR_SLASH})",
        _loose("[excerpt ends here"),
        _loose("[节选到此为止"),
    ),
    "system_reminder": (
        rf"{_loose('Contents of')}[^{_BREAKS}]*[(\uff08]{_GAP}{_loose('instructions')}",
        _loose("文件内容") + _GAP + "[:：]",
    ),
}

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)", re.MULTILINE)


def _open_fence(text: str) -> str:
    fence = ""
    if "```" not in text and "~~~" not in text:
        return fence
    for run, rest in _FENCE.findall(text):
        if not fence:
            fence = "" if run[0] == "`" and "`" in rest else run
        elif run.startswith(fence) and not rest.strip():
            fence = ""
    return fence
