"""message + outcomes -> the message with plain paths in place of mentions.  Slicing, never a second search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filerefs.errors import SpanMismatchError
from filerefs.outcomes import Attached

if TYPE_CHECKING:
    from collections.abc import Iterable

    from filerefs.mentions import Ref
    from filerefs.outcomes import Outcome, Span


def rewrite(message: str, outcomes: Iterable[Outcome]) -> str:
    """
    Return *message* with the plain path in place of every mention that was attached.

    What was refused stays as it was typed, and nothing outside of the mentions changes.  With nothing attached,
    *message* itself is returned.

    Args:
        message: The message that was parsed.
        outcomes: What `load` made of its references, in any order.

    Raises:
        SpanMismatchError: If a span of an attached outcome does not hold the mention it was made from, or two of
            them overlap: the message is another one.

    .. versionadded:: 0.1
    """
    pieces: list[str] = []
    done = 0
    for span, replacement, ref in _edits(outcomes):
        start, end = span
        if start < done or end > len(message) or message[start:end] != _mention(ref, span):
            raise SpanMismatchError(ref.upto(end), span)
        pieces += (message[done:start], replacement)
        done = end
    return "".join(pieces) + message[done:] if pieces else message


def _edits(outcomes: Iterable[Outcome]) -> list[tuple[Span, str, Ref]]:
    """Return what takes which place, in the order of the message."""
    attached = (outcome for outcome in outcomes if isinstance(outcome, Attached))
    edits = [edit for outcome in attached for edit in zip(outcome.spans, outcome.replacements, outcome.refs, strict=True)]
    edits.sort(key=lambda edit: edit[0])
    return edits


def _mention(ref: Ref, span: Span) -> str | None:
    """Return the text that *ref* was parsed from up to the end of *span*; None if *span* does not start where it does."""
    start, end = span
    return ref.upto(end) if start == ref.start < end else None
