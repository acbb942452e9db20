"""How much is shown: where a file is cut, which file pays, and that nothing of it is silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs.agentsmd.budgets import Ledger, Ledgers, cut, lowest
from filerefs.agentsmd.discovery import discover
from filerefs.agentsmd.documents import Omission
from filerefs.agentsmd.profiles import CHAIN, CODEX, DEFAULT, EINO, PROJECTCTX
from filerefs.agentsmd.reading import read_text
from filerefs.limits import utf8_length
from filerefs.outcomes import Reason
from filerefs.root import Trouble

if TYPE_CHECKING:
    from conftest import Tree

GIT = {".git/HEAD": "x"}


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        pytest.param("one\n\ntwo\n", None, "one\n\ntwo\n", id="no limit"),
        pytest.param("one\n\ntwo\n", 9, "one\n\ntwo\n", id="it fits exactly"),
        pytest.param("one more\n\ntwo\nthree\n", 16, "one more", id="at the end of a paragraph"),
        pytest.param("a\n\nline one\nline two\nline three\n", 24, "a\n\nline one\nline two", id="at the end of a line, where the paragraph began early"),
        pytest.param("a\n\n" + "word " * 20, 50, "a", id="not inside of a line, where something was said before"),
        pytest.param("€" * 10, 8, "€€", id="between two characters, where nothing was"),
        pytest.param("text here\n\n# Heading\n\nbelow it\n", 24, "text here", id="without a heading left behind"),
        pytest.param("# Heading\n\n```\na\nb\nc\n```\n", 20, "", id="not with a heading alone"),
        pytest.param("text\n\n```\na\nb\nc\n```\nmore\n", 14, "text", id="before a fenced block"),
    ],
)
def test_where_a_file_is_cut(text: str, limit: int | None, expected: str) -> None:
    """Behind a paragraph, else a line; not into a sentence, a character or a fenced block; no heading left behind."""
    assert expected == cut(text, limit).text


def test_a_cut_says_so(tree: Tree) -> None:
    """In the text, in the document, and to the person."""
    [doc] = (found := discover(tree({"AGENTS.md": "line\n" * 100}), file_bytes=53)).docs

    assert doc.text == "line\n" * 9 + "line\n\n[... cut: 49 of 500 bytes are shown ...]"
    assert (True, 500, utf8_length(doc.text)) == (doc.truncated, doc.size, doc.shown)
    assert ["AGENTS.md was cut by the limit of one file: 49 B of 500 B are shown"] == list(found.warnings)


@pytest.mark.parametrize(
    ("profile", "mark"),
    [
        pytest.param(DEFAULT, "[... cut: 7 of 228 bytes are shown; a fenced block that does not fit is left out as a whole ...]", id="default"),
        pytest.param(PROJECTCTX, "[... truncated at 40 bytes; a fenced block that does not fit is left out as a whole ...]", id="projectctx"),
    ],
)
def test_a_block_that_does_not_fit(profile: Any, mark: str, tree: Tree) -> None:
    """It is left out as a whole, however little is left, and the mark says so."""
    found = discover(tree({"AGENTS.md": "Do run:\n\n```sh\n" + "make\n" * 42 + "```"}), profile=profile, file_bytes=40)

    assert [f"Do run:\n\n{mark}"] == [doc.text for doc in found]


def test_nothing_but_a_block_that_does_not_fit(tree: Tree) -> None:
    """A file that would have to be torn is left out, and the person is told."""
    found = discover(tree({"AGENTS.md": "# Run\n\n```sh\n" + "make\n" * 50 + "```\n"}), file_bytes=40)

    assert ((), [Omission.TOO_LARGE]) == (found.docs, [one.reason for one in found.omitted])
    assert ["AGENTS.md (267 B) was left out: the limit of one file is 40 B"] == list(found.warnings)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"budget": None, "file_bytes": None}, ["r" * 30, "m" * 20, "n" * 10], id="no limit"),
        pytest.param({"budget": 60}, ["r" * 30, "m" * 20, "n" * 10], id="all fit exactly"),
        pytest.param({"budget": 59}, ["r" * 29, "m" * 20, "n" * 10], id="the farthest is cut"),
        pytest.param({"budget": 30}, ["m" * 20, "n" * 10], id="the farthest is left out"),
        pytest.param({"budget": 15}, ["m" * 5, "n" * 10], id="the middle one is cut"),
        pytest.param({"budget": 5}, ["n" * 5], id="even the nearest is cut"),
        pytest.param({"budget": 0}, [], id="nothing at all"),
        pytest.param({"file_bytes": 0}, [], id="nothing of any file"),
        pytest.param({"file_bytes": 15}, ["r" * 15, "m" * 15, "n" * 10], id="each up to its limit"),
        pytest.param({"budget": 60, "profile": CODEX}, ["r" * 30, "m" * 20, "n" * 10], id="from the root on: all fit exactly"),
        pytest.param({"budget": 45, "profile": CODEX}, ["r" * 30, "m" * 15], id="from the root on: the nearest goes"),
        pytest.param({"budget": 45, "profile": CHAIN}, ["r" * 30, "n" * 10], id="whole files, from the root on"),
        pytest.param({"file_bytes": 25, "profile": CHAIN}, ["m" * 20, "n" * 10], id="whole files of a size"),
    ],
)
def test_which_file_pays(options: dict[str, Any], expected: list[str], tree: Tree) -> None:
    """The nearest file survives, unless the profile spends from the root on; the rest is reported."""
    folder = tree({**GIT, "AGENTS.md": "r" * 30, "a/AGENTS.md": "m" * 20, "a/b/AGENTS.md": "n" * 10})

    found = discover(folder / "a/b", **options)

    assert expected == [doc.text.partition("\n\n[")[0] for doc in found]
    assert 3 == len(found) + len(found.omitted)
    assert all(any(one.name in warning for warning in found.warnings) for one in found.omitted if one.reason is not Omission.OFF)


def test_off_is_off(tree: Tree) -> None:
    """With a budget of 0 nothing is read, and everything is reported as switched off, without a warning for each."""
    found = discover(tree({"AGENTS.md": "x"}), budget=0)

    assert [Omission.OFF] == [one.reason for one in found.omitted]
    assert () == found.warnings


def test_a_free_user_file(tree: Tree) -> None:
    """By profile the user's own file is neither charged nor cut, also when the project is switched off."""
    folder = tree({"p/AGENTS.md": "P", "u.md": "u" * 100})

    assert ["u" * 100, "P"] == [doc.text for doc in discover(folder / "p", user_files=[folder / "u.md"], profile=CODEX, budget=1)]
    assert ["u" * 100] == [doc.text for doc in discover(folder / "p", user_files=[folder / "u.md"], profile=CODEX, budget=0)]


