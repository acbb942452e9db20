"""What a model asks for by folder and pattern -> the names there, one a line, in a form that `fetching` reads back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from filerefs import naming
from filerefs.advice import hint_for
from filerefs.fetching import complain
from filerefs.gitignore import bytewise, read_rules
from filerefs.limits import utf8_length
from filerefs.mentions import parse
from filerefs.resolving import NOT_FOUND, Lookup
from filerefs.root import Trouble
from filerefs.troubles import NO_FOLDER, NOT_A_FOLDER, openable
from filerefs.walk import walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from filerefs.limits import Limits
    from filerefs.resolving import Target
    from filerefs.rootlike import RootLike
    from filerefs.walk import Ignore, Walk

USUAL: Final = 200
MOST: Final = 1000
"""Names that one call shows, whatever is asked for."""
SEARCHED: Final = 20_000
"""Names that one call compares with a pattern."""

_LONGEST_PATTERN = 200
# How many patterns braces make of one.
_ALTERNATIVES = 64
_BRACES = re.compile(r"\{([^{}]*+)\}")
_WILDCARDS = frozenset("*?[")


def list_names(root: RootLike, ignore: Ignore, limits: Limits, *, folder: str, pattern: str, limit: int) -> str:
    """
    Return the names below *folder* that match *pattern* ("" for all), breadth first, and what was left out of them.

    Raises:
        RootClosedError: If the root was closed.  Nothing that stands in the arguments raises.
    """
    pattern = pattern.strip()
    # In bytes, as rules count: a longer one would be dropped there, and nothing match.
    if len(pattern.encode("utf-8", "surrogatepass")) > _LONGEST_PATTERN:
        return f"Nothing was listed: a pattern may have {_LONGEST_PATTERN} bytes at most."
    with Lookup(root) as lookup:
        typed, found = _find(folder, lookup)
        if isinstance(found, Trouble) or found.kind != "directory":
            trouble = found if isinstance(found, Trouble) else NOT_A_FOLDER
            trouble = NO_FOLDER if trouble is NOT_FOUND else trouble
            return complain(typed, trouble.detail, hint_for(typed, trouble.reason, lookup), verb="list")
        name = found.name
    limit = max(1, min(limit, MOST))
    names = walk(root, folder=name, limit=SEARCHED if pattern else limit, ignore=ignore, folder_entries=limits.directory_entries)
    shown, more = _take(names, _matcher(pattern, name), limit, limits.file_bytes)
    notes = [*_more(more=more, stopped=names.stopped, pattern=pattern, higher=limit < MOST and (names.stopped or len(shown) == limit))]
    notes += _notes(names, limits.directory_entries)
    if _alternatives(pattern)[1]:
        notes.append(f"The braces stand for more than {_ALTERNATIVES} patterns; only the first {_ALTERNATIVES} were tried.")
    return "\n".join([_headline(shown, name, pattern), *shown, *notes])


def _find(folder: str, lookup: Lookup) -> tuple[str, Target | Trouble]:
    """Return what *folder* names, and how it was read: exactly as it is, else without blanks, sign or quotes around it."""
    typed = folder.strip() or "."
    bare = typed.removeprefix("@") or "."
    for name in dict.fromkeys((folder, typed, *_quoted(typed))):
        found = lookup.find(name) if name else NOT_FOUND
        if not isinstance(found, Trouble):
            return name, found
    return bare, lookup.find(bare)


def _quoted(typed: str) -> list[str]:
    """Return the name that is in quotes, as `_line` writes it; none if there are no quotes."""
    refs = parse(typed if typed.startswith("@") else f"@{typed}", code="load", lenient=False)
    return [refs[0].path] if len(refs) == 1 and refs[0].quoted else []


def _take(names: Walk, matches: Callable[[str, bool], bool], limit: int, room: int | None) -> tuple[list[str], bool]:
    """Return the names that match, at most *limit* of them in *room* bytes, and whether there are more."""
    shown: list[str] = []
    for path, entry in names:
        is_folder = entry.kind == "directory"
        if not matches(path, is_folder):
            continue
        line = _line(path + "/" if is_folder else path)
        if room is not None:
            room -= utf8_length(line) + 1
        if len(shown) >= limit or (room is not None and room < 0):
            return shown, True
        shown.append(line)
    return shown, False


def _line(path: str) -> str:
    """Return *path* as a line; in quotes, as a mention has it, where something in it would hide."""
    path = openable(path)
    shown = naming.printable(path)
    return shown if shown == path == path.strip() else '"' + shown.replace('"', '\\"') + '"'


def _matcher(pattern: str, folder: str) -> Callable[[str, bool], bool]:
    """Return what tells whether a path matches: as a glob of a `.gitignore` file does, else as a part of it."""
    if not pattern:
        return lambda _path, _is_folder: True
    if _WILDCARDS.isdisjoint(pattern) and not _BRACES.search(pattern):
        part = pattern.casefold()
        return lambda path, is_folder: part in (path + "/" if is_folder else path).casefold()
    # Patterns are meant relative to the root or to the folder; both are tried.
    text = "\n".join(_alternatives(pattern)[0]).encode("utf-8", "surrogatepass")
    bases = [read_rules(text, base) for base in dict.fromkeys(("", "" if folder == "." else folder))]
    return lambda path, is_folder: any(rules.decide(bytewise(path), is_folder=is_folder) is not None for rules in bases)


def _alternatives(pattern: str) -> tuple[list[str], bool]:
    """Return the patterns that `*.{js,ts}` stands for, without what a `.gitignore` file takes for more than a pattern; and whether there are more."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        # The last first: one is made to its end before the next, so that what waits is never more than all braces hold.
        one = waiting.pop()
        braces = _BRACES.search(one)
        if braces is not None:
            waiting += [one[: braces.start()] + choice + one[braces.end() :] for choice in reversed(braces[1].split(","))]
        elif len(done) == _ALTERNATIVES:
            return done, True
        else:
            done.append(one.replace("\n", "?").lstrip("!#").removeprefix("./"))
    return done, False


