"""What else a mention may mean, longest first: existence decides between these."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from filerefs.mentions import Ref, parse
from filerefs.readings import READINGS, Reading, cuts, may_end, natural_end, readings, spellings


def only(message: str) -> Ref:
    """Return the one mention of *message*."""
    refs = parse(message)
    assert len(refs) == 1, refs
    return refs[0]


def tried(message: str) -> list[str]:
    """Return what is tried for the mention of *message*, in order: `name`, `name [range]` or `name {fragment}`."""
    ref = only(message)
    found = []
    for reading in readings(ref):
        assert ref.start < reading.end <= ref.run_end
        assert ref.quoted or message.startswith(reading.names[0], ref.start + 1, reading.end)
        lines = "" if reading.lines is None else f" {list(reading.lines)}"
        fragment = f" {{{reading.fragment}}}" if reading.fragment else ""
        found.append(" or ".join(reading.names) + lines + fragment)
    return found


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("@a.py", ["a.py"], id="a plain name"),
        pytest.param("see (@a.py).", ["a.py).", "a.py)", "a.py"], id="brackets around it"),
        pytest.param("@a.py,", ["a.py,", "a.py"], id="a comma behind"),
        pytest.param("@a.py's", ["a.py's", "a.py"], id="a possessive"),
        pytest.param("@a.py’s", ["a.py’s", "a.py"], id="a typographic possessive"),
        pytest.param("@x,y.csv", ["x,y.csv", "x"], id="a comma inside"),
        pytest.param("@a.py,b", ["a.py,b", "a.py"], id="words joined by a comma"),
        pytest.param(
            "@app.route('/')", ["app.route('/')", "app.route('/'", "app.route('/", "app.route('", "app.route(", "app.route"], id="a dot never cuts inside"
        ),
        pytest.param("@a...", ["a...", "a..", "a.", "a"], id="dots at the end go one by one"),
        pytest.param("@..", [".."], id="dots only are never peeled"),
        pytest.param("@../..", ["../.."], id="nor behind a slash"),
        pytest.param("@.", ["."], id="the root"),
        pytest.param("@./", ["./", "."], id="the root with a slash"),
        pytest.param("@src/.", ["src/", "src"], id="a full stop behind a folder is no name"),
        pytest.param("@a/.", ["a/", "a"], id="nor behind one whose name is short"),
        pytest.param("@/.", ["/.", "/"], id="with no folder in front it is one"),
        pytest.param("@src/", ["src/", "src"], id="a folder's slash may be the sentence's"),
        pytest.param("@a_-", ["a_-", "a_", "a"], id="underscore and hyphen at the end"),
        pytest.param("@a**", ["a**", "a*", "a"], id="emphasis"),
        pytest.param("@a~~", ["a~~", "a~", "a"], id="strike-through"),
        pytest.param("@a.py的内容", ["a.py的内容", "a.py"], id="a script without blanks takes over"),
        pytest.param("@文件a", ["文件a", "文件"], id="and the other way round"),
        pytest.param("@文件.txt和", ["文件.txt和", "文件.txt", "文件"], id="both in one name"),
        pytest.param("@a.py—with", ["a.py—with", "a.py"], id="an em dash"),
        pytest.param("@a.py–with", ["a.py–with", "a.py"], id="an en dash"),
        pytest.param("@a.py…", ["a.py…", "a.py"], id="an ellipsis"),
        pytest.param("@a.py\u00a0»", ["a.py\u00a0»", "a.py\u00a0", "a.py"], id="no-break spaces"),
        pytest.param("@a.py</b>", ["a.py</b>", "a.py</b", "a.py"], id="a tag"),
        pytest.param("@a/@b", ["a/@b", "a/", "a"], id="an at-sign behind a slash"),
        pytest.param("@x@y", ["x@y", "x"], id="an at-sign inside"),
        pytest.param("@@scope/x", ["@scope/x"], id="an at-sign in front is the name's"),
        pytest.param("@(x)", ["(x)", "(x"], id="a bracket in front is the name's"),
        pytest.param("@a|b", ["a|b", "a"], id="a pipe"),
        pytest.param("@a（b）", ["a（b）", "a（b", "a"], id="full-width brackets"),
    ],
)
def test_names(message: str, expected: list[str]) -> None:
    """The whole run comes first, then cuts at separators, brackets and changes of script, each without its tail."""
    assert tried(message) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("@a:12", ["a:12", "a [12, 12]", "a {:12}"], id="the literal name before the range"),
        pytest.param("@a:12-40", ["a:12-40", "a [12, 40]", "a {:12-40}"], id="lines"),
        pytest.param("@a#L3-L9.", ["a#L3-L9.", "a#L3-L9", "a [3, 9]"], id="at the end of a sentence"),
        pytest.param("@a:7,b", ["a:7,b", "a:7", "a [7, 7]", "a {:7}"], id="before a comma"),
        pytest.param("@a:7!b", ["a:7!b", "a [7, 7]"], id="a range before what is no separator"),
        pytest.param("@a#L3-L9!b", ["a#L3-L9!b", "a [3, 9]"], id="a permanent link before what is no separator"),
        pytest.param("@a:7x", ["a:7x", "a {:7x}"], id="no range: a letter behind it"),
        pytest.param("@a#top", ["a#top", "a {#top}"], id="an anchor"),
        pytest.param(
            "@my\\ x:3",
            ["my\\ x:3 or my x:3 or my/ x:3", "my\\ x or my x or my/ x [3, 3]", "my\\ x or my x or my/ x {:3}"],
            id="an escaped blank before a range",
        ),
        pytest.param(
            "@a#top.",
            ["a#top.", "a#top", "a {#top}"],
            id="an anchor at the end of a sentence",
        ),
        pytest.param(
            "@a:main.",
            ["a:main.", "a:main", "a {:main}"],
            id="a symbol at the end of a sentence",
        ),
        pytest.param("@a#top, x", ["a#top,", "a#top", "a {#top}"], id="an anchor before a comma"),
        pytest.param("@a:main", ["a:main", "a {:main}"], id="a symbol"),
        pytest.param("@a::main", ["a::main", "a: {:main}", "a"], id="two colons are two places to cut"),
        pytest.param("@a#b#c", ["a#b#c", "a#b {#c}", "a {#b}"], id="two anchors"),
        pytest.param("@a: what", ["a:", "a"], id="a colon behind"),
        pytest.param("@a#", ["a#", "a"], id="a number sign behind"),
        pytest.param("@#x", ["#x"], id="a number sign in front is the name's"),
        pytest.param(
            "@foo.go:12-40を直して",
            ["foo.go:12-40を直して", "foo.go:12-40", "foo.go [12, 40]", "foo.go {:12-40を直して}"],
            id="a script without blanks behind a range",
        ),
    ],
)
def test_ranges_and_fragments(message: str, expected: list[str]) -> None:
    """At each place first the literal name, then the name with a range; what else stands behind is a fragment."""
    assert tried(message) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param('@"a, b."', ["a, b."], id="a quoted name"),
        pytest.param('@"a":3', ["a [3, 3]"], id="with a range"),
        pytest.param('@"src\\x"', ["src\\x or src/x"], id="with backslashes"),
        pytest.param('@"my\\ x"', ["my\\ x or my/ x"], id="with a backslash before a blank, which escapes nothing"),
    ],
)
def test_quoted_never_shrinks(message: str, expected: list[str]) -> None:
    """In quotes the person said precisely where the name ends."""
    assert tried(message) == expected


@pytest.mark.parametrize(
    ("text", "quoted", "expected"),
    [
        pytest.param("a/b", False, ("a/b",), id="no backslash"),
        pytest.param("a\\b", False, ("a\\b", "a/b"), id="a Windows path"),
        pytest.param("my\\ file", False, ("my\\ file", "my file", "my/ file"), id="an escaped blank"),
        pytest.param("a\\b", True, ("a\\b", "a/b"), id="a Windows path in quotes"),
        pytest.param("my\\ file", True, ("my\\ file", "my/ file"), id="no escapes in quotes"),
        pytest.param("a\\\\b", False, ("a\\\\b", "a//b"), id="two backslashes"),
        pytest.param("a\\ b\\c", False, ("a\\ b\\c", "a b\\c", "a/ b/c", "a b/c"), id="an escape and a backslash between names"),
    ],
)
def test_spellings(text: str, *, quoted: bool, expected: tuple[str, ...]) -> None:
    """The exact name first, then with its escapes undone, then with slashes for backslashes."""
    assert spellings(text, quoted=quoted) == expected


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        pytest.param("a\\,b", [4, 1], id="an escaped comma, and its backslash with it"),
        pytest.param("a\\,b,c", [6, 4, 1], id="then one that is not"),
        pytest.param("a'sb", [4, 1], id="an apostrophe"),
        pytest.param("a\\'s", [4, 2, 1], id="a possessive behind a backslash, which may end a folder"),
        pytest.param("a\\’s", [4, 2, 1], id="a typographic one"),
        pytest.param("a\\'t", [4, 1], id="another letter there is no possessive"),
        pytest.param("a\\bs", [4], id="an s alone is no possessive"),
        pytest.param("'s", [2], id="nothing is left before a possessive"),
        pytest.param("a,b/.", [4, 3, 1], id="a full stop behind a folder"),
    ],
)
def test_places_to_cut(run: str, expected: list[int]) -> None:
    """A separator behind a backslash is the name's own, or ends it together with the backslash."""
    assert cuts(run) == expected


