r"""
What in an instruction file names nothing: blanked out, so that the grammar of mentions need not know Markdown.

Blanked are fenced blocks (in lists and quotes too), indented code, HTML comments, preformatted text and scripts, and
links with their texts and targets; inline code spans are left to `mentions`, which leaves them out by itself.  A
blanked text has the same length and the same lines, so that every offset in it is one in the text.

    text  ->  the same with " " for what is inert; line ends stay

The rules are CommonMark's (4.4 to 4.7, 5.2, 6.3, 6.6), as far as the shape of a line tells; linear in the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from filerefs.agentsmd.blocks import Blocks, lines
from filerefs.regions import CodeRegions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Span: TypeAlias = tuple[int, int]

# What some line of a text with inert lines has.
_BLOCK = re.compile(r"```|~~~|<[!?a-z]|^(?: {4}| {0,3}[\t>])|[-+*.)](?: {5}| *+\t)", re.MULTILINE | re.IGNORECASE)
_DEFINITION = re.compile(r"^[ ]{0,3}\[((?:[^\[\]\\\n]|\\.){1,999})\]:[^\n]*", re.MULTILINE)
_NOT_LINE_END = re.compile(r"[^\r\n]")
_BRACKET = re.compile(r"\\.|[\[\]]|\n[ \t]*\r?\n", re.DOTALL)
_TARGET = re.compile(
    r"""\( \s*+ (?: <[^<>\n]*> | [^\s()<]*+ (?: \( [^\s()]*+ \) [^\s()]*+ )*+ )
        (?: \s++ (?: "[^"]*" | '[^']*' | \([^()]*\) ) )? \s*+ \)""",
    re.VERBOSE,
)
_LABEL = re.compile(r"\[(?:[^\[\]\\\n]|\\.){0,999}\]")
_LONGEST_TARGET = 4096
_LONGEST_LABEL = 999


def mask(text: str) -> str:
    """Return *text* with a blank for each character that is inert."""
    if "@" not in text and "＠" not in text:
        return text
    if _BLOCK.search(text):
        text = _blank(text, _inert_lines(text))
    text = _blank(text, _comments(text))
    return _blank(text, _links(text))


def _blank(text: str, spans: Iterator[Span]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        if end > position:
            pieces += (text[position:start], _hide(text[max(start, position) : end]))
            position = end
    return "".join(pieces) + text[position:] if pieces else text


def _hide(piece: str) -> str:
    return _NOT_LINE_END.sub(" ", piece) if "\n" in piece or "\r" in piece else " " * len(piece)


def _inert_lines(text: str) -> Iterator[Span]:
    """Yield what is inert at the beginning of each line: nearly always nothing, or all of it."""
    blocks = Blocks()
    read = blocks.read
    for start, line in _lines(text):
        read(line)
        if blocks.inert:
            yield start, start + blocks.inert


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield where each line starts, and the line; by splitting, which is faster, where there is only one kind of line end."""
    if "\r" in text:
        yield from ((start, text[start:stop]) for start, stop, _ in lines(text))
        return
    position = 0
    for line in text.split("\n"):
        yield position, line
        position += len(line) + 1


def _comments(text: str) -> Iterator[Span]:
    """Yield where comments inside of lines are; what opens a comment in a code span does not."""
    if "<!--" not in text:
        return
    code = CodeRegions(text, spans=True)
    position = 0
    while (start := text.find("<!--", position)) >= 0:
        around = code.around(start)
        end = -1 if around else text.find("-->", start + 4)
        if around:
            position = around.end
        elif end < 0:
            return
        else:
            position = end + 3
            code.skip(position)
            yield start, position


def _links(text: str) -> Iterator[Span]:
    """Yield where links and link definitions are, texts and targets; `[text]` alone is one only if it is defined."""
    if "](" not in text and "][" not in text and "]:" not in text:
        return
    definitions = list(_DEFINITION.finditer(text))
    labels = {_fold(match[1]) for match in definitions}
    yield from sorted((*(match.span() for match in definitions), *_inline_links(text, labels)))


def _inline_links(text: str, labels: Collection[str]) -> Iterator[Span]:
    code = CodeRegions(text, spans=True)
    opened: list[int] = []
    position = 0
    while match := _BRACKET.search(text, position):
        start, position = match.span()
        if around := code.around(start):
            position = around.end
        elif match[0] == "[":
            opened.append(start)
        elif match[0] == "]":
            end = _end_of_link(text, position) if opened else None
            opening = opened.pop() if opened else start
            if end is None and labels and start - opening <= _LONGEST_LABEL and _fold(text[opening + 1 : start]) in labels:
                end = position
            if end is not None:
                yield opening, end
                position = end
        elif match[0][0] == "\n":
            opened.clear()


def _fold(label: str) -> str:
    return " ".join(label.split()).casefold()


def _end_of_link(text: str, position: int) -> int | None:
    """Return where a link ends whose text ended at *position*: behind its target or label; None if it is no link."""
    pattern = _TARGET if text.startswith("(", position) else _LABEL
    match = pattern.match(text, position, position + _LONGEST_TARGET)
    return match.end() if match else None
