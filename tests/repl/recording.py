"""
The main flow of the chat, typed into a real terminal and drawn as it looked: `python -m tests.repl.recording FILE`.

The picture is text in SVG, so that a change of it can be reviewed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

from .terminal import TAB, Window, chatting

COLUMNS, ROWS = 92, 18
_WIDTH, _HEIGHT, _MARGIN = 8.4, 18, 12
_COLOURS = {"default": "#d8dee9", "green": "#8fbc6f", "red": "#e06c75", "brown": "#d7af5f", "cyan": "#56b6c2"}
FILES = {
    "greet.py": 'def greet(name):\n    return f"Hello, {name}!"\n',
    "docs/guide for all.md": "# Guide\n",
    "docs/style.md": "# Style\n",
}


def record(folder: Path) -> str:
    """Return the picture of a chat in *folder*, which is empty."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with chatting(folder, "--no-agents", columns=COLUMNS, rows=ROWS) as window:
        window.type("explain @gre")
        window.wait_for_row("greet.py")
        window.type(TAB)
        window.wait(lambda window: window.colour("@greet.py") == "green")
        window.type("and @gret.py")
        window.wait(lambda window: window.colour("@gret.py") == "red")
        window.send()
        window.type("compare it with @do")
        window.wait_for_row("docs/style.md")
        return draw(window)


def draw(window: Window) -> str:
    """Return what *window* shows as SVG."""
    width, height = COLUMNS * _WIDTH + 2 * _MARGIN, ROWS * _HEIGHT + 2 * _MARGIN
    picture = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" font-family="monospace" font-size="14">',
        f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#20242c"/>',
    ]
    for y in range(ROWS):
        picture += [_draw_run(text, x, y, colour, back=back) for x, text, colour, back in _runs(window, y)]
    return "\n".join((*picture, "</svg>\n"))


def _runs(window: Window, y: int) -> list[tuple[int, str, str, bool]]:
    """Return the runs of one line that look the same: where each begins, its text and colour, whether it is in the popup."""
    runs: list[tuple[int, str, str, bool]] = []
    for x in range(COLUMNS):
        character = window.screen.buffer[y][x]
        look = (_COLOURS.get(character.fg, "#20242c"), character.bg != "default")
        if runs and runs[-1][2:] == look:
            runs[-1] = (runs[-1][0], runs[-1][1] + character.data, *look)
        else:
            runs.append((x, character.data, *look))
    return [run for run in runs if run[1].strip() or run[3]]


def _draw_run(text: str, x: int, y: int, colour: str, *, back: bool) -> str:
    left, top = _MARGIN + x * _WIDTH, _MARGIN + y * _HEIGHT
    box = f'<rect x="{left:.1f}" y="{top}" width="{len(text) * _WIDTH:.1f}" height="{_HEIGHT}" fill="#aeb4c0"/>' if back else ""
    return f'{box}<text x="{left:.1f}" y="{top + 13}" fill="{colour}" xml:space="preserve" textLength="{len(text) * _WIDTH:.1f}">{escape(text)}</text>'


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch) / "project"
        project.mkdir()
        Path(sys.argv[1]).write_text(record(project), encoding="utf-8")
