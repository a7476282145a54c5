"""Inverse Fourier transforms to real numbers, in both forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.errors import KernelError
from tests.kernels.pack.one_op import FORMS, run

pytestmark = pytest.mark.parametrize("form", FORMS)


def irfft(spectrum: Any, *length: int, form: str, dtype: Any = np.float32, constant: bool = True) -> Any:
    op = "IRFFT2D" if len(length) == 2 else "IRFFT"
    inputs = [spectrum, np.array(length, np.int32)]
    return run(op, inputs, [dtype], form=form, constants=[1] if constant else [])[0]


def test_a_spectrum(form: str) -> None:
    spectrum = np.array([10, -2 + 2j, -2], np.complex64)

    np.testing.assert_allclose(irfft(spectrum, 4, form=form), [1, 2, 3, 4], rtol=1e-6)
    # Imaginary parts that no real numbers have are left out.
    np.testing.assert_allclose(
        irfft(spectrum + np.array([5j, 0, 7j], np.complex64), 4, form=form), [1, 2, 3, 4], rtol=1e-6
    )


@pytest.mark.parametrize("length", [1, 2, 3, 5, 16, 31, 37, 74, 2 * 3 * 5 * 7, 37 * 41, 1021, 4 * 101, 4099])
def test_real_numbers_come_back(form: str, length: int) -> None:
    """Also for large primes, products of them, and twice and four times one."""
    numbers = np.random.default_rng(length).standard_normal((2, length))

    result = irfft(np.fft.rfft(numbers), length, form=form, dtype=np.float64, constant=length % 2 == 0)

    np.testing.assert_allclose(result, numbers, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", [(1, 1), (4, 6), (5, 7), (37, 2), (3, 74), (64, 32)])
def test_real_planes_come_back(form: str, shape: tuple[int, int]) -> None:
    numbers = np.random.default_rng(1).standard_normal((3, *shape))

    result = irfft(np.fft.rfft2(numbers), *shape, form=form, dtype=np.float64)

    np.testing.assert_allclose(result, numbers, rtol=0, atol=1e-12)


@pytest.mark.parametrize("constant", [True, False])
def test_nothing(form: str, constant: bool) -> None:
    spectrum = np.ones((2, 3), np.complex64)

    assert irfft(spectrum, 0, form=form, constant=constant).shape == (2, 0)
    assert irfft(spectrum[:0], 4, form=form, constant=constant).shape == (0, 4)
    assert irfft(spectrum, 0, 4, form=form, constant=constant).shape == (0, 4)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(
    ("shape", "length", "message"),
    [
        ((2, 3), [6], "needs .*4.* of the spectrum"),
        ((2, 3), [-1], "fft_length must not be negative"),
        ((2, 3), [3, 4], "needs .*3.* of the spectrum"),
        ((), [1], "input must have 1 dimensions or more"),
        ((3,), [1, 1], "input must have 2 dimensions or more"),
    ],
)
def test_wrong_sizes(form: str, shape: tuple[int, ...], length: list[int], message: str, constant: bool) -> None:
    with pytest.raises(KernelError, match=message):
        irfft(np.ones(shape, np.complex64), *length, form=form, constant=constant)


def test_wrong_inputs(form: str) -> None:
    spectrum = np.ones(3, np.complex64)
    with pytest.raises(KernelError, match=r"input .*of .*float32"):
        irfft(spectrum.real, 4, form=form)
    with pytest.raises(KernelError, match=r"fft_length must be int32 \[1\]"):
        run("IRFFT", [spectrum, np.array(4, np.int32)], [np.float32], form=form)
    with pytest.raises(KernelError, match=r"fft_length must be int32 \[1\]"):
        run("IRFFT", [spectrum, np.array([4])], [np.float32], form=form)
