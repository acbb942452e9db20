"""`filerefs hook install`: has the hooks called by a host, by an entry in its settings; and takes it out again."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import os
import shlex
import shutil
import sys
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from filerefs.errors import FilerefsError
from filerefs.hooks.hosts import HOSTS
from filerefs.hooks.json_text import JSONText, JSONTextError
from filerefs.hooks.settings_files import BACKUP, Place, SettingsError, read, read_beside, write
from filerefs.hooks.words import read_words
from filerefs.terminal import Screen, describe_failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from filerefs.hooks.hosts import Host

DONE, MISUSE = 0, 2

PROGRAM = "filerefs"

_DESCRIPTION = """\
Adds an entry for each event to the host's settings, so that it calls `filerefs hook`. All
else in the file stays as it is, byte for byte; what it was before is kept beside it. Doing
it twice is doing it once. --uninstall takes out exactly these entries."""


class Change(NamedTuple):
    """What becomes of a settings file: its text before and after; None for no file."""

    before: str | None
    after: str | None


def main(arguments: Sequence[str]) -> int:
    """
    Run `filerefs hook install` with what stands behind it, and return its exit code: 2 where nothing could be written.

    Raises:
        SystemExit: With 2 for arguments that cannot be understood, with 0 behind `--help`.
    """
    options = _parser().parse_args(arguments)
    screen = Screen(sys.stdout)
    try:
        for line in _run(options):
            screen.show(line + "\n")
        screen.flush()
    except FilerefsError as error:
        return _fail(str(error))
    except OSError as error:
        # Settings that were written are; only the words about them did not get out, and must not be tried again at exit.
        with contextlib.suppress(OSError):
            if sys.__stdout__ is not None and sys.stdout is sys.__stdout__:
                sys.__stdout__.close()
        return _fail(describe_failure(error, "standard output"))
    return DONE


def _fail(problem: str) -> int:
    # Where standard error is closed as well, the exit code is all that can be said.
    with contextlib.suppress(OSError):
        errors = Screen(sys.stderr)
        errors.show(f"filerefs: error: {problem}\n")
        errors.flush()
    return MISUSE


def merge(host: Host, text: str | None, command: str) -> Change:
    """
    Return what the settings of *host* become so that each of its events calls *command*, once.

    Raises:
        SettingsError: If *text* is not what settings of this host look like.
    """
    document = _parse(host, host.settings.empty if text is None else text)
    if document.root.at("hooks") is None:
        document.append((), {}, "hooks")
    for event in (host.prompt_event, host.start_event):
        ours = list(_ours(host, document, event, command))
        if not ours:
            if document.root.at("hooks", event) is None:
                document.append(("hooks",), [], event)
            document.append(("hooks", event), _entry(host, command))
            continue
        if cast("Any", document.root.at(*ours[0], "command")).value != command:
            document.replace((*ours[0], "command"), command)
        if ours[1:]:
            _take_out(document, event, ours[1:])
    after = document.text
    return Change(text, after if text and text.strip() else f"{after}\n")


def unmerge(host: Host, text: str | None, command: str) -> Change:
    """
    Return what the settings of *host* become without our entries, and without what they alone filled.

    Raises:
        SettingsError: If *text* is not what settings of this host look like.
    """
    if text is None:
        return Change(None, None)
    document = _parse(host, text)
    removed = False
    for event in (host.prompt_event, host.start_event):
        if ours := list(_ours(host, document, event, command)):
            _take_out(document, event, ours)
            removed = True
    if removed and document.root.value == JSONText(host.settings.empty).root.value:
        return Change(text, None)
    return Change(text, document.text)


def _parse(host: Host, text: str) -> JSONText:
    settings = host.settings
    try:
        document = JSONText(text if text.strip() else settings.empty, comments=settings.comments)
    except JSONTextError as error:
        comments = "" if settings.comments or not ("//" in text or "/*" in text) else f"; {host.title} reads no comments in it either"
        raise SettingsError(f"{settings.file} is no valid JSON, so it is left as it is: {error}{comments}") from error
    if not isinstance(document.root.value, dict):
        raise SettingsError(f"{settings.file} holds no JSON object, so it is left as it is")
    hooks = document.root.value.get("hooks", {})
    if not isinstance(hooks, dict):
        raise SettingsError(f"`hooks` in {settings.file} is no object, so it is left as it is")
    for event in (host.prompt_event, host.start_event):
        if not isinstance(cast("dict[str, Any]", hooks).get(event, []), list):
            raise SettingsError(f"`hooks.{event}` in {settings.file} is no array, so it is left as it is")
    return document


def _entry(host: Host, command: str) -> dict[str, Any]:
    settings = host.settings
    name = {"name": PROGRAM} if settings.named else {}
    timeout = {} if settings.timeout is None else {"timeout": settings.timeout}
    if not settings.groups:
        return {"command": command}
    return {"hooks": [name | {"type": "command", "command": command} | timeout]}


def _ours(host: Host, document: JSONText, event: str, command: str) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of the handlers that call `filerefs hook` for *host*, whatever their options."""
    entries = document.root.at("hooks", event)
    for number, entry in enumerate(entries.value if entries else ()):
        path = ("hooks", event, number)
        if not isinstance(entry, dict):
            continue
        handlers: Any = entry.get("hooks") if host.settings.groups else [entry]
        for index, handler in enumerate(handlers if isinstance(handlers, list) else ()):
            if isinstance(handler, dict) and _calls_us(handler.get("command"), host, command):
                yield (*path, "hooks", index) if host.settings.groups else path


