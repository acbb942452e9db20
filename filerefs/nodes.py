"""What `Root.open` returns: a file or directory that was opened to look at, and can be read through the same handle."""

from __future__ import annotations

import errno
import functools
import os
from itertools import islice

from filerefs import descent, troubles
from filerefs.errors import RootClosedError

# Not `typing`: with what it needs it takes half as long as the interpreter's start, and a hook must not.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal, NoReturn, Protocol, Self, TypeAlias

    from filerefs.troubles import Trouble

    NodeKind: TypeAlias = Literal["file", "directory"]
    EntryKind: TypeAlias = Literal["file", "directory", "link", "other"]

    class Keeper(Protocol):
        """What a node asks of the root that opened it."""

        def withholds(self, name: str, *, directory: bool) -> bool: ...

        def reopen(self, name: str, status: os.stat_result) -> int: ...


# One read never asks for more, whatever the limit: memory is taken for what is there, not for what is allowed.
_CHUNK = 1 << 20
_UNSIZED_CHUNK = 1 << 16


class Entry:
    """
    One name in a directory, and what it is; read-only.

    Attributes:
        name: The name alone, without the directory's.
        kind: What it is itself: a link is not followed to find out.
    """

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: EntryKind) -> None:
        self.name = name
        self.kind: EntryKind = kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entry) and (self.name, self.kind) == (other.name, other.kind)

    def __hash__(self) -> int:
        return hash((self.name, self.kind))

    def __repr__(self) -> str:
        return f"Entry({self.name!r}, {self.kind!r})"


class Listing:
    """
    Names of a directory; read-only.

    Attributes:
        entries: Sorted by the bytes of the name.
        more: Whether the directory holds more names than were read; those that were are then no particular choice.
        withheld: How many of the names that were read are left out, because they are those of secrets.
    """

    __slots__ = ("entries", "more", "withheld")

    def __init__(self, entries: tuple[Entry, ...], more: bool, withheld: int) -> None:  # noqa: FBT001 (as it is counted)
        self.entries = entries
        self.more = more
        self.withheld = withheld

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Listing) and (self.entries, self.more, self.withheld) == (other.entries, other.more, other.withheld)

    def __hash__(self) -> int:
        return hash((self.entries, self.more, self.withheld))

    def __repr__(self) -> str:
        return f"Listing({len(self.entries)} entries, more={self.more}, withheld={self.withheld})"


