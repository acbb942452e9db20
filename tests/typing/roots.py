"""Roots that are objects, as a type checker sees them.  This file is checked by mypy and pyright, and never run."""

from collections.abc import Hashable
from typing import Literal, assert_type

import filerefs
from filerefs import NodeLike, Preprocessor, Root, RootLike, Turn, agentsmd
from filerefs.completion import Completer
from filerefs.integrations.fsspec import FsspecRoot
from filerefs.roots import DistantRoot, Entry, File, Folder, Found, Gate, Listing, MemoryRoot, Reason, Trouble, TurnRoot, explain
from filerefs.walk import Ignore, walk


class Node:
    """All that a node must have, and nothing of this library's."""

    name = "a.txt"
    target: str | None = None
    kind: Literal["file", "directory"] = "file"
    size = 1
    identity: tuple[Hashable, ...] | None = None
    stamp: tuple[Hashable, ...] | None = ("version", 1)

    def read(self, limit: int | None) -> bytes | Trouble:
        return b"x"[:limit]

    def entries(self, limit: int | None) -> Listing | Trouble:
        return Listing((Entry("a.txt", "file"),)[:limit], more=False, withheld=0)

    def close(self) -> None: ...

    def __enter__(self) -> object:
        return self

    def __exit__(self, *_: object) -> None: ...


class Distant:
    """A root with both of the optional methods."""

    def __init__(self) -> None:
        self.gate = Gate(allow=["a/.env"])

    def open(self, name: str) -> NodeLike | Trouble:
        return Node() if name == "a.txt" else self.gate.open(name, self.look)

    def look(self, path: str) -> Found:
        if path == ".":
            return Folder(lambda limit: [Entry("a.txt", "file")][:limit])
        if path == "b.txt":
            return File(1, lambda offset, limit: b"x"[offset:][:limit], stamp=("version", 1))
        return explain(FileNotFoundError(path)) if path == "c.txt" else None

    def begin_turn(self) -> "Distant":
        return self

    def prefetch(self, nodes: object, limit_bytes: int | None) -> None: ...


class Nothing:
    """No root: it opens nothing."""


distant = Distant()
as_root: RootLike = distant
as_distant_root: DistantRoot = distant
as_turn_root: TurnRoot = distant
as_node: NodeLike = Node()

with Root("project") as root:
    roots: list[RootLike] = [root, distant, MemoryRoot({"a.txt": "text", "b.txt": b"bytes"}, allow=(), over=root), FsspecRoot("memory://", "a", concurrency=4)]
    for one in roots:
        assert_type(filerefs.preprocess("see @a.txt", root=one), Turn)
        assert_type(filerefs.load(filerefs.parse("see @a.txt"), one), list[filerefs.Outcome])
        with Preprocessor(one) as preprocessor, Completer(one) as completer:
            assert_type(preprocessor.root, RootLike)
            assert_type(completer, Completer)
        assert_type(agentsmd.discover("src", root=one), agentsmd.Discovery)
        assert_type(agentsmd.Loader("src", root=one).read(), agentsmd.Discovery)
        walk(one, limit=10, ignore=Ignore(one))
        found = one.open("a.txt")
        if isinstance(found, Trouble):
            assert_type(found.reason, Reason)
        else:
            with found:
                assert_type(found.read(10), bytes | Trouble)
                assert_type(found.entries(10), Listing | Trouble)

buffers = MemoryRoot()
buffers["a.txt"] = "text"
del buffers["a.txt"]
assert_type(buffers.names, tuple[str, ...])
buffers["a.txt"] = 1  # type: ignore[assignment]  # pyright: ignore[reportArgumentType]
Preprocessor(Nothing())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
MemoryRoot(over="project")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
