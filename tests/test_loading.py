"""One outcome for each file, within the limits, in order of first mention: real folders, a table for each rule."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs import Attached, Limits, Outcome, Reason, Refused, Root, load, parse
from filerefs.errors import OptionError, OptionTypeError, RootClosedError, RootNotFoundError
from filerefs.limits import KIB
from filerefs.loading import load_all, merge_ranges, straighten
from filerefs.mentions import Range, scan
from filerefs.root import Node, Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .conftest import Tree

NUMBERS = "".join(f"{number}\n" for number in range(1, 11))
needs_ordinary_user = pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not bind the superuser")


@pytest.fixture
def project(tree: Tree) -> Path:
    """Return a folder with a file of ten lines, some others, and links."""
    return tree(
        {
            "n.txt": NUMBERS,
            "a.py": "print()\n",
            "b.py": "pass\n",
            "empty.txt": "",
            "my file.txt": NUMBERS,
            "docs/x.md": "x\n",
            "pic.png": b"\x89PNG\r\n\x1a\n" + bytes(40),
            "bin.dat": bytes(range(256)),
            "pipe": tree.fifo(),
            "hard.py": tree.hard_link("a.py"),
            "soft.py": tree.link("a.py"),
            "@scope/x.md": "x\n",
        }
    )


def outcomes(message: str, project: Path, **options: Any) -> list[Outcome]:
    """Return what becomes of *message*."""
    found = load(parse(message), project, **options)
    assert [outcome.spans[0] for outcome in found] == sorted(outcome.spans[0] for outcome in found)
    return found


def brief(found: list[Outcome]) -> list[str]:
    """Return each outcome in a word: `path`, `path [lines]` or `path !reason`, with how often it is named where that is not once."""
    words = []
    for outcome in found:
        times = f" x{len(outcome.spans)}" if len(outcome.spans) > 1 else ""
        if isinstance(outcome, Refused):
            words.append(f"{outcome.path} !{outcome.reason}{times}")
        else:
            lines = "" if outcome.lines is None else f" {[list(pair) for pair in outcome.lines]}"
            words.append(f"{outcome.path}{lines}{times}")
    return words


def only(message: str, project: Path, **options: Any) -> Attached:
    """Return the one thing that *message* attaches."""
    (outcome,) = outcomes(message, project, **options)
    assert isinstance(outcome, Attached), outcome
    return outcome


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("@a.py and @b.py", ["a.py", "b.py"], id="two files"),
        pytest.param("@b.py, @a.py, @b.py", ["b.py x2", "a.py"], id="order is that of the first mention"),
        pytest.param("@a.py @./a.py @docs/../a.py", ["a.py x3"], id="one file, three spellings"),
        pytest.param("@a.py @hard.py", ["a.py x2"], id="a hard link is the same file"),
        pytest.param("@hard.py @a.py", ["hard.py x2"], id="named by what was typed first"),
        pytest.param("@docs @docs/", ["docs x2"], id="a folder with and without its slash"),
        pytest.param("@nope.py @./nope.py @nope.py/", ["nope.py !not_found x3"], id="one miss, three spellings"),
        pytest.param("@nope.py @other.py", ["nope.py !not_found", "other.py !not_found"], id="two misses"),
        pytest.param("@alice and @bob", [], id="words leave nothing"),
        pytest.param("@a.py @nope.py @b.py", ["a.py", "nope.py !not_found", "b.py"], id="trouble with one costs no other"),
        pytest.param("@soft.py", ["soft.py !symlink"], id="a link"),
        pytest.param("@pipe", ["pipe !not_regular"], id="a pipe"),
        pytest.param("@bin.dat", ["bin.dat !binary"], id="a binary"),
        pytest.param("@pic.png", ["pic.png"], id="an image"),
        pytest.param("@empty.txt", ["empty.txt"], id="an empty file"),
        pytest.param("@.", ["."], id="the root"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_one_outcome_a_file(project: Path, message: str, expected: list[str]) -> None:
    """A file is one outcome, however often and however spelled it is named."""
    assert brief(outcomes(message, project)) == expected


@pytest.mark.parametrize(
    ("message", "expected", "text"),
    [
        pytest.param("@n.txt:2-3", ["n.txt [[2, 3]]"], "2\n3\n", id="lines"),
        pytest.param("@n.txt:2 @n.txt:5-6", ["n.txt [[2, 2], [5, 6]] x2"], "2\n5\n6\n", id="two slices"),
        pytest.param("@n.txt:5 @n.txt:2", ["n.txt [[2, 2], [5, 5]] x2"], "2\n5\n", id="in the order of the file"),
        pytest.param("@n.txt:2-4 @n.txt:3-6", ["n.txt [[2, 6]] x2"], "2\n3\n4\n5\n6\n", id="overlapping"),
        pytest.param("@n.txt:2-3 @n.txt:4-5", ["n.txt [[2, 5]] x2"], "2\n3\n4\n5\n", id="touching"),
        pytest.param("@n.txt:2 @n.txt", ["n.txt x2"], NUMBERS, id="the whole absorbs a slice"),
        pytest.param("@n.txt @n.txt:2", ["n.txt x2"], NUMBERS, id="whichever comes first"),
        pytest.param("@n.txt:9-99", ["n.txt [[9, 10]]"], "9\n10\n", id="partly behind the end"),
        pytest.param("@n.txt:3-2", ["n.txt [[2, 3]]"], "2\n3\n", id="swapped"),
        pytest.param("@n.txt:0", ["n.txt [[1, 1]]"], "1\n", id="zero"),
        pytest.param("@n.txt:0-2", ["n.txt [[1, 2]]"], "1\n2\n", id="from zero"),
        pytest.param("@n.txt:9-", ["n.txt [[9, 10]]"], "9\n10\n", id="to the end"),
        pytest.param("@n.txt:7- @n.txt:9", ["n.txt [[7, 10]] x2"], "7\n8\n9\n10\n", id="an open end absorbs"),
        pytest.param('@"my file.txt":2 @"./my file.txt":3', ["my file.txt [[2, 3]] x2"], "2\n3\n", id="quoted"),
    ],
)
def test_lines(project: Path, message: str, expected: list[str], text: str) -> None:
    """Slices of a file are one outcome: straightened, merged, in the order of the file."""
    found = outcomes(message, project)

    assert brief(found) == expected
    assert isinstance(found[0], Attached)
    assert found[0].text == text
    assert found[0].size == len((project / found[0].path).read_bytes())


@pytest.mark.parametrize(
    ("message", "expected", "detail"),
    [
        pytest.param("@n.txt:11", ["n.txt !bad_range"], "the file has 10 lines", id="behind the end"),
        pytest.param("@n.txt:11-20 @n.txt:99", ["n.txt !bad_range x2"], "the file has 10 lines", id="two of them"),
        pytest.param("@a.py:2", ["a.py !bad_range"], "the file has 1 line", id="one line is singular"),
        pytest.param("@empty.txt:1", ["empty.txt !bad_range"], "the file has no lines", id="an empty file"),
        pytest.param("@n.txt:99 @n.txt:2", ["n.txt !bad_range", "n.txt [[2, 2]]"], "the file has 10 lines", id="beside lines that are there"),
        pytest.param("@n.txt:2 @n.txt:99", ["n.txt [[2, 2]]", "n.txt !bad_range"], "the file has 10 lines", id="behind lines that are there"),
    ],
)
def test_error_lines_that_do_not_exist(project: Path, message: str, expected: list[str], detail: str) -> None:
    """Lines wholly behind the end are refused with how many there are; others of the same file are shown."""
    found = outcomes(message, project)

    assert brief(found) == expected
    assert [outcome.detail for outcome in found if isinstance(outcome, Refused)] == [detail]


@pytest.mark.parametrize(
    ("message", "notes"),
    [
        pytest.param("@n.txt", [], id="nothing to say"),
        pytest.param("@n.txt:9-99", ["`:9-99` ends behind the last line, which is 10"], id="clamped at the end"),
        pytest.param("@n.txt:5-2", ["`:5-2` was read as `:2-5`"], id="swapped"),
        pytest.param("@n.txt:0-2", ["`:0-2`: lines are counted from 1"], id="zero"),
        pytest.param("@n.txt:0-2 @n.txt:0-2", ["`:0-2`: lines are counted from 1"], id="said once"),
        pytest.param("@n.txt:0-2 @n.txt:9-7", ["`:0-2`: lines are counted from 1", "`:9-7` was read as `:7-9`"], id="of two mentions"),
        pytest.param("@docs/:3", ["`:3` means nothing here: no lines"], id="lines of a folder"),
        pytest.param("@pic.png:3", ["`:3` means nothing here: no lines"], id="lines of an image"),
        pytest.param("@n.txt#top", ["`#top` was not resolved; the whole file is shown"], id="an anchor"),
        pytest.param("@n.txt:main", ["`:main` was not resolved; the whole file is shown"], id="a symbol"),
        pytest.param("@n.txt @n.txt:9-99", ["`:9-99` ends behind the last line, which is 10"], id="clamped beside the whole"),
    ],
)
def test_notes(project: Path, message: str, notes: list[str]) -> None:
    """What was understood otherwise than it was typed is said, each once."""
    found = only(message, project)

    assert list(found.notes) == notes == found.remarks


@pytest.mark.parametrize(("number", "last"), [pytest.param(20, "`#x19`", id="all"), pytest.param(21, "1 more of this kind", id="one left out")])
def test_notes_of_one_kind_are_bounded(project: Path, number: int, last: str) -> None:
    """Twenty notes of a kind are made of one file, and the others are counted."""
    notes = only(" ".join(f"@a.py#x{index}" for index in range(number)), project).notes

    assert len(notes) == min(number, 21)
    assert notes[-1].startswith(last)


def test_what_is_said_of_an_encoding_comes_along(tree: Tree) -> None:
    """How a file was decoded, and whether that lost something, is the outcome's to tell."""
    project = tree(
        {
            "bad.txt": "caf\u00e9, caf\u00e9 ".encode() + b"\xff\n",
            "old.txt": "Gr\u00fc\u00dfe aus K\u00f6ln, sch\u00f6n, gr\u00f6\u00dfer, f\u00fcr Fu\u00dfg\u00e4nger\n".encode("cp1252") * 3,
        }
    )
    bad, old = only("@bad.txt", project), only("@old.txt", project)

    assert bad.total_lines is None, "nobody asked for lines, so nobody counts them"
    assert (bad.encoding, bad.lossy, bad.notes) == ("utf-8", True, ("some bytes are no valid text and are shown as U+FFFD",))
    assert (old.encoding, old.lossy, old.notes) == ("cp1252", False, ("decoded as cp1252, which is a guess",))


