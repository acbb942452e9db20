"""What somebody is told who has installed no extra: one sentence, with the command that installs it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", ALONE + code], check=False, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")


@pytest.mark.parametrize("extra", ADAPTERS)
def test_error_no_adapter_without_its_extra(extra: str) -> None:
    """Whoever imports an adapter without its extra is told in one sentence how to install it."""
    module = extra.replace("-", "_")

    finished = run(FIRST_USE.get(extra, f"import filerefs.integrations.{module}"))

    last = finished.stderr.splitlines()[-1]
    assert re.fullmatch(rf"ImportError: filerefs\.integrations\.{module} needs .+: pip install 'filerefs\[{extra}\]'", last), last


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
