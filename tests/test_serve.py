"""`filerefs serve`: JSON Lines, one answer for each line, whatever the line is."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import filerefs
from filerefs import Limits, Preprocessor
from filerefs.serve import LINE_BYTES, Server, read_lines, to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Tree


@pytest.fixture
def folder(tree: Tree) -> Path:
    """Return a small project."""
    return tree({"a.py": "print(1)\n", "b.txt": "x" * 500 + "\n", "my file.txt": "blank\n", ".env": "KEY=1\n"})


def _server(folder: Path, **limits: int | None) -> Server:
    allowed = Limits(**limits)

    def make(code: Any, lenient: bool) -> Preprocessor:  # noqa: FBT001
        return Preprocessor(folder, limits=allowed, code=code, lenient=lenient)

    return Server(make, allowed, code="inert", lenient=True)


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    """Return a server of `folder` with the default limits."""
    with _server(folder) as server:
        yield server


def _ask(server: Server, lines: bytes) -> list[dict[str, Any]]:
    """Return the answers to *lines*, each of which was one line of ASCII."""
    answers = io.BytesIO()
    server.run(io.BytesIO(lines), answers)
    assert answers.getvalue().isascii()
    assert answers.getvalue().endswith(b"\n") or not lines
    return [json.loads(line) for line in answers.getvalue().split(b"\n")[:-1]]


def _one(server: Server, request: dict[str, Any]) -> dict[str, Any]:
    (answer,) = _ask(server, json.dumps(request).encode() + b"\n")
    return answer


def test_an_answer_is_the_turn(server: Server, folder: Path) -> None:
    """The answer to a message is `Turn.as_dict()`, byte for byte what `expand --json` prints."""
    answer = _one(server, {"message": "see @a.py", "prompt": "Be brief."})

    assert filerefs.preprocess("see @a.py", "Be brief.", folder).as_dict() == answer


def test_answers_keep_the_order(server: Server) -> None:
    """Each line gets one answer, in order, with the id of its request and none where it had none."""
    lines = b'{"message": "one", "id": 1}\n{"message": "two", "id": "b"}\nnonsense\n{"message": "three"}\n{"message": "four", "id": null}'

    answers = _ask(server, lines)

    assert [("one", 1), ("two", "b"), (None, None), ("three", None), ("four", None)] == [(a.get("message"), a.get("id")) for a in answers]
    assert ["id" in answer for answer in answers] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(b"", "not_json", id="nothing"),
        pytest.param(b"   ", "not_json", id="blanks"),
        pytest.param(b"hello @a.py", "not_json", id="no JSON"),
        pytest.param(b'{"message": "x"', "not_json", id="cut off"),
        pytest.param(b'{"message": "x"} {"message": "y"}', "not_json", id="two requests"),
        pytest.param(b'{"message": "a\tb"}', "not_json", id="a raw control character"),
        pytest.param(b"[" * 100_000, "not_json", id="too deep"),
        pytest.param(b'{"id": ' + b"1" * 5000 + b"}", "not_json", id="too long a number"),
        pytest.param(b'["message"]', "not_an_object", id="an array"),
        pytest.param(b'"message"', "not_an_object", id="a string"),
        pytest.param(b"null", "not_an_object", id="null"),
        pytest.param(b"{}", "bad_request", id="no message"),
        pytest.param(b'{"message": null}', "bad_request", id="a message of null"),
        pytest.param(b'{"message": 1}', "bad_request", id="a message that is a number"),
        pytest.param(b'{"message": ["x"]}', "bad_request", id="a message that is an array"),
        pytest.param(b'{"message": "x", "prompt": {}}', "bad_request", id="a prompt that is an object"),
        pytest.param(b'{"message": "x", "options": []}', "bad_request", id="options that are an array"),
        pytest.param(b'{"message": "x", "massage": "y"}', "bad_request", id="an unknown field"),
        pytest.param(b'{"message": "x", "options": {"file_bytes": 1}}', "bad_request", id="an unknown option"),
        pytest.param(b'{"message": "x", "options": {"limits": 5}}', "bad_request", id="limits that are a number"),
        pytest.param(b'{"message": "x", "options": {"limits": {"files": 5}}}', "bad_request", id="an unknown limit"),
        pytest.param(b'{"message": "x", "options": {"limits": {"media_bytes": 5}}}', "bad_request", id="a limit of what is not handed over"),
        pytest.param(b'{"message": "x", "options": {"limits": {"refs": -1}}}', "bad_request", id="a negative limit"),
        pytest.param(b'{"message": "x", "options": {"limits": {"refs": 1.5}}}', "bad_request", id="a limit that is no whole number"),
        pytest.param(b'{"message": "x", "options": {"limits": {"refs": true}}}', "bad_request", id="a limit that is true"),
        pytest.param(b'{"message": "x", "options": {"limits": {"refs": NaN}}}', "bad_request", id="a limit that is not a number"),
        pytest.param(b'{"message": "x", "options": {"code": "run"}}', "bad_request", id="an unknown policy for code"),
        pytest.param(b'{"message": "x", "options": {"code": 1}}', "bad_request", id="a policy for code that is a number"),
        pytest.param(b'{"message": "x", "options": {"lenient": "no"}}', "bad_request", id="a string where true or false is due"),
        pytest.param(b'{"message": "x", "options": {"lenient": 0}}', "bad_request", id="a number where true or false is due"),
        pytest.param(b'{"message": "x", "root": "/"}', "bad_request", id="a root in a request"),
        pytest.param(b'{"message": "x", "options": {"root": "/"}}', "bad_request", id="a root in the options of a request"),
        pytest.param(b'{"message": "@.env", "options": {"allow": [".env"]}}', "bad_request", id="an allowance in a request"),
        pytest.param(b'{"message": "x", "options": {"symlinks": "inside"}}', "bad_request", id="a policy for links in a request"),
        pytest.param(b'{"message": "x", "id": [1]}', "bad_request", id="an id that is an array"),
        pytest.param(b'{"message": "x", "id": 1e999}', "bad_request", id="an id that is no whole number"),
        pytest.param(b'{"message": "x", "id": true}', "bad_request", id="an id that is true"),
        pytest.param(b'{"message": "x", "version": 2}', "unsupported_version", id="a later version"),
        pytest.param(b'{"message": ["x"], "version": 0, "new": 1}', "unsupported_version", id="a version whose fields are unknown"),
        pytest.param(b'{"message": "x", "version": 1' + b"0" * 4000 + b"}", "unsupported_version", id="a version of 4,000 digits"),
        pytest.param(b'{"message": "x", "version": "1"}', "bad_request", id="a version that is a string"),
        pytest.param(b'{"message": "x", "version": true}', "bad_request", id="a version that is true"),
    ],
)
def test_error_objects(line: bytes, code: str, server: Server) -> None:
    """A line that is no request gets an error object that says why, and the next line is answered."""
    wrong, right = _ask(server, line + b'\n{"message": "next"}\n')

    assert {"version": 1, "error": {"code": code, "message": wrong["error"]["message"]}} == wrong
    assert 10 < len(wrong["error"]["message"]) <= 300
    assert "next" == right["message"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        pytest.param({"limits": {"refs": -1}}, "`refs` must be a number of at least 0, or null, not -1", id="a negative limit"),
        pytest.param({"limits": {"refs": True}}, "`refs` must be a number of at least 0, or null, not true", id="a limit that is true"),
        pytest.param({"limits": {"file_bytes": "5"}}, '`file_bytes` must be a number of at least 0, or null, not "5"', id="a limit that is a string"),
        pytest.param({"limits": {"refs": [None]}}, "`refs` must be a number of at least 0, or null, not an array", id="a limit that is an array"),
        pytest.param({"limits": {"refs": {"a": 1}}}, "`refs` must be a number of at least 0, or null, not an object", id="a limit that is an object"),
        pytest.param({"code": "run"}, '`code` must be "inert" or "load", not "run"', id="a policy"),
        pytest.param({"lenient": 0}, "`lenient` must be true or false", id="a number where true or false is due"),
        pytest.param({"lenient'": 0}, 'unknown field "lenient\'"; known here: limits, code, lenient', id="an unknown option"),
    ],
)
def test_error_objects_are_in_the_words_of_json(options: dict[str, object], sentence: str, server: Server) -> None:
    """Whoever writes requests in another language is told of null, true and false, and of no value of Python's."""
    assert sentence == _one(server, {"message": "x", "options": options})["error"]["message"]


