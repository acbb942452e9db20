"""
`filerefs hook`: answers one event of a program that people talk to, in that program's own protocol.

It runs before every message that somebody sends, so it loads as little as it can: `json` where there is something to
read in an event, the rest of the library where there is something to look up.  And it must never cost anybody a
message: whatever happens, it ends with 0, since some of these programs take another code for "hold this message back".
"""

from __future__ import annotations

import os
import sys

from filerefs import hooks
from filerefs.hooks.words import read_words

# Importing `typing` for its constant of this name would double the time that a hook takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from filerefs.hooks.events import Reply

HOST_NAMES = ("claude-code", "codex", "gemini", "cursor")

EVENT_BYTES = 16 * 1024 * 1024

_DRAINED_BYTES = 8 * EVENT_BYTES
_CHUNK_BYTES = 1024 * 1024
_FAILED = "something went wrong, so no file was attached (standard error has more)"
_TOO_LONG = f"this message is longer than {EVENT_BYTES // 1024 // 1024} MiB, so no file was attached"

# Written here, since what makes an answer may be what failed.
_WARNING = '{{"systemMessage": "filerefs: {}"}}\n'
_WARNINGS = {"cursor": '{{"continue": true, "user_message": "filerefs: {}"}}\n'}

PURPOSE = "answer the hooks of Claude Code, Codex, Gemini CLI or Cursor"

HELP = f"""\
usage: filerefs hook HOST [OPTION]...
       filerefs hook install HOST [OPTION]...

{PURPOSE[0].upper()}{PURPOSE[1:]}.

HOST is {", ".join(HOST_NAMES[:-1])} or {HOST_NAMES[-1]}: which program's event is read from
standard input, and in whose protocol it is answered on standard output. Nothing to
say is nothing printed; the exit code is always 0. `filerefs hook install --help` says
how to have it called.

options:
  --bodies                  give the model also what the host attaches itself
  --no-bodies               give it nothing but names
  --symlinks {{refuse,inside}}
                            follow links that stay inside (default: refuse)
  --allow NAME              open this file, though its name is that of a secret;
                            may be repeated
"""


def main(arguments: Sequence[str]) -> int:
    """Run `filerefs hook` with what stands behind it, and return the exit code: 0 for every event, whatever happens."""
    words = list(arguments)
    if words[:1] == ["install"]:
        from filerefs.hooks import installing

        return installing.main(words[1:])
    if not words or {"-h", "--help"} & set(words):
        # Where a host calls this by mistake, standard output would be read to its model.
        _write(1 if words else 2, HELP)
        return 0
    # Whatever goes wrong, a traceback or another exit code would cost somebody the message that was about to be sent.
    try:
        _run(words)
    except (Exception, KeyboardInterrupt):  # noqa: BLE001 (see above)
        _report(words[0])
    return 0


def add_command(commands: Any, **plain: Any) -> None:  # noqa: ANN401 (argparse has no public name for it, and takes what it takes)
    """Add the command to the list that `filerefs --help` prints; its own words are read here and never get there."""
    commands.add_parser("hook", prog="filerefs hook", help=PURPOSE, **plain)


def _run(words: list[str]) -> None:
    name = words[0]
    if name not in HOST_NAMES:
        _write(2, f"filerefs hook: no host is called {name!a}; there are {', '.join(HOST_NAMES)}\n")
        return
    found, strange = read_words(words[1:])
    if strange:
        _write(2, f"filerefs hook: not understood: {' '.join(strange)!a}\n")
    if sys.stdin is None:
        return
    if sys.stdin.isatty():
        _write(2, "filerefs hook: an event is read from standard input; `filerefs hook install` has it called by the host\n")
        return
    data = _read()
    if data is None:
        _warn(name, _TOO_LONG)
    elif not _says_nothing(data):
        _answer(data, name, found)


def _read() -> bytes | None:
    """Return standard input; None where it is too long, with more of it read and dropped: a host may mind a pipe that nobody empties."""
    pieces = []
    size = 0
    while size < _DRAINED_BYTES and (piece := os.read(0, _CHUNK_BYTES)):
        size += len(piece)
        if size <= EVENT_BYTES:
            pieces.append(piece)
    return b"".join(pieces) if size <= EVENT_BYTES else None


def _says_nothing(data: bytes) -> bool:
    """Tell whether no event in *data* can be of interest: without an at-sign, however JSON writes it, and no start of a session."""
    return not any(part in data for part in (b"@", b"\\u", b"\xef\xbc\xa0", b"essionStart"))


def _answer(data: bytes, name: str, found: Mapping[str, Any]) -> None:
    import json

    try:
        event = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        # Not what a host writes; nothing that could be said would be understood.
        return
    if not isinstance(event, dict) or not _is_of_interest(event):
        return
    _print(hooks.answer(event, name, found))


def _is_of_interest(event: Mapping[str, Any]) -> bool:
    prompt, kind = event.get("prompt"), event.get("hook_event_name")
    return (isinstance(prompt, str) and ("@" in prompt or "＠" in prompt)) or (isinstance(kind, str) and kind.endswith("essionStart"))


def _warn(name: str, sentence: str) -> None:
    _write(1, _WARNINGS.get(name, _WARNING).format(sentence))


def _report(name: str) -> None:
    """Tell the person that a hook failed, and whoever reads the host's log why."""
    import traceback

    _write(2, traceback.format_exc())
    _warn(name, _FAILED)


def _print(reply: Reply | None) -> None:
    if reply is None:
        return
    if reply.log:
        _write(2, reply.log + "\n")
    if reply.output:
        from filerefs.serve import to_json

        _write(1, to_json(reply.output) + "\n")


def _write(descriptor: int, text: str) -> None:
    if (sys.stdout if descriptor == 1 else sys.stderr) is None:
        return
    # Past Python's buffers: what cannot be written must not be tried again, aloud, when the interpreter ends.
    data = memoryview(text.encode("utf-8", "backslashreplace"))
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        # Whoever asked is gone, or never listened: there is nobody left to tell.
        return
