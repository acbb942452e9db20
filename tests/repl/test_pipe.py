"""The chat as a pipe: a message or a command per line, or JSON; and what the commands say."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import filerefs
from filerefs import Preprocessor
from filerefs.chat import commands
from filerefs.chat.commands import COMMANDS, find_command
from filerefs.chat.conversation import Conversation

from .server import serving

if TYPE_CHECKING:
    from conftest import Tree


class Finished(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def chat(folder: Path, *lines: str | bytes, options: tuple[str, ...] = (), **variables: str) -> Finished:
    """Give *lines* to the chat in *folder* through a pipe."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONWARNDEFAULTENCODING", "NO_COLOR")}
    environment |= {"PYTHONPATH": str(Path(filerefs.__file__).parents[1]), "LLM_USER_PATH": str(folder.parent / "llm"), **variables}
    given = b"".join(line if isinstance(line, bytes) else line.encode() + b"\n" for line in lines)
    command = [sys.executable, "-P", "-m", "filerefs", "chat", *options]
    finished = subprocess.run(command, input=given, capture_output=True, cwd=folder, env=environment, check=False, timeout=60)
    return Finished(finished.returncode, finished.stdout.decode(), finished.stderr.decode())


@pytest.fixture
def folder(tree: Tree) -> Path:
    return tree({"src/app.py": "print('app')\n", "my notes.txt": "notes\n", "big.txt": "line\n" * 60_000, "AGENTS.md": "# Rules\nBe kind.\n"})


def test_one_message_per_line(folder: Path) -> None:
    """Without a model, each line comes out as it would be sent; notices are apart, and nothing is coloured."""
    finished = chat(folder, "explain @src/app.py", "", "hello @alice", "and @src/ap.py, @big.txt")

    assert ["explain src/app.py", "hello @alice", "and @src/ap.py, big.txt"] == finished.lines
    assert "attached src/app.py (13 B, python)" in finished.err
    assert "warning: could not attach @src/ap.py: no such file\n   hint: did you mean @src/app.py?" in finished.err
    assert "cut to 200.0 KB of 293.0 KB" in finished.err
    assert "\x1b" not in finished.out + finished.err
    assert finished.code == 0


def test_bytes_that_are_no_text(folder: Path) -> None:
    """What is no UTF-8 passes through unharmed; the last line needs no end."""
    environment = {"PYTHONPATH": str(Path(filerefs.__file__).parents[1])}
    command = [sys.executable, "-P", "-m", "filerefs", "chat"]
    finished = subprocess.run(command, input=b"\xff @src/app.py", capture_output=True, cwd=folder, env=os.environ | environment, check=True)

    assert b"\xff src/app.py\n" == finished.stdout


def test_a_model_answers(folder: Path) -> None:
    """With a model its answers come out; each request has this turn's files alone, and the messages as they were sent."""
    with serving(["It ", "prints."], ["Bye."]) as server:
        finished = chat(folder, "explain @src/app.py", "thanks", options=("-m", "tiny", "--base-url", server.url, "--system", "SYSTEM"))

    first, second = (request["messages"] for request in server.requests)
    assert ["It prints.", "Bye."] == finished.lines
    assert ["system", "user"] == [message["role"] for message in first]
    assert first[0]["content"].startswith("SYSTEM\n\n")
    assert "Be kind." in first[0]["content"]
    assert "print('app')" in first[0]["content"]
    assert ["explain src/app.py", "It prints.", "thanks"] == [message["content"] for message in second[1:]]
    assert "print('app')" not in second[0]["content"]


def test_error_a_model_that_fails(folder: Path) -> None:
    """A turn without an answer is told, is not remembered, and costs the next one nothing."""
    with serving(400, ["Fine."]) as server:
        finished = chat(folder, "one", "two", options=("-m", "tiny", "--base-url", server.url))

    assert ["Fine."] == finished.lines
    assert "error: tiny: " in finished.err
    assert "on holiday" in finished.err
    assert finished.code == 1
    assert ["two"] == [message["content"] for message in server.requests[1]["messages"] if message["role"] != "system"]


