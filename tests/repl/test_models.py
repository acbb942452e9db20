"""Models: a scripted one of the `llm` library, and a server on loopback that streams."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

import pytest

from filerefs.chat.conversation import Exchange
from filerefs.chat.models import ModelError, open_model

from .server import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

llm: Any = pytest.importorskip("llm")

PAST = [Exchange("my name is Bob", "hello, Bob"), Exchange("explain a.py", "it prints")]


class Scripted(llm.Model):
    """Answers in pieces, and keeps what it was given, read in the two ways in which plugins read it."""

    model_id = "scripted"
    can_stream = True

    def __init__(self) -> None:
        self.messages: list[list[tuple[str, str]]] = []
        self.seen_by_old_plugins: list[list[tuple[str, str]]] = []
        self.trouble: Exception | None = None

    def execute(self, prompt: Any, stream: object, response: object, conversation: Any) -> Iterator[str]:  # noqa: ARG002 (the library passes them)
        self.messages.append([(message.role, "".join(part.text for part in message.parts)) for message in prompt.messages])
        said = []
        for past in conversation.responses:
            said += [("system", past.prompt.system)] if past.prompt.system else []
            said += [("user", past.prompt.prompt), ("assistant", past.text())]
        self.seen_by_old_plugins.append([*said, ("system", prompt.system), ("user", prompt.prompt)])
        yield "two "
        if self.trouble:
            raise self.trouble
        yield "pieces"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Scripted:
    """Return a model that `llm` knows by its name."""
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    model = Scripted()

    class Plugin:
        @llm.hookimpl
        def register_models(self, register: Any) -> None:
            register(model)

    plugin = Plugin()
    llm.get_models()  # loads what is installed first
    llm.plugins.pm.register(plugin, name="scripted")
    yield model
    llm.plugins.pm.unregister(name="scripted")


def test_a_model_of_the_library(scripted: Scripted) -> None:
    """The answer comes piece by piece; system prompt, history and message reach plugins of either kind, in their places."""
    pieces = list(open_model("scripted").answer("SYSTEM", PAST, "and now?"))

    said = [("user", "my name is Bob"), ("assistant", "hello, Bob"), ("user", "explain a.py"), ("assistant", "it prints")]
    assert ["two ", "pieces"] == pieces
    assert [[("system", "SYSTEM"), *said, ("user", "and now?")]] == scripted.messages
    assert [[*said, ("system", "SYSTEM"), ("user", "and now?")]] == scripted.seen_by_old_plugins


def test_error_a_plugin_that_fails(scripted: Scripted) -> None:
    """Whatever a plugin raises is one error with the model's name, behind the pieces that came."""
    scripted.trouble = KeyError("no such thing")
    pieces = open_model("scripted").answer("", [], "hello")

    assert next(pieces) == "two "
    with pytest.raises(ModelError, match=r"scripted: .*no such thing"):
        next(pieces)


@pytest.mark.usefixtures("scripted")
def test_error_an_unknown_model() -> None:
    """A name that no plugin knows is an error that says where the names are."""
    with pytest.raises(ModelError, match="llm models"):
        open_model("nobody")


def test_error_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `llm` the error says what to install."""
    monkeypatch.setitem(sys.modules, "llm", None)

    with pytest.raises(ModelError, match=r"pip install 'filerefs\[chat\]'"):
        open_model("gpt")


def test_a_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A server gets the messages in order, streams, and is never sent the key that was meant for another one."""
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-you")
    with serving(["Hel", "lo"], ["again"]) as server:
        pieces = list(open_model("tiny", base_url=server.url).answer("SYSTEM", PAST, "and now?"))
        again = list(open_model("tiny", base_url=server.url, key="secret").answer("", [], "x"))
        gc.collect()

    first, second = server.requests
    assert ["Hel", "lo"] == pieces
    assert ["again"] == again
    assert first["model"] == "tiny"
    assert first["stream"] is True
    assert ["system", "user", "assistant", "user", "assistant", "user"] == [message["role"] for message in first["messages"]]
    assert ["SYSTEM", "and now?"] == [first["messages"][0]["content"], first["messages"][-1]["content"]]
    assert ["user"] == [message["role"] for message in second["messages"]]
    assert "not-for-you" not in str(server.keys)
    assert server.keys[1] == "Bearer secret"


def test_error_a_server_that_refuses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a server says is wrong is told, with the model's name."""
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    with serving(400) as server, pytest.raises(ModelError, match=r"tiny: .*on holiday"):
        list(open_model("tiny", base_url=server.url).answer("", [], "x"))
    gc.collect()
