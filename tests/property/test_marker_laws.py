"""The laws of chapter 6 of the design, for prompts and contents that were made to break them."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from hypothesis import assume, example, given
from hypothesis import strategies as st

from filerefs import markers
from filerefs.section import HEADING, build_section, compose, inject, strip_section

from .strategies import SECTION, attached, outcomes, outline, prompts, texts

if TYPE_CHECKING:
    from filerefs.outcomes import Outcome

some = st.lists(outcomes, min_size=1, max_size=3)
any_number = st.lists(outcomes, max_size=3)


@given(prompts)
@example(SECTION + "\r")
@example("x\r" + SECTION + "\ny")
def test_strip_is_idempotent(prompt: str) -> None:
    """What was stripped once has nothing left to strip."""
    once = strip_section(prompt)

    assert once == strip_section(once)


@given(prompts, some)
@example("x\r", [attached("a", "b")])
@example("\n", [attached("a", "b")])
@example("", [attached("a", "b")])
def test_strip_gives_back_the_prompt(prompt: str, found: list[Outcome]) -> None:
    """strip(inject(p, o)) is p, for every p that holds no section."""
    base = strip_section(prompt)

    assert base == strip_section(inject(base, found))


@given(prompts, any_number, any_number)
def test_last_writer_wins(prompt: str, first: list[Outcome], second: list[Outcome]) -> None:
    """inject(inject(p, a), b) is inject(p, b), for every p."""
    assert inject(prompt, second) == inject(inject(prompt, first), second)


@given(prompts)
def test_nothing_to_inject_is_strip(prompt: str) -> None:
    """inject(p, []) is strip(p)."""
    assert strip_section(prompt) == inject(prompt, [])


@given(prompts, some, st.one_of(texts, st.just("be brief"), st.just("\r\n")))
def test_text_after_the_section_survives(prompt: str, found: list[Outcome], after: str) -> None:
    """What somebody wrote behind the section stays, and only the section goes."""
    base = strip_section(prompt)
    assume(strip_section(base + after) == base + after)

    assert base + after == strip_section(inject(base, found) + after)


@given(prompts, some)
def test_prompt_from_a_file_with_cr_lf(prompt: str, found: list[Outcome]) -> None:
    """A prompt whose line ends were all made CR LF is stripped as before."""
    base = strip_section(prompt.replace("\r", ""))
    through = inject(base, found).replace("\r\n", "\n").replace("\n", "\r\n")

    assert base.replace("\n", "\r\n") == strip_section(through)


@given(prompts, some)
def test_known_section_is_stripped_alike(prompt: str, found: list[Outcome]) -> None:
    """Stripping by equality gives what stripping by digest gives."""
    composed = compose(prompt, found)

    assert strip_section(composed.prompt) == markers.strip_known(composed.prompt, composed.section)
    assert composed == compose(composed.prompt, found, composed.section)


@given(prompts)
def test_stripped_prompt_without_change_is_the_same_object(prompt: str) -> None:
    """A prompt without a section costs no copy."""
    once = strip_section(prompt)

    assert strip_section(once) is once
    assert markers.has_leftover(once) in (True, False)


@given(some)
def test_section_encodes_and_keeps_to_its_size(found: list[Outcome]) -> None:
    """The section is UTF-8 whatever is in it, and at most 1 KiB an outcome and 4 KiB longer than what is shown."""
    shown = sum(outcome.shown for outcome in found if outcome.status == "attached")

    assert len(build_section(found).encode()) <= shown + 1024 * len(found) + 4096


@given(st.lists(outcomes, min_size=20, max_size=20))
def test_frames_do_not_add_up(found: list[Outcome]) -> None:
    """Each outcome keeps to its own 1 KiB, so that many do not use up what is meant for the introduction."""
    shown = sum(outcome.shown for outcome in found if outcome.status == "attached")

    assert len(build_section(found).encode()) <= shown + 1024 * len(found) + 1400


@given(some)
def test_nothing_gets_out_of_its_fence(found: list[Outcome]) -> None:
    """One label an outcome, one heading, every fence closed, and what stands outside is printable and ours."""
    section = build_section(found)
    outside, blocks, open_fence = outline(section)

    assert open_fence == ""
    assert [f"### {outcome.label}" for outcome in found] == [line for line in outside if line.startswith("#") and line != HEADING]
    assert [markers.BEGIN, HEADING] == outside[:2]
    assert outside.count(HEADING) == 1
    assert not [line for line in outside[1:-1] if line.startswith("<")]
    assert not [sign for line in outside for sign in line if sign != "\t" and unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    assert len(blocks) >= sum(bool(outcome.text) for outcome in found if outcome.status == "attached" and outcome.kind == "file")


@given(texts.filter(bool))
def test_text_comes_back(text: str) -> None:
    """A file stands in one block, as it is; where it has no final newline one is added."""
    sent = text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")
    assume(sent.isprintable() or not any("\ud800" <= sign <= "\udfff" for sign in sent))
    assume("`" * 400 not in text or "~" * 400 not in text)
    blocks = outline(build_section([attached("a.txt", text)])).blocks

    assert [text if text.endswith("\n") else text + "\n"] == blocks


@given(some)
def test_same_outcomes_same_bytes(found: list[Outcome]) -> None:
    """A section depends on its outcomes and on nothing else, and holds no hint."""
    section = build_section(found)

    assert section == build_section(list(found))
    assert "type something else" not in section
