"""
`Root`, the wall around the folder: one table of trees, run for both policies and for every way a name can be resolved.

Trees are written in a small language, one line an entry, in their order:

    a/t.txt         a file; its text is IN
    d/              a directory
    l => ../x       a symbolic link; %ROOT% stands for the root's own path
    p |             a FIFO
    s =             a socket

Beside each root lies `outside/secret.txt`, which nothing may reach.
"""

from __future__ import annotations

import copy
import errno
import fcntl
import gc
import os
import pickle
import random
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import threading
import tracemalloc
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from filerefs import descent, nodes, openat2, root, troubles
from filerefs.errors import OptionError, OptionTypeError, RootClosedError, RootNotFoundError, UnsupportedPlatformError
from filerefs.outcomes import Reason
from filerefs.root import Entry, Listing, Node, Root, Trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from filerefs.root import Backend, SymlinkPolicy

LINUX = sys.platform == "linux"
needs_linux = pytest.mark.skipif(not LINUX, reason="about the kernel of Linux")
needs_ordinary_user = pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind the superuser")


class System(NamedTuple):
    """A way of resolving names: the backend asked for, and what the system is made to lack."""

    backend: Backend
    procfs: bool = True
    handles: bool = True


# The last three are Linux in the clothes of poorer systems: no /proc (a bare chroot), no O_PATH (macOS, the BSDs).
SYSTEMS = [
    pytest.param(System("openat2"), id="openat2", marks=needs_linux),
    pytest.param(System("walk"), id="walk"),
    pytest.param(System("auto", procfs=False), id="openat2 without procfs", marks=needs_linux),
    pytest.param(System("walk", procfs=False), id="walk without procfs", marks=needs_linux),
    pytest.param(System("walk", handles=False), id="walk without handles"),
]
EACH_SYSTEM = pytest.mark.parametrize("system", SYSTEMS, indirect=True)
EACH_BACKEND = pytest.mark.parametrize("system", SYSTEMS[:2], indirect=True)
EACH_POLICY = pytest.mark.parametrize("policy", ["refuse", "inside"])


@pytest.fixture
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> System:
    """Make the process one that runs on this system."""
    wanted: System = request.param
    imitate(wanted, monkeypatch)
    return wanted


def imitate(wanted: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FILEREFS_BACKEND", raising=False)
    if not wanted.handles:
        monkeypatch.setattr(descent, "HAS_PATH_HANDLES", False)
    if not wanted.procfs:
        for module in (nodes, root):
            monkeypatch.setattr(module, "has_procfs", lambda: False)


def plant(folder: Path, lines: list[str]) -> Path:
    """Build the tree that *lines* describe in *folder*, and the outside beside it."""
    folder.mkdir(exist_ok=True)
    outside = folder.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "secret.txt").write_text("SECRET", encoding="utf-8")
    for line in lines:
        name, sign, text = line.partition(" => ")
        path = folder / name.removesuffix(" |").removesuffix(" =")
        path.parent.mkdir(parents=True, exist_ok=True)
        if sign:
            path.symlink_to(text.replace("%ROOT%", str(folder)))
        elif name.endswith(" |"):
            os.mkfifo(path)
        elif name.endswith(" ="):
            bind_socket(path)
        elif name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text("IN", encoding="utf-8")
    return folder


def bind_socket(path: Path) -> None:
    # By a short name: the address of a socket has little room.
    back = os.open(".", os.O_RDONLY)
    try:
        os.chdir(path.parent)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.fchdir(back)
        os.close(back)


def answer(found: Node | Trouble) -> Reason | tuple[str, str | None]:
    """Reduce what `open` returned to a reason, or the name and target; everything opened is read and closed."""
    if isinstance(found, Trouble):
        check_sentence(found.detail)
        return found.reason
    with found:
        if found.kind == "file":
            assert found.read(None) == b"IN"
        else:
            assert isinstance(found.entries(None), Listing)
        return found.name, found.target


def check_sentence(detail: str) -> None:
    assert detail
    assert "\n" not in detail
    assert not detail.endswith(".")
    assert os.sep + "tmp" not in detail
    assert "Errno" not in detail
    assert "secret.txt" not in detail


def patiently(root: Root, name: str) -> Node | Trouble:
    """Open *name*, again while it is busy: any rename on the machine, another test's too, can make Linux give up on `..`."""
    for _ in range(100):
        found = root.open(name)
        if isinstance(found, Node) or found.reason is not Reason.BUSY:
            break
    return found


def opened(root: Root, name: str) -> Node:
    found = root.open(name)
    assert isinstance(found, Node), found
    return found


@dataclass(frozen=True)
class Row:
    """A name in a tree, and what each policy says: a reason, or the name that is attached (and where a link led)."""

    tree: list[str]
    name: str
    refuse: Reason | str
    inside: Reason | str | tuple[str, str]
    plain: bool = True


def row(identifier: str, tree: list[str], name: str, both: Any = None, *, refuse: Any = None, inside: Any = None, plain: bool = True) -> Any:
    """Return a row of the table; *plain*: an `open()` of the joined path reads something, and only the wall says no."""
    return pytest.param(Row(tree, name, refuse or both, inside or both, plain), id=identifier)


