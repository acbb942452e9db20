"""
A message and a cursor -> what the half-typed mention there may become, best first.  No user interface.

What is offered is written as `format_ref` writes it, so that `parse` reads it back as exactly that path.  A folder
ends in a slash, and its closing quote, if it has one, does not end the mention: what is typed behind it goes on inside.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

from filerefs import naming
from filerefs.catalogue import Catalogue, offered
from filerefs.errors import OptionError, OptionTypeError
from filerefs.mentions import parse, unescape_bare, unescape_quoted
from filerefs.ranking import Index
from filerefs.regions import CodeRegions
from filerefs.root import Root, Trouble
from filerefs.walk import Ignore

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import TracebackType

    from filerefs.mentions import CodePolicy
    from filerefs.ranking import Match
    from filerefs.root import SymlinkPolicy

# A name has at most 4,095 bytes, and quotes and escapes around it; what is longer is not being typed.
_LONGEST = 8192
# Names that are read of the folder that is typed.
_LISTED = 2000

_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’"}
# The beginning of a range (R10): what stands in front of it is a name already.
_RANGE = re.compile(r"(?<=.)(?::L?[0-9]*(?:[-–]L?[0-9]*|:[0-9]*)?|#L?[0-9]*(?:[-–]L?[0-9]*)?)\Z", re.DOTALL)
_CLOSED = re.compile(r'(?P<name>(?:[^"\\]++|\\["\\]|\\)*+)"(?P<more>.*)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class HalfTyped:
    """
    The mention that the cursor stands in.

    Attributes:
        start: Where its at-sign stands, in code points.
        end: The cursor: what is chosen takes the place of `start:end`.
        query: What of a name is typed so far, quotes and escapes undone; "" right behind the at-sign.
        folder: The folder in it, with a slash at its end; "" for none, "./" for the root where that is typed.

    .. versionadded:: 0.1
    """

    start: int
    end: int
    query: str
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """
    A file or folder that may be meant.

    Attributes:
        path: Relative to the root, `/`-separated; a folder ends in a slash.
        ignored: Whether an ignore rule leaves it out; such a name is offered only where its folder was typed.

    .. versionadded:: 0.1
    """

    path: str
    ignored: bool = False

    @property
    def kind(self) -> Literal["file", "directory"]:
        return "directory" if self.path.endswith("/") else "file"

    @property
    def text(self) -> str:
        """The mention to put in place of what is typed, its at-sign included."""
        return naming.format_ref(self.path)

    @property
    def label(self) -> str:
        """The path for a row of a list: one printable line of at most 200 characters."""
        return naming.label(self.path)


@dataclass(frozen=True, slots=True)
class Completions:
    """
    What may be meant, best first.

    Attributes:
        token: The mention that the cursor stands in; None: in none, and there is nothing to offer.
        candidates: At most as many as were asked for.
        incomplete: Whether asking again soon may give more or better ones: names are still being gathered or compared.

    .. versionadded:: 0.1
    """

    token: HalfTyped | None
    candidates: tuple[Candidate, ...] = ()
    incomplete: bool = False


def find_token(text: str, cursor: int | None = None, *, code: CodePolicy = "inert", lenient: bool = True) -> HalfTyped | None:
    """
    Return the mention of *text* that is being typed at *cursor* (its end by default), or None.

    There is none in code, where `parse` finds none either, and none where a range has begun (``@a.py:1``).

    Args:
        text: The whole message, what stands behind the cursor included.
        cursor: In code points.
        code: As for `parse`: "load" offers names in inline code, too.
        lenient: As for `parse`: typographic quotes quote, a full-width at-sign is one.

    Raises:
        OptionError: If *cursor* is not in the text.

    .. versionadded:: 0.1
    """
    cursor = len(text) if cursor is None else cursor
    if not 0 <= cursor <= len(text):
        raise OptionError("cursor", cursor, f"a position in a text of {len(text)} characters")
    line = max(text.rfind("\n", 0, cursor) + 1, cursor - _LONGEST)
    start = cursor
    while (start := _find_at(text, line, start, lenient=lenient)) >= 0:
        if _opens(text, line, start, lenient=lenient):
            token = _read(text, start, cursor, lenient=lenient)
            # Regions cost a pass over the message; most keys are typed where there is no mention at all.
            return None if token is None or CodeRegions(text, spans=code == "inert").around(start) else token
    return None


def _find_at(text: str, first: int, stop: int, *, lenient: bool) -> int:
    return max(text.rfind("@", first, stop), text.rfind("＠", first, stop) if lenient else -1)


def _opens(text: str, line: int, start: int, *, lenient: bool) -> bool:
    """Tell whether a name behind the at-sign at *start* would be a mention."""
    references = parse(text[line : start + 1] + "x", code="load", lenient=lenient)
    return bool(references) and references[-1].start == start - line


def _read(text: str, start: int, cursor: int, *, lenient: bool) -> HalfTyped | None:
    run = text[start + 1 : cursor]
    quote = _QUOTES.get(run[:1]) if lenient or run[:1] in ('"', "'") else None
    name = _read_bare(run) if quote is None else _read_quoted(run[1:], quote)
    if name is None or name.startswith(("/", "~/", "../")) or "\0" in name:
        return None
    query = name.removeprefix("./")
    folder = query[: query.rfind("/") + 1]
    return HalfTyped(start, cursor, query, folder or ("./" if query != name else ""))


def _read_bare(run: str) -> str | None:
    if re.search(r"(?<!\\)(?:\\\\)*[^\S\u00a0\u2007\u202f]", run) or _RANGE.search(run):
        return None
    return unescape_bare(run).replace("\\", "/")


def _read_quoted(run: str, quote: str) -> str | None:
    """Return what stands in quotes, closed or not; None if it is closed and not going on."""
    if quote == '"':
        closed = _CLOSED.fullmatch(run)
        name, more = (closed["name"], closed["more"]) if closed else (run, None)
        name = unescape_quoted(name)
    else:
        name, closing, behind = run.partition(quote)
        more = behind if closing else None
    if more is None:
        return name
    return name + more if name.endswith("/") and not re.search(r"[\s:#\"']", more) else None


class Completer:
    """
    Offers the names in one folder for mentions that are being typed.

    Names are gathered in a thread, from git inside of a repository, else by a walk; the first call begins it.  No call
    waits for it: the folder that is typed is listed at once, and `Completions.incomplete` says that more may come.
    At most 500,000 names are kept.  Nothing in `.git` and no secret is ever offered, and what ignore rules leave out only where its folder is typed.
    May be shared by threads.  Close it, or use it in a `with` statement.

    Args:
        root: The folder that all names are relative to.
        symlinks: As for `Preprocessor`: links are offered (as files) only where they would be followed.
        allow: As for `Preprocessor`: these names are offered although they look like those of secrets.
        git: Whether git may be asked.  It runs with `core.fsmonitor` off and without any `GIT_` variable.

    Raises:
        RootNotFoundError: If *root* is no directory.

    .. versionadded:: 0.1
    """

    def __init__(self, root: str | os.PathLike[str] = ".", *, symlinks: SymlinkPolicy = "refuse", allow: Collection[str] = (), git: bool = True) -> None:
        self._root = Root(root, symlinks=symlinks, allow=allow)
        self._links = symlinks == "inside"
        # The first parse compiles patterns, which takes as long as all the rest of a first answer: a host makes this object
        # before anybody types.
        find_token("@")
        self._ignore = Ignore(self._root)
        self._catalogue = Catalogue(self._root, os.path.abspath(root), links=self._links, git=git)  # noqa: PTH100 (`..` behind a link is for git to resolve)

    def complete(
        self, text: str, cursor: int | None = None, *, limit: int = 50, code: CodePolicy = "inert", lenient: bool = True, wait: float = 0.0
    ) -> Completions:
        """
        Return what the mention at *cursor* may become.

        Best first: base name equal, begins, contains; path begins, contains; the path has these signs in this order.
        Among equals the shallower and shorter come first.

        Args:
            text: The whole message.
            cursor: In code points; its end by default.
            limit: Most candidates to return.
            code: As for `find_token`.
            lenient: As for `find_token`.
            wait: Seconds to wait at most for what is still incomplete.

        Raises:
            OptionError: If *cursor* is not in the text, or a number is negative.
            RootClosedError: After `close`.

        .. versionadded:: 0.1
        """
        for option, number in (("limit", limit), ("wait", wait)):
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise OptionTypeError(option, number, "a number of at least 0")
            if number < 0:
                raise OptionError(option, number, "a number of at least 0")
        token = find_token(text, cursor, code=code, lenient=lenient)
        if token is None:
            return Completions(None)
        if wait:
            self._catalogue.refresh()
            self._catalogue.wait(wait)
        found = self._search(token, limit)
        while wait and found.incomplete and self._catalogue.complete:
            found = self._search(token, limit)
        # Behind the search: a scan that begins now would compete with it.
        self._catalogue.refresh()
        return found

    def refresh(self, wait: float | None = None) -> bool:
        """Look again, now, and wait at most so many seconds (None: as long as it takes); return whether it is done."""
        self._catalogue.wait(wait)
        self._catalogue.refresh(force=True)
        return self._catalogue.wait(wait)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is being gathered, at most so long; return whether that is so."""
        return self._catalogue.wait(seconds)

    def close(self) -> None:
        """End what is running, and give the root's handle back."""
        self._catalogue.close()
        self._root.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Completer({self._root!r}, names={len(self._catalogue.index.names)}, complete={self._catalogue.complete})"

    def _search(self, token: HalfTyped, limit: int) -> Completions:
        catalogue = self._catalogue
        complete = catalogue.whole
        found = catalogue.index.search(token.query, limit)
        best: dict[str, tuple[tuple[bool, int, int, int, str], Candidate]] = {}
        for match in found.matches:
            best[match.name] = _rated(match, ignored=False)
        if token.folder or not complete:
            kept, ignored = self._list(token.folder or ".", with_ignored=bool(token.folder))
            for names, is_ignored in ((kept, False), (ignored, True)):
                for match in Index(names).search(token.query, limit).matches:
                    best.setdefault(match.name, _rated(match, ignored=is_ignored))
        ordered = sorted(best.values(), key=lambda rated: rated[0])
        return Completions(token, tuple(candidate for _, candidate in ordered[:limit]), incomplete=not catalogue.complete or found.unfinished)

    def _list(self, folder: str, *, with_ignored: bool) -> tuple[list[str], list[str]]:
        """Return the names in *folder* as they are now: those that are kept, and those that a rule ignores."""
        node = self._root.open(folder)
        if isinstance(node, Trouble):
            return [], []
        with node:
            listing = node.entries(_LISTED) if node.kind == "directory" else None
            name = node.name
        if listing is None or isinstance(listing, Trouble):
            return [], []
        kept, ignored = self._ignore.filter(name, listing.entries)
        beneath = "" if name == "." else f"{name}/"
        lists = ([offered(beneath + entry.name, entry, links=self._links) for entry in entries] for entries in (kept, (entry for entry, _ in ignored)))
        shown, hidden = ([path for path in paths if path] for paths in lists)
        return shown, hidden if with_ignored else []


def _rated(match: Match, *, ignored: bool) -> tuple[tuple[bool, int, int, int, str], Candidate]:
    return (ignored, *match.key), Candidate(match.name, ignored)
