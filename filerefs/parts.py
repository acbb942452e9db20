"""
What stands in one message: the text that a person typed in it, its rewriting, sections and media as parts of it.

A content is a string or a list of parts; a part is a string, or a dict with its string under "text" and a type of text
(or none).  Everything else in a list (images, results of tools, objects of a library) is carried along as it is.  No
part is code because of another one: a fence that one leaves open is closed before the next.
"""

from __future__ import annotations

import base64
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from filerefs import markers, naming
from filerefs.errors import OptionError, OptionTypeError
from filerefs.regions import CodeRegions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filerefs.outcomes import Attached
    from filerefs.turn import Turn

Dialect: TypeAlias = Literal["openai", "responses", "anthropic"]
"""The form of messages: of chat completions, of OpenAI's responses, or Anthropic's."""
Part: TypeAlias = dict[str, Any]

DIALECTS: Final = ("openai", "responses", "anthropic")

_TEXT_TYPES = ("text", "input_text")
_SPEAKERS = ("user", "system", "developer")
# An empty line: no mention reaches across it, and no code span; a block of code does.
_GAP = "\n\n"
_PDF = "application/pdf"


def text_of(content: object) -> str:
    """
    Return what the person typed in the *content* of a message of theirs: its text parts, with an empty line between two.

    Sections and instruction texts that were put there are left out; "" for a content without text.  Where a part ends
    in a block of code that it does not close, the line that closes it follows: each part is a text of its own.

    .. versionadded:: 0.1
    """
    return _join([text for _, text in _typed(content)])


def rewrite_content(content: Any, turn: Turn) -> Any:  # noqa: ANN401 (a content has the type that it had)
    """
    Return *content* with plain paths in place of the mentions that *turn* attached; everything else as it was.

    Args:
        content: A string, or a list of parts.  It is not changed.
        turn: What a `Preprocessor` made of `text_of(content)`.

    Raises:
        OptionError: If *turn* is that of another text.

    .. versionadded:: 0.1
    """
    typed = _typed(content)
    if turn.original != _join([text for _, text in typed]):
        raise OptionError("turn", turn, "the turn of `text_of` of this content")
    if turn.message == turn.original:
        return content
    if isinstance(content, str):
        return turn.message
    parts = list(content)
    for (index, _), text in zip(typed, _slices(typed, turn), strict=True):
        parts[index] = with_text(parts[index], text)
    return parts


def media_parts(turn: Turn, dialect: Dialect) -> list[Part]:
    """
    Return the images and PDFs that go with the message of *turn*, in order of first mention, as content parts.

    Args:
        turn: Of a `Preprocessor` with `media=True`; of any other there are none.
        dialect: "openai" for chat completions (LiteLLM, and whoever speaks the same), "responses", or "anthropic".

    Raises:
        OptionError: If *dialect* is another one.

    .. versionadded:: 0.1
    """
    make = _MAKERS[check_dialect(dialect)]
    return [make(outcome, base64.b64encode(outcome.data or b"").decode("ascii")) for outcome in turn.media]


def is_section_part(part: object) -> bool:
    """
    Tell whether *part* of a content is a section and nothing else: what a compaction may drop.

    The newlines that stand between it and a text in another part are its own.

    .. versionadded:: 0.1
    """
    text = part_text(part)
    return text is not None and markers.BEGIN in text and not markers.strip(text)


def text_part(text: str, dialect: Dialect) -> Part:
    """Return *text* as a part of a message of the user."""
    return {"type": "input_text" if dialect == "responses" else "text", "text": text}


