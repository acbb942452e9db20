"""The gate by text, at each of its bounds, and the sentence for each number of the system; no disk is needed."""

from __future__ import annotations

import errno

import pytest

from filerefs import troubles
from filerefs.errors import OptionTypeError
from filerefs.outcomes import Reason
from filerefs.troubles import Trouble, clean, explain, fold, is_name, openable, read_allow, read_name

LONG = "x" * 254
PART = LONG + "y"


@pytest.mark.parametrize(
    ("name", "parts", "directory"),
    [
        pytest.param("a", ["a"], False, id="one part"),
        pytest.param("a/b", ["a", "b"], False, id="two"),
        pytest.param("a//./b", ["a", "b"], False, id="parts that mean nothing"),
        pytest.param("./a", ["a"], False, id="a dot in front"),
        pytest.param("a/", ["a"], True, id="a slash at the end"),
        pytest.param("a/.", ["a"], True, id="a dot at the end"),
        pytest.param("a/./", ["a"], True, id="both"),
        pytest.param(".", [], True, id="the root"),
        pytest.param("..", [".."], False, id="the parent, for the disk to judge"),
        pytest.param("a/../b", ["a", "..", "b"], False, id="up and down"),
        pytest.param("~a/b", ["~a", "b"], False, id="a tilde in a name"),
        pytest.param("a:b", ["a:b"], False, id="a colon in a name"),
        pytest.param("1:/b", ["1:", "b"], False, id="a digit is no drive"),
        pytest.param("\u00e9:/b", ["\u00e9:", "b"], False, id="nor is a letter beyond ASCII"),
        pytest.param("ab:/c", ["ab:", "c"], False, id="nor are two letters"),
        pytest.param("c:b", ["c:b"], False, id="nor is a letter without a slash"),
        pytest.param("\udcff", ["\udcff"], False, id="a byte that is no text"),
        pytest.param("./\udcff", ["\udcff"], False, id="behind a part that means nothing"),
        pytest.param(PART, [PART], False, id="a part of 255 bytes"),
        pytest.param("\u00e9" * 127 + "x", ["\u00e9" * 127 + "x"], False, id="a part of 255 bytes, half as many letters"),
        pytest.param("x/" * 254 + "x", ["x"] * 255, False, id="255 parts"),
        pytest.param("x/" * 255, ["x"] * 255, True, id="255 parts and a slash"),
        pytest.param("./" * 2047 + "x", ["x"], False, id="4,095 bytes, of which one means something"),
        pytest.param(f"{PART}/" * 15 + PART, [PART] * 16, False, id="4,095 bytes that all mean something"),
    ],
)
def test_names_that_pass(name: str, parts: list[str], *, directory: bool) -> None:
    """A name comes apart in parts, as text and as bytes, and tells whether it demands a directory."""
    expected = "/".join(parts) or "."

    assert read_name(name) == (parts, expected.encode("utf-8", "surrogateescape"), directory)


@pytest.mark.parametrize(
    ("name", "reason", "detail"),
    [
        pytest.param("", Reason.BAD_NAME, "an empty name", id="nothing"),
        pytest.param("/", Reason.ABSOLUTE, "an absolute path; names are relative to the root folder", id="a slash"),
        pytest.param("/a", Reason.ABSOLUTE, "an absolute path; names are relative to the root folder", id="an absolute path"),
        pytest.param("c:/a", Reason.ABSOLUTE, "an absolute path; names are relative to the root folder", id="a drive"),
        pytest.param("C:\\a", Reason.ABSOLUTE, "an absolute path; names are relative to the root folder", id="a drive and a backslash"),
        pytest.param("~", Reason.HOME, "a path in a home folder; names are relative to the root folder", id="home"),
        pytest.param("~/a", Reason.HOME, "a path in a home folder; names are relative to the root folder", id="a path in it"),
        pytest.param("a\0b", Reason.BAD_NAME, "no file can have this name: it holds a NUL", id="a NUL"),
        pytest.param("/a\0b", Reason.BAD_NAME, "no file can have this name: it holds a NUL", id="a NUL in an absolute path"),
        pytest.param("\ud800", Reason.BAD_NAME, "no file can have this name: it holds a character that cannot be written to disk", id="half a character"),
        pytest.param(PART + "x", Reason.BAD_NAME, "no file can have this name: it is too long", id="a part of 256 bytes"),
        pytest.param("a/" + "\u00e9" * 128, Reason.BAD_NAME, "no file can have this name: it is too long", id="a part of 256 bytes, half as many letters"),
        pytest.param("x/" * 255 + "x", Reason.BAD_NAME, "no file can have this name: it is too long", id="256 parts"),
        pytest.param("./" * 2047 + "xx", Reason.BAD_NAME, "no file can have this name: it is too long", id="4,096 bytes, most of which mean nothing"),
        pytest.param(f"{PART}/" * 16, Reason.BAD_NAME, "no file can have this name: it is too long", id="4,096 bytes"),
    ],
)
def test_error_names_that_do_not(name: str, reason: Reason, detail: str) -> None:
    """What can name nothing inside a root is refused before any disk is asked."""
    assert read_name(name) == Trouble(reason, detail)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param(["a", "b"], ["a", "b"], id="nothing to fold"),
        pytest.param(["a", "..", "b"], ["b"], id="one up"),
        pytest.param(["a", "b", "..", ".."], [], id="all of it"),
        pytest.param(["..", "a"], ["a"], id="above the root is the root, for a name alone"),
        pytest.param(["a", "b", "c", ".."], ["a", "b"], id="the last one only"),
    ],
)
def test_fold(parts: list[str], expected: list[str]) -> None:
    """Each `..` takes one part away; without one the very list comes back, which says that there was none."""
    assert fold(parts) == expected
    assert (fold(parts) is parts) is (".." not in parts)


