"""What discovery found -> lines for a person: which files hold, why, in which order, and what else there is."""

from __future__ import annotations

import os
import posixpath
import shlex
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from filerefs import naming, upward
from filerefs.agentsmd.documents import Omission
from filerefs.agentsmd.rewording import SOURCE_NAME, TARGET_NAME
from filerefs.agentsmd.surroundings import Repository, files_above, is_instruction_name, names_beside, read_repository
from filerefs.naming import human_size
from filerefs.terminal import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from filerefs.agentsmd.documents import Discovery, Doc, Omitted, Problem
    from filerefs.agentsmd.migration import Plan, Step
    from filerefs.agentsmd.profiles import Profile
    from filerefs.agentsmd.surroundings import Above
    from filerefs.upward import Ascent

_MOST_WORDS = 12
_MOST_ABOVE = 3
_CUTTING = {
    "cut": "the file that does not fit is cut, and what would come after it is left out",
    "omit": "a file that does not fit is left out",
    "unit": "the first file and what it imports are whole in any case",
}


# By the reason, and whether another file is why.
_RULES = {
    (reason, other): text
    for reason, alone, beside in (
        (Omission.OVER_BUDGET, "it does not fit into what is left of the budget of {budget}; raise that with --budget", ""),
        (Omission.SHADOWED, "another name comes before it", "{winner} comes before it: of the names for the file of a folder, the first one wins"),
        (Omission.BLANK, "it is blank", "it is blank, so {winner} is read instead"),
        (Omission.TOO_LARGE, "a file may have {file_bytes}{cutting}", ""),
        (Omission.LINK_OUTSIDE, "it is a link that leads out of the root; move the file in, or begin further up with --root", ""),
        (Omission.DUPLICATE, "it is read already under another name", "it is the same file as {winner}, which is read already"),
        (Omission.OFF, "its limit is 0, so no such file is read", ""),
        (Omission.OUTSIDE_ROOT, "it lies above the root, which is a submodule of the repository there; --root {above} takes it in", ""),
    )
    for other, text in ((False, alone), (True, beside or alone))
}


class Line(NamedTuple):
    """One line; a title is our own words, anything else may hold names and words of files."""

    text: str
    title: bool = False


def as_dict(found: Discovery) -> dict[str, Any]:
    """Return *found* as what JSON can say; names are as they are, in the order of reading."""
    return {
        "version": 1,
        "profile": found.profile.title if found.profile else "default",
        "root": found.root,
        "docs": [_doc_as_dict(doc) for doc in found.docs],
        "omitted": [asdict(omitted) for omitted in found.omitted],
        "problems": [asdict(problem) for problem in found.problems],
        "warnings": list(found.warnings),
    }


def describe(found: Discovery, ascent: Ascent, profile: Profile, path: str) -> Iterator[Line]:
    """
    Yield the answer to "why does my agent not see my AGENTS.md?".

    Args:
        found: With imports, if they are wanted.
        ascent: The way up that discovery went.
        profile: The rules it went by.
        path: What was asked about.
    """
    above = list(islice(files_above(ascent, profile.names), _MOST_ABOVE))
    yield from _describe_path(path, found, ascent, profile)
    yield Line(f"Root: {naming.printable(ascent.root)}, {_why_root(ascent, profile)}.")
    yield Line(f"Rules: profile {profile.title}. {_names(profile)}")
    yield Line("")
    if found.docs:
        yield from _describe_docs(found, profile)
    else:
        yield from _describe_nothing(found, above[:1], ascent, profile)
    yield from _section("Left out", [f"{_left_out(one)}: {_why_left_out(one, profile, ascent)}" for one in found.omitted])
    yield from _section("Above the root, and so not read", [_above(one, ascent) for one in above if not _is_listed(one, found, ascent)])
    yield from _section("Could not be read", map(_problem, found.problems))
    yield from _section("Not read for their names", _other_names(found, ascent, profile))
    yield from _section("Warnings", map(naming.printable, _new_warnings(found)))
    yield from _section("Looked in", _folders(found, ascent, profile))


def describe_plan(plan: Plan, *, write: bool) -> Iterator[Line]:
    """Yield what a migration would do, or is about to do if *write*."""
    if not plan.steps:
        yield Line("Nothing to do: there is no such folder.")
    for step in plan.steps:
        yield from _describe_step(step)
    if plan.writes and not write:
        yield Line("")
        yield Line("Nothing was written. Add --write to do it.")


def _describe_path(path: str, found: Discovery, ascent: Ascent, profile: Profile) -> Iterator[Line]:
    located = upward.locate(path)
    if located is None:
        start = posixpath.join(ascent.root, *ascent.parts)
        yield Line(f"{naming.printable(path)} does not exist (yet). What follows holds for a file that is made there.")
        yield Line(f"The nearest folder that exists is {naming.printable(start)}.")
        yield Line("")
    elif located.name:
        name = upward.parent_of(path).name
        title = "/".join((*ascent.parts, name))
        if is_instruction_name(name, profile) and profile.link_names == "link":
            yield Line(f"{_name(title)} {_verdict(title, found)}.")
            yield Line("")


