"""
Drives any program that speaks the protocol of `filerefs serve` through the cases of this folder.

    python -m tests.conformance.run --command "filerefs serve" [FILE.jsonl ...]

Needs nothing but Python.  For each case it builds a folder where nothing else is, starts the program with that folder
as its root, writes the requests of the case to its standard input, and holds what comes back against what the case
expects and against the laws that hold for every answer (`laws`).  docs/protocol.md has the format of a case.

Exit codes: 0, all cases passed (or were skipped, which is counted); 1, one failed; 2, nothing could be run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import queue
import shlex
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from . import checking, laws
from .trees import SkipError, build, has_case_sensitive_names, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    Start: TypeAlias = Callable[[dict[str, Any], Path], "Server"]

HERE = Path(__file__).parent
PASSED, FAILED, UNUSABLE = 0, 1, 2


class Server(Protocol):
    """Whatever answers requests: a process, or something that stands for one."""

    def write(self, line: bytes) -> None:
        """Take a request, which is one line with its line feed, or the last bytes of all."""

    def read(self) -> bytes:
        """Return the next answer, one line with its line feed; what there is of one if the program has ended."""

    def close(self) -> str:
        """End it; return what is wrong with how it ended, "" for nothing."""


class BrokenServerError(Exception):
    """The program gave no answer, or something that is none."""


class Result(NamedTuple):
    """
    What became of a case.

    Attributes:
        case: The case.
        problems: What is wrong, none for a case that passed.
        skipped: Why it was skipped, "" if it was not.
        broken: Whether the program broke down in it.
    """

    case: dict[str, Any]
    problems: tuple[str, ...] = ()
    skipped: str = ""
    broken: bool = False


class Process:
    """
    A program with a root, spoken to by its standard input and output.

    Args:
        command: The words that start it; what a case says at the start comes behind them.
        start: The options of the case.
        root: The folder to serve.
        timeout: Seconds to wait for an answer.
    """

    def __init__(self, command: Sequence[str], start: dict[str, Any], root: Path, *, timeout: float) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        words = [*command, "--root", str(root), *options_at_the_start(start)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, cwd=root)
        self._timeout = timeout
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put(b"")

    def write(self, line: bytes) -> None:
        """Send *line*, in a thread, so that a program that answers before it has read all of it is understood."""
        thread = threading.Thread(target=self._send, args=(line,), daemon=True)
        thread.start()
        thread.join(self._timeout)

    def _send(self, line: bytes) -> None:
        if self._process.stdin is None:
            return
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except OSError:
            # It has ended; that its answer is missing says so.
            return

    def read(self) -> bytes:
        """Return the next line."""
        try:
            return self._lines.get(timeout=self._timeout)
        except queue.Empty:
            message = f"no answer within {self._timeout:g} seconds"
            raise BrokenServerError(message) from None

    def close(self) -> str:
        """End its input, and wait for it."""
        try:
            if self._process.stdin is not None:
                # What could not be sent to a program that has ended is tried once more, and fails.
                with contextlib.suppress(OSError):
                    self._process.stdin.close()
            code = self._process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return "it does not end when its input does"
        finally:
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._errors.seek(0)
            said = self._errors.read().decode("utf-8", "replace").strip()
            self._errors.close()
        if code or said:
            return f"it ends with {code}, and says on standard error: {said[-500:]!r}"
        return "" if self._lines.get() == b"" else "it wrote more lines than it was asked"


def options_at_the_start(start: dict[str, Any]) -> list[str]:
    """Return what stands on the command line for what a case says at the start."""
    words = []
    for name, value in start.items():
        match name:
            case "symlinks" | "code":
                words += [f"--{name}", value]
            case "allow":
                words += [word for each in value for word in ("--allow", each)]
            case "lenient" if value is False:
                words.append("--no-lenient")
            case "limits":
                words += [word for limit, most in value.items() for word in (f"--{limit.replace('_', '-')}", "none" if most is None else str(most))]
            case _:
                message = f"nothing to say at the start: {name}={value!r}"
                raise ValueError(message)
    return words


def load(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """
    Return the cases in *paths*, one a line.

    Raises:
        ValueError: If a line is no case, or two have the same name.
    """
    cases: dict[str, dict[str, Any]] = {}
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            case = json.loads(line)
            if not isinstance(case, dict) or not {"id", "says", "turns"} <= set(case) or case["id"] in cases:
                message = f"{path.name}:{number} is no case, or its name is taken"
                raise ValueError(message)
            cases[case["id"]] = case | {"file": path.name}
    return list(cases.values())


def load_trees() -> dict[str, Any]:
    """Return the trees that several cases share, by their names."""
    trees: dict[str, Any] = json.loads((HERE / "trees.json").read_text(encoding="utf-8"))
    return trees


def run(cases: Sequence[dict[str, Any]], start: Start) -> Iterator[Result]:
    """Run *cases* one after another.  Those with the same shared tree and the same start share a process: one must not change what the next gets."""
    trees = load_trees()
    for group in _groups(cases):
        yield from _run_group(group, start, trees)


def _groups(cases: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for case in cases:
        alone = not isinstance(case.get("tree"), str) or any("change" in turn for turn in case["turns"])
        key = case["id"] if alone else json.dumps([case["tree"], case.get("start", {})], sort_keys=True)
        groups.setdefault(key, []).append(case)
    yield from groups.values()


def _run_group(cases: list[dict[str, Any]], start: Start, trees: dict[str, Any]) -> Iterator[Result]:
    first = cases[0]
    tree = first.get("tree", {})
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        root = Path(scratch).resolve() / "outer" / "root"
        try:
            build(root, trees[tree] if isinstance(tree, str) else tree)
            if "case-sensitive" in first.get("needs", ()) and not has_case_sensitive_names(root.parent):
                yield from (Result(case, skipped="names differ in more than case here") for case in cases)
                return
        except SkipError as error:
            yield from (Result(case, skipped=str(error)) for case in cases)
            return
        left = list(cases)
        while left:
            # A program that broke down gets a new start, so that one case does not fail all behind it.
            yield from _run_until_broken(left, start, root)


def _run_until_broken(left: list[dict[str, Any]], start: Start, root: Path) -> Iterator[Result]:
    server = start(left[0].get("start", {}), root)
    results: list[Result] = []
    try:
        while left and not any(result.broken for result in results):
            yield from results
            results = [_run_one(left.pop(0), server, root)]
    finally:
        ending = server.close()
    # How it ended is told with the last case: nobody else would hear of it.
    yield from (result._replace(problems=(*result.problems, *([ending] if ending else []))) for result in results)


def _run_one(case: dict[str, Any], server: Server, root: Path) -> Result:
    try:
        return Result(case, tuple(_run_case(case, server, root)))
    except BrokenServerError as error:
        return Result(case, (str(error),), broken=True)


def _run_case(case: dict[str, Any], server: Server, root: Path) -> Iterator[str]:
    answers: list[dict[str, Any]] = []
    lines = []
    for number, turn in enumerate(case["turns"]):
        if "change" in turn:
            build(root, turn["change"])
        request, line = _request(turn, answers)
        if case.get("burst"):
            lines.append(line)
            if number + 1 < len(case["turns"]):
                continue
            server.write(b"".join(lines))
            for one in case["turns"]:
                answer = _read(server)
                answers.append(answer)
                yield from _named(len(answers) - 1, _check(one, answer, answers, _request(one, [])[0], case, root))
            return
        server.write(line)
        answer = _read(server)
        yield from _named(number, _check(turn, answer, answers, request, case, root))
        answers.append(answer)
        if request is not None and "refs" in answer:
            yield from _named(number, _follow_up(request, answer, server))


def _named(number: int, problems: Iterator[str]) -> Iterator[str]:
    yield from (f"turn {number}: {problem}" for problem in problems)


def _request(turn: dict[str, Any], answers: list[dict[str, Any]]) -> tuple[dict[str, Any] | None, bytes]:
    """Return the request of *turn* and its line; no request where the case says what the line is."""
    if "line" in turn:
        line = turn["line"]
        data = bytes.fromhex(line["hex"]) if isinstance(line, dict) and "hex" in line else text_of(line).encode()
        return None, data + b"\n"
    request = dict(turn["send"])
    for name in ("message", "prompt"):
        if isinstance(request.get(name), dict | list):
            request[name] = text_of(request[name], answers, name)
    return request, json.dumps(request).encode() + b"\n"


def _read(server: Server) -> dict[str, Any]:
    line = server.read()
    if not line:
        message = "it ended without an answer"
        raise BrokenServerError(message)
    if not laws.is_ascii_line(line):
        message = f"an answer is one line of printable ASCII, not {line[:200]!r}"
        raise BrokenServerError(message)
    try:
        answer = json.loads(line)
    except ValueError as error:
        message = f"an answer is JSON, not {line[:200]!r}"
        raise BrokenServerError(message) from error
    if not isinstance(answer, dict) or ("error" in answer) == ("refs" in answer):
        message = f"an answer is an object with either `refs` or `error`, not {line[:200]!r}"
        raise BrokenServerError(message)
    return answer


def _check(
    turn: dict[str, Any], answer: dict[str, Any], answers: list[dict[str, Any]], request: dict[str, Any] | None, case: dict[str, Any], root: Path
) -> Iterator[str]:
    yield from checking.check(turn.get("expect", {}), answer, answers, (request or {}).get("prompt") or "")
    if "error" in answer:
        yield from _check_error(answer)
    elif request is not None:
        yield from laws.check(answer, request, folder=str(root.parent.parent), total=_total(case, request))


def _check_error(answer: dict[str, Any]) -> Iterator[str]:
    error = answer["error"]
    if set(answer) - {"version", "error", "id"} or answer.get("version") != 1:
        yield f"an error has `version` 1, `error` and perhaps `id`, not {', '.join(answer)}"
    if set(error) != {"code", "message"} or not error["message"] or len(error["message"]) > 300:
        yield f"`error` has a `code` and a `message` of at most 300 characters, not {error}"


def _total(case: dict[str, Any], request: dict[str, Any]) -> int | None:
    """Return the bytes that a turn is allowed: what the start says, or less if the request asks for less."""
    allowed = case.get("start", {}).get("limits", {}).get("total_bytes", laws.DEFAULT_TOTAL)
    wanted = ((request.get("options") or {}).get("limits") or {}).get("total_bytes")
    return allowed if wanted is None else wanted if allowed is None else min(allowed, wanted)


def _follow_up(request: dict[str, Any], answer: dict[str, Any], server: Server) -> Iterator[str]:
    """Ask for what follows from an answer: the same again, and the prompt without its section."""
    server.write(json.dumps(request).encode() + b"\n")
    if _read(server) != answer:
        yield "the same request gets the same answer as long as nothing changed"
    if answer["section"]:
        server.write(json.dumps({"message": "", "prompt": answer["prompt"]}).encode() + b"\n")
        restored = _read(server)
        base = answer["prompt"][: len(answer["prompt"]) - len(answer["section"])]
        base = base.removesuffix("\n\n")
        if (restored["prompt"], restored["section"], restored["refs"]) != (base, "", []):
            yield f"a message without a reference gives the prompt without its section: {base[-80:]!r}, not {restored['prompt'][-80:]!r}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code."""
    options = _parser().parse_args(arguments)
    command = shlex.split(options.command)
    try:
        cases = load(options.files or sorted(HERE.glob("*.jsonl")))
        wanted = [case for case in cases if not options.only or case["id"] in options.only]
        if not wanted:
            return _fail("there is no such case")
        results = list(_report(run(wanted, lambda start, root: Process(command, start, root, timeout=options.timeout)), as_json=options.json))
    except (OSError, ValueError) as error:
        return _fail(str(error))
    failed, skipped = sum(bool(result.problems) for result in results), sum(bool(result.skipped) for result in results)
    sys.stdout.write(f"{len(results) - failed - skipped} passed, {failed} failed, {skipped} skipped\n")
    return FAILED if failed or (options.strict and skipped) else PASSED


