"""The only room that opens, looks at or lists what a message or an instruction file names.

pathlib's way (resolve, compare, open) is not used: between the comparison and the opening somebody can put a link
in place, and up to one in ten such openings then read outside.  Here a name is resolved beneath a directory
handle, and what comes back is the thing itself, opened, never a path that "was checked".  `openat2` (the system
call) and `descent` (the walk) are its two hands, `troubles` its gate and its sentences.
"""

from __future__ import annotations

import errno
import functools
import os
import stat

from filerefs import descent, troubles
from filerefs.calls import Calls
from filerefs.errors import OptionError, OptionTypeError, RootClosedError, RootNotFoundError, UnsupportedPlatformError
from filerefs.naming import is_secret
from filerefs.nodes import Entry, Listing, Node, has_procfs
from filerefs.troubles import Trouble

# Not `typing`: with what it needs it takes half as long as the interpreter's start, and a hook must not.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from types import TracebackType
    from typing import Literal, NoReturn, Self, TypeAlias

    from filerefs.openat2 import How, Opener

    SymlinkPolicy: TypeAlias = Literal["refuse", "inside"]
    Backend: TypeAlias = Literal["auto", "openat2", "walk"]

__all__ = ["Entry", "Listing", "Node", "Root", "Trouble"]

_MOST_LINKS = 40
_WHY_NOT: dict[type, str] = {NotADirectoryError: "it is not a directory", FileNotFoundError: "there is no such directory", PermissionError: "permission denied"}
_KINDS: dict[int, Literal["file", "directory"]] = {stat.S_IFREG: "file", stat.S_IFDIR: "directory"}


