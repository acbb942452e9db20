"""
A message and a cursor -> what the half-typed mention there may become, best first.  No user interface.

What is offered is written as `format_ref` writes it, so that `parse` reads it back as exactly that path.  A folder
ends in a slash, and its closing quote, if it has one, does not end the mention: what is typed behind it goes on inside.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self, TypeAlias, cast

from filerefs import naming
from filerefs.catalogue import LEFT_BEHIND, Catalogue, offered
from filerefs.errors import OptionError, OptionTypeError, RootClosedError
from filerefs.halftyped import HalfTyped, find_token, find_words
from filerefs.ranking import Index, find_beginnings
from filerefs.root import Root, Trouble
from filerefs.rootlike import adopt
from filerefs.troubles import openable
from filerefs.walk import Ignore

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from types import TracebackType, UnionType

    from filerefs.mentions import CodePolicy
    from filerefs.ranking import Match
    from filerefs.root import SymlinkPolicy
    from filerefs.rootlike import RootLike

__all__ = ["Candidate", "Completer", "Completions", "HalfTyped", "find_token"]

# Names that are read of the folder that is typed.
_LISTED = 2000
# So long the names in the root are taken for the same, in seconds, while there is no list of all names.
_MOMENT = 0.5


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
        return naming.format_ref(openable(self.path))

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


class Completer:
    """
    Offers the names in one folder for mentions that are being typed.

    Names are gathered in a thread, from git inside of a repository, else by a walk; the first call begins it.  No call
    waits for it: the folder that is typed is listed at once, and `Completions.incomplete` says that more may come.
    At most 500,000 names are kept.  Nothing in `.git` and no secret is ever offered, and what ignore rules leave out only where its folder is typed.
    May be shared by threads.  Close it, or use it in a `with` statement.

    Args:
        root: The folder that all names are relative to.  Or a `Root`, or any other `RootLike`, which has *symlinks* and
            *allow* of its own, is not closed by `close`, and is walked without git.
        symlinks: As for `Preprocessor`: links are offered (as files) only where they would be followed.
        allow: As for `Preprocessor`: these names are offered although they look like those of secrets.
        git: Whether git may be asked.  It runs with `core.fsmonitor` off, without any `GIT_` variable, and fetches nothing.

    Raises:
        RootNotFoundError: If *root* is no directory.

    .. versionadded:: 0.1
    """

    def __init__(
        self, root: str | os.PathLike[str] | RootLike = ".", *, symlinks: SymlinkPolicy = "refuse", allow: Collection[str] = (), git: bool = True
    ) -> None:
        self._path = root
        self._closed = False
        self._root: RootLike
        self._opened: Root | None = None
        if isinstance(root, str | os.PathLike):
            self._root = self._opened = Root(root, symlinks=symlinks, allow=allow)
            folder = os.path.abspath(root)  # noqa: PTH100 (`..` behind a link is for git to resolve)
        else:
            self._root = adopt(root, symlinks=symlinks, allow=allow)
            folder, git = "", False
        self._links = isinstance(self._root, Root) and self._root.symlinks == "inside"
        # The first parse compiles patterns, which takes as long as all the rest of a first answer: a host makes this object
        # before anybody types.
        find_token("@")
        self._ignore = Ignore(self._root)
        self._around = Index(())
        self._next_look = 0.0
        # Without git it asks a root for nothing but names.
        self._catalogue = Catalogue(cast("Root", self._root), folder, links=self._links, git=git)

    def complete(
        self, text: str, cursor: int | None = None, *, limit: int = 50, code: CodePolicy = "inert", lenient: bool = True, wait: float = 0.0
    ) -> Completions:
        """
        Return what the mention at *cursor* may become.

        Best first: base name equal, begins, contains; path begins, contains; the path has these signs in this order.
        Among equals the shallower and shorter come first.

        Behind unquoted blanks (``@my fi``) only what begins with all that is typed, in the folder that is typed: where
        nothing does, these are words and no name.

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
        _check_number("limit", limit, int, "a whole number of at least 0")
        _check_number("wait", wait, int | float, "a number of at least 0")
        if self._closed:
            raise RootClosedError(str(self._path), "it was closed")
        token = find_token(text, cursor, code=code, lenient=lenient)
        if token is None:
            return self._search_words(find_words(text, cursor, code=code) if lenient else None, limit)
        if wait:
            self._catalogue.refresh()
            self._catalogue.wait(min(wait, threading.TIMEOUT_MAX))
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
        self._closed = True
        self._catalogue.close()
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Completer({self._root!r}, names={len(self._catalogue.index.names)}, complete={self._catalogue.complete})"

    def _search(self, token: HalfTyped, limit: int) -> Completions:
        catalogue = self._catalogue
        beside = self._beside(token.folder) if token.folder or not catalogue.whole else ()
        found = catalogue.index.search(token.query, limit)
        best = {match.name: _rated(match, ignored=False) for match in found.matches}
        for names, ignored in beside:
            for match in names.search(token.query, limit).matches:
                best.setdefault(match.name, _rated(match, ignored=ignored))
        return Completions(token, _first(best.values(), limit), incomplete=not catalogue.complete or found.unfinished)

    def _search_words(self, token: HalfTyped | None, limit: int) -> Completions:
        """Return what begins with *token* in its folder; if nothing does, its words are words."""
        if token is None:
            return Completions(None)
        rated = [_rated(match, ignored=ignored) for names, ignored in self._beside(token.folder) for match in find_beginnings(token.query, names.names)]
        return Completions(token, _first(rated, limit)) if rated else Completions(None)

    def _beside(self, folder: str) -> tuple[tuple[Index, bool], ...]:
        """Return the names in *folder* as they are now, and which are ignored; for "" those in the root as they were a moment ago."""
        if folder:
            kept, ignored = self._list(folder)
            return (Index(kept), False), (Index(ignored), True)
        # Each look at a disk gives other threads their turn, and this is asked while they are gathering names.
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + _MOMENT
            self._around = Index(name for name in self._list(".")[0] if name.rstrip("/") not in LEFT_BEHIND)
        return ((self._around, False),)

    def _list(self, folder: str) -> tuple[list[str], list[str]]:
        """Return the names in *folder*: those that are kept, and those that a rule ignores."""
        node = self._root.open(openable(folder))
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
        return shown, hidden


def _check_number(option: str, number: object, kind: type | UnionType, expected: str) -> None:
    if isinstance(number, bool) or not isinstance(number, kind):
        raise OptionTypeError(option, number, expected)
    # Neither is what is no number (NaN).
    if not cast("float", number) >= 0:
        raise OptionError(option, number, expected)


_Rated: TypeAlias = tuple[tuple[bool, int, int, int, str], Candidate]


def _rated(match: Match, *, ignored: bool) -> _Rated:
    return (ignored, *match.key), Candidate(match.name, ignored)


def _first(rated: Iterable[_Rated], limit: int) -> tuple[Candidate, ...]:
    """Return the candidates that are best, at most *limit*: what is ignored comes last."""
    return tuple(candidate for _, candidate in sorted(rated, key=lambda one: one[0])[:limit])
