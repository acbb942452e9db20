"""
Trees for attacks, written as lines: what is below `root/` is inside, everything else is not.

    root/a/t.txt        a file; its text is INSIDE below root/, else a text that nothing may show
    root/a/t.txt = TXT  a file with this text
    root/d/             a directory
    root/l => ../x      a symbolic link; %BASE% stands for the folder that holds root/
    root/p |            a FIFO
    root/h == root/p    another name of the same file

Folders on the way are made.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

INSIDE = b"inside"
SECRET = b"from-outside"
OUTSIDE_NAME = "outside.txt"
"""The name of a file that no folder inside holds: a listing with it is one of a folder outside."""


def plant(base: str, lines: Iterable[str]) -> None:
    made: set[str] = set()
    for line in lines:
        path = f"{base}/{line.split(' ')[0]}"
        folder = os.path.dirname(path)
        if folder not in made:
            os.makedirs(folder, exist_ok=True)
            made.add(folder)
        _make(base, path, line)


def _make(base: str, path: str, line: str) -> None:
    name, _, rest = line.partition(" ")
    sign, _, value = rest.partition(" ")
    if sign == "=>":
        os.symlink(value.replace("%BASE%", base), path)
    elif sign == "==":
        os.link(f"{base}/{value}", path)
    elif sign == "|":
        os.mkfifo(path)
    elif name.endswith("/"):
        os.makedirs(path, exist_ok=True)
    else:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(descriptor, value.encode() or (INSIDE if line.startswith("root/") else SECRET))
        os.close(descriptor)
