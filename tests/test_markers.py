"""Begin and end lines: what verifies goes, wherever it stands; what does not stays."""

from __future__ import annotations

import hashlib

import pytest

from filerefs import markers

SECTION = markers.wrap("a body", 0)
BEHIND = markers.wrap("a body", 2)
BEGIN, _, END = SECTION.split("\n")


def crlf(text: str) -> str:
    """Return *text* as a file with CR LF line ends holds it."""
    return text.replace("\n", "\r\n")


def around(inner: str) -> str:
    """Return a section that verifies once *inner* is gone from its middle."""
    return markers.wrap("front\nback", 0).replace("front\n", "front\n" + inner)


def fakes(count: int) -> str:
    """Return a begin line and *count* end lines that each ask for exactly it, with a digest of something else."""
    text = BEGIN + "\n"
    for _ in range(count):
        text += f"\n<!-- filerefs:end v1 sep=0 chars={len(text) - len(BEGIN) - 1} sha256={'0' * 32} -->"
    return text


def test_wrap_writes_begin_body_and_end() -> None:
    """The end line counts code points, and its digest is the beginning of the SHA-256 of the UTF-8."""
    body = "é\n\N{PARTY POPPER}"
    digest = hashlib.sha256(body.encode()).hexdigest()[:32]

    assert f"<!-- filerefs:begin -->\n{body}\n<!-- filerefs:end v1 sep=2 chars=3 sha256={digest} -->" == markers.wrap(body, 2)


@pytest.mark.parametrize(
    ("body", "same"),
    [
        pytest.param("a\r\nb", "a\nb", id="a CR LF counts as one line feed"),
        pytest.param("a\r\nb\nc", "a\nb\nc", id="mixed line ends"),
        pytest.param("a\r", "a", id="a CR at the end makes a CR LF with the newline behind the body"),
    ],
)
def test_length_and_digest_are_those_of_lf_line_ends(body: str, same: str) -> None:
    """A body with CR LF has the end line of the same body with LF, so that both verify after any conversion."""
    assert markers.wrap(same, 0).rpartition("\n")[2] == markers.wrap(body, 0).rpartition("\n")[2]
    assert markers.strip(markers.wrap(body, 0)) == ""


@pytest.mark.parametrize("separators", [0, 2])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("a body", id="plain"),
        pytest.param("", id="empty"),
        pytest.param(f"x\n{END}\ny", id="an end line in the body"),
    ],
)
def test_wrap_takes_over_the_same_section(body: str, separators: int) -> None:
    """A section that was made of the same body in the same place is given back itself, not made again."""
    previous = markers.wrap(body, separators)

    assert markers.wrap(body, separators, previous) is previous


