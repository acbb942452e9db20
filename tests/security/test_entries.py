"""
What hostile and odd input does to the ways in that are not a message: tools, lists of messages, roots that are objects, hooks.

Nothing is measured by a clock.  Where something must come to an end, it runs in a process of its own, at a size at which
work that grows with its square has none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, Self

import pytest

from filerefs import OptionError, OptionTypeError, Preprocessor, Root, agentsmd, hooks, preprocess
from filerefs.messages import preprocess_messages
from filerefs.retrieval import file_tools
from filerefs.roots import Entry, Listing, MemoryRoot

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from filerefs.retrieval import Tool

    from ..conftest import Tree  # noqa: TID252 (tests are no package that could be named)

PATIENCE = 60


@pytest.fixture
def tools(tree: Tree) -> Iterator[dict[str, Tool]]:
    """Give the tools for a folder with a scope, by their names."""
    with Preprocessor(tree({"@scope/b.py": "x\n", "a.py": "a\n", ".env": "SECRET"})) as preprocessor:
        yield {tool.name: tool for tool in file_tools(preprocessor)}


@pytest.mark.parametrize("arguments", [pytest.param(value, id=repr(value)) for value in ([], ["ref"], 5, True, 1.5)])
def test_error_tools_answer_whatever_a_framework_took_for_arguments(tools: dict[str, Tool], arguments: Any) -> None:
    """What is no object is answered with a sentence, and never raised."""
    for tool in tools.values():
        assert tool.run(arguments) == f"{tool.name} was not called: its arguments are no JSON object."


def test_no_arguments_at_all(tools: dict[str, Tool]) -> None:
    """None is what some frameworks make of a call without arguments."""
    assert tools["list_files"].run(None) == tools["list_files"].run({})  # type: ignore[arg-type]
    assert "`ref` is missing" in tools["read_ref"].run(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("folder", ["@scope", "@scope/", "@@scope"])
def test_a_folder_with_an_at_sign_is_listed_by_the_name_that_was_listed(tools: dict[str, Tool], folder: str) -> None:
    """What list_files says that there is, it lists; with the sign of a mention in front as well."""
    assert "@scope/" in tools["list_files"].run({}).splitlines()
    assert tools["list_files"].run({"folder": folder}).splitlines()[1:] == ["@scope/b.py"]


ODD_NAMES = (" sp", "b ", "nl\nd", "tab\t", "\u202e", "@at", 'q"d', '"q"', "'s'", "`t`", "a,b", "back\\s", "~", "c:", "x:3", "#L1", "[x]", "-x")


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_what_is_listed_is_read_and_listed_by_the_same_line(tree: Tree, name: str) -> None:
    """However a name hides or looks like something else, its line in a list is one that both tools take."""
    with Preprocessor(tree({f"{name}/ {name}.py": "F\n"})) as preprocessor:
        read_ref, list_files = file_tools(preprocessor)
        _, folder, file = list_files.run({}).splitlines()

        assert list_files.run({"folder": folder}).splitlines()[1:] == [file]
        assert read_ref.run({"ref": file}).endswith("F\n```")


def test_error_what_is_no_name_in_a_list_is_told(tools: dict[str, Tool]) -> None:
    """A list in JSON with something else among its names has an answer for each of them."""
    assert tools["read_ref"].run({"ref": '["a.py", {"path": "b.py"}]'}).endswith('Could not read {"path": "b.py"}: no such file — list_files shows the names.')


@pytest.mark.parametrize("messages", [b"@a.py", {"role": "user", "content": "@a.py"}, None, 5], ids=["bytes", "one message alone", "none", "a number"])
def test_error_what_is_no_list_of_messages(tree: Tree, messages: Any) -> None:
    """One message alone, or anything else that is no list of them, is a mistake of the host and not taken for an empty list."""
    with pytest.raises(OptionTypeError, match="a list of messages"):
        preprocess_messages(messages, tree({"a.py": "SECRET"}))


@pytest.mark.parametrize("dialect", ["openai", "responses", "anthropic"])
def test_a_message_is_typed_again_when_its_file_is_there(tree: Tree, dialect: Any) -> None:
    """A message that nothing was attached to looks the same when the person sends it again, and is looked at again."""
    folder, message = tree({"a.py": "x\n"}), {"role": "user", "content": "@b.py"}
    first = preprocess_messages([message], folder, dialect=dialect)
    tree({"b.py": "new\n"})
    kept = {} if dialect == "openai" else {"system": first.system}
    second = preprocess_messages([*first.messages[:-1], message], folder, dialect=dialect, **kept)

    assert [outcome.path for outcome in first.turn.refused] == ["b.py"]
    assert [outcome.path for outcome in second.turn.attached] == ["b.py"]


def test_a_message_of_very_many_parts(tree: Tree) -> None:
    """Each part is rewritten, and none is lost."""
    done = preprocess_messages([{"role": "user", "content": [{"type": "text", "text": "see @a.py"}] * 20_000}], tree({"a.py": "x\n"}))

    assert {part["text"] for part in done.messages[-1]["content"]} == {"see a.py"}
    assert len(done.messages[-1]["content"]) == 20_000


@pytest.mark.parametrize("links", ["refuse", "inside"])
@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".ENV",
        "sub/.Env",
        ".ssh/id",
        ".SSH/k",
        "./sub/../.env",
        ".env.",
        "../outside.txt",
        "sub/../../outside.txt",
        "out",
        "out.d/x",
        "/etc/passwd",
        "~/x",
    ],
)
def test_error_nothing_secret_or_outside_through_any_way_in(tree: Tree, links: Any, name: str) -> None:
    """Neither a message, nor a tool, nor a buffer laid over the folder, opens a secret or what lies outside."""
    project = tree({".env": "SECRET", "sub/.Env": "SECRET", ".ssh/id": "SECRET", "out": tree.link("../outside.txt"), "out.d": tree.link("..")})
    (project.parent / "outside.txt").write_text("SECRET", encoding="utf-8")
    with Root(project, symlinks=links) as root:
        for files in (root, MemoryRoot({".SSH/k": "SECRET", "sub/x": "", "sub/.Env": "SECRET"}, over=root)):
            preprocessor = Preprocessor(files)
            said = [preprocessor.preprocess(f'@"{name}" @./ @sub/').section]
            for tool in file_tools(preprocessor):
                said += [tool.run({"ref": name}) if tool.name == "read_ref" else tool.run({"folder": name}) + tool.run({})]
            assert "SECRET" not in "".join(said)
            assert not {"f .env", "f .Env", "d .ssh", "d .SSH", ".ssh/", ".SSH/", ".env", "sub/.Env"} & set("\n".join(said).splitlines())


class LyingNode:
    """A folder that lists what no folder can hold, and more than was asked for."""

    name, target, kind, size, identity, stamp = ".", None, "directory", 0, None, None

    def entries(self, _: int | None) -> Listing:
        names = ["../../etc", "a/b", "", "..", ".", "\0", *(f"n{number}" for number in range(5000))]
        return Listing(tuple(Entry(name, "file") for name in names), more=False, withheld=0)

    def read(self, _: int | None) -> bytes:
        return b""

    def close(self) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class LyingRoot:
    """Has one folder, whatever is asked for."""

    def open(self, _: str) -> LyingNode:
        return LyingNode()


def test_error_listings_of_a_root_that_lies() -> None:
    """What can be no name in a folder is not shown, nor more names than were asked for, and it is said that there are more."""
    shown = preprocess("@./", root=LyingRoot()).attached[0]  # type: ignore[arg-type]

    assert shown.text.splitlines()[1:] == [f"f n{number}" for number in range(1000)]
    assert shown.truncated


def test_names_in_memory_are_asked_for_as_they_are_put_in() -> None:
    """A name is in memory however it is written, and what can be no name is not."""
    root = MemoryRoot({"./src//a.py": "x"})

    assert "src/a.py" in root
    assert "./src/a.py" in root
    assert not any(name in root for name in ("", "..", "src/../src/a.py", "\0", "~/a.py", "/src/a.py"))


def test_new_files_in_memory_behind_a_link_below(tree: Tree) -> None:
    """What a folder lists behind a link can be opened there, also where only memory has it, and is one file with two names."""
    project = tree({"real/x.py": "disk\n", "link": tree.link("real"), "deep": tree.link("link")})
    with Root(project, symlinks="inside") as root:
        files = MemoryRoot({"real/new.py": "new\n", "real/sub/more.py": "more\n", "real/.env": "SECRET"}, over=root)
        turn = preprocess("@link/ @link/new.py @real/new.py @deep/sub/more.py @link/.env @link/none.py", root=files)

    assert turn.attached[0].text == "(directory listing)\nf new.py\nd sub\nf x.py"
    assert [outcome.text for outcome in turn.attached[1:]] == ["new\n", "more\n"]
    assert turn.attached[1].names == ("real/new.py",)
    assert [outcome.reason.value for outcome in turn.refused] == ["secret", "not_found"]


def test_a_buffer_is_imported_once_whatever_its_name(tree: Tree) -> None:
    """A link to a file that an editor holds is that file: a circle is noticed at its first turn."""
    project = tree({".git/": None, "AGENTS.md": "@a.md\n", "a.md": "saved\n", "b.md": tree.link("a.md")})
    with Root(project, symlinks="inside") as root:
        found = agentsmd.expand_imports(agentsmd.discover(".", root=MemoryRoot({"a.md": "unsaved @b.md\n"}, over=root)))

    assert [doc.name for doc in found] == ["AGENTS.md", "a.md"]
    assert [problem.detail for problem in found.problems] == ["imported in a circle"]


def test_files_in_memory_change_while_turns_run() -> None:
    """Turns see each file as it is at some moment, and nothing fails, while another thread puts files in and takes them out."""
    root = MemoryRoot()
    done = threading.Event()
    failures: list[str] = []

    def change() -> None:
        number = 0
        while not done.is_set():
            number += 1
            root[f"d{number % 5}/x.py"] = f"{number}\n" * 20
            del root[f"d{number % 5}/x.py"]

    def ask() -> None:
        try:
            with Preprocessor(root) as preprocessor:
                for _ in range(150):
                    shown = preprocessor.preprocess("@./ " + " ".join(f"@d{number}/x.py @d{number}/" for number in range(5))).attached
                    failures.extend(one.text for one in shown if one.kind == "file" and len(set(one.text.splitlines())) != 1)
        except Exception as error:  # noqa: BLE001 (a thread has nobody who would see it)
            failures.append(repr(error))

    changing, asking = threading.Thread(target=change), [threading.Thread(target=ask) for _ in range(2)]
    for thread in (changing, *asking):
        thread.start()
    for thread in asking:
        thread.join(PATIENCE)
    done.set()
    changing.join(PATIENCE)
    assert [] == failures


@pytest.mark.parametrize("tail", [b"", b"x"], ids=["half a pair", "half a pair, and half a character at the end"])
def test_lines_of_a_long_file_in_utf_16_that_is_damaged(tree: Tree, tail: bytes) -> None:
    """What is replaced in lines deep in a file is said to be, as it is of a short file, and the end of the file is not lost."""
    data = "".join(f"line {number}\n" for number in range(100_000)).encode("utf-16")
    damaged = data[:2] + b"\x00\xd8" + data[4:] + tail
    turn = preprocess("@a.txt:1 @b.txt:100001-", root=tree({"a.txt": damaged, "b.txt": data + tail}))

    assert turn.attached[0].text == "\ufffdine 0\n"
    assert all(outcome.lossy for outcome in turn.attached)
    assert [outcome.text for outcome in turn.attached[1:]] == (["\ufffd"] if tail else [])


@pytest.mark.parametrize("folder", ["\ud800", "\0", "a" * 5000, "/\ud800/x"])
@pytest.mark.parametrize("kind", ["UserPromptSubmit", "SessionStart"])
def test_error_a_folder_that_no_system_has(folder: str, kind: str) -> None:
    """A hook is told of a folder that cannot exist, and answers as for any that is not there."""
    hooks.answer({"hook_event_name": kind, "cwd": folder, "prompt": "@a.py"}, "claude-code", {})


@pytest.mark.parametrize("option", ["path", "root", "user_files", "extra", "home"])
def test_error_instruction_files_of_a_path_that_can_be_none(tree: Tree, option: str) -> None:
    """A path that holds half a character is a mistake of the host like one that holds a NUL."""
    given: dict[str, Any] = {"path": tree({"AGENTS.md": "x", ".git/": None}), option: ["\ud800"] if option in ("user_files", "extra") else "\ud800"}

    with pytest.raises(OptionError):
        agentsmd.discover(**given)


def test_a_marker_that_can_be_no_name(tree: Tree) -> None:
    """It is nowhere, so the start folder is the root."""
    assert [doc.name for doc in agentsmd.discover(tree({"AGENTS.md": "x"}), markers=["\ud800"])] == ["AGENTS.md"]


def test_imports_as_deep_as_anybody_asks(tree: Tree) -> None:
    """A chain of more files than an interpreter has stack for is followed down to some depth, and what is left is told."""
    chain = {f"f{number}.md": f"text\n@f{number + 1}.md\n" for number in range(600)}
    found = agentsmd.expand_imports(agentsmd.discover(tree({".git/": None, "AGENTS.md": "@f0.md\n", **chain})), depth=10_000)

    assert len(found.docs) == 101
    assert [problem.detail for problem in found.problems] == ["not imported: it would be 101 levels deep, and 100 are allowed"]


_LOOSE_ENDS = """
from filerefs.agentsmd.loose_ends import close_fence, hide_openings, show_openings
text = {}
assert show_openings(hide_openings(text)) == text
close_fence("```" + text)
"""
_LINKS = """
from filerefs.agentsmd.masking import mask
text = "@a.md " + {}
assert mask(text) == text
"""
_HOOK = """
import os
from filerefs import hooks
answer = hooks.answer({{"hook_event_name": "BeforeAgent", "cwd": os.getcwd(), "prompt": {} * 20_000}}, "gemini", {{}})
assert (answer is None) == {}
"""
_BRACES = """
from filerefs import Preprocessor
from filerefs.retrieval import file_tools
with Preprocessor() as files:
    answer = file_tools(files)[1].run({"pattern": "{a,b}" * 40})
