"""
A program that runs turns while every look at the disk is watched: whatever names a place by a path is caught.

    python watched.py ROOT POLICY BACKEND PROCFS MESSAGE

Allowed are: one part relative to the handle of a folder, not followed where it is a link; `.` relative to a handle; a
handle itself; /proc/self/fd/N; openat2 beneath the root's handle; and the root's own name, which the host gave, once a turn.

It prints, as JSON: what was caught, how often each allowed way was used, the turns, and which of the calls that
must be caught were.
"""

from __future__ import annotations

import builtins
import io
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filerefs
from filerefs import nodes, openat2
from filerefs import root as root_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from filerefs.openat2 import How

_BY_PROCFS = re.compile(r"/proc/self/fd/[0-9]+")
# Everything in `os` that takes a path, but for the four that are let through when they take a handle.
_NEVER = (
    *("access", "chdir", "chflags", "chmod", "chown", "chroot", "getxattr", "lchown", "link", "listdir", "listxattr", "lstat", "mkdir", "mkfifo", "mknod"),
    *("pathconf", "remove", "removexattr", "rename", "replace", "rmdir", "setxattr", "statvfs", "symlink", "truncate", "unlink", "utime"),
)


class TrespassError(BaseException):
    """A place was named by a path.  Not an Exception: nobody may swallow it."""


