"""Instruction texts in a list of messages: once, found again, kept out of summaries, and told about when they change."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs.agentsmd import marks
from filerefs.agentsmd.history import Message, find_place, insert, is_injected, keep_conversation, sent_text, strip_injected
from filerefs.agentsmd.loader import Loader
from filerefs.agentsmd.profiles import CODEX as CODEX_PROFILE
from filerefs.agentsmd.profiles import EINO
from filerefs.agentsmd.refreshing import EachTurn, Frozen, WhenChanged, compare, notice, refresh
from filerefs.agentsmd.rendering import render, wrap
from filerefs.agentsmd.wording import wording
from filerefs.agentsmd.wrappers import is_wrapped
from filerefs.errors import OptionError

from .cases import Row, rows

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Tree

SYSTEM: Message = {"role": "system", "content": "s"}
USER: Message = {"role": "user", "content": "hello", "id": 7}
ANSWER: Message = {"role": "assistant", "content": "ok"}
CODEX = wrap("old", directory="/w")


def user(content: Any, **more: Any) -> Message:
    """Return a message of the user."""
    return {"role": "user", "content": content, **more}


def roles(messages: list[Message]) -> str:
    """Return a letter a message: its role's first one, `+` for what was injected."""
    return "".join("+" if is_injected(message) else message["role"][0] for message in messages)


@pytest.mark.parametrize(
    ("messages", "place", "expected"),
    [
        pytest.param([USER], "first", "+u", id="before the user's first message"),
        pytest.param([SYSTEM, USER], "first", "s+u", id="behind the system's"),
        pytest.param([SYSTEM, ANSWER], "first", "s+a", id="without a user's message: not behind the last answer"),
        pytest.param([], "first", "+", id="into nothing"),
        pytest.param([USER, ANSWER, USER], "last", "ua+u", id="before the user's last message"),
        pytest.param([USER, {"role": "compaction", "content": "c"}, ANSWER], "last", "u+ca", id="before the last summary"),
        pytest.param([SYSTEM], "last", "s+", id="last without a user's message"),
        pytest.param([user(CODEX), USER], "first", "++u", id="behind what others put in"),
    ],
)
def test_insert_places_a_message(messages: list[Message], place: Any, expected: str) -> None:
    """The text becomes a message of the user, marked, before the real one that it is about."""
    assert roles(insert(messages, "T", place=place)) == expected


def test_insert_keeps_the_input() -> None:
    """A new list with the same messages is returned, extra keys included; what was given is not changed."""
    messages = [SYSTEM, user([{"type": "text", "text": "a", "cache": 1}], name="ann")]
    before = copy.deepcopy(messages)
    after = insert(messages, "T")

    assert messages == before
    assert [after[0], after[2]] == before


def test_insert_marks_its_text() -> None:
    """The text stands at the front; the mark is one line behind it, and a key of the host's is set where it wants one."""
    message = insert([USER], "T", part="p", key="__agentsmd_content__")[0]

    assert message["content"] == marks.mark("T", "p")
    assert message["content"].startswith("T\n<!-- agentsmd:p v1 text ")
    assert message["__agentsmd_content__"] == "p"
    assert message["role"] == "user"


@pytest.mark.parametrize("place", ["first", "last", "system"])
def test_insert_twice_is_insert_once(place: Any) -> None:
    """What is there stays where it is, also when messages were added behind it."""
    once = insert([SYSTEM, USER], "T", place=place)

    assert insert(once, "T", place=place) == once
    assert insert([*once, ANSWER, USER], "T", place=place) == [*once, ANSWER, USER]


@pytest.mark.parametrize("place", ["first", "last", "system"])
def test_another_text_takes_the_place(place: Any) -> None:
    """A part has one text: a new one stands where the old one stood."""
    once = insert([SYSTEM, USER], "T1", place=place)

    assert insert(once, "T2", place=place) == insert([SYSTEM, USER], "T2", place=place)


def test_doubles_go() -> None:
    """Where a store doubled messages, one stays."""
    once = insert([USER], "T")

    assert insert([once[0], *once], "T") == once


