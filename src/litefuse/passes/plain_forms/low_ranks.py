"""Ops on tensors of fewer axes, where some can be treated as one."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.ir.call_graph import attributes_of
from litefuse.ir.constants import pseudo_constant
from litefuse.ir.litert_ops import integers
from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.passes import visit_ops
from litefuse.passes.plain_forms.reshapes import is_fixed, reshaped, resized

#: A value and the shape that it is given, None for its own, or an int32 constant.
_LowOperand: TypeAlias = "tuple[ir.Value, Sequence[int] | None] | npt.NDArray[np.int32]"


@dataclass(frozen=True)
class LowerRanks:
    """Computes with tensors of at most some rank, between reshapes::

        %y = tfl.tile(%x : tensor<1x16x2x1x8xf32>, [1, 1, 1, 2, 1]) : tensor<1x16x2x2x8xf32>
        -->  %0 = tfl.reshape(%x, [32, 8])
             %1 = tfl.tile(%0, [1, 2]) : tensor<32x16xf32>
             %y = tfl.reshape(%1, [1, 16, 2, 2, 8])

    Axes that an op treats alike, and that are neighbors in memory before it and behind it, are one axis for it. What
    cannot be computed at the rank stays as it is. Between two ops, only one reshape is left (:func:`join_reshapes`),
    so that no tensor of the higher rank is.
    """

    rank: int
    name = "lower-ranks"

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, dict.fromkeys(_FORMS, self._lowered))

    def _lowered(self, op: ir.OpView) -> list[ir.Value] | None:
        if max(map(_rank, [*op.operands, *op.results]), default=0) <= self.rank:
            return None
        form = _FORMS[op.name](op) if is_fixed(*op.results, *_tensors(op)) else None
        return _of_form(op, form) if form is not None and form.rank <= self.rank else None


def _tensors(op: ir.OpView) -> list[ir.Value]:
    return [value for value in op.operands if isinstance(value.type, ir.ShapedType)]


def _rank(value: ir.Value) -> int:
    return value.type.rank if isinstance(value.type, ir.RankedTensorType) else 0


def _of_form(op: ir.OpView, form: _LowForm) -> list[ir.Value]:
    values = [_operand(operand) for operand in form.operands]
    kinds = [resized(value.type, shape) for value, shape in zip(op.results, form.results, strict=True)]
    attributes = attributes_of(op) if form.attributes is None else dict(form.attributes)
    low = create_op(form.name or op.name, kinds, values, attributes).results
    shapes = [ir.RankedTensorType(value.type).shape for value in op.results]
    return [reshaped(result, shape) for result, shape in zip(low, shapes, strict=True)]


def _operand(given: _LowOperand) -> ir.Value:
    if isinstance(given, np.ndarray):
        return pseudo_constant(ir.DenseElementsAttr.get(given))
    value, shape = given
    return value if shape is None else reshaped(value, shape)


def _runs(kinds: Sequence[Hashable | None]) -> list[list[int]]:
    """Returns the runs of axes of one kind, from the kind of each axis; those of the kind None join their neighbors."""
    last: Hashable | None = None
    heads: list[bool] = []
    for kind in kinds:
        heads.append(kind is not None and last is not None and kind != last)
        last = last if kind is None else kind
    return _headed(heads)


def _headed(heads: Sequence[bool]) -> list[list[int]]:
    """Returns groups of axes: one for the first axis and for each that is a head, with the others that follow it."""
    groups: list[list[int]] = []
    for axis, head in enumerate(heads):
        if head or not groups:
            groups.append([])
        groups[-1].append(axis)
    return groups


def _merged(shape: Sequence[int], groups: Iterable[Sequence[int]]) -> list[int]:
    return [math.prod(shape[axis] for axis in group) for group in groups]


def _around(shape: Sequence[int], axis: int) -> tuple[int, int]:
    """Returns how many elements the axes before and behind an axis have."""
    return math.prod(shape[:axis]), math.prod(shape[axis + 1 :])


@dataclass(frozen=True)
class _LowForm:
    """An op on tensors of fewer axes, whose results have the same elements; name and attributes if they are others."""

    operands: Sequence[_LowOperand]
    results: Sequence[Sequence[int]]
    attributes: Mapping[str, ir.Attribute] | None = None
    name: str = ""

    @property
    def rank(self) -> int:
        """The highest rank of what it computes with."""
        shapes = [operand[1] for operand in self.operands if not isinstance(operand, np.ndarray)]
        return max(len(shape) for shape in [*shapes, *self.results] if shape is not None)


def _elementwise(op: ir.OpView) -> _LowForm:
    """Axes are alike if the same operands are broadcast along them."""
    (result,) = map(_shape, op.results)
    shapes = [_padded(value, len(result)) for value in op.operands]
    groups = _runs([_broadcast(axis, result, shapes) for axis in range(len(result))])
    operands: list[_LowOperand] = [
        (value, _merged(shape, groups) if _shape(value) else None)  # scalars stay scalars
        for value, shape in zip(op.operands, shapes, strict=True)
    ]
    return _LowForm(operands, [_merged(result, groups)])


def _select(op: ir.OpView) -> _LowForm | None:
    """The older SELECT broadcasts a vector of conditions along the first axis."""
    whole = all(_shape(value) == _shape(op.results[0]) for value in op.operands)
    return _elementwise(op) if whole else None


def _broadcast(axis: int, result: Sequence[int], shapes: Iterable[Sequence[int]]) -> tuple[bool, ...] | None:
    return None if result[axis] == 1 else tuple(shape[axis] == 1 for shape in shapes)


def _batch_matmul(op: ir.OpView) -> _LowForm:
    """The axes of the batch are as those of an elementwise op."""
    (result,) = map(_shape, op.results)
    rank = len(result)
    shapes = [_padded(value, rank) for value in op.operands]
    kinds = [_broadcast(axis, result, shapes) for axis in range(rank - 2)]
    groups = [*_runs(kinds), [rank - 2], [rank - 1]]
    operands = [(value, _merged(shape, groups)) for value, shape in zip(op.operands, shapes, strict=True)]
    return _LowForm(operands, [_merged(result, groups)])


def _last_axis(op: ir.OpView) -> _LowForm:
    """All axes but the last are alike."""
    (result,) = map(_shape, op.results)
    rows = [math.prod(result[:-1]), result[-1]]
    return _LowForm([(op.operands[0], rows)], [rows])


def _fully_connected(op: ir.OpView) -> _LowForm:
    value, weights, *rest = op.operands
    units, width = _shape(weights)
    rows = math.prod(_shape(value)) // width
    operands: list[_LowOperand] = [(value, [rows, width]), *((operand, None) for operand in (weights, *rest))]
    return _LowForm(operands, [[rows, units]])


def _transpose(op: ir.OpView) -> _LowForm | None:
    """Axes that follow each other before and behind are one; those of size 1 are none."""
    shape, order = _shape(op.operands[0]), integers(op.operands[1])
    if order is None:
        return None
    kept = [axis for axis in range(len(shape)) if shape[axis] != 1]
    places = [kept.index(axis) for axis in order if axis in kept]
    follows = [place > 0 and places[place] == places[place - 1] + 1 for place in range(len(places))]
    groups = [[kept[places[place]] for place in group] for group in _headed([not follow for follow in follows])]
    before = sorted(groups)
    low = [before.index(group) for group in groups]
    if len(groups) < 2:  # nothing moves
        size = math.prod(shape)
        return _LowForm([(op.operands[0], [1, size]), _vector([0, 1])], [[1, size]])
    return _LowForm([(op.operands[0], _merged(shape, before)), _vector(low)], [_merged(shape, groups)])


def _reduce(op: ir.OpView) -> _LowForm | None:
    """Neighbors are alike if both are reduced or both are kept."""
    shape, axes = _shape(op.operands[0]), integers(op.operands[1])
    if axes is None:
        return None
    reduced = {axis % len(shape) for axis in axes}
    groups = _runs([None if shape[axis] == 1 else axis in reduced for axis in range(len(shape))])
    low = [place for place, group in enumerate(groups) if any(shape[axis] > 1 and axis in reduced for axis in group)]
    if not low:
        return None
    result = [size for place, size in enumerate(_merged(shape, groups)) if place not in low]
    attributes = attributes_of(op) | {"keep_dims": ir.BoolAttr.get(False)}
    return _LowForm([(op.operands[0], _merged(shape, groups)), _vector(low)], [result], attributes)


def _tile(op: ir.OpView) -> _LowForm | None:
    """Merges each repeated axis with the axes after it that are not repeated."""
    shape, counts = _shape(op.operands[0]), integers(op.operands[1])
    return None if counts is None else _repeated(op, shape, counts)


def _broadcast_to(op: ir.OpView) -> _LowForm:
    (result,) = map(_shape, op.results)
    shape = _padded(op.operands[0], len(result))
    return _repeated(op, shape, [size // own for size, own in zip(result, shape, strict=True)])


def _repeated(op: ir.OpView, shape: Sequence[int], counts: Sequence[int]) -> _LowForm:
    groups = _headed([count != 1 for count in counts])
    low, repeats = _merged(shape, groups), _merged(counts, groups)
    result = [size * count for size, count in zip(low, repeats, strict=True)]
    return _LowForm([(op.operands[0], low), _vector(repeats)], [result], {}, "tfl.tile")


def _slice(op: ir.OpView) -> _LowForm | None:
    """Merges each axis with the axes after it that are taken whole."""
    shape, begins = _shape(op.operands[0]), integers(op.operands[1])
    (result,) = map(_shape, op.results)
    if begins is None:
        return None
    groups = _headed([size != taken for size, taken in zip(shape, result, strict=True)])
    low = [begins[group[0]] * math.prod(shape[axis] for axis in group[1:]) for group in groups]
    counts = _merged(result, groups)
    return _LowForm([(op.operands[0], _merged(shape, groups)), _vector(low), _vector(counts)], [counts])


def _pad(op: ir.OpView) -> _LowForm | None:
    """Merges each axis with the axes after it that are not padded."""
    shape, paddings = _shape(op.operands[0]), integers(op.operands[1])
    if paddings is None:
        return None
    pairs = [(paddings[2 * axis], paddings[2 * axis + 1]) for axis in range(len(shape))]
    groups = _headed([any(pair) for pair in pairs])
    behind = [math.prod(shape[axis] for axis in group[1:]) for group in groups]
    low = [[number * size for number in pairs[group[0]]] for group, size in zip(groups, behind, strict=True)]
    rest: list[_LowOperand] = [(value, None) for value in [*op.operands][2:]]
    sizes = _merged(shape, groups)
    result = [size + sum(pair) for size, pair in zip(sizes, low, strict=True)]
    return _LowForm([(op.operands[0], sizes), np.array(low, np.int32), *rest], [result])


def _concatenation(op: ir.OpView) -> _LowForm:
    """As a concatenation of the columns of matrices."""
    return _joined(op, {"axis": _int32(1)})


def _pack(op: ir.OpView) -> _LowForm:
    """As a CONCATENATION: what is packed is one of its columns."""
    attributes = {"axis": _int32(1), "fused_activation_function": ir.StringAttr.get("NONE")}
    return replace(_joined(op, {}), attributes=attributes, name="tfl.concatenation")


def _joined(op: ir.OpView, attributes: Mapping[str, ir.Attribute]) -> _LowForm:
    (result,) = map(_shape, op.results)
    before, _ = _around(result, _axis(op) % len(result))
    operands = [(value, [before, math.prod(_shape(value)) // before]) for value in op.operands]
    return _LowForm(operands, [[before, math.prod(result) // before]], {**attributes_of(op), **attributes})


def _split(op: ir.OpView) -> _LowForm | None:
    """As a split of the columns of a matrix."""
    dims = integers(op.operands[0])
    return None if dims is None else _parted(op, op.operands[1], dims[0], attributes_of(op))


def _unpack(op: ir.OpView) -> _LowForm:
    return _parted(op, op.operands[0], _axis(op), {"num_splits": _int32(len(op.results))})


def _parted(op: ir.OpView, value: ir.Value, axis: int, attributes: Mapping[str, ir.Attribute]) -> _LowForm:
    shape = _shape(value)
    before, _ = _around(shape, axis % len(shape))
    columns = math.prod(shape) // before
    results = [[before, columns // len(op.results)]] * len(op.results)
    return _LowForm([np.array(1, np.int32), (value, [before, columns])], results, attributes, "tfl.split")


def _gather(op: ir.OpView) -> _LowForm | None:
    """From a tensor with one axis before what is gathered, and one behind it."""
    table, ids = op.operands
    shape = _shape(table)
    axis = _axis(op) % len(shape)
    before, behind = _around(shape, axis)
    if ir.IntegerAttr(op.attributes["batch_dims"]).value or len(_shape(ids)) != 1:
        return None
    result = [before, *_shape(ids), behind]
    return _LowForm(
        [(table, [before, shape[axis], behind]), (ids, None)], [result], attributes_of(op) | {"axis": _int32(1)}
    )


def _cumsum(op: ir.OpView) -> _LowForm | None:
    """Along an axis with one before it and one behind it."""
    shape, axes = _shape(op.operands[0]), integers(op.operands[1])
    if axes is None:
        return None
    axis = axes[0] % len(shape)
    before, behind = _around(shape, axis)
    low = [before, shape[axis], behind]
    return _LowForm([(op.operands[0], low), np.array(1, np.int32)], [low])


def _shape(value: ir.Value) -> list[int]:
    return ir.RankedTensorType(value.type).shape


def _padded(value: ir.Value, rank: int) -> list[int]:
    shape = _shape(value)
    return [*[1] * (rank - len(shape)), *shape]


def _axis(op: ir.OpView) -> int:
    return ir.IntegerAttr(op.attributes["axis"]).value


def _int32(number: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), number)


def _vector(numbers: Sequence[int]) -> npt.NDArray[np.int32]:
    return np.array(numbers, np.int32)


_ELEMENTWISE = (
    *("abs", "add", "atan2", "cast", "ceil", "cos", "div", "elu", "equal", "exp", "floor", "floor_div", "floor_mod"),
    *("gelu", "greater", "greater_equal", "hard_swish", "leaky_relu", "less", "less_equal", "log", "logical_and"),
    *("logical_not", "logical_or", "logistic", "maximum", "minimum", "mul", "neg", "not_equal", "pow", "relu", "relu6"),
    *("relu_0_to_1", "relu_n1_to_1", "round", "rsqrt", "select_v2", "sign", "sin", "sqrt", "square"),
    *("squared_difference", "sub", "tanh"),
)
_REDUCE = ("mean", "reduce_all", "reduce_any", "reduce_max", "reduce_min", "reduce_prod", "sum")

#: The rules by the names of ops; None: no such form. All sizes are known.
_FORMS: Mapping[str, Callable[[ir.OpView], _LowForm | None]] = {
    **{f"tfl.{name}": _elementwise for name in _ELEMENTWISE},
    **{f"tfl.{name}": _reduce for name in _REDUCE},
    "tfl.batch_matmul": _batch_matmul,
    "tfl.broadcast_to": _broadcast_to,
    "tfl.concatenation": _concatenation,
    "tfl.cumsum": _cumsum,
    "tfl.fully_connected": _fully_connected,
    "tfl.gather": _gather,
    "tfl.log_softmax": _last_axis,
    "tfl.pack": _pack,
    "tfl.pad": _pad,
    "tfl.padv2": _pad,
    "tfl.select": _select,
    "tfl.slice": _slice,
    "tfl.softmax": _last_axis,
    "tfl.split": _split,
    "tfl.tile": _tile,
    "tfl.transpose": _transpose,
    "tfl.unpack": _unpack,
}
