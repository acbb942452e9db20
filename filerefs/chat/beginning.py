"""How a chat is put together from its options, and which of its three ways to read it takes."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import filerefs
from filerefs.chat.commands import State
from filerefs.chat.conversation import Conversation
from filerefs.chat.loop import Chat
from filerefs.chat.models import ModelError, open_model
from filerefs.chat.pipe import answer_json, answer_lines
from filerefs.completion import Completer
from filerefs.limits import Limits
from filerefs.terminal import Screen, await_input

if TYPE_CHECKING:
    import argparse

    from filerefs.chat.models import Model


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
            await_input('messages, one {"message": ...} in each line')
            answer_json(chat, sys.stdin.buffer)
        elif sys.stdin.isatty() and sys.stdout.isatty():
            from filerefs.chat.keyboard import converse

            converse(chat, preprocessor(), history=options.history, code=options.code, lenient=options.lenient)
            # Whoever types has seen the error, and may have tried again.
            return 0
        else:
            await_input("messages, one in each line")
            answer_lines(chat, sys.stdin.buffer)
    return int(chat.failed)
