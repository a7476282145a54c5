"""Operands of the shapes, kinds and dtypes that all of LiteRT's runtimes take, and slices that keep all axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from litefuse.ir.constants import CONSTANTS, pseudo_constant, stored
from litefuse.ir.litert_ops import (
    MASKS,
    arithmetic,
    concatenation,
    gathered,
    int32_vector,
    integers,
    strided_slice,
    transposed,
)
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_like, create_value
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.passes.plain_forms.reshapes import is_fixed, reshaped, resized, sliced

# The most zeros that are stored.
_MOST_ZEROS = 4096
_INT32 = np.iinfo(np.int32)


@module_pass
def flatten_ids(module: ir.Module) -> bool:
    """Gathers by a vector of int32 ids::

        %y = tfl.gather(%table : tensor<100x8xf32>, %ids : tensor<2x5xi64>)
        -->  %i = tfl.reshape(tfl.cast(%ids), [10]) : tensor<10xi32>
             %g = tfl.gather(%table, %i) : tensor<10x8xf32>
             %y = tfl.reshape(%g, [2, 5, 8])

    An id that int32 cannot hold is in no table, and an error in LiteRT. Constant ids of a batched gather, such as those
    of relative positions, become the places of the elements in all of the table; other batched gathers, and those of
    open size, stay.
    """
    return visit_ops(module, {"tfl.gather": _by_flat_ids})


def _by_flat_ids(op: ir.OpView) -> ir.Value | None:
    if not is_fixed(*op.operands, *op.results):
        return None
    kind = ir.RankedTensorType(op.operands[1].type)
    if _number(op, "batch_dims"):
        return _unbatched(op)
    return _flat(op) if kind.rank != 1 or kind.element_type != ir.IntegerType.get_signless(32) else None


def _flat(op: ir.OpView) -> ir.Value:
    table, ids = op.operands
    kind = ir.RankedTensorType(table.type)
    axis = _number(op, "axis") % kind.rank
    count = math.prod(ir.RankedTensorType(ids.type).shape)
    flat = reshaped(ids, [count])
    vector = ir.RankedTensorType.get([count], ir.IntegerType.get_signless(32))
    if flat.type != vector:
        flat = create_value("tfl.cast", vector, [flat])
    rows = gathered(table, flat, resized(table.type, [*kind.shape[:axis], count, *kind.shape[axis + 1 :]]), axis)
    return reshaped(rows, ir.RankedTensorType(op.results[0].type).shape)


def _unbatched(op: ir.OpView) -> ir.Value | None:
    """Gathers by constant ids from a table in which the batch and what is gathered are one axis."""
    table, ids = op.operands
    elements = stored(ids)
    shape: list[int] = ir.RankedTensorType(table.type).shape
    axis, batch_dims = _number(op, "axis") % len(shape), _number(op, "batch_dims")
    if elements is None or axis != batch_dims:
        return None
    own = np.array(elements).reshape(math.prod(shape[:axis]), -1).astype(np.int64)
    if own.min() < 0 or own.max() >= shape[axis]:  # an error in LiteRT, which it must stay
        return None
    places = own + shape[axis] * np.arange(len(own))[:, np.newaxis]
    if len(own) * shape[axis] > _INT32.max:
        return None
    width = math.prod(shape[axis + 1 :])
    rows = reshaped(table, [len(own) * shape[axis], width])
    taken = gathered(rows, int32_vector(places.reshape(-1).tolist()), resized(rows.type, [places.size, width]), 0)
    return reshaped(taken, ir.RankedTensorType(op.results[0].type).shape)


def _number(op: ir.OpView, name: str) -> int:
    return ir.IntegerAttr(op.attributes[name]).value


@module_pass
def plain_operands(module: ir.Module) -> bool:
    """Gives some ops other operands, with the same results::

        tfl.select_v2(%c, %x : tensor<2x8x1xf32>, %y : tensor<2x8x8xf32>)
        -->  tfl.select_v2(%c, tfl.tile(%x, [1, 1, 8]), %y)

        tfl.batch_matmul(%constant : tensor<2x9x4xf32>, %x : tensor<2x4x3xf32>) {adj_x = false, adj_y = false}
        -->  tfl.transpose(tfl.batch_matmul(%x, %constant) {adj_x = true, adj_y = true}, [0, 2, 1])

        tfl.dynamic_update_slice(%x : tensor<9x8xf32>, %part, %places : tensor<2xi32>)
        -->  %y = tfl.dynamic_update_slice(tfl.reshape(%x, [1, 1, 9, 8]), tfl.reshape(%part, [1, 1, 1, 8]),
                                           tfl.concatenation([0, 0], %places))
             tfl.reshape(%y, [9, 8])

        tfl.cumsum(%x : tensor<4xi32>)
        -->  %s = tfl.add(%x, tfl.concatenation([0], tfl.slice(%x, [0], [3])))
             tfl.add(%s, tfl.concatenation([0, 0], tfl.slice(%s, [0], [2])))

        tfl.zeros_like(%x : tensor<512x512xf32>)
        -->  tfl.cast(tfl.less(%x, %x))

    What SELECT_V2 chooses from is whole or a scalar, the first factor of BATCH_MATMUL no constant, CUMSUM of floats:
    sums of integers are the same in any order. Few zeros are a constant. Only where all sizes are known.
    """
    return visit_ops(module, dict.fromkeys(_RULES, _rewritten))


def _rewritten(op: ir.OpView) -> ir.Value | bool | None:
    return _RULES[op.name](op) if is_fixed(*op.operands, *op.results) else None


def _choose(op: ir.OpView) -> bool:
    shape: list[int] = ir.RankedTensorType(op.results[0].type).shape
    modified = False
    for place in (1, 2):
        value = op.operands[place]
        own: list[int] = ir.RankedTensorType(value.type).shape
        if own != shape and own and not (len(own) == 1 and own[0] == 1):
            op.operands[place] = _whole(value, [*[1] * (len(shape) - len(own)), *own], shape)
            modified = True
    return modified


def _whole(value: ir.Value, own: Sequence[int], shape: Sequence[int]) -> ir.Value:
    value = reshaped(value, own)
    counts = int32_vector([size // present for size, present in zip(shape, own, strict=True)])
    return create_value("tfl.tile", resized(value.type, shape), [value, counts])


def _update(op: ir.OpView) -> ir.Value | None:
    """Updates a tensor of rank 4: of others, the GPU's accelerator takes places that are computed for 0."""
    value, part, places = op.operands
    shape: list[int] = ir.RankedTensorType(value.type).shape
    lacking, is_int32 = 4 - len(shape), str(ir.RankedTensorType(places.type).element_type) == "i32"
    if lacking < 1 or not is_int32 or stored(places) is not None:
        return None
    kind = resized(value.type, [*[1] * lacking, *shape])
    zeros = pseudo_constant(ir.DenseElementsAttr.get(np.zeros(lacking, np.int32)))
    operands = [
        reshaped(value, kind.shape),
        reshaped(part, [*[1] * lacking, *ir.RankedTensorType(part.type).shape]),
        concatenation([zeros, places], resized(places.type, [4]), 0),
    ]
    return reshaped(create_like(op, operands, [kind]).result, shape)


