"""Prompts of editors as turns, over the connections of the ACP SDK; and what each block becomes."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("acp", reason="needs filerefs[acp]")

from acp import (
    PROTOCOL_VERSION,
    Agent,
    Client,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    audio_block,
    connect_to_agent,
    embedded_blob_resource,
    embedded_text_resource,
    image_block,
    resource_block,
    resource_link_block,
    run_agent,
    text_block,
    update_agent_message_text,
)
from acp.schema import AgentCapabilities
from hypothesis import given
from hypothesis import strategies as st

from filerefs import Preprocessor, Reason, Turn, preprocess, strip_section
from filerefs.integrations.acp import FileRefs, prompt_capabilities
from filerefs.messages import text_of

from ..docs.blocks import execute, read  # noqa: TID252 (tests are no package that has a name)
from ..docs.grammar_examples import REPOSITORY  # noqa: TID252
from .contract import SYSTEM, Answer, Contract, Sent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from conftest import Tree

    from filerefs import Attached

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
FILES = {
    "src/app.py": "def main():\n    return 1\n",
    "src/lines.txt": "".join(f"line {number}\n" for number in range(1, 51)),
    "my file.txt": "blanks\n",
    "@scope/x.js": "x\n",
    "LICENSE": "free\n",
    "notes.md": "see @LICENSE\n",
    ".env": "TOKEN=sesame\n",
}


@pytest.fixture
def folder(tree: Tree) -> Path:
    """A project, and a file beside it."""
    (tree.folder.parent / "outside.txt").write_text("sesame\n", encoding="utf-8")
    return tree({**FILES, "way out": tree.link("../outside.txt")})


@pytest.fixture
def refs(folder: Path) -> Iterator[FileRefs]:
    with Preprocessor(folder) as files:
        yield FileRefs(files)


class Model:
    """An agent with a model that says what it was given to say; what it was asked is kept for the test."""

    def __init__(self, folder: Path, answers: Sequence[Answer], opened: contextlib.ExitStack) -> None:
        self.answers = list(answers)
        self.files = opened.enter_context(Preprocessor(folder))
        self.systems: list[str] = []
        self.conversation: list[tuple[str, str]] = []

    def ask(self, turn: Turn) -> str:
        """Answer one message, calling a tool in between where the script says so."""
        self.conversation.append(("user", turn.message))
        while True:
            self.systems.append(turn.prompt)
            answer = self.answers.pop(0) if self.answers else "ok"
            if isinstance(answer, str):
                self.conversation.append(("assistant", answer))
                return answer
            self.conversation.append(("tool", answer.result))


class Talker(Agent):
    """An agent whose sessions each have a model."""

    def __init__(self, models: list[Model]) -> None:
        self.models = models
        self.refs: dict[str, tuple[FileRefs, Model]] = {}

    def on_connect(self, conn: Any) -> None:
        self.editor = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        capabilities = AgentCapabilities(prompt_capabilities=prompt_capabilities())
        return InitializeResponse(protocol_version=protocol_version, agent_capabilities=capabilities)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        assert cwd
        session, model = str(len(self.refs)), self.models[len(self.refs)]
        self.refs[session] = FileRefs(model.files), model
        return NewSessionResponse(session_id=session)

    async def prompt(self, session_id: str, prompt: Any, **_: Any) -> PromptResponse:
        refs, model = self.refs[session_id]
        turn = await refs.preprocess_async(prompt, SYSTEM)
        for warning in turn.warnings:
            await self.editor.session_update(session_id, update_agent_message_text(f"warning: {warning}"))
        await self.editor.session_update(session_id, update_agent_message_text(model.ask(turn)))
        return PromptResponse(stop_reason="end_turn")


class Editor(Client):
    """A client that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        assert session_id
        self.told.append(update.content.text)


