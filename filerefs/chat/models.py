"""What answers: models of the `llm` library, those of its plugins, and servers that speak the chat-completions protocol."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from filerefs.errors import FilerefsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from filerefs.chat.conversation import Exchange


# What servers answer that want a key, or another one.
_KEY_REFUSED = (401, 403)


class ModelError(FilerefsError):
    """A model could not be had, or could not answer; the text says why."""


class Model(Protocol):
    """
    Whatever answers.

    Attributes:
        name: What the person calls it.
    """

    name: str

    def answer(self, system: str, history: Sequence[Exchange], message: str) -> Iterator[str]:
        """
        Yield the answer, piece by piece.

        Args:
            system: The whole system prompt of this turn, with its section; it is for this turn alone.
            history: What was said before, without any system prompt.
            message: As it is sent, with plain paths.

        Raises:
            ModelError: If there is no answer, or no more of it.
        """
        ...


def open_model(name: str, *, base_url: str | None = None, key: str | None = None) -> Model:
    """
    Return the model called *name*.

    Args:
        name: As `llm models` lists it, or as the server calls it.
        base_url: Of a server that speaks the chat-completions protocol; None for a model that `llm` knows.
        key: For the server, or the name under which `llm keys` has it.

    Raises:
        ModelError: If there is no such model, or the `llm` library is not installed.
    """
    try:
        import llm

        # Older ones do not have it, and what is asked of a model is made of it.
        import_module("llm.parts")
    except ImportError as error:
        from filerefs.integrations.extras import lacking

        raise ModelError(str(lacking("a chat with a model", "llm", error, extra="chat"))) from error
    if base_url is not None:
        return _LibraryModel(name, _server_model(name, base_url, llm.get_key(input=key) if key else None), None)
    try:
        return _LibraryModel(name, llm.get_model(name), llm.get_key(input=key) if key else None)
    except llm.UnknownModelError as error:
        raise ModelError(f"there is no model {name!r}; `llm models` lists those that there are") from error


def _server_model(name: str, base_url: str, key: str | None) -> Any:  # noqa: ANN401 (llm's own class has no type that can be used)
    from llm.default_plugins import openai_models

    plugin: Any = openai_models
    model = plugin.Chat(f"server:{name}", key=key, model_name=name, api_base=base_url)
    # Without a key of its own a server must not be sent the one of another.
    model.needs_key = "filerefs-chat" if key else None
    return model


class _LibraryModel:
    """A model of the `llm` library."""

    def __init__(self, name: str, model: Any, key: str | None) -> None:  # noqa: ANN401
        self.name = name
        self._model = model
        self._key = key

    def answer(self, system: str, history: Sequence[Exchange], message: str) -> Iterator[str]:
        """Yield the answer as `llm` streams it; a model that cannot stream gives one piece."""
        try:
            yield from self._ask(system, history, message)
        except Exception as error:
            # Plugins raise what they please; a chat goes on whatever it is.  It is raised again, as ours.
            raise ModelError(f"{self.name}: {str(error) or type(error).__name__}{_key_advice(error)}") from error

    def _ask(self, system: str, history: Sequence[Exchange], message: str) -> Iterator[str]:
        import llm
        from llm.parts import Message, TextPart

        said = [("system", system)] if system else []
        for exchange in history:
            said += [("user", exchange.message), ("assistant", exchange.answer)]
        conversation: Any = llm.Conversation(model=self._model)
        conversation.responses = [_past(self._model, exchange) for exchange in history]
        yield from conversation.prompt(
            message,
            system=system or None,
            messages=[Message(role=role, parts=[TextPart(text=text)]) for role, text in said],
            stream=bool(self._model.can_stream),
            key=self._key,
        )


def _key_advice(error: Exception) -> str:
    """Return how to give a key, if *error* is the lack of one or that a server did not take it."""
    import llm

    if isinstance(error, llm.NeedsKeyException) or getattr(error, "status_code", None) in _KEY_REFUSED:
        return " (`--key KEY` gives a key to this chat, and `--key NAME` the one that `llm keys set NAME` keeps)"
    return ""


def _past(model: Any, exchange: Exchange) -> Any:  # noqa: ANN401
    """
    Return *exchange* as the plugins read it that do not know messages: a response that is done, without a system prompt.

    Made from what was said, and not kept from when it was: a response remembers the system prompt, and with it the files.
    """
    import llm

    library: Any = llm
    response = library.Response(library.Prompt(exchange.message, model=model), model, stream=False)
    response._chunks = [exchange.answer]  # noqa: SLF001 (there is no public way to make one that is done)
    response._done = True  # noqa: SLF001
    return response
