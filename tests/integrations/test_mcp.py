"""The MCP server, asked through the SDK's own client: in the same process, and as a child over its standard streams."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import pytest

pytest.importorskip("mcp", reason="needs filerefs[mcp]")

from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters, stdio_client, types
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError

from filerefs import Limits, Preprocessor, swap_section
from filerefs.agentsmd import discover, tools
from filerefs.errors import RootNotFoundError
from filerefs.integrations.mcp import Project, build_server
from filerefs.retrieval import file_tools
from filerefs.roots import MemoryRoot

from ..docs.blocks import execute, read  # noqa: TID252 (tests are no package that has a name)
from ..docs.grammar_examples import REPOSITORY  # noqa: TID252
from .contract import SYSTEM, Answer, Offer, Sent, ToolContract

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from conftest import Tree
    from mcp.server import Server

    from filerefs import Turn

    Target: TypeAlias = "Server[Any] | StdioServerParameters"

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"
TEMPLATE = types.ResourceTemplateReference(type="ref/resource", uri="project://{+path}")
PROMPT = types.PromptReference(type="ref/prompt", name="with_files")
FILES = {
    "src/app.py": "def main():\n    return 1\n",
    "src/lines.txt": "".join(f"line {number}\n" for number in range(1, 51)),
    "my file.txt": "blanks\n",
    "100%.txt": "per cent\n",
    "AGENTS.md": "Use tabs.\n@docs/style.md\n",
    "docs/style.md": "Be brief.\n",
    "build/out.js": "built\n",
    ".gitignore": "build/\n",
    ".env": "TOKEN=sesame\n",
}

# Both ways of the SDK to connect: with and without requests from the server to the client.
EACH_ERA = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture
def folder(tree: Tree) -> Path:
    """A project, and a file beside it."""
    (tree.folder.parent / "outside.txt").write_text("sesame\n", encoding="utf-8")
    return tree({**FILES, "way out": tree.link("../outside.txt")})


@pytest.fixture
def server(folder: Path) -> Iterator[Server[Any]]:
    """A server of the project."""
    with Preprocessor(folder) as files:
        yield build_server(files)


def child(*arguments: str, folder: Path | None = None) -> StdioServerParameters:
    """Return how to start `filerefs mcp`."""
    return StdioServerParameters(command=sys.executable, args=["-m", "filerefs", "mcp", *arguments], env=dict(os.environ), cwd=folder)


def ask(target: Target, question: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    """Return the answer to one question, through a client of its own."""

    async def run() -> Any:
        transport = stdio_client(target) if isinstance(target, StdioServerParameters) else target
        async with Client(transport, **options) as client:
            return await question(client)

    return asyncio.run(run())


async def call(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    [content] = answer.content
    assert isinstance(content, types.TextContent)
    return content.text


async def text_of(client: Client, uri: str) -> str:
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    return content.text


async def refusal(request: Awaitable[Any]) -> MCPError:
    """Return the error that *request* is answered with; the client would wrap it in a group on its way out."""
    with pytest.raises(MCPError) as raised:
        await request
    return raised.value


class PromptChat:
    """A host that puts the first message of the prompt behind its system prompt, and sends the other."""

    def __init__(self, server: Server[Any]) -> None:
        self.server = server

    def send(self, message: str) -> Sent:
        result = ask(self.server, lambda client: client.get_prompt("with_files", {"message": message}))
        *sections, said = [entry.content.text for entry in result.messages]
        assert all(entry.role == "user" for entry in result.messages)
        return Sent([swap_section(SYSTEM, "".join(sections))], [("user", said)], (result.description or "").splitlines())


def use(server: Server[Any], tool: str, arguments: dict[str, Any]) -> str:
    """Return what *tool* answers to a client that calls it."""
    return str(ask(server, lambda client: call(client, tool, **arguments)))


class TestPrompt(ToolContract):
    """The contract, for the prompt `with_files`."""

    keeps_history: ClassVar[bool] = False
    calls_tools: ClassVar[bool] = False
    takes_parts: ClassVar[bool] = False

    @pytest.fixture(autouse=True)
    def _opened(self) -> Iterator[None]:
        self.opened = contextlib.ExitStack()
        with self.opened:
            yield

    def open(self, folder: Path, *answers: Answer) -> PromptChat:
        assert not answers
        return PromptChat(build_server(self.opened.enter_context(Preprocessor(folder))))

    def offer(self, folder: Path) -> list[Offer]:
        server = self.open(folder).server
        tools = ask(server, lambda client: client.list_tools()).tools
        return [Offer(tool.name, tool.description, tool.input_schema, partial(use, server, tool.name)) for tool in tools]

    def open_pair(self, folder: Path) -> tuple[PromptChat, PromptChat]:
        chat = self.open(folder)
        return chat, PromptChat(chat.server)


@EACH_ERA
def test_tools_are_those_of_the_library(folder: Path, server: Server[Any], mode: Any) -> None:
    """Names, descriptions and schemas are those that every adapter hands out; each says that it only reads."""
    with Preprocessor(folder) as files:
        expected = [tool.as_dict() for tool in (*file_tools(files), *tools(discover(folder)))]

    listed = ask(server, lambda client: client.list_tools(), mode=mode).tools

    assert expected == [{"name": tool.name, "description": tool.description, "parameters": tool.input_schema} for tool in listed]
    assert all(tool.annotations.read_only_hint and not tool.annotations.destructive_hint for tool in listed)


@EACH_ERA
@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        pytest.param("read_ref", {"ref": "src/lines.txt:4-5"}, "### src/lines.txt\nLines 4-5 of 50:\n```\nline 4\nline 5\n```", id="lines of a file"),
        pytest.param("read_ref", {"ref": "../outside.txt"}, "Could not read ../outside.txt: it leads out of the root folder", id="outside"),
        pytest.param("read_ref", {"ref": ".env"}, "Could not read .env: its name is that of", id="a secret"),
        pytest.param("read_ref", {"ref": "way out"}, "Could not read way out: it is a symbolic link", id="a link"),
        pytest.param("read_ref", {}, "read_ref was not called: the argument `ref` is missing.", id="no argument"),
        pytest.param("list_files", {"folder": "src", "pattern": "*.py"}, "1 name below src/, matching *.py:\nsrc/app.py", id="a list"),
        pytest.param("project_list", {}, '[{"name": "AGENTS.md", "bytes": 25, "complete": false}', id="instruction files"),
        pytest.param("project_get", {"name": "docs/style.md"}, "Be brief.\n", id="an import of an instruction file"),
        pytest.param("project_get", {"name": "nothing.md"}, "There is no instruction file nothing.md.", id="no instruction file"),
    ],
)
def test_tools_answer(server: Server[Any], tool: str, arguments: dict[str, Any], expected: str, mode: Any) -> None:
    """Each answers with what the library's own tool says, refusals too."""
    assert ask(server, lambda client: call(client, tool, **arguments), mode=mode).startswith(expected)


