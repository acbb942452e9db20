"""`@path` in instruction files: what is one, where it is looked for, where it goes, and what is said of those that fail."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs import preprocess
from filerefs.agentsmd import imports, roots
from filerefs.agentsmd.discovery import discover
from filerefs.agentsmd.documents import Discovery, Doc, Omission
from filerefs.agentsmd.imports import expand_imports
from filerefs.agentsmd.masking import mask
from filerefs.agentsmd.profiles import CODEX, DEFAULT, EINO, PROJECTCTX
from filerefs.errors import OptionError
from filerefs.mentions import scan
from filerefs.root import Node

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Tree


def found_in(folder: Path, *, depth: int = 5, placement: Any = "after", **options: Any) -> Discovery:
    """Return what is found in a folder, imports expanded."""
    return expand_imports(discover(folder, **options), depth, placement=placement)


def names(found: Discovery) -> list[str]:
    """Return the names of the documents, in print order."""
    return [doc.name for doc in found]


def complaints(found: Discovery) -> list[tuple[str, str]]:
    """Return what could not be imported, and why."""
    return [(problem.name, problem.detail) for problem in found.problems]


# What follows is one table: a text, and the names of what it imports.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("see @a.md", ["a.md"], id="in a sentence"),
        pytest.param("- @a.md\n- @b.md\n", ["a.md", "b.md"], id="in a list"),
        pytest.param("see @a.md, @b.md.", ["a.md", "b.md"], id="before punctuation"),
        pytest.param('see @"a.md" and (@b.md)', ["a.md", "b.md"], id="quoted, in brackets"),
        pytest.param("> @a.md", ["a.md"], id="in a quote"),
        pytest.param("[@a.md]", ["a.md"], id="in brackets that are no link"),
        pytest.param("[@a.md] [ @A.md\nx] @b.md\n\n[@a.md]: /x\n[@a.md X]: /y\n", ["b.md"], id="not in the text of a link that is defined elsewhere"),
        pytest.param("`@a.md` @b.md", ["b.md"], id="not in a code span"),
        pytest.param("```\n@a.md\n```\n@b.md", ["b.md"], id="not in a fenced block"),
        pytest.param("~~~ text\n@a.md\n~~~\n@b.md", ["b.md"], id="not in a block fenced by tildes"),
        pytest.param("> ```\n> @a.md\n> ```\n> @b.md", ["b.md"], id="not in a fenced block in a quote"),
        pytest.param("> ```\n> @a.md\n@b.md", ["b.md"], id="a quote that ends, ends its block"),
        pytest.param("1. do\n\n   ```\n   @a.md\n\n   @a.md\n   ```\n\n   @b.md", ["b.md"], id="not in a fenced block in a list"),
        pytest.param("```\n@a.md\n@b.md", [], id="a block that is never closed goes to the end"),
        pytest.param("text\n\n    @a.md\n\n@b.md", ["b.md"], id="not in indented code"),
        pytest.param("text\n\n\t@a.md\n\n\t@a.md\n@b.md", ["b.md"], id="not in code indented by a tab"),
        pytest.param("# Heading\n    @a.md\n@b.md", ["b.md"], id="not in indented code below a heading"),
        pytest.param("text\n    @a.md", ["a.md"], id="an indented line of a paragraph is no code"),
        pytest.param("- x\n    - @a.md\n\n    @b.md", ["a.md", "b.md"], id="what belongs to a list is no code"),
        pytest.param("- x\n\n      @a.md\n\n@b.md", ["b.md"], id="code in a list is"),
        pytest.param("1. x\n   - y\n\n     @a.md\n", ["a.md"], id="a paragraph two lists deep is none"),
        pytest.param("<!-- @a.md --> @b.md", ["b.md"], id="not in a comment"),
        pytest.param("<!-- x\n\n@a.md\n--> @b.md", ["b.md"], id="not in a comment of several lines"),
        pytest.param("text <!-- @a.md\n@a.md --> @b.md", ["b.md"], id="not in a comment inside of a paragraph"),
        pytest.param("`<!--` @a.md `-->` @b.md", ["a.md", "b.md"], id="in code nothing opens a comment"),
        pytest.param("<!-- ` --> @a.md `x`", ["a.md"], id="in a comment nothing opens code"),
        pytest.param("text <!-- @a.md", ["a.md"], id="a comment that is never closed inside of a line is none"),
        pytest.param("[@a.md](https://x.test) @b.md", ["b.md"], id="not in the text of a link"),
        pytest.param("[x](@a.md) ![y](@a.md) @b.md", ["b.md"], id="not in the target of a link or an image"),
        pytest.param('[x](<@a.md> "@a.md") @b.md', ["b.md"], id="not in the title of a link"),
        pytest.param("[[@a.md] x](y) @b.md", ["b.md"], id="not in a link with brackets in its text"),
        pytest.param("[@a.md][x] @b.md\n\n[x]: @a.md\n", ["b.md"], id="not in a link by label, nor in its definition"),
        pytest.param("[x]: [y](@a.md)\n@b.md", ["b.md"], id="not in a link in a definition"),
        pytest.param("[@a.md]\n\n(x) @b.md", ["a.md", "b.md"], id="brackets of two paragraphs are no link"),
        pytest.param("`[` @a.md](x) @b.md", ["a.md", "b.md"], id="a bracket in code opens no link"),
        pytest.param("\\[@a.md](x) @b.md", ["a.md", "b.md"], id="an escaped bracket opens no link"),
        pytest.param("[`x` <!-- @a.md -->](y) [x]: @b.md", ["b.md"], id="not in a comment in a link"),
        pytest.param("- ```sh\n  @a.md\n  ```\n  @b.md", ["b.md"], id="not in a block that begins beside its bullet"),
        pytest.param("- x\n  ```\n  @a.md\n@b.md", ["b.md"], id="a list item that ends, ends its block"),
        pytest.param("-     @a.md\n- @b.md", ["b.md"], id="not in code beside a bullet"),
        pytest.param("x\r```\r@a.md\r```\r@b.md", ["b.md"], id="not in a block with bare carriage returns"),
        pytest.param("<pre>\n\n@a.md</pre>\n@b.md", ["b.md"], id="not in preformatted text"),
        pytest.param("<div>\n@a.md\n</div>\n", ["a.md"], id="in other HTML"),
        pytest.param("mail x@a.md, \\@a.md, x.com/@a.md", [], id="not what is no mention anywhere"),
        pytest.param("@a.md @A.md @./a.md", ["a.md"], id="each file once"),
        pytest.param("@my file.md now", ["my file.md"], id="a name with a blank"),
        pytest.param("看@a.md的内容", ["a.md"], id="between characters of a script without blanks"),
    ],
)
def test_what_an_import_is(text: str, expected: list[str], tree: Tree) -> None:
    """The grammar of mentions, outside of code, comments and links."""
    folder = tree({"AGENTS.md": text, "a.md": "A", "b.md": "B", "my file.md": "M"})

    found = found_in(folder)

    assert expected == names(found)[1:]
    assert text == found.docs[0].text


SIGNS = st.sampled_from(
    ["@a.md ", "`", "```\n", "\n", "\r\n", "    ", "\t", "- ", "> ", "<!--", "-->", "[", "](", ")", "]: ", "\\", "x", "# ", "~~~\n", "1. ", "é"]
)


@given(text=st.lists(SIGNS, max_size=40).map("".join))
def test_blanking_out_moves_nothing(text: str) -> None:
    """A blanked text is as long, has the same lines, and every character in it is the same or a blank."""
    masked = mask(text)

    assert len(text) == len(masked)
    assert all(new in (old, " ") for old, new in zip(text, masked, strict=True))
    assert [text.count("\n"), text.count("\r")] == [masked.count("\n"), masked.count("\r")]
    assert masked == mask(masked) or "@" in masked


@given(text=st.text("ab @.\n", max_size=60))
def test_plain_text_is_not_touched(text: str) -> None:
    """Where nothing is code, a comment or a link, the text is that of a message."""
    flat = "\n".join(line.lstrip(" ") for line in text.split("\n"))

    assert flat == mask(flat)
    assert scan(flat) == scan(mask(flat))


@pytest.mark.parametrize(
    "unit", ["[@", "[@a](", "](@", "[](<@", "`@ <!-- ", "    @a\n", "- @", ">@", "[a]:@", "```@\n", "\\[@", "<!--@", "[@a][", "[[a]]:@\n", "\n\n\t- @"]
)
def test_hostile_texts_cost_no_more_than_others(unit: str) -> None:
    """Twice the text is about twice the work: so much that a square would never end goes through."""
    text = unit * (200_000 // len(unit))

    assert len(text) == len(mask(text))


def test_relative_to_the_file_that_holds_it(tree: Tree) -> None:
    """At every level; depth first, behind the file that names it."""
    folder = tree({"AGENTS.md": "@docs/a.md @z.md", "docs/a.md": "@b.md @sub/c.md @../x.md", "docs/b.md": "B", "docs/sub/c.md": "@d.md", "docs/sub/d.md": "D"})
    tree({"x.md": "X", "z.md": "Z", "b.md": "not this one"})

    found = found_in(folder)

    assert ["AGENTS.md", "docs/a.md", "docs/b.md", "docs/sub/c.md", "docs/sub/d.md", "x.md", "z.md"] == names(found)
    assert ("AGENTS.md", "docs/a.md", "docs/sub/c.md") == found.docs[4].imported_by
    assert () == found.problems


def test_imports_of_a_folder_hold_where_it_does(tree: Tree) -> None:
    """An import belongs to the scope and the root of the file that leads to it, and says so."""
    folder = tree({".git": None, "x.md": "X", "a/AGENTS.md": "@../x.md"})

    assert [("a/AGENTS.md", "a/", "chain"), ("x.md", "a/", "import")] == [(doc.name, doc.scope, doc.origin) for doc in found_in(folder / "a")]


def test_in_place(tree: Tree) -> None:
    """The text takes the place of the token, nothing around it changes, and a second mention refers back."""
    folder = tree({"AGENTS.md": "1 @c.md\n2 @c.md\n3 @none.md\n", "c.md": "C mentions @c.md and @d.md\n", "d.md": "D\n"})

    found = found_in(folder, placement="inline")

    [doc] = found.docs
    assert "1 C mentions @c.md and D\n2 (see c.md)\n3 @none.md\n" == doc.text
    assert doc.shown == len(doc.text)
    assert [("@c.md", "imported in a circle"), ("@none.md", "no such file")] == complaints(found)


def test_in_place_closes_what_is_open(tree: Tree) -> None:
    """A fenced block that an import leaves open does not swallow what comes behind."""
    folder = tree({"AGENTS.md": "@c.md\nbehind\n", "c.md": "```\ncode\n"})

    assert "```\ncode\n```\nbehind\n" == found_in(folder, placement="inline").docs[0].text


def test_what_is_put_in_place_leaves_no_comment_open(tree: Tree) -> None:
    """What the host says behind it stays visible, whatever an end further down would make of it."""
    folder = tree({"AGENTS.md": "@a.md\nbehind --> and more\n", "a.md": "A <!-- never closed\n"})

    assert "A &lt;!-- never closed\nbehind --> and more\n" == found_in(folder, placement="inline").docs[0].text


def test_what_was_found_is_not_imported_again(tree: Tree) -> None:
    """A file that is a document by itself stays where it is."""
    folder = tree({".git": None, "AGENTS.md": "@a/AGENTS.md", "a/AGENTS.md": "A"})

    assert ["AGENTS.md", "a/AGENTS.md"] == names(found_in(folder / "a"))
    assert ["(see a/AGENTS.md)", "A"] == [doc.text for doc in found_in(folder / "a", placement="inline")]


def test_a_shadowed_file_may_be_imported(tree: Tree) -> None:
    """An override that names what it overrides gets it."""
    assert ["mine @AGENTS.md", "theirs"] == [doc.text for doc in found_in(tree({"AGENTS.override.md": "mine @AGENTS.md", "AGENTS.md": "theirs"}))]


def test_circles_are_told_with_their_chain(tree: Tree) -> None:
    """By identity, not by name: a link is the same file; two ways to one file are no circle."""
    folder = tree({"AGENTS.md": "@a.md @b.md", "a.md": "@b.md @again.md", "b.md": "@a.md", "again.md": tree.link("AGENTS.md")})

    found = found_in(folder)

    assert ["AGENTS.md", "a.md", "b.md"] == names(found)
    assert ["@a.md: imported in a circle (AGENTS.md → a.md → b.md → a.md)", "@again.md: imported in a circle (AGENTS.md → a.md → AGENTS.md)"] == [
        problem.summary for problem in found.problems
    ]


@pytest.mark.parametrize(("depth", "expected"), [(0, 1), (1, 2), (2, 3), (5, 6), (9, 8)])
def test_depth(depth: int, expected: int, tree: Tree) -> None:
    """So many levels, and what lies deeper is a problem, not an absence."""
    folder = tree({"AGENTS.md": "@1.md", **{f"{number}.md": f"@{number + 1}.md" for number in range(1, 7)}, "7.md": "end"})

    found = found_in(folder, depth=depth)

    assert expected == len(found)
    assert (expected < 8) == bool(found.problems)


@pytest.mark.parametrize(
    ("token", "detail"),
    [
        pytest.param("@none.md", "no such file", id="missing"),
        pytest.param("@docs/", "a folder, which is not imported", id="a folder"),
        pytest.param("@docs", "a folder, which is not imported", id="a folder without a slash"),
        pytest.param("@../secret.md", "it leads out of the root folder", id="outside"),
        pytest.param("@out.md", "it leads out of the root folder", id="a link to outside"),
        pytest.param("@/etc/hostname", "an absolute path; names are relative to the root folder", id="absolute"),
        pytest.param("@~/x.md", "a path in a home folder; names are relative to the root folder", id="in the home folder"),
        pytest.param("@.env", "its name is that of a file with credentials", id="a secret"),
        pytest.param("@pipe.md", "a pipe, socket or device, not a file", id="a pipe"),
        pytest.param("@image.png", "not a text file", id="a picture"),
        pytest.param("@binary.md", "not a text file", id="a binary"),
    ],
)
def test_what_cannot_be_imported(token: str, detail: str, tree: Tree) -> None:
    """It is reported with the file that names it, stays as it was written, and costs nothing else."""
    tree({"secret.md": "S", "p/.git": None, "p/AGENTS.md": f"{token} @good.md", "p/good.md": "G", "p/docs/x": "", "p/.env": "K=1"})
    folder = tree({"p/out.md": tree.link("../secret.md"), "p/pipe.md": tree.fifo(), "p/image.png": b"\x89PNG\r\n\x1a\n\0", "p/binary.md": b"\x7fELF\0"})

    found = found_in(folder / "p", placement="inline")

    assert [(token, detail)] == complaints(found)
    assert [("AGENTS.md",)] == [problem.chain for problem in found.problems]
    assert f"{token} G" == found.docs[0].text


def test_blank_imports_are_left_out(tree: Tree) -> None:
    """They are reported like any other blank file."""
    found = found_in(tree({"AGENTS.md": "@a.md", "a.md": " \n"}))

    assert [("a.md", Omission.BLANK)] == [(one.name, one.reason) for one in found.omitted]


def test_lines_of_a_file(tree: Tree) -> None:
    """A range imports so many lines, as a document that says which."""
    folder = tree({"AGENTS.md": "@a.md:2-3 @b.md:9", "a.md": "1\n2\n3\n4\n", "b.md": "1\n"})

    found = found_in(folder)

    assert [("a.md:2-3", "2\n3\n", True)] == [(doc.name, doc.text, doc.truncated) for doc in found.docs[1:]]
    assert [("@b.md:9", "the file has 1 line")] == complaints(found)


@pytest.mark.parametrize(
    ("text", "typed", "detail"),
    [
        pytest.param("1\n2\n", "3", "the file has 2 lines", id="right behind the last line"),
        pytest.param("1\n2", "3-9", "the file has 2 lines", id="behind a last line without its end"),
        pytest.param("1\n", "90-", "the file has 1 line", id="from far behind the end"),
        pytest.param("", "1", "the file has no lines", id="an empty file"),
    ],
)
def test_error_lines_behind_the_end(text: str, typed: str, detail: str, tree: Tree) -> None:
    """They are a problem with the sentence that a message has for it, and the mention stays; a cut file is not said to end there."""
    folder = tree({"AGENTS.md": f"see @p.md:{typed}", "p.md": text})

    found = found_in(folder, placement="inline")

    assert [(f"@p.md:{typed}", detail)] == complaints(found)
    assert [f"see @p.md:{typed}"] == [doc.text for doc in found.docs]
    assert [detail] == [outcome.detail for outcome in preprocess(f"see @p.md:{typed}", "", folder).refused]


@given(text=st.text(st.sampled_from("ab\n\r\f\v\x1c\x85\u2028\u2029"), min_size=1, max_size=12), first=st.integers(1, 9), length=st.integers(0, 9))
def test_lines_are_those_of_a_message(text: str, first: int, length: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A range names the same lines in an instruction file as in a message: only a line feed ends one."""
    folder = tmp_path_factory.mktemp("lines")
    token = f"@p.md:{first}-{first + length}"
    (folder / "p.md").write_bytes(f"{text}z".encode())
    (folder / "AGENTS.md").write_text(token, encoding="utf-8")

    imported = [doc.text for doc in found_in(folder).docs[1:]]

    lines = re.findall(r"[^\n]*\n|[^\n]+\Z", f"{text}z")[first - 1 : first + length]
    turn = preprocess(token, "", folder)
    assert bool(lines) is bool(turn.attached)
    assert imported == (["".join(lines)] if "".join(lines).strip() else [])
    assert not lines or turn.attached[0].lines == ((first, first + len(lines) - 1),)


