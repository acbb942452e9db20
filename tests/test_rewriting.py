"""The message with plain paths: slices, and nothing but the slices of what was attached."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filerefs.errors import SpanMismatchError
from filerefs.rewriting import rewrite

from .property.strategies import attached, reference, refused

if TYPE_CHECKING:
    from filerefs.outcomes import Attached, Outcome, Refused

MESSAGE = "see @a.py, @b.py:2-4 and @a.py; not \\@a.py"


def at(start: int, end: int, path: str, replacement: str, message: str = MESSAGE) -> Attached:
    """Return a file that the mention at *start* of *message* names up to *end*."""
    ref = reference(path, message, start)
    return attached(path, refs=(ref,), spans=((start, end),), replacements=(replacement,))


def twice() -> Attached:
    """Return the file that the first and the last mention of `MESSAGE` name."""
    first, second = reference("a.py", MESSAGE, 4), reference("a.py", MESSAGE, 25)
    return attached("a.py", refs=(first, second), spans=((4, 9), (25, 30)), replacements=("a.py", "a.py"))


def not_there(start: int, path: str) -> Refused:
    """Return the refusal of the mention at *start* of `MESSAGE`."""
    ref = reference(path, MESSAGE, start)
    return refused(path, refs=(ref,), spans=((start, ref.end),))


RANGE = at(11, 20, "b.py", "b.py:2-4")


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        pytest.param([at(4, 9, "a.py", "a.py")], "see a.py, @b.py:2-4 and @a.py; not \\@a.py", id="one mention"),
        pytest.param([twice()], "see a.py, @b.py:2-4 and a.py; not \\@a.py", id="two mentions of one file"),
        pytest.param([twice(), RANGE], "see a.py, b.py:2-4 and a.py; not \\@a.py", id="mentions of another file between them"),
        pytest.param([RANGE, twice()], "see a.py, b.py:2-4 and a.py; not \\@a.py", id="in any order"),
        pytest.param([not_there(4, "a.py"), RANGE], "see @a.py, b.py:2-4 and @a.py; not \\@a.py", id="refused stays as typed"),
        pytest.param([at(4, 9, "a.py", '"my file"')], 'see "my file", @b.py:2-4 and @a.py; not \\@a.py', id="replacement as it is given"),
        pytest.param([at(11, 16, "b.py:2-4", "b.py")], "see @a.py, b.py:2-4 and @a.py; not \\@a.py", id="a shorter reading than the default one"),
    ],
)
def test_mentions_become_plain_paths(outcomes: list[Outcome], expected: str) -> None:
    """Each span of an attached outcome holds its replacement, and nothing else changes."""
    assert expected == rewrite(MESSAGE, outcomes)


@pytest.mark.parametrize("outcomes", [pytest.param([], id="no outcomes"), pytest.param([not_there(4, "a.py")], id="nothing attached")])
def test_message_itself_comes_back(outcomes: list[Outcome]) -> None:
    """With nothing attached there is nothing to copy."""
    assert rewrite(MESSAGE, outcomes) is MESSAGE


def test_whole_message_may_be_one_mention() -> None:
    """A mention may start and end where the message does, and hold characters beyond the BMP."""
    message = "@\N{PARTY POPPER}.txt"

    assert rewrite(message, [at(0, len(message), "\N{PARTY POPPER}.txt", "x", message)]) == "x"


@pytest.mark.parametrize(
    ("message", "outcomes"),
    [
        pytest.param("see @c.py, and more", [at(4, 9, "a.py", "a.py")], id="another name there"),
        pytest.param("xsee @a.py, @b.py", [at(4, 9, "a.py", "a.py")], id="shifted by one"),
        pytest.param("see @a", [at(4, 9, "a.py", "a.py")], id="message too short"),
        pytest.param(MESSAGE, [at(4, 9, "a.py", "a.py"), at(4, 9, "a.py", "a.py")], id="the same span twice"),
        pytest.param(MESSAGE, [at(4, 10, "a.py", "a.py"), at(4, 9, "a.py", "a.py")], id="overlapping spans"),
        pytest.param(MESSAGE, [at(11, 99, "b.py", "b.py")], id="span beyond the end"),
        pytest.param(MESSAGE, [attached("a.py", refs=(reference("a.py", MESSAGE, 4),), spans=((5, 9),), replacements=("",))], id="not where the mention opens"),
        pytest.param(MESSAGE, [at(4, 4, "a.py", "a.py")], id="empty span"),
    ],
)
def test_error_span_without_its_mention(message: str, outcomes: list[Outcome]) -> None:
    """Outcomes of another message are a mistake of the caller, never a guess of ours."""
    with pytest.raises(SpanMismatchError) as caught:
        rewrite(message, outcomes)

    assert isinstance(caught.value, ValueError)
    assert caught.value.span in outcomes[-1].spans + outcomes[0].spans
    assert caught.value.token in [ref.upto(end) for outcome in outcomes for ref, (_, end) in zip(outcome.refs, outcome.spans, strict=True)]


def test_error_one_span_for_two_readings() -> None:
    """Two outcomes that claim one place are refused as such, also where nothing else tells which comes first."""
    ref = reference("a.py", MESSAGE, 4)
    both = [at(4, 9, "a.py", "a.py"), attached("a.py", refs=(ref._replace(lines=(1, 2)),), spans=((4, 9),), replacements=("a.py",))]

    with pytest.raises(SpanMismatchError, match=r"has no '@a\.py' at 4:9"):
        rewrite(MESSAGE, both)


def test_error_replacements_that_do_not_match_spans() -> None:
    """An outcome that somebody made by hand, with a span too many, is not rewritten in part."""
    with pytest.raises(ValueError, match="shorter"):
        rewrite(MESSAGE, [twice(), attached("b.py", refs=(reference("b.py", MESSAGE, 11),), spans=((11, 16),), replacements=())])
