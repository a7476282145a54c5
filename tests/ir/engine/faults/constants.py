"""What the engine computes of constants, and takes constants for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from litefuse.ir.mlir import ir
from tests.ir.engine.faults.graph import Array, Graph, export, run, text
from tests.ir.engine.faults.reproducer import differ, is_refused, kills, reproducer

_RANDOM = np.random.default_rng(0)
_X: Array = np.arange(6, dtype=np.float32).reshape(2, 3) + 1
_WEIGHTS = _RANDOM.normal(size=(3, 4)).astype(np.float32)


def _product(graph: Graph, x: ir.Value, matrix: Any, columns: int, *, transposed: bool = False) -> ir.Value:
    flags = {"transpose_a": False, "transpose_b": transposed}
    return graph.op("MatMul", [x, graph.constant(matrix)], f"?x{columns}xf32", **flags)


@reproducer
def zero_factor() -> bool:
    """The result becomes a constant without elements."""
    graph = Graph("?x3xf32")
    graph.returns(graph.op("Mul", [*graph.inputs, graph.constant(0.0)], "?x3xf32"))
    return "tfl.mul" not in text(graph.lowered())


@reproducer
def largest_bound() -> bool:
    graph = Graph("2xf32")
    lowest = np.full(2, np.finfo(np.float32).min)
    graph.returns(graph.op("Maximum", [*graph.inputs, graph.constant(lowest)], "2xf32"))
    return differ(graph.run([-math.inf, 1]), lowest * [1, 0] + [0, 1])


@reproducer
def cancelled_addends() -> bool:
    graph = Graph("2xf32")
    total = graph.op("AddV2", [*graph.inputs, graph.constant(1e8)], "2xf32")
    graph.returns(graph.op("AddV2", [total, graph.constant(-1e8)], "2xf32"))
    return differ(graph.run([1, 9]), [0, 8])


@reproducer
def one_hot_of_int64() -> bool:
    graph = Graph("1x1xi64")
    series = graph.constant([0, 1, 2], np.int64)
    graph.returns(graph.op("Equal", [*graph.inputs, series], "1x3xi1", incompatible_shape_error=True))
    return differ(graph.run([[2**32]]), [[False] * 3])


@reproducer
def smallest_of_softmax() -> bool:
    graph = Graph("3xf32")
    shares = graph.op("Softmax", graph.inputs, "3xf32")
    graph.returns(graph.op("ArgMin", [shares, graph.constant(0)], "i64"))
    return differ(graph.run([-1000, -2000, 0]), 0)


@reproducer
def zero_scale() -> bool:
    graph = Graph("?x2x2x3xf32")
    vectors = [graph.constant([number] * 3) for number in (0.0, 1.0, 1.0, 1.0)]
    options = {"is_training": False, "epsilon": 1e-3, "data_format": "NHWC", "exponential_avg_factor": 1.0}
    kinds = ["?x2x2x3xf32", *["3xf32"] * 4, "?xf32"]
    graph.returns(graph.ops("FusedBatchNormV3", [*graph.inputs, *vectors], kinds, **options)[0])
    return "tfl." not in text(graph.lowered())


@reproducer
def zero_times_infinity() -> bool:
    graph = Graph("2xf32")
    graph.returns(graph.op("Mul", [*graph.inputs, graph.constant(0.0)], "2xf32"))
    return differ(graph.run([math.inf, 1]), [math.nan, 0])


@reproducer
def zeros_of_another_shape() -> bool:
    graph = Graph("?xf32", "?xf32")
    x, y = graph.inputs
    graph.returns(graph.op("AddV2", [x, graph.op("ZerosLike", [y], "?xf32")], "?xf32"))
    return differ(graph.run([1], [2, 3]), [1, 1])


@reproducer
def zero_logarithm() -> bool:
    graph = Graph("?xf32")
    graph.returns(graph.op("Xlogy", [*graph.inputs, graph.constant(1.0)], "?xf32"))
    return is_refused("Given shapes, [2], [2] and [0], are not broadcastable", graph.run, [0, 1])


@reproducer
def constants_of_open_shape() -> bool:
    graph = Graph("?xf32")
    graph.returns(graph.op("Lgamma", graph.inputs, "?xf32"))
    return is_refused("Given shapes, [2] and [0], are not broadcastable", graph.run, [1, 2])


@reproducer
def reshape_to_open_shape() -> bool:
    graph = Graph("2xf32")
    numbers = graph.op("Reshape", graph.constants([1.0, 2.0], [-1]), "?xf32")
    graph.returns(graph.op("AddV2", [*graph.inputs, numbers], "2xf32"))
    return is_refused("Given shapes, [2] and [0], are not broadcastable", graph.run, [1, 2])


@reproducer
def infinite_constants() -> bool:
    graph = Graph("1xf32")
    graph.returns(graph.op("AddV2", [*graph.inputs, graph.constant(math.inf)], "1xf32"))
    return differ(run(export(graph.lowered(bounded=True).module), [0]), [math.inf])


@kills
def constants_in_resources() -> None:
    """With the engine's default, which looks for infinities in all constants."""
    graph = Graph("?x3xf32")
    with ir.InsertionPoint(graph.block):
        kind = ir.RankedTensorType.get(_WEIGHTS.shape, ir.F32Type.get())
        value = ir.DenseResourceElementsAttr.get_from_buffer(_WEIGHTS, "weights", kind)
        matrix = ir.Operation.create("tf.Const", [kind], [], {"value": value}).result
    graph.returns(graph.op("MatMul", [*graph.inputs, matrix], "?x4xf32", transpose_a=False, transpose_b=False))
    graph.lowered(bounded=True)


