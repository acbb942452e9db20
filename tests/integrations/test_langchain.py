"""The middleware for LangChain, on real agents with an offline model."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

pytest.importorskip("langchain", reason="needs filerefs[langchain]")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, convert_to_messages
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command

from filerefs import Preprocessor, preprocess
from filerefs.agentsmd import Loader, render
from filerefs.errors import RootNotFoundError
from filerefs.integrations.langchain import AgentsMdMiddleware, FileRefsMiddleware

from ..docs.blocks import execute, read  # noqa: TID252 (tests are no package that has a name)
from ..docs.grammar_examples import REPOSITORY  # noqa: TID252
from .contract import SYSTEM, Answer, Call, Offer, ToolContract
from .langchain_chats import AgentChat, ScriptedModel, calling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Tree

    from filerefs import Turn

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
FILES = {"a.py": "ALPHA = 1\n", "b.py": "BRAVO = 2\n", "my file.txt": "blanks\n", "AGENTS.md": "Use tabs.\n"}
BLOCKS = [
    {"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}},
    {"type": "text", "text": "\n\nBe kind."},
]
EITHER_WAY = pytest.mark.parametrize("is_async", [pytest.param(False, id="sync"), pytest.param(True, id="async")])


@pytest.fixture
def folder(tree: Tree) -> Path:
    return tree(FILES)


def chat(*answers: Answer, middleware: Any, system: Any = SYSTEM, is_async: bool = False) -> AgentChat:
    def make(model: ScriptedModel, tools: Any, **options: Any) -> Any:
        return create_agent(model, system_prompt=system, middleware=middleware, tools=tools, **options)

    return AgentChat(make, *answers, is_async=is_async)


class TestAgent(ToolContract):
    """The contract, for `create_agent` and `stream`."""

    is_async: ClassVar[bool] = False
    system: ClassVar[Any] = SYSTEM

    def open(self, folder: Path, *answers: Answer) -> AgentChat:
        return self._chat(FileRefsMiddleware(folder), *answers)

    def offer(self, folder: Path) -> list[Offer]:
        return self._chat(FileRefsMiddleware(folder, tools=True)).offers()

    def open_pair(self, folder: Path) -> tuple[AgentChat, AgentChat]:
        middleware = FileRefsMiddleware(folder)
        return self._chat(middleware), self._chat(middleware)

    def _chat(self, middleware: FileRefsMiddleware, *answers: Answer) -> AgentChat:
        return chat(*answers, middleware=[middleware], system=self.system, is_async=self.is_async)


class TestAsyncAgent(TestAgent):
    """The contract, for `create_agent` and `astream`."""

    is_async = True


class TestAgentWithBlocks(TestAgent):
    """The contract, where the system prompt is a list of blocks."""

    system = SystemMessage(content=BLOCKS)


class TestForms:
    """A message is given to an agent in many forms."""

    @EITHER_WAY
    @pytest.mark.parametrize(
        "form",
        [
            pytest.param("see @a.py", id="a text"),
            pytest.param(["see @a.py"], id="a text in a list"),
            pytest.param([("user", "see @a.py")], id="a pair"),
            pytest.param([{"role": "user", "content": "see @a.py"}], id="a dict"),
            pytest.param([{"type": "human", "content": "see @a.py"}], id="a dict with a type"),
            pytest.param([HumanMessage("see @a.py")], id="a message"),
            pytest.param([HumanMessage(["see @a.py"])], id="a list of texts"),
            pytest.param([HumanMessage([{"type": "text", "text": "see @a.py"}])], id="a block"),
            pytest.param([HumanMessage(content_blocks=[{"type": "text", "text": "see @a.py"}])], id="a standard block"),
            pytest.param([("user", "hello"), AIMessage("hi"), HumanMessage("see @a.py", id="7")], id="behind a history"),
            pytest.param([SystemMessage("Be kind."), ("user", "see @a.py")], id="behind a system message"),
        ],
    )
    def test_every_form_is_rewritten(self, folder: Path, form: Any, *, is_async: bool) -> None:
        """Whatever the form, the message that is stored has plain paths, and the files are in the prompt."""
        talk = chat(middleware=[FileRefsMiddleware(folder)], is_async=is_async)

        sent = talk.run({"messages": form})

        assert sent.message == "see a.py"
        assert "ALPHA" in sent.system
        assert talk.state["messages"][-2].text == "see a.py"

    def test_blocks_are_one_message(self, folder: Path) -> None:
        """Texts in blocks are read as one message and rewritten each in its place; other blocks and other keys stay."""
        image = {"type": "image", "url": "https://example.org/@a.py.png"}
        document = {"type": "text-plain", "text": "see @b.py", "mime_type": "text/plain"}
        cached = {"type": "text", "text": "first @a.py\nand", "cache_control": {"type": "ephemeral"}}
        talk = chat(middleware=[FileRefsMiddleware(folder)])

        talk.run({"messages": [HumanMessage([cached, image, document, "@b.py:1", {"type": "text", "text": 'then @"my file.txt"'}])]})

        content = talk.state["messages"][0].content
        assert content == [{**cached, "text": "first a.py\nand"}, image, document, "b.py:1", {"type": "text", "text": 'then "my file.txt"'}]
        assert all(text in talk.model.systems[0] for text in ("ALPHA", "BRAVO", "blanks"))

    def test_the_rest_of_a_message_is_kept(self, folder: Path) -> None:
        """Only the text changes: not the id, the name, or what a host put beside it."""
        given = HumanMessage("see @a.py", id="7", name="ann", additional_kwargs={"ticket": 3}, response_metadata={"from": "mail"})
        talk = chat(middleware=[FileRefsMiddleware(folder)])

        talk.run({"messages": [given]})

        assert given.content == "see @a.py"
        assert talk.state["messages"][0] == given.model_copy(update={"content": "see a.py"})

    @pytest.mark.parametrize(
        "form",
        [
            pytest.param([AIMessage("see @a.py")], id="the last message is an answer"),
            pytest.param([("user", "see @a.py"), AIMessage("done")], id="a message that was answered"),
            pytest.param([SystemMessage("see @a.py")], id="the last message is the host's"),
            pytest.param([HumanMessage("see @a.py", additional_kwargs={"lc_source": "summarization"})], id="a message of the harness"),
            pytest.param([HumanMessage([{"type": "image", "url": "https://example.org/@a.py"}])], id="no text"),
            pytest.param([], id="no message"),
        ],
    )
    def test_nothing_to_read(self, folder: Path, form: Any) -> None:
        """Where there is no text that a person just wrote, nothing is attached, changed or said."""
        talk = chat(middleware=[FileRefsMiddleware(folder)])

        sent = talk.run({"messages": form})

        assert all("ALPHA" not in system for system in sent.systems)
        assert [] == sent.warnings
        assert [message.content for message in convert_to_messages(form)] == [message.content for message in talk.state["messages"][: len(form)]]


class TestPrompt:
    """The section is at the end of the system message of each call, and nowhere else."""

    def test_a_block_of_its_own(self, folder: Path) -> None:
        """Where the system message is made of blocks, the section is the last, and the others are as they were."""
        talk = chat(middleware=[FileRefsMiddleware(folder)], system=SystemMessage(content=BLOCKS, name="house"))

        talk.send("see @a.py")
        talk.send("thank you")

        first, second = (messages[0] for messages in talk.model.seen)
        assert first.content[:-1] == BLOCKS == second.content
        assert first.content[-1] == {"type": "text", "text": preprocess("see @a.py", "x", folder).prompt[1:]}
        assert first.name == "house"

    @pytest.mark.parametrize(
        "system",
        [
            pytest.param(None, id="no system message"),
            pytest.param("", id="an empty one"),
            pytest.param(SystemMessage(content=[]), id="no blocks"),
            pytest.param(SystemMessage(content=[{"type": "guard"}]), id="no text in its blocks"),
        ],
    )
    def test_nothing_before_the_section(self, folder: Path, system: Any) -> None:
        """Without a text before it, the section is the whole prompt."""
        talk = chat(middleware=[FileRefsMiddleware(folder)], system=system)

        assert talk.send("see @a.py").system == preprocess("see @a.py", "", folder).section
        assert talk.send("thank you").system == ""

    @pytest.mark.parametrize("system", [pytest.param("{}", id="a text"), pytest.param([{"type": "text", "text": "{}"}], id="a block")])
    def test_a_section_of_the_host(self, folder: Path, system: Any) -> None:
        """A section that someone else put into the prompt makes room for the turn's: one prompt has one."""
        other = preprocess("see @b.py", SYSTEM, folder).prompt
        content = other if system == "{}" else [{"type": "text", "text": other}, {"type": "text", "text": "\n\nBe kind."}]
        talk = chat(middleware=[FileRefsMiddleware(folder)], system=SystemMessage(content=content))

        sent = talk.send("see @a.py")

        assert sent.system.count("<!-- filerefs:begin -->") == 1
        assert "ALPHA" in sent.system
        assert "BRAVO" not in sent.system

    def test_a_block_that_was_a_section(self, folder: Path) -> None:
        """A block that held an old section and nothing else goes with it."""
        old = {"type": "text", "text": preprocess("see @b.py", "x", folder).prompt[1:]}
        talk = chat(middleware=[FileRefsMiddleware(folder)], system=SystemMessage(content=[*BLOCKS, old]))

        talk.send("hello")

        assert talk.model.seen[0][0].content == BLOCKS

    def test_a_call_that_is_made_again(self, folder: Path) -> None:
        """Middleware that calls the model twice sends the same prompt twice."""
        talk = chat(RuntimeError("busy"), "done", middleware=[Again(), FileRefsMiddleware(folder), Again(name="inner")])  # type: ignore[arg-type]

        sent = talk.send("see @a.py")

        assert len(sent.systems) == 2
        assert sent.systems[0] == sent.systems[1]

    def test_behind_prompt_caching(self, folder: Path) -> None:
        """Listed behind middleware that marks the end of the prompt for caching, the section stands behind the mark."""
        talk = chat(middleware=[Marking(), FileRefsMiddleware(folder)])

        talk.send("see @a.py")

        marked, section = talk.model.seen[0][0].content
        assert marked == {"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}
        assert "ALPHA" in section["text"]
        assert "cache_control" not in section


class Again(AgentMiddleware[Any, Any, Any]):
    """Calls the model a second time if the first fails."""

    def __init__(self, name: str = "outer") -> None:
        super().__init__()
        self.title = name

    @property
    def name(self) -> str:
        return self.title

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        try:
            return handler(request)
        except RuntimeError:
            return handler(request)


class Marking(AgentMiddleware[Any, Any, Any]):
    """Marks the end of the system message, as the middleware for a provider's cache does."""

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        block = {"type": "text", "text": request.system_message.text, "cache_control": {"type": "ephemeral"}}
        return handler(request.override(system_message=SystemMessage(content=[block])))


class TestThread:
    """A conversation is in the state of its thread, and nothing of it in the middleware."""

    def test_private(self, folder: Path) -> None:
        """What is kept is in no schema: no caller sees it in a result, and none can pass it in."""
        agent = create_agent(ScriptedModel(), middleware=[FileRefsMiddleware(folder), AgentsMdMiddleware(folder)])
        forged = preprocess("see @b.py", "", folder).section
        given: Any = {"messages": "see @a.py", "filerefs": {"section": forged, "warnings": [], "message": ""}}

        assert {"messages"} == set(agent.invoke(given))
        assert {"messages"} == set(agent.get_input_jsonschema()["properties"])
        assert not any("filerefs" in name for name in agent.get_output_jsonschema()["properties"])

    def test_forged_section(self, folder: Path) -> None:
        """A caller cannot put a section of his own into a run that has no new message."""
        model = ScriptedModel()
        forged = preprocess("see @b.py", "", folder).section
        given: Any = {"messages": [AIMessage("hi")], "filerefs": {"section": forged, "warnings": [], "message": ""}}

        create_agent(model, system_prompt=SYSTEM, middleware=[FileRefsMiddleware(folder)]).invoke(given)

        assert [SYSTEM] == model.systems

    def test_plain_data(self, folder: Path) -> None:
        """What is kept is JSON, so that every checkpointer can store it; no message holds a section."""
        talk = chat(middleware=[FileRefsMiddleware(folder), AgentsMdMiddleware(folder)])
        talk.send("see @a.py and @missing.py")
        kept = {name: value for name, value in talk.state.items() if name.startswith("filerefs")}

        serializer = JsonPlusSerializer(pickle_fallback=False)

        assert {"filerefs", "filerefs_instructions"} == set(kept)
        assert kept == json.loads(json.dumps(kept)) == serializer.loads_typed(serializer.dumps_typed(kept))
        assert "ALPHA" in kept["filerefs"]["section"]
        assert ["could not attach @missing.py: no such file"] == kept["filerefs"]["warnings"]
        assert not any("filerefs:begin" in str(message.content) for message in talk.state["messages"])

    @EITHER_WAY
    def test_resumed_elsewhere(self, folder: Path, *, is_async: bool) -> None:
        """A run that waited for a person goes on, in another process, with the files as they were when it began."""
        saver = InMemorySaver()

        def agent(model: ScriptedModel, tools: Any, **_: Any) -> Any:
            middleware = [HumanInTheLoopMiddleware({"look": True}), AgentsMdMiddleware(folder), FileRefsMiddleware(folder)]
            return create_agent(model, system_prompt=SYSTEM, middleware=middleware, tools=tools, checkpointer=saver)

        before = AgentChat(agent, Call("nothing"), is_async=is_async).send("see @a.py, @missing.py")
        (folder / "a.py").write_text("changed since\n", encoding="utf-8")
        (folder / "AGENTS.md").write_text("changed since\n", encoding="utf-8")
        after = AgentChat(agent, "done", is_async=is_async)
        sent = after.run(Command(resume={"decisions": [{"type": "reject", "message": "no @b.py"}]}))

        assert before.system == sent.system
        assert "ALPHA" in sent.system
        assert ["could not attach @missing.py: no such file"] == before.warnings
        assert [] == sent.warnings
        assert any(role == "tool" and "no @b.py" in text for role, text in sent.conversation)
        assert "BRAVO" not in sent.system

    @EITHER_WAY
    @pytest.mark.parametrize("given", [pytest.param(None, id="where it stopped"), pytest.param({"messages": []}, id="from its beginning")])
    def test_without_a_new_message(self, folder: Path, given: Any, *, is_async: bool) -> None:
        """A run that failed and is tried again has its section, and no warning a second time."""
        talk = chat(RuntimeError("busy"), "done", middleware=[FileRefsMiddleware(folder)], is_async=is_async)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match="busy"):
            talk.send("see @a.py and @missing.py")
        (folder / "a.py").write_text("changed since\n", encoding="utf-8")

        sent = talk.run(given)

        assert talk.model.systems[0] == sent.system
        assert [] == sent.warnings
        assert sent.message == "see a.py and @missing.py"

    def test_an_answered_message(self, folder: Path) -> None:
        """A run behind an answer, without anything new from the person, goes on with the section of the turn."""
        talk = chat("first", "second", middleware=[FileRefsMiddleware(folder)])
        first = talk.send("see @a.py")

        second = talk.run({"messages": []})

        assert first.systems == second.systems

    def test_an_edited_message(self, folder: Path) -> None:
        """A message that is sent again under its id, with other words, is read again."""
        agent = create_agent(model := ScriptedModel(), middleware=[FileRefsMiddleware(folder)], checkpointer=InMemorySaver(), interrupt_before=["model"])
        config: Any = {"configurable": {"thread_id": "1"}}
        agent.invoke({"messages": [HumanMessage("see @a.py", id="7")]}, config)

        agent.invoke({"messages": [HumanMessage("see @b.py", id="7")]}, config)
        agent.invoke(None, config)

        assert ["BRAVO" in system and "ALPHA" not in system for system in model.systems] == [True]
        assert ["see b.py"] == [message.text for message in model.seen[0][1:]]

    @EITHER_WAY
    @pytest.mark.parametrize("first", [pytest.param(True, id="listed first"), pytest.param(False, id="listed last")])
    def test_summaries(self, folder: Path, *, first: bool, is_async: bool) -> None:
        """What is left of the messages after a summary does not matter to the section."""
        summary = SummarizationMiddleware(ScriptedModel(), trigger=("messages", 3), keep=("messages", 1))
        files = FileRefsMiddleware(folder)
        talk = chat(middleware=[files, summary] if first else [summary, files], is_async=is_async)
        talk.send("see @b.py")

        sent = talk.send("see @a.py")

        assert len(sent.conversation) == 2
        assert "summary" in sent.conversation[0][1]
        assert sent.message == "see a.py"
        assert sent.system == preprocess("see @a.py", SYSTEM, folder).prompt

    def test_a_summary_is_no_message_of_the_person(self, folder: Path) -> None:
        """The summary of a turn that named a file keeps the turn's section where it takes the place of its message, too."""
        summary = SummarizationMiddleware(ScriptedModel(), trigger=("messages", 3), keep=("messages", 1))
        talk = chat(Call("result"), Call("result"), "done", middleware=[summary, FileRefsMiddleware(folder)])

        sent = talk.send("see @a.py")

        assert len(set(sent.systems)) == 1
        assert "ALPHA" in sent.system
        assert ("user", "see a.py") not in sent.conversation


