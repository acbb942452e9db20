"""What somebody is told who has installed no extra: one sentence, with the command that installs it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from filerefs.integrations.extras import FRAMEWORKS, Framework, lacking

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# `all` is the others together, and `chat` a command: what it says is below.
ADAPTERS = sorted(PROJECT["optional-dependencies"].keys() - {"all", "chat"})

# Whatever is installed beside the library, this program cannot see it.
ALONE = """
import sys

class NothingElse:
    here = {*sys.stdlib_module_names, "filerefs", "regex", "charset_normalizer", "pathspec"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.here:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NothingElse())
"""
# fsspec is needed by whoever names a file system, and not by whoever brings one.
FIRST_USE = {"fsspec": "import filerefs.integrations.fsspec as adapter\nadapter.FsspecRoot('memory://')"}


def run(code: str, before: str = ALONE) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", before + code], check=False, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")


def install(folder: Path, framework: Framework, version: str) -> str:
    """Put another version of *framework* into *folder*, with nothing in it, and return the code by which a program finds it."""
    package = folder.joinpath(*framework.module.split("."))
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    about = folder / f"{framework.distribution.replace('-', '_')}-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {framework.distribution}\nVersion: {version}\n", encoding="utf-8")
    # A namespace that is known already would be looked for elsewhere.
    return f"import sys\nsys.path.insert(0, {str(folder)!r})\nsys.modules.pop('google', None)\n"


@pytest.mark.parametrize("extra", ADAPTERS)
def test_error_no_adapter_without_its_extra(extra: str) -> None:
    """Whoever imports an adapter without its extra is told in one sentence how to install it."""
    module = extra.replace("-", "_")

    finished = run(FIRST_USE.get(extra, f"import filerefs.integrations.{module}"))

    last = finished.stderr.splitlines()[-1]
    assert re.fullmatch(rf"ImportError: filerefs\.integrations\.{module} needs .+: pip install 'filerefs\[{extra}\]'", last), last


@pytest.mark.parametrize("extra", ADAPTERS)
def test_error_adapter_with_another_version(extra: str, tmp_path: Path) -> None:
    """Whoever has a version of the framework that is too old is told which it is, which is needed, and how to get that."""
    module, framework = extra.replace("-", "_"), FRAMEWORKS[extra]

    finished = run(FIRST_USE.get(extra, f"import filerefs.integrations.{module}"), install(tmp_path, framework, "0.0.1"))

    sentence = f"{framework.title}, {framework.needed}, and not 0.0.1, which is installed: pip install --upgrade 'filerefs[{extra}]'"
    assert f"ImportError: filerefs.integrations.{module} needs {sentence}" == finished.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "framework", "extra"),
    [
        pytest.param(["chat", "-m", "gpt"], "llm", "chat", id="chat with a model"),
        pytest.param(["mcp"], "mcp", "mcp", id="mcp"),
    ],
)
def test_error_command_with_another_version(arguments: list[str], framework: str, extra: str, tmp_path: Path) -> None:
    """A command says the same on one line of standard error, and ends as for misuse."""
    about = FRAMEWORKS[framework]

    finished = run(f"from filerefs.cli import main\nsys.exit(main({arguments!r}))", install(tmp_path, about, "0.0.1"))

    assert (2, "", 1) == (finished.returncode, finished.stdout, len(finished.stderr.splitlines()))
    assert f"{about.needed}, and not 0.0.1, which is installed: pip install --upgrade 'filerefs[{extra}]'\n" in finished.stderr


def test_bounds_are_those_of_the_project() -> None:
    """What a sentence calls needed is what is installed with the extra, for all extras, `chat` included."""
    bounds = {about.distribution: f"{about.distribution}>={about.least}" + (f",<{about.below}" if about.below else "") for about in FRAMEWORKS.values()}
    extras: Mapping[str, list[str]] = PROJECT["optional-dependencies"]

    assert {extra: [bounds[FRAMEWORKS[extra].distribution]] for extra in ADAPTERS} == {extra: extras[extra] for extra in ADAPTERS}
    assert [bounds["llm"], bounds["prompt-toolkit"]] == extras["chat"]


@pytest.mark.parametrize(
    ("version", "taken"),
    [
        pytest.param("0.12", True, id="the first one"),
        pytest.param("0.12.0", True, id="the same"),
        pytest.param("0.12.9.post1", True, id="one behind it"),
        pytest.param("0.9", False, id="an older one, though its number is longer"),
        pytest.param("0.13.0rc1", False, id="the first that will not do"),
        pytest.param("1", False, id="a later one"),
        pytest.param("unknown", False, id="no number"),
    ],
)
def test_versions(version: str, taken: bool) -> None:  # noqa: FBT001 (a column)
    """Versions are compared number by number."""
    assert taken is FRAMEWORKS["acp"].takes(version)


def test_error_framework_that_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the version would do, it is said what else is wrong; where no version is known, how to install one."""
    error = ImportError("cannot import name 'x' from 'acp'", name="acp")
    monkeypatch.setattr("importlib.metadata.version", lambda _: "0.12.3")
    said = str(lacking("it", "acp", error))
    monkeypatch.undo()
    sentence = "it needs the ACP SDK, 0.12 or later and before 0.13"

    assert said == f"{sentence}, and 0.12.3, which is installed, cannot be imported ({error!r}): pip install --upgrade 'filerefs[acp]'"
    assert str(lacking("it", "acp", ModuleNotFoundError("no", name="acp"), extra="all")) == f"{sentence}: pip install 'filerefs[all]'"


@pytest.mark.parametrize("arguments", [pytest.param(["chat", "-m", "gpt"], id="chat with a model"), pytest.param(["mcp"], id="mcp")])
def test_error_no_command_without_its_extra(arguments: list[str]) -> None:
    """A command says the same on one line of standard error, and ends as for misuse."""
    finished = run(f"from filerefs.cli import main\nsys.exit(main({arguments!r}))")

    assert (2, "", 1) == (finished.returncode, finished.stdout, len(finished.stderr.splitlines()))
    assert finished.stderr.endswith(f": pip install 'filerefs[{arguments[0]}]'\n")


def test_the_library_needs_no_extra(tmp_path: Path) -> None:
    """Without any extra, a message with a file is a turn like everywhere."""
    code = "from filerefs import agentsmd, preprocess\nfrom filerefs.messages import preprocess_messages\n"
    (tmp_path / "a.py").write_text("ALPHA = 1\n", encoding="utf-8")
    (tmp_path / "AGENTS.md").write_text("Use tabs.\n", encoding="utf-8")
    root = str(tmp_path)

    finished = run(
        f"{code}print(preprocess('see @a.py', root={root!r}).message, *[doc.name for doc in agentsmd.discover({root!r})], "
        f"preprocess_messages('see @a.py', {root!r}).messages[-1]['content'], sep=', ')"
    )

    assert (finished.stdout, finished.stderr) == ("see a.py, AGENTS.md, see a.py\n", "")
