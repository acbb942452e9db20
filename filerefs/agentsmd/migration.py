"""`CLAUDE.md` -> `AGENTS.md`: first a plan that says what would be written, where, and with which other words; then the writing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from filerefs import upward
from filerefs.agentsmd.migration_files import write_file
from filerefs.agentsmd.reading import read_text
from filerefs.agentsmd.rewording import TARGET_NAME, reword
from filerefs.errors import OptionError
from filerefs.limits import MIB
from filerefs.mentions import parse
from filerefs.outcomes import Reason
from filerefs.root import Root, Trouble

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from filerefs.agentsmd.rewording import Kept, Word

Place: TypeAlias = Literal["project", "user"]

_PROJECT_SOURCES = ("CLAUDE.md", ".claude/CLAUDE.md")
_USER_SOURCES = ("CLAUDE.md",)
_MARKERS = (".git",)
_LONGEST = MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    One file that would be written, or the reason why not.

    Attributes:
        place: "project", or "user" for what holds in all projects of a person.
        source: The file that the text comes from, relative to its folder; "" if there is none.
        target: The file that is written, relative to its own.
        reason: Why nothing is to be written, in one sentence; "" if this step writes.
        text: What is written.
        words: The words that change.
        kept: Words that could be meant and stay, each with what it was taken for.
        notes: What a person should look at afterwards, one sentence each.
        folder: The path of the folder that is written to; for messages of this machine only.

    .. versionadded:: 0.1
    """

    place: Place = "project"
    source: str = ""
    target: str = TARGET_NAME
    reason: str = ""
    text: str = field(default="", repr=False)
    words: tuple[Word, ...] = field(default=(), repr=False)
    kept: tuple[Kept, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()
    folder: str = field(default="", repr=False)

    @property
    def writes(self) -> bool:
        """Whether something is to be written."""
        return not self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """
    What a migration would do; nothing was written for it.

    .. versionadded:: 0.1
    """

    steps: tuple[Step, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether any step writes."""
        return any(step.writes for step in self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """
    What became of a step: `problem` says in one sentence why nothing was written; "" if it was.

    .. versionadded:: 0.1
    """

    step: Step
    problem: str = ""


def plan_migration(
    root: str | os.PathLike[str] = ".",
    *,
    user: tuple[str | os.PathLike[str], str | os.PathLike[str]] | None = None,
    agent: str | None = None,
) -> Plan:
    """
    Return what migrating the project that *root* lies in would do.

    The text of `CLAUDE.md` in the project's root, else of `.claude/CLAUDE.md`, the first that is a regular file and not
    blank, goes to `AGENTS.md` in the root, if that is missing or blank.  No link is followed.  `CLAUDE.md` stays.

    Args:
        root: A folder, or anything in it; the project's root is the nearest folder above that has a `.git`, else itself.
        user: Two folders: the one whose `CLAUDE.md` holds in all projects, and the one that gets its `AGENTS.md`.
            The home folder is never looked into by itself.
        agent: What Claude and Claude Code are called in the new text; None leaves their names as they are.

    Raises:
        OptionError: If *agent* is blank or has more than one line.
        RootNotFoundError: If a folder that was found cannot be opened.

    .. versionadded:: 0.1
    """
    if agent is not None and (not agent.strip() or not agent.isprintable()):
        raise OptionError("agent", agent, "one line of text, or None")
    steps = []
    found = upward.locate(root)
    if found is not None:
        project = upward.find_up(found.folder, _MARKERS).root
        steps.append(_plan_step("project", project, _PROJECT_SOURCES, project, agent))
    if user is not None:
        source, target = (upward.locate(folder) for folder in user)
        steps.append(_plan_user_step(source, target, agent))
    return Plan(steps=tuple(steps))


def write_migration(plan: Plan) -> list[Written]:
    """
    Write what *plan* says, step by step, and return what became of each step that was to write.

    Each file appears whole or not at all; what has appeared at its place since the plan was made stays.

    .. versionadded:: 0.1
    """
    return [Written(step=step, problem=write_file(step.folder, step.target, step.text)) for step in plan.steps if step.writes]


def _plan_user_step(source: upward.Located | None, target: upward.Located | None, agent: str | None) -> Step:
    if source is None or source.name:
        return Step(place="user", reason="the folder to read from does not exist")
    if target is None or target.name:
        return Step(place="user", reason="the folder to write to does not exist")
    return _plan_step("user", source.folder, _USER_SOURCES, target.folder, agent)


def _plan_step(place: Place, source: str, names: Sequence[str], target: str, agent: str | None) -> Step:
    with Root(source) as root:
        name, text = _find_source(root, names)
    if not name:
        return Step(place=place, reason=text)
    with Root(target) as root:
        taken = _why_taken(root)
    if taken:
        return Step(place=place, source=name, reason=taken)
    new = reword(text, agent=agent)
    if [ref.path.rpartition("/")[2] for ref in parse(text)] == [TARGET_NAME] and len(text.split()) == 1:
        return Step(place=place, source=name, reason=f"all it says is to read {TARGET_NAME}, which does not exist")
    return Step(place=place, source=name, text=new.text, words=new.words, kept=new.kept, notes=_notes(name, text), folder=target)


def _find_source(root: Root, names: Sequence[str]) -> tuple[str, str]:
    """Return the name and the text of the first file that has any; "" and the reason why there is none."""
    reasons = []
    for name in names:
        text = _read(root, name)
        if isinstance(text, str) and text.strip():
            return name, text
        if not isinstance(text, str) and text.reason is not Reason.NOT_FOUND:
            reasons.append(f"{name}: {text.detail}")
        elif isinstance(text, str):
            reasons.append(f"{name} is blank")
    return "", "; ".join(reasons) or f"there is no {' and no '.join(names)}"


def _read(root: Root, name: str) -> str | Trouble:
    node = root.open(name)
    if isinstance(node, Trouble):
        return node
    with node:
        found = read_text(node, _LONGEST, undecodable="guess")
    if isinstance(found, Trouble):
        return found
    if not found.complete or found.length > _LONGEST:
        return Trouble(Reason.BUDGET, f"more than {_LONGEST} bytes are no text that people wrote")
    if found.caution:
        return Trouble(Reason.BINARY, f"it {found.caution}")
    return found.text


def _why_taken(root: Root) -> str:
    """Return why the target must not be written, in a sentence; "" if it is missing or blank."""
    text = _read(root, TARGET_NAME)
    if isinstance(text, str):
        return f"{TARGET_NAME} is there and is not blank" if text.strip() else ""
    return "" if text.reason is Reason.NOT_FOUND else f"{TARGET_NAME}: {text.detail}"


def _notes(name: str, text: str) -> tuple[str, ...]:
    folder = name.rpartition("/")[0]
    refs = [ref.path for ref in parse(text)] if folder else []
    return (f"it imports {', '.join(refs)} relative to {folder}/, and will be read from another folder",) if refs else ()
