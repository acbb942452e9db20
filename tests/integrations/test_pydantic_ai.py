"""The capabilities for Pydantic AI, on real agents with an offline model."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import copy
import gc
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

pytest.importorskip("pydantic_ai.capabilities", reason="needs filerefs[pydantic-ai]")

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel

from filerefs import Preprocessor, preprocess
from filerefs.agentsmd import Loader, render
from filerefs.errors import RootNotFoundError
from filerefs.integrations.pydantic_ai import METADATA, AgentsMd, FileRefs

from ..docs.blocks import execute, read  # noqa: TID252 (tests are no package that has a name)
from ..docs.grammar_examples import REPOSITORY  # noqa: TID252
from .contract import SYSTEM, Answer, Call, Offer, Sent, ToolContract

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from pathlib import Path

    from conftest import Tree
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models.function import AgentInfo
    from pydantic_ai.tools import ToolDefinition

    from filerefs import Turn

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
FILES = {"a.py": "ALPHA = 1\n", "b.py": "BRAVO = 2\n", "pixel.png": PNG, "AGENTS.md": "Use tabs.\n"}

# Not a class that pytest should collect.
TestModel.__test__ = False  # type: ignore[attr-defined]


@pytest.fixture
def folder(tree: Tree) -> Path:
    return tree(FILES)


@pytest.fixture(autouse=True, scope="module")
def _no_search_in_the_framework() -> Iterator[None]:
    """Spare the collections that look for open files behind each test what the framework made when it was loaded."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """Close the event loop that `run_sync` would leave open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    asyncio.set_event_loop(None)


