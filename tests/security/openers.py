"""
Ways to open a name, each as a function from the name to what came of it: those of the library, and some that are wrong on purpose.

The wrong ones are what is usually written.  They must be caught by the same harness, or it would prove nothing.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import pytest

from filerefs import Attached, Preprocessor, Root, descent, nodes
from filerefs import root as root_module
from filerefs.outcomes import Reason
from filerefs.root import Trouble

from .trees import OUTSIDE_NAME, SECRET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from filerefs import Turn
    from filerefs.root import Node

    from .swaps import Answer, Policy

    Opener: TypeAlias = Callable[[str], Answer]


@dataclass(frozen=True, slots=True)
class System:
    """A way in which `Root` resolves names, and what the system is made to lack for it."""

    title: str
    backend: Literal["openat2", "walk"]
    procfs: bool = True
    handles: bool = True

    @property
    def looks_twice(self) -> bool:
        """Whether a name is looked at, opened and compared, as without handles that only look."""
        return not (self.procfs and self.handles)


# The last three are Linux in the clothes of poorer systems: a sandbox without /proc, and macOS and the BSDs without O_PATH.
SYSTEMS = (
    System("openat2", "openat2"),
    System("walk", "walk"),
    System("openat2, no /proc", "openat2", procfs=False),
    System("walk, no /proc", "walk", procfs=False),
    System("walk, no O_PATH", "walk", handles=False),
)


@contextmanager
def imitated(system: System) -> Iterator[None]:
    """Make the process one that runs on *system*."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FILEREFS_BACKEND", system.backend)
        if not system.handles:
            patch.setattr(descent, "HAS_PATH_HANDLES", False)
        if not system.procfs:
            for module in (nodes, root_module):
                patch.setattr(module, "has_procfs", lambda: False)
        yield


@contextmanager
def root_opener(folder: str, system: System, policy: Policy) -> Iterator[Opener]:
    with imitated(system), Root(folder, symlinks=policy) as root:
        yield lambda name: read(root.open(name))


def read(found: Node | Trouble) -> Answer:
    if isinstance(found, Trouble):
        return found.reason
    with found:
        content = found.read(None) if found.kind == "file" else found.entries(None)
    if isinstance(content, bytes):
        return content
    return content.reason if isinstance(content, Trouble) else tuple(entry.name for entry in content.entries)


@contextmanager
def turn_opener(folder: str, system: System, policy: Policy) -> Iterator[Opener]:
    """Open names by whole turns: with hints, ignore rules, and the texts of the turn before."""
    with imitated(system), Preprocessor(folder, symlinks=policy) as preprocessor:
        yield lambda name: _read_turn(preprocessor.preprocess(f"see @{name}", "Be brief."))


def _read_turn(turn: Turn) -> Answer:
    everything = json.dumps(turn.as_dict())
    if SECRET.decode() in everything or OUTSIDE_NAME in everything:
        return SECRET
    if not turn.outcomes:
        return Reason.NOT_FOUND
    (outcome,) = turn.outcomes
    if not isinstance(outcome, Attached):
        return outcome.reason
    return outcome.text.encode() if outcome.kind == "file" else tuple(line[2:] for line in outcome.text.split("\n")[1:])


@contextmanager
def by_realpath(base: str) -> Iterator[Opener]:
    """Wrong on purpose: where a name leads is found out and judged, and opened when it may lead elsewhere."""
    folder = f"{base}/root"

    def read_checked(name: str) -> Answer:
        path = os.path.join(folder, name)
        try:
            real = os.path.realpath(path)
            if not real.startswith(folder + "/"):
                return Reason.OUTSIDE_ROOT
            if os.path.basename(real) == ".env":
                return Reason.SECRET
            return tuple(os.listdir(path)) if name.endswith("/") else _read_plainly(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        except OSError:
            return Reason.IO_ERROR

    yield read_checked


@contextmanager
def by_asking_for_parents(base: str) -> Iterator[Opener]:
    """Wrong on purpose: a walk by handles that follows no link, but hands `..` to the kernel; it counts how deep it is."""
    root = os.open(f"{base}/root", os.O_RDONLY | os.O_DIRECTORY)

    def walk(name: str) -> Answer:
        handles = [os.dup(root)]
        depth = 0
        try:
            *folders, last = name.split("/")
            for part in folders:
                depth += -1 if part == ".." else 1
                if depth < 0:
                    return Reason.OUTSIDE_ROOT
                handles.append(os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handles[-1]))
            return _read_plainly(os.open(last, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=handles[-1]))
        except OSError:
            return Reason.IO_ERROR
        finally:
            for handle in handles:
                os.close(handle)

    try:
        yield walk
    finally:
        os.close(root)


@contextmanager
def by_opening_first(base: str) -> Iterator[Opener]:
    """Wrong on purpose: a file is opened, and only then asked what it is."""
    root = os.open(f"{base}/root", os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield lambda name: _read_plainly(os.open(name, os.O_RDONLY | os.O_NONBLOCK, dir_fd=root))
    finally:
        os.close(root)


def _read_plainly(descriptor: int) -> Answer:
    try:
        return os.read(descriptor, 100) if stat.S_ISREG(os.fstat(descriptor).st_mode) else Reason.NOT_REGULAR
    finally:
        os.close(descriptor)


WRONG: Mapping[str, Callable[[str], AbstractContextManager[Opener]]] = {
    "realpath": by_realpath,
    "parents": by_asking_for_parents,
    "opening first": by_opening_first,
}
