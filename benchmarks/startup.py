"""What it takes to start: processor time of processes that do little."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from document import megabytes, milliseconds, table
from process import Run, measure

from conversion import make_model

_MODEL = "MobileNetV2"


def measure_startup(folder: Path, repeats: int) -> list[dict[str, Any]]:
    """Medians of each command, which take turns."""
    source = str(make_model(_MODEL, folder))
    commands = {
        "python -c pass": ["-c", "pass"],
        "python -c 'import litefuse'": ["-c", "import litefuse"],
        "litefuse --version": ["-m", "litefuse", "--version"],
        f"litefuse inspect {_MODEL}": ["-m", "litefuse", "inspect", source],
        "python -c 'import tensorflow'": ["-c", "import tensorflow"],
    }
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(repeats + 1):
        for name, arguments in commands.items():
            runs[name].append(measure([sys.executable, *arguments]))
    return [
        {
            "command": name,
            "seconds": statistics.median(run.seconds for run in found[1:]),
            "cpu_seconds": statistics.median(run.cpu_seconds for run in found[1:]),
            "peak_bytes": max(run.peak_bytes for run in found[1:]),
        }
        for name, found in runs.items()
    ]


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results in Markdown."""
    cells = [
        [
            f"`{row['command']}`",
            milliseconds(row["seconds"]),
            milliseconds(row["cpu_seconds"]),
            megabytes(row["peak_bytes"]),
        ]
        for row in rows
    ]
    return table(["Command", "time", "processor time", "memory"], cells, text=1)
