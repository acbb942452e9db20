"""The files that a turn is about to read -> one call to a root that would rather fetch them together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filerefs.contents import reach
from filerefs.grouping import Group
from filerefs.root import Trouble
from filerefs.rootlike import Guarded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from filerefs.grouping import Refusal
    from filerefs.limits import Limits
    from filerefs.memory import Recollection
    from filerefs.resolving import Lookup
    from filerefs.rootlike import NodeLike


def prefetch(entries: Sequence[Group | Refusal], lookup: Lookup, limits: Limits, recollection: Recollection) -> None:
    """Hand the root the nodes of what will be read of *entries*, in their order, if it wants to know."""
    root = lookup.root
    if not isinstance(root, Guarded) or not root.prefetches:
        return
    limit = None if limits.file_bytes is None else reach(limits.file_bytes)
    nodes = list(_nodes_to_read([entry for entry in entries if isinstance(entry, Group)], lookup, limits, recollection))
    # One alone is read as fast.
    if len(nodes) > 1:
        root.prefetch(nodes, limit)


def _nodes_to_read(groups: Sequence[Group], lookup: Lookup, limits: Limits, recollection: Recollection) -> Iterator[NodeLike]:
    """Yield the nodes, until as many bytes as the total has room for are in them."""
    room = limits.total_bytes
    for group in groups:
        if room is not None and room < 0:
            return
        if recollection.knows(group.target.stamp, limits.file_bytes):
            continue
        node = lookup.hold(group.target)
        if isinstance(node, Trouble) or not _is_read_at_once(group, node, limits.file_bytes):
            continue
        if room is not None:
            room -= node.size if limits.file_bytes is None else min(node.size, limits.file_bytes)
        yield node


def _is_read_at_once(group: Group, node: NodeLike, cap: int | None) -> bool:
    """Tell whether the beginning of a file is all that is needed of it; of a long one for a few lines it is not."""
    return cap is None or node.size <= cap or any(mention.lines is None for mention in group.mentions)