def test_error_a_model_that_fails_in_json(folder: Path) -> None:
    """A line without an answer says so, and the exit code tells it as well."""
    with serving(400) as server:
        finished = chat(folder, '{"message": "one"}', options=("--json", "-m", "tiny", "--base-url", server.url))

    assert "no_answer" == json.loads(finished.out)["error"]["code"]
    assert finished.code == 1


@pytest.mark.parametrize("failure", [401, 403])
def test_error_a_server_that_wants_a_key(folder: Path, failure: int) -> None:
    """The error says how a key is given."""
    with serving(failure) as server:
        finished = chat(folder, "one", options=("-m", "tiny", "--base-url", server.url))

    assert "`--key KEY` gives a key" in finished.err
    assert "`llm keys set NAME`" in finished.err


def test_error_no_key(folder: Path) -> None:
    """A provider's model without a key ends in an error that says how one is given."""
    finished = chat(folder, "one", options=("-m", "gpt-4o-mini"), OPENAI_API_KEY="")

    assert finished.err.startswith("error: gpt-4o-mini: No key found")
    assert "`--key KEY` gives a key" in finished.err
    assert finished.code == 1


def test_json_lines(folder: Path) -> None:
    """Each line in gives one line out: the turn, with the answer of the model, if there is one; mistakes are answers, too."""
    with serving(["Hi."]) as server:
        answered = chat(folder, '{"message": "see @src/app.py"}', options=("--json", "-m", "tiny", "--base-url", server.url))
    plain = chat(folder, '{"message": "/help @src/app.py"}', "", "no json", "[]", '{"message": 3}', options=("--json",))

    (turn,) = map(json.loads, answered.lines)
    first, *errors = map(json.loads, plain.lines)
    assert ("see src/app.py", "Hi.", "attached") == (turn["message"], turn["answer"], turn["refs"][0]["status"])
    assert ("/help src/app.py", None) == (first["message"], first["answer"])
    assert ["not_json", "bad_request", "bad_request"] == [one["error"]["code"] for one in errors]
    assert plain.out.isascii()


def test_context(folder: Path) -> None:
    """What the model sees is told in bytes, estimated tokens, and shares of the caps."""
    finished = chat(folder, "/context", "explain @src/app.py @big.txt", "/keep @src/app.py", "/context", options=("--system", "x" * 400))

    text = finished.out
    assert "--system text: 400 B, about 100 tokens" in text
    assert "\nwhole system prompt, with instructions" in text
    assert "\nsum of system prompt and history: " in text
    assert "AGENTS.md: 17 B, about 4 tokens" in text
    assert "attached: 0 B of 1.0 MB (0 %), a file at most 200.0 KB" in text
    assert "big.txt: 200.0 KB, about 51,200 tokens, 20 % of the cap" in text
    assert "\nkept for all turns: @src/app.py, 13 B, about 3 tokens\n" in text
    assert "history, 0 exchanges: " in text
    assert "history, 1 exchange: " in text


def test_context_of_what_is_kept(folder: Path) -> None:
    """What is kept has its size also before the first message that it goes with."""
    shown = chat(folder, "/keep @src/app.py:1", "/keep @big.txt", "/keep my notes.txt", "/context").lines

    assert [
        "kept for all turns: @src/app.py:1, 13 B, about 3 tokens",
        "kept for all turns: @big.txt, 200.0 KB, about 51,200 tokens",
        'kept for all turns: @"my notes.txt", 6 B, about 1 tokens',
    ] == [line for line in shown if line.startswith("kept for all turns: @")]


def test_error_context_of_what_is_kept_and_gone(folder: Path) -> None:
    """What is kept and gone since is told with its reason, also by a name that without its file would be a word."""
    with Preprocessor(folder) as preprocessor:
        conversation = Conversation(preprocessor)
        for name in ("Makefile", "gone.py"):
            (folder / name).write_text("x\n", encoding="utf-8")
            conversation.keep(f"@{name}")
            (folder / name).unlink()

        lines = list(commands._describe_kept(conversation.look_at_kept()))

    assert ["@gone.py", "@Makefile"] == [line.split(": ")[1].removesuffix(", no such file") for line in lines]


