"""What can be said about a name without a disk: the gate by text, and the sentence for each refusal.

The gate is the same for every backend and comes before it: the kernel and a walk in Python do not have the same
bounds, and a name that only one of them takes would be read or refused by chance.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Collection

from filerefs.errors import OptionTypeError
from filerefs.reasons import Reason

# Not `typing`: with what it needs it takes half as long as the interpreter's start, and a hook must not.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    Typed: TypeAlias = tuple[list[str], bytes, bool]
    """A name that passed the gate: its parts (maybe with ``..``), the same as bytes, and whether it demands a directory."""

MOST_BYTES = 4095
MOST_PARTS = 255
_MOST_PART_BYTES = 255
_ENCODING = sys.getfilesystemencoding()
_ENCODING_ERRORS = sys.getfilesystemencodeerrors()


class Trouble:
    """
    Why a name was not opened, or what it names not read; read-only.

    Attributes:
        reason: For programs.
        detail: One sentence without a final dot: no host path, no words of the system, no link's target.
    """

    __slots__ = ("detail", "reason")

    def __init__(self, reason: Reason, detail: str) -> None:
        self.reason = reason
        self.detail = detail

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trouble) and (self.reason, self.detail) == (other.reason, other.detail)

    def __hash__(self) -> int:
        return hash((self.reason, self.detail))

    def __repr__(self) -> str:
        return f"Trouble({self.reason.value!r}, {self.detail!r})"


NO_FILE = Trouble(Reason.NOT_FOUND, "no such file")
NO_FOLDER = Trouble(Reason.NOT_FOUND, "no such folder")
ROOT_DELETED = Trouble(Reason.NOT_FOUND, "no such file, and the root folder itself was deleted")
SYMLINK = Trouble(Reason.SYMLINK, "it is a symbolic link, or one is on the way")
SECRET = Trouble(Reason.SECRET, "its name is that of a file with credentials")
FOLDER_DELETED = Trouble(Reason.NOT_FOUND, "the folder was deleted")
NOT_A_FILE = Trouble(Reason.NOT_REGULAR, "a folder, not a file")
NOT_A_FOLDER = Trouble(Reason.NOT_REGULAR, "a file, not a folder")
_FILE_ON_THE_WAY = Trouble(Reason.NOT_REGULAR, "a part of the path is a file, not a folder")
NOT_ORDINARY = Trouble(Reason.NOT_REGULAR, "a pipe, socket or device, not a file")
_EMPTY = Trouble(Reason.BAD_NAME, "an empty name")
_NUL = Trouble(Reason.BAD_NAME, "no file can have this name: it holds a NUL")
_NOT_ENCODABLE = Trouble(Reason.BAD_NAME, "no file can have this name: it holds a character that cannot be written to disk")
TOO_LONG = Trouble(Reason.BAD_NAME, "no file can have this name: it is too long")
_ABSOLUTE = Trouble(Reason.ABSOLUTE, "an absolute path; names are relative to the root folder")
_HOME = Trouble(Reason.HOME, "a path in a home folder; names are relative to the root folder")
_FAILED = Trouble(Reason.IO_ERROR, "the disk or file system failed")

_DENIED = Trouble(Reason.PERMISSION, "permission denied")
_BUSY = Trouble(Reason.BUSY, "it is locked, or changes too fast")
_NO_DESCRIPTOR = Trouble(Reason.BUSY, "too many files are open")
_BAD_NAME = Trouble(Reason.BAD_NAME, "no file can have this name here")

_BY_NUMBER = {
    errno.ENOENT: NO_FILE,
    errno.ENOTDIR: _FILE_ON_THE_WAY,
    errno.EXDEV: Trouble(Reason.OUTSIDE_ROOT, "it leads out of the root folder"),
    errno.ELOOP: Trouble(Reason.SYMLINK_LOOP, "symbolic links lead in a circle, or there are more than 40"),
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.EAGAIN: _BUSY,
    errno.EWOULDBLOCK: _BUSY,
    errno.EBUSY: _BUSY,
    errno.ETXTBSY: _BUSY,
    errno.EMFILE: _NO_DESCRIPTOR,
    errno.ENFILE: _NO_DESCRIPTOR,
    errno.ENAMETOOLONG: TOO_LONG,
    errno.EINVAL: _BAD_NAME,
    errno.EILSEQ: _BAD_NAME,
    errno.ENXIO: NOT_ORDINARY,
    errno.ENODEV: NOT_ORDINARY,
    errno.EISDIR: NOT_A_FILE,
}
_DEMANDED = {errno.ENOENT: NO_FOLDER, errno.ENOTDIR: NOT_A_FOLDER}


def explain(number: int | None, *, directory: bool = False) -> Trouble:
    """
    Return what the error *number* of the system means; with *directory* the name demanded one.

    An error without a number is not the system's: the host forbade the opening by an audit hook.
    """
    if number is None:
        return _DENIED
    return (directory and _DEMANDED.get(number)) or _BY_NUMBER.get(number, _FAILED)


def read_name(name: str) -> Typed | Trouble:
    """
    Take *name* apart, or say why it can name nothing inside a root.

    Empty parts and ``.`` are dropped; at the end they demand a directory.  ``..`` stays: only the disk knows
    what it leads to.  At most 4,095 bytes, 255 parts, 255 bytes a part.
    """
    if name[:1] in ("", "/", "~") or name[1:2] == ":" or "\0" in name:
        trouble = _judge_text(name)
        if trouble is not None:
            return trouble
    try:
        raw = name.encode(_ENCODING, _ENCODING_ERRORS)
    except UnicodeEncodeError:
        return _NOT_ENCODABLE
    if len(raw) > MOST_BYTES:
        return TOO_LONG
    parts = name.split("/")
    directory = False
    if "" in parts or "." in parts:
        directory = parts[-1] in ("", ".")
        parts = clean(parts)
        raw = "/".join(parts).encode(_ENCODING, _ENCODING_ERRORS) or b"."
    if len(parts) > MOST_PARTS or (len(raw) > _MOST_PART_BYTES and any(len(part) > _MOST_PART_BYTES for part in raw.split(b"/"))):
        return TOO_LONG
    return parts, raw, directory


def _judge_text(name: str) -> Trouble | None:
    if not name:
        return _EMPTY
    if "\0" in name:
        return _NUL
    if name[0] == "/" or (name[1:3] in (":/", ":\\") and name[0].isascii() and name[0].isalpha()):
        return _ABSOLUTE
    return _HOME if name == "~" or name.startswith("~/") else None


def no_such_lines(total: int | None) -> Trouble:
    """Return what is said of lines behind the end of a file that has *total*."""
    return Trouble(Reason.BAD_RANGE, f"the file has {total or 'no'} {'line' if total == 1 else 'lines'}")


def openable(path: str) -> str:
    """Return *path*, which is relative and exists, so that the gate lets it pass: a folder called `~` or `c:` is no home and no drive."""
    return path if _judge_text(path) is None else f"./{path}"


def clean(parts: Iterable[str]) -> list[str]:
    """Return *parts* without those that mean nothing: empty ones and ``.``."""
    return [part for part in parts if part not in ("", ".")]


def fold(parts: list[str]) -> list[str]:
    """Return *parts* with each ``..`` taken off by text: what they name where no link is on the way."""
    if ".." not in parts:
        return parts
    folded: list[str] = []
    for part in parts:
        if part == "..":
            del folded[-1:]
        else:
            folded.append(part)
    return folded


def is_short(parts: list[str]) -> bool:
    """Tell whether a name that links led to is within the bounds that hold for one that is typed."""
    return len(parts) <= MOST_PARTS and len("/".join(parts).encode(_ENCODING, _ENCODING_ERRORS)) <= MOST_BYTES


def is_name(name: str) -> bool:
    """Tell whether *name* can be what a file in a folder is called, and be asked for again."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        return False
    try:
        name.encode(_ENCODING, _ENCODING_ERRORS)
    except UnicodeEncodeError:
        return False
    return True


def read_allow(allow: object) -> frozenset[str]:
    """
    Return the names in *allow* in the form in which they are compared.

    Raises:
        OptionTypeError: If it is one str, or holds anything but str: every letter would be a name.
    """
    if isinstance(allow, str | bytes) or not isinstance(allow, Collection):
        raise OptionTypeError("allow", allow, "a collection of names")
    allowed: set[str] = set()
    names: Collection[object] = allow
    for name in names:
        if not isinstance(name, str):
            raise OptionTypeError("allow", name, "a collection of names, each a str")
        allowed.add("/".join(fold(clean(name.split("/")))))
    return frozenset(allowed)
