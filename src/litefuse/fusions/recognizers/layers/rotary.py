"""Finds rotary position embeddings: pairs of features, rotated by angles (Su et al., RoFormer, 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from litefuse.fusions.recognizers.layers.layer import Graph, NamedLayer, NearMiss, where
from litefuse.fusions.recognizers.slices import Pairs, half_of, joined, plain
from litefuse.ir.builder import Builder
from litefuse.ir.defining_ops import constant_number
from litefuse.ir.mlir import ir
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import tensor_type_of

ROTARY = "rotary embedding"
_NAME = "litefuse.rotary_embedding"

_ADDITIONS = frozenset({"tf.Add", "tf.AddV2"})


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
                if plain(whole) == plain(x):
                    return _named(whole, cos, sin, op.results[0], pairs)
            return NearMiss(ROTARY, where(op.results[0]), "what is turned is not what the other product is of", 3)
    return None


def _joined(op: ir.OpView) -> NamedLayer | NearMiss | None:
    """Returns ``[a * cos - b * sin, b * cos + a * sin]``."""
    both = joined(op)
    if both is None:
        return None
    (first, second), pairs, result = both
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
            first_half, second_half = half_of(a), half_of(b)
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
    angles = [angle.owner.name for angle in map(plain, (cos, sin)) if not isinstance(angle.owner, ir.Block)]
    if ("tf.Cos" in angles or "tf.Sin" in angles) and angles != ["tf.Cos", "tf.Sin"]:
        return NearMiss(ROTARY, where(result), "it multiplies with other functions than cosine and sine", 3)
    half = tensor_type_of(cos).sizes[-1:] != tensor_type_of(x).sizes[-1:]
    attributes = {"pairs": pairs, "angles": "of pairs" if half else "of features"}
    return NamedLayer(_NAME, ROTARY, [x, cos, sin], [result], attributes, _rotary)


def _factors(value: ir.Value) -> tuple[ir.Value, ir.Value] | None:
    op = plain(value).owner
    if isinstance(op, ir.Block) or op.name != "tf.Mul":
        return None
    return op.operands[0], op.operands[1]


def _is_product(factors: tuple[ir.Value, ir.Value], one: ir.Value, other: ir.Value) -> bool:
    """Whether factors are two values, each a slice or a copy of its own perhaps."""

    def alike(a: ir.Value, b: ir.Value) -> bool:
        return plain(a) == plain(b) or ((half := half_of(a)) is not None and half == half_of(b))

    a, b = factors
    return (alike(a, one) and alike(b, other)) or (alike(a, other) and alike(b, one))


def _turned(value: ir.Value) -> tuple[ir.Value, Pairs] | None:
    """Returns x and its pairs, if a value is ``[-b, a]`` of it."""
    op = plain(value).owner
    reshaped = not isinstance(op, ir.Block) and op.name == "tf.Reshape"
    both = None if isinstance(op, ir.Block) else joined(plain(op.operands[0]).owner if reshaped else op)
    if both is None:
        return None
    (first, second), pairs, _ = both
    negated = plain(first).owner
    if isinstance(negated, ir.Block):
        return None
    if negated.name == "tf.Neg" or (negated.name == "tf.Mul" and _is_minus_one(negated.operands[1])):
        inner = negated.operands[0]
    else:
        return None
    b, a = half_of(inner), half_of(second)
    if a is None or b is None or a.x != b.x or (a.number, b.number) != (0, 1) or {a.pairs, b.pairs} != {pairs}:
        return None
    return a.x, pairs


def _is_minus_one(value: ir.Value) -> bool:
    return constant_number(value) == -1


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
