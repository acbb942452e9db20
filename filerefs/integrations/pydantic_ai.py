"""
Pydantic AI: capabilities that give a run the files its prompt names, and the instruction files of its project.

    agent = Agent(model, instructions="…", capabilities=[FileRefs("."), AgentsMd(".")])

The section is the end of the instructions while a request is made.  Once that was answered it is taken out of the
request that the history keeps, which has the rewritten prompt and, in its metadata, what was typed: a run that goes on
without a prompt of its own (behind an approval, say) reads the files again from that.  An agent that is run within a
tool of another one has the section of that one's prompt, since its own was written by a model.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from filerefs import strip_section, swap_section
from filerefs.integrations.shared import instruction_tools, instructions_of, note_of, open_files, open_loader, tell, warnings_of
from filerefs.messages import is_section_part, rewrite_content, text_of
from filerefs.retrieval import file_tools

try:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import BinaryContent, ModelRequest, TextContent, UserPromptPart
    from pydantic_ai.tools import Tool
    from pydantic_ai.toolsets import FunctionToolset
except ImportError as error:
    from filerefs.integrations.extras import lacking

    raise lacking(__name__, "pydantic-ai", error) from error

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pydantic_ai import RunContext
    from pydantic_ai.capabilities.abstract import ValidatedToolArgs, WrapModelRequestHandler, WrapToolExecuteHandler
    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponse, ToolCallPart, UserContent
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.tools import ToolDefinition

    from filerefs import Preprocessor, Turn, agentsmd
    from filerefs.retrieval import Tool as PlainTool

__all__ = ["METADATA", "AgentsMd", "FileRefs"]

METADATA = "filerefs"
"""
The key in `ModelRequest.metadata` of a prompt that named something: a dict of lists of texts, "typed", "warnings" and "notices".

