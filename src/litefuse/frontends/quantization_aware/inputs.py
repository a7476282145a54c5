"""The symbolic arguments of a Keras model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def argument_tensors(keras: Any, model: Any) -> list[Any]:
    """Returns the structures of symbolic tensors that a built model is called with, one for each argument."""
    if getattr(model, "inputs", None):
        structure = model.inputs[0] if isinstance(model, keras.Sequential) else model.input
        return [keras.tree.map_structure(lambda x: _tensor(keras, x.shape, x.dtype, x.name), structure)]
    config: Mapping[str, Any] = model.get_build_config() or {}
    shapes: Mapping[str, Any] = config.get("shapes_dict", {"inputs_shape": config.get("input_shape")})
    return [_of_shapes(keras, shape, model.input_dtype, name.removesuffix("_shape")) for name, shape in shapes.items()]


def _of_shapes(keras: Any, shape: Any, dtype: str, name: str) -> Any:
    if isinstance(shape, Mapping):
        return {key: _of_shapes(keras, inner, dtype, str(key)) for key, inner in shape.items()}
    if all(size is None or isinstance(size, int) for size in shape):
        return _tensor(keras, (None, *shape[1:]), dtype, name)
    return [_of_shapes(keras, inner, dtype, f"{name}_{index}") for index, inner in enumerate(shape)]


def _tensor(keras: Any, shape: Any, dtype: str, name: str) -> Any:
    return keras.KerasTensor(tuple(shape), dtype, name=name)
