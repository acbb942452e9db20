r"""
What stands around an instruction file's text, and how a text is kept from closing or forging it.

A frame is plain text, so a text could hold one.  Whatever in a text looks like a frame is made visible as not being
one, and only that is touched:

- a tag of any style has its `<` written as `&lt;` (`&lt;/project_instructions>`), an `&lt;` that stood there as
  `&amp;lt;`; where the frame has headings, the tags of HTML's headings count, too;
- a line that looks like a line of the style in question gets a backslash in front (`\### svc/AGENTS.md`), one more
  where there were some; so does the line below one that makes such a heading of it (`\---`);
- what a text leaves open (a fenced block, a comment, raw HTML) is closed or made visible, since a reader of Markdown or
  HTML would take the frame for its contents: see `loose_ends`.

All but the end of a fenced block is undone exactly by `restore`.  Looks like: whatever the case, with blanks or
invisible characters between letters, with full-width signs, in block quotes and lists, behind any character that
breaks a line.  Not touched is a heading with one number sign: it is the title of a text, and many begin with their
own name.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from filerefs import naming
from filerefs.agentsmd.loose_ends import close_fence, hide_openings, show_openings
from filerefs.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """Return *text* so that no part of it reads as a frame of *style*, nor as a tag of any other, and nothing in it is left open."""
    text = hide_openings(text)
    # Tags before fences: a tag may begin a piece of HTML, in which a fence is none.
    return close_fence(neutralise_tags(neutralise_lines(text, style), style))


def neutralise_seams(text: str, style: Style) -> str:
    """
    Return *text*, made of texts that were neutralised one by one, so that no two of them together make a tag.

    The `<` that ends a name or a text may be completed by what follows.
    """
    return _tags(style).sub(lambda match: _escape(match) if match["sign"] else match[0], text) if "<" in text or not text.isascii() else text


def neutralise_tags(text: str, style: Style) -> str:
    """Return *text* with every tag of a frame made visible as text."""
    return _tags(style).sub(_escape, text) if "<" in text or "&" in text or not text.isascii() else text


def neutralise_lines(text: str, style: Style) -> str:
    """Return *text* with a backslash in front of every line that reads as a line of *style*, or makes one of the line above it."""
    text = _change_underlines(text, style, lambda backslashes: backslashes + "\\")
    pattern = _lines(style)
    return pattern.sub(r"\1\\\2", text) if pattern else text


def restore(text: str, style: Style) -> str:
    """Return what `neutralise` made *text* of, but for a line that ends a fenced block."""
    text = _tags(style).sub(_unescape, text)
    pattern = _lines(style)
    text = pattern.sub(lambda match: match[1] + match[2][1:], text) if pattern else text
    return show_openings(_change_underlines(text, style, lambda backslashes: backslashes[1:]))


def attribute(name: str) -> str:
    """Return *name* as it stands between the quotes of an attribute: one printable line, escaped in one pass."""
    return naming.printable(name).translate(_ATTRIBUTE)


def label(name: str) -> str:
    """Return *name* as it stands in a line of a frame: one printable line that opens nothing."""
    return hide_openings(naming.label(name))


def heading(name: str) -> str:
    """Return *name* as it stands in a heading: one line that has a dot or a slash, as no other heading of a text is left to have."""
    shown = label(name)
    return shown if re.search(_DOT_OR_SLASH, shown) and not re.match(_GAP + _SHARP, shown) else "./" + shown


_ATTRIBUTE = {ord("&"): "&amp;", ord(">"): "&gt;", ord('"'): "&quot;"} | {ord(sign): f"&{entity};" for sign, entity in _ENTITIES.items()}


def _loose(word: str, gap: str = _GAP) -> str:
    """Return a pattern for *word* that sees through blanks, invisible characters and full-width signs."""
    return gap.join(map(_either_width, word.replace(" ", "")))


def _signs(count: int) -> str:
    """Return a pattern for *count* number signs and no more, whether or not blanks between them are seen."""
    return rf"(?:(?:{_SHARP}{_GAP}){{{count}}}|(?:{_SHARP}[{_INVISIBLE}]*+){{{count}}})(?!{_SHARP})"


def _either_width(sign: str) -> str:
    return f"[{re.escape(sign)}{chr(ord(sign) + _FULL_WIDTH)}]" if sign.isascii() else re.escape(sign)


@cache
def _tags(style: Style) -> re.Pattern[str]:
    exact = _loose(_EXACT_TAG, _WIDE_GAP)
    names = [*(_loose(tag, _WIDE_GAP) for tag in _TAGS), exact if style == "instructions" else f"(?-i:{exact})"]
    if style in _HEADINGS:
        names.append(f"[h\uff48]{_WIDE_GAP}[1-6\uff11-\uff16]")
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
    return re.compile(rf"{_LINE_START}({_FRONT})(\\*+)(?={'|'.join(looks)})", re.IGNORECASE) if looks else None


def _change_underlines(text: str, style: Style, change: Callable[[str], str]) -> str:
    """Return *text* with other backslashes in front of the underlines of paragraphs that would read as headings of *style*."""
    looks = _HEADINGS.get(style)
    if looks is None or not _UNDERLINES.search(text):
        return text
    pieces: list[str] = []
    above, is_frame = "", False
    for line, end in _LINES.findall(text):
        underline = _UNDERLINE.match(line)
        if underline is None:
            pieces += (line, end)
            has_ink = _INK.search(line) is not None
            is_frame = has_ink and (is_frame or any(re.match(looks, words, re.IGNORECASE) for words in (line, f"{above} {line}")))
            above = line if has_ink else ""
        elif is_frame:
            # Neutralised, it is one more line of the paragraph.
            pieces += (underline[1], change(underline[2]), line[underline.end() :], end)
        else:
            pieces += (line, end)
            above = ""
    return "".join(pieces)


# What may stand in front of a line in block quotes and list items.
_FRONT = rf"(?:[{_BLANKS}{_INVISIBLE}>]|[*+\-](?=[{_BLANKS}])|\d{{1,9}}[.)](?=[{_BLANKS}]))*+"
_LINES = re.compile(rf"([^{_BREAKS}]*+)(\r\n|[{_BREAKS}]|\Z)")
_INK = re.compile(rf"[^{_BLANKS}{_INVISIBLE}>]")
_UNDERLINE = re.compile(rf"([{_BLANKS}{_INVISIBLE}>]*+)(\\*+)(?=(?:[=\uff1d]++|[\-\uff0d]++)[{_BLANKS}{_INVISIBLE}]*+\Z)")
_UNDERLINES = re.compile(rf"[=\uff1d\-\uff0d][{_BLANKS}{_INVISIBLE}]*+(?:[{_BREAKS}]|\Z)")

_TITLE = _loose("Project instructions")
_WRAPPED = _loose("AGENTS.md instructions")
_SUFFIX = rf"[.\uff0e]{_GAP}{_loose('md')}"

# By style, what the paragraph says that an underline would make a heading of its frame.
_HEADINGS: dict[str, str] = {"headings": rf"{_FRONT}(?:{_TITLE}|.*?(?:{_DOT_OR_SLASH}))", "instructions": _FRONT + _WRAPPED}

_LINE_FRAMES: dict[Style, tuple[str, ...]] = {
    "project_context": (),
    "instructions": (
        rf"(?:{_SHARP}{_GAP})++{_WRAPPED}",
        _loose("--- project-doc ---"),
        rf"{_loose('for')}{_GAP}`[^{_BREAKS}]*`{_GAP}{_loose('with root')}",
    ),
    "headings": (
        rf"(?:{_SHARP}{_GAP}){{2}}{_TITLE}",
        rf"{_signs(2)}[^{_BREAKS}]*{_SUFFIX}{_GAP}[^\w{_BREAKS}]*+(?:[{_BREAKS}]|\Z)",
        rf"{_signs(3)}[^{_BREAKS}]*?(?:{_DOT_OR_SLASH})",
        _loose("[excerpt ends here"),
        _loose("[节选到此为止"),
    ),
    "system_reminder": (
        rf"{_loose('Contents of')}[^{_BREAKS}]*[(\uff08]{_GAP}{_loose('instructions')}",
        _loose("文件内容") + _GAP + "[:：]",
    ),
}
