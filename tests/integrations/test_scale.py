"""The samples of docs/scale.md, each run as the program that it is, where its library is installed; and what an event loop sees."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import filerefs
from filerefs import Preprocessor, RootClosedError, preprocess
from filerefs.roots import MemoryRoot

if TYPE_CHECKING:
    from filerefs import NodeLike
    from filerefs.roots import Trouble

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
# A block whose first line is the name of its file, and what it prints.
BLOCKS = {
    name: (text, output)
    for name, text, output in re.findall(r"```python\n# (\w+\.py)\n(.*?)```\n(?:\n```text\n(.*?)```)?", PAGE.read_text(encoding="utf-8"), re.DOTALL)
}
NEEDED = {"with_dask.py": "dask", "on_a_cluster.py": "distributed", "with_ray.py": "ray", "in_a_loop.py": "asyncio"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project and forty transcripts about it, each with three messages of the person, two of which name files."""
    source = tmp_path / "project" / "src"
    source.mkdir(parents=True)
    for number in range(8):
        (source / f"m{number}.py").write_text(f"NUMBER = {number}\n" * 200, encoding="utf-8")
    transcripts = []
    for number in range(40):
        missing = " and @src/gone.py" if number == 7 else ""
        texts = [f"what is in @src/m{number % 8}.py{missing}?", "thank you", f"and in @src/m{(number + 1) % 8}.py?"]
        messages = [message for text in texts for message in ({"role": "user", "content": text}, {"role": "assistant", "content": "see @src/m0.py"})]
        transcripts.append({"id": number, "messages": messages})
    (tmp_path / "transcripts.jsonl").write_text("".join(json.dumps(one) + "\n" for one in transcripts), encoding="utf-8")
    for name, (text, _) in BLOCKS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(program: str, folder: Path) -> str:
    """Return what a program prints, run in a process of its own: what it starts, it ends."""
    paths = os.pathsep.join([str(folder), str(Path(filerefs.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": paths, "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    environment.pop("PYTHONWARNDEFAULTENCODING", None)
    finished = subprocess.run([sys.executable, program], cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.parametrize("program", [name for name in BLOCKS if name != "prepare.py"])
def test_the_page(folder: Path, program: str) -> None:
    """Each program of the page prints what the page says."""
    if find_spec(NEEDED[program]) is None:
        pytest.skip(f"needs {NEEDED[program]}")

    assert BLOCKS[program][1] == run(program, folder)


def test_parts_are_as_the_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However a corpus is parted, each turn is that of one process with a new Preprocessor for each message."""
    pytest.importorskip("dask", reason="needs dask")
    monkeypatch.chdir(folder)
    (folder / "compare.py").write_text(
        "import json, sys, dask.bag\nfrom prepare import read\nfrom with_dask import prepare_partition\n"
        "if __name__ == '__main__':\n"
        "    bag = dask.bag.from_sequence(read('transcripts.jsonl'), npartitions=7)\n"
        "    for scheduler in ('threads', 'processes', 'synchronous'):\n"
        "        print(json.dumps(bag.map_partitions(prepare_partition).compute(scheduler=scheduler)))\n",
        encoding="utf-8",
    )
    expected = [json.loads(line) for line in (folder / "transcripts.jsonl").read_text(encoding="utf-8").splitlines()]
    for transcript in expected:
        for message in transcript["messages"]:
            if message["role"] == "user":
                turn = preprocess(message["content"], root="project")
                message |= {"content": turn.message, "section": turn.section, "warnings": list(turn.warnings)}

    parted = [json.loads(line) for line in run("compare.py", folder).splitlines()]

    assert [expected] * 3 == parted


class SlowRoot:
    """A root in memory that opens nothing before it is told to."""

    def __init__(self) -> None:
        self.files = MemoryRoot({f"f{number}.txt": f"{number}\n" for number in range(20)})
        self.asked = threading.Event()
        self.allowed = threading.Event()

    def open(self, name: str) -> NodeLike | Trouble:
        self.asked.set()
        assert self.allowed.wait(60)
        return self.files.open(name)


def test_the_loop_goes_on() -> None:
    """While a turn waits for its files, other tasks run, and it ends when it has them."""

    async def converse() -> tuple[int, str]:
        root = SlowRoot()
        files = Preprocessor(root)
        turn = asyncio.create_task(files.preprocess_async("@f1.txt", "Be brief."))
        steps = 0
        while not root.asked.is_set() or steps < 100:
            await asyncio.sleep(0)
            steps += 1
        assert not turn.done()
        # A message that names nothing does not wait for one that does.
        assert (await files.preprocess_async("hello")).message == "hello"
        root.allowed.set()
        return steps, (await turn).attached[0].text

    steps, text = asyncio.run(converse())

    assert steps >= 100
    assert text == "1\n"


def test_cancelling() -> None:
    """A task is cancelled while its thread still waits; the next turns are right, and closing waits for the thread."""

    async def converse() -> str:
        root = SlowRoot()
        files = Preprocessor(root)
        task = asyncio.create_task(files.preprocess_async("@f1.txt"))
        assert await asyncio.to_thread(root.asked.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not root.allowed.is_set()
        closing = asyncio.create_task(asyncio.to_thread(files.close))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not closing.done()
        root.allowed.set()
        await closing
        with pytest.raises(RootClosedError):
            await files.preprocess_async("@f2.txt")
        with Preprocessor(root) as others:
            return (await others.preprocess_async("@f2.txt")).attached[0].text

    assert asyncio.run(converse()) == "2\n"


def test_many_conversations_share_a_preprocessor() -> None:
    """Turns at once on one Preprocessor each have their own files and their own section, turn after turn."""

    async def converse(files: Preprocessor, number: int) -> None:
        prompt = f"You are number {number}."
        for step in range(20):
            name = f"f{(number + step) % 20}.txt"
            turn = await files.preprocess_async(f"read @{name}" if step % 3 else "go on", prompt)
            prompt = turn.prompt
            assert ([name] if step % 3 else []) == [outcome.path for outcome in turn.attached]
            assert prompt.startswith(f"You are number {number}.")
            assert prompt.count("<!-- filerefs:begin -->") == bool(step % 3)

    async def main() -> None:
        root = SlowRoot()
        root.allowed.set()
        with Preprocessor(root) as files:
            await asyncio.gather(*(converse(files, number) for number in range(20)))

    asyncio.run(main())
