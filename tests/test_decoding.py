from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from filerefs.decoding import Decoded, bom_encoding, decode, media_type, wide_encoding

TEXT = "Grüße an 東京, Привет 🙂\r\nzweite Zeile\n"
BOMS = [
    pytest.param(b"\xef\xbb\xbf", "utf-8", "utf-8-sig", id="UTF-8"),
    pytest.param(b"\xff\xfe", "utf-16-le", "utf-16-le", id="UTF-16, little end first"),
    pytest.param(b"\xfe\xff", "utf-16-be", "utf-16-be", id="UTF-16, big end first"),
    pytest.param(b"\xff\xfe\0\0", "utf-32-le", "utf-32-le", id="UTF-32, little end first"),
    pytest.param(b"\0\0\xfe\xff", "utf-32-be", "utf-32-be", id="UTF-32, big end first"),
]


def text_of(data: bytes, *, complete: bool = True) -> str:
    """Return the text that there must be."""
    decoded = decode(data, complete=complete)
    assert decoded is not None
    return decoded.text


@pytest.mark.parametrize(("mark", "codec", "name"), BOMS)
def test_mark_decides(mark: bytes, codec: str, name: str) -> None:
    """A byte-order mark decides, is no part of the text, and leaves line ends alone."""
    data = mark + TEXT.encode(codec)

    assert Decoded(TEXT, name, guessed=False, lossy=False) == decode(data)
    assert (name, len(mark)) == bom_encoding(data)
    assert (None if name == "utf-8-sig" else name) == wide_encoding(data)


@pytest.mark.parametrize(("mark", "codec", "name"), BOMS)
def test_mark_alone(mark: bytes, codec: str, name: str) -> None:
    """A file of nothing but a mark is an empty text."""
    assert Decoded("", name, guessed=False, lossy=False) == decode(mark + "".encode(codec))


@pytest.mark.parametrize(("mark", "codec", "name"), BOMS)
def test_marks_are_dropped_all(mark: bytes, codec: str, name: str) -> None:
    """Two programs that each wrote a mark leave none in the text; one in its middle stays."""
    assert Decoded("a\ufeffb", name, guessed=False, lossy=False) == decode(mark + "\ufeffa\ufeffb".encode(codec))


@pytest.mark.parametrize(("mark", "codec", "name"), BOMS)
def test_torn_after_any_byte(mark: bytes, codec: str, name: str) -> None:
    """Of a part of a file the torn last character is dropped, silently: the text is a prefix of the whole text."""
    data = mark + TEXT.encode(codec)
    for length in range(len(mark), len(data)):
        part = decode(data[:length], complete=False)

        assert part is not None
        assert (part.encoding, part.guessed, part.lossy) == (name, False, False)
        assert TEXT.startswith(part.text)


@pytest.mark.parametrize("text", [" X and blanks ", "\n\tXX\n", "X\ufeff"])
@pytest.mark.parametrize(("mark", "codec", "name"), BOMS)
def test_only_a_mark_is_dropped(mark: bytes, codec: str, name: str, text: str) -> None:
    """Letters and white space around the text are the text's own."""
    assert Decoded(text, name, guessed=False, lossy=False) == decode(mark + text.encode(codec))


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        pytest.param("  XÖl, Süße und Käse sind größer \n".encode("cp1252"), "  XÖl, Süße und Käse sind größer \n", "cp1252", id="blanks and letters stay"),
        pytest.param("\ufeffX这是中文文章，包含许多汉字。\n".encode("gb18030"), "X这是中文文章，包含许多汉字。\n", "gb18030", id="a mark goes"),
        pytest.param("小学生小学生".encode("gb18030"), "小学生小学生", "gb18030", id="Chinese of which half could be Cyrillic in UTF-8"),
        pytest.param("X这是中文文章，包含许多汉字。\n\ufeff".encode("gb18030"), "X这是中文文章，包含许多汉字。\n\ufeff", "gb18030", id="at the end it is none"),
        pytest.param(
            "Â© bei Größe, Käse, Öl und Süße\n".encode("cp1252"), "Â© bei Größe, Käse, Öl und Süße\n", "cp1252", id="letters that could be UTF-8 by chance"
        ),
    ],
)
def test_text_of_an_older_encoding(data: bytes, text: str, encoding: str) -> None:
    """What is guessed is shown from its first character to its last, and says that it is a guess."""
    assert Decoded(text, encoding, guessed=True, lossy=False) == decode(data)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"charset=iso-8859-2\nza\xbf\xf3\xb3\xe6 g\xea\xb6l\xb1\n", ("iso8859_2", False), id="ISO 8859-2"),
        pytest.param(b"charset=iso-8859-2\nza\xbf\xf3\xb3\xe6 g\xea\xb6l\xb1 \x85\n", ("cp1250", False), id="a byte that only the code page of Windows has"),
        pytest.param(b"coding: shift_jis\n" + "日本語の文章".encode("cp932"), ("cp932", False), id="Shift JIS"),
        pytest.param(b"coding: shift_jis\n" + "日本語の文章".encode("cp932")[:-1], ("utf-8", True), id="Shift JIS that ends inside a character"),
        pytest.param(b"coding: shift_jis\n" + "日本語の文章".encode("cp932") + b" \x80\n", ("utf-8", True), id="a byte that no Shift JIS has"),
    ],
)
def test_what_a_file_says_of_itself_must_be_true_of_all_of_it(data: bytes, expected: tuple[str, bool]) -> None:
    """A declared encoding holds if every byte agrees; a control character from U+0080 on does not."""
    decoded = decode(data)

    assert decoded is not None
    assert (decoded.encoding, decoded.lossy) == expected


