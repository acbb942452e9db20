"""
What the middleware for LangChain does to single messages: rewrites the person's, and appends to the system's.

A content is a string or a list of blocks.  Of a list, only texts are read; other blocks, and whatever else a block has
(`cache_control`), stay as they are.  No message is changed: each function returns another one, or the one that it was
given where nothing changes.
"""

from __future__ import annotations

import base64
import hashlib
import uuid
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from langchain_core.messages import SystemMessage

import filerefs
from filerefs.messages import rewrite_content, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import BaseMessage, HumanMessage

    from filerefs import Attached, Turn

Block: TypeAlias = str | dict[str, Any]

_GAP = "\n\n"


def fingerprint(message: BaseMessage) -> str:
    """Return what tells this message, with this text, from others."""
    return f"{message.id} {hashlib.sha256(text_of(message.content).encode('utf-8', 'surrogatepass')).hexdigest()}"


def rewritten(message: HumanMessage, turn: Turn) -> HumanMessage:
    """
    Return *message* with plain paths and, behind its text, a block for each medium of *turn*, the turn of its text.

    One without an id gets one, so that it can be found again.
    """
    content: str | list[Block] = rewrite_content(message.content, turn)
    if turn.media:
        content = [*([_text_block(content)] if isinstance(content, str) else content), *map(_media_block, turn.media)]
    if content is message.content:
        return message
    return message.model_copy(update={"content": content, "id": message.id or str(uuid.uuid4())})


def swap_section(system: SystemMessage | None, section: str) -> SystemMessage | None:
    """
    Return *system* with *section* at its end, in place of any that was in it; "" takes that out.

    In a list of blocks the section is a block of its own, which begins with the newlines between it and the text before.
    """
    if system is None:
        return SystemMessage(content=section) if section else None
    if isinstance(system.content, str):
        content = filerefs.swap_section(system.content, section)
        return system if content == system.content else system.model_copy(update={"content": content})
    bare = _without_sections(_blocks(system))
    blocks = [*bare, _text_block(_behind(bare, section))] if section else bare
    return system if blocks == system.content else system.model_copy(update={"content": blocks})


def append_text(system: SystemMessage | None, text: str) -> SystemMessage:
    """Return *system* with *text* at its end, behind a blank line: a block of its own in a list of blocks."""
    if system is None:
        return SystemMessage(content=text)
    if isinstance(system.content, str):
        return system.model_copy(update={"content": _GAP.join(part for part in (system.content, text) if part)})
    blocks = _blocks(system)
    gap = _GAP if _has_text(blocks) else ""
    return system.model_copy(update={"content": [*blocks, _text_block(gap + text)]})


def _blocks(message: BaseMessage) -> list[Block]:
    return cast("list[Block]", message.content)


def _text(block: Block) -> str | None:
    """Return what *block* says, None if it is no text."""
    if isinstance(block, str):
        return block
    text: object = block.get("text") if block.get("type") == "text" else None
    return text if isinstance(text, str) else None


def _has_text(blocks: Sequence[Block]) -> bool:
    return any(_text(block) for block in blocks)


def _with_text(block: Block, text: str) -> Block:
    return text if isinstance(block, str) else {**block, "text": text}


def _text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def _media_block(medium: Attached) -> Block:
    """Return *medium* as LangChain's own kind of block, which each provider's package translates."""
    media_type = medium.media_type or "application/octet-stream"
    block: dict[str, Any] = {"base64": base64.b64encode(medium.data or b"").decode("ascii"), "mime_type": media_type}
    if media_type.startswith("image/"):
        return {"type": "image", **block}
    # Some providers take no file without a name, and go by how that ends.
    name = medium.path.rpartition("/")[2]
    ending = ".pdf" if media_type == "application/pdf" and not name.lower().endswith(".pdf") else ""
    return {"type": "file", **block, "extras": {"filename": name + ending}}


def _without_sections(blocks: Sequence[Block]) -> list[Block]:
    """Return *blocks* without the sections in them, and without those that held nothing else."""
    kept: list[Block] = []
    for block in blocks:
        text = _text(block)
        bare = None if text is None else filerefs.strip_section(text)
        if bare == text:
            kept.append(block)
        elif bare:
            kept.append(_with_text(block, bare))
    return kept


def _behind(blocks: Sequence[Block], section: str) -> str:
    """Return *section* with what `swap_section` writes between it and a text, if *blocks* hold one."""
    return filerefs.swap_section(".", section)[1:] if _has_text(blocks) else section
