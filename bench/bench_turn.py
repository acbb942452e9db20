"""A turn with files of 10 KB, to plain open + read + decode of the same files"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import filerefs
from filerefs import Limits, Preprocessor

from .measuring import compare

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = "You are a careful programmer. Answer briefly.\n" * 40
GOALS = {("cold", 3): 6.0, ("warm", 3): 3.0}
# A hundred files of 10 KB are just under the default total; this keeps all of them whatever the names take.
LIMITS = Limits(total_bytes=2 * 1024 * 1024)


def plain_read(paths: list[str]) -> list[str]:
    texts = []
    for path in paths:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 (the plain way)
            texts.append(file.read())
    return texts


def binary_read(paths: list[str]) -> list[str]:
    texts = []
    for path in paths:
        with open(path, "rb") as file:  # noqa: PTH123 (the plain way)
            texts.append(file.read().decode())
    return texts


@pytest.mark.parametrize("kind", ["cold", "new files", "warm"])
@pytest.mark.parametrize("count", [1, 3, 10, 100])
def test_turn(benchmark: Any, record: Any, project: Path, kind: str, count: int) -> None:
    names = [f"src/module{number}.py" for number in range(count)]
    message = "explain " + " and ".join(f"@{name}" for name in names)
    paths = [str(project / name) for name in names]
    with Preprocessor(project, limits=LIMITS) as kept:
        assert len(kept.preprocess(message, PROMPT).attached) == count

        def cold() -> object:
            return filerefs.preprocess(message, PROMPT, project, limits=LIMITS)

        def new_files() -> object:
            kept._memory, kept._section = None, ""
            return kept.preprocess(message, PROMPT)

        def warm() -> object:
            return kept.preprocess(message, PROMPT)

        work = {"cold": cold, "new files": new_files, "warm": warm}[kind]
        title = {
            "cold": "cold: one call of `preprocess()`",
            "new files": "cold: files that a `Preprocessor` has not read",
            "warm": "warm: the same files as in the turn before",
        }[kind]
        pair = compare(work, lambda: binary_read(paths))
        text = compare(work, lambda: plain_read(paths), seconds=0.3)
        record(
            f"{count} {'file' if count == 1 else 'files'}, {title}",
            pair.ratio,
            goal=GOALS.get((kind, count)),
            times=f"{pair.ours * 1e6:,.0f} µs : {pair.plain * 1e6:,.0f} µs; to `open()` as text {text.ratio:.1f} ×",
        )
        benchmark.pedantic(work, rounds=10)
