"""The suite that others test against: our own program passes it, and programs that are wrong do not."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import filerefs
from filerefs import Limits, Preprocessor
from filerefs.serve import Server, to_json

from .conformance import checking, laws, run, trees

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HERE = Path(__file__).parent / "conformance"
CASES = run.load(sorted(HERE.glob("*.jsonl")))
PAGE = Path(__file__).parents[1] / "docs" / "protocol.md"
POSIX = pytest.mark.skipif(os.name != "posix", reason="the root needs POSIX")

LIMITS = ("file_bytes", "total_bytes", "refs", "directory_entries")


class Served:
    """Our own server, in this process; what it answers may be changed on the way out."""

    def __init__(self, start: dict[str, Any], root: Path, change: Callable[[dict[str, Any]], dict[str, Any]] | None = None) -> None:
        limits = Limits(**start.get("limits", {}))
        options = {name: value for name, value in start.items() if name in ("symlinks", "allow")}

        def make(code: Any, lenient: bool) -> Preprocessor:  # noqa: FBT001
            return Preprocessor(root, limits=limits, code=code, lenient=lenient, **options)

        self._server = Server(make, limits, code=start.get("code", "inert"), lenient=start.get("lenient", True))
        self._change = change
        self._lines: deque[bytes] = deque()

    def write(self, line: bytes) -> None:
        """Answer each of the requests at once."""
        answers = io.BytesIO()
        self._server.run(io.BytesIO(line), answers)
        for answer in answers.getvalue().splitlines(keepends=True):
            self._lines.append(to_json(self._change(json.loads(answer))).encode() + b"\n" if self._change else answer)

    def read(self) -> bytes:
        """Return the next answer."""
        return self._lines.popleft()

    def close(self) -> str:
        """Give the handles back."""
        self._server.__exit__()
        return ""


class Direct:
    """The library itself, as a host in Python calls it."""

    def __init__(self, start: dict[str, Any], root: Path) -> None:
        self._start = start
        self._root = root
        self._made: dict[tuple[str, bool], Preprocessor] = {}
        self._line = b""

    def write(self, line: bytes) -> None:
        """Take one turn."""
        request = json.loads(line)
        options = request.get("options") or {}
        asked = {name: value for name, value in (options.get("limits") or {}).items() if value is not None}
        most = Limits(**self._start.get("limits", {}))
        key = (options.get("code") or self._start.get("code", "inert"), options.get("lenient", self._start.get("lenient", True)))
        if key not in self._made:
            given = {name: value for name, value in self._start.items() if name in ("symlinks", "allow")}
            self._made[key] = Preprocessor(self._root, limits=most, code=key[0], lenient=key[1], **given)
        lowered = most.at_most(Limits(**dict.fromkeys(LIMITS) | asked))
        turn = self._made[key].preprocess(request["message"], request.get("prompt") or "", limits=lowered)
        self._line = to_json(turn.as_dict()).encode() + b"\n"

    def read(self) -> bytes:
        """Return what became of it."""
        return self._line

    def close(self) -> str:
        """Give the handles back."""
        for preprocessor in self._made.values():
            preprocessor.close()
        return ""


EACH_CASE = pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])


def _only(case: dict[str, Any], start: Any) -> run.Result:
    (result,) = run.run([case], start)
    if result.skipped:
        pytest.skip(result.skipped)
    return result


@POSIX
@EACH_CASE
def test_our_server_passes(case: dict[str, Any]) -> None:
    """What `filerefs serve` answers is what each case expects, and no law is broken."""
    assert () == _only(case, Served).problems


@POSIX
@pytest.mark.parametrize("case", [case for case in CASES if case["file"] != "protocol.jsonl"], ids=lambda case: case["id"])
def test_the_library_passes(case: dict[str, Any]) -> None:
    """The library gives a host in Python the same, without the protocol in between."""
    assert () == _only(case, Direct).problems


def test_the_suite_is_large_enough() -> None:
    """There are cases of every kind that the documentation promises, each with a sentence of its own."""
    files = {case["file"] for case in CASES}

    assert 250 <= len(CASES)
    assert {f"{name}.jsonl" for name in re.findall(r"^\| `(\w+)\.jsonl` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)} == files
    assert len(CASES) == len({case["says"] + case["file"] for case in CASES}) == len({case["id"] for case in CASES})


def test_every_case_expects_something() -> None:
    """A case has the form that is documented, and can fail by more than the laws."""
    for case in CASES:
        _check_form(case)


def _check_form(case: dict[str, Any]) -> None:
    assert set(case) <= {"id", "says", "tree", "start", "needs", "burst", "turns", "file"}
    assert case["says"].strip()
    assert not isinstance(case["tree"], str) or case["tree"] in run.load_trees()
    for turn in case["turns"]:
        assert set(turn) <= {"send", "line", "change", "expect"}
        assert ("send" in turn) != ("line" in turn)
        assert set(turn["expect"]) <= checking.EXPECTED
    assert any(turn["expect"] for turn in case["turns"])


# A suite that nothing fails is worth nothing.


def _shifted(unit: str, width: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def change(answer: dict[str, Any]) -> dict[str, Any]:
        for entry in answer.get("refs", ()):
            entry["spans"] = [[len(answer["original"][:place].encode(unit, "replace")) // width for place in span] for span in entry["spans"]]
        return answer

    return change


def _set(**fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda answer: answer | fields if "refs" in answer else answer


def _each(change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def on_all(answer: dict[str, Any]) -> dict[str, Any]:
        if "refs" in answer:
            answer["refs"] = [changed for entry in answer["refs"] if (changed := change(entry)) is not None]
        return answer

    return on_all


def _if(name: str, value: Any, **fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return _each(lambda entry: entry | fields if entry[name] == value else entry)


def _in_text(old: str, new: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def change(answer: dict[str, Any]) -> dict[str, Any]:
        return answer | {name: re.sub(old, new, answer[name]) for name in ("prompt", "section") if name in answer}

    return change


def _counting() -> Callable[[dict[str, Any]], dict[str, Any]]:
    seen: list[int] = []

    def change(answer: dict[str, Any]) -> dict[str, Any]:
        seen.append(1)
        return answer | {"notices": [f"answer {len(seen)}"]} if "refs" in answer else answer

    return change


def _remembering() -> Callable[[dict[str, Any]], dict[str, Any]]:
    known: dict[tuple[str, str], dict[str, Any]] = {}

    def change(answer: dict[str, Any]) -> dict[str, Any]:
        return known.setdefault((answer["original"], answer["prompt"][:1]), answer) if answer.get("refs") else answer

    return change


WRONG = {
    "nothing is ever found": _set(refs=[], section=""),
    "positions are bytes": _shifted("utf-8", 1),
    "positions are code units": _shifted("utf-16-le", 2),
    "the last character is missed": _each(lambda entry: entry | {"spans": [[start, end - 1] for start, end in entry["spans"]]}),
    "only the first place is known": _each(lambda entry: entry | {"spans": entry["spans"][:1]}),
    "refusals are forgotten": _each(lambda entry: None if entry["status"] == "refused" else entry),
    "a secret is not found": _if("reason", "secret", reason="not_found"),
    "what leads out is a secret": _if("reason", "outside_root", reason="secret"),
    "a reason of its own": _if("reason", "symlink", reason="link"),
    "ranges are whole files": _each(lambda entry: entry | {"lines": None} if entry["lines"] else entry),
    "cuts are not told": _each(lambda entry: entry | {"truncated": False} if entry["truncated"] else entry),
    "a folder is a file": _if("kind", "directory", kind="file"),
    "every text is lossless UTF-8": _each(lambda entry: entry | {"encoding": "utf-8"} if entry["encoding"] else entry),
    "a field is missing": _each(lambda entry: {name: value for name, value in entry.items() if name != "notes"}),
    "a field is new": _set(took=3),
    "another version": _set(version=2),
    "no warnings": _set(warnings=[]),
    "the message stays as it was typed": lambda answer: answer | {"message": answer["original"]} if "refs" in answer else answer,
    "the message loses its at-signs everywhere": lambda answer: answer | {"message": answer["original"].replace("@", "")} if "refs" in answer else answer,
    "the section is not in the prompt": lambda answer: (
        answer | {"prompt": answer["prompt"].replace(answer["section"], "")} if answer.get("section") else answer
    ),
    "the digest is of something else": _in_text(r"sha256=\w{32}", "sha256=" + "0" * 32),
    "the length is of something else": _in_text(r"chars=\d+", "chars=7"),
    "no line feeds before the section": _in_text("\n\n<!-- filerefs:begin", "<!-- filerefs:begin"),
    "fences are three backticks": _in_text("`{3,}|~{3,}", "```"),
    "names are shown as they are": _in_text(r"### .*", "### a\x1b[31mb"),
    "no headings": _in_text(r"### ", "#### "),
    "the folder is named": lambda answer: answer | {"notices": [f"read in {os.environ['CONFORMANCE_ROOT']}"]} if "refs" in answer else answer,
    "no ids": lambda answer: {name: value for name, value in answer.items() if name != "id"},
    "always an id": lambda answer: {"id": None} | answer,
    "another code": lambda answer: answer | {"error": answer["error"] | {"code": "failed"}} if "error" in answer else answer,
    "an error with more in it": lambda answer: answer | {"error": answer["error"] | {"trace": "x"}} if "error" in answer else answer,
    "an error and a turn": lambda answer: answer | {"refs": []},
    "answers count": _counting(),
    "files are read once": _remembering(),
}
FOR_THE_WRONG = [
    case
    for case in CASES
    if case["file"] in {f"{name}.jsonl" for name in ("mentions", "ranges", "unicode", "sections", "turns", "hostile", "contents", "names")}
    or case["id"].startswith(("secret", "outside", "link", "cut", "protocol-id", "protocol-no"))
]


@POSIX
@pytest.mark.parametrize("fault", WRONG)
def test_error_servers_that_are_wrong(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program with one fault fails, by a case or by a law, and without the fault it passes."""

    def start(options: dict[str, Any], root: Path) -> Served:
        monkeypatch.setenv("CONFORMANCE_ROOT", str(root))
        return Served(options, root, WRONG[fault])

    with contextlib.closing(run.run(FOR_THE_WRONG, start)) as results:
        assert any(result.problems for result in results)


