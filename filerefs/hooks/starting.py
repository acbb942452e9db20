"""What goes with the start of a session: the instruction files that the host does not read itself, or openings of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filerefs import agentsmd, naming
from filerefs.hooks.answers import Answer, fit
from filerefs.hooks.budget import cut_list, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filerefs.agentsmd import Discovery, Doc
    from filerefs.hooks.answers import Options
    from filerefs.hooks.hosts import Host

_OPENINGS = (4096, 2048, 1024, 512, 256)
_NAMED = "Instruction files of this project, to be read with {reader} before you act in an area that they cover. Names are relative to its root, the {root}:"


def compose(folder: str, host: Host, options: Options) -> Answer:
    """
    Return the instruction files that apply to *folder* and that *host* does not read: whole, else openings, else names.

    Raises:
        OptionError: If there is no such folder.
    """
    found = agentsmd.expand_imports(agentsmd.discover(folder))
    docs = found.docs if options.bodies else _unread(found, folder, host)
    warnings = (*found.warnings, *(problem.summary for problem in found.problems))
    return fit(lambda room: Answer(_fit(docs, found.root, room, host, names=options.bodies is False), warnings), host.unit)


def _unread(found: Discovery, folder: str, host: Host) -> tuple[Doc, ...]:
    """Return the documents that are not among those that the host reads itself, the same file by another name included."""
    for reading in host.instructions:
        theirs = agentsmd.discover(folder, names=reading.names, additions=reading.additions, budget=None)
        if theirs.docs:
            read = agentsmd.expand_imports(theirs) if host.imports else theirs
            known = {doc.identity or doc.name for doc in read}
            return tuple(doc for doc in found if (doc.identity or doc.name) not in known)
    return found.docs


def _fit(docs: Sequence[Doc], root: str, room: int, host: Host, *, names: bool) -> str:
    """Return as much of *docs* as there is room for."""
    docs = [doc for doc in docs if doc.text.strip()]
    if not docs:
        return ""
    if not names:
        whole = agentsmd.render(docs, style="headings")
        if measure(whole, host.unit) <= room:
            return whole
        for size in _OPENINGS:
            openings = agentsmd.catalog(docs, inline_bytes=size, tool=host.reader)
            if measure(openings, host.unit) <= room:
                return openings
    head = _NAMED.format(reader=host.reader, root=naming.label(root))
    lines = [f"- {naming.label(doc.name)} ({naming.human_size(doc.size)})" for doc in docs]
    return f"{head}\n{cut_list(lines, room - measure(head, host.unit) - 1, host.unit, '- and {} more')}"
