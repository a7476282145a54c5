"""Releases the memory that loading the engine takes.

Loading a library reads its symbols and relocations and runs its initializers, and the system maps the pages around each
access: 60 MB, of which a conversion needs a third again. They are pages of files, which are mapped again when they are
accessed.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["release_library_pages", "unwritten_mappings"]

_MAPPINGS = Path("/proc/self/smaps")  # proc_pid_smaps(5)
_SMALLEST = 1 << 20


def release_library_pages() -> None:
    """Drops the pages of all large read-only mappings that are unchanged from their files; only on Linux."""
    if sys.platform != "linux" or not _MAPPINGS.exists():
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for first, end in unwritten_mappings(_MAPPINGS.read_text()):
        if end - first >= _SMALLEST:
            madvise(first, end - first, mmap.MADV_DONTNEED)


def unwritten_mappings(text: str) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each private mapping of a file that is not writable and has no anonymous pages.

    Args:
        text: The contents of ``/proc/PID/smaps``.
    """
    addresses = permissions = inode = ""
    for line in text.splitlines():
        words = line.split()
        if not words[0].endswith(":"):  # a new mapping: addresses, permissions, offset, device, inode, path
            addresses, permissions, inode = words[0], words[1], words[4]
        elif words[:2] == ["Anonymous:", "0"] and inode != "0" and permissions.endswith("p") and "w" not in permissions:
            first, _, end = addresses.partition("-")
            yield int(first, 16), int(end, 16)
