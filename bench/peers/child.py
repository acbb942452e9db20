"""
One library in a process of its own: reads lines of JSON, answers with times.

    python child.py NAME FOLDER      NAME is one of the functions below

A line in is {"message": …, "seconds": …}; a line out is {"best": …, "characters": …}: the fastest call in seconds, and how
much text it gave.  What is imported, is imported before the first line.  Runs with the interpreter of each library's own
environment, so it needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Call = Callable[[str], str]


def filerefs_kept(folder: str) -> Call:
    """One `Preprocessor` for the chat."""
    from filerefs import Preprocessor

    preprocessor = Preprocessor(folder)
    return lambda message: preprocessor.preprocess(message).prompt


def filerefs_once(folder: str) -> Call:
    """One call of the function: opens the folder, keeps nothing."""
    from filerefs import preprocess

    return lambda message: preprocess(message, root=folder).prompt


def deepagents(folder: str) -> Call:
    """`parse_file_mentions`, then what its own terminal does with the paths."""
    import rich.console
    from deepagents_code import input as peer

    del folder
    # What is not found is written to the console, formatted by rich; here the text goes nowhere.
    peer.console = rich.console.Console(file=open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 (for as long as the process lives)

    def call(message: str) -> str:
        text, paths = peer.parse_file_mentions(message)
        if not paths:
            return text
        parts = [text, "\n\n## Referenced Files\n"]
        parts += [embed(path) for path in paths if path.stat().st_size <= 256 * 1024]
        return "\n".join(parts)

    def embed(path: Path) -> str:
        return f"\n### {path.name}\nPath: `{path}`\n```text\n{path.read_text(encoding='utf-8')}\n```"

    return call


def praisonai(folder: str) -> Call:
    from praisonaiagents.tools.mentions import MentionsParser

    parser = MentionsParser(workspace_path=folder)
    return lambda message: "".join(parser.process(message))


def gptme(folder: str) -> Call:
    from gptme.message import Message
    from gptme.util.context import include_paths

    del folder
    # No addresses are confirmed, so none is fetched.
    return lambda message: include_paths(Message("user", message), pre_confirmed_urls=[]).content


def fastest(call: Call, message: str, seconds: float) -> float:
    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        call(message)
        now = time.perf_counter()
        best = min(best, now - start)
        if now > end:
            return best


def main() -> None:
    name, folder = sys.argv[1:]
    os.chdir(folder)
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints is no answer
    call: Call = globals()[name](folder)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        task = json.loads(line)
        characters = len(call(task["message"]))
        print(json.dumps({"best": fastest(call, task["message"], task["seconds"]), "characters": characters}), file=answers, flush=True)


if __name__ == "__main__":
    main()
