"""The plugin for Google's Agent Development Kit, on real runners with an offline model."""

from __future__ import annotations

import asyncio
import base64
import gc
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

pytest.importorskip("google.adk.plugins", reason="needs filerefs[adk]")

from google.adk.agents import LlmAgent, ParallelAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.apps import App
from google.adk.apps.app import ResumabilityConfig
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import LongRunningFunctionTool
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from pydantic import Field

from filerefs import Preprocessor, preprocess, strip_section
from filerefs.errors import RootNotFoundError
from filerefs.integrations.adk import METADATA, FileRefsPlugin

from ..docs.blocks import execute, read  # noqa: TID252 (tests are no package that has a name)
from ..docs.grammar_examples import REPOSITORY  # noqa: TID252
from .contract import SYSTEM, Answer, Call, Offer, Sent, ToolContract

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator
    from pathlib import Path

    from conftest import Tree
    from google.adk.events.event import Event
    from google.adk.tools.base_tool import BaseTool

    from filerefs import Turn

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
FILES = {"a.py": "ALPHA = '{braces}'\n", "b.py": "BRAVO = 2\n", "pixel.png": PNG}

# The framework calls parts of itself experimental, and uses parts of itself, and of its libraries, that are deprecated.
pytestmark = [pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL:UserWarning"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture
def folder(tree: Tree) -> Path:
    return tree(FILES)


@pytest.fixture(autouse=True, scope="module")
def _no_search_in_the_framework() -> Iterator[None]:
    """Spare the collections that look for open files behind each test what the framework made when it was loaded."""
    gc.freeze()
    yield
    gc.unfreeze()


def text(said: str) -> types.Part:
    return types.Part(text=said)


def calling(tool: str, **arguments: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=tool, args=arguments))


class Script(BaseLlm):
    """Says *answers* in order, then "ok" for ever: in pieces where the run streams; an exception is raised, a coroutine function awaited."""

    model: str = "script"
    answers: list[Any] = Field(default_factory=list)
    requests: list[LlmRequest] = Field(default_factory=list)

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:  # noqa: FBT001, FBT002
        self.requests.append(llm_request.model_copy(deep=True, update={"tools_dict": {}}))
        answer = self.answers.pop(0) if self.answers else "ok"
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            answer = await answer()
        part = text(answer) if isinstance(answer, str) else answer
        if stream and part.text:
            for word in part.text.split():
                yield LlmResponse(content=types.Content(role="model", parts=[text(word)]), partial=True)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))

    @property
    def systems(self) -> list[Any]:
        return [request.config.system_instruction for request in self.requests]

    @property
    def tools(self) -> list[list[str]]:
        return [[declared.name for tool in request.config.tools or [] for declared in tool.function_declarations] for request in self.requests]

    @property
    def prompts(self) -> list[str]:
        """What the user says in the last request."""
        return [said for role, said in conversation(self.requests[-1]) if role == "user"]


def conversation(request: LlmRequest) -> list[tuple[str, str]]:
    said = []
    for content in request.contents:
        for part in content.parts or []:
            if part.function_response is not None:
                said.append(("tool", str(part.function_response.response)))
            elif part.text:
                said.append(("user" if content.role == "user" else "assistant", part.text))
    return said


def content(*parts: types.Part | str) -> types.Content:
    return types.Content(role="user", parts=[text(part) if isinstance(part, str) else part for part in parts])


class Host:
    """An app with its runner, and as many sessions as are asked for."""

    def __init__(self, agent: Any, *plugins: BasePlugin, **options: Any) -> None:
        self.service = options.pop("session_service", None) or InMemorySessionService()
        app = App(name="host", root_agent=agent, plugins=[*plugins], **options)
        self.runner = Runner(app=app, session_service=self.service)

    async def open(self, name: str = "session") -> None:
        await self.service.create_session(app_name="host", user_id="user", session_id=name)

    async def send(self, message: Any = None, *, session: str = "session", **options: Any) -> list[Event]:
        given = content(message) if isinstance(message, str) else message
        return [event async for event in self.runner.run_async(user_id="user", session_id=session, new_message=given, **options)]

    async def stored(self, session: str = "session") -> Any:
        return await self.service.get_session(app_name="host", user_id="user", session_id=session)


