"""What a text leaves open is closed, or made visible; what is closed stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs.agentsmd.loose_ends import close_fence, hide_openings, show_openings

from .markdown import leaves_nothing_open, texts


@pytest.mark.parametrize(
    ("text", "added"),
    [
        pytest.param("```\nx", "\n```", id="an open block"),
        pytest.param("~~~~ py\nx\n", "~~~~", id="as long as it was opened, on a line of its own"),
        pytest.param("```\nx\r", "```", id="behind a carriage return"),
        pytest.param("- a\n\n  ```\n  x\n", "  ```", id="in its list item"),
        pytest.param("> ```\n> x", "\n> ```", id="in its block quote"),
        pytest.param("```\nx\n```\n", "", id="a closed one"),
        pytest.param("- ```\n  x\n  ```\n", "", id="a closed one beside a bullet"),
        pytest.param("- ```\n  x\nbehind it", "", id="one that its list item ends"),
        pytest.param("<div>\n```\n", "", id="in HTML it is none"),
        pytest.param("    ```\n", "", id="in indented code it is none"),
        pytest.param("``` x ```\n", "", id="in a line it is a code span"),
        pytest.param("plain", "", id="none"),
    ],
)
def test_close_fence(text: str, added: str) -> None:
    """The line that is added ends the block where it stands, and nothing else is ever added."""
    assert text + added == close_fence(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("<!-- x", "&lt;!-- x", id="a comment"),
        pytest.param("a <!-- x", "a &lt;!-- x", id="a comment inside of a line"),
        pytest.param("<!-- x --> <!-- y", "<!-- x --> &lt;!-- y", id="only what is open"),
        pytest.param("<!-- x <!-- y -->", "<!-- x <!-- y -->", id="one end is enough"),
        pytest.param("--> <!--", "--> &lt;!--", id="an end in front of it is none"),
        pytest.param("<!-->", "<!-->", id="one that ends at once"),
        pytest.param("<SCRIPT>\nx", "&lt;SCRIPT>\nx", id="a script"),
        pytest.param("- > <style>\n", "- > &lt;style>\n", id="in lists and block quotes"),
        pytest.param("<pre>\nx</script>", "&lt;pre>\nx</script>", id="another one's end is none to be relied on"),
        pytest.param("<pre>x</PRE >", "<pre>x</PRE >", id="whatever its case"),
        pytest.param("npm run <script> and <pre", "npm run <script> and <pre", id="inside of a line it begins nothing"),
        pytest.param("<prefix>", "<prefix>", id="a tag that begins like it"),
        pytest.param("<?php", "&lt;?php", id="an instruction"),
        pytest.param("<![CDATA[ ]]", "&lt;![CDATA[ ]]", id="character data"),
        pytest.param("<!DOCTYPE", "&lt;!DOCTYPE", id="a declaration"),
        pytest.param("<! x", "<! x", id="no declaration"),
        pytest.param("&lt;!-- &amp;lt;!-- x", "&amp;lt;!-- &amp;amp;lt;!-- x", id="what looks hidden already"),
        pytest.param("&lt;!-- x -->", "&lt;!-- x -->", id="what looks hidden and is closed"),
        pytest.param("a < b & c", "a < b & c", id="nothing"),
    ],
)
def test_hide_openings(text: str, expected: str) -> None:
    """What nothing ends is visible, and can be had back."""
    assert expected == hide_openings(text)
    assert text == show_openings(expected)


def test_what_was_never_hidden_stays() -> None:
    """An opening that stands there as it is, is not made of anything."""
    assert "<!-- x" == show_openings("<!-- x")


@given(text=st.one_of(texts, st.text("<!->?[]CDATApre/&;lt \n\r", max_size=30)))
def test_laws_of_loose_ends(text: str) -> None:
    """Hiding is undone exactly, and with a fence closed nothing is open."""
    hidden = hide_openings(text)

    assert text == show_openings(hidden)
    assert hidden == show_openings(hide_openings(hidden))
    assert close_fence(hidden).startswith(hidden)


@given(text=texts)
def test_nothing_is_left_open(text: str) -> None:
    """Another parser reads a heading behind it as one."""
    assert leaves_nothing_open(close_fence(hide_openings(text)))
