"""
The public names with their signatures and docstrings -> `docs/api.md`.

`griffe` reads the source and takes the docstrings apart; here is only how each kind of thing is written down, for
people who read Markdown on a code host.  What is on the page, and in which order, is in the tables below.
"""

from __future__ import annotations

import json
import re
import textwrap
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import griffe

from filerefs import Preprocessor
from filerefs.agentsmd import Entry, tools
from filerefs.retrieval import Tool, file_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REPOSITORY = Path(__file__).parents[2]
PROSE, CODE = 120, 100

OPENING = """\
# Python API

What `import filerefs` and its public packages hold, in the order in which it is needed. Made from the docstrings by
`tests/docs/api.py`: do not edit it here. A name behind `*` in a signature is given as a keyword. In the text,
*slanted* words are arguments.
"""
CLOSING = """\
## Adapters

Those of frameworks have pages of their own, with what they take and what they cannot do, that of
[prompt_toolkit](embedding.md#prompt_toolkit) among the loops:
{}.
"""

# Title of a part -> what of `filerefs` is in it.
CORE = {
    "A message": ("preprocess", "preprocess_async", "Preprocessor"),
    "What came of it": ("Turn", "Outcome", "Attached", "Refused", "Reason"),
    "Limits of a turn": ("Limits",),
    "The phases": ("parse", "Ref", "load", "inject", "build_section", "strip_section", "swap_section", "rewrite", "format_ref"),
    "Folders and other roots": ("Root", "nodes.Node", "RootLike", "NodeLike"),
    "Exceptions": (
        *("FilerefsError", "OptionError", "OptionTypeError", "PathFormatError", "RootError", "RootNotFoundError"),
        *("RootClosedError", "UnsupportedPlatformError", "SpanMismatchError"),
    ),
}
# Public package -> what comes first, also what only signatures name, where it is; the rest follows in the order of `__all__`.
PACKAGES = {
    "messages": ("messages.preprocess_messages", "messages.Preprocessed", "messages.strip_sections", "messages.text_of"),
    "retrieval": ("retrieval.file_tools", "retrieval.Tool", "retrieval.fetch", "fetching.Fetched"),
    "agentsmd": (
        *("agentsmd.discover", "agentsmd.expand_imports", "agentsmd.render", "agentsmd.compose", "agentsmd.wrap"),
        *("agentsmd.Loader", "agentsmd.Run", "agentsmd.Discovery", "agentsmd.Doc", "agentsmd.documents.Source", "agentsmd.Base"),
        *("agentsmd.Problem", "agentsmd.Omitted", "agentsmd.Omission", "agentsmd.Profile", "agentsmd.PROFILES", "agentsmd.DEFAULT"),
        *("agentsmd.CHAIN", "agentsmd.CODEX", "agentsmd.EINO", "agentsmd.PROJECTCTX", "agentsmd.insert", "agentsmd.refresh"),
        *("agentsmd.Refreshed", "agentsmd.strip_injected", "agentsmd.is_injected", "agentsmd.keep_conversation", "agentsmd.sent_text"),
        *("agentsmd.Frozen", "agentsmd.EachTurn", "agentsmd.WhenChanged", "agentsmd.catalog", "agentsmd.tools", "agentsmd.Entry"),
        *("agentsmd.entries", "agentsmd.inline_bytes_for", "agentsmd.Library", "agentsmd.plan_migration", "agentsmd.Plan", "agentsmd.Step"),
        *("agentsmd.rewording.Word", "agentsmd.rewording.Kept", "agentsmd.write_migration", "agentsmd.Written"),
    ),
    "roots": ("roots.MemoryRoot", "roots.Gate", "roots.File", "roots.Folder", "roots.Found", "roots.Entry", "roots.Listing"),
    "completion": ("completion.Completer", "completion.Completions", "completion.Candidate"),
}
# Made by the library alone: what its constructor takes is no one's business.
HANDED_OUT = {"filerefs.nodes.Node"}
LIBRARY: Any = griffe.load("filerefs", search_paths=[REPOSITORY])