def host(model: Script, *plugins: BasePlugin, instruction: Any = SYSTEM, tools: Any = (), **options: Any) -> Host:
    return Host(LlmAgent(name="agent", model=model, instruction=instruction, tools=[*tools]), *plugins, **options)


async def talk(chat: Host, *messages: Any) -> list[list[Event]]:
    await chat.open()
    return [await chat.send(message) for message in messages]


class Talk:
    """One session."""

    def __init__(self, plugin: FileRefsPlugin, *answers: Answer, is_streamed: bool) -> None:
        results = [answer.result for answer in answers if isinstance(answer, Call)]

        def look() -> str:
            """Looks."""
            return results.pop(0)

        self.model = Script(answers=[calling("look") if isinstance(answer, Call) else answer for answer in answers])
        self.host = host(self.model, plugin, tools=[look])
        self.settings = RunConfig(streaming_mode=StreamingMode.SSE if is_streamed else StreamingMode.NONE)
        self.is_open = False

    def send_parts(self, *texts: str) -> Sent:
        return self.send(content(*texts))

    def send(self, message: str | types.Content) -> Sent:
        before = len(self.model.requests)
        events = asyncio.run(self._send(message))
        notes = [event.custom_metadata[METADATA] for event in events if METADATA in (event.custom_metadata or {})]
        return Sent(
            systems=self.model.systems[before:],
            conversation=conversation(self.model.requests[-1]),
            warnings=notes[0]["warnings"] if notes else [],
        )

    async def _send(self, message: str | types.Content) -> list[Event]:
        if not self.is_open:
            await self.host.open()
            self.is_open = True
        return await self.host.send(message, run_config=self.settings)


def use(tool: BaseTool, arguments: dict[str, Any]) -> str:
    """Return what *tool* answers, which asks nothing of the run it is called in."""
    return str(asyncio.run(tool.run_async(args=arguments, tool_context=None)))  # type: ignore[arg-type]


class TestRun(ToolContract):
    """The contract, for `run_async`."""

    is_streamed: ClassVar[bool] = False

    def open(self, folder: Path, *answers: Answer) -> Talk:
        return Talk(FileRefsPlugin(folder), *answers, is_streamed=self.is_streamed)

    def offer(self, folder: Path) -> list[Offer]:
        plugin = FileRefsPlugin(folder, tools=True)
        talk = Talk(plugin, is_streamed=self.is_streamed)
        talk.send("hello")
        tools = {tool.name: tool for tool in plugin.tools}
        declared = [one for tool in talk.model.requests[0].config.tools or [] for one in tool.function_declarations or [] if one.name in tools]
        return [Offer(one.name, one.description, one.parameters_json_schema, partial(use, tools[one.name])) for one in declared]

    def open_pair(self, folder: Path) -> tuple[Talk, Talk]:
        shared = FileRefsPlugin(folder)
        return Talk(shared, is_streamed=self.is_streamed), Talk(shared, is_streamed=self.is_streamed)


class TestRunStreamed(TestRun):
    """The contract, for `run_async` with a stream of pieces."""

    is_streamed = True


class TestMessage:
    """What becomes of a message."""

    def test_parts_are_one_message(self, folder: Path) -> None:
        """Texts are rewritten each in its part; other parts, and the content that was given, stay as they are."""
        image = types.Part.from_bytes(data=PNG, mime_type="image/png")
        given = content("first @a.py", image, "then @b.py:1")
        model = Script()
        chat = host(model, FileRefsPlugin(folder))

        asyncio.run(talk(chat, given))
        stored = asyncio.run(chat.stored())

        assert ["first a.py", image, "then b.py:1"] == [part.text or part for part in stored.events[0].content.parts]
        assert ["first @a.py", None, "then @b.py:1"] == [part.text for part in given.parts or []]

    def test_media(self, folder: Path) -> None:
        """An image that is named stands behind the text of the message."""
        model = Script()

        asyncio.run(talk(host(model, FileRefsPlugin(folder, media=True)), "what is @pixel.png?"))

        [message] = model.requests[0].contents
        [said, image] = message.parts or []
        assert "what is pixel.png?" == said.text
        assert (PNG, "image/png") == (image.inline_data.data, image.inline_data.mime_type)  # type: ignore[union-attr]

    def test_an_image_alone(self, folder: Path) -> None:
        """A message without a text is a turn of its own: no file of the one before."""
        model = Script()

        asyncio.run(talk(host(model, FileRefsPlugin(folder)), "see @a.py", content(types.Part.from_bytes(data=PNG, mime_type="image/png"))))

        assert "ALPHA" in model.systems[0]
        assert "ALPHA" not in model.systems[1]

    def test_other_plugins_go_on(self, folder: Path) -> None:
        """A plugin behind ours has its turn with messages that name nothing, and with every event and request."""
        seen: list[str] = []

        class Listener(BasePlugin):
            async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> None:  # noqa: ARG002
                seen.append(user_message.parts[0].text)

            async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:  # noqa: ARG002
                seen.append("event")

            async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:  # noqa: ARG002
                seen.append("request")

        asyncio.run(talk(host(Script(), FileRefsPlugin(folder), Listener(name="listener")), "see @a.py", "thanks"))

        assert ["request", "event", "thanks", "request", "event"] == seen


