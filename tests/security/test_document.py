"""docs/security.md against the tests: whatever it says holds a promise is there."""

from __future__ import annotations

import re
from pathlib import Path

from .openers import SYSTEMS
from .swaps import SWAPS

REPOSITORY = Path(__file__).parents[2]
TEXT = (REPOSITORY / "docs/security.md").read_text(encoding="utf-8")


def test_tests_that_are_named_exist() -> None:
    """A test that the page names is one of the suite."""
    named = set(re.findall(r"`(test_\w+)`", TEXT))
    sources = [path.read_text(encoding="utf-8") for path in (REPOSITORY / "tests").rglob("test_*.py")]

    assert named
    assert set() == named - {name for source in sources for name in re.findall(r"def (test_\w+)\(", source)}


def test_every_promise_and_fault_has_a_test() -> None:
    """Each row of the tables of promises and of faults says what holds it."""
    tables = TEXT.partition("## Platforms")[0] + TEXT.partition("## When things go wrong")[2].partition("## The race")[0]
    rows = re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", tables, re.MULTILINE)

    assert len(rows) > 20
    assert [] == [row[0] for row in rows if "test" not in row[2] and "the race" not in row[2] and row[2] != "held by"]


def test_the_figures_are_of_this_race() -> None:
    """The table of the race has each swap of the suite, and each way of resolving."""
    head, *rows = [line.strip("| ").split(" | ") for line in TEXT.partition("## The race")[2].partition("\n## ")[0].splitlines() if line.startswith("| ")]

    assert {system.title for system in SYSTEMS} <= set(head)
    assert {swap.title for swap in SWAPS} == {row[0] for row in rows} - {"swap", "---"}
