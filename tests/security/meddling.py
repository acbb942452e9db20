"""Roots under which something happens between the look at a file and its reading, or in the middle of reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from filerefs import Root
from filerefs.root import Node, Trouble

if TYPE_CHECKING:
    from collections.abc import Callable


class MeddledRoot(Root):
    """A root that calls `happen` each time that a file was found: it is looked at by then, and not yet read."""

    happen: Callable[[], object] = staticmethod(lambda: None)

    def open(self, name: str) -> Node | Trouble:
        found = super().open(name)
        if isinstance(found, Node) and found.kind == "file":
            self.happen()
        return found


class FailingRoot(Root):
    """A root on a bad disk: each file gives *good* reads, then *trouble*."""

    good = 0
    trouble: Callable[[], Trouble | None] = staticmethod(lambda: None)

    def open(self, name: str) -> Node | Trouble:
        found = super().open(name)
        if isinstance(found, Node):
            return _FailingNode(found, self.good, self.trouble)  # type: ignore[return-value]
        return found


class _FailingNode:
    def __init__(self, node: Node, good: int, trouble: Callable[[], Trouble | None]) -> None:
        self._node = node
        self._good = good
        self._trouble = trouble

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._node.close()

    def read(self, limit: int | None) -> Any:
        return self._fail() or self._node.read(limit)

    def entries(self, limit: int | None) -> Any:
        return self._fail() or self._node.entries(limit)

    def _fail(self) -> Trouble | None:
        self._good -= 1
        return self._trouble() if self._good < 0 else None
