"""What the attacker exchanges, the names that are opened meanwhile, and every answer that they may get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from filerefs.outcomes import Reason

from .trees import INSIDE, SECRET

Answer: TypeAlias = "bytes | tuple[str, ...] | Reason"
"""What came of a name: the bytes of a file, the names in a folder, or why it was refused."""

Policy: TypeAlias = Literal["refuse", "inside"]
POLICIES: Final[tuple[Policy, ...]] = ("refuse", "inside")


@dataclass(frozen=True, slots=True)
class Name:
    """
    A name to open, with the answers of each policy: all of them must come, and none but them and those in `may`.

    That all of them come proves that the attacker is awake and that the name is opened in both states.  BUSY is in
    `may` where a `..` is on the way, typed or in a link: the system call gives up after 128 tries.
    """

    text: str
    refuse: tuple[Answer, ...]
    inside: tuple[Answer, ...]
    may: tuple[Answer, ...] = ()

    def must(self, policy: Policy) -> tuple[Answer, ...]:
        return self.refuse if policy == "refuse" else self.inside


@dataclass(frozen=True, slots=True)
class Swap:
    """One attack: a tree, what is renamed in it, and the names that are opened meanwhile."""

    title: str
    tree: tuple[str, ...]
    verb: Literal["exchange", "move"]
    one: str
    other: str
    names: tuple[Name, ...]
    wrong: Literal["realpath", "parents", "opening first"] = "realpath"
    """Which of the openers that are wrong on purpose falls for it."""
    witness: str = ""


SYMLINK, OUT, BUSY = Reason.SYMLINK, Reason.OUTSIDE_ROOT, Reason.BUSY
_OUTSIDE = ("outside/t.txt", "outside/outside.txt")

SWAPS: Final = (
    Swap(
        "directory with a link",
        ("root/d/t.txt", "root/e => ../outside", *_OUTSIDE),
        "exchange",
        "root/d",
        "root/e",
        (
            Name("d/t.txt", (INSIDE, SYMLINK), (INSIDE, OUT)),
            Name("d/", (("t.txt",), SYMLINK), (("t.txt",), OUT)),
        ),
    ),
    Swap(
        "file with a link",
        ("root/d/t.txt", "root/d/l => ../../outside/t.txt", *_OUTSIDE),
        "exchange",
        "root/d/t.txt",
        "root/d/l",
        (Name("d/t.txt", (INSIDE, SYMLINK), (INSIDE, OUT), (BUSY,)),),
    ),
    Swap(
        "the first part",
        ("root/a/b/c/t.txt", "root/l => %BASE%/outside", "outside/b/c/t.txt"),
        "exchange",
        "root/a",
        "root/l",
        (Name("a/b/c/t.txt", (INSIDE, SYMLINK), (INSIDE, OUT)),),
    ),
    Swap(
        "good link with a bad one",
        ("root/real/t.txt", "root/good => real", "root/bad => ../outside", *_OUTSIDE),
        "exchange",
        "root/good",
        "root/bad",
        (
            Name("good/t.txt", (SYMLINK,), (INSIDE, OUT)),
            Name("good/", (SYMLINK,), (("t.txt",), OUT)),
            Name("real/t.txt", (INSIDE,), (INSIDE,)),
        ),
    ),
    Swap(
        "link to a file with a link to a secret",
        ("root/t.txt", f"root/.env = {SECRET.decode()}", "root/good => t.txt", "root/bad => .env"),
        "exchange",
        "root/good",
        "root/bad",
        (
            Name("good", (SYMLINK,), (INSIDE, Reason.SECRET)),
            Name("t.txt", (INSIDE,), (INSIDE,)),
        ),
    ),
    Swap(
        "the root itself",
        ("root/d/t.txt", "root/l => d", "impostor/d/t.txt", "impostor/d/outside.txt", "impostor/l => d"),
        "exchange",
        "root",
        "impostor",
        (
            Name("d/t.txt", (INSIDE,), (INSIDE,)),
            Name("d/", (("t.txt",),), (("t.txt",),)),
            Name("d/../d/t.txt", (INSIDE,), (INSIDE,), (BUSY,)),
            Name("l/t.txt", (SYMLINK,), (INSIDE,), (BUSY,)),
        ),
    ),
    Swap(
        "directory with one outside, then `..`",
        ("root/deep/t.txt", "root/deep/er/", "outside/away/", *_OUTSIDE),
        "exchange",
        "root/deep/er",
        "outside/away",
        (Name("deep/er/../t.txt", (INSIDE,), (INSIDE,), (BUSY, OUT)),),
        wrong="parents",
    ),
    Swap(
        "directory moved out and back, then `..`",
        ("root/deep/t.txt", "root/deep/er/", *_OUTSIDE),
        "move",
        "root/deep/er",
        "outside/away",
        (Name("deep/er/../t.txt", (INSIDE, Reason.NOT_FOUND), (INSIDE, Reason.NOT_FOUND), (BUSY, OUT)),),
        wrong="parents",
    ),
    Swap(
        "file with a FIFO",
        ("root/d/t.txt", "root/d/pipe |", "witness == root/d/pipe"),
        "exchange",
        "root/d/t.txt",
        "root/d/pipe",
        (Name("d/t.txt", (INSIDE, Reason.NOT_REGULAR), (INSIDE, Reason.NOT_REGULAR)),),
        wrong="opening first",
        witness="witness",
    ),
)
