"""Shape arithmetic on constants, which the engine leaves in the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.engine.mlir import func, ir
from litefuse.passes.call_graph import functions, operations

__all__ = ["FoldConstants"]

_Array = npt.NDArray[Any]

# What shapes are made of is small; a weight is not for this pass.
_MAX_ELEMENTS = 256
_DTYPES = {"i1": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}


@dataclass(frozen=True)
class FoldConstants:
    """Computes ops of integers and booleans whose operands are small constants::

        %s = tf.Shape(%x : tensor<?x4x5xf32>)          %d = tf.Const() 20
        %d = tf.Prod(tf.StridedSlice(%s)[1:])     -->

    These are the ops that compute shapes; the engine folds some of them, and leaves the others for the runtime to
    compute in every call. An integer division by zero stays.
    """

    name: ClassVar[str] = "fold-constants"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            modified |= _fold(function)
        return modified


def _fold(function: func.FuncOp) -> bool:
    known: dict[ir.Value, _Array] = {}
    modified = False
    for op in operations(function):
        name = op.name
        if name == "tf.Const":
            value = _constant(op)
            if value is not None:
                known[op.results[0]] = value
            continue
        evaluate = _EVALUATORS.get(name)
        if evaluate is None or len(op.results) != 1:
            continue
        result = op.results[0]
        dtype = _DTYPES.get(str(ir.ShapedType(result.type).element_type))
        value = _evaluated(evaluate, op, [known.get(operand) for operand in op.operands])
        if value is None or dtype is None or value.size > _MAX_ELEMENTS:
            continue
        value = value.astype(dtype)
        attribute = ir.DenseElementsAttr.get(np.ascontiguousarray(value).reshape(value.shape))
        # What is returned has the type that callers, or the turns of a loop, count on.
        if attribute.type != result.type and any(use.owner.name == "func.return" for use in result.uses):
            continue
        constant = ir.Operation.create(
            "tf.Const",
            results=[attribute.type],
            attributes={"value": attribute},
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )
        result.replace_all_uses_with(constant.result)
        known[constant.result] = value
        op.operation.erase()
        modified = True
    return modified


def _evaluated(evaluate: _Evaluator, op: ir.OpView, operands: Sequence[_Array | None]) -> _Array | None:
    try:
        with np.errstate(over="ignore"):  # integers wrap around, in TensorFlow as well
            value = evaluate(op, operands)
    except (ArithmeticError, IndexError, ValueError):  # it fails at run time, too: the engine and the runtime say how
        return None
    return None if value is None else np.asarray(value)


def _constant(op: ir.OpView) -> _Array | None:
    attribute = op.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr):
        return None
    kind = attribute.type
    count = int(np.prod(kind.shape)) if kind.rank else 1
    if count > _MAX_ELEMENTS or str(kind.element_type) not in _DTYPES:
        return None
    value: _Array = np.array(attribute)
    return value.astype(_DTYPES[str(kind.element_type)]).reshape(kind.shape)


# An evaluator gets the op and its operands' values, None for what is not known, and returns the result's value or None.
_Evaluator = Callable[[ir.OpView, Sequence[_Array | None]], "_Array | None"]


def _of_values(compute: Callable[..., _Array | None]) -> _Evaluator:
    """An evaluator of an op that depends on nothing but its operands' values."""

    def evaluate(op: ir.OpView, operands: Sequence[_Array | None]) -> _Array | None:
        return None if any(value is None for value in operands) else compute(op, *operands)

    return evaluate


def _binary(compute: Callable[[_Array, _Array], _Array]) -> _Evaluator:
    def evaluate(_op: ir.OpView, a: _Array, b: _Array) -> _Array:
        return compute(a, b)

    return _of_values(evaluate)


def _division(compute: Callable[[_Array, _Array], _Array]) -> _Evaluator:
    def evaluate(_op: ir.OpView, operands: Sequence[_Array | None]) -> _Array | None:
        a, b = operands
        if a is None or b is None or not b.all():
            return None
        return compute(a, b)

    return evaluate


def _reduction(compute: Callable[..., _Array]) -> _Evaluator:
    def evaluate(op: ir.OpView, value: _Array, axes: _Array) -> _Array:
        keep = ir.BoolAttr(op.attributes["keep_dims"]).value
        # A sum of int32 is an int32 in TensorFlow.
        return compute(value, axis=tuple(np.ravel(axes).tolist()), keepdims=keep, dtype=value.dtype)

    return _of_values(evaluate)


def _shape(op: ir.OpView, _values: Sequence[_Array | None]) -> _Array | None:
    kind = ir.ShapedType(op.operands[0].type)
    return np.array(kind.shape) if kind.has_rank and kind.has_static_shape else None


def _size(op: ir.OpView, _values: Sequence[_Array | None]) -> _Array | None:
    shape = _shape(op, _values)
    return None if shape is None else np.array(math.prod(shape.tolist()))


def _rank(op: ir.OpView, _values: Sequence[_Array | None]) -> _Array | None:
    kind = ir.ShapedType(op.operands[0].type)
    return np.array(kind.rank) if kind.has_rank else None


