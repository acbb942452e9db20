"""A chat without its surface: what is sent, what is remembered, what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from filerefs import Preprocessor
from filerefs.chat.conversation import Conversation, Exchange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Tree


@pytest.fixture
def chat(tree: Tree) -> Iterator[Conversation]:
    folder = tree({"a.py": "A = 1\n", "b.py": "B = 1\n", "my file.txt": "M\n", "d/x.py": "X\n"})
    with Preprocessor(folder) as preprocessor:
        yield Conversation(preprocessor, prompt="BASE", instructions="RULES")


def test_files_are_in_one_turn_only(chat: Conversation) -> None:
    """The section is in the prompt of its own turn, behind prompt and instructions, and never in the history."""
    first = chat.take("explain @a.py")
    chat.remember(first.message, "done")
    second = chat.take("thanks")

    assert first.prompt.startswith("BASE\n\nRULES\n\n<!-- filerefs:begin -->")
    assert "A = 1" in first.prompt
    assert second.prompt == "BASE\n\nRULES" == chat.base
    assert [Exchange("explain a.py", "done")] == chat.history


def test_what_is_kept_is_in_every_turn_as_it_is_then(chat: Conversation, tree: Tree) -> None:
    """A kept file needs no mention, is read again when it changed, and does not show in the message."""
    (kept,) = chat.keep("@a.py")
    first = chat.take("and @b.py?")
    tree({"a.py": "A = 2222\n"})
    second = chat.take("```\nand now")

    assert kept.path == "a.py"
    assert ["@a.py"] == chat.kept
    assert ("and b.py?", "```\nand now") == (first.message, second.message)
    assert ["a.py", "b.py"] == [outcome.path for outcome in first.attached]
    assert "A = 2222" in second.prompt
    assert all(first.original[start:end] == outcome.token for outcome in first.outcomes for start, end in outcome.spans)


def test_a_message_with_blank_lines_stays_whole(chat: Conversation) -> None:
    """Whatever a message looks like, what is kept leaves it as it would be without."""
    message = "\n\n one\n\ntwo @b.py\n\n\n"
    alone = chat.take(message).message

    chat.keep('@"my file.txt" @a.py:1')

    assert alone == chat.take(message).message
    assert ['@"my file.txt"', "@a.py:1"] == chat.kept


def test_dropping(chat: Conversation) -> None:
    """One reference is dropped by its path, or all at once; what is not kept cannot be dropped."""
    chat.keep("@a.py @b.py @d/")

    assert ["@d/"] == chat.drop("@d")
    assert [] == chat.drop("@d")
    assert ["@a.py", "@b.py"] == chat.drop()
    assert [] == chat.kept


def test_a_name_with_blanks_is_kept_so_that_it_stands_alone(chat: Conversation, tree: Tree) -> None:
    """What was read out of unquoted blanks gets its quotes, with its lines, and other files named alike are left alone."""
    chat.keep("@my file.txt:1 @a.py")
    tree({"my": "MY\n"})
    chat.keep("@my")

    assert ['@"my file.txt":1', "@a.py", "@my"] == chat.kept
    assert ['@"my file.txt":1'] == chat.drop("@my file.txt")
    assert ["@a.py", "@my"] == chat.kept


def test_dropping_what_is_gone(chat: Conversation, tree: Tree) -> None:
    """A file that was deleted can be dropped by its name, also beside others."""
    folder = tree({"gone.py": "", "gone too.txt": ""})
    chat.keep('@gone.py @a.py @"gone too.txt"')
    (folder / "gone.py").unlink()
    (folder / "gone too.txt").unlink()

    assert ['@"gone too.txt"'] == chat.drop("@gone too.txt")
    assert ["@gone.py", "@a.py"] == chat.drop("@a.py and @gone.py")


def test_error_what_cannot_be_attached_is_not_kept(chat: Conversation) -> None:
    """A refused reference is told and not kept, and a word is none."""
    (refused,) = chat.keep("@nothing.py and @alice")

    assert refused.status == "refused"
    assert [] == chat.kept


def test_clearing(chat: Conversation) -> None:
    """Afterwards nothing of the chat is left but its prompt."""
    chat.keep("@a.py")
    chat.remember(chat.take("x").message, "y")

    chat.clear()

    assert ([], [], None) == (chat.history, chat.kept, chat.turn)
    assert chat.take("x").prompt == "BASE\n\nRULES"
