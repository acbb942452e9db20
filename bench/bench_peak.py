"""Peak memory of a process, above one that ran a turn without `@`, at the default limits"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .conftest import module
from .measuring import is_large_enough, peak_above_idle, run_child

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 1024 * 1024
MEMORY_FOLDER = "/dev/shm"
TURN = "import sys, filerefs; filerefs.Preprocessor(sys.argv[1]).preprocess(sys.argv[2])"
NAMES = "import sys, filerefs; filerefs.Preprocessor(sys.argv[1]).preprocess(' '.join(f'@file{number}.txt' for number in range(10_000)))"
MANY = "import sys, pathlib\nfor number in range({count}): pathlib.Path(sys.argv[1], f'file{{number}}').touch()"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of 10,000 files, some of 300 KB of text, all others of a GiB without a block, and of one TiB."""
    folder = tmp_path_factory.mktemp("large")
    text = module(0, 300_000)
    for number in range(10_000):
        path = folder / f"file{number}.txt"
        if number < 50:
            path.write_text(text, encoding="utf-8")
        else:
            path.touch()
            os.truncate(path, 1 << 30)
    (folder / "sparse.txt").write_text("a line\n" * 1000, encoding="utf-8")
    os.truncate(folder / "sparse.txt", 1 << 40)
    return folder


@pytest.mark.parametrize(
    ("title", "code", "message"),
    [
        pytest.param("a message that names 10,000 files", NAMES, "", id="10,000 files"),
        pytest.param("a sparse file of 1 TiB", TURN, "@sparse.txt", id="1 TiB"),
        pytest.param("a line deep in a sparse file of 1 TiB", TURN, "@sparse.txt:5000000-5000010", id="deep in 1 TiB"),
    ],
)
def test_large_files(  # noqa: PLR0917 (fixtures and columns)
    benchmark: Any, record: Any, large: Path, title: str, code: str, message: str
) -> None:
    above = benchmark.pedantic(peak_above_idle, (code, str(large), message), rounds=1)
    record(title, above / MIB, "MiB", goal=32.0)


@pytest.fixture
def crowded() -> Iterator[Path]:
    """Return a folder of a million files, in memory."""
    if not is_large_enough(MEMORY_FOLDER, 4 << 30):
        pytest.skip(f"no room for a million files in {MEMORY_FOLDER}")
    folder = Path(tempfile.mkdtemp(dir=MEMORY_FOLDER))
    try:
        (folder / "million").mkdir()
        run_child(MANY.format(count=1_000_000), str(folder / "million"))
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.mark.huge
def test_a_million_entries(benchmark: Any, record: Any, crowded: Path) -> None:
    above = benchmark.pedantic(peak_above_idle, (TURN, str(crowded), "@million/"), rounds=1)
    record("a folder of a million entries, listed", above / MIB, "MiB", goal=32.0)
    missing = peak_above_idle(TURN, str(crowded), "@million/file1234567.txt")
    record("a name that is not in it, with a hint from its names", missing / MIB, "MiB", goal=32.0)
