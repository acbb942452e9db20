"""
Lists of messages, as the libraries of the providers take them: files in, in one call, with no other library.

    done = preprocess_messages(messages, files)  # chat completions, LiteLLM
    done = preprocess_messages(items, files, dialect="responses", system=instructions)  # OpenAI
    done = preprocess_messages(messages, files, dialect="anthropic", system=system)
    client.messages.create(model=model, **done.request)  # or what else the dialect's library has

The last message of the list is parsed if a person typed it, and nothing else ever is: no answer, no result of a tool,
no earlier message.  Lists, messages and parts that are given are never changed.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from filerefs import markers
from filerefs.errors import OptionError, OptionTypeError
from filerefs.parts import (
    Dialect,
    check_dialect,
    check_messages,
    has_tool_results,
    is_section_part,
    media_parts,
    part_text,
    rewrite_content,
    text_of,
    text_part,
    typed_indexes,
    with_text,
)
from filerefs.turn import Preprocessor, Turn

if TYPE_CHECKING:
    import os
    from collections.abc import Generator, Sequence

__all__ = ["Dialect", "Placement", "Preprocessed", "is_section_part", "media_parts", "preprocess_messages", "rewrite_content", "strip_sections", "text_of"]

Placement: TypeAlias = Literal["system", "user"]
"""Where a section goes: behind the system prompt, or in front of what the person typed."""

_SYSTEM_ROLES = ("system", "developer")
_GAP = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Preprocessed:
    """
    A list of messages with the files that its last one names.

    Attributes:
        messages: To send, and to keep: the next call takes this turn's section out again.
        system: The system prompt to send, where it is no message: text or blocks, as it was given; None for none.
        turn: What became of the message, with the warnings.  Where there was nothing new to do, its outcomes are empty.
        dialect: In which form they are.

    .. versionadded:: 0.1
    """

    messages: list[Any]
    system: str | list[Any] | None
    turn: Turn
    dialect: Dialect

    @property
    def request(self) -> dict[str, Any]:
        """The arguments of the library's call that these are; an empty system prompt is left out."""
        messages, system = _ARGUMENTS[self.dialect]
        return {messages: self.messages} | ({system: self.system} if self.system else {})

    def __repr__(self) -> str:
        return f"Preprocessed({len(self.messages)} messages, dialect={self.dialect!r}, turn={self.turn!r})"


_ARGUMENTS: dict[Dialect, tuple[str, str]] = {
    "openai": ("messages", "system"),
    "responses": ("input", "instructions"),
    "anthropic": ("messages", "system"),
}


def preprocess_messages(
    messages: Iterable[Any] | str,
    files: Preprocessor | str | os.PathLike[str] = ".",
    *,
    system: str | Sequence[Any] | None = None,
    dialect: Dialect = "openai",
    placement: Placement = "system",
) -> Preprocessed:
    """
    Return *messages* with the last one rewritten and its files in a section, in place of any earlier section.

    To be called once for each message of the person.  Between the calls of tools, when the last message is a result, it
    changes nothing, nor does it when it gets what it returned, as long as the process is the same: a loop may call it
    each time.  Keys, ids and parts that it does not know stay as they are.

    Args:
        messages: What is sent; a string is one message of the user.  Objects of a library are handed on.
        files: A `Preprocessor`, or the folder of one with the defaults.  One with `media=True` puts the images and PDFs
            behind the text of the message.
        system: The `instructions` of responses, the `system` of Anthropic, where a section becomes a block of its own
            behind those that are there.  Chat completions have it among the messages.
        dialect: "openai" for chat completions (LiteLLM, and whoever speaks the same), "responses" or "anthropic".
        placement: "system": the section ends the system prompt (of several system messages at the front, the last); "user":
            it is a part of its own in front of what the person typed.  What that means for caches is in
            `docs/prompt-caching.md`.

    Raises:
        OptionError: If an option has a value that it does not take, or a system message begins a list for Anthropic.
        OptionTypeError: If *messages* are none, such as one message alone, or one of them is none, such as a text, or
            lacks its role or content; or if *system* is neither text nor blocks.
        RootNotFoundError: If *files* is a path and no directory.

    .. versionadded:: 0.1
    """
    if placement not in ("system", "user"):
        raise OptionError("placement", placement, '"system" or "user"')
    before = _check_system(system, check_dialect(dialect))
    given = [{"role": "user", "content": messages}] if isinstance(messages, str) else check_messages(messages, dialect)
    content = given[-1].get("content") if given and _role(given[-1]) == "user" else None
    text = text_of(content)
    as_it_is = Preprocessed(messages=given, system=before, turn=Turn(message=text, original=text, prompt=_join(before)), dialect=dialect)
    if content is None or not _is_new(content) or _outputs.has(fingerprint := _fingerprint(given, before)):
        return as_it_is
    request = _Request(strip_sections(given), _strip(before), dialect)
    with _opened(files) as preprocessor:
        has_leftover = request.has_leftover()
        turn = request.in_system(preprocessor) if placement == "system" else request.in_message(preprocessor)
        turn = _with_leftover(turn) if has_leftover else turn
    if not turn.attached and _refusals.has(fingerprint):
        return as_it_is
    # Where nothing was attached, the message is as it was typed: typed again, it may name a file that is there by then.
    (_outputs if turn.attached else _refusals).add(_fingerprint(request.messages, request.system))
    return Preprocessed(messages=request.messages, system=request.system, turn=turn, dialect=dialect)