class Wire:
    """An agent and an editor at the two ends of a socket pair, with a loop of their own."""

    def __init__(self, agent: Agent, opened: contextlib.ExitStack) -> None:
        self.runner = opened.enter_context(asyncio.Runner())
        self.editor = Editor()
        self.agent = agent
        self.runner.run(self._connect())
        opened.callback(lambda: self.runner.run(self._disconnect()))

    async def _connect(self) -> None:
        ours, theirs = socket.socketpair()
        reader, self.writer = await asyncio.open_connection(sock=ours)
        other_reader, self.other_writer = await asyncio.open_connection(sock=theirs)
        self.task = asyncio.create_task(run_agent(self.agent, self.other_writer, other_reader))
        self.connection = connect_to_agent(self.editor, self.writer, reader)
        self.initialized = await self.connection.initialize(protocol_version=PROTOCOL_VERSION)

    async def _disconnect(self) -> None:
        await self.connection.close()
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task
        for writer in (self.writer, self.other_writer):
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    def session(self, folder: Path) -> str:
        """Open a session and return its name."""
        return str(self.runner.run(self.connection.new_session(cwd=str(folder), mcp_servers=[])).session_id)

    def prompt(self, session: str, *blocks: Any) -> list[str]:
        """Send one prompt and return what the editor was told."""
        first = len(self.editor.told)
        self.runner.run(self.connection.prompt(session_id=session, prompt=list(blocks)))
        self.runner.run(asyncio.sleep(0))
        return self.editor.told[first:]


class SessionChat:
    """One session of an agent, with prompts that are a text."""

    def __init__(self, wire: Wire, model: Model, folder: Path) -> None:
        self.wire = wire
        self.model = model
        self.session = wire.session(folder)

    def send(self, message: str) -> Sent:
        return self.send_parts(message)

    def send_parts(self, *texts: str) -> Sent:
        first = len(self.model.systems)
        told = self.wire.prompt(self.session, *map(text_block, texts))
        warnings = [text.removeprefix("warning: ") for text in told[:-1]]
        return Sent(self.model.systems[first:], self.model.conversation[:-1], warnings)


class TestSession(Contract):
    """The contract, for an agent over the SDK's connections."""

    @pytest.fixture(autouse=True)
    def _opened(self) -> Iterator[None]:
        self.opened = contextlib.ExitStack()
        with self.opened:
            yield

    def open(self, folder: Path, *answers: Answer) -> SessionChat:
        model = Model(folder, answers, self.opened)
        return SessionChat(Wire(Talker([model]), self.opened), model, folder)

    def open_pair(self, folder: Path) -> tuple[SessionChat, SessionChat]:
        models = [Model(folder, (), self.opened) for _ in range(2)]
        wire = Wire(Talker(models), self.opened)
        return SessionChat(wire, models[0], folder), SessionChat(wire, models[1], folder)


def test_embedded_files_are_announced() -> None:
    """What an editor reads of the capabilities: embedded files always, images if the host says so."""
    plain, with_images = prompt_capabilities(), prompt_capabilities(media=True)

    assert (plain.embedded_context, plain.image, plain.audio) == (True, False, False)
    assert (with_images.embedded_context, with_images.image) == (True, True)


def test_blocks_over_the_wire(folder: Path) -> None:
    """All kinds of blocks arrive as one message, the editor's text wins over the disk, and what is outside is refused."""
    with contextlib.ExitStack() as opened:
        model = Model(folder, ["done"], opened)
        wire = Wire(Talker([model]), opened)
        assert wire.initialized.agent_capabilities.prompt_capabilities.embedded_context
        told = wire.prompt(
            wire.session(folder),
            text_block("compare @LICENSE with"),
            resource_link_block("app.py", (folder / "src/app.py").as_uri()),
            text_block(", then"),
            resource_block(embedded_text_resource((folder / "my file.txt").as_uri(), "unsaved\n")),
            resource_link_block("passwd", "file:///etc/passwd"),
        )

    assert ["warning: could not attach passwd: it leads out of the root folder — name a file inside the project folder", "done"] == told
    assert [("user", 'compare LICENSE with src/app.py, then "my file.txt" passwd'), ("assistant", "done")] == model.conversation
    assert all(text in model.systems[0] for text in ("free\n", "return 1\n", "### my file.txt\n```\nunsaved\n```", "### passwd\n_could not load: it leads out"))
    assert "blanks" not in model.systems[0]
    assert strip_section(model.systems[0]) == SYSTEM


