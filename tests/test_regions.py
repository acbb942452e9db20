"""Where a message is code: a table for each rule, and a second, slow reading of the same rules to compare with."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from filerefs.regions import Code, CodeRegions


def code_of(text: str, *, spans: bool = True) -> list[str]:
    """Return the pieces of *text* that are code, each once, as every position asked from left to right tells them."""
    regions = CodeRegions(text, spans=spans)
    found = dict.fromkeys(code for position in range(len(text)) if (code := regions.around(position)))
    return [text[code.start : code.end] for code in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("no code", [], id="no backtick"),
        pytest.param("a `b` c", ["`b`"], id="one span"),
        pytest.param("`a` `b`", ["`a`", "`b`"], id="two spans"),
        pytest.param("`a`b`", ["`a`"], id="a run that is left over"),
        pytest.param("``a`b``", ["``a`b``"], id="a shorter run inside"),
        pytest.param("`a``b`", ["`a``b`"], id="a longer run inside"),
        pytest.param("``a`", [], id="no run of the same length"),
        pytest.param("`", [], id="one backtick"),
        pytest.param("a ``` b ``` c", ["``` b ```"], id="three backticks inside a line are a span"),
        pytest.param("`a\nb`", ["`a\nb`"], id="across a line end"),
        pytest.param("`a\r\nb`", ["`a\r\nb`"], id="across CR LF"),
        pytest.param("`a\n\nb`", [], id="not across a blank line"),
        pytest.param("`a\n \t\nb`", [], id="not across a line of blanks"),
        pytest.param("`a\r\n\r\nb`", [], id="not across a blank line with CR LF"),
        pytest.param("`a\n\nb` c `d`", ["` c `"], id="pairing starts anew behind a blank line"),
        pytest.param("\\`a` b`", ["` b`"], id="an escaped backtick opens nothing"),
        pytest.param("\\\\`a`", ["`a`"], id="an escaped backslash escapes nothing"),
        pytest.param("\\\\\\`a` b`", ["` b`"], id="an odd number of backslashes escapes, however many"),
        pytest.param("\\`a` b` \\", ["` b`"], id="a backslash at the very end is none in front of the beginning"),
        pytest.param("`a\\`", ["`a\\`"], id="nothing is escaped inside"),
        pytest.param("\\``a`", ["`a`"], id="an escaped backtick is taken out of its run"),
        pytest.param("`a`\\`b`", ["`a`"], id="escaped right behind a span"),
        pytest.param("```\na\n```", ["```\na\n```"], id="a fenced block"),
        pytest.param("~~~\na\n~~~", ["~~~\na\n~~~"], id="a fence of tildes"),
        pytest.param("```py\na\n```", ["```py\na\n```"], id="a language"),
        pytest.param("   ```\na\n  ```", ["   ```\na\n  ```"], id="indented by three"),
        pytest.param("    ```\na", [], id="indented by four it is none"),
        pytest.param("```\na\n    ```", ["```\na\n    ```"], id="nor does it close so: it runs to the end"),
        pytest.param("```\na", ["```\na"], id="unclosed"),
        pytest.param("```", ["```"], id="nothing in it"),
        pytest.param("```\na\n``", ["```\na\n``"], id="a closing run that is too short"),
        pytest.param("```\na\n`````\nb", ["```\na\n`````"], id="a closing run that is longer"),
        pytest.param("````\n```\n````\nb", ["````\n```\n````"], id="a shorter fence inside"),
        pytest.param("```\n~~~\n```\nb", ["```\n~~~\n```"], id="a fence of the other kind inside"),
        pytest.param("```\n``` x\n```\nb", ["```\n``` x\n```"], id="a word behind it closes nothing"),
        pytest.param("```\na\n``` \t\nb", ["```\na\n``` \t"], id="blanks behind it do"),
        pytest.param("```\r\na\r\n```\r\nb", ["```\r\na\r\n```\r"], id="CR LF"),
        pytest.param("```a`\nb", [], id="a backtick on the opening line"),
        pytest.param("```a```\nb", ["```a```"], id="then it is a span"),
        pytest.param("~~~a`\nb", ["~~~a`\nb"], id="tildes allow backticks behind them"),
        pytest.param("~~\na\n~~", [], id="two tildes are none"),
        pytest.param("a ~~~ b", [], id="tildes inside a line"),
        pytest.param("x `a\n```\nb\n```\n`c`", ["```\nb\n```", "`c`"], id="a fence ends a paragraph"),
        pytest.param("`a`\n```\n`\n```\n`b`", ["`a`", "```\n`\n```", "`b`"], id="backticks inside a block pair with nothing"),
        pytest.param("~~~\n\n~~~\n`a`", ["~~~\n\n~~~", "`a`"], id="a blank line inside a block"),
    ],
)
def test_code(text: str, expected: list[str]) -> None:
    """Fenced blocks and pairs of equal runs of backticks are code."""
    assert code_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("`a`", [], id="a span"),
        pytest.param("```\na\n```", ["```\na\n```"], id="a block"),
        pytest.param("`a\n```\nb\n```\n`", ["```\nb\n```"], id="a block between backticks"),
    ],
)
def test_blocks_alone(text: str, expected: list[str]) -> None:
    """Without spans only fenced blocks are code."""
    assert code_of(text, spans=False) == expected


@pytest.mark.parametrize(
    ("text", "content"),
    [
        pytest.param("x ``a`b`` y", "a`b", id="a span"),
        pytest.param("\\``a\\`", "a\\", id="a span whose first backtick was escaped"),
    ],
)
def test_content_of_a_span(text: str, content: str) -> None:
    """A span tells what stands between its backticks."""
    code = CodeRegions(text, spans=True).around(text.index("a"))

    assert code is not None
    assert text[code.content_start : code.content_end] == content


def test_content_of_a_block() -> None:
    """A block counts as a whole: nothing alone fills it."""
    assert CodeRegions("```\na\n```", spans=True).around(4) == Code(0, 0, 9, 9)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("@a`b`", 2, id="a span"),
        pytest.param("@a`b", 4, id="a backtick that opens nothing"),
        pytest.param("@a``b`c`", 5, id="the first run that opens"),
        pytest.param("@a\\`b`", 6, id="an escaped backtick"),
    ],
)
def test_first_span(text: str, expected: int) -> None:
    """A bare name ends where a code span opens."""
    assert CodeRegions(text, spans=True).first_span(0, len(text)) == expected


def test_what_is_spoken_for_opens_nothing() -> None:
    """Backticks inside a quoted name are skipped, and pair with none behind it."""
    text = '@"`a" `b`'
    regions = CodeRegions(text, spans=True)

    regions.skip(5)

    assert regions.around(5) is None
    assert regions.around(7) == Code(6, 7, 8, 9)


@pytest.mark.parametrize(("text", "expected"), [("`", True), ("```\n", True), ("a", False), ("~~~", True), ("~~", False)])
def test_truth(text: str, *, expected: bool) -> None:
    """A message that holds no code at all is told apart, since nothing else need be asked then."""
    assert bool(CodeRegions(text, spans=True)) is expected


def slow_code(text: str) -> list[str]:
    """Read the rules once more, the slow way: line by line, and for each run of backticks look for its partner."""
    pieces: list[str] = []
    paragraph, fence, block = "", "", ""
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        opening = re.match(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})", line.rstrip("\n"))
        if fence:
            block += line
            if opening and opening[1].startswith(fence) and not line[opening.end() :].strip():
                pieces.append(block.removesuffix("\n"))
                fence = ""
        elif opening:
            pieces += slow_spans(paragraph)
            paragraph, fence, block = "", opening[1], line
        elif not line.strip(" \t\r\n") and line.endswith("\n"):
            pieces += slow_spans(paragraph)
            paragraph = ""
        else:
            paragraph += line
    return pieces + slow_spans(paragraph) + ([block] if fence else [])


def slow_spans(paragraph: str) -> list[str]:
    pieces: list[str] = []
    position = 0
    while position < len(paragraph):
        if paragraph[position] == "\\":
            position += 2
            continue
        if run := re.compile("`+").match(paragraph, position):
            closer = re.compile(rf"(?<!`){run[0]}(?!`)").search(paragraph, run.end())
            end = closer.end() if closer else run.end()
            pieces += [paragraph[position:end]] if closer else []
            position = end
            continue
        position += 1
    return pieces


bits = st.lists(st.sampled_from(("`", "``", "```", "~~~", "\n", "\n\n", " ", "   ", "\\", "a", "\r\n", "\t")), max_size=14).map("".join)


@given(bits)
@example("`\\``")
@example("```\n`\\``\n")
@example("\\```a``")
@example("`a\\`\\`b`")
def test_agrees_with_the_slow_reading(text: str) -> None:
    """The table of runs, made in one pass, gives what reading the rules step by step gives."""
    assert code_of(text) == slow_code(text)


@given(bits)
def test_pieces_are_in_order_and_apart(text: str) -> None:
    """No two pieces of code overlap, and each holds what it says it holds."""
    regions = CodeRegions(text, spans=True)
    found = list(dict.fromkeys(code for position in range(len(text)) if (code := regions.around(position))))

    assert sorted(found) == found
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert all(code.start <= code.content_start <= code.content_end <= code.end for code in found)
