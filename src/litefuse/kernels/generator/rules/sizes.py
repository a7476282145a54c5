"""Ops on shapes, integers that are known in Prepare, and loops whose turns these tell, which are written out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.kernels.generator.body import BodyOp
from litefuse.kernels.generator.graph import Graph, NotGenerated, Value, rule
from litefuse.kernels.generator.nodes import Counted, Literal, Node
from litefuse.kernels.generator.sizes import ZERO, Size, Sizes, number

_INTEGERS = ("INT32", "INT64", "BOOL")


_BINARY: dict[str, Callable[[Sizes, Size, Size], Size]] = {
    "ADD": lambda sizes, a, b: sizes.add(a, b),
    "SUB": lambda sizes, a, b: sizes.subtract(a, b),
    "MUL": lambda _, a, b: a * b,
    "DIV": lambda sizes, a, b: sizes.divide(a, b, truncated=True),
    "FLOOR_DIV": lambda sizes, a, b: sizes.divide(a, b),
    "FLOOR_MOD": lambda sizes, a, b: sizes.remainder(a, b),
    "MAXIMUM": lambda sizes, a, b: sizes.largest(a, b),
    "MINIMUM": lambda sizes, a, b: sizes.smallest(a, b),
    "EQUAL": lambda sizes, a, b: sizes.compare("==", a, b, lambda x, y: x == y),
    "NOT_EQUAL": lambda sizes, a, b: sizes.compare("!=", a, b, lambda x, y: x != y),
    "LESS": lambda sizes, a, b: sizes.compare("<", a, b, lambda x, y: x < y),
    "LESS_EQUAL": lambda sizes, a, b: sizes.compare("<=", a, b, lambda x, y: x <= y),
    "GREATER": lambda sizes, a, b: sizes.compare(">", a, b, lambda x, y: x > y),
    "GREATER_EQUAL": lambda sizes, a, b: sizes.compare(">=", a, b, lambda x, y: x >= y),
    "LOGICAL_AND": lambda sizes, a, b: sizes.smallest(a, b),
    "LOGICAL_OR": lambda sizes, a, b: sizes.largest(a, b),
}


def folded(graph: Graph, op: BodyOp) -> Node | None:
    """Returns the result of an op whose operands are sizes, and notes the sizes that it consists of."""
    if graph.tensor(op.outputs[0]).dtype not in _INTEGERS or any(
        graph.tensor(index).dtype not in _INTEGERS for index in op.inputs
    ):
        return None
    operands = [graph.maybe_integers(index) for index in op.inputs]
    values = [operand for operand in operands if operand is not None]
    if len(values) < len(operands) or not values:
        return None
    dtypes = {graph.tensor(index).dtype for index in op.inputs}
    if op.name == "CAST":
        made = values[0]
        if graph.tensor(op.outputs[0]).dtype == "BOOL" and "BOOL" not in dtypes:
            made = np.empty(values[0].shape, object)
            for place, size in enumerate(values[0].ravel()):
                made.flat[place] = graph.sizes.compare("!=", size, ZERO, lambda a, b: a != b)
        graph.set_integers(op.outputs[0], made)
        return graph.node(op.outputs[0])
    if op.name not in _BINARY:
        return None
    if "BOOL" in dtypes and not op.name.startswith("LOGICAL_"):
        return None
    try:
        left, right = cast("list[npt.NDArray[Any]]", np.broadcast_arrays(*values))
    except ValueError:
        raise NotGenerated("sizes are not broadcast") from None
    made = np.empty(left.shape, object)
    for place in range(made.size):
        one = cast("Size", left.flat[place])
        other = cast("Size", right.flat[place])
        if op.name in ("DIV", "FLOOR_DIV", "FLOOR_MOD") and other.known == 0:
            return None
        made.flat[place] = _BINARY[op.name](graph.sizes, one, other)
    graph.set_integers(op.outputs[0], made)
    return graph.node(op.outputs[0])


def moved_integers(
    graph: Graph, op: BodyOp, sources: Sequence[int], compute: Callable[[list[Any]], Any]
) -> Node | None:
    """Returns the result of an op that moves elements of sizes, and notes the sizes that it consists of.

    Args:
        graph: The graph.
        op: The op.
        sources: The places of the operands whose elements are moved.
        compute: Returns the result from their arrays; None if it is not one of sizes.
    """
    operands = [graph.maybe_integers(op.inputs[place]) for place in sources]
    values = [operand for operand in operands if operand is not None]
    if len(values) < len(operands) or graph.tensor(op.outputs[0]).dtype not in _INTEGERS:
        return None
    made = compute(values)
    if made is None:
        return None
    result: npt.NDArray[Any] = np.empty((), object)
    if isinstance(made, np.ndarray):
        result = cast("npt.NDArray[Any]", made)
    else:
        result[()] = made
    graph.set_integers(op.outputs[0], result)
    return graph.node(op.outputs[0])


@rule("SHAPE", takes="?", gives="i")
def _shape(graph: Graph, op: BodyOp) -> Node:
    shape = graph.node(op.inputs[0]).shape
    values = np.empty(len(shape), object)
    values[:] = shape
    graph.set_integers(op.outputs[0], values)
    return graph.node(op.outputs[0])


@rule("RANK", takes="?", gives="i")
def _rank(graph: Graph, op: BodyOp) -> Node:
    values = np.empty((), object)
    values[()] = number(len(graph.node(op.inputs[0]).shape))
    graph.set_integers(op.outputs[0], values)
    return graph.node(op.outputs[0])


@rule("RANGE", takes="jjj", gives="j")
def _range(graph: Graph, op: BodyOp) -> Node:
    start, limit, step = (graph.sizes_of(index, "the range", 1)[0] for index in op.inputs)
    by = step.known
    if by is None or by == 0:
        raise NotGenerated("the step of a range is not known")
    span = graph.sizes.subtract(limit, start) if by > 0 else graph.sizes.subtract(start, limit)
    span = graph.sizes.largest(span, ZERO)
    count = graph.sizes.divide(graph.sizes.add(span, number(abs(by) - 1)), number(abs(by))) if abs(by) > 1 else span
    dtype = graph.tensor(op.outputs[0]).dtype
    return (
        Counted(dtype, (count,), first=f"({start})", step=f"({by})")
        if (start, by) != (ZERO, 1)
        else Counted(dtype, (count,))
    )


@rule("FILL", takes="ix")
def _fill(graph: Graph, op: BodyOp) -> Node:
    return _repeated(graph, op.inputs[0], graph.of_rank(op.inputs[1], 0, 0))


@rule("BROADCAST_TO", takes="xi")
def _broadcast_to(graph: Graph, op: BodyOp) -> Node:
    return _repeated(graph, op.inputs[1], graph.node(op.inputs[0]))


def _repeated(graph: Graph, index: int, value: Node) -> Node:
    shape = tuple(graph.integers(index, "the shape").ravel())
    target = graph.computed(value.dtype, [], lambda _: "0", shape=shape)
    whole = graph.broadcast(target, value)
    if len(whole) != len(shape):
        raise NotGenerated("a tensor is broadcast to fewer axes than it has")
    for one, other in zip(whole, shape, strict=True):
        graph.sizes.same(one, other, "a tensor is broadcast to smaller sizes than it has")
    return graph.computed(value.dtype, [value], lambda texts: texts[0], shape=whole)


@rule("BROADCAST_ARGS", takes="jj", gives="j")
def _broadcast(graph: Graph, op: BodyOp) -> Node:
    shapes = [tuple(graph.integers(index, "the shape").ravel()) for index in op.inputs]
    nodes = [Literal("INT32", shape) for shape in shapes]
    whole = graph.broadcast(*nodes)
    values = np.empty(len(whole), object)
    values[:] = whole
    graph.set_integers(op.outputs[0], values)
    return graph.node(op.outputs[0])


# Loops of more turns, or of more ops in all their turns, belong to LiteRT: the kernel has each turn written out.
_MOST_TURNS = 64
_MOST_OPS = 512


@rule("WHILE", takes="?*", gives="?*")
def _while(graph: Graph, op: BodyOp) -> list[Node]:
    if len(op.parts) != 2:
        raise NotGenerated("a loop lacks its condition or its body")
    condition, body = op.parts
    values: list[Value] = [(graph.node(index), graph.maybe_integers(index)) for index in op.inputs]
    turns = 0
    while _goes_on(graph, op, values):
        turns += 1
        if turns > _MOST_TURNS or turns * (len(condition.ops) + len(body.ops)) > _MOST_OPS:
            raise NotGenerated(f"a loop of {len(body.ops)} ops takes more than {turns - 1} turns")
        values = graph.computed_part(body, values)
    for index, (_, integers) in zip(op.outputs, values, strict=True):
        if integers is not None:
            graph.set_integers(index, integers)
    return [node for node, _ in values]


def _goes_on(graph: Graph, op: BodyOp, values: list[Value]) -> bool:
    ((_, integers),) = graph.computed_part(op.parts[0], values)
    known = None if integers is None or integers.size != 1 else integers.item().known
    if known is None:
        raise NotGenerated("how often a loop is run depends on the inputs")
    return bool(known)
