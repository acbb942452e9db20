"""One line in, and what there is to say about it out; and how a chat is put together and begun."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import filerefs
from filerefs.chat.commands import State, find_command, suggest_command
from filerefs.chat.conversation import Conversation
from filerefs.chat.models import ModelError, open_model
from filerefs.chat.pipe import answer_json, answer_lines
from filerefs.completion import Completer
from filerefs.errors import FilerefsError
from filerefs.limits import Limits
from filerefs.naming import human_size
from filerefs.notices import report, report_error, report_notice
from filerefs.terminal import Screen

if TYPE_CHECKING:
    import argparse
    from collections.abc import Generator

    from filerefs import Turn
    from filerefs.chat.commands import Command
    from filerefs.chat.models import Model


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

    def prepare(self, message: str) -> Turn:
        """Return the turn of *message*, with the instruction files as they are now."""
        if notice := self.state.refresh_instructions():
            report_notice(f"{notice} (/agents says what holds now)", self.errors)
        return self.state.conversation.take(message)

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
        for piece in model.answer(turn.prompt, conversation.answered, turn.message):
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
        turn = self.prepare(message)
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
    if options.key and not options.model:
        raise ModelError("--key needs -m NAME: a key is for that model alone")
    limits = Limits(file_bytes=options.file_bytes, total_bytes=options.total_bytes, refs=options.refs, directory_entries=options.directory_entries)
    grammar: dict[str, Any] = {"symlinks": options.symlinks, "allow": options.allow}
    with ExitStack() as stack:

        def preprocessor() -> filerefs.Preprocessor:
            made = filerefs.Preprocessor(options.root, limits=limits, code=options.code, lenient=options.lenient, **grammar)
            return stack.enter_context(made)

        def choose(name: str) -> Model:
            # A key is for the model that it was given with, or for the server: no other provider gets to see it.
            is_meant = options.base_url is not None or name == options.model
            return open_model(name, base_url=options.base_url, key=options.key if is_meant else None)

        conversation = Conversation(preprocessor(), prompt=options.system)
        names = stack.enter_context(Completer(options.root, **grammar))
        # Absolute, and so the same folder as long as the chat goes on: a working folder can be deleted.
        state = State(conversation, names, limits=limits, root=os.path.abspath(options.root), open_model=choose, agents=options.agents)  # noqa: PTH100 (links stay)
        state.model = choose(options.model) if options.model else None
        chat = Chat(state, Screen(sys.stdout), Screen(sys.stderr))
        if options.json:
            answer_json(chat, sys.stdin.buffer)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            from filerefs.chat.keyboard import converse

            converse(chat, preprocessor(), history=options.history, code=options.code, lenient=options.lenient)
            # Whoever types has seen the error, and may have tried again.
            return 0
        else:
            answer_lines(chat, sys.stdin.buffer)
    return int(chat.failed)
