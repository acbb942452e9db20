"""Existence decides between the readings of a mention: real folders, one table for each rule."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from filerefs import kinds
from filerefs.errors import RootClosedError
from filerefs.mentions import parse
from filerefs.outcomes import Reason
from filerefs.resolving import COMPARISONS, LISTED, LISTINGS, PROBES, Hit, Lookup, Miss, Target, looks_like_path, resolve, resolve_one
from filerefs.root import Root, Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filerefs.root import Backend, Node, SymlinkPolicy

    from .conftest import Tree

BACKENDS = ["auto", "walk"]
NFC, NFD = "caf\u00e9.txt", "cafe\u0301.txt"
LONG = "x" * 248 + ".py"


class CountingRoot(Root):
    """A root that keeps a list of the names it was asked for."""

    def __init__(self, path: Path, *, symlinks: SymlinkPolicy = "refuse", backend: Backend = "auto") -> None:
        super().__init__(path, symlinks=symlinks, backend=backend)
        self.asked: list[str] = []

    def open(self, name: str) -> Node | Trouble:
        self.asked.append(name)
        return super().open(name)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Resolve names in either way."""
    found: Backend = request.param
    return found


@pytest.fixture
def project(tree: Tree) -> Path:
    """Return a folder with names that are hard to tell from what stands around them."""
    return tree(
        {
            **dict.fromkeys(("a.py", "b.py", "a", "x,y.csv", "x", "notes:7", "notes", "weird#name.md", "README.md", "my file.txt", "my file.txt now"), "1\n"),
            **dict.fromkeys(("app/[id]/page.tsx", "src/main.py", "src/deep/est.py", "文件.txt", "文", "it's", "@scope/pkg.json", "dot.", "-x"), "1\n"),
            "docs/my notes.md": "1\n",
            "docs/index.md": "1\n",
            "types/": None,
        }
    )


