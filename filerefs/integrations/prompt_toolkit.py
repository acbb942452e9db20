"""
prompt_toolkit: what is typed behind an at-sign is completed, coloured as it resolves, and summed up in a toolbar.

    names = filerefs.completion.Completer(root)
    preview = Preview(filerefs.Preprocessor(root))
    session = PromptSession("> ", completer=AtPathCompleter(names), lexer=MentionLexer(preview), bottom_toolbar=Toolbar(preview),
                            key_bindings=mention_bindings(), style=STYLE, complete_while_typing=True, multiline=True)

Each of them works without the others.  For slash commands, `merge_completers` with a completer of your own.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, assert_never

from filerefs import Attached, Limits, Refused, parse
from filerefs.naming import human_size, printable
from filerefs.preview import Preview

try:
    from prompt_toolkit.application.current import get_app
    from prompt_toolkit.buffer import CompletionState
    from prompt_toolkit.completion import CompleteEvent, Completion
    from prompt_toolkit.completion import Completer as ToolkitCompleter
    from prompt_toolkit.filters import Condition, has_completions
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.keys import Keys
    from prompt_toolkit.lexers import Lexer
    from prompt_toolkit.styles import Style

    from filerefs.integrations.prompt_toolkit_typing import typed_now, watch
except ImportError as error:
    from filerefs.integrations.extras import lacking

    raise lacking(__name__, "prompt-toolkit", error) from error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Hashable, Iterator

    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.document import Document
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.key_binding import KeyPressEvent

    from filerefs import Outcome
    from filerefs.completion import Candidate, Completer, Completions
    from filerefs.mentions import CodePolicy

__all__ = ["STYLE", "AtPathCompleter", "MentionLexer", "Preview", "Toolbar", "mention_bindings"]

STYLE = Style.from_dict({
    "filerefs.attached": "ansigreen",
    "filerefs.cut": "ansiyellow",
    "filerefs.refused": "ansired",
    "bottom-toolbar": "noreverse",
})  # fmt: skip
"""Colours: green for what will be attached, yellow for what will be cut or guessed at, red for what will be refused."""

# While names are gathered, the rows are looked at again after so many pauses of so many seconds.
_PAUSES, _PAUSE = 5, 0.01
# A sign that follows a name without a blank: the blank that was put behind an accepted name gives way to it.
_CLINGING = ".,:;!?)]}#'\""


class AtPathCompleter(ToolkitCompleter):
    """
    Completes mentions, and nothing else.

    It never waits: while names are gathered, more rows are added to those that are there, until something else is
    typed.  `ThreadedCompleter` is not needed around it.

    Args:
        names: Where the names come from.  It is closed by whoever made it.
        limit: Most rows.
        code: As for the `Preprocessor` that the message goes to.
        lenient: The same.

    .. versionadded:: 0.1
    """

    def __init__(self, names: Completer, *, limit: int = 50, code: CodePolicy = "inert", lenient: bool = True) -> None:
        self._names = names
        self._limit = limit
        self._code: CodePolicy = code
        self._lenient = lenient

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002 (the toolkit passes it)
        """Yield what is known by now, best first."""
        found = self._find(document)
        yield from (_completion(found, candidate, document) for candidate in found.candidates)

    async def get_completions_async(self, document: Document, complete_event: CompleteEvent) -> AsyncGenerator[Completion, None]:  # noqa: ARG002
        """Yield what is known by now, best first, and then what else is found, until all is known."""
        with watch(document) as is_current:
            seen: set[str] = set()
            while True:
                found = await asyncio.get_running_loop().run_in_executor(None, self._find, document)
                for candidate in found.candidates:
                    if candidate.path not in seen:
                        seen.add(candidate.path)
                        yield _completion(found, candidate, document)
                # The toolkit draws rows that are still coming three times a second.
                get_app().invalidate()
                for _ in range(_PAUSES):
                    # The toolkit asks for the rows of the next key when these have come to their end, and not before.
                    if not found.incomplete or len(seen) >= self._limit or not is_current():
                        return
                    await asyncio.sleep(_PAUSE)

    def _find(self, document: Document) -> Completions:
        return self._names.complete(document.text, document.cursor_position, limit=self._limit, code=self._code, lenient=self._lenient)


def _completion(found: Completions, candidate: Candidate, document: Document) -> Completion:
    start = found.token.start if found.token else document.cursor_position
    text = candidate.text
    # In the middle of a name: what stands behind the cursor and is the name's own end stays where it is.
    behind = document.text_after_cursor.split(maxsplit=1)[:1]
    if behind and document.text_after_cursor.startswith(behind[0]) and text.endswith(behind[0]):
        text = text.removesuffix(behind[0])
    meta = "ignored" if candidate.ignored else "folder" if candidate.kind == "directory" else ""
    return Completion(text, start_position=start - document.cursor_position, display=candidate.label, display_meta=meta)


class MentionLexer(Lexer):
    """
    Colours each mention by what will become of it; see `STYLE` for the names of the classes.

    Between a key and its preview, a mention keeps the colour that the same text had before.

    .. versionadded:: 0.1
    """

    def __init__(self, preview: Preview) -> None:
        self._preview = preview

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return a function that gives the fragments of a line by its number."""
        starts = [0]
        for line in document.lines:
            starts.append(starts[-1] + len(line) + 1)
        # A `PromptSession` keeps this function for as long as the text is the same, and does not ask for
        # `invalidation_hash`: so it looks for itself whether the preview is another one by now.
        known = (-1, self._spans(document.text))

        def fragments(number: int) -> StyleAndTextTuples:
            nonlocal known
            if known[0] != self._preview.version:
                known = (self._preview.version, self._spans(document.text))
            return _fragments(document.lines[number], starts[number], known[1]) if number < len(document.lines) else []

        return fragments

    def invalidation_hash(self) -> Hashable:
        """Return something else when the colours may be others."""
        return self._preview.version

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        turn = self._preview.ask(text, get_app().invalidate)
        if turn is not None:
            return sorted((start, end, _style(outcome)) for outcome in turn.outcomes for start, end in outcome.spans)
        last = self._preview.turn
        styles = {last.original[start:end]: _style(outcome) for outcome in last.outcomes for start, end in outcome.spans} if last else {}
        return [(ref.start, ref.end, styles.get(ref.token, "")) for ref in parse(text)] if styles else []