def test_no_text_takes_the_part_out() -> None:
    """Without instructions nothing is left of the part, and others stay."""
    both = insert(insert([SYSTEM, USER], "A", part="a"), "B", part="b")

    assert insert(both, "", part="a") == insert([SYSTEM, USER], "B", part="b")
    assert insert([USER], "") == [USER]


def test_two_parts_do_not_cancel_each_other() -> None:
    """A global and a project's instance each have their text, in the order in which they came."""
    both = insert(insert([USER], "G", part="global"), "P", part="project")

    assert [message["content"][0] for message in both] == ["G", "P", "h"]
    assert insert(insert(both, "G", part="global"), "P", part="project") == both


def test_a_text_that_was_summed_up_comes_back() -> None:
    """After a compaction that dropped it, the text is put in again, byte for byte the same."""
    before = insert([USER, ANSWER], "T")
    compacted = [{"role": "compaction", "content": "summary"}, USER]
    after = insert(compacted, "T", place="last")

    assert roles(after) == "c+u"
    assert after[1] == before[0]


def test_two_parts_in_one_system_message() -> None:
    """In a system message each part stands behind what is there, and either is taken out byte for byte."""
    first = insert([SYSTEM, USER], "A", part="a", place="system")
    both = insert(first, "B", part="b", place="system")

    assert both[0]["content"] == f"s\n\n{marks.mark('A', 'a', separators=2)}\n\n{marks.mark('B', 'b', separators=2)}"
    assert insert(both, "", part="b") == first
    assert insert(both, "", part="a") == insert([SYSTEM, USER], "B", part="b", place="system")
    assert strip_injected(both) == [SYSTEM, USER]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"role": "system", "content": ""}, id="empty"),
        pytest.param({"role": "system", "content": "a\n"}, id="with a line end"),
        pytest.param({"role": "developer", "content": [{"type": "text", "text": "x"}], "name": "n"}, id="parts"),
        pytest.param({"role": "system", "content": []}, id="no parts"),
    ],
)
def test_system_messages_are_restored(message: Message) -> None:
    """Taking the text out gives back the system message, an empty one as well."""
    injected = insert([message, USER], "T", place="system")
    assert sent_text(injected) == "T"

    assert strip_injected(injected) == [message, USER]