class Script:
    """A model that says *answers* in order, then "ok" for ever; an exception in it is raised."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.instructions: list[str] = []
        self.messages: list[list[ModelMessage]] = []
        self.tools: list[list[str]] = []
        self.offered: list[ToolDefinition] = []

    @property
    def model(self) -> FunctionModel:
        return FunctionModel(self._answer, stream_function=self._stream)

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> Any:
        self.instructions.append(info.instructions or "")
        self.messages.append(list(messages))
        self.tools.append([tool.name for tool in info.function_tools])
        self.offered = list(info.function_tools)
        answer = self.answers.pop(0) if self.answers else "ok"
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        answer = self._next(messages, info)
        return ModelResponse(parts=[TextPart(answer) if isinstance(answer, str) else answer])

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        answer = self._next(messages, info)
        if isinstance(answer, str):
            for word in answer.split(" "):
                yield f"{word} " if answer.rpartition(" ")[2] != word else word
        else:
            yield {0: DeltaToolCall(name=answer.tool_name, json_args=answer.args_as_json_str())}


def run(agent: Agent[None, Any], prompt: Any = None, *, way: str = "async", **options: Any) -> Any:
    """Return the result of a run in one of the ways there are."""
    return agent.run_sync(prompt, **options) if way == "sync" else asyncio.run(WAYS[way](agent, prompt, options))


async def _run(agent: Agent[None, Any], prompt: Any, options: dict[str, Any]) -> Any:
    return await agent.run(prompt, **options)


async def _stream(agent: Agent[None, Any], prompt: Any, options: dict[str, Any]) -> Any:
    async with agent.run_stream(prompt, **options) as stream:
        async for _ in stream.stream_text():
            pass
        return stream


async def _iter(agent: Agent[None, Any], prompt: Any, options: dict[str, Any]) -> Any:
    async with agent.iter(prompt, **options) as steps:
        async for _ in steps:
            pass
        return steps.result


WAYS: dict[str, Callable[..., Any]] = {"async": _run, "stream": _stream, "iter": _iter}
EACH_WAY = pytest.mark.parametrize("way", ["sync", *WAYS])


class Talk:
    """A conversation with an agent, whose history is handed over with each message; as JSON, as a host may keep it."""

    def __init__(self, capabilities: Sequence[AbstractCapability[Any]], *answers: Answer, way: str) -> None:
        results = [answer.result for answer in answers if isinstance(answer, Call)]
        self.script = Script(*(ToolCallPart("look", {}) if isinstance(answer, Call) else answer for answer in answers))
        look = Tool(lambda: results.pop(0), takes_ctx=False, name="look")
        self.agent = Agent(self.script.model, instructions=SYSTEM, tools=[look], capabilities=capabilities)
        self.history = b"[]"
        self.way = way

    def send_parts(self, *texts: str) -> Sent:
        return self.send(texts)

    def send(self, message: str | Sequence[str]) -> Sent:
        before = len(self.script.messages)
        result = run(self.agent, message, way=self.way, message_history=ModelMessagesTypeAdapter.validate_json(self.history))
        self.history = result.all_messages_json()
        assert b"filerefs:begin" not in self.history
        metadata = [new.metadata or {} for new in result.new_messages() if isinstance(new, ModelRequest)]
        return Sent(
            systems=self.script.instructions[before:],
            conversation=conversation(self.script.messages[-1]),
            warnings=[warning for kept in metadata for warning in kept.get(METADATA, {}).get("warnings", [])],
        )


ROLES = {UserPromptPart: "user", TextPart: "assistant", ToolReturnPart: "tool", RetryPromptPart: "tool"}


def conversation(messages: Sequence[ModelMessage]) -> list[tuple[str, str]]:
    return [(ROLES[type(part)], str(part.content)) for message in messages for part in message.parts if type(part) in ROLES]  # type: ignore[union-attr]


def prompts(messages: Sequence[ModelMessage]) -> list[Any]:
    return [part.content for message in messages for part in message.parts if isinstance(part, UserPromptPart)]


def use(files: FileRefs, tool: str, arguments: dict[str, Any]) -> str:
    """Return what *tool* answers to a model that calls it."""
    result = run(Agent(Script(ToolCallPart(tool, arguments), "done").model, capabilities=[files]), "call it")
    [answer] = [str(part.content) for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]
    return answer


class TestRun(ToolContract):
    """The contract, for `run`."""

    way: ClassVar[str] = "async"

    @pytest.fixture(autouse=True)
    def _opened(self) -> Iterator[None]:
        # The framework's threads, in which tools run, hold the last one until they end.
        self.opened = contextlib.ExitStack()
        with self.opened:
            yield

    def open(self, folder: Path, *answers: Answer) -> Talk:
        return Talk([FileRefs(folder)], *answers, way=self.way)

    def offer(self, folder: Path) -> list[Offer]:
        files = FileRefs(self.opened.enter_context(Preprocessor(folder)), tools=True)
        talk = Talk([files], way=self.way)
        talk.send("hello")
        return [Offer(tool.name, tool.description, tool.parameters_json_schema, partial(use, files, tool.name)) for tool in talk.script.offered]

    def open_pair(self, folder: Path) -> tuple[Talk, Talk]:
        shared = FileRefs(folder)
        return Talk([shared], way=self.way), Talk([shared], way=self.way)


class TestRunSync(TestRun):
    """The contract, for `run_sync`."""

    way = "sync"


class TestRunStream(TestRun):
    """The contract, for `run_stream`."""

    way = "stream"


class TestIter(TestRun):
    """The contract, for `iter`."""

    way = "iter"


class TestPrompt:
    """What counts as the prompt of a run, and what becomes of it."""

    def test_pieces_are_one_prompt(self, folder: Path) -> None:
        """Texts of a list are read as one prompt and rewritten each in its place; everything else in it stays."""
        image = ImageUrl("https://example.org/@a.py.png")
        script = Script()
        agent = Agent(script.model, capabilities=[FileRefs(folder)])

        result = run(agent, ["first @a.py\nand", image, TextContent("then @b.py:1", metadata={"kept": 1})])

        assert [["first a.py\nand", image, TextContent("then b.py:1", metadata={"kept": 1})]] == prompts(result.all_messages())
        assert all(text in script.instructions[0] for text in ("ALPHA", "BRAVO"))

    def test_the_callers_pieces_stay_as_they_are(self, folder: Path) -> None:
        """The list that was handed over is not changed."""
        given = ["see @a.py"]

        run(Agent(Script().model, capabilities=[FileRefs(folder)]), given)

        assert ["see @a.py"] == given

    @EACH_WAY
    def test_a_history_that_ends_in_a_prompt(self, folder: Path, way: str) -> None:
        """Where nothing has answered the last prompt of the history, as hosts of web chats run agents, it is the message."""
        script = Script()
        agent = Agent(script.model, capabilities=[FileRefs(folder)])
        given = ModelRequest(parts=[UserPromptPart("see @a.py")])

        result = run(agent, way=way, message_history=[given])

        assert "ALPHA" in script.instructions[0]
        assert ["see a.py"] == prompts(result.all_messages())
        assert ["see @a.py"] == prompts([given])

    def test_behind_a_capability_that_copies(self, folder: Path) -> None:
        """Where another capability sends copies of the history's messages, both have the rewritten prompt."""

        class Copier(AbstractCapability[Any]):
            async def before_model_request(self, ctx: Any, request_context: Any) -> Any:  # noqa: ARG002
                return replace(request_context, messages=copy.deepcopy(list(request_context.messages)))

        script = Script()

        result = run(Agent(script.model, instructions=SYSTEM, capabilities=[Copier(), FileRefs(folder)]), "see @a.py")

        assert ["see a.py"] == prompts(script.messages[0]) == prompts(result.all_messages())
        assert [preprocess("see @a.py", SYSTEM, root=folder).prompt] == script.instructions
        assert b"filerefs:begin" not in result.all_messages_json()

    def test_a_history_that_was_answered(self, folder: Path) -> None:
        """What other programs left in a history is never read, even if the prompt of now has the same words."""
        script = Script()
        agent = Agent(script.model, instructions=SYSTEM, capabilities=[FileRefs(folder)])
        past: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart("see @a.py")]), ModelResponse(parts=[TextPart("@b.py")])]

        first = run(agent, "see @a.py", message_history=past)
        run(agent, message_history=past)

        assert ["see @a.py", "see a.py"] == prompts(first.all_messages())
        assert [SYSTEM] == script.instructions[1:]

    def test_media(self, folder: Path) -> None:
        """An image that is named stands behind the text, once, and stays in the history as any other does."""
        script = Script()
        agent = Agent(script.model, capabilities=[FileRefs(folder, media=True)])

        result = run(agent, "what is @pixel.png?")
        result = run(agent, "and now?", message_history=result.all_messages())

        [first, second] = prompts(result.all_messages())
        assert "what is pixel.png?" == first[0]
        assert [(PNG, "image/png")] == [(part.data, part.media_type) for part in first if isinstance(part, BinaryContent)]
        assert "and now?" == second

    def test_media_without_being_asked_for(self, folder: Path) -> None:
        """By default an image is a line in the section."""
        result = run(Agent(Script().model, capabilities=[FileRefs(folder)]), "what is @pixel.png?")

        assert ["what is pixel.png?"] == prompts(result.all_messages())


