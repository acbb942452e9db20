"""An event of a host -> the answer of its protocol, or None where there is nothing to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, assert_never

from filerefs.errors import FilerefsError
from filerefs.hooks.answers import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from filerefs.hooks.answers import Options
    from filerefs.hooks.hosts import Host

NO_FOLDER = "the folder of this session cannot be opened, so no file was attached"


class Reply(NamedTuple):
    """
    What a hook prints.

    Attributes:
        output: For standard output, as JSON; {} for nothing.
        log: For standard error, which hosts keep for whoever looks for it; "" for nothing.
    """

    output: dict[str, Any]
    log: str = ""


def reply(event: Mapping[str, Any], host: Host, options: Options) -> Reply | None:
    """
    Return what to print about *event*, None for nothing.

    Events of other kinds, and fields that are missing or of another type, are nothing to speak of.
    """
    name, prompt = event.get("hook_event_name"), event.get("prompt")
    if "agent_id" in event:
        # Inside of a sub-agent, whose messages another model writes.
        return None
    if name == host.prompt_event and isinstance(prompt, str):
        return shape(_answer_prompt(event, prompt, host, options), host, host.prompt_event)
    if name == host.start_event:
        return shape(_answer_start(event, host, options), host, host.start_event)
    return None


def shape(answer: Answer, host: Host, event: str) -> Reply | None:
    """Return *answer* as the protocol of *host* has it: exactly its keys, since one that it does not know makes a hook fail there."""
    message = answer.message(host.unit)
    if not answer.context and not message:
        return None
    match host.layout:
        case "nested":
            inner = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": answer.context}} if answer.context else {}
            return Reply(inner | ({"systemMessage": message} if message else {}))
        case "flat":
            context = {"additional_context": answer.context} if answer.context else {}
            # What is said to the person is a field of this one event, and shown only with a message that is held back.
            said = {"continue": True} | ({"user_message": message} if message else {}) if event == host.prompt_event else {}
            return Reply(said | context, message)
        case _:
            assert_never(host.layout)


def _answer_prompt(event: Mapping[str, Any], prompt: str, host: Host, options: Options) -> Answer:
    if "@" not in prompt and "＠" not in prompt:
        return Answer()
    from filerefs.hooks import prompting

    try:
        return prompting.compose(event, prompt, _folder(event), host, options)
    except (FilerefsError, FileNotFoundError):
        # The other one where the event names no folder, and the one that the hook runs in was deleted.
        return Answer(warnings=(NO_FOLDER,))


def _answer_start(event: Mapping[str, Any], host: Host, options: Options) -> Answer:
    from filerefs.hooks import starting

    try:
        return starting.compose(_folder(event), host, options)
    except (FilerefsError, FileNotFoundError):
        # No folder, no instruction files: nobody asked for any.
        return Answer()


def _folder(event: Mapping[str, Any]) -> str:
    """Return the folder that names are relative to: the host's working folder, else the first of its workspace."""
    folder, roots = event.get("cwd"), event.get("workspace_roots")
    if isinstance(folder, str) and folder:
        return folder
    first = roots[0] if isinstance(roots, list) and roots else None
    return first if isinstance(first, str) and first else "."
