"""Products of matrices that are small, or of which most is zeros; larger ones belong to XNNPACK."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, rule
from litefuse.kernels.generator.indices import Index
from litefuse.kernels.generator.nodes import Moved, Node, Position
from litefuse.kernels.generator.rules.elementwise import activated, needs
from litefuse.kernels.generator.rules.gathers import read_at
from litefuse.kernels.generator.rules.reshapes import reshaped
from litefuse.kernels.generator.sizes import Size, number, product

# Products that take more multiplications for each result are XNNPACK's.
_MOST_FACTORS = 256
# It takes about so many in the time of one here.
_FASTER = 8

_REASON = "products and convolutions belong to XNNPACK: leave {} out of the composite"


def _product(graph: Graph, left: Node, right: Node, factors: Size) -> Node:
    """Returns the sums along the last axis of rows times rows, which are broadcast before their last two axes."""
    if factors.known is None or factors.known > _MOST_FACTORS:
        raise NotGenerated(_REASON.format("the product"))
    columns = isinstance(right, Moved) and right.order[-1:] not in ((), (len(right.order) - 1,))
    if columns:  # whole rows of results are added, as the factors lie in memory
        left, right = (
            graph.with_axes(left, [len(left.shape)]),
            graph.with_axes(turned(graph, right), [len(right.shape) - 2]),
        )
    else:
        left, right = graph.with_axes(left, [len(left.shape) - 1]), graph.with_axes(right, [len(right.shape) - 2])
    products = graph.computed("FLOAT32", [left, right], lambda texts: f"({texts[0]} * {texts[1]})", label="product")
    return graph.reduction(products, [len(products.shape) - 1 - columns], "sum", "product")


def _sparse_product(graph: Graph, left: Node, right: npt.NDArray[Any] | None) -> Node | None:
    """Returns a product with a constant whose rows are zeros but for a short range each, as of mel bands.

    Infinities times its zeros, which are NaN, are left out.
    """
    if right is None or right.ndim != 2 or not right.size:
        return None
    count, factors = right.shape
    is_zero = right == 0
    first = np.where(is_zero.all(1), 0, (~is_zero).argmax(1))
    behind = np.where(is_zero.all(1), 0, factors - (~is_zero[:, ::-1]).argmax(1))
    width = max(int((behind - first).max()), 1)
    if width > _MOST_FACTORS or width * _FASTER > factors:
        return None
    first = np.minimum(first, factors - width)
    band = graph.array(np.take_along_axis(right, first[:, None] + np.arange(width), 1), "FLOAT32")
    last = len(left.shape) - 1
    graph.sizes.same(left.shape[last], number(factors), "the factors of a product")

    def place(position: Position) -> tuple[Sequence[Position], Callable[[Sequence[Index]], Position]]:
        row, at = position[-2:]
        return [(row,)], lambda chosen: (*position[:last], chosen[0].plus(at, graph.sizes))

    shape = (*left.shape[:last], number(count), number(width))
    values = read_at(graph, left, shape, graph.array(first.astype(np.int32), "INT32"), place)
    products = graph.computed("FLOAT32", [values, band], lambda texts: f"({texts[0]} * {texts[1]})", label="product")
    return graph.reduction(products, [len(shape) - 1], "sum", "product")


@rule("FULLY_CONNECTED", takes="xxX", options="FullyConnectedOptions")
def _fully_connected(graph: Graph, op: BodyOp) -> Node:
    source, constant = graph.of_rank(op.inputs[0], 1), graph.tensor(op.inputs[1]).value
    for dtype in (source.dtype, graph.tensor(op.inputs[1]).dtype):
        needs(op, dtype, ("FLOAT32",))
    known = constant is not None and constant.ndim == 2 and number(constant.shape[1])
    factors = known or graph.of_rank(op.inputs[1], 2, 2).shape[1]
    if not op.options.keepNumDims:
        source = reshaped(graph, source, [graph.sizes.divide(product(source.shape), factors), factors])
    graph.sizes.same(source.shape[-1], factors, "the factors of a product")
    made = _sparse_product(graph, source, constant)
    made = made or _product(graph, source, graph.of_rank(op.inputs[1], 2, 2), factors)
    if len(op.inputs) > 2 and op.inputs[2] >= 0:
        bias = graph.node(op.inputs[2])
        made = graph.computed("FLOAT32", [made, bias], lambda texts: f"({texts[0]} + {texts[1]})")
    return activated(graph, op, made)


@rule("BATCH_MATMUL", takes="xx", options="BatchMatMulOptions")
def _batch_matmul(graph: Graph, op: BodyOp) -> Node:
    left, constant = graph.of_rank(op.inputs[0], 2), graph.tensor(op.inputs[1]).value
    for dtype in (left.dtype, graph.tensor(op.inputs[1]).dtype):
        needs(op, dtype, ("FLOAT32",))
    left = turned(graph, left) if op.options.adjX else left
    if constant is not None and not op.options.adjY:
        constant = np.transpose(constant)
    if (sparse := _sparse_product(graph, left, constant)) is not None:
        return sparse
    right = graph.of_rank(op.inputs[1], 2)
    right = right if op.options.adjY else turned(graph, right)
    factors = graph.sizes.same(left.shape[-1], right.shape[-1], "the factors of a product")
    return _product(graph, left, right, factors)


def turned(graph: Graph, node: Node) -> Node:
    """Returns matrices with rows as columns."""
    rank = len(node.shape)
    return graph.transposed(node, [*range(rank - 2), rank - 1, rank - 2])


@rule("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "CONV_3D", "CONV_3D_TRANSPOSE", takes="?*", gives="?*")
def _convolution(_: Graph, op: BodyOp) -> Node:
    raise NotGenerated(_REASON.format(op.name))