@reproducer
def constant_divisor() -> bool:
    numbers = np.arange(1, 100, dtype=np.float32)
    graph = Graph("99xf32")
    graph.returns(graph.op("RealDiv", [*graph.inputs, graph.constant(3.0)], "99xf32"))
    (quotients,) = graph.run(numbers)
    return not np.array_equal(quotients, numbers / np.float32(3))


@reproducer
def sum_over_the_last() -> bool:
    graph = Graph()
    graph.returns(graph.op("Sum", [graph.constant(_X), graph.constant([-1])], "2xf32", keep_dims=False))
    return differ(graph.run(), _X.sum(-1))


@reproducer
def reversal_of_the_last() -> bool:
    graph = Graph()
    graph.returns(graph.op("ReverseV2", [graph.constant(_X), graph.constant([-1])], "2x3xf32"))
    return differ(graph.run(), _X[:, ::-1])


@reproducer
def transposition_from_the_last() -> bool:
    graph = Graph()
    graph.returns(graph.op("Transpose", [graph.constant(_X), graph.constant([-1, -2])], "3x2xf32"))
    return is_refused("is invalidly specified in schema", graph.run)


@reproducer
def one_element_between_products() -> bool:
    graph = Graph("?x3xf32")
    product = _product(graph, graph.inputs[0], _WEIGHTS, 4)
    shifted = graph.op("AddV2", [product, graph.constant([0.7])], "?x4xf32")
    value = _product(graph, shifted, _WEIGHTS, 3, transposed=True)
    value = graph.op("AddV2", [value, graph.constant([1.0] * 3)], "?x3xf32")
    graph.returns(graph.op("Sub", [value, graph.constant([0.7])], "?x3xf32"))
    return is_refused("expect 'input' num_elements % 4 == 0", graph.lowered)


@reproducer
def one_element_before_a_product() -> bool:
    graph = Graph("?x3xf32")
    shifted = graph.op("AddV2", [*graph.inputs, graph.constant([0.7])], "?x3xf32")
    product = _product(graph, shifted, _WEIGHTS, 4)
    graph.returns(graph.op("AddV2", [product, graph.constant([1.0] * 4)], "?x4xf32"))
    return is_refused("XNNPack delegate failed to reshape runtime", graph.run, _X)