.. versionadded:: 0.1
"""

_caller: ContextVar[Turn | None] = ContextVar("filerefs_caller", default=None)
"""While a tool is run: the turn of the run that it belongs to."""


@dataclass
class FileRefs(AbstractCapability[Any]):
    """
    Gives each run the files that its prompt names.

    May be shared by agents, and by runs at the same time: each run has a copy that keeps what is its own.

    Args:
        files: The folder that names are relative to, or a `Preprocessor` for everything else that can be set.
        on_turn: Called with each turn that has references or warnings, for the host to print them.
        tools: Whether the model gets `read_ref` and `list_files`.
        media: Whether images and PDFs that are named become parts of the message.  A `Preprocessor` says so itself.
        id: What the run calls the capability.

    Raises:
        RootNotFoundError: If the folder is none.

    .. versionadded:: 0.1
    """

    files: Preprocessor | str | os.PathLike[str] = "."
    _: KW_ONLY
    on_turn: Callable[[Turn], None] | None = None
    tools: bool = False
    media: bool = False
    id: str | None = "filerefs"
    _preprocessor: Preprocessor = field(init=False, repr=False, compare=False)
    _turn: Turn | None = field(default=None, init=False, repr=False, compare=False)
    _typed: list[str] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.files = self._preprocessor = open_files(self.files, media=self.media)

    async def for_run(self, ctx: RunContext[Any]) -> FileRefs:
        """Return the copy for one run, which has read the files that its prompt names."""
        turn, typed = await self._read(ctx)
        run = replace(self)
        run._turn, run._typed = turn, typed  # noqa: SLF001 (it is of this class)
        return run

    async def _read(self, ctx: RunContext[Any]) -> tuple[Turn, list[str] | None]:
        """Return the turn of a run and, if its prompt has to be rewritten, the texts of that."""
        callers = _caller.get()
        if callers is not None:
            return callers, None
        typed, is_new = _typed_in(ctx)
        turn = await self._preprocessor.preprocess_async(text_of(typed))
        return turn, typed if is_new and tell(self.on_turn, turn) else None

    async def before_model_request(self, ctx: RunContext[Any], request_context: ModelRequestContext) -> ModelRequestContext:
        """Put the section behind the instructions; the first time, the rewritten prompt in place of the typed one."""
        if self._turn is not None and self._typed is not None:
            # The history and what is sent are two lists of, usually, the same messages.
            _rewrite(request_context.messages, self._typed, self._turn)
            _rewrite(ctx.messages, self._typed, self._turn)
            self._typed = None
        if self._turn is not None and self._turn.section:
            _place(request_context, self._turn.section)
        return request_context

    async def wrap_model_request(self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: WrapModelRequestHandler) -> ModelResponse:
        """Make the request, and take the section out of what the history keeps of it."""
        try:
            return await handler(request_context)
        finally:
            for message in ctx.messages:
                if isinstance(message, ModelRequest) and message.instructions:
                    message.instructions = strip_section(message.instructions) or None

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],  # noqa: ARG002 (the framework passes it)
        *,
        call: ToolCallPart,  # noqa: ARG002
        tool_def: ToolDefinition,  # noqa: ARG002
        args: ValidatedToolArgs,
        handler: WrapToolExecuteHandler,
    ) -> Any:  # noqa: ANN401 (whatever the tool returns)
        """Run a tool; agents that it runs take the turn of this run."""
        token = _caller.set(self._turn)
        try:
            return await handler(args)
        finally:
            _caller.reset(token)

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tools by which the model reads and lists, if it is to have them."""
        return _toolset(file_tools(self._preprocessor), self.id) if self.tools else None

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Return None: a handle on a folder is in no specification."""
        return None


@dataclass
class AgentsMd(AbstractCapability[Any]):
    """
    Gives each run the instruction files of a project (AGENTS.md), read anew when it begins.

    Args:
        files: Where the search begins, or a `Loader` for everything else that can be set: profile, budget, user-wide files.
        on_warning: Called with a sentence for whatever was left out or could not be read.
        catalog: Whether the instructions show the opening of each file alone, for the model to fetch the rest by the tools.
        tools: Whether the model gets `project_list` and `project_get`, where there is a file; with *catalog* it always does.
        id: What the run calls the capability.

    .. versionadded:: 0.1
    """

    files: agentsmd.Loader | str | os.PathLike[str] = "."
    _: KW_ONLY
    on_warning: Callable[[str], object] | None = None
    catalog: bool = False
    tools: bool = False
    id: str | None = "agentsmd"
    _loader: agentsmd.Loader = field(init=False, repr=False, compare=False)
    _found: agentsmd.Discovery | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.files = self._loader = open_loader(self.files)

    async def for_run(self, ctx: RunContext[Any]) -> AgentsMd:  # noqa: ARG002 (the framework passes it)
        """Return the copy for one run, which has read the files."""
        run = replace(self)
        run._found = found = await asyncio.to_thread(self._loader.run().load)  # noqa: SLF001 (it is of this class)
        if self.on_warning is not None:
            for sentence in warnings_of(found):
                self.on_warning(sentence)
        return run

    def get_instructions(self) -> str | None:
        """Return the text of the files, or their openings; None outside of a run and where there are none."""
        if self._found is None:
            return None
        return instructions_of(self._found, catalog=self.catalog) or None

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tools by which the model fetches the files, if it is to have them and there are any."""
        if self._found is None or not (self.catalog or self.tools):
            return None
        plain = instruction_tools(self._found, catalog=self.catalog)
        return _toolset(plain, self.id) if plain else None

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Return None: what a run reads is in no specification."""
        return None


def _typed_in(ctx: RunContext[Any]) -> tuple[list[str], bool]:
    """
    Return the texts of the person's last message as they were typed, and whether this run is the first that sees them.

    It is the prompt; without one, what the last prompt of the history keeps of itself, or, where nothing has answered
    that prompt yet, its texts.
    """
    if ctx.prompt is not None:
        return _texts(ctx.prompt), True
    prompts = (message for message in reversed(ctx.messages) if isinstance(message, ModelRequest) and any(_prompts_of(message)))
    last = next(prompts, None)
    if last is None:
        return [], False
    kept = (last.metadata or {}).get(METADATA)
    if kept is not None:
        return list(kept["typed"]), False
    return (_texts_of(last), True) if last is ctx.messages[-1] else ([], False)


def _prompts_of(message: ModelRequest) -> Iterator[UserPromptPart]:
    return (part for part in message.parts if isinstance(part, UserPromptPart))


def _texts_of(message: ModelRequest) -> list[str]:
    return [text for prompt in _prompts_of(message) for text in _texts(prompt.content)]


def _texts(content: str | Sequence[UserContent]) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [piece if isinstance(piece, str) else piece.content for piece in content if isinstance(piece, str | TextContent)]


def _rewrite(messages: Iterable[ModelMessage], typed: list[str], turn: Turn) -> None:
    """Put the rewritten texts in place of the *typed* ones, and media behind them, in the last of *messages* that has them."""
    rewritten = rewrite_content(typed, turn)
    for message in reversed(list(messages)):
        texts = _texts_of(message) if isinstance(message, ModelRequest) else []
        if isinstance(message, ModelRequest) and texts in (typed, rewritten):
            if METADATA not in (message.metadata or {}):
                _rewrite_parts(message, rewritten, turn)
                message.metadata = {**(message.metadata or {}), METADATA: note_of(turn, typed)}
            return


def _rewrite_parts(message: ModelRequest, rewritten: list[str], turn: Turn) -> None:
    # The parts may be those of the caller's own message, which stays as it is.
    texts = iter(rewritten)
    parts = [_with_texts(part, texts) for part in message.parts]
    if turn.media:
        index = max(index for index, part in enumerate(parts) if isinstance(part, UserPromptPart))
        last = parts[index]
        if isinstance(last, UserPromptPart):
            content = [last.content] if isinstance(last.content, str) else last.content
            media = [BinaryContent(medium.data or b"", media_type=medium.media_type or "") for medium in turn.media]
            parts[index] = replace(last, content=[*content, *media])
    message.parts = parts


def _with_texts(part: ModelRequestPart, texts: Iterator[str]) -> ModelRequestPart:
    if not isinstance(part, UserPromptPart):
        return part
    if isinstance(part.content, str):
        return replace(part, content=next(texts))
    return replace(part, content=[_with_text(piece, texts) for piece in part.content])


def _with_text(piece: UserContent, texts: Iterator[str]) -> UserContent:
    if isinstance(piece, str):
        return next(texts)
    return replace(piece, content=next(texts)) if isinstance(piece, TextContent) else piece


def _place(request_context: ModelRequestContext, section: str) -> None:
    """Put *section* behind the instructions of a request."""
    last = request_context.messages[-1]
    if isinstance(last, ModelRequest):
        last.instructions = swap_section(last.instructions or "", section)
    parameters = request_context.model_request_parameters
    # Before 1.80 instructions are a text and nothing else; since then models read the parts.
    if hasattr(parameters, "instruction_parts"):
        from pydantic_ai.messages import InstructionPart

        parts = [part for part in parameters.instruction_parts or [] if not is_section_part(part.content)]
        # Parts are joined by the two newlines that a section behind a text counts as its own.
        content = swap_section("-", section).removeprefix("-\n\n") if parts else section
        request_context.model_request_parameters = replace(parameters, instruction_parts=[*parts, InstructionPart(content, dynamic=True)])


def _toolset(plain: Iterable[PlainTool], name: str | None) -> FunctionToolset[Any]:
    return FunctionToolset([_tool(tool) for tool in plain], id=name)


def _tool(plain: PlainTool) -> Tool[Any]:
    def call(**arguments: Any) -> str:  # noqa: ANN401 (whatever the model writes)
        return plain.run(arguments)

    return Tool.from_schema(call, plain.name, plain.description, dict(plain.parameters))