def _calls_us(command: object, host: Host, wanted: str) -> bool:
    """Tell whether *command* is one that this program writes: its name, or how it is run otherwise, then `hook HOST` and options."""
    if not isinstance(command, str):
        return False
    words, programs = _split(command), (_split(wanted), [PROGRAM])
    try:
        place = words.index("hook")
    except ValueError:
        return False
    program, rest = words[:place], words[place + 1 :]
    if rest[:1] != [host.name] or read_words(rest[1:])[1]:
        return False
    known = [one[: one.index("hook")] if "hook" in one else one for one in programs]
    return program in known or (len(program) == 1 and os.path.basename(program[0]) == PROGRAM)  # noqa: PTH119 (text)


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _take_out(document: JSONText, event: str, paths: Iterable[tuple[str | int, ...]]) -> None:
    """Remove the handlers at *paths*, all of *event*, and upwards their groups, the event and the table where nothing else is in it."""
    entries: dict[int, list[int]] = {}
    for _, _, number, *rest in paths:
        entries.setdefault(cast("int", number), []).extend(cast("list[int]", rest[1:]))
    array = cast("Any", document.root.at("hooks", event))
    gone = {number for number, handlers in entries.items() if _is_nothing_without(array.value[number], handlers)}
    if gone and len(gone) == len(array.children):
        others = len(cast("Any", document.root.at("hooks")).children) > 1
        document.remove(("hooks", event) if others else ("hooks",))
        return
    parts = [(("hooks", event, number, "hooks"), handlers) for number, handlers in entries.items() if number not in gone]
    document.remove_all([*parts, (("hooks", event), gone)])


def _is_nothing_without(entry: dict[str, Any], handlers: list[int]) -> bool:
    """Tell whether nothing is left of *entry* without these of its handlers; it is one itself where there are none."""
    # A group that is for some events only says which; without handlers that is nothing.
    return not handlers or (len(handlers) == len(entry["hooks"]) and not set(entry) - {"hooks", "matcher"})


def _run(options: argparse.Namespace) -> Iterator[str]:
    host = HOSTS[options.host]
    program, advice = _program(options)
    command = _command(options, host, program)
    place = _place(options, host)
    note = "" if options.uninstall else _check_rival(host, place, command)
    snapshot = read(place)
    change = (unmerge if options.uninstall else merge)(host, snapshot.text, command)
    if change.before == change.after:
        yield f"nothing to do: {place.path} {'has no entry' if options.uninstall else 'has the entries'} of {PROGRAM}"
        return
    if options.dry_run:
        yield from _difference(place, change)
        return
    write(place, change.after, snapshot)
    kept = f"; what it was before is in {place.name}{BACKUP}" if change.before is not None else ""
    yield f"{'removed from' if options.uninstall else 'added to'} {place.path}{kept}" if change.after is not None else f"removed {place.path}{kept}"
    if not options.uninstall:
        yield from filter(None, (host.settings.afterwards, note, advice))


def _difference(place: Place, change: Change) -> Iterator[str]:
    before, after = ((text or "").splitlines() for text in change)
    yield from difflib.unified_diff(
        before,
        after,
        "/dev/null" if change.before is None else place.path,
        "/dev/null" if change.after is None else place.path,
        lineterm="",
    )


