"""The legacy encoding of bytes that are not UTF-8: guessed, from a bounded sample.

Detectors drown in ASCII (on whole source files they are wrong half of the time), so the sample is the lines that
hold non-ASCII bytes.  They also confuse what people can tell at a glance: `operações` comes out Hungarian, one
Danish word Chinese.  So languages with a small alphabet are decided here, by whether all the letters belong to
one of them; charset-normalizer decides the rest, which is East Asian text and mixtures.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from charset_normalizer.models import CharsetMatches

__all__ = ["guesses", "sample_lines"]

# In order of preference where several read the sample alike.  Ten, because each further one costs hits: with all
# of them the detector takes Western prose for Baltic, Turkish or DOS text.
_CANDIDATES = ("cp1252", "cp932", "gb18030", "big5", "euc_jp", "cp949", "cp1251", "koi8_r", "cp1250", "iso8859_15")

# What a file may say of itself, and the codec for it: as in browsers, the superset that such files really use.
_DECLARABLE = {
    **{name: name for name in _CANDIDATES},
    **dict.fromkeys(("iso_8859_1", "iso8859_1", "latin_1", "latin1", "windows_1252"), "cp1252"),
    **dict.fromkeys(("iso_8859_2", "iso8859_2", "latin_2", "latin2"), "iso8859_2"),
    **dict.fromkeys(("iso_8859_15", "latin_9", "latin9"), "iso8859_15"),
    **dict.fromkeys(("shift_jis", "sjis", "x_sjis", "windows_31j"), "cp932"),
    **dict.fromkeys(("gb2312", "gbk", "cp936"), "gb18030"),
    **dict.fromkeys(("euc_kr", "ks_c_5601_1987"), "cp949"),
    **{f"windows_{number}": f"cp{number}" for number in (1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258)},
    **{f"cp{number}": f"cp{number}" for number in (437, 850, 852, 866, 1253, 1254, 1255, 1256, 1257, 1258)},
    **{f"iso_8859_{number}": f"iso8859_{number}" for number in (5, 7, 8, 9, 13)},
    "big5_hkscs": "big5hkscs",
    "koi8_u": "koi8_u",
    **dict.fromkeys(("tis_620", "windows_874", "cp874"), "cp874"),
}
_DECLARATION = re.compile(rb"""(?:coding|charset)\s{0,8}[:=]\s{0,8}["']?([A-Za-z][\w.-]{2,30})""")
_DECLARATION_REACH = 1024

_SAMPLE_SIZE = 2048
_SAMPLE_LINES = 64
_BLOCK_SIZE = 4096
_LEAD_SIZE = 256
# No legacy encoding has any other byte inside a character, so a cut behind another is always between two.
_INNER_BYTES = bytes(range(0x30, 0x100))
_ASCII_BYTES = bytes(range(0x80))
_HIGH_BYTES = bytes(range(0x80, 0x100))
# 0xA0, the no-break space of all single-byte pages, stands between words.
_FOREIGN_WORD = re.compile(rb"[A-Za-z]*[\x80-\x9f\xa1-\xff][A-Za-z\x80-\x9f\xa1-\xff]*")

# The letters beyond a-z of languages that one code page serves, and the signs that such texts have behind letters.
# The first of each row, where it is no language, is what stands in English text.
_WESTERN = (
    "éèïçñ³£½¼¾ª",
    "äöüß",
    "àâæçéèêëîïôœùûüÿ",
    "áéíñóúü¿¡ªº",
    "àáâãçéêíóôõúüªº",
    "àèéìòùîó",
    "æøåéòôü",
    "åäöéà",
    "áðéíóúýþæö",
    "éëïöüèêóáäí",
    "àçèéíïòóúü·",
)
_CENTRAL = ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž")
_CYRILLIC = (
    "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
    "абвгдеёжзійклмнопрстуўфхцчшыьэюя",
    "абвгдђежзијклљмнњопрстћуфхцчџш",
    "абвгдѓежзѕијклљмнњопрстќуфхцчџш",
)
# Signs that neither speak for nor against a language.
_NEUTRAL = frozenset("\xa0«»„“”‘’‚‹›–—…•€°§©®™²µ±×·÷№¡¨´¸")
_ENOUGH = 0.95
# 0xA4 is the euro in iso8859_15, never beside a letter, and in cp1252 a sign that nobody uses.
_EURO = 0xA4
_LETTER_AT_EURO = re.compile(rb"[A-Za-z\x80-\xff]\xa4|\xa4[A-Za-z\x80-\xff]")
# In Western text the signs between 0xA1 and 0xBF do not stand inside words; as halves of double-byte characters they do.
_SIGN_IN_WORD = re.compile(rb"(?<=[A-Za-z\xc0-\xff])[\xa1-\xb6\xb8-\xbf](?=[A-Za-z\xc0-\xff])")
# Fewer lower-case letters than this, and capitals may as well be Korean.
_LOWER_SHARE = 0.3


