"""The middleware for LangChain, in agents of deepagents with an offline model."""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

pytest.importorskip("langchain", reason="needs filerefs[langchain]")
pytest.importorskip("deepagents", minversion="0.7", reason="needs deepagents 0.7 or later")

from deepagents import SubAgent, create_deep_agent
from deepagents.backends import FilesystemBackend
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from filerefs import preprocess
from filerefs.agentsmd import Loader, render
from filerefs.integrations.langchain import AgentsMdMiddleware, FileRefsMiddleware

from .contract import SYSTEM, Answer, Call, Offer, ToolContract
from .langchain_chats import AgentChat, ScriptedModel, calling

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Tree

EITHER_WAY = pytest.mark.parametrize("is_async", [pytest.param(False, id="sync"), pytest.param(True, id="async")])


@pytest.fixture
def folder(tree: Tree) -> Path:
    return tree({"a.py": "ALPHA = 1\n", "b.py": "BRAVO = 2\n", "AGENTS.md": "Use tabs.\n"})


def chat(*answers: Answer, middleware: Any, is_async: bool = False, system: Any = SYSTEM, **options: Any) -> AgentChat:
    def make(model: ScriptedModel, **others: Any) -> Any:
        return create_deep_agent(model, system_prompt=system, middleware=middleware, **options, **others)

    return AgentChat(make, *answers, is_async=is_async)


class TestDeepAgent(ToolContract):
    """The contract, for `create_deep_agent` and `stream`."""

    is_async: ClassVar[bool] = False

    def open(self, folder: Path, *answers: Answer) -> AgentChat:
        return self._chat(FileRefsMiddleware(folder), *answers)

    def offer(self, folder: Path) -> list[Offer]:
        return self._chat(FileRefsMiddleware(folder, tools=True)).offers()

    def open_pair(self, folder: Path) -> tuple[AgentChat, AgentChat]:
        middleware = FileRefsMiddleware(folder)
        return self._chat(middleware), self._chat(middleware)

    def _chat(self, middleware: FileRefsMiddleware, *answers: Answer) -> AgentChat:
        return chat(*answers, middleware=[middleware], is_async=self.is_async)


class TestAsyncDeepAgent(TestDeepAgent):
    """The contract, for `create_deep_agent` and `astream`."""

    is_async = True


class Pairs(AgentChat):
    """A chat whose messages are pairs, which deepagents leaves without an id."""

    def send(self, message: Any) -> Any:
        return super().send(message if isinstance(message, list) else [("user", message)])


class TestMessagesWithoutIds(TestDeepAgent):
    """The contract, where messages are given as pairs."""

    def _chat(self, middleware: FileRefsMiddleware, *answers: Answer) -> AgentChat:
        def make(model: ScriptedModel, **others: Any) -> Any:
            return create_deep_agent(model, system_prompt=SYSTEM, middleware=[middleware], **others)

        return Pairs(make, *answers, is_async=self.is_async)


@EITHER_WAY
@pytest.mark.parametrize(
    "form",
    [
        pytest.param("see @a.py", id="a text"),
        pytest.param([("user", "see @a.py")], id="a pair"),
        pytest.param([{"role": "user", "content": "see @a.py"}], id="a dict"),
        pytest.param([HumanMessage("see @a.py")], id="a message"),
        pytest.param([HumanMessage("see @a.py", id="7")], id="a message with an id"),
        pytest.param([HumanMessage([{"type": "text", "text": "see @a.py"}])], id="a block"),
        pytest.param([("user", "hello"), ("ai", "hi"), ("user", "see @a.py")], id="pairs behind pairs"),
    ],
)
def test_a_message_is_replaced(folder: Path, form: Any, *, is_async: bool) -> None:
    """Whatever the form, the rewritten message takes the place of the typed one, and the others keep theirs."""
    talk = chat("one", "two", middleware=[FileRefsMiddleware(folder)], is_async=is_async)

    talk.run({"messages": form})
    sent = talk.run({"messages": [("user", "see @b.py")]})

    said = [text for role, text in sent.conversation if role == "user"]
    assert [text for text in said if text != "hello"] == ["see a.py", "see b.py"]
    assert len(sent.conversation) == len(form) + 2 if isinstance(form, list) else 3
    assert "BRAVO" in sent.system
    assert "ALPHA" not in sent.system


