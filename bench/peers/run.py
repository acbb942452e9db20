"""
The same messages and files through other libraries, side by side; prints a Markdown table.

    python bench/peers/run.py [--write]      --write puts it into docs/performance.md

Each library has an environment of its own under .bench/, made on first need with the versions below, and runs in one
process that lives through all messages.  They take turns, message by message, several times; what counts is the fastest.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from conftest import SAMPLES, module, repeat  # noqa: E402 (a script next to a folder that is no package)
from report import PAGE, write  # noqa: E402

REPOSITORY = HERE.parent.parent
ROUNDS = 3
SECONDS = 0.3
# Where a call takes longer than this, one round is enough.
PATIENCE = 2.0


@dataclass
class Peer:
    """One library: what is installed for it, and the process that it runs in."""

    name: str
    requirement: str
    child: Any = field(default=None, repr=False)

    @property
    def title(self) -> str:
        return self.requirement.replace("==", " ") or {"filerefs_kept": "filerefs, a `Preprocessor`", "filerefs_once": "filerefs, `preprocess()`"}[self.name]

    def python(self) -> str:
        if not self.requirement:
            return sys.executable
        folder = REPOSITORY / ".bench" / self.name
        if not (folder / ".installed").exists():
            print(f"installing {self.requirement} into {folder.relative_to(REPOSITORY)}", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
            subprocess.run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", self.requirement], check=True)
            (folder / ".installed").touch()
        return str(folder / "bin" / "python")

    def start(self, folder: Path, home: Path) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONUTF8": "1"}
        if not self.requirement:
            environment["PYTHONPATH"] = str(REPOSITORY)
        command = [self.python(), str(HERE / "child.py"), self.name, str(folder)]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", env=environment)
        if self.child.stdout.readline() != "ready\n":
            sys.exit(f"{self.title} does not start")

    def ask(self, message: str) -> dict[str, Any]:
        self.child.stdin.write(json.dumps({"message": message, "seconds": SECONDS}) + "\n")
        self.child.stdin.flush()
        answer: dict[str, Any] = json.loads(self.child.stdout.readline())
        return answer

    def stop(self) -> None:
        self.child.stdin.close()
        self.child.wait()


PEERS = [
    Peer("filerefs_kept", ""),
    Peer("filerefs_once", ""),
    Peer("deepagents", "deepagents-code==0.1.57"),
    Peer("praisonai", "praisonaiagents==1.7.17"),
    Peer("gptme", "gptme==0.35.1"),
]
OURS = 2

DOES = """| | filerefs | deepagents-code | praisonaiagents | gptme |
|---|---|---|---|---|
| reads only inside the folder | yes, by handle | no: absolute paths, `..`, `~`, links | by `resolve()` and comparing, with a race | no |
| bounds the text of one turn | 200 KiB a file, 1 MiB in all | 256 KiB a file | 500,000 characters a file | a total |
| cuts a large file, and says so | yes | leaves it out | yes | yes |
| directories, ranges, quotes | yes | escaped blanks | no | directories |
| other encodings than UTF-8, binaries | yes | fails, as an error in the text | error in the text | names the kind of file |
| a miss | a warning with a hint, or plain text | a line on the console | plain text | plain text |
| the text can be taken out of the prompt again | yes, by digest | no | no | no |
| result | prompt, message, outcomes | text and paths | context and message | message |"""


def messages() -> dict[str, str]:
    def sample(name: str, length: int) -> str:
        return repeat((SAMPLES / f"{name}.txt").read_text(encoding="utf-8"), length)

    return {
        "short, no `@`": "Please explain what this project does, and how its tests are run.",
        "one file of 10 KB": "explain @src/module0.py please",
        "ten files of 10 KB": "explain " + " and ".join(f"@src/module{number}.py" for number in range(10)),
        "20 KB of e-mail addresses": sample("addresses", 20_000),
        "100 KB of decorators, in code": sample("decorators", 100_000),
        "100 KB of prose, no `@`": sample("prose", 100_000),
    }


def build(folder: Path) -> None:
    for name in (".git", "docs", "src", "tests"):
        (folder / name).mkdir()
    for name in ("Makefile", "README.md", "LICENSE", "pyproject.toml", "app.py"):
        (folder / name).write_text(f"{name}\n", encoding="utf-8")
    for number in range(10):
        (folder / "src" / f"module{number}.py").write_text(module(number), encoding="utf-8")


def measure(peers: list[Peer], message: str) -> list[dict[str, Any]]:
    best: list[dict[str, Any]] = [{"best": float("inf")} for _ in peers]
    for _ in range(ROUNDS):
        for index, peer in enumerate(peers):
            if best[index]["best"] < PATIENCE or "characters" not in best[index]:
                best[index] = min(best[index], peer.ask(message), key=lambda answer: answer["best"])
    return best


def shown(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:,.1f} µs"
    return f"{seconds * 1e3:,.1f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def line_of(title: str, answers: list[dict[str, Any]]) -> str:
    times = [answer["best"] for answer in answers]
    ratio = times[0] / min(times[OURS:])
    verdict = "met" if ratio <= 0.5 else "**missed**"
    return f"| {title} | {' | '.join(map(shown, times))} | {ratio:.2g} × | {verdict} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the same messages through other libraries and print a Markdown table.")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        folder, home = Path(base) / "project", Path(base) / "home"
        folder.mkdir()
        home.mkdir()
        build(folder)
        for peer in PEERS:
            peer.start(folder, home)
        titles = [peer.title for peer in PEERS]
        lines = [f"| message | {' | '.join(titles)} | to the fastest peer | goal 0.5 × |", f"|---|{'---|' * (len(titles) + 2)}"]
        for title, message in messages().items():
            lines.append(line_of(title, measure(PEERS, message)))
            print(lines[-1], file=sys.stderr)
        for peer in PEERS:
            peer.stop()
    text = "\n".join([*lines, "", "What each of them does and does not do:", "", DOES])
    print(text)
    if arguments.write:
        write(PAGE, "peers", text)


if __name__ == "__main__":
    main()
