"""`filerefs hook install`: somebody's settings file, edited so that nothing of it is lost."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs import hook_cli
from filerefs.hooks import installing, settings_files
from filerefs.hooks.hosts import CLAUDE_CODE, CODEX, CURSOR, GEMINI, HOSTS, Host
from filerefs.hooks.installing import merge, unmerge
from filerefs.hooks.json_text import JSONText, JSONTextError
from filerefs.hooks.settings_files import Place, SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conftest import Tree

EACH_HOST = pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
POSIX = pytest.mark.skipif(os.name != "posix", reason="handles of folders as POSIX has them")


def _command(host: Host) -> str:
    return f"filerefs hook {host.name}"


def _merge(host: Host, text: str | None, command: str = "") -> str:
    after = merge(host, text, command or _command(host)).after
    assert after is not None
    return after


def _without_ours(host: Host, value: dict[str, Any]) -> dict[str, Any]:
    """Return settings without our handlers, and without what then is empty: what must stay as it was."""
    kept = json.loads(json.dumps(value))
    hooks = kept.get("hooks", {})
    for event in list(hooks):
        entries = []
        for entry in hooks[event]:
            if host.settings.groups and isinstance(entry, dict) and "hooks" in entry:
                entry["hooks"] = [handler for handler in entry["hooks"] if handler.get("command") != _command(host)]
                entries += [entry] if entry["hooks"] else []
            elif not isinstance(entry, dict) or entry.get("command") != _command(host):
                entries.append(entry)
        hooks[event] = entries
        if not entries:
            del hooks[event]
    if not hooks:
        kept.pop("hooks", None)
    return dict(kept)


# The text of a JSON document.

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=20)


@st.composite
def _laid_out(draw: st.DrawFn, value: Any) -> str:
    """Return *value* as JSON text with blanks wherever JSON allows them."""
    blank = draw(st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t"]))
    if isinstance(value, dict):
        inner = f"{blank},{blank}".join(f"{json.dumps(key)}{blank}:{blank}{draw(_laid_out(item))}" for key, item in value.items())
        return f"{{{blank}{inner}{blank}}}"
    if isinstance(value, list):
        inner = f",{blank}".join(draw(_laid_out(item)) for item in value)
        return f"[{blank}{inner}{blank}]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


TEXTS = VALUES.flatmap(_laid_out)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=5)


@given(text=TEXTS)
def test_json_is_read_as_json_is(text: str) -> None:
    """A document means what the standard library says it does."""
    assert json.loads(text) == JSONText(text).root.value


@given(value=OBJECTS, key=st.text(), new=VALUES, data=st.data())
def test_what_is_appended_is_there_and_nothing_else_changed(value: dict[str, Any], key: str, new: Any, data: st.DataObject) -> None:
    """A new member stands last; taking it out again gives the text from before, but for blanks in an empty object."""
    value.pop(key, None)
    text = data.draw(_laid_out(value))
    document = JSONText(text)

    document.append((), new, key)
    appended = document.text
    document.remove((key,))

    assert list((value | {key: new}).items()) == list(json.loads(appended).items())
    assert document.text == text or (not value and document.text == "{}")


@given(value=st.lists(VALUES, min_size=1, max_size=5), data=st.data())
def test_what_is_removed_is_gone_and_nothing_else_changed(value: list[Any], data: st.DataObject) -> None:
    """Any item can be taken out, or another put in its place; the others keep their values and their order."""
    index = data.draw(st.integers(0, len(value) - 1))
    text = data.draw(_laid_out(value))
    document, other = JSONText(text), JSONText(text)

    document.remove((index,))
    other.replace((index,), {"new": [1]})

    assert value[:index] + value[index + 1 :] == json.loads(document.text)
    assert [*value[:index], {"new": [1]}, *value[index + 1 :]] == json.loads(other.text)


@given(value=st.lists(VALUES, min_size=1, max_size=8), data=st.data())
def test_many_are_removed_as_one_by_one(value: list[Any], data: st.DataObject) -> None:
    """What is taken out at once is what would be taken out one by one, and what is left has the same text."""
    indexes = data.draw(st.sets(st.integers(0, len(value) - 1), min_size=1))
    text = data.draw(_laid_out(value))
    document, other = JSONText(text), JSONText(text)

    document.remove_all([((), indexes)])
    for index in sorted(indexes, reverse=True):
        other.remove((index,))

    assert [item for index, item in enumerate(value) if index not in indexes] == json.loads(document.text)
    assert other.text == document.text


@EACH_HOST
def test_duplicates_are_removed_at_once(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often our entry is there, and whatever is beside it, the settings are read as often as for two."""
    reads: list[str] = []
    take = JSONText._take
    monkeypatch.setattr(JSONText, "_take", lambda document, text: (reads.append(text), take(document, text)))
    one = json.loads(_merge(host, None))["hooks"]
    other = {"command": "another"}
    mixed = {"hooks": [one[host.prompt_event][0]["hooks"][0], other]} if host.settings.groups else other

    def settings(count: int) -> str:
        return json.dumps({"hooks": {event: [other, *entries * count, *[mixed] * count] for event, entries in one.items()}}, indent=2)

    counts = []
    for count in (2, 200):
        reads.clear()
        merged, unmerged = merge(host, settings(count), _command(host)), unmerge(host, settings(count), _command(host))
        counts.append(len(reads))

        kept = [other, *[{"hooks": [other]} if host.settings.groups else other] * count]
        first = [other, *one[host.prompt_event]]
        assert dict.fromkeys(one, first + kept[1:]) == json.loads(merged.after or "")["hooks"]
        assert dict.fromkeys(one, kept) == json.loads(unmerged.after or "")["hooks"]
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("", "line 1: a value is missing", id="nothing"),
        pytest.param("{", "line 1: a name", id="an object that does not end"),
        pytest.param('{"a": 1,}', "line 1: a name", id="a comma too many"),
        pytest.param('{\n"a" 1}', "line 2: a colon is missing", id="no colon"),
        pytest.param('{"a": 1 "b": 2}', "line 1: a comma or } is missing", id="no comma"),
        pytest.param("[1 2]", "line 1: a comma or ] is missing", id="no comma in an array"),
        pytest.param("[1,]", "line 1: a value is missing", id="a comma too many in an array"),
        pytest.param('{"a": "b}', "line 1: a string does not end", id="no end of a string"),
        pytest.param('{"a": "\t"}', "line 1: a string does not end, or holds", id="a raw tab"),
        pytest.param("{'a': 1}", "line 1: a name in double quotes", id="single quotes"),
        pytest.param("[tru]", "line 1: no value: tru", id="no word of JSON"),
        pytest.param("[NaN]", "line 1: no value: NaN", id="a number that is none"),
        pytest.param("[01]", "line 1: no value: 01", id="a zero in front"),
        pytest.param("{} {}", "line 1: more than one value", id="two values"),
        pytest.param("{} // end", "line 1: more than one value", id="a comment"),
        pytest.param("[" * 100_000, "it is nested too deeply", id="too deep"),
    ],
)
def test_error_no_json(text: str, problem: str) -> None:
    """What is no JSON is refused, with the line and what is missing there."""
    with pytest.raises(JSONTextError) as caught:
        JSONText(text)

    assert str(caught.value).startswith(problem)


