"""What the person could type instead of a reference that was refused.  Goes to the person, never into the section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filerefs import naming
from filerefs.hints import fold
from filerefs.outcomes import Reason
from filerefs.root import Trouble
from filerefs.troubles import openable

if TYPE_CHECKING:
    from filerefs.resolving import Lookup


_HINTS = {
    Reason.HOME: "name a file inside the project folder",
    Reason.OUTSIDE_ROOT: "name a file inside the project folder",
    Reason.SYMLINK: "name the file that the link leads to, if it is inside the project folder",
    Reason.SYMLINK_LOOP: "name the file that the link leads to, if it is inside the project folder",
    Reason.BUDGET: "name fewer files, or only the lines that matter, as in @file:1-100",
    Reason.TOO_MANY: "name the other files in a further message",
    Reason.BUSY: "try again",
}


def hint_for(path: str, reason: Reason, lookup: Lookup) -> str:
    """Return one sentence without a final dot, or "" where nothing else could be typed."""
    hint = _HINTS.get(reason, "")
    if reason is Reason.NOT_FOUND:
        hint = "wildcards are not expanded; name the files" if "*" in path else _near(path, lookup)
    elif reason is Reason.ABSOLUTE:
        hint = _relative(path, lookup) or "name files relative to the project folder"
    elif reason is Reason.NOT_REGULAR and path.endswith("/"):
        hint = f"did you mean {_reference(path.rstrip('/'))}?"
    elif reason is Reason.BAD_RANGE:
        hint = f"name lines that are there, or the whole file: {_reference(path)}"
    elif reason is Reason.AMBIGUOUS:
        hint = f"copy the exact name out of {_reference(path.rpartition('/')[0] or '.')}"
    return hint


def _reference(path: str) -> str:
    return naming.printable(naming.format_ref(openable(path))) if path and "\0" not in path else ""


def _near(path: str, lookup: Lookup) -> str:
    """Suggest names out of one listing: that of the deepest folder on the way that exists, in whatever case."""
    parts = path.replace("\\", "/").strip("/").split("/")
    depth = next((depth for depth in range(len(parts) - 1, 0, -1) if not isinstance(lookup.find("/".join(parts[:depth])), Trouble)), 0)
    folder, reached = _descend("/".join(parts[:depth]), parts, depth, lookup)
    names = lookup.near(folder or ".", parts[reached])
    if not names:
        # Where a part of the way was typed in another case, the way is the hint.
        return f"did you mean {_reference(f'{folder}/')}?" if reached > depth else ""
    folders = _folders(folder, lookup)
    found = [_reference((f"{folder}/" if folder else "") + name + ("/" if name in folders else "")) for name in names]
    return f"did you mean {' or '.join(found)}?"


def _descend(folder: str, parts: list[str], depth: int, lookup: Lookup) -> tuple[str, int]:
    """Return the folder that is reached from *folder* when case and the like do not count, and how many parts that takes."""
    while depth < len(parts) - 1:
        names = lookup.near(folder or ".", parts[depth])
        if len(names) != 1 or fold(names[0]) != fold(parts[depth]) or names[0] not in _folders(folder, lookup):
            break
        folder = f"{folder}/{names[0]}" if folder else names[0]
        depth += 1
    return folder, depth


def _folders(folder: str, lookup: Lookup) -> set[str]:
    listing = lookup.listing(folder or ".")
    return {entry.name for entry in listing.entries if entry.kind == "directory"} if listing else set()


def _relative(path: str, lookup: Lookup) -> str:
    """Suggest the end of an absolute path that exists inside the root, which the person most likely meant."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    for start in range(min(len(parts), _DEEPEST)):
        name = "/".join(parts[start:])
        if not isinstance(lookup.find(name), Trouble):
            return f"did you mean {_reference(name)}?"
    return ""


_DEEPEST = 16
