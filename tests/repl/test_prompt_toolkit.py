"""The pieces for prompt_toolkit, each by itself and in a session with a keyboard that is a pipe."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, cast

import pytest

pytest.importorskip("prompt_toolkit")

from prompt_toolkit import PromptSession
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent, WordCompleter, merge_completers
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from filerefs import Limits, Preprocessor
from filerefs.completion import Candidate, Completer, Completions, HalfTyped
from filerefs.integrations.prompt_toolkit import STYLE, AtPathCompleter, MentionLexer, Preview, Toolbar, mention_bindings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Tree
    from prompt_toolkit.buffer import Buffer

PATIENCE = 30
LEFT = ("\x1b[D",)


@pytest.fixture
def folder(tree: Tree) -> Path:
    return tree({"src/app.py": "print(1)\n", "my file.txt": "m\n", ".gitignore": "out/\n", "out/x.txt": "", "big.txt": "line\n" * 60_000})


@pytest.fixture
def names(folder: Path) -> Iterator[Completer]:
    with Completer(folder, git=False) as completer:
        yield completer


@pytest.fixture
def preview(folder: Path) -> Iterator[Preview]:
    with Preprocessor(folder) as preprocessor, Preview(preprocessor) as preview:
        yield preview


def rows(completer: Any, text: str, cursor: int | None = None) -> list[Any]:
    """Return what is offered, once all of it is there, as the toolkit asks for it."""

    async def gather() -> list[Any]:
        return [row async for row in completer.get_completions_async(Document(text, cursor), CompleteEvent())]

    return asyncio.run(gather())


def test_rows(names: Completer) -> None:
    """A row replaces the whole mention, shows the path, and says what it is."""
    (row,) = rows(AtPathCompleter(names), "see @app")
    shown = [(row.display_text, row.text, row.display_meta_text) for row in rows(AtPathCompleter(names), "@")]
    hidden = [(row.text, row.display_meta_text) for row in rows(AtPathCompleter(names), "@./ou")]

    assert ("@src/app.py", -4, "src/app.py") == (row.text, row.start_position, row.display_text)
    assert {("src/", "@src/", "folder"), ("my file.txt", '@"my file.txt"', "")} <= set(shown)
    assert [("@out/", "ignored")] == hidden


def test_rows_by_the_grammar_of_the_host(names: Completer) -> None:
    """What its preprocessor takes for a mention has rows, and nothing else."""
    texts = ("＠app", "@my fi", "`@app`")

    lenient, strict, loading = (
        [[row.text for row in rows(completer, text, 5 if "`" in text else None)] for text in texts]
        for completer in (AtPathCompleter(names), AtPathCompleter(names, lenient=False), AtPathCompleter(names, code="load"))
    )

    assert [["@src/app.py"], ['@"my file.txt"'], []] == lenient
    assert [[], [], []] == strict
    assert ["@src/app.py"] == loading[2]


def test_rows_in_the_middle_of_a_name(names: Completer) -> None:
    """What stands behind the cursor and ends the name stays, and is not written twice."""
    (row,) = [row for row in rows(AtPathCompleter(names), "see @src/app.py now", 7) if row.display_text == "src/app.py"]

    assert ("@sr", -3) == (row.text, row.start_position)


def test_rows_are_few_and_compose(names: Completer) -> None:
    """A limit holds, other completers are asked as well, and nothing is offered outside of a mention."""
    names.refresh(PATIENCE)
    both = merge_completers([AtPathCompleter(names), WordCompleter(["/help"], sentence=True)])

    assert len(rows(AtPathCompleter(names, limit=2), "@")) == 2
    assert ["/help"] == [row.text for row in rows(both, "/h")]
    assert [] == rows(AtPathCompleter(names), "mail me@app")
    assert ["@src/app.py"] == [row.text for row in AtPathCompleter(names).get_completions(Document("@app"), CompleteEvent())]


def test_rows_that_come_late(tree: Tree) -> None:
    """What is found while the rows are shown is added to them."""
    folder = tree({f"d{number}/deep/f{number}.py": "" for number in range(300)})
    with Completer(folder, git=False) as completer:
        found = [row.text for row in rows(AtPathCompleter(completer, limit=1000), "@f299")]

    assert ["@d299/deep/f299.py"] == found


def test_colours(preview: Preview) -> None:
    """Green, yellow and red, on each line of the text; words that name nothing have none."""
    lexer = MentionLexer(preview)
    text = "see @src/app.py\nand @big.txt @nope.py\n\nask @alice"
    before = lexer.invalidation_hash()
    get_line = lexer.lex_document(Document(text))
    assert preview.wait(PATIENCE)

    styled = [[(style.rpartition(".")[2], part) for style, part in get_line(number) if style] for number in range(5)]

    assert [[("attached", "@src/app.py")], [("cut", "@big.txt"), ("refused", "@nope.py")], [], [], []] == styled
    assert text == "\n".join("".join(part for _, part in get_line(number)) for number in range(4))
    assert before != lexer.invalidation_hash()


def test_colours_stay_while_something_else_is_typed(preview: Preview) -> None:
    """Between a key and its preview a mention keeps its colour."""
    lexer = MentionLexer(preview)
    lexer.lex_document(Document("@src/app.py"))
    assert preview.wait(PATIENCE)
    preview.ask = lambda *_: None  # type: ignore[method-assign] (a preview that never comes)

    line = lexer.lex_document(Document("now @src/app.py x"))(0)

    assert ("class:filerefs.attached", "@src/app.py") in line


def test_the_toolbar(preview: Preview) -> None:
    """It says how much would be attached of how much, what is refused, and the first warning; else what it is idle with."""
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        session: PromptSession[str] = PromptSession()
        toolbar = Toolbar(preview, limits=Limits(total_bytes=None), idle="idle")
        with _current(session):
            assert [("", "idle")] == toolbar()
            session.default_buffer.reset(Document("@src/app.py @nope.py"))
            toolbar()
            assert preview.wait(PATIENCE)
            text = "".join(part for _, part in toolbar())
            session.default_buffer.reset(Document("nothing"))
            assert [("", "idle")] == toolbar()

    assert text.startswith("1 attached, 9 B, 1 refused  could not attach @nope.py: no such file")


def _current(session: PromptSession[str]) -> Any:
    from prompt_toolkit.application.current import set_app

    return set_app(session.app)


def _has_rows(buffer: Buffer) -> bool:
    return buffer.complete_state is None or bool(buffer.complete_state.completions)


def _type(names: Completer, preview: Preview, *keys: str, ready: Callable[[Buffer], bool] = _has_rows) -> str:
    """Return what is sent when *keys* are pressed, each after the rows for the ones before are there."""

    async def run() -> str:
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            session: PromptSession[str] = PromptSession(
                completer=AtPathCompleter(names),
                lexer=MentionLexer(preview),
                bottom_toolbar=Toolbar(preview),
                key_bindings=mention_bindings(),
                style=STYLE,
                complete_while_typing=True,
                multiline=True,
            )
            task = asyncio.ensure_future(session.prompt_async())
            for key in keys:
                pipe.send_text(key)
                await _settle(session, lambda buffer: task.done() or ready(buffer))
            return await asyncio.wait_for(task, PATIENCE)

    return asyncio.run(run())


async def _settle(session: PromptSession[str], ready: Callable[[Buffer], bool]) -> None:
    """Wait until what a key has set going is done: rows are there, or there are none."""
    text = None
    for _ in range(400):
        await asyncio.sleep(0.02)
        buffer = session.default_buffer
        if ready(buffer) and text == buffer.text:
            return
        text = buffer.text


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        pytest.param(("see @app", "\t", "\r"), "see @src/app.py ", id="Tab takes the first row, with a blank"),
        pytest.param(("@app", "\t", ":", "1", "\r"), "@src/app.py:1", id="a colon takes the place of the blank"),
        pytest.param(("(@app", "\t", ")", ".", "\r"), "(@src/app.py).", id="so does a bracket"),
        pytest.param(("@app", "\t", "x", "\r"), "@src/app.py x", id="a letter does not"),
        pytest.param(("@app", "\t", " ", "x", "\r"), "@src/app.py x", id="a typed blank is the one that came along"),
        pytest.param(("@app", "\t", " ", " ", "x", "\r"), "@src/app.py  x", id="two blanks"),
        pytest.param(("@app", "\t", " ", ":", "\r"), "@src/app.py :", id="a blank that was typed does not give way"),
        pytest.param(("see @app now", *LEFT * 4, "\t", "\r"), "see @src/app.py now", id="a blank behind the cursor is enough"),
        pytest.param(("see @app now", *LEFT * 4, "\t", " ", "x ", "\r"), "see @src/app.py x now", id="and is passed over"),
        pytest.param(("see @app now", *LEFT * 4, "\t", ":", "1", "\r"), "see @src/app.py:1 now", id="and stays behind a sign"),
        pytest.param(("see @app ", *LEFT, "\t", " ", "x", "\r"), "see @src/app.py x", id="a blank at the end, too"),
        pytest.param(("@app, now", *LEFT * 5, "\t", " ", "\r"), "@src/app.py , now", id="where there is none, one is typed"),
        pytest.param(("@my", "\t", "\r"), '@"my file.txt" ', id="quotes come along"),
        pytest.param(("@sr", "\t", "\t", "\r"), "@src/app.py ", id="a folder, then what is in it"),
        pytest.param(("@app", "\x1b[B", "\r", "\r"), "@src/app.py ", id="Down chooses, Enter takes, Enter sends"),
        pytest.param(("@app", "\r"), "@app", id="Enter sends when nothing was chosen"),
        pytest.param(("one", "\x1b\r", "two", "\r"), "one\ntwo", id="Alt-Enter begins a line"),
        pytest.param(("\x1b[200~@app\r\nx\x1b[201~", "\r"), "@app\nx", id="a paste"),
        pytest.param(("user@", "\t", "\r"), "user@", id="no mention, nothing to take"),
        pytest.param(("see @app\t", "\r"), "see @src/app.py ", id="Tab before the rows are there"),
        pytest.param(("@sr\t\t", "\r"), "@src/app.py ", id="two Tabs before the rows are there"),
        pytest.param(("@app\t\r",), "@src/app.py ", id="Tab and Enter before the rows are there"),
        pytest.param(("@app\t:1\r",), "@src/app.py:1", id="a whole line before any row is there"),
        pytest.param(("@src/app.py\t", "\r"), "@src/app.py ", id="Tab behind a whole name"),
        pytest.param(("@my fi", "\t", "\r"), '@"my file.txt" ', id="a name with an unquoted blank"),
        pytest.param(("@my fi and", "\t", "\r"), "@my fi and", id="words that are no name"),
    ],
)
def test_keys(names: Completer, preview: Preview, keys: tuple[str, ...], sent: str) -> None:
    """What is sent is what a person would expect of these keys."""
    names.refresh(PATIENCE)

    assert sent == _type(names, preview, *keys)


class Gathering:
    """A completer that is never done, and finds each text itself as a file."""

    def __init__(self, *, rows: int, seconds: float = 0.0) -> None:
        self.asked: list[str] = []
        self.rows = rows
        self.seconds = seconds

    def complete(self, text: str, cursor: int, *, limit: int, **_: Any) -> Completions:
        time.sleep(self.seconds)
        self.asked.append(text)
        found = [Candidate(f"{text[1:]}{number}") for number in range(min(limit, self.rows))]
        return Completions(HalfTyped(0, cursor, text[1:]), tuple(found), incomplete=True)


@pytest.mark.parametrize("rows", [0, 3])
def test_each_key_has_its_rows_while_names_are_gathered(preview: Preview, rows: int) -> None:
    """What is typed meanwhile is looked for at once: the search for the text before ends, though it would find more."""
    names = Gathering(rows=rows)

    sent = _type(cast("Completer", names), preview, "@", "a", "b", "c", "\r", ready=lambda buffer: buffer.text in ["", *names.asked])

    assert "@abc" == sent
    assert ["@", "@a", "@ab", "@abc"] == list(dict.fromkeys(names.asked))


class Gated:
    """A completer that knows one file for each text; in the toolkit's thread it does not answer to the first one before it may."""

    def __init__(self, **files: str) -> None:
        self.files = files
        self.gate = threading.Event()
        self.asked: list[str] = []
        self.on_asked: Callable[[], None] = lambda: None

    def complete(self, text: str, cursor: int, **_: Any) -> Completions:
        mention = text[:cursor].rpartition("@")
        # A Tab asks in the main thread, which must not wait.
        if threading.current_thread() is not threading.main_thread():
            self.asked.append(text)
            self.on_asked()
            self.gate.wait(PATIENCE)
        path = self.files.get(mention[2])
        found = (Candidate(path),) if path else ()
        return Completions(HalfTyped(len(mention[0]), cursor, mention[2]), found, incomplete=False)