def test_project_without_instruction_files(tmp_path: Path) -> None:
    """The tools are there all the same, since a file may come; then it is seen."""

    async def question(client: Client) -> tuple[str, str]:
        before = await call(client, "project_list")
        (tmp_path / "AGENTS.md").write_text("new\n", encoding="utf-8")
        return before, await call(client, "project_get", name="AGENTS.md")

    with Preprocessor(tmp_path) as files:
        assert ask(build_server(files), question) == ("This project has no instruction files.", "new\n")


def test_error_no_such_tool(server: Server[Any]) -> None:
    """A tool that is not there is an error of the protocol."""
    error = ask(server, lambda client: refusal(client.call_tool("write", {})))

    assert error.message == "Unknown tool: write"


@EACH_ERA
@pytest.mark.parametrize(
    ("uri", "ref"),
    [
        pytest.param("project://src/app.py", "src/app.py", id="a file"),
        pytest.param("project://src/lines.txt:10-12", "src/lines.txt:10-12", id="lines of it"),
        pytest.param("project://src/", "src/", id="a folder"),
        pytest.param("project://my%20file.txt", "my file.txt", id="an escaped blank"),
        pytest.param("project://100%25.txt", "100%.txt", id="an escaped per cent sign"),
        pytest.param("project://src/../AGENTS.md", "AGENTS.md", id="a detour inside"),
        pytest.param("project://build/out.js", "build/out.js", id="an ignored file by its name"),
    ],
)
def test_resources_are_what_the_tool_reads(server: Server[Any], uri: str, ref: str, mode: Any) -> None:
    """A resource of the template is the text that `read_ref` answers."""

    async def question(client: Client) -> tuple[str, str]:
        return await text_of(client, uri), await call(client, "read_ref", ref=ref)

    resource, tool = ask(server, question, mode=mode)
    assert tool == resource


