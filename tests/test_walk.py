"""Names under a root: what `.gitignore` files leave out, which line decided, and the walk; git itself is asked where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from filerefs import gitignore
from filerefs import walk as walking
from filerefs.errors import OptionError, OptionTypeError, RootClosedError
from filerefs.outcomes import Reason
from filerefs.root import Entry, Listing, Root, Trouble
from filerefs.walk import Ignore, Problem, Rule, Walk, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from conftest import Tree

NEEDS_GIT = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
SETTLED = (1, 1, 1, 1_000_000_001, 1_000_000_001)


@dataclass
class FakeNode:
    """A file with a stamp of the test's choice, or a folder that cannot be listed; counts how often it is read."""

    content: bytes | Trouble = b""
    stamp: tuple[int, ...] | None = SETTLED
    kind: Literal["file", "directory"] = "file"
    listing: Listing | Trouble | None = None
    reads: int = 0
    name: str = ""
    target: str | None = None
    size: int = 0
    identity: tuple[int, int] | None = None

    def read(self, limit: int) -> bytes | Trouble:
        self.reads += 1
        return self.content if isinstance(self.content, Trouble) else self.content[:limit]

    def entries(self, limit: int | None) -> Listing | Trouble:
        assert self.listing is not None
        if isinstance(self.listing, Trouble) or limit is None or len(self.listing.entries) <= limit:
            return self.listing
        return Listing(self.listing.entries[:limit], more=True, withheld=self.listing.withheld)

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@dataclass
class FakeRoot:
    """A root of nodes that are given; everything else is not found."""

    nodes: Mapping[str, FakeNode | Trouble]
    opened: list[str] = field(default_factory=list)

    def open(self, name: str) -> FakeNode | Trouble:
        self.opened.append(name)
        return self.nodes.get(name, Trouble(Reason.NOT_FOUND, "no such file"))


def fake(nodes: Mapping[str, FakeNode | Trouble]) -> Root:
    return cast("Root", FakeRoot(nodes))


def files(*names: str) -> list[Entry]:
    return [Entry(name, "file") for name in names]


def folder_of(*entries: Entry) -> FakeNode:
    return FakeNode(kind="directory", listing=Listing(entries, more=False, withheld=0))


def ask_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git in a repository made of *folder*, with nobody's settings."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    if not (folder / ".git").exists():
        subprocess.run(["git", "init", "--quiet", "--template=", os.fspath(folder)], check=True, env=environment)
    return subprocess.run(["git", "-c", "core.fsmonitor=false", *arguments], cwd=folder, check=False, capture_output=True, env=environment)