LINKS_40 = [f"k{number:02} => k{number + 1:02}" for number in range(39)] + ["k39 => t.txt", "t.txt"]
DEEP = "/".join("d" * 50 for _ in range(60))
TABLE = [
    row("a file", ["t.txt"], "t.txt", "t.txt"),
    row("a file three folders down", ["a/b/c/t.txt"], "a/b/c/t.txt", "a/b/c/t.txt"),
    row("dots and double slashes mean nothing", ["a/b/t.txt"], "./a//./b/t.txt", "a/b/t.txt"),
    row("a folder", ["d/t.txt"], "d", "d"),
    row("a folder with a slash", ["d/t.txt"], "d/", "d"),
    row("a folder with slash and dot", ["d/t.txt"], "d/.", "d"),
    row("the root", ["t.txt"], ".", "."),
    row("the root with a slash", ["t.txt"], "./", "."),
    row("the root by way of a folder", ["d/"], "d/..", "."),
    row("a parent that stays inside", ["a/b/t.txt"], "a/../a/b/../b/t.txt", "a/b/t.txt"),
    row("three dots are a name", [".../t.txt"], ".../t.txt", ".../t.txt"),
    row("two dots begin a name", ["..foo/t.txt"], "..foo/t.txt", "..foo/t.txt"),
    row("a backslash is a character", ["a\\b.txt"], "a\\b.txt", "a\\b.txt"),
    row("a blank at the end is a character", ["t.txt"], "t.txt ", Reason.NOT_FOUND, plain=False),
    row("a name that is not UTF-8", ["\udcff.txt"], "\udcff.txt", "\udcff.txt"),
    row("a name of 255 bytes", ["n" * 255], "n" * 255, "n" * 255),
    row("a name of 256 bytes", [], "n" * 256, Reason.BAD_NAME, plain=False),
    row("a name of 100 characters and 300 bytes", [], "€" * 100, Reason.BAD_NAME, plain=False),
    row("a path of 3,000 bytes", [DEEP + "/t.txt"], DEEP + "/t.txt", DEEP + "/t.txt"),
    row("a path of 4,096 bytes", [], "./" * 2045 + "t.txt1", Reason.BAD_NAME, plain=False),
    row("255 parts", ["d/" * 254 + "t.txt"], "d/" * 254 + "t.txt", "d/" * 254 + "t.txt"),
    row("256 parts", ["d/" * 255 + "t.txt"], "d/" * 255 + "t.txt", Reason.BAD_NAME),
    row("more parts than count", ["d/" * 254 + "t.txt"], "./" * 99 + "d/" * 254 + "t.txt", "d/" * 254 + "t.txt"),
    row("4,095 bytes of dots", ["t.txt"], "./" * 2045 + "t.txt", "t.txt", plain=False),
    row("an empty name", [], "", Reason.BAD_NAME),
    row("a NUL behind a name", ["t.txt"], "t.txt\0.png", Reason.BAD_NAME, plain=False),
    row("a lone surrogate", [], "\ud800.txt", Reason.BAD_NAME, plain=False),
    row("nothing there", [], "nope", Reason.NOT_FOUND, plain=False),
    row("no folder there", [], "nope/", Reason.NOT_FOUND, plain=False),
    row("a parent of nothing", ["t.txt"], "nope/../t.txt", Reason.NOT_FOUND, plain=False),
    row("a file as a folder", ["f.txt"], "f.txt/", Reason.NOT_REGULAR, plain=False),
    row("a file as a folder, by a dot", ["f.txt"], "f.txt/.", Reason.NOT_REGULAR, plain=False),
    row("the parent of a file", ["f.txt"], "f.txt/..", Reason.NOT_REGULAR, plain=False),
    row("a name below a file", ["f.txt"], "f.txt/x", Reason.NOT_REGULAR, plain=False),
    row("the folder above", [], "..", Reason.OUTSIDE_ROOT),
    row("the folder above with a slash", [], "../", Reason.OUTSIDE_ROOT),
    row("a file beside the root", [], "../outside/secret.txt", Reason.OUTSIDE_ROOT),
    row("a file beside the root by way of a folder", ["d/"], "d/../../outside/secret.txt", Reason.OUTSIDE_ROOT),
    row("out and back in", ["t.txt"], "../root/t.txt", Reason.OUTSIDE_ROOT),
    row("a hundred steps up", [], "../" * 100 + "etc/passwd", Reason.OUTSIDE_ROOT),
    row("a sibling whose name begins the same", ["../root-evil/s.txt"], "../root-evil/s.txt", Reason.OUTSIDE_ROOT),
    row("an absolute path", [], "/etc/passwd", Reason.ABSOLUTE),
    row("an absolute path to the inside", ["t.txt"], "%ROOT%/t.txt", Reason.ABSOLUTE),
    row("two slashes first", [], "//etc/passwd", Reason.ABSOLUTE),
    row("a drive", ["C:/x.txt"], "C:/x.txt", Reason.ABSOLUTE),
    row("a drive with a backslash", ["C:\\x.txt"], "C:\\x.txt", Reason.ABSOLUTE),
    row("a folder called like a drive, from the dot", ["C:/x.txt"], "./C:/x.txt", "C:/x.txt"),
    row("a colon in a name", ["a:b.txt"], "a:b.txt", "a:b.txt"),
    row("a colon behind a letter that no drive has", ["é:/t.txt"], "é:/t.txt", "é:/t.txt"),
    row("home", [], "~", Reason.HOME, plain=False),
    row("a file at home", ["~/t.txt"], "~/t.txt", Reason.HOME),
    row("a folder called tilde, from the dot", ["~/t.txt"], "./~/t.txt", "~/t.txt"),
    row("a tilde begins a name", ["~t.txt"], "~t.txt", "~t.txt"),
    row("a link to a file", ["t.txt", "l => t.txt"], "l", refuse=Reason.SYMLINK, inside=("l", "t.txt")),
    row("a link to a folder on the way", ["d/t.txt", "l => d"], "l/t.txt", refuse=Reason.SYMLINK, inside=("l/t.txt", "d/t.txt")),
    row("a link to a folder", ["d/t.txt", "l => d"], "l", refuse=Reason.SYMLINK, inside=("l", "d")),
    row("a link to a folder with a slash", ["d/t.txt", "l => d"], "l/", refuse=Reason.SYMLINK, inside=("l", "d")),
    row("a link to the root", ["t.txt", "d/up => .."], "d/up", refuse=Reason.SYMLINK, inside=("d/up", ".")),
    row("a link up that stays inside", ["t.txt", "d/up => .."], "d/up/t.txt", refuse=Reason.SYMLINK, inside=("d/up/t.txt", "t.txt")),
    row("a link that ends in a slash", ["d/t.txt", "l => d/"], "l/t.txt", refuse=Reason.SYMLINK, inside=("l/t.txt", "d/t.txt")),
    row("a link that ends in a dot", ["d/t.txt", "l => d/."], "l/t.txt", refuse=Reason.SYMLINK, inside=("l/t.txt", "d/t.txt")),
    row("a link with its own dots", ["d/t.txt", "l => ./d/../d//t.txt"], "l", refuse=Reason.SYMLINK, inside=("l", "d/t.txt")),
    row("a link to a file as if to a folder", ["t.txt", "l => t.txt/"], "l", refuse=Reason.SYMLINK, inside=Reason.NOT_REGULAR, plain=False),
    row("a link to a file, then a slash", ["t.txt", "l => t.txt"], "l/", refuse=Reason.SYMLINK, inside=Reason.NOT_REGULAR, plain=False),
    row("a link to the parent of a file", ["t.txt", "l => t.txt/.."], "l", refuse=Reason.SYMLINK, inside=Reason.NOT_REGULAR, plain=False),
    row("a chain of links", ["x/y/t.txt", "x/c => y/t.txt", "b => x/c", "l => b"], "l", refuse=Reason.SYMLINK, inside=("l", "x/y/t.txt")),
    row("the parent of a link is that of its target", ["a/b/", "a/t.txt", "l => a/b"], "l/../t.txt", refuse=Reason.SYMLINK, inside=("a/t.txt", "a/t.txt")),
    row("a link beside the way does not matter", ["t.txt", "l => t.txt"], "t.txt", "t.txt"),
    row("a link that comes back to the name itself", ["d/t.txt", "d/self => ."], "d/self/../d/t.txt", refuse=Reason.SYMLINK, inside=("d/t.txt", "d/t.txt")),
    row("a link out", ["l => ../outside/secret.txt"], "l", refuse=Reason.SYMLINK, inside=Reason.OUTSIDE_ROOT),
    row("a folder link out", ["l => ../outside"], "l/secret.txt", refuse=Reason.SYMLINK, inside=Reason.OUTSIDE_ROOT),
    row("a folder link out, with slash and dot", ["l => ../outside"], "l/.", refuse=Reason.SYMLINK, inside=Reason.OUTSIDE_ROOT),
    row("a deep link out", ["a/b/", "a/b/l => ../../../outside"], "a/b/l/secret.txt", refuse=Reason.SYMLINK, inside=Reason.OUTSIDE_ROOT),
    row("a link out and back in", ["t.txt", "l => ../root/t.txt"], "l", refuse=Reason.SYMLINK, inside=Reason.OUTSIDE_ROOT),
    row("up behind a link", ["a/b/", "l => a/b"], "l/../../../outside/secret.txt", refuse=Reason.SYMLINK, inside=Reason.OUTSIDE_ROOT),
    row("an absolute link out", ["l => /etc/passwd"], "l", refuse=Reason.SYMLINK, inside=Reason.OUTSIDE_ROOT),
    row("an absolute link to the inside", ["t.txt", "l => %ROOT%/t.txt"], "l", refuse=Reason.SYMLINK, inside=Reason.OUTSIDE_ROOT),
    row("an absolute link with steps up", ["l => /../../etc/passwd"], "l", refuse=Reason.SYMLINK, inside=Reason.OUTSIDE_ROOT),
    row("a dangling link", ["l => nope"], "l", refuse=Reason.SYMLINK, inside=Reason.NOT_FOUND, plain=False),
    row("a dangling link out", ["l => ../outside/nope"], "l", refuse=Reason.SYMLINK, inside=Reason.OUTSIDE_ROOT, plain=False),
    row("a link to itself", ["l => l"], "l", refuse=Reason.SYMLINK, inside=Reason.SYMLINK_LOOP, plain=False),
    row("two links in a circle", ["a => b", "b => a"], "a", refuse=Reason.SYMLINK, inside=Reason.SYMLINK_LOOP, plain=False),
    row("40 links", LINKS_40, "k00", refuse=Reason.SYMLINK, inside=("k00", "t.txt")),
    row("41 links", ["k => k00", *LINKS_40], "k", refuse=Reason.SYMLINK, inside=Reason.SYMLINK_LOOP, plain=False),
    row(
        "links that double",
        ["t.txt", "x0 => .", *(f"x{n + 1} => x{n}/x{n}" for n in range(9))],
        "x9/t.txt",
        refuse=Reason.SYMLINK,
        inside=Reason.SYMLINK_LOOP,
        plain=False,
    ),
    row("links past a missing name", ["l => nope/../t.txt", "t.txt"], "l", refuse=Reason.SYMLINK, inside=Reason.NOT_FOUND, plain=False),
    row("a FIFO", ["p |"], "p", Reason.NOT_REGULAR, plain=False),
    row("a FIFO as a folder", ["p |"], "p/", Reason.NOT_REGULAR, plain=False),
    row("a name below a FIFO", ["p |"], "p/x", Reason.NOT_REGULAR, plain=False),
    row("a link to a FIFO", ["p |", "l => p"], "l", refuse=Reason.SYMLINK, inside=Reason.NOT_REGULAR, plain=False),
    row("a socket", ["s ="], "s", Reason.NOT_REGULAR, plain=False),
    row("a secret", [".env"], ".env", Reason.SECRET),
    row("a secret that is not there", [], ".env", Reason.NOT_FOUND, plain=False),
    row("a folder with a secret's name", [".env/t.txt"], ".env/t.txt", ".env/t.txt"),
    row("anything in a secret folder", ["a/.git/config"], "a/.git/config", Reason.SECRET),
    row("a secret folder", [".ssh/config"], ".ssh", Reason.SECRET),
    row("a secret by way of a folder", ["d/", ".env"], "d/../.env", Reason.SECRET),
    row("out of a secret folder again", [".git/", "t.txt"], ".git/../t.txt", "t.txt"),
    row("a link with a harmless name to a secret", [".env", "l => .env"], "l", refuse=Reason.SYMLINK, inside=Reason.SECRET),
    row("a link with a secret's name", ["t.txt", ".env => t.txt"], ".env", refuse=Reason.SYMLINK, inside=Reason.SECRET),
    row("the same behind a step up", ["d/", "t.txt", ".env => t.txt"], "d/../.env", refuse=Reason.SYMLINK, inside=Reason.SECRET),
    row("a harmless folder link into a secret one", [".ssh/config", "l => .ssh"], "l/config", refuse=Reason.SYMLINK, inside=Reason.SECRET),
    row("a secret folder that is a link", ["d/t.txt", ".aws => d"], ".aws/t.txt", refuse=Reason.SYMLINK, inside=Reason.SECRET),
]


@EACH_SYSTEM
@EACH_POLICY
@pytest.mark.parametrize("case", TABLE)
def test_table(case: Row, policy: SymlinkPolicy, system: System, tmp_path: Path) -> None:
    """A name opens what it means inside the root, or says why not; and a plain open() would have been no wall."""
    folder = plant(tmp_path / "root", case.tree)
    name = case.name.replace("%ROOT%", str(folder))
    expected = getattr(case, policy)

    with Root(folder, symlinks=policy, backend=system.backend) as root:
        actual = answer(patiently(root, name))

    assert ((expected, None) if isinstance(expected, str) and not isinstance(expected, Reason) else expected) == actual
    assert case.plain == plain_open_succeeds(folder, name)


def plain_open_succeeds(folder: Path, name: str) -> bool:
    try:
        descriptor = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK)  # noqa: PTH118 (as careless code joins)
    except (OSError, ValueError):
        return False
    mode = os.fstat(descriptor).st_mode
    os.close(descriptor)
    return not stat.S_ISFIFO(mode)


@EACH_SYSTEM
def test_sentences(system: System, tmp_path: Path) -> None:
    """Every refusal says in words what is wrong, the same on every system."""
    folder = plant(tmp_path / "root", ["f.txt", "p |", "l => l"])

    with Root(folder, backend=system.backend) as root:
        said = [explain(root, name) for name in ("nope", "nope/", "f.txt/", "f.txt/.", "f.txt/x", "p", "l", "..")]

    assert said == [
        "no such file",
        "no such folder",
        "a file, not a folder",
        "a file, not a folder",
        "a part of the path is a file, not a folder",
        "a pipe, socket or device, not a file",
        "it is a symbolic link, or one is on the way",
        "it leads out of the root folder",
    ]