@pytest.mark.parametrize(
    ("run", "end", "expected"),
    [
        pytest.param("a.py", 4, True, id="at the end of the run"),
        pytest.param("a.py", 2, False, id="before a letter"),
        pytest.param("a.py1", 4, False, id="before a digit"),
        pytest.param("a.py", 1, False, id="before a dot inside"),
        pytest.param("a_-.b", 1, False, id="before signs that only ever stand inside"),
        pytest.param("a.py).", 4, True, id="before a bracket"),
        pytest.param("a.-", 1, True, id="before signs that may be the sentence's"),
        pytest.param("ab-", 1, False, id="before a letter with such a sign behind it"),
        pytest.param("aX)", 1, False, id="before a capital"),
        pytest.param("a b", 1, True, id="before a blank"),
        pytest.param("a -b", 1, True, id="before a blank with such a sign behind it"),
    ],
)
def test_where_a_cut_may_be(run: str, end: int, *, expected: bool) -> None:
    """A name ends nowhere before a letter or digit, nor before dots, hyphens and underscores that lead to one."""
    assert may_end(run, end) is expected


def test_readings_are_bounded() -> None:
    """At most 32 places are tried: the whole run, and those nearest to its beginning."""
    run = "a," * 2000

    places = cuts(run)

    assert len(places) == READINGS
    assert places[0] == len(run)
    assert places[1:] == list(range(61, 0, -2))


