"""`filerefs hook`: one event in, one answer of that host's protocol out, and never anything that costs a message."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import filerefs
from filerefs import cli, hook_cli, hooks
from filerefs.hooks import budget, hosts
from filerefs.hooks.hosts import HOSTS
from filerefs.hooks.words import read_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import Tree

GOLDEN = Path(__file__).parent / "golden" / "hooks"
PROGRAM = (sys.executable, "-m", "filerefs", "hook")
EACH_HOST = pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)

PROJECT: dict[str, Any] = {
    "src/app.py": "import os\n\nprint(os.name)\n",
    "src/long.py": "".join(f"value_{number} = {number}\n" for number in range(2000)),
    "docs/guide.md": "# Guide\nfirst\n",
    "docs/more.md": "more\n",
    "docs/style.md": "Use tabs.\n",
    "my file.txt": "blank\n",
    "文档.md": "你好\n",
    "picture.png": b"\x89PNG\r\n\x1a\n" + b"\0" * 40,
    ".env": "KEY=1\n",
    "AGENTS.md": "Be brief. See @docs/style.md and @docs/nowhere.md.\n",
    "AGENTS.local.md": "My own notes.\n",
    ".git/HEAD": "ref: refs/heads/main\n",
}


@pytest.fixture
def project(tree: Tree) -> Path:
    """Return a small project with instruction files."""
    return tree(PROJECT)


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(Path(filerefs.__file__).parents[1]), "PYTHONWARNDEFAULTENCODING": ""}


def _run(*words: str, given: bytes, folder: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*PROGRAM, *words], input=given, capture_output=True, check=False, cwd=folder, env=_environment())


def _prompt_event(host: hosts.Host, prompt: str, root: Path, **more: Any) -> dict[str, Any]:
    where = {"workspace_roots": [str(root)]} if host.name == "cursor" else {"cwd": str(root)}
    return {"hook_event_name": host.prompt_event, "prompt": prompt} | where | more


def _start_event(host: hosts.Host, root: Path, **more: Any) -> dict[str, Any]:
    return _prompt_event(host, "", root, hook_event_name=host.start_event, **more)


def _answer(host: hosts.Host, event: dict[str, Any], **options: Any) -> tuple[str, str]:
    """Return the context and the words for the person that *host* gets about *event*."""
    reply = hooks.answer(event, host.name, options)
    if reply is None:
        return "", ""
    inner = reply.output.get("hookSpecificOutput", reply.output)
    context = inner.get("additionalContext", inner.get("additional_context", ""))
    return context, reply.output.get("systemMessage", reply.output.get("user_message", reply.log))


# Golden files: an event, how the hook was called, and what it printed.


def _read_golden(path: Path) -> dict[str, str]:
    parts = re.split(r"^--- (.+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _render(output: bytes) -> str:
    """Return *output* as a person reads it: the JSON laid out, each text of several lines by itself below."""
    if not output:
        return ""
    texts: list[str] = []

    def show(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: show(item) for name, item in value.items()}
        if isinstance(value, str) and "\n" in value:
            texts.append(value)
            return f"[text {len(texts)}]"
        return value

    assert output.isascii()
    assert output.endswith(b"\n")
    laid_out = json.dumps(show(json.loads(output)), indent=2, ensure_ascii=False)
    return "".join((laid_out + "\n", *(f"--- text {number}\n{text}\n" for number, text in enumerate(texts, 1))))


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/*.txt")), ids=lambda path: f"{path.parent.name}: {path.stem.replace('-', ' ')}")
def test_events_and_answers(path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """What a host writes and what it gets look like this, byte for byte."""
    golden = _read_golden(path)
    event = golden["event"].replace("{root}", str(project))
    monkeypatch.setattr(hook_cli, "_read", event.encode)

    code = hook_cli.main(golden["called with"].split())

    out, err = capfd.readouterr()
    assert str(project) not in out
    text = "".join(f"--- {name}\n{golden[name]}" for name in ("called with", "event"))
    text += f"--- standard error\n{err}" if err else ""
    text += f"--- standard output\n{_render(out.encode())}"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8", newline="")
    assert path.read_text(encoding="utf-8") == text
    assert 0 == code


@EACH_HOST
def test_every_event_has_a_golden_file(host: hosts.Host) -> None:
    """Each event of each host has a file that shows its answer."""
    shown = {json.loads(_read_golden(path)["event"])["hook_event_name"] for path in (GOLDEN / host.name).glob("*.txt")}

    assert {host.prompt_event, host.start_event} <= shown


# The protocols.

# What each host takes, by its own documentation or schema; Codex fails a hook that prints anything else.
NESTED = {"continue": bool, "decision": str, "hookSpecificOutput": dict, "reason": str, "stopReason": str, "suppressOutput": bool, "systemMessage": str}
INNER = {"hookEventName": str, "additionalContext": str}
FLAT = {
    "beforeSubmitPrompt": {"continue": bool, "user_message": str, "additional_context": str},
    "sessionStart": {"additional_context": str, "env": dict},
}


def _check_form(host: hosts.Host, event: str, output: dict[str, Any]) -> None:
    known = FLAT[event] if host.layout == "flat" else NESTED
    assert not [name for name, value in output.items() if not isinstance(value, known.get(name, ()))]
    assert output.get("continue", True) is True
    if inner := output.get("hookSpecificOutput"):
        assert not [name for name, value in inner.items() if not isinstance(value, INNER.get(name, ()))]
        assert event == inner["hookEventName"]


FRAGMENTS = (
    *("@src/app.py", "(@src/app.py)", "@src/long.py", "@src/long.py:3-9", "@docs/", "@nowhere.py", "@.env", "@../x.py", "@/etc/passwd", "@~/x"),
    *("@文档.md", "查看@文档.md的内容", '@"my file.txt"', "@my file.txt", "@picture.png", "`@src/app.py`", "@", "@@", "\ud800", "\x00", " ", "\n", "é😀"),
)
MESSAGES = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=12).map(" ".join)
FIELDS = ["prompt", "hook_event_name", "cwd", "workspace_roots", "attachments", "agent_id", "source"]
JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@EACH_HOST
@given(prompt=MESSAGES, bodies=st.sampled_from([None, True, False]))
@example(prompt="@src/long.py " + "@src/app.py:1-2 @docs/guide.md " * 3 + "@nowhere.py " * 300, bodies=True)
def test_answers_have_the_form_and_the_size_of_the_protocol(host: hosts.Host, prompt: str, bodies: bool | None, project: Path) -> None:  # noqa: FBT001
    """Whatever a message is, the answer has known keys only, holds nothing back, and is not too long for the host."""
    reply = hooks.answer(_prompt_event(host, prompt, project), host.name, {"bodies": bodies})

    output = {} if reply is None else reply.output
    _check_form(host, host.prompt_event, output)
    texts = [
        value for part in (output, output.get("hookSpecificOutput", {})) for name, value in part.items() if isinstance(value, str) and name != "hookEventName"
    ]
    assert sum(budget.measure(text, host.unit) for text in texts) <= budget.LIMIT
    assert not any("KEY=1" in text or str(project) in text for text in texts)


@EACH_HOST
@given(
    event=st.dictionaries(st.sampled_from(["prompt", "hook_event_name", "cwd", "workspace_roots", "attachments", "agent_id", "source"]), JSON), data=st.data()
)
def test_error_fields_of_any_type(host: hosts.Host, event: dict[str, Any], data: st.DataObject) -> None:
    """Fields that are missing, or of a type that no host writes, never raise."""
    event["hook_event_name"] = data.draw(st.sampled_from([host.prompt_event, host.start_event, "PreToolUse"]) | JSON)

    reply = hooks.answer(event, host.name, {})

    if reply is not None and reply.output:
        _check_form(host, event["hook_event_name"], reply.output)


@pytest.mark.parametrize(
    ("text", "unit", "length"),
    [
        pytest.param("abc", "utf-8", 3, id="ASCII"),
        pytest.param("你好", "utf-8", 6, id="bytes"),
        pytest.param("你好", "utf-16", 2, id="code units"),
        pytest.param("a😀", "utf-16", 3, id="a pair of surrogates counts twice"),
        pytest.param("a😀", "utf-8", 5, id="four bytes"),
        pytest.param("", "utf-16", 0, id="nothing"),
    ],
)
def test_lengths(text: str, unit: hosts.Unit, length: int) -> None:
    """A text is as long as the host's own language says."""
    assert length == budget.measure(text, unit)


