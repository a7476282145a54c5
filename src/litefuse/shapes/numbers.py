"""Floating point numbers that are known, computed as TensorFlow computes them.

Sizes are halved, scaled and rounded in floating point, and the parameters of an op may be written in a type that the
runtime has no arithmetic in. What is computed of constants alone is computed here, where numpy rounds as TensorFlow
does: not functions such as ``Exp``, whose last digit is each library's own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.shapes.facts import Op, Tensor, Undecided, array_of, elements
from litefuse.shapes.values import VALUES

__all__ = ["MAX_NUMBERS", "Numbers", "computed_numbers"]

MAX_NUMBERS = 16
"""Parameters are few; a weight is not looked at."""

Numbers: TypeAlias = "npt.NDArray[Any]"
"""A tensor's elements, of its dtype."""

_DTYPES = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
_INTEGERS = {f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)} | {"i1": np.dtype(np.bool_)}


def _floor_div(a: Numbers, b: Numbers) -> Numbers:
    return np.floor(np.true_divide(a, b))


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "Abs": np.abs,
    "Add": np.add,
    "AddV2": np.add,
    "Ceil": np.ceil,
    "Div": np.true_divide,
    "Equal": operator.eq,
    "Floor": np.floor,
    "FloorDiv": _floor_div,
    "Greater": operator.gt,
    "GreaterEqual": operator.ge,
    "Less": operator.lt,
    "LessEqual": operator.le,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Mul": np.multiply,
    "Neg": np.negative,
    "NotEqual": operator.ne,
    "RealDiv": np.true_divide,
    "Rint": np.rint,
    "Round": np.rint,
    "Sqrt": np.sqrt,
    "Square": np.square,
    "Sub": np.subtract,
}

# Ops that only move elements: the rules for integers do for any.
_MOVES = frozenset(
    {
        *("BroadcastTo", "ConcatV2", "EnsureShape", "ExpandDims", "Fill", "Gather", "GatherV2", "Identity", "Pack"),
        *("PreventGradient", "Reshape", "ReverseV2", "Select", "SelectV2", "Slice", "Snapshot", "Split", "SplitV"),
        *("Squeeze", "StopGradient", "StridedSlice", "Tile", "Transpose", "Unpack"),
    }
)

#: The ops that are computed, if all that they are given is known.
NAMES = frozenset({"Cast", *_FUNCTIONS, *_MOVES})


def computed_numbers(op: Op) -> list[Numbers] | None:
    """The results of an op that takes or gives floating point numbers, where all of its operands are known.

    Raises:
        Undecided: They cannot be told, and neither by another rule.
    """
    if op.name not in NAMES or not any(each.dtype in _DTYPES for each in (*op.operands, *op.results)):
        return None
    known = [_known(operand) for operand in op.operands]
    operands = [each for each in known if each is not None]
    if len(operands) < len(known):
        return None
    with np.errstate(all="ignore"):
        results = _computed(op, operands)
    return results if all(each.size <= MAX_NUMBERS for each in results) else None


def _known(tensor: Tensor) -> Numbers | None:
    if tensor.numbers is not None:
        return tensor.numbers
    dtype = _INTEGERS.get(tensor.dtype)
    if dtype is None or tensor.values is None or not all(isinstance(each, int) for each in elements(tensor.values)):
        return None
    return np.array(tensor.values.tolist(), dtype).reshape(tensor.values.shape)


def _computed(op: Op, operands: Sequence[Numbers]) -> list[Numbers]:
    if op.name == "Cast":
        return [_cast(operands[0], op.results[0].dtype)]
    if op.name in _FUNCTIONS:
        return [np.asarray(_FUNCTIONS[op.name](*operands))]
    given = [
        replace(tensor, values=array_of(numbers.reshape(-1).tolist(), numbers.shape))
        for tensor, numbers in zip(op.operands, operands, strict=True)
    ]
    moved = VALUES[op.name](replace(op, operands=given))
    return [
        np.array(each.tolist(), _DTYPES.get(result.dtype) or _INTEGERS.get(result.dtype)).reshape(each.shape)
        for each, result in zip(moved if isinstance(moved, list) else [moved], op.results, strict=True)
    ]


def _cast(numbers: Numbers, dtype: str) -> Numbers:
    if dtype in _DTYPES:
        return numbers.astype(_DTYPES[dtype])
    if dtype not in _INTEGERS:
        raise Undecided("numbers of this type are not followed")
    if dtype != "i1":
        half = 2.0 ** (8 * _INTEGERS[dtype].itemsize - 1)
        if not np.all((np.trunc(numbers) >= -half) & (np.trunc(numbers) < half)):
            raise Undecided("a number is too large for the type")
    return numbers.astype(_INTEGERS[dtype])
