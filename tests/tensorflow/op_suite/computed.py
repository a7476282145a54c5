"""Cases of ops whose sizes, places and paddings are for the running model to compute; casts of uint64."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.op_suite.arrays import i32, scalar
from tests.tensorflow.op_suite.case import Case, Tensor

F32, I32 = "float32", "int32"


def _given(*values: int) -> Tensor:
    """An input with these values: a scalar if it is one."""
    shape = (len(values),) if len(values) > 1 else ()
    return Tensor(I32, shape, lambda _random, _shape: np.array(values).reshape(shape))


def _pairs(*values: int) -> Tensor:
    """An input with these pairs of values."""
    return Tensor("int64", (len(values) // 2, 2), lambda _random, shape: np.array(values).reshape(shape))


def _diagonals() -> list[Case]:
    wide, band, sizes = Tensor(F32, (2, 3, 5)), Tensor(F32, (None, 3, 3)), [_given(3), _given(-1)]
    seven, extra, complex_one = scalar(7, F32), {"align": "LEFT_RIGHT"}, Tensor("complex64", ())
    either = Tensor(I32, (None,), lambda _random, _shape: np.array([0, 1]))
    return [
        *(Case("MatrixDiagPartV3", [wide, k, seven], extra) for k in (_given(1), _given(-1, 2))),
        Case("MatrixDiagPartV2", [Tensor(F32, (None, None, 4)), either, Tensor(F32, ())]),
        Case("MatrixDiagV2", [band, _given(-1, 1), *sizes, seven]),
        Case("MatrixDiagV2", [band, _given(0), *sizes, seven]),
        Case("MatrixDiagV3", [Tensor("complex64", (None, 3)), _given(1, 1), _given(5), _given(-1), complex_one], extra),
        Case("MatrixDiag", [Tensor("complex64", (None, None))]),
        Case("MatrixSetDiagV2", [Tensor("bool", (2, 3, 5)), Tensor("bool", (2, 3)), _given(2)]),
        Case("MatrixSetDiagV3", [wide, Tensor(F32, (2, 2, 3)), _given(0, 1)], extra),
    ]


def _blocks() -> list[Case]:
    cases: list[Case] = []
    for shape in ((4, 4), (4, 8, 3), (4, 8, 3, 2), (4, 8, 3, 2, 3), (4, 8, 3, 2, 1, 2)):
        image = Tensor(F32, (None, *shape))
        cases += [
            Case("SpaceToBatchND", [image, i32(2, 3), _pairs(0, 2, 1, (1 - shape[1]) % 3 + 1)]),
            Case("BatchToSpaceND", [Tensor(F32, (12, *shape)), i32(2, 3), _pairs(0, 1, 2, 1)]),
        ]
    image = Tensor("int8", (12, 4, 6, 2))
    cases += [Case(f"{op}ND", [image, _given(2, 3), _pairs(1, 1, 3, 0)]) for op in ("SpaceToBatch", "BatchToSpace")]
    many = Tensor(F32, (None, 2, 1, 3, 2, 2))
    return [*cases, Case("PadV2", [many, _pairs(0, 1, 2, 0, 0, 0, 1, 1, 0, 0, 0, 3), scalar(7, F32)])]


def _filters() -> list[Case]:
    images = [Tensor(dtype, (None, 5, 6, 3)) for dtype in (F32, "float16")]
    options = [{"strides": [1, 2, 1, 1], "padding": padding} for padding in ("SAME", "VALID")]
    options += [{"strides": [1, 1, 1, 1], "dilations": [1, 1, 2, 1], "padding": "VALID"}]
    options += [{"strides": [1] * 4, "padding": "EXPLICIT", "explicit_paddings": [0, 0, 2, 0, 1, 1, 0, 0]}]
    cases = [Case("Conv2D", [image, _filter(image.dtype, 3, 2, 3, 4)], each) for image in images for each in options]
    cases += [
        Case("DepthwiseConv2dNative", [images[0], _filter(F32, 3, 2, 3, 2)], {**each, "strides": [1, 2, 2, 1]})
        for each in options
        if "dilations" not in each
    ]
    volume = Case(
        "Conv3D",
        [Tensor(F32, (None, 4, 3, 5, 2)), _filter(F32, 2, 1, 3, 2, 3)],
        {"strides": [1] * 5, "padding": "SAME"},
    )
    return [*cases, volume]


def _filter(dtype: str, *sizes: int) -> Tensor:
    """A filter of unknown size, except for the channels of the image."""
    shape = [None] * len(sizes)
    return Tensor(dtype, (*shape[:-2], sizes[-2], None), lambda random, _: random.standard_normal(sizes))


def _casts() -> list[Case]:
    others = ("bool", "int8", "uint16", I32, "uint32", "int64")
    there = [Case("Cast", [Tensor("uint64", (None, 3))], {"DstT": dtype}) for dtype in others]
    return [*there, *(Case("Cast", [Tensor(dtype, (None, 3))], {"DstT": "uint64"}) for dtype in others)]


CASES: list[Case] = [*_casts(), *_diagonals(), *_blocks(), *_filters()]
"""Every case."""