@given(lines=st.lists(st.text(max_size=20)), room=st.integers(0, 200))
def test_lists_are_cut_between_lines(lines: list[str], room: int) -> None:
    """A list that is too long ends with how many lines are missing, and fits; one that fits is not touched."""
    text = budget.cut_list(lines, room, "utf-16", "- and {} more")

    assert budget.measure(text, "utf-16") <= room
    if budget.measure("\n".join(lines), "utf-16") <= room:
        assert "\n".join(lines) == text
    elif text:
        last = text.rpartition("\n")[2]
        left_out = int(last.removeprefix("- and ").removesuffix(" more"))
        assert "\n".join((*lines[: len(lines) - left_out], last)) == text


# What the host attaches itself.


@pytest.mark.parametrize(
    ("host", "prompt", "given"),
    [
        pytest.param("claude-code", "see @src/app.py", [], id="Claude Code attaches what stands alone"),
        pytest.param("claude-code", "see @src/app.py, please", [], id="it takes punctuation off"),
        pytest.param("claude-code", "see @./src/app.py", [], id="by any spelling of the path"),
        pytest.param("claude-code", 'see @"my file.txt"', [], id="quoted in double quotes"),
        pytest.param("claude-code", "see @'my file.txt'", ["my file.txt"], id="not in single quotes"),
        pytest.param("claude-code", "see @my file.txt now", ["my file.txt"], id="not with blanks"),
        pytest.param("claude-code", "see (@src/app.py)", ["src/app.py"], id="not in brackets"),
        pytest.param("claude-code", "查看@文档.md的内容", ["文档.md"], id="not within words"),
        pytest.param("claude-code", "see @文档.md", [], id="a name that ends in a letter of ASCII"),
        pytest.param("claude-code", "see @src/app.py:2-3", ["src/app.py"], id="not a range behind a colon"),
        pytest.param("claude-code", "see @src/app.py#L2-L3", [], id="but one behind a hash"),
        pytest.param("claude-code", "see @src/app.py#L2 and (@src/app.py:1)", ["src/app.py"], id="not all of two ranges"),
        pytest.param("claude-code", "see @src/app.py and (@src/app.py:1)", [], id="a whole file stands for its ranges"),
        pytest.param("claude-code", "see @docs/", [], id="a folder"),
        pytest.param("gemini", "see (@src/app.py).", [], id="Gemini CLI attaches in brackets, too"),
        pytest.param("gemini", r"see @my\ file.txt", [], id="with a blank behind a backslash"),
        pytest.param("gemini", "see @src/app.py:2", ["src/app.py"], id="no range"),
        pytest.param("gemini", "see @src/app.py's end", ["src/app.py"], id="no possessive"),
        pytest.param("gemini", "查看@文档.md的内容", ["文档.md"], id="no name within words"),
        pytest.param("codex", "see @src/app.py", ["src/app.py"], id="Codex attaches nothing"),
        pytest.param("cursor", "see @src/app.py", ["src/app.py"], id="nor does Cursor what is only typed"),
    ],
)
def test_no_file_is_given_twice(host: str, prompt: str, given: list[str], project: Path) -> None:
    """The model gets the files that the host does not attach itself; with --bodies all, with --no-bodies none but by name."""
    event = _prompt_event(HOSTS[host], prompt, project)

    context, message = _answer(HOSTS[host], event)

    assert given == re.findall(r"^### (.+)$", context, re.MULTILINE)
    assert "" == message
    assert re.findall(r"^### (.+)$", _answer(HOSTS[host], event, bodies=True)[0], re.MULTILINE)
    named = _answer(HOSTS[host], event, bodies=False)[0]
    assert given == re.findall(r"^- (.+?) \(", named, re.MULTILINE)
    assert "```" not in named


