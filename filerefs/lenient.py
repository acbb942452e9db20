"""What people type without thinking of a grammar: unquoted blanks.

Typographic quotes and the full-width at-sign are alternatives in the patterns of `patterns`, switched by the same option.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from filerefs.mentions import default_reading, read_range
from filerefs.patterns import range_at_end
from filerefs.readings import Reading, spellings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import regex

    from filerefs.mentions import Ref

WORDS = 8
"""How many words behind a mention may belong to a name with blanks."""


def joins(ref: Ref, stop: int | None, goes_on: Callable[[str], bool]) -> Iterator[Reading]:
    """
    Yield the names that *ref* and words behind it on its line may form, longest first.

    Only names with an extension are tried, so that no sentence becomes a file.

    Args:
        ref: A bare mention.
        stop: Where the next mention opens, None if there is none.
        goes_on: Whether a name in the folder that *ref* names begins so and goes on with a blank: that rules most
            of the words out before anything is looked up.
    """
    rest = ref.rest_of_line(stop)
    if rest[:1] not in (" ", "\t"):
        return
    ends = []
    beginning = ref.run.rpartition("/")[2]
    for match in islice(_word().finditer(rest), WORDS):
        ends.append(match.end())
        joined = beginning + rest[: match.end()]
        if "/" not in joined and not goes_on(joined):
            break
    for end in reversed(ends):
        text = ref.run + rest[:end]
        length, _, lines = default_reading(text)
        for name_end in dict.fromkeys((len(text), length)):
            yield from _named(ref, text[:name_end], has_range=lines is not None)


def _named(ref: Ref, text: str, *, has_range: bool) -> Iterator[Reading]:
    end = ref.start + 1 + len(text)
    if _has_extension(text):
        yield Reading(end, spellings(text, quoted=False))
    if has_range and (match := range_at_end().search(text)) and _has_extension(text[: match.start()]):
        yield Reading(end, spellings(text[: match.start()], quoted=False), read_range(match))


def _has_extension(text: str) -> bool:
    stem, dot, extension = text.rpartition("/")[2].rpartition(".")
    return bool(stem and dot and extension) and not extension.isspace()


@cache
def _word() -> regex.Pattern[str]:
    import regex

    return regex.compile(r"[ \t]++[^ \t]++")
