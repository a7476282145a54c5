"""Cases of reductions, products, convolutions, poolings, images and linear algebra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.tensorflow.op_suite.arrays import i32, scalar
from tests.tensorflow.op_suite.case import Array, Case, Tensor, floats, integers, one_of

F32, I32, I64 = "float32", "int32", "int64"
_SIZES = Tensor(I32, (2,), integers(1, 20))


def weight(*shape: int) -> Array:
    """A constant weight."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def _corners(random: np.random.Generator, shape: Sequence[int]) -> Array:
    """Boxes: two corners, the smaller first."""
    return np.sort(random.uniform(0, 1, (*shape[:-1], 2, 2)), -2).reshape(shape)


def _transforms(random: np.random.Generator, shape: Sequence[int]) -> Array:
    """Projective transformations that are not far from none."""
    spread = np.array([0.4, 0.4, 4.0, 0.4, 0.4, 4.0, 0.02, 0.02])
    return np.array([1.0, 0, 0, 0, 1, 0, 0, 0]) + spread * random.standard_normal(shape)


def _probabilities(random: np.random.Generator, shape: Sequence[int]) -> Array:
    return random.dirichlet(np.ones(shape[-1]), tuple(shape[:-1]))


def _reductions() -> list[Case]:
    cases: list[Case] = []
    for op in ("Sum", "Mean", "Prod", "Max", "Min"):
        for keep in (False, True):
            cases.append(Case(op, [Tensor(F32, (None, 3, 4)), i32(1, 2)], {"keep_dims": keep}))
            cases.append(Case(op, [Tensor(F32, (None, 3, 4)), scalar(-1)], {"keep_dims": keep}))
        cases += [Case(op, [Tensor(F32, (2, 3)), i32(0, 1)]), Case(op, [Tensor(F32, (None, 3)), i32([])])]
        cases += [Case(op, [Tensor(F32, (2, 2, 3, 2, 2)), i32(1, 3)]), Case(op, [Tensor(F32, (None, 0)), scalar(1)])]
        cases += [
            Case(op, [Tensor(dtype, (None, 5)), scalar(1)])
            for dtype in ("float16", "int8", "int16", I32, I64, "uint8")
            if (op, dtype) not in (("Mean", "int8"), ("Mean", "int16"), ("Sum", "int8"), ("Sum", "int16"))
        ]
    for op in ("All", "Any"):
        cases += [Case(op, [Tensor("bool", (None, 3, 2)), i32(1)], {"keep_dims": keep}) for keep in (False, True)]
        cases += [Case(op, [Tensor("bool", (4, 3)), i32(0, 1)])]
    cases += [Case("EuclideanNorm", [Tensor(F32, (None, 4)), scalar(1)]), Case("L2Loss", [Tensor(F32, (2, 3))])]
    for op in ("Softmax", "LogSoftmax"):
        cases += [Case(op, [Tensor(F32, shape)]) for shape in ((None, 5), (4,), (2, None, 3), (1, 2, 3, 2, 4))]
    return cases


def _many_dimensions() -> list[Case]:
    many = Tensor(F32, (None, 2, 1, 3, 1, 2, 2))
    cases = [
        Case(op, [many, axes], {"keep_dims": keep})
        for op in ("Sum", "Mean", "Prod", "Max", "Min")
        for axes, keep in (
            (i32(1, 3), False),
            (i32(0, 2, 4), True),
            (scalar(-1), False),
            (i32(0, 1, 2, 3, 4, 5, 6), False),
        )
    ]
    left, right = (None, 2, 1, 3, 2, 3), (None, 2, 4, 1, 3, 2)
    return [
        *cases,
        Case("All", [Tensor("bool", (None, 2, 1, 2, 1, 2, 1)), i32(1, 3)]),
        Case("Sum", [Tensor(F32, (1, 2, 1, 2, 1, 3, 1, 2, 1, 2)), i32(1, 3, 6, 7)]),
        Case("BatchMatMulV2", [Tensor(F32, left), Tensor(F32, right)]),
        Case("BatchMatMulV2", [Tensor(F32, left), weight(3, 1, 2, 3)], {"adj_y": True}),
        Case("BatchMatMulV2", [Tensor(F32, (2, 1, 2, 2, 1, 3, 2)), Tensor(F32, (2, 2, 1, 3, 1))], {"adj_x": True}),
    ]


