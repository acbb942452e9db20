"""The folders that instruction files are opened in: each once, for as long as one discovery takes."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, Self

from filerefs.agentsmd.places import relative_to
from filerefs.outcomes import Reason
from filerefs.root import Root, Trouble
from filerefs.rootlike import begin_turn

if TYPE_CHECKING:
    from collections.abc import Hashable

    from filerefs.agentsmd.documents import Base
    from filerefs.resolving import Target
    from filerefs.rootlike import NodeLike, RootLike

LOOKUPS: Final = 16_384
"""How many names one expansion of imports looks up at most, in all files together."""

_SPENT: Final = Trouble(Reason.TOO_MANY, f"not looked up: {LOOKUPS} names are looked up at most")


class Roots:
    """One `Root` for each `Base`, opened when it is first needed; to be used in a `with` block."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._opened: dict[tuple[str, bool], Root] = {}
        self._views: dict[int, RootLike] = {}
        self.lookups = 0
        self.looked_up: dict[tuple[Base, str], None] = {}

    def of(self, base: Base, *, strict: bool = False) -> RootLike:
        """
        Return the root of *base*; links that stay inside are followed, with *strict* none is.  An object follows what it follows.

        Raises:
            RootNotFoundError: If its folder is gone.
        """
        if base.root is not None:
            if id(base.root) not in self._views:
                self._views[id(base.root)] = begin_turn(base.root)
            return self._views[id(base.root)]
        key = (base.folder, strict)
        root = self._opened.get(key)
        if root is None:
            root = self._opened[key] = self._stack.enter_context(Root(base.folder, symlinks="refuse" if strict else "inside"))
        return root

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


class FolderView:
    """
    What a file names: relative to its own folder, confined to the root that the folder lies in.

    It stands where a root is asked for nothing but `open`; unlike one it takes a ``~/`` and absolute paths.

    Args:
        roots: Where roots are opened.
        base: The root of the file.
        folder: The folder of the file in it, "." for the same.
        home: Where ``~/`` leads, None for nowhere.
        absolute: Whether absolute paths are read, where they lie in one of those.
    """

    def __init__(self, roots: Roots, base: Base, folder: str, *, home: Base | None, absolute: bool) -> None:
        self._roots = roots
        self._base = base
        self._folder = folder
        self._home = home
        self._absolute = absolute
        self._in_home: set[tuple[str, tuple[Hashable, ...] | None]] = set()

    def open(self, name: str) -> NodeLike | Trouble:
        """Return what *name*, as it is typed, means, or why there is none."""
        self._roots.lookups += 1
        if self._roots.lookups > LOOKUPS:
            return _SPENT
        base, path = self._place(name)
        self._roots.looked_up[base, path] = None
        node = self._roots.of(base).open(path)
        if base is self._home and not isinstance(node, Trouble):
            self._in_home.add((node.name, node.identity))
        return node

    def base_of(self, target: Target) -> Base:
        """Return where *target*, which was found by this view, was opened."""
        return self._home if self._home and (target.name, target.identity) in self._in_home else self._base

    def take(self, target: Target) -> NodeLike | Trouble:
        """Return the node of *target*, to be closed by the caller; opened again if it was taken before."""
        node, target.node = target.node, None
        return node if node is not None else self._roots.of(self.base_of(target)).open(target.name)

    def _place(self, name: str) -> tuple[Base, str]:
        if name.startswith("~/"):
            # Given as it is to a root that refuses it, where nothing leads home.
            return (self._home, name[2:]) if self._home else (self._base, name)
        if not name.startswith("/"):
            return self._base, name if self._folder == "." else f"{self._folder}/{name}"
        for base in (self._base, self._home) if self._absolute else ():
            path = None if base is None else relative_to(name, base.folder)
            if base is not None and path is not None:
                return base, path
        return self._base, name
