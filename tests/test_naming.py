"""Names as references, as labels, as people see them; and which of them are names of secrets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from filerefs.errors import OptionTypeError, PathFormatError
from filerefs.mentions import Range, parse
from filerefs.naming import (
    LABEL_LENGTH,
    format_range,
    format_ref,
    human_size,
    is_hidden,
    is_secret,
    label,
    line_numbers,
    may_begin_as_secret,
    plain_form,
    printable,
)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("src/app.py", "@src/app.py", id="a plain path"),
        pytest.param("a_b-c.1", "@a_b-c.1", id="signs that need no quotes"),
        pytest.param(".gitignore", "@.gitignore", id="a dot in front"),
        pytest.param("文件/é.txt", "@文件/é.txt", id="letters of any script"),
        pytest.param("e\u0301.txt", "@e\u0301.txt", id="marks"),
        pytest.param("١٢.txt", "@١٢.txt", id="digits of any script"),
        pytest.param("src/", "@src/", id="a folder with its slash"),
        pytest.param("my file.txt", '@"my file.txt"', id="a blank"),
        pytest.param("-x", '@"-x"', id="a hyphen in front"),
        pytest.param("a.", '@"a."', id="a dot at the end"),
        pytest.param(".", '@"."', id="the root"),
        pytest.param("..", '@".."', id="dots only"),
        pytest.param("a,b", '@"a,b"', id="a separator"),
        pytest.param("a:7", '@"a:7"', id="what looks like a range"),
        pytest.param("@scope/x", '@"@scope/x"', id="an at-sign"),
        pytest.param('a"b', '@"a\\"b"', id="a double quote"),
        pytest.param("a\\b", '@"a\\\\b"', id="a backslash"),
        pytest.param("a'b", '@"a\'b"', id="a single quote"),
        pytest.param("`a`", '@"`a`"', id="backticks"),
        pytest.param("a\nb", '@"a\\u{a}b"', id="a line feed"),
        pytest.param("a\tb", '@"a\\u{9}b"', id="a tab"),
        pytest.param("\u2028", '@"\\u{2028}"', id="a line separator"),
        pytest.param("\u2029", '@"\\u{2029}"', id="a paragraph separator"),
        pytest.param("X Y", '@"X Y"', id="capitals between quotes"),
        pytest.param("\udcff", '@"\\u{dcff}"', id="a byte that is no text"),
        pytest.param("\x85", '@"\\u{85}"', id="a C1 control"),
        pytest.param("\\u{41}", '@"\\\\u{41}"', id="what looks like an escape"),
        pytest.param("½", '@"½"', id="a number that is no digit"),
        pytest.param("😀", '@"😀"', id="an emoji"),
        pytest.param("a\u200bb", '@"a\u200bb"', id="a zero-width space"),
    ],
)
def test_format_ref(path: str, expected: str) -> None:
    """A name of letters, marks, digits and `_ - . /` is written bare, any other in double quotes."""
    assert format_ref(path) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(None, "", id="the whole file"),
        pytest.param((4, 4), ":4", id="one line"),
        pytest.param((4, 9), ":4-9", id="lines"),
        pytest.param((4, None), ":4-", id="to the end"),
    ],
)
@pytest.mark.parametrize(("path", "name"), [("a.py", "@a.py"), ("a b", '@"a b"')])
def test_format_ref_with_lines(path: str, name: str, lines: Range | None, expected: str) -> None:
    """Lines stand behind the name, or behind its closing quote."""
    assert format_range(lines) == expected
    assert format_ref(path, lines) == name + expected
    assert [(ref.path, ref.lines) for ref in parse(f"see {name}{expected}, then")] == [(path, lines)]


@pytest.mark.parametrize(("path", "problem"), [("", "it is empty"), ("a\0b", "it holds a NUL")])
def test_error_path_that_can_name_no_file(path: str, problem: str) -> None:
    """There is no reference to a name that no file can have."""
    with pytest.raises(PathFormatError) as caught:
        format_ref(path)

    assert (caught.value.path, caught.value.problem) == (path, problem)


@pytest.mark.parametrize(
    ("path", "lines", "option"),
    [
        pytest.param(None, None, "path", id="no path"),
        pytest.param(b"a.py", None, "path", id="bytes"),
        pytest.param("a.py", 5, "lines", id="one number"),
        pytest.param("a.py", (5,), "lines", id="one number in a tuple"),
        pytest.param("a.py", [(3, 4)], "lines", id="a list of pairs"),
        pytest.param("a.py", ("3", "4"), "lines", id="text"),
        pytest.param("a.py", (None, 4), "lines", id="without a first line"),
    ],
)
def test_error_what_is_no_path_and_no_lines(path: Any, lines: Any, option: str) -> None:
    """Misuse is told in a sentence."""
    with pytest.raises(OptionTypeError) as caught:
        format_ref(path, lines)

    given = {"path": path, "lines": lines}[option]
    expected = {"path": "a string", "lines": "a pair of numbers (first, last), or None"}[option]
    assert (caught.value.option, caught.value.value) == (option, given)
    assert str(caught.value) == f"`{option}` must be {expected}, not {given!r}"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param([(4, 4)], "line 4", id="one line"),
        pytest.param([(4, 9)], "lines 4-9", id="one range"),
        pytest.param([(4, 4), (9, 9)], "lines 4, 9", id="two lines"),
        pytest.param([(1, 2), (4, 9), (12, 12)], "lines 1-2, 4-9, 12", id="several ranges"),
        pytest.param([(n, n) for n in range(1, 17, 2)], "lines 1, 3, 5, 7, 9, 11, 13, 15", id="just as many as are shown"),
        pytest.param([(n, n) for n in range(1, 19, 2)], "lines 1, 3, 5, 7, 9, 11, 13, 15 and 1 more range", id="one more"),
        pytest.param([(n, n) for n in range(1, 21, 2)], "lines 1, 3, 5, 7, 9, 11, 13, 15 and 2 more ranges", id="more of them"),
    ],
)
def test_line_numbers(lines: list[tuple[int, int]], expected: str) -> None:
    """A person reads which lines were taken; of many ranges the first eight, and how many more there are."""
    assert line_numbers(lines) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("src/app.py", "src/app.py", id="a plain path"),
        pytest.param("a,b(1):7.txt", "a,b(1):7.txt", id="signs"),
        pytest.param("文件—é.txt", "文件—é.txt", id="letters and a dash"),
        pytest.param("X—é.txt", "X—é.txt", id="a capital beside a dash"),
        pytest.param("a'b`c", "a'b`c", id="a single quote and a backtick"),
        pytest.param("my file.txt", '"my file.txt"', id="a blank"),
        pytest.param("a\u00a0b", '"a\u00a0b"', id="a no-break space"),
        pytest.param("a\u3000b", '"a\u3000b"', id="an ideographic space"),
        pytest.param('a"b', '"a\\"b"', id="a double quote"),
        pytest.param("a\\b", '"a\\\\b"', id="a backslash"),
        pytest.param("@scope", '"@scope"', id="an at-sign"),
        pytest.param("a\nb", '"a\\u{a}b"', id="a line feed"),
        pytest.param("a\u202eb", '"a\u202eb"', id="a bidirectional control"),
        pytest.param("a\ue000b", '"a\ue000b"', id="a private character"),
        pytest.param("\udcff", '"\\u{dcff}"', id="a byte that is no text"),
    ],
)
def test_plain_form(path: str, expected: str) -> None:
    """A path stands in the rewritten message as it is, unless it would not be read as one word."""
    assert plain_form(path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a b.txt", "a b.txt", id="nothing hides"),
        pytest.param("é文😀", "é文😀", id="signs that show"),
        pytest.param("a\nb", "a\\u{a}b", id="a line feed"),
        pytest.param("\x1b[31m", "\\u{1b}[31m", id="an escape sequence"),
        pytest.param("\u202egnp.exe", "\\u{202e}gnp.exe", id="a bidirectional override"),
        pytest.param("a\u200bb", "a\\u{200b}b", id="a zero-width space"),
        pytest.param("\ufeff", "\\u{feff}", id="a byte-order mark"),
        pytest.param("\udcff", "\\u{dcff}", id="a surrogate"),
        pytest.param("\u2028\u2029\x85", "\\u{2028}\\u{2029}\\u{85}", id="line separators"),
        pytest.param("\u3164\u115f\u2800", "\\u{3164}\\u{115f}\\u{2800}", id="letters that show nothing"),
        pytest.param("a\\u{202e}b", "a\\\\u{202e}b", id="what looks like an escape already"),
        pytest.param("a\\b", "a\\b", id="a backslash alone"),
        pytest.param("\U000e0041", "\\u{e0041}", id="a tag"),
    ],
)
def test_printable(text: str, expected: str) -> None:
    """What hides or moves its neighbours is shown as a number."""
    assert printable(text) == expected


@given(st.text(st.characters(), max_size=20))
def test_printable_is_one_line_in_which_nothing_hides(text: str) -> None:
    """The result holds no control, format, surrogate or separating character."""
    shown = printable(text)

    assert len(shown.splitlines()) <= 1
    assert not any(is_hidden(sign) for sign in shown)
    shown.encode()


@given(st.text(st.sampled_from("\\u{}a\u202e\n2"), max_size=9), st.text(st.sampled_from("\\u{}a\u202e\n2"), max_size=9))
@example("\\u{202e}", "\u202e")
def test_two_names_never_look_the_same(one: str, other: str) -> None:
    """Different names are shown differently."""
    assume("\\\n" not in one + other and "\\\u202e" not in one + other)

    assert (one == other) is (printable(one) == printable(other))


def test_backslash_before_what_hides_looks_like_nothing_else() -> None:
    """A name with a backslash before a control character is not shown like one that spells the escape out."""
    assert printable("\\u{a}") != printable("\\\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("x" * 200, "x" * 200, id="just fits"),
        pytest.param("a" * 150 + "b" * 150, "a" * 100 + "…" + "b" * 99, id="cut in the middle"),
        pytest.param("a\nb", "a\\u{a}b", id="one line"),
    ],
)
def test_label(text: str, expected: str) -> None:
    """A heading is one printable line of at most 200 code points, with both its ends."""
    assert label(text) == expected
    assert len(label(text)) <= LABEL_LENGTH


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, "0 B"),
        (742, "742 B"),
        (1023, "1023 B"),
        (1024, "1.0 KB"),
        (12_595, "12.3 KB"),
        (204_800, "200.0 KB"),
        (1_048_576, "1.0 MB"),
        (5 * 2**30, "5.0 GB"),
        (2**40, "1.0 TB"),
        (2**52, "4096.0 TB"),
        pytest.param(2**20 - 1, "1.0 MB"),
    ],
)
def test_size_for_people(size: int, expected: str) -> None:
    """A size has one digit behind the point and a unit of 1,024 steps."""
    assert human_size(size) == expected


SECRETS = [
    ".env",
    ".env.local",
    ".env.production",
    "a/b/.env",
    ".envrc",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "keys/id_ed25519",
    "server.pem",
    "server.key",
    "a.p12",
    "a.pfx",
    "a.jks",
    "a.kdbx",
    "a.ppk",
    ".pem",
    "credentials.json",
    "terraform.tfstate",
    ".bash_history",
    ".zsh_history",
    ".docker/config.json",
    "home/.docker/config.json",
    ".git/config",
    "a/.git/objects/00/11",
    ".ssh/known_hosts",
    ".gnupg/x",
    ".aws/x",
    ".azure/x",
    ".kube/config",
    ".config/gcloud/x/y",
    ".ENV",
    "Id_RSA",
    ".Git/config",
    ".env.",
    ".env ",
    ".env. . ",
    "id_rsa.",
    "server.pem. .",
    ".ssh./x",
    ".docker. /config.json.",
    ".e\u200bnv",
    "\u2060.env",
    ".en\u00adv",
    "．env",
    ".ｅｎｖ",
    "server.ＰＥＭ",
    ".env\ufe0f",
    ".ſsh/x",
    ".env.\u3164example.x",
    ".env\ufe00",
    ".e\U000e0000nv",
    ".e\U000e0100nv",
    ".env\U000e0fff",
]
ORDINARY = [
    "env",
    "env.py",
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".ENV.Example",
    ".environment",
    "id_rsa.pub",
    "key",
    "keys.py",
    "pem.txt",
    "config.json",
    "docker/config.json",
    ".docker/other.json",
    ".dockerx/config.json",
    ".gitignore",
    ".github/workflows/ci.yml",
    "git/config",
    ".config/x",
    "gcloud/x",
    ".config/x/gcloud/y",
    "credentials.json.md",
    "src/app.py",
    "",
    ".envX\u200b",
    ".env\ufdff",
    ".env\ufe10",
    ".env\U000dffff",
    ".env\U000e1000",
]


@pytest.mark.parametrize("path", SECRETS)
def test_names_of_secrets(path: str) -> None:
    """Names under which widespread tools keep credentials are told apart, however they are spelled."""
    assert is_secret(path.split("/"), directory=False)


@pytest.mark.parametrize("path", ORDINARY)
def test_ordinary_names(path: str) -> None:
    """Templates, public keys and names that only resemble those of secrets are ordinary."""
    assert not is_secret(path.split("/"), directory=False)


def test_no_name_at_all() -> None:
    """The root itself is no secret."""
    assert not is_secret([], directory=False)
    assert not is_secret([], directory=True)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param(".env", False, id="a folder called .env"),
        pytest.param("x.pem", False, id="a folder with a secret ending"),
        pytest.param(".git", True, id="the folder of a repository"),
        pytest.param("a/.ssh", True, id="a folder of keys"),
        pytest.param(".config/gcloud", True, id="a folder of a tool"),
        pytest.param(".config", False, id="the folder above it"),
    ],
)
def test_folders(path: str, *, expected: bool) -> None:
    """A folder that only has the name of a secret file is none; one that holds secrets is one."""
    assert is_secret(path.split("/"), directory=True) is expected


@given(st.sampled_from([name for name in SECRETS if name.isascii()]), st.data())
def test_no_other_spelling_gets_around(path: str, data: st.DataObject) -> None:
    """Case, full-width letters and invisible characters do not make a secret ordinary."""
    spelled = ""
    for sign in path:
        others = [sign, sign.upper(), "\u200b" + sign]
        if sign not in "/ ":
            others.append(chr(ord(sign) + 0xFEE0))
        spelled += data.draw(st.sampled_from(others))

    assert is_secret(spelled.split("/"), directory=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(".env", True, id="a secret name"),
        pytest.param(".env.local", True, id="a secret name and more"),
        pytest.param("id_rsa),", True, id="a secret name and what a sentence adds"),
        pytest.param(".git", True, id="a secret folder"),
        pytest.param("server.pem", True, id="a secret ending"),
        pytest.param("server.key.", True, id="a secret ending and what a sentence adds"),
        pytest.param("app.route", False, id="neither"),
        pytest.param("my.env", False, id="a secret name that is not the beginning"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_beginnings_of_secrets(text: str, *, expected: bool) -> None:
    """A run may begin with a secret's name if it begins with one of the names, or has one of the endings anywhere."""
    assert may_begin_as_secret(text) is expected
