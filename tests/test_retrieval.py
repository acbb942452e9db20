"""The tools by which a model reads and lists files: what it may pass, and what it is told."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs import Limits, Preprocessor, RootClosedError, build_section, load, parse, retrieval
from filerefs.fetching import LONGEST
from filerefs.retrieval import Tool, file_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Tree

FILES = {
    "src/app.py": "def main():\n    return 1\n",
    "src/lines.txt": "".join(f"line {number}\n" for number in range(1, 51)),
    "docs/a.md": "a\n",
    "docs/b.md": "b ```` b\n",
    "my file.txt": "blanks\n",
    "a,b.csv": "1,2\n",
    "README": "read me\n",
    "[id].js": "page\n",
    "@scope/x.js": "x\n",
    "odd\u202ename.txt": "odd\n",
    "build/out.js": "built\n",
    ".gitignore": "build/\n",
    ".env": "TOKEN=sesame\n",
    ".git/config": "[core]\n",
}


@pytest.fixture
def folder(tree: Tree) -> Path:
    """A project, and a file beside it."""
    (tree.folder.parent / "outside.txt").write_text("sesame\n", encoding="utf-8")
    return tree({**FILES, "way out": tree.link("../outside.txt"), "pipe": tree.fifo()})


@pytest.fixture
def files(folder: Path) -> Iterator[Preprocessor]:
    with Preprocessor(folder) as preprocessor:
        yield preprocessor


@pytest.fixture
def tools(files: Preprocessor) -> dict[str, Tool]:
    return {tool.name: tool for tool in file_tools(files)}


@pytest.fixture
def read(tools: dict[str, Tool]) -> Callable[[str], str]:
    return lambda ref: tools["read_ref"].run({"ref": ref})


@pytest.fixture
def names(tools: dict[str, Tool]) -> Callable[..., list[str]]:
    """What `list_files` answers, its headline left out."""
    return lambda **arguments: tools["list_files"].run(arguments).split("\n")[1:]


def _block(folder: Path, *refs: str) -> str:
    """Return what the section shows of *refs*: all behind its heading and its paragraph."""
    outcomes = load(parse(" ".join(refs)), folder)
    return build_section(outcomes).split("\n\n", 2)[2].rpartition("\n")[0]


@pytest.mark.parametrize(
    ("ref", "same"),
    [
        pytest.param("src/app.py", ["@src/app.py"], id="a name"),
        pytest.param("@src/app.py", ["@src/app.py"], id="a mention"),
        pytest.param("./src/app.py", ["@src/app.py"], id="a dot in front"),
        pytest.param("  src/app.py\n", ["@src/app.py"], id="blanks around"),
        pytest.param("`src/app.py`", ["@src/app.py"], id="in backticks"),
        pytest.param("src\\app.py", ["@src/app.py"], id="backslashes"),
        pytest.param("src/lines.txt:10-12", ["@src/lines.txt:10-12"], id="a range"),
        pytest.param("src/lines.txt#L10-L12", ["@src/lines.txt:10-12"], id="a range as code hosts write it"),
        pytest.param("src/lines.txt:48-", ["@src/lines.txt:48-"], id="a range to the end"),
        pytest.param("src/lines.txt:10-12, src/lines.txt:30", ["@src/lines.txt:10-12", "@src/lines.txt:30"], id="two ranges of one file"),
        pytest.param("docs/", ["@docs/"], id="a folder"),
        pytest.param("docs", ["@docs/"], id="a folder without its slash"),
        pytest.param(".", ["@./"], id="the root"),
        pytest.param("my file.txt", ['@"my file.txt"'], id="blanks in a name"),
        pytest.param("my file.txt:1", ['@"my file.txt":1'], id="blanks in a name, and a line"),
        pytest.param('@"my file.txt":1', ['@"my file.txt":1'], id="a mention in quotes"),
        pytest.param("a,b.csv", ["@a,b.csv"], id="a comma in a name"),
        pytest.param("@scope/x.js", ["@@scope/x.js"], id="an at-sign in a name"),
        pytest.param('"odd\\u{202e}name.txt"', ['@"odd\\u{202e}name.txt"'], id="a hidden character as list_files writes it"),
        pytest.param("src/app.py, docs/a.md", ["@src/app.py", "@docs/a.md"], id="two with a comma"),
        pytest.param("src/app.py\ndocs/a.md", ["@src/app.py", "@docs/a.md"], id="two in two lines"),
        pytest.param("docs/a.md src/app.py", ["@docs/a.md", "@src/app.py"], id="two with a blank"),
        pytest.param('["src/app.py", "docs/a.md"]', ["@src/app.py", "@docs/a.md"], id="two as JSON"),
        pytest.param("[id].js, docs/a.md", ['@"[id].js"', "@docs/a.md"], id="two, one with brackets that are no JSON"),
        pytest.param("my file.txt, src/app.py", ['@"my file.txt"', "@src/app.py"], id="two, one with blanks"),
        pytest.param("@src/app.py and @docs/a.md please", ["@src/app.py", "@docs/a.md"], id="two in a sentence"),
        pytest.param("build/out.js", ["@build/out.js"], id="an ignored file by its name"),
    ],
)
def test_read_ref_is_what_a_section_shows(folder: Path, read: Callable[[str], str], ref: str, same: list[str]) -> None:
    """What exists is answered with the blocks of a message's section, however it is written."""
    assert _block(folder, *same) == read(ref)


