"""What the person could type instead of a reference that was refused.  Goes to the person, never into the section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filerefs import naming
from filerefs.outcomes import Reason
from filerefs.root import Trouble

if TYPE_CHECKING:
    from filerefs.resolving import Lookup


def hint_for(path: str, reason: Reason, lookup: Lookup) -> str:
    """Return one sentence without a final dot, or "" where nothing else could be typed."""
    match reason:
        case Reason.NOT_FOUND:
            return _near(path, lookup)
        case Reason.ABSOLUTE:
            return _relative(path, lookup) or "name files relative to the project folder"
        case Reason.HOME | Reason.OUTSIDE_ROOT:
            return "name a file inside the project folder"
        case Reason.SYMLINK | Reason.SYMLINK_LOOP:
            return "name the file that the link leads to, if it is inside the project folder"
        case Reason.NOT_REGULAR if path.endswith("/"):
            return f"did you mean {_reference(path.rstrip('/'))}?"
        case Reason.BUDGET:
            return "name fewer files, or only the lines that matter, as in @file:1-100"
        case Reason.TOO_MANY:
            return "name the other files in a further message"
        case Reason.BAD_RANGE:
            return f"name the whole file: {_reference(path)}"
        case Reason.AMBIGUOUS:
            return f"copy the exact name out of {_reference(path.rpartition('/')[0] or '.')}"
        case Reason.BUSY:
            return "try again"
        case _:
            return ""


def _reference(path: str) -> str:
    return naming.printable(naming.format_ref(path)) if path and "\0" not in path else ""


def _near(path: str, lookup: Lookup) -> str:
    """Suggest names out of one listing: that of the deepest folder on the way that exists."""
    parts = path.replace("\\", "/").strip("/").split("/")
    depth = next((depth for depth in range(len(parts) - 1, 0, -1) if not isinstance(lookup.find("/".join(parts[:depth])), Trouble)), 0)
    folder = "/".join(parts[:depth])
    names = lookup.near(folder or ".", parts[depth])
    listing = lookup.listing(folder or ".") if names else None
    if listing is None:
        return ""
    folders = {entry.name for entry in listing.entries if entry.kind == "directory"}
    found = [_reference((f"{folder}/" if folder else "") + name + ("/" if name in folders else "")) for name in names]
    return f"did you mean {' or '.join(found)}?"


def _relative(path: str, lookup: Lookup) -> str:
    """Suggest the end of an absolute path that exists inside the root, which the person most likely meant."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    for start in range(min(len(parts), _DEEPEST)):
        name = "/".join(parts[start:])
        if not isinstance(lookup.find(name), Trouble):
            return f"did you mean {_reference(name)}?"
    return ""


_DEEPEST = 16