def test_lines_that_were_cut_are_not_said_to_be_behind_the_cut(tree: Tree) -> None:
    """Lines alone that are too much are cut, and that is all there is to say: which of them are shown stands with them."""
    found = only("@a.txt:2-900", tree({"a.txt": "line\n" * 1000}), limits=Limits(file_bytes=50))

    assert (found.lines, found.truncated, found.notes) == (((2, 11),), True, ())


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("`@docs/guide`", ["docs/guide"], id="a slash inside"),
        pytest.param("`@a.py`", ["a.py"], id="an extension"),
        pytest.param("`@docs`", [], id="a word, though the folder exists"),
        pytest.param("`@nope/x` `@nope.py`", [], id="nothing there"),
    ],
)
def test_mentions_in_code_that_name_something(tree: Tree, message: str, expected: list[str]) -> None:
    """A mention in code is told of if it looks like a path and names something."""
    with Root(tree({"docs/guide/x.md": "", "a.py": ""})) as root:
        assert [ref.path for ref in load_all(scan(message), root, Limits(), lenient=True).in_code] == expected


def test_folder_in_quotes(tree: Tree) -> None:
    """A name in quotes ends at its quote: no slash is put behind it."""
    project = tree({"my docs/x.md": ""})

    assert [only(message, project).replacements for message in ('@"my docs/"', "@my\\ docs/")] == [('"my docs"',)] * 2


