"""The engine moves transpositions behind other ops."""

from __future__ import annotations

import numpy as np

from litefuse.ir.mlir import ir
from tests.ir.engine.faults.graph import Array, Graph, text
from tests.ir.engine.faults.reproducer import differ, is_refused, reproducer

_RANDOM = np.random.default_rng(0)
_X: Array = _RANDOM.uniform(1, 2, (2, 3, 5)).astype(np.float32)
_TURNED: Array = np.transpose(_X, (0, 2, 1))
_ROW = _RANDOM.uniform(1, 2, (1, 1, 3)).astype(np.float32)


def _turned() -> tuple[Graph, ir.Value]:
    graph = Graph("?x3x5xf32")
    return graph, graph.op("Transpose", [*graph.inputs, graph.constant([0, 2, 1])], "?x5x3xf32")


@reproducer
def transposed_subtrahend() -> bool:
    graph, turned = _turned()
    graph.returns(graph.op("Sub", [graph.constant(_ROW), turned], "?x5x3xf32"))
    return differ(graph.run(_X), _ROW - _TURNED)


@reproducer
def transposed_divisor() -> bool:
    graph, turned = _turned()
    graph.returns(graph.op("RealDiv", [graph.constant(_ROW), turned], "?x5x3xf32"))
    return differ(graph.run(_X), _ROW / _TURNED)


@reproducer
def transposed_negative() -> bool:
    graph, turned = _turned()
    negative = graph.op("Neg", [turned], "?x5x3xf32")
    graph.returns(graph.op("AddV2", [negative, graph.constant(_ROW)], "?x5x3xf32"))
    return differ(graph.run(_X), _ROW - _TURNED)


@reproducer
def transposed_reciprocal() -> bool:
    graph, turned = _turned()
    reciprocal = graph.op("Reciprocal", [turned], "?x5x3xf32")
    graph.returns(graph.op("Mul", [reciprocal, graph.constant(_ROW)], "?x5x3xf32"))
    return differ(graph.run(_X), _ROW / _TURNED)


@reproducer
def transposed_open_reshape() -> bool:
    graph = Graph("?x3xf32")
    turned = graph.op("Transpose", [*graph.inputs, graph.constant([1, 0])], "3x?xf32")
    shaped = graph.op("Reshape", [turned, graph.constant([3, -1, 5])], "3x?x5xf32")
    graph.returns(graph.op("Transpose", [shaped, graph.constant([1, 2, 0])], "?x5x3xf32"))
    return is_refused("'tensor<-1x5x3xf32>'", graph.lowered)


@reproducer
def squeezed_from_the_last() -> bool:
    graph = Graph("?x?x1xf32")
    turned = graph.op("Transpose", [*graph.inputs, graph.constant([1, 0, 2])], "?x?x1xf32")
    graph.returns(graph.op("Squeeze", [turned], "?x?xf32", squeeze_dims=[-1]))
    return differ(graph.run(_X[:, :, :1]), _X[:, :, 0].T)


@reproducer
def squeezed_after_a_transposition() -> bool:
    graph = Graph("?x?x4x1xi1")
    turned = graph.op("Transpose", [*graph.inputs, graph.constant([2, 3, 1, 0])], "4x1x?x?xi1")
    graph.returns(graph.op("Squeeze", [turned], "4x?x?xi1", squeeze_dims=[1]))
    return is_refused("attribute 'squeeze_dims' failed to satisfy constraint", graph.lowered)


@reproducer
def bias_of_channels_first() -> bool:
    graph = Graph("?x3x5xf32")
    operands = [*graph.inputs, graph.constant([1.0, 2.0, 3.0])]
    graph.returns(graph.op("BiasAdd", operands, "?x3x5xf32", data_format="NCHW"))
    return is_refused("x should be of the same rank with y, got x of rank 3, and y of rank 4", graph.lowered)


@reproducer
def transposed_integer_factor() -> bool:
    graph = Graph("?x4xi32", "4x3xi32")
    graph.returns(graph.op("MatMul", graph.inputs, "?x3xi32", transpose_a=False, transpose_b=False))
    return "-> tensor<*xi32>" in text(graph.lowered())


@reproducer
def transposed_complex_factor() -> bool:
    graph = Graph("?x4xcomplex<f32>", "4x3xcomplex<f32>")
    graph.returns(graph.op("BatchMatMulV2", graph.inputs, "?x3xcomplex<f32>", adj_x=False, adj_y=False))
    return "-> tensor<*xcomplex<f32>>" in text(graph.lowered())
