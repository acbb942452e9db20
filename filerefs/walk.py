"""
Names under a root, less what the `.gitignore` files on the way leave out.

Only `.gitignore` files count.  `.git/info/exclude` is behind a secret name, and a person's own excludes file is
outside of the root: neither is read.  Upper and lower case differ, whatever the file system says of them.
Nothing is left out by itself: what `Root` withholds (`.git` among it) is counted, the rest is up to the rules, and to
whoever walks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, TypeAlias

from filerefs.errors import OptionTypeError
from filerefs.gitignore import MOST_BYTES, Problem, Rule, Rules, bytewise, read_rules
from filerefs.limits import KIB, check_count
from filerefs.outcomes import Reason
from filerefs.root import Trouble
from filerefs.rootlike import begin_turn, guard
from filerefs.stamps import is_settled, now
from filerefs.troubles import openable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filerefs.root import Entry, Listing
    from filerefs.rootlike import NodeLike, RootLike

__all__ = ["Ignore", "Problem", "Rule", "Walk", "walk"]

FOLDER_ENTRIES = 1000

_IGNORE_FILE = ".gitignore"
# What one hostile tree may cost: `.gitignore` files on the way to a folder, bytes of their rules, files whose rules
# are kept, steps of about a nanosecond to compare the names of one folder, names looked at for each that may be shown.
_MOST_FILES = 64
_MOST_WEIGHT = 64 * KIB
_MOST_KEPT = 256
_MOST_STEPS = 1_000_000_000
_EFFORT = 10

_Chain: TypeAlias = tuple[Rules, ...]


class Ignore:
    """
    What the `.gitignore` files under *root* leave out, and which rule decided.

    Compiled rules are kept for as long as the stamp of their file stays the same; a file without a stamp is read every
    time.  Nothing that a file holds raises: what cannot be applied is skipped, and `problems` lists it.  One that is a
    link counts where the root follows links.  May be shared by threads.

    Bounds: on the way to a folder 64 files with about 64 KiB of rules; of each file 1 MiB, 10,000 lines, 32 KiB of
    rules; of each rule 4,096 bytes, 256 if it has wildcards.

    .. versionadded:: 0.1
    """

    def __init__(self, root: RootLike) -> None:
        self._root = guard(root)
        self._kept: dict[str, tuple[object, Rules]] = {}

    def through(self, root: RootLike) -> Ignore:
        """Return the same rules, their files opened through *root*, which stands for the own one for a while."""
        if root is self._root:
            return self
        ignore = Ignore(root)
        ignore._kept = self._kept
        return ignore

    def filter(self, folder: str, entries: Sequence[Entry]) -> tuple[list[Entry], list[tuple[Entry, Rule]]]:
        """
        Return the entries of *folder* that are kept, and those that are ignored with the rule that decided.

        What counts is only what the rules say of the entries themselves: a folder that is ignored as a whole still
        lists, because somebody asked for it.  Where comparing would take seconds, the rest is kept.

        Args:
            folder: Relative to the root, without `..`; "." is the root.
            entries: Some or all of its entries; their order is kept.

        Raises:
            RootClosedError: If the root was closed.
        """
        folder = _normalise(folder)
        kept, ignored, _ = _sift(self.chain(folder), folder, entries)
        return kept, ignored

    def problems(self, folder: str = ".") -> list[Problem]:
        """Return what is not applied of the files in the root and in the folders down to *folder*, in this order."""
        return [problem for rules in self.chain(folder) for problem in rules.problems]

    def chain(self, folder: str) -> tuple[Rules, ...]:
        """Return the rules of the files in the root and in the folders down to *folder*, in this order."""
        chain = self.extend((), ".")
        way = "."
        for part in _parts(folder):
            way = _beneath(way, part)
            chain = self.extend(chain, way)
        return chain

    def extend(self, chain: tuple[Rules, ...], folder: str) -> tuple[Rules, ...]:
        """Return *chain*, that of the parent of *folder*, with the rules of *folder*'s own file."""
        node = self._root.open(openable(_beneath(folder, _IGNORE_FILE)))
        if isinstance(node, Trouble):
            return chain if node.reason is Reason.NOT_FOUND else (*chain, _unapplied(folder, node.detail))
        with node:
            if node.kind != "file":
                return chain
            if len(chain) >= _MOST_FILES or sum(rules.weight for rules in chain) > _MOST_WEIGHT:
                return (*chain, _unapplied(folder, "the files above it have too many rules"))
            return (*chain, self._read(folder, node))

    def _read(self, folder: str, node: NodeLike) -> Rules:
        stamp = node.stamp
        kept = self._kept.get(folder)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        start = now()
        content = node.read(MOST_BYTES + 1)
        if isinstance(content, Trouble):
            return _unapplied(folder, content.detail)
        rules = read_rules(content, "" if folder == "." else folder)
        if stamp is not None and is_settled(stamp, start):
            if len(self._kept) >= _MOST_KEPT:
                self._kept = {}
            self._kept[folder] = stamp, rules
        return rules