def test_a_system_message_is_made_where_there_is_none() -> None:
    """It goes with the text."""
    injected = insert([USER], "T", place="system")

    assert roles(injected) == "+u"
    assert injected[0]["role"] == "system"
    assert strip_injected(injected) == [USER]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(marks.mark("T", "a"), id="our mark"),
        pytest.param(marks.mark("a\nb", "a").replace("\n", "\r\n"), id="our mark after a store changed the line ends"),
        pytest.param([{"type": "text", "text": marks.mark("T", "a")}], id="our mark in a part"),
        pytest.param(CODEX, id="Codex"),
        pytest.param(f"\n {CODEX.upper()} \n", id="Codex, blanks around, another case"),
        pytest.param(wrap("x"), id="Codex, without a folder"),
        pytest.param("<environment_context>\n<cwd>/w</cwd>\n</environment_context>", id="environment"),
        pytest.param("<skill>x</skill>", id="skill"),
        pytest.param("<user_shell_command>ls</user_shell_command>", id="shell command"),
        pytest.param("<turn_aborted>x</turn_aborted>", id="aborted turn"),
        pytest.param("<subagent_notification>{}</subagent_notification>", id="notification"),
        pytest.param("<user_instructions>\nx\n</user_instructions>", id="the oldest wrapper"),
        pytest.param("<system-reminder>\nx\n</system-reminder>", id="reminder"),
        pytest.param([{"type": "input_text", "text": CODEX}, "<skill>x</skill>"], id="all parts"),
    ],
)
def test_injected_messages_are_known(content: Any) -> None:
    """Marks of our own and blocks of others are no words of the user."""
    assert is_injected(user(content))
    assert strip_injected([user(content), USER]) == [USER]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(user("T", __agentsmd_content__=True), id="beside the text"),
        pytest.param(user("T", extra={"__agentsmd_content__": 1}), id="in extra"),
    ],
)
def test_injected_messages_are_known_by_their_key(message: Message) -> None:
    """Hosts that mark messages by a key are understood."""
    assert is_injected(message)
    assert strip_injected([message]) == []


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(user(f"Why do I see this?\n{CODEX}"), id="words in front of a block"),
        pytest.param(user(f"{CODEX}\nWhat is it?"), id="words behind a block"),
        pytest.param(user(f"{CODEX}\n\nand why also {wrap('x')}"), id="begins and ends like a block, with words between"),
        pytest.param(user(f"```\n{CODEX}\n```"), id="a block in a fence"),
        pytest.param(user("# AGENTS.md instructions for beginners: what is </INSTRUCTIONS>"), id="both marks, no block"),
        pytest.param(user("<skill>x</skill> is what I see, and <skill>y</skill>"), id="two tags with words between"),
        pytest.param(user(f"look: {marks.mark('T', 'a')}"), id="words in front of our mark"),
        pytest.param(user(f"{marks.mark('T', 'a')}\nthere"), id="words behind our mark"),
        pytest.param(user(marks.mark("T", "a").replace("T", "U", 1)), id="our mark under another text"),
        pytest.param(user(marks.mark("T", "a").replace("chars=1", "chars=9")), id="a mark with another length"),
        pytest.param(user([{"type": "text", "text": CODEX}, {"type": "image", "data": "…"}]), id="a picture beside it"),
        pytest.param(user([{"type": "text", "text": CODEX}, {"type": "text", "text": "hi"}]), id="words beside it"),
        pytest.param({"role": "assistant", "content": CODEX}, id="an answer that quotes a block"),
        pytest.param({"role": "tool", "content": marks.mark("T", "a")}, id="the result of a tool"),
        pytest.param(user(""), id="nothing"),
        pytest.param(user(None), id="no content"),
        pytest.param(user([]), id="no parts"),
        pytest.param({"role": "user"}, id="no content at all"),
    ],
)
def test_real_messages_are_not_taken(message: Message) -> None:
    """Quoting a block or a mark does not make a message an injected one."""
    assert not is_injected(message)
    assert sent_text([message]) is None


def test_injected_parts_go_alone() -> None:
    """Of a message in which the user says something, that stays."""
    picture = {"type": "image", "data": "…"}
    said = {"type": "text", "text": "hi"}
    message = user([{"type": "text", "text": "<system-reminder>\nx\n</system-reminder>"}, said, picture], id=1)

    assert strip_injected([message]) == [user([said, picture], id=1)]


def test_a_quoted_text_in_a_user_message_stays_whole() -> None:
    """From the middle of a message only a system's is changed."""
    quoting = user(f"before\n\n{marks.mark('T', 'a', separators=2)}\nafter")

    assert strip_injected([quoting]) == [quoting]


def test_a_forged_text_inside_ours_goes_with_it() -> None:
    """A file that holds a mark of its own does not split the text around it."""
    forged = f"x\n{marks.mark('evil', 'agentsmd')}\ny"
    injected = insert([SYSTEM, USER], forged, place="system")

    assert sent_text(injected) == forged
    assert strip_injected(injected) == [SYSTEM, USER]
    assert insert([USER], forged) == insert(insert([USER], forged), forged)


def test_conversation_that_is_kept() -> None:
    """A compaction keeps what people and the model said and the summary, not what is sent anew."""
    items = [("developer", "d"), ("user", CODEX), ("user", "fix it"), ("assistant", "ok"), ("system", "s"), ("tool-call", ""), ("compaction", "c")]
    kept = keep_conversation({"role": role, "content": content} for role, content in items)

    assert [(message["role"], message["content"]) for message in kept] == [("user", "fix it"), ("assistant", "ok"), ("compaction", "c")]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        pytest.param({"part": "a b"}, "part", id="a blank in the part"),
        pytest.param({"part": ""}, "part", id="no part"),
        pytest.param({"part": "x -->"}, "part", id="a part that ends the mark"),
        pytest.param({"place": "middle"}, "place", id="another place"),
    ],
)
def test_error_insert_misused(options: Any, named: str) -> None:
    """Misuse raises and names the option."""
    with pytest.raises(OptionError, match=named):
        insert([USER], "T", **options)


