"""The tests of Keras: what a test calls with values, a layer or an op of ``keras.ops``, is exported.

Keras' tests compare in many ways, so the calls are replaced, not the comparisons: the outermost call of a layer or an
op in a test becomes a case. ``run_layer_test``, which checks a layer in ten ways, is one call.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import types
import unittest.mock
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from suites.peers.exporting import Exporter

SELECTION = "not DynamicShape and not StaticShape and not quantize and not serialization and not random"
"""Which tests, as an expression for pytest's -k: the others call nothing with values, or nothing but what is random."""

CASES = 1900
"""How many tests to run: half of them call nothing with values."""

_OPS = ("numpy", "nn", "math", "image", "linalg", "core", "einops")
_CALLS_OF_TEST = 2


def prepare(peer: Path) -> list[str]:
    """Makes the peer importable, before TensorFlow is, and gives the files of its tests."""
    os.environ["KERAS_BACKEND"] = "tensorflow"
    sys.path.insert(0, str(peer))
    os.chdir(peer)
    sys.modules["grain"] = unittest.mock.MagicMock()  # some tests of what reads data need it; they are left out
    return [str(peer / "keras/src/layers"), *(str(peer / f"keras/src/ops/{name}_test.py") for name in _OPS)]


def replace(tf: Any, exporter: Exporter) -> None:
    """Has all layers and ops export what they are called with."""
    ops, tree = importlib.import_module("keras.src.ops"), importlib.import_module("keras.src.tree")
    layer_type: Any = importlib.import_module("keras.src.layers.layer").Layer
    test_case: Any = importlib.import_module("keras.src.testing.test_case")
    calls = _Calls(tf, exporter)
    plain = layer_type.__call__

    def call_layer(layer: Any, *args: Any, **kwargs: Any) -> Any:
        return calls.call(functools.partial(plain, layer), args, kwargs, layer)

    def run_layer_test(
        test: Any,  # noqa: ARG001
        layer_cls: Any,
        init_kwargs: dict[str, Any] | None,
        input_shape: Any = None,
        input_dtype: Any = None,
        input_sparse: bool = False,
        input_ragged: bool = False,
        input_data: Any = None,
        call_kwargs: dict[str, Any] | None = None,
        **checks: Any,  # noqa: ARG001
    ) -> None:
        if input_data is None and input_shape is None:
            return
        if input_data is None:
            dtypes = input_dtype
            if dtypes is None:
                dtypes = tree.map_shape_structure(_float32, input_shape)
            input_data = test_case.create_eager_tensors(input_shape, dtypes, input_sparse, input_ragged)
        layer = layer_cls(**init_kwargs or {})
        if isinstance(input_data, dict):
            layer(**input_data, **call_kwargs or {})
        else:
            layer(input_data, **call_kwargs or {})

    layer_type.__call__ = call_layer
    test_case.TestCase.run_layer_test = run_layer_test
    for name in _OPS:
        module = importlib.import_module(f"keras.src.ops.{name}")
        for key, function in list(vars(module).items()):
            if isinstance(function, types.FunctionType) and function.__module__ == module.__name__ and key[0] != "_":
                replaced = functools.partial(calls.call_function, function)
                functools.update_wrapper(replaced, function)
                for holder in (module, ops):
                    if vars(holder).get(key) is function:
                        setattr(holder, key, replaced)


def _tensor(tf: Any, value: Any) -> Any:
    """A value as a tensor; numpy's floats are of the dtype that inputs of models are of."""
    narrow = None if tf.is_tensor(value) else {"float64": tf.float32, "complex128": tf.complex64}.get(str(value.dtype))
    return tf.convert_to_tensor(value, narrow)


def _unique(tf: Any, function: Callable[..., Any], kwargs: Any, result: Any) -> Any:
    """What a test may rely on: vectors of decompositions up to their signs, and no order that is not asked for."""
    match getattr(function, "__name__", ""):
        case "eigh":
            return result[0], tf.abs(result[1])
        case "svd" if not tf.is_tensor(result):
            left, values, right = result
            count = values.shape[-1]
            return tf.abs(left[..., :count]), values, tf.abs(right[..., :count, :])
        case "top_k" if kwargs.get("sorted") is False:
            return tuple(tf.sort(each, axis=-1) for each in result)
        case _:
            return result


def _float32(shape: object) -> str:
    del shape
    return "float32"


class _Calls:
    """Exports the outermost calls with values.

    Args:
        tf: The module ``tensorflow``.
        exporter: Writes the cases.
    """

    def __init__(self, tf: Any, exporter: Exporter) -> None:
        self._tf = tf
        self._exporter = exporter
        self._is_inside = False

    def call_function(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self.call(function, args, kwargs, None)

    def call(self, function: Callable[..., Any], args: Any, kwargs: Any, layer: Any) -> Any:
        """Calls a function, and exports the call if it is one from a test, with values."""
        if self._is_inside or not self._tf.executing_eagerly() or self._exporter.count >= _CALLS_OF_TEST:
            return function(*args, **kwargs)
        leaves = self._tf.nest.flatten((args, kwargs), expand_composites=True)
        if any(type(leaf).__name__ == "KerasTensor" for leaf in leaves) or not any(map(self._is_value, leaves)):
            return function(*args, **kwargs)
        self._is_inside = True
        try:
            result = function(*args, **kwargs)  # builds a layer; and what fails is no case
            if self._is_result(result):
                self._export(function, (args, kwargs), leaves, layer)
            return result
        finally:
            self._is_inside = False

    def _export(self, function: Callable[..., Any], structure: Any, leaves: list[Any], layer: Any) -> None:
        tf = self._tf
        places = [index for index, leaf in enumerate(leaves) if self._is_value(leaf)]
        values = [_tensor(tf, leaves[index]) for index in places]

        def call(*tensors: Any) -> Any:
            filled = [*leaves]
            for index, tensor in zip(places, tensors, strict=True):
                filled[index] = tensor
            args, kwargs = tf.nest.pack_sequence_as(structure, filled, expand_composites=True)
            return _unique(tf, function, kwargs, function(*args, **kwargs))

        shapes = [tuple(value.shape) for value in values]
        sizes = {shape[0] if shape else None for shape in shapes}
        is_plain = len(leaves) == len(tf.nest.flatten(structure))  # no component of a sparse or ragged tensor
        if layer is not None and len(sizes) == 1 and None not in sizes and 0 not in sizes and is_plain:
            larger = [tf.concat([value, value[:1]], 0) for value in values]
            specs = [
                tf.TensorSpec([None, *shape[1:]], value.dtype) for shape, value in zip(shapes, values, strict=True)
            ]
            try:
                self._exporter.export(call, specs, [values, larger], tracked=layer)
            except Exception:  # noqa: BLE001 - the layer takes one size of batch, such as a stateful one
                pass
            else:
                return
        specs = [tf.TensorSpec(value.shape, value.dtype) for value in values]
        self._exporter.export(call, specs, [values], tracked=layer)

    def _is_value(self, leaf: Any) -> bool:
        return isinstance(leaf, np.ndarray | self._tf.Tensor) and str(leaf.dtype) != "object"

    def _is_result(self, result: Any) -> bool:
        leaves = self._tf.nest.flatten(result, expand_composites=True)
        return bool(leaves) and all(isinstance(leaf, self._tf.Tensor) for leaf in leaves)