def test_media_are_not_read_unless_asked_for(tree: Tree) -> None:
    """By default `load` names a picture and does not read it."""
    project = tree({"a.png": b"\x89PNG\r\n\x1a\n" + bytes(64)})
    found = only("@a.png", project)

    assert (found.kind, found.data, found.notes) == ("media", None, ())
    with Root(project) as root:
        assert load_all(scan("@a.png"), root, Limits(), lenient=True).outcomes == [found]


def test_links_that_stay_inside(project: Path) -> None:
    """Through an allowed link a file has the link's name, and its target is told; beside its target it is a twin."""
    found = only("@soft.py", project, symlinks="inside")
    assert (found.path, found.text, found.notes) == ("soft.py", "print()\n", ("a link to a.py",))

    found = only("@a.py @soft.py", project, symlinks="inside")
    assert (found.path, found.names, found.remarks) == ("a.py", ("soft.py",), ["soft.py is the same file"])


@pytest.mark.parametrize(
    ("message", "replacements"),
    [
        pytest.param("@a.py", ["a.py"], id="a file"),
        pytest.param("@./docs/../a.py", ["a.py"], id="the name on disk"),
        pytest.param("@docs", ["docs"], id="a folder"),
        pytest.param("@docs/", ["docs/"], id="a folder with its slash"),
        pytest.param("@docs/ then", ["docs/"], id="a folder with its slash, and words behind"),
        pytest.param("@.\\docs\\", ["docs/"], id="a folder with a backslash"),
        pytest.param("@.", ["."], id="the root"),
        pytest.param("@./", ["."], id="the root with a slash"),
        pytest.param('@"my file.txt"', ['"my file.txt"'], id="a name that needs quotes"),
        pytest.param('@"my file.txt":2-3', ['"my file.txt":2-3'], id="with lines"),
        pytest.param("@@scope/x.md", ['"@scope/x.md"'], id="an at-sign in the name"),
        pytest.param("@n.txt:2", ["n.txt:2"], id="a line"),
        pytest.param("@n.txt#L2-L3", ["n.txt:2-3"], id="lines in another form"),
        pytest.param("@n.txt:2:7", ["n.txt:2"], id="a column is left out"),
        pytest.param("@n.txt:7-7", ["n.txt:7-7"], id="a range of one line"),
        pytest.param("@n.txt:7–7", ["n.txt:7-7"], id="with a dash"),
        pytest.param("@n.txt#L7-L7", ["n.txt:7-7"], id="with letters"),
        pytest.param("@n.txt:5-2", ["n.txt:2-5"], id="swapped"),
        pytest.param("@n.txt:9-99", ["n.txt:9-10"], id="clamped"),
        pytest.param("@n.txt:9-", ["n.txt:9-10"], id="an open end that is known"),
        pytest.param("@n.txt:0", ["n.txt:1"], id="zero"),
        pytest.param("@pic.png:3", ["pic.png"], id="an image has no lines"),
        pytest.param("@docs:3", ["docs"], id="nor has a folder"),
        pytest.param("@a.py and @hard.py", ["a.py", "hard.py"], id="each mention keeps its name"),
    ],
)
def test_replacements(project: Path, message: str, replacements: list[str]) -> None:
    """A token becomes the plain path, with the lines that are shown."""
    assert list(only(message, project).replacements) == replacements


