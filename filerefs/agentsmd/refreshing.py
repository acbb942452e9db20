"""
What happens to instruction files that change while a conversation goes on.

Two questions, answered apart.  When are they read again: `Frozen`, `EachTurn`, `WhenChanged`.  What does a conversation
get that was told another text: `refresh`, which looks at the messages alone, so that nothing has to be remembered over
a resume, a fork or a compaction.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from filerefs.agentsmd import history, marks
from filerefs.agentsmd.rendering import PART_ID
from filerefs.agentsmd.wording import wording
from filerefs.limits import utf8_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from filerefs.agentsmd.history import Message
    from filerefs.agentsmd.wording import Language

Change: TypeAlias = Literal["unchanged", "first", "replaced", "removed", "too_large"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """
    A history that says what holds now.

    Attributes:
        messages: What to send.
        change: What was done: nothing, the text put in, a notice with the new text, a notice that it is gone, or
            nothing because there was no room.
        warning: One sentence for the person, where there was no room; else "".

    .. versionadded:: 0.1
    """

    messages: list[Message] = field(repr=False)
    change: Change
    warning: str = ""


def compare(previous: str | None, current: str | None) -> Change:
    """Tell what became of a text; None and "" both mean that there is none."""
    before, now = marks.flatten(previous or ""), marks.flatten(current or "")
    if before == now:
        return "unchanged"
    if not before:
        return "first"
    return "replaced" if now else "removed"


def notice(previous: str | None, current: str | None, *, language: Language = "en") -> str:
    """
    Return what a conversation that was told *previous* has to be told.

    "" if nothing changed, all of a first text, a changed text behind a sentence that it replaces the earlier one, or a
    sentence that the earlier one is void.
    """
    return _say(compare(previous, current), current or "", language)


def refresh(
    messages: Iterable[Mapping[str, Any]],
    text: str,
    *,
    part: str = PART_ID,
    language: Language = "en",
    room: int | None = None,
    key: str | None = None,
) -> Refreshed:
    """
    Return *messages* with what they need to say that *text* holds now.

    What was sent stays as it was (a prefix cache stays warm); a change is said by a message of its own before the
    user's last one.  A text that is in no message, the first time and after a compaction that dropped it, is put in
    where `insert` puts it.

    Args:
        messages: Dicts with a role and a content.
        text: What `render` or `catalog` returned; "" if there are no files any more.
        part: As for `insert`.
        language: Of the notice.
        room: UTF-8 bytes that may be added; None for no limit.  What does not fit is not said at all: half an
            instruction is worse than an old one, and a conversation that no longer fits its window is lost.
        key: As for `insert`.
    """
    marks.check_part(part)
    kept = [dict(message) for message in messages]
    previous = history.sent_text(kept, part)
    change = compare(previous, text)
    if change == "first" and history.has_part(kept, part):
        # It was taken back and is there again: what was sent stays, so a notice says it.
        change = "replaced"
    if change == "unchanged":
        return Refreshed(messages=kept, change=change)
    said = _say(change, text, language)
    size = utf8_length(said)
    if room is not None and size > room:
        warning = f"the instruction files changed, but {size} bytes do not fit into the {room} that are left: the conversation goes on with what it was told"
        return Refreshed(messages=kept, change="too_large", warning=warning)
    if change == "first":
        return Refreshed(messages=history.insert(kept, text, part=part, key=key), change=change)
    kind: marks.Kind = "replaced" if change == "replaced" else "removed"
    new: Message = {"role": "user", "content": marks.mark(said, part, kind=kind), **({key: part} if key else {})}
    index = history.find_place(kept, "last")
    return Refreshed(messages=[*kept[:index], new, *kept[index:]], change=change)


def _say(change: Change, text: str, language: Language) -> str:
    said = wording(language)
    match change:
        case "first":
            return text
        case "replaced":
            return f"{said.replaced}\n\n{text}"
        case "removed":
            return said.removed
        case _:
            return ""


class Frozen:
    """
    Policy: read once, at the first call, and hold until the run ends.

    All three policies are called for the text that holds now, and may be shared by threads.

    .. versionadded:: 0.1
    """

    def __init__(self, load: Callable[[], str]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._text: str | None = None

    def __call__(self) -> str:
        """Return the text of the first call.  Raises what loading raises; then the next call tries again."""
        with self._lock:
            if self._text is None:
                self._text = self._load()
            return self._text


class EachTurn:
    """
    Policy: read at every call.

    .. versionadded:: 0.1
    """

    def __init__(self, load: Callable[[], str]) -> None:
        self._load = load

    def __call__(self) -> str:
        """Return what loading returns, and raise what it raises."""
        return self._load()


class WhenChanged:
    """
    Policy: read again only if *stamp* returns something else than before, such as sizes and times of the files.

    .. versionadded:: 0.1
    """

    def __init__(self, load: Callable[[], str], stamp: Callable[[], object]) -> None:
        self._load = load
        self._stamp = stamp
        self._lock = threading.Lock()
        self._known: tuple[object, str] | None = None

    def __call__(self) -> str:
        """Return the text that belongs to the stamp of now.  Raises what loading raises; then the next call tries again."""
        with self._lock:
            # Before loading: a change in between then counts as one, at the next call.
            stamp = self._stamp()
            if self._known is None or self._known[0] != stamp:
                self._known = (stamp, self._load())
            return self._known[1]
