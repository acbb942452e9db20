"""Completion: what is offered for the mention that is being typed; from git, by a walk, and while both still run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

import filerefs
from filerefs.catalogue import Catalogue
from filerefs.completion import Completer
from filerefs.errors import OptionError, RootClosedError, RootNotFoundError
from filerefs.gitfiles import Git
from filerefs.root import Root

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Tree

PATIENCE = 60
GIT = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
EACH_SOURCE = pytest.mark.parametrize("git", [pytest.param(True, id="git", marks=GIT), pytest.param(False, id="walk")])


def git(folder: Path, *arguments: str) -> str:
    """Run git in *folder*, without the configuration of whoever runs the tests."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    variables |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always")
    return subprocess.run(["git", *identity, *arguments], cwd=folder, env=variables, check=True, capture_output=True).stdout.decode()


def offers(folder: Path, text: str, *, git: bool = False, cursor: int | None = None, **options: Any) -> list[str]:
    """Return what a new completer offers once it knows all."""
    with Completer(folder, git=git) as completer:
        found = completer.complete(text, cursor, wait=PATIENCE, **options)
    assert not found.incomplete
    return [candidate.text for candidate in found.candidates]


def project(tree: Tree, entries: Any, *, git_too: bool) -> Path:
    folder = tree(entries)
    if git_too:
        git(folder, "init", "-q")
    return folder


NASTY = [
    "my file.txt",
    'quo"te.txt',
    "it's.txt",
    "a[1].txt",
    "at@sign.txt",
    "new\nline.txt",
    "back\\slash.txt",
    "-dash.txt",
    "dot.",
    "メモ.md",
    "\udcff.bin",
    "col:on.txt",
]


@EACH_SOURCE
@pytest.mark.parametrize("name", NASTY, ids=ascii)
def test_odd_names_are_offered_so_that_they_are_read_back(tree: Tree, name: str, *, git: bool) -> None:
    """What is put in place of the typed text attaches exactly the file that was offered."""
    folder = project(tree, {}, git_too=git)
    try:
        (folder / name).write_text("odd\n", encoding="utf-8")
    except OSError:
        pytest.skip("this file system has no such names")

    (offered,) = offers(folder, "look at @", git=git)
    turn = filerefs.preprocess(f"look at {offered}, please", root=folder)

    assert filerefs.format_ref(name) == offered
    assert [name] == [outcome.path for outcome in turn.attached]


@EACH_SOURCE
@pytest.mark.parametrize("folder", ["~", "c:"])
def test_folders_that_look_like_homes_and_drives(tree: Tree, folder: str, *, git: bool) -> None:
    """What is offered of them is attached, and what is in them is offered when they are typed."""
    root = project(tree, {f"{folder}/odd.py": "odd\n"}, git_too=git)
    mention = f'@"./{folder}/odd.py"'

    assert [mention] == offers(root, "@odd", git=git) == offers(root, f"@./{folder}/", git=git)
    assert ["odd\n"] == [outcome.text for outcome in filerefs.preprocess(mention, root=root).attached]


@EACH_SOURCE
def test_b017_folders_with_blanks(tree: Tree, *, git: bool) -> None:
    """A folder whose name has a blank is offered in quotes, entered, and left with the file."""
    folder = project(tree, {"Car Kit/GLB Out/m.txt": "B"}, git_too=git)

    assert '@"Car Kit/"' in offers(folder, "@Car", git=git)
    for typed in ('@"Car Kit/', '@"Car Kit/"', "@Car\\ Kit/"):
        assert ['@"Car Kit/GLB Out/"', '@"Car Kit/GLB Out/m.txt"'] == offers(folder, typed, git=git)
    assert ['@"Car Kit/GLB Out/m.txt"'] == offers(folder, '@"Car Kit/GLB Out/"', git=git)


@GIT
def test_b031_names_come_unquoted(tree: Tree) -> None:
    """The quoting that git does is never seen, tracked or not."""
    folder = project(tree, {"メモ.md": "B", "もう.md": "C"}, git_too=True)
    git(folder, "add", "メモ.md")

    assert ["@もう.md", "@メモ.md"] == sorted(offers(folder, "@", git=True))


