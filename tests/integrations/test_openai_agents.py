"""`FileRefs` for the OpenAI Agents SDK, on real runs with an offline model."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

pytest.importorskip("agents.run", reason="needs filerefs[openai-agents]")

from agents import Agent, FunctionTool, Model, ModelRetrySettings, ModelSettings, RunConfig, Runner, RunState, SQLiteSession, Usage, set_tracing_disabled
from agents.items import ModelResponse
from agents.run import ModelInputData
from openai.types.responses import Response, ResponseCompletedEvent, ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from filerefs import Preprocessor, preprocess, strip_section
from filerefs.errors import RootNotFoundError
from filerefs.integrations.openai_agents import FileRefs

from ..docs.blocks import execute, read  # noqa: TID252 (tests are no package that has a name)
from ..docs.grammar_examples import REPOSITORY  # noqa: TID252
from .contract import SYSTEM, Answer, Call, Offer, Sent, ToolContract, texts_of

try:
    from agents import testing
except ImportError:  # before 0.21
    testing = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
    from pathlib import Path

    from conftest import Tree

    from filerefs import Turn

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
FILES = {"a.py": "ALPHA = 1\n", "b.py": "BRAVO = 2\n", "pixel.png": PNG}


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
def _offline() -> Iterator[None]:
    """Send no traces, and close the event loop that `run_sync` would leave open."""
    set_tracing_disabled(True)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    asyncio.set_event_loop(None)


def wait(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return what *coroutine* returns, from the loop that `run_sync` uses, too."""
    return asyncio.get_event_loop().run_until_complete(coroutine)


def message(text: str) -> ResponseOutputMessage:
    text_part = ResponseOutputText(text=text, type="output_text", annotations=[], logprobs=[])
    return ResponseOutputMessage(id="message", type="message", role="assistant", status="completed", content=[text_part])


def calling(tool: str, **arguments: Any) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(name=tool, arguments=json.dumps(arguments), call_id=f"call-{tool}", type="function_call")