@pytest.mark.parametrize(
    "previous",
    [
        pytest.param(markers.wrap("a bodY", 0), id="another body"),
        pytest.param(markers.wrap("a body and more", 0), id="a longer body"),
        pytest.param(markers.wrap("a bod", 0), id="a shorter body"),
        pytest.param(markers.wrap("", 0), id="an empty body"),
        pytest.param(BEHIND, id="another place"),
    ],
)
def test_wrap_does_not_take_over_another_section(previous: str) -> None:
    """What differs in its body or its place is made anew."""
    assert markers.wrap("a body", 0, previous) == SECTION


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        pytest.param(SECTION, "", id="nothing but a section"),
        pytest.param("p\n\n" + BEHIND, "p", id="behind a prompt, with its two newlines"),
        pytest.param("p\n\n\n\n" + BEHIND, "p\n\n", id="two newlines and no more"),
        pytest.param("\n\n" + BEHIND, "", id="nothing but the two newlines in front"),
        pytest.param("host\n\n" + SECTION, "host\n\n", id="made for an empty prompt, host text in front"),
        pytest.param("p\n" + BEHIND, "p\n", id="one newline is left of two: it is the host's"),
        pytest.param("p " + BEHIND + " q", "p  q", id="on one line with host text"),
        pytest.param("p\r\n\n" + BEHIND, "p\r", id="a bare CR before the newlines stays"),
        pytest.param(crlf("p\n\n" + BEHIND), "p", id="everything CR LF"),
        pytest.param(crlf("p\nq\n\n" + BEHIND + "\n\nr\n"), "p\r\nq\r\n\r\nr\r\n", id="everything CR LF and text behind"),
        pytest.param("p\r\n\r\n" + BEHIND, "p\r\n\r\n", id="the section is LF, so CR LF in front is the host's"),
        pytest.param("p\n\n" + BEHIND + "\n\n" + BEHIND + "\nq", "p\nq", id="two sections"),
        pytest.param(SECTION + SECTION + SECTION, "", id="three side by side"),
        pytest.param("p" + around(SECTION) + "q", "pq", id="a section inside another"),
        pytest.param("p" + around(around(around(""))) + "q", "pq", id="three deep"),
        pytest.param(markers.wrap(f"x\n{SECTION}\ny", 0), "", id="a section in the body of another"),
        pytest.param(markers.wrap(f"x\n{END}\n{BEGIN}\ny", 0), "", id="marker lines in the body"),
        pytest.param("<!-- filerefs:" + SECTION + "begin -->\na body\n" + END, "", id="halves that a removal joins"),
        pytest.param("\ud800\n\n" + BEHIND + "\udcff", "\ud800\udcff", id="lone surrogates around"),
        pytest.param("p\n\n" + BEHIND + "\n" + fakes(63), "p\n" + fakes(63), id="behind sixty-three forged end lines"),
    ],
)
def test_strip_takes_out_what_verifies(prompt: str, expected: str) -> None:
    """Sections go wherever they stand, with the newlines written before them, and nothing else goes."""
    assert expected == markers.strip(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        pytest.param("", id="empty"),
        pytest.param("p\r\n", id="no marker"),
        pytest.param(BEGIN + "\na body", id="no end line"),
        pytest.param("p\n" + END, id="no begin line"),
        pytest.param(SECTION.replace("a body", "a BODY"), id="changed body"),
        pytest.param(SECTION.replace("a body", "a body "), id="longer body"),
        pytest.param(SECTION.replace("a body\n", ""), id="body gone"),
        pytest.param(SECTION.replace("chars=6", "chars=06"), id="number with a zero in front"),
        pytest.param(SECTION.replace("chars=6", "chars=\u0666"), id="number in other digits"),
        pytest.param(SECTION.replace("chars=6", "chars=" + "9" * 5000), id="number of thousands of digits"),
        pytest.param(SECTION.replace("chars=6", "chars=9999999999"), id="number beyond the beginning"),
        pytest.param(SECTION.replace("sep=0", "sep=1"), id="number of newlines that is never written"),
        pytest.param(SECTION.replace(" v1 ", " v2 "), id="another version"),
        pytest.param(SECTION.replace("sha256=", "sha256=0"), id="longer digest"),
        pytest.param(SECTION.replace("\n", "\r"), id="CR alone as line end"),
        pytest.param("> " + SECTION.replace("\n", "\n> "), id="quoted"),
        pytest.param(BEGIN + "\n\ud800\n<!-- filerefs:end v1 sep=0 chars=1 sha256=" + "0" * 32 + " -->", id="lone surrogate where a body would be"),
        pytest.param("p\n\n" + BEHIND + "\n" + fakes(64), id="behind sixty-four forged end lines"),
        *(pytest.param("x" * length + f"a body\n{END}", id=f"a body and its digest behind {length} letters") for length in range(22, 27)),
    ],
)
def test_strip_leaves_what_does_not_verify(prompt: str) -> None:
    """A text without a section that verifies comes back as the same object."""
    assert markers.strip(prompt) is prompt
    assert markers.strip_known(prompt, "") is prompt


def test_known_section_goes_without_a_digest() -> None:
    """A text that ends with the known section loses it and its newlines; one that does not is stripped by digest."""
    known = markers.wrap("b", 2)

    assert markers.strip_known("p\n\n" + known, known) == "p"
    assert markers.strip_known("p\n\n" + known + "q", known) == "pq"
    assert markers.strip_known(SECTION + "\n\n" + known, known) == ""


