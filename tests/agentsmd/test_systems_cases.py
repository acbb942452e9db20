"""What four other systems find, and what they leave out, each through its profile; see `cases` for the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from filerefs.agentsmd.budgets import Ledger
from filerefs.agentsmd.discovery import discover
from filerefs.agentsmd.documents import Discovery, Omission
from filerefs.agentsmd.imports import expand_imports
from filerefs.agentsmd.loader import Loader
from filerefs.agentsmd.profiles import CHAIN, CODEX, EINO, PROJECTCTX
from filerefs.agentsmd.rendering import compose
from filerefs.agentsmd.wording import wording
from filerefs.errors import FilerefsError, OptionError

from .cases import SYSTEMS, Row, build, read, rows, taken

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Tree


def _omitted(found: Discovery) -> list[list[Any]]:
    return [[one.name, one.size, one.reason.words, one.by] for one in found.omitted]


def _chain(row: Row, folder: Path) -> Discovery:
    given = row.given
    return discover(
        folder / given["path"],
        profile=CHAIN,
        root=folder / given["root"] if "root" in given else None,
        names=given.get("names"),
        extra=[folder / name for name in given.get("extra", [])],
        **{name: given[name] for name in ("budget", "file_bytes") if name in given},
    )


def _from(folder: Path, root: Path, name: str) -> str:
    """Return *name*, relative to *root*, relative to *folder*."""
    return (root / name).relative_to(folder).as_posix() if name and (root / name).exists() else name


@pytest.mark.parametrize("row", rows("agentsmd", "chain", "chain-confined"))
def test_chain(row: Row, tree: Tree) -> None:
    """
    The profile CHAIN finds what the Go module finds, without its faults.

    Two rows are overruled by chapter 8 of the design: without a root nothing above the start folder is looked at
    (the outcome of the row is the same), and a link out of the root costs nothing else.
    """
    folder = row.build(tree)
    root = folder / row.given.get("root", ".")
    if "error" in row.expected:
        with pytest.raises(OptionError, match="inside `root`"):
            _chain(row, folder)
        return

    found = _chain(row, folder)

    assert row.expected["files"] == [_from(folder, root, doc.name) for doc in found.docs]
    assert row.expected["omitted"] == [[_from(folder, root, name), size, why, _from(folder, root, by)] for name, size, why, by in _omitted(found)]


@pytest.mark.parametrize("row", rows("agentsmd", "reason"))
def test_reasons_have_words(row: Row) -> None:
    """
    Why a file is left out can be said to a person.

    Overruled by chapter 2 of the design: reasons are a closed enum, there is none that is only a number.
    """
    assert row.expected["words"] == [Omission(reason).words for reason in row.given["reasons"]]
    with pytest.raises(ValueError, match="7"):
        Omission("7")


@pytest.mark.parametrize("row", rows("projectctx", "load"))
def test_projectctx(row: Row, tree: Tree) -> None:
    """The profile PROJECTCTX finds what the Go package finds: trimmed texts, links by their targets, advice for the rest."""
    folder = row.build(tree)
    limits = {"file_bytes": row.given["file_bytes"]} if "file_bytes" in row.given else {}

    found = discover(folder / row.given["path"], profile=PROJECTCTX, **limits)

    advice = [*found.problems, *(one for one in found.omitted if one.reason is Omission.LINK_OUTSIDE)]
    assert row.expected["names"] == [doc.name for doc in found.docs]
    assert row.expected["contents"] == [doc.text for doc in found.docs]
    assert row.expected["errors"] == len(advice)


def _codex(row: Row, folder: Path) -> Discovery:
    given = row.given
    user = []
    if "user_text" in given:
        (folder / "home").mkdir()
        (folder / "home" / "AGENTS.md").write_text(given["user_text"], encoding="utf-8")
        user = [folder / "home"]
    names = [*CODEX.names, *given["more_names"]] if "more_names" in given else None
    limits = {"budget": given["budget"]} if "budget" in given else {}
    return discover(folder / given["path"], profile=CODEX, markers=given.get("markers"), names=names, user_files=user, **limits)


@pytest.mark.parametrize("row", rows("codex", "load", "load-fault"))
def test_codex(row: Row, tree: Tree) -> None:
    """
    The profile CODEX finds and composes what Codex does; what is cut says so.

    A marker that cannot be looked for (here a link to itself) costs nothing else: overruled by chapter 8 of the design.
    """
    folder = row.build(tree)
    expected = row.expected

    found = _codex(row, folder)
    text = compose(found, hierarchy_note=row.given.get("hierarchy_note", False))

    if "begins" in expected:
        assert text.startswith(expected["begins"])
        assert "\ufffd" not in text
        assert found.docs[0].truncated
    else:
        assert (expected["text"] or "").replace("{HIERARCHY}", wording("en").hierarchy) == text
    if "sources" in expected:
        assert expected["sources"] == [doc.name for doc in found.docs if doc.origin != "user"]
    if "warnings" in expected:
        assert expected["warnings"] == len(found.warnings)
        assert all("AGENTS.md" in warning for warning in found.warnings)
    assert expected.get("problems", []) == [problem.name for problem in found.problems]


@pytest.mark.parametrize("row", rows("codex", "global"))
def test_codex_user_folder(row: Row, tree: Tree) -> None:
    """Of a user's folder the first file counts that is a file and not blank; its text is trimmed."""
    folder = tree({"project": None})
    texts = []
    for number, entries in enumerate(row.given["table"]):
        build(tree, {f"home{number}": None, **{f"home{number}/{path}": text for path, text in entries.items()}})
        found = discover(folder / "project", profile=CODEX, user_files=[folder / f"home{number}"])
        texts.append(found.docs[0].text if found.docs else None)

    assert row.expected["table"] == texts


