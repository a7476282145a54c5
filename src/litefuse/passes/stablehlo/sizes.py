"""Rules for the dynamic dimensions of results, from those of operands: equal sizes are one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir

if TYPE_CHECKING:
    from litefuse.passes.stablehlo.translation import Translation

__all__ = ["KnownSizes", "result_dims"]

KnownSizes: TypeAlias = "list[MixedSize | None]"
"""The sizes of a value as far as they are known; None is an unknown size."""


def result_dims(t: Translation, op: Any, result: ir.Value) -> KnownSizes | None:
    """Returns what is known of the sizes of an op's result."""
    name = op.operation.name.removeprefix("stablehlo.")
    rule = _RULES.get(name)
    if rule is not None:
        return rule(t, op, result)
    # Most other ops have results of their operands' shape.
    rank = len(t.shape(result))
    for operand in op.operands:
        if len(t.shape(operand)) == rank and name not in _OTHERS:
            return t.known_dims(operand)
    return None


# A result of these may have the rank of an operand and other sizes.
_OTHERS = frozenset({"case", "composite", "dynamic_slice", "fft", "if", "scatter", "slice"})


def _from_operand(position: int) -> Callable[[Translation, Any, ir.Value], KnownSizes]:
    def rule(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
        elements = t.elements(op.operands[position])
        return [None] * len(t.shape(op.results[0])) if elements is None else list(elements.tolist())

    return rule


def _transpose(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    dims = t.known_dims(op.operands[0])
    return [dims[axis] for axis in op.permutation]


def _reduce(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    axes = list(op.attributes["dimensions"])
    return [dim for axis, dim in enumerate(t.known_dims(op.operands[0])) if axis not in axes]


def _dot_general(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    numbers = t.dialect.DotDimensionNumbers(op.dot_dimension_numbers)
    left, right = (t.known_dims(operand) for operand in op.operands)
    batching: list[int] = list(numbers.lhs_batching_dimensions)
    gone = {*batching, *numbers.lhs_contracting_dimensions}
    gone_right = {*numbers.rhs_batching_dimensions, *numbers.rhs_contracting_dimensions}
    dims: KnownSizes = [left[axis] for axis in batching] + [dim for axis, dim in enumerate(left) if axis not in gone]
    return dims + [dim for axis, dim in enumerate(right) if axis not in gone_right]


def _convolution(t: Translation, op: Any, result: ir.Value) -> KnownSizes:
    numbers = t.dialect.ConvDimensionNumbers(op.dimension_numbers)
    dims: KnownSizes = list(t.shape(result))
    if int(op.batch_group_count) == 1:
        dims[numbers.output_batch_dimension] = t.known_dims(op.operands[0])[int(numbers.input_batch_dimension)]
    return dims


def _concatenate(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    dims = list(t.known_dims(op.operands[0]))
    dims[int(op.dimension)] = None
    return dims


def _pad(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    amounts = zip(op.edge_padding_low, op.edge_padding_high, op.interior_padding, strict=True)
    dims = t.known_dims(op.operands[0])
    return [dim if not any(each) else None for dim, each in zip(dims, amounts, strict=True)]


def _real_dynamic_slice(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    begins, ends, strides = (t.elements(operand) for operand in op.operands[1:])
    if begins is None or ends is None or strides is None:
        return [None] * len(t.shape(op.results[0]))
    each = zip(begins.tolist(), ends.tolist(), strides.tolist(), strict=True)
    return [
        end if isinstance(begin, int) and begin == 0 and isinstance(stride, int) and stride == 1 else None
        for begin, end, stride in each
    ]


def _reduce_window(t: Translation, op: Any, _: ir.Value) -> KnownSizes:
    dims = t.known_dims(op.operands[0])
    return [dim if int(size) == 1 else None for dim, size in zip(dims, op.window_dimensions, strict=True)]


def _custom_call(t: Translation, op: Any, result: ir.Value) -> KnownSizes:
    if ir.StringAttr(op.attributes["call_target_name"]).value == "stablehlo.dynamic_reduce_window":
        return _dynamic_reduce_window(t, op)
    return list(t.shape(result))


def _dynamic_reduce_window(t: Translation, op: Any) -> KnownSizes:
    """Running combinations, and dimensions without windows, keep their sizes."""
    dims: KnownSizes = t.known_dims(op.operands[0])
    sizes, strides = (t.elements(vector) for vector in list(op.operands)[-5:-3])
    if sizes is None or strides is None:
        return [None] * len(dims)
    each = zip(dims, sizes.tolist(), strides.tolist(), strict=True)
    same = [stride == 1 and (size == 1 or (isinstance(dim, ir.Value) and size == dim)) for dim, size, stride in each]
    return [dim if kept else None for dim, kept in zip(dims, same, strict=True)]


def _of_same_position(t: Translation, op: Any, result: ir.Value) -> KnownSizes:
    return t.known_dims(op.operands[ir.OpResult(result).result_number])


_RULES: Mapping[str, Callable[[Translation, Any, ir.Value], KnownSizes]] = {
    "concatenate": _concatenate,
    "convolution": _convolution,
    "custom_call": _custom_call,
    "dot_general": _dot_general,
    "dynamic_broadcast_in_dim": _from_operand(1),
    "dynamic_conv": _convolution,
    "dynamic_iota": _from_operand(0),
    "dynamic_pad": lambda t, op, _: [None] * len(t.shape(op.results[0])),
    "dynamic_reshape": _from_operand(1),
    "dynamic_update_slice": _of_same_position,
    "gather": lambda t, op, _: [None] * len(t.shape(op.results[0])),
    "dynamic_gather": lambda t, op, _: [None] * len(t.shape(op.results[0])),
    "optimization_barrier": _of_same_position,
    "pad": _pad,
    "real_dynamic_slice": _real_dynamic_slice,
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "select": lambda t, op, _: t.known_dims(op.operands[1]),
    "clamp": lambda t, op, _: t.known_dims(op.operands[1]),
    "sort": _of_same_position,
    "transpose": _transpose,
    "while": _of_same_position,
}