@reproducer
def one_element_behind_a_transposed_convolution() -> bool:
    """It is taken for the bias: the runtime reads beyond it."""
    graph = Graph("1x2x2x3xf32")
    filters = _RANDOM.normal(size=(2, 2, 2, 3)).astype(np.float32)
    options = {"strides": [1, 2, 2, 1], "padding": "VALID", "dilations": [1] * 4, "data_format": "NHWC"}
    operands = [graph.constant([1, 4, 4, 2]), graph.constant(filters), *graph.inputs]
    images = graph.op("Conv2DBackpropInput", operands, "1x4x4x2xf32", **options, explicit_paddings=[])
    graph.returns(graph.op("AddV2", [images, graph.constant(0.7)], "1x4x4x2xf32"))
    lowered = text(graph.lowered())
    return "tfl.add" not in lowered and "tensor<1x2x2x3xf32>, tensor<1xf32>" in lowered


@reproducer
def norm_of_all() -> bool:
    graph = Graph("?x3xf32")
    squares = graph.op("Square", graph.inputs, "?x3xf32")
    total = graph.op("Sum", [squares, graph.constant([0, 1])], "f32", keep_dims=False)
    graph.returns(graph.op("RealDiv", [*graph.inputs, graph.op("Sqrt", [total], "f32")], "?x3xf32"))
    return differ(graph.run(_X), _X / np.linalg.norm(_X))


@reproducer
def bound_of_norm() -> bool:
    graph = Graph("?x3xf32")
    squares = graph.op("Square", graph.inputs, "?x3xf32")
    total = graph.op("Sum", [squares, graph.constant([1])], "?x1xf32", keep_dims=True)
    bounded = graph.op("Maximum", [total, graph.constant(np.float32(1e-20))], "?x1xf32")
    graph.returns(graph.op("Mul", [*graph.inputs, graph.op("Rsqrt", [bounded], "?x1xf32")], "?x3xf32"))
    rows = _X[:1] * np.float32(1e-8)
    return differ(graph.run(rows), rows / np.linalg.norm(rows))


@reproducer
def product_with_int8_constant() -> bool:
    graph = Graph("2x3xi8")
    operands = [*graph.inputs, graph.constant(np.ones((3, 4), np.int8))]
    graph.returns(graph.op("BatchMatMulV3", operands, "2x4xi32", adj_x=False, adj_y=False))
    return is_refused("'tfl.fully_connected' op operand #0 must be", graph.lowered)


@reproducer
def unfolded_constants() -> bool:
    graph = Graph()
    pair = graph.constant([1, 2])
    parts = graph.ops("Split", [graph.constant(0), pair], ["1xi32", "1xi32"], num_split=2)
    graph.returns(
        graph.op("Pack", [graph.constant(1), graph.constant(2)], "2xi32", axis=0, N=2),
        graph.op("Tile", [pair, graph.constant([2])], "4xi32"),
        graph.op("Prod", [pair, graph.constant([0])], "i32", keep_dims=False),
        *parts,
    )
    lowered = text(graph.lowered())
    return all(f"tfl.{op}" in lowered for op in ("pack", "reduce_prod", "split", "tile"))


@reproducer
def folds_whatever_the_size() -> bool:
    graph = Graph()
    operands = [graph.constant(number) for number in (0, 1_000_000, 1)]
    graph.returns(graph.op("Range", operands, "1000000xi32"))
    return "tfl.range" not in text(graph.lowered())


@kills
def integer_division_by_zero() -> None:
    graph = Graph()
    graph.returns(graph.op("Div", [graph.constant([1]), graph.constant([0])], "1xi32")).lowered()


@kills
def range_without_step() -> None:
    graph = Graph()
    graph.returns(graph.op("Range", [graph.constant(number) for number in (0, 1, 0)], "?xi32")).lowered()


@kills
def reshaped_constant_strings() -> None:
    graph = Graph()
    strings = graph.constant('dense<["a", "b"]> : tensor<2x!tf_type.string>')
    graph.returns(graph.op("Reshape", [strings, graph.constant([2, 1])], "2x1x!tf_type.string")).lowered()


@kills
def running_sum_of_unsigned_constants() -> None:
    graph = Graph("4xui32")
    numbers = graph.constant("dense<[1, 2, 3, 4]> : tensor<4xui32>")
    flags = {"exclusive": False, "reverse": False}
    total = graph.op("Cumsum", [numbers, graph.constant(0)], "4xui32", **flags)
    graph.returns(graph.op("Maximum", [*graph.inputs, total], "4xui32", **flags)).lowered()
