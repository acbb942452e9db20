"""The chat at a terminal: a line to type in, with completion, colours, a toolbar and a history."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from filerefs.chat.commands import COMMANDS, HELP, find_command
from filerefs.chat.interrupts import Interrupts
from filerefs.errors import FilerefsError
from filerefs.notices import report_notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer
    from prompt_toolkit.document import Document
    from prompt_toolkit.history import History

    from filerefs import Preprocessor
    from filerefs.chat.loop import Chat
    from filerefs.integrations.prompt_toolkit import Preview
    from filerefs.mentions import CodePolicy


_KEYS = "Enter sends, Alt-Enter begins a line, @ names files, /help, Ctrl-D leaves"


class ChatUnavailableError(FilerefsError):
    """The chat cannot run at a terminal; the text says what is missing."""


def converse(chat: Chat, scratch: Preprocessor, *, history: str | None, code: CodePolicy, lenient: bool) -> None:
    """
    Talk until Ctrl-D or `/quit`.

    Args:
        chat: What takes the messages.
        scratch: A preprocessor for what is being typed.
        history: A file for what was typed, as it was typed; None: the usual place; "": none.
        code: As for the preprocessors.
        lenient: The same.

    Raises:
        ChatUnavailableError: If prompt_toolkit is not installed.
    """
    try:
        from filerefs.integrations.prompt_toolkit import AtPathCompleter, Preview
    except ImportError as error:
        from filerefs.integrations.extras import lacking

        sentence = lacking("a chat at a terminal", "prompt-toolkit", error, extra="chat")
        raise ChatUnavailableError(f"{sentence} (as a pipe it works without)") from error
    with Preview(scratch) as preview, Interrupts() as interrupts:
        names = AtPathCompleter(chat.state.names, code=code, lenient=lenient)
        session = _make_session(chat, names, preview, history)
        _greet(chat)
        while _take_one(chat, session, interrupts):
            pass


def _take_one(chat: Chat, session: PromptSession[str], interrupts: Interrupts) -> bool:
    """Let one message be typed and take it; return whether the chat goes on."""
    try:
        # Ctrl-C is a key there.  As a signal, before keys are read one by one, the toolkit would answer it with a traceback.
        message = session.prompt("> ", handle_sigint=False)
    except KeyboardInterrupt:
        chat.errors.write("(Ctrl-D or /quit leaves)\n")
        chat.errors.flush()
        return True
    except EOFError:
        return False
    if not message.strip():
        return True
    try:
        interrupts.begin()
        return chat.take(message)
    except KeyboardInterrupt:
        interrupts.end()
        chat.output.write("\n")
        what = "this message and its answer are not part of the history" if find_command(message) is None else "the command did not come to its end"
        report_notice(f"interrupted: {what}", chat.errors)
        return True
    finally:
        interrupts.end()


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


def _make_session(chat: Chat, names: Completer, preview: Preview, history: str | None) -> PromptSession[str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import merge_completers
    from prompt_toolkit.output import ColorDepth

    from filerefs.integrations.prompt_toolkit import STYLE, MentionLexer, Toolbar, mention_bindings

    return PromptSession(
        completer=merge_completers([names, _command_completer()]),
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
    try:
        file = Path(path) if path else _usual_place()
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # What people type is theirs alone; a file that is there keeps its permissions.
        file.touch(mode=0o600)
    except OSError as error:
        chat.errors.show(f"no history is kept: {error.filename}: {error.strerror}\n")
        return InMemoryHistory()
    return FileHistory(str(file))


def _usual_place() -> Path:
    try:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise OSError(errno.ENOENT, "there is no home folder", "~") from error
    return Path(state) / "filerefs" / "chat_history"
