"""[Ref] + Root + Limits -> [Attached | Refused]: one outcome per file, within the budget, in order of first mention."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from filerefs import contents, kinds, naming
from filerefs.advice import hint_for
from filerefs.limits import Budget, Limits
from filerefs.memory import Memory
from filerefs.outcomes import Attached, Outcome, Reason, Refused
from filerefs.mentions import Scan
from filerefs.resolving import Hit, Lookup, looks_like_path, resolve, resolve_one
from filerefs.root import Root, Trouble
from filerefs.walk import Ignore

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Sequence

    from filerefs.contents import Content
    from filerefs.mentions import Range, Ref
    from filerefs.resolving import Miss, Target
    from filerefs.memory import Recollection
    from filerefs.root import Node, SymlinkPolicy

def load(
    refs: Iterable[Ref],
    root: str | os.PathLike[str] | Root = ".",
    *,
    limits: Limits | None = None,
    symlinks: SymlinkPolicy = "refuse",
    allow: Collection[str] = (),
    lenient: bool = True,
) -> list[Outcome]:
    """
    Return what became of *refs*, in order of first mention: one outcome for each file, however often it is named.

    References that name nothing and do not look like paths have no outcome.  Trouble with a reference is a
    `Refused`, never an exception.

    Args:
        refs: What `parse` returned, in its order.
        root: The folder that all names are relative to, or a `Root` that stays open; then *symlinks* and *allow*
            are the root's own.
        limits: Sizes and numbers; the defaults of `Limits` when None.
        symlinks: "refuse" every symbolic link, or follow those that stay "inside" the root.
        allow: Names that are opened although they look like those of secrets.
        lenient: Whether unquoted names with blanks are tried.

    Raises:
        RootNotFoundError: If *root* is no directory.
        RootClosedError: If *root* was closed.
        OptionError: If an option has a value that it does not take.

    .. versionadded:: 0.1
    """
    limits = limits or Limits()
    if isinstance(root, Root):
        return load_all(Scan(list(refs), []), root, limits, lenient=lenient).outcomes
    with Root(root, symlinks=symlinks, allow=allow) as opened:
        return load_all(Scan(list(refs), []), opened, limits, lenient=lenient).outcomes


class Loaded(NamedTuple):
    """The outcomes, the references that are plain text, those in code that name a file, and whether lookups ran out."""

    outcomes: list[Outcome]
    plain: list[Ref]
    in_code: list[Ref]
    spent: bool


class _Mention(NamedTuple):
    ref: Ref
    end: int
    lines: Range | None = None
    fragment: str = ""
    name: str = ""

    @property
    def span(self) -> tuple[int, int]:
        return self.ref.start, self.end


@dataclass(slots=True, eq=False)
class _Group:
    """All mentions of one file or folder."""

    target: Target
    mentions: list[_Mention] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Refusal:
    """All mentions of one name that were refused for one reason."""

    path: str
    reason: Reason
    detail: str
    mentions: list[_Mention] = field(default_factory=list)


def load_all(scan: Scan, root: Root, limits: Limits, *, lenient: bool, recollection: Recollection | None = None) -> Loaded:
    """Do what `load` does, and tell what a turn needs besides."""
    plain: list[Ref] = []
    outcomes: list[Outcome] = []
    with Lookup(root) as lookup:
        sorter = _Sorter(limits.refs)
        for ref, resolution in zip(scan.refs, resolve(scan.refs, lookup, lenient=lenient), strict=True):
            if resolution is None:
                plain.append(ref)
            else:
                sorter.add(ref, resolution)
        loader = _Loader(lookup, limits, recollection or Memory().turn())
        for entry in sorter.entries:
            outcomes += loader.attach(entry) if isinstance(entry, _Group) else [loader.refuse(entry)]
        in_code = [ref for ref in scan.in_code if _is_path_shaped(ref) and isinstance(resolve_one(ref, lookup), Hit)]
    outcomes.sort(key=lambda outcome: outcome.spans[0])
    return Loaded(outcomes, plain, in_code, lookup.spent)


def _is_path_shaped(ref: Ref) -> bool:
    return "/" in ref.path or looks_like_path(ref.path)


class _Sorter:
    """Brings the mentions of one file together, and those that were refused alike, in order of first mention."""

    def __init__(self, limit: int | None) -> None:
        self.entries: list[_Group | _Refusal] = []
        self._limit = limit
        self._groups: dict[object, _Group] = {}
        self._refusals: dict[tuple[str, Reason], _Refusal] = {}
        self._rest: _Refusal | None = None

    def add(self, ref: Ref, resolution: Hit | Miss) -> None:
        if isinstance(resolution, Hit):
            self._add_hit(ref, resolution)
        elif resolution.trouble.reason is Reason.TOO_MANY:
            self._leave(_Mention(ref, resolution.end), resolution.path, resolution.trouble.detail)
        else:
            self._add_miss(ref, resolution)

    def _add_hit(self, ref: Ref, hit: Hit) -> None:
        target = hit.target
        mention = _Mention(ref, hit.end, hit.lines, hit.fragment, target.name)
        key = target.identity or target.name
        group = self._groups.get(key)
        if group is None and self._is_full():
            self._leave(mention, target.name)
            return
        if group is None:
            group = self._groups[key] = _Group(target)
            self.entries.append(group)
        group.mentions.append(mention)

    def _add_miss(self, ref: Ref, miss: Miss) -> None:
        mention = _Mention(ref, miss.end)
        path = _tidy(miss.path)
        key = (path, miss.trouble.reason)
        refusal = self._refusals.get(key)
        if refusal is None and self._is_full():
            self._leave(mention, path)
            return
        if refusal is None:
            refusal = self._refusals[key] = _Refusal(path, miss.trouble.reason, miss.trouble.detail)
            self.entries.append(refusal)
        refusal.mentions.append(mention)

    def _is_full(self) -> bool:
        return self._limit is not None and len(self.entries) - (self._rest is not None) >= self._limit

    def _leave(self, mention: _Mention, path: str, detail: str = "") -> None:
        """Put a mention that is one too many to the others of its kind: all of them are one outcome."""
        if self._rest is None:
            self._rest = _Refusal(path, Reason.TOO_MANY, detail or f"more than {self._limit} references in one message")
            self.entries.append(self._rest)
        self._rest.mentions.append(mention)


def _tidy(path: str) -> str:
    """Return *path* without what means nothing in it, so that two spellings of one miss are one outcome."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(parts) or path


