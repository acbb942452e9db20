"""What is read of a file or folder: within the cap, in slices, as a listing; real files, and fakes for what real ones do too rarely."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from filerefs.contents import SKIPPED, Content, LineReader, list_folder, read_file, read_lines, slice_text, with_total
from filerefs.limits import KIB, MIB
from filerefs.outcomes import Lines, Reason
from filerefs.root import Root, Trouble
from filerefs.walk import Ignore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from filerefs.root import Node

    from .conftest import Tree

FAILED = Trouble(Reason.IO_ERROR, "the disk or file system failed")


@dataclass
class FakeNode:
    """A file that says it has *size* bytes, and hands out *data* in pieces of at most *piece*; then *trouble*, if any."""

    data: bytes
    size: int = -1
    piece: int = MIB
    trouble: Trouble | None = None
    kind: str = "file"
    offset: int = 0
    reads: list[int | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.size = len(self.data) if self.size < 0 else self.size

    def read(self, limit: int | None) -> bytes | Trouble:
        self.reads.append(limit)
        length = len(self.data) if limit is None else min(limit, self.piece)
        found = self.data[self.offset : self.offset + length]
        self.offset += len(found)
        return self.trouble if self.trouble is not None and not found else found


def node(data: bytes, **more: Any) -> Node:
    """Return a fake node that holds *data*."""
    return cast("Node", FakeNode(data, **more))


def whole(data: bytes, cap: int | None = None) -> Content:
    """Return what there is of a file that can be read."""
    content = read_file(node(data), cap)
    assert isinstance(content, Content)
    return content


def lines_of(data: bytes, ranges: Sequence[tuple[int, int | None]], cap: int | None = None, **more: Any) -> Content:
    """Return lines that can be read."""
    content = read_lines(node(data, **more), ranges, cap)
    assert isinstance(content, Content)
    return content


@pytest.mark.parametrize(
    ("data", "cap", "text", "truncated"),
    [
        pytest.param(b"", None, "", False, id="an empty file"),
        pytest.param(b"", 0, "", False, id="an empty file with no room"),
        pytest.param(b"one\ntwo\n", None, "one\ntwo\n", False, id="the whole without a cap"),
        pytest.param(b"one\ntwo\n", 8, "one\ntwo\n", False, id="the whole, just fitting"),
        pytest.param(b"one\ntwo\n", 7, "one\n", True, id="cut at a line end"),
        pytest.param(b"one\r\ntwo\r\n", None, "one\r\ntwo\r\n", False, id="CR LF stays"),
        pytest.param(b"a\rb\x0cc\n", None, "a\rb\x0cc\n", False, id="other line ends stay"),
        pytest.param(b"one", 0, "", True, id="no room at all"),
        pytest.param("ééé".encode(), 3, "é", True, id="cut between code points"),
        pytest.param("é".encode() * 10_000, 9_999, "é" * 4_999, True, id="read to the middle of a character"),
        pytest.param(b"x" * 20_000, 9_000, "x" * 9_000, True, id="more than the head"),
        pytest.param(b"\xef\xbb\xbfone\n", 4, "one\n", False, id="a byte-order mark takes no room"),
        pytest.param(codecs.BOM_UTF16_LE + ("ab\n" * 6_000).encode("utf-16-le"), 18_000, "ab\n" * 6_000, False, id="two bytes a character on disk"),
        pytest.param(codecs.BOM_UTF16_BE + ("ab\n" * 6_000).encode("utf-16-be"), 9_000, "ab\n" * 3_000, True, id="two bytes a character, cut"),
        pytest.param(codecs.BOM_UTF32_LE + ("ab\n" * 6_000).encode("utf-32-le"), 18_000, "ab\n" * 6_000, False, id="four bytes a character on disk"),
        pytest.param(("ab\n" * 6_000).encode("utf-16-le"), 18_000, "ab\n" * 6_000, False, id="two bytes a character without a mark"),
        pytest.param(b"x" * 8_192, 10, "x" * 10, True, id="a file as long as the head"),
    ],
)
def test_text_within_the_cap(data: bytes, cap: int | None, text: str, *, truncated: bool) -> None:
    """A file is shown up to so many bytes of UTF-8, and whether that is all of it is told."""
    content = whole(data, cap)

    assert (content.kind, content.text, content.truncated, content.lossy) == ("file", text, truncated, False)
    assert content.shown == len(text.encode())
    assert content.size == len(data)
    assert bool(content.cautions) is (truncated or "guess" in "".join(content.cautions))


def test_what_a_cut_says() -> None:
    """A cut is a warning with both sizes; the section says it in its own way, so it is no note."""
    content = whole(b"x" * 3_000, 1_024)

    assert content.cautions == ("cut to 1.0 KB of 2.9 KB",)
    assert content.notes == ()


def test_what_a_cut_of_a_guess_says() -> None:
    """What is missing is told before what may be wrong in the rest."""
    content = whole("Größe und Straße\n".encode("cp1252") * 100, 600)

    assert content.cautions == ("cut to 600 B of 1.7 KB", *content.notes)
    assert content.notes == ("decoded as cp1252, which is a guess",)


@pytest.mark.parametrize(
    ("data", "encoding", "lossy", "caution"),
    [
        pytest.param(b"plain\n", "utf-8", False, "", id="ASCII"),
        pytest.param("Grüße\n".encode(), "utf-8", False, "", id="UTF-8"),
        pytest.param("Grüße aus Köln, schön, größer, für Fußgänger\n".encode("latin-1") * 3, "cp1252", False, "which is a guess", id="a legacy encoding"),
        pytest.param("Grüße, schöne Wörter\n".encode() * 9 + b"\xff\n", "utf-8", True, "U+FFFD", id="a broken byte"),
    ],
)
def test_encoding_is_told(data: bytes, encoding: str, caution: str, *, lossy: bool) -> None:
    """A guess and a loss are warnings and notes; UTF-8 is neither."""
    content = whole(data)

    assert (content.encoding, content.lossy) == (encoding, lossy)
    assert caution in "".join(content.cautions)
    assert content.notes == content.cautions


@pytest.mark.parametrize("cap", [None, 200 * KIB, 1, 0])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(bytes(range(256)) * 10, "binary", id="binary"),
        pytest.param(b"text first\n" * 20 + bytes(200), "binary", id="binary behind a text"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(50), "image/png", id="an image"),
        pytest.param(b"%PDF-1.7\n" + bytes(50), "application/pdf", id="a document"),
    ],
)
def test_what_is_no_text(data: bytes, expected: str, cap: int | None) -> None:
    """A known media type is attached without its contents, any other binary refused, however small the cap."""
    content = read_file(node(data), cap)

    if expected == "binary":
        assert isinstance(content, Trouble)
        assert content.reason is Reason.BINARY
    else:
        assert content == Content(kind="media", size=len(data), media_type=expected)


@pytest.mark.parametrize("cap", [None, 10])
def test_error_reading_fails(cap: int | None) -> None:
    """What the disk says is handed on."""
    assert read_file(node(b"", trouble=FAILED), cap) is FAILED
    assert read_lines(node(b"", trouble=FAILED), [(1, 1)], cap) is FAILED
    assert read_lines(node(b"", trouble=FAILED, size=2 * MIB), [(1, 1)], cap) is FAILED


def test_error_reading_fails_in_the_second_half() -> None:
    """Text of two bytes a character is read in two steps; the second may fail, too."""
    data = codecs.BOM_UTF16_LE + ("ab\n" * 3_000).encode("utf-16-le")

    assert read_file(node(data[:8_192], trouble=FAILED), 100) is FAILED


def test_no_more_is_read_than_is_needed() -> None:
    """A large file is not read to its end to be cut, and a small cap still reads enough to know a binary."""
    fake = FakeNode(b"x" * MIB)
    read_file(cast("Node", fake), 20_000)

    assert fake.reads == [20_004]

    fake = FakeNode(b"x" * MIB)
    read_file(cast("Node", fake), 0)

    assert fake.reads == [8 * KIB]


@pytest.mark.parametrize(
    ("codec", "second"),
    [pytest.param("utf-16-le", 20_004, id="twice as much"), pytest.param("utf-32-le", 60_012, id="four times as much")],
)
def test_no_more_is_read_of_wide_text_than_is_needed(codec: str, second: int) -> None:
    """Text of two bytes a character needs as much again, text of four bytes three times as much."""
    fake = FakeNode("\ufeff".encode(codec) + ("ab\n" * MIB).encode(codec))
    read_file(cast("Node", fake), 20_000)

    assert fake.reads == [20_004, second]


def test_file_that_grew() -> None:
    """A file that is longer than it said is cut at the cap all the same."""
    content = read_file(node(b"line\n" * 10_000, size=5), 8_200)

    assert isinstance(content, Content)
    assert (content.size, content.shown, content.truncated) == (5, 8_200, True)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", 0, id="an empty file"),
        pytest.param(b"one\n", 1, id="a line"),
        pytest.param(b"one\ntwo", 2, id="a line without an end"),
        pytest.param(b"\n\n", 2, id="empty lines"),
    ],
)
def test_number_of_lines(data: bytes, expected: int) -> None:
    """A line without an end counts; nothing behind the last end does not."""
    assert with_total(whole(data)).total_lines == expected


@pytest.mark.parametrize(("size", "total"), [pytest.param(MIB, MIB // 2, id="1 MiB"), pytest.param(MIB + 2, None, id="more")])
def test_number_of_lines_beside_a_slice(size: int, total: int | None) -> None:
    """Of a file of up to 1 MiB a slice tells how many lines there are; a larger one is not read to its end for that."""
    assert lines_of(b"x\n" * (size // 2), [(1, 1)]).total_lines == total


def test_number_of_lines_where_it_is_not_known() -> None:
    """A cut file and an image have no number of lines."""
    image = read_file(node(b"\x89PNG\r\n\x1a\n" + bytes(50)), None)
    assert isinstance(image, Content)

    assert with_total(image).total_lines is None
    assert with_total(whole(b"one\ntwo\n", 4)).total_lines is None


FILE = "one\ntwo\nthree\nfour\nfive\n"
SLICES = [
    pytest.param(FILE, [(2, 3)], None, "two\nthree\n", ((2, 3),), id="lines in the middle"),
    pytest.param(FILE, [(1, 1)], None, "one\n", ((1, 1),), id="the first line"),
    pytest.param(FILE, [(5, 5)], None, "five\n", ((5, 5),), id="the last line"),
    pytest.param(FILE, [(4, None)], None, "four\nfive\n", ((4, 5),), id="to the end"),
    pytest.param(FILE, [(1, None)], None, FILE, ((1, 5),), id="all lines"),
    pytest.param(FILE, [(4, 99)], None, "four\nfive\n", ((4, 5),), id="partly behind the end"),
    pytest.param(FILE, [(6, 9)], None, "", (), id="wholly behind the end"),
    pytest.param(FILE, [(6, None)], None, "", (), id="from behind the end on"),
    pytest.param(FILE, [(1, 1), (3, 4)], None, "one\nthree\nfour\n", ((1, 1), (3, 4)), id="two slices"),
    pytest.param(FILE, [(1, 1), (9, 9)], None, "one\n", ((1, 1),), id="one slice, the other behind the end"),
    pytest.param("one\ntwo", [(2, 2)], None, "two", ((2, 2),), id="a last line without an end"),
    pytest.param("one\ntwo", [(1, 1)], None, "one\n", ((1, 1),), id="the line before it"),
    pytest.param("one\ntwo", [(1, 5)], None, "one\ntwo", ((1, 2),), id="both"),
    pytest.param("", [(1, 1)], None, "", (), id="an empty file has no lines"),
    pytest.param("\n", [(1, 1)], None, "\n", ((1, 1),), id="an empty line"),
    pytest.param("\n\n\n", [(2, 2)], None, "\n", ((2, 2),), id="an empty line in the middle"),
    pytest.param("a\r\nb\r\nc\r\n", [(2, 2)], None, "b\r\n", ((2, 2),), id="CR LF"),
    pytest.param("é\n文\n😀\n", [(2, 3)], None, "文\n😀\n", ((2, 3),), id="more than a byte a character"),
    pytest.param(FILE, [(2, 4)], 10, "two\nthree\n", ((2, 3),), id="cut at a line end"),
    pytest.param(FILE, [(3, 3)], 4, "thre", ((3, 3),), id="cut inside a line"),
    pytest.param(FILE, [(1, 1), (3, 5)], 4, "one\n", ((1, 1),), id="the second slice does not fit"),
    pytest.param(FILE, [(1, 1), (3, 5)], 10, "one\nthree\n", ((1, 1), (3, 3)), id="a part of the second slice fits"),
    pytest.param(FILE, [(2, 3)], 10, "two\nthree\n", ((2, 3),), id="just fits"),
]


@pytest.mark.parametrize(("file", "ranges", "cap", "text", "lines"), SLICES)
@pytest.mark.parametrize("piece", [pytest.param(0, id="read as a whole"), *(pytest.param(piece, id=f"in pieces of {piece}") for piece in (1, 2, 5, 100))])
def test_slices(file: str, ranges: list[tuple[int, int | None]], cap: int | None, text: str, lines: Lines, piece: int) -> None:
    """Lines are shown up to the cap, and which lines of how many; a large file gives the same in one pass."""
    data = file.encode()
    content = lines_of(data, ranges, cap, size=2 * MIB, piece=piece) if piece else lines_of(data, ranges, cap)

    assert (content.text, content.lines) == (text, lines)
    assert content.shown == len(text.encode())
    assert content.truncated is (cap is not None and "cut" in "".join(content.cautions))
    if not piece or not lines:
        assert content.total_lines == len(file.splitlines())


@given(
    st.text(st.sampled_from("ab\n\n\r😀é文"), max_size=40),
    st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3)), max_size=4),
    st.one_of(st.none(), st.integers(0, 40)),
    st.integers(1, 7),
)
@example("a\nb\nc", [(1, 0), (3, 0)], 2, 1)
@example("\n", [(1, 0)], 0, 1)
def test_one_pass_gives_what_reading_the_whole_gives(file: str, pairs: list[tuple[int, int]], cap: int | None, piece: int) -> None:
    """Skipping through a large file and cutting lines out of a small one are the same to whoever asks."""
    ranges: list[tuple[int, int | None]] = []
    for first, more in sorted(pairs):
        if not ranges or first > (ranges[-1][1] or 0) + 1:
            ranges.append((first, first + more))
    data = file.encode()

    sliced = slice_text(whole(data), ranges, cap)
    streamed = lines_of(data, ranges, cap, size=2 * MIB, piece=piece)

    assert (sliced.text, sliced.truncated, sliced.shown, sliced.kind) == (streamed.text, streamed.truncated, streamed.shown, streamed.kind)
    assert streamed.size == 2 * MIB
    assert streamed.total_lines in (None, sliced.total_lines)
    if sliced.text or not ranges:
        assert sliced.lines == streamed.lines


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_slices_of_wide_text(codec: str) -> None:
    """In text of two or four bytes a character a line end is a character, not a byte."""
    mark = "\ufeff".encode(codec)
    # U+0A0A holds the byte of a line end twice.
    data = mark + "one\n\u0a0atwo\u0a0a\nthree\n".encode(codec)

    for more in ({}, {"size": 2 * MIB, "piece": 7}):
        content = lines_of(data, [(2, 2)], None, **more)

        assert (content.text, content.lines, content.encoding, content.lossy) == ("\u0a0atwo\u0a0a\n", ((2, 2),), codec, False)


def test_damaged_slice_of_wide_text() -> None:
    """Half a pair is shown as U+FFFD in a slice, as it is in the whole."""
    data = codecs.BOM_UTF16_LE + "one\n".encode("utf-16-le") + b"\x00\xd8" + "two\n".encode("utf-16-le")

    assert lines_of(data, [(2, 2)]).text == "\ufffdtwo\n"
    assert lines_of(data, [(2, 2)], size=2 * MIB).text == "\ufffdtwo\n"


def test_loss_is_told_of_the_slice_that_has_it() -> None:
    """Of a large file in UTF-16 a slice says that bytes were lost where some of its own were."""
    data = codecs.BOM_UTF16_LE + "one\n".encode("utf-16-le") + b"\x00\xd8" + "two\n".encode("utf-16-le")

    damaged, sound = (lines_of(data, [(line, line)], size=2 * MIB) for line in (2, 1))

    assert (damaged.lossy, sound.lossy) == (True, False)
    assert (damaged.cautions, sound.cautions) == (("some bytes are no valid text and are shown as U+FFFD",), ())


def test_replacement_character_of_the_text_itself_is_no_loss() -> None:
    """A text in UTF-8 may hold U+FFFD; in a slice of it, too, nothing was lost."""
    content = lines_of("one\n\ufffdtwo\n".encode(), [(2, 2)], size=2 * MIB)

    assert (content.text, content.lossy, content.cautions) == ("\ufffdtwo\n", False, ())


@pytest.mark.parametrize("cap", [None, 14, 17, 18])
def test_character_torn_by_the_end_of_the_file_is_a_loss(cap: int | None) -> None:
    """A slice that goes to the end of the file ends where the file does, also where it nearly fills the cap."""
    content = lines_of("one\nééééé".encode() + b"\xc3", [(2, 2)], cap, size=2 * MIB)

    assert (content.text, content.lossy, content.truncated) == ("ééééé\ufffd", True, False)


def test_error_reading_wide_text_fails_on_the_way() -> None:
    """Trouble behind the first chunk is what is told of lines that lie there, in text of any width."""
    data = codecs.BOM_UTF16_LE + ("line\n" * 30_000).encode("utf-16-le")

    assert read_lines(node(data, size=2 * MIB, trouble=FAILED), [(30_000, 40_000)], None) is FAILED


@pytest.mark.parametrize(
    ("torn", "text", "lossy"), [pytest.param(b"", "two", False, id="whole characters"), pytest.param(b"x", "two\ufffd", True, id="half a character")]
)
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-32-be"])
def test_end_of_wide_text(codec: str, torn: bytes, text: str, *, lossy: bool) -> None:
    """A slice that goes to the end of wide text holds all of it, and half a character there is a loss."""
    data = "\ufeffone\ntwo".encode(codec) + torn

    content = lines_of(data, [(2, None)], size=2 * MIB)

    assert (content.text, content.lossy, content.lines, content.total_lines) == (text, lossy, ((2, 2),), 2)


@pytest.mark.parametrize("count", [1, 64, 65, 100])
def test_lines_in_front_of_an_unfinished_one(count: int) -> None:
    """However many lines are asked for, what stands behind the last of them is not shown."""
    assert lines_of(b"x\n" * count + b"tail", [(1, count)], size=2 * MIB).text == "x\n" * count


def test_slice_of_which_nothing_fits() -> None:
    """Where the cap leaves nothing of the lines asked for, none of them is said to be shown."""
    content = lines_of("ééé\nb\n".encode(), [(1, 2)], 1)

    assert (content.text, content.lines, content.truncated, content.total_lines) == ("", (), True, 2)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_slices_of_wide_text_without_a_mark(codec: str) -> None:
    """Where the encoding is a guess by the zeros, a slice is in UTF-8 all the same by the time it is decoded."""
    data = "one line\ntwo lines\nthree\n".encode(codec) * 200

    for more in ({}, {"size": 2 * MIB, "piece": 4096}):
        content = lines_of(data, [(2, 2)], None, **more)

        assert (content.text, content.lines, content.encoding) == ("two lines\n", ((2, 2),), codec)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        pytest.param(("привет мир это строка\n" * 30_000).encode("cp1251"), "cp1251", id="Cyrillic in one byte a letter"),
        pytest.param(codecs.BOM_UTF16_LE + ("漢字漢字漢字漢字漢字\n" * 40_000).encode("utf-16-le"), "utf-16-le", id="Chinese in two bytes a letter"),
    ],
)
def test_slices_of_text_that_is_longer_in_utf8(data: bytes, encoding: str) -> None:
    """What is less than 1 MiB on disk may be more in UTF-8; its lines are shown all the same."""
    assert len(data) < MIB

    content = read_lines(node(data), [(2, 2)], 200 * KIB)

    assert isinstance(content, Content)
    assert (content.encoding, content.lines, content.text.count("\n")) == (encoding, ((2, 2),), 1)


def test_wide_characters_torn_by_the_cap() -> None:
    """A capped read that ends inside a pair of UTF-16 units is no reason to take the file for something else."""
    text = "\N{GRINNING FACE}" * 10_000

    content = whole(("\ufeff" + text).encode("utf-16-le"), 8 * KIB - 4)

    assert (content.text, content.truncated, content.lossy) == (text[: (8 * KIB - 4) // 4], True, False)


def test_lines_that_were_not_reached_are_told() -> None:
    """What ended the reading behind lines that are there is handed on with them."""
    content = lines_of(b"a\n" * (34 * MIB), [(1, 1), (10**9, 10**9)])

    assert content.text == "a\n"
    assert content.unreached == Trouble(Reason.BAD_RANGE, "line 1000000000 lies more than 64.0 MB deep in the file")


def test_slice_of_a_file_that_grew_beyond_all_bounds() -> None:
    """A small file that turned out to be a large one while it was read is no reason to read without end."""
    fake = FakeNode(b"line\n" * MIB, size=10, piece=10 * MIB)

    content = read_lines(cast("Node", fake), [(2, 2)], 200 * KIB)

    assert None not in fake.reads
    assert sum(limit or 0 for limit in fake.reads) < 4 * MIB
    assert isinstance(content, Content)
    assert content.text == "line\n"


@pytest.mark.parametrize("size", [0, 10, MIB])
def test_slice_of_a_large_file_of_which_nobody_knew_the_size(size: int) -> None:
    """Files of procfs, and of some file systems far away, state no size; their lines are found all the same, wherever they are."""
    fake = FakeNode(b"line\n" * MIB, size=size, piece=10 * MIB)

    content = read_lines(cast("Node", fake), [(2, 2), (MIB - 1, MIB - 1)], 200 * KIB)

    assert isinstance(content, Content)
    assert ("line\nline\n", ((2, 2), (MIB - 1, MIB - 1))) == (content.text, content.lines)


@pytest.mark.parametrize("size", [-1, 2 * MIB])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"a\n" * 10 + bytes(64), Reason.BINARY, id="binary"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(64), "image/png", id="an image"),
    ],
)
def test_lines_of_what_is_no_text(data: bytes, size: int, expected: object) -> None:
    """A binary has no lines, and an image is attached as a whole."""
    content = read_lines(node(data, size=size), [(2, 2)], None)

    assert (content.reason if isinstance(content, Trouble) else content.media_type) == expected
    assert isinstance(content, Trouble) or content.size == (len(data) if size < 0 else size)


def test_binary_in_the_middle_of_a_large_text() -> None:
    """That lines deep in a large file are no text is only seen when they are read."""
    data = b"text\n" * 100_000 + bytes(range(256)) * 4

    assert read_lines(node(data, size=2 * MIB), [(100_000, 100_002)], None) == Trouble(Reason.BINARY, "a binary file")


def test_encoding_of_a_slice_is_told() -> None:
    """A guess is told for lines as it is for the whole."""
    data = "Grüße aus Köln, schön, größer, für Fußgänger\n".encode("latin-1") * 10

    for more in ({}, {"size": 2 * MIB}):
        content = lines_of(data, [(2, 3)], 60, **more)

        assert content.encoding == "cp1252"
        assert content.cautions == ("cut to 54 B of the lines asked for", "decoded as cp1252, which is a guess")
        assert content.notes == ("decoded as cp1252, which is a guess",)


def test_short_slice_has_the_encoding_of_its_file() -> None:
    """A few letters alone may be anything; the file that they stand in says what they are."""
    data = ("日本語のテキスト、行番号です。\n" * 20 + "日本\n" + "日本語のテキスト、行番号です。\n" * 20).encode("shift_jis")

    assert lines_of(data, [(21, 21)]).text == "日本\n"
    assert lines_of(data, [(21, 21)], size=2 * MIB).text == "日本\n"


def test_slice_that_is_not_in_the_encoding_of_its_file() -> None:
    """Lines that do not agree with what the beginning of the file says are taken for themselves."""
    japanese = "日本語のテキスト、行番号です。\n".encode("shift_jis")
    data = japanese * 10_000 + b"gr\xf6\xdfer\n\x81\n"

    content = lines_of(data, [(10_001, 10_002)], size=2 * MIB)

    assert content.lines == ((10_001, 10_002),)
    assert content.text.startswith("gr")
    assert (content.encoding, content.lossy) != ("cp932", False)


@pytest.mark.parametrize("letter", [pytest.param("é", id="of two bytes"), pytest.param("文", id="of three"), pytest.param("🎉", id="of four")])
@pytest.mark.parametrize("cap", range(20, 28))
def test_character_torn_by_the_cap_is_no_loss(letter: str, cap: int) -> None:
    """A slice in UTF-8 that the cap ends inside a character ends in front of it, and nothing is damaged."""
    content = lines_of(b"one\n" + letter.encode() * 100 + b"\n", [(2, 2)], cap, size=2 * MIB)

    assert content.text == letter * (cap // len(letter.encode()))
    assert (content.lossy, content.truncated, content.encoding) == (False, True, "utf-8")


@pytest.mark.parametrize(
    ("cap", "text", "lossy"),
    [
        pytest.param(None, "\ufffd", True, id="by the end of the file: something is missing"),
        pytest.param(MIB, "\ufffd", True, id="by the end of the file, with room for more"),
        pytest.param(51, "な", False, id="by the cap: no more was to be shown"),
    ],
)
def test_legacy_character_torn_at_the_end_of_a_slice(cap: int | None, text: str, *, lossy: bool) -> None:
    """What the end of a file tears is shown as U+FFFD and told; what the cap tears is only cut off."""
    line = "これは日本語の文章です。漢字とかなが混ざっています。\n".encode("euc_jp")
    data = line * 10_000 + line[:5]

    content = lines_of(data, [(10_000, None)], cap, size=2 * MIB)

    assert content.text.endswith(text)
    assert content.lossy is lossy
    assert (content.encoding == "euc_jp") is not lossy


def test_slice_in_another_encoding_than_its_file_torn_by_the_cap() -> None:
    """Lines that do not agree with the beginning of their file are taken for themselves, also where the cap ends them inside a character."""
    data = "これは日本語の文章です。漢字とかなが混ざっています。\n".encode("euc_jp") * 10_000 + ("文" * 100 + "\n").encode()

    content = lines_of(data, [(10_001, 10_001)], 51, size=2 * MIB)

    assert (content.text, content.encoding, content.lossy) == ("文" * 17, "utf-8", False)


class Endless:
    """A file without end: as many lines of a hundred bytes as are asked for."""

    kind = "file"
    size = 10**12

    def __init__(self) -> None:
        self.read_so_far = 0

    def read(self, limit: int) -> bytes:
        self.read_so_far += limit
        return (b"x" * 127 + b"\n") * (limit // 128)


def test_lines_that_lie_too_deep() -> None:
    """So many bytes are skipped to reach a line, no more; the range is then refused."""
    endless = Endless()

    content = read_lines(cast("Node", endless), [(10**9, 10**9)], 100)

    assert content == Trouble(Reason.BAD_RANGE, "line 1000000000 lies more than 64.0 MB deep in the file")
    assert endless.read_so_far < SKIPPED + MIB


def test_lines_that_lie_deep_but_not_too_deep() -> None:
    """Lines at tens of megabytes are reached."""
    content = read_lines(cast("Node", Endless()), [(400_000, 400_001)], 1_000)

    assert isinstance(content, Content)
    assert (content.lines, content.shown, content.total_lines) == (((400_000, 400_001),), 256, None)


def test_lines_in_front_of_those_that_lie_too_deep() -> None:
    """Lines that can be reached are shown, whatever was asked for besides."""
    content = read_lines(cast("Node", Endless()), [(1, 2), (10**9, 10**9)], 1_000)

    assert isinstance(content, Content)
    assert content.lines == ((1, 2),)


def test_lines_of_a_file_that_ends_in_trouble() -> None:
    """A disk that fails on the way is a refusal, not a short text."""
    assert read_lines(node(b"one\ntwo\n", size=2 * MIB, trouble=FAILED), [(9, 9)], None) is FAILED


def test_line_reader_takes_no_more_than_there_is_room_for() -> None:
    """The room is for all ranges together: one that finds less of it gets less, and one that finds none is left out."""
    reader = LineReader(iter([b"aa\nbb\ncc\ndd\n"]))

    assert reader.take_all([(1, 1), (3, 3), (4, 4)], 4) == (b"aa\nc", ((1, 1), (3, 3)))


def test_line_reader_knows_no_total_of_what_failed() -> None:
    """How many lines there are is known at the end alone, not where reading failed."""
    reader = LineReader(iter([b"a\nb\n", FAILED]))

    assert reader.take(None, None) == b"a\nb\n"
    assert (reader.trouble, reader.total) == (FAILED, None)


def test_line_reader_tells_where_it_stands() -> None:
    """The reader goes from line to line, over the borders of chunks, and knows the end when it saw it."""
    reader = LineReader(iter([b"a\nb", b"", b"b\nc"]))

    assert reader.skip_to(2)
    assert (reader.line, reader.total) == (2, None)
    assert reader.take(2, None) == b"bb\n"
    assert reader.take(None, 1) == b"c"
    assert not reader.skip_to(9)
    assert reader.total == 3


@pytest.fixture
def folder(tree: Tree) -> Path:
    """Return a folder of every kind of name."""
    return tree(
        {
            "b.txt": "",
            "A.txt": "",
            "sub/x": "",
            "link": tree.link("b.txt"),
            "pipe": tree.fifo(),
            "new\nline": "",
            "\u202egnp.exe": "",
            ".env": "",
            "key.pem": "",
            "build/out.log": "",
            "debug.log": "",
        }
    )


def listing(path: Path, limit: int | None = None) -> Content:
    """Return the listing of the root itself."""
    with Root(path) as root:
        opened = root.open(".")
        assert not isinstance(opened, Trouble)
        with opened:
            content = list_folder(opened, limit, Ignore(root))
    assert isinstance(content, Content)
    return content


def test_listing(folder: Path) -> None:
    """Names are sorted by their bytes, one a line behind what they are; secrets are withheld, and how many is told."""
    content = listing(folder)

    expected = ["d build", "f debug.log", "l link", "f new\\u{a}line", "f pipe", "d sub", "f \\u{202e}gnp.exe"]
    assert content.text.split("\n") == ["(directory listing)", "f A.txt", "f b.txt", *expected]
    assert (content.kind, content.entries, content.size, content.truncated) == ("directory", 9, 0, False)
    assert content.shown == len(content.text.encode())
    assert content.notes == ("2 secret names are withheld",)
    assert content.cautions == ()


def test_listing_without_ignored_names(folder: Path) -> None:
    """What the ignore files leave out is left out, and how many is told."""
    (folder / ".gitignore").write_text("*.log\n/build\n", encoding="utf-8")

    content = listing(folder)

    assert "debug.log" not in content.text
    assert "build" not in content.text
    assert content.notes[0] == "2 ignored names are left out"


def test_listing_of_a_folder_with_too_many_names(folder: Path) -> None:
    """So many names are read; that there are more is a warning."""
    content = listing(folder, 3)

    assert content.entries is not None
    assert content.entries <= 3
    assert content.truncated
    assert content.cautions == ("3 of more than 3 names, in no particular choice",)


@pytest.mark.parametrize("limit", [11, None, 10**6])
def test_listing_that_just_fits(folder: Path, limit: int | None) -> None:
    """A folder of exactly so many names is complete."""
    assert not listing(folder, limit).truncated


def test_listing_of_nothing(tmp_path: Path) -> None:
    """An empty folder is listed as one, and no names fit where none may be read."""
    assert (listing(tmp_path).text, listing(tmp_path).entries) == ("(directory listing)", 0)
    assert listing(tmp_path, 0).truncated is False
    (tmp_path / "x").touch()

    assert listing(tmp_path, 0).truncated is True


def test_one_secret_name_is_singular(tmp_path: Path) -> None:
    """The notes are sentences."""
    (tmp_path / ".env").touch()

    assert listing(tmp_path).notes == ("1 secret name is withheld",)


def test_error_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    """What the system says of a folder is handed on."""
    (tmp_path / "sub").mkdir()
    with Root(tmp_path) as root:
        opened = root.open("sub")
        assert not isinstance(opened, Trouble)
        (tmp_path / "sub").rmdir()
        with opened:
            content = list_folder(opened, None, Ignore(root))

    assert isinstance(content, Trouble)
    assert content.reason is Reason.NOT_FOUND
