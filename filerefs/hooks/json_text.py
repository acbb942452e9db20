"""
Edits in the text of a JSON document, so that all that is not edited stays byte for byte: order, indentation, comments.

A settings file is somebody's own work; reading it into objects and writing those would lay it out anew.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

Value = Any

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_BLANKS_AND_COMMENTS: Final = re.compile(r"(?:[ \t\r\n]|//[^\n]*|/\*(?s:.*?)\*/)*")
_NEW_LINE: Final = re.compile(r"[ \t]*\r?\n")
_ATOM: Final = re.compile(r"[-+.\w]+")
_UNIT: Final = "  "


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


# Without the constants that JSON does not have and Python reads all the same.
_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)


def _unless_blank(text: str) -> str:
    return text if text.strip() else ""


class JSONTextError(ValueError):
    """A text is no JSON; the message says what is wrong and in which line."""


@dataclass(slots=True)
class Node:
    """
    A value and where it stands.

    Attributes:
        start, end: The slice of the text.
        value: What it means; of an object or array everything in it as well.
        keys: Of an object: the names in it, in order; of an array nothing.
        starts: Where each thing in it begins, its name included.
        children: The things in it.
    """

    start: int
    end: int = 0
    value: Value = None
    keys: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    def at(self, *path: str | int) -> Node | None:
        """Return what stands at *path*, None for nothing; of two with one name the last, as for every reader."""
        node = self
        for step in path:
            index = node.index(step)
            if index < 0:
                return None
            node = node.children[index]
        return node

    def index(self, step: str | int) -> int:
        """Return the number of the child that *step* names, -1 for none."""
        if isinstance(step, int):
            return step if isinstance(self.value, list) and 0 <= step < len(self.children) else -1
        return len(self.keys) - 1 - self.keys[::-1].index(step) if step in self.keys else -1


class JSONText:
    """
    A JSON document as text.

    Args:
        text: The document; a byte order mark before it stays.
        comments: Whether comments are read over.

    Raises:
        JSONTextError: If it is no JSON.
    """

    def __init__(self, text: str, *, comments: bool = False) -> None:
        self._comments = comments
        self._blanks = _BLANKS_AND_COMMENTS if comments else _BLANKS
        self._take(text)

    def _take(self, text: str) -> None:
        self.text = text
        try:
            self.root = self._read(self._skip(text.startswith("\ufeff")))
        except RecursionError as error:
            raise JSONTextError("it is nested too deeply") from error
        if self._skip(self.root.end) != len(text):
            raise self._error("more than one value", self._skip(self.root.end))

    def append(self, path: tuple[str | int, ...], value: Value, key: str | None = None) -> None:
        """Put *value* at the end of the array at *path*, or of the object there, with *key* as its name."""
        container = self._container(path)
        name = "" if key is None else f"{json.dumps(key)}: "
        if not container.children:
            self._replace(container, name, value)
            return
        last, first = container.children[-1], container.starts[0]
        before = self.text[container.start + 1 : first]
        if "\n" in before:
            indent = self._indent_of(first)
            piece = f"{self._newline}{indent}{name}{self._dump(value, indent)}"
            end = self._end_of_contents(container)
            # The comma stands behind the value, the new line behind a comment that may follow it.
            self._take(self.text[: last.end] + "," + self.text[last.end : end] + piece + self.text[end:])
        else:
            self._take(f"{self.text[: last.end]}, {name}{json.dumps(value, ensure_ascii=False)}{self.text[last.end :]}")

    def replace(self, path: tuple[str | int, ...], value: Value) -> None:
        """Put *value* in the place of the one at *path*."""
        node = self._container(path)
        self._take(self.text[: node.start] + self._dump(value, self._indent_of(node.start)) + self.text[node.end :])

    def remove(self, path: tuple[str | int, ...]) -> None:
        """Take out what stands at *path*, with its name, and the comma that it no longer needs."""
        self.remove_all([(path[:-1], [self._container(path[:-1]).index(path[-1])])])

    def remove_all(self, removals: Iterable[tuple[tuple[str | int, ...], Collection[int]]]) -> None:
        """
        Do what `remove` does, for many at once: the text is read again once.

        Args:
            removals: The path of an object or array, and the numbers of the things in it; each container once, and none
                within something that is removed.
        """
        edits = [edit for path, indexes in removals for edit in self._edits(self._container(path), sorted(indexes, reverse=True))]
        pieces, position = [], 0
        for start, end, text in sorted(edits):
            pieces += [self.text[position:start], text]
            position = end
        self._take("".join((*pieces, self.text[position:])))

    def _edits(self, container: Node, indexes: list[int]) -> Iterator[tuple[int, int, str]]:
        """Yield where the text is to be replaced, and by what, so that the children *indexes*, from the last on, are gone."""
        text, starts, ends = self.text, container.starts, [child.end for child in container.children]
        last, end_of_all = len(ends) - 1, ends[-1]
        if len(indexes) == len(ends):
            between = "".join(self._between(ends[index - 1], starts[index]) for index in range(1, len(ends)))
            yield container.start + 1, container.end - 1, _unless_blank(text[container.start + 1 : starts[0]] + between + text[end_of_all : container.end - 1])
            return
        following = ""
        for index in indexes:
            if index < last:
                comma = self._skip(ends[index])
                gap = cast("re.Match[str]", _BLANKS.match(text, comma + 1))
                yield starts[index], gap.end(), _unless_blank(text[ends[index] : comma])
                continue
            between = self._between(ends[index - 1], starts[index])
            # A comment to the end of its line needs that end, once.
            has_end = _NEW_LINE.match(following) if following else _NEW_LINE.match(text, end_of_all)
            between = between.rstrip() if has_end else between
            yield ends[index - 1], ends[index], between
            following, last = between or following, index - 1

    def _between(self, end: int, start: int) -> str:
        """Return the comments between two neighbours, with the blanks around them; "" for none."""
        comma = self._skip(end)
        return _unless_blank(self.text[end:comma] + self.text[comma + 1 : start])

    def _container(self, path: tuple[str | int, ...]) -> Node:
        node = self.root.at(*path)
        if node is None:
            raise KeyError(path)
        return node

    def _replace(self, container: Node, name: str, value: Value) -> None:
        """Put a first child into an empty container."""
        opening, closing = self.text[container.start], self.text[container.end - 1]
        inside = self.text[container.start + 1 : container.end - 1].strip()
        if self._is_on_one_line and container is not self.root:
            piece = f"{opening}{name}{json.dumps(value, ensure_ascii=False)}{closing}"
        else:
            outer = self._indent_of(container.start)
            inner = outer + self._unit
            line = f"{self._newline}{inner}"
            kept = f"{line}{inside}" if inside else ""
            piece = f"{opening}{kept}{line}{name}{self._dump(value, inner)}{self._newline}{outer}{closing}"
        self._take(self.text[: container.start] + piece + self.text[container.end :])

    @property
    def _newline(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    @property
    def _is_on_one_line(self) -> bool:
        return "\n" not in self.text[self.root.start : self.root.end] and bool(self.root.children)

    @property
    def _unit(self) -> str:
        """How much deeper a level is indented: as the first level of the document is."""
        first = self.root.starts[0] if self.root.starts else 0
        return (self._indent_of(first) if first and "\n" in self.text[self.root.start : first] else "") or _UNIT

    def _indent_of(self, position: int) -> str:
        """Return the blanks at the beginning of the line of *position*."""
        line = self.text.rfind("\n", 0, position) + 1
        return cast("re.Match[str]", re.compile(r"[ \t]*").match(self.text, line))[0]

    def _dump(self, value: Value, indent: str) -> str:
        if self._is_on_one_line:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit).split("\n")
        return f"{self._newline}{indent}".join(lines)

    def _end_of_contents(self, container: Node) -> int:
        """Return where the last thing in *container* ends, be it a comment."""
        return len(self.text[: container.end - 1].rstrip(" \t\r\n"))

    def _skip(self, position: int) -> int:
        return cast("re.Match[str]", self._blanks.match(self.text, int(position))).end()

    def _read(self, start: int) -> Node:
        sign = self.text[start : start + 1]
        if sign == "{":
            return self._read_members(start, "}", self._read_member)
        if sign == "[":
            return self._read_members(start, "]", lambda _node, position: self._read(position))
        if sign == '"':
            value, end = self._read_string(start)
            return Node(start, end, value)
        match = _ATOM.match(self.text, start)
        if match is None:
            raise self._error("a value is missing", start)
        try:
            return Node(start, match.end(), _DECODER.decode(match[0]))
        except ValueError as error:
            raise self._error(f"no value: {match[0][:20]}", start) from error

    def _read_members(self, start: int, closing: str, read: Callable[[Node, int], Node]) -> Node:
        node = Node(start)
        position = self._skip(start + 1)
        while self.text[position : position + 1] != closing:
            if node.children:
                if self.text[position : position + 1] != ",":
                    raise self._error(f"a comma or {closing} is missing", position)
                position = self._skip(position + 1)
            node.starts.append(position)
            node.children.append(read(node, position))
            position = self._skip(node.children[-1].end)
        node.end = position + 1
        values = [child.value for child in node.children]
        node.value = dict(zip(node.keys, values, strict=True)) if closing == "}" else values
        return node

    def _read_member(self, node: Node, start: int) -> Node:
        if self.text[start : start + 1] != '"':
            raise self._error("a name in double quotes is missing", start)
        key, end = self._read_string(start)
        colon = self._skip(end)
        if self.text[colon : colon + 1] != ":":
            raise self._error("a colon is missing", colon)
        node.keys.append(key)
        return self._read(self._skip(colon + 1))

    def _read_string(self, start: int) -> tuple[str, int]:
        try:
            return cast("tuple[str, int]", _DECODER.raw_decode(self.text, start))
        except ValueError as error:
            raise self._error("a string does not end, or holds what JSON does not allow in it", start) from error

    def _error(self, problem: str, position: int) -> JSONTextError:
        line = self.text.count("\n", 0, position) + 1
        return JSONTextError(f"line {line}: {problem}")