class Script(Model):
    """Says *answers* in order, then "ok" for ever; an exception in it is raised."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.systems: list[str] = []
        self.inputs: list[list[Any]] = []
        self.tools: list[list[str]] = []
        self.offered: list[Any] = []

    def _next(self, system: str | None, items: Any, tools: Sequence[Any]) -> list[Any]:
        self.systems.append(system or "")
        self.inputs.append([{"role": "user", "content": items}] if isinstance(items, str) else list(items))
        self.tools.append([tool.name for tool in tools])
        self.offered = list(tools)
        answer = self.answers.pop(0) if self.answers else "ok"
        if isinstance(answer, Exception):
            raise answer
        return [message(answer) if isinstance(answer, str) else answer]

    async def get_response(self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *_: Any, **__: Any) -> ModelResponse:  # noqa: A002, ARG002
        return ModelResponse(output=self._next(system_instructions, input, tools), usage=Usage(), response_id=None)

    async def stream_response(self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:  # noqa: A002, ARG002
        output = self._next(system_instructions, input, tools)
        response = Response(id="1", created_at=0, model="m", object="response", output=output, tool_choice="auto", tools=[], parallel_tool_calls=False)
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)


class Look(FunctionTool):
    """A tool that gives what it was made with, one after the other."""

    def __init__(self, *results: str, name: str = "look", **options: Any) -> None:
        left = list(results)

        async def invoke(_context: Any, _arguments: str) -> str:
            return left.pop(0) if left else "seen"

        super().__init__(name, "Looks.", {"type": "object", "properties": {}}, invoke, strict_json_schema=False, **options)


def run(runner: Any, agent: Agent[Any], given: Any, *, way: str = "run", **options: Any) -> Any:
    """Return the result of a run in one of the ways there are; *runner* is a `FileRefs` or `Runner`."""
    return runner.run_sync(agent, given, **options) if way == "run_sync" else wait(WAYS[way](runner, agent, given, options))


async def _run(runner: Any, agent: Agent[Any], given: Any, options: dict[str, Any]) -> Any:
    return await runner.run(agent, given, **options)


async def _run_streamed(runner: Any, agent: Agent[Any], given: Any, options: dict[str, Any]) -> Any:
    result = runner.run_streamed(agent, given, **options)
    async for _ in result.stream_events():
        pass
    return result


WAYS: dict[str, Callable[..., Any]] = {"run": _run, "run_streamed": _run_streamed}
EACH_WAY = pytest.mark.parametrize("way", ["run_sync", *WAYS])


class Talk:
    """A conversation: with a session, or with its items handed over each time."""

    def __init__(self, files: FileRefs, turns: list[Turn], *answers: Answer, way: str, has_session: bool) -> None:
        results = [answer.result for answer in answers if isinstance(answer, Call)]
        self.model = Script(*(calling("look") if isinstance(answer, Call) else answer for answer in answers))
        self.agent = Agent("agent", instructions=SYSTEM, model=self.model, tools=[Look(*results)])
        self.files = files
        self.turns = turns
        self.way = way
        self.session = SQLiteSession("session") if has_session else None
        self.items: list[Any] = []

    def send(self, message: str) -> Sent:
        return self._send(message if self.session is not None else [*self.items, {"role": "user", "content": message}])

    def send_parts(self, *texts: str) -> Sent:
        item = {"role": "user", "content": [{"type": "input_text", "text": text} for text in texts]}
        return self._send([item] if self.session is not None else [*self.items, item])

    def _send(self, given: Any) -> Sent:
        before = len(self.model.systems)
        self.turns.clear()
        result = run(self.files, self.agent, given, way=self.way, session=self.session)
        self.items = result.to_input_list()
        return Sent(
            systems=self.model.systems[before:],
            conversation=[entry for item in self.model.inputs[-1] if (entry := said(item))],
            warnings=[warning for turn in self.turns for warning in turn.warnings],
        )


def said(item: dict[str, Any]) -> tuple[str, str] | None:
    if item.get("type") == "function_call_output":
        return "tool", item["output"]
    return (item["role"], texts_of(item["content"])) if "role" in item else None


def use(tool: FunctionTool, arguments: dict[str, Any]) -> str:
    """Return what *tool* answers, which asks nothing of the run it is called in."""
    return str(wait(tool.on_invoke_tool(None, json.dumps(arguments))))  # type: ignore[arg-type]


class TestRun(ToolContract):
    """The contract, for `run` and a session."""

    way: ClassVar[str] = "run"
    has_session: ClassVar[bool] = True

    @pytest.fixture(autouse=True)
    def _close_sessions(self) -> Iterator[None]:
        self.talks: list[Talk] = []
        yield
        while self.talks:
            session = self.talks.pop().session
            if session is not None:
                session.close()

    def open(self, folder: Path, *answers: Answer) -> Talk:
        turns: list[Turn] = []
        return self._talk(FileRefs(folder, on_turn=turns.append), turns, *answers)

    def offer(self, folder: Path) -> list[Offer]:
        talk = self._talk(FileRefs(folder, tools=True), [])
        talk.send("hello")
        return [Offer(tool.name, tool.description, tool.params_json_schema, partial(use, tool)) for tool in talk.model.offered]

    def open_pair(self, folder: Path) -> tuple[Talk, Talk]:
        turns: list[Turn] = []
        shared = FileRefs(folder, on_turn=turns.append)
        return self._talk(shared, turns), self._talk(shared, turns)

    def _talk(self, files: FileRefs, turns: list[Turn], *answers: Answer) -> Talk:
        talk = Talk(files, turns, *answers, way=self.way, has_session=self.has_session)
        self.talks.append(talk)
        return talk


class TestRunSync(TestRun):
    """The contract, for `run_sync` and a session."""

    way = "run_sync"


class TestRunStreamed(TestRun):
    """The contract, for `run_streamed` and a session."""

    way = "run_streamed"


class TestRunWithoutSession(TestRun):
    """The contract, for `run` and the items of the last result."""

    has_session = False


class TestRunStreamedWithoutSession(TestRunStreamed):
    """The contract, for `run_streamed` and the items of the last result."""

    has_session = False


class TestInput:
    """What counts as the message of a run, and what becomes of it."""

    @EACH_WAY
    def test_a_session_keeps_plain_paths(self, folder: Path, way: str) -> None:
        """What is stored is the rewritten message, and never the section."""
        session = SQLiteSession("session")
        agent = Agent("agent", instructions=SYSTEM, model=Script())

        run(FileRefs(folder), agent, "see @a.py", way=way, session=session)
        items = wait(session.get_items())
        session.close()

        assert {"role": "user", "content": "see a.py"} == items[0]
        assert "filerefs:begin" not in str(items)

    def test_parts_are_one_message(self, folder: Path) -> None:
        """Texts of a message are rewritten each in its place; other parts, other items and what was given stay as they are."""
        image = {"type": "input_image", "image_url": "https://example.org/@a.py", "detail": "auto"}
        parts = [{"type": "input_text", "text": "first @a.py"}, image, {"type": "input_text", "text": "then @b.py:1"}]
        given: list[Any] = [
            {"role": "user", "content": "an older @a.py"},
            {"role": "assistant", "content": "@b.py"},
            {"role": "user", "content": parts},
            {"role": "developer", "content": "use @a.py"},
        ]
        before = json.dumps(given)

        prepared = FileRefs(folder).prepare(given)

        changed = [{"type": "input_text", "text": "first a.py"}, image, {"type": "input_text", "text": "then b.py:1"}]
        assert [*given[:2], {"role": "user", "content": changed}, given[3]] == prepared.input
        assert json.dumps(given) == before

    @pytest.mark.parametrize(
        "last",
        [
            pytest.param({"role": "assistant", "content": "see @a.py"}, id="an answer"),
            pytest.param({"type": "function_call_output", "call_id": "1", "output": "@a.py"}, id="a tool's result"),
        ],
    )
    def test_a_list_that_ends_in_something_else(self, folder: Path, last: dict[str, Any]) -> None:
        """Where the last item is not the person's, nothing is read and nothing changes."""
        given: list[Any] = [{"role": "user", "content": "see @a.py"}, last]
        settings = RunConfig(workflow_name="mine")

        assert (given, settings, None) == FileRefs(folder).prepare(given, settings)

    def test_media(self, folder: Path) -> None:
        """An image that is named stands behind the text of the message."""
        model = Script()

        run(FileRefs(folder, media=True), Agent("agent", model=model), "what is @pixel.png?")

        url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
        parts = [{"type": "input_text", "text": "what is pixel.png?"}, {"type": "input_image", "image_url": url, "detail": "auto"}]
        assert [{"role": "user", "content": parts}] == model.inputs[0]

    def test_media_behind_parts(self, folder: Path) -> None:
        """A message of parts keeps them, and the image is the last."""
        given: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": "what is @pixel.png?"}]}]

        prepared = FileRefs(folder, media=True).prepare(given)

        items: Any = prepared.input
        assert ["input_text", "input_image"] == [part["type"] for part in items[0]["content"]]


