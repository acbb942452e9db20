"""Which mention is being typed, by the text and the cursor alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs.errors import OptionError
from filerefs.halftyped import HalfTyped, find_token, find_words


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        pytest.param("@", "", id="an at-sign alone"),
        pytest.param("see @src/ap", "src/ap", id="a word"),
        pytest.param("(@a", "a", id="behind a bracket"),
        pytest.param("查看@a", "a", id="behind a script without blanks"),
        pytest.param("＠a", "a", id="a full-width at-sign"),
        pytest.param('@"Car Kit/', "Car Kit/", id="a quote that is open"),
        pytest.param('@"Car Kit/"', "Car Kit/", id="a closed quote behind a folder"),
        pytest.param('@"Car Kit/"GL', "Car Kit/GL", id="more behind the closing quote of a folder"),
        pytest.param("@'my fi", "my fi", id="a single quote"),
        pytest.param("@“my fi", "my fi", id="a typographic quote"),
        pytest.param('@"a\\"b', 'a"b', id="an escaped quote"),
        pytest.param("@my\\ fi", "my fi", id="an escaped blank"),
        pytest.param("@src\\ap", "src/ap", id="a backslash for a slash"),
        pytest.param("@./ap", "ap", id="from here"),
        pytest.param("@@scope/x", "@scope/x", id="a folder with an at-sign"),
        pytest.param("@a.py and @b", "b", id="the second mention"),
        pytest.param("`open @a", "a", id="behind a backtick that nothing closes"),
        pytest.param("```\ncode\n```\n@a", "a", id="behind a block of code"),
        pytest.param("mail me@b", None, id="an address"),
        pytest.param("a @b c", None, id="behind the blank"),
        pytest.param("@a\n", None, id="on the next line"),
        pytest.param('@"a b"', None, id="behind a closed quote"),
        pytest.param('@"a b/":12', None, id="a range behind a quoted folder"),
        pytest.param("@a.py:", None, id="a range has begun"),
        pytest.param("@a.py:12-4", None, id="a range"),
        pytest.param("@a.py#L3", None, id="a range as code hosts write it"),
        pytest.param("\\@a", None, id="an escaped at-sign"),
        pytest.param("```\n@a", None, id="in a block of code"),
        pytest.param("`@a` `x @b", "b", id="behind a span"),
        pytest.param("@/etc/pa", None, id="an absolute path"),
        pytest.param("@~/x", None, id="a home"),
        pytest.param("@../x", None, id="above the root"),
        pytest.param("plain", None, id="no at-sign"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_what_is_being_typed(typed: str, query: str | None) -> None:
    """The mention that the end of the text stands in, quotes and escapes undone."""
    token = find_token(typed)

    assert query == (token.query if token else None)
    assert token is None or (typed[token.start] in "@＠" and token.end == len(typed))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        pytest.param("see @sr|c/app.py now", "sr", id="in the middle of a name"),
        pytest.param("@a| and @b", "a", id="in the first of two"),
        pytest.param("`x @a|`", None, id="in code that is closed behind the cursor"),
        pytest.param("|@a", None, id="before the at-sign"),
        pytest.param("first @a|\nsecond @b", "a", id="on another line than the last"),
    ],
)
def test_the_cursor_may_stand_anywhere(text: str, query: str | None) -> None:
    """Only what is before the cursor is a query; whether it is code, the whole text decides."""
    before, _, behind = text.partition("|")

    token = find_token(before + behind, len(before))

    assert query == (token.query if token else None)


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        pytest.param("@my fi", "my fi", id="a second word"),
        pytest.param("see @my ", "my ", id="a blank"),
        pytest.param("@docs/my  odd\tname", "docs/my  odd\tname", id="blanks as they are"),
        pytest.param("@a\\ b c", "a b c", id="an escaped blank before"),
        pytest.param("@./my fi", "my fi", id="from here"),
        pytest.param("@one @my fi", "my fi", id="behind the last mention"),
        pytest.param("@my me@x fi", "my me@x fi", id="an at-sign that opens nothing"),
        pytest.param("@1 2 3 4 5 6 7 8 9", "1 2 3 4 5 6 7 8 9", id="eight words"),
        pytest.param("@1 2 3 4 5 6 7 8 9 ", None, id="too many words"),
        pytest.param("@my", None, id="no blank"),
        pytest.param("@my\\ fi", None, id="an escaped blank alone"),
        pytest.param("@ my fi", None, id="no name behind the at-sign"),
        pytest.param("@my\nfi", None, id="on the next line"),
        pytest.param("@my\u3000fi", None, id="white space that is no blank"),
        pytest.param('@"my fi', None, id="in quotes"),
        pytest.param("@a.py:3 fi", None, id="behind a range"),
        pytest.param("@my file.txt:3", None, id="a range behind the words"),
        pytest.param("@/etc/my fi", None, id="an absolute path"),
        pytest.param("me@my fi", None, id="an address"),
        pytest.param("```\n@my fi", None, id="in a block of code"),
        pytest.param("my fi", None, id="no at-sign"),
    ],
)
def test_words_that_may_belong_to_a_name(typed: str, query: str | None) -> None:
    """A bare mention and up to eight words behind it on its line are the beginning of one name, if anything begins so."""
    token = find_words(typed)

    assert query == (token.query if token else None)
    assert token is None or find_token(typed) is None


@pytest.mark.parametrize("behind", ["me@x ", "@", "x.@a ", "*@*"])
def test_a_long_line_of_at_signs(behind: str) -> None:
    """Only the last ones are looked at: what a mention opens so far away is not being typed."""
    assert find_token("@a " + behind * 3000) is None
    assert find_token(behind * 3000 + " @b") == HalfTyped(len(behind) * 3000 + 1, len(behind) * 3000 + 3, "b")


def test_far_into_a_line() -> None:
    """What stands long before an at-sign does not make it part of a word or of code, wherever it is cut."""
    for length in range(60, 70):
        for filler in ("x", "~~~ ", "*", "é"):
            text = (filler * length)[:length] + " @b"
            assert find_token(text) == (None if text.startswith("~~~") else HalfTyped(length + 1, length + 3, "b")), text


def test_options_of_the_grammar_count() -> None:
    """What `parse` does not take for a mention, is none here either."""
    assert find_token("＠a", lenient=False) is None
    assert find_token("`@a", 3, code="load") == find_token("`@a", 3)
    assert find_token("`@a`", 3) is None
    assert find_token("`@a`", 3, code="load") is not None


def test_error_a_cursor_outside_of_the_text() -> None:
    """A cursor that stands nowhere is a mistake of the host."""
    with pytest.raises(OptionError):
        find_token("abc", 4)
    with pytest.raises(OptionError):
        find_token("abc", -1)


@given(st.text(st.sampled_from("@\"'`\\ a/.:#\n\u3000＠“"), max_size=12), st.integers(0, 12))
def test_any_text_can_be_typed(text: str, cursor: int) -> None:
    """No text and no cursor in it raises, and the mention ends at the cursor."""
    cursor = min(cursor, len(text))

    for token in (find_token(text, cursor), find_words(text, cursor)):
        assert token is None or (text[token.start] in "@＠" and token.start < token.end == cursor)
