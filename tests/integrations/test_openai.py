"""OpenAI's own library: what `filerefs.messages` makes goes through it to the wire, and what it returns comes back in the list."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from filerefs import Preprocessor
from filerefs.messages import preprocess_messages

from ..docs.blocks import execute, read  # noqa: TID252 (tests are no package that has a name)
from .contract import Call, Contract
from .hosts import Host, ResponsesHost

if TYPE_CHECKING:
    from conftest import Tree

    from .contract import Answer, Chat

openai = pytest.importorskip("openai", reason="needs the library of OpenAI")
# From its third version on it has a successor of httpx.
try:
    import httpx2 as http
except ImportError:
    http = pytest.importorskip("httpx", reason="needs the library of OpenAI")

PAGE = Path(__file__).parents[2] / "docs" / "integrations" / "openai.md"


class Wire:
    """A server that keeps the bodies of requests and answers as it is told; `client` is the library's own, connected to it."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.answer: Answer = "ok"
        self.transport = http.MockTransport(self._handle)

    @property
    def client(self) -> Any:
        return openai.OpenAI(api_key="none", base_url="http://offline.invalid/v1", http_client=http.Client(transport=self.transport))

    def _handle(self, request: Any) -> Any:
        self.bodies.append(json.loads(request.content))
        return http.Response(200, json=_response(self.answer) if request.url.path.endswith("/responses") else _completion(self.answer))


def _completion(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer}
    if isinstance(answer, Call):
        call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def _response(answer: Answer) -> dict[str, Any]:
    text = {"type": "output_text", "text": answer, "annotations": []}
    item: dict[str, Any] = {"type": "message", "id": "x", "role": "assistant", "status": "completed", "content": [text]}
    if isinstance(answer, Call):
        item = {"type": "function_call", "id": "f", "call_id": "1", "name": "look", "arguments": "{}"}
    about = {"id": "r", "object": "response", "created_at": 0, "model": "m", "status": "completed"}
    return about | {"output": [item], "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}


class CompletionsHost(Host):
    """Chat completions; the library's messages go back into the list as they are."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self.wire = Wire()
        super().__init__(*given, **options)

    def ask(self, request: dict[str, Any], answer: Answer) -> tuple[dict[str, Any], list[Any]]:
        self.wire.answer = answer
        with self.wire.client as client:
            completion = client.chat.completions.create(model="m", **request)
        return self.wire.bodies[-1], [completion.choices[0].message]


class LibraryResponsesHost(ResponsesHost):
    """Responses; the library's items go back into the list as they are."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self.wire = Wire()
        super().__init__(*given, **options)

    def ask(self, request: dict[str, Any], answer: Answer) -> tuple[dict[str, Any], list[Any]]:
        self.wire.answer = answer
        with self.wire.client as client:
            response = client.responses.create(model="m", **request)
        return self.wire.bodies[-1], list(response.output)


class TestCompletions(Contract):
    """Chat completions with the section in the system message."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return CompletionsHost(folder, answers)


class TestCompletionsUser(Contract):
    """Chat completions with the section in front of the message."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return CompletionsHost(folder, answers, placement="user")


class TestResponses(Contract):
    """Responses with the section in the instructions."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return LibraryResponsesHost(folder, answers)


class TestResponsesUser(Contract):
    """Responses with the section in front of the message."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return LibraryResponsesHost(folder, answers, placement="user")


@pytest.mark.parametrize("placement", ["system", "user"])
def test_media_reach_the_wire(tree: Tree, placement: Any) -> None:
    """Both calls take the parts for an image and a PDF, and send them as they are."""
    wire = Wire()
    with Preprocessor(tree({"a.png": b"\x89PNG\r\n\x1a\n", "b.pdf": b"%PDF-1.7\n"}), media=True) as files, wire.client as client:
        chat = preprocess_messages("@a.png @b.pdf", files, placement=placement)
        client.chat.completions.create(model="m", **chat.request)
        response = preprocess_messages("@a.png @b.pdf", files, dialect="responses", placement=placement)
        client.responses.create(model="m", **response.request)

    assert wire.bodies[0]["messages"] == chat.messages
    assert wire.bodies[1]["input"] == response.messages
    assert [part["type"] for part in chat.messages[-1]["content"]][-2:] == ["image_url", "file"]
    assert [part["type"] for part in response.messages[-1]["content"]][-2:] == ["input_image", "input_file"]


def test_retries_send_the_same(tree: Tree) -> None:
    """A loop that preprocesses before each attempt, over what it sent before, sends the same each time."""
    project = tree({"a.py": "print()\n"})
    wire = Wire()
    messages: list[Any] = [{"role": "system", "content": "S"}, {"role": "user", "content": "see @a.py"}]
    with wire.client as client:
        for _ in range(3):
            messages = preprocess_messages(messages, project).messages
            client.chat.completions.create(model="m", messages=messages)

    assert wire.bodies[0]["messages"][1]["content"] == "see a.py"
    assert wire.bodies[0] == wire.bodies[1] == wire.bodies[2]


def test_page(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample of the page runs as it is, and asks about the file that it names."""
    wire = Wire()
    client = functools.partial(openai.OpenAI, api_key="none", base_url="http://offline.invalid/v1", http_client=http.Client(transport=wire.transport))
    monkeypatch.setattr(openai, "OpenAI", client)
    typed = iter(["explain @a.py and @b.py, not `@a.py`", "thanks", "/quit"])

    printed = execute(read(PAGE.read_text(encoding="utf-8"))[0].text, tree({"a.py": "print()\n"}), {"input": lambda _: next(typed)})

    assert printed == "! could not attach @b.py: no such file — did you mean @a.py?\n! in code, not attached: @a.py\nok\nok\n"
    assert "print()" in wire.bodies[0]["messages"][0]["content"]
    assert [message["content"] for message in wire.bodies[1]["messages"]] == ["Be brief.", "explain a.py and @b.py, not `@a.py`", "ok", "thanks"]


def test_responses_of_the_page(tree: Tree) -> None:
    """The function of the page asks with this turn's instructions, and its list goes on."""
    wire = Wire()
    names: dict[str, Any] = {"preprocess_messages": preprocess_messages}
    project = tree({"a.py": "print()\n"})
    execute(read(PAGE.read_text(encoding="utf-8"))[1].text, project, names)

    with wire.client as client:
        items, _ = names["respond"](client, [], "explain @a.py", project)
        names["respond"](client, items, "thanks", project)

    assert "print()" in wire.bodies[0]["instructions"]
    assert wire.bodies[1]["instructions"] == "Be brief."
    assert [item.get("content") for item in wire.bodies[1]["input"]][::2] == ["explain a.py", "thanks"]