class Watch:
    """What is let through, what was caught, and the one hook for both."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.on = False
        self.caught: list[str] = []
        self.allowed: Counter[str] = Counter()
        self._announced = False

    def check(self, what: str, way: str | None, *arguments: object) -> None:
        """Count *way* as used, or, where there is none, catch the call."""
        if not self.on:
            return
        if way is None:
            self.caught.append(f"{what}{arguments}")
            raise TrespassError(self.caught[-1])
        self.allowed[way] += 1

    def announced(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Make a call that was checked: the audit events that it raises are no news."""
        before, self._announced = self._announced, True
        try:
            return call(*arguments, **options)
        finally:
            self._announced = before

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Catch what goes past the functions that are watched: audit events that nobody announced."""
        if self.on and not self._announced and (event == "open" or event.startswith(("os.", "glob.", "shutil."))):
            self.check(event, None, *arguments)


def watch(root: str) -> Watch:
    """Put the watch around everything that looks at the disk; it is off until it is switched on."""
    watch = Watch(root)
    genuine = {name: getattr(os, name) for name in ("open", "stat", "readlink", "scandir")}

    def open_(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        watch.check("open", _way_to_open(watch.root, path, flags, dir_fd), path, flags, dir_fd)
        return watch.announced(genuine["open"], path, flags, mode, dir_fd=dir_fd)  # type: ignore[no-any-return]

    def stat(path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> Any:
        own = isinstance(path, int) or (dir_fd is not None and path == ".")
        watch.check("stat", "a handle" if own else "a part" if _is_part(path, dir_fd) and not follow_symlinks else None, path, dir_fd, follow_symlinks)
        return genuine["stat"](path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    def readlink(path: Any, *, dir_fd: int | None = None) -> Any:
        own = dir_fd is not None and path == ""
        way = "a handle" if own else "a part" if _is_part(path, dir_fd) else _by_procfs(path) if dir_fd is None else None
        watch.check("readlink", way, path, dir_fd)
        return genuine["readlink"](path, dir_fd=dir_fd)

    def scandir(path: Any = ".") -> Any:
        watch.check("scandir", "a handle" if isinstance(path, int) else None, path)
        return watch.announced(genuine["scandir"], path)

    os.open, os.stat, os.readlink, os.scandir = open_, stat, readlink, scandir  # type: ignore[assignment]
    for name in _NEVER:
        if hasattr(os, name):
            setattr(os, name, _forbidden(watch, name, getattr(os, name)))
    builtins.open = io.open = _forbidden(watch, "open", open)  # type: ignore[assignment]
    root_module._find_opener = lambda: _watched(watch, openat2.find_opener())
    sys.addaudithook(watch.hear)
    return watch


def _way_to_open(root: str, path: Any, flags: int, dir_fd: int | None) -> str | None:
    if dir_fd is None:
        return "the root's name" if path == root and flags & os.O_DIRECTORY else _by_procfs(path)
    if path == ".":
        return "a handle"
    return "a part" if _is_part(path, dir_fd) and flags & os.O_NOFOLLOW else None


def _is_part(path: Any, dir_fd: int | None) -> bool:
    return dir_fd is not None and isinstance(path, str) and path not in ("", ".", "..") and "/" not in path


def _by_procfs(path: Any) -> str | None:
    return "/proc/self/fd/N" if isinstance(path, str) and _BY_PROCFS.fullmatch(path) else None


def _forbidden(watch: Watch, name: str, genuine: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        watch.check(name, None, *arguments)
        return genuine(*arguments, **options)

    return call


def _watched(watch: Watch, opener: openat2.Opener | None) -> openat2.Opener | None:
    if opener is None:
        return None

    def open_beneath(directory: int, name: bytes, how: How) -> int:
        resolve = int.from_bytes(how.packed[16:24], sys.byteorder)
        needed = openat2.BENEATH | openat2.NO_MAGICLINKS
        fine = directory >= 0 and resolve & needed == needed and how.flags & os.O_CLOEXEC
        watch.check("openat2", "openat2" if fine else None, directory, name, resolve)
        return watch.announced(opener, directory, name, how)  # type: ignore[no-any-return]

    return open_beneath


def provoke(watch: Watch) -> list[str]:
    """Make calls that must be caught, and return those that were not."""
    handle = os.open("/", os.O_RDONLY)
    calls: dict[str, Callable[[], object]] = {
        "open": lambda: open(watch.root, encoding="utf-8"),  # noqa: SIM115 (it never opens)
        "io.open": lambda: io.open(watch.root, encoding="utf-8"),  # noqa: SIM115, UP020 (the same; and it may be spelled so)
        "io.FileIO": lambda: io.FileIO(watch.root),
        "os.open": lambda: os.open("etc", os.O_RDONLY),
        "os.open, two parts": lambda: os.open("etc/passwd", os.O_RDONLY | os.O_NOFOLLOW, dir_fd=handle),
        "os.open, following": lambda: os.open("etc", os.O_RDONLY, dir_fd=handle),
        "os.open, a parent": lambda: os.open("..", os.O_RDONLY | os.O_NOFOLLOW, dir_fd=handle),
        "os.stat": lambda: os.stat("etc"),
        "os.stat, following": lambda: os.stat("etc", dir_fd=handle),
        "os.path.exists": lambda: os.path.exists("etc"),
        "os.path.realpath": lambda: os.path.realpath("/etc"),
        "os.listdir": lambda: os.listdir("/"),
        "os.scandir": lambda: os.scandir("/"),
        "os.walk": lambda: list(os.walk("/")),
        "os.readlink": lambda: os.readlink("/proc/self/exe"),
        "pathlib": lambda: Path("/etc").is_dir(),
        "pathlib.open": lambda: Path("/etc/passwd").read_bytes(),
        "pathlib.iterdir": lambda: list(Path("/").iterdir()),
    }
    missed = []
    for name, call in calls.items():
        watch.on = True
        try:
            call()
            missed.append(name)
        except TrespassError:
            pass
        except OSError as error:
            missed.append(f"{name}: {error}")
        finally:
            watch.on = False
    os.close(handle)
    return missed


def main(root: str, policy: str, backend: str, procfs: str, message: str) -> None:
    os.environ["FILEREFS_BACKEND"] = backend
    if procfs == "no":
        for module in (nodes, root_module):
            module.has_procfs = lambda: False  # type: ignore[attr-defined]
    watching = watch(root)

    def turns() -> list[Any]:
        with filerefs.Preprocessor(root, symlinks=policy) as preprocessor:  # type: ignore[arg-type]
            # The second turn has the texts of the first.
            return [preprocessor.preprocess(message, "Be brief.").as_dict() for _ in range(2)]

    # What is loaded on first need is loaded now: Python's own imports read files by their paths.
    turns()
    watching.on = True
    try:
        said = turns()
    except TrespassError:
        said = []
    watching.on = False
    caught = list(watching.caught)
    print(json.dumps({"caught": caught, "allowed": watching.allowed, "turns": said, "missed": provoke(watching)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
