"""
The patterns of the grammar: where an at-sign opens a mention, what a bare or quoted one may hold, ranges.

Most messages are ASCII and have nothing odd in front of an at-sign.  For those there is a plain form of the pattern that
the standard library can match, in a fifth of the time, and `regex` need not be loaded.  Both take the same mentions.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import regex

TokenPattern: TypeAlias = "re.Pattern[str] | regex.Pattern[str]"
TokenMatch: TypeAlias = "re.Match[str] | regex.Match[str]"

# Left boundary (R4).  A letter or digit of a script that writes blanks between words, or one of these signs, in
# front of an at-sign makes it part of a word, an address, an operator.
_JOINED_SCRIPTS = "Han Hira Kana Bopo Hang Thai Lao Khmr Mymr Tibt Yiii Bali Java Lana Talu Tale Tavt"
JOINED_LETTER = r"[[\p{L}\p{M}\p{N}]&&[" + "".join(rf"\p{{scx={script}}}" for script in _JOINED_SCRIPTS.split()) + "]]"
# The enclosing keycap makes an emoji of the digit under it; it counts as no mark.
_MARK = r"[\p{M}--[\u20e3]]"
_WORD = rf"[[\p{{L}}\p{{Nd}}\p{{Nl}}]--{JOINED_LETTER}--[\uff10-\uff19]]"
_HARD = rf"[{_WORD}.%+\-=/@\uff20&\#$]"
_SOFT = rf"[{_MARK}_*~\\]"

# What must hold in front of the at-sign is looked at behind it, so that the search is one for a literal.  A mark
# counts as the letter it stands on, emphasis (`*@a.py*`) opens where the run of `_ * ~` itself stands at a
# boundary, and an even number of backslashes is so many backslashes (R3).
_OPENS = rf"""
    (?: (?<= [\s("'\[{{<,;:] AT )  # what mostly stands there, before the costly sets are asked
      | (?<! [A-Za-z0-9.%+\-=/@&\#$] AT ) (?<! {_HARD} AT )
        (?: (?<! {_SOFT} AT )
          | (?<= (?: ^ | (?! {_HARD} | {_SOFT} ) . ) {_MARK}++ AT )
          | (?<= (?<! {_HARD} | {_SOFT} ) [_*~]++ AT )
          | (?<= (?<! \\ ) (?: \\\\ ){{1,2047}}+ AT )
        )
    )"""

# Right end (R7).  No-break blanks may belong to a name; all other white space ends a run.
_BLANK = r"[\s--[\u00a0\u2007\u202f]]"
ESCAPABLE = r"""[ \t"'`()\[\]{}<>,;:!?&$*|~\#=%^+@“”‘’]"""

# Ranges (R10), in every form that editors and code hosts write.
RANGE = r"""
    (?: : L? (?P<first>[0-9]++) (?: [-–] (?: L? (?P<last>[0-9]++) )? | : [0-9]++ )?
      | \# L (?P<first>[0-9]++) (?: [-–] (?: L? (?P<last>[0-9]++) )? )?
      | \# (?P<first>[0-9]++) [-–] (?: L? (?P<last>[0-9]++) )?
    )"""

# An escape is two pieces, so a name of 4,095 bytes may have twice as many.
_QUOTED = r""" " (?P<double> (?: [^"\\\r\n]++ | \\["\\] | \\ ){1,8190}+ ) "
             | ' (?P<single> [^'\r\n]++ ) ' """
_TYPOGRAPHIC = r"""
             | [“„”] (?P<single> [^“”„\r\n]++ ) [“”] | [‘‚’] (?P<single> [^‘’‚\r\n]++ ) [‘’]
             | « (?P<single> [^«»\r\n]++ ) » | ‹ (?P<single> [^‹›\r\n]++ ) ›"""


def find_pattern(message: str, *, wide: bool, lenient: bool) -> TokenPattern:
    """Return the pattern that finds the mentions in *message*; `lastgroup` of a match tells the form: "bare", else quoted."""
    if message.isascii() and not _ODD.search(message):
        return _plain_pattern()
    return _full_pattern(wide=wide, lenient=lenient)


# Emphasis, escapes and quotes: all that the plain form leaves out of what ASCII can hold.
_ODD = re.compile(r"""@(?:(?<=[_*~\\]@)|["'])""")


@cache
def _plain_pattern() -> TokenPattern:
    opens = r"(?<! [A-Za-z0-9.%+\-=/@&\#$] @ )"
    # The alternatives begin with different characters and nothing follows them, so there is nothing to go back for.
    return re.compile(
        rf"""(?x) @ (?! [\t-\r\ ] | \Z ) {opens}
        (?P<bare> (?: [^\t-\r\ \\@]+ | \\ (?: {ESCAPABLE} | \\ )? | (?! @ {opens} ) @ ){{1,4095}} )"""
    )


@cache
def _full_pattern(*, wide: bool, lenient: bool) -> TokenPattern:
    import regex

    at = r"[@\uff20]" if wide else "@"
    opens = _OPENS.replace("AT", at)
    return regex.compile(
        rf"""(?V1xs) {at} (?! \s | $ ) {opens}
        (?: (?: {_QUOTED} {_TYPOGRAPHIC if lenient else ""} ) (?P<range> {RANGE} (?! [A-Za-z0-9_] ) )? (?P<quoted>)
          | (?P<bare> (?! ["'] ) (?: [^\s\\@\uff20]++ | [\u00a0\u2007\u202f] | \\ [{ESCAPABLE}\\]? | (?! {at} {opens} ) [@\uff20] ){{1,4095}}+ )
        )"""
    )


@cache
def range_at_end() -> regex.Pattern[str]:
    """Return the pattern of a range that ends where the searched text ends."""
    import regex

    return regex.compile(rf"(?V1x) {RANGE} $")
