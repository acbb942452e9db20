"""`filerefs mcp`: a server of the Model Context Protocol over standard input and output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from filerefs.errors import FilerefsError, RootError
from filerefs.limits import Limits
from filerefs.notices import report
from filerefs.terminal import Screen, await_input

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from filerefs.turn import Preprocessor, Turn

_MCP = """\
Gives the tools read_ref, list_files, project_list and project_get, the resources
project://PATH and the prompt with_files to whatever speaks MCP, until that closes standard
input. Nothing is written, and nothing outside of the folder is read.

Without --root the folder is the first of the client's roots, if it says what they are,
else the current folder. Configuration of a client:
  {"mcpServers": {"filerefs": {"command": "filerefs", "args": ["mcp", "--root", "FOLDER"]}}}
A client finds no program of a virtual environment: there the command is the whole path,
which `command -v filerefs` prints.

Standard output is the protocol's; warnings go to standard error.

exit codes: 0 the client went away; 2 misuse, or the extra filerefs[mcp] is missing"""


class MissingExtraError(FilerefsError):
    """The library of an extra is not installed; the text says how to install it."""


def add_command(commands: Any, *add_options: Callable[[argparse.ArgumentParser], None], **plain: Any) -> None:  # noqa: ANN401 (argparse has no public name for it, and takes what it takes)
    """
    Add the command to what `ArgumentParser.add_subparsers` returned.

    Args:
        commands: The sub-parsers.
        add_options: Each adds some of the options that other commands have, too.
        plain: What every parser of the program is made with.
    """
    parser = commands.add_parser(
        "mcp",
        prog="filerefs mcp",
        usage="filerefs mcp [OPTION]...",
        help="serve a folder to agents and editors that speak MCP",
        description="Serve a folder to agents and editors that speak MCP.",
        epilog=_MCP,
        **plain,
    )
    for add in add_options:
        add(parser)
    # None: nobody said so, and the client may.
    parser.set_defaults(run=run_mcp, root=None)


def run_mcp(options: argparse.Namespace) -> int:
    """
    Run `filerefs mcp` until the client closes standard input, and return its exit code.

    Raises:
        FilerefsError: For misuse, and where the extra is missing.
        OSError: If the output cannot be written.
    """
    import asyncio

    try:
        from filerefs.integrations.mcp import build_server, serve
    except ImportError as error:
        raise MissingExtraError(str(error)) from error
    own = _open(options, options.root or ".")
    server = build_server(own, on_turn=_tell, roots=None if options.root else lambda path: _open_root(options, path))
    await_input("a client that speaks MCP, which runs this command itself", "Ctrl-D ends it")
    asyncio.run(serve(server))
    return 0


def _open(options: argparse.Namespace, root: str) -> Preprocessor:
    from filerefs.turn import Preprocessor

    limits = Limits(file_bytes=options.file_bytes, total_bytes=options.total_bytes, refs=options.refs, directory_entries=options.directory_entries)
    return Preprocessor(root, limits=limits, symlinks=options.symlinks, allow=options.allow, code=options.code, lenient=options.lenient)


def _open_root(options: argparse.Namespace, path: str) -> Preprocessor:
    screen = Screen(sys.stderr)
    try:
        files = _open(options, path)
    except RootError as error:
        screen.show(f"filerefs: a root of the client is passed over: {error}\n")
        screen.flush()
        raise
    screen.show(f"filerefs: serving {path}, a root of the client\n")
    screen.flush()
    return files


def _tell(turn: Turn) -> None:
    report(turn, Screen(sys.stderr))
