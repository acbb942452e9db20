r"""
The bytes of a `.gitignore` file -> rules, and which of them decides about a path.

A line is read as git reads it, byte by byte; pathspec then finds the last one that matches.  pathspec's own
reading of a line is not used: it differs from git's in brackets (`[[:digit:]]`, `[!/]`, `[\]]`, `[z-a]`), in
`dir/**/`, in tabs at the end, in names with line feeds, and one line of it (`*a*a*a*a*b`) takes minutes on one name.

Here no line backtracks: what stands between two stars is looked for once, leftmost, which is as good as anywhere
else, because it has a fixed length in characters (between `*`) or in folders (between `**/`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from filerefs.limits import KIB, MIB
from filerefs.naming import label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pathspec import PathSpec
    from pathspec.pattern import RegexPattern

__all__ = ["MOST_BYTES", "Problem", "Rule", "Rules", "bytewise", "read_rules"]

# What one hostile file may cost: to read, to compile, to compare.  The longest in use have some hundred lines of 20 bytes.
MOST_BYTES = MIB
_MOST_LINES = 10_000
_MOST_RULE_BYTES = 32 * KIB
_LONGEST_RULE = 4 * KIB
_LONGEST_GLOB = 256


@dataclass(frozen=True, slots=True)
class Rule:
    """
    A line of a `.gitignore` file; as text it is what follows "ignored by": the pattern, the file and the line.

    Attributes:
        pattern: As written, without line end and blanks behind it; bytes that are no UTF-8 are lone surrogates.
        source: The file, relative to the root.
        line: Counted from 1.
    """

    pattern: str
    source: str
    line: int

    def __str__(self) -> str:
        return f"`{label(self.pattern)}` from `{label(self.source)}:{self.line}`"


@dataclass(frozen=True, slots=True)
class Problem:
    """A line, or with `line` 0 a file or the rest of one, that is not applied; `detail` says why in a few words."""

    source: str
    line: int
    detail: str


@dataclass(frozen=True, slots=True)
class _Glob:
    """A rule that can match: for whole paths or for the last part, for folders only (`dir/`), or negated (`!`)."""

    rule: Rule
    expression: str
    anchored: bool
    folders_only: bool
    negated: bool


class Rules:
    """
    The rules of the `.gitignore` file in *folder*; "" is the root.

    Attributes:
        problems: What of the file is not applied.
        weight: What a byte of a path costs at most to compare, in steps of about a nanosecond; 0 without rules.
    """

    __slots__ = ("_anything", "_base", "_folders", "problems", "weight")

    def __init__(self, folder: str, globs: Sequence[_Glob], problems: Sequence[Problem]) -> None:
        self._base = len(bytewise(folder)) + 1 if folder else 0
        # Two lists, and no mark behind the names of folders: `dir/**` would match the mark.
        self._folders = _Specification(globs)
        self._anything = _Specification([glob for glob in globs if not glob.folders_only])
        self.problems = tuple(problems)
        self.weight = sum(8 + len(bytewise(glob.rule.pattern)) for glob in globs)

    def decide(self, path: str, *, is_folder: bool) -> tuple[Rule, bool] | None:
        """Return the last rule that matches *path* (`bytewise`, below the root), and whether it ignores; None without one."""
        return (self._folders if is_folder else self._anything).decide(path[self._base :])


class _Specification:
    """
    Rules in the order of their lines.

    Most names match none of them: one expression made of all says so, several times as fast as one by one, and
    pathspec is not even loaded before a name does match.
    """

    __slots__ = ("_any", "_each", "_globs")

    def __init__(self, globs: Sequence[_Glob]) -> None:
        self._globs = globs
        self._any = _compile(globs)
        self._each: PathSpec[RegexPattern] | None = None

    def decide(self, path: str) -> tuple[Rule, bool] | None:
        if self._any.match(path) is None:
            return None
        if self._each is None:
            self._each = _specify(self._globs)
        index = self._each.check_file(path).index
        return None if index is None else (self._globs[index].rule, not self._globs[index].negated)


def _specify(globs: Iterable[_Glob]) -> PathSpec[RegexPattern]:
    from pathspec import PathSpec
    from pathspec.pattern import RegexPattern

    # "simple" by name: by default another engine is taken where one is installed, with expressions of its own.
    return PathSpec([RegexPattern(_compile((glob,)), not glob.negated) for glob in globs], backend="simple")


def _compile(globs: Sequence[_Glob]) -> re.Pattern[str]:
    """Return the expression for the paths that at least one of *globs* matches."""
    anywhere = "|".join(glob.expression for glob in globs if not glob.anchored) or _NOTHING
    anchored = "|".join(glob.expression for glob in globs if glob.anchored) or _NOTHING
    return re.compile(rf"\A(?:(?>(?:.*/)?)(?:{anywhere})|{anchored})\Z", re.DOTALL)


def bytewise(text: str) -> str:
    """Return *text* with a character for each of its bytes on disk: to git `?` is a byte, and so is `[é]` two of them."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


