"""The steps that fake quantization rounds to, with numbers that TensorFlow gives."""

from __future__ import annotations

import numpy as np
import pytest

from litefuse.ir.mlir import ir, mlir_context
from litefuse.passes.fake_quantization.grid import (
    NotCovered,
    Uniform,
    affine_grid,
    quantized_type,
    symmetric_grid,
    uniform_of,
)


def test_the_zero_point_is_that_of_float32() -> None:
    """``1 / (2 / 255)`` is 127.49999 in float32: TensorFlow clips to -0.9960785 and 1.0039216, not the other way."""
    grid = affine_grid(-1.0, 1.0, 8, narrow=False)
    assert (int(grid.first), int(grid.last)) == (-127, 128)
    assert grid.step == np.float32(2 / 255)
    assert grid.activation_zero_point() == -1


@pytest.mark.parametrize(
    ("low", "high", "bits", "narrow", "ends"),
    [
        (0.0, 2.55, 8, False, (0, 255)),
        (-127.0, 127.0, 8, True, (-127, 127)),
        (-8.0, 7.0, 4, False, (-8, 7)),
        (-7.0, 7.0, 4, True, (-7, 7)),
        (1.0, 16.0, 4, False, (0, 15)),  # moved to 0
        (-16.0, -1.0, 4, False, (-15, 0)),
        (-2.0, 1.0, 2, False, (-2, 1)),
    ],
)
def test_ends(low: float, high: float, bits: int, narrow: bool, ends: tuple[int, int]) -> None:
    grid = affine_grid(low, high, bits, narrow=narrow)
    assert (int(grid.first), int(grid.last)) == ends


def test_halves() -> None:
    numbers = np.array([-1.5, -0.5, 0.5, 1.5, 2.5, 300, -300], np.float32)
    up = affine_grid(-128.0, 127.0, 8, narrow=False)
    assert up.multiples(numbers).tolist() == [-1, 0, 1, 2, 3, 127, -128]
    even = symmetric_grid(-128.0, 127.0, 8, {})
    assert even.multiples(numbers).tolist() == [-2, 0, 0, 2, 2, 127, -128]


def test_the_larger_step_of_two_ends() -> None:
    assert symmetric_grid(-1.0, 0.5, 8, {}).step == np.float32(1 / 128)
    assert symmetric_grid(-1.0, 1.0, 8, {}).step == np.float32(1) / np.float32(127)
    assert symmetric_grid(-1.0, -0.5, 8, {}).step == np.float32(1 / 128)
    assert symmetric_grid(0.25, 0.5, 8, {}).step == np.float32(0.5) / np.float32(127)
    assert symmetric_grid(-9.0, 2.55, 8, {"signed_input": False}).step == np.float32(2.55) / np.float32(255)
    assert int(symmetric_grid(-1.0, 1.0, 8, {"narrow_range": True}).first) == -127


def test_unused_channels_are_zero_in_the_least_step_of_the_others() -> None:
    ends = np.array([2.54, 0, 1.27], np.float32)
    for grid in (affine_grid(-ends, ends, 8, narrow=True), symmetric_grid(-ends, ends, 8, {"narrow_range": True})):
        np.testing.assert_allclose(grid.step, [0.02, 0.01, 0.01], rtol=1e-6)
        assert (grid.first.tolist(), grid.last.tolist()) == ([-127, 0, -127], [127, 0, 127])
        assert grid.multiples(np.array([1, 1, 1], np.float32)).tolist() == [50, 0, 100]
    with pytest.raises(NotCovered, match="a range is empty"):
        symmetric_grid(np.zeros(2), np.zeros(2), 8, {})


def test_weights_get_a_zero_point_only_where_they_need_one() -> None:
    grid = affine_grid(-0.1, 2.45, 8, narrow=False)
    assert grid.weight_zero_point(grid.multiples(np.array([-0.1, 1.0], np.float32))) == 0
    assert grid.weight_zero_point(grid.multiples(np.array([-0.1, 2.0], np.float32))) == -118
    both = affine_grid(np.array([-0.1, -0.1]), np.array([2.45, 2.45]), 8, narrow=False)
    assert both.weight_zero_point(both.multiples(np.array([-0.1, 2.0], np.float32))) == -118
    apart = affine_grid(np.array([-0.1, 0.0]), np.array([2.45, 2.55]), 8, narrow=False)
    with pytest.raises(NotCovered, match="zero points differ"):
        apart.weight_zero_point(apart.multiples(np.array([-0.1, 2.0], np.float32)))


@pytest.mark.parametrize(
    ("low", "high", "bits", "reason"),
    [
        (1.0, 1.0, 8, "empty"),
        (2.0, 1.0, 8, "empty"),
        (-np.inf, 1.0, 8, "not finite"),
        (np.nan, 1.0, 8, "empty or not finite"),
        (-1.0, 1.0, 9, "9 bits"),
        (-1.0, 1.0, 1, "1 bits"),
        (-1.0, 1.0, 10**12, "10{12} bits"),  # which takes no memory
    ],
)
def test_refused(low: float, high: float, bits: int, reason: str) -> None:
    with pytest.raises(NotCovered, match=reason):
        affine_grid(low, high, bits, narrow=False)
    with pytest.raises(NotCovered):
        symmetric_grid(np.full(3, max(low, 0.0)), -abs(high) * np.ones(3), bits, {})


def test_types_are_read_as_they_are_written() -> None:
    with mlir_context():
        kind = ir.Type.parse("tensor<?x2xf32>")
        for uniform in (
            Uniform((1e-30,), (5,)),
            Uniform((0.1, 1e7), (-128, 127), 1),
            Uniform((0.1,), (0,), None, 4),
            Uniform((1e-9, 0.1), (0, 0), 0, 32),
        ):
            assert uniform_of(quantized_type(kind, uniform)) == uniform
        assert uniform_of(kind) is None
    assert Uniform((0.5, 0.5), (1, 1), 0).simplified() == Uniform((0.5,), (1,))
    assert Uniform((0.5, 0.5), (1, 2), 0).simplified().axis == 0
    assert (Uniform((0.5,), (-128,)).low, Uniform((0.5,), (-128,)).high) == (0.0, 127.5)
