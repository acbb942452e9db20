"""
The reference of the Python API: made from the docstrings, current, and complete.

After a change of a public signature or docstring, `UPDATE_GOLDEN=1 python -m pytest tests/docs/test_api_page.py`
writes docs/api.md anew, and the diff is what a reviewer reads.
"""

from __future__ import annotations

import inspect
import os
import re
from collections import Counter
from importlib import import_module

import pytest
from markdown_it import MarkdownIt

import filerefs
from filerefs import errors

from . import api
from .blocks import read
from .test_docs import DOCS

PAGE = DOCS / "api.md"
CORE = [name for names in api.CORE.values() for name in names]
EXCEPTIONS = [name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, filerefs.FilerefsError)]
PUBLIC_MODULES = ["filerefs", *(f"filerefs.{package}" for package in api.PACKAGES)]


@pytest.fixture(scope="module")
def page() -> str:
    """Return the page as it is made now; with UPDATE_GOLDEN it is also what is on the disk."""
    made = api.render()
    if os.environ.get("UPDATE_GOLDEN") == "1":
        PAGE.write_text(made, encoding="utf-8", newline="")
    return made


def headings(page: str) -> list[str]:
    """Return the headings of *page*, without the signs for code."""
    return [heading.replace("`", "") for heading in re.findall(r"^#{2,4} (.+)$", page, re.MULTILINE)]


def test_the_page_is_current(page: str) -> None:
    """What is on the disk is what the program makes of the code."""
    assert page == PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", filerefs.__all__)
def test_every_name_has_a_heading(name: str, page: str) -> None:
    """Whatever `import filerefs` gives has a place of its own."""
    assert name in headings(page)


@pytest.mark.parametrize("package", api.PACKAGES)
def test_every_name_of_a_package_is_there(package: str, page: str) -> None:
    """What a public package exports has a heading there, or a link to the one that it has in the core."""
    names = set(getattr(import_module(f"filerefs.{package}"), "__all__", ()))
    contents = re.search(rf"^- \[`filerefs\.{package}`\].*?(?=^- |\n\n)", page, re.MULTILINE | re.DOTALL)
    assert contents is not None
    linked = set(re.findall(r"\[`(\w+)`\]", contents[0]))

    assert names <= linked
    assert {name for name in names if f"{package}.{name}" not in headings(page)} <= set(CORE)


def test_packages_are_those_that_are_public() -> None:
    """The page has the packages that adapters may import."""
    from ..test_architecture import PUBLIC  # noqa: TID252 (tests are no package that has a name)

    assert PUBLIC - {"__init__"} == set(api.PACKAGES)


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_every_exception_is_explained(name: str, page: str) -> None:
    """Each exception has a heading, its bases and a sentence."""
    bases = ", ".join(base.__name__ for base in getattr(errors, name).__bases__)

    assert re.search(rf"^### `{name}`\n\n```python\nclass {name}\({re.escape(bases)}\)\n```\n\n\S.*\.$", page, re.MULTILINE)


@pytest.mark.parametrize("reason", filerefs.Reason)
def test_every_reason_is_explained(reason: filerefs.Reason, page: str) -> None:
    """Each reason stands there with its value and what it means."""
    assert re.search(rf'^- `Reason\.{reason.name} = "{reason.value}"`: \S', page, re.MULTILINE)


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_every_argument_is_named(module: str, page: str) -> None:
    """What `inspect` says that a function takes, stands in its signature: the page is of the code that runs."""
    missing = []
    for name in getattr(import_module(module), "__all__", ()):
        value = getattr(import_module(module), name)
        if inspect.isfunction(value):
            title = name if module == "filerefs" or name in CORE else f"{module.removeprefix('filerefs.')}.{name}"
            block = page.partition(f"### `{title}`\n\n")[2].partition("\n```\n")[0]
            missing += [f"{name}({argument})" for argument in inspect.signature(value).parameters if f"{argument}: " not in block]

    assert [] == missing


@pytest.mark.parametrize("name", ["Turn", "Preprocessor", "Attached", "Refused", "Root", "Limits"])
def test_every_property_and_method_is_there(name: str, page: str) -> None:
    """What `dir` shows of a class stands in its part of the page."""
    part = page.partition(f"\n### `{name}`\n")[2].partition("\n### ")[0]

    missing = [member for member in dir(getattr(filerefs, name)) if not member.startswith("_") and f"{member}:" not in part and f".{member}`" not in part]

    assert [] == missing


def test_types_are_explained() -> None:
    """Each class and alias of ours that a signature names is on the page."""
    page = api.fill()
    page.text()

    assert [] == [path for path, member in page.strangers().items() if member.is_class]


def test_headings_can_be_linked(page: str) -> None:
    """No two headings have the same anchor, whatever their case."""
    anchors = Counter(re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings(page))

    assert [] == [anchor for anchor, count in anchors.items() if count > 1]


def test_signatures_are_narrow(page: str) -> None:
    """No line of a block is wider than a code host shows."""
    assert [] == [line for block in read(page) for line in block.text.splitlines() if len(line) > api.CODE]


def test_docstrings_are_markdown(page: str) -> None:
    """Nothing in a docstring turns into raw HTML, and no other heading comes of it."""
    tokens = MarkdownIt().parse(page)

    assert [] == [token.content for block in tokens for token in (block, *(block.children or ())) if token.type in {"html_block", "html_inline"}]
    assert len(headings(page)) == sum(token.type == "heading_open" for token in tokens) - 1


@pytest.mark.parametrize(
    ("docstring", "paragraphs"),
    [
        pytest.param("One\nline.", ["One line."], id="lines are joined"),
        pytest.param("One.\n\nTwo.\n\n.. versionadded:: 0.1", ["One.", "Two."], id="the first version is left out"),
        pytest.param("- One\n  item.\n- Two.", ["- One item.\n- Two."], id="a list stays a list"),
        pytest.param("Such:\n\n    a = 1\n\n    b = 2\n\nEnd.", ["Such:", "```python\na = 1\n\nb = 2\n```", "End."], id="what is indented is one block"),
        pytest.param(f"{'x' * 110} `a  b\nc d`.", [f"{'x' * 110}\n`a b c d`."], id="no line ends within code"),
    ],
)
def test_paragraphs(docstring: str, paragraphs: list[str]) -> None:
    """A docstring is wrapped anew, each kind of paragraph in its way."""
    assert paragraphs == api.paragraphs(docstring)


def test_error_unknown_section() -> None:
    """A kind of section for which there is no form is a fault, and not left out silently."""
    function = api.griffe.visit("m", filepath=DOCS / "m.py", code='def f():\n    """Return.\n\n    Warns:\n        UserWarning: If so.\n    """\n')["f"]

    with pytest.raises(ValueError, match=r"m\.f: .*warns"):
        list(api.Page().explain(function, set()))
