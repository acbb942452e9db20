"""The section in a prompt, with one file of 10 KB, to SHA-256 of the section and joining it to the prompt"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from filerefs import build_section, inject, load, parse, strip_section

from .conftest import repeat
from .measuring import compare

if TYPE_CHECKING:
    from pathlib import Path

PROMPT = "You are a careful programmer, and this is rule § of many.\n"


@pytest.mark.parametrize("size", [1_000, 10_000, 100_000, 1_000_000], ids=lambda size: f"{size // 1000} KB")
def test_inject_and_strip(benchmark: Any, record: Any, project: Path, size: int) -> None:
    prompt = repeat(PROMPT, size)
    outcomes = load(parse("@src/module0.py"), project)
    section = build_section(outcomes)
    whole = inject(prompt, outcomes)
    assert strip_section(whole) == prompt

    def floor() -> str:
        hashlib.sha256(section.encode()).hexdigest()
        return prompt + section

    injecting = compare(lambda: inject(prompt, outcomes), floor, seconds=0.3)
    stripping = compare(lambda: strip_section(whole), floor, seconds=0.3)
    benchmark.pedantic(inject, (prompt, outcomes), rounds=10)
    for title, pair in (("inject into", injecting), ("strip from", stripping)):
        record(f"{title} a prompt of {size // 1000} KB", pair.ratio, times=f"{pair.ours * 1e6:,.0f} µs : {pair.plain * 1e6:,.0f} µs")
