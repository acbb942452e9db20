"""
LangChain and deepagents: middleware that attaches the files of the person's message, and the instruction files of a project.

    agent = create_agent(model, system_prompt="…", middleware=[FileRefsMiddleware("project"), AgentsMdMiddleware("project")])

What belongs to a conversation lives in the state of its thread: the section of the turn and the text of the
instruction files, both private to the middleware, and behind the system prompt only while a model is called.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict, cast

from filerefs.integrations.shared import instruction_tools, instructions_of, live_tools, open_files, open_loader, tell, warnings_of
from filerefs.messages import text_of
from filerefs.retrieval import file_tools

try:
    from langchain.agents.middleware.types import AgentMiddleware, AgentState, ContextT, PrivateStateAttr, ResponseT
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import StructuredTool
    from langgraph.types import Overwrite

    from filerefs.integrations import langchain_messages as messages
except ImportError as error:
    from filerefs.integrations.extras import lacking

    raise lacking(__name__, "langchain", error) from error

if TYPE_CHECKING:
    import os
    from collections.abc import Awaitable, Callable, Sequence

    from langchain.agents.middleware.types import ModelRequest, ModelResponse
    from langchain_core.messages import BaseMessage
    from langchain_core.tools import BaseTool
    from langgraph.runtime import Runtime

    from filerefs import Preprocessor, Turn, agentsmd
    from filerefs.retrieval import Tool

__all__ = ["AgentsMdMiddleware", "FileRefsMiddleware"]

# The node in which an agent of LangChain runs its tools; part of what a run inside of one is called.
_TOOLS = "tools:"


class TurnState(TypedDict):
    """
    What a thread keeps of its turn; in a checkpoint it is plain data.

    Attributes:
        section: The turn's section, "" for none.
        warnings: The turn's warnings.
        message: Which message it was, and as what it is stored: the same one is not parsed twice.
    """

    section: str
    warnings: list[str]
    message: str


class InstructionsState(TypedDict):
    """
    What a thread keeps of the instruction files of its run.

    Attributes:
        text: What the model reads of them, "" for nothing.
        warnings: What went wrong with them.
    """

    text: str
    warnings: list[str]


class FileRefsState(AgentState[Any]):
    """The agent's state with `filerefs`, the person's turn."""

    filerefs: NotRequired[Annotated[TurnState, PrivateStateAttr]]


class AgentsMdState(AgentState[Any]):
    """The agent's state with `filerefs_instructions`, the instruction files of the run."""

    filerefs_instructions: NotRequired[Annotated[InstructionsState, PrivateStateAttr]]


