"""Roots that are objects: what the library asks of them, what holds for all of them, and the one that is in memory."""

from __future__ import annotations

import errno
import inspect
import os
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs import (
    Limits,
    NodeLike,
    OptionError,
    OptionTypeError,
    Preprocessor,
    Reason,
    Root,
    RootClosedError,
    RootLike,
    agentsmd,
    load,
    parse,
    preprocess,
    roots,
)
from filerefs.completion import Completer
from filerefs.retrieval import file_tools
from filerefs.roots import Entry, File, Folder, Gate, Listing, MemoryRoot, Trouble, explain
from filerefs.walk import Ignore, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from pathlib import Path

    from filerefs import Turn

    from .conftest import Tree

FILES: dict[str, str | bytes] = {
    "src/app.py": "def main():\n    return 1\n",
    "src/deep/er/x.py": "x = 1\n",
    "src/.gitignore": "*.log\n",
    "src/noise.log": "noise\n",
    "notes.md": "# Notes\n\nsee @secret.md\n",
    "my file.txt": "blanks\n",
    "lines.txt": "".join(f"line {number}\n" for number in range(1, 51)),
    "long.txt": "0123456789\n" * 40_000,
    "latin.txt": b"caf\xe9 au lait\n",
    "data.bin": b"\x00\x01\x02\x03" * 64,
    "logo.png": b"\x89PNG\r\n\x1a\n" + b"\0" * 32,
    "empty.txt": "",
    ".env": "TOKEN=1\n",
    "keys/id_rsa": "PRIVATE\n",
    "keys/public": "PUBLIC\n",
    "@scope/pkg/index.js": "export {}\n",
    "./~/odd.txt": "a folder that is called like a home\n",
    "AGENTS.md": "Root rules. @docs/style.md\n",
    "docs/style.md": "Style. @loop.md\n",
    "docs/loop.md": "Loop. @style.md\n",
    "src/AGENTS.md": "Source rules.\n",
}

MESSAGES = [
    pytest.param("hello there", id="no reference"),
    pytest.param("explain @src/app.py, please", id="one file"),
    pytest.param("compare @src/app.py with @notes.md and @src/deep/er/x.py", id="several files"),
    pytest.param("@notes.md @./notes.md @src/../notes.md", id="one file by three spellings"),
    pytest.param("what is in @src/ and @. and @keys?", id="folders, with ignored and secret names"),
    pytest.param("read @my file.txt now", id="unquoted blanks"),
    pytest.param('read @"my file.txt" now', id="quoted blanks"),
    pytest.param("look at @lines.txt:3-5 and @lines.txt:70", id="lines, some of them not there"),
    pytest.param("@long.txt", id="a file that is cut"),
    pytest.param("@long.txt:39990-39999", id="lines deep in a file"),
    pytest.param("@latin.txt @data.bin @logo.png @empty.txt", id="encodings, binaries, media, nothing"),
    pytest.param("@.env @keys/id_rsa @keys/ID_RSA", id="secrets"),
    pytest.param("@../outside.txt @src/../../outside.txt @/etc/passwd @~/odd.txt", id="names that lead out"),
    pytest.param("@src/app.py/ @src/app.py/x.py @src/app.py/../app.py", id="a file in the place of a folder"),
    pytest.param("@nope/../notes.md @nope/", id="a folder that is not there"),
    pytest.param("@src/ap.py @scr/app.py @src/App.py", id="near names"),
    pytest.param("@alice @Override @types/node @app.route('/x')", id="plain text"),
    pytest.param("@@scope/pkg/index.js", id="a folder with an at-sign"),
    pytest.param(f"@{'x' * 300}.py @a\0b.py", id="names that nothing can have"),
    pytest.param("查看@src/app.py的内容", id="no blanks around"),
    pytest.param("`@notes.md`", id="in code"),
    pytest.param(" ".join(f"@nope{number}.py" for number in range(40)) + " @src/app.py", id="many misses"),
]


def as_text(turn: Turn) -> dict[str, Any]:
    """Return what a person and a model see of a turn."""
    return turn.as_dict()


@pytest.mark.parametrize("message", MESSAGES)
def test_memory_is_like_a_disk(tree: Tree, message: str) -> None:
    """The same files give the same turn, whether they are on a disk or in memory."""
    on_disk = preprocess(message, "Be brief.", tree(FILES))

    in_memory = preprocess(message, "Be brief.", MemoryRoot(FILES))

    assert as_text(on_disk) == as_text(in_memory)


@pytest.mark.parametrize("message", MESSAGES)
def test_an_overlay_is_like_what_it_shows(tree: Tree, message: str) -> None:
    """Half of the files in memory, half on a disk below: the turn is that of all of them in one place."""
    names = sorted(FILES)
    everywhere = MemoryRoot(FILES)
    below = tree({**{name: FILES[name] for name in names[::2]}, "src/app.py": "an old state\n"})
    above = {**{name: FILES[name] for name in names[1::2]}, "src/app.py": FILES["src/app.py"]}

    with Root(below) as root:
        overlaid = preprocess(message, "Be brief.", MemoryRoot(above, over=root))

    assert as_text(preprocess(message, "Be brief.", everywhere)) == as_text(overlaid)


