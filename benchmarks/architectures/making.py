"""``python -m benchmarks.architectures.making NAME FOLDER``: makes an architecture, in this process.

Weights are random: nothing is downloaded. The folder gets ``saved_model``, of a batch of one; ``samples.npz`` with a
few values for each input, ``inputs.npz`` with the first of them, and ``expected.npz`` with what TensorFlow makes of
that; and ``facts.json``: how many parameters there are, and how far the output that moves least moves between samples.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from benchmarks.architectures.catalog import ARCHITECTURES, Architecture
from tests.tensorflow.test_keras_applications import images, settle

from litefuse.litert.results.difference import movement

_SAMPLES = 4
_SEED = 0
_SEGMENTS = 4


def make(architecture: Architecture, folder: Path) -> None:
    """Makes one.

    Args:
        architecture: What is made.
        folder: Where it goes.
    """
    tf: Any = importlib.import_module("tensorflow")
    keras: Any = importlib.import_module("keras")
    keras.utils.set_random_seed(_SEED)
    model = architecture.build(keras)
    inputs = _inputs(model, architecture)
    random = np.random.default_rng(_SEED)
    ids = _smallest_table(model)
    samples = {key: _values(key, random, (_SAMPLES, *each.shape[1:]), each.dtype, ids) for key, each in inputs.items()}
    _settle(keras, model, samples)
    module = tf.Module()
    module.model = model

    @tf.function(input_signature=[tf.TensorSpec(each.shape, each.dtype, name=key) for key, each in inputs.items()])
    def serve(*values: Any) -> Any:
        outputs = model(_arranged(model, values), training=False)
        return outputs if hasattr(outputs, "keys") else dict(_numbered("output", outputs))

    # The stock converter leaves out the weights that it does not find here.
    module.variables_of_it = [*serve.get_concrete_function().graph.variables]
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "samples.npz", allow_pickle=False, **samples)
    one, other = ({key: each[n : n + 1] for key, each in samples.items()} for n in range(2))
    expected, changed = ({key: each.numpy() for key, each in serve(*given.values()).items()} for given in (one, other))
    np.savez(folder / "inputs.npz", allow_pickle=False, **one)
    np.savez(folder / "expected.npz", allow_pickle=False, **expected)
    facts = {
        "parameters": int(model.count_params()),
        "moved": min(movement(value, changed[key]) for key, value in expected.items()),
    }
    (folder / "facts.json").write_text(json.dumps(facts), "utf-8")
    tf.saved_model.save(module, str(folder / "saved_model"), {"serving_default": serve})


@dataclass(frozen=True)
class _Input:
    shape: tuple[int, ...]
    dtype: str


def _inputs(model: Any, architecture: Architecture) -> dict[str, _Input]:
    """The inputs by name, of a batch of one."""
    given = model.input
    named = given.items() if hasattr(given, "items") else _numbered("x", given)
    found: dict[str, _Input] = {}
    for key, tensor in named:
        length = architecture.lengths.get(key, architecture.length)
        found[key] = _Input((1, *(size or length for size in tensor.shape[1:])), str(tensor.dtype))
    return found


def _numbered(name: str, tensors: Any) -> list[tuple[str, Any]]:
    if not isinstance(tensors, (list, tuple)):
        return [(name, tensors)]
    return [(f"{name}_{number}", each) for number, each in enumerate(tensors)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _arranged(model: Any, values: Any) -> Any:
    """The values as the model takes them: one, a list, or by names."""
    given = model.input
    if hasattr(given, "items"):
        return dict(zip(given, values, strict=True))
    return list(values) if isinstance(given, (list, tuple)) else values[0]


def _layers(model: Any) -> list[Any]:
    """With those inside other layers, which have no public name."""
    return [*model._flatten_layers(include_self=False)]  # noqa: SLF001


def _smallest_table(model: Any) -> int:
    """How many rows the smallest embedding has, but for those of segments: every id below is one of all tables."""
    tables = [each for each in _layers(model) if hasattr(each, "embeddings") and hasattr(each, "input_dim")]
    return min((each.input_dim for each in tables if each.input_dim > _SEGMENTS), default=_SEGMENTS)


def _values(name: str, random: np.random.Generator, shape: tuple[int, ...], dtype: str, ids: int) -> npt.NDArray[Any]:
    """Images from 0 to 255, other real numbers around 0, ids, and masks that hide nothing."""
    if "mask" in name:
        return np.ones(shape, dtype)
    if np.issubdtype(np.dtype(dtype), np.integer):
        return random.integers(0, 2 if "segment" in name else ids, shape).astype(dtype)
    if len(shape) == 4 and shape[-1] == 3:
        return images(shape[0], shape[1], seed=_SEED).astype(dtype)
    return random.normal(size=shape).astype(dtype)


def _settle(keras: Any, model: Any, samples: Mapping[str, npt.NDArray[Any]]) -> None:
    """Gives what begins as zeros and ones other values, and batch normalization the statistics of the samples.

    Untrained, many of these models answer the same whatever they see, and a comparison would say nothing.
    """
    layers = _layers(model)
    settle(keras, layers, lambda: model(_arranged(model, [*samples.values()]), training=True))
    random = np.random.default_rng(_SEED)
    for layer in layers:
        if isinstance(layer, keras.layers.LayerNormalization):
            for weight in layer.trainable_variables:
                weight.assign(weight + 0.1 * random.standard_normal(weight.shape).astype(np.float32))


if __name__ == "__main__":
    make(ARCHITECTURES[sys.argv[1]], Path(sys.argv[2]))