def found(message: str, root: Root, *, lenient: bool = True) -> list[str]:
    """Return what each mention of *message* is: `token -> name`, `token !reason`, or `token` for plain text."""
    refs = parse(message, lenient=lenient)
    answers = []
    with Lookup(root) as lookup:
        for ref, resolution in zip(refs, resolve(refs, lookup, lenient=lenient), strict=True):
            if isinstance(resolution, Hit):
                lines = "" if resolution.lines is None else f" {list(resolution.lines)}"
                answers.append(f"{ref.upto(resolution.end)} -> {resolution.target.name}{lines}{resolution.fragment}")
            elif isinstance(resolution, Miss):
                answers.append(f"{ref.upto(resolution.end)} !{resolution.trouble.reason}")
            else:
                answers.append(ref.token)
    return answers


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("see @a.py now", ["@a.py -> a.py"], id="a plain name"),
        pytest.param("(@a.py).", ["@a.py -> a.py"], id="brackets and a full stop"),
        pytest.param("@x,y.csv", ["@x,y.csv -> x,y.csv"], id="the longest name wins"),
        pytest.param("@x,z.csv", ["@x -> x"], id="else a shorter one"),
        pytest.param("@a.py,b.py", ["@a.py -> a.py"], id="words joined by a comma"),
        pytest.param("@app/[id]/page.tsx!", ["@app/[id]/page.tsx -> app/[id]/page.tsx"], id="brackets in the name"),
        pytest.param("查看@a.py的内容", ["@a.py -> a.py"], id="a script without blanks around"),
        pytest.param("@文件.txt和", ["@文件.txt -> 文件.txt"], id="a name in such a script"),
        pytest.param("@文章", ["@文章"], id="no cut inside one script"),
        pytest.param("@it's", ["@it's -> it's"], id="an apostrophe in the name"),
        pytest.param("@a.py's", ["@a.py -> a.py"], id="a possessive"),
        pytest.param("@dot.", ["@dot. -> dot."], id="a name that ends with a dot"),
        pytest.param("@-x", ["@-x -> -x"], id="a hyphen in front"),
        pytest.param("@notes:7", ["@notes:7 -> notes:7"], id="the literal name before a range"),
        pytest.param("@notes:8", ["@notes:8 -> notes [8, 8]"], id="else the range"),
        pytest.param("@weird#name.md", ["@weird#name.md -> weird#name.md"], id="a number sign in the name"),
        pytest.param("@README.md#install", ["@README.md -> README.md#install"], id="an anchor"),
        pytest.param("@a.py:main", ["@a.py -> a.py:main"], id="a symbol"),
        pytest.param("@a.py:3-4.", ["@a.py:3-4 -> a.py [3, 4]"], id="a range at the end of a sentence"),
        pytest.param("@src/", ["@src/ -> src"], id="a folder"),
        pytest.param("@src/.", ["@src/ -> src"], id="a folder and a full stop"),
        pytest.param("@./src", ["@./src -> src"], id="from here"),
        pytest.param("@src/../a.py", ["@src/../a.py -> a.py"], id="up and down"),
        pytest.param("@.", ["@. -> ."], id="the root"),
        pytest.param("@./", ["@./ -> ."], id="the root with a slash"),
        pytest.param("@@scope/pkg.json", ["@@scope/pkg.json -> @scope/pkg.json"], id="a folder with an at-sign"),
        pytest.param("@src\\main.py", ["@src\\main.py -> src/main.py"], id="a Windows path"),
        pytest.param('@"src\\main.py"', ['@"src\\main.py" -> src/main.py'], id="a Windows path in quotes"),
        pytest.param("@docs/my\\ notes.md", ["@docs/my\\ notes.md -> docs/my notes.md"], id="an escaped blank"),
        pytest.param('@"my file.txt"', ['@"my file.txt" -> my file.txt'], id="quotes"),
        pytest.param('@"a.py,"', ['@"a.py,"'], id="a quoted name never shrinks"),
        pytest.param('@"a,.py"', ['@"a,.py" !not_found'], id="and is missed if it looks like a path"),
        pytest.param("@app.route", ["@app.route"], id="a dot is no cut, though the folder exists"),
        pytest.param("@..", ["@.. !outside_root"], id="the parent is outside"),
        pytest.param("@../x.py", ["@../x.py !outside_root"], id="so is what is in it"),
        pytest.param("@/etc/passwd", ["@/etc/passwd !absolute"], id="an absolute path"),
        pytest.param("@C:\\x.py", ["@C:\\x.py !absolute"], id="a drive"),
        pytest.param("@~/x", ["@~/x !home"], id="a home folder"),
        pytest.param("@~x", ["@~x"], id="a tilde is a letter"),
        pytest.param("@a.py/x", ["@a.py/x !not_regular"], id="a file on the way"),
        pytest.param("@/etc/passwd,a.py", ["@/etc/passwd,a.py !absolute"], id="what is refused is remembered, the default reading's first"),
        pytest.param("@nope/../a.py", ["@nope/../a.py !not_found"], id="up from what does not exist"),
    ],
)
def test_names(project: Path, backend: Backend, message: str, expected: list[str]) -> None:
    """The longest reading that exists is what a mention names."""
    with Root(project, backend=backend) as root:
        assert found(message, root) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("@alice", ["@alice"], id="a person"),
        pytest.param("@Override", ["@Override"], id="an annotation"),
        pytest.param("@types/node", ["@types/node"], id="a scoped package, though the folder exists"),
        pytest.param("@pytest.fixture(scope='module')", ["@pytest.fixture(scope='module')"], id="a decorator"),
        pytest.param('@app.get("/x.json")', ['@app.get("/x.json")'], id="a decorator that holds a path"),
        pytest.param("@mock.patch", ["@mock.patch"], id="a method whose name is an extension"),
        pytest.param("@babel/core@7", ["@babel/core@7"], id="a package and its version"),
        pytest.param("@nope.py", ["@nope.py !not_found"], id="an extension"),
        pytest.param("@nope.py.", ["@nope.py !not_found"], id="an extension and a full stop"),
        pytest.param("@nope.PY", ["@nope.PY !not_found"], id="an extension in capitals"),
        pytest.param("@nope.py(1)", ["@nope.py(1)"], id="a call"),
        pytest.param("@./nope", ["@./nope !not_found"], id="it begins like a path"),
        pytest.param("@.\\nope", ["@.\\nope !not_found"], id="it begins like a Windows path"),
        pytest.param("@nope/", ["@nope/ !not_found"], id="it ends like a folder"),
        pytest.param("@src/mian.py", ["@src/mian.py !not_found"], id="an extension in a folder"),
        pytest.param("@src/deeep", ["@src/deeep !not_found"], id="a near name in a folder that exists"),
        pytest.param("@src/quux", ["@src/quux"], id="no near name in it"),
        pytest.param("@nope/deep", ["@nope/deep"], id="no such folder"),
        pytest.param("@nope.txt并总结", ["@nope.txt !not_found"], id="a sentence takes over"),
        pytest.param("@nope.py—with", ["@nope.py !not_found"], id="a dash takes over"),
        pytest.param('"@/x"', ["@/x"], id="an alias in quotes"),
        pytest.param("'@~/x'", ["@~/x"], id="an alias of the home folder in quotes"),
        pytest.param('"@components/nope.tsx"', ["@components/nope.tsx"], id="an import in quotes"),
        pytest.param('"@a.py"', ["@a.py -> a.py"], id="what exists is attached in quotes, too"),
        pytest.param('"@../x"', ["@../x !outside_root"], id="what leads out is refused in quotes, too"),
        pytest.param("@nul\0name.py", ["@nul\0name.py !bad_name"], id="a NUL in what looks like a path"),
        pytest.param("@nul\0name", ["@nul\0name"], id="a NUL in what does not"),
        pytest.param("@" + "x" * 300 + ".py", ["@" + "x" * 300 + ".py !bad_name"], id="a part that is too long"),
        pytest.param("@" + "x" * 300, ["@" + "x" * 300], id="a long word"),
        pytest.param(
            'import "@types/" now',
            ["@types/ -> types"],
            id="a folder in quotes that exists",
        ),
        pytest.param(
            'import "@nope/" now',
            ["@nope/"],
            id="a folder in quotes that does not",
        ),
    ],
)
def test_misses_and_plain_words(project: Path, backend: Backend, message: str, expected: list[str]) -> None:
    """What names nothing is reported if it looks like a path, and else leaves no trace."""
    with Root(project, backend=backend) as root:
        assert found(message, root) == expected


