"""Where instruction files may lie: user-wide ones, extra ones, and the folders from the root down to the start folder."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from filerefs import troubles, upward
from filerefs.agentsmd.documents import NOWHERE, Base, Problem
from filerefs.errors import OptionError
from filerefs.outcomes import Reason
from filerefs.root import Trouble
from filerefs.rootlike import begin_turn, guard, leads_out
from filerefs.upward import Ascent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from filerefs.agentsmd.documents import Origin
    from filerefs.agentsmd.profiles import Profile
    from filerefs.rootlike import RootLike

PathLike: TypeAlias = "str | os.PathLike[str]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """
    A folder in which files are looked for, or one file.

    Attributes:
        base: The folder that nothing leads out of.
        folder: The folder itself, in `base`; "." for the same.
        names: What to look for, best first.
        additions: What to read besides.
        origin, scope, root: As in `Doc`.
        distance: How many folders lie between it and the start folder.
        title: What its file is called; "" for its name in `base`.
        demanded: Whether somebody asked for this very file.
        copied_to: A folder in `base` where a work tree has its own copies of these files; "" for none.
    """

    base: Base
    folder: str = "."
    names: tuple[str, ...]
    additions: tuple[str, ...] = ()
    origin: Origin = "chain"
    scope: str = "project"
    root: str = ""
    distance: int = 0
    title: str = ""
    demanded: bool = False
    copied_to: str = ""

    def path_of(self, name: str) -> str:
        """Return the name in `base` of the file *name*."""
        return name if self.folder == "." else f"{self.folder}/{name}"

    def call(self, path: str) -> str:
        """Return what people and models call the file at *path* in `base`."""
        name = self.title or self.base.prefix + path
        return f"{self.root}:{name}" if self.root else name


@dataclass(frozen=True, slots=True)
class Places:
    """All places in the order in which their files are printed, the ways up that led to them, and files that are missing."""

    places: tuple[Place, ...]
    ascents: Mapping[str, Ascent]
    problems: tuple[Problem, ...]

    @property
    def story(self) -> str:
        """Which folders are the roots, and why."""
        return "; ".join(f"{label}: {_explain(ascent)}" if label else _explain(ascent) for label, ascent in self.ascents.items())


def find_places(
    starts: Mapping[str, PathLike],
    profile: Profile,
    *,
    root: PathLike | RootLike | None,
    home: PathLike | None,
    user_files: Iterable[PathLike],
    extra: Iterable[PathLike],
) -> Places:
    """Return where files are looked for, on the way from each of *starts*, labelled, up to its root."""
    if root is None or isinstance(root, str | os.PathLike):
        ascents = {label: upward.find_up(start, profile.markers, root=root, home=home) for label, start in starts.items()}
        bases = {label: Base(ascent.root) for label, ascent in ascents.items()}
    else:
        given = guard(root)
        ascents = {label: _way_in(given, start) for label, start in starts.items()}
        bases = {label: Base(NOWHERE, root=given) for label in starts}
    home_text = upward.home_folder() if home is None else os.path.realpath(os.fspath(home))
    problems = [_unsure(trouble) for ascent in ascents.values() for trouble in ascent.troubles]
    places = [place for path in user_files for place in _user_places(path, profile, home_text)]
    for path in extra:
        place = _inside(path, bases) or _outside(path, home_text)
        if isinstance(place, Problem):
            problems.append(place)
        else:
            places.append(place)
    for label, ascent in ascents.items():
        places += _chain(label, bases[label], ascent, profile)
    return Places(tuple(places), ascents, tuple(problems))


def exists(path: PathLike, root: PathLike | RootLike | None) -> bool:
    """Tell whether there is a file or folder at *path*, which is relative to *root* if that is an object."""
    if root is None or isinstance(root, str | os.PathLike):
        return upward.locate(path) is not None
    typed = troubles.read_name(os.fspath(path))
    node = typed if isinstance(typed, Trouble) else guard(root).open("./" + "/".join(troubles.fold(typed[0])))
    if isinstance(node, Trouble):
        return node.reason is not Reason.NOT_FOUND
    node.close()
    return True


def in_spending_order(places: Iterable[Place], profile: Profile) -> list[Place]:
    """Return *places* in the order in which the budget is spent on them."""
    ordered = list(places)
    if profile.spend == "nearest":
        ordered.reverse()
        ordered.sort(key=lambda place: place.distance if place.origin == "chain" else -1 if place.origin == "import" else 1 << 16)
    return ordered


def called(path: PathLike, home: str) -> str:
    """Return what a file outside of every root is called: without what tells about this machine."""
    given = os.path.expanduser(os.fspath(path))  # noqa: PTH111 (pathlib raises where there is no home)
    absolute = os.path.abspath(given)  # noqa: PTH100 (pathlib does not fold `..`)
    if home and absolute.startswith(home + "/"):
        return "~" + absolute[len(home) :]
    parts = (absolute if os.path.isabs(given) or given.startswith("..") else os.path.normpath(given)).split("/")  # noqa: PTH117 (text)
    return "/".join([part for part in parts if part][-2:]) if not parts[0] else "/".join(parts)


def mark_copied(places: Iterable[Place], base: Base, folder: str, main: str) -> tuple[Place, ...]:
    """Return *places*, the one of *base* at *main* marked: the work tree at *folder*, nested in it, has copies of its files."""
    return tuple(replace(place, copied_to=folder) if place.origin == "chain" and (place.base, place.folder) == (base, main) else place for place in places)


def _way_in(root: RootLike, path: PathLike) -> Ascent:
    """
    Return the way from *root* down to *path* in it, or to the nearest folder above that exists.

    Raises:
        OptionError: If *path* is not relative, or leads out.
    """
    typed = troubles.read_name(os.fspath(path))
    if isinstance(typed, Trouble) or leads_out(typed[0]):
        raise OptionError("path", os.fspath(path), "relative to `root`, and inside of it")
    parts = troubles.fold(typed[0])
    view = begin_turn(root) if parts else root
    while parts and not _is_folder(view, "./" + "/".join(parts)):
        parts = parts[:-1]
    return Ascent(NOWHERE, tuple(parts), "given")


def _is_folder(root: RootLike, name: str) -> bool:
    node = root.open(name)
    if isinstance(node, Trouble):
        return False
    with node:
        return node.kind == "directory"


def _chain(label: str, base: Base, ascent: Ascent, profile: Profile) -> Iterator[Place]:
    for depth in range(len(ascent.parts) + 1):
        folder = "/".join(ascent.parts[:depth])
        yield Place(
            base=base,
            folder=folder or ".",
            names=profile.names,
            additions=profile.additions,
            scope=folder + "/" if folder else "project",
            root=label,
            distance=len(ascent.parts) - depth,
        )


def _user_places(path: PathLike, profile: Profile, home: str) -> Iterator[Place]:
    """Yield the place of a user-wide file, or of a folder with one; nothing where there is none: most people have none."""
    found = upward.locate(path)
    if found is None:
        return
    name = called(path, home)
    if not found.name:
        yield Place(base=Base(found.folder, name + "/"), names=profile.names, additions=profile.additions, origin="user", scope="user")
    else:
        yield Place(base=Base(found.folder, _folder_of(name)), names=(found.name,), origin="user", scope="user", title=name)


def _inside(path: PathLike, bases: Mapping[str, Base]) -> Place | None:
    """Return the place of an extra file that lies in a root: whoever can write there may have made it a link."""
    folder, name = upward.parent_of(path)
    for label, base in bases.items():
        below = relative_to(folder, base.folder)
        if below is not None and name:
            return Place(base=base, folder=below, names=(name,), origin="extra", root=label, demanded=True)
    return None


def _outside(path: PathLike, home: str) -> Place | Problem:
    found = upward.locate(path)
    name = called(path, home)
    if found is None or not found.name:
        return Problem(name=name, detail="no such file" if found is None else "a folder, not a file")
    return Place(base=Base(found.folder, _folder_of(name)), names=(found.name,), origin="extra", title=name, demanded=True)


def relative_to(folder: str, root: str) -> str | None:
    """Return the path from *root* to *folder*, both absolute and without links, "." for the same; None if it is not inside."""
    if folder == root:
        return "."
    beginning = root.rstrip("/") + "/"
    return folder[len(beginning) :] if folder.startswith(beginning) else None


def _folder_of(name: str) -> str:
    folder = name.rpartition("/")[0]
    return folder + "/" if folder else ""


def _unsure(trouble: tuple[str, str, str]) -> Problem:
    folder, marker, detail = trouble
    return Problem(name=f"{posixpath.basename(folder)}/{marker}", detail=f"cannot tell whether it is there, so it does not count: {detail}")


def _explain(ascent: Ascent) -> str:
    if ascent.root == NOWHERE:
        return "the root that was given"
    name = posixpath.basename(ascent.root) or "/"
    if ascent.why == "given":
        return f"{name} (the root that was given)"
    if ascent.why == "marker":
        return f"{name} (nearest folder with {ascent.marker})"
    return f"{name} (the start folder alone: no root was given, and no folder above it has a root marker)"
