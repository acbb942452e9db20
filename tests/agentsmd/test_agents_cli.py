"""`filerefs agents` and `filerefs migrate`: the answer to "why does my agent not see my AGENTS.md?"."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import pytest

from filerefs import agents_cli, agentsmd
from filerefs.agents_report import _RULES
from filerefs.agentsmd.documents import Omission
from filerefs.errors import OptionError

from .test_rendering import check_golden

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Tree


def run(capsysbinary: pytest.CaptureFixture[bytes], *arguments: str | Path) -> tuple[int, str]:
    """Run a command and return its exit code and what it printed."""
    parser = argparse.ArgumentParser("filerefs")
    agents_cli.add_commands(parser.add_subparsers(), allow_abbrev=False)
    options = parser.parse_args(list(map(str, arguments)))
    code = options.run(options)
    return code, capsysbinary.readouterr().out.decode()


BUDGET = "The budget is 128.0 KB, spent on the nearest file first: the file that does not fit is cut, and what would come after it is left out."
NOTHING = ["No instruction file holds here.", "One called AGENTS.md would, in any of the folders that are listed below.", "  - the root: no such file"]
LEFT_OUT = ["No instruction file holds here.", "Of what there is nothing is read; why is said below."]
PROJECT: dict[str, Any] = {
    ".git/HEAD": "x",
    "AGENTS.md": "# Rules\n\nSee @docs/style.md, @docs/tests.md and @docs/none.md.\n",
    "docs/style.md": "Style. @naming.md\n",
    "docs/naming.md": "Names.\n",
    "docs/tests.md": "Tests. @../AGENTS.md\n",
    "src/AGENTS.override.md": " \n",
    "src/AGENTS.md": "Source.\n",
    "src/AGENTS.local.md": "Mine.\n",
    "src/api/AGENTS.override.md": "Override.\n",
    "src/api/AGENTS.md": "Shadowed.\n",
    "src/api/v1/agents.md": "wrong case\n",
    "src/api/v1/x.py": "",
    "home/AGENTS.md": "Be brief.\n",
}


def test_golden_report(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Files in order with sizes and reasons, imports as a tree, what was left out and by which rule, where it looked."""
    folder = tree(PROJECT | {"src/api/v1/AGENTS.md": tree.link("/etc/hostname")})
    code, out = run(capsysbinary, "agents", folder / "src/api/v1/new.py", "--user-file", folder / "home")

    assert code == 0
    check_golden("report.txt", out.replace(str(folder), "{folder}"))