class TestHistory:
    """What a run leaves behind."""

    @EACH_WAY
    def test_no_request_keeps_the_section(self, folder: Path, way: str) -> None:
        """The instructions in the history are those of the agent, after each step of each run."""
        script = Script(ToolCallPart("look", {}), "done")
        agent = Agent(script.model, instructions=SYSTEM, tools=[Tool(lambda: "seen", takes_ctx=False, name="look")], capabilities=[FileRefs(folder)])

        result = run(agent, "see @a.py", way=way)

        requests = [message for message in result.all_messages() if isinstance(message, ModelRequest)]
        assert [SYSTEM, SYSTEM] == [request.instructions for request in requests]
        assert all("ALPHA" in sent for sent in script.instructions)
        assert 2 == len(script.instructions)

    def test_without_instructions(self, folder: Path) -> None:
        """An agent without instructions is sent the section alone, and its history has none."""
        script = Script()

        result = run(Agent(script.model, capabilities=[FileRefs(folder)]), "see @a.py")

        assert [preprocess("see @a.py", root=folder).section] == script.instructions
        assert None is result.all_messages()[0].instructions

    def test_what_the_prompt_named(self, folder: Path) -> None:
        """The metadata of the prompt say what was typed and what the person was told, and keep what else is in them."""
        agent = Agent(Script().model, capabilities=[FileRefs(folder)])
        request = ModelRequest(parts=[UserPromptPart("see @a.py and @no.py")], metadata={"ticket": 3})

        result = run(agent, message_history=[request])

        warnings = list(preprocess("see @a.py and @no.py", root=folder).warnings)
        kept = {"typed": ["see @a.py and @no.py"], "warnings": warnings, "notices": []}
        assert {"ticket": 3, METADATA: kept} == result.all_messages()[0].metadata
        assert {"ticket": 3} == request.metadata

    def test_a_prompt_that_names_nothing(self, folder: Path) -> None:
        """Nothing is noted where nothing is named."""
        result = run(Agent(Script().model, capabilities=[FileRefs(folder)]), "mail me@example.org")

        assert None is result.all_messages()[0].metadata

    @EACH_WAY
    def test_error_of_the_model(self, folder: Path, way: str) -> None:
        """A request that fails leaves no section, and trying again with the same history reads the files again."""
        script = Script(ValueError("overloaded"))
        turns: list[Turn] = []
        agent = Agent(script.model, instructions=SYSTEM, capabilities=[FileRefs(folder, on_turn=turns.append)])
        history: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart("see @a.py")])]

        with pytest.raises(ValueError, match="overloaded"):
            run(agent, way=way, message_history=history)
        result = run(agent, way=way, message_history=history)

        assert script.instructions[0] == script.instructions[1]
        assert b"filerefs:begin" not in result.all_messages_json()

    def test_a_stream_that_is_left(self, folder: Path) -> None:
        """A stream that nobody reads to its end leaves no section either."""
        agent = Agent(Script("one two three").model, instructions=SYSTEM, capabilities=[FileRefs(folder)])

        async def leave() -> Any:
            async with agent.run_stream("see @a.py") as stream:
                async for _ in stream.stream_text(debounce_by=None):
                    break
            return stream

        assert b"filerefs:begin" not in asyncio.run(leave()).all_messages_json()


