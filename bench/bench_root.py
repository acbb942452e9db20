"""Opening, to `os.open` of the same path, both closed again"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from filerefs import Root
from filerefs.openat2 import BENEATH, NO_MAGICLINKS, NO_SYMLINKS, How, find_opener

from .measuring import compare

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {"1 part": "app.py", "4 parts": "a/b/c/file.py", "10 parts": "a/b/c/d/e/f/g/h/i/file.py"}
LINKS = {"a link to a file": "link.py", "a link on the way": "linked/module1.py"}


def open_and_close(path: str) -> None:
    os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC))


@pytest.mark.parametrize("title", NAMES)
def test_raw(benchmark: Any, record: Any, project: Path, title: str) -> None:
    opener = find_opener()
    if opener is None:
        pytest.skip("no openat2 here")
    how = How.pack(os.O_RDONLY | os.O_CLOEXEC, BENEATH | NO_MAGICLINKS | NO_SYMLINKS)
    name, path = NAMES[title].encode(), str(project / NAMES[title])
    descriptor = os.open(project, os.O_RDONLY)
    try:
        pair = compare(lambda: os.close(opener(descriptor, name, how)), lambda: open_and_close(path))
        benchmark.pedantic(lambda: os.close(opener(descriptor, name, how)), rounds=10)
    finally:
        os.close(descriptor)
    record(f"the confined system call alone, {title}", pair.ratio, goal=1.4, times=f"{pair.ours * 1e6:.1f} µs : {pair.plain * 1e6:.1f} µs")


@pytest.mark.parametrize("backend", ["openat2", "walk"])
@pytest.mark.parametrize("title", [*NAMES, *LINKS])
def test_open(benchmark: Any, record: Any, project: Path, backend: Any, title: str) -> None:
    name = (NAMES | LINKS)[title]
    path = str(project / name)
    with Root(project, symlinks="inside", backend=backend) as root:
        assert root.open(name).kind == "file"  # type: ignore[union-attr]

        pair = compare(lambda: root.open(name).close(), lambda: open_and_close(path))  # type: ignore[union-attr]
        benchmark.pedantic(root.open, (name,), rounds=10)
    # The walk is for systems without the call, and a link costs a second one: no goal was set for either.
    goal = 3.0 if backend == "openat2" and title in NAMES else None
    record(f"`Root.open`: look before touch, {backend}, {title}", pair.ratio, goal=goal, times=f"{pair.ours * 1e6:.1f} µs : {pair.plain * 1e6:.1f} µs")


@pytest.mark.parametrize("title", [*NAMES, *LINKS])
def test_resolve(benchmark: Any, record: Any, project: Path, title: str) -> None:
    name = (NAMES | LINKS)[title]
    real = project.resolve()

    def resolve_and_check() -> None:
        path = (project / name).resolve()
        assert path.is_relative_to(real)
        open_and_close(str(path))

    with Root(project, symlinks="inside") as root:
        pair = compare(lambda: root.open(name).close(), resolve_and_check)  # type: ignore[union-attr]
    benchmark.pedantic(resolve_and_check, rounds=10)
    record(
        f"`Root.open`, to `Path.resolve()`, check and open (not confined), {title}",
        pair.ratio,
        goal=1.0,
        times=f"{pair.ours * 1e6:.1f} µs : {pair.plain * 1e6:.1f} µs",
    )
