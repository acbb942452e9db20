"""The names below a root, gathered in a thread and kept fresh: from git where there is a repository, else by a walk."""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING

from filerefs import naming
from filerefs.errors import RootClosedError
from filerefs.gitfiles import Git, breathe, read_changed, read_tracked
from filerefs.ranking import Index
from filerefs.root import Trouble
from filerefs.walk import Ignore, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from filerefs.root import Entry, Root

MOST_NAMES = 500_000
"""Names that a catalogue holds at most."""

# What tools leave behind, in trees without rules that say so.  Names that people give to folders of their own
# (build, dist, env, target, vendor) are not among them.
LEFT_BEHIND = frozenset(
    (
        *("node_modules", "__pycache__", ".hg", ".svn", ".venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
        *(".cache", ".next", ".gradle", ".terraform"),
    )
)
"""Folders that are not walked."""

# Listings that are kept while names that git does not track are looked at: they come folder by folder, with those beneath in between.
_FOLDERS = 64
# Names are published when there are so many, and then each time there are four times as many.
_FIRST = 2_000
# A scan that is at least so old, in seconds, is done again when somebody asks; a slow one less often.
_AGE = 1.0
_REST = 5


class Catalogue:
    """
    The names below *root*, as an `Index`.

    Secrets, what is neither file nor folder, and (unless *links*) symbolic links are left out.  Folders end in a slash.
    Everything happens in a thread of its own, one scan at a time; `close` ends it.

    Args:
        folder: The path of the root, for git.
        links: Whether symbolic links are wanted; they are taken for files.
        git: Whether git is asked; what it knows is then all that there is.
    """

    def __init__(self, root: Root, folder: str, *, links: bool, git: bool) -> None:
        self._root = root
        self._links = links
        self._cancelled = threading.Event()
        self._git = Git(folder, self._cancelled) if git else None
        self._ignore = Ignore(root)
        self._index = Index(())
        self._complete = self._cut = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._answers = b""
        self._next = 0.0

    @property
    def index(self) -> Index:
        """What is known by now."""
        return self._index

    @property
    def complete(self) -> bool:
        """Whether a scan came to its end; what changed since is not known before the next one."""
        return self._complete

    @property
    def whole(self) -> bool:
        """Whether a scan came to its end, and no name was too many."""
        return self._complete and not self._cut

    def refresh(self, *, force: bool = False) -> None:
        """Begin a scan, unless one is under way or, but for *force*, the last one is young."""
        with self._changed:
            if self._thread is None and not self._cancelled.is_set() and (force or time.monotonic() >= self._next):
                self._thread = threading.Thread(target=self._run, name="filerefs catalogue", daemon=True)
                self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until no scan is under way, at most so long, and return whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: self._thread is None, seconds)

    def close(self) -> None:
        """End the scan that is under way, and wait for that."""
        self._cancelled.set()
        if self._git is not None:
            self._git.cancel()
        self.wait()

    def _run(self) -> None:
        started = time.monotonic()
        try:
            # Where the host closes its root before this, there is nothing more to gather, and nobody to tell.
            with contextlib.suppress(RootClosedError):
                if not self._ask_git():
                    self._walk()
        finally:
            with self._changed:
                now = time.monotonic()
                self._next = now + max(_AGE, _REST * (now - started))
                self._thread = None
                self._changed.notify_all()

    def _publish(self, names: Iterable[str], *, complete: bool) -> None:
        """Show *names*; those of a scan that is not complete only before there was a complete one."""
        if complete or not self._complete:
            self._index = Index(names, breathe)

    def _ask_git(self) -> bool:
        """Return whether git had anything to say; in a folder that a repository ignores as a whole it has not."""
        if self._git is None or (tracked := self._git.tracked()) is None:
            return False
        first = not self._complete and tracked
        if first:
            self._take(self._known(tracked), complete=False)
        if (changed := self._git.changed()) is None or not (tracked or changed):
            return False
        answers = hashlib.sha256(tracked).digest() + hashlib.sha256(changed).digest()
        if answers != self._answers:
            if changed or not first:
                new, gone = read_changed(changed)
                names = chain(self._known(tracked), self._attachable(new))
                self._take((name for name in names if name not in gone), complete=True)
            self._complete = True
            self._answers = answers
        return True

    def _take(self, names: Iterator[str], *, complete: bool) -> None:
        """Show what git said, as much of it as there is room for."""
        self._publish(self._sift(islice(names, MOST_NAMES)), complete=complete)
        self._cut = next(names, None) is not None

    def _attachable(self, new: Iterable[str]) -> Iterator[str]:
        """Yield the *new* names that can be attached: git tells neither links nor pipes from files that it does not track."""

        @lru_cache(maxsize=_FOLDERS)
        def kinds_in(folder: str) -> dict[str, Entry]:
            node = self._root.open(f"./{folder}")
            if isinstance(node, Trouble):
                return {}
            with node:
                listing = node.entries(MOST_NAMES)
            return {} if isinstance(listing, Trouble) else {entry.name: entry for entry in listing.entries}

        for name in new:
            bare = name.removesuffix("/")
            folder, _, last = bare.rpartition("/")
            entry = kinds_in(folder).get(last)
            if entry is not None and (wanted := offered(bare, entry, links=self._links)):
                yield wanted

    def _known(self, tracked: bytes) -> Iterator[str]:
        """Yield what git tracks, one by one: whoever takes them lets other threads go on."""
        files = read_tracked(tracked)
        return (name for name in files.names if self._links or name not in files.links)

    def _sift(self, names: Iterable[str]) -> Iterator[str]:
        """Yield *names* and the folders that they lie in, without those of secrets."""
        secret: dict[str, bool] = {"": False}
        for name in names:
            folder, slash, _ = name.rstrip("/").rpartition("/")
            yield from self._enter(folder + slash, secret)
            # Whether a folder on the way is secret is known by now; of the rest the last two parts decide, and then `allow`.
            suspect = naming.is_secret(name.rstrip("/").rsplit("/", 2), directory=name.endswith("/"))
            if not secret[folder + slash] and not (suspect and self._root.withholds(name.rstrip("/"), directory=name.endswith("/"))):
                yield name

    def _enter(self, folder: str, secret: dict[str, bool]) -> Iterator[str]:
        """Yield *folder* and those above it which were not met before."""
        above: list[str] = []
        while folder not in secret:
            above.append(folder)
            parent, slash, _ = folder[:-1].rpartition("/")
            folder = parent + slash
        hidden = secret[folder]
        for name in reversed(above):
            hidden = secret[name] = hidden or naming.is_secret(name[:-1].split("/"), directory=True)
            if not hidden:
                yield name

    def _walk(self) -> None:
        names: list[str] = []
        ahead = _FIRST
        found = walk(self._root, limit=MOST_NAMES, ignore=self._ignore, folder_entries=MOST_NAMES, without=LEFT_BEHIND)
        for path, entry in found:
            if self._cancelled.is_set():
                return
            if wanted := offered(path, entry, links=self._links):
                names.append(wanted)
            if len(names) == ahead:
                self._publish(names, complete=False)
                ahead *= 4
        self._publish(names, complete=True)
        self._cut = found.cut
        self._complete = True


def offered(path: str, entry: Entry, *, links: bool) -> str:
    """Return *path* as it is offered, a folder with a slash; "" for what cannot be attached."""
    if entry.kind == "directory":
        return path + "/"
    return path if entry.kind == "file" or (links and entry.kind == "link") else ""