class TestOneTurn:
    """All requests that a message leads to have its section, over however many runs."""

    # A stream of text cannot end in calls.
    @pytest.mark.parametrize("way", ["sync", "async", "iter"])
    def test_an_approval(self, folder: Path, way: str) -> None:
        """A run that goes on with an approved call has the files of the message, as they are now, and warns of nothing twice."""
        script = Script(ToolCallPart("delete", {}, tool_call_id="1"), "done")
        turns: list[Turn] = []
        agent: Agent[None, Any] = Agent(
            script.model,
            output_type=[str, DeferredToolRequests],
            tools=[Tool(lambda: "deleted", takes_ctx=False, name="delete", requires_approval=True)],
            capabilities=[FileRefs(folder, on_turn=turns.append)],
        )
        first = run(agent, "clean up @a.py", way=way)
        history = ModelMessagesTypeAdapter.validate_json(first.all_messages_json())
        (folder / "a.py").write_text("CHANGED = 3\n", encoding="utf-8")

        result = run(agent, way=way, message_history=history, deferred_tool_results=DeferredToolResults(approvals={"1": True}))

        assert "done" == result.output
        assert "ALPHA" in script.instructions[0]
        assert "CHANGED" in script.instructions[1]
        assert ["clean up a.py"] == prompts(result.all_messages())
        assert 1 == len(turns)

    def test_a_tool_that_asks_to_try_again(self, folder: Path) -> None:
        """The request behind a failed call has the section, too."""
        script = Script(ToolCallPart("look", {}), "done")

        def look() -> str:
            raise ModelRetry("not now")

        run(Agent(script.model, tools=[Tool(look, takes_ctx=False, name="look")], capabilities=[FileRefs(folder)]), "see @a.py")

        assert script.instructions[0] == script.instructions[1]
        assert "ALPHA" in script.instructions[1]

    def test_an_output_that_is_refused(self, folder: Path) -> None:
        """The request for a better output has the section, too."""
        script = Script("bad", "good")
        agent = Agent(script.model, capabilities=[FileRefs(folder)])

        @agent.output_validator
        def validate(output: str) -> str:
            if output == "bad":
                raise ModelRetry("better, please")
            return output

        assert "good" == run(agent, "see @a.py").output
        assert script.instructions[0] == script.instructions[1]
        assert "ALPHA" in script.instructions[1]