def files_of_git(folder: Path) -> list[str]:
    listed = ask_git(folder, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    assert listed.returncode == 0, listed.stderr
    return sorted(os.fsdecode(name) for name in listed.stdout.split(b"\0") if name)


def files_of_ours(folder: Path) -> list[str]:
    with Root(folder) as root:
        return sorted(path for path, entry in walk(root, limit=None, folder_entries=None) if entry.kind != "directory")


def deciding_rule(folder: Path, path: str) -> Rule | None:
    """Return the rule that leaves *path* out when its folder is listed."""
    parent, _, name = path.rpartition("/")
    with Root(folder) as root:
        listing = root.open(parent or ".").entries(None)  # type: ignore[union-attr]
        assert isinstance(listing, Listing)
        kept, ignored = Ignore(root).filter(parent or ".", listing.entries)
    assert {name} <= {entry.name for entry in kept} | {entry.name for entry, _ in ignored}
    return next((rule for entry, rule in ignored if entry.name == name), None)


def paths_of(names: Walk) -> list[str]:
    return [path for path, _ in names]


def summary(names: Walk) -> dict[str, int]:
    """Return what a walk counted, without the zeros."""
    counts = {name: getattr(names, name) for name in ("cut", "ignored", "withheld", "unreadable", "unchecked")}
    return {name: int(count) for name, count in counts.items() if count}


# What git says of a path (a folder ends in a slash) under the rules of the root.
PATTERNS = [
    pytest.param("a.log", "a.log", True, id="a name"),
    pytest.param("a.log", "x/y/a.log", True, id="a name at any depth"),
    pytest.param("a.log", "a.logs", False, id="a name is the whole name"),
    pytest.param("A.log", "a.log", False, id="case counts"),
    pytest.param("*.log", "x/a.log", True, id="a star"),
    pytest.param("*.log", ".log", True, id="a star may be nothing"),
    pytest.param("a*c", "a/c", False, id="a star is no slash"),
    pytest.param("a*b*c", "aXbXbc", True, id="two stars"),
    pytest.param("a*b*c", "aXcXb", False, id="two stars in their order"),
    pytest.param("*a*a*b", "aab", True, id="stars that are nothing"),
    pytest.param("a?c", "abc", True, id="a question mark"),
    pytest.param("a?c", "ac", False, id="a question mark is something"),
    pytest.param("?a", "a", False, id="a question mark at the start is something"),
    pytest.param("*", "x", True, id="everything"),
    pytest.param("/*", "x", True, id="everything in the root"),
    pytest.param("build/", "build/", True, id="a folder"),
    pytest.param("build/", "x/build/", True, id="a folder at any depth"),
    pytest.param("build/", "build", False, id="a file is no folder"),
    pytest.param("/build", "build", True, id="anchored"),
    pytest.param("/build", "x/build", False, id="anchored is not deeper"),
    pytest.param("x/build", "x/build", True, id="a slash inside anchors"),
    pytest.param("x/build", "y/x/build", False, id="a slash inside anchors, not deeper"),
    pytest.param("x/*.c", "x/a.c", True, id="a star below a folder"),
    pytest.param("x/*.c", "x/y/a.c", False, id="a star below a folder is one level"),
    pytest.param("*/a", "x/a", True, id="a star for a folder"),
    pytest.param("*/a", "x/y/a", False, id="a star for one folder"),
    pytest.param("**/a", "a", True, id="leading double star, none"),
    pytest.param("**/a", "x/y/a", True, id="leading double star, two"),
    pytest.param("**/x/a", "y/x/a", True, id="leading double star with two parts"),
    pytest.param("**/x/a", "x/y/a", False, id="leading double star and parts in a row"),
    pytest.param("x/**", "x/", False, id="trailing double star, not the folder itself"),
    pytest.param("x/**", "x/a/b", True, id="trailing double star"),
    pytest.param("x/**/", "x/", False, id="folders below, not the folder itself"),
    pytest.param("x/**/", "x/y/", True, id="folders below"),
    pytest.param("x/**/", "x/a", False, id="folders below are no files"),
    pytest.param("x/**/a", "x/a", True, id="double star between, none"),
    pytest.param("x/**/a", "x/y/z/a", True, id="double star between, two"),
    pytest.param("x/**/a", "xy/a", False, id="double star between keeps the slash"),
    pytest.param("x/**/y/**/a", "x/y/z/y/b/a", True, id="two double stars"),
    pytest.param("x/**/y/**/a", "x/z/a", False, id="two double stars and the part between"),
    pytest.param("x/**/*a*/**/c", "x/b/bab/d/c", True, id="stars between double stars"),
    pytest.param("**/x/**/x/a", "x/x/a", True, id="double stars leave the rest its folders"),
    pytest.param("**", "x/a", True, id="double star alone"),
    pytest.param("**/", "x/", True, id="all folders"),
    pytest.param("**/", "x", False, id="all folders, no files"),
    pytest.param("**foo", "xfoo", True, id="double star in a name is a star"),
    pytest.param("x/a**b", "x/acb", True, id="double star inside a part is a star"),
    pytest.param("x/?**/c", "x/yz/c", True, id="double star behind a wildcard is a star"),
    pytest.param("x/?**/c", "x/y/z/c", False, id="double star behind a wildcard is one level"),
    pytest.param("foo**/bar", "foobar", True, id="double star behind plain letters, git's quirk, none"),
    pytest.param("foo**/bar", "foox/y/bar", True, id="double star behind plain letters, git's quirk, deeper"),
    pytest.param("x/***/a", "x/y/z/a", True, id="three stars are two"),
    pytest.param("x/**\\/a", "x/a", False, id="double star before an escaped slash, none"),
    pytest.param("x/**\\/a", "x/y/a", True, id="double star before an escaped slash, one"),
    pytest.param("x\\/a", "x/a", True, id="an escaped slash"),
    pytest.param("[ab]", "a", True, id="a bracket"),
    pytest.param("[a-c]x", "bx", True, id="a range"),
    pytest.param("[!a]", "b", True, id="not in a bracket"),
    pytest.param("[^a]", "a", False, id="not in a bracket, with a caret"),
    pytest.param("/x[!a]y", "x/y", False, id="a bracket is no slash"),
    pytest.param("/x[+-0]y", "x/y", False, id="a range is no slash"),
    pytest.param("x[/]y", "x/y", False, id="a bracket with a slash is none either"),
    pytest.param("x[+-0]y", "x.y", True, id="a range around the slash"),
    pytest.param("[]-a]", "^", True, id="a closing bracket first"),
    pytest.param("[a\\]]", "]", True, id="an escaped closing bracket"),
    pytest.param("[\\a-\\c]", "b", True, id="an escaped range"),
    pytest.param("[z-a]", "z", True, id="a range the wrong way is its first"),
    pytest.param("[z-a]", "m", False, id="a range the wrong way is no more"),
    pytest.param("[a-]", "-", True, id="a dash at the end"),
    pytest.param("[a-c-e]", "d", False, id="a range does not go on"),
    pytest.param("[[:digit:]x]", "7", True, id="a class"),
    pytest.param("[![:digit:]]", "7", False, id="no class"),
    pytest.param("[[:none:]]", "n", False, id="a class that there is not"),
    pytest.param("[[:]", ":", True, id="half a class is letters"),
    pytest.param("[[a]", "[", True, id="an opening bracket inside"),
    pytest.param("[a", "[a", False, id="a bracket that is not closed"),
    pytest.param("[a&&b]", "&", True, id="no set operations"),
    pytest.param("a.b", "aXb", False, id="a dot is a dot"),
    pytest.param("a(b|c)+$", "a(b|c)+$", True, id="no regular expressions"),
    pytest.param("#a", "#a", False, id="a comment"),
    pytest.param("\\#a", "#a", True, id="an escaped hash"),
    pytest.param("\\!a", "!a", True, id="an escaped exclamation mark"),
    pytest.param("a\\*", "a*", True, id="an escaped star"),
    pytest.param("a\\*", "ab", False, id="an escaped star is no star"),
    pytest.param("a\\b", "ab", True, id="an escaped letter"),
    pytest.param("a\\", "a", False, id="a backslash at the end"),
    pytest.param("a\\", "a\\", False, id="a backslash at the end matches nothing"),
    pytest.param("a  ", "a", True, id="blanks at the end"),
    pytest.param("a\\ ", "a ", True, id="an escaped blank at the end"),
    pytest.param("a\\   ", "a ", True, id="an escaped blank and more"),
    pytest.param("a\\\\ ", "a\\", True, id="an escaped backslash and a blank"),
    pytest.param("a\t", "a\t", True, id="a tab at the end stays"),
    pytest.param(" a", " a", True, id="a blank at the start stays"),
    pytest.param("a b", "a b", True, id="a blank inside"),
    pytest.param("/", "x", False, id="a slash alone"),
    pytest.param("!", "!", False, id="an exclamation mark alone"),
    pytest.param("//a", "a", False, id="two slashes in front"),
    pytest.param("a//", "a/", False, id="two slashes behind"),
    pytest.param("a\r\nb\r\n", "b", True, id="CRLF"),
    pytest.param("a\r\nb\r", "b", True, id="a carriage return at the very end"),
    pytest.param("a\rb", "b", False, id="a carriage return inside"),
    pytest.param("a\fb", "b", False, id="a form feed ends no line"),
    pytest.param("a\u2028b", "b", False, id="a line separator ends no line"),
    pytest.param("\ufeffa", "a", True, id="a byte order mark"),
    pytest.param(b"ab\0c", "ab", True, id="a NUL ends a rule"),
    pytest.param("é", "é", True, id="a letter that is not ASCII"),
    pytest.param("caf?", "café", False, id="a question mark is a byte"),
    pytest.param("caf??", "café", True, id="two question marks are two bytes"),
    pytest.param("*é", "café", True, id="a star before a letter that is not ASCII"),
    pytest.param("*", "日本/語", True, id="names in other scripts"),
    pytest.param("/日本/*語", "日本/x語", True, id="folders in other scripts"),
    pytest.param("é", "e\u0301", False, id="normalisation counts"),
    pytest.param(b"caf\xe9", "caf\udce9", True, id="bytes that are no UTF-8"),
    pytest.param(b"caf[\xe0-\xef]", "caf\udce9", True, id="a range of bytes that are no UTF-8"),
    pytest.param("a*b", "a\nb", True, id="a star is a line feed too"),
    pytest.param("b", "a\nx/b", True, id="a line feed in a folder's name"),
    pytest.param("a", "a\n", False, id="a line feed at the end of a name counts"),
    pytest.param('a"b', 'a"b', True, id="a quote"),
    pytest.param("*.log\n!a.log", "a.log", False, id="taken back"),
    pytest.param("!a.log\n*.log", "a.log", True, id="the last one counts"),
    pytest.param("*.log\n!*.log\na.*", "a.log", True, id="taken back and given again"),
    pytest.param("x\n!x/", "x", True, id="taken back for folders only"),
    pytest.param("x\n!x/", "x/", False, id="taken back for a folder"),
    pytest.param("/*\n!/src", "src/", False, id="everything but one"),
    pytest.param("logs/**\n!logs/**/\n!logs/keep/*.log", "logs/keep/", False, id="a folder taken back"),
    pytest.param("logs/**\n!logs/**/\n!logs/keep/*.log", "logs/keep/a.log", False, id="a file in a folder taken back"),
    pytest.param("logs/**\n!logs/**/\n!logs/keep/*.log", "logs/keep/a.txt", True, id="another file in it"),
]


def plant(tree: Tree, rules: str | bytes, path: str) -> Path:
    return tree({".gitignore": rules, path.rstrip("/"): None if path.endswith("/") else ""})


@pytest.mark.parametrize(("rules", "path", "ignored"), PATTERNS)
def test_pattern(tree: Tree, rules: str | bytes, path: str, ignored: bool) -> None:  # noqa: FBT001 (a column)
    """A rule matches what git says that it matches."""
    folder = plant(tree, rules, path)

    assert ignored is (deciding_rule(folder, path.rstrip("/")) is not None)


@NEEDS_GIT
@pytest.mark.parametrize(("rules", "path", "ignored"), PATTERNS)
def test_pattern_in_git(tree: Tree, rules: str | bytes, path: str, ignored: bool) -> None:  # noqa: FBT001 (a column)
    """The table above is right: git gives the same answer."""
    folder = plant(tree, rules, path)

    answer = ask_git(folder, "check-ignore", "--quiet", "--", "./" + path.rstrip("/"))

    assert (0 if ignored else 1) == answer.returncode, answer.stderr


@NEEDS_GIT
@pytest.mark.parametrize("name", ["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"])
def test_named_class_in_git(tree: Tree, name: str) -> None:
    """A named class holds the characters that it holds in git."""
    folder = tree({".gitignore": f"_[[:{name}:]]"} | {f"_{chr(code)}": "" for code in range(1, 128) if chr(code) != "/"})

    assert files_of_git(folder) == files_of_ours(folder)


@NEEDS_GIT
def test_tricky_tree_in_git(tree: Tree) -> None:
    """In a tree of nested files, negations, links and odd names the walk finds what git finds."""
    folder = tree(
        {
            ".gitignore": b"\xef\xbb\xbf# a comment\r\n*.log\r\nbuild/\r\n/only-root\r\n!important.log\r\n\\#hash\r\n\\!bang\r\ntrail\\ \r\n"
            b"logs/**\r\n!logs/**/\r\n!logs/keep/*.log\r\n**/deep/**/x.tmp\r\n[[:upper:]]*.bak\r\n*\xe9*\r\nname with*feed\r\n",
            "a.log": "",
            "important.log": "",
            "only-root": "",
            "#hash": "",
            "!bang": "",
            "trail ": "",
            "trail": "",
            "build/out.js": "",
            "build/.gitignore": "!out.js\n",
            "logs/a.log": "",
            "logs/keep/a.log": "",
            "logs/keep/b.txt": "",
            "src/.gitignore": "!a.log\n/local\nbuild\n!build/\n*.py[co]\n",
            "src/a.log": "",
            "src/local": "",
            "src/x/local": "",
            "src/build": "",
            "src/m.pyc": "",
            "src/m.py": "",
            "src/x/.gitignore": "*\n!.gitignore\n!y/\n",
            "src/x/a.log": "",
            "src/x/y/a.log": "",
            "src/x/y/z": "",
            "deep/x.tmp": "",
            "p/deep/q/r/x.tmp": "",
            "Old.bak": "",
            "old.bak": "",
            "caf\udce9": "",
            "café": "",
            "name with\nfeed": "",
            "quo\"te's": "",
            "only/empty/folder": None,
            "link": tree.link("src"),
            "build-link": tree.link("build"),
            "v/build": tree.link("../src"),
        }
    )

    assert files_of_git(folder) == files_of_ours(folder)


FRAGMENTS = [
    "a",
    "b",
    "x",
    "*",
    "**",
    "?",
    "/",
    "/",
    "[ab]",
    "[!a]",
    "[b-x]",
    "[^b-]",
    "[[:alpha:]]",
    "[]a]",
    "[",
    "]",
    "-",
    "\\",
    "\\*",
    "é",
    ".",
    " ",
    "#",
    "!",
]
NAMES = st.text(alphabet="abx*]- é.\n#!", min_size=1, max_size=3).filter(lambda name: name not in {".", ".."})
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
LINES = st.tuples(
    st.sampled_from(["", "", "", "!", "/", "\\"]),
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6).map("".join),
    st.sampled_from(["", "", "", "/", " ", "\\ ", "/**", "/*", "\r"]),
).map("".join)
RULES = st.lists(LINES, min_size=1, max_size=5).map("\n".join)


