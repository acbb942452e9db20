"""The words behind `filerefs hook HOST`, read without what other commands read theirs with: it takes longer than all the rest."""

from __future__ import annotations

# Importing `typing` for its constant of this name would double the time that a hook takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def read_words(words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """
    Return the options in *words*, by their names, and what is none of them or has no value.

    An option that this version does not know must not cost a message, so nothing is raised.
    """
    found: dict[str, Any] = {}
    strange: list[str] = []
    left = list(words)
    while left:
        name, equals, value = left.pop(0).partition("=")
        if name in ("--bodies", "--no-bodies") and not equals:
            found["bodies"] = name == "--bodies"
        elif name in ("--symlinks", "--allow") and (equals or left):
            value = value if equals else left.pop(0)
            if name == "--allow":
                found["allow"] = (*found.get("allow", ()), value)
            elif value in ("refuse", "inside"):
                found["symlinks"] = value
            else:
                strange.append(f"{name} {value}")
        else:
            strange.append(f"{name}{equals}{value}")
    return found, strange
