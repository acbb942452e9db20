"""
What each placement does to a provider's prefix cache, counted in bytes: the tables of docs/prompt-caching.md.

A chat of ten turns is preprocessed in each way, and two caches are played through its requests: one that finds the
longest prefix that it has seen, and one that knows only the prefixes up to a mark.  After a change that is meant,
`UPDATE_GOLDEN=1 python -m pytest tests/test_prompt_caching.py` writes the tables anew.
"""

from __future__ import annotations

import os
import re
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from filerefs import Preprocessor
from filerefs.messages import preprocess_messages, strip_sections

from .integrations.contract import texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .conftest import Tree

PAGE = Path(__file__).parents[1] / "docs" / "prompt-caching.md"
TURNS = 10
# A block is what a mark can stand behind: a part of the system prompt, or of a message.
Blocks: TypeAlias = list[bytes]

SYSTEM = "You work on this project. " * 300
ANSWER = "So it is. " * 120
LOOK_BACK = 20


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[dict[str, Any]]]]:
    """Return the messages of each request of the chat, for each way."""
    folder = tmp_path_factory.mktemp("project")
    for number in range(TURNS):
        (folder / f"part{number}.py").write_text(f"value = {number}  # one of many lines\n" * 200, encoding="utf-8")
    with Preprocessor(folder) as files:
        return {
            "no files at all": _chat(files, "system", strip_sections),
            'placement="system"': _chat(files, "system", lambda done: done),
            'placement="user"': _chat(files, "user", lambda done: done),
            "sections left in the history": _frozen(files),
        }


def _ask(number: int) -> dict[str, Any]:
    return {"role": "user", "content": f"What does @part{number}.py do, and how does it fit to what we saw before?"}


def _chat(files: Preprocessor, placement: Any, send: Callable[[list[Any]], list[Any]]) -> list[list[dict[str, Any]]]:
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    sent = []
    for number in range(TURNS):
        done = preprocess_messages([*messages, _ask(number)], files, placement=placement)
        sent.append(send(done.messages))
        messages = [*done.messages, {"role": "assistant", "content": ANSWER}]
    return sent


def _frozen(files: Preprocessor) -> list[list[dict[str, Any]]]:
    """What `preprocess_messages` does not do: each section stays where it was."""
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    sent = []
    for number in range(TURNS):
        messages = [*messages, *preprocess_messages([_ask(number)], files, placement="user").messages]
        sent.append(messages)
        messages = [*messages, {"role": "assistant", "content": ANSWER}]
    return sent


def blocks_of(messages: Iterable[dict[str, Any]]) -> Blocks:
    """Return what a model reads, block by block; whatever else stands between them is the same in all ways."""
    return [
        f"{message['role']}\n{text}\n".encode()
        for message in messages
        for text in ([message["content"]] if isinstance(message["content"], str) else map(texts_of, ([part] for part in message["content"])))
    ]


def longest_prefix(request: Blocks, earlier: Sequence[Blocks]) -> int:
    """A cache that needs no marks: as many bytes are read from it as any earlier request began with."""
    return max((_common(b"".join(request), b"".join(one)) for one in earlier), default=0)


def _common(one: bytes, other: bytes) -> int:
    return next((index for index, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other)))


def marked_prefix(request: Blocks, marks: Sequence[int], written: set[bytes]) -> int:
    """A cache with marks: a prefix is read that an earlier request wrote at a mark of its own, a few blocks before one of these."""
    prefixes = list(accumulate(request))
    found = [prefixes[index] for mark in marks for index in range(max(0, mark - LOOK_BACK), mark + 1) if prefixes[index] in written]
    written |= {prefixes[mark] for mark in marks}
    return max(map(len, found), default=0)


def row(name: str, request: Blocks, read: int, total: int, unread: int) -> str:
    size = len(b"".join(request))
    return f"| {name} | {size:,} | {read:,} | {size - read:,} | {total:,} | {unread:,} |"