class TestAgents:
    """One capability, many agents and runs."""

    def test_runs_at_the_same_time(self, folder: Path) -> None:
        """Runs of one agent that wait for each other have their own files each."""
        script = Script(*(ToolCallPart("meet", {}) for _ in range(2)))
        waiting: list[asyncio.Event] = []

        async def meet() -> str:
            waiting.append(asyncio.Event())
            if len(waiting) == 2:
                for event in waiting:
                    event.set()
            await waiting[-1].wait() if len(waiting) == 2 else await waiting[0].wait()
            return "met"

        agent = Agent(script.model, tools=[Tool(meet, takes_ctx=False)], capabilities=[FileRefs(folder)])

        async def both() -> Any:
            return await asyncio.gather(agent.run("see @a.py"), agent.run("see @b.py"))

        asyncio.run(both())

        for sent, messages in zip(script.instructions, script.messages, strict=True):
            [prompt] = prompts(messages)
            assert ("ALPHA" in sent, "BRAVO" in sent) == ("a.py" in prompt, "b.py" in prompt)
        assert 4 == len(script.instructions)

    @EACH_WAY
    def test_an_agent_in_a_tool(self, folder: Path, way: str) -> None:
        """What a model writes to another agent attaches nothing; that agent has the section of the person's message."""
        inner, outer = Script(), Script(ToolCallPart("ask", {"question": "what is in @b.py?"}), "done")
        shared = FileRefs(folder)
        helper = Agent(inner.model, instructions=SYSTEM, capabilities=[shared])

        async def ask(question: str) -> str:
            return (await helper.run(question)).output

        run(Agent(outer.model, instructions=SYSTEM, tools=[Tool(ask, takes_ctx=False)], capabilities=[shared]), "see @a.py", way=way)

        assert [preprocess("see @a.py", SYSTEM, root=folder).prompt] * 3 == outer.instructions + inner.instructions
        assert ["what is in @b.py?"] == prompts(inner.messages[0])

    def test_an_agent_behind_a_tool(self, folder: Path) -> None:
        """A run that follows another one is nobody's helper."""
        script = Script(ToolCallPart("look", {}), "done")
        look = Tool(lambda: "seen", takes_ctx=False, name="look")
        agent = Agent(script.model, tools=[look], capabilities=[FileRefs(folder)])

        async def both() -> None:
            await agent.run("see @a.py")
            await agent.run("see @b.py")

        asyncio.run(both())

        assert "BRAVO" in script.instructions[-1]

    def test_an_agent_without_the_capability(self, folder: Path) -> None:
        """A helper that does not have it is sent nothing."""
        inner, outer = Script(), Script(ToolCallPart("ask", {}), "done")
        helper = Agent(inner.model, instructions=SYSTEM)

        async def ask() -> str:
            return (await helper.run("what is in @b.py?")).output

        run(Agent(outer.model, tools=[Tool(ask, takes_ctx=False)], capabilities=[FileRefs(folder)]), "see @a.py")

        assert [SYSTEM] == inner.instructions

    def test_override(self, folder: Path) -> None:
        """Whatever instructions and model a test or a tenant has instead, the section is behind them."""
        script = Script()
        agent = Agent(TestModel(), instructions=SYSTEM, capabilities=[FileRefs(folder)])

        with agent.override(model=script.model, instructions="Answer in French."):
            run(agent, "see @a.py")

        assert [preprocess("see @a.py", "Answer in French.", root=folder).prompt] == script.instructions

    def test_the_frameworks_test_model(self, folder: Path) -> None:
        """The model that calls every tool with made-up arguments ends its run: what it writes does not raise."""
        result = run(Agent(TestModel(), capabilities=[FileRefs(folder, tools=True), AgentsMd(folder, catalog=True)]), "see @a.py")

        assert {"read_ref", "list_files", "project_list", "project_get"} == {
            part.tool_name for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)
        }


