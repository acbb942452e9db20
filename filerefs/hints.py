"""What a person may have meant: names that look alike or are near, out of one listing.  Never a reason to load."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NEAR = 0.7
"""How alike two names must be, as `difflib` measures it: a typo in a short name, two in a long one."""

SUGGESTIONS = 3


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """
    Return at most three of *names* that *name* may stand for, most alike first.

    Those that differ in nothing but what eyes pass over leave no room for others.  Then come those that only have an
    extension more, which is how other tools are told of files, then those that are alike.
    """
    folded = fold(name)
    candidates = {candidate: fold(candidate) for candidate in names}
    same = [candidate for candidate, other in candidates.items() if other == folded]
    if same:
        return same[:SUGGESTIONS]
    longer = [candidate for candidate, other in candidates.items() if other.rpartition(".")[0] == folded]
    return list(dict.fromkeys(longer + _close(folded, candidates)))[:SUGGESTIONS]


def fold(name: str) -> str:
    """Return *name* without what eyes pass over: case, kinds of blanks and quotes, compatibility forms."""
    if name.isascii():
        return name.casefold()
    folded = unicodedata.normalize("NFKC", name).casefold().translate(_LOOK_ALIKES)
    return "".join(" " if sign.isspace() else sign for sign in folded if unicodedata.category(sign) != "Cf")


_LOOK_ALIKES = str.maketrans("‘’‚‛“”„‟«»‐‑‒–—−", '\'\'\'\'""""""------')


def _close(name: str, candidates: dict[str, str]) -> list[str]:
    import difflib

    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(name)
    scored = []
    for candidate, folded in candidates.items():
        # The two quick ratios are upper bounds: most names are ruled out without the quadratic comparison.
        matcher.set_seq1(folded)
        if matcher.real_quick_ratio() >= NEAR and matcher.quick_ratio() >= NEAR and (ratio := matcher.ratio()) >= NEAR:
            scored.append((-ratio, candidate))
    return [candidate for _, candidate in sorted(scored)]