def test_error_objects_carry_the_id(server: Server) -> None:
    """An error names the request that it is about wherever its id could be read."""
    answer = _one(server, {"message": 1, "id": "seven"})

    assert "seven" == answer["id"]
    assert "bad_request" == answer["error"]["code"]


def test_a_version_can_be_asked_for(server: Server) -> None:
    """A client that says which version it speaks gets that version, or an error with the id of its request."""
    right, wrong = _one(server, {"message": "see @a.py", "version": 1}), _one(server, {"message": "x", "version": 2, "id": 5})

    assert _one(server, {"message": "see @a.py"}) == right
    assert ("unsupported_version", 5) == (wrong["error"]["code"], wrong["id"])


def test_null_is_as_good_as_nothing(server: Server) -> None:
    """A client that writes null for what it does not say is understood."""
    options = {"limits": {"refs": None}, "code": None, "lenient": None}
    request = {"message": "see @a.py", "prompt": None, "version": None, "options": options}

    assert _one(server, {"message": "see @a.py"}) == _one(server, request) == _one(server, {"message": "see @a.py", "options": None})


@pytest.mark.parametrize(
    ("message", "options", "attached"),
    [
        pytest.param("`@a.py`", {}, [], id="code spans are inert"),
        pytest.param("`@a.py`", {"code": "load"}, ["a.py"], id="code spans are read"),
        pytest.param("@my file.txt", {}, ["my file.txt"], id="lenient"),
        pytest.param("@my file.txt", {"lenient": False}, [], id="not lenient"),
        pytest.param("@a.py @b.txt", {"limits": {"refs": 1}}, ["a.py"], id="fewer references"),
        pytest.param("@a.py @b.txt", {"limits": {"total_bytes": 100}}, ["a.py"], id="a smaller total"),
    ],
)
def test_options_of_a_request(message: str, options: dict[str, Any], attached: list[str], server: Server) -> None:
    """Each request has its own options, which the next one does not inherit."""
    answer = _one(server, {"message": message, "options": options})

    assert attached == [row["path"] for row in answer["refs"] if row["status"] == "attached"]
    assert ["a.py"] == [row["path"] for row in _one(server, {"message": "@a.py"})["refs"]]


