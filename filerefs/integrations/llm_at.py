"""
llm: the command `llm at`, which is `llm prompt` with the mentions in its message read.

Everything but the message and the system prompt is handed on, so that models, keys, options, streaming, tools and logs
are `llm`'s own.  Left out is what has a message of its own or belongs to another turn: templates, and conversations that
are continued, which would send the files of earlier turns again.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import llm

    from filerefs import Turn

# Where the version of llm at hand has more options than these, they are not offered; where it has fewer, they are missed.
_HANDED_ON = frozenset(
    (
        *("model_id", "queries", "key", "options", "system", "system_fragments", "fragments", "attachments", "attachment_types"),
        *("tools", "python_tools", "tools_debug", "tools_approve", "chain_limit", "schema_input", "schema_multi"),
        *("database", "no_stream", "no_log", "log", "hide_reasoning", "async_", "usage", "extract", "extract_last", "json_output"),
    )
)

_HELP = """
Execute a prompt with the files that it names

A file or folder behind an at-sign goes into the system prompt, and only if it lies below the root:

\b
    llm at 'explain @src/app.py'
    llm at 'compare @src/app.py:10-40 with @docs/' -m gpt-5.5
    git diff | llm at 'does this follow @docs/style.md?'

Warnings go to standard error. The other options are those of `llm prompt`.
"""


def add_command(cli: click.Group) -> None:
    """Add the command to *cli*, whose command `prompt` does the work."""
    prompt = cli.commands["prompt"]
    own: list[click.Parameter] = [
        click.Argument(["message"], required=False),
        click.Option(["--root"], default=".", help="Folder that the names are relative to, and out of which none leads"),
        click.Option(["--symlinks"], type=click.Choice(["refuse", "inside"]), default="refuse", help="Whether links that stay inside are followed"),
        click.Option(["--allow"], multiple=True, help="Name of a file that is read although it looks like one with credentials"),
    ]
    handed_on = [parameter for parameter in prompt.params if parameter.name in _HANDED_ON]
    cli.add_command(click.Command("at", params=[*own, *handed_on], callback=_run, help=_HELP, short_help="Execute a prompt with the files that it names"))


@click.pass_context
def _run(context: click.Context, /, message: str | None, root: str, symlinks: Any, allow: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 (what click hands over)
    from filerefs import FilerefsError, Preprocessor, swap_section

    if message is None:
        message = _typed()
    prompt: Any = context.parent.command.commands["prompt"]  # type: ignore[union-attr]
    try:
        with Preprocessor(root, symlinks=symlinks, allow=allow, media=_media_types(options)) as files:
            turn = files.preprocess(message)
    except FilerefsError as error:
        raise click.ClickException(str(error)) from error
    _warn(turn)
    options["system"] = swap_section(options.get("system") or "", turn.section) or None
    options["attachments"] = [*options.get("attachments", ()), *_attachments(turn)]
    context.invoke(prompt, prompt=turn.message, **options)


def _typed() -> str:
    """Return standard input as the message where there is none among the arguments."""
    if sys.stdin.isatty():
        raise click.UsageError("Missing argument 'MESSAGE'.")
    return sys.stdin.read()


def _media_types(options: dict[str, Any]) -> frozenset[str]:
    """Return which images and documents the model takes; none if it is not known yet which model that is."""
    import llm

    if options.get("queries") or options.get("async_"):
        return frozenset()
    try:
        return frozenset(llm.get_model(options.get("model_id")).attachment_types)
    except llm.UnknownModelError:
        return frozenset()  # `prompt` says so


def _attachments(turn: Turn) -> list[llm.Attachment]:
    import llm

    return [llm.Attachment(type=medium.media_type, content=medium.data) for medium in turn.media]


def _warn(turn: Turn) -> None:
    for warning in turn.warnings:
        click.echo(f"{click.style('warning:', fg='yellow')} {warning}", err=True)