LINKS = [
    pytest.param("src/app.py", "", "@src/app.py", "src/app.py", id="a file"),
    pytest.param("my file.txt", "", '@"my file.txt"', '"my file.txt"', id="a blank in a name"),
    pytest.param("@scope/x.js", "", "@@scope/x.js", '"@scope/x.js"', id="an at-sign in a name"),
    pytest.param("LICENSE", "", "@LICENSE", "LICENSE", id="a name without an extension"),
    pytest.param("src/", "", "@src/", "src/", id="a folder"),
    pytest.param("", "", "@./", ".", id="the root"),
    pytest.param("src/lines.txt", "#L10-12", "@src/lines.txt:10-12", "src/lines.txt:10-12", id="lines"),
    pytest.param("src/lines.txt", "#L10:12", "@src/lines.txt:10-12", "src/lines.txt:10-12", id="lines with a colon"),
    pytest.param("src/lines.txt", "#L10", "@src/lines.txt:10-10", "src/lines.txt:10-10", id="one line"),
    pytest.param("src/../LICENSE", "", "@src/../LICENSE", "LICENSE", id="a detour inside"),
]


def _uri(folder: Path, name: str) -> str:
    """Return the address of *name* as editors write it: as it is, and not normalised."""
    return folder.as_uri() + "/" + name.replace(" ", "%20")


@pytest.mark.parametrize(("name", "fragment", "typed", "shown"), LINKS)
def test_links_are_read_as_if_typed(folder: Path, refs: FileRefs, name: str, fragment: str, typed: str, shown: str) -> None:
    """A link to a file below the root has the section of a mention, and the path stands in the message."""
    turn = refs.preprocess([text_block("explain"), resource_link_block("title", _uri(folder, name) + fragment), text_block("to me")])

    expected = preprocess(f"explain {typed} to me", root=folder)
    assert expected.section == turn.section
    assert turn.message == f"explain {shown} to me"
    assert (expected.warnings, expected.notices) == (turn.warnings, turn.notices)


def test_link_by_the_real_name_of_the_folder(folder: Path, tmp_path: Path) -> None:
    """A folder that was opened through a link is known by both names."""
    (tmp_path / "alias").symlink_to(folder)
    with Preprocessor(tmp_path / "alias") as files:
        turns = [FileRefs(files).preprocess([resource_link_block("x", _uri(base, "LICENSE"))]) for base in (tmp_path / "alias", folder)]

    assert [["LICENSE"]] * 2 == [[outcome.path for outcome in turn.attached] for turn in turns]


@pytest.mark.parametrize(
    ("uri", "reason", "label"),
    [
        pytest.param("file:///etc/passwd", Reason.OUTSIDE_ROOT, "title", id="elsewhere"),
        pytest.param("file:///", Reason.OUTSIDE_ROOT, "title", id="the root of the disk"),
        pytest.param("{folder}/../outside.txt", Reason.OUTSIDE_ROOT, "../outside.txt", id="beside the root"),
        pytest.param("{folder}/%2e%2e/outside.txt", Reason.OUTSIDE_ROOT, "../outside.txt", id="beside the root, escaped"),
        pytest.param("{folder}-other/a.py", Reason.OUTSIDE_ROOT, "title", id="a folder whose name begins alike"),
        pytest.param("file://server/share/a.py", Reason.OUTSIDE_ROOT, "title", id="on another machine"),
        pytest.param("../outside.txt", Reason.OUTSIDE_ROOT, "../outside.txt", id="a relative address"),
        pytest.param("{folder}/way%20out", Reason.SYMLINK, "way out", id="a link on the disk"),
        pytest.param("{folder}/.env", Reason.SECRET, ".env", id="a secret"),
        pytest.param("{folder}/nothing", Reason.NOT_FOUND, "nothing", id="what is not there and does not look like a path"),
        pytest.param("{folder}/a%00b", Reason.BAD_NAME, "a\\u{0}b", id="NUL"),
        pytest.param("{folder}/src/lines.txt#L90-99", Reason.BAD_RANGE, "src/lines.txt:90-99", id="lines that are not there"),
    ],
)
def test_error_links_are_refused_with_the_reason(folder: Path, refs: FileRefs, uri: str, reason: Reason, label: str) -> None:
    """What cannot be read is a refusal with a warning, and says no path of this machine to the model."""
    turn = refs.preprocess([resource_link_block("title", uri.format(folder=folder.as_uri()))])

    [outcome] = turn.refused
    assert (outcome.reason, outcome.label) == (reason, label)
    assert len(turn.warnings) == 1
    assert turn.message == outcome.token
    assert str(folder) not in turn.section + turn.message
    assert "sesame" not in turn.section