@pytest.mark.parametrize(
    ("ref", "sentence"),
    [
        pytest.param("/etc/passwd", "an absolute path", id="absolute"),
        pytest.param("../outside.txt", "it leads out of the root folder", id="beside the root"),
        pytest.param("src/../../outside.txt", "it leads out of the root folder", id="out by a detour"),
        pytest.param("@../outside.txt", "it leads out of the root folder", id="beside the root as a mention"),
        pytest.param("~/.ssh/id_rsa", "a path in a home folder", id="a home folder"),
        pytest.param("way out", "it is a symbolic link", id="a link"),
        pytest.param("pipe", "a pipe, socket or device", id="a pipe"),
        pytest.param(".env", "its name is that of a file with credentials", id="a secret"),
        pytest.param(".env:1-3", "its name is that of a file with credentials", id="lines of a secret"),
        pytest.param("src/../.ENV", "no such file", id="a secret in other letters that is not there"),
        pytest.param(".git/config", "its name is that of a file with credentials", id="below a secret folder"),
        pytest.param("src/app.py/x", "a part of the path is a file", id="below a file"),
        pytest.param("src/lines.txt:90", "the file has 50 lines", id="behind the last line"),
        pytest.param("src/ap.py", "did you mean @src/app.py?", id="a near name"),
        pytest.param("nowhere", "no such file — list_files shows the names.", id="no near name"),
        pytest.param("src/*.py", "wildcards are not expanded", id="a wildcard"),
        pytest.param("a\0b", "no such file", id="NUL"),
        pytest.param(" ", "Nothing was named", id="blank"),
        pytest.param("x" * (LONGEST + 1), "characters at most", id="far too long"),
        pytest.param("x/" * 3000, "no file can have this name: it is too long", id="too long for a name"),
    ],
)
def test_error_read_ref_says_why_in_a_sentence(read: Callable[[str], str], ref: str, sentence: str) -> None:
    """What is not read has one line with the reason, and nothing of what is outside or secret."""
    answer = read(ref)

    assert sentence in answer
    assert "\n" not in answer
    assert "sesame" not in answer
    assert answer.endswith((".", "?"))