class TestOptions:
    """What can be set."""

    def test_tools(self, folder: Path) -> None:
        """The model reads and lists what is in the folder, in a run whose prompt names nothing."""
        script = Script(ToolCallPart("read_ref", {"ref": "a.py"}), ToolCallPart("list_files", {"folder": 3}), "done")

        result = run(Agent(script.model, capabilities=[FileRefs(folder, tools=True)]), "what is here?")

        returned = [str(part.content) for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]
        assert [["read_ref", "list_files"]] * 3 == script.tools
        assert "ALPHA" in returned[0]
        assert "must be of the type string" in returned[1]

    def test_a_preprocessor(self, folder: Path) -> None:
        """A `Preprocessor` of one's own is used as it is, and left open."""
        (folder / ".env").write_text("TOKEN=1\n", encoding="utf-8")
        script = Script()

        with Preprocessor(folder, allow=[".env"]) as files:
            run(Agent(script.model, capabilities=[FileRefs(files)]), "see @.env")
            assert files.preprocess("see @a.py").attached

        assert "TOKEN=1" in script.instructions[0]

    def test_on_turn(self, folder: Path) -> None:
        """The host is told of each turn that names something, and of no other."""
        turns: list[Turn] = []
        agent = Agent(Script().model, capabilities=[FileRefs(folder, on_turn=turns.append)])

        for prompt in ("hello", "see @a.py", "see @no.py", "thanks"):
            run(agent, prompt)

        assert ["see @a.py", "see @no.py"] == [turn.original for turn in turns]

    def test_two_folders(self, folder: Path, tmp_path: Path) -> None:
        """An agent has one folder: the one of the last capability, in versions that do not refuse the second."""
        (tmp_path / "other").mkdir()
        (tmp_path / "other/a.py").write_text("OTHER = 4\n", encoding="utf-8")
        script = Script()

        try:
            run(Agent(script.model, capabilities=[FileRefs(folder), FileRefs(tmp_path / "other")]), "see @a.py")
        except UserError as error:
            assert "filerefs" in str(error)  # noqa: PT017 (some versions raise)
        else:
            assert [preprocess("see @a.py", root=tmp_path / "other").section] == script.instructions

    def test_no_specification_holds_them(self) -> None:
        """A file that describes an agent cannot name what opens a folder."""
        assert {None} == {FileRefs.get_serialization_name(), AgentsMd.get_serialization_name()}

    def test_error_no_folder(self, folder: Path) -> None:
        """A folder that is not there is a mistake that is told at once."""
        with pytest.raises(RootNotFoundError):
            FileRefs(folder / "missing")


