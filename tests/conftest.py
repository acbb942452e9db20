"""
What every test has: a folder of real files, a watch on file descriptors, and the profiles of Hypothesis.

The suite runs with PYTHONWARNDEFAULTENCODING=1 (the Makefile sets it) and every warning is an error, so an
`open()` that leaves its encoding to the machine fails its test.
"""

from __future__ import annotations

import gc
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# A fixture is made once for all examples of a law; each law that uses one says what it does about that.
_PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
settings.register_profile("dev", max_examples=50, **_PATIENT)
settings.register_profile("ci", max_examples=100, derandomize=True, print_blob=True, database=None, **_PATIENT)
settings.register_profile("thorough", max_examples=1000, print_blob=True, **_PATIENT)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


class Maker(Protocol):
    """Puts something at a path."""

    def __call__(self, path: Path, /) -> object: ...


Entry: TypeAlias = "str | bytes | Maker | None"


class Tree:
    """
    Builds files below a folder: `tree({"src/a.py": "text", "docs/": None, "link": tree.link("src/a.py")})`.

    A text is written as UTF-8 as it is, bytes as they are, None makes a directory; later calls add to the folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, entries: Mapping[str, Entry]) -> Path:
        """Make *entries* in their order and return the folder."""
        for name, entry in entries.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if entry is None:
                path.mkdir(exist_ok=True)
            elif callable(entry):
                entry(path)
            else:
                path.write_bytes(entry.encode() if isinstance(entry, str) else entry)
        return self.folder

    @staticmethod
    def link(target: str | Path) -> Maker:
        """Return a maker of a symbolic link to *target*, taken as it is."""
        return lambda path: path.symlink_to(target)

    def hard_link(self, name: str) -> Maker:
        """Return a maker of a second name for the file *name* of this tree."""
        return lambda path: path.hardlink_to(self.folder / name)

    @staticmethod
    def fifo() -> Maker:
        """Return a maker of a pipe that has a name and no writer."""
        return os.mkfifo

    @staticmethod
    def sparse(size: int) -> Maker:
        """Return a maker of a file of *size* bytes, all zero, that takes no disk."""

        def make(path: Path) -> None:
            with path.open("wb") as file:
                file.truncate(size)

        return make

    @staticmethod
    def mode(bits: int, content: str = "") -> Maker:
        """Return a maker of a file with *content* and the permissions *bits*."""

        def make(path: Path) -> None:
            path.write_bytes(content.encode())
            path.chmod(bits)

        return make


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Return a builder of files below `tmp_path / "root"`."""
    folder = tmp_path / "root"
    folder.mkdir()
    return Tree(folder)


@pytest.fixture(autouse=True)
def _no_descriptor_leaks() -> Iterator[None]:
    """Fail every test that leaves a file descriptor open (Linux)."""
    before = _open_descriptors()
    yield
    if leaked := _open_descriptors() - before:
        # A handle that only waits for the collector is no leak of ours: collect, then look again.
        gc.collect()
        leaked = _open_descriptors() - before
        assert not leaked, f"left open: {sorted(leaked.elements())}"


def _open_descriptors() -> Counter[str]:
    if sys.platform != "linux":
        return Counter()
    found: Counter[str] = Counter()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            found[str(descriptor.readlink())] += 1
        except FileNotFoundError:
            continue  # the one that lists the folder
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what Hypothesis drives, so that `make property` finds every law wherever it stands."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.property)
