"""
OpenAI Agents SDK: runs whose message may name files.

    files = FileRefs(".")
    result = await files.run(agent, "explain @src/app.py", session=session)

It is `Runner.run` with two changes: the message is rewritten before anything keeps it, and a filter of this one run
puts the section behind the instructions of whichever agent is asked.  The hook that the SDK has for messages is called
with a session only, which is why the message is rewritten here.  `prepare` makes the two changes for a `Runner.run` of
your own.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

from filerefs import swap_section
from filerefs.integrations.shared import open_files, tell
from filerefs.messages import media_parts, rewrite_content, text_of
from filerefs.retrieval import file_tools

try:
    from agents import FunctionTool, Runner
    from agents.run import ModelInputData, RunConfig
except ImportError as error:
    from filerefs.integrations.extras import lacking

    raise lacking(__name__, "openai-agents", error) from error

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from agents import Agent, RunResult, RunResultStreaming, RunState, TResponseInputItem
    from agents.run import CallModelData, CallModelInputFilter, RunOptions
    from agents.tool_context import ToolContext
    from typing_extensions import Unpack

    from filerefs import Preprocessor, Turn
    from filerefs.retrieval import Tool

    Input: TypeAlias = str | list[TResponseInputItem] | RunState[Any]

__all__ = ["FileRefs", "Prepared"]

TContext = TypeVar("TContext")


class Prepared(NamedTuple):
    """
    What to hand to a `Runner` for one message.

    Attributes:
        input: The message, or the items with the last message rewritten.
        run_config: For this message alone; a run that goes on from a `RunState` takes the one that it began with.
        turn: What became of the message; None where nothing is the person's, as in a `RunState`.

    .. versionadded:: 0.1
    """

    input: Input
    run_config: RunConfig
    turn: Turn | None


class FileRefs:
    """
    Runs agents on messages that name files.

    May be shared by agents, sessions and runs at the same time: nothing is kept from one run to the next.

    Args:
        files: The folder that names are relative to, or a `Preprocessor` for everything else that can be set.
        on_turn: Called with each turn that has references or warnings, for the host to print them.
        tools: Whether the agent that a run starts with gets `tools`; others get what you give them.
        media: Whether images and PDFs that are named become parts of the message.  A `Preprocessor` says so itself.

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
    ) -> None:
        self._files = open_files(files, media=media)
        self._on_turn = on_turn
        self._gives_tools = tools
        self.tools = [_function_tool(tool) for tool in file_tools(self._files)]

    async def run(self, starting_agent: Agent[TContext], input: Input, **options: Unpack[RunOptions[TContext]]) -> RunResult:  # noqa: A002 (Runner calls it so)
        """Do what `Runner.run` does, for a message that may name files; *options* are its own."""
        prepared = await self.prepare_async(input, options.get("run_config"))
        options["run_config"] = prepared.run_config
        return await Runner.run(self._with_tools(starting_agent), prepared.input, **options)

    def run_sync(self, starting_agent: Agent[TContext], input: Input, **options: Unpack[RunOptions[TContext]]) -> RunResult:  # noqa: A002
        """Do what `Runner.run_sync` does, for a message that may name files; *options* are its own."""
        prepared = self.prepare(input, options.get("run_config"))
        options["run_config"] = prepared.run_config
        return Runner.run_sync(self._with_tools(starting_agent), prepared.input, **options)

    def run_streamed(self, starting_agent: Agent[TContext], input: Input, **options: Unpack[RunOptions[TContext]]) -> RunResultStreaming:  # noqa: A002
        """
        Do what `Runner.run_streamed` does, for a message that may name files; *options* are its own.

        Files are read before it returns; in a busy event loop, `prepare_async` reads them in a thread.
        """
        prepared = self.prepare(input, options.get("run_config"))
        options["run_config"] = prepared.run_config
        return Runner.run_streamed(self._with_tools(starting_agent), prepared.input, **options)

    def prepare(self, input: Input, run_config: RunConfig | Mapping[str, Any] | None = None) -> Prepared:  # noqa: A002
        """
        Return what to hand to a `Runner` instead of *input* and *run_config*.

        The person's message is *input*, or its last item, not counting those of the developer behind it.  A filter that
        *run_config* has is called first; the section stands behind what it returns.
        """
        message = _message_in(input)
        return self._prepared(input, run_config, None if message is None else self._files.preprocess(message))

    async def prepare_async(self, input: Input, run_config: RunConfig | Mapping[str, Any] | None = None) -> Prepared:  # noqa: A002
        """Do what `prepare` does in a thread, so that the event loop goes on while files are read."""
        message = _message_in(input)
        return self._prepared(input, run_config, None if message is None else await self._files.preprocess_async(message))

    def _prepared(self, given: Input, run_config: RunConfig | Mapping[str, Any] | None, turn: Turn | None) -> Prepared:
        settings = RunConfig(**run_config) if isinstance(run_config, Mapping) else run_config or RunConfig()
        if turn is None:
            return Prepared(given, settings, None)
        tell(self._on_turn, turn)
        users = settings.call_model_input_filter
        if turn.section or users is not None:
            settings = replace(settings, call_model_input_filter=_placing(turn.section, users))
        return Prepared(_rewritten(given, turn), settings, turn)

    def _with_tools(self, agent: Agent[TContext]) -> Agent[TContext]:
        if not self._gives_tools:
            return agent
        names = {tool.name for tool in agent.tools}
        # The agent that a run ended with, and the next one starts with, has them already.
        missing = [tool for tool in self.tools if tool.name not in names]
        return agent.clone(tools=[*agent.tools, *missing]) if missing else agent