def automatic(requests: dict[str, list[list[dict[str, Any]]]]) -> list[str]:
    """Return the rows of the first table."""
    rows = []
    for name, chat in requests.items():
        sent = list(map(blocks_of, chat))
        read = [longest_prefix(request, sent[:number]) for number, request in enumerate(sent)]
        sizes = [len(b"".join(request)) for request in sent]
        rows.append(row(_code(name), sent[-1], read[-1], sum(sizes), sum(sizes) - sum(read)))
    return rows


def _code(name: str) -> str:
    return f"`{name}`" if "=" in name else name


# Where the marks stand: the number of a block.  The system prompt is the first one, or its first line is, with the section behind it.
MARKS: list[tuple[str, str, Callable[[Blocks], list[int]]]] = [
    ('placement="system"', "the stable block", lambda _: [0]),
    ('placement="system"', "the stable block, the last message", lambda request: [0, len(request) - 1]),
    ('placement="user"', "the stable block, the last message", lambda request: [0, len(request) - 1]),
    ('placement="user"', "the stable block, the answer before the last message", lambda request: [0, max(0, len(request) - 3)]),
    ("sections left in the history", "the stable block, the last message", lambda request: [0, len(request) - 1]),
]


def marked(requests: dict[str, list[list[dict[str, Any]]]]) -> list[str]:
    """Return the rows of the second table."""
    rows = []
    for name, where, marks in MARKS:
        sent = [_with_own_block(blocks_of(messages)) for messages in requests[name]]
        written: set[bytes] = set()
        read = [marked_prefix(request, marks(request), written) for request in sent]
        sizes = [len(b"".join(request)) for request in sent]
        rows.append(row(f"{_code(name)} | {where}", sent[-1], read[-1], sum(sizes), sum(sizes) - sum(read)))
    return rows


def _with_own_block(request: Blocks) -> Blocks:
    """Return *request* with the section of the system prompt as a block of its own, as it is for Anthropic."""
    base = request[0].index(b"\n<!-- filerefs:begin") if b"<!-- filerefs:begin" in request[0] else len(request[0]) - 1
    return [request[0][:base].rstrip(), request[0][base:].lstrip(), *request[1:]] if request[0][base:].strip() else [request[0].rstrip(), *request[1:]]


@pytest.mark.parametrize("name", ["automatic", "marked"])
def test_tables_of_the_page(name: str, requests: dict[str, list[list[dict[str, Any]]]]) -> None:
    """What the page says is what is counted here."""
    expected = "\n".join(automatic(requests) if name == "automatic" else marked(requests))
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"(<!-- {name} -->\n\n\|.*\n\|.*\n)((?:\|.*\n)*)", page)
    assert found is not None
    if os.environ.get("UPDATE_GOLDEN") == "1":
        page = page.replace(found[0], f"{found[1]}{expected}\n")
        PAGE.write_text(page, encoding="utf-8")
        return

    assert found[2] == f"{expected}\n"


def test_what_the_page_makes_of_it(requests: dict[str, list[list[dict[str, Any]]]]) -> None:
    """The page's comparisons are those of its numbers."""
    unread = [int(row.rstrip(" |").rpartition("|")[2].replace(",", "")) for row in automatic(requests)]
    lengths = [len(b"".join(blocks_of(chat[-1]))) for chat in requests.values()]
    page = PAGE.read_text(encoding="utf-8")

    assert f"{1 - unread[2] / unread[1]:.0%}".replace("%", " % less than with the other placement") in page
    assert f"{1 - unread[3] / unread[2]:.1%}".replace("%", " % of what is read anew") in page.replace("\n  ", " ")
    assert 3 < lengths[3] / lengths[2] < 4


def test_history_is_a_prefix(tree: Tree) -> None:
    """With the section in front of the message, a request begins with all of the last one but its last message."""
    project = tree({"a.py": "1\n", "b.py": "2\n"})
    first = preprocess_messages([{"role": "system", "content": "S"}, {"role": "user", "content": "hi"}], project, placement="user")
    second = preprocess_messages([*first.messages, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "@a.py"}], project, placement="user")
    third = preprocess_messages([*second.messages, {"role": "assistant", "content": "ok"}, {"role": "user", "content": "@b.py"}], project, placement="user")

    assert third.messages[: len(second.messages) - 1] == second.messages[:-1]