class TestNews:
    """What the host is told."""

    @EITHER_WAY
    def test_custom_stream(self, folder: Path, *, is_async: bool) -> None:
        """Each turn with references has one event in the custom stream, of a shape that is documented."""
        (folder / "latin.txt").write_bytes(b"caf\xe9\n")
        talk = chat(middleware=[FileRefsMiddleware(folder)], is_async=is_async)
        given: Any = {"messages": "see @a.py, @latin.txt, @missing.py; `@b.py`"}
        turn = preprocess(given["messages"], SYSTEM, folder)

        async def collect() -> list[Any]:
            return [event async for event in talk.agent.astream(given, talk.config, stream_mode="custom")]

        events = asyncio.run(collect()) if is_async else list(talk.agent.stream(given, talk.config, stream_mode="custom"))

        assert len(turn.warnings) == 2
        assert events == [
            {
                "type": "filerefs",
                "warnings": list(turn.warnings),
                "notices": list(turn.notices),
                "attached": ["attached a.py (10 B, python)", "attached latin.txt (5 B)"],
            }
        ]

    def test_no_news(self, folder: Path) -> None:
        """A message without references has no event, and on_turn is not called."""
        turns: list[Turn] = []
        talk = chat(middleware=[FileRefsMiddleware(folder, on_turn=turns.append)])

        events = list(talk.agent.stream({"messages": "hello @ann"}, talk.config, stream_mode="custom"))

        assert [] == events == turns

    @EITHER_WAY
    def test_on_turn(self, folder: Path, *, is_async: bool) -> None:
        """on_turn gets the turn, by whatever method the agent runs."""
        turns: list[Turn] = []
        agent = create_agent(ScriptedModel(), middleware=[FileRefsMiddleware(folder, on_turn=turns.append)])

        result = asyncio.run(agent.ainvoke({"messages": "see @a.py"})) if is_async else agent.invoke({"messages": "see @a.py"})

        assert ["a.py"] == [outcome.path for turn in turns for outcome in turn.attached]
        assert result["messages"][0].text == "see a.py"

    @EITHER_WAY
    def test_stream_of_messages(self, folder: Path, *, is_async: bool) -> None:
        """The stream of messages has what the model says, and not the rewritten message of the person."""
        talk = chat("done", middleware=[FileRefsMiddleware(folder)], is_async=is_async)
        given: Any = {"messages": "see @a.py"}

        async def collect() -> list[Any]:
            return [event async for event in talk.agent.astream(given, talk.config, stream_mode="messages")]

        events = asyncio.run(collect()) if is_async else list(talk.agent.stream(given, talk.config, stream_mode="messages"))

        assert {"ai"} == {message.type.lower().removesuffix("messagechunk") for message, _ in events}
        assert "done" == "".join(message.text for message, _ in events)


