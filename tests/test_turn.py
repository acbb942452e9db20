"""A turn: the phases in one call, what is said of them, and what stays between two turns."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from filerefs import Limits, OptionError, OptionTypeError, Preprocessor, RootClosedError, RootNotFoundError, Turn, inject, preprocess, strip_section
from filerefs.phases import LEFTOVER, SPENT

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Tree

SYSTEM = "You are a helpful assistant."


@pytest.fixture
def project(tree: Tree) -> Path:
    """Return a folder with a few files."""
    return tree({"src/app.py": "print()\n", "notes.md": "# Notes\n", "my file.txt": "x\n", ".env": "A=1\n", "hard.md": tree.hard_link("notes.md")})


def test_one_shot(project: Path) -> None:
    """A message and a prompt go in; the message with plain paths and the prompt with the files come out."""
    turn = preprocess("Why does @src/app.py fail?", prompt=SYSTEM, root=project)

    assert turn.message == "Why does src/app.py fail?"
    assert turn.original == "Why does @src/app.py fail?"
    assert turn.prompt == f"{SYSTEM}\n\n{turn.section}"
    assert "print()" in turn.section
    assert [outcome.path for outcome in turn.attached] == ["src/app.py"]
    assert (turn.refused, turn.plain, turn.warnings, turn.notices) == ((), (), (), ())
    assert turn.section_bytes == len(turn.section.encode())


def test_attached_refused_and_plain(project: Path) -> None:
    """Each mention is one of three things."""
    turn = preprocess("@alice: @src/app.py is fine, @nope.py is not", root=project)

    assert turn.message == "@alice: src/app.py is fine, @nope.py is not"
    assert [outcome.path for outcome in turn.attached] == ["src/app.py"]
    assert [outcome.path for outcome in turn.refused] == ["nope.py"]
    assert [outcome.path for outcome in turn.outcomes] == ["src/app.py", "nope.py"]
    assert [ref.token for ref in turn.plain] == ["@alice"]


@pytest.mark.parametrize("message", ["", "hello", "mail me at a@b.py", "@alice", "@", "`@src/app.py`", "a @ b"])
@pytest.mark.parametrize("prompt", ["", SYSTEM, "\ud800", "ends with a line feed\n"])
def test_nothing_to_do_changes_nothing(project: Path, message: str, prompt: str) -> None:
    """A message that names nothing comes back itself, and so does the prompt."""
    turn = preprocess(message, prompt, project)

    assert turn.message is message
    assert turn.prompt == prompt
    assert (turn.section, turn.section_bytes, turn.outcomes) == ("", 0, ())


def test_warnings_and_notices(tree: Tree) -> None:
    """Warnings say what went wrong, notices what else happened; one line each, naming the file."""
    files: dict[str, Any] = {
        "long.txt": "x\n" * 500,
        "old.txt": "Grüße aus Köln, schön, größer, für Fußgänger\n".encode("latin-1") * 3,
        "n.txt": "1\n2\n",
        "m.txt": "1\n",
    }
    project = tree({**files, "twin.txt": tree.hard_link("m.txt"), "many/a": "", "many/b": "", "many/c": ""})
    limits = Limits(file_bytes=300, directory_entries=2)
    turn = preprocess("@long.txt @old.txt @n.txt:2-9 @m.txt @twin.txt @many @nope.py and `@n.txt`", root=project, limits=limits)

    assert turn.warnings == (
        "long.txt: cut to 300 B of 1000 B",
        "old.txt: decoded as cp1252, which is a guess",
        "many/: 2 of more than 2 names, in no particular choice",
        "could not attach @nope.py: no such file",
    )
    assert turn.notices == ("n.txt: `:2-9` ends behind the last line, which is 2", "m.txt: twin.txt is the same file", "in code, not attached: @n.txt")


@pytest.mark.parametrize(
    ("message", "notices"),
    [
        pytest.param("why is `@src/app.py` odd", ["in code, not attached: @src/app.py"], id="alone in a span"),
        pytest.param("`@src/app.py` and `@src/app.py`", ["in code, not attached: @src/app.py"], id="said once"),
        pytest.param("`@src/`", ["in code, not attached: @src/"], id="a folder"),
        pytest.param("`@notes.md:1`", ["in code, not attached: @notes.md:1"], id="with a range"),
        pytest.param("`@src`", [], id="what does not look like a path"),
        pytest.param("`@nope.py` `@alice`", [], id="what does not exist"),
        pytest.param("`see @src/app.py`", [], id="not alone"),
        pytest.param("```\n@src/app.py\n```", [], id="in a block"),
        pytest.param("`@.env`", [], id="a secret"),
    ],
)
def test_paths_in_code(project: Path, message: str, notices: list[str]) -> None:
    """A path that alone fills a code span and exists is not attached, and that is said."""
    turn = preprocess(message, root=project)

    assert (turn.outcomes, list(turn.notices), turn.warnings) == ((), notices, ())


def test_code_that_is_loaded_is_not_told_of(project: Path) -> None:
    """With code="load" the mention is attached, and there is nothing to tell."""
    turn = preprocess("`@src/app.py`", root=project, code="load")

    assert (turn.message, turn.notices) == ("`src/app.py`", ())


def test_options_reach_the_phases(project: Path) -> None:
    """Every option of a turn has its effect."""
    assert preprocess("@my file.txt", root=project, lenient=False).outcomes == ()
    assert preprocess("@my file.txt", root=project).message == '"my file.txt"'
    assert preprocess("@.env", root=project, allow=[".env"]).message == ".env"
    assert [outcome.reason for outcome in preprocess("@.env", root=project).refused] == ["secret"]
    assert preprocess("@notes.md", root=project, limits=Limits(refs=0)).attached == ()
    (project / "link").symlink_to("notes.md")
    assert preprocess("@link", root=project, symlinks="inside").message == "link"
    assert preprocess("@link", root=project).message == "@link"


def test_lookups_that_ran_out_are_one_warning(tree: Tree) -> None:
    """When a message holds more names than are looked up, one warning says so."""
    project = tree({"src/a.py": ""})
    turn = preprocess(" ".join(f"@src/x{number}" for number in range(4_200)), root=project)

    assert turn.warnings == (SPENT,)


def test_hints_that_ran_out_are_no_warning(tree: Tree) -> None:
    """When every name was looked up, that there was nothing left for hints is no matter of the message."""
    project = tree({"src/a.py": ""})
    words = [f"@src/x{number}" for number in range(4_080)] + [f"@/q/src/{number}.py" for number in range(14)]
    turn = preprocess(" ".join(words), root=project)

    assert len(turn.plain) == 4_080
    assert [outcome.reason for outcome in turn.refused] == ["absolute"] * 14
    assert SPENT not in turn.warnings


def test_the_prompt_between_turns(project: Path) -> None:
    """Each turn replaces the section of the last; a turn without mentions takes it out."""
    with Preprocessor(project) as pre:
        first = pre.preprocess("@src/app.py", SYSTEM)
        second = pre.preprocess("@notes.md", first.prompt)
        third = pre.preprocess("thanks", second.prompt)
        fourth = pre.preprocess("@alice", first.prompt)

    assert "# Notes" in second.prompt
    assert "print()" not in second.prompt
    assert second.prompt == preprocess("@notes.md", SYSTEM, project).prompt
    assert third.prompt == fourth.prompt == SYSTEM


def test_same_files_give_the_same_bytes(project: Path) -> None:
    """A section depends on nothing but the files."""
    with Preprocessor(project) as pre:
        sections = {pre.preprocess(message, SYSTEM).section for message in ("@src/app.py and @notes.md", "see @src/app.py, @notes.md!")}

    assert len(sections) == 1


def test_section_of_another_program(project: Path) -> None:
    """Whoever put the last section into the prompt, the next one takes its place."""
    other = inject(SYSTEM, preprocess("@notes.md", root=project).outcomes)
    with Preprocessor(project) as pre:
        turn = pre.preprocess("@src/app.py", other)

    assert strip_section(turn.prompt) == SYSTEM
    assert turn.warnings == ()


@pytest.mark.parametrize("message", ["@src/app.py", "no mention", "@alice"])
def test_section_that_was_changed(project: Path, message: str) -> None:
    """A section that does not verify any more stays in the prompt, and a warning says so."""
    with Preprocessor(project) as pre:
        prompt = pre.preprocess("@notes.md", SYSTEM).prompt.replace("# Notes", "# NOTES")
        turn = pre.preprocess(message, prompt)

    assert LEFTOVER in turn.warnings
    assert turn.prompt.startswith(prompt)


def test_text_behind_the_section_stays(project: Path) -> None:
    """What the host wrote behind the section is kept, and the new section comes last."""
    with Preprocessor(project) as pre:
        first = pre.preprocess("@notes.md", SYSTEM)
        second = pre.preprocess("@src/app.py", first.prompt + "\nBe brief.")

    assert second.prompt == f"{SYSTEM}\nBe brief.\n\n{second.section}"


def test_limits_of_one_turn_only_lower(project: Path) -> None:
    """A turn may be given lower limits; where they are higher, the Preprocessor's own hold."""
    with Preprocessor(project, limits=Limits(file_bytes=4)) as pre:
        assert pre.preprocess("@notes.md", limits=Limits(file_bytes=2)).attached[0].shown == 2
        assert pre.preprocess("@notes.md", limits=Limits(file_bytes=None)).attached[0].shown == 4
        assert pre.preprocess("@notes.md").attached[0].shown == 4
    with Preprocessor(project) as pre:
        assert pre.preprocess("@notes.md", limits=Limits(file_bytes=2)).attached[0].shown == 2


