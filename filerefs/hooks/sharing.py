"""Which files of a message the host attaches by itself: what it does not need to be given twice."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from filerefs import Outcome, Turn
    from filerefs.hooks.hosts import Host

_ESCAPES = re.compile(r"\\(.)|\"", re.DOTALL)


class Theirs:
    """
    What the host attaches to one message.

    Args:
        host: Who.
        event: What it said; a host that lists what it attached does so here.
        turn: What the message is to us.
        root: The folder that names are relative to.
    """

    def __init__(self, host: Host, event: Mapping[str, Any], turn: Turn, root: str) -> None:
        self._attached = frozenset(_attachments(event.get(host.attachments), root) if host.attachments else ())
        self._lines = re.compile(f"(?:{host.lines})$") if host.lines else None
        self._escapes = host.escapes
        # As the host finds them, one behind the other: an at-sign within a mention of the host begins none.
        starts = {start for outcome in turn.outcomes for start, _ in outcome.spans} if host.mentions else set()
        found = re.finditer(host.mentions, turn.original) if starts else ()
        self._mentions = {match.start(): self._read(match) for match in found if match.start() in starts}

    def has(self, outcome: Outcome) -> bool:
        """Tell whether the host shows the model all that *outcome* stands for."""
        path = posixpath.normpath(outcome.path)
        if path in self._attached:
            return True
        mentions = [self._mentions.get(start) for start, _ in outcome.spans]
        read = [mention if mention and mention.path == path else None for mention in mentions]
        # One mention of the whole file stands for all of them; of ranges, each has to be understood.
        return any(mention and not mention.partial for mention in read) or all(read)

    def _read(self, match: re.Match[str]) -> _Mention:
        """Read a mention as the host does."""
        typed = match.groupdict().get("quoted") or match["path"]
        if self._escapes:
            typed = _ESCAPES.sub(r"\1", typed)
        path = self._lines.sub("", typed) if self._lines else typed
        return _Mention(posixpath.normpath(path), partial=path != typed)


class _Mention(NamedTuple):
    """A mention as the host reads it: the path, and whether only some of its lines are meant."""

    path: str
    partial: bool


def _attachments(listed: object, root: str) -> Iterator[str]:
    """Yield the files that the host lists, relative to *root*; by their names alone, nothing is looked at."""
    for attachment in listed if isinstance(listed, list) else ():
        path = attachment.get("file_path", attachment.get("filePath")) if isinstance(attachment, dict) else None
        if isinstance(path, str) and path:
            yield posixpath.normpath(posixpath.relpath(path, root) if posixpath.isabs(path) else path)