@pytest.mark.parametrize("key", ["file_path", "filePath"])
def test_cursor_says_what_it_attached(key: str, project: Path) -> None:
    """Files in the event's list of attachments are not given again, others are."""
    attachments = [{"type": "file", key: str(project / "src/app.py")}, {"type": "rule", key: "docs/more.md"}, "x", {}, {key: 7}]
    event = _prompt_event(hosts.CURSOR, "@src/app.py @docs/more.md @docs/guide.md", project, attachments=attachments)

    context, _ = _answer(hosts.CURSOR, event)

    assert ["docs/guide.md"] == re.findall(r"^### (.+)$", context, re.MULTILINE)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        pytest.param("see @src/nowhere.py", "could not attach @src/nowhere.py: no such file", id="a miss, which the host says nothing about"),
        pytest.param("see @.env", "@.env has the name of a file with credentials; Claude Code may attach it all the same", id="a secret"),
        pytest.param("see (@.env)", "could not attach @.env: ", id="a secret that only we understand"),
        pytest.param("see @../x.py", "", id="outside, where the host's own rules hold"),
        pytest.param("see @/etc/hosts", "", id="absolute"),
        pytest.param("see (@/etc/hosts)", "could not attach @/etc/hosts: an absolute path", id="absolute and only understood here"),
    ],
)
def test_error_warnings_beside_a_host_that_attaches_itself(prompt: str, said: str, project: Path) -> None:
    """The person is warned of what fails there as well, and not of what the host may well attach."""
    _, message = _answer(hosts.CLAUDE_CODE, _prompt_event(hosts.CLAUDE_CODE, prompt, project))

    assert message.removeprefix("filerefs: ").startswith(said)
    assert bool(said) == bool(message)


