"""Which files are found, in which order, by which names, and what is said of those that are not."""

from __future__ import annotations

import dataclasses
import os
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from filerefs import upward
from filerefs.agentsmd import discovery
from filerefs.agentsmd.discovery import discover
from filerefs.agentsmd.documents import Discovery, Doc, Omission, Omitted
from filerefs.agentsmd.places import called, relative_to
from filerefs.agentsmd.profiles import CHAIN, CODEX, DEFAULT, EINO
from filerefs.agentsmd.surroundings import Repository, files_above, names_beside, repository_named
from filerefs.errors import OptionError, OptionTypeError, RootNotFoundError, UnsupportedPlatformError
from filerefs.roots import MemoryRoot

if TYPE_CHECKING:
    from conftest import Tree

GIT = {".git/HEAD": "ref: refs/heads/main\n"}


def names(found: Discovery) -> list[str]:
    """Return the names of the documents, in print order."""
    return [doc.name for doc in found]


def left_out(found: Discovery) -> list[tuple[str, Omission, str]]:
    """Return what is left out, why, and for which other file."""
    return [(one.name, one.reason, one.by) for one in found.omitted]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("a/b", ["AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md"], id="a folder"),
        pytest.param("a/b/code.py", ["AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md"], id="a file"),
        pytest.param("a/b/new.py", ["AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md"], id="a file that does not exist yet"),
        pytest.param("a/new/deep/er.py", ["AGENTS.md", "a/AGENTS.md"], id="a file in folders that do not exist yet"),
        pytest.param("a/new/deep/", ["AGENTS.md", "a/AGENTS.md"], id="a folder that does not exist yet"),
        pytest.param("a/b/code.py/no", ["AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md"], id="a path through a file"),
        pytest.param("a/../a/b/.", ["AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md"], id="a path that is not tidy"),
        pytest.param("into", ["AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md"], id="a link to a folder"),
        pytest.param("out.py", ["AGENTS.md"], id="a link to a file counts where it lies"),
        pytest.param(".", ["AGENTS.md"], id="the root itself"),
    ],
)
def test_where_the_search_starts(path: str, expected: list[str], tree: Tree) -> None:
    """From a folder or a file's folder up to the root, however the path is written; printed from the root down."""
    folder = tree({**GIT, "AGENTS.md": "0", "a/AGENTS.md": "1", "a/b/AGENTS.md": "2", "a/b/code.py": "", "c/AGENTS.md": "no"})
    tree({"into": tree.link("a/b"), "out.py": tree.link("a/b/code.py")})

    assert expected == names(discover(os.path.join(folder, path)))  # noqa: PTH118 (pathlib would tidy it)


