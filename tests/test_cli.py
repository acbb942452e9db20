"""The command line, as a shell starts it and as `main` is called."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import filerefs
from filerefs import cli, terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Tree

GOLDEN = Path(__file__).parent / "golden"
PROGRAM = (sys.executable, "-m", "filerefs")
POSIX = pytest.mark.skipif(os.name != "posix", reason="pipes, signals and terminals as POSIX has them")


@dataclass(frozen=True)
class Finished:
    """What a run of the program left behind."""

    code: int
    out: bytes
    err: str

    @property
    def parts(self) -> dict[str, bytes]:
        """Prompt and message, cut out of the output by the counts that it states."""
        stream, found = io.BytesIO(self.out), {}
        while head := stream.readline():
            _, name, count, *_ = head.decode("ascii").replace(",", "").split()
            found[name] = stream.read(int(count))
            assert stream.read(1) == b"\n"
        return found


def _environment(**changes: str | None) -> dict[str, str]:
    unwanted = {"NO_COLOR", "TERM", "COLUMNS", "PYTHONWARNDEFAULTENCODING"}
    plain = {name: value for name, value in os.environ.items() if name not in unwanted}
    plain |= {"PYTHONPATH": str(Path(filerefs.__file__).parents[1]), "TERM": "xterm"}
    return {name: value for name, value in (plain | changes).items() if value is not None}


def run(*arguments: str | bytes, folder: Path, given: bytes = b"", **environment: str | None) -> Finished:
    """Run the program in *folder* with *given* on standard input, as a process of its own."""
    finished = subprocess.run([*PROGRAM, *arguments], input=given, capture_output=True, check=False, cwd=folder, env=_environment(**environment))
    return Finished(finished.returncode, finished.stdout, finished.stderr.decode())


@pytest.fixture
def folder(tree: Tree) -> Path:
    """Return a small project."""
    return tree({
        "src/app.py": "import os\n\nprint(os.name)\n",
        "docs/guide.md": "# Guide\r\nfirst\r\n",
        "docs/more.txt": "more\n",
        "my file.txt": "blank\n",
        "sly.txt": "bell\x07 \x1b[31mred\x1b[m \x9b2J \u202eback\u202c\ttab\r\n",
        ".env": "KEY=1\n",
        "link.py": tree.link("src/app.py"),
        "prompt.txt": "You are helpful.\n",
        "übung.txt": "ü\n",
    })  # fmt: skip


def _compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")

    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("command", ["", "expand", "parse", "serve"])
def test_help_is_the_reference(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` names every option, what goes in and out, and the exit codes."""
    with pytest.raises(SystemExit) as exit_info:
        cli.main([*filter(None, [command]), "--help"])

    assert 0 == exit_info.value.code
    _compare(f"cli/help{'-' if command else ''}{command}.txt", capsys.readouterr().out)