def read_rules(content: bytes, folder: str) -> Rules:
    """
    Read a `.gitignore` file that stands in *folder* ("" is the root).

    Never raises.  What is behind 1 MiB, 10,000 lines or 32 KiB of rules is a problem, and so is a rule longer than
    4,096 bytes, or 256 with wildcards.
    """
    source = f"{folder}/.gitignore" if folder else ".gitignore"
    globs: list[_Glob] = []
    problems: list[Problem] = []
    spent = 0
    for number, line in _read_lines(content):
        spent += len(line)
        if number > _MOST_LINES or spent > _MOST_RULE_BYTES:
            problems.append(Problem(source, 0, f"too many rules: line {number} and those behind it are not applied"))
            break
        rule = Rule(line.encode("latin-1").decode("utf-8", "surrogateescape"), source, number)
        if len(line) > (_LONGEST_GLOB if _SPECIAL.search(line) else _LONGEST_RULE):
            problems.append(Problem(source, number, "the rule is too long"))
        elif glob := _read_rule(line, rule):
            globs.append(glob)
    if len(content) > MOST_BYTES:
        problems.append(Problem(source, 0, "the file is too large: what is behind its first MiB is not applied"))
    return Rules(folder, globs, problems)


def _read_lines(content: bytes) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold a rule, numbered, without line ends and blanks before them; behind the last one the rest."""
    text = content[:MOST_BYTES].removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    if len(content) > MOST_BYTES:
        # Half a rule would be another rule.
        text = text[: text.rfind("\n") + 1]
    # Not splitlines(), for which a form feed ends a line.
    for number, line in enumerate(text.split("\n", _MOST_LINES), 1):
        if number <= _MOST_LINES and line.startswith("#"):
            continue
        if rule := _trim(line.removesuffix("\r").partition("\0")[0]):
            yield number, rule


def _trim(line: str) -> str:
    """Take off the blanks at the end, but one that a backslash stands before; tabs stay, as in git."""
    trimmed = line.rstrip(" ")
    backslashes = len(trimmed) - len(trimmed.rstrip("\\"))
    return line[: len(trimmed) + 1] if backslashes % 2 else trimmed


def _read_rule(line: str, rule: Rule) -> _Glob | None:
    """Read one rule; None for one that never matches anything, which is no problem: in git it is the same."""
    negated = line[0] == "!"
    body = line[negated:]
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    anchored = "/" in body
    pieces = _read_pieces(body.removeprefix("/"), anchored=anchored)
    if not pieces:
        return None
    return _Glob(rule, _assemble(pieces), anchored, folders_only, negated)


_SPECIAL = re.compile(r"[*?\[\\]")
_TOKEN = re.compile(r"(?P<text>[^*?\[\\/]+)|(?P<slash>/)|(?P<stars>\*+)|(?P<any>\?)|\\(?P<escaped>.)|(?P<bracket>\[[!^]?)", re.DOTALL)
_NOTHING = "(?!)"
_STAR = "*"
_SLASH = "/"
_GAPS = {"**/": "(?:.*?/)??", "**": ".*?"}


def _read_pieces(body: str, *, anchored: bool) -> list[str] | None:
    """Return what a pattern is made of: stars, slashes, `**`, `**/`, and expressions for fixed numbers of bytes."""
    pieces: list[str] = []
    special = _SPECIAL.search(body)
    # git compares the beginning without wildcards first and forgets it: `a**/b` is `a` and then `**/b`.
    opening = special.start() if special else -1
    position = 0
    while position < len(body):
        token = _TOKEN.match(body, position)
        if token is None:  # a backslash with nothing behind it
            return None
        start, position = token.span()
        if token["bracket"]:
            piece, position = _read_bracket(body, position, negated=len(token["bracket"]) > 1)
        elif token["stars"]:
            piece = _read_stars(body, start, position, opening) if anchored else _STAR
            position += piece == "**/"
        else:
            piece = "[^/]" if token["any"] else re.escape(token["escaped"] or token[0])
        if not piece:
            return None
        pieces.append(piece)
    return pieces


def _read_stars(body: str, start: int, end: int, opening: int) -> str:
    """Return what the stars from *start* to *end* mean: two or more that stand where a name begins, and alone, are folders."""
    if end - start < 2 or (start != opening and body[start - 1] != _SLASH):
        return _STAR
    if body.startswith(_SLASH, end):
        return "**/"
    # Before an escaped slash they mean at least one folder; git takes `**\/a` so.
    return "**" if end == len(body) or body.startswith("\\/", end) else _STAR


_MEMBER = re.compile(r"\[:(?P<named>[^\]]*):\]|(?:\\(?P<escaped>.)|(?P<first>.))(?:-(?:\\(?P<escaped_last>.)|(?P<last>[^\]\\])))?", re.DOTALL)
# Without the slash, which no bracket matches.
_NAMED = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x2e\x30-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x2e\x30-\x7e",
    "punct": r"\x21-\x2e\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r" \t\n\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


def _read_bracket(body: str, position: int, *, negated: bool) -> tuple[str, int]:
    """Read a bracket from behind its opening; "" if it is not closed, names an unknown class, or matches no byte."""
    members = ""
    start = position
    while position == start or body[position : position + 1] != "]":
        token = _MEMBER.match(body, position)
        if token is None:
            return "", position
        position = token.end()
        if token["named"] is not None:
            if token["named"] not in _NAMED:
                return "", position
            members += _NAMED[token["named"]]
            continue
        first, last = token["escaped"] or token["first"], token["escaped_last"] or token["last"]
        members += _write_range(ord(first), ord(first))
        if last:  # in git `[z-a]` is a `z`: the first sign counts before the range does
            members += _write_range(ord(first), ord(last))
    if negated:
        return f"[^/{members}]", position + 1
    return f"[{members}]" if members else "", position + 1


def _write_range(first: int, last: int) -> str:
    """Return a range of bytes for a bracket, without the slash, which git never lets one match."""
    slash = ord(_SLASH)
    if first <= slash <= last:
        return _write_range(first, slash - 1) + _write_range(slash + 1, last)
    return rf"\x{first:02x}-\x{last:02x}" if first <= last else ""


def _assemble(pieces: Iterable[str]) -> str:
    """Join *pieces*; what stands before a `**` is matched leftmost and never again."""
    expression = gap = ""
    folders = [[""]]
    for piece in pieces:
        if piece in _GAPS:
            expression += f"(?>{gap}{_join_folders(folders)})"
            gap, folders = _GAPS[piece], [[""]]
        elif piece == _SLASH:
            folders.append([""])
        elif piece == _STAR:
            folders[-1].append("")
        else:
            folders[-1][-1] += piece
    return expression + gap + _join_folders(folders)


def _join_folders(folders: Iterable[Sequence[str]]) -> str:
    """Join names, each of them given as what stands between its stars."""
    return _SLASH.join(_join_chunks(*chunks) for chunks in folders)


def _join_chunks(first: str, *chunks: str) -> str:
    if not chunks:
        return first
    *between, last = chunks
    return first + "".join(f"(?>[^/]*?{chunk})" for chunk in between if chunk) + "[^/]*" + last
