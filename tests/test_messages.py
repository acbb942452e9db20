"""Lists of messages in the forms of the providers: one contract for all of them, tables for shapes, laws for what stays."""

from __future__ import annotations

import copy
import json
from itertools import dropwhile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs import OptionError, OptionTypeError, Preprocessor, RootNotFoundError, messages, phases, swap_section
from filerefs.agentsmd import insert, marks
from filerefs.messages import is_section_part, media_parts, preprocess_messages, rewrite_content, strip_sections, text_of

from .integrations.contract import SYSTEM, Contract
from .integrations.hosts import AnthropicHost, Host, ResponsesHost

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .conftest import Tree
    from .integrations.contract import Answer, Chat

PNG = b"\x89PNG\r\n\x1a\n"
PDF = b"%PDF-1.7\n"
FILES = {"a.py": "print('a')\n", "b.py": "print('b')\n", "my file.txt": "blank\n", "logo.png": PNG, "docs/paper.pdf": PDF, "scan": PDF}
CACHED = {"cache_control": {"type": "ephemeral"}}
DIALECTS = ["openai", "responses", "anthropic"]
PLACEMENTS = ["system", "user"]


class TestOpenAI(Contract):
    """Chat completions; LiteLLM and compatible servers take the same."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return Host(folder, answers)


class TestOpenAIParts(Contract):
    """Chat completions with a system message of parts."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return Host(folder, answers, system=[{"type": "text", "text": SYSTEM, **CACHED}])


class TestOpenAIUser(Contract):
    """Chat completions with the section in front of the message."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return Host(folder, answers, placement="user")


class TestResponses(Contract):
    """OpenAI's responses with instructions."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return ResponsesHost(folder, answers)


class TestResponsesUser(Contract):
    """OpenAI's responses with the section in front of the message."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return ResponsesHost(folder, answers, placement="user")


class TestAnthropicText(Contract):
    """Anthropic with a system prompt that is text."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return AnthropicHost(folder, answers)


