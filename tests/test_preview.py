"""The preview of what is being typed: nobody waits for one that will not come.  Its colours are those of tests/repl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filerefs import Preprocessor
from filerefs.preview import Preview

if TYPE_CHECKING:
    from .conftest import Tree

PATIENCE = 60


def test_a_preview_is_made_beside_whoever_asks(tree: Tree) -> None:
    """Asking returns at once; the turn is there a moment later, and whoever wants to know is told."""
    told: list[str] = []
    with Preprocessor(tree({"a.py": "a\n"})) as preprocessor, Preview(preprocessor) as preview:
        assert preview.ask("see @a.py", lambda: told.append("made")) is None
        assert preview.wait(PATIENCE)
        turn = preview.ask("see @a.py")

    assert turn is not None
    assert ["a.py"] == [outcome.path for outcome in turn.attached]
    assert told == ["made"]


def test_error_a_preprocessor_that_was_closed_first(tree: Tree) -> None:
    """The preview ends with it, without a word on standard error, and without anybody waiting for it."""
    with Preprocessor(tree({"a.py": "a\n"})) as preprocessor:
        preview = Preview(preprocessor)
    preview.ask("see @a.py")

    assert not preview.wait()
    assert preview.turn is None
    preview.close()


def test_error_a_closed_preview_makes_nothing(tree: Tree) -> None:
    """What is asked for behind `close` is not waited for."""
    with Preprocessor(tree({"a.py": "a\n"})) as preprocessor:
        preview = Preview(preprocessor)
        preview.close()
        preview.ask("see @a.py")

        assert not preview.wait()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_error_of_whoever_is_told(tree: Tree) -> None:
    """A host that fails when it is told ends the thread, and nobody waits for that either."""

    def fail() -> None:
        raise ZeroDivisionError

    with Preprocessor(tree({"a.py": "a\n"})) as preprocessor, Preview(preprocessor) as preview:
        preview.ask("see @a.py", fail)
        preview.wait(PATIENCE)
        preview.ask("another")

        assert not preview.wait()
