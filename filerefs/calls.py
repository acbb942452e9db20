"""Calls that share one descriptor, counted so that it is closed behind the last of them and never under one."""

from __future__ import annotations

import os
import threading
import weakref

_PATIENCE = 0.1  # seconds


class Calls:
    """
    The calls that are running, each known by a token.

    Adding and discarding a token is atomic, and discarding twice is harmless: no lock is taken on the way, and an
    interrupt at any place leaves no wrong count.  Only who waits for the end, and wakes him, takes one.
    """

    __slots__ = ("__weakref__", "_idle", "ended", "running")

    def __init__(self) -> None:
        self.ended = False
        self.forget()
        _everywhere.add(self)

    def begin(self, token: object) -> bool:
        """
        Count a call, and tell whether it may go on.

        In either case `running.discard(token)` is due, and `wake` if the calls have ended by then; not in a method,
        since a signal's handler that raises at its beginning would leave the call counted for ever.
        """
        self.running.add(token)
        return not self.ended

    def wake(self) -> None:
        """Let who waits for the end look again."""
        with self._idle:
            self._idle.notify_all()

    def end(self) -> bool:
        """Let no further call go on, wait until none is running, and tell whether this was the first to end them."""
        with self._idle:
            first, self.ended = not self.ended, True
            while self.running:
                # Now and then also unasked: whoever was to wake us may have been interrupted before he could.
                self._idle.wait(_PATIENCE)
        return first

    def forget(self) -> None:
        """Start anew: in a forked child the calls of the parent's other threads neither end nor wake anybody."""
        self.running: set[object] = set()
        self._idle = threading.Condition()


_everywhere: weakref.WeakSet[Calls] = weakref.WeakSet()


def _forget_all() -> None:  # pragma: no cover (runs in forked children, which no coverage reaches)
    for calls in list(_everywhere):
        calls.forget()


if hasattr(os, "register_at_fork"):  # pragma: no branch (not on Windows)
    os.register_at_fork(after_in_child=_forget_all)