def explain(root: Root, name: str) -> str:
    found = root.open(name)
    assert isinstance(found, Trouble)
    return found.detail


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.EACCES, Reason.PERMISSION),
        (errno.EPERM, Reason.PERMISSION),
        (errno.EAGAIN, Reason.BUSY),
        (errno.EBUSY, Reason.BUSY),
        (errno.ETXTBSY, Reason.BUSY),
        (errno.EMFILE, Reason.BUSY),
        (errno.ENFILE, Reason.BUSY),
        (errno.EIO, Reason.IO_ERROR),
        (errno.ESTALE, Reason.IO_ERROR),
        (errno.ENOMEM, Reason.IO_ERROR),
        (errno.ENAMETOOLONG, Reason.BAD_NAME),
        (errno.EILSEQ, Reason.BAD_NAME),
    ],
    ids=lambda value: errno.errorcode.get(value) if isinstance(value, int) else value.value,
)
@pytest.mark.parametrize("backend", ["openat2", "walk"])
def test_error_numbers_of_the_system(number: int, reason: Reason, backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system answers becomes a reason, whoever asked it."""

    def fail(*_: object, **__: object) -> tuple[int, os.stat_result, list[str]]:
        raise OSError(number, "a text that nobody may see")

    with Root(tmp_path) as root:
        root._backend, root._may_change = backend, False  # type: ignore[assignment]
        root._opener = (lambda *_: -number) if backend == "openat2" else None
        monkeypatch.setattr(descent, "resolve", fail)

        found = root.open("a.txt")

    assert isinstance(found, Trouble)
    assert reason is found.reason
    check_sentence(found.detail)


class TestAllow:
    """`allow` opens exactly the names in it."""

    @EACH_SYSTEM
    def test_exactly_that_name(self, system: System, tmp_path: Path) -> None:
        """An allowed secret opens, its neighbour does not."""
        folder = plant(tmp_path / "root", ["a/.env", ".env", "a/.env.local"])

        with Root(folder, allow=("./a//.env",), backend=system.backend) as root:
            actual = [answer(root.open(name)) for name in ("a/.env", "a/../a/.env", ".env", "a/.env.local")]

        assert actual == [("a/.env", None), ("a/.env", None), Reason.SECRET, Reason.SECRET]

    @EACH_SYSTEM
    def test_a_folder_opens_nothing_below(self, system: System, tmp_path: Path) -> None:
        """An allowed folder may be listed; what is in it stays closed."""
        folder = plant(tmp_path / "root", [".ssh/config", ".ssh/known_hosts", "a/.env"])

        with Root(folder, allow=(".ssh/", "a"), backend=system.backend) as root:
            actual = [answer(root.open(name)) for name in (".ssh", ".ssh/config", "a/.env")]
            with opened(root, ".ssh") as node:
                listing = node.entries(None)

        assert actual == [(".ssh", None), Reason.SECRET, Reason.SECRET]
        assert listing == Listing((), more=False, withheld=2)

    @EACH_SYSTEM
    def test_folders_with_names_of_secret_files(self, system: System, tmp_path: Path) -> None:
        """A folder that only has the name of a secret file is opened, under its own name and by way of a link; a file is not."""
        folder = plant(tmp_path / "root", [".env/t.txt", "id_rsa/", "l => .env", "m => id_rsa", "d/.env", "n => d/.env"])
        with Root(folder, symlinks="inside", backend=system.backend) as root:
            assert answer(root.open(".env")) == (".env", None)
            assert answer(root.open(".env/t.txt")) == (".env/t.txt", None)
            assert answer(root.open("id_rsa/")) == ("id_rsa", None)
            assert answer(root.open("l")) == ("l", ".env")
            assert answer(root.open("l/t.txt")) == ("l/t.txt", ".env/t.txt")
            assert answer(root.open("m/")) == ("m", "id_rsa")
            assert [answer(root.open(name)) for name in ("d/.env", "n")] == [Reason.SECRET] * 2

    @EACH_SYSTEM
    def test_a_link_and_its_target_need_both(self, system: System, tmp_path: Path) -> None:
        """An allowed link's name does not open the secret behind it, nor the other way round."""
        folder = plant(tmp_path / "root", [".env", "safe.txt => .env", "key.pem => .env", "up/", "up/l => .."])

        def ask(name: str, *allow: str) -> Reason | tuple[str, str | None]:
            with Root(folder, symlinks="inside", allow=allow, backend=system.backend) as root:
                return answer(root.open(name))

        assert ask("safe.txt", "safe.txt") is Reason.SECRET
        assert ask("safe.txt", ".env") == ("safe.txt", ".env")
        assert ask("key.pem", ".env") is Reason.SECRET
        assert ask("key.pem", "key.pem") is Reason.SECRET
        assert ask("key.pem", "key.pem", ".env") == ("key.pem", ".env")
        assert ask("up/l/key.pem", "up/l/key.pem") is Reason.SECRET

    @pytest.mark.parametrize("value", [".env", b".env", [".env", 1], [b".env"], 7, None, iter([".env"])], ids=lambda value: type(value).__name__)
    def test_error_of_another_type(self, value: Any, tmp_path: Path) -> None:
        """A bare name would be read letter by letter: it is no collection of names."""
        with pytest.raises(OptionTypeError, match="allow"):
            Root(tmp_path, allow=value)


class TestOptions:
    """What `Root` takes, and what it says it does."""

    def test_defaults(self, tmp_path: Path) -> None:
        """Links are refused; what resolves names is one of two."""
        with Root(tmp_path) as root:
            assert root.symlinks == "refuse"
            assert root.backend in ("openat2", "walk")
            assert not root.closed
        assert root.closed

    def test_the_current_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without a path it is the current folder at that moment."""
        plant(tmp_path / "root", ["t.txt"])
        monkeypatch.chdir(tmp_path / "root")
        with Root() as root:
            monkeypatch.chdir("/")
            assert answer(root.open("t.txt")) == ("t.txt", None)

    def test_a_root_by_way_of_a_link(self, tmp_path: Path) -> None:
        """The host may name its root as it likes, links and steps up included."""
        plant(tmp_path / "root", ["t.txt", "l => t.txt"])
        (tmp_path / "way").symlink_to("root")
        with Root(tmp_path / "outside" / ".." / "way", symlinks="inside") as root:
            assert answer(root.open("t.txt")) == ("t.txt", None)
            assert answer(root.open("l")) == ("l", "t.txt")

    @EACH_SYSTEM
    def test_the_whole_disk(self, system: System, tmp_path: Path) -> None:
        """The root may be `/`."""
        folder = plant(tmp_path.resolve() / "root", ["t.txt", "l => t.txt"])
        name = str(folder)[1:]
        with Root("/", symlinks="inside", backend=system.backend) as root:
            assert answer(root.open(f"{name}/t.txt")) == (f"{name}/t.txt", None)
            assert answer(root.open(f"{name}/l")) == (f"{name}/l", f"{name}/t.txt")
            assert root.open("..").reason is Reason.OUTSIDE_ROOT  # type: ignore[union-attr]

    @needs_linux
    @pytest.mark.parametrize(("value", "backend"), [("walk", "walk"), ("", "openat2"), ("openat2", "openat2")])
    def test_environment(self, value: str, backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """FILEREFS_BACKEND=walk makes "auto" the walk, and nothing else does."""
        monkeypatch.setenv("FILEREFS_BACKEND", value)
        with Root(tmp_path) as root, Root(tmp_path, backend="openat2") as explicit:
            assert backend == root.backend
            assert explicit.backend == "openat2"

    def test_error_unknown_words(self, tmp_path: Path) -> None:
        """An option with a word that it does not know raises, and says which words it knows."""
        with pytest.raises(OptionError, match=r"""^`symlinks` must be "refuse" or "inside", not 'follow'$"""):
            Root(tmp_path, symlinks="follow")  # type: ignore[arg-type]
        with pytest.raises(OptionError, match=r"""^`backend` must be "auto", "openat2" or "walk", not 'chroot'$"""):
            Root(tmp_path, backend="chroot")  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            pytest.param("nope", "there is no such directory", id="nothing there"),
            pytest.param("t.txt", "it is not a directory", id="a file"),
            pytest.param("p", "it is not a directory", id="a FIFO"),
            pytest.param("l", "it cannot be opened", id="a link loop"),
            pytest.param("a\0b", "it cannot be opened", id="a NUL"),
        ],
    )
    def test_error_no_directory(self, name: str, words: str, tmp_path: Path) -> None:
        """A root that is no directory raises at once, and keeps what the system said as its cause."""
        folder = plant(tmp_path / "root", ["t.txt", "p |", "l => l"])
        path = os.path.join(folder, name)  # noqa: PTH118 (a Path takes no NUL)
        with pytest.raises(RootNotFoundError, match=f": {words}$") as caught:
            Root(path)
        assert caught.value.root == path
        assert caught.value.__cause__ is not None

    @pytest.mark.parametrize("value", [b"root", 3, None], ids=repr)
    def test_error_root_of_another_type(self, value: Any) -> None:
        """A root is text or a path of text; an open descriptor is not taken for one."""
        with pytest.raises(OptionTypeError) as caught:
            Root(value)
        assert (caught.value.option, caught.value.value) == ("root", value)
        assert str(caught.value) == f"`root` must be a path as text, not {value!r}"

    def test_error_windows(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """On Windows there is no confined way yet, and the first sentence says so."""
        path = str(tmp_path)
        with monkeypatch.context() as context:
            context.setattr(os, "name", "nt")
            with pytest.raises(UnsupportedPlatformError, match=r": there is no confined way to open files on Windows yet$") as caught:
                Root(path)
        assert caught.value.root == path

    def test_repr(self, tmp_path: Path) -> None:
        """Reprs are one line and hold no contents."""
        folder = plant(tmp_path / "root", ["t.txt"])
        with Root(folder) as root, opened(root, "t.txt") as node:
            assert repr(root) == f"Root({str(folder)!r}, symlinks='refuse', closed=False)"
            assert repr(node) == "Node('t.txt', kind='file', size=2)"


class TestProbe:
    """Whether openat2 can be used is found out by using it."""

    @pytest.fixture(autouse=True)
    def _fresh(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.delenv("FILEREFS_BACKEND", raising=False)
        openat2.find_opener.cache_clear()
        yield
        openat2.find_opener.cache_clear()

    @needs_linux
    @pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG, errno.EACCES], ids=errno.errorcode.get)
    def test_no_means_the_walk(self, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where the system call is missing or forbidden, names are walked."""
        folder = plant(tmp_path / "root", ["t.txt"])
        monkeypatch.setattr(openat2, "_bind", lambda: lambda *_: -number)
        with Root(folder) as root:
            assert root.backend == "walk"
            assert answer(root.open("t.txt")) == ("t.txt", None)
        with pytest.raises(
            OptionError, match=r"""^`backend` must be "auto" or "walk" on this system, which does not offer what it needs, not 'openat2'$"""
        ) as caught:
            Root(folder, backend="openat2")
        assert caught.value.option == "backend"

    @needs_linux
    def test_scarcity_means_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A process without a free descriptor still learns that the system call is there."""
        monkeypatch.setattr(openat2, "_bind", lambda: lambda *_: -errno.EMFILE)
        with Root(tmp_path) as root:
            assert root.backend == "openat2"
            assert explain(root, "t.txt") == "too many files are open"

    def test_other_systems(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Elsewhere than on Linux number 437 may be anything, and is not called."""
        monkeypatch.setattr(sys, "platform", "darwin")
        assert openat2.find_opener() is None
        assert not openat2.has_procfs.__wrapped__()

    @needs_linux
    @pytest.mark.parametrize(("result", "written"), [(-1, b""), (0, b"\\x01\\x02\\x19\\x01")], ids=["nothing there", "another file system"])
    def test_no_procfs(self, result: int, written: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
        """A folder called /proc is not yet one whose links lead back to descriptors."""

        def statfs(_: bytes, buffer: Any) -> int:
            buffer.raw = written
            return result

        monkeypatch.setattr(openat2.ctypes, "CDLL", lambda *_, **__: type("Library", (), {"statfs": staticmethod(statfs)}))
        assert not openat2.has_procfs.__wrapped__()

    @needs_linux
    @pytest.mark.parametrize(("policy", "expected"), [("refuse", "openat2"), ("inside", "walk")])
    def test_system_call_without_procfs(self, policy: Any, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where a handle does not tell its name, links are followed by the walk alone; without links no name is asked for."""
        monkeypatch.setattr(openat2, "_bind", lambda: lambda *_: -errno.EMFILE)
        monkeypatch.setattr(root, "has_procfs", lambda: False)
        with Root(tmp_path, symlinks=policy) as opened:
            assert opened.backend == expected

    def test_python_without_ctypes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A Python that was built without ctypes walks and reads."""
        folder = plant(tmp_path / "root", ["t.txt"])
        monkeypatch.setitem(sys.modules, "filerefs.openat2", None)
        monkeypatch.delattr("filerefs.openat2")
        nodes.has_procfs.cache_clear()
        try:
            for policy in ("refuse", "inside"):
                with Root(folder, symlinks=policy) as root:  # type: ignore[arg-type]
                    assert root.backend == "walk"
                    assert answer(root.open("t.txt")) == ("t.txt", None)
        finally:
            nodes.has_procfs.cache_clear()

    @needs_linux
    @pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM], ids=errno.errorcode.get)
    def test_a_sandbox_put_up_before_the_first_call(self, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A filter that came between the probe and the first use changes a root to the walk."""
        folder = plant(tmp_path / "root", ["t.txt"])
        with Root(folder) as root, Root(folder, backend="openat2") as explicit:
            assert root.backend == "openat2"
            root._opener = explicit._opener = lambda *_: -number
            monkeypatch.setattr(openat2, "_bind", lambda: lambda *_: -number)

            assert answer(root.open("t.txt")) == ("t.txt", None)
            assert root.backend == "walk"
            assert isinstance(explicit.open("t.txt"), Trouble)
            assert explicit.backend == "openat2"

    @needs_linux
    @pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM], ids=errno.errorcode.get)
    def test_later_there_is_no_change(self, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Once a call succeeded, its refusal is an answer: nobody gets a second try by another way."""
        folder = plant(tmp_path / "root", ["t.txt"])
        with Root(folder) as root:
            opened(root, "t.txt").close()
            monkeypatch.setattr(openat2, "_bind", lambda: lambda *_: -number)
            root._opener = lambda *_: -number

            assert isinstance(root.open("t.txt"), Trouble)
            assert root.backend == "openat2"

    @needs_linux
    def test_a_denial_that_is_no_sandbox(self, tmp_path: Path) -> None:
        """EPERM for the first name, while the probe still succeeds, is about that name."""
        with Root(tmp_path) as root:
            assert root.backend == "openat2"
            root._opener = lambda *_: -errno.EPERM

            assert root.open("t.txt").reason is Reason.PERMISSION  # type: ignore[union-attr]
            assert root.backend == "openat2"

    @needs_linux
    def test_a_name_that_keeps_changing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """EAGAIN is tried again 128 times, an interrupted call as often as need be."""
        answers = [errno.EINTR] * 1000 + [errno.EAGAIN] * 129 + [errno.EIO]
        asked = iter(answers)
        library = type("Library", (), {"syscall": lambda *_: -1})
        monkeypatch.setattr(openat2.ctypes, "CDLL", lambda *_, **__: library)
        monkeypatch.setattr(openat2.ctypes, "get_errno", lambda: next(asked))

        assert openat2._bind()(0, b"a", openat2.How.pack(0, 0)) == -errno.EAGAIN
        assert next(asked) == errno.EIO


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param(["a"] * 255, True, id="as many parts as are taken"),
        pytest.param(["a"] * 256, False, id="one part more"),
        pytest.param(["a" * 255] * 16, True, id="as many bytes as are taken"),
        pytest.param([*["a" * 255] * 15, "a" * 256], False, id="one byte more"),
        pytest.param([*["a" * 255] * 15, "a" * 253 + "é"], True, id="bytes and not letters"),
        pytest.param([*["a" * 255] * 15, "a" * 254 + "é"], False, id="a letter too long"),
    ],
)
def test_bounds_of_a_name_behind_links(parts: list[str], *, expected: bool) -> None:
    """What a link leads to has the same bounds as a name that is typed: 255 parts, 4,095 bytes."""
    assert troubles.is_short(parts) is expected