class TestAgentsMd:
    """Instruction files as a capability."""

    @EACH_WAY
    def test_in_front_of_the_section(self, folder: Path, way: str) -> None:
        """The files of the project stand behind the agent's instructions, and the section is last."""
        script = Script()
        agent = Agent(script.model, instructions=SYSTEM, capabilities=[FileRefs(folder), AgentsMd(folder)])

        result = run(agent, "see @a.py", way=way)

        base = result.all_messages()[0].instructions
        assert [SYSTEM, *render(Loader(folder).read()).split()] == [base[: len(SYSTEM)], *base[len(SYSTEM) :].split()]
        assert [preprocess("see @a.py", base, root=folder).prompt] == script.instructions

    def test_read_anew(self, folder: Path) -> None:
        """Each run has the files as they are then, and every request of it the same."""
        script = Script("one", ToolCallPart("edit", {}))

        def edit() -> str:
            (folder / "AGENTS.md").write_text("Use 4 blanks.\n", encoding="utf-8")
            return "edited"

        agent = Agent(script.model, tools=[Tool(edit, takes_ctx=False)], capabilities=[AgentsMd(folder)])
        (folder / "AGENTS.md").unlink()
        run(agent, "hello")
        (folder / "AGENTS.md").write_text("Use 2 blanks.\n", encoding="utf-8")
        run(agent, "hello")
        run(agent, "hello")

        assert ["", "Use 2 blanks.", "Use 2 blanks.", "Use 4 blanks."] == [sent.rpartition("\n")[2] for sent in script.instructions]

    def test_catalogue(self, folder: Path) -> None:
        """With the catalogue, a long file is shown in part, and the model fetches the rest."""
        (folder / "AGENTS.md").write_text("Use tabs.\n" * 2000 + "\nThe last word.\n", encoding="utf-8")
        script = Script(ToolCallPart("project_get", {"name": "AGENTS.md"}), "done")

        result = run(Agent(script.model, capabilities=[AgentsMd(folder, catalog=True)]), "hello")

        assert "Use tabs." in script.instructions[0]
        assert "The last word." not in script.instructions[0]
        assert ["project_list", "project_get"] == script.tools[0]
        assert "The last word." in str(result.all_messages()[2].parts[0].content)

    def test_tools_alone(self, folder: Path) -> None:
        """Without the catalogue, the instructions hold the files, whether the tools are there or not."""
        script = Script()

        run(Agent(script.model, capabilities=[AgentsMd(folder, tools=True)]), "hello")
        run(Agent(script.model, capabilities=[AgentsMd(folder)]), "hello")

        assert [["project_list", "project_get"], []] == script.tools
        assert script.instructions[0] == script.instructions[1] == render(Loader(folder).read())

    def test_no_files(self, folder: Path) -> None:
        """Where there are none, neither a text nor a tool says so."""
        (folder / "AGENTS.md").unlink()
        script = Script()

        run(Agent(script.model, capabilities=[AgentsMd(folder, catalog=True, tools=True)]), "hello")

        assert ([""], [[]]) == (script.instructions, script.tools)

    def test_warnings(self, folder: Path) -> None:
        """What was left out is said once a run: to the function that was given, and to the loader's own."""
        given: list[str] = []
        loaders: list[str] = []
        loader = Loader(folder, budget=3, on_warning=loaders.append)

        run(Agent(Script().model, capabilities=[AgentsMd(loader, on_warning=given.append)]), "hello")

        assert given == loaders
        assert "AGENTS.md" in str(given)


def test_documentation(tree: Tree) -> None:
    """The sample of the page prints what the page says, and is about fifteen lines long."""
    [sample, printed] = read((REPOSITORY / "docs/integrations/pydantic-ai.md").read_text(encoding="utf-8"))[:2]
    project = tree({"greet.py": "print('hello')\n", "AGENTS.md": "Use tabs.\n"})
    script = Script("It prints hello.", "There is no such file.")

    output = execute(sample.text, project, {"model": script.model})

    assert printed.text == output
    assert len(sample.text.splitlines()) <= 18
    assert "Use tabs." in script.instructions[0]
