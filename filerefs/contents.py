"""An opened file or folder -> what the section shows of it: a text within the cap, slices of it, or a listing."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from filerefs import decoding, naming
from filerefs.limits import KIB, MIB, count_lines, cut, utf8_length
from filerefs.outcomes import Reason
from filerefs.root import Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from filerefs.decoding import Decoded
    from filerefs.limits import MediaRoom
    from filerefs.outcomes import Kind, Lines
    from filerefs.rootlike import NodeLike
    from filerefs.walk import Ignore

SKIPPED: Final = 64 * MIB
"""Bytes in front of a slice that are read at most to reach it."""
# A file up to this size is read as a whole for a slice, so that it can be said how many lines there are.
_COUNTED: Final = MIB
# Enough to tell text from binary, however small the cap.
_HEAD: Final = 8 * KIB
_CHUNK: Final = 256 * KIB
# A capped read may end inside a character of up to four bytes; then as many more show that there is more.
_SPARE: Final = 4
_FEW: Final = 64

_BINARY: Final = Trouble(Reason.BINARY, "a binary file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What was read; the fields are those of `Attached`, and one."""

    kind: Kind
    text: str = ""
    size: int = 0
    shown: int = 0
    truncated: bool = False
    lines: Lines | None = None
    total_lines: int | None = None
    entries: int | None = None
    encoding: str | None = None
    lossy: bool = False
    media_type: str | None = None
    data: bytes | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    # Why lines that were asked for besides those in `lines` could not be reached.
    unreached: Trouble | None = None


def read_file(node: NodeLike, cap: int | None, room: MediaRoom | None = None) -> Content | Trouble:
    """Return the text of a file up to *cap* UTF-8 bytes, media with their data if there is *room*, or why there is none."""
    data = _read_capped(node, cap)
    return data if isinstance(data, Trouble) else _show_whole(node, *data, cap, room)


def _show_whole(node: NodeLike, raw: bytes, complete: bool, cap: int | None, room: MediaRoom | None) -> Content | Trouble:  # noqa: FBT001 (as it was read)
    """Return what there is to show of a file of which *raw* was read, which is all of it if *complete*."""
    media_type = decoding.media_type(raw)
    if media_type is not None:
        return _read_media(node, raw, media_type, room)
    decoded = decoding.decode(raw, complete=complete)
    if decoded is None:
        return _BINARY
    text, was_cut = cut(decoded.text, cap)
    content = Content(kind="file", text=text, size=node.size, shown=utf8_length(text), encoding=decoded.encoding, lossy=decoded.lossy)
    return _with_cautions(content, truncated=was_cut or not complete, guessed=decoded.guessed)


def _read_media(node: NodeLike, head: bytes, media_type: str, room: MediaRoom | None) -> Content | Trouble:
    """Return a medium whose first bytes are *head*; the others are read if all of them go with the message."""
    content = Content(kind="media", size=node.size, media_type=media_type)
    if room is None:
        return content
    objection = room.objection(media_type, max(node.size, len(head)))
    if not objection:
        rest = node.read(None if room.file_bytes is None else room.file_bytes + 1 - len(head))
        if isinstance(rest, Trouble):
            return rest
        size = len(head) + len(rest)
        # The size that the system stated is no promise.
        objection = room.objection(media_type, size)
        if not objection:
            return replace(content, size=size, data=head + rest)
    return replace(content, notes=(objection,), cautions=(objection,))


def reach(cap: int) -> int:
    """Return how many bytes of a file are read for *cap* bytes of text."""
    return max(cap + _SPARE, _HEAD)


def _read_capped(node: NodeLike, cap: int | None) -> tuple[bytes, bool] | Trouble:
    """Return enough bytes for *cap* UTF-8 bytes of text, and whether that is the whole file."""
    if cap is None:
        data = node.read(None)
        return data if isinstance(data, Trouble) else (data, True)
    wanted = reach(cap)
    data = node.read(wanted)
    if isinstance(data, Trouble) or len(data) < wanted:
        return data if isinstance(data, Trouble) else (data, True)
    wide = decoding.wide_encoding(data)
    if wide is None:
        return data, False
    # Text in UTF-16 or UTF-32 takes up to two or four times as many bytes on disk as in the section.
    factor = 4 if "32" in wide else 2
    more = node.read(wanted * (factor - 1))
    return more if isinstance(more, Trouble) else (data + more, len(more) < wanted * (factor - 1))


def _with_cautions(content: Content, *, truncated: bool, guessed: bool) -> Content:
    cautions = []
    if guessed:
        cautions.append(f"decoded as {content.encoding}, which is a guess")
    if content.lossy:
        cautions.append("some bytes are no valid text and are shown as U+FFFD")
    notes = tuple(cautions)
    if truncated:
        # Only a warning for the person: what the model is shown says so in its own way.
        cautions.insert(0, f"cut to {naming.human_size(content.shown)} of {naming.human_size(content.size)}")
    return replace(content, truncated=truncated, notes=notes, cautions=tuple(cautions)) if cautions else content


