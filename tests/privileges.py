"""Apply file permissions to root too, so that tests of permissions run for root as well."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

VERSION_3 = 0x2008_0522  # of the calls
CapabilityWords = ctypes.c_uint32 * 6  # effective, permitted, inheritable, and the same of the higher half
DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2  # the numbers of what opens any file and any directory
LIBC = ctypes.CDLL(None, use_errno=True)


@contextmanager
def without_privileges() -> Iterator[None]:
    """Let this thread open only what its user may, also if that is root."""
    before = CapabilityWords()
    system_call("capget", before)
    less = CapabilityWords(*before)
    less[0] &= ~(1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH)
    system_call("capset", less)
    try:
        yield
    finally:
        system_call("capset", before)


def system_call(name: str, words: "ctypes.Array[ctypes.c_uint32]") -> None:
    header = (ctypes.c_uint32 * 2)(VERSION_3, 0)
    if getattr(LIBC, name)(header, words) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
