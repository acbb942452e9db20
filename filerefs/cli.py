"""The command line: `filerefs expand`, `filerefs parse`, `filerefs serve` and `filerefs chat`."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn, cast

import filerefs
from filerefs import agents_cli, hook_cli, mcp_cli
from filerefs.errors import FilerefsError
from filerefs.limits import Limits
from filerefs.notices import report
from filerefs.terminal import Screen, await_input, describe_failure, from_bytes, to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    _Run: TypeAlias = Callable[[argparse.Namespace], int]

SENT, REFUSED, MISUSE = 0, 1, 2

_DIGITS = 18

_DESCRIPTION = """\
Turns `@path` in a chat message into file contents in the system prompt:
only files inside one folder, never more than you allow."""

_EXIT_CODES = "exit codes: 0 done; 2 misuse; what else there is, `filerefs COMMAND --help` says"

_EXPAND = """\
Standard output gets the prompt and the message, each behind a line that says how
many bytes of it follow; --only gives one of them and nothing else, --json gives
both with all that is known about them. Warnings and notices go to standard error.

On a terminal, control characters of contents are shown as \\u{hex}; --raw
switches that off. Anything but a terminal gets the exact bytes.

exit codes: 0 printed; a reference that is refused is a warning and no failure; 1 with
--strict: one was refused, and all is printed all the same; 2 misuse, nothing printed"""

_PARSE = """\
Shows each line of the message that holds references, and under each reference
carets and the path (and lines) it stands for before any file is looked at.

exit codes: 0 shown, or there is no reference; 2 misuse"""

_SERVE = """\
Each line of standard input is one JSON object (here in two lines; all but the
message may be left out):
  {"message": "explain @a.py", "prompt": "", "id": 7,
   "options": {"limits": {"file_bytes": 1000}, "code": "load", "lenient": false}}
Each gets one line of ASCII on standard output, in order: what `expand --json`
prints, with the id, or
  {"version": 1, "error": {"code": "...", "message": "..."}, "id": 7}
where the code is too_long (over 16 MiB), not_json, not_an_object, bad_request or
unsupported_version (a request may say "version": 1).
A request may lower a limit; one that asks for more gets what is allowed here.

exit codes: 0 the input ended; 2 misuse, or an output that cannot be written"""

_CHAT = """\
At a terminal: a line to type in, where @ opens a list of files. Anywhere else: one
message per line of standard input, or with --json one object {"message": ...}, for
which comes what `expand --json` prints, with the "answer". Answers and what commands
say go to standard output, warnings and notices to standard error. Without a model
the message is shown as it would be sent. /help in the chat lists the commands.

exit codes: 0 the input ended; 1 an answer could not be had, not at a terminal (what
follows is sent all the same); 2 misuse, or an output that cannot be written"""


class UsageError(FilerefsError):
    """The person at the shell asked for what cannot be done; the text says what."""


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command line and return its exit code; `filerefs --help` lists them.

    Args:
        arguments: What stands behind the program's name; None takes the process's own, and lets the process
            die of a closed pipe or of Ctrl-C as other programs of a shell do.

    Raises:
        SystemExit: With 2 for arguments that cannot be understood, with 0 behind `--help` and `--version`.
    """
    if (words := sys.argv[1:] if arguments is None else arguments)[:1] == ["hook"]:
        return hook_cli.main(words[1:])
    if arguments is None:
        _die_as_programs_do()
    parser = _parser()
    options, more = parser.parse_known_args(arguments)
    if more:
        is_message = hasattr(options, "message") and not any(word.startswith("-") for word in more)
        parser.error("the message is one argument: put it in quotes" if is_message else f"unrecognized arguments: {' '.join(more)}")
    try:
        return int(options.run(options))
    except FilerefsError as error:
        return _fail(str(error))
    except OSError as error:
        _drop_output()
        return _fail(describe_failure(error))


