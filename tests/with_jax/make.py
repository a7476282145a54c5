"""Run as a program: exports functions of JAX as SavedModels, and computes what they give.

``python -m tests.with_jax.make FOLDER``: for each name on the standard input ``FOLDER/NAME.open`` with an open batch
and ``FOLDER/NAME.fixed`` with a batch of 3, and beside each the inputs and outputs of two calls (``.npz``).
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.frontends.jax_export import write_exported
from tests.with_jax.functions import FIXED_ONLY, FUNCTIONS
from tests.with_jax.process import serve

jax: Any = importlib.import_module("jax")
export: Any = importlib.import_module("jax.export")

_BATCH = 3


def make(name: str, folder: Path) -> None:
    """Exports one function."""
    function, shape, dtype = FUNCTIONS[name]
    random = np.random.default_rng(11)
    for kind, batches in (("open", (_BATCH, 5)), ("fixed", (_BATCH, _BATCH))):
        if kind == "open" and name in FIXED_ONLY:
            continue
        size = export.symbolic_shape("batch")[0] if kind == "open" else _BATCH
        exported = export.export(jax.jit(function))(jax.ShapeDtypeStruct((size, *shape), dtype))
        write_exported(exported, folder / f"{name}.{kind}", inputs=["x"])
        arrays: dict[str, npt.NDArray[Any]] = {}
        for call, batch in enumerate(batches):
            x = random.normal(size=(batch, *shape)).astype(dtype)
            if dtype == "int32":
                x = random.integers(0, 7, (batch, *shape)).astype(dtype)
            arrays[f"{call}.x"] = x
            for position, leaf in enumerate(jax.tree_util.tree_leaves(function(jax.numpy.asarray(x)))):
                arrays[f"{call}.{position}"] = np.asarray(leaf)
        np.savez(folder / f"{name}.{kind}.npz", allow_pickle=False, **arrays)


if __name__ == "__main__":
    serve(make)
