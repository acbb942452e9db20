"""The chat as a pipe: a message or a command per line, or one JSON object for each."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

from filerefs.errors import FilerefsError
from filerefs.notices import report
from filerefs.serve import to_json
from filerefs.terminal import from_bytes

if TYPE_CHECKING:
    from filerefs.chat.loop import Chat


def answer_lines(chat: Chat, lines: IO[bytes]) -> None:
    """Take one message or command per line, until the lines end or one of them leaves."""
    for line in lines:
        message = from_bytes(line).rstrip("\r\n")
        if message.strip() and not chat.take(message):
            return


def answer_json(chat: Chat, lines: IO[bytes]) -> None:
    """Take one JSON object per line, `{"message": …}`, and give one for it: the turn, with what was answered."""
    for line in lines:
        if line.strip():
            chat.output.write(to_json(_answer(chat, line)) + "\n")
            chat.output.flush()


def _answer(chat: Chat, line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return _error("not_json", "the line is not JSON")
    message = request.get("message") if isinstance(request, dict) else None
    if not isinstance(message, str):
        return _error("bad_request", "the line is no object with a `message` that is a string")
    turn = chat.prepare(message)
    report(turn, chat.errors)
    try:
        answer = "".join(chat.answer(turn)) if chat.state.model else None
    except FilerefsError as error:
        chat.failed = True
        return _error("no_answer", str(error))
    if answer is None:
        chat.state.conversation.remember(turn.message, "")
    return {**turn.as_dict(), "answer": answer}


def _error(code: str, message: str) -> dict[str, Any]:
    return {"version": 1, "error": {"code": code, "message": message}}
