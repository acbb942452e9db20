"""Bytes of a file -> text, or None for a binary.

The ladder, and why it stands in this order: a byte-order mark is a statement; NUL bytes are UTF-16 or a binary,
never other text; what is valid UTF-8 is UTF-8, and nothing is ever guessed about it; text with a few bad bytes
in it stays UTF-8 with U+FFFD; only what is left is guessed, and a guess holds only if the whole file agrees.
Neither the locale nor the file's name is consulted: the same bytes are the same text everywhere.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MEDIA_TYPES", "Decoded", "bom_encoding", "decode", "media_type", "wide_encoding"]


@dataclass(frozen=True, slots=True)
class Decoded:
    """
    Text, and how sure it is.

    Attributes:
        text: Without a byte-order mark in front, a NUL or a lone surrogate; line ends as they are.
        encoding: Python's name of the codec; "utf-8-sig" for UTF-8 behind a byte-order mark, "utf-16-le" and
            the like without telling whether there was a mark.
        guessed: Whether nothing but its look speaks for the encoding.
        lossy: Whether bytes had to be replaced by U+FFFD.
    """

    text: str = field(repr=False)
    encoding: str
    guessed: bool
    lossy: bool


# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# These take a third argument, "this is all there is", and tell how far they came.
_DECODERS: dict[str, Callable[[bytes, str, bool], tuple[str, int]]] = {
    "utf-8": codecs.utf_8_decode,
    "utf-8-sig": codecs.utf_8_decode,
    "utf-16-le": codecs.utf_16_le_decode,
    "utf-16-be": codecs.utf_16_be_decode,
    "utf-32-le": codecs.utf_32_le_decode,
    "utf-32-be": codecs.utf_32_be_decode,
}

_PATTERN_REACH = 4096
_SHORTEST_PATTERN = 8
_HIGH_BYTES = bytes(range(0x80, 0x100))
_C1_BYTES = bytes(range(0x80, 0xA0))
# The C0 controls that text files do not have: all but BS, TAB, LF, FF, CR, SUB (end of a DOS file) and ESC.
_CONTROL_BYTES = bytes(sorted({*range(0x20), 0x7F} - {*b"\b\t\n\f\r\x1a\x1b"}))
_CONTROL_REACH = 8192
# Formats without a NUL in the first kilobytes, so that nothing else gives them away for sure.
_BINARY_STARTS = (
    b"\x1f\x8b\x08",  # gzip
    b"BZh",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",  # zstd
    b"\x04\x22\x4d\x18",  # lz4
    b"7z\xbc\xaf\x27\x1c",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"Rar!\x1a\x07",
    b"\x7fELF",
    b"\xca\xfe\xba\xbe",  # Java class, Mach-O
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",  # old Office
    b"\x80\x04\x95",  # pickle
    b"OggS",
    b"fLaC",
    b"ID3\x03",
    b"ID3\x04",
)


def decode(data: bytes, *, complete: bool = True) -> Decoded | None:
    """
    Return the text of *data*, or None when it is binary.

    Args:
        data: The file's bytes from its start, or from the start of a line of it.
        complete: Whether they go to the end of the file.  If not, they may end inside a character, and what
            there is of it is dropped; that is no loss.
    """
    if data.isascii():
        if b"\0" not in data:
            return Decoded(data.decode("ascii"), "utf-8", guessed=False, lossy=False)
        return _decode_nuls(data, complete=complete)
    mark = bom_encoding(data)
    if mark is not None:
        encoding, length = mark
        return _decode_unicode(data[length:], encoding, complete=complete, guessed=False)
    if b"\0" in data:
        return _decode_nuls(data, complete=complete)
    try:
        text = codecs.utf_8_decode(data, "strict", complete)[0]
    except UnicodeDecodeError as error:
        return _decode_leftover(data, error, complete=complete)
    return Decoded(text, "utf-8", guessed=False, lossy=False)


def bom_encoding(data: bytes) -> tuple[str, int] | None:
    """Return the codec that a byte-order mark at the start of *data* stands for, and how many bytes the mark has."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, len(mark)
    return None


