"""The way up from a folder, where the system does not let it be gone; which folder is found is in tests/agentsmd."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

import pytest

from filerefs import RootNotFoundError
from filerefs.upward import find_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Tree


def failing(number: int) -> Callable[..., int]:
    """Return `os.open`, but that it fails with the error *number* on the way up."""
    really = os.open

    def opening(path: Any, *more: Any, **options: Any) -> int:
        if path == "..":
            raise OSError(number, os.strerror(number))
        return really(path, *more, **options)

    return opening


def test_error_no_descriptor_left_on_the_way_up(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """That no folder can be opened any more is told, and not taken for a project's end; what was open is closed, once."""
    folder = tree({".git/": None, "a/b/": None})
    closed: list[int] = []
    monkeypatch.setattr(os, "open", failing(errno.EMFILE))
    really = os.close

    def closing(descriptor: int) -> None:
        closed.append(descriptor)
        really(descriptor)

    monkeypatch.setattr(os, "close", closing)

    with pytest.raises(RootNotFoundError, match="cannot be opened"):
        find_up(folder / "a" / "b", [".git"])

    assert len(closed) == 1


def test_a_folder_that_may_not_be_searched_is_left_by_name(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where not even `..` can be looked up, the folder above is opened by its name."""
    folder = tree({".git/": None, "a/b/": None})
    monkeypatch.setattr(os, "open", failing(errno.EACCES))

    assert find_up(folder / "a" / "b", [".git"]).root == os.path.realpath(folder)
