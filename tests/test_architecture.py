"""The house of the design, held by reading the source: who may import whom, who may touch the disk, how long things get."""

from __future__ import annotations

import ast
import inspect
import statistics
import subprocess
import sys
import types
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import filerefs

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(filerefs.__file__).parent

# Arrows point to the same line or upwards, never down.  A module that stands nowhere fails its test: think first
# about where it belongs.  A name ending in a dot stands for a whole folder.
TIERS = (
    ("errors", "reasons", "markers", "fences", "patterns", "mentions", "regions", "readings", "lenient"),
    (
        *("limits", "calls", "troubles", "openat2", "descent", "upward", "nodes", "root", "rootlike", "roots."),
        *("outcomes", "guessing", "decoding", "naming", "kinds"),
    ),
    ("hints", "advice", "stamps", "gitignore", "walk", "contents", "memory", "resolving", "grouping", "prefetching", "loading", "section", "rewriting"),
    (
        *("phases", "turn", "parts", "messages", "fetching", "listings", "retrieval"),
        *("halftyped", "ranking", "gitfiles", "catalogue", "completion", "preview", "agentsmd."),
    ),
    ("__init__",),
    (
        *("integrations.", "cli", "agents_cli", "agents_report", "mcp_cli", "serve", "carets", "terminal", "notices", "chat."),
        *("hook_cli", "hooks.", "__main__"),
    ),
)
PURE = (
    *("errors", "reasons", "markers", "fences", "patterns", "mentions", "regions", "readings", "lenient"),
    *("limits", "outcomes", "guessing", "decoding", "naming", "kinds", "hints", "advice", "section", "rewriting", "parts", "halftyped", "ranking"),
)
IMPURE_IMPORTS = {"glob", "io", "os", "pathlib", "shutil", "subprocess", "tempfile"}
DISK = ("root", "nodes", "openat2", "descent", "upward")
OS_CALLS = {"access", "chdir", "fwalk", "listdir", "lstat", "open", "readlink", "scandir", "stat", "walk"}
PATH_CALLS = {
    *("exists", "glob", "hardlink_to", "is_dir", "is_file", "is_symlink", "iterdir", "lstat", "mkdir", "open", "owner", "read_bytes", "read_text"),
    *("readlink", "rename", "replace", "resolve", "rglob", "samefile", "stat", "symlink_to", "touch", "unlink", "walk", "write_bytes", "write_text"),
}
MAY_ALSO_CALL = {
    # What a person names at the shell is no name out of a message: the file of --prompt-file.
    "cli": {"open"},
    # Makes the file of what was typed, which the person names or the system has a place for.
    "chat.keyboard": {"file.parent.mkdir", "file.touch"},
    # Edits the settings of a program whose hooks the person at the shell wants answered.
    "hooks.settings_files": {"open", "os.mkdir", "os.open", "os.replace", "os.unlink"},
    # Writes one new file into a folder that the host program names.
    "agentsmd.migration_files": {f"os.{name}" for name in (*OS_CALLS, *PATH_CALLS)},
}
# What adapters are made of: what `import filerefs` gives everybody, and the modules beside it that are for everybody, too.
PUBLIC = {"__init__", "agentsmd", "completion", "messages", "retrieval", "roots"}
ADAPTERS_ALSO_USE = {
    # How a name or a size is written for people: one way everywhere, and safe to show.
    *("filerefs.naming.human_size", "filerefs.naming.label", "filerefs.naming.printable"),
    # Host code makes it for the widgets, which hand it on under the same name.
    "filerefs.preview.Preview",
    # The type of an option that `Preprocessor` has, too.
    "filerefs.mentions.CodePolicy",
}
CORE_LIBRARIES = {"charset_normalizer", "pathspec", "regex"}
SLOW_TO_LOAD = {"argparse", "asyncio", "ctypes", "importlib.metadata", "subprocess", "typing_extensions"}


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name below the package, its tree, and what it imports at run time."""

    name: str
    tree: ast.Module
    length: int
    imports: frozenset[str] = field(default=frozenset())

    @property
    def ours(self) -> set[str]:
        """Names below the package of the modules of ours that it imports."""
        dotted = {name for name in self.imports if name.partition(".")[0] == "filerefs"}
        return {_module_named(name) for name in dotted} - {self.name}

    @property
    def others(self) -> set[str]:
        """Top-level names of everything else that it imports."""
        return {name.partition(".")[0] for name in self.imports} - {"filerefs", "__future__"}


def _names() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        found[name] = path
    return found


def _module_named(dotted: str) -> str:
    """Return which module `filerefs.a.b` means: `from filerefs.a import b` takes a module or a name in one."""
    parts = dotted.split(".")[1:]
    while parts and ".".join(parts) not in NAMES:
        parts.pop()
    return ".".join(parts) or "__init__"


def _imports(node: ast.AST, package: str) -> Iterator[str]:
    """Yield what is imported below *node*, lazily or not, but for what only a type checker sees."""
    if isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
        for child in node.orelse:
            yield from _imports(child, package)
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parts = package.split(".")
        base = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
        origin = ".".join(part for part in (base, node.module) if part)
        yield from (f"{origin}.{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, package)


def _imported_by(node: ast.AST) -> Iterator[str]:
    """Yield what one statement imports, if it is an import; adapters have no relative ones."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _read(name: str, path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    package = ".".join(("filerefs", *path.relative_to(PACKAGE).parts[:-1]))
    return Module(name, tree, text.count("\n"), frozenset(_imports(tree, package)))