@pytest.mark.parametrize(("typed", "text"), [("4-2", "2\n3\n4\n"), ("0-1", "1\n"), ("3-", "3\n4\n"), ("4", "4\n")])
def test_odd_ranges(typed: str, text: str, tree: Tree) -> None:
    """They are straightened as in a message."""
    assert text == found_in(tree({"AGENTS.md": f"@a.md:{typed}", "a.md": "1\n2\n3\n4\n"})).docs[1].text


def test_lines_are_read_as_a_part_of_their_file(tree: Tree) -> None:
    """What is code in the file is code in the lines that are asked for; what is not is imported, in its place."""
    folder = tree({"AGENTS.md": "- @a.md:2-5\n", "a.md": "é\n```\n@b.md\n```\nsee @c.md!\n@b.md\n", "b.md": "B", "c.md": "C"})

    assert ["AGENTS.md", "a.md:2-5", "c.md"] == names(found_in(folder))
    assert ["- ```\n@b.md\n```\nsee C!\n"] == [doc.text for doc in found_in(folder, placement="inline")]


@pytest.mark.parametrize(
    ("text", "budget", "expected"),
    [
        pytest.param("see @docs/style.md for all the rules", 17, [], id="in the middle of a name"),
        pytest.param("see @docs/style.md for all the rules", 18, ["docs/style.md"], id="right behind a name"),
        pytest.param("see @my long file.md for all the rules", 14, [], id="in the middle of a name with blanks"),
        pytest.param("see [the rules @docs/style.md\nand more](https://x.test)", 30, [], id="in the middle of a link"),
        pytest.param("- @docs/style.md\n- @docs/tests.md\n", 20, ["docs/style.md"], id="between two lines"),
        pytest.param("<!--\n@docs/style.md\n-->\n- @docs/tests.md\n", 22, [], id="in the middle of a comment"),
    ],
)
def test_what_a_cut_leaves(text: str, budget: int, expected: list[str], tree: Tree) -> None:
    """Names that are shown are imported; one that the cut tore is neither read in part nor reported as missing."""
    files = {"docs/style.m": "no", "docs/style.md": "S", "docs/tests.md": "T", "my long file.md": "M"}
    for placement in ("after", "inline"):
        found = expand_imports(discover(tree({"AGENTS.md": text, **files}), file_bytes=budget), placement=placement)

        assert () == found.problems
        assert placement == "inline" or expected == [doc.name for doc in found if doc.origin == "import"]
        assert [doc for doc in found if "no" in doc.text.split()] == []


