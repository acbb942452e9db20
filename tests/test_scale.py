"""
Messages and folders of sizes that nobody types: each gives a Turn with a bounded section, and comes to an end.

Each case runs in a process of its own, which may take no more memory than a laptop has to spare and is ended when it
hangs.  The guard is for hanging alone, and generous: how fast things are is measured in the benchmarks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .conftest import Tree

GUARD = 120
MEMORY = 2 << 30
BOUND = (1 << 20) + 4096

_CHILD = """
import json, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
except (ImportError, OSError, ValueError):
    pass
import filerefs
from filerefs import Limits, Preprocessor, format_ref, parse
root = sys.argv[1]
def facts(turn):
    assert turn.original == message
    bound = {bound} + 1024 * len(turn.outcomes)
    assert turn.section_bytes <= bound, (turn.section_bytes, bound)
    return dict(attached=len(turn.attached), refused=sorted({{str(outcome.reason) for outcome in turn.refused}}), plain=len(turn.plain),
                same=turn.message == message, outcomes=len(turn.outcomes), warnings=len(turn.warnings))
{setup}
found = facts(filerefs.preprocess(message, "Be brief.", root, **options))
{check}
print(json.dumps(found))
"""


def run(root: Path, setup: str, *, check: str = "", environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Take a turn in a process of its own on the `message` that *setup* makes, and return what became of it."""
    code = _CHILD.format(memory=MEMORY, bound=BOUND, setup="options = {}\n" + textwrap.dedent(setup), check=textwrap.dedent(check))
    package = str(Path(__file__).parent.parent)
    try:
        finished = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", code, str(root)],
            check=False,
            capture_output=True,
            encoding="utf-8",
            timeout=GUARD,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")]), **(environment or {})},
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"did not come to an end within {GUARD} seconds")
    assert finished.returncode == 0, finished.stderr
    found: dict[str, Any] = json.loads(finished.stdout)
    return found


@pytest.fixture
def project(tree: Tree) -> Path:
    """Return a folder with a few small files and a large one."""
    return tree({"a": "1\n2\n3\n", "a.py": "1\n2\n", "my file.txt": "x\n", "src/main.py": "x\n", "big.txt": "x\n" * 700_000})


@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        pytest.param(
            'message = "".join(f"@word{n} ".ljust(99, "x") + " " for n in range(100_000))',
            {"attached": 0, "outcomes": 0, "plain": 100_000, "same": True},
            id="10 MB with 100,000 words",
        ),
        pytest.param(
            'message = "".join(f"@src/x{n}.py ".ljust(99, "x") + " " for n in range(100_000))',
            {"attached": 0, "refused": ["not_found", "too_many"], "outcomes": 201, "same": True},
            id="10 MB with 100,000 names of files that do not exist",
        ),
        pytest.param(
            'message = ("@a.py and then text ".ljust(99, "x") + " ") * 100_000',
            {"attached": 1, "outcomes": 1, "same": False},
            id="10 MB with a file 100,000 times",
        ),
        pytest.param('message = "@" * 10_000_000', {"outcomes": 0, "same": True}, id="10 MB of at-signs"),
        pytest.param('message = "\\\\" * 10_000_000 + "@a.py"', {"same": True}, id="10 MB of backslashes"),
        pytest.param('message = "\\\\@" * 5_000_000', {"outcomes": 0, "same": True}, id="10 MB of escaped at-signs"),
        pytest.param('message = "@" + "a," * 5_000_000', {"attached": 1, "outcomes": 1}, id="one run of 10 MB"),
        pytest.param('message = "@" + "x" * 10_000_000', {"outcomes": 0, "same": True}, id="one name of 10 MB"),
        pytest.param('message = "@\\"" + "x" * 10_000_000 + "\\""', {"outcomes": 0, "same": True}, id="one quoted name of 10 MB"),
        pytest.param('message = " ".join("`" * n for n in range(1, 4_400)) + " @a.py"', {"attached": 1}, id="backtick runs of all lengths"),
        pytest.param('message = " ".join("`" * n for n in range(4_400, 0, -1)) + " @a.py"', {"attached": 1}, id="the longest first"),
        pytest.param('message = "\\n".join("~" * n for n in range(3, 4_400)) + "\\n@a.py"', {"outcomes": 0}, id="tilde runs of all lengths"),
        pytest.param('message = "`@a.py` " * 100_000', {"outcomes": 0, "same": True}, id="100,000 mentions in code"),
        pytest.param('message = "@a.py:1 @a.py:2 " * 50_000', {"attached": 1, "outcomes": 1}, id="100,000 mentions of lines"),
        pytest.param('message = "@a.py:9-1 @a.py:0 @a.py:1-99 " * 30_000', {"attached": 1, "outcomes": 1}, id="100,000 mentions of odd lines"),
        pytest.param('message = " ".join(f"@a.py:{n}-1" for n in range(2, 60_000))', {"attached": 1, "outcomes": 1}, id="60,000 different odd lines"),
        pytest.param('message = " ".join(f"@big.txt:{n}" for n in range(1, 10_000, 2))', {"attached": 1, "outcomes": 1}, id="5,000 lines of a large file"),
        pytest.param('message = "@alice @/etc/passwd @../x @~/x " * 25_000', {"attached": 0, "outcomes": 3}, id="75,000 mentions that are refused"),
        pytest.param('message = "@my file.txt now " * 50_000', {"attached": 1}, id="50,000 names with blanks"),
        pytest.param('message = "@a.py,@a.py;(@a)@a\\u4e00@a" * 40_000', {"attached": 2}, id="200,000 mentions without blanks"),
        pytest.param('message = "e\\u0301" * 2_000_000 + "@a.py"', {"outcomes": 0}, id="marks without end"),
        pytest.param('message = "_*~" * 3_000_000 + "@a.py"', {"attached": 1}, id="emphasis without end"),
        pytest.param('message = "@„a " * 100_000', {"outcomes": 0}, id="low double quotes that nothing closes"),
        pytest.param('message = "@‚a " * 100_000', {"outcomes": 0}, id="low single quotes that nothing closes"),
        pytest.param('message = "@a.py:99 " * 100_000', {"refused": ["bad_range"]}, id="lines that do not exist"),
        pytest.param('message = "@a.py:1 " + " ".join(f"@a.py:{n}" for n in range(9, 60_000))', {"attached": 1}, id="many different lines that do not exist"),
        pytest.param('message = "@big.txt " + " ".join(f"@big.txt:{n}" for n in range(500_000, 560_000))', {"attached": 1}, id="many lines behind a cut"),
        pytest.param('message = "\\u0301@" * 2_000_000', {"outcomes": 0}, id="marks and at-signs"),
    ],
)
def test_messages(project: Path, setup: str, expected: dict[str, Any]) -> None:
    """However long a message is and whatever it is made of, the turn comes to an end."""
    found = run(project, setup)

    assert expected == {name: found[name] for name in expected}


