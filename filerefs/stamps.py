"""
Whether a file that looks unchanged is unchanged.

The stamps of `Root` are (device, inode, size, mtime_ns, ctime_ns).  Those of other roots begin with a string, and whoever
made them vouches for them.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import Final, TypeAlias, cast

Stamp: TypeAlias = tuple[Hashable, ...]

# A file system that keeps whole seconds (FAT: two) may give two edits one time stamp; others tick with the
# kernel's clock, every 10 ms at most.
_COARSE_GRAIN: Final = 2_000_000_000
_FINE_GRAIN: Final = 20_000_000


def now() -> int:
    """Return the time in nanoseconds, to be taken before what a stamp is compared with is read."""
    return time.time_ns()


def is_settled(stamp: Stamp, read: int) -> bool:
    """Tell whether a file with *stamp*, read at the time *read*, cannot have changed since without a new stamp."""
    if isinstance(stamp[0], str):
        return True
    # Not by a `match`, which takes as long as opening a file.
    modified, changed = cast("tuple[int, ...]", stamp)[3:5]
    grain = _COARSE_GRAIN if modified % 1_000_000_000 == 0 else _FINE_GRAIN
    return max(modified, changed) + grain < read