HOSTILE = [
    pytest.param("project://../outside.txt", "it leads out of the root folder", id="dots"),
    pytest.param("project://%2e%2e/outside.txt", "it leads out of the root folder", id="escaped dots"),
    pytest.param("project://src/%2E%2E/%2E./outside.txt", "it leads out of the root folder", id="escaped dots by a detour"),
    pytest.param("project://src%2f..%2f..%2foutside.txt", "it leads out of the root folder", id="escaped slashes"),
    pytest.param("project://%252e%252e/outside.txt", "no such", id="escaped twice"),
    pytest.param("project:///etc/passwd", "an absolute path", id="absolute"),
    pytest.param("project://%2Fetc%2Fpasswd", "an absolute path", id="absolute, escaped"),
    pytest.param("project://~/.ssh/id_rsa", "a path in a home folder", id="a home folder"),
    pytest.param("project://.env", "its name is that of a file with credentials", id="a secret"),
    pytest.param("project://%2eenv", "its name is that of a file with credentials", id="a secret, escaped"),
    pytest.param("project://way%20out", "it is a symbolic link", id="a link"),
    pytest.param("project://a%00b", "no such file", id="NUL"),
    pytest.param("project://", "Nothing was named", id="nothing"),
    pytest.param("project://src/nothing.py", "no such file", id="a name that is not there"),
    pytest.param("file:///etc/passwd", "begin with project://", id="another scheme"),
]


@EACH_ERA
@pytest.mark.parametrize(("uri", "sentence"), HOSTILE)
def test_error_resources_stay_inside(server: Server[Any], uri: str, sentence: str, mode: Any) -> None:
    """What leads out, is secret or is not there is an error with the sentence of the refusal, however it is escaped."""
    error = ask(server, lambda client: refusal(client.read_resource(uri)), mode=mode)

    assert sentence in error.message
    assert "sesame" not in error.message


@given(path=st.lists(st.sampled_from(["..", "/", "%2e", "%2F", "src", ".env", "way%20out", "%00", "%FF", "é", "a.py", ":3", "\\", "~", "@", ","])).map("".join))
def test_any_address_gets_an_answer(folder: Path, path: str) -> None:
    """Whatever the address, it is answered or refused, and nothing outside or secret is in it."""
    with Preprocessor(folder) as files:
        try:
            text = Project(files).read(f"project://{path}").model_dump_json()
        except MCPError as error:
            text = json.dumps([error.message, error.data])

    assert "sesame" not in text


@EACH_ERA
def test_lists_of_resources_and_prompts(server: Server[Any], mode: Any) -> None:
    """Instruction files are listed, everything else is behind the template; there is one prompt."""

    async def question(client: Client) -> list[Any]:
        resources = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        [prompt] = (await client.list_prompts()).prompts
        texts = [await text_of(client, resource.uri) for resource in resources]
        return [
            *(resource.uri for resource in resources),
            *texts,
            *(template.uri_template for template in templates),
            prompt.name,
            prompt.arguments[0].required,
        ]

    uris = ["project://AGENTS.md", "project://docs/style.md"]
    texts = ["### AGENTS.md\n```markdown\nUse tabs.\n@docs/style.md\n```", "### docs/style.md\n```markdown\nBe brief.\n```"]
    assert [*uris, *texts, "project://{+path}", "with_files", True] == ask(server, question, mode=mode)


