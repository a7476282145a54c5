"""Reductions, normalizations, running sums, and products with small constants; larger ones belong to XNNPACK."""

from __future__ import annotations

from typing import Any

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, literal, rule
from litefuse.kernels.generator.nodes import ArgumentReduction, Node, Running
from litefuse.kernels.generator.rules.elementwise import activated, needs
from litefuse.kernels.generator.rules.reshapes import reshaped
from litefuse.kernels.generator.rules.sizes import moved_integers
from litefuse.kernels.generator.sizes import ONE, Size, product

_KINDS = {
    "SUM": "sum",
    "REDUCE_PROD": "product",
    "REDUCE_MAX": "max",
    "REDUCE_MIN": "min",
    "REDUCE_ANY": "any",
    "REDUCE_ALL": "all",
    "MEAN": "sum",
}
_NUMBERS = ("FLOAT32", "FLOAT64", "INT8", "UINT8", "INT16", "INT32", "INT64")


@rule(*_KINDS, takes="xi", options="ReducerOptions")
def _reduce(graph: Graph, op: BodyOp) -> Node:
    numbers = graph.numbers(op.inputs[1], "the axes")
    if op.name == "REDUCE_PROD" and numbers in ([0], [-1]):

        def of_all(values: list[Any]) -> Size:
            return product(values[0].ravel())

        if not op.options.keepDims and (known := moved_integers(graph, op, (0,), of_all)) is not None:
            return known
    source = graph.node(op.inputs[0])
    needs(op, source.dtype, ("BOOL",) if op.name in ("REDUCE_ANY", "REDUCE_ALL") else _NUMBERS)
    axes = sorted({graph.axis(axis, len(source.shape)) for axis in numbers})
    made = graph.reduction(source, axes, _KINDS[op.name], label=op.name.lower().removeprefix("reduce_"))
    if op.name == "MEAN":
        needs(op, source.dtype, ("FLOAT32",))
        made = _over(graph, made, product(source.shape[axis] for axis in axes))
    return graph.with_axes(made, axes) if op.options.keepDims else made


def _over(graph: Graph, node: Node, count: Size) -> Node:
    divisor = f"{count.known}.0f" if count.known is not None else f"static_cast<float>({count})"
    return graph.computed(node.dtype, [node], lambda texts: f"{texts[0]} / {divisor}", costly=True, label="mean")


@rule("ARG_MAX", "ARG_MIN", takes="xi", gives="i")
def _argument(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    needs(op, source.dtype, ("FLOAT32", "INT8", "UINT8", "INT32", "BOOL"))
    axis = graph.axis_of(op.inputs[1], len(source.shape))
    shape = tuple(size for own, size in enumerate(source.shape) if own != axis)
    dtype = graph.tensor(op.outputs[0]).dtype
    sign = ">" if op.name == "ARG_MAX" else "<"
    return ArgumentReduction(dtype, shape, source=source, axis=axis, sign=sign, number=graph.next_number())


@rule("CUMSUM", takes="xi", options="CumsumOptions")
def _running(graph: Graph, op: BodyOp) -> Node:
    source = graph.node(op.inputs[0])
    needs(op, source.dtype, ("FLOAT32", "INT32", "INT64"))
    axis = graph.axis_of(op.inputs[1], len(source.shape))
    if source.shape[axis] == ONE:
        zero = literal(0, source.dtype)
        exclusive = bool(op.options.exclusive)
        return graph.computed(source.dtype, [source], lambda texts: zero if exclusive else texts[0])
    return Running(
        source.dtype,
        source.shape,
        source=source,
        axis=axis,
        exclusive=bool(op.options.exclusive),
        reverse=bool(op.options.reverse),
        number=graph.next_number(),
    )


@rule("SOFTMAX", "LOG_SOFTMAX", takes="x")
def _softmax(graph: Graph, op: BodyOp) -> Node:
    source = graph.of_rank(op.inputs[0], 1)
    needs(op, source.dtype, ("FLOAT32",))
    last = len(source.shape) - 1
    beta = float(getattr(op.options, "beta", 0.0)) if op.name == "SOFTMAX" else 1.0
    largest = graph.with_axes(graph.reduction(source, [last], "max", "largest"), [last])
    shifted = graph.computed("FLOAT32", [source, largest], lambda texts: f"({texts[0]} - {texts[1]})", label="shifted")
    if beta != 1:
        factor = literal(beta, "FLOAT32")
        shifted = graph.computed("FLOAT32", [shifted], lambda texts: f"({texts[0]} * {factor})", label="shifted")
    exp = graph.computed("FLOAT32", [shifted], lambda texts: f"math::Exp({texts[0]})", costly=True, label="exp")
    total = graph.with_axes(graph.reduction(exp, [last], "sum", "total"), [last])
    if op.name == "SOFTMAX":
        inverse = graph.computed("FLOAT32", [total], lambda texts: f"1.0f / {texts[0]}", costly=True, label="inverse")
        return graph.computed("FLOAT32", [exp, inverse], lambda texts: f"({texts[0]} * {texts[1]})")
    log = graph.computed("FLOAT32", [total], lambda texts: f"math::Log({texts[0]})", costly=True, label="log")
    return graph.computed("FLOAT32", [shifted, log], lambda texts: f"({texts[0]} - {texts[1]})")


@rule("L2_NORMALIZATION", takes="x")
def _l2(graph: Graph, op: BodyOp) -> Node:
    source = graph.of_rank(op.inputs[0], 1)
    needs(op, source.dtype, ("FLOAT32",))
    last = len(source.shape) - 1
    square = graph.computed("FLOAT32", [source, source], lambda texts: f"({texts[0]} * {texts[1]})", label="square")
    total = graph.with_axes(graph.reduction(square, [last], "sum", "total"), [last])
    norm = graph.computed(
        "FLOAT32", [total], lambda texts: f"AtLeast<float>(math::Sqrt({texts[0]}), 1e-6f)", costly=True, label="norm"
    )
    return activated(
        graph, op, graph.computed("FLOAT32", [source, norm], lambda texts: f"({texts[0]} / {texts[1]})", costly=True)
    )


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
        source = reshaped(graph, source, [graph.sizes.divide(product(source.shape), factors), factors])
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
