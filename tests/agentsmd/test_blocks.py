"""What lines of Markdown are: a table, and the comparison with another parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from filerefs.agentsmd.blocks import Blocks, Kind, lines

from .markdown import parse, texts

if TYPE_CHECKING:
    from collections.abc import Iterable

_LETTERS = {
    Kind.BLANK: ".",
    Kind.TEXT: "t",
    Kind.HEADING: "h",
    Kind.UNDERLINE: "u",
    Kind.BREAK: "-",
    Kind.CODE: "c",
    Kind.FENCE: "f",
    Kind.RAW: "r",
    Kind.HTML: "x",
}
_KINDS = {"fence": "f", "code_block": "c", "html_block": "x", "hr": "-", **{f"h{level}": "h" for level in range(1, 7)}}


def read(text: str) -> tuple[Blocks, list[Kind]]:
    """Return the structure behind *text*, and what each of its lines is."""
    blocks = Blocks()
    return blocks, [blocks.read(text[line.start : line.stop]) for line in lines(text)]


def letters(kinds: Iterable[Kind]) -> str:
    """Return a letter for each kind."""
    return "".join(_LETTERS[kind] for kind in kinds)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\nb\n\nc", "tt.t", id="paragraphs"),
        pytest.param("# a\n#\n#b\n####### c", "hhtt", id="headings by number signs"),
        pytest.param("a\n===\nb\n-\n---", "tutu-", id="headings by an underline, and a rule"),
        pytest.param("* * *\n___\n- - -", "---", id="rules"),
        pytest.param("    a\n\n    b\nc\n    d", "c.ctt", id="indented code, and a paragraph that goes on"),
        pytest.param("```\na\n\n````\nb", "fffft", id="a fence may be closed by a longer one"),
        pytest.param("```a`\nb", "tt", id="a backtick behind backticks makes a code span of them"),
        pytest.param("~~~ `\n~~~", "ff", id="but not behind tildes"),
        pytest.param("    ```\na", "ct", id="a fence that is indented too far"),
        pytest.param("> ```\n> a\nb", "fft", id="a block quote that ends, ends its block"),
        pytest.param("- ```\n  a\nb", "fft", id="a list item that ends, ends its block"),
        pytest.param("- ```\n  a\n  ```\n  b", "ffft", id="a fence beside a bullet is closed below it"),
        pytest.param("1. a\n\n   ```\n   b\n   ```", "t.fff", id="a fence in a list item"),
        pytest.param("> a\nb\n> c", "ttt", id="a paragraph goes on without its sign"),
        pytest.param("> a\n---", "t-", id="but not with an underline"),
        pytest.param("a\n2. b\n1. c", "ttt", id="only a list that begins with 1 interrupts a paragraph"),
        pytest.param("-\n\n  a\n\n      b", "..t.c", id="an item that begins with two blank lines is empty"),
        pytest.param("-\n  a\n\n  ```\n  b\n", ".t.ff", id="an item that begins with one is not"),
        pytest.param("-\ta\n\n\tb\n\n\t  c", "t.t.t", id="tabs are columns"),
        pytest.param("<!-- a\n\n# b\n--> c\nd", "rrrrt", id="a comment goes on behind blank lines"),
        pytest.param("<!-- a --> b\nc", "rt", id="and may end on its line"),
        pytest.param("<!-->\nc", "rt", id="or at once"),
        pytest.param("<pre>\n\n```\n</pre>\na", "rrrrt", id="preformatted text"),
        pytest.param("<SCRIPT>\n</pre>\na", "rrt", id="ended by any such tag"),
        pytest.param("<?a\n?>\n<!X\n>\n<![CDATA[\n]]>", "rrrrrr", id="what XML has"),
        pytest.param("<div>\n```\n\na", "xx.t", id="other HTML ends at a blank line"),
        pytest.param("<a b='c'>\nx\n\ntext\n<a>", "xx.tt", id="a tag alone begins HTML, but interrupts no paragraph"),
        pytest.param("a <b>\n<b c>d", "tt", id="a tag in a line does not"),
        pytest.param("a\rb\r\nc", "ttt", id="all line ends"),
        pytest.param("", ".", id="nothing"),
    ],
)
def test_lines(text: str, expected: str) -> None:
    """Each line is what CommonMark makes of it."""
    assert expected == letters(read(text)[1])


@pytest.mark.parametrize("line", ["* " * 50_000 + "x", "> " * 50_000, "1. " * 50_000, "- " * 50_000 + "```"], ids=["bullets", "quotes", "numbers", "a fence"])
def test_there_is_an_end_to_depth(line: str) -> None:
    """A line of nothing but list items is read in no more time than any other, and is text where it gets too deep."""
    assert [Kind.TEXT] == read(line)[1]


@pytest.mark.parametrize(
    ("text", "closing"),
    [
        pytest.param("```py\nx", "```", id="as long as the one that opens it"),
        pytest.param("~~~~\nx", "~~~~", id="of the same signs"),
        pytest.param("- a\n\n  ```\n  x", "  ```", id="in a list item"),
        pytest.param("> - ```\n>   x", ">   ```", id="in a list item in a block quote"),
        pytest.param("```\n```", "", id="nothing is open"),
        pytest.param("<!--\n```", "", id="in a comment it is none"),
    ],
)
def test_closing(text: str, closing: str) -> None:
    """The line that ends what is open stands where it must stand for that."""
    blocks, _ = read(text)

    assert closing == blocks.closing
    assert blocks.is_fenced == bool(closing)
    if closing:
        blocks.read(closing)
        assert not blocks.is_inside


@pytest.mark.parametrize(
    ("text", "inert"),
    [
        pytest.param("    code", 8, id="all of a line of code"),
        pytest.param("<!-- a --> b", 10, id="a comment, but not what is behind it"),
        pytest.param("<pre>x</pre>y", 12, id="preformatted text"),
        pytest.param("<div>x</div>", 0, id="nothing of other HTML"),
        pytest.param("text", 0, id="nothing of text"),
    ],
)
def test_inert(text: str, inert: int) -> None:
    """What means nothing at the beginning of a line is counted."""
    assert inert == read(text)[0].inert


@given(text=texts)
def test_lines_are_a_partition(text: str) -> None:
    """Lines follow each other, and hold everything but the line ends."""
    found = list(lines(text))

    assert [0, *(line.end for line in found)] == [*(line.start for line in found), len(text)]
    assert "".join(text[line.start : line.end] for line in found) == text
    assert all(text[line.stop : line.end] in ("", "\n", "\r", "\r\n") for line in found)


@given(text=texts)
def test_lines_are_what_another_parser_reads(text: str) -> None:
    """Code, HTML, headings and rules are in the same lines; a last blank line belongs to whatever one likes."""
    text = text.rstrip()
    kinds = read(text)[1]
    expected = ["t"] * len(kinds)
    for block in parse(text):
        for number in range(block.first, min(block.end, len(kinds))) if block.kind in _KINDS else ():
            expected[number] = _KINDS[block.kind]
    ours = letters(kinds).replace("r", "x").replace("u", "h")
    # What is above an underline is known only there, and a blank line is part of what it stands in.
    told = ["h" if mine == "t" and other == "h" else other if mine == "." else mine for mine, other in zip(ours, expected, strict=True)]

    assert expected == told