VALUES: list[tuple[Callable[..., object], list[tuple[object, ...]]]] = [
    (Trouble, [(reason, "no such file") for reason in Reason]),
    (Entry, [(name, "file") for name in "abcd"]),
    (Listing, [((), False, withheld) for withheld in range(4)]),
]


def test_values() -> None:
    """What comes back is compared by what it holds, can be put in a set and spreads there, and shows itself in one line."""
    trouble = Trouble(Reason.NOT_FOUND, "no such file")
    entry = Entry("a", "file")
    listing = Listing((entry,), more=False, withheld=1)

    assert {trouble, entry, listing} == {Trouble(Reason.NOT_FOUND, "no such file"), Entry("a", "file"), Listing((Entry("a", "file"),), more=False, withheld=1)}
    assert len({trouble, Trouble(Reason.BUSY, "no such file"), Trouble(Reason.NOT_FOUND, "")}) == 3
    assert [trouble, entry, listing].count("no such file") == 0  # type: ignore[list-item]
    assert len({entry, Entry("b", "file"), Entry("a", "link")}) == 3
    assert len({listing, Listing((), more=False, withheld=1), Listing((entry,), more=True, withheld=1), Listing((entry,), more=False, withheld=0)}) == 4
    assert all(len({hash(kind(*fields)) for fields in some}) > 1 for kind, some in VALUES)
    assert repr(trouble) == "Trouble('not_found', 'no such file')"
    assert repr(entry) == "Entry('a', 'file')"
    assert repr(listing) == "Listing(1 entries, more=False, withheld=1)"


class TestNode:
    """What an opened file or directory knows about itself."""

    @EACH_SYSTEM
    def test_facts(self, system: System, tmp_path: Path) -> None:
        """Kind, size, identity and stamp are those of the thing that was opened."""
        folder = plant(tmp_path / "root", ["d/t.txt"])
        status = (folder / "d/t.txt").stat()

        with Root(folder, backend=system.backend) as root, opened(root, "d/t.txt") as node, opened(root, "d") as parent:
            assert (node.kind, node.size, node.target) == ("file", 2, None)
            assert node.identity == (status.st_dev, status.st_ino)
            assert node.stamp == (status.st_dev, status.st_ino, 2, status.st_mtime_ns, status.st_ctime_ns)
            assert (parent.kind, parent.size) == ("directory", 0)

    @EACH_SYSTEM
    def test_two_names_of_one_file(self, system: System, tmp_path: Path) -> None:
        """A hard link and a followed link have the identity of the file, its neighbour has not."""
        folder = plant(tmp_path / "root", ["t.txt", "other.txt", "l => t.txt"])
        (folder / "hard.txt").hardlink_to(folder / "t.txt")

        with Root(folder, symlinks="inside", backend=system.backend) as root:
            identities = [identify(root, name) for name in ("t.txt", "hard.txt", "l", "other.txt")]

        assert identities[0] == identities[1] == identities[2] != identities[3]

    def test_no_inode(self) -> None:
        """Where the file system gives no inode there is no identity, and so no merging."""
        status = os.stat_result((stat.S_IFREG, 0, 1, 1, 0, 0, 0, 0, 0, 0))
        with Node(Root(), os.dup(0), status, kind="file", name="a", target=None) as node:
            assert node.identity is None
            assert node.stamp is None

    @EACH_SYSTEM
    def test_the_wrong_verb(self, system: System, tmp_path: Path) -> None:
        """A directory cannot be read, a file not be listed: trouble, no exception."""
        folder = plant(tmp_path / "root", ["d/t.txt"])
        with Root(folder, backend=system.backend) as root, opened(root, "d") as directory, opened(root, "d/t.txt") as file:
            assert directory.read(1) == Trouble(Reason.NOT_REGULAR, "a folder, not a file")
            assert file.entries(1) == Trouble(Reason.NOT_REGULAR, "a file, not a folder")

    @EACH_SYSTEM
    def test_error_after_close(self, system: System, tmp_path: Path) -> None:
        """A closed node says so; closing twice does nothing."""
        folder = plant(tmp_path / "root", ["t.txt"])
        with Root(folder, backend=system.backend) as root:
            node, directory = opened(root, "t.txt"), opened(root, ".")
            assert node.read(1) == b"I"
            for _ in range(2):
                node.close()
                directory.close()
            with pytest.raises(RootClosedError, match=r"^root 't.txt': this file or folder of it was closed$") as caught:
                node.read(1)
            assert caught.value.root == "t.txt"
            with pytest.raises(RootClosedError, match=r"^root '.': this file or folder of it was closed$"):
                directory.entries(1)

    @EACH_SYSTEM
    def test_forgotten_ones_are_collected(self, system: System, tmp_path: Path) -> None:
        """A node that nobody closes takes its descriptors with it, and so does a root."""
        folder = plant(tmp_path / "root", ["t.txt"])
        before = count_descriptors()
        root = Root(folder, backend=system.backend)
        for _ in range(10):
            opened(root, "t.txt").read(None)
        del root
        gc.collect()

        assert before == count_descriptors()


def identify(root: Root, name: str) -> tuple[int, int] | None:
    with opened(root, name) as node:
        return node.identity


def count_descriptors() -> int:
    return len(os.listdir("/proc/self/fd" if LINUX else "/dev/fd"))  # noqa: PTH208 (its own entry is always one)