@NEEDS_GIT
@given(paths=st.lists(PATHS, min_size=1, max_size=12), rules=RULES, inner_rules=RULES, inner=st.integers(0, 11))
@example(paths=["a/b"], rules="foo**/b\n", inner_rules="!b", inner=0)
def test_any_tree_in_git(paths: list[str], rules: str, inner_rules: str, inner: int) -> None:
    """Whatever the files and the rules, the walk finds what git finds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in paths:
            place = folder / path
            if not any(parent.is_file() for parent in place.parents) and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
        folders = sorted(place for place in folder.rglob("*") if place.is_dir()) or [folder]
        (folders[inner % len(folders)] / ".gitignore").write_bytes(inner_rules.encode())
        (folder / ".gitignore").write_bytes(rules.encode())

        assert files_of_git(folder) == files_of_ours(folder)


@given(content=st.one_of(st.binary(max_size=200), RULES.map(str.encode)), path=st.text(st.characters(codec="utf-8"), min_size=1), is_folder=st.booleans())
def test_no_content_raises(content: bytes, path: str, is_folder: bool) -> None:  # noqa: FBT001 (drawn)
    """Any bytes are rules, and any path can be compared with them."""
    decision = gitignore.read_rules(content, "").decide(gitignore.bytewise(path), is_folder=is_folder)

    assert decision is None or decision[0].pattern


@given(words=st.lists(st.text(alphabet="ab", max_size=3), min_size=2, max_size=8), name=st.text(alphabet="ab", max_size=30))
def test_stars_need_no_backtracking(words: list[str], name: str) -> None:
    """Looking for what is between stars once, leftmost, finds a match wherever there is one."""
    first, *between, last = words
    rest = name[len(first) : len(name) - len(last)] if name.startswith(first) and name.endswith(last) and len(name) >= len(first) + len(last) else None
    for word in between:
        rest = None if rest is None or word not in rest else rest[rest.find(word) + len(word) :]
    pattern = "*".join(words)

    decision = gitignore.read_rules(pattern.encode(), "").decide(name, is_folder=False)

    assert (rest is not None) is (decision is not None)


@pytest.mark.parametrize(
    ("entries", "path", "expected"),
    [
        pytest.param({".gitignore": "*.log\n"}, "a.log", "`*.log` from `.gitignore:1`", id="the only line"),
        pytest.param({".gitignore": "# x\r\n\r\n*.log\r\n"}, "a.log", "`*.log` from `.gitignore:3`", id="comments and blank lines count"),
        pytest.param({".gitignore": "*.log\na.*\nb\n"}, "a.log", "`a.*` from `.gitignore:2`", id="the last line that matches"),
        pytest.param({".gitignore": "*.log\n!a.log\n/a.log  \n"}, "a.log", "`/a.log` from `.gitignore:3`", id="without blanks at the end"),
        pytest.param({".gitignore": "*.log\n", "s/.gitignore": "a*\n"}, "s/a.log", "`a*` from `s/.gitignore:1`", id="the deepest file"),
        pytest.param({".gitignore": "*.log\n", "s/.gitignore": "b*\n"}, "s/a.log", "`*.log` from `.gitignore:1`", id="the deepest file with a match"),
        pytest.param({".gitignore": "*.log\n", "s/.gitignore": "!a*\n"}, "s/a.log", "None", id="taken back deeper"),
        pytest.param({"s/.gitignore": "/a.log\n"}, "s/t/a.log", "None", id="anchored where its file is"),
        pytest.param({"s/.gitignore": "t/a.log\n"}, "s/t/a.log", "`t/a.log` from `s/.gitignore:1`", id="relative to where its file is"),
        pytest.param({"é/.gitignore": "t/a.log\n"}, "é/t/a.log", "`t/a.log` from `é/.gitignore:1`", id="relative to a name that is not ASCII"),
        pytest.param({".gitignore": "caf\xe9*\u202e\n"}, "café\u202e", "`café*\\u{202e}` from `.gitignore:1`", id="nothing hides"),
        pytest.param({".gitignore": b"\xff\n"}, "\udcff", "`\\u{dcff}` from `.gitignore:1`", id="no UTF-8"),
    ],
)
def test_deciding_rule(tree: Tree, entries: dict[str, Any], path: str, expected: str) -> None:
    """The rule that decided is named as a person writes it, with its file and line."""
    folder = tree({**entries, path: ""})

    assert expected == str(deciding_rule(folder, path))


def test_ignored_folder_lists(tree: Tree) -> None:
    """A folder that is ignored as a whole keeps its contents when it is named, but for what rules say of these themselves."""
    folder = tree({".gitignore": "build/\n*.log\n", "build/a.js": "", "build/a.log": "", "build/.gitignore": "own\n", "build/own": "", "build/deep/b.js": ""})

    with Root(folder) as root:
        names = [path for path, _ in walk(root, folder="build", limit=None)]

    assert ["build/.gitignore", "build/a.js", "build/deep", "build/deep/b.js"] == names


def test_kinds(tree: Tree) -> None:
    """A rule for folders is none for links and pipes of that name."""
    folder = tree({".gitignore": "x/\n", "a/x/y": "", "b/x": tree.link("../a"), "c/x": tree.fifo()})

    with Root(folder) as root:
        found = [(path, entry.kind) for path, entry in walk(root, limit=None) if "/" in path]

    assert [("b/x", "link"), ("c/x", "other")] == found


@pytest.mark.parametrize("folder", ["s", "./s", "s/", "s//."])
def test_spellings_of_a_folder(tree: Tree, folder: str) -> None:
    """Parts that mean nothing are dropped from the name of a folder."""
    tree({".gitignore": "/s/a\n", "s/a": "", "s/b": ""})

    with Root(tree.folder) as root:
        kept, ignored = Ignore(root).filter(folder, files("a", "b"))
        paths = [path for path, _ in walk(root, folder=folder, limit=None)]

    assert (["b"], ["a"]) == ([entry.name for entry in kept], [entry.name for entry, _ in ignored])
    assert ["s/b"] == paths


def test_order_is_kept() -> None:
    """What is kept and what is ignored stand in the order in which they came."""
    ignore = Ignore(fake({".gitignore": FakeNode(b"*.x")}))

    kept, ignored = ignore.filter(".", files("b", "b.x", "a", "a.x"))

    assert (files("b", "a"), files("b.x", "a.x")) == (kept, [entry for entry, _ in ignored])


def test_bytes_that_are_no_text(tree: Tree) -> None:
    """A file of rules that is not UTF-8 costs nothing but what it says."""
    folder = tree({"d/.gitignore": b"\xff\xfe\x80", "d/a.txt": "A"})

    with Root(folder) as root:
        kept, ignored = Ignore(root).filter("d", files("a.txt"))
        problems = Ignore(root).problems("d")

    assert (files("a.txt"), [], []) == (kept, ignored, problems)


@pytest.mark.parametrize(
    ("node", "detail"),
    [
        pytest.param(Trouble(Reason.PERMISSION, "permission denied"), "permission denied", id="cannot be opened"),
        pytest.param(FakeNode(Trouble(Reason.IO_ERROR, "the disk failed")), "the disk failed", id="cannot be read"),
    ],
)
def test_error_file_of_rules_is_unreadable(node: FakeNode | Trouble, detail: str) -> None:
    """A file that cannot be read has no rules; the others apply, and the problem is there to be shown."""
    ignore = Ignore(fake({".gitignore": FakeNode(b"*.x"), "s/.gitignore": node}))

    kept, ignored = ignore.filter("s", files("a", "a.x"))

    assert (files("a"), files("a.x")) == (kept, [entry for entry, _ in ignored])
    assert [Problem("s/.gitignore", 0, detail)] == ignore.problems("s")


@pytest.mark.parametrize(
    ("maker", "problems"),
    [
        pytest.param(lambda _: None, 0, id="a folder"),
        pytest.param(lambda tree: tree.fifo(), 1, id="a pipe"),
        pytest.param(lambda tree: tree.link("rules"), 1, id="a link"),
    ],
)
def test_error_file_of_rules_is_no_file(tree: Tree, maker: Any, problems: int) -> None:
    """Something else under that name has no rules; git reads none of these either."""
    folder = tree({"rules": "*.x\n", ".gitignore": maker(tree)})

    with Root(folder) as root:
        kept, _ = Ignore(root).filter(".", files("a.x"))
        found = Ignore(root).problems()

    assert (files("a.x"), problems) == (kept, len(found))


def test_linked_rules_count_where_links_are_followed(tree: Tree) -> None:
    """A root that follows links follows one to rules."""
    folder = tree({"rules": "*.x\n", ".gitignore": tree.link("rules")})

    with Root(folder, symlinks="inside") as root:
        kept, _ = Ignore(root).filter(".", files("a", "a.x"))

    assert files("a") == kept


@pytest.mark.parametrize(
    ("content", "line"),
    [
        pytest.param(b"*" + b"a" * 300 + b"\n*.x\n", 1, id="a long rule with a wildcard"),
        pytest.param(b"*.x\n" + b"a" * 5000, 2, id="a very long rule"),
        pytest.param(b"**/" * 1000 + b"y\n*.x\n", 1, id="a thousand double stars"),
        pytest.param(b"*.x\n" + b"aaaaaaaaaaaaa\n" * 3000, 0, id="too many bytes of rules"),
        pytest.param(b"*.x\n" + b"\n" * 10_000 + b"a", 0, id="too many lines"),
        pytest.param(b"*.x\n" + (b"#" * 1000 + b"\n") * 1100, 0, id="more than a MiB"),
    ],
)
def test_error_rules_beyond_the_bounds(content: bytes, line: int) -> None:
    """A rule, or the rest of a file, that is too much is left out and said; what is before or behind it applies."""
    ignore = Ignore(fake({".gitignore": FakeNode(content)}))

    kept, ignored = ignore.filter(".", files("a", "a.x"))

    assert (files("a"), files("a.x")) == (kept, [entry for entry, _ in ignored])
    assert [(".gitignore", line)] == [(problem.source, problem.line) for problem in ignore.problems()]


def test_long_name_is_no_problem() -> None:
    """A rule without wildcards may be as long as a path."""
    path = "/".join(["folder"] * 100)

    rules = gitignore.read_rules(f"/{path}/a".encode(), "")

    assert () == rules.problems
    assert rules.decide(f"{path}/a", is_folder=False) is not None


def test_half_a_rule_is_none() -> None:
    """Where a file is cut, the rule under the knife is left out: its beginning would be another rule."""
    content = b"#" * (gitignore.MOST_BYTES - 3) + b"\nab\n"

    assert gitignore.read_rules(content, "").decide("a", is_folder=False) is None


def test_error_too_many_files_on_the_way() -> None:
    """Of a hundred files on the way to a folder the first 64 apply; the others are problems."""
    ways = ["/".join(["d"] * depth) for depth in range(1, 100)]
    nodes = {".gitignore": FakeNode(b"0.x")} | {f"{way}/.gitignore": FakeNode(f"{depth}.x".encode()) for depth, way in enumerate(ways, 1)}
    ignore = Ignore(fake(nodes))

    _, ignored = ignore.filter(ways[-1], files(*(f"{depth}.x" for depth in range(100))))

    assert 64 == len(ignored)
    assert 36 == len(ignore.problems(ways[-1]))


def test_error_too_many_rules_on_the_way() -> None:
    """Rules of some files on the way can be too many for the deeper ones to apply."""
    many = b"".join(b"rule%05d.x\n" % number for number in range(2_500))
    ignore = Ignore(fake({".gitignore": FakeNode(many), "a/.gitignore": FakeNode(many), "a/b/.gitignore": FakeNode(b"*.y")}))

    kept, ignored = ignore.filter("a/b", files("rule00001.x", "a.y"))

    assert (files("a.y"), files("rule00001.x")) == (kept, [entry for entry, _ in ignored])
    assert ["a/b/.gitignore"] == [problem.source for problem in ignore.problems("a/b")]


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        pytest.param("*a" * 120 + "b", "a" * 255, id="stars"),
        pytest.param("*" + "a" * 126 + "b*", "a" * 255, id="a long word between stars"),
        pytest.param("*[!b]" * 50 + "c", "a" * 255, id="brackets"),
        pytest.param("a/**/" * 40 + "b", "/".join("a" * 200), id="double stars"),
        pytest.param("**/*a*a/" * 28 + "b", "/".join(["a" * 15] * 200), id="stars between double stars"),
    ],
)
def test_hostile_rules_come_to_an_end(rule: str, name: str) -> None:
    """Rules that would keep a backtracking matcher busy for years are compared, without a match."""
    rules = gitignore.read_rules(rule.encode(), "")

    assert rules.weight > 0
    assert rules.decide(name, is_folder=False) is None


def test_comparing_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where comparing would take too long, the rest is kept, and a walk counts it."""
    monkeypatch.setattr(walking, "_MOST_STEPS", 60)
    root = fake({".": folder_of(*files("1.x", "2.x", "3.x")), ".gitignore": FakeNode(b"*.x")})

    kept, ignored = Ignore(root).filter(".", files("1.x", "2.x", "3.x"))
    names = walk(root, limit=None, ignore=Ignore(root))

    assert (files("2.x", "3.x"), files("1.x")) == (kept, [entry for entry, _ in ignored])
    assert ["2.x", "3.x"] == paths_of(names)
    assert {"ignored": 1, "unchecked": 2} == summary(names)


