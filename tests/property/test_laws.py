"""The laws of the turn, chapters 2, 4 and 6 of the design: for any message, on a tree that was made to break them."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from filerefs import Limits, Preprocessor, Root, build_section, format_ref, inject, load, parse, patterns, preprocess, rewrite, strip_section
from filerefs.naming import plain_form
from filerefs.outcomes import Reason

from ..conftest import Tree  # noqa: TID252 (the tests are no package that could be imported by name)
from .strategies import AROUND, messages, outline, parts, paths, prompts, ranges, sentences, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from filerefs import Outcome, Ref, Turn
    from filerefs.mentions import CodePolicy, Range
    from filerefs.root import SymlinkPolicy

LIMITS = (Limits(), Limits(file_bytes=5, total_bytes=20, refs=2, directory_entries=3), Limits(file_bytes=0), Limits(refs=0, total_bytes=0, directory_entries=0))

# Every name is mentioned; what lies outside of the root must never be seen.
SECRET = "OUTSIDE-AND-NEVER-SHOWN"
_WORDS = """
    a.py b.py c.py a x x,y.csv a:7 notes:7 a(1).txt app/[id]/page.tsx src src/main.py @scope/pkg.json -x dot. it's back\\slash tick`s twin.py s 's
    caf\u00e9.txt cafe\u0301.md both\u00e9 文件.txt 文 \u202egnp.exe deep/er/est.txt \uff20wide
    empty binary.bin image.png latin1.txt utf16.txt crlf.txt fences.md markers.md long.txt closed.txt many
    nope.py src/nope.py alice types/node a.py/x C:\\x.py @ . ./ .. ~/x /etc/passwd src/../a.py ../outside/secret.txt
    pipe link.txt link out out/secret.txt secret loop up .env link.env .git/config
"""
NAMES = (*_WORDS.split(), "a b", "my file.txt", "my file.txt now", 'say "hi"', "new\nline", "tab\there", "nul\0name", "\ud800", "\udcff.txt", "")


def plant(tree: Tree) -> Path:
    """Build the nasty tree; what the file system does not take is left out."""
    (tree.folder.parent / "outside").mkdir()
    (tree.folder.parent / "outside" / "secret.txt").write_text(SECRET, encoding="utf-8")
    root = tree(
        {
            **dict.fromkeys(("a.py", "b.py", "c.py", "x", "x,y.csv", "a:7", "notes:7", "a b", "my file.txt"), "text\nsecond line\nthird @b.py line"),
            **dict.fromkeys(("a(1).txt", "app/[id]/page.tsx", "src/main.py", "@scope/pkg.json", "-x", "dot.", "it's", 'say "hi"', "back\\slash"), "1\n2\n"),
            **dict.fromkeys(
                ("tick`s", "new\nline", "caf\u00e9.txt", "cafe\u0301.md", "文件.txt", "文", "\u202egnp.exe", "deep/er/est.txt", "tab\there"), "1\n2\n"
            ),
            **dict.fromkeys(("both\u00e9", "bothe\u0301", "s", "'s", "\uff20wide"), "1\n2\n"),
            "empty": "",
            "binary.bin": bytes(range(256)),
            "image.png": b"\x89PNG\r\n\x1a\n" + bytes(64),
            "latin1.txt": "Gr\xfc\xdfe aus K\xf6ln, sch\xf6n\n".encode("latin-1") * 4,
            "utf16.txt": "\ufeffwide\nwider\n".encode("utf-16-le"),
            "crlf.txt": "one\r\ntwo\r\n\r\n",
            "fences.md": "```\n~~~\n" + "`" * 50 + "\n### a\n",
            "markers.md": build_section(load(parse("@nope.py"), tree.folder)) + "\n<!-- filerefs:begin -->\n",
            "long.txt": "x" * 300_000,
            "pipe": tree.fifo(),
            "link.txt": tree.link("a.py"),
            "link": tree.link("src"),
            "out": tree.link("../outside"),
            "secret": tree.link("../outside/secret.txt"),
            "loop": tree.link("loop"),
            "up": tree.link("../root"),
            "closed.txt": tree.mode(0, "closed"),
            "twin.py": tree.hard_link("a.py"),
            ".env": "KEY=" + SECRET,
            ".git/config": SECRET,
            "many/": None,
        }
    )
    for number in range(12):
        (root / "many" / f"{number}.txt").touch()
    (root / "link.env").symlink_to(".env")
    if sys.platform == "linux":
        (root / "\udcff.txt").touch()
    return root


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of everything that is hard to name, to open, to decode or to show."""
    folder = tmp_path_factory.mktemp("nasty") / "root"
    folder.mkdir()
    return plant(Tree(folder))