def test_lines_of_a_large_file_whose_end_is_not_known(tree: Tree) -> None:
    """Where the file was not read to its end, the lines stand as they were typed, and how many there are is not told."""
    project = tree({"big.txt": "x" * 99 + "\n" + ("y" * 99 + "\n") * 20_000})
    found = only("@big.txt:3-4 @big.txt:19990-", project)

    assert found.lines is not None
    assert found.lines[0] == (3, 4)
    assert list(found.replacements) == ["big.txt:3-4", "big.txt:19990-20001"]
    assert found.total_lines == 20_001

    found = only("@big.txt:3-", project)
    assert (found.total_lines, found.truncated, list(found.replacements)) == (None, True, ["big.txt:3-"])


def test_lines_behind_a_cut(tree: Tree) -> None:
    """Beside the whole file, which is cut, lines that are behind the cut are a warning."""
    project = tree({"big.txt": "x\n" * 300})
    found = only("@big.txt @big.txt:2 @big.txt:200-210", project, limits=Limits(file_bytes=100))

    assert found.truncated
    assert found.notes == ("`:200-210` is not shown: the file is cut in front of it",)
    assert found.cautions == ("cut to 100 B of 600 B", "`:200-210` is not shown: the file is cut in front of it")


@pytest.mark.parametrize(("last", "notes"), [pytest.param(50, (), id="the last line that is shown"), pytest.param(51, 1, id="the next")])
def test_lines_up_to_a_cut(tree: Tree, last: int, notes: object) -> None:
    """Lines that end where the cut falls are all shown."""
    found = only(f"@big.txt @big.txt:40-{last}", tree({"big.txt": "x\n" * 300}), limits=Limits(file_bytes=100))

    assert found.text.count("\n") == 50
    assert found.notes == (notes if notes == () else (f"`:40-{last}` is not shown: the file is cut in front of it",))


def test_lines_to_the_end_behind_a_cut(tree: Tree) -> None:
    """Lines to the end of a file that is cut are not all shown, wherever they begin."""
    notes = only("@a.txt @a.txt:2-", tree({"a.txt": "line\n" * 1000}), limits=Limits(file_bytes=50)).notes

    assert notes == ("`:2-` is not shown: the file is cut in front of it",)


def test_lines_behind_a_cut_are_told_once(tree: Tree) -> None:
    """The same lines named twice are one warning."""
    found = only("@big.txt @big.txt:200 @big.txt:200", tree({"big.txt": "x\n" * 300}), limits=Limits(file_bytes=100))

    assert len(found.cautions) == len(set(found.cautions))