def test_user_and_extra_files_pay_last(tree: Tree) -> None:
    """The farther, the earlier it is cut: the user's before the extra ones, those before the project's."""
    folder = tree({"p/AGENTS.md": "P" * 10, "u.md": "U" * 10, "e.md": "E" * 10})

    found = discover(folder / "p", user_files=[folder / "u.md"], extra=[folder / "e.md"], budget=25)

    assert ["U" * 5, "E" * 10, "P" * 10] == [doc.text.partition("\n")[0] for doc in found]


@pytest.mark.parametrize("profile", [DEFAULT, CODEX], ids=lambda profile: profile.title)
def test_what_no_line_fits_into_is_left_out(profile: Any, tree: Tree) -> None:
    """Where nothing of a file can be shown, it is not there with a mark alone."""
    found = discover(tree({"AGENTS.md": "€" * 10}), budget=2, profile=profile)

    assert () == found.docs
    assert [Omission.OVER_BUDGET] == [one.reason for one in found.omitted]


def test_whole_files_are_too_large(tree: Tree) -> None:
    """A file over its limit is left out by profile, with its size."""
    found = discover(tree({"AGENTS.md": "x" * 5000}), profile=CHAIN, file_bytes=4999)

    assert [("AGENTS.md", 5000, Omission.TOO_LARGE)] == [(one.name, one.size, one.reason) for one in found.omitted]
    assert ["AGENTS.md (4.9 KB) was left out: the limit of one file is 4.9 KB"] == list(found.warnings)


def test_a_huge_file_is_not_read_as_a_whole(tree: Tree) -> None:
    """A terabyte that takes no disk is cut, or told to be no text, like any other."""
    found = discover(tree({"AGENTS.md": tree.sparse(1 << 40)}))

    assert ["not a text file"] == [problem.detail for problem in found.problems]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "utf-8-sig"])