def test_imports_behind_a_cut_are_told(tree: Tree) -> None:
    """The person is told which files are not read because of it, of many the first."""
    folder = tree({"AGENTS.md": "@a.md\n" + "".join(f"- @docs/{number}.md, @alice\n" for number in range(8)), "a.md": "A"})

    found = found_in(folder, file_bytes=8)

    assert ["AGENTS.md", "a.md"] == names(found)
    named = ", ".join(f"@docs/{number}.md" for number in range(5))
    assert f"AGENTS.md was cut, so that what it names behind the cut is not imported: {named} and 3 more" == found.warnings[-1]


def test_a_text_that_was_changed_is_read_as_it_is(tree: Tree) -> None:
    """A host that puts another text into a document gets what that names."""
    found = discover(tree({"AGENTS.md": "rule\n" * 9, "a.md": "A"}), file_bytes=8)
    other = dataclasses.replace(found, docs=tuple(dataclasses.replace(doc, text="@a.md") for doc in found))

    assert ["AGENTS.md", "a.md"] == names(expand_imports(other))


def test_an_anchor_is_not_passed_over_in_silence(tree: Tree) -> None:
    """The whole file is imported, and the person is told."""
    found = found_in(tree({"AGENTS.md": "@t.md#rule", "t.md": "# t\n## rule\nR\n"}))

    assert ["AGENTS.md", "t.md"] == names(found)
    assert ["t.md is imported as a whole: `#rule` was not resolved"] == list(found.warnings)


