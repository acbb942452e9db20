"""`filerefs chat`: messages in, notices and answers out, at a terminal or as a pipe."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack, closing
from typing import IO, TYPE_CHECKING, Any

import filerefs
from filerefs.completion import Completer
from filerefs.conversation import Conversation
from filerefs.errors import FilerefsError
from filerefs.limits import Limits
from filerefs.models import open_model
from filerefs.naming import human_size
from filerefs.notices import report, report_error, report_notice
from filerefs.repl_commands import State, find_command, suggest_command
from filerefs.serve import to_json
from filerefs.terminal import Screen, from_bytes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator

    from filerefs import Turn
    from filerefs.models import Model
    from filerefs.repl_commands import Command


class Chat:
    """
    One line in, and what there is to say about it out.

    Attributes:
        failed: Whether an answer could not be had.

    Args:
        state: The conversation and what the commands need.
        output: For messages, answers and what commands say.
        errors: For notices and warnings.
    """

    def __init__(self, state: State, output: Screen, errors: Screen) -> None:
        self.state = state
        self.output = output
        self.errors = errors
        self.failed = False

    def take(self, line: str) -> bool:
        """Take a message or a command; return whether the chat goes on."""
        found = find_command(line)
        if found is None:
            self._send(line)
        else:
            command, argument = found
            if command is None:
                report_error("there is no such command; /help lists them", self.errors, suggest_command(line))
            else:
                self._obey(command, argument)
        self.output.flush()
        return not self.state.leaving

    def answer(self, turn: Turn) -> Generator[str]:
        """
        Yield the answer to *turn*, and remember both once it is complete.

        Raises:
            ModelError: If there is none.
        """
        conversation, model = self.state.conversation, self.state.model
        if model is None:
            return
        pieces = []
        for piece in model.answer(turn.prompt, conversation.history, turn.message):
            pieces.append(piece)
            yield piece
        conversation.remember(turn.message, "".join(pieces))

    def _obey(self, command: Command, argument: str) -> None:
        try:
            for line in command.run(self.state, argument):
                self.output.show(line + "\n")
        except FilerefsError as error:
            report_error(str(error), self.errors)

    def _send(self, message: str) -> None:
        turn = self.state.conversation.take(message)
        report(turn, self.errors)
        if self.state.model is None:
            self._show_turn(turn)
            return
        try:
            with closing(self.answer(turn)) as pieces:
                for piece in pieces:
                    self.output.show(piece)
                    self.output.flush()
            self.output.write("\n")
        except FilerefsError as error:
            self.failed = True
            report_error(str(error), self.errors)
        except KeyboardInterrupt:
            self.output.write("\n")
            report_notice("interrupted: this message and its answer are not part of the history", self.errors)

    def _show_turn(self, turn: Turn) -> None:
        self.output.show(turn.message + "\n")
        self.state.conversation.remember(turn.message, "")
        size = human_size(len(turn.prompt.encode("utf-8", "surrogatepass")))
        self.errors.write(self.errors.paint(f"no model: this would be sent, with a system prompt of {size} (/prompt shows it)", "dim") + "\n")
        self.errors.flush()


def run(options: argparse.Namespace) -> int:
    """
    Run the chat until its input ends, and return the exit code: 1 if a line of a pipe got no answer, though a model was asked.

    Raises:
        FilerefsError: For misuse.
        OSError: If standard input or output fails.
    """
    limits = Limits(file_bytes=options.file_bytes, total_bytes=options.total_bytes, refs=options.refs, directory_entries=options.directory_entries)
    grammar: dict[str, Any] = {"symlinks": options.symlinks, "allow": options.allow}
    with ExitStack() as stack:

        def preprocessor() -> filerefs.Preprocessor:
            made = filerefs.Preprocessor(options.root, limits=limits, code=options.code, lenient=options.lenient, **grammar)
            return stack.enter_context(made)

        def choose(name: str) -> Model:
            return open_model(name, base_url=options.base_url, key=options.key)

        conversation = Conversation(preprocessor(), prompt=options.system)
        names = stack.enter_context(Completer(options.root, **grammar))
        state = State(conversation, names, limits=limits, root=options.root, open_model=choose, agents=options.agents)
        state.model = choose(options.model) if options.model else None
        chat = Chat(state, Screen(sys.stdout), Screen(sys.stderr))
        if options.json:
            _answer_json(chat, sys.stdin.buffer)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            from filerefs.repl_terminal import converse

            converse(chat, preprocessor(), history=options.history)
            # Whoever types has seen the error, and may have tried again.
            return 0
        else:
            _answer_lines(chat, sys.stdin.buffer)
    return int(chat.failed)


def _answer_lines(chat: Chat, lines: IO[bytes]) -> None:
    """Take one message per line."""
    for line in lines:
        message = from_bytes(line).rstrip("\r\n")
        if message.strip() and not chat.take(message):
            return


def _answer_json(chat: Chat, lines: IO[bytes]) -> None:
    """Take one JSON object per line, `{"message": …}`, and give one for it: the turn, with what was answered."""
    for line in lines:
        if line.strip():
            chat.output.write(to_json(_answer_request(chat, line)) + "\n")
            chat.output.flush()


def _answer_request(chat: Chat, line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return _error("not_json", "the line is not JSON")
    message = request.get("message") if isinstance(request, dict) else None
    if not isinstance(message, str):
        return _error("bad_request", "the line is no object with a `message` that is a string")
    turn = chat.state.conversation.take(message)
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
