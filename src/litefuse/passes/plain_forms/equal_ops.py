"""Ops that a target lacks, as others that give the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import reduce
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from litefuse.ir.constants import pseudo_constant, stored
from litefuse.ir.litert_ops import arithmetic, concatenation, element, int32_scalar, int32_vector, integers, sizes_of
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op, create_value
from litefuse.ir.passes import module_pass, visit_ops
from litefuse.ir.types import is_float32
from litefuse.passes.plain_forms.reshapes import is_fixed, reshaped, resized, sliced
from litefuse.support.options.limits import MAX_REVERSED_ITEMS

# The window of MAX_POOL_2D that Vela takes: its height, and all of its elements.
_MAX_HEIGHT, _MAX_WINDOW = 256, 1 << 16


@module_pass
def unpack_reversals(module: ir.Module) -> bool:
    """Takes a tensor apart and packs it in the other order::

        %y = tfl.reverse_v2(%x : tensor<3x1x4xf32>, [0])
        -->  %0, %1, %2 = tfl.unpack(%x)
             %y = tfl.pack(%2, %1, %0)

    For targets that leave REVERSE_V2 to the CPU. Neither op computes anything, and both keep the scale of integers.
    """
    return visit_ops(module, {"tfl.reverse_v2": _unpacked})


def _unpacked(op: ir.OpView) -> ir.Value | None:
    axes = _axes(op)
    return None if axes is None else reduce(_reversed, axes, op.operands[0])


def _axes(op: ir.OpView) -> list[int] | None:
    """Returns the dimensions of several items that are reversed; None where REVERSE_V2 stays."""
    kind, axes = ir.ShapedType(op.operands[0].type), integers(op.operands[1])
    if axes is None or not kind.has_rank or not kind.has_static_shape or not isinstance(kind.element_type, ir.F32Type):
        return None
    longer = [axis for axis in (axis % kind.rank for axis in axes) if kind.shape[axis] > 1]
    return longer if all(kind.shape[axis] <= MAX_REVERSED_ITEMS for axis in longer) else None


def _reversed(value: ir.Value, axis: int) -> ir.Value:
    kind = ir.RankedTensorType(value.type)
    shape = list(kind.shape)
    count = shape.pop(axis)
    kinds = [ir.RankedTensorType.get(shape, kind.element_type)] * count
    items = create_op("tfl.unpack", kinds, [value], {"axis": axis, "num": count}).results
    return create_value("tfl.pack", kind, [*items][::-1], {"axis": axis, "values_count": count})


def _updated(op: ir.OpView) -> ir.Value | None:
    """Returns the result of DYNAMIC_UPDATE_SLICE that replaces one item of the first dimension; None for any other::

        %y = tfl.dynamic_update_slice(%x : tensor<6x2x8xf32>, %item : tensor<1x2x8xf32>, [%i, 0, 0])
        -->  %y = tfl.select_v2(tfl.equal([[[0]], [[1]], ...], max(min(%i, 5), 0)), %item, %x)

    Sizes that are known in the call alone may differ, and an item of size 1 would be broadcast: it goes through
    SCATTER_ND, which takes no item of other sizes than the tensor's.
    """
    tensor, item, begins = op.operands
    kind, part = ir.RankedTensorType(tensor.type), ir.RankedTensorType(item.type)
    int32 = ir.IntegerType.get_signless(32)
    if not kind.rank or part.shape[0] != 1 or kind.shape[0] == 0 or kind.shape[1:] != part.shape[1:]:
        return None
    if ir.ShapedType(begins.type).element_type != int32:
        return None
    sizes = None if is_fixed(tensor) else sizes_of(tensor)
    ones = [1] * (kind.rank - 1)
    scalar = ir.RankedTensorType.get([], int32)
    if kind.is_dynamic_dim(0):
        assert sizes is not None
        count = element(sizes, 0)
        last = arithmetic("tfl.sub", count, int32_scalar(1), scalar)
        numbers = ir.RankedTensorType.get([kind.shape[0]], int32)
        places = create_value("tfl.range", numbers, [int32_scalar(0), count, int32_scalar(1)])
        column = ir.RankedTensorType.get([kind.shape[0], *ones], int32)
        places = create_value("tfl.reshape", column, [places, int32_vector([-1, *ones])])
    else:
        last = int32_scalar(kind.shape[0] - 1)
        numbered = np.arange(kind.shape[0], dtype=np.int32).reshape(-1, *ones)
        places = pseudo_constant(ir.DenseElementsAttr.get(numbered))
    # As the op has it: the item lies within the tensor.
    place = create_value("tfl.minimum", scalar, [element(begins, 0), last])
    place = create_value("tfl.maximum", scalar, [place, int32_scalar(0)])
    chosen = ir.RankedTensorType.get([kind.shape[0], *ones], ir.IntegerType.get_signless(1))
    here = create_value("tfl.equal", chosen, [places, place])
    if sizes is not None:
        item = create_value("tfl.scatter_nd", kind, [reshaped(place, [1, 1]), item, sizes])
    return create_value("tfl.select_v2", op.results[0].type, [here, item, tensor])


def _leaky_relu(op: ir.OpView) -> ir.Value | None:
    """Returns ``max(x, alpha * x)``, for an alpha above 0 and up to 1: 0 times infinity would be no number."""
    alpha = ir.FloatAttr(op.attributes["alpha"]).value
    if not 0 < alpha <= 1:
        return None
    return _maximum(op.operands[0], _times(op.operands[0], alpha), op.results[0].type)


def _prelu(op: ir.OpView) -> ir.Value | None:
    """Returns ``max(x, alpha * x)`` where each alpha is such, else ``relu(x) + alpha * (x - relu(x))``."""
    value, alpha = op.operands
    elements = stored(alpha)
    if elements is not None and all(0 < number <= 1 for number in np.array(elements).ravel().tolist()):
        return _maximum(value, arithmetic("tfl.mul", value, alpha, value.type), value.type)
    positive = create_value("tfl.relu", value.type, [value])
    negative = arithmetic("tfl.sub", value, positive, value.type)
    return arithmetic("tfl.add", positive, arithmetic("tfl.mul", negative, alpha, value.type), value.type)


def _negative(op: ir.OpView) -> ir.Value:
    return _times(op.operands[0], -1.0)


def _minimum(op: ir.OpView) -> ir.Value:
    """Returns ``-max(-x, -y)``."""
    one, other = (_opposite(operand) for operand in op.operands)
    return _times(_maximum(one, other, op.results[0].type), -1.0)


def _opposite(value: ir.Value) -> ir.Value:
    elements = stored(value)
    if elements is None:
        return _times(value, -1.0)
    array = -np.array(elements, np.float32).reshape(elements.type.shape)
    return pseudo_constant(ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=value.type))


def _reduce_max(op: ir.OpView) -> ir.Value | None:
    """Returns the maximum of a window of all places, of images and series in batches."""
    value, axes = op.operands
    reduced = integers(axes)
    if reduced is None or not is_fixed(value, op.results[0]):
        return None
    shape = [*ir.RankedTensorType(value.type).shape]
    places = sorted(axis % len(shape) for axis in reduced)
    if places == [1] and len(shape) == 3:
        shape = [shape[0], shape[1], 1, shape[2]]
    elif places != [1, 2] or len(shape) != 4:
        return None
    batch, height, width, channels = shape
    if height > _MAX_HEIGHT or height * width > _MAX_WINDOW:
        return None
    window = {"filter_height": height, "filter_width": width, "stride_h": 1, "stride_w": 1, "padding": "VALID"}
    attributes = {**window, "fused_activation_function": "NONE"}
    kind = resized(value.type, [batch, 1, 1, channels])
    pooled = create_value("tfl.max_pool_2d", kind, [reshaped(value, shape)], attributes)
    return reshaped(pooled, ir.RankedTensorType(op.results[0].type).shape)


def _times(value: ir.Value, factor: float) -> ir.Value:
    return arithmetic("tfl.mul", value, _scalar(factor), value.type)


def _maximum(one: ir.Value, other: ir.Value, kind: ir.Type) -> ir.Value:
    return create_value("tfl.maximum", kind, [one, other])


class EmitEqualOps:
    """Emits other ops in the place of those that a target lacks::

        %y = tfl.select(%c, %a, %b)       -->  %y = tfl.select_v2(%c, %a, %b)                  of floats
        %y = tfl.select_v2(%c, %a, %b)    -->  %y = tfl.add(%b, tfl.mul(tfl.sub(%a, %b), %c))  of int32
        %y = tfl.reduce_any(%x, %axes)    -->  %y = tfl.logical_not(tfl.reduce_all(tfl.logical_not(%x), %axes))
        %y = tfl.tile(%x, [1, 3])         -->  %y = tfl.concatenation(%x, %x, %x) {axis = 1}
        %y = tfl.relu_n1_to_1(%x)         -->  %y = tfl.maximum(tfl.minimum(%x, 1), -1)    relu6 as well
        %y = tfl.dynamic_update_slice(%x, %item, [%i, 0])
                                          -->  %y = tfl.select_v2(tfl.equal([[0], [1], [2]], %i), %item, %x)

        %y = tfl.elu(%x)                  -->  %y = tfl.add(tfl.relu(%x), tfl.sub(tfl.exp(tfl.minimum(%x, 0)), 1))
        %y = tfl.log_softmax(%x)          -->  %y = tfl.sub(%d, tfl.log(tfl.sum(tfl.exp(%d))))   of d = x - max(x)
        %y = tfl.floor(%x)                -->  %y = tfl.floor_div(%x, 1)                         ceil as -floor(-x)
        %y = tfl.reduce_min(%x, %axes)    -->  %y = -max(-x)                                     arg_min as well
        %0, %1 = tfl.split_v(%x)          -->  %0 = tfl.slice(%x), %1 = tfl.slice(%x)
        %y = tfl.add_n(%a, %b, %c)        -->  %y = tfl.add(tfl.add(%a, %b), %c)

    and in the place of those that are not quantized::

        %y = tfl.leaky_relu(%x) {alpha = 0.1}   -->  %y = tfl.maximum(%x, tfl.mul(%x, 0.1))
        %y = tfl.prelu(%x, %alpha)              -->  %y = tfl.maximum(%x, tfl.mul(%x, %alpha))
        %y = tfl.neg(%x)                        -->  %y = tfl.mul(%x, -1.0)
        %z = tfl.minimum(%x, %y)                -->  the same of -max(-x, -y)
        %y = tfl.reduce_max(%image, [1, 2])     -->  %y = tfl.reshape(tfl.max_pool_2d(%image))

    Args:
        avoided: The ops that the target lacks, by LiteRT's names.
    """

    name = "emit-equal-ops"

    def __init__(self, avoided: Collection[str]) -> None:
        tables = (_EQUAL_OPS, _EQUAL_FLOAT_OPS)
        self._names = {name for table in tables for name, (lacking, _) in table.items() if lacking in avoided}

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, dict.fromkeys(self._names, _rewritten))


def _rewritten(op: ir.OpView) -> ir.Value | list[ir.Value] | None:
    if op.name in _EQUAL_OPS:
        return _EQUAL_OPS[op.name][1](op)
    return _EQUAL_FLOAT_OPS[op.name][1](op) if is_float32(op.operands[0]) else None


def _select(op: ir.OpView) -> ir.Value | None:
    condition, one, other = op.operands
    kind, chosen = ir.ShapedType(condition.type), ir.ShapedType(op.results[0].type)
    if not kind.has_rank or not kind.has_static_shape or not chosen.has_rank:
        return None
    if kind.rank == 1 < chosen.rank:  # of the first dimension, where that of SELECT_V2 is of the last one
        condition = reshaped(condition, [kind.shape[0], *[1] * (chosen.rank - 1)])
    if _is_int32(op):
        return _chosen_int32(op, condition)
    return create_value("tfl.select_v2", op.results[0].type, [condition, one, other])


def _select_v2(op: ir.OpView) -> ir.Value | None:
    return _chosen_int32(op, op.operands[0]) if _is_int32(op) else None


def _is_int32(op: ir.OpView) -> bool:
    return ir.ShapedType(op.results[0].type).element_type == ir.IntegerType.get_signless(32)


def _chosen_int32(op: ir.OpView, condition: ir.Value) -> ir.Value:
    _, one, other = op.operands
    kind = ir.ShapedType(op.results[0].type)
    shape = ir.RankedTensorType(condition.type).shape
    taken = create_value("tfl.cast", resized(kind, shape), [condition])
    # Of the shape of the result, to which both are broadcast: the difference alone may be smaller.
    nothing = pseudo_constant(ir.DenseElementsAttr.get(np.zeros(list(kind.shape), np.int32)))
    whole = arithmetic("tfl.add", other, nothing, kind) if other.type != kind else other
    difference = arithmetic("tfl.sub", one, whole, kind)
    return arithmetic("tfl.add", whole, arithmetic("tfl.mul", difference, taken, kind), kind)


def _reduce_all(op: ir.OpView) -> ir.Value:
    value, axes = op.operands
    keep = {"keep_dims": op.attributes["keep_dims"]}
    kind = op.results[0].type
    inverse = create_value("tfl.logical_not", value.type, [value])
    none = create_value("tfl.reduce_all", kind, [inverse, axes], keep)
    return create_value("tfl.logical_not", kind, [none])


def _tile(op: ir.OpView) -> ir.Value | None:
    value, multiples = op.operands
    counts = integers(multiples)
    if counts is None or not is_fixed(value, op.results[0]):
        return None
    if str(ir.ShapedType(value.type).element_type) not in _TILED:
        return None
    for axis, count in enumerate(counts):
        value = _repeated(value, axis, count)
    return value


def _repeated(value: ir.Value, axis: int, count: int) -> ir.Value:
    """Emits a value so many times along an axis, in steps: CONCATENATION takes ten operands in tflite-micro."""
    if count == 1:
        return value
    whole, rest = divmod(count, _REPEATED)
    parts = [value] * count if whole == 0 else [_repeated(value, axis, whole)] * _REPEATED
    parts += [_repeated(value, axis, rest)] if whole and rest else []
    shape = [*ir.RankedTensorType(value.type).shape]
    shape[axis] *= count
    return concatenation(parts, resized(value.type, shape), axis)


def _limited(op: ir.OpView) -> ir.Value:
    value = op.operands[0]
    for name, limit in zip(("tfl.minimum", "tfl.maximum"), _LIMITS[op.name], strict=True):
        value = create_value(name, value.type, [value, _scalar(limit)])
    return value


def _elu(op: ir.OpView) -> ir.Value:
    value = op.operands[0]
    below = create_value("tfl.exp", value.type, [create_value("tfl.minimum", value.type, [value, _scalar(0.0)])])
    below = arithmetic("tfl.sub", below, _scalar(1.0), value.type)
    return arithmetic("tfl.add", create_value("tfl.relu", value.type, [value]), below, value.type)


def _log_softmax(op: ir.OpView) -> ir.Value | None:
    value, kind = op.operands[0], op.results[0].type
    if not is_fixed(value):
        return None
    last, keep = resized(kind, [*ir.RankedTensorType(kind).shape[:-1], 1]), {"keep_dims": True}
    most = create_value("tfl.reduce_max", last, [value, int32_vector([-1])], keep)
    below = arithmetic("tfl.sub", value, most, kind)
    total = create_value("tfl.sum", last, [create_value("tfl.exp", kind, [below]), int32_vector([-1])], keep)
    return arithmetic("tfl.sub", below, create_value("tfl.log", last, [total]), kind)


def _floor(op: ir.OpView) -> ir.Value:
    return create_value("tfl.floor_div", op.results[0].type, [op.operands[0], _scalar(1.0)])


def _ceil(op: ir.OpView) -> ir.Value:
    opposite = _times(op.operands[0], -1.0)
    return _times(create_value("tfl.floor_div", opposite.type, [opposite, _scalar(1.0)]), -1.0)


def _reduce_min(op: ir.OpView) -> ir.Value:
    operands = [_times(op.operands[0], -1.0), op.operands[1]]
    keep = {"keep_dims": op.attributes["keep_dims"]}
    return _times(create_value("tfl.reduce_max", op.results[0].type, operands, keep), -1.0)


def _arg_min(op: ir.OpView) -> ir.Value:
    return create_value("tfl.arg_max", op.results[0].type, [_times(op.operands[0], -1.0), op.operands[1]])


def _split(op: ir.OpView) -> list[ir.Value] | None:
    value, axis = op.operands[0], integers(op.operands[2])
    if axis is None or not is_fixed(value, *op.results):
        return None
    begins = [0] * ir.RankedTensorType(value.type).rank
    parts: list[ir.Value] = []
    for result in op.results:
        counts = ir.RankedTensorType(result.type).shape
        parts.append(sliced(value, begins, counts))
        begins[axis[0]] += counts[axis[0]]
    return parts


def _sum_of(op: ir.OpView) -> ir.Value:
    return reduce(lambda one, other: arithmetic("tfl.add", one, other, op.results[0].type), op.operands)


def _scalar(number: float) -> ir.Value:
    return pseudo_constant(ir.DenseElementsAttr.get(np.array(number, np.float32)))


#: The upper and the lower limit.
_LIMITS = {"tfl.relu_n1_to_1": (1.0, -1.0), "tfl.relu6": (6.0, 0.0)}
_REPEATED = 8
_TILED = frozenset({"f32", "i1", "i32", "i64"})


_Rewriting: TypeAlias = "Callable[[ir.OpView], ir.Value | list[ir.Value] | None]"

#: By the names of ops in MLIR, what LiteRT calls the op that a target lacks, and how it is written as others.
_EQUAL_OPS: Mapping[str, tuple[str, _Rewriting]] = MappingProxyType(
    {
        "tfl.select": ("SELECT", _select),
        "tfl.select_v2": ("SELECT", _select_v2),  # tflite-micro has it for floats, int8 and int16
        "tfl.reduce_any": ("REDUCE_ANY", _reduce_all),
        "tfl.tile": ("TILE", _tile),
        "tfl.dynamic_update_slice": ("DYNAMIC_UPDATE_SLICE", _updated),
        "tfl.split_v": ("SPLIT_V", _split),
        "tfl.add_n": ("ADD_N", _sum_of),
    }
)

#: Those that are written as others where their operands are float32.
_EQUAL_FLOAT_OPS: Mapping[str, tuple[str, _Rewriting]] = MappingProxyType(
    {
        "tfl.relu_n1_to_1": ("RELU_N1_TO_1", _limited),
        "tfl.relu6": ("RELU6", _limited),
        "tfl.elu": ("ELU", _elu),
        "tfl.log_softmax": ("LOG_SOFTMAX", _log_softmax),
        "tfl.floor": ("FLOOR", _floor),
        "tfl.ceil": ("CEIL", _ceil),
        "tfl.reduce_min": ("REDUCE_MIN", _reduce_min),
        "tfl.arg_min": ("ARG_MIN", _arg_min),
        "tfl.leaky_relu": ("LEAKY_RELU", _leaky_relu),
        "tfl.minimum": ("MINIMUM", _minimum),
        "tfl.neg": ("NEG", _negative),
        "tfl.prelu": ("PRELU", _prelu),
        "tfl.reduce_max": ("REDUCE_MAX", _reduce_max),
    }
)
