"""Files of fsspec's file systems as the root of a chat: the same turns as on a disk, and no more requests than there must be."""

from __future__ import annotations

import base64
import json
import os
import re
import threading
import time
import zipfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

fsspec = pytest.importorskip("fsspec", reason="needs filerefs[fsspec]")

from fsspec.asyn import get_loop  # noqa: E402

from filerefs import Limits, OptionError, OptionTypeError, Preprocessor, Reason, RootNotFoundError, agentsmd, preprocess  # noqa: E402
from filerefs.integrations.fsspec import FsspecRoot  # noqa: E402
from filerefs.integrations.fsspec_infos import stamp_of  # noqa: E402
from filerefs.roots import Entry, Listing, MemoryRoot, Trouble  # noqa: E402
from filerefs.walk import walk  # noqa: E402

from ..test_rootlike import FILES, MESSAGES  # noqa: E402, TID252 (tests are no package that has a name)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from conftest import Tree

    Content = str | bytes

# Begun once by whatever is asynchronous in fsspec, and never ended: no test of ours leaves it behind.
get_loop()

PAGE = Path(__file__).parents[2] / "docs" / "integrations" / "fsspec.md"
NUMBERS = iter(range(10**9))


@pytest.fixture
def store() -> Iterator[Callable[[Mapping[str, Content]], str]]:
    """Return what puts files into a new folder of fsspec's memory, and returns its path there."""
    filesystem = fsspec.filesystem("memory")
    made: list[str] = []

    def put(files: Mapping[str, Content]) -> str:
        folder = f"/test{next(NUMBERS)}"
        made.append(folder)
        for name, content in files.items():
            filesystem.pipe_file(f"{folder}/{os.path.normpath(name)}", content.encode() if isinstance(content, str) else content)
        return folder

    yield put
    for folder in made:
        filesystem.rm(folder, recursive=True)


def zip_of(path: Path, files: Mapping[str, Content]) -> str:
    """Write an archive and return its URL."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return f"zip://::file://{path}"


@pytest.fixture(params=["memory", "zip", "local"])
def make_root(request: pytest.FixtureRequest, store: Callable[[Mapping[str, Content]], str], tmp_path: Path) -> Callable[..., FsspecRoot]:
    """Return what makes a root with some files in one of the three file systems that need no network."""

    def make(files: Mapping[str, Content], **options: Any) -> FsspecRoot:
        if request.param == "memory":
            return FsspecRoot(f"memory:/{store(files)}", **options)
        if request.param == "zip":
            return FsspecRoot(zip_of(tmp_path / "files.zip", {os.path.normpath(name): content for name, content in files.items()}), **options)
        for name, content in files.items():
            path = tmp_path / "local" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return FsspecRoot(f"file://{tmp_path}/local", **options)

    return make


class Watched:
    """
    A file system that counts what it is asked, and how much of that at once; *during* is called in each fetch.

    `failing` maps a method, or a method and the end of a path, to what it raises.
    """

    def __init__(self, filesystem: Any, during: Callable[[], object] | None = None, *, failing: Mapping[str, Exception] | None = None) -> None:
        self._filesystem = filesystem
        self._during = during
        self._failing = failing or {}
        self._lock = threading.Lock()
        self._running = 0
        self.most = 0
        self.asked: Counter[str] = Counter()
        self.fetched: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._filesystem, name)

    def _ask(self, method: str, path: str, *arguments: Any, **options: Any) -> Any:
        with self._lock:
            self.asked[f"{method} {path}"] += 1
            self._running += 1
            self.most = max(self.most, self._running)
        try:
            for key, error in self._failing.items():
                if f"{method} {path}".startswith(key.partition(" ")[0]) and path.endswith(key.partition(" ")[2]):
                    raise error
            if method == "cat_file" and self._during is not None:
                self._during()
            return getattr(self._filesystem, method)(path, *arguments, **options)
        finally:
            with self._lock:
                self._running -= 1

    def ls(self, path: str, detail: bool = True) -> Any:  # noqa: FBT001, FBT002 (fsspec's own form)
        return self._ask("ls", path, detail=detail)

    def info(self, path: str) -> Any:
        return self._ask("info", path)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None) -> Any:
        self.fetched.append((path, end))
        return self._ask("cat_file", path, start=start, end=end)

    def open(self, path: str, mode: str = "rb") -> Any:
        return self._ask("open", path, mode)


def watched(
    folder: str, during: Callable[[], object] | None = None, *, failing: Mapping[str, Exception] | None = None, **options: Any
) -> tuple[FsspecRoot, Watched]:
    """Return a root in fsspec's memory, and what watches its file system from now on."""
    filesystem = Watched(fsspec.filesystem("memory"), during)
    root = FsspecRoot(filesystem, folder, **options)
    filesystem.asked.clear()
    filesystem._failing = failing or {}
    return root, filesystem


