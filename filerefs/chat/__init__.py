"""
`filerefs chat`: messages in, notices and answers out, at a terminal or as a pipe.

`loop` takes a line and says what there is to say about it, `keyboard` and `pipe` are where lines come from, `commands`
is what a slash does; what was said is in `conversation`, what answers in `models`, what Ctrl-C does in `interrupts`.
"""

from __future__ import annotations

from filerefs.chat.beginning import run

__all__ = ["run"]