class Walk(Iterator["tuple[str, Entry]"]):
    """
    The names below a folder, once, and what was left out of them; made by `walk`.

    The counts are those of what was walked so far.

    Attributes:
        stopped: Whether there are more names because the limit for all was reached.
        crowded: Folders that hold more names than were read of each, in the order of the walk.
        ignored: Names that a rule leaves out; what is below an ignored folder is not counted.
        withheld: Names left out because they are those of secrets.
        unreadable: Folders that could not be listed; with nothing else it was the first.
        unchecked: Names that are shown without being compared with the rules, because that would take too long.

    .. versionadded:: 0.1
    """

    def __init__(
        self, root: RootLike, folder: str, *, limit: int | None, ignore: Ignore | None, depth: int | None, folder_entries: int | None, without: frozenset[str]
    ) -> None:
        self.stopped = False
        self.crowded: list[str] = []
        self.ignored = 0
        self.withheld = 0
        self.unreadable = 0
        self.unchecked = 0
        self._root = begin_turn(guard(root))
        self._ignore = ignore and ignore.through(self._root)
        self._limit = limit
        self._depth = depth
        self._folder_entries = folder_entries
        self._without = without
        self._looked = 0
        self._names = self._run(folder)

    @property
    def cut(self) -> bool:
        """Whether there are more names: a limit was reached, for all or in a folder."""
        return self.stopped or bool(self.crowded)

    def __next__(self) -> tuple[str, Entry]:
        return next(self._names)

    def _run(self, start: str) -> Iterator[tuple[str, Entry]]:
        shown = 0
        waiting: deque[tuple[str, int, _Chain]] = deque([(start, 1, ())] if self._depth != 0 else ())
        while waiting:
            folder, level, chain = waiting.popleft()
            if self._limit is not None and self._looked > _EFFORT * self._limit:
                self.stopped = True
                return
            entries, chain = self._list(folder, chain, first=level == 1)
            for entry in entries:
                if shown == self._limit:
                    self.stopped = True
                    return
                path = _beneath(folder, entry.name)
                if entry.kind == "directory" and (self._depth is None or level < self._depth):
                    waiting.append((path, level + 1, chain))
                shown += 1
                yield path, entry

    def _list(self, folder: str, chain: _Chain, *, first: bool) -> tuple[list[Entry], _Chain]:
        """Return the entries of *folder* that are kept, and the rules that hold in it."""
        listing = self._read(folder)
        if listing is None:
            self.unreadable += 1
            return [], chain
        self._looked += len(listing.entries)
        if listing.more:
            self.crowded.append(folder)
        self.withheld += listing.withheld
        entries = [entry for entry in listing.entries if entry.kind != "directory" or entry.name not in self._without]
        if self._ignore is None:
            return entries, ()
        if first:
            chain = self._ignore.chain(folder)
        elif listing.more or any(entry.name == _IGNORE_FILE for entry in listing.entries):
            chain = self._ignore.extend(chain, folder)
        kept, ignored, unchecked = _sift(chain, folder, entries)
        self.ignored += len(ignored)
        self.unchecked += unchecked
        return kept, chain

    def _read(self, folder: str) -> Listing | None:
        node = self._root.open(openable(folder))
        if isinstance(node, Trouble):
            return None
        with node:
            listing = node.entries(self._folder_entries)
        return None if isinstance(listing, Trouble) else listing


