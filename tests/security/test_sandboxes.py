"""Poorer places than a plain Linux: a seccomp filter that forbids openat2, and a container without /proc."""

from __future__ import annotations

import errno
import os
import platform
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import filerefs
from filerefs.outcomes import Reason

from .features import MESSAGE, plant_features, run
from .sandboxed import ARCHITECTURES
from .swaps import POLICIES
from .trees import SECRET

if TYPE_CHECKING:
    from pathlib import Path

    from ..conftest import Tree  # noqa: TID252 (tests are no package that could be named)
    from .swaps import Policy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="about sandboxes of Linux")
EACH_POLICY = pytest.mark.parametrize("policy", POLICIES)


def turn_here(root: Path, policy: Policy) -> Any:
    return filerefs.preprocess(MESSAGE, "Be brief.", root, symlinks=policy).as_dict()


@pytest.mark.skipif(platform.machine() not in ARCHITECTURES, reason="the filter is written for x86_64 and aarch64")
@EACH_POLICY
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM], ids=errno.errorcode.get)
def test_under_a_seccomp_filter(number: int, policy: Policy, tree: Tree) -> None:
    """Where a filter forbids openat2, the walk takes over, and the whole turn is the same."""
    root = plant_features(tree)

    said = run("sandboxed.py", str(number), str(root), policy, MESSAGE)

    assert (said["errno"], said["backend"]) == (number, "walk")
    assert turn_here(root, policy) == said["turn"]


@EACH_POLICY
@pytest.mark.parametrize("backend", ["openat2", "walk"])
def test_without_procfs(backend: str, policy: Policy, tree: Tree) -> None:
    """Where /proc is not the kernel's, nothing is opened by way of it, and the whole turn is the same."""
    root = plant_features(tree)
    decoy = root.parent / "outside/secret.txt"

    said = run("procless.py", str(decoy), str(root), policy, backend, MESSAGE)

    # A link's real name is asked of procfs: where there is none, they are followed by the walk.
    assert ("walk" if policy == "inside" else backend) == said["backend"]
    assert turn_here(root, policy) == said["turn"]
    assert SECRET.decode() not in repr(said["turn"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can be sure of a mount namespace")
def test_procfs_is_really_hidden(tree: Tree) -> None:
    """What the test above says of a bare container was tried in one, not only imitated."""
    decoy = plant_features(tree).parent / "outside/secret.txt"
    may = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/proc"], capture_output=True, check=False).returncode == 0

    assert may == run("procless.py", str(decoy), str(tree.folder), "refuse", "openat2", "")["hidden"]


def test_the_message_uses_everything(tree: Tree) -> None:
    """The turn that these tests compare has outcomes of every kind in it, so that being the same means something."""
    turn = filerefs.preprocess(MESSAGE, "Be brief.", plant_features(tree), symlinks="inside")

    assert {"file", "directory", "media"} == {outcome.kind for outcome in turn.attached}
    assert {Reason.SECRET, Reason.BINARY, Reason.NOT_REGULAR, Reason.NOT_FOUND, Reason.OUTSIDE_ROOT, Reason.SYMLINK_LOOP, Reason.BAD_RANGE} <= {
        outcome.reason for outcome in turn.refused
    }
    assert {"utf-8", "utf-16-le", "cp1252"} <= {outcome.encoding for outcome in turn.attached}
    assert {"did you mean @src/app.py?", "did you mean @docs/guide.md?"} <= {outcome.hint for outcome in turn.refused}
    assert any(outcome.truncated for outcome in turn.attached)
    assert any("ignored" in note for outcome in turn.attached for note in outcome.notes)
    assert len(turn.attached) > 40