@pytest.mark.parametrize(
    ("allowed", "wanted", "given"),
    [
        pytest.param(100, 10, 10, id="lower"),
        pytest.param(100, 1000, 100, id="higher is not given"),
        pytest.param(100, None, 100, id="no limit is not given"),
        pytest.param(None, 300, 300, id="any limit is lower than none"),
        pytest.param(None, None, 501, id="none below none"),
        pytest.param(0, 5, 0, id="nothing stays nothing"),
    ],
)
def test_a_limit_is_only_lowered(allowed: int | None, wanted: int | None, given: int | None, folder: Path) -> None:
    """A request gets the smaller one of what it wants and what the start allowed; null says nothing."""
    with _server(folder, file_bytes=allowed) as server:
        (row,) = _one(server, {"message": "@b.txt", "options": {"limits": {"file_bytes": wanted}}})["refs"]

    assert given == row["shown"]


def test_a_limit_that_is_not_mentioned_is_that_of_the_start(folder: Path) -> None:
    """A request about one limit leaves the others as the start set them, be they above the library's defaults."""
    (folder / "large.txt").write_text("line\n" * 60_000, encoding="utf-8")
    with _server(folder, file_bytes=None) as server:
        (row,) = _one(server, {"message": "@large.txt", "options": {"limits": {"refs": 5}}})["refs"]

    assert 300_000 == row["shown"]


