"""What goes wrong below a turn: files that change between the look and the reading, disks that fail, descriptors that run out."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import filerefs
from filerefs import Attached, Preprocessor, Root, RootClosedError, RootNotFoundError
from filerefs.outcomes import Reason
from filerefs.root import Trouble

from .meddling import FailingRoot, MeddledRoot
from .openers import SYSTEMS, imitated
from .people import ordinary_user, superuser_again
from .trees import plant

if TYPE_CHECKING:
    from collections.abc import Callable

    from .openers import System

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="the answers of Linux"), pytest.mark.usefixtures("base")]
EACH_SYSTEM = pytest.mark.parametrize("system", [pytest.param(system, id=system.title) for system in SYSTEMS])

FILE = Path("root/d/t.txt")
IO_ERROR = Trouble(Reason.IO_ERROR, "the disk or file system failed")


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Plant one file inside and one outside, and go there."""
    plant(str(tmp_path), ["root/d/t.txt", "root/other.txt", "outside/t.txt"])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def replace(make: Callable[[Path], object]) -> None:
    """Put what *make* makes in the place of the file, as an editor saves: by renaming."""
    make(Path("new"))
    Path("new").rename(FILE)


def answer(outcome: filerefs.Outcome) -> str | Reason:
    return outcome.text if isinstance(outcome, Attached) else outcome.reason


@EACH_SYSTEM
@pytest.mark.parametrize(
    ("happen", "by_handle", "by_name", "when_open"),
    [
        pytest.param(lambda: FILE.chmod(0), Reason.PERMISSION, Reason.PERMISSION, "inside", id="the permission is lost"),
        pytest.param(lambda: FILE.parent.chmod(0), "inside", Reason.PERMISSION, "inside", id="the permission of its folder is lost"),
        pytest.param(FILE.unlink, "inside", Reason.NOT_FOUND, "inside", id="it is deleted"),
        pytest.param(lambda: FILE.parent.rename("outside/d"), "inside", Reason.NOT_FOUND, "inside", id="its folder is moved out"),
        pytest.param(lambda: replace(lambda new: new.write_bytes(b"newer")), "inside", Reason.BUSY, "inside", id="another file takes its place"),
        pytest.param(lambda: replace(lambda new: new.symlink_to("../../outside/t.txt")), "inside", Reason.BUSY, "inside", id="a link takes its place"),
        pytest.param(lambda: replace(os.mkfifo), "inside", Reason.BUSY, "inside", id="a FIFO takes its place"),
        pytest.param(lambda: FILE.write_bytes(b"newer, and longer"), *["newer, and longer"] * 3, id="it is overwritten and grows"),
        pytest.param(lambda: os.truncate(FILE, 3), *["ins"] * 3, id="it is truncated"),
        pytest.param(lambda: os.truncate(FILE, 0), *[""] * 3, id="it is emptied"),
    ],
)
def test_between_look_and_reading(
    happen: Callable[[], object], by_handle: str | Reason, by_name: str | Reason, when_open: str | Reason, system: System
) -> None:
    """What was looked at is what is read, whatever has its name by now; without /proc it must still be found, and be the same."""
    with imitated(system), MeddledRoot("root") as root, ordinary_user():

        def happen_once() -> None:
            del root.happen
            with superuser_again():
                happen()

        root.happen = happen_once
        first, other = filerefs.load(filerefs.parse("@d/t.txt and @other.txt"), root)

    FILE.parent.exists() and FILE.parent.chmod(0o755)
    expected = by_name if not system.procfs else by_handle if system.handles else when_open
    assert (expected, "inside") == (answer(first), answer(other))


@pytest.mark.parametrize(
    ("message", "good", "content"),
    [
        pytest.param("@bad.txt", 0, b"text\n" * 10, id="a file"),
        pytest.param("@bad.txt:2", 0, b"text\n" * 10, id="lines of a file"),
        pytest.param("@bad.txt:90000", 1, b"text\n" * 300_000, id="the middle of a streamed file"),
        pytest.param("@bad.txt", 1, ("wide\n" * 80_000).encode("utf-16"), id="the second part of a wide encoding"),
    ],
)
def test_error_disks_that_fail(message: str, good: int, content: bytes, base: Path) -> None:
    """A failing read refuses that one file: no part of it is shown, and the others are attached."""
    (base / "root/bad.txt").write_bytes(content)

    with FailingRoot("root") as root:
        root.good, root.trouble = good, lambda: IO_ERROR
        (bad,) = filerefs.load(filerefs.parse(message), root)
        root.good = 100
        (other,) = filerefs.load(filerefs.parse("@other.txt"), root)

    assert isinstance(bad, filerefs.Refused)
    assert (Reason.IO_ERROR, IO_ERROR.detail) == (bad.reason, bad.detail)
    assert answer(other) == "inside"


def test_error_folders_that_fail() -> None:
    """A folder whose names cannot be read is refused, and costs other references neither answers nor hints."""
    with FailingRoot("root") as root:
        root.trouble = lambda: IO_ERROR
        folder, missing = filerefs.load(filerefs.parse("@d/ @d/t.tx.txt"), root)

    assert (Reason.IO_ERROR, Reason.NOT_FOUND) == (answer(folder), answer(missing))


@EACH_SYSTEM
def test_error_a_read_that_really_fails(system: System) -> None:
    """The kernel's own EIO: the first page of a process is not there to be read."""
    with imitated(system), Preprocessor("/proc/self") as preprocessor:
        (outcome,) = preprocessor.preprocess("@./mem").outcomes

    assert isinstance(outcome, filerefs.Refused)
    assert (Reason.IO_ERROR, IO_ERROR.detail) == (outcome.reason, outcome.detail)