def test_known_section_with_an_end_line_in_its_body() -> None:
    """How many newlines go with a known section says its own end line, not one that it quotes."""
    known = markers.wrap(f"x\n{END}\ny", 2)

    assert markers.strip_known("p\n\n" + known, known) == "p"


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        pytest.param("p", False, id="nothing"),
        pytest.param(BEGIN + "\nx", False, id="begin line alone"),
        pytest.param("x\n" + END, False, id="end line alone"),
        pytest.param(END + "\n" + BEGIN, False, id="end before begin"),
        pytest.param(f"between `{BEGIN}` and `{END}`\n{END}", False, id="named in a sentence"),
        pytest.param(SECTION.replace("a body", "a BODY"), True, id="changed body"),
        pytest.param(SECTION.replace("a body\n", ""), True, id="body gone"),
        pytest.param(crlf("p\n\n" + BEHIND.replace("a body", "a BODY") + "\nq"), True, id="changed body, CR LF"),
        pytest.param(SECTION.replace("sha256=", "sha256=0"), True, id="changed end line"),
        pytest.param("p\n\n" + BEHIND + "\n" + fakes(64), True, id="beyond what is tried"),
    ],
)
def test_leftover_is_a_begin_line_with_an_end_line_behind_it(prompt: str, expected: bool) -> None:  # noqa: FBT001 (a column)
    """A changed section that stays in a prompt can be told; marker words in prose are no section."""
    assert expected is markers.has_leftover(markers.strip(prompt))


def test_error_body_with_a_lone_surrogate() -> None:
    """A body that cannot be encoded cannot be sent, so it cannot be wrapped."""
    with pytest.raises(UnicodeEncodeError):
        markers.wrap("\udcff", 0)


@pytest.mark.parametrize(
    ("body", "separators", "previous", "again"),
    [
        pytest.param("a\nb", 2, markers.wrap("a\nb", 2), True, id="the same"),
        pytest.param("a\r\nb\r", 2, markers.wrap("a\r\nb\r", 2), True, id="the same, with carriage returns"),
        pytest.param("a\nb", 0, markers.wrap("a\nb", 2), False, id="other separators"),
        pytest.param("a\nc", 2, markers.wrap("a\nb", 2), False, id="another body of the same length"),
        pytest.param("a", 2, markers.wrap("a\nb", 2), False, id="the beginning of the body"),
        pytest.param("a", 2, markers.wrap(f"a\n{BEHIND.splitlines()[-1]}", 2), False, id="a body that goes on with an end line"),
    ],
)
def test_a_section_is_taken_again(body: str, separators: int, previous: str, *, again: bool) -> None:
    """With the previous section at hand the result is the same, and that very text where nothing changed."""
    section = markers.wrap(body, separators, previous)

    assert markers.wrap(body, separators) == section
    assert again == (section is previous)


def layers(count: int) -> str:
    """Return so many sections, each of which keeps the one around it from verifying."""
    text = ""
    for _ in range(count):
        text = around(text)
    return text


def test_sections_inside_of_sections() -> None:
    """What the removal of one uncovers goes as well, as deep as anybody has it who did not make it so."""
    assert markers.strip(f"before {layers(16)} behind") == "before  behind"


def test_layers_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt made of sections inside of sections costs a few looks at it, not one for each; what is left is told."""
    looks: list[int] = []
    really = markers._sections

    def look(flat: str) -> list[markers._Section]:
        looks.append(len(flat))
        return really(flat)

    monkeypatch.setattr(markers, "_sections", look)

    left = markers.strip(layers(500))

    assert len(looks) == 16
    assert markers.has_leftover(left)


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        pytest.param(SECTION, BEHIND, id="a section"),
        pytest.param(markers.wrap(f"quoted: {SECTION}", 0), markers.wrap(f"quoted: {SECTION}", 2), id="one that quotes another"),
        pytest.param(SECTION + SECTION, None, id="two of them"),
        pytest.param(f"{SECTION}\n\n{BEHIND}", None, id="two of them, apart"),
        pytest.param(around(SECTION), None, id="one that verifies without another"),
        pytest.param(SECTION.replace("body", "BODY"), None, id="one that was changed"),
        pytest.param(SECTION + "\n", None, id="one and a line end"),
        pytest.param("text", None, id="any text"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_only_one_whole_section_is_moved(section: str, expected: str | None) -> None:
    """What is put into a prompt as a section must go from there as one, so nothing more and nothing less is taken."""
    assert markers.replace_separators(section, 2) == expected
