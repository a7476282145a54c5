"""Latency of recurrent layers: litefuse's loop and its fused op against the stock converter's model.

Run it as ``python benchmarks/recurrent.py --cells lstm gru simple_rnn``; it needs the extra ``bench``. For each number
of units and steps, a layer of Keras 3 with random weights and a fixed batch is converted by litefuse, in both forms
where LiteRT has an op, and by ``tf.lite.TFLiteConverter``. Of an unrolled layer (``unrolled_lstm``), ``loop`` is the
unrolled form. All models of a row run in one process with one thread, in turn; the table gives medians.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from document import milliseconds, paragraph, table

import litefuse
from litefuse.litert.runtime.interpreter import Interpreter

_UNITS = (32, 128, 256, 512)
_STEPS = (20, 100, 500)
_LAYERS = {
    "bidirectional_lstm": "LSTM",
    "gru": "GRU",
    "lstm": "LSTM",
    "simple_rnn": "SimpleRNN",
    "unrolled_lstm": "LSTM",
    "unrolled_simple_rnn": "SimpleRNN",
}


def make(folder: Path, cell: str, batch: int, units: int, steps: int) -> None:
    """Writes ``model``, a SavedModel, and ``stock.tflite``."""
    os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    tf: Any = importlib.import_module("tensorflow")
    keras: Any = importlib.import_module("keras")
    keras.utils.set_random_seed(0)
    inputs = keras.Input(batch_shape=(batch, steps, units))
    made = getattr(keras.layers, _LAYERS[cell])(
        units, return_sequences=True, bias_initializer="random_normal", unroll=cell.startswith("unrolled")
    )
    if cell.startswith("bidirectional"):
        made = keras.layers.Bidirectional(made)
    path = str(folder / "model")
    spec = tf.TensorSpec((batch, steps, units), tf.float32, name="x")
    keras.Model(inputs, made(inputs)).export(path, input_signature=[spec], verbose=False)
    (folder / "stock.tflite").write_bytes(tf.lite.TFLiteConverter.from_saved_model(path).convert())


def measure(cell: str, batch: int, units: int, steps: int, repeats: int) -> dict[str, Any]:
    """Seconds of one call of each model, medians."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        command = [sys.executable, __file__, "--make", work, cell, str(batch), str(units), str(steps)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        models = {"stock": (folder / "stock.tflite").read_bytes()}
        models["loop"] = litefuse.convert(folder / "model", rnn="loop").model_bytes
        if cell != "gru":
            models["fused"] = litefuse.convert(folder / "model", rnn="fused", require_fused=True).model_bytes
    x = np.random.default_rng(0).standard_normal((batch, steps, units)).astype(np.float32)
    interpreters: dict[str, Any] = {}
    for name, content in models.items():
        interpreter = Interpreter(model_content=content, num_threads=1)
        interpreter.allocate_tensors()
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreters[name] = interpreter
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(repeats + 2):
        for name, interpreter in interpreters.items():
            begin = time.perf_counter()
            interpreter.invoke()
            seconds[name].append(time.perf_counter() - begin)
    medians = {name: statistics.median(each[2:]) for name, each in seconds.items()}
    return {"cell": cell, "batch": batch, "units": units, "steps": steps, **medians}


def measure_recurrent(repeats: int) -> list[dict[str, Any]]:
    """The grid of units and steps, for LSTM and GRU and a batch of one."""
    return [measure(cell, 1, units, steps, repeats) for cell in ("lstm", "gru") for units in _UNITS for steps in _STEPS]


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results in Markdown."""
    return [*paragraph(_ABOUT), *lines(rows)]


_ABOUT = """
Layers that return all outputs, as litefuse converts them in both forms, if LiteRT has an op, and as the stock converter
does; one thread, a batch of one, medians of calls alternating in one process. litefuse chooses the form that [is
faster](../guides/recurrent.md#one-op-or-a-loop). A ratio above 1 is in favor of litefuse.
"""


def lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The table's lines."""
    forms = ("loop", "fused")
    cells: list[list[str]] = []
    for row in rows:
        times = [milliseconds(row[name]) if name in row else "" for name in ("stock", *forms)]
        ratios = [f"{row['stock'] / row[name]:.2f}" if name in row else "" for name in forms]
        cells.append([row["cell"], str(row["units"]), str(row["steps"]), *times, *ratios])
    return table(
        ["Cell", "units = inputs", "steps", "stock", "loop", "fused", "stock / loop", "stock / fused"], cells, text=1
    )


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", nargs="+", choices=sorted(_LAYERS), default=["lstm", "gru"])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--units", nargs="+", type=int, default=_UNITS)
    parser.add_argument("--steps", nargs="+", type=int, default=_STEPS)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--json", type=Path, help="also write the results there")
    parser.add_argument(
        "--make", nargs=5, metavar=("FOLDER", "CELL", "BATCH", "UNITS", "STEPS"), help=argparse.SUPPRESS
    )
    arguments = parser.parse_args()
    if arguments.make:
        folder, cell, *sizes = arguments.make
        make(Path(folder), cell, *map(int, sizes))
        return
    rows: list[dict[str, Any]] = []
    for cell in arguments.cells:
        for units in arguments.units:
            for steps in arguments.steps:
                rows.append(measure(cell, arguments.batch, units, steps, arguments.repeats))
                print("\n".join(lines(rows) if len(rows) == 1 else lines(rows)[-1:]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
