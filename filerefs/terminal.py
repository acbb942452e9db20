"""What a person at a terminal sees: colours where they are wanted, control characters made visible, columns counted.

A pipe gets bytes as they are.  A terminal obeys some of the bytes it is given, and the contents of a file must not get
to say what it does; so whatever does not show itself is shown there as an escape.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import unicodedata
from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias

from filerefs import naming

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Style: TypeAlias = Literal["bold", "dim", "red", "green", "yellow", "cyan", "reverse"]

_STYLES: Mapping[Style, str] = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36", "reverse": "7"}
# Surrogates that stand for no undecodable byte: there is nothing that could be written for them.
_UNWRITABLE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_TAB_STOP = 8


class Screen:
    """
    A standard stream as this program writes to it: escaped when a person looks at it, else exact bytes.

    Attributes:
        stream: What is written to; None where the process was started without it.
        coloured: Whether it may be coloured: a terminal that is not dumb, and `NO_COLOR` unset or empty.

    Args:
        raw: Give a terminal the bytes as they are, too.
    """

    def __init__(self, stream: TextIO | None, *, raw: bool = False) -> None:
        self.stream = stream
        terminal = stream is not None and stream.isatty()
        self.coloured = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._escapes = terminal and not raw

    def paint(self, text: str, style: Style) -> str:
        """Return *text* in a style where there are colours, else as it is."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[m" if self.coloured else text

    def show(self, text: str) -> None:
        """Write *text* that came from elsewhere.  Raises OSError as `write` does."""
        if self._escapes and self.stream is not None:
            text = visible(text, self.stream.encoding, lambda escape: self.paint(escape, "reverse"))
        self.write(text)

    def write(self, text: str) -> None:
        """
        Write *text* that may hold escape sequences of our own.

        Raises:
            OSError: If it cannot be written, or the process was started without this stream.
        """
        if self.stream is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        binary = getattr(self.stream, "buffer", None)
        if self._escapes or binary is None:
            self.stream.write(text)
        else:
            binary.write(to_bytes(text))

    def flush(self) -> None:
        """Hand over what was written.  Raises OSError if nobody takes it."""
        if self.stream is not None:
            self.stream.flush()


def await_input(what: str, ending: str = "Ctrl-D at the beginning of a line ends it") -> None:
    """Say on standard error that *what* is awaited, where a person at a terminal would else see nothing happen; nothing of a pipe."""
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None:
        screen = Screen(sys.stderr)
        screen.write(f"filerefs: waiting for {what}; {ending}\n")
        screen.flush()


def describe_failure(error: OSError, streams: str = "standard input or output") -> str:
    """Return what *error* means where nothing is opened by a name: *streams* failed, or the current folder is gone."""
    if isinstance(error, FileNotFoundError):
        try:
            os.getcwd()  # noqa: PTH109 (text)
        except FileNotFoundError:
            return "the current folder does not exist any more: it was deleted; change to another one"
    return f"{streams}: {error.strerror or error}"


def to_bytes(text: str) -> bytes:
    """Return *text* in UTF-8; what stands for a byte that was no UTF-8 becomes that byte again, other surrogates U+FFFD."""
    return _UNWRITABLE.sub("\ufffd", text).encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    """Return *data* as text from which `to_bytes` makes the same bytes again."""
    return data.decode("utf-8", "surrogateescape")


def visible(text: str, encoding: str = "utf-8", mark: Callable[[str], str] = str) -> str:
    r"""
    Return *text* with ``\u{hex}`` for whatever a terminal would obey or hide; line feeds and tabs stay.

    That is every control character, C1 and carriage returns included, what turns the direction of text, what has no
    width, lone surrogates, and what *encoding* does not have.  A backslash that was there stays single: these are
    contents that somebody may copy, not names that must not be mistaken for each other.
    """
    if text.isascii() and text.isprintable():
        return text
    signs = {sign for sign in set(text) if sign not in "\n\t" and (naming.is_hidden(sign) or not _encodes(sign, encoding))}
    return text.translate({ord(sign): mark(f"\\u{{{ord(sign):x}}}") for sign in signs}) if signs else text


def _encodes(sign: str, encoding: str) -> bool:
    return sign.encode(encoding, "ignore") != b""


def columns(text: str) -> int:
    """Return how many columns of a terminal *text* takes: two for a wide character, none for a combining one."""
    return len(text) if text.isascii() else sum(map(_column_count, text))


def _column_count(sign: str) -> int:
    # Jamo from U+1160 on are medial and final: they are drawn into the syllable before.
    if unicodedata.category(sign) in ("Mn", "Me") or "\u1160" <= sign <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def expand_tabs(text: str) -> str:
    """Return *text*, one line, with blanks up to the next column that a multiple of 8 is, for each tab."""
    if "\t" not in text:
        return text
    first, *rest = text.split("\t")
    expanded, column = first, columns(first)
    for part in rest:
        gap = _TAB_STOP - column % _TAB_STOP
        expanded += " " * gap + part
        column += gap + columns(part)
    return expanded
