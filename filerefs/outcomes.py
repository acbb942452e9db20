"""What became of a reference: attached or refused.  A closed union; close every `match` with `assert_never`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from filerefs import naming
from filerefs.reasons import Reason

if TYPE_CHECKING:
    from filerefs.mentions import Ref

__all__ = ["Attached", "Kind", "Lines", "Outcome", "Reason", "Refused", "Span"]

Kind: TypeAlias = Literal["file", "directory", "media"]
Lines: TypeAlias = tuple[tuple[int, int], ...]
Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached:
    """
    One file, folder or medium that goes to the model, however often and however spelled it was named.

    Attributes:
        path: Relative to the root, `/`-separated, as on disk, without a final `/`; `.` is the root itself.
            Through an allowed link: the link's own path.
        refs: The references that name it, in order.
        spans: For each of them the (start, end) in the message, in code points, that names it.
        replacements: For each span the text that takes its place in the rewritten message.
        kind: "file", "directory" or "media".
        text: What the section shows, decoded; of a directory the listing; of media nothing.
        size: Bytes on disk; 0 for a directory.
        shown: UTF-8 bytes of `text`.
        truncated: Whether `text` is less than what was asked for.
        lines: The (first, last) lines shown, in file order, disjoint; None for the whole file.
        total_lines: Lines of the whole file where it was read to its end, else None.
        entries: Names in a directory's listing; None for anything else.
        encoding: Python's name of the codec; None for a directory and media.
        lossy: Whether bytes had to be replaced by U+FFFD.
        language: Tag for the fence, "" for none.
        media_type: "image/png" and the like for media, else None.
        data: The bytes of a medium that goes with the message, which `media=True` asks for; else None, and the model
            reads no more than that there is such a file.
        names: Further root-relative names of the same file (hard links, links) that were used.
        notes: What else is worth saying to person and model, one sentence each, without the file's name.
        cautions: What the person is warned of: a cut, a guessed or lossy encoding; the latter two are notes too.

    .. versionadded:: 0.1
    """

    path: str
    refs: tuple[Ref, ...]
    spans: tuple[Span, ...]
    replacements: tuple[str, ...]
    kind: Kind
    text: str = field(repr=False)
    size: int
    shown: int
    truncated: bool = False
    lines: Lines | None = None
    total_lines: int | None = None
    entries: int | None = None
    encoding: str | None = None
    lossy: bool = False
    language: str = ""
    media_type: str | None = None
    data: bytes | None = field(default=None, repr=False)
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def status(self) -> Literal["attached"]:
        return "attached"

    @property
    def token(self) -> str:
        """The first mention as it was typed."""
        return self.refs[0].upto(self.spans[0][1])

    @property
    def label(self) -> str:
        """The path for a heading: one printable line of at most 200 characters."""
        return naming.label(self.path + "/" if self.kind == "directory" else self.path)

    @property
    def remarks(self) -> list[str]:
        """Everything that is worth saying to a person: notes, cautions and the other names."""
        twins = [f"{naming.printable(name)} is the same file" for name in self.names]
        return list(dict.fromkeys([*self.cautions, *self.notes, *twins]))

    @property
    def digest(self) -> str:
        """SHA-256 of `text` in UTF-8, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def summary(self) -> str:
        """The one line that a host prints: `attached src/app.py (12.3 KB, python)`."""
        return f"attached {self.label} ({', '.join(self._facts())})"

    def _facts(self) -> list[str]:
        if self.kind == "directory":
            entries = "1 entry" if self.entries == 1 else f"{self.entries} entries"
            return ["directory", f"{entries} and more" if self.truncated else entries]
        if self.kind == "media":
            facts = [naming.human_size(self.size), self.media_type or "media"]
            return facts if self.data is not None else [*facts, "by name only"]
        facts = []
        if self.lines:
            facts.append(naming.line_numbers(self.lines))
        if self.truncated:
            facts.append(f"{naming.human_size(self.shown)} of {naming.human_size(self.size)}")
        else:
            facts.append(naming.human_size(self.shown if self.lines else self.size))
        if self.language:
            facts.append(self.language)
        return facts

    def __repr__(self) -> str:
        return f"Attached({self.path!r}, kind={self.kind!r}, shown={self.shown}, truncated={self.truncated}, mentions={len(self.spans)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """
    A reference that could not be attached, and why.

    Attributes:
        path: The name as it was understood, `/`-separated.
        refs: The references that name it, in order.
        spans: For each of them the (start, end) in the message, in code points.
        reason: Why, for programs.
        detail: Why, for people and the model: one sentence without a final dot, without host paths.
        hint: What the person could type instead; "" for nothing.  Never goes into the section.
        notes: Whatever else is worth saying.

    .. versionadded:: 0.1
    """

    path: str
    refs: tuple[Ref, ...]
    spans: tuple[Span, ...]
    reason: Reason
    detail: str
    hint: str = ""
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> Literal["refused"]:
        return "refused"

    @property
    def token(self) -> str:
        """The first mention as it was typed."""
        return self.refs[0].upto(self.spans[0][1])

    @property
    def label(self) -> str:
        """The token for a heading: one printable line of at most 200 characters."""
        return naming.label(self.token)

    @property
    def remarks(self) -> list[str]:
        """Everything else that is worth saying to a person."""
        return list(self.notes)

    @property
    def summary(self) -> str:
        """The one line that a host prints: `could not attach @x.py: no such file`."""
        return f"could not attach {self.label}: {self.detail}"

    def __repr__(self) -> str:
        return f"Refused({self.path!r}, reason={self.reason.value!r}, mentions={len(self.spans)})"


Outcome: TypeAlias = Attached | Refused
"""What became of one file; `status` tells the two apart, "attached" or "refused"."""
