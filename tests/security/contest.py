"""A race: names are opened while an attacker, another process, renames; it goes on until enough has happened on both sides."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .attacker import PAGE
from .trees import OUTSIDE_NAME, SECRET, plant

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from .openers import Opener
    from .swaps import Answer, Policy, Swap

# Nothing is measured against it: it ends a race in which one side does not run at all, even on a crowded machine.
_HANG = 300.0
_BATCH = 25


class UnableError(Exception):
    """The file system, or the kernel, does not exchange names."""


@dataclass(frozen=True, slots=True)
class Floors:
    """What must have happened before a race may end: openings, exchanges, and how often each answer that must come came."""

    openings: int
    swaps: int
    answers: int

    def are_reached(self, tally: Tally) -> bool:
        return tally.openings >= self.openings and tally.swaps >= self.swaps


@dataclass(slots=True)
class Tally:
    """What happened in a race."""

    swaps: int = 0
    caught: int = 0
    seconds: float = 0.0
    answers: dict[str, Counter[Answer]] = field(default_factory=dict)

    @property
    def openings(self) -> int:
        return sum(counter.total() for counter in self.answers.values())

    @property
    def leaks(self) -> int:
        """How many answers came from outside."""
        return sum(number for counter in self.answers.values() for answer, number in counter.items() if is_leak(answer))

    @property
    def reads(self) -> int:
        """How many openings succeeded, and showed what is inside."""
        return sum(number for counter in self.answers.values() for answer, number in counter.items() if isinstance(answer, bytes | tuple)) - self.leaks

    def wrong(self, swap: Swap, policy: Policy, tolerated: Collection[Answer]) -> dict[str, list[Answer]]:
        """Return the answers that *swap* does not allow, nor *tolerated*, by name: leaks, and others."""
        allowed = {name.text: {*name.must(policy), *name.may, *tolerated} for name in swap.names}
        return {name: sorted(set(counter) - allowed[name], key=repr) for name, counter in self.answers.items() if set(counter) - allowed[name]}


def is_leak(answer: Answer) -> bool:
    return (isinstance(answer, bytes) and SECRET in answer) or (isinstance(answer, tuple) and OUTSIDE_NAME in answer)


class Arena:
    """A planted tree with an attacker at work in it."""

    def __init__(self, swap: Swap, base: str, folder: str, page: memoryview) -> None:
        self.swap = swap
        self.base = base
        self.folder = folder
        """The root as it was before the attack: where the root itself is exchanged, its name is of no use any more."""
        self._page = page

    def race(self, opener: Opener, policy: Policy, floors: Floors) -> Tally:
        """Open the names of the swap in turn until the *floors* are reached, for the answers that *policy* must get."""
        must = {name.text: name.must(policy) for name in self.swap.names}

        def is_enough(tally: Tally) -> bool:
            return floors.are_reached(tally) and all(tally.answers[name][answer] >= floors.answers for name, answers in must.items() for answer in answers)

        return self._run(opener, is_enough)

    def provoke(self, opener: Opener, openings: int = 1) -> Tally:
        """Open as often as that, and until something from outside was read or a FIFO was caught open: a wrong opener must come to it."""
        return self._run(opener, lambda tally: tally.openings >= openings and bool(tally.leaks or tally.caught))

    def _begin(self, began: float) -> tuple[int, int]:
        """Return the attacker's numbers when what he found before has gone into them: he writes them down once a round."""
        for _ in range(2):
            before = self._page[0]
            while self._page[0] == before:
                if time.monotonic() - began > _HANG:
                    raise TimeoutError("the attacker does not run")
        return self._page[0], self._page[1]

    def _run(self, opener: Opener, is_enough: Callable[[Tally], bool]) -> Tally:
        tally = Tally(answers={name.text: Counter() for name in self.swap.names})
        began = time.monotonic()
        swaps, caught = self._begin(began)
        while not is_enough(tally):
            for _ in range(_BATCH):
                for name, counter in tally.answers.items():
                    counter[opener(name)] += 1
            tally.swaps, tally.caught, tally.seconds = self._page[0] - swaps, self._page[1] - caught, time.monotonic() - began
            if tally.seconds > _HANG + tally.openings / 1000:
                raise TimeoutError(f"one side does not run: {tally}")
        return tally


@contextmanager
def attacked(swap: Swap, base: Path) -> Iterator[Arena]:
    """
    Plant the tree of *swap* in the folder *base* and let the attacker in.

    Raises:
        UnableError: If nothing can be exchanged there.
    """
    base = base.resolve()
    plant(str(base), swap.tree)
    (base / PAGE).write_bytes(bytes(16))
    with ExitStack() as stack:
        root = os.open(base / "root", os.O_PATH | os.O_DIRECTORY)
        stack.callback(os.close, root)
        file = stack.enter_context((base / PAGE).open("r+b"))
        mapped = stack.enter_context(mmap.mmap(file.fileno(), 16))
        page = stack.enter_context(stack.enter_context(memoryview(mapped)).cast("Q"))
        processor = stack.enter_context(apart())
        program = [sys.executable, Path(__file__).with_name("attacker.py"), processor, base, swap.verb, swap.one, swap.other, swap.witness]
        attacker = stack.enter_context(subprocess.Popen(program, stdout=subprocess.PIPE, encoding="utf-8"))
        stack.callback(attacker.kill)
        assert attacker.stdout is not None
        said = attacker.stdout.readline().strip()
        if said != "ready":
            raise UnableError(said or "the attacker died")
        yield Arena(swap, str(base), f"/proc/self/fd/{root}", page)


@contextmanager
def apart() -> Iterator[str]:
    """Leave one processor to the attacker and say which; "" where there is no other."""
    processors = os.sched_getaffinity(0)
    if len(processors) < 2:
        yield ""
        return
    last = max(processors)
    os.sched_setaffinity(0, processors - {last})
    try:
        yield str(last)
    finally:
        os.sched_setaffinity(0, processors)
