"""Keras models on the JAX backend as sources, without TensorFlow."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.frontends.jax_export import write_exported
from litefuse.frontends.writer import refused

_WRAP = (
    "Fix the sizes that must be known, in keras.Input; or save it with model.save('model.keras') and convert that "
    "file, which is loaded on TensorFlow; or give its input signature in a function, and export that: "
    "jax.export.export(jax.jit(lambda x: model(x, training=False)))(jax.ShapeDtypeStruct((1, 4), 'float32'))."
)


def write_keras_model_on_jax(keras: Any, model: Any, folder: Path) -> None:
    """Writes a model for inference as a SavedModel: its program with its weights as constants.

    Dynamic dimensions on the same axis of several inputs are treated as equal if the model can be exported that way:
    JAX needs to know. Inputs have the model's names, outputs are ``output_0`` and so on, or the keys of a dictionary.

    Args:
        keras: The package ``keras``.
        model: A functional or Sequential model, which defines its inputs.
        folder: The folder to write, which does not exist.

    Raises:
        LitefuseError: The model does not define its inputs, cannot be traced, or assigns variables.
    """
    jax: Any = importlib.import_module("jax")
    export: Any = importlib.import_module("jax.export")
    inputs: Sequence[Any] = getattr(model, "inputs", None) or ()
    if not inputs:
        raise LitefuseError("the model keeps no record of the shapes of its inputs", hint=_WRAP)
    structure = inputs[0] if type(model).__name__ == "Sequential" else model.input
    before = {id(variable): variable.value for variable in model.variables}
    paths = {id(variable): variable.path for variable in model.variables}
    assigned: dict[str, None] = {}

    def call(*values: Any) -> Any:
        mapping = [(variable, before[id(variable)]) for variable in model.variables]
        with keras.StatelessScope(state_mapping=mapping) as scope:
            outputs = model(keras.tree.pack_sequence_as(structure, values), training=False)
        for key, value in scope.state_mapping.items():
            path = paths.get(key, "the states of a recurrent layer")  # which Keras does not list
            if value is not before.get(key) and not path.endswith("seed_generator_state"):
                assigned[path] = None
        return outputs

    function = jax.jit(call)
    with refused("the model cannot be exported", hint=_WRAP):
        try:  # inputs usually have common lengths
            exported = export.export(function, platforms=["cpu"])(*_specs(jax, export, inputs, shared=True))
        except Exception:  # noqa: BLE001  layers raise any exception
            exported = export.export(function, platforms=["cpu"])(*_specs(jax, export, inputs, shared=False))
    if assigned:
        raise LitefuseError(
            f"the model assigns variables, which its program on JAX does not keep: {', '.join(assigned)}",
            hint="Save it with model.save('model.keras') and convert that file, which is loaded on TensorFlow; or pass "
            "the states as inputs and outputs.",
        )
    write_exported(exported, folder, inputs=[tensor.name for tensor in inputs])


def _specs(jax: Any, export: Any, inputs: Sequence[Any], *, shared: bool) -> list[Any]:
    """Returns the specs of the inputs, with symbols for dynamic dimensions.

    Args:
        jax: The package.
        export: ``jax.export``.
        inputs: The inputs.
        shared: Whether dynamic dimensions on the same axis are equal; otherwise only the first, the batch, is.
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
