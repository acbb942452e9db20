"""
A program that forks while another of its threads is in the middle of a turn; both processes go on.

    python forked.py ROOT POLICY BACKEND

It prints, as JSON: the turns of the parent before the fork, of the child, and of the parent behind it; and whether the child
could close its root without waiting for a thread that it does not have.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from typing import Any

import filerefs

_MESSAGE = "see @a.txt and @d/, not @missing.txt"


class PausedRoot(filerefs.Root):
    """A root that, asked from another thread, waits in the middle of resolving a name."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.reached, self.go_on = threading.Event(), threading.Event()

    def _look(self, *arguments: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            self.reached.set()
            self.go_on.wait()
        return super()._look(*arguments)  # type: ignore[misc]


def main(root: str, policy: str, backend: str) -> None:
    os.environ["FILEREFS_BACKEND"] = backend
    preprocessor = filerefs.Preprocessor(root, symlinks=policy)  # type: ignore[arg-type]
    preprocessor._root.close()
    preprocessor._root = paused = PausedRoot(root, symlinks=policy)  # type: ignore[arg-type]

    def turn() -> Any:
        return preprocessor.preprocess(_MESSAGE, "Be brief.").as_dict()

    before = turn()
    in_the_middle: list[Any] = []
    thread = threading.Thread(target=lambda: in_the_middle.append(turn()))
    thread.start()
    paused.reached.wait()
    reading, writing = os.pipe()
    warnings.simplefilter("ignore", DeprecationWarning)
    child = os.fork()
    if not child:
        said = [turn(), turn()]
        preprocessor.close()
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        of_child = json.load(pipe)
    os.waitpid(child, 0)
    paused.go_on.set()
    thread.join()
    after = turn()
    preprocessor.close()
    print(json.dumps({"before": before, "child": of_child, "thread": in_the_middle, "after": after}))


if __name__ == "__main__":
    main(*sys.argv[1:])