@EACH_HOST
def test_what_the_person_did_not_type_is_not_read(host: hosts.Host, project: Path) -> None:
    """Messages in a sub-agent, and those that Claude Code writes by itself, name nothing."""
    prompt = "<task-notification>\nsee (@src/app.py)</task-notification>"

    assert ("", "") == _answer(host, _prompt_event(host, "see (@src/app.py)", project, agent_id="x"))
    assert (host is hosts.CLAUDE_CODE) == (_answer(host, _prompt_event(host, prompt, project), bodies=True) == ("", ""))


# Too much to show.


def test_what_does_not_fit_is_named(project: Path) -> None:
    """Files are shown in the order of the message as long as they fit; the others are named, and the person told."""
    context, message = _answer(hosts.CODEX, _prompt_event(hosts.CODEX, "@docs/guide.md @src/long.py @src/app.py @picture.png @src/long.py:5-6", project))

    assert ["docs/guide.md", "src/app.py"] == re.findall(r"^### (.+)$", context, re.MULTILINE)
    assert ["src/long.py (33.0 KB)", "picture.png (48 B)"] == re.findall(r"^- (.+)$", context, re.MULTILINE)
    assert "filerefs: src/long.py: too long for a hook, so the model is given its name" == message


def test_a_range_of_a_long_file_fits(project: Path) -> None:
    """Whoever names the lines gets them."""
    context, message = _answer(hosts.CODEX, _prompt_event(hosts.CODEX, "@src/long.py:1500", project))

    assert "value_1499 = 1499" in context
    assert "" == message


def test_codex_counts_bytes(tree: Tree) -> None:
    """A Chinese text that is short enough for the others is three times as long for Codex."""
    root = tree({"a.md": "好" * 4000})

    assert "好" in _answer(hosts.CLAUDE_CODE, _prompt_event(hosts.CLAUDE_CODE, "(@a.md)", root))[0]
    assert "好" not in _answer(hosts.CODEX, _prompt_event(hosts.CODEX, "(@a.md)", root))[0]


def test_names_and_warnings_are_cut_as_well(tree: Tree) -> None:
    """Of hundreds of names and warnings the first are shown, with how many are left out."""
    root = tree({f"folder/with/a/rather/long/name/{number}.txt": "text " * 2000 for number in range(150)})
    prompt = " ".join([*(f"@folder/with/a/rather/long/name/{number}.txt" for number in range(150)), *(f"@nowhere/{number}.py" for number in range(150))])

    context, message = _answer(hosts.CODEX, _prompt_event(hosts.CODEX, prompt, root))

    assert re.search(r"\n- and \d+ more$", context)
    assert re.search(r"\nand \d+ more warnings$", message)
    assert len(context) + len(message) <= budget.LIMIT


# The start of a session.