def names_of(package: str) -> list[str]:
    """Return what is said of *package*: its public names (where it lists none, those that it defines), and more."""
    module = LIBRARY[package]
    exported = module.exports or [name for name, member in module.members.items() if _is_defined(member)]
    return list(dict.fromkeys([*PACKAGES[package], *(f"{package}.{name}" for name in exported)]))


def render() -> str:
    """Return the page."""
    return fill().text()


def fill() -> Page:
    """Return the page with all its parts, its end not yet written."""
    page = Page()
    for title, names in CORE.items():
        page.add_part(title, "errors" if title == "Exceptions" else "", {name: LIBRARY[name] for name in names})
    for package in PACKAGES:
        page.add_part(f"`filerefs.{package}`", package, {name: LIBRARY[name] for name in names_of(package)})
        page.add_tools(package)
    return page


class Page:
    """The page as it grows: what is on it, and which names its signatures hold."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.titles: dict[str, list[str]] = {}
        self.places: dict[str, str] = {}
        self.mentioned: set[str] = set()

    def add_part(self, title: str, module: str, members: dict[str, Any]) -> None:
        """Add a part with what its module says of itself, and its *members*."""
        self.blocks.append(f"## {title}")
        self.titles[title] = []
        if module:
            self.blocks += paragraphs(LIBRARY[module].docstring.value)
        for name, member in members.items():
            found = member.final_target if member.is_alias else member
            if found.path not in self.places:
                self.places[found.path] = name
                self.blocks += [f"### `{name}`", *self._describe(name.rpartition(".")[2], found)]
            self.titles[title].append(_link(f"`{self.places[found.path]}`", f"`{name.rpartition('.')[2]}`"))

    def add_tools(self, package: str) -> None:
        """Add what the tools of a package are called with, from the schemas that a model gets."""
        if made := _tools_of(package):
            heading = f"Arguments of the tools in `{package}`"
            self.blocks += [f"### {heading}", "What a model is told of them, and calls them with.", "\n".join(_explain_tools(made))]
            self.titles[f"`filerefs.{package}`"].append(_link(heading, "arguments of its tools"))

    def text(self) -> str:
        """Return the whole, with a table of contents and the types that only signatures name."""
        self.blocks += [
            "## Names in signatures",
            "What signatures above name and no package exports, for reading them: give the value itself.",
            self._aliases(),
        ]
        self.titles["Names in signatures"], self.titles["Adapters"] = [], []
        contents = [_wrap(f"{_link(title)}{': ' if links else ''}{', '.join(links)}", "- ", "  ") for title, links in self.titles.items()]
        pages = sorted((REPOSITORY / "docs" / "integrations").glob("*.md"))
        closing = CLOSING.format(_wrap(", ".join(f"[{page.stem}](integrations/{page.name})" for page in pages)))
        return "\n\n".join([OPENING.rstrip(), "\n".join(contents), *self.blocks, closing])

    def _describe(self, name: str, member: Any) -> Iterator[str]:
        if member.is_class:
            yield from self._describe_class(name, member)
        elif member.is_function:
            yield _code(self._signature(f"{_prefix(member)} {name}", member.parameters, member.returns))
            yield from self.explain(member, set())
        else:
            yield _code(self._assignment(name, member))
            yield from self.explain(member, set())

    def _describe_class(self, name: str, member: Any) -> Iterator[str]:
        parameters = [] if _is_exception(member) or member.path in HANDED_OUT else _constructor(member)
        bases = [str(base) for base in member.bases]
        head = f"class {name}({', '.join(bases)})" if bases else f"class {name}"
        yield _code(self._signature(name, parameters) if parameters else head)
        yield from self.explain(member, {parameter.name for parameter in parameters})
        values, properties, methods = _members(member)
        if values:
            yield "\n".join(_item(f"{name}.{one.name} = {_quote(one.value)}", one.docstring.value if one.docstring else "") for one in values)
        if properties:
            yield "Properties:"
            yield "\n".join(_item(f"{one.name}: {self._type(one.annotation)}", one.docstring.value if one.docstring else "") for one in properties)
        for method in methods:
            yield f"#### `{self.places[member.path]}.{method.name}`"
            yield _code(self._signature(f"{_prefix(method)} {method.name}", method.parameters, method.returns))
            yield from self.explain(method, {parameter.name for parameter in method.parameters})

    def explain(self, member: Any, shown: set[str]) -> Iterator[str]:
        """Write down a docstring; *shown* are the names whose types the signature has."""
        if member.docstring is None:
            return
        for part in member.docstring.parse("google", warnings=False):
            kind = part.kind.value
            if kind == "text":
                yield from paragraphs(part.value)
            elif kind == "raises":
                yield "Raises:"
                yield "\n".join(_item(str(one.annotation).strip("()"), one.description) for one in part.value)
            elif kind in {"parameters", "attributes"}:
                yield "Arguments:" if kind == "parameters" else "Attributes:"
                typed = kind == "attributes"
                yield "\n".join(_item(self._typed(member, one.name) if typed and one.name not in shown else one.name, one.description) for one in part.value)
            else:
                message = f"{member.path}: nothing says how a section of the kind {kind!r} is written"
                raise ValueError(message)

    def _typed(self, member: Any, name: str) -> str:
        given = {parameter.name: parameter.annotation for parameter in _constructor(member)}
        attribute = member.members.get(name)
        kind = attribute.annotation if attribute is not None and str(attribute.annotation) != "Final" else None
        kind = kind or given.get(name)
        return f"{name}: {self._type(kind)}" if kind else name

    def _signature(self, head: str, parameters: Iterable[Any], returns: Any = None) -> str:
        given = list(self._parameters(parameters))
        tail = "" if returns is None else f" -> {self._type(returns)}"
        line = f"{head}({', '.join(given)}){tail}"
        if len(line) <= CODE:
            return line
        rows = "".join(f"    {one},\n" for one in given)
        return f"{head}(\n{rows}){tail}"

    def _parameters(self, parameters: Iterable[Any]) -> Iterator[str]:
        starred = False
        for one in parameters:
            if one.name in {"self", "cls"}:
                continue
            kind = one.kind.value
            if kind == "keyword-only" and not starred:
                yield "*"
            starred = starred or kind in {"keyword-only", "variadic positional"}
            stars = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
            default = "" if stars or one.default is None else f" = {self._type(one.default)}"
            yield f"{stars}{one.name}: {self._type(one.annotation)}{default}"

    def _assignment(self, name: str, member: Any) -> str:
        """Return an alias or a constant as it is set; of what is made by a call, that with a line for each argument."""
        line = f"{name} = {self._type(member.value)}"
        if len(line) <= CODE or not isinstance(member.value, griffe.ExprCall):
            return line
        rows = "".join(f"    {_quote(one)},\n" for one in member.value.arguments)
        return f"{name} = {member.value.function}(\n{rows})"

    def _type(self, kind: Any) -> str:
        """Return a type as it stands in the source, and remember the names that it holds."""
        if isinstance(kind, griffe.Expr):
            self.mentioned |= {one.canonical_path for one in kind.iterate(flat=True) if isinstance(one, griffe.ExprName)}
        return _quote(kind)

    def strangers(self) -> dict[str, Any]:
        """Return what of the library signatures name and the page does not have, by its path."""
        members = [LIBRARY[path.removeprefix("filerefs.")] for path in sorted(self.mentioned) if path.startswith("filerefs.")]
        found = [member.final_target if member.is_alias else member for member in members]
        return {member.path: member for member in found if member.path not in self.places}

    def _aliases(self) -> str:
        """Write down the aliases that signatures hold, and those that these hold."""
        lines: dict[str, str] = {}
        while missing := [member for path, member in self.strangers().items() if member.is_attribute and path not in lines]:
            for member in missing:
                home = member.path.removeprefix("filerefs.").rpartition(".")[0]
                lines[member.path] = self._assignment(member.name, member) + (f"  # {home}" if "." in home else "")
        return _code("\n".join(sorted(lines.values())))


def _is_defined(member: Any) -> bool:
    return not member.is_alias and not member.name.startswith("_") and (member.is_class or member.is_function)


def _is_exception(member: Any) -> bool:
    return any(str(base).endswith(("Error", "Exception")) for base in member.bases)


def _prefix(member: Any) -> str:
    decorators = "".join(f"@{one.value}\n" for one in member.decorators if str(one.value) in {"classmethod", "staticmethod"})
    return f"{decorators}{'async ' if 'async' in member.labels else ''}def"


def _constructor(member: Any) -> list[Any]:
    """Return what the class is made with; a named tuple has no `__init__` to say so."""
    if not member.is_class:
        return []
    if "NamedTuple" in map(str, member.bases):
        fields = [one for one in member.members.values() if one.is_attribute and "property" not in one.labels]
        kind = griffe.ParameterKind.positional_or_keyword
        return [griffe.Parameter(one.name, annotation=one.annotation, kind=kind, default=one.value) for one in fields]
    return [one for one in member.parameters if one.name != "self"]


def _members(member: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the values of an enumeration, the properties and the methods of a class: its own ones."""
    own = [one for one in member.members.values() if not one.is_alias and (not one.name.startswith("_") or (one.is_function and one.docstring))]
    own = [one for one in own if not one.name.startswith("_") or one.name.endswith("__")]
    properties = [one for one in own if one.is_attribute and "property" in one.labels]
    values = [one for one in own if one.is_attribute and one.value is not None and "StrEnum" in map(str, member.bases)]
    return values, properties, [one for one in own if one.is_function and one.name != "__init__"]