class TestOneTurn:
    """All requests that a message leads to have its section, whichever agent makes them."""

    @EACH_WAY
    def test_a_handoff(self, folder: Path, way: str) -> None:
        """The agent that is handed to has the section behind its own instructions."""
        second = Agent("second", instructions="Be kind.", model=Script())
        first = Agent("first", instructions=SYSTEM, model=Script(calling("transfer_to_second")), handoffs=[second])

        result = run(FileRefs(folder), first, "see @a.py", way=way)

        assert result.last_agent.name == "second"
        assert [preprocess("see @a.py", SYSTEM, root=folder).prompt] == first.model.systems  # type: ignore[union-attr]
        assert [preprocess("see @a.py", "Be kind.", root=folder).prompt] == second.model.systems  # type: ignore[union-attr]

    def test_an_agent_as_a_tool(self, folder: Path) -> None:
        """What a model writes to another agent attaches nothing; that agent has the section of the person's message."""
        inner = Agent("inner", instructions="Be kind.", model=Script())
        tool = inner.as_tool("ask", "Asks.")
        outer = Agent("outer", instructions=SYSTEM, model=Script(calling("ask", input="what is in @b.py?"), "done"), tools=[tool])

        run(FileRefs(folder), outer, "see @a.py")

        assert [preprocess("see @a.py", "Be kind.", root=folder).prompt] == inner.model.systems  # type: ignore[union-attr]
        assert "what is in @b.py?" in str(inner.model.inputs)  # type: ignore[union-attr]

    def test_without_instructions(self, folder: Path) -> None:
        """An agent without instructions is sent the section alone."""
        model = Script()

        run(FileRefs(folder), Agent("agent", model=model), "see @a.py")

        assert [preprocess("see @a.py", root=folder).section] == model.systems

    def test_instructions_that_are_a_function(self, folder: Path) -> None:
        """Instructions that are made for each request are in front of the section, braces and all."""
        model = Script()
        (folder / "b.py").write_text("{braces} {{twice}}\n", encoding="utf-8")

        run(FileRefs(folder), Agent("agent", instructions=lambda _context, agent: f"I am {agent.name}.", model=model), "see @b.py")

        assert [preprocess("see @b.py", "I am agent.", root=folder).prompt] == model.systems

    @EACH_WAY
    def test_a_model_that_fails_once(self, folder: Path, way: str) -> None:
        """A request that the SDK makes again is the same, and the session has what it would have without us."""
        systems, stored = self._retry(FileRefs(folder), "see @a.py", way)

        assert [preprocess("see @a.py", SYSTEM, root=folder).prompt] * 2 == systems
        assert self._retry(Runner, "see a.py", way)[1] == stored

    @staticmethod
    def _retry(runner: Any, given: str, way: str) -> tuple[list[str], list[Any]]:
        model = Script(ValueError("overloaded"))
        settings = ModelSettings(retry=ModelRetrySettings(max_retries=1, backoff={"initial_delay": 0}, policy=lambda _: True))
        agent = Agent("agent", instructions=SYSTEM, model=model, model_settings=settings)
        session = SQLiteSession("session")
        run(runner, agent, given, way=way, session=session)
        items = wait(session.get_items())
        session.close()
        return model.systems, items

    @pytest.mark.parametrize("is_stored", [pytest.param(False, id="in the same process"), pytest.param(True, id="stored in between")])
    def test_an_approval(self, folder: Path, *, is_stored: bool) -> None:
        """A run that waited for an approval goes on with the settings of its message."""
        model = Script(calling("delete"), "done")
        agent = Agent("agent", instructions=SYSTEM, model=model, tools=[Look(name="delete", needs_approval=True)])
        files = FileRefs(folder)
        prepared = files.prepare("clean up @a.py")
        first = run(Runner, agent, prepared.input, run_config=prepared.run_config)
        state = first.to_state()
        if is_stored:
            state = wait(RunState.from_string(agent, state.to_string()))
            prepared = files.prepare("clean up @a.py")
        state.approve(state.get_interruptions()[0])

        result = run(files, agent, state, run_config=prepared.run_config)

        assert "done" == result.final_output
        assert [preprocess("clean up @a.py", SYSTEM, root=folder).prompt] * 2 == model.systems


