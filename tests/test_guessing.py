from __future__ import annotations

import subprocess
import sys

import pytest

from filerefs.decoding import decode
from filerefs.guessing import sample_lines

RUSSIAN = "Сегодня хорошая погода. Файл не найден, проверьте путь. Функция возвращает наибольшее значение.\n"
JAPANESE = "今日は天気がいいです。ファイルが見つかりません。設定を確認してください。関数は最大値を返します。\n"
PROSE = {
    ("German", "cp1252"): "Die Straße führt über den großen Fluß. Das Gerät läuft zuverlässig – „schön“, sagte er.\n",
    ("French", "cp1252"): "L'été dernier, nous avons mangé une crème brûlée à la terrasse. Où êtes-vous allés? Ça dépend.\n",
    ("Spanish", "cp1252"): "El niño comió una manzana y después leyó la lección. ¿Cómo está usted? Según el diseño, sí.\n",
    ("Portuguese", "cp1252"): "As operações não são rápidas. Você já leu a lição de amanhã? A configuração é necessária.\n",
    ("Italian", "cp1252"): "Perché la città è così bella? Andrò più tardi al caffè. Può darsi che sarà lunedì.\n",
    ("Danish", "cp1252"): "Den røde båd sejler på søen. Vi må købe brød og smør. Værdien må ikke være tom.\n",
    ("Swedish", "cp1252"): "Åsa köpte äpplen och fågelägg på ön. Värdet får inte vara större än noll.\n",
    ("Icelandic", "cp1252"): "Það er gott veður í dag. Þú mátt ekki gleyma bókinni. Öll börnin léku sér úti.\n",
    ("German with the euro", "iso8859_15"): "Der Preis beträgt 12 € für größere Mengen. Das Gerät kostet 300 €.\n",
    ("Polish", "cp1250"): "Zażółć gęślą jaźń. Proszę sprawdzić długość łańcucha. Można też użyć pętli.\n",
    ("Czech", "cp1250"): "Příliš žluťoučký kůň úpěl ďábelské ódy. Výsledek měření je uložen v souboru.\n",
    ("Hungarian", "cp1250"): "Árvíztűrő tükörfúrógép. Az eső után kisütött a nap. A függvény értéke nem lehet üres.\n",
    ("Romanian", "cp1250"): "Astăzi este o zi frumoasă. Fişierul nu a fost găsit. Funcţia întoarce valoarea maximă.\n",
    ("Russian", "cp1251"): RUSSIAN,
    ("Russian", "koi8_r"): RUSSIAN,
    ("Ukrainian", "cp1251"): "Сьогодні гарна погода. Файл не знайдено, перевірте шлях. Функція повертає найбільше значення.\n",
    ("Japanese", "cp932"): JAPANESE,
    ("Japanese", "euc_jp"): JAPANESE,
    ("simplified Chinese", "gb18030"): "今天天气很好。找不到文件，请检查路径。函数返回最大值。请确认设置是否正确。这里是中文注释。\n",
    ("traditional Chinese", "big5"): "今天天氣很好。找不到檔案，請檢查路徑。函數傳回最大值。請確認設定是否正確。這裡是中文註解。\n",
    ("Korean", "cp949"): "오늘은 날씨가 좋습니다. 파일을 찾을 수 없습니다. 함수는 최댓값을 돌려줍니다. 설정을 확인하십시오.\n",
}
TEXTS = [pytest.param(text, encoding, id=f"{language} in {encoding}") for (language, encoding), text in PROSE.items()]
SIZES = [pytest.param(1_000, id="1 KB"), pytest.param(20_000, id="20 KB"), pytest.param(200_000, id="200 KB")]


def read(data: bytes, *, complete: bool = True) -> tuple[str, str, bool, bool]:
    """Return the fields of what there must be for *data*, in another order."""
    decoded = decode(data, complete=complete)
    assert decoded is not None
    return decoded.encoding, decoded.text, decoded.guessed, decoded.lossy