def _run(command: str, *words: str, timeout: str = "20") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(Path(filerefs.__file__).parents[1]), "PYTHONWARNDEFAULTENCODING": "", "PYTHONIOENCODING": "utf-8"}
    script = [sys.executable, "-m", "tests.conformance.run", "--command", command, "--timeout", timeout, *words]
    return subprocess.run(script, capture_output=True, check=False, encoding="utf-8", env=environment, cwd=PAGE.parents[1])


OURS = f"{sys.executable} -m filerefs serve"


@POSIX
def test_the_runner_drives_a_program() -> None:
    """Against the program itself, all of it passes: processes, options at the start, long lines."""
    finished = _run(OURS, "--strict", str(HERE / "confinement.jsonl"), str(HERE / "protocol.jsonl"), str(HERE / "budgets.jsonl"))

    assert (0, "") == (finished.returncode, finished.stderr)
    assert re.fullmatch(r"\d+ passed, 0 failed, 0 skipped\n", finished.stdout)


@POSIX
@pytest.mark.parametrize(
    ("program", "said"),
    [
        pytest.param("import sys; sys.exit(3)", "it ends with 3", id="one that ends at once"),
        pytest.param("import time; time.sleep(60)", "no answer within 1 seconds", id="one that never answers"),
        pytest.param("import sys; [print('ok', flush=True) for _ in sys.stdin]", "an answer is JSON", id="one that prints something else"),
        pytest.param("import sys; [print('[]', flush=True) for _ in sys.stdin]", "an answer is an object", id="one that prints other JSON"),
        pytest.param("import sys; [print('é'.encode().decode('latin-1'), flush=True) for _ in sys.stdin]", "printable ASCII", id="one that prints no ASCII"),
        pytest.param("import sys; sys.stdin.read()", "no answer within 1 seconds", id="one that waits for the end"),
        pytest.param("import sys; from filerefs.cli import main; print('hi', file=sys.stderr); main(['serve', *sys.argv[1:]])", "'hi'", id="one that talks"),
        pytest.param("import sys; from filerefs.cli import main; main(['serve', *sys.argv[1:]]); sys.exit(1)", "it ends with 1", id="one that ends in failure"),
        pytest.param("import sys; from filerefs.cli import main; main(['serve', *sys.argv[1:]]); print('{}')", "more lines", id="one that says more"),
    ],
)
def test_error_programs_that_break_down(program: str, said: str) -> None:
    """A program that breaks down fails the case that it was in, with what it did."""
    finished = _run(f'{sys.executable} -c "{program}"', "--only", "mention-alone", timeout="1" if "within" in said else "20")

    assert (1, "") == (finished.returncode, finished.stderr)
    assert finished.stdout.startswith("FAILED mention-alone (mentions.jsonl): ")
    assert said in finished.stdout
    assert finished.stdout.endswith("0 passed, 1 failed, 0 skipped\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--only", "nonsense"], "there is no such case", id="no such case"),
        pytest.param(["nowhere.jsonl"], "nowhere.jsonl", id="no such file"),
    ],
)
def test_error_nothing_to_run(words: Sequence[str], said: str) -> None:
    """Without anything to run, the exit code is neither that of success nor that of failure."""
    finished = _run("true", *words)

    assert 2 == finished.returncode
    assert said in finished.stderr


