"""An opened instruction file -> its text, no more of it than may be shown and a little."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from filerefs import decoding
from filerefs.limits import utf8_length
from filerefs.outcomes import Reason
from filerefs.root import Trouble

if TYPE_CHECKING:
    from filerefs.agentsmd.profiles import Undecodable
    from filerefs.rootlike import NodeLike

NOT_TEXT = Trouble(Reason.BINARY, "not a text file")

# A code point that takes one byte when it is shown takes up to four on disk.
_WIDEST = 4
# A byte-order mark, and enough to tell text from binary, however little may be shown.
_SPARE = 8192


@dataclass(frozen=True, slots=True)
class Text:
    """
    What was read.

    Attributes:
        text: Decoded, line ends as they are.
        length: UTF-8 bytes of it.
        size: Bytes on disk.
        complete: Whether it is the whole file; if not, it is longer than what was asked for.
        encoding: Python's name of the codec.
        caution: What is to be said of the decoding behind the name of the file, "" for nothing.
    """

    text: str = field(repr=False)
    length: int
    size: int
    complete: bool
    encoding: str
    caution: str = ""


def read_text(node: NodeLike, limit: int | None, *, undecodable: Undecodable) -> Text | Trouble:
    """Return the text of *node*, a file, if it has at most *limit* UTF-8 bytes, else a beginning that has more."""
    wanted = None if limit is None else _WIDEST * limit + _SPARE
    data = node.read(wanted)
    if isinstance(data, Trouble):
        return data
    complete = wanted is None or len(data) < wanted
    decoded = decoding.decode(data, complete=complete)
    if decoded is None or (decoding.media_type(data) is not None):
        return NOT_TEXT
    text, encoding, lossy = decoded.text, decoded.encoding, decoded.lossy
    guessed = decoded.guessed
    if guessed and undecodable == "replace" and b"\0" not in data:
        text, encoding = codecs.utf_8_decode(data, "replace", complete)[0], "utf-8"
        guessed, lossy = False, True
    caution = f"was decoded as {encoding}, which is a guess" if guessed else "has bytes that are no valid text, shown as U+FFFD" if lossy else ""
    return Text(text, utf8_length(text), max(node.size, len(data)), complete, encoding, caution)
