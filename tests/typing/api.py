"""The public face as a type checker sees it.  This file is checked by mypy and pyright, and never run."""

from pathlib import Path
from typing import assert_never, assert_type

import filerefs
from filerefs import Attached, Limits, Outcome, Preprocessor, Reason, Ref, Refused, Root, Turn

turn = filerefs.preprocess("explain @a.py", "Be brief.", "project")
assert_type(turn, Turn)
assert_type(turn.message, str)
assert_type(turn.original, str)
assert_type(turn.prompt, str)
assert_type(turn.section, str)
assert_type(turn.section_bytes, int)
assert_type(turn.attached, tuple[Attached, ...])
assert_type(turn.refused, tuple[Refused, ...])
assert_type(turn.plain, tuple[Ref, ...])
assert_type(turn.warnings, tuple[str, ...])
assert_type(turn.notices, tuple[str, ...])

filerefs.preprocess("hello")
filerefs.preprocess("hello", root=Path("project"), limits=Limits(file_bytes=None), symlinks="inside", allow=["a/.env"], code="load", lenient=False)
filerefs.preprocess("hello", symlinks="follow")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
filerefs.preprocess("hello", code="run")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
filerefs.preprocess(b"hello")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

with Preprocessor("project", limits=Limits(refs=10)) as preprocessor:
    assert_type(preprocessor, Preprocessor)
    assert_type(preprocessor.preprocess("hello", prompt="Be brief.", limits=Limits(total_bytes=0)), Turn)

references = filerefs.parse("see @a.py:3-9", code="load", lenient=False)
assert_type(references, list[Ref])
assert_type(references[0].token, str)
assert_type(references[0].start, int)
assert_type(references[0].end, int)
assert_type(references[0].path, str)
assert_type(references[0].lines, tuple[int, int | None] | None)
assert_type(references[0].quoted, bool)

outcomes = filerefs.load(references, root="project", limits=Limits(refs=1))
assert_type(outcomes, list[Outcome])
assert_type(filerefs.build_section(outcomes), str)
assert_type(filerefs.inject("Be brief.", outcomes), str)
assert_type(filerefs.strip_section("Be brief."), str)
assert_type(filerefs.rewrite("see @a.py:3-9", outcomes), str)
assert_type(filerefs.format_ref("a b.py", (3, None)), str)
assert_type(filerefs.format_ref("a b.py", lines=(3, 9)), str)

with Root("project", symlinks="refuse", allow=()) as root:
    assert_type(root, Root)


def describe(outcome: Outcome) -> str:
    """A match over both kinds of outcome is complete."""
    match outcome:
        case Attached():
            assert_type(outcome.text, str)
            return outcome.summary
        case Refused():
            assert_type(outcome.reason, Reason)
            return outcome.hint
        case _:
            assert_never(outcome)


assert_type(filerefs.messages.preprocess_messages([], ".").turn, Turn)
assert_type(filerefs.agentsmd.discover("project").docs, tuple[filerefs.agentsmd.Doc, ...])