def test_error_another_prompt(server: Server[Any]) -> None:
    """A prompt that is not there, and one without its message, are errors that say what there is."""
    for name, arguments in (("other", {"message": "x"}), ("with_files", {})):
        error = ask(server, lambda client, name=name, arguments=arguments: refusal(client.get_prompt(name, arguments)))
        assert error.message == "There is one prompt, with_files, with one argument, message."


def test_prompt_with_media(tree: Tree) -> None:
    """With `media=True` an image is a message behind the text, and a PDF an embedded resource."""
    folder = tree({"a dot.png": PNG, "paper.pdf": PDF})
    server = build_server(folder, media=True)

    result = ask(server, lambda client: client.get_prompt("with_files", {"message": 'compare @"a dot.png" with @paper.pdf'}))

    section, message, image, paper = (entry.content for entry in result.messages)
    assert "it goes with the message itself" in section.text
    assert message.text == 'compare "a dot.png" with paper.pdf'
    assert (image.mime_type, base64.b64decode(image.data)) == ("image/png", PNG)
    assert (paper.resource.uri, paper.resource.mime_type, base64.b64decode(paper.resource.blob)) == ("project://paper.pdf", "application/pdf", PDF)


def test_turns_are_handed_to_the_host(folder: Path) -> None:
    """`on_turn` gets the turns that there is something to say of."""
    turns: list[Turn] = []

    async def question(client: Client) -> None:
        for message in ("hello", "explain @src/app.py", "and @nothing.py"):
            await client.get_prompt("with_files", {"message": message})

    with Preprocessor(folder) as files:
        ask(build_server(files, on_turn=turns.append), question)

    assert ["explain @src/app.py", "and @nothing.py"] == [turn.original for turn in turns]


@EACH_ERA
@pytest.mark.parametrize(
    ("about", "argument", "typed", "values"),
    [
        pytest.param(TEMPLATE, "path", "app", ["src/app.py"], id="a part of a path"),
        pytest.param(TEMPLATE, "path", "src/", ["src/app.py", "src/lines.txt"], id="a folder"),
        pytest.param(TEMPLATE, "path", "my f", ["my file.txt"], id="a path with a blank"),
        pytest.param(TEMPLATE, "path", ".env", [], id="no secrets"),
        pytest.param(TEMPLATE, "path", "../", [], id="nothing outside"),
        pytest.param(PROMPT, "message", "look at @src/ap", ["look at @src/app.py"], id="a mention at the end"),
        pytest.param(PROMPT, "message", "look at @my", ['look at @"my file.txt"'], id="a mention that needs quotes"),
        pytest.param(PROMPT, "message", "look at src/ap", [], id="no mention"),
        pytest.param(PROMPT, "other", "@src", [], id="another argument"),
    ],
)
def test_completion(server: Server[Any], about: Any, argument: str, typed: str, values: list[str], mode: Any) -> None:
    """Paths of the template and mentions of the prompt are completed, best first."""
    result = ask(server, lambda client: client.complete(ref=about, argument={"name": argument, "value": typed}), mode=mode)

    assert values == result.completion.values


def test_completion_after_a_client_left(server: Server[Any]) -> None:
    """The names are gathered anew for the next client."""
    question = {"ref": TEMPLATE, "argument": {"name": "path", "value": "app"}}

    for _ in range(2):
        assert ["src/app.py"] == ask(server, lambda client: client.complete(**question)).completion.values


