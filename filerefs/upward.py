"""From a folder upwards: which folder a project begins in.  What is opened here was named by the host, never by a message.

Parents are reached by `..` from a handle, so that neither a link on the way to the start folder nor another spelling
of its name leads to other parents than it has.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from filerefs import descent, troubles
from filerefs.errors import OptionError, RootNotFoundError, UnsupportedPlatformError

if TYPE_CHECKING:
    from collections.abc import Collection

Why: TypeAlias = Literal["given", "marker", "start"]
_Identity: TypeAlias = tuple[int, int]

# What no file system takes for a name is not there either.
_ABSENT = (FileNotFoundError, NotADirectoryError, UnicodeEncodeError)


@dataclass(frozen=True, slots=True)
class Ascent:
    """
    Where a project begins.

    Attributes:
        root: The path of its root folder, absolute and without links.
        parts: What leads from there to the start folder.
        why: Whether the root was "given", has the `marker`, or is nothing but the "start" folder.
        marker: What was found in it.
        troubles: For each marker that could not be looked for: the folder's path, the marker, and a sentence.
    """

    root: str
    parts: tuple[str, ...]
    why: Why
    marker: str = ""
    troubles: tuple[tuple[str, str, str], ...] = ()


class Located(NamedTuple):
    """Something that a host named: the folder it lies in, without links, and its name there; "" for a folder itself."""

    folder: str
    name: str


def find_up(
    path: str | os.PathLike[str],
    markers: Collection[str],
    *,
    root: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
) -> Ascent:
    """
    Return the root of the project that *path* lies in: *root*, or the nearest folder that has one of *markers* in it.

    A file starts in its folder, and what does not exist yet in the nearest folder that does.  Where no folder has a
    marker, the start folder is the root.  The search goes no further than the home folder, and never into a folder
    like ``/tmp``, where everybody may put a marker.

    Raises:
        OptionError: If *path* does not lie in *root*, or can be no path.
        RootNotFoundError: If *root* is no folder, or none can be opened.
        UnsupportedPlatformError: On Windows.
    """
    if os.name == "nt":
        raise UnsupportedPlatformError(os.fspath(path), "there is no confined way to open files on Windows yet")
    stop = None if root is None else _identify(root)
    last = _home_identity(home) if root is None and markers else None
    folder, descriptor = _open_start(path)
    troubles_met: list[tuple[str, str, str]] = []
    start = folder
    try:
        while True:
            status = os.fstat(descriptor)
            here = (status.st_dev, status.st_ino)
            if here == stop:
                return Ascent(folder, _below(folder, start), "given")
            if stop is None and not (status.st_mode & stat.S_ISVTX and status.st_mode & stat.S_IWOTH):
                for marker in markers:
                    if _has(descriptor, marker, folder, troubles_met):
                        return Ascent(folder, _below(folder, start), "marker", marker, tuple(troubles_met))
            if here == last or (stop is None and not markers):
                break
            parent = os.path.dirname(folder)  # noqa: PTH120 (text, not the disk)
            above = -1 if parent == folder else _open_parent(descriptor, parent)
            if above < 0:
                break
            os.close(descriptor)
            folder, descriptor = parent, above
    finally:
        descent.close_quietly(descriptor)
    if root is not None:
        raise OptionError("path", os.fspath(path), "inside `root`")
    return Ascent(start, (), "start", "", tuple(troubles_met))


def locate(path: str | os.PathLike[str]) -> Located | None:
    """
    Return where *path*, which the host named, lies; None if nothing is there.

    Links on the way and at the end are followed: it is the host's own path.  A ``~`` at its beginning is the home folder.

    Raises:
        OptionError: If it can be no path.
    """
    text = _absolute(os.path.expanduser(os.fspath(path)))  # noqa: PTH111 (pathlib raises where there is no home)
    real = os.path.realpath(text)
    try:
        status = os.stat(real)  # noqa: PTH116 (by text, like all in here)
    except OSError:
        return None
    return Located(real, "") if stat.S_ISDIR(status.st_mode) else Located(*os.path.split(real))


def parent_of(path: str | os.PathLike[str]) -> Located:
    """Return the folder that *path* lies in, without links, and its name there, whether or not it exists and is a link."""
    folder, name = os.path.split(_absolute(os.path.expanduser(os.fspath(path))))  # noqa: PTH111 (see above)
    return Located(os.path.realpath(folder), name)


def home_folder() -> str:
    """Return the path of the home folder without links, "" if there is none."""
    home = os.path.expanduser("~")  # noqa: PTH111 (see above)
    return "" if home == "~" else os.path.realpath(home)


def _absolute(path: str) -> str:
    try:
        possible = path and b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise OptionError("path", path, "a path that can exist")
    return os.path.abspath(path)  # noqa: PTH100 (pathlib does not fold `..`)


def _open_start(path: str | os.PathLike[str]) -> tuple[str, int]:
    """Return the path and a handle of the nearest folder that *path* is, or lies in."""
    text = _absolute(os.fspath(path))
    while True:
        try:
            return os.path.realpath(text), os.open(text, descent.STEP)
        except OSError as error:
            parent = os.path.dirname(text)  # noqa: PTH120 (text, not the disk)
            if parent == text:
                raise RootNotFoundError(text, "it cannot be opened") from error
            text = parent


def _open_parent(descriptor: int, parent: str) -> int:
    """Return a handle of *parent*, the folder above *descriptor*, -1 where it may not be entered."""
    try:
        return os.open("..", descent.STEP, dir_fd=descriptor)
    except PermissionError:
        # Not even ".." can be looked up in a folder that may not be searched; by its name the parent can.
        return _open_or_not(parent)
    except OSError as error:
        # To end here would be to find no project where there is one.
        raise RootNotFoundError(parent, "it cannot be opened") from error


def _open_or_not(folder: str) -> int:
    try:
        return os.open(folder, descent.STEP)
    except OSError:
        return -1


def _below(root: str, start: str) -> tuple[str, ...]:
    return tuple(part for part in start[len(root) :].split("/") if part)


def _has(descriptor: int, marker: str, folder: str, met: list[tuple[str, str, str]]) -> bool:
    """Tell whether *marker* exists in a folder, as a file or a folder; a link to nothing does not count."""
    try:
        os.stat(marker, dir_fd=descriptor)
    except _ABSENT:
        return False
    except OSError as error:
        met.append((folder, marker, troubles.explain(error.errno).detail))
        return False
    return True


def _identify(root: str | os.PathLike[str]) -> _Identity:
    text = _absolute(os.fspath(root))
    try:
        status = Path(text).stat()
    except OSError as error:
        raise RootNotFoundError(text, "there is no such directory") from error
    if not stat.S_ISDIR(status.st_mode):
        raise RootNotFoundError(text, "it is not a directory")
    return status.st_dev, status.st_ino


def _home_identity(home: str | os.PathLike[str] | None) -> _Identity | None:
    folder = home_folder() if home is None else os.fspath(home)
    try:
        return _identify(folder) if folder else None
    except RootNotFoundError:
        return None