def _verdict(title: str, found: Discovery) -> str:
    if any(doc.name == title for doc in found.docs):
        return "is read: it is one of the files below"
    if title in [*(one.name for one in found.omitted), *(one.name for one in found.problems)]:
        return "is not read; why is said below"
    return "is not read: no file of that name is, see the rules"


def _describe_nothing(found: Discovery, above: Sequence[Above], ascent: Ascent, profile: Profile) -> Iterator[Line]:
    yield Line("No instruction file holds here.", title=True)
    if found.problems or any(one.reason is not Omission.OUTSIDE_ROOT for one in found.omitted):
        yield Line("Of what there is nothing is read; why is said below.")
        return
    if profile.names:
        yield Line(f"One called {profile.names[-1]} would, in any of the folders that are listed below.")
        yield Line("One that lies deeper holds for its own folder only: ask about a path in that.")
    for one in above:
        yield Line(f"There is one above the root, where nothing is read: {_above(one, ascent)}.")


def _describe_docs(found: Discovery, profile: Profile) -> Iterator[Line]:
    yield Line("These files hold, in this order; where two differ, the later one wins:", title=True)
    rows = list(_tree(found.docs))
    width = max(columns(left) for left, _ in rows)
    for left, doc in rows:
        yield Line(f"{left}{' ' * (width - columns(left))}  {_size(doc)}  {_why(doc)}")
    shown = sum(doc.shown for doc in found.docs)
    yield Line(f"Together {human_size(shown)}. {_budget(profile)}")


def _budget(profile: Profile) -> str:
    if profile.budget is None:
        return "There is no budget."
    first = "on the nearest file first" if profile.spend == "nearest" else "from the first file on"
    return f"The budget is {human_size(profile.budget)}, spent {first}: {_CUTTING[profile.overflow]}."


def _tree(docs: Sequence[Doc]) -> Iterator[tuple[str, Doc]]:
    """Yield each file with what stands on its left: a number, or the branches that lead from the file that imports it."""
    children: dict[tuple[str, ...], list[Doc]] = {}
    for doc in docs:
        children.setdefault(doc.imported_by, []).append(doc)
    known = {(*doc.imported_by, doc.name) for doc in docs}
    number = 0
    for doc in docs:
        # An import whose file is not here is shown as what it is, a file of its own.
        if not doc.imported_by or doc.imported_by not in known:
            number += 1
            yield f"{number:>3}. {_name(doc.name)}", doc
            yield from _branches((*doc.imported_by, doc.name), children, "     ")


def _branches(chain: tuple[str, ...], children: Mapping[tuple[str, ...], list[Doc]], front: str) -> Iterator[tuple[str, Doc]]:
    below = children.get(chain, [])
    for number, doc in enumerate(below, 1):
        last = number == len(below)
        yield f"{front}{'└── ' if last else '├── '}{_name(doc.name)}", doc
        yield from _branches((*chain, doc.name), children, front + ("    " if last else "│   "))


def _size(doc: Doc) -> str:
    if not doc.truncated:
        return f"{human_size(doc.size)};"
    # What says that it was cut counts as well, and may be more than what was cut.
    return f"{human_size(doc.shown)} of {human_size(doc.size)}, cut;" if doc.shown < doc.size else f"{human_size(doc.size)}, cut;"


def _why(doc: Doc) -> str:
    if doc.imported_by:
        return "imported"
    if doc.origin == "user":
        return "holds for all projects"
    if doc.origin == "extra":
        return "named by --extra"
    return "holds for the whole project" if doc.folder == "." else f"holds for {_name(doc.folder)}/"


def _left_out(omitted: Omitted) -> str:
    # How large a file outside is, nobody looked.
    return _name(omitted.name) + ("" if omitted.reason is Omission.LINK_OUTSIDE else f" ({human_size(omitted.size)})")


def _why_left_out(omitted: Omitted, profile: Profile, ascent: Ascent) -> str:
    winner = _name(omitted.by)
    limits = {"budget": human_size(profile.budget or 0), "file_bytes": human_size(profile.file_bytes or 0)}
    cutting = ", and it cannot be cut: no paragraph of it fits, and no block is torn" if profile.too_large == "cut" else ""
    above = _folder(posixpath.normpath(posixpath.join(ascent.root, posixpath.dirname(omitted.name))))
    return _RULES[omitted.reason, bool(winner)].format(winner=winner, cutting=cutting, above=above, **limits)


def _above(above: Above, ascent: Ascent) -> str:
    return f"{_name(above.seen_from(ascent.root))} ({human_size(above.size)}); --root {_folder(above.folder)} takes it in"


