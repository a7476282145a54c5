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
    "Fix the sizes that must be known, in keras.Input; or save it with model.save('model.keras') and convert that "
    "file, which is loaded on TensorFlow; or say what it is to be called with in a function, and export that: "
    "jax.export.export(jax.jit(lambda x: model(x, training=False)))(jax.ShapeDtypeStruct((1, 4), 'float32'))."
)


def write_keras_model_on_jax(keras: Any, model: Any, folder: Path) -> None:
    """Writes a model for inference as a SavedModel: its program with its weights in it.

    Open sizes in the same place of several inputs are taken for equal, if the model can be exported so: JAX demands to
    know. Inputs are called as the model calls them, outputs ``output_0`` and so on, or by the keys of a dictionary.

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

    function = jax.jit(call)
    with refused("the model cannot be exported", hint=_WRAP):
        try:  # inputs mostly have their lengths in common
            exported = export.export(function, platforms=["cpu"])(*_specs(jax, export, inputs, shared=True))
        except Exception:  # noqa: BLE001  of whatever the layers raise
            exported = export.export(function, platforms=["cpu"])(*_specs(jax, export, inputs, shared=False))
    write_exported(exported, folder, inputs=[tensor.name for tensor in inputs])


def _specs(jax: Any, export: Any, inputs: Sequence[Any], *, shared: bool) -> list[Any]:
    """The inputs with symbols for their open sizes.

    Args:
        jax: The package.
        export: ``jax.export``.
        inputs: The inputs.
        shared: Whether open sizes in the same place are one; else only the first is, which is the batch.
    """
    scope = export.SymbolicScope()
    specs: list[Any] = []
    for position, tensor in enumerate(inputs):
        symbols = [f"size_{axis}" if shared else f"size_{position}_{axis}" for axis in range(len(tensor.shape))]
        symbols[:1] = ["batch"] * len(symbols[:1])
        sizes = [symbol if size is None else size for symbol, size in zip(symbols, tensor.shape, strict=True)]
        shape = export.symbolic_shape(f"({','.join(map(str, sizes))},)", scope=scope) if sizes else ()
        specs.append(jax.ShapeDtypeStruct(shape, tensor.dtype))
    return specs
