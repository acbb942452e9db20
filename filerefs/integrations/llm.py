"""
llm: a plugin of the command-line program and library of this name, found by its entry point.

    llm at 'explain @src/app.py'                    # mentions in the message
    llm -f ref:src/app.py:10-40 'explain'           # a file as a fragment
    llm --sf agentsmd:. 'what are the rules here?'  # instruction files in the system prompt
    llm -T Project 'where is the parser?'           # tools that read and list
    llm -t filerefs:. 'where is the parser?'        # both of these

Every start of `llm` imports this module, whatever it is asked: what does the work is imported when it is needed.
`llm tools list` shows the annotations as they are, so they are not made texts here.
"""

from types import MethodType
from typing import TYPE_CHECKING

try:
    import llm
    from llm import Toolbox  # older ones have none
except ImportError as error:
    from filerefs.integrations.extras import lacking

    raise lacking(__name__, "llm", error) from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import click

    from filerefs.retrieval import Tool

__all__ = ["Project", "load_instructions", "load_ref", "load_template"]


@llm.hookimpl
def register_fragment_loaders(register: "Callable[..., None]") -> None:
    """Register `ref:` and `agentsmd:`."""
    register("ref", load_ref)
    register("agentsmd", load_instructions)


@llm.hookimpl
def register_template_loaders(register: "Callable[..., None]") -> None:
    """Register `filerefs:`."""
    register("filerefs", load_template)


@llm.hookimpl
def register_tools(register: "Callable[..., None]") -> None:
    """Register the toolbox `Project`."""
    register(Project)


@llm.hookimpl
def register_commands(cli: "click.Group") -> None:
    """Register `llm at`."""
    from filerefs.integrations import llm_at

    llm_at.add_command(cli)


# `llm fragments loaders` and `llm templates loaders` show these docstrings: what raises is in `llm_files`.


def load_ref(argument: str) -> list[llm.Fragment | llm.Attachment]:
    """
    Load what is below the working directory: a file (`ref:src/app.py`), lines of it (`ref:src/app.py:10-40`), the list of a folder (`ref:docs/`).

    Several are parted by commas. Images and PDFs become attachments.
    """
    from filerefs.integrations import llm_files

    return llm_files.load_ref(argument)


def load_instructions(argument: str) -> llm.Fragment:
    """Load the instruction files (AGENTS.md) that hold for a path: `agentsmd:.`, `agentsmd:src/`."""
    from filerefs.integrations import llm_files

    return llm_files.load_instructions(argument)


def load_template(argument: str) -> llm.Template:
    """Prepare work in a folder, `filerefs:.`: its instruction files in the system prompt, and the tools of `Project`."""
    from filerefs.integrations import llm_files

    return llm_files.load_template(argument)


class Project(Toolbox):  # type: ignore[no-untyped-call]  # llm's own __init_subclass__ has no types
    """
    Tools that read and list what is in one folder, and nothing else.

    The folder is the working directory, or the one that is given: -T 'Project("docs")'.
    """

    def __init__(self, root: str = ".") -> None:
        self._root = root
        self._library: dict[str, Tool] = {}

    def read_ref(self, ref: str) -> str:
        """Read a file, lines of it (src/app.py:10-40), or the list of a folder."""
        return self._find("read_ref").run({"ref": ref})

    def list_files(self, folder: str = ".", pattern: str = "", limit: int = 200) -> str:
        """List names below a folder, by a glob or a part of a name."""
        return self._find("list_files").run({"folder": folder, "pattern": pattern, "limit": limit})

    def project_list(self) -> str:
        """List the instruction files (AGENTS.md)."""
        return self._find("project_list").run()

    def project_get(self, name: str) -> str:
        """Read an instruction file."""
        return self._find("project_get").run({"name": name})

    def tools(self) -> "Iterator[llm.Tool]":
        """Yield what a model gets: the methods, with the schemas and descriptions that the tools have everywhere."""
        self._find("read_ref")
        for name, tool in self._library.items():
            yield llm.Tool(
                name=f"{type(self).__name__}_{name}",
                description=tool.description,
                input_schema=dict(tool.parameters),
                implementation=self._implementation(name),
                plugin=getattr(self, "plugin", None),
            )
        yield from self._extra_tools

    def _implementation(self, name: str) -> "Callable[..., str]":
        """Return what answers a model, whatever arguments it gives: a method, by which llm knows whose tool it is."""

        def call(project: Project, /, **arguments: object) -> str:
            return project._find(name).run(arguments)

        return MethodType(call, self)

    def _find(self, name: str) -> "Tool":
        if not self._library:
            from filerefs.integrations import llm_files

            self._library = llm_files.make_tools(self._root)
        return self._library[name]
