"""The chat in a real terminal: typed into key by key, and looked at as it is drawn."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("prompt_toolkit")
pytest.importorskip("pexpect")
pytest.importorskip("pyte")

from .server import serving
from .terminal import ALT_ENTER, CTRL_C, DOWN, ENTER, ESCAPE, SENT, TAB, chatting

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals as POSIX has them")


@pytest.fixture
def folder(tree: Tree) -> Path:
    return tree({
        "src/app.py": "print('app')\nprint('more')\n",
        "src/main.py": "print('main')\n",
        "my notes.txt": "notes\n",
        "big.txt": "line\n" * 60_000,
        ".env": "KEY=1\n",
    })  # fmt: skip


def test_the_main_flow(folder: Path) -> None:
    """An at-sign opens the rows, Tab takes one and colours it, the toolbar counts, Enter sends, Ctrl-D leaves."""
    with chatting(folder) as window:
        window.type("explain @app")
        window.wait_for_row("src/app.py")
        window.type(TAB)
        window.wait("1 attached, 27 B of 1.0 MB")
        window.wait(lambda window: window.colour("@src/app.py") == "green")
        window.send("please")

        assert "> explain @src/app.py please" in window.scrolled
        assert {"attached src/app.py (27 B, python)", "explain src/app.py please"} <= set(window.scrolled)
        assert window.leave() == 0


def test_moving_and_closing(folder: Path) -> None:
    """The arrows choose, Enter takes what is chosen and does not send; Escape closes the rows and leaves what was typed."""
    with chatting(folder) as window:
        window.type("@src/")
        window.wait_for_row("src/main.py")
        window.type(DOWN, DOWN)
        window.wait("> @src/main.py")
        window.type(ENTER)
        window.wait(lambda window: not any(line.strip().startswith("src/") for line in window.lines))
        window.type("and @ma")
        window.wait_for_row("src/main.py")
        window.type(ESCAPE)
        window.wait(lambda window: not any(line.strip().startswith("src/") for line in window.lines))
        window.send()

        assert "src/main.py and @ma" in window.scrolled


def test_entering_a_folder(folder: Path) -> None:
    """A folder is taken with its slash, and what is in it is offered at once; a sign that clings takes the place of the blank."""
    with chatting(folder) as window:
        window.type("@sr")
        window.wait_for_row("src/")
        window.type(TAB)
        window.wait(lambda window: "> @src/" in window.lines)
        window.wait_for_row("src/app.py")
        window.type(TAB)
        window.wait("1 attached")
        window.send(":2")

        assert {"attached src/app.py (line 2, 14 B, python)", "src/app.py:2"} <= set(window.scrolled)


def test_a_name_with_a_blank(folder: Path) -> None:
    """It is found by its beginning, put in quotes, and attached."""
    with chatting(folder) as window:
        window.type("sum up @my")
        window.wait_for_row("my")
        window.type(TAB)
        window.wait('> sum up @"my notes.txt"')
        window.send()

        assert {"attached my notes.txt (6 B)", 'sum up "my notes.txt"'} <= set(window.scrolled)


def test_refusals_and_cuts(folder: Path) -> None:
    """What will be refused is red and what will be cut is yellow before it is sent; the notices say why."""
    with chatting(folder, columns=100) as window:
        window.type("@big.txt @src/ap.py @.env ")
        window.wait(lambda window: window.colour("@src/ap.py") == "red")
        window.wait(lambda window: window.colour("@.env") == "red")
        window.wait(lambda window: window.colour("@big.txt") in ("brown", "yellow"))
        window.wait("1 attached, 200.0 KB of 1.0 MB, 2 refused")
        window.send()

        assert "could not attach @src/ap.py: no such file" in window.text
        assert "did you mean @src/app.py?" in window.text
        assert "could not attach @.env: its name is that of a file with credentials" in window.text
        assert "big.txt: cut to 200.0 KB of 293.0 KB" in window.text


def test_several_lines_and_recall(folder: Path) -> None:
    """Alt-Enter begins a line; what was typed comes back with the arrow, as it was typed, also in the next chat."""
    with chatting(folder) as window:
        window.send("first @src/app.py", ALT_ENTER, "second")
        assert {"first src/app.py", "second"} <= set(window.scrolled)
        assert window.leave() == 0

    with chatting(folder) as window:
        window.type("\x1b[A")
        window.wait("> first @src/app.py")
        window.wait("  second")
    history = folder.parent / "state" / "filerefs" / "chat_history"
    assert "@src/app.py" in history.read_text(encoding="utf-8")
    assert (history.stat().st_mode & 0o777) == 0o600


def test_a_paste_opens_nothing(folder: Path) -> None:
    """A pasted text with at-signs and line feeds is inserted as it is: no rows, nothing is sent."""
    with chatting(folder) as window:
        window.type("\x1b[200~see @src/\r\nand @ap\x1b[201~")
        window.wait("and @ap")
        window.wait(lambda window: window.read() and "  and @ap" in window.lines)

        assert not any(line.strip() in ("src/app.py", "src/main.py") for line in window.lines)
        assert SENT not in window.text


def test_keys_that_interrupt(folder: Path) -> None:
    """Ctrl-C throws away what was typed and leaves the chat open; Ctrl-D on an empty line leaves it."""
    with chatting(folder) as window:
        window.type("half a message", CTRL_C)
        window.wait("(Ctrl-D or /quit leaves)")
        window.send("another")
        assert "another" in window.scrolled
        window.type("/quit", ENTER)
        assert window.end() == 0


def test_an_answer_is_streamed_and_interrupted(folder: Path) -> None:
    """Pieces are shown as they come; Ctrl-C ends an answer, and neither it nor its message is sent again."""
    with serving(["first ", "and never"], ["second"]) as server:
        server.goes_on.clear()
        with chatting(folder, "-m", "tiny", "--base-url", server.url) as window:
            window.type("explain @src/app.py", ENTER)
            window.wait("first")
            window.press_until("interrupted", CTRL_C)
            server.goes_on.set()
            window.type("again", ENTER)
            window.wait("second")
            assert window.leave() == 0

    assert "and never" not in window.text
    first, second = (request["messages"] for request in server.requests)
    assert "print('app')" in first[0]["content"]
    assert [{"role": "user", "content": "again"}] == second


def test_a_window_that_changes(folder: Path) -> None:
    """A narrow window wraps, and one that is resized in the middle of a word is drawn anew."""
    with chatting(folder, columns=30, rows=12, greeting=">") as window:
        window.type("please explain to me @app")
        window.wait_for_row("src/app.py")
        assert "> please explain to me @app" in window.lines
        window.resize(70, 20)
        window.wait(lambda window: "> please explain to me @app" in window.lines and "to Enter" not in window.text)
        window.type(TAB)
        window.wait("1 attached")
        window.send()

        assert "please explain to me src/app.py" in window.text


def test_without_colours(folder: Path) -> None:
    """NO_COLOR is obeyed: no sequence sets one, neither in the line nor in the notices."""
    with chatting(folder, NO_COLOR="1") as window:
        window.type("@src/app.py @nothing.py ")
        window.wait("1 attached")
        window.send()

    sequences = {part.partition(b"m")[0] for part in window.raw.split(b"\x1b[")[1:] if b"m" in part[:12]}
    assert not [one for one in sequences if any(code in one.split(b";") for code in (b"31", b"32", b"33", b"36", b"38"))]


def test_a_dumb_terminal(folder: Path) -> None:
    """Without cursor keys there is a plain line to type in, and all the same notices."""
    with chatting(folder, greeting="\n>", TERM="dumb") as window:
        window.type("explain @src/app.py", ENTER)
        window.wait(SENT)
        window.type("/files ma", ENTER)
        window.wait("@src/main.py")
        assert window.leave() == 0

    assert "attached src/app.py (27 B, python)" in window.text
    assert b"\x1b[3" not in window.raw


def test_a_command_is_completed(folder: Path) -> None:
    """A slash opens the commands, with what they do."""
    with chatting(folder) as window:
        window.type("/con")
        window.wait("what the model sees now")
        window.type(TAB, ENTER)
        window.wait("attached: 0 B of 1.0 MB")


def test_nothing_of_a_file_reaches_the_terminal_as_a_command(folder: Path) -> None:
    """What `/prompt` shows of a file with escape sequences shows them, and does not do what they say."""
    (folder / "evil.txt").write_bytes(b"\x1b[2J\x1b]0;owned\x07bye\n")
    with chatting(folder) as window:
        window.send("@evil.txt ")
        window.type("/prompt", ENTER)
        window.wait("filerefs:end")

    assert "\\u{1b}[2J" in window.text
    assert b"]0;owned\x07" not in window.raw


def test_error_without_the_toolkit(folder: Path) -> None:
    """Where prompt_toolkit is missing, one sentence says what to install."""
    blocker = folder.parent / "blocked"
    (blocker / "prompt_toolkit").mkdir(parents=True)
    (blocker / "prompt_toolkit" / "__init__.py").write_text("raise ImportError\n", encoding="utf-8")
    path = os.pathsep.join((str(blocker), str(folder.parents[0])))

    with chatting(folder, greeting="error", PYTHONPATH=os.pathsep.join((path, _package()))) as window:
        assert window.end() == 2

    assert "pip install 'filerefs[chat]'" in window.text.replace("\n", "")


def _package() -> str:
    from pathlib import Path

    import filerefs

    return str(Path(filerefs.__file__).parents[1])
