"""The one system call that opens a name beneath a directory without ever leaving it, by ctypes.

No wheel wraps openat2 and CPython does not either.  Nothing in here knows about names, policies or secrets;
`filerefs.root` does.  Loaded on first need: ctypes costs more than the rest of this library together.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
import sys
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

NO_MAGICLINKS: Final = 0x02
NO_SYMLINKS: Final = 0x04
BENEATH: Final = 0x08

_OPENAT2 = 437  # the same number on every architecture but Alpha
_PROCFS = 0x9FA0
_RETRIES = 128
# Each of them comes from behind the place where an unknown call or a filter would have answered.
_SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class How(NamedTuple):
    """A `struct open_how`: the flags to open with, and packed with them which ways of resolving a name are forbidden."""

    packed: bytes
    flags: int

    @classmethod
    def pack(cls, flags: int, resolve: int) -> How:
        return cls(struct.pack("=QQQ", flags, 0, resolve), flags)


Opener: TypeAlias = "Callable[[int, bytes, How], int]"


@functools.cache
def find_opener() -> Opener | None:
    """
    Return the system call as a function of (directory descriptor, name, how), or None where it cannot be used.

    The function returns a descriptor, or a negative error number.  EINTR is tried again, EAGAIN (something
    was renamed while a ``..`` was resolved) up to 128 times.  The audit event ``open`` is raised as by `os.open`.
    The name must hold no NUL: ctypes would cut it there.
    """
    if sys.platform != "linux":
        return None
    opener = _bind()
    descriptor = opener(-100, b"/", How.pack(os.O_PATH | os.O_CLOEXEC, NO_MAGICLINKS))  # -100: AT_FDCWD
    if descriptor >= 0:
        os.close(descriptor)
    elif -descriptor not in _SCARCE:
        return None
    return opener


def _bind() -> Opener:
    # CDLL lets other threads run during the call; errno is kept per thread because of `use_errno`.
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
    syscall.restype = ctypes.c_long
    get_errno = ctypes.get_errno
    audit = sys.audit

    def open_beneath(directory: int, name: bytes, how: How) -> int:
        packed, flags = how
        audit("open", name, None, flags)
        retries = _RETRIES
        while True:
            result: int = syscall(_OPENAT2, directory, name, packed, 24)
            if result >= 0:
                return result
            number = get_errno()
            if number == errno.EAGAIN and retries:
                retries -= 1
            elif number != errno.EINTR:
                return -number

    return open_beneath


@functools.cache
def has_procfs() -> bool:
    """Tell whether ``/proc`` is the kernel's own: only then does ``/proc/self/fd/N`` lead back to descriptor N."""
    if sys.platform != "linux":
        return False
    statfs = ctypes.CDLL(None, use_errno=True).statfs
    statfs.argtypes = (ctypes.c_char_p, ctypes.c_char_p)
    buffer = ctypes.create_string_buffer(512)
    if statfs(b"/proc/self/fd", buffer) != 0:
        return False
    # The type comes first: a long, on some architectures an int.
    sizes = (ctypes.sizeof(ctypes.c_int), ctypes.sizeof(ctypes.c_long))
    return any(int.from_bytes(buffer.raw[:size], sys.byteorder) == _PROCFS for size in sizes)
