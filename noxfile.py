"""
The adapters' tests against the real packages: each extra alone, at its lowest and its newest versions, and all together.

    nox --list
    nox --session together
    nox --session "alone(langchain, lowest)"

`make test-integrations` runs all of them.  Without the package that it is about a test module skips itself as a
whole, and pytest then says that it ran nothing, which fails the session.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import nox

nox.needs_version = ">=2025.5"
# uv alone knows the lowest versions that the requirements allow, and makes an environment in seconds.
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"


class Plan(NamedTuple):
    """What an extra's tests are, in which folder, and what they need that is no part of the extra."""

    modules: tuple[str, ...]
    beside: tuple[str, ...] = ()
    folder: str = "tests/integrations"

    @property
    def paths(self) -> list[str]:
        """The test modules."""
        return [f"{self.folder}/test_{module}.py" for module in self.modules]


ADAPTERS = {
    "acp": Plan(("acp",)),
    "adk": Plan(("adk",)),
    "fsspec": Plan(("fsspec",)),
    "langchain": Plan(("langchain",)),
    "llm": Plan(("llm",)),
    "mcp": Plan(("mcp",)),
    "openai-agents": Plan(("openai_agents",)),
    "prompt-toolkit": Plan(("prompt_toolkit",), folder="tests/repl"),
    "pydantic-ai": Plan(("pydantic_ai",)),
}
# These have no extra: there is nothing to install but the library that a recipe is about.
RECIPES = {
    "anthropic": Plan(("anthropic",), ("anthropic>=2",)),
    "deepagents": Plan(("deepagents",), ("filerefs[langchain]", "deepagents>=0.7")),
    "litellm": Plan(("litellm",), ("litellm>=1.80",)),
    "openai": Plan(("openai",), ("openai>=3",)),
    "scale": Plan(("scale",), ("dask[bag,distributed]>=2026.3",)),
}

EACH_RESOLUTION = nox.parametrize("resolution", ["lowest-direct", "highest"], ids=["lowest", "newest"])


@nox.session
@EACH_RESOLUTION
@nox.parametrize("extra", sorted(ADAPTERS), ids=sorted(ADAPTERS))
def alone(session: nox.Session, extra: str, resolution: str) -> None:
    """Test one extra as its users install it, at the lowest versions that it allows or at the newest."""
    plan = ADAPTERS[extra]
    session.install("--resolution", resolution, "--editable", f".[{extra}]", *plan.beside)
    _run(session, plan.paths)


@nox.session
@EACH_RESOLUTION
@nox.parametrize("name", sorted(RECIPES), ids=sorted(RECIPES))
def recipe(session: nox.Session, name: str, resolution: str) -> None:
    """Test a library for which there is a page in the docs and no adapter, at the lowest version that it is for or at the newest."""
    plan = RECIPES[name]
    session.install("--resolution", resolution, "--editable", ".", *plan.beside)
    _run(session, plan.paths)


@nox.session
def together(session: nox.Session) -> None:
    """Test all extras in one environment, at the newest versions that go together."""
    session.install("--editable", ".[all]", *(requirement for plan in RECIPES.values() for requirement in plan.beside))
    _run(session, [path for plan in (*ADAPTERS.values(), *RECIPES.values()) for path in plan.paths])


@nox.session
def types(session: nox.Session) -> None:
    """Check the adapters with both type checkers, and the types of the frameworks themselves."""
    session.install("--editable", ".[all]", "--group", "types")
    modules = sorted(str(path) for path in Path("filerefs/integrations").glob("*.py"))
    session.run("mypy", *modules)
    session.run("pyright", *modules)


def _run(session: nox.Session, paths: list[str]) -> None:
    """Run the test modules at *paths*; each by itself, so that one that skips itself fails the session."""
    session.install("--group", "test-integrations")
    for path in paths:
        session.run("python", "-m", "pytest", path, *session.posargs, env={"LITELLM_LOCAL_MODEL_COST_MAP": "True"})
