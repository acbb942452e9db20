"""The texts of the last turn, so that a file that did not change is not read and decoded again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, TypeAlias

from filerefs import contents
from filerefs.root import Trouble

if TYPE_CHECKING:
    from filerefs.contents import Content
    from filerefs.root import Node

Stamp: TypeAlias = tuple[int, ...]

# A file system that keeps whole seconds (FAT: two) may give two edits one time stamp; others tick with the
# kernel's clock, every 10 ms at most.
_COARSE_GRAIN: Final = 2_000_000_000
_FINE_GRAIN: Final = 20_000_000


class Memory:
    """
    The texts of the last turn, each under the stamp that its file had when it was read.

    A stamp younger than the clock's grain is not trusted: a second edit within one tick leaves it as it is.
    Safe under threads: a turn replaces the texts as a whole.
    """

    def __init__(self) -> None:
        self._kept: dict[Stamp, Content] = {}

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

    def read(self, node: Node, cap: int | None) -> Content | Trouble:
        """Return the text of *node* from memory if it cannot have changed, else from disk."""
        if node.stamp is None:
            return contents.read_file(node, cap)
        key = (*node.stamp, -1 if cap is None else cap)
        content = self._kept.get(key)
        if content is None:
            now = time.time_ns()
            fresh = contents.read_file(node, cap)
            if isinstance(fresh, Trouble) or not _is_settled(node.stamp, now):
                return fresh
            content = fresh
        self._used[key] = content
        return content

    def finish(self) -> None:
        """Hand what was used over to the next turn."""
        self._memory.replace(self._used)


def _is_settled(stamp: Stamp, now: int) -> bool:
    modified, changed = stamp[3], stamp[4]
    grain = _COARSE_GRAIN if modified % 1_000_000_000 == 0 else _FINE_GRAIN
    return max(modified, changed) + grain < now