def _multiply(op: ir.OpView) -> ir.Value | None:
    left, right = op.operands
    if producer(left, *CONSTANTS) is None or producer(right, *CONSTANTS) is not None:
        return None
    adj_x, adj_y = (ir.BoolAttr(op.attributes[name]).value for name in ("adj_x", "adj_y"))
    *batch, rows, columns = ir.RankedTensorType(op.results[0].type).shape
    kind = resized(op.results[0].type, [*batch, columns, rows])
    product = create_like(op, [right, left], [kind], {"adj_x": not adj_y, "adj_y": not adj_x}).result
    return transposed(product, [*range(len(batch)), len(batch) + 1, len(batch)])


def _sum_up(op: ir.OpView) -> ir.Value | None:
    value, axes = op.operands
    axis = stored(axes)
    kind = ir.RankedTensorType(value.type)
    if axis is None or kind.element_type != ir.IntegerType.get_signless(32):
        return None
    along = int(np.array(axis).reshape(-1)[0]) % kind.rank
    exclusive, backward = (ir.BoolAttr(op.attributes[name]).value for name in ("exclusive", "reverse"))
    size: int = kind.shape[along]
    if exclusive:
        value = _shifted(value, along, min(1, size), backward=backward)
    step = 1
    while step < size:
        value = arithmetic("tfl.add", value, _shifted(value, along, step, backward=backward), kind)
        step *= 2
    return value


def _shifted(value: ir.Value, axis: int, step: int, *, backward: bool) -> ir.Value:
    """Emits a tensor whose elements are ``step`` further along an axis, or before, with zeros where they were."""
    shape: list[int] = list(ir.RankedTensorType(value.type).shape)
    zeros = pseudo_constant(ir.DenseElementsAttr.get(np.zeros([*shape[:axis], step, *shape[axis + 1 :]], np.int32)))
    if step == shape[axis]:
        return zeros
    begins = [0] * len(shape)
    begins[axis] = step if backward else 0
    counts = [*shape[:axis], shape[axis] - step, *shape[axis + 1 :]]
    part = sliced(value, begins, counts)
    return concatenation([part, zeros] if backward else [zeros, part], value.type, axis)