@EACH_SOURCE
def test_b042_an_ignored_file_can_be_named(tree: Tree, *, git: bool) -> None:
    """What version control ignores is not offered by itself, is offered where its folder is typed, and loads."""
    folder = project(tree, {".gitignore": "PLAN.md\n", "PLAN.md": "P", "PLANET.md": "N"}, git_too=git)

    assert ["@PLANET.md"] == offers(folder, "@PLAN", git=git)
    assert ["@PLANET.md", "@PLAN.md"] == offers(folder, "@./PLAN", git=git)
    assert ["PLAN.md"] == [outcome.path for outcome in filerefs.preprocess("@PLAN.md", root=folder).attached]


@EACH_SOURCE
def test_b043_folders_with_a_dot(tree: Tree, *, git: bool) -> None:
    """A name that begins with a dot is a name like any other."""
    folder = project(tree, {".agents/a.md": "A", ".env.example": "E", ".github/w.yml": "W"}, git_too=git)

    assert "@.agents/" == offers(folder, "@.a", git=git)[0]
    assert ["@.agents/a.md"] == offers(folder, "@.agents/", git=git)
    assert {"@.agents/a.md", "@.env.example", "@.github/w.yml"} <= set(offers(folder, "@", git=git))
    assert len(filerefs.preprocess("@.agents/a.md @.env.example @.github/w.yml", root=folder).attached) == 3


def test_b056_sizes_are_known_before_anything_is_sent(tree: Tree) -> None:
    """The host learns how large the section is, and that a file was cut, before it sends anything."""
    turn = filerefs.preprocess("@big.txt", root=tree({"big.txt": "x" * 800_000}))

    (big,) = turn.attached
    assert big.truncated
    assert big.size == 800_000
    assert big.shown < turn.section_bytes < 210 * 1024


@EACH_SOURCE
def test_b185_what_sorts_late_is_found(tree: Tree, *, git: bool) -> None:
    """A large folder with an early name takes nothing away from later ones."""
    folder = project(tree, {**{f"aaa/f{number:04}.txt": "" for number in range(3000)}, "zzz/goal.txt": "G"}, git_too=git)

    assert "@zzz/goal.txt" == offers(folder, "@goal", git=git)[0]


@EACH_SOURCE
def test_b186_what_is_ignored_takes_no_room(tree: Tree, *, git: bool) -> None:
    """Ignored build output is not offered, unless its folder is typed."""
    folder = project(tree, {".gitignore": "gen/\n", "main.c": "M", **{f"gen/m{number:03}.c": "" for number in range(300)}}, git_too=git)

    assert ["@main.c"] == offers(folder, "@m", git=git)
    assert ["@gen/m000.c", "@gen/m001.c"] == offers(folder, "@gen/m00", git=git)[:2]


def test_b189_a_very_large_folder_gives_rows_at_once(tree: Tree) -> None:
    """The first answer does not wait for a folder of fifty thousand names: it has what is near, and says that more may come."""
    folder = tree({"x.txt": "X"})
    (folder / "big").mkdir()
    for number in range(50_000):
        (folder / "big" / f"f{number:06}.txt").touch()

    with Completer(folder, git=False) as completer:
        first = completer.complete("@x")
        later = completer.complete("@f049999", wait=PATIENCE)

    assert ("@x.txt", True) == (first.candidates[0].text, first.incomplete)
    assert ["@big/f049999.txt"] == [candidate.text for candidate in later.candidates]
    assert not later.incomplete


@EACH_SOURCE
def test_b207_new_files_are_seen(tree: Tree, *, git: bool) -> None:
    """A file that appears while a chat goes on is offered; the limit counts what matches, not what there is."""
    folder = project(tree, {f"d/f{number:03}.txt": "" for number in range(200)}, git_too=git)

    with Completer(folder, git=git) as completer:
        before = completer.complete("@zz", wait=PATIENCE)
        (folder / "d" / "zz.txt").write_text("Z", encoding="utf-8")
        at_once = completer.complete("@d/zz")
        assert completer.refresh(PATIENCE)
        (folder / "d" / "f000.txt").unlink()
        after = completer.complete("@zz")
        assert completer.refresh(PATIENCE)
        gone = completer.complete("@f000")

    assert () == before.candidates == gone.candidates
    assert ["d/zz.txt"] == [candidate.path for candidate in at_once.candidates] == [candidate.path for candidate in after.candidates]