@pytest.mark.parametrize(
    ("name", "uri", "shown"),
    [
        pytest.param("docs", "https://example.org/a", "[docs](https://example.org/a)", id="a name and an address"),
        pytest.param("", "zed:///agent/thread/1", "zed:///agent/thread/1", id="an address alone"),
        pytest.param("@LICENSE", "https://example.org/@LICENSE", "https://example.org/%40LICENSE", id="at-signs"),
        pytest.param("x", "untitled:@LICENSE", "[x](untitled:%40LICENSE)", id="an at-sign behind a colon"),
        pytest.param("x", "http://[", "[x](http://[)", id="no address at all"),
    ],
)
def test_other_links_are_named_and_noticed(refs: FileRefs, name: str, uri: str, shown: str) -> None:
    """A link that is no file goes to the model as it is; nothing is fetched, and no part of it is a mention."""
    turn = refs.preprocess([text_block("read"), resource_link_block(name, uri)])

    assert (turn.message, turn.section, turn.warnings) == (f"read {shown}", "", ())
    assert (f"{uri}: no file, so it was not read; the model sees the address alone",) == turn.notices


def test_unsaved_text_wins_over_the_disk(folder: Path, refs: FileRefs) -> None:
    """It holds for the turn, under all names of the file and in the list of its folder; the next turn reads the disk again."""
    uri, new = (folder / "src/app.py").as_uri(), (folder / "src/new.py").as_uri()
    blocks = [resource_block(embedded_text_resource(uri, "unsaved = 1\n")), resource_block(embedded_text_resource(new, "new = 1\n"))]

    turn = refs.preprocess([*blocks, text_block("explain @src/app.py:1 and @src/")])

    app, new_file, listing = turn.attached
    assert (turn.message, turn.warnings) == ("src/app.py src/new.py explain src/app.py:1 and src/", ())
    assert (app.text, new_file.text) == ("unsaved = 1\n", "new = 1\n")
    assert listing.text == "(directory listing)\nf app.py\nf lines.txt\nf new.py"
    [saved] = refs.preprocess([text_block("@src/app.py")]).attached
    assert saved.text == FILES["src/app.py"]
    [missing] = refs.preprocess([text_block("@src/new.py")]).refused
    assert missing.reason is Reason.NOT_FOUND


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        pytest.param("{folder}/src/app.py#L1:1", "src/app.py#L1-1", id="lines of a file"),
        pytest.param("{folder}/src/app.py#main", "src/app.py#main", id="a symbol of a file"),
        pytest.param("file:///elsewhere/app.py", "(editor)/1/app.py", id="a file from elsewhere"),
        pytest.param("untitled:Untitled-1", "(editor)/1/Untitled-1", id="what was never saved"),
        pytest.param("zed:///agent/thread/abc", "(editor)/1/abc", id="no file"),
        pytest.param("{folder}/../outside.txt", "(editor)/1/outside.txt", id="a file beside the root"),
        pytest.param("file:///" + "x" * 300, "(editor)/1", id="a name that no file can have"),
        pytest.param("", "(editor)/1", id="no name"),
    ],
)
def test_embedded_text_that_is_no_whole_file(folder: Path, refs: FileRefs, uri: str, path: str) -> None:
    """It is shown under a name of its own, and no file on the disk is hidden by it."""
    blocks = [resource_block(embedded_text_resource(uri.format(folder=folder.as_uri()), "embedded\n")), text_block("beside @src/app.py")]

    turn = refs.preprocess(blocks)

    embedded, app = turn.attached
    assert (embedded.path, embedded.text, app.text) == (path, "embedded\n", FILES["src/app.py"])
    assert (turn.message, turn.warnings) == (f"{path} beside src/app.py", ())


