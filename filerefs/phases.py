"""The phases of one turn: parse -> load -> inject, and rewrite beside them; and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, assert_never

from filerefs import markers, naming
from filerefs.limits import Limits
from filerefs.loading import load_all
from filerefs.mentions import scan
from filerefs.outcomes import Attached, Refused
from filerefs.rewriting import rewrite
from filerefs.section import compose

if TYPE_CHECKING:
    from filerefs.loading import Loaded
    from filerefs.memory import Memory
    from filerefs.mentions import CodePolicy, Ref
    from filerefs.outcomes import Outcome
    from filerefs.root import Root

LEFTOVER = "an earlier section was changed by someone else and is still in the prompt"
SPENT = "too many names in one message: some were not looked up and are left as they are"

_DEFAULTS = Limits()


class Settings(NamedTuple):
    """How a turn is taken; `lowered` are limits for this turn alone, which can only be lower than `limits`."""

    limits: Limits | None
    lowered: Limits | None
    code: CodePolicy
    lenient: bool

    @property
    def effective_limits(self) -> Limits:
        limits = self.limits or _DEFAULTS
        return limits if self.lowered is None else limits.at_most(self.lowered)


class Taken(NamedTuple):
    """What the phases made of a message; the fields are those of `Turn`."""

    message: str
    prompt: str
    section: str
    outcomes: tuple[Outcome, ...]
    plain: tuple[Ref, ...]
    warnings: tuple[str, ...]
    notices: tuple[str, ...]


def take(message: str, prompt: str, root: Root, *, settings: Settings, memory: Memory, previous: str) -> Taken:
    """Return what *message* and *prompt* become; *previous* is the section of the turn before."""
    found = scan(message, code=settings.code, lenient=settings.lenient)
    recollection = memory.turn()
    loaded = load_all(found, root, settings.effective_limits, lenient=settings.lenient, recollection=recollection)
    recollection.finish()
    composition = compose(prompt, loaded.outcomes, previous)
    return Taken(
        message=rewrite(message, loaded.outcomes),
        prompt=composition.prompt,
        section=composition.section,
        outcomes=tuple(loaded.outcomes),
        plain=tuple(loaded.plain),
        warnings=tuple(_warnings(loaded, leftover=markers.has_leftover(composition.base))),
        notices=tuple(_notices(loaded)),
    )


def _warnings(loaded: Loaded, *, leftover: bool) -> list[str]:
    warnings = []
    for outcome in loaded.outcomes:
        match outcome:
            case Refused():
                warnings.append(f"{outcome.summary} — {outcome.hint}" if outcome.hint else outcome.summary)
            case Attached():
                warnings += [f"{outcome.label}: {caution}" for caution in outcome.cautions]
            case _:
                assert_never(outcome)
    if loaded.spent:
        warnings.append(SPENT)
    if leftover:
        warnings.append(LEFTOVER)
    return warnings


def _notices(loaded: Loaded) -> list[str]:
    notices = []
    for outcome in loaded.outcomes:
        cautions = set(outcome.cautions) if isinstance(outcome, Attached) else set()
        notices += [f"{outcome.label}: {note}" for note in outcome.remarks if note not in cautions]
    tokens = dict.fromkeys(ref.token for ref in loaded.in_code)
    return notices + [f"in code, not attached: {naming.label(token)}" for token in tokens]
