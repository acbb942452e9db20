"""Decoding"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from filerefs.decoding import decode

from .conftest import repeat
from .measuring import compare, fastest

if TYPE_CHECKING:
    from collections.abc import Callable

KIB = 1024
TEXTS = {
    "ascii": "def function_§(value):\n    return value + 1  # plain\n",
    "utf-8": "# Größe in Metern, 長さ、длина §\nsize = 1\n",
    "utf-16": "Größe in Metern §\r\nsize = 1\r\n",
    "cp1252": "# Größe in Metern für die Länge §, déjà vu\nsize = 1\n",
    "cp1251": "# размер в метрах, длина и ширина §\nsize = 1\n",
    "koi8_r": "# размер в метрах, длина и ширина §\nsize = 1\n",
    "cp1250": "# šířka a délka v metrech, příliš žluťoučký kůň §\nsize = 1\n",
    "cp932": "# 大きさはメートルで書いてください §\nsize = 1\n",
    "euc_jp": "# 大きさはメートルで書いてください §\nsize = 1\n",
    "gb18030": "# 请先看一下这个模块的说明，长度以米为单位 §\nsize = 1\n",
    "big5": "# 請先看一下這個模組的說明，長度以公尺為單位 §\nsize = 1\n",
    "cp949": "# 길이는 미터 단위로 적어 주세요 §\nsize = 1\n",
}
UNICODE = ("ascii", "utf-8", "utf-16")


def bytes_of(encoding: str, size: int) -> bytes:
    text = repeat(TEXTS[encoding], 2 * size)
    # Whole lines, so that no file ends inside a character.
    return b"".join(line.encode(encoding if encoding != "utf-16" else "utf-16-le") for line in text.splitlines(keepends=True))[:size].rpartition(b"\n")[0]


@pytest.mark.parametrize("size", [KIB, 10 * KIB, 200 * KIB], ids=lambda size: f"{size // KIB} KiB")
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_unicode(benchmark: Any, record: Any, encoding: str, size: int) -> None:
    data = bytes_of(encoding, size)
    pair = compare(lambda: decode(data), data.decode, seconds=0.3)
    benchmark.pedantic(decode, (data,), rounds=10)
    record(f"{size // KIB} KiB of {encoding}, to `bytes.decode`", pair.ratio, times=f"{pair.ours * 1e6:.1f} µs : {pair.plain * 1e6:.1f} µs")


@pytest.mark.parametrize("encoding", [name for name in TEXTS if name not in UNICODE])
def test_legacy(benchmark: Any, record: Any, encoding: str) -> None:
    sizes = [KIB, 10 * KIB, 200 * KIB]
    times = [fastest(decoder_of(encoding, size), seconds=0.2) * 1e3 for size in sizes]
    benchmark.pedantic(decoder_of(encoding, sizes[-1]), rounds=5)
    decoded = decode(bytes_of(encoding, sizes[-1]))
    found = decoded.encoding if decoded else "binary"
    record(f"200 KiB of {encoding} (read as {found})", times[-1], "ms", goal=1.0, times=f"1 KiB {times[0]:.2f} ms, 10 KiB {times[1]:.2f} ms")


def decoder_of(encoding: str, size: int) -> Callable[[], object]:
    data = bytes_of(encoding, size)
    return lambda: decode(data)
