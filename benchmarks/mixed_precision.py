"""Automatic mixed precision: the size of files by the error of their outputs, beside one form for all weights.

Run it as ``python benchmarks/mixed_precision.py``; it needs the extra ``test`` and tests/requirements.txt. Models get
random weights, biases and statistics. Each limit is the error that one form for all has, and half of it; the best such
form is the smallest file within the limit.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from document import table

import litefuse

_MODELS = ("MobileNetV2", "EfficientNetB0", "BertBackbone")
_SIZE = 96
_LENGTH = 64
_WORDS = 8000
_SAMPLES = 16
# One form for all: the arguments of litefuse.quantize.
_UNIFORM: dict[str, dict[str, Any]] = {
    "int4": {"quantize": litefuse.Quantization("dynamic", weight_bits=4)},
    "int8": {"quantize": "dynamic"},
    "float16": {"quantize": "float16"},
}
_SHARES = (1.0, 0.5)


class Point(NamedTuple):
    """A limit, and the two files within it.

    Attributes:
        limit: The error that is allowed.
        form: The best form for all weights.
        uniform: The size of that file in bytes.
        mixed: The size of the mixed one.
    """

    limit: float
    form: str
    uniform: int
    mixed: int


def make(folder: Path, name: str) -> None:
    """Writes ``model``, a SavedModel, and ``samples.npz``."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    tf: Any = importlib.import_module("tensorflow")
    tf.keras.utils.set_random_seed(0)
    random = np.random.default_rng(23)
    if name == "BertBackbone":
        backbone: Any = importlib.import_module("keras_hub").models.BertBackbone
        model = backbone(
            vocabulary_size=_WORDS,
            num_layers=4,
            num_heads=4,
            hidden_dim=256,
            intermediate_dim=1024,
            max_sequence_length=128,
        )
        shape = (_SAMPLES, 1, _LENGTH)
        samples = {
            "token_ids": random.integers(1, _WORDS, shape).astype(np.int32),
            "segment_ids": np.zeros(shape, np.int32),
            "padding_mask": np.ones(shape, np.int32),
        }
        signature: Any = [{key: tf.TensorSpec(value.shape[1:], tf.int32, name=key) for key, value in samples.items()}]
    else:
        keras: Any = importlib.import_module("tests.tensorflow.test_keras_applications")
        model = keras.application(tf, name, _SIZE)
        samples = {"x": keras.images(_SAMPLES, _SIZE, seed=21)}
        signature = [tf.TensorSpec((1, _SIZE, _SIZE, 3), tf.float32, name="x")]
    arrays: dict[str, Any] = samples
    np.savez(folder / "samples.npz", **arrays)
    model.export(str(folder / "model"), input_signature=signature, verbose=False)


def measure_model(name: str) -> dict[str, Any]:
    """Returns the points of a model, and the curve that the search for the first limit went along."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        quiet = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
        command = [sys.executable, __file__, "--make", place, name]
        subprocess.run(command, check=True, env=quiet, stdout=subprocess.DEVNULL)
        samples = folder / "samples.npz"
        exact = folder / "float.tflite"
        # EMBEDDING_LOOKUP, of which there are integer forms, is what --quantize takes in the place of GATHER.
        litefuse.convert(folder / "model", quantize=litefuse.Quantization("auto", max_error=0, samples=samples)).save(
            exact
        )
        uniform: dict[str, tuple[int, float]] = {"float32": (exact.stat().st_size, 0.0)}
        curves: dict[str, Any] = {}

        def mixed(limit: float) -> int:
            result = litefuse.quantize(exact, litefuse.Quantization("auto", max_error=limit, samples=samples))
            curves[f"{limit:.3g}"] = result.report.quantization.mixed.curve  # type: ignore[union-attr]
            return result.report.size

        for form, options in _UNIFORM.items():
            # The error on the samples: the forms that need none are measured by a search that starts from them.
            uniform[form] = _uniform_error(exact, samples, folder / f"{form}.tflite", options)
        points = [*_points(uniform, mixed)]
    return {"name": name, "uniform": uniform, "points": points, "curves": curves}


def _uniform_error(exact: Path, samples: Path, target: Path, options: dict[str, Any]) -> tuple[int, float]:
    """Returns the size of a file of one form, and its error on the samples."""
    from litefuse.conversion.quantization.difference import Reference
    from litefuse.conversion.quantization.samples import calls_of

    litefuse.quantize(exact, **options).save(target)
    error = Reference(exact, calls_of(samples, exact)).difference(target).error
    assert error is not None
    return target.stat().st_size, error


def _points(uniform: dict[str, tuple[int, float]], mixed: Any) -> Iterator[Point]:
    for form in _UNIFORM:
        for share in _SHARES:
            limit = uniform[form][1] * share
            size, best = min((size, name) for name, (size, error) in uniform.items() if error <= limit)
            yield Point(limit, best, size, mixed(limit))


def document() -> str:
    """Measures all models, and returns a table."""
    rows: list[tuple[str, ...]] = []
    for name in _MODELS:
        found = measure_model(name)
        for point in found["points"]:
            ratio = point.mixed / point.uniform
            row = (name, point.form, f"{point.limit:.2g}", f"{point.uniform:,}", f"{point.mixed:,}", f"{ratio:.2f}")
            rows.append(row)
            print(*row, flush=True)
    return "\n".join(table(("model", "best form for all", "error", "bytes", "mixed, bytes", "share"), rows, text=2))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--make"]:
        make(Path(sys.argv[2]), sys.argv[3])
    else:
        print(document())
