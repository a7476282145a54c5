"""How the sizes of ops' results follow from those of their operands."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from litefuse.ir.integer_constants import constant
from litefuse.ir.mlir import ir
from litefuse.tensor_lists.sizes import Circular, NumberRule, Rule, Size, Sizes, arithmetic, broadcast

__all__ = ["NUMBERS", "RULES"]


def _rank(value: ir.Value) -> int | None:
    kind = ir.ShapedType(value.type)
    return kind.rank if kind.has_rank else None


def _integer(op: ir.OpView, name: str) -> int:
    """An attribute whose default is 0: axes to stack and unstack along, masks of slices, batch dimensions."""
    return ir.IntegerAttr(op.attributes[name]).value if name in op.attributes else 0


def _flag(op: ir.OpView, name: str) -> bool:
    return name in op.attributes and ir.BoolAttr(op.attributes[name]).value


def _axes(value: ir.Value, rank: int) -> list[int] | None:
    """Constant axes, counted from the front."""
    axes = constant(value)
    if axes is None:
        return None
    return [axis % rank for axis in ([axes] if isinstance(axes, int) else axes)]


def _as_operand(position: int) -> Rule:
    def rule(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
        return sizes.size(op.operands[position], axis) if _rank(op.operands[position]) is not None else None

    return rule


def _broadcast(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Size | None:
    rank = _rank(op.results[result])
    found: list[Size] = []
    for operand in op.operands:
        own = _rank(operand)
        if own is None or rank is None:
            return None
        if axis - (rank - own) >= 0:
            with suppress(Circular):  # the others decide it then
                found.append(sizes.size(operand, axis - (rank - own)))
    if not found:
        raise Circular("it depends on itself")
    return broadcast(found)


def _mat_mul(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    a, b = op.operands
    if _rank(a) != 2 or _rank(b) != 2:
        return None
    if axis == 0:
        return sizes.size(a, int(_flag(op, "transpose_a")))
    return sizes.size(b, 1 - int(_flag(op, "transpose_b")))


def _batch_mat_mul(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Size | None:
    a, b = op.operands
    rank, first, second = _rank(op.results[result]), _rank(a), _rank(b)
    if rank is None or first is None or second is None:
        return None
    if axis == rank - 2:
        return sizes.size(a, first - (1 if _flag(op, "adj_x") else 2))
    if axis == rank - 1:
        return sizes.size(b, second - (2 if _flag(op, "adj_y") else 1))
    return broadcast(
        [sizes.size(value, axis - (rank - own)) for value, own in ((a, first), (b, second)) if axis - (rank - own) >= 0]
    )


def _convolution(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    """Of [batch, rows, columns, channels]; a channel count is part of the type."""
    value, kernel = op.operands[0], op.operands[1]
    if _rank(value) != 4 or "NHWC" not in str(op.attributes["data_format"]):
        return None
    size = sizes.size(value, axis)
    if axis in (0, 3):
        return size if axis == 0 else None
    stride = ir.IntegerAttr(ir.ArrayAttr(op.attributes["strides"])[axis]).value
    padding = ir.StringAttr(op.attributes["padding"]).value
    if padding == "SAME":
        return arithmetic("FloorDiv", arithmetic("AddV2", size, stride - 1), stride)
    width = sizes.size(kernel, axis - 1)
    if padding != "VALID" or not isinstance(width, int):
        return None
    dilation = ir.IntegerAttr(ir.ArrayAttr(op.attributes["dilations"])[axis]).value
    covered = (width - 1) * dilation + 1
    return arithmetic("FloorDiv", arithmetic("AddV2", size, stride - covered), stride)


def _transpose(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    permutation = constant(op.operands[1])
    return sizes.size(op.operands[0], permutation[axis]) if isinstance(permutation, list) else None


def _expand_dims(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Size | None:
    rank = _rank(op.results[result])
    axes = None if rank is None else _axes(op.operands[1], rank)
    if axes is None:
        return None
    (added,) = axes
    return 1 if axis == added else sizes.size(op.operands[0], axis - (axis > added))


def _squeeze(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    rank = _rank(op.operands[0])
    removed = [ir.IntegerAttr(each).value for each in ir.ArrayAttr(op.attributes["squeeze_dims"])]
    if rank is None or not removed:
        return None
    removed = [each % rank for each in removed]
    kept = [each for each in range(rank) if each not in removed]
    return sizes.size(op.operands[0], kept[axis])


def _pack(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Size | None:
    rank = _rank(op.results[result])
    if rank is None:
        return None
    added = _integer(op, "axis") % rank
    return len(op.operands) if axis == added else sizes.size(op.operands[0], axis - (axis > added))


def _unpack(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    rank = _rank(op.operands[0])
    if rank is None:
        return None
    removed = _integer(op, "axis") % rank
    return sizes.size(op.operands[0], axis + (axis >= removed))


def _concat(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Size | None:
    rank = _rank(op.results[result])
    axes = None if rank is None else _axes(op.operands[len(op.operands) - 1], rank)
    parts = list(op.operands)[:-1]
    if axes is None or any(_rank(part) is None for part in parts):
        return None
    found = [sizes.size(part, axis) for part in parts]
    if axis != axes[0]:
        return next((size for size in found if isinstance(size, int)), found[0])
    total: Size = 0
    for size in found:
        total = arithmetic("AddV2", total, size)
    return total


def _split(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Size | None:
    position = 0 if op.name == "tf.Split" else 2
    value = op.operands[1 if op.name == "tf.Split" else 0]
    rank = _rank(value)
    axes = None if rank is None else _axes(op.operands[position], rank)
    if axes is None:
        return None
    if axis != axes[0]:
        return sizes.size(value, axis)
    if op.name == "tf.SplitV":
        given = constant(op.operands[1])
        return given[result] if isinstance(given, list) and given[result] >= 0 else None
    return arithmetic("FloorDiv", sizes.size(value, axis), len(op.results))


def _strided_slice(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    """Of new dimensions, and of those that are taken whole, or are not mentioned."""
    value, begin, end, strides = op.operands
    rank, count = _rank(value), sizes.size(begin, 0)
    if rank is None or not isinstance(count, int):
        return None
    source, at = _places(op, rank, count)[axis]
    if source is None:
        return 1
    size = sizes.size(value, source)
    if at is None:
        return size
    whole = _integer(op, "begin_mask") >> at & 1 or sizes.number(begin, at) == 0
    if not whole or sizes.number(strides, at) != 1:
        return None
    return size if _integer(op, "end_mask") >> at & 1 or sizes.number(end, at) == size else None


def _places(op: ir.OpView, rank: int, count: int) -> list[tuple[int | None, int | None]]:
    """For each dimension of a slice the operand's, None for a new one, and where begin and end say what is taken."""
    ellipsis, new, shrink = (_integer(op, f"{mask}_mask") for mask in ("ellipsis", "new_axis", "shrink_axis"))
    mentioned = sum(not (ellipsis | new) >> at & 1 for at in range(count))
    places: list[tuple[int | None, int | None]] = []
    source = 0
    for at in range(count):
        if ellipsis >> at & 1:
            places += [(source + each, None) for each in range(rank - mentioned)]
            source += rank - mentioned
        elif new >> at & 1:
            places.append((None, None))
        else:
            places += [] if shrink >> at & 1 else [(source, at)]
            source += 1
    return [*places, *((each, None) for each in range(source, rank))]


