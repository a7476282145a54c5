"""Time and memory of converting models: ``litefuse convert`` against ``tf.lite.TFLiteConverter``.

Every conversion is a fresh process, measured from its start to its end, imports included. The two converters take
turns, each going first in every other repeat, after one run of each that does not count.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from document import geometric_mean, megabytes, paragraph, seconds, table
from models import MODELS
from process import Run, call, measure

CONVERTERS = ("litefuse", "stock")
# The stock converter is ended when it takes more: the machine would swap.
MEMORY_LIMIT = 14 * 10**9
STOCK = """
import sys, tensorflow as tf
model = tf.lite.TFLiteConverter.from_saved_model(sys.argv[1]).convert()
open(sys.argv[2], "wb").write(model)
"""


def make_model(name: str, folder: Path) -> Path:
    """Makes a SavedModel of ``models.py`` if it is not there."""
    source = folder / name.replace(":", "_")
    if not (source / "saved_model.pb").exists():
        call(sys.executable, str(Path(__file__).with_name("models.py")), name, str(source))
    return source


def command(converter: str, source: Path, output: Path, *, check: bool = False) -> list[str]:
    """The command of one conversion; litefuse calls what it wrote only where that is asked for, as stock does not."""
    if converter == "litefuse":
        options = ["-q"] if check else ["-q", "--no-check-file"]
        return [sys.executable, "-m", "litefuse", "convert", str(source), "-o", str(output), *options]
    return [sys.executable, "-c", STOCK, str(source), str(output)]


def time_steps(source: Path, output: Path) -> dict[str, float]:
    """The seconds of each step of one conversion by litefuse."""
    report = call(*command("litefuse", source, output, check=True), "--json")
    return json.loads(report)["timings"]


def measure_conversion(name: str, folder: Path, repeats: int, **limits: Any) -> dict[str, Any]:
    """Runs both converters in turn on one model, and leaves what they write in the folder.

    Args:
        name: The model's name.
        folder: Where the SavedModel is made, and the LiteRT models ``NAME.litefuse.tflite`` and ``NAME.stock.tflite``.
        repeats: How often each is run; a converter that fails or is ended is run once.
        limits: Of ``measure``.

    Returns:
        The runs of each converter, the seconds of litefuse's steps, and the size of what each wrote.
    """
    source = make_model(name, folder)
    outputs = {each: folder / f"{source.name}.{each}.tflite" for each in CONVERTERS}
    runs = measure_in_turn(source, outputs, repeats, **limits)
    return {
        "model": name,
        "steps": time_steps(source, outputs["litefuse"]),
        "bytes": {each: path.stat().st_size if path.exists() else 0 for each, path in outputs.items()},
        **{each: [asdict(run) for run in found] for each, found in runs.items()},
    }


def measure_in_turn(source: Path, outputs: dict[str, Path], repeats: int, **limits: Any) -> dict[str, list[Run]]:
    """Runs both converters in turn on a SavedModel.

    Args:
        source: The SavedModel.
        outputs: Where each converter writes.
        repeats: How often each is run, after once that does not count; a converter that fails or is ended is run once.
        limits: Of ``measure``.

    Returns:
        The runs of each converter that count.
    """
    runs: dict[str, list[Run]] = {each: [] for each in CONVERTERS}
    for repeat in range(repeats + 1):
        for converter in sorted(runs, reverse=repeat % 2 == 1):
            if any(run.failure for run in runs[converter]):
                continue
            arguments: dict[str, Any] = {"memory_limit": MEMORY_LIMIT} | limits
            run = measure(command(converter, source, outputs[converter]), **arguments)
            if run.failure and converter == "litefuse":
                raise SystemExit(f"litefuse failed on {source.name}:\n{run.failure}")
            if repeat > 0 or run.failure or repeats == 0:
                runs[converter].append(run)
    return runs


def median(row: dict[str, Any], converter: str, what: str) -> float:
    """The median of a converter's runs; of one that failed, what it had taken until then."""
    return statistics.median(run[what] for run in row[converter])


def stock_failure(row: dict[str, Any]) -> str:
    """Why the stock converter failed, for the last column; empty if it did not."""
    failure = row["stock"][0]["failure"]
    return f"stock: {failure.splitlines()[-1][:80]}" if failure else ""


def document(rows: Sequence[dict[str, Any]], repeats: int) -> list[str]:
    """The results in Markdown."""
    ratios: dict[str, list[float]] = {"seconds": [], "peak_bytes": []}
    cells: list[list[str]] = []
    steps: list[list[str]] = []
    for row in rows:
        failed = stock_failure(row)
        line = [f"{row['model']}: {MODELS[row['model']]}"]
        for what, show in (("seconds", seconds), ("peak_bytes", megabytes)):
            ours, theirs = (median(row, each, what) for each in CONVERTERS)
            ratios[what] += [] if failed else [theirs / ours]
            line += [show(ours), show(theirs), "" if failed else f"{theirs / ours:.1f}"]
        allocated = (median(row, each, "anonymous_bytes") for each in CONVERTERS)
        cells.append([*line, *map(megabytes, allocated), failed])
        steps.append(_step_cells(row))
    for title, find in (("**geometric mean**", geometric_mean), ("**worst**", min)):
        time, memory = (f"**{find(each):.1f}**" for each in ratios.values())
        cells.append([title, "", "", time, "", "", memory, "", "", ""])
    heads = ["Model", "litefuse", "stock", "ratio", "memory", "stock", "ratio", "allocated", "stock", ""]
    return [
        *paragraph(_ABOUT.format(repeats=repeats)),
        *table(heads, cells, text=1),
        "",
        *paragraph(_ABOUT_STEPS),
        *table(["Model", "start", "read, import", "passes", "engine", "weights, write", "check"], steps, text=1),
    ]


_ABOUT = """
`litefuse convert` against `tf.lite.TFLiteConverter`, each in a fresh process, imports included. The Keras models are
untrained, have the default input size, and are exported with `model.export()`. The converters run alternately, after
one warm-up run each; medians of {repeats}. The test call of the file is skipped (`--no-check-file`), because the stock
converter makes none: the next table has its time. Memory is the peak of the process tree's proportional set size, in
which pages of mapped files count; *allocated* is its anonymous part. A ratio above 1 is in favor of litefuse.
"""
_ABOUT_STEPS = """
How litefuse's time is distributed, in one more run each, with the model in the system's file cache. *start*: until the
conversion process has loaded what it needs; *engine*: the C++ pipeline on the finished module; *check*: the file is
loaded in LiteRT and called once, which takes as long as the model itself: for a large one, the first call packs the
weights for XNNPACK, or is slow without it.
"""


def _step_cells(row: dict[str, Any]) -> list[str]:
    groups = {"start": 0.0, "read": 0.0, "passes": 0.0, "engine": 0.0, "write": 0.0, "check": 0.0}
    of_step = {
        "start": "start",
        "read": "read",
        "import": "read",
        "lower": "engine",
        "fold-weights": "write",
        "check-file": "check",
    }
    for step, time in row["steps"].items():
        groups[of_step.get(step, "write" if step == "write" else "passes")] += time
    return [row["model"], *map(seconds, groups.values())]
