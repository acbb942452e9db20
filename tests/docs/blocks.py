"""
The code blocks of a document, run as a reader would run them.

    console   commands behind `$ `, each followed by what it prints, to standard output and to standard error
    python    one program over all blocks of the document
    text      behind a python block: what that block prints

A block behind the line `<!-- in the clone -->` is run in a copy of the repository, any other in the reader's folder.
`replay` runs a document and returns it with what was really printed: if it is the same, the document is true.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import filerefs

IN_THE_CLONE = "<!-- in the clone -->\n"
PATIENCE = 60

_BLOCK = re.compile(
    rf"(?P<clone>{re.escape(IN_THE_CLONE)})?^(?P<fence>```+)(?P<language>[^`\n]*)\n(?P<text>.*?)^(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, where that starts in the document, and whether it is about the clone."""

    language: str
    text: str
    start: int
    in_the_clone: bool = False

    @property
    def commands(self) -> list[str]:
        """What a console block tells the reader to type."""
        return [line.removeprefix("$ ") for line in self.text.splitlines() if line.startswith("$ ")]

    @property
    def title(self) -> str:
        """Its first line, for the id of a test."""
        return self.text.partition("\n")[0]


def read(document: str) -> list[Block]:
    """Return the blocks of *document*, in order."""
    return [Block(match["language"], match["text"], match.start("text"), bool(match["clone"])) for match in _BLOCK.finditer(document)]


def outside(document: str) -> str:
    """Return *document* without its blocks."""
    return _BLOCK.sub("", document)


def replay(document: str, folder: Path, names: dict[str, Any]) -> list[Block]:
    """
    Return the blocks of *document* that are about the reader's *folder*, with what they really print.

    *names* are those that the first python block finds; afterwards they are those that the last one left.
    """
    replayed: list[Block] = []
    printed = ""
    for block in read(document):
        if block.in_the_clone:
            continue
        if block.language == "console":
            replayed.append(replace(block, text="".join(f"$ {command}\n{shell(command, folder)}" for command in block.commands)))
        elif block.language == "python":
            printed = execute(block.text, folder, names)
            replayed.append(block)
        else:
            replayed.append(replace(block, text=printed))
    return replayed


def rewrite(document: str, blocks: list[Block]) -> str:
    """Return *document* with the text of each of *blocks* in its place."""
    for old in reversed(read(document)):
        for new in blocks:
            if new.start == old.start:
                document = document[: old.start] + new.text + document[old.start + len(old.text) :]
    return document


def shell(command: str, folder: Path, **variables: str) -> str:
    """Return what *command* prints in *folder*; a failing one is a failing test."""
    finished = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=_environment(folder) | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        check=False,
    )
    printed = finished.stdout.decode()
    assert finished.returncode == 0, f"`{command}` ended with {finished.returncode}:\n{printed}"
    return printed


def execute(program: str, folder: Path, names: dict[str, Any]) -> str:
    """Return what a Python *program* prints in *folder*, run with *names* as its globals."""
    output = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(output):
        exec(compile(program, "<block>", "exec"), names)
    return output.getvalue()


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment in which `filerefs` is the package under test, wherever its script is installed."""
    scripts = folder.parent / "bin"
    script = scripts / "filerefs"
    if not script.exists():
        scripts.mkdir(exist_ok=True)
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m filerefs "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    path = os.pathsep.join((str(scripts), str(Path(sys.executable).parent), os.environ["PATH"]))
    # No reader's: what `make test` tells a `make` within it, and warnings about encodings in libraries that are not ours.
    ours = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHONWARNDEFAULTENCODING"}
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    package = Path(filerefs.__file__).parents[1]
    return environment | {"PATH": path, "PYTHONPATH": str(package), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
