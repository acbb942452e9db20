"""How much may be shown: the limits as a value, the budget, and the one function that cuts."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from filerefs.errors import OptionError, OptionTypeError
from filerefs.limits import KIB, MIB, SENDABLE, Budget, Limits, MediaRoom, check_limits, check_media, cut, utf8_length

NAMES = [field.name for field in fields(Limits)]
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def test_defaults_are_those_of_the_ancestor() -> None:
    """200 KiB a file, 1 MiB a turn, 200 outcomes, 1,000 names of a folder."""
    assert (Limits().file_bytes, Limits().total_bytes, Limits().refs, Limits().directory_entries) == (200 * KIB, MIB, 200, 1000)


def test_limits_are_a_value() -> None:
    """Limits compare by what they hold, work as keys, and do not change."""
    assert Limits(refs=3) == Limits(refs=3)
    assert {Limits(refs=3): 1}[Limits(refs=3)] == 1
    with pytest.raises(FrozenInstanceError):
        Limits().refs = 3  # type: ignore[misc]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [None, 0, 1, 10**18])
def test_what_a_limit_takes(name: str, value: int | None) -> None:
    """None takes a limit away, 0 allows nothing; there is no upper bound."""
    assert getattr(Limits(**{name: value}), name) == value


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(Limits(), Limits(refs=3), Limits(refs=3), id="lower"),
        pytest.param(Limits(refs=3), Limits(), Limits(refs=3), id="higher has no effect"),
        pytest.param(Limits(refs=None), Limits(refs=3), Limits(refs=3), id="one side without a limit"),
        pytest.param(Limits(refs=3), Limits(refs=None), Limits(refs=3), id="the other side without a limit"),
        pytest.param(Limits(refs=None), Limits(refs=None), Limits(refs=None), id="no limit at all"),
        pytest.param(Limits(refs=0), Limits(refs=None), Limits(refs=0), id="zero is a limit"),
        pytest.param(Limits(file_bytes=1, total_bytes=9), Limits(file_bytes=9, total_bytes=1), Limits(file_bytes=1, total_bytes=1), id="each for itself"),
    ],
)
def test_lower_of_both(one: Limits, other: Limits, expected: Limits) -> None:
    """`at_most` gives the lower of both, limit by limit, whichever way round."""
    assert expected == one.at_most(other) == other.at_most(one)


@pytest.mark.parametrize("name", NAMES)
def test_error_negative_limit(name: str) -> None:
    """A negative limit is a mistake, and the error says which."""
    with pytest.raises(OptionError) as caught:
        Limits(**{name: -1})

    assert (caught.value.option, caught.value.value) == (name, -1)
    assert str(caught.value) == f"`{name}` must be a number of at least 0, or None, not -1"


def test_error_negative_limit_behind_none() -> None:
    """A limit that was taken away does not end the look at the others."""
    with pytest.raises(OptionError):
        Limits(file_bytes=None, directory_entries=-1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [pytest.param("200", id="text"), 1.5, True, pytest.param((1,), id="a tuple"), float("inf")])
def test_error_limit_of_another_type(name: str, value: Any) -> None:
    """A limit is a whole number or None; True is none."""
    with pytest.raises(OptionTypeError) as caught:
        Limits(**{name: value})

    assert (caught.value.option, caught.value.value) == (name, value)
    assert str(caught.value) == f"`{name}` must be a number of at least 0, or None, not {value!r}"


def test_error_limits_of_another_type() -> None:
    """What is given for the limits and is none is named in the error."""
    with pytest.raises(OptionTypeError) as caught:
        check_limits({"refs": 3})

    assert (caught.value.option, caught.value.value) == ("limits", {"refs": 3})
    assert str(caught.value).startswith("`limits` must be a Limits, or None, not ")
    assert check_limits(None) == Limits()


def test_error_limits_by_position() -> None:
    """Which of four numbers is which is said by name."""
    with pytest.raises(TypeError):
        Limits(1)  # type: ignore[misc]


def test_budget_is_first_come_first_served() -> None:
    """What fits is spent; what does not ends it for everything behind, however small."""
    budget = Budget(10)

    assert budget.take(4)
    assert budget.take(6)
    assert not budget.exhausted
    assert not budget.take(1)
    assert budget.exhausted
    assert not budget.take(0)
    assert budget.spent == 10


def test_budget_keeps_its_rest() -> None:
    """What did not fit spends nothing, and the rest of the budget is for nobody."""
    budget = Budget(10)

    assert [budget.take(7), budget.take(4), budget.take(1)] == [True, False, False]
    assert (budget.spent, budget.total) == (7, 10)


@pytest.mark.parametrize(("total", "amount", "fits"), [(0, 0, True), (0, 1, False), (None, 10**12, True), (5, 5, True)])
def test_edges_of_a_budget(total: int | None, amount: int, *, fits: bool) -> None:
    """A budget is spent to the last byte; none at all has no end."""
    assert Budget(total).take(amount) is fits


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        pytest.param("abc", None, ("abc", False), id="no limit"),
        pytest.param("", 0, ("", False), id="nothing in nothing"),
        pytest.param("abc", 3, ("abc", False), id="just fits"),
        pytest.param("abcd", 3, ("abc", True), id="one line is cut inside"),
        pytest.param("ab\ncd\nef", 6, ("ab\ncd\n", True), id="cut behind the last line end that fits"),
        pytest.param("ab\ncd\nef", 7, ("ab\ncd\n", True), id="not inside the next line"),
        pytest.param("ab\ncdefgh", 6, ("ab\n", True), id="at a line end that throws away just half"),
        pytest.param("ab\ncdefgh", 8, ("ab\ncdefg", True), id="inside a line that is more than half of all"),
        pytest.param("\n" + "x" * 9, 8, ("\n" + "x" * 7, True), id="a short first line is no place to stop"),
        pytest.param("a", 0, ("", True), id="nothing fits into nothing"),
        pytest.param("é", 1, ("", True), id="not inside a character"),
        pytest.param("aé", 2, ("a", True), id="but before it"),
        pytest.param("é" * 3, 5, ("éé", True), id="between two characters"),
        pytest.param("😀😀", 7, ("😀", True), id="nor inside one of four bytes"),
        pytest.param("a\r\nb\r\n", 4, ("a\r\n", True), id="CR LF is one line end"),
        pytest.param("ab\r\ncd", 4, ("ab\r\n", True), id="and is not torn"),
    ],
)
def test_cut(text: str, limit: int | None, expected: tuple[str, bool]) -> None:
    """Text is cut at a line end, where that costs too much between two code points, and whether it was is told."""
    assert cut(text, limit) == expected


@given(ANY_TEXT, st.integers(0, 80))
@example("é\n" * 20, 41)
@example("\n" + "é" * 40, 40)
def test_cut_is_the_beginning_and_fits(text: str, limit: int) -> None:
    """What is left is a beginning of the text, fits, and throws no more than half of the limit away."""
    shown, was_cut = cut(text, limit)

    assert text.startswith(shown)
    assert was_cut is (shown != text)
    assert utf8_length(shown) <= limit
    if was_cut:
        assert utf8_length(shown) * 2 >= limit or utf8_length(shown + text[len(shown)]) > limit


@given(ANY_TEXT)
def test_length_in_utf8(text: str) -> None:
    """The length is that of the encoded text, which ASCII need not be encoded for."""
    assert utf8_length(text) == len(text.encode())


@pytest.mark.parametrize(
    ("media", "expected"),
    [
        pytest.param(True, True, id="all that can be sent"),
        pytest.param(False, False, id="none"),
        pytest.param(["image/png", "image/png"], frozenset(["image/png"]), id="a list"),
        pytest.param((), frozenset(), id="nothing in it"),
    ],
)
def test_what_media_take(media: Any, expected: object) -> None:
    """A bool says all or none, a collection which; it is kept as it was when it was given."""
    assert check_media(media) == expected


@pytest.mark.parametrize(
    "media",
    [pytest.param("image/png", id="a bare string"), pytest.param(1, id="a number"), pytest.param(None, id="None"), pytest.param([1], id="a number in it")],
)
def test_error_media_of_another_type(media: Any) -> None:
    """A string is no collection of media types: every letter would be one."""
    with pytest.raises(OptionTypeError) as caught:
        check_media(media)

    assert (caught.value.option, caught.value.value) == ("media", media)
    assert str(caught.value) == f'`media` must be True, False or a collection of media types such as "image/png", not {media!r}'


def test_error_media_type_that_is_never_recognised() -> None:
    """A type that no file is recognised as would never be sent, so it is not taken; the error lists those that are."""
    with pytest.raises(OptionError) as caught:
        check_media(["image/png", "text/html"])

    assert (caught.value.option, caught.value.value) == ("media", "text/html")
    assert "`media` must be one of " in str(caught.value)
    assert ", image/jpeg, image/png, " in str(caught.value)


@pytest.mark.parametrize(
    ("limits", "media", "media_type", "size", "expected"),
    [
        pytest.param(Limits(), True, "image/png", 5 * MIB, "", id="just small enough"),
        pytest.param(Limits(), True, "image/png", 5 * MIB + 1, "not sent: it is larger than 5.0 MB", id="a byte too large"),
        pytest.param(Limits(media_bytes=0), True, "image/png", 0, "", id="nothing in nothing"),
        pytest.param(Limits(media_bytes=0), True, "image/png", 1, "not sent: it is larger than 0 B", id="no bytes allowed"),
        pytest.param(Limits(media_bytes=None), True, "image/png", 10**12, "", id="no limit"),
        pytest.param(
            Limits(media_files=0), True, "image/png", 1, "not sent: there are as many images and PDFs already as go with one message", id="none allowed"
        ),
        pytest.param(Limits(media_files=None), True, "image/png", 1, "", id="any number"),
        pytest.param(Limits(), True, "image/tiff", 1, "not sent: image/tiff is not among the types that are", id="not among those that all take"),
        pytest.param(Limits(), frozenset(["image/tiff"]), "image/tiff", 1, "", id="a type that was asked for"),
        pytest.param(Limits(), frozenset(["image/tiff"]), "image/png", 1, "not sent: image/png is not among the types that are", id="and no other"),
        pytest.param(Limits(), False, "image/png", 1, "not sent: image/png is not among the types that are", id="none"),
    ],
)
def test_which_media_go_with_the_message(limits: Limits, media: Any, media_type: str, size: int, expected: str) -> None:
    """Type, number and size decide, and what does not go is told why."""
    assert MediaRoom(limits, media).objection(media_type, size) == expected


@pytest.mark.parametrize(("most", "sent"), [pytest.param(0, 0, id="none"), pytest.param(2, 2, id="two"), pytest.param(None, 5, id="no limit")])
def test_number_of_media(most: int | None, sent: int) -> None:
    """Each that goes with the message is counted; one that does not fit ends nothing."""
    room = MediaRoom(Limits(media_files=most), True)  # noqa: FBT003 (the value of the option)
    answers = []
    for _ in range(5):
        assert room.objection("image/png", 6 * MIB)
        answers.append(not room.objection("image/png", 1))
        if answers[-1]:
            room.take()

    assert answers == [True] * sent + [False] * (5 - sent)


def test_media_that_can_be_sent_are_recognised() -> None:
    """What goes with a message by default is what a file can be recognised as."""
    assert check_media(SENDABLE) == SENDABLE