def _placing(section: str, users: CallModelInputFilter | None) -> CallModelInputFilter:
    """Return a filter that puts *section* behind the instructions of each request, in place of another that is there."""

    async def place(data: CallModelData[Any]) -> ModelInputData:
        given = data.model_data
        if users is not None:
            filtered = users(data)
            given = await filtered if inspect.isawaitable(filtered) else filtered
        return replace(given, instructions=swap_section(given.instructions or "", section) or None)

    return place


def _message_in(given: Input) -> str | None:
    """Return what the person typed last; None if that was answered, or is none of the person's."""
    if isinstance(given, str):
        return given
    index = _index_of_message(given)
    return None if index is None else text_of(_items(given)[index]["content"])


def _items(given: Input) -> list[Any]:
    # Which keys an item has is said by two dozen types; those of messages are all that is read.
    return cast("list[Any]", given) if isinstance(given, list) else []


def _index_of_message(given: Input) -> int | None:
    items = _items(given)
    for index in range(len(items) - 1, -1, -1):
        item = items[index]
        role = item.get("role") if isinstance(item, Mapping) else None
        if role == "user":
            return index
        if role not in {"developer", "system"}:
            return None
    return None


def _rewritten(given: Input, turn: Turn) -> Input:
    """Return *given* with the message of *turn* rewritten and its media behind it; items are not changed in place."""
    if isinstance(given, str) and not turn.media:
        return turn.message
    items = [{"role": "user", "content": given}] if isinstance(given, str) else _items(given)
    index = 0 if isinstance(given, str) else _index_of_message(given) or 0
    content = rewrite_content(items[index]["content"], turn)
    if turn.media:
        parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
        content = [*parts, *media_parts(turn, "responses")]
    return cast("Input", [*items[:index], {**items[index], "content": content}, *items[index + 1 :]])


def _function_tool(tool: Tool) -> FunctionTool:
    async def invoke(_: ToolContext[Any], arguments: str) -> str:
        return await asyncio.to_thread(tool.run, arguments)

    # A strict schema has no arguments that may be left out.
    return FunctionTool(tool.name, tool.description, dict(tool.parameters), invoke, strict_json_schema=False)
