"""What became of the references of a turn, said to a person: each attached one, each warning with its hint, each notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filerefs import Turn
    from filerefs.terminal import Screen


def report(turn: Turn, screen: Screen) -> None:
    """Write the notices of *turn*, one line each; nothing where the process has no such stream."""
    if screen.stream is None:
        return
    for outcome in turn.attached:
        screen.show(outcome.summary + "\n")
    with_hint = {f"{outcome.summary} — {outcome.hint}": outcome for outcome in turn.refused if outcome.hint}
    for warning in turn.warnings:
        refused = with_hint.get(warning)
        _print_line(screen, screen.paint("warning:", "yellow"), refused.summary if refused else warning)
        if refused:
            _print_line(screen, screen.paint("   hint:", "cyan"), refused.hint)
    for notice in turn.notices:
        _print_line(screen, screen.paint("notice:", "dim"), notice)
    screen.flush()


def _print_line(screen: Screen, title: str, text: str) -> None:
    screen.write(title + " ")
    screen.show(text + "\n")