@pytest.mark.parametrize("command", ["expand", "parse", "serve", "chat", "mcp", "migrate", "hook install"])
def test_help_has_the_exit_codes_of_the_command_alone(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What other commands end with is in their own help."""
    with pytest.raises(SystemExit):
        cli.main([*command.split(), "--help"])

    said = " ".join(capsys.readouterr().out.rpartition("exit codes:")[2].split())
    assert said.startswith("0 ")
    assert "2 misuse" in said
    assert ("1 " in said) is (command in {"expand", "chat", "migrate"})
    assert ("--strict" in said) is (command == "expand")
    assert ("answer could" in said) is (command == "chat")


def test_one_run_from_beginning_to_end(folder: Path) -> None:
    """Prompt, message, summaries, warnings, hints and notices look like this (the section has golden files of its own)."""
    message = 'compare @src/app.py:1-2 and @docs/ with @"my file.txt", not with @src/ap.py or @.env; `@src/app.py`'

    finished = run("expand", message, "--prompt-file", "prompt.txt", folder=folder)

    turn = filerefs.preprocess(message, "You are helpful.\n", folder)
    out = finished.out.decode().replace(turn.section, "[the section]").replace(f" {len(turn.prompt.encode())} bytes", " N bytes")
    _compare("cli/run.txt", f"$ filerefs expand {message!r} --prompt-file prompt.txt\n--- stdout\n{out}--- stderr\n{finished.err}")
    assert 0 == finished.code


def test_version(folder: Path) -> None:
    """`--version` says what the package says."""
    finished = run("--version", folder=folder)

    assert (0, f"filerefs {filerefs.__version__}\n") == (finished.code, finished.out.decode().replace("\r", ""))


def test_counts_split_the_output(folder: Path) -> None:
    """The line before each part counts its bytes, so that no content can be taken for the end of it."""
    message = "see @übung.txt\n===== message, 3 bytes =====\nabc"

    finished = run("expand", "-", "--prompt-file", "prompt.txt", folder=folder, given=message.encode())

    turn = filerefs.preprocess(message, "You are helpful.\n", folder)
    assert {"prompt": turn.prompt.encode(), "message": turn.message.encode()} == finished.parts
    assert "ü" in turn.prompt


@pytest.mark.parametrize("only", ["prompt", "message"])
def test_only_one_part(only: str, folder: Path) -> None:
    """`--only` prints one part and not one byte around it."""
    finished = run("expand", "see @docs/guide.md", "--only", only, folder=folder)

    turn = filerefs.preprocess("see @docs/guide.md", root=folder)
    assert {"prompt": turn.prompt, "message": turn.message}[only].encode() == finished.out
    assert "attached docs/guide.md" in finished.err


def test_json_is_what_the_turn_says(folder: Path) -> None:
    """`--json` prints `Turn.as_dict()` as one line of ASCII."""
    message = "see @übung.txt and @nowhere.txt 😀"

    finished = run("expand", message, "--json", folder=folder)

    assert filerefs.preprocess(message, root=folder).as_dict() == json.loads(finished.out)
    assert finished.out.isascii()
    assert [b""] == finished.out.split(b"\n")[1:]


def test_quiet_leaves_standard_error_empty(folder: Path) -> None:
    """`--quiet` says nothing, but does all the same."""
    finished = run("expand", "see @src/app.py and @nowhere.txt", "--quiet", folder=folder)

    assert (0, "") == (finished.code, finished.err)
    assert b"print(os.name)" in finished.out


def test_a_hint_stands_below_its_warning(folder: Path) -> None:
    """What the person could type instead follows the refusal on a line of its own."""
    lines = run("expand", "see @src/ap.py", folder=folder).err.splitlines()

    (warning,) = [number for number, line in enumerate(lines) if line.startswith("warning: could not attach @src/ap.py")]
    assert "src/app.py" in lines[warning + 1]
    assert lines[warning + 1].startswith("   hint: ")


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        pytest.param(["@link.py", "--symlinks", "inside"], "print(os.name)", id="a link that stays inside"),
        pytest.param(["@.env", "--allow", ".env"], "KEY=1", id="an allowed secret"),
        pytest.param(["`@src/app.py`", "--code", "load"], "print(os.name)", id="a mention in a code span"),
        pytest.param(["@my file.txt now"], "blank", id="unquoted blanks"),
        pytest.param(["@app.py", "--root", "src"], "print(os.name)", id="another root"),
        pytest.param(["@src/app.py", "--file-bytes", "none", "--total-bytes", "1K"], "print(os.name)", id="limits with a unit or without end"),
        pytest.param(["--", "--see @src/app.py"], "print(os.name)", id="a message like an option, behind two dashes"),
        pytest.param(["- fix @src/app.py"], "print(os.name)", id="a message like a list item"),
    ],
)
def test_options_reach_the_turn(arguments: list[str], kept: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each option does what its namesake in Python does."""
    monkeypatch.chdir(folder)

    code = cli.main(["expand", *arguments])

    assert 0 == code
    assert kept in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["@link.py"], id="a link"),
        pytest.param(["@.env"], id="a secret"),
        pytest.param(["@.env", "--allow", "src/.env"], id="a secret, when another one is allowed"),
        pytest.param(["`@src/app.py`"], id="a mention in a code span"),
        pytest.param(["@my file.txt now", "--no-lenient"], id="unquoted blanks, switched off"),
        pytest.param(["@src/app.py", "--total-bytes", "3"], id="more than the total"),
        pytest.param(["@src/app.py", "--file-bytes", "3"], id="the end of a cut file"),
        pytest.param(["@docs/guide.md @src/app.py", "--refs", "1"], id="more references than allowed"),
    ],
)
def test_without_options_nothing_is_opened(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What an option would allow is not there without it."""
    monkeypatch.chdir(folder)

    code = cli.main(["expand", *arguments])

    out = capsys.readouterr().out
    assert 0 == code
    assert not [text for text in ("print(os.name)", "KEY=1", "blank") if text in out]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"caf\xe9 \xff\xfe and \xed\xa0\x80", id="no UTF-8"),
        pytest.param("\ufeffhello\r\nyou\r\n".encode(), id="a byte order mark and CRLF"),
        pytest.param(b"nul \x00 and \x1b[2J", id="control characters"),
        pytest.param("😀 e\u0301 \u202e".encode(), id="what a terminal would not show"),
        pytest.param(b"", id="nothing"),
    ],
)
@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}], ids=["", "C", "ASCII"])
def test_a_pipe_gets_the_bytes_that_came_in(data: bytes, locale: dict[str, str], folder: Path) -> None:
    """Message and prompt leave as they came, whatever they are and whatever the locale says."""
    (folder / "any.bin").write_bytes(data)

    message = run("expand", "-", "--only", "message", folder=folder, given=data, **locale)
    prompt = run("expand", "hello", "--only", "prompt", "--prompt-file", "any.bin", folder=folder, **locale)

    assert [(0, data), (0, data)] == [(message.code, message.out), (prompt.code, prompt.out)]


@POSIX
@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}], ids=["", "C", "ASCII"])
def test_names_and_arguments_of_any_bytes(locale: dict[str, str], folder: Path) -> None:
    """A file whose name is no UTF-8 is found by the same bytes in an argument, which come out as they went in."""
    name = b"odd-\xff.txt"
    with contextlib.suppress(OSError):  # not every disk takes such a name
        (folder / os.fsdecode(name)).write_bytes(b"odd content\n")
    if not (folder / os.fsdecode(name)).exists():
        pytest.skip("this disk takes only names that are text")

    finished = run("expand", b"caf\xc3\xa9 \xfe @" + name + b" end", folder=folder, **locale)

    assert 0 == finished.code
    assert b"odd content" in finished.parts["prompt"]
    assert finished.parts["message"].startswith(b"caf\xc3\xa9 \xfe ")


def test_standard_input_is_the_prompt_file(folder: Path) -> None:
    """`--prompt-file -` reads the prompt where the message is an argument."""
    finished = run("expand", "hello", "--prompt-file", "-", "--only", "prompt", folder=folder, given=b"Be brief.")

    assert b"Be brief." == finished.out


def test_a_section_in_the_prompt_file_is_replaced(folder: Path) -> None:
    """The prompt of the last turn can be the prompt of the next one."""
    first = run("expand", "see @src/app.py", "--prompt-file", "prompt.txt", "--only", "prompt", folder=folder)
    (folder / "next.txt").write_bytes(first.out)

    second = run("expand", "see @docs/more.txt", "--prompt-file", "next.txt", "--only", "prompt", folder=folder)
    third = run("expand", "hello", "--prompt-file", "next.txt", "--only", "prompt", folder=folder)

    assert filerefs.preprocess("see @docs/more.txt", "You are helpful.\n", folder).prompt.encode() == second.out
    assert b"You are helpful.\n" == third.out


@given(data=st.binary())
def test_bytes_survive_being_text(data: bytes) -> None:
    """`to_bytes` undoes `from_bytes`, for all bytes."""
    assert data == terminal.to_bytes(terminal.from_bytes(data))


@given(text=st.text(st.characters(codec=None)))
def test_every_text_can_be_written(text: str) -> None:
    """`to_bytes` takes every text, lone surrogates included, and leaves what is UTF-8 alone."""
    data = terminal.to_bytes(text)

    with contextlib.suppress(UnicodeEncodeError):
        assert text.encode() == data


def test_a_lone_surrogate_is_replaced(capfdbinary: pytest.CaptureFixture[bytes], folder: Path) -> None:
    """A surrogate that stands for no byte becomes U+FFFD instead of an exception."""
    code = cli.main(["expand", "lone \ud800 here", "--only", "message", "--root", str(folder)])

    assert (0, "lone \ufffd here".encode()) == (code, capfdbinary.readouterr().out)


def test_a_stream_without_bytes_gets_text(folder: Path) -> None:
    """Standard output may be replaced by a stream that only takes text."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        cli.main(["expand", "hi", "--only", "message", "--root", str(folder)])

    assert "hi" == stream.getvalue()


@pytest.mark.parametrize(("options", "code"), [([], 0), (["--strict"], 1)])
def test_a_refusal_fails_only_when_asked(options: list[str], code: int, folder: Path) -> None:
    """A refused reference is a warning; with `--strict` it is exit code 1, and all is printed all the same."""
    finished = run("expand", "see @nowhere.txt and @src/app.py", *options, folder=folder)

    assert code == finished.code
    assert b"print(os.name)" in finished.parts["prompt"]
    assert "warning: could not attach @nowhere.txt" in finished.err


def test_strict_without_a_refusal(folder: Path) -> None:
    """`--strict` is content when everything was attached."""
    assert 0 == run("expand", "see @src/app.py, @alice", "--strict", folder=folder).code


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param([], "COMMAND", id="no command"),
        pytest.param(["explain"], "explain", id="an unknown command"),
        pytest.param(["expand"], "MESSAGE", id="no message"),
        pytest.param(["expand", "x", "--rot", "."], "--rot", id="an option cut short"),
        pytest.param(["expand", "x", "--symlinks", "follow"], "follow", id="an unknown policy"),
        pytest.param(["expand", "x", "--file-bytes", "-1"], "--file-bytes", id="a negative limit"),
        pytest.param(["expand", "x", "--refs", "many"], "many", id="a limit that is no number"),
        pytest.param(["expand", "x", "--refs", "٣"], "--refs", id="a limit in other digits"),
        pytest.param(["expand", "x", "--refs", "9" * 5000], "--refs", id="a limit that is no sensible number"),
        pytest.param(["expand", "x", "--json", "--only", "prompt"], "--only", id="two forms at once"),
        pytest.param(["expand", "x", "--root", "nowhere"], "nowhere", id="a root that is not there"),
        pytest.param(["expand", "x", "--root", "prompt.txt"], "prompt.txt", id="a root that is a file"),
        pytest.param(["expand", "x", "--prompt-file", "nowhere.txt"], "nowhere.txt", id="a prompt file that is not there"),
        pytest.param(["expand", "x", "--prompt-file", "docs"], "docs", id="a prompt file that is a folder"),
        pytest.param(["expand", "-", "--prompt-file", "-"], "standard input", id="two readers of standard input"),
        pytest.param(["serve", "--root", "nowhere"], "nowhere", id="a server of a root that is not there"),
        pytest.param(["parse"], "MESSAGE", id="nothing to parse"),
    ],
)
def test_error_misuse(arguments: list[str], says: str, folder: Path) -> None:
    """Misuse is exit code 2, a sentence that names what is wrong, no traceback, and nothing on standard output."""
    finished = run(*arguments, folder=folder)

    assert (2, b"") == (finished.code, finished.out)
    assert says in finished.err
    assert "error: " in finished.err
    assert "Traceback" not in finished.err