class TestAnthropicBlocks(Contract):
    """Anthropic with a system prompt of blocks."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return AnthropicHost(folder, answers, system=[{"type": "text", "text": SYSTEM, **CACHED}])


class TestAnthropicUser(Contract):
    """Anthropic with the section in front of the message."""

    def open(self, folder: Path, *answers: Answer) -> Chat:
        return AnthropicHost(folder, answers, placement="user")


@pytest.fixture
def files(tree: Tree) -> Iterator[Preprocessor]:
    """A preprocessor of a small project, with media."""
    with Preprocessor(tree(FILES), media=True) as preprocessor:
        yield preprocessor


def section_of(files: Preprocessor, message: str, prompt: str = "") -> str:
    """Return the section that *message* has behind *prompt*."""
    return files.preprocess(message, prompt).section


def user(content: Any, **keys: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **keys}


def system(content: Any, **keys: Any) -> dict[str, Any]:
    return {"role": "system", "content": content, **keys}


def text(words: str, **keys: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **keys}


def test_chat_completions(files: Preprocessor) -> None:
    """The system message ends in the section, the last message has plain paths, and all is ready to be sent."""
    chat = [system("Be brief.", name="host"), user("see @a.py"), {"role": "assistant", "content": "seen"}, user("and @b.py?", name="Bob")]

    done = preprocess_messages(chat, files)

    turn = files.preprocess("and @b.py?", "Be brief.")
    assert done.messages == [system(turn.prompt, name="host"), *chat[1:3], user("and b.py?", name="Bob")]
    assert done.request == {"messages": done.messages}
    assert done.turn == turn


def test_responses(files: Preprocessor) -> None:
    """The instructions end in the section; the input is a list, whatever it was."""
    done = preprocess_messages("see @a.py", files, dialect="responses", system="Be brief.")

    turn = files.preprocess("see @a.py", "Be brief.")
    assert done.request == {"input": [user("see a.py")], "instructions": turn.prompt}


def test_anthropic_text(files: Preprocessor) -> None:
    """A system prompt that is text stays text."""
    done = preprocess_messages([user("see @a.py")], files, dialect="anthropic", system="Be brief.")

    assert done.request == {"messages": [user("see a.py")], "system": files.preprocess("see @a.py", "Be brief.").prompt}


def test_anthropic_blocks(files: Preprocessor) -> None:
    """The section is a block of its own behind the stable ones, which stay as they are, marks for the cache included."""
    blocks = [text("Be brief."), text("Be kind.", **CACHED)]

    done = preprocess_messages([user("see @a.py")], files, dialect="anthropic", system=blocks)

    assert done.system == [*blocks, text(section_of(files, "see @a.py", "Be brief.\n\nBe kind."))]
    assert "sep=2" in done.system[-1]["text"]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_section_in_front_of_the_message(files: Preprocessor, dialect: Any) -> None:
    """With `placement="user"` the system prompt stays, and the message begins with a part that is the section."""
    kind = "input_text" if dialect == "responses" else "text"
    prompt = None if dialect == "openai" else "Be brief."

    done = preprocess_messages([user("see @a.py", id=7)], files, dialect=dialect, system=prompt, placement="user")

    parts = [{"type": kind, "text": section_of(files, "see @a.py")}, {"type": kind, "text": "see a.py"}]
    assert done.messages == [user(parts, id=7)]
    assert done.system == prompt
    assert [is_section_part(part) for part in parts] == [True, False]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param([system("A"), user("@a.py")], 0, id="the one there is"),
        pytest.param([{"role": "developer", "content": "A"}, user("@a.py")], 0, id="a developer's"),
        pytest.param([system("A"), {"role": "developer", "content": "B"}, user("@a.py")], 1, id="the last of those at the front"),
        pytest.param([system("A"), user("hi"), system("later"), user("@a.py")], 0, id="not one in the middle"),
    ],
)
def test_which_system_message(files: Preprocessor, before: list[Any], expected: int) -> None:
    """The section goes behind what stands in front of the conversation, and changes no other message of the system."""
    done = preprocess_messages(before, files)

    changed = [index for index, message in enumerate(done.messages) if "filerefs:begin" in str(message)]
    assert changed == [expected]
    assert done.messages[expected] == before[expected] | {"content": files.preprocess("@a.py", before[expected]["content"]).prompt}


def test_without_a_system_message(files: Preprocessor) -> None:
    """Where there is none, one is made, and goes with its section."""
    done = preprocess_messages([user("@a.py")], files)
    later = preprocess_messages([*done.messages, {"role": "assistant", "content": "ok"}, user("thanks")], files)

    assert done.messages == [system(section_of(files, "@a.py")), user("a.py")]
    assert later.messages == [user("a.py"), {"role": "assistant", "content": "ok"}, user("thanks")]


@pytest.mark.parametrize(("dialect", "keys"), [("responses", {"input"}), ("anthropic", {"messages"})])
@pytest.mark.parametrize("prompt", [None, ""])
def test_empty_system_prompt_is_left_out(files: Preprocessor, dialect: Any, keys: set[str], prompt: str | None) -> None:
    """Providers refuse an empty system prompt in some forms: none is sent."""
    done = preprocess_messages([user("hi")], files, dialect=dialect, system=prompt)

    assert done.request.keys() == keys


def test_parts_of_a_system_message(files: Preprocessor) -> None:
    """In chat completions, too, a list of parts gets one more, and the part with a mark for the cache stays what it was."""
    parts = [text("Be brief.", **CACHED)]

    done = preprocess_messages([system(parts), user("@a.py")], files)

    assert done.messages[0]["content"] == [*parts, text(section_of(files, "@a.py", "Be brief."))]


RESULT = {"type": "tool_result", "tool_use_id": "1", "content": "see @b.py"}
NOT_PARSED = [
    pytest.param([user("hi"), {"role": "assistant", "content": "see @b.py"}], id="an answer"),
    pytest.param([user("hi"), {"role": "tool", "tool_call_id": "1", "content": "see @b.py"}], id="a result"),
    pytest.param([user("hi"), {"type": "function_call_output", "call_id": "1", "output": "see @b.py"}], id="a result in responses"),
    pytest.param([user("hi"), user([RESULT])], id="a result at Anthropic"),
    pytest.param([user("hi"), SimpleNamespace(role="assistant", content="see @b.py")], id="an object of a library"),
    pytest.param([user("hi"), user(marks.mark("see @b.py", "host"))], id="instruction files"),
    pytest.param([user("hi"), user([text(marks.mark("see @b.py", "host"))])], id="instruction files as a part"),
    pytest.param([user("hi"), system("see @b.py")], id="the system"),
    pytest.param([], id="nothing"),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("chat", NOT_PARSED)
def test_only_the_person_is_read(files: Preprocessor, chat: list[Any], dialect: Any, placement: Any) -> None:
    """Where the last message is nobody's typing, nothing changes."""
    done = preprocess_messages(chat, files, dialect=dialect, placement=placement)

    assert done.messages == chat
    assert (done.turn.outcomes, done.turn.warnings, done.turn.section) == ((), (), "")


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_earlier_messages_are_not_read(files: Preprocessor, placement: Any) -> None:
    """What was said before was read when it was said, or never was to be."""
    chat = [user("see @a.py"), {"role": "assistant", "content": "@a.py?"}, user("hi")]

    assert preprocess_messages(chat, files, placement=placement).messages == chat


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_results_and_text_in_one_message(files: Preprocessor, placement: Any) -> None:
    """What a person says beside results of tools is read, and the results stay in front, as Anthropic wants them."""
    done = preprocess_messages([user([RESULT, text("@a.py!")])], files, dialect="anthropic", placement=placement)

    sections = [text(section_of(files, "@a.py!"))] if placement == "user" else []
    assert done.messages == [user([RESULT, *sections, text("a.py!")])]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_sections_of_a_turn_stay_while_tools_run(files: Preprocessor, placement: Any) -> None:
    """Between the calls of tools the request begins with the same bytes."""
    done = preprocess_messages([system("Be brief."), user("@a.py")], files, placement=placement)
    calls = [{"role": "assistant", "content": None, "tool_calls": []}, {"role": "tool", "tool_call_id": "1", "content": "@b.py"}]

    assert preprocess_messages([*done.messages, *calls], files, placement=placement).messages == [*done.messages, *calls]


