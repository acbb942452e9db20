"""What people reported about instruction files elsewhere: each report is a test, named in `data/reports.jsonl`."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from filerefs import preprocess
from filerefs.agentsmd.discovery import discover
from filerefs.agentsmd.documents import Discovery, Omission
from filerefs.agentsmd.history import strip_injected
from filerefs.agentsmd.imports import expand_imports
from filerefs.agentsmd.loader import Loader
from filerefs.agentsmd.profiles import DEFAULT
from filerefs.agentsmd.refreshing import refresh
from filerefs.agentsmd.rendering import render

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Tree

REPORTS = {
    report["id"]: report["says"] for report in map(json.loads, (Path(__file__).parent / "data" / "reports.jsonl").read_text(encoding="utf-8").splitlines())
}
CHECKS: dict[str, Callable[[Tree], None]] = {}

HEAD = {".git/HEAD": "ref: refs/heads/main\n"}


def report(number: str) -> Callable[[Callable[[Tree], None]], Callable[[Tree], None]]:
    """Take a function as the check of one report."""

    def take(check: Callable[[Tree], None]) -> Callable[[Tree], None]:
        CHECKS[number] = check
        return check

    return take


@pytest.mark.parametrize("number", [pytest.param(number, id=says) for number, says in REPORTS.items()])
def test_report(number: str, tree: Tree) -> None:
    """What was reported elsewhere does not happen here."""
    CHECKS[number](tree)


def test_every_report_has_a_check() -> None:
    """No report is left out, and no check is of none."""
    assert set(REPORTS) == set(CHECKS)


def texts(found: Discovery) -> list[str]:
    """Return the texts of the documents, white space around them apart."""
    return [doc.text.strip() for doc in found.docs]


@report("B126")
def _own_marker(tree: Tree) -> None:
    folder = tree({".top": "", "AGENTS.md": "OUTER", "s/.git/HEAD": "x", "s/AGENTS.md": "INNER"})

    assert ["OUTER", "INNER"] == texts(discover(folder / "s", markers=[".top"]))
    assert ["INNER"] == texts(discover(folder / "s"))


@report("B128")
def _submodule(tree: Tree) -> None:
    folder = tree({**HEAD, "AGENTS.md": "SUPER", "sub/.git": "gitdir: ../.git/modules/sub\n", "sub/AGENTS.md": "SUB"})
    found = discover(folder / "sub")

    assert ["SUB"] == texts(found)
    assert [("../AGENTS.md", 5, Omission.OUTSIDE_ROOT)] == [(one.name, one.size, one.reason) for one in found.omitted]
    assert ["SUPER", "SUB"] == texts(discover(folder / "sub", root=folder))


@report("B129")
def _work_tree(tree: Tree) -> None:
    folder = tree({"AGENTS.md": "OUTER", ".git/worktrees/w/HEAD": "x", "wt/.git": "gitdir: ../.git/worktrees/w\n", "wt/AGENTS.md": "WT", "wt/d/x": ""})

    found = discover(folder / "wt" / "d")

    assert ["WT"] == texts(found)
    assert found.root == "wt (nearest folder with .git)"


@report("B130")
def _above_a_work_tree(tree: Tree) -> None:
    bare = {"fleet/.git/HEAD": "x", "fleet/.git/config": "[core]\n\tbare = true\n"}
    folder = tree({**bare, "fleet/CLAUDE.md": "FLEET", "fleet/child/.git": "gitdir: ../.git/worktrees/c\n"})

    assert ["FLEET"] == texts(discover(folder / "fleet/child", root="/", names=["CLAUDE.md"]))
    assert [] == texts(discover(folder / "fleet/child", names=["CLAUDE.md"]))


@report("B133")
def _for_a_file(tree: Tree) -> None:
    folder = tree({**HEAD, "AGENTS.md": "ROOT", "go/AGENTS.md": "GO", "go/m.go": "package m", "java/AGENTS.md": "JAVA"})

    assert ["ROOT", "GO"] == texts(discover(folder / "go" / "m.go", root=folder))


@report("B135")
def _where_it_ends(tree: Tree) -> None:
    folder = tree({"ws/AGENTS.md": "WS", "ws/repo/.git/HEAD": "x", "AGENTS.md": "HOME"})
    chosen, usual = discover(folder / "ws/repo", root=folder / "ws"), discover(folder / "ws/repo")

    assert (["WS"], []) == (texts(chosen), texts(usual))
    assert ("ws (the root that was given)", "repo (nearest folder with .git)") == (chosen.root, usual.root)


@report("B136")
def _levels_between(tree: Tree) -> None:
    folder = tree({"r/.git/HEAD": "x", "r/AGENTS.md": "1", "r/a/AGENTS.md": "2", "r/a/b/c/x": ""})

    assert ["1", "2"] == texts(discover(folder / "r" / "a" / "b" / "c"))


@report("B137")
def _private_notes(tree: Tree) -> None:
    folder = tree({"AGENTS.md": "SHARED", "CLAUDE.local.md": "MINE"})

    found = discover(folder, names=["CLAUDE.md", "AGENTS.md"], additions=["CLAUDE.local.md"])

    assert ["SHARED", "MINE"] == texts(found)


@report("B138")
def _each_folder_by_itself(tree: Tree) -> None:
    folder = tree({"AGENTS.md": "ROOT", "a/CLAUDE.md": "A", "b/AGENTS.md": "B1", "b/CLAUDE.md": "B2"})
    here, there = (discover(folder / name, root=folder, names=["AGENTS.md", "CLAUDE.md"]) for name in "ab")

    assert (["ROOT", "A"], ["ROOT", "B1"]) == (texts(here), texts(there))
    assert [("b/CLAUDE.md", Omission.SHADOWED, "b/AGENTS.md")] == [(one.name, one.reason, one.by) for one in there.omitted]


@report("B139")
def _link_at_the_root(tree: Tree) -> None:
    folder = tree({"AGENTS.md": "ROOT", "CLAUDE.md": tree.link("AGENTS.md"), "t/AGENTS.md": "T"})

    assert ["ROOT", "T"] == texts(discover(folder / "t", root=folder, names=["CLAUDE.md", "AGENTS.md"]))


@report("B141")
def _user_wide(tree: Tree) -> None:
    folder = tree({"home/.cfg/AGENTS.md": "GLOBAL", "p/x": "", "q/AGENTS.md": "Q"})
    user = [folder / "home" / ".cfg" / "AGENTS.md"]

    assert ["GLOBAL"] == texts(discover(folder / "p", user_files=user))
    assert ["GLOBAL", "Q"] == texts(discover(folder / "q", user_files=user))


@report("B142")
def _nested_work_tree(tree: Tree) -> None:
    folder = tree(
        {**HEAD, ".git/worktrees/f/commondir": "../..\n", "CLAUDE.md": "SAME", ".wt/f/.git": "gitdir: ../../.git/worktrees/f\n", ".wt/f/CLAUDE.md": "SAME"}
    )

    found = discover(folder / ".wt" / "f", root=folder, names=["CLAUDE.md"])

    assert ["SAME"] == texts(found)
    assert [("CLAUDE.md", Omission.DUPLICATE, ".wt/f/CLAUDE.md")] == [(one.name, one.reason, one.by) for one in found.omitted]


@report("B143")
def _another_branch(tree: Tree) -> None:
    entries = {"CLAUDE.md": "OLD RULE", ".worktrees/x/.git": "gitdir: ../../.git/worktrees/x\n", ".worktrees/x/CLAUDE.md": "NEW RULE"}
    folder = tree({**HEAD, **entries})

    for root in (None, folder):
        assert ["NEW RULE"] == texts(discover(folder / ".worktrees" / "x", root=root, names=["CLAUDE.md"]))


@report("B144")
def _work_tree_inherits(tree: Tree) -> None:
    folder = tree({"AGENTS.md": "WS", "r/.git/HEAD": "x", "r/AGENTS.md": "MAIN", "r/w/.git": "gitdir: ../.git/worktrees/w\n", "r/w/x": ""})

    assert ["WS", "MAIN"] == texts(discover(folder / "r" / "w", root=folder))


@report("B147")
def _sent_once(tree: Tree) -> None:
    folder = tree({"AGENTS.md": "UNIQ", "CLAUDE.md": "@AGENTS.md\n"})
    found = expand_imports(discover(folder, names=["AGENTS.md"], additions=["CLAUDE.md"]))
    turn = preprocess("@AGENTS.md", root=folder)

    sent = render(found.without([outcome.path for outcome in turn.attached])) + turn.prompt

    assert ["UNIQ", "@AGENTS.md"] == texts(found)
    assert 1 == sent.count("UNIQ")


@report("B149")
def _nearest_first(tree: Tree) -> None:
    folder = tree({"AGENTS.md": "root\n" * 2000, "a/AGENTS.md": "NEAR"})
    far, near = discover(folder / "a", root=folder, budget=4000).docs

    assert ("NEAR", False, True) == (near.text, near.truncated, far.truncated)


@report("B150")
def _cut_at_a_line(tree: Tree) -> None:
    rule = "never do X unless Y\n"
    found = discover(tree({"AGENTS.md": rule * 500}), budget=1003)

    kept, _, mark = found.docs[0].text.partition("\n\n[")

    assert (rule * 50).rstrip() == kept
    assert "of 10000 bytes" in mark
    assert found.docs[0].truncated
    assert ["AGENTS.md was cut by the budget of all files"] == [warning.partition(":")[0] for warning in found.warnings]


@report("B151")
def _default_limit(tree: Tree) -> None:
    found = discover(tree({"AGENTS.md": "x" * 400_000}))

    assert len(render(found)) <= (DEFAULT.budget or 0) + 1024
    assert found.docs[0].truncated


@report("B152")
def _user_file_counts(tree: Tree) -> None:
    folder = tree({"u.md": "line\n" * 60_000, "p/AGENTS.md": "P"})

    found = discover(folder / "p", user_files=[folder / "u.md"], budget=20_000)

    assert [True, False] == [doc.truncated for doc in found.docs]
    assert "P" == found.docs[1].text
    assert len(render(found)) <= 20_000 + 1024


@report("B154")
def _bad_byte(tree: Tree) -> None:
    found = discover(tree({"AGENTS.md": b"RULE \x93qz\x94\nNEXT"}))

    assert found.docs[0].text.startswith("RULE ")
    assert found.docs[0].text.endswith("\nNEXT")
    assert ["AGENTS.md"] == [warning.split()[0] for warning in found.warnings]


@report("B155")
def _denied(tree: Tree) -> None:
    # The superuser may read everything: an ordinary user asks, in a process of its own and a folder that is open to
    # all.  It finds its modules no more by then, so what they load when they are first used is loaded before.
    code = (
        "import os, sys; sys.path[:0] = eval(sys.argv[2]); from filerefs.agentsmd.discovery import discover\n"
        "discover(sys.argv[1] + '/sub')\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "found = discover(sys.argv[1] + '/sub'); print([doc.text for doc in found.docs], [(p.name, p.detail) for p in found.problems])\n"
        "found = discover(sys.argv[1] + '/closed/AGENTS.md', root=sys.argv[1]); print([p.name for p in found.problems])"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = type(tree)(Path(name))({**HEAD, "AGENTS.md": tree.mode(0o000, "X"), "closed/AGENTS.md": "C", "sub/AGENTS.md": "SUB"})
        folder.chmod(0o755)
        (folder / "closed").chmod(0o600)
        finished = subprocess.run([sys.executable, "-c", code, str(folder), repr(sys.path)], check=True, capture_output=True, encoding="utf-8")
        (folder / "closed").chmod(0o700)

    sub, closed = finished.stdout.splitlines()
    assert "['SUB'] [('AGENTS.md', 'permission denied')]" == sub
    assert {"AGENTS.md", "closed/AGENTS.md"} <= set(ast.literal_eval(closed))


@report("B158")
def _beside_its_holder(tree: Tree) -> None:
    folder = tree({"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": "TOP", "r/.git/HEAD": "x", "r/CLAUDE.md": "@AGENTS.md\n", "r/AGENTS.md": "REPO"})

    found = expand_imports(discover(folder / "r", root=folder, names=["CLAUDE.md"]))

    assert ["@AGENTS.md", "TOP", "@AGENTS.md", "REPO"] == texts(found)
    assert ["CLAUDE.md", "AGENTS.md", "r/CLAUDE.md", "r/AGENTS.md"] == [doc.name for doc in found]


@report("B160")
def _upwards(tree: Tree) -> None:
    folder = tree({**HEAD, "AGENTS.md": "UPPER", "sub/CLAUDE.md": "@../AGENTS.md\n"})

    assert ["@../AGENTS.md", "UPPER"] == texts(expand_imports(discover(folder / "sub", names=["CLAUDE.md"])))


@report("B161")
def _anchor(tree: Tree) -> None:
    found = expand_imports(discover(tree({"CLAUDE.md": "@t.md#rule\n", "t.md": "# t\n## rule\nR\n## other\nO\n"}), names=["CLAUDE.md"]))

    assert ["@t.md#rule", "# t\n## rule\nR\n## other\nO"] == texts(found)
    assert ["t.md is imported as a whole: `#rule` was not resolved"] == list(found.warnings)


@report("B162")
def _twice(tree: Tree) -> None:
    folder = tree({"CLAUDE.md": "1 @c.md\n2 @c.md\n", "c.md": "C mentions @c.md"})
    found = expand_imports(discover(folder, names=["CLAUDE.md"]), placement="inline")

    assert ["1 C mentions @c.md\n2 (see c.md)\n"] == [doc.text for doc in found]


def _silent(tree: Tree, text: str) -> None:
    """Check that nothing in *text* is taken for an import."""
    found = discover(tree({"AGENTS.md": text}))

    assert found == expand_imports(found)
    assert ((), ()) == (found.warnings, found.problems)
    assert text == found.docs[0].text


@report("B163")
def _decorator(tree: Tree) -> None:
    _silent(tree, '```python\n@app.get("/x")\ndef f(): ...\n```\n')


@report("B165")
def _windows_line_ends(tree: Tree) -> None:
    text = "a\r\n```\r\n@x.md\r\n```\r\n@y.md\r\n"
    folder = tree({"AGENTS.md": text, "x.md": "XX", "y.md": "YY"})

    assert [text, "YY"] == [doc.text for doc in expand_imports(discover(folder))]
    assert ["a\r\n```\r\n@x.md\r\n```\r\nYY\r\n"] == [doc.text for doc in expand_imports(discover(folder), placement="inline")]


@report("B166")
def _addresses(tree: Tree) -> None:
    _silent(tree, "mail a@b.test or \\@team or a\\@b.test\nRULE\n")


@report("B167")
def _packages(tree: Tree) -> None:
    _silent(tree, "run `npx @z/core@latest`\nuse @upstash/ctx-mcp here\n")


@report("B170")
def _prints_nothing(tree: Tree) -> None:
    folder = tree({"AGENTS.md": "@mcp.tool()\n@none.md\n"})
    code = "import sys; from filerefs import agentsmd; print(len(agentsmd.expand_imports(agentsmd.discover(sys.argv[1])).problems))"

    # Not ours: `regex` warns where default encodings are watched for.
    command = [sys.executable, "-W", "ignore::EncodingWarning", "-c", code, str(folder)]
    finished = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")

    assert ("1\n", "") == (finished.stdout, finished.stderr)


@report("B172")
def _five_levels(tree: Tree) -> None:
    chain = {f"{number}.md": f"{number} @{number + 1}.md" for number in range(1, 6)}
    folder = tree({"AGENTS.md": "0 @1.md @twin.md", **chain, "6.md": "6", "twin.md": "T @1.md"})

    found = expand_imports(discover(folder))

    assert ["AGENTS.md", "1.md", "2.md", "3.md", "4.md", "5.md", "twin.md"] == [doc.name for doc in found]
    assert [("@6.md", "not imported: it would be 6 levels deep, and 5 are allowed")] == [(problem.name, problem.detail) for problem in found.problems]


@report("B173")
def _confined(tree: Tree) -> None:
    text = "@../secret.txt @/etc/hostname @l.md user@10.0.0.1"
    folder = tree({"secret.txt": "TOP", "p/.git/HEAD": "x", "p/AGENTS.md": text, "p/l.md": tree.link("../secret.txt")})

    for placement in ("after", "inline"):
        found = expand_imports(discover(folder / "p"), placement=placement)

        assert [text] == texts(found)
        assert ["@../secret.txt", "@/etc/hostname", "@l.md"] == [problem.name for problem in found.problems]


@report("B175")
def _behind_a_compaction(tree: Tree) -> None:
    folder = tree({"AGENTS.md": "V1"})
    loader = Loader(folder)
    history = refresh([{"role": "user", "content": "hi"}], render(loader.run().load())).messages
    tree({"AGENTS.md": "V2"})
    compacted = strip_injected(history)

    text = str(refresh([*compacted, {"role": "user", "content": "go on"}], render(loader.run().load())).messages)

    assert "V2" in text
    assert "V1" not in text


@report("B202")
def _personal_file(tree: Tree) -> None:
    text = "A\n@local.md\nB\n"

    found = expand_imports(discover(tree({"AGENTS.md": text})))

    assert [text] == [doc.text for doc in found]
    assert ["@local.md: no such file (AGENTS.md)"] == [problem.summary for problem in found.problems]