@pytest.mark.parametrize(("text", "encoding"), TEXTS)
@pytest.mark.parametrize("size", SIZES)
def test_prose(text: str, encoding: str, size: int) -> None:
    """Prose in each encoding is read as it was written, in lines and as one line, and called a guess."""
    text *= size // len(text.encode(encoding)) + 1
    joined = text.replace("\n", " ")

    assert (encoding, text, True, False) == read(text.encode(encoding))
    assert (encoding, joined, True, False) == read(joined.encode(encoding))


@pytest.mark.parametrize(("text", "encoding"), TEXTS)
@pytest.mark.parametrize("size", SIZES)
def test_source_with_one_comment(text: str, encoding: str, size: int) -> None:
    """One comment at the end of a source file is enough: ASCII lines have no say."""
    source = "def double(value):\n    return value * 2\n\n" * (size // 41) + "# " + text

    assert (encoding, source, True, False) == read(source.encode(encoding))


@pytest.mark.parametrize(("text", "encoding"), TEXTS)
def test_any_part_of_prose(text: str, encoding: str) -> None:
    """A part of a file that ends inside a character has the same encoding and a prefix of the text."""
    data = (text * 50).encode(encoding)
    for length in (2_000, 2_001, 2_002, 2_003, 2_004, 2_005):
        name, part, guessed, lossy = read(data[:length], complete=False)

        assert (encoding, True, False) == (name, guessed, lossy)
        assert (text * 50).startswith(part)
        assert len(part.encode(encoding)) > length - 4


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        pytest.param("é", "cp1252", id="one letter"),
        pytest.param("café", "cp1252", id="one word"),
        pytest.param("// operações\r\n", "cp1252", id="one Portuguese comment"),
        pytest.param("x = 1  # smørrebrød", "cp1252", id="one Danish word behind code"),
        pytest.param("it’s “fine” – really…", "cp1252", id="typographic punctuation in English"),
        pytest.param("two \xa0\xa0 blanks", "cp1252", id="nothing but blanks"),
        pytest.param("5 m³ at 20 °C", "cp1252", id="units"),
        pytest.param("Müller, Nuñez, Østergård, François", "cp1252", id="names of several languages"),
        pytest.param("price: 5 €", "iso8859_15", id="nothing but a euro"),
        pytest.param("# źdźbło żółte\n", "cp1250", id="one Polish comment"),
        pytest.param("# читает файл\n", "cp1251", id="one Russian comment"),
        pytest.param("# читает файл\n", "koi8_r", id="the same in the other code page"),
        pytest.param("# ファイルを読む\n", "cp932", id="one Japanese comment"),
        pytest.param("# ファイルを読む\n", "euc_jp", id="the same in the other encoding"),
        pytest.param("# 找不到檔案，請檢查路徑\n", "big5", id="one Chinese comment"),
    ],
)
def test_short_text(text: str, encoding: str) -> None:
    """A word or a line is enough where it is characteristic."""
    assert (encoding, text, True, False) == read(text.encode(encoding))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        pytest.param("# -*- coding: koi8-r -*-\n# Да\n", "koi8_r", id="Python and Emacs"),
        pytest.param('<?xml version="1.0" encoding="ISO-8859-2"?><a>češi</a>', "iso8859_2", id="XML"),
        pytest.param('<meta charset="Shift_JIS"><p>漢字</p>', "cp932", id="HTML"),
        pytest.param("# vim: set fileencoding=cp437 :\n# Größe\n", "cp437", id="vim, and a code page that is never guessed"),
        pytest.param("# coding=windows-1253\n# Σήμερα\n", "cp1253", id="Greek, which is never guessed"),
        pytest.param("# coding: latin-1\n# “quoted”\n", "cp1252", id="what calls itself Latin-1 is Windows"),
    ],
)
def test_declared_encoding(text: str, encoding: str) -> None:
    """What a file says of its encoding comes before any guess."""
    assert (encoding, text, True, False) == read(text.encode(encoding))


