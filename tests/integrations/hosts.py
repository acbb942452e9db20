"""
Programs that keep plain lists of messages, one for each form: what `filerefs.messages` is for.

A host sends what a person says, answers calls of a tool, and calls `preprocess_messages` before each request, as a loop
would that knows nothing of turns.  How a request reaches the model is up to `ask`: here it goes nowhere, and with the
library of a provider through that.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from filerefs import Preprocessor, swap_section
from filerefs.messages import Dialect, Placement, is_section_part, preprocess_messages

from .contract import SYSTEM, Call, Sent, texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .contract import Answer


class Host:
    """One conversation in the form of chat completions, with a model that says what it was given to say."""

    dialect: ClassVar[Dialect] = "openai"

    def __init__(self, folder: Path, answers: Sequence[Answer], *, placement: Placement = "system", system: Any = SYSTEM) -> None:
        self.files = Preprocessor(folder)
        self.placement = placement
        self.answers = list(answers)
        self.messages: list[Any] = []
        self.system: Any = None
        self.begin(system)

    def begin(self, system: Any) -> None:
        """Put the system prompt where this form has it."""
        self.messages.append({"role": "system", "content": system})

    def send(self, message: str) -> Sent:
        """Send one message of the person, and answer tools until the model says something."""
        return self._send(message)

    def send_parts(self, *texts: str) -> Sent:
        """Do the same with a message of several texts."""
        return self._send([{"type": "input_text" if self.dialect == "responses" else "text", "text": text} for text in texts])

    def _send(self, content: Any) -> Sent:
        self.messages.append({"role": "user", "content": content})
        systems: list[str] = []
        warnings: list[str] = []
        while True:
            done = preprocess_messages(self.messages, self.files, system=self.system, dialect=self.dialect, placement=self.placement)
            self.messages, self.system = done.messages, done.system
            warnings += done.turn.warnings
            answer = self.answers.pop(0) if self.answers else "ok"
            body, said = self.ask(done.request, answer)
            systems.append(self.prompt_of(body))
            self.messages += said
            if not isinstance(answer, Call):
                return Sent(systems, self.conversation_of(body), warnings)
            self.messages.append(self.result(answer))

    def ask(self, request: dict[str, Any], answer: Answer) -> tuple[dict[str, Any], list[Any]]:
        """Return the request as it would stand on the wire, and the messages of the answer."""
        return json.loads(json.dumps(request)), [self.spoken(answer)]

    def spoken(self, answer: Answer) -> dict[str, Any]:
        """Return the model's message."""
        if isinstance(answer, str):
            return {"role": "assistant", "content": answer}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}

    def result(self, call: Call) -> dict[str, Any]:
        """Return the message with what the tool found."""
        return {"role": "tool", "tool_call_id": "1", "content": call.result}

    def system_of(self, body: dict[str, Any]) -> str:
        """Return the system prompt of a request."""
        return "\n\n".join(texts_of(message["content"]) for message in body["messages"] if message["role"] == "system")

    def items_of(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the messages of a request."""
        return list(body["messages"])

    def prompt_of(self, body: dict[str, Any]) -> str:
        """Return the system prompt of a request; with a section in front of a message it is that with the section behind it."""
        parts = [part for item in self.items_of(body) if item.get("role") == "user" and isinstance(item["content"], list) for part in item["content"]]
        sections = [part["text"] for part in parts if is_section_part(part)]
        assert len(sections) <= 1
        return swap_section(self.system_of(body), sections[0]) if sections else self.system_of(body)

    def conversation_of(self, body: dict[str, Any]) -> list[tuple[str, str]]:
        """Return who said what in a request, without the system prompt."""
        return [(role, text) for item in self.items_of(body) for role, text in [self.said(item)] if role not in {"system", "developer"}]

    def said(self, item: dict[str, Any]) -> tuple[str, str]:
        """Return who says what in one message."""
        return item["role"], _typed(item["content"])


class ResponsesHost(Host):
    """The same in the form of OpenAI's responses."""

    dialect = "responses"

    def begin(self, system: Any) -> None:
        self.system = system

    def spoken(self, answer: Answer) -> dict[str, Any]:
        if isinstance(answer, str):
            return {"role": "assistant", "content": answer}
        return {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"}

    def result(self, call: Call) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": "1", "output": call.result}

    def system_of(self, body: dict[str, Any]) -> str:
        return str(body.get("instructions", ""))

    def items_of(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        return list(body["input"])

    def said(self, item: dict[str, Any]) -> tuple[str, str]:
        if item.get("type") == "function_call_output":
            return "tool", item["output"]
        return item.get("role", "assistant"), _typed(item.get("content", ""))


class AnthropicHost(Host):
    """The same in Anthropic's form."""

    dialect = "anthropic"

    def begin(self, system: Any) -> None:
        self.system = system

    def spoken(self, answer: Answer) -> dict[str, Any]:
        if isinstance(answer, str):
            return {"role": "assistant", "content": [{"type": "text", "text": answer}]}
        return {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "look", "input": {}}]}

    def result(self, call: Call) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": call.result}]}

    def system_of(self, body: dict[str, Any]) -> str:
        return texts_of(body.get("system", ""))

    def said(self, item: dict[str, Any]) -> tuple[str, str]:
        results = [part["content"] for part in item["content"] if isinstance(part, dict) and part.get("type") == "tool_result"]
        return ("tool", str(results[0])) if results else (item["role"], _typed(item["content"]))


def _typed(content: Any) -> str:
    return texts_of(content if isinstance(content, str) else [part for part in content or [] if not is_section_part(part)])
