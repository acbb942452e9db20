"""Openings for the prompt, tools for the rest, and tools in general."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs.agentsmd.catalogs import Entry, catalog, entries, inline_bytes_for, tools
from filerefs.agentsmd.excerpts import excerpt
from filerefs.agentsmd.rendering import render
from filerefs.agentsmd.wording import wording
from filerefs.errors import OptionError, OptionTypeError
from filerefs.retrieval import Tool

from .cases import Row, rows
from .test_rendering import check_golden, document, documents

if TYPE_CHECKING:
    from filerefs.agentsmd.documents import Doc

LONG = "# Rules\n\nUse tabs.\n\n## Tests\n\nRun `make` before each commit, and look at what it says.\n\n## Style\n\nShort words.\n"


def given_docs(row: Row) -> list[Entry]:
    """Return the entries that a row asks for: an opening that is not given is the whole text."""
    docs: list[Doc] = [document(doc["name"], doc["content"]) for doc in row.given["docs"]]
    inline = [doc.get("inline", doc["content"]) for doc in row.given["docs"]]
    return [Entry(name=entry.name, text=entry.text, inline=shown) for entry, shown in zip(entries(docs), inline, strict=False)]


def test_golden_catalogue() -> None:
    """The catalogue is, byte for byte, the one that was reviewed."""
    docs = [document("~/AGENTS.md", "Be brief.\n"), document("AGENTS.md", LONG), document("svc/AGENTS.md", "### AGENTS.md\n\n```\n" + "code\n" * 20 + "```\n")]
    shown = "\n\n".join(f"===== {language} =====\n{catalog(docs, inline_bytes=64, language=language)}" for language in ("en", "zh"))
    listed = json.dumps([tool.as_dict() for tool in tools(docs, inline_bytes=64)], indent=2)

    check_golden("catalogue.md", f"# Openings of 64 bytes, and the tools that go with them\n\n{shown}\n\n===== tools =====\n{listed}\n")


def test_a_catalogue_of_whole_files_is_the_rendering() -> None:
    """Where everything fits there is nothing more to say."""
    docs = [document("AGENTS.md", "a\n"), document("b/AGENTS.md", "b"), document("c.md", " ")]

    assert catalog(docs) == render(docs, style="headings")
    assert catalog([], inline_bytes=1) == ""


@given(docs=documents, limit=st.integers(0, 60))
def test_no_opening_forges_a_heading(docs: list[Doc], limit: int) -> None:
    """The mark behind an opening stands as often as an opening is not the whole, whatever the texts are."""
    text = catalog(docs, inline_bytes=limit)
    cut = [entry for entry in entries(docs, inline_bytes=limit) if not entry.complete]

    assert sum(line.startswith("[excerpt ends here") for line in text.splitlines()) == len(cut)
    assert bool(text) == any(doc.text.strip() for doc in docs)


def test_an_opening_says_that_a_block_does_not_fit() -> None:
    """Where a fenced block is left out as a whole, the line behind the opening says so, in either language."""
    docs = [document("AGENTS.md", "Run this before each commit:\n\n```sh\n" + "make\n" * 20 + "```\n")]
    (entry,) = entries(docs, inline_bytes=40)
    texts = [catalog(docs, inline_bytes=40, language=language) for language in ("en", "zh")]

    assert ("Run this before each commit:", True) == (entry.inline, entry.stops_at_block)
    assert "[excerpt ends here, before a fenced block that does not fit — AGENTS.md is 140 bytes in full; call" in texts[0]
    assert "[节选到此为止，其后的代码块放不下，整块未显示 — AGENTS.md" in texts[1]


def test_tools_find_by_name() -> None:
    """The exact name comes first, then a file name that is the only one; a miss says what to do."""
    docs = [document("AGENTS.md", "root"), document("a/x.md", "ax"), document("b/x.md", "bx"), document("b/y.md", "by"), document("RULES", "r")]
    _, get = tools(docs)

    assert [get.call(name=name) for name in ("AGENTS.md", "./a/x.md", "y.md", "./RULES", " AGENTS.md ")] == ["root", "ax", "by", "r", "root"]
    assert get.call(name="x.md") == "There are 2 instruction files called x.md: a/x.md, b/x.md. Call again with one of these names."
    assert get.call(name="AGENT.md").startswith("There is no instruction file AGENT.md. The nearest: AGENTS.md.")
    assert get.call(name="\u202e") == "There is no instruction file \\u{202e}. Call project_list to see the names."


def test_names_of_their_own() -> None:
    """A host may call the tools what it likes, and the catalogue says the same."""
    docs = [document("AGENTS.md", LONG)]
    listing, get = tools(docs, get="projectGet", list_="projectList")

    assert (listing.name, get.name) == ("projectList", "projectGet")
    assert 'call projectGet("AGENTS.md")' in catalog(docs, inline_bytes=30, tool="projectGet")
    assert "projectList" in get.call(name="zzz")


@pytest.mark.parametrize("name", ["", " ", None, 7])
def test_error_get_without_a_name(name: Any) -> None:
    """Asking for nothing is misuse."""
    _, get = tools([document("AGENTS.md", "x")])
    with pytest.raises((OptionError, OptionTypeError), match="name"):
        get.call(name=name)


@pytest.mark.parametrize("call", [lambda: entries([], inline_bytes=-1), lambda: inline_bytes_for(0)], ids=["inline bytes", "window"])
def test_error_negative_sizes(call: Any) -> None:
    """A size that cannot be is misuse."""
    with pytest.raises(OptionError):
        call()


def test_window_that_is_not_known() -> None:
    """Without a window the usual size is shown."""
    assert inline_bytes_for(None) == 4096


TOOL = Tool(
    name="echo",
    description="Says it again.",
    parameters={
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 1}, "times": {"type": "integer"}, "any": {}, "loud": {"type": "boolean"}},
        "required": ["text"],
    },
    call=lambda text, times=1, **more: more or text * times,
)


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        pytest.param({"text": "a"}, "a", id="an object"),
        pytest.param('{"text": "a", "times": 2}', "aa", id="its JSON"),
        pytest.param({"text": "a", "any": [1]}, '{"any": [1]}', id="a result that is no text"),
        pytest.param({"text": "a", "loud": True}, '{"loud": true}', id="a boolean"),
        pytest.param("", "echo was not called: the argument `text` is missing.", id="none at all"),
        pytest.param("{", "echo was not called: its arguments are not JSON.", id="no JSON"),
        pytest.param("[" * 100_000, "echo was not called: its arguments are not JSON.", id="JSON that is too deep"),
        pytest.param("[1]", "echo was not called: its arguments are no JSON object.", id="no object"),
        pytest.param({"txt": "a"}, "echo was not called: it has no argument `txt`; it takes `text`, `times`, `any`, `loud`.", id="an unknown one"),
        pytest.param({"text": 1}, "echo was not called: `text` must be of the type string.", id="another type"),
        pytest.param({"text": "a", "times": True}, "echo was not called: `times` must be of the type integer.", id="a boolean is no number"),
        pytest.param({"text": ""}, "echo was not called: `text` must not be empty.", id="empty"),
    ],
)
def test_tool_run(arguments: Any, result: str) -> None:
    """A model gets a text, whatever it wrote."""
    assert TOOL.run(arguments) == result


def test_tool_as_dict() -> None:
    """What interfaces to models call a function."""
    assert TOOL.as_dict() == {"name": "echo", "description": "Says it again.", "parameters": TOOL.parameters}
    assert repr(TOOL) == "Tool(name='echo', description='Says it again.')"


@pytest.mark.parametrize("row", rows("projectctx", "head"))
def test_row_of_an_excerpt(row: Row) -> None:
    """The openings of the Go package, but for what it shows too little of, and for fenced blocks, which stay whole."""
    shown = excerpt(row.given["text"], row.given["max"]).text
    if row.standing == "mended" and not row.expected:
        assert shown.startswith(row.wrong["text"])
        assert shown != row.wrong["text"]
    else:
        assert row.expected["text"] == shown


@pytest.mark.parametrize("row", rows("projectctx", "catalog"))
def test_row_of_a_catalogue(row: Row) -> None:
    """The catalogue of the Go package, with prose of our own."""
    said = wording("en")
    expected = row.expected["text"].replace("{INTRO}", said.introduction).replace("{EXCERPT_NOTICE}", said.excerpts.format(tool="projectGet"))

    assert expected == catalog(given_docs(row), tool="projectGet")


@pytest.mark.parametrize("row", rows("projectctx", "complete"))
def test_row_of_completeness(row: Row) -> None:
    """A document without an opening of its own is shown whole."""
    assert row.expected["complete"] == [entry.complete for entry in given_docs(row)]


@pytest.mark.parametrize("row", rows("projectctx", "get"))
def test_row_of_get(row: Row) -> None:
    """Looking up by name, as the Go package does; two files of one name are both there."""
    shown = given_docs(row)
    _, get = tools(shown)
    if row.expected.get("throws"):
        with pytest.raises(OptionError):
            get.call(name=row.given["name"])
        return
    text = get.call(name=row.given["name"])

    if row.expected.get("miss"):
        assert "project_list" in text
    elif row.standing == "mended":
        assert [get.call(name=entry.name) for entry in shown] == [doc["content"] for doc in row.given["docs"]]
    else:
        assert row.expected["text"] == text


@pytest.mark.parametrize("row", rows("projectctx", "list"))
def test_row_of_list(row: Row) -> None:
    """The list in the order of the documents."""
    listing, _ = tools(given_docs(row))

    assert row.expected["rows"] == [list(line.values()) for line in listing.call()]
    assert json.loads(listing.run()) == listing.call()


@pytest.mark.parametrize("row", rows("projectctx", "packs"))
def test_row_of_no_tools(row: Row) -> None:
    """Where there is nothing to fetch there are no tools."""
    assert row.expected["count"] == len(tools(given_docs(row)))


@pytest.mark.parametrize("row", rows("projectctx", "profile"))
def test_row_of_windows(row: Row) -> None:
    """How much is shown follows from the window."""
    assert row.expected["inline_bytes"] == list(map(inline_bytes_for, row.given["windows"]))