def test_marks_cost_no_square() -> None:
    """A prompt of nothing but wrong marks is given up on, and the real one at its end is found."""
    wrong = marks.mark("x", "a").replace("sha256=", "sha256=0")[:-5] + " -->"
    many = "y" + marks.mark("x", "a").replace("chars=1", "chars=2") * 20_000

    assert marks.find(wrong * 3) == []
    assert marks.find(marks.mark("T", "p")[:-1] + "!") == []
    assert [found.text for found in marks.find(f"{many}\n\n{marks.mark('T', 'p', separators=2)}")] == ["T"]


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        pytest.param("old", "new", "replaced", id="another text"),
        pytest.param("old", None, "removed", id="gone"),
        pytest.param("old", "", "removed", id="empty"),
        pytest.param("old", "old", "unchanged", id="the same"),
        pytest.param("a\r\nb", "a\nb", "unchanged", id="only line ends differ"),
        pytest.param(None, "first", "first", id="the first"),
        pytest.param(None, "", "unchanged", id="none and none"),
    ],
)
def test_changes(before: str | None, now: str | None, change: str) -> None:
    """What a conversation has to be told is one of four things."""
    assert compare(before, now) == change


@pytest.mark.parametrize("language", ["en", "zh"])
def test_notices(language: Any) -> None:
    """A changed text stands behind a sentence that it replaces the earlier one; a text that is gone leaves a sentence."""
    said = wording(language)

    assert notice("old", "new", language=language) == f"{said.replaced}\n\nnew"
    assert notice("old", None, language=language) == said.removed
    assert notice("old", "old", language=language) == ""
    assert notice(None, "first", language=language) == "first"


def test_refresh_tells_each_change_once() -> None:
    """A conversation is told of a change before the user's next message, and only then; what was sent stays."""
    first = refresh([USER], "T1")
    again = refresh([*first.messages, ANSWER, USER], "T1")
    changed = refresh(again.messages, "T2")
    told = refresh([*changed.messages, ANSWER, USER], "T2")
    gone = refresh(told.messages, "")
    back = refresh([*gone.messages, ANSWER, USER], "T3")

    assert [step.change for step in (first, again, changed, told, gone, back)] == ["first", "unchanged", "replaced", "unchanged", "removed", "replaced"]
    assert roles(changed.messages) == "+ua+u"
    assert roles(back.messages) == "+ua+ua+ua+u"
    assert [sent_text(step.messages) for step in (changed, gone, back)] == ["T2", None, "T3"]
    assert changed.messages[:3] == again.messages[:3]
    assert keep_conversation(back.messages) == [USER, ANSWER, USER, ANSWER, USER, ANSWER, USER]


def test_refresh_after_a_compaction() -> None:
    """A text that no message holds any more is put in as if for the first time, as it is on disk now."""
    told = refresh(refresh([USER], "V1").messages, "V1").messages
    summed_up = [{"role": "compaction", "content": "c"}, *keep_conversation(told)]
    after = refresh(summed_up, "V2")

    assert after.change == "first"
    assert sent_text(after.messages) == "V2"
    assert roles(after.messages) == "c+u"


def test_refresh_checks_the_room() -> None:
    """A change that does not fit is not said at all, and the person is told."""
    messages = insert([USER], "old")
    large = refresh(messages, "x" * 500, room=100)

    assert large.change == "too_large"
    assert large.messages == messages
    assert "do not fit into the 100" in large.warning
    assert refresh(messages, "old", room=0).change == "unchanged"
    assert refresh([USER], "€" * 10, room=29).change == "too_large"
    assert refresh([USER], "€" * 10, room=30).change == "first"


