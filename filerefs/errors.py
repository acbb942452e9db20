"""What filerefs raises: misuse only.  Trouble with one reference is a `Refused`, never an exception.

FilerefsError
├── OptionError (ValueError)            an option has a value that it does not take
│   └── OptionTypeError (TypeError)     … or one of another type
├── PathFormatError (ValueError)        `format_ref` was given what can name no file
├── RootError (OSError)                 the root cannot serve
│   ├── RootNotFoundError               it is no directory, or cannot be opened
│   ├── RootClosedError                 it was closed
│   └── UnsupportedPlatformError        no confined way to open files exists here yet
└── SpanMismatchError (ValueError)      outcomes were rewritten into a message they do not belong to
"""

from __future__ import annotations

__all__ = [
    "FilerefsError",
    "OptionError",
    "OptionTypeError",
    "PathFormatError",
    "RootClosedError",
    "RootError",
    "RootNotFoundError",
    "SpanMismatchError",
    "UnsupportedPlatformError",
]


class FilerefsError(Exception):
    """Every exception of this library derives from this one."""

    def __reduce__(self) -> tuple[object, ...]:
        # The constructors take what an error is about, not the sentence that `args` holds: without this, none could
        # be copied, or come back from a worker process.
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[FilerefsError], args: tuple[object, ...], state: dict[str, object]) -> FilerefsError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class OptionError(FilerefsError, ValueError):
    """
    An option has a value that it does not take.

    Attributes:
        option: Its name.
        value: What was given.
        expected: What it takes, in words.
    """

    def __init__(self, option: str, value: object, expected: str) -> None:
        super().__init__(f"`{option}` must be {expected}, not {value!r}")
        self.option = option
        self.value = value
        self.expected = expected


class OptionTypeError(OptionError, TypeError):
    """An option has a value of a type that it does not take."""


class PathFormatError(FilerefsError, ValueError):
    """
    `format_ref` was given what can name no file: an empty path, or one with a NUL in it.

    Attributes:
        path: What was given.
        problem: What is wrong with it, in words.
    """

    def __init__(self, path: object, problem: str) -> None:
        super().__init__(f"cannot write a reference to {path!r}: {problem}")
        self.path = path
        self.problem = problem


class RootError(FilerefsError, OSError):
    """
    The root cannot serve.

    Attributes:
        root: The path that was given for it.
        problem: Why, in words.
    """

    def __init__(self, root: str, problem: str) -> None:
        super().__init__(f"root {root!r}: {problem}")
        self.root = root
        self.problem = problem


class RootNotFoundError(RootError):
    """The root is no directory, or it cannot be opened."""


class RootClosedError(RootError):
    """The root was used after `close()`."""


class UnsupportedPlatformError(RootError):
    """The platform has no confined way to open files yet; parsing and rendering work everywhere."""


class SpanMismatchError(FilerefsError, ValueError):
    """
    A message does not hold what it should where a mention stood: it is another one than was parsed.

    Attributes:
        token: The text of the mention.
        span: (start, end) in code points, where the message has something else.
    """

    def __init__(self, token: str, span: tuple[int, int]) -> None:
        super().__init__(f"the message has no {token!r} at {span[0]}:{span[1]}; rewrite the message that was parsed")
        self.token = token
        self.span = span
