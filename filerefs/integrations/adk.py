"""
Google ADK: a plugin that gives all agents of an app the files that a message names.

    app = App(name="app", root_agent=agent, plugins=[FileRefsPlugin(files=".")])

The message is rewritten before the session stores it.  The section is put into each request's system instruction, where
nothing reads it as a template, and never into an `instruction` of an agent.  It is kept in the state of the running
session object, of which a service stores only what events change: it ends with the invocation.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from filerefs import strip_section, swap_section
from filerefs.integrations.shared import note_of, open_files, tell
from filerefs.messages import rewrite_content, text_of
from filerefs.retrieval import file_tools

try:
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types
except ImportError as error:
    from filerefs.integrations.extras import lacking

    raise lacking(__name__, "adk", error) from error

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.events.event import Event
    from google.adk.models.llm_request import LlmRequest
    from google.adk.sessions import Session
    from google.adk.tools.tool_context import ToolContext

    from filerefs import Preprocessor, Turn
    from filerefs.retrieval import Tool

__all__ = ["METADATA", "FileRefsPlugin"]

METADATA = "filerefs"
"""
The key in `Event.custom_metadata` of the first event behind a message that named something: a dict of lists of texts, "typed",
"warnings" and "notices".

.. versionadded:: 0.1
"""

# With a colon it is no name that an instruction's template or a state schema could mean.
_STATE = "filerefs:turn"


class FileRefsPlugin(BasePlugin):
    """
    Gives all agents of an app the files that a message names.

    May be shared by apps, runners, and invocations at the same time.

    Args:
        files: The folder that names are relative to, or a `Preprocessor` for everything else that can be set.
        on_turn: Called with each turn that has references or warnings, for the host to print them.
        tools: Whether every agent gets `tools`.  They can be given to some agents instead, like any other tool.
        media: Whether images and PDFs that are named become parts of the message.  A `Preprocessor` says so itself.
        name: What the app calls the plugin.

    Attributes:
        tools: `read_ref` and `list_files`.

    Raises:
        RootNotFoundError: If the folder is none.

    .. versionadded:: 0.1
    """

    def __init__(
        self,
        files: Preprocessor | str | os.PathLike[str] = ".",
        *,
        on_turn: Callable[[Turn], None] | None = None,
        tools: bool = False,
        media: bool = False,
        name: str = "filerefs",
    ) -> None:
        super().__init__(name=name)
        self._files = open_files(files, media=media)
        self._on_turn = on_turn
        self._gives_tools = tools
        self.tools: list[BaseTool] = [_FileTool(tool) for tool in file_tools(self._files)]

    async def on_user_message_callback(self, *, invocation_context: InvocationContext, user_message: types.Content) -> types.Content | None:
        """Return the rewritten message; None where nothing is rewritten, so that other plugins go on."""
        session = invocation_context.session
        kept = session.state.get(_STATE)
        if kept is not None and not session.events:
            # A session that begins with a turn is that of an agent that another one called as a tool: a model wrote
            # this message, and the turn is the caller's.
            session.state[_STATE] = {**kept, "invocation": invocation_context.invocation_id, "told": True}
            return None
        parts = user_message.parts or []
        typed = [part.text for part in parts if part.text]
        if not typed:
            return None
        turn = await self._files.preprocess_async(text_of(typed))
        has_news = tell(self._on_turn, turn)
        session.state[_STATE] = _kept(turn, typed, invocation_context, told=not has_news)
        if turn.message == turn.original and not turn.media:
            return None
        texts = iter(rewrite_content(typed, turn))
        changed = [part.model_copy(update={"text": next(texts)}) if part.text else part for part in parts]
        media = [types.Part.from_bytes(data=medium.data or b"", mime_type=medium.media_type or "") for medium in turn.media]
        return user_message.model_copy(update={"parts": [*changed, *media]})

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Read the files again where an invocation goes on with the last message: behind an approval, for instance."""
        session = invocation_context.session
        kept = session.state.get(_STATE)
        if kept is None or kept["invocation"] != invocation_context.invocation_id:
            typed = _typed_last(session)
            turn = await self._files.preprocess_async(text_of(typed))
            session.state[_STATE] = _kept(turn, typed, invocation_context, told=True)

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Put the section behind the system instruction of the request, and the tools into it."""
        kept = callback_context.session.state.get(_STATE)
        configuration = llm_request.config
        configuration.system_instruction = _placed(configuration.system_instruction, kept["section"] if kept else "")
        if self._gives_tools:
            llm_request.append_tools([tool for tool in self.tools if tool.name not in llm_request.tools_dict])

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> None:
        """Say on the first event of an invocation what the message named; in place, so that other plugins go on."""
        kept = invocation_context.session.state.get(_STATE)
        if kept is not None and not kept["told"] and kept["invocation"] == invocation_context.invocation_id:
            event.custom_metadata = {**(event.custom_metadata or {}), METADATA: kept["note"]}
            # The pieces of a stream are not stored: the first whole event has it, too.
            kept["told"] = not event.partial

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Forget the turn."""
        invocation_context.session.state.pop(_STATE, None)


class _FileTool(BaseTool):
    """One of our tools, as ADK has them."""

    def __init__(self, tool: Tool) -> None:
        super().__init__(name=tool.name, description=tool.description)
        self._tool = tool

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=dict(self._tool.parameters))

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> str:  # noqa: ARG002 (the framework passes it)
        return await asyncio.to_thread(self._tool.run, args)


def _kept(turn: Turn, typed: list[str], invocation_context: InvocationContext, *, told: bool) -> dict[str, Any]:
    """Return what the state keeps of a turn; *told* is whether an event has said what there is to say."""
    return {
        "invocation": invocation_context.invocation_id,
        "section": turn.section,
        "note": note_of(turn, typed),
        "told": told,
    }


def _typed_last(session: Session) -> list[str]:
    """Return the texts of the person's last message as they were typed; none where it named nothing."""
    for event in reversed(session.events):
        note = (event.custom_metadata or {}).get(METADATA)
        if note is not None:
            return list(note["typed"])
        parts = (event.content.parts if event.content is not None else None) or []
        if event.author == "user" and any(part.function_response is None for part in parts):
            break
    return []


def _placed(instruction: types.ContentUnion | None, section: str) -> types.ContentUnion | None:
    """Return a system instruction with *section* behind it, in place of another that is there; as its own part where it has parts."""
    if instruction is None or isinstance(instruction, str):
        return swap_section(instruction or "", section) or None
    if isinstance(instruction, types.Content):
        return instruction.model_copy(update={"parts": _with_part(instruction.parts or [], section)})
    return _with_part(instruction if isinstance(instruction, list) else [instruction], section)


def _with_part(parts: Iterable[types.PartUnion], section: str) -> list[types.PartUnion]:
    stripped = [_stripped(part) for part in parts]
    return [*(part for part in stripped if part is not None), *([types.Part(text=section)] if section else [])]


def _stripped(part: types.PartUnion) -> types.PartUnion | None:
    """Return *part* without a section; None if it was one."""
    text = part if isinstance(part, str) else part.text if isinstance(part, types.Part) else None
    base = strip_section(text) if text else text
    if base == text:
        return part
    return None if not base else base if isinstance(part, str) else types.Part(text=base)
