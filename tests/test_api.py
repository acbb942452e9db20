"""The public face: what `import filerefs` gives, lazily, and the README's few lines as a program would write them."""

from __future__ import annotations

import importlib
import inspect
import pickle
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import pytest

import filerefs

if TYPE_CHECKING:
    from .conftest import Tree

# The names of design and README; whoever takes one away breaks somebody's program.
NAMES = """
    Attached FilerefsError Limits OptionError OptionTypeError Outcome PathFormatError Preprocessor Reason Ref Refused Root RootClosedError RootError
    RootNotFoundError SpanMismatchError Turn UnsupportedPlatformError build_section format_ref inject load parse preprocess rewrite strip_section
"""


def test_public_names() -> None:
    """These names are there, and each is the one object of the module that defines it."""
    assert set(NAMES.split()) <= set(filerefs.__all__)
    for name in NAMES.split():
        value = getattr(filerefs, name)
        assert value is getattr(filerefs, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert getattr(importlib.import_module(value.__module__), name) is value


def test_star_import_gives_the_public_names() -> None:
    """`from filerefs import *` gives what `__all__` says."""
    found: dict[str, object] = {}
    exec("from filerefs import *", found)

    assert set(filerefs.__all__) <= set(found)


def test_version() -> None:
    """The version is that of the installed package, and completion offers it."""
    assert "__version__" in dir(filerefs)
    try:
        expected = version("filerefs")
    except PackageNotFoundError:
        pytest.skip("run from a checkout that is not installed")

    assert filerefs.__version__ == expected


@pytest.mark.parametrize("name", ["nope", "Preprocess", "__wrapped__"])
def test_error_unknown_name(name: str) -> None:
    """A name that is not there is told as Python tells it."""
    with pytest.raises(AttributeError, match=f"module 'filerefs' has no attribute '{name}'"):
        getattr(filerefs, name)


@pytest.mark.parametrize("name", ["parse", "load", "preprocess", "rewrite", "inject", "strip_section", "build_section", "format_ref"])
def test_no_module_has_the_name_of_a_function(name: str) -> None:
    """`import filerefs.parse` must not be ambiguous: modules are nouns, functions verbs."""
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(f"filerefs.{name}")


def test_phases_one_by_one(tree: Tree) -> None:
    """Parse, load, inject and rewrite do what a turn does."""
    project = tree({"src/app.py": "print()\n"})
    message = "see @src/app.py, @nope.py"

    refs = filerefs.parse(message)
    outcomes = filerefs.load(refs, root=project)
    turn = filerefs.preprocess(message, prompt="Be brief.", root=project)

    assert filerefs.inject("Be brief.", outcomes) == turn.prompt
    assert filerefs.rewrite(message, outcomes) == turn.message
    assert filerefs.build_section(outcomes) == filerefs.inject("", outcomes)
    assert filerefs.strip_section(turn.prompt) == "Be brief."


def test_at_most_two_arguments_by_position() -> None:
    """Options are given by name: nobody counts commas."""
    positional = {
        name: [parameter.name for parameter in inspect.signature(value).parameters.values() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
        for name in filerefs.__all__
        if inspect.isfunction(value := getattr(filerefs, name))
    }

    assert positional.pop("preprocess") == positional.pop("preprocess_async") == ["message", "prompt", "root"]
    assert {name: names for name, names in positional.items() if len(names) > 2} == {}


def test_values_can_be_pickled(tree: Tree) -> None:
    """What a turn consists of goes through a queue to another process."""
    project = tree({"a.py": "x\n"})
    turn = filerefs.preprocess("@a.py:1 @nope.py @alice", "Be brief.", project)

    assert pickle.loads(pickle.dumps(turn)) == turn
    assert pickle.loads(pickle.dumps(filerefs.Limits(refs=3))) == filerefs.Limits(refs=3)
