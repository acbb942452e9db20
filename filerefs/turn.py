"""One turn of a chat: parse, load, inject and rewrite in one call, and what is kept between turns.

Most messages name nothing.  For those this module needs no other but the root's: the phases, and what they stand
on, are loaded with the first message that holds an at-sign, so that a hook answers in the time of an interpreter's start.
"""

from __future__ import annotations

import os

from filerefs.calls import Calls
from filerefs.errors import OptionError, OptionTypeError, RootClosedError
from filerefs.root import Root

# Importing `typing` for its constant of this name would double the time that a hook takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from types import TracebackType
    from typing import Any, Final, Self

    from filerefs.limits import Limits, MediaPolicy
    from filerefs.memory import Memory
    from filerefs.mentions import CodePolicy, Ref
    from filerefs.outcomes import Attached, Outcome, Refused
    from filerefs.phases import JSON
    from filerefs.root import SymlinkPolicy
    from filerefs.rootlike import RootLike


class Turn:
    """
    What one message became; read-only.

    Attributes:
        message: The message to send, loaded tokens rewritten to plain paths.
        original: The message as it was typed.
        prompt: The system prompt to send, with this turn's section at its end.
        section: The section alone, "" without any outcome.
        outcomes: What became of each file, in order of first mention.
        plain: Mentions that name nothing and do not look like paths; they are left as they are.
        warnings: What went wrong, one line each, for the person.
        notices: What else happened, one line each.

    .. versionadded:: 0.1
    """

    __slots__ = ("message", "notices", "original", "outcomes", "plain", "prompt", "section", "warnings")

    def __init__(
        self,
        *,
        message: str,
        original: str,
        prompt: str,
        section: str = "",
        outcomes: tuple[Outcome, ...] = (),
        plain: tuple[Ref, ...] = (),
        warnings: tuple[str, ...] = (),
        notices: tuple[str, ...] = (),
    ) -> None:
        self.message: Final = message
        self.original: Final = original
        self.prompt: Final = prompt
        self.section: Final = section
        self.outcomes: Final = outcomes
        self.plain: Final = plain
        self.warnings: Final = warnings
        self.notices: Final = notices

    @property
    def attached(self) -> tuple[Attached, ...]:
        """The outcomes that go to the model."""
        return tuple(outcome for outcome in self.outcomes if outcome.status == "attached")

    @property
    def refused(self) -> tuple[Refused, ...]:
        """The outcomes that do not."""
        return tuple(outcome for outcome in self.outcomes if outcome.status == "refused")

    @property
    def media(self) -> tuple[Attached, ...]:
        """The images and PDFs that go with the message: those whose `data` were read."""
        return tuple(outcome for outcome in self.attached if outcome.data is not None)

    @property
    def section_bytes(self) -> int:
        """Bytes of `section` in UTF-8."""
        return len(self.section.encode())

    def as_dict(self) -> dict[str, JSON]:
        """Return the turn as JSON; the form is the same for `--json`, JSON Lines and hooks."""
        refs: list[JSON] = []
        if self.outcomes:
            from filerefs.phases import describe

            refs += [describe(outcome) for outcome in self.outcomes]
        return {
            "version": 1,
            "message": self.message,
            "original": self.original,
            "prompt": self.prompt,
            "section": self.section,
            "warnings": list(self.warnings),
            "notices": list(self.notices),
            "refs": refs,
        }

    def __replace__(self, /, **changes: object) -> Turn:
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__} | changes
        return Turn(**values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Turn):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        return hash((self.message, self.prompt))

    def __repr__(self) -> str:
        return f"Turn(attached={len(self.attached)}, refused={len(self.refused)}, section_bytes={self.section_bytes}, warnings={len(self.warnings)})"


