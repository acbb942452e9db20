"""The rules by which instruction files are found, charged and imported, as data: one set for each system, and ours."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast, get_args

from filerefs.errors import OptionError, OptionTypeError
from filerefs.limits import KIB, MIB, check_count

if TYPE_CHECKING:
    from filerefs.agentsmd.frames import Style

Spend: TypeAlias = Literal["nearest", "farthest"]
TooLarge: TypeAlias = Literal["cut", "omit"]
Overflow: TypeAlias = Literal["cut", "omit", "unit"]
Blank: TypeAlias = Literal["pass", "keep"]
LinkNames: TypeAlias = Literal["link", "target"]
Undecodable: TypeAlias = Literal["guess", "replace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """
    How instruction files are found and what is done with them.  Derive your own with `dataclasses.replace`.

    Attributes:
        title: What the profile is called.
        names: What the file of a folder may be called, best first: one of them is read, the others that exist are
            shadowed.  Relative to the folder, `/`-separated; "" and repeated names mean nothing.
        additions: Names of files that are read besides, in this order behind it: private notes switch nothing off.
        markers: What the root folder of a project has in it, file or folder; none: only the start folder is looked at.
        file_bytes: UTF-8 bytes of one file; None for no limit, 0 reads none.
        budget: UTF-8 bytes of all files; None for no limit, 0 reads none.
        too_large: What becomes of a file of more than `file_bytes`: "cut", or "omit".
        overflow: What becomes of the file that passes the budget: see `Ledger`.
        spend: Which file the budget is spent on first: the "nearest", or the "farthest" in the order of printing.
        each_root: Whether every root of several has the budget for itself.
        free_user: Whether user-wide files are neither charged nor cut.
        blank: Whether a blank file counts as none ("pass": the next name is tried), or as an empty one ("keep").
        trim: Which files have the white space around them taken off: none, "user", "all".
        link_names: Whether a file found through a link is called by the link's name, or by its "target".
        folders: Whether a folder that has the name of an instruction file is worth a word.
        undecodable: What is done with bytes that are no UTF-8 and have no mark: "guess" a legacy encoding, or "replace".
        mark: What stands at the end of a file that was cut; `{shown}` and `{size}` bytes, `{limit}` the cap, `{block}`
            that a fenced block was left out as a whole, where one was.
        imports: Whether a `Loader` expands imports without being asked to.
        absolute_imports: Whether `@/path` is read where it lies inside the folder that the file belongs to.
        home_imports: Whether `@~/path` is read.
        style: How `render` writes them.

    Raises:
        OptionError: If a limit is negative, a name leads out of its folder, a choice is none of those above, or the mark
            has another field.
        OptionTypeError: If names are one string, or a limit is no number.

    .. versionadded:: 0.1
    """

    title: str
    names: tuple[str, ...] = ("AGENTS.md",)
    additions: tuple[str, ...] = ()
    markers: tuple[str, ...] = (".git",)
    file_bytes: int | None = None
    budget: int | None = None
    too_large: TooLarge = "cut"
    overflow: Overflow = "cut"
    spend: Spend = "nearest"
    each_root: bool = False
    free_user: bool = False
    blank: Blank = "pass"
    trim: Literal["", "user", "all"] = ""
    link_names: LinkNames = "link"
    folders: bool = True
    undecodable: Undecodable = "guess"
    mark: str = "\n\n[... cut: {shown} of {size} bytes are shown{block} ...]"
    imports: bool = False
    absolute_imports: bool = False
    home_imports: bool = False
    style: Style = "headings"

    def __post_init__(self) -> None:
        for name in ("names", "additions", "markers"):
            object.__setattr__(self, name, _read_names(name, getattr(self, name)))
        for name in ("file_bytes", "budget"):
            check_count(name, getattr(self, name))
        for field in fields(self):
            choices = _CHOICES.get(field.name)
            if choices and getattr(self, field.name) not in choices:
                raise OptionError(field.name, getattr(self, field.name), f"one of {', '.join(map(repr, choices))}")
        _check_mark(self.mark)


_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "too_large": ("cut", "omit"),
    "overflow": get_args(Overflow),
    "spend": ("nearest", "farthest"),
    "blank": ("pass", "keep"),
    "trim": ("", "user", "all"),
    "link_names": ("link", "target"),
    "undecodable": ("guess", "replace"),
}


def _read_names(option: str, names: object) -> tuple[str, ...]:
    """Return *names* without empty and repeated ones."""
    if isinstance(names, str | bytes) or not isinstance(names, tuple | list):
        raise OptionTypeError(option, names, "a tuple of names")
    for name in cast("tuple[object, ...]", names):
        if not isinstance(name, str):
            raise OptionTypeError(option, name, "a tuple of names, each a str")
        if name.startswith(("/", "~")) or ".." in name.split("/") or "\0" in name:
            raise OptionError(option, name, "names of files in the folder itself or below it")
    return tuple(dict.fromkeys(name for name in cast("tuple[str, ...]", names) if name))


def _check_mark(mark: str) -> None:
    try:
        mark.format(shown=0, size=0, limit=0, block="")
    except (AttributeError, LookupError, ValueError) as error:
        raise OptionError("mark", mark, "text with no other fields than {shown}, {size}, {limit} and {block}") from error


DEFAULT: Final = Profile(
    title="default",
    names=("AGENTS.override.md", "AGENTS.md"),
    additions=("AGENTS.local.md",),
    file_bytes=64 * KIB,
    budget=128 * KIB,
    imports=True,
)
"""The best of all: the nearest file survives, nothing is left out silently, imports are expanded."""

CHAIN: Final = Profile(
    title="chain",
    file_bytes=MIB,
    too_large="omit",
    overflow="omit",
    spend="farthest",
    blank="keep",
    folders=False,
    style="project_context",
)
"""The Go module agentsmd: whole files, the farthest first."""

PROJECTCTX: Final = Profile(
    title="projectctx",
    file_bytes=64 * KIB,
    trim="all",
    link_names="target",
    mark="\n\n[... truncated at {limit} bytes{block} ...]",
)
"""The Go package projectctx: each file up to a size, without a total."""

CODEX: Final = Profile(
    title="codex",
    names=("AGENTS.override.md", "AGENTS.md"),
    file_bytes=16 * MIB,
    budget=32 * KIB,
    too_large="omit",
    spend="farthest",
    each_root=True,
    free_user=True,
    trim="user",
    folders=False,
    undecodable="replace",
    style="instructions",
)
"""Codex: one budget for the files of a project, spent from the root on; the user's own file is free.  16 MiB keep memory from being exhausted."""

EINO: Final = Profile(
    title="eino",
    names=(),
    markers=(),
    file_bytes=16 * MIB,
    too_large="omit",
    overflow="unit",
    spend="farthest",
    imports=True,
    absolute_imports=True,
    style="system_reminder",
)
"""The Eino middleware: only the files that the host names (`extra`), each with all that it imports.  16 MiB keep memory from being exhausted."""

PROFILES: Final = {profile.title: profile for profile in (DEFAULT, CHAIN, PROJECTCTX, CODEX, EINO)}
"""All profiles by their titles."""