def test_results_for_programs(tmp_path: Path) -> None:
    """With --json each case is one object, and what cannot be built here is skipped."""
    case = {"id": "x", "says": "y", "tree": {"n" * 300: "z"}, "turns": [{"send": {"message": "m"}, "expect": {"refs": []}}]}
    (tmp_path / "own.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")

    finished = _run("true", "--json", str(tmp_path / "own.jsonl"))

    row, last = finished.stdout.splitlines()
    assert {"id": "x", "file": "own.jsonl", "state": "skipped", "problems": []} == {name: value for name, value in json.loads(row).items() if name != "skipped"}
    assert "0 passed, 0 failed, 1 skipped" == last
    assert 1 == _run("true", "--strict", str(tmp_path / "own.jsonl")).returncode


@pytest.mark.parametrize(
    ("expect", "problem"),
    [
        pytest.param({"ref": []}, "no expectation: ref", id="a key that is none"),
        pytest.param({"refs": [{"pth": "a"}]}, "no field of a reference: pth", id="a field that is none"),
    ],
)
def test_error_cases_that_check_nothing(expect: dict[str, Any], problem: str) -> None:
    """A slip in a case is no case that passes."""
    answer = {"version": 1, "message": "", "original": "", "prompt": "", "section": "", "warnings": [], "notices": [], "refs": [{"spans": [], "path": "a"}]}

    with pytest.raises(ValueError, match=problem):
        list(checking.check(expect, answer, [], ""))