@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_error_full_disk(folder: Path) -> None:
    """What cannot be written is said, once, without a traceback."""
    with Path("/dev/full").open("wb") as full:
        finished = subprocess.run([*PROGRAM, "expand", "see @src/app.py"], stdout=full, stderr=subprocess.PIPE, check=False, cwd=folder, env=_environment())

    assert 2 == finished.returncode
    assert f"filerefs: error: standard input or output: {os.strerror(errno.ENOSPC)}\n" == finished.stderr.decode()


@POSIX
@pytest.mark.parametrize(
    ("closed", "code", "says"),
    [
        pytest.param(">&-", 2, "error: ", id="standard output"),
        pytest.param("2>&-", 0, "", id="standard error"),
        pytest.param(">&- 2>&-", 2, "", id="both"),
        pytest.param("<&-", 0, "attached", id="standard input"),
    ],
)
def test_error_closed_streams(closed: str, code: int, says: str, folder: Path) -> None:
    """A stream that the process was started without costs the exit code only where something had to go there."""
    finished = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, "expand", "see @src/app.py"],
        capture_output=True,
        check=False,
        cwd=folder,
        env=_environment(),
    )

    assert code == finished.returncode
    assert says in finished.stderr.decode()
    assert b"Traceback" not in finished.stderr


