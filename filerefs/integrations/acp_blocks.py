"""ACP: prompt blocks -> one message, the mentions in it that are links, and what the editor shows of the files."""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit

from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from filerefs import OptionError, Ref
from filerefs.messages import text_of
from filerefs.naming import label
from filerefs.roots import MemoryRoot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from filerefs import RootLike

    Lines: TypeAlias = tuple[int, int]

Block: TypeAlias = TextContentBlock | ImageContentBlock | AudioContentBlock | ResourceContentBlock | EmbeddedResourceContentBlock

# No folder of a project is called so; what an editor shows without it being a file below the root is shown there.
_ELSEWHERE: Final = "(editor)"
_LINES: Final = re.compile(r"L?(?P<first>[0-9]{1,9})(?:[:-]L?(?P<last>[0-9]{1,9}))?")
_OPENING: Final = frozenset("([{<\"'`“‘«「『（")
_CLOSING: Final = frozenset(".,;:!?)]}>\"'`”’»」』）…。，；：！？")
_IMAGE_ENDINGS: Final = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


class Place(NamedTuple):
    """
    What an address says.

    Attributes:
        name: Relative to the root, a folder with a final slash; None for what is not below it.
        last: The last part of its path, "" for none.
        lines: The lines that are meant, None for all.
        fragment: What is meant of it and is no lines, as it is written; "" for nothing.
    """

    name: str | None
    last: str
    lines: Lines | None = None
    fragment: str = ""