class TestRead:
    """`Node.read` gives what is there, in the pieces that were asked for."""

    @EACH_SYSTEM
    @pytest.mark.parametrize("size", [0, 1, 65536, 1 << 20, (1 << 20) + 1, 3 * (1 << 20)])
    def test_whole_and_in_pieces(self, size: int, system: System, tmp_path: Path) -> None:
        """Pieces follow each other; together they are the file; behind the end there is nothing."""
        content = bytes(range(256)) * (size // 256 + 1)
        folder = plant(tmp_path / "root", [])
        (folder / "f").write_bytes(content[:size])

        with Root(folder, backend=system.backend) as root:
            with opened(root, "f") as node:
                assert node.read(None) == content[:size]
                assert node.read(None) == b""
            with opened(root, "f") as node:
                pieces = [node.read(limit) for limit in (0, 1, 1000, size, 5, 5)]

        assert [b"", content[:size][:1], content[:size][1:1001], content[:size][1001:], b"", b""] == pieces

    @EACH_SYSTEM
    def test_a_file_that_grew(self, system: System, tmp_path: Path) -> None:
        """What was written behind the size that was seen is read too, but never more than the limit."""
        folder = plant(tmp_path / "root", ["f"])
        with Root(folder, backend=system.backend) as root, opened(root, "f") as node, (folder / "f").open("ab") as writer:
            writer.write(b"x" * 200_000)
            writer.flush()
            assert node.size == 2
            assert node.read(100_000) == b"IN" + b"x" * 99_998
            assert node.read(None) == b"x" * 100_002
            writer.write(b"more")
            writer.flush()
            assert node.read(None) == b"more"

    @EACH_SYSTEM
    def test_a_file_that_shrank(self, system: System, tmp_path: Path) -> None:
        """A file that is shorter than it looked ends where it ends."""
        folder = plant(tmp_path / "root", [])
        (folder / "f").write_bytes(b"x" * 100_000)
        with Root(folder, backend=system.backend) as root, opened(root, "f") as node:
            os.truncate(folder / "f", 10)
            assert node.read(None) == b"x" * 10

    @needs_linux
    @EACH_SYSTEM
    def test_files_that_state_no_size(self, system: System) -> None:
        """The files of procfs state 0 bytes and hold something: they are read to their end."""
        with Root("/proc/self", backend=system.backend) as root, opened(root, "status") as node, opened(root, "status") as again:
            whole = node.read(None)
            pieces = [again.read(100), again.read(100), again.read(None)]
            assert node.size == 0

        assert isinstance(whole, bytes)
        assert whole.startswith(b"Name:")
        assert pieces[:2] == [whole[:100], whole[100:200]]
        assert isinstance(pieces[2], bytes)
        assert len(pieces[2]) > 100

    @needs_linux
    @EACH_SYSTEM
    def test_short_answers_are_not_the_end(self, system: System) -> None:
        """Such files give a page at a time, and the memory map of a Python takes several: the stack is near its end."""
        with Root("/proc/self", backend=system.backend) as root, opened(root, "maps") as node:
            content = node.read(None)

        assert isinstance(content, bytes)
        assert len(content) > 4096
        assert b"[stack]" in content

    @EACH_SYSTEM
    def test_a_tebibyte_of_nothing(self, system: System, tmp_path: Path) -> None:
        """Memory is taken for what was asked for, not for what is there nor for what is allowed."""
        folder = plant(tmp_path / "root", ["small"])
        with (folder / "big").open("wb") as file:
            file.truncate(1 << 40)

        tracemalloc.start()
        with Root(folder, backend=system.backend) as root, opened(root, "big") as big, opened(root, "small") as small:
            assert big.size == 1 << 40
            assert big.read(1 << 20) == bytes(1 << 20)
            assert small.read(1 << 40) == b"IN"
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        assert peak < 4 << 20

    @EACH_BACKEND
    @needs_linux
    def test_the_file_that_was_opened(self, system: System, tmp_path: Path) -> None:
        """A node reads what was looked at, whatever has its name by then, or nobody any more."""
        folder = plant(tmp_path / "root", ["d/a.txt", "b.txt"])
        with Root(folder, backend=system.backend) as root, opened(root, "d/a.txt") as first, opened(root, "b.txt") as second:
            shutil.rmtree(folder / "d")
            (folder / "d").symlink_to("../outside")
            (folder / "b.txt").unlink()
            (folder / "b.txt").symlink_to("../outside/secret.txt")
            assert first.read(None) == b"IN"
            assert second.read(None) == b"IN"

    @needs_linux
    @pytest.mark.parametrize("system", SYSTEMS[2:4], indirect=True)
    @pytest.mark.parametrize(
        "change",
        [
            pytest.param(lambda path: path.symlink_to("../outside/secret.txt"), id="a link"),
            pytest.param(lambda path: path.write_text("SECRET", encoding="utf-8"), id="another file"),
            pytest.param(os.mkfifo, id="a FIFO"),
            pytest.param(os.mkdir, id="a directory"),
        ],
    )
    def test_error_exchanged_before_reading(self, change: Callable[[Path], object], system: System, tmp_path: Path) -> None:
        """Without procfs the name is opened once more, and compared: something else is not read."""
        folder = plant(tmp_path / "root", ["a.txt", "keep.txt"])
        with Root(folder, backend=system.backend) as root, opened(root, "a.txt") as node:
            (folder / "a.txt").rename(folder / "b.txt")
            change(folder / "a.txt")
            found = node.read(None)

        assert isinstance(found, Trouble)
        assert found.reason is Reason.BUSY

    @needs_linux
    @pytest.mark.parametrize("system", SYSTEMS[2:4], indirect=True)
    def test_error_folder_moved_out_before_reading(self, system: System, tmp_path: Path) -> None:
        """Without procfs the name is walked once more, part by part: a link to the folder it was in leads to the very file, and out."""
        folder = plant(tmp_path / "root", ["d/e/a.txt", "keep.txt"])
        with Root(folder, backend=system.backend) as root, opened(root, "d/e/a.txt") as node:
            (folder / "d").rename(tmp_path / "moved")
            (folder / "d").symlink_to("../moved")
            found = node.read(None)

        assert found == Trouble(Reason.BUSY, "it is locked, or changes too fast")

    @needs_linux
    @pytest.mark.parametrize("system", SYSTEMS[2:4], indirect=True)
    def test_error_gone_before_reading(self, system: System, tmp_path: Path) -> None:
        """Without procfs a file that was deleted, or whose root was closed, can no longer be read."""
        folder = plant(tmp_path / "root", ["a.txt", "b.txt"])
        root = Root(folder, backend=system.backend)
        with root, opened(root, "a.txt") as first:
            second = opened(root, "b.txt")
            (folder / "a.txt").unlink()
            assert first.read(None) == Trouble(Reason.NOT_FOUND, "no such file")
        with second, pytest.raises(RootClosedError):
            second.read(None)

    @EACH_BACKEND
    @needs_linux
    def test_error_while_reading(self, system: System) -> None:
        """A file that opens but cannot be read is trouble: this process's memory has nothing at its beginning."""
        with Root("/proc/self", backend=system.backend) as root, opened(root, "mem") as node:
            found = node.read(100)

        assert found == Trouble(Reason.IO_ERROR, "the disk or file system failed")

    @EACH_SYSTEM
    @needs_linux
    def test_a_leased_file(self, system: System, tmp_path: Path) -> None:
        """A file under somebody's lease is busy; nobody waits for the 45 seconds that the lease may last."""
        folder = plant(tmp_path / "root", ["f"])
        previous = signal.signal(signal.SIGIO, signal.SIG_IGN)
        try:
            with Root(folder, backend=system.backend) as root, (folder / "f").open("rb+") as holder:
                fcntl.fcntl(holder, fcntl.F_SETLEASE, fcntl.F_WRLCK)
                found = root.open("f")
                if isinstance(found, Node):
                    with found:
                        assert found.read(1) == Trouble(Reason.BUSY, "it is locked, or changes too fast")
                else:
                    assert found.reason is Reason.BUSY
        finally:
            signal.signal(signal.SIGIO, previous)


class TestEntries:
    """`Node.entries` gives names and kinds, and stops where it was told."""

    @EACH_SYSTEM
    def test_kinds_in_the_order_of_bytes(self, system: System, tmp_path: Path) -> None:
        """Names are sorted by their bytes; links are not followed to see what they are."""
        folder = plant(tmp_path / "root", ["b", "a/x", "Z", "é", "\udcff", "l => a", "out => ../outside", "loop => loop", "p |", "s ="])

        with Root(folder, backend=system.backend) as root, opened(root, ".") as node:
            listing = node.entries(None)

        assert listing == Listing(
            (
                Entry("Z", "file"),
                Entry("a", "directory"),
                Entry("b", "file"),
                Entry("l", "link"),
                Entry("loop", "link"),
                Entry("out", "link"),
                Entry("p", "other"),
                Entry("s", "other"),
                Entry("é", "file"),
                Entry("\udcff", "file"),
            ),
            more=False,
            withheld=0,
        )

    def test_a_kind_that_cannot_be_found_out(self) -> None:
        """Where a file system does not say what an entry is, and asking fails, it is something else."""

        class Unknown:
            name = "a"

            def is_symlink(self) -> bool:
                raise PermissionError

        assert nodes._kind_of(Unknown()) == "other"  # type: ignore[arg-type]

    @EACH_SYSTEM
    def test_limits(self, system: System, tmp_path: Path) -> None:
        """No more names are read than allowed; whether there are more is said."""
        folder = plant(tmp_path / "root", [f"f{number}" for number in range(5)])

        with Root(folder, backend=system.backend) as root, opened(root, ".") as node:
            listings = [node.entries(limit) for limit in (0, 4, 5, 6, None)]

        assert [(0, True), (4, True), (5, False), (5, False), (5, False)] == [(len(each.entries), each.more) for each in listings]  # type: ignore[union-attr]

    @EACH_BACKEND
    def test_a_folder_of_thousands(self, system: System, tmp_path: Path) -> None:
        """A large folder costs what was asked for: 5,000 names, of which 10 are read."""
        folder = plant(tmp_path / "root", [])
        for number in range(5000):
            os.close(os.open(folder / f"{number:04}-{'x' * 100}", os.O_CREAT | os.O_WRONLY))

        with Root(folder, backend=system.backend) as root, opened(root, ".") as node:
            tracemalloc.start()
            listing = node.entries(10)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()

        assert isinstance(listing, Listing)
        assert len(listing.entries) == 10
        assert listing.more
        assert peak < 200_000

    @EACH_SYSTEM
    def test_secrets_are_counted_not_named(self, system: System, tmp_path: Path) -> None:
        """Secret names are left out and counted; allowed ones, and folders called like a secret file, stay."""
        folder = plant(tmp_path / "root", ["c/.env", "c/.env.local", "c/server.key", "c/app.yml", "c/.git/x", "c/id_rsa/", "c/.netrc => app.yml"])

        with Root(folder, allow=("c/.env",), backend=system.backend) as root, opened(root, "c") as node:
            listing = node.entries(None)

        assert listing == Listing((Entry(".env", "file"), Entry("app.yml", "file"), Entry("id_rsa", "directory")), more=False, withheld=4)

    @EACH_SYSTEM
    def test_secrets_that_are_allowed_are_listed(self, system: System, tmp_path: Path) -> None:
        """What would be opened is listed, in the root as in a folder of it, and nothing else of that name is."""
        folder = plant(tmp_path / "root", [".env", "d/.env", "e/.env"])
        with Root(folder, allow=[".env", "d/.env"], backend=system.backend) as root:
            assert [list_names(root, name) for name in (".", "d", "e")] == [[".env", "d", "e"], [".env"], []]

    @EACH_SYSTEM
    def test_secrets_by_the_folder_they_are_in(self, system: System, tmp_path: Path) -> None:
        """What is a secret only in a certain folder is one under the folder's own name and under a link's."""
        folder = plant(tmp_path / "root", [".docker/config.json", "l => .docker", "d/config.json", "e/.docker => ../d"])

        with Root(folder, symlinks="inside", backend=system.backend) as root:
            withheld = [list_names(root, name) for name in (".docker", "l", "d", "e/.docker")]

        assert withheld == [[], [], ["config.json"], []]

    @EACH_SYSTEM
    def test_names_stay_inside(self, system: System, tmp_path: Path) -> None:
        """Every name in a listing opens under the folder's name, but for links and special files."""
        folder = plant(tmp_path / "root", ["d/a", "d/b/c", "l => d"])
        with Root(folder, symlinks="inside", backend=system.backend) as root, opened(root, "l") as node:
            listing = node.entries(None)
            assert isinstance(listing, Listing)
            for entry in listing.entries:
                with opened(root, f"{node.name}/{entry.name}") as found:
                    assert found.kind == entry.kind

    @EACH_BACKEND
    @needs_linux
    def test_a_deleted_folder(self, system: System, tmp_path: Path) -> None:
        """A folder that was deleted after it was opened says so."""
        folder = plant(tmp_path / "root", ["d/"])
        with Root(folder, backend=system.backend) as root, opened(root, "d") as node:
            (folder / "d").rmdir()
            assert node.entries(None) == Trouble(Reason.NOT_FOUND, "the folder was deleted")


def list_names(root: Root, name: str) -> list[str]:
    with opened(root, name) as node:
        listing = node.entries(None)
    assert isinstance(listing, Listing)
    return [entry.name for entry in listing.entries]


class TestHostileFiles:
    """What would block, wake or count a reader is never opened."""

    @EACH_SYSTEM
    def test_a_pipe_with_a_writer_in_wait(self, system: System, tmp_path: Path) -> None:
        """A writer that waits for a reader goes on waiting: nobody opened the pipe."""
        folder = plant(tmp_path / "root", ["p |"])
        woken = threading.Event()

        def write() -> None:
            descriptor = os.open(folder / "p", os.O_WRONLY)
            woken.set()
            os.close(descriptor)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            with Root(folder, backend=system.backend) as root:
                for name in ("p", "./p", "p/", "p/x"):
                    assert root.open(name).reason is Reason.NOT_REGULAR  # type: ignore[union-attr]
            assert not woken.wait(0.1)
        finally:
            os.close(os.open(folder / "p", os.O_RDONLY | os.O_NONBLOCK))
            writer.join()
        assert woken.is_set()

    @needs_linux
    @EACH_SYSTEM
    def test_devices(self, system: System) -> None:
        """Devices are not opened: a driver may do anything when it is."""
        with Root("/dev", backend=system.backend) as root:
            assert root.open("null").reason is Reason.NOT_REGULAR  # type: ignore[union-attr]

    @needs_linux
    @EACH_SYSTEM
    @EACH_POLICY
    def test_magic_links(self, policy: SymlinkPolicy, system: System) -> None:
        """The links of procfs that lead anywhere by themselves lead nowhere."""
        with Root("/proc/self", symlinks=policy, backend=system.backend) as root:
            for name in ("root/etc/passwd", "cwd", "exe", "fd/0"):
                found = root.open(name)
                assert isinstance(found, Trouble)
                assert found.reason in {Reason.SYMLINK, Reason.OUTSIDE_ROOT, Reason.SYMLINK_LOOP, Reason.NOT_FOUND}

    @pytest.mark.parametrize("system", SYSTEMS[4:], indirect=True)
    @EACH_POLICY
    @pytest.mark.parametrize(
        "change",
        [
            # To another name of the very file: only not following it tells the difference.
            pytest.param(lambda path: path.symlink_to("../outside/same.txt"), id="a link"),
            pytest.param(lambda path: path.write_text("SECRET", encoding="utf-8"), id="another file"),
            pytest.param(os.mkfifo, id="a FIFO"),
            pytest.param(os.mkdir, id="a directory"),
            pytest.param(bind_socket, id="a socket"),
        ],
    )
    def test_error_exchanged_between_looking_and_opening(
        self, change: Callable[[Path], object], policy: SymlinkPolicy, system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without handles a name is looked at and then opened: what is something else by then is not taken."""
        folder = plant(tmp_path / "root", ["a.txt", "keep.txt"])
        (tmp_path / "outside/same.txt").hardlink_to(folder / "a.txt")
        genuine = os.stat

        def look_then_change(path: Any, **options: Any) -> os.stat_result:
            status = genuine(path, **options)
            if path == "a.txt" and options.get("dir_fd") is not None:
                (folder / "a.txt").rename(tmp_path / "moved")
                change(folder / "a.txt")
            return status

        with Root(folder, symlinks=policy, backend=system.backend) as root:
            monkeypatch.setattr(os, "stat", look_then_change)
            found = root.open("a.txt")
            monkeypatch.undo()

        assert found == Trouble(Reason.BUSY, "it is locked, or changes too fast")

    @pytest.mark.parametrize("system", SYSTEMS[4:], indirect=True)
    @EACH_POLICY
    def test_error_directory_moved_out_between_looking_and_opening(
        self, policy: SymlinkPolicy, system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A link to the very directory that was looked at, which is outside by then, is not followed either."""
        folder = plant(tmp_path / "root", ["d/t.txt"])
        genuine = os.stat

        def look_then_move(path: Any, **options: Any) -> os.stat_result:
            status = genuine(path, **options)
            if path == "d":
                (folder / "d").rename(tmp_path / "moved")
                (folder / "d").symlink_to("../moved")
            return status

        with Root(folder, symlinks=policy, backend=system.backend) as root:
            monkeypatch.setattr(os, "stat", look_then_move)
            found = root.open("d")
            monkeypatch.undo()

        assert found == Trouble(Reason.BUSY, "it is locked, or changes too fast")

    def test_a_step_up_asks_for_the_right_to_search(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The walk asks of the directory that it leaves by `..` what the kernel would, and of no other."""
        folder = plant(tmp_path / "root", ["d/e/t.txt", "a.txt"])
        genuine, asked = os.stat, []

        def look(path: Any, **options: Any) -> os.stat_result:
            if path == ".":
                asked.append(os.fstat(options["dir_fd"]).st_ino)
            return genuine(path, **options)

        with Root(folder, backend="walk") as root:
            monkeypatch.setattr(os, "stat", look)
            found = root.open("d/e/../../a.txt")
            monkeypatch.undo()

        assert answer(found) == ("a.txt", None)
        assert asked == [(folder / "d/e").stat().st_ino, (folder / "d").stat().st_ino]

    @EACH_SYSTEM
    def test_a_hard_link_is_a_file(self, system: System, tmp_path: Path) -> None:
        """A hard link inside is a file inside; that is not promised to be stopped."""
        folder = plant(tmp_path / "root", [])
        (folder / "h.txt").hardlink_to(tmp_path / "outside/secret.txt")
        with Root(folder, backend=system.backend) as root, opened(root, "h.txt") as node:
            assert node.read(None) == b"SECRET"

    @EACH_SYSTEM
    def test_real_paths_longer_than_the_system_takes(self, system: System, tmp_path: Path) -> None:
        """Where links lead deeper than PATH_MAX, resolving by text calls the outside the inside; here it stays outside."""
        folder = plant(tmp_path / "root", [])
        handle = os.open(folder, os.O_RDONLY)
        # Two folders a link: from 20 links on Linux may count each of them twice.
        for _ in range(10):
            os.mkdir("d" * 250, dir_fd=handle)
            os.mkdir(f"{'d' * 250}/{'e' * 250}", dir_fd=handle)
            os.symlink(f"{'d' * 250}/{'e' * 250}", "s", dir_fd=handle)
            deeper = os.open("s", os.O_RDONLY, dir_fd=handle)
            os.close(handle)
            handle = deeper
        os.symlink("../" * 21 + "outside/secret.txt", "out", dir_fd=handle)
        os.close(os.open("in", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
        os.close(handle)

        with Root(folder, symlinks="inside", backend=system.backend) as root:
            out, inside, up = (answer(patiently(root, "s/" * 10 + name)) for name in ("out", "in", "../" * 20))

        assert out is Reason.OUTSIDE_ROOT
        assert inside is Reason.BAD_NAME
        assert up == (".", None)

    @EACH_SYSTEM
    def test_links_that_lead_too_deep(self, system: System, tmp_path: Path) -> None:
        """A link may not lead deeper than a name could: each folder on the way of a walk costs a descriptor."""
        deep = "/".join("d" * 300)
        folder = plant(tmp_path / "root", ["l => " + deep, "m => " + deep + "/t.txt", deep + "/t.txt"])

        with Root(folder, symlinks="inside", backend=system.backend) as root:
            assert [answer(root.open(name)) for name in ("l", "m", "l/t.txt")] == [Reason.BAD_NAME] * 3

    def test_a_walk_down_and_up_again(self, tmp_path: Path) -> None:
        """The walk does not go deeper than a name could, though it would come back: here openat2 goes further."""
        deep = "/".join("d" * 300)
        folder = plant(tmp_path / "root", [deep + "/", "t.txt", "l => " + deep + "/.." * 300 + "/t.txt"])

        with Root(folder, symlinks="inside", backend="walk") as root:
            assert answer(root.open("l")) is Reason.BAD_NAME


class TestNames:
    """The name of what was found, where names are hard to tell."""

    @EACH_SYSTEM
    def test_a_name_that_looks_deleted(self, system: System, tmp_path: Path) -> None:
        """The kernel writes ` (deleted)` behind what is gone; a file may be called that all the same."""
        folder = plant(tmp_path / "root", ["a (deleted)", "l => a (deleted)", "d (deleted)/t.txt", "m => d (deleted)"])
        with Root(folder, symlinks="inside", backend=system.backend) as root:
            assert answer(root.open("l")) == ("l", "a (deleted)")
            assert answer(root.open("m")) == ("m", "d (deleted)")
            assert answer(root.open("m/t.txt")) == ("m/t.txt", "d (deleted)/t.txt")

    @EACH_SYSTEM
    def test_a_name_that_leads_over_a_link_and_back(self, system: System, tmp_path: Path) -> None:
        """Where the name typed, its steps up taken by text, is the real one, no other target is told."""
        folder = plant(tmp_path / "root", ["a/b/t.txt", "l => a", "m => a/b"])
        with Root(folder, symlinks="inside", backend=system.backend) as root:
            assert answer(root.open("l/../a/b/t.txt")) == ("a/b/t.txt", None)
            assert answer(root.open("m/../b/t.txt")) == ("a/b/t.txt", "a/b/t.txt")

    @EACH_SYSTEM
    def test_as_deep_as_a_name_may_be(self, system: System, tmp_path: Path) -> None:
        """A folder of 255 parts is opened, a file in it has one part too many."""
        folder = plant(tmp_path / "root", ["d/" * 255])
        with Root(folder, symlinks="inside", backend=system.backend) as root:
            assert answer(root.open("d/" * 255)) == ("/".join("d" * 255), None)
            assert answer(root.open("d/" * 255 + "t.txt")) is Reason.BAD_NAME

    @EACH_SYSTEM
    @pytest.mark.parametrize("name", ["X", "rootX", " ", "root (deleted)", "root.", "r\u00f6\u00f6t", "root\n"])
    def test_a_root_of_any_name(self, name: str, system: System, tmp_path: Path) -> None:
        """What the root itself is called does not matter, where the names of what is in it are made from its own."""
        folder = plant(tmp_path / name, ["t.txt", "l => t.txt"])
        with Root(folder, symlinks="inside", backend=system.backend) as root:
            assert answer(root.open("l")) == ("l", "t.txt")

    @needs_linux
    @pytest.mark.parametrize(
        ("after", "reason"),
        [
            pytest.param(lambda path: path.unlink(), Reason.NOT_FOUND, id="deleted"),
            pytest.param(lambda path: path.rename(f"{path.parent}/a.txt (deleted)"), ("l", "a.txt (deleted)"), id="renamed so that it looks deleted"),
            pytest.param(
                lambda path: (path.unlink(), (path.parent / "a.txt (deleted)").write_text("IN", encoding="utf-8")),
                Reason.BUSY,
                id="deleted beside one that looks so",
            ),
            pytest.param(lambda path: path.rename(path.parent.parent / "outside/x"), Reason.BUSY, id="moved out"),
            pytest.param(lambda path: (path.rename(path.parent / "b.txt"), path.write_text("IN", encoding="utf-8")), ("l", "b.txt"), id="renamed inside"),
        ],
    )
    def test_changes_between_opening_and_naming(self, after: Callable[[Path], object], reason: Any, tmp_path: Path) -> None:
        """A file that is moved or deleted before its name could be asked for gets no wrong one."""
        folder = plant(tmp_path / "root", ["a.txt", "l => a.txt"])
        with Root(folder, symlinks="inside", backend="openat2") as root:
            genuine = root._opener
            assert genuine is not None

            def open_then_change(directory: int, name: bytes, how: openat2.How) -> int:
                descriptor = genuine(directory, name, how)
                if descriptor >= 0 and name == b"l":
                    after(folder / "a.txt")
                return descriptor

            root._opener = open_then_change
            assert answer(root.open("l")) == reason

    @needs_linux
    @pytest.mark.parametrize(("failures", "expected"), [(0, ("l", "a.txt")), (1, ("l", "a.txt")), (2, Reason.SYMLINK_LOOP)])
    def test_a_link_that_is_counted_twice(self, failures: int, expected: Any, tmp_path: Path) -> None:
        """Linux may find a link one too many where its cache lets it down; it is asked once more, and then believed."""
        folder = plant(tmp_path / "root", ["a.txt", "l => a.txt"])
        with Root(folder, symlinks="inside", backend="openat2") as held:
            genuine, left = held._opener, [errno.ELOOP] * failures
            assert genuine is not None

            def open_badly(directory: int, name: bytes, how: openat2.How) -> int:
                descriptor = genuine(directory, name, how)
                if descriptor < 0 or not left:
                    return descriptor
                os.close(descriptor)
                return -left.pop()

            held._opener = open_badly
            assert answer(held.open("l")) == expected

    @needs_linux
    def test_a_root_that_is_renamed_between_two_looks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The name of a file is asked for again when the root's own name, asked for first, no longer fits."""
        folder = plant(tmp_path / "root", ["a.txt", "l => a.txt"])
        genuine, calls = root._own_name, iter(range(100))

        def look_then_rename(descriptor: int) -> str:
            name = genuine(descriptor)
            if next(calls) == 0:
                folder.rename(tmp_path / "moved")
            return name

        monkeypatch.setattr(root, "_own_name", look_then_rename)
        with Root(folder, symlinks="inside", backend="openat2") as held:
            assert answer(held.open("l")) == ("l", "a.txt")

    @EACH_SYSTEM
    def test_a_root_that_is_renamed(self, system: System, tmp_path: Path) -> None:
        """The root is the directory, not its name: an impostor under the old name is not seen."""
        folder = plant(tmp_path / "root", ["t.txt", "l => t.txt"])
        with Root(folder, symlinks="inside", backend=system.backend) as root:
            folder.rename(tmp_path / "moved")
            plant(tmp_path / "root", ["impostor.txt"])
            assert answer(root.open("t.txt")) == ("t.txt", None)
            assert answer(root.open("l")) == ("l", "t.txt")
            assert root.open("impostor.txt").reason is Reason.NOT_FOUND  # type: ignore[union-attr]

    @EACH_SYSTEM
    def test_a_root_that_is_deleted(self, system: System, tmp_path: Path) -> None:
        """When the folder was deleted, every refusal says so."""
        folder = plant(tmp_path / "root", ["t.txt"])
        with Root(folder, backend=system.backend) as root:
            shutil.rmtree(folder)
            plant(folder, ["t.txt"])
            assert explain(root, "t.txt") == "no such file, and the root folder itself was deleted"
            with opened(root, ".") as node:
                listing = node.entries(None)

        assert listing == Trouble(Reason.NOT_FOUND, "the folder was deleted")


class TestLife:
    """Closing, threads, forks, descriptors."""

    @EACH_SYSTEM
    def test_error_after_close(self, system: System, tmp_path: Path) -> None:
        """A closed root opens nothing, not even to say that a name is bad; closing again does nothing."""
        root = Root(tmp_path, backend=system.backend)
        root.close()
        root.close()
        for name in ("t.txt", "/", ""):
            with pytest.raises(RootClosedError, match=r": it was closed$") as caught:
                root.open(name)
            assert caught.value.root == str(tmp_path)

    @EACH_SYSTEM
    def test_nodes_outlive_their_root(self, system: System, tmp_path: Path) -> None:
        """What was opened stays readable when the root is closed, where the handle can be read through."""
        folder = plant(tmp_path / "root", ["t.txt"])
        with Root(folder, backend=system.backend) as root:
            file, directory = opened(root, "t.txt"), opened(root, ".")
        with file, directory:
            assert isinstance(directory.entries(None), Listing)
            if system.procfs or not system.handles:
                assert file.read(None) == b"IN"

    @needs_linux
    def test_close_waits(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """`close` returns when the last running call has ended, and the descriptor is good until then, whatever calls are refused meanwhile."""
        imitate(System("openat2", procfs=False), monkeypatch)
        folder = plant(tmp_path / "root", ["t.txt", "u.txt"])
        entered, leave, closed = threading.Event(), threading.Event(), threading.Event()
        found: list[Node | Trouble] = []
        root = Root(folder, backend="openat2")
        unread = opened(root, "u.txt")
        genuine = root._opener
        assert genuine is not None

        def slow(directory: int, name: bytes, how: openat2.How) -> int:
            entered.set()
            leave.wait()
            return genuine(directory, name, how)

        root._opener = slow
        threads = [
            threading.Thread(target=lambda: found.append(root.open("t.txt"))),
            threading.Thread(target=lambda: (root.close(), closed.set())),
            threading.Thread(target=root.close),
        ]
        threads[0].start()
        entered.wait()
        threads[1].start()
        threads[2].start()
        assert not closed.wait(0.1)
        with pytest.raises(RootClosedError):
            root.open("t.txt")
        with unread, pytest.raises(RootClosedError, match=r": it was closed$") as caught:
            unread.read(None)
        assert caught.value.root == str(folder)
        assert not closed.wait(0.2)
        leave.set()
        for thread in threads:
            thread.join()

        assert closed.is_set()
        monkeypatch.undo()
        assert answer(found[0]) == ("t.txt", None)

    @EACH_BACKEND
    def test_close_under_fire(self, system: System, tmp_path: Path) -> None:
        """However closing falls between openings, a name never opens beneath a descriptor that is something else by then."""
        folder = plant(tmp_path / "root", ["d/t.txt"])
        trap = plant(tmp_path / "trap", [])
        (trap / "d").mkdir()
        (trap / "d/t.txt").write_text("TRAP", encoding="utf-8")
        wrong: list[object] = []

        def use(root: Root) -> None:
            try:
                while True:
                    with opened(root, "d/t.txt") as node:
                        if node.read(None) != b"IN":
                            wrong.append(node)
            except RootClosedError:
                pass

        for _ in range(30):
            root = Root(folder, backend=system.backend)
            threads = [threading.Thread(target=use, args=(root,)) for _ in range(3)]
            for thread in threads:
                thread.start()
            root.close()
            # Takes the number that has just become free.
            descriptors = [os.open(trap, os.O_RDONLY) for _ in range(8)]
            for thread in threads:
                thread.join()
            for descriptor in descriptors:
                os.close(descriptor)

        assert not wrong

    @EACH_SYSTEM
    def test_shared_by_threads(self, system: System, tmp_path: Path) -> None:
        """Threads that share a root each get their own file, from their own beginning."""
        folder = plant(tmp_path / "root", ["l => d", "d/"])
        for number in range(8):
            (folder / f"d/{number}").write_text(str(number) * 1000, encoding="utf-8")
        wrong: list[object] = []

        def use(number: int) -> None:
            for _ in range(50):
                with opened(root, f"l/{number}") as node:
                    if (node.read(300), node.read(None), node.target) != (b"%d" % number * 300, b"%d" % number * 700, f"d/{number}"):
                        wrong.append(node)

        with Root(folder, symlinks="inside", backend=system.backend) as root:
            threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        assert not wrong

    @pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps], ids=["a copy", "a deep copy", "a pickle"])
    def test_error_a_handle_is_not_copied(self, duplicate: Callable[[object], object], tmp_path: Path) -> None:
        """A copy would close the handle, and the other one then look into whatever has its number."""
        folder = plant(tmp_path / "root", ["t.txt"])
        with Root(folder) as root, opened(root, "t.txt") as node:
            for one, words in ((root, "and read what has its number by then; it may be shared"), (node, "two would close one handle")):
                with pytest.raises(TypeError, match=f"^a {type(one).__name__} cannot be copied: .*{words}$"):
                    duplicate(one)
            gc.collect()

            assert node.read(None) == b"IN"
            assert answer(root.open("t.txt")) == ("t.txt", None)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
    @EACH_SYSTEM
    def test_after_a_fork(self, system: System, tmp_path: Path) -> None:
        """A child uses and closes the root, whatever calls its parent had running; the parent's reading is not moved."""
        folder = plant(tmp_path / "root", ["t.txt"])
        with Root(folder, backend=system.backend) as root, opened(root, "t.txt") as node:
            assert node.read(1) == b"I"
            elsewhere = object()
            root._calls.begin(elsewhere)
            child = os.fork()
            if not child:
                status = 1
                try:
                    fine = node.read(None) == b"N" and answer(root.open("t.txt")) == ("t.txt", None)
                    root.close()
                    status = 0 if fine and root.closed else 2
                finally:
                    os._exit(status)
            _, status = os.waitpid(child, 0)
            root._calls.running.discard(elsewhere)
            root._calls.wake()

            assert os.waitstatus_to_exitcode(status) == 0
            assert node.read(None) == b"N"
            assert answer(root.open("t.txt")) == ("t.txt", None)

    @needs_linux
    @EACH_SYSTEM
    def test_nothing_is_inherited(self, system: System, tmp_path: Path) -> None:
        """A program that is started meanwhile gets none of the descriptors."""
        folder = plant(tmp_path / "root", ["t.txt", "d/"])
        code = "import os; print(*(os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd') if os.path.lexists(f'/proc/self/fd/{n}')))"
        with Root(folder, backend=system.backend) as root, opened(root, "t.txt") as node, opened(root, "d") as _:
            node.read(1)
            run = subprocess.run([sys.executable, "-c", code], close_fds=False, capture_output=True, check=True, encoding="utf-8")

        assert run.stdout
        assert str(folder) not in run.stdout

    @EACH_SYSTEM
    def test_error_no_descriptor_left(self, system: System, tmp_path: Path) -> None:
        """A process that has no descriptor left is told so, and goes on when it has one again."""
        folder = plant(tmp_path / "root", ["a/b/t.txt"])
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with Root(folder, backend=system.backend) as root, opened(root, "a/b/t.txt") as node, opened(root, "a") as directory:
            answer(root.open("a/b/t.txt"))
            highest = max(int(name) for name in os.listdir("/dev/fd"))  # noqa: PTH208
            resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, hard))
            fillers = []
            try:
                while True:
                    fillers.append(os.dup(0))
            except OSError:
                found = [root.open("a/b/t.txt"), node.read(1), directory.entries(1)]
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                for filler in fillers:
                    os.close(filler)
            expected = Trouble(Reason.BUSY, "too many files are open")
            # Without handles a file is open for reading from the beginning.
            assert found == [expected, expected if system.handles else b"I", expected]
            assert answer(root.open("a/b/t.txt")) == ("a/b/t.txt", None)

    @needs_linux
    @pytest.mark.parametrize("backend", ["openat2", "walk"])
    def test_audit_events(self, backend: Backend, tmp_path: Path) -> None:
        """A host that watches `open` by an audit hook sees every opening, and may forbid it."""
        folder = plant(tmp_path / "root", ["t.txt"])
        code = """
            import os, sys
            from filerefs.root import Root
            root = Root(sys.argv[1], backend=sys.argv[2])
            seen, forbidden = [], []
            def watch(event, args):
                if event == "open":
                    seen.append(os.fsdecode(args[0]))
                    if forbidden:
                        raise forbidden[0]
            sys.addaudithook(watch)
            node = root.open("./t.txt")
            print(seen, node.name)
            forbidden.append(PermissionError("by the host"))
            print(root.open("t.txt").reason.value, node.read(1).reason.value)
            forbidden[0] = RuntimeError("by the host")
            for call in (lambda: root.open("t.txt"), lambda: node.read(1)):
                try:
                    call()
                except RuntimeError as error:
                    print(error)
        """
        assert run_python(code, str(folder), backend) == "['t.txt'] t.txt\npermission permission\nby the host\nby the host\n"


