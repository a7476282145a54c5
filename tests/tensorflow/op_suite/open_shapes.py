"""Ops of which nothing but the number of dimensions is known: what their definitions say must do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.tensorflow.op_suite.case import Case, Tensor, floats, integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tensorflow.op_suite.case import Array, Make

_ONE = {"strides": [1, 1, 1, 1], "padding": "SAME"}


def _sized(make: Make, *sizes: int) -> Make:
    """Values of these sizes, whatever is open."""
    return lambda random, _: make(random, sizes)


def _floats(*sizes: int) -> Tensor:
    return Tensor("float32", (None,) * len(sizes), _sized(floats(-4, 4), *sizes))


def _integers(dtype: str, high: int, *sizes: int) -> Tensor:
    return Tensor(dtype, (None,) * len(sizes), _sized(integers(0, high), *sizes))


def _weight(*shape: int) -> Array:
    return np.random.default_rng(4).normal(size=shape).astype(np.float32)


def _int32(values: int | list[int]) -> Array:
    return np.array(values, np.int32)


def _threshold(value: float) -> Array:
    return np.array(value, np.float32)


def _corners(random: np.random.Generator, sizes: Sequence[int]) -> Array:
    low = random.uniform(0, 1, (sizes[0], 2))
    return np.concatenate([low, low + random.uniform(0.2, 1, (sizes[0], 2))], 1)


CASES: list[Case] = [
    Case("Atan2", [_floats(2, 1, 4), _floats(3, 4)]),
    Case("Atan2", [_floats(2, 4), _floats(2, 4)]),
    Case("Complex", [_floats(2, 1), _floats(1, 3)]),
    Case("RFFT", [_floats(2, 13), _int32([11])]),
    Case("RFFT", [_floats(2, 3, 7), _int32([6])]),
    Case("RFFT2D", [_floats(2, 7, 7), _int32([5, 6])]),
    *(
        case
        for dtype in ("float32", "int64", "bool")
        for case in (
            Case("Unpack", [_integers(dtype, 2, 5, 2)], {"num": 2, "axis": 1}),
            Case("Split", [_int32(1), _integers(dtype, 2, 3, 4)], {"num_split": 2}),
            Case("SplitV", [_integers(dtype, 2, 3, 5), _int32([2, -1]), _int32(1)], {"num_split": 2}),
        )
    ),
    *(
        Case(f"TensorScatter{name}", [_floats(6, 2), _integers("int32", 6, 4, 1), _floats(4, 2)])
        for name in ("Add", "Max", "Min", "Sub")
    ),
    *(
        Case(f"TensorScatter{name}", [_floats(3, 4, 2), _integers("int32", 3, 5, 2), _floats(5, 2)])
        for name in ("Add", "Max")
    ),
    Case("Conv2D", [_floats(2, 6, 5, 4), _weight(3, 2, 4, 5)], _ONE),
    Case("DepthwiseConv2dNative", [_floats(2, 6, 5, 4), _weight(3, 3, 4, 2)], _ONE),
    Case("Conv3D", [_floats(1, 4, 5, 3, 2), _weight(2, 2, 2, 2, 3)], {"strides": [1] * 5, "padding": "VALID"}),
    *(
        Case(
            f"NonMaxSuppression{version}",
            [
                Tensor("float32", (None, None), _sized(_corners, 8, 4)),
                _floats(8),
                _int32(4),
                *map(_threshold, thresholds),
            ],
            {"pad_to_max_output_size": True},
        )
        for version, thresholds in (("V4", [0.5, 0.2]), ("V5", [0.5, 0.2, 0.3]))
    ),
    Case("StatelessRandomUniform", [_int32([4, 3]), _integers("int32", 9, 2)], {"dtype": "float32"}),
    Case("StatelessMultinomial", [_floats(3, 5), _int32(7), _integers("int32", 9, 2)]),
]
"""Every case."""
