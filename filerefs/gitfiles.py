"""
The names that git knows of in a folder, and those it would add: what it ignores is left out, by its own rules.

This is the one place that starts another program.  A repository is somebody else's: its configuration may name
programs: `core.fsmonitor`, so that is switched off; `remote.….uploadpack` and the like, which a lazy fetch of what a
partial clone lacks would run, so git may fetch by no protocol.  No variable of the environment sends git elsewhere.
"""

from __future__ import annotations

import os
import time
from typing import IO, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess
    import threading
    from collections.abc import Iterator

# Tracked names come out of git's index at once; to find new and deleted ones it looks at every folder.
_TRACKED = ("-s", "-t")
_CHANGED = ("-o", "-d", "-t", "--exclude-standard")
_PIECE = 1 << 15
# More than a million names: whoever has so many is walked instead, as far as a walk goes.
_MOST_BYTES = 1 << 27
_LINK, _SUBMODULE = "120000", "160000"


class Files(NamedTuple):
    """
    What git said of a folder.

    Attributes:
        names: Relative to the folder; a submodule and a repository that is not tracked end in a slash.
        links: Those of them that are symbolic links, as far as git knows.
    """

    names: list[str]
    links: frozenset[str]


class Git:
    """
    Asks git for the names in *folder*, in the thread that calls; *cancelled* ends it from another one.

    git answers for the folder of that path, whatever takes its place; names are all that is taken from it.
    """

    def __init__(self, folder: str, cancelled: threading.Event) -> None:
        self._folder = folder
        self._cancelled = cancelled
        self._running: subprocess.Popen[bytes] | None = None

    def tracked(self) -> bytes | None:
        """Return what `read_tracked` reads; None without git, outside of a repository, or in one of another owner."""
        return self._ask(*_TRACKED)

    def changed(self) -> bytes | None:
        """Return what `read_changed` reads, or None as `tracked` does."""
        return self._ask(*_CHANGED)

    def cancel(self) -> None:
        """End the program that is running, whichever thread waits for it."""
        if (running := self._running) is not None and running.poll() is None:
            running.kill()

    def _ask(self, *options: str) -> bytes | None:
        import subprocess

        command = ("git", "-c", "core.fsmonitor=false", "ls-files", "-z", *options)
        try:
            running = subprocess.Popen(  # noqa: S603 (a fixed command: no part of it comes from a message)
                command, cwd=self._folder, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError:  # no such program, or no such folder any more
            return None
        self._running = running
        with running:
            answer = b"".join(self._read(running.stdout)) if running.stdout else b""
            is_whole = not self._cancelled.is_set() and len(answer) <= _MOST_BYTES
            if not is_whole:
                running.kill()
        self._running = None
        return answer if is_whole and running.returncode == 0 else None

    def _read(self, stream: IO[bytes]) -> Iterator[bytes]:
        size = 0
        while not self._cancelled.is_set() and size <= _MOST_BYTES and (piece := stream.read(_PIECE)):
            size += len(piece)
            yield piece


def _environment() -> dict[str, str]:
    """Return the environment without what points git to other repositories; it takes no locks, writes and fetches nothing."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}


def read_tracked(answer: bytes) -> Files:
    """Read `tag mode object stage<TAB>name`; what a sparse checkout leaves out is left out."""
    names, links = [], set()
    for entry in _entries(answer):
        head, _, name = entry.partition("\t")
        mode = head[2:8]
        if head[:1] == "S":
            continue
        if mode == _LINK:
            links.add(name)
        names.append(name + "/" if mode == _SUBMODULE else name)
    return Files(names, frozenset(links))


def read_changed(answer: bytes) -> tuple[list[str], frozenset[str]]:
    """Read `tag name`: the names that are new, and those that are gone."""
    new, gone = [], set()
    for entry in _entries(answer):
        if entry[0] == "?":
            new.append(entry[2:])
        else:
            gone.add(entry[2:])
    return new, frozenset(gone)


def _entries(answer: bytes) -> Iterator[str]:
    position = 0
    while position < len(answer):
        stop = answer.find(b"\0", position + _PIECE) + 1 or len(answer)
        yield from (entry for entry in os.fsdecode(answer[position:stop]).split("\0") if entry)
        position = stop
        breathe()


def breathe() -> None:
    """
    Let other threads go on.

    The interpreter takes 5 ms to switch to a thread that waits, and whoever draws a screen waits after each call of the
    system.  A thread that works for long gives way more often than that.
    """
    time.sleep(0.0002)
