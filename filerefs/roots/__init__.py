"""
Roots that are no folder on this disk, and what helps to write another one.

    class Notes:
        def __init__(self, notes):
            self.notes, self.gate = notes, Gate()

        def open(self, name):
            return self.gate.open(name, self.look)

        def look(self, path):
            if path == ".":
                return Folder(lambda limit: [Entry(name, "file") for name in self.notes])
            text = self.notes.get(path)
            if text is not None:
                return File(len(text), lambda offset, limit: text[offset:][:limit])

    turn = preprocess("@todo.md", root=Notes({"todo.md": b"nothing"}))

A root is whatever satisfies `RootLike`.  The `Gate` answers for names and secrets; the root says what is there.
"""

from __future__ import annotations

from filerefs.nodes import Entry, Listing
from filerefs.reasons import Reason
from filerefs.rootlike import DistantRoot, NodeLike, RootLike, TurnRoot, explain
from filerefs.roots.gate import File, Folder, Found, Gate
from filerefs.roots.memory import MemoryRoot
from filerefs.troubles import Trouble

__all__ = [
    "DistantRoot",
    "Entry",
    "File",
    "Folder",
    "Found",
    "Gate",
    "Listing",
    "MemoryRoot",
    "NodeLike",
    "Reason",
    "RootLike",
    "Trouble",
    "TurnRoot",
    "explain",
]
