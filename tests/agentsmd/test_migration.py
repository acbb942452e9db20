"""CLAUDE.md to AGENTS.md: which words change, what the plan says, and what is never written."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs.agentsmd import migration_files
from filerefs.agentsmd.migration import Plan, plan_migration, write_migration
from filerefs.agentsmd.migration_files import write_file
from filerefs.agentsmd.rewording import Kept, Word, reword
from filerefs.errors import OptionError

from .cases import Row, build, rows

if TYPE_CHECKING:
    from conftest import Tree


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("See CLAUDE.md.", "See AGENTS.md.", id="the file"),
        pytest.param("claude.MD", "AGENTS.md", id="the file in another case"),
        pytest.param("Claude Code, claude-code, claude_code, ClaudeCode", "Bob, Bob, Bob, Bob", id="the name in its spellings"),
        pytest.param("Ask **Claude** (claude): Claude's way!", "Ask **Bob** (Bob): Bob's way!", id="marks around the name"),
        pytest.param("请使用Claude写", "请使用Bob写", id="between letters of a script without blanks"),
        pytest.param("Claude-based, Claude-specific.", "Bob-based, Bob-specific.", id="in a compound of English"),
        pytest.param("a claude\n\n- Claude in a list\n\n    Claude below its item", "a Bob\n\n- Bob in a list\n\n    Bob below its item", id="in lists"),
        pytest.param("Claude codebase", "Bob codebase", id="before a longer word"),
    ],
)
def test_words_change(text: str, expected: str) -> None:
    """Whole words of prose change, whatever their case."""
    assert reword(text, agent="Bob").text == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("https://docs.claude.com", "a path or an address", id="an address"),
        pytest.param("docs.claude.com is", "a path or an address", id="a domain"),
        pytest.param("claude.ai", "a path or an address", id="a domain that begins so"),
        pytest.param(".claude/settings.json", "a path or an address", id="a folder"),
        pytest.param("docs/CLAUDE.md", "a path or an address", id="another file of that name"),
        pytest.param("CLAUDE.local.md", "a path or an address", id="a file of another name"),
        pytest.param("C:\\claude", "a path or an address", id="a Windows path"),
        pytest.param("claude@example.com", "an address or a mention", id="an e-mail address"),
        pytest.param("@claude", "an address or a mention", id="a handle"),
        pytest.param("@CLAUDE.md", "an address or a mention", id="an import"),
        pytest.param("claude-3-opus", "the name of a model", id="a model"),
        pytest.param("Claude Sonnet 4.5", "the name of a model", id="a model in words"),
        pytest.param("claude 3", "the name of a model", id="a model by its number"),
        pytest.param("claude-agent-sdk", "a longer name", id="a package"),
        pytest.param("--claude", "a longer name", id="an option"),
        pytest.param("$CLAUDE", "a longer name", id="a variable"),
        pytest.param("run `claude` now", "code", id="a code span"),
        pytest.param("```\nclaude\n```", "code", id="a fenced block"),
        pytest.param("text\n\n    claude\n    claude", "code or the target of a link", id="indented code"),
        pytest.param("[the file](CLAUDE.md)", "code or the target of a link", id="the target of a link"),
        pytest.param("[it]: CLAUDE.md", "code or the target of a link", id="a link's definition"),
        pytest.param("<claude>", "code or the target of a link", id="a tag"),
    ],
)
def test_names_stay(text: str, reason: str) -> None:
    """What names something else stays, and is reported."""
    result = reword(text, agent="Bob")

    assert result.text == text
    assert {kept.reason for kept in result.kept} == {reason}


@pytest.mark.parametrize("text", ["claudette", "myclaude", "claude_x", "éclaude", "claudé", "claude7", "Claudia"])
def test_longer_words_are_no_words(text: str) -> None:
    """A part of a longer word is not even reported."""
    assert reword(text, agent="Bob") == (text, (), ())


def test_words_are_told_with_their_lines() -> None:
    """A plan says what changes and what stays, and where."""
    result = reword("# Claude\n\nSee CLAUDE.md\nand `claude`.\n")

    assert result.text == "# Claude\n\nSee AGENTS.md\nand `claude`.\n"
    assert result.words == (Word(3, "CLAUDE.md", "AGENTS.md"),)
    assert result.kept == (Kept(1, "Claude", "the agent's name"), Kept(4, "claude", "code"))


def test_a_name_that_stays_the_same_is_no_change() -> None:
    """What reads the same afterwards is neither changed nor kept."""
    assert reword("Claude, claude", agent="Claude") == ("Claude, Claude", (Word(1, "claude", "Claude"),), ())


PIECES = ("claude", "Claude Code", "CLAUDE.md", " ", "\n", "`", "```\n", "a", "é", ".", "/", "@", "-", "_", "(", "](", ")", "    ", "- ", "3")


@given(text=st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_laws_of_rewording(text: str) -> None:
    """Putting the words back gives the text, and doing it twice changes nothing more."""
    result = reword(text, agent="Bob")
    back = result.text
    # What was taken away stood between the same neighbours: replaying the changes from the front restores it.
    position = 0
    for word in result.words:
        position = back.index(word.after, position)
        back = back[:position] + word.before + back[position + len(word.after) :]
        position += len(word.before)

    assert back == text
    assert reword(result.text, agent="Bob").text == result.text


def plan_of(tree: Tree, entries: dict[str, Any], path: str = ".", **options: Any) -> Plan:
    """Make files and return the plan for a folder among them."""
    return plan_migration(tree(entries) / path, **options)


@pytest.mark.parametrize(
    ("entries", "source", "reason"),
    [
        pytest.param({"CLAUDE.md": "x"}, "CLAUDE.md", "", id="a source and no target"),
        pytest.param({".claude/CLAUDE.md": "x"}, ".claude/CLAUDE.md", "", id="the other place"),
        pytest.param({"CLAUDE.md": "x", ".claude/CLAUDE.md": "y"}, "CLAUDE.md", "", id="both places"),
        pytest.param({"CLAUDE.md": "x", "AGENTS.md": " \n"}, "CLAUDE.md", "", id="a blank target"),
        pytest.param({"CLAUDE.md": "x", "AGENTS.md": "y"}, "CLAUDE.md", "AGENTS.md is there and is not blank", id="a target with text"),
        pytest.param({"CLAUDE.md": "x", "AGENTS.md/k": ""}, "CLAUDE.md", "AGENTS.md: a folder, not a file", id="a folder as a target"),
        pytest.param({"x": ""}, "", "there is no CLAUDE.md and no .claude/CLAUDE.md", id="no source"),
        pytest.param({"CLAUDE.md": " \n"}, "", "CLAUDE.md is blank", id="a blank source"),
        pytest.param({"CLAUDE.md/k": ""}, "", "CLAUDE.md: a folder, not a file", id="a folder as a source"),
        pytest.param({"CLAUDE.md": b"\x00\x01\x02"}, "", "CLAUDE.md: not a text file", id="a binary"),
        pytest.param(
            {"CLAUDE.md": b"caf\xc3\xa9, caf\xff"}, "", "CLAUDE.md: it has bytes that are no valid text, shown as U+FFFD", id="bytes that are no text"
        ),
        pytest.param({"CLAUDE.md": "x" * (1 << 20) + "y"}, "", "CLAUDE.md: more than 1048576 bytes are no text that people wrote", id="far too large"),
        pytest.param({"CLAUDE.md": "@AGENTS.md\n"}, "CLAUDE.md", "all it says is to read AGENTS.md, which does not exist", id="nothing but an import"),
    ],
)
def test_plan(tree: Tree, entries: dict[str, Any], source: str, reason: str) -> None:
    """A plan says what would be written from where, or why nothing would."""
    plan = plan_of(tree, entries)
    step = plan.steps[0]

    assert (step.place, step.source, step.target, step.reason) == ("project", source, "AGENTS.md", reason)
    assert step.writes == plan.writes == (not reason)
    assert len(plan.steps) == 1


def test_plan_writes_nothing(tree: Tree) -> None:
    """A dry run leaves the disk as it is."""
    plan = plan_of(tree, {"CLAUDE.md": "Claude"}, agent="Bob")

    assert plan.steps[0].text == "Bob"
    assert sorted(path.name for path in tree.folder.iterdir()) == ["CLAUDE.md"]
    assert "Bob" not in repr(plan)
    assert str(tree.folder) not in repr(plan)


def test_plan_from_deep_inside(tree: Tree) -> None:
    """The project's root is the nearest folder above with a .git, be it a file."""
    plan = plan_of(tree, {".git/H": "", "CLAUDE.md": "outer", "w/.git": "gitdir: x", "w/CLAUDE.md": "inner", "w/a/b/x": ""}, "w/a/b/x")

    assert plan.steps[0].text == "inner"
    assert Path(plan.steps[0].folder) == tree.folder / "w"