def test_error_embedded_secrets_are_refused(folder: Path, refs: FileRefs) -> None:
    """That the editor sends a secret along makes it no other file."""
    blocks = [resource_block(embedded_text_resource(uri, "TOKEN=sesame\n")) for uri in ((folder / ".env").as_uri(), "file:///elsewhere/.env")]

    turn = refs.preprocess(blocks)

    assert [Reason.SECRET] * 2 == [outcome.reason for outcome in turn.refused]
    assert "sesame" not in turn.section


def test_limits_hold_for_embedded_text(folder: Path) -> None:
    """An embedded file is cut like any other."""
    with Preprocessor(folder) as files:
        turn = FileRefs(files).preprocess([resource_block(embedded_text_resource(_uri(folder, "big.txt"), "x\n" * 200_000))])

    assert turn.attached[0].truncated
    assert "big.txt: cut to 200.0 KB of 390.6 KB" in turn.warnings


def _image(data: bytes = PNG, **options: Any) -> Any:
    return image_block(base64.b64encode(data).decode(), "image/png", **options)


def test_images_are_media(folder: Path, tree: Tree) -> None:
    """With `media=True` pasted, embedded, linked and mentioned images go with the message; without, they are placeholders."""
    tree({"a.png": PNG, "b.png": PNG + b"b"})
    blocks = [
        text_block("compare @a.png with"),
        _image(PNG + b"1"),
        resource_block(embedded_blob_resource("file:///elsewhere/c.png", base64.b64encode(PNG + b"2").decode())),
        resource_link_block("b", _uri(folder, "b.png")),
    ]
    with Preprocessor(folder, media=True) as files, Preprocessor(folder) as plain:
        turn, without = FileRefs(files).preprocess(blocks), FileRefs(plain).preprocess(blocks)

    def data(media: Sequence[Attached]) -> list[bytes | None]:
        return [medium.data for medium in media]

    assert [PNG, PNG + b"1", PNG + b"2", PNG + b"b"] == data(turn.media)
    assert turn.message == "compare a.png with (editor)/1/image.png (editor)/2/c.png b.png"
    assert [None] * 4 == data(without.attached)
    assert without.section.count("no text, so its contents are not shown here") == 4


def test_image_of_a_file(folder: Path) -> None:
    """An image with the address of a file below the root stands for that file."""
    with FileRefs(folder, media=True)._files as files:
        turn = FileRefs(files).preprocess([text_block("what is @shot.png?"), _image(uri=_uri(folder, "shot.png"))])

    assert [("shot.png", PNG)] == [(medium.path, medium.data) for medium in turn.media]


def test_error_what_cannot_be_used_is_noticed(refs: FileRefs) -> None:
    """Sound, what is no base64 and binaries cost nothing but themselves."""
    turn = refs.preprocess([
        audio_block("AAAA", "audio/wav"),
        image_block("§", "image/png"),
        resource_block(embedded_blob_resource("file:///x/broken.bin", "%%%")),
        resource_block(embedded_blob_resource("file:///x/data.bin", base64.b64encode(bytes(range(256))).decode())),
        text_block("explain @LICENSE"),
    ])  # fmt: skip

    assert [outcome.path for outcome in turn.attached] == ["LICENSE"]
    assert [outcome.reason for outcome in turn.refused] == [Reason.BINARY]
    assert (
        "a recording was left out: sound is no file that a message can name",
        "an image was left out, since it is not in base64",
        "file:///x/broken.bin: left out, since it is not in base64",
    ) == turn.notices