def test_a_path_is_relative_to_the_working_directory(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any argument the working directory is what is worked on."""
    folder = tree({**GIT, "AGENTS.md": "0", "a/AGENTS.md": "1", "u.md": "U"})
    monkeypatch.chdir(folder / "a")

    assert ["AGENTS.md", "a/AGENTS.md"] == names(discover())
    assert ["u.md", "AGENTS.md"] == names(discover("..", extra=["../u.md"]))


@pytest.mark.parametrize(
    ("marker", "entry"),
    [pytest.param(".git", None, id="a folder"), pytest.param(".git", "gitdir: /x\n", id="a file"), pytest.param("pyproject.toml", "", id="another name")],
)
def test_the_nearest_marker_is_the_root(marker: str, entry: str | None, tree: Tree) -> None:
    """Nothing above the nearest folder with a marker is read, and the answer says which folder that was."""
    folder = tree({marker: entry, "AGENTS.md": "0", "p": None, f"p/{marker}": entry, "p/AGENTS.md": "1", "p/q/AGENTS.md": "2"})

    found = discover(folder / "p" / "q", markers=["no", marker])

    assert ["AGENTS.md", "q/AGENTS.md"] == names(found)
    assert f"p (nearest folder with {marker})" == found.root


def test_a_link_to_nothing_marks_nothing(tree: Tree) -> None:
    """A marker has to exist."""
    folder = tree({**GIT, "AGENTS.md": "0", "p/.git": tree.link("gone"), "p/AGENTS.md": "1"})

    assert ["AGENTS.md", "p/AGENTS.md"] == names(discover(folder / "p"))


def test_without_a_root_the_start_folder_stands_alone(tree: Tree) -> None:
    """Nobody's files above are picked up by chance."""
    found = discover(tree({"AGENTS.md": "0", "p/AGENTS.md": "1"}) / "p")

    assert ["AGENTS.md"] == names(found)
    assert "1" == found.docs[0].text
    assert found.root.startswith("p (the start folder alone")


def test_the_home_folder_ends_the_search(tree: Tree) -> None:
    """A marker above the home folder counts for nothing below it; one in it does."""
    folder = tree({**GIT, "AGENTS.md": "0", "home/p/AGENTS.md": "1", "home/AGENTS.md": "H"})

    assert ["1"] == [doc.text for doc in discover(folder / "home" / "p", home=folder / "home")]
    assert ["0", "H", "1"] == [doc.text for doc in discover(folder / "home" / "p", home=folder / "elsewhere")]

    tree({"home/.git": None})

    assert ["H", "1"] == [doc.text for doc in discover(folder / "home" / "p", home=folder / "home")]


def test_a_folder_for_everybody_is_no_root_by_itself(tree: Tree) -> None:
    """In a folder like /tmp anybody could put a marker and instructions; whoever means it, gives it as the root."""
    folder = tree({**GIT, "AGENTS.md": "EVIL", "p/AGENTS.md": "1"})
    folder.chmod(0o1777)

    assert ["1"] == [doc.text for doc in discover(folder / "p")]
    assert ["EVIL", "1"] == [doc.text for doc in discover(folder / "p", root=folder)]


def test_error_outside_of_the_root(tree: Tree) -> None:
    """A path that does not lie in the root is misuse, also where its text begins like the root's."""
    folder = tree({"p/x": "", "pq/x": ""})

    with pytest.raises(OptionError, match="inside `root`"):
        discover(folder / "pq", root=folder / "p")


@pytest.mark.parametrize("root", ["gone", "file"])
def test_error_no_root(root: str, tree: Tree) -> None:
    """A root that is no folder is misuse."""
    folder = tree({"file": ""})

    with pytest.raises(RootNotFoundError):
        discover(folder, root=folder / root)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        pytest.param({"names": "AGENTS.md"}, OptionTypeError, id="names as one string"),
        pytest.param({"names": [1]}, OptionTypeError, id="a name that is no string"),
        pytest.param({"names": ["../AGENTS.md"]}, OptionError, id="a name that climbs"),
        pytest.param({"names": ["/etc/AGENTS.md"]}, OptionError, id="an absolute name"),
        pytest.param({"markers": ["../.git"]}, OptionError, id="a marker that climbs"),
        pytest.param({"extra": "AGENTS.md"}, OptionTypeError, id="extra as one string"),
        pytest.param({"user_files": Path("AGENTS.md")}, OptionTypeError, id="user files as one path"),
        pytest.param({"budget": -1}, OptionError, id="a negative budget"),
        pytest.param({"file_bytes": 1.5}, OptionTypeError, id="a limit that is no whole number"),
        pytest.param({"budget": True}, OptionTypeError, id="a limit that is a truth value"),
        pytest.param({"profile": EINO}, OptionError, id="a profile that looks for nothing, and no file"),
        pytest.param({"names": [], "additions": []}, OptionError, id="no names at all"),
        pytest.param({"path": "a\0b"}, OptionError, id="a path that cannot exist"),
        pytest.param({"path": ""}, OptionError, id="no path"),
    ],
)
def test_error_options(options: dict[str, Any], error: type[Exception], tree: Tree) -> None:
    """What cannot be meant raises, before anything is read."""
    with pytest.raises(error):
        discover(**{"path": tree({}), **options})


def test_a_blank_override_falls_through(tree: Tree) -> None:
    """A file with nothing in it takes nothing away, and is reported with the file that is read instead."""
    found = discover(tree({"AGENTS.override.md": " \n\t\n", "AGENTS.md": "text"}))

    assert ["text"] == [doc.text for doc in found]
    assert [("AGENTS.override.md", Omission.BLANK, "AGENTS.md")] == left_out(found)


