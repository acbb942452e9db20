"""
The long form of the race and of the comparison of backends: `make race` runs it, and its tables are those of docs/security.md.

    python -m tests.security.race [OPENINGS [TURNS [NAMES]]]

OPENINGS are made for each swap, system and policy, TURNS for each swap and policy, NAMES are compared on random trees.
Where the trees are planted is for TMPDIR to say.
"""

from __future__ import annotations

import os
import platform
import secrets
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from filerefs.outcomes import Reason

from .contest import Floors, attacked
from .groves import NAMES_A_TREE, compare
from .openers import SYSTEMS, WRONG, root_opener, turn_opener
from .swaps import POLICIES, SWAPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .contest import Arena, Tally
    from .swaps import Policy, Swap

_WRONG_TITLES = {
    "realpath": "realpath, compare, open",
    "parents": "a walk that hands `..` to the kernel",
    "opening first": "open, then ask what it is",
}


@dataclass(slots=True)
class Report:
    """What happened in all races, as tables."""

    openings: int = 0
    swaps: int = 0
    reads: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    wrong_rows: list[list[str]] = field(default_factory=list)

    def add(self, tally: Tally) -> None:
        self.openings += tally.openings
        self.swaps += tally.swaps
        self.reads += tally.reads
        self.seconds += tally.seconds

    def lines(self) -> list[str]:
        totals = (
            f"{self.openings:,} openings, {self.reads:,} of which succeeded, during {self.swaps:,} exchanges in {self.seconds:.0f} s: "
            f"{len(self.faults)} wrong answers."
        )
        systems = [system.title for system in SYSTEMS]
        return [
            *_table(["swap", "links", *systems, "whole turns"], self.rows),
            "",
            totals,
            "",
            *_table(["swap", "wrong on purpose", "caught", "share"], self.wrong_rows),
        ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def race(openings: int, turns: int) -> Report:
    report = Report()
    for swap in SWAPS:
        with tempfile.TemporaryDirectory() as folder, attacked(swap, Path(folder)) as arena:
            for policy in POLICIES:
                print(f"{swap.title}, links: {policy}", file=sys.stderr)
                report.rows.append([swap.title, policy, *_race_all(arena, policy, openings, turns, report)])
            with WRONG[swap.wrong](arena.base) as opener:
                tally = arena.provoke(opener, openings)
            caught = tally.leaks + tally.caught
            report.wrong_rows.append([swap.title, _WRONG_TITLES[swap.wrong], f"**{caught:,}** / {tally.openings:,}", f"{caught / tally.openings:.2%}"])
    return report


def _race_all(arena: Arena, policy: Policy, openings: int, turns: int, report: Report) -> list[str]:
    cells = []
    for system in SYSTEMS:
        with root_opener(arena.folder, system, policy) as opener:
            tally = arena.race(opener, policy, Floors(openings, swaps=openings // 10, answers=openings // 1000))
        tolerated = {Reason.BUSY} if system.looks_twice else set()
        cells.append(_judge(tally, arena.swap, policy, system.title, tolerated, report, may_touch=system.looks_twice))
    with turn_opener(arena.folder, SYSTEMS[0], policy) as opener:
        tally = arena.race(opener, policy, Floors(turns, swaps=turns, answers=turns // 100))
    return [*cells, _judge(tally, arena.swap, policy, "whole turns", set(), report, may_touch=False)]


def _judge(tally: Tally, swap: Swap, policy: Policy, title: str, tolerated: set[Reason], report: Report, *, may_touch: bool) -> str:
    report.add(tally)
    wrong = tally.wrong(swap, policy, tolerated)
    if wrong or tally.leaks or (tally.caught and not may_touch):
        report.faults.append(f"{swap.title}, links: {policy}, {title}: {tally.leaks} leaks, {tally.caught} FIFOs opened, not allowed: {wrong}")
    touched = f", FIFO opened {tally.caught:,} times" if tally.caught else ""
    return f"{tally.leaks} / {tally.openings:,}{touched}"


def compare_backends(names: int) -> str:
    seed = secrets.randbits(32)
    trees = names // NAMES_A_TREE
    print(f"comparing the backends from seed {seed}", file=sys.stderr)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        compared = sum(compare(seed + tree, Path(folder), SYSTEMS, POLICIES) for tree in range(trees))
    seconds = time.monotonic() - began
    return f"{trees * NAMES_A_TREE:,} names on {trees:,} trees, {len(SYSTEMS)} systems, {compared:,} comparisons in {seconds:.0f} s: no difference."


def describe_machine() -> str:
    kind = subprocess.run(["stat", "--file-system", "--format=%T", tempfile.gettempdir()], capture_output=True, encoding="utf-8", check=False).stdout.strip()
    return f"{platform.system()} {platform.release()}, {os.cpu_count()} processors, {kind}, Python {platform.python_version()}"


def main(openings: str = "40_000", turns: str = "1_000", names: str = "200_000") -> int:
    report = race(int(openings), int(turns))
    print(describe_machine(), "", *report.lines(), "", sep="\n")
    for fault in report.faults:
        print(fault, file=sys.stderr)
    print(compare_backends(int(names)))
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
