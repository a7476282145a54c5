"""Integers throughout: litefuse's int8 files of Keras applications against those of the stock converter.

Run it as ``python benchmarks/integers.py``; it needs the extra ``test``. A model gets random
weights, biases and statistics. litefuse and ``tf.lite.TFLiteConverter`` calibrate it with the same samples; both files
and their own float32 forms then run on other images in LiteRT. The error is the mean difference of the scores, relative
to the largest of the image, averaged over the images. Models are made one at a time, each in a process of its own,
because TensorFlow and the lowering engine do not fit into one.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from document import table

import litefuse
from litefuse.litert.runtime.interpreter import Interpreter

_MODELS = ("MobileNetV2", "EfficientNetB0", "ResNet50", "DenseNet121", "MobileNetV3Small", "InceptionV3")
_SIZE = 96
_SAMPLES = 32
_IMAGES = 64


def make(folder: Path, name: str) -> None:
    """Writes ``model``, a SavedModel, ``samples.npz``, ``images.npz`` and the stock converter's two files."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    tf: Any = importlib.import_module("tensorflow")
    tf.keras.utils.set_random_seed(0)
    keras: Any = importlib.import_module("tests.tensorflow.test_keras_applications")
    model = keras.application(tf, name, _SIZE)
    samples = keras.images(_SAMPLES, _SIZE, seed=21)
    np.savez(folder / "samples.npz", x=samples)
    np.savez(folder / "images.npz", x=keras.images(_IMAGES, _SIZE, seed=22))
    path = str(folder / "model")
    model.export(path, input_signature=[tf.TensorSpec((1, _SIZE, _SIZE, 3), tf.float32, name="x")], verbose=False)
    converter = tf.lite.TFLiteConverter.from_saved_model(path)
    (folder / "stock.float.tflite").write_bytes(converter.convert())
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ({"x": image[None]} for image in samples)
    (folder / "stock.tflite").write_bytes(converter.convert())


def measure_application(name: str) -> dict[str, Any]:
    """Returns the mean errors and the sizes, in bytes, of both converters' files."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        quiet = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
        command = [sys.executable, __file__, "--make", place, name]
        subprocess.run(command, check=True, env=quiet, stdout=subprocess.DEVNULL)
        images = np.load(folder / "images.npz")["x"]
        litefuse.convert(folder / "model").save(folder / "float.tflite")
        integers = litefuse.convert(
            folder / "model", quantize=litefuse.Quantization("int8", samples=folder / "samples.npz")
        )
        integers.save(folder / "int8.tflite")
        errors = {
            side: _mean_error(_scores(folder / before, images), _scores(folder / after, images))
            for side, before, after in (
                ("litefuse", "float.tflite", "int8.tflite"),
                ("stock", "stock.float.tflite", "stock.tflite"),
            )
        }
        sizes = {side: (folder / file).stat().st_size for side, file in _FILES.items()}
    return {"name": name, "errors": errors, "sizes": sizes}


_FILES = {"litefuse": "int8.tflite", "stock": "stock.tflite"}


def _scores(path: Path, images: Any) -> list[Any]:
    runner = Interpreter(path, num_threads=os.cpu_count()).get_signature_runner()
    return [next(iter(runner(x=image[None]).values())).astype(np.float64) for image in images]


def _mean_error(expected: Sequence[Any], found: Sequence[Any]) -> float:
    pairs = zip(expected, found, strict=True)
    return float(np.mean([np.abs(one - other).mean() / np.abs(one).max() for one, other in pairs]))


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Returns the table."""
    heads = ("Model", "litefuse: error", "stock: error", "litefuse: bytes", "stock: bytes")
    cells = [
        (
            each["name"],
            *(f"{each['errors'][side]:.2%}" for side in ("litefuse", "stock")),
            *(f"{each['sizes'][side]:,}" for side in ("litefuse", "stock")),
        )
        for each in rows
    ]
    return table(heads, cells, text=1)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=_MODELS, help="the names of models of keras.applications")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make is not None:
        make(arguments.make, arguments.models[0])
        return
    rows: list[dict[str, Any]] = []
    for name in arguments.models:
        rows.append(measure_application(name))
        print(document(rows)[-1], flush=True)
    print(*document(rows), sep="\n")


if __name__ == "__main__":
    main()