@pytest.mark.parametrize(
    ("host", "more", "given"),
    [
        pytest.param("claude-code", {}, ["AGENTS.local.md"], id="Claude Code reads AGENTS.md, with imports"),
        pytest.param("claude-code", {"CLAUDE.md": "x"}, ["AGENTS.md", "docs/style.md", "AGENTS.local.md"], id="but not beside a CLAUDE.md"),
        pytest.param("claude-code", {"CLAUDE.md": "@AGENTS.md"}, ["AGENTS.local.md"], id="unless that imports it"),
        pytest.param("claude-code", {".claude/CLAUDE.md": "x"}, ["AGENTS.md", "docs/style.md", "AGENTS.local.md"], id="which may lie in .claude"),
        pytest.param("codex", {}, ["docs/style.md", "AGENTS.local.md"], id="Codex reads AGENTS.md, without imports"),
        pytest.param("gemini", {}, ["AGENTS.md", "docs/style.md", "AGENTS.local.md"], id="Gemini CLI reads another file"),
        pytest.param("gemini", {"GEMINI.md": "@./AGENTS.md"}, ["AGENTS.local.md"], id="and its imports"),
        pytest.param("cursor", {}, ["docs/style.md", "AGENTS.local.md"], id="Cursor reads AGENTS.md, without imports"),
    ],
)
def test_a_session_starts_with_what_the_host_does_not_read(host: str, more: dict[str, str], given: list[str], project: Path, tree: Tree) -> None:
    """The instruction files that the host reads itself are not given again, whatever they are called there."""
    tree(more)
    event = _start_event(HOSTS[host], project)

    context, _ = _answer(HOSTS[host], event)

    assert given == re.findall(r"^### (.+)$", context, re.MULTILINE)
    assert ["AGENTS.md", "docs/style.md", "AGENTS.local.md"] == re.findall(r"^### (.+)$", _answer(HOSTS[host], event, bodies=True)[0], re.MULTILINE)
    assert given == re.findall(r"^- (.+) \(", _answer(HOSTS[host], event, bodies=False)[0], re.MULTILINE)


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", None])
def test_it_is_given_again_after_the_history_was_compacted(source: str | None, project: Path) -> None:
    """Whatever a session starts from, the answer is the same: its model knows nothing of the one before."""
    context, _ = _answer(hosts.CODEX, _start_event(hosts.CODEX, project, source=source))

    assert "Use tabs." in context


def test_error_imports_that_are_missing(project: Path) -> None:
    """The person hears at the start of a session which instruction file could not be read."""
    _, message = _answer(hosts.CODEX, _start_event(hosts.CODEX, project))

    assert message.startswith("filerefs: @docs/nowhere.md: ")