def test_context_without_a_system_text(folder: Path) -> None:
    """What was not given is called so: the system prompt itself is not empty."""
    assert "--system text: none" == chat(folder, "/context").lines[0]


def test_the_prompt_as_it_was_sent(folder: Path) -> None:
    """The prompt is shown whole: instructions, then the section of the last message."""
    shown = chat(folder, "explain @src/app.py", "/prompt").out
    empty = chat(folder, "/prompt", options=("--no-agents",)).out

    assert shown.index("Be kind.") < shown.index("<!-- filerefs:begin -->") < shown.index("print('app')") < shown.index("<!-- filerefs:end")
    assert "the system prompt is empty" in empty


def test_keeping_and_dropping(folder: Path) -> None:
    """What is kept is attached to later messages, until it is dropped or everything is forgotten."""
    finished = chat(
        folder,
        *("/keep", "/keep src/app.py", "/keep my notes.txt", "/keep @nothing.py", "/keep @alice"),
        *("hello", "/files", "/drop my notes.txt", "/drop x.py", "/clear", "/keep", "again", "/files"),
    )

    assert "kept for all turns: nothing; `/keep @path` keeps a file" in finished.lines[0]
    assert ["kept for all turns: src/app.py (13 B, python)", "kept for all turns: my notes.txt (6 B)"] == finished.lines[1:3]
    assert "warning: could not attach @nothing.py: no such file" == finished.lines[3]
    assert "warning: that names no file: @alice" == finished.lines[4]
    assert ["hello", "attached src/app.py (13 B, python)", "attached my notes.txt (6 B)"] == finished.lines[5:8]
    assert ['no longer kept: @"my notes.txt"', "nothing of that name was kept"] == finished.lines[8:10]
    assert "nothing; `/keep" in finished.lines[11]
    assert "again" == finished.lines[12]
    assert finished.lines[13].startswith("the last message attached nothing")


@pytest.mark.parametrize("spelling", ["@my notes.txt", '@"my notes.txt"', "my notes.txt", '"my notes.txt"', "@“my notes.txt”"])
def test_keeping_takes_every_spelling_of_a_message(folder: Path, spelling: str) -> None:
    """A name with blanks is kept and dropped however it is written."""
    finished = chat(folder, f"/keep {spelling}", "/keep", f"/drop {spelling}", "/keep")

    assert "kept for all turns: my notes.txt (6 B)" == finished.lines[0]
    assert "notes.txt" in finished.lines[1]
    assert finished.lines[2].startswith("no longer kept: ")
    assert "nothing; `/keep" in finished.lines[3]


def test_error_blanks_that_are_not_understood(folder: Path) -> None:
    """Where unquoted blanks are switched off, the hint says how the name is written."""
    finished = chat(folder, "/keep @my notes.txt", options=("--no-lenient",))

    assert ["warning: that names no file: @my notes.txt", '   hint: write @"my notes.txt"'] == finished.lines


def test_error_refusals_have_their_hints(folder: Path) -> None:
    """`/keep` and `/files` say once what was refused, with the hint below it, as for a message."""
    finished = chat(folder, "/keep @src/ap.py", "see @src/ap.py", "/files")
    refusal = ["warning: could not attach @src/ap.py: no such file", "   hint: did you mean @src/app.py?"]

    assert [*refusal, "see @src/ap.py", *refusal] == finished.lines


def test_error_dropping_where_nothing_is_kept(folder: Path) -> None:
    """With and without a name, the answer is that there is nothing."""
    assert ["nothing is kept", "nothing is kept"] == chat(folder, "/drop", "/drop @src/app.py").lines


def test_error_an_unknown_command(folder: Path) -> None:
    """A typo gets the command that it is near to; what is near to none gets no hint."""
    finished = chat(folder, "/contxt", "/zzzzzz")
    error = "error: there is no such command; /help lists them"

    assert [error, "   hint: did you mean /context?", error] == finished.err.splitlines()
    assert finished.code == 0


