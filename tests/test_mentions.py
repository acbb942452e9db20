"""Which at-signs open a mention, and how far its default reading goes: one table for each rule, nothing looked up."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from filerefs.errors import OptionError, OptionTypeError
from filerefs.mentions import RUN_LENGTH, Range, Ref, dots_only, parse, scan, unescape_bare, unescape_quoted

if TYPE_CHECKING:
    from filerefs.mentions import CodePolicy


def tokens(message: str, *, code: CodePolicy = "inert", lenient: bool = True) -> list[str]:
    """Return the tokens of *message*, each checked against the slice that it claims to be."""
    refs = parse(message, code=code, lenient=lenient)
    assert [message[ref.start : ref.end] for ref in refs] == [ref.token for ref in refs]
    assert all(before.end <= after.start for before, after in pairwise(refs))
    assert all(ref.message is message for ref in refs)
    return [ref.token for ref in refs]


def only(message: str) -> Ref:
    """Return the one mention of *message*."""
    refs = parse(message)
    assert len(refs) == 1, refs
    return refs[0]


OPENS = [
    pytest.param("", id="the start of the message"),
    pytest.param(" ", id="a blank"),
    pytest.param("\t", id="a tab"),
    pytest.param("a\n", id="a line feed"),
    pytest.param("a\r\n", id="a CR LF"),
    pytest.param("\u00a0", id="a no-break space"),
    pytest.param("a\u3000", id="an ideographic space"),
    pytest.param("a\u200b", id="a zero-width space"),
    pytest.param("a(", id="a round bracket"),
    pytest.param("a)", id="a closing bracket"),
    pytest.param("a[", id="a square bracket"),
    pytest.param("a{", id="a curly bracket"),
    pytest.param("a<", id="an angle bracket"),
    pytest.param('a"', id="a double quote"),
    pytest.param("a'", id="a single quote"),
    pytest.param("a“", id="a typographic quote"),
    pytest.param("a«", id="a guillemet"),
    pytest.param("a,", id="a comma"),
    pytest.param("a;", id="a semicolon"),
    pytest.param("a:", id="a colon"),
    pytest.param("a!", id="an exclamation mark"),
    pytest.param("a?", id="a question mark"),
    pytest.param("a|", id="a pipe"),
    pytest.param("a—", id="an em dash"),
    pytest.param("a–", id="an en dash"),
    pytest.param("a…", id="an ellipsis"),
    pytest.param("👉", id="an emoji"),
    pytest.param("👍🏽", id="an emoji with a skin tone"),
    pytest.param("1\ufe0f\u20e3", id="a keycap emoji, though it is a digit with marks"),
    pytest.param("看", id="a Han letter"),
    pytest.param("看\u0301", id="a Han letter with a mark"),
    pytest.param("を", id="a Hiragana letter"),
    pytest.param("ガ", id="a Katakana letter"),
    pytest.param("을", id="a Hangul syllable"),
    pytest.param("ไฟล์", id="a Thai word that ends in a mark"),
    pytest.param("ໄຟລ໌", id="a Lao word"),
    pytest.param("មើល", id="a Khmer word"),
    pytest.param("。", id="an ideographic full stop"),
    pytest.param("（", id="a full-width bracket"),
    pytest.param("１", id="a full-width digit"),
    pytest.param("*", id="emphasis at the start"),
    pytest.param("(**", id="strong emphasis behind a bracket"),
    pytest.param("a __", id="underscores behind a blank"),
    pytest.param("a ~~", id="strike-through behind a blank"),
    pytest.param("看**", id="emphasis behind a Han letter"),
    pytest.param("a \\\\", id="two backslashes"),
    pytest.param("\\\\\\\\", id="four backslashes"),
]


@pytest.mark.parametrize("before", OPENS)
def test_opens_behind(before: str) -> None:
    """A mention opens behind what ends no word: blanks, brackets, quotes, dashes, scripts without blanks."""
    assert tokens(f"{before}@a.py") == ["@a.py"]


BLOCKS = [
    pytest.param("a", id="a letter"),
    pytest.param("Z", id="a capital letter"),
    pytest.param("7", id="a digit"),
    pytest.param("é", id="a letter with an accent"),
    pytest.param("e\u0301", id="a letter and a combining accent"),
    pytest.param("e\u0301\u0323\u0301", id="a letter and many combining marks"),
    pytest.param("ß", id="a letter of Latin-1"),
    pytest.param("ж", id="a Cyrillic letter"),
    pytest.param("λ", id="a Greek letter"),
    pytest.param("ف", id="an Arabic letter"),
    pytest.param("٣", id="an Arabic digit"),
    pytest.param("ץ", id="a Hebrew letter"),
    pytest.param("क", id="a Devanagari letter"),
    pytest.param("की", id="a Devanagari letter with a vowel sign"),
    pytest.param("Ⅻ", id="a Roman numeral"),
    pytest.param("a_", id="an underscore behind a letter"),
    pytest.param(".", id="a dot"),
    pytest.param("%", id="a per cent sign"),
    pytest.param("+", id="a plus"),
    pytest.param("-", id="a hyphen"),
    pytest.param("=", id="an equals sign"),
    pytest.param("/", id="a slash"),
    pytest.param("&", id="an ampersand"),
    pytest.param("#", id="a number sign"),
    pytest.param("$", id="a dollar sign"),
    pytest.param("x**", id="emphasis inside a word"),
    pytest.param("x~~", id="strike-through inside a word"),
    pytest.param(".*", id="emphasis behind a dot"),
    pytest.param("\\", id="a backslash"),
    pytest.param("a \\\\\\", id="three backslashes"),
    pytest.param("\\\\\\\\\\", id="five backslashes"),
]


@pytest.mark.parametrize("before", BLOCKS)
def test_does_not_open_behind(before: str) -> None:
    """An at-sign inside a word, an address, an operator or behind an odd number of backslashes is that and no mention."""
    assert tokens(f"{before}@a.py") == []


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("@", [], id="an at-sign alone"),
        pytest.param("@ a.py", [], id="a blank behind it"),
        pytest.param("@\na.py", [], id="a line end behind it"),
        pytest.param("@\u00a0a.py", [], id="a no-break space behind it"),
        pytest.param("a @", [], id="an at-sign at the end"),
        pytest.param("@,", [], id="nothing but punctuation"),
        pytest.param("@)", [], id="nothing but a bracket"),
        pytest.param("@...", ["@..."], id="dots are a name"),
        pytest.param("@.", ["@."], id="the root"),
        pytest.param("@./", ["@./"], id="the root with a slash"),
        pytest.param("@..", ["@.."], id="the parent"),
        pytest.param("@., now", ["@."], id="the root before a comma"),
        pytest.param("@../x.", ["@../x"], id="a name above, at the end of a sentence"),
        pytest.param("@src/..", ["@src/.."], id="dots behind a slash are a part"),
        pytest.param("@src/.", ["@src/"], id="a full stop behind a folder"),
        pytest.param("@@x", ["@@x"], id="a name that starts with an at-sign"),
        pytest.param("@@scope/pkg.json", ["@@scope/pkg.json"], id="a folder that starts with an at-sign"),
        pytest.param("a@@x", [], id="two at-signs in a word"),
        pytest.param("@a@b", ["@a@b"], id="an at-sign inside belongs to the name"),
        pytest.param("@a,@b", ["@a", "@b"], id="a comma between two"),
        pytest.param("@a.py,@b.py;@c.py", ["@a.py", "@b.py", "@c.py"], id="three without blanks"),
        pytest.param("@看@b.py", ["@看", "@b.py"], id="the next may open behind a Han letter"),
        pytest.param("@a/@b", ["@a/@b"], id="a slash belongs to the name"),
        pytest.param("/@a", [], id="no mention behind a slash"),
        pytest.param("x=@a y=@b", [], id="assignments"),
        pytest.param("bob@example.org, ann@b.py", [], id="addresses"),
        pytest.param("https://x.y/@u and git@host:a.git", [], id="URLs and remotes"),
        pytest.param("A@B", [], id="a matrix product"),
        pytest.param("\\@a.py", [], id="escaped"),
        pytest.param("\\@a.py @b.py", ["@b.py"], id="escaping is for one at-sign"),
        pytest.param("**@a.py**", ["@a.py"], id="strong emphasis around it"),
        pytest.param("_@a.py_", ["@a.py_"], id="an underscore may belong to the name until the disk is asked"),
        pytest.param("~~@a.py~~", ["@a.py"], id="strike-through around it"),
    ],
)
def test_at_signs(message: str, expected: list[str]) -> None:
    """What is around an at-sign decides whether there is a mention, and where it ends."""
    assert tokens(message) == expected


@pytest.mark.parametrize(
    "tail",
    [
        *(pytest.param(sign, id=f"the sign {sign}") for sign in ".,;:!?'\"*>|…”’»›、。，；：！？）」』】》〉"),
        pytest.param(").", id="a bracket and a full stop"),
        pytest.param(".)", id="a full stop and a bracket"),
        pytest.param("?!", id="a question and a shout"),
        pytest.param('."', id="the end of a quoted sentence"),
        pytest.param("...", id="three dots"),
        pytest.param("'s", id="a possessive"),
        pytest.param("’s", id="a typographic possessive"),
        pytest.param("’s.", id="a possessive at the end of a sentence"),
        pytest.param("'s)", id="a possessive in brackets"),
        pytest.param("\\", id="a backslash"),
        pytest.param("#", id="a number sign"),
        pytest.param("\u00a0", id="a no-break space"),
        pytest.param("\u202f»", id="a narrow no-break space and a guillemet"),
        pytest.param("]}>", id="brackets that nothing opened"),
    ],
)
def test_tail_is_no_part_of_the_name(tail: str) -> None:
    """Punctuation, unopened brackets and possessives behind a name belong to the sentence."""
    ref = only(f"see @a.py{tail}")

    assert ref.token == "@a.py"
    assert ref.run == f"a.py{tail}"
    assert ref.path == "a.py"


@pytest.mark.parametrize(("run", "path"), [("a's", "a"), ("as", "as"), ("it's's", "it"), ("s", "s"), ("’s", "’s")])
def test_possessive_of_a_short_name(run: str, path: str) -> None:
    """A name of one letter has a possessive like any other."""
    assert only(f"see @{run} now").path == path


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("a(1).txt", id="brackets that it opens"),
        pytest.param("f(x)", id="a bracket at the end that it opens"),
        pytest.param("app/[id]", id="square brackets"),
        pytest.param("x{y}", id="curly brackets"),
        pytest.param("a(b(c))", id="nested brackets"),
        pytest.param("（1）", id="full-width brackets"),
        pytest.param("x,y.csv", id="a comma inside"),
        pytest.param("a:b.txt", id="a colon inside"),
        pytest.param("-x", id="a hyphen in front"),
        pytest.param("a_", id="an underscore at the end"),
        pytest.param("a-", id="a hyphen at the end"),
        pytest.param("src/", id="a slash at the end"),
        pytest.param(".gitignore", id="a dot in front"),
        pytest.param("s", id="one letter that ends no possessive"),
        pytest.param("a\u00a0b.txt", id="a no-break space inside"),
        pytest.param("e\u0301.txt", id="a combining mark"),
        pytest.param("文件.txt", id="Han letters"),
        pytest.param("\udcff.txt", id="a lone surrogate"),
        pytest.param("a\0b", id="a NUL, which no disk is asked for"),
    ],
)
def test_name_keeps(name: str) -> None:
    """What may stand in a name stays in it, as long as the name goes on."""
    ref = only(f"see @{name}")

    assert (ref.token, ref.path) == (f"@{name}", name)
    assert (ref.lines, ref.quoted) == (None, False)


@pytest.mark.parametrize(
    ("message", "token"),
    [
        pytest.param("(@a.py)", "@a.py", id="in brackets"),
        pytest.param("((@a(1).py))", "@a(1).py", id="only the brackets that it does not open"),
        pytest.param("((@f(x)))", "@f(x)", id="one bracket that it opens, and two that it does not"),
        pytest.param("[x](@a.png)", "@a.png", id="in a link"),
        pytest.param("<b>@a.py</b>", "@a.py</b>", id="until the disk is asked a tag may belong to the name"),
        pytest.param('"@a.py"', "@a.py", id="in quotes"),
        pytest.param("「@a.py」", "@a.py", id="in corner brackets"),
        pytest.param("“@a.py”,", "@a.py", id="in typographic quotes"),
    ],
)
def test_what_stands_around_it(message: str, token: str) -> None:
    """A closing bracket or quote that opened in front of the mention ends it."""
    assert tokens(message) == [token]


@pytest.mark.parametrize(
    ("suffix", "lines"),
    [
        pytest.param(":12", (12, 12), id="one line"),
        pytest.param(":12-40", (12, 40), id="from line to line"),
        pytest.param(":12–40", (12, 40), id="with an en dash"),
        pytest.param(":12:5", (12, 12), id="a line and a column"),
        pytest.param(":12-", (12, None), id="to the end"),
        pytest.param(":L12-", (12, None), id="to the end with an L"),
        pytest.param(":L12", (12, 12), id="an L"),
        pytest.param(":L12-L40", (12, 40), id="two Ls"),
        pytest.param(":L12-40", (12, 40), id="the first L alone"),
        pytest.param("#L12", (12, 12), id="a permanent link"),
        pytest.param("#L12-L40", (12, 40), id="a permanent link to lines"),
        pytest.param("#L12-40", (12, 40), id="a permanent link with one L"),
        pytest.param("#12-40", (12, 40), id="a number sign without L"),
        pytest.param("#L12-", (12, None), id="a permanent link to the end"),
        pytest.param("#12-", (12, None), id="a number sign to the end"),
        pytest.param(":40-12", (40, 12), id="swapped, as typed"),
        pytest.param(":0", (0, 0), id="zero, as typed"),
        pytest.param(":0-9", (0, 9), id="from zero, as typed"),
        pytest.param(":007", (7, 7), id="zeros in front"),
        pytest.param(":" + "9" * 18, (10**18 - 1, 10**18 - 1), id="eighteen digits"),
        pytest.param(":" + "9" * 19, (10**18, 10**18), id="nineteen digits"),
        pytest.param(":" + "9" * 30, (10**18, 10**18), id="more digits than any file has lines"),
    ],
)
def test_range(suffix: str, lines: Range) -> None:
    """A range in any of the usual forms is taken off the name and given as typed."""
    ref = only(f"see @a.py{suffix}")

    assert (ref.path, ref.token) == ("a.py", f"@a.py{suffix}")
    assert ref.lines == lines


@pytest.mark.parametrize("tail", [pytest.param(tail, id=f"before {tail}") for tail in (",", ".", ")", ":", "?", '"', "’s")])
@pytest.mark.parametrize("suffix", [":12", ":12-40", ":12-", "#L12-L40", ":12:5"])
def test_range_before_punctuation(suffix: str, tail: str) -> None:
    """A range may end a sentence."""
    assert only(f"see @a.py{suffix}{tail}").token == f"@a.py{suffix}"


@pytest.mark.parametrize(
    ("run", "path"),
    [
        pytest.param("a.py#12", "a.py#12", id="a number sign and one number is an issue"),
        pytest.param("a.py:x", "a.py:x", id="a colon and a letter"),
        pytest.param("a.py:12x", "a.py:12x", id="a letter behind the number"),
        pytest.param("a.py:-3", "a.py:-3", id="a negative number"),
        pytest.param("a.py:1-2-3", "a.py:1-2-3", id="three numbers"),
        pytest.param(":12", ":12", id="no name in front"),
        pytest.param("#L12", "#L12", id="no name in front of a link"),
        pytest.param("a.py:１２", "a.py:１２", id="full-width digits"),
        pytest.param("a.py:٣", "a.py:٣", id="digits of another script"),
        pytest.param("a.py#anchor", "a.py#anchor", id="an anchor"),
    ],
)
def test_no_range(run: str, path: str) -> None:
    """What only resembles a range belongs to the name."""
    ref = only(f"see @{run}")

    assert (ref.path, ref.lines) == (path, None)


@pytest.mark.parametrize(
    ("typed", "path", "lines"),
    [
        pytest.param('@"my file.txt"', "my file.txt", None, id="double quotes"),
        pytest.param("@'my file.txt'", "my file.txt", None, id="single quotes"),
        pytest.param('@"it\'s.txt"', "it's.txt", None, id="a single quote in double quotes"),
        pytest.param("@'a\"b.txt'", 'a"b.txt', None, id="a double quote in single quotes"),
        pytest.param('@"a\\"b"', 'a"b', None, id="an escaped quote"),
        pytest.param('@"a\\\\b"', "a\\b", None, id="an escaped backslash"),
        pytest.param('@"a\\\\"', "a\\", None, id="an escaped backslash at the end"),
        pytest.param('@"a\\nb"', "a\\nb", None, id="any other backslash is itself"),
        pytest.param('@"src\\main.py"', "src\\main.py", None, id="a Windows path"),
        pytest.param('@"\\u{41}"', "A", None, id="a code point"),
        pytest.param('@"\\u{1F600}x"', "😀x", None, id="a code point beyond the BMP"),
        pytest.param('@"\\u{dc80}"', "\udc80", None, id="a lone surrogate"),
        pytest.param('@"\\u{10ffff}"', "\U0010ffff", None, id="the last code point"),
        pytest.param('@"\\u{110000}"', "\\u{110000}", None, id="no code point has that number"),
        pytest.param('@"\\u{}"', "\\u{}", None, id="no number"),
        pytest.param('@"\\u{g}"', "\\u{g}", None, id="no hexadecimal number"),
        pytest.param('@"\\\\u{41}"', "\\u{41}", None, id="an escaped backslash before a u"),
        pytest.param("@'\\u{41}'", "\\u{41}", None, id="no escapes in single quotes"),
        pytest.param("@'a\\\\b'", "a\\\\b", None, id="no escaped backslash in single quotes"),
        pytest.param('@"a."', "a.", None, id="a dot at the end"),
        pytest.param('@"a, b; c"', "a, b; c", None, id="separators"),
        pytest.param('@" "', " ", None, id="a blank"),
        pytest.param('@"@x"', "@x", None, id="an at-sign"),
        pytest.param('@"`x`"', "`x`", None, id="backticks"),
        pytest.param('@"a:7"', "a:7", None, id="a range inside is no range"),
        pytest.param('@"a":7', "a", (7, 7), id="a range behind"),
        pytest.param("@'a'#L3-L9", "a", (3, 9), id="a permanent link behind"),
        pytest.param('@"a":3-', "a", (3, None), id="an open range behind"),
        pytest.param("@“my file.txt”", "my file.txt", None, id="English typographic quotes"),
        pytest.param("@„my file.txt“", "my file.txt", None, id="German typographic quotes"),
        pytest.param("@„my file.txt”", "my file.txt", None, id="Polish typographic quotes"),
        pytest.param("@‘my file.txt’", "my file.txt", None, id="single typographic quotes"),
        pytest.param("@‚my file.txt‘", "my file.txt", None, id="single German quotes"),
        pytest.param("@«my file.txt»", "my file.txt", None, id="guillemets"),
        pytest.param("@‹my file.txt›", "my file.txt", None, id="single guillemets"),
        pytest.param("@“a”:3", "a", (3, 3), id="a range behind typographic quotes"),
        pytest.param("@“a\\”", "a\\", None, id="no escapes in typographic quotes"),
    ],
)
def test_quoted(typed: str, path: str, lines: Range | None) -> None:
    """A quoted name is exactly what stands in the quotes, escapes undone, and a range may stand behind it."""
    ref = only(f"see {typed}, then")

    assert (ref.token, ref.path, ref.lines, ref.quoted) == (typed, path, lines, True)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param('@"a', [], id="no closing quote"),
        pytest.param("@'a", [], id="no closing single quote"),
        pytest.param('@""', [], id="nothing in the quotes"),
        pytest.param("@''", [], id="nothing in single quotes"),
        pytest.param('@"a\nb"', [], id="a quote does not cross a line"),
        pytest.param('@"a\rb"', [], id="nor a carriage return"),
        pytest.param('@"a\\"', [], id="the only closing quote is escaped"),
        pytest.param('@"a"b', ['@"a"'], id="a letter right behind"),
        pytest.param('@"a":7x', ['@"a"'], id="what is no range stays behind"),
        pytest.param('@"a""b"', ['@"a"'], id="two strings"),
        pytest.param('@"a"@"b"', ['@"a"', '@"b"'], id="two quoted names"),
        pytest.param('x@"a"', [], id="inside a word"),
        pytest.param('{"pkg": "@acme/mcp", "x": "y"}', ["@acme/mcp"], id="JSON"),
        pytest.param("@\"a\" @'b' @c", ['@"a"', "@'b'", "@c"], id="all forms"),
        pytest.param('@"a@b"', ['@"a@b"'], id="no mention inside of another"),
    ],
)
def test_quotes_around(message: str, expected: list[str]) -> None:
    """Quotes are closed on their line or are no quotes; nothing is a mention inside of them."""
    assert tokens(message) == expected


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        pytest.param("@my\\ file.txt", "my file.txt", id="a blank"),
        pytest.param("@a\\(1\\).txt", "a(1).txt", id="brackets"),
        pytest.param('@a\\"b', 'a"b', id="a quote"),
        pytest.param("@a\\'b", "a'b", id="a single quote"),
        pytest.param("@a\\,b", "a,b", id="a comma"),
        pytest.param("@a\\@b", "a@b", id="an at-sign"),
        pytest.param("@a\\#b", "a#b", id="a number sign"),
        pytest.param("@src\\main.py", "src\\main.py", id="a backslash before a letter is itself"),
        pytest.param("@a\\\\b", "a\\\\b", id="two backslashes are themselves"),
        pytest.param("@a\\\tb", "a\tb", id="a tab"),
        pytest.param("@C:\\x\\y.py", "C:\\x\\y.py", id="a path with a drive"),
    ],
)
def test_backslash_in_a_bare_name(typed: str, path: str) -> None:
    """A backslash takes a blank, bracket, quote or sign into the name; before anything else it is itself."""
    ref = only(f"see {typed} then")

    assert (ref.token, ref.path) == (typed, path)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("`@a.py`", [], id="a code span"),
        pytest.param("`x` @a.py `y`", ["@a.py"], id="between two spans"),
        pytest.param("``x ` @a.py``", [], id="a longer run"),
        pytest.param("`@a.py", ["@a.py"], id="an unmatched backtick"),
        pytest.param("`x` @, @a.py", ["@a.py"], id="punctuation beside a span"),
        pytest.param("`` @a.py `", ["@a.py"], id="runs of different lengths"),
        pytest.param("@a.py`x`", ["@a.py"], id="a span ends a name"),
        pytest.param("`x`@a.py", ["@a.py"], id="a name right behind a span"),
        pytest.param("@a.py`x", ["@a.py`x"], id="a lone backtick may be in a name"),
        pytest.param('@"`a" @b `c`', ['@"`a"', "@b"], id="a backtick in quotes opens no span"),
        pytest.param("```\n@a.py\n```\n@b.py", ["@b.py"], id="a fenced block"),
        pytest.param("```\n@a.py", [], id="an unclosed fence"),
        pytest.param("~~~\r\n@a.py\r\n~~~\r\n@b.py", ["@b.py"], id="a fence of tildes with CR LF"),
        pytest.param("    @a.py", ["@a.py"], id="an indented line is no code"),
        pytest.param("a ` tick\n\nsee @a.py and ` tick", ["@a.py"], id="a span does not cross a blank line"),
        pytest.param("a ` tick\nsee @a.py and ` tick", [], id="it does cross a line end"),
        pytest.param("\\`@a.py`", ["@a.py"], id="an escaped backtick opens nothing"),
    ],
)
def test_code_is_inert(message: str, expected: list[str]) -> None:
    """Nothing inside fenced blocks or code spans is a mention."""
    assert tokens(message) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("`@a.py`", ["@a.py"], id="a code span is read"),
        pytest.param("`x @a.py`", ["@a.py"], id="wherever it stands in it"),
        pytest.param("```\n@a.py\n```", [], id="a fenced block is not"),
    ],
)
def test_code_may_be_loaded(message: str, expected: list[str]) -> None:
    """`code="load"` switches the rule for spans off, not that for blocks."""
    assert tokens(message, code="load") == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("why is `@a.py` odd", ["@a.py"], id="alone"),
        pytest.param("`` @a.py ``", ["@a.py"], id="with blanks around"),
        pytest.param("`@a.py:3`", ["@a.py:3"], id="with a range"),
        pytest.param('`@"my file.txt"`', ['@"my file.txt"'], id="quoted"),
        pytest.param("`see @a.py`", [], id="with a word in front"),
        pytest.param("`X @a.py`", [], id="with a letter in front"),
        pytest.param("`@a.py now`", [], id="with a word behind"),
        pytest.param("`@a.py X`", [], id="with a letter behind"),
        pytest.param("`\t@a.py`", [], id="with a tab in front"),
        pytest.param("`@a.py\t`", [], id="with a tab behind"),
        pytest.param("`@a.py @b.py`", [], id="two of them"),
        pytest.param("`x@a.py`", [], id="inside a word"),
        pytest.param("`@,`", [], id="punctuation"),
        pytest.param("`@`", [], id="an at-sign alone"),
        pytest.param("```\n@a.py\n```", [], id="in a fenced block"),
        pytest.param("`@a.py` and `@b.py`", ["@a.py", "@b.py"], id="two spans"),
        pytest.param("`@a.py`x and", ["@a.py"], id="with a letter right behind the span"),
    ],
)
def test_mention_that_fills_a_span(message: str, expected: list[str]) -> None:
    """What alone fills a code span is told apart, so that the person can be told that it was not attached."""
    found = scan(message)

    assert [ref.token for ref in found.in_code] == expected
    assert all(ref.message is message for ref in found.in_code)
    assert found.refs == []


@pytest.mark.parametrize(
    ("message", "lenient", "strict"),
    [
        pytest.param("＠a.py", ["＠a.py"], [], id="a full-width at-sign"),
        pytest.param("@＠a", ["@＠a"], ["@＠a"], id="behind an at-sign it is a letter of the name"),
        pytest.param("＠＠a", ["＠＠a"], [], id="two full-width at-signs"),
        pytest.param("x＠a.py", [], [], id="in a word"),
        pytest.param("＠a.py，＠b.py", ["＠a.py", "＠b.py"], [], id="two full-width mentions"),
        pytest.param("@“my file.txt” x", ["@“my file.txt”"], ["@“my"], id="typographic quotes"),
        pytest.param("@«a b»", ["@«a b»"], ["@«a"], id="guillemets"),
        pytest.param('@"my file.txt"', ['@"my file.txt"'], ['@"my file.txt"'], id="plain quotes are no leniency"),
        pytest.param("only ＠ here", [], [], id="a full-width at-sign alone"),
    ],
)
def test_lenient_signs(message: str, lenient: list[str], strict: list[str]) -> None:
    """Typographic quotes and the full-width at-sign are understood unless that is switched off."""
    assert tokens(message) == [ref.token for ref in scan(message).refs] == lenient
    assert tokens(message, lenient=False) == strict


def test_offsets_are_code_points() -> None:
    """Start and end count code points, whatever their size."""
    message = "😀é\ud800 @a.py"

    ref = only(message)

    assert (ref.start, ref.end) == (4, 9)


def test_message_without_an_at_sign() -> None:
    """No at-sign, no mention; and nothing else is looked at."""
    assert scan("no mention `here`") == ([], [])


def test_same_run_many_times() -> None:
    """A token that stands in a message often is each time its own mention."""
    refs = parse("@a.py, @a.py and @a.py, too")

    assert [(ref.start, ref.end) for ref in refs] == [(0, 5), (7, 12), (17, 22)]


def test_run_is_as_long_as_a_path() -> None:
    """A name has at most 4,095 bytes, so no run is read further than that."""
    ref = only("@" + "a" * 5000)

    assert len(ref.run) == RUN_LENGTH
    assert ref.run == ref.path


@pytest.mark.parametrize("length", [RUN_LENGTH - 2, RUN_LENGTH - 1, RUN_LENGTH])
def test_run_that_is_just_short_enough(length: int) -> None:
    """A name of nearly as many characters as are read ends where it ends, not behind the next blank."""
    assert parse("@" + "a" * length + " now")[0].path == "a" * length


def test_name_far_behind_the_beginning() -> None:
    """How far from the beginning of the message a name stands has no say in where it ends."""
    assert parse("x " * RUN_LENGTH + "@a.py and so on")[0].path == "a.py"


def test_run_of_signs_that_no_name_can_be() -> None:
    """A long run of separators has an end, too."""
    message = "@" + "a," * 5000 + " @b"

    refs = parse(message)

    assert refs[-1].token == "@b"
    assert [message[ref.start : ref.end] for ref in refs] == [ref.token for ref in refs]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param('"@a.py"', True, id="double quotes"),
        pytest.param("'@types/node'", True, id="single quotes"),
        pytest.param("`@x", False, id="a backtick in front alone"),
        pytest.param("“@a”", True, id="typographic quotes"),
        pytest.param("„@a“", True, id="German quotes"),
        pytest.param("«@a»", True, id="guillemets"),
        pytest.param("「@a」", True, id="corner brackets"),
        pytest.param('"@a.py and"', False, id="the quote goes on"),
        pytest.param("\"@a.py'", False, id="another quote behind"),
        pytest.param('@a.py"', False, id="no quote in front"),
        pytest.param("(@a.py)", False, id="brackets are no quotes"),
        pytest.param('"@a.py".', True, id="a full stop behind the quote"),
    ],
)
def test_enclosed(message: str, *, expected: bool) -> None:
    """A mention is enclosed when a quote stands right before it and its partner right behind it."""
    assert only(message).enclosed is expected


@pytest.mark.parametrize(
    ("message", "stop", "rest"),
    [
        pytest.param("@my file.txt now", None, " file.txt now", id="to the end"),
        pytest.param("@my file\nnext", None, " file", id="to the line end"),
        pytest.param("@my file\r\nnext", None, " file", id="to the CR LF"),
        pytest.param("@my `code` x", None, " ", id="to a backtick"),
        pytest.param("@my file @b", 9, " file ", id="to the next mention"),
        pytest.param("@my file @b\nnext", 9, " file ", id="to the next mention, though the line goes on"),
        pytest.param("@my X.txt now", None, " X.txt now", id="a capital letter ends nothing"),
        pytest.param("@my", None, "", id="nothing behind"),
    ],
)
def test_rest_of_line(message: str, stop: int | None, rest: str) -> None:
    """Words that may belong to a name with blanks stand on the same line, before code and the next mention."""
    assert parse(message)[0].rest_of_line(stop) == rest


def test_repr_is_one_line_and_holds_no_message() -> None:
    """A Ref shows its token and place, not the message that it keeps."""
    ref = parse("a secret plan\nsee @a.py:3-4, now")[0]

    assert repr(ref) == "Ref('@a.py:3-4', start=18, end=27, path='a.py', lines=(3, 4))"
    assert repr(parse("@b")[0]) == "Ref('@b', start=0, end=2, path='b')"


def test_text_up_to_an_end() -> None:
    """`upto` gives the mention in another reading."""
    assert only("see @a.py, now").upto(10) == "@a.py,"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("..", True, id="two dots"),
        pytest.param(".", True, id="one dot"),
        pytest.param("a/..", True, id="two dots behind a slash"),
        pytest.param("a/.", False, id="a full stop behind a folder"),
        pytest.param("a..", False, id="dots behind a letter"),
        pytest.param("a/...", True, id="three dots behind a slash"),
    ],
)
def test_dots_only(text: str, *, expected: bool) -> None:
    """A part of dots is a name; a dot behind a name or a folder ends a sentence."""
    assert dots_only(text, len(text)) is expected


def test_text_without_backslash_needs_no_unescaping() -> None:
    """What holds no backslash is given back as it is."""
    name = "a b.txt"

    assert unescape_bare(name) is name
    assert unescape_quoted(name) is name


@pytest.mark.parametrize("message", [pytest.param(b"@a", id="bytes"), pytest.param(None, id="None"), pytest.param(["@a"], id="a list")])
def test_error_message_is_no_string(message: object) -> None:
    """Only text has mentions."""
    with pytest.raises(OptionTypeError) as caught:
        parse(message)  # type: ignore[arg-type]

    assert (caught.value.option, caught.value.value) == ("message", message)
    assert str(caught.value) == f"`message` must be a string, not {message!r}"


@pytest.mark.parametrize("code", ["", "INERT", None, True])
def test_error_unknown_code_policy(code: object) -> None:
    """There are two ways to treat code."""
    with pytest.raises(OptionError) as caught:
        parse("@a", code=code)  # type: ignore[arg-type]

    assert (caught.value.option, caught.value.value) == ("code", code)
    assert str(caught.value) == f'`code` must be "inert" or "load", not {code!r}'
