"""filerefs turns `@path` in a chat message into file contents in the system prompt — only files inside one folder, never more than you allow."""

from __future__ import annotations

# Importing `typing` for its constant of this name would double the time that a hook takes.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from filerefs import agentsmd as agentsmd
    from filerefs import completion as completion
    from filerefs import messages as messages
    from filerefs import retrieval as retrieval
    from filerefs import roots as roots
    from filerefs.errors import (
        FilerefsError,
        OptionError,
        OptionTypeError,
        PathFormatError,
        RootClosedError,
        RootError,
        RootNotFoundError,
        SpanMismatchError,
        UnsupportedPlatformError,
    )
    from filerefs.limits import Limits
    from filerefs.loading import load
    from filerefs.mentions import Ref, parse
    from filerefs.naming import format_ref
    from filerefs.outcomes import Attached, Outcome, Reason, Refused
    from filerefs.rewriting import rewrite
    from filerefs.root import Root
    from filerefs.rootlike import NodeLike, RootLike
    from filerefs.section import build_section, inject, strip_section, swap_section
    from filerefs.turn import Preprocessor, Turn, preprocess, preprocess_async

    __version__: str

__all__ = [
    "Attached",
    "FilerefsError",
    "Limits",
    "NodeLike",
    "OptionError",
    "OptionTypeError",
    "Outcome",
    "PathFormatError",
    "Preprocessor",
    "Reason",
    "Ref",
    "Refused",
    "Root",
    "RootClosedError",
    "RootError",
    "RootLike",
    "RootNotFoundError",
    "SpanMismatchError",
    "Turn",
    "UnsupportedPlatformError",
    "build_section",
    "format_ref",
    "inject",
    "load",
    "parse",
    "preprocess",
    "preprocess_async",
    "rewrite",
    "strip_section",
    "swap_section",
]

# Loaded when first asked for: a hook that finds no at-sign must not pay for what it does not use.
_HOMES = {
    "errors": "FilerefsError OptionError OptionTypeError PathFormatError RootClosedError RootError RootNotFoundError SpanMismatchError "
    "UnsupportedPlatformError",
    "limits": "Limits",
    "loading": "load",
    "mentions": "Ref parse",
    "naming": "format_ref",
    "outcomes": "Attached Outcome Reason Refused",
    "rewriting": "rewrite",
    "root": "Root",
    "rootlike": "NodeLike RootLike",
    "section": "build_section inject strip_section swap_section",
    "turn": "Preprocessor Turn preprocess preprocess_async",
}

# What is imported as a module, and reached by a dotted name as well.
_MODULES = ("agentsmd", "completion", "messages", "retrieval", "roots")


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"filerefs.{name}")
    for home, names in _HOMES.items():
        if name in names.split():
            value: object = getattr(import_module(f"filerefs.{home}"), name)
            globals()[name] = value
            return value
    if name == "__version__":
        from importlib.metadata import version

        return version("filerefs")
    message = f"module 'filerefs' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return [*__all__, *_MODULES, "__version__"]
