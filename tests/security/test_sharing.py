"""One Preprocessor for many: threads, an event loop, a forked child, a signal's handler, and somebody who closes it meanwhile."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

import pytest

import filerefs
from filerefs import Preprocessor, Root, RootClosedError
from filerefs.calls import Calls

from .features import run
from .meddling import MeddledRoot
from .openers import SYSTEMS, imitated
from .swaps import POLICIES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..conftest import Tree  # noqa: TID252 (tests are no package that could be named)
    from .openers import System
    from .swaps import Policy

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="about systems with handles, signals and forks")
EACH_POLICY = pytest.mark.parametrize("policy", POLICIES)
EACH_BACKEND = pytest.mark.parametrize("backend", ["openat2", "walk"])
EACH_SYSTEM = pytest.mark.parametrize("system", [pytest.param(system, id=system.title) for system in SYSTEMS])

# No time is measured: whoever has not ended by then waits for ever.
PATIENCE = 30

MESSAGES = [
    "look at @a.txt, please",
    "@d/b.txt:2-3 and @d/",
    "no mention at all",
    "@missing.txt @a.txt @link.txt",
    "@a.txt @a.txt:2 `@a.txt` @.env",
    "@d/ @./ @d/c.txt:9",
]


@pytest.fixture
def folder(tree: Tree) -> Path:
    """Build a small project."""
    return tree(
        {
            "a.txt": "one\ntwo\n",
            "d/b.txt": "1\n2\n3\n4\n",
            "d/c.txt": "c",
            "link.txt": tree.link("a.txt"),
            ".env": "secret",
            ".gitignore": "*.log\n",
        }
    )


def say(preprocessor: Preprocessor, number: int) -> Any:
    message = MESSAGES[number % len(MESSAGES)]
    return preprocessor.preprocess(message, f"You are number {number}.").as_dict()


@EACH_POLICY
def test_threads_and_an_event_loop(policy: Policy, folder: Path) -> None:
    """Two threads and an event loop share one Preprocessor, and each gets what it would have got alone."""
    numbers = range(60)
    expected = []
    for number in numbers:
        with Preprocessor(folder, symlinks=policy) as alone:
            expected.append(say(alone, number))

    async def converse(preprocessor: Preprocessor) -> list[Any]:
        in_threads = [asyncio.to_thread(say, preprocessor, number) for number in numbers]
        in_the_loop = [say(preprocessor, number) for number in numbers]
        return [in_the_loop, await asyncio.gather(*in_threads)]

    with Preprocessor(folder, symlinks=policy) as shared, ThreadPoolExecutor(2) as pool:
        running = [pool.submit(lambda: [say(shared, number) for number in numbers]) for _ in range(2)]
        said = asyncio.run(converse(shared))
        said += [each.result() for each in running]

    assert [expected] * 4 == said


@EACH_SYSTEM
def test_close_waits_for_a_turn(system: System, folder: Path) -> None:
    """`close` returns when the turn that another thread is in the middle of has ended, whole; later turns raise."""
    entered, leave, closed = threading.Event(), threading.Event(), threading.Event()
    said: list[Any] = []

    def pause() -> None:
        entered.set()
        leave.wait(PATIENCE)

    def speak() -> None:
        try:
            said.append([outcome.text for outcome in preprocessor.preprocess("@a.txt @d/c.txt").attached])
        except RootClosedError as error:
            said.append(error)

    with imitated(system):
        preprocessor = Preprocessor(folder)
        preprocessor._root.close()
        preprocessor._root = root = MeddledRoot(folder)
        root.happen = pause
        threads = [threading.Thread(target=speak), threading.Thread(target=lambda: (preprocessor.close(), closed.set()))]
        threads[0].start()
        entered.wait(PATIENCE)
        threads[1].start()
        returned_at_once = closed.wait(0.2)
        leave.set()
        for thread in threads:
            thread.join(PATIENCE)
        with pytest.raises(RootClosedError):
            preprocessor.preprocess("@a.txt")

    assert [["one\ntwo\n", "c"]] == said
    assert not returned_at_once
    assert closed.is_set()


@EACH_SYSTEM
def test_no_number_is_used_again_under_a_turn(system: System, folder: Path) -> None:
    """However closing falls between turns, no name is resolved beneath a descriptor that has become somebody else's."""
    trap = folder.parent / "trap"
    (trap / "d").mkdir(parents=True)
    for name in ("a.txt", "d/b.txt", "d/c.txt"):
        (trap / name).write_bytes(b"TRAP")
    seen: list[str] = []
    spoken = threading.Event()

    def use(preprocessor: Preprocessor) -> None:
        try:
            while True:
                seen.append(preprocessor.preprocess("@a.txt @d/ @d/c.txt @d/b.txt:2").section)
                spoken.set()
        except RootClosedError:
            pass

    with imitated(system):
        for number in range(20):
            preprocessor = Preprocessor(folder)
            spoken.clear()
            threads = [threading.Thread(target=use, args=(preprocessor,)) for _ in range(3)]
            for thread in threads:
                thread.start()
            # Every other time before anybody has said anything.
            if number % 2:
                spoken.wait(PATIENCE)
            preprocessor.close()
            # Takes the numbers that have just become free.
            descriptors = [os.open(trap, os.O_RDONLY) for _ in range(16)]
            for thread in threads:
                thread.join(PATIENCE)
            for descriptor in descriptors:
                os.close(descriptor)

    assert seen
    assert not any("TRAP" in section for section in seen)