class Setting(NamedTuple):
    """How a turn is made: the policy, the limits, and the switches of the parser."""

    symlinks: SymlinkPolicy = "refuse"
    limits: Limits = Limits()
    code: CodePolicy = "inert"
    lenient: bool = True

    def parse(self, message: str) -> list[Ref]:
        return parse(message, code=self.code, lenient=self.lenient)

    def load(self, message: str, root: Path | Root) -> list[Outcome]:
        return load(self.parse(message), root, limits=self.limits, symlinks=self.symlinks, lenient=self.lenient)

    def open(self, root: Path) -> Preprocessor:
        return Preprocessor(root, symlinks=self.symlinks, limits=self.limits, code=self.code, lenient=self.lenient)

    def turn(self, message: str, root: Path, prompt: str = "") -> Turn:
        return preprocess(message, prompt, root, symlinks=self.symlinks, limits=self.limits, code=self.code, lenient=self.lenient)


USUAL, INSIDE, STRICT = Setting(), Setting(symlinks="inside"), Setting(lenient=False)
policies = st.sampled_from((USUAL, INSIDE))
any_setting = st.builds(Setting, st.sampled_from(("refuse", "inside")), st.sampled_from(LIMITS), st.sampled_from(("inert", "load")), st.booleans())
any_message = st.one_of(messages(NAMES), st.text(st.characters(), max_size=40), st.text(st.sampled_from("@\\`\"'.,:/()[]~* \nab"), max_size=40))


@given(any_message, any_setting)
@example("@a@b", STRICT)
@example("@\"@\"@'@'@“@”@", USUAL)
def test_spans_are_ordered_disjoint_and_hold_their_tokens(message: str, setting: Setting) -> None:
    """message[ref.start:ref.end] is ref.token; no mention overlaps another, each stays in its run, and parsing is repeatable."""
    refs = setting.parse(message)

    assert [message[ref.start : ref.end] for ref in refs] == [ref.token for ref in refs]
    assert all(ref.token[0] in "@\uff20" and len(ref.token) > 1 and ref.path for ref in refs)
    ends = [0, *(ref.run_end for ref in refs)]
    assert all(end <= ref.start < ref.end <= ref.run_end for end, ref in zip(ends, refs, strict=False))
    assert refs == setting.parse(message)


ascii_bits = st.sampled_from((*[bit for bit in AROUND if bit.isascii()], *"@a @b.py \t\v\f\x1c\x1f\x7f\0,;:()[]<>!?|^%$&#=+-./\\`~*_'\"aZ09"))


@given(st.lists(ascii_bits, max_size=12).map("".join))
@example("\x1c@a\x1f@b\x7f@c")
@example("@a\\")
@example("(@a@b)@c\\,@d")
@example("@a\\ b@c")
def test_both_forms_of_the_pattern_take_the_same(message: str) -> None:
    """The plain form, which needs no `regex`, finds in a message exactly what the full form finds in it."""
    chosen = patterns.find_pattern(message, wide=False, lenient=True)
    full = patterns._full_pattern(wide=False, lenient=True)

    assert [match.span() for match in full.finditer(message)] == [match.span() for match in chosen.finditer(message)]
    assert chosen is full or all(match.lastgroup == "bare" for match in full.finditer(message))


FRAMES = ("see {}, then", "{}", "({})", "[{}]", "“{}”", "{}.", "a\n{}\nb", "**{}**", "{}:", "{}?", "<{}>")


@given(paths, ranges, st.sampled_from((USUAL, STRICT)))
@example("a/b.py", None, USUAL)
@example("\\u{41}", (3, None), USUAL)
@example("a’s", (3, 4), STRICT)
@example("\ud83d\ude00", None, USUAL)
@example("'s", None, USUAL)
@example("-/-", None, USUAL)
@example("\u2800", None, USUAL)
def test_format_ref_is_read_back(path: str, lines: Range | None, setting: Setting) -> None:
    """`parse` reads what `format_ref` wrote as exactly this path and these lines."""
    reference = format_ref(path, lines)
    refs = setting.parse(f"see {reference}, then")

    assert [(ref.path, ref.lines, ref.token) for ref in refs] == [(path, lines, reference)]
    assert len(reference.splitlines()) == 1
    reference.encode()


@given(paths, ranges, st.sampled_from(FRAMES))
def test_format_ref_is_read_back_wherever_it_stands(path: str, lines: Range | None, frame: str) -> None:
    """The reference may stand in brackets, quotes, emphasis and at the end of a sentence."""
    reference = format_ref(path, lines)

    assert [(ref.path, ref.lines) for ref in parse(frame.format(reference))] == [(path, lines)]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/".join(["\x01" * 255] * 15), id="control characters"),
        pytest.param("/".join(["\udcff" * 255] * 15), id="bytes that are no text"),
    ],
)
def test_format_ref_of_the_longest_names(path: str) -> None:
    """A name as long as a disk takes is read back though each of its characters is an escape."""
    assert [ref.path for ref in parse(f"see {format_ref(path)}, then")] == [path]


