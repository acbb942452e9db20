"""Unquoted names with blanks: which joins of words are tried, and where they stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filerefs.lenient import WORDS, joins
from filerefs.mentions import parse

if TYPE_CHECKING:
    from collections.abc import Callable


def always(beginning: str) -> bool:
    """Answer as a folder would that holds every name."""
    return bool(beginning)


def tried(message: str, stop: int | None = None, goes_on: Callable[[str], bool] = always) -> list[str]:
    """Return the names that are tried for the first mention of *message*, in order, each with its range."""
    ref = parse(message)[0]
    found = []
    for reading in joins(ref, stop, goes_on):
        assert ref.run_end < reading.end <= len(message)
        assert message.startswith(reading.names[0], ref.start + 1, reading.end)
        assert (reading.end == ref.start + 1 + len(reading.names[0])) is (reading.lines is None)
        found.append(" or ".join(reading.names) + ("" if reading.lines is None else f" {list(reading.lines)}"))
    return found


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("@my file.txt", ["my file.txt"], id="one word more"),
        pytest.param("@my file.txt now", ["my file.txt now", "my file.txt"], id="a word behind"),
        pytest.param("@my old file.txt x", ["my old file.txt x", "my old file.txt"], id="two words more"),
        pytest.param("@my file.txt and b.py", ["my file.txt and b.py", "my file.txt and", "my file.txt"], id="longest first"),
        pytest.param("@my file.txt.", ["my file.txt"], id="a full stop behind"),
        pytest.param("@my file.txt), x", ["my file.txt), x", "my file.txt),", "my file.txt"], id="a bracket and a comma behind"),
        pytest.param("@my file.txt:3-4 x", ["my file.txt:3-4 x", "my file.txt:3-4", "my file.txt [3, 4]"], id="a range"),
        pytest.param("@my  file.txt", ["my  file.txt"], id="two blanks"),
        pytest.param("@my\tfile.txt", ["my\tfile.txt"], id="a tab"),
        pytest.param("@docs/my file.txt", ["docs/my file.txt"], id="in a folder"),
        pytest.param("@my files/a.txt", ["my files/a.txt"], id="the blank in a folder"),
        pytest.param("@my files.d/a", [], id="a dot in a folder is no extension"),
        pytest.param("a line\nand `code`\r@my file.txt", ["my file.txt"], id="lines and code in front"),
        pytest.param(
            "@my\\ old file.txt:3",
            ["my\\ old file.txt:3 or my old file.txt:3 or my/ old file.txt:3", "my\\ old file.txt or my old file.txt or my/ old file.txt [3, 3]"],
            id="an escaped blank before a range",
        ),
        pytest.param("@my\\ old file.txt", ["my\\ old file.txt or my old file.txt or my/ old file.txt"], id="one blank escaped, the other not"),
        pytest.param("@my file", [], id="no extension"),
        pytest.param("@my file.", [], id="a dot and nothing behind"),
        pytest.param("@my file\nb.txt", [], id="on the next line"),
        pytest.param("@my `file.txt`", [], id="code behind"),
        pytest.param("@my", [], id="no words behind"),
        pytest.param("@my\u00a0x file.txt", ["my\u00a0x file.txt"], id="a no-break space belongs to the name"),
    ],
)
def test_joins(message: str, expected: list[str]) -> None:
    """Words behind a mention are joined to it if that makes a name with an extension."""
    assert tried(message) == expected


def test_stops_before_the_next_mention() -> None:
    """The next mention begins a name of its own."""
    message = "@my file.txt @b.py x.txt"

    assert tried(message, message.index("@b")) == ["my file.txt"]


def test_at_most_eight_words() -> None:
    """A name with more blanks than that is written in quotes."""
    message = "@a" + " w" * (WORDS - 1) + ".x" + " w.x" * 5

    found = tried(message)

    assert found == ["a w w w w w w w.x w.x", "a w w w w w w w.x"]


@pytest.mark.parametrize(
    ("names", "message", "expected"),
    [
        pytest.param({"my file.txt"}, "@my file.txt now", ["my file.txt"], id="no word behind the name"),
        pytest.param({"my old file.txt"}, "@my old file.txt now", ["my old file.txt"], id="a name of three words"),
        pytest.param({"my x"}, "@my a.b c.d e.f", ["my a.b"], id="one word more than the folder knows"),
        pytest.param({"my x"}, "@my a/b.c d.e", ["my a/b.c d.e", "my a/b.c"], id="of another folder it says nothing"),
        pytest.param({"my file.txt"}, "@docs/my file.txt now", ["docs/my file.txt"], id="the folder in front is not asked about"),
    ],
)
def test_the_folder_rules_words_out(names: set[str], message: str, expected: list[str]) -> None:
    """Where no name in the folder goes on so, no further word is joined."""
    beginnings = {name[:at] for name in names for at, sign in enumerate(name) if sign == " "}

    assert tried(message, goes_on=beginnings.__contains__) == expected