@pytest.mark.parametrize("message", MESSAGES)
def test_same_as_on_a_disk(tree: Tree, make_root: Callable[..., FsspecRoot], message: str) -> None:
    """The same files give the same turn, wherever they are."""
    on_disk = preprocess(message, "Be brief.", tree(FILES))

    elsewhere = preprocess(message, "Be brief.", make_root(FILES))

    assert on_disk.as_dict() == elsewhere.as_dict()


def test_same_with_many_at_once(tree: Tree, make_root: Callable[..., FsspecRoot]) -> None:
    """Fetching ahead changes nothing but the time that it takes."""
    message = "@src/app.py @notes.md @lines.txt:3-5 @long.txt @docs/ @latin.txt @empty.txt @data.bin"

    assert preprocess(message, root=tree(FILES)).as_dict() == preprocess(message, root=make_root(FILES, concurrency=4)).as_dict()


def test_same_instruction_files(make_root: Callable[..., FsspecRoot]) -> None:
    """Instruction files are found, and their imports, as in any root."""
    root, memory = make_root(FILES), MemoryRoot(FILES)

    found, expected = (agentsmd.expand_imports(agentsmd.discover("src/deep", root=one)) for one in (root, memory))

    assert [(doc.name, doc.text, doc.scope) for doc in expected] == [(doc.name, doc.text, doc.scope) for doc in found]
    assert expected.problems == found.problems


def test_same_names_in_a_walk(make_root: Callable[..., FsspecRoot]) -> None:
    """A walk shows the same names, ignore rules applied."""
    assert list(walk(MemoryRoot(FILES), limit=None)) == list(walk(make_root(FILES), limit=None))


@pytest.mark.parametrize("lines", ["140000-140002", "199999-", "1-2"])
def test_lines_deep_in_a_file(make_root: Callable[..., FsspecRoot], lines: str) -> None:
    """A long file is read on from where its beginning ended, and never as a whole."""
    text = "".join(f"this is line {number:06}\n" for number in range(1, 200_001))
    first, _, last = lines.partition("-")

    turn = preprocess(f"@long.txt:{lines}", root=make_root({"long.txt": text}))

    assert text.splitlines(keepends=True)[int(first) - 1 : int(last or 200_000)] == turn.attached[0].text.splitlines(keepends=True)
    assert turn.attached[0].size == len(text)


def test_reading_on(make_root: Callable[..., FsspecRoot]) -> None:
    """A file is read piece by piece, in whatever pieces, to its end and never beyond what is asked for."""
    data = bytes(range(256)) * 64
    node = make_root({"a.bin": data}).open("a.bin")
    assert not isinstance(node, Trouble)

    with node:
        assert [data[:10], b"", data[10:300], data[300:], b""] == [node.read(10), node.read(0), node.read(290), node.read(None), node.read(5)]


def test_base(store: Callable[[Mapping[str, Content]], str]) -> None:
    """The root is a folder in what the URL names, and what lies beside it is outside."""
    folder = store({"inside/a.txt": "a\n", "inside/deep/b.txt": "b\n", "beside.txt": "no\n"})
    roots = [
        FsspecRoot(f"memory:/{folder}/inside"),
        FsspecRoot(f"memory:/{folder}", "inside"),
        FsspecRoot(f"memory:/{folder}/", "/inside/"),
        FsspecRoot(fsspec.filesystem("memory"), f"{folder}/inside/"),
    ]

    for root in roots:
        turn = preprocess("@a.txt @deep/b.txt @beside.txt @../beside.txt @.", root=root)
        assert ["a.txt", "deep/b.txt", "."] == [outcome.path for outcome in turn.attached]
        assert [Reason.NOT_FOUND, Reason.OUTSIDE_ROOT] == [outcome.reason for outcome in turn.refused]
        assert repr(root) == f"FsspecRoot(MemoryFileSystem, '{folder}/inside')"


def test_base_of_a_whole_file_system(tmp_path: Path) -> None:
    """Without a folder the root is where the file system begins."""
    turn = preprocess("@a.txt @.", root=FsspecRoot(zip_of(tmp_path / "a.zip", {"a.txt": "a\n", "b/c.txt": "c\n"})))
    assert ["a\n", "(directory listing)\nf a.txt\nd b"] == [outcome.text for outcome in turn.attached]
    (tmp_path / "top.txt").write_text("top\n", encoding="utf-8")
    turn = preprocess(f"@{str(tmp_path)[1:]}/top.txt", root=FsspecRoot(fsspec.filesystem("file"), "/"))
    assert ["top\n"] == [outcome.text for outcome in turn.attached]


