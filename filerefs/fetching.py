"""
What a model asks a tool for -> the block that a section would show of it, or a sentence that says what to do instead.

A model writes names less carefully than a person: with quotes around them, several in one text, a list in JSON.  What
stands there is taken as one name first, exactly as it is; only what exists decides that it was meant otherwise.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from filerefs import naming
from filerefs.advice import hint_for
from filerefs.loading import load
from filerefs.mentions import Ref, parse, read_range
from filerefs.outcomes import Attached, Reason
from filerefs.patterns import range_at_end
from filerefs.resolving import NOT_FOUND, Hit, Lookup, Miss, looks_like_path, resolve_one
from filerefs.section import render_outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from filerefs.limits import Limits
    from filerefs.outcomes import Outcome
    from filerefs.patterns import TokenMatch
    from filerefs.rootlike import RootLike

LONGEST: Final = 16_384
"""Characters that one call may hold."""
MOST: Final = 100
"""Names that one call may hold; the rest is not looked at."""
ADVICE: Final = "list_files shows the names"
"""What a model can do about a name that nothing bears, and that nothing is near."""

# A list is parted at these; what is in double quotes is not.  Blanks part it only where that leaves something that exists.
_ITEM: Final = re.compile(r'(?:@?"[^"\n]*+"|[^,;\n"]|")+')
_WORD: Final = re.compile(r'(?:"[^"\n]*+"|[^\s"]|")+')
_QUOTES: Final = (('"', '"'), ("'", "'"), ("`", "`"), ("<", ">"))


class Wish(NamedTuple):
    """One thing that was asked for: as it is read, and whether that exists (None: nothing that looks like a name)."""

    ref: Ref
    found: bool | None


class Fetched(NamedTuple):
    """
    What was asked for.

    Attributes:
        text: For each file the block that a section would show, for each trouble one sentence.
        outcomes: What became of each file, in the order of the blocks; none for a name that nothing is called by.
        problems: The sentences alone.

    .. versionadded:: 0.1
    """

    text: str
    outcomes: tuple[Outcome, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether anything is shown."""
        return any(outcome.status == "attached" for outcome in self.outcomes)


def fetch(text: str, root: RootLike, limits: Limits, *, advice: str = ADVICE) -> Fetched:
    """
    Return what *text* names; *advice* is what its reader can do about a name that nothing bears.

    Raises:
        RootClosedError: If *root* was closed.  Nothing that stands in *text* raises.
    """
    if not text.strip():
        return _nothing("Nothing was named: name a file or folder relative to the root folder, such as src/app.py or src/app.py:10-40.")
    if len(text) > LONGEST:
        return _nothing(f"Nothing was read: what names the files may have {LONGEST} characters at most.")
    with Lookup(root) as lookup:
        wishes = _read(text, lookup, (_ITEM, _WORD))
        refs = _one_message([wish.ref for wish in wishes[:MOST]])
        outcomes = load(refs, lookup.root, limits=limits, lenient=False)
        known = {ref for outcome in outcomes for ref in outcome.refs}
        missing = [ref for ref in refs if ref not in known]
        shown = [_describe(outcome, advice) for outcome in outcomes]
        others = [complain(ref.path, NOT_FOUND.detail, hint_for(ref.path, Reason.NOT_FOUND, lookup), advice=advice) for ref in missing]
    if len(wishes) > MOST:
        others.append(f"Only the first {MOST} of {len(wishes)} names were looked at.")
    refused = [text for text, outcome in zip(shown, outcomes, strict=True) if not isinstance(outcome, Attached)]
    return Fetched("\n\n".join(dict.fromkeys([*shown, *others])), tuple(outcomes), tuple(dict.fromkeys([*refused, *others])))


def _nothing(problem: str) -> Fetched:
    return Fetched(problem, problems=(problem,))


def complain(name: str, detail: str, hint: str = "", *, verb: str = "read", advice: str = ADVICE) -> str:
    """Return the sentence for a *name* that cannot be read (or whatever *verb* says): the reason, and what to do instead."""
    sentence = f"Could not {verb} {naming.label(name) or 'it'}: {detail}"
    if hint:
        sentence += f" — {hint}"
    elif detail == NOT_FOUND.detail:
        sentence += f" — {advice}"
    return sentence if sentence.endswith("?") else f"{sentence}."


