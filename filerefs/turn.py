"""One turn of a chat: parse, load, inject and rewrite in one call, and what is kept between turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from filerefs import markers, naming
from filerefs.errors import OptionError, OptionTypeError
from filerefs.limits import Limits
from filerefs.loading import load_all
from filerefs.memory import Memory
from filerefs.mentions import scan
from filerefs.outcomes import Attached, Refused
from filerefs.rewriting import rewrite
from filerefs.root import Root
from filerefs.section import compose

if TYPE_CHECKING:
    import os
    from collections.abc import Collection
    from types import TracebackType

    from filerefs.loading import Loaded
    from filerefs.mentions import CodePolicy, Ref
    from filerefs.outcomes import Outcome
    from filerefs.root import SymlinkPolicy

JSON: TypeAlias = "str | int | bool | None | list[JSON] | dict[str, JSON]"

LEFTOVER = "an earlier section was changed by someone else and is still in the prompt"
SPENT = "too many names in one message: some were not looked up and are left as they are"


@dataclass(frozen=True, slots=True, repr=False)
class Turn:
    """
    What one message became.

    Attributes:
        message: The message to send, loaded tokens rewritten to plain paths.
        original: The message as it was typed.
        prompt: The system prompt to send, with this turn's section at its end.
        section: The section alone, "" without any outcome.
        outcomes: What became of each file, in order of first mention.
        plain: Mentions that name nothing and do not look like paths; they are left as they are.
        warnings: What went wrong, one line each, for the person.
        notices: What else happened, one line each.

    .. versionadded:: 0.1
    """

    message: str
    original: str
    prompt: str
    section: str
    outcomes: tuple[Outcome, ...]
    plain: tuple[Ref, ...]
    warnings: tuple[str, ...]
    notices: tuple[str, ...]

    @property
    def attached(self) -> tuple[Attached, ...]:
        """The outcomes that go to the model."""
        return tuple(outcome for outcome in self.outcomes if isinstance(outcome, Attached))

    @property
    def refused(self) -> tuple[Refused, ...]:
        """The outcomes that do not."""
        return tuple(outcome for outcome in self.outcomes if isinstance(outcome, Refused))

    @property
    def section_bytes(self) -> int:
        """Bytes of `section` in UTF-8."""
        return len(self.section.encode())

    def as_dict(self) -> dict[str, JSON]:
        """Return the turn as JSON; the form is the same for `--json`, JSON Lines and hooks."""
        return {
            "version": 1,
            "message": self.message,
            "original": self.original,
            "prompt": self.prompt,
            "section": self.section,
            "warnings": list(self.warnings),
            "notices": list(self.notices),
            "refs": [_entry(outcome) for outcome in self.outcomes],
        }

    def __repr__(self) -> str:
        return f"Turn(attached={len(self.attached)}, refused={len(self.refused)}, section_bytes={self.section_bytes}, warnings={len(self.warnings)})"


class Preprocessor:
    """
    Preprocesses the messages of a chat; keeps the root's handle and the last turn's texts between them.

    May be shared by threads.  Close it, or use it in a `with` statement, to give the handle back early.

    Args:
        root: The folder that all names are relative to; it is opened now, whatever the working directory becomes.
        limits: Sizes and numbers; the defaults of `Limits` when None.
        symlinks: "refuse" every symbolic link, or follow those that stay "inside" the root.
        allow: Names that are opened although they look like those of secrets, exactly as they are relative to the root.
        code: "inert" leaves inline code spans alone, "load" does not.
        lenient: Whether unquoted blanks, typographic quotes and the full-width at-sign are understood.

    Raises:
        RootNotFoundError: If *root* is no directory.
        OptionError: If an option has a value that it does not take.
        OptionTypeError: If an option has another type, such as a bare string for *allow*.

    .. versionadded:: 0.1
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        *,
        limits: Limits | None = None,
        symlinks: SymlinkPolicy = "refuse",
        allow: Collection[str] = (),
        code: CodePolicy = "inert",
        lenient: bool = True,
    ) -> None:
        if limits is not None and not isinstance(limits, Limits):
            raise OptionTypeError("limits", limits, "a Limits, or None")
        if code not in ("inert", "load"):
            raise OptionError("code", code, '"inert" or "load"')
        self._root = Root(root, symlinks=symlinks, allow=allow)
        self._limits = limits or Limits()
        self._code: CodePolicy = code
        self._lenient = lenient
        self._memory = Memory(self._root)
        self._section = ""

    def preprocess(self, message: str, prompt: str = "", *, limits: Limits | None = None) -> Turn:
        """
        Return what *message* becomes: its files loaded, put into *prompt* in place of the last turn's.

        Args:
            message: What the person typed, and nothing else: file contents and answers are never parsed.
            prompt: The system prompt, with or without the section of an earlier turn.
            limits: Lower limits for this turn; where one is higher than the Preprocessor's own, that holds.

        Raises:
            RootClosedError: After `close`.  Trouble with a reference is never raised.
            OptionTypeError: If *message* or *prompt* is no string.

        .. versionadded:: 0.1
        """
        if not isinstance(prompt, str):
            raise OptionTypeError("prompt", prompt, "a string")
        found = scan(message, code=self._code, lenient=self._lenient)
        recollection = self._memory.turn()
        allowed = self._limits if limits is None else self._limits.at_most(limits)
        loaded = load_all(found, self._root, allowed, lenient=self._lenient, recollection=recollection)
        recollection.finish()
        composition = compose(prompt, loaded.outcomes, self._section)
        self._section = composition.section
        leftover = markers.has_leftover(composition.base)
        return Turn(
            message=rewrite(message, loaded.outcomes),
            original=message,
            prompt=composition.prompt,
            section=composition.section,
            outcomes=tuple(loaded.outcomes),
            plain=tuple(loaded.plain),
            warnings=tuple(_warnings(loaded, leftover=leftover)),
            notices=tuple(_notices(loaded)),
        )

    def close(self) -> None:
        """Give the root's handle back; waits for turns that are running in other threads."""
        self._root.close()

    def __enter__(self) -> Preprocessor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Preprocessor({self._root!r}, limits={self._limits!r})"


def preprocess(
    message: str,
    prompt: str = "",
    root: str | os.PathLike[str] = ".",
    *,
    limits: Limits | None = None,
    symlinks: SymlinkPolicy = "refuse",
    allow: Collection[str] = (),
    code: CodePolicy = "inert",
    lenient: bool = True,
) -> Turn:
    """
    Return what one *message* becomes: its files loaded, put at the end of *prompt*, its tokens plain paths.

    For more than one message use a `Preprocessor`, whose arguments these are; it raises the same.

    .. versionadded:: 0.1
    """
    with Preprocessor(root, limits=limits, symlinks=symlinks, allow=allow, code=code, lenient=lenient) as preprocessor:
        return preprocessor.preprocess(message, prompt)


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
        cautions = outcome.cautions if isinstance(outcome, Attached) else ()
        notices += [f"{outcome.label}: {note}" for note in outcome.remarks if note not in cautions]
    tokens = dict.fromkeys(ref.token for ref in loaded.in_code)
    return notices + [f"in code, not attached: {naming.label(token)}" for token in tokens]


def _entry(outcome: Outcome) -> dict[str, JSON]:
    """Return one outcome as JSON, every key present: a program need not ask which kind it has before it reads."""
    attached = outcome if isinstance(outcome, Attached) else None
    refused = outcome if isinstance(outcome, Refused) else None
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
