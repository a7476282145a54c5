"""Keras models on the backend JAX as sources, without TensorFlow."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.frontends.jax_export import write_exported
from litefuse.frontends.writer import refused

__all__ = ["write_keras_model_on_jax"]

_WRAP = (
    "Say what it is to be called with in a function, and export that: "
    "jax.export.export(jax.jit(lambda x: model(x, training=False)))(jax.ShapeDtypeStruct((1, 4), 'float32'))."
)


def write_keras_model_on_jax(keras: Any, model: Any, folder: Path) -> None:
    """Writes a model for inference as a SavedModel: its program with its weights in it.

    Inputs are called as the model calls them, outputs ``output_0`` and so on, or by the keys of a dictionary.

    Args:
        keras: The package ``keras``.
        model: A functional or Sequential model, whose inputs are its own.
        folder: The folder to write, which does not exist.

    Raises:
        LitefuseError: The model has no inputs of its own, or cannot be traced.
    """
    jax: Any = importlib.import_module("jax")
    export: Any = importlib.import_module("jax.export")
    inputs: Sequence[Any] = getattr(model, "inputs", None) or ()
    if not inputs:
        raise LitefuseError("the model keeps no record of the shapes of its inputs", hint=_WRAP)
    structure = inputs[0] if type(model).__name__ == "Sequential" else model.input
    weights = [
        [variable.value for variable in each] for each in (model.trainable_variables, model.non_trainable_variables)
    ]

    def call(*values: Any) -> Any:
        outputs, _ = model.stateless_call(*weights, keras.tree.pack_sequence_as(structure, values), training=False)
        return outputs

    scope = export.SymbolicScope()
    specs = [
        jax.ShapeDtypeStruct(_open_shape(export, tensor.shape, position, scope), tensor.dtype)
        for position, tensor in enumerate(inputs)
    ]
    with refused("the model cannot be exported", hint=_WRAP):
        exported = export.export(jax.jit(call), platforms=["cpu"])(*specs)
    write_exported(exported, folder, inputs=[tensor.name for tensor in inputs])


def _open_shape(export: Any, shape: Sequence[int | None], position: int, scope: Any) -> Any:
    """A shape with symbols for its open sizes: one for the first of all inputs, which is the batch."""
    if None not in shape:
        return tuple(shape)
    names = ["batch" if axis == 0 else f"size_{position}_{axis}" for axis in range(len(shape))]
    text = ", ".join(name if size is None else str(size) for name, size in zip(names, shape, strict=True))
    return export.symbolic_shape(text if len(shape) > 1 else f"{text},", scope=scope)