def _describe(outcome: Outcome, advice: str) -> str:
    if isinstance(outcome, Attached):
        return render_outcome(outcome)
    return complain(outcome.path, outcome.detail, outcome.hint, advice=advice)


def _read(text: str, lookup: Lookup, separators: Sequence[re.Pattern[str]]) -> list[Wish]:
    """Return what *text* asks for: one thing if that exists, else a list if something in it exists, else one thing."""
    whole = _choose(text, lookup)
    if whole.found:
        return [whole]
    for number, separator in enumerate(separators):
        items = _items(text, separator)
        if items == [text]:
            continue
        wishes = [wish for item in items for wish in _read(item, lookup, separators[number + 1 :])]
        if not any(wish.found for wish in wishes):
            continue
        # Words around the names are no names: `read a.py and b.py`.
        return [wish for wish in wishes if wish.found is not None or separator is not _WORD]
    return [whole]


def _items(text: str, separator: re.Pattern[str]) -> list[str]:
    if separator is _ITEM and text.lstrip().startswith("["):
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError):
            listed = None
        if isinstance(listed, list):
            # What is no name is no file either, and is told so: nothing that was asked for goes without an answer.
            names = [item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in listed]
            return [name for name in names if name.strip()] or [text]
    return [item for item in separator.findall(text) if item.strip()] or [text]


def _choose(text: str, lookup: Lookup) -> Wish:
    """Return *text* as one name, in the first reading that exists; else in the one whose trouble says most."""
    told: Ref | None = None
    last: Ref | None = None
    for ref in _readings(text):
        found = resolve_one(ref, lookup)
        if isinstance(found, Hit):
            return Wish(ref, found=True)
        if told is None and isinstance(found, Miss) and found.trouble.reason not in (Reason.NOT_FOUND, Reason.BAD_NAME):
            told = ref
        last = last if last is not None and found is None else ref
    ref = told or last or _exact(text)
    return Wish(ref, found=False if told is not None or looks_like_path(ref.path) else None)


def _readings(text: str) -> Iterator[Ref]:
    """Yield what *text*, taken as one name, may mean, best first."""
    bare = _unwrap(text)
    name = _unwrap(bare.removeprefix("@"))
    if not name:
        return
    yield _exact(name)
    if (match := range_at_end().search(name)) and match.start():
        yield _exact(name[: match.start()], match)
    for token in dict.fromkeys(_with_at(one) for one in (text.strip(), bare)):
        refs = parse(token, code="load", lenient=False)
        if len(refs) == 1 and _is_whole(refs[0], token):
            yield refs[0]
    if bare.startswith("@"):
        # A folder may be called `@scope`.
        yield _exact(bare)


def _with_at(text: str) -> str:
    return text if text.startswith("@") else f"@{text}"


def _is_whole(ref: Ref, token: str) -> bool:
    """Tell whether *ref* is all of *token*, and no list of which it would be the first."""
    return ref.start == 0 and ref.run_end == len(token) and (ref.quoted or not set(",;|") & set(token))


def _exact(name: str, lines: TokenMatch | None = None) -> Ref:
    """Return a mention of exactly *name*, which never shrinks."""
    token = f'@"{name}"{lines[0] if lines else ""}'
    return Ref(token, 0, len(token), name, read_range(lines) if lines else None, True, token, len(token))  # noqa: FBT003 (by position: a named tuple)


def _unwrap(text: str) -> str:
    text = text.strip()
    for opening, closing in _QUOTES:
        if len(text) > 1 and text[0] == opening and text[-1] == closing and closing not in text[1:-1]:
            return text[1:-1].strip()
    return text


def _one_message(refs: Sequence[Ref]) -> list[Ref]:
    """Return *refs* as the mentions of one message: then the limits hold for all of them together, and their order is kept."""
    message = "\n".join(ref.message for ref in refs)
    moved, start = [], 0
    for ref in refs:
        moved.append(ref._replace(message=message, start=ref.start + start, end=ref.end + start, run_end=ref.run_end + start))
        start += len(ref.message) + 1
    return moved