def test_parts_are_one_message(files: Preprocessor) -> None:
    """Text parts are read together and rewritten each for itself; what is between them, and keys, stay."""
    image = {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}
    chat = [user([text("@a.py and @a.py:1", **CACHED), image, "@missing.py", text('"@b.py" @my file.txt\n'), text("no")])]

    done = preprocess_messages(chat, files)

    parts = [text("a.py and a.py:1", **CACHED), image, "@missing.py", text('"b.py" "my file.txt"\n'), text("no")]
    assert done.messages[-1] == user(parts)
    assert [outcome.path for outcome in done.turn.outcomes] == ["a.py", "missing.py", "b.py", "my file.txt"]


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_code_ends_with_its_part(files: Preprocessor, fence: str) -> None:
    """A block of code that a part leaves open hides the mentions behind it in this part, and none in the next ones."""
    parts = [text(f"@a.py\n{fence}\n@b.py"), {"type": "image_url", "image_url": {"url": "x"}}, text(f"{fence}\nno @a.py"), text('see @"my file.txt" and @b.py')]

    done = preprocess_messages([user(parts)], files)

    assert done.messages[-1] == user([text(f"a.py\n{fence}\n@b.py"), parts[1], parts[2], text('see "my file.txt" and b.py')])
    assert [outcome.path for outcome in done.turn.outcomes] == ["a.py", "my file.txt", "b.py"]


