"""
What this library asks of a root: `Root` has it, and so may anything that opens, reads and lists by relative names.

Every root but `Root` itself is asked through `guard`, the one place that says what holds for all of them whatever they
do.  What helps to write one is in `filerefs.roots`.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Final, Protocol

from filerefs import troubles
from filerefs.errors import OptionError, OptionTypeError, RootClosedError
from filerefs.nodes import Listing
from filerefs.root import Root
from filerefs.troubles import Trouble

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Sequence
    from types import TracebackType
    from typing import Self

    from filerefs.nodes import NodeKind

# Libraries for remote files raise these without a number.
_NUMBERS: Final = (
    (FileNotFoundError, errno.ENOENT),
    (NotADirectoryError, errno.ENOTDIR),
    (IsADirectoryError, errno.EISDIR),
    (PermissionError, errno.EACCES),
)


class NodeLike(Protocol):
    """
    A file or folder that a root opened: looked at, and ready to be read or listed.

    It belongs to one thread at a time, and is closed by whoever opened it.  What it says of itself is asked for once,
    right when it was opened, and is what was found then.

    .. versionadded:: 0.1
    """

    @property
    def name(self) -> str:
        """Relative to the root, ``/``-separated, without ``.``, ``..`` and empty parts; "." is the root itself."""
        ...

    @property
    def target(self) -> str | None:
        """The name of what a link led to, in the same form; None where none was followed."""
        ...

    @property
    def kind(self) -> NodeKind:
        """Either "file" or "directory"."""
        ...

    @property
    def size(self) -> int:
        """Bytes of a file; a guide, no promise.  0 for a folder."""
        ...

    @property
    def identity(self) -> tuple[Hashable, ...] | None:
        """Equal for two names of one file, whose mentions are then one block.  None: two names are two files."""
        ...

    @property
    def stamp(self) -> tuple[Hashable, ...] | None:
        """
        Equal only where contents are: what was read under it is shown again, without reading.  None is never kept.

        It begins with a string, and the root vouches for it: where it is made of times, one that is so young that a
        second change could bear the same is None.  (Those of `Root` are five numbers, which the library compares with
        the clock.)
        """
        ...

    def read(self, limit: int | None) -> bytes | Trouble:
        """Return the next *limit* bytes, and never more: fewer only at the end, none behind it; None reads to the end."""
        ...

    def entries(self, limit: int | None) -> Listing | Trouble:
        """
        Return the names in this folder, at most *limit* of them, without those of secrets; None reads all.

        In a message that misses often, what the root's own folder does not list is not asked for.  A root that opens
        more than it lists says so: its listing has `more`.
        """
        ...

    def close(self) -> None:
        """Give back what reading needs; further calls do nothing."""
        ...

    def __enter__(self) -> object: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /) -> object: ...


class RootLike(Protocol):
    """
    Whatever opens files and folders by names that are relative to it.

    It may be asked by several threads at once.  Before it is asked, names pass the gate by text: no absolute path, no
    ``~/``, no NUL, no ``..`` that leads out, at most 4,095 bytes in 255 parts of 255 bytes.  Secrets are its own
    matter; `filerefs.roots.Gate` sees to them.

    An `OSError` that it raises, in `open` or from a node, is trouble with that one reference: not found, permission or
    a failure of the file system, by its number or its class.  Anything else is a fault in it and reaches the caller of
    the turn, as `RootClosedError` does.

    Two methods are optional: `DistantRoot.begin_turn` and `TurnRoot.prefetch`.

    .. versionadded:: 0.1
    """

    def open(self, name: str) -> NodeLike | Trouble:
        """Return what *name* means, or why there is nothing; a final ``/`` demands a folder."""
        ...


class DistantRoot(RootLike, Protocol):
    """
    A root whose answers take so long that a turn must not ask twice.

    .. versionadded:: 0.1
    """

    def begin_turn(self) -> RootLike:
        """
        Return what is asked in place of this root during one turn (or `load`, walk or discovery), and no longer.

        It may remember what it listed.  Nothing is asked of the file system here, so nothing is raised.
        """
        ...


class TurnRoot(RootLike, Protocol):
    """
    A root that can fetch several files at once.

    .. versionadded:: 0.1
    """

    def prefetch(self, nodes: Sequence[NodeLike], limit_bytes: int | None) -> None:
        """
        Fetch what is about to be read, as far as that is worthwhile; called once a turn, before the first is read.

        Trouble is for `read` to tell.

        Args:
            nodes: Open nodes of this root, in the order in which they will be read.  Those that the limits of the
                turn leave no room for, and those whose text is known, are not among them.
            limit_bytes: Bytes that will be read of each file; None for all.
        """
        ...


def adopt(root: object, *, symlinks: str, allow: Collection[str]) -> RootLike:
    """
    Return *root*, an object and no path, as the library asks it.

    Raises:
        OptionError: If *symlinks* contradicts what it does by itself, or *allow* is given.
        OptionTypeError: If it is no root.
    """
    if symlinks != "refuse" and not (isinstance(root, Root) and root.symlinks == symlinks):
        raise OptionError("symlinks", symlinks, "left to the root, which is an object with a policy of its own")
    if allow:
        raise OptionError("allow", allow, "left to the root, which is an object with names of its own")
    return guard(root)


def guard(root: object) -> RootLike:
    """
    Return *root* as the library asks it: `Root` itself, any other behind what holds for all.

    Raises:
        OptionTypeError: If it is no root.
    """
    if isinstance(root, Root | Guarded):
        return root
    if isinstance(root, str | os.PathLike) or not callable(getattr(root, "open", None)):
        raise OptionTypeError("root", root, "a path as text, or an object with a method `open`")
    return Guarded(root, id(root))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def begin_turn(root: RootLike) -> RootLike:
    """Return what is asked in place of *root* during one turn."""
    if isinstance(root, Root):
        return root
    begin = getattr(root, "begin_turn", None)
    view: RootLike = root if begin is None else begin()
    return view


def explain(error: OSError) -> Trouble:
    """
    Return what *error* means for the name that was asked for: the reason and a sentence, none of the error's own words.

    .. versionadded:: 0.1
    """
    number: object = error.errno
    if not isinstance(number, int):
        number = next((number for kind, number in _NUMBERS if isinstance(error, kind)), errno.EIO)
    # To somebody else's library it means anything but a bad name.
    return troubles.explain(errno.EIO if number == errno.EINVAL else number)


class Guarded:
    """
    A root that is not this library's own: its gate is kept, and its trouble is data.

    Args:
        root: What is asked.
        key: What tells files of this root from those of others.
    """

    def __init__(self, root: RootLike, key: int) -> None:
        self._root = root
        self._key = key

    @property
    def prefetches(self) -> bool:
        """Whether it wants to know what is about to be read."""
        return hasattr(self._root, "prefetch")

    def open(self, name: str) -> NodeLike | Trouble:
        """Return the node of *name*, or why there is none; raises nothing but what is a fault of the root."""
        typed = troubles.read_name(name)
        if isinstance(typed, Trouble):
            return typed
        if leads_out(typed[0]):
            return troubles.explain(errno.EXDEV)
        try:
            node = self._root.open(name)
            return node if isinstance(node, Trouble) else _take(node, self._key)
        except RootClosedError:  # an OSError as well, but no answer of a file system
            raise
        except OSError as error:
            return explain(error)

    def begin_turn(self) -> RootLike:
        """Return what is asked in place of this root during one turn."""
        view = begin_turn(self._root)
        return self if view is self._root else Guarded(view, self._key)

    def prefetch(self, nodes: Sequence[NodeLike], limit_bytes: int | None) -> None:
        """Hand those of *nodes* that are the root's own to it."""
        root: TurnRoot = self._root  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
        try:
            root.prefetch([node.inner for node in nodes if isinstance(node, _GuardedNode)], limit_bytes)
        except RootClosedError:
            raise
        except OSError:
            # What could not be fetched ahead is read when its turn comes, and then says itself what is wrong.
            return

    def __repr__(self) -> str:
        return repr(self._root)


