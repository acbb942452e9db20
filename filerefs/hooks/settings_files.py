"""
A host's settings file, read and written so that nothing of it can be lost.

The file is opened in the folder's handle and through no link; the new text is put in its place in one step, with what
it was before beside it; and where the file changed in between, nothing is written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from typing import TYPE_CHECKING, NamedTuple

from filerefs.errors import FilerefsError

if TYPE_CHECKING:
    from collections.abc import Generator

BACKUP = ".filerefs.bak"

_LARGEST = 16 * 1024 * 1024
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE


class SettingsError(FilerefsError):
    """A settings file cannot be edited safely; the text says why, and nothing was written."""


class Place(NamedTuple):
    """
    Where a settings file is.

    Attributes:
        parent: A folder that exists; links on the way to it are the person's own.
        folder: The folder in it that holds the file; "" where `parent` does.
        name: The file.
    """

    parent: str
    folder: str
    name: str

    @property
    def path(self) -> str:
        """The whole path, for people."""
        return os.path.join(self.parent, self.folder, self.name)  # noqa: PTH118 (text)


class Snapshot(NamedTuple):
    """What a file held, None for no file; what it looked like, so that a change in between is noticed; its permissions."""

    text: str | None
    stamp: tuple[int, ...] = ()
    mode: int | None = None


def read(place: Place) -> Snapshot:
    """
    Return what is at *place*.

    Raises:
        SettingsError: If it is a link, no file, not readable, too large, or no UTF-8; or on Windows.
    """
    with _folder(place, make=False) as folder:
        return Snapshot(None) if folder < 0 else _read(place, folder)


def read_beside(place: Place, name: str) -> str | None:
    """
    Return what the file *name* beside *place* holds, None for none.  It is only looked at, so links are followed.

    Raises:
        SettingsError: If it cannot be read.
    """
    path = place._replace(name=name).path
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 (a file that the host names, by one plain open)
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be read, so nothing is known of the hooks in it: {error}") from error


def write(place: Place, text: str | None, before: Snapshot) -> None:
    """
    Put *text* at *place*, or take the file away for None; what it held is kept beside it, with `BACKUP` behind its name.

    Raises:
        SettingsError: If *before* is no longer what is there, or the system does not let it be written.
    """
    try:
        with _folder(place, make=True) as folder:
            if _read(place, folder)[:2] != before[:2]:
                raise SettingsError(f"{place.path} was changed by somebody else in the meantime; try again")
            if before.text is not None:
                _put(folder, place.name + BACKUP, before.text, before.mode)
            if text is None:
                os.unlink(place.name, dir_fd=folder)
            else:
                _put(folder, place.name, text, before.mode)
    except OSError as error:
        raise SettingsError(f"cannot write {place.path}: {error.strerror}") from error


@contextlib.contextmanager
def _folder(place: Place, *, make: bool) -> Generator[int]:
    """Give a handle of the folder of *place*, -1 where there is none."""
    if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
        raise SettingsError("there is no safe way to edit settings on this system yet")
    handles: list[int] = []
    try:
        yield _open_folder(place, handles, make=make)
    finally:
        for handle in handles:
            os.close(handle)


def _open_folder(place: Place, handles: list[int], *, make: bool) -> int:
    try:
        # The parent may be reached through links, which are the person's; the last step is one that a project can set.
        handles.append(os.open(place.parent, _FOLDER & ~os.O_NOFOLLOW))
        if place.folder:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(place.folder, dir_fd=handles[-1])
            handles.append(os.open(place.folder, _FOLDER, dir_fd=handles[-1]))
    except FileNotFoundError as error:
        if len(handles) == 1 and not make:
            return -1
        raise SettingsError(f"there is no folder {place.parent}") from error
    except OSError as error:
        folder = os.path.join(place.parent, place.folder)  # noqa: PTH118 (text)
        raise SettingsError(f"{folder} {_why(error)}") from error
    return handles[-1]


def _read(place: Place, folder: int) -> Snapshot:
    try:
        descriptor = os.open(place.name, os.O_RDONLY | _FILE, dir_fd=folder)
    except FileNotFoundError:
        return Snapshot(None)
    except OSError as error:
        raise SettingsError(f"{place.path} {_why(error)}") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise SettingsError(f"{place.path} is no file")
        data = _read_all(place, descriptor)
    finally:
        os.close(descriptor)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise SettingsError(f"{place.path} is not UTF-8") from error
    return Snapshot(text, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns), stat.S_IMODE(status.st_mode))


def _read_all(place: Place, descriptor: int) -> bytes:
    pieces = []
    while piece := os.read(descriptor, 1024 * 1024):
        pieces.append(piece)
        if sum(map(len, pieces)) > _LARGEST:
            raise SettingsError(f"{place.path} is too large to be a settings file")
    return b"".join(pieces)


def _put(folder: int, name: str, text: str, mode: int | None) -> None:
    """Write a new file and give it *name* when it is whole; what bore that name, link or file, is replaced and not followed."""
    scratch = f".filerefs-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(scratch, _NEW, 0o666 if mode is None else mode, dir_fd=folder)
    try:
        try:
            if mode is not None:
                os.fchmod(descriptor, mode)
            data = memoryview(text.encode())
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(scratch, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(scratch, dir_fd=folder)
        raise


def _why(error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.EMLINK) or (error.errno == errno.ENOTDIR and error.filename is not None):
        return "is a symbolic link, or no folder; nothing is written through a link"
    return f"cannot be opened: {error.strerror}"
