"""Which of the leaks that the leak sanitizer reported are of the native kernels: ``python -m fuzz.leaks FOLDER``.

Python itself leaks when it ends, and so do its packages: only what was allocated on the way through the pack counts.
``.ci/run`` shows how the reports come into the folder.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_LEAK = re.compile(r"^(?:Direct|Indirect) leak of .*?(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
_OF_THE_PACK = re.compile(r"liblitefuse_kernels|\blitefuse::|/native/(?:src|kernels|include)/")


def leaks(report: str) -> tuple[list[str], int]:
    """The leaks of the pack in a report, and how many leaks it has in all."""
    found: list[str] = _LEAK.findall(report)
    return [leak for leak in found if _OF_THE_PACK.search(leak)], len(found)


def main(folder: Path) -> int:
    """Prints the leaks; 1 if there are any, 2 if there are no reports, not even of Python's own: nobody looked."""
    reports = [leaks(path.read_text(errors="replace")) for path in sorted(folder.iterdir())]
    found = [leak for of_pack, _ in reports for leak in of_pack]
    print(*found, sep="\n\n")
    print(
        f"{len(found)} leaks of the native kernels, of {sum(count for _, count in reports)} in {len(reports)} reports"
    )
    if not reports:
        return 2
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