@pytest.mark.parametrize(("mark", "codec", "name"), BOMS)
def test_nul_behind_a_mark(mark: bytes, codec: str, name: str) -> None:  # noqa: ARG001 (one table for all)
    """A NUL makes a binary, whatever mark stands in front."""
    assert decode(mark + "a\0b".encode(codec)) is None


@pytest.mark.parametrize("length", [1, 2, 3])
def test_torn_utf8(length: int) -> None:
    """At a torn four-byte character a part of a file ends before it, and a whole file shows that something is missing."""
    data = "größer 🙂".encode()[: length - 4]

    assert Decoded("größer ", "utf-8", guessed=False, lossy=False) == decode(data, complete=False)
    assert Decoded("größer \ufffd", "utf-8", guessed=False, lossy=True) == decode(data)


@pytest.mark.parametrize("length", [1, 2])
def test_short_text_with_a_torn_character_is_utf8(length: int) -> None:
    """Where all but the last character is UTF-8, it is no other encoding, however few characters there are."""
    assert Decoded("日本\ufffd", "utf-8", guessed=False, lossy=True) == decode("日本語".encode()[:-length])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"", "", id="nothing"),
        pytest.param(b"print(1)\r\n", "print(1)\r\n", id="ASCII with CR LF"),
        pytest.param(b"\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m\n", id="a coloured log"),
        pytest.param(b"a\x01\x02\x03b", "a\x01\x02\x03b", id="control characters"),
        pytest.param("ü\x1b\x07".encode(), "ü\x1b\x07", id="control characters beside UTF-8"),
        pytest.param(b"\xc3\xbc\xc3\xa4\n", "üä\n", id="two letters in UTF-8"),
        pytest.param("\ufffd is no loss".encode(), "\ufffd is no loss", id="a replacement character of the file's own"),
        pytest.param("a\u2028\x85b".encode(), "a\u2028\x85b", id="odd line ends"),
    ],
)
def test_utf8(data: bytes, text: str) -> None:
    """What is valid UTF-8 without NULs is text and nothing is guessed about it."""
    assert Decoded(text, "utf-8", guessed=False, lossy=False) == decode(data)
    assert wide_encoding(data) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("hi\r\n", id="one word"),
        pytest.param("Windows Registry Editor Version 5.00\r\n\r\n[HKEY]\r\n", id="a registry file"),
        pytest.param("Größe über alles\n" * 400, id="German"),
        pytest.param("Zażółć gęślą jaźń.\n" * 20, id="Polish with every letter that has a mark"),
        pytest.param("Tiếng Việt có nhiều dấu hơn.\n" * 20, id="Vietnamese"),
        pytest.param("Сегодня хорошая погода.\n" * 10, id="Russian"),
        pytest.param("Σήμερα ο καιρός είναι καλός.\n" * 300, id="Greek"),
        pytest.param("今日は天気がいいです。ファイルが見つかりません。\n" * 3, id="Japanese"),
        pytest.param("今天天气很好。找不到文件，请检查路径。\n" * 300, id="Chinese"),
        pytest.param("오늘은 날씨가 좋습니다. 파일을 찾을 수 없습니다.\n" * 3, id="Korean"),
        pytest.param("x" * 14 + "a smile 🙂 and more text\n" * 300, id="a surrogate pair at the end of what is looked at"),
        pytest.param("Он сказал: “Да” — и ушёл…\n" * 10, id="Russian with dashes and quotes"),
    ],
)
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark(text: str, codec: str) -> None:
    """UTF-16 without a mark is seen by its NULs, and called a guess."""
    data = text.encode(codec)

    assert Decoded(text, codec, guessed=True, lossy=False) == decode(data)
    assert codec == wide_encoding(data)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"a\0b\x1b[31mred\x1b[0m", id="a NUL in ASCII"),
        pytest.param(b"a\0", id="too short to be UTF-16"),
        pytest.param(b"plain text with one\0NUL in it, and it goes on for quite a while" * 3, id="a NUL in a longer text"),
        pytest.param("größer\0".encode(), id="a NUL in UTF-8"),
        pytest.param(b"caf\xe9\0", id="a NUL in Latin-1"),
        pytest.param("한국어".encode("cp949") * 40 + b"\0", id="a NUL in Korean"),
        pytest.param(bytes(4096), id="the head of a sparse file"),
        pytest.param(bytes.fromhex("00010203fffe") * 10, id="small numbers"),
        pytest.param(bytes.fromhex("00010203") * 10, id="smaller numbers, which could be letters with marks"),
        pytest.param(bytes.fromhex("0001") * 40, id="ones, which could be a letter with a mark"),
        pytest.param(bytes.fromhex("0020") * 40, id="numbers that could be blanks"),
        pytest.param(bytes.fromhex("000102030d000302") * 10, id="small numbers, one of which could be a line end"),
        pytest.param(b"".join(n.to_bytes(2, "little") for n in range(0, 60000, 7)), id="a ramp of 16-bit numbers"),
        pytest.param("αβγδабвгאבגדابتثกขคฆაბგდ a b\n".encode("utf-16-le"), id="numbers that would be letters of many scripts"),
        pytest.param("text and then\0".encode("utf-16-le") * 4, id="a NUL in UTF-16 without a mark"),
        pytest.param(b"\x7fELF\x02\x01\x01" + bytes(9), id="a program"),
        pytest.param(bytes.fromhex("cb0d0d0a00000000dd00"), id="compiled Python"),
        pytest.param(b"PK\x03\x04\x14" + bytes(25), id="an archive"),
        pytest.param(b"PK\x03\x04\xff\xff\xff", id="an archive without a NUL"),
        pytest.param(b"\x1f\x8b\x08\xff\xff\xff", id="gzip without a NUL"),
        pytest.param(b"\xff\xd8\xff\xe1\xc4\xd6", id="a photo without a NUL"),
        pytest.param(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", id="a PDF without a NUL"),
        pytest.param(bytes(n % 255 + 1 for n in range(0, 9000, 7)), id="every byte but NUL"),
        pytest.param(b"\xff\xfe" + bytes(range(0xD8, 0xE0)) * 20, id="no text behind a mark"),
        pytest.param(b"SQLite format 3\0" + bytes(80), id="a database"),
    ],
)
def test_binary(data: bytes) -> None:
    """What has NULs and is no UTF-16, has a known start, or is full of control characters is binary."""
    assert decode(data) is None


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        pytest.param(b"\xff\xfe\x00\xd8", "\ufffd", "utf-16-le", id="half a pair in UTF-16"),
        pytest.param(b"\xff\xfe\x80", "\ufffd", "utf-16-le", id="half a unit in UTF-16"),
        pytest.param(b"\xef\xbb\xbfok \xff", "ok \ufffd", "utf-8-sig", id="a bad byte behind a mark"),
        pytest.param("größer, schöner, weiter\n".encode() + b"x\xff\n", "größer, schöner, weiter\nx\ufffd\n", "utf-8", id="one bad byte in a log"),
        pytest.param("café ".encode() + b"\xff", "café \ufffd", "utf-8", id="one letter against one bad byte"),
        pytest.param("今天天气很好。\n".encode() * 900 + b"\xe9\n", "今天天气很好。\n" * 900 + "\ufffd\n", "utf-8", id="a bad byte far behind"),
        pytest.param(
            "größer, \ufeffschöner, weiter\n".encode() + b"x\xff\n\xef\xbb\xbf",
            "größer, \ufeffschöner, weiter\nx\ufffd\n\ufeff",
            "utf-8",
            id="marks that are not in front",
        ),
        pytest.param(b"\x81 \x98 \xff \xa0\n" * 9, "\ufffd \ufffd \ufffd \ufffd\n" * 9, "utf-8", id="nothing fits"),
        pytest.param("“a“ ".encode() + b"\xe9 \xe8", "“a“ \ufffd \ufffd", "utf-8", id="typographic quotes in UTF-8 beside pasted letters"),
    ],
)
def test_error_bytes_are_replaced(data: bytes, text: str, encoding: str) -> None:
    """A damaged text loads, with U+FFFD where bytes are wrong, and says that it is lossy."""
    assert Decoded(text, encoding, guessed=False, lossy=True) == decode(data)


