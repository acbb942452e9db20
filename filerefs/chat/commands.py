"""The commands of the chat: what the model sees, what is attached, and what is to change about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from filerefs import Attached, format_ref, naming
from filerefs.chat.instructions import Instructions
from filerefs.naming import human_size
from filerefs.notices import describe_refusal, hint_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from filerefs import Limits, Turn
    from filerefs.agentsmd import Discovery
    from filerefs.chat.conversation import Conversation
    from filerefs.chat.models import Model
    from filerefs.completion import Completer

    Lines: TypeAlias = Iterator[str]

# Seconds that `/files` waits for names at most, and the most that it shows.
_PATIENCE = 5.0
_MOST_FILES = 40

HELP = """\
@path in a message attaches a file or folder: @src/app.py, @"my file.txt", @src/app.py:10-40, @docs/"""


class State:
    """
    What the commands look at and change.

    Attributes:
        conversation: What was said, and the last turn.
        names: Where the names of files come from.
        limits: The caps of a turn.
        root: The folder, as an absolute path.
        open_model: Makes a model from its name; raises `ModelError`.
        model: What answers; None shows what would be sent.
        instructions: The instruction files; None where they are switched off.
        leaving: Whether the person wants to leave.
    """

    def __init__(
        self, conversation: Conversation, names: Completer, *, limits: Limits, root: str, open_model: Callable[[str], Model], agents: bool = True
    ) -> None:
        self.conversation = conversation
        self.names = names
        self.limits = limits
        self.root = root
        self.open_model = open_model
        self.model: Model | None = None
        self.instructions = Instructions(root) if agents else None
        self.conversation.instructions = self.instructions.text if self.instructions else ""
        self.leaving = False

    @property
    def found(self) -> Discovery | None:
        """The instruction files; None where they are switched off."""
        return self.instructions.found if self.instructions else None

    def refresh_instructions(self) -> str:
        """Put the instruction files as they are now behind the system prompt, and return a line about what changed, or ""."""
        if self.instructions is None:
            return ""
        notice = self.instructions.refresh()
        self.conversation.instructions = self.instructions.text
        return notice


class Command(NamedTuple):
    """What a command is called, what may follow it, what it does in a few words, and how."""

    name: str
    argument: str
    purpose: str
    run: Callable[[State, str], Lines]


def find_command(line: str) -> tuple[Command | None, str] | None:
    """Return the command that *line* gives, None in its place if there is no such one; None if it is a message."""
    first, _, argument = line.partition(" ")
    # `/etc/hosts` begins a message: a command has one slash.
    if not first.startswith("/") or not first[1:].replace("-", "").isalpha():
        return None
    return next((command for command in COMMANDS if command.name == first), None), argument.strip()


def suggest_command(line: str) -> str:
    """Return what the unknown command that begins *line* may stand for, as a question; "" if nothing is like it."""
    import difflib

    near = difflib.get_close_matches(line.partition(" ")[0], [command.name for command in COMMANDS], n=1)
    return f"did you mean {near[0]}?" if near else ""


def _show_context(state: State, _: str) -> Lines:
    """Say what the model sees now, and how much of it; tokens are estimated as a fourth of the bytes."""
    conversation = state.conversation
    yield _share("--system text", conversation.prompt) if conversation.prompt else "--system text: none"
    for doc in state.found.docs if state.found else ():
        yield f"  {naming.label(doc.name)}: {human_size(doc.shown)}, about {_tokens(doc.shown)} tokens"
    turn = conversation.turn
    attached = turn.attached if turn else ()
    total = state.limits.total_bytes
    for outcome in attached:
        part = f", {_percent(outcome.shown, total)} of the cap" if total else ""
        yield f"  {outcome.label}: {human_size(outcome.shown)}, about {_tokens(outcome.shown)} tokens{part}"
    shown = sum(outcome.shown for outcome in attached)
    cap = f" of {human_size(total)} ({_percent(shown, total)})" if total else ""
    yield f"attached: {human_size(shown)}{cap}, a file at most {human_size(state.limits.file_bytes) if state.limits.file_bytes else 'as large as it is'}"
    yield from _describe_kept(conversation.look_at_kept())
    prompt = turn.prompt if turn else conversation.base
    history = conversation.answered if state.model else conversation.history
    said = [text for one in history for text in (one.message, one.answer)]
    yield _share("whole system prompt, with instructions, files and what stands around them", prompt)
    yield _share(f"history, {len(history)} {'exchange' if len(history) == 1 else 'exchanges'}", *said)
    yield _share("sum of system prompt and history", prompt, *said)


def _describe_kept(turn: Turn) -> Lines:
    for outcome in turn.outcomes:
        size = f"{human_size(outcome.shown)}, about {_tokens(outcome.shown)} tokens" if isinstance(outcome, Attached) else outcome.detail
        yield f"kept for all turns: {naming.printable(outcome.token)}, {size}"
    # A name that looks like no path is a plain word where its file is gone.
    yield from (f"kept for all turns: {naming.printable(ref.token)}, no such file" for ref in turn.plain)


def _share(title: str, *texts: str) -> str:
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return f"{title}: {human_size(size)}, about {_tokens(size)} tokens"


def _tokens(size: int) -> str:
    return f"{size // 4:,}"


def _percent(part: int, whole: int) -> str:
    return f"{part * 100 / whole:.0f} %"


def _show_prompt(state: State, _: str) -> Lines:
    turn = state.conversation.turn
    text = turn.prompt if turn else state.conversation.base
    yield text or "the system prompt is empty: nothing was attached, and there are no instruction files"


def _show_files(state: State, query: str) -> Lines:
    if query:
        yield from _search(state, query.removeprefix("@"))
        return
    turn = state.conversation.turn
    if turn is None or not turn.outcomes:
        yield "the last message attached nothing; `/files NAME` looks for files"
        return
    for outcome in turn.outcomes:
        yield from (outcome.summary,) if isinstance(outcome, Attached) else describe_refusal(outcome)
        yield from (f"  {remark}" for remark in outcome.remarks)


def _search(state: State, query: str) -> Lines:
    mention = f"@{query}" if query.isprintable() and not any(sign.isspace() for sign in query) else f'@"{query}'
    found = state.names.complete(mention, limit=_MOST_FILES, wait=_PATIENCE)
    yield from (naming.printable(candidate.text) for candidate in found.candidates)
    if not found.candidates:
        yield "no file has such a name"
    if found.incomplete or len(found.candidates) == _MOST_FILES:
        yield "… and there may be more"


def _keep(state: State, argument: str) -> Lines:
    if not argument:
        yield f"kept for all turns: {' '.join(map(naming.printable, state.conversation.kept)) or 'nothing; `/keep @path` keeps a file'}"
        return
    outcomes = state.conversation.keep(_as_mention(argument))
    for outcome in outcomes:
        if isinstance(outcome, Attached):
            yield outcome.summary.replace("attached", "kept for all turns:", 1)
        else:
            yield from describe_refusal(outcome)
    if not outcomes:
        yield f"warning: that names no file: {naming.printable(argument)}"
        if any(sign.isspace() for sign in argument) and '"' not in argument:
            yield hint_line(f"write {format_ref(argument.lstrip('@＠'))}")


def _drop(state: State, argument: str) -> Lines:
    if not state.conversation.kept:
        yield "nothing is kept"
        return
    dropped = state.conversation.drop(_as_mention(argument))
    yield f"no longer kept: {' '.join(map(naming.printable, dropped))}" if dropped else "nothing of that name was kept"


def _as_mention(argument: str) -> str:
    """Take `/keep a b.py` and `/keep "a b.py"` for what they must mean: one name, without an at-sign."""
    if not argument or argument.startswith(("@", "＠")):
        return argument
    return f"@{argument}" if argument.startswith('"') else format_ref(argument)


def _clear(state: State, _: str) -> Lines:
    state.conversation.clear()
    if notice := state.refresh_instructions():
        yield notice
    state.names.refresh(0)
    yield "forgotten: what was said, the files of the last message, and what was kept"


def _show_agents(state: State, _: str) -> Lines:
    """Say which instruction files are in force, as `filerefs agents` does."""
    if state.found is None:
        yield "instruction files are switched off (--no-agents)"
        return
    from filerefs import agents_report, upward
    from filerefs.agentsmd import DEFAULT

    if notice := state.refresh_instructions():
        yield notice
    ascent = upward.find_up(state.root, DEFAULT.markers)
    yield from (line.text for line in agents_report.describe(state.found, ascent, DEFAULT, state.root))


def _choose_model(state: State, name: str) -> Lines:
    if name == "none":
        state.model = None
    elif name:
        state.model = state.open_model(name)
    yield f"model: {state.model.name}" if state.model else "no model: what would be sent is shown (`/model NAME` chooses one)"


def _help(_: State, __: str) -> Lines:
    yield HELP
    width = max(len(f"{command.name} {command.argument}") for command in COMMANDS)
    for command in COMMANDS:
        usage = f"{command.name} {command.argument}"
        yield f"  {usage:<{width}}  {command.purpose}"


def _quit(state: State, _: str) -> Lines:
    state.leaving = True
    return iter(())


COMMANDS = (
    Command("/context", "", "what the model sees now: files, sizes, estimated tokens, share of the caps", _show_context),
    Command("/prompt", "", "the system prompt as it was sent, with its section", _show_prompt),
    Command("/files", "[NAME]", "what became of the last message's references; with a name: files that are called so", _show_files),
    Command("/keep", "[@PATH]", "attach a file to all messages from now on, as it is then", _keep),
    Command("/drop", "[@PATH]", "keep it no longer; without a name: keep nothing any more", _drop),
    Command("/clear", "", "forget what was said, and what was attached and kept", _clear),
    Command("/agents", "", "the instruction files in force, and why", _show_agents),
    Command("/model", "[NAME]", "what answers; with a name: another one, or none", _choose_model),
    Command("/help", "", "this text", _help),
    Command("/quit", "", "leave, as Ctrl-D does", _quit),
)
