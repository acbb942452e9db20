"""The pages in docs/ and the README against the repository: what they name is there, and what is there is named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from filerefs import cli

from ..test_architecture import MODULES, TIERS  # noqa: TID252 (tests are no package that has a name)
from .blocks import outside, read
from .grammar_examples import README, REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

DOCS = REPOSITORY / "docs"
INTEGRATIONS = sorted((DOCS / "integrations").glob("*.md"))
PAGES = [README, *sorted(DOCS.glob("*.md")), *INTEGRATIONS]


def name_of(page: Path) -> str:
    return page.relative_to(REPOSITORY).with_suffix("").as_posix()


EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=name_of)

# What a host calls: whatever these modules need is the main job, and the architecture says where it is.
ENTRANCES = {"__init__", "__main__", "cli", "turn"}


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def section(page: Path, title: str) -> str:
    """Return what stands under a heading of the second level."""
    return text_of(page).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def in_code(text: str) -> set[str]:
    """Return what stands in code spans."""
    return set(re.findall(r"`([^`\n]+)`", text))


def main_job() -> set[str]:
    """Return the modules that the entrances need, directly or not; a package stands for what is in it."""
    needs = {module.name: module.ours for module in MODULES}
    found: set[str] = set()
    ahead = set(ENTRANCES)
    while ahead:
        name = ahead.pop()
        found.add(name)
        ahead |= needs[name] - found
    return {name for name in found if "." not in name}


@EACH_PAGE
def test_links_lead_somewhere(page: Path) -> None:
    """A link inside the repository leads to a file that is there."""
    prose = re.sub(r"`[^`\n]+`", "", outside(text_of(page)))
    targets = [target for target in re.findall(r"\]\(([^)#]+)", prose) if "://" not in target]

    assert [] == [target for target in targets if not (page.parent / target).exists()]


def anchors_of(page: Path) -> set[str]:
    """Return what the headings of *page* are called in links: in lower case, without punctuation, blanks as hyphens."""
    titles = re.findall(r"^#+ (.+)$", outside(text_of(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@EACH_PAGE
def test_links_lead_to_a_heading(page: Path) -> None:
    """What stands behind the hash of a link inside the repository is a heading of the page that it leads to."""
    prose = re.sub(r"`[^`\n]+`", "", outside(text_of(page)))
    links = [(target, anchor) for target, anchor in re.findall(r"\]\(([^)#]*)#([^)]+)\)", prose) if "://" not in target]

    assert [] == [f"{target}#{anchor}" for target, anchor in links if anchor not in anchors_of(page.parent / target if target else page)]


@EACH_PAGE
def test_files_that_are_named_are_there(page: Path) -> None:
    """A path in a code span that begins with a folder of the repository names something in it."""
    prose = "\n".join(line for line in outside(text_of(page)).splitlines() if not line.startswith("| `"))
    paths = {name for name in in_code(prose) if re.fullmatch(r"(filerefs|tests|docs|bench|\.ci)/[\w./]+", name)}

    missing = {path for path in paths if not (REPOSITORY / path).exists()}

    assert {"filerefs/x.py", "tests/test_x.py"} >= missing


# Their blocks are run by tests/agentsmd/test_agentsmd_docs.py, tests/repl/test_repl_docs.py and tests/integrations/test_scale.py; those of the
# API's page are made by tests/docs/api.py.
RUN_ELSEWHERE = {"agentsmd", "api", "embedding", "repl", "roots", "scale"}


@pytest.mark.parametrize("page", [page for page in PAGES[1:] if page not in INTEGRATIONS and page.stem not in RUN_ELSEWHERE], ids=name_of)
def test_pages_hold_drawings_and_no_code(page: Path) -> None:
    """Only pages whose blocks are run have code blocks."""
    assert {block.language for block in read(text_of(page))} <= {"text"}


@pytest.mark.parametrize("page", INTEGRATIONS, ids=name_of)
def test_pages_about_a_framework_are_run(page: Path) -> None:
    """The sample of such a page is run by the tests that need the framework, and the README's table leads to it."""
    path = page.relative_to(REPOSITORY).as_posix()
    tests = [text_of(module).replace('" / "', "/") for module in (REPOSITORY / "tests").rglob("test_*.py")]

    assert any(path in test for test in tests)
    assert f"]({path})" in section(README, "In your framework")


@EACH_PAGE
def test_no_block_is_overlooked(page: Path) -> None:
    """No fence stands outside of what is read as blocks."""
    assert [] == re.findall(r"^[ \t]*(?:```|~~~).*", outside(text_of(page)), re.MULTILINE)


@EACH_PAGE
def test_lines_are_short(page: Path) -> None:
    """Prose is wrapped at 120 characters; tables, blocks and the one sentence cannot be."""
    lines = outside(text_of(page)).splitlines()

    assert [] == [line for line in lines if len(line) > 120 and not line.startswith(("|", "filerefs turns "))]


def test_every_module_has_its_tier() -> None:
    """The table of tiers has the modules of the main job in the tiers that the architecture test holds."""
    rows = re.findall(r"^\| (\d) \| (.+) \|$", section(DOCS / "architecture.md", "Tiers"), re.MULTILINE)
    documented = {name: int(tier) for tier, names in rows for name in in_code(names)}

    held = {name: number for number, tier in enumerate(TIERS, 1) for name in tier if name in documented}

    assert held == {name: documented[name] for name in held}
    assert main_job() <= documented.keys() <= {module.name for module in MODULES}


def test_every_module_is_where_a_change_may_lead() -> None:
    """Each module of the main job is the answer to a question; the one that only counts calls belongs to `root`."""
    rows = re.findall(r"^\| .+ \| (.+) \|$", section(DOCS / "architecture.md", "Which module to open"), re.MULTILINE)
    answers = {name for row in rows for name in in_code(row)}

    assert main_job() - {"__init__", "__main__", "calls"} == answers


def test_every_target_is_explained() -> None:
    """The table of targets has those that `make help` prints."""
    targets = re.findall(r"^([a-z]+):.*## ", text_of(REPOSITORY / "Makefile"), re.MULTILINE)
    named = re.findall(r"`make(?: ([a-z]+))?`", section(DOCS / "contributing.md", "Targets"))

    assert {*targets} - {"all", "help"} | {""} == set(named)


def test_options_of_the_command_line_are_real(capsys: pytest.CaptureFixture[str]) -> None:
    """An option that the README names is one of a command."""
    for command in ("expand", "parse", "serve"):
        with pytest.raises(SystemExit):
            cli.main([command, "--help"])
    known = set(re.findall(r"(?<!\S)--[a-z-]+", capsys.readouterr().out)) | {"--help"}

    # Those of other programs stand behind their names.
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text_of(README))) - {"--quiet"}

    assert named <= known
