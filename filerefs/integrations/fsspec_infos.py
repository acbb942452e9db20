"""What fsspec's file systems say of files, each in its own way -> what a root is asked for; and what their failing means."""

from __future__ import annotations

import stat
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from filerefs import Reason
from filerefs.roots import Trouble, explain

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

Info: TypeAlias = "Mapping[str, Any]"
EntryKind: TypeAlias = Literal["file", "directory", "link", "other"]
_T = TypeVar("_T")

_FAILED: Final = Trouble(Reason.IO_ERROR, "the file system failed")
_KINDS: Final[dict[object, EntryKind]] = {"file": "file", "directory": "directory", "link": "link", "symlink": "link"}
# Under these keys file systems tell what changes whenever contents do.
_DIGESTS: Final = ("ETag", "etag", "sha", "md5Hash", "content_hash", "CRC")
_TIMES: Final = ("mtime", "LastModified", "last_modified", "modified", "updated")
# Seconds that a time must be old to be trusted: clocks may count in twos, and the other machine's may go wrong.
_SETTLED: Final = 60.0


def ask(work: Callable[[], _T]) -> _T | Trouble:
    """Return what *work*, which asks a file system, returns, or what its failing means."""
    try:
        return work()
    except OSError as error:
        return explain(error)
    except Exception:  # noqa: BLE001
        # Some forty libraries are behind this call, and each raises what those below it raise: SSHException, BadZipFile,
        # ClientError.  None of them may cost the turn.
        return _FAILED


def own_path(info: Info) -> str:
    """Return the name of what *info* describes, which every file system gives as a whole path, some with a slash around it."""
    return str(info["name"]).strip("/")


def names_in(folder: str, infos: Iterable[Info]) -> dict[str, Info]:
    """Return what was listed by names, without what does not lie right in *folder*."""
    beginning = folder.strip("/")
    beginning = f"{beginning}/" if beginning else ""
    names: dict[str, Info] = {}
    for info in infos:
        path = own_path(info)
        name = path[len(beginning) :]
        if path.startswith(beginning) and name not in ("", ".", "..") and "/" not in name:
            names[name] = info
    return names


def kind_of(info: Info) -> EntryKind:
    """Return what *info* describes; what it calls a link in any way is one."""
    mode = info.get("mode")
    is_link = mode == "120000" or (isinstance(mode, int) and stat.S_ISLNK(mode))
    return "link" if is_link or info.get("islink") else _KINDS.get(str(info.get("type")), "other")


def size_of(info: Info) -> int | None:
    """Return how many bytes the file has; None where that is not known."""
    size = info.get("size")
    return size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None


def stamp_of(path: str, info: Info) -> tuple[Hashable, ...] | None:
    """Return what changes with the contents, as far as *info* has it."""
    for key in _DIGESTS:
        digest = info.get(key)
        # A weak tag says that two contents mean the same, not that they are.
        if digest is not None and digest != "" and not str(digest).startswith("W/"):
            return ("fsspec", path, size_of(info), key, str(digest))
    for key in _TIMES:
        changed = _seconds(info.get(key))
        if changed is not None:
            settled = changed + _SETTLED < time.time()
            return ("fsspec", path, size_of(info), key, changed, str(info.get("created")), str(info.get("ino"))) if settled else None
    return None


def _seconds(value: object) -> float | None:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        return _seconds(datetime.fromisoformat(value)) if isinstance(value, str) else None
    except ValueError:
        return None
