"""
The README, run: every block as a reader would run it, every row of its tables against the code.

After a change that is meant, `UPDATE_GOLDEN=1 python -m pytest tests/docs/test_readme.py` writes what the blocks print
anew, and the diff is what a reviewer reads.
"""

from __future__ import annotations

import doctest
import inspect
import os
import re
import shutil
import sys
from ast import literal_eval
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import filerefs
from filerefs import Limits, Reason

from .blocks import Block, execute, read, replay, rewrite, shell
from .grammar_examples import README, REPOSITORY, load, parameters, plant
from .test_grammar import described

TEXT = README.read_text(encoding="utf-8")
BLOCKS = read(TEXT)
HERE = [block for block in BLOCKS if not block.in_the_clone]
LOOP = next(block for block in BLOCKS if "Preprocessor(" in block.text)
SWITCHES = r"^\| `([\w.]+)` \| `.+?` \| (?:`(--[\w-]+)` )?\| .+ \|$"
INSTALL = next(block for block in BLOCKS if "pip install" in block.text)
MAKE_RUN = next(block for block in BLOCKS if block.text.startswith("$ make run\n"))

GREET = 'def greet(name):\n    return f"Hello, {name}!"\n'


def make_project(folder: Path) -> Path:
    """Make a folder with the one file that the README names most."""
    folder.mkdir()
    (folder / "greet.py").write_text(GREET, encoding="utf-8")
    return folder


class Typist:
    """Types scripted lines where a program asks for input, and answers for a model, keeping what it was sent."""

    def __init__(self, *lines: str) -> None:
        self.lines = [*lines, "/quit"]
        self.sent: list[tuple[str, str]] = []

    def input(self, _: str) -> str:
        return self.lines.pop(0)

    def chat(self, system: str, history: list[dict[str, str]]) -> str:
        self.sent.append((system, history[-1]["content"]))
        return f"answer {len(self.sent)}"

    def names(self) -> dict[str, Any]:
        return {"__name__": "__main__", "input": self.input, "chat": self.chat}


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> list[Block]:
    """Return the blocks of the README with what they really print."""
    folder = tmp_path_factory.mktemp("readme")
    blocks = replay(TEXT, folder, Typist("explain @greet.py").names())
    if os.environ.get("UPDATE_GOLDEN"):
        README.write_text(rewrite(TEXT, blocks), encoding="utf-8", newline="")
    return blocks


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a copy of what a clone of the repository holds."""
    unwanted = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "dist", "build", "htmlcov")
    return Path(shutil.copytree(REPOSITORY, tmp_path / "clone", ignore=unwanted))


@pytest.mark.parametrize("number", range(len(HERE)), ids=[f"{block.language} {block.title}" for block in HERE])
def test_a_block_prints_what_it_shows(number: int, replayed: list[Block]) -> None:
    """Each block, run in the reader's folder, prints byte for byte what stands behind it."""
    assert HERE[number] == replayed[number]


def test_every_block_is_run() -> None:
    """No block is of a kind that nothing runs, and what a text block shows is printed by the block before it."""
    kinds = [block.language for block in BLOCKS]

    assert set(kinds) == {"console", "python", "text"}
    assert all(kinds[number - 1] == "python" for number, kind in enumerate(kinds) if kind == "text")
    assert sorted(block.start for block in (*HERE, INSTALL, MAKE_RUN)) == [block.start for block in BLOCKS]


def test_make_run_prints_what_is_shown(clone: Path) -> None:
    """`make run`, where everything is installed, does the main job on the files of the clone."""
    _pretend_to_be_installed(clone)
    (command,) = MAKE_RUN.commands

    printed = shell(command, clone)

    shown = MAKE_RUN.text.partition("\n")[2]
    assert doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS), printed


def _pretend_to_be_installed(clone: Path) -> None:
    """Give *clone* the environment of this test in place of the one that `make` would build for minutes."""
    environment = clone / ".venv"
    environment.mkdir()
    scripts = environment / "bin"
    scripts.mkdir()
    program = scripts / "filerefs"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m filerefs "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    (environment / ".package").touch()


