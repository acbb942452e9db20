"""The line around a text that the text cannot close."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs.fences import LONGEST_USUAL, fence_for, fenced


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        pytest.param("", "```", id="nothing"),
        pytest.param("a `b` ``c``", "```", id="spans of code"),
        pytest.param("```\n", "````", id="a fence"),
        pytest.param("~~~\n", "```", id="a fence of the other kind"),
        pytest.param("`" * LONGEST_USUAL, "~~~", id="a run too long to be told from another"),
        pytest.param("`" * LONGEST_USUAL + "~" * 5, "~" * 6, id="and tildes beside it"),
        pytest.param("`" * 40 + "~" * 90, "`" * 41, id="the shorter of two long ones"),
        pytest.param("`" * 40 + "~" * 40, "`" * 41, id="backticks of two as long"),
    ],
)
def test_fence(text: str, fence: str) -> None:
    """Backticks, one more than there are; tildes where that would be too many."""
    assert fence_for(text) == fence


@given(st.lists(st.sampled_from(["`", "~", "```", "~~~", "`" * 30, "~" * 30, "\n", "a"])).map("".join))
def test_no_text_holds_its_fence(text: str) -> None:
    """Law: a text does not hold its fence, and stands between two of them."""
    fence = fence_for(text)

    assert fence not in text
    assert fenced(text, fence, "md").startswith(f"{fence}md\n{text}")
    assert fenced(text, fence, "md").endswith(f"\n{fence}")
