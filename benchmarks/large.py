"""Models of a gigabyte and more: what both converters take, and whether what litefuse writes runs and is right."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from document import megabytes, paragraph, seconds, table
from models import inputs_of
from process import call

from conversion import CONVERTERS, measure_conversion, median, stock_failure

MODELS = {
    "embedding": "an embedding of 240,000 rows of 1024, and a dense layer",
    "matrices:2500": "four dense layers of 625 MB",
}
TIME_LIMIT = 900.0


def measure_large(folder: Path, repeats: int) -> list[dict[str, Any]]:
    """Converts each, and runs what litefuse wrote beside TensorFlow, on the same input and each in its own process."""
    rows: list[dict[str, Any]] = []
    for name in MODELS:
        row = measure_conversion(name, folder, repeats, time_limit=TIME_LIMIT)
        stem = name.replace(":", "_")
        outputs: list[Any] = []
        for runtime, model in (("litert", f"{stem}.litefuse.tflite"), ("tensorflow", stem)):
            call(sys.executable, __file__, runtime, str(folder / model), str(folder / f"{runtime}.npy"))
            outputs.append(np.load(folder / f"{runtime}.npy"))
        ours, expected = outputs
        rows.append(row | {"error": float(np.abs(ours - expected).max() / np.abs(expected).max())})
    return rows


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results in Markdown."""
    cells: list[list[str]] = []
    for row in rows:
        figures = [
            show(median(row, each, what))
            for what, show in (("seconds", seconds), ("peak_bytes", megabytes), ("anonymous_bytes", megabytes))
            for each in CONVERTERS
        ]
        size = f"{row['bytes']['litefuse'] / 1e6:,.1f} MB"
        cells.append([MODELS[row["model"]], size, *figures, f"{row['error']:.1g}", stock_failure(row)])
    heads = ["Model", "file", "litefuse", "stock", "memory", "stock", "allocated", "stock", "error", ""]
    return [*paragraph(_ABOUT), *table(heads, cells, text=1)]


_ABOUT = """
Weights of 8 kB and more stay in the mapped checkpoint until they are written: the engine gets placeholders, and
transpositions, batch normalization and other factors are applied block by block on the way to the file. So the memory
that a conversion allocates does not depend on the size of the weights, and pages of the checkpoint are released while
it writes. A file of more than 2 GB has its weights behind the flatbuffer. *error*: of litefuse's file, run in LiteRT,
against TensorFlow, relative to the largest value.
"""


def _in_litert(path: str, target: str) -> None:
    interpreter: Any = importlib.import_module("ai_edge_litert.interpreter").Interpreter(model_path=path)
    runner = interpreter.get_signature_runner()
    inputs = inputs_of(runner.get_input_details())
    first, second = (next(iter(runner(**inputs).values())).copy() for _ in range(2))
    if not np.array_equal(first, second):
        sys.exit("the second call gives other numbers")
    np.save(target, first)


def _in_tensorflow(path: str, target: str) -> None:
    tf: Any = importlib.import_module("tensorflow")
    serve = tf.saved_model.load(path).signatures["serving_default"]
    specs = serve.structured_input_signature[1]
    details = {
        name: {"shape_signature": [size or -1 for size in spec.shape.as_list()], "dtype": spec.dtype.as_numpy_dtype}
        for name, spec in specs.items()
    }
    inputs = {name: tf.constant(value) for name, value in inputs_of(details).items()}
    np.save(target, next(iter(serve(**inputs).values())).numpy())


if __name__ == "__main__":
    {"litert": _in_litert, "tensorflow": _in_tensorflow}[sys.argv[1]](*sys.argv[2:])