@given(text=st.text(alphabet='{}[]",: \n\\a1-/*'))
def test_error_agrees_with_the_standard_library(text: str) -> None:
    """A text is refused if and only if it is no JSON."""
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(JSONTextError):
            JSONText(text)
    else:
        assert expected == JSONText(text).root.value


COMMENTED = """\
// mine
{
  /* the theme */ "theme": "dark", // very
  "tools": [ // none
  ]
  // the end
}
"""


def test_comments_stay() -> None:
    """Where a host reads comments, all of them are there afterwards, in their order, and again after uninstalling."""
    merged = _merge(GEMINI, COMMENTED)
    back = unmerge(GEMINI, merged, _command(GEMINI)).after

    for text in (merged, back or ""):
        places = [text.index(comment) for comment in ("// mine", "/* the theme */", "// very", "// none", "// the end")]
        assert sorted(places) == places
        assert JSONText(text, comments=True).root.value["theme"] == "dark"
    assert 2 == merged.count("filerefs hook gemini")
    assert "hooks" not in JSONText(back or "", comments=True).root.value


@pytest.mark.parametrize(
    ("text", "path", "left"),
    [
        pytest.param("[1 // one\n, 2]", (0,), "[ // one\n2]", id="behind a value that goes"),
        pytest.param("[1, // one\n 2 ]", (1,), "[1 // one\n  ]", id="before the last value"),
        pytest.param("[1, // one\n 2\n]", (1,), "[1 // one\n]", id="before the last value on its own line"),
        pytest.param("[ // none\n 2 ]", (0,), "[ // none\n  ]", id="around the only value"),
        pytest.param('{"a": 1, /* b */ "b": 2}', ("b",), '{"a": 1 /* b */ }', id="in the same line"),
    ],
)
def test_comments_around_what_is_removed(text: str, path: tuple[str | int, ...], left: str) -> None:
    """A comment never swallows what stands behind it."""
    document = JSONText(text, comments=True)

    document.remove(path)

    assert left == document.text