class TestSettings:
    """The run's other settings stay in force."""

    @EACH_WAY
    def test_a_filter_of_the_host(self, folder: Path, way: str) -> None:
        """A filter that the host has is called, with what it would be called with, and the section stands behind its result."""
        model = Script()
        seen: list[str | None] = []

        async def french(data: Any) -> ModelInputData:
            seen.append(data.model_data.instructions)
            return ModelInputData(input=data.model_data.input[-1:], instructions="Answer in French.")

        given: list[Any] = [{"role": "user", "content": "hello"}, {"role": "user", "content": "see @a.py"}]
        settings = RunConfig(call_model_input_filter=french, workflow_name="mine")
        run(FileRefs(folder), Agent("agent", instructions=SYSTEM, model=model), given, way=way, run_config=settings)

        assert [SYSTEM] == seen
        assert [preprocess("see @a.py", "Answer in French.", root=folder).prompt] == model.systems
        assert [[{"role": "user", "content": "see a.py"}]] == model.inputs
        assert settings.call_model_input_filter is french

    def test_a_plain_filter(self, folder: Path) -> None:
        """A filter need not be a coroutine."""
        model = Script()
        settings = RunConfig(call_model_input_filter=lambda data: ModelInputData(input=data.model_data.input, instructions="Be kind."))

        run(FileRefs(folder), Agent("agent", model=model), "see @a.py", run_config=settings)

        assert [preprocess("see @a.py", "Be kind.", root=folder).prompt] == model.systems

    def test_a_callback_of_the_host(self, folder: Path) -> None:
        """A callback that arranges the session's items gets the rewritten message."""
        model = Script()
        session = SQLiteSession("session")
        seen: list[Any] = []

        def arrange(history: list[Any], new: list[Any]) -> list[Any]:
            seen.append(new)
            return [*history, *new]

        run(FileRefs(folder), Agent("agent", model=model), "see @a.py", session=session, run_config=RunConfig(session_input_callback=arrange))
        session.close()

        assert [[{"role": "user", "content": "see a.py"}]] == seen
        assert "ALPHA" in model.systems[0]

    def test_settings_as_a_dict(self, folder: Path) -> None:
        """Settings may be a dict, as they may for the SDK."""
        prepared = FileRefs(folder).prepare("see @a.py", {"workflow_name": "mine"})

        assert prepared.run_config.workflow_name == "mine"

    def test_settings_of_the_turn_before(self, folder: Path) -> None:
        """Settings that were prepared for one message do not show its files to the next."""
        files = FileRefs(folder)
        model = Script()
        agent = Agent("agent", instructions=SYSTEM, model=model)
        settings = files.prepare("see @a.py").run_config

        for said in ("see @b.py", "thanks"):
            settings = files.prepare(said, settings).run_config
            run(Runner, agent, said, run_config=settings)

        assert [preprocess("see @b.py", SYSTEM, root=folder).prompt, SYSTEM] == model.systems

    def test_nothing_named(self, folder: Path) -> None:
        """Without a reference the run has no filter."""
        prepared = FileRefs(folder).prepare("hello")

        assert ("hello", None) == (prepared.input, prepared.run_config.call_model_input_filter)

    def test_the_context_is_the_hosts(self, folder: Path) -> None:
        """Whatever else `Runner.run` takes reaches it."""
        seen: list[Any] = []
        agent = Agent("agent", instructions=lambda context, _: seen.append(context.context) or SYSTEM, model=Script())

        run(FileRefs(folder), agent, "see @a.py", context={"tenant": 3}, max_turns=2)

        assert [{"tenant": 3}] == seen