def test_error_warnings_that_cursor_does_not_show(project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Where there is no field for a warning and nothing for the model, the log has it and nothing is printed."""
    (project / "AGENTS.md").write_text("See @docs/nowhere.md.\n", encoding="utf-8")
    (project / "AGENTS.local.md").unlink()
    monkeypatch.setattr(hook_cli, "_read", json.dumps(_start_event(hosts.CURSOR, project)).encode)

    code = hook_cli.main(["cursor"])

    out, err = capfd.readouterr()
    assert (0, "") == (code, out)
    assert err.startswith("filerefs: @docs/nowhere.md: ")


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        pytest.param(6_000, "opens with", id="all of it"),
        pytest.param(30_000, "excerpt ends here", id="openings"),
        pytest.param(30_000_000, "excerpt ends here", id="openings of what is far too long"),
    ],
)
def test_long_instruction_files(size: int, shown: str, tree: Tree) -> None:
    """Instruction files that are too long are shown by their openings, and how to read on."""
    root = tree({"AGENTS.md": "It opens with this.\n\n" + "and more of it\n" * (size // 15)})

    context, _ = _answer(hosts.GEMINI, _start_event(hosts.GEMINI, root))

    assert "It opens with this." in context
    assert shown in context
    assert ("read_file" in context) == (shown != "opens with")


def test_many_instruction_files_are_named(tree: Tree) -> None:
    """Where not even openings fit, the names do."""
    imports = {f"rules/{number}.md": f"Rule {number}: " + "words " * 100 for number in range(120)}
    root = tree({"AGENTS.md": " ".join(f"@{name}" for name in imports), ".git/HEAD": ""} | imports)

    context, _ = _answer(hosts.CODEX, _start_event(hosts.CODEX, root))

    assert "- rules/0.md (" in context
    assert "nearest folder with .git" in context
    assert len(context) <= budget.LIMIT


def test_a_project_without_instruction_files(tree: Tree) -> None:
    """Nothing to say is nothing printed."""
    root = tree({"a.py": "1\n"})

    assert all(hooks.answer(_start_event(host, root), host.name, {}) is None for host in HOSTS.values())


# It costs nobody a message.

CODEX_PROMPT = '{"hook_event_name": "UserPromptSubmit", "cwd": %s, "prompt": %s}'


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        pytest.param(b"", b"", id="nothing"),
        pytest.param(b"@", b"", id="no JSON"),
        pytest.param(b'{"prompt": "@a"', b"", id="cut off"),
        pytest.param(b'["@"]', b"", id="an array"),
        pytest.param(b'"@"', b"", id="a string"),
        pytest.param(b"[" * 200_000 + b"@", b"", id="too deep"),
        pytest.param(b'{"prompt": "@src/app.py"}', b"", id="no name of an event"),
        pytest.param(b'{"hook_event_name": "UserPromptSubmit"} @', b"", id="something behind it"),
        pytest.param(b'{"hook_event_name": "UserPromptSubmit", "cwd": "@"}', b"", id="no prompt"),
        pytest.param(b'{"hook_event_name": "PreToolUse", "prompt": "@src/app.py"}', b"", id="another event"),
        pytest.param(b'{"hook_event_name": "SessionStart", "cwd": "/nowhere/\\u0000"}', b"", id="a folder that can be none"),
        pytest.param(b'{"hook_event_name": "UserPromptSubmit", "prompt": "caf\xe9 \xff @"}', b"", id="no UTF-8"),
        pytest.param((CODEX_PROMPT % ('"/nowhere"', '"@src/app.py"')).encode(), b"cannot be opened", id="a folder that is not there"),
        pytest.param((CODEX_PROMPT % ('"\\u0000"', '"@src/app.py"')).encode(), b"cannot be opened", id="one that cannot be"),
        pytest.param((CODEX_PROMPT % ("7", '"@nowhere/x.py"')).encode(), b"no such file", id="a working folder that is a number"),
        pytest.param(b'{"prompt": "' + b"@" * (17 * 1024 * 1024) + b'"}', b"longer than 16 MiB", id="a prompt of 17 MiB"),
        pytest.param((CODEX_PROMPT % ('"."', '"' + "@src/app.py " * 50_000 + '"')).encode(), b"", id="a long one"),
    ],
)
def test_error_input_ends_with_zero(given: bytes, printed: bytes, project: Path) -> None:
    """Whatever stands on standard input, the exit code is 0, and what is printed is nothing or what the protocol has."""
    finished = _run("codex", given=given, folder=project)

    assert (0, b"") == (finished.returncode, finished.stderr)
    assert printed in finished.stdout
    assert bool(printed) <= bool(finished.stdout)
    if finished.stdout:
        _check_form(hosts.CODEX, "UserPromptSubmit", json.loads(finished.stdout))


@pytest.mark.skipif(os.name != "posix", reason="a folder can be deleted while somebody is in it")
@pytest.mark.parametrize(
    ("event", "printed"),
    [
        pytest.param("UserPromptSubmit", b"the folder of this session cannot be opened", id="a message"),
        pytest.param("SessionStart", b"", id="a session"),
    ],
)
def test_error_the_folder_it_runs_in_is_gone(event: str, printed: bytes, tmp_path: Path) -> None:
    """Where the event names no folder and the hook's own was deleted, that is a warning or nothing, and no fault of ours."""
    (tmp_path / "gone").mkdir()
    given = json.dumps({"hook_event_name": event, "prompt": "@src/app.py"}).encode()
    script = ["sh", "-c", 'rmdir "$PWD" && exec "$0" -m filerefs hook codex', sys.executable]

    finished = subprocess.run(script, input=given, capture_output=True, check=False, cwd=tmp_path / "gone", env=_environment())

    assert (0, b"", bool(printed)) == (finished.returncode, finished.stderr, bool(finished.stdout))
    assert printed in finished.stdout


@pytest.mark.parametrize("name", HOSTS)
def test_error_inside_is_a_warning(name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """A fault of our own is one valid warning, and a traceback for whoever reads the host's log."""

    def fail(*_: object) -> None:
        message = "this is a test"
        raise ZeroDivisionError(message)

    monkeypatch.setattr(hooks, "answer", fail)
    monkeypatch.setattr(hook_cli, "_read", lambda: json.dumps({"prompt": "@x"}).encode())

    code = hook_cli.main([name])

    out, err = capfd.readouterr()
    _check_form(HOSTS[name], HOSTS[name].prompt_event, json.loads(out))
    assert "something went wrong" in out
    assert "ZeroDivisionError: this is a test" in err
    assert 0 == code


@pytest.mark.skipif(os.name != "posix", reason="shells as POSIX has them")
@pytest.mark.parametrize("redirection", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full", "| true", "</dev/zero"])
def test_error_streams_that_are_closed(redirection: str, project: Path) -> None:
    """Without a stream to read from or to write to, or with one that has no end, the hook ends with 0, and without a traceback."""
    event = project.parent / "event.json"
    event.write_text(json.dumps(_prompt_event(hosts.CODEX, "@src/app.py @nowhere/x.py", project)), encoding="utf-8")
    script = f'"$0" -m filerefs hook codex <"$1" {redirection}\necho "code $?"'

    finished = subprocess.run(["sh", "-c", script, sys.executable, str(event)], capture_output=True, check=False, env=_environment())

    assert finished.stdout.endswith(b"code 0\n")
    assert b"" == finished.stderr


class _Keyboard:
    """A standard input that a person sits at."""

    @staticmethod
    def isatty() -> bool:
        return True


@pytest.mark.parametrize(("stdin", "said"), [(None, ""), (_Keyboard(), "an event is read from standard input")], ids=["none", "a keyboard"])
def test_error_no_event_to_read(stdin: object, said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Nobody is waited for: without an input there is nothing to say, and at a terminal a person is told what this is."""
    monkeypatch.setattr(sys, "stdin", stdin)

    code = hook_cli.main(["codex"])

    out, err = capfd.readouterr()
    assert (0, "") == (code, out)
    assert said in err


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        pytest.param(["copilot"], "no host is called 'copilot'", id="a host that there is not"),
        pytest.param(["codex", "--body"], "not understood: '--body'", id="an option that there is not"),
        pytest.param(["codex", "--symlinks", "follow"], "not understood: '--symlinks follow'", id="a value that there is not"),
        pytest.param(["codex", "--allow"], "not understood: '--allow'", id="a value that is missing"),
    ],
)
def test_error_words_of_a_newer_version(words: Sequence[str], printed: str, project: Path) -> None:
    """Settings that this version does not understand cost no message; what is understood is done."""
    event = json.dumps(_prompt_event(hosts.CODEX, "@src/app.py", project)).encode()

    finished = _run(*words, given=event)

    assert 0 == finished.returncode
    assert printed in finished.stderr.decode()
    assert (words[0] in HOSTS) == bool(finished.stdout)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param([], {}, id="none"),
        pytest.param(["--bodies"], {"bodies": True}, id="bodies"),
        pytest.param(["--no-bodies"], {"bodies": False}, id="no bodies"),
        pytest.param(["--symlinks", "inside"], {"symlinks": "inside"}, id="a value behind it"),
        pytest.param(["--symlinks=inside"], {"symlinks": "inside"}, id="a value in it"),
        pytest.param(["--allow", "a/.env", "--allow=b=c"], {"allow": ("a/.env", "b=c")}, id="several"),
    ],
)
def test_words(words: Sequence[str], found: dict[str, Any]) -> None:
    """Options are read as argparse would."""
    assert (found, []) == read_words(words)


def test_options_reach_the_library(project: Path, tree: Tree) -> None:
    """Links are followed and secrets opened where the settings say so."""
    tree({"link.py": tree.link("src/app.py")})
    event = _prompt_event(hosts.CODEX, "@link.py @.env", project)

    context, message = _answer(hosts.CODEX, event, symlinks="inside", allow=(".env",))

    assert "print(os.name)" in context
    assert "KEY=1" in context
    assert "" == message
    assert "KEY=1" not in _answer(hosts.CODEX, event)[0]


@pytest.mark.parametrize("words", [["--help"], ["codex", "--help"], []])
def test_help(words: Sequence[str], capfd: pytest.CaptureFixture[str]) -> None:
    """Help goes to standard output only where a person asked for it."""
    code = cli.main(["hook", *words])

    out, err = capfd.readouterr()
    assert 0 == code
    assert hook_cli.HELP == (out if words else err)
    assert all(name in hook_cli.HELP for name in HOSTS)


def test_the_names_are_known_without_the_table() -> None:
    """The names that are compared before anything is loaded are those of the table."""
    assert hook_cli.HOST_NAMES == tuple(HOSTS)


# It costs little time.


def _modules(event: dict[str, Any], project: Path, host: str = "codex") -> set[str]:
    """Return what a hook loads for *event* beyond what an interpreter has."""
    code = "import sys; before = set(sys.modules); from filerefs.__main__ import main; main(); sys.stderr.write(' '.join(set(sys.modules) - before))"
    script = [sys.executable, "-c", f"import sys; sys.argv = ['filerefs', 'hook', {host!r}]; {code}"]
    finished = subprocess.run(script, input=json.dumps(event, ensure_ascii=False).encode(), capture_output=True, check=True, cwd=project, env=_environment())
    return set(finished.stderr.decode().split())


SLOW = {"argparse", "asyncio", "ctypes", "dataclasses", "importlib.metadata", "inspect", "json", "re", "regex", "subprocess", "typing"}


@EACH_HOST
def test_a_message_without_a_mention_loads_next_to_nothing(host: hosts.Host, project: Path) -> None:
    """Without an at-sign not even JSON is read: this runs before every message of every day."""
    loaded = _modules(_prompt_event(host, "please fix the tests: 你好 \\\n", project), project, host.name)

    assert set() == loaded & SLOW
    assert {"filerefs", "filerefs.__main__", "filerefs.hook_cli", "filerefs.hooks", "filerefs.hooks.words"} == {
        name for name in loaded if name.startswith("filerefs")
    }


@EACH_HOST
def test_an_at_sign_elsewhere_loads_little(host: hosts.Host, project: Path) -> None:
    """A folder with an at-sign in its name has the event read, and no more."""
    loaded = _modules(_prompt_event(host, "please fix the tests", project, transcript_path="/home/x/@scope/y"), project, host.name)

    assert "encodings.utf_8_sig" in loaded
    assert set() == loaded & {"regex", "argparse", "dataclasses", "filerefs.turn", "filerefs.hooks.hosts"}


def test_a_mention_loads_what_the_core_needs(project: Path) -> None:
    """With a mention the core is loaded, and nothing of the command line, of instruction files or from outside."""
    loaded = _modules(_prompt_event(hosts.CODEX, "see @src/app.py", project), project)

    foreign = {name.partition(".")[0] for name in loaded} - {*sys.stdlib_module_names, "filerefs", "_regex", "_regex_core"}
    assert {"regex"} >= foreign
    assert set() == loaded & {"argparse", "asyncio", "subprocess", "filerefs.cli", "filerefs.agentsmd", "filerefs.retrieval", "filerefs.walk"}


def test_a_start_loads_regex_only_for_an_at_sign(tree: Tree) -> None:
    """Instruction files without an import are read without the grammar of mentions."""
    root = tree({"AGENTS.md": "Be brief.\n"})

    loaded = _modules(_start_event(hosts.GEMINI, root), root, "gemini")

    assert "filerefs.agentsmd.discovery" in loaded
    assert set() == loaded & {"regex", "argparse", "filerefs.cli"}


# The page about it.

PAGE = Path(__file__).parents[1] / "docs" / "integrations" / "hooks.md"


def _rows(title: str) -> list[list[str]]:
    """Return the cells of the table below the heading *title*, without its head."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")][2:]


def test_the_page_names_what_the_table_has() -> None:
    """Names, events and files on the page are those that the program goes by."""
    names, prompts, starts = (row[1:] for row in _rows("What a hook can do there, and what it cannot")[:3])
    files = {row[0]: row[2] for row in _rows("Installing")}

    assert [f"`{name}`" for name in HOSTS] == names
    assert [f"`{host.prompt_event}`" for host in HOSTS.values()] == prompts
    assert [f"`{host.start_event}`" for host in HOSTS.values()] == starts
    assert {f"`{host.name}`": f"`{host.settings.folder}/{host.settings.file}`" for host in HOSTS.values()} == files


@pytest.mark.skipif(os.name != "posix", reason="shells as POSIX has them")
def test_the_sample_prints_what_the_page_says(tmp_path: Path) -> None:
    """The commands on the page can be typed as they are; what they print is shown below them."""
    installed, tried, printed = re.findall(r"^```\w+\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "filerefs").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m filerefs "$@"\n', encoding="utf-8")
    (tmp_path / "filerefs").chmod(0o755)
    environment = _environment() | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    for script in (installed, tried):
        finished = subprocess.run(["sh", "-ec", script], capture_output=True, check=True, cwd=tmp_path, env=environment)

    answer = json.loads(finished.stdout)
    inner = answer["hookSpecificOutput"]
    inner["additionalContext"] = inner["additionalContext"].partition("\n")[0] + " …"
    assert answer == json.loads(printed)
    assert (tmp_path / ".codex/hooks.json").exists()


def test_the_page_can_be_read() -> None:
    """Prose is wrapped, and links lead somewhere."""
    text = PAGE.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)

    assert [] == [line for line in prose.splitlines() if len(line) > 120 and not line.startswith("|")]
    assert [] == [target for target in re.findall(r"\]\(([^)#]+)", prose) if not (PAGE.parent / target).exists()]
