"""
The examples of docs/grammar.md and README.md, read from their tables; and the folder that they are about.

Each row of a table whose header begins with "you type" is one `Example`.  Cells hold code spans; `⏎` in one is a line
feed and `⟨HEX⟩` the character with that number.  What the columns mean is said in docs/grammar.md, "How to read the
examples".
"""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]
GRAMMAR = REPOSITORY / "docs" / "grammar.md"
README = REPOSITORY / "README.md"

COLUMNS = {"you type", "with", "parse gives", "outcome", "sent as", "said"}
IMAGE = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000")
BINARY = bytes(range(256)) * 4

_RULE = re.compile(r"### (R\d+)\. ")
_CELL = re.compile(r"(?<!\\)\|")
_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_SIGN = re.compile(r"⟨([0-9A-F]+)⟩")
_NOTHING = ("", "—")


@dataclass(frozen=True)
class Example:
    """
    One row: a message and what it means.  None where the table has no such column.

    Attributes:
        rule: The rule that it stands under, "R8"; "" in the README.
        message: What is typed.
        options: Keyword arguments for `preprocess`; those of `parse` are among them.
        mentions: What `parse` finds: each path with its lines as `format_range` writes them, without the colon.
        outcomes: What became of it on disk: (path or token, word), the word being the lines, a kind, a reason or "plain".
        becomes: The rewritten message.
        said: What stands in the warnings and notices.
        line: Where it stands in its file.
    """

    rule: str
    message: str
    options: dict[str, Any] = field(default_factory=dict)
    mentions: tuple[tuple[str, str], ...] | None = None
    outcomes: tuple[tuple[str, str], ...] | None = None
    becomes: str | None = None
    said: tuple[str, ...] | None = None
    line: int = 0

    @property
    def title(self) -> str:
        """What tells it from others."""
        options = (f"{name}={value!r}" for name, value in self.options.items())
        return " ".join((self.rule, repr(self.message), *options)).strip()


def load(path: Path = GRAMMAR) -> list[Example]:
    """Return the examples of a document, in its order."""
    return list(_read(path.read_text(encoding="utf-8").splitlines()))


def parameters(path: Path = GRAMMAR) -> list[Any]:
    """Return the examples of a document as parameters of a test."""
    return [pytest.param(example, id=example.title) for example in load(path)]


def parse_options(example: Example) -> dict[str, Any]:
    """Return those of an example's options that `parse` takes."""
    return {name: value for name, value in example.options.items() if name in ("code", "lenient")}


def references() -> list[tuple[str, tuple[int, int | None] | None, str]]:
    """Return the rows of the table under R25: a path, its lines, and the mention that `format_ref` writes."""
    lines = GRAMMAR.read_text(encoding="utf-8").splitlines()
    found = []
    for row in lines[lines.index("| the path | the mention |") + 2 :]:
        if not row.startswith("|"):
            break
        (path, numbers), (mention, _) = (_spans(cell.strip())[0] for cell in _CELL.split(row)[1:-1])
        found.append((path, _range(numbers), mention))
    return found


def plant(folder: Path) -> Path:
    """Make the files of the examples in *folder*, as the block behind "The folder" in docs/grammar.md lists them."""
    text = GRAMMAR.read_text(encoding="utf-8")
    block = text.partition("## The folder")[2].partition("```text\n")[2].partition("\n```")[0]
    for line in block.splitlines():
        name, _, what = line.partition("  ")
        _make(folder / unescape(name), what.strip())
    return folder


def unescape(text: str) -> str:
    """Return *text* with the characters that its signs stand for."""
    return _SIGN.sub(lambda match: chr(int(match[1], 16)), text.replace("⏎", "\n"))


def _make(path: Path, what: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    match what.split():
        case ["folder"]:
            path.mkdir()
        case ["pipe"]:
            os.mkfifo(path)
        case ["link", "to", target]:
            path.symlink_to(target)
        case ["image"]:
            path.write_bytes(IMAGE)
        case ["binary"]:
            path.write_bytes(BINARY)
        case ["empty"]:
            path.touch()
        case ["holds", *words]:
            path.write_text(" ".join(words) + "\n", encoding="utf-8", newline="")
        case [number, "lines" | "line"]:
            path.write_text("".join(f"line {line}\n" for line in range(1, int(number) + 1)), encoding="utf-8", newline="")
        case _:
            pytest.fail(f"{path.name!r} in the list of files: {what!r} says nothing")


def _read(lines: list[str]) -> Iterator[Example]:
    rule, header = "", None
    for number, line in enumerate(lines, 1):
        if not line.startswith("|"):
            header = None
            rule = match[1] if (match := _RULE.match(line)) else rule
            continue
        cells = [cell.strip() for cell in _CELL.split(line)[1:-1]]
        if header is None:
            header = cells
        elif header[0] == "you type" and set(cells) != {"---"}:
            yield _example(rule, dict(zip(header, cells, strict=True)), number)


def _example(rule: str, cells: dict[str, str], line: int) -> Example:
    assert set(cells) <= COLUMNS, f"line {line}: unknown column"
    (message, _), *_ = _spans(cells["you type"])
    becomes = cells.get("sent as")
    return Example(
        rule=rule,
        message=message,
        options=dict(map(_option, _spans(cells.get("with", "")))),
        mentions=_pairs(cells.get("parse gives")),
        outcomes=_pairs(cells.get("outcome")),
        becomes=message if becomes == "the same" else None if becomes is None else _spans(becomes)[0][0],
        said=None if "said" not in cells else tuple(text for text, _ in _spans(cells["said"])),
        line=line,
    )


def _pairs(cell: str | None) -> tuple[tuple[str, str], ...] | None:
    return None if cell is None else tuple(_spans(cell))


def _option(span: tuple[str, str]) -> tuple[str, Any]:
    name, _, value = span[0].partition("=")
    return name, ast.literal_eval(value)


def _range(text: str) -> tuple[int, int | None] | None:
    if not text:
        return None
    first, hyphen, last = text.partition("-")
    return int(first), int(last) if last else None if hyphen else int(first)


def _spans(cell: str) -> list[tuple[str, str]]:
    """Return the code spans of a cell, each with the word behind it."""
    if cell in _NOTHING:
        return []
    matches = list(_SPAN.finditer(cell))
    ends = [match.start() for match in matches[1:]] + [len(cell)]
    assert cell[: matches[0].start() if matches else None] == "", f"no code span at the start of {cell!r}"
    return [(_code(match[2]), cell[match.end() : end].strip(" ,")) for match, end in zip(matches, ends, strict=True)]


def _code(text: str) -> str:
    text = text.replace("\\|", "|")
    if text.startswith(" ") and text.endswith(" ") and text.strip(" "):
        text = text[1:-1]
    return unescape(text)
