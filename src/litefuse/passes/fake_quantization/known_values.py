"""Values of TensorFlow ops that are computed of constants alone, such as ranges of weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.ir.attributes import attribute_values
from litefuse.ir.call_graph import attributes_of
from litefuse.ir.constants import elements_of
from litefuse.ir.mlir import ir, producer
from litefuse.ir.ops.numbers import FUNCTIONS, FUNCTIONS_OF_FLOAT64

Array = npt.NDArray[Any]

_LONGEST = 48
_MOVING = frozenset({"tf.Identity", "tf.StopGradient"})
_CUTTING = frozenset({"tf.Reshape", "tf.Split", "tf.StridedSlice"})
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {**FUNCTIONS, **FUNCTIONS_OF_FLOAT64}
_ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    f"tf.{name}": _FUNCTIONS[name]
    for name in (
        *("Abs", "AddV2", "Ceil", "Exp", "Floor", "Log", "Maximum", "Minimum", "Mul", "Neg", "Pow", "RealDiv"),
        *("Round", "Sqrt", "Square", "Sub", "Tanh"),
    )
}
_REDUCING: Mapping[str, Callable[..., Any]] = {
    "tf.Max": np.max,
    "tf.Mean": np.mean,
    "tf.Min": np.min,
    "tf.Sum": np.sum,
}


def known_value(value: ir.Value) -> Array | None:
    """Returns a value that is a constant or computed of constants by common ops; None for any other.

    Results are float32 where TensorFlow's are, and may differ from these in the last bit. Chains of more than some
    dozens of ops are not followed, nor ops whose result is larger than their operands.
    """
    return _known(value, {}, _LONGEST)


def _known(value: ir.Value, known: dict[ir.Value, Array | None], length: int) -> Array | None:
    if value not in known:
        owner = producer(value, "tf.Const", *_MOVING, *_CUTTING, *_ELEMENTWISE, *_REDUCING)
        known[value] = None
        if owner is not None and owner.name == "tf.Const":
            known[value] = _constant(owner)
        elif owner is not None and length:
            operands = [_known(operand, known, length - 1) for operand in owner.operands]
            given = [operand for operand in operands if operand is not None and operand.size]
            if given and len(given) == len(operands) and _size(value) <= max(operand.size for operand in given):
                with suppress(IndexError, ValueError):  # operands that do not fit: shape inference says so
                    known[value] = _computed(owner, given, ir.OpResult(value).result_number)
    return known[value]


def _size(value: ir.Value) -> float:
    kind = ir.ShapedType(value.type)
    return math.prod(kind.shape) if kind.has_static_shape else math.inf


def _computed(op: ir.OpView | ir.Operation, given: Sequence[Array], result: int) -> Array:
    with np.errstate(all="ignore"):
        if op.name in _MOVING:
            return given[0]
        if op.name == "tf.Reshape":
            shape: list[int] = given[1].reshape(-1).tolist()
            return np.reshape(given[0], shape)
        if op.name == "tf.Split":
            return np.split(given[1], len(op.results), int(given[0]))[result]
        if op.name == "tf.StridedSlice":
            return _sliced(op, *given)
        if op.name in _ELEMENTWISE:
            return np.asarray(_ELEMENTWISE[op.name](*given))
        axes = tuple(given[1].reshape(-1).tolist())
        keeps = "keep_dims" in attributes_of(op) and ir.BoolAttr(op.attributes["keep_dims"]).value
        return np.asarray(_REDUCING[op.name](given[0], axis=axes, keepdims=keeps))


def _sliced(op: ir.OpView | ir.Operation, numbers: Array, *places: Array) -> Array:
    masks = attribute_values(op)
    if masks.get("ellipsis_mask", 0) or masks.get("new_axis_mask", 0):
        raise ValueError("entries of the slice are not axes")

    def is_masked(mask: str, entry: int) -> bool:
        return bool(masks.get(mask, 0) >> entry & 1)

    index: list[int | slice] = []
    for entry, (begin, end, stride) in enumerate(zip(*(place.tolist() for place in places), strict=True)):
        ends = slice(None if is_masked("begin_mask", entry) else begin, None if is_masked("end_mask", entry) else end)
        index.append(begin if is_masked("shrink_axis_mask", entry) else slice(ends.start, ends.stop, stride))
    return numbers[tuple(index)]


def _constant(op: ir.OpView | ir.Operation) -> Array | None:
    numbers = isinstance(ir.ShapedType(op.results[0].type).element_type, ir.F32Type | ir.IntegerType)
    return elements_of(op.results[0]) if numbers else None