NAMES = _names()
MODULES = [_read(name, path) for name, path in NAMES.items()]
EACH_MODULE = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)


def _tier(name: str) -> int | None:
    for number, tier in enumerate(TIERS):
        if name in tier or f"{name.partition('.')[0]}." in tier:
            return number
    return None


def _calls(module: Module) -> Iterator[tuple[str, int]]:
    """Yield what touches the disk, as it is written, with its line."""
    has_paths = "pathlib" in module.others
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        owner, _, last = called.rpartition(".")
        by_os = owner in {"os", "os.path"} and (last in OS_CALLS or last in PATH_CALLS)
        by_path = has_paths and owner and last in PATH_CALLS
        if called in {"open", "io.open", "io.FileIO", "codecs.open"} or by_os or by_path:
            yield called, node.lineno


def _functions(module: Module) -> Iterator[tuple[str, int]]:
    """Yield each function with its lines, the docstring not counted."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documentation = node.body[0] if ast.get_docstring(node, clean=False) is not None else None
            extra = documentation.end_lineno - documentation.lineno + 1 if documentation else 0  # type: ignore[operator]
            yield f"{module.name}.{node.name}", node.end_lineno - node.lineno + 1 - extra  # type: ignore[operator]


def _run(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded behind *code*."""
    finished = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return set(finished.stdout.split())


@EACH_MODULE
def test_every_module_stands_in_a_tier(module: Module) -> None:
    """A new module is put into the table before it is used."""
    assert _tier(module.name) is not None, f"{module.name} stands in no tier of {__name__}.TIERS"


