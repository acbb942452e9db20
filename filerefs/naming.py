"""Names of files: as a reference, as a label, as people see them, and whether a name is that of a secret."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from filerefs.errors import OptionTypeError, PathFormatError

# Not `typing`: with what it needs it takes half as long as the interpreter's start, and a hook must not.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LABEL_LENGTH = 200
_RANGES = 8

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./")
# Letters by category that show nothing: Hangul fillers and the blank Braille pattern.
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
# What a plain path in a message would not be read with as one word.
_DIVIDING = frozenset(' "\\@')
_HIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))


def format_ref(path: str, lines: tuple[int, int | None] | None = None) -> str:
    r"""
    Return the reference that names *path* in a message: what `parse` reads back as exactly this path.

    A path of letters, marks, digits and ``_ - . /`` that neither starts with ``-`` nor ends with a dot is
    written bare (``@src/app.py``), any other in double quotes (``@"my file.txt"``), where ``\"`` and ``\\``
    stand for themselves and ``\u{HEX}`` for a control character, U+2028, U+2029 or a lone surrogate.

    Args:
        path: Normalised, relative to the root, ``/``-separated.
        lines: First and last line, counted from 1; a last line of None means "to the end".

    Raises:
        PathFormatError: If *path* is empty or holds a NUL.
        OptionTypeError: If *path* is no string, or *lines* no pair.

    .. versionadded:: 0.1
    """
    _check_types(path, lines)
    if not path:
        raise PathFormatError(path, "it is empty")
    if "\0" in path:
        raise PathFormatError(path, "it holds a NUL")
    name = path if _is_bare(path) else '"' + "".join(map(_escape_quoted, path)) + '"'
    return "@" + name + format_range(lines)


def _check_types(path: object, lines: object) -> None:
    if not isinstance(path, str):
        raise OptionTypeError("path", path, "a string")
    match lines:
        case None | (int(), int() | None):
            return
        case _:
            raise OptionTypeError("lines", lines, "a pair of numbers (first, last), or None")


def format_range(lines: tuple[int, int | None] | None) -> str:
    """Return *lines* as they stand behind a name: `:4`, `:4-9`, `:4-`, or nothing for None."""
    if lines is None:
        return ""
    first, last = lines
    if last is None:
        return f":{first}-"
    return f":{first}" if first == last else f":{first}-{last}"


def line_numbers(lines: Sequence[tuple[int, int]]) -> str:
    """Return which *lines* these are, for people: `line 4`, `lines 4-9, 12`; of many ranges the first."""
    ranges = [f"{first}" if first == last else f"{first}-{last}" for first, last in lines[:_RANGES]]
    more = len(lines) - len(ranges)
    word = "line" if len(lines) == 1 and lines[0][0] == lines[0][1] else "lines"
    rest = "" if not more else " and 1 more range" if more == 1 else f" and {more} more ranges"
    return f"{word} {', '.join(ranges)}{rest}"


def plain_form(path: str) -> str:
    """Return *path* as it stands in a rewritten message: as it is, unless it would not be read as one word."""
    if path.isascii() and path.isprintable() and _DIVIDING.isdisjoint(path):
        return path
    odd = any(sign.isspace() or sign in _DIVIDING or unicodedata.category(sign)[0] == "C" for sign in path)
    return format_ref(path)[1:] if odd else path


def printable(text: str) -> str:
    r"""
    Return *text* as one line in which nothing hides: what a person sees is what there is.

    Control, format (bidirectional, zero-width), surrogate and line-separating characters and blank letters
    become ``\u{hex}``.  Where there is one of them, or a ``\u{`` of the text's own, every backslash is doubled, so that
    two names never look the same.
    """
    if "\\u{" not in text and ((text.isascii() and text.isprintable()) or not any(map(is_hidden, text))):
        return text
    return "".join(f"\\u{{{ord(sign):x}}}" if is_hidden(sign) else "\\\\" if sign == "\\" else sign for sign in text)


def is_hidden(sign: str) -> bool:
    """Tell whether a character changes or hides what stands around it instead of showing itself."""
    return unicodedata.category(sign) in _HIDDEN_CATEGORIES or sign in _BLANK_LETTERS


def label(text: str) -> str:
    """Return *text* as a heading: one printable line, cut in the middle at 200 code points."""
    shown = printable(text)
    if len(shown) <= LABEL_LENGTH:
        return shown
    half = (LABEL_LENGTH - 1) // 2
    return shown[: LABEL_LENGTH - 1 - half] + "…" + shown[-half:]


def human_size(size: int) -> str:
    """Return *size* bytes for people: `742 B`, `12.3 KB`, `1.2 MB`; a step is 1,024."""
    if size < 1024:
        return f"{size} B"
    amount = float(size)
    for unit in ("KB", "MB", "GB", "TB"):
        amount /= 1024
        # What would be shown as 1024.0 is one of the next unit.
        if amount < 1023.95 or unit == "TB":
            break
    return f"{amount:.1f} {unit}"


def _is_bare(path: str) -> bool:
    if path[0] == "-" or path[-1] == ".":
        return False
    if path.isascii():
        return _BARE.issuperset(path)
    return all(sign in _BARE or unicodedata.category(sign) in _NAME_CATEGORIES for sign in path)


_NAME_CATEGORIES = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd"))


def _escape_quoted(sign: str) -> str:
    if sign in '"\\':
        return "\\" + sign
    if unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp"):
        return f"\\u{{{ord(sign):x}}}"
    return sign


# Who can read one of these can act as its owner.  The table is from design.md, chapter 5: names under which
# widespread tools keep credentials.
_SECRET_NAMES = frozenset(
    (
        ".env",
        ".envrc",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".htpasswd",
        ".git-credentials",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "credentials.json",
        "terraform.tfstate",
        ".bash_history",
        ".zsh_history",
    )
)
_SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".jks", ".kdbx", ".ppk")
_SECRET_FOLDERS = frozenset((".git", ".ssh", ".gnupg", ".aws", ".azure", ".kube"))
_SECRET_BEGINNINGS = (*_SECRET_NAMES, *_SECRET_FOLDERS)
_ENV_TEMPLATES = frozenset((".env.example", ".env.sample", ".env.template", ".env.dist"))


def is_secret(parts: Sequence[str], *, directory: bool) -> bool:
    """
    Tell whether the file or directory at *parts* is one that holds credentials, going by its name alone.

    Every part is folded first, so that another spelling of a secret name is no way around: default-ignorable
    characters dropped, NFKC, case folded, trailing dots and blanks dropped.  A *directory* that only has the
    name of a secret file is none.  This is a seat belt, not a wall: a secret under another name is not seen.
    """
    folded = [_fold(part) for part in parts]
    if not _SECRET_FOLDERS.isdisjoint(folded):
        return True
    if any(pair == (".config", "gcloud") for pair in pairwise(folded)):
        return True
    if directory or not folded:
        return False
    name = folded[-1]
    if name in _SECRET_NAMES or name.endswith(_SECRET_ENDINGS):
        return True
    if name.startswith(".env.") and name not in _ENV_TEMPLATES:
        return True
    return name == "config.json" and folded[-2:-1] == [".docker"]


def may_begin_as_secret(text: str) -> bool:
    """Tell whether *text*, ASCII in lower case and without a slash, may begin with a name that `is_secret` takes."""
    return text.startswith(_SECRET_BEGINNINGS) or any(ending in text for ending in _SECRET_ENDINGS)


def _fold(part: str) -> str:
    if not part.isascii():
        part = "".join(sign for sign in part if not _is_ignorable(sign))
        part = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", part).casefold())
        part = "".join(sign for sign in part if not _is_ignorable(sign))
    return part.casefold().rstrip(". ")


def _is_ignorable(sign: str) -> bool:
    """Default_Ignorable_Code_Point, near enough: format characters, variation selectors, fillers, joiners."""
    return (
        unicodedata.category(sign) == "Cf"
        or "\ufe00" <= sign <= "\ufe0f"
        or "\U000e0000" <= sign <= "\U000e0fff"
        or sign in "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2065\u3164\uffa0"
    )