assert answer.splitlines()[1:] == ["The braces stand for more than 64 patterns; only the first 64 were tried."]
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(_LOOSE_ENDS.format('"<" + "\\n" * 200_000'), id="instructions of blank lines"),
        pytest.param(_LOOSE_ENDS.format('"<" + "1. \\n" * 200_000'), id="instructions of empty list items"),
        pytest.param(_LOOSE_ENDS.format('"<" + "> " * 200_000'), id="instructions of block quotes"),
        pytest.param(_LOOSE_ENDS.format('"&" + "amp;" * 200_000'), id="one entity"),
        pytest.param(_LOOSE_ENDS.format('"<!--\\n" * 100_000'), id="open comments"),
        pytest.param(_LINKS.format('("[a](" + " " * 4000) * 500'), id="a link that never ends, of blanks"),
        pytest.param(_LINKS.format('("[a](x" + " " * 4000) * 500'), id="a link that never ends behind its target"),
        pytest.param(_LINKS.format("'[a](x \"' * 20_000"), id="titles of links"),
        pytest.param(_HOOK.format('"\'@a.py"', "False"), id="a hook and mentions without a blank"),
        # Each pair of quotes is a part of one long mention to Gemini CLI, and the last mention one that it attaches.
        pytest.param(_HOOK.format("'\"@a.py'", "True"), id="a hook and mentions in quotes of its host"),
        pytest.param(_BRACES, id="braces that stand for a million millions of patterns"),
    ],
)
def test_comes_to_an_end(tree: Tree, code: str) -> None:
    """What is long and ends nowhere is gone through once."""
    finished = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, cwd=tree({"a.py": "x\n"}), timeout=PATIENCE)

    assert finished.returncode == 0, finished.stderr.decode()


@pytest.mark.skipif(os.name != "posix", reason="about a shell's ways to close a stream")
@pytest.mark.parametrize("redirection", [">&-", "2>&- >&-", "| true"])
def test_error_nobody_listens_to_what_was_installed(tmp_path: Path, redirection: str) -> None:
    """A closed standard output is no reason for a traceback, and the settings are written all the same."""
    (tmp_path / ".claude").mkdir()
    finished = subprocess.run(
        f'"{sys.executable}" -m filerefs hook install claude-code {redirection}',
        shell=True,
        check=False,
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path)},
        timeout=PATIENCE,
    )

    assert b"Traceback" not in finished.stderr
    assert b"Exception ignored" not in finished.stderr
    assert "filerefs hook claude-code" in (tmp_path / ".claude" / "settings.json").read_text(encoding="utf-8")
