"""The samples of docs/embedding.md and docs/repl.md, run; and the picture, drawn anew."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import filerefs
from filerefs import agentsmd, cli, retrieval
from filerefs.chat.commands import COMMANDS

from ..docs.blocks import execute, read, shell  # noqa: TID252 (tests are no package that has a name)
from ..docs.grammar_examples import REPOSITORY  # noqa: TID252

if TYPE_CHECKING:
    from collections.abc import Iterator

EMBEDDING = (REPOSITORY / "docs" / "embedding.md").read_text(encoding="utf-8")
CHAT = (REPOSITORY / "docs" / "repl.md").read_text(encoding="utf-8")
BLOCKS = read(EMBEDDING)
PLAIN, TOOLKIT, ASYNCIO, KEPT, KEPT_PRINTED, COMPLETION, PRINTED, PHASES, PHASES_PRINTED = BLOCKS
GREET = 'def greet(name):\n    return f"Hello, {name}!"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "greet.py").write_text(GREET, encoding="utf-8")
    (folder / ".env").write_text("KEY=1\n", encoding="utf-8")
    return folder


def sizeless(text: str) -> str:
    """Return *text* without the size of the system prompt, which depends on how the section is worded."""
    return re.sub(r"(?<=a system prompt of )[0-9.]+ K?B", "N", text)


class Host:
    """What the samples take from their surroundings: lines that are typed, and a model that keeps what it was sent."""

    def __init__(self, *lines: str) -> None:
        self.lines = [*lines, "/quit"]
        self.sent: list[tuple[str, str]] = []
        self.lengths: list[int] = []

    def input(self, _: str) -> str:
        return self.lines.pop(0)

    def chat(self, system: str, history: list[dict[str, str]]) -> str:
        self.sent.append((system, history[-1]["content"]))
        self.lengths.append(len(history))
        return f"answer {len(self.sent)}"

    async def achat(self, system: str, history: list[dict[str, str]]) -> str:
        await asyncio.sleep(0)
        return self.chat(system, history)

    def names(self) -> dict[str, Any]:
        return {"__name__": "__main__", "input": self.input, "chat": self.chat, "achat": self.achat}


@contextlib.contextmanager
def keyboard(text: str) -> Iterator[None]:
    """Let prompt_toolkit read *text*, and draw nothing."""
    pytest.importorskip("prompt_toolkit")
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        pipe.send_text(text)
        yield


@pytest.fixture(autouse=True)
def _interrupts() -> Iterator[None]:
    """A sample that says what Ctrl-C does says it for its own process."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("sample", [pytest.param(PLAIN, id="plain input"), pytest.param(ASYNCIO, id="asyncio"), pytest.param(TOOLKIT, id="prompt_toolkit")])
def test_the_samples_send_what_they_should(sample: Any, folder: Path) -> None:
    """Each loop sends plain paths with the files of one turn, and tells what was refused."""
    host = Host("explain @greet.py", "and @gret.py?")
    typed = keyboard("explain @greet.py\rand @gret.py?\r/quit\r") if sample is TOOLKIT else contextlib.nullcontext()

    with typed:
        printed = execute(sample.text, folder, host.names())

    prompts, messages = zip(*host.sent, strict=True)
    assert ("explain greet.py", "and @gret.py?") == messages
    assert [True, False] == [GREET in prompt for prompt in prompts]
    assert "could not attach @gret.py: no such file" in printed
    assert "answer 2" in printed


@pytest.mark.parametrize("key", [pytest.param("\x03", id="Ctrl-C"), pytest.param("\x04", id="Ctrl-D")])
@pytest.mark.parametrize("sample", [pytest.param(PLAIN, id="plain input"), pytest.param(ASYNCIO, id="asyncio"), pytest.param(TOOLKIT, id="prompt_toolkit")])
def test_the_samples_are_left_without_a_traceback(sample: Any, key: str, folder: Path) -> None:
    """Ctrl-C and Ctrl-D end each loop at a terminal at once, and nothing is said of an exception."""
    pexpect = pytest.importorskip("pexpect")
    if sample is TOOLKIT:
        pytest.importorskip("prompt_toolkit")
    models = "def chat(*_): return 'an answer'\nasync def achat(*_): return 'an answer'\n"
    environment = {**os.environ, "PYTHONPATH": str(Path(filerefs.__file__).parents[1]), "TERM": "xterm"}

    program = pexpect.spawn(sys.executable, ["-c", models + sample.text], cwd=str(folder), env=environment, encoding="utf-8", timeout=60)
    with contextlib.closing(program):
        program.expect_exact(">")
        program.send("hello\r")
        program.expect_exact("an answer")
        program.expect_exact(">")
        program.send(key)
        program.expect(pexpect.EOF)
        said = program.before
        program.wait()

    assert "Traceback" not in said
    assert (0, None) == (program.exitstatus, program.signalstatus) or (sample is ASYNCIO and key == "\x03" and program.signalstatus == signal.SIGINT)


