"""A turn with three files of 10 KB, taken apart: each part by itself, in percent of the turn"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from filerefs import Attached, Limits, rewrite
from filerefs.decoding import decode
from filerefs.loading import load_all
from filerefs.memory import Memory
from filerefs.mentions import scan
from filerefs.phases import Settings, take
from filerefs.resolving import Lookup, resolve
from filerefs.root import Node, Root
from filerefs.section import compose

from .bench_turn import PROMPT
from .measuring import compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NAMES = [f"src/module{number}.py" for number in range(3)]
MESSAGE = "explain " + " and ".join(f"@{name}" for name in NAMES)
SETTINGS = Settings(limits=None, lowered=None, code="inert", lenient=True)
LIMITS = Limits()


class Stage:
    """A turn that knows its files, and its phases, each with what the one before hands to it."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.memory = Memory(root)
        self.found = scan(MESSAGE)
        recollection = self.memory.turn()
        self.outcomes = load_all(self.found, root, LIMITS, lenient=True, recollection=recollection).outcomes
        recollection.finish()
        self.section = compose(PROMPT, self.outcomes).section
        self.files = [outcome.text.encode() for outcome in self.outcomes if isinstance(outcome, Attached)]

    def warm_turn(self) -> None:
        take(MESSAGE, PROMPT, self.root, settings=SETTINGS, memory=self.memory, previous=self.section)

    def cold_turn(self) -> None:
        take(MESSAGE, PROMPT, self.root, settings=SETTINGS, memory=Memory(self.root), previous="")

    def scan(self) -> None:
        scan(MESSAGE)

    def open(self) -> None:
        for name in NAMES:
            node = self.root.open(name)
            assert isinstance(node, Node)
            node.close()

    def resolve(self) -> None:
        with Lookup(self.root) as lookup:
            list(resolve(self.found.refs, lookup, lenient=True))

    def load_known(self) -> None:
        load_all(self.found, self.root, LIMITS, lenient=True, recollection=self.memory.turn())

    def load_new(self) -> None:
        load_all(self.found, self.root, LIMITS, lenient=True)

    def open_and_read(self) -> None:
        for name in NAMES:
            node = self.root.open(name)
            assert isinstance(node, Node)
            with node:
                node.read(LIMITS.file_bytes)

    def decode(self) -> None:
        for data in self.files:
            decode(data)

    def compose_known(self) -> None:
        compose(PROMPT, self.outcomes, self.section)

    def digest(self) -> None:
        hashlib.sha256(self.section.encode()).digest()

    def rewrite(self) -> None:
        rewrite(MESSAGE, self.outcomes)


@pytest.fixture
def stage(project: Path) -> Iterator[Stage]:
    with Root(project) as root:
        yield Stage(root)


def test_warm(benchmark: Any, record: Any, stage: Stage) -> None:
    percent = percents_of(stage.warm_turn)
    parts = {
        "warm: finding the mentions": percent(stage.scan),
        "warm: opening the files, `openat2` and `fstat` for each, and closing them": percent(stage.open),
        "warm: the readings of each mention, until one exists": percent(stage.resolve) - percent(stage.open),
        "warm: grouping them, the texts that are known, an `Attached` for each": percent(stage.load_known) - percent(stage.resolve),
        "warm: the section in the prompt": percent(stage.compose_known),
        "warm: the message with plain paths": percent(stage.rewrite),
    }
    parts["warm: all else (warnings, notices, 30 KB that come back into the processor's cache)"] = 100 - sum(parts.values())
    for title, value in parts.items():
        record(title, value, "%")
    benchmark.pedantic(stage.warm_turn, rounds=10)


def test_cold(benchmark: Any, record: Any, stage: Stage) -> None:
    percent = percents_of(stage.cold_turn)
    reading = percent(stage.open_and_read) - percent(stage.open)
    decoding = percent(stage.decode)
    parts = {
        "cold: reading them, through the handles that were looked at": reading,
        "cold: text or binary, and decoding it": decoding,
        "cold: the rest of what new files take": percent(stage.load_new) - percent(stage.load_known) - reading - decoding,
        "cold: SHA-256 of the section": percent(stage.digest),
    }
    parts["cold: what a warm turn takes as well"] = 100 - sum(parts.values())
    for title, value in parts.items():
        record(title, value, "%")
    benchmark.pedantic(stage.cold_turn, rounds=10)


def percents_of(turn: Callable[[], None]) -> Callable[[Callable[[], None]], float]:
    """Return what tells how many percent of *turn* a part of it takes."""
    return lambda part: 100 * compare(part, turn, seconds=0.3).ratio
