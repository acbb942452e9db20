from __future__ import annotations

import pytest

from filerefs import patterns


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("see @a.py, a@b.c and (@d)", True, id="words and addresses"),
        pytest.param("a\\ b @c\\ d", True, id="escaped blanks"),
        pytest.param("*@a.py*", False, id="emphasis"),
        pytest.param("_@a.py_", False, id="underlined"),
        pytest.param("~@a.py~", False, id="struck out"),
        pytest.param("\\@a.py", False, id="an escaped at-sign"),
        pytest.param('@"a b.py"', False, id="double quotes"),
        pytest.param("@'a b.py'", False, id="single quotes"),
        pytest.param("caf\u00e9 @a.py", False, id="beyond ASCII"),
    ],
)
def test_plain_form_is_for_plain_messages(message: str, *, expected: bool) -> None:
    """The plain form is taken where nothing in the message needs the full one."""
    chosen = patterns.find_pattern(message, wide=False, lenient=True)

    assert expected == (chosen is patterns._plain_pattern())


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("@" + "a@" * 5000, id="at-signs in a run"),
        pytest.param("x @" + "\\" * 9000, id="backslashes"),
        pytest.param("@(@" * 3000, id="one mention in another's run"),
        pytest.param("@a\x1cb\x1fc\x0bd", id="controls that only Python takes for blanks"),
    ],
)
def test_both_forms_take_the_same(message: str) -> None:
    """Where the plain form is taken, the full one finds the same mentions; for any message, see the laws."""
    plain, full = patterns._plain_pattern(), patterns._full_pattern(wide=False, lenient=True)
    assert patterns.find_pattern(message, wide=False, lenient=True) is plain

    assert [match.span() for match in full.finditer(message)] == [match.span() for match in plain.finditer(message)]
