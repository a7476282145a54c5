"""The rules of the integer LSTM's scales, and the ranges inside it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.quantization.recurrent.editor import Scale
from litefuse.quantization.recurrent.integer_form import constants_of
from litefuse.quantization.recurrent.operands import BIASES, INPUT_WEIGHTS, RECURRENT_WEIGHTS, LstmNumbers
from litefuse.quantization.recurrent.reference import inner_ranges
from litefuse.quantization.recurrent.scales import asymmetric, power_of_two, quantized, symmetric


@pytest.mark.parametrize(("largest", "exponent"), [(1.0, -15), (1.01, -14), (2.0, -14), (0.2, -17), (0.0, -15)])
def test_the_scale_of_the_cell_state_is_a_power_of_two(largest: float, exponent: int) -> None:
    assert power_of_two(largest) == Scale(2.0**exponent)


@pytest.mark.parametrize("ends", [(-1.0, 3.0), (0.5, 2.0), (-3.0, -1.0), (-1e-6, 1e-6)])
def test_zero_and_both_ends_are_integers(ends: tuple[float, float]) -> None:
    scale = asymmetric(*ends)
    least, largest = (scale.scale * (each - scale.zero) for each in (-128, 127))
    assert -128 <= scale.zero <= 127
    assert least <= min(ends[0], 0) + scale.scale
    assert largest >= max(ends[1], 0) - scale.scale


def test_what_is_zero_everywhere_has_a_scale() -> None:
    assert asymmetric(0.0, 0.0).scale > 0
    assert symmetric(0.0, 8).scale > 0


def test_weights_use_both_signs_alike() -> None:
    value = np.array([-2.0, -1.0, 0.0, 2.0], np.float32)
    np.testing.assert_array_equal(quantized(value, symmetric(2.0, 8), np.int8), [-127, -64, 0, 127])


def numbers(weight: float, bias: float, units: int = 2) -> LstmNumbers:
    values: dict[int, npt.NDArray[np.float32]] = {}
    for each in (*INPUT_WEIGHTS, *RECURRENT_WEIGHTS):
        values[each] = np.full((units, units), weight, np.float32)
    for each in BIASES:
        values[each] = np.full(units, bias, np.float32)
    return LstmNumbers(values, 0.0, 0.0, time_major=False)


@pytest.mark.parametrize("weight", [0.0, 1e-12, 0.5])
@pytest.mark.parametrize("bias", [0.0, -0.3, 1e4])
def test_biases_are_kept_where_weights_are_small(weight: float, bias: float) -> None:
    found = constants_of(numbers(weight, bias), Scale(0.01), Scale(0.01))
    for position in BIASES:
        integers, scale = found[position]
        assert integers.dtype == np.int32
        np.testing.assert_allclose(integers * scale.scale, bias, rtol=1e-3, atol=2**-12)
        weights, scale_of_weights = found[INPUT_WEIGHTS[BIASES.index(position)]]
        assert scale.scale == pytest.approx(scale_of_weights.scale * 0.01, rel=1e-6)
        np.testing.assert_allclose(weights * scale_of_weights.scale, weight, atol=scale_of_weights.scale)


def test_ranges_inside() -> None:
    """Of a cell that adds half of the hyperbolic tangent of 1 in each step, and forgets half."""
    x, start = np.zeros((1, 3, 2), np.float32), np.zeros((1, 2), np.float32)
    values = numbers(0.0, 0.0).constants | {BIASES[2]: np.full(2, 1.0, np.float32)}
    found = inner_ranges(LstmNumbers(values, 0.0, 0.0, time_major=False), x, start, start)
    cell = 0.5 * np.tanh(1.0) * (1 + 0.5 + 0.25)
    assert found.cell == pytest.approx(cell, rel=1e-6)
    assert found.hidden == pytest.approx((0.0, 0.5 * np.tanh(cell)), rel=1e-6)
    clipped = inner_ranges(LstmNumbers(values, 0.4, 0.0, time_major=False), x, start, start)
    assert clipped.cell == pytest.approx(0.4)
    widened = found.widened(inner_ranges(LstmNumbers(values, 0.0, 0.0, time_major=False), x, start - 2, start + 3))
    assert widened.initial == (-2.0, 0.0)
    assert widened.cell == 3.0