BUDGET = [
    pytest.param("@n.txt @a.py", 29, ["n.txt", "a.py"], id="just fits"),
    pytest.param("@n.txt @a.py", 28, ["n.txt", "a.py !budget"], id="one byte too little"),
    pytest.param("@n.txt @a.py @b.py", 28, ["n.txt", "a.py !budget", "b.py !budget"], id="nothing fits behind what did not"),
    pytest.param("@b.py @n.txt @a.py @empty.txt", 20, ["b.py", "n.txt !budget", "a.py !budget", "empty.txt !budget"], id="not even an empty file"),
    pytest.param("@n.txt @n.txt", 21, ["n.txt x2"], id="a file counts once"),
    pytest.param("@n.txt:1-2 @a.py", 12, ["n.txt [[1, 2]]", "a.py"], id="a slice counts as what it shows"),
    pytest.param("@docs @a.py", 10, ["docs !budget", "a.py !budget"], id="a listing counts"),
    pytest.param("@pic.png @empty.txt", 0, ["pic.png", "empty.txt"], id="what shows nothing costs nothing"),
    pytest.param("@n.txt @nope.py", 0, ["n.txt !budget", "nope.py !not_found"], id="a miss is a miss"),
    pytest.param(
        "@n.txt:99 @n.txt:1-5 @a.py", 5, ["n.txt !bad_range", "n.txt !budget", "a.py !budget"], id="lines that do not exist and lines that do not fit"
    ),
    pytest.param("@n.txt @a.py", None, ["n.txt", "a.py"], id="no limit"),
]


@pytest.mark.parametrize(("message", "total", "expected"), BUDGET)
def test_total(project: Path, message: str, total: int | None, expected: list[str]) -> None:
    """First named, first served: what would pass the total is refused, and so is all that comes later."""
    assert brief(outcomes(message, project, limits=Limits(total_bytes=total))) == expected


def test_what_the_budget_says(project: Path) -> None:
    """The refusal says what the total is."""
    (refused,) = outcomes("@n.txt", project, limits=Limits(total_bytes=0))
    assert isinstance(refused, Refused)
    assert refused.detail == "there is no room for it in the total of 0 B for one message"

    (_, refused) = outcomes("@b.py @n.txt", project, limits=Limits(total_bytes=20))

    assert isinstance(refused, Refused)
    assert refused.detail == "there is no room for it in the total of 20 B for one message"


@pytest.mark.parametrize(
    ("message", "limit", "expected"),
    [
        pytest.param("@a.py @b.py @n.txt", 3, ["a.py", "b.py", "n.txt"], id="just fits"),
        pytest.param("@a.py @b.py @n.txt @nope.py", 2, ["a.py", "b.py", "n.txt !too_many x2"], id="the rest is one outcome"),
        pytest.param("@a.py @b.py @a.py @n.txt @b.py", 2, ["a.py x2", "b.py x2", "n.txt !too_many"], id="what was named before is not too many"),
        pytest.param("@nope.py @n.txt @gone.py", 1, ["nope.py !not_found", "n.txt !too_many x2"], id="misses count"),
        pytest.param("@alice @bob @a.py", 1, ["a.py"], id="words do not"),
        pytest.param("@a.py @nope.py", 0, ["a.py !too_many x2"], id="nothing is allowed"),
        pytest.param("@a.py @nope.py", None, ["a.py", "nope.py !not_found"], id="no limit"),
    ],
)
def test_number_of_outcomes(project: Path, message: str, limit: int | None, expected: list[str]) -> None:
    """After so many outcomes the rest is one outcome."""
    found = outcomes(message, project, limits=Limits(refs=limit))

    assert brief(found) == expected
    for outcome in found:
        if isinstance(outcome, Refused) and outcome.reason is Reason.TOO_MANY:
            assert outcome.detail == f"more than {limit} reference{'' if limit == 1 else 's'} in one message"


def test_more_lookups_than_a_turn_makes(tree: Tree) -> None:
    """When lookups are spent, what is left is one outcome that says so, and words stay words."""
    project = tree({"src/a.py": ""})
    message = " ".join(f"@src/x{number}.py" for number in range(4_200)) + " @alice"
    found = outcomes(message, project, limits=Limits(refs=None))

    assert isinstance(found[-1], Refused)
    assert (found[-1].reason, found[-1].detail) == (Reason.TOO_MANY, "not looked up: a turn looks up 4096 names at most")
    assert 4_000 < len(found) <= 4_097
    assert len(found) - 1 + len(found[-1].spans) == 4_200
    with Root(project) as root:
        spent = [load_all(scan(text), root, Limits(refs=None), lenient=True).spent for text in (message, "@alice")]
    assert spent == [True, False]


@pytest.mark.parametrize("cap", [0, 5, 100, None])
def test_cap_of_one_file(project: Path, cap: int | None) -> None:
    """A file is shown up to its cap, and whether that is all is told."""
    found = only("@n.txt", project, limits=Limits(file_bytes=cap))

    assert NUMBERS.startswith(found.text)
    assert found.shown == len(found.text.encode()) <= (21 if cap is None else cap)
    assert found.truncated is (found.text != NUMBERS)


