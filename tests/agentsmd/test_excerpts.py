"""Where a text is cut: never inside of a fenced block, a comment or a character, and with no heading left behind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs.agentsmd.blocks import Blocks, lines
from filerefs.agentsmd.excerpts import Excerpt, excerpt
from filerefs.limits import utf8_length

from .markdown import leaves_nothing_open, parse, texts

_NO_BODY = {"hr", *(f"h{level}" for level in range(1, 7))}
FENCED = "run:\n\n```sh\nmake\n# then deploy\nship\n```\n\nThat is all.\n"


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        pytest.param("abc", 3, "abc", id="what fits is not touched"),
        pytest.param("abc \n\n", None, "abc \n\n", id="no limit"),
        pytest.param("abc", 0, "", id="nothing allowed"),
        pytest.param("one\ntwo\n\nthree\nfour\n", 18, "one\ntwo\n\nthree", id="behind a line where the paragraph is less than half"),
        pytest.param("one\ntwo\n\nthree\nfour\n", 13, "one\ntwo", id="behind a paragraph"),
        pytest.param("one\ntwo\n## Three\nfour\n", 20, "one\ntwo", id="a heading ends a paragraph"),
        pytest.param("one\ntwo\nthree\nfour\n", 12, "one\ntwo", id="behind a line"),
        pytest.param("a\r\n\r\nb\r\n\r\nc\r\n\r\nd", 12, "a\r\n\r\nb\r\n\r\nc", id="CR LF"),
        pytest.param("one\n", 3, "one", id="nothing but the last line end is missing"),
        pytest.param("text text\n\n## Heading\n\nbelow it", 24, "text text", id="no heading without a text"),
        pytest.param("text text\n\nHeading\n=======\n\nbelow it", 30, "text text", id="no heading with an underline"),
        pytest.param("text text\n\nHeading\n=======\n\nbelow it", 22, "text text", id="nor without the underline that it has"),
        pytest.param("text\n\n<h2>Heading</h2>\n\nbelow it, and more", 24, "text", id="no heading of HTML"),
        pytest.param("text text\n\n---\n\n## Heading\n\nbelow it", 30, "text text", id="nor a rule above one"),
        pytest.param("text text\n\n####### seven\n\nbelow", 26, "text text\n\n####### seven", id="seven signs are no heading"),
        pytest.param("text text\n#!/bin/sh\n#42 #include\nx", 33, "text text\n#!/bin/sh\n#42 #include", id="signs without a blank are no heading"),
        pytest.param("text text\n\n    # a comment\n    # another", 30, "text text\n\n    # a comment", id="a comment in code is no heading"),
        pytest.param("long enough text\n\n```\na\nb\n```\n", 26, "long enough text", id="a fenced block is left out"),
        pytest.param(FENCED, 38, "run:", id="also where that gives away nearly everything"),
        pytest.param(FENCED, 49, FENCED[:39], id="or is there as a whole"),
        pytest.param("> quote\n\n> ```\n> a\n> b\n> ```\n", 24, "> quote", id="a block in a quote"),
        pytest.param("- item\n\n  - item\n\n    ```\n    a\n    b\n    ```\n", 36, "- item\n\n  - item", id="a block in a list in a list"),
        pytest.param("```\nabc\n", 6, "", id="a block that is never closed"),
        pytest.param("see this\n\n<!-- a\nb\n\nc -->\n\nd", 20, "see this", id="a comment is left out"),
        pytest.param("see this\n\n<pre>\nb\n\nc</pre>\n\nd", 22, "see this", id="so is preformatted text"),
    ],
)
@pytest.mark.parametrize("whole_lines", [False, True])
def test_where_a_text_ends(text: str, limit: int | None, shown: str, *, whole_lines: bool) -> None:
    """An opening ends where a reader would stop."""
    assert shown == excerpt(text, limit, whole_lines=whole_lines).text


@pytest.mark.parametrize(
    ("text", "limit", "opening", "lines_only"),
    [
        pytest.param("one two three four", 14, "one two three", "one two three", id="the first line is cut behind a word"),
        pytest.param("abcdefgh", 5, "abcde", "abcde", id="or inside of one"),
        pytest.param("# Rules\n\none two three four", 22, "# Rules\n\none two three", "# Rules\n\none two three", id="below its heading, too"),
        pytest.param("Title\n\n" + "w" * 300, 200, "Title\n\n" + "w" * 193, "Title", id="a later one only where whole lines are not asked for"),
        pytest.param("# One\n## Two\n### Three", 12, "# One", "", id="nothing but headings"),
        pytest.param("# One\n\n```\ntext\n```\n", 14, "", "", id="a heading above a block that does not fit"),
        pytest.param("€€€€€", 8, "€€", "€€", id="between two code points"),
        pytest.param("ne\u0301e\u0301e\u0301", 5, "ne\u0301", "ne\u0301", id="not between a letter and its accent"),
        pytest.param("ab\U0001f469\u200d\U0001f680c", 7, "ab", "ab", id="nor between signs that are joined"),
        pytest.param("```py and much more\nx\n```", 8, "", "", id="an opening fence is not cut"),
        pytest.param("# A heading of many words\n\ntext", 12, "", "", id="nor is a heading"),
        pytest.param("####### x", 5, "", "", id="nor what would be one then"),
    ],
)
def test_lines_that_are_too_long(text: str, limit: int, opening: str, lines_only: str) -> None:
    """A line is cut only if it must be, and then not inside of what people take for one character."""
    assert (opening, lines_only) == (excerpt(text, limit).text, excerpt(text, limit, whole_lines=True).text)


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        pytest.param(FENCED, 30, True, id="in the middle of it"),
        pytest.param(FENCED, 8, True, id="in its first line"),
        pytest.param(FENCED, 38, True, id="in its last line"),
        pytest.param(FENCED, 6, True, id="right before it"),
        pytest.param(FENCED, 45, False, id="behind it"),
        pytest.param(FENCED, None, False, id="nowhere"),
    ],
)
def test_a_block_that_does_not_fit_is_told(text: str, limit: int | None, *, expected: bool) -> None:
    """Whoever shows the opening can say that a block was left out."""
    assert expected == excerpt(text, limit).stops_at_block


@given(text=texts, limit=st.integers(0, 80), whole_lines=st.booleans())
def test_laws_of_excerpt(text: str, limit: int, whole_lines: bool) -> None:  # noqa: FBT001 (Hypothesis passes it)
    """An excerpt fits, is a beginning of the text, and is all of it where that fits."""
    shown = excerpt(text, limit, whole_lines=whole_lines)

    assert utf8_length(shown.text) <= limit
    assert text.startswith(shown.text)
    assert (shown == Excerpt(text)) == (utf8_length(text) <= limit)


@given(text=texts, limit=st.integers(0, 80), whole_lines=st.booleans())
def test_an_excerpt_leaves_nothing_open(text: str, limit: int, whole_lines: bool) -> None:  # noqa: FBT001 (Hypothesis passes it)
    """What stands behind it is read as what it is, by our reader and by another parser."""
    shown = excerpt(text, limit, whole_lines=whole_lines).text
    if shown == text:
        return
    blocks = Blocks()
    for line in lines(shown):
        blocks.read(shown[line.start : line.stop])

    assert not blocks.is_inside
    assert leaves_nothing_open(shown)


@given(text=texts, limit=st.integers(0, 80))
def test_whole_lines_end_with_a_line(text: str, limit: int) -> None:
    """Whole lines are cut only where nothing is said before, and the last thing shown is no heading."""
    shown = excerpt(text, limit, whole_lines=True).text
    blocks = parse(shown)
    if shown in ("", text) or not blocks:
        return

    assert blocks[-1].kind not in _NO_BODY
    if text[len(shown) : len(shown) + 1] not in ("", "\n", "\r"):
        before = parse(shown.rpartition("\n")[0])
        # A block that nothing ends but the list it stands in is no place to stop.
        assert {block.kind for block in before if not block.text.startswith("<h2>")} <= _NO_BODY | {"fence"}
