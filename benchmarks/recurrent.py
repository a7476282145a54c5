"""Latency of recurrent layers: litefuse's loop and its fused op against the stock converter's model.

Run it as ``python benchmarks/recurrent.py --cells lstm gru simple_rnn``; it needs the extra ``bench``. For each number
of units and steps, a layer of Keras 3 with random weights and batch size 1 is converted by litefuse, in both forms
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
from pathlib import Path
from typing import Any

import numpy as np

import litefuse
from litefuse.runtime.interpreter import Interpreter

__all__ = ["main"]

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


def make(folder: Path, cell: str, units: int, steps: int) -> None:
    """Writes ``model``, a SavedModel, and ``stock.tflite``."""
    os.environ |= {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    tf: Any = importlib.import_module("tensorflow")
    keras: Any = importlib.import_module("keras")
    keras.utils.set_random_seed(0)
    inputs = keras.Input(batch_shape=(1, steps, units))
    made = getattr(keras.layers, _LAYERS[cell])(
        units, return_sequences=True, bias_initializer="random_normal", unroll=cell.startswith("unrolled")
    )
    if cell.startswith("bidirectional"):
        made = keras.layers.Bidirectional(made)
    path = str(folder / "model")
    spec = tf.TensorSpec((1, steps, units), tf.float32, name="x")
    keras.Model(inputs, made(inputs)).export(path, input_signature=[spec], verbose=False)
    (folder / "stock.tflite").write_bytes(tf.lite.TFLiteConverter.from_saved_model(path).convert())


def measure(cell: str, units: int, steps: int, repeats: int) -> dict[str, Any]:
    """Seconds of one call of each model, medians."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        command = [sys.executable, __file__, "--make", work, cell, str(units), str(steps)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        models = {"stock": (folder / "stock.tflite").read_bytes()}
        models["loop"] = litefuse.convert(folder / "model", rnn="loop").model_bytes
        if cell != "gru":
            models["fused"] = litefuse.convert(folder / "model", rnn="fused", require_fused=True).model_bytes
    x = np.random.default_rng(0).standard_normal((1, steps, units)).astype(np.float32)
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
    return {"cell": cell, "units": units, "steps": steps, **medians}


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", nargs="+", choices=sorted(_LAYERS), default=["lstm", "gru"])
    parser.add_argument("--units", nargs="+", type=int, default=_UNITS)
    parser.add_argument("--steps", nargs="+", type=int, default=_STEPS)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--json", type=Path, help="also write the results there")
    parser.add_argument("--make", nargs=4, metavar=("FOLDER", "CELL", "UNITS", "STEPS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        folder, cell, units, steps = arguments.make
        make(Path(folder), cell, int(units), int(steps))
        return
    print("| Cell | units = inputs | steps | stock | loop | fused | stock / loop | stock / fused |", flush=True)
    print("|---|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    rows: list[dict[str, Any]] = []
    for cell in arguments.cells:
        for units in arguments.units:
            for steps in arguments.steps:
                row = measure(cell, units, steps, arguments.repeats)
                rows.append(row)
                stock = row["stock"]
                times = " | ".join(
                    f"{row[name] * 1e3:.2f} ms" if name in row else "" for name in ("stock", "loop", "fused")
                )
                ratios = " | ".join(f"{stock / row[name]:.2f}x" if name in row else "" for name in ("loop", "fused"))
                print(f"| {cell} | {units} | {steps} | {times} | {ratios} |", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