def test_default_cap(tree: Tree) -> None:
    """Exactly 200 KiB is whole, one byte more is cut."""
    project = tree({"cap.txt": "y" * (200 * KIB), "big.txt": "x" * (200 * KIB + 1)})
    whole, big = outcomes("@cap.txt @big.txt", project)

    assert isinstance(whole, Attached)
    assert isinstance(big, Attached)
    assert (whole.truncated, whole.shown) == (False, 200 * KIB)
    assert (big.truncated, big.shown, big.size) == (True, 200 * KIB, 200 * KIB + 1)


def test_fields_of_what_is_attached(project: Path) -> None:
    """Language, encoding and the number of entries come with it."""
    file, folder, image = outcomes("@a.py @docs @pic.png", project)

    assert isinstance(file, Attached)
    assert isinstance(folder, Attached)
    assert isinstance(image, Attached)
    assert (file.kind, file.language, file.encoding, file.lossy) == ("file", "python", "utf-8", False)
    assert (folder.kind, folder.language, folder.encoding, folder.entries, folder.size) == ("directory", "", None, 1, 0)
    assert (image.kind, image.language, image.media_type, image.text, image.shown) == ("media", "", "image/png", "", 0)


@pytest.mark.parametrize("refs", [pytest.param(list, id="a list"), pytest.param(tuple, id="a tuple"), pytest.param(iter, id="an iterator")])
def test_load_takes_any_iterable(project: Path, refs: Any) -> None:
    """References may come from anywhere."""
    assert brief(load(refs(parse("@a.py @b.py")), project)) == ["a.py", "b.py"]


def test_load_with_an_open_root(project: Path) -> None:
    """A root that is given open stays open, and its own policy holds."""
    with Root(project, symlinks="inside", allow=()) as root:
        assert brief(load(parse("@soft.py"), root, symlinks="refuse")) == ["soft.py"]
        assert not root.closed


def test_options_that_hold_with_an_open_root(project: Path) -> None:
    """Of a root that is given open, too, names with blanks are tried and media are read, as asked."""
    with Root(project) as root:
        assert brief(load(parse("@my file.txt now"), root)) == ["my file.txt"]
        assert brief(load(parse("@my file.txt now"), root, lenient=False)) == []
        (picture,) = load(parse("@pic.png"), root, media=True)
        (name,) = load(parse("@pic.png"), root)

    assert isinstance(picture, Attached)
    assert isinstance(name, Attached)
    assert picture.data == (project / "pic.png").read_bytes()
    assert name.data is None


def test_error_allowing_more_than_an_open_root(project: Path) -> None:
    """A root that is given open has names of its own that it allows."""
    with Root(project) as root, pytest.raises(OptionError) as caught:
        load(parse("@a.py"), root, allow=(".env",))

    assert caught.value.option == "allow"


def test_error_refs_that_are_none(project: Path) -> None:
    """What is no reference, such as the message itself, is named in the error."""
    with pytest.raises(OptionTypeError) as caught:
        load("@a.py", project)  # type: ignore[arg-type]

    assert (caught.value.option, caught.value.value) == ("refs", "@a.py")
    assert str(caught.value) == "`refs` must be what `parse` returned, not '@a.py'"


def test_folder_with_an_extension_has_no_language(tree: Tree) -> None:
    """A language is that of a file."""
    project = tree({"next.js/x": "1\n"})

    assert (only("@next.js", project).kind, only("@next.js", project).language) == ("directory", "")


