"""How much of the instruction files is shown: where a file is cut, and the total that all of them share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from filerefs.agentsmd.documents import Omission
from filerefs.agentsmd.excerpts import excerpt
from filerefs.limits import utf8_length

if TYPE_CHECKING:
    from filerefs.agentsmd.documents import Origin
    from filerefs.agentsmd.excerpts import Excerpt
    from filerefs.agentsmd.profiles import Overflow, Profile
    from filerefs.agentsmd.reading import Text

BLOCK_LEFT_OUT: Final = "; a fenced block that does not fit is left out as a whole"
"""What a mark says where the file goes on with a block that would have been torn."""


def cut(text: str, limit: int | None) -> Excerpt:
    """
    Return the beginning of *text* that fits into *limit* UTF-8 bytes.

    It ends behind a paragraph, else behind a line: half a sentence may say the opposite of the whole.  Only a line that
    does not fit itself, and is the first to say anything, is cut.  No fenced block is cut, and no heading is the last
    thing shown.
    """
    return excerpt(text, limit, whole_lines=True)


class Ledger:
    """
    The total that instruction files share, and what is left of it.

    Args:
        total: UTF-8 bytes; None for no limit.
        overflow: What becomes of the file that does not fit.  "cut": as much of it as fits is shown, and nothing
            of those that come later.  "omit": it is left out, and a later one that fits is shown.  "unit": it is
            shown whole if nothing was shown before; else it is left out with all that it imports, and so are all
            later ones.
    """

    __slots__ = ("overflow", "spent", "total")

    def __init__(self, total: int | None, overflow: Overflow) -> None:
        self.total = total
        self.overflow: Overflow = overflow
        self.spent = 0

    @property
    def room(self) -> int | None:
        """How many bytes of the next file may be shown; None: all of it, however large."""
        if self.total is None or (self.overflow == "unit" and not self.is_overdrawn):
            return None
        return max(0, self.total - self.spent)

    @property
    def is_overdrawn(self) -> bool:
        """Whether more was spent than there was: what "unit" finds out behind a file and its imports."""
        return self.total is not None and self.spent > self.total

    def spend(self, amount: int) -> None:
        """Take note that *amount* bytes are shown."""
        self.spent += amount

    def close(self) -> None:
        """Let nothing fit any more: a small file behind one that was cut must not look as if that were whole."""
        if self.total is not None:
            self.spent = max(self.spent, self.total)


class Ledgers:
    """All totals of one discovery: one for all files, unless the rules say otherwise."""

    def __init__(self, rules: Profile) -> None:
        self._rules = rules
        self._ledgers: dict[str, Ledger] = {}

    def of(self, origin: Origin, root: str) -> Ledger:
        """Return what files of *origin* that belong to the root labelled *root* are charged to."""
        rules = self._rules
        free = rules.free_user and origin == "user"
        key = "user" if free else f"root {root}" if rules.each_root else ""
        if key not in self._ledgers:
            self._ledgers[key] = Ledger(None if free else rules.budget, rules.overflow)
        return self._ledgers[key]


@dataclass(frozen=True, slots=True)
class Fitted:
    """
    What is shown of a file.

    Attributes:
        text: With a mark at the end if it was cut.
        kept: How much of it is the file's own, without the mark: in code points.
        shown: The same in UTF-8 bytes.
        cut_by: What it was cut by, "" if it was not.
    """

    text: str = field(repr=False)
    kept: int
    shown: int
    cut_by: str = ""


def fit(body: str, read: Text, ledger: Ledger, rules: Profile) -> Fitted | Omission:
    """
    Return what is shown of *body*, the text that was *read* or what trimming left of it, and charge it; or why nothing is.

    The mark at the end of a text that was cut is not charged.
    """
    room = ledger.room
    limit = lowest(rules.file_bytes, room)
    length = read.length if body is read.text else utf8_length(body)
    if read.complete and (limit is None or length <= limit):
        ledger.spend(length)
        return Fitted(body, len(body), length)
    by_budget = room is not None and (limit == room or max(length, read.size) > room)
    if (ledger.overflow if by_budget else rules.too_large) == "omit":
        return Omission.OVER_BUDGET if by_budget else Omission.TOO_LARGE
    kept = cut(body, limit)
    shown = utf8_length(kept.text)
    ledger.spend(shown)
    if by_budget:
        ledger.close()
    if not kept.text.strip():
        return Omission.OVER_BUDGET if by_budget else Omission.TOO_LARGE
    mark = rules.mark.format(shown=shown, size=read.size, limit=limit, block=BLOCK_LEFT_OUT if kept.stops_at_block else "")
    return Fitted(kept.text + mark, len(kept.text), shown, "the budget of all files" if by_budget else "the limit of one file")


def lowest(one: int | None, other: int | None) -> int | None:
    """Return the lower of two limits, of which None is none."""
    return other if one is None else one if other is None else min(one, other)