def test_keys_typed_behind_a_row_that_was_taken_too_early_have_their_rows() -> None:
    """Where a row is taken while rows are still asked for, what is typed then is asked for once those have come, though no key follows."""
    names = Gated(b="a.py", c="d.py")

    async def run() -> list[str]:
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            completer = AtPathCompleter(cast("Completer", names))
            session: PromptSession[str] = PromptSession(completer=completer, complete_while_typing=True, key_bindings=mention_bindings())
            buffer, loop, changed = session.default_buffer, asyncio.get_running_loop(), asyncio.Event()
            buffer.on_text_changed += lambda _: changed.set()
            buffer.on_completions_changed += lambda _: changed.set()
            names.on_asked = lambda: loop.call_soon_threadsafe(changed.set)

            async def until(is_so: Callable[[], bool]) -> None:
                async with asyncio.timeout(PATIENCE):
                    while not is_so():
                        await changed.wait()
                        changed.clear()

            task = asyncio.ensure_future(session.prompt_async())
            pipe.send_text("@b")
            await until(lambda: names.asked == ["@b"])
            pipe.send_text("\t@c")
            await until(lambda: buffer.text == "@a.py @c")
            assert names.asked == ["@b"]
            names.gate.set()
            await until(lambda: buffer.complete_state is not None and [row.text for row in buffer.complete_state.completions] == ["@d.py"])
            pipe.send_text("\t\r")
            return [await asyncio.wait_for(task, PATIENCE), *names.asked]

    assert ["@a.py @d.py ", "@b", "@a.py @c"] == asyncio.run(run())


