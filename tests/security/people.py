"""Permissions bind an ordinary user; the tests must mean something for the superuser too."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

import filerefs

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOBODY = 65534


@contextmanager
def ordinary_user() -> Iterator[None]:
    """
    Be somebody whom permissions bind; what was opened before stays open.

    Skips the test where the superuser may not become somebody else.
    """
    if os.geteuid() != 0:
        yield
        return
    _load_everything()
    try:
        os.seteuid(_NOBODY)
    except PermissionError:
        pytest.skip("the superuser of this sandbox cannot become an ordinary user")
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def superuser_again() -> Iterator[None]:
    """Be, inside of `ordinary_user`, for a moment who one was before."""
    now = os.geteuid()
    os.seteuid(os.getuid())
    try:
        yield
    finally:
        os.seteuid(now)


def _load_everything() -> None:
    """Let the library load what it loads on first need: Python itself may lie where nobody else can look."""
    with TemporaryDirectory() as folder:
        Path(folder, "a.txt").write_bytes(b"Gr\xfc\xdfe")
        filerefs.preprocess("@a.txt @b.txt @./", root=folder, symlinks="inside")
