"""Folds arithmetic of float64 and uint64 on constants, which LiteRT does not compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.ir.attributes import attribute_values
from litefuse.ir.call_graph import defined_functions, nested_operations
from litefuse.ir.constants import stored, tensor_constant
from litefuse.ir.mlir import ir
from litefuse.ir.ops.facts import FLOATS, INTEGERS, MALFORMED, Op, Tensor, Undecided
from litefuse.ir.ops.numbers import FUNCTIONS, FUNCTIONS_OF_FLOAT64, MOVES
from litefuse.ir.ops.values import VALUES
from litefuse.ir.passes import module_pass
from litefuse.ir.purity import is_used
from litefuse.passes.weights.fold_constants import LARGEST_FOLDED, is_used_among

_Array = npt.NDArray[Any]

_DTYPES: Mapping[str, np.dtype[Any]] = {
    **FLOATS,
    **INTEGERS,
    "ui32": np.dtype(np.uint32),
    "ui64": np.dtype(np.uint64),
}
_WIDE = frozenset({"f64", "ui64"})


def _divide(a: _Array, b: _Array) -> _Array:
    """Divides; integers are divided toward zero, and never by zero, which TensorFlow refuses."""
    if a.dtype.kind == "f":
        return np.true_divide(a, b)
    if not b.all():
        raise Undecided("division by zero")
    return np.where((a % b != 0) & ((a < 0) != (b < 0)), a // b + 1, a // b).astype(a.dtype)


def _floor_divide(a: _Array, b: _Array) -> _Array:
    if a.dtype.kind != "f" and not b.all():
        raise Undecided("division by zero")
    return FUNCTIONS["FloorDiv"](a, b) if a.dtype.kind == "f" else np.floor_divide(a, b)


def _shift_right(a: _Array, places: _Array) -> _Array:
    if a.dtype.kind != "u":
        raise Undecided("a shift of signed numbers")
    return np.right_shift(a, np.minimum(places, 8 * a.itemsize - 1))


def _range(start: _Array, limit: _Array, delta: _Array) -> _Array:
    first, end, step = numbers = [scalar.tolist() for scalar in (start, limit, delta)]
    if not step or not all(float(number).is_integer() for number in numbers):
        raise Undecided("a range without steps, or of fractions")
    count = max(0, math.ceil((end - first) / step))
    if count * start.itemsize > LARGEST_FOLDED:
        raise Undecided("a large range")
    return np.arange(count) * step + first


# Of integers and booleans, too.
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **FUNCTIONS,
    "Div": _divide,
    "FloorDiv": _floor_divide,
    "LogicalAnd": np.logical_and,
    "LogicalNot": np.logical_not,
    "LogicalOr": np.logical_or,
    "Range": _range,
    "RightShift": _shift_right,
    "SelectV2": np.where,
    "Sign": np.sign,
    "ZerosLike": np.zeros_like,
}
_NAMES = frozenset({"Cast", *_FUNCTIONS, *FUNCTIONS_OF_FLOAT64, *MOVES})


class _Known(NamedTuple):
    """A value that is computed from constants alone; wide if float64 or uint64 occurs on the way."""

    op: ir.OpView
    wide: bool


@module_pass
def fold_float64(module: ir.Module) -> bool:
    """Computes what is made of constants by way of float64 or uint64, as TensorFlow does::

        %l = tf.Log(tf.RealDiv(%n : tensor<24x24xf64>, %m))
        %y = tf.Cast(%l) : tensor<24x24xf32>                 -->  %y = tf.Const() dense<...> : tensor<24x24xf32>

    Models compute the buckets of relative positions this way, and JAX counts random numbers in uint64. The engine would
    fold some of these ops, and LiteRT has none of them in these dtypes.
    """
    folded = [_fold(list(nested_operations(function.entry_block))) for function in defined_functions(module)]
    return any(folded)


def _fold(ops: Sequence[ir.OpView]) -> bool:
    known: dict[ir.Value, _Known] = {}
    for op in ops:
        if _is_evaluated(op) and all(value in known or _constant(value) is not None for value in op.operands):
            wide = any(_element(value) in _WIDE for value in (*op.operands, *op.results))
            wide = wide or any(known[value].wide for value in op.operands if value in known)
            known.update(dict.fromkeys(op.results, _Known(op, wide)))
    arrays: dict[ir.Value, _Array] = {}
    modified = False
    for value, (op, wide) in known.items():
        uses = [use for use in value.uses if not is_used_among(use, known)]
        if not wide or not uses or _element(value) in _WIDE:
            continue
        try:
            array = _evaluated(value, known, arrays)
        except (Undecided, *MALFORMED):  # the engine or the refusal of the op says what is wrong
            continue
        with ir.InsertionPoint(op), op.location:
            constant = tensor_constant(_attribute(array, value.type))
        for use in uses:
            use.owner.operands[use.operand_number] = constant
        modified = True
    if modified:
        for op in reversed(list(dict.fromkeys(value.op for value in known.values()))):
            if not is_used(op):
                op.operation.erase()
    return modified


def _attribute(array: _Array, kind: ir.Type) -> ir.DenseElementsAttr:
    return ir.DenseElementsAttr.get(np.ascontiguousarray(array).reshape(array.shape), type=kind)


def _is_evaluated(op: ir.OpView) -> bool:
    """Whether numpy computes what TensorFlow does; a function whose last digit depends on the library, in float64."""
    name = op.name.removeprefix("tf.")
    if name == op.name or name not in _NAMES or not all(map(_is_small, op.results)):
        return False
    return name not in FUNCTIONS_OF_FLOAT64 or _element(op.results[0]) == "f64"


def _is_small(value: ir.Value) -> bool:
    if not isinstance(value.type, ir.RankedTensorType) or not value.type.has_static_shape:
        return False
    dtype = _DTYPES.get(_element(value))
    return dtype is not None and 0 < math.prod(value.type.shape) * dtype.itemsize <= LARGEST_FOLDED


def _constant(value: ir.Value) -> ir.DenseElementsAttr | None:
    return stored(value) if _is_small(value) else None


def _element(value: ir.Value) -> str:
    return str(ir.ShapedType(value.type).element_type)


def _evaluated(value: ir.Value, known: Mapping[ir.Value, _Known], arrays: dict[ir.Value, _Array]) -> _Array:
    """Returns a value's elements; raises ``Undecided`` if they cannot be evaluated."""
    waiting = [value]
    while waiting:
        wanted = waiting[-1]
        if wanted in arrays:
            waiting.pop()
            continue
        elements = _constant(wanted)
        if elements is not None:
            arrays[wanted] = np.array(elements).reshape(elements.type.shape).astype(_DTYPES[_element(wanted)])
            continue
        op = known[wanted].op
        missing = [operand for operand in op.operands if operand not in arrays]
        if missing:
            waiting += missing
            continue
        for result, array in zip(op.results, _results(op, [arrays[operand] for operand in op.operands]), strict=True):
            if np.shape(array) != tuple(ir.RankedTensorType(result.type).shape):
                raise Undecided("the shape is another one")
            arrays[result] = np.asarray(array).astype(_DTYPES[_element(result)])
    return arrays[value]