def test_load_in_the_working_directory(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a root the working directory is it."""
    monkeypatch.chdir(project)

    assert brief(load(parse("@a.py"))) == ["a.py"]


def test_words_are_joined_unless_that_is_switched_off(project: Path) -> None:
    """An unquoted name with blanks is found by load, if it may be."""
    assert brief(outcomes("@my file.txt now", project)) == ["my file.txt"]
    assert brief(outcomes("@my file.txt now", project, lenient=False)) == []


def test_allow_opens_exactly_those_names(tree: Tree) -> None:
    """A secret is refused unless exactly its name is allowed."""
    project = tree({".env": "A=1\n", "sub/.env": "B=2\n"})

    assert brief(outcomes("@.env @sub/.env", project)) == [".env !secret", "sub/.env !secret"]
    assert brief(outcomes("@.env @sub/.env", project, allow=(".env",))) == [".env", "sub/.env !secret"]


@needs_ordinary_user
def test_closed_files(tree: Tree) -> None:
    """A file that may not be read is refused."""
    project = tree({"closed.txt": tree.mode(0, "x")})

    assert brief(outcomes("@closed.txt", project)) == ["closed.txt !permission"]


def test_many_files_at_once(tree: Tree) -> None:
    """More files than are kept open are opened a second time."""
    project = tree({f"{number:03}.txt": f"{number}\n" for number in range(100)})
    found = outcomes(" ".join(f"@{number:03}.txt" for number in range(100)), project)

    assert [cast("Attached", outcome).text for outcome in found] == [f"{number}\n" for number in range(100)]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        pytest.param({"symlinks": "follow"}, OptionError, id="an unknown policy"),
        pytest.param({"allow": ".env"}, OptionTypeError, id="a bare string for allow"),
        pytest.param({"root": "nope"}, RootNotFoundError, id="no such root"),
        pytest.param({"root": "a.py"}, RootNotFoundError, id="a file for a root"),
        pytest.param({"root": 7}, OptionTypeError, id="a number for a root"),
    ],
)
def test_error_misuse(project: Path, options: dict[str, Any], error: type[Exception]) -> None:
    """A mistake of the host raises, whatever the message."""
    if isinstance(options.get("root"), str):
        options["root"] = project / options["root"]
    with pytest.raises(error):
        load(parse("@a.py"), **{"root": project, **options})


@pytest.mark.parametrize("limits", [pytest.param(5, id="a number"), pytest.param("5", id="text"), pytest.param({"refs": 5}, id="a dict")])
def test_error_limits_of_another_type(project: Path, limits: object) -> None:
    """Limits are a `Limits`, and the error says so."""
    with pytest.raises(OptionTypeError):
        load(parse("@a.py"), project, limits=limits)  # type: ignore[arg-type]


def test_error_closed_root(project: Path) -> None:
    """A root that was closed serves no more."""
    root = Root(project)
    root.close()

    with pytest.raises(RootClosedError):
        load(parse("@a.py"), root)


@dataclass
class FakeFile:
    """A file with an identity of the test's choice."""

    name: str
    data: bytes
    identity: tuple[int, int] | None
    target: str | None = None
    kind: str = "file"
    stamp: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, limit: int | None) -> bytes:
        data, self.data = self.data, b""
        return data[:limit]

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@dataclass(eq=False)
class FakeRoot:
    """A root over fake files."""

    files: dict[str, FakeFile]

    def open(self, name: str) -> FakeFile | Trouble:
        file = self.files.get(name)
        return replace(file) if file else Trouble(Reason.NOT_FOUND, "no such file")


def load_fake(message: str, *files: FakeFile) -> list[str]:
    """Return what becomes of *message* where there are *files* and nothing else."""
    root = cast("Root", FakeRoot({file.name: file for file in files}))
    found = load_all(scan(message), root, Limits(), lenient=True).outcomes
    return [f"{outcome.path} {getattr(outcome, 'text', '')}" for outcome in found]


def test_file_that_was_let_go_of_and_is_gone(tree: Tree) -> None:
    """A file that was found, let go of, and deleted before it was read is refused."""
    project = tree({f"{number:02}.txt": "1\n" for number in range(60)})

    class Vanishing(Root):
        """A root that loses its last file once that was looked at."""

        def open(self, name: str) -> Node | Trouble:
            node = super().open(name)
            if name == "59.txt":
                (project / name).unlink(missing_ok=True)
            return node

    with Vanishing(project) as root:
        found = load(parse(" ".join(f"@{number:02}.txt" for number in range(60))), root)

    assert brief(found[-2:]) == ["58.txt", "59.txt !not_found"]


def test_files_without_identity_are_never_one() -> None:
    """Where the file system gives no inode, two names are two files, but one name is one."""
    one, other = FakeFile("a.txt", b"same", None), FakeFile("b.txt", b"same", None)

    assert load_fake("@a.txt @b.txt @a.txt", one, other) == ["a.txt same", "b.txt same"]


def test_files_of_one_identity_are_one() -> None:
    """Two names of one inode with one text are one block."""
    one, other = FakeFile("a.txt", b"same", (1, 2)), FakeFile("b.txt", b"same", (1, 2))

    assert load_fake("@a.txt @b.txt", one, other) == ["a.txt same"]


def test_files_of_one_identity_and_two_texts_are_two() -> None:
    """A file system that gives two files one number does not make one of them disappear."""
    one, other = FakeFile("a.txt", b"one", (1, 2)), FakeFile("b.txt", b"other", (1, 2))

    assert load_fake("@a.txt @b.txt", one, other) == ["a.txt one", "b.txt other"]


def test_files_of_one_identity_and_two_stamps_may_differ() -> None:
    """A file that was changed between two looks, or another with its number, is not taken for what was there before."""
    one, other = FakeFile("a.txt", b"one", (1, 2), stamp=(1, 2, 3, 4, 5)), FakeFile("b.txt", b"other", (1, 2), stamp=(1, 2, 5, 6, 7))

    assert load_fake("@a.txt @b.txt", one, other) == ["a.txt one", "b.txt other"]


