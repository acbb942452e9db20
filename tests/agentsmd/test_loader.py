"""Read anew for each run and once within it, by however many threads and tasks; whoever wants to know is told."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from filerefs.agentsmd.discovery import discover
from filerefs.agentsmd.imports import expand_imports
from filerefs.agentsmd.loader import Loader, Run
from filerefs.agentsmd.profiles import CHAIN, EINO
from filerefs.agentsmd.refreshing import WhenChanged
from filerefs.agentsmd.rendering import render
from filerefs.errors import OptionError, RootNotFoundError

if TYPE_CHECKING:
    from conftest import Tree

    from filerefs.agentsmd.documents import Discovery


def test_a_run_reads_once(tree: Tree) -> None:
    """What changes on the disk holds for the next run, not for this one, unless the host asks."""
    loader = Loader(tree({"AGENTS.md": "old"}))
    run = loader.run()
    assert "old" == run.load().docs[0].text

    tree({"AGENTS.md": "new"})

    assert "old" == run.load().docs[0].text
    assert "new" == loader.run().load().docs[0].text
    assert "new" == run.reload().docs[0].text
    assert "new" == run.load().docs[0].text


def test_nothing_is_read_before_it_is_asked_for(tree: Tree) -> None:
    """A run that never asks, never reads: the file may come later."""
    run = Loader(tree({})).run()
    tree({"AGENTS.md": "x"})

    assert 1 == len(run.load())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, ["AGENTS.md", "x.md"], id="as the default profile does"),
        pytest.param({"imports": False}, ["AGENTS.md"], id="not"),
        pytest.param({"profile": CHAIN}, ["AGENTS.md"], id="as another profile does"),
        pytest.param({"profile": CHAIN, "imports": True}, ["AGENTS.md", "x.md"], id="all the same"),
        pytest.param({"depth": 0}, ["AGENTS.md"], id="no level deep"),
        pytest.param({"placement": "inline"}, ["AGENTS.md"], id="in place"),
    ],
)
def test_imports(options: dict[str, Any], expected: list[str], tree: Tree) -> None:
    """They are expanded as the profile or the host says."""
    folder = tree({"AGENTS.md": "@x.md", "x.md": "X"})

    assert expected == [doc.name for doc in Loader(folder, **options).read()]


def test_a_loader_takes_what_discovery_takes(tree: Tree) -> None:
    """Every option reaches it."""
    folder = tree({".top": "", "p/A.md": "A" * 20, "p/B.md": "B", "u.md": "U", "e.md": "E", "A.md": "a", "B.md": "b"})
    options: dict[str, Any] = {
        "root": folder,
        "user_files": [folder / "u.md"],
        "extra": [folder / "e.md"],
        "names": ["A.md"],
        "additions": ["B.md"],
        "markers": [".top"],
        "file_bytes": 10,
        "budget": 30,
        "home": folder,
    }

    assert expand_imports(discover(folder / "p", **options)) == Loader(folder / "p", **options).read()


def test_warnings_come_once_a_reading(tree: Tree) -> None:
    """One sentence each for what is missing, wrong or cut; that there is nothing is remembered, too."""
    told: list[str] = []
    folder = tree({"a.md": "A @none.md"})
    run = Loader(folder, profile=EINO, root=folder, extra=[folder / "a.md", folder / "b.md"], on_warning=told.append).run()
    for _ in range(3):
        run.load()

    assert ["b.md: no such file", "@none.md: no such file (a.md)"] == told

    empty = Loader(folder, profile=EINO, extra=[folder / "gone.md"], on_warning=told.append).run()
    for _ in range(3):
        assert 0 == len(empty.load())

    assert 3 == len(told)


def test_a_callback_may_ask(tree: Tree) -> None:
    """Whoever is warned gets the files, without waiting for itself."""
    seen: list[int] = []
    run = Loader(tree({"AGENTS.md": "@none.md"}), on_warning=lambda _: seen.append(len(run.load()))).run()

    run.load()

    assert [1] == seen


def test_error_a_callback_that_raises(tree: Tree) -> None:
    """What it raises reaches whoever asked first; what was read is there for the next."""

    def refuse(sentence: str) -> None:
        raise RuntimeError(sentence)

    run = Loader(tree({"AGENTS.md": "@none.md"}), on_warning=refuse).run()

    with pytest.raises(RuntimeError, match=r"none\.md"):
        run.load()
    assert 1 == len(run.load())


def test_error_no_root(tree: Tree) -> None:
    """A root that is gone raises, and is not remembered."""
    folder = tree({})
    run = Loader(folder, root=folder / "r").run()
    with pytest.raises(RootNotFoundError):
        run.load()

    tree({"r/AGENTS.md": "x"})

    with pytest.raises(OptionError):
        run.load()


@pytest.mark.parametrize(
    "options",
    [{"profile": EINO}, {"depth": -1}, {"placement": "before"}, {"budget": -1}, {"names": ["../x"]}],
    ids=lambda options: str(options)[:30],
)
def test_error_options(options: dict[str, Any]) -> None:
    """What cannot work is refused when the loader is made."""
    with pytest.raises(OptionError):
        Loader(**options)


class _Counter:
    """Stands for a reading: counts how often it happens, and takes until everybody is there."""

    def __init__(self, found: Discovery) -> None:
        self.found = found
        self.readings = 0
        self.everybody = threading.Event()

    def __call__(self) -> Discovery:
        self.readings += 1
        self.everybody.wait(0.2)
        return self.found


def test_threads_read_once(tree: Tree) -> None:
    """Whoever asks while another thread reads, waits and gets the same."""
    reading = _Counter(discover(tree({"AGENTS.md": "x"})))
    run = Run(reading)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: run.load(), range(8)))

    assert 1 == reading.readings
    assert {id(reading.found)} == {id(answer) for answer in answers}


def test_tasks_read_once(tree: Tree) -> None:
    """The same for tasks, in the loop or beside it."""
    reading = _Counter(discover(tree({"AGENTS.md": "x"})))
    run = Run(reading)

    async def ask() -> list[Discovery]:
        return await asyncio.gather(*(asyncio.to_thread(run.load) for _ in range(8)), asyncio.to_thread(run.load))

    answers = asyncio.run(ask())

    assert 1 == reading.readings
    assert 9 == len(answers)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file be older than the grain of any clock."""
    monkeypatch.setattr("filerefs.agentsmd.loader.now", lambda: time.time_ns() + 60_000_000_000)