LICENSE = "LICENSE"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        pytest.param("see", "please", "see LICENSE please", id="words run together"),
        pytest.param("see ", " please", "see LICENSE please", id="blanks of the editor"),
        pytest.param("see (", "), please", "see (LICENSE), please", id="brackets"),
        pytest.param("see\n", "\nplease", "see\nLICENSE\nplease", id="line ends"),
        pytest.param("", "", "LICENSE", id="nothing around"),
        pytest.param("see `", "` please", "see `LICENSE` please", id="in a code span"),
        pytest.param("```\nsee", "\n", "```\nsee LICENSE\n", id="in a code block that is not closed"),
        pytest.param("mail me@", "x", "mail me@ LICENSE x", id="behind an at-sign"),
        pytest.param("explain @src/app.py", "", "explain src/app.py LICENSE", id="behind a mention"),
    ],
)
def test_links_stand_where_they_were_put(folder: Path, refs: FileRefs, before: str, after: str, message: str) -> None:
    """A link is a link whatever stands around it, and words around it do not run into it."""
    turn = refs.preprocess([text_block(before), resource_link_block("title", _uri(folder, LICENSE)), text_block(after)])

    assert turn.message == message
    assert "free\n" in turn.section


def test_blocks_of_text_are_one_message(refs: FileRefs) -> None:
    """Texts are set apart, code that begins in one ends with it, and no mention reaches over the end of one."""
    turn = refs.preprocess([text_block("see @LICENSE"), text_block("```\n@notes.md"), text_block("@src/app.py\n```")])

    assert turn.message == "see LICENSE\n\n```\n@notes.md\n```\n\nsrc/app.py\n```"
    assert [outcome.path for outcome in turn.attached] == ["LICENSE", "src/app.py"]


def _one_by_one(pieces: list[tuple[str, bool]]) -> str:
    """Return the message of texts and links (True), put together the plain way."""
    message, behind_link, text_start = "", False, 0
    for text, is_link in pieces:
        if not text:
            continue
        gap = ""
        if message:
            are_apart = message[-1].isspace() or text[0].isspace()
            if is_link:
                gap = "" if are_apart or (message[-1] in "([{<`" and not behind_link) else " "
            elif behind_link:
                gap = "" if are_apart or text[0] in ".,)`" else " "
            else:
                before = message[text_start:]
                gap = text_of([before, ""])[len(before) :]
                gap = "" if are_apart and not gap.strip() else gap
            message += gap
            text_start = len(message) if not is_link and not behind_link else text_start
        message, behind_link = message + text, is_link
    return message


@given(pieces=st.lists(st.tuples(st.sampled_from(["", "a", " ", "b ", " c", "(", ".", "```\nx", "\n```\n", "`"]), st.booleans()), max_size=12))
def test_pieces_are_put_together_as_one_text(refs: FileRefs, pieces: list[tuple[str, bool]]) -> None:
    """Texts and links are the message that they would be if each were put behind all that is there."""
    pieces = [("none" if is_link else text, is_link) for text, is_link in pieces]
    blocks = [resource_link_block(text, "https://none.test") if is_link else text_block(text) for text, is_link in pieces]

    expected = _one_by_one([("[none](https://none.test)" if is_link else text, is_link) for text, is_link in pieces])

    assert expected == refs.preprocess(blocks).message


@pytest.mark.parametrize(
    "blocks",
    [
        pytest.param([text_block("x" * 200)] * 20_000, id="texts"),
        pytest.param([text_block("x" * 200), resource_link_block("none", "https://none.test")] * 10_000, id="texts and links"),
        pytest.param([text_block("```\n" + "x" * 200)] * 20_000, id="blocks of code that nothing closes"),
        pytest.param([text_block("x" * 200), resource_link_block("x", "LICENSE")] * 10_000, id="texts and files"),
        pytest.param([resource_block(embedded_text_resource("LICENSE", "unsaved\n"))] * 20_000, id="embedded files"),
    ],
)
def test_very_many_blocks(refs: FileRefs, blocks: list[Any]) -> None:
    """As many blocks as nobody sends make one message, in a time that does not grow with their square."""
    turn = refs.preprocess(blocks)

    assert len(turn.message) > 100_000
    assert len(turn.outcomes) <= 200


def test_code_goes_on_behind_a_link(folder: Path, refs: FileRefs) -> None:
    """Texts around a link are one text: code that begins before it ends behind it, and then no mention is hidden."""
    blocks = [text_block("```\nsee "), resource_link_block("title", _uri(folder, LICENSE)), text_block(" or @notes.md\n```\nsee @src/app.py\n~~~\n")]

    turn = refs.preprocess([*blocks, text_block("@src/")])

    assert turn.message == "```\nsee LICENSE or @notes.md\n```\nsee src/app.py\n~~~\n\n~~~\n\nsrc/"
    assert [outcome.path for outcome in turn.attached] == ["LICENSE", "src/app.py", "src"]