def _style(outcome: Outcome) -> str:
    match outcome:
        case Attached():
            return "class:filerefs.cut" if outcome.cautions else "class:filerefs.attached"
        case Refused():
            return "class:filerefs.refused"
        case _:
            assert_never(outcome)


def _fragments(line: str, offset: int, spans: list[tuple[int, int, str]]) -> StyleAndTextTuples:
    found: StyleAndTextTuples = []
    position = 0
    for start, end, style in spans:
        first, last = max(start - offset, position), min(end - offset, len(line))
        if first < last:
            found += [("", line[position:first]), (style, line[first:last])]
            position = last
    return [*found, ("", line[position:])]


class Toolbar:
    """
    A bottom toolbar: how much the text that is being typed would attach, of how much, and the first thing that is wrong.

    Args:
        preview: The one that the lexer has, too.
        limits: Those of its preprocessor; the defaults if None.
        idle: What it shows while there is nothing to say.

    .. versionadded:: 0.1
    """

    def __init__(self, preview: Preview, *, limits: Limits | None = None, idle: str = "") -> None:
        self._preview = preview
        self._limits = limits or Limits()
        self._idle = idle

    def __call__(self) -> StyleAndTextTuples:
        """Return the line, in the colours of `STYLE`."""
        text = get_app().current_buffer.text
        turn = self._preview.ask(text, get_app().invalidate) or self._preview.turn
        if turn is None or not turn.outcomes or "@" not in text.replace("＠", "@"):
            return [("", self._idle)]
        shown = sum(outcome.shown for outcome in turn.attached)
        total = self._limits.total_bytes
        parts: StyleAndTextTuples = [("class:filerefs.attached", f"{len(turn.attached)} attached")]
        parts.append(("", f", {human_size(shown)}" + ("" if total is None else f" of {human_size(total)}")))
        if turn.refused:
            parts += [("", ", "), ("class:filerefs.refused", f"{len(turn.refused)} refused")]
        if turn.warnings:
            parts += [("", "  "), ("class:filerefs.cut", printable(turn.warnings[0]))]
        return parts


