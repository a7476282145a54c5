"""Evaluation of ops on floating point constants, with TensorFlow's results.

Models compute sizes in floating point, and the parameters of an op may have a dtype that the runtime cannot compute
with. Ops whose operands are all constant are evaluated here, where numpy rounds as TensorFlow does: functions such as
``Exp``, whose last digit depends on the library, in float64 only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.ir.ops.facts import FLOATS, INTEGERS, Op, Tensor, Undecided, Values, array_of, elements
from litefuse.ir.ops.values import VALUES

MAX_NUMBERS = 16
"""The largest number of elements: parameters are few, and weights are not evaluated."""

Numbers: TypeAlias = "npt.NDArray[Any]"
"""A tensor's elements, in its dtype."""


def _floor_div(a: Numbers, b: Numbers) -> Numbers:
    return np.floor(np.true_divide(a, b))


#: What numpy rounds as TensorFlow does.
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
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
#: Only for float64, which LiteRT does not support.
FUNCTIONS_OF_FLOAT64: Mapping[str, Callable[..., Any]] = {
    "Acos": np.arccos,
    "Asin": np.arcsin,
    "Atan": np.arctan,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Exp": np.exp,
    "Expm1": np.expm1,
    "Log": np.log,
    "Log1p": np.log1p,
    "Pow": np.power,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Tan": np.tan,
    "Tanh": np.tanh,
}

#: Ops that only move elements: the rules for integers apply to any dtype.
MOVES = frozenset(
    {
        *("BroadcastTo", "ConcatV2", "EnsureShape", "ExpandDims", "Fill", "Gather", "GatherV2", "Identity"),
        *(
            "MatrixBandPart",
            "Pack",
            "PreventGradient",
            "Reshape",
            "ReverseV2",
            "Select",
            "SelectV2",
            "Slice",
            "Snapshot",
            "Split",
            "SplitV",
        ),
        *("Squeeze", "StopGradient", "StridedSlice", "Tile", "Transpose", "Unpack"),
    }
)

#: The ops that are evaluated if all of their operands are known.
NAMES = frozenset({"Cast", *FUNCTIONS, *FUNCTIONS_OF_FLOAT64, *MOVES})


def computed_numbers(op: Op) -> list[Numbers] | None:
    """Returns the results of an op on floating point numbers if all of its operands are known.

    Raises:
        Undecided: They cannot be evaluated, by other rules neither.
    """
    if op.name not in NAMES or not any(tensor.dtype in FLOATS for tensor in (*op.operands, *op.results)):
        return None
    if op.name in FUNCTIONS_OF_FLOAT64 and op.results[0].dtype != "f64":
        return None
    known = [_known(operand) for operand in op.operands]
    operands = [numbers for numbers in known if numbers is not None]
    if len(operands) < len(known):
        return None
    with np.errstate(all="ignore"):
        results = _computed(op, operands)
    return results if all(result.size <= MAX_NUMBERS for result in results) else None


def followed_values(numbers: Numbers, dtype: str) -> Values | None:
    """Returns elements for shape inference: all integers, and floating point scalars with integer values."""
    if dtype in FLOATS and (numbers.ndim or not float(numbers).is_integer()):
        return None
    return array_of([int(number) for number in numbers.reshape(-1)], numbers.shape)


def _known(tensor: Tensor) -> Numbers | None:
    if tensor.numbers is not None:
        return tensor.numbers
    dtype = INTEGERS.get(tensor.dtype)
    if (
        dtype is None
        or tensor.values is None
        or not all(isinstance(element, int) for element in elements(tensor.values))
    ):
        return None
    return np.array(tensor.values.tolist(), dtype).reshape(tensor.values.shape)


def _computed(op: Op, operands: Sequence[Numbers]) -> list[Numbers]:
    if op.name == "Cast":
        return [_cast(operands[0], op.results[0].dtype)]
    if op.name in FUNCTIONS:
        return [np.asarray(FUNCTIONS[op.name](*operands))]
    if op.name in FUNCTIONS_OF_FLOAT64:
        return [np.asarray(FUNCTIONS_OF_FLOAT64[op.name](*operands))]
    given = [
        tensor._replace(values=array_of(numbers.reshape(-1).tolist(), numbers.shape))
        for tensor, numbers in zip(op.operands, operands, strict=True)
    ]
    moved = VALUES[op.name](op._replace(operands=given))
    return [
        np.array(values.tolist(), FLOATS.get(result.dtype) or INTEGERS.get(result.dtype)).reshape(values.shape)
        for values, result in zip(moved if isinstance(moved, list) else [moved], op.results, strict=True)
    ]


def _cast(numbers: Numbers, dtype: str) -> Numbers:
    if dtype in FLOATS:
        return numbers.astype(FLOATS[dtype])
    if dtype not in INTEGERS:
        raise Undecided("numbers of this type are not followed")
    if dtype != "i1":
        half = 2.0 ** (8 * INTEGERS[dtype].itemsize - 1)
        if not np.all((np.trunc(numbers) >= -half) & (np.trunc(numbers) < half)):
            raise Undecided("a number is too large for the type")
    return numbers.astype(INTEGERS[dtype])