@pytest.mark.parametrize(
    ("filesystem", "base", "error"),
    [
        pytest.param("memory://there/is/nothing", "", RootNotFoundError, id="no such folder"),
        pytest.param("zip://::file:///there/is/no.zip", "", RootNotFoundError, id="no such archive"),
        pytest.param("unheard://user:password@host/", "", OptionError, id="no such file system"),
        pytest.param(7, "", OptionTypeError, id="no file system"),
    ],
)
def test_error_what_is_no_root(filesystem: Any, base: str, error: type[Exception]) -> None:
    """A mistake is told when the root is made, without what else may stand in a URL."""
    with pytest.raises(error) as raised:
        FsspecRoot(filesystem, base)

    assert "password" not in str(raised.value)


def test_error_options(store: Callable[[Mapping[str, Content]], str]) -> None:
    """A file as a base, a wrong number and a file system for an event loop are mistakes."""
    folder = store({"a.txt": "a\n"})
    memory = fsspec.filesystem("memory")
    asynchronous = Watched(memory)
    asynchronous.asynchronous = True  # type: ignore[attr-defined]

    with pytest.raises(RootNotFoundError, match="not a folder"):
        FsspecRoot(memory, f"{folder}/a.txt")
    with pytest.raises(OptionError, match="`concurrency`"):
        FsspecRoot(memory, folder, concurrency=0)
    with pytest.raises(OptionTypeError, match="`concurrency`"):
        FsspecRoot(memory, folder, concurrency="many")  # type: ignore[arg-type]
    with pytest.raises(OptionTypeError, match="`allow`"):
        FsspecRoot(memory, folder, allow=".env")
    with pytest.raises(OptionError, match="asynchronous"):
        FsspecRoot(asynchronous, folder)


def test_storage_options(tmp_path: Path) -> None:
    """What a file system takes besides the URL is handed on."""
    zip_of(tmp_path / "a.zip", {"a.txt": "a\n"})
    root = FsspecRoot("zip://", storage_options={"fo": str(tmp_path / "a.zip")})

    assert ["a\n"] == [outcome.text for outcome in preprocess("@a.txt", root=root).attached]


# Confinement.


def test_members_of_an_archive_that_lead_out(tmp_path: Path) -> None:
    """Names in an archive that lead out, are absolute or have two slashes can neither be named nor are they listed."""
    url = zip_of(tmp_path / "a.zip", {"ok/a.txt": "a\n", "../evil.txt": "evil", "/etc/evil.txt": "evil", "ok//evil.txt": "evil", "ok/../../evil.txt": "evil"})

    turn = preprocess("@. @ok @ok/a.txt @../evil.txt @ok//evil.txt @ok/../../evil.txt @/etc/evil.txt @etc/evil.txt", root=FsspecRoot(url))

    # The folder of an absolute name may be listed; there is nothing in it that could be read.
    assert [".", "ok", "ok/a.txt"] == [outcome.path for outcome in turn.attached]
    assert turn.attached[1].text == "(directory listing)\nf a.txt"
    assert "evil" not in "".join(outcome.text for outcome in turn.attached)


def test_links_are_refused(tree: Tree) -> None:
    """What a listing calls a link is neither read nor entered, though the file system would follow it; pipes are not opened."""
    (tree.folder.parent / "outside.txt").write_text("outside\n", encoding="utf-8")
    folder = tree({"a.txt": "a\n", "link.txt": tree.link("a.txt"), "out.txt": tree.link("../outside.txt"), "up": tree.link(".."), "pipe": tree.fifo()})
    root = FsspecRoot(f"file://{folder}")

    turn = preprocess("@a.txt @link.txt @out.txt @up/outside.txt @up @pipe @.", root=root)

    assert root.filesystem.cat_file(f"{folder}/up/outside.txt") == b"outside\n"
    assert ["a.txt", "."] == [outcome.path for outcome in turn.attached]
    assert "l link.txt\nl out.txt\nf pipe\nl up" in turn.attached[1].text
    assert [Reason.SYMLINK] * 4 + [Reason.NOT_REGULAR] == [outcome.reason for outcome in turn.refused]