def test_bytes_that_are_no_text(server: Server) -> None:
    """A line that is not UTF-8 is read with U+FFFD in place of what is not."""
    (answer,) = _ask(server, b'{"message": "caf\xe9 \xff @a.py"}\n')

    assert "caf\ufffd \ufffd @a.py" == answer["original"]
    assert ["a.py"] == [row["path"] for row in answer["refs"]]


def test_lone_surrogates_are_replaced(server: Server) -> None:
    """What JSON can say and UTF-8 cannot goes out as U+FFFD; pairs stay characters; positions stay right."""
    (answer,) = _ask(server, rb'{"message": "\ud83d\ude00 \ud83d \udcff @a.py", "prompt": "\ud800"}' + b"\n")

    assert "😀 \ufffd \ufffd @a.py" == answer["original"]
    assert answer["prompt"].startswith("\ufffd")
    assert [[6, 11]] == answer["refs"][0]["spans"]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        pytest.param({"a": "é\u2028\x1b"}, '{"a": "\\u00e9\\u2028\\u001b"}', id="escapes"),
        pytest.param(["\x7f"], '["\\u007f"]', id="DEL is a control character, too"),
        pytest.param({"\ud800": ("\udfff", 1, None, True)}, '{"\\ufffd": ["\\ufffd", 1, null, true]}', id="lone surrogates, in names as well"),
        pytest.param("\\ud800", '"\\\\ud800"', id="text that looks like an escape"),
    ],
)
def test_to_json(value: object, line: str) -> None:
    """JSON goes out as one line of printable ASCII."""
    assert line == to_json(value)


def test_a_file_that_changes_is_read_again(server: Server, folder: Path) -> None:
    """What is kept between requests never hides a change."""
    _one(server, {"message": "@a.py"})
    (folder / "a.py").write_text("print(2)\n", encoding="utf-8")

    assert "print(2)" in _one(server, {"message": "@a.py"})["section"]


@pytest.mark.parametrize(
    ("length", "code"), [pytest.param(LINE_BYTES, None, id="the longest line"), pytest.param(LINE_BYTES + 1, "too_long", id="one byte more")]
)
@pytest.mark.parametrize("end", [b"\n", b""], ids=["", "without a line end"])
def test_lines_of_sixteen_mebibytes(length: int, code: str | None, end: bytes, server: Server) -> None:
    """A line may have 16 MiB; a longer one is an error, and the loop goes on behind it."""
    start = b'{"message": "'
    line = start + b"a" * (length - len(start) - 2) + b'"}'

    first, *rest = _ask(server, line + end + (b'{"message": "next"}\n' if end else b""))

    assert length == len(line)
    assert code == first.get("error", {}).get("code")
    assert ["next"] * len(end) == [answer["message"] for answer in rest]


