"""The texts of the last turn, so that a file that did not change is not read and decoded again."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from filerefs import contents
from filerefs.root import Trouble
from filerefs.stamps import is_settled, now

if TYPE_CHECKING:
    from filerefs.contents import Content
    from filerefs.limits import MediaRoom
    from filerefs.rootlike import NodeLike, RootLike
    from filerefs.stamps import Stamp
    from filerefs.walk import Ignore


class Memory:
    """
    What stays between the turns on one root: the last turn's texts, and the ignore rules.

    Each text is kept under the stamp that its file had when it was read.  A stamp younger than the clock's grain
    is not trusted: a second edit within one tick leaves it as it is.  Safe under threads: a turn replaces the texts
    as a whole.
    """

    def __init__(self, root: RootLike) -> None:
        self._root = root
        self._kept: dict[Stamp, Content] = {}

    @cached_property
    def ignore(self) -> Ignore:
        """The ignore rules, which only a listing needs: loading what reads them takes a tenth of a first turn."""
        from filerefs.walk import Ignore

        return Ignore(self._root)

    def turn(self) -> Recollection:
        """Return the memory of one turn; what is used in it is what the next turn will find."""
        return Recollection(self._kept, self)

    def replace(self, kept: dict[Stamp, Content]) -> None:
        """Forget all texts but *kept*."""
        self._kept = kept


class Recollection:
    """What one turn remembers of the last, and leaves for the next."""

    def __init__(self, kept: dict[Stamp, Content], memory: Memory) -> None:
        self._kept = kept
        self._memory = memory
        self._used: dict[Stamp, Content] = {}

    def ignore_of(self, root: RootLike) -> Ignore:
        """Return the ignore rules, read through *root*: the memory's own, or what stands for it in this turn."""
        return self._memory.ignore.through(root)

    def knows(self, stamp: Stamp | None, cap: int | None) -> bool:
        """Tell whether a text is in memory."""
        return stamp is not None and _key(stamp, cap) in self._kept

    def read(self, node: NodeLike, cap: int | None, room: MediaRoom | None = None) -> Content | Trouble:
        """
        Return the text of *node* from memory if it cannot have changed, else from disk.

        Media that may go with the message are never kept, nor that they did not: ten of them are fifty texts, and
        whether there is *room* is another question each time.
        """
        if node.stamp is None:
            return contents.read_file(node, cap, room)
        key = _key(node.stamp, cap)
        content = self._kept.get(key)
        if content is None:
            before = now()
            fresh = contents.read_file(node, cap, room)
            if isinstance(fresh, Trouble) or not is_settled(node.stamp, before) or (room is not None and fresh.kind == "media"):
                return fresh
            content = fresh
        self._used[key] = content
        return content

    def finish(self) -> None:
        """Hand what was used over to the next turn."""
        self._memory.replace(self._used)


def _key(stamp: Stamp, cap: int | None) -> Stamp:
    return (*stamp, -1 if cap is None else cap)