def test_looking_for_files(folder: Path) -> None:
    """Names are found as the popup finds them, and shown as they are written in a message."""
    finished = chat(folder, "/files app", "/files my no", "/files zzz")

    assert ["@src/app.py", '@"my notes.txt"', "no file has such a name"] == finished.lines


def test_b191_instruction_files_in_force(tree: Tree) -> None:
    """The report names each file with its scope and size, in the order of reading; the prompt names it above its text."""
    root = tree({".git/": None, "AGENTS.md": "ROOT\n", "s/AGENTS.md": "SUB\n", "s/x.py": ""})

    finished = chat(root / "s", "/agents", "/prompt")

    report, _, prompt = finished.out.partition("## Project instructions")
    assert report.index("AGENTS.md") < report.index("s/AGENTS.md")
    assert report.count(" B;") == 2
    assert prompt.index("### AGENTS.md") < prompt.index("ROOT") < prompt.index("### s/AGENTS.md") < prompt.index("SUB")


def test_b192_no_instruction_files(tree: Tree) -> None:
    """Without any the report is there all the same: where it looked, and for which names; twice the same."""
    root = tree({"x.py": ""})

    one, two = (chat(root, "/agents").out for _ in range(2))

    assert one == two
    assert "AGENTS.md" in one
    assert "Looked in" in one
    assert "switched off" in chat(root, "/agents", options=("--no-agents",)).out


