"""The rules as data: five profiles, one engine, and what no profile takes."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import Any

import pytest

import filerefs.agentsmd
from filerefs.agentsmd.frames import STYLES
from filerefs.agentsmd.profiles import CHAIN, CODEX, DEFAULT, EINO, PROFILES, PROJECTCTX, Profile
from filerefs.errors import OptionError, OptionTypeError

PACKAGE = Path(filerefs.agentsmd.__file__).parent


def test_five_profiles() -> None:
    """Each is found by its title, and cannot be changed."""
    assert [DEFAULT, CHAIN, PROJECTCTX, CODEX, EINO] == list(PROFILES.values())
    assert [profile.title for profile in PROFILES.values()] == list(PROFILES)
    with pytest.raises(dataclasses.FrozenInstanceError):
        DEFAULT.budget = 1  # type: ignore[misc]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.title)
def test_profiles_are_bounded(profile: Profile) -> None:
    """No profile reads files of any size, and each has a style to be rendered in."""
    assert profile.file_bytes is not None
    assert profile.style in STYLES
    assert hash(profile) == hash(dataclasses.replace(profile))


def test_names_are_tidied() -> None:
    """Empty and repeated names mean nothing; a list is as good as a tuple."""
    assert ("A.md", "B.md") == Profile(title="x", names=["", "A.md", "A.md", "B.md"]).names  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        pytest.param({"names": "A.md"}, OptionTypeError, id="one string"),
        pytest.param({"names": {"A.md": 1}}, OptionTypeError, id="a mapping"),
        pytest.param({"additions": [b"A.md"]}, OptionTypeError, id="bytes"),
        pytest.param({"names": ["a/../../b"]}, OptionError, id="a name that climbs in between"),
        pytest.param({"names": ["~/A.md"]}, OptionError, id="a name in the home folder"),
        pytest.param({"markers": ["a\0b"]}, OptionError, id="a name that cannot exist"),
        pytest.param({"budget": -1}, OptionError, id="a negative limit"),
        pytest.param({"file_bytes": "1"}, OptionTypeError, id="a limit that is text"),
        pytest.param({"overflow": "burst"}, OptionError, id="an overflow that there is not"),
        pytest.param({"spend": "first"}, OptionError, id="an order that there is not"),
        pytest.param({"trim": "both"}, OptionError, id="a trimming that there is not"),
        pytest.param({"mark": "{shown} of {total}"}, OptionError, id="a mark with a field that there is not"),
        pytest.param({"mark": "{"}, OptionError, id="a mark that ends in a field"),
    ],
)
def test_error_profiles(options: dict[str, Any], error: type[Exception]) -> None:
    """What cannot be meant raises when the profile is made."""
    with pytest.raises(error):
        Profile(title="x", **options)


def test_no_code_knows_a_profile() -> None:
    """A profile is data: none is named outside of its module but as the default of an argument."""
    names = {profile.title.upper() for profile in PROFILES.values()} - {"DEFAULT"}
    for path in PACKAGE.glob("*.py"):
        if path.stem not in ("profiles", "__init__"):
            named = {node.id for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Name)}
            assert set() == named & names, path.name


def test_the_public_names() -> None:
    """Everything in `__all__` exists, is listed, and is documented."""
    public = filerefs.agentsmd.__all__

    assert len(set(public)) == len(public)
    assert sorted(public) == dir(filerefs.agentsmd)
    assert all((getattr(filerefs.agentsmd, name).__doc__ or "").strip() for name in public)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        filerefs.agentsmd.nothing  # noqa: B018 (asking is the test)
