"""Images and PDFs that a message names: read and handed over where the host asks for it, named where it does not."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from filerefs import Attached, Limits, OptionError, OptionTypeError, Preprocessor, Refused, load, parse, preprocess, preprocess_async
from filerefs.contents import Content, read_file, read_lines
from filerefs.decoding import MEDIA_TYPES
from filerefs.limits import MIB, SENDABLE, MediaRoom
from filerefs.outcomes import Reason
from filerefs.root import Node, Trouble
from filerefs.roots import MemoryRoot

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Tree

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
JPEG = b"\xff\xd8\xff\xe0" + bytes(100)
PDF = b"%PDF-1.7\n" + bytes(200)
TIFF = b"II*\0" + bytes(100)
LARGE = PNG + bytes(2 * MIB)

FILES = {
    "logo.png": PNG,
    "photo.jpg": JPEG,
    "paper.pdf": PDF,
    "scan.tiff": TIFF,
    "large.png": LARGE,
    "lies.txt": PNG,
    "text.png": "no picture at all\n",
    "a.py": "print()\n",
}
EVERYTHING = "see @logo.png, @photo.jpg, @paper.pdf, @scan.tiff, @lies.txt, @text.png and @a.py"


@pytest.fixture
def project(tree: Tree) -> Path:
    """Images and a document, some under names that are not theirs."""
    return tree(FILES)


def sent(message: str, project: Path, *, media: Any = True, **limits: int | None) -> dict[str, bytes | None]:
    """Return the data of what was attached, by name."""
    turn = preprocess(message, root=project, media=media, limits=Limits(**limits))
    return {outcome.path: outcome.data for outcome in turn.attached}


def test_media_come_with_their_bytes(project: Path) -> None:
    """An image and a PDF have their data; what they are is told by their first bytes and not by their names."""
    turn = preprocess(EVERYTHING, root=project, media=True)

    assert {outcome.path: outcome.data for outcome in turn.media} == {"logo.png": PNG, "photo.jpg": JPEG, "paper.pdf": PDF, "lies.txt": PNG}
    assert [(outcome.media_type, outcome.size) for outcome in turn.media[:2]] == [("image/png", len(PNG)), ("image/jpeg", len(JPEG))]
    assert {outcome.path: outcome.kind for outcome in turn.attached if outcome.kind == "file"} == {"text.png": "file", "a.py": "file"}


def test_without_the_option_nothing_changes(project: Path) -> None:
    """Nothing is read of media by default, and the section is what it is without the option."""
    turn = preprocess(EVERYTHING, root=project)

    assert turn.media == ()
    assert "[image/png, 1.0 KB: no text, so its contents are not shown here]" in turn.section
    assert turn == preprocess(EVERYTHING, root=project, media=False) == preprocess(EVERYTHING, root=project, media=())
    assert not [warning for warning in turn.warnings if "not sent" in warning]


def test_section_says_where_a_medium_is(project: Path) -> None:
    """The model reads that a medium goes with the message, or why it does not; so does the person."""
    turn = preprocess("@logo.png @scan.tiff", root=project, media=True)

    assert "### logo.png\n[image/png, 1.0 KB: it goes with the message itself]" in turn.section
    assert "Note: not sent: image/tiff is not among the types that are\n[image/tiff, 104 B: no text, so its contents are not shown here]" in turn.section
    assert turn.warnings == ("scan.tiff: not sent: image/tiff is not among the types that are",)
    assert [outcome.summary for outcome in turn.attached] == ["attached logo.png (1.0 KB, image/png)", "attached scan.tiff (104 B, image/tiff, by name only)"]


def test_media_are_rewritten_as_before(project: Path) -> None:
    """The message is the same with the option and without."""
    assert preprocess(EVERYTHING, root=project, media=True).message == preprocess(EVERYTHING, root=project).message


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param({}, ["logo.png", "photo.jpg", "paper.pdf"], id="within the defaults"),
        pytest.param({"media_bytes": len(PDF)}, ["photo.jpg", "paper.pdf"], id="one that is too large, and smaller ones behind it"),
        pytest.param({"media_bytes": 0}, [], id="none at all"),
        pytest.param({"media_bytes": None}, ["logo.png", "photo.jpg", "paper.pdf"], id="of any size"),
        pytest.param({"media_files": 2}, ["logo.png", "photo.jpg"], id="first named, first served"),
        pytest.param({"media_files": 0}, [], id="no medium"),
        pytest.param({"media_files": None}, ["logo.png", "photo.jpg", "paper.pdf"], id="any number"),
        pytest.param({"media_files": 1, "media_bytes": len(PDF)}, ["photo.jpg"], id="one that is too large takes no place"),
        pytest.param({"total_bytes": 0}, ["logo.png", "photo.jpg", "paper.pdf"], id="the total of the section is another limit"),
    ],
)
def test_caps(project: Path, limits: dict[str, int | None], expected: list[str]) -> None:
    """Beyond a cap the placeholder stays, without data."""
    data = sent("@logo.png @photo.jpg @paper.pdf", project, **limits)

    assert [name for name in data if data[name] is not None] == expected
    assert list(data) == ["logo.png", "photo.jpg", "paper.pdf"]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        pytest.param({"media_bytes": 100}, "it is larger than 100 B", id="too large"),
        pytest.param({"media_files": 0}, "there are as many images and PDFs already as go with one message", id="too many"),
    ],
)
def test_cap_is_explained(project: Path, limits: dict[str, int], reason: str) -> None:
    """Person and model read which cap it was."""
    turn = preprocess("@logo.png", root=project, media=True, limits=Limits(**limits))

    assert turn.warnings == (f"logo.png: not sent: {reason}",)
    assert f"Note: not sent: {reason}\n" in turn.section


def test_types_can_be_chosen(project: Path) -> None:
    """A host whose model reads other types names them."""
    data = sent(EVERYTHING, project, media=["image/png", "image/tiff"])

    assert [name for name in data if data[name] is not None] == ["logo.png", "scan.tiff", "lies.txt"]
    assert SENDABLE <= MEDIA_TYPES


def test_one_medium_under_many_names_is_one(tree: Tree) -> None:
    """A medium that is named again, or by a hard link, counts and goes once."""
    project = tree({"a.png": PNG, "b.png": tree.hard_link("a.png"), "c.png": JPEG})

    turn = preprocess("@a.png @b.png and @a.png once more, then @c.png", root=project, media=True, limits=Limits(media_files=2))

    assert [(outcome.path, outcome.names) for outcome in turn.media] == [("a.png", ("b.png",)), ("c.png", ())]


@pytest.mark.parametrize("name", ["logo.png", "large.png"])
def test_lines_of_a_medium(project: Path, name: str) -> None:
    """Lines mean nothing in an image; it goes as a whole."""
    turn = preprocess(f"@{name}:3-9", root=project, media=True)

    assert [outcome.data for outcome in turn.media] == [FILES[name]]
    assert turn.notices == (f"{name}: `:3-9` means nothing here: no lines",)


@pytest.mark.parametrize("file_bytes", [None, 0, 10, 100_000])
def test_cap_of_texts_is_no_cap_of_media(project: Path, file_bytes: int | None) -> None:
    """An image larger than a text may be is whole, however little of it was read to see what it is."""
    assert sent("@large.png", project, file_bytes=file_bytes) == {"large.png": LARGE}


def test_phases_take_the_option(project: Path) -> None:
    """`load` gives what a turn gives, and awaiting it makes no difference."""
    outcomes = load(parse("@logo.png"), project, media=True)
    turn = asyncio.run(preprocess_async("@logo.png", root=project, media=True))

    assert list(turn.outcomes) == outcomes
    assert turn.media[0].data == PNG


def test_limits_of_one_turn(project: Path) -> None:
    """Lower limits for one turn hold for media, too."""
    with Preprocessor(project, media=True) as preprocessor:
        assert preprocessor.preprocess("@logo.png", limits=Limits(media_files=0)).media == ()
        assert len(preprocessor.preprocess("@logo.png").media) == 1


def test_json_has_no_data(project: Path) -> None:
    """The form of a turn in JSON has the same keys, and nothing of what is in the image."""
    plain, rich = (preprocess("@logo.png", root=project, media=media).as_dict() for media in (False, True))
    refs: list[Any] = [cast("list[Any]", form["refs"])[0] for form in (plain, rich)]

    assert plain.keys() == rich.keys()
    assert refs[1] == refs[0] | {"summary": "attached logo.png (1.0 KB, image/png)"}
    json.dumps(rich)


def test_repr_hides_the_data(project: Path) -> None:
    """A log line shows neither bytes nor base64."""
    turn = preprocess("@logo.png", root=project, media=True)

    assert repr(turn.media[0]) == "Attached('logo.png', kind='media', shown=0, truncated=False, mentions=1)"
    assert "PNG" not in repr(turn) + repr(Content(kind="media", data=PNG))


def test_outcomes_compare_by_their_data(project: Path) -> None:
    """Two images are the same outcome if all their bytes are, and not because they are as long."""
    first = preprocess("@logo.png", root=project, media=True).attached[0]
    again = preprocess("@logo.png", root=project, media=True).attached[0]
    other = replace(first, data=bytes(len(PNG)))

    assert (first, hash(first)) == (again, hash(again))
    assert first != other
    assert first != preprocess("@logo.png", root=project).attached[0]


def test_bytes_are_not_kept_between_turns(project: Path) -> None:
    """Each turn reads a medium anew; nothing of it stays in the preprocessor."""
    with Preprocessor(project, media=True) as preprocessor:
        first = preprocessor.preprocess("@logo.png @a.py")
        kept = vars(cast("Any", preprocessor)._memory)["_kept"].values()
        (project / "logo.png").write_bytes(PNG + b"more")

        assert first.media[0].data == PNG
        assert preprocessor.preprocess("@logo.png").media[0].data == PNG + b"more"
        assert all(content.kind == "file" for content in kept)


def test_without_the_option_media_are_kept_as_before(project: Path) -> None:
    """A placeholder costs nothing to keep."""
    with Preprocessor(project) as preprocessor:
        assert preprocessor.preprocess("@logo.png") == preprocessor.preprocess("@logo.png")


@dataclass
class FakeNode:
    """A file that states one size and holds another, or fails behind its first bytes; counts what is read of it."""

    data: bytes
    size: int
    fails: bool = False
    read_bytes: int = 0

    def read(self, limit: int | None) -> bytes | Trouble:
        if self.fails and self.read_bytes:
            return Trouble(Reason.IO_ERROR, "it could not be read")
        chunk = self.data[self.read_bytes :][:limit]
        self.read_bytes += len(chunk)
        return chunk


def room(media_bytes: int | None = 5 * MIB) -> MediaRoom:
    return MediaRoom(Limits(media_bytes=media_bytes), media=True)


def test_what_is_too_large_is_not_read() -> None:
    """Of an image beyond the cap no more is read than tells that it is one."""
    node = FakeNode(LARGE, len(LARGE))

    content = read_file(cast("Node", node), 10, room(MIB))

    assert isinstance(content, Content)
    assert (content.data, content.notes) == (None, ("not sent: it is larger than 1.0 MB",))
    assert node.read_bytes <= 16 * 1024


@pytest.mark.parametrize("stated", [0, 100, len(LARGE)])
def test_stated_size_is_no_promise(stated: int) -> None:
    """A file that grows while it is read stays within the cap; its size is that of what was read."""
    whole = read_file(cast("Node", FakeNode(LARGE, stated)), 10, room(len(LARGE)))
    grown = FakeNode(LARGE + bytes(100), stated)
    cut = read_file(cast("Node", grown), 10, room(len(LARGE)))

    assert isinstance(whole, Content)
    assert isinstance(cut, Content)
    assert (whole.data, whole.size) == (LARGE, len(LARGE))
    assert (cut.data, len(cut.cautions)) == (None, 1)
    assert grown.read_bytes == len(LARGE) + 1


@pytest.mark.parametrize("reader", [read_file, lambda node, cap, room: read_lines(node, [(1, 2)], cap, room)], ids=["whole", "lines"])
def test_error_reading_fails_behind_the_head(reader: Any) -> None:
    """An image of which only a part can be read is refused, and no torn image goes to a model."""
    content = reader(FakeNode(LARGE, len(LARGE), fails=True), 10, room())

    assert content == Trouble(Reason.IO_ERROR, "it could not be read")


@pytest.mark.parametrize("media", ["image/png", b"image/png", 1, None, [1], [b"image/png"]])
def test_error_option_of_another_type(project: Path, media: Any) -> None:
    """The option is true, false or a collection of types; a bare string is a mistake, not a collection of letters."""
    for call in (lambda: preprocess("hi", root=project, media=media), lambda: load([], project, media=media)):
        with pytest.raises(OptionTypeError, match="`media` must be True, False or a collection of media types"):
            call()


def test_error_unknown_type(project: Path) -> None:
    """A type that is never recognised would never be sent: a mistake, and the error says which there are."""
    with pytest.raises(OptionError, match=r"`media` must be one of application/pdf, image/avif, .*, not 'image/jpg'"):
        Preprocessor(project, media=["image/png", "image/jpg"])


def test_error_refused_media_are_no_media(tree: Tree) -> None:
    """What is refused stays refused: a link, a secret, a name outside."""
    project = tree({"a.png": PNG, "link.png": tree.link("a.png"), ".env": PNG})
    (project.parent / "out.png").write_bytes(PNG)

    turn = preprocess("@link.png @.env @../out.png", root=project, media=True)

    assert turn.media == ()
    assert [outcome.reason for outcome in turn.outcomes if isinstance(outcome, Refused)] == [Reason.SYMLINK, Reason.SECRET, Reason.OUTSIDE_ROOT]


def test_media_of_another_root() -> None:
    """A root that is no folder on this disk hands media over all the same."""
    root = MemoryRoot({"logo.png": LARGE, "paper.pdf": PDF, "a.py": b"print()\n"})

    turn = preprocess("@logo.png @paper.pdf @a.py", root=root, media=True)

    assert [outcome.data for outcome in turn.media] == [LARGE, PDF]


def test_attached_by_hand() -> None:
    """An outcome that somebody makes needs no data."""
    assert Attached(path="a.png", refs=(), spans=(), replacements=(), kind="media", text="", size=1, shown=0).data is None