def test_names_that_cannot_be_sent(tmp_path: Path) -> None:
    """Names that are no UTF-8 spoil no answer: they are shown as what they can be shown as, and not completed."""
    for name in ("caf\udce9", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "AGENTS.md").write_text("Use tabs.\n", encoding="utf-8")
    (tmp_path / "AGENTS.md").write_bytes(b"@caf\xe9/AGENTS.md\n@other/AGENTS.md\n")

    async def question(client: Client) -> list[Any]:
        completion = await client.complete(ref=TEMPLATE, argument={"name": "path", "value": "AGENTS"})
        texts = [await call(client, tool) for tool in ("list_files", "project_list")]
        assert "Use tabs." in await call(client, "read_ref", ref=next(line for line in texts[0].splitlines() if line.endswith('.md"')))
        return [*texts, len((await client.list_resources()).resources), completion.completion.values]

    with Preprocessor(tmp_path) as files:
        listed, instructions, resources, values = ask(build_server(files), question)

    assert 'caf\\u{dce9}/AGENTS.md"' in listed
    assert "other/AGENTS.md" in instructions
    assert resources >= 2
    assert ["AGENTS.md", "other/AGENTS.md"] == values


def test_limits_and_options_are_those_of_the_preprocessor(folder: Path) -> None:
    """A server of a Preprocessor keeps to it, and leaves it open."""
    with Preprocessor(folder, limits=Limits(file_bytes=30), allow=(".env",), symlinks="inside") as files:
        server = build_server(files)
        assert "Cut: this is only lines 1-4" in ask(server, lambda client: call(client, "read_ref", ref="src/lines.txt"))
        assert "TOKEN=sesame" in ask(server, lambda client: text_of(client, "project://.env"))
        assert "leads out" in ask(server, lambda client: call(client, "read_ref", ref="way out"))


def test_another_root_than_a_folder() -> None:
    """What is served may be in memory; instruction files and completion go by it, too."""
    root = MemoryRoot({"AGENTS.md": "Use tabs.\n", "notes/todo.md": "nothing\n"})
    server = build_server(Preprocessor(root))

    async def question(client: Client) -> list[Any]:
        completion = await client.complete(ref=TEMPLATE, argument={"name": "path", "value": "todo"})
        return [await call(client, "read_ref", ref="notes/todo.md"), await call(client, "project_get", name="AGENTS.md"), completion.completion.values]

    assert ["### notes/todo.md\n```markdown\nnothing\n```", "Use tabs.\n", ["notes/todo.md"]] == ask(server, question)


def test_error_no_folder(tmp_path: Path) -> None:
    """A folder that is not there is said when the server is made."""
    with pytest.raises(RootNotFoundError):
        build_server(tmp_path / "nowhere")


def test_tools_on_another_server(folder: Path) -> None:
    """The library's tools go onto a server of the SDK with others, in two lines."""
    server = MCPServer("mine")
    with Preprocessor(folder) as files:
        for tool in file_tools(files):
            server.add_tool(tool.call, name=tool.name, description=tool.description)

        answer = ask(server, lambda client: client.call_tool("list_files", {"folder": "src", "limit": 1}))  # type: ignore[arg-type]

    assert answer.content[0].text.startswith("1 name below src/:\nsrc/app.py\nThere is more")


def roots_of(*folders: Path | str) -> Callable[[Any], Awaitable[types.ListRootsResult]]:
    """Return what a client answers when it is asked for its roots."""

    async def answer(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=folder if isinstance(folder, str) else folder.as_uri()) for folder in folders])

    return answer


@EACH_ERA
def test_child_serves_a_root_of_its_client(folder: Path, tmp_path: Path, mode: Any) -> None:
    """Without --root the first root that can be opened is served, whatever is asked first, and stays so."""
    roots = roots_of(tmp_path / "nowhere", folder)

    async def question(client: Client) -> list[str]:
        texts = [await text_of(client, "project://src/app.py"), await call(client, "read_ref", ref="src/app.py")]
        prompt = await client.get_prompt("with_files", {"message": "@src/app.py"})
        completion = await client.complete(ref=TEMPLATE, argument={"name": "path", "value": "app"})
        return [*texts, prompt.messages[-1].content.text, *completion.completion.values]

    block = "### src/app.py\n```python\ndef main():\n    return 1\n```"
    assert [block, block, "src/app.py", "src/app.py"] == ask(child(folder=tmp_path), question, mode=mode, list_roots_callback=roots)


