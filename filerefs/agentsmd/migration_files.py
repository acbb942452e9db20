"""
The only room of this library that writes: one new file, into a folder that the host named.

Everything goes through a handle of the folder, so that renaming it, or putting a link in its place, changes nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_HARD_LINKS = frozenset((errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK))
# A blank file of more than this is somebody's work, not a placeholder.
_LONGEST_BLANK = 64 * 1024


class _TakenError(Exception):
    """Something is there that must not be overwritten; the text says what."""


def write_file(folder: str, name: str, text: str) -> str:
    """
    Write *text*, in UTF-8, as the file *name* of *folder*; return "" or one sentence that says why nothing was written.

    The file appears whole or not at all.  What is there already is taken over only if it is a regular file with
    nothing but white space in it; a link is never followed, and never replaced.
    """
    try:
        descriptor = os.open(folder, _FOLDER)
    except OSError as error:
        return f"the folder cannot be opened: {os.strerror(error.errno or errno.EIO)}"
    try:
        _write(descriptor, name, text.encode())
    except _TakenError as error:
        return str(error)
    except OSError as error:
        return f"it cannot be written: {os.strerror(error.errno or errno.EIO)}"
    finally:
        os.close(descriptor)
    return ""


def _write(folder: int, name: str, data: bytes) -> None:
    found = _look(folder, name)
    temporary = f".filerefs-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temporary, _NEW, 0o666, dir_fd=folder)
    try:
        _fill(descriptor, data)
        _put_in_place(folder, temporary, name, found)
        os.fsync(folder)
    finally:
        _remove(folder, temporary)


def _look(folder: int, name: str) -> os.stat_result | None:
    """Return the status of the blank file *name*; None if there is nothing.  Raises `_TakenError` for anything else."""
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _TakenError(f"{name} is a symbolic link") from error
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _TakenError(f"{name} is there and is no regular file")
        if status.st_size > _LONGEST_BLANK or os.read(descriptor, _LONGEST_BLANK + 1).strip():
            raise _TakenError(f"{name} is there and is not blank")
    finally:
        os.close(descriptor)
    return status


def _fill(descriptor: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put_in_place(folder: int, temporary: str, name: str, found: os.stat_result | None) -> None:
    if found is None:
        # Unlike a rename, a link is never put over what somebody else wrote in the meantime.
        try:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError as error:
            raise _TakenError(f"{name} has just been made by somebody else") from error
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
        else:
            return
        os.close(os.open(name, _NEW, 0o666, dir_fd=folder))
    elif _stamp(os.stat(name, dir_fd=folder, follow_symlinks=False)) != _stamp(found):
        raise _TakenError(f"{name} has just been changed by somebody else")
    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns)


def _remove(folder: int, temporary: str) -> None:
    # After a rename there is nothing left to remove.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary, dir_fd=folder)