SPACED = {
    "my file.txt": "",
    "my notes": "",
    "My Plan.md": "",
    "Car Kit/GLB Out/m.txt": "",
    "docs/my file.txt": "",
    "docs/deep/my file.txt": "",
    "src/app.py": "",
}


@EACH_SOURCE
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        pytest.param("sum up @my fi", ['@"my file.txt"'], id="a name whose second word is begun"),
        pytest.param("@my ", ['@"my notes"', '@"My Plan.md"', '@"my file.txt"'], id="all names that go on with a blank"),
        pytest.param("@My ", ['@"My Plan.md"'], id="a capital means itself"),
        pytest.param("@Car Ki", ['@"Car Kit/"'], id="a folder"),
        pytest.param("@Car Kit/GLB O", ['@"Car Kit/GLB Out/"'], id="in a folder with a blank"),
        pytest.param("@docs/my f", ['@"docs/my file.txt"'], id="in the folder that is typed, and no deeper"),
        pytest.param("@my file.txt", ['@"my file.txt"'], id="the whole name"),
        pytest.param("@my file.txt and", [], id="the words behind it"),
        pytest.param("@src/app.py and then my fi", [], id="words behind another file"),
        pytest.param("@file", ['@"my file.txt"', '@"docs/my file.txt"', '@"docs/deep/my file.txt"'], id="without a blank, as ever"),
        pytest.param("@nothing at all", [], id="words that nothing begins with"),
    ],
)
def test_names_with_unquoted_blanks(tree: Tree, typed: str, expected: list[str], *, git: bool) -> None:
    """They are offered, in their quotes, only where the folder has a name that begins with all that is typed."""
    folder = project(tree, SPACED, git_too=git)

    with Completer(folder, git=git) as completer:
        at_once = completer.complete(typed)
        completer.refresh(PATIENCE)
        found = completer.complete(typed)

    assert expected == [candidate.text for candidate in found.candidates]
    assert (found.token is not None, found.incomplete) == (bool(expected), False)
    if " " in typed.partition("@")[2]:
        assert at_once == found


@EACH_SOURCE
def test_unquoted_blanks_are_offered_as_they_are_read(tree: Tree, *, git: bool) -> None:
    """What `parse` would take for a name, word by word, is offered on the way there; where it is strict, nothing is."""
    folder = project(tree, SPACED, git_too=git)
    typed = "see @Car Kit/GLB Out/m.txt"

    for end in range(len("see @Car "), len(typed) + 1):
        assert offers(folder, typed, git=git, cursor=end), typed[:end]
    assert [] == offers(folder, "see @Car Ki", git=git, lenient=False)
    assert ["Car Kit/GLB Out/m.txt"] == [outcome.path for outcome in filerefs.preprocess(typed, root=folder).attached]


@EACH_SOURCE
def test_ignored_names_with_unquoted_blanks(tree: Tree, *, git: bool) -> None:
    """They are offered where their folder is typed, as others are; secrets never are."""
    folder = project(tree, {".gitignore": "out/\n* log.txt\n", "out/my log.txt": "", "my log.txt": "", "my key.pem": ""}, git_too=git)

    assert [] == offers(folder, "@my ", git=git)
    assert ['@"my log.txt"'] == offers(folder, "@./my l", git=git)
    assert ['@"out/my log.txt"'] == offers(folder, "@out/my ", git=git)


def test_what_tools_left_behind_is_not_offered_while_names_are_gathered(tree: Tree) -> None:
    """The first rows, too, are without it; where its folder is typed, it is there."""
    with Completer(tree({"node_modules/p/i.js": "", "near.py": ""}), git=False) as completer:
        first = completer.complete("@n")

    assert ["near.py"] == [candidate.path for candidate in first.candidates]