def test_error_invalid_utf8_loads() -> None:
    """Bytes that no UTF-8 text has are guessed or replaced, never an error."""
    decoded = decode(b"hello \xff\xc0\xfe world")

    assert decoded is not None
    assert decoded.guessed or decoded.lossy
    assert decoded.text.startswith("hello ")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(16), "image/png", id="PNG"),
        pytest.param(b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg", id="JPEG"),
        pytest.param(b"GIF89a\x01\0\x01\0\x80\0\0", "image/gif", id="GIF"),
        pytest.param(b"GIF87a\x20\x03\x20\x03\xf7\0\0", "image/gif", id="GIF of 800 by 800"),
        pytest.param(b"GIF89a\x01\x20\x01\x20\xf7\x20\x20", "image/gif", id="GIF of 8193 by 8193"),
        pytest.param(b"GIF89a\x01\x20\x20\x20\xf7\x20\x20", "image/gif", id="GIF of 8193 by 8224"),
        pytest.param(b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp", id="WebP"),
        pytest.param(b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", "image/bmp", id="BMP"),
        pytest.param(b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x20\x03\0\0", "image/bmp", id="BMP of 800 pixels a row"),
        pytest.param(b"II*\0\x08\0\0\0", "image/tiff", id="TIFF, little end first"),
        pytest.param(b"MM\0*\0\0\0\x08", "image/tiff", id="TIFF, big end first"),
        pytest.param(b"\0\0\x01\0\x01\0\x10\x10\0\0\x01\0", "image/vnd.microsoft.icon", id="icon"),
        pytest.param(b"\0\0\0\x18ftypheic\0\0\0\0", "image/heic", id="HEIC"),
        pytest.param(b"\0\0\0\x1cftypavif\0\0\0\0", "image/avif", id="AVIF"),
        pytest.param(b"%PDF-1.4\n", "application/pdf", id="PDF"),
        pytest.param(b"\0\0\0\x18ftypisom\0\0\0\0", None, id="a film"),
        pytest.param(b"RIFF\x24\0\0\0WAVEfmt ", None, id="a sound"),
        pytest.param(b'<svg xmlns="http://www.w3.org/2000/svg"/>', None, id="SVG is text"),
        pytest.param(b"GIF89a is a format of 1989", None, id="a text about GIF"),
        pytest.param(b"GIF89a\tis a format of 1989", None, id="a table about GIF"),
        pytest.param(b"GIF89a-format\x01", None, id="a text about GIF with a control character behind where a header would end"),
        pytest.param(b"GIF89a", None, id="a word"),
        pytest.param(b"BM is a department of ours, and so on", None, id="a text that begins like BMP"),
        pytest.param(b"BM and 40\0\0\0\0\0 \x28\0\0\0", None, id="a header like that of BMP behind other words"),
        pytest.param(b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0\x29\0\0\0", None, id="no header of BMP has that length"),
        pytest.param(b"\0\0\x01\0\0\0\x10\x10\0\0\x01\0", None, id="an icon without images"),
        pytest.param(b"kinds:  heic, avif", None, id="a text about HEIC"),
        pytest.param(b"%PDF-files are", None, id="a comment about PDF"),
        pytest.param(b"PK\x03\x04", None, id="an archive"),
        pytest.param(bytes(64), None, id="NULs"),
        pytest.param(b"", None, id="nothing"),
    ],
)
def test_media_type(data: bytes, kind: str | None) -> None:
    """Images and PDFs are known by their first bytes."""
    assert kind == media_type(data)


def test_repr_hides_the_text() -> None:
    """What is printed of a result never holds the file's contents."""
    assert "secret" not in repr(decode(b"secret"))


BITS = st.sampled_from(
    [
        *(b"", b"\0", b"\n", b"\r\n", b"a", b" the text ", b"\xe9", b"\xff", b"\xfe", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe2\x82", b"\xed\xa0\x80"),
        *("ü".encode(), "🙂".encode(), "日本語".encode("cp932"), "中文字".encode("gb18030"), "\ufeff".encode("gb18030"), b"\x84\x31\x95\x33"),
        *("hi\n".encode("utf-16-le"), b"\x00\xd8", b"\x1b[0m", b"\x80\x81", b"coding: cp437\n", b"charset=iso-8859-2\n", b"PK\x03\x04", b"%PDF-1"),
    ]
)


CONTROLS = sorted({*range(0x20), 0x7F} - {*b"\t\n\f\r\x1b"})


@given(st.lists(st.sampled_from(CONTROLS), min_size=1, max_size=200).map(bytes), st.integers(0))
@example(b"\0\1\2\3" * 10, 0)
@example(b"\1\0\3\2" * 10, 1)
def test_controls_with_a_nul_are_binary(controls: bytes, place: int) -> None:
    """Bytes of nothing but controls with a NUL among them are binary, in whatever pairs they are read."""
    place %= len(controls) + 1

    assert decode(controls[:place] + b"\0" + controls[place:]) is None


@given(st.integers(0, 2**32), st.integers(80, 400))
def test_random_bytes_with_many_controls_are_binary(seed: int, length: int) -> None:
    """Random bytes, of which a fifth are controls, are binary if there is a NUL among them."""
    data = bytes(Random(seed).choices([*CONTROLS, *range(256)], k=length))

    assert decode(b"\0" + data) is None


@given(st.binary(max_size=200) | st.lists(BITS, max_size=30).map(b"".join), st.booleans())
@example(b"\x84\x31\x95\x33\xff", True)  # noqa: FBT003 (columns)
def test_any_bytes_are_taken(data: bytes, complete: bool) -> None:  # noqa: FBT001 (a column)
    """No bytes raise; the text encodes, has no NUL and no mark in front; same bytes, same answer."""
    decoded = decode(data, complete=complete)
    media_type(data)
    wide_encoding(data)

    assert decoded == decode(data, complete=complete)
    if decoded is not None:
        decoded.text.encode()
        assert "\0" not in decoded.text
        assert not decoded.text.startswith("\ufeff")
        assert decoded.lossy or "\ufffd" not in decoded.text or b"\xef\xbf\xbd" in data or decoded.encoding != "utf-8"


PLAIN_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])).filter(lambda text: not text.startswith("\ufeff"))


@given(PLAIN_TEXT)
def test_utf8_round_trip(text: str) -> None:
    """Every text without NUL and mark decodes from its UTF-8 to itself."""
    assert Decoded(text, "utf-8", guessed=False, lossy=False) == decode(text.encode())


@given(PLAIN_TEXT, st.integers(0))
def test_part_of_utf8(text: str, length: int) -> None:
    """The text of a part of the bytes is the longest prefix that is whole."""
    data = text.encode()
    part = data[: length % (len(data) + 1)]

    assert part.decode("utf-8", "ignore") == text_of(part, complete=False)


@given(PLAIN_TEXT, st.sampled_from([mark.values[0:2] for mark in BOMS]), st.integers(0))
def test_part_behind_a_mark(text: str, mark: tuple[bytes, str], length: int) -> None:
    """The same holds behind each mark."""
    start, codec = mark
    data = text.encode(codec)
    part = start + data[: length % (len(data) + 1)]

    assert text.startswith(text_of(part, complete=False))