def edited(folder: Path, steps: list[tuple[str, Any]], *options: str) -> Finished:
    """Give each line of *steps* to one chat, and call what stands beside it before the next one."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONWARNDEFAULTENCODING", "NO_COLOR")}
    environment |= {"PYTHONPATH": str(Path(filerefs.__file__).parents[1])}
    command = [sys.executable, "-P", "-m", "filerefs", "chat", *options]
    errors = folder.parent / "errors"
    with (
        errors.open("wb") as stderr,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, cwd=folder, env=environment) as program,
    ):
        assert program.stdin
        assert program.stdout
        lines = []
        for line, change in steps:
            program.stdin.write(line.encode() + b"\n")
            program.stdin.flush()
            # Whatever a line gives, it is taken by the time that the first line of it is there.
            lines.append(program.stdout.readline())
            change()
        program.stdin.close()
        lines.append(program.stdout.read())
    return Finished(program.returncode, b"".join(lines).decode(), errors.read_text(encoding="utf-8"))


def test_instruction_files_that_change(tree: Tree) -> None:
    """Each turn has them as they are then, and a notice says once which changed, came and went."""
    root = tree({"AGENTS.md": "One.\n", "AGENTS.local.md": "Local.\n", "x.py": ""})

    finished = edited(
        root,
        [
            ("first", lambda: (root / "AGENTS.md").write_text("Two.\n", encoding="utf-8")),
            ("second", lambda: None),
            ("third", lambda: ((root / "AGENTS.local.md").unlink(), (root / "AGENTS.override.md").write_text("Three.\n", encoding="utf-8"))),
            ("fourth", lambda: None),
            ("/prompt", lambda: None),
        ],
    )

    notices = [line for line in finished.err.splitlines() if line.startswith("notice:")]
    assert [
        "notice: instruction files changed: AGENTS.md (/agents says what holds now)",
        "notice: instruction files changed: AGENTS.override.md is new, AGENTS.md is gone, AGENTS.local.md is gone (/agents says what holds now)",
    ] == notices
    assert "Three." in finished.out
    assert "Two." not in finished.out


def test_commands_tell_of_instruction_files_that_changed(tree: Tree) -> None:
    """`/agents` and `/clear` read them anew, and the next message has nothing more to tell."""
    root = tree({"AGENTS.md": "See @more.md\n", "more.md": "One.\n"})

    finished = edited(
        root,
        [
            ("first", lambda: (root / "more.md").write_text("Two.\n", encoding="utf-8")),
            ("/clear", (root / "more.md").unlink),
            ("/agents", lambda: None),
            ("last", lambda: None),
        ],
    )

    assert ["first", "instruction files changed: more.md"] == finished.lines[:2]
    assert "instruction files changed: more.md is gone, " in finished.out
    assert "more.md: no such file" in finished.out
    assert "notice" not in finished.err


def test_a_root_that_disappears(tree: Tree) -> None:
    """The chat goes on, also in a working folder that is no more; each refusal says what happened."""
    root = tree({"gone/a.py": "A = 1\n", "gone/AGENTS.md": "Rules.\n"}) / "gone"

    finished = edited(
        root, [("see @a.py", lambda: shutil.rmtree(root)), *((line, lambda: None) for line in ("again @a.py", "/files", "/agents", "/clear", "end"))]
    )

    assert ["see a.py", "again @a.py"] == finished.lines[:2]
    assert "could not attach @a.py: no such file, and the root folder itself was deleted" in finished.err
    assert "notice: instruction files changed: AGENTS.md is gone" in finished.err
    assert "end" == finished.lines[-1]
    assert finished.code == 0


def test_messages_without_an_answer_are_no_history(folder: Path) -> None:
    """What was only shown, before there was a model, is not sent to one as if it had been answered."""
    with serving(["Yes."], ["No."]) as server:
        options = ("-m", "tiny", "--base-url", server.url, "--no-agents")
        finished = chat(folder, "/model none", "only shown", "/context", "/model tiny", "/context", "asked", "again", options=options)

    first, second = (request["messages"] for request in server.requests)
    assert [{"role": "user", "content": "asked"}] == first
    assert ["asked", "Yes.", "again"] == [message["content"] for message in second]
    assert [line for line in finished.lines if line.startswith("history")] == [
        "history, 1 exchange: 10 B, about 2 tokens",
        "history, 0 exchanges: 0 B, about 0 tokens",
    ]


def test_a_key_is_for_one_model(folder: Path) -> None:
    """Another model that is chosen does not get the key of the first; without a model there is nothing that it could be for."""
    elsewhere = chat(folder, "/model gpt-4o-mini", "one", options=("-m", "gpt-4o", "--key", "secret"), OPENAI_API_KEY="")
    with serving(["Hi."]) as server:
        chat(folder, "/model other", "one", options=("-m", "tiny", "--base-url", server.url, "--key", "secret"))

    assert "error: gpt-4o-mini: No key found" in elsewhere.err
    assert ["Bearer secret"] == server.keys
    assert "--key needs -m" in chat(folder, options=("--key", "secret")).err


def test_models_and_help(folder: Path) -> None:
    """Every command is in the help; an unknown one, and an unknown model, cost nothing; `/quit` ends it."""
    finished = chat(folder, "/help", "/model", "/model no-such-model", "/model none", "/nonsense", "/etc/hosts is a path", "/quit", "not sent")

    assert all(command.name in finished.out for command in COMMANDS)
    assert "there is no such command" in finished.err
    assert "no-such-model" in finished.err
    assert "/etc/hosts is a path" == finished.lines[-1]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        pytest.param("/help", "/help", id="a command"),
        pytest.param("/keep  @a b.py ", "/keep", id="with an argument"),
        pytest.param("/nope", None, id="an unknown one"),
    ],
)
def test_commands_are_found(line: str, command: str | None) -> None:
    """A word behind one slash is a command, known or not."""
    found = find_command(line)

    assert found is not None
    assert command == (found[0].name if found[0] else None)


@pytest.mark.parametrize("line", ["hello", "/etc/hosts", "/", "/12", " /help", "// a comment", "@/help"])
def test_messages_are_no_commands(line: str) -> None:
    """A path, a comment, and whatever does not begin with a slash is a message."""
    assert find_command(line) is None


def test_error_options(folder: Path) -> None:
    """A server needs the name of its model, and a model that is not there ends it at once."""
    assert "--base-url needs -m" in chat(folder, options=("--base-url", "http://127.0.0.1:9")).err
    assert chat(folder, options=("--base-url", "http://127.0.0.1:9")).code == 2
    assert chat(folder, options=("-m", "no-such-model")).code == 2
    assert chat(folder, options=("--root", "nowhere")).code == 2