def test_message_of_images_ends_the_turn_before(files: Preprocessor) -> None:
    """A message without any text is a person's as well: the files of the one before are gone."""
    done = preprocess_messages([user("@a.py")], files)
    image = user([{"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}])

    assert preprocess_messages([*done.messages, {"role": "assistant", "content": "ok"}, image], files).messages[0] == user("a.py")


def test_earlier_sections_are_taken_out(files: Preprocessor) -> None:
    """With the next message the section in front of the last one goes, which is a string again; everything before it is the same."""
    first = preprocess_messages([system("S"), user("see @a.py")], files, placement="user")
    second = preprocess_messages([*first.messages, {"role": "assistant", "content": "ok"}, user("see @b.py")], files, placement="user")
    third = preprocess_messages([*second.messages, {"role": "assistant", "content": "ok"}, user("bye")], files, placement="user")

    assert second.messages[:3] == [system("S"), user("see a.py"), {"role": "assistant", "content": "ok"}]
    assert third.messages[3] == user("see b.py")
    assert not [message for message in third.messages if "filerefs" in str(message)]


def test_placement_may_change(files: Preprocessor) -> None:
    """A section is found wherever an earlier turn put it."""
    first = preprocess_messages([system("S"), user("@a.py")], files, placement="user")
    second = preprocess_messages([*first.messages, user("@b.py")], files, placement="system")
    third = preprocess_messages([*second.messages, user("@a.py")], files, placement="user")

    assert second.messages == [system(files.preprocess("@b.py", "S").prompt), user("a.py"), user("b.py")]
    assert strip_sections(third.messages) == [system("S"), user("a.py"), user("b.py"), user("a.py")]


def test_compaction_gets_no_sections(files: Preprocessor) -> None:
    """`strip_sections` gives what is to be summed up, in chat messages and in Anthropic's blocks."""
    for placement in ("system", "user"):
        done = preprocess_messages([system("S"), user("see @a.py")], files, placement=placement)
        assert strip_sections(done.messages) == [system("S"), user("see a.py")]
    blocks = preprocess_messages("@a.py", files, dialect="anthropic", system=[text("S", **CACHED)]).system

    assert strip_sections(blocks or []) == [text("S", **CACHED)]


def test_section_in_a_block_of_the_host(files: Preprocessor) -> None:
    """A host that put a section behind its own text, and not as a block, gets the text back."""
    prompt = files.preprocess("@a.py", "S").prompt

    assert preprocess_messages("hi", files, dialect="anthropic", system=[text(prompt, **CACHED)]).system == [text("S", **CACHED)]


def test_changed_section_is_told(files: Preprocessor) -> None:
    """What looks like a section and is not stays, with a warning."""
    prompt = files.preprocess("@a.py", "S").prompt.replace("print", "burn")

    done = preprocess_messages([system(prompt), user("hi")], files)

    assert done.messages[0] == system(prompt)
    assert "changed by someone else" in done.turn.warnings[0]


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("place", ["the system prompt", "a system message before the last", "an earlier message"])
def test_changed_section_is_told_wherever_it_is(files: Preprocessor, place: str, placement: Any) -> None:
    """A changed section is told once with each turn, in whichever message it was left and wherever the new one goes."""
    section = section_of(files, "@a.py").replace("print", "burn")
    system_prompt = f"S\n\n{section}" if place == "the system prompt" else "S"
    others = [system(f"first\n\n{section}")] if place == "a system message before the last" else []
    earlier = [user([text(section), text("a.py")])] if place == "an earlier message" else []

    done = preprocess_messages([*others, system(system_prompt), *earlier, user("@b.py and @missing.py")], files, placement=placement)

    assert [warning for warning in done.turn.warnings if "changed by someone else" in warning] == [phases.LEFTOVER]
    assert len(done.turn.warnings) == 2
    assert section in str(done.messages).replace("\\n", "\n").replace("\\'", "'")


def test_typed_sections_are_no_leftover(files: Preprocessor) -> None:
    """Who quotes a section in a message is not told of a leftover, with each turn from then on."""
    quoted = user(f"what is this?\n{section_of(files, '@a.py').replace('print', 'burn')}")

    done = preprocess_messages([quoted, user("@b.py")], files, placement="user")

    assert done.turn.warnings == ()


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_no_blank_block_is_left_of_a_section(files: Preprocessor, placement: Any) -> None:
    """A block that held a section and the newlines before it goes with it; a blank one of the host's own stays."""
    section = section_of(files, "@a.py", "S")
    blocks = [text("S", **CACHED), text(""), text(f"\n\n{section}"), text(f"  \n\n{section}")]

    done = preprocess_messages("hi", files, dialect="anthropic", system=blocks, placement=placement)

    assert done.system == [text("S", **CACHED), text(""), text("  ")]
    assert [is_section_part(block) for block in blocks] == [False, False, True, False]
    assert strip_sections(blocks) == blocks[:2] + blocks[3:]


IMAGE_URL = "data:image/png;base64,iVBORw0KGgo="
PDF_URL = "data:application/pdf;base64,JVBERi0xLjcK"
MEDIA = {
    "openai": [
        {"type": "image_url", "image_url": {"url": IMAGE_URL}},
        {"type": "file", "file": {"filename": "paper.pdf", "file_data": PDF_URL}},
        {"type": "file", "file": {"filename": "scan.pdf", "file_data": PDF_URL}},
    ],
    "responses": [
        {"type": "input_image", "image_url": IMAGE_URL, "detail": "auto"},
        {"type": "input_file", "filename": "paper.pdf", "file_data": PDF_URL},
        {"type": "input_file", "filename": "scan.pdf", "file_data": PDF_URL},
    ],
    "anthropic": [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjcK"}, "title": "docs/paper.pdf"},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjcK"}, "title": "scan"},
    ],
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_media(files: Preprocessor, dialect: Any, placement: Any) -> None:
    """Images and PDFs stand behind the text in each form, in the order in which they were named, and stay there in later turns."""
    done = preprocess_messages("@logo.png, @docs/paper.pdf, @scan", files, dialect=dialect, placement=placement)
    again = preprocess_messages(done.messages, files, dialect=dialect, placement=placement, system=done.system)
    later = preprocess_messages([*done.messages, user("and now?")], files, dialect=dialect, placement=placement)

    kind = "input_text" if dialect == "responses" else "text"
    plain = [{"type": kind, "text": "logo.png, docs/paper.pdf, scan"}, *MEDIA[dialect]]
    assert done.messages[-1]["content"][placement == "user" :] == plain
    assert again.messages == done.messages
    assert later.messages[-2:] == [user(plain), user("and now?")]
    assert json.dumps(done.request)


def test_media_that_are_not_read(tree: Tree) -> None:
    """Without `media=True` an image is named and no part."""
    done = preprocess_messages("@logo.png", tree(FILES))

    assert done.messages[-1] == user("logo.png")
    assert "no text, so its contents are not shown here" in done.messages[0]["content"]
    assert media_parts(done.turn, "openai") == []


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("@a.py", "@a.py", id="a string"),
        pytest.param([text("a"), text("b")], "a\n\nb", id="parts"),
        pytest.param([{"type": "input_text", "text": "a"}, {"text": "b"}, "c"], "a\n\nb\n\nc", id="parts of other forms"),
        pytest.param([text("```py\nx = 1"), text("b")], "```py\nx = 1\n```\n\nb", id="a block of code that is not closed"),
        pytest.param([text("  ~~~~\n~~~\n"), text("b")], "  ~~~~\n~~~\n\n~~~~\n\nb", id="a longer fence that is not closed"),
        pytest.param([text("a\n```"), text("b\n```"), text("c\n```")], "a\n```\n```\n\nb\n```\n```\n\nc\n```", id="a fence that opens each"),
        pytest.param(
            [text("```\nx\n```"), text("~~~ is a sign"), text("c")], "```\nx\n```\n\n~~~ is a sign\n~~~\n\nc", id="a block that is closed, and one of one line"
        ),
        pytest.param([text("see ``` here"), text("b")], "see ``` here\n\nb", id="no fence within a line"),
        pytest.param([{"type": "image_url"}, {"type": "text", "text": None}, None, 3], "", id="no text"),
        pytest.param([{"type": "tool_result", "text": "@a.py"}], "", id="a result with a text"),
        pytest.param([{"type": "thinking", "text": "@a.py"}], "", id="a part of another kind"),
        pytest.param(None, "", id="nothing"),
        pytest.param({"text": "a"}, "", id="no list"),
        pytest.param("what is <!-- agentsmd:x?", "what is <!-- agentsmd:x?", id="a word about a mark"),
        pytest.param((text("a"),), "a", id="a tuple"),
    ],
)
def test_text_of(content: Any, expected: str) -> None:
    """The text of a content is that of its text parts."""
    assert text_of(content) == expected


