"""Mentions that a host knows of by itself, and a Preprocessor for another root: what editors need."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs import Limits, OptionError, OptionTypeError, Preprocessor, Ref, Root, SpanMismatchError
from filerefs.roots import MemoryRoot

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Tree

FILES = {"a.py": "ALPHA = 1\n", "b.py": "BRAVO = 2\n", "my file.txt": "blanks\n"}


@pytest.fixture
def folder(tree: Tree) -> Path:
    return tree(FILES)


def ref_at(message: str, token: str, path: str, lines: Any = None) -> Ref:
    """Return a mention of *path* where *token* stands in *message*."""
    start = message.index(token)
    end = start + len(token)
    return Ref(token, start, end, path, lines, quoted=True, message=message, run_end=end)


@pytest.mark.parametrize(
    ("message", "token", "path", "expected"),
    [
        pytest.param("see THIS please", "THIS", "a.py", "see a.py please", id="without an at-sign anywhere"),
        pytest.param("see THIS and @b.py", "THIS", "a.py", "see a.py and b.py", id="in front of a mention"),
        pytest.param("see @b.py and THIS", "THIS", "a.py", "see b.py and a.py", id="behind a mention"),
        pytest.param("see `THIS` and `@b.py`", "THIS", "a.py", "see `a.py` and `@b.py`", id="in code"),
        pytest.param("see @b.py", "@b.py", "a.py", "see a.py", id="in place of a mention"),
        pytest.param("see @b.py,THIS", "THIS", "a.py", "see @b.py,a.py", id="in the run of a mention"),
        pytest.param("see THIS", "THIS", "my file.txt", 'see "my file.txt"', id="a name that needs quotes"),
        pytest.param("see THIS", "THIS", "./nothing", "see THIS", id="what is not there"),
    ],
)
def test_given_mentions_are_read(folder: Path, message: str, token: str, path: str, expected: str) -> None:
    """What the host says is a mention is one, and what would be one there is none."""
    with Preprocessor(folder) as files:
        turn = files.preprocess(message, "Be brief.", refs=[ref_at(message, token, path)])

        assert turn.message == expected
        assert turn == asyncio.run(files.preprocess_async(message, "Be brief.", refs=[ref_at(message, token, path)]))
    assert len(turn.outcomes) == 1 + (" b.py" in expected)


def test_given_mentions_in_any_order(folder: Path) -> None:
    """Outcomes come in the order of the message, whatever the order of the list."""
    message = "first, second"
    refs = [ref_at(message, "second", "b.py"), ref_at(message, "first", "a.py")]
    with Preprocessor(folder) as files:
        turn = files.preprocess(message, refs=refs)

    assert (turn.message, [outcome.path for outcome in turn.outcomes]) == ("a.py, b.py", ["a.py", "b.py"])


def test_error_given_mention_of_another_message(folder: Path) -> None:
    """A mention that does not stand where it says is the host's mistake."""
    with Preprocessor(folder) as files, pytest.raises(SpanMismatchError):
        files.preprocess("see THAT", refs=[ref_at("see THIS", "THIS", "a.py")])


@pytest.mark.parametrize(
    ("refs", "error"),
    [
        pytest.param([Ref("THIS", 4, 8, "a.py"), Ref("IS", 6, 8, "b.py")], OptionError, id="two that overlap"),
        pytest.param([Ref("THIS", 4, 8, "a.py"), Ref("THIS", 4, 8, "a.py")], OptionError, id="one twice"),
        pytest.param([Ref("", 4, 4, "a.py")], SpanMismatchError, id="an empty one"),
        pytest.param([Ref("THIS", -4, 8, "a.py")], SpanMismatchError, id="in front of the message"),
        pytest.param([Ref("THIS now", 4, 12, "a.py")], SpanMismatchError, id="behind its end"),
        pytest.param([("THIS", 4, 8, "a.py")], OptionTypeError, id="a tuple"),
        pytest.param("a.py", OptionTypeError, id="a string"),
    ],
)
def test_error_given_mentions_that_are_none(folder: Path, refs: Any, error: type[Exception]) -> None:
    """What a host gives is checked before anything is read."""
    with Preprocessor(folder) as files, pytest.raises(error):
        files.preprocess("see THIS", refs=refs)


def test_given_mentions_need_no_more_than_where_and_what(folder: Path) -> None:
    """What only the parser knows of a mention need not be given."""
    with Preprocessor(folder) as files:
        turn = files.preprocess("see THIS", refs=[Ref("THIS", 4, 8, "a.py")])

    assert (turn.message, turn.warnings) == ("see a.py", ())


def test_given_mentions_that_read_alike(folder: Path) -> None:
    """Two with the same text around them and other names are two: that the one names nothing says nothing of the other."""
    with Preprocessor(folder) as files:
        turn = files.preprocess(" Bob  Bob ", refs=[Ref("Bob", 1, 4, "nothing"), Ref("Bob", 6, 9, "b.py")])

    assert turn.message == " Bob  b.py "


@given(text=st.lists(st.sampled_from(["@a.py", "@", " ", "`", "```\n", '"', "\\", ",", "x", "@b.py:1", "\n"])).map("".join), cut=st.integers(0, 40))
def test_given_mentions_change_nothing_else(folder: Path, text: str, cut: int) -> None:
    """Wherever it stands, a given mention is read, and outside of the mentions the message stays as it is."""
    cut = min(cut, len(text))
    message = f"{text[:cut]} THIS {text[cut:]}"
    with Preprocessor(folder) as files:
        turn = files.preprocess(message, refs=[ref_at(message, "THIS", "my file.txt")])

    [outcome] = [outcome for outcome in turn.attached if outcome.path == "my file.txt"]
    assert outcome.refs[0].token == "THIS"
    assert turn.message.count('"my file.txt"') == 1


def test_another_root_with_the_same_options(folder: Path) -> None:
    """`on` hands limits and the other options on; both can be used, and closing the one leaves the other open."""
    with Preprocessor(folder, limits=Limits(file_bytes=4), code="load", lenient=False, media=True) as files:
        with files.on(MemoryRoot({"a.py": "unsaved"}, over=files.root)) as over:
            unsaved = over.preprocess("see `@a.py` and @b.py")
        saved = files.preprocess("see `@a.py`")

    assert ["unsa", "BRAV"] == [outcome.text for outcome in unsaved.attached]
    assert ["ALPH"] == [outcome.text for outcome in saved.attached]


def test_error_another_root_by_its_path(folder: Path) -> None:
    """A path would be opened without the policies of this root: it is refused."""
    with Preprocessor(folder, symlinks="inside") as files, pytest.raises(OptionTypeError, match="an object with a method"):
        files.on(os.fspath(folder))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_what_tools_and_hosts_ask_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Preprocessor says what opens the files, which limits hold, and where the folder is, wherever the process goes."""
    monkeypatch.chdir(folder.parent)
    with Preprocessor(folder.name, limits=Limits(refs=3)) as files:
        monkeypatch.chdir("/")

        assert isinstance(files.root, Root)
        assert (files.limits.refs, files.folder) == (3, os.fspath(folder))
    with Preprocessor(MemoryRoot()) as files:
        assert (files.limits, files.folder) == (Limits(), "")