class Root:
    """
    A directory, and whatever can be named inside it; nothing else can be opened through it.

    The directory is opened once, and names are resolved beneath that handle: renaming it, or putting another in its
    place, changes nothing.  A `Root` may be shared by threads and used after a fork.

    What holds, also while somebody else renames files and exchanges links as fast as the disk allows:

    - No name opens, looks at or lists anything that was not inside the directory at that moment: no ``..``, no
      absolute path, no link with any text leads out.  With ``symlinks="refuse"`` no symbolic link is followed
      at all; with ``"inside"`` at most 40 are, each of them relative and staying inside.
    - Only regular files and directories are opened.  A FIFO, socket or device is looked at through a handle that
      does not reach it: no reader is announced, no driver called.  Reading never waits for a lease or a writer.
    - A file is read as it was looked at: reading goes through the handle, not through the name a second time.
    - Files that by their name hold credentials are refused, unless exactly this name is in `allow`.

    What is *not* promised:

    - A hard link inside is a file inside, whatever its other names.  A mount or bind mount inside is part of the root.
    - The secret names are a seat belt: a credential under another name is not seen.
    - A file system that hangs hangs the caller.  A file that changes while it is read may come back part old, part new.
    - Nothing about other parts of a prompt that an attacker wrote, nor about what a model does with a text.
    - Without ``/proc`` a name is looked at, opened and compared.  A FIFO put in its place between the first two is
      opened, without waiting, and closed again.  So it is on macOS and the BSDs, whose constants in here have not
      been tried on the systems themselves.

    Args:
        path: The directory.  Links on the way to it are followed: this name is the host's, not a message's.
        symlinks: "refuse" or "inside".
        allow: Names relative to the root, ``/``-separated, that are opened although they look secret.  A file with
            several secret names (a link's and its target's) needs all of them; a directory opens nothing below it.
        backend: "openat2" (Linux), "walk" (anywhere), or "auto": openat2 where it works.  Both give the same answers.
            ``FILEREFS_BACKEND=walk`` in the environment makes "auto" the walk.

    Raises:
        RootNotFoundError: If *path* is no directory, or cannot be opened.
        OptionError, OptionTypeError: If an option has a value, or a type, that it does not take.
        UnsupportedPlatformError: On Windows, for which no handles like these are written yet.

    .. versionadded:: 0.1
    """

    def __init__(
        self,
        path: str | os.PathLike[str] = ".",
        *,
        symlinks: SymlinkPolicy = "refuse",
        allow: Collection[str] = (),
        backend: Backend = "auto",
    ) -> None:
        self._descriptor = -1
        if symlinks not in ("refuse", "inside"):
            raise OptionError("symlinks", symlinks, '"refuse" or "inside"')
        if backend not in ("auto", "openat2", "walk"):
            raise OptionError("backend", backend, '"auto", "openat2" or "walk"')
        self._symlinks: SymlinkPolicy = symlinks
        self._allow = troubles.read_allow(allow)
        self._backend: Backend = backend
        self._opener: Opener | None = None
        self._may_change = backend == "auto"
        if backend == "openat2":
            self._settle()
        self._path, self._descriptor = _open_root(path)
        self._calls = Calls()

    @property
    def symlinks(self) -> SymlinkPolicy:
        """What is done with symbolic links."""
        return self._symlinks

    @property
    def backend(self) -> Literal["openat2", "walk"]:
        """What resolves the names."""
        if self._backend == "auto":
            self._settle()
        return "openat2" if self._backend == "openat2" else "walk"

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._calls.ended

    def open(self, name: str) -> Node | Trouble:
        """
        Return the file or directory that *name* means, looked at and ready to be read, or why there is none.

        Empty parts and ``.`` mean nothing, a final ``/`` or ``/.`` demands a directory, ``..`` is the parent on
        the disk.  Nothing is expanded, searched for or guessed.

        Raises:
            RootClosedError: After `close`.  Trouble with a name is never raised.
        """
        token = object()
        calls = self._calls
        try:
            if not calls.begin(token):
                raise RootClosedError(self._path, "it was closed")
            typed = troubles.read_name(name)
            return self._look(typed) if isinstance(typed, tuple) else typed
        finally:
            calls.running.discard(token)
            if calls.ended:
                calls.wake()

    def close(self) -> None:
        """Wait for calls that are running in other threads, and close the directory.  Further calls do nothing."""
        if self._calls.end():
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Root cannot be copied: two would close one handle, and read what has its number by then; it may be shared")

    def __repr__(self) -> str:
        return f"Root({self._path!r}, symlinks={self._symlinks!r}, closed={self.closed})"

    def _settle(self) -> None:
        """Decide for a backend: on first need, because finding out what the system can do loads ctypes."""
        forced = self._backend == "walk" or (self._backend == "auto" and os.environ.get("FILEREFS_BACKEND") == "walk")
        # Without procfs a handle does not tell its name, and what a link leads to must be judged by its name.
        if not forced and (self._symlinks == "refuse" or has_procfs()):
            self._opener = _find_opener()
        if self._backend == "openat2" and self._opener is None:
            raise OptionError("backend", self._backend, '"auto" or "walk" on this system, which does not offer what it needs')
        self._backend = "walk" if self._opener is None else "openat2"

    def _is_still_there(self) -> bool:
        """Ask again whether openat2 works: a sandbox may have been put up since; change to the walk if so."""
        from filerefs.openat2 import find_opener

        find_opener.cache_clear()
        self._opener = find_opener()
        self._backend = "walk" if self._opener is None else "openat2"
        return self._opener is not None

    def _look(self, typed: troubles.Typed) -> Node | Trouble:
        if self._backend == "auto":
            self._settle()
        opener = self._opener
        try:
            return self._walk(typed) if opener is None else self._ask(opener, typed)
        except OSError as error:
            return self._explain(error.errno, directory=typed[2])

    def _ask(self, opener: Opener, typed: troubles.Typed) -> Node | Trouble:
        parts, raw, directory = typed
        # Without links first, whatever the policy: then the name typed is the real one, and need not be asked for.
        descriptor = opener(self._descriptor, raw, _hows()[directory])
        if descriptor >= 0:
            self._may_change = False
            return self._admit(descriptor, os.fstat(descriptor), parts, None)
        if self._may_change and -descriptor in (errno.ENOSYS, errno.EPERM) and not self._is_still_there():
            return self._walk(typed)
        if descriptor == -errno.ELOOP and self._symlinks == "inside":
            return self._follow(opener, typed)
        return self._explain(-descriptor, directory=directory)

    def _follow(self, opener: Opener, typed: troubles.Typed) -> Node | Trouble:
        parts, raw, directory = typed
        how = _hows()[2 + directory]
        descriptor = opener(self._descriptor, raw, how)
        if descriptor == -errno.ELOOP:
            # Linux counts a link twice where its cache lets it down on the way; the second time the cache is warm.
            descriptor = opener(self._descriptor, raw, how)
        if descriptor < 0:
            return self._explain(-descriptor, directory=directory)
        try:
            status = os.fstat(descriptor)
            real = self._find_name(opener, descriptor, status)
        except BaseException:
            os.close(descriptor)
            raise
        return self._admit(descriptor, status, parts, real)

    def _walk(self, typed: troubles.Typed) -> Node | Trouble:
        parts, _, directory = typed
        links = _MOST_LINKS if self._symlinks == "inside" else 0
        descriptor, status, real = descent.resolve(self._descriptor, parts, directory=directory, links=links, by_handle=descent.HAS_PATH_HANDLES)
        return self._admit(descriptor, status, parts, real)

    def _find_name(self, opener: Opener, descriptor: int, status: os.stat_result) -> list[str]:
        """Return the parts of a handle's own name, relative to what the root's own name is by now."""
        for _ in range(3):
            base, path = _own_name(self._descriptor), _own_name(descriptor)
            if path == base:
                return []
            base = base.rstrip("/") + "/"
            if path.startswith(base):
                break
        else:
            raise OSError(errno.EBUSY, "")
        name = path[len(base) :]
        if name.endswith(" (deleted)"):
            # So the kernel marks what is no longer there; but a file may be called that.
            again = opener(self._descriptor, os.fsencode(name), _hows()[0])
            if again < 0:
                raise OSError(errno.ENOENT, "")
            descent.check_same(again, status)
            os.close(again)
        return name.split("/")

    def _admit(self, descriptor: int, status: os.stat_result, parts: list[str], real: list[str] | None) -> Node | Trouble:
        """Judge what was found by its kind and its names: the one typed, and the *real* one where a link was followed."""
        folded = troubles.fold(parts)
        typed = "/".join(folded) or "."
        target = None if real is None or real == folded else "/".join(real) or "."
        kind = _KINDS.get(stat.S_IFMT(status.st_mode))
        if kind is None:
            trouble = troubles.NOT_ORDINARY
        elif real is not None and target is not None and not troubles.is_short(real):
            trouble = troubles.TOO_LONG
        elif self.withholds(typed, directory=kind == "directory") or (target is not None and self.withholds(target, directory=kind == "directory")):
            trouble = troubles.SECRET
        else:
            # A name with `..` behind a link says nothing by itself.
            name = typed if target is None or folded is parts else target
            return Node(self, descriptor, status, kind=kind, name=name, target=target)
        descent.close_quietly(descriptor)
        return trouble

    def withholds(self, name: str, *, directory: bool) -> bool:
        """Tell whether *name*, normalised, is that of a secret which `allow` does not name."""
        return _is_secret(name, directory=directory) and name not in self._allow

    def _explain(self, number: int | None, *, directory: bool) -> Trouble:
        if number == errno.ELOOP and self._symlinks == "refuse":
            return troubles.SYMLINK
        if number == errno.ENOENT and os.fstat(self._descriptor).st_nlink == 0:
            return troubles.ROOT_DELETED
        return troubles.explain(number, directory=directory)

    def reopen(self, name: str, status: os.stat_result) -> int:
        """
        Open a file by its real name for reading: what a `Node` needs where no procfs leads back from its handle.

        Raises OSError: EAGAIN if it is no longer what *status* describes; RootClosedError after `close`.
        """
        token = object()
        calls = self._calls
        try:
            if not calls.begin(token):
                raise RootClosedError(self._path, "it was closed")
            opener = self._opener
            if opener is None:
                descriptor = descent.resolve(self._descriptor, name.split("/"), directory=False, links=0, by_handle=False)[0]
            elif (descriptor := opener(self._descriptor, os.fsencode(name), _hows()[4])) < 0:
                raise OSError(-descriptor, "")
        finally:
            calls.running.discard(token)
            if calls.ended:
                calls.wake()
        descent.check_same(descriptor, status)
        return descriptor


