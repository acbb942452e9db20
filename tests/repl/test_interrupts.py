"""Ctrl-C, and the ways in which it gets lost."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from filerefs.chat import interrupts as module
from filerefs.chat.interrupts import Interrupts

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")

# What ends a wait that nothing interrupted, in seconds.
PATIENCE = 30


@pytest.fixture
def interrupts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Interrupts]:
    monkeypatch.setattr(module, "AGAIN", 0.05)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)]
    with Interrupts() as interrupts:
        yield interrupts
    assert before == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)]
    assert signal.set_wakeup_fd(-1) == -1
    assert "filerefs interrupts" not in [thread.name for thread in threading.enumerate()]


@contextlib.contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)
    os.close(writer)


def test_it_is_raised_once(interrupts: Interrupts) -> None:
    """Pressed twice it is one; where nothing goes on, it is none."""
    signal.raise_signal(signal.SIGINT)
    interrupts.begin()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)
    interrupts.end()
    signal.raise_signal(signal.SIGINT)

    interrupts.begin()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_an_exception_that_is_dropped_is_raised_again(interrupts: Interrupts) -> None:
    """Where Python cannot let it through, another one follows."""
    interrupts.begin()
    with contextlib.suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        time.sleep(PATIENCE)


def test_a_signal_that_another_thread_is_given(interrupts: Interrupts) -> None:
    """The main thread is roused out of whatever it waits for."""
    given_up = threading.Event()
    interrupts.begin()
    with pipe() as (reader, writer):

        def give_up() -> None:
            given_up.set()
            os.write(writer, b"late")

        end = threading.Timer(PATIENCE, give_up)
        press = threading.Timer(0.1, lambda: signal.pthread_kill(threading.get_ident(), signal.SIGINT))
        end.start()
        press.start()
        with pytest.raises(KeyboardInterrupt):
            os.read(reader, 4)
        end.cancel()
        press.join()
        end.join()

    assert not given_up.is_set()