class Node:
    """
    A file or directory that was opened to look at, and is read through the same handle.

    Usable in a ``with`` block; belongs to one thread at a time.  It stays readable when its `Root` is closed,
    except where there is no ``/proc``: there a first `read` raises `RootClosedError`.

    Attributes:
        name: Relative to the root, ``/``-separated, without ``..`` and a final ``/``; ``.`` is the root itself.
            Where a link was followed: the name as typed, or like `target` if ``..`` was in it.
        target: The real name, where a link was followed; None where none was.
        kind: "file" or "directory".
    """

    __slots__ = ("_descriptor", "_keeper", "_offset", "_reader", "_status", "kind", "name", "target")

    def __init__(self, keeper: Keeper, descriptor: int, status: os.stat_result, *, kind: NodeKind, name: str, target: str | None) -> None:
        self._descriptor = descriptor
        self._reader = -1
        self._keeper = keeper
        self._status = status
        self._offset = 0
        self.kind: NodeKind = kind
        self.name = name
        self.target = target

    @property
    def size(self) -> int:
        """Bytes of a file when it was looked at; 0 for a directory."""
        return self._status.st_size if self.kind == "file" else 0

    @property
    def identity(self) -> tuple[int, int] | None:
        """Device and inode: equal for two names of one file.  None where the file system gives no inode."""
        status = self._status
        return (status.st_dev, status.st_ino) if status.st_ino else None

    @property
    def stamp(self) -> tuple[int, int, int, int, int] | None:
        """Device, inode, size, and when contents and status last changed, in nanoseconds; None where `identity` is."""
        status = self._status
        return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns) if status.st_ino else None

    def read(self, limit: int | None) -> bytes | Trouble:
        """
        Return the next *limit* bytes: fewer at the end, none behind it; None reads to the end.

        The size that the system states is a guide, not a promise: a file may grow, and those of procfs state 0.

        Raises:
            RootClosedError: After `close`.
        """
        self._check_open()
        if self.kind == "directory":
            return troubles.NOT_A_FILE
        try:
            if self._reader < 0:
                self._reader = self._open_file()
            return self._read_on(limit)
        except RootClosedError:  # an OSError as well, but no answer of the system
            raise
        except OSError as error:
            # Reading follows no link: there was none, and now there is.
            return troubles.explain(errno.EAGAIN if error.errno == errno.ELOOP else error.errno)

    def entries(self, limit: int | None) -> Listing | Trouble:
        """
        Return the names in this directory, at most *limit* of them; None reads all.

        Raises:
            RootClosedError: After `close`.
        """
        self._check_open()
        if self.kind == "file":
            return troubles.NOT_A_FOLDER
        try:
            reader = self._open_directory()
            try:
                return self._list(reader, limit)
            finally:
                os.close(reader)
        except OSError as error:
            return troubles.explain(error.errno)

    def close(self) -> None:
        """Close the handle; further calls do nothing."""
        reader, self._reader = self._reader, -1
        descriptor, self._descriptor = self._descriptor, -1
        descent.close_quietly(descriptor)
        if reader != descriptor:
            descent.close_quietly(reader)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        # One that a signal's handler interrupted in the making has nothing to close.
        if hasattr(self, "_reader"):
            self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Node cannot be copied: two would close one handle")

    def __repr__(self) -> str:
        return f"Node({self.name!r}, kind={self.kind!r}, size={self.size})"

    def _check_open(self) -> None:
        if self._descriptor < 0:
            raise RootClosedError(self.name, "this file or folder of it was closed")

    def _open_file(self) -> int:
        if not descent.HAS_PATH_HANDLES:
            return self._descriptor
        if has_procfs():
            return os.open(f"/proc/self/fd/{self._descriptor}", descent.READ)
        return self._keeper.reopen(self.target or self.name, self._status)

    def _open_directory(self) -> int:
        flags = descent.READ | descent.DIRECTORY
        if has_procfs():
            return os.open(f"/proc/self/fd/{self._descriptor}", flags)
        return os.open(".", flags, dir_fd=self._descriptor)

    def _read_on(self, limit: int | None) -> bytes:
        chunks: list[bytes] = []
        # With its own offset, not the descriptor's: a forked process shares the latter.
        offset = self._offset
        end = None if limit is None else offset + limit
        while end is None or offset < end:
            expected = self._status.st_size - offset
            # One byte more than expected: a short answer then says that this was the end.
            wanted = min(expected + 1, _CHUNK) if expected > 0 else _UNSIZED_CHUNK
            if end is not None:
                wanted = min(wanted, end - offset)
            chunk = os.pread(self._reader, wanted, offset)
            offset += len(chunk)
            chunks.append(chunk)
            if not chunk or (len(chunk) < wanted and offset >= self._status.st_size > 0):
                break
        self._offset = offset
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _list(self, reader: int, limit: int | None) -> Listing | Trouble:
        with os.scandir(reader) as found:
            read = [Entry(entry.name, _kind_of(entry)) for entry in islice(found, limit)]
            more = limit is not None and next(found, None) is not None
        if not read and not more and os.fstat(reader).st_nlink == 0:
            return troubles.FOLDER_DELETED
        folders = ["" if name == "." else name + "/" for name in (self.name, self.target) if name is not None]
        shown = [entry for entry in read if not self._withholds(folders, entry)]
        shown.sort(key=lambda entry: os.fsencode(entry.name))
        return Listing(tuple(shown), more, len(read) - len(shown))

    def _withholds(self, folders: list[str], entry: Entry) -> bool:
        directory = entry.kind == "directory"
        return any(self._keeper.withholds(folder + entry.name, directory=directory) for folder in folders)


def _kind_of(entry: os.DirEntry[str]) -> EntryKind:
    try:
        if entry.is_symlink():
            return "link"
        if entry.is_dir(follow_symlinks=False):
            return "directory"
        return "file" if entry.is_file(follow_symlinks=False) else "other"
    except OSError:
        return "other"


@functools.cache
def has_procfs() -> bool:
    """Tell whether ``/proc/self/fd/N`` leads back to what descriptor N is open on."""
    try:
        from filerefs import openat2
    except ImportError:  # a Python that was built without ctypes
        return False
    return openat2.has_procfs()
