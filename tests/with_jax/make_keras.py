"""Run as a program, with ``KERAS_BACKEND=jax``: exports Keras models as SavedModels, and computes what they give.

``python -m tests.with_jax.make_keras FOLDER``: for each name on the standard input ``FOLDER/NAME.keras``, by
``model.export()``, and ``FOLDER/NAME.litefuse``, as ``litefuse.convert(model)`` writes it; beside them
``FOLDER/NAME.npz``.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.frontends.keras_on_jax import write_keras_model_on_jax
from tests.with_jax.keras_models import MODELS
from tests.with_jax.process import serve

keras: Any = importlib.import_module("keras")


def make(name: str, folder: Path) -> None:
    """Exports one model, with random weights."""
    random = np.random.default_rng(5)
    model: Any = MODELS[name]()
    for weight in model.weights:
        if str(weight.dtype) == "float32":
            shape: tuple[int, ...] = tuple(weight.shape)
            noise = random.normal(size=shape).astype(np.float32)
            variance = "variance" in weight.path
            weight.assign(np.abs(noise) * 0.3 + 0.5 if variance else np.array(weight) + noise * 0.1)
    model.export(str(folder / f"{name}.keras"), verbose=False)
    write_keras_model_on_jax(keras, model, folder / f"{name}.litefuse")
    (spec,) = model.inputs
    arrays: dict[str, npt.NDArray[Any]] = {"name": np.array(spec.name)}
    for call, batch in enumerate((3, 5)):
        shape = (batch, *spec.shape[1:])
        integers = "int" in str(spec.dtype)
        x = random.integers(0, 6, shape).astype(np.int32) if integers else random.normal(size=shape).astype(np.float32)
        arrays[f"{call}.x"] = x
        arrays[f"{call}.0"] = np.asarray(model(x, training=False))
    np.savez(folder / f"{name}.npz", allow_pickle=False, **arrays)


if __name__ == "__main__":
    serve(make)
