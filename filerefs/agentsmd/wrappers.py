"""
What other programs put into a conversation in the role of the user, known by how it begins and how it ends.

A person may quote such a text and write about it.  So a message counts as one only if it is one block and nothing
else: after its opening mark, with the closing mark once, at its very end.
"""

from __future__ import annotations

import re

_TAGS = (
    "environment_context",
    "skill",
    "user_shell_command",
    "turn_aborted",
    "subagent_notification",
    "user_instructions",
    "system-reminder",
    "project_context",
)
_OPENING = re.compile(rf"<({'|'.join(_TAGS)})(?:\s[^<>]*)?>", re.IGNORECASE | re.ASCII)
_HEADING = re.compile(r"# AGENTS\.md instructions(?: for [^\n]*)?\r?\n\s*<INSTRUCTIONS>", re.IGNORECASE | re.ASCII)

CONTENT_KEYS = ("__agentsmd_content__",)
"""Keys of messages by which hosts mark what they injected, beside the text or in its "extra"."""


def is_wrapped(text: str) -> bool:
    """Tell whether *text* is one injected block: white space around it and the case of ASCII letters do not matter."""
    text = text.strip()
    heading = _HEADING.match(text)
    opening = None if heading else _OPENING.match(text)
    if heading is None and opening is None:
        return False
    closing = "</instructions>" if opening is None else f"</{opening[1].lower()}>"
    # ASCII letters only: lower() changes the length of others, which would move what is compared.
    end = _lower(text)
    return end.endswith(closing) and end.count(closing) == 1


def _lower(text: str) -> str:
    return text.translate(_LOWER)


_LOWER = {number: number + 32 for number in range(ord("A"), ord("Z") + 1)}
