"""What holds for every answer, whatever a case expects: checked on all of them, by the text of the protocol alone."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGIN = "<!-- filerefs:begin -->\n"
END = re.compile(r"\n<!-- filerefs:end v1 sep=([02]) chars=(0|[1-9][0-9]*) sha256=([0-9a-f]{32}) -->\Z")
KEYS = ("version", "message", "original", "prompt", "section", "warnings", "notices", "refs")
REFERENCE_KEYS = (
    *("token", "path", "spans", "status", "summary", "notes", "kind", "lines", "size", "shown", "truncated", "encoding", "lossy", "language"),
    *("reason", "detail", "hint"),
)
REASONS = frozenset(
    (
        *("not_found", "outside_root", "absolute", "home", "symlink", "symlink_loop", "not_regular", "permission", "secret"),
        *("binary", "budget", "too_many", "ambiguous", "bad_name", "bad_range", "busy", "io_error"),
    )
)
DEFAULT_TOTAL = 1024 * 1024

_FENCE = re.compile(r"(`{3,}|~{3,})")
_RANGE = re.compile(r":[0-9]+(?:-(?:[0-9]+)?)?\Z")
_PRINTABLE = bytes(range(0x20, 0x7F))
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def check(answer: dict[str, Any], request: dict[str, Any], *, folder: str, total: int | None = DEFAULT_TOTAL) -> Iterator[str]:
    """
    Yield a sentence for each law that *answer* breaks.

    Args:
        answer: What came back for `request`.
        request: With the texts that were sent.
        folder: The path of the root on this machine, which nothing but the echo of a message may show.
        total: The bytes of contents that this turn was allowed; None for no limit.
    """
    if set(KEYS) - set(answer) or set(answer) - {*KEYS, "id"}:
        yield f"the fields of an answer are {', '.join(KEYS)}, not {', '.join(answer)}"
        return
    shapes = [*_shapes(answer)]
    yield from shapes
    if shapes:
        return
    yield from _spans(answer)
    yield from _message(answer, request)
    yield from _section(answer, request, total)
    yield from _said(answer, folder)


def _shapes(answer: dict[str, Any]) -> Iterator[str]:
    if answer["version"] != 1 or isinstance(answer["version"], bool):
        yield f"`version` is 1, not {answer['version']!r}"
    for name in ("message", "original", "prompt", "section"):
        if not isinstance(answer[name], str):
            yield f"`{name}` is a string"
    for name in ("warnings", "notices"):
        if not isinstance(answer[name], list) or not all(isinstance(line, str) for line in answer[name]):
            yield f"`{name}` is an array of strings"
    if not isinstance(answer["refs"], list):
        yield "`refs` is an array"
        return
    for number, entry in enumerate(answer["refs"]):
        if not isinstance(entry, dict) or set(entry) != set(REFERENCE_KEYS):
            yield f"refs[{number}] has the fields {', '.join(REFERENCE_KEYS)}, all of them"
        else:
            yield from (f"refs[{number}]: {problem}" for problem in _reference(entry))


def _reference(entry: dict[str, Any]) -> Iterator[str]:
    attached = ("kind", "size", "shown", "truncated", "lossy", "language")
    refused = ("reason", "detail", "hint")
    match entry["status"]:
        case "attached":
            missing, wrong = [name for name in attached if entry[name] is None], [name for name in refused if entry[name] is not None]
            if entry["kind"] not in ("file", "directory", "media"):
                yield f"no kind: {entry['kind']!r}"
        case "refused":
            missing, wrong = [name for name in refused if entry[name] is None], [name for name in (*attached, "lines", "encoding") if entry[name] is not None]
            if entry["reason"] not in REASONS:
                yield f"no reason: {entry['reason']!r}"
        case _:
            yield f"no status: {entry['status']!r}"
            return
    if missing or wrong:
        yield f"{entry['status']}: null must not be {missing}, must be {wrong}"
    if not isinstance(entry["summary"], str) or "\n" in entry["summary"] or not entry["summary"]:
        yield "`summary` is one line"
    ranges = entry["lines"]
    if ranges is not None and not all(isinstance(pair, list) and len(pair) == 2 and 1 <= pair[0] <= pair[1] for pair in ranges):
        yield f"`lines` is null or pairs [first, last], not {ranges!r}"
    elif ranges and any(before[1] >= after[0] for before, after in pairwise(ranges)):
        yield f"`lines` are in order and apart: {ranges!r}"


def _spans(answer: dict[str, Any]) -> Iterator[str]:
    text = answer["original"]
    spans = [tuple(span) for entry in answer["refs"] for span in entry["spans"]]
    if not all(len(span) == 2 and 0 <= span[0] < span[1] <= len(text) for span in spans):
        yield f"spans are [start, end] in code points of the message: {spans}"
        return
    in_order = sorted(spans)
    if any(before[1] > after[0] for before, after in pairwise(in_order)):
        yield f"spans are disjoint: {in_order}"
    for entry in answer["refs"]:
        start, end = entry["spans"][0]
        if text[start:end] != entry["token"]:
            yield f"the first span of {entry['path']!r} cuts {text[start:end]!r} and not its token {entry['token']!r}"
    firsts = [entry["spans"][0] for entry in answer["refs"] if entry["reason"] != "too_many"]
    if sorted(firsts) != firsts:
        yield f"references are in the order of their first mention: {firsts}"


def _message(answer: dict[str, Any], request: dict[str, Any]) -> Iterator[str]:
    text = _as_sent(request["message"])
    if answer["original"] != text:
        yield f"`original` is the message as it was sent, not {answer['original'][:80]!r}"
        return
    replaced = sorted((tuple(span), entry) for entry in answer["refs"] if entry["status"] == "attached" for span in entry["spans"])
    ends = [0, *(end for (_, end), _ in replaced)]
    starts = [*(start for (start, _), _ in replaced), len(text)]
    pieces = _between(answer["message"], [text[end:start] for end, start in zip(ends, starts, strict=True)])
    if pieces is None:
        yield "the message changes only where an attached reference stands"
        return
    for ((start, end), entry), piece in zip(replaced, pieces, strict=True):
        # One file may have several names: then each mention becomes the one that it has.
        names = {_RANGE.sub("", piece).rstrip("/"), piece.rstrip("/")}
        if entry["path"] not in names and not piece.startswith('"') and not any(name and name in text[start:end] for name in names):
            yield f"{text[start:end]!r} becomes the plain path, not {piece!r}"


def _between(text: str, kept: list[str]) -> list[str] | None:
    """Return what stands between *kept*, in order, where *text* is these and something between each two of them; else None."""
    if len(kept) == 1:
        return [] if text == kept[0] else None
    if not text.startswith(kept[0]) or not text.endswith(kept[-1]) or len(text) < len(kept[0]) + len(kept[-1]):
        return None
    pieces, position = [], len(kept[0])
    for piece in kept[1:-1]:
        found = text.find(piece, position)
        if found < 0:
            return None
        pieces.append(text[position:found])
        position = found + len(piece)
    end = len(text) - len(kept[-1])
    return [*pieces, text[position:end]] if position <= end else None


def _section(answer: dict[str, Any], request: dict[str, Any], total: int | None) -> Iterator[str]:
    section, prompt, count = answer["section"], answer["prompt"], len(answer["refs"])
    if not section:
        if count:
            yield "there is a section if there is a reference"
        return
    if not count:
        yield "there is no section without a reference"
    end = END.search(section)
    if end is None or not section.startswith(BEGIN):
        yield "a section begins with its begin line and ends with its end line"
        return
    body = section[len(BEGIN) : end.start()]
    flat = (body + "\n").replace("\r\n", "\n")[:-1]
    if (int(end[2]), end[3]) != (len(flat), hashlib.sha256(flat.encode()).hexdigest()[:32]):
        yield "the end line has the length of the body in code points and the beginning of its SHA-256"
    separators = int(end[1])
    if not prompt.endswith("\n" * separators + section):
        yield "the section stands at the end of the prompt, behind as many line feeds as its end line says"
    base = prompt[: len(prompt) - len(section) - separators]
    if separators != (2 if base else 0):
        yield "two line feeds stand before a section, and none in an empty prompt"
    if BEGIN not in (sent := _as_sent(request.get("prompt") or "")) and base != sent:
        yield "the prompt before the section is the prompt that was sent"
    if total is not None and len(section.encode()) > total + 1024 * count + 4096:
        yield f"a section of {len(section.encode())} bytes for {count} references and {total} bytes"
    yield from _outside_of_fences(body, count)


def _outside_of_fences(body: str, count: int) -> Iterator[str]:
    fence, labels = "", 0
    for line in body.split("\n"):
        match = _FENCE.match(line)
        if fence:
            fence = "" if match and match[1].startswith(fence) and not line[match.end() :].strip() else fence
        elif match:
            fence = match[1]
        else:
            labels += line.startswith("### ")
            if any(unicodedata.category(sign) in _HIDDEN for sign in line):
                yield f"a character that does not show itself stands outside of a fence: {line[:80]!r}"
    if fence:
        yield "a fence is not closed"
    if labels != count:
        yield f"{labels} labels for {count} references"


def _said(answer: dict[str, Any], folder: str) -> Iterator[str]:
    said = [*answer["warnings"], *answer["notices"], answer["section"]]
    said += [text for entry in answer["refs"] for text in (entry["summary"], entry["path"], *entry["notes"], entry["detail"] or "", entry["hint"] or "")]
    if folder and any(folder in text for text in said if folder not in answer["original"]):
        yield "a path of this machine is shown"
    if any("\n" in line for line in (*answer["warnings"], *answer["notices"])):
        yield "a warning is one line"
    for entry in answer["refs"]:
        if entry["status"] == "refused" and not any(line.startswith(entry["summary"]) for line in answer["warnings"]):
            yield f"no warning begins with the summary of what was refused: {entry['summary']!r}"
        if entry["hint"] and entry["hint"] in answer["section"]:
            yield "a hint is for the person and never in the section"


def classify(answer: dict[str, Any]) -> list[str]:
    """
    Return what each warning is about: the reason of a refusal, "attached" for a file that was attached, else "other".

    The words of warnings are an implementation's own; what a program can tell them apart by is this.
    """
    refused = {entry["summary"]: entry["reason"] for entry in answer["refs"] if entry["status"] == "refused"}
    attached = [entry["path"] for entry in answer["refs"] if entry["status"] == "attached"]
    kinds = []
    for line in answer["warnings"]:
        reasons = [reason for summary, reason in refused.items() if line.startswith(summary)]
        kinds.append(reasons[0] if reasons else "attached" if any(path in line for path in attached) else "other")
    return kinds


def is_ascii_line(line: bytes) -> bool:
    """Tell whether *line* is one line of ASCII without control characters, as every answer is."""
    return line.endswith(b"\n") and not line[:-1].translate(None, _PRINTABLE)


def _as_sent(text: str) -> str:
    # Pairs of surrogates are characters, as in every reader of JSON; alone they come back as U+FFFD.
    return re.sub("[\ud800-\udfff]", "\ufffd", json.loads(json.dumps(text)))