def _zeros(op: ir.OpView) -> ir.Value | None:
    kind = ir.RankedTensorType(op.results[0].type)
    dtype = {"f32": np.float32, "i32": np.int32}.get(str(kind.element_type))
    if dtype is None:
        return None
    if math.prod(kind.shape) <= _MOST_ZEROS:
        return pseudo_constant(ir.DenseElementsAttr.get(np.zeros(kind.shape, dtype)))
    (value,) = op.operands
    falses = ir.RankedTensorType.get(kind.shape, ir.IntegerType.get_signless(1))
    less = create_value("tfl.less", falses, [value, value])  # nothing is less than itself, not even NaN
    return create_value("tfl.cast", kind, [less])


_RULES: Mapping[str, Callable[[ir.OpView], ir.Value | bool | None]] = {
    "tfl.batch_matmul": _multiply,
    "tfl.cumsum": _sum_up,
    "tfl.dynamic_update_slice": _update,
    "tfl.select_v2": _choose,
    "tfl.zeros_like": _zeros,
}


class _Range(NamedTuple):
    """Slice of an axis: ``length`` elements from ``begin`` on, ``stride`` apart."""

    begin: int
    stride: int
    length: int


@module_pass
def plain_slices(module: ir.Module) -> bool:
    """Takes STRIDED_SLICE apart, and drops what takes everything::

        tfl.strided_slice(%x : tensor<4x6x8xf32>, [0, 1, 0], [0, 2, 0], [1, 1, 2])
            {begin_mask = 5, end_mask = 5, shrink_axis_mask = 2} : tensor<4x4xf32>
        -->  %s = tfl.strided_slice(%x, [0, 1, 0], [4, 2, 8], [1, 1, 2]) : tensor<4x1x4xf32>
             tfl.reshape(%s, [4, 4])

    An axis that is dropped or added is a RESHAPE's, and a slice of neighbors is SLICE, whose version does not rise
    with booleans. Slices in backward order, or by places that are computed, stay.

    The masks are those of TensorFlow's ``tf.strided_slice``.
    """
    return visit_ops(module, {"tfl.strided_slice": _apart})


def _apart(op: ir.OpView) -> ir.Value | None:
    value, ranges = op.operands[0], _ranges(op)
    if ranges is None:
        return None
    shape = ir.RankedTensorType(value.type).shape
    begins = [range_.begin for range_ in ranges]
    counts = [range_.length for range_ in ranges]
    if counts == shape and not any(begins):
        taken = value
    elif all(range_.stride == 1 for range_ in ranges):
        taken = sliced(value, begins, counts)
    else:
        ends = [min(part.begin + part.stride * part.length, size) for part, size in zip(ranges, shape, strict=True)]
        vectors = [int32_vector(numbers) for numbers in (begins, ends, [range_.stride for range_ in ranges])]
        taken = strided_slice([value, *vectors], resized(value.type, counts))
    return reshaped(taken, ir.RankedTensorType(op.results[0].type).shape)


def _ranges(op: ir.OpView) -> list[_Range] | None:
    """Returns what is taken of each axis of the operand; None if that is not known, or backward."""
    value, *vectors = op.operands
    if not is_fixed(value, op.results[0]) or ir.BoolAttr(op.attributes["offset"]).value:
        return None
    numbers = [known for vector in vectors if (known := integers(vector)) is not None]
    if len(numbers) < 3:
        return None
    specs: list[tuple[int, int, int]] = [*zip(*numbers, strict=True)]
    masks = {name: ir.IntegerAttr(op.attributes[name]).value for name in MASKS}
    shape: list[int] = ir.RankedTensorType(value.type).shape
    new = masks["new_axis_mask"]
    ellipsis = next((place for place in range(len(specs)) if masks["ellipsis_mask"] >> place & 1), len(specs))
    # New axes behind the ellipsis count, those before it too; the rest is the ellipsis's.
    taken = sum(1 for place in range(len(specs)) if place != ellipsis and not new >> place & 1)
    ranges: list[_Range] = []
    for place, (begin, end, stride) in enumerate(specs):
        if place == ellipsis:
            ranges += [_Range(0, 1, size) for size in shape[len(ranges) : len(ranges) + len(shape) - taken]]
        elif not new >> place & 1:
            flags = {name: bool(mask >> place & 1) for name, mask in masks.items()}
            ranges.append(_range(begin, end, stride, shape[len(ranges)], flags))
    ranges += [_Range(0, 1, size) for size in shape[len(ranges) :]]
    return None if any(range_.stride < 1 or range_.length < 1 for range_ in ranges) else ranges


def _range(begin: int, end: int, stride: int, size: int, flags: dict[str, bool]) -> _Range:
    if flags["shrink_axis_mask"]:
        return _Range(begin % size, 1, int(-size <= begin < size))
    if stride < 1:
        return _Range(0, stride, 0)
    first = None if flags["begin_mask"] else begin
    last = None if flags["end_mask"] else end
    places = range(size)[first:last:stride]
    return _Range(places.start, stride, len(places))