def with_total(content: Content) -> Content:
    """Return *content* with the number of its lines, if it is the whole of a text."""
    if content.kind != "file" or content.truncated:
        return content
    return replace(content, total_lines=count_lines(content.text))


def slice_text(whole: Content, ranges: Sequence[tuple[int, int | None]], cap: int | None) -> Content:
    """Return the lines *ranges* of a file that was read completely; ranges wholly behind its end are left out."""
    lines = whole.text.split("\n")
    unfinished = lines[-1] != ""
    total = len(lines) if unfinished else len(lines) - 1
    present = [(first, min(total if last is None else last, total)) for first, last in ranges if first <= total]
    parts = ["\n".join(lines[first - 1 : last]) + ("" if last == total and unfinished else "\n") for first, last in present]
    content = replace(whole, total_lines=total, lines=tuple(present), notes=(), cautions=())
    return _capped(content, "".join(parts), cap, whole.cautions)


def _capped(content: Content, text: str, cap: int | None, told: tuple[str, ...]) -> Content:
    """Return *content* with *text* cut to *cap*, its lines to what is left of it, and what is *told* of its encoding."""
    shown_text, was_cut = cut(text, cap)
    shown = utf8_length(shown_text)
    lines = _lines_within(content.lines or (), shown_text) if was_cut else content.lines
    cautions = (f"cut to {naming.human_size(shown)} of the lines asked for", *told) if was_cut else told
    return replace(content, text=shown_text, shown=shown, truncated=was_cut, lines=lines, notes=told, cautions=cautions)


def _lines_within(lines: Lines, text: str) -> Lines:
    """Return the part of *lines* that *text*, cut at its end, still shows."""
    left = count_lines(text)
    kept = []
    for first, last in lines:
        if left <= 0:
            break
        kept.append((first, min(last, first + left - 1)))
        left -= last - first + 1
    return tuple(kept)


def read_lines(node: NodeLike, ranges: Sequence[tuple[int, int | None]], cap: int | None, room: MediaRoom | None = None) -> Content | Trouble:
    """
    Return the lines *ranges* of a file, ascending and disjoint, up to *cap* bytes of them.

    `lines` of the result are those that exist; it is empty when the file ends before the first of them.
    """
    # The size is no promise: a file may grow, and those of procfs, and of some file systems far away, state 0.
    head = node.read(_CHUNK if node.size > _COUNTED else _COUNTED + 1)
    if isinstance(head, Trouble):
        return head
    if max(node.size, len(head)) > _COUNTED:
        return _stream_lines(node, head, ranges, cap, room)
    whole = _show_whole(node, head, complete=True, cap=None, room=room)
    return whole if isinstance(whole, Trouble) or whole.kind == "media" else slice_text(whole, ranges, cap)


def _stream_lines(node: NodeLike, head: bytes, ranges: Sequence[tuple[int, int | None]], cap: int | None, room: MediaRoom | None) -> Content | Trouble:
    """Do what `read_lines` does, in one pass over what begins with *head* and goes on in *node*."""
    media_type = decoding.media_type(head)
    if media_type is not None:
        return _read_media(node, head, media_type, room)
    beginning = decoding.decode(head, complete=False)
    if beginning is None:
        return _BINARY
    wide = decoding.wide_encoding(head)
    reader = LineReader(_recode(_chunks(node, head), wide))
    data, lines = reader.take_all(ranges, None if cap is None else cap + _SPARE)
    if reader.trouble is not None and (not lines or reader.trouble.reason is not Reason.BAD_RANGE):
        return reader.trouble
    decoded = _decode_slice(data, beginning, complete=cap is None or len(data) < cap + _SPARE)
    if decoded is None:
        return _BINARY
    # Recoded, what is no text is U+FFFD already; few texts hold one of their own.
    lossy = decoded.lossy or (wide is not None and "\ufffd" in decoded.text)
    content = Content(kind="file", size=node.size, encoding=wide or decoded.encoding, lossy=lossy)
    told = _with_cautions(content, truncated=False, guessed=decoded.guessed).cautions
    return _capped(replace(content, lines=lines, total_lines=reader.total, unreached=reader.trouble), decoded.text, cap, told)


def _decode_slice(data: bytes, beginning: Decoded, *, complete: bool) -> Decoded | None:
    """Return the text of a slice: a few letters alone may be anything, the beginning of their file says what they are."""
    if beginning.guessed and not beginning.encoding.startswith("utf"):
        decoder = codecs.getincrementaldecoder(beginning.encoding)()
        try:
            return replace(beginning, text=decoder.decode(data, final=complete))
        except UnicodeDecodeError:
            return decoding.decode(data, complete=complete)
    return decoding.decode(data, complete=complete)