class _GuardedNode:
    """A node whose trouble is data."""

    __slots__ = ("identity", "inner", "kind", "name", "size", "stamp", "target")

    def __init__(self, inner: NodeLike, key: int) -> None:
        self.inner = inner
        self.name = inner.name
        self.target = inner.target
        self.kind: NodeKind = inner.kind
        self.size = inner.size
        # What has no identity is still the same file under the same name: a file that imports itself must be noticed.
        self.identity = inner.identity or ("name", key, self.name)
        self.stamp = inner.stamp

    def read(self, limit: int | None) -> bytes | Trouble:
        try:
            return self.inner.read(limit)
        except RootClosedError:
            raise
        except OSError as error:
            return explain(error)

    def entries(self, limit: int | None) -> Listing | Trouble:
        try:
            listing = self.inner.entries(limit)
        except RootClosedError:
            raise
        except OSError as error:
            return explain(error)
        return listing if isinstance(listing, Trouble) else _bounded(listing, limit)

    def close(self) -> None:
        try:
            self.inner.close()
        except RootClosedError:
            raise
        except OSError:
            # What was read of it is read: that it cannot be given back is nobody's loss here.
            return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


def _take(node: NodeLike, key: int) -> _GuardedNode:
    """Return *node* guarded; one that cannot even say what it is is closed."""
    try:
        return _GuardedNode(node, key)
    except BaseException:
        node.close()
        raise


def _bounded(listing: Listing, limit: int | None) -> Listing:
    """Return *listing* without what can be no name in a folder, and no longer than was asked for."""
    names = [entry for entry in listing.entries if troubles.is_name(entry.name)]
    more = listing.more or (limit is not None and len(names) > limit)
    return Listing(tuple(names[:limit]), more, listing.withheld)


def leads_out(parts: Sequence[str]) -> bool:
    """Tell whether a ``..`` among *parts* leads above the root, no link considered."""
    depth = 0
    for part in parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False
