"""How the cost of a conversion grows with the number of ops and the size of the weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from document import megabytes, paragraph, plot, seconds, table

from conversion import CONVERTERS, measure_conversion, median, stock_failure

OPS = (100, 300, 1_000, 3_000, 10_000, 30_000)
STEPS = (100, 500, 1_500)
BYTES = (10, 30, 100, 300, 1_000, 3_000)  # megabytes
TIME_LIMIT = 600.0


def measure_growth(folder: Path, repeats: int) -> list[dict[str, Any]]:
    """Both converters on chains of ops, on unrolled recurrent networks, and on dense layers."""
    rows: list[dict[str, Any]] = []
    for kind, sizes in (("chain", OPS), ("unrolled", STEPS), ("matrices", BYTES)):
        for size in sizes:
            row = measure_conversion(f"{kind}:{size}", folder, repeats, time_limit=TIME_LIMIT)
            rows.append(row)
            for converter in CONVERTERS:  # gigabytes
                (folder / f"{kind}_{size}.{converter}.tflite").unlink(missing_ok=True)
    return rows


_KINDS = (
    ("chain", "Time by the number of ops", "ops"),
    ("unrolled", "Time by the number of unrolled steps", "steps"),
    ("matrices", "Memory by the size of the weights", "MB of weights"),
)


def drawn(rows: list[dict[str, Any]], pictures: Path) -> list[dict[str, Any]]:
    """The results, after their plots are written."""
    for kind, title, unit in _KINDS:
        what = "peak_bytes" if kind == "matrices" else "seconds"
        points = {
            name: [
                (int(row["model"].partition(":")[2]), median(row, name, what) / (1e6 if kind == "matrices" else 1))
                for row in rows
                if row["model"].startswith(kind) and (name == "litefuse" or not stock_failure(row))
            ]
            for name in CONVERTERS
        }
        plot(pictures / f"{kind}.svg", title, unit, "MB" if kind == "matrices" else "s", points)
    return rows


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results in Markdown, with their plots."""
    lines = paragraph(_ABOUT)
    heads = ["litefuse", "stock", "ratio", "memory", "stock", "allocated", "stock", ""]
    for kind, title, unit in _KINDS:
        cells = [_cells(row) for row in rows if row["model"].startswith(kind)]
        lines += [*table([unit, *heads], cells, text=0), "", f"![{title}](benchmarks/{kind}.svg)", ""]
    return lines[:-1]


_ABOUT = f"""
Models that differ only in size: a chain of additions and tanh, a GRU written as a loop in Python, and four dense
layers. The columns are those of the first table; both converters run once, for at most {TIME_LIMIT:.0f} s. The plots
have logarithmic axes: proportional growth is a straight line of slope 1.
"""


def _cells(row: dict[str, Any]) -> list[str]:
    size = f"{int(row['model'].partition(':')[2]):,}"
    failed = stock_failure(row)
    ours, theirs = (median(row, each, "seconds") for each in CONVERTERS)
    memory = [megabytes(median(row, each, what)) for what in ("peak_bytes", "anonymous_bytes") for each in CONVERTERS]
    ratio = "" if failed else f"{theirs / ours:.1f}"
    return [size, seconds(ours), seconds(theirs), ratio, *memory, failed]