def test_a_mark_of_byte_order_is_no_text(tree: Tree) -> None:
    """A file that holds nothing but a byte-order mark is blank, and the mark of another one is not shown."""
    found = discover(tree({"AGENTS.override.md": b"\xef\xbb\xbf", "AGENTS.md": b"\xef\xbb\xbftext"}))

    assert ["text"] == [doc.text for doc in found]
    assert [("AGENTS.override.md", Omission.BLANK, "AGENTS.md")] == left_out(found)


def test_nothing_but_blank_files(tree: Tree) -> None:
    """Where there is no other file, the blank one is reported alone."""
    assert [("AGENTS.md", Omission.BLANK, "")] == left_out(discover(tree({"AGENTS.md": "\n"})))


def test_additions_are_read_besides(tree: Tree) -> None:
    """Private notes come behind the file of their folder, and are there without it."""
    found = discover(tree({**GIT, "AGENTS.md": "0", "AGENTS.local.md": "mine", "a/AGENTS.local.md": "mine, too"}) / "a")

    assert ["AGENTS.md", "AGENTS.local.md", "a/AGENTS.local.md"] == names(found)


def test_names_may_lie_deeper(tree: Tree) -> None:
    """A name may be that of a file in a folder of its own; its imports are then looked for there."""
    found = discover(tree({".claude/CLAUDE.md": "C", ".claude/x": ""}), names=["CLAUDE.md", ".claude/CLAUDE.md"])

    assert [(".claude/CLAUDE.md", ".claude", "project")] == [(doc.name, doc.folder, doc.scope) for doc in found]


@pytest.mark.parametrize(
    ("entries", "warning"),
    [
        pytest.param({"agents.md": "x"}, "agents.md is not read: the name is AGENTS.md", id="lower case"),
        pytest.param({"Agents.md": "x"}, "Agents.md is not read: the name is AGENTS.md", id="a capital letter"),
        pytest.param({"AGENTS.MD": "x"}, "AGENTS.MD is not read: the name is AGENTS.md", id="upper case"),
    ],
)
def test_other_spellings_are_reported(entries: dict[str, str], warning: str, tree: Tree) -> None:
    """Where a folder seems to have no file, one with nearly its name is the reason; beside that it is reported as well."""
    found = discover(tree(entries))
    assert ([], [warning]) == (names(found), list(found.warnings))

    both = discover(tree({"AGENTS.md": "y"}))
    assert (["AGENTS.md"], [warning]) == (names(both), list(both.warnings))


def test_another_spelling_of_the_same_file_is_none(tree: Tree) -> None:
    """Where the case of names does not matter, the file that is read is not reported by its other names."""
    folder = tree({"AGENTS.md": "x", "agents.md": tree.hard_link("AGENTS.md"), "a/AGENTS.md": "y" * 99, "a/agents.md": tree.hard_link("a/AGENTS.md")})

    assert () == discover(folder).warnings
    assert [] == [warning for warning in discover(folder / "a", profile=CHAIN, file_bytes=9).warnings if "the name is" in warning]


def test_what_is_no_file_is_a_problem(tree: Tree) -> None:
    """Folders, links to nothing and in circles, pipes and sockets are reported, and cost nothing else."""
    entries = {
        **GIT,
        "AGENTS.md": "0",
        "a/AGENTS.md/x": "",
        "a/b/AGENTS.md": tree.link("gone"),
        "a/b/c/AGENTS.md": tree.link("AGENTS.md"),
        "a/b/c/d/AGENTS.md": tree.fifo(),
        "a/b/c/d/e/AGENTS.md": b"\x7fELF\0\0",
        "a/b/c/d/e/f/AGENTS.md": "6",
    }

    found = discover(tree(entries) / "a/b/c/d/e/f")

    assert ["0", "6"] == [doc.text for doc in found]
    assert [
        ("a/AGENTS.md", "a folder, not a file"),
        ("a/b/AGENTS.md", "a link to a file that does not exist"),
        ("a/b/c/AGENTS.md", "symbolic links lead in a circle, or there are more than 40"),
        ("a/b/c/d/AGENTS.md", "a pipe, socket or device, not a file"),
        ("a/b/c/d/e/AGENTS.md", "not a text file"),
    ] == [(problem.name, problem.detail) for problem in found.problems]