def guesses(data: bytes, sample: bytes) -> Iterator[str]:
    """
    Yield Python's names of the codecs that *data* may be in, the likeliest first, each perhaps more than once.

    What the file says of itself in its first kilobyte comes first.  Nothing is promised of any of them, not
    even that it decodes *data*.  *sample* is what `sample_lines` gives for it.
    """
    declared = _DECLARATION.search(data, 0, _DECLARATION_REACH)
    if declared is not None:
        name = declared[1].decode("ascii").lower().replace("-", "_")
        if name in _DECLARABLE:
            yield _DECLARABLE[name]
    evident = _guess_alphabet(sample) or _guess_east_asian(sample)
    if evident is not None:
        yield evident
    yield from _detect(sample)


def _guess_alphabet(sample: bytes) -> str | None:
    """Return the code page under which nearly all of *sample* is letters of known alphabets; None when none is."""
    counts = Counter(sample.translate(None, _ASCII_BYTES))
    words = _FOREIGN_WORD.findall(sample)
    # A Western word has ASCII letters too, or is one letter (`à`); in other scripts it is all of high bytes.
    strange = sum(len(word) for word in words if len(word) > 1 and not word.translate(None, _HIGH_BYTES))
    if strange * 2 > counts.total():
        return _guess_cyrillic(sample, counts)
    has_euro = _EURO in counts and min(counts) >= 0xA0 and _LETTER_AT_EURO.search(sample) is None
    if has_euro:
        del counts[_EURO]
    return _guess_latin(counts, has_euro=has_euro, has_signs_in_words=len(_SIGN_IN_WORD.findall(sample)) * 10 > counts.total())


def _guess_latin(counts: Counter[int], *, has_euro: bool, has_signs_in_words: bool) -> str | None:
    central = _coverage(counts, "cp1250", _CENTRAL)
    western = 0.0 if has_signs_in_words else _coverage(counts, "cp1252", _WESTERN)
    any_western = 0.0 if has_signs_in_words else _coverage(counts, "cp1252", ("".join(_WESTERN),))
    if max(central, any_western) < _ENOUGH:
        return None
    if central > western:
        return "cp1250"
    return "iso8859_15" if has_euro else "cp1252"


def _coverage(counts: Counter[int], encoding: str, alphabets: Iterable[str]) -> float:
    """Return which part of the bytes counted, 0 to 1, is letters of that alphabet which has most of them."""
    try:
        signs = [(bytes((code,)).decode(encoding), count) for code, count in counts.items()]
    except UnicodeDecodeError:
        return 0.0
    total = counts.total()
    neutral = sum(count for sign, count in signs if sign in _NEUTRAL)
    best = max(sum(count for sign, count in signs if sign.lower() in letters) for letters in alphabets)
    return (best + neutral) / total if total else 1.0


def _guess_cyrillic(sample: bytes, counts: Counter[int]) -> str | None:
    """Tell the two code pages apart: they have the same letters at the same bytes, but the cases exchanged."""
    pages = [encoding for encoding in ("cp1251", "koi8_r") if _coverage(counts, encoding, _CYRILLIC) >= _ENOUGH]
    scores = {encoding: _lower_share(sample.decode(encoding, "replace")) for encoding in pages}
    best = max(scores, key=lambda encoding: scores[encoding], default=None)
    return best if best is not None and scores[best] > _LOWER_SHARE else None


def _lower_share(text: str) -> float:
    """Return the part of lower-case letters among the non-ASCII ones; 0 when the case jumps about inside words."""
    words = re.findall(r"[^\W\d_a-zA-Z]+", text)
    sane = sum(word[1:].islower() or word.isupper() or len(word) == 1 for word in words)
    if sane * 10 < len(words) * 9:
        return 0.0
    letters = "".join(words)
    return sum(map(str.islower, letters)) / max(len(letters), 1)


