"""
ACP: the blocks of an editor's prompt as one turn, for agents that speak the Agent Client Protocol.

    class MyAgent(Agent):
        async def initialize(self, protocol_version, **_):
            capabilities = AgentCapabilities(prompt_capabilities=prompt_capabilities())
            return InitializeResponse(protocol_version=PROTOCOL_VERSION, agent_capabilities=capabilities)

        async def new_session(self, cwd, **_):
            files[session_id] = FileRefs(cwd)

        async def prompt(self, prompt, session_id, **_):
            turn = await files[session_id].preprocess_async(prompt, SYSTEM)

What an editor's user mentions comes as a link, or as the text that the editor shows: that text holds, saved or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filerefs import OptionTypeError, Turn

try:
    from acp.schema import PromptCapabilities

    from filerefs.integrations.acp_blocks import Reader
except ImportError as error:
    from filerefs.integrations.extras import lacking

    raise lacking(__name__, "acp", error) from error

from filerefs.integrations.shared import open_files

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from filerefs import Preprocessor
    from filerefs.integrations.acp_blocks import Block

__all__ = ["FileRefs", "prompt_capabilities"]


def prompt_capabilities(*, media: bool = False) -> PromptCapabilities:
    """
    Return what an agent that uses this announces: embedded files, and with *media* images.

    An editor that is not told of embedded files sends links, and the agent reads what was saved last.

    .. versionadded:: 0.1
    """
    return PromptCapabilities(embedded_context=True, image=media)


class FileRefs:
    """
    Turns the blocks of prompts into turns; keeps nothing of them.

    Text is parsed for mentions, as one message over all blocks; what is code in a text block goes on behind a link, and
    ends where another text block follows: the line that closes a fence is added there.  Links and embedded files stand in it by their names:

    - A link to a file below the root (``file://…``, lines as ``#L10-20`` or ``#L10:20``) is read as if it had been
      typed; one that leads elsewhere is refused.  Other links go to the model as they are, with a notice.
    - An embedded file holds in place of what is on the disk, for this turn, also where it is mentioned by its name.
      One from elsewhere, or a part of one, is shown under a name of its own.
    - An image is sent (`Turn.media`) if the Preprocessor has ``media=True``; else it is only named.

    Args:
        files: The session's folder, or a `Preprocessor` for everything else that can be set; several sessions may share one.
        on_turn: Called with each turn that has references, warnings or notices, for the host to print them.
        media: Whether images and PDFs that are named go with the message.  A `Preprocessor` says so itself.

    Raises:
        RootNotFoundError: If *files* is a path and no folder is there.

    .. versionadded:: 0.1
    """

    def __init__(self, files: Preprocessor | str | os.PathLike[str] = ".", *, on_turn: Callable[[Turn], None] | None = None, media: bool = False) -> None:
        self._files = open_files(files, media=media)
        self._on_turn = on_turn

    def preprocess(self, blocks: Iterable[Block], prompt: str = "") -> Turn:
        """
        Return what the *blocks* of one prompt become: the message with plain paths, and the system prompt with their files.

        Args:
            blocks: As `Agent.prompt` gets them.
            prompt: The system prompt, with or without the section of an earlier turn.

        Raises:
            RootClosedError: If the Preprocessor was closed.  Trouble with a block is never raised.
            OptionTypeError: If *blocks* is a string.
        """
        _check(blocks)
        reader = Reader(self._files.folder, self._files.root)
        reader.read(blocks)
        files = self._files if reader.buffers is None else self._files.on(reader.buffers)
        turn = files.preprocess(reader.message, prompt, refs=reader.refs)
        turn = turn.__replace__(notices=(*turn.notices, *reader.notices))
        # A link that is no file has a notice, and nothing else says what became of it.
        if self._on_turn is not None and (turn.outcomes or turn.warnings or turn.notices):
            self._on_turn(turn)
        return turn

    async def preprocess_async(self, blocks: Iterable[Block], prompt: str = "") -> Turn:
        """Do what `preprocess` does in a thread, so that the event loop goes on while files are read."""
        import asyncio

        _check(blocks)
        return await asyncio.to_thread(self.preprocess, list(blocks), prompt)


def _check(blocks: object) -> None:
    # Its characters would be blocks that nobody knows, and be passed over.
    if isinstance(blocks, str | bytes):
        raise OptionTypeError("blocks", blocks, "the list of content blocks of a prompt")
