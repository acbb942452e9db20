"""`filerefs agents` and `filerefs migrate`: what an agent is told by instruction files, and why; and a way to have them."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from filerefs.terminal import Screen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from filerefs.agents_report import Line
    from filerefs.agentsmd.profiles import Profile

DONE, FAILED = 0, 1

# None is a budget: no limit.
_UNSET = -1
_DIGITS = 18

_STYLES = ("project_context", "instructions", "headings", "system_reminder")
_PROFILES = ("default", "chain", "projectctx", "codex", "eino")

_AGENTS = """\
Answers "why does my agent not see my AGENTS.md?": which files hold for PATH, in the order in
which they are read, how large they are and what they import; which files exist and are left
out, and by which rule; what could not be read; where files were looked for.

PATH is a folder, a file, or a file that is yet to be made (default: the current folder)."""

_MIGRATE = """\
Shows what would be written: the text of CLAUDE.md (else of .claude/CLAUDE.md) goes to AGENTS.md
in the project's root, if that is missing or blank. The file is left where it is, no link is
followed, and nothing is written without --write.

exit codes: 0 done, or nothing to do; 1 a file could not be written; 2 misuse"""


def add_commands(commands: Any, **plain: Any) -> None:  # noqa: ANN401 (argparse has no public name for it, and takes what it takes)
    """
    Add both commands to what `ArgumentParser.add_subparsers` returned.

    Args:
        commands: The sub-parsers.
        plain: What every parser of the program is made with.
    """
    parser = commands.add_parser(
        "agents",
        prog="filerefs agents",
        usage="filerefs agents [OPTION]... [PATH]",
        help="show which instruction files hold for a path, and why",
        description="Show which instruction files hold for a path, and why.",
        epilog=_AGENTS,
        **plain,
    )
    _add_agents(parser)
    parser.set_defaults(run=run_agents)
    parser = commands.add_parser(
        "migrate",
        prog="filerefs migrate",
        usage="filerefs migrate [OPTION]... [PATH]",
        help="make an AGENTS.md of a CLAUDE.md",
        description="Make an AGENTS.md of a CLAUDE.md.",
        epilog=_MIGRATE,
        **plain,
    )
    _add_migrate(parser)
    parser.set_defaults(run=run_migrate)


def run_agents(options: argparse.Namespace) -> int:
    """
    Run `filerefs agents` and return its exit code.

    Raises:
        FilerefsError: For misuse.
        OSError: If the output cannot be written.
    """
    from filerefs import agents_report, agentsmd, upward

    profile = _profile(options)
    found = agentsmd.discover(options.path, profile=profile, root=options.root, user_files=options.user_file, extra=options.extra)
    if options.imports if options.imports is not None else profile.imports:
        found = agentsmd.expand_imports(found, depth=options.depth)
    screen = Screen(sys.stdout, raw=options.raw)
    if options.json:
        _write_json(screen, agents_report.as_dict(found))
    elif options.render:
        _show_text(screen, agentsmd.render(found, style=options.render, language=options.language))
    elif options.catalog:
        size = agentsmd.inline_bytes_for(options.context_window)
        _show_text(screen, agentsmd.catalog(found, inline_bytes=size, language=options.language))
    else:
        ascent = upward.find_up(options.path, profile.markers, root=options.root)
        _show_lines(screen, agents_report.describe(found, ascent, profile, options.path))
    screen.flush()
    return DONE


def run_migrate(options: argparse.Namespace) -> int:
    """
    Run `filerefs migrate` and return its exit code.

    Raises:
        FilerefsError: For misuse.
        OSError: If the output cannot be written.
    """
    from filerefs import agents_report
    from filerefs.agentsmd import migration

    plan = migration.plan_migration(options.path, user=options.user, agent=options.agent)
    screen = Screen(sys.stdout)
    _show_lines(screen, agents_report.describe_plan(plan, write=options.write))
    written = migration.write_migration(plan) if options.write else []
    for one in written:
        screen.show(f"could not write {one.step.target}: {one.problem}\n" if one.problem else f"wrote {one.step.target}\n")
    screen.flush()
    return FAILED if any(one.problem for one in written) else DONE


def _profile(options: argparse.Namespace) -> Profile:
    from filerefs.agentsmd.profiles import PROFILES

    profile = PROFILES[options.profile]
    return profile if options.budget is _UNSET else replace(profile, budget=options.budget)


def _show_lines(screen: Screen, lines: Iterable[Line]) -> None:
    for text, title in lines:
        if title:
            screen.write(screen.paint(text, "bold") + "\n")
        else:
            screen.show(text + "\n")


def _show_text(screen: Screen, text: str) -> None:
    screen.show(text + "\n" if text else "")


def _write_json(screen: Screen, value: object) -> None:
    from filerefs.serve import to_json

    screen.write(to_json(value) + "\n")


def _add_agents(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", nargs="?", default=".", help="what the agent works on")
    parser.add_argument("--root", metavar="FOLDER", help="where to begin (default: the nearest folder above with .git)")
    parser.add_argument("--profile", choices=_PROFILES, default="default", help="whose rules to go by (default: our own)")
    parser.add_argument("--user-file", action="append", default=[], metavar="FILE", help="a file that holds for all projects; may be repeated")
    parser.add_argument("--extra", action="append", default=[], metavar="FILE", help="another file to read; may be repeated")
    parser.add_argument("--budget", type=_amount, default=_UNSET, metavar="N", help="bytes of all files together; K or M may follow; none")
    parser.add_argument("--imports", action=argparse.BooleanOptionalAction, help="follow the @path in them (default: as the profile does)")
    parser.add_argument("--depth", type=int, default=5, metavar="N", help="how deep (default: 5)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--render", choices=_STYLES, metavar="STYLE", help=f"print the text for the prompt: {', '.join(_STYLES)}")
    form.add_argument("--catalog", action="store_true", help="print their openings for the prompt")
    form.add_argument("--json", action="store_true", help="print one JSON object, in ASCII")
    parser.add_argument("--language", choices=("en", "zh"), default="en", help="of the words around the files (default: en)")
    parser.add_argument("--context-window", type=int, metavar="N", help="tokens of the model, for --catalog")
    parser.add_argument("--raw", action="store_true", help="give a terminal the control characters of contents, too")


def _add_migrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", nargs="?", default=".", help="a folder of the project (default: the current one)")
    parser.add_argument("--write", action="store_true", help="do it; without it nothing is written")
    parser.add_argument("--agent", metavar="NAME", help="what to call Claude and Claude Code in the new text (default: their names stay)")
    parser.add_argument("--user", nargs=2, metavar=("FROM", "TO"), help="folders for what holds in all projects: with a CLAUDE.md, and for the AGENTS.md")


def _amount(text: str) -> int | None:
    """Read `200`, `64K`, `1M` (steps of 1,024) or `none`."""
    if text == "none":
        return None
    digits, unit = (text[:-1], text[-1]) if text[-1:] in ("K", "M") else (text, " ")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > _DIGITS:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number (K or M may follow) nor none")
    factor: int = 1024 ** " KM".index(unit)
    return int(digits) * factor
