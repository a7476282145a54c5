"""Cases of gradients of convolutions, poolings and resizings."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.op_suite.arrays import i32
from tests.tensorflow.op_suite.case import Case, Tensor, integers
from tests.tensorflow.op_suite.networks import weight

F32 = "float32"


def _convolutions() -> list[Case]:
    cases: list[Case] = []
    for stride, padding, size, after in ((1, "SAME", 6, 6), (2, "SAME", 7, 4), (1, "VALID", 6, 4), (2, "VALID", 8, 3)):
        attributes = {"strides": [1, stride, stride, 1], "padding": padding}
        for depth, multiplier in ((2, 1), (3, 2)):
            gradient = Tensor(F32, (None, after, after, depth * multiplier))
            image, shape = Tensor(F32, (None, size, size, depth)), i32(3, 3, depth, multiplier)
            cases += [
                Case("DepthwiseConv2dNativeBackpropFilter", [image, shape, gradient], attributes),
                Case(
                    "DepthwiseConv2dNativeBackpropInput",
                    [i32(2, size, size, depth), weight(3, 3, depth, multiplier), Tensor(F32, (2, *gradient.shape[1:]))],
                    attributes,
                ),
            ]
    filters = Tensor(F32, (3, 3, 2, 1))
    cases += [
        Case(
            "DepthwiseConv2dNativeBackpropInput",
            [i32(2, 5, 5, 2), filters, Tensor(F32, (2, 5, 5, 2))],
            {"strides": [1, 1, 1, 1], "padding": "SAME"},
        ),
        Case(
            "Conv3DBackpropFilterV2",
            [Tensor(F32, (None, 4, 5, 6, 2)), i32(2, 3, 2, 2, 3), Tensor(F32, (None, 3, 3, 5, 3))],
            {"strides": [1, 1, 1, 1, 1], "padding": "VALID"},
        ),
        Case(
            "Conv3DBackpropFilterV2",
            [Tensor(F32, (2, 4, 5, 6, 2)), i32(2, 2, 2, 2, 3), Tensor(F32, (2, 2, 3, 3, 3))],
            {"strides": [1, 2, 2, 2, 1], "padding": "SAME"},
        ),
    ]
    return cases


def _poolings() -> list[Case]:
    cases: list[Case] = []
    few = integers(0, 3)  # equal values in a window
    for padding, windows in (("VALID", (2, 2, 3)), ("SAME", (2, 3, 3))):
        attributes = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": padding}
        gradient, pooled = Tensor(F32, (None, *windows, 2)), Tensor(F32, (None, *windows, 2), few)
        cases += [
            Case("MaxPool3DGrad", [Tensor(F32, (None, 4, 5, 6, 2), few), pooled, gradient], attributes),
            Case("AvgPool3DGrad", [i32(2, 4, 5, 6, 2), Tensor(F32, (2, *windows, 2))], attributes),
        ]
    overlapping = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 1, 1], "padding": "VALID"}
    return [*cases, Case("AvgPool3DGrad", [i32(2, 2, 3, 3, 1), Tensor(F32, (2, 1, 2, 2, 1))], overlapping)]


def _resizings() -> list[Case]:
    cases: list[Case] = []
    for corners, centers in ((False, False), (True, False), (False, True)):
        attributes = {"align_corners": corners, "half_pixel_centers": centers}
        for rows, columns in ((8, 9), (3, 4), (4, 1)):
            gradient = Tensor(F32, (None, rows, columns, 2))
            image = Tensor(F32, (None, 4, 6, 2))
            cases += [
                Case("ResizeBilinearGrad", [gradient, image], attributes),
                Case("ResizeBicubicGrad", [gradient, image], attributes),
                Case("ResizeNearestNeighborGrad", [gradient, i32(4, 6)], attributes),
            ]
        gradient, image = Tensor(F32, (2, None, 9, 2)), Tensor(F32, (2, 6, None, 2))
        open_sizes = (1, 4, 11)
        cases += [
            Case("ResizeBilinearGrad", [gradient, image], attributes, open_sizes),
            Case("ResizeBicubicGrad", [gradient, image], attributes, open_sizes),
            Case("ResizeNearestNeighborGrad", [gradient, i32(4, 6)], attributes, open_sizes),
        ]
    return cases


def _shapes() -> list[Case]:
    shapes = [Tensor("int32", (3,), lambda random, _: np.array([2, random.integers(1, 5), 3])) for _ in range(3)]
    return [
        Case("ConcatOffset", [np.array(1, np.int32), shapes]),
        Case("ConcatOffset", [np.array(-1, np.int32), [i32(2, 3), i32(2, 1)]]),
    ]


CASES = (*_convolutions(), *_poolings(), *_resizings(), *_shapes())
"""Every case."""