def test_root_is_taken_at_construction(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the working directory becomes, names stay relative to the folder that was opened."""
    monkeypatch.chdir(project)
    with Preprocessor() as pre:
        monkeypatch.chdir(tmp_path)

        assert pre.preprocess("@notes.md").message == "notes.md"


def test_folder_that_is_renamed_meanwhile(project: Path) -> None:
    """The folder is held by its handle, not by its name."""
    with Preprocessor(project) as pre:
        project.rename(project.with_name("elsewhere"))

        assert pre.preprocess("@notes.md").message == "notes.md"


def test_folder_that_is_deleted_meanwhile(tree: Tree) -> None:
    """When the folder is gone, the refusals say so."""
    project = tree({})
    with Preprocessor(project) as pre:
        project.rmdir()
        (warning,) = pre.preprocess("@notes.md").warnings

    assert warning.startswith("could not attach @notes.md: no such file, and the root folder itself was deleted")


def test_files_that_come_and_go(project: Path) -> None:
    """Each turn looks every name up again."""
    with Preprocessor(project) as pre:
        assert pre.preprocess("@new.md").attached == ()
        (project / "new.md").write_text("new\n", encoding="utf-8")
        assert pre.preprocess("@new.md").attached[0].text == "new\n"
        (project / "new.md").unlink()
        assert pre.preprocess("@new.md").attached == ()


def test_as_dict(project: Path) -> None:
    """A turn as JSON has the form that hooks and other languages rely on, every key in each entry."""
    turn = preprocess("see @src/app.py:1, @nope.py and @src", SYSTEM, project)
    record = turn.as_dict()

    assert json.loads(json.dumps(record)) == record
    assert record == {
        "version": 1,
        "message": "see src/app.py:1, @nope.py and src",
        "original": turn.original,
        "prompt": turn.prompt,
        "section": turn.section,
        "warnings": ["could not attach @nope.py: no such file"],
        "notices": [],
        "refs": [
            {
                "token": "@src/app.py:1",
                "path": "src/app.py",
                "spans": [[4, 17]],
                "status": "attached",
                "summary": "attached src/app.py (line 1, 8 B, python)",
                "notes": [],
                "kind": "file",
                "lines": [[1, 1]],
                "size": 8,
                "shown": 8,
                "truncated": False,
                "encoding": "utf-8",
                "lossy": False,
                "language": "python",
                "reason": None,
                "detail": None,
                "hint": None,
            },
            {
                "token": "@nope.py",
                "path": "nope.py",
                "spans": [[19, 27]],
                "status": "refused",
                "summary": "could not attach @nope.py: no such file",
                "notes": [],
                "kind": None,
                "lines": None,
                "size": None,
                "shown": None,
                "truncated": None,
                "encoding": None,
                "lossy": None,
                "language": None,
                "reason": "not_found",
                "detail": "no such file",
                "hint": "",
            },
            {
                "token": "@src",
                "path": "src",
                "spans": [[32, 36]],
                "status": "attached",
                "summary": "attached src/ (directory, 1 entry)",
                "notes": [],
                "kind": "directory",
                "lines": None,
                "size": 0,
                "shown": 28,
                "truncated": False,
                "encoding": None,
                "lossy": False,
                "language": "",
                "reason": None,
                "detail": None,
                "hint": None,
            },
        ],
    }


def test_repr_is_one_line_without_contents(project: Path) -> None:
    """A log line of a turn or a Preprocessor holds no message, no prompt and no file."""
    turn = preprocess("a secret plan: @notes.md\n", "a secret prompt", project)

    assert repr(turn) == f"Turn(attached=1, refused=0, section_bytes={turn.section_bytes}, warnings=0)"
    with Preprocessor(project) as pre:
        assert len(repr(pre).splitlines()) == 1
        assert repr(pre).startswith("Preprocessor(")


def test_turns_are_values(project: Path) -> None:
    """Two turns of the same message on the same files are equal, and work as keys; nothing else is equal to a turn."""
    turn = preprocess("@notes.md", SYSTEM, project)

    assert {turn: 1}[preprocess("@notes.md", SYSTEM, project)] == 1
    assert turn != preprocess("@notes.md", "", project)
    assert turn != turn.message


def test_one_shot_takes_what_a_preprocessor_takes() -> None:
    """The arguments of `preprocess` are those of `Preprocessor` behind message and prompt."""
    one_shot = inspect.signature(preprocess).parameters
    constructor = inspect.signature(Preprocessor).parameters

    assert list(one_shot)[:2] == ["message", "prompt"]
    assert list(one_shot.values())[2:] == list(constructor.values())


def test_works_without_a_with_statement(project: Path) -> None:
    """A Preprocessor that nobody closes gives its handle back when it is collected; the watch on descriptors tells."""
    pre = Preprocessor(project)
    pre.preprocess("@notes.md")
    del pre

    pre = Preprocessor(project)
    pre.preprocess("@notes.md")
    pre.close()
    pre.close()


@pytest.mark.parametrize(
    ("message", "prompt"),
    [
        pytest.param("hello", "", id="no at-sign"),
        pytest.param("@alice", "", id="a word"),
        pytest.param("@notes.md", "", id="a file"),
        pytest.param("a @ b", "", id="an at-sign that is no mention"),
        pytest.param("hello", "<!-- filerefs:begin -->", id="no at-sign, and what looks like a section"),
    ],
)
def test_error_closed(project: Path, message: str, prompt: str) -> None:
    """After `close` every turn raises, whether it would have needed the folder or not."""
    pre = Preprocessor(project)
    pre.close()

    with pytest.raises(RootClosedError):
        pre.preprocess(message, prompt)


@pytest.mark.parametrize(
    ("options", "error", "option"),
    [
        pytest.param({"limits": 5}, OptionTypeError, "limits", id="a number for the limits"),
        pytest.param({"code": "maybe"}, OptionError, "code", id="an unknown treatment of code"),
        pytest.param({"symlinks": "follow"}, OptionError, "symlinks", id="an unknown policy"),
        pytest.param({"symlinks": True}, OptionError, "symlinks", id="a flag for a policy"),
        pytest.param({"allow": ".env"}, OptionTypeError, "allow", id="a bare string"),
        pytest.param({"allow": [b".env"]}, OptionTypeError, "allow", id="bytes"),
        pytest.param({"root": None}, OptionTypeError, "root", id="no root"),
    ],
)
def test_error_options(project: Path, options: dict[str, Any], error: type[OptionError], option: str) -> None:
    """A mistake is raised at construction, says which option, and leaves nothing open."""
    with pytest.raises(error) as caught:
        Preprocessor(**{"root": project, **options})

    assert caught.value.option == option


@pytest.mark.parametrize("root", ["nope", "notes.md"])
def test_error_root(project: Path, root: str) -> None:
    """A root must be a directory."""
    with pytest.raises(RootNotFoundError):
        preprocess("hello", root=project / root)


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        pytest.param({"message": b"@a"}, "message", id="bytes for a message"),
        pytest.param({"message": None}, "message", id="no message"),
        pytest.param({"message": "@a", "prompt": None}, "prompt", id="no prompt"),
        pytest.param({"message": "x", "prompt": b""}, "prompt", id="bytes for a prompt"),
        pytest.param({"message": "x", "limits": 5}, "limits", id="a number for limits"),
    ],
)
def test_error_arguments(project: Path, arguments: dict[str, Any], option: str) -> None:
    """A message and a prompt are text."""
    with Preprocessor(project) as pre, pytest.raises(OptionTypeError) as caught:
        pre.preprocess(**arguments)

    assert caught.value.option == option


@pytest.mark.parametrize(("message", "prompt"), [(None, ""), (b"@notes.md", ""), ("hello", None), ("@notes.md", None)])
def test_error_arguments_in_a_loop(project: Path, message: Any, prompt: Any) -> None:
    """In an event loop misuse is told as it is elsewhere."""
    with Preprocessor(project) as files, pytest.raises(OptionTypeError):
        asyncio.run(files.preprocess_async(message, prompt))


def test_subclass_of_str(project: Path) -> None:
    """Text that brings its own type along is text."""

    class Markup(str):
        __slots__ = ()

    turn = preprocess(Markup("see @notes.md"), Markup(SYSTEM), project)

    assert turn.message == "see notes.md"
    assert strip_section(turn.prompt) == SYSTEM


def test_shared_by_threads(tree: Tree) -> None:
    """Eight threads take turns on one Preprocessor at once; each gets what it would have got alone."""
    project = tree({f"{number}.txt": f"text {number}\n" * (number + 1) for number in range(8)})
    expected = {number: preprocess(f"@{number}.txt and @{(number + 1) % 8}.txt", f"prompt {number}", project) for number in range(8)}
    barrier = threading.Barrier(8)

    def work(number: int) -> list[Turn]:
        barrier.wait(timeout=30)
        prompt = f"prompt {number}"
        turns = []
        for _ in range(40):
            turn = pre.preprocess(f"@{number}.txt and @{(number + 1) % 8}.txt", prompt)
            turns.append(turn)
            prompt = turn.prompt
        return turns

    with Preprocessor(project) as pre, ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(8)))

    for number, turns in enumerate(results):
        assert all(turn == expected[number] for turn in turns)


def test_closed_while_threads_work(tree: Tree) -> None:
    """Closing waits for the calls that run; whoever comes later is told, and nothing else is raised."""
    project = tree({f"{number}.txt": "x\n" for number in range(50)})
    message = " ".join(f"@{number}.txt" for number in range(50))
    pre = Preprocessor(project)
    started = threading.Event()

    def work(_: int) -> str:
        try:
            while True:
                turn = pre.preprocess(message)
                started.set()
                assert len(turn.attached) == 50
        except RootClosedError:
            return "closed"

    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(work, number) for number in range(4)]
        started.wait(timeout=30)
        pre.close()

        assert {future.result(timeout=30) for future in futures} == {"closed"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_used_after_a_fork(project: Path) -> None:
    """A Preprocessor that was made before a fork serves both processes."""
    with Preprocessor(project) as pre:
        pre.preprocess("@notes.md")
        child = os.fork()
        if child == 0:
            os._exit(0 if pre.preprocess("@src/app.py").message == "src/app.py" else 1)

        assert pre.preprocess("@src/app.py").message == "src/app.py"
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is only the walk")
@pytest.mark.parametrize("symlinks", ["refuse", "inside"])
def test_environment_forces_the_walk(project: Path, symlinks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """FILEREFS_BACKEND=walk changes how names are resolved and nothing else."""
    message = "@src/app.py @notes.md @nope.py @../x @src @.env @/etc/passwd"
    usual = preprocess(message, SYSTEM, project, symlinks=symlinks)
    monkeypatch.setenv("FILEREFS_BACKEND", "walk")

    assert usual == preprocess(message, SYSTEM, project, symlinks=symlinks)


def test_few_descriptors_are_no_reason_to_raise(tree: Tree) -> None:
    """A process without free descriptors gets refusals that say so, and the turn comes back."""
    resource = pytest.importorskip("resource")
    project = tree({f"{number}.txt": "x\n" for number in range(60)})
    message = " ".join(f"@{number}.txt" for number in range(60))
    with Preprocessor(project) as pre:
        assert len(pre.preprocess(message).attached) == 60
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        spare = os.dup(0)
        os.close(spare)
        resource.setrlimit(resource.RLIMIT_NOFILE, (spare + 6, hard))
        try:
            turn = pre.preprocess(message)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

        assert {outcome.reason for outcome in turn.refused} <= {"busy"}
        assert len(turn.outcomes) == 60
        assert len(pre.preprocess(message).attached) == 60
