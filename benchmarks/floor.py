"""How close litefuse comes to the engine alone: its C++ pipeline on a ready module, and one copy of the weights.

The ready module is what litefuse gives the engine, but with the values of all weights in it, as any importer without
litefuse's mapped weights would have to make it. It is made beforehand, and read from MLIR bytecode.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from document import geometric_mean, paragraph, seconds, table
from process import call

from conversion import make_model, time_steps


def measure_floor(name: str, folder: Path, repeats: int) -> dict[str, Any]:
    """The steps of a conversion and those of the engine alone, in turn, each time in a fresh process."""
    source, ready, output = make_model(name, folder), folder / "ready.mlirbc", folder / "floor.tflite"
    call(sys.executable, __file__, "ready", str(source), str(ready))
    row: dict[str, Any] = {"model": name, "litefuse": [], "floor": []}
    for repeat in range(repeats + 1):  # the first reads the files into the system's memory
        steps = time_steps(source, output)
        floor = json.loads(call(sys.executable, __file__, "floor", str(ready), str(output)))
        if repeat > 0:
            row["litefuse"].append(steps)
            row["floor"].append(floor)
    ready.unlink()
    output.unlink()
    return row


def document(rows: Sequence[dict[str, Any]], repeats: int) -> list[str]:
    """The results in Markdown."""
    cells: list[list[str]] = []
    ratios: list[float] = []
    for row in rows:
        start, check, others = (
            statistics.median(map(part, row["litefuse"])) for part in (_start, _self_check, _other_steps)
        )
        pipeline, write = (statistics.median(run[step] for run in row["floor"]) for step in ("pipeline", "write"))
        ratios.append(others / (pipeline + write))
        figures = [start, check, others, pipeline, write]
        cells.append([row["model"], *map(seconds, figures), f"{ratios[-1]:.2f}"])
    cells.append(["**geometric mean**", *[""] * 5, f"**{geometric_mean(ratios):.2f}**"])
    heads = ["Model", "start", "checks", "other steps", "engine alone: pipeline", "write", "other steps / engine"]
    return [*paragraph(_ABOUT.format(repeats=repeats)), *table(heads, cells, text=1)]


_ABOUT = """
The time of the engine alone: its pipeline on a finished module that contains the values of all weights, and writing the
flatbuffer. Beside it, the time of `litefuse convert`, which also reads the SavedModel, imports it, infers shapes and
fuses. *start*: until the conversion process has loaded what it needs; *checks*: comparing fused ops with what they
replace, and calling the file, which the engine does not do (`--check-fusions no` and `--no-check-file` skip this). Both
run alternately, each time in a fresh process; medians of {repeats}. A ratio below 1 is possible, because litefuse's
weights do not pass through the engine.
"""


def _start(steps: dict[str, float]) -> float:
    return steps["start"]


def _self_check(steps: dict[str, float]) -> float:
    return steps.get("self-check", 0.0) + steps.get("check-file", 0.0)


def _other_steps(steps: dict[str, float]) -> float:
    return sum(steps.values()) - _start(steps) - _self_check(steps)


def _save_ready(source: Path, ready: Path) -> None:
    from litefuse.conversion.job import ConversionJob
    from litefuse.conversion.run import run_conversion

    everything = sys.maxsize  # no weight is so large as to stay in the mapped checkpoint
    run_conversion(ConversionJob(source, ready, mapped_from=everything, save_module_before="lower"))


def _run_engine(ready: Path, output: Path) -> dict[str, float]:
    from litefuse.conversion.pipeline.lowering import lower_one_op
    from litefuse.ir.engine.lowering import lower, write_flatbuffer
    from litefuse.ir.mlir import ir, mlir_context
    from litefuse.ir.passes import run_passes
    from litefuse.passes.control_flow.litert_loops import fill_buffers, outline_loops
    from litefuse.passes.finishing.initialize_states import initialize_states
    from litefuse.passes.legalize.left_over import DecomposeOps

    with mlir_context():
        module = ir.Module.parse(ready.read_bytes())
        began = time.perf_counter()
        lower(module)
        lowered = time.perf_counter()
        run_passes(module, [initialize_states, fill_buffers, outline_loops, DecomposeOps([], lower_one_op)])
        finished = time.perf_counter()
        write_flatbuffer(module, output)
        return {"pipeline": lowered - began, "write": time.perf_counter() - finished}


if __name__ == "__main__":
    task, given, made = sys.argv[1:]
    if task == "ready":
        _save_ready(Path(given), Path(made))
    else:
        print(json.dumps(_run_engine(Path(given), Path(made))))