def _headline(shown: list[str], folder: str, pattern: str) -> str:
    where = "in the root folder" if folder == "." else f"below {naming.label(folder)}/"
    if not shown:
        return f"There is no name {where}{f' that matches {naming.label(pattern)}' if pattern else ''}."
    count = "1 name" if len(shown) == 1 else f"{len(shown)} names"
    return f"{count} {where}{f', matching {naming.label(pattern)}' if pattern else ''}:"


def _more(*, more: bool, stopped: bool, pattern: str, higher: bool) -> list[str]:
    """Return what to do where more names match than are shown, or may; nothing where there are no more."""
    if not more and stopped and pattern:
        return ["More names may match, since not all were compared with the pattern: ask for a folder."]
    ways = f"for a folder, for a pattern, or for a higher limit ({MOST} at most)" if higher else "for a folder or for a pattern"
    return [f"There is more: ask {ways}."] if more or stopped else []


def _notes(names: Walk, most: int | None) -> list[str]:
    notes = []
    if names.crowded:
        first = "the root folder" if names.crowded[0] == "." else f"{naming.label(names.crowded[0])}/"
        count = len(names.crowded)
        where = f"In {first}" if count == 1 else f"In each of {count} folders, of which {first} is the first,"
        notes.append(f"{where} no more than {most} names are looked at: the others are not listed by any call, but read_ref reads them.")
    for count, what in (
        (names.ignored, "left out by ignore rules"),
        (names.withheld, "left out because it may hold credentials"),
        (names.unreadable, "not listed because it cannot be read"),
    ):
        if count:
            notes.append(f"{'1 name was' if count == 1 else f'{count} names were'} {what if count == 1 else what.replace('it ', 'they ')}.")
    return notes
