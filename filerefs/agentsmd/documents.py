"""What discovery finds and everything else in this package works on: instruction files, and why others are left out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from filerefs import naming

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator

    from filerefs.agentsmd.profiles import Profile
    from filerefs.rootlike import RootLike

Origin: TypeAlias = Literal["user", "extra", "chain", "import"]

NOWHERE: Final = "<root>"
"""In place of the path of a root that is an object and no folder: no path begins like that."""


class Omission(StrEnum):
    """
    Why an instruction file is not among the documents.

    .. versionadded:: 0.1
    """

    OVER_BUDGET = "over_budget"
    """What is left of the budget is not enough for it."""
    SHADOWED = "shadowed"
    """Its folder has a file with a better name."""
    BLANK = "blank"
    """Nothing but white space is in it."""
    TOO_LARGE = "too_large"
    """It passes `file_bytes`, and the profile cuts no file, or no line of it would be left."""
    LINK_OUTSIDE = "link_outside"
    """A link that leads out of the root."""
    DUPLICATE = "duplicate"
    """The same file is read under another name, or a message attaches it."""
    OFF = "off"
    """`file_bytes` or the budget is 0: nothing is read."""
    OUTSIDE_ROOT = "outside_root"
    """It belongs to the repository around the root, which is a submodule."""

    @property
    def words(self) -> str:
        """The reason for people: "over budget"."""
        return self.value.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Base:
    """
    The folder in which a file and its imports are opened, and out of which neither leads.

    Attributes:
        folder: Its path on this machine: for opening and for logs, never for a prompt.
        prefix: What the names of files in it begin with: "" in a project, "~/.config/" for a user-wide file.
        root: What opens its files, if a host gave an object and no path; `folder` is then `NOWHERE`.
    """

    folder: str
    prefix: str = ""
    root: RootLike | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Source:
    """
    What a document is a part of: its text is `text[start:end]`, and perhaps a mark that says so.

    Attributes:
        text: What was read of the file.
        start: Where the document's text begins in it, in code points.
        end: Where it ends.
        is_cut: Whether a limit made it a part; else somebody asked for these lines.
    """

    text: str = field(repr=False)
    start: int
    end: int
    is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc:
    """
    One instruction file.

    Attributes:
        name: Unique name: relative to its root, `/`-separated; for a user-wide or extra file the name it was given by.
        scope: For people: "user", "project" or the folder that it governs ("src/api/").
        folder: The root-relative folder it lies in, "." for the root itself.
        root: Label of the root it belongs to; "" where there is only one.
        origin: How it came in.
        text: Decoded, cut where a budget asked for it.
        size: Bytes on disk.
        shown: UTF-8 bytes of `text`.
        truncated: Whether `text` is less than the file.
        encoding: Python's name of the codec.
        imported_by: The chain of names that led here, outermost first; empty if it was not imported.
        identity: (device, inode), or what another root tells its files by, or None.
        base: Where it and its imports are opened; None for a document that was not read from a disk.
        file: Its name in `base`, that of a link's target; imports are relative to the folder of this one.
        source: What its text is a part of; None where it is all of the file.

    .. versionadded:: 0.1
    """

    name: str
    scope: str = "project"
    folder: str = "."
    root: str = ""
    origin: Origin = "chain"
    text: str = field(repr=False)
    size: int
    shown: int
    truncated: bool = False
    encoding: str = "utf-8"
    imported_by: tuple[str, ...] = ()
    identity: tuple[Hashable, ...] | None = field(default=None, repr=False)
    base: Base | None = field(default=None, repr=False, compare=False)
    file: str = field(default="", repr=False)
    source: Source | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Omitted:
    """
    An instruction file that is left out: its size, why, and by which file (`by`, "" for none).

    .. versionadded:: 0.1
    """

    name: str
    size: int
    reason: Omission
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """
    A file or import that could not be read: one bad file never costs the rest.

    Attributes:
        name: The file, or the import as it is written.
        detail: One sentence without a final dot and without host paths.
        chain: The chain of files that led to it, outermost first: `AGENTS.md → a.md → AGENTS.md`.

    .. versionadded:: 0.1
    """

    name: str
    detail: str
    chain: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The one line that a host prints: `@a.md: imported in a circle (AGENTS.md → a.md → AGENTS.md)`."""
        chain = f" ({' → '.join(map(naming.printable, self.chain))})" if self.chain else ""
        return f"{naming.printable(self.name)}: {self.detail}{chain}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """
    The instruction files that apply, in the order in which they are to be read, and what was left out.

    Attributes:
        docs: The files, in print order.
        omitted: Files that exist and are left out, in the order met.
        problems: Files and imports that could not be read.
        warnings: One sentence each, for the person.
        root: For people: which folder was taken as the root and why ("nearest folder with .git"), without host paths.
        profile: The rules by which they were found, and by which their imports are expanded; None for those of the default.
        looked_up: Every name that expanding imports looked up, found or not: what `Loader.stamp` has an eye on.

    Iterating yields the documents, so that a discovery can be given to whatever takes documents.

    .. versionadded:: 0.1
    """

    docs: tuple[Doc, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    root: str = ""
    profile: Profile | None = field(default=None, repr=False)
    looked_up: tuple[tuple[Base, str], ...] = field(default=(), repr=False, compare=False)

    def __iter__(self) -> Iterator[Doc]:
        return iter(self.docs)

    def __len__(self) -> int:
        return len(self.docs)

    def without(self, names: Collection[str]) -> Discovery:
        """
        Return the discovery without the documents of these files, by their names in the root.

        For files that a message attaches (`outcome.path`), so that the model is not given them twice.
        """
        gone = tuple(Omitted(name=doc.name, size=doc.size, reason=Omission.DUPLICATE) for doc in self.docs if doc.file in names)
        return replace(self, docs=tuple(doc for doc in self.docs if doc.file not in names), omitted=(*self.omitted, *gone)) if gone else self
