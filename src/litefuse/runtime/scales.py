"""Quantizes inputs and dequantizes outputs by the scales of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["dequantized", "is_quantized", "quantized"]


def is_quantized(detail: Mapping[str, Any]) -> bool:
    """Whether a tensor's integers are quantized real numbers.

    Args:
        detail: The interpreter's details of the tensor.
    """
    return bool(detail["quantization"][0]) and np.dtype(detail["dtype"]).kind in "iu"


def quantized(value: npt.NDArray[Any], detail: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Quantizes real numbers, if the tensor is quantized; otherwise returns the value unchanged."""
    if not is_quantized(detail) or value.dtype.kind != "f":
        return value
    scale, zero = detail["quantization"]
    dtype = np.dtype(detail["dtype"])
    limits = np.iinfo(dtype)
    rounded: Any = np.round(np.asarray(value, np.float64) / float(scale)) + int(zero)
    return np.asarray(rounded).clip(limits.min, limits.max).astype(dtype)


def dequantized(value: npt.NDArray[Any], detail: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Dequantizes integers to float64, if the tensor is quantized; otherwise returns the value unchanged."""
    if not is_quantized(detail):
        return value
    scale, zero = detail["quantization"]
    return (value.astype(np.float64) - zero) * scale