def _results(op: ir.OpView, operands: Sequence[_Array]) -> Sequence[_Array]:
    name = op.name.removeprefix("tf.")
    with np.errstate(all="ignore"):
        if name == "Cast":
            return [_cast(operands[0], _DTYPES[_element(op.results[0])])]
        function = _FUNCTIONS.get(name) or FUNCTIONS_OF_FLOAT64.get(name)
        if function is not None:
            return [function(*operands)]
    attributes = attribute_values(op)
    given = [Tensor(_element(value), array.shape, array) for value, array in zip(op.operands, operands, strict=True)]
    moved = VALUES[name](Op(name, given, [Tensor(_element(result), None) for result in op.results], attributes))
    return moved if isinstance(moved, list) else [moved]


def _cast(array: _Array, dtype: np.dtype[Any]) -> _Array:
    """Casts as TensorFlow does on x86: what an integer cannot hold becomes the smallest one."""
    if array.dtype.kind != "f" or dtype.kind != "i":
        return array.astype(dtype)
    half = 2.0 ** (8 * dtype.itemsize - 1)
    whole = np.trunc(array.astype(np.float64))
    fits = (whole >= -half) & (whole < half)
    if dtype.itemsize < 4 and not fits.all():
        raise Undecided("a number is too large for the type")
    return np.where(fits, np.where(fits, whole, 0).astype(dtype), np.iinfo(dtype).min)