def _open_root(path: object) -> tuple[str, int]:
    text: object = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        raise OptionTypeError("root", path, "a path as text")
    if os.name == "nt":
        raise UnsupportedPlatformError(text, "there is no confined way to open files on Windows yet")
    try:
        return text, os.open(text, descent.STEP)
    except (OSError, ValueError) as error:
        raise RootNotFoundError(text, _WHY_NOT.get(type(error), "it cannot be opened")) from error


@functools.cache
def _hows() -> tuple[How, ...]:
    """How openat2 opens: strictly a file or directory, a directory; following both; strictly for reading."""
    from filerefs.openat2 import BENEATH, NO_MAGICLINKS, NO_SYMLINKS, How

    inside = BENEATH | NO_MAGICLINKS
    folder = descent.LOOK | descent.DIRECTORY
    return (
        How.pack(descent.LOOK, inside | NO_SYMLINKS),
        How.pack(folder, inside | NO_SYMLINKS),
        How.pack(descent.LOOK, inside),
        How.pack(folder, inside),
        How.pack(descent.READ, inside | NO_SYMLINKS),
    )


def _own_name(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 (the text as it is: pathlib would normalise it)


@functools.lru_cache(maxsize=2048)
def _is_secret(name: str, *, directory: bool) -> bool:
    return is_secret(name.split("/"), directory=directory)


def _find_opener() -> Opener | None:
    try:
        from filerefs import openat2
    except ImportError:  # a Python that was built without ctypes
        return None
    return openat2.find_opener()