def test_completion_as_shown(folder: Path) -> None:
    """The sample for completion prints what stands behind it."""
    assert PRINTED.text == execute(COMPLETION.text, folder, {})


@pytest.mark.parametrize("sample", [pytest.param(PLAIN, id="plain input"), pytest.param(ASYNCIO, id="asyncio"), pytest.param(TOOLKIT, id="prompt_toolkit")])
def test_the_samples_say_what_there_is_to_say(sample: Any, folder: Path) -> None:
    """Warnings and notices are each a line behind a mark; where there are none, nothing is printed; what was said is kept."""
    for number in range(30):
        (folder / f"{number}.txt").write_text("x\n", encoding="utf-8")
    lines = ["hello", "see `@greet.py`", " ".join(f"@{number}.txt" for number in range(30)) + " @gret.py"]
    host = Host(*lines)
    expected = [filerefs.preprocess(line, root=folder) for line in lines]
    typed = keyboard("".join(f"{line}\r" for line in [*lines, "/quit"])) if sample is TOOLKIT else contextlib.nullcontext()

    with typed:
        printed = execute(sample.text, folder, host.names())

    told = [[f"! {notice}" for notice in turn.warnings + turn.notices] for turn in expected]
    assert any(turn.notices for turn in expected)
    assert [line for number, notices in enumerate(told) for line in [*notices, f"answer {number + 1}"]] == [
        line for line in printed.split("\n")[:-1] if not line.startswith("attached")
    ]
    assert [1, 3, 5] == host.lengths


def test_a_kept_file_as_shown(folder: Path) -> None:
    """The sample for a file that stays prints what stands behind it."""
    assert KEPT_PRINTED.text == execute(KEPT.text, folder, {})


def test_the_arguments_of_the_tools_are_all_there(folder: Path) -> None:
    """The table of the tools names each of them with all of its arguments, and no other."""
    chapter = EMBEDDING.partition("## Tools for the model")[2].partition("\n## ")[0]
    named: dict[str, list[str]] = {}
    for tool, argument in re.findall(r"^\| (?:`(\w+)`)? ?\| (?:`(\w+)`)? ?\|", chapter, re.MULTILINE):
        arguments = named.setdefault(tool, []) if tool else named[list(named)[-1]]
        arguments += [argument] if argument else []
    with filerefs.Preprocessor(folder) as files:
        tools = [*retrieval.file_tools(files), *agentsmd.tools([agentsmd.Entry(name="AGENTS.md", text="x", inline="")])]

    assert {tool.name: list(tool.parameters["properties"]) for tool in tools} == named


def test_the_phases_print_what_they_should(folder: Path) -> None:
    """The phases one by one give what the page shows."""
    assert PHASES_PRINTED.text == execute(PHASES.text, folder, {})


def test_samples_are_short() -> None:
    """Twenty lines are enough for each."""
    assert [] == [block.title for block in BLOCKS if block.text.count("\n") > 20]


def test_the_refusals_as_shown(folder: Path) -> None:
    """The console block of docs/repl.md prints what it shows; which stream it is on does not matter there."""
    (block,) = [block for block in read(CHAT) if block.language == "console"]
    (command,) = block.commands

    printed = shell(command, folder)

    assert sorted(sizeless(block.text).splitlines()[1:]) == sorted(sizeless(printed).splitlines())


def test_commands_and_options_are_those_of_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    """Every command is in the table, and every option that the page names is one of the chat, or of `expand`."""
    named = set(re.findall(r"`(/[a-z]+)", CHAT.partition("## Commands")[2].partition("\n## ")[0]))
    with pytest.raises(SystemExit):
        cli.main(["chat", "--help"])
    known = capsys.readouterr().out

    assert {command.name for command in COMMANDS} == named
    assert [] == [option for option in re.findall(r"`(--?[a-z][a-z-]*)", CHAT) if f"{option} " not in known and f"{option}," not in known]


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals as POSIX has them")
def test_the_picture_is_current(tmp_path: Path) -> None:
    """docs/chat.svg is what `make recording` draws; after a change that is meant, it is drawn anew and looked at."""
    pytest.importorskip("pyte")
    pytest.importorskip("prompt_toolkit")
    from .recording import record

    project = tmp_path / "project"
    project.mkdir()

    assert sizeless((REPOSITORY / "docs" / "chat.svg").read_text(encoding="utf-8")) == sizeless(record(project))