def walk(
    root: RootLike,
    *,
    folder: str = ".",
    limit: int | None,
    ignore: bool | Ignore = True,
    depth: int | None = None,
    folder_entries: int | None = FOLDER_ENTRIES,
    without: Collection[str] = (),
) -> Walk:
    """
    Return the names below *folder*, with what each of them is, breadth first: every folder before what is in it.

    The paths are relative to the root.  In a folder, names come in the order of their bytes, and folders are entered in the
    order of their names, so that the same files give the same names, but where a folder holds more than *folder_entries*.
    Links are shown and not followed.  A folder that cannot be read is skipped and counted.

    Args:
        root: What is opened, goes through it.
        folder: Where to start, without `..`; it is listed even if a rule ignores it.
        limit: Most names to show; None for no limit.  At most about ten times as many are looked at.
        ignore: Whether rules apply; an `Ignore` of the same root, kept between walks, saves reading them again.
        depth: Levels to go down: 1 for the entries of *folder* alone, None for all.
        folder_entries: Most names to read of one folder; None for no limit.
        without: Folders that are called so, wherever they are, are neither shown nor entered nor counted; *folder*
            itself may be called so.  Exact names, no patterns.

    Raises:
        OptionError, OptionTypeError: If a number is negative, or no number; if *without* is one string.
        RootClosedError: While walking, if the root was closed.

    .. versionadded:: 0.1
    """
    for option, count in (("limit", limit), ("depth", depth), ("folder_entries", folder_entries)):
        check_count(option, count)
    if isinstance(without, str | bytes) or not isinstance(without, Collection):
        raise OptionTypeError("without", without, "a collection of names")
    rules = ignore if isinstance(ignore, Ignore) else Ignore(root) if ignore else None
    return Walk(root, _normalise(folder), limit=limit, ignore=rules, depth=depth, folder_entries=folder_entries, without=frozenset(without))


def _sift(chain: _Chain, folder: str, entries: Sequence[Entry]) -> tuple[list[Entry], list[tuple[Entry, Rule]], int]:
    """Return the *entries* of *folder* that are kept, those that are ignored, and how many were kept unseen."""
    weight = sum(rules.weight for rules in chain)
    if not weight:
        return list(entries), [], 0
    kept: list[Entry] = []
    ignored: list[tuple[Entry, Rule]] = []
    steps = _MOST_STEPS
    unchecked = 0
    for entry in entries:
        path = bytewise(_beneath(folder, entry.name))
        steps -= weight * len(path)
        if steps < 0:
            unchecked += 1
            kept.append(entry)
        elif (rule := _find_rule(chain, path, is_folder=entry.kind == "directory")) is not None:
            ignored.append((entry, rule))
        else:
            kept.append(entry)
    return kept, ignored, unchecked


def _find_rule(chain: _Chain, path: str, *, is_folder: bool) -> Rule | None:
    """Return the rule that ignores *path*: the last one that matches, of the deepest file that has one."""
    for rules in reversed(chain):
        decision = rules.decide(path, is_folder=is_folder)
        if decision is not None:
            rule, ignores = decision
            return rule if ignores else None
    return None


def _unapplied(folder: str, detail: str) -> Rules:
    return Rules("", (), (Problem(_beneath(folder, _IGNORE_FILE), 0, detail),))


def _parts(folder: str) -> list[str]:
    return [part for part in folder.split("/") if part not in ("", ".")]


def _normalise(folder: str) -> str:
    return "/".join(_parts(folder)) or "."


def _beneath(folder: str, name: str) -> str:
    return name if folder == "." else f"{folder}/{name}"
