"""How much may be shown: the limits, the budget that is spent, and the one function that cuts text."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Final, TypeAlias

from filerefs.errors import OptionError, OptionTypeError
from filerefs.naming import human_size

KIB = 1024
MIB = 1024 * KIB

MediaPolicy: TypeAlias = bool | Collection[str]
SENDABLE: Final = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"))
"""The media types that the large providers all take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    How much one turn may show; `None` takes a limit away, 0 allows nothing.

    Attributes:
        file_bytes: UTF-8 bytes of one file as they stand in the section; a larger file is cut.
        total_bytes: UTF-8 bytes of all files and listings together; what would pass it is refused.
        refs: Outcomes of one turn; what is named beyond them becomes one `Refused` with `Reason.TOO_MANY`.
        directory_entries: Names that are read of one directory.
        media_bytes: Bytes on disk of one image or PDF that goes with the message, with `media=True`; a larger one
            is named and not sent.  A provider may count what base64 makes of it, which is a third more.
        media_files: Images and PDFs that go with one message; further ones are named and not sent.

    Raises:
        OptionError: If a limit is negative.
        OptionTypeError: If a limit is neither an int nor None.

    .. versionadded:: 0.1
    """

    file_bytes: int | None = 200 * KIB
    total_bytes: int | None = MIB
    refs: int | None = 200
    directory_entries: int | None = 1000
    media_bytes: int | None = 5 * MIB
    media_files: int | None = 10

    def __post_init__(self) -> None:
        for field in fields(self):
            check_count(field.name, getattr(self, field.name))

    def at_most(self, other: Limits) -> Limits:
        """Return the lower of both for each limit."""
        return Limits(**{field.name: _lower(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)})


def check_count(option: str, count: object) -> None:
    """
    Do nothing if *count* is a number of at least 0, or None.

    Raises:
        OptionError: If it is negative.
        OptionTypeError: If it is anything else.
    """
    if count is None:
        return
    if not isinstance(count, int) or isinstance(count, bool):
        raise OptionTypeError(option, count, "a number of at least 0, or None")
    if count < 0:
        raise OptionError(option, count, "a number of at least 0, or None")


def check_limits(limits: object) -> Limits:
    """
    Return *limits*, or the defaults for None.

    Raises:
        OptionTypeError: If it is anything else.
    """
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits):
        raise OptionTypeError("limits", limits, "a Limits, or None")
    return limits


def check_media(media: object) -> MediaPolicy:
    """
    Return *media*, a collection as it is now.

    Raises:
        OptionError: If it holds a media type that is never recognised.
        OptionTypeError: If it is neither a bool nor a collection of strings; a bare string is none.
    """
    if isinstance(media, bool):
        return media
    kinds: list[object] | None = list(media) if isinstance(media, Collection) and not isinstance(media, str) else None
    if kinds is None or not all(isinstance(kind, str) for kind in kinds):
        raise OptionTypeError("media", media, 'True, False or a collection of media types such as "image/png"')
    from filerefs.decoding import MEDIA_TYPES

    for kind in kinds:
        if kind not in MEDIA_TYPES:
            raise OptionError("media", kind, f"one of {', '.join(sorted(MEDIA_TYPES))}")
    return frozenset(map(str, kinds))


def _lower(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


class Budget:
    """
    A total that is spent first come, first served.

    Once something did not fit, nothing fits any more: a small file behind a large one must not be
    shown as if the large one had not been asked for.
    """

    __slots__ = ("exhausted", "spent", "total")

    def __init__(self, total: int | None) -> None:
        self.total = total
        self.spent = 0
        self.exhausted = False

    def take(self, amount: int) -> bool:
        """Spend *amount* and return True, or spend nothing and return False, now and from now on."""
        if self.total is not None and (self.exhausted or self.spent + amount > self.total):
            self.exhausted = True
            return False
        self.spent += amount
        return True


class MediaRoom:
    """
    Which media may still go with the message, besides the section.

    Other than a `Budget` it goes on behind one that did not fit: no medium is a part of another.
    """

    __slots__ = ("_files", "_types", "file_bytes")

    def __init__(self, limits: Limits, media: MediaPolicy) -> None:
        self.file_bytes = limits.media_bytes
        self._files = limits.media_files
        self._types = SENDABLE if media is True else frozenset(media or ())

    def objection(self, media_type: str, size: int) -> str:
        """Return why a medium of *size* bytes does not go with the message; "" if it does."""
        if media_type not in self._types:
            return f"not sent: {media_type} is not among the types that are"
        if self._files == 0:
            return "not sent: there are as many images and PDFs already as go with one message"
        if self.file_bytes is not None and size > self.file_bytes:
            return f"not sent: it is larger than {human_size(self.file_bytes)}"
        return ""

    def take(self) -> None:
        """Count one that goes with the message."""
        if self._files is not None:
            self._files -= 1


def utf8_length(text: str) -> int:
    """Return how many bytes *text* takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def count_lines(text: str) -> int:
    """Return how many lines *text* has, one that nothing ends among them; only a line feed ends one."""
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def cut(text: str, limit: int | None) -> tuple[str, bool]:
    """
    Return the beginning of *text* that fits into *limit* UTF-8 bytes, and whether anything was cut off.

    The cut falls behind the last line end that fits.  Only where that would throw away more than half of
    *limit* (a file that is one huge line, with or without a short first one) it falls between two code points.
    """
    if limit is None or len(text) * 4 <= limit or utf8_length(text) <= limit:
        return text, False
    # A code point takes at least one byte, so the part that fits is in the first `limit` code points.
    head = text[:limit].encode()[:limit].decode("utf-8", "ignore")
    line_end = head.rfind("\n") + 1
    if line_end and utf8_length(head[:line_end]) * 2 >= limit:
        return head[:line_end], True
    return head, True
