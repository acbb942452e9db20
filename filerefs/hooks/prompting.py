"""What goes with a message: the files it names that the host does not attach itself, within the host's limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from filerefs import Attached, Limits, Preprocessor, Reason, Refused, build_section, naming
from filerefs.hooks.answers import Answer, fit
from filerefs.hooks.budget import LIMIT, SHARE, cut_list, measure
from filerefs.hooks.sharing import Theirs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from filerefs import Outcome, Turn
    from filerefs.hooks.answers import Options
    from filerefs.hooks.hosts import Host, Unit

# A file that is cut here is too long for every host: none counts less than a character for four bytes of UTF-8.
_LIMITS = Limits(file_bytes=4 * LIMIT, total_bytes=None)

_NAMED = "The user's message names these files, too. They are not shown here and can be read with {reader}:"
_TOO_LONG = "too long for a hook, so the model is given its name"

# Where the host attaches a file itself, its own rules hold; these are the reasons for which it will fail as well.
_FAILS_THERE_TOO = frozenset(
    (
        *(Reason.NOT_FOUND, Reason.NOT_REGULAR, Reason.PERMISSION, Reason.SYMLINK_LOOP, Reason.AMBIGUOUS),
        *(Reason.BAD_NAME, Reason.BAD_RANGE, Reason.BUSY, Reason.IO_ERROR),
    )
)


def compose(event: Mapping[str, Any], prompt: str, root: str, host: Host, options: Options) -> Answer:
    """
    Return the section for the files that *prompt* names, and names for those that are too long for *host*.

    Raises:
        RootError: If *root* cannot be opened.
    """
    if host.untyped and prompt.lstrip().startswith(host.untyped):
        return Answer()
    with Preprocessor(root, limits=_LIMITS, symlinks=options.symlinks, allow=options.allow) as preprocessor:
        turn = preprocessor.preprocess(prompt)
    theirs = Theirs(host, event, turn, root)
    ours = tuple(outcome for outcome in turn.outcomes if options.bodies or not theirs.has(outcome))
    contents = _Context(ours, host, options)

    def make(room: int) -> Answer:
        context, named = contents.fill(room)
        # Where names alone were asked for, that they are all there is, is nothing to be warned of.
        return Answer(context, tuple(_warnings(turn, ours, () if options.bodies is False else named, host)))

    return fit(make, host.unit)


class _Context:
    """What the model gets of *outcomes*: a section of those that fit, a list of names of the others."""

    def __init__(self, outcomes: tuple[Outcome, ...], host: Host, options: Options) -> None:
        self._outcomes = outcomes
        self._unit: Unit = host.unit
        self._head = _NAMED.format(reader=host.reader)
        self._names = [_name(outcome) for outcome in outcomes]
        self._numbers = [] if options.bodies is False else [n for n, outcome in enumerate(outcomes) if not _is_better_named(outcome)]

    def fill(self, room: int) -> tuple[str, list[Outcome]]:
        """Return the text, and the outcomes that are not in its section; who is named first is shown first."""
        shown: list[int] = []
        text = self._text(shown, room)
        for number in self._numbers:
            longer = self._text([*shown, number], room)
            if measure(longer, self._unit) <= room:
                shown.append(number)
                text = longer
        return text, [outcome for number, outcome in enumerate(self._outcomes) if number not in shown]

    def _text(self, shown: Sequence[int], room: int) -> str:
        section = build_section([self._outcomes[number] for number in shown], rewritten=False)
        names = [name for number, name in enumerate(self._names) if name and number not in shown]
        if not names:
            return section
        left = room - measure(section, self._unit) - measure(self._head, self._unit) - 3
        return "\n\n".join(filter(None, (section, f"{self._head}\n{cut_list(names, max(left, SHARE), self._unit, '- and {} more')}")))


def _is_better_named(outcome: Outcome) -> bool:
    """Tell whether the model gets more out of a name: of a file that does not fit, of an image that it may be able to look at."""
    return isinstance(outcome, Attached) and (outcome.kind == "media" or _is_too_long(outcome))


def _is_too_long(outcome: Attached) -> bool:
    return outcome.truncated and outcome.kind == "file"


def _name(outcome: Outcome) -> str:
    """Return a line of the list; "" for what cannot be read, which is no use to the model: the person is told."""
    match outcome:
        case Attached(kind="directory"):
            return f"- {outcome.label} (directory)"
        case Attached():
            lines = f"{naming.line_numbers(outcome.lines)} of " if outcome.lines else ""
            return f"- {outcome.label} ({lines}{naming.human_size(outcome.size)})"
        case Refused():
            return ""
        case _:
            assert_never(outcome)


def _warnings(turn: Turn, ours: Sequence[Outcome], named: Sequence[Outcome], host: Host) -> Iterator[str]:
    ours_by_id, named_by_id = set(map(id, ours)), set(map(id, named))
    for outcome in turn.outcomes:
        if id(outcome) not in ours_by_id:
            yield from _about_theirs(outcome, host)
        elif isinstance(outcome, Attached) and id(outcome) in named_by_id:
            yield from [f"{outcome.label}: {_TOO_LONG}"] if outcome.kind == "file" else []
        else:
            yield from _about(outcome)
    about = {warning for outcome in turn.outcomes for warning in _about(outcome)}
    yield from (warning for warning in turn.warnings if warning not in about)


def _about(outcome: Outcome) -> list[str]:
    """Return what `Turn.warnings` says of *outcome*."""
    match outcome:
        case Refused():
            return [f"{outcome.summary} — {outcome.hint}" if outcome.hint else outcome.summary]
        case Attached():
            return [f"{outcome.label}: {caution}" for caution in outcome.cautions]
        case _:
            assert_never(outcome)


def _about_theirs(outcome: Outcome, host: Host) -> list[str]:
    if not isinstance(outcome, Refused):
        return []
    if outcome.reason is Reason.SECRET:
        return [f"{outcome.label} has the name of a file with credentials; {host.title} may attach it all the same"]
    return _about(outcome) if outcome.reason in _FAILS_THERE_TOO else []
