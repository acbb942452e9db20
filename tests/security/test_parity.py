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

from filerefs import Root
from filerefs.outcomes import Reason
from filerefs.root import Node, Trouble

from .groves import NAMES_A_TREE, compare
from .openers import SYSTEMS, System, imitated
from .people import ordinary_user
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


@pytest.mark.parametrize("system", [pytest.param(system, id=system.title) for system in SYSTEMS])
def test_thirty_links(system: System, tmp_path: Path) -> None:
    """Forty links are followed.  Where more than twenty lead out, the call may count them twice and speak of a circle: a refusal in either case."""
    folder = tmp_path / "root"
    (folder / "d").mkdir(parents=True)
    for number in range(29):
        (folder / f"l{number}").symlink_to(f"l{number + 1}")
    (folder / "l29").symlink_to("d")
    with imitated(system), Root(folder, symlinks="inside") as root:
        for _ in range(3):
            with root.open("l0") as found:  # type: ignore[union-attr]
                assert isinstance(found, Node)
                assert found.target == "d"
            out = root.open("l0/../..")
            assert isinstance(out, Trouble)
            assert out.reason in {Reason.OUTSIDE_ROOT, Reason.SYMLINK_LOOP}
            if root.backend == "walk":
                assert out.reason is Reason.OUTSIDE_ROOT


@pytest.mark.parametrize("system", [pytest.param(system, id=system.title) for system in SYSTEMS])
def test_a_folder_to_list_and_not_to_search(system: System, tmp_path: Path) -> None:
    """A folder that may be listed but not searched is listed through its handle; without /proc it cannot be, and is refused."""
    folder = tmp_path / "root"
    (folder / "d").mkdir(parents=True)
    (folder / "d").chmod(0o444)
    with imitated(system), Root(folder) as root, ordinary_user(), root.open("d") as found:  # type: ignore[union-attr]
        listing = found.entries(None)  # type: ignore[union-attr]
    (folder / "d").chmod(0o755)

    assert (Reason.PERMISSION if not system.procfs else None) == getattr(listing, "reason", None)
