"""
The system call and the walk are one: the same outcome, sentence included, on random trees of links and random names.

The long form, ten times as many names and all systems, is part of `make race`.
"""

from __future__ import annotations

import os
import secrets
import sys
from typing import TYPE_CHECKING

import pytest

from .groves import NAMES_A_TREE, compare
from .openers import SYSTEMS
from .swaps import POLICIES

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is only the walk")

_TREES = 50
# To see a failure again: FILEREFS_SEED=n, with the seed that it printed.
_FRESH = int(os.environ.get("FILEREFS_SEED", secrets.randbits(32)))


@pytest.mark.property
@pytest.mark.parametrize("seed", [pytest.param(1, id="fixed seed"), pytest.param(_FRESH, id="fresh seed")])
def test_the_call_and_the_walk_agree(seed: int, tmp_path: Path) -> None:
    """Ten thousand names, under both policies; the tree and the seed are in the failure."""
    compared = sum(compare(seed + tree, tmp_path, SYSTEMS[:2], POLICIES) for tree in range(_TREES))

    assert compared > 0.99 * _TREES * NAMES_A_TREE * len(POLICIES)
