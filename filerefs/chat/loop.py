"""One line in, and what there is to say about it out."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from filerefs.chat.commands import find_command, suggest_command
from filerefs.errors import FilerefsError
from filerefs.naming import human_size
from filerefs.notices import report, report_error, report_notice

if TYPE_CHECKING:
    from collections.abc import Generator

    from filerefs import Turn
    from filerefs.chat.commands import Command, State
    from filerefs.terminal import Screen


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
