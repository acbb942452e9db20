"""
The other side of the race, a process of its own: it renames as fast as it can, and counts.

    python attacker.py PROCESSOR FOLDER VERB ONE OTHER [WITNESS]

It keeps to PROCESSOR, unless that is empty: two that take turns on one hardly meet.  Names are relative to FOLDER.
"exchange" puts ONE and OTHER in each other's place, "move" takes ONE to OTHER and back.  With a WITNESS, another name
of a FIFO, every exchange is followed by a look whether somebody has it open for reading.

FOLDER/page holds two numbers that the opening side reads: exchanges that took place, and readers that were caught.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = "page"
_NOREPLACE, _EXCHANGE = 1, 2
_ROUND = 64


def main(processor: str, folder: str, verb: str, one: str, other: str, witness: str = "") -> None:
    if processor:
        os.sched_setaffinity(0, {int(processor)})
    os.chdir(folder)
    parent = os.getppid()
    with open(PAGE, "r+b") as file:
        page = memoryview(mmap.mmap(file.fileno(), 16)).cast("Q")
    swap = swapper(verb, one.encode(), other.encode())
    if not swap():
        print(os.strerror(ctypes.get_errno()), flush=True)
        return
    print("ready", flush=True)
    while os.getppid() == parent:
        swaps = caught = 0
        for _ in range(_ROUND):
            swaps += swap()
            caught += bool(witness) and has_reader(witness)
        page[0] += swaps
        page[1] += caught


def swapper(verb: str, one: bytes, other: bytes) -> Callable[[], bool]:
    rename = ctypes.CDLL(None, use_errno=True).renameat2
    here = -100  # AT_FDCWD

    def exchange() -> bool:
        return not rename(here, one, here, other, _EXCHANGE)

    def move() -> bool:
        return not rename(here, one, here, other, _NOREPLACE) and not rename(here, other, here, one, _NOREPLACE)

    return {"exchange": exchange, "move": move}[verb]


def has_reader(fifo: str) -> bool:
    """A FIFO opens for writing, without waiting, if it is open for reading: that is how an opening of it is seen."""
    try:
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return False
    return True


if __name__ == "__main__":
    main(*sys.argv[1:])
