"""What the engine writes for single ops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from litefuse.ir.mlir import ir
from tests.ir.engine.faults.graph import FLAGS, Array, Graph, text
from tests.ir.engine.faults.reproducer import differ, is_refused, kills, reproducer

_ONES: Array = np.ones((2, 3, 4), np.float32)
_IMAGE = np.random.default_rng(0).normal(size=(1, 8, 8, 1)).astype(np.float32)
_BOXES = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3]], np.float32)


def _is_imprecise(results: Sequence[Array]) -> bool:
    """Whether a result is not close to 1e-6, relative to that."""
    return differ([1e6 * each for each in results], [1])


@reproducer
def exponential_minus_one() -> bool:
    graph = Graph("?xf32")
    graph.returns(graph.op("Expm1", graph.inputs, "?xf32"))
    return _is_imprecise(graph.run([1e-6]))


@reproducer
def logarithm_of_one_plus() -> bool:
    graph = Graph("?xf32")
    graph.returns(graph.op("Log1p", graph.inputs, "?xf32"))
    return _is_imprecise(graph.run([1e-6]))


@reproducer
def softplus() -> bool:
    graph = Graph("?xf32")
    graph.returns(graph.op("Softplus", graph.inputs, "?xf32"))
    return differ(graph.run([90]), [90])


@reproducer
def product_with_logarithm_of_one_plus() -> bool:
    graph = Graph("?xf32", "?xf32")
    graph.returns(graph.op("Xlog1py", graph.inputs, "?xf32"))
    return _is_imprecise(graph.run([1], [1e-6]))


@reproducer
def transform_of_real_numbers() -> bool:
    graph = Graph("?x4xf32")
    numbers = graph.op("Cast", graph.inputs, "?x4xcomplex<f32>", Truncate=False)
    graph.returns(graph.op("FFT", [numbers], "?x4xcomplex<f32>"))
    return "tfl.rfft2d" in text(graph.lowered())


@reproducer
def addition_to_infinity() -> bool:
    graph = Graph("2xf32", "1xf32")
    x, update = graph.inputs
    graph.returns(graph.op("TensorScatterAdd", [x, graph.constant([[0]]), update], "2xf32"))
    return differ(graph.run([math.inf, 0], [1]), [math.inf, 0])


@reproducer
def replaced_infinity() -> bool:
    graph = Graph("2xf32", "1xf32")
    x, update = graph.inputs
    graph.returns(graph.op("TensorScatterUpdate", [x, graph.constant([[0]]), update], "2xf32"))
    return differ(graph.run([math.inf, 0], [1]), [1, 0])


@reproducer
def element_replaced_twice() -> bool:
    graph = Graph("2xf32", "2xf32")
    x, updates = graph.inputs
    graph.returns(graph.op("TensorScatterUpdate", [x, graph.constant([[1], [1]]), updates], "2xf32"))
    return differ(graph.run([0, 0], [1, 2]), [0, 2])


@kills
def band_of_diagonals() -> None:
    graph = Graph("2x3xf32")
    operands = [*graph.inputs, *graph.constants([0, 1], -1, -1, 0.0)]
    graph.returns(graph.op("MatrixDiagV3", operands, "3x3xf32", align="RIGHT_LEFT")).lowered()


@reproducer
def tile_of_an_open_size() -> bool:
    graph = Graph("?xf32")
    tiled = graph.op("Tile", [*graph.inputs, graph.constant([2])], "?xf32")
    graph.returns(graph.op("Mul", [tiled, graph.constant(2.0)], "?xf32"))
    return differ(graph.run([1, 2]), [2, 4, 2, 4])


@reproducer
def einstein_sum_of_one() -> bool:
    graph = Graph("2x3x4xf32")
    graph.returns(graph.op("Einsum", graph.inputs, "4x2xf32", equation="abc->ca"))
    return is_refused("got perm of size 1, and x of rank 2", graph.lowered)


@reproducer
def einstein_sum_of_elements() -> bool:
    graph = Graph("4x3x2xf32", "3xf32")
    graph.returns(graph.op("Einsum", graph.inputs, "2x3x4xf32", equation="cba,b->abc"))
    return is_refused("found invalid output dimension on", graph.lowered)


@reproducer
def einstein_sum_over_two_labels() -> bool:
    graph = Graph("?x2x3xf32", "2x3xf32")
    graph.returns(graph.op("Einsum", graph.inputs, "?xf32", equation="ijk,jk->i"))
    return is_refused("found invalid output dimension on", graph.lowered)


@reproducer
def einstein_sum_over_an_inner_label() -> bool:
    graph = Graph("2x3x4xf32", "5x6x3xf32")
    graph.returns(graph.op("Einsum", graph.inputs, "2x4x5x6xf32", equation="ijk,lmj->iklm"))
    return is_refused("(4 != 3)", lambda: graph.run(np.zeros((2, 3, 4)), np.zeros((5, 6, 3))))


@reproducer
def integer_relu6() -> bool:
    graph = Graph("?xi32")
    smaller = graph.op("Minimum", [*graph.inputs, graph.constant(6)], "?xi32")
    graph.returns(graph.op("Maximum", [smaller, graph.constant(0)], "?xi32"))
    return "tf.Relu6" in text(graph.lowered())


@reproducer
def gathered_conversion() -> bool:
    graph = Graph("?xf16")
    numbers = graph.op("Cast", graph.inputs, "?xi32", Truncate=False)
    graph.returns(graph.op("GatherV2", [numbers, *graph.constants([0], 0)], "1xi32", batch_dims=0))
    return is_refused("'tfl.gather' op operand #0", graph.lowered)


@reproducer
def short_windows() -> bool:
    graph = Graph("3x4xi16")
    places = graph.constant([[[0], [1]], [[1], [2]]])
    graph.returns(graph.op("GatherNd", [*graph.inputs, places], "2x2x4xi16"))
    return is_refused("'tfl.slice' op operand #0", graph.lowered)


@reproducer
def int64_axes_of_roll() -> bool:
    graph = Graph("2x2xf32")
    axes = graph.constant([0, 1], np.int64)
    graph.returns(graph.op("Roll", [*graph.inputs, graph.constant([1, 1]), axes], "2x2xf32"))
    return differ(graph.run([[1, 2], [3, 4]]), [[4, 3], [2, 1]])


@reproducer
def zero_of_other_shape() -> bool:
    graph = Graph("2xf64")
    graph.returns(graph.op("MulNoNan", [*graph.inputs, graph.constant("dense<0.0> : tensor<f64>")], "2xf64"))
    return is_refused("doesn't match function result type", graph.lowered)


@reproducer
def negated_comparison() -> bool:
    graph = Graph("2xf32")
    smaller = graph.op("Less", [*graph.inputs, graph.constant(1.0)], "2xi1")
    graph.returns(graph.op("LogicalNot", [smaller], "2xi1"))
    return differ(graph.run([math.nan, 0]), [True, False])


@reproducer
def difference_from_itself() -> bool:
    graph = Graph("2xf32", "2xf32")
    x, y = graph.inputs
    graph.returns(graph.op("AddV2", [x, graph.op("Sub", [y, y], "2xf32")], "2xf32"))
    return differ(graph.run([1, 2], [math.inf, 1]), [math.nan, 2])


@reproducer
def order_of_conditions() -> bool:
    graph = Graph("?xi1")
    numbers = graph.op("Cast", graph.inputs, "?xi32", Truncate=False)
    graph.returns(graph.op("Less", [numbers, graph.constant(0)], "?xi1"))
    return is_refused("'tfl.zeros_like' op operand #0", graph.lowered)


@reproducer
def end_behind_the_last() -> bool:
    graph = Graph("37xf32")
    graph.returns(graph.op("StridedSlice", [*graph.inputs, *graph.constants([5], [100], [1])], "32xf32", **FLAGS))
    return is_refused("cannot exceed dimension length: 37", graph.lowered)


@reproducer
def positions_of_int64() -> bool:
    graph = Graph("?xf32")
    bounds = [graph.constant([number], np.int64) for number in (2**32 + 1, 2**33, 1)]
    graph.returns(graph.op("StridedSlice", [*graph.inputs, *bounds], "?xf32", **FLAGS))
    return is_refused("Invalid begin", graph.run, np.zeros(37))


@reproducer
def ellipsis_of_int64() -> bool:
    graph = Graph("3x2x2xf32")
    bounds = [graph.constant(numbers, np.int64) for numbers in ([1, 0, 0], [3, 0, 1], [1, 1, 1])]
    graph.returns(graph.op("StridedSlice", [*graph.inputs, *bounds], "2x2x1xf32", **FLAGS | {"ellipsis_mask": 2}))
    x = np.arange(12).reshape(3, 2, 2)
    return differ(graph.run(x), x[1:3, :, 0:1])


@reproducer
def narrowed_broadcast() -> bool:
    graph = Graph("?xf32")
    copies = graph.op("BroadcastTo", [*graph.inputs, graph.constant([2, 3])], "2x3xf32")
    graph.returns(graph.op("Cast", [copies], "2x3xf16", Truncate=False))
    return is_refused("'tfl.broadcast_to' op operand #0", graph.lowered)


def _column(graph: Graph, number: int, element: str = "f32") -> ir.Value:
    bounds = [graph.constant([0, each]) for each in (number, number + 1)]
    flags = FLAGS | {"begin_mask": 1, "end_mask": 1}
    return graph.op("StridedSlice", [*graph.inputs, *bounds, graph.constant([1, 1])], f"?x1x{element}", **flags)


@kills
def repeated_columns() -> None:
    graph = Graph("?x3xf32")
    first = graph.op("Mul", [_column(graph, 0), graph.constant(2.0)], "?x1xf32")
    second = _column(graph, 1)
    graph.returns(graph.op("ConcatV2", [first, second, second, graph.constant(1)], "?x3xf32")).lowered()


@reproducer
def neutral_element_of_halves() -> bool:
    graph = Graph("?x3xf16")
    two = graph.constant(2, np.float16)
    doubled = [graph.op("Mul", [_column(graph, number, "f16"), two], "?x1xf16") for number in (0, 1)]
    columns = [*doubled, _column(graph, 2, "f16"), graph.constant(1)]
    graph.returns(graph.op("ConcatV2", columns, "?x3xf16"))
    return differ(graph.run(np.array([[1, 2, 3]], np.float16)), [[2, 4, 3]])


@reproducer
def neutral_element_in_front() -> bool:
    graph = Graph("?x3xf32")
    less = [graph.op("Sub", [graph.constant(9.0), _column(graph, number)], "?x1xf32") for number in (0, 1)]
    graph.returns(graph.op("ConcatV2", [*less, _column(graph, 2), graph.constant(1)], "?x3xf32"))
    return differ(graph.run([[1, 2, 3]]), [[8, 7, 3]])


@reproducer
def sign_of_known_shape() -> bool:
    graph = Graph("?x?xf32")
    graph.returns(graph.op("Sign", graph.inputs, "2x3xf32"))
    return is_refused("failed to legalize unresolved materialization", graph.lowered)


@reproducer
def quantized_to_the_range_of_the_data() -> bool:
    graph = Graph("2xf32")
    options = {"num_bits": 8, "range_given": False, "signed_input": True}
    graph.returns(graph.op("QuantizeAndDequantizeV2", [*graph.inputs, *graph.constants(0.0, 0.0)], "2xf32", **options))
    return differ(graph.run([-128, 64]), [-128, 64])


@reproducer
def quantized_with_a_zero_point() -> bool:
    graph = Graph("2xf32")
    options = {"num_bits": 8, "range_given": True, "signed_input": True}
    operands = [*graph.inputs, *graph.constants(-127.0, 127.0)]
    graph.returns(graph.op("QuantizeAndDequantizeV2", operands, "2xf32", **options))
    return differ(graph.run([-127, 64]), [-127, 64])


@reproducer
def quantized_to_few_bits() -> bool:
    graph = Graph("4xf32")
    graph.returns(graph.op("FakeQuantWithMinMaxArgs", graph.inputs, "4xf32", min=0.0, max=7.0, num_bits=3))
    return differ(graph.run([0, 1.4, 2.6, 7]), [0, 1, 3, 7])


@reproducer
def quantized_to_many_bits() -> bool:
    graph = Graph("2xf32")
    graph.returns(graph.op("FakeQuantWithMinMaxArgs", graph.inputs, "2xf32", min=0.0, max=1.0, num_bits=16))
    return is_refused("(QUANTIZE) failed to prepare", graph.run, [0, 1])


@reproducer
def quantized_bias() -> bool:
    graph = Graph("?x3xf32")
    bias = graph.constant([0.1, 0.2, 0.3])
    quantized = graph.op("FakeQuantWithMinMaxArgs", [bias], "3xf32", min=0.0, max=255.0, num_bits=8)
    options = {"transpose_a": False, "transpose_b": False}
    product = graph.op("MatMul", [*graph.inputs, graph.constant(np.eye(3))], "?x3xf32", **options)
    graph.returns(graph.op("BiasAdd", [product, quantized], "?x3xf32", data_format="NHWC"))
    return differ(graph.run([[1, 1, 1]]), [[1, 1, 1]])


@reproducer
def angles_of_a_broadcast() -> bool:
    graph = Graph("?x2xf32", "2xf32")
    graph.returns(graph.op("Atan2", graph.inputs, "?x2xf32"))
    return is_refused("'tfl.atan2' op requires the same type", graph.lowered)


@reproducer
def bits_of_complex_numbers() -> bool:
    graph = Graph("2xcomplex<f32>")
    graph.returns(graph.op("Bitcast", graph.inputs, "2x2xf32"))
    return "tf.Bitcast" in text(graph.lowered())


@kills
def broadcast_of_complex_numbers() -> None:
    graph = Graph("2xcomplex<f32>")
    wide = graph.op("BroadcastTo", [*graph.inputs, graph.constant([1, 2])], "1x2xcomplex<f32>")
    graph.returns(graph.op("Real", [wide], "1x2xf32"))
    graph.lowered()


@reproducer
def convolution_of_open_channels() -> bool:
    graph = Graph("1x4x4x?xf32")
    options = {"strides": [1] * 4, "padding": "SAME", "dilations": [1] * 4, "data_format": "NHWC"}
    filters = graph.constant(np.ones((1, 1, 2, 3)))
    graph.returns(graph.op("Conv2D", [*graph.inputs, filters], "1x4x4x3xf32", **options, explicit_paddings=[]))
    return "tf.Conv2D" in text(graph.lowered())


@reproducer
def permuted_sizes() -> bool:
    graph = Graph("?x3x?x?xf32", "4xi32")
    images, sizes = graph.inputs
    options = {"strides": [1] * 4, "padding": "SAME", "dilations": [1] * 4, "data_format": "NCHW"}
    operands = [sizes, graph.constant(np.ones((1, 1, 3, 3))), images]
    graph.returns(graph.op("Conv2DBackpropInput", operands, "?x3x?x?xf32", **options, explicit_paddings=[]))
    return "tf.DataFormatVecPermute" in text(graph.lowered())


def _of_blocks(size: int, paddings: tuple[int, int], stride: int) -> Graph:
    """A convolution of the 2 by 2 blocks of an image."""
    graph = Graph("1x8x8x1xf32")
    blocks, nothing = graph.constant([2, 2]), graph.constant([[0, 0], [0, 0]])
    inner = (8 + sum(paddings)) // 2
    outer = (inner - size) // stride + 1
    moved = graph.op(
        "SpaceToBatchND", [*graph.inputs, blocks, graph.constant([paddings] * 2)], f"4x{inner}x{inner}x1xf32"
    )
    options = {"strides": [1, stride, stride, 1], "padding": "VALID", "dilations": [1] * 4, "data_format": "NHWC"}
    filters = graph.constant(np.ones((size, size, 1, 1)))
    filtered = graph.op("Conv2D", [moved, filters], f"4x{outer}x{outer}x1xf32", **options, explicit_paddings=[])
    whole = f"1x{2 * outer}x{2 * outer}x1xf32"
    return graph.returns(graph.op("BatchToSpaceND", [filtered, blocks, nothing], whole))


@reproducer
def paddings_of_a_dilated_convolution() -> bool:
    """Two before, none after: each element and those two before it."""
    image = np.pad(_IMAGE, [(0, 0), (2, 0), (2, 0), (0, 0)])
    expected = image[:, 2:, 2:] + image[:, :-2, 2:] + image[:, 2:, :-2] + image[:, :-2, :-2]
    return differ(_of_blocks(2, (2, 0), 1).run(_IMAGE), expected)


@reproducer
def strides_of_a_dilated_convolution() -> bool:
    places = [0, 1, 4, 5]  # of every block, the first of every two in it
    return differ(_of_blocks(1, (0, 0), 2).run(_IMAGE), _IMAGE[:, places][:, :, places])


@reproducer
def padded_suppression() -> bool:
    graph = Graph("3x4xf32", "3xf32")
    operands = [*graph.inputs, *graph.constants(3, 0.5, 0.0)]
    graph.returns(graph.op("NonMaxSuppressionV3", operands, "?xi32"))
    return differ(graph.run(_BOXES, [0.9, 0.8, 0.7]), [0, 2])


@reproducer
def slice_at_int64_positions() -> bool:
    graph = Graph("5xf32", "1xi64")
    graph.returns(graph.op("Slice", [*graph.inputs, graph.constant([2], np.int64)], "2xf32"))
    return "tensor<1xi64>, tensor<1xi32>" in text(graph.lowered())


@kills
def gradient_of_half_sigmoid() -> None:
    graph = Graph("?xf16", "?xf16")
    graph.returns(graph.op("SigmoidGrad", graph.inputs, "?xf16")).lowered()


@reproducer
def half_sum_of_squares() -> bool:
    graph = Graph("4xf16")
    graph.returns(graph.op("L2Loss", graph.inputs, "f16"))
    return differ(graph.run([1, 2, 3, 4]), 15)


@reproducer
def half_softsign() -> bool:
    graph = Graph("2xf16")
    graph.returns(graph.op("Softsign", graph.inputs, "2xf16"))
    return is_refused("non-broadcastable operands: 'tensor<2xf16>' and 'tensor<f32>'", graph.lowered)


@reproducer
def half_factors() -> bool:
    graph = Graph("?x2xf16", "2x3xf16")
    graph.returns(graph.op("MatMul", graph.inputs, "?x3xf16", transpose_a=False, transpose_b=False))
    return is_refused("(FULLY_CONNECTED) failed to prepare", graph.run, [[1, 1]], np.ones((2, 3)))


@reproducer
def unsigned_additions() -> bool:
    graph = Graph("?xui32", "?x1xi32", "?xui32")
    graph.returns(graph.op("TensorScatterAdd", graph.inputs, "?xui32"))
    return is_refused("'tf.Add' op operand #0 must be", graph.lowered)


@reproducer
def unsigned_ones() -> bool:
    graph = Graph("3xui8")
    graph.returns(graph.op("OnesLike", graph.inputs, "3xui8"))
    return is_refused("integer return type must be signless", graph.lowered)


@reproducer
def unsigned_band() -> bool:
    graph = Graph("3x3xui32")
    graph.returns(graph.op("MatrixBandPart", [*graph.inputs, *graph.constants(0, 1)], "3x3xui32"))
    return is_refused("integer return type must be signless", graph.lowered)


@reproducer
def unranked_padding() -> bool:
    graph = Graph("1x4x4x2xf32")
    options = {"strides": [1] * 4, "padding": "EXPLICIT", "dilations": [1] * 4, "data_format": "NHWC"}
    operands = [*graph.inputs, graph.constant(np.ones((2, 2, 2, 3)))]
    graph.returns(graph.op("Conv2D", operands, "1x5x5x3xf32", **options, explicit_paddings=[0, 0, 1, 1, 1, 1, 0, 0]))
    return '"tfl.pad"' in text(graph.lowered()) and "-> tensor<*xf32>" in text(graph)


@reproducer
def operand_of_unknown_rank() -> bool:
    graph = Graph("*xf32")
    options = {"strides": [1] * 4, "padding": "SAME", "dilations": [1] * 4, "data_format": "NHWC"}
    operands = [*graph.inputs, graph.constant(np.ones((1, 1, 1, 1)))]
    graph.returns(graph.op("Conv2D", operands, "?x?x?x1xf32", **options, explicit_paddings=[]))
    return "tf.Conv2D" in text(graph.lowered())


@reproducer
def shape_assertions() -> bool:
    graph = Graph("?xf32")
    shape = ir.Attribute.parse("#tf_type.shape<2>")
    graph.returns(graph.op("EnsureShape", graph.inputs, "2xf32", shape=shape))
    return "tf.EnsureShape" in text(graph.lowered())