# What becomes of settings.


@EACH_HOST
@given(data=st.data())
def test_installing_twice_is_installing_once(host: Host, data: st.DataObject) -> None:
    """Whatever else is in the settings, each event calls us once, and all else is as it was, in its order."""
    event = data.draw(st.sampled_from([host.prompt_event, host.start_event, "Other"]))
    handlers = [{"type": "command", "command": data.draw(st.sampled_from(["./lint.sh", _command(host), "filerefs hook other", "echo hook"]))}]
    value = data.draw(OBJECTS) | {"hooks": {event: [{"matcher": "x", "hooks": handlers}] if host.settings.groups else handlers}, "last": 1}
    text = data.draw(_laid_out(value))

    once = _merge(host, text)
    twice = _merge(host, once)

    merged = json.loads(once)
    assert once == twice
    assert _without_ours(host, value) == _without_ours(host, merged)
    assert list(value) == list(merged)
    for name in (host.prompt_event, host.start_event):
        calls = [handler["command"] for entry in merged["hooks"][name] for handler in (entry["hooks"] if host.settings.groups else [entry])]
        assert 1 == calls.count(_command(host))


@EACH_HOST
@given(value=OBJECTS, others=st.booleans(), data=st.data())
def test_uninstalling_is_the_way_back(host: Host, value: dict[str, Any], others: bool, data: st.DataObject) -> None:  # noqa: FBT001
    """What was installed is taken out byte for byte, whatever the file's layout."""
    if others:
        theirs = {"type": "command", "command": "./lint.sh"}
        value = value | {"hooks": {host.prompt_event: [{"hooks": [theirs]}] if host.settings.groups else [theirs], "Other": []}}
    else:
        value.pop("hooks", None)
    text = data.draw(_laid_out(value | {"last": [1, 2]}))

    assert text == unmerge(host, _merge(host, text), _command(host)).after


@EACH_HOST
@pytest.mark.parametrize("text", [None, "", "  \n"], ids=["no file", "an empty file", "blanks"])
def test_a_file_of_our_own_goes_as_it_came(host: Host, text: str | None) -> None:
    """A file that only we wrote anything into is taken away."""
    merged = _merge(host, text)

    assert merged.endswith("}\n")
    assert unmerge(host, merged, _command(host)).after is None


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        pytest.param('{\n    "a": 1\n}\n', '{\n    "a": 1,\n    "hooks": {\n        "SessionStart"', id="four blanks"),
        pytest.param('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"hooks": {\n\t\t"SessionStart"', id="tabs"),
        pytest.param('{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "hooks": {\r\n    "SessionStart"', id="CR LF"),
        pytest.param('{"a": 1}', '{"a": 1, "hooks": {"SessionStart"', id="one line"),
        pytest.param("{}", '{\n  "hooks": {\n    "SessionStart"', id="nothing in it"),
        pytest.param('\ufeff{"a": 1}', '\ufeff{"a": 1, "hooks": {"SessionStart"', id="a byte order mark"),
        pytest.param('{"a": [1,2],\n "b": {"c":3}}', '{"a": [1,2],\n "b": {"c":3}, "hooks": {', id="a layout of one's own"),
        pytest.param('{\n  "hooks": {},\n  "b": 1\n}', '{\n  "hooks": {\n    "SessionStart"', id="no hooks yet"),
        pytest.param('{"a": 1.50, "b": "\\u00e9"}', '{"a": 1.50, "b": "\\u00e9", "hooks"', id="numbers and escapes as they were written"),
    ],
)
def test_layouts(text: str, merged: str) -> None:
    """What is added is laid out like the rest, and the rest stays as it is."""
    swapped = _merge(CLAUDE_CODE, text).replace("UserPromptSubmit", "SessionStart", 1)

    assert swapped.startswith(merged)
    if "\r\n" in text:
        assert swapped.count("\n") == swapped.count("\r\n")


