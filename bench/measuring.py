"""
How the benchmarks measure: two ways to do something, in turns, in one process.

What counts is the fastest of many rounds of each.  Noise only ever adds time, and since the rounds alternate, whatever
slows the machine down slows both.
"""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Work = Callable[[], object]

# Long enough for the clock, short enough to fit between two interruptions.
BATCH = 0.001
FEWEST_ROUNDS = 15


@dataclass(frozen=True)
class Pair:
    """The fastest round of each, in seconds for one call."""

    ours: float
    plain: float

    @property
    def ratio(self) -> float:
        return self.ours / self.plain


@contextmanager
def small_heap() -> Iterator[None]:
    """Keep the objects of the test runner, which no host program has, out of garbage collection."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def compare(ours: Work, plain: Work, *, seconds: float = 0.6) -> Pair:
    """Time *ours* and *plain* in turns for so many *seconds*, and at least 15 rounds."""
    with small_heap():
        counts = [calls_in_a_batch(work) for work in (ours, plain)]
        best = [math.inf, math.inf]
        rounds, end = 0, time.perf_counter() + seconds
        while rounds < FEWEST_ROUNDS or time.perf_counter() < end:
            for index, work in enumerate((ours, plain)):
                best[index] = min(best[index], batch(work, counts[index]))
            rounds += 1
    return Pair(*best)


def fastest(work: Work, *, seconds: float = 0.4) -> float:
    """Return the seconds that the fastest of many calls of *work* took of this thread: there is nothing beside it to share the noise."""
    best, end = math.inf, time.perf_counter() + seconds
    with small_heap():
        while time.perf_counter() < end or best == math.inf:
            start = time.thread_time()
            work()
            best = min(best, time.thread_time() - start)
    return best


def calls_in_a_batch(work: Work) -> int:
    work()
    return max(1, round(BATCH / min(batch(work, 1) for _ in range(3))))


def batch(work: Work, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        work()
    return (time.perf_counter() - start) / count


def exponent(work_of: Callable[[int], Work], sizes: Sequence[int], *, rounds: int = 5) -> tuple[float, float]:
    """
    Return e of `seconds ~ size ** e`, fitted over *sizes*, and the seconds that the largest took.

    In seconds of this thread: one call is so long that other programs get turns during it, and those do not count.
    """
    works = [work_of(size) for size in sizes]
    best = [math.inf] * len(works)
    with small_heap():
        for _ in range(rounds):
            for index, work in enumerate(works):
                start = time.thread_time()
                work()
                best[index] = min(best[index], time.thread_time() - start)
    points = [(math.log(size), math.log(took)) for size, took in zip(sizes, best, strict=True)]
    middle = [sum(axis) / len(points) for axis in zip(*points, strict=True)]
    slope = sum((x - middle[0]) * (y - middle[1]) for x, y in points) / sum((x - middle[0]) ** 2 for x, _ in points)
    return slope, best[-1]


def run_child(code: str, *arguments: str) -> str:
    # What is installed has its bytecode beside it, whatever the environment says of this checkout's.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, encoding="utf-8", env=environment).stdout


def compare_starts(ours: str, plain: str, *, rounds: int = 40) -> Pair:
    """Time interpreters that run *ours* and *plain*, in turns, from start to end."""

    def start(code: str) -> float:
        return batch(lambda: run_child(code), 1)

    for code in (ours, plain):
        start(code)  # compiles what it imports
    times = [(start(ours), start(plain)) for _ in range(rounds)]
    return Pair(min(time for time, _ in times), min(time for _, time in times))


# ru_maxrss of a child begins with what its parent had, so the high-water mark of the program alone is read where there is one.
_PEAK = """
def peak():
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) * 1024
    except FileNotFoundError:
        import resource, sys
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(peak())
"""
_IDLE = "import filerefs; filerefs.Preprocessor('.').preprocess('hello')"


def peak_above_idle(code: str, *arguments: str) -> int:
    """Return how many bytes more a child takes at its peak that runs *code* than one that runs a turn with nothing in it."""
    return int(run_child(code + _PEAK, *arguments).split()[-1]) - int(run_child(_IDLE + _PEAK).split()[-1])


def is_large_enough(folder: str, room: int) -> bool:
    """Tell whether *folder* is there and has *room* bytes left."""
    try:
        status = os.statvfs(folder)
    except FileNotFoundError:
        return False
    return status.f_bavail * status.f_frsize >= room