def test_error_one_of_several_does_not_cost_the_others(read: Callable[[str], str]) -> None:
    """What is there is shown, what is not is said behind it."""
    answer = read("docs/a.md, docs/nothing.md, .env")

    assert answer.startswith("### docs/a.md\n")
    assert "Could not read docs/nothing.md: no such file" in answer
    assert "Could not read .env: its name" in answer


def test_read_ref_keeps_the_limits_of_the_preprocessor(folder: Path) -> None:
    """A file is cut as for a message, and says so; all of a call share one total."""
    with Preprocessor(folder, limits=Limits(file_bytes=30, total_bytes=40)) as files:
        read = file_tools(files)[0]

        assert "Cut: this is only lines 1-4" in read.run({"ref": "src/lines.txt"})
        assert "no room for it in the total of 40 B" in read.run({"ref": "src/lines.txt, src/app.py"})


def test_read_ref_looks_at_a_hundred_names(read: Callable[[str], str]) -> None:
    """A list without end is not read to its end, and the model is told."""
    answer = read(",".join(["docs/a.md", *(f"missing{number}.md" for number in range(500))]))

    assert answer.startswith("### docs/a.md\n")
    assert answer.endswith("Only the first 100 of 501 names were looked at.")


def test_read_ref_sees_a_change(folder: Path, read: Callable[[str], str]) -> None:
    """Every call reads anew."""
    before = read("docs/a.md")
    (folder / "docs/a.md").write_text("changed\n", encoding="utf-8")

    assert "changed" not in before
    assert "changed" in read("docs/a.md")


def test_secrets_and_links_that_the_host_allows(folder: Path) -> None:
    """The options of the Preprocessor hold for its tools."""
    with Preprocessor(folder, allow=(".env",)) as files:
        read, list_files = file_tools(files)

        assert "TOKEN=sesame" in read.run({"ref": ".env"})
        assert ".env\n" in list_files.run()


def test_list_files_breadth_first(names: Callable[..., list[str]]) -> None:
    """Names come by level, folders with a slash, without what rules ignore, and what was left out is counted."""
    assert [
        ".gitignore",
        "@scope/",
        "README",
        "[id].js",
        "a,b.csv",
        "docs/",
        "my file.txt",
        '"odd\\u{202e}name.txt"',
        "pipe",
        "src/",
        "way out",
        "@scope/x.js",
        "docs/a.md",
        "docs/b.md",
        "src/app.py",
        "src/lines.txt",
        "1 name was left out by ignore rules.",
        "2 names were left out because they may hold credentials.",
    ] == names()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param({"folder": "src"}, ["src/app.py", "src/lines.txt"], id="a folder"),
        pytest.param({"folder": "@src/"}, ["src/app.py", "src/lines.txt"], id="a folder as a mention"),
        pytest.param({"folder": "./docs/../src"}, ["src/app.py", "src/lines.txt"], id="a folder by a detour"),
        pytest.param({"folder": "build"}, ["build/out.js"], id="an ignored folder by its name"),
        pytest.param({"folder": "src", "pattern": "*.py"}, ["src/app.py"], id="a glob in a folder"),
        pytest.param({"folder": "src", "pattern": "src/*.py"}, ["src/app.py"], id="a glob from the root"),
        pytest.param({"folder": "src", "pattern": "./*.py"}, ["src/app.py"], id="a glob with a dot in front"),
        pytest.param({"folder": "docs", "pattern": "*.{txt,md}"}, ["docs/a.md", "docs/b.md"], id="braces"),
        pytest.param({"folder": "docs", "pattern": "**/b.*"}, ["docs/b.md"], id="two stars"),
        pytest.param({"folder": "src", "pattern": "LINES"}, ["src/lines.txt"], id="a part of a name, whatever its case"),
        pytest.param({"folder": "src", "pattern": "!*.py"}, ["src/app.py"], id="no negation"),
        pytest.param({"folder": "docs", "limit": 1}, ["docs/a.md", "There is more"], id="a limit"),
        pytest.param({"folder": "docs", "limit": -5}, ["docs/a.md", "There is more"], id="a limit below one"),
        pytest.param({"folder": "docs", "limit": 2}, ["docs/a.md", "docs/b.md"], id="exactly the limit"),
        pytest.param({"folder": "docs", "pattern": "*.md", "limit": 1}, ["docs/a.md", "There is more"], id="a limit of those that match"),
        pytest.param({"folder": "docs", "pattern": "*.py"}, [], id="no match"),
    ],
)
def test_list_files_by_folder_pattern_and_limit(names: Callable[..., list[str]], arguments: dict[str, object], expected: list[str]) -> None:
    """The names that match are listed, at most as many as were asked for, and it is said when there are more."""
    found = names(**arguments)

    assert len(expected) == len(found)
    assert all(line.startswith(beginning) for line, beginning in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        pytest.param("/etc", "Could not list /etc: an absolute path", id="absolute"),
        pytest.param("..", "Could not list ..: it leads out of the root folder", id="above the root"),
        pytest.param(".git", "Could not list .git: its name is that of", id="a secret folder"),
        pytest.param("README", "Could not list README: a file, not a folder.", id="a file"),
        pytest.param("doc", "Could not list doc: no such folder — did you mean @docs/?", id="a near name"),
        pytest.param("way out", "Could not list way out: it is a symbolic link", id="a link"),
    ],
)
def test_error_list_files_says_why_in_a_sentence(tools: dict[str, Tool], asked: str, sentence: str) -> None:
    """A folder that is not listed has one line with the reason."""
    answer = tools["list_files"].run({"folder": asked})

    assert answer.startswith(sentence)
    assert "\n" not in answer