@pytest.mark.parametrize(
    "name",
    ["no_such_codec", "unicode_escape", "rot13", "punycode", "utf-8", "ascii", "cp932", "idna", "undefined", "mbcs"],
)
def test_error_declared_encoding_is_not_believed(name: str) -> None:
    """A declaration that is unknown, that is no character set, or that the bytes contradict, does nothing."""
    text = f"# coding: {name}\n# operações são\xa0necessárias \xfc\n"

    assert ("cp1252", text, True, False) == read(text.encode("cp1252"))


def test_error_guess_that_the_rest_contradicts() -> None:
    """A guess holds only if the whole file agrees: one bad byte far behind the sample, and another is taken."""
    data = "größere Straße\n".encode("cp1252") * 500 + b"\x81\x8d\x8f\x90\x9d\n"
    encoding, _, guessed, lossy = read(data)

    assert encoding != "cp1252"
    assert guessed or lossy


def test_short_lines_are_sampled_too() -> None:
    """A sample ends after some lines, so a file of one-letter lines costs no more than another."""
    text = "é\n" * 100_000

    assert ("cp1252", text, True, False) == read(text.encode("cp1252"))
    assert len(sample_lines(text.encode("cp1252"), complete=True)) < 1_000


@pytest.mark.parametrize("complete", [True, False])
def test_sample(complete: bool) -> None:  # noqa: FBT001 (a column)
    """The sample holds the non-ASCII lines only, of a long line what stands around its first such byte."""
    data = b"plain\n" * 2_000 + b"caf\xe9 au lait\n" + b"plain\n" + b"x" * 9_000 + b" na\xefve\n" + b"plain\n"
    sample = sample_lines(data, complete=complete)

    assert sample.startswith(b"caf\xe9 au lait\n")
    assert b"plain" not in sample
    assert b"na\xefve" in sample
    assert len(sample) < 500


@pytest.mark.parametrize("text", [pytest.param("漢字ｶﾅ ファイル, " * 900, id="with blanks"), pytest.param("漢字かなファイル" * 900, id="in one run")])
def test_sample_is_cut_between_characters(text: str) -> None:
    """The end of a full sample never tears a character, whose encoding would be ruled out."""
    for shift in range(4):
        data = ("x" * shift + text).encode("cp932")
        sample = sample_lines(data, complete=True)

        assert 1_500 < len(sample) <= 2_048
        assert ("x" * shift + text).startswith(sample.decode("cp932"))
        assert ("cp932", "x" * shift + text, True, False) == read(data)


def test_same_answer_in_every_process() -> None:
    """Neither the locale nor the hash seed of the process matters."""
    program = (
        "from filerefs.decoding import decode\n"
        "for data in (b'hello \\xff\\xc0\\xfe world', bytes(range(0xa1, 0xff)) * 3, b'x \\xd1\\xd2 \\xe6', b'\\xb0\\xa1\\xb3\\xaa', b'\\x8a\\x40\\xb1'):\n"
        "    found = decode(data)\n"
        "    print(ascii(found and (found.encoding, found.text, found.lossy)))\n"
    )
    answers = set()
    for seed, locale in (("0", "C"), ("1", "C.UTF-8"), ("2", "POSIX")):
        environment = {"PYTHONHASHSEED": seed, "LC_ALL": locale, "PYTHONPATH": ":".join(sys.path)}
        answers.add(subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True).stdout)

    assert len(answers) == 1
    assert answers.pop().count(b"\n") == 5


def test_detector_is_loaded_late() -> None:
    """UTF-8, UTF-16 and binaries never load the detector, nor does evident legacy text."""
    program = (
        "import sys\n"
        "from filerefs.decoding import decode\n"
        "for data in (b'', b'a', 'ü'.encode(), 'ü'.encode('utf-16'), bytes(9), b'caf\\xe9'):\n"
        "    decode(data)\n"
        "print('charset_normalizer' in sys.modules)\n"
        "decode('今天天气很好'.encode('gb18030'))\n"
        "print('charset_normalizer' in sys.modules)\n"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "PYTHONUTF8": "1"}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True)

    assert [b"False", b"True"] == ran.stdout.split()
