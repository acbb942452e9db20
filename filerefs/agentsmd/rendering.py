"""
Instruction files -> the text that a model reads, in one of four styles.

    project_context    an element with a path for each file, inside one element
    instructions       a heading, then all texts between two tags
    headings           a heading for each file below one heading
    system_reminder    a header line for each file, inside one element

The frames are byte-exact: other programs recognise them.  No text can close or forge one, see `frames`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from filerefs.agentsmd import frames
from filerefs.agentsmd.documents import Discovery
from filerefs.agentsmd.wording import wording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from filerefs.agentsmd.documents import Doc
    from filerefs.agentsmd.frames import Style
    from filerefs.agentsmd.wording import Language, Wording

PART_ID = "agentsmd"
"""What the rendered text is called among the parts of a prompt: always the same, so that it can be found and replaced."""

TITLE = "## Project instructions"
SEPARATOR = "--- project-doc ---"


def render(
    docs: Iterable[Doc],
    *,
    style: Style | None = None,
    language: Language = "en",
    directory: str = "",
    roots: Mapping[str, str] | None = None,
    hierarchy_note: bool = False,
) -> str:
    """
    Return *docs* as one text, in their order, without a line feed at the end; "" if there is nothing to say.

    Texts stand as they are but for what would read as a frame.  A blank file is left out, except in the style
    "project_context", where it is an element with an empty line.

    Args:
        docs: What discovery found; each name stands above its text, except in the style "instructions".
        style: One of `frames.STYLES`; None takes that of the profile by which a `Discovery` was made, else "headings".
        language: "en" or "zh": of the prose.  The frames are the same, but for the file headers of "system_reminder".
        directory: The folder that the heading of the style "instructions" names, "" for none.
        roots: For the same style, what the label lines of several roots say behind "with root", by label.
        hierarchy_note: Whether to add how such files apply that were not found yet.  In the style "instructions" it is
            a text of its own, which stands there also without any file.

    Raises:
        OptionError: If *style* or *language* is none of those.

    .. versionadded:: 0.1
    """
    if style is None:
        style = docs.profile.style if isinstance(docs, Discovery) and docs.profile else "headings"
    frames.check_style(style)
    said = wording(language)
    if style == "instructions":
        docs = list(docs)
        text = compose(docs, language=language, roots=roots, hierarchy_note=hierarchy_note)
        return wrap(text, directory="" if len(_groups(docs)[1]) > 1 else directory)
    shown = [doc for doc in docs if style == "project_context" or doc.text.strip()]
    note = said.hierarchy if hierarchy_note else ""
    return _LAYOUTS[style](shown, said, note) if shown else ""


def compose(
    docs: Iterable[Doc],
    *,
    language: Language = "en",
    roots: Mapping[str, str] | None = None,
    hierarchy_note: bool = False,
) -> str:
    """
    Return what stands between the tags of the style "instructions": user texts, a separator, project texts, the note.

    Texts are joined by a blank line.  Where several roots contribute, each group of texts has a label line instead
    of the separator.  The arguments are those of `render`.

    .. versionadded:: 0.1
    """
    user, groups = _groups(docs)
    parts = list(map(_instructions_body, user))
    if user and len(groups) == 1:
        parts.append(SEPARATOR)
    for label, group in groups.items():
        parts += [_root_line(label, (roots or {}).get(label, ""))] if len(groups) > 1 else []
        parts += map(_instructions_body, group)
    if hierarchy_note:
        parts.append(wording(language).hierarchy)
    return frames.neutralise_seams("\n\n".join(parts), "instructions")


def wrap(text: str, *, directory: str = "") -> str:
    """
    Return a *text* made by `compose` in the frame of the style "instructions"; "" for a blank one.

    .. versionadded:: 0.1
    """
    if not text.strip():
        return ""
    place = f" for {frames.neutralise_tags(frames.label(directory), 'instructions')}" if directory else ""
    return f"# AGENTS.md instructions{place}\n\n<INSTRUCTIONS>\n{text}\n</INSTRUCTIONS>"


def heading_block(name: str, text: str) -> str:
    """Return *text* below the heading of the file *name* in the style "headings", without line ends behind it; tags stand as they are."""
    return f"### {frames.heading(name)}\n\n{frames.neutralise(text, 'headings')}".rstrip("\n")


def sections(parts: Iterable[str]) -> str:
    """Return *parts* below the title of the style "headings", a blank line before each."""
    return frames.neutralise_seams("\n\n".join((TITLE, *parts)), "headings")


def _groups(docs: Iterable[Doc]) -> tuple[list[Doc], dict[str, list[Doc]]]:
    """Return the user's own files, and the others by the label of their root; an import belongs to what imports it."""
    user: list[Doc] = []
    groups: dict[str, list[Doc]] = {}
    names: set[str] = set()
    for doc in docs:
        if not doc.text.strip():
            continue
        if doc.origin == "user" or (doc.imported_by and doc.imported_by[0] in names):
            names.add(doc.name)
            user.append(doc)
        else:
            groups.setdefault(doc.root, []).append(doc)
    return user, groups


def _instructions_body(doc: Doc) -> str:
    return frames.neutralise(doc.text, "instructions")


def _root_line(label: str, path: str) -> str:
    where = f" with root {frames.label(path)}" if path else ""
    return f"for `{frames.label(label)}`{where}"


def _project_context(docs: Sequence[Doc], _: Wording, note: str) -> str:
    elements = [
        f'<project_instructions path="{frames.attribute(doc.name)}">\n{_with_line_end(frames.neutralise(doc.text, "project_context"))}</project_instructions>\n'
        for doc in docs
    ]
    return "".join(("<project_context>\n", *elements, note and f"{note}\n", "</project_context>"))


def _headings(docs: Sequence[Doc], said: Wording, note: str) -> str:
    return sections((said.introduction, *([note] if note else []), *(heading_block(doc.name, doc.text) for doc in docs)))


def _system_reminder(docs: Sequence[Doc], said: Wording, note: str) -> str:
    blocks = [f"\n{said.file_header.format(name=frames.label(doc.name))}\n\n{frames.neutralise(doc.text, 'system_reminder')}\n" for doc in docs]
    inner = "".join((f"{said.reminder}\n", *blocks, note and f"\n{note}\n", f"{said.irrelevance}\n"))
    return f"<system-reminder>\n{frames.neutralise_seams(inner, 'system_reminder')}</system-reminder>"


def _with_line_end(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


_LAYOUTS: dict[Style, Callable[[Sequence[Doc], Wording, str], str]] = {
    "project_context": _project_context,
    "headings": _headings,
    "system_reminder": _system_reminder,
}
