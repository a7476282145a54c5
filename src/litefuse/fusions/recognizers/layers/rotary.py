"""Finds rotary position embeddings: pairs of features, rotated by angles (Su et al., RoFormer, 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from litefuse.fusions.recognizers.layers.algebra import FORWARDED
from litefuse.fusions.recognizers.layers.layer import Graph, NamedLayer, NearMiss, where
from litefuse.fusions.recognizers.matching import part_of
from litefuse.ir.attributes import attribute_value
from litefuse.ir.builder import Builder
from litefuse.ir.constants import integer_constant
from litefuse.ir.defining_ops import constant_number, source
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import tensor_type_of

__all__ = ["RotaryEmbeddings"]

ROTARY = "rotary embedding"
_NAME = "litefuse.rotary_embedding"

Pairs: TypeAlias = Literal["halves", "neighbors"]
"""Which features are a pair: one of each half, or two that are side by side."""

_ADDITIONS = frozenset({"tf.Add", "tf.AddV2"})


class _Half(NamedTuple):
    """The first or the second feature of each pair, of x."""

    x: ir.Value
    number: int
    pairs: Pairs


class RotaryEmbeddings:
    """Finds, for the features a and b of each pair of x, ``[a * cos - b * sin, b * cos + a * sin]``.

    It may be written so, or as ``x * cos + [-b, a] * sin``, with angles for all features.
    """

    def find(self, graph: Graph) -> Iterator[NamedLayer | NearMiss]:
        for op in graph.named(*_ADDITIONS):
            layer = _rotated(op)
            if layer is not None:
                yield layer
        for op in graph.named("tf.ConcatV2", "tf.Pack"):
            layer = _joined(op)
            if layer is not None:
                yield layer


def _rotated(op: ir.OpView) -> NamedLayer | NearMiss | None:
    """Returns ``x * cos + [-b, a] * sin``."""
    products = [factors for value in op.operands if (factors := _factors(value)) is not None]
    if len(products) != 2:
        return None
    for first, second in (products, products[::-1]):
        for turned, sin in (second, second[::-1]):
            halves = _turned(turned)
            if halves is None:
                continue
            x, pairs = halves
            for whole, cos in (first, first[::-1]):
                if _plain(whole) == _plain(x):
                    return _named(whole, cos, sin, op.results[0], pairs)
            return NearMiss(ROTARY, where(op.results[0]), "what is turned is not what the other product is of", 3)
    return None


def _joined(op: ir.OpView) -> NamedLayer | NearMiss | None:
    """Returns ``[a * cos - b * sin, b * cos + a * sin]``."""
    joined = _parts(op)
    if joined is None:
        return None
    (first, second), pairs, result = joined
    minus, plus = first.owner, second.owner
    if isinstance(minus, ir.Block) or isinstance(plus, ir.Block):
        return None
    if minus.name != "tf.Sub" or plus.name not in _ADDITIONS:
        return None
    products = [_factors(value) for value in (*minus.operands, *plus.operands)]
    if None in products:
        return None
    a_cos, b_sin, one, other = (product for product in products if product is not None)
    for a, cos in (a_cos, a_cos[::-1]):
        for b, sin in (b_sin, b_sin[::-1]):
            first_half, second_half = _half(a), _half(b)
            if first_half is None or second_half != first_half._replace(number=1):
                continue
            x, number, how = first_half
            if number != 0 or how != pairs:
                continue
            for b_cos, a_sin in ((one, other), (other, one)):
                if _is_product(b_cos, b, cos) and _is_product(a_sin, a, sin):
                    return _named(x, cos, sin, result, pairs)
    return None


def _named(x: ir.Value, cos: ir.Value, sin: ir.Value, result: ir.Value, pairs: Pairs) -> NamedLayer | NearMiss:
    angles = [angle.owner.name for angle in map(_plain, (cos, sin)) if not isinstance(angle.owner, ir.Block)]
    if ("tf.Cos" in angles or "tf.Sin" in angles) and angles != ["tf.Cos", "tf.Sin"]:
        return NearMiss(ROTARY, where(result), "it multiplies with other functions than cosine and sine", 3)
    half = tensor_type_of(cos).sizes[-1:] != tensor_type_of(x).sizes[-1:]
    attributes = {"pairs": pairs, "angles": "of pairs" if half else "of features"}
    return NamedLayer(_NAME, ROTARY, [x, cos, sin], [result], attributes, _rotary)


def _factors(value: ir.Value) -> tuple[ir.Value, ir.Value] | None:
    op = _plain(value).owner
    if isinstance(op, ir.Block) or op.name != "tf.Mul":
        return None
    return op.operands[0], op.operands[1]


def _is_product(factors: tuple[ir.Value, ir.Value], one: ir.Value, other: ir.Value) -> bool:
    """Whether factors are two values, each a slice or a copy of its own perhaps."""

    def alike(a: ir.Value, b: ir.Value) -> bool:
        return _plain(a) == _plain(b) or ((half := _half(a)) is not None and half == _half(b))

    a, b = factors
    return (alike(a, one) and alike(b, other)) or (alike(a, other) and alike(b, one))


def _turned(value: ir.Value) -> tuple[ir.Value, Pairs] | None:
    """Returns x and its pairs, if a value is ``[-b, a]`` of it."""
    op = _plain(value).owner
    reshaped = not isinstance(op, ir.Block) and op.name == "tf.Reshape"
    joined = None if isinstance(op, ir.Block) else _parts(_plain(op.operands[0]).owner if reshaped else op)
    if joined is None:
        return None
    (first, second), pairs, _ = joined
    negated = _plain(first).owner
    if isinstance(negated, ir.Block):
        return None
    if negated.name == "tf.Neg" or (negated.name == "tf.Mul" and _is_minus_one(negated.operands[1])):
        inner = negated.operands[0]
    else:
        return None
    b, a = _half(inner), _half(second)
    if a is None or b is None or a.x != b.x or (a.number, b.number) != (0, 1) or {a.pairs, b.pairs} != {pairs}:
        return None
    return a.x, pairs


def _is_minus_one(value: ir.Value) -> bool:
    return constant_number(value) == -1


def _parts(op: ir.Operation | ir.OpView | ir.Block) -> tuple[tuple[ir.Value, ir.Value], Pairs, ir.Value] | None:
    """Returns the two values that an op joins, how, and the whole: joined halves, or pairs of neighbors."""
    if isinstance(op, ir.Block) or not op.results:
        return None
    result = op.results[0]
    kind = tensor_type_of(result)
    if kind.rank is None:
        return None
    if op.name == "tf.ConcatV2" and len(op.operands) == 3:
        axis = integer_constant(source(op.operands[2]))
        if not isinstance(axis, int) or tensor_type_of(op.operands[0]).shape != tensor_type_of(op.operands[1]).shape:
            return None
        axis %= kind.rank
        whole = _merged(result)
        if kind.sizes[axis] == 2 and axis >= kind.rank - 2 and whole is not None:
            stacked = [_squeezed(operand, axis) for operand in list(op.operands)[:2]]
            return (stacked[0], stacked[1]), "neighbors" if axis == kind.rank - 1 else "halves", whole
        return ((op.operands[0], op.operands[1]), "halves", result) if axis == kind.rank - 1 else None
    if op.name == "tf.Pack" and len(op.operands) == 2:
        axis = attribute_value(op.attributes["axis"]) % kind.rank
        whole = _merged(result)
        if whole is None or axis < kind.rank - 2:
            return None
        return (op.operands[0], op.operands[1]), "neighbors" if axis == kind.rank - 1 else "halves", whole
    return None


def _squeezed(value: ir.Value, axis: int) -> ir.Value:
    """Returns what an axis of size 1 was added to."""
    op = value.owner
    if isinstance(op, ir.Block) or op.name not in {"tf.ExpandDims", "tf.Reshape"}:
        return value
    sizes = tensor_type_of(value).sizes
    return op.operands[0] if tensor_type_of(op.operands[0]).sizes == (*sizes[:axis], *sizes[axis + 1 :]) else value


def _merged(value: ir.Value) -> ir.Value | None:
    """Returns a value whose last two axes have become one, if that is its use."""
    sizes = tensor_type_of(value).sizes
    if None in sizes[-2:]:
        return None
    for use in value.uses:
        op = use.owner
        if op.name == "tf.Reshape" and tensor_type_of(op.results[0]).sizes == (*sizes[:-2], _times(sizes[-2:])):
            return op.results[0]
    return None


def _times(sizes: Sequence[int | None]) -> int:
    return (sizes[0] or 0) * (sizes[1] or 0)


def _half(value: ir.Value) -> _Half | None:
    """Returns the half of each pair that a value is."""
    value = _plain(value)
    for index in (0, 1):
        whole = part_of(value, index, index + 1, 2)
        if whole is not None:
            return _Half(_plain(whole), index, "halves")
    op = value.owner
    if isinstance(op, ir.Block):
        return None
    if op.name == "tf.StridedSlice":
        return _sliced(op, value) or _strided(op)
    if op.name in {"tf.Reshape", "tf.Squeeze"}:  # of one of the two that an axis of pairs is split into
        inner = op.operands[0]
        part = _half_of_axis(inner)
        return (
            part if part is not None and tensor_type_of(value).rank == (tensor_type_of(inner).rank or 0) - 1 else None
        )
    if op.name == "tf.Unpack":
        rank = tensor_type_of(op.operands[0]).rank
        axis = attribute_value(op.attributes["axis"])
        if rank is None or len(op.results) != 2:
            return None
        return _of_pairs(op.operands[0], axis % rank, ir.OpResult(value).result_number)
    return None


def _sliced(op: ir.Operation | ir.OpView, value: ir.Value) -> _Half | None:
    """Returns half of the features of which the other sizes are the same, though known only in a call."""
    whole = op.operands[0]
    sizes, sliced = tensor_type_of(whole).sizes, tensor_type_of(value).sizes
    begin, strides = (integer_constant(source(op.operands[index])) for index in (1, 3))
    if any(attribute_value(op.attributes[f"{name}_mask"]) for name in ("new_axis", "shrink_axis")):
        return None
    if not isinstance(begin, list) or strides != [1] * len(begin) or not sizes or sizes[:-1] != sliced[:-1]:
        return None
    if attribute_value(op.attributes["ellipsis_mask"]) != (1 if len(begin) == 2 < len(sizes) else 0):
        return None
    half = sliced[-1]
    first = begin[-1] * (not attribute_value(op.attributes["begin_mask"]) >> (len(begin) - 1) & 1)
    if half is None or sizes[-1] != 2 * half or any(begin[:-1]) or first not in {0, half}:
        return None
    return _Half(_plain(whole), int(first == half), "halves")


def _strided(op: ir.Operation | ir.OpView) -> _Half | None:
    """Returns every second feature, or an axis of pairs at one index."""
    whole = op.operands[0]
    sizes = tensor_type_of(whole).sizes
    begin, end, strides = (integer_constant(source(operand)) for operand in list(op.operands)[1:])
    if not (isinstance(begin, list) and isinstance(end, list) and isinstance(strides, list)) or not sizes:
        return None
    masks = {
        name: attribute_value(op.attributes[f"{name}_mask"]) for name in ("begin", "end", "ellipsis", "shrink_axis")
    }
    if attribute_value(op.attributes["new_axis_mask"]):
        return None
    places = len(begin)
    if masks["ellipsis"] not in {0, 1} or (masks["ellipsis"] == 0 and places != len(sizes)):
        return None
    last = places - 1
    if masks["ellipsis"] == 0 and any(
        strides[axis] != 1 or not _is_whole(axis, begin, end, masks, sizes) for axis in range(last)
    ):
        return None
    first = 0 if masks["begin"] >> last & 1 else begin[last]
    if masks["shrink_axis"] == 1 << last:
        return _of_pairs(whole, len(sizes) - 1, first % 2) if sizes[-1] == 2 else None
    stop = sizes[-1] if masks["end"] >> last & 1 else end[last]
    if (
        masks["shrink_axis"]
        or strides[last] != 2
        or first not in {0, 1}
        or sizes[-1] is None
        or (stop or 0) < sizes[-1] - 1
    ):
        return None
    return _Half(_plain(whole), first, "neighbors")


def _is_whole(
    axis: int, begin: list[int], end: list[int], masks: Mapping[str, int], sizes: Sequence[int | None]
) -> bool:
    from_start = bool(masks["begin"] >> axis & 1) or begin[axis] == 0
    size = sizes[axis]
    return from_start and (bool(masks["end"] >> axis & 1) or (size is not None and end[axis] >= size))


def _half_of_axis(value: ir.Value) -> _Half | None:
    op = value.owner
    if isinstance(op, ir.Block):
        return None
    for index in (0, 1):
        whole = part_of(value, index, index + 1, 2)
        if whole is not None and tensor_type_of(whole).sizes[-1:] == (2,):
            return _of_pairs(whole, len(tensor_type_of(whole).sizes) - 1, index)
    return None


def _of_pairs(whole: ir.Value, axis: int, index: int) -> _Half | None:
    """Returns the halves of pairs that an axis of size 2 was split off for."""
    op = _plain(whole).owner
    rank = len(tensor_type_of(whole).sizes)
    if isinstance(op, ir.Block) or op.name != "tf.Reshape" or tensor_type_of(whole).sizes[axis] != 2:
        return None
    x = op.operands[0]
    sizes = tensor_type_of(whole).sizes
    if tensor_type_of(x).sizes != (*sizes[:-2], _times(sizes[-2:])):
        return None
    if axis == rank - 1:
        return _Half(_plain(x), index, "neighbors")
    return _Half(_plain(x), index, "halves") if axis == rank - 2 else None


def _plain(value: ir.Value) -> ir.Value:
    """Returns the value behind ops that change its dtype at most."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in FORWARDED - {
        *("tf.BroadcastTo", "tf.ExpandDims", "tf.Reshape", "tf.Squeeze")
    }:
        value = value.owner.operands[0]
    return value


def _rotary(b: Builder, arguments: Sequence[Tensor], attributes: Mapping[str, Any]) -> list[Tensor]:
    x, cos, sin = arguments
    rank = len(tensor_type_of(x).sizes)
    size = tensor_type_of(x).sizes[-1] or 0
    half = size // 2
    whole = b.sizes(x)
    if attributes["pairs"] == "halves":
        a, other = b.slice(x, rank - 1, 0, half), b.slice(x, rank - 1, half, size)
    else:
        pairs = b.reshape(x, [*whole[:-1], half, 2])
        a, other = (b.reshape(b.slice(pairs, rank, index, index + 1), [*whole[:-1], half]) for index in (0, 1))
    if attributes["angles"] == "of pairs":
        parts = [
            a * cos - other * sin,
            other * cos + a * sin,
        ]
        return [_together(b, parts, whole, attributes["pairs"])]
    turned = _together(b, [-other, a], whole, attributes["pairs"])
    return [x * cos + turned * sin]


def _together(b: Builder, parts: Sequence[Tensor], whole: Sequence[Any], pairs: Pairs) -> Tensor:
    rank = len(whole)
    if pairs == "halves":
        return b.concat(parts, rank - 1)
    return b.reshape(b.stack(parts, rank), list(whole))