def _products() -> list[Case]:
    cases: list[Case] = []
    for a in (False, True):
        for b in (False, True):
            left, right = ((4, None) if a else (None, 4)), ((3, 4) if b else (4, 3))
            cases.append(Case("MatMul", [Tensor(F32, left), Tensor(F32, right)], {"transpose_a": a, "transpose_b": b}))
            cases.append(Case("MatMul", [Tensor(F32, left), weight(*right)], {"transpose_a": a, "transpose_b": b}))
            left, right = ((None, 4, 2) if a else (None, 2, 4)), ((3, 4) if b else (4, 3))
            for op in ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"):
                operands = [Tensor(F32, left), Tensor(F32, (None, *right))]
                extra: dict[str, Any] = {"Tout": F32} if op == "BatchMatMulV3" else {}
                cases.append(Case(op, list(operands), {"adj_x": a, "adj_y": b} | extra))
    cases += [
        Case("MatMul", [Tensor(I32, (None, 4)), Tensor(I32, (4, 3))]),
        Case("MatMul", [Tensor("float16", (None, 4)), Tensor("float16", (4, 3))]),
        Case("BatchMatMulV2", [Tensor(F32, (2, 1, 2, 4)), Tensor(F32, (3, 4, 2))]),
        Case("BatchMatMulV2", [Tensor(F32, (None, 2, 4)), weight(4, 3)]),
        Case("BatchMatMulV2", [Tensor(F32, (2, 1, 2, 2, 4)), Tensor(F32, (1, 2, 1, 4, 3))]),
        Case("BatchMatMulV2", [Tensor(I32, (2, 2, 4)), Tensor(I32, (2, 4, 2))]),
    ]
    for equation, shapes in {
        "ab,bc->ac": [(None, 4), (4, 3)],
        "abc,cd->abd": [(None, 2, 4), (4, 3)],
        "abc,cde->abde": [(None, 2, 4), (4, 3, 2)],
        "bqhd,bkhd->bhqk": [(None, 3, 2, 4), (None, 5, 2, 4)],
        "bhqk,bkhd->bqhd": [(None, 2, 3, 5), (None, 5, 2, 4)],
        "abc->ca": [(2, 3, 4)],
        "ab->ba": [(None, 3)],
        "ab,ab->": [(2, 3), (2, 3)],
        "a,b->ab": [(3,), (4,)],
        "bij,bkl->bijkl": [(None, 2, 3), (None, 4, 2)],
        "ij,j->ij": [(None, 3), (3,)],
        "ii->i": [(3, 3)],
        "abc,ca->b": [(2, 3, 4), (4, 2)],
        "adb,db->a": [(2, None, 4), (None, 4)],
        "a,ad->d": [(3,), (3, 4)],
        "...ab,...bc->...ac": [(2, 3, 4), (2, 4, 2)],
    }.items():
        cases.append(Case("Einsum", [[Tensor(F32, shape) for shape in shapes]], {"equation": equation}))
    return cases


_PADDINGS = "explicit_paddings"