@pytest.mark.parametrize(
    "info",
    [
        pytest.param({"type": "link"}, id="as SSH tells it"),
        pytest.param({"type": "symlink"}, id="as others tell it"),
        pytest.param({"type": "file", "islink": True}, id="as the local file system tells it"),
        pytest.param({"type": "file", "mode": "120000"}, id="as GitHub tells it"),
        pytest.param({"type": "directory", "mode": 0o120777}, id="by its mode"),
    ],
)
def test_whatever_is_called_a_link(info: dict[str, Any]) -> None:
    """A link is one in whichever way a file system says so, at the end and on the way."""
    root = FsspecRoot(Told({"": [{"name": "x", "size": 1, **info}], "x": [{"name": "x/a.txt", "type": "file", "size": 1}]}))

    turn = preprocess("@./x @x/a.txt @.", root=root)

    assert [Reason.SYMLINK, Reason.SYMLINK] == [outcome.reason for outcome in turn.refused]
    assert turn.attached[0].text == "(directory listing)\nl x"


class Told:
    """A file system that says what it is told to say; every file is `x` again and again."""

    async_impl = False

    def __init__(self, listings: Mapping[str, Any]) -> None:
        self._listings = listings

    @staticmethod
    def _strip_protocol(path: str) -> str:
        return path.strip("/")

    def invalidate_cache(self, path: str | None = None) -> None:
        pass

    def ls(self, path: str, detail: bool = True) -> Any:  # noqa: ARG002, FBT001, FBT002 (fsspec's own form)
        if path not in self._listings:
            raise FileNotFoundError(path)
        return self._listings[path]

    def info(self, path: str) -> Any:
        return {"name": path, "type": "file", "size": 3}

    def cat_file(self, path: str, start: int | None = None, end: int | None = None) -> bytes:  # noqa: ARG002
        return b"x" * 10_000_000

    def open(self, path: str, mode: str = "rb") -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["src", "src/", "/src/", "src//", ""], id="the folder itself"),
        pytest.param(["src/..", "src/.", "../x", "..", "."], id="dots"),
        pytest.param(["src/a/b", "other/a", "srcs", "a"], id="what lies elsewhere"),
    ],
)
def test_listings_that_are_not_believed(names: list[str]) -> None:
    """Only what lies right in a folder is in it, whatever a listing says."""
    root = FsspecRoot(Told({"": [{"name": "src", "type": "directory"}], "src": [{"name": name, "type": "file", "size": 1} for name in [*names, "src/ok"]]}))
    node = root.open("src")
    assert not isinstance(node, Trouble)

    with node:
        assert node.entries(None) == Listing((Entry("ok", "file"),), more=False, withheld=0)


def test_more_bytes_than_asked_for() -> None:
    """A file system that sends more than it is asked for is cut short."""
    root = FsspecRoot(Told({"": [{"name": "a.txt", "type": "file", "size": 5}]}))

    assert preprocess("@a.txt", root=root, limits=Limits(file_bytes=100)).attached[0].shown == 100


@pytest.mark.parametrize("size", [None, -1, 1.5, True, "3", [3]], ids=repr)
def test_sizes_that_are_none(size: object) -> None:
    """What is no number of bytes is like no size at all."""
    root = FsspecRoot(Told({"": [{"name": "a.txt", "type": "file", "size": size, "ETag": "1"}]}))

    assert preprocess("@a.txt", root=root, limits=Limits(file_bytes=100)).attached[0].size == (1 << 20) + 1


def test_error_no_secret_is_fetched_to_find_out_its_size() -> None:
    """Its name tells that it is one, before anything is asked of it."""
    told = Told({"": [{"name": ".env", "type": "file", "size": None}]})
    asked: list[str] = []
    told.cat_file = lambda path, **_: asked.append(path) or b""  # type: ignore[assignment, method-assign]

    assert [Reason.SECRET] == [outcome.reason for outcome in preprocess("@.env", root=FsspecRoot(told)).refused]
    assert [] == asked


@pytest.mark.parametrize("listing", [[{"type": "file"}], ["a.txt"], None, 5], ids=["no name", "names alone", "none", "a number"])
def test_error_a_listing_that_is_none(listing: object) -> None:
    """What no file system answers is a root that cannot be used."""
    with pytest.raises(RootNotFoundError):
        FsspecRoot(Told({"": listing}))


def test_a_kind_that_is_no_word() -> None:
    """What a listing says of a name, and nobody understands, is neither file nor folder."""
    root = FsspecRoot(Told({"": [{"name": "a.txt", "type": ["file"], "size": 3}]}))

    assert [Reason.NOT_REGULAR] == [outcome.reason for outcome in preprocess("@a.txt", root=root).refused]