class TestPlaces:
    """Where the middleware reads, and who wrote what it reads."""

    def test_own_preprocessor(self, folder: Path) -> None:
        """A Preprocessor that is handed over keeps its options, and stays the caller's to close."""
        with Preprocessor(folder, code="load") as preprocessor:
            sent = chat(middleware=[FileRefsMiddleware(preprocessor)]).send("see `@a.py`")

            assert "ALPHA" in sent.system
            assert preprocessor.preprocess("see @b.py").attached

    def test_error_no_folder(self, folder: Path) -> None:
        """A folder that is not there is a mistake that is told at once."""
        with pytest.raises(RootNotFoundError):
            FileRefsMiddleware(folder / "missing")

    @EITHER_WAY
    def test_an_agent_as_a_tool(self, folder: Path, *, is_async: bool) -> None:
        """What an agent's model writes to another agent, which is a tool of its, attaches nothing."""
        inner_model = ScriptedModel()
        inner = create_agent(inner_model, system_prompt="You help.", middleware=[FileRefsMiddleware(folder)])

        def ask(question: str) -> str:
            return str(inner.invoke({"messages": question})["messages"][-1].text)

        async def aask(question: str) -> str:
            return str((await inner.ainvoke({"messages": question}))["messages"][-1].text)

        tool = StructuredTool.from_function(ask, aask, name="ask", description="Asks.")
        model = ScriptedModel(script=[calling("ask", question="what is in @b.py?")])
        outer = create_agent(model, tools=[tool], middleware=[FileRefsMiddleware(folder)])

        asyncio.run(outer.ainvoke({"messages": "see @a.py"})) if is_async else outer.invoke({"messages": "see @a.py"})

        assert ["You help."] == inner_model.systems
        assert "what is in @b.py?" == inner_model.seen[0][-1].text
        assert all("ALPHA" in system for system in model.systems)

    def test_an_agent_in_a_graph(self, folder: Path) -> None:
        """An agent that is a step of another graph reads the message of that graph's person."""
        from langgraph.graph import START, MessagesState, StateGraph

        model = ScriptedModel()
        graph = StateGraph(MessagesState)
        graph.add_node("agent", create_agent(model, middleware=[FileRefsMiddleware(folder)]))
        graph.add_edge(START, "agent")

        result = graph.compile().invoke({"messages": [HumanMessage("see @a.py", id="7")]})

        assert "ALPHA" in model.systems[0]
        assert "see a.py" == result["messages"][0].text