def wide_encoding(data: bytes) -> str | None:
    """
    Return "utf-16-le" and the like when the characters of *data*, the head of a file, are two or four bytes wide.

    Then raw bytes and UTF-8 bytes differ in number, and a byte 0x0A alone is no line end.
    """
    mark = bom_encoding(data)
    if mark is not None:
        return None if mark[0] == "utf-8-sig" else mark[0]
    return _wide_pattern(data) if b"\0" in data[:_PATTERN_REACH] else None


_MEDIA_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)
_LOOKED_INTO = ("application/pdf", "image/gif", "image/webp", "image/bmp", "image/vnd.microsoft.icon")
_MEDIA_BRANDS = {
    **dict.fromkeys((b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"), "image/heic"),
    **dict.fromkeys((b"avif", b"avis"), "image/avif"),
}
MEDIA_TYPES = frozenset((*dict(_MEDIA_STARTS).values(), *_MEDIA_BRANDS.values(), *_LOOKED_INTO))
"""All that `media_type` tells apart."""
_BMP_HEADERS = frozenset((12, 40, 52, 56, 64, 108, 124))


def media_type(data: bytes) -> str | None:  # noqa: PLR0911 (one row a format)
    """
    Return the media type of an image or a PDF by the first bytes of *data*, the head of a file; None for the rest.

    Short marks that text could begin with (`GIF89a`, `BM`) need a header behind them that text cannot have.
    SVG is text.
    """
    for start, kind in _MEDIA_STARTS:
        if data.startswith(start):
            return kind
    if data[:5] == b"%PDF-" and data[5:6].isdigit():
        return "application/pdf"
    if data[:6] in (b"GIF87a", b"GIF89a") and min(data[6:13], default=0x20) < 0x09:
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[:2] == b"BM" and data[6:10] == bytes(4) and int.from_bytes(data[14:18], "little") in _BMP_HEADERS:
        return "image/bmp"
    if data[:4] == b"\0\0\1\0" and data[4:6] > b"\0\0" and data[5:6] == b"\0" and data[9:10] == b"\0":
        return "image/vnd.microsoft.icon"
    return _MEDIA_BRANDS.get(data[8:12]) if data[4:8] == b"ftyp" else None


def _decode_unicode(data: bytes, encoding: str, *, complete: bool, guessed: bool) -> Decoded | None:
    decoder = _DECODERS[encoding]
    lossy = False
    try:
        text = decoder(data, "strict", complete)[0]
    except UnicodeDecodeError:
        text = decoder(data, "replace", complete)[0]
        lossy = True
    if "\0" in text or (lossy and _is_mostly_lost(text)):
        return None
    return Decoded(text.lstrip("\ufeff"), encoding, guessed=guessed, lossy=lossy)


def _is_mostly_lost(text: str) -> bool:
    """Tell whether a mark stood in front of a binary by chance; a torn file of a few characters is still text."""
    return len(text) > 16 and text.count("\ufffd") * 8 > len(text)


def _decode_nuls(data: bytes, *, complete: bool) -> Decoded | None:
    encoding = _wide_pattern(data)
    return None if encoding is None else _decode_unicode(data, encoding, complete=complete, guessed=True)


def _wide_pattern(data: bytes) -> str | None:
    """Return the order of UTF-16 without a mark: one half of the byte pairs has NULs, and they read as one script."""
    head = data[: min(len(data), _PATTERN_REACH) & ~1]
    if len(head) < _SHORTEST_PATTERN:
        return None
    orders = ("utf-16-le", "utf-16-be") if head[1::2].count(0) >= head[::2].count(0) else ("utf-16-be", "utf-16-le")
    return next((encoding for encoding in orders if _is_convincing(head, encoding)), None)


_UNTEXTUAL = frozenset(("Cc", "Cn", "Co", "Cs"))


def _is_convincing(head: bytes, encoding: str) -> bool:
    try:
        text = _DECODERS[encoding](head, "strict", False)[0]  # noqa: FBT003 (the head may end inside a pair)
    except UnicodeDecodeError:
        return False
    # Pairs of bytes that are no text nearly always make controls, unassigned or private characters.
    signs = Counter(text)
    if any(unicodedata.category(sign) in _UNTEXTUAL and sign not in "\t\n\f\r\x1b" for sign in signs):
        return False
    scripts: Counter[str] = Counter()
    for sign, count in signs.items():
        scripts[_script(sign)] += count
    latin = scripts.pop("Latin", 0)
    # The NULs are those of ASCII, and of letters between it and U+0250 few texts have many: bytes like 00 01 make those.
    plain = sum(count for sign, count in signs.items() if sign.isascii())
    if latin * 10 >= len(text) * 6:
        return plain * 2 >= latin and not text.isspace()
    scripts.pop("", None)
    if len(text) < 16 or plain * 256 < len(text) or not scripts:
        return False
    script, _ = scripts.most_common(1)[0]
    del scripts[script]
    # Two ASCII letters in a row make a Chinese character, but real Chinese has other bytes as well.
    is_ascii_in_disguise = script == "East Asian" and len(head.translate(None, _HIGH_BYTES)) * 20 > len(head) * 19
    return sum(scripts.values()) * 20 <= len(text) and not is_ascii_in_disguise


def _script(sign: str) -> str:
    """Tell the script of *sign* by its place in Unicode, near enough to tell text from chance; "" belongs to all."""
    code = ord(sign)
    if code < 0x250:
        return "Latin"
    if 0x2000 <= code < 0x2E00 or code > 0xFFFF:
        return ""
    if 0x2E80 <= code < 0xA000 or 0xAC00 <= code < 0xD800 or 0xF900 <= code < 0xFB00 or 0xFE30 <= code < 0xFFF0:
        return "East Asian"
    return f"{code >> 8:x}"


def _decode_leftover(data: bytes, error: UnicodeDecodeError, *, complete: bool) -> Decoded | None:
    """Decode what is neither UTF-8 nor has NULs: a binary, UTF-8 with bad bytes, or a legacy encoding."""
    if data.startswith(_BINARY_STARTS) or media_type(data) is not None or _has_controls(data):
        return None
    from filerefs.guessing import guesses, sample_lines  # its patterns take 5 ms to compile

    sample = sample_lines(data, complete=complete)
    if not _is_damaged_utf8(data, sample, error):
        for encoding in guesses(data, sample):
            text = _decode_strictly(data, encoding, complete=complete)
            if text is not None:
                return Decoded(text.lstrip("\ufeff"), encoding, guessed=True, lossy=False)
    text = codecs.utf_8_decode(data, "replace", complete)[0]
    return Decoded(text, "utf-8", guessed=False, lossy=True)


def _has_controls(data: bytes) -> bool:
    head = data[:_CONTROL_REACH]
    return (len(head) - len(head.translate(None, _CONTROL_BYTES))) * 32 > len(head)


def _is_damaged_utf8(data: bytes, sample: bytes, error: UnicodeDecodeError) -> bool:
    """
    Tell whether *data* is UTF-8 but for a few bytes: a cut log, a torn last character, one pasted Latin-1 word.

    In single-byte text a valid sequence is next to never an accident.  In double-byte text it is at times,
    but rarely a Latin letter or a sign of punctuation.
    """
    if error.end == len(data) and error.reason == "unexpected end of data" and not data[: error.start].isascii():
        return True
    text = sample.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    valid = len(text) - broken - len(sample.translate(None, _HIGH_BYTES))
    return valid > 0 and valid >= (broken if _is_western(text) else 4 * broken)


def _is_western(text: str) -> bool:
    return all(sign < "\u0180" or "\u2000" <= sign < "\u2100" or sign == "\ufffd" for sign in set(text))


def _decode_strictly(data: bytes, encoding: str, *, complete: bool) -> str | None:
    """Return the text if every byte of the file agrees with the guess from its sample, and none is a C1 control."""
    if encoding.startswith("iso8859") and len(data.translate(None, _C1_BYTES)) != len(data):
        return None
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data, complete)
    except UnicodeDecodeError:
        return None
    return None if "\x80" in text else text
