"""Products with small constants; larger ones belong to XNNPACK, as do convolutions."""

from __future__ import annotations

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, rule
from litefuse.kernels.generator.nodes import Node
from litefuse.kernels.generator.rules.elementwise import activated, needs
from litefuse.kernels.generator.rules.reshapes import reshaped
from litefuse.kernels.generator.sizes import ONE, Size

__all__: list[str] = []

# Products that take more multiplications for each result are XNNPACK's.
_MOST_FACTORS = 32

_REASON = "products and convolutions belong to XNNPACK: leave {} out of the composite"


def _product(graph: Graph, left: Node, right: Node, factors: Size) -> Node:
    """Returns the sums along the last axis of the products of two tensors that are broadcast."""
    if factors.known is None or factors.known > _MOST_FACTORS:
        raise NotGenerated(_REASON.format("the product"))
    products = graph.computed("FLOAT32", [left, right], lambda texts: f"({texts[0]} * {texts[1]})", label="product")
    return graph.reduction(products, [len(products.shape) - 1], "sum", "product")


@rule("FULLY_CONNECTED", takes="xxX", options="FullyConnectedOptions")
def _fully_connected(graph: Graph, op: BodyOp) -> Node:
    source, weights = graph.of_rank(op.inputs[0], 1), graph.of_rank(op.inputs[1], 2, 2)
    needs(op, source.dtype, ("FLOAT32",))
    needs(op, weights.dtype, ("FLOAT32",))
    factors = weights.shape[1]
    if not op.options.keepNumDims:
        total = ONE
        for size in source.shape:
            total = total * size
        source = reshaped(graph, source, [graph.sizes.divide(total, factors), factors])
    graph.sizes.same(source.shape[-1], factors, "the factors of a product")
    rank = len(source.shape)
    made = _product(graph, graph.with_axes(source, [rank - 1]), weights, factors)
    if len(op.inputs) > 2 and op.inputs[2] >= 0:
        bias = graph.node(op.inputs[2])
        made = graph.computed("FLOAT32", [made, bias], lambda texts: f"({texts[0]} + {texts[1]})")
    return activated(graph, op, made)


@rule("BATCH_MATMUL", takes="xx", options="BatchMatMulOptions")
def _batch_matmul(graph: Graph, op: BodyOp) -> Node:
    left, right = (graph.of_rank(index, 2) for index in op.inputs)
    needs(op, left.dtype, ("FLOAT32",))
    needs(op, right.dtype, ("FLOAT32",))
    left = _turned(graph, left) if op.options.adjX else left
    right = right if op.options.adjY else _turned(graph, right)
    factors = graph.sizes.same(left.shape[-1], right.shape[-1], "the factors of a product")
    return _product(
        graph, graph.with_axes(left, [len(left.shape) - 1]), graph.with_axes(right, [len(right.shape) - 2]), factors
    )


def _turned(graph: Graph, node: Node) -> Node:
    """Returns matrices with rows as columns."""
    shape = (*node.shape[:-2], node.shape[-1], node.shape[-2])
    return graph.moved(node, shape, lambda _, position: (*position[:-2], position[-1], position[-2]))


@rule("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "CONV_3D", "CONV_3D_TRANSPOSE", takes="?*", gives="?*")
def _convolution(_: Graph, op: BodyOp) -> Node:
    raise NotGenerated(_REASON.format(op.name))