def test_fr_palette_walk(tree: Tree) -> None:
    """Version control and what tools left behind is not walked, where no rules say so; secrets are withheld."""
    folder = tree({"m.py": "", ".git/HEAD": "", "node_modules/p/i.js": "", "src/l.py": "", ".env": ""})

    assert ["@m.py", "@src/", "@src/l.py"] == sorted(offers(folder, "@"))
    assert ["@node_modules/p/"] == offers(folder, "@node_modules/")
    assert [] == offers(folder, "@.git/")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("main", ["@main.py", "@cmd/main_test.py", "@a/b/main.py"], id="base names"),
        pytest.param("iclop", ["@internal/cli/options.py"], id="signs in order"),
        pytest.param("zzz", [], id="nothing"),
    ],
)
def test_fr_palette_rank(tree: Tree, query: str, expected: list[str]) -> None:
    """Base names before paths, shallower before deeper, signs in their order last."""
    folder = tree(dict.fromkeys(("a/b/main.py", "main.py", "cmd/main_test.py", "README.md", "internal/cli/options.py"), ""))

    assert expected == offers(folder, f"@{query}")


# What git says of this tree is compared with what is offered; each line is there for a difference that somebody had.
TRICKY: dict[str, Any] = {
    ".gitignore": "*.log\n!keep.log\n/build/\ndoc/*.txt\n**/tmp\nfoo/**/bar\n\\#hash\n!\n*.o \n",
    "a.log": "", "keep.log": "", "build/out.c": "", "src/build/in.c": "",
    "doc/x.txt": "", "doc/deep/y.txt": "", "a/b/tmp/z": "", "tmp": "",
    "foo/bar": "", "foo/x/bar": "", "foo/x/baz": "", "#hash": "", "q.o": "",
    "logs/.gitignore": "**\n!**/\n!keep/*.log\n!.gitignore\n", "logs/keep/a.log": "", "logs/drop/b.log": "",
    "sub/.gitignore": "/only\n!*.log\n", "sub/only": "", "sub/deep/only": "", "sub/c.log": "",
    "Car Kit/Ünï côde.txt": "", "new\nline": "", ".hidden/x": "", ".env": "", "sub/id_rsa": "", "pkg/.aws/creds": "",
}  # fmt: skip


@GIT
def test_both_sources_agree_with_git(tree: Tree) -> None:
    """On a tricky tree the files offered are those that git lists, less secrets, from git and by the walk alike."""
    folder = project(tree, TRICKY, git_too=True)
    listed = git(folder, "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    expected = {name for name in listed if name} - {".env", "sub/id_rsa", "pkg/.aws/creds"}

    found = [{ref.path for text in offers(folder, "@", git=source, limit=500) for ref in filerefs.parse(text)} for source in (True, False)]

    by_git, by_walk = ({path for path in paths if not path.endswith("/")} for paths in found)
    assert expected == by_git
    assert expected == by_walk


@GIT
def test_folders_are_offered_like_files(tree: Tree) -> None:
    """From git come files alone; the folders on their way are offered as well, those of secrets are not."""
    folder = project(tree, {"a/b/c.py": "", "pkg/.aws/creds": "", "x/y.py": ""}, git_too=True)

    assert ["@a/", "@x/", "@a/b/", "@x/y.py", "@a/b/c.py"] == [text for text in offers(folder, "@", git=True) if text != "@pkg/"]


@GIT
def test_what_git_knows_and_the_disk_does_not(tree: Tree) -> None:
    """Deleted files and those outside of a sparse checkout are not offered; a submodule is a folder; links as the policy says."""
    folder = project(tree, {"gone.py": "", "sparse/x.py": "", "here.py": "", "link.py": tree.link("here.py")}, git_too=True)
    inner = folder / "inner"
    inner.mkdir()
    (inner / "f.py").touch()
    git(inner, "init", "-q")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "x")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")
    (folder / "gone.py").unlink()
    git(folder, "update-index", "--skip-worktree", "sparse/x.py")

    assert ["@inner/", "@here.py"] == offers(folder, "@", git=True)
    assert ["@inner/f.py"] == offers(folder, "@inner/", git=True)
    with Completer(folder, symlinks="inside") as completer:
        assert "link.py" in [candidate.path for candidate in completer.complete("@", wait=PATIENCE).candidates]


@GIT
def test_a_folder_below_a_repository(tree: Tree) -> None:
    """Where the root is a folder of a repository, names are relative to the root; where it is ignored as a whole, it is walked."""
    folder = project(tree, {".gitignore": "ignored/\n", "sub/a.py": "", "b.py": "", "ignored/c.py": ""}, git_too=True)

    assert ["@a.py"] == offers(folder / "sub", "@", git=True)
    assert ["@c.py"] == offers(folder / "ignored", "@", git=True)