@POSIX
@pytest.mark.parametrize("arguments", [["expand", "-"], ["expand", "hi", "--prompt-file", "-"], ["parse", "-"], ["serve"]], ids=" ".join)
def test_error_no_standard_input(arguments: list[str], folder: Path) -> None:
    """Who has to read a standard input that is not there says so."""
    script = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *PROGRAM, *arguments]
    finished = subprocess.run(script, capture_output=True, check=False, cwd=folder, env=_environment())

    assert (2, b"") == (finished.returncode, finished.stdout)
    assert b"error: " in finished.stderr
    assert b"Traceback" not in finished.stderr


WAITING = [
    pytest.param(["expand", "-"], "the message", id="expand"),
    pytest.param(["expand", "hi", "--prompt-file", "-"], "the prompt", id="a prompt file"),
    pytest.param(["parse", "-"], "the message", id="parse"),
    pytest.param(["serve"], "requests, one JSON object in each line", id="serve"),
    pytest.param(["chat", "--no-agents"], "messages, one in each line", id="a chat whose output is no terminal"),
    pytest.param(["chat", "--no-agents", "--json"], 'messages, one {"message": ...} in each line', id="a chat in JSON"),
]


@POSIX
@pytest.mark.parametrize(("arguments", "what"), WAITING)
def test_what_is_awaited_at_a_terminal(arguments: list[str], what: str, folder: Path) -> None:
    """Who would wait at a terminal without a sign of it is told what for, and which key ends it; Ctrl-D does."""
    ours, theirs = pytest.importorskip("pty").openpty()
    try:
        os.write(ours, b"@nothing\n\x04")
        finished = subprocess.run([*PROGRAM, *arguments], stdin=theirs, capture_output=True, check=False, cwd=folder, env=_environment())
    finally:
        os.close(ours)
        os.close(theirs)

    assert 0 == finished.returncode
    assert f"filerefs: waiting for {what}; Ctrl-D at the beginning of a line ends it\n" == finished.stderr.decode().splitlines(keepends=True)[0]
    assert b"waiting" not in finished.stdout