class _Loader:
    """Reads what was found, first named, first served."""

    def __init__(self, lookup: Lookup, limits: Limits, recollection: Recollection) -> None:
        self._lookup = lookup
        self._limits = limits
        self._budget = Budget(limits.total_bytes)
        self._recollection = recollection
        self._ignore = Ignore(lookup.root)

    def refuse(self, refusal: _Refusal) -> Refused:
        mentions = refusal.mentions
        hint = hint_for(refusal.path, refusal.reason, self._lookup)
        return Refused(
            path=refusal.path,
            refs=tuple(mention.ref for mention in mentions),
            spans=tuple(mention.span for mention in mentions),
            reason=refusal.reason,
            detail=refusal.detail,
            hint=hint,
        )

    def attach(self, group: _Group) -> list[Outcome]:
        """Return the outcome of a group, and one more for mentions of lines that do not exist."""
        target = group.target
        if self._budget.exhausted:
            return [self._over_budget(group.mentions, target.name)]
        content = self._read(group)
        if isinstance(content, Trouble):
            return [self._refused(group.mentions, target.name, content)]
        shown, missing = _divide(group.mentions, content)
        outcomes: list[Outcome] = []
        if missing:
            lines = "line" if content.total_lines == 1 else "lines"
            detail = f"the file has {content.total_lines or 'no'} {lines}"
            outcomes.append(self._refused(missing, target.name, Trouble(Reason.BAD_RANGE, detail)))
        if shown and not self._budget.take(content.shown):
            return [*outcomes, self._over_budget(shown, target.name)]
        return [*outcomes, _attached(target, shown, content)] if shown else outcomes

    def _read(self, group: _Group) -> Content | Trouble:
        node = self._lookup.open(group.target)
        if isinstance(node, Trouble):
            return node
        with node:
            if node.kind == "directory":
                return contents.list_folder(node, self._limits.directory_entries, self._ignore)
            cap = self._limits.file_bytes
            if any(mention.lines is None for mention in group.mentions):
                return self._recollection.read(node, cap)
            ranges = merge_ranges([mention.lines for mention in group.mentions if mention.lines is not None])
            return contents.read_lines(node, ranges, cap)

    def _refused(self, mentions: Sequence[_Mention], path: str, trouble: Trouble) -> Refused:
        return self.refuse(_Refusal(path, trouble.reason, trouble.detail, list(mentions)))

    def _over_budget(self, mentions: Sequence[_Mention], path: str) -> Refused:
        total = naming.human_size(self._limits.total_bytes or 0)
        return self._refused(mentions, path, Trouble(Reason.BUDGET, f"the total of {total} for one message is used up"))


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


def _divide(mentions: Sequence[_Mention], content: Content) -> tuple[list[_Mention], list[_Mention]]:
    """Return the mentions that *content* shows something of, and those whose lines all lie behind the end."""
    if content.total_lines is None or content.lines is None:
        return list(mentions), []
    total = content.total_lines
    missing = [mention for mention in mentions if mention.lines is not None and straighten(mention.lines)[0] > total]
    return [mention for mention in mentions if mention not in missing], missing


def _attached(target: Target, mentions: Sequence[_Mention], content: Content) -> Attached:
    names = dict.fromkeys(mention.name for mention in mentions if mention.name != target.name)
    notes = [*content.notes, *_notes(target, mentions, content)]
    notes += [f"{naming.printable(name)} is the same file" for name in names]
    return Attached(
        path=target.name,
        refs=tuple(mention.ref for mention in mentions),
        spans=tuple(mention.span for mention in mentions),
        replacements=tuple(_replacement(mention, content) for mention in mentions),
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
        names=tuple(names),
        notes=tuple(dict.fromkeys(notes)),
        cautions=content.cautions,
    )


def _notes(target: Target, mentions: Sequence[_Mention], content: Content) -> list[str]:
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


def _replacement(mention: _Mention, content: Content) -> str:
    """Return the plain path that takes the place of a token, with the lines that it named."""
    plain = naming.plain_form(mention.name)
    typed = mention.ref.upto(mention.end)
    if content.kind == "directory":
        return plain + "/" if typed.endswith("/") and mention.name != "." and not plain.startswith('"') else plain
    if mention.lines is None or content.kind == "media":
        return plain
    first, last = straighten(mention.lines)
    if content.total_lines is not None:
        first = min(first, max(content.total_lines, 1))
        last = content.total_lines if last is None else min(last, content.total_lines)
    if last is None:
        return f"{plain}:{first}-"
    # Whoever wrote one line as a range (`:7-7`) meant a range.
    is_range = typed.rstrip("0123456789").removesuffix("L").endswith(("-", "–"))
    return f"{plain}:{first}-{last}" if is_range else f"{plain}:{first}"
