"""
fsspec: files on other machines and in archives, as the root of a chat.

    root = FsspecRoot("github://hynek:stamina@25.1.0", fresh=False)
    turn = filerefs.preprocess("what does @src/stamina/_core.py retry?", root=root)

Whatever fsspec has a name for: ``ssh``, ``s3``, ``gcs``, ``zip``, ``github``, ``memory`` and some forty more, each with a
library of its own.
"""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

from filerefs import OptionError, OptionTypeError, Reason, RootNotFoundError
from filerefs.integrations.fsspec_infos import ask, kind_of, names_in, own_path, size_of, stamp_of
from filerefs.roots import Entry, File, Folder, Found, Gate, Trouble, explain

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from filerefs.integrations.fsspec_infos import Info
    from filerefs.roots import NodeLike, TurnRoot

__all__ = ["FileSystem", "FsspecRoot"]

_LINK: Final = Trouble(Reason.SYMLINK, "it is a symbolic link, or one is on the way")
_NOT_ORDINARY: Final = Trouble(Reason.NOT_REGULAR, "neither a file nor a folder")

# Requests that are under way at once, where a file system is made for it.
_AT_ONCE: Final = 8
# A file whose size nobody knows is read so far to find out, which is more than a text is read whole for a few lines of it.
_UNSIZED: Final = (1 << 20) + 1
# Of what was not fetched ahead, so many bytes of a file are kept until the turn ends.
_SMALL: Final = 1 << 16


class FileSystem(Protocol):
    """What is asked of a file system; every one of fsspec's has it."""

    def ls(self, path: str, detail: bool = ...) -> Any: ...  # noqa: ANN401, FBT001 (fsspec's own form)
    def info(self, path: str) -> Any: ...  # noqa: ANN401
    def cat_file(self, path: str, start: int | None = ..., end: int | None = ...) -> Any: ...  # noqa: ANN401
    def open(self, path: str, mode: str = ...) -> Any: ...  # noqa: ANN401
    def invalidate_cache(self, path: str | None = ...) -> Any: ...  # noqa: ANN401


