"""The phases of one turn: parse -> load -> inject, and rewrite beside them; and what is said of them."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, assert_never

from filerefs import markers, naming
from filerefs.errors import OptionError, OptionTypeError, SpanMismatchError
from filerefs.limits import Limits
from filerefs.loading import load_all
from filerefs.mentions import Ref, Scan, scan
from filerefs.outcomes import Attached, Refused
from filerefs.rewriting import rewrite
from filerefs.section import compose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filerefs.limits import MediaPolicy
    from filerefs.loading import Loaded
    from filerefs.memory import Memory
    from filerefs.mentions import CodePolicy
    from filerefs.outcomes import Outcome
    from filerefs.rootlike import RootLike

JSON: TypeAlias = str | int | bool | list["JSON"] | dict[str, "JSON"] | None

LEFTOVER = "an earlier section was changed by someone else and is still in the prompt"
SPENT = "too many names in one message: some were not looked up and are left as they are"

_DEFAULTS = Limits()


class Settings(NamedTuple):
    """How a turn is taken; `lowered` are limits for this turn alone, which can only be lower than `limits`."""

    limits: Limits | None
    lowered: Limits | None
    code: CodePolicy
    lenient: bool
    media: MediaPolicy = False

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


def take(message: str, prompt: str, root: RootLike, *, settings: Settings, memory: Memory, previous: str, refs: Sequence[Ref] = ()) -> Taken:
    """Return what *message* and *prompt* become; *previous* is the section of the turn before, *refs* are mentions beside those that are parsed."""
    found = scan(message, code=settings.code, lenient=settings.lenient)
    if refs:
        found = _with_given(found, refs, message)
    recollection = memory.turn()
    loaded = load_all(found, root, settings.effective_limits, lenient=settings.lenient, media=settings.media, recollection=recollection)
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


def _with_given(found: Scan, refs: Sequence[Ref], message: str) -> Scan:
    """Return *found* with *refs* among it, and without what would be a mention where one of them stands."""
    given = _check_given(refs, message)
    starts = [ref.start for ref in given]

    def is_free(ref: Ref) -> bool:
        following = bisect_left(starts, ref.run_end)
        return following == 0 or given[following - 1].end <= ref.start

    free = [ref for ref in found.refs if is_free(ref)]
    return Scan(sorted([*free, *given], key=lambda ref: ref.start), [ref for ref in found.in_code if is_free(ref)])


def _check_given(refs: Sequence[Ref], message: str) -> list[Ref]:
    """Return *refs* in order, each the exact name that it is; raise what `Preprocessor.preprocess` says where one is none."""
    if not all(isinstance(ref, Ref) for ref in refs):
        raise OptionTypeError("refs", refs, "a sequence of Ref")
    given = sorted(refs, key=lambda ref: ref.start)
    done = 0
    for ref in given:
        if ref.start < 0 or not ref.token or message[ref.start : ref.end] != ref.token:
            raise SpanMismatchError(ref.token, (ref.start, ref.end))
        if ref.start < done:
            raise OptionError("refs", refs, "mentions that do not overlap")
        done = ref.end
    return [ref._replace(quoted=True, message=message, run_end=ref.end) for ref in given]


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


def describe(outcome: Outcome) -> dict[str, JSON]:
    """Return one outcome as JSON, every key present: a program need not ask which kind it has before it reads."""
    attached = outcome if outcome.status == "attached" else None
    refused = outcome if outcome.status == "refused" else None
    lines: JSON = [[first, last] for first, last in attached.lines] if attached and attached.lines else None
    return {
        "token": outcome.token,
        "path": outcome.path,
        "spans": [[start, end] for start, end in outcome.spans],
        "status": outcome.status,
        "summary": outcome.summary,
        "notes": [*outcome.remarks],
        "kind": attached.kind if attached else None,
        "lines": lines,
        "size": attached.size if attached else None,
        "shown": attached.shown if attached else None,
        "truncated": attached.truncated if attached else None,
        "encoding": attached.encoding if attached else None,
        "lossy": attached.lossy if attached else None,
        "language": attached.language if attached else None,
        "reason": refused.reason.value if refused else None,
        "detail": refused.detail if refused else None,
        "hint": refused.hint if refused else None,
    }
