"""Whether a file that looks unchanged is unchanged: stamps are (device, inode, size, mtime_ns, ctime_ns)."""

from __future__ import annotations

import time
from typing import Final, TypeAlias

Stamp: TypeAlias = tuple[int, ...]

# A file system that keeps whole seconds (FAT: two) may give two edits one time stamp; others tick with the
# kernel's clock, every 10 ms at most.
_COARSE_GRAIN: Final = 2_000_000_000
_FINE_GRAIN: Final = 20_000_000


def now() -> int:
    """Return the time in nanoseconds, to be taken before what a stamp is compared with is read."""
    return time.time_ns()


def is_settled(stamp: Stamp, read: int) -> bool:
    """Tell whether a file with *stamp*, read at the time *read*, cannot have changed since without a new stamp."""
    modified, changed = stamp[3], stamp[4]
    grain = _COARSE_GRAIN if modified % 1_000_000_000 == 0 else _FINE_GRAIN
    return max(modified, changed) + grain < read