def test_size_that_nobody_knows() -> None:
    """Where no size is given, the beginning of the file is fetched to find out; a long one is then not taken for a short one."""
    short = FsspecRoot(Told({"": [{"name": "a.txt", "type": "file", "size": None}]}))
    assert preprocess("@a.txt:1", root=short, limits=Limits(file_bytes=100)).attached[0].size == (1 << 20) + 1

    gone = Told({"": [{"name": "a.txt", "type": "file", "size": None}]})
    gone.cat_file = lambda *_, **__: b"".join([])[0]  # type: ignore[assignment, misc]
    assert [Reason.IO_ERROR] == [outcome.reason for outcome in preprocess("@a.txt", root=FsspecRoot(gone)).refused]


def test_secrets(make_root: Callable[..., FsspecRoot]) -> None:
    """Names of secrets are withheld everywhere, but for those that are allowed."""
    files = {".env": "K=1\n", "a/.env": "K=2\n", ".git/config": "url\n", "a/b.pem": "x\n"}

    turn = preprocess("@.env @a/.env @.git/config @a/ @.", root=make_root(files, allow=["a/.env"]))

    assert ["a/.env", "a", "."] == [outcome.path for outcome in turn.attached]
    assert [("1 secret name is withheld",), ("2 secret names are withheld",)] == [outcome.notes for outcome in turn.attached[1:]]
    assert {Reason.SECRET} == {outcome.reason for outcome in turn.refused}


# Latency.


def test_one_listing_for_each_folder(store: Callable[[Mapping[str, Content]], str]) -> None:
    """A turn lists each folder on the way once, asks for nothing that a listing tells, and fetches each file once."""
    folder = store({"src/a.py": "a\n", "src/b.py": "b\n", "src/deep/c.py": "c\n", "docs/d.md": "d\n", ".gitignore": "*.log\n"})
    root, filesystem = watched(folder, concurrency=2)
    message = "@src/a.py @src/b.py @src/deep/c.py @src/ @docs/ @src/a.py:1 @src/nope.py @nope/x.py @alice @types/node @src/deep/nope.py"

    turn = preprocess(message, root=root)

    assert len(turn.attached) == 5
    fetched = [".gitignore", "src/a.py", "src/b.py", "src/deep/c.py"]
    assert {
        f"ls {folder}": 1,
        **{f"ls {folder}/{name}": 1 for name in ("src", "src/deep", "docs")},
        **{f"cat_file {folder}/{name}": 1 for name in fetched},
    } == filesystem.asked


def test_nothing_is_asked_without_need(store: Callable[[Mapping[str, Content]], str]) -> None:
    """A message without references asks for nothing, and one with names that are not there for one listing."""
    root, filesystem = watched(store({"a.txt": "a\n"}))
    with Preprocessor(root) as preprocessor:
        preprocessor.preprocess("hello")
        assert filesystem.asked == {}
        preprocessor.preprocess("@alice @bob @types/node @app.route('/') " + " ".join(f"@nope{number}.py" for number in range(100)))

    assert [1] == list(filesystem.asked.values())


def test_files_are_fetched_together(store: Callable[[Mapping[str, Content]], str]) -> None:
    """As many files are fetched at once as may be, and never more."""
    together = threading.Barrier(4)
    files = {f"f{number}.txt": f"{number}\n" for number in range(12)}
    # Each waits for three others: with fewer at once this would break, and with it the files.
    root, filesystem = watched(store(files), lambda: together.wait(timeout=60), concurrency=4)

    turn = preprocess(" ".join(f"@{name}" for name in files), root=root)

    assert list(files.values()) == [outcome.text for outcome in turn.attached]
    assert filesystem.most == 4
    assert [200 * 1024 + 4] * 12 == [end for _, end in filesystem.fetched]


@pytest.mark.parametrize(("is_asynchronous", "expected"), [(True, 8), (False, 1)])
def test_how_many_at_once(store: Callable[[Mapping[str, Content]], str], is_asynchronous: bool, expected: int) -> None:  # noqa: FBT001
    """What is not made for it is asked by one thread at a time."""
    filesystem = Watched(fsspec.filesystem("memory"))
    filesystem.async_impl = is_asynchronous  # type: ignore[attr-defined]
    files = {f"f{number}.txt": f"{number}\n" for number in range(9)}
    root = FsspecRoot(filesystem, store(files))

    turn = preprocess(" ".join(f"@{name}" for name in files), root=root)

    assert len(turn.attached) == 9
    assert root.concurrency == expected
    assert filesystem.most <= expected