class Preprocessor:
    """
    Preprocesses the messages of a chat; keeps the root's handle and the last turn's texts between them.

    May be shared by threads.  Close it, or use it in a `with` statement, to give the handle back early.

    Args:
        root: The folder that all names are relative to; it is opened now, whatever the working directory becomes.
            Or a `Root`, or any other `RootLike`, which has *symlinks* and *allow* of its own and is not closed by `close`.
        limits: Sizes and numbers; the defaults of `Limits` when None.
        symlinks: "refuse" every symbolic link, or follow those that stay "inside" the root.
        allow: Names that are opened although they look like those of secrets, exactly as they are relative to the root.
        code: "inert" leaves inline code spans alone, "load" does not.
        lenient: Whether unquoted blanks, typographic quotes and the full-width at-sign are understood.
        media: Whether images and PDFs that are named are read, for the host to hand over with the message
            (`Turn.media`): PNG, JPEG, GIF, WebP and PDF by their first bytes, whatever their names.  A collection of
            media types takes those instead.  Their bytes count neither to `Limits.total_bytes` nor are they kept
            between turns; the `Turn` holds them as long as it lives.

    Raises:
        RootNotFoundError: If *root* is no directory.
        OptionError: If an option has a value that it does not take.
        OptionTypeError: If an option has another type, such as a bare string for *allow*.

    .. versionadded:: 0.1
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | RootLike = ".",
        *,
        limits: Limits | None = None,
        symlinks: SymlinkPolicy = "refuse",
        allow: Collection[str] = (),
        code: CodePolicy = "inert",
        lenient: bool = True,
        media: MediaPolicy = False,
    ) -> None:
        if code not in ("inert", "load"):
            raise OptionError("code", code, '"inert" or "load"')
        if limits is not None:
            from filerefs.limits import check_limits

            check_limits(limits)
        if media is not False and media is not True:
            from filerefs.limits import check_media

            media = check_media(media)
        self._path = root
        self._turns = Calls()
        self._root: RootLike
        self._opened: Root | None = None
        self._folder = ""
        if isinstance(root, str | os.PathLike):
            self._root = self._opened = Root(root, symlinks=symlinks, allow=allow)
            self._folder = os.path.abspath(root)  # noqa: PTH100 (a `..` behind a link is for the system to resolve)
        else:
            from filerefs.rootlike import adopt

            self._root = adopt(root, symlinks=symlinks, allow=allow)
        self._limits = limits
        self._code: CodePolicy = code
        self._lenient = lenient
        self._media = media
        self._memory: Memory | None = None
        self._section = ""

    @property
    def root(self) -> RootLike:
        """What opens the files, for tools that read and list what messages may name."""
        return self._root

    @property
    def folder(self) -> str:
        """The absolute path under which the root was opened, for hosts that must tell which paths of their own lie in it; "" for a root that is an object."""
        return self._folder

    @property
    def limits(self) -> Limits:
        """The limits of each turn, the defaults where none were given."""
        from filerefs.limits import check_limits

        return check_limits(self._limits)

    def on(self, root: RootLike) -> Preprocessor:
        """
        Return one with the options of this one for another *root*: for a turn with an editor's buffers over the files.

        Raises:
            OptionTypeError: If *root* is a path: what is done with links and secrets is the root's own matter.
        """
        if isinstance(root, str | os.PathLike):
            raise OptionTypeError("root", root, "an object with a method `open`")
        return Preprocessor(root, limits=self._limits, code=self._code, lenient=self._lenient, media=self._media)

    def preprocess(self, message: str, prompt: str = "", *, limits: Limits | None = None, refs: Sequence[Ref] = ()) -> Turn:
        """
        Return what *message* becomes: its files loaded, put into *prompt* in place of the last turn's.

        Args:
            message: What the person typed, and nothing else: file contents and answers are never parsed.
            prompt: The system prompt, with or without the section of an earlier turn.
            limits: Lower limits for this turn; where one is higher than the Preprocessor's own, that holds.
            refs: What the host knows to be mentions, as an editor does of links in the message, in any order:
                `Ref(token, start, end, path, lines)`, where *token* is `message[start:end]` and *path* is exactly the
                name.  What else would be a mention there is none.

        Raises:
            RootClosedError: After `close`.  Trouble with a reference is never raised.
            OptionTypeError: If *message* or *prompt* is no string, *limits* no Limits, or *refs* holds anything but Refs.
            SpanMismatchError: If one of *refs* does not stand in the message where it says.
            OptionError: If two of *refs* overlap.

        .. versionadded:: 0.1
        """
        if not isinstance(message, str):
            raise OptionTypeError("message", message, "a string")
        if not isinstance(prompt, str):
            raise OptionTypeError("prompt", prompt, "a string")
        if limits is not None:
            from filerefs.limits import check_limits

            check_limits(limits)
        turns = self._turns
        if not refs and "@" not in message and "＠" not in message and "<!-- filerefs:" not in prompt and not turns.ended:
            # Nothing is read, so that `close` need not wait for it.
            return Turn(message=message, original=message, prompt=prompt)
        token = object()
        try:
            if not turns.begin(token):
                raise RootClosedError(str(self._path), "it was closed")
            return self._take(message, prompt, limits, refs)
        finally:
            turns.running.discard(token)
            if turns.ended:
                turns.wake()

    async def preprocess_async(self, message: str, prompt: str = "", *, limits: Limits | None = None, refs: Sequence[Ref] = ()) -> Turn:
        """
        Do what `preprocess` does in a thread, so that the event loop goes on while files are read.

        If the task is cancelled, the thread still ends its turn, and nothing comes of it.

        .. versionadded:: 0.1
        """
        if not isinstance(message, str):
            raise OptionTypeError("message", message, "a string")
        if not refs and "@" not in message and "＠" not in message:
            # Nothing is read: a thread would take longer than the turn.
            return self.preprocess(message, prompt, limits=limits)
        import asyncio

        return await asyncio.to_thread(self.preprocess, message, prompt, limits=limits, refs=refs)

    def _take(self, message: str, prompt: str, limits: Limits | None, refs: Sequence[Ref]) -> Turn:
        from filerefs.memory import Memory
        from filerefs.phases import Settings, take

        if self._memory is None:
            self._memory = Memory(self._root)
        settings = Settings(limits=self._limits, lowered=limits, code=self._code, lenient=self._lenient, media=self._media)
        taken = take(message, prompt, self._root, settings=settings, memory=self._memory, previous=self._section, refs=refs)
        self._section = taken.section
        return Turn(original=message, **taken._asdict())

    def close(self) -> None:
        """Give the root's handle back, if it is an own one; waits for turns that are running in other threads, which end as if nothing were."""
        self._turns.end()
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Preprocessor({self._root!r})"


