r"""message -> [Ref]: where a mention opens, how far it goes, and its default reading, the one that needs no disk.

A mention is written in one of three forms:

    @"…"  @'…'    on one line; in double quotes \" \\ and \u{HEX} are escapes, any other backslash is itself
    @path         up to white space; a backslash takes a blank, bracket or quote into the name

The rules are those of docs/grammar.md; the numbers in comments and docstrings are its numbers.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from filerefs.errors import OptionError, OptionTypeError
from filerefs.patterns import ESCAPABLE, find_pattern, range_at_end
from filerefs.regions import Code, CodeRegions

if TYPE_CHECKING:
    import regex

    from filerefs.patterns import TokenMatch, TokenPattern

CodePolicy: TypeAlias = Literal["inert", "load"]
Range: TypeAlias = tuple[int, int | None]
Reading: TypeAlias = tuple[int, str, Range | None]

# A path has at most 4,095 bytes (PATH_MAX), so no reading of a longer run can exist.
RUN_LENGTH = 4095


class Ref(NamedTuple):
    """
    A mention in its default reading: tail punctuation, unopened closing brackets, possessive and range taken off.

    A named tuple, since a pasted file makes thousands of them and most turn out to be plain words.

    Attributes:
        token: The text of the mention, `message[start:end]`.
        start: Where the at-sign stands, in code points.
        end: Where the default reading ends, in code points.
        path: The name as typed, escapes undone; not normalised.
        lines: (first, last) as typed, counted from 1; a last line of None means "to the end"; None: the whole file.
        quoted: Whether the name stood in quotes: then it is exactly that name and never shrinks.
        message: The message itself, not a copy of a part: other readings are offsets into it.
        run_end: Where the run of characters ends that the name may be taken from.

    .. versionadded:: 0.1
    """

    token: str
    start: int
    end: int
    path: str
    lines: Range | None = None
    quoted: bool = False
    message: str = ""
    run_end: int = 0

    @property
    def run(self) -> str:
        """What the name may be taken from at most, the at-sign not included; at most 4,095 code points."""
        return self.message[self.start + 1 : min(self.run_end, self.start + 1 + RUN_LENGTH)]

    @property
    def enclosed(self) -> bool:
        """Whether a quote stands right before the mention and its partner right behind it."""
        before, after = self.message[self.start - 1 : self.start], self.message[self.end : self.end + 1]
        return self.start > 0 and before in _PARTNERS and _PARTNERS[before] == after

    def upto(self, end: int) -> str:
        """Return the text of the message from where the mention opens to *end*."""
        return self.message[self.start : end]

    def rest_of_line(self, stop: int | None) -> str:
        """Return what stands behind the run on the same line, up to *stop* and at most 4,095 code points."""
        limit = min(self.run_end + RUN_LENGTH, len(self.message) if stop is None else stop)
        for sign in "\n\r`":
            found = self.message.find(sign, self.run_end, limit)
            limit = limit if found < 0 else found
        return self.message[self.run_end : limit]

    def __repr__(self) -> str:
        lines = "" if self.lines is None else f", lines={self.lines}"
        return f"Ref({self.token!r}, start={self.start}, end={self.end}, path={self.path!r}{lines})"


class Scan(NamedTuple):
    """What a message holds: the mentions, and those that alone fill an inline code span (R2)."""

    refs: list[Ref]
    in_code: list[Ref]


def parse(message: str, *, code: CodePolicy = "inert", lenient: bool = True) -> list[Ref]:
    """
    Return the mentions of *message*, in order and disjoint, each in its default reading.

    Nothing is looked up: whether a mention names a file is for `load` to find out.

    Args:
        message: What a person typed.
        code: "inert" leaves out inline code spans, "load" does not; fenced blocks are always left out.
        lenient: Whether typographic quotes quote and a full-width at-sign is one.

    Raises:
        OptionTypeError: If *message* is no string.
        OptionError: If *code* is neither of the two.

    .. versionadded:: 0.1
    """
    return scan(message, code=code, lenient=lenient).refs


def scan(message: str, *, code: CodePolicy = "inert", lenient: bool = True) -> Scan:
    """Return the mentions of *message* and those that fill a code span; see `parse`."""
    if not isinstance(message, str):
        raise OptionTypeError("message", message, "a string")
    if code not in ("inert", "load"):
        raise OptionError("code", code, '"inert" or "load"')
    wide = lenient and "＠" in message
    if not wide and "@" not in message:
        return Scan([], [])
    pattern = find_pattern(message, wide=wide, lenient=lenient)
    regions = CodeRegions(message, spans=code == "inert")
    if regions:
        return _scan_beside_code(message, pattern, regions)
    readings: dict[str, Reading] = {}
    refs = []
    for match in pattern.finditer(message):
        start, end = match.span()
        ref = _bare(message, start, end, readings) if match.lastgroup == "bare" else _quoted(message, match)
        if ref is not None:
            refs.append(ref)
    return Scan(refs, [])


def _scan_beside_code(message: str, pattern: TokenPattern, regions: CodeRegions) -> Scan:
    readings: dict[str, Reading] = {}
    refs: list[Ref] = []
    in_code: list[Ref] = []
    position = 0
    while match := pattern.search(message, position):
        start, end = match.span()
        ref: Ref | None
        if around := regions.around(start):
            position = around.end
            if ref := _alone(message, pattern, start, around):
                in_code.append(ref)
            continue
        if match.lastgroup == "bare":
            end = regions.first_span(start, end)
            ref = _bare(message, start, end, readings)
        else:
            ref = _quoted(message, match)
            regions.skip(end)
        if ref is not None:
            refs.append(ref)
        position = end
    return Scan(refs, in_code)


def _alone(message: str, pattern: TokenPattern, start: int, code: Code) -> Ref | None:
    """Return the mention at *start* if it is all that an inline code span holds."""
    if message[code.content_start : start].strip(" ") or code.content_start == code.start:
        return None
    match = pattern.match(message, start, code.content_end)
    if match is None:
        return None
    ref = _bare(message, *match.span(), {}) if match.lastgroup == "bare" else _quoted(message, match)
    return ref if ref is not None and not message[ref.end : code.content_end].strip(" ") else None


_PARTNERS = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "‘": "’", "«": "»", "‹": "›", "「": "」", "『": "』"}


def read_range(match: TokenMatch) -> Range:
    """Return the (first, last) that a match of `RANGE` holds, as typed; an open end is None."""
    first = _number(match["first"])
    if match["last"] is not None:
        return first, _number(match["last"])
    return first, None if match[0][-1] in "-–" else first


def _number(digits: str) -> int:
    # Python refuses to convert thousands of digits; no file has 10**18 lines.
    return int(digits) if len(digits) <= 18 else 10**18


def _quoted(message: str, match: TokenMatch) -> Ref:
    start, end = match.span()
    name = match["single"] if match["single"] is not None else unescape_quoted(match["double"])
    lines = read_range(match) if match["range"] is not None else None
    return Ref(match[0], start, end, name, lines, True, message, end)  # noqa: FBT003 (by position: a named tuple)


def unescape_quoted(text: str) -> str:
    r"""Return the name that stands in double quotes: `\"`, `\\` and `\u{HEX}` undone, any other backslash itself."""
    if "\\" not in text:
        return text
    return _quoted_escape().sub(_unescape_one, text)


@cache
def _quoted_escape() -> regex.Pattern[str]:
    import regex

    return regex.compile(r"""\\(?:(?P<sign>["\\])|u\{(?P<hex>[0-9A-Fa-f]{1,6})\})""")


def _unescape_one(match: regex.Match[str]) -> str:
    if match["sign"]:
        return match["sign"]
    code = int(match["hex"], 16)
    return chr(code) if code <= 0x10FFFF else match[0]


def unescape_bare(text: str) -> str:
    """Return the name that a bare run means: a backslash in front of a blank, bracket or quote taken away."""
    if "\\" not in text:
        return text
    return _bare_escape().sub(lambda match: match[1] or match[0], text)


@cache
def _bare_escape() -> regex.Pattern[str]:
    import regex

    return regex.compile(rf"(?V1)\\(?:\\|({ESCAPABLE}))")


def _bare(message: str, start: int, end: int, readings: dict[str, Reading]) -> Ref | None:
    run = message[start + 1 : end] if end - start <= RUN_LENGTH else message[start + 1 : start + 1 + RUN_LENGTH]
    reading = readings.get(run)
    if reading is None:
        reading = readings[run] = default_reading(run)
    length, path, lines = reading
    if not path:
        return None
    stop = start + 1 + length
    return Ref(message[start:stop], start, stop, path, lines, False, message, end)  # noqa: FBT003 (by position: a named tuple)


def default_reading(run: str) -> Reading:
    """
    Return how much of a bare *run* its default reading takes, the name, and the range.

    The whole run is a name to begin with; from its end go punctuation, closing brackets that it does not open,
    and a possessive, in any order; then a range.  A part of dots only stays (`..`), except for the full stop
    behind a folder (`@src/.`).
    """
    end = _without_tail(run)
    text = run[:end]
    if (":" in text or "#" in text) and (match := range_at_end().search(text)) and match.start():
        return end, unescape_bare(text[: match.start()]), read_range(match)
    return end, unescape_bare(text), None


_TAIL = frozenset(".,;:!?'\"`*>|~…#\\”“’‘»«›‹、。，；：！？．｜＞—–\u00a0\u2007\u202f")
_CLOSERS = dict(zip(")]}>）］｝」』】〉》〕", "([{<（［｛「『【〈《〔", strict=True))


def _without_tail(run: str) -> int:
    end = len(run)
    surplus: dict[str, int] = {}
    while end:
        last = run[end - 1]
        if last in _CLOSERS:
            if last not in surplus:
                surplus[last] = run.count(last, 0, end) - run.count(_CLOSERS[last], 0, end)
            if surplus[last] <= 0:
                break
            surplus[last] -= 1
            end -= 1
        elif last == "s" and run[end - 2 : end - 1] in ("'", "’") and end > 2:
            end -= 2
        elif last in _TAIL and not (last == "." and dots_only(run, end)):
            end -= 1
        else:
            break
    return end


def dots_only(run: str, end: int) -> bool:
    """Tell whether the last part of run[:end] is dots and nothing else, and not the full stop behind a folder."""
    first = end
    while first and run[first - 1] == ".":
        first -= 1
    if first and run[first - 1] != "/":
        return False
    return end - first > 1 or first == 0
