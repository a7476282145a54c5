"""Quantization in C++ against numpy's, for the numbers at which they could differ."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from litefuse.litert.cpp.folders import copy_kit
from litefuse.litert.runtime.scales import QuantizationParameters

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")

SOURCE = """
#include "litefuse/kernel.h"

template <typename T>
void Convert(const float* reals, int count, float scale, int32_t zero, T* integers, float* back) {
  const litefuse::Quantization quantization(&scale, 1, &zero, 1, 0);
  for (int i = 0; i < count; ++i) integers[i] = quantization.Quantize<T>(reals[i]);
  for (int i = 0; i < count; ++i) back[i] = quantization.Dequantize(integers[i]);
}

#define CONVERT(type)                                                                                      \\
  extern "C" void convert_##type(const float* reals, int count, float scale, int zero, void* to, float* back) { \\
    Convert(reals, count, scale, zero, static_cast<type##_t*>(to), back);                                  \\
  }
CONVERT(int8)
CONVERT(uint8)
CONVERT(int16)
CONVERT(int32)

// Slices that are not there have the scale of the first; so has every slice if there is one scale.
extern "C" float scale_of(int count, int slice) {
  const float scales[] = {1, 2, 3};
  const int32_t zeros[] = {4, 5, 6};
  const litefuse::Quantization quantization(scales, count, zeros, count, 0);
  return quantization.scale(slice) + 10.0f * static_cast<float>(quantization.zero_point(slice));
}
extern "C" float none(float x) {
  const litefuse::Quantization nothing;
  return nothing || !nothing.IsSameScale({}) ? -1 : nothing.Dequantize(nothing.Quantize<int8_t>(x));
}
"""
REALS = np.array(
    [
        *(np.nan, np.inf, -np.inf, 0.0, -0.0, 1e38, -1e38, 1e-45, 3e9, -3e9),
        *np.arange(-300, 300.5, 0.5),  # halves among them
        *np.random.default_rng(2).normal(size=500) * 100,
    ],
    np.float32,
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("header")
    copy_kit(folder / "kit")
    (folder / "convert.cc").write_text(SOURCE)
    command = ["c++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fno-rtti"]
    command += ["-I", str(folder / "kit" / "include"), str(folder / "convert.cc"), "-o", str(folder / "convert.so")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "convert.so"))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
@pytest.mark.parametrize("zero", [-128, 0, 3, 127, 32767, -(2**31), 2**31 - 1])
@pytest.mark.parametrize("scale", [1.0, 0.5, 0.007843138, 1e-45, 1e30, 3.4e38])
def test_the_same_integers_as_numpy(library: Any, dtype: str, zero: int, scale: float) -> None:
    integers, back = np.zeros(REALS.shape, dtype), np.zeros(REALS.shape, np.float32)
    convert: Callable[..., None] = getattr(library, f"convert_{dtype}")
    to = (ctypes.c_void_p(integers.ctypes.data), ctypes.c_void_p(back.ctypes.data))
    convert(ctypes.c_void_p(REALS.ctypes.data), REALS.size, ctypes.c_float(scale), zero, *to)
    parameters = QuantizationParameters(np.array([scale], np.float32), np.array([zero]))
    np.testing.assert_array_equal(integers, parameters.quantize(REALS, dtype))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(back, parameters.dequantize(integers))


def test_slices_that_are_not_there(library: Any) -> None:
    library.scale_of.restype = ctypes.c_float
    assert [library.scale_of(3, slice_) for slice_ in (0, 1, 2, 3, -1)] == [41, 52, 63, 41, 41]
    assert [library.scale_of(1, slice_) for slice_ in (0, 1, 2**31 - 1)] == [41, 41, 41]


def test_numbers_that_stand_for_themselves(library: Any) -> None:
    library.none.restype = ctypes.c_float
    assert library.none(ctypes.c_float(2.5)) == 2