def part_text(part: object) -> str | None:
    """Return the text of *part*, None if it is anything else."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or part.get("type", "text") not in _TEXT_TYPES:
        return None
    text = part.get("text")
    return text if isinstance(text, str) else None


def with_text(part: Any, text: str) -> Any:  # noqa: ANN401 (a part has the type that it had)
    """Return *part* with another text, and whatever else is in it."""
    return text if isinstance(part, str) else {**part, "text": text}


def typed_indexes(content: object) -> list[int]:
    """Return where the parts are that the person typed; a string is its own first part."""
    return [index for index, _ in _typed(content)]


def has_tool_results(content: object) -> bool:
    """Tell whether *content* answers calls of tools, as messages in the role of the user do at Anthropic."""
    return isinstance(content, list | tuple) and any(isinstance(part, Mapping) and "tool_result" in str(part.get("type")) for part in content)


def check_dialect(dialect: Dialect) -> Dialect:
    """Return *dialect*; raise OptionError if there is no such."""
    if dialect not in DIALECTS:
        raise OptionError("dialect", dialect, '"openai", "responses" or "anthropic"')
    return dialect


def check_messages(messages: object, dialect: Dialect) -> list[Any]:
    """
    Return *messages* as a list.

    Raises:
        OptionError: If they begin with a system message where the dialect has the system prompt beside them.
        OptionTypeError: If they are no list of messages, or one of them is no message of the dialect.
    """
    # Of one message alone the keys would be taken for messages.
    if isinstance(messages, Mapping | bytes) or not isinstance(messages, Iterable):
        raise OptionTypeError("messages", type(messages), "a list of messages, or the text of one")
    given = list(messages)
    for index, message in enumerate(given):
        _check_message(f"messages[{index}]", message, dialect)
    # Newer models take one later on, behind a message of the user.
    if dialect == "anthropic" and given and isinstance(given[0], Mapping) and given[0].get("role") in _SPEAKERS[1:]:
        raise OptionError("messages", "a system message at the front", "without one: Anthropic has the system prompt beside them, in `system=`")
    return given


def _check_message(name: str, message: object, dialect: Dialect) -> None:
    if not isinstance(message, Mapping):
        # Answers are handed on as the objects of a library that they are.
        if not (hasattr(message, "role") or hasattr(message, "type")):
            raise OptionTypeError(name, message, "a message: a dict with a role and a content, or an object of the library")
        return
    # The responses have items that are no messages; and an assistant that calls tools, or a tool, need not say anything.
    if not message.keys() & {"role", "type"} and dialect != "responses":
        raise OptionTypeError(name, dict(message), 'a message, with its role, such as "user"')
    if message.get("role") in _SPEAKERS and message.get("content") is None:
        raise OptionTypeError(name, dict(message), "a message with a content: a text, or a list of parts")


def _typed(content: object) -> list[tuple[int, str]]:
    """Return the texts of *content* that the person typed, each with its index."""
    parts = [content] if isinstance(content, str) else content if isinstance(content, list | tuple) else []
    texts = [(index, part_text(part)) for index, part in enumerate(parts)]
    return [(index, text) for index, text in texts if text is not None and not _is_ours(text)]


def _is_ours(text: str) -> bool:
    if "<!-- agentsmd:" in text:
        from filerefs.agentsmd import marks

        if marks.whole(text):
            return True
    return is_section_part(text)


def _slices(typed: list[tuple[int, str]], turn: Turn) -> list[str]:
    """Return the rewritten texts one by one: where each is in the rewritten message, by how much was added before it."""
    edits = sorted(
        (span[1], len(replacement) - (span[1] - span[0]))
        for outcome in turn.attached
        for span, replacement in zip(outcome.spans, outcome.replacements, strict=True)
    )
    ends = [end for end, _ in edits]
    growth = [0, *accumulate(added for _, added in edits)]
    slices = []
    start = 0
    for _, text in typed:
        end = start + len(text)
        slices.append(turn.message[start + growth[bisect_right(ends, start)] : end + growth[bisect_right(ends, end)]])
        start = end + len(_gap(text))
    return slices


def _join(texts: Sequence[str]) -> str:
    """Return *texts* as one, in which the code of each ends with it."""
    return "".join(text + _gap(text) for text in texts[:-1]) + "".join(texts[-1:])


def _gap(text: str) -> str:
    """Return what parts *text* from the next: an empty line, and before it the line that closes the block of code it ends in."""
    if "```" not in text and "~~~" not in text:
        return _GAP
    code = CodeRegions(f"{text}\n.", spans=False).around(len(text) + 1)
    if code is None:
        return _GAP
    opened = text[code.start :].lstrip(" ")
    return f"\n{opened[: len(opened) - len(opened.lstrip(opened[0]))]}{_GAP}"


def _for_chat(outcome: Attached, data: str) -> Part:
    url = f"data:{outcome.media_type};base64,{data}"
    if outcome.media_type == _PDF:
        return {"type": "file", "file": {"filename": _file_name(outcome), "file_data": url}}
    return {"type": "image_url", "image_url": {"url": url}}


def _for_responses(outcome: Attached, data: str) -> Part:
    url = f"data:{outcome.media_type};base64,{data}"
    if outcome.media_type == _PDF:
        return {"type": "input_file", "filename": _file_name(outcome), "file_data": url}
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def _for_anthropic(outcome: Attached, data: str) -> Part:
    source = {"type": "base64", "media_type": outcome.media_type, "data": data}
    if outcome.media_type == _PDF:
        return {"type": "document", "source": source, "title": outcome.label}
    return {"type": "image", "source": source}


_MAKERS = {"openai": _for_chat, "responses": _for_responses, "anthropic": _for_anthropic}


def _file_name(outcome: Attached) -> str:
    """Return the name without folders; what a PDF is called by its ending is what a provider goes by."""
    name = naming.printable(outcome.path.rpartition("/")[2])
    return name if name.lower().endswith(".pdf") else f"{name}.pdf"
