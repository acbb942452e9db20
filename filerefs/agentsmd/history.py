"""
Instruction texts in a list of messages: put in once, found again, kept out of what a summariser reads.

A message is a dict with a "role" and a "content" that is a string or a list of parts; a text part is a string or has
its string under "text".  Whatever else is in it is kept.  Lists and messages that are given are never changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from filerefs.agentsmd import marks
from filerefs.agentsmd.rendering import PART_ID
from filerefs.agentsmd.wrappers import CONTENT_KEYS, is_wrapped
from filerefs.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

Message: TypeAlias = dict[str, Any]
Place: TypeAlias = Literal["first", "last", "system"]

_SYSTEM_ROLES = frozenset(("system", "developer"))
_CONVERSATION = frozenset(("user", "assistant", "compaction", "summary"))
_ANSWERING_ROLES = frozenset(("assistant", "ai", "model", "tool", "function"))
_PLACES = ("first", "last", "system")


def insert(
    messages: Iterable[Mapping[str, Any]],
    text: str,
    *,
    part: str = PART_ID,
    place: Place = "first",
    key: str | None = None,
) -> list[Message]:
    """
    Return *messages* with *text* in them once, with a mark by which it is known again.

    What is there of the same *part* stays where it is, and is changed if it is another text; doubles go.  With
    another part it has nothing to do: two hosts, or two sets of files, each have their own.  "" takes the part's
    text out.  Inserting twice is inserting once.

    Args:
        messages: Dicts with a role and a content.
        text: What `render` or `catalog` returned.
        part: Letters, digits and ``_.:-``; who inserts.
        place: "first": a message of its own before the first message of the user (behind the system's if there is
            none); "last": before the user's last message or the last summary; "system": behind what the first
            system message says, in that message.
        key: Set in the new message, to *part*: for hosts whose messages may have keys of their own, and which look
            for this one.

    Raises:
        OptionError: If *part* or *place* is none of those.
    """
    marks.check_part(part)
    if place not in _PLACES:
        raise OptionError("place", place, f"one of {', '.join(_PLACES)}")
    kept = [dict(message) for message in messages]
    if not text:
        return _without(kept, lambda found: found == part)
    if place == "system":
        return _into_system(kept, text, part)
    return _as_message(kept, text, part, place, key)


def strip_injected(messages: Iterable[Mapping[str, Any]]) -> list[Message]:
    """
    Return *messages* without what was injected: what a summariser should read.

    Messages that are nothing but injected text go as a whole, see `is_injected`; injected parts of a message and
    texts of our own in a system message go alone.  Stripping twice is stripping once.
    """
    return _without([dict(message) for message in messages], lambda _: True, others=True)


def is_injected(message: Mapping[str, Any]) -> bool:
    """
    Tell whether *message* is nothing but injected text.

    That is a text of our own, with a mark that verifies, or one block of another program in the role of the user.  A
    message in which a person quotes one is not.
    """
    role = message.get("role")
    if role in _ANSWERING_ROLES:
        return False
    if _has_key(message):
        return True
    texts = _texts(message)
    return bool(texts) and all(text is not None and _is_injected_text(text, system=role in _SYSTEM_ROLES) for text in texts)


def keep_conversation(messages: Iterable[Mapping[str, Any]], roles: Collection[str] = _CONVERSATION) -> list[Message]:
    """Return what a compaction keeps of a history: real messages in *roles*; the rest is sent anew or summed up."""
    return [message for message in strip_injected(messages) if message.get("role") in roles]


def sent_text(messages: Sequence[Mapping[str, Any]], part: str = PART_ID) -> str | None:
    """
    Return the text of *part* that holds at the end of *messages*, with LF line ends; None if there is none.

    A notice that replaced an earlier text counts, and so does one that took it back.
    """
    for message in reversed(messages):
        for found in reversed(_marked(message)):
            if found.part == part:
                return _text_of(found)
    return None


def has_part(messages: Iterable[Mapping[str, Any]], part: str = PART_ID) -> bool:
    """Tell whether *messages* hold anything of *part*, a notice that its text is void included."""
    return _count(messages, part) > 0


def _text_of(found: marks.Marked) -> str | None:
    if found.kind == "text":
        return found.text
    # The sentence that a notice begins with has no empty line in it.
    return found.text.partition("\n\n")[2] if found.kind == "replaced" else None


def _as_message(messages: list[Message], text: str, part: str, place: Place, key: str | None) -> list[Message]:
    if sent_text(messages, part) == marks.flatten(text) and _count(messages, part) == 1:
        return messages
    content = marks.mark(text, part)
    new: Message = {"role": "user", "content": content, **({key: part} if key else {})}
    index = next((index for index, message in enumerate(messages) if _is_whole(message, part)), None)
    if index is None:
        rest = _without(messages, lambda found: found == part)
        index = find_place(rest, place)
        return [*rest[:index], new, *rest[index:]]
    replaced = {**messages[index], "content": content, **({key: part} if key else {})}
    front = _without(messages[:index], lambda found: found == part)
    return [*front, replaced, *_without(messages[index + 1 :], lambda found: found == part)]


def find_place(messages: Sequence[Mapping[str, Any]], place: Place = "first") -> int:
    """Return where a message with instructions goes: before a real message of the user, else behind the system's first ones."""
    if place == "last":
        real = [index for index, message in enumerate(messages) if message.get("role") in ("user", "compaction", "summary") and not is_injected(message)]
        if real:
            return real[-1]
    else:
        for index, message in enumerate(messages):
            if message.get("role") == "user" and not is_injected(message):
                return index
    # Without a message of the user: not behind the last answer, where it would read as the next thing said.
    count = 0
    while count < len(messages) and (messages[count].get("role") in _SYSTEM_ROLES or is_injected(messages[count])):
        count += 1
    return count