class TestInstructions:
    """Where the section stands."""

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            pytest.param(None, "{section}", id="none"),
            pytest.param("Be kind.", "Be kind.\n\n{placed}", id="a text"),
            pytest.param(types.Content(parts=[text("Be kind.")]), types.Content(parts=[text("Be kind."), text("{section}")]), id="a content"),
            pytest.param(types.Content(), types.Content(parts=[text("{section}")]), id="an empty content"),
            pytest.param(["Be kind.", text("Be brief.")], ["Be kind.", text("Be brief."), text("{section}")], id="a list"),
            pytest.param(text("Be kind."), [text("Be kind."), text("{section}")], id="a part"),
        ],
    )
    def test_each_form(self, folder: Path, given: Any, expected: Any) -> None:
        """The section is the end of a text, and the last part of whatever has parts; doing it twice does it once."""
        model = Script()
        plugin = FileRefsPlugin(folder)

        class Setter(BasePlugin):
            async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
                llm_request.config.system_instruction = given
                await plugin.before_model_callback(callback_context=callback_context, llm_request=llm_request)

        asyncio.run(talk(host(model, Setter(name="setter"), plugin), "see @a.py"))

        alone = preprocess("see @a.py", root=folder).section
        placed = preprocess("see @a.py", "x", root=folder).prompt[3:]

        def fill(form: Any) -> Any:
            if isinstance(form, str):
                return form.replace("{section}", alone).replace("{placed}", placed)
            if isinstance(form, list):
                return [fill(part) for part in form]
            return types.Content(parts=fill(form.parts)) if isinstance(form, types.Content) else text(fill(form.text))

        assert [fill(expected)] == model.systems

    def test_no_template(self, folder: Path) -> None:
        """An instruction with names of the state is filled in; what a file has in braces is not, and is no error."""
        model = Script()
        chat = host(model, FileRefsPlugin(folder), instruction="I speak to {name?}.")

        asyncio.run(talk(chat, "see @a.py"))

        assert model.systems[0].startswith("I speak to .")
        assert "ALPHA = '{braces}'" in model.systems[0]

    def test_no_session_stores_it(self, folder: Path) -> None:
        """Neither events nor state of the stored session have the section."""
        chat = host(Script(), FileRefsPlugin(folder))

        asyncio.run(talk(chat, "see @a.py"))
        stored = asyncio.run(chat.stored())

        assert "see a.py" == stored.events[0].content.parts[0].text
        assert "ALPHA" not in stored.model_dump_json()
        assert {} == stored.state

    def test_no_database_stores_it(self, folder: Path, tmp_path: Path) -> None:
        """Nor has the file of a service that keeps sessions on disk."""
        sessions = pytest.importorskip("google.adk.sessions.sqlite_session_service", reason="this version has none")
        file = tmp_path / "sessions.db"
        model = Script()
        chat = host(model, FileRefsPlugin(folder), session_service=sessions.SqliteSessionService(db_path=str(file)))

        asyncio.run(talk(chat, "see @a.py", "thanks"))

        kept = b"".join(path.read_bytes() for path in tmp_path.glob("sessions.db*"))
        assert b"see a.py" in kept
        assert b"ALPHA" not in kept
        assert ["ALPHA" in system for system in model.systems] == [True, False]


