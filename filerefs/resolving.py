"""[Ref] + Root -> which file or folder each reference names: existence decides between its readings."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, Self, TypeAlias

from filerefs import hints, kinds, naming, troubles
from filerefs.lenient import joins
from filerefs.outcomes import Reason
from filerefs.readings import may_end, natural_end, readings
from filerefs.root import Trouble
from filerefs.rootlike import begin_turn

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence
    from types import TracebackType

    from filerefs.mentions import Range, Ref
    from filerefs.readings import Reading
    from filerefs.root import Listing
    from filerefs.rootlike import NodeLike, RootLike
    from filerefs.stamps import Stamp

PROBES: Final = 4096
"""Names that one turn looks up at most."""
LISTINGS: Final = 64
"""Folders that one turn lists at most, to give hints and to know what cannot exist."""
LISTED: Final = 1000
"""Names that are read of each of them."""
COMPARISONS: Final = 24
"""How many names of one turn are compared with those of a folder, to find near ones."""

# So many names must have missed before the root's listing is asked for: until then looking up is cheaper.
_PATIENCE: Final = 16
# So many found files stay open between being found and being read; more are opened a second time.
_KEPT_OPEN: Final = 32
# Longer names may be too long for any disk.
_USUAL: Final = 200

NOT_FOUND: Final = troubles.NO_FILE
_SPENT: Final = Trouble(Reason.TOO_MANY, f"not looked up: a turn looks up {PROBES} names at most")


@dataclass(slots=True)
class Target:
    """A file or folder that was found; its `node` is open, or None when too many are."""

    name: str
    link_target: str | None
    kind: str
    identity: tuple[Hashable, ...] | None
    stamp: Stamp | None
    node: NodeLike | None


class Hit(NamedTuple):
    """A reference names *target*: it ends at `end`; `fragment` is what was not understood behind the name."""

    end: int
    target: Target
    lines: Range | None
    fragment: str


class Miss(NamedTuple):
    """A reference names nothing that can be attached; `path` is the name as typed."""

    end: int
    path: str
    trouble: Trouble


Resolution: TypeAlias = Hit | Miss | None
"""None: plain text."""


@dataclass(slots=True, eq=False)
class Lookup:
    """The names that one turn looks up in a root: each once, and not without end."""

    root: RootLike
    spent: bool = False
    _found: dict[str, Target | Trouble] = field(default_factory=dict)
    _listings: dict[str, Listing | None] = field(default_factory=dict)
    _beginnings: dict[str, frozenset[str]] = field(default_factory=dict)
    _probes: int = 0
    _misses: int = 0
    _open: list[Target] = field(default_factory=list)
    _names: dict[str, tuple[str, ...]] | None = None
    _withheld: bool = False
    _near: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.root = begin_turn(self.root)

    def find(self, name: str) -> Target | Trouble:
        """Return what *name* is on disk, under its exact spelling, else under its composed or decomposed one."""
        found = self._probe(name)
        if found is not NOT_FOUND or name.isascii():
            return found
        others = {unicodedata.normalize(form, name) for form in ("NFC", "NFD")} - {name}
        hits = [other for other in map(self._probe, sorted(others)) if other is not NOT_FOUND]
        if len(hits) > 1:
            return Trouble(Reason.AMBIGUOUS, "two names differ from this one only in how their accents are encoded")
        return hits[0] if hits else NOT_FOUND

    def listing(self, folder: str) -> Listing | None:
        """Return names of *folder*, or None if it cannot be listed, or no more listings are left."""
        if folder not in self._listings:
            if len(self._listings) >= LISTINGS:
                return None
            self._listings[folder] = self._list(folder)
        return self._listings[folder]

    def near(self, folder: str, name: str) -> list[str]:
        """Return names in *folder* that *name* may stand for; none when so many were asked for already."""
        key = (folder, name)
        if key not in self._near:
            listing = self.listing(folder) if len(self._near) < COMPARISONS else None
            if listing is None:
                return []
            self._near[key] = hints.near_names(name, [entry.name for entry in listing.entries])
        return self._near[key]

    def known(self, name: str) -> Target | None:
        """Return what *name* is, if it was looked up and found."""
        found = self._found.get(name)
        return found if isinstance(found, Target) else None

    def goes_on(self, folder: str, beginning: str) -> bool:
        """Tell whether a name in *folder* is *beginning*, then a blank, then more."""
        if folder not in self._beginnings:
            listing = self.listing(folder)
            names = [entry.name for entry in listing.entries] if listing else []
            composed = [unicodedata.normalize("NFC", name) for name in names]
            self._beginnings[folder] = frozenset(name[:at] for name in composed for at, sign in enumerate(name) if sign in " \t")
        return unicodedata.normalize("NFC", beginning) in self._beginnings[folder]

    def open(self, target: Target) -> NodeLike | Trouble:
        """Return the node of *target*, to be read and closed by the caller."""
        node, target.node = target.node, None
        return node if node is not None else self.root.open(target.name)

    def hold(self, target: Target) -> NodeLike | Trouble:
        """Return the node of *target*, which stays open until somebody takes it or the turn ends."""
        node = self.open(target)
        if not isinstance(node, Trouble):
            target.node = node
            self._open.append(target)
        return node

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        for target in self._open:
            if target.node is not None:
                target.node.close()

    def _probe(self, name: str) -> Target | Trouble:
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._look(name)
        return found

    def _look(self, name: str) -> Target | Trouble:
        if self._misses >= _PATIENCE and self._cannot_exist(name):
            return NOT_FOUND
        if self._probes >= PROBES:
            self.spent = True
            return _SPENT
        self._probes += 1
        node = self.root.open(name)
        if isinstance(node, Trouble):
            self._misses += 1
            # "No such folder" is a miss like any other; that the root is gone is not.
            return NOT_FOUND if node.reason is Reason.NOT_FOUND and node is not troubles.ROOT_DELETED else node
        target = Target(node.name, node.target, node.kind, node.identity, node.stamp, node)
        if len(self._open) < _KEPT_OPEN:
            self._open.append(target)
        else:
            node.close()
            target.node = None
        return target

    def rules_out(self, ref: Ref) -> bool:
        """Tell whether no name in the root begins as *ref* does: then none of its readings exists, and none is made."""
        run = ref.run
        # What cannot be a name at all is for the gate to say.
        if self._misses < _PATIENCE or ref.quoted or "\0" in run or len(run) > _USUAL:
            return False
        # What begins otherwise is left to the one who opens: a path on a drive, in a home, out of the root.
        if not (run.isascii() and run[:1].isalnum()) or run[1:2] == ":" or "\\" in run:
            return False
        first = hints.fold(run.partition("/")[0])
        names = self._names_in_root()
        if not names or (self._withheld and naming.may_begin_as_secret(first)):
            return False
        return not any(first.startswith(name) and may_end(first, len(name)) for name in names.get(first[0], ()))

    def _cannot_exist(self, name: str) -> bool:
        """Tell whether the root's listing rules *name* out: then it costs no system call."""
        names = self._names_in_root()
        first = name.partition("/")[0]
        # Backslashes and colons may be Windows paths and drives; names of secrets are in no listing.
        if not names or "\0" in name or len(name) > _USUAL or first in ("", ".", "..", "~") or "\\" in first or ":" in first[1:2]:
            return False
        folded = hints.fold(first)
        return folded not in names.get(folded[:1], ()) and not (self._withheld and naming.is_secret([first], directory=False))

    def _names_in_root(self) -> dict[str, tuple[str, ...]]:
        """Return the names that the root lists, folded, by their first characters; none if it has too many to list."""
        if self._names is None:
            listing = self.listing(".")
            complete = listing is not None and not listing.more
            by_beginning: dict[str, list[str]] = {}
            for name in {hints.fold(entry.name) for entry in listing.entries} if listing and complete else ():
                by_beginning.setdefault(name[:1], []).append(name)
            self._names = {beginning: tuple(names) for beginning, names in by_beginning.items()}
            self._withheld = listing is not None and listing.withheld > 0
        return self._names

    def _list(self, folder: str) -> Listing | None:
        node = self.root.open(folder)
        if isinstance(node, Trouble):
            return None
        with node:
            listing = node.entries(LISTED) if node.kind == "directory" else None
        return None if isinstance(listing, Trouble) else listing


