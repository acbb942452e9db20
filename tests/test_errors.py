"""What is raised: misuse only, one tree, and each error carries what it is about."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import filerefs
from filerefs import errors
from filerefs.errors import (
    FilerefsError,
    OptionError,
    OptionTypeError,
    PathFormatError,
    RootClosedError,
    RootError,
    RootNotFoundError,
    SpanMismatchError,
    UnsupportedPlatformError,
)

SAMPLES = [
    pytest.param(OptionError("refs", -1, "a number"), "`refs` must be a number, not -1", id="OptionError"),
    pytest.param(OptionTypeError("allow", "x", "a collection"), "`allow` must be a collection, not 'x'", id="OptionTypeError"),
    pytest.param(PathFormatError("", "it is empty"), "cannot write a reference to '': it is empty", id="PathFormatError"),
    pytest.param(RootError("p", "it is odd"), "root 'p': it is odd", id="RootError"),
    pytest.param(RootNotFoundError("p", "it is no directory"), "root 'p': it is no directory", id="RootNotFoundError"),
    pytest.param(RootClosedError("p", "it was closed"), "root 'p': it was closed", id="RootClosedError"),
    pytest.param(UnsupportedPlatformError("p", "no way yet"), "root 'p': no way yet", id="UnsupportedPlatformError"),
    pytest.param(SpanMismatchError("@a", (3, 5)), "the message has no '@a' at 3:5; rewrite the message that was parsed", id="SpanMismatchError"),
]


@pytest.mark.parametrize("name", errors.__all__)
def test_error_one_tree(name: str) -> None:
    """Every exception of the library can be caught by one name, and is public."""
    assert issubclass(getattr(errors, name), FilerefsError)
    assert getattr(filerefs, name) is getattr(errors, name)


def test_error_tree_is_drawn() -> None:
    """The tree in the module's text names each exception."""
    assert [name for name in errors.__all__ if name not in (errors.__doc__ or "")] == []


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (OptionError, ValueError),
        (OptionTypeError, TypeError),
        (OptionTypeError, OptionError),
        (PathFormatError, ValueError),
        (RootError, OSError),
        (RootNotFoundError, RootError),
        (RootClosedError, RootError),
        (UnsupportedPlatformError, RootError),
        (SpanMismatchError, ValueError),
    ],
)
def test_error_is_also_what_python_calls_it(error: type[Exception], builtin: type[Exception]) -> None:
    """Code that catches the built-in exception for such a mistake catches ours."""
    assert issubclass(error, builtin)


@pytest.mark.parametrize(("error", "message"), SAMPLES)
def test_error_message(error: FilerefsError, message: str) -> None:
    """An error says in one sentence what is wrong with which value."""
    assert message == str(error)


@pytest.mark.parametrize(
    ("error", "carried"),
    [
        pytest.param(OptionError("refs", -1, "a number"), {"option": "refs", "value": -1, "expected": "a number"}, id="OptionError"),
        pytest.param(PathFormatError("a\0", "it holds a NUL"), {"path": "a\0", "problem": "it holds a NUL"}, id="PathFormatError"),
        pytest.param(RootClosedError("p", "it was closed"), {"root": "p", "problem": "it was closed"}, id="RootClosedError"),
        pytest.param(SpanMismatchError("@a", (3, 5)), {"token": "@a", "span": (3, 5)}, id="SpanMismatchError"),
    ],
)
def test_error_carries_what_it_is_about(error: FilerefsError, carried: dict[str, object]) -> None:
    """A program reads what went wrong from attributes, never from the sentence."""
    assert carried == {name: getattr(error, name) for name in carried}


@pytest.mark.parametrize(("error", "message"), SAMPLES)
def test_error_goes_through_a_process_pool(error: FilerefsError, message: str) -> None:
    """An error that was raised in a worker process arrives as it is: it can be pickled and copied."""
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error)
        assert message == str(other)
        assert vars(error) == vars(other)


@pytest.mark.parametrize(
    ("call", "option"),
    [
        pytest.param(lambda: filerefs.load("hi @greet.py"), "refs", id="the message in place of its references"),
        pytest.param(lambda: filerefs.inject("p", "y"), "outcomes", id="a text in place of outcomes"),
        pytest.param(lambda: filerefs.build_section(filerefs.parse("@a")), "outcomes", id="references in place of outcomes"),
    ],
)
def test_error_phases_take_what_the_phase_before_returned(call: Any, option: str) -> None:
    """Whoever mixes the phases up is told which argument it is."""
    with pytest.raises(filerefs.OptionTypeError, match=f"`{option}` must be what"):
        call()
