"""
The race: while another process renames as fast as it can, nothing from outside is read, and what is inside still is.

This is the short form, bounded by counts; `make race` runs the long one and prints the table of docs/security.md.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from filerefs.outcomes import Reason

from .contest import Floors, UnableError, attacked
from .openers import SYSTEMS, WRONG, root_opener, turn_opener
from .swaps import POLICIES, SWAPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .contest import Arena
    from .openers import System
    from .swaps import Policy, Swap

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="exchanging names in one step is a call of Linux")

EACH_SWAP = pytest.mark.parametrize("arena", [pytest.param(swap, id=swap.title) for swap in SWAPS], indirect=True, scope="module")
EACH_SYSTEM = pytest.mark.parametrize("system", [pytest.param(system, id=system.title) for system in SYSTEMS])
EACH_POLICY = pytest.mark.parametrize("policy", POLICIES)

# A turn costs a hundred times as much as an opening.
OPENINGS = Floors(openings=500, swaps=500, answers=10)
TURNS = Floors(openings=100, swaps=500, answers=5)


@pytest.fixture(scope="module")
def arena(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """Plant the tree of a swap and let the attacker in; he stays for all tests of this swap."""
    swap: Swap = request.param
    try:
        with attacked(swap, tmp_path_factory.mktemp("arena")) as arena:
            yield arena
    except UnableError as error:
        pytest.skip(f"names cannot be exchanged here: {error}")


@pytest.fixture(autouse=True)
def _no_descriptor_leaks() -> Iterator[None]:
    """Count descriptors: what the arena holds changes its name all the time."""
    before = len(os.listdir("/proc/self/fd"))
    yield
    assert len(os.listdir("/proc/self/fd")) <= before


@EACH_SWAP
@EACH_SYSTEM
@EACH_POLICY
def test_nothing_from_outside_is_opened(arena: Arena, system: System, policy: Policy) -> None:
    """Each name gets every answer that it must get, no other than it may get, and never what is outside."""
    with root_opener(arena.folder, system, policy) as opener:
        tally = arena.race(opener, policy, OPENINGS)

    # Where a name is looked at, opened and compared, it may turn out to have changed in between.
    tolerated = {Reason.BUSY} if system.looks_twice else set()
    assert tally.leaks == 0
    assert {} == tally.wrong(arena.swap, policy, tolerated)
    assert tally.reads >= OPENINGS.answers
    assert tally.swaps >= OPENINGS.swaps
    # A FIFO is not even opened, but for the moment between two looks.
    assert tally.caught == 0 or system.looks_twice


@EACH_SWAP
@EACH_POLICY
def test_nothing_from_outside_reaches_a_turn(arena: Arena, policy: Policy) -> None:
    """Not in the prompt, the message, a warning or a hint: with ignore rules, near names and the texts of the turn before."""
    with turn_opener(arena.folder, SYSTEMS[0], policy) as opener:
        tally = arena.race(opener, policy, TURNS)

    assert tally.leaks == 0
    assert {} == tally.wrong(arena.swap, policy, ())
    assert tally.reads >= TURNS.answers
    assert tally.swaps >= TURNS.swaps
    assert tally.caught == 0


@EACH_SWAP
def test_error_wrong_openers_are_caught(arena: Arena) -> None:
    """The same race finds out each opener that is wrong on purpose: the harness bites."""
    with WRONG[arena.swap.wrong](arena.base) as opener:
        tally = arena.provoke(opener)

    assert tally.leaks + tally.caught > 0