def test_the_same_words_again(folder: Path) -> None:
    """Two messages without ids are two messages, also where they say the same: a file that came since is found."""
    talk = chat(middleware=[FileRefsMiddleware(folder)])
    first = talk.run({"messages": [("user", "see @c.py")]})
    (folder / "c.py").write_text("CHARLIE = 3\n", encoding="utf-8")

    second = talk.run({"messages": [("user", "see @c.py")]})

    assert len(first.warnings) == 1
    assert [] == second.warnings
    assert "CHARLIE" in second.system


def worker(**options: Any) -> Any:
    return {"name": "second", "description": "Helps.", **options}


def task(description: str = "look at @b.py") -> AIMessage:
    return calling("task", description=description, subagent_type="second")


@EITHER_WAY
@pytest.mark.parametrize("has_middleware", [pytest.param(False, id="without middleware"), pytest.param(True, id="with middleware")])
def test_sub_agents_have_no_section(folder: Path, *, has_middleware: bool, is_async: bool) -> None:
    """A sub-agent sees neither the files of the person's message nor those that its task names; two may run at once."""
    middleware = FileRefsMiddleware(folder)
    helper_model = ScriptedModel()
    second = worker(system_prompt="You help.", model=helper_model, tools=[], middleware=[middleware] if has_middleware else [])
    both = task().model_copy(update={"tool_calls": [*task().tool_calls, *task("look at @a.py").tool_calls]})
    talk = chat(both, "done", middleware=[middleware], subagents=[second], is_async=is_async)  # type: ignore[arg-type]

    sent = talk.send("see @a.py")

    assert ["You help.", "You help."] == [system[: len("You help.")] for system in helper_model.systems]
    assert not any("ALPHA" in system or "BRAVO" in system for system in helper_model.systems)
    assert {"look at @b.py", "look at @a.py"} == {str(messages[-1].text) for messages in helper_model.seen}
    assert sent.systems[0] == sent.systems[1]
    assert "ALPHA" in sent.system


@EITHER_WAY
def test_sub_agents_with_tools(folder: Path, *, is_async: bool) -> None:
    """A sub-agent that has the tools reads files by itself."""
    helper_model = ScriptedModel(script=[calling("read_ref", ref="b.py"), "found"])
    second = worker(system_prompt="You help.", model=helper_model, tools=[], middleware=[FileRefsMiddleware(folder, tools=True)])
    talk = chat(task(), "done", middleware=[FileRefsMiddleware(folder)], subagents=[second], is_async=is_async)  # type: ignore[arg-type]

    talk.send("see @a.py")

    assert "BRAVO" in helper_model.seen[1][-1].text
    assert "read_ref" in helper_model.bound[0]
    assert "read_ref" not in talk.model.bound[0]