def test_error_list_files_refuses_a_pattern_without_end(tools: dict[str, Tool]) -> None:
    """A pattern that would take long to compare is not compared."""
    assert "200 bytes at most" in tools["list_files"].run({"pattern": "{a,b}" * 100})
    assert "200 bytes at most" in tools["list_files"].run({"pattern": "文" * 100 + "*"})


def test_list_files_bounds_what_braces_make(names: Callable[..., list[str]]) -> None:
    """Braces that stand for thousands of patterns cost no more than a few, and that not all were tried is said."""
    shown = names(folder="src", pattern="{app,x}" + "{.,y}{p,z}{y,w}" + "{,a}{,b}{,c}{,d}{,e}{,f}{,g}{,h}{,i}{,j}")

    assert ["src/app.py", "The braces stand for more than 64 patterns; only the first 64 were tried."] == shown


def test_list_files_keeps_the_limits_of_the_preprocessor(folder: Path) -> None:
    """A list is no longer than a file may be, and no more names of a folder are read than for a message."""
    with Preprocessor(folder, limits=Limits(file_bytes=20, directory_entries=3)) as files:
        lines = file_tools(files)[1].run({"folder": "src"}).split("\n")

    assert ["src/app.py"] == lines[1:2]
    assert lines[2].startswith("There is more")


MORE = "There is more: ask for a folder, for a pattern, or for a higher limit (1000 at most)."
NARROWER = "There is more: ask for a folder or for a pattern."
UNLISTED = "no more than 3 names are looked at: the others are not listed by any call, but read_ref reads them."


