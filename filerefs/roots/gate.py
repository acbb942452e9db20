"""What every root owes whoever uses it: names that lead nowhere else, secrets that stay closed, reads that are bounded."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from filerefs import troubles
from filerefs.errors import RootClosedError
from filerefs.naming import is_secret
from filerefs.nodes import Entry, Listing
from filerefs.troubles import Trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable
    from types import TracebackType
    from typing import Self

    from filerefs.nodes import NodeKind
    from filerefs.rootlike import NodeLike

_FILE_ON_THE_WAY = troubles.explain(errno.ENOTDIR)
# What is said instead where a name demanded a folder.
_DEMANDED = {troubles.NO_FILE: troubles.NO_FOLDER, _FILE_ON_THE_WAY: troubles.NOT_A_FOLDER}


@dataclass(frozen=True, slots=True)
class File:
    """
    A file, as a root describes it.

    Attributes:
        size: Bytes; a guide, no promise.
        read: Called with an offset and with how many bytes are wanted from there (None: all); returns that many, fewer
            only at the end.  May raise `OSError`.
        stamp: As for `NodeLike`.
        identity: As for `NodeLike`.
        target: As for `NodeLike`.
        close: Called once, when the file is no longer needed.

    .. versionadded:: 0.1
    """

    size: int
    read: Callable[[int, int | None], bytes | Trouble]
    stamp: tuple[Hashable, ...] | None = None
    identity: tuple[Hashable, ...] | None = None
    target: str | None = None
    close: Callable[[], object] | None = None


@dataclass(frozen=True, slots=True)
class Folder:
    """
    A folder, as a root describes it.

    Attributes:
        entries: Called with how many names are wanted (None: all); returns them, in any order, and more does no harm: a
            generator is not asked for more.  In place of the names it may return a `Listing`, whose counts are kept, as
            one must that opens more names than it lists.
            Names that can be none (empty, ``.``, ``..``, with a slash or a NUL) are dropped.  May raise `OSError`.
        identity: As for `File`.
        target: As for `File`.
        close: As for `File`.

    .. versionadded:: 0.1
    """

    entries: Callable[[int | None], Iterable[Entry] | Listing | Trouble]
    identity: tuple[Hashable, ...] | None = None
    target: str | None = None
    close: Callable[[], object] | None = None


Found: TypeAlias = "File | Folder | NodeLike | Trouble | None"
"""What a root says of a name; None: there is nothing.  The node of another root is handed on as it is."""


class Gate:
    """
    Opens what a root describes, under names that are safe to look up, and keeps secrets closed.

    Args:
        allow: Names, relative to the root, that are opened although they look like those of secrets.

    Raises:
        OptionTypeError: If *allow* is one string, or holds anything but strings.

    .. versionadded:: 0.1
    """

    def __init__(self, allow: Collection[str] = ()) -> None:
        self._allow = troubles.read_allow(allow)

    def open(self, name: str, look: Callable[[str], Found]) -> NodeLike | Trouble:
        """
        Return the node of *name*, or why there is none.

        Args:
            name: As it was typed.
            look: Called with names that are relative, normalised (no ``.``, ``..`` or empty parts; "." for the root
                itself) and not checked for secrets, at least once for the name itself.
        """
        typed = troubles.read_name(name)
        if isinstance(typed, Trouble):
            return typed
        parts, _, demanded = typed
        node = self._open(parts, look, demanded=demanded)
        return _DEMANDED.get(node, node) if demanded and isinstance(node, Trouble) else node

    def withholds(self, name: str, *, directory: bool) -> bool:
        """Tell whether *name*, normalised, is that of a secret which `allow` does not name."""
        return is_secret(name.split("/"), directory=directory) and name not in self._allow

    def sift(self, folders: Iterable[str], entries: Iterable[Entry]) -> tuple[list[Entry], int]:
        """Return the *entries* of a folder, by all its names, that may be shown, and how many are withheld."""
        beginnings = ["" if folder == "." else f"{folder}/" for folder in folders]
        names = [entry for entry in entries if troubles.is_name(entry.name)]
        shown = [entry for entry in names if not any(self.withholds(folder + entry.name, directory=entry.kind == "directory") for folder in beginnings)]
        shown.sort(key=lambda entry: entry.name.encode("utf-8", "surrogatepass"))
        return shown, len(names) - len(shown)

    def _open(self, parts: list[str], look: Callable[[str], Found], *, demanded: bool) -> NodeLike | Trouble:
        """Do what `open` does; *demanded* is whether nothing but a folder will do."""
        folded = _fold(parts, look)
        if isinstance(folded, Trouble):
            return folded
        path = "/".join(folded) or "."
        found = look(path)
        if found is None or isinstance(found, Trouble):
            return found or _explain_miss(folded, look)
        if demanded and _kind_of(found) == "file":
            _close(found)
            return troubles.NOT_A_FOLDER
        if not isinstance(found, File | Folder):
            return found
        if any(self.withholds(name, directory=isinstance(found, Folder)) for name in (path, found.target) if name is not None):
            _close(found)
            return troubles.SECRET
        return _Node(self, path, found)


class _Node:
    """What a gate opened; reads on from where it stopped."""

    __slots__ = ("_closed", "_found", "_gate", "_offset", "identity", "kind", "name", "size", "stamp", "target")

    def __init__(self, gate: Gate, name: str, found: File | Folder) -> None:
        self._gate = gate
        self._found = found
        self._offset = 0
        self._closed = False
        self.name = name
        self.kind: NodeKind = _kind_of(found)
        self.identity = found.identity
        self.target = found.target
        self.size = found.size if isinstance(found, File) else 0
        self.stamp = found.stamp if isinstance(found, File) else None

    def read(self, limit: int | None) -> bytes | Trouble:
        self._check_open()
        if isinstance(self._found, Folder):
            return troubles.NOT_A_FILE
        data = self._found.read(self._offset, limit)
        if isinstance(data, Trouble):
            return data
        if limit is not None:
            data = data[:limit]
        self._offset += len(data)
        return data

    def entries(self, limit: int | None) -> Listing | Trouble:
        self._check_open()
        if isinstance(self._found, File):
            return troubles.NOT_A_FOLDER
        found = self._found.entries(limit)
        if isinstance(found, Trouble):
            return found
        more, withheld = (found.more, found.withheld) if isinstance(found, Listing) else (False, 0)
        names = iter(found.entries if isinstance(found, Listing) else found)
        read = list(islice(names, limit))
        more = more or (limit is not None and next(names, None) is not None)
        shown, secrets = self._gate.sift([self.name, *([self.target] if self.target else [])], read)
        return Listing(tuple(shown), more, withheld + secrets)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            _close(self._found)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Node({self.name!r}, kind={self.kind!r}, size={self.size})"

    def _check_open(self) -> None:
        if self._closed:
            raise RootClosedError(self.name, "this file or folder of it was closed")


def _fold(parts: list[str], look: Callable[[str], Found]) -> list[str] | Trouble:
    """Return *parts* with each ``..`` taken off, where what it takes off is a folder: as on a disk, but without links."""
    if ".." not in parts:
        return parts
    folded: list[str] = []
    for part in parts:
        if part != "..":
            folded.append(part)
            continue
        if not folded:
            return troubles.explain(errno.EXDEV)
        trouble = _why_no_folder(folded, look)
        if trouble is not None:
            return trouble
        del folded[-1]
    return folded


def _why_no_folder(parts: list[str], look: Callable[[str], Found]) -> Trouble | None:
    found = look("/".join(parts))
    if found is None:
        return _explain_miss(parts, look)
    if isinstance(found, Trouble):
        return found
    _close(found)
    return _FILE_ON_THE_WAY if _kind_of(found) == "file" else None


def _explain_miss(parts: list[str], look: Callable[[str], Found]) -> Trouble:
    """Say why there is nothing: a file in the place of a folder is worth telling."""
    # From the top: of most names not even the first part is there, and then one look is enough.
    for depth in range(1, len(parts)):
        found = look("/".join(parts[:depth]))
        if found is None:
            break
        if isinstance(found, Trouble):
            return found
        _close(found)
        if _kind_of(found) == "file":
            return _FILE_ON_THE_WAY
    return troubles.NO_FILE


def _kind_of(found: File | Folder | NodeLike) -> NodeKind:
    if isinstance(found, File):
        return "file"
    return "directory" if isinstance(found, Folder) else found.kind


def _close(found: File | Folder | NodeLike) -> None:
    if found.close is not None:
        found.close()