def said(turn: Turn) -> Iterator[str]:
    """Yield every line that a person is shown."""
    yield from turn.warnings
    yield from turn.notices
    for outcome in turn.outcomes:
        yield from (outcome.summary, outcome.label, *outcome.notes, repr(outcome))
        yield from (outcome.detail, outcome.hint) if outcome.status == "refused" else outcome.cautions


def check_record(turn: Turn, root: Path) -> None:
    record = turn.as_dict()
    written = json.dumps(record)
    # Two lone surrogates side by side are one character to every reader of JSON.
    assert json.loads(written) == json.loads(json.dumps(json.loads(written)))
    assert [entry["status"] for entry in record["refs"]] == [outcome.status for outcome in turn.outcomes]
    for line in said(turn):
        assert len(line.splitlines()) <= 1, line
        assert not any(unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") for sign in line), line
        assert str(root) not in line
        assert SECRET not in line
    assert len(repr(turn).splitlines()) == 1


def check_message(turn: Turn, message: str) -> None:
    spans = sorted(span for outcome in turn.outcomes for span in outcome.spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert [outcome.spans[0] for outcome in turn.outcomes] == sorted(outcome.spans[0] for outcome in turn.outcomes)
    for outcome in turn.outcomes:
        assert [message[start:end] for start, end in outcome.spans] == [ref.upto(end) for ref, (_, end) in zip(outcome.refs, outcome.spans, strict=True)]
    edits = sorted((span, text) for outcome in turn.attached for span, text in zip(outcome.spans, outcome.replacements, strict=True))
    rebuilt, done = "", 0
    for (start, end), text in edits:
        rebuilt += message[done:start] + text
        done = end
    assert turn.message == rebuilt + message[done:]
    assert rewrite(message, turn.outcomes) == turn.message
    if not turn.attached:
        assert turn.message is message
    assert turn.original is message
    assert {ref.start for ref in turn.plain}.isdisjoint(start for start, _ in spans)


def check_section(turn: Turn, prompt: str, limits: Limits) -> None:
    assert bool(turn.section) is bool(turn.outcomes)
    assert strip_section(turn.prompt) == strip_section(prompt)
    assert turn.prompt == inject(prompt, turn.outcomes)
    assert turn.section_bytes == len(turn.section.encode())
    if limits.total_bytes is not None:
        assert turn.section_bytes <= limits.total_bytes + 1024 * len(turn.outcomes) + 4096
    if turn.section:
        seen = outline(turn.section)
        assert seen.open_fence == ""
        assert [line for line in seen.outside if line.startswith("### ")] == [f"### {outcome.label}" for outcome in turn.outcomes]
    assert SECRET not in turn.section


def check_outcomes(outcomes: list[Outcome], limits: Limits) -> None:
    for outcome in outcomes:
        if outcome.status == "attached":
            assert outcome.shown == len(outcome.text.encode())
            assert not outcome.path.startswith("/")
            assert outcome.path == "." or not {"", ".", ".."} & set(outcome.path.split("/"))
            if limits.file_bytes is not None and outcome.kind == "file":
                assert outcome.shown <= limits.file_bytes
        else:
            assert outcome.detail
            assert not outcome.detail.endswith(".")


@given(any_message, prompts, any_setting)
@example("@a.py:9 @a.py:1 @a.py", "", USUAL)
@example("@" + "x" * 300 + ".py", "", USUAL)
@example("@nul\0name.py @\ud800.py @C:\\x.py", "", USUAL)
@example("@out/secret.txt @secret @up/a.py @link.env @.env", "", INSIDE)
def test_any_turn_keeps_the_laws(nasty: Path, message: str, prompt: str, setting: Setting) -> None:
    """
    Nothing is raised, nothing outside is shown, spans and the rewritten message agree, the section keeps to its size and its
    fences, the prompt can be had back, and the record is JSON.
    """
    turn = setting.turn(message, nasty, prompt)

    check_record(turn, nasty)
    check_message(turn, message)
    check_section(turn, prompt, setting.limits)
    check_outcomes(list(turn.outcomes), setting.limits)


@given(st.text(st.characters(), max_size=200), st.text(st.characters(), max_size=50))
def test_no_text_raises(nasty: Path, message: str, prompt: str) -> None:
    """Whatever a person types, a turn comes back."""
    assert preprocess(message, prompt, nasty).original is message


@pytest.mark.skipif(sys.platform != "linux", reason="there is only the walk")
@given(any_message, any_setting)
def test_both_backends_say_the_same(nasty: Path, message: str, setting: Setting) -> None:
    """What resolves the names is not to be seen in what becomes of them."""
    with Root(nasty, symlinks=setting.symlinks, backend="openat2") as kernel, Root(nasty, symlinks=setting.symlinks, backend="walk") as walk:
        assert setting.load(message, kernel) == setting.load(message, walk)


@given(any_message, prompts, any_setting)
def test_one_shot_a_preprocessor_and_the_phases_agree(nasty: Path, message: str, prompt: str, setting: Setting) -> None:
    """The phases one by one give what a turn gives, and a second turn gives the same again."""
    turn = setting.turn(message, nasty, prompt)
    outcomes = setting.load(message, nasty)
    with setting.open(nasty) as preprocessor:
        first = preprocessor.preprocess(message, prompt)
        second = preprocessor.preprocess(message, first.prompt)

    assert tuple(outcomes) == turn.outcomes
    assert turn == first
    assert (first.prompt, first.section, first.outcomes) == (second.prompt, second.section, second.outcomes)


@given(any_message, prompts)
def test_a_turn_without_mentions_restores_the_prompt(nasty: Path, message: str, prompt: str) -> None:
    """What one turn put into the prompt the next one takes out."""
    with Preprocessor(nasty) as preprocessor:
        first = preprocessor.preprocess(message, prompt)
        second = preprocessor.preprocess("no mention", first.prompt)

    assert second.prompt == strip_section(prompt)
    assert second.section == ""


WITHOUT_SIGNS = tuple(name for name in NAMES if not set("@\uff20`") & set(name))


@given(sentences(WITHOUT_SIGNS), policies)
@example("@x:99, @a.py and @a b", USUAL)
def test_preprocessing_twice_changes_nothing(nasty: Path, message: str, setting: Setting) -> None:
    """The rewritten message names nothing more, unless a name holds an at-sign or a backtick that the message then holds."""
    first = setting.turn(message, nasty)
    second = setting.turn(first.message, nasty)

    assert second.attached == ()
    assert second.message is first.message


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("@a\\ b@c.py", id="an escaped blank"),
        pytest.param("@back\\slash@c.py", id="a name with a backslash"),
        pytest.param("@\u202egnp.exe@c.py", id="a name with a control character"),
    ],
)
def test_name_that_gets_quotes_right_before_an_at_sign(nasty: Path, message: str) -> None:
    """An at-sign that was part of a run does not become a mention because the name in front of it got quotes."""
    first = preprocess(message, root=nasty)

    assert preprocess(first.message, root=nasty).attached == ()