@EACH_ERA
@pytest.mark.parametrize("first", ["tool", "prompt", "completion", "resources"])
def test_roots_whatever_is_asked_first(folder: Path, tmp_path: Path, first: str, mode: Any) -> None:
    """Whichever request comes first, names of another folder are never given for those of the root."""
    (tmp_path / "other.txt").write_text("other\n", encoding="utf-8")

    async def question(client: Client) -> str:
        if first == "tool":
            return await call(client, "list_files")
        if first == "prompt":
            return str(await client.get_prompt("with_files", {"message": "@other.txt"}))
        if first == "resources":
            return str(await client.list_resources())
        return str(await client.complete(ref=TEMPLATE, argument={"name": "path", "value": "other"}))

    with contextlib.ExitStack() as opened:
        server = build_server(opened.enter_context(Preprocessor(tmp_path)), roots=lambda path: opened.enter_context(Preprocessor(path)))
        assert "other.txt\n" not in ask(server, question, mode=mode, list_roots_callback=roots_of(folder))


@EACH_ERA
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(roots_of(), id="no roots"),
        pytest.param(roots_of("file:///nowhere/at/all"), id="roots that are not there"),
        pytest.param(None, id="a client that is not asked"),
    ],
)
def test_child_without_roots_serves_the_working_directory(folder: Path, answer: Any, mode: Any) -> None:
    """Where the client has nothing to say, the folder is the one that the server was started in."""
    assert "return 1" in ask(child(folder=folder), lambda client: call(client, "read_ref", ref="src/app.py"), mode=mode, list_roots_callback=answer)


def test_client_that_cannot_say(folder: Path) -> None:
    """A client that announces roots and then has none to name is served what the server has."""

    async def unable(_: Any) -> types.ErrorData:
        return types.ErrorData(code=types.INTERNAL_ERROR, message="no roots at the moment")

    with Preprocessor(folder) as files:
        server = build_server(files, roots=Preprocessor)
        answer = ask(server, lambda client: call(client, "list_files", folder="src"), mode="legacy", list_roots_callback=unable)

    assert answer == "2 names below src/:\nsrc/app.py\nsrc/lines.txt"


def test_child_with_root_asks_nobody(folder: Path, tmp_path: Path) -> None:
    """--root is what the person said, and no client says otherwise."""
    answer = ask(child("--root", str(folder), folder=tmp_path), lambda client: call(client, "list_files"), list_roots_callback=roots_of(tmp_path))

    assert "src/app.py" in answer


@EACH_ERA
def test_child_answers_many_at_once(folder: Path, mode: Any) -> None:
    """Calls, resources and prompts that come at once each get their own answer."""

    async def question(client: Client) -> list[str]:
        calls = [call(client, "read_ref", ref=f"src/lines.txt:{number}") for number in range(1, 41)]
        resources = [text_of(client, f"project://src/lines.txt:{number}") for number in range(1, 41)]
        return await asyncio.gather(*calls, *resources)

    answers = ask(child("--root", str(folder)), question, mode=mode)

    assert [f"\nline {number}\n" in answer for number, answer in enumerate(answers[:40], 1)] == [True] * 40
    assert answers[:40] == answers[40:]


def test_error_child_refuses_what_is_hostile(folder: Path) -> None:
    """Over the wire, too, no address leads out."""

    async def question(client: Client) -> list[str]:
        return [(await refusal(client.read_resource(str(parameters.values[0])))).message for parameters in HOSTILE]

    said = ask(child("--root", str(folder)), question)

    assert [str(parameters.values[1]) in message for parameters, message in zip(HOSTILE, said, strict=True)] == [True] * len(HOSTILE)