@pytest.mark.parametrize("text", ["[]", '{"id": "a"}', '{"id": "a", "says": "", "turns": []}\n{"id": "a", "says": "", "turns": []}'])
def test_error_files_that_hold_no_cases(text: str, tmp_path: Path) -> None:
    """A line that is no case, or has a name that is taken, is told with its place."""
    (tmp_path / "own.jsonl").write_text(text + "\n", encoding="utf-8")

    with pytest.raises(ValueError, match=r"own.jsonl:\d is no case"):
        run.load([tmp_path / "own.jsonl"])


def test_texts_of_a_section() -> None:
    """What a section shows is found by its labels, whatever the fences are."""
    section = "<!-- x -->\n### a.py\nLine 1:\n```python\none\n```\nLine 3:\n```python\nthree\n```\n\n### b/\n~~~~\n### c\n~~~\n~~~~\n"

    assert {"a.py": "one\nthree", "b": "### c\n~~~"} == checking.shown_texts(section)


def test_trees_hold_what_is_said(tmp_path: Path) -> None:
    """Entries of a tree are what the documentation says they are."""
    trees.build(
        tmp_path,
        {"a": ["x", {"repeat": ["y", 3]}], "b/c": {"hex": "00ff"}, "d": {"numbered": ["%d,", 3]}, "e": {"numbered_files": ["n%d", 2]}, "f": {"sparse": 9}},
    )

    assert b"xyyy" == (tmp_path / "a").read_bytes()
    assert b"\x00\xff" == (tmp_path / "b/c").read_bytes()
    assert b"1,2,3," == (tmp_path / "d").read_bytes()
    assert ["n1", "n2"] == sorted(path.name for path in (tmp_path / "e").iterdir())
    assert 9 == (tmp_path / "f").stat().st_size