@pytest.mark.parametrize(
    ("crowded", "arguments", "notes"),
    [
        pytest.param([], {}, [], id="neither"),
        pytest.param(["many"], {}, [f"In many/ {UNLISTED}"], id="a folder with more names than are looked at"),
        pytest.param(["many"], {"folder": "many"}, [f"In many/ {UNLISTED}"], id="that folder itself"),
        pytest.param(["many"], {"folder": "few"}, [], id="another one"),
        pytest.param(["many"], {"pattern": "few/*"}, [f"In many/ {UNLISTED}"], id="with a pattern"),
        pytest.param(["many", "most"], {}, [f"In each of 2 folders, of which many/ is the first, {UNLISTED}"], id="two folders"),
        pytest.param(["many"], {"folder": "many", "limit": 1}, [MORE, f"In many/ {UNLISTED}"], id="and more than are shown"),
        pytest.param(["many"], {"limit": 2}, [MORE], id="a folder that was not come to"),
        pytest.param([], {"folder": "few", "limit": 1}, [MORE], id="more than are shown alone"),
    ],
)
def test_list_files_tells_what_is_not_shown_from_what_is_not_looked_at(tree: Tree, crowded: list[str], arguments: dict[str, object], notes: list[str]) -> None:
    """That there is more is said only where a call can get it; of a folder that is too full, which it is."""
    made = {f"{name}/{number}": "" for name in crowded for number in range(5)}
    with Preprocessor(tree({"few/a": "", "few/b": "", **made}), limits=Limits(directory_entries=3)) as files:
        lines = file_tools(files)[1].run(arguments).split("\n")

    assert notes == [line for line in lines if line.startswith(("There is", "In ", "More"))]


def test_list_files_of_a_root_that_is_too_full(tree: Tree) -> None:
    """It is called what the answer calls it everywhere."""
    with Preprocessor(tree({str(number): "" for number in range(5)}), limits=Limits(directory_entries=3)) as files:
        lines = file_tools(files)[1].run().split("\n")

    assert lines[-1] == f"In the root folder {UNLISTED}"


