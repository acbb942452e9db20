"""What stays between turns: a text is read again unless its file cannot have changed."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

import pytest

from filerefs import Limits, Preprocessor
from filerefs.contents import Content
from filerefs.loading import load_all
from filerefs.memory import Memory
from filerefs.mentions import scan
from filerefs.outcomes import Reason
from filerefs.root import Node, Root, Trouble
from filerefs.stamps import is_settled

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Tree

SECOND = 1_000_000_000
# Of a time long ago, and not on a full second.
SETTLED = (1, 2, 5, SECOND + 1, SECOND + 1)


@dataclass
class FakeNode:
    """A file with a stamp of the test's choice, that counts how often it is read."""

    data: bytes | Trouble = b"text\n"
    stamp: tuple[int, ...] | None = SETTLED
    kind: str = "file"
    size: int = 5
    reads: int = 0

    def read(self, limit: int | None) -> bytes | Trouble:
        self.reads += 1
        return self.data if isinstance(self.data, Trouble) else self.data[:limit]


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    """Return an empty memory."""
    with Root(tmp_path) as root:
        yield Memory(root)


def read(memory: Memory, node: FakeNode, cap: int | None = 100) -> Content | Trouble:
    """Read *node* in a turn of its own."""
    turn = memory.turn()
    found = turn.read(cast("Node", node), cap)
    turn.finish()
    return found


def test_unchanged_file_is_read_once(memory: Memory) -> None:
    """A file with the stamp of the last turn is not read again, and its text is the same object."""
    node = FakeNode()

    assert read(memory, node) is read(memory, node)
    assert node.reads == 1


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((9, 2, 5, SECOND + 1, SECOND + 1), id="another device"),
        pytest.param((1, 9, 5, SECOND + 1, SECOND + 1), id="another inode"),
        pytest.param((1, 2, 9, SECOND + 1, SECOND + 1), id="another size"),
        pytest.param((1, 2, 5, SECOND + 9, SECOND + 1), id="another time of change"),
        pytest.param((1, 2, 5, SECOND + 1, SECOND + 9), id="another time of status"),
    ],
)
def test_changed_file_is_read_again(memory: Memory, other: tuple[int, ...]) -> None:
    """Whatever part of the stamp differs, the text is that of now."""
    read(memory, FakeNode())
    node = FakeNode(b"new\n", other)
    content = read(memory, node)

    assert isinstance(content, Content)
    assert (content.text, node.reads) == ("new\n", 1)


def test_other_cap_is_read_again(memory: Memory) -> None:
    """A text that was cut for one limit is not shown under another."""
    node = FakeNode()
    read(memory, node, 100)
    content = read(memory, node, 2)

    assert isinstance(content, Content)
    assert (content.text, node.reads) == ("te", 2)
    read(memory, node, None)
    assert node.reads == 3


def test_file_without_a_stamp_is_read_every_time(memory: Memory) -> None:
    """Where the file system gives no inode nothing is kept."""
    node = FakeNode(stamp=None)
    read(memory, node)
    read(memory, node)

    assert node.reads == 2


def test_trouble_is_not_kept(memory: Memory) -> None:
    """A file that could not be read is tried again."""
    node = FakeNode(Trouble(Reason.BUSY, "it is locked, or changes too fast"))
    assert read(memory, node) == node.data

    node.data = b"text\n"
    assert isinstance(read(memory, node), Content)


def test_only_the_last_turn_is_kept(memory: Memory) -> None:
    """What a turn did not name is forgotten: a chat of a thousand turns does not hold a thousand texts."""
    node = FakeNode()
    read(memory, node)
    memory.turn().finish()
    read(memory, node)

    assert node.reads == 2


def test_turn_that_did_not_finish_changes_nothing(memory: Memory) -> None:
    """What the last whole turn left stays there until another one is whole."""
    node = FakeNode()
    read(memory, node)
    memory.turn()
    read(memory, node)

    assert node.reads == 1


def test_young_file_is_not_trusted(memory: Memory) -> None:
    """A file that changed a moment ago may change again under the same stamp."""
    now = time.time_ns()
    node = FakeNode(stamp=(1, 2, 5, now, now))
    read(memory, node)
    read(memory, node)

    assert node.reads == 2


