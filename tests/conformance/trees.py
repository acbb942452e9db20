"""The folder that a case is about: texts, bytes, links and other things, built where nothing else is."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


class SkipError(Exception):
    """The system cannot hold what a case needs; the text says what."""


def text_of(value: Any, turns: list[dict[str, Any]] | None = None, field: str = "message") -> str:
    """
    Return what a TEXT of the format stands for.

    Args:
        value: A string; a list of TEXTs, which are joined; `{"repeat": [TEXT, n]}`; `{"turn": i}` for what turn i gave back.
        turns: The answers so far.
        field: Which part of such an answer is meant.
    """
    match value:
        case str():
            return value
        case list():
            return "".join(text_of(part, turns, field) for part in value)
        case {"repeat": [part, count]}:
            return text_of(part, turns, field) * int(count)
        case {"turn": number} if turns is not None:
            return str(turns[number][field])
        case _:
            message = f"no TEXT: {value!r}"
            raise ValueError(message)


def build(root: Path, tree: dict[str, Any]) -> None:
    """
    Make the entries of *tree* below *root*, in their order; None takes one away.

    Raises:
        SkipError: If the system does not have such entries, or no such names.
    """
    root.mkdir(parents=True, exist_ok=True)
    for name, entry in tree.items():
        try:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            _put(path, root, entry)
        except (OSError, NotImplementedError, AttributeError, UnicodeEncodeError) as error:
            raise SkipError(f"{name!r} cannot be made here: {error}") from error


def has_case_sensitive_names(folder: Path) -> bool:
    """Tell whether two names that differ in case are two files here."""
    (folder / "case").touch()
    try:
        return not (folder / "CASE").exists()
    finally:
        (folder / "case").unlink()


def _put(path: Path, root: Path, entry: Any) -> None:
    match entry:
        case None:
            path.unlink()
        case {"hex": digits}:
            path.write_bytes(bytes.fromhex(digits))
        case {"numbered": [line, count]}:
            path.write_bytes("".join(line.replace("%d", str(number)) for number in range(1, count + 1)).encode())
        case {"numbered_files": [name, count]}:
            path.mkdir()
            for number in range(1, count + 1):
                (path / name.replace("%d", str(number))).touch()
        case {"link": target}:
            path.symlink_to(target)
        case {"hard_link": other}:
            path.hardlink_to(root / other)
        case {"folder": True}:
            path.mkdir(exist_ok=True)
        case {"fifo": True}:
            os.mkfifo(path)
        case {"socket": True}:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(path))
        case {"sparse": size}:
            with path.open("wb") as file:
                file.truncate(size)
        case _:
            path.write_bytes(text_of(entry).encode())