def mention_bindings() -> KeyBindings:
    """
    Return the keys of a chat: they make accepting a row and sending two things.

    - Tab takes the chosen row, else the first one; Enter takes a row that was chosen, else sends.  Behind a file comes a
      blank, which gives way to a sign that clings to the name (``:12``); behind a folder its contents are offered.  A
      blank that is typed next is that blank, or the one that stood there already.
    - Alt-Enter (or Escape, then Enter) begins a new line.
    - Escape closes the rows and leaves the text as it was typed.
    - A paste is inserted as it is, and opens no rows.

    .. versionadded:: 0.1
    """
    keys = KeyBindings()
    blanks = _Blanks()
    has_choice = Condition(lambda: _choice(get_app().current_buffer) is not None)

    @keys.add("tab")
    def _complete(event: KeyPressEvent) -> None:
        blanks.take(event.current_buffer)

    @keys.add("enter", filter=has_choice)
    def _accept(event: KeyPressEvent) -> None:
        blanks.accept(event.current_buffer)

    @keys.add("enter", filter=~has_choice)
    def _send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    # Not Ctrl-J as well: an Enter that is typed before the line is there to type in, arrives as one.
    @keys.add("escape", "enter")
    def _begin_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n", fire_event=False)

    # Eager: otherwise the toolkit waits whether the escape is the beginning of something else.
    @keys.add("escape", filter=has_completions, eager=True)
    def _close(event: KeyPressEvent) -> None:
        event.current_buffer.cancel_completion()

    @keys.add(Keys.BracketedPaste)
    def _paste(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(event.data.replace("\r\n", "\n").replace("\r", "\n"), fire_event=False)

    keys.add(" ", filter=Condition(lambda: blanks.is_there(get_app().current_buffer)))(blanks.pass_over)
    for sign in _CLINGING:
        keys.add(sign, filter=Condition(lambda: blanks.stands_before(get_app().current_buffer)))(blanks.replace)
    return keys


def _has_rows(buffer: Buffer) -> bool:
    return buffer.complete_state is not None and bool(buffer.complete_state.completions)


def _gather(buffer: Buffer) -> None:
    """Put the rows there that are on their way: whoever types faster than they come gets what whoever waits would get."""
    rows = list(buffer.completer.get_completions(buffer.document, CompleteEvent(completion_requested=True)))
    if rows:
        buffer.complete_state = CompletionState(buffer.document, rows)


async def _offer_contents(buffer: Buffer) -> None:
    """Open the rows for what is typed now; while those of the text before have not ended, the toolkit takes no order."""
    is_current = typed_now(buffer)
    for _ in range(_PAUSES):
        if buffer.complete_state is not None or not is_current():
            return
        buffer.start_completion()
        await asyncio.sleep(_PAUSE)


def _choice(buffer: Buffer) -> Completion | None:
    return buffer.complete_state.current_completion if buffer.complete_state else None


class _Blanks:
    """The blank behind the last accepted name: one that was put there, or that stood there already."""

    def __init__(self) -> None:
        # What stood before the cursor then, "" for none: with the blank that was put there, or before the one that stood there.
        self._text = ""
        self._text_before = ""

    def take(self, buffer: Buffer) -> None:
        """Take the chosen row, else the first one, also where it is still on its way."""
        if not _has_rows(buffer):
            _gather(buffer)
        if not _has_rows(buffer):
            buffer.start_completion()
            return
        if _choice(buffer) is None:
            buffer.go_to_completion(0)
        self.accept(buffer)

    def accept(self, buffer: Buffer) -> None:
        """Take the chosen row."""
        chosen = _choice(buffer)
        buffer.complete_state = None
        if chosen is None or not chosen.text.startswith("@"):
            return
        if chosen.text.rstrip('"').endswith("/"):
            get_app().create_background_task(_offer_contents(buffer))
        elif buffer.document.text_after_cursor[:1] in ("", "\n"):
            buffer.insert_text(" ", fire_event=False)
            self._text = buffer.document.text_before_cursor
        else:
            self._text_before = buffer.document.text_before_cursor

    def stands_before(self, buffer: Buffer) -> bool:
        """Tell whether nothing was typed since."""
        return self._text != "" and buffer.document.text_before_cursor == self._text

    def is_there(self, buffer: Buffer) -> bool:
        """Tell whether nothing was typed since, and there is a blank."""
        is_before = self._text_before != "" and buffer.document.text_before_cursor == self._text_before
        return self.stands_before(buffer) or (is_before and buffer.document.current_char == " ")

    def pass_over(self, event: KeyPressEvent) -> None:
        """Take what is typed for the blank that is there; the next one is another."""
        event.current_buffer.cursor_position += not self.stands_before(event.current_buffer)
        self._text = self._text_before = ""

    def replace(self, event: KeyPressEvent) -> None:
        """Put what is typed in the place of the blank."""
        event.current_buffer.delete_before_cursor()
        event.current_buffer.insert_text(event.data)