def _die_as_programs_do() -> None:
    """Let a reader that went away (`| head`) and Ctrl-C end the process without a word, with the status that shells know."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # A shell starts background jobs with Ctrl-C ignored; that stays.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _fail(problem: str) -> int:
    # Where standard error is closed as well, the exit code is all that can be said.
    with contextlib.suppress(OSError):
        screen = Screen(sys.stderr)
        screen.show(f"filerefs: error: {problem}\n")
        screen.flush()
    return MISUSE


def _drop_output() -> None:
    # What could not be written is still in the buffer; at exit it would be tried again, and fail aloud.
    with contextlib.suppress(OSError):
        if sys.__stdout__ is not None and sys.stdout is sys.__stdout__:
            sys.__stdout__.close()


def _expand(options: argparse.Namespace) -> int:
    if options.message == options.prompt_file == "-":
        raise UsageError("standard input can be the message or the prompt file, not both")
    turn = filerefs.preprocess(
        _read_message(options),
        _read_prompt(options),
        options.root,
        limits=_limits(options),
        symlinks=options.symlinks,
        allow=options.allow,
        code=options.code,
        lenient=options.lenient,
    )
    _print_turn(turn, options)
    if not options.quiet:
        report(turn, Screen(sys.stderr))
    return REFUSED if options.strict and turn.refused else SENT


def _print_turn(turn: filerefs.Turn, options: argparse.Namespace) -> None:
    screen = Screen(sys.stdout, raw=options.raw)
    if options.json:
        _print_json(screen, turn.as_dict())
    elif options.only:
        screen.show(turn.prompt if options.only == "prompt" else turn.message)
    else:
        for name, text in (("prompt", turn.prompt), ("message", turn.message)):
            screen.write(screen.paint(f"===== {name}, {len(to_bytes(text))} bytes =====", "bold") + "\n")
            screen.show(text)
            screen.write("\n")
    screen.flush()


def _print_json(screen: Screen, value: object) -> None:
    from filerefs.serve import to_json

    screen.write(to_json(value) + "\n")


def _parse(options: argparse.Namespace) -> int:
    from filerefs.carets import underline

    message = _read_message(options)
    references = filerefs.parse(message, code=options.code, lenient=options.lenient)
    screen = Screen(sys.stdout)
    if options.json:
        names = ("token", "start", "end", "path", "lines", "quoted")
        _print_json(screen, [{name: getattr(reference, name) for name in names} for reference in references])
    elif not references and sys.stderr is not None:
        Screen(sys.stderr).show("no reference in this message\n")
    for line in () if options.json else underline(message, references):
        screen.show(line + "\n")
    screen.flush()
    return SENT


def _serve(options: argparse.Namespace) -> int:
    from filerefs.serve import Server

    if sys.stdin is None or sys.stdout is None:
        raise UsageError("`serve` needs a standard input and a standard output")
    limits = _limits(options)

    def make(code: Any, lenient: bool) -> filerefs.Preprocessor:  # noqa: ANN401, FBT001 (whoever calls hands on what a request says)
        return filerefs.Preprocessor(options.root, limits=limits, symlinks=options.symlinks, allow=options.allow, code=code, lenient=lenient)

    with Server(make, limits, code=options.code, lenient=options.lenient) as server:
        await_input("requests, one JSON object in each line")
        server.run(sys.stdin.buffer, sys.stdout.buffer)
    return SENT


def _chat(options: argparse.Namespace) -> int:
    from filerefs import chat

    if sys.stdin is None or sys.stdout is None:
        raise UsageError("`chat` needs a standard input and a standard output")
    if options.base_url is not None and not options.model:
        raise UsageError("--base-url needs -m NAME: what the server calls its model")
    return chat.run(options)


def _limits(options: argparse.Namespace) -> Limits:
    return Limits(file_bytes=options.file_bytes, total_bytes=options.total_bytes, refs=options.refs, directory_entries=options.directory_entries)


def _read_message(options: argparse.Namespace) -> str:
    return from_bytes(_read_input("the message")) if options.message == "-" else str(options.message)


def _read_prompt(options: argparse.Namespace) -> str:
    if options.prompt_file is None:
        return ""
    if options.prompt_file == "-":
        return from_bytes(_read_input("the prompt"))
    try:
        with open(options.prompt_file, "rb") as file:
            return from_bytes(file.read())
    except OSError as error:
        raise UsageError(f"prompt file {options.prompt_file!r}: {error.strerror}") from error


def _read_input(what: str) -> bytes:
    if sys.stdin is None:
        raise UsageError("`-` means standard input, and there is none")
    await_input(what)
    return sys.stdin.buffer.read()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("filerefs", usage="filerefs COMMAND ...", description=_DESCRIPTION, epilog=_EXIT_CODES, **_PLAIN)
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    purpose = "put the files that a message names into the system prompt"
    _add_expand(_command(commands, _expand, "expand", usage="[OPTION]... MESSAGE", purpose=purpose, more=_EXPAND))
    _add_parse(_command(commands, _parse, "parse", usage="[OPTION]... MESSAGE", purpose="show the references of a message", more=_PARSE))
    purpose = "answer requests in JSON Lines, for an agent in any language"
    _add_serve(_command(commands, _serve, "serve", usage="[OPTION]...", purpose=purpose, more=_SERVE))
    agents_cli.add_commands(commands, **_PLAIN)
    hook_cli.add_command(commands, **_PLAIN)
    mcp_cli.add_command(commands, _add_root, _add_reading, **_PLAIN)
    _add_chat(_command(commands, _chat, "chat", usage="[OPTION]...", purpose="talk, with files attached by @path", more=_CHAT))
    return parser


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help that looks the same in every window."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=100)


_PLAIN: dict[str, Any] = {"formatter_class": _Formatter, "allow_abbrev": False}


def _command(commands: Any, run: _Run, name: str, *, usage: str, purpose: str, more: str) -> argparse.ArgumentParser:  # noqa: ANN401 (argparse has no public name for it)
    description = f"{purpose[0].upper()}{purpose[1:]}."
    parser = commands.add_parser(name, prog=f"filerefs {name}", usage=f"filerefs {name} {usage}", help=purpose, description=description, epilog=more, **_PLAIN)
    parser.set_defaults(run=run)
    return cast("argparse.ArgumentParser", parser)


def _add_expand(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", metavar="MESSAGE", help="the message as it was typed; - for standard input")
    parser.add_argument("--prompt-file", metavar="FILE", help="the prompt so far; - for standard input; a section in it is replaced")
    _add_root(parser)
    _add_reading(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--only", choices=("prompt", "message"), help="print this one alone, and nothing around it")
    form.add_argument("--json", action="store_true", help="print one JSON object, in ASCII")
    parser.add_argument("--raw", action="store_true", help="give a terminal the control characters of contents, too")
    parser.add_argument("--quiet", action="store_true", help="no warnings and no notices")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a reference was refused")


def _add_parse(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", metavar="MESSAGE", help="the message as it was typed; - for standard input")
    _add_reading(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON array, in ASCII; positions are in code points")


def _add_serve(parser: argparse.ArgumentParser) -> None:
    _add_root(parser)
    _add_reading(parser)


def _add_chat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", "--model", metavar="NAME", help="what answers: a model of the llm library (default: nothing does)")
    parser.add_argument("--base-url", metavar="URL", help="of a server that speaks the chat-completions protocol; -m says which model")
    parser.add_argument("--key", metavar="KEY", help="for the model, or its name among `llm keys`")
    parser.add_argument("--system", default="", metavar="TEXT", help="the system prompt before the files")
    parser.add_argument("--no-agents", dest="agents", action="store_false", help="do not look for instruction files (AGENTS.md)")
    parser.add_argument("--history", metavar="FILE", help='what was typed; "" for none (default: in the folder for state)')
    parser.add_argument("--json", action="store_true", help="take and give one JSON object per line, in ASCII")
    _add_root(parser)
    _add_reading(parser)


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", default=".", metavar="FOLDER", help="only files in here are read (default: the current folder)")
    parser.add_argument("--symlinks", choices=("refuse", "inside"), default="refuse", help="follow links that stay inside (default: refuse)")
    parser.add_argument("--allow", action="append", default=[], metavar="NAME", help="open this file, though its name is that of a secret; may be repeated")
    for option, default, what in (
        ("--file-bytes", "200K", "cut a larger file"),
        ("--total-bytes", "1M", "refuse what comes after so much"),
        ("--refs", "200", "look at no more references"),
        ("--directory-entries", "1000", "list no more names of a folder"),
    ):
        parser.add_argument(option, type=_amount, default=_amount(default), metavar="N", help=f"{what} (default: {default})")


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--code", choices=("inert", "load"), default="inert", help="what an @ in a code span does (default: inert)")
    parser.add_argument("--no-lenient", dest="lenient", action="store_false", help="read no unquoted blanks, typographic quotes, full-width at-signs")


def _amount(text: str) -> int | None:
    """Read `200`, `64K`, `1M`, `2G` (steps of 1,024) or `none`."""
    if text == "none":
        return None
    digits, unit = (text[:-1], text[-1]) if text[-1:] in ("K", "M", "G") else (text, " ")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > _DIGITS:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number (K, M or G may follow) nor none")
    return int(digits) << 10 * " KMG".index(unit)


class _Version(argparse.Action):
    """Prints the version, which is looked up only when somebody asks."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print it and leave."""
        screen = Screen(sys.stdout)
        screen.write(f"filerefs {filerefs.__version__}\n")
        screen.flush()
        parser.exit(SENT)
