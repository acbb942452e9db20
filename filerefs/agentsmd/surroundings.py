"""
What lies around the files that are read, and is not read: above the root, and under other names.

It is looked at by name, kind and size, for a person who wonders; nothing in it is read.  Above the root nothing is
looked at where a host gave the root, above the home folder, and in folders like ``/tmp``, where everybody may put files.
"""

from __future__ import annotations

import os
import posixpath
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from filerefs import upward
from filerefs.agentsmd.documents import NOWHERE, Omission, Omitted
from filerefs.agentsmd.places import relative_to
from filerefs.agentsmd.reading import read_text
from filerefs.root import Root, Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from filerefs.agentsmd.places import PathLike
    from filerefs.agentsmd.profiles import Profile
    from filerefs.upward import Ascent

Tie: TypeAlias = Literal["", "submodule", "work tree"]

OTHER_AGENTS: Final = ("CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules")
"""Files of the same purpose that other agents read."""

_GIT: Final = ".git"
_GIT_FILE_BYTES: Final = 4096
# A submodule may have work trees of its own, whose path has both in it.
_TIES: Final[tuple[tuple[Tie, str], ...]] = (("submodule", "/.git/modules/"), ("work tree", "/.git/worktrees/"))
_MOST_NAMES: Final = 1000
_ALIKE: Final = 0.74


class Repository(NamedTuple):
    """What a folder is to the repository that a file called .git in it names, and the folder of that; "" and "" for nothing."""

    tie: Tie = ""
    main: str = ""


class Above(NamedTuple):
    """A file in a folder above the root: the folder, the file's name in it, and its size."""

    folder: str
    name: str
    size: int

    def seen_from(self, root: str) -> str:
        """Return its name relative to *root*: `../AGENTS.md`."""
        below = relative_to(root, self.folder) or "."
        return "../" * (below.count("/") + 1) + self.name


def read_repository(root: str, folder: str = ".") -> Repository:
    """Return what the *folder* in *root* is to the repository that its .git names."""
    text = _read_git_file(root, _GIT if folder == "." else f"{folder}/{_GIT}")
    return repository_named(text, posixpath.normpath(posixpath.join(root, folder)))


def repository_named(git_file: str, folder: str) -> Repository:
    """
    Return what the *folder* is to the repository that *git_file*, the text of its .git, names.

    Only the text is judged, nothing of what it names is opened.
    """
    key, colon, path = git_file.partition(":")
    if not colon or key.strip() != "gitdir":
        return Repository()
    git = posixpath.normpath(posixpath.join(folder, path.strip()))
    for tie, separator in _TIES:
        main, found, _ = git.partition(separator)
        if found:
            return Repository(tie, main or "/")
    return Repository()


def files_above(ascent: Ascent, names: Sequence[str], *, home: PathLike | None = None, top: str = "/") -> Iterator[Above]:
    """Yield a file with one of *names* for each folder above the root that has one, the nearest first, up to the folder *top*."""
    last = upward.home_folder() if home is None else os.path.realpath(os.fspath(home))
    folder = "/" if ascent.why == "given" or not names else ascent.root
    while folder not in ("/", top, last):
        folder = posixpath.dirname(folder)
        if last and relative_to(last, folder) not in (None, "."):
            return
        found = upward.find_up(folder, names, home=last or None)
        if found.why != "marker" or relative_to(found.root, top) is None:
            return
        folder = found.root
        size = _size_of(folder, found.marker)
        if size is not None:
            yield Above(folder, found.marker, size)


def outside(ascents: Mapping[str, Ascent], rules: Profile, *, home: PathLike | None) -> tuple[Omitted, ...]:
    """Return the files of the repositories that the roots are submodules of, which would hold if they were one project."""
    found = []
    for label, ascent in ascents.items():
        if ascent.root == NOWHERE or ascent.why != "marker" or ascent.marker != _GIT:
            continue
        repository = read_repository(ascent.root)
        if repository.tie == "submodule":
            for above in files_above(ascent, rules.names, home=home, top=repository.main):
                name = above.seen_from(ascent.root)
                found.append(Omitted(name=f"{label}:{name}" if label else name, size=above.size, reason=Omission.OUTSIDE_ROOT))
    return tuple(found)


def names_beside(ascent: Ascent, rules: Profile) -> Iterator[tuple[str, str, list[str]]]:
    """
    Yield for each folder from the root to the start: its name, and the files in it that look like instruction files.

    That is (folder, the name that is wanted, names): with "" as the name that is wanted, those that other agents read.
    """
    wanted = (*rules.names, *rules.additions)
    if ascent.root == NOWHERE or not wanted:
        return
    with Root(ascent.root) as root:
        for depth in range(len(ascent.parts) + 1):
            folder = "/".join(ascent.parts[:depth]) or "."
            files = [name for name in _files_in(root, folder) if name not in wanted]
            alike = [name for name in files if _is_like(name, wanted)]
            if alike:
                yield folder, (rules.names or wanted)[-1], alike
            others = [name for name in files if name in OTHER_AGENTS and name not in alike]
            if others:
                yield folder, "", others


def is_instruction_name(name: str, rules: Profile) -> bool:
    """Tell whether a file called *name* is meant as an instruction file: one of the names, another spelling, another agent's."""
    wanted = (*rules.names, *rules.additions)
    return name in OTHER_AGENTS or name.casefold() in [other.casefold() for other in wanted] or _is_like(name, wanted)


def _is_like(name: str, wanted: Sequence[str]) -> bool:
    # Another spelling of a name is reported when it is looked for.
    folded = [other.casefold() for other in wanted]
    return name.casefold() not in folded and bool(get_close_matches(name.casefold(), folded, n=1, cutoff=_ALIKE))


def _files_in(root: Root, folder: str) -> list[str]:
    node = root.open(folder)
    if isinstance(node, Trouble):
        return []
    with node:
        listing = node.entries(_MOST_NAMES)
    return [] if isinstance(listing, Trouble) else [entry.name for entry in listing.entries if entry.kind in ("file", "link")]


def _read_git_file(root: str, name: str) -> str:
    """Return the text of a file called .git, "" if it is none."""
    with Root(root, allow=(name,)) as opened:
        node = opened.open(name)
        if isinstance(node, Trouble):
            return ""
        with node:
            text = read_text(node, _GIT_FILE_BYTES, undecodable="replace") if node.kind == "file" else None
    return "" if text is None or isinstance(text, Trouble) else text.text


def _size_of(folder: str, name: str) -> int | None:
    """Return the size of a file, None if it is none."""
    with Root(folder, symlinks="inside") as root:
        node = root.open(name)
        if isinstance(node, Trouble):
            return None
        with node:
            return node.size if node.kind == "file" else None
