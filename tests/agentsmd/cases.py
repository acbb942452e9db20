"""
What four other systems do with instruction files, as rows: `data/NAME.jsonl`, one JSON object a line.

    id, op         which row it is, and what it is about: the test that takes the op takes the row
    says           the behaviour, in a sentence
    standing       "reproduced": the system does so, and so do we.  "mended": it does `wrong`, a fault, and we do not.
                   "overruled": it does so on purpose, and `rule` says why we do not.
    given          `tree` (path -> text, {"text", "times"}, {"base64"}, {"link"}, or null for a folder), and arguments;
                   "{root}" stands for the folder of the tree
    expected       what comes out here

A test takes rows with `rows(SYSTEM, OP, …)`, both written as literals: `test_systems_cases` reads the sources to see
that no row is left to nobody.
"""

from __future__ import annotations

import ast
import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Tree

HERE = Path(__file__).parent
SYSTEMS = ("agentsmd", "projectctx", "codex", "eino")


@dataclass(frozen=True)
class Row:
    """One row; see the module."""

    id: str
    op: str
    says: str
    standing: str
    given: dict[str, Any]
    expected: dict[str, Any] = field(default_factory=dict)
    wrong: dict[str, Any] = field(default_factory=dict)
    rule: str = ""

    def build(self, tree: Tree) -> Path:
        """Make the files of the row and return their folder."""
        return build(tree, self.given["tree"])


def build(tree: Tree, entries: dict[str, Any]) -> Path:
    """Make the files of a table of paths, as rows write it, and return their folder."""
    return tree({path: _entry(tree, value) for path, value in entries.items()})


def _entry(tree: Tree, value: Any) -> Any:
    root = str(tree.folder)
    if isinstance(value, str) or value is None:
        return value and value.replace("{root}", root)
    if "link" in value:
        return tree.link(value["link"].replace("{root}", root))
    if "base64" in value:
        return base64.b64decode(value["base64"])
    return str(value["text"]) * value["times"]


def read(system: str) -> list[Row]:
    """Return all rows of a system."""
    lines = (HERE / "data" / f"{system}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Row(**json.loads(line)) for line in lines]


def rows(system: str, *ops: str) -> list[Any]:
    """Return the rows of a system that are about one of *ops*, as parameters of a test."""
    return [pytest.param(row, id=row.id) for row in read(system) if row.op in ops]


def taken() -> set[tuple[str, str]]:
    """Return each (system, op) that some test of this folder takes with `rows`."""
    return {pair for path in HERE.glob("test_*.py") for pair in _taken_by(ast.parse(path.read_text(encoding="utf-8")))}


def _taken_by(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "rows":
            system, *ops = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            yield from ((str(system), str(op)) for op in ops)
