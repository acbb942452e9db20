"""The chat at a terminal: a line to type in, with completion, colours, a toolbar and a history."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filerefs.errors import FilerefsError
from filerefs.repl_commands import COMMANDS, HELP

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import History

    from filerefs import Preprocessor
    from filerefs.integrations.prompt_toolkit import Preview
    from filerefs.repl import Chat

_KEYS = "Enter sends, Alt-Enter begins a line, @ names files, /help, Ctrl-D leaves"


class ChatUnavailableError(FilerefsError):
    """The chat cannot run at a terminal; the text says what is missing."""


def converse(chat: Chat, scratch: Preprocessor, *, history: str | None) -> None:
    """
    Talk until Ctrl-D or `/quit`.

    Args:
        chat: What takes the messages.
        scratch: A preprocessor for what is being typed.
        history: A file for what was typed, as it was typed; None: the usual place; "": none.

    Raises:
        ChatUnavailableError: If prompt_toolkit is not installed.
    """
    try:
        from filerefs.integrations.prompt_toolkit import Preview
    except ImportError as error:
        raise ChatUnavailableError("a chat at a terminal needs prompt_toolkit: pip install 'filerefs[chat]' (as a pipe it works without)") from error
    with Preview(scratch) as preview, _interruptible():
        session = _make_session(chat, preview, history)
        _greet(chat)
        while True:
            try:
                message = session.prompt("> ")
            except KeyboardInterrupt:
                chat.errors.write("(Ctrl-D or /quit leaves)\n")
                chat.errors.flush()
                continue
            except EOFError:
                return
            if message.strip() and not chat.take(message):
                return


@contextmanager
def _interruptible() -> Generator[None]:
    """Let Ctrl-C interrupt an answer; the command line lets it end the program."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _greet(chat: Chat) -> None:
    state = chat.state
    found = state.found
    lines = [HELP]
    if found is not None and found.docs:
        lines.append("instruction files in force: " + ", ".join(doc.name for doc in found.docs) + " (/agents says why)")
    lines += [problem.summary for problem in found.problems] if found is not None else []
    lines.append(f"model: {state.model.name}" if state.model else "no model: what would be sent is shown; -m NAME or /model NAME sends it")
    for line in lines:
        chat.errors.show(line + "\n")
    chat.errors.flush()


def _make_session(chat: Chat, preview: Preview, history: str | None) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import merge_completers
    from prompt_toolkit.output import ColorDepth

    from filerefs.integrations.prompt_toolkit import STYLE, AtPathCompleter, MentionLexer, Toolbar, mention_bindings

    return PromptSession(
        completer=merge_completers([AtPathCompleter(chat.state.names), _command_completer()]),
        complete_while_typing=True,
        lexer=MentionLexer(preview),
        bottom_toolbar=Toolbar(preview, limits=chat.state.limits, idle=_KEYS),
        key_bindings=mention_bindings(),
        style=STYLE,
        multiline=True,
        prompt_continuation="  ",
        history=_history(chat, history),
        color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
    )


def _command_completer() -> Completer:
    from prompt_toolkit.completion import Completer, Completion

    class CommandCompleter(Completer):
        """Completes the command at the beginning of a message."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002 (the toolkit passes it)
            typed = document.text_before_cursor
            if typed.startswith("/"):
                for command in COMMANDS:
                    if command.name.startswith(typed):
                        yield Completion(command.name, start_position=-len(typed), display_meta=command.purpose)

    return CommandCompleter()


def _history(chat: Chat, path: str | None) -> History:
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    if path == "":
        return InMemoryHistory()
    if path is None:
        folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "filerefs"
        file = folder / "chat_history"
    else:
        file = Path(path)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # What people type is theirs alone; a file that is there keeps its permissions.
        file.touch(mode=0o600)
    except OSError as error:
        chat.errors.show(f"no history is kept: {file}: {error.strerror}\n")
        return InMemoryHistory()
    return FileHistory(str(file))
