r"""
What in an instruction file names nothing: blanked out, so that the grammar of mentions need not know Markdown.

Blanked are fenced blocks (in lists and quotes too), indented code, HTML comments, and links with their texts and
targets; inline code spans are left to `mentions`, which leaves them out by itself.  A blanked text has the same
length and the same lines, so that every offset in it is one in the text.

    text  ->  the same with " " for what is inert; line ends stay

The rules are CommonMark's (4.4 to 4.7, 5.2, 6.3, 6.6), as far as the shape of a line tells; linear in the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from filerefs.regions import CodeRegions

if TYPE_CHECKING:
    from collections.abc import Iterator

Span: TypeAlias = tuple[int, int]

_CODE_INDENT = 4
# What some line of a text with inert lines has; and what a line that is plain text for sure begins with.
_BLOCK = re.compile(r"```|~~~|<!--|^(?: {4}| {0,3}[\t>])", re.MULTILINE)
_PLAIN = re.compile(r"[^\s>`~<#*+\-0-9]")
_QUOTES = re.compile(r"(?:[ \t]{0,3}>[ ]?)+")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)[ \t]*")
_FENCE = re.compile(r"(?P<run>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_DEFINITION = re.compile(r"^[ ]{0,3}\[(?:[^\[\]\\\n]|\\.){1,999}\]:[^\n]*", re.MULTILINE)
_NOT_LINE_END = re.compile(r"[^\r\n]")
_BRACKET = re.compile(r"\\.|[\[\]]|\n[ \t]*\r?\n", re.DOTALL)
_TARGET = re.compile(
    r"""\( \s* (?: <[^<>\n]*> | [^\s()<]* (?: \( [^\s()]* \) [^\s()]* )* )
        (?: \s+ (?: "[^"]*" | '[^']*' | \([^()]*\) ) )? \s* \)""",
    re.VERBOSE,
)
_LABEL = re.compile(r"\[(?:[^\[\]\\\n]|\\.){0,999}\]")
_LONGEST_TARGET = 4096


def mask(text: str) -> str:
    """Return *text* with a blank for each character that is inert."""
    if "@" not in text and "＠" not in text:
        return text
    if _BLOCK.search(text):
        text = _blank(text, _Blocks().spans(text))
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


class _Blocks:
    """The lines of a text that are code or part of a comment that begins a line."""

    def __init__(self) -> None:
        self._lists: list[int] = []
        self._fence = ""
        self._fence_quoted = False
        self._in_comment = False
        self._in_code = False
        # Whether indented code may begin here: it cannot interrupt a paragraph.
        self._may_begin = True

    def spans(self, text: str) -> Iterator[Span]:
        """Yield what is inert at the beginning of each line: nearly always nothing, or all of it."""
        position = 0
        for line in text.split("\n"):
            if not (self._fence or self._in_comment) and _PLAIN.match(line):
                self._read_plain()
            elif inert := self._inert(line.rstrip("\r")):
                yield position, position + inert
            position += len(line) + 1

    def _read_plain(self) -> None:
        """Take a line that begins at the margin, with nothing in it that means anything."""
        if self._may_begin:
            self._lists.clear()
        self._may_begin = self._in_code = False

    def _inert(self, line: str) -> int:
        """Return how many characters at the beginning of *line* are inert."""
        if self._in_comment:
            end = line.find("-->")
            self._in_comment = end < 0
            return len(line) if end < 0 else end + 3
        quote = _QUOTES.match(line)
        rest = line[quote.end() :] if quote else line
        if self._fence and self._goes_on(rest, quoted=quote is not None):
            return len(line)
        if not rest.strip():
            self._may_begin = True
            return 0
        return len(line) if self._is_inert(rest, quoted=quote is not None) else 0

    def _goes_on(self, rest: str, *, quoted: bool) -> bool:
        """Tell whether a line belongs to the open fenced block; a quote that ends, ends the block in it."""
        if self._fence_quoted and not quoted:
            self._fence = ""
            return False
        match = _FENCE.match(rest.lstrip(" \t"))
        if match and match["run"].startswith(self._fence) and not match["info"].strip():
            self._fence = ""
            self._may_begin = True
        return True

    def _is_inert(self, rest: str, *, quoted: bool) -> bool:
        indent = _width(rest)
        if self._may_begin:
            self._leave_lists(indent)
        base = self._lists[-1] if self._lists else 0
        if indent - base >= _CODE_INDENT and (self._may_begin or self._in_code):
            self._in_code = True
            return True
        self._in_code = False
        start = len(rest) - len(rest.lstrip(" \t"))
        while item := _ITEM.match(rest, start):
            self._leave_lists(indent)
            indent += len(item[0].expandtabs(4))
            self._lists.append(indent)
            start = item.end()
        return self._opens(rest[start:], quoted=quoted)

    def _leave_lists(self, indent: int) -> None:
        """Forget the list items whose text begins further to the right than at *indent*."""
        while self._lists and indent < self._lists[-1]:
            self._lists.pop()

    def _opens(self, body: str, *, quoted: bool) -> bool:
        """Look at what a line holds behind its indent and its bullets; tell whether that begins something inert."""
        self._may_begin = bool(_HEADING.match(body))
        if body.startswith("<!--"):
            self._in_comment = "-->" not in body[4:]
            return self._in_comment
        match = _FENCE.match(body)
        if match is None or (match["run"][0] == "`" and "`" in match["info"]):
            return False
        self._fence, self._fence_quoted = match["run"], quoted
        return True


def _width(line: str) -> int:
    """Return how many columns of white space a line begins with."""
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))


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
    """Yield where links and link definitions are, texts and targets; `[text]` alone is none."""
    if "](" not in text and "][" not in text and "]:" not in text:
        return
    yield from sorted((*(match.span() for match in _DEFINITION.finditer(text)), *_inline_links(text)))


def _inline_links(text: str) -> Iterator[Span]:
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
            if end is not None:
                yield opening, end
                position = end
        elif match[0][0] == "\n":
            opened.clear()


def _end_of_link(text: str, position: int) -> int | None:
    """Return where a link ends whose text ended at *position*: behind its target or label; None if it is no link."""
    pattern = _TARGET if text.startswith("(", position) else _LABEL
    match = pattern.match(text, position, position + _LONGEST_TARGET)
    return match.end() if match else None
