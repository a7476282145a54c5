"""LiteRT's own kernels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.ir.engine.faults.graph import FLAGS, NONE, Graph, WrittenGraph, int32, run
from tests.ir.engine.faults.reproducer import differ, is_refused, kills, reproducer


def _slice_flags(**masks: int) -> dict[str, Any]:
    return {name: int32(number) for name, number in (FLAGS | masks).items()} | {"offset": False}


@reproducer
def masked_place() -> bool:
    graph = WrittenGraph("3xf32")
    operands = [*graph.inputs, *graph.constants([2], [3], [1])]
    graph.returns(graph.op("tfl.strided_slice", operands, "f32", **_slice_flags(begin_mask=1, shrink_axis_mask=1)))
    return differ(graph.run([1, 2, 3], xnnpack=False), 3)


@kills
def equality_of_bytes() -> None:
    graph = WrittenGraph("?xui8", "?xui8")
    graph.returns(graph.op("tfl.equal", graph.inputs, "?xi1")).run([1], [1])


@reproducer
def division_by_zero() -> bool:
    graph = WrittenGraph("?xf32", "?xf32")
    graph.returns(graph.op("tfl.floor_div", graph.inputs, "?xf32"))
    return is_refused("Division by 0", graph.run, [1], [0])


@kills
def remainder_of_the_smallest() -> None:
    graph = WrittenGraph("?xi32", "?xi32")
    graph.returns(graph.op("tfl.floor_mod", graph.inputs, "?xi32")).run([-(2**31)], [-1])


@reproducer
def mean_of_bytes() -> bool:
    graph = WrittenGraph("4xui8")
    graph.returns(graph.op("tfl.mean", [*graph.inputs, graph.constant([0])], "ui8", keep_dims=False))
    return differ(graph.run([200] * 4), 200)


@kills
def reversal_of_nothing() -> None:
    graph = WrittenGraph("?xf32")
    model = graph.returns(graph.op("tfl.reverse_v2", [*graph.inputs, graph.constant([], np.int32)], "?xf32")).model()
    for size in range(1, 100):  # what it reads behind the axes is something else each time
        run(model, np.ones(size))


@reproducer
def reversal_of_dimensions_apart() -> bool:
    graph = WrittenGraph("?x2x2xf32")
    graph.returns(graph.op("tfl.reverse_v2", [*graph.inputs, graph.constant([0, 2])], "?x2x2xf32"))
    return is_refused("Non-contiguous `axes` not supported", graph.run, np.zeros((2, 2, 2)))


@reproducer
def segment_without_elements() -> bool:
    graph = WrittenGraph("?xf32", "?xi32")
    graph.returns(graph.op("tfl.segment_sum", graph.inputs, "?xf32"))
    return is_refused("(SEGMENT_SUM) failed to invoke", graph.run, [1, 2], [0, 2])


def _transform(size: int) -> Graph:
    graph = WrittenGraph(f"1x1x{size}xf32")
    graph.returns(
        graph.op("tfl.rfft2d", [*graph.inputs, graph.constant([1, size])], f"1x1x{size // 2 + 1}xcomplex<f32>")
    )
    return graph


@reproducer
def transform_of_other_lengths() -> bool:
    return is_refused("IsPowerOfTwo", _transform(6).run, np.ones((1, 1, 6)))


@reproducer
def transform_of_one() -> bool:
    return differ(_transform(1).run([[[2]]]), [[[2]]])


@reproducer
def extreme_of_nothing() -> bool:
    graph = WrittenGraph("?x0xf32")
    graph.returns(graph.op("tfl.reduce_max", [*graph.inputs, graph.constant([1])], "?xf32", keep_dims=False))
    return differ(graph.run(np.zeros((2, 0)), xnnpack=False), [-math.inf] * 2)


@reproducer
def product_over_nothing() -> bool:
    graph = WrittenGraph("2x0xf32")
    operands = [*graph.inputs, graph.constant(np.zeros((3, 0), np.float32)), graph.constant([1.0, 2.0, 3.0])]
    options = {"keep_num_dims": False, "weights_format": "DEFAULT"}
    graph.returns(graph.op("tfl.fully_connected", operands, "2x3xf32", **NONE, **options))
    return differ(graph.run(np.zeros((2, 0)), xnnpack=False), [[1, 2, 3]] * 2)


@reproducer
def volumes_in_groups() -> bool:
    """The engine writes them all the same."""
    graph = Graph("?x2x2x2x2xf32")
    options = {"strides": [1] * 5, "dilations": [1] * 5, "padding": "SAME", "data_format": "NDHWC"}
    filters = graph.constant(np.ones((1, 1, 1, 1, 2)))
    graph.returns(graph.op("Conv3D", [*graph.inputs, filters], "?x2x2x2x2xf32", **options))
    return is_refused("(CONV_3D) failed to prepare", graph.run, np.ones((1, 2, 2, 2, 2)))


@reproducer
def blocks_of_some_dimensions() -> bool:
    """The engine writes them all the same."""
    graph = Graph("4x6x2x1xf32")
    operands = [*graph.inputs, graph.constant([2]), graph.constant([[0, 0]])]
    graph.returns(graph.op("SpaceToBatchND", operands, "8x3x2x1xf32"))
    return is_refused("(SPACE_TO_BATCH_ND) failed to prepare", graph.run, np.ones((4, 6, 2, 1)))


@reproducer
def quantized_to_a_narrow_range() -> bool:
    graph = Graph("2xf32")
    options = {"min": -127.0, "max": 127.0, "num_bits": 8, "narrow_range": True}
    graph.returns(graph.op("FakeQuantWithMinMaxArgs", graph.inputs, "2xf32", **options))
    return differ(graph.run([-130, 1], xnnpack=False), [-127, 1])


def _suppression(iou: float, *sigma: float, count: int = 3) -> Graph:
    """Of some boxes, all of them."""
    graph = WrittenGraph(f"{count}x4xf32", f"{count}xf32")
    operands = [*graph.inputs, *graph.constants(count, iou, 0.0, *sigma)]
    kinds = [f"{count}xi32", *[f"{count}xf32" for _ in sigma], "i32"]
    name = "v5" if sigma else "v4"
    return graph.returns(graph.ops(f"tfl.non_max_suppression_{name}", operands, kinds)[0])


@reproducer
def suppression_of_empty_boxes() -> bool:
    return differ(_suppression(0.5).run([[1, 1, 1, 1], [0, 0, 1, 1], [0, 2, 1, 3]], [0.9, 0.8, 0.7]), [0, 1, 2])


@reproducer
def suppression_at_the_threshold() -> bool:
    return differ(_suppression(0.5).run([[0, 0, 1, 1], [0, 0, 1, 2], [2, 0, 3, 1]], [0.9, 0.8, 0.7]), [0, 1, 2])


@reproducer
def suppression_of_equal_scores() -> bool:
    boxes = [[2 * index, 0, 2 * index + 1, 1] for index in range(9)]
    return differ(_suppression(0.5, count=9).run(boxes, [0.5] * 9), range(9))


@reproducer
def suppression_by_decay() -> bool:
    return differ(_suppression(1.0, 0.5).run([[0, 0, 1, 1]] * 3, [0.9, 0.8, 0.7]), [0, 1, 2])
