"""What a person is told, one line each: files that were attached, warnings and errors with their hints, notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filerefs import Refused, Turn
    from filerefs.terminal import Screen

_HINT = "   hint:"


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
            _print_line(screen, screen.paint(_HINT, "cyan"), refused.hint)
    for notice in turn.notices:
        _print_line(screen, screen.paint("notice:", "dim"), notice)
    screen.flush()


def describe_refusal(refused: Refused) -> Iterator[str]:
    """Yield the lines that `report` writes of *refused*, without colours."""
    yield f"warning: {refused.summary}"
    if refused.hint:
        yield hint_line(refused.hint)


def hint_line(hint: str) -> str:
    """Return *hint* as it stands below the line that it belongs to."""
    return f"{_HINT} {hint}"


def report_error(problem: str, screen: Screen, hint: str = "") -> None:
    """Write what went wrong, and what could be done instead, if there is something; nothing where there is no such stream."""
    if screen.stream is None:
        return
    _print_line(screen, screen.paint("error:", "red"), problem)
    if hint:
        _print_line(screen, screen.paint(_HINT, "cyan"), hint)
    screen.flush()


def report_notice(notice: str, screen: Screen) -> None:
    """Write *notice*; nothing where there is no such stream."""
    if screen.stream is not None:
        _print_line(screen, screen.paint("notice:", "dim"), notice)
        screen.flush()


def _print_line(screen: Screen, title: str, text: str) -> None:
    screen.write(title + " ")
    screen.show(text + "\n")