@pytest.mark.parametrize(
    ("entries", "arguments", "expected"),
    [
        pytest.param({"x": ""}, (), NOTHING, id="nothing there"),
        pytest.param({"agents.md": "x"}, (), ["No instruction file holds here.", "  - agents.md is not read: the name is AGENTS.md"], id="another case"),
        pytest.param({"AGENTS.md/k": ""}, (), [*LEFT_OUT, "  - AGENTS.md: a folder, not a file", "  - the root: nothing that holds, see above"], id="a folder"),
        pytest.param({"AGENTS.md": ""}, (), [*LEFT_OUT, "  - AGENTS.md (0 B): it is blank"], id="blank"),
        pytest.param(
            {"AGENTS.md": "x"}, ("--profile", "codex", "--budget", "0"), ["  - AGENTS.md (1 B): its limit is 0, so no such file is read"], id="switched off"
        ),
        pytest.param({"AGENTS.md": "x" * 2_000_000}, ("--profile", "chain"), ["  - AGENTS.md (1.9 MB): a file may have 1.0 MB"], id="too large"),
        pytest.param(
            {"AGENTS.md": "```\n" + "x\n" * 40_000 + "```\n"},
            (),
            ["  - AGENTS.md (78.1 KB): a file may have 64.0 KB, and it cannot be cut: no paragraph of it fits, and no block is torn"],
            id="too large, and one block",
        ),
        pytest.param(
            {"AGENT.md": "x", "AGENTS.md.txt": "y", "notes.md": "z"},
            (),
            [
                *NOTHING,
                "Not read for their names:",
                "  - AGENT.md: such a file is called AGENTS.md; rename it, or name it with --extra",
                "  - AGENTS.md.txt: such a file is called AGENTS.md; rename it, or name it with --extra",
            ],
            id="another name that is like it",
        ),
        pytest.param(
            {"CLAUDE.md": "x", ".cursorrules": "y"},
            (),
            [
                "  - .cursorrules: the file of another agent; --extra reads it as it is",
                "  - CLAUDE.md: the file of another agent; `filerefs migrate` makes an AGENTS.md of it; --extra reads it as it is",
            ],
            id="the file of another agent",
        ),
        pytest.param({"AGENTS.md": "x", "agents.md": "y"}, (), ["  - agents.md is not read: the name is AGENTS.md"], id="another case beside it"),
        pytest.param(
            {".git/H": "", "AGENTS.md": "x" * 40, "a/AGENTS.md": "y" * 40},
            ("--budget", "50"),
            ["  1. AGENTS.md    40 B, cut;  holds for the whole project", "  2. a/AGENTS.md  40 B;  holds for a/"],
            id="the nearest file is whole",
        ),
        pytest.param(
            {".git/H": "", "AGENTS.md": "x" * 40, "a/AGENTS.md": "y" * 40},
            ("--budget", "50", "--profile", "chain"),
            [
                "  - a/AGENTS.md (40 B): it does not fit into what is left of the budget of 50 B; raise that with --budget",
                "Together 40 B. The budget is 50 B, spent from the first file on: a file that does not fit is left out.",
            ],
            id="over budget",
        ),
        pytest.param({"AGENTS.md": "x", "more.md": "y"}, ("--extra", "{root}/more.md"), ["  1. more.md    1 B;  named by --extra"], id="an extra file"),
        pytest.param({"AGENTS.md": "x" * 4_000}, ("--budget", "2K"), ["  1. AGENTS.md  2.0 KB of 3.9 KB, cut;  holds for the whole project"], id="cut"),
        pytest.param({"AGENTS.md": "x", "a/k": ""}, ("--budget", "none"), ["Together 1 B. There is no budget."], id="no budget"),
        pytest.param({"AGENTS.md": "@a.md", "a.md": "A"}, ("--no-imports",), [f"Together 5 B. {BUDGET}"], id="no imports"),
        pytest.param({"AGENTS.md": "@a.md", "a.md": "@b.md", "b.md": "B"}, ("--depth", "1"), ["     └── a.md   5 B;  imported"], id="less deep"),
    ],
)
def test_reasons(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes], entries: dict[str, Any], arguments: tuple[str, ...], expected: list[str]) -> None:
    """Each thing that keeps a file from an agent is said in words."""
    folder = tree(entries)
    path = folder / "a" if "a/AGENTS.md" in entries else folder
    _, out = run(capsysbinary, "agents", path, *(argument.replace("{root}", str(folder)) for argument in arguments))

    assert [] == [line for line in expected if line not in out.splitlines()], out