def test_other_hooks_stay() -> None:
    """Other people's hooks for the same event stay where they are; ours comes behind them."""
    theirs = {"matcher": "*", "hooks": [{"type": "command", "command": "./lint.sh", "timeout": 3}, {"type": "prompt", "prompt": "?"}]}
    text = json.dumps({"permissions": {"allow": ["x"]}, "hooks": {"PreToolUse": [theirs], "UserPromptSubmit": [theirs]}, "model": "m"}, indent=2)

    merged = json.loads(_merge(CLAUDE_CODE, text))

    assert ["permissions", "hooks", "model"] == list(merged)
    assert [theirs] == merged["hooks"]["PreToolUse"]
    assert [theirs, {"hooks": [{"type": "command", "command": "filerefs hook claude-code", "timeout": 10}]}] == merged["hooks"]["UserPromptSubmit"]
    assert ["PreToolUse", "UserPromptSubmit", "SessionStart"] == list(merged["hooks"])


def test_an_entry_that_was_edited_is_still_ours() -> None:
    """Options are brought up to date in place; a matcher or a timeout that the person set stays; a double goes."""
    entry = {"type": "command", "timeout": 99, "command": "/opt/venv/bin/filerefs hook claude-code --bodies"}
    double = {"type": "command", "command": "filerefs hook claude-code"}
    text = json.dumps({"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [entry, double]}, {"hooks": [double]}]}})

    merged = json.loads(_merge(CLAUDE_CODE, text, "filerefs hook claude-code --no-bodies"))

    assert [{"matcher": "startup", "hooks": [entry | {"command": "filerefs hook claude-code --no-bodies"}]}] == merged["hooks"]["SessionStart"]
    assert "SessionStart" not in json.loads(unmerge(CLAUDE_CODE, json.dumps(merged | {"a": 1}), "filerefs hook claude-code").after or "").get("hooks", {})


@pytest.mark.parametrize(
    ("command", "ours"),
    [
        pytest.param("filerefs hook claude-code", True, id="as it is written"),
        pytest.param("filerefs hook claude-code --bodies --allow 'a b/.env'", True, id="with options"),
        pytest.param("/home/me/.local/bin/filerefs hook claude-code", True, id="by its path"),
        pytest.param("python3 -P -m filerefs hook claude-code", True, id="as --command says"),
        pytest.param("filerefs hook codex", False, id="another host"),
        pytest.param("echo filerefs hook claude-code", False, id="another program"),
        pytest.param("filerefs hook claude-code | tee log", False, id="in a pipe of somebody's"),
        pytest.param("filerefs hook claude-code; rm x", False, id="with something behind it"),
        pytest.param("my-filerefs hook claude-code", False, id="a name that ends alike"),
        pytest.param("filerefs hook", False, id="no host"),
        pytest.param("filerefs 'hook claude-code", False, id="a quote that does not end"),
        pytest.param("", False, id="nothing"),
        pytest.param(7, False, id="a number"),
    ],
)
def test_uninstalling_takes_exactly_ours(command: object, ours: bool) -> None:  # noqa: FBT001
    """An entry is ours if this program could have written it; nothing else is touched."""
    text = json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": command}]}]}, "a": 1})

    change = unmerge(CLAUDE_CODE, text, "python3 -P -m filerefs hook claude-code")

    assert ours == (change.before != change.after)
    if not ours:
        assert 2 == len(json.loads(_merge(CLAUDE_CODE, text, "python3 -P -m filerefs hook claude-code"))["hooks"]["UserPromptSubmit"])


@pytest.mark.parametrize(
    ("host", "text", "problem"),
    [
        pytest.param(CLAUDE_CODE, '{"a": }', "settings.json is no valid JSON, so it is left as it is: line 1", id="no JSON"),
        pytest.param(CLAUDE_CODE, '{\n// mine\n"a": 1}', "Claude Code reads no comments in it either", id="comments, which the host does not read"),
        pytest.param(CODEX, '{"a": 1} /* x */', "Codex reads no comments in it either", id="comments in the other file"),
        pytest.param(CLAUDE_CODE, "[]", "settings.json holds no JSON object", id="an array"),
        pytest.param(CURSOR, '"x"', "hooks.json holds no JSON object", id="a string"),
        pytest.param(CLAUDE_CODE, '{"hooks": []}', "`hooks` in settings.json is no object", id="hooks in an array"),
        pytest.param(GEMINI, '{"hooks": {"BeforeAgent": {}}}', "`hooks.BeforeAgent` in settings.json is no array", id="an event without one"),
    ],
)
def test_error_settings_that_are_not_understood(host: Host, text: str, problem: str) -> None:
    """Settings of another form are refused with a sentence, for installing and for uninstalling."""
    for change in (merge, unmerge):
        with pytest.raises(SettingsError) as caught:
            change(host, text, _command(host))

        assert problem in str(caught.value)


# The file itself.


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home folder of somebody who has no settings yet, and a project to work in."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    # As installed for everybody; what is different in a virtual environment is in tests of its own.
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    for host in HOSTS.values():
        monkeypatch.delenv(host.settings.variable or "FILEREFS_NONE", raising=False)
    monkeypatch.chdir(project)
    return home


def _file(host: Host, folder: Path) -> Path:
    return folder / host.settings.folder / host.settings.file


def _install(*words: str) -> int:
    return hook_cli.main(["install", *words])


@POSIX
@EACH_HOST
def test_there_and_back(host: Host, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Installed, installed again, shown, and uninstalled: the file says so each time, and is gone at the end."""
    path = _file(host, home)

    codes = [_install(host.name), _install(host.name), _install(host.name, "--dry-run")]
    installed = path.read_text(encoding="utf-8")
    codes += [_install(host.name, "--uninstall"), _install(host.name, "--uninstall")]

    lines = capsys.readouterr().out.splitlines()
    assert [0] * 5 == codes
    assert f"added to {path}" == lines[0]
    assert host.settings.afterwards == lines[1]
    assert 2 == sum(line == f"nothing to do: {path} has the entries of filerefs" for line in lines)
    assert f"removed {path}; what it was before is in {path.name}.filerefs.bak" in lines
    assert f"nothing to do: {path} has no entry of filerefs" == lines[-1]
    assert 2 == installed.count(_command(host))
    assert not path.exists()
    assert installed == path.with_name(path.name + ".filerefs.bak").read_text(encoding="utf-8")


@POSIX
@pytest.mark.parametrize(
    ("words", "changed"),
    [
        pytest.param([], "home/.claude/settings.json", id="for the person"),
        pytest.param(["--user"], "home/.claude/settings.json", id="for the person, said so"),
        pytest.param(["--project"], "project/.claude/settings.json", id="for the project"),
    ],
)
def test_scopes(words: Sequence[str], changed: str, home: Path) -> None:
    """Exactly one file is written: the person's own, or that of the project in the working folder."""
    assert 0 == _install("claude-code", *words)

    assert [home.parent / changed] == [path for path in home.parent.rglob("*") if path.is_file()]


@POSIX
def test_a_folder_from_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever keeps a host's settings elsewhere has them edited there."""
    (home / "elsewhere").mkdir()
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere"))

    assert 0 == _install("codex")

    assert (home / "elsewhere/hooks.json").exists()
    assert not (home / ".codex").exists()


@POSIX
def test_a_dry_run_is_a_difference(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run prints what would change, as `diff -u` does, and touches nothing."""
    path = _file(CLAUDE_CODE, home)
    path.parent.mkdir()
    path.write_text('{\n  "model": "m"\n}\n', encoding="utf-8")
    before = path.stat()

    assert 0 == _install("claude-code", "--dry-run")

    lines = capsys.readouterr().out.splitlines()
    assert [f"--- {path}", f"+++ {path}", "@@ -1,3 +1,27 @@", " {", '-  "model": "m"', '+  "model": "m",', '+  "hooks": {'] == lines[:7]
    assert before == path.stat()
    assert [path] == list(path.parent.iterdir())


@POSIX
def test_a_dry_run_makes_no_folder(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there are no settings yet, a dry run shows a new file and makes none."""
    assert 0 == _install("gemini", "--dry-run")

    assert capsys.readouterr().out.startswith(f"--- /dev/null\n+++ {_file(GEMINI, home)}\n")
    assert [] == list(home.iterdir())


@POSIX
def test_the_backup_is_what_was_there(home: Path) -> None:
    """The file from before is beside the new one, with its permissions; both are whole."""
    path = _file(CURSOR, home)
    path.parent.mkdir()
    path.write_text('{"version": 1, "hooks": {}}', encoding="utf-8")
    path.chmod(0o640)

    assert 0 == _install("cursor")

    backup = path.with_name("hooks.json.filerefs.bak")
    assert '{"version": 1, "hooks": {}}' == backup.read_text(encoding="utf-8")
    assert [0o640, 0o640] == [stat.S_IMODE(file.stat().st_mode) for file in (path, backup)]
    assert {path, backup} == set(path.parent.iterdir())


@POSIX
def test_options_are_part_of_the_command(home: Path) -> None:
    """How the hooks are called is decided when they are installed."""
    words = ["--command", "uvx filerefs", "--no-bodies", "--symlinks", "inside", "--allow", "a b/.env"]

    assert 0 == _install("codex", *words)

    (group,) = json.loads(_file(CODEX, home).read_text(encoding="utf-8"))["hooks"]["UserPromptSubmit"]
    assert "uvx filerefs hook codex --no-bodies --symlinks inside --allow 'a b/.env'" == group["hooks"][0]["command"]
    assert 0 == _install("codex", "--uninstall", "--command", "uvx filerefs")
    assert not _file(CODEX, home).exists()


def _refuse(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the one line that a refusal prints."""
    code = _install(*words)

    out, err = capsys.readouterr()
    assert (2, "") == (code, out)
    assert err.startswith("filerefs: error: ")
    assert 1 == err.count("\n")
    return err


@POSIX
@pytest.mark.parametrize("part", [".claude", ".claude/settings.json"])
@pytest.mark.parametrize("dangling", [False, True], ids=["", "that leads nowhere"])
def test_error_symbolic_links(part: str, dangling: bool, home: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: FBT001
    """Nothing is written through a link: a project could have it lead into somebody's own settings."""
    target = home / "target"
    if not dangling:
        target.mkdir() if part == ".claude" else target.write_text("{}", encoding="utf-8")
    link = home.parent / "project" / part
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target)

    said = _refuse(capsys, "claude-code", "--project")

    assert "symbolic link" in said
    assert link.is_symlink()
    assert dangling or (target.is_dir() and not list(target.iterdir())) or target.read_text(encoding="utf-8") == "{}"
    assert dangling != target.exists()


@POSIX
@pytest.mark.parametrize(
    ("entries", "said"),
    [
        pytest.param({".claude/settings.json": b"\xff{}"}, "is not UTF-8", id="no UTF-8"),
        pytest.param({".claude/settings.json": None}, "is no file", id="a folder"),
        pytest.param({".claude": "x"}, "or no folder", id="a file in place of the folder"),
        pytest.param({".claude/settings.json": "x" * (17 * 1024 * 1024)}, "too large", id="17 MiB"),
        pytest.param({".claude/settings.json": "// mine\n{}"}, "no comments", id="comments"),
    ],
)
def test_error_files_that_are_left_alone(entries: dict[str, Any], said: str, home: Path, tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be edited safely is left as it is, with a sentence."""
    tree.folder = home
    tree(entries)
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}

    assert said in _refuse(capsys, "claude-code")
    assert before == {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}


@POSIX
def test_error_a_pipe_is_not_waited_for(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe with the name of the settings is refused at once."""
    (home / ".claude").mkdir()
    os.mkfifo(home / ".claude/settings.json")

    assert "is no file" in _refuse(capsys, "claude-code")


@POSIX
def test_error_no_home(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a folder to write to, there is a sentence."""
    monkeypatch.setenv("HOME", str(home / "nowhere"))

    assert "there is no folder" in _refuse(capsys, "claude-code")


@POSIX
def test_error_changed_in_the_meantime(home: Path) -> None:
    """What the host wrote between reading and writing is not overwritten."""
    path = _file(CLAUDE_CODE, home)
    path.parent.mkdir()
    path.write_text("{}", encoding="utf-8")
    place = Place(str(home), ".claude", "settings.json")
    snapshot = settings_files.read(place)
    path.write_text('{"model": "new"}', encoding="utf-8")

    with pytest.raises(SettingsError, match="changed by somebody else"):
        settings_files.write(place, "{}", snapshot)

    assert '{"model": "new"}' == path.read_text(encoding="utf-8")
    assert [path] == list(path.parent.iterdir())


@POSIX
def test_error_a_full_disk_costs_nothing(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """If the new text cannot be written, the old one is there, and nothing else."""
    path = _file(CLAUDE_CODE, home)
    path.parent.mkdir()
    path.write_text("{}", encoding="utf-8")

    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(settings_files.os, "fsync", fail)

    assert "cannot write" in _refuse(capsys, "claude-code")
    assert "{}" == path.read_text(encoding="utf-8")
    assert [path] == list(path.parent.iterdir())


@POSIX
@pytest.mark.parametrize(
    ("variable", "said"),
    [
        pytest.param("x" * 300, "cannot be opened: ", id="a name that no folder has"),
        pytest.param("file/codex", "or no folder", id="a file in place of the parent"),
    ],
)
def test_error_folders_that_cannot_be_opened(variable: str, said: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Trouble with the folder is a sentence, and no traceback."""
    (home / "file").touch()
    monkeypatch.setenv("CODEX_HOME", str(home / variable))

    assert said in _refuse(capsys, "codex", "--uninstall")


def test_error_systems_without_handles_of_folders(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a file cannot be opened in a folder's handle, nothing is edited."""
    monkeypatch.setattr(settings_files.os, "supports_dir_fd", set())

    assert "no safe way" in _refuse(capsys, "cursor")
    assert [] == list(home.iterdir())


@POSIX
def test_a_file_right_in_its_folder(home: Path) -> None:
    """A settings file need not lie in a folder of its own."""
    place = Place(str(home), "", "hooks.json")

    settings_files.write(place, "{}", settings_files.read(place))

    assert "{}" == settings_files.read(place).text
    assert f"{home}/hooks.json" == place.path


def test_error_a_place_that_is_not_there() -> None:
    """An edit of what is not there is a mistake of the program."""
    with pytest.raises(KeyError):
        JSONText('{"a": 1}').remove(("b", "c"))


def test_entries_of_another_form_stay() -> None:
    """What is no group and no handler is nobody's business."""
    text = json.dumps({"hooks": {"UserPromptSubmit": ["x", 1, {"hooks": "y"}, {"hooks": [7, {"command": None}]}]}})

    merged = json.loads(_merge(CLAUDE_CODE, text))["hooks"]["UserPromptSubmit"]

    assert ["x", 1, {"hooks": "y"}, {"hooks": [7, {"command": None}]}] == merged[:-1]


TOML_HOOKS = '# mine\n[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ntype = "command"\ncommand = "./lint.sh"\n'


@POSIX
@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(TOML_HOOKS, "has hooks already", id="hooks in the other file"),
        pytest.param("hooks = [\n", "is no valid TOML", id="no TOML"),
        pytest.param("\udcff", "cannot be read", id="no UTF-8"),
    ],
)
def test_error_codex_wants_one_file(text: str, said: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hooks in config.toml stay there, with their comments; what to add by hand is said."""
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_bytes(text.encode("utf-8", "surrogateescape"))

    refusal = _refuse(capsys, "codex")

    assert said in refusal
    assert ("[[hooks.SessionStart.hooks]]" in refusal) == (text == TOML_HOOKS)
    assert not (home / ".codex/hooks.json").exists()


@POSIX
@pytest.mark.parametrize(
    ("text", "noted"),
    [
        pytest.param('model = "m"\n', False, id="other settings"),
        pytest.param('[hooks.state."x"]\ntrusted_hash = "y"\n', False, id="what Codex itself notes about hooks"),
        pytest.param("[features]\nhooks = false\n", True, id="hooks switched off"),
        pytest.param("[features]\ncodex_hooks = false\n", True, id="by the older name"),
    ],
)
def test_codex_settings_beside(text: str, noted: bool, home: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: FBT001
    """Other settings are no hindrance, be they behind a link; that hooks are switched off is worth a note."""
    (home / ".codex").mkdir()
    (home / "config.toml").write_text(text, encoding="utf-8")
    (home / ".codex/config.toml").symlink_to(home / "config.toml")

    assert 0 == _install("codex")

    assert noted == ("switched off" in capsys.readouterr().out)


@pytest.mark.parametrize("words", [[], ["copilot"], ["codex", "--user", "--project"], ["codex", "--dry"]])
def test_error_misuse(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A person at the shell who asks for what there is not gets an exit code for it."""
    with pytest.raises(SystemExit) as caught:
        _install(*words)

    assert 2 == caught.value.code
    assert "usage: filerefs hook install" in capsys.readouterr().err


def _commands(host: Host, path: Path) -> list[str]:
    """Return what the settings at *path* have the host run, for each of its events."""
    hooks = json.loads(path.read_text(encoding="utf-8"))["hooks"]
    return [handler["command"] for event in (host.prompt_event, host.start_event) for entry in hooks[event] for handler in entry.get("hooks", [entry])]


@pytest.fixture
def environment(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of programs of a virtual environment with a blank in its name, from which this program seems to run."""
    del home
    programs = tmp_path / "my project/.venv/bin"
    programs.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(programs.parent))
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.setattr(installing.shutil, "which", lambda name: str(programs / name))
    return programs


@POSIX
@EACH_HOST
@pytest.mark.parametrize("installed", [True, False], ids=["with the program", "as a module alone"])
def test_in_a_virtual_environment(host: Host, installed: bool, environment: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: FBT001
    """The host is told the path, since no search path has it; an entry from before is changed, and uninstalling finds its own."""
    path = _file(host, home)
    path.parent.mkdir()
    before = json.loads(host.settings.empty) | {"last": 1}
    path.write_text(_merge(host, json.dumps(before)), encoding="utf-8")
    if installed:
        (environment / "filerefs").touch()

    codes = [_install(host.name), _install(host.name)]

    words = [str(environment / "filerefs")] if installed else [str(environment / "python"), "-P", "-m", "filerefs"]
    lines = capsys.readouterr().out.splitlines()
    assert [0, 0] == codes
    assert [[*words, "hook", host.name]] * 2 == [shlex.split(command) for command in _commands(host, path)]
    assert "note: the entries name this program by its path, since it lies in a virtual environment, where a host does not look" in lines
    assert lines[-1].startswith("nothing to do")
    assert 0 == _install(host.name, "--uninstall")
    assert before == json.loads(path.read_text(encoding="utf-8"))


@POSIX
def test_in_a_virtual_environment_for_a_project(environment: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What others will have too says nothing of this machine; what would work here is advised, and works as it is written."""
    (environment / "filerefs").touch()

    assert 0 == _install("codex", "--project")

    note = capsys.readouterr().out.splitlines()[-1]
    assert ["filerefs hook codex"] * 2 == _commands(CODEX, _file(CODEX, home.parent / "project"))
    advised = shlex.split(note[note.index("--command") :])
    assert 0 == _install("codex", *advised)
    assert [[str(environment / "filerefs"), "hook", "codex"]] * 2 == [shlex.split(command) for command in _commands(CODEX, _file(CODEX, home))]


@POSIX
def test_error_codex_wants_one_file_in_a_virtual_environment(environment: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What has to be written by hand is what would have been written, as TOML has it."""
    (environment / "filerefs").touch()
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text("[[hooks.Stop]]\n", encoding="utf-8")

    said = _refuse(capsys, "codex")

    [written] = re.findall(r'command = (".*") yourself', said)
    command = tomllib.loads(f"command = {written}")["command"]
    assert [str(environment / "filerefs"), "hook", "codex"] == shlex.split(command)


def test_a_program_that_is_not_found_is_noted(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A command that the host will not find is worth a note."""
    monkeypatch.setattr(installing.shutil, "which", lambda _: None)

    assert 0 == _install("cursor")

    assert capsys.readouterr().out.endswith("note: there is no `filerefs` on the search path of this shell; --command says what else is to be run\n")
    assert home.exists()