def _is_listed(above: Above, found: Discovery, ascent: Ascent) -> bool:
    return any(one.name == above.seen_from(ascent.root) for one in found.omitted)


def _folder(path: str) -> str:
    """Return *path* as a shell takes it, from where the person is if that is shorter."""
    relative = os.path.relpath(path)
    return shlex.quote(naming.printable(min(relative, path, key=len)))


def _other_names(found: Discovery, ascent: Ascent, profile: Profile) -> Iterator[str]:
    read = {doc.name for doc in found.docs}
    holding = {doc.folder for doc in found.docs if doc.origin == "chain"}
    for folder, wanted, names in names_beside(ascent, profile):
        for name in names:
            title = name if folder == "." else f"{folder}/{name}"
            if title in read or not (wanted or folder not in holding):
                continue
            if wanted:
                yield f"{_name(title)}: such a file is called {wanted}; rename it, or name it with --extra"
            else:
                migrate = f"`filerefs migrate` makes an {TARGET_NAME} of it; " if name == SOURCE_NAME else ""
                yield f"{_name(title)}: the file of another agent; {migrate}--extra reads it as it is"


def _problem(problem: Problem) -> str:
    chain = f" ({' → '.join(map(_name, problem.chain))})" if problem.chain else ""
    return f"{_name(problem.name)}{chain}: {naming.printable(problem.detail)}"


def _why_root(ascent: Ascent, profile: Profile) -> str:
    if ascent.why == "given":
        return "as it was given"
    if ascent.why == "marker":
        tie, main = read_repository(ascent.root) if ascent.marker == ".git" else Repository()
        return f"the nearest folder with {ascent.marker}" + (f", a {tie} of the repository in {naming.printable(main)}" if tie else "")
    if not profile.markers:
        return "the start folder: this profile looks for no other"
    return f"the start folder alone: neither it nor a folder above has {_either(profile.markers)}, so files further up are not read; --root takes them in"


def _names(profile: Profile) -> str:
    if not profile.names and not profile.additions:
        return "It looks for no files by itself; name them with --extra."
    wanted = [_either(profile.names)] if profile.names else []
    wanted += [f"besides {' and '.join(profile.additions)}"] if profile.additions else []
    return f"In each folder it reads {', '.join(wanted)}."


def _either(names: Sequence[str]) -> str:
    return " or else ".join(names)


def _new_warnings(found: Discovery) -> list[str]:
    """Return the warnings but for those of files that are listed as left out."""
    left_out = tuple(naming.printable(one.name) + " " for one in found.omitted)
    return [warning for warning in found.warnings if not (warning.startswith(left_out) and " was left out:" in warning)]


def _folders(found: Discovery, ascent: Ascent, profile: Profile) -> Iterator[str]:
    if not profile.names and not profile.additions:
        return
    passed = [*(one.name for one in found.omitted), *(one.name for one in found.problems)]
    for depth in range(len(ascent.parts) + 1):
        folder = "/".join(ascent.parts[:depth])
        names = [_name(doc.name) for doc in found.docs if doc.origin == "chain" and doc.folder == (folder or ".")]
        others = any(name.rpartition("/")[0] == folder and name.rpartition("/")[2] in (*profile.names, *profile.additions) for name in passed)
        what = " and ".join(names) or ("nothing that holds, see above" if others else "no such file")
        yield f"{_name(folder) + '/' if folder else 'the root'}: {what}"


def _section(title: str, rows: Iterable[str]) -> Iterator[Line]:
    for number, row in enumerate(rows):
        if not number:
            yield Line("")
            yield Line(f"{title}:", title=True)
        yield Line(f"  - {row}")


def _describe_step(step: Step) -> Iterator[Line]:
    where = "For this project" if step.place == "project" else "For all projects"
    if not step.writes:
        yield Line(f"{where}: nothing to do. {_sentence(step.reason)}")
        return
    yield Line(f"{where}: {step.source} -> {step.target} in {naming.printable(step.folder)}, {human_size(len(step.text.encode()))}")
    yield from _section("Words that change", _some([f'line {word.line}: "{_name(word.before)}" -> "{_name(word.after)}"' for word in step.words]))
    yield from _section("Words that stay", _some([f'line {kept.line}: "{_name(kept.text)}", {kept.reason}' for kept in step.kept]))
    yield from _section("To be looked at", map(naming.printable, step.notes))


def _some(rows: Sequence[str]) -> list[str]:
    return [*rows[:_MOST_WORDS], f"{len(rows) - _MOST_WORDS} more"] if len(rows) > _MOST_WORDS else list(rows)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _name(name: str) -> str:
    return naming.label(name)


def _doc_as_dict(doc: Doc) -> dict[str, Any]:
    names = ("name", "scope", "folder", "root", "origin", "size", "shown", "truncated", "encoding", "imported_by", "text")
    return {name: getattr(doc, name) for name in names}