@pytest.mark.parametrize(
    ("message", "token", "path", "detail"),
    [
        pytest.param("@nope.py, then", "@nope.py", "nope.py", "no such file", id="a file"),
        pytest.param("@nope/, then", "@nope/", "nope/", "no such folder", id="a folder"),
        pytest.param("@nope.txt并总结 then", "@nope.txt", "nope.txt", "no such file", id="where a sentence takes over"),
        pytest.param("@.txt并总结 then", "@.txt并总结", None, None, id="an extension alone where a sentence takes over"),
        pytest.param("@src/deeep, then", "@src/deeep", "src/deeep", "no such file", id="a near name"),
        pytest.param("@src/deep/est.p, then", "@src/deep/est.p", "src/deep/est.p", "no such file", id="a near name in a folder of a folder"),
        pytest.param("@nul\0name.py, then", "@nul\0name.py", "nul\0name.py", "no file can have this name: it holds a NUL", id="no name at all"),
        pytest.param(f"@{LONG},,,,,, then", f"@{LONG}", LONG, "no file can have this name: it is too long", id="too long with what a sentence adds"),
    ],
)
def test_what_is_said_of_a_miss(project: Path, message: str, token: str, path: str | None, detail: str | None) -> None:
    """A miss is about what a person sees as the name: where it ends, what was typed, and why it is none."""
    (ref,) = parse(message)
    with Root(project) as root, Lookup(root) as lookup:
        resolution = resolve_one(ref, lookup)

    assert isinstance(resolution, Miss) is (path is not None)
    if isinstance(resolution, Miss):
        assert (ref.upto(resolution.end), resolution.path, resolution.trouble.detail) == (token, path, detail)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("@a@@b", ["@a -> a"], id="a name without quotes, which no at-sign can follow"),
        pytest.param("@x\\ y@b", ["@x\\ y@b"], id="an at-sign right behind"),
        pytest.param("@x\\ y＠b", ["@x\\ y＠b"], id="a full-width one"),
        pytest.param("@x\\ y*@b", ["@x\\ y*@b"], id="behind emphasis"),
        pytest.param("@x\\ y_~@b", ["@x\\ y_~@b"], id="behind emphasis of two kinds"),
        pytest.param("@x\\ y*b", ["@x\\ y*b"], id="no at-sign, and no place to cut"),
        pytest.param("@x\\ y,@b", ["@x\\ y -> x y", "@b"], id="a mention of its own"),
        pytest.param("@x\\ y)b", ["@x\\ y -> x y"], id="a bracket"),
        pytest.param("@x\\ y,z@b", ["@x\\ y -> x y"], id="a longer name that gives way, and a shorter one that need not"),
    ],
)
def test_what_gets_quotes_gives_way_to_an_at_sign(tree: Tree, message: str, expected: list[str]) -> None:
    """A name that would stand in quotes in the rewritten message is none where an at-sign of the same run stands behind them."""
    with Root(tree({"a": "1\n", "x y": "1\n", "x y,z": "1\n"})) as root:
        assert found(message, root) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("@docs/my long notes.md now", ["@docs/my long notes.md -> docs/my long notes.md"], id="two blanks, in a folder"),
        pytest.param("@our @file.txt", ["@our", "@file.txt -> file.txt"], id="not across the next mention"),
        pytest.param("@our @file.txt @file.txt", ["@our", "@file.txt -> file.txt", "@file.txt -> file.txt"], id="nor with a third behind it"),
        pytest.param("x @long thing @long way.txt", ["@long", "@long way.txt -> long way.txt"], id="the second time, where other words follow"),
    ],
)
def test_how_far_words_are_joined(tree: Tree, message: str, expected: list[str]) -> None:
    """Words behind a mention are tried up to the next one, in the folder that it names, each time anew."""
    with Root(tree(dict.fromkeys(("docs/my long notes.md", "our @file.txt", "file.txt", "long way.txt"), "1\n"))) as root:
        assert found(message, root) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("x @a.py y @a.py z", ["@a.py -> a.py"] * 2, id="a file"),
        pytest.param("x @no.py y @no.py z", ["@no.py !not_found"] * 2, id="a miss"),
        pytest.param("x @bob y @bob z", ["@bob"] * 2, id="a word"),
        pytest.param('x "@/y" and @/y" z', ["@/y", "@/y !absolute"], id="a word in quotes is plain, the same outside is none"),
        pytest.param('x "@/y" and "@/y, z', ["@/y", "@/y !absolute"], id="nor where the quote goes on"),
    ],
)
def test_the_same_again(project: Path, message: str, expected: list[str]) -> None:
    """What stands in a message twice is understood twice, and each time by what stands around it."""
    with Root(project) as root:
        assert found(message, root) == expected


def test_longest_name_that_was_refused(tree: Tree) -> None:
    """Of several names that are refused, none of which is the one that a person sees, the longest is told."""
    link = tree.link("t")
    with Root(tree({"t": "1\n", "a,b": link, "a": link})) as root:
        assert found("@a,b,c", root) == ["@a,b !symlink"]


def test_names_that_are_known_when_lookups_ran_out(project: Path) -> None:
    """What was found is attached with its lines to the end; what was not is too many if it looks like a path, else plain."""
    with Root(project) as root, Lookup(root) as lookup:
        target = lookup.find("a.py")
        assert isinstance(target, Target)
        lookup.spent = True
        refs = parse("@a.py:1, @no.py, @b.py:2 @bob")
        answers = list(resolve(refs, lookup, lenient=True))

    assert answers[0] == Hit(refs[0].end, target, (1, 1), "")
    assert [answer and (answer.end, answer.path, answer.trouble.reason) for answer in answers[1:] if not isinstance(answer, Hit)] == [
        (refs[1].end, "no.py", Reason.TOO_MANY),
        (refs[2].end, "b.py", Reason.TOO_MANY),
        None,
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param('@"q" file.txt', ['@"q"'], id="words behind a quoted name"),
        pytest.param("@our\tfile.txt now", ["@our\tfile.txt -> our\tfile.txt"], id="a tab in the name"),
    ],
)
def test_what_may_be_joined(tree: Tree, message: str, expected: list[str]) -> None:
    """A quoted name ends at its quote, whatever the folder holds; a tab is a blank."""
    with Root(tree({'"q" file.txt': "1\n", "our\tfile.txt": "1\n"})) as root:
        assert found(message, root) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("read @docs/my notes.md now", ["@docs/my notes.md -> docs/my notes.md"], id="a blank in the name"),
        pytest.param("@my file.txt:1 x", ["@my file.txt:1 -> my file.txt [1, 1]"], id="with a range"),
        pytest.param("@my file.txt, then", ["@my file.txt -> my file.txt"], id="with a comma"),
        pytest.param("@my file.txt now", ["@my file.txt now -> my file.txt now"], id="the longest name wins"),
        pytest.param("@my @a.py file.txt", ["@my", "@a.py -> a.py"], id="not across the next mention"),
        pytest.param("@my\nfile.txt", ["@my"], id="not across a line end"),
        pytest.param("@my house", ["@my"], id="no such name"),
        pytest.param("@a file.txt", ["@a -> a"], id="what exists without the words is that"),
        pytest.param("@nope/my notes.md", ["@nope/my"], id="in no such folder"),
        pytest.param("@my and @my file.txt", ["@my", "@my file.txt -> my file.txt"], id="first as a word, then as a name"),
    ],
)
def test_blanks(project: Path, backend: Backend, message: str, expected: list[str]) -> None:
    """Words behind a mention that names nothing are joined to it if that makes the name of a file."""
    with Root(project, backend=backend) as root:
        assert found(message, root) == expected
        strict = [answer for answer in found(message, root, lenient=False) if " " in answer.partition(" ->")[0]]
        assert strict == []


