"""Reductions, normalizations and running sums."""

from __future__ import annotations

from typing import Any

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, literal, rule
from litefuse.kernels.generator.nodes import ArgumentReduction, Node, Running
from litefuse.kernels.generator.rules.elementwise import activated, needs
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