def run_python(code: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *arguments], check=True, capture_output=True, encoding="utf-8", env=environment)
    return run.stdout


@pytest.mark.parametrize("name", ["d/t.txt", "l/t.txt", "m.txt"], ids=["without a link", "through a link", "a link itself"])
@pytest.mark.parametrize("backend", ["auto", "walk"])
def test_a_process_without_standard_input(tmp_path: Path, backend: str, name: str) -> None:
    """Descriptor 0 is one like any other: it is read through, and given back."""
    folder = plant(tmp_path / "root", ["d/t.txt", "l => d", "m.txt => d/t.txt"])
    code = """
        import os, sys
        from filerefs.root import Root
        root = Root(sys.argv[1], symlinks="inside", backend=sys.argv[2])
        root.open("d").close()
        os.close(0)
        with root.open(sys.argv[3]) as node:
            assert node.read(None) == open("/".join((sys.argv[1], sys.argv[3])), "rb").read()
        try:
            os.fstat(0)
        except OSError:
            print("closed")
    """

    assert run_python(code, str(folder), backend, name) == "closed\n"


@pytest.mark.parametrize("end", ["root.close()", "del root, node"], ids=["closed", "forgotten"])
def test_a_root_in_the_place_of_standard_input(tmp_path: Path, end: str) -> None:
    """A root that is held by descriptor 0 works, and gives it back."""
    folder = plant(tmp_path / "root", ["t.txt"])
    code = f"""
        import os, sys
        from filerefs.root import Root
        os.close(0)
        root = Root(sys.argv[1])
        with root.open("t.txt") as node:
            print(os.fstat(0).st_ino == os.stat(sys.argv[1]).st_ino, node.read(None))
        {end}
        try:
            os.fstat(0)
        except OSError:
            print("closed")
    """

    assert run_python(code, str(folder)) == "True b'IN'\nclosed\n"