def test_readings_of_a_long_tail_are_bounded() -> None:
    """Dots at the end are taken off one by one, but not without end."""
    run = "a" + "." * 4000

    assert 1 < len(cuts(run)) <= READINGS + 1


def test_anchors_are_bounded() -> None:
    """A run of many number signs is tried at the last ones only."""
    found = list(readings(only("@a" + "#b" * 1000)))

    assert len(found) <= 2 * READINGS


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("@nope.txt并总结", "@nope.txt", id="a script without blanks"),
        pytest.param("@nope.py—with", "@nope.py", id="an em dash"),
        pytest.param("@nope.py，那", "@nope.py", id="a full-width comma"),
        pytest.param("@nope.py", None, id="nothing takes over"),
        pytest.param("@—a.txt并总结", "@", id="right behind the at-sign, so that nothing is left"),
        pytest.param("@文件", None, id="a name in that script"),
        pytest.param('@"nope.txt并"', None, id="quoted"),
    ],
)
def test_where_a_sentence_takes_over(message: str, expected: str | None) -> None:
    """Where a sentence goes on without a blank can be said without a disk."""
    ref = only(message)
    end = natural_end(ref)

    assert (None if end is None else message[ref.start : end]) == expected


def test_readings_are_made_one_at_a_time() -> None:
    """Most names exist as they stand, so nothing else is made before it is asked for."""
    made = readings(only("@a.py,b"))

    assert next(made) == Reading(7, ("a.py,b",))


runs = st.lists(
    st.sampled_from(("a", "b.py", ",", ";", "(", ")", "[", "]", "'s", "’s", ".", "..", "/", "\\", "\\ ", "#", ":", ":3", "#L4", "文", "—", "@", "_", "-", "é")),
    min_size=1,
)


@pytest.mark.parametrize("run", ["_", "__", "-", "/"])
def test_no_name_is_empty(run: str) -> None:
    """Something is always left of a run."""
    assert 0 not in cuts(run)


@given(runs.map("".join))
@example("'s")
@example("a/.")
def test_cuts_descend(run: str) -> None:
    """Places are inside the run, longest first, each once; the whole run is one unless a full stop ends it."""
    places = cuts(run)

    assert sorted(set(places), reverse=True) == places
    assert all(0 <= place <= len(run) for place in places)
    assert len(places) <= READINGS
    assert len(run) in places or (run.endswith("/.") and len(run) > 2)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param('{\\"file\\": \\"@a.py\\"}', id="JSON inside of a string"),
        pytest.param("(@a.py\\)", id="an escaped bracket"),
        pytest.param("@a.py\\, x", id="an escaped comma"),
        pytest.param("@a.py\\— x", id="a backslash before a dash"),
    ],
)
def test_default_reading_behind_a_backslash_is_tried(message: str) -> None:
    """What a person sees as the name is tried, also where an escaped sign stands behind it."""
    ref = only(message)

    assert ref.path == "a.py"
    assert ref.end in {reading.end for reading in readings(ref)}


@given(runs.map("".join).filter(lambda run: "\\" not in run))
def test_default_reading_is_tried(run: str) -> None:
    """What a person sees as the name is among the readings of the mention."""
    for ref in parse(f"see @{run} x"):
        ends = {reading.end for reading in readings(ref)}

        assert ref.end in ends
        assert max(ends) <= ref.start + 1 + len(ref.run)
