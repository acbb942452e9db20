"""Which mentions become one outcome, and what becomes of those beyond the limit."""

from __future__ import annotations

import pytest

from filerefs.grouping import Group, Refusal, Sorter
from filerefs.outcomes import Reason
from filerefs.resolving import Hit, Miss, Target
from filerefs.root import Trouble

from .property.strategies import reference

NOT_FOUND = Trouble(Reason.NOT_FOUND, "no such file")
ABSOLUTE = Trouble(Reason.ABSOLUTE, "an absolute path")
SPENT = Trouble(Reason.TOO_MANY, "not looked up")


def hit(name: str, inode: int = 0) -> Hit:
    """Return the resolution of a reference to the file *name*; 0 is no inode."""
    return Hit(len(name) + 1, Target(name, None, "file", (1, inode) if inode else None, None, None), None, "")


def miss(path: str, trouble: Trouble = NOT_FOUND) -> Miss:
    """Return the resolution of a reference to *path* that came to nothing."""
    return Miss(len(path) + 1, path, trouble)


def sort(limit: int | None, *resolutions: Hit | Miss) -> list[Group | Refusal]:
    """Return the entries that *resolutions* make, each of a reference of its own."""
    sorter = Sorter(limit)
    for resolution in resolutions:
        sorter.add(reference(resolution.target.name if isinstance(resolution, Hit) else resolution.path), resolution)
    return sorter.entries


def outline(entries: list[Group | Refusal]) -> list[tuple[str, str, int]]:
    """Return of each entry its path, its reason and how many mentions it has."""
    return [
        (entry.target.name, "attached", len(entry.mentions)) if isinstance(entry, Group) else (entry.path, entry.reason.value, len(entry.mentions))
        for entry in entries
    ]


@pytest.mark.parametrize(
    ("resolutions", "expected"),
    [
        pytest.param([hit("a", 7), hit("b", 7)], [("a", "attached", 2)], id="two names of one inode"),
        pytest.param([hit("a", 7), hit("a", 8)], [("a", "attached", 1), ("a", "attached", 1)], id="one name of two inodes"),
        pytest.param([hit("a"), hit("b"), hit("a")], [("a", "attached", 2), ("b", "attached", 1)], id="names, where there are no inodes"),
        pytest.param([miss("x//y"), miss("x/./y")], [("x/y", "not_found", 2)], id="two spellings of one miss"),
        pytest.param([miss("/x//y", ABSOLUTE), miss("x/y", ABSOLUTE)], [("/x/y", "absolute", 1), ("x/y", "absolute", 1)], id="the slash in front counts"),
        pytest.param([miss("a"), miss("a", ABSOLUTE)], [("a", "not_found", 1), ("a", "absolute", 1)], id="two reasons"),
        pytest.param([miss("./"), miss("//", ABSOLUTE)], [("./", "not_found", 1), ("/", "absolute", 1)], id="nothing but what means nothing"),
    ],
)
def test_what_belongs_together(resolutions: list[Hit | Miss], expected: list[tuple[str, str, int]]) -> None:
    """Files are one by device and inode, else by name; misses by their tidied name and reason."""
    assert outline(sort(None, *resolutions)) == expected


def test_first_spelling_of_a_miss_is_kept() -> None:
    """What was typed first is what a hint is made from."""
    (refusal,) = sort(None, miss("x//y"), miss("x/y"))

    assert isinstance(refusal, Refusal)
    assert (refusal.path, refusal.typed) == ("x/y", "x//y")


@pytest.mark.parametrize(
    ("resolutions", "expected"),
    [
        pytest.param([hit("a"), hit("b"), hit("c")], [("a", "attached", 1), ("b", "attached", 1), ("c", "too_many", 1)], id="one file too many"),
        pytest.param(
            [hit("a"), miss("b"), miss("c/./d"), hit("e")], [("a", "attached", 1), ("b", "not_found", 1), ("c/d", "too_many", 2)], id="all the rest are one"
        ),
        pytest.param(
            [hit("a"), hit("b"), hit("c"), hit("a")], [("a", "attached", 2), ("b", "attached", 1), ("c", "too_many", 1)], id="a file that is in already"
        ),
        pytest.param([miss("x", SPENT), hit("a"), hit("b")], [("x", "too_many", 1), ("a", "attached", 1), ("b", "attached", 1)], id="the rest takes no place"),
        pytest.param(
            [miss("x", SPENT), hit("a"), hit("b"), hit("c")],
            [("x", "too_many", 2), ("a", "attached", 1), ("b", "attached", 1)],
            id="the rest is one, whatever the cause",
        ),
    ],
)
def test_at_most_so_many(resolutions: list[Hit | Miss], expected: list[tuple[str, str, int]]) -> None:
    """With a limit of two there are two files and refusals, and one refusal for all the others."""
    assert outline(sort(2, *resolutions)) == expected


@pytest.mark.parametrize(
    ("limit", "detail"),
    [
        pytest.param(0, "more than 0 references", id="none"),
        pytest.param(1, "more than 1 reference", id="one"),
        pytest.param(2, "more than 2 references", id="two"),
    ],
)
def test_the_rest_says_how_many_there_may_be(limit: int, detail: str) -> None:
    """What is one too many says what the limit is, and what was not looked up says that, in the first one's words."""
    rest = sort(limit, *[hit(f"f{number}") for number in range(limit + 1)])[-1]
    unknown = sort(limit, miss("x", SPENT))[-1]

    assert isinstance(rest, Refusal)
    assert isinstance(unknown, Refusal)
    assert rest.detail == f"{detail} in one message"
    assert unknown.detail == "not looked up"


def test_mentions_keep_their_ends() -> None:
    """A mention ends where its reading does, whatever became of it."""
    entries = sort(1, hit("a"), miss("bb", SPENT), miss("ccc"), hit("dddd"))

    assert [mention.span for entry in entries for mention in entry.mentions] == [(0, 2), (0, 3), (0, 4), (0, 5)]
    assert [mention.name for mention in entries[-1].mentions] == ["", "", "dddd"]