@needs_linux
@pytest.mark.parametrize("backend", ["auto", "walk"])
def test_a_process_without_standard_input_and_procfs(tmp_path: Path, backend: str) -> None:
    """Descriptor 0 is one like any other also where a file is opened a second time to be read."""
    folder = plant(tmp_path / "root", ["t.txt"])
    code = """
        import os, sys
        from filerefs import nodes, root
        nodes.has_procfs = root.has_procfs = lambda: False
        held = root.Root(sys.argv[1], backend=sys.argv[2])
        node = held.open("t.txt")
        os.close(0)
        print(node.read(1), node.read(1), node.read(None))
        node.close()
        try:
            os.fstat(0)
        except OSError:
            print("closed")
    """

    assert run_python(code, str(folder), backend) == "b'I' b'N' b''\nclosed\n"


@needs_linux
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM], ids=errno.errorcode.get)
def test_a_real_sandbox(number: int, tmp_path: Path) -> None:
    """Under a seccomp filter that forbids the system call, put up before or behind the probe, files are read all the same."""
    folder = plant(tmp_path / "root", ["d/t.txt", "l => d"])
    code = """
        import ctypes, struct, sys
        from filerefs.root import Root
        early, late, explicit = (Root(sys.argv[1], symlinks="inside", backend=backend) for backend in ("auto", "auto", "openat2"))
        assert early.backend == "openat2"
        # If the number of the call is 437, answer with an error, else allow.
        steps = ((0x20, 0, 0, 0), (0x15, 0, 1, 437), (6, 0, 0, 0x50000 | int(sys.argv[2])), (6, 0, 0, 0x7FFF0000))
        program = b"".join(struct.pack("HBBI", *step) for step in steps)
        kept = ctypes.create_string_buffer(program)
        filter = struct.pack("HxxxxxxP", 4, ctypes.addressof(kept))
        prctl = ctypes.CDLL(None).prctl
        prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong)
        assert prctl(38, 1, None, 0, 0) == 0
        assert prctl(22, 2, ctypes.cast(ctypes.c_char_p(filter), ctypes.c_void_p), 0, 0) == 0
        for root in (early, late):
            with root, root.open("l/t.txt") as node:
                print(root.backend, node.target, node.read(None))
        print(explicit.open("d/t.txt").reason.value)
    """
    said = run_python(code, str(folder), str(number))

    assert said == "walk d/t.txt b'IN'\n" * 2 + ("permission\n" if number == errno.EPERM else "io_error\n")


