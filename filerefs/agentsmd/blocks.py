"""
What the lines of a Markdown text are: prose, headings, code, raw HTML; in block quotes and list items as well.

    a line  ->  its `Kind`, and what is open behind it

The rules are CommonMark's for blocks (chapters 4 and 5), read one line at a time, so that the cost is linear.  Of what
is decided inside of a paragraph nothing is read: a paragraph of nothing but link definitions is a paragraph here.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Leaf: TypeAlias = Literal["", "text", "code", "fence", "raw", "html"]


class Kind(Enum):
    """What a line is."""

    BLANK = "blank"
    TEXT = "a line of a paragraph"
    HEADING = "a heading that begins with number signs"
    UNDERLINE = "what makes a heading of the paragraph above it"
    BREAK = "a rule between two parts"
    CODE = "indented code"
    FENCE = "part of a fenced block, its fences included"
    RAW = "part of a comment, a script, preformatted text and the like, which blank lines do not end"
    HTML = "part of other HTML, which a blank line ends"


class Line(NamedTuple):
    """Where a line of a text starts, where its characters stop, and where the next line starts."""

    start: int
    stop: int
    end: int


_QUOTE_WIDTH: Final = 0
_CODE_INDENT: Final = 4
# Whoever goes on, does so only to make reading slow; as deep as that other parsers read nothing either.
_DEEPEST: Final = 100

_LINE = re.compile(r"([^\r\n]*+)(\r\n?|\n|\Z)")
# What a line that is text at the margin for sure begins with.
_PLAIN = re.compile(r"[^\s>`~<#*+\-_=0-9]")
_SPACES = re.compile(" *")
_QUOTE = re.compile(" {0,3}> ?")
_HEADING = re.compile("#{1,6}(?: |$)")
_UNDERLINE = re.compile(r"(?:=++|-++) *+$")
_BREAK = re.compile(r"([-*_])(?: *+\1){2,}+ *+$")
_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?= |$)")
_FENCE = re.compile(r"(`{3,}+)[^`]*+$|(~{3,}+)")
_CLOSER = re.compile(r" {0,3}(`{3,}+|~{3,}+) *+$")

_RAW: Final = tuple(
    (re.compile(opening, re.IGNORECASE), re.compile(closing, re.IGNORECASE))
    for opening, closing in (
        (r"<(?:script|pre|style|textarea)(?:\s|>|$)", r"</(?:script|pre|style|textarea)>"),
        ("<!--", "-->"),
        (r"<\?", r"\?>"),
        (r"<!\[CDATA\[", r"\]\]>"),
        ("<![a-z]", ">"),
    )
)
_ELEMENTS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer"
    "|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section"
    "|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_ELEMENT = re.compile(rf"</?(?:{_ELEMENTS})(?:\s|/?>|$)", re.IGNORECASE)
_ATTRIBUTE = r"""\s++[a-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+"))?"""
_TAG = re.compile(rf"(?:<[a-z][a-z0-9-]*+(?:{_ATTRIBUTE})*+\s*+/?>|</[a-z][a-z0-9-]*+\s*+>)\s*+$", re.IGNORECASE | re.ASCII)


def lines(text: str) -> Iterator[Line]:
    """Yield where the lines of *text* are; a line end is LF, CR LF or CR."""
    for match in _LINE.finditer(text):
        if match.end() > match.start() or not text:
            yield Line(match.start(), match.end(1), match.end())


class Blocks:
    """
    The structure of one text, to be given all its lines in order, without their ends.

    Attributes:
        inert: How many characters at the beginning of the last line are code or raw text, and mean nothing: all of
            them, or what ends in the middle of a line, as a comment does.
    """

    __slots__ = ("_begins_bare", "_closing", "_containers", "_fence", "_leaf", "inert")

    def __init__(self) -> None:
        self.inert = 0
        # For each block quote `_QUOTE_WIDTH`, for each list item how many columns its lines are indented by.
        self._containers: list[int] = []
        self._leaf: Leaf = ""
        self._fence = ""
        self._closing = _RAW[0][1]
        # Whether the last list item has only its bullet yet: then a blank line ends it.
        self._begins_bare = False

    @property
    def is_inside(self) -> bool:
        """Whether a fenced block or raw text is open behind the last line."""
        return self._leaf in ("fence", "raw")

    @property
    def is_fenced(self) -> bool:
        """Whether a fenced block is open behind the last line."""
        return self._leaf == "fence"

    @property
    def closing(self) -> str:
        """The line that would end the fenced block which is open, in the block quotes and list items it stands in; "" for none."""
        if not self.is_fenced:
            return ""
        return "".join("> " if width == _QUOTE_WIDTH else " " * width for width in self._containers) + self._fence

    def read(self, line: str) -> Kind:
        """Return what *line*, the next one, is."""
        self.inert = 0
        if self._leaf not in ("fence", "raw", "html") and _PLAIN.match(line):
            if self._leaf != "text":
                self._containers.clear()
                self._leaf = "text"
            return Kind.TEXT
        columns = line.expandtabs(4) if "\t" in line else line
        position, matched = self._descend(columns)
        if matched < len(self._containers):
            if self._leaf != "text":
                self._leave(matched)
        elif self._leaf in ("fence", "raw", "html"):
            kind = self._go_on(line, columns[position:])
            if kind:
                return kind
        kind = self._begin(columns, position, matched)
        if kind is Kind.CODE:
            self.inert = len(line)
        elif kind in (Kind.FENCE, Kind.RAW):
            self._enter(kind, line)
        return kind

    def _descend(self, line: str) -> tuple[int, int]:
        """Return where in *line* the text of the open block quotes and list items begins, and how many of them go on."""
        position = 0
        bare, self._begins_bare = self._begins_bare, False
        for number, width in enumerate(self._containers):
            if width == _QUOTE_WIDTH:
                match = _QUOTE.match(line, position)
                if match is None:
                    return position, number
                position = match.end()
                continue
            start = _after_spaces(line, position)
            if start == len(line):
                if bare and number == len(self._containers) - 1:
                    return position, number
            elif start - position < width:
                return position, number
            position = min(position + width, start)
        return position, len(self._containers)

    def _leave(self, count: int) -> None:
        """End all open containers but for the first *count*, and what they hold."""
        del self._containers[count:]
        self._leaf = ""

    def _go_on(self, line: str, rest: str) -> Kind | None:
        """Return what a line is that goes on with what is open; None if it ends that and is something else."""
        if self._leaf == "fence":
            match = _CLOSER.match(rest)
            if match and match[1].startswith(self._fence):
                self._leaf = ""
            self.inert = len(line)
            return Kind.FENCE
        if self._leaf == "raw":
            self._look_for_end(line, 0)
            return Kind.RAW
        if rest.strip(" "):
            return Kind.HTML
        self._leaf = ""
        return None

    def _enter(self, kind: Kind, line: str) -> None:
        if kind is Kind.RAW:
            self._look_for_end(line, line.find("<") + 1)
        else:
            self.inert = len(line)

    def _look_for_end(self, line: str, start: int) -> None:
        match = self._closing.search(line, start)
        self._leaf = "" if match else "raw"
        self.inert = match.end() if match else len(line)

    def _begin(self, line: str, position: int, matched: int) -> Kind:
        """Return what a line is that may begin something, behind its first *matched* containers, which end at *position*."""
        while True:
            start = _after_spaces(line, position)
            if start == len(line):
                if matched < len(self._containers) or self._leaf == "text":
                    self._leave(matched)
                return Kind.BLANK
            is_text = self._leaf == "text"
            if start - position >= _CODE_INDENT:
                return Kind.TEXT if is_text else self._set(matched, "code", Kind.CODE)
            kind = self._look(line, start, matched)
            if kind:
                return kind
            behind = self._contain(line, position, start, matched)
            if behind < 0:
                return Kind.TEXT if is_text else self._set(matched, "text", Kind.TEXT)
            position, matched = behind, len(self._containers)

    def _set(self, matched: int, leaf: Leaf, kind: Kind) -> Kind:
        """Begin a *leaf* in the first *matched* containers."""
        del self._containers[matched:]
        self._leaf = leaf
        return kind

    def _look(self, line: str, start: int, matched: int) -> Kind | None:
        """Return what begins at *start*, None for text or a container."""
        sign = line[start]
        goes_on = self._leaf == "text" and matched == len(self._containers)
        if sign == "#" and _HEADING.match(line, start):
            return self._set(matched, "", Kind.HEADING)
        if sign in "`~" and (match := _FENCE.match(line, start)):
            self._fence = match[1] or match[2]
            return self._set(matched, "fence", Kind.FENCE)
        if sign == "<":
            return self._look_for_html(line, start, matched)
        if goes_on and sign in "=-" and _UNDERLINE.match(line, start):
            return self._set(matched, "", Kind.UNDERLINE)
        if sign in "*-_" and _BREAK.match(line, start):
            return self._set(matched, "", Kind.BREAK)
        return None

    def _look_for_html(self, line: str, start: int, matched: int) -> Kind | None:
        for opening, closing in _RAW:
            if opening.match(line, start):
                self._closing = closing
                return self._set(matched, "raw", Kind.RAW)
        # A tag of no block cannot interrupt a paragraph.
        if _ELEMENT.match(line, start) or (self._leaf != "text" and _TAG.match(line, start)):
            return self._set(matched, "html", Kind.HTML)
        return None

    def _contain(self, line: str, position: int, start: int, matched: int) -> int:
        """Begin the block quote or list item that begins at *start*; return where its text begins, -1 if there is none."""
        if matched >= _DEEPEST:
            return -1
        if line[start] == ">":
            self._set(matched, "", Kind.BLANK)
            self._containers.append(_QUOTE_WIDTH)
            return start + 1 + line.startswith(" ", start + 1)
        match = _ITEM.match(line, start)
        if match is None:
            return -1
        text = _after_spaces(line, match.end())
        is_bare = text == len(line)
        if self._leaf == "text" and matched == len(self._containers) and (is_bare or (match[1] and int(match[1]) != 1)):
            return -1
        if is_bare or text - match.end() > _CODE_INDENT:
            text = match.end() + 1
        self._set(matched, "", Kind.BLANK)
        self._containers.append(text - position)
        self._begins_bare = is_bare
        return min(text, len(line))


def _after_spaces(line: str, position: int) -> int:
    match = _SPACES.match(line, position)
    return match.end() if match else position
