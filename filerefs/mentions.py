"""message -> [Ref]: where a mention opens, and its default reading."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Ref:
    """stub: being written"""

    token: str
    start: int
    end: int
    path: str
    lines: tuple[int, int | None] | None = None
    quoted: bool = False
    _message: str = field(default="", repr=False, compare=False)

    def upto(self, end: int) -> str:
        """Return the text of the message from where the mention opens to *end*."""
        return self._message[self.start : end]
