"""
A program that forbids itself `openat2` by a seccomp filter, as container runtimes do, and then runs a turn.

    python sandboxed.py ERRNO ROOT POLICY MESSAGE

It prints, as JSON: what the system call answers now, what resolves the names, and the turn.
"""

from __future__ import annotations

import ctypes
import json
import platform
import struct
import sys

from filerefs import Preprocessor

# What `struct seccomp_data` says of the architecture; elsewhere the filter is not put up.
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_OPENAT2 = 437
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ANSWER = 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_SET_SECCOMP, _SET_NO_NEW_PRIVILEGES, _FILTER = 22, 38, 2


def forbid(number: int) -> None:
    """Let the kernel answer openat2 with the error *number*, in this process and its children."""
    steps = (
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_IF_EQUAL, 0, 3, ARCHITECTURES[platform.machine()]),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_JUMP_IF_EQUAL, 0, 1, _OPENAT2),
        (_RETURN, 0, 0, _ANSWER | number),
        (_RETURN, 0, 0, _ALLOW),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong)
    if prctl(_SET_NO_NEW_PRIVILEGES, 1, None, 0, 0) or prctl(_SET_SECCOMP, _FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "the filter was not taken")


def ask() -> int:
    """Return the error number of one plain call of openat2: 0 where it works."""
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(ctypes.c_long(_OPENAT2), -100, b"/", struct.pack("=QQQ", 0, 0, 0), ctypes.c_size_t(24))
    return 0 if result >= 0 else ctypes.get_errno()


def main(number: str, root: str, policy: str, message: str) -> None:
    forbid(int(number))
    with Preprocessor(root, symlinks=policy) as preprocessor:  # type: ignore[arg-type]
        turn = preprocessor.preprocess(message, "Be brief.")
        print(json.dumps({"errno": ask(), "backend": preprocessor._root.backend, "turn": turn.as_dict()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