class Descriptors:
    """Leaves the process so many free descriptors, until it is left."""

    def __init__(self, free: int) -> None:
        self._free = free
        self._fillers: list[int] = []

    def __enter__(self) -> None:
        self._limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        highest = max(int(name) for name in os.listdir("/proc/self/fd"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1 + self._free, self._limits[1]))
        try:
            while True:
                self._fillers.append(os.dup(0))
        except OSError:
            for _ in range(self._free):
                os.close(self._fillers.pop())

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, self._limits)
        for filler in self._fillers:
            os.close(filler)


@EACH_SYSTEM
def test_error_no_descriptor_left(system: System) -> None:
    """A turn in a process that has no descriptor left is told so, file by file, and the next turn is as ever."""
    with imitated(system), Preprocessor("root") as preprocessor:
        before = preprocessor.preprocess("@d/t.txt @other.txt @d/")
        with Descriptors(free=0):
            without = preprocessor.preprocess("@d/t.txt @other.txt @d/")
        after = preprocessor.preprocess("@d/t.txt @other.txt @d/")

    assert ["too many files are open"] * 3 == [outcome.detail for outcome in without.refused]
    assert [Reason.BUSY] * 3 == [answer(outcome) for outcome in without.outcomes]
    assert ["inside", "inside", before.outcomes[2].text] == [answer(outcome) for outcome in after.outcomes]  # type: ignore[union-attr]


@EACH_SYSTEM
def test_few_descriptors_left(system: System, base: Path) -> None:
    """With a handful of descriptors many files are attached or refused, each for itself; none is lost."""
    names = [f"many/{number}.txt" for number in range(30)]
    plant(str(base), [f"root/{name}" for name in names])
    message = " ".join(f"@{name}" for name in names)

    with imitated(system), Preprocessor("root") as preprocessor:
        preprocessor.preprocess("@d/t.txt @d/")
        with Descriptors(free=12):
            turn = preprocessor.preprocess(message)

    assert names == [outcome.path for outcome in turn.outcomes]
    assert {"inside", Reason.BUSY} >= {answer(outcome) for outcome in turn.outcomes}
    assert turn.attached


def test_error_no_descriptor_for_the_root() -> None:
    """A root that cannot be opened for want of a descriptor raises at construction, with the system's error as its cause."""
    with Descriptors(free=0), pytest.raises(RootNotFoundError) as caught:
        Root("root")

    assert isinstance(caught.value.__cause__, OSError)


def test_error_no_descriptor_to_load_modules() -> None:
    """The very first turn loads modules: without a descriptor Python's own error is raised, and the next turn is as ever."""
    code = """
        import os, resource, filerefs
        preprocessor = filerefs.Preprocessor("root")
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        fillers = []
        try:
            while True:
                fillers.append(os.dup(0))
        except OSError as error:
            expected = error.errno
        try:
            preprocessor.preprocess("@d/t.txt")
        except OSError as error:
            print(error.errno == expected)
        for filler in fillers:
            os.close(filler)
        print(preprocessor.preprocess("@d/t.txt").attached[0].text, preprocessor._root.backend)
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, check=True, encoding="utf-8", env=environment)

    with Root("root") as root:
        assert f"True\ninside {root.backend}\n" == said.stdout


@EACH_SYSTEM
def test_nothing_is_inherited_in_the_middle_of_a_turn(system: System, base: Path) -> None:
    """A program started while a turn has files and folders open gets no handle of them."""
    code = "import os; print(*(os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd') if os.path.lexists(f'/proc/self/fd/{n}')))"
    said: list[str] = []
    held: list[str] = []

    def start() -> None:
        held.extend(os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{name}"))
        said.append(subprocess.run([sys.executable, "-c", code], close_fds=False, capture_output=True, check=True, encoding="utf-8").stdout)

    with imitated(system), MeddledRoot("root") as root:
        root.happen = start
        filerefs.load(filerefs.parse("@d/t.txt @other.txt"), root)

    assert str(base / "root") in held
    assert str(base / FILE) in held
    assert len(said) == 2
    assert all(str(base / "root") not in each for each in said)


@EACH_SYSTEM
def test_a_root_that_is_renamed(system: System, base: Path) -> None:
    """Between turns the root may be renamed and another folder take its name: the turn goes on with the one that was opened."""
    with imitated(system), Preprocessor("root") as preprocessor:
        (base / "root").rename("elsewhere")
        plant(str(base), ["root/d/t.txt = impostor", "root/new.txt"])
        turn = preprocessor.preprocess("@d/t.txt @new.txt")

    assert ["inside", Reason.NOT_FOUND] == [answer(outcome) for outcome in turn.outcomes]


@EACH_SYSTEM
def test_error_a_root_that_is_deleted(system: System, base: Path) -> None:
    """When the root was deleted, each refusal says so, and a prompt with an old section gets its own text back."""
    with imitated(system), Preprocessor("root") as preprocessor:
        before = preprocessor.preprocess("@d/t.txt", "Be brief.")
        shutil.rmtree("root")
        plant(str(base), ["root/d/t.txt = impostor"])
        turn = preprocessor.preprocess("@d/t.txt", before.prompt)
        restored = preprocessor.preprocess("thanks", turn.prompt)

    assert ["no such file, and the root folder itself was deleted"] == [outcome.detail for outcome in turn.refused]
    assert "impostor" not in turn.prompt
    assert restored.prompt == "Be brief."


def test_error_after_close() -> None:
    """A closed Preprocessor raises, and says which root it had."""
    preprocessor = Preprocessor("root")
    preprocessor.close()

    with pytest.raises(RootClosedError, match="root"):
        preprocessor.preprocess("@d/t.txt")