class TestAgents:
    """All agents of an app have the section; no invocation has another's."""

    def test_an_agent_that_takes_over(self, folder: Path) -> None:
        """An agent to which the first one hands the conversation has the section behind its own instruction."""
        second = LlmAgent(name="second", description="Knows.", model=Script(), instruction="Be kind.")
        model = Script(answers=[calling("transfer_to_agent", agent_name="second")])
        chat = Host(LlmAgent(name="first", model=model, instruction=SYSTEM, sub_agents=[second]), FileRefsPlugin(folder))

        asyncio.run(talk(chat, "see @a.py", "and @b.py?"))

        [first, later] = second.model.systems  # type: ignore[union-attr]
        assert first.startswith("Be kind.")
        assert first == preprocess("see @a.py", strip_section(first), root=folder).prompt
        assert later == preprocess("and @b.py?", strip_section(later), root=folder).prompt

    def test_agents_side_by_side(self, folder: Path) -> None:
        """Agents that work at the same time have the same section each."""
        agents = [LlmAgent(name=name, model=Script(), instruction=SYSTEM) for name in ("one", "two")]

        asyncio.run(talk(Host(ParallelAgent(name="both", sub_agents=[*agents]), FileRefsPlugin(folder)), "see @a.py"))

        systems = [system for agent in agents for system in agent.model.systems]  # type: ignore[union-attr]
        assert [preprocess("see @a.py", strip_section(system), root=folder).prompt for system in systems] == systems
        assert 2 == len(systems)

    def test_an_agent_as_a_tool(self, folder: Path) -> None:
        """What a model writes to another agent attaches nothing; that agent has the section of the person's message."""
        inner = Script()
        outer = Script(answers=[calling("helper", request="what is in @b.py?"), "done"])
        turns: list[Turn] = []
        tool = AgentTool(LlmAgent(name="helper", description="Helps.", model=inner, instruction="Be kind."))
        chat = host(outer, FileRefsPlugin(folder, on_turn=turns.append), tools=[tool])

        [events] = asyncio.run(talk(chat, "see @a.py"))

        assert "what is in @b.py?" in inner.prompts
        assert inner.systems[0] == preprocess("see @a.py", strip_section(inner.systems[0]), root=folder).prompt
        assert outer.systems[0] == outer.systems[1]
        assert ["see @a.py"] == [turn.original for turn in turns]
        assert 1 == sum(METADATA in (event.custom_metadata or {}) for event in events)

    @pytest.mark.parametrize("names", [pytest.param(("one", "two"), id="two sessions"), pytest.param(("one", "one"), id="one session")])
    def test_at_the_same_time(self, folder: Path, names: tuple[str, str]) -> None:
        """Invocations that wait for each other have their own files each."""
        arrived: list[asyncio.Event] = []

        async def meet() -> types.Part:
            arrived.append(asyncio.Event())
            if len(arrived) == 2:
                for event in arrived:
                    event.set()
            await arrived[0].wait()
            return calling("look")

        def look() -> str:
            """Looks."""
            return "seen"

        model = Script(answers=[meet, meet])
        chat = host(model, FileRefsPlugin(folder), tools=[look])

        async def both() -> None:
            for name in {*names}:
                await chat.open(name)
            await asyncio.gather(chat.send("see @a.py", session=names[0]), chat.send("see @b.py", session=names[1]))

        asyncio.run(both())

        seen = [("ALPHA" in system, "BRAVO" in system) for system in model.systems]
        assert {(True, False), (False, True)} == {*seen[:2]}
        assert {(True, False), (False, True)} == {*seen[2:]}

    def test_an_invocation_that_is_left(self, folder: Path) -> None:
        """One that nobody reads to its end leaves nothing to the next."""
        model = Script(answers=[calling("look"), "done"])

        def look() -> str:
            """Looks."""
            return "seen"

        chat = host(model, FileRefsPlugin(folder), tools=[look])

        async def leave() -> None:
            await chat.open()
            events = chat.runner.run_async(user_id="user", session_id="session", new_message=content("see @a.py"))
            async for _ in events:
                break
            await events.aclose()
            await chat.send("thanks")

        asyncio.run(leave())

        assert "ALPHA" in model.systems[0]
        assert "ALPHA" not in model.systems[-1]

    def test_error_of_the_model(self, folder: Path) -> None:
        """A request that fails takes nothing to the next message."""
        model = Script(answers=[ValueError("overloaded")])

        async def fail(files: Preprocessor) -> None:
            chat = host(model, FileRefsPlugin(files))
            await chat.open()
            with pytest.raises(ValueError, match="overloaded"):
                await chat.send("see @a.py")
            await chat.send("thanks")

        with Preprocessor(folder) as files:
            asyncio.run(fail(files))

        assert ["ALPHA" in system for system in model.systems] == [True, False]

    def test_a_service_that_hands_out_what_it_keeps(self, folder: Path) -> None:
        """With a service that gives the same object each time, an invocation that failed misleads none of the next, and the others leave nothing."""
        model = Script(answers=[ValueError("overloaded")])
        image = types.Part.from_bytes(data=PNG, mime_type="image/png")

        class Shared(InMemorySessionService):
            async def get_session(self, *, app_name: str, user_id: str, session_id: str, config: Any = None) -> Any:  # noqa: ARG002
                return self.sessions[app_name][user_id][session_id]

            async def append_event(self, session: Any, event: Any) -> Any:
                session.events.append(event)
                return event

        async def converse(files: Preprocessor) -> None:
            chat = host(model, FileRefsPlugin(files), session_service=Shared())
            await chat.open()
            with pytest.raises(ValueError, match="overloaded"):
                await chat.send("see @a.py")
            await chat.send(content(image))
            await chat.send("see @b.py")
            await chat.send("thanks")
            assert {} == (await chat.stored()).state

        with Preprocessor(folder) as files:
            asyncio.run(converse(files))

        assert [("ALPHA" in system, "BRAVO" in system) for system in model.systems] == [(True, False), (False, False), (False, True), (False, False)]