def strip_sections(messages: Iterable[Any]) -> list[Any]:
    """
    Return *messages* without sections: what a compaction should read, and what may be kept for good.

    They go from the messages of the system and from those of the user where they are a part of their own, which then,
    if a text alone is left, is the content again.  A message that was nothing but a section goes as a whole.  Takes a
    list of Anthropic's system blocks, too.

    .. versionadded:: 0.1
    """
    return [left for message in messages if (left := _left_of(message)) is not None]


class _Request:
    """Messages and system prompt without sections, to be filled."""

    def __init__(self, messages: list[Any], system: str | list[Any] | None, dialect: Dialect) -> None:
        self.messages = messages
        self.system = system
        self._dialect: Dialect = dialect

    def has_leftover(self) -> bool:
        """Tell whether a changed section is left in a system prompt, or as a part of an earlier message; within one, it was typed."""
        prompts = [_join(self.system), *(_join(message.get("content")) for message in self.messages if _role(message) in _SYSTEM_ROLES)]
        said = [message.get("content") for message in self.messages[:-1] if _role(message) == "user"]
        parts = [text for content in said if isinstance(content, list | tuple) for text in map(part_text, content) if text and text.startswith(markers.BEGIN)]
        return any(map(markers.has_leftover, prompts + parts))

    def in_system(self, preprocessor: Preprocessor) -> Turn:
        """Put the section behind the system prompt, and return the turn."""
        index = _place(self.messages) if self._dialect == "openai" else None
        base = self.messages[index].get("content") if index is not None else self.system
        turn = self._rewrite(preprocessor, _join(base))
        if turn.section:
            content = [*base, {"type": "text", "text": turn.section}] if isinstance(base, list | tuple) else turn.prompt
            if index is not None:
                self.messages[index] = {**self.messages[index], "content": content}
            elif self._dialect == "openai":
                self.messages.insert(0, {"role": "system", "content": content})
            else:
                self.system = content
        return turn

    def in_message(self, preprocessor: Preprocessor) -> Turn:
        """Put the section in front of what the person typed, and return the turn."""
        turn = self._rewrite(preprocessor, "")
        if turn.section:
            content = self.messages[-1]["content"]
            parts = self._parts(content)
            # Anthropic wants the results of tools, where a message has some, in front of everything else.
            parts.insert(typed_indexes(content)[0], text_part(turn.section, self._dialect))
            self.messages[-1] = {**self.messages[-1], "content": parts}
        return turn

    def _rewrite(self, preprocessor: Preprocessor, prompt: str) -> Turn:
        message = self.messages[-1]
        content = message["content"]
        turn = preprocessor.preprocess(text_of(content), prompt)
        new = rewrite_content(content, turn)
        if turn.media:
            new = [*self._parts(new), *media_parts(turn, self._dialect)]
        if new is not content:
            self.messages[-1] = {**message, "content": new}
        return turn

    def _parts(self, content: Any) -> list[Any]:  # noqa: ANN401 (as it was given)
        return [text_part(content, self._dialect)] if isinstance(content, str) else list(content)


def _with_leftover(turn: Turn) -> Turn:
    """Return *turn* with the warning of a changed section, which it has already where that is in the prompt that it was given."""
    from filerefs.phases import LEFTOVER

    return turn.__replace__(warnings=tuple(dict.fromkeys((*turn.warnings, LEFTOVER))))


