"""
A chat without its surface: what was said, what stays attached, and what the model sees in this turn.

Messages are kept as they were sent, with plain paths.  Files are never kept: the section belongs to the system prompt
of one turn, and the next turn has another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from filerefs import Attached, Turn, format_ref, parse

if TYPE_CHECKING:
    from filerefs import Outcome, Preprocessor

# A message cannot reach across it: references on one line, a blank line, and then whatever was typed.
_GAP = "\n\n"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A message as it was sent, and the answer."""

    message: str
    answer: str


class Conversation:
    """
    Takes messages in, and remembers what was said.

    Attributes:
        prompt: The system prompt, without any section.
        instructions: The text of the instruction files, put behind it.
        history: What was said, oldest first.
        turn: The last one; None before the first and after `clear`.
    """

    def __init__(self, preprocessor: Preprocessor, *, prompt: str = "", instructions: str = "") -> None:
        self.prompt = prompt
        self.instructions = instructions
        self.history: list[Exchange] = []
        self.turn: Turn | None = None
        self._preprocessor = preprocessor
        self._kept: dict[str, str] = {}

    @property
    def base(self) -> str:
        """What stands before the section: the system prompt and the instruction files."""
        return _GAP.join(part for part in (self.prompt, self.instructions) if part)

    @property
    def answered(self) -> list[Exchange]:
        """What a model gets as history: a message that was only shown, without a model to send it to, is not part of it."""
        return [exchange for exchange in self.history if exchange.answer]

    @property
    def kept(self) -> list[str]:
        """The references that every turn has, as they were typed, but in quotes where they need some to stand alone."""
        return list(self._kept.values())

    def take(self, message: str) -> Turn:
        """
        Return the turn of *message*: with its files, and with those that are kept, as they are now.

        `Turn.original` begins with the kept references, so that spans fit it; `Turn.message` does not.
        """
        kept = " ".join(self._kept.values())
        turn = self._preprocessor.preprocess(f"{kept}{_GAP}{message}" if kept else message, self.base)
        # No name and no path in plain form holds a line feed, so the first gap is the one that was put there.
        if kept:
            turn = turn.__replace__(message=turn.message.partition(_GAP)[2])
        self.turn = turn
        return turn

    def remember(self, message: str, answer: str) -> None:
        """Keep what was sent and what came back."""
        self.history.append(Exchange(message, answer))

    def keep(self, text: str) -> tuple[Outcome, ...]:
        """Attach what *text* refers to in all turns from now on; return what became of each reference."""
        outcomes = self._preprocessor.preprocess(text, self.base).outcomes
        self._kept |= {outcome.path: _alone(outcome) for outcome in outcomes if isinstance(outcome, Attached)}
        return outcomes

    def look_at_kept(self) -> Turn:
        """Return the turn of the references that every turn has, without a message, as their files are now."""
        return self._preprocessor.preprocess(" ".join(self._kept.values()), self.base)

    def drop(self, text: str = "") -> list[str]:
        """Keep what *text* refers to no longer, or nothing any more if it is ""; return the references that were dropped."""
        named = self._paths(text)
        gone = [path for path in self._kept if not text or path in named]
        return [self._kept.pop(path) for path in gone]

    def _paths(self, text: str) -> set[str]:
        """Return the paths that *text* names, as a message would; those of files that are gone since, too."""
        whole = _plain(text[1:])
        if whole in self._kept:
            return {whole}
        outcomes = self._preprocessor.preprocess(text, self.base).outcomes
        known = [span for outcome in outcomes for span in outcome.spans]
        rest = {_plain(ref.path) for ref in parse(text) if not any(start <= ref.start < end for start, end in known)}
        return rest | {_plain(outcome.path) for outcome in outcomes}

    def clear(self) -> None:
        """Forget what was said, the files of the last message, and what was kept."""
        self.history.clear()
        self._kept.clear()
        self.turn = None


def _plain(path: str) -> str:
    return path.rstrip("/").removeprefix("./")


def _alone(outcome: Attached) -> str:
    """Return the mention of *outcome* so that it is read the same whatever stands behind it."""
    token = outcome.token
    if any(ref.token == token for ref in parse(token, lenient=False)):
        return token
    tail = token.partition(outcome.path)[2]
    return format_ref(outcome.path) + (tail if tail.startswith((":", "#")) else "")