def test_a_pipe_never_blocks(tree: Tree) -> None:
    """Pipes and sockets are passed over wherever they are named: by the profile, by the user, by the host."""
    folder = tree({"AGENTS.md": tree.fifo(), "AGENTS.override.md": tree.fifo(), "user.md": tree.fifo(), "home/AGENTS.md": tree.fifo()})
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "socket"))
        worker = threading.Thread(target=discover, args=(folder,), kwargs={"user_files": [folder / "user.md", folder / "home"], "extra": [folder / "socket"]})
        worker.start()
        worker.join(30)

    assert not worker.is_alive()


def test_links_stay_inside(tree: Tree) -> None:
    """A link is read if it stays in the root, by its own name; one that leads out is left out, with a warning."""
    folder = tree(
        {"secret.txt": "S", "p/.git": None, "p/docs/guide.md": "G", "p/AGENTS.md": tree.link("docs/guide.md"), "p/q/AGENTS.md": tree.link("../../secret.txt")}
    )

    found = discover(folder / "p" / "q")

    assert [("AGENTS.md", ".", "docs/guide.md", "G")] == [(doc.name, doc.folder, doc.file, doc.text) for doc in found]
    assert [("q/AGENTS.md", Omission.LINK_OUTSIDE, "")] == left_out(found)
    assert ["q/AGENTS.md was left out: it is a link that leads out of its root folder"] == list(found.warnings)


def test_secrets_are_no_instructions(tree: Tree) -> None:
    """A link inside to a file with credentials is refused like anywhere else."""
    found = discover(tree({".env": "KEY=1", "AGENTS.md": tree.link(".env")}))

    assert [("AGENTS.md", "its name is that of a file with credentials")] == [(problem.name, problem.detail) for problem in found.problems]


@pytest.mark.parametrize("link", ["symbolic", "hard"])
def test_one_file_is_read_once(link: str, tree: Tree) -> None:
    """By whatever names: the one that is nearest is kept, the other reported."""
    twin = tree.link("../AGENTS.md") if link == "symbolic" else tree.hard_link("AGENTS.md")
    found = discover(tree({**GIT, "AGENTS.md": "0", "a/AGENTS.md": twin}) / "a")

    assert ["a/AGENTS.md"] == names(found)
    assert [("AGENTS.md", Omission.DUPLICATE, "a/AGENTS.md")] == left_out(found)


def test_two_names_of_one_file_in_a_folder(tree: Tree) -> None:
    """A link from one name to the other is a twin, no other file."""
    found = discover(tree({"AGENTS.md": "0", "CLAUDE.md": tree.link("AGENTS.md")}), names=["CLAUDE.md", "AGENTS.md"])

    assert ["CLAUDE.md"] == names(found)
    assert [("AGENTS.md", Omission.DUPLICATE, "CLAUDE.md")] == left_out(found)


def test_user_wide_files(tree: Tree) -> None:
    """They come first, are files or folders with one, may be links anywhere, and need not exist."""
    folder = tree({"dots/rules.md": "D", "home/.a/AGENTS.md": tree.link("../../dots/rules.md"), "home/.b/AGENTS.md": "B", "home/.b/AGENTS.override.md": "O"})
    tree({"p/AGENTS.md": "P"})
    user = [folder / "home/.a/AGENTS.md", folder / "home/.b", folder / "home/none.md"]

    found = discover(folder / "p", user_files=user, home=folder / "home")

    assert [("~/.a/AGENTS.md", "D", "user"), ("~/.b/AGENTS.override.md", "O", "user"), ("AGENTS.md", "P", "chain")] == [
        (doc.name, doc.text, doc.origin) for doc in found
    ]
    assert ["user", "user", "project"] == [doc.scope for doc in found]
    assert () == found.problems