class FsspecRoot:
    """
    A folder of any file system that fsspec knows, as a root; it may be shared by threads.

    What holds:

    - Names are looked for beneath *base* in listings, exactly as these spell them, one folder after the other.  What no
      listing shows is not there: no ``..``, no absolute name, no member of an archive that is called ``../x``.
    - What a listing calls a link is refused, and so is what is neither file nor folder.
    - Secrets are withheld by their names, as everywhere.
    - A turn lists each folder at most once and asks for nothing that the listings can tell.  The files that will be
      read are fetched together.  Texts are kept between turns where the file system gives a digest, or a time of
      change that is a minute old.
    - What goes wrong is the reason of one refusal, and never an exception.

    What is *not* promised:

    - Names, not handles, are what a file system is asked for.  Whoever can put a link in the place of a file between
      its listing and its reading, has it read.  For folders on this machine there is `Root`.
    - A server that follows links and does not tell (some SSH, SMB and web servers) leads where they lead.
    - A file system that hangs, hangs the turn: give it a timeout in *storage_options*.
    - A listing is as long as the folder, and some file systems (GitHub) fetch a file as a whole whatever is asked for.
    - Where a folder may be read and not listed, names are asked for one by one.

    Args:
        filesystem: One of fsspec's, not made with ``asynchronous=True``; or a URL, also a chained one, such as
            ``zip::s3://bucket/docs.zip``.
        base: The folder in it; "" for what the URL names, or where the file system begins.
        allow: Names relative to *base* that are opened although they look like those of secrets.
        concurrency: Files that are fetched at once.  None: 8 where the file system is an asynchronous one by nature,
            else 1, because not all may be shared by threads (those of paramiko and ftplib must not).
        fresh: Whether what the file system remembers of its listings is forgotten at the beginning of each turn.
            False where nothing changes, such as a checkout at a commit.
        storage_options: For the file system that a URL leads to.

    Raises:
        RootNotFoundError: If *base* is no folder that can be listed.
        OptionError: If an option has a value that it does not take.
        ImportError: If fsspec, or the library that a URL needs, is not installed.

    .. versionadded:: 0.1
    """

    def __init__(
        self,
        filesystem: str | FileSystem,
        base: str = "",
        *,
        allow: Collection[str] = (),
        concurrency: int | None = None,
        fresh: bool = True,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.gate = Gate(allow)
        found, self.base = _connect(filesystem, base, storage_options or {})
        # Not all that is used has a public name: what a path is called without its protocol.
        self.filesystem: Any = found
        if getattr(found, "asynchronous", False):
            raise OptionError("filesystem", found, "one that was made without `asynchronous=True`")
        self.concurrency = _check_concurrency(concurrency) or (_AT_ONCE if getattr(found, "async_impl", False) else 1)
        self._fresh = fresh
        self._prefix = self.base if self.base in ("", "/") else self.base.rstrip("/") + "/"
        self._check_base()

    def open(self, name: str) -> NodeLike | Trouble:
        """Return the file or folder *name* as it is now, or why there is none."""
        return self.begin_turn().open(name)

    def begin_turn(self) -> TurnRoot:
        """Return what remembers the listings of one turn."""
        if self._fresh:
            ask(self.filesystem.invalidate_cache)
        return _Turn(self)

    def path_of(self, name: str) -> str:
        """Return what the file system calls *name*, which is normalised."""
        return self.base if name == "." else self._prefix + name

    def names_in(self, folder: str) -> dict[str, Info]:
        """Return the names in *folder*, or raise what the file system raises."""
        path = self.path_of(folder)
        try:
            return names_in(path, self.filesystem.ls(path, detail=True))
        except NotImplementedError as error:
            raise PermissionError from error

    def __repr__(self) -> str:
        return f"FsspecRoot({type(self.filesystem).__name__}, {self.base!r})"

    def _check_base(self) -> None:
        # Asked for the names in a file, file systems answer with that of the file.
        found = ask(lambda: [(own_path(info), info.get("type")) for info in self.filesystem.ls(self.base, detail=True)])
        if isinstance(found, Trouble):
            raise RootNotFoundError(self.base, found.detail)
        if found == [(self.base.strip("/"), "file")]:
            raise RootNotFoundError(self.base, "it is not a folder")


class _Turn:
    """One turn: what was listed, and what was fetched ahead."""

    def __init__(self, root: FsspecRoot) -> None:
        self._root = root
        self._folders: dict[str, dict[str, Info] | Trouble] = {}
        self._fetched: dict[str, tuple[bytes | Trouble, int | None]] = {}

    def open(self, name: str) -> NodeLike | Trouble:
        return self._root.gate.open(name, self._look)

    def prefetch(self, nodes: Sequence[NodeLike], limit_bytes: int | None) -> None:
        """Fetch the beginnings of files, and list folders, as many at once as may be."""
        if self._root.concurrency == 1:
            return

        def fetch(node: NodeLike) -> None:
            if node.kind == "directory":
                self._list(node.name)
            else:
                self._fetched[node.name] = self.fetch(node.name, limit_bytes), limit_bytes

        with ThreadPoolExecutor(self._root.concurrency, "filerefs fsspec") as pool:
            list(pool.map(fetch, [node for node in nodes if node.kind == "directory" or node.size]))

    def fetch(self, name: str, limit: int | None) -> bytes | Trouble:
        """Return the first *limit* bytes of a file, or all."""
        path = self._root.path_of(name)
        data = ask(lambda: bytes(self._root.filesystem.cat_file(path, start=0, end=limit) if limit is not None else self._root.filesystem.cat_file(path)))
        return data if isinstance(data, Trouble) or limit is None else data[:limit]

    def begin(self, name: str, limit: int | None) -> tuple[bytes | Trouble, int | None]:
        """Return the first bytes of a file, and how many were asked for: those that were fetched ahead, else *limit*."""
        if name in self._fetched:
            return self._fetched[name]
        data = self.fetch(name, limit)
        if isinstance(data, Trouble) or len(data) <= _SMALL:
            # Ignore rules are asked for again with each folder that is listed.
            self._fetched[name] = data, limit
        return data, limit

    def reopen(self, name: str) -> Any:  # noqa: ANN401
        """Return a handle for reading a file from any place on, or raise what the file system raises."""
        return self._root.filesystem.open(self._root.path_of(name), "rb")

    def _look(self, path: str) -> Found:
        if path == ".":
            return Folder(lambda _: self._entries("."))
        *way, last = path.split("/")
        folder = "."
        for part in way:
            here = part if folder == "." else f"{folder}/{part}"
            info = self._find(folder, part, here)
            if info is None or isinstance(info, Trouble):
                return info
            kind = kind_of(info)
            if kind != "directory":
                return _LINK if kind == "link" else None
            folder = here
        info = self._find(folder, last, path)
        return info if info is None or isinstance(info, Trouble) else self._describe(path, info)

    def _find(self, folder: str, name: str, path: str) -> Info | Trouble | None:
        """Return what the listing of *folder* says of *name*; where there is none, ask for it alone."""
        names = self._list(folder)
        if not isinstance(names, Trouble):
            return names.get(name)
        if names.reason is not Reason.PERMISSION:
            return None if names.reason is Reason.NOT_FOUND else names
        info = ask(lambda: self._root.filesystem.info(self._root.path_of(path)))
        return None if isinstance(info, Trouble) and info.reason is Reason.NOT_FOUND else info

    def _describe(self, path: str, info: Info) -> Found:
        kind = kind_of(info)
        if kind == "directory":
            return Folder(lambda _: self._entries(path))
        if kind != "file":
            return _LINK if kind == "link" else _NOT_ORDINARY
        size = size_of(info)
        if size == 0:
            # Asked for the first bytes of nothing, S3 answers with an error.
            return File(0, lambda _offset, _limit: b"", stamp=stamp_of(path, info))
        reader = _Reader(self, path)
        if size is None and self._root.gate.withholds(path, directory=False):
            # The gate will close it: not even for its size is a secret fetched.
            size = 0
        if size is None:
            beginning = reader.read(0, _UNSIZED)
            if isinstance(beginning, Trouble):
                return beginning
            size = len(beginning)
        return File(size, reader.read, stamp=stamp_of(path, info), close=reader.close)

    def _entries(self, folder: str) -> list[Entry] | Trouble:
        names = self._list(folder)
        if isinstance(names, Trouble):
            return names
        return [Entry(name, kind_of(names[name])) for name in sorted(names)]

    def _list(self, folder: str) -> dict[str, Info] | Trouble:
        """Return the names in *folder*; asked for once."""
        if folder not in self._folders:
            self._folders[folder] = ask(lambda: self._root.names_in(folder))
        return self._folders[folder]


class _Reader:
    """Reads one file: its beginning by one request, what is behind that through a handle."""

    def __init__(self, turn: _Turn, name: str) -> None:
        self._turn = turn
        self._name = name
        self._beginning: bytes | None = None
        self._complete = False
        self._handle: Any = None

    def read(self, offset: int, limit: int | None) -> bytes | Trouble:
        """Return *limit* bytes from *offset* on, fewer at the end; None for all."""
        end = None if limit is None else offset + limit
        if self._beginning is None:
            beginning, wanted = self._turn.begin(self._name, end)
            if isinstance(beginning, Trouble):
                return beginning
            self._beginning = beginning
            self._complete = wanted is None or len(beginning) < wanted
        known = len(self._beginning)
        if self._complete or (end is not None and end <= known):
            return self._beginning[offset:end]
        start = max(offset, known)
        rest = ask(lambda: self._read_on(start, None if end is None else end - start))
        return rest if isinstance(rest, Trouble) else self._beginning[offset:] + rest

    def close(self) -> None:
        """Close the handle, if there is one; that it cannot be closed is nobody's loss."""
        if self._handle is not None:
            ask(self._handle.close)

    def _read_on(self, start: int, count: int | None) -> bytes:
        if self._handle is None:
            self._handle = self._turn.reopen(self._name)
        if isinstance(self._handle, io.BytesIO):
            # Handed out by the memory file system to all who ask: it has one position, which others move.
            return bytes(self._handle.getbuffer()[start : None if count is None else start + count])
        self._handle.seek(start)
        pieces: list[bytes] = []
        while count is None or count > 0:
            piece = self._handle.read() if count is None else self._handle.read(count)
            if not piece:
                break
            pieces.append(piece)
            count = None if count is None else count - len(piece)
        return b"".join(pieces)


def _connect(filesystem: object, base: str, options: Mapping[str, Any]) -> tuple[Any, str]:
    """Return a file system and the path of the root in it."""
    if not isinstance(filesystem, str):
        if not callable(getattr(filesystem, "cat_file", None)):
            raise OptionTypeError("filesystem", filesystem, "a file system of fsspec, or a URL")
        found: Any = filesystem
        return found, found._strip_protocol(base)  # noqa: SLF001 (fsspec has no public name for it)
    try:
        core = import_module("fsspec.core")
    except ImportError as error:
        from filerefs.integrations.extras import lacking

        raise lacking(__name__, "fsspec", error) from error
    try:
        # A new one each time: an archive that was made anew has another table of contents.
        found, path = core.url_to_fs(filesystem, **{"skip_instance_cache": True, **options})
    except ValueError as error:
        # The rest of it may hold a password.
        raise OptionError("filesystem", filesystem.partition(":")[0], "a URL that fsspec knows") from error
    except OSError as error:
        raise RootNotFoundError(filesystem.partition(":")[0], explain(error).detail) from error
    inner = base.strip("/")
    return found, found._strip_protocol(f"{path.rstrip('/')}/{inner}" if inner else path)  # noqa: SLF001


def _check_concurrency(number: object) -> int | None:
    if number is None:
        return None
    if not isinstance(number, int) or isinstance(number, bool):
        raise OptionTypeError("concurrency", number, "a number of at least 1, or None")
    if number < 1:
        raise OptionError("concurrency", number, "a number of at least 1, or None")
    return number
