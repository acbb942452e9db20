"""What somebody is told whose framework is missing, or another version than an adapter needs: one sentence, with the command that helps."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Framework(NamedTuple):
    """
    The library of an extra.

    Attributes:
        title: What it is called in a sentence.
        distribution: What it is called where packages are installed from.
        module: What is imported of it.
        least: The first version that will do.
        below: The first one behind that which will not; "" for none.
    """

    title: str
    distribution: str
    module: str
    least: str
    below: str = ""

    @property
    def needed(self) -> str:
        """Which versions will do, in words."""
        return f"{self.least} or later" + (f" and before {self.below}" if self.below else "")

    def takes(self, version: str) -> bool:
        """Tell whether *version* will do; what stands behind its numbers does not count."""
        return _numbers(self.least) <= _numbers(version) and (not self.below or _numbers(version) < _numbers(self.below))


FRAMEWORKS: Final = {
    "acp": Framework("the ACP SDK", "agent-client-protocol", "acp", "0.12", "0.13"),
    "adk": Framework("the Agent Development Kit", "google-adk", "google.adk", "1.20"),
    "fsspec": Framework("fsspec", "fsspec", "fsspec", "2024.2"),
    "langchain": Framework("langchain", "langchain", "langchain", "1.3", "2"),
    "llm": Framework("llm", "llm", "llm", "0.36"),
    "mcp": Framework("the MCP SDK", "mcp", "mcp", "2", "3"),
    "openai-agents": Framework("the OpenAI Agents SDK", "openai-agents", "agents", "0.18.1"),
    "prompt-toolkit": Framework("prompt_toolkit", "prompt-toolkit", "prompt_toolkit", "3.0.41"),
    "pydantic-ai": Framework("Pydantic AI", "pydantic-ai-slim", "pydantic_ai", "1.75"),
}
"""By their extras; the bounds are those of `pyproject.toml`."""


def lacking(who: str, framework: str, error: ImportError, *, extra: str = "") -> ImportError:
    """
    Return what to raise where *framework* could not be imported.

    Args:
        who: What needs it, the beginning of the sentence.
        framework: Its name in `FRAMEWORKS`.
        error: What the import raised, or what was raised from that.
        extra: What to install it by, if that is another one than its own.
    """
    about, command = FRAMEWORKS[framework], f"'filerefs[{extra or framework}]'"
    cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
    found = "" if _is_missing(about, cause) else _installed(about)
    needs = f"{who} needs {about.title}, {about.needed}"
    if not found:
        sentence = f"{needs}: pip install {command}"
    elif about.takes(found):
        sentence = f"{needs}, and {found}, which is installed, cannot be imported ({cause!r}): pip install --upgrade {command}"
    else:
        sentence = f"{needs}, and not {found}, which is installed: pip install --upgrade {command}"
    return ImportError(sentence, name=cause.name)


def _is_missing(about: Framework, error: ImportError) -> bool:
    """Tell whether it is the framework that is not there, and not something in it."""
    return isinstance(error, ModuleNotFoundError) and f"{about.module}.".startswith(f"{error.name}.")


def _installed(about: Framework) -> str:
    """Return the version that is installed; "" for none."""
    from importlib import metadata  # takes longer than all else here

    try:
        return metadata.version(about.distribution)
    except metadata.PackageNotFoundError:
        return ""


def _numbers(version: str) -> list[int]:
    numbers = [int(number) for number in re.findall(r"\d+", re.split(r"[^\d.]", version, maxsplit=1)[0])]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers
