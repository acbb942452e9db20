"""What the person could type instead: a hint for each reason, from real folders, and never what must not be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filerefs import Limits, parse, preprocess
from filerefs.advice import hint_for
from filerefs.outcomes import Reason
from filerefs.resolving import Lookup
from filerefs.root import Root

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Tree


@pytest.fixture
def project(tree: Tree) -> Path:
    """Return a folder with names to be missed narrowly."""
    return tree(
        {
            **dict.fromkeys(
                ("main.py", "README.md", "src/app.py", "src/deep/model.py", "docs/guide one.md", "docs/setup/x", "it’s.md", "etc/hosts.txt"), "1\n"
            ),
            ".env": "x",
            ".envelope.txt": "1\n",
            "keys/server.pem": "x",
            "keys/server.pen": "1\n",
            "via.rs": tree.link("main.py"),
            "a\u202eb.md": "1\n",
        }
    )


def hint(path: str, reason: Reason, project: Path) -> str:
    """Return the hint for a refusal in *project*."""
    with Root(project) as root, Lookup(root) as lookup:
        return hint_for(path, reason, lookup)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("mian.py", "did you mean @main.py?", id="in the root"),
        pytest.param("src/ap.py", "did you mean @src/app.py?", id="in a folder"),
        pytest.param("src/depe/model.py", "did you mean @src/deep/?", id="a folder on the way"),
        pytest.param("sr/app.py", "did you mean @src/?", id="the first folder"),
        pytest.param("SRC/app.py", "did you mean @src/app.py?", id="a folder in another case"),
        pytest.param("Src/Deep/Model.py", "did you mean @src/deep/model.py?", id="all of the way in another case"),
        pytest.param("SRC/quux.rs", "did you mean @src/?", id="a folder in another case, and nothing near in it"),
        pytest.param("src/quux.rs", "", id="a folder as it is, and nothing near in it"),
        pytest.param("src\\quux.rs", "", id="the same as a Windows path"),
        pytest.param("MAIN.py/app.py", "did you mean @main.py?", id="a file in another case is no way"),
        pytest.param("src/app", "did you mean @src/app.py?", id="the extension left out"),
        pytest.param("docs/guide-one.md", 'did you mean @"docs/guide one.md"?', id="a name that needs quotes"),
        pytest.param("docs\\guide-one.md", 'did you mean @"docs/guide one.md"?', id="a Windows path"),
        pytest.param("docs/setpu/", "did you mean @docs/setup/?", id="a folder with its slash"),
        pytest.param("it's.md", 'did you mean @"it’s.md"?', id="another quote"),
        pytest.param("quux.rs", "", id="nothing near"),
        pytest.param("nope/nope/nope.rs", "", id="nothing near on the way"),
        pytest.param("ab.md", 'did you mean @"a\\u{202e}b.md"?', id="a name in which something hides"),
    ],
)
def test_near_names(project: Path, path: str, expected: str) -> None:
    """A name that is missed gets near names of the deepest folder that exists, as they can be typed."""
    assert hint(path, Reason.NOT_FOUND, project) == expected


@pytest.mark.parametrize("path", [".enf", ".env2", "keys/servr.pem", "via2.rs"])
def test_secrets_are_never_suggested(project: Path, path: str) -> None:
    """The name of a secret is in no hint, however near."""
    found = hint(path, Reason.NOT_FOUND, project)

    assert "@.env?" not in found
    assert "server.pem" not in found


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("/home/me/project/src/app.py", "did you mean @src/app.py?", id="the end of it exists"),
        pytest.param("C:\\work\\src\\app.py", "did you mean @src/app.py?", id="a drive"),
        pytest.param("/src", "did you mean @src?", id="a folder"),
        pytest.param("/etc/hosts.txt", "did you mean @etc/hosts.txt?", id="a path inside as from the root of the disk"),
        pytest.param("/x/../docs/./guide one.md", 'did you mean @"docs/guide one.md"?', id="dots on the way"),
        pytest.param("/etc/passwd", "name files relative to the project folder", id="nothing of it exists"),
        pytest.param("/x/.env", "name files relative to the project folder", id="the end of it is a secret"),
        pytest.param("/" + "a/" * 300, "name files relative to the project folder", id="very deep"),
        pytest.param("/", "name files relative to the project folder", id="the root of the disk"),
    ],
)
def test_absolute_paths(project: Path, path: str, expected: str) -> None:
    """Of an absolute path the longest end that exists inside is what was most likely meant."""
    assert hint(path, Reason.ABSOLUTE, project) == expected


@pytest.mark.parametrize(
    ("path", "reason", "expected"),
    [
        ("~/x", Reason.HOME, "name a file inside the project folder"),
        ("../x", Reason.OUTSIDE_ROOT, "name a file inside the project folder"),
        ("via.rs", Reason.SYMLINK, "name the file that the link leads to, if it is inside the project folder"),
        ("loop", Reason.SYMLINK_LOOP, "name the file that the link leads to, if it is inside the project folder"),
        ("main.py/", Reason.NOT_REGULAR, "did you mean @main.py?"),
        ("pipe", Reason.NOT_REGULAR, ""),
        ("main.py", Reason.BUDGET, "name fewer files, or only the lines that matter, as in @file:1-100"),
        ("main.py", Reason.TOO_MANY, "name the other files in a further message"),
        ("main.py", Reason.BAD_RANGE, "name lines that are there, or the whole file: @main.py"),
        ("a b.py", Reason.BAD_RANGE, 'name lines that are there, or the whole file: @"a b.py"'),
        ("docs/x", Reason.AMBIGUOUS, "copy the exact name out of @docs"),
        ("x", Reason.AMBIGUOUS, 'copy the exact name out of @"."'),
        ("main.py", Reason.BUSY, "try again"),
        ("main.py", Reason.PERMISSION, ""),
        (".env", Reason.SECRET, ""),
        ("x.bin", Reason.BINARY, ""),
        ("x\0", Reason.BAD_NAME, ""),
        ("main.py", Reason.IO_ERROR, ""),
    ],
)
def test_other_reasons(project: Path, path: str, reason: Reason, expected: str) -> None:
    """Each reason has its advice, or none where nothing else could be typed."""
    assert hint(path, reason, project) == expected


@pytest.mark.parametrize("reason", list(Reason))
@pytest.mark.parametrize("path", [".", "", "/", "//", "a\0b", "\ud800", "\u202e", "x" * 5000, "../..", "a/" * 400, "\\", "nope/"])
def test_no_path_is_too_odd(project: Path, path: str, reason: Reason) -> None:
    """Advice is one printable line for any reason and any path."""
    found = hint(path, reason, project)

    assert len(found.splitlines()) <= 1
    assert found.isprintable()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("@mian.py", ["main.py"], id="a near name"),
        pytest.param("@/home/me/src/app.py", ["src/app.py"], id="an absolute path"),
        pytest.param("@main.py:9", ["main.py"], id="a range behind the end"),
        pytest.param(
            '@"main.py/"',
            ["main.py"],
            id="a file named as a folder",
        ),
        pytest.param("@./mian.py", ["main.py"], id="a near name, from here"),
        pytest.param("@docs/guide-one.md", ["docs/guide one.md"], id="a name that needs quotes"),
    ],
)
def test_a_hint_can_be_typed(project: Path, message: str, expected: list[str]) -> None:
    """What a hint says is itself a message that attaches the file."""
    (refused,) = preprocess(message, root=project).refused
    mentioned = refused.hint[refused.hint.index("@") :].rstrip("?")

    assert [outcome.path for outcome in preprocess(mentioned, root=project).attached] == expected
    assert len(parse(mentioned)) == 1


def test_hints_go_to_the_person_alone(project: Path) -> None:
    """A hint stands in the warning and never in the section."""
    turn = preprocess("@mian.py", root=project)

    assert turn.warnings == ("could not attach @mian.py: no such file — did you mean @main.py?",)
    assert "main.py" not in turn.section.replace("mian.py", "")


def test_hints_have_an_end(tree: Tree) -> None:
    """Many near misses in a folder of names that are all alike get hints for the first of them."""
    project = tree({f"module_{number:04}.py": "" for number in range(300)})
    turn = preprocess(" ".join(f"@modul_{number:04}.py" for number in range(100)), root=project, limits=Limits(refs=None))

    hints = [bool(refused.hint) for refused in turn.refused]
    assert len(hints) == 100
    assert hints[0]
    assert not hints[-1]
