"""Which mentions belong together: those of one file, and those that were refused alike, in order of first mention."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from filerefs.outcomes import Reason
from filerefs.resolving import Hit

if TYPE_CHECKING:
    from filerefs.mentions import Range, Ref
    from filerefs.resolving import Miss, Target


class Mention(NamedTuple):
    """One reference as it was understood: where it ends, which lines, what behind it was not, what it names."""

    ref: Ref
    end: int
    lines: Range | None = None
    fragment: str = ""
    target: Target | None = None

    @property
    def name(self) -> str:
        """The root-relative name under which its file was found."""
        return self.target.name if self.target else ""

    @property
    def span(self) -> tuple[int, int]:
        return self.ref.start, self.end


@dataclass(slots=True, eq=False)
class Group:
    """All mentions of one file or folder."""

    target: Target
    mentions: list[Mention] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Refusal:
    """All mentions of one name that were refused for one reason; `typed` is its first spelling."""

    path: str
    reason: Reason
    detail: str
    typed: str = ""
    mentions: list[Mention] = field(default_factory=list)


class Sorter:
    """Puts each mention to the others of its file, at most *limit* files and refusals; one more is for all the rest."""

    def __init__(self, limit: int | None) -> None:
        self.entries: list[Group | Refusal] = []
        self._limit = limit
        self._groups: dict[object, Group] = {}
        self._refusals: dict[tuple[str, Reason], Refusal] = {}
        self._rest: Refusal | None = None

    def add(self, ref: Ref, resolution: Hit | Miss) -> None:
        if isinstance(resolution, Hit):
            self._add_hit(ref, resolution)
        elif resolution.trouble.reason is Reason.TOO_MANY:
            self._leave(Mention(ref, resolution.end), resolution.path, resolution.trouble.detail)
        else:
            self._add_miss(ref, resolution)

    def _add_hit(self, ref: Ref, hit: Hit) -> None:
        target = hit.target
        mention = Mention(ref, hit.end, hit.lines, hit.fragment, target)
        key = target.identity or target.name
        group = self._groups.get(key)
        if group is None and self._is_full():
            self._leave(mention, target.name)
            return
        if group is None:
            group = self._groups[key] = Group(target)
            self.entries.append(group)
        group.mentions.append(mention)

    def _add_miss(self, ref: Ref, miss: Miss) -> None:
        mention = Mention(ref, miss.end)
        path = _tidy(miss.path)
        key = (path, miss.trouble.reason)
        refusal = self._refusals.get(key)
        if refusal is None and self._is_full():
            self._leave(mention, path)
            return
        if refusal is None:
            refusal = self._refusals[key] = Refusal(path, miss.trouble.reason, miss.trouble.detail, miss.path)
            self.entries.append(refusal)
        refusal.mentions.append(mention)

    def _is_full(self) -> bool:
        return self._limit is not None and len(self.entries) - (self._rest is not None) >= self._limit

    def _leave(self, mention: Mention, path: str, detail: str = "") -> None:
        """Put a mention that is one too many to the others of its kind: all of them are one outcome."""
        if self._rest is None:
            references = "1 reference" if self._limit == 1 else f"{self._limit} references"
            self._rest = Refusal(path, Reason.TOO_MANY, detail or f"more than {references} in one message")
            self.entries.append(self._rest)
        self._rest.mentions.append(mention)


def _tidy(path: str) -> str:
    """Return *path* without what means nothing in it, so that two spellings of one miss are one outcome."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts) or path