def _integer(op: ir.OpView, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value


def _strided_slice(op: ir.OpView, operands: Sequence[_Array | None]) -> _Array | None:
    value, begin, end, strides = operands
    if begin is None or end is None or strides is None:
        return None
    if _integer(op, "ellipsis_mask") or _integer(op, "new_axis_mask"):
        return None
    if value is None:
        value = _known_sizes(op, begin, end, strides)
        if value is None:
            return None
    index: list[slice | int] = []
    for axis, (first, last, step) in enumerate(zip(begin.tolist(), end.tolist(), strides.tolist(), strict=True)):
        if _integer(op, "shrink_axis_mask") >> axis & 1:
            if not -value.shape[axis] <= first < value.shape[axis]:
                return None
            index.append(first)
            continue
        start = None if _integer(op, "begin_mask") >> axis & 1 else first
        stop = None if _integer(op, "end_mask") >> axis & 1 else last
        index.append(slice(start, stop, step))
    chosen: _Array = np.asarray(value[tuple(index)])
    return chosen


def _known_sizes(op: ir.OpView, begin: _Array, end: _Array, strides: _Array) -> _Array | None:
    """The shape that the op takes a slice of, when the sizes in that slice are known though others are not."""
    owner = op.operands[0].owner
    if isinstance(owner, ir.Block) or owner.name != "tf.Shape" or begin.shape != (1,):
        return None
    kind = ir.ShapedType(owner.operands[0].type)
    if not kind.has_rank:
        return None
    sizes = np.array([-1 if kind.is_dynamic_dim(axis) else kind.shape[axis] for axis in range(kind.rank)])
    chosen = _strided_slice(op, [sizes, begin, end, strides])
    return None if chosen is None or (chosen < 0).any() else sizes


def _pack(op: ir.OpView, *values: _Array) -> _Array:
    return np.stack(values, axis=_integer(op, "axis"))


def _concatenate(_op: ir.OpView, *values: _Array) -> _Array:
    return np.concatenate(values[:-1], axis=int(values[-1]))


def _range(_op: ir.OpView, start: _Array, limit: _Array, delta: _Array) -> _Array | None:
    numbers = range(int(start), int(limit), int(delta))
    return np.array(numbers, start.dtype) if len(numbers) <= _MAX_ELEMENTS else None


def _fill(_op: ir.OpView, dims: _Array, value: _Array) -> _Array | None:
    count = math.prod(dims.tolist())
    return np.full(dims, value, value.dtype) if 0 <= count <= _MAX_ELEMENTS else None


def _tile(_op: ir.OpView, value: _Array, multiples: _Array) -> _Array | None:
    count = value.size * math.prod(multiples.tolist())
    return np.tile(value, multiples) if 0 <= count <= _MAX_ELEMENTS else None


def _gather(op: ir.OpView, operands: Sequence[_Array | None]) -> _Array | None:
    value, indices, axis = operands
    if value is None or indices is None or axis is None or _integer(op, "batch_dims"):
        return None
    if indices.size and not (indices.min() >= 0 and indices.max() < value.shape[int(axis)]):
        return None
    return np.take(value, indices, axis=int(axis))


def _expand_dims(_op: ir.OpView, value: _Array, axis: _Array) -> _Array:
    return np.expand_dims(value, int(axis))


def _reshape(_op: ir.OpView, value: _Array, shape: _Array) -> _Array:
    return np.reshape(value, tuple(shape.tolist()))


def _identity(_op: ir.OpView, value: _Array) -> _Array:
    return value


def _negative(_op: ir.OpView, value: _Array) -> _Array:
    return np.negative(value)


def _negation(_op: ir.OpView, value: _Array) -> _Array:
    return np.logical_not(value)


def _to_bool(_op: ir.OpView, operands: Sequence[_Array | None]) -> _Array | None:
    (value,) = operands
    return None if value is None or value.ndim else value != 0


def _cast(op: ir.OpView, value: _Array) -> _Array | None:
    target = str(ir.ShapedType(op.results[0].type).element_type)
    return value if target in ("i8", "i16", "i32", "i64") and value.dtype.kind == "i" else None


_EVALUATORS: dict[str, _Evaluator] = {
    "tf.Add": _binary(np.add),
    "tf.AddV2": _binary(np.add),
    "tf.Cast": _of_values(_cast),
    "tf.ConcatV2": _of_values(_concatenate),
    "tf.ExpandDims": _of_values(_expand_dims),
    "tf.Equal": _binary(np.equal),
    "tf.Fill": _of_values(_fill),
    "tf.FloorDiv": _division(np.floor_divide),
    "tf.FloorMod": _division(np.mod),
    "tf.GatherV2": _gather,
    "tf.Greater": _binary(np.greater),
    "tf.GreaterEqual": _binary(np.greater_equal),
    "tf.Identity": _of_values(_identity),
    "tf.Less": _binary(np.less),
    "tf.LessEqual": _binary(np.less_equal),
    "tf.LogicalAnd": _binary(np.logical_and),
    "tf.LogicalNot": _of_values(_negation),
    "tf.LogicalOr": _binary(np.logical_or),
    "tf.Maximum": _binary(np.maximum),
    "tf.Minimum": _binary(np.minimum),
    "tf.Mul": _binary(np.multiply),
    "tf.Neg": _of_values(_negative),
    "tf.NotEqual": _binary(np.not_equal),
    "tf.Pack": _of_values(_pack),
    "tf.Prod": _reduction(np.prod),
    "tf.Range": _of_values(_range),
    "tf.Rank": _rank,
    "tf.Reshape": _of_values(_reshape),
    "tf.Shape": _shape,
    "tf.Size": _size,
    "tf.StridedSlice": _strided_slice,
    "tf.Sub": _binary(np.subtract),
    "tf.Sum": _reduction(np.sum),
    "tf.Tile": _of_values(_tile),
    "tf.ToBool": _to_bool,
}
