"""The prose around instruction files, in English and Chinese; the frames themselves are the same in both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from filerefs.errors import OptionError

Language: TypeAlias = Literal["en", "zh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """
    What is said in one language.

    Attributes:
        introduction: Below the heading of the style "headings".
        excerpts: Below it, where a file is shown in part; `{tool}` fetches the rest.
        ending: The line behind such a part.
        block: What it says besides where the part ends at a fenced block that does not fit.
        reminder: The lines at the beginning of the style "system_reminder".
        file_header: The line above a file there.
        irrelevance: The line at its end.
        hierarchy: What applies where, for files that were not found yet.
        replaced, removed: What a notice in the history begins with.
    """

    introduction: str
    excerpts: str
    ending: str
    block: str
    reminder: str
    file_header: str
    irrelevance: str
    hierarchy: str
    replaced: str
    removed: str


_ENGLISH = Wording(
    introduction=(
        "These texts come from instruction files of this project. Treat them as authoritative for work in this repository. "
        "Where two of them differ, the later one is the more specific one and wins."
    ),
    excerpts=(
        "Some of these files are shown only down to the mark at their end. What stands behind the mark is just as binding and has not "
        "been read yet: call {tool} for such a file before acting in an area that it covers."
    ),
    ending="[excerpt ends here{block} — {name} is {size} bytes in full; call {tool}({quoted}) to read the rest]",
    block=", before a fenced block that does not fit",
    reminder=(
        "Use the following context when you answer.\n"
        "These are instructions for this code base and from its user. They take precedence over default behaviour; follow them as they are written."
    ),
    file_header="Contents of {name} (instructions):",
    irrelevance="This context may have nothing to do with the task at hand. Do not respond to it unless it does.",
    hierarchy=(
        "Files called AGENTS.md may lie in any folder; in them people tell agents how to work there. Each one covers the folder it lies in and "
        "everything below. Follow every one that covers a file you change. Where two differ, the deeper one wins; what the system, the developer "
        "or the user says directly in the prompt wins over all of them."
    ),
    replaced="The instruction files have changed. The text below replaces every earlier text of theirs in this conversation:",
    removed="The instruction files are gone. What they said earlier in this conversation no longer applies.",
)

_CHINESE = Wording(
    introduction="以下内容来自本项目的指令文件。在本仓库中工作时，请以它们为准。内容不一致时，靠后的文件更具体，以靠后的为准。",
    excerpts="部分文件只显示到末尾标记处。标记之后的内容同样有效，但尚未读取：在其涉及的范围内行动之前，请先对该文件调用 {tool}。",
    ending="[节选到此为止{block} — {name} 全文 {size} 字节；调用 {tool}({quoted}) 读取其余部分]",
    block="，其后的代码块放不下，整块未显示",
    reminder="回答时请使用以下上下文。\n以下是代码库与用户的指令，其优先级高于默认行为，必须严格按原文执行。",
    file_header="文件内容：{name}（指令）：",
    irrelevance="以上上下文可能与当前任务无关。除非相关，否则不要对其作出回应。",
    hierarchy=(
        "名为 AGENTS.md 的文件可以出现在任何文件夹中，人们用它告诉智能体如何工作。每个文件的效力范围是它所在的文件夹及其下的一切。"
        "修改某个文件时，请遵守范围包含它的每一个 AGENTS.md。内容不一致时，以更深层的为准；系统、开发者或用户在提示中直接说的话优先于所有这些文件。"
    ),
    replaced="指令文件已更改。以下内容取代本次对话中此前出现的全部指令文件内容：",
    removed="指令文件已不存在。它们在本次对话中此前的内容不再适用。",
)

_LANGUAGES: dict[str, Wording] = {"en": _ENGLISH, "zh": _CHINESE}


def wording(language: Language) -> Wording:
    """
    Return the prose in *language*.

    Raises:
        OptionError: If there is none.
    """
    found = _LANGUAGES.get(language)
    if found is None:
        raise OptionError("language", language, 'one of "en" and "zh"')
    return found
