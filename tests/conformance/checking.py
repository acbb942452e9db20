"""An answer against what a case expects of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .laws import classify
from .trees import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

EXPECTED = frozenset(("refs", "message", "prompt", "section", "shows", "same_section", "warnings", "notices", "unsaid", "error", "id"))


def check(expect: dict[str, Any], answer: dict[str, Any], answers: list[dict[str, Any]], sent: str) -> Iterator[str]:
    """
    Yield a sentence for each expectation that *answer* does not meet.

    Args:
        expect: The keys that docs/protocol.md describes.
        answer: What came back.
        answers: Those of the turns before, for expectations that refer to one.
        sent: The prompt that was sent.

    Raises:
        ValueError: If *expect* has a key that is none: a case that checks nothing must not pass.
    """
    if unknown := set(expect) - EXPECTED:
        message = f"no expectation: {', '.join(sorted(unknown))}"
        raise ValueError(message)
    if expect.get("id") != answer.get("id") or ("id" in expect) != ("id" in answer):
        yield f"the id is {expect.get('id')!r}, not {answer.get('id')!r}"
    code = answer["error"]["code"] if "error" in answer else None
    if code != expect.get("error"):
        yield f"the error is {expect.get('error')!r}, not {code!r}: {answer.get('error')}"
    if code is not None:
        return
    if "refs" in expect:
        yield from _references(expect["refs"], answer)
    if "message" in expect and text_of(expect["message"]) != answer["message"]:
        yield f"the message is {text_of(expect['message'])!r}, not {answer['message']!r}"
    if "prompt" in expect and (wanted := sent if expect["prompt"] == {"sent": True} else text_of(expect["prompt"])) != answer["prompt"]:
        yield f"the prompt is {wanted[:200]!r}, not {answer['prompt'][:200]!r}"
    yield from _section(expect, answer, answers)
    yield from _lines(expect, answer)


def _references(expected: list[Any], answer: dict[str, Any]) -> Iterator[str]:
    wanted = [{"path": entry} if isinstance(entry, str) else entry for entry in expected]
    if len(wanted) != len(answer["refs"]):
        yield f"{len(wanted)} references, not {len(answer['refs'])}: {[(entry['token'], entry['status'], entry['reason']) for entry in answer['refs']]}"
        return
    for number, (entry, given) in enumerate(zip(wanted, answer["refs"], strict=True)):
        tokens = [answer["original"][start:end] for start, end in given["spans"]]
        known = given | {"tokens": tokens}
        full = entry | {"status": "refused" if "reason" in entry else "attached"}
        for name, value in full.items():
            if name not in known:
                message = f"no field of a reference: {name}"
                raise ValueError(message)
            if known[name] not in (value if name in ("encoding", "reason") and isinstance(value, list) else [value]):
                yield f"refs[{number}].{name} is {value!r}, not {known[name]!r}"


def _section(expect: dict[str, Any], answer: dict[str, Any], answers: list[dict[str, Any]]) -> Iterator[str]:
    section = answer["section"]
    rules = expect.get("section", {})
    for part in rules.get("has", ()):
        if text_of(part) not in section:
            yield f"the section has {text_of(part)[:200]!r}"
    for part in rules.get("lacks", ()):
        if text_of(part) in section:
            yield f"the section does not have {text_of(part)[:200]!r}"
    for path, text in expect.get("shows", {}).items():
        if (shown := shown_texts(section).get(path)) != (wanted := text_of(text)):
            yield f"below {path!r} stands {wanted[:200]!r}, not {shown if shown is None else shown[:200]!r}"
    if "same_section" in expect and answers[expect["same_section"]]["section"] != section:
        yield f"the section is that of turn {expect['same_section']}, byte for byte"


def _lines(expect: dict[str, Any], answer: dict[str, Any]) -> Iterator[str]:
    if "warnings" in expect and sorted(classify(answer)) != sorted(expect["warnings"]):
        yield f"the warnings are about {expect['warnings']}, not {classify(answer)}: {answer['warnings']}"
    said = [*answer["warnings"], *answer["notices"], answer["section"], *(text or "" for entry in answer["refs"] for text in (entry["detail"], entry["hint"]))]
    for part in expect.get("unsaid", ()):
        if any(part in text for text in said):
            yield f"nobody is told {part!r}"
    if "notices" in expect and len(answer["notices"]) != expect["notices"]:
        yield f"{expect['notices']} notices, not {answer['notices']}"


def shown_texts(section: str) -> dict[str, str]:
    """
    Return what stands in the fenced blocks below each label of *section*, by the label; several blocks are joined.

    A line feed that only closes the block is not part of the text; so one at the end of each text is taken off.
    """
    found: dict[str, list[str]] = {}
    label, fence, lines = "", "", list[str]()
    for line in section.split("\n"):
        if fence:
            if line == fence:
                found.setdefault(label, []).append("\n".join(lines))
                fence, lines = "", []
            else:
                lines.append(line)
        elif line.startswith("### "):
            label = line[4:].rstrip("/")
        elif (run := len(line) - len(line.lstrip("`"))) >= 3 or (run := len(line) - len(line.lstrip("~"))) >= 3:
            fence = line[:run]
    return {name: "\n".join(texts) for name, texts in found.items()}
