r"""`filerefs serve`: JSON Lines on standard input and output, so that an agent in any language can use the library.

One request a line, one answer a line, in the same order; each answer is flushed at once.

    request   {"message": str, "prompt"?: str, "id"?: str | int, "version"?: 1,
               "options"?: {"limits"?: {name: int}, "code"?: "inert" | "load", "lenient"?: bool}}
    answer    what `Turn.as_dict()` gives, with the "id" of the request if it had one
    error     {"version": 1, "error": {"code": str, "message": str}}, with the "id" if one could be read

The codes are `too_long` (a line over 16 MiB), `not_json`, `not_an_object`, `unsupported_version` (another one than is
spoken here) and `bad_request` (a field that is missing, unknown or of the wrong type).  The loop goes on behind every
error; null says as much as leaving a field out.  Which folder is served, whether links are followed and which secrets
are open is said at the start and by nobody else.  A request may lower a limit; one that asks for more than the start
allowed gets what the start allowed.  A line that is not UTF-8 is read with U+FFFD for what is not; answers are ASCII,
and a lone surrogate in them becomes U+FFFD.  All of it, for implementers: docs/protocol.md.
"""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, Self, TypeVar, cast

from filerefs.errors import FilerefsError, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from filerefs import Preprocessor
    from filerefs.limits import Limits

LINE_BYTES = 16 * 1024 * 1024
VERSION = 1

_CHUNK_BYTES = 64 * 1024
_PROBLEM_LENGTH = 300
_JSON_WORDS = {"None": "null", "True": "true", "False": "false"}
_PYTHON_WORDS = re.compile(rf"\b(?:{'|'.join(_JSON_WORDS)})\b")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_FIELDS = ("message", "prompt", "id", "version", "options")
_OPTIONS = ("limits", "code", "lenient")
# Not all that `Limits` has: what the protocol does not hand over, no request can limit.
_LIMITS = ("file_bytes", "total_bytes", "refs", "directory_entries")
_SAID_AT_THE_START = ("root", "symlinks", "allow")
_KINDS: dict[type, str] = {str: "a string", dict: "an object", bool: "true or false"}

_Value = TypeVar("_Value", str, bool, "dict[str, Any]")


class RequestError(FilerefsError):
    """A line is no request.  `code` tells programs why."""

    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.code = code


class Server:
    """
    Answers requests about the files of one root.  A context manager, which closes what it made.

    Args:
        make: Returns a preprocessor for a `code` and a `lenient`; called once for each pair that a request wants.
        limits: What no request gets beyond.
        code: What a request gets that does not say.
        lenient: The same.
    """

    def __init__(self, make: Callable[[str, bool], Preprocessor], limits: Limits, *, code: str, lenient: bool) -> None:
        self._make = make
        self._limits = limits
        self._code = code
        self._lenient = lenient
        self._made: dict[tuple[str, bool], Preprocessor] = {}
        self._closing = ExitStack()
        self._preprocessor(code, lenient=lenient)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def run(self, requests: BinaryIO, answers: BinaryIO) -> None:
        """Answer line after line until *requests* ends.  Raises OSError if an answer cannot be written."""
        for line in read_lines(requests):
            answers.write(to_json(self.answer(line)).encode("ascii") + b"\n")
            answers.flush()

    def answer(self, line: bytes | None) -> dict[str, Any]:
        """Return the answer to one line, or to one that was too long (None)."""
        identity: dict[str, Any] = {}
        try:
            request = _read_object(line)
            identity = _read_identity(request)
            return self._answer(request) | identity
        except FilerefsError as error:
            code = error.code if isinstance(error, RequestError) else "bad_request"
            return {"version": VERSION, "error": {"code": code, "message": _explain(error)[:_PROBLEM_LENGTH]}} | identity

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        _check_version(request)
        _refuse_unknown(request, _FIELDS)
        if request.get("message") is None:
            _refuse("`message` is missing")
        message = _take(request, "message", str, "")
        prompt = _take(request, "prompt", str, "")
        options = _take(request, "options", dict, {})
        _refuse_unknown(options, _OPTIONS)
        preprocessor = self._preprocessor(_take(options, "code", str, self._code), lenient=_take(options, "lenient", bool, self._lenient))
        wanted = _take(options, "limits", dict, {})
        _refuse_unknown(wanted, _LIMITS)
        # What is not mentioned is the start's limit, not the library's default; what is higher, the preprocessor lowers.
        limits = replace(self._limits, **wanted)
        return preprocessor.preprocess(message, prompt=prompt, limits=limits).as_dict()

    def _preprocessor(self, code: str, *, lenient: bool) -> Preprocessor:
        if (code, lenient) not in self._made:
            self._made[code, lenient] = self._closing.enter_context(self._make(code, lenient))
        return self._made[code, lenient]