def _chunks(node: NodeLike, head: bytes) -> Iterator[bytes | Trouble]:
    chunk: bytes | Trouble = head
    while chunk:
        yield chunk
        if isinstance(chunk, Trouble):
            return
        chunk = node.read(_CHUNK)


def _recode(chunks: Iterator[bytes | Trouble], wide: str | None) -> Iterator[bytes | Trouble]:
    """Yield *chunks* in an encoding in which a line end is one byte: UTF-16 and UTF-32 as UTF-8."""
    if wide is None:
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(wide)("replace")
    for chunk in chunks:
        yield chunk if isinstance(chunk, Trouble) else decoder.decode(chunk).encode()
    # Half a character at the end is one that is replaced, too.
    yield decoder.decode(b"", final=True).encode()


class LineReader:
    """
    Goes through a file once, from line to line, and never holds more than a chunk besides what is taken.

    `line` is the number of the line at which the reader stands, `total` how many there are once the end was
    reached, `trouble` what ended the reading before.
    """

    def __init__(self, chunks: Iterator[bytes | Trouble]) -> None:
        self._chunks = chunks
        self._buffer = b""
        self._position = 0
        self._skipped = 0
        self._at_line_start = True
        self.line = 1
        self.total: int | None = None
        self.trouble: Trouble | None = None

    def take_all(self, ranges: Sequence[tuple[int, int | None]], room: int | None) -> tuple[bytes, Lines]:
        """Return the lines *ranges*, at most *room* bytes of them, and which lines these are."""
        parts, lines = [], []
        for first, last in ranges:
            if room == 0 or not self.skip_to(first):
                break
            part = self.take(last, room)
            parts.append(part)
            room = None if room is None else room - len(part)
            lines.append((first, self.line - self._at_line_start))
        return b"".join(parts), tuple(lines)

    def skip_to(self, line: int) -> bool:
        """Go to the beginning of *line*; return False when there is no such line or it lies too deep."""
        while self._position < len(self._buffer) or self._fill():
            if self.line == line:
                return True
            if self._skipped > SKIPPED:
                self.trouble = Trouble(Reason.BAD_RANGE, f"line {line} lies more than {naming.human_size(SKIPPED)} deep in the file")
                return False
            self._skipped += len(self._advance(self._end_of(line - self.line)))
        return False

    def take(self, last: int | None, room: int | None) -> bytes:
        """Return the rest of the lines up to and with *last* (None: of the file), at most *room* bytes."""
        parts: list[bytes] = []
        while (last is None or self.line <= last) and room != 0 and (self._position < len(self._buffer) or self._fill()):
            end = len(self._buffer) if last is None else self._end_of(last - self.line + 1)
            part = self._advance(end if room is None else min(end, self._position + room))
            room = None if room is None else room - len(part)
            parts.append(part)
        return b"".join(parts)

    def _advance(self, end: int) -> bytes:
        part = self._buffer[self._position : end]
        self._position = end
        self.line += part.count(b"\n")
        self._at_line_start = part.endswith(b"\n")
        return part

    def _end_of(self, lines: int) -> int:
        """Return where the next *lines* lines end in the buffer: at its end if there are not so many."""
        # Counting takes a look at the whole rest: worth it for many lines, not for each of many slices.
        if lines > _FEW and lines > self._buffer.count(b"\n", self._position):
            return len(self._buffer)
        position = self._position
        for _ in range(lines):
            position = self._buffer.find(b"\n", position) + 1
            if not position:
                return len(self._buffer)
        return position

    def _fill(self) -> bool:
        for chunk in self._chunks:
            if isinstance(chunk, Trouble):
                self.trouble = chunk
                return False
            if chunk:
                self._buffer, self._position = chunk, 0
                return True
        self.total = self.line - self._at_line_start
        return False


def list_folder(node: NodeLike, limit: int | None, ignore: Ignore) -> Content | Trouble:
    """Return the names of a folder, one a line behind a letter: `d` folder, `l` link, `f` anything else."""
    listing = node.entries(limit)
    if isinstance(listing, Trouble):
        return listing
    kept, ignored = ignore.filter(node.name, listing.entries)
    rows = [f"{_LETTERS.get(entry.kind, 'f')} {naming.printable(entry.name)}" for entry in kept]
    text = "\n".join(["(directory listing)", *rows])
    read = len(listing.entries) + listing.withheld
    cautions = [f"{read} of more than {read} names, in no particular choice"] if listing.more else []
    notes = [*cautions]
    if ignored:
        notes.append(f"{_count(len(ignored), 'ignored name')} left out")
    if listing.withheld:
        notes.append(f"{_count(listing.withheld, 'secret name')} withheld")
    return Content(
        kind="directory", text=text, shown=utf8_length(text), truncated=listing.more, entries=len(kept), notes=tuple(notes), cautions=tuple(cautions)
    )


_LETTERS = {"directory": "d", "link": "l"}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun} is" if number == 1 else f"{number} {noun}s are"