class UnreadableFile(FakeFile):
    """A file that can be looked at, and not read."""

    def read(self, limit: int | None) -> Any:
        del limit
        return Trouble(Reason.IO_ERROR, "the disk or file system failed")


def test_files_of_one_identity_of_which_one_cannot_be_read() -> None:
    """What cannot be read is refused under its own name, and takes nothing away from the other."""
    one, other = FakeFile("a.txt", b"one", (1, 2)), UnreadableFile("b.txt", b"", (1, 2))
    root = cast("Root", FakeRoot({"a.txt": one, "b.txt": other}))

    assert brief(load_all(scan("@a.txt @b.txt"), root, Limits(), lenient=True).outcomes) == ["a.txt", "b.txt !io_error"]


def test_files_of_one_identity_named_in_turns() -> None:
    """Each name keeps its own text, in order of first mention, and its mentions stay together."""
    one, other = FakeFile("a.txt", b"one", (1, 2)), FakeFile("b.txt", b"other", (1, 2))

    assert load_fake("@a.txt @b.txt @a.txt @b.txt", one, other) == ["a.txt one", "b.txt other"]


class EndlessFile(FakeFile):
    """A file of a hundred gigabytes, of lines of 128 bytes."""

    size = 10**11

    def read(self, limit: int | None) -> bytes:
        return (b"x" * 127 + b"\n") * ((limit or 0) // 128)


def test_lines_that_lie_too_deep_beside_others() -> None:
    """Lines that can be reached are shown, those that cannot are refused."""
    root = cast("Root", FakeRoot({"a.log": EndlessFile("a.log", b"", (1, 2))}))
    found = load_all(scan("@a.log:900000000 @a.log:1-2 and @a.log:800000000"), root, Limits(), lenient=True).outcomes

    assert brief(found) == ["a.log !bad_range x2", "a.log [[1, 2]]"]
    assert isinstance(found[0], Refused)
    assert "64.0 MB deep" in found[0].detail

    found = load_all(scan("@a.log:900000000 and @a.log:2"), root, Limits(), lenient=True).outcomes
    assert brief(found) == ["a.log !bad_range", "a.log [[2, 2]]"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((3, 5), (3, 5)),
        ((5, 3), (3, 5)),
        ((0, 0), (1, 1)),
        ((0, 9), (1, 9)),
        ((9, 0), (1, 9)),
        ((0, None), (1, None)),
        ((7, None), (7, None)),
    ],
)
def test_straighten(lines: Range, expected: Range) -> None:
    """Lines are counted from 1, the first first."""
    assert straighten(lines) == expected


some_ranges = st.lists(st.tuples(st.integers(0, 30), st.one_of(st.none(), st.integers(0, 30))), max_size=8)


@given(some_ranges)
def test_merged_ranges_hold_the_same_lines(ranges: list[Range]) -> None:
    """Merging loses no line and adds none, and what is left is ascending and does not touch."""
    merged = merge_ranges(ranges)

    assert set(_lines(merged)) == set(_lines([straighten(one) for one in ranges]))
    assert all(before[1] is not None and before[1] + 1 < after[0] for before, after in pairwise(merged))


def _lines(ranges: list[Range]) -> Iterator[int]:
    for first, last in ranges:
        yield from range(first, (40 if last is None else last) + 1)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_name_that_is_no_text(tree: Tree) -> None:
    """A name of bytes that are no UTF-8 is read, and shown with an escape."""
    project = tree({"\udcff.txt": "1\n"})
    found = only('@"\\u{dcff}.txt"', project)

    assert (found.path, found.label, found.replacements) == ("\udcff.txt", "\\u{dcff}.txt", ('"\\u{dcff}.txt"',))


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        pytest.param([(3, None), (3, 5)], [(3, None)], id="an open range and a closed one from one line"),
        pytest.param([(3, 5), (3, None), (1, 2)], [(1, None)], id="an open end swallows what it touches"),
        pytest.param([(1, 2), (4, 5)], [(1, 2), (4, 5)], id="a line between them"),
        pytest.param([(1, 2), (3, 5)], [(1, 5)], id="they touch"),
        pytest.param([(1, 9), (2, 3)], [(1, 9)], id="one in the other"),
        pytest.param([(5, None), (9, 12)], [(5, None)], id="behind an open one"),
        pytest.param([], [], id="none"),
    ],
)
def test_merged_ranges(ranges: list[Range], expected: list[Range]) -> None:
    """Ranges that overlap or touch become one, and an open end stays open."""
    assert merge_ranges(ranges) == expected