@dataclass
class PlainNode:
    """A file or folder with nothing of this library in it."""

    name: str
    kind: Any = "file"
    data: bytes = b""
    names: tuple[Entry, ...] = ()
    identity: tuple[Hashable, ...] | None = None
    stamp: tuple[Hashable, ...] | None = None
    target: str | None = None
    reads: list[str] = field(default_factory=list)
    trouble: Exception | None = None
    offset: int = 0

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, limit: int | None) -> bytes | Trouble:
        self.reads.append(self.name)
        if self.trouble is not None:
            raise self.trouble
        start, self.offset = self.offset, len(self.data) if limit is None else self.offset + limit
        return self.data[start : self.offset]

    def entries(self, limit: int | None) -> Listing | Trouble:
        if self.trouble is not None:
            raise self.trouble
        return Listing(self.names[:limit], limit is not None and len(self.names) > limit, 0)

    def close(self) -> None:
        self.reads.append(f"closed {self.name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PlainRoot:
    """A root with nothing of this library in it: a function from names to nodes, that remembers what it was asked."""

    def __init__(self, find: Callable[[str], NodeLike | Trouble | None]) -> None:
        self._find = find
        self.asked: list[str] = []

    def open(self, name: str) -> NodeLike | Trouble:
        self.asked.append(name)
        return self._find(name.removeprefix("./").rstrip("/") or ".") or Trouble(Reason.NOT_FOUND, "no such file")


def plain_root(**options: Any) -> PlainRoot:
    """Return a root with the file `a.txt` and the folder that holds it."""

    def find(name: str) -> NodeLike | None:
        if name == ".":
            return PlainNode(".", "directory", names=(Entry("AGENTS.md", "file"), Entry("a.txt", "file"), Entry("b.txt", "file")))
        return PlainNode(name, data=b"hello\n", **options) if name in ("a.txt", "b.txt", "AGENTS.md") else None

    return PlainRoot(find)


def test_any_object_is_a_root_everywhere() -> None:
    """Wherever a folder is named, an object with the few methods may stand."""
    root: RootLike = plain_root()

    turn = preprocess("see @a.txt and @.", root=root)
    with Preprocessor(root) as preprocessor, Completer(root) as completer:
        assert as_text(turn) == as_text(preprocessor.preprocess("see @a.txt and @."))
        assert ["@a.txt", "@AGENTS.md"] == [candidate.text for candidate in completer.complete("@a", wait=10).candidates]
        read_ref, list_files = file_tools(preprocessor)
        assert "hello" in read_ref.run({"ref": "a.txt"})
        assert "b.txt" in list_files.run()
        assert preprocessor.folder == ""
    assert list(turn.outcomes) == load(parse("see @a.txt and @."), root)
    assert ["AGENTS.md", "a.txt", "b.txt"] == [path for path, _ in walk(root, limit=None)]
    assert ["AGENTS.md"] == [doc.name for doc in agentsmd.discover(root=root)]
    assert "hello\n" == agentsmd.Loader(root=root).read().docs[0].text
    assert [] == Ignore(root).problems()


def test_a_root_may_be_handed_over_open(tree: Tree) -> None:
    """A `Root` serves as it is, with its own policies, and stays open when what used it is closed."""
    project = tree({"a.txt": "a\n", ".env": "K=1\n", "link": tree.link("a.txt"), "AGENTS.md": "Rules.\n"})
    with Root(project, symlinks="inside", allow=[".env"]) as root:
        with Preprocessor(root) as preprocessor, Completer(root) as completer:
            turn = preprocessor.preprocess("@.env @link")
            assert ["@link"] == [candidate.text for candidate in completer.complete("@li", wait=10).candidates]
        found = agentsmd.discover(root=root)

        assert not root.closed
        assert [".env", "link"] == [outcome.path for outcome in turn.attached]
        assert ["AGENTS.md"] == [doc.name for doc in found]
        assert turn.attached == preprocess("@.env @link", root=root).attached
    with pytest.raises(RootClosedError):
        preprocess("@a.txt", root=root)


@pytest.mark.parametrize("use", [preprocess, lambda _, root, **options: Preprocessor(root, **options), lambda _, root, **options: Completer(root, **options)])
def test_error_options_of_an_open_root(use: Callable[..., object]) -> None:
    """What a root has of its own cannot be said a second time, and differently."""
    with pytest.raises(OptionError, match="`allow`"):
        use("@a", root=MemoryRoot(), allow=[".env"])
    with pytest.raises(OptionError, match="`symlinks`"):
        use("@a", root=MemoryRoot(), symlinks="inside")


@pytest.mark.parametrize("root", [b"folder", 7, None, object()], ids=["bytes", "a number", "nothing", "an object"])
def test_error_what_is_no_root(root: Any) -> None:
    """What has no `open` is no root, and that is said at once."""
    for use in (Preprocessor, Completer, Ignore, lambda it: load([], it), lambda it: walk(it, limit=1)):
        with pytest.raises(OptionTypeError, match="`root`"):
            use(root)


@pytest.mark.parametrize("name", ["/etc/passwd", "~/x", "../x", "a/../../x", "a\0b", "x" * 256, "x/" * 256, "y/" * 2048 + "z", "\udfff\ud800"])
def test_error_names_that_no_root_is_asked_for(name: str) -> None:
    """The gate by text is in front of every root: what can name nothing inside never reaches it."""
    root = plain_root()
    guarded = Preprocessor(root).root

    assert isinstance(guarded.open(name), Trouble)
    assert [] == root.asked


ERRORS = [
    pytest.param(FileNotFoundError("s3://bucket/a.txt"), Reason.NOT_FOUND, id="not found, without a number"),
    pytest.param(OSError(errno.ENOENT, "gone"), Reason.NOT_FOUND, id="not found"),
    pytest.param(NotADirectoryError(), Reason.NOT_REGULAR, id="a file on the way"),
    pytest.param(IsADirectoryError(), Reason.NOT_REGULAR, id="a folder"),
    pytest.param(PermissionError("403 Forbidden for AKIA…"), Reason.PERMISSION, id="no permission"),
    pytest.param(OSError(errno.EMFILE, "too many"), Reason.BUSY, id="too many files"),
    pytest.param(ConnectionResetError(errno.ECONNRESET, "reset"), Reason.IO_ERROR, id="a connection that broke"),
    pytest.param(TimeoutError("30 s at db.internal"), Reason.IO_ERROR, id="too slow"),
    pytest.param(OSError(errno.EINVAL, "no such range"), Reason.IO_ERROR, id="a request that was not understood"),
    pytest.param(OSError("anything"), Reason.IO_ERROR, id="anything else"),
]


@pytest.mark.parametrize(("error", "reason"), ERRORS)
def test_error_of_a_root_is_a_reason(error: OSError, reason: Reason) -> None:
    """An `OSError`, wherever a root raises it, is why that one reference is refused; its own words are shown to nobody."""

    def fail(_: str) -> NodeLike:
        raise error

    opening = preprocess("@./bad.txt", root=PlainRoot(fail))
    reading = preprocess("@a.txt", root=plain_root(trouble=error))
    listing = preprocess("@.", root=PlainRoot(lambda name: PlainNode(name, "directory", trouble=error)))

    assert reason is explain(error).reason
    for turn in (opening, reading, listing):
        assert [reason] == [outcome.reason for outcome in turn.refused]
        assert not any(word in str(as_text(turn)) for word in ("s3:", "AKIA", "internal", "anything"))


def test_error_one_reference_does_not_cost_the_others() -> None:
    """A file that cannot be read is refused beside one that can."""
    files = {"a.txt": PlainNode("a.txt", data=b"a\n", trouble=OSError("broken")), "b.txt": PlainNode("b.txt", data=b"b\n")}

    turn = preprocess("@a.txt @b.txt", root=PlainRoot(files.get))

    assert ["a.txt"] == [outcome.path for outcome in turn.refused]
    assert ["b.txt"] == [outcome.path for outcome in turn.attached]


def test_error_of_closing_costs_nothing() -> None:
    """What was read of a file is shown, also where the connection breaks when it is given back."""

    def fail() -> None:
        raise ConnectionResetError(errno.ECONNRESET, "reset")

    gate = Gate()
    root = PlainRoot(lambda name: gate.open(name, lambda _: File(2, lambda offset, _: b"a\n"[offset:], close=fail)))
    turn = preprocess("@a.txt", root=root)

    assert ["a\n"] == [outcome.text for outcome in turn.attached]


def test_error_of_a_node_that_cannot_say_what_it_is() -> None:
    """Its size is asked for when it was opened: failing is that file's trouble, and what was opened is closed."""

    class Unsized(PlainNode):
        @property
        def size(self) -> int:
            raise TimeoutError

    node = Unsized("a.txt")
    turn = preprocess("@a.txt", root=PlainRoot(lambda name: node if name == "a.txt" else None))

    assert [Reason.IO_ERROR] == [outcome.reason for outcome in turn.refused]
    assert ["closed a.txt"] == node.reads


def test_error_names_in_a_listing_that_cannot_be_asked_for() -> None:
    """A root may list what no disk could hold; it costs neither the listing nor the ignore rules that look at it."""
    names = (Entry("\ud800.py", "file"), Entry("é.py", "file"), Entry("x.log", "file"))
    files = {".": PlainNode(".", "directory", names=names), ".gitignore": PlainNode(".gitignore", data=b"*.log\n")}

    (outcome,) = preprocess("@.", root=PlainRoot(files.get)).attached

    assert outcome.text == "(directory listing)\nf é.py"


@pytest.mark.parametrize("error", [ZeroDivisionError(), RootClosedError("x", "it was closed")], ids=["a fault", "a closed root"])
def test_error_that_is_no_answer_of_a_file_system(error: Exception) -> None:
    """What is a mistake in a program is not taken for trouble with a file."""
    with pytest.raises(type(error)):
        preprocess("@a.txt", root=plain_root(trouble=error))


def test_without_identity_two_names_are_two_files() -> None:
    """Without an identity nothing is merged but one name with itself; with an equal one and an equal text it is one block."""
    apart = preprocess("@a.txt @b.txt @a.txt", root=plain_root())
    together = preprocess("@a.txt @b.txt", root=plain_root(identity=("inode", 1)))

    assert ["a.txt", "b.txt"] == [outcome.path for outcome in apart.attached]
    assert ["a.txt"] == [outcome.path for outcome in together.attached]
    assert ("b.txt",) == together.attached[0].names


@pytest.mark.parametrize(
    ("stamp", "reads"),
    [pytest.param(None, 2, id="without a stamp"), pytest.param(("etag", "1"), 1, id="with one"), pytest.param((1, 2, 3, 10**30, 10**30), 2, id="too young")],
)
def test_only_what_has_a_stamp_is_kept(stamp: tuple[Hashable, ...] | None, reads: int) -> None:
    """A text is read again in the next turn, unless its stamp says that it is the same."""
    read: list[str] = []
    with Preprocessor(plain_root(stamp=stamp, reads=read)) as preprocessor:
        turns = [preprocessor.preprocess("@a.txt") for _ in range(2)]

    assert as_text(turns[0]) == as_text(turns[1])
    assert reads == read.count("a.txt")


def test_another_stamp_is_another_text() -> None:
    """A file whose stamp changed is shown as it is now."""
    root = MemoryRoot({"a.txt": "one\n"})
    with Preprocessor(root) as preprocessor:
        first = preprocessor.preprocess("@a.txt")
        root["a.txt"] = "two\n"
        second = preprocessor.preprocess("@a.txt")

    assert ["one\n", "two\n"] == [turn.attached[0].text for turn in (first, second)]


def test_everything_that_is_opened_is_closed() -> None:
    """Each node is closed, whether it was read, found and not read, or looked at for a hint."""
    opened: list[PlainNode] = []

    def find(name: str) -> NodeLike | None:
        if name not in ("a.txt", "b.txt", ".", "docs"):
            return None
        opened.append(PlainNode(name, "file" if name.endswith(".txt") else "directory", data=b"x" * 100))
        return opened[-1]

    root = PlainRoot(find)
    preprocess("@a.txt @b.txt @. @docs/nope.txt @c.txt", root=root, limits=Limits(total_bytes=50))
    list(walk(root, limit=None))
    agentsmd.discover("docs", root=root)

    assert [] == [node.name for node in opened if f"closed {node.name}" not in node.reads]


class DistantRoot:
    """A root in memory that counts turns and what it is asked for, and notes what it is told to fetch."""

    def __init__(self, files: dict[str, str | bytes], error: Exception | None = None) -> None:
        self.files = MemoryRoot(files)
        self.turns = 0
        self.fetched: list[tuple[list[str], int | None]] = []
        self.error = error

    def open(self, name: str) -> NodeLike | Trouble:
        raise AssertionError(f"asked for {name} outside of a turn")

    def begin_turn(self) -> RootLike:
        self.turns += 1
        return DistantTurn(self)


class DistantTurn:
    """What is asked during one turn."""

    def __init__(self, root: DistantRoot) -> None:
        self.root = root

    def open(self, name: str) -> NodeLike | Trouble:
        return self.root.files.open(name)

    def prefetch(self, nodes: Sequence[NodeLike], limit_bytes: int | None) -> None:
        self.root.fetched.append(([node.name for node in nodes], limit_bytes))
        if self.root.error is not None:
            raise self.root.error


def test_a_turn_begins_once() -> None:
    """Each turn, load, walk and discovery asks one view of the root, ignore rules and hints included."""
    root = DistantRoot({"a.txt": "a\n", "docs/b.md": "b\n", ".gitignore": "*.log\n", "x.log": "", "AGENTS.md": "@a.txt\n"})

    with Preprocessor(root) as preprocessor:
        preprocessor.preprocess("@a.txt @docs/ @. @nope.txt @docs/c.md")
        preprocessor.preprocess("@a.txt")
    assert root.turns == 2
    load(parse("@a.txt @."), root)
    assert root.turns == 3
    list(walk(root, limit=None))
    assert root.turns == 4
    found = agentsmd.discover(root=root)
    assert root.turns == 5
    assert ["AGENTS.md", "a.txt"] == [doc.name for doc in agentsmd.expand_imports(found)]


def test_what_will_be_read_is_told_at_once() -> None:
    """The root hears of all files and folders that will be read, in their order and with the limit, before the first is."""
    root = DistantRoot({"a.txt": "a\n", "b.txt": "b\n", "docs/c.md": "c\n"})

    turn = preprocess("@b.txt @docs/ @nope.txt @a.txt:1 @b.txt", root=root)

    assert [(["b.txt", "docs", "a.txt"], 200 * 1024 + 4)] == root.fetched
    assert ["b.txt", "docs", "a.txt"] == [outcome.path for outcome in turn.attached]


@pytest.mark.parametrize(
    ("message", "limits", "fetched"),
    [
        pytest.param("@a.txt", Limits(), [], id="one alone"),
        pytest.param("hello @alice", Limits(), [], id="nothing"),
        pytest.param("@a.txt @b.txt @c.txt", Limits(file_bytes=None), [(["a.txt", "b.txt", "c.txt"], None)], id="no limit for a file"),
        pytest.param("@a.txt @b.txt @c.txt", Limits(total_bytes=60), [(["a.txt", "b.txt"], 204_804)], id="no more than the total has room for, and one"),
        pytest.param("@a.txt @b.txt @c.txt", Limits(total_bytes=None), [(["a.txt", "b.txt", "c.txt"], 204_804)], id="no total"),
        pytest.param("@a.txt @b.txt @c.txt", Limits(refs=2), [(["a.txt", "b.txt"], 204_804)], id="no more than there are outcomes"),
        pytest.param("@long.txt:3 @a.txt @b.txt", Limits(), [(["a.txt", "b.txt"], 204_804)], id="no long file for a few lines"),
        pytest.param("@long.txt @long.txt:3 @b.txt", Limits(), [(["long.txt", "b.txt"], 204_804)], id="a long file as a whole"),
    ],
)
def test_what_is_fetched_is_bounded(message: str, limits: Limits, fetched: object) -> None:
    """Nothing is fetched ahead that the limits leave out, and nothing that is as well read by itself."""
    root = DistantRoot({"a.txt": "a" * 50, "b.txt": "b" * 50, "c.txt": "c" * 50, "long.txt": "x\n" * 500_000})

    preprocess(message, root=root, limits=limits)

    assert fetched == root.fetched


def test_what_is_known_is_not_fetched() -> None:
    """A text of the turn before that cannot have changed is fetched no more."""
    root = DistantRoot({"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})
    with Preprocessor(root) as preprocessor:
        preprocessor.preprocess("@a.txt @b.txt @c.txt")
        root.files["b.txt"] = "changed\n"
        root.files["c.txt"] = "changed\n"
        preprocessor.preprocess("@a.txt @b.txt @c.txt")

    assert [["a.txt", "b.txt", "c.txt"], ["b.txt", "c.txt"]] == [names for names, _ in root.fetched]


def test_error_of_fetching_ahead_is_for_reading_to_tell() -> None:
    """When fetching fails as a whole, each file is still read when its turn comes; a fault in it is a fault."""
    failing = DistantRoot({"a.txt": "a\n", "b.txt": "b\n"}, OSError("no connection"))

    assert len(preprocess("@a.txt @b.txt", root=failing).attached) == 2
    for error in (ZeroDivisionError(), RootClosedError("x", "it was closed")):
        with pytest.raises(type(error)):
            preprocess("@a.txt @b.txt", root=DistantRoot({"a.txt": "a\n", "b.txt": "b\n"}, error))


def test_error_closed_root_below(tree: Tree) -> None:
    """A root that was closed is a mistake of the host wherever it lies, while it opens and while it lists."""
    root = Root(tree({"a.txt": "a\n", "docs/b.txt": "b\n"}))
    preprocessor = Preprocessor(MemoryRoot({"docs/c.txt": "c\n"}, over=root))
    node = preprocessor.root.open("docs")
    root.close()

    assert not isinstance(node, Trouble)
    with pytest.raises(RootClosedError):
        preprocessor.preprocess("@a.txt")
    node.close()
    with pytest.raises(RootClosedError):
        node.entries(1)
    assert repr(preprocessor) == f"Preprocessor(MemoryRoot(files=1, over={root!r}))"


# The gate.


def notes(files: dict[str, bytes], **options: Any) -> Any:
    """Return the root that the documentation shows, in a few lines around a gate."""

    class Notes:
        def __init__(self) -> None:
            self.gate = Gate(**options)

        def open(self, name: str) -> NodeLike | Trouble:
            return self.gate.open(name, self.look)

        def look(self, path: str) -> File | Folder | None:
            if path == ".":
                return Folder(lambda _: (Entry(name, "file") for name in files))
            text = files.get(path)
            return None if text is None else File(len(text), lambda offset, limit: text[offset:][:limit])

    return Notes()


def test_the_sample_of_the_package() -> None:
    """What the documentation of the package shows, runs."""
    sample = inspect.cleandoc(roots.__doc__ or "").partition("\n\n")[2].rpartition("\n\nA root is")[0]
    names: dict[str, Any] = {**vars(roots), "preprocess": preprocess}
    exec(textwrap.dedent(sample), names)

    assert ["nothing"] == [outcome.text for outcome in names["turn"].attached]


def test_a_root_of_a_few_lines_is_safe() -> None:
    """Around a gate a dictionary is a root: secrets stay closed, odd names of a listing are dropped, reads are bounded."""
    files = {"todo.md": b"nothing\n", ".env": b"K=1", "a.pem": b"", "..": b"", ".": b"", "": b"", "a/b": b"", "a\0": b"", "z": b"z" * 300_000}

    turn = preprocess("@. @todo.md @.env @z", root=notes(files, allow=["a.pem"]))

    folder, todo, long = turn.attached
    assert folder.text == "(directory listing)\nf a.pem\nf todo.md\nf z"
    assert folder.notes == ("1 secret name is withheld",)
    assert todo.text == "nothing\n"
    assert (long.truncated, long.shown) == (True, 200 * 1024)
    assert [Reason.SECRET] == [outcome.reason for outcome in turn.refused]


def test_a_gate_asks_for_names_that_are_normal() -> None:
    """Whatever is typed, a root is asked for names without empty parts, `.` and `..`."""
    asked: list[str] = []

    def look(path: str) -> File | Folder | None:
        asked.append(path)
        return Folder(lambda _: ()) if path in (".", "a", "a/b") else File(1, lambda _offset, _limit: b"x")

    gate = Gate()
    for name in ("a//b/./c", "./a/b/../x", ".", "a/..", "a/../", "./~/x"):
        node = gate.open(name, look)
        assert not isinstance(node, Trouble)
        node.close()

    assert ["a/b/c", "a/b", "a/x", ".", "a", ".", "a", ".", "~/x"] == asked


def test_error_back_from_what_cannot_be_looked_at() -> None:
    """A name in or behind something that cannot be looked at is refused for that reason."""
    busy = Trouble(Reason.BUSY, "busy")

    for name in ("a/../b", "a/b"):
        assert Gate().open(name, lambda path: busy if path == "a" else None) == busy


@pytest.mark.parametrize("name", ["a.txt/", "a.txt/.", ".env/", ".env/."])
def test_error_a_file_where_a_folder_was_demanded(tree: Tree, name: str) -> None:
    """In memory it is told as on a disk: before its name is looked at for secrets."""
    files = {"a.txt": "a\n", ".env": "K=1\n"}
    with Root(tree(files)) as root:
        assert MemoryRoot(files).open(name) == root.open(name) == Trouble(Reason.NOT_REGULAR, "a file, not a folder")


def test_names_that_are_opened_and_not_listed() -> None:
    """A root that makes its files up says that its listing is not all; then none of them is taken for missing."""
    gate = Gate()

    def look(path: str) -> Any:
        if path == ".":
            return Folder(lambda _: Listing((Entry("a.txt", "file"),), more=True, withheld=0))
        return File(2, lambda offset, _: b"x\n"[offset:]) if path.startswith("issue-") else None

    missing = " ".join(f"@gone-{number}.py" for number in range(30))
    turn = preprocess(f"{missing} @issue-12", root=PlainRoot(lambda name: gate.open(name, look)))

    assert ["issue-12"] == [outcome.path for outcome in turn.attached]


def test_error_listing_more_than_asked_for() -> None:
    """A root that yields names without end is asked for as many as are wanted, and one."""
    taken: list[int] = []

    def endless(_: int | None) -> Any:
        for number in range(10**9):
            taken.append(number)
            yield Entry(f"{number:09}", "file")

    node = Gate().open(".", lambda _: Folder(endless))
    assert not isinstance(node, Trouble)
    with node:
        listing = node.entries(5)

    assert isinstance(listing, Listing)
    assert (5, True, 6) == (len(listing.entries), listing.more, len(taken))


def test_a_node_of_a_gate() -> None:
    """It reads on, never more than asked for, and tells a file from a folder; closed, it says so."""
    closed: list[str] = []
    gate = Gate()
    node = gate.open("a", lambda _: File(6, lambda offset, _: b"abcdef"[offset:], stamp=("s",), close=lambda: closed.append("a")))
    folder = gate.open(".", lambda _: Folder(lambda _: Trouble(Reason.BUSY, "busy")))
    assert not isinstance(node, Trouble)
    assert not isinstance(folder, Trouble)

    assert [b"ab", b"", b"cdef", b""] == [node.read(2), node.read(0), node.read(None), node.read(1)]
    assert repr(node) == "Node('a', kind='file', size=6)"
    for trouble, reason in ((node.entries(1), Reason.NOT_REGULAR), (folder.read(1), Reason.NOT_REGULAR), (folder.entries(1), Reason.BUSY)):
        assert isinstance(trouble, Trouble)
        assert trouble.reason is reason
    node.close()
    node.close()
    assert ["a"] == closed
    with pytest.raises(RootClosedError):
        node.read(1)


def test_error_secret_behind_a_link() -> None:
    """A root that follows links by itself says where they lead, and a secret's own name counts."""
    look: Any = lambda _: File(1, lambda _offset, _limit: b"x", target="config/.env")  # noqa: E731

    assert Gate().open("settings", look) == Trouble(Reason.SECRET, "its name is that of a file with credentials")
    assert not isinstance(Gate(allow=["config/.env"]).open("settings", look), Trouble)


# In memory.


def test_files_are_put_in_and_taken_out() -> None:
    """The host changes what is there at any time; folders are there as long as something is in them."""
    root = MemoryRoot()
    root["a/b/c.txt"] = "one"
    root["./a//b/d.txt"] = b"two"

    assert root.names == ("a/b/c.txt", "a/b/d.txt")
    assert "a/b/c.txt" in root
    assert repr(root) == "MemoryRoot(files=2)"
    del root["a/b/c.txt"]
    assert "a/b/c.txt" not in root
    assert ["directory listing", "f d.txt"] == preprocess("@a/b", root=root).attached[0].text.replace("(", "").replace(")", "").split("\n")
    del root["a/b/d.txt"]
    assert [Reason.NOT_FOUND] == [outcome.reason for outcome in preprocess("@a/b/", root=root).refused]
    assert root.names == ()
    root["a"] = "now a file"
    with pytest.raises(KeyError):
        del root["gone.txt"]


@pytest.mark.parametrize("name", ["", "/a", "~/a", "../a", "a/../b", "a/", "a\0b", ".", "x" * 300, 7])
def test_error_names_that_no_file_in_memory_has(name: Any) -> None:
    """A name under which nobody could ask for the file is a mistake of the host."""
    with pytest.raises(OptionError, match="`name`"):
        MemoryRoot({name: "x"})


def test_error_a_file_in_the_place_of_a_folder() -> None:
    """One name is a file or a folder, and contents are text or bytes."""
    root = MemoryRoot({"a/b": "x"})
    for name in ("a", "a/b/c"):
        with pytest.raises(OptionError, match="`name`"):
            root[name] = "y"
    with pytest.raises(OptionTypeError, match="`content`"):
        root["c"] = 7  # type: ignore[assignment]
    with pytest.raises(OptionTypeError, match="`root`"):
        MemoryRoot(over="folder")  # type: ignore[arg-type]
    assert root.names == ("a/b",)


def test_secrets_in_memory() -> None:
    """Names of secrets are withheld in memory as anywhere, unless they are allowed there."""
    files = {".env": "K=1", "b.env": "x"}

    assert [".env"] == [outcome.path for outcome in preprocess("@.env", root=MemoryRoot(files)).refused]
    assert [".env"] == [outcome.path for outcome in preprocess("@.env", root=MemoryRoot(files, allow=[".env"])).attached]


def test_half_a_character() -> None:
    """A buffer with half of a character in it is shown with a replacement, and the prompt is still UTF-8."""
    turn = preprocess("@a.txt", root=MemoryRoot({"a.txt": "smile \ud83d at\U0001f600\n"}))

    assert turn.attached[0].text == "smile � at\U0001f600\n"
    turn.prompt.encode()


def test_unsaved_buffers_win(tree: Tree) -> None:
    """What is in memory is shown in place of what is on the disk; without it the disk is shown again."""
    project = tree({"src/a.py": "saved\n", "src/b.py": "b\n", "link.py": tree.link("src/a.py"), ".gitignore": ""})
    with Root(project, symlinks="inside") as root, Preprocessor(MemoryRoot({"src/a.py": "unsaved\n", "src/new.py": "new\n"}, over=root)) as preprocessor:
        turn = preprocessor.preprocess("@src/a.py @src/b.py @src/new.py @src/ @link.py")

    assert ["unsaved\n", "b\n", "new\n"] == [outcome.text for outcome in turn.attached[:3]]
    assert turn.attached[3].text == "(directory listing)\nf a.py\nf b.py\nf new.py"
    assert turn.attached[0].names == ("link.py",)
    assert len(turn.outcomes) == 4


def test_a_buffer_that_is_closed_shows_the_disk_again(tree: Tree) -> None:
    """The overlay is asked at every turn, and so is the disk."""
    with Root(tree({"a.py": "saved\n"})) as root:
        buffers = MemoryRoot({"a.py": "unsaved\n"}, over=root)
        with Preprocessor(buffers) as preprocessor:
            shown = [preprocessor.preprocess("@a.py").attached[0].text]
            del buffers["a.py"]
            shown.append(preprocessor.preprocess("@a.py").attached[0].text)

    assert ["unsaved\n", "saved\n"] == shown
    assert repr(buffers) == f"MemoryRoot(files=0, over={root!r})"


def test_memory_hides_what_is_below(tree: Tree) -> None:
    """A file in memory hides a folder of its name with all that is in it, and the other way round."""
    project = tree({"a/x.txt": "x\n", "b": "a file\n"})
    with Root(project) as root:
        above = MemoryRoot({"a": "now a file\n", "b/y.txt": "now a folder\n"}, over=root)
        turn = preprocess("@a @a/x.txt @b @b/y.txt @.", root=above)

    assert ["a", "b", "b/y.txt", "."] == [outcome.path for outcome in turn.attached]
    assert [("a/x.txt", Reason.NOT_REGULAR)] == [(outcome.path, outcome.reason) for outcome in turn.refused]
    assert turn.attached[3].text == "(directory listing)\nf a\nd b"


def test_folders_behind_links_below(tree: Tree) -> None:
    """A folder that a link leads to has what memory has in it under either name; a folder hides a file on the way to it."""
    project = tree({"real/a.txt": "a\n", "way": tree.link("real"), "b": "a file\n"})
    with Root(project, symlinks="inside") as root:
        turn = preprocess("@way @real @b/c", root=MemoryRoot({"real/b.txt": "b\n", "b/c/d.txt": "d\n"}, over=root))
        named = preprocess("@way", root=MemoryRoot({"way/c.txt": "c\n"}, over=root))

    assert ["(directory listing)\nf a.txt\nf b.txt", "(directory listing)\nf d.txt"] == [outcome.text for outcome in turn.attached]
    assert [("real",), ()] == [outcome.names for outcome in turn.attached]
    assert not turn.attached[1].truncated
    assert "(directory listing)\nf a.txt\nf c.txt" == named.attached[0].text


def test_the_root_below_keeps_its_rules(tree: Tree) -> None:
    """Links and secrets of a disk are judged by the root that is over it, those in memory by the memory."""
    project = tree({".env": "K=1\n", "link": tree.link("a.txt"), "a.txt": "a\n", "keys/id_rsa": "x"})
    with Root(project, allow=[".env"]) as root:
        turn = preprocess("@.env @link @keys/id_rsa @keys", root=MemoryRoot({"keys/b.pem": "x", "keys/ok": ""}, over=root))

    assert [".env", "keys"] == [outcome.path for outcome in turn.attached]
    assert [Reason.SYMLINK, Reason.SECRET] == [outcome.reason for outcome in turn.refused]
    assert turn.attached[1].notes == ("2 secret names are withheld",)


def test_a_folder_that_is_in_both_lists_what_each_of_them_shows(tree: Tree) -> None:
    """What the root below opens it shows, and what the memory withholds it counts; in the order of a disk, and no more than asked for."""
    with Root(tree({".env": "K=1\n", "b.py": "b\n", "d.py": "d\n"}), allow=[".env"]) as root:
        memory = MemoryRoot({"a.py": "a\n", "b.py": "new\n", "c.pem": "x"}, over=root)
        folder = memory.open(".")
        assert not isinstance(folder, Trouble)
        with folder:
            whole, part = folder.entries(None), folder.entries(2)
            assert folder.read(1) == Trouble(Reason.NOT_REGULAR, "a folder, not a file")

    assert isinstance(whole, Listing)
    assert isinstance(part, Listing)
    assert ([".env", "a.py", "b.py", "d.py"], False, 1) == ([entry.name for entry in whole.entries], whole.more, whole.withheld)
    assert (2, True) == (len(part.entries), part.more)


def test_a_folder_that_cannot_be_listed_below() -> None:
    """What is in memory is listed, and that there is more is said."""
    below = PlainRoot(lambda name: PlainNode(name, "directory", trouble=PermissionError()) if name in (".", "a") else None)
    locked = PlainRoot(lambda _: Trouble(Reason.PERMISSION, "permission denied"))

    for root in (below, locked):
        turn = preprocess("@a", root=MemoryRoot({"a/b.txt": "b\n"}, over=root))
        assert turn.attached[0].text == "(directory listing)\nf b.txt"
        assert turn.attached[0].truncated


def test_an_overlay_over_what_is_far_away() -> None:
    """A distant root below is asked once a turn, and hears of what will be read of it alone."""
    distant = DistantRoot({"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})

    turn = preprocess("@a.txt @b.txt @c.txt @a.txt", root=MemoryRoot({"b.txt": "unsaved\n"}, over=distant))

    assert ["a\n", "unsaved\n", "c\n"] == [outcome.text for outcome in turn.attached]
    assert distant.turns == 1
    assert [(["a.txt", "c.txt"], 204_804)] == distant.fetched


def test_instruction_files_in_memory() -> None:
    """Discovery, imports and loaders work on any root; a file that imports itself by a circle is noticed without inodes."""
    root = MemoryRoot(FILES)
    found = agentsmd.expand_imports(agentsmd.discover("src/deep/er/x.py", root=root))

    assert ["AGENTS.md", "docs/style.md", "docs/loop.md", "src/AGENTS.md"] == [doc.name for doc in found]
    assert ["imported in a circle"] == [problem.detail for problem in found.problems]
    assert found.root == "the root that was given"
    assert not any("<root>" in text for text in (agentsmd.render(found), *found.warnings, *(problem.summary for problem in found.problems)))


def test_instruction_files_that_change_in_memory() -> None:
    """A loader's stamp changes with the files of any root; one without stamps is read every time."""
    root = MemoryRoot({"AGENTS.md": "one\n"})
    loader = agentsmd.Loader(root=root)

    before = loader.stamp()
    assert before == loader.stamp()
    root["AGENTS.md"] = "two\n"
    assert before != loader.stamp()
    assert (changing := agentsmd.Loader(root=plain_root())).stamp() != changing.stamp()


@pytest.mark.parametrize("path", ["/", "/src", "..", "src/../..", "~/x", ""])
def test_error_instruction_files_outside(path: str) -> None:
    """With an object as the root, the path is a name in it."""
    with pytest.raises(OptionError, match="`path`"):
        agentsmd.discover(path, root=MemoryRoot(FILES))


def test_instruction_files_never_lead_to_this_machine(tmp_path: Path) -> None:
    """An absolute path in an instruction file, where a profile takes them, is none of the root's."""
    (tmp_path / "AGENTS.md").write_text("host", encoding="utf-8")
    root = MemoryRoot({"AGENTS.md": f"@{tmp_path}/AGENTS.md\n", "a/b/AGENTS.md": "@../../AGENTS.md @../../../x.md\n"})

    for profile in (agentsmd.DEFAULT, agentsmd.CHAIN, agentsmd.PROJECTCTX, agentsmd.CODEX):
        found = agentsmd.expand_imports(agentsmd.discover("a/b", root=root, profile=profile), home=os.fspath(tmp_path / "home"))
        assert "host" not in [doc.text for doc in found]


NAMES = st.lists(st.sampled_from(["a", "b", "..", ".", "", "é", "a.py"]), min_size=1, max_size=6).map("/".join)


@given(names=st.lists(NAMES, max_size=6), typed=st.lists(NAMES, min_size=1, max_size=4))
def test_every_name_is_as_on_a_disk(tmp_path_factory: pytest.TempPathFactory, names: list[str], typed: list[str]) -> None:
    """Whatever files there are and whatever is typed, a disk, memory and memory over a disk open the same and refuse the same."""
    whole, half = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("half")
    memory = MemoryRoot()
    for name in names:
        try:
            memory[name] = "x"
        except OptionError:
            continue
    for number, name in enumerate(memory.names):
        for folder in (whole, half)[: 1 + number % 2]:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x", encoding="utf-8")

    with Root(whole) as disk, Root(half) as below:
        overlay = MemoryRoot(dict.fromkeys(memory.names[::2], "x"), over=below)
        for name in typed:
            expected = look_at(disk, name)
            assert expected == look_at(memory, name)
            assert expected == look_at(overlay, name)


def look_at(root: RootLike, name: str) -> object:
    """Return what can be seen of *name*."""
    node = root.open(name)
    if isinstance(node, Trouble):
        return node
    with node:
        return node.name, node.kind, node.target, node.size, node.entries(10), node.read(10)