class _Outputs:
    """
    What was returned lately, by fingerprint: nothing in a request may say that it was preprocessed already.

    Providers refuse keys that they do not know, and a message with plain paths looks like one that names no files.
    """

    _MOST: Final = 1024

    def __init__(self) -> None:
        self._seen: dict[bytes, None] = {}
        self._lock = Lock()

    def has(self, fingerprint: bytes | None) -> bool:
        return fingerprint in self._seen

    def add(self, fingerprint: bytes | None) -> None:
        if fingerprint is None:
            return
        with self._lock:
            self._seen.pop(fingerprint, None)
            self._seen[fingerprint] = None
            if len(self._seen) > self._MOST:
                del self._seen[next(iter(self._seen))]


_outputs, _refusals = _Outputs(), _Outputs()


def _fingerprint(messages: Sequence[Any], system: object) -> bytes | None:
    """Return what tells one request from others: its system prompt, and which message is the last; None if it has no section."""
    prompts = [_join(message.get("content")) for message in messages if _role(message) in _SYSTEM_ROLES]
    prompt = "\0".join((_join(system), *prompts))
    if markers.BEGIN not in prompt:
        return None
    text = "\0".join((prompt, str(len(messages)), text_of(messages[-1].get("content"))))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _check_system(system: object, dialect: Dialect) -> str | list[Any] | None:
    if dialect == "openai" and system is not None:
        raise OptionError("system", "a text beside the messages", "left out: chat completions have it among the messages")
    if system is None or isinstance(system, str):
        return system
    if dialect == "responses" or not isinstance(system, list | tuple):
        raise OptionTypeError("system", type(system), "text or None, or with Anthropic a list of blocks")
    return list(system)


def _is_new(content: object) -> bool:
    """Tell whether a message of the user is the beginning of a turn that was not preprocessed yet."""
    parts = content if isinstance(content, list | tuple) else [content]
    if any(map(is_section_part, parts)):
        return False
    # A message of images alone is the person's, too; one of results or of instruction texts alone is not.
    return bool(typed_indexes(content)) or not (has_tool_results(content) or any(part_text(part) is not None for part in parts))


@contextlib.contextmanager
def _opened(files: Preprocessor | str | os.PathLike[str]) -> Generator[Preprocessor]:
    if isinstance(files, Preprocessor):
        yield files
        return
    with Preprocessor(files) as preprocessor:
        yield preprocessor


def _role(message: object) -> object:
    # Objects of the libraries are answers, or somebody else's business: what goes in anew is a dict.
    return message.get("role") if isinstance(message, Mapping) else None


def _place(messages: Sequence[Any]) -> int | None:
    """Return which of the system messages at the front is the last; None if there is none."""
    index = 0
    while index < len(messages) and _role(messages[index]) in _SYSTEM_ROLES:
        index += 1
    return index - 1 if index else None


def _join(content: object) -> str:
    if isinstance(content, str):
        return content
    texts = map(part_text, content) if isinstance(content, list | tuple) else ()
    return _GAP.join(text for text in texts if text is not None)


def _strip(content: Any) -> Any:  # noqa: ANN401 (text or blocks, as it was given)
    """Return the text, or the blocks, of a system prompt without sections; the same object where there were none."""
    if isinstance(content, str):
        return markers.strip(content)
    if not isinstance(content, list | tuple) or markers.BEGIN not in _join(content):
        return content
    left = [(part, part_text(part)) for part in content if not is_section_part(part)]
    return [part if text is None or (bare := markers.strip(text)) == text else with_text(part, bare) for part, text in left]


def _left_of(message: Any) -> Any:  # noqa: ANN401 (a message, or a block, as it was given)
    """Return *message* without sections; None if nothing is left of it."""
    if is_section_part(message):
        return None
    role = _role(message)
    if role in _SYSTEM_ROLES:
        return _left_of_system(message)
    return _left_of_user(message) if role == "user" and isinstance(message.get("content"), list | tuple) else message


def _left_of_system(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
    content = message.get("content")
    left = _strip(content)
    if left is content or left == content:
        return message
    return {**message, "content": left} if left or not message.keys() <= {"role", "content"} else None


def _left_of_user(message: Mapping[str, Any]) -> Mapping[str, Any]:
    parts = message["content"]
    kept = [part for part in parts if not is_section_part(part)]
    if len(kept) == len(parts):
        return message
    # With the section the text became a list; alone, it is the string again that it nearly always was.
    alone = kept[0] if len(kept) == 1 else None
    text = part_text(alone) if isinstance(alone, Mapping) and alone.keys() <= {"type", "text"} else None
    return {**message, "content": kept if text is None else text}