def _exchange(folder: Path, *requests: dict[str, Any], options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Write *requests* to a child, close its input, and return what it did."""
    lines = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in requests)
    return subprocess.run(
        [sys.executable, "-m", "filerefs", "mcp", *options], input=lines, cwd=folder, check=False, capture_output=True, encoding="utf-8", timeout=60
    )


INITIALIZE = {
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}


@pytest.mark.parametrize("requests", [pytest.param((), id="at once"), pytest.param((INITIALIZE,), id="after a greeting")])
def test_child_ends_when_its_input_does(folder: Path, requests: tuple[dict[str, Any], ...]) -> None:
    """The end of standard input ends the server without a word, and nothing but the protocol is on standard output."""
    finished = _exchange(folder, *requests)

    assert (0, "") == (finished.returncode, finished.stderr)
    assert [request["id"] for request in requests] == [json.loads(line)["id"] for line in finished.stdout.splitlines()]


def test_child_warns_on_standard_error(folder: Path) -> None:
    """What became of the prompt's files is for people, and not on standard output."""
    initialized = {"method": "notifications/initialized"}
    prompt = {"id": 1, "method": "prompts/get", "params": {"name": "with_files", "arguments": {"message": "see @src/app.py and @nothing.py"}}}
    asked = subprocess.Popen([sys.executable, "-m", "filerefs", "mcp"], cwd=folder, stdin=-1, stdout=-1, stderr=-1, encoding="utf-8")
    with asked:
        assert asked.stdin is not None
        assert asked.stdout is not None
        assert asked.stderr is not None
        answers = []
        for requests in ((INITIALIZE,), (initialized, prompt)):
            for request in requests:
                asked.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
            asked.stdin.flush()
            answers.append(json.loads(asked.stdout.readline()))
        asked.stdin.close()

        assert ["attached src/app.py (25 B, python)", "warning: could not attach @nothing.py: no such file"] == asked.stderr.read().splitlines()
        assert asked.stdout.read() == ""
    assert [0, 1] == [answer["id"] for answer in answers]


@pytest.mark.skipif(os.name != "posix", reason="terminals as POSIX has them")
def test_child_at_a_terminal_says_what_it_waits_for(folder: Path) -> None:
    """Whoever starts it by hand is told whom it is for, and which key ends it; Ctrl-D does."""
    ours, theirs = pytest.importorskip("pty").openpty()
    try:
        os.write(ours, b"\x04")
        finished = subprocess.run([sys.executable, "-m", "filerefs", "mcp"], stdin=theirs, capture_output=True, check=False, cwd=folder, encoding="utf-8")
    finally:
        os.close(ours)
        os.close(theirs)

    assert (0, "") == (finished.returncode, finished.stdout)
    assert "filerefs: waiting for a client that speaks MCP, which runs this command itself; Ctrl-D ends it\n" == finished.stderr


@pytest.mark.parametrize("options", [pytest.param(("--root", "nowhere"), id="no folder"), pytest.param(("--file-bytes", "many"), id="a bad option")])
def test_error_child_says_what_is_wrong(folder: Path, options: tuple[str, ...]) -> None:
    """Misuse ends with 2, a line on standard error and nothing on standard output."""
    finished = _exchange(folder, options=options)

    assert (2, "") == (finished.returncode, finished.stdout)
    assert "error: " in finished.stderr


def test_the_page_is_true(tmp_path: Path) -> None:
    """The sample of the page prints what the page says."""
    (tmp_path / "greet.py").write_text('print("hello")\n', encoding="utf-8")
    page = (REPOSITORY / "docs" / "integrations" / "mcp.md").read_text(encoding="utf-8")
    settings, sample, printed, *_ = read(page)

    assert json.loads(settings.text)["mcpServers"]["filerefs"]["args"][0] == "mcp"
    assert execute(sample.text, tmp_path, {"__name__": "__main__"}) == printed.text
