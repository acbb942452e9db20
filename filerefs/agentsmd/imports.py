"""`@path` in instruction files: what it names is put behind the file that names it, or in its place."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from filerefs import mentions, naming, upward
from filerefs.agentsmd.budgets import Ledgers, fit, lowest
from filerefs.agentsmd.documents import Base, Omission, Problem, Source
from filerefs.agentsmd.loose_ends import close_fence, hide_openings
from filerefs.agentsmd.masking import mask
from filerefs.agentsmd.profiles import DEFAULT
from filerefs.agentsmd.reading import read_text
from filerefs.agentsmd.reports import Candidate, Report, unique
from filerefs.agentsmd.roots import FolderView, Roots
from filerefs.errors import OptionError
from filerefs.limits import count_lines, utf8_length
from filerefs.resolving import Hit, Lookup, looks_like_path, resolve
from filerefs.root import Trouble
from filerefs.troubles import no_such_lines

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from filerefs.agentsmd.budgets import Ledger
    from filerefs.agentsmd.documents import Discovery, Doc
    from filerefs.agentsmd.places import PathLike
    from filerefs.agentsmd.profiles import Profile
    from filerefs.mentions import Range, Ref
    from filerefs.rootlike import NodeLike

Placement: TypeAlias = Literal["after", "inline"]
Identity: TypeAlias = "tuple[Hashable, ...]"

IMPORTS: Final = 1000
"""How many files one expansion imports at most, whatever the budget: small ones cost time as well."""

# Each level takes some of the interpreter's stack, which is the host's as well.
_DEEPEST: Final = 100
# So many found files a lookup leaves open for whoever asked; more it would open a second time.
_BATCH: Final = 32
# So many of the imports behind a cut are named.
_NAMED: Final = 5


def expand_imports(found: Discovery, depth: int = 5, *, placement: Placement = "after", home: PathLike | None = None) -> Discovery:
    """
    Return *found* with the files that its documents name by `@path`, each once.

    A path is relative to the folder of the file that holds it, and is read as in a message: the same grammar, the
    same confinement to the root.  In fenced blocks, indented code, code spans, HTML comments and links nothing is an
    import.  What cannot be imported stays as it stands and is in `problems`, with the chain of files that led there.
    The budget goes on from where discovery left it.  Blank files are left out.

    Args:
        found: What `discover` returned; the rules are those of its profile.
        depth: How many files may lie between an import and the document that leads to it, itself included; 0 imports
            nothing.  More than 100 counts as 100.
        placement: "after": a document of its own, behind the one that names it and what that names before.
            "inline": its text takes the place of the token; a token whose file is elsewhere already becomes "(see NAME)".
        home: The home folder, for profiles that allow `@~/path`; None for that of the process.

    Raises:
        OptionError: If *depth* is negative or *placement* is neither of the two.

    .. versionadded:: 0.1
    """
    check_options(depth, placement)
    rules = found.profile or DEFAULT
    with Roots() as roots:
        expansion = _Expansion(found, rules, roots, min(depth, _DEEPEST), _home_base(rules, home))
        return expansion.run(placement)


def check_options(depth: int, placement: Placement) -> None:
    """
    Do nothing if `expand_imports` takes *depth* and *placement*.

    Raises:
        OptionError: If it does not.
    """
    if depth < 0:
        raise OptionError("depth", depth, "a number of at least 0")
    if placement not in get_args(Placement):
        raise OptionError("placement", placement, '"after" or "inline"')


def _home_base(rules: Profile, home: PathLike | None) -> Base | None:
    if not rules.home_imports:
        return None
    folder = upward.home_folder() if home is None else os.path.realpath(os.fspath(home))
    return Base(folder, "~/") if folder else None


@dataclass(slots=True, eq=False)
class _Tree:
    """
    A document and what it names.

    Attributes:
        doc: The document.
        ledger: What it and what it names are charged to.
        chain: The names of the documents that led here, its own last.
        identities: Theirs.
        parts: Where each import stands in its text, and its tree, or the name of a document that is elsewhere.
    """

    doc: Doc
    ledger: Ledger
    chain: tuple[str, ...]
    identities: tuple[Identity | None, ...]
    parts: list[tuple[int, int, _Tree | str]] = field(default_factory=list)

    def documents(self) -> Iterator[Doc]:
        """Yield the document, and depth first what it names."""
        yield self.doc
        for _, _, part in self.parts:
            if isinstance(part, _Tree):
                yield from part.documents()

    def text(self) -> str:
        """Return the text with each import in place of the token that names it."""
        pieces: list[str] = []
        position = 0
        for start, end, part in self.parts:
            body = f"(see {naming.label(part)})" if isinstance(part, str) else close_fence(hide_openings(part.text())).rstrip("\r\n")
            pieces += (self.doc.text[position:start], body)
            position = end
        return "".join(pieces) + self.doc.text[position:]


class _Expansion:
    """One expansion: what was imported, and what is left of the budget."""

    def __init__(self, found: Discovery, rules: Profile, roots: Roots, depth: int, home: Base | None) -> None:
        self._found = found
        self._rules = rules
        self._roots = roots
        self._depth = depth
        self._home = home
        self._ledgers = Ledgers(rules)
        self._seen = {doc.identity: doc.name for doc in found.docs if doc.identity}
        self._taken = {doc.name for doc in found.docs}
        self._report = Report()
        self._count = 0

    def run(self, placement: Placement) -> Discovery:
        """Return the discovery with all imports where *placement* says."""
        trees = self._expand_units() if self._rules.overflow == "unit" else self._expand_all()
        for tree in trees:
            self._report.docs += [_inlined(tree)] if placement == "inline" else tree.documents()
        found, report = self._found, self._report
        return replace(
            found,
            docs=tuple(report.docs),
            omitted=(*found.omitted, *report.omitted),
            problems=(*found.problems, *report.problems),
            warnings=(*found.warnings, *report.warnings),
            looked_up=tuple(dict.fromkeys((*found.looked_up, *self._roots.looked_up))),
        )

    def _expand_all(self) -> list[_Tree]:
        """Expand the documents in the order in which the budget is spent, when it was charged with all of them."""
        trees = [self._tree(doc) for doc in self._found.docs]
        for tree in trees:
            tree.ledger.spend(tree.doc.shown)
        for tree in trees if self._rules.spend == "farthest" else reversed(trees):
            self._expand(tree)
        return trees

    def _expand_units(self) -> list[_Tree]:
        """Expand the documents one by one, each charged with what it imports, until the budget is overdrawn."""
        trees: list[_Tree] = []
        for doc in self._found.docs:
            tree = self._tree(doc)
            if not tree.ledger.is_overdrawn:
                tree.ledger.spend(doc.shown)
                self._expand(tree)
            if tree.ledger.is_overdrawn and trees:
                self._report.leave(doc.name, doc.size, Omission.OVER_BUDGET, self._rules)
            else:
                trees.append(tree)
        return trees

    def _tree(self, doc: Doc) -> _Tree:
        return _Tree(doc, self._ledgers.of(doc.origin, doc.root), (doc.name,), (doc.identity,))

    def _expand(self, tree: _Tree) -> None:
        """Import what the document of *tree* names, and what that names."""
        doc = tree.doc
        source = _source_of(doc)
        if doc.base is None or not ("@" in source.text or "＠" in source.text):
            return
        # Of the whole file: what a cut tore is no name, and what it cut off still says what is a link or a comment.
        refs = mentions.scan(mask(source.text)).refs
        shown = [ref for ref in refs if source.start <= ref.start and ref.end <= source.end]
        if source.is_cut:
            self._warn_of_cut(doc, refs[len(shown) :])
        if not shown:
            return
        view = FolderView(self._roots, doc.base, posixpath.dirname(doc.file) or ".", home=self._home, absolute=self._rules.absolute_imports)
        for start in range(0, len(shown), _BATCH):
            batch = shown[start : start + _BATCH]
            with Lookup(view) as lookup:
                # One more is given than is asked for: a name with blanks ends where the next mention begins.
                for ref, resolution in zip(batch, resolve(shown[start : start + _BATCH + 1], lookup, lenient=True), strict=False):
                    if resolution is None or resolution.end > source.end:
                        continue
                    if isinstance(resolution, Hit):
                        self._follow(tree, ref, resolution, view, source.start)
                    else:
                        self._refuse(tree, ref.upto(resolution.end), resolution.trouble.detail)

    def _warn_of_cut(self, doc: Doc, refs: Sequence[Ref]) -> None:
        names = [naming.printable(ref.token) for ref in refs if looks_like_path(ref.path)]
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            self._report.warn(doc.name, f"was cut, so that what it names behind the cut is not imported: {', '.join(names[:_NAMED])}{more}")

    def _refuse(self, tree: _Tree, token: str, detail: str, *chain: str) -> None:
        """Take note that *token* is not imported; *chain* are names behind that of the document which holds it."""
        self._report.problems.append(Problem(name=token, detail=detail, chain=(*tree.chain, *chain)))

    def _follow(self, tree: _Tree, ref: Ref, hit: Hit, view: FolderView, start: int) -> None:
        token = ref.upto(hit.end)
        node = view.take(hit.target)
        if isinstance(node, Trouble):
            self._refuse(tree, token, node.detail)
            return
        with node:
            part = self._import(tree, token, hit, node, view.base_of(hit.target))
        if part is not None:
            tree.parts.append((ref.start - start, hit.end - start, part))
        if isinstance(part, _Tree):
            self._expand(part)

    def _import(self, tree: _Tree, token: str, hit: Hit, node: NodeLike, base: Base) -> _Tree | str | None:
        """Return what stands for *token*: the tree of the file that it names, the name of one that is elsewhere, or nothing."""
        identity = node.identity
        if node.kind == "directory":
            self._refuse(tree, token, "a folder, which is not imported")
        elif identity is not None and identity in tree.identities:
            self._refuse(tree, token, "imported in a circle", tree.chain[tree.identities.index(identity)])
        elif identity is not None and identity in self._seen:
            return self._seen[identity]
        elif len(tree.chain) > self._depth:
            self._refuse(tree, token, f"not imported: it would be {len(tree.chain)} levels deep, and {self._depth} are allowed")
        elif self._count >= IMPORTS:
            self._refuse(tree, token, f"not imported: {IMPORTS} files are imported at most")
        else:
            return self._read(tree, token, hit, node, base)
        return None

    def _read(self, tree: _Tree, token: str, hit: Hit, node: NodeLike, base: Base) -> _Tree | None:
        """Read a file as far as the budget goes."""
        rules = self._rules
        name = self._called(tree.doc, hit, node, base)
        room = tree.ledger.room
        if 0 in (rules.file_bytes, tree.ledger.total):
            self._report.omit(name, node.size, Omission.OFF)
            return None
        if room == 0:
            self._report.leave(name, node.size, Omission.OVER_BUDGET, rules)
            return None
        read = read_text(node, lowest(rules.file_bytes, room), undecodable=rules.undecodable)
        if isinstance(read, Trouble):
            self._refuse(tree, token, read.detail)
            return None
        start, body = _slice(read.text, hit.lines) if hit.lines else (None, read.text.strip() if rules.trim == "all" else read.text)
        if start == len(read.text) and read.complete:
            self._refuse(tree, token, no_such_lines(count_lines(read.text)).detail)
            return None
        if not body.strip() and read.complete:
            self._report.omit(name, read.size, Omission.BLANK)
            return None
        if hit.fragment:
            self._report.warn(name, f"is imported as a whole: `{naming.label(hit.fragment)}` was not resolved")
        return self._add(tree, Candidate(name, node, base, read, body, start))

    def _add(self, tree: _Tree, candidate: Candidate) -> _Tree | None:
        fitted = fit(candidate.body, candidate.read, tree.ledger, self._rules)
        if isinstance(fitted, Omission):
            self._report.leave(candidate.name, candidate.read.size, fitted, self._rules)
            return None
        name = unique(candidate.name, self._taken)
        self._count += 1
        identity = candidate.node.identity
        if identity:
            self._seen[identity] = name
        self._report.tell(name, candidate.read, fitted)
        host = tree.doc
        doc = candidate.document(fitted, name=name, scope=host.scope, root=host.root, origin="import", imported_by=tree.chain)
        return _Tree(doc, tree.ledger, (*tree.chain, name), (*tree.identities, identity))

    def _called(self, host: Doc, hit: Hit, node: NodeLike, base: Base) -> str:
        file = node.target if self._rules.link_names == "target" and node.target else node.name
        label = f"{host.root}:" if host.root else ""
        return f"{label}{base.prefix}{file}{naming.format_range(hit.lines)}"


def _inlined(tree: _Tree) -> Doc:
    if not tree.parts:
        return tree.doc
    text = tree.text()
    return replace(tree.doc, text=text, shown=utf8_length(text), source=None)


def _source_of(doc: Doc) -> Source:
    """Return what the text of *doc* is a part of: itself, if nothing else is known or it was changed since."""
    source = doc.source
    if source is not None and doc.text.startswith(source.text[source.start : source.end]):
        return source
    return Source(doc.text, 0, len(doc.text), is_cut=False)


def _slice(text: str, lines: Range) -> tuple[int, str]:
    """Return where the *lines* of *text* start, counted from 1, in whichever order they are given, and them; None as the last is the end."""
    first, last = lines
    if last is not None:
        first, last = min(first, last), max(first, last)
    # As in a message, only a line feed ends a line.
    pieces = [f"{line}\n" for line in text.split("\n")]
    start = sum(map(len, pieces[: max(first, 1) - 1]))
    body = "".join(pieces[max(first, 1) - 1 : last])
    return min(start, len(text)), body[: max(0, len(text) - start)]