@pytest.mark.skipif("mode" not in SubAgent.__annotations__, reason="this deepagents has no forks")
@EITHER_WAY
def test_forks_have_no_section(folder: Path, *, is_async: bool) -> None:
    """A fork has the main agent's middleware and messages, but not what is private in its state; its task attaches nothing."""
    fork_model = ScriptedModel(script=[calling("read_ref", ref="a.py")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # forks are a beta of deepagents, which it warns of
        talk = chat(
            task(),  # type: ignore[arg-type]
            "done",
            middleware=[FileRefsMiddleware(folder, tools=True), AgentsMdMiddleware(folder)],
            subagents=[worker(mode="fork", model=fork_model)],
            is_async=is_async,
        )

    sent = talk.send("see @a.py")

    assert sent.systems == [sent.system, sent.system]
    assert [f"{SYSTEM}\n\n{render(Loader(folder).read())}"] * 2 == fork_model.systems
    assert "see a.py" in [message.text for message in fork_model.seen[0]]
    assert fork_model.seen[0][-1].text.endswith("look at @b.py")
    assert "ALPHA" in fork_model.seen[1][-1].text


@EITHER_WAY
def test_either_order(folder: Path, *, is_async: bool) -> None:
    """The instructions stand before the section, whichever middleware is listed first."""
    prompts = []
    for reverse in (False, True):
        middleware: list[Any] = [AgentsMdMiddleware(folder), FileRefsMiddleware(folder)]
        talk = chat(middleware=middleware[::-1] if reverse else middleware, is_async=is_async)
        prompts.append(talk.send("see @a.py").system)

    assert prompts[0] == prompts[1] == preprocess("see @a.py", f"{SYSTEM}\n\n{render(Loader(folder).read())}", folder).prompt


def test_beside_its_own_memory(folder: Path) -> None:
    """What deepagents' own memory adds comes behind the section, which is whole, a block of its own, and swapped in each turn."""
    backend = FilesystemBackend(root_dir=str(folder), virtual_mode=True)
    system = SystemMessage(content=[{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}])
    talk = chat(middleware=[FileRefsMiddleware(folder)], system=system, backend=backend, memory=["/AGENTS.md"])

    talk.send("see @a.py")
    talk.send("see @b.py")
    talk.send("thank you")

    first, second, third = (messages[0].content for messages in talk.model.seen)
    assert first[0] == second[0] == third[0] == system.content[0]
    assert first[1]["text"] == preprocess("see @a.py", SYSTEM, folder).prompt.removeprefix(SYSTEM)
    assert second[1]["text"] == preprocess("see @b.py", SYSTEM, folder).prompt.removeprefix(SYSTEM)
    assert ["Use tabs." in block["text"] for block in first] == [False, False, True]
    assert ["Use tabs." in block["text"] for block in third] == [False, True]


@EITHER_WAY
def test_resumed_by_a_person(folder: Path, *, is_async: bool) -> None:
    """A run that waited for a person goes on with its section."""
    saver = InMemorySaver()

    def agent(model: ScriptedModel, checkpointer: Any, **options: Any) -> Any:  # noqa: ARG001 (one for both)
        return create_deep_agent(model, middleware=[FileRefsMiddleware(folder)], interrupt_on={"look": True}, checkpointer=saver, **options)

    before = AgentChat(agent, Call("nothing"), is_async=is_async).run({"messages": [("user", "see @a.py")]})
    (folder / "a.py").write_text("changed since\n", encoding="utf-8")
    after = AgentChat(agent, Call("found"), is_async=is_async)
    after.model.script = ["done"]
    sent = after.run(Command(resume={"decisions": [{"type": "approve"}]}))

    assert before.system == sent.system
    assert "ALPHA" in sent.system
    assert ("tool", "found") in sent.conversation


def test_tried_again(folder: Path) -> None:
    """A run that failed, and is tried again, has its section and warns once, whether or not its message had an id."""
    talk = chat(RuntimeError("busy"), "done", middleware=[FileRefsMiddleware(folder)])  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="busy"):
        talk.run({"messages": [("user", "see @a.py and @missing.py")]})

    sent = talk.run({"messages": []})

    assert talk.model.systems[0] == sent.system
    assert [] == sent.warnings


def test_stream_of_messages(folder: Path) -> None:
    """The stream of messages has what the model says, and not the rewritten message of the person."""
    talk = chat("done", middleware=[FileRefsMiddleware(folder)])

    async def collect() -> list[Any]:
        return [event async for event in talk.agent.astream({"messages": [("user", "see @a.py")]}, talk.config, stream_mode="messages")]

    assert ["done"] == [message.text for message, _ in asyncio.run(collect())]