@pytest.mark.parametrize(
    ("modified", "changed", "read_at", "expected"),
    [
        pytest.param(SECOND + 1, SECOND + 1, SECOND + 30_000_001, True, id="longer ago than a tick"),
        pytest.param(SECOND + 1, SECOND + 1, SECOND + 10_000_001, False, id="within a tick"),
        pytest.param(SECOND + 1, SECOND + 25_000_001, SECOND + 30_000_001, False, id="the later of both counts"),
        pytest.param(SECOND, SECOND, 2 * SECOND, False, id="a file system that keeps full seconds"),
        pytest.param(SECOND, SECOND, 3 * SECOND + 1, True, id="longer ago than two seconds"),
        pytest.param(9 * SECOND + 1, SECOND + 1, 2 * SECOND, False, id="a time to come"),
    ],
)
def test_when_a_stamp_is_trusted(modified: int, changed: int, read_at: int, *, expected: bool) -> None:
    """A stamp says that nothing changed only if it is older than the clock's grain."""
    assert is_settled((1, 2, 5, modified, changed), read_at) is expected


@dataclass
class Watched:
    """A node that counts how often any of its kind is read."""

    node: Node
    counts: dict[str, int]

    def __getattr__(self, name: str) -> object:
        return getattr(self.node, name)

    def read(self, limit: int | None) -> bytes | Trouble:
        self.counts[self.node.name] = self.counts.get(self.node.name, 0) + 1
        return self.node.read(limit)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.node.close()


@dataclass(eq=False)
class WatchedRoot:
    """A root whose files count how often they are read."""

    root: Root
    counts: dict[str, int] = field(default_factory=dict)

    def open(self, name: str) -> Watched | Trouble:
        node = self.root.open(name)
        return node if isinstance(node, Trouble) else Watched(node, self.counts)


def settle(path: Path) -> None:
    """Wait until *path* is older than the clock's grain."""
    while not is_settled((0, 0, 0, path.stat().st_mtime_ns, path.stat().st_ctime_ns), time.time_ns()):
        time.sleep(0.005)


def test_turns_on_real_files(tree: Tree) -> None:
    """A turn that names an unchanged file opens it to look, and reads nothing; lines are read each time."""
    project = tree({"a.py": "1\n2\n", "b.py": "1\n2\n"})
    settle(project / "b.py")
    with Root(project) as real:
        root = WatchedRoot(real)
        memory = Memory(cast("Root", root))
        for message in ("@a.py @b.py", "@a.py @b.py", "@a.py @b.py:1", "@a.py"):
            turn = memory.turn()
            loaded = load_all(scan(message), cast("Root", root), Limits(), lenient=True, recollection=turn)
            turn.finish()
            assert [outcome.status for outcome in loaded.outcomes] == ["attached"] * message.count("@")

    assert root.counts == {"a.py": 1, "b.py": 2}


def test_kept_text_is_the_same_object(tree: Tree) -> None:
    """A Preprocessor hands out the text of the last turn as long as the file is as it was."""
    project = tree({"a.py": "1\n"})
    settle(project / "a.py")
    with Preprocessor(project) as preprocessor:
        first, second = preprocessor.preprocess("@a.py"), preprocessor.preprocess("@a.py")

    assert first.attached[0].text is second.attached[0].text
    assert first.section == second.section


def test_edit_of_the_same_size_within_a_tick_is_seen(tree: Tree) -> None:
    """However fast a file is edited, a turn shows what is in it."""
    project = tree({"a.txt": "000\n"})
    with Preprocessor(project) as preprocessor:
        for number in range(300):
            (project / "a.txt").write_text(f"{number:03}\n", encoding="utf-8")

            assert preprocessor.preprocess("@a.txt").attached[0].text == f"{number:03}\n"


def test_edit_that_hides_its_time_is_seen(tree: Tree) -> None:
    """A tool that sets the time of the last change back does not hide the change."""
    project = tree({"a.txt": "old\n"})
    path = project / "a.txt"
    settle(path)
    with Preprocessor(project) as preprocessor:
        preprocessor.preprocess("@a.txt")
        before = path.stat()
        path.write_text("new\n", encoding="utf-8")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

        assert preprocessor.preprocess("@a.txt").attached[0].text == "new\n"


def test_file_in_the_place_of_another_is_seen(tree: Tree) -> None:
    """An editor that writes a new file and renames it does not leave the old text behind."""
    project = tree({"a.txt": "old\n"})
    settle(project / "a.txt")
    with Preprocessor(project) as preprocessor:
        preprocessor.preprocess("@a.txt")
        (project / "b.txt").write_text("new\n", encoding="utf-8")
        settle(project / "b.txt")
        (project / "b.txt").rename(project / "a.txt")

        assert preprocessor.preprocess("@a.txt").attached[0].text == "new\n"
