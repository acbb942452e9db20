"""Instruction files for one run after another: read anew for each run, and once within it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from filerefs.agentsmd.discovery import Request, Unset, read_paths, with_options
from filerefs.agentsmd.imports import check_options, expand_imports
from filerefs.agentsmd.profiles import DEFAULT
from filerefs.agentsmd.roots import Roots
from filerefs.root import Trouble
from filerefs.stamps import is_settled, now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from filerefs.agentsmd.documents import Base, Discovery
    from filerefs.agentsmd.imports import Placement
    from filerefs.agentsmd.places import PathLike
    from filerefs.agentsmd.profiles import Profile
    from filerefs.rootlike import RootLike

    Warn = Callable[[str], object]
    Stamp = tuple[str, str, object]


class Loader:
    """
    What to look for, checked once and asked for by every run.

    May be shared by threads and tasks.  Nothing is read before a `Run` asks, and nothing is kept from one run to the next.

    Args:
        path, profile, root, user_files, extra, names, additions, markers, file_bytes, budget, home: As for `discover`.
        imports: Whether imports are expanded; None for what the profile says.
        depth, placement: As for `expand_imports`.
        on_warning: Called with one sentence for each warning and each problem, missing files among them, once a
            reading and in the thread that reads.  What it raises, reaches whoever asked.

    Raises:
        OptionError: If an option has a value that it does not take, or there is nothing to look for.

    .. versionadded:: 0.1
    """

    def __init__(
        self,
        path: PathLike | Mapping[str, PathLike] = ".",
        *,
        profile: Profile = DEFAULT,
        root: PathLike | RootLike | None = None,
        user_files: Iterable[PathLike] = (),
        extra: Iterable[PathLike] = (),
        names: Sequence[str] | None = None,
        additions: Sequence[str] | None = None,
        markers: Sequence[str] | None = None,
        file_bytes: int | Unset | None = ...,
        budget: int | Unset | None = ...,
        home: PathLike | None = None,
        imports: bool | None = None,
        depth: int = 5,
        placement: Placement = "after",
        on_warning: Warn | None = None,
    ) -> None:
        rules = with_options(profile, names=names, additions=additions, markers=markers, file_bytes=file_bytes, budget=budget)
        check_options(depth, placement)
        self._request = Request(
            path=path,
            rules=rules,
            root=root,
            user_files=read_paths("user_files", user_files),
            extra=read_paths("extra", extra),
            home=home,
        )
        self._imports = rules.imports if imports is None else imports
        self._depth = depth
        self._placement: Placement = placement
        self._on_warning = on_warning

    def run(self) -> Run:
        """Return a new run, which has read nothing yet."""
        return Run(self.read, self._on_warning)

    def read(self) -> Discovery:
        """
        Return what is there now, imports expanded; no warning is given.

        Raises:
            RootNotFoundError: If the root is no folder any more.  Trouble with one file is never raised.
        """
        found = self._request.find()
        if not self._imports:
            return found
        return expand_imports(found, self._depth, placement=self._placement, home=self._request.home)

    def stamp(self, known: Discovery | None = None) -> tuple[Stamp, ...]:
        """
        Return what changes when `read` would return something else: sizes, times and identities of the files, unread.

        What changed a moment ago makes it differ from every other one: a second change could bear the same time.

        Args:
            known: What was read last, so that its imports are looked at, too, those that were missing among them.
        """
        places = self._request.places().places
        wanted = [(place.base, place.path_of(name)) for place in places for name in (*place.names, *place.additions)]
        if known is not None:
            wanted += [(doc.base, doc.file) for doc in known if doc.base is not None]
            wanted += known.looked_up
        started = now()
        with Roots() as roots:
            return tuple(_stamp(roots, base, path, started) for base, path in dict.fromkeys(wanted))


class Run:
    """
    One run of an agent: it reads when it first asks, and what it read holds until it ends.

    May be shared by threads and tasks: whoever asks while another thread reads, waits and gets the same.

    .. versionadded:: 0.1
    """

    def __init__(self, read: Callable[[], Discovery], on_warning: Warn | None = None) -> None:
        self._read = read
        self._on_warning = on_warning
        self._lock = threading.Lock()
        self._found: Discovery | None = None

    def load(self) -> Discovery:
        """
        Return the instruction files of this run.  That there are none is remembered like anything else.

        Raises:
            RootNotFoundError: If the root is no folder any more; the next call tries again.
        """
        with self._lock:
            if self._found is not None:
                return self._found
            found = self._found = self._read()
        self._warn(found)
        return found

    def reload(self) -> Discovery:
        """Read again, now: for a host that wants changes within a run."""
        with self._lock:
            found = self._found = self._read()
        self._warn(found)
        return found

    def _warn(self, found: Discovery) -> None:
        """Tell the host; not while others wait, and it may ask for the files itself."""
        if self._on_warning is not None:
            for sentence in (*found.warnings, *(problem.summary for problem in found.problems)):
                self._on_warning(sentence)


def _stamp(roots: Roots, base: Base, path: str, started: int) -> Stamp:
    node = roots.of(base).open(path)
    if isinstance(node, Trouble):
        return base.folder, path, node.reason
    with node:
        stamp = node.stamp
    return base.folder, path, stamp if stamp and is_settled(stamp, started) else (stamp, started)
