"""
The hosts whose hooks `filerefs hook` answers, as data: what they send, take and show, and what they do by themselves.

Everything here is somebody else's decision and may change with their next version; docs/integrations/hooks.md says
where each of it is written down, or who measured it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Unit: TypeAlias = Literal["utf-16", "utf-8"]
Layout: TypeAlias = Literal["nested", "flat"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """
    Instruction files that a host reads by itself, in each folder from the project's root down to the one it works in.

    Attributes:
        names: What a folder's file may be called, best first: one of them is read.
        additions: What is read besides.
    """

    names: tuple[str, ...]
    additions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    Where a host is told of its hooks, and how.

    Attributes:
        folder: The folder of its settings, below the home folder or the project.
        variable: Names another folder in place of the one at home; "" for none.
        file: The file in it.
        groups: Whether an event holds groups of handlers, else the handlers themselves.
        empty: What a file without any setting holds.
        timeout: What is asked for, in the host's own unit; None where sources differ about the unit.
        named: Whether a handler has a name for people.
        comments: Whether the host reads comments in this file.
        rival: A TOML file beside it that may hold hooks as well; "" for none.
        afterwards: What the person has to do then, a sentence.
    """

    folder: str
    variable: str
    file: str
    groups: bool
    empty: str
    timeout: int | None
    named: bool = False
    comments: bool = False
    rival: str = ""
    afterwards: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """
    A program with hooks.

    Attributes:
        name: What `filerefs hook` calls it.
        title: What people call it.
        prompt_event: Comes with each message, before the model sees it.
        start_event: Comes when a session starts, and again after its history was compacted where the host has that.
        layout: Of the answer: "nested" has the context in an object of its own, "flat" has it beside the rest.
        unit: In what the host counts what it passes on.
        mentions: A pattern for the mentions that the host attaches itself, with a group `path`; "" for none.
        lines: A pattern for the range behind a path that it reads, too; "" for none.
        escapes: Whether a backslash in a path stands for the character behind it.
        attachments: The field that lists the files that it attached itself; "" for none.
        untyped: What a message begins with that the program wrote and no person; "" for none.
        reader: How its model reads a file.
        instructions: What it reads by itself: the first entry that finds something anywhere holds.
        imports: Whether it follows the imports in them.
        settings: Where it is told of its hooks.
    """

    name: str
    title: str
    prompt_event: str
    start_event: str
    layout: Layout = "nested"
    unit: Unit = "utf-16"
    mentions: str = ""
    lines: str = ""
    escapes: bool = False
    attachments: str = ""
    untyped: str = ""
    reader: str
    instructions: tuple[Reading, ...]
    imports: bool
    settings: Settings


CLAUDE_CODE: Final = Host(
    name="claude-code",
    title="Claude Code",
    prompt_event="UserPromptSubmit",
    start_event="SessionStart",
    # Its bare names end at a word boundary of ASCII, so that a name without an ASCII letter at its end is none.
    mentions=r'(?:(?<=\s)|^)@(?:"(?P<quoted>[^"]+)"|(?P<path>\S+)(?a:\b))',
    lines=r"#L\d+(?:-L?\d+)?",
    untyped="<task-notification>",
    reader="Read",
    instructions=(
        Reading(names=("CLAUDE.md",), additions=(".claude/CLAUDE.md", "CLAUDE.local.md")),
        Reading(names=("AGENTS.md",), additions=(".claude/AGENTS.md",)),
    ),
    imports=True,
    settings=Settings(
        folder=".claude",
        variable="CLAUDE_CONFIG_DIR",
        file="settings.json",
        groups=True,
        empty="{}",
        timeout=10,
        afterwards="Sessions that are running pick it up; /hooks lists it.",
    ),
)
CODEX: Final = Host(
    name="codex",
    title="Codex",
    prompt_event="UserPromptSubmit",
    start_event="SessionStart",
    unit="utf-8",
    reader="cat",
    instructions=(Reading(names=("AGENTS.override.md", "AGENTS.md")),),
    imports=False,
    settings=Settings(
        folder=".codex",
        variable="CODEX_HOME",
        file="hooks.json",
        groups=True,
        empty="{}",
        timeout=10,
        rival="config.toml",
        afterwards="Codex runs it once you have trusted it: start Codex and open /hooks.",
    ),
)
GEMINI: Final = Host(
    name="gemini",
    title="Gemini CLI",
    prompt_event="BeforeAgent",
    start_event="SessionStart",
    mentions=r'(?<!\\)@(?P<path>(?:"[^"]*"|\\.|[^ \t\n\r,;!?()\[\]{}.\\"]|\.(?!$|[ \t\n\r]))+)',
    escapes=True,
    reader="read_file",
    instructions=(Reading(names=("GEMINI.md",)),),
    imports=True,
    settings=Settings(
        folder=".gemini",
        variable="",
        file="settings.json",
        groups=True,
        empty="{}",
        timeout=10_000,
        named=True,
        comments=True,
        afterwards="The next session has it; /hooks lists it.",
    ),
)
CURSOR: Final = Host(
    name="cursor",
    title="Cursor",
    prompt_event="beforeSubmitPrompt",
    start_event="sessionStart",
    layout="flat",
    attachments="attachments",
    reader="read_file",
    instructions=(Reading(names=("AGENTS.md",)),),
    imports=False,
    settings=Settings(
        folder=".cursor",
        variable="",
        file="hooks.json",
        groups=False,
        empty='{\n  "version": 1\n}',
        timeout=None,
        afterwards="Cursor reads the file when it is saved; open a new chat.",
    ),
)

HOSTS: Final = {host.name: host for host in (CLAUDE_CODE, CODEX, GEMINI, CURSOR)}
"""All hosts by their names."""