def _program(options: argparse.Namespace) -> tuple[str, str]:
    """Return how the host runs this program, and what is worth knowing of that, "" for nothing."""
    if options.command is not None:
        return options.command, ""
    own = _own_command()
    if own == PROGRAM:
        is_found = shutil.which(PROGRAM) is not None
        return PROGRAM, "" if is_found else f"note: there is no `{PROGRAM}` on the search path of this shell; --command says what else is to be run"
    if options.project:
        # A path on this machine is no use to the others who have the project.
        return PROGRAM, f"note: `{PROGRAM}` here lies in a virtual environment, where a host does not look; for you alone: --command {shlex.quote(own)}"
    return own, "note: the entries name this program by its path, since it lies in a virtual environment, where a host does not look"


def _own_command() -> str:
    """Return what a shell that knows nothing of this one has to be told to run this program."""
    if sys.prefix == sys.base_prefix or not sys.executable:
        return PROGRAM
    script = os.path.join(os.path.dirname(sys.executable), PROGRAM)  # noqa: PTH118, PTH120 (text)
    # With -P, since a hook runs in the project's folder, and a module there must not be taken for one of ours.
    return shlex.quote(script) if os.path.isfile(script) else f"{shlex.quote(sys.executable)} -P -m {PROGRAM}"  # noqa: PTH113 (text)


def _command(options: argparse.Namespace, host: Host, program: str) -> str:
    words = [*(["--bodies"] if options.bodies else ["--no-bodies"] if options.bodies is False else [])]
    words += ["--symlinks", options.symlinks] if options.symlinks != "refuse" else []
    words += [word for name in options.allow for word in ("--allow", name)]
    return " ".join([program, "hook", host.name, *map(shlex.quote, words)])


def _place(options: argparse.Namespace, host: Host) -> Place:
    settings = host.settings
    if options.project:
        return Place(os.getcwd(), settings.folder, settings.file)  # noqa: PTH109 (text)
    if settings.variable and (folder := os.environ.get(settings.variable)):
        return Place(*os.path.split(os.path.abspath(folder)), settings.file)  # noqa: PTH100 (text)
    return Place(os.path.expanduser("~"), settings.folder, settings.file)  # noqa: PTH111 (pathlib raises where there is no home)


def _check_rival(host: Host, place: Place, command: str) -> str:
    """
    Return what is worth knowing of the TOML file beside, "" for nothing.

    Raises:
        SettingsError: If it has hooks: a host that finds some in two places warns of that at every start.
    """
    rival = host.settings.rival
    text = read_beside(place, rival) if rival else None
    if text is None:
        return ""
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{rival} beside {host.settings.file} is no valid TOML: {error}") from error
    tables, features = settings.get("hooks", {}), settings.get("features", {})
    if isinstance(tables, dict) and set(tables) - {"state"}:
        raise SettingsError(
            f"{place._replace(name=rival).path} has hooks already, and {host.title} wants all of them in one file. Its comments would be lost, "
            f"so it is not edited here: add [[hooks.{host.prompt_event}.hooks]] and [[hooks.{host.start_event}.hooks]] with "
            f'type = "command" and command = {json.dumps(command, ensure_ascii=False)} yourself.'
        )
    is_off = isinstance(features, dict) and False in (features.get("hooks"), features.get("codex_hooks"))
    return f"note: hooks are switched off in {rival}, under [features]" if is_off else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "filerefs hook install",
        description=_DESCRIPTION,
        epilog="exit codes: 0 done, or nothing to do; 2 misuse, or settings that are left as they are",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("host", metavar="HOST", choices=tuple(HOSTS), help=", ".join(HOSTS))
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and write nothing")
    parser.add_argument("--uninstall", action="store_true", help="take the entries out")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--user", action="store_true", help="in your own settings, for all projects (default)")
    scope.add_argument("--project", action="store_true", help="in the settings of the project in the current folder")
    how = f"how the host runs this program (default: {PROGRAM}; by its path, if it lies in a virtual environment)"
    parser.add_argument("--command", metavar="COMMAND", help=how)
    parser.add_argument("--bodies", action=argparse.BooleanOptionalAction, help="have these called with the same option; see `filerefs hook --help`")
    parser.add_argument("--symlinks", choices=("refuse", "inside"), default="refuse", help="the same")
    parser.add_argument("--allow", action="append", default=[], metavar="NAME", help="the same")
    return parser
