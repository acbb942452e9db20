"""
Instruction files: finding them on a tree twenty levels deep, and importing two hundred.

Each beside its floor: the system calls that no way to do it can do without, and decoding.  What counts is the ratio.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from filerefs.agentsmd.discovery import discover
from filerefs.agentsmd.imports import expand_imports
from filerefs.agentsmd.masking import mask
from filerefs.agentsmd.profiles import CHAIN, DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEPTH = 20
FILES = 200
RULES = "# Rules\n\n- keep functions short\n- run `make test` before every commit\n\n" * 8
NAMES = ("AGENTS.override.md", "AGENTS.md", "AGENTS.local.md")


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deep")
    (folder / ".git").mkdir()
    for level in range(DEPTH):
        (folder / "AGENTS.md").write_text(f"{level}\n{RULES}", encoding="utf-8")
        folder /= f"level{level:02}"
        folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def sparse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file at the top, as most projects have it."""
    folder = tmp_path_factory.mktemp("sparse")
    (folder / ".git").mkdir()
    (folder / "AGENTS.md").write_text(RULES, encoding="utf-8")
    for level in range(DEPTH):
        folder /= f"level{level:02}"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wide")
    names = [f"docs/rule{number:03}.md" for number in range(FILES)]
    (folder / "docs").mkdir()
    for name in names:
        (folder / name).write_text(RULES[:600], encoding="utf-8")
    (folder / "AGENTS.md").write_text("".join(f"- @{name}\n" for name in names), encoding="utf-8")
    return folder


def stat_and_read(folder: Path) -> list[str]:
    """Look for each name in each folder up to the one with .git, and read what is there."""
    texts = []
    here = str(folder)
    while True:
        for name in NAMES:
            try:
                descriptor = os.open(f"{here}/{name}", os.O_RDONLY)
            except FileNotFoundError:
                continue
            texts.append(read_and_close(descriptor))
        try:
            os.stat(f"{here}/.git")  # noqa: PTH116 (the bare call)
        except FileNotFoundError:
            here = here.rpartition("/")[0]
        else:
            return texts[::-1]


def read_and_close(descriptor: int) -> str:
    try:
        return os.read(descriptor, os.fstat(descriptor).st_size + 1).decode()
    finally:
        os.close(descriptor)


def read_all(folder: Path) -> list[str]:
    lines = read_and_close(os.open(f"{folder}/AGENTS.md", os.O_RDONLY)).splitlines()
    return [read_and_close(os.open(f"{folder}/{line.removeprefix('- @')}", os.O_RDONLY)) for line in lines]


def best(work: Callable[[], object], *, rounds: int = 40) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def report(benchmark: Any, ours: Callable[[], object], floor: Callable[[], object]) -> None:
    benchmark(ours)
    ratio = best(ours) / best(floor)
    benchmark.extra_info["ratio to the floor"] = round(ratio, 2)
    print(f"\n{benchmark.name}: {ratio:.2f} times the floor")


@pytest.mark.parametrize("profile", [DEFAULT, CHAIN], ids=lambda profile: profile.title)
def test_twenty_levels_with_a_file_each(benchmark: Any, deep: Path, profile: Any) -> None:
    assert len(discover(deep, profile=profile)) == DEPTH

    report(benchmark, lambda: discover(deep, profile=profile), lambda: stat_and_read(deep))


@pytest.mark.parametrize("profile", [DEFAULT, CHAIN], ids=lambda profile: profile.title)
def test_twenty_levels_with_one_file(benchmark: Any, sparse: Path, profile: Any) -> None:
    assert len(discover(sparse, profile=profile)) == 1

    report(benchmark, lambda: discover(sparse, profile=profile), lambda: stat_and_read(sparse))


def test_two_hundred_imports(benchmark: Any, wide: Path) -> None:
    found = discover(wide, budget=None)
    assert len(expand_imports(found)) == FILES + 1

    report(benchmark, lambda: expand_imports(found), lambda: read_all(wide))


def test_two_hundred_imports_in_place(benchmark: Any, wide: Path) -> None:
    found = discover(wide, budget=None)
    assert len(expand_imports(found, placement="inline")) == 1

    report(benchmark, lambda: expand_imports(found, placement="inline"), lambda: read_all(wide))


@pytest.mark.parametrize("size", [100_000, 1_000_000])
def test_blanking_out_is_linear(benchmark: Any, size: int) -> None:
    text = ("- see @docs/a.md, `@code` and [@b](c)\n\n    @indented\n\n```\n@fenced\n```\n<!-- @comment -->\n" * (size // 90))[:size]

    benchmark(mask, text)
    benchmark.extra_info["seconds per MB"] = round(best(lambda: mask(text), rounds=5) * 1e6 / size, 4)