def test_clean() -> None:
    """Empty parts and dots go; what only looks like them stays."""
    assert clean(["", "a", ".", "..", "...", " ", ""]) == ["a", "..", "...", " "]


@pytest.mark.parametrize(
    ("number", "directory", "expected"),
    [
        pytest.param(errno.ENOENT, False, troubles.NO_FILE, id="no file"),
        pytest.param(errno.ENOENT, True, troubles.NO_FOLDER, id="no folder, where one was demanded"),
        pytest.param(errno.ENOTDIR, True, troubles.NOT_A_FOLDER, id="a file, where a folder was demanded"),
        pytest.param(errno.ENOTDIR, False, Trouble(Reason.NOT_REGULAR, "a part of the path is a file, not a folder"), id="a file on the way"),
        pytest.param(errno.EACCES, True, Trouble(Reason.PERMISSION, "permission denied"), id="what a demand does not change"),
        pytest.param(None, False, Trouble(Reason.PERMISSION, "permission denied"), id="no number: the host forbade it"),
        pytest.param(None, True, Trouble(Reason.PERMISSION, "permission denied"), id="no number, and a demand"),
        pytest.param(0, False, Trouble(Reason.IO_ERROR, "the disk or file system failed"), id="a number that means nothing"),
        pytest.param(errno.EIO, True, Trouble(Reason.IO_ERROR, "the disk or file system failed"), id="the disk"),
    ],
)
def test_what_numbers_mean(number: int | None, expected: Trouble, *, directory: bool) -> None:
    """A number of the system becomes a reason and a sentence of ours; a demand for a folder changes two of them."""
    assert explain(number, directory=directory) == expected


def test_numbers_without_a_demand() -> None:
    """By default no folder was demanded."""
    assert explain(errno.ENOENT) is troubles.NO_FILE


@pytest.mark.parametrize(
    ("allow", "expected"),
    [
        pytest.param([], set(), id="nothing"),
        pytest.param([".env"], {".env"}, id="a name"),
        pytest.param(("./a//.env", "b/../.netrc"), {"a/.env", ".netrc"}, id="names that are not tidy"),
        pytest.param({"a/.env/"}, {"a/.env"}, id="a slash at the end"),
    ],
)
def test_names_that_are_allowed(allow: list[str], expected: set[str]) -> None:
    """Names are kept as an opened file would be called."""
    assert read_allow(allow) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("a.py", True, id="a name"),
        pytest.param("...", True, id="three dots"),
        pytest.param("\udcff", True, id="a byte that is no text"),
        pytest.param("", False, id="nothing"),
        pytest.param(".", False, id="the folder itself"),
        pytest.param("..", False, id="the folder above"),
        pytest.param("a/b", False, id="two names"),
        pytest.param("a\0b", False, id="a NUL"),
        pytest.param("\ud800", False, id="a surrogate that stands for no byte"),
    ],
)
def test_what_a_file_in_a_folder_can_be_called(name: str, *, expected: bool) -> None:
    """What a listing has and nobody could ask for again is no name."""
    assert is_name(name) is expected


@pytest.mark.parametrize(
    ("allow", "named", "expected"),
    [
        pytest.param(".env", ".env", "a collection of names", id="one name"),
        pytest.param(b".env", b".env", "a collection of names", id="bytes"),
        pytest.param(7, 7, "a collection of names", id="a number"),
        pytest.param([".env", b"a"], b"a", "a collection of names, each a str", id="bytes in it"),
    ],
)
def test_error_names_of_another_type(allow: object, named: object, expected: str) -> None:
    """What is allowed is a collection of text, and the error says what was found in its place."""
    with pytest.raises(OptionTypeError) as caught:
        read_allow(allow)

    assert (caught.value.option, caught.value.value) == ("allow", named)
    assert str(caught.value) == f"`allow` must be {expected}, not {named!r}"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("a/b", "a/b", id="a path"),
        pytest.param("~x", "~x", id="a tilde in front of a name"),
        pytest.param("~", "./~", id="a folder called like a home"),
        pytest.param("~/a", "./~/a", id="a file in it"),
        pytest.param("c:/a", "./c:/a", id="a file in a folder called like a drive"),
    ],
)
def test_path_that_passes_the_gate(path: str, expected: str) -> None:
    """What exists can be asked for again, also where its name looks like that of a home or a drive."""
    assert openable(path) == expected
    assert not isinstance(read_name(expected), Trouble)
