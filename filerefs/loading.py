"""[Ref] + Root + Limits -> [Attached | Refused]: one outcome per file, within the budget, in order of first mention."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from filerefs import contents, kinds, naming
from filerefs.advice import hint_for
from filerefs.errors import OptionTypeError
from filerefs.grouping import Group, Mention, Refusal, Sorter
from filerefs.limits import Budget, MediaRoom, check_limits, check_media
from filerefs.memory import Memory
from filerefs.mentions import Ref, Scan
from filerefs.outcomes import Attached, Outcome, Reason, Refused
from filerefs.prefetching import prefetch
from filerefs.resolving import Hit, Lookup, looks_like_path, resolve, resolve_one
from filerefs.root import Root, Trouble
from filerefs.rootlike import adopt
from filerefs.troubles import no_such_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from filerefs.contents import Content
    from filerefs.limits import Limits, MediaPolicy
    from filerefs.memory import Recollection
    from filerefs.mentions import Range
    from filerefs.resolving import Target
    from filerefs.root import SymlinkPolicy
    from filerefs.rootlike import RootLike


def load(
    refs: Iterable[Ref],
    root: str | os.PathLike[str] | RootLike = ".",
    *,
    limits: Limits | None = None,
    symlinks: SymlinkPolicy = "refuse",
    allow: Collection[str] = (),
    lenient: bool = True,
    media: MediaPolicy = False,
) -> list[Outcome]:
    """
    Return what became of *refs*, in order of first mention: one outcome for each file, however often it is named.

    References that name nothing and do not look like paths have no outcome.  Trouble with a reference is a
    `Refused`, never an exception.

    Args:
        refs: What `parse` returned, in its order.
        root: The folder that all names are relative to; or a `Root`, or any other `RootLike`, that stays open and
            has *symlinks* and *allow* of its own.
        limits: Sizes and numbers; the defaults of `Limits` when None.
        symlinks: "refuse" every symbolic link, or follow those that stay "inside" the root.
        allow: Names that are opened although they look like those of secrets.
        lenient: Whether unquoted names with blanks are tried.
        media: Whether images and PDFs are read as well (`Attached.data`); or the media types that are, of those
            that this library knows.

    Raises:
        RootNotFoundError: If *root* is no directory.
        RootClosedError: If *root* was closed.
        OptionError: If an option has a value that it does not take.
        OptionTypeError: If *refs* is anything else, such as the message.

    .. versionadded:: 0.1
    """
    limits, media = check_limits(limits), check_media(media)
    scan = Scan(_check_refs(refs), [])
    if not isinstance(root, str | os.PathLike):
        return load_all(scan, adopt(root, symlinks=symlinks, allow=allow), limits, lenient=lenient, media=media).outcomes
    with Root(root, symlinks=symlinks, allow=allow) as opened:
        return load_all(scan, opened, limits, lenient=lenient, media=media).outcomes


def _check_refs(refs: Iterable[Ref]) -> list[Ref]:
    checked = list(refs)
    if not all(isinstance(ref, Ref) for ref in checked):
        raise OptionTypeError("refs", refs, "what `parse` returned")
    return checked


class Loaded(NamedTuple):
    """The outcomes, the references that are plain text, those in code that name a file, and whether lookups ran out."""

    outcomes: list[Outcome]
    plain: list[Ref]
    in_code: list[Ref]
    spent: bool


def load_all(scan: Scan, root: RootLike, limits: Limits, *, lenient: bool, media: MediaPolicy = False, recollection: Recollection | None = None) -> Loaded:
    """Do what `load` does, and tell what a turn needs besides."""
    plain: list[Ref] = []
    outcomes: list[Outcome] = []
    with Lookup(root) as lookup:
        sorter = Sorter(limits.refs)
        for ref, resolution in zip(scan.refs, resolve(scan.refs, lookup, lenient=lenient), strict=True):
            if resolution is None:
                plain.append(ref)
            else:
                sorter.add(ref, resolution)
        # Before hints look names up as well: that none is left for them is no matter of the message.
        spent = lookup.spent
        recollection = recollection or Memory(root).turn()
        prefetch(sorter.entries, lookup, limits, recollection)
        loader = _Loader(lookup, limits, media, recollection)
        for entry in sorter.entries:
            outcomes += loader.attach(entry) if isinstance(entry, Group) else [loader.refuse(entry)]
        in_code = [ref for ref in scan.in_code if _is_path_shaped(ref) and isinstance(resolve_one(ref, lookup), Hit)]
    outcomes.sort(key=lambda outcome: outcome.spans[0])
    return Loaded(outcomes, plain, in_code, spent)


def _is_path_shaped(ref: Ref) -> bool:
    return "/" in ref.path or looks_like_path(ref.path)


class _Loader:
    """Reads what was found, first named, first served."""

    def __init__(self, lookup: Lookup, limits: Limits, media: MediaPolicy, recollection: Recollection) -> None:
        self._lookup = lookup
        self._limits = limits
        self._budget = Budget(limits.total_bytes)
        self._room = MediaRoom(limits, media) if media else None
        self._recollection = recollection

    def refuse(self, refusal: Refusal) -> Refused:
        mentions = refusal.mentions
        hint = hint_for(refusal.typed or refusal.path, refusal.reason, self._lookup)
        return Refused(
            path=refusal.path,
            refs=tuple(mention.ref for mention in mentions),
            spans=tuple(mention.span for mention in mentions),
            reason=refusal.reason,
            detail=refusal.detail,
            hint=hint,
        )

    def attach(self, group: Group) -> list[Outcome]:
        """Return the outcome of a group, and one more for mentions of lines that do not exist."""
        if any(_may_differ(mention.target, group.target) for mention in group.mentions[1:]):
            return [outcome for part in self._divide_by_text(group) for outcome in self._attach(part)]
        return self._attach(group)

    def _divide_by_text(self, group: Group) -> list[Group]:
        """Return *group* as one for each text: a file system may give two files one number, or a file may change."""
        parts: dict[object, Group] = {}
        texts: dict[str, object] = {}
        for mention in group.mentions:
            target = mention.target or group.target
            if target.name not in texts:
                content = self._read(Group(target, [mention._replace(lines=None)]))
                texts[target.name] = (content.text, content.data) if not isinstance(content, Trouble) else target.name
            parts.setdefault(texts[target.name], Group(target)).mentions.append(mention)
        return list(parts.values())

    def _attach(self, group: Group) -> list[Outcome]:
        target = group.target
        if self._budget.exhausted:
            return [self._over_budget(group.mentions, target.name)]
        content = self._read(group)
        if isinstance(content, Trouble):
            return [self._refused(group.mentions, target.name, content)]
        shown, missing = _divide(group.mentions, content)
        outcomes: list[Outcome] = [self._refused(missing, target.name, content.unreached or no_such_lines(content.total_lines))] if missing else []
        if shown and not self._budget.take(content.shown):
            return [*outcomes, self._over_budget(shown, target.name)]
        if self._room is not None and content.data is not None:
            self._room.take()
        return [*outcomes, _attached(target, shown, content)] if shown else outcomes

    def _read(self, group: Group) -> Content | Trouble:
        node = self._lookup.open(group.target)
        if isinstance(node, Trouble):
            return node
        with node:
            if node.kind == "directory":
                return contents.list_folder(node, self._limits.directory_entries, self._recollection.ignore_of(self._lookup.root))
            cap = self._limits.file_bytes
            ranges = [mention.lines for mention in group.mentions if mention.lines is not None]
            if ranges and len(ranges) == len(group.mentions):
                return contents.read_lines(node, merge_ranges(ranges), cap, self._room)
            content = self._recollection.read(node, cap, self._room)
            return contents.with_total(content) if ranges and not isinstance(content, Trouble) else content

    def _refused(self, mentions: Sequence[Mention], path: str, trouble: Trouble) -> Refused:
        return self.refuse(Refusal(path, trouble.reason, trouble.detail, path, list(mentions)))

    def _over_budget(self, mentions: Sequence[Mention], path: str) -> Refused:
        total = naming.human_size(self._limits.total_bytes or 0)
        return self._refused(mentions, path, Trouble(Reason.BUDGET, f"there is no room for it in the total of {total} for one message"))


def merge_ranges(ranges: Iterable[Range]) -> list[Range]:
    """Return *ranges* straightened, ascending and disjoint; those that overlap or touch become one."""
    merged: list[Range] = []
    for first, last in sorted(map(straighten, ranges), key=lambda one: one[0]):
        previous = merged[-1] if merged else None
        if previous is None or (previous[1] is not None and previous[1] + 1 < first):
            merged.append((first, last))
        elif previous[1] is not None:
            merged[-1] = (previous[0], None if last is None else max(previous[1], last))
    return merged


def straighten(lines: Range) -> Range:
    """Return *lines* counted from 1 and in order: people write `40-12`, and editors that count from 0 write `0-9`."""
    first, last = lines
    if last is None:
        return max(first, 1), None
    return max(min(first, last), 1), max(first, last, 1)


def _may_differ(target: Target | None, first: Target) -> bool:
    """Tell whether two names of one inode may stand for two texts."""
    return target is not None and target.name != first.name and (target.stamp is None or target.stamp != first.stamp)


def _divide(mentions: Sequence[Mention], content: Content) -> tuple[list[Mention], list[Mention]]:
    """Return the mentions that *content* shows something of, and those of lines that are not there to be shown."""
    if content.lines is None:
        return list(mentions), []
    shown: list[Mention] = []
    missing: list[Mention] = []
    for mention in mentions:
        gone = mention.lines is not None and _is_missing(straighten(mention.lines)[0], content)
        (missing if gone else shown).append(mention)
    return shown, missing


def _is_missing(first: int, content: Content) -> bool:
    if content.total_lines is not None:
        return first > content.total_lines
    # What a cut took away is there; what could not be reached is behind all that is shown.
    return content.unreached is not None and all(last < first for _, last in content.lines or ())


def _attached(target: Target, mentions: Sequence[Mention], content: Content) -> Attached:
    names = dict.fromkeys([mention.name for mention in mentions if mention.name != target.name])
    hidden = _behind_the_cut(mentions, content)
    notes = dict.fromkeys([*content.notes, *hidden, *_bounded(_notes(target, mentions, content))])
    return Attached(
        path=target.name,
        refs=tuple([mention.ref for mention in mentions]),
        spans=tuple([mention.span for mention in mentions]),
        replacements=tuple([_replacement(mention, content) for mention in mentions]),
        kind=content.kind,
        text=content.text,
        size=content.size,
        shown=content.shown,
        truncated=content.truncated,
        lines=content.lines,
        total_lines=content.total_lines,
        entries=content.entries,
        encoding=content.encoding,
        lossy=content.lossy,
        language=kinds.language(target.name) if content.kind == "file" else "",
        media_type=content.media_type,
        data=content.data,
        names=tuple(names),
        notes=tuple(notes),
        cautions=tuple(dict.fromkeys([*content.cautions, *hidden])),
    )


NOTES: Final = 20
"""Notes of one kind that are made of one file."""


def _behind_the_cut(mentions: Sequence[Mention], content: Content) -> list[str]:
    """Return which lines that were asked for are not shown, because the whole file was too, and had to be cut."""
    if not content.truncated or content.lines is not None or content.kind != "file":
        return []
    shown = content.text.count("\n")
    asked = merge_ranges(mention.lines for mention in mentions if mention.lines is not None)
    return _bounded(f"`{naming.format_range(lines)}` is not shown: the file is cut in front of it" for lines in asked if (lines[1] or shown + 1) > shown)


def _bounded(notes: Iterable[str]) -> list[str]:
    """Return *notes* once each, and not more than anybody reads."""
    once = list(dict.fromkeys(notes))
    more = len(once) - NOTES
    return once if more <= 0 else [*once[:NOTES], f"{more} more of this kind"]


def _notes(target: Target, mentions: Sequence[Mention], content: Content) -> list[str]:
    """Return what was understood otherwise than it was typed."""
    notes = []
    if target.link_target is not None:
        notes.append(f"a link to {naming.printable(target.link_target)}")
    for mention in mentions:
        if mention.fragment:
            notes.append(f"`{naming.label(mention.fragment)}` was not resolved; the whole file is shown")
        if mention.lines is not None:
            notes += _range_notes(mention.lines, content)
    return notes


def _range_notes(lines: Range, content: Content) -> list[str]:
    typed = naming.format_range(lines)
    first, last = lines
    if content.kind != "file":
        return [f"`{typed}` means nothing here: no lines"]
    if first == 0 or last == 0:
        return [f"`{typed}`: lines are counted from 1"]
    if last is not None and last < first:
        return [f"`{typed}` was read as `{naming.format_range(straighten(lines))}`"]
    if last is not None and content.total_lines is not None and last > content.total_lines:
        return [f"`{typed}` ends behind the last line, which is {content.total_lines}"]
    return []


def _replacement(mention: Mention, content: Content) -> str:
    """Return the plain path that takes the place of a token, with the lines that it named."""
    plain = naming.plain_form(mention.name)
    typed = mention.ref.upto(mention.end)
    if content.kind == "directory":
        return plain + "/" if typed.endswith(("/", "\\")) and mention.name != "." and not plain.startswith('"') else plain
    if mention.lines is None or content.kind == "media":
        return plain
    first, last = straighten(mention.lines)
    if content.total_lines is not None and first > content.total_lines:
        # Beside the whole file: the range names nothing in it.
        return plain
    if content.total_lines is not None:
        last = content.total_lines if last is None else min(last, content.total_lines)
    if last is None:
        return f"{plain}:{first}-"
    # Whoever wrote one line as a range (`:7-7`) meant a range.
    is_range = typed.rstrip("0123456789").removesuffix("L").endswith(("-", "–"))
    return f"{plain}:{first}-{last}" if is_range else f"{plain}:{first}"
