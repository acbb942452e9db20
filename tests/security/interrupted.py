"""
A program whose turns are interrupted by a timer, again and again.

    python interrupted.py HANDLER ROOT POLICY BACKEND INTERRUPTS

HANDLER "returns": a signal every few hundred microseconds, whose handler does nothing; "raises": one signal a turn, at a
random moment, whose handler raises, as that of Ctrl-C does.

It prints, as JSON: how many interrupts there were, how many turns came to their end and how many of them were wrong, the
descriptors that were lost, and whether the root could be closed.
"""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sys
import threading

import filerefs

_MESSAGE = "see @a.txt, @d/b.txt:2-3, @d/ and @link.txt, not @missing.txt"
# From the first to about the last instruction of a turn.
_LONGEST = 0.002
_PATIENCE = 30


class InterruptError(BaseException):
    """What the handler raises: like KeyboardInterrupt, no Exception."""


def main(handler: str, root: str, policy: str, backend: str, interrupts: str) -> None:
    os.environ["FILEREFS_BACKEND"] = backend
    preprocessor = filerefs.Preprocessor(root, symlinks=policy)  # type: ignore[arg-type]
    expected = preprocessor.preprocess(_MESSAGE, "Be brief.").as_dict()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    count = ended = wrong = 0

    def hear(_signal: int, _frame: object) -> None:
        nonlocal count
        count += 1
        if handler == "raises":
            raise InterruptError

    signal.signal(signal.SIGALRM, hear)
    choice = random.Random(1)
    while count < int(interrupts):
        try:
            signal.setitimer(signal.ITIMER_REAL, choice.uniform(0.00001, _LONGEST), 0.0003 if handler == "returns" else 0)
            said = preprocessor.preprocess(_MESSAGE, "Be brief.").as_dict()
            signal.setitimer(signal.ITIMER_REAL, 0)
        except InterruptError:
            continue
        ended += 1
        wrong += said != expected
    signal.setitimer(signal.ITIMER_REAL, 0)
    gc.collect()
    lost = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{name}")][before - 1 :]
    wrong += preprocessor.preprocess(_MESSAGE, "Be brief.").as_dict() != expected
    closing = threading.Thread(target=preprocessor.close, daemon=True)
    closing.start()
    closing.join(_PATIENCE)
    print(json.dumps({"interrupts": count, "ended": ended, "wrong": wrong, "lost": lost, "closed": not closing.is_alive()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
