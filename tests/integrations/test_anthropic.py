"""Anthropic's own library: blocks reach the wire as they were made, marks for the cache stay, and a middleware works."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from filerefs import Preprocessor
from filerefs.messages import preprocess_messages

from ..docs.blocks import execute, read  # noqa: TID252 (tests are no package that has a name)
from .contract import SYSTEM, Call, Contract
from .hosts import AnthropicHost

if TYPE_CHECKING:
    from conftest import Tree

    from .contract import Answer, Chat

anthropic = pytest.importorskip("anthropic", reason="needs the library of Anthropic")
# From its second version on it has a successor of httpx.
try:
    import httpx2 as http
except ImportError:
    http = pytest.importorskip("httpx", reason="needs the library of Anthropic")

PAGE = Path(__file__).parents[2] / "docs" / "integrations" / "anthropic.md"
CACHED = {"cache_control": {"type": "ephemeral"}}


class Wire:
    """A server that keeps the bodies of requests, fails as often as it is told, and answers; `client` is connected to it."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.answer: Answer = "ok"
        self.failures = 0
        self.transport = http.MockTransport(self._handle)

    def client(self, **options: Any) -> Any:
        return anthropic.Anthropic(api_key="none", base_url="http://offline.invalid", http_client=http.Client(transport=self.transport), **options)

    def _handle(self, request: Any) -> Any:
        self.bodies.append(json.loads(request.content))
        if self.failures:
            self.failures -= 1
            return http.Response(529, headers={"retry-after-ms": "1"}, json={"type": "error", "error": {"type": "overloaded_error", "message": "later"}})
        block = {"type": "text", "text": self.answer}
        if isinstance(self.answer, Call):
            block = {"type": "tool_use", "id": "1", "name": "look", "input": {}}
        about = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": None}
        return http.Response(200, json=about | {"content": [block], "usage": {"input_tokens": 1, "output_tokens": 1}})


class LibraryHost(AnthropicHost):
    """The library's blocks go back into the list as they are."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self.wire = Wire()
        super().__init__(*given, **options)

    def ask(self, request: dict[str, Any], answer: Answer) -> tuple[dict[str, Any], list[Any]]:
        self.wire.answer = answer
        with self.wire.client() as client:
            message = client.messages.create(model="m", max_tokens=9, **request)
        return self.wire.bodies[-1], [{"role": "assistant", "content": message.content}]


class TestText(Contract):
    """A system prompt that is text."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return LibraryHost(folder, answers)


class TestBlocks(Contract):
    """A system prompt of blocks, with a mark for the cache on the stable one."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return LibraryHost(folder, answers, system=[{"type": "text", "text": SYSTEM, **CACHED}])


class TestUser(Contract):
    """The section in front of the message."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return LibraryHost(folder, answers, placement="user")


def test_stable_block_is_the_same_each_turn(tree: Tree) -> None:
    """What stands before a mark for the cache has the same bytes in all turns, whatever files they have."""
    host = LibraryHost(tree({"a.py": "a\n", "b.py": "b\n"}), [], system=[{"type": "text", "text": SYSTEM, **CACHED}])
    for message in ("see @a.py", "and @b.py", "thanks"):
        host.send(message)

    assert [body["system"][0] for body in host.wire.bodies] == [{"type": "text", "text": SYSTEM, **CACHED}] * 3
    assert [len(body["system"]) for body in host.wire.bodies] == [2, 2, 1]


@pytest.mark.parametrize("placement", ["system", "user"])
def test_media_reach_the_wire(tree: Tree, placement: Any) -> None:
    """The call takes the blocks for an image and a PDF, and sends them as they are."""
    wire = Wire()
    with Preprocessor(tree({"a.png": b"\x89PNG\r\n\x1a\n", "b.pdf": b"%PDF-1.7\n"}), media=True) as files, wire.client() as client:
        done = preprocess_messages("@a.png @b.pdf", files, dialect="anthropic", placement=placement)
        client.messages.create(model="m", max_tokens=9, **done.request)

    assert wire.bodies[0]["messages"] == done.messages
    assert [block["type"] for block in done.messages[-1]["content"]][-3:] == ["text", "image", "document"]


def test_middleware_in_the_retry_loop(tree: Tree) -> None:
    """A middleware runs again for each attempt, and each attempt is the same request."""
    project = tree({"a.py": "print()\n"})
    if not hasattr(anthropic, "Middleware"):
        pytest.skip("this version has no middleware")

    class FileRefs(anthropic.Middleware):  # type: ignore[misc]
        def handle(self, request: Any, call_next: Any) -> Any:
            body = request.json
            done = preprocess_messages(body["messages"], project, dialect="anthropic", system=body.get("system"))
            again = preprocess_messages(done.messages, project, dialect="anthropic", system=done.system)
            return call_next(request.copy(body={**body, **again.request}))

    wire = Wire()
    wire.failures = 2
    with wire.client(middleware=[FileRefs()]) as client:
        client.messages.create(model="m", max_tokens=9, system="S", messages=[{"role": "user", "content": "see @a.py"}])

    assert len(wire.bodies) == 3
    assert wire.bodies[0] == wire.bodies[1] == wire.bodies[2]
    assert wire.bodies[0]["messages"] == [{"role": "user", "content": "see a.py"}]
    assert "print()" in wire.bodies[0]["system"]


def test_page(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample of the page runs as it is, and keeps what is stable apart from the files."""
    wire = Wire()
    client = functools.partial(anthropic.Anthropic, api_key="none", base_url="http://offline.invalid", http_client=http.Client(transport=wire.transport))
    monkeypatch.setattr(anthropic, "Anthropic", client)
    typed = iter(["explain @a.py and @b.py, not `@a.py`", "thanks", "/quit"])

    printed = execute(read(PAGE.read_text(encoding="utf-8"))[0].text, tree({"a.py": "print()\n"}), {"input": lambda _: next(typed)})

    assert printed == "! could not attach @b.py: no such file — did you mean @a.py?\n! in code, not attached: @a.py\nok\nok\n"
    stable = {"type": "text", "text": "Be brief.", **CACHED}
    assert [body["system"][0] for body in wire.bodies] == [stable, stable]
    assert "print()" in wire.bodies[0]["system"][1]["text"]
    assert [message["role"] for message in wire.bodies[1]["messages"]] == ["user", "assistant", "user"]
    assert wire.bodies[1]["system"] == [stable]


def test_mark_of_the_page(tree: Tree) -> None:
    """Up to the mark of one request the next one is the same, so that it is found in the cache."""
    names: dict[str, Any] = {}
    execute(read(PAGE.read_text(encoding="utf-8"))[1].text, tree({"a.py": "a\n", "b.py": "b\n", "c.py": "c\n"}), names)
    host = LibraryHost(tree.folder, [], placement="user")
    ask = host.ask
    host.ask = lambda request, answer: ask(
        request if len(request["messages"]) < 2 else {**request, "messages": names["with_mark"](request["messages"])}, answer
    )
    for message in ("see @a.py", "and @b.py", "and @c.py"):
        host.send(message)

    second, third = (_with_marks(body["messages"]) for body in host.wire.bodies[1:])
    assert [[mark for _, mark in request].index(True) for request in (second, third)] == [1, 3]
    assert [block for block, _ in third[:2]] == [block for block, _ in second[:2]]


def _with_marks(messages: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """Return the texts of all blocks, and whether a mark stands behind them."""
    contents = [message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}] for message in messages]
    return [(block["text"], "cache_control" in block) for content in contents for block in content]