def _into_system(messages: list[Message], text: str, part: str) -> list[Message]:
    if sent_text(messages, part) == marks.flatten(text) and _count(messages, part) == 1:
        return messages
    messages = _without(messages, lambda found: found == part)
    index = next((index for index, message in enumerate(messages) if message.get("role") in _SYSTEM_ROLES and _texts(message)), None)
    if index is None:
        return [{"role": "system", "content": marks.mark(text, part)}, *messages]
    content = messages[index].get("content")
    if isinstance(content, list):
        added: Any = [*content, {"type": "text", "text": marks.mark(text, part)}]
    else:
        # The newlines stand there also behind nothing: a message that was empty is not taken out with the text.
        added = f"{content}\n\n{marks.mark(text, part, separators=2)}"
    return [*messages[:index], {**messages[index], "content": added}, *messages[index + 1 :]]


def _without(messages: Iterable[Message], goes: Callable[[str], bool], *, others: bool = False) -> list[Message]:
    """Return *messages* without marked texts of the parts for which *goes* holds, and without blocks of *others*."""
    return [left for message in messages if (left := _left_of(message, goes, others=others)) is not None]


def _left_of(message: Message, goes: Callable[[str], bool], *, others: bool) -> Message | None:
    if message.get("role") in _ANSWERING_ROLES:
        return message
    if others and _has_key(message):
        return None
    content = message.get("content")
    system = message.get("role") in _SYSTEM_ROLES
    if isinstance(content, str):
        left = _left_of_text(content, goes, system=system, others=others)
        return message if left == content else None if left is None else {**message, "content": left}
    if not isinstance(content, list):
        return message
    parts = [_left_of_part(piece, goes, system=system, others=others) for piece in content]
    kept = [piece for piece in parts if piece is not None]
    if kept == content:
        return message
    return {**message, "content": kept} if kept else None


def _left_of_part(piece: Any, goes: Callable[[str], bool], *, system: bool, others: bool) -> Any:  # noqa: ANN401 (a part of a message may be anything)
    text = _text_of_part(piece)
    left = text if text is None else _left_of_text(text, goes, system=system, others=others)
    if left == text:
        return piece
    return left if left is None or isinstance(piece, str) else {**piece, "text": left}


def _left_of_text(text: str, goes: Callable[[str], bool], *, system: bool, others: bool) -> str | None:
    """Return what is left of *text*, None if all of it goes; from the middle something goes only in a message of the system."""
    found = marks.whole(text)
    if found:
        return None if goes(found.part) else text
    if others and not system and is_wrapped(text):
        return None
    for found in marks.find(text) if system else ():
        if goes(found.part):
            text = text[: found.start] + text[found.end :]
    return text


def _is_injected_text(text: str, *, system: bool) -> bool:
    return marks.whole(text) is not None or (not system and is_wrapped(text))


def _marked(message: Mapping[str, Any]) -> list[marks.Marked]:
    """Return the marked texts of *message*, in order."""
    found: list[marks.Marked] = []
    if message.get("role") in _ANSWERING_ROLES:
        return found
    for text in _texts(message):
        if text is None:
            continue
        single = marks.whole(text)
        if single:
            found.append(single)
        elif message.get("role") in _SYSTEM_ROLES:
            found += reversed(marks.find(text))
    return found


def _count(messages: Iterable[Mapping[str, Any]], part: str) -> int:
    return sum(found.part == part for message in messages for found in _marked(message))


def _is_whole(message: Mapping[str, Any], part: str) -> bool:
    """Tell whether *message* is nothing but the text of *part*, as `insert` makes it for the places "first" and "last"."""
    return message.get("role") not in _SYSTEM_ROLES and is_injected(message) and {found.part for found in _marked(message)} == {part}


def _has_key(message: Mapping[str, Any]) -> bool:
    extra = message.get("extra")
    return any(message.get(key) or (isinstance(extra, dict) and extra.get(key)) for key in CONTENT_KEYS)


def _texts(message: Mapping[str, Any]) -> list[str | None]:
    """Return the texts of the parts of *message*, None for a part that is no text."""
    content = message.get("content")
    if isinstance(content, str):
        return [content]
    return list(map(_text_of_part, content)) if isinstance(content, list) else []


def _text_of_part(piece: object) -> str | None:
    if isinstance(piece, str):
        return piece
    text = piece.get("text") if isinstance(piece, dict) else None
    return text if isinstance(text, str) else None
