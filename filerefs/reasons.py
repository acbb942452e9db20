"""Why a reference can be refused: one closed list for all of the library."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """
    Why a reference was refused; behind each stands what the host program can set.  A string, equal to its value.

    .. versionadded:: 0.1
    """

    NOT_FOUND = "not_found"
    """No such file.  Nothing to set: names are never searched for."""
    OUTSIDE_ROOT = "outside_root"
    """The name, or a link on its way, leads out of the root.  Choose a wider `root`."""
    ABSOLUTE = "absolute"
    """An absolute path or one with a drive.  Names are relative to `root`."""
    HOME = "home"
    """A path that starts with `~/`.  Nothing is expanded."""
    SYMLINK = "symlink"
    """A symbolic link is on the way.  `symlinks="inside"` follows those that stay inside."""
    SYMLINK_LOOP = "symlink_loop"
    """Links lead in a circle, or there are more than 40."""
    NOT_REGULAR = "not_regular"
    """A pipe, socket or device; or a file that was named as a folder."""
    PERMISSION = "permission"
    """The operating system does not let this process read it."""
    SECRET = "secret"  # noqa: S105 (the word, no password)
    """The name is that of a file with credentials.  `allow=("a/.env",)` opens exactly those names."""
    BINARY = "binary"
    """Neither text nor a known media type."""
    BUDGET = "budget"
    """The turn's total was spent before.  `Limits(total_bytes=…)`."""
    TOO_MANY = "too_many"
    """More references than `Limits(refs=…)`, or more lookups than one turn makes."""
    AMBIGUOUS = "ambiguous"
    """Two files differ only in Unicode normalisation, and the name typed is neither's exact name."""
    BAD_NAME = "bad_name"
    """No file can have this name: NUL, too long, not encodable."""
    BAD_RANGE = "bad_range"
    """The range lies wholly behind the end of the file, or too deep in it to be reached."""
    BUSY = "busy"
    """The file is locked or changing too fast, or the process has no free descriptor.  Try again."""
    IO_ERROR = "io_error"
    """The disk or file system failed."""
