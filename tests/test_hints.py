"""What a person may have meant: look-alikes first, then near names, never more than three."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs.hints import SUGGESTIONS, fold, near_names

NAMES = ["main.py", "Main.py", "mail.py", "maim.py", "README.md", "my file.txt", "my\u00a0file.txt", "it's.md", "it’s.md", "cafe\u0301.md", "unrelated.rs"]


@pytest.mark.parametrize(
    ("name", "names", "expected"),
    [
        pytest.param("main.py", ["mian.py"], ["mian.py"], id="two letters exchanged"),
        pytest.param("main.py", ["main.ts"], ["main.ts"], id="another extension"),
        pytest.param("README", ["README.md"], ["README.md"], id="the extension left out"),
        pytest.param("MAIN.PY", ["main.py", "maim.py"], ["main.py"], id="another case leaves no room for others"),
        pytest.param("MAIN.PY", ["main.py", "Main.py", "maim.py"], ["main.py", "Main.py"], id="two in other cases"),
        pytest.param("api", ["api.py", "apa"], ["api.py"], id="a short name, the extension left out"),
        pytest.param("app", ["app.test.ts", "app.py", "app.ts"], ["app.py", "app.ts"], id="only the last extension is left out"),
        pytest.param("util", ["utils", "util.py"], ["util.py", "utils"], id="an extension more comes before what is alike"),
        pytest.param("my file.txt", ["my\u00a0file.txt"], ["my\u00a0file.txt"], id="another blank"),
        pytest.param("it's.md", ["it’s.md"], ["it’s.md"], id="another quote"),
        pytest.param("a–b.md", ["a-b.md"], ["a-b.md"], id="another dash"),
        pytest.param("caf\u00e9.md", ["cafe\u0301.md"], ["cafe\u0301.md"], id="another accent"),
        pytest.param("ｍain.py", ["main.py"], ["main.py"], id="full-width letters"),
        pytest.param("main\u200b.py", ["main.py"], ["main.py"], id="a zero-width space"),
        pytest.param("main.py", ["lib.rs", "docs"], [], id="nothing near"),
        pytest.param("main.py", [], [], id="nothing at all"),
        pytest.param("main.py", ["mainn.py", "maiin.py", "mmain.py", "mainx.py"], ["maiin.py", "mainn.py", "mainx.py"], id="three of four, by name"),
        pytest.param("ab", ["ba"], [], id="too short to be near"),
    ],
)
def test_near_names(name: str, names: list[str], expected: list[str]) -> None:
    """What looks the same comes before what is near; the nearest first."""
    assert near_names(name, names) == expected


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=10, unique=True))
def test_near_names_are_few_and_given(name: str, names: list[str]) -> None:
    """At most three of the names that there are, each once."""
    found = near_names(name, names)

    assert len(found) <= SUGGESTIONS
    assert len(set(found)) == len(found)
    assert set(found) <= set(names)


@given(st.sampled_from(NAMES))
def test_the_name_itself_is_nearest(name: str) -> None:
    """A name looks like itself."""
    assert name in near_names(name, NAMES)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Main.PY", "main.py"),
        ("STRASSE", "strasse"),
        ("stra\u00dfe", "strasse"),
        ("a\u00a0b\u3000c", "a b c"),
        ("‘a’ “b” „c“ «d»", '\'a\' "b" "c" "d"'),
        ("a‐b‑c–d—e−f", "a-b-c-d-e-f"),
        ("\ufb01le", "file"),
        ("a\u200bb\ufeff\u00ad", "ab"),
    ],
)
def test_what_eyes_pass_over(name: str, expected: str) -> None:
    """Case, kinds of blanks, quotes and dashes, compatibility forms and what is invisible do not count."""
    assert fold(name) == expected
