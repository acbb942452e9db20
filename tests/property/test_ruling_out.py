"""What lets a turn pass over words without a look at the disk: it may never pass over a name."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from filerefs import parse
from filerefs.readings import may_end, readings

BITS = (*'ab19.-_/()":#!?~*,;[]{}=+$%&|<>^`', "'s", ":12", ":3-4", "#L3", "..", ".py", "a.py")


@given(st.lists(st.sampled_from(BITS), max_size=10).map("".join))
@example('.route("/x")')
@example(".py:9!b")
@example("'s-_.")
def test_no_reading_ends_where_none_may(rest: str) -> None:
    """The first part of every reading of an ASCII run begins the run, and ends where `may_end` allows it."""
    for ref in parse(f"@a{rest}", code="load"):
        first = ref.run.partition("/")[0]
        names = [name.partition("/")[0] for reading in readings(ref) for name in reading.names]

        assert [] == [name for name in names if not first.startswith(name) or not may_end(first, len(name))]