def _report(results: Iterator[Result], *, as_json: bool) -> Iterator[Result]:
    for result in results:
        if as_json:
            state = "failed" if result.problems else "skipped" if result.skipped else "passed"
            row = {"id": result.case["id"], "file": result.case["file"], "state": state, "problems": result.problems, "skipped": result.skipped}
            sys.stdout.write(json.dumps(row) + "\n")
        elif result.problems or result.skipped:
            sys.stdout.write(f"{'FAILED' if result.problems else 'skipped'} {result.case['id']} ({result.case['file']}): {result.case['says']}\n")
            sys.stdout.writelines(f"    {line}\n" for line in (result.problems or (result.skipped,)))
        sys.stdout.flush()
        yield result


def _fail(problem: str) -> int:
    sys.stderr.write(f"error: {problem}\n")
    return UNUSABLE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m tests.conformance.run", description="Drive a program through the cases of this folder.")
    parser.add_argument("files", metavar="FILE", type=Path, nargs="*", help="cases, one a line (default: all beside this program)")
    parser.add_argument("--command", required=True, help="what starts the program; `--root FOLDER` and more is added to it")
    parser.add_argument("--only", metavar="ID", action="append", help="this case; may be repeated")
    parser.add_argument("--json", action="store_true", help="one JSON object for each case")
    parser.add_argument("--strict", action="store_true", help="a case that is skipped has failed")
    parser.add_argument("--timeout", type=float, default=20, metavar="SECONDS", help="for one answer (default: 20)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