UNITS = """
    @'a|@"a|@«a|@‹a|@‘a|@“a|@(|@[|@{|@<|`@a|`@a`|\\`|@a:1|@a#x|@a@|_@a|*@a|日@a|@.|@/|@../|＠a|＠|@a\\ |@a\u00a0|@a:|@a,b|@a)|@a's|@a.|@a…|@a—|@日a|@my file
    @src/x|@src/mian.py|@nope.py|@a/b.py|@a:2|@a#L1-|@a.py#top|<!-- filerefs:end v1 sep=2|\\@|\\\\@a|@@|@a@@b|``|`` `|a`|@`|@a`b`|@``|@a(b(c)|@(((((|@)))))a
    "@a"|'@/x'|@C:\\a|@a\\b\\c|@a\u0301|@"a\\|@"\\"|@'a':1
"""


def test_fragments_over_and_over(project: Path) -> None:
    """Whatever opens, quotes, cuts or hides, repeated without end, is one more message."""
    units = [unit.lstrip(" ") for line in UNITS.strip().splitlines() for unit in line.split("|")]
    setup = f"""
        units = {units!r}
        message = ""
        pre = Preprocessor(root)
        for unit in units:
            for text in (unit, unit + " ", unit + "\\n"):
                message = text * (10_000 // len(text))
                facts(pre.preprocess(message))
        message = ""
    """
    assert len(units) > 50
    assert run(project, setup)["outcomes"] == 0


@pytest.mark.parametrize("refs", [200, None])
def test_message_that_names_10_000_files(tree: Tree, refs: int | None) -> None:
    """Of very many files so many are attached as limits and lookups allow; the rest is one outcome."""
    project = tree.folder
    for folder in range(10):
        (project / str(folder)).mkdir()
        for number in range(1_000):
            (project / str(folder) / f"{number}.txt").touch()
    setup = f"""
        message = " ".join(f"@{{folder}}/{{number}}.txt" for folder in range(10) for number in range(1_000))
        options = dict(limits=Limits(refs={refs}))
    """
    found = run(project, setup)

    if refs is None:
        assert 4_000 < found["attached"] <= 4_096
    else:
        assert found["attached"] == refs
    assert (found["outcomes"], found["refused"]) == (found["attached"] + 1, ["too_many"])