def test_only_what_will_be_shown_is_fetched(store: Callable[[Mapping[str, Content]], str]) -> None:
    """What the total has no room for is not fetched."""
    root, filesystem = watched(store({name: name * 1000 for name in "abcdef"}), concurrency=4)

    turn = preprocess("@./a @./b @./c @./d @./e @./f", root=root, limits=Limits(total_bytes=2500))

    assert ["a", "b"] == [outcome.path for outcome in turn.attached]
    assert ["a", "b", "c"] == sorted(path[-1] for path, _ in filesystem.fetched)


def test_a_long_file_is_not_fetched_as_a_whole(store: Callable[[Mapping[str, Content]], str]) -> None:
    """Of a long file so much is fetched as may be shown; two names of one listing are no second request."""
    root, filesystem = watched(store({"long.txt": "line\n" * 1_000_000}))

    preprocess("@long.txt", root=root)

    assert [200 * 1024 + 4] == [end for _, end in filesystem.fetched]


# Between turns.


def touch(path: Path, age: float) -> None:
    """Make *path* look as if it had been written so many seconds ago."""
    then = time.time() - age
    os.utime(path, (then, then))


def test_old_files_are_kept_between_turns(tmp_path: Path) -> None:
    """A text whose file has not changed for a while is fetched once; one that changed, or may have, is fetched again."""
    for name, age in (("old.txt", 1000.0), ("new.txt", 0.0)):
        (tmp_path / name).write_text("one\n", encoding="utf-8")
        touch(tmp_path / name, age)
    filesystem = Watched(fsspec.filesystem("file"))
    with Preprocessor(FsspecRoot(filesystem, str(tmp_path))) as preprocessor:
        for _ in range(2):
            preprocessor.preprocess("@old.txt @new.txt")
        assert {"old.txt": 1, "new.txt": 2} == Counter(Path(path).name for path, _ in filesystem.fetched)
        (tmp_path / "old.txt").write_text("two\n", encoding="utf-8")
        touch(tmp_path / "old.txt", 500.0)
        turn = preprocessor.preprocess("@old.txt")

    assert ["two\n"] == [outcome.text for outcome in turn.attached]


def test_changes_are_seen(store: Callable[[Mapping[str, Content]], str]) -> None:
    """Each turn looks again: at new files, changed files, and files that are gone."""
    folder = store({"a.txt": "one\n"})
    memory = fsspec.filesystem("memory")
    with Preprocessor(FsspecRoot(memory, folder)) as preprocessor:
        first = preprocessor.preprocess("@a.txt @b.txt")
        memory.pipe_file(f"{folder}/a.txt", b"two\n")
        memory.pipe_file(f"{folder}/b.txt", b"new\n")
        second = preprocessor.preprocess("@a.txt @b.txt")
        memory.rm(f"{folder}/a.txt")
        third = preprocessor.preprocess("@a.txt @b.txt")

    assert [["one\n"], ["two\n", "new\n"], ["new\n"]] == [[outcome.text for outcome in turn.attached] for turn in (first, second, third)]


@pytest.mark.parametrize(("fresh", "expected"), [(True, 2), (False, 0)])
def test_the_file_systems_own_listings(store: Callable[[Mapping[str, Content]], str], fresh: bool, expected: int) -> None:  # noqa: FBT001
    """What a file system remembers by itself is forgotten at each turn, unless nothing there changes."""
    forgotten: list[object] = []
    filesystem = Watched(fsspec.filesystem("memory"))
    filesystem.invalidate_cache = lambda: forgotten.append(1)  # type: ignore[attr-defined]
    with Preprocessor(FsspecRoot(filesystem, store({"a.txt": "a\n"}), fresh=fresh)) as preprocessor:
        for _ in range(2):
            preprocessor.preprocess("@a.txt @nope.txt")

    assert expected == len(forgotten)