def test_a_link_is_relative_to_what_it_leads_to(tree: Tree) -> None:
    """A file that many folders share names what lies beside it, not beside the link."""
    folder = tree({".git": None, "shared/rules.md": "@more.md", "shared/more.md": "M", "a/AGENTS.md": tree.link("../shared/rules.md"), "a/more.md": "no"})

    assert ["a/AGENTS.md", "shared/more.md"] == names(found_in(folder / "a"))
    assert ["shared/rules.md", "shared/more.md"] == names(found_in(folder / "a", profile=PROJECTCTX))


def test_imports_of_a_user_wide_file(tree: Tree) -> None:
    """They are confined to the folder of the file, and called like it."""
    folder = tree(
        {"home/.a/AGENTS.md": "@rules/x.md @../secret.md", "home/.a/rules/x.md": "@y.md", "home/.a/rules/y.md": "Y", "home/secret.md": "S", "p": None}
    )

    found = expand_imports(discover(folder / "p", user_files=[folder / "home/.a/AGENTS.md"], home=folder / "home"))

    assert ["~/.a/AGENTS.md", "~/.a/rules/x.md", "~/.a/rules/y.md"] == names(found)
    assert [("@../secret.md", "it leads out of the root folder")] == complaints(found)


def test_paths_in_the_home_folder(tree: Tree) -> None:
    """Where a profile allows it, they are read, confined to the home folder; absolute ones in it, too, if it allows these."""
    home = tree({"home/x.md": "X @y.md", "home/y.md": "Y", "home/z.md": "Z", "secret.md": "S"}) / "home"
    folder = tree({"p/AGENTS.md": f"@~/x.md @~/../secret.md @~/none.md @{home}/z.md @/etc/hostname @~/x.md"}) / "p"
    rules = dataclasses.replace(DEFAULT, home_imports=True, absolute_imports=True)

    found = expand_imports(discover(folder, profile=rules), home=home)

    assert ["AGENTS.md", "~/x.md", "~/y.md", "~/z.md"] == names(found)
    assert ["@~/../secret.md", "@~/none.md", "@/etc/hostname"] == [problem.name for problem in found.problems]


