"""The memory that loading the engine takes, given back.

Loading a library reads its symbols and relocations and runs its initializers, and the system maps the pages around each
that is touched: 60 MB, of which a conversion needs a third again. They are pages of files, which come back when they
are touched.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from pathlib import Path

__all__ = ["release_library_pages", "unwritten_mappings"]

_MAPPINGS = Path("/proc/self/smaps")  # proc_pid_smaps(5)
_SMALLEST = 1 << 20


def release_library_pages() -> None:
    """Unmaps the pages of all large read-only mappings that hold what their file holds; only on Linux."""
    if not _MAPPINGS.exists():
        return
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for first, end in unwritten_mappings(_MAPPINGS.read_text()):
        if end - first >= _SMALLEST:
            madvise(first, end - first, mmap.MADV_DONTNEED)


def unwritten_mappings(text: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each private mapping of a file that is not writable and has no page of its own.

    Args:
        text: What ``/proc/PID/smaps`` says.
    """
    addresses = permissions = inode = ""
    for line in text.splitlines():
        words = line.split()
        if not words[0].endswith(":"):  # a mapping begins: addresses, permissions, offset, device, inode, path
            addresses, permissions, inode = words[0], words[1], words[4]
        elif words[:2] == ["Anonymous:", "0"] and inode != "0" and permissions.endswith("p") and "w" not in permissions:
            first, _, end = addresses.partition("-")
            yield int(first, 16), int(end, 16)
