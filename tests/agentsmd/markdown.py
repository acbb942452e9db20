"""Markdown as another parser reads it, for laws; they are skipped where it is not installed."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

# Texts of what blocks are made of.  A block quote that goes on indented by four is left out: there the other parser
# follows rules of its own.
PIECES = (
    *("a", "words ", "€", "中文", "\n", "\n\n", "\r\n", " ", "  ", "x" * 20, "|", "\\"),
    *("# ", "## Title\n", "####### ", "\n===", "\n---", "***\n", "- ", "* ", "+ ", "1. ", "2) ", "\n- ", "\n  ", "> ", "\n> "),
    *("```\n", "```sh\n", "\n```", "~~~~\n", "\n~~~\n", "    ", "\n    code", "`"),
    *("<!--", "-->", "<div>\n", "</div>", "<pre>", "</pre>", "<b>", "\n<script>\n", "</script>", "<?x", "?>", "\n<!X", "<![CDATA[", "]]>", "<h2>Title</h2>\n"),
    *("svc/x.md", "\n### svc/x.md", "Project instructions", "### "),
)
_ODD = re.compile(r"^[ >]*>.*\n[ >]*(?: {4}|\t)|^.*(?: {4}|\t) *>", re.MULTILINE)
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join).filter(lambda text: not _ODD.search(text))


class Block(NamedTuple):
    """A block without blocks in it: what it is, its first line and the one behind its last, how deep it lies, and its text; "h1" is a heading."""

    kind: str
    first: int
    end: int
    depth: int
    text: str


def parse(text: str) -> list[Block]:
    """Return the blocks of *text*, in order: "fence", "code_block", "html_block", "h1" and so on, "paragraph", "hr"."""
    parser: Any = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    tokens = parser.parse(text if text.endswith("\n") else text + "\n")
    found = []
    for number, token in enumerate(tokens):
        if token.map and token.type in ("fence", "code_block", "html_block", "heading_open", "paragraph_open", "hr"):
            content = tokens[number + 1].content if token.type.endswith("_open") else token.content
            kind = token.tag if token.type == "heading_open" else token.type.removesuffix("_open")
            found.append(Block(kind, *token.map, token.level, content))
    return found


def leaves_nothing_open(text: str) -> bool:
    """Tell whether a heading behind *text* is read as one."""
    return any((block.kind, block.depth, block.text) == ("h3", 0, "behind") for block in parse(f"{text}\n\n### behind\n"))