@pytest.mark.parametrize(
    ("names", "message", "expected"),
    [
        pytest.param([NFC], f"@{NFC}", [f"@{NFC} -> {NFC}"], id="composed, typed so"),
        pytest.param([NFC], f"@{NFD}", [f"@{NFD} -> {NFC}"], id="composed, typed decomposed"),
        pytest.param([NFD], f"@{NFC}", [f"@{NFC} -> {NFD}"], id="decomposed, typed composed"),
        pytest.param([NFC, NFD], f"@{NFC}", [f"@{NFC} -> {NFC}"], id="both there, the exact one wins"),
        pytest.param([NFC, NFD], f"@{NFD}", [f"@{NFD} -> {NFD}"], id="both there, the other exact one"),
        pytest.param(
            ["\u00e9\u00e9.txt", "e\u0301e\u0301.txt"],
            "@\u00e9e\u0301.txt",
            ["@\u00e9e\u0301.txt !ambiguous"],
            id="both there, typed in a third way",
        ),
        pytest.param(["\u00e9\u00e9.txt"], "@\u00e9e\u0301.txt", ["@\u00e9e\u0301.txt -> \u00e9\u00e9.txt"], id="one there, typed in a third way"),
        pytest.param([f"cafe\u0301/{NFD}"], f"@caf\u00e9/{NFC}", [f"@caf\u00e9/{NFC} -> cafe\u0301/{NFD}"], id="folder and file"),
        pytest.param(["cafe\u0301/x"], "@caf\u00e9/", ["@caf\u00e9/ -> cafe\u0301"], id="a folder with its slash"),
        pytest.param(
            ["cafe\u0301/x"],
            '@"caf\u00e9/"',
            ['@"caf\u00e9/" -> cafe\u0301'],
            id="a folder in quotes",
        ),
        pytest.param(
            ["re\u0301sume\u0301 2024.txt"],
            "@r\u00e9sum\u00e9 2024.txt",
            ["@r\u00e9sum\u00e9 2024.txt -> re\u0301sume\u0301 2024.txt"],
            id="a name with a blank",
        ),
        pytest.param([NFC], "@Caf\u00e9.txt", ["@Caf\u00e9.txt !not_found"], id="another case is a hint, never a hit"),
    ],
)
@pytest.mark.skipif(sys.platform == "darwin", reason="there both spellings are one name")
def test_accents(tree: Tree, backend: Backend, names: list[str], message: str, expected: list[str]) -> None:
    """The exact bytes first, then the composed and the decomposed spelling."""
    with Root(tree(dict.fromkeys(names, "1\n")), backend=backend) as root:
        assert found(message, root) == expected


@pytest.mark.skipif(sys.platform == "darwin", reason="there both spellings are one name")
def test_two_names_that_differ_in_their_accents_alone(tree: Tree) -> None:
    """Where a third spelling may mean either of two names, it is said why neither is taken."""
    composed, mixed, decomposed = "\u00e9\u00e9.txt", "\u00e9e\u0301.txt", "e\u0301e\u0301.txt"
    with Root(tree({composed: "1\n", decomposed: "1\n"})) as root, Lookup(root) as lookup:
        assert lookup.find(mixed) == Trouble(Reason.AMBIGUOUS, "two names differ from this one only in how their accents are encoded")


LINKED = [
    pytest.param("@link.py", "@link.py !symlink", "@link.py -> link.py", id="to a file"),
    pytest.param("@folder/main.py", "@folder/main.py !symlink", "@folder/main.py -> folder/main.py", id="on the way"),
    pytest.param("@out", "@out !symlink", "@out !outside_root", id="out"),
    pytest.param("@absolute", "@absolute !symlink", "@absolute !outside_root", id="absolute"),
    pytest.param("@loop", "@loop !symlink", "@loop !symlink_loop", id="in a circle"),
    pytest.param("@dangling", "@dangling !symlink", "@dangling", id="to nothing"),
    pytest.param("@dangling.py", "@dangling.py !symlink", "@dangling.py !not_found", id="to nothing that looks like a path"),
    pytest.param("@key", "@key !symlink", "@key !secret", id="to a secret"),
]


@pytest.mark.parametrize(("message", "refused", "inside"), LINKED)
def test_links(tree: Tree, backend: Backend, message: str, refused: str, inside: str) -> None:
    """Links are refused, or followed as long as they stay inside."""
    (tree.folder.parent / "outside.txt").write_text("x", encoding="utf-8")
    project = tree(
        {
            "a.py": "1\n",
            "src/main.py": "1\n",
            ".env": "x",
            "link.py": tree.link("a.py"),
            "folder": tree.link("src"),
            "out": tree.link("../outside.txt"),
            "absolute": tree.link(tree.folder / "a.py"),
            "loop": tree.link("loop"),
            "dangling": tree.link("nothing"),
            "dangling.py": tree.link("nothing"),
            "key": tree.link(".env"),
        }
    )
    with Root(project, backend=backend) as root:
        assert found(message, root) == [refused]
    with Root(project, symlinks="inside", backend=backend) as root:
        assert found(message, root) == [inside]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param('@"my file.txt"@a.py', ['@"my file.txt" -> my file.txt', "@a.py -> a.py"], id="bare"),
        pytest.param("@'my file.txt'@\"a.py\"", ["@'my file.txt' -> my file.txt", '@"a.py" -> a.py'], id="quoted"),
        pytest.param('@"my file.txt"@alice', ['@"my file.txt" -> my file.txt', "@alice"], id="a word"),
    ],
)
def test_quoted_name_right_before_another_mention(project: Path, message: str, expected: list[str]) -> None:
    """A quoted name ends where its quote does, whatever stands behind it."""
    with Root(project) as root:
        assert found(message, root) == expected


def test_what_is_refused_gives_way_to_a_shorter_name(tree: Tree) -> None:
    """A refusal is only reported if no shorter reading exists."""
    project = tree({"a": "1\n", "a,b": tree.link("a")})

    with Root(project) as root:
        assert found("@a,b", root) == ["@a -> a"]
        assert found("@a,b.", root) == ["@a -> a"]


