"""The plugin for llm, through llm's own command line, with models that say what they were given to say."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import subprocess
import sys
from importlib import metadata
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

pytest.importorskip("llm", reason="needs filerefs[llm]")

import click
import llm
from click.testing import CliRunner
from llm.cli import cli
from llm.plugins import pm

from filerefs import Preprocessor, agentsmd, preprocess
from filerefs.integrations import llm as plugin
from filerefs.integrations.shared import project_tools
from filerefs.retrieval import fetch

from ..docs.blocks import execute, read  # noqa: TID252 (tests are no package that has a name)
from ..docs.grammar_examples import REPOSITORY  # noqa: TID252
from .contract import SYSTEM, Answer, Call, Offer, Sent, ToolContract

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from click.testing import Result
    from conftest import Tree

# llm writes files of its own in the encoding of the locale.
pytestmark = [pytest.mark.filterwarnings(f"ignore::EncodingWarning:{module}") for module in ("llm", "llm.cli")]

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
FILES = {
    "src/app.py": "def main():\n    return 1\n",
    "src/lines.txt": "".join(f"line {number}\n" for number in range(1, 51)),
    "my file.txt": "blanks\n",
    "AGENTS.md": "Use tabs in $HOME.\n@docs/style.md\n",
    "docs/style.md": "Be brief.\n",
    "a dot.png": PNG,
    ".env": "TOKEN=sesame\n",
    ".git/HEAD": "",
}

if not pm.is_registered(plugin):
    # The plugin of an environment in which it is not installed, or of llm under test, which loads none.
    pm.register(plugin, "filerefs")
    plugin.register_commands(cli)


class ScriptedModel(llm.KeyModel):
    """A model that says what it was given to say, in pieces, and keeps what it was asked."""

    can_stream = True
    supports_tools = True
    needs_key = None
    attachment_types: ClassVar[set[str]] = {"image/png"}

    class Options(llm.Options):
        """What `-o` sets."""

        depth: int | None = None

    def __init__(self, name: str, script: Sequence[Answer] = ()) -> None:
        self.model_id = name
        self.script = list(script)
        self.asked: list[Any] = []
        self.streamed: list[bool] = []
        self.keys: list[str | None] = []

    def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any, key: str | None = None) -> Iterator[str]:  # noqa: ARG002, FBT001 (llm calls it so)
        self.asked.append(prompt)
        self.streamed.append(stream)
        self.keys.append(key)
        yield from self.say(prompt, response)

    def say(self, _: Any, response: Any) -> Iterator[str]:
        """Yield the answer, or call a tool."""
        answer = self.script.pop(0) if self.script else "ok"
        if isinstance(answer, Call):
            response.add_tool_call(llm.ToolCall(name="look", arguments={}, tool_call_id="1"))
            return
        yield from answer

    @property
    def system(self) -> str:
        """The system prompt of the last request."""
        return str(self.asked[-1].system or "")


class Plugin:
    """What the tests bring to llm: their models, and the tool of the contract."""

    def __init__(self) -> None:
        self.models: list[ScriptedModel] = []
        self.result = ""

    @llm.hookimpl
    def register_models(self, register: Any) -> None:
        for model in self.models:
            register(model)

    @llm.hookimpl
    def register_tools(self, register: Any) -> None:
        register(llm.Tool(name="look", description="Look.", implementation=lambda: self.result))


@pytest.fixture(scope="module")
def settings_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where llm has keys and logs, away from the person's; to make a log takes it seconds, so the tests have one."""
    return tmp_path_factory.mktemp("llm")


@pytest.fixture(autouse=True)
def ours(settings_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugin]:
    """What llm has of ours."""
    monkeypatch.setenv("LLM_USER_PATH", str(settings_folder))
    monkeypatch.delenv("LLM_MODEL", raising=False)
    added = Plugin()
    pm.register(added)
    yield added
    pm.unregister(added)
    # What it was asked holds the tools, and these an open folder.
    for model in added.models:
        model.asked.clear()


@pytest.fixture
def model(ours: Plugin) -> ScriptedModel:
    ours.models.append(ScriptedModel("scripted"))
    return ours.models[0]