def test_list_files_advises_what_helps(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A higher limit is named only where it would show more."""
    folder = tree({f"{number:02}.txt": "" for number in range(30)})
    monkeypatch.setattr("filerefs.listings.MOST", 10)
    monkeypatch.setattr("filerefs.listings.SEARCHED", 20)
    with Preprocessor(folder) as files, Preprocessor(folder, limits=Limits(file_bytes=20)) as narrow:
        listing, short = file_tools(files)[1], file_tools(narrow)[1]

        assert listing.run({"limit": 9}).endswith("\nThere is more: ask for a folder, for a pattern, or for a higher limit (10 at most).")
        assert listing.run({"limit": 10}).endswith(f"\n{NARROWER}")
        assert short.run({"limit": 9}).endswith(f"\n{NARROWER}")
        assert listing.run({"pattern": "2"}).endswith("\nMore names may match, since not all were compared with the pattern: ask for a folder.")


def test_list_files_without_limits(folder: Path) -> None:
    """Without a limit for files a list is as long as its own."""
    with Preprocessor(folder, limits=Limits(file_bytes=None)) as files:
        assert "docs/b.md" in file_tools(files)[1].run()


@pytest.mark.parametrize("name", ["src/app.py", "my file.txt", "a,b.csv", "@scope/x.js", "README", '"odd\\u{202e}name.txt"', "docs/"])
def test_what_is_listed_can_be_read(names: Callable[..., list[str]], read: Callable[[str], str], name: str) -> None:
    """A line of the list is a name that read_ref takes."""
    assert name in names()
    assert read(name).startswith("### ")


def test_schemas_are_json(tools: dict[str, Tool]) -> None:
    """Each tool has a description and the schema of an object, as model interfaces ask for."""
    for tool in tools.values():
        described = json.loads(json.dumps(tool.as_dict()))
        assert described["parameters"]["type"] == "object"
        assert all("description" in one for one in described["parameters"]["properties"].values())
    assert ["read_ref", "list_files"] == list(tools)


def test_error_wrong_arguments_are_sentences(tools: dict[str, Tool]) -> None:
    """What does not fit the schema is said to the model and never raised."""
    assert "read_ref was not called: the argument `ref` is missing." == tools["read_ref"].run()
    assert "read_ref was not called: `ref` must be of the type string." == tools["read_ref"].run({"ref": ["a", "b"]})
    assert "list_files was not called: `limit` must be of the type integer." == tools["list_files"].run('{"limit": "many"}')


@pytest.mark.parametrize(
    ("arguments", "same"),
    [
        pytest.param({"folder": None}, {}, id="one argument"),
        pytest.param({"folder": None, "pattern": None, "limit": None}, {}, id="all arguments"),
        pytest.param({"folder": "docs", "pattern": None, "limit": 1}, {"folder": "docs", "limit": 1}, id="one between others"),
        pytest.param('{"folder": null, "limit": 2}', {"limit": 2}, id="in JSON"),
        pytest.param("null", {}, id="null for all arguments"),
        pytest.param(None, {}, id="None for all arguments"),
    ],
)
def test_null_is_left_out(tools: dict[str, Tool], arguments: Any, same: dict[str, object]) -> None:
    """What a model in a strict mode writes for an argument that it leaves out is an argument that is left out."""
    listing = tools["list_files"]

    assert listing.run(same) == listing.run(arguments)
    if isinstance(arguments, dict):
        assert listing.run(same) == listing.call(**arguments)


def test_error_null_for_what_is_needed(tools: dict[str, Tool]) -> None:
    """An argument that is needed is missing where it is null, and one that there is not is refused as ever."""
    assert "read_ref was not called: the argument `ref` is missing." == tools["read_ref"].run({"ref": None})
    assert "read_ref was not called: the argument `ref` is missing." == tools["read_ref"].run("null")
    assert tools["list_files"].run({"path": None}).startswith("list_files was not called: it has no argument `path`")


def test_null_is_handed_on_where_the_schema_has_it() -> None:
    """A tool of a host's own that takes null gets it."""
    schema = {"type": "object", "properties": {"one": {"type": ["string", "null"]}}}
    tool = Tool(name="own", description="", parameters=schema, call=lambda one="left out": one)

    assert ["null", "left out"] == [tool.run({"one": None}), tool.run({})]


def test_error_after_closing(folder: Path) -> None:
    """Tools of a Preprocessor that was closed are the host's mistake, and raise."""
    with Preprocessor(folder) as files:
        read, list_files = file_tools(files)

    with pytest.raises(RootClosedError):
        read.run({"ref": "README"})
    with pytest.raises(RootClosedError):
        list_files.run()


def test_tools_may_be_shared_by_threads(read: Callable[[str], str]) -> None:
    """Calls at once answer as one by one."""
    refs = ["src/app.py", "docs/", "nowhere", "src/lines.txt:4-9"] * 8
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(read, refs))

    assert [read(ref) for ref in refs] == answers


PIECES = st.sampled_from(
    [
        "src/app.py",
        "docs/",
        "..",
        "/",
        "~",
        "@",
        '"',
        "'",
        "`",
        " ",
        ",",
        "\n",
        "[",
        "]",
        ":3-9",
        "#L2",
        "\\",
        "\0",
        "\ud800",
        "é",
        "*",
        "{a,b}",
        ".env",
        "way out",
        "!",
    ]
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=12).map("".join))


@given(text=TEXTS)
def test_any_text_gets_an_answer(tools: dict[str, Tool], text: str) -> None:
    """Whatever a model passes, the answer is text that can be sent, and nothing outside or secret is in it."""
    for answer in (tools["read_ref"].call(text), tools["list_files"].call(text), tools["list_files"].call(".", text, 7)):
        assert answer
        assert "sesame" not in answer.encode().decode()


def test_advice_is_that_of_whoever_reads(folder: Path) -> None:
    """A host whose reader has no tools says what that one can do about a name that nothing is called by."""
    with Preprocessor(folder) as files:
        problems = [retrieval.fetch(files, "nothing-like-it.py, zzz", advice=advice).problems for advice in ("", "ask somebody")]

    assert [problem.rpartition(" — ")[2] for problem in problems[0]] == ["list_files shows the names."]
    assert [problem.rpartition(" — ")[2] for problem in problems[1]] == ["ask somebody."]