def resolve(refs: Sequence[Ref], lookup: Lookup, *, lenient: bool) -> Iterator[Resolution]:
    """Yield what each of *refs* names, in order."""
    # A pasted file names the same decorator a thousand times.
    plain: set[tuple[str, str]] = set()
    for index, ref in enumerate(refs):
        # What it is depends on the run and on what stands right before and behind it; of one that a host gave, on its name.
        known = (ref.message[ref.start - 1 if ref.start else 0 : ref.run_end + 1], ref.path)
        if known in plain and not (lenient and _may_join(ref, lookup)):
            yield None
            continue
        stop = refs[index + 1].start if index + 1 < len(refs) else None
        resolution = _resolve_one(ref, stop, lookup, lenient=lenient)
        if resolution is None:
            plain.add(known)
        yield resolution


def resolve_one(ref: Ref, lookup: Lookup) -> Resolution:
    """Return what *ref* names, taken by itself."""
    return _resolve_one(ref, None, lookup, lenient=False)


def _resolve_one(ref: Ref, stop: int | None, lookup: Lookup, *, lenient: bool) -> Resolution:
    if lookup.spent:
        known = lookup.known(ref.path)
        return Hit(ref.end, known, ref.lines, "") if known else _missed(ref, Miss(ref.end, ref.path, _SPENT), lookup)
    refusal: Miss | None = None
    for reading in () if lookup.rules_out(ref) else readings(ref):
        found = _try(reading, lookup)
        if found is None:
            continue
        if isinstance(found, Hit):
            if _glues(ref, found):
                continue
            return found
        # The default reading is what a person sees as the name; its refusal says most.
        if refusal is None or (reading.end == ref.end and refusal.end != ref.end):
            refusal = found
    if refusal is None and lenient and _may_join(ref, lookup):
        folder = ref.run.rpartition("/")[0] or "."
        for reading in joins(ref, stop, lambda beginning: lookup.goes_on(folder, beginning)):
            found = _try(reading, lookup)
            if isinstance(found, Hit):
                return found
    return _missed(ref, refusal, lookup)