class TestTools:
    """The tools by which a model fetches what it was not given."""

    @EITHER_WAY
    def test_reading_and_listing(self, folder: Path, *, is_async: bool) -> None:
        """With tools=True the model reads and lists what is in the folder, and nothing else."""
        calls = [calling("read_ref", ref="b.py"), calling("list_files"), calling("read_ref", ref="../x"), calling("read_ref", name="b.py")]
        talk = chat(*calls, middleware=[FileRefsMiddleware(folder, tools=True)], is_async=is_async)  # type: ignore[arg-type]

        said = [text for role, text in talk.send("hello").conversation if role == "tool"]

        assert {"read_ref", "list_files", "look"} == set(talk.model.bound[0])
        assert "BRAVO" in said[0]
        assert "my file.txt" in said[1]
        assert said[2].startswith("Could not read ../x")
        assert said[3].startswith("read_ref was not called: it has no argument `name`")

    def test_none_by_default(self, folder: Path) -> None:
        """Without the option an agent has no more tools than before."""
        assert [] == [*FileRefsMiddleware(folder).tools, *AgentsMdMiddleware(folder).tools]


class TestMedia:
    """Images and PDFs as parts of the message."""

    @pytest.fixture
    def folder(self, tree: Tree) -> Path:
        return tree({"dot.png": PNG, "paper.pdf": PDF, "a.py": "ALPHA = 1\n"})

    def test_parts(self, folder: Path) -> None:
        """With media=True what is named becomes a block behind the text, as LangChain's own kind of block."""
        talk = chat(middleware=[FileRefsMiddleware(folder, media=True)])

        talk.send("compare @dot.png with @paper.pdf and @a.py")

        content = talk.state["messages"][0].content
        assert content == [
            {"type": "text", "text": "compare dot.png with paper.pdf and a.py"},
            {"type": "image", "base64": base64.b64encode(PNG).decode(), "mime_type": "image/png"},
            {"type": "file", "base64": base64.b64encode(PDF).decode(), "mime_type": "application/pdf", "extras": {"filename": "paper.pdf"}},
        ]
        assert talk.model.seen[0][1].content_blocks == content

    def test_a_name_without_an_ending(self, folder: Path) -> None:
        """What a PDF is by its first bytes is called so, whatever the file is called."""
        (folder / "paper").write_bytes(PDF)
        talk = chat(middleware=[FileRefsMiddleware(folder, media=True)])

        talk.send("see @./paper")

        assert talk.state["messages"][0].content[1]["extras"] == {"filename": "paper.pdf"}

    def test_behind_other_blocks(self, folder: Path) -> None:
        """Blocks that were there stay in front."""
        talk = chat(middleware=[FileRefsMiddleware(folder, media=True)])
        image = {"type": "image", "url": "https://example.org/x.png"}

        talk.run({"messages": [HumanMessage([image, {"type": "text", "text": "and @dot.png"}])]})

        content = talk.state["messages"][0].content
        assert content[:2] == [image, {"type": "text", "text": "and dot.png"}]
        assert [block["type"] for block in content] == ["image", "text", "image"]

    def test_by_name_only(self, folder: Path) -> None:
        """Without the option the section says that there is such a file, and the message stays a text."""
        talk = chat(middleware=[FileRefsMiddleware(folder)])

        sent = talk.send("see @dot.png")

        assert "image/png" in sent.system
        assert "see dot.png" == talk.state["messages"][0].content


