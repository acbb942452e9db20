"""Tools for a model to fetch more, without any framework: a name, a description, a JSON schema and a callable."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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

        *arguments* are what the model wrote: an object, or its JSON ("" for none).  For arguments that do not fit
        it is a sentence that says what does, for the model to try again; it is never raised.
        """
        given = _read(arguments)
        problem = given if isinstance(given, str) else self._find_problem(given)
        if problem:
            return f"{self.name} was not called: {problem}."
        result = self.call(**given)  # type: ignore[arg-type]
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)

    def as_dict(self) -> dict[str, Any]:
        """Return name, description and parameters: what most model interfaces call a function."""
        return {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}

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


def _read(arguments: Mapping[str, Any] | str) -> Mapping[str, Any] | str:
    """Return the arguments, or what is wrong with them."""
    if not isinstance(arguments, str):
        return arguments
    if not arguments.strip():
        return {}
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return "its arguments are not JSON"
    return value if isinstance(value, dict) else "its arguments are no JSON object"


def _is_of_type(value: object, wanted: object) -> bool:
    expected = _TYPES.get(wanted) if isinstance(wanted, str) else None
    if expected is None:
        return True
    return isinstance(value, expected) and (wanted == "boolean" or not isinstance(value, bool))