@needs_ordinary_user
class TestPermissions:
    """What an ordinary user may not do, and what he may all the same."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Iterator[Path]:
        """Build a root with a closed folder, one that may only be searched, one that may only be listed, and a closed file."""
        folder = plant(
            tmp_path / "root", ["t.txt", "closed/t.txt", "search/d/t.txt", "search/up => ..", "list/t.txt", "f.txt", "l => closed/..", "m => closed/."]
        )
        modes = {"closed": 0o000, "search": 0o111, "list": 0o444, "f.txt": 0o000}
        for name, mode in modes.items():
            (folder / name).chmod(mode)
        yield folder
        for name in modes:
            (folder / name).chmod(0o700)

    @EACH_SYSTEM
    @EACH_POLICY
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            pytest.param("closed/t.txt", Reason.PERMISSION, id="in a closed folder"),
            pytest.param("closed/nope", Reason.PERMISSION, id="not even whether it is there"),
            pytest.param("closed/..", Reason.PERMISSION, id="the parent of a closed folder"),
            pytest.param("closed/../t.txt", Reason.PERMISSION, id="by way of a closed folder"),
            pytest.param("closed/.git/x", Reason.PERMISSION, id="a secret that nobody can see"),
            pytest.param("search/d/t.txt", ("search/d/t.txt", None), id="in a folder that may only be searched"),
            pytest.param("search/d/../d/t.txt", ("search/d/t.txt", None), id="by way of a folder that may only be searched"),
            pytest.param("list/t.txt", Reason.PERMISSION, id="in a folder that may only be listed"),
        ],
    )
    def test_ways(self, name: str, expected: Any, policy: SymlinkPolicy, system: System, folder: Path) -> None:
        """The right to search is what a way needs, and `..` needs it as well."""
        if "search" in name and not system.handles:
            pytest.skip("opens folders for reading on Linux; on macOS by O_SEARCH")
        with Root(folder, symlinks=policy, backend=system.backend) as root:
            assert expected == answer(root.open(name))

    @EACH_SYSTEM
    def test_links_by_way_of_closed_folders(self, system: System, folder: Path) -> None:
        """A link's text needs the same rights as a typed name."""
        with Root(folder, symlinks="inside", backend=system.backend) as root:
            assert answer(root.open("l/t.txt")) is Reason.PERMISSION
            assert answer(root.open("m")) is Reason.PERMISSION

    @EACH_SYSTEM
    def test_looking_is_not_reading(self, system: System, folder: Path) -> None:
        """A file or folder that may not be read says so at the latest when it is read."""
        denied = Trouble(Reason.PERMISSION, "permission denied")
        with Root(folder, backend=system.backend) as root:
            for name in ("f.txt", "closed", "search"):
                found = root.open(name)
                if isinstance(found, Node):
                    with found:
                        assert denied == (found.read(1) if found.kind == "file" else found.entries(1))
                else:
                    assert denied == found

    @EACH_SYSTEM
    def test_a_root_that_may_only_be_searched(self, system: System, folder: Path) -> None:
        """A root that cannot be listed opens what can be named in it."""
        if not system.handles:
            pytest.skip("opens folders for reading on Linux; on macOS by O_SEARCH")
        with Root(folder / "search", backend=system.backend) as root:
            assert answer(root.open("d/t.txt")) == ("d/t.txt", None)
            with opened(root, ".") as node:
                assert node.entries(1) == Trouble(Reason.PERMISSION, "permission denied")

    @EACH_SYSTEM
    def test_a_closed_root(self, system: System, folder: Path) -> None:
        """A root that may not even be searched can be held, and denies everything."""
        if not system.handles:
            pytest.skip("opens folders for reading on Linux; on macOS by O_SEARCH")
        with Root(folder / "closed", backend=system.backend) as root:
            assert [answer(root.open(name)) for name in ("t.txt", ".", "nope")] == [Reason.PERMISSION] * 3


class Grove:
    """Random trees of folders, files and links, random names in them, and what the names mean by another reckoning."""

    WORDS = ("a", "b", "c", "x.txt", ".env", "up", "l", "m")

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.folder = plant(folder, [])
        self.names: list[str] = ["."]
        folders = ["."]
        for _ in range(self.random.randint(6, 20)):
            name = f"{self.random.choice(folders)}/{self.random.choice(self.WORDS)}"
            if not os.path.lexists(folder / name) and self._put(folder / name):
                folders.append(name)
            self.names.append(name)

    def _put(self, path: Path) -> bool:
        kind = self.random.choice(("folder", "folder", "folder", "file", "file", "link", "link", "link", "link", "pipe"))
        if kind == "folder":
            path.mkdir()
        elif kind == "file":
            path.write_text("IN", encoding="utf-8")
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to(self.random.choice(("", "", "", "", "", "../", "/", "../outside/")) + self.name())
        # Names go on behind links to folders as well.
        return path.is_dir() and path.resolve().is_relative_to(self.folder.resolve())

    def name(self) -> str:
        """Return a random name, mostly of what is there, with what people and attackers put between the parts."""
        parts = self.random.choices((*self.WORDS, "..", "..", "."), k=self.random.choice((0, 0, 1, 1, 2, 5)))
        if self.random.random() < 0.8:
            parts = [*self.random.choice(self.names).split("/"), *parts]
        return self.random.choice(("/", "/", "/", "//", "/./")).join(parts or ["."]) + self.random.choice(("", "", "", "/", "/."))


@pytest.mark.property
@EACH_POLICY
@pytest.mark.parametrize("seed", range(40))
def test_all_systems_agree(seed: int, policy: SymlinkPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On random trees of links every way of resolving gives the same answer, sentence included, and it is the right one."""
    grove = Grove(seed, tmp_path / "root")
    names = [grove.name() for _ in range(25)]
    answers = []
    for parameter in SYSTEMS:
        wanted: System = parameter.values[0]  # type: ignore[assignment]
        if wanted.backend == "openat2" and not LINUX:
            continue
        with monkeypatch.context() as context:
            imitate(wanted, context)
            with Root(grove.folder, symlinks=policy, backend=wanted.backend) as root:
                answers.append([describe(patiently(root, name)) for name in names])

    for each in answers[1:]:
        assert answers[0] == each
    for name, found in zip(names, answers[0], strict=True):
        check_against_realpath(grove.folder, name, found, policy)


def describe(found: Node | Trouble) -> Any:
    if isinstance(found, Trouble):
        check_sentence(found.detail)
        return found
    with found:
        return found.name, found.target, found.kind, found.identity, found.read(None) if found.kind == "file" else found.entries(None)


def check_against_realpath(folder: Path, name: str, found: Any, policy: SymlinkPolicy) -> None:
    """The tree holds still here, so that what realpath says is true."""
    joined = os.path.join(folder, name)  # noqa: PTH118 (a Path drops dots and slashes)
    real = os.path.realpath(joined)
    if isinstance(found, Trouble):
        if found.reason is Reason.NOT_FOUND:
            assert not plain_open_succeeds(folder, name)
        return
    path, target, _, identity, _ = found
    status = Path(real).stat()
    assert identity == (status.st_dev, status.st_ino)
    assert os.path.relpath(real, os.path.realpath(folder)) == (target or path)
    assert policy == "inside" or target is None


EXCHANGER = """
    import ctypes, os, sys
    folder, pairs = sys.argv[1], [pair.split(":") for pair in sys.argv[2:]]
    exchange = ctypes.CDLL(None).renameat2
    handle = os.open(folder, os.O_RDONLY)
    print("ready", flush=True)
    while os.getppid() > 1:
        for _ in range(1000):
            for one, other in pairs:
                exchange(handle, one.encode(), handle, other.encode(), 2)
"""


@needs_linux
@EACH_SYSTEM
@EACH_POLICY
def test_exchanges_while_opening(policy: SymlinkPolicy, system: System, tmp_path: Path) -> None:
    """While somebody exchanges folders, files and the root's own parts with links to the outside, nothing from there is read."""
    folder = plant(
        tmp_path / "root", ["d/t.txt", "e => ../outside", "f/t.txt", "g => ../outside/secret.txt", "a/b/t.txt", "in => a", "out => ..", "deep/er/t.txt"]
    )
    (tmp_path / "outside/t.txt").write_text("SECRET", encoding="utf-8")
    # This one is exchanged with a folder inside: the root's own as long as it is there, and never a way out.
    (tmp_path / "outside/b").mkdir()
    (tmp_path / "outside/b/t.txt").write_text("MOVED", encoding="utf-8")
    pairs = ["d:e", "f/t.txt:g", "in:out", "deep/er:../outside/b"]
    names = ["d/t.txt", "f/t.txt", "g", "in/b/t.txt", "in/outside/secret.txt", "deep/er/../er/t.txt", "deep/er/../../outside/secret.txt"]
    environment = {**os.environ, "PYTHONPATH": ""}
    attacker = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(EXCHANGER), str(folder), *pairs], stdout=subprocess.PIPE, env=environment, encoding="utf-8"
    )
    seen: Counter[object] = Counter()
    careless: Counter[bytes] = Counter()
    try:
        assert attacker.stdout is not None
        attacker.stdout.readline()
        with Root(folder, symlinks=policy, backend=system.backend) as root:
            for _ in range(300):
                for name in names:
                    careless[plain_read(folder, name)] += 1
                    found = root.open(name)
                    if isinstance(found, Node):
                        with found:
                            content = found.read(None)
                        seen[content if isinstance(content, bytes) else content.reason] += 1
                    else:
                        seen[found.reason] += 1
    finally:
        attacker.kill()
        attacker.communicate()

    assert careless[b"SECRET"]
    assert not seen[b"SECRET"]
    assert seen[b"IN"]
    assert set(seen) <= {b"IN", b"MOVED", *Reason}


def plain_read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError:
        return b""
