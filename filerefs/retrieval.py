"""Tools for a model to fetch more, without any framework: a name, a description, a JSON schema and a callable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from filerefs.fetching import Fetched
    from filerefs.turn import Preprocessor

_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """
    One tool, to be handed to whatever framework there is.

    Attributes:
        name: ASCII letters, digits and `_`.
        description: For the model: what it does and when to call it.
        parameters: JSON schema of an object: the keyword arguments of `call`.
        call: Returns text or what JSON can say; raises `FilerefsError` for misuse only.

    .. versionadded:: 0.1
    """

    name: str
    description: str
    parameters: Mapping[str, Any] = field(repr=False)
    call: Callable[..., Any] = field(repr=False)

    def run(self, arguments: Mapping[str, Any] | str = "") -> str:
        """
        Return what `call` returns for *arguments*, as text; JSON where it is none.

        *arguments* are what the model wrote: an object, or its JSON ("" or null for none).  An argument that is null
        counts as left out, unless the schema has null among its types: models in a strict mode write all of them.  For
        arguments that do not fit it is a sentence that says what does, for the model to try again; it is never raised.
        """
        given = _read(arguments)
        if not isinstance(given, str):
            given = {name: value for name, value in given.items() if value is not None or not self._takes_no_null(name)}
        problem = given if isinstance(given, str) else self._find_problem(given)
        if problem:
            return f"{self.name} was not called: {problem}."
        result = self.call(**given)  # type: ignore[arg-type]
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)

    def as_dict(self) -> dict[str, Any]:
        """Return name, description and parameters: what most model interfaces call a function."""
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}

    def _takes_no_null(self, name: str) -> bool:
        """Tell whether *name* is an argument that cannot be null by its schema."""
        return isinstance(self.parameters.get("properties", {}).get(name, {}).get("type"), str)

    def _find_problem(self, given: Mapping[str, Any]) -> str:
        properties: Mapping[str, Any] = self.parameters.get("properties", {})
        takes = ", ".join(f"`{name}`" for name in properties) or "no arguments"
        for name in given:
            if name not in properties:
                return f"it has no argument `{name}`; it takes {takes}"
        for name in self.parameters.get("required", ()):
            if name not in given:
                return f"the argument `{name}` is missing"
        for name, value in given.items():
            wanted = properties[name].get("type")
            if not _is_of_type(value, wanted):
                return f"`{name}` must be of the type {wanted}"
            if value == "" and properties[name].get("minLength"):
                return f"`{name}` must not be empty"
        return ""


def file_tools(files: Preprocessor) -> list[Tool]:
    """
    Return the tools by which a model reads and lists what is in the folder of *files*: `read_ref` and `list_files`.

    What holds for messages holds for them: the same folder, the same limits (each call has a turn's), the same names
    that are withheld.  What a model passes never raises; an answer is text, or a sentence that says what to do instead.
    They may be shared by threads, and last as long as *files*: afterwards a call raises `RootClosedError`.

    .. versionadded:: 0.1
    """
    from filerefs import fetching, listings
    from filerefs.walk import Ignore

    root, limits, ignore = files.root, files.limits, Ignore(files.root)

    def read_ref(ref: str) -> str:
        return fetching.fetch(ref, root, limits).text

    def list_files(folder: str | None = ".", pattern: str | None = "", limit: int | None = listings.USUAL) -> str:
        most = listings.USUAL if limit is None else limit
        return listings.list_names(root, ignore, limits, folder=folder or ".", pattern=pattern or "", limit=most)

    return [
        Tool(name="read_ref", description=_READ_PURPOSE, parameters=_schema(_READ_PARAMETERS, "ref"), call=read_ref),
        Tool(name="list_files", description=_LIST_PURPOSE, parameters=_schema(_LIST_PARAMETERS), call=list_files),
    ]


def fetch(files: Preprocessor, ref: str, *, advice: str = "") -> Fetched:
    """
    Return what the tool `read_ref` answers to *ref*, and what became of each file: for hosts with a form of their own.

    Args:
        files: Where the files are.
        ref: What the tool takes.
        advice: What whoever reads the answer can do about a name that nothing is called by; "" for what a model can.

    Raises:
        RootClosedError: After *files* was closed.  Nothing that stands in *ref* raises.

    .. versionadded:: 0.1
    """
    from filerefs import fetching

    return fetching.fetch(ref, files.root, files.limits, advice=advice or fetching.ADVICE)


_READ_PURPOSE = (
    "Reads a file of this project, some lines of it, or the list of a folder. Names are relative to the project's root folder. "
    "An answer says so where a file is cut; ask for the lines that are missing. Call list_files to see which names there are."
)
_LIST_PURPOSE = (
    "Lists names of files and folders of this project, every folder before what is in it; folders end in a slash. "
    "What ignore rules leave out is not listed, but read_ref reads it by its name."
)
_READ_PARAMETERS = {
    "ref": {
        "type": "string",
        "minLength": 1,
        "description": "A name, with lines if only some are needed: src/app.py, src/app.py:10-40, docs/. Several are parted by commas.",
    },
}
_LIST_PARAMETERS = {
    "folder": {"type": "string", "default": ".", "description": "Where to begin; the root folder if left out."},
    "pattern": {
        "type": "string",
        "default": "",
        "description": "Which names: a glob (*.py, src/**/test_*, *.{js,ts}), or a part of the path. All if left out.",
    },
    "limit": {"type": "integer", "default": 200, "description": "How many names at most: 1 to 1000."},
}


def _schema(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _read(arguments: object) -> Mapping[str, Any] | str:
    """Return the arguments, or what is wrong with them.  A framework that read the JSON itself may hand over whatever JSON has."""
    value = arguments
    if isinstance(arguments, str):
        if not arguments.strip():
            return {}
        try:
            value = json.loads(arguments)
        except (ValueError, RecursionError):
            return "its arguments are not JSON"
    if value is None:
        return {}
    return value if isinstance(value, Mapping) else "its arguments are no JSON object"


def _is_of_type(value: object, wanted: object) -> bool:
    expected = _TYPES.get(wanted) if isinstance(wanted, str) else None
    if expected is None:
        return True
    return isinstance(value, expected) and (wanted == "boolean" or not isinstance(value, bool))