def test_refusal_of_the_default_reading_says_most(tree: Tree) -> None:
    """Of several refusals that is kept which a person sees as the name."""
    project = tree({"b": tree.link("x"), "b.": tree.link("x")})

    with Root(project) as root:
        assert found("@b.", root) == ["@b !symlink"]


def test_mention_alone(project: Path) -> None:
    """A mention in code is looked up by itself, without the words behind it."""
    with Root(project) as root, Lookup(root) as lookup:
        assert isinstance(resolve_one(parse("@a.py")[0], lookup), Hit)
        assert resolve_one(parse("@my file.txt")[0], lookup) is None


def test_each_name_is_looked_up_once(project: Path) -> None:
    """A name that stands in a message often costs one call to the system."""
    with CountingRoot(project) as root:
        answers = found("@a.py @a.py, @a.py. @alice @alice @alice, @alice @my file.txt @my house", root)

        assert answers == [*["@a.py -> a.py"] * 3, *["@alice"] * 4, "@my file.txt -> my file.txt", "@my"]
        assert sorted(root.asked) == sorted({*root.asked})


def test_names_that_cannot_exist_cost_nothing(project: Path) -> None:
    """Once many names missed, the root's listing is read, and a first part that is not in it is not looked up."""
    words = [f"@word{number}" for number in range(200)]
    with CountingRoot(project) as root:
        assert found(" ".join([*words, "@a.py", "@./b.py", "@src/../a.py", "@README.md"]), root)[200:] == [
            "@a.py -> a.py",
            "@./b.py -> b.py",
            "@src/../a.py -> a.py",
            "@README.md -> README.md",
        ]

        assert len(root.asked) < 40
        assert root.asked.count(".") == 1


@pytest.mark.parametrize(
    ("stem", "most"),
    [
        pytest.param("word", 17, id="words: sixteen misses, and the listing"),
        pytest.param("w\u00f6rd", 18, id="beyond ASCII, where a miss has two spellings"),
        pytest.param("ab:word", 17, id="a colon that is no drive's"),
    ],
)
def test_cost_of_many_misses(project: Path, stem: str, most: int) -> None:
    """Sixteen names that miss are looked up; then the listing of the root answers for the rest."""
    message = " ".join(f'@"{stem}{number}"' if ":" in stem else f"@{stem}{number}" for number in range(100))
    with CountingRoot(project) as root:
        found(message, root, lenient=False)

        assert len(root.asked) <= most


def test_few_misses_read_no_listing(project: Path) -> None:
    """A listing costs more than a few names that miss, so it waits for many of them."""
    with CountingRoot(project) as root:
        found(" ".join(f"@word{number}" for number in range(15)), root, lenient=False)

        assert root.asked == [f"word{number}" for number in range(15)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param(".env", "@.env !secret", id="a secret that is in no listing"),
        pytest.param(".git/config", "@.git/config !secret", id="a folder of secrets"),
        pytest.param(NFD, f"@{NFD} -> {NFC}", id="another spelling"),
        pytest.param("src\\main.py", "@src\\main.py -> src/main.py", id="a Windows path"),
        pytest.param("../x.py", "@../x.py !outside_root", id="what leads out"),
        pytest.param("~/x", "@~/x !home", id="a home folder"),
        pytest.param("C:\\x.py", "@C:\\x.py !absolute", id="a drive"),
        pytest.param("C:/x.py", "@C:/x.py !absolute", id="a drive with slashes"),
        pytest.param("~\\x.py", "@~\\x.py !home", id="a home folder with a backslash"),
        pytest.param("my\\ file.txt", "@my\\ file.txt -> my file.txt", id="an escaped blank"),
        pytest.param("/x", "@/x !absolute", id="an absolute path"),
        pytest.param("link/x", "@link/x !symlink", id="through a link"),
        pytest.param("x\0y.py", "@x\0y.py !bad_name", id="a name that no file can have"),
        pytest.param("x" * 300 + ".py", "@" + "x" * 300 + ".py !bad_name", id="a name that is too long"),
    ],
)
def test_listing_rules_nothing_out_that_means_something(tree: Tree, backend: Backend, name: str, expected: str) -> None:
    """Behind many misses a name still gets the answer that it gets alone."""
    project = tree({".env": "x", ".git/config": "x", NFC: "1\n", "src/main.py": "1\n", "my file.txt": "1\n", "link": tree.link("src")})
    words = " ".join(f"@word{number}" for number in range(100))

    with Root(project, backend=backend) as root:
        assert found(f"@{name}", root) == [expected]
        assert found(f"{words} @{name}", root)[-1:] == [expected]


