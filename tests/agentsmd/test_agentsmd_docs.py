"""
docs/agentsmd.md, run: every sample as a reader would run it, the table of profiles against the profiles.

`UPDATE_GOLDEN=1 python -m pytest tests/agentsmd/test_agentsmd_docs.py` writes anew what the samples print, and the table.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from filerefs import agentsmd
from filerefs.agentsmd.frames import STYLES
from filerefs.limits import KIB, MIB

from ..docs.blocks import Block, read, replay, rewrite  # noqa: TID252 (tests are no package that has a name)
from ..docs.grammar_examples import REPOSITORY  # noqa: TID252

if TYPE_CHECKING:
    from pathlib import Path

PAGE = REPOSITORY / "docs" / "agentsmd.md"
TEXT = PAGE.read_text(encoding="utf-8")
DRAWING, *BLOCKS = read(TEXT)
HOME = "/home/ada"
FILES = {
    ".git/HEAD": "ref: refs/heads/main\n",
    "AGENTS.md": "# Shop\n\nUse tabs.\nSee @docs/style.md.\n",
    "docs/style.md": "Short words.\n",
    "api/AGENTS.override.md": "Handlers return JSON.\n",
    "api/AGENTS.md": "Handlers return HTML.\n",
    "api/orders.py": "",
}
SHOWN = ("names", "additions", "file_bytes", "budget", "too_large", "overflow", "spend", "blank", "imports", "style")


def make_shop(folder: Path) -> Path:
    """Make the folder that the page is about."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder


def run(folder: Path) -> list[Block]:
    """Return the blocks of the page with what they really print; the reader's folder is at home."""
    blocks = replay(TEXT, make_shop(folder), {"__name__": "__main__"})
    return [replace(block, text=block.text.replace(str(folder.parent), HOME)) for block in blocks[1:]]


def table() -> str:
    """Return the rows of the table of profiles."""
    return "".join(f"| `{name}` | {' | '.join(cell(name, getattr(profile, name)) for profile in agentsmd.PROFILES.values())} |\n" for name in SHOWN)


def cell(name: str, value: Any) -> str:
    """Return how the table says an option's value."""
    if name in ("names", "additions"):
        return ", ".join(f"`{one}`" for one in value) or "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "no limit"
    if isinstance(value, int):
        return f"{value // MIB} MiB" if value % MIB == 0 else f"{value // KIB} KiB"
    return f"`{value}`"


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> list[Block]:
    """Return the blocks of the page as they should be."""
    blocks = run(tmp_path_factory.mktemp("page") / "shop")
    if os.environ.get("UPDATE_GOLDEN"):
        text = rewrite(TEXT, [DRAWING, *blocks])
        PAGE.write_text(re.sub(r"(?<=\|---\|---\|---\|---\|---\|---\|\n)(?:\| `.*\n)*", lambda _: table(), text), encoding="utf-8", newline="")
    return blocks


@pytest.mark.parametrize("number", range(len(BLOCKS)), ids=[f"{number} {block.language} {block.title}" for number, block in enumerate(BLOCKS)])
def test_a_sample_prints_what_it_shows(number: int, replayed: list[Block]) -> None:
    """Each sample prints byte for byte what stands behind it."""
    assert BLOCKS[number] == replayed[number]


def test_every_sample_is_run() -> None:
    """A text block stands behind the sample that prints it, but for the drawing of the folder."""
    kinds = [block.language for block in BLOCKS]

    assert {"python", "console", "text"} == set(kinds)
    assert all(kinds[number - 1] == "python" for number, kind in enumerate(kinds) if kind == "text")


def test_the_drawing_is_the_folder() -> None:
    """What the page says about its folder is what the samples find."""
    names = re.findall(r"(?:├──|└──) (\S+)", DRAWING.text)

    assert {name.rpartition("/")[2] for name in FILES} - {"HEAD"} == {name.rpartition("/")[2] for name in names} - {""}
    for text in FILES.values():
        assert text.rstrip().rpartition("\n")[2] in DRAWING.text or text.startswith("ref:")


def test_the_table_of_profiles() -> None:
    """Each option of each profile is what the table says."""
    assert table() in TEXT


def test_the_table_of_styles() -> None:
    """Each style is there, with its frames."""
    rows = re.findall(r"^\| `(\w+)` \| .*(?:`<|`#)", TEXT, re.MULTILINE)

    assert set(STYLES) == set(rows)


def test_names_in_the_page_are_public() -> None:
    """Whatever the page calls is there for everybody."""
    named = set(re.findall(r"agentsmd\.(\w+)", TEXT)) - {"md"}

    assert named <= set(agentsmd.__all__)
    assert {"discover", "expand_imports", "render", "insert", "refresh", "Loader", "catalog", "tools"} <= named
