"""LiteLLM: the form of chat completions, and what becomes of it on the way to Anthropic."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from filerefs import Preprocessor
from filerefs.messages import preprocess_messages

from ..docs.blocks import execute, read  # noqa: TID252 (tests are no package that has a name)
from .contract import SYSTEM, Call, Contract
from .hosts import AnthropicHost, Host

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Tree

    from .contract import Answer, Chat

# Else importing it asks a server for prices.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]

litellm = pytest.importorskip("litellm", reason="needs LiteLLM")
http = pytest.importorskip("httpx", reason="needs LiteLLM")

PAGE = Path(__file__).parents[2] / "docs" / "integrations" / "litellm.md"
CACHED = {"cache_control": {"type": "ephemeral"}}


class Spy(litellm.integrations.custom_logger.CustomLogger):  # type: ignore[misc]
    """Keeps what is about to be sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Any] = []

    def log_pre_api_call(self, model: str, messages: list[Any], kwargs: Any) -> None:
        del model, kwargs
        self.sent.append(json.loads(json.dumps(messages, default=lambda message: message.model_dump(exclude_none=True))))


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Spy:
    """Return a logger that LiteLLM calls."""
    spy = Spy()
    monkeypatch.setattr(litellm, "callbacks", [spy])
    return spy


class CompletionHost(Host):
    """LiteLLM with a response of its own making; its messages go back into the list as they are."""

    spy: Spy

    def ask(self, request: dict[str, Any], answer: Answer) -> tuple[dict[str, Any], list[Any]]:
        call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        scripted = {"mock_tool_calls": [call], "mock_response": ""} if isinstance(answer, Call) else {"mock_response": answer}
        completion = litellm.completion(model="gpt-4o", **request, **scripted)
        return {"messages": self.spy.sent[-1]}, [completion.choices[0].message]


class Wire:
    """A server of Anthropic's that keeps the bodies of requests."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.answer: Answer = "ok"
        handler = litellm.llms.custom_httpx.http_handler.HTTPHandler(client=http.Client(transport=http.MockTransport(self._handle)))
        self.completion = functools.partial(litellm.completion, api_key="none", client=handler)

    def _handle(self, request: Any) -> Any:
        self.bodies.append(json.loads(request.content))
        block = {"type": "text", "text": self.answer}
        if isinstance(self.answer, Call):
            block = {"type": "tool_use", "id": "1", "name": "look", "input": {}}
        about = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": None}
        return http.Response(200, json=about | {"content": [block], "usage": {"input_tokens": 1, "output_tokens": 1}})


class TranslatedHost(Host):
    """Lists in the form of chat completions, and on the wire what Anthropic takes."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self.wire = Wire()
        self.reader = AnthropicHost(given[0], [])
        super().__init__(*given, **options)

    def ask(self, request: dict[str, Any], answer: Answer) -> tuple[dict[str, Any], list[Any]]:
        self.wire.answer = answer
        tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
        completion = self.wire.completion(model="anthropic/claude-sonnet-4-5", max_tokens=9, tools=[tool], **request)
        return self.wire.bodies[-1], [completion.choices[0].message]

    def prompt_of(self, body: dict[str, Any]) -> str:
        return self.reader.prompt_of(body)

    def conversation_of(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        return self.reader.conversation_of(body)


class TestCompletion(Contract):
    """The section in the system message."""

    @pytest.fixture(autouse=True)
    def _spy(self, spy: Spy) -> Iterator[None]:
        CompletionHost.spy = spy
        yield
        del CompletionHost.spy

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return CompletionHost(folder, answers)


class TestCompletionUser(TestCompletion):
    """The section in front of the message."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return CompletionHost(folder, answers, placement="user")


class TestAnthropic(Contract):
    """On to Anthropic, with a system message of parts."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return TranslatedHost(folder, answers, system=[{"type": "text", "text": SYSTEM, **CACHED}])


class TestAnthropicUser(Contract):
    """On to Anthropic, with the section in front of the message."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return TranslatedHost(folder, answers, placement="user")


@pytest.mark.parametrize("placement", ["system", "user"])
def test_marks_and_media_reach_anthropic(tree: Tree, placement: Any) -> None:
    """The mark for the cache stays on the stable block, the section is a block of its own, image and PDF are what Anthropic takes."""
    wire = Wire()
    stable = {"type": "text", "text": SYSTEM, **CACHED}
    with Preprocessor(tree({"a.png": b"\x89PNG\r\n\x1a\n", "b.pdf": b"%PDF-1.7\n"}), media=True) as files:
        done = preprocess_messages([{"role": "system", "content": [stable]}, {"role": "user", "content": "@a.png @b.pdf"}], files, placement=placement)
        wire.completion(model="anthropic/claude-sonnet-4-5", max_tokens=9, **done.request)

    body = wire.bodies[0]
    assert body["system"][0] == stable
    assert [len(body["system"]), len(body["messages"][0]["content"])] == ([2, 3] if placement == "system" else [1, 4])
    assert [block["type"] for block in body["messages"][0]["content"]][-3:] == ["text", "image", "document"]


def test_page(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample of the page runs as it is."""
    wire = Wire()
    monkeypatch.setattr(litellm, "completion", wire.completion)
    # Of a model that is younger than its list, it tells standard output where the list is.
    monkeypatch.setattr(litellm, "suppress_debug_info", True)
    typed = iter(["explain @a.py and @b.py, not `@a.py`", "thanks", "/quit"])

    printed = execute(read(PAGE.read_text(encoding="utf-8"))[0].text, tree({"a.py": "print()\n"}), {"input": lambda _: next(typed)})

    assert printed == "! could not attach @b.py: no such file — did you mean @a.py?\n! in code, not attached: @a.py\nok\nok\n"
    assert "print()" in wire.bodies[0]["system"][1]["text"]
    assert wire.bodies[1]["system"] == [wire.bodies[0]["system"][0]] == [{"type": "text", "text": "Be brief.", **CACHED}]
