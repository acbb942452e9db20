"""From the start of an interpreter to its end"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .measuring import compare_starts

if TYPE_CHECKING:
    from pathlib import Path

WORKS = {
    "`from filerefs import preprocess` and one turn without `@`": ("from filerefs import preprocess; preprocess('hello')", 15.0),
    "the same with `parse`": ("from filerefs import parse; parse('hello')", None),
    "a turn with one file": ("from filerefs import preprocess; preprocess('explain @src/module0.py please', root={root!r})", None),
    "a turn with one file and emphasis, which needs `regex`": ("from filerefs import preprocess; preprocess('explain *@src/module0.py*', root={root!r})", None),
}


@pytest.mark.parametrize("title", WORKS)
def test_start(benchmark: Any, record: Any, project: Path, title: str) -> None:
    code, goal = WORKS[title]
    pair = benchmark.pedantic(compare_starts, (code.format(root=str(project)), "pass"), rounds=1)
    record(f"{title}, above a bare interpreter", (pair.ours - pair.plain) * 1e3, "ms", goal=goal, times=f"{pair.ours * 1e3:.1f} ms : {pair.plain * 1e3:.1f} ms")
