"""The two things that become of a reference, and the one line that every host prints of them."""

from __future__ import annotations

import hashlib
from dataclasses import FrozenInstanceError
from typing import Any, assert_never

import pytest

from filerefs.outcomes import Attached, Outcome, Reason, Refused

from .property.strategies import attached, reference, refused


@pytest.mark.parametrize(
    ("path", "fields", "expected"),
    [
        pytest.param("src/app.py", {"text": "x" * 12_595, "language": "python"}, "attached src/app.py (12.3 KB, python)", id="a file"),
        pytest.param("notes", {"text": "x"}, "attached notes (1 B)", id="a file without a language"),
        pytest.param("empty", {"text": ""}, "attached empty (0 B)", id="an empty file"),
        pytest.param("wide", {"text": "x" * 10, "size": 22}, "attached wide (22 B)", id="a file that has more bytes on disk than in the section"),
        pytest.param("a.log", {"text": "x" * 10, "size": 2048, "truncated": True}, "attached a.log (10 B of 2.0 KB)", id="a cut file"),
        pytest.param("a.py", {"text": "x\n", "size": 99, "lines": ((3, 3),)}, "attached a.py (line 3, 2 B)", id="a line"),
        pytest.param("a.py", {"text": "x\ny\n", "size": 99, "lines": ((3, 4),)}, "attached a.py (lines 3-4, 4 B)", id="lines"),
        pytest.param("a.py", {"text": "x\ny\n", "lines": ((3, 3), (7, 7))}, "attached a.py (lines 3, 7, 4 B)", id="two lines"),
        pytest.param("a.py", {"text": "x", "size": 99, "lines": ((3, 4),), "truncated": True}, "attached a.py (lines 3-4, 1 B of 99 B)", id="cut lines"),
        pytest.param("docs", {"kind": "directory", "entries": 14}, "attached docs/ (directory, 14 entries)", id="a folder"),
        pytest.param("docs", {"kind": "directory", "entries": 1}, "attached docs/ (directory, 1 entry)", id="a folder of one"),
        pytest.param("docs", {"kind": "directory", "entries": 0}, "attached docs/ (directory, 0 entries)", id="an empty folder"),
        pytest.param(".", {"kind": "directory", "entries": 2}, "attached ./ (directory, 2 entries)", id="the root"),
        pytest.param(
            "docs", {"kind": "directory", "entries": 9, "truncated": True}, "attached docs/ (directory, 9 entries and more)", id="a folder that was cut"
        ),
        pytest.param("a.png", {"kind": "media", "size": 2048, "media_type": "image/png"}, "attached a.png (2.0 KB, image/png, by name only)", id="an image"),
        pytest.param("a.png", {"kind": "media", "size": 2048}, "attached a.png (2.0 KB, media, by name only)", id="media of no known type"),
        pytest.param("a\nb", {"text": "x"}, "attached a\\u{a}b (1 B)", id="a name in which something hides"),
    ],
)
def test_summary_of_what_was_attached(path: str, fields: dict[str, Any], expected: str) -> None:
    """A host prints what was attached and how much of it."""
    assert attached(path, **fields).summary == expected


@pytest.mark.parametrize(
    ("path", "detail", "expected"),
    [
        ("x.py", "no such file", "could not attach @x.py: no such file"),
        ("a\u202eb", "no such file", "could not attach @a\\u{202e}b: no such file"),
        ("x" * 300, "too long", "could not attach @" + "x" * 99 + "…" + "x" * 99 + ": too long"),
    ],
)
def test_summary_of_what_was_refused(path: str, detail: str, expected: str) -> None:
    """A host prints what was typed and why it came to nothing."""
    assert refused(path, detail).summary == expected


def test_token_is_the_first_mention() -> None:
    """The token is what was typed first, up to where load read it."""
    message = "@a.py, and @a.py:3"
    refs = (reference("a.py,", message, 0), reference("a.py:3", message, 11))

    assert attached("a.py", refs=refs, spans=((0, 5), (11, 18))).token == "@a.py"
    assert refused("a.py", refs=refs, spans=((0, 6), (11, 18))).token == "@a.py,"


def test_digest_is_that_of_the_text() -> None:
    """The digest is SHA-256 of the shown text in UTF-8."""
    assert attached("a", "é\n").digest == hashlib.sha256("é\n".encode()).hexdigest()


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        pytest.param(attached("a.py", "secret text"), "Attached('a.py', kind='file', shown=11, truncated=False, mentions=1)", id="attached"),
        pytest.param(refused("a.py", hint="x"), "Refused('a.py', reason='not_found', mentions=1)", id="refused"),
        pytest.param(refused("a\nb"), "Refused('a\\nb', reason='not_found', mentions=1)", id="one line"),
    ],
)
def test_repr_is_one_line_without_contents(outcome: Outcome, expected: str) -> None:
    """A log line shows what it is, not what is in it."""
    assert repr(outcome) == expected


def test_union_is_closed() -> None:
    """A match over both with `assert_never` behind it is complete; status tells them apart, too."""

    def status(outcome: Outcome) -> str:
        match outcome:
            case Attached():
                return outcome.status
            case Refused():
                return outcome.status
            case _:
                assert_never(outcome)

    assert [status(attached("a")), status(refused("a"))] == ["attached", "refused"]


@pytest.mark.parametrize("outcome", [attached("a"), refused("a")], ids=["attached", "refused"])
def test_outcomes_are_values(outcome: Outcome) -> None:
    """Outcomes compare by what they hold and do not change."""
    assert outcome == type(outcome)(**{name: getattr(outcome, name) for name in outcome.__dataclass_fields__})
    with pytest.raises(FrozenInstanceError):
        outcome.path = "b"  # type: ignore[misc]


def test_reasons_are_those_of_the_contract() -> None:
    """Programs compare reasons with these words."""
    paths = ["not_found", "outside_root", "absolute", "home", "symlink", "symlink_loop", "not_regular", "permission", "secret", "binary"]
    turns = ["budget", "too_many", "ambiguous", "bad_name", "bad_range", "busy", "io_error"]

    assert [reason.value for reason in Reason] == paths + turns
    assert Reason.SECRET == "secret"
    assert str(Reason.BUSY) == "busy"


def test_outcomes_have_the_same_face() -> None:
    """What a host prints for one kind it can print for the other."""
    for name in ("status", "path", "refs", "spans", "label", "notes", "summary", "token"):
        assert hasattr(attached("a"), name)
        assert hasattr(refused("a"), name)
