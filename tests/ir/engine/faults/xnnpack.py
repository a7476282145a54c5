"""XNNPACK, LiteRT's delegate for processors."""

from __future__ import annotations

import numpy as np

from litefuse.ir.mlir import ir
from tests.ir.engine.faults.graph import FLAGS, NONE, Array, WrittenGraph, int32
from tests.ir.engine.faults.reproducer import alone, differ, is_refused, kills, reproducer

_KIND = "1x2x1x2x1x2x1xf32"
_SEVEN: Array = np.zeros((1, 2, 1, 2, 1, 2, 1), np.float32)


@reproducer
def concatenation_of_seven_dimensions() -> bool:
    graph = WrittenGraph(_KIND)
    (x,) = graph.inputs
    graph.returns(graph.op("tfl.concatenation", [x, x], "2x2x1x2x1x2x1xf32", **NONE, axis=int32(0)))
    return is_refused("failed to delegate CONCATENATION", graph.run, _SEVEN)


@reproducer
def softmax_of_seven_dimensions() -> bool:
    graph = WrittenGraph(_KIND)
    graph.returns(graph.op("tfl.softmax", graph.inputs, _KIND, beta=1.0))
    return is_refused("failed to delegate SOFTMAX", graph.run, _SEVEN)


@reproducer
def split_of_seven_dimensions() -> bool:
    graph = WrittenGraph(_KIND)
    kinds = ["1x1x1x2x1x2x1xf32"] * 2
    graph.returns(*graph.ops("tfl.split", [graph.constant(1), *graph.inputs], kinds, num_splits=int32(2)))
    return is_refused("failed to delegate SPLIT", graph.run, _SEVEN)


@reproducer
def product_of_seven_dimensions() -> bool:
    graph = WrittenGraph(_KIND)
    operands = [*graph.inputs, graph.constant([[1.0]]), graph.none()]
    options = {"keep_num_dims": True, "weights_format": "DEFAULT"}
    graph.returns(graph.op("tfl.fully_connected", operands, _KIND, **NONE, **options))
    return is_refused("failed to delegate FULLY_CONNECTED", graph.run, _SEVEN)


@reproducer
def reduction_of_seven_dimensions() -> bool:
    graph = WrittenGraph(_KIND)
    operands = [*graph.inputs, graph.constant([0, 1])]
    graph.returns(graph.op("tfl.sum", operands, "1x2x1x2x1xf32", keep_dims=False))
    return is_refused("failed to delegate SUM", graph.run, _SEVEN)


def _part(graph: WrittenGraph) -> ir.Value:
    """No columns of all rows."""
    flags = FLAGS | {"begin_mask": 3, "end_mask": 1}
    masks = {name: int32(number) for name, number in flags.items()}
    operands = [*graph.inputs, *graph.constants([0, 0], [0, 0], [1, 1])]
    return graph.op("tfl.strided_slice", operands, "?x0xf32", **masks, offset=False)


@reproducer
def empty_slice() -> bool:
    graph = WrittenGraph("?x3xf32")
    graph.returns(graph.op("tfl.mul", [_part(graph), graph.constant(2.0)], "?x0xf32", **NONE))
    return differ(graph.run(np.ones((2, 3))), np.ones((2, 0)))


@reproducer
def concatenation_of_an_empty_slice() -> bool:
    graph = WrittenGraph("?x3xf32")
    values = [*graph.inputs, _part(graph), graph.op("tfl.neg", graph.inputs, "?x3xf32")]
    graph.returns(graph.op("tfl.concatenation", values, "?x6xf32", **NONE, axis=int32(1)))
    return differ(graph.run([[1, 2, 3]]), [[1, 2, 3, -1, -2, -3]])


def _handle(graph: WrittenGraph) -> ir.Value:
    return graph.op("tfl.var_handle", [], "!tf_type.resource", container="", shared_name="v")


@kills
def variable_that_is_both_operands() -> None:
    graph = WrittenGraph("2xf32")
    handle = _handle(graph)
    graph.ops("tfl.assign_variable", [handle, *graph.inputs], [])
    read = graph.op("tfl.read_variable", [handle], "2xf32")
    graph.returns(graph.op("tfl.mul", [read, read], "2xf32", **NONE)).run([1, 2])


@alone
def handles_of_one_variable() -> bool:
    """Assigned, read and added to by another handle, and assigned again by the first."""
    graph = WrittenGraph("2xf32")
    (x,) = graph.inputs
    first = _handle(graph)
    graph.ops("tfl.assign_variable", [first, graph.op("tfl.neg", [x], "2xf32")], [])
    second = _handle(graph)
    total = graph.op("tfl.add", [graph.op("tfl.read_variable", [second], "2xf32"), x], "2xf32", **NONE)
    graph.ops("tfl.assign_variable", [second, total], [])
    read = graph.op("tfl.read_variable", [second], "2xf32")
    result = graph.op("tfl.add", [read, x], "2xf32", **NONE)
    graph.ops("tfl.assign_variable", [first, graph.op("tfl.abs", [x], "2xf32")], [])
    graph.returns(result)
    return differ(graph.run([1, 2]), [1, 2])


@reproducer
def unnamed_op() -> bool:
    """The failing op is the second; the message names none."""
    graph = WrittenGraph("?x3xf32", "?x3xf32")
    total = graph.op("tfl.add", graph.inputs, "?x3xf32", **NONE)
    graph.returns(graph.op("tfl.abs", [total], "?x3xf32"))
    return is_refused("XNNPack delegate failed to reshape runtime", graph.run, np.ones((2, 3)), np.ones((4, 3)))
