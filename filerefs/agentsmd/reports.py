"""What is said along the way about instruction files: documents, what is left out, problems, warnings."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from filerefs import naming
from filerefs.agentsmd.documents import Doc, Omission, Omitted, Problem, Source
from filerefs.limits import utf8_length

if TYPE_CHECKING:
    from filerefs.agentsmd.budgets import Fitted
    from filerefs.agentsmd.documents import Base, Origin
    from filerefs.agentsmd.profiles import Profile
    from filerefs.agentsmd.reading import Text
    from filerefs.rootlike import NodeLike


@dataclass(frozen=True, slots=True)
class Candidate:
    """
    A file that was read and may become a document.

    Attributes:
        name, node, base: What it is called, and what was opened where.
        read: What was read of it.
        body: What is wanted of that.
        start: Where that begins, if somebody asked for some lines of it; None if for all.
    """

    name: str
    node: NodeLike
    base: Base
    read: Text
    body: str
    start: int | None = None

    def document(self, fitted: Fitted, *, name: str, scope: str, root: str, origin: Origin, imported_by: tuple[str, ...] = ()) -> Doc:
        """Return the document that shows what is *fitted* of it."""
        return Doc(
            name=name,
            scope=scope,
            folder=posixpath.dirname(self.node.name) or ".",
            root=root,
            origin=origin,
            text=fitted.text,
            size=self.read.size,
            shown=utf8_length(fitted.text),
            truncated=bool(fitted.cut_by) or self.start is not None,
            encoding=self.read.encoding,
            imported_by=imported_by,
            identity=self.node.identity,
            base=self.base,
            file=self.node.target or self.node.name,
            source=self._source(fitted),
        )

    def _source(self, fitted: Fitted) -> Source | None:
        if self.start is not None:
            return Source(self.read.text, self.start, self.start + fitted.kept, is_cut=bool(fitted.cut_by))
        return Source(self.body, 0, fitted.kept, is_cut=True) if fitted.cut_by else None


@dataclass(slots=True)
class Report:
    """What one place has, or what expanding imports came to; the fields are those of `Discovery`."""

    docs: list[Doc] = field(default_factory=list)
    omitted: list[Omitted] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def omit(self, name: str, size: int, reason: Omission, by: str = "") -> None:
        """Take note that a file is left out."""
        self.omitted.append(Omitted(name=name, size=size, reason=reason, by=by))

    def warn(self, name: str, what: str) -> None:
        """Tell the person something about a file."""
        self.warnings.append(f"{naming.printable(name)} {what}")

    def leave(self, name: str, size: int, reason: Omission, rules: Profile) -> None:
        """Take note that a file is left out because of a limit, and tell the person."""
        over_budget = reason is Omission.OVER_BUDGET
        limit = naming.human_size((rules.budget if over_budget else rules.file_bytes) or 0)
        self.omit(name, size, reason)
        self.warn(name, f"({naming.human_size(size)}) was left out: the {'budget of all files' if over_budget else 'limit of one file'} is {limit}")

    def tell(self, name: str, read: Text, fitted: Fitted) -> None:
        """Tell the person if a file was cut, or is not what its bytes say for sure."""
        if fitted.cut_by:
            self.warn(name, f"was cut by {fitted.cut_by}: {naming.human_size(fitted.shown)} of {naming.human_size(read.size)} are shown")
        if read.caution:
            self.warn(name, read.caution)


def unique(name: str, taken: set[str]) -> str:
    """Return *name*, or that with a number if another file is called so, and take it: a name must be enough to ask for a file."""
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name} ({number})"
    taken.add(candidate)
    return candidate