class _Endless(io.RawIOBase):
    """A line of *size* bytes that nobody has to keep, and a short one behind it."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.tail = b"\nshort\n"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if self.left:
            amount = min(self.left, len(buffer))
            buffer[:amount] = b"a" * amount
            self.left -= amount
            return amount
        piece, self.tail = self.tail, b""
        buffer[: len(piece)] = piece
        return len(piece)


def test_an_endless_line_is_never_kept() -> None:
    """A line of 200 MB costs the memory of the longest one that is allowed, and is skipped."""
    tracemalloc.start()
    try:
        lines = list(read_lines(io.BufferedReader(_Endless(200_000_000))))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert [None, b"short\n"] == lines
    assert peak < 4 * LINE_BYTES


def _random_lines(count: int) -> list[bytes]:
    """Return *count* lines without line ends: requests, requests gone wrong, and noise; always the same ones."""
    chance = random.Random(2)
    words = [
        "@a.py",
        "@b.txt:3-9",
        '@"my file.txt"',
        "@.env",
        "@../x",
        "@/etc/passwd",
        "`@a.py`",
        "@nowhere.py",
        "查看@a.py",
        "\ud800",
        "\x00",
        "@" * 50,
        "hello",
    ]
    values: list[Any] = [None, True, 0, -1, 1.5, "", "x", [], {}, {"refs": 1}, {"limits": {"refs": 2}}, {"code": "load"}, 10**30]

    def request() -> bytes:
        fields: dict[str, Any] = {"message": " ".join(chance.choices(words, k=chance.randrange(6)))}
        for name in chance.sample(["prompt", "options", "id", "message", "root", "x"], chance.randrange(4)):
            fields[name] = chance.choice(values)
        return json.dumps(fields).encode()

    def damaged() -> bytes:
        line = bytearray(request())
        for _ in range(chance.randrange(1, 4)):
            line[chance.randrange(len(line))] = chance.choice(b'{}[]",:\\\x00\xff\xc3 a0')
        return bytes(line)[: chance.randrange(1, len(line) + 1)]

    def noise() -> bytes:
        return chance.randbytes(chance.randrange(80)).replace(b"\n", b"")

    return [chance.choice([request, damaged, noise])() for _ in range(count)]


def test_a_thousand_lines_of_every_kind(folder: Path) -> None:
    """Each of 1,000 requests, broken requests and random lines gets one answer, in a process that stays alive."""
    lines = _random_lines(1000)
    script = [sys.executable, "-m", "filerefs", "serve", "--root", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(Path(filerefs.__file__).parents[1]), "PYTHONWARNDEFAULTENCODING": ""}

    finished = subprocess.run(script, input=b"".join(line + b"\n" for line in lines), capture_output=True, check=False, env=environment)

    answers = [json.loads(line) for line in finished.stdout.split(b"\n")[:-1]]
    codes = {answer["error"]["code"] if "error" in answer else "turn" for answer in answers}
    assert (0, b"") == (finished.returncode, finished.stderr)
    assert finished.stdout.isascii()
    assert len(lines) == len(answers)
    assert {"turn", "not_json", "not_an_object", "bad_request"} >= codes >= {"turn", "not_json", "bad_request"}
    assert not [answer for answer in answers if "KEY=1" in json.dumps(answer) or str(folder) in json.dumps(answer)]


def test_each_answer_comes_at_once(folder: Path) -> None:
    """A client can wait for an answer before it sends the next request; the end of its requests is the end of the program."""
    environment = os.environ | {"PYTHONPATH": str(Path(filerefs.__file__).parents[1]), "PYTHONWARNDEFAULTENCODING": ""}
    with subprocess.Popen([sys.executable, "-m", "filerefs", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        seen = []
        for message in ("see @a.py", "and @b.txt", "hello"):
            process.stdin.write(json.dumps({"message": message}).encode() + b"\n")
            process.stdin.flush()
            seen.append(len(json.loads(process.stdout.readline())["refs"]))
        process.stdin.close()
        rest = process.stdout.read()

    assert ([1, 1, 0], b"", 0) == (seen, rest, process.returncode)


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
REQUESTS = st.fixed_dictionaries(
    {},
    optional={
        "message": st.text() | st.sampled_from(["@a.py", "@b.txt:2 @.env"]) | JSON,
        "prompt": st.text() | JSON,
        "id": JSON,
        "options": st.fixed_dictionaries({}, optional={"limits": st.dictionaries(st.sampled_from(["refs", "file_bytes", "x"]), JSON), "code": JSON}),
    },
)


@given(line=st.binary() | (REQUESTS | JSON).map(lambda value: json.dumps(value).encode()))
def test_every_line_gets_an_answer(line: bytes, server: Server) -> None:
    """No line raises; each answer is a JSON object with a version, in ASCII."""
    answer = json.loads(to_json(server.answer(line)))

    assert 1 == answer["version"]
    assert ("error" in answer) != ("refs" in answer)
