"""A program in a real pseudo-terminal, and what a person would see of it: pexpect starts it, pyte draws its screen."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pexpect
import pyte

import filerefs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# On a machine that is busy with other things; nothing waits that long where all is well.
PATIENCE = 60
ENTER, TAB, ESCAPE, DOWN, UP = "\r", "\t", "\x1b", "\x1b[B", "\x1b[A"
SENT = "this would be sent, with"
CTRL_C, CTRL_D, ALT_ENTER = "\x03", "\x04", "\x1b\r"


class Window:
    """A terminal of *columns* by *rows* in which a program runs."""

    def __init__(self, program: pexpect.spawn[bytes], columns: int, rows: int) -> None:
        self.program = program
        self.screen = pyte.HistoryScreen(columns, rows, history=2000, ratio=0.5)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""

    @property
    def lines(self) -> list[str]:
        """What the screen shows, line by line, without blanks at the ends."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def scrolled(self) -> list[str]:
        """What the screen showed and shows."""
        top = ["".join(line[column].data for column in range(self.screen.columns)).rstrip() for line in self.screen.history.top]
        return top + self.lines

    @property
    def text(self) -> str:
        return "\n".join(self.scrolled)

    @property
    def unwrapped(self) -> str:
        """What the screen showed and shows as one line, for what is longer than a line of it."""
        top = ["".join(line[column].data for column in range(self.screen.columns)) for line in self.screen.history.top]
        return "".join((*top, *self.screen.display))

    @property
    def rows(self) -> list[str]:
        """The rows of the popup, which is drawn on a background of its own."""
        buffer, columns = self.screen.buffer, range(self.screen.columns)
        drawn = ("".join(buffer[y][x].data for x in columns if buffer[y][x].bg != "default").strip() for y in range(self.screen.lines - 1))
        return [row for row in drawn if row]

    def type(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.program.send(key)

    def wait(self, wanted: str | Callable[[Window], object], seconds: float = PATIENCE) -> None:
        """Read on until the screen shows *wanted*, a text on one line; what it shows instead is in the failure."""
        until = time.monotonic() + seconds
        while not (wanted in self.text if isinstance(wanted, str) else wanted(self)):
            assert self.read(), f"it ended, and shows no {wanted!r}:\n{self.text}"
            assert time.monotonic() < until, f"it shows no {wanted!r}:\n{self.text}"

    def press_until(self, wanted: str, key: str) -> None:
        """Press *key*, and again after a while, as people do: an interrupt may fall into a moment in which Python cannot raise it."""
        for _ in range(10):
            self.type(key)
            until = time.monotonic() + 2
            while wanted not in self.text and time.monotonic() < until:
                self.read()
            if wanted in self.text:
                return
        self.wait(wanted)

    def wait_for_row(self, path: str) -> None:
        """Read on until *path* is a row of the popup."""
        self.wait(lambda window: any(line.split() and line.split()[0] == path and line.startswith(" ") for line in window.lines))

    def send(self, *keys: str) -> None:
        """Press keys and Enter, and wait until the message is answered and the next one can be typed."""
        before = self.text.count(SENT)
        self.type(*keys, ENTER)
        self.wait(lambda window: window.text.count(SENT) > before and window.lines[-1].startswith("Enter sends"))

    def leave(self) -> int | None:
        """Press Ctrl-D once there is a line to type in, and return the exit code."""
        self.wait(lambda window: ">" in [line for line in window.lines if line and not line.startswith("Enter sends")][-1:])
        until = time.monotonic() + PATIENCE
        while True:
            # A dumb terminal shows its prompt a moment before keys are read one by one; what is pressed in it is lost.
            self.type(CTRL_D)
            for _ in range(20):
                if not self.read():
                    return self.end()
            assert time.monotonic() < until, f"it does not end:\n{self.text}"

    def read(self) -> bool:
        """Take what the program wrote, waiting for a moment; return whether it goes on."""
        try:
            data = self.program.read_nonblocking(65536, timeout=0.05)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self.stream.feed(data)
        # What a terminal answers when it is asked where its cursor is.
        if b"\x1b[6n" in data:
            self.program.send(f"\x1b[{self.screen.cursor.y + 1};{self.screen.cursor.x + 1}R")
        return True

    def end(self) -> int | None:
        """Read to the end and return the exit code."""
        until = time.monotonic() + PATIENCE
        while self.read():
            assert time.monotonic() < until, f"it does not end:\n{self.text}"
        self.program.close()
        return self.program.exitstatus

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self.program.setwinsize(rows, columns)

    def colour(self, text: str) -> str:
        """Return the colour of *text* in the line that is typed into; "" where it is not there."""
        for y, line in enumerate(self.screen.display):
            if line.startswith(">") and text in line:
                return str(self.screen.buffer[y][line.rindex(text)].fg)
        return ""


@contextmanager
def chatting(folder: Path, *arguments: str, columns: int = 80, rows: int = 30, greeting: str = "Enter sends", **variables: str) -> Iterator[Window]:
    """Run `filerefs chat` in *folder* until the block is left."""
    unwanted = {"NO_COLOR", "COLUMNS", "LINES", "PYTHONWARNDEFAULTENCODING", "PROMPT_TOOLKIT_COLOR_DEPTH"}
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    environment |= {"PYTHONPATH": str(Path(filerefs.__file__).parents[1]), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    environment |= {"XDG_STATE_HOME": str(folder.parent / "state"), "LLM_USER_PATH": str(folder.parent / "llm"), **variables}
    command = ["-P", "-m", "filerefs", "chat", *arguments]
    program = pexpect.spawn(sys.executable, command, cwd=str(folder), env=environment, dimensions=(rows, columns), timeout=PATIENCE, encoding=None)
    program.delaybeforesend = None
    window = Window(program, columns, rows)
    try:
        window.wait(greeting)
        yield window
    finally:
        program.close(force=True)
