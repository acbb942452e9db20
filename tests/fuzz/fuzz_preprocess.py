"""
One turn from any bytes: whatever they are, nothing is raised and the laws of the turn hold.

The first byte holds the options, bit by bit: links inside, `code="load"`, not lenient, two bits for the limits, and
whether the other backend must say the same.  What follows is the message and, behind two bytes that are never UTF-8,
the prompt; bytes that are no text become lone surrogates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filerefs import Root, strip_section

from ..property.strategies import AROUND, BITING, SUFFIXES  # noqa: TID252 (the tests are no package that could be imported by name)
from ..property.test_laws import LIMITS, NAMES, Setting, check_message, check_outcomes, check_record, check_section  # noqa: TID252

if TYPE_CHECKING:
    from pathlib import Path

BETWEEN = b"\xff\xff"
WORDS = tuple(dict.fromkeys((*(f"@{name}" for name in NAMES), *NAMES, *AROUND, *SUFFIXES, *BITING)))
"""What fuzzers put together: the names in the tree, and whatever bites beside them."""


def read_setting(options: int) -> tuple[Setting, bool]:
    """Return how the turn is made, and whether the walk must make the same of it."""
    setting = Setting(
        symlinks="inside" if options & 1 else "refuse",
        code="load" if options & 2 else "inert",
        lenient=not options & 4,
        limits=LIMITS[options >> 3 & 3],
    )
    return setting, bool(options & 32)


def check(data: bytes, root: Path) -> None:
    """Take the turn that *data* describes in the nasty tree *root*, and a second one behind it."""
    setting, both = read_setting(data[0] if data else 0)
    typed, _, before = data[1:].partition(BETWEEN)
    message, prompt = typed.decode("utf-8", "surrogateescape"), before.decode("utf-8", "surrogateescape")
    with setting.open(root) as preprocessor:
        turn = preprocessor.preprocess(message, prompt)
        again = preprocessor.preprocess(message, turn.prompt)
        restored = preprocessor.preprocess("", turn.prompt)

    check_record(turn, root)
    check_message(turn, message)
    check_section(turn, prompt, setting.limits)
    check_outcomes(list(turn.outcomes), setting.limits)
    assert (turn.prompt, turn.outcomes) == (again.prompt, again.outcomes)
    assert restored.prompt == strip_section(prompt)
    if both:
        with Root(root, symlinks=setting.symlinks, backend="walk") as walk:
            assert turn.outcomes == tuple(setting.load(message, walk))