def test_contents_and_addresses_are_not_parsed(refs: FileRefs) -> None:
    """What stands in an embedded text, in the name of a link or in its address is no mention."""
    blocks = [
        resource_block(embedded_text_resource("untitled:notes", "see @src/app.py\n")),
        resource_link_block("@src/app.py", "file:///elsewhere/@src/app.py"),
        resource_link_block("at @src/app.py", "https://example.org"),
    ]

    turn = refs.preprocess(blocks)

    assert "return 1" not in turn.section
    assert turn.message == "(editor)/1/notes @src/app.py https://example.org"


def test_turns_are_handed_to_the_host(folder: Path) -> None:
    """`on_turn` gets the turns that there is something to say of, notices of blocks among them."""
    turns: list[Turn] = []
    with Preprocessor(folder) as files:
        refs = FileRefs(files, on_turn=turns.append)
        for blocks in ([text_block("hello")], [text_block("explain @LICENSE")], [resource_link_block("x", "https://example.org")]):
            refs.preprocess(blocks)

    assert ["explain @LICENSE", "[x](https://example.org)"] == [turn.original for turn in turns]


PIECES = st.sampled_from(
    ["src/app.py", "..", "/", "@", "`", "```", " ", "\n", "file://", "https://", "#L3", "%2e", "%00", "\ud800", "é", "[", "LICENSE", ".env", ":", "~"]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)


@st.composite
def blocks_of(draw: Callable[..., Any], folder: str) -> Any:
    """Draw any block, with addresses that lie in *folder* or anywhere."""
    text, name = draw(TEXTS), draw(TEXTS)
    uri = draw(st.sampled_from(["", folder + "/", "file:///", "untitled:"])) + draw(TEXTS)
    makers = [
        lambda: text_block(text),
        lambda: resource_link_block(name, uri),
        lambda: resource_block(embedded_text_resource(uri, text)),
        lambda: resource_block(embedded_blob_resource(uri, base64.b64encode(text.encode("utf-8", "replace")).decode())),
        lambda: _image(uri=uri),
    ]
    return draw(st.sampled_from(makers))()


@given(data=st.data())
def test_any_blocks_make_a_turn(folder: Path, data: st.DataObject) -> None:
    """Whatever an editor sends, there is a turn, and nothing of what is outside or secret is in it."""
    blocks = data.draw(st.lists(blocks_of(folder.as_uri()), max_size=5))
    with Preprocessor(folder) as files:
        turn = FileRefs(files).preprocess(blocks, SYSTEM)

    assert strip_section(turn.prompt) == SYSTEM
    assert "sesame" not in turn.section
    assert str(folder) not in turn.section
    for outcome in turn.outcomes:
        assert [turn.original[start:end] for start, end in outcome.spans]


def test_the_page_is_true(tree: Tree) -> None:
    """The agent of the page, at the other end of a wire, tells the editor what the page says."""
    folder = tree({"greet.py": 'print("saved")\n'})
    sample, printed = read((REPOSITORY / "docs" / "integrations" / "acp.md").read_text(encoding="utf-8"))

    async def ask(system: str, message: str) -> str:
        await asyncio.sleep(0)
        assert 'print("saved")' not in system
        return f'You wrote "{message}", and greet.py prints {system.partition("print(")[2].split(chr(34))[1]}.'

    names: dict[str, Any] = {"__name__": "__main__", "ask": ask}
    execute(sample.text, folder, names)
    with contextlib.ExitStack() as opened:
        agent = names["MyAgent"]()
        wire = Wire(agent, opened)
        session = wire.session(folder)
        opened.callback(agent.sessions[session]._files.close)
        blocks = [
            text_block("explain"),
            resource_block(embedded_text_resource((folder / "greet.py").as_uri(), 'print("unsaved")\n')),
            text_block("not"),
            resource_link_block("hosts", "file:///etc/hosts"),
        ]
        assert printed.text.splitlines() == wire.prompt(session, *blocks)