class _Scripts(NamedTuple):
    """How many characters of a sample belong to which script; `foreign` is all beyond ASCII but punctuation."""

    foreign: int
    ideographs: int
    kana: int
    hangul: int


_EAST_ASIAN = frozenset(("cp932", "gb18030", "big5", "euc_jp", "cp949"))
_EVIDENT_LENGTH = 6
_FULL_WIDTH_SIGN = re.compile("[\u2000-\u206f\u3000-\u303f\uff01-\uff20]")
_IDEOGRAPH = re.compile("[\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile("[\u3041-\u30fe]")
_HANGUL = re.compile("[\uac00-\ud7a3]")


def _detect(sample: bytes) -> list[str]:
    matches = _detector()(sample, cp_isolation=list(_CANDIDATES), preemptive_behaviour=False)
    found = [encoding for match in matches for encoding in _CANDIDATES if encoding in match.could_be_from_charset]
    return sorted(found, key=lambda encoding: not _is_likely(sample, encoding))


@cache
def _detector() -> Callable[..., CharsetMatches]:
    from charset_normalizer import from_bytes  # 20 ms that most turns never need

    return from_bytes


def _guess_east_asian(sample: bytes) -> str | None:
    """Return the encoding in which *sample* is evidently Japanese or Korean; Chinese is never evident."""
    for encoding in ("euc_jp", "cp932", "cp949"):
        try:
            script = _count_scripts(sample.decode(encoding))
        except UnicodeDecodeError:
            continue
        characteristic = script.hangul if encoding == "cp949" else script.kana
        needed = 0.95 if encoding == "cp949" else 0.2
        if script.foreign >= _EVIDENT_LENGTH and characteristic >= needed * script.foreign:
            return encoding
    return None


def _is_likely(sample: bytes, encoding: str) -> bool:
    """Tell whether *sample* has the letters that text in this encoding has: Korean Hangul, Japanese kana, Chinese neither."""
    if encoding not in _EAST_ASIAN:
        return True
    script = _count_scripts(sample.decode(encoding, "replace"))
    if encoding == "cp949":
        return (script.ideographs + script.kana) * 5 < script.hangul
    return (script.kana * 10 > script.ideographs) == (encoding in ("cp932", "euc_jp"))


def _count_scripts(text: str) -> _Scripts:
    letters = text.encode("ascii", "ignore")
    return _Scripts(
        foreign=len(text) - len(letters) - len(_FULL_WIDTH_SIGN.findall(text)),
        ideographs=len(_IDEOGRAPH.findall(text)),
        kana=len(_KANA.findall(text)),
        hangul=len(_HANGUL.findall(text)),
    )


def sample_lines(data: bytes, *, complete: bool) -> bytes:
    """
    Return the first lines of *data* that hold non-ASCII bytes, 64 lines and 2 KiB at most, cut between two characters.

    *complete* as in `decode`: if not, the last line may end inside a character.
    """
    lines: list[bytes] = []
    room = _SAMPLE_SIZE
    position = 0
    while room > 0 and len(lines) < _SAMPLE_LINES and (first := _find_foreign(data, position)) >= 0:
        # From `position`, a line's start, to `first` all is ASCII: any place between them is between characters.
        start = max(position, data.rfind(b"\n", position, first) + 1, first - _LEAD_SIZE)
        end = data.find(b"\n", first, start + room) + 1 or min(len(data), start + room)
        lines.append(data[start:end])
        room -= end - start
        position = end
    sample = b"".join(lines)
    return sample if complete and position == len(data) else _trim(sample)


def _find_foreign(data: bytes, position: int) -> int:
    for start in range(position, len(data), _BLOCK_SIZE):
        try:
            codecs.ascii_decode(data[start : start + _BLOCK_SIZE])
        except UnicodeDecodeError as error:
            return start + error.start
    return -1


def _trim(sample: bytes) -> bytes:
    """Cut *sample* so that it does not end inside a character, which would rule its encoding out."""
    safe = len(sample.rstrip(_INNER_BYTES))
    if len(sample) - safe <= _LEAD_SIZE and not sample[:safe].isascii():
        return sample[:safe]
    # A long run without a blank is one of characters of two bytes each, most likely.
    first = _find_foreign(sample, safe)
    return sample if first < 0 else sample[: len(sample) - (len(sample) - first) % 2]