class TestOneTurn:
    """A turn may have more than one invocation."""

    @pytest.mark.parametrize("is_resumable", [pytest.param(False, id="as a new invocation"), pytest.param(True, id="as the same invocation")])
    def test_an_answer_to_a_long_call(self, folder: Path, *, is_resumable: bool) -> None:
        """Where the host answers a call later, the files of the message are read again, and nobody is warned twice."""
        model = Script(answers=[calling("ask")])
        turns: list[Turn] = []

        def ask() -> None:
            """Asks a person."""

        options = {"resumability_config": ResumabilityConfig(is_resumable=True)} if is_resumable else {}
        chat = host(model, FileRefsPlugin(folder, on_turn=turns.append), tools=[LongRunningFunctionTool(ask)], **options)

        async def converse() -> None:
            await chat.open()
            events = await chat.send("delete @a.py?")
            [call] = [part.function_call for event in events for part in (event.content and event.content.parts) or [] if part.function_call]
            (folder / "a.py").write_text("CHANGED = 3\n", encoding="utf-8")
            answer = types.FunctionResponse(id=call.id, name="ask", response={"result": "yes, and see @b.py"})
            again = {"invocation_id": events[0].invocation_id} if is_resumable else {}
            await chat.send(content(types.Part(function_response=answer)), **again)
            await chat.send("thanks")

        asyncio.run(converse())

        # ADK 1 asks no model when the same invocation goes on.
        answered = model.systems[1:-1]
        assert "ALPHA" in model.systems[0]
        assert ["CHANGED" in system for system in answered] == [True] * len(answered)
        assert answered or is_resumable
        assert "BRAVO" not in str(model.systems)
        assert "CHANGED" not in model.systems[-1]
        assert 1 == len(turns)

    def test_what_the_message_named(self, folder: Path) -> None:
        """The first event says what was typed and what the person is told; it is stored with that, and keeps what else it has."""
        chat = host(Script(answers=[calling("look"), "done"]), FileRefsPlugin(folder), tools=[look])

        [events, thanks] = asyncio.run(talk(chat, "see @a.py and @no.py", "thanks"))
        stored = asyncio.run(chat.stored())

        warnings = list(preprocess("see @a.py and @no.py", root=folder).warnings)
        note = {"typed": ["see @a.py and @no.py"], "warnings": warnings, "notices": []}
        assert [note] == [event.custom_metadata[METADATA] for event in events if METADATA in (event.custom_metadata or {})]
        assert note == events[0].custom_metadata[METADATA]  # type: ignore[index]
        assert note == stored.events[1].custom_metadata[METADATA]
        assert not any(METADATA in (event.custom_metadata or {}) for event in thanks)

    def test_a_stream_says_it_once_for_all(self, folder: Path) -> None:
        """Of a stream, the pieces have it and the first whole event, which is the one that is stored."""
        chat = host(Script(answers=["one two"]), FileRefsPlugin(folder))

        async def converse() -> list[Event]:
            await chat.open()
            return await chat.send("see @no.py", run_config=RunConfig(streaming_mode=StreamingMode.SSE))

        events = asyncio.run(converse())

        assert [True, True, True] == [METADATA in (event.custom_metadata or {}) for event in events]
        assert [True, True, None] == [event.partial for event in events]


