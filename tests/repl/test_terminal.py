"""The chat in a real terminal: typed into key by key, and looked at as it is drawn."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("prompt_toolkit")
pytest.importorskip("pexpect")
pytest.importorskip("pyte")

from .server import serving
from .terminal import ALT_ENTER, CTRL_C, DOWN, ENTER, ESCAPE, SENT, TAB, UP, chatting

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


def test_hammering_on_ctrl_c(folder: Path) -> None:
    """However often it is pressed, whatever is going on: an answer, a command and a line end by it, and never the chat."""
    with serving(["first ", "and never"], ["second"]) as server:
        server.goes_on.clear()
        with chatting(folder, "-m", "tiny", "--base-url", server.url) as window:
            window.type("explain @src/app.py", ENTER)
            window.wait("first")
            # Each of them throws away what the terminal has not shown yet: only what is drawn afterwards is sure to be seen.
            window.type(*CTRL_C * 20)
            window.wait(lambda window: window.lines[-1].startswith("Enter sends"))
            server.goes_on.set()
            window.type("/files app", ENTER, *CTRL_C * 20)
            window.wait(lambda window: window.lines[-1].startswith("Enter sends"))
            window.type(*CTRL_C * 20, "again", ENTER)
            window.wait("second")
            assert window.leave() == 0

    assert "Traceback" not in window.text
    assert [{"role": "user", "content": "again"}] == server.requests[1]["messages"]


def test_a_command_is_interrupted(folder: Path) -> None:
    """A command that takes long ends by Ctrl-C, and what it says then is about the command."""
    plugin = folder.parent / "slow"
    plugin.mkdir()
    (plugin / "llm.py").write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
    with chatting(folder, PYTHONPATH=os.pathsep.join((str(plugin), _package()))) as window:
        window.type("/model slow", ENTER)
        window.wait(lambda window: "> /model slow" in window.lines and not window.lines[-1])
        window.press_until("interrupted: the command did not come to its end", CTRL_C)
        window.send("still here")
        assert window.leave() == 0

    assert "Traceback" not in window.text


def test_instruction_files_that_change(folder: Path) -> None:
    """What is edited meanwhile holds for the next message, and a notice says so."""
    (folder / "AGENTS.md").write_text("Be kind.\n", encoding="utf-8")
    with chatting(folder, columns=100) as window:
        window.wait("instruction files in force: AGENTS.md")
        (folder / "AGENTS.md").write_text("Be brief.\n", encoding="utf-8")
        window.send("one")
        window.wait("notice: instruction files changed: AGENTS.md (/agents says what holds now)")
        window.type("/prompt", ENTER)
        window.wait("Be brief.")


def test_wide_characters(tree: Tree) -> None:
    """They take two columns each: rows, colours and the cursor stand where they belong."""
    folder = tree({"資料 メモ.md": "メモ\n", "日本語のとても長い名前のファイルです.txt": "x\n"})
    with chatting(folder, columns=40) as window:
        window.type("見て @資")
        window.wait(lambda window: any("資料 メモ.md" in row for row in window.rows))
        window.type(TAB)
        window.wait("1 attached")
        window.type("と @日本")
        window.wait(lambda window: any(row.startswith("日本語の") for row in window.rows))
        window.type(TAB, "。")
        window.wait("2 attached")
        window.send()

    assert "attached 資料 メモ.md (7 B, markdown)" in window.text
    assert '見て "資料 メモ.md" と 日本語のとても長い名前のファイルです.txt 。' in window.text.replace("\n", "")


def test_twenty_columns(folder: Path) -> None:
    """In a very narrow window names are cut in the rows and whole in the line, and everything that is said is there."""
    (folder / "src" / "a_name_that_is_wider_than_the_window.py").write_text("", encoding="utf-8")
    with chatting(folder, columns=20, rows=12, greeting=">") as window:
        window.type("see @wider")
        window.wait(lambda window: any("..." in row for row in window.rows))
        window.type(TAB)
        window.wait(lambda window: "1 attached" in window.lines[-1])
        window.type(ENTER)
        window.wait(lambda window: SENT in window.unwrapped)
        window.type("/help", ENTER)
        window.wait(lambda window: "leave, as Ctrl-D does" in window.unwrapped)
        assert window.leave() == 0

    assert "attached src/a_name_that_is_wider_than_the_window.py (0 B, python)" in window.unwrapped


def test_a_very_long_message(folder: Path) -> None:
    """A line of many screens, and a paste of thousands of references, are typed, coloured and sent like any other."""
    with chatting(folder, rows=12) as window:
        window.send("word " * 1000, "@src/app.py ")
        assert "attached src/app.py (27 B, python)" in window.text
        window.type(f"\x1b[200~{'@src/main.py ' * 2000}\x1b[201~")
        window.wait("1 attached, 14 B of 1.0 MB")
        window.send()
        assert window.text.count("attached src/main.py") == 1
        assert window.leave() == 0


def test_a_root_that_disappears(folder: Path) -> None:
    """Where the folder is deleted under the chat, nothing is offered any more, refusals say why, and it goes on."""
    with chatting(folder, columns=100) as window:
        window.send("hello @src/app.py ")
        shutil.rmtree(folder)
        window.type("again @src/a")
        window.send("pp.py ")
        assert "could not attach @src/app.py: no such file, and the root folder itself was deleted" in window.text
        window.type("/agents", ENTER)
        window.wait("Rules: profile default.")
        assert window.leave() == 0


def test_tab_before_the_rows_are_there(folder: Path) -> None:
    """Whoever types faster than rows come gets what whoever waits gets, folder by folder."""
    with chatting(folder) as window:
        window.type(f"see @sr{TAB}{TAB}{ENTER}")
        window.wait(SENT)

    assert any(f"attached src/{name}.py" in window.text for name in ("app", "main"))


def test_a_name_with_an_unquoted_blank(folder: Path) -> None:
    """It is offered as far as it is typed; in words that are no name nothing opens."""
    with chatting(folder) as window:
        window.type("sum up @my no")
        window.wait(lambda window: "my notes.txt" in window.rows)
        window.type("body and")
        window.wait(lambda window: "> sum up @my nobody and" in window.lines and not window.rows)
        window.type("\x7f" * len("body and"), TAB)
        window.wait('> sum up @"my notes.txt"')
        window.send()


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
    (blocker / "prompt_toolkit" / "__init__.py").write_text("raise ModuleNotFoundError(name=__name__)\n", encoding="utf-8")
    path = os.pathsep.join((str(blocker), str(folder.parents[0])))

    with chatting(folder, greeting="error", PYTHONPATH=os.pathsep.join((path, _package()))) as window:
        assert window.end() == 2

    assert "pip install 'filerefs[chat]'" in window.text.replace("\n", "")


@pytest.mark.parametrize("history", ["nowhere/\0", "/proc/none/history", "src/app.py/history"])
def test_error_a_history_that_cannot_be_kept(folder: Path, history: str) -> None:
    """A line says why, and the chat goes on without."""
    with chatting(folder, "--history", history.replace("\0", "x" * 300), columns=400, greeting="no history is kept: ") as window:
        window.send("hello")
        assert window.leave() == 0


def test_a_history_that_is_not_wanted(folder: Path) -> None:
    """An empty name keeps nothing, but for the arrow in the same chat."""
    with chatting(folder, "--history", "") as window:
        window.send("hello")
        window.type(UP)
        window.wait("> hello")

    assert not (folder.parent / "state").exists()


def _package() -> str:
    from pathlib import Path

    import filerefs

    return str(Path(filerefs.__file__).parents[1])