def test_refresh_of_two_parts() -> None:
    """Each part has its own story."""
    messages = refresh(refresh([USER], "A1", part="a").messages, "B1", part="b").messages
    after = refresh(messages, "A2", part="a")

    assert after.change == "replaced"
    assert sent_text(after.messages, "a") == "A2"
    assert sent_text(after.messages, "b") == "B1"


@pytest.mark.parametrize("row", rows("codex", "compact"))
def test_row_of_a_compaction(row: Row) -> None:
    """What Codex keeps of a history, with its own block known as such."""
    kept = keep_conversation({"role": role, "content": content} for role, content in row.given["items"])

    assert row.expected["kept"] == [[message["role"], message["content"]] for message in kept]


@pytest.mark.parametrize("row", rows("codex", "diff"))
def test_row_of_changes(row: Row) -> None:
    """What Codex tells a conversation of a text that changed, in the frame that it knows."""
    seen: list[str | None] = []
    for before, now in row.given["table"]:
        framed = [wrap(text or "") for text in (before, now)]
        messages = insert([USER], framed[0], part=CODEX_PROFILE.title)
        after = refresh([*messages, ANSWER, USER], framed[1], part=CODEX_PROFILE.title)
        sent = sent_text(after.messages, CODEX_PROFILE.title)
        seen.append({"unchanged": None, "first": now, "removed": "removed", "replaced": f"replace+{now}"}[after.change])

        assert sent == (framed[1] or None)

    assert row.expected["table"] == seen


def _middlewares(row: Row, folder: Path, warnings: list[str]) -> list[tuple[str, Any]]:
    """Return for each instance of a row its part and its run."""
    files = row.given["files"]
    groups = files if isinstance(files[0], list) else [files]
    paths = [[folder / name.lstrip("/") for name in group] for group in groups]
    loaders = [Loader(folder, profile=EINO, root=folder, extra=extra, on_warning=warnings.append) for extra in paths]
    return [(f"eino-{number}", loader.run()) for number, loader in enumerate(loaders)]


@pytest.mark.parametrize("row", rows("eino", "middleware"))
def test_row_of_the_middleware(row: Row, tree: Tree) -> None:
    """
    Before each call to a model the texts are in the list once, each instance's own.

    Overruled by chapter 2 of the design: trouble with a file reaches the host as a warning, not as an error of the call.
    """
    given, warnings = row.given, []
    middlewares = _middlewares(row, row.build(tree), warnings)
    messages: list[Message] = [{"role": role, "content": content} for role, content in given["messages"]]
    before = copy.deepcopy(messages)
    current = messages
    for call in range(given.get("calls", 1)):
        if call and given.get("drop_marked_between"):
            current = [message for message in current if not is_injected(message)]
        for part, run in middlewares:
            current = insert(current, render(run.load()), part=part, key="__agentsmd_content__")
    injected = [index for index, message in enumerate(current) if is_injected(message)]

    assert messages == before
    assert strip_injected(current) == messages
    if "warnings" in row.expected:
        assert row.expected["warnings"] == warnings
        assert injected == []
    elif row.standing == "mended":
        assert [text in current[index]["content"] for index, text in zip(injected, "GP", strict=True)] == [True, True]
    else:
        assert row.expected["roles"] == [message["role"] for message in current]
        assert [row.expected["injected_at"]] == injected
        assert all(current[index]["content"].count("<system-reminder>") == 1 for index in injected)


