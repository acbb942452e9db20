"""What an event is answered with, before a host's protocol gives it its form; and what the person chose."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from filerefs.hooks.budget import LIMIT, SHARE, cut_list, measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from filerefs.hooks.hosts import Unit
    from filerefs.root import SymlinkPolicy

_TITLE = "filerefs: "


class Options(NamedTuple):
    """
    What follows the host's name on the command line.

    Attributes:
        bodies: True gives the model also what the host attaches by itself, False gives nothing but names; None leaves
            to the host what it does, and gives the rest.
        symlinks: As for `Preprocessor`.
        allow: As for `Preprocessor`.
    """

    bodies: bool | None = None
    symlinks: SymlinkPolicy = "refuse"
    allow: tuple[str, ...] = ()


class Answer(NamedTuple):
    """
    What there is to say about an event.

    Attributes:
        context: For the model; "" for nothing.
        warnings: For the person, one line each.
    """

    context: str = ""
    warnings: tuple[str, ...] = ()

    def message(self, unit: Unit) -> str:
        """Return the warnings as one text, cut to their share; "" for none."""
        if not self.warnings:
            return ""
        return _TITLE + cut_list(self.warnings, SHARE - len(_TITLE), unit, "and {} more warnings")

    def fits(self, unit: Unit) -> bool:
        """Tell whether it is within what hosts pass on."""
        return measure(self.context, unit) + measure(self.message(unit), unit) <= LIMIT


def fit(make: Callable[[int], Answer], unit: Unit) -> Answer:
    """Return what *make* gives for all the room there is, or, if warnings leave no room for that, for what they leave."""
    answer = make(LIMIT)
    return answer if answer.fits(unit) else make(LIMIT - SHARE)
