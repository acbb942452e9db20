from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    class Record(Protocol):
        def __call__(self, title: str, value: float, unit: str = "×", *, goal: float | None = None, times: str = "") -> None: ...


SAMPLES = Path(__file__).parent / "samples"
LENGTH = 100_000
FILE_BYTES = 10_240
FILES = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--huge", action="store_true", help="also what takes a minute to set up: a folder of a million files")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "huge: takes a minute to set up; run with --huge")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--huge"):
        for item in items:
            if item.get_closest_marker("huge"):
                item.add_marker(pytest.mark.skip(reason="needs --huge"))


def repeat(text: str, length: int) -> str:
    """Return *text* again and again, each time with another number in the place of `§`, in so many bytes or a few less."""
    pieces, size, number = [], 0, 0
    while size < length:
        pieces.append(text.replace("§", str(number)))
        size += len(pieces[-1].encode())
        number += 1
    return "".join(pieces).encode()[:length].decode("utf-8", "ignore")


@pytest.fixture(scope="session")
def sample() -> Callable[..., str]:
    """Return the text of a file in samples/, repeated to 100 KB."""

    def read(name: str, length: int = LENGTH) -> str:
        return repeat((SAMPLES / f"{name}.txt").read_text(encoding="utf-8"), length)

    return read


def module(number: int, size: int = FILE_BYTES) -> str:
    return repeat(f"def function_§(value: int) -> int:\n    return value + {number}\n\n\n", size)


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder as projects have them, with a hundred files of 10 KB in src/, and one ten folders deep."""
    folder = tmp_path_factory.mktemp("project")
    for name in (".git", ".github", "docs", "src", "tests", "tools"):
        (folder / name).mkdir()
    for name in (".gitignore", "Makefile", "README.md", "LICENSE", "pyproject.toml", "setup.cfg", "app.py", "conftest.py"):
        (folder / name).write_text(f"{name}\n", encoding="utf-8")
    for number in range(FILES):
        (folder / "src" / f"module{number}.py").write_text(module(number), encoding="utf-8")
    deep = folder.joinpath(*"abcdefghi")
    deep.mkdir(parents=True)
    for place in (deep, folder / "a" / "b" / "c"):
        (place / "file.py").write_text(module(0), encoding="utf-8")
    (folder / "link.py").symlink_to("src/module0.py")
    (folder / "linked").symlink_to("src")
    # A text that is younger than the clock's grain is not kept between turns.
    time.sleep(0.1)
    return folder


@pytest.fixture
def record(benchmark: Any, request: pytest.FixtureRequest) -> Record:
    """Take down a row of the table: what, how much, what was aimed at, and the times that it comes from."""
    rows = benchmark.extra_info.setdefault("rows", [])

    def take(title: str, value: float, unit: str = "×", *, goal: float | None = None, times: str = "") -> None:
        rows.append({"group": request.module.__doc__.strip(), "title": title, "value": value, "unit": unit, "goal": goal, "times": times})

    return take