@pytest.fixture(autouse=True)
def folder(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, in which the commands run, and a file beside it."""
    (tree.folder.parent / "outside.txt").write_text("sesame\n", encoding="utf-8")
    folder = tree({**FILES, "way out": tree.link("../outside.txt"), "way in": tree.link("src/app.py")})
    monkeypatch.chdir(folder)
    return folder


def run(*arguments: str, **options: Any) -> Result:
    """Run `llm` with *arguments*."""
    result = CliRunner().invoke(cli, arguments, **options)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


class AtChat:
    """One message after another through `llm at`, each by itself."""

    def __init__(self, folder: Path, model: ScriptedModel, ours: Plugin) -> None:
        self.folder = folder
        self.model = model
        self.ours = ours

    def send(self, message: str) -> Sent:
        self.ours.result = next((answer.result for answer in self.model.script if isinstance(answer, Call)), "")
        first = len(self.model.asked)
        result = run("at", "-m", self.model.model_id, "-s", SYSTEM, "--root", str(self.folder), "-T", "look", "--", message)
        assert result.exit_code == 0
        asked = self.model.asked[first:]
        systems = ["".join(part.text for part in prompt.messages[0].parts) for prompt in asked]
        said = [(entry.role, _text(entry)) for entry in asked[-1].messages[1:]]
        return Sent(systems, said, [line.removeprefix("warning: ") for line in result.stderr.splitlines()])


def _text(message: Any) -> str:
    return "".join(str(getattr(part, "text", "") or getattr(part, "output", "")) for part in message.parts)


NUMBERS = count()


class TestAt(ToolContract):
    """The contract, for `llm at`."""

    keeps_history: ClassVar[bool] = False
    takes_parts: ClassVar[bool] = False

    @pytest.fixture(autouse=True)
    def _ours(self, ours: Plugin) -> None:
        self.ours = ours

    def open(self, folder: Path, *answers: Answer) -> AtChat:
        model = ScriptedModel(f"contract-{next(NUMBERS)}", answers)
        self.ours.models.append(model)
        return AtChat(folder, model, self.ours)

    def offer(self, folder: Path) -> list[Offer]:
        model = self.open(folder).model
        run("at", "-m", model.model_id, "-T", f"Project({json.dumps(str(folder))})", "hello")
        # llm puts the name of a toolbox before those of its tools.
        return [
            Offer(tool.name.removeprefix("Project_"), tool.description, tool.input_schema, lambda arguments, tool=tool: tool.implementation(**arguments))
            for tool in model.asked[0].tools
        ]


def test_at_streams_and_logs_as_llm_does(folder: Path, model: ScriptedModel) -> None:
    """The answer comes in pieces, and the log has the message with plain paths and the system prompt with the section."""
    model.script = ["It returns 1."]

    result = run("at", "-m", "scripted", "-s", "Be brief.", "explain @src/app.py")

    assert (result.stdout, result.stderr, model.streamed) == ("It returns 1.\n", "", [True])
    [entry] = json.loads(run("logs", "--json", "-n", "1").stdout)
    expected = preprocess("explain @src/app.py", "Be brief.", folder)
    assert (entry["prompt"], entry["system"], entry["response"]) == ("explain src/app.py", expected.prompt, "It returns 1.")


def test_at_without_log_and_stream(model: ScriptedModel) -> None:
    """`-n` and `--no-stream` mean what they mean to `llm prompt`."""
    run("at", "-m", "scripted", "hello")
    logged = run("logs", "--json", "-n", "0").stdout

    run("at", "-m", "scripted", "-n", "--no-stream", "explain @src/app.py")

    assert [True, False] == model.streamed
    assert logged == run("logs", "--json", "-n", "0").stdout


def test_at_hands_options_on(folder: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Model, options, key and fragments reach the model as they do from `llm prompt`."""
    model.needs_key = "scripted"  # type: ignore[assignment]
    monkeypatch.setenv("LLM_MODEL", "scripted")

    run("at", "-o", "depth", "3", "--key", "sesame", "-f", "src/lines.txt", "--sf", "docs/style.md", "-s", "Be kind.", "explain @src/app.py")

    asked = model.asked[0]
    assert (asked.options.depth, model.keys) == (3, ["sesame"])
    assert asked.prompt == (folder / "src/lines.txt").read_text(encoding="utf-8") + "\nexplain src/app.py"
    assert asked.system.startswith("Be brief.\n")
    assert asked.system.endswith(preprocess("explain @src/app.py", "Be kind.", folder).prompt)


def test_at_has_the_options_of_prompt() -> None:
    """All options of `llm prompt` are there but those that the page names, whatever the version of llm."""
    offered = {option for parameter in cli.commands["at"].params for option in parameter.opts}
    others = {option for parameter in cli.commands["prompt"].params if parameter.param_type_name == "option" for option in parameter.opts}

    assert {"-t", "--template", "-p", "--param", "-c", "--continue", "--cid", "--conversation", "--save", "--options"} == others - offered
    assert {"message", "--root", "--symlinks", "--allow"} == offered - others


@pytest.mark.parametrize("option", ["-c", "--save", "-t"])
def test_error_at_with_what_belongs_to_another_turn(model: ScriptedModel, option: str) -> None:
    """An option that is left out is misuse, and nothing is sent."""
    assert run("at", "-m", "scripted", option, "x", "explain @src/app.py").exit_code == 2
    assert model.asked == []


def test_at_without_references(model: ScriptedModel) -> None:
    """Without a reference it is `llm prompt`: no system prompt comes out of nothing."""
    run("at", "-m", "scripted", "hello me@example.org")

    assert (model.asked[0].prompt, model.asked[0].system) == ("hello me@example.org", "")


def test_at_with_standard_input_as_the_message(model: ScriptedModel) -> None:
    """Without a message among the arguments, what is piped is what the person says."""
    run("at", "-m", "scripted", input="explain @src/app.py")

    assert model.asked[0].prompt == "explain src/app.py"
    assert "return 1" in model.system


def test_error_at_without_any_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal a message is missed, and not waited for."""

    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    with pytest.raises(click.UsageError, match="Missing argument 'MESSAGE'"):
        cli.commands["at"].main([], standalone_mode=False)


def test_at_with_a_model_by_query(model: ScriptedModel) -> None:
    """`-q` finds the model as it does for `llm prompt`; images are only named then, since it is not known which it takes."""
    run("at", "-q", "scrip", 'what is @"a dot.png"?')

    assert model.asked[0].attachments == []
    assert "no text, so its contents are not shown here" in model.system


def test_at_with_standard_input_beside_the_message(model: ScriptedModel) -> None:
    """What is piped in front of a message is no message: mentions in it attach nothing."""
    run("at", "-m", "scripted", "does this follow @docs/style.md?", input="+ see @src/app.py")

    assert model.asked[0].prompt == "+ see @src/app.py does this follow docs/style.md?"
    assert "return 1" not in model.system


def test_at_with_another_root_and_policy(model: ScriptedModel) -> None:
    """--root, --symlinks and --allow are those of the library."""
    run("at", "-m", "scripted", "--root", "src", "see @app.py")
    assert "### app.py" in model.system

    result = run("at", "-m", "scripted", "--symlinks", "inside", "--allow", ".env", 'see @"way in", @"way out" and @.env')
    assert "return 1" in model.system
    assert "TOKEN=sesame" in model.system
    assert 'could not attach @"way out": it leads out of the root folder' in result.stderr


def test_at_with_an_image(model: ScriptedModel) -> None:
    """An image that the message names is an attachment, behind those of `-a`, if the model takes it."""
    run("at", "-m", "scripted", "-a", "a dot.png", 'what is @"a dot.png"?')
    assert [("image/png", PNG)] * 2 == [(attachment.resolve_type(), attachment.content_bytes()) for attachment in model.asked[0].attachments]

    model.attachment_types = set()  # type: ignore[misc]
    run("at", "-m", "scripted", 'what is @"a dot.png"?')
    assert model.asked[1].attachments == []
    assert "no text, so its contents are not shown here" in model.system


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(["--root", "nowhere", "hello"], "root 'nowhere': there is no such directory", id="no folder"),
        pytest.param(["-m", "nobody", "hello"], "Unknown model: nobody", id="no model"),
    ],
)
def test_error_at_says_what_is_wrong(model: ScriptedModel, arguments: list[str], sentence: str) -> None:
    """Misuse ends the command with a line on standard error, and nothing is sent."""
    result = run("at", *arguments)

    assert result.exit_code == 1
    assert sentence in result.stderr
    assert model.asked == []


@pytest.mark.parametrize(
    "argument",
    [
        pytest.param("src/app.py", id="a file"),
        pytest.param("src/lines.txt:4-9", id="lines of it"),
        pytest.param("docs/", id="a folder"),
        pytest.param("my file.txt", id="a blank in a name"),
        pytest.param("src/app.py,docs/style.md", id="two files"),
    ],
)
def test_fragments_are_what_the_tool_reads(folder: Path, model: ScriptedModel, argument: str) -> None:
    """`ref:` gives the text that `read_ref` answers, in front of the message."""
    with Preprocessor(folder) as files:
        expected = fetch(files, argument).text

    result = run("-m", "scripted", "-f", f"ref:{argument}", "explain")

    assert result.exit_code == 0
    assert model.asked[0].prompt == f"{expected}\nexplain"
    assert [f"ref:{argument}"] == [fragment.source for fragment in model.asked[0].fragments]


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        pytest.param("../outside.txt", "Could not read ../outside.txt: it leads out of the root folder", id="outside"),
        pytest.param("/etc/passwd", "Could not read /etc/passwd: an absolute path", id="absolute"),
        pytest.param("way out", "Could not read way out: it is a symbolic link", id="a link"),
        pytest.param(".env", "Could not read .env: its name is that of", id="a secret"),
        pytest.param("src/ap.py", "Could not read src/ap.py: no such file — did you mean @src/app.py?", id="a near name"),
        pytest.param(
            "src/app.py,nothing.md",
            "Could not read nothing.md: no such file — names are relative to the folder that llm was started in; `ls` there shows them.",
            id="one of two",
        ),
        pytest.param("nope", "Could not read nope: no such file — names are relative to the folder that llm was started in; `ls` there", id="no name at all"),
        pytest.param("", "Nothing was named", id="nothing"),
    ],
)
def test_error_fragments_say_why(model: ScriptedModel, argument: str, sentence: str) -> None:
    """What cannot be read ends the command with the sentence, and nothing is sent."""
    result = run("-m", "scripted", "-f", f"ref:{argument}", "explain")

    assert result.exit_code == 1
    assert f"Error: Could not load fragment ref:{argument}: {sentence}" in result.stderr
    assert model.asked == []
    with pytest.raises(ValueError, match=r"Could not|Nothing"):
        plugin.load_ref(argument)


def test_fragments_of_images_are_attachments(model: ScriptedModel) -> None:
    """An image is attached, and the text of a file beside it is a fragment."""
    run("-m", "scripted", "-f", "ref:a dot.png", "what is it?")
    run("-m", "scripted", "-f", "ref:a dot.png,src/app.py", "what are they?")

    alone, beside = model.asked
    assert (alone.prompt, [attachment.content for attachment in alone.attachments]) == ("what is it?", [PNG])
    assert "### src/app.py" in beside.prompt
    assert [attachment.content for attachment in beside.attachments] == [PNG]


def test_instructions_in_the_system_prompt(folder: Path, model: ScriptedModel) -> None:
    """`agentsmd:` gives what is rendered of the instruction files, imports with them, and nothing in it is a variable."""
    run("-m", "scripted", "--sf", "agentsmd:src/", "-s", "Be kind.", "what are the rules?")

    assert model.system == agentsmd.render(agentsmd.expand_imports(agentsmd.discover(folder / "src"))) + "\n\nBe kind."
    assert "Use tabs in $HOME." in model.system


def test_error_no_instructions(tmp_path: Path, ours: Plugin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are none, the command ends and says so."""
    ours.models.append(ScriptedModel("scripted"))
    monkeypatch.chdir(tmp_path)

    result = run("-m", "scripted", "--sf", "agentsmd:.", "hello")

    assert (result.exit_code, result.stderr) == (1, "Error: Could not load fragment agentsmd:.: no instruction files hold for .\n")


def test_template_has_instructions_and_tools(model: ScriptedModel) -> None:
    """`filerefs:` is a template with the rules of a folder and the tools for it."""
    result = run("-m", "scripted", "-t", "filerefs:docs", "what are the rules?")

    asked = model.asked[0]
    assert (result.exit_code, result.stdout) == (0, "ok\n")
    assert "Use tabs in $HOME." in asked.system
    assert ["Project_read_ref", "Project_list_files", "Project_project_list", "Project_project_get"] == [tool.name for tool in asked.tools]
    assert "style.md" in asked.tools[1].implementation()


def test_template_without_instructions(tmp_path: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without instruction files has the tools alone."""
    monkeypatch.chdir(tmp_path)

    run("-m", "scripted", "-t", "filerefs:.", "hello")

    assert model.asked[0].system == ""
    assert len(model.asked[0].tools) == 4


def test_error_template_without_folder(model: ScriptedModel) -> None:
    """A folder that is not there ends the command."""
    result = run("-m", "scripted", "-t", "filerefs:nowhere", "hello")

    assert (result.exit_code, model.asked) == (1, [])
    assert "root 'nowhere': there is no such directory" in result.stderr


def test_toolbox_is_that_of_the_library(folder: Path) -> None:
    """A model gets descriptions and schemas as everywhere, under the names that llm gives to a toolbox's tools."""
    with Preprocessor(folder) as files:
        expected = [(f"Project_{tool.name}", tool.description, tool.parameters) for tool in project_tools(files)]

    assert expected == [(tool.name, tool.description, tool.input_schema) for tool in plugin.Project(".").tools()]


def test_toolbox_answers() -> None:
    """Each tool answers, refusals and wrong arguments in a sentence; another folder is another root."""
    project = plugin.Project()

    assert project.read_ref("src/app.py").startswith("### src/app.py\n")
    assert project.read_ref("../outside.txt").startswith("Could not read ../outside.txt")
    assert project.list_files("src", limit=1).startswith("1 name below src/:\nsrc/app.py\n")
    assert project.list_files(limit="many").startswith("list_files was not called: ")  # type: ignore[arg-type]
    assert "AGENTS.md" in project.project_list()
    assert project.project_get("docs/style.md") == "Be brief.\n"
    assert plugin.Project("docs").read_ref("../src/app.py").startswith("Could not read ../src/app.py")


def test_model_calls_the_toolbox(ours: Plugin) -> None:
    """A model that asks for a tool gets its answer."""

    class Curious(ScriptedModel):
        def say(self, prompt: Any, response: Any) -> Iterator[str]:
            if not prompt.tool_results:
                response.add_tool_call(llm.ToolCall(name="Project_read_ref", arguments={"ref": "app.py:2"}, tool_call_id="1"))
                return
            yield prompt.tool_results[0].output

    ours.models.append(Curious("curious"))

    result = run("-m", "curious", "-T", 'Project("src")', "what does it return?")

    assert result.stdout == "### app.py\nLine 2 of 2:\n```python\n    return 1\n```\n"
    assert result.exit_code == 0


def test_what_llm_lists_of_it() -> None:
    """Loaders, tools and the command are shown with what they are for."""
    loaders = run("fragments", "loaders").stdout + run("templates", "loaders").stdout

    assert {"ref:", "agentsmd:", "filerefs:"} <= set(loaders.split())
    assert "Project(root: str = '.')" in run("tools", "list").stdout
    assert "Project_read_ref(ref: str) -> str" in run("tools", "list").stdout
    assert "Execute a prompt with the files that it names" in run("--help").stdout


def _child(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, encoding="utf-8", env={**os.environ, **environment})


def test_import_is_cheap() -> None:
    """What every start of llm imports is this module and the command's, and of the library no more than its name."""
    code = """
import sys, llm.cli
before = set(sys.modules)
import filerefs.integrations.llm
filerefs.integrations.llm.register_commands(llm.cli.cli)
print(*sorted(set(sys.modules) - before))
"""
    loaded = set(_child(code, LLM_LOAD_PLUGINS="").stdout.split())

    assert loaded == {"filerefs", "filerefs.integrations", "filerefs.integrations.llm", "filerefs.integrations.llm_at"}


def test_entry_point_is_found(folder: Path) -> None:
    """An installed llm finds the plugin by the entry point of the installed package, and everything in it."""
    [entry_point] = [entry for entry in metadata.distribution("filerefs").entry_points if entry.group == "llm"]
    assert (entry_point.name, entry_point.value) == ("filerefs", "filerefs.integrations.llm")
    environment = {**os.environ, "LLM_LOAD_PLUGINS": "filerefs"}

    def ask(*arguments: str) -> str:
        finished = subprocess.run([sys.executable, "-m", "llm", *arguments], cwd=folder, check=True, capture_output=True, encoding="utf-8", env=environment)
        return finished.stdout

    [described] = json.loads(ask("plugins"))
    assert described["name"] == "filerefs"
    assert {"register_commands", "register_fragment_loaders", "register_template_loaders", "register_tools"} == set(described["hooks"])
    assert "--symlinks" in ask("at", "--help")
    assert "ref:" in ask("fragments", "loaders")


def test_the_page_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: Plugin) -> None:
    """Commands and sample of the page print what the page says, with a model that says it."""
    (tmp_path / "greet.py").write_text('print("hello")\n', encoding="utf-8")
    (tmp_path / "AGENTS.md").write_text("Use tabs.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LLM_MODEL", "answering")
    console, sample, printed = read((REPOSITORY / "docs" / "integrations" / "llm.md").read_text(encoding="utf-8"))

    class Answering(ScriptedModel):
        def say(self, prompt: Any, _: Any) -> Iterator[str]:
            seen = f"{prompt.system} {prompt.prompt}"
            yield "Use tabs." if "Use tabs." in seen else "It prints hello." if "hello" in seen else "In greet.py."

    ours.models.append(Answering("answering"))
    llm.set_default_model("answering")
    output = ""
    for command in console.commands:
        program, *arguments = command.replace("'", "").split(" ", 3 if "at" not in command.split() else 2)
        result = run(*arguments)
        assert (program, result.exit_code) == ("llm", 0)
        output += f"$ {command}\n{result.stderr}{result.stdout}"
    assert console.text == output
    with contextlib.chdir(tmp_path):
        assert printed.text == execute(sample.text, tmp_path, {"__name__": "__main__"})
