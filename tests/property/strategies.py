"""Makers of outcomes, and texts built from fragments that bite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from filerefs import markers
from filerefs.mentions import Ref
from filerefs.naming import format_ref
from filerefs.outcomes import Attached, Reason, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from filerefs.outcomes import Outcome


def reference(path: str, message: str | None = None, start: int = 0) -> Ref:
    """Return the bare reference to *path* in *message*, by default the message that is nothing but it."""
    end = start + 1 + len(path)
    return Ref("@" + path, start, end, path, message="@" + path if message is None else message)


def attached(path: str, text: str = "", **more: Any) -> Attached:
    """Return what `load` makes of a file *path* that holds *text*; *more* takes the place of any field."""
    ref = reference(path)
    size = len(text.encode("utf-8", "surrogatepass"))
    usual = {"refs": (ref,), "spans": ((ref.start, ref.end),), "replacements": (path,), "kind": "file", "size": size, "shown": size}
    return Attached(path=path, text=text, **{**usual, **more})


def refused(path: str, detail: str = "no such file", **more: Any) -> Refused:
    """Return what `load` makes of a reference to *path* that comes to nothing."""
    ref = reference(path)
    usual = {"refs": (ref,), "spans": ((ref.start, ref.end),), "reason": Reason.NOT_FOUND}
    return Refused(path=path, detail=detail, **{**usual, **more})


class Outline(NamedTuple):
    """A section as CommonMark sees it: lines outside of fences, texts inside, and the fence that was left open."""

    outside: list[str]
    blocks: list[str]
    open_fence: str


def outline(section: str) -> Outline:
    """Read *section* line by line: a fence is closed by a run of its own character, at least as long, alone on its line."""
    outside: list[str] = []
    blocks: list[str] = []
    fence, inside = "", ""
    for line in section.split("\n"):
        run = re.match(r" {0,3}(`{3,}|~{3,})", line)
        rest = line[run.end() :] if run else ""
        if fence and run and run[1].startswith(fence) and not rest.strip():
            blocks.append(inside)
            fence = ""
        elif fence:
            inside += line + "\n"
        elif run and not (run[1][0] == "`" and "`" in rest):
            fence, inside = run[1], ""
        else:
            outside.append(line)
    return Outline(outside, blocks, fence)


SECTION = markers.wrap("a body\nof two lines", 0)
BEHIND = markers.wrap("a body that stood behind a prompt", 2)
END = SECTION.rpartition("\n")[2]

BITING = (
    *("", "a", "x = 1", " ", "\t", "\n", "\n\n", "\r\n", "\r", "\0", "\x1b[31m"),
    *("\u2028", "\x85", "\u202e", "\u200b", "\ufeff", "\ud800", "\udcff", "\u6587\u4ef6", "\U0001f600"),
    *("`", "```", "````", "\n```\n", "~~~", "\n   ~~~~\n", "`" * 33, "~" * 40, "\n" + "`" * 700 + "\n", "\n" + "~" * 700),
    *(markers.BEGIN, markers.BEGIN + "\n", "\n" + END, END, "<!-- filerefs:end v1 sep=2 chars=", "sha256=", "-->", END[:-1], END + " "),
    *(SECTION, BEHIND, "\n\n" + BEHIND, BEHIND.replace("\n", "\r\n"), BEHIND.replace("body", "BODY"), SECTION.replace("chars=", "chars=1")),
    *("# Heading\n", "### x\n", "\n### x\n", "_could not load: x_", "<!-- ", "[x](y)", "\\u{41}"),
)


def _inside(inner: str, separators: int) -> str:
    """Return *inner* in the middle of a section that verifies once *inner* is gone."""
    begin, _, end = markers.wrap("front\nback", separators).partition("back")
    return begin + inner + "back" + end


biting = st.lists(st.sampled_from(BITING), max_size=8).map("".join)
texts = st.one_of(biting, st.text(max_size=20), st.text(st.characters(categories=["Cs", "Cc", "Cf", "Lu"]), max_size=5))
nested = st.recursive(texts, lambda inner: st.builds(_inside, inner, st.sampled_from((0, 2))) | st.builds("{}{}".format, inner, inner), max_leaves=6)
prompts = st.one_of(texts, nested, st.builds("{}{}".format, nested, texts))


_paths = st.one_of(st.sampled_from(("a.py", "docs/b.md", "\u202egnp.exe", "a\nb", "`x`", "#", "<!-- x", "\U0001f600" * 220, "x" * 300)), texts.filter(bool))
_notes = st.lists(st.one_of(texts, st.just("\U0001f600" * 400)), max_size=4).map(tuple)


@st.composite
def _files(draw: st.DrawFn) -> Attached:
    text = draw(texts)
    more: dict[str, Any] = {"truncated": draw(st.booleans()), "total_lines": draw(st.sampled_from((None, 10**7)))}
    if draw(st.booleans()):
        step = draw(st.integers(2, 4))
        more["lines"] = tuple((first, first + step - 2) for first in range(1, 1 + step * draw(st.integers(1, 60)), step))
    return attached(draw(_paths), text, names=draw(_notes), notes=draw(_notes), language=draw(st.sampled_from(("", "python", "a`\n#", "x" * 50))), **more)


_directories = st.builds(lambda path, text, notes: attached(path, text, kind="directory", entries=text.count("\n"), notes=notes), _paths, texts, _notes)
_media = st.builds(lambda path, kind, notes: attached(path, kind="media", media_type=kind, size=10**9, notes=notes), _paths, texts, _notes)
_refusals = st.builds(lambda path, detail, notes: refused(path, detail, notes=notes, hint="type something else"), _paths, texts, _notes)
outcomes: st.SearchStrategy[Outcome] = st.one_of(_files(), _directories, _media, _refusals)


# What stands in a message beside and between mentions: whatever opens, ends, quotes, escapes or hides one.
AROUND = (
    *("", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\r", "\u00a0", "\u3000", "\u200b", "\0", "x", "7", "_", "see ", ", then", "é", "e\u0301", "文", "の", "한"),
    *("(", ")", "[", "]", "{", "}", "<", ">", '"', "'", "“", "”", "«", "»", "「", "」", ".", "..", ",", ";", ":", "!", "?", "…", "—", "–", "-", "+", "=", "/"),
    *(
        "*",
        "**",
        "~~",
        "\\",
        "\\\\",
        "`",
        "``",
        "```",
        "\n```\n",
        "\n~~~\n",
        "@",
        "@@",
        "\uff20",
        "'s",
        "’s",
        "#",
        "\ud800",
        "\udcff",
        "\U0001f600",
        "|",
        "&",
        "%",
        "$",
    ),
)
SUFFIXES = (
    "",
    "",
    "",
    ":2",
    ":1-2",
    ":2-1",
    ":0",
    ":3-",
    ":99",
    ":1:2",
    "#L1",
    "#L1-L2",
    "#1-2",
    ":1–2",
    "#top",
    ":main",
    "/",
    "/.",
    "\\",
    ".",
    ",",
    "'s",
    ":99999999999999999999",
)


def quote(name: str) -> st.SearchStrategy[str]:
    """Return the ways in which a person may write a mention of *name*, right or wrong."""
    forms = (
        name,
        f'"{name}"',
        f"'{name}'",
        f"“{name}”",
        f"./{name}",
        name.replace("/", "\\"),
        name.replace(" ", "\\ "),
        name.upper(),
        name[:-1],
        f"{name}/",
        f"/{name}",
    )
    return st.sampled_from(forms)


def mentions(names: Sequence[str]) -> st.SearchStrategy[str]:
    """Return mentions of *names*, with ranges and other things behind them."""
    written = st.sampled_from(names).flatmap(quote)
    formatted = st.sampled_from([name for name in names if name and "\0" not in name]).map(format_ref)
    return st.one_of(st.builds("@{}{}".format, written, st.sampled_from(SUFFIXES)), st.builds("{}{}".format, formatted, st.sampled_from(SUFFIXES)))


def messages(names: Sequence[str]) -> st.SearchStrategy[str]:
    """Return messages in which *names* are mentioned among fragments that bite."""
    return st.lists(st.one_of(mentions(names), st.sampled_from(AROUND), st.text(max_size=3)), max_size=12).map("".join)


BETWEEN = (" ", ", ", "; ", ": ", "! ", "? ", ". ", "\n", "\r\n", "\n\n", " (", ") ", ' "', '" ', " '", "' ", "—", "、", "。", " `", "` ", " **", "\t")


def sentences(names: Sequence[str]) -> st.SearchStrategy[str]:
    """Return messages in which something stands between any two mentions of *names*."""
    pieces = st.one_of(mentions(names), mentions(names), st.sampled_from(AROUND), st.sampled_from(AROUND))
    return st.lists(st.builds("{}{}".format, pieces, st.sampled_from(BETWEEN)), max_size=8).map("".join)


# One part of a normalised path: no separator, no NUL, neither a dot nor two, and no more bytes than a disk takes.
_signs = st.one_of(st.sampled_from("ab.-_ ,:;'\"\\@`()[]{}#*~é文の\n\t\u2028\u00a0\u200b\ufeff\ud83d\udcff😀’\uff20"), st.characters(exclude_characters="/\0"))
parts = st.text(_signs, min_size=1, max_size=12).filter(lambda part: part not in (".", ".."))
paths = st.lists(parts, min_size=1, max_size=4).map("/".join)
ranges = st.one_of(
    st.none(),
    st.integers(1, 10**6).map(lambda line: (line, line)),
    st.integers(1, 10**6).map(lambda line: (line, None)),
    st.tuples(st.integers(1, 1000), st.integers(1, 1000)).map(lambda pair: (min(pair), max(pair))),
)