def preprocess(
    message: str,
    prompt: str = "",
    root: str | os.PathLike[str] | RootLike = ".",
    *,
    limits: Limits | None = None,
    symlinks: SymlinkPolicy = "refuse",
    allow: Collection[str] = (),
    code: CodePolicy = "inert",
    lenient: bool = True,
    media: MediaPolicy = False,
) -> Turn:
    """
    Return what one *message* becomes: its files loaded, put at the end of *prompt*, its tokens plain paths.

    For more than one message use a `Preprocessor`, whose arguments these are, from *root* on; the others are those of
    its `preprocess`.  It raises the same.

    .. versionadded:: 0.1
    """
    with Preprocessor(root, limits=limits, symlinks=symlinks, allow=allow, code=code, lenient=lenient, media=media) as preprocessor:
        return preprocessor.preprocess(message, prompt)


async def preprocess_async(
    message: str,
    prompt: str = "",
    root: str | os.PathLike[str] | RootLike = ".",
    *,
    limits: Limits | None = None,
    symlinks: SymlinkPolicy = "refuse",
    allow: Collection[str] = (),
    code: CodePolicy = "inert",
    lenient: bool = True,
    media: MediaPolicy = False,
) -> Turn:
    """
    Do what `preprocess` does in a thread, so that the event loop goes on while files are read.

    .. versionadded:: 0.1
    """
    import asyncio

    # As a whole: closing waits for the turn, which a task that is cancelled must not do in the loop.
    return await asyncio.to_thread(preprocess, message, prompt, root, limits=limits, symlinks=symlinks, allow=allow, code=code, lenient=lenient, media=media)
