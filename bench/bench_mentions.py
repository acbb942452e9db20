"""Parsing, and a turn without a file"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from filerefs import Preprocessor, parse

from .measuring import compare, exponent, fastest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MB = 1_000_000
SIZES = (1_250_000, 2_500_000, 5_000_000, 10_000_000)


@pytest.fixture(scope="module")
def turns(project: Path) -> Iterator[Preprocessor]:
    with Preprocessor(project) as preprocessor:
        yield preprocessor


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:,.1f} ms"


@pytest.mark.parametrize(
    ("name", "length", "finds", "goal"),
    [
        pytest.param("prose", 10 * MB, 1, 2.0, id="10 MB of Latin prose"),
        pytest.param("prose", 100_000, 1, 2.0, id="100 KB of Latin prose"),
        pytest.param("prose", 1_000, 1, None, id="1 KB of Latin prose"),
        pytest.param("prose_cjk_plain", 10 * MB, 2, 2.0, id="10 MB of CJK prose"),
        pytest.param("prose_cjk_plain", 100_000, 2, 2.0, id="100 KB of CJK prose"),
    ],
)
def test_no_at_sign(  # noqa: PLR0917 (fixtures and columns)
    benchmark: Any, record: Any, sample: Any, turns: Preprocessor, name: str, length: int, finds: int, goal: float | None, request: Any
) -> None:
    message = sample(name, length)
    assert turns.preprocess(message).message is message

    def find() -> None:
        for sign in "@＠"[:finds]:
            message.find(sign)

    pair = compare(lambda: turns.preprocess(message), find)
    record(
        f"no `@` in {request.node.callspec.id}, to {'one `str.find`' if finds == 1 else 'two `str.find`'}",
        pair.ratio,
        goal=goal,
        times=f"{microseconds(pair.ours)} : {microseconds(pair.plain)}",
    )
    benchmark.pedantic(turns.preprocess, (message,), rounds=5)


@pytest.mark.parametrize(
    ("name", "title", "goal"),
    [
        ("decorators", "decorators, in code", 5.0),
        ("addresses", "e-mail addresses", 5.0),
        ("only_decorators", "nothing but decorators, two of three new", None),
        ("json", "JSON with `@type`", None),
        ("diff", "diff hunks", None),
        ("prose_cjk", "CJK prose with `@` names", None),
        ("documentation", "Markdown with code", None),
    ],
)
def test_dense(  # noqa: PLR0917 (fixtures and columns)
    benchmark: Any, record: Any, sample: Any, turns: Preprocessor, name: str, title: str, goal: float | None
) -> None:
    message = sample(name)
    assert turns.preprocess(message).message == message

    turn, parsing = fastest(lambda: turns.preprocess(message)), fastest(lambda: parse(message))
    record(f"a turn of 100 KB of {title} ({len(parse(message)):,} mentions)", turn * 1e3, "ms", goal=goal, times=f"parse {microseconds(parsing)}")
    benchmark.pedantic(turns.preprocess, (message,), rounds=5)


def tokens(size: int) -> str:
    line = "word upon word upon word in a line of prose that names @src/thing{}.py or so, and goes on to its end\n"
    return "".join(line.format(number) for number in range(size // (len(line) + 3)))


def backticks(size: int) -> str:
    runs = ["@a "]
    length = 0
    while length < size:
        runs.append("`" * len(runs) + " ")
        length += len(runs[-1])
    return "".join(runs)


MESSAGES = {
    "a token in every 100 characters (100,000 at 10 MB)": tokens,
    "backtick runs of all lengths": backticks,
    "nothing but `@`": lambda size: "@" * size,
    "nothing but backslashes behind a mention": lambda size: "@a " + "\\" * size,
    "one run of `a,`": lambda size: "@" + "a," * (size // 2),
    "`@x,` again and again": lambda size: "@x," * (size // 30),
}


@pytest.mark.parametrize("title", MESSAGES)
def test_linear(benchmark: Any, record: Any, turns: Preprocessor, title: str) -> None:
    def work_of(size: int) -> Callable[[], object]:
        message = MESSAGES[title](size)
        return lambda: turns.preprocess(message)

    slope, seconds = exponent(work_of, SIZES)
    # 333,333 mentions at 1 MB, each an object: past some 50,000 of them the processor's cache is too small.
    is_small = title.startswith("`@x,`")
    size = "1 MB" if is_small else "10 MB"
    record(f"{title}: exponent over four sizes up to {size}", slope, "", goal=None if is_small else 1.05)
    record(f"{title}: {size}", seconds, "s", goal=None if is_small else 1.0)
    benchmark.pedantic(work_of(SIZES[0]), rounds=3)