def test_rows_are_drawn_while_names_are_gathered() -> None:
    """What is found by now is on the screen before it is looked for again."""
    names = Gathering(rows=3, seconds=0.05)
    asked: list[int] = []

    async def run() -> None:
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
            completer = AtPathCompleter(cast("Completer", names))
            session: PromptSession[str] = PromptSession(completer=completer, complete_while_typing=True, key_bindings=mention_bindings())

            def look(app: Any) -> None:
                if app.current_buffer.complete_state and app.current_buffer.complete_state.completions:
                    asked.append(len(names.asked))
                    pipe.send_text("\r")

            session.app.after_render += look
            task = asyncio.ensure_future(session.prompt_async())
            pipe.send_text("@")
            await asyncio.wait_for(task, PATIENCE)

    asyncio.run(run())

    assert asked[0] == 1


def test_a_folder_is_opened_while_names_are_gathered(tree: Tree, preview: Preview) -> None:
    """Behind a folder that was taken its contents are offered, though the rows before had not come to their end."""
    asked = []

    class Slow(Completer):
        def complete(self, text: str, cursor: int | None = None, **options: Any) -> Completions:
            found = super().complete(text, cursor, **options)
            asked.append(text)
            return Completions(found.token, found.candidates, incomplete=True)

    with Slow(tree({"deep/core/x.py": ""}), git=False) as names:
        names.refresh(PATIENCE)
        sent = _type(names, preview, "@cor", "\t", "\t", "\r", ready=lambda buffer: buffer.text in asked or not buffer.text.endswith("/"))

    assert "@deep/core/x.py " == sent
    assert "@deep/core/" in asked


