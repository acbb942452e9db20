"""A project, and one message that makes a turn use everything there is: what has to work in a sandbox, and without one path-based call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .trees import SECRET

if TYPE_CHECKING:
    from ..conftest import Tree  # noqa: TID252 (tests are no package that could be named)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)

MESSAGE = """Look at @src/app.py and @src/long.py:10-20 (and :30 of it, @src/long.py#L30), then @docs/ and @src.
Cut: @big.txt, streamed: @huge.txt:150000-150003, behind the end: @short.txt:99
Encodings: @latin.txt @utf16.txt @empty.txt, media: @logo.png, binary: @data.bin.
Names: @my file.txt now, @"with \\u{9}tab.txt", @caf\u00e9.txt, \u201c@src\\app.py\u201d, @docs/guide.md#usage, \u67e5\u770b@src/app.py\u7684\u5185\u5bb9
Links: @link.py @up @out/secret.txt @loop, pipe: @pipe, secrets: @.env and @.git/config, in code: `@src/app.py`.
Misses: @src/ap.py @docs/giude.md @/etc/passwd @~/x.py @../outside/secret.txt @nope/x.py; no mentions: @alice, a@b.example, @types/node
Many: """ + " ".join(f"@many/{number:02}.txt" for number in range(40))


def plant_features(tree: Tree) -> Path:
    """Build the project of `MESSAGE`, with a folder beside it that nothing may reach."""
    outside = tree.folder.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_bytes(SECRET)
    return tree(
        {
            ".env": SECRET,
            ".git/config": SECRET,
            ".gitignore": "*.log\nbuild/\n",
            "build/out.txt": "built",
            "src/app.py": "print('hello')\n" * 12,
            "src/long.py": "".join(f"line = {number}\n" for number in range(1, 301)),
            "src/debug.log": "ignored",
            "docs/.gitignore": "draft.md\n",
            "docs/guide.md": "# Guide\n",
            "docs/draft.md": "# Draft\n",
            "docs/.env": "also secret",
            "big.txt": "a line of text\n" * 20_000,
            "huge.txt": "a line of text\n" * 200_000,
            "latin.txt": "Grüße aus Köln, schöne Straße\n".encode("latin-1"),
            "utf16.txt": "wide text\n".encode("utf-16"),
            "empty.txt": "",
            "short.txt": "one line\n",
            "logo.png": PNG,
            "data.bin": bytes(range(256)) * 8,
            "my file.txt": "with a blank",
            "with \ttab.txt": "with a tab",
            "cafe\u0301.txt": "decomposed",
            "link.py": tree.link("src/app.py"),
            "up": tree.link("docs/../src"),
            "out": tree.link("../outside"),
            "loop": tree.link("loop"),
            "pipe": tree.fifo(),
            **{f"many/{number:02}.txt": f"number {number}\n" for number in range(40)},
        }
    )


def run(program: str, *arguments: str) -> Any:
    """Run one of the programs beside this file in an interpreter of its own and return the JSON that it prints."""
    path = Path(__file__).with_name(program)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    finished = subprocess.run([sys.executable, path, *arguments], capture_output=True, encoding="utf-8", env=environment, check=False)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)
