"""Files that are nowhere but in memory: those of a test, a program's own, or buffers that an editor has not saved."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from filerefs import troubles
from filerefs.errors import OptionError, OptionTypeError
from filerefs.nodes import Entry, Listing
from filerefs.reasons import Reason
from filerefs.root import Root
from filerefs.rootlike import Guarded, begin_turn, guard
from filerefs.roots.gate import File, Folder, Found, Gate
from filerefs.troubles import Trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from filerefs.nodes import NodeKind
    from filerefs.rootlike import NodeLike, RootLike

# Never the same for two contents, in whichever root.
_VERSIONS = count()


class _Text(NamedTuple):
    data: bytes
    version: int


class MemoryRoot:
    """
    A root whose files are in memory, alone or over another root.

    The host puts files in (``root["src/a.py"] = "text"``), takes them out (``del``) and asks for them (``in``), also
    while turns are running: each turn sees every file as it is when it is opened.  Folders are there as long as
    something is in them.  May be shared by threads.

    With *over* a name that is in memory wins, as what an editor shows wins over what it has saved.  So it does where
    the other root follows a link to it.  All other names go to that root, with its rules for links and secrets, and a
    folder lists what is in both.  A file in memory hides a folder of its name.

    Args:
        files: Names and contents to begin with; a text is shown as UTF-8, what cannot be in it as U+FFFD.
        allow: Names of files in memory that are opened although they look like those of secrets.
        over: The root below; it is not closed by anything done here.

    Raises:
        OptionError: If a name is none that could be asked for, or a file is to be where a folder is.
        OptionTypeError: If a content is neither text nor bytes, or *over* is no root.

    .. versionadded:: 0.1
    """

    def __init__(self, files: Mapping[str, str | bytes] | None = None, *, allow: Collection[str] = (), over: RootLike | None = None) -> None:
        self._gate = Gate(allow)
        self._lock = threading.Lock()
        self._files: dict[str, _Text] = {}
        # The names in each folder.
        self._folders: dict[str, set[str]] = {".": set()}
        self._over = None if over is None else guard(over)
        for name, content in (files or {}).items():
            self[name] = content

    def __setitem__(self, name: str, content: str | bytes) -> None:
        text = _Text(_encode(content), next(_VERSIONS))
        path = _read_path(name)
        with self._lock:
            if path not in self._files:
                self._make_place(path)
            self._files[path] = text

    def __delitem__(self, name: str) -> None:
        path = _read_path(name)
        with self._lock:
            if path not in self._files:
                raise KeyError(name)
            del self._files[path]
            self._clear_place(path)

    def __contains__(self, name: object) -> bool:
        try:
            return _read_path(name) in self._files
        except OptionError:
            return False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files in memory, sorted."""
        with self._lock:
            return tuple(sorted(self._files))

    def open(self, name: str) -> NodeLike | Trouble:
        """Return the file or folder *name*, or why there is none."""
        over = self._over
        return self._gate.open(name, self._look if over is None else lambda path: self._look_over(path, over))

    def begin_turn(self) -> RootLike:
        """Return what is asked during one turn: the same files, over what the root below has for the turn."""
        if self._over is None:
            return self
        below = begin_turn(self._over)
        return self if isinstance(below, Root) else _Overlay(self._gate, self._look_over, below)

    def __repr__(self) -> str:
        below = "" if self._over is None else f", over={self._over!r}"
        return f"MemoryRoot(files={len(self._files)}{below})"

    def _look(self, path: str) -> File | Folder | None:
        """Return what is in memory under *path*."""
        text = self._files.get(path)
        if text is not None:
            return _file(text)
        return Folder(lambda _: self._list(path)) if path in self._folders else None

    def _look_over(self, path: str, over: RootLike) -> Found:
        found = self._look(path)
        if isinstance(found, File) or (found is None and self._is_hidden(path)):
            return found
        node = _open_below(path, over)
        if not isinstance(node, Trouble):
            return self._lay_over(found, path, node)
        if found is None:
            return self._look_behind_links(path, over) or node if node.reason is Reason.NOT_FOUND else node
        # A folder that is there and cannot be listed has more names, of which none is known.
        return found if node.reason in (Reason.NOT_FOUND, Reason.NOT_REGULAR) else Folder(lambda _: Listing(tuple(self._list(path)), more=True, withheld=0))

    def _lay_over(self, found: Folder | None, path: str, node: NodeLike) -> Found:
        """Return what is to be seen at *path*, where the root below has *node* and memory has the folder *found*, or nothing."""
        real = node.target or path
        behind = found or self._look(real)
        if isinstance(behind, File):
            node.close()
            return replace(behind, target=real)
        if behind is None or (found is None and node.kind == "file"):
            return node
        if node.kind == "file":
            node.close()
            return behind
        own = path if found else real
        return _BothFolders(node, lambda: self._gate.sift(dict.fromkeys((path, real)), self._list(own)))

    def _look_behind_links(self, path: str, over: RootLike) -> File | Folder | None:
        """Return what memory alone has at *path*, where a link of the root below is on the way to it."""
        real: str | None = None
        parts = path.split("/")
        # From the top: most names miss at their first part, and are asked for at each depth.
        for depth in range(1, len(parts)):
            node = _open_below("/".join(parts[:depth]), over)
            if isinstance(node, Trouble):
                break
            with node:
                real = node.target and "/".join((node.target, *parts[depth:]))
        if real is None or self._is_hidden(real):
            return None
        found = self._look(real)
        return found and replace(found, target=real)

    def _is_hidden(self, path: str) -> bool:
        """Tell whether a file in memory is on the way to *path*."""
        parts = path.split("/")
        return any("/".join(parts[:depth]) in self._files for depth in range(1, len(parts)))

    def _list(self, path: str) -> list[Entry]:
        with self._lock:
            names = sorted(self._folders.get(path, ()))
            return [Entry(name, "directory" if _beneath(path, name) in self._folders else "file") for name in names]

    def _make_place(self, path: str) -> None:
        if path in self._folders:
            raise OptionError("name", path, "that of a file, where no folder is")
        for folder, _ in _steps(path):
            if folder in self._files:
                raise OptionError("name", path, f"in a folder, which {folder!r} is not")
        for folder, name in _steps(path):
            self._folders.setdefault(folder, set()).add(name)

    def _clear_place(self, path: str) -> None:
        for folder, name in reversed(_steps(path)):
            self._folders[folder].discard(name)
            if self._folders[folder] or folder == ".":
                break
            del self._folders[folder]