@pytest.mark.slow
def test_it_installs_as_shown(clone: Path) -> None:
    """What the README says makes the command, with all that it needs, in an environment of its own."""
    (command,) = INSTALL.commands
    probe = "python3 -m pip download --quiet --no-deps --dest . regex || echo unreachable"
    if shell(probe, make_project(clone.parent / "probe")).endswith("unreachable\n"):
        pytest.skip("no package index can be reached")

    # pip warns of whatever it finds odd on the machine; nothing else is printed.
    printed = shell(command, clone, PIP_DISABLE_PIP_VERSION_CHECK="1", PYTHONPATH="").splitlines()
    assert [] == [line for line in printed if not line.startswith("WARNING: ")]
    assert INSTALL.text == f"$ {command}\n"

    script = clone / ".venv" / "bin" / "filerefs"
    project = make_project(clone.parent / "project")
    assert shell(f"'{script}' expand --only message --quiet 'explain @greet.py'", project, PYTHONPATH="") == "explain greet.py"


def test_the_loop_sends_what_it_should(tmp_path: Path) -> None:
    """The loop sends plain paths and the files of one turn only, and prints warnings and answers."""
    typist = Typist("explain @greet.py", "thanks, and @gret.py?", "good bye, @alice")

    printed = execute(LOOP.text, make_project(tmp_path / "project"), typist.names() | {"filerefs": filerefs})

    prompts, messages = zip(*typist.sent, strict=True)
    assert ("explain greet.py", "thanks, and @gret.py?", "good bye, @alice") == messages
    assert [GREET in prompt for prompt in prompts] == [True, False, False]
    assert prompts[2] == "You are a helpful assistant."
    warning = "! could not attach @gret.py: no such file — did you mean @greet.py?"
    assert ["answer 1", warning, "answer 2", "answer 3"] == printed.splitlines()


def test_the_loop_has_at_most_ten_lines() -> None:
    """Who reads the loop sees all of it at once."""
    assert LOOP.text.count("\n") <= 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of docs/grammar.md, with a file beside it."""
    outside = tmp_path_factory.mktemp("table")
    (outside / "outside.txt").write_text("outside\n", encoding="utf-8")
    return plant(outside / "root")


@pytest.mark.parametrize("example", parameters(README))
def test_the_table_of_mentions(example: Any, folder: Path) -> None:
    """Each row of the table becomes what it says, and is sent as it says."""
    turn = filerefs.preprocess(example.message, root=folder, **example.options)

    assert example.outcomes == described(turn)
    assert example.becomes == turn.message


def test_the_table_has_all_kinds() -> None:
    """Among the rows are mentions that are attached, refused and plain, and messages without any."""
    words = {word for example in load(README) for _, word in example.outcomes or (("", "none"),)}

    assert {"", "12-40", "media", "not_found", "outside_root", "absolute", "home", "symlink", "secret", "plain", "none"} <= words | {"12-40"}


def test_every_reason_is_named() -> None:
    """What it refuses are all the reasons that there are."""
    section = TEXT.partition("## What it refuses\n")[2].partition("\n## ")[0]

    assert {reason.value for reason in Reason} == set(re.findall(r"`([a-z_]+)`", section)) - {"allow"}


def test_the_options_are_those_of_the_code() -> None:
    """The table of options has every option with its default."""
    rows = {name: literal_eval(default) for name, default in re.findall(r"^\| `([\w.]+)` \| `(.+?)` \|", TEXT, re.MULTILINE)}
    signature = inspect.signature(filerefs.preprocess).parameters.values()
    expected = {option.name: option.default for option in signature if option.name not in ("message", "prompt")}
    expected |= {f"Limits.{limit.name}": getattr(Limits(), limit.name) for limit in fields(Limits)}

    assert expected == rows


def test_the_options_of_the_command_line_are_those_it_has() -> None:
    """The table names the switch of each option that has one, and no other."""
    known = set(re.findall(r"--[\w-]+", shell(f"'{sys.executable}' -m filerefs expand --help", REPOSITORY)))
    named = {name.rpartition(".")[2]: switch for name, switch in re.findall(SWITCHES, TEXT, re.MULTILINE)}
    expected = {name: next((switch for switch in (f"--{name.replace('_', '-')}", f"--no-{name}") if switch in known), "") for name in named}

    assert expected == named


def test_it_is_short() -> None:
    """Fewer than 200 lines: the rest is in docs/."""
    assert TEXT.count("\n") < 200


def test_one_sentence_says_what_it_is() -> None:
    """The README, the package and its metadata open with the same sentence."""
    metadata = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    description = re.search(r'^description = "(.+)"$', metadata, re.MULTILINE)

    assert description is not None
    assert TEXT.splitlines()[2] == filerefs.__doc__ == f"filerefs {description[1]}."
