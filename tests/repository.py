"""The files of this repository: what lies beside them, such as a virtual environment of any name, is no part of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def tracked(*patterns: str) -> list[Path]:
    """Returns the files that git tracks and that are there, in order.

    Args:
        *patterns: Which ones, as git matches paths from the top: ``docs/*.md`` includes those of its folders.
    """
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--", *patterns]
    listed = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    return [path for name in sorted(filter(None, listed.split("\0"))) if (path := ROOT / name).is_file()]