class _BothFolders:
    """A folder of the root below that is in memory as well; each decides which of its own names are shown."""

    __slots__ = ("_node", "_own", "identity", "kind", "name", "size", "stamp", "target")

    def __init__(self, node: NodeLike, own: Callable[[], tuple[list[Entry], int]]) -> None:
        self._node = node
        self._own = own
        self.name = node.name
        self.target = node.target
        self.kind: NodeKind = "directory"
        self.size = 0
        self.identity = node.identity
        self.stamp = None

    def read(self, limit: int | None) -> bytes | Trouble:
        return self._node.read(limit)

    def entries(self, limit: int | None) -> Listing | Trouble:
        below = self._node.entries(limit)
        own, withheld = self._own()
        if isinstance(below, Trouble):
            return Listing(tuple(own[:limit]), more=True, withheld=withheld)
        hidden = {entry.name for entry in own}
        names = [*own, *(entry for entry in below.entries if entry.name not in hidden)]
        shown = sorted(names[:limit], key=lambda entry: os.fsencode(entry.name))
        return Listing(tuple(shown), below.more or len(shown) < len(names), below.withheld + withheld)

    def close(self) -> None:
        self._node.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


class _Overlay:
    """Files in memory over what another root has for one turn."""

    def __init__(self, gate: Gate, look: Callable[[str, RootLike], Found], over: RootLike) -> None:
        self._gate = gate
        self._look = look
        self._over = over

    def open(self, name: str) -> NodeLike | Trouble:
        return self._gate.open(name, lambda path: self._look(path, self._over))

    def prefetch(self, nodes: Sequence[NodeLike], limit_bytes: int | None) -> None:
        """Hand *nodes* to the root below, which takes its own."""
        if isinstance(self._over, Guarded) and self._over.prefetches:
            self._over.prefetch(nodes, limit_bytes)


def _open_below(path: str, over: RootLike) -> NodeLike | Trouble:
    # A folder called `~` is no home.
    return over.open(path if path == "." else f"./{path}")


def _file(text: _Text) -> File:
    data, stamp = text.data, ("memory", text.version)
    # Through a link of the root below it is the same file.
    return File(len(data), lambda offset, limit: data[offset : None if limit is None else offset + limit], stamp=stamp, identity=stamp)


def _encode(content: object) -> bytes:
    if isinstance(content, bytes):
        return content
    if not isinstance(content, str):
        raise OptionTypeError("content", content, "text or bytes")
    try:
        return content.encode()
    except UnicodeEncodeError:
        # Half of a character, as an editor may have it for the moment between two keys.
        return content.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _read_path(name: object) -> str:
    """Return *name* normalised; the host's own names are no messages, so what can be none is a mistake."""
    typed = troubles.read_name(name) if isinstance(name, str) else troubles.NO_FILE
    if isinstance(typed, Trouble) or typed[2] or ".." in typed[0]:
        raise OptionError("name", name, "that of a file, relative to the root")
    return "/".join(typed[0])


def _steps(path: str) -> list[tuple[str, str]]:
    """Return each folder on the way to *path*, outermost first, with the name in it that the way goes on with."""
    parts = path.split("/")
    return [("/".join(parts[:depth]) or ".", parts[depth]) for depth in range(len(parts))]


def _beneath(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"
