"""
The entries of the fuzzers, without a fuzzer: on the seeds, on what fuzzers found, and on what Hypothesis makes.

What a fuzzer finds goes into tests/fuzz/corpus, as small as it can be made, under a name that says what it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .conftest import Tree
from .fuzz import fuzz_preprocess, fuzz_strip
from .property.test_laws import plant

if TYPE_CHECKING:
    from collections.abc import Iterable

CORPUS = Path(__file__).parent / "fuzz" / "corpus"


def seeds(name: str) -> list[object]:
    return [pytest.param(path.read_bytes(), id=path.name) for path in sorted((CORPUS / name).iterdir())]


def programs(words: Iterable[str | bytes]) -> st.SearchStrategy[bytes]:
    """Return bytes as a fuzzer with a dictionary of *words* makes them."""
    encoded = [word if isinstance(word, bytes) else word.encode("utf-8", "surrogatepass") for word in words]
    return st.builds(bytes.__add__, st.binary(max_size=1), st.lists(st.sampled_from(encoded) | st.binary(max_size=3), max_size=12).map(b"".join))


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the tree that the fuzzers work on."""
    folder = tmp_path_factory.mktemp("fuzzed") / "root"
    folder.mkdir()
    return plant(Tree(folder))


@pytest.mark.parametrize("data", seeds("preprocess"))
def test_seeds_of_the_turn(nasty: Path, data: bytes) -> None:
    """A turn from each of the seeds, and from whatever once broke it, keeps the laws."""
    fuzz_preprocess.check(data, nasty)


@given(programs((*fuzz_preprocess.WORDS, fuzz_preprocess.BETWEEN, " ", " ")))
def test_a_turn_from_any_bytes(nasty: Path, data: bytes) -> None:
    """Whatever the bytes, a turn comes back and keeps the laws."""
    fuzz_preprocess.check(data, nasty)


@pytest.mark.parametrize("data", seeds("strip"))
def test_seeds_of_the_section(data: bytes) -> None:
    """A section put in and taken out of each of the seeds, and of whatever once broke it, leaves what was there."""
    fuzz_strip.check(data)


@given(programs(fuzz_strip.WORDS))
def test_a_section_in_any_prompt(data: bytes) -> None:
    """Whatever program the bytes are, what it puts in is taken out again, and nothing else."""
    fuzz_strip.check(data)


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        pytest.param(b"", [""], id="nothing is one empty text"),
        pytest.param(b"a\xfeb", ["a", "b"], id="put down and begin again"),
        pytest.param(b"a\xfax", ["ax"], id="a section that is not ended is its text"),
        pytest.param(b"\xff", ["\udcff"], id="what is no text"),
        pytest.param(b"a\n\xfdb\n", ["a\r\nb\n"], id="line ends so far"),
    ],
)
def test_programs_are_read(data: bytes, texts: list[str]) -> None:
    """The bytes build what their commands say."""
    assert texts == fuzz_strip.read_texts(data)


@pytest.mark.parametrize(("command", "separators"), [pytest.param(0xFB, 2, id="behind a prompt"), pytest.param(0xFC, 0, id="alone")])
def test_programs_build_sections_that_verify(command: int, separators: int) -> None:
    """A section that a program builds is one that is taken out: else the laws would hold of nothing."""
    (text,) = fuzz_strip.read_texts(b"front\xfabody" + bytes((command,)))

    assert text.startswith("front" + "\n" * separators + "<!--")
    assert fuzz_strip.strip_section(text) == "front"