def test_the_limit_is_what_is_shown(encoding: str, tree: Tree) -> None:
    """Bytes are those of UTF-8, however many the file has on disk."""
    text = "line of text\n" * 2000
    [doc] = discover(tree({"AGENTS.md": text.encode(encoding)}), file_bytes=20_000).docs

    assert text[: 13 * 1538].rstrip() == doc.text.partition("\n\n[")[0]


def test_trimming_does_not_hide_a_long_file(tree: Tree) -> None:
    """A file whose beginning is blank for longer than its limit is cut, not complete."""
    found = discover(tree({"AGENTS.md": " " * 50_000 + "text"}), file_bytes=10)

    assert () == found.docs
    assert [Omission.TOO_LARGE] == [one.reason for one in found.omitted]


@given(sizes=st.lists(st.integers(0, 50), max_size=8), total=st.integers(0, 120))
def test_a_ledger_never_overspends(sizes: list[int], total: int) -> None:
    """What is shown within the room adds up to the total at most."""
    ledger = Ledger(total, "cut")
    for size in sizes:
        ledger.spend(min(size, ledger.room or 0))

    assert ledger.spent <= total
    assert not ledger.is_overdrawn
    ledger.close()
    assert 0 == ledger.room


def test_a_ledger_of_units_has_room_until_it_is_overdrawn() -> None:
    """One that is used up exactly takes one more, which then has to go; after that nothing fits."""
    ledger = Ledger(10, "unit")
    ledger.spend(10)

    assert (None, False) == (ledger.room, ledger.is_overdrawn)
    ledger.spend(1)
    assert (0, True) == (ledger.room, ledger.is_overdrawn)


def test_ledgers_are_shared_as_the_rules_say() -> None:
    """One for all; or one for each root, and none for the user's files."""
    shared, each = Ledgers(DEFAULT), Ledgers(CODEX)

    assert shared.of("user", "") is shared.of("chain", "a")
    assert each.of("chain", "a") is not each.of("chain", "b")
    assert each.of("extra", "a") is each.of("chain", "a")
    assert each.of("user", "a").room is None


@pytest.mark.parametrize(("one", "other", "expected"), [(None, None, None), (1, None, 1), (None, 2, 2), (3, 2, 2), (0, None, 0)])
def test_lowest(one: int | None, other: int | None, expected: int | None) -> None:
    """None is no limit."""
    assert expected == lowest(one, other)


def test_first_files_are_whole_by_existence_not_by_place(tree: Tree) -> None:
    """Where the first file that was named is missing, the second one is the first that is there."""
    folder = tree({"big.md": "x" * 10})

    found = discover(folder, profile=EINO, extra=[folder / "none.md", folder / "big.md"], budget=3)

    assert ["x" * 10] == [doc.text for doc in found]


class _Failing:
    """A file whose disk fails."""

    size = 10

    def read(self, limit: int | None) -> Trouble:
        assert limit is None or limit > 0
        return Trouble(Reason.IO_ERROR, "the disk or file system failed")


@pytest.mark.parametrize("limit", [None, 10])
def test_a_disk_that_fails(limit: int | None) -> None:
    """It is trouble with this file, as it comes."""
    assert Trouble(Reason.IO_ERROR, "the disk or file system failed") == read_text(cast("Any", _Failing()), limit, undecodable="guess")


@pytest.mark.parametrize(
    ("data", "text", "encoding", "caution"),
    [
        pytest.param(b"caf\xe9 au lait", "caf\ufffd au lait", "utf-8", "has bytes that are no valid text, shown as U+FFFD", id="a legacy encoding"),
        pytest.param("a b c d".encode("utf-16-le"), "a b c d", "utf-16-le", "was decoded as utf-16-le, which is a guess", id="pairs of bytes without a mark"),
        pytest.param(b"plain", "plain", "utf-8", "", id="plain text"),
    ],
)
def test_bytes_that_are_replaced(data: bytes, text: str, encoding: str, caution: str, tree: Tree) -> None:
    """By profile nothing is guessed about single bytes; what is shown and what is said of it fit together."""
    found = discover(tree({"AGENTS.md": data}), profile=CODEX)

    assert [(text, encoding)] == [(doc.text, doc.encoding) for doc in found]
    assert ([f"AGENTS.md {caution}"] if caution else []) == list(found.warnings)