@GIT
def test_a_repository_runs_no_program(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what a repository configures nor what the environment says makes git run or read something else."""
    folder = project(tree, {"a.py": "", "other/x.py": ""}, git_too=True)
    script = folder / "spy.sh"
    script.write_text(f"#!/bin/sh\ntouch '{folder.parent}/ran'\n", encoding="utf-8")
    script.chmod(0o755)
    git(folder, "config", "core.fsmonitor", str(script))
    git(folder, "ls-files", "-o")
    assert (folder.parent / "ran").exists(), "a plain git runs it, or this tests nothing"
    (folder.parent / "ran").unlink()
    monkeypatch.setenv("GIT_DIR", str(folder.parent / "nowhere"))
    monkeypatch.setenv("GIT_TRACE", str(folder.parent / "trace"))

    assert "@a.py" in offers(folder, "@", git=True)
    assert not (folder.parent / "ran").exists()
    assert not (folder.parent / "trace").exists()


@GIT
def test_a_repository_fetches_nothing(tree: Tree) -> None:
    """A partial clone that lacks a folder's tree is not asked to fetch it: what it would run for that is its own choice."""
    folder = project(tree, {"in/a.py": "", "out/b.py": ""}, git_too=True)
    ran = folder.parent / "ran"
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "all")
    git(folder, "sparse-checkout", "init", "--cone", "--sparse-index")
    git(folder, "sparse-checkout", "set", "in")
    missing = git(folder, "rev-parse", "HEAD:out").strip()
    for name, value in {
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"file://{folder}",
        "remote.origin.uploadpack": f"touch '{ran}'; false",
        "protocol.file.allow": "always",
    }.items():
        git(folder, "config", name, value)
    (folder / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    if b"out/" not in subprocess.run(["git", "ls-files", "--sparse"], cwd=folder, check=False, capture_output=True).stdout.split():
        pytest.skip("this git keeps no folder in its index")
    subprocess.run(["git", "ls-files", "-s"], cwd=folder, check=False, capture_output=True)
    assert ran.exists(), "a plain git runs it, or this tests nothing"
    ran.unlink()

    assert "@in/a.py" in offers(folder, "@", git=True)
    assert not ran.exists()


@GIT
def test_more_than_git_may_say(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """What git says of a repository with too many names is not kept in memory; the folder is walked."""
    folder = project(tree, {f"{number}.py": "" for number in range(9)}, git_too=True)
    git(folder, "add", ".")
    monkeypatch.setattr("filerefs.gitfiles._MOST_BYTES", 100)

    assert Git(str(folder), threading.Event()).tracked() is None
    assert 9 == len(offers(folder, "@", git=True))


def test_error_without_git_the_folder_is_walked(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no program is called git, names come from the walk."""
    monkeypatch.setenv("PATH", str(tree({"a.py": ""})))

    assert ["@a.py"] == offers(tree.folder, "@", git=True)


@GIT
def test_error_git_refuses(tree: Tree) -> None:
    """Where git refuses (a broken repository), names come from the walk."""
    folder = project(tree, {"a.py": ""}, git_too=True)
    (folder / ".git" / "config").write_text("[core\n", encoding="utf-8")

    assert ["@a.py"] == offers(folder, "@", git=True)


def test_secrets_are_offered_where_they_are_allowed(tree: Tree) -> None:
    """What `allow` names can be typed, and nothing else that looks like it."""
    folder = tree({".env": "", "b/.env": "", "x": ""})

    with Completer(folder, allow=(".env",), git=False) as completer:
        assert {".env", "b/", "x"} == {candidate.path for candidate in completer.complete("@", wait=PATIENCE).candidates}


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have names on POSIX")
@EACH_SOURCE
def test_what_cannot_be_attached_is_not_offered(tree: Tree, *, git: bool) -> None:
    """Pipes and links that would be refused are left out, whether the folder is typed or not, and git knows of them or not."""
    folder = project(tree, {"d/a.py": "", "d/pipe": tree.fifo(), "d/link": tree.link("a.py"), "link": tree.link("d")}, git_too=git)

    assert ["@d/a.py"] == offers(folder, "@d/", git=git)
    assert {"@d/", "@d/a.py"} == set(offers(folder, "@", git=git))


@EACH_SOURCE
def test_links_are_offered_where_they_are_followed(tree: Tree, *, git: bool) -> None:
    """A new link is a name like any other where links are followed."""
    folder = project(tree, {"d/a.py": "", "d/link.py": tree.link("a.py")}, git_too=git)

    with Completer(folder, symlinks="inside", git=git) as completer:
        assert {"d/", "d/a.py", "d/link.py"} == {candidate.path for candidate in completer.complete("@", wait=PATIENCE).candidates}


def test_what_a_candidate_says(tree: Tree) -> None:
    """A candidate knows its kind, how it is written and how it is shown."""
    with Completer(tree({"a b/x": "", "e\x1bvil": ""}), git=False) as completer:
        found = completer.complete("@", wait=PATIENCE).candidates

    rows = {(one.kind, one.text, one.label) for one in found}
    assert {("directory", '@"a b/"', "a b/"), ("file", '@"a b/x"', "a b/x"), ("file", '@"e\\u{1b}vil"', "e\\u{1b}vil")} == rows


def test_a_closed_completer_is_closed(tree: Tree) -> None:
    """Closing ends the thread, whatever it is at, and a second time does nothing."""
    completer = Completer(tree({f"{letter}/{number}": "" for letter in "abc" for number in range(500)}), git=False)
    completer.complete("@")

    completer.close()
    completer.close()

    assert not [thread for thread in threading.enumerate() if thread.name == "filerefs catalogue"]
    for typed in ("@a/", "@", "no mention"):
        with pytest.raises(RootClosedError):
            completer.complete(typed)


def test_a_closed_completer_offers_nothing_it_knew(tree: Tree) -> None:
    """Nor does one that knew all names before it was closed."""
    with Completer(tree({"a.py": ""}), git=False) as completer:
        assert completer.complete("@a", wait=PATIENCE).candidates

    with pytest.raises(RootClosedError):
        completer.complete("@a")


def test_error_a_root_that_is_closed_while_names_are_gathered(tree: Tree) -> None:
    """A host that closes its own root ends the gathering without a word on standard error."""
    root = Root(tree({"a.py": ""}))
    with Completer(root) as completer:
        root.close()

        assert completer.refresh(PATIENCE)
        with pytest.raises(RootClosedError):
            completer.complete("@a")


@GIT
def test_a_cancelled_question_is_no_answer(tree: Tree) -> None:
    """When it is cancelled, git is ended, and whatever it said counts for nothing."""
    folder = project(tree, {"a.py": ""}, git_too=True)
    cancelled = threading.Event()
    asked = Git(str(folder), cancelled)

    assert asked.tracked() == b""
    asked.cancel()
    cancelled.set()
    with Root(folder) as root:
        catalogue = Catalogue(root, str(folder), links=False, git=True)
        catalogue.close()
        catalogue.refresh(force=True)

        assert () == tuple(catalogue.index.names)
        assert not catalogue.whole


def test_error_options(tree: Tree) -> None:
    """Misuse raises, and says which option it was."""
    with pytest.raises(RootNotFoundError):
        Completer(tree.folder / "none")
    with Completer(tree.folder, git=False) as completer:
        for options in ({"limit": -1}, {"wait": -0.5}, {"limit": "3"}, {"cursor": 9}, {"limit": 2.5}, {"wait": float("nan")}):
            with pytest.raises(OptionError):
                completer.complete("@", **options)
        assert () == completer.complete("nothing here").candidates
        assert () == completer.complete("@", wait=float("inf")).candidates
        assert repr(completer).startswith("Completer(Root(")


@EACH_SOURCE
def test_names_that_change_while_they_are_gathered(tree: Tree, *, git: bool) -> None:
    """Files that come and go in the meantime, and many threads that ask, cost nothing but being late."""
    folder = project(tree, {f"d{number}/f{number}.py": "" for number in range(50)}, git_too=git)
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            (folder / "new").mkdir(exist_ok=True)
            (folder / "new" / "x.py").touch()
            shutil.rmtree(folder / "new")

    churner = threading.Thread(target=churn)
    churner.start()
    try:
        with Completer(folder, git=git) as completer:
            for _ in range(10):
                assert completer.refresh(PATIENCE)
                assert "d7/f7.py" in [candidate.path for candidate in completer.complete("@f7.py").candidates]
    finally:
        stop.set()
        churner.join()