def test_plan_for_nothing(tmp_path: Path) -> None:
    """A folder that does not exist has no plan."""
    assert plan_migration(tmp_path / "none") == Plan()


def test_plan_for_a_person(tree: Tree) -> None:
    """What holds in all projects is migrated between two folders that the host names."""
    folder = tree({"home/.claude/CLAUDE.md": "mine", "home/.codex": None, "p/x": ""})
    user = (folder / "home" / ".claude", folder / "home" / ".codex")
    plan = plan_migration(folder / "p", user=user)

    assert [(step.place, step.writes) for step in plan.steps] == [("project", False), ("user", True)]
    assert [one.problem for one in write_migration(plan)] == [""]
    assert (folder / "home/.codex/AGENTS.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("user", "reason"),
    [(("none", "."), "the folder to read from does not exist"), ((".", "none"), "the folder to write to does not exist")],
)
def test_plan_for_a_person_without_folders(tree: Tree, user: tuple[str, str], reason: str) -> None:
    """A folder that is not there is a reason, no error."""
    folder = tree({"CLAUDE.md": "x"})
    plan = plan_migration(folder, user=(folder / user[0], folder / user[1]))

    assert plan.steps[1].reason == reason


@pytest.mark.parametrize(
    ("link", "target"),
    [
        pytest.param("CLAUDE.md", "notes.md", id="a source that is a link"),
        pytest.param("AGENTS.md", "elsewhere.md", id="a target that is a link to nothing"),
        pytest.param("AGENTS.md", "blank.md", id="a target that is a link to a blank file"),
    ],
)
def test_links_are_not_followed(tree: Tree, link: str, target: str) -> None:
    """Neither reading nor writing goes through a link."""
    plan = plan_of(tree, {"notes.md": "Claude", "blank.md": "", **({"CLAUDE.md": "x"} if link != "CLAUDE.md" else {}), link: tree.link(target)})

    assert not plan.writes
    assert "symbolic link" in plan.steps[0].reason
    assert write_migration(plan) == []


