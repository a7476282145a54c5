"""The tables of docs/explanation/benchmarks.md, from what ``benchmarks/run.py`` has measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_RUN = Path(__file__).parents[1] / "benchmarks" / "run.py"


def made() -> str:
    """The sections of the page."""
    return subprocess.run([sys.executable, str(_RUN), "--page"], check=True, capture_output=True, text=True).stdout