def test_fr_palette_keys(tree: Tree) -> None:
    """Tab puts a file with a blank and is done, or a folder and goes on; Escape leaves what was typed."""
    folder = tree({"main.py": "", "src/x.py": ""})
    with Completer(folder, git=False) as completer, Preprocessor(folder) as preprocessor, Preview(preprocessor) as preview:
        completer.refresh(PATIENCE)

        sent = [_type(completer, preview, *keys) for keys in (("@main", "\t", "\r"), ("@src", "\t", "\x1b", "\r"), ("@ma", "\x1b", "\r"), ("user@", "\r"))]

    assert ["@main.py ", "@src/", "@ma", "user@"] == sent


def test_a_preview_is_of_the_last_text(preview: Preview) -> None:
    """However fast the keys, the last text is the one that is made, and a preview that is there is not made again."""
    told: list[None] = []
    for text in ("@", "@s", "@src/app.py"):
        preview.ask(text, lambda: told.append(None))
    assert preview.wait(PATIENCE)
    version = preview.version

    turn = preview.ask("@src/app.py")

    assert turn is not None
    assert ["src/app.py"] == [outcome.path for outcome in turn.attached]
    assert version == preview.version
    preview.close()
    assert preview.ask("other") is None


def test_importing_filerefs_imports_no_toolkit() -> None:
    """The toolkit and the library for models are loaded by the modules that are about them, and by nothing else."""
    code = "import filerefs, filerefs.completion, filerefs.chat.conversation, filerefs.chat.models, filerefs.chat, sys; print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8").stdout.split()

    assert set() == {"prompt_toolkit", "llm", "rich", "openai"} & {name.partition(".")[0] for name in loaded}


def test_error_without_the_toolkit(tmp_path: Path) -> None:
    """Importing the module without the toolkit says what to install."""
    (tmp_path / "prompt_toolkit.py").write_text("raise ModuleNotFoundError(name=__name__)\n", encoding="utf-8")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport filerefs.integrations.prompt_toolkit"

    finished = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, encoding="utf-8")

    assert finished.stderr.strip().endswith("pip install 'filerefs[prompt-toolkit]'")
