"""Ranking: which of many names a few typed signs mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs.ranking import RANKS, Index

SIGNS = st.text(st.sampled_from("abAB_./ éE\u0301中"), min_size=1, max_size=8)


def names_for(query: str, *names: str, limit: int = 50) -> list[str]:
    return [match.name for match in Index(names).search(query, limit).matches]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        pytest.param("main", ["main/", "x/main", "main.py", "a/b/main.py", "remain.py", "maintain/x.py", "x/main/a.py"], id="each rank before the next"),
        pytest.param("main", ["main.py", "cmd/main_test.py", "a/b/main.py"], id="shallower first"),
        pytest.param("a", ["a.py", "ab.py", "abc.py"], id="shorter first"),
        pytest.param("iclop", ["internal/cli/options.py"], id="signs in their order"),
        pytest.param("zzz", [], id="nothing"),
        pytest.param("src/a", ["src/a.py", "lib/src/a.py", "src/x/a.py"], id="a folder and the beginning of a name"),
        pytest.param("src/", ["src/z.py", "src/deep/", "src/deep/a.py"], id="what is in a folder, without the folder"),
        pytest.param("", ["b.py", "src/", "a/x.py"], id="nothing typed: all, shallower and shorter first"),
        pytest.param("[a", ["x[a].py"], id="a bracket is a sign like any other"),
        pytest.param("a^]-\\", ["x/a^]-\\.py", "a/^/]/-/\\"], id="signs that mean something to a pattern"),
    ],
)
def test_the_best_come_first(query: str, names: list[str]) -> None:
    """A query gives exactly these names, in this order, however they were given."""
    others = [] if query == "" else ["TODO", "q"]

    assert names == names_for(query, *others, *reversed(names), *(["src/"] if query == "src/" else []))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("readme", ["README.md", "docs/readme.txt"], id="small letters mean both"),
        pytest.param("README", ["README.md"], id="a capital means itself"),
        pytest.param("caf\u00e9", ["cafe\u0301.md"], id="composed finds decomposed"),
        pytest.param("CAFE\u0301", ["CAF\u00c9"], id="decomposed finds composed, capitals or not"),
        pytest.param("it's", ["it’s.txt"], id="a straight quote finds a curly one"),
        pytest.param("中", ["中文.md"], id="another script"),
    ],
)
def test_spellings(query: str, expected: list[str]) -> None:
    """What looks the same is the same, but for capitals that were typed."""
    assert expected == names_for(query, "README.md", "docs/readme.txt", "cafe\u0301.md", "CAF\u00c9" if "C" in query else "x", "it’s.txt", "中文.md")


def test_only_the_best_are_kept() -> None:
    """A limit takes the worst away: it is applied behind the comparison, not before."""
    many = [f"d/f{number:03}.txt" for number in range(300)]

    assert ["d/zz.txt"] == names_for("zz", *many, "d/zz.txt", limit=1)
    assert ["d/f000.txt", "d/f001.txt"] == names_for("f0", *many, limit=2)


def test_a_long_search_goes_on_where_it_stopped() -> None:
    """Of very many names the last rank looks at some, says so, and finds the rest when it is asked again."""
    index = Index([*(f"{number:06}" for number in range(25_000)), "zzzzzzzzza/q"])

    counts = [(len(found.matches), found.unfinished) for found in (index.search("zq", 5) for _ in range(4))]

    assert [(0, True), (0, True), (1, False), (1, False)] == counts


def test_a_nul_finds_nothing() -> None:
    """What separates the names inside is part of none."""
    assert [] == names_for("\0", "a.py", "b.py")
    assert [] == names_for("a.py\0b", "a.py", "b.py")


def test_a_pause_is_made_while_an_index_is_built() -> None:
    """Whoever builds a large index is asked to let others go on."""
    pauses: list[None] = []

    Index((str(number) for number in range(5000)), lambda: pauses.append(None))

    assert len(pauses) > 20


def _rank(query: str, name: str) -> int | None:
    """Return the rank by the words of its definition, one name at a time."""
    index = Index([name])
    exact = query != query.lower()
    text, wanted = (name, query) if exact else (name.casefold(), query.casefold())
    base = text.rstrip("/").rpartition("/")[2]
    rest = iter(text)
    tests = (base == wanted, base.startswith(wanted), wanted in base, text.startswith(wanted), wanted in text, all(sign in rest for sign in wanted))
    assert index.names == [name]
    return next((rank for rank, holds in enumerate(tests) if holds), None)


@given(st.text("abAB_./", min_size=1, max_size=6), st.lists(st.text("abAB_./", min_size=1, max_size=8), max_size=12, unique=True))
def test_the_fast_search_is_the_plain_one(query: str, names: list[str]) -> None:
    """Names found, their ranks and their order are those of comparing one by one."""
    ranked = {name: _rank(query, name) for name in names if name != query or not name.endswith("/")}
    weight = {name: (name.count("/") - name.endswith("/"), len(name), name) for name in names}
    expected = sorted((rank, *weight[name]) for name, rank in ranked.items() if rank is not None and not (rank == len(RANKS) - 1 and name == query))

    assert [(rank, name) for rank, _, _, name in expected] == [tuple(match) for match in Index(names).search(query, 50).matches]


@given(SIGNS, st.lists(SIGNS, max_size=10))
def test_any_name_finds_itself(query: str, names: list[str]) -> None:
    """A name that is typed whole is among the matches, but for a folder, whose contents are wanted then."""
    found = [match.name for match in Index([*names, query]).search(query, 50).matches]

    assert query in found or query.endswith("/")
    assert len(set(found)) == len(found)
