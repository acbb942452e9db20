"""Which instruction files apply to a path: found from the root down to it, read within a budget, in print order."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import TYPE_CHECKING, Any, TypeAlias

from filerefs import naming
from filerefs.agentsmd.places import exists, find_places
from filerefs.agentsmd.profiles import DEFAULT
from filerefs.agentsmd.roots import Roots
from filerefs.agentsmd.search import Search
from filerefs.agentsmd.surroundings import outside
from filerefs.errors import OptionError, OptionTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from filerefs.agentsmd.documents import Discovery
    from filerefs.agentsmd.places import PathLike, Places
    from filerefs.agentsmd.profiles import Profile
    from filerefs.rootlike import RootLike

Unset: TypeAlias = EllipsisType


def discover(
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
) -> Discovery:
    """
    Return the instruction files that apply to *path*, weakest first: user-wide, extra, then from the root down to it.

    Trouble with one file never costs the others: it is in `problems`, and what exists and is left out is in
    `omitted`.  Nothing is read outside of the root but what *user_files* and *extra* name; links are followed while
    they stay inside.  A *path* that does not exist, and for which nothing is found, is a warning.  One file, by
    whatever names, is read once.  Where the root is a submodule, the files of the repository around it are in
    `omitted`: seen by name and size, and not read.

    Args:
        path: A folder, a file, or a file that does not exist yet.  A mapping of labels to several: each is a root of
            its own, whose files have the label.
        profile: The rules; the arguments below that are not given are taken from it.
        root: Where the search begins; *path* must lie in it.  None: the nearest folder with one of *markers*, at most
            the home folder, else the start folder alone.  Or a `Root`, or any other `RootLike`: then *path* is relative
            to it, ``/``-separated, and what links may do there is up to it.
        user_files: Files that hold for all projects, or folders with one; those that do not exist are passed over.
            Relative to the working directory; a ``~`` is the home folder.  Links are followed wherever they lead.
        extra: More files, read behind those; one that does not exist is a problem.  Links as for *user_files*, but
            for files that lie in the root: there they must stay inside.
        names: What the file of a folder may be called, best first.
        additions: Names of files that are read besides the one that `names` finds.
        markers: What makes a folder the root; () for none.
        file_bytes: UTF-8 bytes of one file; None for no limit, 0 reads none.
        budget: UTF-8 bytes of all files; None for no limit, 0 reads none.
        home: The home folder; None for that of the process.

    Raises:
        OptionError: If an option has a value that it does not take, or *path* is outside of *root*.
        RootNotFoundError: If *root* is no folder.

    .. versionadded:: 0.1
    """
    request = Request(
        path=path,
        rules=with_options(profile, names=names, additions=additions, markers=markers, file_bytes=file_bytes, budget=budget),
        root=root,
        user_files=read_paths("user_files", user_files),
        extra=read_paths("extra", extra),
        home=home,
    )
    return request.find()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked of a discovery, so that it can be asked again; see `discover`."""

    path: PathLike | Mapping[str, PathLike]
    rules: Profile
    root: PathLike | RootLike | None = None
    user_files: tuple[PathLike, ...] = ()
    extra: tuple[PathLike, ...] = ()
    home: PathLike | None = None

    def __post_init__(self) -> None:
        rules = self.rules
        if not (rules.names or rules.additions or self.user_files or self.extra):
            raise OptionError("extra", (), f"at least one file, since the profile {rules.title!r} looks for none by itself")

    def places(self) -> Places:
        """Return where files are looked for; nothing is opened but folders on the way up."""
        starts = self.path if isinstance(self.path, Mapping) else {"": self.path}
        return find_places(starts, self.rules, root=self.root, home=self.home, user_files=self.user_files, extra=self.extra)

    def find(self) -> Discovery:
        """Return what is found now."""
        places = self.places()
        with Roots() as roots:
            found = Search(self.rules, roots).run(places)
        above = outside(places.ascents, self.rules, home=self.home)
        missing = [f"{naming.printable(os.fspath(path))} does not exist (yet), and no instruction file was found for it" for path in self._unfounded(found)]
        return replace(found, omitted=(*found.omitted, *above), warnings=(*missing, *found.warnings)) if above or missing else found

    def _unfounded(self, found: Discovery) -> Iterator[PathLike]:
        """Yield the paths that do not exist, if nothing holds for them: such a one is a mistake and no file that is yet to be made."""
        for label, path in self.path.items() if isinstance(self.path, Mapping) else [("", self.path)]:
            if not any(doc.root == label and doc.origin == "chain" for doc in found.docs) and not exists(path, self.root):
                yield path


def with_options(profile: Profile, *, file_bytes: int | Unset | None, budget: int | Unset | None, **names: Sequence[str] | None) -> Profile:
    """Return *profile* with what was given in its place."""
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in names.items() if value is not None}
    if not isinstance(file_bytes, EllipsisType):
        given["file_bytes"] = file_bytes
    if not isinstance(budget, EllipsisType):
        given["budget"] = budget
    return replace(profile, **given) if given else profile


def read_paths(option: str, paths: Iterable[PathLike]) -> tuple[PathLike, ...]:
    """
    Return *paths* as a tuple.

    Raises:
        OptionTypeError: If they are one path: every letter would be a path.
    """
    if isinstance(paths, str | bytes | os.PathLike):
        raise OptionTypeError(option, paths, "several paths")
    return tuple(paths)