@EACH_SYSTEM
def test_reading_goes_on_when_the_root_is_closed(system: System, folder: Path) -> None:
    """A file that is being read is read to its end from its own descriptor, whoever takes the root's number."""
    content = b"inside\n" * 300_000
    (folder / "long.txt").write_bytes(content)
    parts: list[bytes] = []
    with imitated(system):
        root = Root(folder)
        node = root.open("long.txt")
        with node:  # type: ignore[union-attr]
            parts.append(node.read(1000))  # type: ignore[union-attr, arg-type]
            closing = threading.Thread(target=root.close)
            closing.start()
            while part := node.read(100_000):  # type: ignore[union-attr]
                assert isinstance(part, bytes)
                parts.append(part)
            closing.join(PATIENCE)

    assert content == b"".join(parts)


@EACH_POLICY
@EACH_BACKEND
def test_after_a_fork(backend: str, policy: Policy, folder: Path) -> None:
    """Parent and child go on with the same Preprocessor, though the fork came in the middle of another thread's turn."""
    said = run("forked.py", str(folder), policy, backend)

    assert [said["before"]] * 2 == said["child"]
    assert [said["before"]] == said["thread"]
    assert said["before"] == said["after"]


@EACH_POLICY
@EACH_BACKEND
def test_signals_whose_handlers_return(backend: str, policy: Policy, folder: Path) -> None:
    """Whatever is interrupted is done again: hundreds of signals change no turn."""
    said = run("interrupted.py", "returns", str(folder), policy, backend, "300")

    assert said["interrupts"] >= 300
    assert {"wrong": 0, "lost": [], "closed": True} == {key: said[key] for key in ("wrong", "lost", "closed")}


@EACH_POLICY
@EACH_BACKEND
def test_error_signals_whose_handlers_raise(backend: str, policy: Policy, folder: Path) -> None:
    """A turn that is interrupted for good raises what the handler raised; the next is right, and `close` does not hang."""
    said = run("interrupted.py", "raises", str(folder), policy, backend, "200")

    assert said["interrupts"] >= 200
    assert (0, True) == (said["wrong"], said["closed"])
    # Between the system's answer and the first Python instruction nothing can be held: a handle may be lost, not many.
    assert len(said["lost"]) <= said["interrupts"] / 2


@EACH_SYSTEM
def test_error_an_interrupt_anywhere(system: System, folder: Path) -> None:
    """Wherever in an opening a signal's handler raises, `close` does not wait for what will never end."""
    struck = 0
    with imitated(system):
        for moment in range(1, 1000):
            root = Root(folder)
            with lost_handles_closed():
                with Striker(moment) as striker:
                    found = root.open("d/b.txt")
                if not striker.place:
                    found.close()  # type: ignore[union-attr]
            closing = threading.Thread(target=root.close, daemon=True)
            closing.start()
            closing.join(PATIENCE)
            assert not closing.is_alive(), f"close hangs behind an exception at {striker.place}"
            if not striker.place:
                break
            struck += 1

    assert struck > 10


def test_error_an_interrupt_before_waking() -> None:
    """Where an exception strikes a call that has ended before it could wake who waits for it, `close` ends all the same."""
    calls, token = Calls(), object()
    calls.begin(token)
    closing = threading.Thread(target=calls.end, daemon=True)
    closing.start()
    while not calls.ended:
        time.sleep(0)
    calls.running.discard(token)
    closing.join(PATIENCE)

    assert not closing.is_alive()


@contextmanager
def lost_handles_closed() -> Iterator[None]:
    """Close what was opened meanwhile: an interrupt between the system's answer and the next instruction loses it."""
    before = open_descriptors()
    yield
    for descriptor in open_descriptors() - before:
        os.close(descriptor)


def open_descriptors() -> set[int]:
    found = set()
    for descriptor in range(256):
        with suppress(OSError):
            os.fstat(descriptor)
            found.add(descriptor)
    return found


class Striker:
    """Raises at the n-th place where Python hears signals: the beginning of a function, or behind one of C; `place` says where."""

    class StruckError(BaseException):
        """What strikes."""

    _PACKAGE = os.path.join(os.path.dirname(filerefs.__file__), "")

    def __init__(self, moment: int) -> None:
        self._left = moment
        self.place = ""

    def __enter__(self) -> Self:
        sys.setprofile(self._hear)
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> bool:
        sys.setprofile(None)
        return isinstance(error, self.StruckError)

    def _hear(self, frame: Any, event: str, _: object) -> None:
        if not frame.f_code.co_filename.startswith(self._PACKAGE) or event not in {"call", "c_return"}:
            return
        self._left -= 1
        if not self._left:
            sys.setprofile(None)
            self.place = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
            raise self.StruckError
