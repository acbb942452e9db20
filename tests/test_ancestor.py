"""
What the system that this one descends from does: reproduced, done right where it was a fault, overruled where the design says so.

`data/ancestor.jsonl` has one fact a line: `ancestor` is what that system does, `ours` what is done here, `because` why they
differ.  A verdict of "same" is reproduced; a "fault" is done right; "overruled" is another decision.  How a half-typed name
is completed is no matter of the turn and is tested where that is.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from filerefs import Refused, format_ref, inject, load, parse, preprocess, strip_section

ROWS: list[dict[str, Any]] = [json.loads(line) for line in (Path(__file__).parent / "data" / "ancestor.jsonl").read_text(encoding="utf-8").splitlines()]


def rows(operation: str) -> pytest.MarkDecorator:
    """Return the facts about *operation*, each under its name, verdict and what it is about."""
    return pytest.mark.parametrize("row", [pytest.param(row, id=f"{row['verdict']}: {row['what']}") for row in ROWS if row["op"] == operation])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return an empty folder with another one around it."""
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def plant(row: dict[str, Any], root: Path) -> None:
    """Make the files, links and pipes of *row*; a pair of a text and a number is that text so many times."""
    for name, content in row.get("files", {}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else content[0] * content[1], encoding="utf-8")
    for name, target in row.get("links", {}).items():
        (root / name).symlink_to(target.replace("%ROOT%", str(root)))
    for name in row.get("fifos", []):
        os.mkfifo(root / name)
    for folder, (count, pattern) in row.get("many", {}).items():
        (root / folder).mkdir()
        for number in range(count):
            (root / folder / (pattern % number)).touch()


def test_verdicts() -> None:
    """What is the same is the same, and whatever differs says why."""
    assert {row["verdict"] for row in ROWS} == {"same", "fault", "overruled"}
    for row in ROWS:
        assert (row["verdict"] == "same") is ("because" not in row)
        if row["op"] in ("parse", "strip", "rewrite"):
            assert (row["verdict"] == "same") is (row["ancestor"] == row["ours"])


@rows("parse")
def test_parse(row: dict[str, Any]) -> None:
    """Which names a message mentions."""
    assert [ref.path for ref in parse(row["message"])] == row["ours"]


@rows("load")
def test_load(row: dict[str, Any], root: Path) -> None:
    """What becomes of each name."""
    plant(row, root)
    message = " ".join(format_ref(name.replace("%ROOT%", str(root))) for name in row["names"])
    outcomes = load(parse(message), root)

    assert len(outcomes) == len(row["ours"])
    for outcome, expected in zip(outcomes, row["ours"], strict=True):
        assert expected == {name: getattr(outcome, name) for name in expected}
        if isinstance(outcome, Refused):
            assert str(root) not in outcome.detail


@rows("section")
def test_section(row: dict[str, Any], root: Path) -> None:
    """The parts of a section stand in it in this order, and no line feed at its end."""
    plant(row, root)
    section = preprocess(" ".join(format_ref(name) for name in row["names"]), root=root).section

    places = [section.index(part) for part in row["ours"]]
    assert places == sorted(places)
    assert not section.endswith("\n")


@rows("inject")
def test_inject(row: dict[str, Any], root: Path) -> None:
    """A section stands behind the prompt with one blank line between, and the last one takes the place of any before."""
    plant(row, root)
    prompt = row["prompt"]
    for names in row["names"]:
        prompt = inject(prompt, load(parse(" ".join(format_ref(name) for name in names)), root))

    assert prompt.startswith(row["ours"])
    assert prompt.count(row["ours"].splitlines()[-1]) == 1
    assert [line for line in prompt.splitlines() if line.startswith("### ")] == [f"### {name}" for name in row["names"][-1]]
    assert strip_section(prompt) == row["prompt"]


@rows("strip")
def test_strip(row: dict[str, Any]) -> None:
    """What is no section stays in the prompt."""
    assert strip_section(row["prompt"]) == row["ours"]


@rows("rewrite")
def test_rewrite(row: dict[str, Any], root: Path) -> None:
    """The message as it is sent."""
    plant(row, root)

    assert preprocess(row["message"], root=root).message == row["ours"]