def test_the_home_folder_of_the_process(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tilde is expanded, since it is the host's path."""
    folder = tree({"home/.a/AGENTS.md": "A", "p": None})
    monkeypatch.setenv("HOME", str(folder / "home"))

    assert ["~/.a/AGENTS.md"] == names(discover(folder / "p", user_files=["~/.a/AGENTS.md"]))


def test_extra_files(tree: Tree) -> None:
    """They come between the user's and the project's, in the order given; one that is missing is a problem."""
    folder = tree({"p/AGENTS.md": "P", "p/docs/x.md": "X", "y.md": "Y", "u.md": "U", "p/docs/sub": None})

    found = discover(folder / "p", extra=[folder / "y.md", folder / "p/docs/x.md", folder / "p/none.md", folder / "none.md"], user_files=[folder / "u.md"])

    assert ["U", "Y", "X", "P"] == [doc.text for doc in found]
    assert [("none.md", "no such file"), ("root/none.md", "no such file")] == sorted((problem.name, problem.detail) for problem in found.problems)


def test_an_extra_file_in_the_root_stays_in_it(tree: Tree) -> None:
    """Whoever can write to the project could make it a link; one outside is the host's own."""
    folder = tree({"secret.txt": "S", "p/x.md": tree.link("../secret.txt"), "y.md": tree.link("secret.txt")})

    found = discover(folder / "p", extra=[folder / "p/x.md", folder / "y.md"])

    assert ["S"] == [doc.text for doc in found]
    assert [("x.md", Omission.LINK_OUTSIDE, "")] == left_out(found)


def test_an_extra_folder_is_a_problem(tree: Tree) -> None:
    """Only files can be extra, wherever they lie."""
    folder = tree({"p/docs/x": "", "d/x": ""})

    found = discover(folder / "p", extra=[folder / "p/docs", folder / "d"], profile=CHAIN)

    assert [("root/d", "a folder, not a file"), ("docs", "a folder, not a file")] == [(problem.name, problem.detail) for problem in found.problems]


def test_no_name_is_a_host_path(tree: Tree) -> None:
    """Wherever files lie, no name, sentence or representation tells where this machine keeps them."""
    folder = tree({"p/.git": None, "p/AGENTS.md": "x" * 100, "p/sub/agents.md": "", "y/z/y.md": "Y", "y/u.md": "U"})

    found = discover(folder / "p/sub", extra=[folder / "y/z/y.md", folder / "none.md"], user_files=[folder / "y/u.md"], budget=50)

    assert str(folder) not in repr(found)
    assert str(folder) not in str(found.warnings)


def test_names_are_unique(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name is enough to ask for a file, also where a user's file is called like the project's."""
    monkeypatch.chdir(tree({"AGENTS.md": "U", "p/AGENTS.md": "P"}))

    found = discover("p", user_files=["AGENTS.md"])

    assert {"U", "P"} == {doc.text for doc in found}
    assert ["AGENTS.md", "AGENTS.md (2)"] == sorted(names(found))


def test_several_roots(tree: Tree) -> None:
    """Each start is a project of its own; names carry the label, and the nearest file of each survives a budget."""
    folder = tree({"p/.git": None, "p/AGENTS.md": "P" * 50, "p/a/AGENTS.md": "near p", "s/.git": None, "s/AGENTS.md": "S" * 50, "s/b/AGENTS.md": "near s"})

    found = discover({"one": folder / "p/a", "two": folder / "s/b"}, budget=62)

    assert ["one:a/AGENTS.md", "two:AGENTS.md", "two:b/AGENTS.md"] == names(found)
    assert ["one", "two", "two"] == [doc.root for doc in found]
    assert "one: p (nearest folder with .git); two: s (nearest folder with .git)" == found.root


def test_a_budget_for_each_root(tree: Tree) -> None:
    """By profile every root has the budget for itself."""
    folder = tree({"p/AGENTS.md": "12345678", "s/AGENTS.md": "12345678"})

    found = discover({"one": folder / "p", "two": folder / "s"}, profile=CODEX, budget=8)

    assert ["12345678", "12345678"] == [doc.text for doc in found]


def test_roots_that_share_a_file(tree: Tree) -> None:
    """One file is read once, whichever of the starts lead to it."""
    found = discover(dict.fromkeys(("a", "b"), tree({"AGENTS.md": "x"})))

    assert 1 == len(found)
    assert [Omission.DUPLICATE] == [one.reason for one in found.omitted]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("/home/u/.a/AGENTS.md", "~/.a/AGENTS.md", id="in the home folder"),
        pytest.param("/home/user/AGENTS.md", "user/AGENTS.md", id="in a folder that begins like it"),
        pytest.param("/etc/x/y/AGENTS.md", "y/AGENTS.md", id="elsewhere"),
        pytest.param("/AGENTS.md", "AGENTS.md", id="at the top"),
        pytest.param("./a//b/../AGENTS.md", "a/AGENTS.md", id="relative"),
    ],
)
def test_what_files_outside_are_called(given: str, expected: str) -> None:
    """Without the part of a path that tells about this machine."""
    assert expected == called(given, "/home/u")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("gitdir: ../.git/worktrees/w\n", ("work tree", "/r"), id="a work tree, relative"),
        pytest.param("gitdir: /r/.git/worktrees/w", ("work tree", "/r"), id="absolute"),
        pytest.param("gitdir: /.git/worktrees/w", ("work tree", "/"), id="at the top"),
        pytest.param("gitdir: ../.git/modules/w\n", ("submodule", "/r"), id="a submodule"),
        pytest.param("gitdir: ../../.git/modules/a/modules/w\n", ("submodule", "/"), id="a submodule of a submodule"),
        pytest.param("gitdir: /r/.git/modules/a/worktrees/w\n", ("submodule", "/r"), id="a work tree of a submodule"),
        pytest.param("gitdir: /bare/worktrees/w\n", ("", ""), id="a work tree of a repository without a checkout"),
        pytest.param("gitdir ../.git/worktrees/w\n", ("", ""), id="not the file of git"),
        pytest.param("", ("", ""), id="nothing"),
    ],
)
def test_which_repository_a_folder_belongs_to(text: str, expected: tuple[str, str]) -> None:
    """What the file of a work tree or submodule says about where it came from is read as text."""
    assert Repository(*expected) == repository_named(text, "/r/w")  # type: ignore[arg-type]


def seen_above(folder: Path, **options: Any) -> list[tuple[str, int]]:
    """Return what lies above the root that discovery finds."""
    ascent = upward.find_up(folder, DEFAULT.markers)
    return [(above.seen_from(ascent.root), above.size) for above in files_above(ascent, DEFAULT.names, **options)]


def test_files_above_the_root_are_seen(tree: Tree) -> None:
    """The nearest first, one for each folder, up to the home folder; what is no file is passed over."""
    entries = {"AGENTS.md": "too far", "home/AGENTS.md": "home", "home/a/AGENTS.md": "1", "home/a/AGENTS.override.md": "two", "home/a/b/AGENTS.md/x": ""}
    folder = tree({**entries, "home/a/b/c/x": "", "home/a/b/c/d/x": "", "home/a/b/c/AGENTS.md": tree.link("/etc/hostname")})

    assert [("../../AGENTS.override.md", 3), ("../../../AGENTS.md", 4)] == seen_above(folder / "home/a/b/c", home=folder / "home")
    assert [("../../../AGENTS.override.md", 3)] == seen_above(folder / "home/a/b/c/d", home=folder / "home", top=str(folder / "home/a"))
    assert [] == seen_above(folder / "home", home=folder / "home")
    assert [] == seen_above(folder, home=folder / "home")


def test_names_beside_what_is_looked_for(tree: Tree) -> None:
    """Each folder on the way is looked through, by name alone, and one that is gone has none."""
    folder = tree({"AGENT.md": "", "GEMINI.md": "", "notes.md": "", "AGENTS.md": "", "a/Agent.md/x": "", "a/AGENTS.md.bak": ""})
    ascent = upward.Ascent(str(folder), ("a", "gone"), "marker")

    assert [(".", "AGENTS.md", ["AGENT.md"]), (".", "", ["GEMINI.md"]), ("a", "AGENTS.md", ["AGENTS.md.bak"])] == list(names_beside(ascent, DEFAULT))
    assert [] == list(names_beside(ascent, EINO))


def test_above_a_root_that_was_given_nothing_is_seen(tree: Tree) -> None:
    """Nor where no names are looked for."""
    folder = tree({"AGENTS.md": "0", "a/x": ""})

    assert [] == list(files_above(upward.find_up(folder / "a", [], root=folder / "a"), DEFAULT.names))
    assert [] == list(files_above(upward.find_up(folder / "a", []), []))


def test_a_submodule_says_what_it_leaves_out(tree: Tree) -> None:
    """The files of the repository around it are seen but outside, not above that, and are read where the root says so."""
    entries = {"AGENTS.md": "not theirs", "r/.git/HEAD": "x", "r/AGENTS.md": "SUPER", "r/libs/AGENTS.md": "LIBS", "r/libs/sub/AGENTS.md": "SUB"}
    folder = tree({**entries, "r/libs/sub/.git": "gitdir: ../../.git/modules/libs/sub\n", "r/libs/sub/a/x": ""})

    found = discover(folder / "r/libs/sub/a")
    several = discover({"one": folder / "r/libs/sub/a"})

    assert ["SUB"] == [doc.text for doc in found]
    assert [("../AGENTS.md", Omission.OUTSIDE_ROOT, ""), ("../../AGENTS.md", Omission.OUTSIDE_ROOT, "")] == left_out(found)
    assert [4, 5] == [one.size for one in found.omitted]
    assert ["one:../AGENTS.md", "one:../../AGENTS.md"] == [one.name for one in several.omitted]
    assert ["SUPER", "LIBS", "SUB"] == [doc.text for doc in discover(folder / "r/libs/sub/a", root=folder / "r")]
    assert () == discover(folder / "r/libs/sub/a", root=folder / "r/libs/sub").omitted


@pytest.mark.parametrize(
    "git",
    [
        pytest.param("gitdir: ../.git/worktrees/s\n", id="a work tree"),
        pytest.param("gitdir: /elsewhere/.git/modules/s\n", id="a submodule of a repository elsewhere"),
        pytest.param("gitdir: x\n", id="something else"),
        pytest.param(b"\x7fELF\0", id="no text"),
    ],
)
def test_other_roots_leave_nothing_out(git: Any, tree: Tree) -> None:
    """Only what would be one project but for the border of a submodule is told without being asked for."""
    folder = tree({".git/HEAD": "x", "AGENTS.md": "outer", "s/.git": git, "s/AGENTS.md": "own"})

    assert (["own"], ()) == ([doc.text for doc in discover(folder / "s")], discover(folder / "s").omitted)


@pytest.mark.parametrize(
    ("folder", "root", "expected"),
    [("/r/a", "/r", "a"), ("/r", "/r", "."), ("/rx", "/r", None), ("/a", "/", "a"), ("/", "/", "."), ("/", "/r", None)],
)
def test_relative_to(folder: str, root: str, expected: str | None) -> None:
    """A folder is inside if its parts begin with those of the root."""
    assert expected == relative_to(folder, root)


def test_files_of_a_message_are_not_sent_twice(tree: Tree) -> None:
    """What a message attaches can be taken out, and is reported."""
    found = discover(tree({"AGENTS.md": "0", "AGENTS.local.md": "1"}))

    assert ["AGENTS.local.md"] == names(found.without(["AGENTS.md"]))
    assert Omitted(name="AGENTS.md", size=1, reason=Omission.DUPLICATE) == found.without(["AGENTS.md"]).omitted[-1]
    assert found is found.without([])


def test_a_discovery_is_its_documents(tree: Tree) -> None:
    """It can be given to whatever takes documents."""
    found = discover(tree({"AGENTS.md": "0"}))

    assert 1 == len(found)
    assert list(found.docs) == list(found)
    assert found.profile == DEFAULT


def test_documents_say_what_they_are(tree: Tree) -> None:
    """Sizes on disk and shown, encoding, scope; the contents are in no representation."""
    data = "größer\n".encode("utf-16")
    found = discover(tree({**GIT, "a/AGENTS.md": data}) / "a")

    [doc] = found.docs
    assert ("a/AGENTS.md", "a/", "a", len(data), 9, "utf-16-le", False) == (doc.name, doc.scope, doc.folder, doc.size, doc.shown, doc.encoding, doc.truncated)
    assert "gr" not in repr(doc)
    assert dataclasses.is_dataclass(Doc)


def test_nothing_is_left_open(tree: Tree) -> None:
    """Every handle is closed, also when the search ends in an error (the suite's own watch looks)."""
    folder = tree({**GIT, "AGENTS.md": "0", "a/AGENTS.md": "1", "b/x": ""})

    discover(folder / "a")
    with pytest.raises(OptionError):
        discover(folder / "b", root=folder / "a")


def test_climbing_from_a_folder_that_may_not_be_searched(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where even `..` is denied, the parent is opened by its name, and where that is denied, too, the climb ends."""
    folder = tree({**GIT, "a/b/x": ""})
    real = os.open

    def refuse(path: Any, flags: int, *more: Any, **keywords: Any) -> int:
        if path == ".." or path in denied:
            raise PermissionError(13, "denied")
        return real(path, flags, *more, **keywords)

    monkeypatch.setattr(upward.os, "open", refuse)
    denied: list[str] = []

    assert ("a", "b") == upward.find_up(folder / "a/b", [".git"]).parts

    denied.append(str(folder / "a"))

    assert "start" == upward.find_up(folder / "a/b", [".git"]).why


def test_error_platform(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows one clear sentence says that it does not work there yet."""
    folder = str(tree({}))
    with monkeypatch.context() as patched:
        patched.setattr(os, "name", "nt")
        with pytest.raises(UnsupportedPlatformError, match="Windows"):
            upward.find_up(folder, [".git"])


def test_error_nothing_can_be_opened(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no folder can be opened at all, there is no root."""
    folder = tree({})

    def refuse(*_: Any, **__: Any) -> int:
        raise OSError(24, "too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(upward.os, "open", refuse)
        with pytest.raises(RootNotFoundError):
            discover(folder)


def test_a_marker_that_cannot_be_looked_for(tree: Tree) -> None:
    """It does not count, and is a problem."""
    folder = tree({**GIT, "AGENTS.md": "0", "a/.git": tree.link(".git"), "a/AGENTS.md": "1"})

    found = discover(folder / "a")

    assert ["AGENTS.md", "a/AGENTS.md"] == names(found)
    assert ["a/.git"] == [problem.name for problem in found.problems]


def test_work_trees_that_are_none(tree: Tree) -> None:
    """A .git that is a pipe, a folder, a binary, or the file of a checkout elsewhere changes nothing."""
    entries = {"AGENTS.md": "0", "a/.git": tree.fifo(), "a/b/.git/x": "", "a/b/c/.git": b"\x7fELF\0", "a/b/c/d/.git": "gitdir: /elsewhere/.git/worktrees/w\n"}
    folder = tree({**entries, "a/b/c/d/AGENTS.md": "1"})

    assert ["0", "1"] == [doc.text for doc in discover(folder / "a/b/c/d", root=folder)]


def test_a_work_tree_whose_copy_is_a_folder(tree: Tree) -> None:
    """Only a file is a copy."""
    folder = tree({**GIT, "AGENTS.md": "0", "w/.git": "gitdir: ../.git/worktrees/w\n", "w/AGENTS.md/x": "", "w/v/AGENTS.md": "1"})

    assert ["0", "1"] == [doc.text for doc in discover(folder / "w/v", root=folder)]


def test_the_same_request_twice_is_the_same_answer(tree: Tree) -> None:
    """Nothing depends on the order in which the disk lists names."""
    folder = tree({**GIT, "AGENTS.md": "0", "a/AGENTS.md": "1", "a/agents.md": "2"})

    assert discover(folder / "a") == discover(folder / "a")
    assert discovery.Request(path=folder, rules=DEFAULT).find() == discover(folder)


@pytest.mark.parametrize(
    ("path", "files", "said"),
    [
        pytest.param("nope", {"x": ""}, True, id="nothing there, and nothing found"),
        pytest.param("nope/deeper", {"x": ""}, True, id="nothing on the way, and nothing found"),
        pytest.param("new.py", {"AGENTS.md": "A"}, False, id="a file that is yet to be made, for which some hold"),
        pytest.param(".", {"x": ""}, False, id="a folder, and nothing found"),
        pytest.param("x", {"x": ""}, False, id="a file, and nothing found"),
    ],
)
def test_a_path_that_does_not_exist_is_warned_of(path: str, files: dict[str, str], said: bool, tree: Tree) -> None:  # noqa: FBT001
    """Where nothing is found for it, that is the likely reason, in any root; a file that is yet to be made is none."""
    folder = tree(files)
    sentence = "does not exist (yet), and no instruction file was found for it"

    assert ([f"{folder / path} {sentence}"] if said else []) == list(discover(folder / path).warnings)
    assert ([f"{folder / path} {sentence}"] if said else []) == list(discover({"a": folder / path}, root=folder).warnings)
    assert ([f"{path} {sentence}"] if said else []) == list(discover(path, root=MemoryRoot(files)).warnings)
