"""
Drive one of the entries by coverage: `python -m tests.fuzz.run preprocess [libFuzzer's options]`.

What it finds is kept in .fuzz, and the next run goes on from there.  Only here is atheris imported, so that
everything else works where it has no wheel.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import atheris

if TYPE_CHECKING:
    from collections.abc import Iterable

CORPUS = Path(__file__).parent / "corpus"
FOUND = Path(".fuzz")


def quote(word: str | bytes) -> str:
    """Return *word* as a line of a dictionary for libFuzzer."""
    data = word if isinstance(word, bytes) else word.encode("utf-8", "surrogateescape" if word.isprintable() else "replace")
    return '"' + "".join(f"\\x{byte:02x}" for byte in data) + '"'


def write_dictionary(words: Iterable[str | bytes], file: Path) -> None:
    """Write *words*, those that libFuzzer takes, to *file*."""
    file.write_text("".join(quote(word) + "\n" for word in words if word and len(word) <= 40), encoding="ascii")


def main(name: str, *options: str) -> None:
    """Fuzz the entry *name* until libFuzzer's *options* end it."""
    seeds, found = CORPUS / name, FOUND / name
    found.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch:
        root, words = Path(scratch) / "root", Path(scratch) / "words"
        root.mkdir()
        with atheris.instrument_imports(include=["filerefs"]):
            entry = importlib.import_module(f"tests.fuzz.fuzz_{name}")
            laws, conftest = importlib.import_module("tests.property.test_laws"), importlib.import_module("tests.conftest")
            laws.plant(conftest.Tree(root))
            # Much is imported where it is first needed, and what is imported later is not watched.
            for seed in sorted(seeds.iterdir()):
                entry.check(seed.read_bytes(), root)
        write_dictionary(entry.WORDS, words)
        usual = (f"-dict={words}", "-max_len=4096", "-len_control=20", "-timeout=10", "-print_final_stats=1", f"-artifact_prefix={FOUND}/{name}-")
        atheris.Setup([sys.argv[0], *usual, *options, str(found), str(seeds)], lambda data: entry.check(data, root))
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