class TestOptions:
    """What can be set."""

    def test_runs_at_the_same_time(self, folder: Path) -> None:
        """Runs that wait for each other have their own files each."""
        model = Script(calling("meet"), calling("meet"))
        waiting: list[asyncio.Event] = []

        async def meet(_context: Any, _arguments: str) -> str:
            waiting.append(asyncio.Event())
            if len(waiting) == 2:
                for event in waiting:
                    event.set()
            await waiting[0].wait()
            return "met"

        tool = FunctionTool("meet", "Meets.", {"type": "object", "properties": {}}, meet, strict_json_schema=False)
        agent = Agent("agent", model=model, tools=[tool])
        files = FileRefs(folder)

        async def both() -> Any:
            return await asyncio.gather(files.run(agent, "see @a.py"), files.run(agent, "see @b.py"))

        wait(both())

        assert 4 == len(model.systems)
        for system, items in zip(model.systems, model.inputs, strict=True):
            named = items[0]["content"]
            assert ("ALPHA" in system, "BRAVO" in system) == (named == "see a.py", named == "see b.py")

    @EACH_WAY
    def test_tools(self, folder: Path, way: str) -> None:
        """The agent that a run starts with reads and lists what is in the folder; it is not changed itself."""
        model = Script(calling("read_ref", ref="a.py"), calling("list_files", folder=3), "done")
        agent = Agent("agent", model=model)
        files = FileRefs(folder, tools=True)

        result = run(files, agent, "what is here?", way=way)
        again = run(files, result.last_agent, "and now?", way=way)

        outputs = [item["output"] for item in model.inputs[2] if item.get("type") == "function_call_output"]
        assert [["read_ref", "list_files"]] * 4 == model.tools
        assert "ALPHA" in outputs[0]
        assert "must be of the type string" in outputs[1]
        assert [0, 2, 2] == [len(one.tools) for one in (agent, result.last_agent, again.last_agent)]

    def test_tools_for_another_agent(self, folder: Path) -> None:
        """They can be given to an agent like any other tool."""
        model = Script(calling("read_ref", ref="b.py"), "done")
        files = FileRefs(folder)

        run(files, Agent("agent", model=model, tools=[*files.tools]), "what is here?")

        assert "BRAVO" in str(model.inputs[1])

    def test_a_preprocessor(self, folder: Path) -> None:
        """A `Preprocessor` of one's own is used as it is, and left open."""
        (folder / ".env").write_text("TOKEN=1\n", encoding="utf-8")
        model = Script()

        with Preprocessor(folder, allow=[".env"]) as files:
            run(FileRefs(files), Agent("agent", model=model), "see @.env")
            assert files.preprocess("see @a.py").attached

        assert "TOKEN=1" in model.systems[0]

    @EACH_WAY
    def test_on_turn(self, folder: Path, way: str) -> None:
        """The host is told of each turn that names something, and of no other."""
        turns: list[Turn] = []
        files = FileRefs(folder, on_turn=turns.append)

        for given in ("hello", "see @a.py", "see @no.py", "thanks"):
            run(files, Agent("agent", model=Script()), given, way=way)

        assert ["see @a.py", "see @no.py"] == [turn.original for turn in turns]

    def test_error_no_folder(self, folder: Path) -> None:
        """A folder that is not there is a mistake that is told at once."""
        with pytest.raises(RootNotFoundError):
            FileRefs(folder / "missing")