def test_one_withheld_name_is_enough(tree: Tree, backend: Backend) -> None:
    """One secret that is in no listing is reason enough to look secret names up."""
    project = tree({".env": "x", "a.py": "1\n"})
    words = " ".join(f"@word{number}" for number in range(100))

    with Root(project, backend=backend) as root:
        assert found(f"{words} @.env", root)[-1:] == ["@.env !secret"]


def test_empty_root(tree: Tree) -> None:
    """A folder without names is no reason to look for none."""
    with Root(tree.folder) as root:
        assert found(" ".join(f"@word{number}" for number in range(50)), root) == [f"@word{number}" for number in range(50)]


def test_root_with_more_names_than_are_listed(tree: Tree) -> None:
    """A listing that is not complete rules nothing out."""
    project = tree({f"file{number}": "" for number in range(LISTED + 50)})
    names = [f"@file{number}" for number in range(LISTED, LISTED + 50)]

    with Root(project) as root:
        answers = found(" ".join([f"@word{number}" for number in range(50)] + names), root)
        with Lookup(root) as lookup:
            listing = lookup.listing(".")

    assert answers[50:] == [f"{name} -> {name[1:]}" for name in names]
    assert listing is not None
    assert (len(listing.entries), listing.more) == (LISTED, True)


def test_lookups_have_an_end(tree: Tree) -> None:
    """A turn looks so many names up; what is left is too many if it looks like a path, else it is plain text."""
    project = tree({"src/a.py": "1\n", "known.py": "1\n"})
    message = "@known.py " + " ".join(f"@src/x{number}.py" for number in range(PROBES + 100)) + " @alice @known.py @src/a.py @src/x0.py"

    with CountingRoot(project) as root, Lookup(root) as lookup:
        refs = parse(message)
        answers = list(resolve(refs, lookup, lenient=True))

        assert lookup.spent
        assert len(root.asked) <= PROBES + LISTINGS
    reasons = [answer.trouble.reason if isinstance(answer, Miss) else None for answer in answers[1:-4]]
    assert set(reasons) == {Reason.NOT_FOUND, Reason.TOO_MANY}
    assert reasons == sorted(reasons, key=[Reason.NOT_FOUND, Reason.TOO_MANY].index)
    assert answers[-4] is None
    # What was found before is known without another look; what missed before is not known to be missing still.
    assert isinstance(answers[-3], Hit)
    assert isinstance(answers[-2], Miss)
    assert isinstance(answers[-1], Miss)
    assert [answer.trouble.reason for answer in answers[-2:] if isinstance(answer, Miss)] == [Reason.TOO_MANY] * 2


def test_last_lookup(tree: Tree) -> None:
    """As many names are looked up as are allowed, and not one more."""
    with CountingRoot(tree({"src/a.py": "1\n"})) as root, Lookup(root) as lookup:
        answers = [lookup.find(f"src/x{number}.py") for number in range(PROBES + 1)]

        assert len([name for name in root.asked if name != "."]) == PROBES
    assert {answer.reason for answer in answers[:-1] if isinstance(answer, Trouble)} == {Reason.NOT_FOUND}
    assert answers[-1] == Trouble(Reason.TOO_MANY, "not looked up: a turn looks up 4096 names at most")


def test_listings_have_an_end(tree: Tree) -> None:
    """A turn reads so many folders; then there are no more near names, and nothing else changes."""
    project = tree({f"d{number}/name.txt": "1\n" for number in range(LISTINGS + 10)})

    with Root(project) as root, Lookup(root) as lookup:
        listings = [lookup.listing(f"d{number}") for number in range(LISTINGS + 10)]

        assert [listing is not None for listing in listings] == [True] * LISTINGS + [False] * 10
        assert lookup.listing("d0") is listings[0]


def test_comparisons_have_an_end(tree: Tree) -> None:
    """So many names are compared with those of their folder; further ones have no near names."""
    project = tree({"src/name.txt": "1\n"})

    with Root(project) as root, Lookup(root) as lookup:
        near = [lookup.near("src", f"name{number}.txt") for number in range(COMPARISONS + 5)]

        assert near == [["name.txt"]] * COMPARISONS + [[]] * 5
        assert lookup.near("src", "name0.txt") == ["name.txt"]


def test_no_listing_of_a_file_or_of_nothing(project: Path) -> None:
    """Only a folder has a listing."""
    with Root(project) as root, Lookup(root) as lookup:
        assert lookup.listing("a.py") is None
        assert lookup.listing("nope") is None
        assert lookup.near("nope", "x") == []
        assert not lookup.goes_on("a.py", "x")


def test_only_blanks_go_on(tree: Tree) -> None:
    """A name goes on behind a beginning with a blank or a tab, not with a letter."""
    with Root(tree({"my file.txt": "", "our\tfile.txt": "", "aXb.txt": ""})) as root, Lookup(root) as lookup:
        assert [lookup.goes_on(".", beginning) for beginning in ("my", "our", "a", "m")] == [True, True, False, False]