def test_the_start_folder_alone(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a marker above, it is said that files further up are not read, and what helps."""
    folder = tree({"AGENTS.md": "outer", "p/x": ""})
    # How a folder is spelled, in full or from here, depends on which is shorter.
    monkeypatch.chdir(folder)
    _, alone = run(capsysbinary, "agents", folder / "p")
    _, rooted = run(capsysbinary, "agents", folder / "p", "--root", folder)

    assert "neither it nor a folder above has .git, so files further up are not read; --root takes them in." in alone
    assert "No instruction file holds here." in alone
    assert "There is one above the root, where nothing is read: ../AGENTS.md (5 B); --root . takes it in." in alone.splitlines()
    assert f"Root: {folder}, as it was given." in rooted
    assert "  1. AGENTS.md  5 B;  holds for the whole project" in rooted


def test_what_helps_is_said_from_where_one_is(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """A suggestion can be typed as it stands, and does what it says."""
    folder = tree({"AGENTS.md": "outer", "p q/r/AGENTS.md": "own"})
    monkeypatch.chdir(folder / "p q" / "r")
    _, alone = run(capsysbinary, "agents")
    _, rooted = run(capsysbinary, "agents", "--root", "../..")

    assert "Above the root, and so not read:\n  - ../../AGENTS.md (5 B); --root ../.. takes it in\n" in alone
    assert "  2. p q/r/AGENTS.md  3 B;  holds for p q/r/" in rooted.splitlines()


def test_above_a_given_root_nothing_is_looked_at(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Whoever gives a root has said where it begins."""
    folder = tree({"AGENTS.md": "outer", "p/x": ""})
    _, out = run(capsysbinary, "agents", folder / "p", "--root", folder / "p")

    assert "above the root" not in out
    assert "../" not in out


@pytest.mark.parametrize(
    ("git", "why"),
    [
        pytest.param("gitdir: ../.git/modules/s\n", "a submodule of the repository in {folder}", id="a submodule"),
        pytest.param("gitdir: ../.git/worktrees/s\n", "a work tree of the repository in {folder}", id="a work tree"),
    ],
)
def test_a_border_that_is_easily_overlooked(
    tree: Tree, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, git: str, why: str
) -> None:
    """A folder with a file called .git is where the project begins, and which repository it belongs to is said."""
    folder = tree({".git/H": "", "AGENTS.md": "outer", "s/.git": git, "s/d/x": ""})
    monkeypatch.chdir(folder)
    _, out = run(capsysbinary, "agents", folder / "s" / "d")

    assert f"Root: {folder}/s, the nearest folder with .git, {why.format(folder=folder)}." in out.splitlines()
    assert "There is one above the root, where nothing is read: ../AGENTS.md (5 B); --root . takes it in." in out.splitlines()
    said = "  - ../AGENTS.md (5 B): it lies above the root, which is a submodule of the repository there; --root . takes it in"
    assert ("submodule" in why) == (said in out.splitlines())


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("none/of/it.py", "{folder}/none/of/it.py does not exist (yet). What follows holds for a file that is made there.", id="not there"),
        pytest.param("a/new.py", "The nearest folder that exists is {folder}/a.", id="not there in a folder that is"),
        pytest.param("a/AGENTS.md", "a/AGENTS.md is read: it is one of the files below.", id="a file that holds"),
        pytest.param("b/AGENTS.md", "b/AGENTS.md is not read; why is said below.", id="a file that is left out"),
        pytest.param("b/agents.MD", "b/agents.MD is not read: no file of that name is, see the rules.", id="a file of another name"),
        pytest.param("CLAUDE.md", "CLAUDE.md is not read: no file of that name is, see the rules.", id="a file of another agent"),
    ],
)
def test_what_was_asked_about(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes], path: str, expected: str) -> None:
    """Who names a file that does not exist, or the very file that an agent does not see, is answered first."""
    folder = tree({".git/H": "", "a/AGENTS.md": "A", "b/AGENTS.md": "", "b/agents.MD": "x", "CLAUDE.md": "C", "c.py": ""})
    _, out = run(capsysbinary, "agents", folder / path)

    assert expected.format(folder=folder) in out.splitlines()[:2]