class FileRefsMiddleware(AgentMiddleware[FileRefsState, ContextT, ResponseT]):
    """
    Attaches the files that the person's message names to the system prompt of the turn.

    Once a turn the message is read, and stored with plain paths.  Each call of the model then has the turn's section
    at the end of its system prompt: a block of its own, where the prompt is made of blocks.  The section is never in
    the messages, so a summary of them does not lose it.  A message that was rewritten is not read again, neither is
    one that no person wrote: one inside a tool call (the task of a sub-agent), or one that says it is the harness's
    (`lc_source`).  A run without a new message goes on with the section that there is.

    What happened goes to the custom stream, if there are references or warnings:

        {"type": "filerefs", "warnings": [str], "notices": [str], "attached": [str]}    one line each, for the person

    and the warnings are in the thread's state, `filerefs["warnings"]`.

    Args:
        files: The folder that names are relative to, or a `Preprocessor` for everything else that can be set.
        on_turn: Called with each turn that has references or warnings, for the host to print them.
        tools: Whether the model gets `read_ref` and `list_files`.
        media: Whether images and PDFs that are named become parts of the message.  A `Preprocessor` says so itself.

    Raises:
        RootNotFoundError: If the folder is none.

    .. versionadded:: 0.1
    """

    state_schema = FileRefsState

    def __init__(
        self,
        files: Preprocessor | str | os.PathLike[str] = ".",
        *,
        on_turn: Callable[[Turn], None] | None = None,
        tools: bool = False,
        media: bool = False,
    ) -> None:
        super().__init__()
        self._files = open_files(files, media=media)
        self._on_turn = on_turn
        self.tools: Sequence[BaseTool] = [_tool(tool) for tool in file_tools(self._files)] if tools else []

    def before_agent(self, state: FileRefsState, runtime: Runtime[ContextT]) -> dict[str, Any] | None:
        message = _new_message(state, runtime)
        if message is None:
            return None
        turn = self._files.preprocess(text_of(message.content))
        return self._take(turn, message, state, runtime)

    async def abefore_agent(self, state: FileRefsState, runtime: Runtime[ContextT]) -> dict[str, Any] | None:
        message = _new_message(state, runtime)
        if message is None:
            return None
        turn = await self._files.preprocess_async(text_of(message.content))
        return self._take(turn, message, state, runtime)

    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ModelResponse[ResponseT]:
        return handler(_with_section(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ModelResponse[ResponseT]:
        return await handler(_with_section(request))

    def _take(self, turn: Turn, message: HumanMessage, state: FileRefsState, runtime: Runtime[ContextT]) -> dict[str, Any]:
        """Tell the host of *turn*, and return what becomes of the state."""
        if tell(self._on_turn, turn):
            attached = [outcome.summary for outcome in turn.attached]
            runtime.stream_writer({"type": "filerefs", "warnings": [*turn.warnings], "notices": [*turn.notices], "attached": attached})
        rewritten = messages.rewritten(message, turn)
        kept = TurnState(section=turn.section, warnings=[*turn.warnings], message=messages.fingerprint(rewritten))
        update: dict[str, Any] = {"filerefs": kept}
        if rewritten is not message:
            update["messages"] = _replacement(state["messages"], rewritten)
        return update


class AgentsMdMiddleware(AgentMiddleware[AgentsMdState, ContextT, ResponseT]):
    """
    Puts the instruction files of a project (AGENTS.md) behind the system prompt, before the section of the files.

    They are read anew for each run, and hold until it ends, over interrupts, too.  The order in which this middleware and
    `FileRefsMiddleware` are listed makes no difference.

    Warnings go to the custom stream, when they are others than in the run before:

        {"type": "filerefs.agentsmd", "warnings": [str], "files": [str]}    one line each; the names of the files

    and are in the thread's state, `filerefs_instructions["warnings"]`.

    Args:
        files: Where the search begins, or a `Loader` for everything else that can be set: profile, budget, user-wide files.
        on_warning: Called with each warning that goes to the stream.
        catalog: Whether the prompt shows the opening of each file alone, for the model to fetch the rest by the tools.
        tools: Whether the model gets `project_list` and `project_get`, where there is a file; with *catalog*
            it always does.

    Raises:
        RootNotFoundError: By a run, if the root of a `Loader` is no folder any more.

    .. versionadded:: 0.1
    """

    state_schema = AgentsMdState

    def __init__(
        self,
        files: agentsmd.Loader | str | os.PathLike[str] = ".",
        *,
        on_warning: Callable[[str], object] | None = None,
        catalog: bool = False,
        tools: bool = False,
    ) -> None:
        super().__init__()
        self._loader = open_loader(files)
        self._on_warning = on_warning
        self._catalog = catalog
        self.tools: Sequence[BaseTool] = [_tool(tool) for tool in live_tools(self._tools)] if tools or catalog else []

    def before_agent(self, state: AgentsMdState, runtime: Runtime[ContextT]) -> dict[str, Any] | None:
        return self._take(self._loader.run().load(), state, runtime)

    async def abefore_agent(self, state: AgentsMdState, runtime: Runtime[ContextT]) -> dict[str, Any] | None:
        return self._take(await asyncio.to_thread(self._loader.run().load), state, runtime)

    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ModelResponse[ResponseT]:
        return handler(_with_instructions(request, self.tools))

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ModelResponse[ResponseT]:
        return await handler(_with_instructions(request, self.tools))

    def _take(self, found: agentsmd.Discovery, state: AgentsMdState, runtime: Runtime[ContextT]) -> dict[str, Any]:
        warnings = warnings_of(found)
        before = state["filerefs_instructions"]["warnings"] if "filerefs_instructions" in state else []
        if warnings and warnings != before:
            runtime.stream_writer({"type": "filerefs.agentsmd", "warnings": warnings, "files": [doc.name for doc in found]})
            if self._on_warning is not None:
                for warning in warnings:
                    self._on_warning(warning)
        return {"filerefs_instructions": InstructionsState(text=instructions_of(found, catalog=self._catalog), warnings=warnings)}

    def _tools(self) -> list[Tool]:
        return instruction_tools(self._loader.read(), catalog=self._catalog)


def _new_message(state: FileRefsState, runtime: Runtime[Any]) -> HumanMessage | None:
    """Return the message that a person wrote and no turn was taken of, if the run begins with one."""
    last = state["messages"][-1] if state["messages"] else None
    if not isinstance(last, HumanMessage) or "lc_source" in last.additional_kwargs or _is_inside_a_tool(runtime):
        return None
    # Without an id, two messages of the same words cannot be told apart.
    is_known = last.id is not None and "filerefs" in state and state["filerefs"]["message"] == messages.fingerprint(last)
    return None if is_known else last


def _is_inside_a_tool(runtime: Runtime[Any]) -> bool:
    """Tell whether the run is a step of another agent's tool: then its message was written by that agent's model."""
    information = runtime.execution_info
    return information is not None and any(place.startswith(_TOOLS) for place in information.checkpoint_ns.split("|"))


def _replacement(stored: Sequence[BaseMessage], rewritten: HumanMessage) -> list[HumanMessage] | Overwrite:
    """Return the update that puts *rewritten* in the place of the last of the *stored* messages."""
    if stored[-1].id == rewritten.id:
        return [rewritten]
    # It had no id, which deepagents leaves some messages without: what cannot be addressed is replaced with all others.
    return Overwrite([*stored[:-1], rewritten])


def _section(request: ModelRequest[Any]) -> str:
    kept = cast("FileRefsState", request.state).get("filerefs")
    return kept["section"] if kept else ""


def _with_section(request: ModelRequest[ContextT]) -> ModelRequest[ContextT]:
    """Return *request* with the turn's section at the end of its system message, and no other."""
    system = messages.swap_section(request.system_message, _section(request))
    return request if system is request.system_message else request.override(system_message=system)


def _with_instructions(request: ModelRequest[ContextT], tools: Sequence[BaseTool]) -> ModelRequest[ContextT]:
    """
    Return *request* with the instruction files at the end of its system message, but before the turn's section.

    Without any, it is without the *tools* that fetch them, too.
    """
    kept = cast("AgentsMdState", request.state).get("filerefs_instructions")
    if not kept or not kept["text"]:
        return request.override(tools=[tool for tool in request.tools if tool not in tools]) if tools else request
    system, section = request.system_message, _section(request)
    bare = messages.swap_section(system, "") if section else system
    appended = messages.append_text(bare, kept["text"])
    # Where the section is not there yet, its middleware is further in and puts it there.
    return request.override(system_message=appended if bare is system else messages.swap_section(appended, section))


def _tool(tool: Tool) -> BaseTool:
    def call(**arguments: object) -> str:
        return tool.run(arguments)

    return StructuredTool.from_function(call, name=tool.name, description=tool.description, args_schema=dict(tool.parameters), infer_schema=False)
