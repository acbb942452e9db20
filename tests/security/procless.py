"""
A program that puts an empty file system over /proc, as a bare container has it, and then runs a turn.

    python procless.py DECOY ROOT POLICY BACKEND MESSAGE

In the place of the kernel's /proc/self/fd/N the new file system has links to DECOY: whoever trusts that spelling
without asking reads it.  Where no mount namespace can be had, the library is only told that there is no procfs.

It prints, as JSON: whether /proc was hidden, what resolves the names, and the turn.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

from filerefs import Preprocessor, nodes, openat2
from filerefs import root as root_module

_NEW_NAMESPACE, _NEW_USER = 0x00020000, 0x10000000
_PRIVATE, _RECURSIVE = 1 << 18, 1 << 14
_NUMBERS = 64


def hide(decoy: str) -> None:
    """
    Mount a file system of decoys over /proc, for this process alone.

    Raises:
        OSError: Where the system does not allow it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NAMESPACE) and libc.unshare(_NEW_NAMESPACE | _NEW_USER):
        raise OSError(ctypes.get_errno(), "no mount namespace")
    if libc.mount(b"none", b"/", None, ctypes.c_ulong(_PRIVATE | _RECURSIVE), None) or libc.mount(b"tmpfs", b"/proc", b"tmpfs", ctypes.c_ulong(0), None):
        raise OSError(ctypes.get_errno(), "no mount")
    os.makedirs("/proc/self/fd")
    for number in range(_NUMBERS):
        os.symlink(decoy, f"/proc/self/fd/{number}")


def pretend() -> None:
    """Say that there is no procfs."""
    for module in (openat2, nodes, root_module):
        module.has_procfs = lambda: False  # type: ignore[attr-defined]


def main(decoy: str, root: str, policy: str, backend: str, message: str) -> None:
    try:
        hide(decoy)
    except OSError:
        pretend()
    os.environ["FILEREFS_BACKEND"] = backend
    with Preprocessor(root, symlinks=policy) as preprocessor:  # type: ignore[arg-type]
        turn = preprocessor.preprocess(message, "Be brief.")
        print(json.dumps({"hidden": os.listdir("/proc") == ["self"], "backend": preprocessor._root.backend, "turn": turn.as_dict()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
