"""
Sections put into and taken out of any prompt: the laws of chapter 6 of the design hold.

No fuzzer finds a digest by chance, so the bytes are a small program that builds the prompt.  Text stands for itself;
six bytes that never occur in UTF-8 are commands: begin a section; end it behind two newlines, or as one that has none
in front of it, or as one whose newlines somebody took away; make every line end a CR LF; put down what was built (the
prompt first, then a text to stand behind the section, then the contents, one after the other, each a file, folder,
medium or refusal by its first character).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from filerefs import build_section, inject, markers, strip_section
from filerefs.section import compose

from ..property.strategies import BITING, attached, outline, refused  # noqa: TID252 (the tests are no package that could be imported by name)

if TYPE_CHECKING:
    from filerefs import Outcome

END_BEREFT, BEGIN, END_BEHIND, END_ALONE, CR_LF, NEXT = COMMANDS = b"\xf9\xfa\xfb\xfc\xfd\xfe"
_PIECES = re.compile(rb"[\xf9-\xfe]|[^\xf9-\xfe]+")
WORDS = (*(bytes((command,)) for command in COMMANDS), *BITING)


def read_texts(data: bytes) -> list[str]:
    """Return the texts that *data* builds; a section that is not ended is no more than its text."""
    texts = []
    levels = [""]
    for piece in _PIECES.findall(data):
        command = piece[0]
        if command == BEGIN:
            levels.append("")
        elif command in (END_BEREFT, END_BEHIND, END_ALONE):
            body = levels.pop().encode("utf-8", "replace").decode()
            levels = levels or [""]
            levels[-1] += ("\n\n" if command == END_BEHIND else "") + markers.wrap(body, 0 if command == END_ALONE else 2)
        elif command == CR_LF:
            levels[-1] = levels[-1].replace("\n", "\r\n")
        elif command == NEXT:
            texts.append("".join(levels))
            levels = [""]
        else:
            levels[-1] += piece.decode("utf-8", "surrogateescape")
    return [*texts, "".join(levels)]


def make_outcome(text: str) -> Outcome:
    """Return an outcome of the kind that the first character of *text* says, of a file that the first line names."""
    name, _, content = text[1:].partition("\n")
    path = name.replace("\0", "") or "a.txt"
    match text[:1]:
        case "d":
            return attached(path, content, kind="directory", entries=content.count("\n"))
        case "m":
            return attached(path, kind="media", media_type=content, size=10**9)
        case "r":
            return refused(path, content, hint="type something else")
        case "c":
            return attached(path, content, truncated=True, notes=tuple(content.split("\n")[:3]), lines=((1, 9),))
        case _:
            return attached(path, content, names=(name,), language=name)


def check(data: bytes, _: object = None) -> None:
    """Put the outcomes that *data* builds into the prompt that it builds, and take them out again."""
    prompt, after, *contents = [*read_texts(data), "", "x"][: max(3, data.count(NEXT) + 1)]
    found = [make_outcome(content) for content in contents]
    base = strip_section(prompt)
    injected = inject(prompt, found)

    _check_base(prompt, base)
    assert strip_section(injected) == base
    assert inject(injected, []) == base
    assert inject(inject(prompt, found[:1]), found[1:]) == inject(prompt, found[1:])
    if strip_section(base + after) == base + after:
        assert strip_section(injected + after) == base + after
    composed = compose(prompt, found)
    assert composed.prompt == injected
    assert markers.strip_known(composed.prompt, composed.section) == base
    assert compose(composed.prompt, found, composed.section) == composed
    _check_section(build_section(found), found)


def _check_base(prompt: str, base: str) -> None:
    assert strip_section(base) is base
    assert (base is prompt) == (base == prompt)
    signs = iter(prompt)
    assert all(sign in signs for sign in base), "what is left is not what stood there"
    assert strip_section("x" + prompt)[:1] == "x"
    assert strip_section(prompt + "x")[-1:] == "x"


def _check_section(section: str, found: list[Outcome]) -> None:
    shown = sum(outcome.shown for outcome in found if outcome.status == "attached")
    assert len(section.encode()) <= shown + 1024 * len(found) + 4096
    outside, _, open_fence = outline(section)
    assert open_fence == ""
    assert [line for line in outside if line.startswith("### ")] == [f"### {outcome.label}" for outcome in found]
