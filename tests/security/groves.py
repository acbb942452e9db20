"""Random trees of folders, files, FIFOs and links, and random names in them, from a seed: what one backend says of a name, the other must say."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from filerefs import Root
from filerefs.outcomes import Reason
from filerefs.root import Trouble

from .openers import imitated
from .people import ordinary_user
from .trees import INSIDE, SECRET

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from filerefs.root import Node

    from .openers import System
    from .swaps import Policy

NAMES_A_TREE = 200

_WORDS = ("a", "b", "c", "d", "x.txt", "y.py", ".env", ".git", "key.pem", "up", "l", "m", "\u00e9", "e\u0301", "two words", "n (deleted)", "\udcff")
_BETWEEN = ("/", "/", "/", "/", "//", "/./", "/../")
_BEHIND = ("", "", "", "", "/", "/.", "/..", "//")
_HOSTILE = (
    "",
    "/",
    "~",
    "~/a",
    "..",
    "../outside/a",
    "a\0b",
    "\ud800",
    "x" * 256,
    "a/" * 256,
    "a/" * 2048,
    "C:\\a",
    "/etc/passwd",
    "/proc/self/root/etc/passwd",
)


class DifferenceError(Exception):
    """Two ways of resolving did not say the same of a name, or one read what is outside."""

    def __init__(self, grove: Grove, name: str, policy: Policy, answers: dict[str, Any]) -> None:
        said = "\n".join(f"  {system}: {answer!r}" for system, answer in answers.items())
        tree = "\n".join(f"  {line!r}" for line in grove.lines)
        super().__init__(f"seed {grove.seed}, links: {policy}, name {name!r}:\n{said}\nin this tree:\n{tree}")


class Grove:
    """
    The tree of a seed, planted below *base*, and its names.

    One tree in three has folders and files that an ordinary user may not enter, list or read.
    """

    def __init__(self, seed: int, base: Path) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.base = str(base)
        self.lines: list[str] = []
        self._modes: list[str] = []
        self.guarded = self.random.random() < 1 / 3
        self._names = ["."]
        for top in ("root", "outside"):
            os.mkdir(f"{self.base}/{top}")
        self._plant("outside", 5, SECRET)
        # A hard link would be inside and outside; there is none, so that an inode says where its file is.
        self._outside = {_identity(path) for path in (base, *base.glob("outside/**"), *base.glob("outside/**/*"))}
        self._plant("root", self.random.randint(6, 22), INSIDE)
        if self.random.random() < 0.1:
            self._chain(self.random.randint(36, 44))

    def name(self) -> str:
        """Return a random name: mostly of what is there, with what people and attackers put between and behind the parts."""
        choice = self.random
        if choice.random() < 0.03:
            return choice.choice(_HOSTILE)
        parts = choice.choices((*_WORDS, "..", "..", "."), k=choice.choice((0, 0, 1, 1, 2, 5)))
        if choice.random() < 0.85:
            parts = [*choice.choice(self._names).split("/"), *parts]
        return "".join(part + choice.choice(_BETWEEN) for part in parts[:-1]) + (parts or ["."])[-1] + choice.choice(_BEHIND)

    def is_outside(self, answer: Any) -> bool:
        return isinstance(answer, tuple) and answer[3] in self._outside

    def fell(self) -> None:
        for path in self._modes:
            os.chmod(path, 0o700)
        for top in ("root", "outside"):
            shutil.rmtree(f"{self.base}/{top}")

    def _plant(self, top: str, number: int, content: bytes) -> None:
        folders = ["."]
        for _ in range(number):
            name = f"{self.random.choice(folders)}/{self.random.choice(_WORDS)}".removeprefix("./")
            path = f"{self.base}/{top}/{name}"
            if top == "root":
                self._names.append(name)
            if os.path.lexists(path):
                continue
            kind = self.random.choices(("folder", "file", "link", "pipe"), (6, 6, 9, 1))[0]
            self.lines.append(f"{top}/{name} {self._put(kind, path, content)}")
            if kind == "folder":
                folders.append(name)
        if self.guarded and top == "root":
            self._guard(folders[1:])

    def _put(self, kind: str, path: str, content: bytes) -> str:
        if kind == "folder":
            os.mkdir(path)
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "link":
            target = self._target(path.removeprefix(self.base).count("/") - 2)
            os.symlink(target, path)
            return f"=> {target}"
        else:
            with open(path, "wb") as file:
                file.write(content)
        return kind

    def _target(self, depth: int) -> str:
        """Return a text for a link that lies *depth* folders deep: most lead to something, some of them outside."""
        if self.random.random() < 0.5:
            return "../" * depth + self.random.choice(self._names) + self.random.choice(_BEHIND)
        start = self.random.choice(("", "", "../", "./", "/", "../" * (depth + 1) + "outside/", f"{self.base}/root/", "/proc/self/cwd/", "/proc/self/fd/0/"))
        return start + (self.name().replace("\0", "").encode("utf-8", "replace").decode()[:1000] or "a")

    def _chain(self, length: int) -> None:
        """Plant a link that leads through *length* more, to a file: 40 are followed, in all."""
        for step in range(length):
            os.symlink(f"k{step + 1}", f"{self.base}/root/k{step}")
        self._put("file", f"{self.base}/root/k{length}", INSIDE)
        self.lines.append(f"root/k0 => … => root/k{length}")
        self._names += ["k0", "k1"] * 2

    def _guard(self, folders: Sequence[str]) -> None:
        # A folder that is closed closes what is in it: the deepest go first, and are opened again last.
        for name in reversed(folders):
            mode = self.random.choice((0o000, 0o111, 0o444, 0o755, 0o755))
            path = f"{self.base}/root/{name}"
            os.chmod(path, mode)
            self._modes.insert(0, path)
            self.lines.append(f"root/{name} has mode {mode:o}")


def _identity(path: Path) -> tuple[int, int]:
    status = path.lstat()
    return status.st_dev, status.st_ino


def compare(seed: int, base: Path, systems: Sequence[System], policies: Sequence[Policy]) -> int:
    """
    Ask all *systems* for all names of a random tree, and return of how many the answers were compared.

    BUSY is no answer: whoever renames anything, anywhere on the machine, makes openat2 begin again where a `..` is on
    the way, and it gives up in the end.  Systems without procfs are not asked where there are guarded folders: one
    that may be listed but not searched they cannot list.

    Raises:
        DifferenceError: If they do not agree.
    """
    grove = Grove(seed, base)
    names = [grove.name() for _ in range(NAMES_A_TREE)]
    compared = 0
    try:
        for policy in policies:
            said = {system.title: _ask(grove, system, policy, names) for system in systems if system.procfs or not grove.guarded}
            for name, *answers in zip(names, *said.values(), strict=True):
                if any(_is_busy(answer) for answer in answers):
                    continue
                compared += 1
                if any(answer != answers[0] for answer in answers) or grove.is_outside(answers[0]):
                    raise DifferenceError(grove, name, policy, dict(zip(said, answers, strict=True)))
    finally:
        grove.fell()
    return compared


def _is_busy(answer: Any) -> bool:
    return isinstance(answer, Trouble) and answer.reason is Reason.BUSY


def _ask(grove: Grove, system: System, policy: Policy, names: Sequence[str]) -> list[Any]:
    with imitated(system), Root(f"{grove.base}/root", symlinks=policy) as root, _somebody(guarded=grove.guarded):
        return [_describe(root.open(name)) for name in names]


@contextmanager
def _somebody(*, guarded: bool) -> Iterator[None]:
    with ExitStack() as stack:
        if guarded:
            stack.enter_context(ordinary_user())
        yield


def _describe(found: Node | Trouble) -> Any:
    if isinstance(found, Trouble):
        return found
    with found:
        return found.name, found.target, found.kind, found.identity, found.read(None) if found.kind == "file" else found.entries(None)