SYSTEMS = [
    pytest.param(SYSTEM, id="a text"),
    pytest.param(SystemMessage(content=BLOCKS), id="blocks"),
    pytest.param(SystemMessage(content=[]), id="no blocks"),
    pytest.param(None, id="no system message"),
]


class TestInstructions:
    """Instruction files behind the system prompt."""

    @EITHER_WAY
    @pytest.mark.parametrize("system", SYSTEMS)
    def test_either_order(self, folder: Path, system: Any, *, is_async: bool) -> None:
        """The instructions stand before the section, whichever middleware is listed first, in each turn."""
        prompts = []
        for reverse in (False, True):
            middleware = [AgentsMdMiddleware(folder), FileRefsMiddleware(folder)]
            talk = chat(middleware=middleware[::-1] if reverse else middleware, system=system, is_async=is_async)
            prompts.append([talk.send(message).system for message in ("see @a.py", "thank you", "see @b.py")])

        base = "" if system is None else system if isinstance(system, str) else system.text
        instructed = "\n\n".join(part for part in (base, render(Loader(folder).read())) if part)
        assert prompts[0] == prompts[1] == [preprocess(message, instructed, folder).prompt for message in ("see @a.py", "thank you", "see @b.py")]

    def test_blocks_of_their_own(self, folder: Path) -> None:
        """In a system message of blocks the instructions are one, the section is another, in either order."""
        for middleware in ([AgentsMdMiddleware(folder), FileRefsMiddleware(folder)], [FileRefsMiddleware(folder), AgentsMdMiddleware(folder)]):
            talk = chat(middleware=middleware, system=SystemMessage(content=BLOCKS))
            talk.send("see @a.py")
            blocks = talk.model.seen[0][0].content

            assert blocks[:2] == BLOCKS
            assert ["Use tabs." in block["text"] for block in blocks] == [False, False, True, False]
            assert ["ALPHA" in block["text"] for block in blocks] == [False, False, False, True]

    def test_a_section_of_the_host_stays(self, folder: Path) -> None:
        """Alone, the middleware for instructions leaves a section that the host made itself."""
        prompt = preprocess("see @a.py", SYSTEM, folder).prompt
        sent = chat(middleware=[AgentsMdMiddleware(folder)], system=prompt).send("hello")

        assert sent.system == f"{prompt}\n\n{render(Loader(folder).read())}"

    @EITHER_WAY
    def test_read_anew_by_each_run(self, folder: Path, *, is_async: bool) -> None:
        """A run sees what was on disk when it began, in all of its steps; the next one sees what is there then."""

        class Writing(AgentMiddleware[Any, Any, Any]):
            def after_model(self, state: Any, runtime: Any) -> None:  # noqa: ARG002
                (folder / "AGENTS.md").write_text("Use blanks.\n", encoding="utf-8")

        talk = chat(Call("looked"), "done", middleware=[AgentsMdMiddleware(folder), Writing()], is_async=is_async)

        first, second = talk.send("hello"), talk.send("again")

        assert ["Use tabs." in system for system in first.systems] == [True, True]
        assert "Use blanks." in second.system
        assert "Use tabs." not in second.system

    def test_no_files(self, tree: Tree) -> None:
        """Without instruction files the prompt is the host's own, and the tools are not offered."""
        folder = tree({"docs/": None})
        talk = chat(middleware=[AgentsMdMiddleware(Loader(folder, root=folder), tools=True)])

        sent = talk.send("hello")

        assert [SYSTEM] == sent.systems
        assert ["look"] == talk.model.bound[0]

    def test_files_that_appear(self, tree: Tree) -> None:
        """A file that was written between two runs is there in the second, and so are the tools."""
        folder = tree({"docs/": None})
        talk = chat(middleware=[AgentsMdMiddleware(Loader(folder, root=folder), tools=True)])
        talk.send("hello")
        (folder / "AGENTS.md").write_text("Use tabs.\n", encoding="utf-8")

        sent = talk.send("again")

        assert "Use tabs." in sent.system
        assert {"project_list", "project_get"} < set(talk.model.bound[1])

    def test_warnings(self, folder: Path) -> None:
        """What went wrong is told in the run in which it is new, to the stream and to the host's function."""
        (folder / "AGENTS.md").write_text("Use tabs.\nSee @docs/style.md\n", encoding="utf-8")
        heard: list[str] = []
        talk = chat(middleware=[AgentsMdMiddleware(folder, on_warning=heard.append)])

        events = [list(talk.agent.stream({"messages": "hello"}, talk.config, stream_mode="custom")) for _ in range(2)]

        assert len(heard) == 1
        assert heard[0].startswith("@docs/style.md: ")
        assert events == [[{"type": "filerefs.agentsmd", "warnings": heard, "files": ["AGENTS.md"]}], []]
        assert talk.state["filerefs_instructions"]["warnings"] == heard

    def test_total_budget(self, folder: Path) -> None:
        """A Loader that is handed over brings its budget for all files together."""
        (folder / "AGENTS.md").write_text("Use tabs.\n" * 1000, encoding="utf-8")
        talk = chat(middleware=[AgentsMdMiddleware(Loader(folder, budget=500))])

        sent = talk.send("hello")

        assert len(sent.system) < 1500
        assert len(sent.warnings) == 1

    def test_error_no_folder(self, folder: Path) -> None:
        """A root that is not there is a mistake that the run tells."""
        missing = folder / "missing"
        with pytest.raises(RootNotFoundError):
            chat(middleware=[AgentsMdMiddleware(Loader(missing, root=missing))]).send("hello")

    @EITHER_WAY
    def test_tools(self, folder: Path, *, is_async: bool) -> None:
        """The tools list the files and return one, as it is when they are called; without a catalogue the prompt shows all of it."""
        (folder / "AGENTS.md").write_text("Use tabs.\n\n" * 1000, encoding="utf-8")
        script: Any = [calling("project_list"), calling("project_get", name="AGENTS.md"), calling("project_get", name="X.md"), calling("project_get")]
        talk = chat(*script, middleware=[AgentsMdMiddleware(folder, tools=True)], is_async=is_async)

        said = [text for role, text in talk.send("hello").conversation if role == "tool"]

        assert [{"name": "AGENTS.md", "bytes": 11_000, "complete": True}] == json.loads(said[0])
        assert said[1] == "Use tabs.\n\n" * 1000
        assert said[2].startswith("There is no instruction file X.md")
        assert said[3] == "project_get was not called: the argument `name` is missing."

    def test_catalog(self, folder: Path) -> None:
        """As a catalogue the prompt has the opening of a long file, and the tool has all of it."""
        (folder / "AGENTS.md").write_text("Use tabs.\n\n" * 1000 + "The end.\n", encoding="utf-8")
        script: Any = [calling("project_list"), calling("project_get", name="AGENTS.md")]
        talk = chat(*script, middleware=[AgentsMdMiddleware(folder, catalog=True)])

        sent = talk.send("hello")
        said = [text for role, text in sent.conversation if role == "tool"]

        assert "Use tabs." in sent.system
        assert "project_get" in sent.system
        assert "The end." not in sent.system
        assert json.loads(said[0])[0]["complete"] is False
        assert said[1].endswith("The end.\n")

    def test_a_file_that_is_gone(self, folder: Path) -> None:
        """A tool that is called when there are no instruction files any more says so."""
        middleware = AgentsMdMiddleware(Loader(folder, root=folder), tools=True)
        (folder / "AGENTS.md").unlink()

        arguments = ({}, {"name": "AGENTS.md"})
        assert ["This project has no instruction files."] * 2 == [tool.invoke(given) for tool, given in zip(middleware.tools, arguments, strict=True)]


def test_the_sample_of_the_docs(tree: Tree) -> None:
    """The first block of the page runs as it stands, and prints what stands below it."""
    folder = tree({"greet.py": 'print("hello")\n', "AGENTS.md": "Use tabs.\n"})
    model = ScriptedModel(script=["It prints hello.", "There is no such file."])
    sample, printed = read((REPOSITORY / "docs" / "integrations" / "langchain.md").read_text(encoding="utf-8"))[:2]

    output = execute(sample.text, folder, {"__name__": "__main__", "model": model})

    assert printed.text == output
    assert ['print("hello")' in system for system in model.systems] == [True, False]
    assert all("Use tabs." in system for system in model.systems)
