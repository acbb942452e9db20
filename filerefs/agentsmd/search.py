"""The visit to every place: what is found there, read within the budget, and what is left out and why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from filerefs.agentsmd.budgets import Ledgers, fit, lowest
from filerefs.agentsmd.documents import NOWHERE, Base, Discovery, Omission, Problem
from filerefs.agentsmd.places import in_spending_order, mark_copied, relative_to
from filerefs.agentsmd.reading import read_text
from filerefs.agentsmd.reports import Candidate, Report, unique
from filerefs.agentsmd.surroundings import read_repository
from filerefs.outcomes import Reason
from filerefs.root import Trouble

if TYPE_CHECKING:
    from collections.abc import Hashable

    from filerefs.agentsmd.places import Place, Places
    from filerefs.agentsmd.profiles import Profile
    from filerefs.agentsmd.roots import Roots
    from filerefs.rootlike import NodeLike

_DANGLING = Trouble(Reason.NOT_REGULAR, "a link to a file that does not exist")


class Search:
    """One discovery: what it spent, and which files it has seen."""

    def __init__(self, rules: Profile, roots: Roots) -> None:
        self._rules = rules
        self._roots = roots
        self._ledgers = Ledgers(rules)
        self._seen: dict[tuple[Hashable, ...], str] = {}
        self._taken: set[str] = set()

    def run(self, places: Places) -> Discovery:
        """Visit all places, in the order in which the budget is spent, and report in the order of printing."""
        ordered = self._mark_work_trees(places)
        found = {place: self._visit(place) for place in in_spending_order(ordered, self._rules)}
        parts = [found[place] for place in ordered]
        return Discovery(
            docs=tuple(doc for part in parts for doc in part.docs),
            omitted=tuple(omitted for part in parts for omitted in part.omitted),
            problems=(*places.problems, *(problem for part in parts for problem in part.problems)),
            warnings=tuple(warning for part in parts for warning in part.warnings),
            root=places.story,
            profile=self._rules,
        )

    def _visit(self, place: Place) -> Report:
        """Look for the file of a place, and for what else has one of its names."""
        found = Report()
        winner = ""
        for name in place.names:
            winner = self._consider(place, name, winner, found) or winner
        found.omitted = [replace(one, by=winner) if one.reason is Omission.BLANK else one for one in found.omitted]
        for name in place.additions:
            self._consider(place, name, "", found)
        if place.origin == "chain":
            self._look_around(place, found)
        return found

    def _consider(self, place: Place, name: str, winner: str, found: Report) -> str:
        """Return what the file *name* is called if it is the one of its place, else ""."""
        node = self._open(place, name)
        if isinstance(node, Trouble):
            self._report(place, name, node, found)
            return ""
        with node:
            title = place.call(node.target if self._rules.link_names == "target" and node.target else node.name)
            if node.kind == "directory":
                if self._rules.folders or place.demanded:
                    found.problems.append(Problem(name=title, detail="a folder, not a file"))
                return ""
            if winner:
                is_twin = node.identity is not None and self._seen.get(node.identity) == winner
                found.omit(title, node.size, Omission.DUPLICATE if is_twin else Omission.SHADOWED, winner)
                return ""
            return title if self._take(place, name, node, title, found) else ""

    def _open(self, place: Place, name: str) -> NodeLike | Trouble:
        """Open a file, and tell a link to nothing, which somebody wanted to be a file, from no file."""
        path = place.path_of(name)
        node = self._roots.of(place.base, strict=True).open(path)
        if not isinstance(node, Trouble) or node.reason is not Reason.SYMLINK:
            return node
        node = self._roots.of(place.base).open(path)
        return _DANGLING if isinstance(node, Trouble) and node.reason is Reason.NOT_FOUND else node

    def _report(self, place: Place, name: str, trouble: Trouble, found: Report) -> None:
        title = place.call(place.path_of(name))
        if trouble.reason is Reason.OUTSIDE_ROOT:
            found.omit(title, 0, Omission.LINK_OUTSIDE)
            found.warn(title, "was left out: it is a link that leads out of its root folder")
        elif trouble.reason is not Reason.NOT_FOUND or place.demanded:
            found.problems.append(Problem(name=title, detail=trouble.detail))

    def _take(self, place: Place, name: str, node: NodeLike, title: str, found: Report) -> bool:
        """Read the file of a place as far as the budget goes; False if it is none, so that the next name is tried."""
        rules = self._rules
        ledger = self._ledgers.of(place.origin, place.root)
        twin = self._seen.get(node.identity, "") if node.identity else ""
        twin = twin or self._copy_of(place, name)
        is_off = 0 in (rules.file_bytes, ledger.total)
        if twin or is_off:
            found.omit(title, node.size, Omission.DUPLICATE if twin else Omission.OFF, twin or "")
            return True
        room = ledger.room
        if room == 0:
            found.leave(title, node.size, Omission.OVER_BUDGET, rules)
            return True
        text = read_text(node, lowest(rules.file_bytes, room), undecodable=rules.undecodable)
        if isinstance(text, Trouble):
            found.problems.append(Problem(name=title, detail=text.detail))
            return False
        trims = rules.trim == "all" or (rules.trim == "user" and place.origin == "user")
        body = text.text.strip() if trims else text.text
        if rules.blank == "pass" and text.complete and not body.strip():
            found.omit(title, text.size, Omission.BLANK)
            return False
        self._add(place, Candidate(title, node, place.base, text, body), found)
        return True

    def _add(self, place: Place, candidate: Candidate, found: Report) -> None:
        ledger = self._ledgers.of(place.origin, place.root)
        is_first = ledger.spent == 0
        fitted = fit(candidate.body, candidate.read, ledger, self._rules)
        if not isinstance(fitted, Omission) and ledger.overflow == "unit" and ledger.is_overdrawn and not is_first:
            fitted = Omission.OVER_BUDGET
        if isinstance(fitted, Omission):
            found.leave(candidate.name, candidate.read.size, fitted, self._rules)
            return
        name = unique(candidate.name, self._taken)
        if identity := candidate.node.identity:
            self._seen[identity] = name
        found.tell(name, candidate.read, fitted)
        found.docs.append(candidate.document(fitted, name=name, scope=place.scope, root=place.root, origin=place.origin))

    def _look_around(self, place: Place, found: Report) -> None:
        """Look for other spellings of a name, which somebody took for it (names with a part between two dots apart)."""
        root = self._roots.of(place.base, strict=True)
        for name in place.names:
            for variant in sorted({name.lower(), name.upper(), name.capitalize()} - {name}) if name.count(".") < 2 else ():
                node = root.open(place.path_of(variant))
                if isinstance(node, Trouble):
                    continue
                node.close()
                # Where case does not matter, it is the file itself.
                if node.identity is None or node.identity != _identity_of(root.open(place.path_of(name))):
                    found.warn(place.call(place.path_of(variant)), f"is not read: the name is {name}")

    def _copy_of(self, place: Place, name: str) -> str:
        """Return what the copy of a file is called that a work tree nested in its folder has, "" if there is none."""
        if not place.copied_to:
            return ""
        path = f"{place.copied_to}/{name}"
        node = self._roots.of(place.base).open(path)
        if isinstance(node, Trouble):
            return ""
        with node:
            return place.call(path) if node.kind == "file" else ""

    def _mark_work_trees(self, places: Places) -> tuple[Place, ...]:
        """Return the places, with a note where a work tree further down the way has its own copies of their files."""
        ordered = places.places
        for ascent in places.ascents.values():
            if not ascent.parts or ascent.marker == ".git" or ascent.root == NOWHERE:
                continue
            for depth in range(1, len(ascent.parts) + 1):
                folder = "/".join(ascent.parts[:depth])
                repository = read_repository(ascent.root, folder)
                main = relative_to(repository.main, ascent.root) if repository.tie == "work tree" else None
                if main is not None:
                    ordered = mark_copied(ordered, Base(ascent.root), folder, main)
        return ordered


def _identity_of(node: NodeLike | Trouble) -> tuple[Hashable, ...] | None:
    if isinstance(node, Trouble):
        return None
    with node:
        return node.identity
