"""
Completion in a tree of 100,000 files: how long until there are rows, and how long each further key takes.

Printed in milliseconds: what counts is what a person at a keyboard notices (50 for the first rows, 30 for a key).  What
is asserted are ratios to work that cannot be avoided, measured in the same run.
"""

from __future__ import annotations

import random
import shutil
import statistics
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from filerefs.completion import Completer
from filerefs.ranking import Index

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = 100_000
WORDS = (
    *("app", "core", "util", "main", "test", "data", "model", "view", "index", "parse"),
    *("load", "cache", "user", "auth", "api", "http", "json", "form", "page", "list"),
)
# As they are typed, key by key: found at once, found late, and nowhere.
TYPED = ("main", "core/app/ut", "zzq", "user_auth1", "app_x", ".py")
PATIENCE = 120


@pytest.fixture(scope="module")
def names() -> list[str]:
    choose = random.Random(1)
    folders = [f"{one}/{two}/{three}" for one in WORDS for two in WORDS[:10] for three in WORDS[:5]]
    endings = ("py", "ts", "md", "txt")
    return [f"{choose.choice(folders)}/{choose.choice(WORDS)}_{choose.choice(WORDS)}{number}.{choose.choice(endings)}" for number in range(FILES)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> Path:
    folder = tmp_path_factory.mktemp("large")
    for name in names:
        path = folder / name
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
        path.touch()
    return folder


@pytest.fixture(scope="module")
def repository(folder: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    return folder


def milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def report(title: str, values: list[float]) -> None:
    ordered = sorted(values)
    print(f"\n{title}: median {statistics.median(ordered):.1f} ms, worst {ordered[-1]:.1f} ms ({len(ordered)} times)", end="")


def keys() -> list[str]:
    return [f"explain @{word[:count]}" for word in TYPED for count in range(1, len(word) + 1)]


@pytest.mark.parametrize("git", [pytest.param(False, id="walk"), pytest.param(True, id="git")])
def test_rows_come_at_once(folder: Path, request: pytest.FixtureRequest, *, git: bool) -> None:
    if git:
        request.getfixturevalue("repository")
    first, while_gathering, gathered = [], [], []
    for _ in range(3):
        with Completer(folder, git=git) as completer:
            started = time.perf_counter()
            found = completer.complete("explain @")
            first.append((time.perf_counter() - started) * 1000)
            assert found.candidates
            while not completer.wait(0.01):
                while_gathering.append(milliseconds(lambda: completer.complete("explain @app")))
            gathered.append((time.perf_counter() - started) * 1000)
            assert not completer.complete("explain @app").incomplete
    report("first rows", first)
    report("a key while names are gathered", while_gathering)
    report("all names are there after", gathered)


def test_each_key_is_quick(repository: Path) -> None:
    with Completer(repository) as completer:
        completer.complete("@", wait=PATIENCE)
        report("a key", [milliseconds(lambda text=text: completer.complete(text)) for text in keys()])
        report("looking again, nothing changed", [milliseconds(completer.refresh) for _ in range(3)])


def test_a_search_is_cheaper_than_a_loop(names: list[str], benchmark: Any) -> None:
    index = Index(names)
    queries = [text.partition("@")[2] for text in keys()]

    def loop() -> None:
        for name in names:
            "main" in name.rpartition("/")[2]  # noqa: B015 (the least that a loop would do)

    plain = min(milliseconds(loop) for _ in range(5))
    benchmark(lambda: [index.search(query, 50) for query in queries])
    each = benchmark.stats.stats.min * 1000 / len(queries)
    print(f"\na search: {each:.2f} ms; one look at every base name: {plain:.2f} ms", end="")
    assert each < plain