def read_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines of *stream*; None for one of more than `LINE_BYTES`, which is skipped piece by piece."""
    while line := stream.readline(LINE_BYTES + 1):
        if len(line) <= LINE_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(_CHUNK_BYTES)
        yield None


def to_json(value: object) -> str:
    """Return *value* as one line of ASCII that every reader of JSON takes: no lone surrogate, no raw control character."""
    line = json.dumps(value)
    if "\\ud" in line:
        line = json.dumps(_without_surrogates(value))
    return line.replace("\x7f", "\\u007f")


def _explain(error: FilerefsError) -> str:
    """Return what is wrong in the words of JSON: whoever wrote the request need not know Python's."""
    if not isinstance(error, OptionError):
        return str(error)
    expected = _PYTHON_WORDS.sub(lambda word: _JSON_WORDS[word[0]], error.expected)
    value = error.value
    given = "an array" if isinstance(value, list) else "an object" if isinstance(value, dict) else json.dumps(value, ensure_ascii=False)
    return f"`{error.option}` must be {expected}, not {given}"


def _without_surrogates(value: object) -> object:
    match value:
        case str():
            return _LONE_SURROGATE.sub("\ufffd", value)
        case dict():
            items = cast("dict[object, object]", value).items()
            return {_without_surrogates(name): _without_surrogates(item) for name, item in items}
        case list() | tuple():
            return [_without_surrogates(item) for item in cast("Iterable[object]", value)]
        case _:
            return value


def _read_object(line: bytes | None) -> dict[str, Any]:
    if line is None:
        raise RequestError("too_long", f"a line may have {LINE_BYTES} bytes")
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise RequestError("not_json", f"the line is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise RequestError("not_an_object", "the line is JSON, but no object")
    return cast("dict[str, Any]", value)


def _read_identity(request: dict[str, Any]) -> dict[str, Any]:
    identity = request.get("id")
    if identity is None:
        return {}
    if isinstance(identity, bool) or not isinstance(identity, str | int):
        _refuse("`id` must be a string or a whole number")
    return {"id": identity}


def _check_version(request: dict[str, Any]) -> None:
    """Refuse another version before anything else: what a field of it means is not known here."""
    version = request.get("version")
    if version is None:
        return
    if isinstance(version, bool) or not isinstance(version, int):
        _refuse("`version` must be a whole number")
    if version != VERSION:
        raise RequestError("unsupported_version", f"version {VERSION} is spoken here, not {str(version)[:20]}")


def _take(given: dict[str, Any], name: str, kind: type[_Value], default: _Value) -> _Value:
    value = given.get(name)
    if value is None:
        return default
    if not isinstance(value, kind):
        _refuse(f"`{name}` must be {_KINDS[kind]}")
    return value


def _refuse_unknown(given: dict[str, Any], known: Collection[str]) -> None:
    for name in given:
        if name in _SAID_AT_THE_START:
            _refuse(f"`{name}` is an option of the command line, not of a request")
        if name not in known:
            _refuse(f"unknown field {json.dumps(name, ensure_ascii=False)}; known here: {', '.join(known)}")


def _refuse(problem: str) -> NoReturn:
    raise RequestError("bad_request", problem)