def test_imports_that_move_are_told(tree: Tree) -> None:
    """A text that goes to another folder and names files relative to its own says so."""
    plan = plan_of(tree, {".claude/CLAUDE.md": "See @style.md and @x/y.md."})

    assert plan.steps[0].notes == ("it imports style.md, x/y.md relative to .claude/, and will be read from another folder",)


@pytest.mark.parametrize("agent", ["", " ", "a\nb"])
def test_error_agent(agent: str) -> None:
    """The name of the agent is one line with something in it."""
    with pytest.raises(OptionError, match="agent"):
        plan_migration(agent=agent)


def test_writing(tree: Tree) -> None:
    """The new file is there, the old one stays, nothing else appears, and the mode is that of any new file."""
    plan = plan_of(tree, {"CLAUDE.md": "Claude €\r\n"}, agent="Bob")
    written = write_migration(plan)
    (tree.folder / "plain").write_text("", encoding="utf-8")

    assert [one.problem for one in written] == [""]
    assert (tree.folder / "AGENTS.md").read_bytes() == "Bob €\r\n".encode()
    assert sorted(path.name for path in tree.folder.iterdir()) == ["AGENTS.md", "CLAUDE.md", "plain"]
    assert (tree.folder / "AGENTS.md").stat().st_mode == (tree.folder / "plain").stat().st_mode
    assert (tree.folder / "CLAUDE.md").read_bytes() == "Claude €\r\n".encode()


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        pytest.param({"AGENTS.md": "theirs"}, "AGENTS.md is there and is not blank", id="a file"),
        pytest.param({"AGENTS.md/k": ""}, "AGENTS.md is there and is no regular file", id="a folder"),
        pytest.param({"AGENTS.md": " " * 70_000}, "AGENTS.md is there and is not blank", id="a large file, whatever is in it"),
    ],
)
def test_error_what_came_in_between_stays(tree: Tree, made: dict[str, Any], problem: str) -> None:
    """A file that appears behind the plan is not overwritten."""
    plan = plan_of(tree, {"CLAUDE.md": "x"})
    tree(made)
    before = sorted(path.name for path in tree.folder.iterdir())
    size = (tree.folder / "AGENTS.md").stat().st_size

    assert [one.problem for one in write_migration(plan)] == [problem]
    assert sorted(path.name for path in tree.folder.iterdir()) == before
    assert (tree.folder / "AGENTS.md").stat().st_size == size


