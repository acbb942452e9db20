"""Every row of every table in docs/grammar.md, run: what is read, what becomes of it on disk, what is sent and said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import filerefs
from filerefs.naming import format_range
from filerefs.outcomes import Attached, Reason

from .grammar_examples import GRAMMAR, REPOSITORY, load, parameters, parse_options, plant, references

if TYPE_CHECKING:
    from pathlib import Path

    from filerefs import Outcome, Turn

    from .grammar_examples import Example

RULES = re.findall(r"^### R(\d+)\. ", GRAMMAR.read_text(encoding="utf-8"), re.MULTILINE)
# What a rule is about and no row can show: bytes on a disk that cannot be typed, how often a message is read.
WITHOUT_EXAMPLES = {"R25", "R26"}

EACH_EXAMPLE = pytest.mark.parametrize("example", parameters())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the examples are about, with a file beside it."""
    outside = tmp_path_factory.mktemp("grammar")
    (outside / "outside.txt").write_text("outside\n", encoding="utf-8")
    return plant(outside / "root")


def described(turn: Turn) -> tuple[tuple[str, str], ...]:
    """Return what became of the mentions of a turn, in order, as the column "outcome" says it."""
    found = [(outcome.spans[0], _described(outcome)) for outcome in turn.outcomes]
    found += [((ref.start, ref.end), (ref.token, "plain")) for ref in turn.plain]
    return tuple(what for _, what in sorted(found))


def _described(outcome: Outcome) -> tuple[str, str]:
    if not isinstance(outcome, Attached):
        return outcome.token, outcome.reason.value
    if outcome.kind == "directory" and outcome.path != ".":
        return outcome.path + "/", ""
    slices = "+".join(format_range(lines)[1:] for lines in outcome.lines or ())
    return outcome.path, "media" if outcome.kind == "media" else slices


@EACH_EXAMPLE
def test_what_is_read(example: Example) -> None:
    """`parse` gives the paths and lines of the column "parse gives", and each token stands where it says."""
    refs = filerefs.parse(example.message, **parse_options(example))

    if example.mentions is not None:
        assert example.mentions == tuple((ref.path, format_range(ref.lines)[1:]) for ref in refs)
    assert [ref.token for ref in refs] == [example.message[ref.start : ref.end] for ref in refs]


@EACH_EXAMPLE
def test_what_becomes_of_it(example: Example, folder: Path) -> None:
    """A turn on the folder of the page attaches, refuses, says and sends what the row says."""
    turn = filerefs.preprocess(example.message, root=folder, **example.options)

    assert example.outcomes == described(turn)
    if example.becomes is not None:
        assert example.becomes == turn.message
    if example.said is not None:
        assert example.said == turn.warnings + turn.notices


@EACH_EXAMPLE
def test_a_refusal_is_always_said(example: Example, folder: Path) -> None:
    """There are as many warnings as refusals, since nothing in these examples is cut or guessed."""
    turn = filerefs.preprocess(example.message, root=folder, **example.options)

    assert len(turn.refused) == len(turn.warnings)


@EACH_EXAMPLE
def test_reading_it_again_attaches_nothing(example: Example, folder: Path) -> None:
    """A message that was rewritten is sent as it is (R26)."""
    once = filerefs.preprocess(example.message, root=folder, **example.options)

    twice = filerefs.preprocess(once.message, root=folder, **example.options)

    assert () == twice.attached
    assert once.message == twice.message


@pytest.mark.parametrize(("path", "lines", "mention"), [pytest.param(*row, id=row[2]) for row in references()])
def test_a_mention_is_written_so_that_it_is_read(path: str, lines: tuple[int, int | None] | None, mention: str) -> None:
    """`format_ref` writes what R25 says, and `parse` reads it back, also in the middle of a sentence (R25)."""
    assert mention == filerefs.format_ref(path, lines)

    (ref,) = filerefs.parse(f"see {mention}, then")

    assert (path, lines, mention) == (ref.path, ref.lines, ref.token)


def test_rules_are_numbered_without_a_gap() -> None:
    """A rule has the number that its place says."""
    assert [str(number) for number in range(1, len(RULES) + 1)] == RULES


def test_every_rule_has_examples() -> None:
    """A rule without an example is one that nothing holds."""
    shown = {example.rule for example in load()}

    assert {f"R{number}" for number in RULES} == shown | WITHOUT_EXAMPLES


@pytest.mark.parametrize("path", sorted((REPOSITORY / "filerefs").rglob("*.py")), ids=lambda path: path.stem)
def test_the_code_cites_rules_that_exist(path: Path) -> None:
    """A rule that a comment or a docstring names by number is one of the page."""
    cited = set(re.findall(r"\bR(\d{1,2})\b", path.read_text(encoding="utf-8")))

    assert set() == cited - set(RULES)


def test_the_words_for_refusals_are_reasons() -> None:
    """A word behind a token is "plain" or the value of a `Reason`."""
    words = {word for example in load() for token, word in example.outcomes or () if token.startswith(("@", "＠"))}

    assert set() == words - {"plain", ""} - {reason.value for reason in Reason} - {"media"}