class Reader:
    """
    Reads the blocks of one prompt.

    Args:
        folder: The absolute path of the root; "" if it is none.
        root: The root itself.

    Attributes:
        message: All blocks as one message.
        refs: The links and embedded files in it.
        notices: What else there is to say, one line each.
        buffers: What the editor sent of files, over the root; None if it sent nothing.
    """

    def __init__(self, folder: str, root: RootLike) -> None:
        # An editor may know the folder by its real path or by a link to it.
        self._folders = dict.fromkeys((folder, os.path.realpath(folder))) if folder else {}
        self._root = root
        self._buffered = 0
        self._behind_link = False
        # The message piece by piece: added to one text, thousands of blocks would be copied thousands of times.
        self._pieces: list[str] = []
        self._length = 0
        self._text_start = 0
        self.message = ""
        self.refs: list[Ref] = []
        self.notices: list[str] = []
        self.buffers: MemoryRoot | None = None

    def read(self, blocks: Iterable[Block]) -> None:
        """Read *blocks*, in order; whatever is in them, nothing is raised."""
        for block in blocks:
            match block:
                case TextContentBlock():
                    self._say(block.text)
                case ResourceContentBlock():
                    self._link(block)
                case EmbeddedResourceContentBlock():
                    self._embed(block.resource)
                case ImageContentBlock():
                    self._show(block)
                case AudioContentBlock():
                    self.notices.append("a recording was left out: sound is no file that a message can name")
        self.message = "".join(self._pieces)
        # The message is known only now, and a mention knows its message.
        self.refs = [ref._replace(message=self.message) for ref in self.refs]

    def _say(self, text: str, *, is_link: bool = False) -> int:
        """Put *text* behind what is there, with white space between where words would run together; return where it begins."""
        if self._pieces and text:
            self._add(self._gap(text, is_link=is_link))
            if not is_link and not self._behind_link:
                self._text_start = len(self._pieces)
        start = self._length
        self._add(text)
        self._behind_link = is_link if text else self._behind_link
        return start

    def _add(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            self._length += len(piece)

    def _gap(self, text: str, *, is_link: bool) -> str:
        last = self._pieces[-1][-1]
        are_apart = last.isspace() or text[0].isspace()
        if is_link:
            return "" if are_apart or (last in _OPENING and not self._behind_link) else " "
        if self._behind_link:
            return "" if are_apart or text[0] in _CLOSING else " "
        # A text behind a text is one of its own, and no code because of the one before; around a link both are one.
        before = "".join(self._pieces[self._text_start :])
        gap = text_of([before, ""])[len(before) :]
        return "" if are_apart and not gap.strip() else gap

    def _mention(self, shown: str, path: str, lines: Lines | None = None) -> None:
        token = " ".join(shown.split()) or "file"
        if lines is not None:
            token += f":{lines[0]}-{lines[1]}"
        start = self._say(token, is_link=True)
        end = start + len(token)
        self.refs.append(Ref(token, start, end, path, lines, quoted=True, run_end=end))

    def _link(self, block: ResourceContentBlock) -> None:
        place = self._locate(block.uri)
        if place is None:
            self._pass_on(block)
        elif place.name is None:
            self._mention(block.name or place.last, f"../{place.last}")
        else:
            # With a dot in front it is a path, whatever it looks like: what is not there is missing, and no plain word.
            self._mention(place.name, f"./{place.name}", place.lines)
            if place.fragment:
                self.notices.append(f"{label(place.name)}: `#{label(place.fragment)}` was not resolved; the whole file is shown")

    def _pass_on(self, block: ResourceContentBlock) -> None:
        # An at-sign in it is not the person's: nothing of it may become a mention.
        address = block.uri.replace("@", "%40").replace("＠", "%EF%BC%A0")
        name = " ".join(block.name.split())
        self._say(address if not name or name == block.uri or {"@", "＠"} & set(name) else f"[{name}]({address})", is_link=True)
        self.notices.append(f"{label(block.uri)}: no file, so it was not read; the model sees the address alone")

    def _embed(self, resource: TextResourceContents | BlobResourceContents) -> None:
        place = self._locate(resource.uri) or Place(None, _last_part(resource.uri.rpartition(":")[2]))
        content = resource.text if isinstance(resource, TextResourceContents) else _decode(resource.blob)
        if content is None:
            self.notices.append(f"{label(resource.uri)}: left out, since it is not in base64")
            return
        part = f"#L{place.lines[0]}-{place.lines[1]}" if place.lines else f"#{place.fragment}" if place.fragment else ""
        # A part of a file must not stand for all of it.
        name = self._buffer(content, None if place.name is None else place.name + part, place.last + part)
        self._mention(name, f"./{name}")

    def _show(self, block: ImageContentBlock) -> None:
        content = _decode(block.data)
        if content is None:
            self.notices.append("an image was left out, since it is not in base64")
            return
        place = (self._locate(block.uri) if block.uri else None) or Place(None, "")
        name = self._buffer(content, place.name, f"image.{_IMAGE_ENDINGS.get(block.mime_type, 'bin')}")
        self._mention(name, f"./{name}")

    def _buffer(self, content: str | bytes, name: str | None, other: str) -> str:
        """Keep *content* under *name*, else under one of its own that ends in *other*, and return which."""
        if self.buffers is None:
            self.buffers = MemoryRoot(over=self._root)
        self._buffered += 1
        own = f"{_ELSEWHERE}/{self._buffered}"
        for candidate in (name, f"{own}/{other}"):
            # An address can hold what no name can.
            with contextlib.suppress(OptionError):
                if candidate is not None:
                    self.buffers[candidate] = content
                    return candidate
        self.buffers[own] = content
        return own

    def _locate(self, address: str) -> Place | None:
        """Return what *address* says of a file; None if it is none."""
        try:
            parts = urlsplit(address)
        except ValueError:
            return None
        if parts.scheme not in ("", "file"):
            return None
        path = unquote(parts.path, errors="surrogateescape")
        name = self._name(path) if parts.netloc in ("", "localhost") else None
        fragment = unquote(parts.fragment)
        lines = _LINES.fullmatch(fragment)
        if lines is None:
            return Place(name, _last_part(path), None, fragment)
        first = int(lines["first"])
        return Place(name, _last_part(path), (first, int(lines["last"] or first)))

    def _name(self, path: str) -> str | None:
        if path and not path.startswith("/"):
            return path
        for folder in self._folders:
            beginning = folder.rstrip("/") + "/"
            if path.startswith(beginning) or path + "/" == beginning:
                return path[len(beginning) :].lstrip("/") or "."
        return None


def _last_part(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _decode(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
