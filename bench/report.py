"""
Runs the benchmarks and prints their ratios as a Markdown table: what, goal, measured.

    python bench/report.py                   print
    python bench/report.py --write           print, and put it between the markers of docs/performance.md
    python bench/report.py --quick           without the folder of a million files
    python bench/report.py --from FILE       the figures of an earlier run
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parent.parent
PAGE = REPOSITORY / "docs" / "performance.md"
RESULTS = REPOSITORY / ".bench" / "results.json"


def run(*, huge: bool) -> int:
    """Run the benchmarks and return the exit status: a table is made of what was measured, also where one of them failed."""
    RESULTS.parent.mkdir(exist_ok=True)
    options = ["-q", "-o", "python_files=bench_*.py", "-p", "no:xdist", "--benchmark-quiet", f"--benchmark-json={RESULTS}"]
    RESULTS.unlink(missing_ok=True)
    return subprocess.run([sys.executable, "-m", "pytest", "bench", *options, *(["--huge"] if huge else [])], cwd=REPOSITORY, check=False).returncode


def rows_of(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for benchmark in results["benchmarks"] for row in benchmark["extra_info"].get("rows", [])] + [
        {"group": "Instruction files, to the system calls that they need", "title": benchmark["name"].removeprefix("test_").replace("_", " "), "unit": "×"}
        | {"value": benchmark["extra_info"]["ratio to the floor"], "goal": None, "times": ""}
        for benchmark in results["benchmarks"]
        if "ratio to the floor" in benchmark["extra_info"]
    ]


def table(results: dict[str, Any]) -> str:
    rows = rows_of(results)
    with_goal = [row for row in rows if row["goal"] is not None]
    missed = [row for row in with_goal if not is_met(row)]
    processor = results["machine_info"].get("cpu", {}).get("brand_raw", platform.machine())
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.release().partition('-')[0]}, {processor}, {os.cpu_count()} cores"
    lines = [f"{machine}. Goals met: {len(with_goal) - len(missed)} of {len(with_goal)}."]
    for group in dict.fromkeys(row["group"] for row in rows):
        lines += ["", f"**{group}**", "", "| what | goal | measured | | times |", "|---|---|---|---|---|"]
        lines += [line_of(row) for row in rows if row["group"] == group]
    return "\n".join(lines)


def is_met(row: dict[str, Any]) -> bool:
    # As it is printed: 2.004 is 2.00.
    return float(figure(row["value"])) <= row["goal"]


def line_of(row: dict[str, Any]) -> str:
    goal = "" if row["goal"] is None else f"≤ {row['goal']:g} {row['unit']}".rstrip()
    verdict = "" if row["goal"] is None else "met" if is_met(row) else "**missed**"
    return f"| {row['title']} | {goal} | {figure(row['value'])} {row['unit']} | {verdict} | {row['times']} |".replace("  |", " |")


def figure(value: float) -> str:
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def write(page: Path, name: str, text: str) -> None:
    """Put *text* between the markers called *name* in *page*, in place of what was there."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    old = page.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(old):
        sys.exit(f"{page.name} has no place for it: {begin} … {end}")
    page.write_text(pattern.sub(lambda _: f"{begin}\n\n{text}\n\n{end}", old), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the benchmarks and print their ratios as a Markdown table.")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    parser.add_argument("--quick", action="store_true", help="leave out what takes a minute to set up")
    parser.add_argument("--from", dest="source", type=Path, help="the JSON of an earlier run, instead of running")
    arguments = parser.parse_args()
    status = run(huge=not arguments.quick) if arguments.source is None else 0
    text = table(json.loads((arguments.source or RESULTS).read_text(encoding="utf-8")))
    print(text)
    if arguments.write:
        write(PAGE, "bench", text)
    sys.exit(status)


if __name__ == "__main__":
    main()