def _tools_of(package: str) -> list[Tool]:
    if package == "agentsmd":
        return tools([Entry(name="AGENTS.md", text="-", inline="-")])
    if package != "retrieval":
        return []
    with Preprocessor(REPOSITORY) as files:
        return file_tools(files)


def _explain_tools(made: Iterable[Tool]) -> Iterator[str]:
    for tool in made:
        yield _item(tool.name, tool.description)
        for name, schema in tool.parameters["properties"].items():
            default = f", {json.dumps(schema['default'])} if left out" if "default" in schema else ""
            required = ", required" if name in tool.parameters["required"] else ""
            yield _wrap(f"`{name}` ({schema['type']}{required}{default}): {schema['description']}".replace("*", r"\*"), "  - ", "    ")


def _quote(code: object) -> str:
    """Return *code* with double quotes, as the project writes them; a type that is a text without any."""
    text = str(code)
    text = text[1:-1] if re.fullmatch(r"'[^']* \| [^']*'", text) else text
    return re.sub(r"'([^'\"]*)'", r'"\1"', text)


def _link(title: str, text: str = "") -> str:
    anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    return f"[{text or title}](#{anchor})"


def _code(text: str) -> str:
    return f"```python\n{text}\n```"


def _item(code: str, text: str) -> str:
    """Return an item of a list: something in code, and what is said of it."""
    first, *others = paragraphs(text) or [""]
    head = _wrap(f"`{code}`{': ' if first else ''}{first}", "- ", "  ")
    return "\n\n".join([head, *(textwrap.indent(_wrap(other, width=PROSE - 2), "  ") for other in others)])