class Disk:
    """A text that changes, a stamp that says so, and how often it was read."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.stamp = 0
        self.reads = 0

    def load(self) -> str:
        """Return the next text, the last one for ever."""
        self.reads += 1
        text = self.texts[0]
        self.texts[: len(self.texts) > 1] = []
        if text == "error":
            raise OSError(text)
        return text


def test_frozen_reads_once() -> None:
    """What the first call read holds until the end."""
    disk = Disk("V1", "V2")
    policy = Frozen(disk.load)

    assert [policy(), policy()] == ["V1", "V1"]
    assert disk.reads == 1


def test_each_turn_reads_each_time() -> None:
    """Every call sees the disk."""
    policy = EachTurn(Disk("V1", "V2").load)

    assert [policy(), policy()] == ["V1", "V2"]


def test_when_changed_reads_when_the_stamp_changes() -> None:
    """Without another stamp nothing is read."""
    disk = Disk("V1", "V2")
    policy = WhenChanged(disk.load, lambda: disk.stamp)
    first = [policy(), policy()]
    disk.stamp += 1

    assert first == ["V1", "V1"]
    assert policy() == "V2"
    assert disk.reads == 2


@pytest.mark.parametrize("kind", [Frozen, lambda load: WhenChanged(load, lambda: 0)], ids=["frozen", "when changed"])
def test_error_in_loading_is_tried_again(kind: Any) -> None:
    """What could not be read is no text to hold on to."""
    policy = kind(Disk("error", "V1").load)
    with pytest.raises(OSError, match="error"):
        policy()

    assert policy() == "V1"


def test_wrappers_ignore_case_of_ascii_letters_only() -> None:
    """The Kelvin sign is no k."""
    assert is_wrapped("<SKILL>x</Skill>")
    assert not is_wrapped("<s\u212aill>x</s\u212aill>")


def _contents() -> st.SearchStrategy[Any]:
    marked = st.builds(marks.mark, st.sampled_from(("T", "a\nb", "")), st.sampled_from(("a", "b")), separators=st.sampled_from((0, 2)))
    pieces = st.one_of(marked, st.just(CODEX), st.just("<skill>x</skill>"), st.sampled_from(("", "hi", "\n\n", "\r\n", "<!-- agentsmd:a v1 text ")))
    text = st.lists(pieces, max_size=4).map("".join)
    part = st.one_of(st.builds(lambda said: {"type": "text", "text": said}, text), st.just({"type": "image"}), text)
    return st.one_of(text, st.lists(part, max_size=3), st.none())


_roles = st.sampled_from(("system", "user", "assistant", "tool", "developer"))
messages_ = st.lists(st.builds(lambda role, content: {"role": role, "content": content, "k": 1}, _roles, _contents()), max_size=5)
places = st.sampled_from(("first", "last", "system"))


@given(messages=messages_, text=st.sampled_from(("T", "U\n", "a\r\nb", "")), place=places)
def test_laws_of_insert(messages: list[Message], text: str, place: Any) -> None:
    """Inserting never changes its input, is idempotent, and the text is then in the list exactly once."""
    before = copy.deepcopy(messages)
    once = insert(messages, text, part="p", place=place)

    assert messages == before
    assert insert(once, text, part="p", place=place) == once
    assert sent_text(once, "p") == (marks.flatten(text) or None)
    assert insert(once, "", part="p") == messages


@given(messages=messages_)
def test_laws_of_strip(messages: list[Message]) -> None:
    """Stripping never changes its input, is idempotent, and leaves nothing that is injected."""
    before = copy.deepcopy(messages)
    once = strip_injected(messages)

    assert messages == before
    assert strip_injected(once) == once
    assert not any(map(is_injected, once))
    assert [message for message in messages if message["role"] in ("assistant", "tool")] == [m for m in once if m["role"] in ("assistant", "tool")]


@given(messages=messages_, texts=st.lists(st.sampled_from(("T", "U", "")), max_size=5))
def test_laws_of_refresh(messages: list[Message], texts: list[str]) -> None:
    """Whatever the order of changes, the conversation was told the last text; the messages that were there stay in order."""
    history = messages
    for text in texts:
        history = refresh(history, text, part="p").messages

        assert sent_text(history, "p") == (text or None)
        assert refresh(history, text, part="p").change == "unchanged"
        assert [message for message in history if message.get("k")] == messages


@given(messages=messages_, place=places)
def test_place_is_in_the_list(messages: list[Message], place: Any) -> None:
    """A place is never inside of what is injected at the front, and exists."""
    assert 0 <= find_place(messages, place) <= len(messages)