def test_what_was_found_is_what_is_read(project: Path) -> None:
    """A file is read through the handle that it was found with, not through its name a second time."""
    with Root(project) as root, Lookup(root) as lookup:
        target = lookup.find("a.py")
        assert isinstance(target, Target)
        first = target.node
        (project / "a.py").unlink()

        node = lookup.open(target)
        assert not isinstance(node, Trouble)
        with node:
            assert node is first
            assert node.read(10) == b"1\n"


def test_what_is_held_stays_open(project: Path) -> None:
    """A file that is held is opened once, is what is read later, and is closed at the end if nobody took it."""
    with Root(project) as root, Lookup(root) as lookup:
        target = lookup.find("a.py")
        assert isinstance(target, Target)
        first = lookup.open(target)
        assert not isinstance(first, Trouble)
        first.close()

        held = lookup.hold(target)
        assert not isinstance(held, Trouble)
        assert held is lookup.open(target)
        assert held.read(10) == b"1\n"
        held.close()
        left = lookup.hold(target)
        assert not isinstance(left, Trouble)
    with pytest.raises(RootClosedError):
        left.read(10)


def test_error_what_is_gone_cannot_be_held(project: Path) -> None:
    """Of a file that went away nothing is kept."""
    with Root(project) as root, Lookup(root) as lookup:
        target = lookup.find("a.py")
        assert isinstance(target, Target)
        node = lookup.open(target)
        assert not isinstance(node, Trouble)
        node.close()
        (project / "a.py").unlink()

        assert lookup.hold(target) == Trouble(Reason.NOT_FOUND, "no such file")
        assert target.node is None


def test_found_files_are_closed_at_the_end(tree: Tree) -> None:
    """Files that were found but never read are closed with the lookup, however many; the watch on descriptors tells."""
    project = tree({f"{number}.txt": "1\n" for number in range(100)})

    with Root(project) as root, Lookup(root) as lookup:
        targets = [lookup.find(f"{number}.txt") for number in range(100)]
        kept = [target for target in targets if isinstance(target, Target) and target.node is not None]

        assert 0 < len(kept) < 50
        for target in targets:
            assert isinstance(target, Target)
            node = lookup.open(target)
            assert not isinstance(node, Trouble)
            with node:
                assert node.read(10) == b"1\n"


def test_a_file_that_went_between_looking_and_reading(tree: Tree) -> None:
    """A file that was let go of and is gone by then is a refusal."""
    project = tree({"a.txt": "1\n"})
    with Root(project) as root, Lookup(root) as lookup:
        target = lookup.find("a.txt")
        assert isinstance(target, Target)
        assert target.node is not None
        target.node.close()
        target.node = None
        (project / "a.txt").unlink()

        assert lookup.open(target) == Trouble(Reason.NOT_FOUND, "no such file")


def test_folder_that_was_deleted(tree: Tree, backend: Backend) -> None:
    """Without its folder a turn says of every path that the folder is gone."""
    project = tree({"a.py": "1\n"})
    with Root(project, backend=backend) as root:
        (project / "a.py").unlink()
        project.rmdir()

        with Lookup(root) as lookup:
            (answer,) = resolve(parse("@a.py"), lookup, lenient=True)

    assert isinstance(answer, Miss)
    assert answer.trouble.reason is Reason.NOT_FOUND
    assert "root folder itself was deleted" in answer.trouble.detail


def test_words_stay_words_when_the_folder_was_deleted(tree: Tree) -> None:
    """A person's name is no path, whatever became of the folder."""
    project = tree({})
    with Root(project) as root:
        project.rmdir()

        assert found("@alice @app.route('/x') @types/node", root) == ["@alice", "@app.route('/x')", "@types/node"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        *(
            pytest.param(path, True, id=f"{path} does")
            for path in ("./x", "../x", "~/x", "/x", ".\\x", "..\\x", "x/", "C:\\x", "c:/x", "a.py", "a/b.tsx", "a\\b.md", "x.png", "go.mod")
        ),
        *(
            pytest.param(path, False, id=f"{path} does not")
            for path in ("x", "a/b", "@scope/x", "a.b", "1:/x", "é:/x", ".md", "a\\.md", "http://x/a.py", "a.py(", "mail.ru", "np.dot", "v1.2", "x.", "")
        ),
    ],
)
def test_what_looks_like_a_path(path: str, *, expected: bool) -> None:
    """A name that does not exist was meant as a path if it begins, ends or is extended like one."""
    assert looks_like_path(path) is expected


def test_every_language_of_the_table_makes_a_path() -> None:
    """Whatever extension gets a language, apart from words and domains, makes a name look like a path."""
    samples: Iterator[str] = (
        f"x.{extension}" for extension in ("py", "rs", "ts", "go", "java", "md", "json", "yaml", "toml", "c", "cpp", "sh", "sql", "html", "css")
    )

    assert all(looks_like_path(sample) and kinds.language(sample) for sample in samples)