def test_an_ordinary_file_is_no_question(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """For any other path the answer begins with the root."""
    folder = tree({".git/H": "", "a/c.py": "", "a/AGENTS.md": "A"})
    for path in (folder / "a", folder / "a" / "c.py"):
        _, out = run(capsysbinary, "agents", path)

        assert out.startswith("Root: ")


def test_a_file_that_is_read_is_not_among_other_names(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """An imported or extra file is not said to be left unread; nor are others' where a file of ours is."""
    folder = tree({"AGENTS.md": "@AGENT.md", "AGENT.md": "A", "CLAUDE.md": "C"})
    _, out = run(capsysbinary, "agents", folder)

    assert "Not read for their names" not in out


def test_a_profile_that_reads_what_it_is_told(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Where nothing is looked for, no folder was looked in."""
    folder = tree({".git/H": "", "AGENTS.md": "x", "a.md": "A"})
    _, told = run(capsysbinary, "agents", folder, "--profile", "eino", "--extra", folder / "a.md")
    _, blank = run(capsysbinary, "agents", folder, "--profile", "eino", "--extra", folder / "none.md")

    _, nothing = run(capsysbinary, "agents", folder, "--profile", "eino", "--user-file", folder / "none.md")

    assert nothing.endswith("No instruction file holds here.\n")
    assert f"Root: {folder}, the start folder: this profile looks for no other." in told
    assert "It looks for no files by itself; name them with --extra." in told
    assert "Looked in" not in told
    assert "No instruction file holds here.\nOf what there is nothing is read; why is said below.\n\nCould not be read:" in blank


def test_every_reason_has_words() -> None:
    """A reason without a rule in words would be no answer."""
    assert {reason for reason, _ in _RULES} == set(Omission)
    assert all(text.format(winner="w", budget="b", file_bytes="f", cutting="c", above="a") for text in _RULES.values())


@pytest.mark.parametrize("style", ["project_context", "instructions", "headings", "system_reminder"])
def test_render(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes], style: Any) -> None:
    """What is printed is what a prompt would get, and a line end."""
    folder = tree(PROJECT)
    found = agentsmd.expand_imports(agentsmd.discover(folder / "src"))
    _, out = run(capsysbinary, "agents", folder / "src", "--render", style, "--language", "zh")

    assert out == agentsmd.render(found, style=style, language="zh") + "\n"


def test_render_nothing(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Nothing to say is no output at all."""
    assert run(capsysbinary, "agents", tree({"x": ""}), "--render", "headings") == (0, "")


def test_catalog(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """The openings, as long as the window of the model allows."""
    folder = tree({"AGENTS.md": "word " * 1000})
    _, out = run(capsysbinary, "agents", folder, "--catalog", "--context-window", "4096")

    assert out == agentsmd.catalog(agentsmd.discover(folder), inline_bytes=1792) + "\n"
    assert "excerpt ends here" in out


def test_json(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Everything that is known, as one object in ASCII, without a path of this machine."""
    folder = tree(PROJECT | {"AGENTS.md": "é\n@docs/none.md"})
    _, out = run(capsysbinary, "agents", folder / "src" / "api", "--json")
    value = json.loads(out)

    assert out.isascii()
    assert str(folder) not in out
    assert list(value) == ["version", "profile", "root", "docs", "omitted", "problems", "warnings"]
    assert [doc["name"] for doc in value["docs"]] == ["AGENTS.md", "src/AGENTS.md", "src/AGENTS.local.md", "src/api/AGENTS.override.md"]
    assert value["docs"][0]["text"] == "é\n@docs/none.md"
    assert {"name": "src/api/AGENTS.md", "size": 10, "reason": "shadowed", "by": "src/api/AGENTS.override.md"} in value["omitted"]
    assert [problem["name"] for problem in value["problems"]] == ["@docs/none.md"]


def test_names_that_hide_are_shown(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """A folder whose name holds control characters cannot say what the terminal does."""
    folder = tree({".git/H": "", "a\x1b[31m/AGENTS.md": "x"})
    _, out = run(capsysbinary, "agents", folder / "a\x1b[31m")

    assert "\x1b" not in out
    assert "a\\u{1b}[31m/AGENTS.md" in out


@pytest.mark.parametrize("arguments", [("--profile", "none"), ("--render", "xml"), ("--budget", "many"), ("--budget", "-1"), ("--json", "--catalog")])
def test_error_arguments(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes], arguments: tuple[str, ...]) -> None:
    """What cannot be understood ends with 2."""
    with pytest.raises(SystemExit, match="2"):
        run(capsysbinary, "agents", tree({}), *arguments)


def test_error_a_profile_that_looks_for_nothing(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """The profile that reads only what it is told says so."""
    with pytest.raises(OptionError, match="extra"):
        run(capsysbinary, "agents", tree({}), "--profile", "eino")


def test_migrate_shows_and_then_writes(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Without --write it is a dry run; with it the file is there, and a second run has nothing to do."""
    text = "# Claude\n\nClaude Code reads CLAUDE.md.\nUse claude-3-opus, not `claude`.\n" + "Claude\n" * 20
    folder = tree({".claude/CLAUDE.md": text + "@style.md\n"})
    dry = run(capsysbinary, "migrate", folder, "--agent", "Codex")
    before = (folder / "AGENTS.md").exists()
    wet = run(capsysbinary, "migrate", folder, "--agent", "Codex", "--write")
    again = run(capsysbinary, "migrate", folder, "--write")

    assert (dry[0], wet[0], again[0]) == (0, 0, 0)
    assert not before
    assert (folder / "AGENTS.md").read_text(encoding="utf-8").startswith("# Codex\n\nCodex reads AGENTS.md.\nUse claude-3-opus, not `claude`.\n")
    assert again[1] == "For this project: nothing to do. AGENTS.md is there and is not blank.\n"
    shown = f"$ filerefs migrate\n{dry[1]}\n$ filerefs migrate --write\n{wet[1]}"
    check_golden("migrate.txt", shown.replace(str(folder), "{folder}"))


def test_migrate_without_a_folder(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """A folder that does not exist has nothing to migrate."""
    assert run(capsysbinary, "migrate", tmp_path / "none") == (0, "Nothing to do: there is no such folder.\n")


def test_error_migrate_that_cannot_write(tree: Tree, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that could not be written is said, and is the exit code."""
    folder = tree({"home/CLAUDE.md": "x", "to": None, "p": None})
    monkeypatch.setattr("filerefs.agentsmd.migration.write_file", lambda *_: "it cannot be written: the disk is full")

    code, out = run(capsysbinary, "migrate", folder / "p", "--user", folder / "home", folder / "to", "--write")

    assert code == 1
    assert out.endswith("could not write AGENTS.md: it cannot be written: the disk is full\n")
    assert out.startswith("For this project: nothing to do. There is no CLAUDE.md and no .claude/CLAUDE.md.\nFor all projects: CLAUDE.md -> AGENTS.md in ")
