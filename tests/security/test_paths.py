"""Nothing inside the package is opened, looked at or listed by a path: everything goes through handles."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

import filerefs

from .features import MESSAGE, plant_features, run
from .swaps import POLICIES

if TYPE_CHECKING:
    from ..conftest import Tree  # noqa: TID252 (tests are no package that could be named)
    from .swaps import Policy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="about handles as Linux has them")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("backend", "procfs", "ways"),
    [
        pytest.param("openat2", "yes", {"openat2", "/proc/self/fd/N"}, id="openat2"),
        pytest.param("walk", "yes", {"a part", "/proc/self/fd/N"}, id="walk"),
        pytest.param("openat2", "no", {"openat2"}, id="openat2 without procfs"),
        pytest.param("walk", "no", {"a part"}, id="walk without procfs"),
    ],
)
def test_whole_turns_use_no_path(backend: str, procfs: str, ways: set[str], policy: Policy, tree: Tree) -> None:
    """A turn with everything in it names nothing on disk by a path, but for the root that the host names, once."""
    root = plant_features(tree)

    said = run("watched.py", str(root), policy, backend, procfs, MESSAGE)

    assert [] == said["caught"]
    assert [filerefs.preprocess(MESSAGE, "Be brief.", root, symlinks=policy).as_dict()] * 2 == said["turns"]
    assert said["allowed"].pop("the root's name") == 1
    # Links are followed by the walk where there is no procfs to ask for a handle's own name.
    expected = {"a part"} if (procfs, policy) == ("no", "inside") else ways
    assert expected | {"a handle"} == set(said["allowed"])


def test_error_calls_that_are_caught(tree: Tree) -> None:
    """The watch catches every way in which Python names a place by a path; it would notice one in the package."""
    assert [] == run("watched.py", str(tree.folder), "refuse", "walk", "yes", "")["missed"]