@pytest.mark.usefixtures("later")
def test_stamps_change_with_the_files(tree: Tree) -> None:
    """They are the same as long as nothing changed, and tell of edits, of new files, and of imports."""
    folder = tree({".git": None, "AGENTS.md": "@x.md", "x.md": "X", "a": None})
    loader = Loader(folder / "a")
    known = loader.read()
    before = loader.stamp(known)
    assert before == loader.stamp(known)

    tree({"x.md": "XX"})
    edited = loader.stamp(known)
    tree({"a/AGENTS.md": "new"})
    added = loader.stamp(known)
    (folder / "AGENTS.md").unlink()

    assert 4 == len({before, edited, added, loader.stamp(known)})
    assert loader.stamp() != loader.stamp(known)


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({}, {"x.md": "X"}, id="one that was missing is there"),
        pytest.param({"d/y": ""}, {"d/x.md": "X"}, id="so is one in a folder"),
        pytest.param({"x.md": " "}, {"x.md": "X"}, id="one that was blank says something"),
        pytest.param({"x.md": b"\x7fELF\0"}, {"x.md": "X"}, id="one that was no text is one"),
        pytest.param({"x.md": "@z.md"}, {"z.md": "Z"}, id="one that an import names is there"),
        pytest.param({}, {"alice": "A"}, id="a word is a file"),
        pytest.param({}, {"my notes.md": "N"}, id="words are a file"),
        pytest.param({f"{number}.md": "" for number in range(9)}, {"x.md": "X"}, id="one that many others are imported beside"),
    ],
)
def test_stamps_tell_of_imports_that_appear(before: dict[str, Any], after: dict[str, Any], tree: Tree) -> None:
    """Whatever was looked for in vain, or was of no use, is looked at again."""
    words = "@x.md @d/x.md @alice @my notes.md " + " ".join(f"@gone{number}" for number in range(40))
    folder = tree({".git": None, "AGENTS.md": words, **before})
    loader = Loader(folder)
    known = loader.read()
    stamp = loader.stamp(known)
    assert stamp == loader.stamp(known)

    tree(after)

    assert stamp != loader.stamp(known)
    assert known.docs != loader.read().docs


def test_a_stamp_of_a_moment_ago_is_not_trusted(tree: Tree) -> None:
    """A file that has just changed may change again without another time: two stamps of it differ."""
    loader = Loader(tree({"AGENTS.md": "old"}))

    assert loader.stamp() != loader.stamp()


@pytest.mark.usefixtures("later")
def test_reading_when_something_changed(tree: Tree) -> None:
    """The policy reads again for a stamp that is taken of what was read last."""
    folder = tree({"AGENTS.md": "see @more.md"})
    loader = Loader(folder)
    readings: list[Discovery] = []

    def load() -> str:
        readings.append(loader.read())
        return render(readings[-1])

    policy = WhenChanged(load, lambda: loader.stamp(readings[-1] if readings else None))
    for _ in range(3):
        policy()
    count = len(readings)
    tree({"more.md": "MORE"})

    assert policy().endswith("MORE")
    assert 2 == count