def test_the_home_folder_of_the_process(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for only where a profile allows paths in it; where there is none, nothing leads there."""
    folder = tree({"home/x.md": "X", "p/AGENTS.md": "@~/x.md"})
    rules = dataclasses.replace(DEFAULT, home_imports=True)
    monkeypatch.setenv("HOME", str(folder / "home"))

    assert ["AGENTS.md", "~/x.md"] == names(found_in(folder / "p", profile=rules))

    monkeypatch.setattr("filerefs.upward.home_folder", lambda: "")

    assert ["AGENTS.md"] == names(found_in(folder / "p", profile=rules))


def test_absolute_paths_outside_of_the_root(tree: Tree) -> None:
    """A profile that allows absolute paths still does not let them out of the root."""
    folder = tree({"p/a.md": "", "secret.md": "S"})
    tree({"p/a.md": f"@{folder}/secret.md @{folder}/p/../secret.md @{folder}/p/b.md", "p/b.md": "B"})

    found = expand_imports(discover(folder / "p", root=folder / "p", profile=EINO, extra=[folder / "p/a.md"]))

    assert ["a.md", "b.md"] == names(found)
    assert 2 == len(found.problems)


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        pytest.param(None, ["near", "x" * 50, "y" * 50], id="no limit"),
        pytest.param(200, ["near", "x" * 50, "y" * 50], id="enough"),
        pytest.param(90, ["near", "x" * 50, "y" * 20], id="the last one is cut"),
        pytest.param(70, ["near", "x" * 50], id="what does not fit is left out"),
    ],
)
def test_the_budget_goes_on(budget: int | None, expected: list[str], tree: Tree) -> None:
    """Imports have what the documents left, in the order of printing; what is left out is reported."""
    folder = tree({"AGENTS.md": "near @x.md @y.md    ", "x.md": "x" * 50, "y.md": "y" * 50})

    found = found_in(folder, budget=budget)

    assert expected == [doc.text.split()[0] for doc in found]
    assert len(expected) + len(found.omitted) == 3
    assert (len(expected) < 3) == bool(found.warnings) or budget == 90


def test_the_nearest_imports_first(tree: Tree) -> None:
    """What the nearest file names is paid before what a far one names."""
    folder = tree({".git": None, "AGENTS.md": "@far.md", "a/AGENTS.md": "@near.md", "far.md": "f" * 30, "a/near.md": "n" * 30})

    found = found_in(folder / "a", budget=50)

    assert ["AGENTS.md", "far.md", "a/AGENTS.md", "a/near.md"] == names(found)
    assert [True, False] == [doc.truncated for doc in found if doc.origin == "import"]


def test_whole_files_by_profile(tree: Tree) -> None:
    """A file over its limit is left out where the profile says so, as an import as well."""
    found = found_in(tree({"AGENTS.md": "@x.md", "x.md": "x" * 100}), profile=dataclasses.replace(DEFAULT, file_bytes=50, too_large="omit"))

    assert [("x.md", Omission.TOO_LARGE)] == [(one.name, one.reason) for one in found.omitted]


def test_imports_when_everything_is_off(tree: Tree) -> None:
    """A budget of 0 for a project imports nothing for it either."""
    folder = tree({"p": None, "u.md": "@x.md", "x.md": "X"})
    found = discover(folder / "p", user_files=[folder / "u.md"])

    off = expand_imports(dataclasses.replace(found, profile=dataclasses.replace(DEFAULT, budget=0)))

    assert [("root/x.md", Omission.OFF)] == [(one.name, one.reason) for one in off.omitted]
    assert ["root/u.md", "root/x.md"] == names(expand_imports(discover(folder / "p", profile=CODEX, budget=0, user_files=[folder / "u.md"])))


def test_units_stand_or_fall_together(tree: Tree) -> None:
    """By profile a file goes with all that it imports, and so do all behind it."""
    folder = tree({"a.md": "aaaa", "b.md": "@big.md", "big.md": "x" * 50, "c.md": "c"})

    found = expand_imports(discover(folder, root=folder, profile=EINO, extra=[folder / f"{name}.md" for name in "abc"], budget=20))

    assert ["a.md"] == names(found)
    assert ["b.md", "c.md"] == [one.name for one in found.omitted]


def test_there_is_an_end_to_it(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many files are imported at most, whatever the budget."""
    monkeypatch.setattr(imports, "IMPORTS", 3)
    folder = tree({"AGENTS.md": " ".join(f"@{number}.md" for number in range(5)), **{f"{number}.md": "x" for number in range(5)}})

    found = found_in(folder)

    assert 4 == len(found)
    assert ["not imported: 3 files are imported at most"] * 2 == [detail for _, detail in complaints(found)]


def test_there_is_an_end_to_looking(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many names are looked up at most; what looks like a path is reported, other words are not."""
    monkeypatch.setattr(roots, "LOOKUPS", 2)

    found = found_in(tree({"AGENTS.md": "@a.md @b.md @c.md @someone", "a.md": "A", "b.md": "B", "c.md": "C"}))

    assert ["AGENTS.md", "a.md", "b.md"] == names(found)
    assert ["@c.md"] == [problem.name for problem in found.problems]


def test_a_name_with_blanks_ends_before_the_next_import(tree: Tree) -> None:
    """Wherever in a long list of imports it stands."""
    folder = tree({"AGENTS.md": "".join(f"@{number}.md " for number in range(31)) + "@my @a.md file.md", **{f"{number}.md": "x" for number in range(31)}})
    tree({"my @a.md file.md": "no", "a.md": "A"})

    assert "a.md" == names(found_in(folder))[-1]


def test_two_hundred_files(tree: Tree) -> None:
    """Many imports of one file need no more handles than few."""
    folder = tree({"AGENTS.md": "".join(f"- @d/{number}.md\n" for number in range(200)), **{f"d/{number}.md": "x" for number in range(200)}})

    found = found_in(folder)

    assert 201 == len(found)
    assert () == found.problems


def test_several_roots(tree: Tree) -> None:
    """An import has the label of the root that the file belongs to."""
    folder = tree({"p/AGENTS.md": "@x.md", "p/x.md": "X", "s/AGENTS.md": "@x.md", "s/x.md": "Y"})

    found = expand_imports(discover({"one": folder / "p", "two": folder / "s"}))

    assert [("one:AGENTS.md", "one"), ("one:x.md", "one"), ("two:AGENTS.md", "two"), ("two:x.md", "two")] == [(doc.name, doc.root) for doc in found]


def test_documents_made_by_hand_import_nothing() -> None:
    """There is no folder to look in."""
    doc = Doc(name="AGENTS.md", text="@a.md", size=5, shown=5)

    assert Discovery(docs=(doc,)) == expand_imports(Discovery(docs=(doc,)))


def test_expanding_twice_adds_nothing(tree: Tree) -> None:
    """Everything is there already."""
    found = found_in(tree({"AGENTS.md": "@a.md", "a.md": "@b.md", "b.md": "B"}))

    assert found.docs == expand_imports(found).docs


def test_a_trimmed_import(tree: Tree) -> None:
    """By profile white space around imported texts goes as well."""
    assert ["@a.md", "A"] == [doc.text for doc in found_in(tree({"AGENTS.md": "@a.md\n", "a.md": "\nA\n"}), profile=PROJECTCTX)]


@pytest.mark.parametrize("options", [{"depth": -1}, {"placement": "before"}])
def test_error_options(options: dict[str, Any], tree: Tree) -> None:
    """What cannot be meant raises."""
    with pytest.raises(OptionError):
        found_in(tree({}), **options)


def test_a_file_that_vanishes(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between being found and being looked at again it may go: that is a problem like a file that was never there."""
    folder = tree({"AGENTS.md": "@a.md @a.md", "a.md": "A"})
    take = imports.FolderView.take

    def remove_and_take(view: Any, target: Any) -> Any:
        if target.node is None:
            (folder / target.name).unlink()
        return take(view, target)

    monkeypatch.setattr(imports.FolderView, "take", remove_and_take)
    found = found_in(folder)

    assert ["AGENTS.md", "a.md"] == names(found)
    assert [("@a.md", "no such file")] == complaints(found)


def test_files_without_an_identity(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system tells no file from another, none is taken for another; circles end by depth."""
    monkeypatch.setattr(Node, "identity", None)
    folder = tree({"AGENTS.md": "A @AGENTS.md", "AGENTS.local.md": tree.link("AGENTS.md")})

    found = found_in(folder, depth=2)

    assert ["A @AGENTS.md"] * 6 == [doc.text for doc in found]
    assert 6 == len(set(names(found)))
    assert 2 == len(found.problems)