def look() -> str:
    """Looks."""
    return "seen"


class TestOptions:
    """What can be set."""

    def test_tools(self, folder: Path) -> None:
        """Every agent reads and lists what is in the folder; one that has such a tool already keeps its own."""
        model = Script(answers=[calling("read_ref", ref="a.py"), calling("list_files", folder=3), "done"])
        plugin = FileRefsPlugin(folder, tools=True)
        chat = host(model, plugin, tools=[look, plugin.tools[1]])

        asyncio.run(talk(chat, "what is here?"))

        results = [said for role, said in conversation(model.requests[-1]) if role == "tool"]
        assert [{"look", "list_files", "read_ref"}] * 3 == [{*names} for names in model.tools]
        assert [3] * 3 == [len(names) for names in model.tools]
        assert "ALPHA" in results[0]
        assert "must be of the type string" in results[1]

    def test_tools_for_one_agent(self, folder: Path) -> None:
        """They can be given to an agent like any other tool."""
        model = Script(answers=[calling("read_ref", ref="b.py"), "done"])
        plugin = FileRefsPlugin(folder)

        asyncio.run(talk(host(model, plugin, tools=plugin.tools), "what is here?"))

        assert "BRAVO" in str(conversation(model.requests[1]))

    def test_a_preprocessor(self, folder: Path) -> None:
        """A `Preprocessor` of one's own is used as it is, and left open when the runner is closed."""
        (folder / ".env").write_text("TOKEN=1\n", encoding="utf-8")
        model = Script()

        with Preprocessor(folder, allow=[".env"]) as files:
            chat = host(model, FileRefsPlugin(files))

            async def converse() -> None:
                await talk(chat, "see @.env")
                await chat.runner.close()

            asyncio.run(converse())
            assert files.preprocess("see @a.py").attached

        assert "TOKEN=1" in model.systems[0]

    def test_on_turn(self, folder: Path) -> None:
        """The host is told of each turn that names something, and of no other."""
        turns: list[Turn] = []

        asyncio.run(talk(host(Script(), FileRefsPlugin(folder, on_turn=turns.append)), "hello", "see @a.py", "see @no.py", "thanks"))

        assert ["see @a.py", "see @no.py"] == [turn.original for turn in turns]

    def test_its_name(self, folder: Path) -> None:
        """The plugin is called "filerefs", or what the app wants."""
        assert ("filerefs", "mine") == (FileRefsPlugin(folder).name, FileRefsPlugin(folder, name="mine").name)

    def test_error_no_folder(self, folder: Path) -> None:
        """A folder that is not there is a mistake that is told at once."""
        with pytest.raises(RootNotFoundError):
            FileRefsPlugin(folder / "missing")


def test_documentation(tree: Tree) -> None:
    """The sample of the page prints what the page says, and is about fifteen lines long."""
    [sample, printed] = read((REPOSITORY / "docs/integrations/adk.md").read_text(encoding="utf-8"))[:2]
    model = Script(answers=["It prints hello.", "There is no such file."])

    output = execute(sample.text, tree({"greet.py": "print('hello')\n"}), {"model": model})

    # Some versions of the framework print lines of their own.
    assert printed.text.splitlines() == [line for line in output.splitlines() if line in printed.text.splitlines()]
    assert len([line for line in sample.text.splitlines() if line]) <= 18
    assert "print('hello')" in model.systems[0]
