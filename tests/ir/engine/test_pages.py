from __future__ import annotations

import mmap
import sys
from pathlib import Path

import pytest

from litefuse.support.processes.worker import release_library_pages, unwritten_mappings

SIZE = 4 << 20
MAPPINGS = """\
7f0000000000-7f0000400000 r--p 00000000 fe:00 42                         /lib/symbols.so
Rss:                2048 kB
Anonymous:             0 kB
VmFlags: rd mr mw me
7f0000400000-7f0000500000 r-xp 00400000 fe:00 42                         /lib/code with spaces.so
Anonymous:             0 kB
7f0000500000-7f0000600000 r--p 00500000 fe:00 42                         /lib/relocated.so
Anonymous:          1024 kB
7f0000600000-7f0000700000 rw-p 00600000 fe:00 42                         /lib/data.so
Anonymous:             0 kB
7f0000700000-7f0000800000 r--s 00000000 fe:00 43                         /shared.bin
Anonymous:             0 kB
7f0000800000-7f0000900000 r--p 00000000 00:00 0
Anonymous:             0 kB
"""


def test_only_what_the_file_holds_too_is_released() -> None:
    expected = [(0x7F0000000000, 0x7F0000400000), (0x7F0000400000, 0x7F0000500000)]
    assert list(unwritten_mappings(MAPPINGS)) == expected


def resident_kilobytes(path: Path) -> int:
    """What is in memory of the mapping of a file."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    mapping = next(number for number, line in enumerate(lines) if line.endswith(str(path)))
    return next(int(line.split()[1]) for line in lines[mapping:] if line.startswith("Rss:"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is released")
def test_released_pages_come_back(tmp_path: Path) -> None:
    path = tmp_path / "library.so"
    content = bytes(range(256)) * (SIZE // 256)
    path.write_bytes(content)
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), SIZE, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ) as mapped,
    ):
        assert mapped[:] == content
        assert resident_kilobytes(path) > 0  # all of it, unless memory is scarce
        release_library_pages()
        assert resident_kilobytes(path) == 0
        assert mapped[:] == content