@pytest.mark.skipif(testing is None, reason="this version has no model for tests of its own")
def test_the_frameworks_own_model(folder: Path) -> None:
    """The model that the SDK has for tests sees what ours does."""
    model = testing.ScriptedModel([[testing.assistant_message("one")], [testing.assistant_message("two")]])
    agent = Agent("agent", instructions=SYSTEM, model=model)
    session = SQLiteSession("session")

    for given in ("see @a.py", "thanks"):
        run(FileRefs(folder), agent, given, session=session)
    session.close()

    prompts = [call.system_instructions for call in model.calls]
    assert [preprocess("see @a.py", SYSTEM, root=folder).prompt, SYSTEM] == prompts
    assert ["see a.py", "thanks"] == [item["content"] for item in model.last_call.input if item["role"] == "user"]
    assert SYSTEM == strip_section(prompts[0] or "")


def test_documentation(tree: Tree) -> None:
    """The sample of the page prints what the page says, and is about fifteen lines long."""
    [sample, printed] = read((REPOSITORY / "docs/integrations/openai-agents.md").read_text(encoding="utf-8"))[:2]
    model = Script("It prints hello.", "There is no such file.")

    output = execute(sample.text, tree({"greet.py": "print('hello')\n"}), {"model": model})

    assert printed.text == output
    assert len(sample.text.splitlines()) <= 20
    assert "print('hello')" in model.systems[0]