LONG_AGO = datetime(2020, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("info", "is_known"),
    [
        pytest.param({"ETag": '"abc"', "LastModified": datetime.now(UTC)}, True, id="S3"),
        pytest.param({"etag": "abc"}, True, id="Google, Azure"),
        pytest.param({"sha": "0f1e"}, True, id="GitHub"),
        pytest.param({"CRC": 0, "date_time": (2020, 1, 1, 0, 0, 0)}, True, id="zip"),
        pytest.param({"ETag": 'W/"abc"'}, False, id="a weak tag"),
        pytest.param({"ETag": ""}, False, id="an empty tag"),
        pytest.param({"mtime": 1_500_000_000.5, "ino": 7}, True, id="local, old"),
        pytest.param({"mtime": time.time() + 86_400}, False, id="local, from the future"),
        pytest.param({"mtime": LONG_AGO}, True, id="SSH, old"),
        pytest.param({"mtime": LONG_AGO.replace(tzinfo=None)}, True, id="without a time zone"),
        pytest.param({"mtime": datetime.now(UTC) + timedelta(hours=1)}, False, id="SSH, a clock ahead"),
        pytest.param({"updated": "2020-01-02T03:04:05Z"}, True, id="as text"),
        pytest.param({"updated": "yesterday"}, False, id="as words"),
        pytest.param({"mtime": True}, False, id="as nothing that is a time"),
        pytest.param({"created": 1_500_000_000.0}, False, id="only when it was made"),
        pytest.param({}, False, id="nothing"),
    ],
)
def test_what_tells_that_a_file_is_the_same(info: dict[str, Any], is_known: bool) -> None:  # noqa: FBT001
    """A digest does, or a time that is old enough; nothing else."""
    stamp = stamp_of("a.txt", {"size": 5, **info})

    assert is_known == (stamp is not None)
    if stamp is not None:
        assert stamp == stamp_of("a.txt", {"size": 5, **info})
        assert len({stamp, stamp_of("b.txt", {"size": 5, **info}), stamp_of("a.txt", {"size": 6, **info})}) == 3


# Trouble.


class LibraryError(Exception):
    """What a library below a file system raises."""


FAILURES = [
    pytest.param(FileNotFoundError("gone"), Reason.NOT_FOUND, id="gone since"),
    pytest.param(PermissionError("403 for key AKIAXYZ"), Reason.PERMISSION, id="forbidden"),
    pytest.param(ConnectionError("no route to 10.0.0.7"), Reason.IO_ERROR, id="no connection"),
    pytest.param(TimeoutError(), Reason.IO_ERROR, id="too slow"),
    pytest.param(LibraryError("at 10.0.0.7"), Reason.IO_ERROR, id="an error of a library"),
    pytest.param(KeyError("a.txt"), Reason.IO_ERROR, id="a fault of a library"),
]


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize(("error", "reason"), FAILURES)
def test_error_while_fetching(store: Callable[[Mapping[str, Content]], str], error: Exception, reason: Reason, concurrency: int) -> None:
    """What cannot be fetched is refused, and costs nothing else; the words of the error are shown to nobody."""
    root, filesystem = watched(store({"a.txt": "a\n", "b.txt": "b\n"}), failing={"cat_file a.txt": error}, concurrency=concurrency)

    turn = preprocess("@a.txt @b.txt", root=root)

    assert [("a.txt", reason)] == [(outcome.path, outcome.reason) for outcome in turn.refused]
    assert ["b.txt"] == [outcome.path for outcome in turn.attached]
    assert not any(word in str(turn.as_dict()) for word in ("AKIA", "10.0.0.7", "403"))
    assert {1} == set(filesystem.asked.values())


@pytest.mark.parametrize(("error", "reason"), FAILURES[1:])
def test_error_while_listing(store: Callable[[Mapping[str, Content]], str], error: Exception, reason: Reason) -> None:
    """A folder that cannot be listed is told once, and asked for once."""
    folder = store({"docs/a.txt": "a\n", "b.txt": "b\n"})
    root, filesystem = watched(folder, failing={"ls docs": error, "info docs/a.txt": error})

    turn = preprocess("@docs/ @docs/a.txt @docs/b.txt @b.txt", root=root)

    assert ["b.txt"] == [outcome.path for outcome in turn.attached]
    assert reason in {outcome.reason for outcome in turn.refused}
    assert filesystem.asked[f"ls {folder}/docs"] == 1


@pytest.mark.parametrize("error", [PermissionError("403"), NotImplementedError()], ids=["forbidden", "not possible"])
def test_names_without_a_listing(store: Callable[[Mapping[str, Content]], str], error: Exception) -> None:
    """Where a folder may be read but not listed, names in it are asked for one by one."""
    folder = store({"docs/a.txt": "a\n", "docs/deep/b.txt": "b\n"})
    root, filesystem = watched(folder, failing={"ls docs": error})

    turn = preprocess("@docs/a.txt @docs/deep/b.txt @docs/nope.txt @docs/", root=root)

    assert ["a\n", "b\n"] == [outcome.text for outcome in turn.attached]
    assert [Reason.NOT_FOUND, Reason.PERMISSION] == [outcome.reason for outcome in turn.refused]
    assert filesystem.asked[f"info {folder}/docs/a.txt"] >= 1


def test_error_in_the_middle_of_a_file(store: Callable[[Mapping[str, Content]], str]) -> None:
    """A connection that breaks behind the beginning is why the lines are refused."""
    root, _ = watched(store({"long.txt": "line\n" * 500_000}), failing={"open long.txt": ConnectionResetError()})

    turn = preprocess("@long.txt:400000", root=root)

    assert [Reason.IO_ERROR] == [outcome.reason for outcome in turn.refused]