@pytest.mark.parametrize(("arguments", "what"), WAITING)
def test_nothing_is_said_of_a_pipe(arguments: list[str], what: str, folder: Path) -> None:
    """A program on the other end of a pipe is told nothing of that."""
    finished = run(*arguments, folder=folder, given=b"@nothing\n")

    assert 0 == finished.code
    assert what not in finished.err


@POSIX
@pytest.mark.parametrize(
    "arguments",
    [["expand", "see @a.py"], ["expand", "hi"], ["serve"], ["chat"], ["agents"], ["migrate"], ["hook", "install", "claude-code", "--project"]],
    ids=" ".join,
)
def test_error_current_folder_is_gone(arguments: list[str], tmp_path: Path) -> None:
    """Whoever stands in a folder that was deleted is told so, and not that a stream failed."""
    script = 'rmdir "$PWD" && exec "$@"'
    (tmp_path / "gone").mkdir()

    finished = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *PROGRAM, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        cwd=tmp_path / "gone",
        env=_environment(HOME=str(tmp_path)),
    )

    assert (2, b"") == (finished.returncode, finished.stdout)
    assert finished.stderr.decode() == "filerefs: error: the current folder does not exist any more: it was deleted; change to another one\n"


@POSIX
def test_a_folder_that_is_there_is_read_from_one_that_is_gone(folder: Path, tmp_path: Path) -> None:
    """Who names another folder needs none to stand in."""
    (tmp_path / "gone").mkdir()
    script = ["/bin/sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *PROGRAM, "expand", "--only", "message", "--root", str(folder), "see @src/app.py"]

    finished = subprocess.run(script, capture_output=True, check=False, cwd=tmp_path / "gone", env=_environment())

    assert (0, b"see src/app.py") == (finished.returncode, finished.stdout)


@POSIX
def test_a_reader_that_goes_away_ends_it_silently(folder: Path) -> None:
    """`filerefs expand … | head -1` is killed by SIGPIPE like any other program of a shell."""
    (folder / "large.txt").write_text("x" * 1_000_000, encoding="utf-8")

    with subprocess.Popen(
        [*PROGRAM, "expand", "x", "--prompt-file", "large.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=_environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        said = process.stderr.read()

    assert (-signal.SIGPIPE, b"") == (process.returncode, said)


@POSIX
def test_an_interrupt_ends_it_silently(folder: Path) -> None:
    """Ctrl-C kills it by SIGINT, so that a loop in a shell stops as well, and prints nothing."""
    with subprocess.Popen(
        [*PROGRAM, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=_environment(), restore_signals=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"message": "hi"}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()

    assert (-signal.SIGINT, b"") == (process.returncode, said)


@dataclass(frozen=True)
class Terminal:
    """Both ends of a pseudo-terminal that passes bytes on as they are."""

    ours: int
    theirs: int

    def read(self) -> bytes:
        """Return all that was written until the last writer closed."""
        os.close(self.theirs)
        pieces = []
        # Linux reports the end of a terminal as an error, others as no bytes.
        with contextlib.suppress(OSError):
            while piece := os.read(self.ours, 65536):
                pieces.append(piece)
        return b"".join(pieces)


@pytest.fixture
def screen() -> Iterator[Terminal]:
    """Return a pseudo-terminal."""
    pty = pytest.importorskip("pty")
    tty = pytest.importorskip("tty")
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    yield Terminal(ours, theirs)
    for descriptor in (ours, theirs):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _run_on(screen: Terminal, stream: str, *arguments: str, folder: Path, **environment: str | None) -> tuple[bytes, bytes]:
    """Run with *stream* on a terminal and the other one on a pipe; return what each of them got, the terminal first."""
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: screen.theirs}
    with subprocess.Popen([*PROGRAM, *arguments], **streams, cwd=folder, env=_environment(**environment)) as process:
        shown = screen.read()
        piped = process.communicate()
    return shown, next(text for text in piped if text is not None)


def test_a_terminal_shows_control_characters_escaped(screen: Terminal, folder: Path) -> None:
    """Nothing in a file gets to move the cursor, set a colour, ring the bell or turn the text; tabs and line ends stay."""
    shown, _ = _run_on(screen, "stdout", "expand", "see @sly.txt", folder=folder, NO_COLOR="1")

    assert "bell\\u{7} \\u{1b}[31mred\\u{1b}[m \\u{9b}2J \\u{202e}back\\u{202c}\ttab\\u{d}\n" in shown.decode()
    assert not set("\x07\x1b\x9b\u202e\r") & set(shown.decode())


def test_raw_gives_a_terminal_everything(screen: Terminal, folder: Path) -> None:
    """`--raw` switches the escapes off."""
    shown, _ = _run_on(screen, "stdout", "expand", "see @sly.txt", "--raw", folder=folder, NO_COLOR="1")

    assert (folder / "sly.txt").read_bytes() in shown


def test_a_terminal_with_colours(screen: Terminal, folder: Path) -> None:
    """Escapes and headings stand out, so that an escape cannot be mistaken for text that looks like one."""
    shown, _ = _run_on(screen, "stdout", "expand", "see @sly.txt", folder=folder)

    assert b"bell\x1b[7m\\u{7}\x1b[m " in shown
    assert b"\x1b[1m===== message, 11 bytes =====\x1b[m\n" in shown


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [
        pytest.param({}, True, id="a terminal"),
        pytest.param({"NO_COLOR": ""}, True, id="an empty NO_COLOR says nothing"),
        pytest.param({"NO_COLOR": "1"}, False, id="NO_COLOR"),
        pytest.param({"TERM": "dumb"}, False, id="a dumb terminal"),
    ],
)
def test_warnings_are_coloured_on_a_terminal_only(environment: dict[str, str], coloured: bool, screen: Terminal, folder: Path) -> None:  # noqa: FBT001
    """Standard error is coloured when it is a terminal and nobody objects; standard output, a pipe here, is not."""
    shown, piped = _run_on(screen, "stderr", "expand", "see @nowhere.txt", folder=folder, **environment)

    assert coloured == (b"\x1b[33mwarning:\x1b[m could not attach @nowhere.txt" in shown)
    assert coloured == (b"\x1b" in shown)
    assert b"\x1b" not in piped


def test_a_terminal_without_the_characters(screen: Terminal, folder: Path) -> None:
    """What the terminal's encoding does not have is shown as an escape, not as an exception."""
    shown, _ = _run_on(screen, "stdout", "expand", "see ü @übung.txt", "--only", "message", folder=folder, PYTHONIOENCODING="ascii", NO_COLOR="1")

    assert b"see \\u{fc} \\u{fc}bung.txt" == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain\tand\n", "plain\tand\n", id="tab and line feed stay"),
        pytest.param("a\rb", "a\\u{d}b", id="carriage return"),
        pytest.param("\x00\x1b\x7f\x85\x9f", "\\u{0}\\u{1b}\\u{7f}\\u{85}\\u{9f}", id="C0, DEL and C1"),
        pytest.param("\u200e\u061c\u2066\u202e", "\\u{200e}\\u{61c}\\u{2066}\\u{202e}", id="direction"),
        pytest.param("\u200b\ufeff\U000e0041\u2028", "\\u{200b}\\u{feff}\\u{e0041}\\u{2028}", id="no width, tags, line separator"),
        pytest.param("\ud800\udcff", "\\u{d800}\\u{dcff}", id="lone surrogates"),
        pytest.param("\\u{1b} stays", "\\u{1b} stays", id="text that looks like an escape"),
        pytest.param("é查😀e\u0301", "é查😀e\u0301", id="text of all kinds"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    """Only what a terminal would obey or hide is escaped."""
    assert shown == terminal.visible(text)


def _parse(message: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert 0 == cli.main(["parse", message, *options])

    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        pytest.param(
            "see @a.py and @b.py:3-4",
            ["    1 | see @a.py and @b.py:3-4", "      |     ^^^^^ a.py", "      |               ^^^^^^^^^ b.py, lines 3-4"],
            id="two references in one line",
        ),
        pytest.param(
            "one\ntwo @a.py:7\n\n@b.py\nthree\n",
            ["    2 | two @a.py:7", "      |     ^^^^^^^ a.py, line 7", "    4 | @b.py", "      | ^^^^^ b.py"],
            id="only the lines that hold references",
        ),
        pytest.param(
            "查看 @a.py",
            ["    1 | 查看 @a.py", "      |      ^^^^^ a.py"],
            id="wide characters take two columns",
        ),
        pytest.param(
            'see @"查.txt", ok',
            ['    1 | see @"查.txt", ok', "      |     ^^^^^^^^^ 查.txt"],
            id="wide characters inside the token",
        ),
        pytest.param(
            "e\u0301 @a.py",
            ["    1 | e\u0301 @a.py", "      |   ^^^^^ a.py"],
            id="combining marks take none",
        ),
        pytest.param(
            "ab\t@a.py\t@b.py",
            ["    1 | ab      @a.py   @b.py", "      |         ^^^^^ a.py", "      |                 ^^^^^ b.py"],
            id="tabs become blanks",
        ),
        pytest.param(
            "\x1b[2J @a.py",
            ["    1 | \\u{1b}[2J @a.py", "      |           ^^^^^ a.py"],
            id="control characters are shown",
        ),
    ],
)
def test_parse_underlines_each_reference(message: str, lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The line that is concerned, and carets exactly under each reference."""
    assert lines == _parse(message, capsys).splitlines()


def test_parse_shows_a_long_line_in_parts(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a long line the neighbourhood of each reference is enough."""
    first, middle, *rest = _parse(f"{'a ' * 500}@one.py{' b' * 500} @two.py", capsys).splitlines()

    assert "    1 | ..." + "a " * 20 + "@one.py" + " b" * 20 + "..." == first
    assert middle.index("^") == first.index("@")
    assert rest[0].endswith("b @two.py")
    assert rest[1].index("^") == rest[0].index("@")


def test_parse_takes_a_hundred_thousand_references(capsys: pytest.CaptureFixture[str]) -> None:
    """One line of many references is shown in time and space that grow with it, not with its square."""
    out = _parse("@a.py " * 100_000, capsys)

    assert 100_000 == out.count("^ a.py\n")
    assert len(out) < 40_000_000


def test_parse_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` gives what `filerefs.parse` returns, with positions in code points."""
    rows = json.loads(_parse('ü @a.py:3- and @"b c"', capsys, "--json"))

    assert [
        {"token": "@a.py:3-", "start": 2, "end": 10, "path": "a.py", "lines": [3, None], "quoted": False},
        {"token": '@"b c"', "start": 15, "end": 21, "path": "b c", "lines": None, "quoted": True},
    ] == rows


def test_parse_without_a_reference(capsys: pytest.CaptureFixture[str]) -> None:
    """A message without references has nothing to show, which is no failure."""
    code = cli.main(["parse", "mail bob@example.com"])

    assert (0, ("", "no reference in this message\n")) == (code, tuple(capsys.readouterr()))


@pytest.mark.parametrize(("message", "option"), [pytest.param("`@a.py`", "--code=load", id="code"), pytest.param("＠a.py", "", id="lenient")])
def test_parse_takes_the_reading_options(message: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--code` and `--no-lenient` change what is a reference, as they do for `expand`."""
    with_option = _parse(message, capsys, *filter(None, [option]))
    without = _parse(message, capsys, *([] if option else ["--no-lenient"]))

    assert ["a.py", ""] == [with_option.rpartition("^ ")[2].strip(), without]


@given(message=(st.text("@a.é查\u0301\t\n\x1b\"' :3-/\\ud800", max_size=200) | st.text(max_size=200)).filter(lambda message: message != "-"))
def test_every_message_can_be_parsed(message: str) -> None:
    """`filerefs parse` shows every reference of any text and never fails."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(io.StringIO()):
        code = cli.main(["parse", "--", message])

    shown = stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert 0 == code
    assert len(filerefs.parse(message)) == sum(line.startswith("      | ") for line in shown.split("\n"))
    stream.close()


def test_starting_up_loads_little() -> None:
    """What only some commands need is loaded by those commands."""
    code = "import sys; from filerefs import cli; cli._parser(); print(*sys.modules)"
    loaded, before = (
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, encoding="utf-8", env=_environment()).stdout.split()
        for program in (code, "import sys; print(*sys.modules)")
    )

    late = {"json", "regex", "ctypes", "pathspec", "charset_normalizer", "importlib.metadata", "filerefs.serve", "filerefs.turn"}
    assert set() == late & (set(loaded) - set(before))
    assert "filerefs.cli" in loaded


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        pytest.param(["expand", "explain", "@a.py"], "the message is one argument: put it in quotes", id="a message without quotes"),
        pytest.param(["parse", "a", "b"], "the message is one argument: put it in quotes", id="the same for parse"),
        pytest.param(["expand", "a", "--nothing"], "unrecognized arguments: --nothing", id="an option that does not exist"),
    ],
)
def test_error_more_words_than_there_are_arguments(words: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The mistake that everybody makes first is answered with what to do."""
    with pytest.raises(SystemExit) as raised:
        cli.main(words)

    assert raised.value.code == 2
    assert problem in capsys.readouterr().err
