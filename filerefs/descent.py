"""A name resolved part by part beneath a directory handle: for systems and sandboxes without openat2.

Every opening takes one part, relative to the handle of the directory before it, and never follows a link, so
that there is nothing to be exchanged between two looks.  ``..`` takes a handle from a stack and is never given to
the system: the parent of a directory that was moved out meanwhile is outside.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

from filerefs.troubles import MOST_PARTS

# Not `typing`: with what it needs it takes half as long as the interpreter's start, and a hook must not.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    Found: TypeAlias = tuple[int, os.stat_result, list[str]]
    """A descriptor (-1 for what must not be opened), its status, and the parts of its real name."""


def _flags(*names: str) -> int:
    """Sum up Python's flags for opening; one that the platform does not have is 0."""
    return sum(getattr(os, name, 0) for name in names)


HAS_PATH_HANDLES = sys.platform == "linux"
READ = _flags("O_RDONLY", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY")
DIRECTORY = _flags("O_DIRECTORY")
_NOFOLLOW = _flags("O_NOFOLLOW")
LOOK = _flags("O_PATH", "O_CLOEXEC")
# Where O_PATH is missing: Darwin's O_SEARCH, unknown to `os`, opens what may be searched but not read.
STEP = (LOOK if HAS_PATH_HANDLES else _flags("O_RDONLY", "O_CLOEXEC") | (0x40000000 if sys.platform == "darwin" else 0)) | DIRECTORY
# What the systems answer when O_DIRECTORY or O_NOFOLLOW meets something else.
_NOT_A_STEP = (errno.ENOTDIR, errno.ELOOP, errno.EMLINK)


def resolve(root: int, parts: Sequence[str], *, directory: bool, links: int, by_handle: bool) -> Found:
    """
    Return what *parts* name beneath the directory *root*, following at most *links* links.

    With *by_handle* a file is opened by O_PATH, so that it is looked at without being touched; else its status is
    asked for, it is opened for reading without waiting, and both are compared.

    Raises:
        OSError: With the number that openat2 would have answered: EXDEV where something leads out, ELOOP where
            there are too many links, ENOTDIR where a file stands for a directory, EAGAIN where something is exchanged.
    """
    handles: list[int] = []
    names: list[str] = []
    work = list(reversed(parts))
    try:
        while work:
            part = work.pop()
            here = handles[-1] if handles else root
            if part in (".", ".."):
                # Asks for nothing but the right to search, as the kernel does.
                os.stat(".", dir_fd=here)
                if part == "..":
                    _step_back(handles, names)
                continue
            found = (_step_into(part, here) if work or directory else None) or _look_at(part, here, by_handle=by_handle)
            if isinstance(found, str):
                links -= 1
                directory = directory or (not work and found.endswith("/"))
                work += _read_link(found, links)
                continue
            descriptor, status = found
            names.append(part)
            if status is not None and not stat.S_ISDIR(status.st_mode):
                if work or directory:
                    close_quietly(descriptor)
                    raise OSError(errno.ENOTDIR, "")
                return descriptor, status, names
            handles.append(descriptor)
            if len(handles) > MOST_PARTS:
                raise OSError(errno.ENAMETOOLONG, "")
        if not handles:
            handles.append(os.open(".", STEP, dir_fd=root))
        return handles[-1], os.fstat(handles[-1]), _release(handles, names)
    finally:
        for handle in handles:
            os.close(handle)


def close_quietly(descriptor: int) -> None:
    """Close *descriptor*, unless it stands for nothing."""
    if descriptor >= 0:
        os.close(descriptor)


def _release(handles: list[int], names: list[str]) -> list[str]:
    """Take the last handle away from those that are closed at the end: it is the answer."""
    handles.pop()
    return names


def _step_back(handles: list[int], names: list[str]) -> None:
    if not handles:
        raise OSError(errno.EXDEV, "")
    os.close(handles.pop())
    names.pop()


def _read_link(text: str, links: int) -> list[str]:
    """Return the parts of a link's *text*, last first; *links* more of them may follow."""
    if links < 0:
        raise OSError(errno.ELOOP, "")
    if text.startswith("/"):
        raise OSError(errno.EXDEV, "")
    return [part for part in reversed(text.split("/")) if part]


def _step_into(part: str, here: int) -> tuple[int, None] | None:
    try:
        return os.open(part, STEP | _NOFOLLOW, dir_fd=here), None
    except OSError as error:
        if error.errno in _NOT_A_STEP:
            return None
        raise


def _look_at(part: str, here: int, *, by_handle: bool) -> tuple[int, os.stat_result] | str:
    """Return the descriptor and status of *part* in the directory *here*, or the text of the link that it is."""
    if not by_handle:
        return _look_twice(part, here)
    descriptor = os.open(part, LOOK | _NOFOLLOW, dir_fd=here)
    status = os.fstat(descriptor)
    if not stat.S_ISLNK(status.st_mode):
        return descriptor, status
    try:
        # An empty name: the very link that was opened, whatever has its name by now.
        return os.readlink("", dir_fd=descriptor)
    finally:
        os.close(descriptor)


def _look_twice(part: str, here: int) -> tuple[int, os.stat_result] | str:
    """Look, open, compare: for systems without handles that only look, and for sandboxes without procfs."""
    before = os.stat(part, dir_fd=here, follow_symlinks=False)
    try:
        if stat.S_ISLNK(before.st_mode):
            return os.readlink(part, dir_fd=here)
        if stat.S_ISDIR(before.st_mode):
            descriptor = os.open(part, STEP | _NOFOLLOW, dir_fd=here)
        elif stat.S_ISREG(before.st_mode):
            descriptor = os.open(part, READ | _NOFOLLOW, dir_fd=here)
        else:
            return -1, before
    except OSError as error:
        if error.errno in (*_NOT_A_STEP, errno.EINVAL, errno.ENXIO):
            raise OSError(errno.EAGAIN, "") from error
        raise
    check_same(descriptor, before)
    return descriptor, before


def check_same(descriptor: int, before: os.stat_result) -> None:
    """
    Close *descriptor* and raise EAGAIN unless it is what *before* describes: device, inode and type.

    Raises:
        OSError: EAGAIN.
    """
    now = os.fstat(descriptor) if descriptor >= 0 else None
    if now is None or (now.st_dev, now.st_ino, stat.S_IFMT(now.st_mode)) != (before.st_dev, before.st_ino, stat.S_IFMT(before.st_mode)):
        close_quietly(descriptor)
        raise OSError(errno.EAGAIN, "")