@pytest.mark.parametrize("target", ["out/new.md", "out/blank.md"], ids=["to nothing", "to a blank file"])
def test_error_a_link_that_came_in_between(tree: Tree, target: str) -> None:
    """A link at the target's place is neither followed nor replaced."""
    plan = plan_of(tree, {"CLAUDE.md": "x", "out/blank.md": ""})
    tree({"AGENTS.md": tree.link(target)})

    assert [one.problem for one in write_migration(plan)] == ["AGENTS.md is a symbolic link"]
    assert (tree.folder / "AGENTS.md").is_symlink()
    assert (tree.folder / "out" / "blank.md").read_bytes() == b""
    assert not (tree.folder / "out" / "new.md").exists()


def test_error_a_pipe_in_between(tree: Tree) -> None:
    """A pipe is not waited for."""
    plan = plan_of(tree, {"CLAUDE.md": "x"})
    tree({"AGENTS.md": tree.fifo()})

    assert [one.problem for one in write_migration(plan)] == ["AGENTS.md is there and is no regular file"]


def test_error_the_folder_is_gone(tree: Tree) -> None:
    """Trouble with the folder is a sentence without its path."""
    tree({"p/CLAUDE.md": "x"})
    plan = plan_migration(tree.folder / "p")
    (tree.folder / "p" / "CLAUDE.md").unlink()
    (tree.folder / "p").rmdir()
    problem = write_migration(plan)[0].problem

    assert problem.startswith("the folder cannot be opened: ")
    assert str(tree.folder) not in problem


def racing(monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    """Let somebody else act between the look at the target and the writing."""
    fill = migration_files._fill

    def fill_and_act(descriptor: int, data: bytes) -> None:
        fill(descriptor, data)
        act()

    monkeypatch.setattr(migration_files, "_fill", fill_and_act)


def test_error_somebody_else_is_faster(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """What appears at the last moment stays, and nothing is left lying about."""
    target = tree.folder / "AGENTS.md"
    racing(monkeypatch, lambda: target.write_text("theirs", encoding="utf-8"))

    assert write_file(str(tree.folder), "AGENTS.md", "ours") == "AGENTS.md has just been made by somebody else"
    assert target.read_text(encoding="utf-8") == "theirs"
    assert [path.name for path in tree.folder.iterdir()] == ["AGENTS.md"]


def test_error_somebody_else_fills_the_blank(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blank file that is filled at the last moment stays."""
    target = tree({"AGENTS.md": ""}) / "AGENTS.md"
    racing(monkeypatch, lambda: target.write_text("theirs", encoding="utf-8"))

    assert write_file(str(tree.folder), "AGENTS.md", "ours") == "AGENTS.md has just been changed by somebody else"
    assert target.read_text(encoding="utf-8") == "theirs"


def test_error_a_name_that_no_file_can_have(tree: Tree) -> None:
    """Trouble with the place of the target is a sentence."""
    assert write_file(str(tree.folder), "x" * 300, "ours").startswith("it cannot be written: ")


def test_error_the_disk_fails(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is not about hard links is not taken for one."""

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "link", fail)

    assert write_file(str(tree.folder), "AGENTS.md", "ours").startswith("it cannot be written: ")
    assert list(tree.folder.iterdir()) == []


def test_error_the_disk_is_full(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails half-way leaves nothing behind."""

    def fail() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    racing(monkeypatch, fail)

    assert write_file(str(tree.folder), "AGENTS.md", "ours").startswith("it cannot be written: ")
    assert list(tree.folder.iterdir()) == []


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP], ids=["not permitted", "not supported"])
def test_writing_without_hard_links(tree: Tree, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """A file system that has no hard links gets its file all the same."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)

    assert write_file(str(tree.folder), "AGENTS.md", "ours") == ""
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tree.folder.iterdir()] == [("AGENTS.md", "ours")]


@pytest.mark.parametrize("row", rows("codex", "migrate-text"))
def test_row_of_words(row: Row) -> None:
    """Codex' words, without its damage."""
    texts = [reword(text, agent="Codex").text for text in row.given["table"]]

    assert (row.given["table"] if row.standing == "mended" else row.expected["table"]) == texts


@pytest.mark.parametrize("row", rows("codex", "migrate"))
def test_row_of_files(row: Row, tree: Tree) -> None:
    """The first source with text in it goes to a target that is missing or blank, from wherever one stands."""
    results = []
    for number, entries in enumerate(row.given["table"]):
        folder = build(tree, {f"{number}/{path}": text for path, text in entries.items()} | {f"{number}/deep/er/x": ""}) / str(number)
        write_migration(plan_migration(folder / "deep" / "er", agent="Codex"))
        target = folder / "AGENTS.md"
        results.append(target.read_text(encoding="utf-8") if target.exists() else None)

    assert row.expected["agents_md"] == results