def _eino(row: Row, folder: Path) -> Discovery:
    files = [folder / name for name in row.given["files"]]
    return expand_imports(discover(folder, profile=EINO, root=folder, extra=files, budget=row.given["budget"]))


@pytest.mark.parametrize("row", rows("eino", "load"))
def test_eino(row: Row, tree: Tree) -> None:
    """
    The profile EINO loads what the middleware loads, confined, with the grammar of mentions.

    Overruled by chapter 8 of the design: circles, and imports behind the limit, are not passed over in silence.
    """
    folder = row.build(tree)

    found = _eino(row, folder)

    told = [[problem.name.replace(str(folder), "{root}"), problem.detail] for problem in found.problems]
    told += [[one.name, one.reason.words] for one in found.omitted]
    assert row.expected["sections"] == [doc.name for doc in found.docs]
    assert row.expected["warnings"] == told
    for doc in found.docs:
        assert (folder / doc.file).read_text(encoding="utf-8") == doc.text


@pytest.mark.parametrize("row", rows("eino", "config"))
def test_eino_configuration(row: Row, tree: Tree) -> None:
    """What cannot work is refused when a loader is made, or at the latest when its root is opened."""
    folder = tree({"t.md": "T"})
    accepted = []
    for entry in row.given["table"]:
        given = entry or {}
        limits = {"budget": given["max_bytes"]} if "max_bytes" in given else {}
        try:
            loader = Loader(
                folder,
                profile=EINO,
                root=folder if given.get("backend") else folder / "none",
                extra=[folder / name.lstrip("/") for name in given.get("files", ())],
                **limits,
            )
            accepted.append(bool(loader.read().docs))
        except FilerefsError:
            accepted.append(False)

    assert row.expected["ok"] == accepted


def test_every_row_is_a_test() -> None:
    """No row of any system is left to nobody."""
    wanted = {(system, row.op) for system in SYSTEMS for row in read(system)}

    assert set() == wanted - taken()


def test_every_row_says_what_it_is() -> None:
    """A fault names what is wrong, an overruled row the rule that overrules it, and ids are unique."""
    everything = [row for system in SYSTEMS for row in read(system)]

    assert len(everything) == len({row.id for row in everything})
    assert {"reproduced", "mended", "overruled"} == {row.standing for row in everything}
    assert [] == [row.id for row in everything if (row.standing == "mended") != bool(row.wrong)]
    assert [] == [row.id for row in everything if (row.standing == "overruled") != bool(row.rule)]


def test_a_ledger_without_a_total_is_never_spent() -> None:
    """Without a limit everything fits, however much was shown."""
    ledger = Ledger(None, "cut")
    ledger.spend(1 << 40)
    ledger.close()

    assert (None, False) == (ledger.room, ledger.is_overdrawn)
