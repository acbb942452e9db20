"""Ctrl-C at a terminal, so that it ends what is going on, whatever that is, and nothing else."""

from __future__ import annotations

import signal
import socket
import threading
import time
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from types import FrameType, TracebackType

# Seconds until an interrupt that did not arrive is raised again: longer than it takes to clean up behind one that did.
AGAIN = 1.0


class Interrupts:
    """
    Between `begin` and `end`, Ctrl-C raises KeyboardInterrupt, once however often it is pressed; else it does nothing.

    It may get lost on its way.  A signal that comes just before the main thread begins to wait for a network, or that
    another thread is given, leaves it waiting; and an exception that is raised in a destructor is dropped.  So there is
    a thread that hears of the signal by other means, and rouses the main thread until `end` is called.  To be used in
    the main thread.
    """

    def __init__(self) -> None:
        self._state: Literal["off", "on", "raised"] = "off"
        self._raised = 0.0
        self._before: dict[int, Any] = {}
        self._ear, self._mouth = socket.socketpair()
        self._mouth.settimeout(0)
        self._over = threading.Event()
        self._over.set()
        self._main = threading.get_ident()
        self._thread = threading.Thread(target=self._rouse, name="filerefs interrupts", daemon=True)

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGALRM)}
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.end()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._mouth.close()
        self._thread.join()
        self._ear.close()

    def begin(self) -> None:
        """Let Ctrl-C raise KeyboardInterrupt from now on."""
        signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
        self._over = threading.Event()
        self._state = "on"

    def end(self) -> None:
        """Let it do nothing any more; also when it has raised."""
        self._state = "off"
        self._over.set()
        signal.set_wakeup_fd(-1)

    def _handle(self, number: int, _: FrameType | None) -> None:
        pressed = number == signal.SIGINT and self._state == "on"
        lost = self._state == "raised" and time.monotonic() >= self._raised + AGAIN
        if pressed or lost:
            self._state, self._raised = "raised", time.monotonic()
            raise KeyboardInterrupt

    def _rouse(self) -> None:
        while self._ear.recv(64):
            over = self._over
            while not over.wait(AGAIN):
                signal.pthread_kill(self._main, signal.SIGALRM)