def test_laws_of_a_right_answer(tmp_path: Path) -> None:
    """An answer of the library breaks no law."""
    (tmp_path / "a.py").write_text("1\n", encoding="utf-8")
    answer = filerefs.preprocess("see @a.py and @b.py", "p", tmp_path).as_dict()

    assert [] == list(laws.check(answer, {"message": "see @a.py and @b.py", "prompt": "p"}, folder=str(tmp_path)))


def _dialogues() -> list[tuple[str, str]]:
    """Return what the page sends and what it says that comes back."""
    return re.findall(r"^> (.+)\n< (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@POSIX
@pytest.mark.parametrize(("sent", "got"), _dialogues(), ids=lambda text: text[:40])
def test_the_page_says_what_comes_back(sent: str, got: str, tmp_path: Path) -> None:
    """The dialogues on the page are real; … stands for what is left out."""
    (tmp_path / "greet.py").write_text('def greet(name):\n    return f"Hello, {name}!"\n', encoding="utf-8")
    server = Served({}, tmp_path)

    server.write(sent.encode() + b"\n")
    answer = server.read().decode().rstrip("\n")
    server.close()

    assert re.fullmatch(".*?".join(map(re.escape, got.split("…"))), answer), answer


def _table(heading: str) -> list[list[str]]:
    section = re.split(r"^##+ ", PAGE.read_text(encoding="utf-8").partition(f"# {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in section.splitlines() if row.startswith("| `")]


def test_the_page_has_every_field_reason_and_code() -> None:
    """What the laws know, the page explains, and nothing else."""
    text = PAGE.read_text(encoding="utf-8")
    fields = [row[0].strip("`") for row in _table("Answers")]
    reasons = re.search(r"^(`absolute`.*?): there are no other reasons", text, re.MULTILINE | re.DOTALL)

    assert [*laws.KEYS, "id", *laws.REFERENCE_KEYS] == fields
    assert reasons is not None
    assert set(re.findall(r"`(\w+)`", reasons[1])) == laws.REASONS == {reason.value for reason in filerefs.Reason}
    codes = {turn["expect"]["error"] for case in CASES for turn in case["turns"] if "error" in turn["expect"]}
    assert {row[0].strip("`") for row in _table("Errors")} - {"code"} == codes
    keys = {key for row in _table("A case") for key in re.findall(r"`(\w+)`", row[0])}
    assert checking.EXPECTED <= keys