def _glues(ref: Ref, hit: Hit) -> bool:
    """Tell whether an at-sign inside the run would open a mention, because the name in front of it gets quotes."""
    behind = ref.message[hit.end : ref.run_end].lstrip("_*~")
    return behind[:1] in ("@", "＠") and naming.plain_form(hit.target.name).startswith('"')


def _try(reading: Reading, lookup: Lookup) -> Hit | Miss | None:
    refusal = None
    for name in reading.names:
        found = lookup.find(name)
        if isinstance(found, Target):
            return Hit(reading.end, found, reading.lines, reading.fragment)
        if found is not NOT_FOUND and refusal is None:
            refusal = Miss(reading.end, name, found)
    return refusal


def _may_join(ref: Ref, lookup: Lookup) -> bool:
    """Tell whether a name in the folder begins like *ref* and goes on with a blank."""
    if ref.quoted or ref.message[ref.run_end : ref.run_end + 1] not in (" ", "\t"):
        return False
    folder, _, beginning = ref.run.rpartition("/")
    if folder and isinstance(lookup.find(folder), Trouble):
        return False
    return lookup.goes_on(folder or ".", beginning)


def _missed(ref: Ref, refusal: Miss | None, lookup: Lookup) -> Miss | None:
    """Return what is to be said of a reference that names nothing: a warning if it looks like a path, else nothing."""
    if refusal is not None:
        reason = refusal.trouble.reason
        if reason in (Reason.BAD_NAME, Reason.TOO_MANY) or refusal.trouble is troubles.ROOT_DELETED:
            return refusal._replace(end=ref.end, path=ref.path) if looks_like_path(ref.path) else None
        # `import x from "@/x"`: an alias, not a path.
        return None if ref.enclosed and reason in (Reason.ABSOLUTE, Reason.HOME) else refusal
    if ref.enclosed:
        return None
    if looks_like_path(ref.path):
        return Miss(ref.end, ref.path, troubles.NO_FOLDER if ref.path.endswith("/") else NOT_FOUND)
    end = natural_end(ref)
    if end is not None and looks_like_path(path := ref.upto(end)[1:]):
        return Miss(end, path, NOT_FOUND)
    return Miss(ref.end, ref.path, NOT_FOUND) if _has_near_name(ref.path, lookup) else None


def looks_like_path(path: str) -> bool:
    """Tell whether *path*, which names nothing, was meant to: by its beginning, its end or its extension."""
    if "://" in path:
        return False
    if path.startswith(("./", "../", "~/", ".\\", "..\\", "/")) or path.endswith("/"):
        return True
    if path[1:3] in (":\\", ":/") and path[0].isascii() and path[0].isalpha():
        return True
    return kinds.has_path_extension(path.replace("\\", "/"))


def _has_near_name(path: str, lookup: Lookup) -> bool:
    folder, slash, name = path.rpartition("/")
    return bool(slash and folder and not isinstance(lookup.find(folder), Trouble) and lookup.near(folder, name))
