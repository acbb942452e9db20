"""The instruction files of a chat, read again for each turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from filerefs.chat.instructions import Instructions
from filerefs.errors import RootNotFoundError

if TYPE_CHECKING:
    from conftest import Tree

    from filerefs.agentsmd import Loader


@pytest.mark.parametrize(
    ("changes", "notice"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({"AGENTS.md": "See @more.md\n"}, "", id="written anew, and the same"),
        pytest.param({"AGENTS.md": "Else. See @more.md\n"}, "instruction files changed: AGENTS.md", id="a text"),
        pytest.param({"more.md": "Else.\n"}, "instruction files changed: more.md", id="an import"),
        pytest.param({"AGENTS.local.md": "Mine.\n"}, "instruction files changed: AGENTS.local.md is new", id="a new one"),
        pytest.param({"AGENTS.md": "\n"}, "instruction files changed: AGENTS.md is gone, more.md is gone", id="blank ones are none"),
        pytest.param(
            {"AGENTS.md": "See @none.md\n"}, "instruction files changed: AGENTS.md, more.md is gone, @none.md: no such file (AGENTS.md)", id="a problem"
        ),
    ],
)
def test_what_changed(tree: Tree, changes: dict[str, Any], notice: str) -> None:
    """A line names the files that changed, came or went, and what cannot be read; afterwards nothing is new any more."""
    instructions = Instructions(str(tree({"AGENTS.md": "See @more.md\n", "more.md": "More.\n"})))
    before = instructions.text
    tree(changes)

    assert notice == instructions.refresh()
    assert (notice == "") is (instructions.text == before)
    assert instructions.refresh() == ""


def test_a_text_for_the_prompt(tree: Tree) -> None:
    """It is that of the files as they are now, and nothing where there are none."""
    folder = tree({"AGENTS.md": "One.\n"})
    instructions = Instructions(str(folder))
    (folder / "AGENTS.md").unlink()

    assert "One." in instructions.text
    assert instructions.refresh() == "instruction files changed: AGENTS.md is gone"
    assert instructions.text == ""


def test_error_files_that_cannot_be_read_any_more(tree: Tree) -> None:
    """What was read before holds; that is told once, and again if it happens again."""

    class Lost:
        def run(self) -> Lost:
            return self

        def load(self) -> None:
            raise RootNotFoundError("away", "no such folder")

    instructions = Instructions(str(tree({"AGENTS.md": "One.\n"})))
    loader = instructions._loader
    told = []
    for current in (Lost(), Lost(), loader, Lost()):
        instructions._loader = cast("Loader", current)
        told.append(instructions.refresh())

    assert "One." in instructions.text
    assert ["", ""] == told[1:3]
    assert told[0] == told[3]
    assert told[0].startswith("instruction files cannot be read any more, and those from before hold: ")