@EACH_MODULE
def test_arrows_point_down(module: Module) -> None:
    """A module imports from its own tier and from lower ones only; what only a type checker sees is free."""
    mine = _tier(module.name)

    too_high = {other for other in module.ours if (_tier(other) or 0) > (mine or 0)}

    assert set() == too_high


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Run-time imports form no circle, lazy ones included."""
    graph = {module.name: module.ours for module in MODULES}

    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("module", [module for module in MODULES if module.name in PURE], ids=lambda module: module.name)
def test_pure_modules_have_no_way_to_the_disk(module: Module) -> None:
    """A pure module never imports what reaches files or other programs."""
    assert set() == module.others & IMPURE_IMPORTS


@pytest.mark.parametrize("module", [module for module in MODULES if module.name not in DISK], ids=lambda module: module.name)
def test_only_root_touches_the_disk(module: Module) -> None:
    """Nothing but `root` opens, stats or lists; the command line opens the one file that its user names."""
    allowed = MAY_ALSO_CALL.get(module.name, set())

    assert [] == [call for call in _calls(module) if call[0] not in allowed]


@pytest.mark.parametrize("module", [module for module in MODULES if (_tier(module.name) or 0) < len(TIERS) - 1], ids=lambda module: module.name)
def test_the_core_needs_three_libraries(module: Module) -> None:
    """Below the integrations only the standard library and the three run-time dependencies are imported."""
    assert set() == module.others - set(sys.stdlib_module_names) - CORE_LIBRARIES


@pytest.mark.parametrize("module", [module for module in MODULES if module.name.startswith("integrations.")], ids=lambda module: module.name)
def test_adapters_use_what_everybody_has(module: Module) -> None:
    """An adapter imports public names and other adapters, also where only a type checker sees it: what it needs else has to be published."""
    imports = {name for node in ast.walk(module.tree) for name in _imported_by(node) if name.partition(".")[0] == "filerefs"}

    private = {name for name in imports - ADAPTERS_ALSO_USE if _module_named(name) not in PUBLIC and not name.startswith("filerefs.integrations.")}

    assert set() == private


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import filerefs", id="the package"),
        pytest.param("from filerefs import preprocess", id="the main name"),
        pytest.param("from filerefs import Preprocessor, Limits, parse, format_ref", id="more names"),
        pytest.param("from filerefs import preprocess; preprocess('no mention here')", id="a turn without a mention"),
    ],
)
def test_import_is_light(code: str) -> None:
    """Importing filerefs loads no library, no framework, and nothing of the standard library that is slow."""
    ours = _run(code) - _run("")

    foreign = {name for name in ours if name.partition(".")[0] not in {*sys.stdlib_module_names, "filerefs"}}

    assert set() == foreign
    assert set() == ours & SLOW_TO_LOAD


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("from filerefs import preprocess", id="the main name"),
        pytest.param("from filerefs import preprocess; preprocess('no mention here', 'a prompt')", id="a turn without a mention"),
    ],
)
def test_a_turn_without_a_mention_costs_next_to_nothing(code: str) -> None:
    """Not even what `typing` and `dataclasses` need is loaded before there is an at-sign."""
    ours = _run(code) - _run("")

    assert set() == ours & {"typing", "dataclasses", "inspect", "re", "hashlib"}
    assert {"filerefs.turn", "filerefs.root"} <= ours


def test_importing_star_is_what_it_says() -> None:
    """`__all__` is sorted, without doubles, and everything in it exists."""
    names = list(filerefs.__all__)

    assert sorted(set(names)) == names
    assert [] == [name for name in names if not hasattr(filerefs, name)]


def test_dir_lists_all_public_names() -> None:
    """Completion in a shell finds the names that are loaded lazily."""
    assert set(filerefs.__all__) <= set(dir(filerefs))


@pytest.mark.parametrize("name", filerefs.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    """Each public class and function says in a sentence of its own what one gets."""
    value = getattr(filerefs, name)
    if not isinstance(value, type | types.FunctionType | types.ModuleType):
        pytest.skip("a value or an alias, documented where it is defined")

    documentation = inspect.cleandoc(value.__doc__ or "")

    assert documentation.partition("\n")[0].endswith((".", ":"))


@EACH_MODULE
def test_modules_are_short(module: Module) -> None:
    """A module has at most 350 lines: what is longer is two modules."""
    assert module.length <= 350


@EACH_MODULE
def test_functions_are_short(module: Module) -> None:
    """A function has at most 60 lines, its docstring not counted."""
    assert {} == {name: lines for name, lines in _functions(module) if lines > 60}


def test_most_functions_are_very_short() -> None:
    """Half of all functions have at most 8 lines, nine in ten at most 30."""
    lengths = [lines for module in MODULES for _, lines in _functions(module)]

    assert statistics.median(lengths) <= 8
    assert statistics.quantiles(lengths, n=10)[-1] <= 30


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.rglob("test_*.py")), ids=lambda path: path.stem)
def test_every_test_states_a_behaviour(path: Path) -> None:
    """A test without a docstring says what it does, not what holds."""
    functions = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)]

    assert [] == [node.name for node in functions if node.name.startswith("test_") and not ast.get_docstring(node)]
