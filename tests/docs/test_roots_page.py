"""docs/roots.md: the sample, run, and what the page says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from filerefs import Preprocessor, retrieval

from .blocks import execute, read
from .grammar_examples import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (REPOSITORY / "docs" / "roots.md").read_text(encoding="utf-8")
SAMPLE, PRINTED = read(PAGE)


@pytest.fixture
def names(tmp_path: Path) -> dict[str, Any]:
    """What the sample leaves behind, and what it printed as `printed`."""
    names: dict[str, Any] = {}
    names["printed"] = execute(SAMPLE.text, tmp_path, names)
    return names


def test_the_sample_prints_what_stands_behind_it(names: dict[str, Any]) -> None:
    """It is a program of at most 25 lines, blank ones left out, and the page shows what it prints."""
    assert PRINTED.text == names["printed"]
    assert len([line for line in SAMPLE.text.splitlines() if line.strip()]) <= 25


def test_the_root_of_the_sample_is_one(names: dict[str, Any]) -> None:
    """It is listed and read like a folder, changes are seen, and a secret is withheld."""
    with Preprocessor(names["Notes"](names["database"])) as files:
        listing = retrieval.file_tools(files)[1]
        first = files.preprocess("see @todo.md").section
        names["database"].execute("UPDATE notes SET text = ?, version = 2", [b"Sell bread.\n"])

        assert "todo.md\n1 name was left out because it may hold credentials." in listing.run()
        assert "Buy flour." in first
        assert "Sell bread." in files.preprocess("see @todo.md").section
