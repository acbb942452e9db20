"""An offline chat model for LangChain's agents, and chats on agents with it, sync and async."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from .contract import Call, Offer, Sent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langchain_core.tools import BaseTool

    from .contract import Answer

ROLES = {"human": "user", "ai": "assistant", "tool": "tool"}


class ScriptedModel(BaseChatModel):
    """
    Says *script* in order, then "ok" for ever; an exception in it is raised.

    Attributes:
        seen: What it was sent, each time it was called.
        bound: The names of the tools that it was offered, each time.
        offered: The tools themselves that it was offered last.
    """

    script: list[Any] = Field(default_factory=list)
    seen: list[list[BaseMessage]] = Field(default_factory=list)
    bound: list[list[str]] = Field(default_factory=list)
    offered: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> ScriptedModel:
        self.bound.append([tool.name for tool in tools])
        self.offered = list(tools)
        return self

    def _generate(self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **_: Any) -> ChatResult:  # noqa: ARG002
        self.seen.append(list(messages))
        said = self.script.pop(0) if self.script else "ok"
        if isinstance(said, Exception):
            raise said
        message = AIMessage(said) if isinstance(said, str) else said
        return ChatResult(generations=[ChatGeneration(message=message)])

    @property
    def systems(self) -> list[str]:
        """The text of the system prompt of each call, "" without one."""
        return [system_of(messages) for messages in self.seen]


_numbers = itertools.count()


def calling(tool: str, **arguments: Any) -> AIMessage:
    """Return an answer that calls a tool."""
    return AIMessage("calling", tool_calls=[{"name": tool, "args": arguments, "id": f"call-{next(_numbers)}"}])


def system_of(messages: Sequence[BaseMessage]) -> str:
    return "".join(str(message.text) for message in messages if isinstance(message, SystemMessage))


def scripted(answers: Sequence[Answer]) -> tuple[ScriptedModel, BaseTool]:
    """Return a model that gives the contract's *answers*, and the tool that it calls in them."""
    results = [answer.result for answer in answers if isinstance(answer, Call)]
    model = ScriptedModel(script=[calling("look") if isinstance(answer, Call) else answer for answer in answers])
    return model, StructuredTool.from_function(lambda: results.pop(0), name="look", description="Looks.")


class AgentChat:
    """One thread of an agent, by its checkpointer; *make* builds the agent of a model, tools and a checkpointer."""

    def __init__(self, make: Callable[..., Any], *answers: Answer, is_async: bool = False) -> None:
        self.model, tool = scripted(answers)
        self.agent = make(self.model, tools=[tool], checkpointer=InMemorySaver())
        self.config = {"configurable": {"thread_id": "thread"}}
        self.is_async = is_async

    def send(self, message: Any) -> Sent:
        """Send *message* in any form that an agent takes as "messages"."""
        return self.run({"messages": message if isinstance(message, list) else [{"role": "user", "content": message}]})

    def send_parts(self, *texts: str) -> Sent:
        """Send one message of several texts."""
        return self.send([("user", [{"type": "text", "text": text} for text in texts])])

    def run(self, given: Any) -> Sent:
        """Give the agent any input, None and commands too."""
        before = len(self.model.seen)
        events = asyncio.run(self._astream(given)) if self.is_async else list(self.agent.stream(given, self.config, stream_mode="custom"))
        calls = self.model.seen[before:]
        return Sent(
            systems=[system_of(messages) for messages in calls],
            conversation=[(ROLES[message.type], str(message.text)) for message in calls[-1] if message.type in ROLES] if calls else [],
            warnings=[warning for event in events for warning in event["warnings"]],
        )

    def offers(self) -> list[Offer]:
        """Return the tools that the model is handed."""
        self.send("hello")
        return [Offer(tool.name, tool.description, tool.args_schema, tool.invoke) for tool in self.model.offered if isinstance(tool.args_schema, dict)]

    @property
    def state(self) -> dict[str, Any]:
        """What the checkpointer has of the thread."""
        values: dict[str, Any] = self.agent.get_state(self.config).values
        return values

    async def _astream(self, given: Any) -> list[Any]:
        return [event async for event in self.agent.astream(given, self.config, stream_mode="custom")]