def _convolutions() -> list[Case]:
    image = Tensor(F32, (None, 7, 6, 4))
    cases: list[Case] = []
    for padding in ("SAME", "VALID"):
        for stride, rate in ((1, 1), (2, 1), (1, 2)):
            attributes = {"strides": [1, stride, stride, 1], "dilations": [1, rate, rate, 1], "padding": padding}
            cases.append(Case("Conv2D", [image, weight(3, 2, 4, 5)], attributes))
            if rate == 1:  # TensorFlow's kernels on CPUs know no others
                cases.append(Case("DepthwiseConv2dNative", [image, weight(3, 3, 4, 2)], attributes))
        strides = {"strides": [1, 2, 2, 1], "padding": padding}
        # The size before a convolution of stride 2 that gives 7 by 6.
        height, width = (14, 12) if padding == "SAME" else (15, 13)
        sizes = i32(2, height, width, 5)
        cases.append(Case("Conv2DBackpropInput", [sizes, weight(3, 3, 5, 4), Tensor(F32, (2, 7, 6, 4))], strides))
        volume = {"strides": [1, 1, 2, 1, 1], "padding": padding}
        cases.append(Case("Conv3D", [Tensor(F32, (None, 4, 5, 6, 2)), weight(2, 3, 2, 2, 3)], volume))
        for op in ("MaxPool", "AvgPool"):
            for size, stride in ((2, 2), (3, 1), (3, 2)):
                attributes = {"ksize": [1, size, size, 1], "strides": [1, stride, stride, 1], "padding": padding}
                cases.append(Case(op, [image], attributes))
        for dtype in ("int32", "int64", "int8", "uint8"):
            attributes = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "padding": padding}
            cases.append(Case("MaxPool", [Tensor(dtype, (None, 7, 6, 4))], attributes))
        for op in ("MaxPool3D", "AvgPool3D"):
            attributes = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": padding}
            cases.append(Case(op, [Tensor(F32, (None, 4, 5, 6, 2))], attributes))
        pool = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": padding}
        cases.append(Case("MaxPoolWithArgmax", [image], pool))
        cases.append(Case("MaxPoolV2", [image, i32(1, 2, 2, 1), i32(1, 2, 2, 1)], {"padding": padding}))
        dilation = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": padding}
        cases.append(Case("Dilation2D", [image, weight(2, 2, 4)], dilation))
    one = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    pools = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "EXPLICIT"}
    cases += [
        Case("MaxPool", [image], pools | {_PADDINGS: [0, 0, 1, 0, 1, 2, 0, 0]}),
        Case("MaxPool", [Tensor(F32, (None, None, 6, 4))], pools | {_PADDINGS: [0, 0, 0, 2, 1, 1, 0, 0]}),
    ]
    explicit = {"strides": [1, 1, 1, 1], "padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}
    cases += [
        Case("Conv2D", [image, Tensor(F32, (3, 2, 4, 5))], one),
        Case("Conv2D", [image, weight(2, 2, 2, 6)], one),
        Case("Conv2D", [Tensor(F32, (None, None, None, 3)), weight(2, 2, 3, 2)], one, open_sizes=(4, 6)),
        Case("Conv2D", [image, weight(3, 3, 4, 2)], explicit),
        Case("Conv3D", [Tensor(F32, (2, 4, 5, 6, 2)), weight(1, 1, 1, 2, 3)], {"strides": [1] * 5, "padding": "SAME"}),
        Case(
            "Conv3DBackpropInputV2",
            [i32(2, 4, 6, 6, 3), weight(2, 2, 2, 3, 2), Tensor(F32, (2, 2, 3, 3, 2))],
            {"strides": [1, 2, 2, 2, 1], "padding": "SAME"},
        ),
        Case("BiasAdd", [Tensor(F32, (None, 3)), weight(3)]),
        Case("BiasAdd", [Tensor(F32, (None, 2, 2, 3)), Tensor(F32, (3,))]),
        *(
            Case("BiasAdd", [Tensor(F32, shape), weight(3)], {"data_format": "NCHW"})
            for shape in ((None, 3, 2), (None, 3, 2, 2), (None, 3, 2, None, 2))
        ),
        Case("BiasAddV1", [Tensor(F32, (None, 3)), weight(3)]),
        Case("BiasAddGrad", [Tensor(F32, (None, 2, 3))]),
        Case("LRN", [image], {"depth_radius": 2, "bias": 1.0, "alpha": 0.5, "beta": 0.5}),
    ]
    variance = np.abs(weight(4)) + np.float32(0.5)
    for op in ("FusedBatchNormV3",):
        attributes = {"is_training": False, "epsilon": 1e-3}
        cases.append(Case(op, [image, weight(4), weight(4), weight(4), variance], attributes, outputs=3))
    cases.append(Case("FusedBatchNormV3", [image, weight(4), weight(4), np.zeros(0, F32), np.zeros(0, F32)], outputs=5))
    grad = Tensor(F32, (2, 3, 3, 4))
    for training in (True, False):
        attributes = {"is_training": training, "epsilon": 1e-2}
        operands = [image, image, weight(4), weight(4), variance, np.zeros(0, F32)]
        cases.append(Case("FusedBatchNormGradV3", operands, attributes, outputs=3))
    pool = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    cases += [
        Case("MaxPoolGrad", [Tensor(F32, (2, 6, 6, 4)), grad, grad], pool),
        Case("AvgPoolGrad", [i32(2, 6, 6, 4), grad], pool),
        Case("Conv2DBackpropFilter", [Tensor(F32, (2, 5, 5, 2)), i32(3, 3, 2, 4), grad], one),
        Case(
            "Conv2DBackpropFilter",
            [Tensor(F32, (None, 9, 8, 2)), i32(3, 2, 2, 4), Tensor(F32, (None, 5, 4, 4))],
            {"strides": [1, 2, 2, 1], "padding": "SAME"},
        ),
        Case(
            "Conv2DBackpropFilter",
            [Tensor(F32, (None, 4, 9, 1)), i32(2, 5, 1, 3), Tensor(F32, (None, 3, 5, 3))],
            {"strides": [1, 1, 1, 1], "padding": "VALID"},
        ),
    ]
    few = integers(0, 4)  # equal values in a window
    for size, stride, padding, shape, windows in (
        (3, 2, "SAME", (9, 8), (5, 4)),
        (3, 2, "VALID", (10, 9), (4, 4)),
        (2, 3, "VALID", (8, 9), (3, 3)),
        (3, 1, "SAME", (4, 5), (4, 5)),
        (1, 2, "SAME", (5, 4), (3, 2)),
    ):
        pool = {"ksize": [1, size, size, 1], "strides": [1, stride, stride, 1], "padding": padding}
        grad = Tensor(F32, (None, *windows, 2))
        cases += [
            Case("MaxPoolGrad", [Tensor(F32, (None, *shape, 2), few), grad, grad], pool),
            Case("AvgPoolGrad", [i32(2, *shape, 2), Tensor(F32, (2, *windows, 2))], pool),
        ]
    return cases


def _images() -> list[Case]:
    cases: list[Case] = []
    forms = ((False, False), (True, False), (False, True))
    for op in ("ResizeBilinear", "ResizeNearestNeighbor"):
        for corners, centers in forms:
            for size in ((8, 3), (5, 12)):
                attributes = {"align_corners": corners, "half_pixel_centers": centers}
                cases.append(Case(op, [Tensor(F32, (None, 4, 6, 2)), i32(*size)], attributes))
        cases.append(Case(op, [Tensor("uint8", (None, 4, 6, 2)), i32(8, 12)], {"half_pixel_centers": False}))
        cases.append(
            Case(op, [Tensor(F32, (None, 4, 6, 2)), Tensor(I32, (2,), one_of(8))], {"half_pixel_centers": True})
        )
    cases += [
        *(Case("ResizeBilinear", [Tensor(kind, (None, 4, 6, 2)), i32(8, 5)]) for kind in ("int32", "int64")),
        Case("ResizeBicubic", [Tensor(F32, (None, 4, 6, 2)), i32(8, 5)], {"half_pixel_centers": True}),
        Case("ResizeArea", [Tensor(F32, (None, 4, 6, 2)), i32(2, 3)]),
        *(
            Case(op, [Tensor(F32, (2, None, None, 3)), i32(*size)], attributes, open_sizes=(5, 12, 2))
            for size in ((3, 7), (13, 1), (5, 24))
            for op, attributes in (
                ("ResizeArea", {}),
                ("ResizeArea", {"align_corners": True}),
                ("ResizeBicubic", {}),
                ("ResizeBicubic", {"align_corners": True}),
                ("ResizeBicubic", {"half_pixel_centers": True}),
            )
        ),
        Case("ResizeArea", [Tensor(F32, (1, 34, 3, 2)), i32(392, 3)]),
        Case("ResizeArea", [Tensor(F32, (1, None, 5, 3)), _SIZES], {}, open_sizes=(3, 8)),
        Case("ResizeBicubic", [Tensor(F32, (1, 6, 5, 3)), _SIZES], {"half_pixel_centers": True}),
        Case(
            "CropAndResize",
            [
                Tensor(F32, (2, 7, 8, 2)),
                Tensor(F32, (None, 4), floats(0, 1)),
                Tensor(I32, (None,), integers(0, 2)),
                i32(3, 4),
            ],
        ),
        *(
            Case(
                "ImageProjectiveTransformV3",
                [Tensor(F32, (None, 7, 9, 2)), Tensor(F32, (None, 8), _transforms), i32(6, 8), scalar(0.5, F32)],
                {"interpolation": method, "fill_mode": mode},
            )
            for method in ("NEAREST", "BILINEAR")
            for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST")
        ),
        Case(
            "ImageProjectiveTransformV3",
            [Tensor("uint8", (None, None, 9, 3)), Tensor(F32, (1, 8), _transforms), i32(9, 9), Tensor(F32, ())],
            {"interpolation": "NEAREST", "fill_mode": "CONSTANT"},
            open_sizes=(2, 5),
        ),
        Case(
            "ImageProjectiveTransformV3",
            [
                Tensor(F32, (3, 1, None, 1)),
                Tensor(F32, (1, 8), _transforms),
                Tensor(I32, (2,), one_of(5)),
                Tensor(F32, ()),
            ],
            {"interpolation": "BILINEAR", "fill_mode": "WRAP"},
        ),
        Case(
            "ImageProjectiveTransformV2",
            [Tensor(F32, (None, 7, 9, 2)), np.array([[1, 0, 0.5, 0, 1, -0.5, 0, 0]], np.float32), i32(7, 9)],
            {"interpolation": "NEAREST", "fill_mode": "REFLECT"},
        ),
        Case("RGBToHSV", [Tensor(F32, (None, 4, 3), floats(0, 1))]),
        Case("HSVToRGB", [Tensor(F32, (None, 4, 3), floats(0, 1))]),
        Case("AdjustContrastv2", [Tensor(F32, (None, 4, 4, 3), floats(0, 1)), scalar(1.5, F32)]),
        Case("AdjustSaturation", [Tensor(F32, (None, 4, 4, 3), floats(0, 1)), scalar(0.5, F32)]),
        Case("AdjustHue", [Tensor(F32, (None, 4, 4, 3), floats(0, 1)), scalar(0.2, F32)]),
    ]
    cases += [
        Case(
            "ScaleAndTranslate",
            [Tensor(F32, (None, 9, 7, 3)), i32(*size), np.array(scale, F32), np.array(offset, F32)],
            {"kernel_type": kind, "antialias": antialias},
        )
        for antialias in (True, False)
        for size, scale, offset, kind in (
            ((5, 4), (5 / 9, 4 / 7), (0, 0), "triangle"),
            ((14, 3), (14 / 9, 3 / 7), (0, 0), "keyscubic"),
            ((6, 11), (0.5, 1.5), (1.5, -2), "lanczos3"),
            ((4, 4), (0.4, 0.6), (0, 0), "lanczos5"),
            ((4, 9), (0.4, 1.3), (0, 0), "lanczos1"),
            ((4, 9), (0.4, 1.3), (0, 0.5), "mitchellcubic"),
            ((4, 9), (0.4, 1.3), (0, 0), "gaussian"),
            ((4, 9), (0.41, 1.3), (0, 0.1), "box"),
        )
    ]
    cases += [
        Case(
            "ScaleAndTranslate",
            [Tensor(F32, (2, None, None, 3)), sizes, Tensor(F32, (2,), floats(0.3, 2)), moved],
            {"kernel_type": kind, "antialias": antialias},
            open_sizes=(7, 2, 16),
        )
        for antialias in (True, False)
        for kind in ("box", "gaussian", "keyscubic", "lanczos1", "lanczos3", "lanczos5", "mitchellcubic", "triangle")
        for sizes, moved in ((i32(6, 11), np.zeros(2, F32)), (_SIZES, Tensor(F32, (2,), floats(-1, 1))))
    ]
    boxes, scores = Tensor(F32, (9, 4), _corners), Tensor(F32, (9,), floats(0, 1))
    some_boxes, their_scores = Tensor(F32, (None, 4), _corners), Tensor(F32, (None,), floats(0, 1))
    cases += [
        Case(name, [some_boxes, their_scores, scalar(20), scalar(0.5, F32), scalar(-1.0, F32), *others])
        for name, others in (
            ("NonMaxSuppressionV3", []),
            ("NonMaxSuppressionV4", []),
            ("NonMaxSuppressionV5", [scalar(0.0, F32)]),
            ("NonMaxSuppressionV5", [scalar(0.3, F32)]),
        )
    ]
    cases += [
        Case("NonMaxSuppression", [boxes, scores, scalar(4)], {"iou_threshold": 0.5}),
        Case("NonMaxSuppressionV2", [boxes, scores, scalar(4), scalar(0.5, F32)]),
        Case("NonMaxSuppressionV3", [boxes, scores, scalar(4), scalar(0.5, F32), scalar(0.2, F32)]),
        Case(
            "NonMaxSuppressionV4",
            [boxes, scores, scalar(4), scalar(0.5, F32), scalar(0.2, F32)],
            {"pad_to_max_output_size": True},
        ),
        Case(
            "NonMaxSuppressionV4",
            [boxes, scores, scalar(4), scalar(0.5, F32), scalar(0.2, F32)],
            {"pad_to_max_output_size": False},
        ),
        Case(
            "NonMaxSuppressionV5",
            [boxes, scores, scalar(4), scalar(0.5, F32), scalar(0.2, F32), scalar(0.3, F32)],
            {"pad_to_max_output_size": True},
        ),
        *(
            Case(
                "CombinedNonMaxSuppression",
                [
                    Tensor(F32, (batch, places, boxes, 4), _corners),
                    Tensor(F32, (batch, places, classes), floats(0, 1)),
                    *(scalar(per_class), scalar(total), scalar(0.5, F32), scalar(0.2, F32)),
                ],
                {"pad_per_class": True, "clip_boxes": False} if batch == 2 else {},
            )
            for batch, places, boxes, classes, per_class, total in (
                (1, 9, 1, 2, 3, 4),
                (2, 9, 1, 3, 4, 20),
                (2, 9, 3, 3, 4, 5),
                (None, 12, 3, 3, 2, 10),
                (None, None, 1, 4, 5, 6),
            )
        ),
    ]
    quantized = Tensor(F32, (None, 6), floats(-8, 8))
    low, high = np.array([-4, -1.5, 0], F32), np.array([5, 0, 3], F32)
    cases += [
        Case("FakeQuantWithMinMaxArgs", [quantized], {"min": -4.0, "max": 5.0}),
        Case("FakeQuantWithMinMaxVars", [quantized, scalar(-4, F32), scalar(5, F32)], {"num_bits": 8}),
        Case("FakeQuantWithMinMaxArgs", [quantized], {"min": -4.0, "max": 5.0, "num_bits": 5}),
        Case("FakeQuantWithMinMaxArgs", [quantized], {"min": 0.0, "max": 5.0, "num_bits": 16, "narrow_range": True}),
        Case("FakeQuantWithMinMaxVars", [quantized, scalar(-4, F32), scalar(5, F32)], {"num_bits": 4}),
        Case("FakeQuantWithMinMaxVars", [quantized, Tensor(F32, (), floats(-5, -1)), Tensor(F32, (), floats(1, 5))]),
        *(
            Case("FakeQuantWithMinMaxVarsPerChannel", [Tensor(F32, (None, 3), floats(-8, 8)), low, high], attributes)
            for attributes in ({}, {"num_bits": 4, "narrow_range": True})
        ),
        Case(
            "QuantizeAndDequantizeV2",
            [quantized, scalar(-4, F32), scalar(4, F32)],
            {"range_given": True, "num_bits": 8},
        ),
    ]
    return cases


def _losses_and_transforms() -> list[Case]:
    real = Tensor(F32, (None, 8))
    z = Tensor("complex64", (None, 8))
    return [
        Case("SoftmaxCrossEntropyWithLogits", [Tensor(F32, (None, 5)), Tensor(F32, (None, 5), _probabilities)]),
        Case("SparseSoftmaxCrossEntropyWithLogits", [Tensor(F32, (None, 5)), Tensor(I32, (None,), integers(0, 5))]),
        Case("SparseSoftmaxCrossEntropyWithLogits", [Tensor(F32, (None, 5)), Tensor(I64, (None,), integers(0, 5))]),
        Case("Cross", [Tensor(F32, (None, 3)), Tensor(F32, (None, 3))]),
        Case("Cross", [Tensor(I32, (None, 2, 3)), Tensor(I32, (None, 2, 3))]),
        Case("FFT", [z]),
        Case("IFFT", [z]),
        Case("FFT2D", [Tensor("complex64", (None, 4, 6))]),
        Case("IFFT2D", [Tensor("complex64", (None, 4, 6))]),
        *(Case(op, [Tensor("complex64", (2, None))], open_sizes=(1, 6, 300)) for op in ("FFT", "IFFT")),
        *(Case(op, [Tensor("complex64", (None, None, 6))], open_sizes=(1, 5)) for op in ("FFT2D", "IFFT2D")),
        Case("RFFT", [real, i32(8)]),
        Case("RFFT", [real, i32(4)]),
        Case("RFFT", [real, i32(6)]),
        Case("RFFT", [Tensor(F32, (None, 3, 13)), i32(11)]),
        Case("IRFFT", [Tensor("complex64", (None, 5)), i32(8)]),
        Case("RFFT2D", [Tensor(F32, (None, 4, 8)), i32(4, 8)]),
        Case("RFFT2D", [Tensor(F32, (None, 6, 8)), i32(5, 6)]),
        Case("IRFFT", [Tensor("complex64", (None, 2, 5)), i32(7)]),
        Case("IRFFT2D", [Tensor("complex64", (None, 4, 5)), i32(3, 7)]),
        Case("IRFFT2D", [Tensor("complex64", (None, 4, 5)), i32(4, 8)]),
        *(
            Case(op, operands, attributes)
            for rows in (None, 2)
            for y in [Tensor("complex64", (rows, 3))]
            for op, operands, attributes in (
                ("MatMul", [y, Tensor("complex64", (3, 2))], {}),
                ("BatchMatMulV2", [Tensor("complex64", (rows, 2, 3)), Tensor("complex64", (3, 2))], {}),
                ("Transpose", [y, i32(1, 0)], {}),
                ("Pack", [[y, y]], {"axis": 1}),
                ("ConcatV2", [[y, y], scalar(0)], {}),
                ("Sqrt", [y], {}),
                ("Log", [y], {}),
                ("Mean", [y, i32(1)], {}),
                ("Complex", [Tensor(F32, (rows, 3)), Tensor(F32, (rows, 3))], {"Tout": "complex64"}),
                ("FFT", [Tensor("complex64", (rows, 4))], {}),
            )
        ),
        *(
            Case(op, [Tensor("complex64", (rows, 3))])
            for rows in (None, 2)
            for op in ("Cos", "Cosh", "Expm1", "Log1p", "Rsqrt", "Sigmoid", "Sign", "Sin", "Sinh", "Tan", "Tanh")
        ),
        *(Case(op, [Tensor("complex64", (None, 3)), Tensor("complex64", (3,))]) for op in ("Pow", "SquaredDifference")),
        *(
            Case(f"StatelessRandom{kind}", [i32(4, 3), Tensor(I32, (2,))], {"dtype": dtype})
            for kind, dtype in (("Uniform", F32), ("Normal", F32), ("UniformFullInt", I32), ("UniformFullInt", I64))
        ),
        Case("StatelessMultinomial", [Tensor(F32, (None, 5)), scalar(7), Tensor(I32, (2,))]),
        Case("StatelessRandomUniformInt", [i32(4, 3), Tensor(I32, (2,)), scalar(-3), scalar(40)]),
        *(
            Case(
                "AudioSpectrogram",
                [Tensor(F32, (None, 2))],
                {"window_size": window, "stride": 3, "magnitude_squared": squared},
            )
            for window, squared in ((2, True), (3, False))
        ),
        Case("Mfcc", [Tensor(F32, (2, None, 65), floats(0, 9)), scalar(8000)], {"upper_frequency_limit": 3800.0}),
        *(
            Case("CTCGreedyDecoder", [Tensor(F32, (6, None, 4)), Tensor(I32, (None,), integers(3, 6))], attributes)
            for attributes in ({}, {"merge_repeated": True}, {"merge_repeated": True, "blank_index": 0})
        ),
    ]


CASES: list[Case] = [
    *_reductions(),
    *_many_dimensions(),
    *_products(),
    *_convolutions(),
    *_images(),
    *_losses_and_transforms(),
]
"""Every case."""
