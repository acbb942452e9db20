"""What the message that is being typed would become: made beside the keyboard, so that no key waits for a disk."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Self

from filerefs.errors import RootClosedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from filerefs.turn import Preprocessor, Turn


class Preview:
    """
    What the text that is being typed would become if it were sent: made in a thread, for whatever shows it.

    Args:
        preprocessor: One that does nothing else, so that what it keeps between turns is what is being typed.

    Attributes:
        turn: The last one that was made; None before the first.
        version: How many were made.

    .. versionadded:: 0.1
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self.turn: Turn | None = None
        self.version = 0
        self._preprocessor = preprocessor
        self._changed = threading.Condition()
        self._wanted: str | None = None
        self._tell: Callable[[], object] = bool
        self._closed = False
        self._thread: threading.Thread | None = None

    def ask(self, text: str, tell: Callable[[], object] = bool) -> Turn | None:
        """Return the turn of *text* if it is there, else None, and make it; *tell* is called in the thread when it is."""
        if self.turn is not None and self.turn.original == text:
            return self.turn
        with self._changed:
            self._wanted = text
            self._tell = tell
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="filerefs preview", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return None

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the turn of the last text is made, at most so long, and not behind `close`; return whether it is."""
        with self._changed:
            self._changed.wait_for(lambda: self._wanted is None or self._closed, seconds)
            return self._wanted is None

    def close(self) -> None:
        """End the thread.  The preprocessor stays open."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def _run(self) -> None:
        try:
            # Closed first, the preprocessor has nothing more to say, and this neither.
            with contextlib.suppress(RootClosedError):
                while (text := self._next()) is not None:
                    self._make(text)
        finally:
            # Whatever ended it: nobody shall wait for a thread that is gone.
            with self._changed:
                self._closed = True
                self._changed.notify_all()

    def _make(self, text: str) -> None:
        turn = self._preprocessor.preprocess(text)
        with self._changed:
            self.turn = turn
            self.version += 1
            if self._wanted == text:
                self._wanted = None
            self._changed.notify_all()
        self._tell()

    def _next(self) -> str | None:
        with self._changed:
            self._changed.wait_for(lambda: self._wanted is not None or self._closed)
            return None if self._closed else self._wanted