@pytest.mark.parametrize(
    ("stamp", "reads"),
    [
        pytest.param(lambda: SETTLED, 1, id="an old file"),
        pytest.param(lambda: None, 2, id="a file without a stamp"),
        pytest.param(lambda: (1, 1, 1, time.time_ns(), 5), 2, id="a file written just now"),
        pytest.param(lambda: (1, 1, 1, 5, time.time_ns()), 2, id="a file renamed just now"),
        pytest.param(lambda: (1, 1, 1, *[(time.time_ns() // 10**9 - 1) * 10**9] * 2), 2, id="a second ago, where seconds are whole"),
    ],
)
def test_rules_are_kept(stamp: Any, reads: int) -> None:
    """The rules of a file that cannot have changed are not read a second time."""
    node = FakeNode(b"*.x", stamp())
    ignore = Ignore(fake({".gitignore": node}))

    for _ in range(2):
        assert files("a") == ignore.filter(".", files("a", "a.x"))[0]

    assert reads == node.reads


def test_changed_rules_are_read() -> None:
    """Another stamp is another file, and no file has no rules."""
    nodes: dict[str, FakeNode | Trouble] = {".gitignore": FakeNode(b"*.x")}
    ignore = Ignore(fake(nodes))
    seen = [ignore.filter(".", files("a.x", "a.y"))[0]]

    nodes[".gitignore"] = FakeNode(b"*.y", (1, 1, 1, 1_000_000_002, 1_000_000_002))
    seen.append(ignore.filter(".", files("a.x", "a.y"))[0])
    del nodes[".gitignore"]
    seen.append(ignore.filter(".", files("a.x", "a.y"))[0])

    assert [files("a.y"), files("a.x"), files("a.x", "a.y")] == seen


def test_edit_of_the_same_size_is_seen(tree: Tree) -> None:
    """An edit within one tick of the clock changes what is ignored, though the stamp may be the same."""
    with Root(tree.folder) as root:
        ignore = Ignore(root)
        for number in range(200):
            gone, kept = ("a", "b") if number % 2 else ("b", "a")
            tree({".gitignore": gone})

            assert files(kept) == ignore.filter(".", files("a", "b"))[0]


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules of more files than a bound are not kept for ever."""
    monkeypatch.setattr(walking, "_MOST_KEPT", 3)
    ignore = Ignore(fake({f"{number}/.gitignore": FakeNode(b"*.x") for number in range(10)}))

    for number in range(10):
        assert [] == ignore.filter(str(number), files("a.x"))[0]

    assert 3 >= len(ignore._kept)


def test_threads_share_rules() -> None:
    """Many threads may ask one `Ignore` at once."""
    ignore = Ignore(fake({".gitignore": FakeNode(b"*.x", None), "s/.gitignore": FakeNode(b"!a.x")}))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ignore.filter("s", files("a", "a.x", "b.x"))[0], range(200)))

    assert [files("a", "a.x")] * 200 == answers


def test_pathspec_is_loaded_late() -> None:
    """The library that compares is not loaded before a name matches a rule."""
    code = (
        "import sys\n"
        "from filerefs.gitignore import read_rules\n"
        "import filerefs.walk\n"
        "rules = read_rules(b'*.x', '')\n"
        "rules.decide('a', is_folder=False)\n"
        "before = 'pathspec' in sys.modules\n"
        "rules.decide('a.x', is_folder=False)\n"
        "print(before, 'pathspec' in sys.modules)\n"
    )

    finished = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8")

    assert "False True" == finished.stdout.strip()


@pytest.fixture
def root(tree: Tree) -> Iterator[Root]:
    """Return the root of a small project."""
    tree(
        {
            ".gitignore": "node_modules/\n*.pyc\n",
            ".git/HEAD": "ref: refs/heads/main\n",
            ".env": "KEY=1\n",
            "README.md": "",
            "b/c/d.py": "",
            "b/c/d.pyc": "",
            "b/e.py": "",
            "a/f.py": "",
            "a/id_rsa": "",
            "node_modules/x/y.js": "",
            "link": tree.link("b"),
            "out": tree.link("/"),
        }
    )
    with Root(tree.folder) as opened:
        yield opened


def test_walk_is_breadth_first(root: Root) -> None:
    """Folders stand before what is in them, names in the order of their bytes; what rules and `Root` leave out is counted."""
    names = walk(root, limit=100)

    assert [".gitignore", "README.md", "a", "b", "link", "out", "a/f.py", "b/c", "b/e.py", "b/c/d.py"] == paths_of(names)
    assert {"ignored": 2, "withheld": 3} == summary(names)


def test_walk_says_what_a_name_is(root: Root) -> None:
    """Each path comes with its entry: its name and kind; a link is not followed."""
    found = dict(walk(root, limit=100))

    assert Entry("d.py", "file") == found["b/c/d.py"]
    assert Entry("c", "directory") == found["b/c"]
    assert Entry("out", "link") == found["out"]


def test_walk_without_rules(root: Root) -> None:
    """Without rules everything is there, but for secrets."""
    names = walk(root, limit=100, ignore=False)

    assert {"node_modules/x/y.js", "b/c/d.pyc"} <= set(paths_of(names))
    assert {"withheld": 3} == summary(names)


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        pytest.param(("b",), {"a/b", "d/B/x"}, id="a name, at any depth"),
        pytest.param(["B", "b"], {"a/b"}, id="several names"),
        pytest.param(frozenset({"b*", "d/B"}), {"a/b", "d/B/x", "b/c/b/x", "b/c/x"}, id="names are no patterns and no paths"),
        pytest.param((), {"a/b", "d/B/x", "b/c/b/x", "b/c/x"}, id="nothing"),
    ],
)
@pytest.mark.parametrize("ignore", [True, False])
def test_walk_without_some_folders(tree: Tree, without: Any, expected: set[str], *, ignore: bool) -> None:
    """Folders that the host does not want are neither shown nor entered, wherever they are; files of such names are shown."""
    tree({"a/b": "", "d/B/x": "", "b/c/b/x": "", "b/c/x": ""})

    with Root(tree.folder) as opened:
        names = walk(opened, limit=100, ignore=ignore, without=without)
        found = list(names)

    assert expected == {path for path, entry in found if entry.kind == "file"}
    assert not any(entry.name in without for _, entry in found if entry.kind == "directory")
    assert {} == summary(names)


def test_walk_from_a_folder_that_is_left_out_elsewhere(tree: Tree) -> None:
    """Whoever asks for a folder by its name gets it."""
    with Root(tree({"b/b/x": "", "b/y": ""})) as opened:
        assert ["b/y"] == paths_of(walk(opened, folder="b", limit=100, without=("b",)))


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        pytest.param(0, [], id="no level"),
        pytest.param(1, ["b/c", "b/e.py"], id="one level"),
        pytest.param(2, ["b/c", "b/e.py", "b/c/d.py"], id="two levels"),
        pytest.param(None, ["b/c", "b/e.py", "b/c/d.py"], id="all levels"),
    ],
)
def test_walk_to_a_depth(root: Root, depth: int | None, expected: list[str]) -> None:
    """A walk goes down as many levels as it is told; that is no cut."""
    names = walk(root, folder="b", limit=100, depth=depth)

    assert expected == paths_of(names)
    assert not names.cut


@pytest.mark.parametrize("limit", range(12))
def test_walk_to_a_limit(root: Root, limit: int) -> None:
    """A walk shows as many names as the limit allows, the first ones, and is cut only if there is one more."""
    all_names = paths_of(walk(root, limit=None))
    names = walk(root, limit=limit)

    assert all_names[:limit] == paths_of(names)
    assert (limit < len(all_names)) is names.cut


def test_walk_to_a_limit_for_a_folder(tree: Tree) -> None:
    """A folder with more names than a walk reads of one does not use the others up."""
    tree({f"aaa/f{number:04}.txt": "" for number in range(30)} | {"zzz/goal.txt": ""})

    with Root(tree.folder) as root:
        names = walk(root, limit=20, folder_entries=10)
        found = paths_of(names)

    assert (["aaa", "zzz"], 10, "zzz/goal.txt") == (found[:2], sum(path.startswith("aaa/") for path in found), found[-1])
    assert {"cut": 1} == summary(names)


def test_walk_of_ignored_names_ends() -> None:
    """A tree that holds next to nothing but ignored names is not looked at for ever."""
    folders = [Entry(f"d{number}", "directory") for number in range(50)]
    nodes = {".": folder_of(*folders), ".gitignore": FakeNode(b"*.x")}
    nodes |= {folder.name: folder_of(*files(*(f"{number}.x" for number in range(100)))) for folder in folders}
    names = walk(fake(nodes), limit=100)

    assert 50 == len(paths_of(names))
    assert {"cut": 1, "ignored": 1000} == summary(names)


def test_walk_reads_no_rules_that_are_not_there() -> None:
    """In a folder that was listed whole, a file of rules is only looked for if it is in the list."""
    root = FakeRoot({".": folder_of(Entry("a", "directory"), Entry("b", "directory")), "a": folder_of(*files(".gitignore", "x")), "b": folder_of(*files("x"))})
    root.nodes = {**root.nodes, "a/.gitignore": FakeNode(b"x")}

    found = paths_of(walk(cast("Root", root), limit=None))

    assert ["a", "b", "a/.gitignore", "b/x"] == found
    assert [".", ".gitignore", "a", "a/.gitignore", "b"] == root.opened


def test_walk_looks_for_rules_in_long_folders() -> None:
    """In a folder that was not listed whole, a file of rules is looked for."""
    long = FakeNode(kind="directory", listing=Listing((*files("1.x", "2"), Entry(".gitignore", "file")), more=False, withheld=0))
    names = walk(fake({".": folder_of(Entry("a", "directory")), "a": long, "a/.gitignore": FakeNode(b"*.x")}), limit=None, folder_entries=2)

    assert ["a", "a/2"] == paths_of(names)
    assert {"cut": 1, "ignored": 1} == summary(names)


def test_walk_keeps_rules(root: Root) -> None:
    """A walk with an `Ignore` of the host's own gives the same names."""
    ignore = Ignore(root)

    assert paths_of(walk(root, limit=100)) == paths_of(walk(root, limit=100, ignore=ignore)) == paths_of(walk(root, limit=100, ignore=ignore))


@pytest.mark.parametrize("name", ["~", "~x", "c:", "C:\\x", "-x", " ", "\n", "é"])
def test_walk_enters_odd_folders(tree: Tree, name: str) -> None:
    """A folder is entered whatever its name would mean elsewhere."""
    tree({f"{name}/a": "", f"{name}/.gitignore": "b\n", f"{name}/b": ""})

    with Root(tree.folder) as root:
        names = paths_of(walk(root, limit=None))

    assert [name, f"{name}/.gitignore", f"{name}/a"] == names


def test_error_walk_into_unreadable_folders() -> None:
    """A folder that cannot be opened or listed is skipped and counted; it is shown itself."""
    busy = Trouble(Reason.BUSY, "too many files are open")
    root = fake({".": folder_of(*(Entry(name, "directory") for name in "abc")), "a": busy, "b": FakeNode(listing=busy), "c": folder_of(*files("x"))})
    names = walk(root, limit=100)

    assert ["a", "b", "c", "c/x"] == paths_of(names)
    assert {"unreadable": 2} == summary(names)


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param("nowhere", id="not there"),
        pytest.param("README.md", id="a file"),
        pytest.param("link", id="a link"),
        pytest.param("../", id="outside"),
        pytest.param(".git", id="a secret"),
    ],
)
def test_error_walk_from_what_is_no_folder(root: Root, folder: str) -> None:
    """A walk from what is no folder inside shows nothing and says so."""
    names = walk(root, folder=folder, limit=100)

    assert [] == paths_of(names)
    assert {"unreadable": 1} == summary(names)


def test_error_walk_under_a_closed_root(tree: Tree) -> None:
    """Closing the root ends a walk with an exception: the names would look complete."""
    folder = tree({"a/b": ""})
    root = Root(folder)
    names = walk(root, limit=100)
    first = next(names)
    root.close()

    assert ("a", Entry("a", "directory")) == first
    with pytest.raises(RootClosedError):
        next(names)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        pytest.param({"limit": -1}, OptionError, id="negative limit"),
        pytest.param({"limit": "9"}, OptionTypeError, id="limit of another type"),
        pytest.param({"limit": True}, OptionTypeError, id="a truth for a limit"),
        pytest.param({"limit": 9, "depth": -1}, OptionError, id="negative depth"),
        pytest.param({"limit": 9, "folder_entries": -1}, OptionError, id="negative limit for a folder"),
        pytest.param({"limit": 9, "without": "build"}, OptionTypeError, id="one string, of which each letter would be a name"),
        pytest.param({"limit": 9, "without": None}, OptionTypeError, id="no collection of names"),
    ],
)
def test_error_options(root: Root, options: dict[str, Any], error: type[Exception]) -> None:
    """An option that makes no sense is misuse, and is said at once."""
    with pytest.raises(error):
        walk(root, **options)