def test_error_broken_archive(tmp_path: Path) -> None:
    """A member whose bytes do not fit its checksum is refused; an archive that is none is no root."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "some text to be spoilt\n")
        archive.writestr("b.txt", "another\n")
    path.write_bytes(path.read_bytes().replace(b"spoilt", b"SPOILT"))

    turn = preprocess("@a.txt @b.txt", root=FsspecRoot(f"zip://::file://{path}"))

    assert [("a.txt", Reason.IO_ERROR)] == [(outcome.path, outcome.reason) for outcome in turn.refused]
    assert ["b.txt"] == [outcome.path for outcome in turn.attached]


def test_a_checkout_on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit on GitHub, which a small server plays: one request for each folder and file, none in a second turn."""
    pytest.importorskip("requests", reason="fsspec needs it for GitHub")
    from fsspec.implementations.github import GithubFileSystem

    if not hasattr(GithubFileSystem, "content_url"):
        pytest.skip("this version asks another address for files, which cannot be played")
    blob = {"type": "blob", "mode": "100644"}
    trees = {
        "main": [
            {"path": "src", "type": "tree", "mode": "040000", "sha": "t1"},
            {**blob, "path": "a.md", "size": 2, "sha": "b1"},
            {**blob, "path": "empty", "size": 0, "sha": "b0"},
        ],
        "t1": [{**blob, "path": "b.py", "size": 9, "sha": "b2"}, {"path": "link", "type": "blob", "mode": "120000", "size": 4, "sha": "b3"}],
    }
    asked: list[str] = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            _, kind, name = self.path.split("/", 2)
            answer = {"tree": trees[name]} if kind == "trees" else {"content": base64.b64encode({"a.md": b"A\n", "src/b.py": b"print(1)\n"}[name]).decode()}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        monkeypatch.setattr(GithubFileSystem, "url", f"http://127.0.0.1:{server.server_port}/trees/{{sha}}")
        monkeypatch.setattr(GithubFileSystem, "content_url", f"http://127.0.0.1:{server.server_port}/files/{{path}}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with Preprocessor(FsspecRoot("github://org:repo@main/", fresh=False, concurrency=2)) as preprocessor:
                turns = [preprocessor.preprocess("@a.md @src/b.py @src/link @empty @src/") for _ in range(2)]
        finally:
            server.shutdown()
            thread.join()

    assert turns[0].as_dict() == turns[1].as_dict()
    assert ["A\n", "print(1)\n", "", "(directory listing)\nf b.py\nl link"] == [outcome.text for outcome in turns[0].attached]
    assert [Reason.SYMLINK] == [outcome.reason for outcome in turns[0].refused]
    assert ["/files/a.md", "/files/src/b.py", "/trees/main", "/trees/t1"] == sorted(asked)


def test_threads_share_a_root(store: Callable[[Mapping[str, Content]], str]) -> None:
    """Many turns at once, each with its own listings, are each right."""
    files = {f"f{number}.txt": f"{number}\n" * 50_000 for number in range(8)}
    wrong: list[object] = []
    with Preprocessor(FsspecRoot(fsspec.filesystem("memory"), store(files), concurrency=2)) as preprocessor:

        def take(number: int) -> None:
            for _ in range(5):
                turn = preprocessor.preprocess(f"@f{number}.txt:49000-49001 @f0.txt:40000")
                if turn.attached[0].text != f"{number}\n" * (2 if number else 1) and number:
                    wrong.append(turn)

        threads = [threading.Thread(target=take, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert wrong == []


def test_buffers_over_files_that_are_far_away(store: Callable[[Mapping[str, Content]], str]) -> None:
    """What an editor has not saved wins over what is on the other machine."""
    root, filesystem = watched(store({"a.txt": "saved\n", "b.txt": "b\n", "c.txt": "c\n"}), concurrency=2)

    turn = preprocess("@a.txt @b.txt @c.txt @.", root=MemoryRoot({"a.txt": "unsaved\n"}, over=root))

    assert ["unsaved\n", "b\n", "c\n"] == [outcome.text for outcome in turn.attached[:3]]
    assert ["b.txt", "c.txt"] == sorted(Path(path).name for path, _ in filesystem.fetched)
    assert {1} == set(filesystem.asked.values())


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The samples of the documentation run, in an empty folder and without a network, and print what the page says."""
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block, output in re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", page, re.DOTALL):
        exec(block, names)
        printed = capsys.readouterr().out
        assert output == printed
    fsspec.filesystem("memory").rm("/project", recursive=True)