def _slice(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    given = sizes.number(op.operands[2], axis)
    return None if isinstance(given, int) and given < 0 else given


def _gather(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    value, indices = op.operands[:2]
    rank, index_rank = _rank(value), _rank(indices)
    axes = None if rank is None else _axes(op.operands[2], rank)
    if axes is None or index_rank is None or _integer(op, "batch_dims"):
        return None
    (along,) = axes
    if axis < along:
        return sizes.size(value, axis)
    if axis < along + index_rank:
        return sizes.size(indices, axis - along)
    return sizes.size(value, axis - index_rank + 1)


def _reduction(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    rank = _rank(op.operands[0])
    axes = None if rank is None else _axes(op.operands[1], rank)
    if rank is None or axes is None:
        return None
    if _flag(op, "keep_dims"):
        return 1 if axis in axes else sizes.size(op.operands[0], axis)
    return sizes.size(op.operands[0], [each for each in range(rank) if each not in axes][axis])


def _one_hot(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Size | None:
    rank = _rank(op.results[result])
    if rank is None:
        return None
    added = _integer(op, "axis") % rank
    if axis == added:
        return sizes.number(op.operands[1], None)
    return sizes.size(op.operands[0], axis - (axis > added))


def _tile(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    return arithmetic("Mul", sizes.size(op.operands[0], axis), sizes.number(op.operands[1], axis))


def _pad(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    amounts = op.operands[1].owner
    if isinstance(amounts, ir.Block) or amounts.name != "tf.Const":
        return None
    value = amounts.attributes["value"]
    if not isinstance(value, ir.DenseElementsAttr):
        return None
    before, after = np.array(value).reshape(-1, 2)[axis].tolist()
    return arithmetic("AddV2", sizes.size(op.operands[0], axis), before + after)


def _einsum(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
    equation = ir.StringAttr(op.attributes["equation"]).value.replace(" ", "")
    if "." in equation or "->" not in equation:
        return None
    terms, output = equation.split("->")
    label = output[axis]
    found = [
        sizes.size(operand, term.index(label))
        for operand, term in zip(op.operands, terms.split(","), strict=True)
        if label in term and _rank(operand) == len(term)
    ]
    return broadcast(found) if found else None


def _given(position: int) -> Rule:
    """The shape is an operand."""

    def rule(sizes: Sizes, op: ir.OpView, _result: int, axis: int) -> Size | None:
        return sizes.number(op.operands[position], axis)

    return rule


def _reshape(sizes: Sizes, op: ir.OpView, result: int, axis: int) -> Size | None:
    given = sizes.number(op.operands[1], axis)
    if given != -1:
        return given
    rank, source = _rank(op.results[result]), _rank(op.operands[0])
    if rank is None or source is None:
        return None
    numerator = [sizes.size(op.operands[0], each) for each in range(source)]
    denominator = [sizes.number(op.operands[1], each) for each in range(rank) if each != axis]
    for size in list(denominator):
        if size in numerator:
            numerator.remove(size)
            denominator.remove(size)
    return arithmetic("FloorDiv", _product(numerator), _product(denominator))


def _product(factors: list[Size]) -> Size:
    total: Size = 1
    for size in sorted(factors, key=lambda each: not isinstance(each, int)):
        total = arithmetic("Mul", total, size)
    return total


_SAME = (
    "Abs Acos Acosh Asin Asinh Atan Atanh BiasAdd Cast Ceil CheckNumerics Cos Cosh Cumsum Elu EnsureShape Erf Exp "
    "Expm1 Floor FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3 Identity Inv Invert IsFinite IsInf IsNan LeakyRelu "
    "Log Log1p LogSoftmax LogicalNot Neg OnesLike PreventGradient Reciprocal Relu Relu6 ReverseV2 Rint Roll Round "
    "Rsqrt Selu Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Square StopGradient Tan Tanh ZerosLike"
)
_BROADCASTING = (
    "Add AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Div DivNoNan Equal FloorDiv FloorMod Greater GreaterEqual Less "
    "LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Mul MulNoNan NotEqual Pow RealDiv SelectV2 SquaredDifference "
    "Sub TruncateDiv Xdivy Xlogy"
)
_REDUCTIONS = "All Any ArgMax ArgMin Max Mean Min Prod Sum"

RULES: dict[str, Rule] = {
    **{f"tf.{name}": _as_operand(0) for name in _SAME.split()},
    **{f"tf.{name}": _broadcast for name in _BROADCASTING.split()},
    **{f"tf.{name}": _reduction for name in _REDUCTIONS.split()},
    "tf.AddN": _as_operand(0),
    "tf.BatchMatMul": _batch_mat_mul,
    "tf.BatchMatMulV2": _batch_mat_mul,
    "tf.BroadcastTo": _given(1),
    "tf.ConcatV2": _concat,
    "tf.Conv2D": _convolution,
    "tf.DepthwiseConv2dNative": _convolution,
    "tf.Einsum": _einsum,
    "tf.ExpandDims": _expand_dims,
    "tf.Fill": _given(0),
    "tf.GatherV2": _gather,
    "tf.MatMul": _mat_mul,
    "tf.OneHot": _one_hot,
    "tf.MirrorPad": _pad,
    "tf.Pack": _pack,
    "tf.Pad": _pad,
    "tf.PadV2": _pad,
    "tf.Reshape": _reshape,
    "tf.Select": _as_operand(1),
    "tf.Slice": _slice,
    "tf.Split": _split,
    "tf.SplitV": _split,
    "tf.Squeeze": _squeeze,
    "tf.StridedSlice": _strided_slice,
    "tf.Tile": _tile,
    "tf.Transpose": _transpose,
    "tf.Unpack": _unpack,
}


# Numbers that shapes are computed of.


def _constant_number(_sizes: Sizes, op: ir.OpView, index: int | None) -> Size | None:
    value = constant(op.results[0])
    if isinstance(value, list):
        value = value[index or 0] if len(value) > (index or 0) else None
    return value if isinstance(value, int) else None  # not a float


def _same_number(sizes: Sizes, op: ir.OpView, index: int | None) -> Size | None:
    return sizes.number(op.operands[0], index)


def _shape_number(sizes: Sizes, op: ir.OpView, index: int | None) -> Size | None:
    if _rank(op.operands[0]) is None or index is None:
        return None
    return sizes.size(op.operands[0], index)


def _packed_number(sizes: Sizes, op: ir.OpView, index: int | None) -> Size | None:
    if _rank(op.results[0]) != 1 or index is None or index >= len(op.operands):
        return None
    return sizes.number(op.operands[index], None)


def _concatenated_number(sizes: Sizes, op: ir.OpView, index: int | None) -> Size | None:
    for part in list(op.operands)[:-1]:
        kind = ir.ShapedType(part.type)
        if not kind.has_rank or kind.rank != 1 or kind.is_dynamic_dim(0) or index is None:
            return None
        if index < kind.shape[0]:
            return sizes.number(part, index)
        index -= kind.shape[0]
    return None


def _sliced_number(sizes: Sizes, op: ir.OpView, index: int | None) -> Size | None:
    value, begin, _, strides = op.operands
    kind = ir.ShapedType(value.type)
    if not kind.has_rank or kind.rank != 1 or kind.is_dynamic_dim(0):
        return None
    if _integer(op, "ellipsis_mask") or _integer(op, "new_axis_mask"):
        return None
    first, step = constant(begin), constant(strides)
    if not isinstance(first, list) or step != [1]:
        return None
    start = 0 if _integer(op, "begin_mask") and index is not None else first[0]
    start += kind.shape[0] if start < 0 else 0
    position = start + (index or 0)
    return sizes.number(value, position) if 0 <= position < kind.shape[0] else None


def _arithmetic_number(name: str) -> NumberRule:
    def rule(sizes: Sizes, op: ir.OpView, index: int | None) -> Size | None:
        found: list[Size] = []
        for operand in op.operands:
            rank = _rank(operand)
            if rank is None or rank > 1:
                return None
            if rank == 1 and sizes.size(operand, 0) == 1:
                index = 0
            found.append(sizes.number(operand, index if rank == 1 else None))
        return arithmetic(name, found[0], found[1])

    return rule


def _gathered_number(sizes: Sizes, op: ir.OpView, index: int | None) -> Size | None:
    chosen = sizes.number(op.operands[1], index)
    return sizes.number(op.operands[0], chosen) if isinstance(chosen, int) and _rank(op.operands[0]) == 1 else None


def _product_number(sizes: Sizes, op: ir.OpView, _index: int | None) -> Size | None:
    vector = op.operands[0]
    kind = ir.ShapedType(vector.type)
    if not kind.has_rank or kind.rank != 1 or kind.is_dynamic_dim(0) or _rank(op.results[0]) != 0:
        return None
    return _product([sizes.number(vector, each) for each in range(kind.shape[0])])


NUMBERS: dict[str, NumberRule] = {
    "tf.Add": _arithmetic_number("AddV2"),
    "tf.AddV2": _arithmetic_number("AddV2"),
    "tf.Cast": _same_number,
    "tf.ConcatV2": _concatenated_number,
    "tf.Const": _constant_number,
    "tf.FloorDiv": _arithmetic_number("FloorDiv"),
    "tf.GatherV2": _gathered_number,
    "tf.Identity": _same_number,
    "tf.Mul": _arithmetic_number("Mul"),
    "tf.Pack": _packed_number,
    "tf.Prod": _product_number,
    "tf.Shape": _shape_number,
    "tf.StridedSlice": _sliced_number,
    "tf.Sub": _arithmetic_number("Sub"),
}
