"""The instruction files of a chat: each turn has them as they are then, and the person is told when they are others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filerefs import agentsmd, naming
from filerefs.errors import FilerefsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filerefs.agentsmd import Discovery


class Instructions:
    """
    The instruction files that govern *root*, with their imports.

    Attributes:
        found: What was found last.
        text: For the system prompt; "" if there are none.

    Raises:
        RootNotFoundError: If *root* is no folder.
    """

    def __init__(self, root: str) -> None:
        self._loader = agentsmd.Loader(root)
        self._is_lost = False
        self.found = self._loader.run().load()
        self.text = agentsmd.render(self.found)

    def refresh(self) -> str:
        """
        Read again what is there now: each turn is a run of its own.

        Returns:
            One line for the person: which files changed, came or went, or, once, that they cannot be read any more; ""
            where nothing changed.
        """
        before = self.found
        try:
            self.found = self._loader.run().load()
        except FilerefsError as error:
            notice = "" if self._is_lost else f"instruction files cannot be read any more, and those from before hold: {error}"
            self._is_lost = True
            return notice
        self._is_lost = False
        self.text = agentsmd.render(self.found)
        changes = ", ".join(_changes(before, self.found))
        return f"instruction files changed: {changes}" if changes else ""


def _changes(before: Discovery, now: Discovery) -> Iterator[str]:
    old, new = ({doc.name: doc.text for doc in found.docs} for found in (before, now))
    for name, text in new.items():
        if name not in old:
            yield f"{naming.label(name)} is new"
        elif text != old[name]:
            yield naming.label(name)
    yield from (f"{naming.label(name)} is gone" for name in old if name not in new)
    known = {problem.summary for problem in before.problems}
    yield from (problem.summary for problem in now.problems if problem.summary not in known)