@pytest.mark.parametrize("count", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_folder_of_very_many_names(tree: Tree, count: int) -> None:
    """A listing reads a thousand names and says that there are more."""
    (tree.folder / "many").mkdir()
    handle = os.open(tree.folder / "many", os.O_RDONLY)
    os.close(os.open("0", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    for number in range(1, count):
        # File systems bound the links of one file: a new file now and then.
        if number % 30_000 == 0:
            os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY, dir_fd=handle))
        else:
            os.link(str(number // 30_000 * 30_000), str(number), src_dir_fd=handle, dst_dir_fd=handle)
    os.close(handle)

    found = run(tree.folder, 'message = "@many @many/0 @many/nope.txt @./"')

    assert (found["attached"], found["refused"]) == (3, ["not_found"])
    assert found["warnings"] == 2


def test_root_of_very_many_names(tree: Tree) -> None:
    """A root that is too large to be listed is no reason to miss a file in it."""
    for number in range(5_000):
        (tree.folder / f"{number}.txt").touch()

    found = run(tree.folder, 'message = " ".join(f"@word{n}" for n in range(3_000)) + " @4999.txt @my file.txt"')

    assert (found["attached"], found["refused"]) == (1, [])


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
@pytest.mark.parametrize("symlinks", ["refuse", "inside"])
@pytest.mark.parametrize("backend", ["auto", "walk"])
def test_what_never_ends_is_not_opened(tree: Tree, symlinks: str, backend: str) -> None:
    """A pipe without a writer, a device behind a link and a circle of links are refused without waiting."""
    project = tree({"pipe": tree.fifo(), "zero": tree.link("/dev/zero"), "loop": tree.link("loop"), "p2": tree.link("pipe")})

    setup = f'message = "@pipe @zero @loop @p2 @pipe:1-5"; options = dict(symlinks={symlinks!r})'
    found = run(project, setup, environment={"FILEREFS_BACKEND": backend})

    assert found["attached"] == 0
    assert found["refused"] == (["not_regular", "symlink"] if symlinks == "refuse" else ["not_regular", "outside_root", "symlink_loop"])


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        pytest.param("@huge", ["binary"], id="the whole"),
        pytest.param("@huge:5", ["binary"], id="a line"),
        pytest.param("@huge.txt", [], id="a text with a hole behind it"),
        pytest.param("@huge.txt:1", [], id="its first line"),
        pytest.param("@huge.txt:100001", ["binary"], id="the hole"),
        pytest.param("@huge.txt:100002", ["bad_range"], id="what is behind the hole"),
    ],
)
def test_sparse_file(tree: Tree, message: str, refused: list[str]) -> None:
    """A file of 1 TiB that takes no disk is cut or refused, and never read to its end."""
    project = tree({"huge": tree.sparse(1 << 40), "huge.txt": "line\n" * 100_000})
    with (project / "huge.txt").open("r+b") as file:
        file.truncate(1 << 40)

    assert run(project, f"message = {message!r}")["refused"] == refused


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_name_that_is_no_text(tree: Tree) -> None:
    """A file with a name of bytes that are no UTF-8 is listed and attached, and the section is UTF-8."""
    project = tree({"\udcff\udcfe.txt": "1\n"})

    found = run(project, 'message = format_ref("\\udcff\\udcfe.txt") + " and @."')

    assert (found["attached"], found["refused"]) == (2, [])


@pytest.mark.parametrize("message", ["@log.txt", "@log.txt:2-", "@log.txt:2 @log.txt:90000"])
def test_file_that_grows_while_it_is_read(tree: Tree, message: str) -> None:
    """A file that somebody writes to as fast as they can gives what was there, or is refused; the turn comes back."""
    setup = f"""
        import threading
        message = {message!r}
        stop = threading.Event()
        def grow():
            with open(root + "/log.txt", "ab") as file:
                while not stop.is_set() and file.tell() < 1 << 28:
                    file.write(b"another line\\n" * 10_000)
                    file.flush()
        writer = threading.Thread(target=grow)
        writer.start()
        pre = Preprocessor(root)
        for _ in range(10):
            facts(pre.preprocess(message))
    """
    check = """
        stop.set()
        writer.join()
    """
    found = run(tree({"log.txt": "line\n" * 10}), setup, check=check)

    assert found["outcomes"] in (1, 2)
    assert set(found["refused"]) <= {"busy", "bad_range"}


def test_deep_folders(tree: Tree) -> None:
    """A path as deep as a name may be is attached; one that is deeper is refused."""
    handle = os.open(tree.folder, os.O_RDONLY)
    for _ in range(254):
        os.mkdir("d", dir_fd=handle)
        below = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(os.open("f.txt", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    os.close(handle)

    found = run(tree.folder, 'message = "@" + "d/" * 254 + "f.txt @" + "d/" * 255 + "f.txt"')

    assert (found["attached"], found["refused"]) == (1, ["bad_name"])


def test_prompt_without_end(project: Path) -> None:
    """A prompt full of what looks like sections costs no more than one without."""
    setup = """
        section = filerefs.preprocess("@a.py", "", root).section
        message = "@a.py"
        forged = section.replace("1", "2", 1)
        prompt = (forged + "\\n" + section[:-40] + "\\n" + "<!-- filerefs:begin -->\\n") * 20_000
        turn = filerefs.preprocess(message, prompt, root)
        assert filerefs.strip_section(turn.prompt) == filerefs.strip_section(prompt)
        facts(turn)
    """
    assert run(project, setup)["attached"] == 1