def paragraphs(text: str) -> list[str]:
    """Return a docstring's paragraphs, wrapped anew; what is indented or drawn in it as a block."""
    said = re.sub(r"^\.\. versionadded:: 0\.1$", "", text, flags=re.MULTILINE).strip("\n")
    found: list[str] = []
    for indented, blocks in groupby(re.split(r"\n(?:[ ]*\n)+", said.rstrip()), key=lambda block: block.startswith("    ")):
        texts = list(blocks)
        found += [_code(textwrap.dedent("\n\n".join(texts)))] if indented else [_paragraph(text) for text in texts if text]
    return found


def _paragraph(block: str) -> str:
    if "├──" in block:
        return f"```text\n{block}\n```"
    if block.startswith("- "):
        return "\n".join(_wrap(item, "- ", "  ") for item in re.split(r"^- ", block, flags=re.MULTILINE) if item.strip())
    return _wrap(block)


def _wrap(text: str, first: str = "", rest: str = "", *, width: int = PROSE) -> str:
    """Return *text* in lines, none of which ends within a span of code."""
    kept = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", lambda span: re.sub(r"\s+", "\0", span[0]), text, flags=re.DOTALL)
    joined = " ".join(kept.split())
    filled = textwrap.fill(joined, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    return filled.replace("\0", " ")
