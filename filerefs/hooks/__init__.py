"""Hooks of programs that people talk to at a terminal or in an editor: their protocols as data, what they are answered, where they are set up."""

from __future__ import annotations

# Importing `typing` for its constant of this name would double the time that a hook takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from filerefs.hooks.events import Reply


def answer(event: Mapping[str, Any], host: str, options: Mapping[str, Any]) -> Reply | None:
    """
    Return what the hook of *host* prints about *event*, None for nothing.

    Args:
        event: What the host wrote, read as JSON.
        host: The name of one of `hosts.HOSTS`.
        options: Fields of `answers.Options`; those that are not given have their defaults.
    """
    from filerefs.hooks.answers import Options
    from filerefs.hooks.events import reply
    from filerefs.hooks.hosts import HOSTS

    return reply(event, HOSTS[host], Options(**options))
