"""How much may be shown: the limits, the budget that is spent, and the one function that cuts text."""

from __future__ import annotations

from dataclasses import dataclass, fields

from filerefs.errors import OptionError, OptionTypeError

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    How much one turn may show; `None` takes a limit away, 0 allows nothing.

    Attributes:
        file_bytes: UTF-8 bytes of one file as they stand in the section; a larger file is cut.
        total_bytes: UTF-8 bytes of all files and listings together; what would pass it is refused.
        refs: Outcomes of one turn; what is named beyond them becomes one `Refused` with `Reason.TOO_MANY`.
        directory_entries: Names that are read of one directory.

    Raises:
        OptionError: If a limit is negative.
        OptionTypeError: If a limit is neither an int nor None.

    .. versionadded:: 0.1
    """

    file_bytes: int | None = 200 * KIB
    total_bytes: int | None = MIB
    refs: int | None = 200
    directory_entries: int | None = 1000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool):
                raise OptionTypeError(field.name, value, "a number of at least 0, or None")
            if value < 0:
                raise OptionError(field.name, value, "a number of at least 0, or None")

    def at_most(self, other: Limits) -> Limits:
        """Return the lower of both for each limit."""
        return Limits(**{field.name: _lower(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)})


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


def utf8_length(text: str) -> int:
    """Return how many bytes *text* takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


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