BITS = [*("@a.py", "@b.py:1", "@my file.txt", '@"my file.txt"', "@a.py,", "@missing.py"), *("`", "```\n", "~~~", "\n", " ", "word", "@", "\\", '"', "é")]


@given(parts=st.lists(st.lists(st.sampled_from(BITS)).map("".join).map(text) | st.just({"type": "image_url"}), max_size=5))
def test_parts_are_rewritten_as_their_text_is(shared: Preprocessor, parts: list[Any]) -> None:
    """Law: the text of the rewritten content is the rewritten text, and every part stays in its place."""
    turn = shared.preprocess(text_of(parts))

    new = rewrite_content(parts, turn)

    assert text_of(new) == turn.message
    assert [part["type"] for part in new] == [part["type"] for part in parts]
    assert [part for part in new if part["type"] == "image_url"] == [part for part in parts if part["type"] == "image_url"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Preprocessor]:
    """One project for all examples of a law."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("a.py", "b.py", "my file.txt"):
        (folder / name).write_text(f"{name}\n", encoding="utf-8")
    (folder / "logo.png").write_bytes(PNG)
    with Preprocessor(folder, media=True) as preprocessor:
        yield preprocessor


WORDS = st.lists(st.sampled_from(["@a.py", "@b.py", "@logo.png", "@missing.py", "hi", "\n", "@alice", " "]), max_size=4).map(" ".join)
CONTENTS = WORDS | st.lists(WORDS.map(text) | st.just({"type": "image_url", "image_url": {"url": "x"}}) | st.just(RESULT), min_size=1, max_size=3)
ROLES = st.sampled_from(["user", "assistant", "tool", "system", "developer"])
CHATS = st.lists(st.fixed_dictionaries({"role": ROLES, "content": CONTENTS}), max_size=4).flatmap(
    lambda chat: CONTENTS.map(lambda content: [*chat, user(content)]) | st.just(chat)
)
PROMPTS = st.sampled_from([None, "", "S", [], [text("S", **CACHED)], [text("S"), text("")]])


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("dialect", DIALECTS)
@given(chat=CHATS, prompt=PROMPTS)
def test_laws(shared: Preprocessor, dialect: Any, placement: Any, chat: list[Any], prompt: Any) -> None:
    """Law: nothing that is given changes; again over the output, through JSON too, changes nothing; sections alone are taken out."""
    prompt = None if dialect == "openai" or (dialect == "responses" and isinstance(prompt, list)) else prompt
    if dialect == "anthropic":
        chat = list(dropwhile(lambda message: message["role"] in ("system", "developer"), chat))
    kept = copy.deepcopy((chat, prompt))

    done = preprocess_messages(chat, shared, dialect=dialect, placement=placement, system=prompt)
    request = json.loads(json.dumps([done.messages, done.system]))
    again = preprocess_messages(request[0], shared, dialect=dialect, placement=placement, system=request[1])

    assert kept == (chat, prompt)
    assert [done.messages, done.system] == request == [again.messages, again.system]
    assert again.turn.warnings == () or done.turn.section == ""
    # A system message that was empty is one that was made for the section: both go with it.
    bare, before = ([message for message in some if message["content"] or message["role"] == "user"] for some in (strip_sections(done.messages), chat))
    assert len(bare) == len(before)
    assert bare[:-1] == before[:-1]


def test_output_goes_on_in_another_list(files: Preprocessor) -> None:
    """What was returned is known by what it says, whoever copied it; one word more and it is a message like any other."""
    done = preprocess_messages([system("S"), user("see @a.py")], files)

    assert preprocess_messages(copy.deepcopy(done.messages), files).messages == done.messages
    assert preprocess_messages([done.messages[0], user("see a.py now")], files).messages == [system("S"), user("see a.py now")]


def test_same_words_later(files: Preprocessor) -> None:
    """Who types the plain path in the next message does not get the files of the last."""
    done = preprocess_messages([system("S"), user("see @a.py")], files)
    later = preprocess_messages([*done.messages, {"role": "assistant", "content": "ok"}, user("see a.py")], files)

    assert later.messages[0] == system("S")


def test_outputs_are_not_remembered_without_end() -> None:
    """What is remembered of outputs is bounded, the oldest goes first, and one that comes again is new."""
    outputs = messages._Outputs()
    for number in range(outputs._MOST):
        outputs.add(str(number).encode())
    outputs.add(b"0")
    outputs.add(b"more")
    outputs.add(None)

    assert [outputs.has(key) for key in (b"0", b"1", b"2", b"more", None)] == [True, False, True, True, False]


def test_objects_and_unknown_keys_are_handed_on(files: Preprocessor) -> None:
    """Answers may stay what a library returned; a message keeps whatever is in it."""
    answer = SimpleNamespace(role="assistant", content="ok")
    chat = [user("hi", weight=1), answer, {"type": "reasoning", "id": "r"}, user("@a.py", id="m", status="done")]

    done = preprocess_messages(chat, files, dialect="responses")

    assert done.messages[:3] == chat[:3]
    assert done.messages[1] is answer
    assert done.messages[3] == user("a.py", id="m", status="done")


def test_instruction_files_stay(files: Preprocessor) -> None:
    """Texts of `filerefs.agentsmd` in the list are neither read nor moved."""
    chat = insert([system("S"), user("see @a.py")], "read @b.py", place="last")

    done = preprocess_messages(chat, files)

    assert done.messages[1:] == [chat[1], user("see a.py")]
    assert [outcome.path for outcome in done.turn.outcomes] == ["a.py"]


def test_folder_instead_of_a_preprocessor(tree: Tree) -> None:
    """A path is as good as a preprocessor with the defaults."""
    project = tree(FILES)
    with Preprocessor(project) as preprocessor:
        expected = preprocess_messages("@a.py @logo.png", preprocessor)

    assert preprocess_messages("@a.py @logo.png", project) == expected == preprocess_messages("@a.py @logo.png", str(project))


def test_repr_hides_what_is_said(files: Preprocessor) -> None:
    """A log line holds no message and no file."""
    done = preprocess_messages([system("SECRET"), user("SECRET @a.py")], files)

    assert repr(done).startswith("Preprocessed(2 messages, dialect='openai', turn=Turn(attached=1, ")
    assert "SECRET" not in repr(done)
    assert "print" not in repr(done)


def test_section_can_be_swapped(files: Preprocessor) -> None:
    """A section part is a section like any: `swap_section` puts it behind a prompt."""
    done = preprocess_messages("@a.py", files, placement="user")

    assert swap_section("S", done.messages[0]["content"][0]["text"]) == files.preprocess("@a.py", "S").prompt


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"dialect": "gemini"}, "`dialect` must be", id="a dialect that is none"),
        pytest.param({"placement": "end"}, "`placement` must be", id="a placement that is none"),
        pytest.param({"system": "S"}, "`system` must be left out", id="a system prompt beside chat completions"),
        pytest.param({"system": 3, "dialect": "anthropic"}, "`system` must be text", id="a system prompt of another type"),
        pytest.param({"system": [], "dialect": "responses"}, "`system` must be text", id="blocks as instructions"),
    ],
)
def test_error_options(files: Preprocessor, options: dict[str, Any], message: str) -> None:
    """A mistake in an option is told before anything is read."""
    with pytest.raises(OptionError, match=message) as caught:
        preprocess_messages("@a.py", files, **options)

    assert isinstance(caught.value, OptionTypeError) is ("text" in message)
    with pytest.raises(OptionError, match="`dialect` must be"):
        media_parts(files.preprocess("@a.py"), "gemini")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("dialect", "messages", "sentence"),
    [
        pytest.param("openai", ["hi"], r"`messages\[0\]` must be a message: a dict with a role and a content, .*, not 'hi'", id="a text as a message"),
        pytest.param("anthropic", [user("x"), None], r"`messages\[1\]` must be a message: ", id="nothing as a message"),
        pytest.param("responses", [[user("x")]], r"`messages\[0\]` must be a message: ", id="a list in the list"),
        pytest.param("openai", [{"role": "user"}], r"`messages\[0\]` must be a message with a content", id="no content"),
        pytest.param("anthropic", [user("x"), user(None)], r"`messages\[1\]` must be a message with a content", id="None for a content"),
        pytest.param(
            "openai", [{"role": "system", "text": "A"}, user("x")], r"`messages\[0\]` must be a message with a content", id="a system message without one"
        ),
        pytest.param("openai", [{"content": "hi"}], r"`messages\[0\]` must be a message, with its role", id="no role"),
        pytest.param("anthropic", [{"content": "hi"}], r"`messages\[0\]` must be a message, with its role", id="no role at Anthropic"),
        pytest.param("openai", 7, "`messages` must be a list of messages", id="a number as the list"),
    ],
)
def test_error_messages_that_are_none(files: Preprocessor, dialect: Any, messages: Any, sentence: str) -> None:
    """What is no message of the dialect is told at once, by its place in the list and with what one looks like."""
    with pytest.raises(OptionTypeError, match=sentence):
        preprocess_messages(messages, files, dialect=dialect)


@pytest.mark.parametrize("beside", [None, "A"], ids=["alone", "with another one beside"])
def test_error_system_message_at_anthropic(files: Preprocessor, beside: str | None) -> None:
    """A list that was made for chat completions is refused, as `system=` is there: with a section beside it there would be two prompts."""
    with pytest.raises(OptionError, match="`messages` must be without one: Anthropic has the system prompt beside them, in `system=`, not 'a system message"):
        preprocess_messages([system("A"), user("@a.py")], files, dialect="anthropic", system=beside)


CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("dialect", "earlier"),
    [
        pytest.param("openai", {"role": "assistant", "content": None, "tool_calls": [CALL]}, id="a call without a text"),
        pytest.param("openai", {"role": "assistant", "tool_calls": [CALL]}, id="a call without a content"),
        pytest.param("openai", {"role": "function", "name": "look", "content": None}, id="an empty result"),
        pytest.param("openai", SimpleNamespace(role="assistant", content=None), id="an answer of the library"),
        pytest.param("responses", {"type": "function_call_output", "call_id": "1", "output": "x"}, id="an item that is no message"),
        pytest.param("responses", {"id": "item_1"}, id="an item by its id alone"),
        pytest.param("responses", SimpleNamespace(type="reasoning", id="1"), id="an item of the library"),
        pytest.param("responses", {"role": "developer", "content": "A"}, id="a developer's message"),
        pytest.param("anthropic", {"role": "system", "content": "from now on: A"}, id="a system message in the middle"),
    ],
)
def test_whatever_a_dialect_allows_is_handed_on(files: Preprocessor, dialect: Any, earlier: Any) -> None:
    """Messages of other forms stay as they are, and the person's is read."""
    done = preprocess_messages([user("hello"), earlier, user("@a.py")], files, dialect=dialect)

    assert "a.py" == done.messages[-1]["content"]
    assert done.messages[-2] is earlier


def test_error_turn_of_another_content(files: Preprocessor) -> None:
    """A turn rewrites the content whose text it was made of, and no other."""
    turn = files.preprocess("see @a.py")

    for content in ("see @b.py", [text("see"), text("@a.py")], None):
        with pytest.raises(OptionError, match="`turn` must be the turn of `text_of` of this content"):
            rewrite_content(content, turn)


def test_error_no_folder(tmp_path: Path) -> None:
    """A folder that is none is a mistake of the program, not of the message."""
    with pytest.raises(RootNotFoundError):
        preprocess_messages("@a.py", tmp_path / "none")
