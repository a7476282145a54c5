"""The functions of litefuse/vector_math.h over all of float32, beside numpy in float64."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special

from litefuse.litert.cpp.compiler import LOOP_OPTIONS, build_library

# A loop of each function as the processor gets it, and as one without AVX2 does.
SOURCE = """
#include "litefuse/registry.h"
#include "litefuse/vector_math.h"

const litefuse::RegisteredKernel* litefuse::RegisteredKernels() {
  static const RegisteredKernel kernels[] = {{nullptr, nullptr}};
  return kernels;
}

#define EXPORT extern "C" __attribute__((visibility("default"))) void
#define IN const float* LITEFUSE_RESTRICT
#define OUT float* LITEFUSE_RESTRICT
#define ONE(F)                                                                                      \\
  LITEFUSE_LOOP(F##Loop, (IN x, OUT y, int64_t n), (x, y, n)) {                                     \\
    for (int64_t i = 0; i < n; ++i) y[i] = math::F(x[i]);                                 \\
  }                                                                                                 \\
  EXPORT F(IN x, OUT y, int64_t n) { F##Loop(x, y, n); }                                            \\
  EXPORT F##_plain(IN x, OUT y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = litefuse::math::F(x[i]); }
#define TWO(F)                                                                                      \\
  LITEFUSE_LOOP(F##Loop, (IN x, IN z, OUT y, int64_t n), (x, z, y, n)) {                            \\
    for (int64_t i = 0; i < n; ++i) y[i] = math::F(x[i], z[i]);                           \\
  }                                                                                                 \\
  EXPORT F(IN x, IN z, OUT y, int64_t n) { F##Loop(x, z, y, n); }                                   \\
  EXPORT F##_plain(IN x, IN z, OUT y, int64_t n) {                                                  \\
    for (int64_t i = 0; i < n; ++i) y[i] = litefuse::math::F(x[i], z[i]);                           \\
  }
ONE(TanhOfSoftplus) ONE(Exp) ONE(Expm1) ONE(Log) ONE(Log1p) ONE(Tanh) ONE(Logistic) ONE(Erf) ONE(Sin) ONE(Cos)
ONE(Sqrt) ONE(Rsqrt) ONE(Round) ONE(Floor) ONE(Ceil) ONE(Gelu) ONE(GeluTanh) TWO(Pow) TWO(Hypot)
"""


def tanh_of_softplus(x: Any) -> Any:
    return np.tanh(np.logaddexp(0, x))


def reciprocal_root(x: Any) -> Any:
    return 1 / np.sqrt(x)


FLOAT64: dict[str, tuple[Callable[..., Any], float]] = {  # with the error that the header states, in ulp
    "Exp": (np.exp, 2),
    "Expm1": (np.expm1, 2),
    "Log": (np.log, 1),
    "Log1p": (np.log1p, 2),
    "Tanh": (np.tanh, 6),
    "Logistic": (special.expit, 3),
    "TanhOfSoftplus": (tanh_of_softplus, 4),
    "Erf": (special.erf, 6),
    "Sqrt": (np.sqrt, 0.5),
    "Rsqrt": (reciprocal_root, 1.5),
    "Round": (np.rint, 0),
    "Floor": (np.floor, 0),
    "Ceil": (np.ceil, 0),
    "Pow": (np.power, 1),
    "Hypot": (np.hypot, 1),
}
# Smaller results are 0.
SMALLEST = {"Exp": 1.7e-38, "Logistic": 3e-39, "TanhOfSoftplus": 3.4e-38}
SPECIAL = [0, 1, 2, 0.5, 3, 1e-45, 1.1754944e-38, 3.4028235e38, 16777217, np.inf, np.nan]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("vector_math")
    (folder / "loops.cc").write_text(SOURCE)
    build_library(folder / "loops.so", [folder / "loops.cc"], options=LOOP_OPTIONS)
    return ctypes.CDLL(str(folder / "loops.so"))


def compute(library: ctypes.CDLL, name: str, *arguments: NDArray[Any]) -> NDArray[Any]:
    result = np.empty_like(arguments[0])
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arguments, result)]
    getattr(library, name)(*pointers, ctypes.c_int64(result.size))
    return result


def all_binades() -> NDArray[Any]:
    """Numbers of float32 of each sign and exponent, with those that are special."""
    numbers = np.arange(0, 2**32, 20011, dtype=np.uint64).astype(np.uint32).view(np.float32)
    return np.concatenate([numbers, np.array(SPECIAL, np.float32), -np.array(SPECIAL, np.float32)])


def arguments_of(name: str) -> list[NDArray[Any]]:
    numbers = all_binades()
    if name not in ("Pow", "Hypot"):
        return [numbers]
    random = np.random.default_rng(5)
    limits = np.array([*SPECIAL, *(-value for value in SPECIAL)], np.float32)
    first, second = (part.ravel() for part in np.meshgrid(limits, limits))
    whole = random.integers(-30, 30, 20_000)
    bases = [numbers, first, np.exp(random.normal(size=200_000) * 10), -np.exp(random.normal(size=20_000))]
    exponents = [random.permutation(numbers), second, random.normal(size=200_000) * 8, whole]
    return [np.concatenate([part.astype(np.float32) for part in parts]) for parts in (bases, exponents)]


def errors(result: NDArray[Any], expected: NDArray[Any]) -> NDArray[Any]:
    """The errors in ulp; infinite where one is infinite, NaN or a zero of another sign, and the other is not."""
    nearest = expected.astype(np.float32)
    size = np.abs(np.where(np.isfinite(expected) & (expected != 0), expected, 1.0))
    ulp = 2.0 ** (np.maximum(np.floor(np.log2(size)), -126) - 23)
    same = (result == nearest) | (np.isnan(result) & np.isnan(nearest))
    wrong = np.where(np.isfinite(nearest) & np.isfinite(result), np.abs(result - expected) / ulp, np.inf)
    wrong = np.where(~np.isfinite(nearest), np.where(same, 0, np.inf), wrong)
    return np.where((nearest == 0) & (result == 0) & (np.signbit(result) != np.signbit(nearest)), np.inf, wrong)


@pytest.mark.parametrize("form", ["", "_plain"])
@pytest.mark.parametrize("name", FLOAT64)
def test_functions_are_as_exact_as_stated(library: ctypes.CDLL, name: str, form: str) -> None:
    function, bound = FLOAT64[name]
    arguments = arguments_of(name)
    with np.errstate(all="ignore"):
        expected = function(*[array.astype(np.float64) for array in arguments])
        result = compute(library, name + form, *arguments)
        wrong = np.where((expected < SMALLEST.get(name, 0)) & (result == 0), 0, errors(result, expected))
    worst = int(np.argmax(wrong))
    assert wrong[worst] <= bound + 0.001, [float(array[worst]) for array in arguments]


@pytest.mark.parametrize("form", ["", "_plain"])
@pytest.mark.parametrize(("name", "function"), [("Sin", np.sin), ("Cos", np.cos)])
def test_sines_are_exact_up_to_large_angles(library: ctypes.CDLL, name: str, function: Any, form: str) -> None:
    numbers = np.concatenate([all_binades(), np.linspace(-5e4, 5e4, 1_000_003).astype(np.float32)])
    with np.errstate(all="ignore"):
        expected = function(numbers.astype(np.float64))
        result = compute(library, name + form, numbers)
    right = np.where(np.abs(result - expected) <= 1e-10, 0, errors(result, expected))
    assert right[np.abs(numbers) <= 5e4].max() <= 3
    assert np.abs(result[np.isfinite(numbers)]).max() <= np.nextafter(np.float32(1), np.float32(2))
    assert np.isnan(result[~np.isfinite(numbers)]).all()


@pytest.mark.parametrize("form", ["", "_plain"])
def test_gelus_are_exact_beside_their_argument(library: ctypes.CDLL, form: str) -> None:
    numbers = all_binades()
    x = numbers[np.abs(numbers) < 1e38].astype(np.float64)
    tanh = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    for name, expected in (("Gelu", x * special.ndtr(x)), ("GeluTanh", tanh)):
        wrong = np.abs(compute(library, name + form, x.astype(np.float32)) - expected)
        assert (wrong <= 2e-7 * np.abs(x) + 1e-45).all(), name


def test_a_wrong_result_is_found() -> None:
    expected = np.array([1.0, 1.0, 0.0, np.inf, np.nan, 1.0])
    result = np.array([1 + 2**-21, 1.0, -0.0, 3e38, 1.0, np.nan], np.float32)
    np.testing.assert_array_equal(errors(result, expected), [4, 0, *[np.inf] * 4])