def test_range_behind_the_end_right_before_another_mention(nasty: Path) -> None:
    """A range that is refused the first time is refused the second time."""
    first = preprocess("@x:99!@c.py", root=nasty)

    assert preprocess(first.message, root=nasty).attached == ()


@given(st.lists(st.sampled_from(NAMES), max_size=300), st.sampled_from(LIMITS), texts)
def test_section_keeps_to_its_size(nasty: Path, names: list[str], limits: Limits, prompt: str) -> None:
    """At most the total, 1 KiB an outcome and 4 KiB, however many are named."""
    turn = preprocess(" ".join(format_ref(name) for name in names if name and "\0" not in name), prompt, nasty, limits=limits)

    assert turn.section_bytes <= (limits.total_bytes or 0) + 1024 * len(turn.outcomes) + 4096
    assert len(turn.outcomes) <= 2 * (limits.refs or 0) + 1


@given(parts)
@example("\udcff")
@example(".env")
@example("@a b")
def test_a_file_of_any_name_is_attached(name: str) -> None:
    """Whatever a file is called, `format_ref` names it, and the message then holds its plain path, which names nothing."""
    assume(_fits(name))
    with TemporaryDirectory() as folder:
        (Path(folder) / name).write_text("1\n2\n", encoding="utf-8")
        turn = preprocess(f"see {format_ref(name)}, then", root=folder)
        again = preprocess(turn.message, root=folder)

    if turn.refused:
        assert [outcome.reason for outcome in turn.refused] in ([Reason.SECRET], [Reason.HOME])
    else:
        assert [outcome.path for outcome in turn.attached] == [name]
        assert turn.message == f"see {plain_form(name)}, then"
        assert again.attached == () or {"@", "\uff20"} & set(name)


def _fits(name: str) -> bool:
    try:
        return len(os.fsencode(name)) <= 255
    except UnicodeEncodeError:
        return False
