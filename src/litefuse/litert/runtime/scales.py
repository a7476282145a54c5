"""Quantizes and dequantizes by the scales of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class QuantizationParameters:
    """How real numbers became integers: ``real = scale * (integer - zero_point)``.

    Attributes:
        scales: float32 of shape ``[1]``, or one for each slice along ``axis``.
        zero_points: int64 of the same shape.
        axis: The axis along which each slice has a scale of its own; 0 if there is one scale.
    """

    scales: npt.NDArray[np.float32]
    zero_points: npt.NDArray[np.int64]
    axis: int = 0

    @property
    def scale(self) -> float:
        """The only scale, or the first."""
        return float(self.scales[0])

    @property
    def zero_point(self) -> int:
        """The only zero point, or the first."""
        return int(self.zero_points[0])

    def dequantize(self, integers: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Returns the real numbers that integers stand for."""
        scales, zeros = (self._along(values, integers.ndim) for values in (self.scales, self.zero_points))
        return (integers.astype(np.float32) - zeros.astype(np.float32)) * scales

    def quantize(self, reals: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Returns the nearest integers of a dtype; what is beyond its range becomes its limits, NaN the zero point."""
        scales, zeros = (self._along(values, reals.ndim) for values in (self.scales, self.zero_points))
        with np.errstate(over="ignore"):
            return _integers(reals / scales, zeros, dtype)

    def _along(self, values: npt.NDArray[Any], rank: int) -> npt.NDArray[Any]:
        """Shapes values so that they are multiplied along the axis."""
        if len(values) == 1:
            return values.reshape([1] * rank)
        return values.reshape([-1 if axis == self.axis else 1 for axis in range(rank)])


def are_scales(values: Sequence[float]) -> bool:
    """Whether there are values that all can be scales: positive and finite ones."""
    return len(values) > 0 and all(0 < value < float("inf") for value in values)


def is_same_scale(one: QuantizationParameters | None, other: QuantizationParameters | None) -> bool:
    """Whether two tensors have one scale each, and the same with the same zero point; or none."""
    if one is None or other is None:
        return one is other
    if max(len(one.scales), len(other.scales)) > 1:
        return False
    return (one.scale, one.zero_point) == (other.scale, other.zero_point)


def is_quantized(detail: Mapping[str, Any]) -> bool:
    """Whether a tensor's integers are quantized real numbers."""
    return are_scales([float(detail["quantization"][0])]) and np.dtype(detail["dtype"]).kind in "iu"


def quantized(value: npt.NDArray[Any], detail: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Quantizes real numbers, if the tensor is quantized; otherwise returns the value unchanged."""
    if not is_quantized(detail) or value.dtype.kind != "f":
        return value
    scale, zero = detail["quantization"]
    return _integers(np.asarray(value, np.float64) / float(scale), int(zero), detail["dtype"])


def dequantized(value: npt.NDArray[Any], detail: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Dequantizes integers to float64, if the tensor is quantized; otherwise returns the value unchanged."""
    if not is_quantized(detail):
        return value
    scale, zero = detail["quantization"]
    return (value.astype(np.float64) - zero) * scale


def _integers(steps: npt.NDArray[Any], zeros: int | npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Rounds numbers of steps, halves to even, and adds zero points."""
    kind: np.dtype[Any] = np.dtype(dtype)
    limits = np.iinfo(kind)
    rounded: Any = np.where(np.isnan(steps), 0, np.round(steps)) + zeros
    return np.asarray(rounded).clip(limits.min, limits.max).astype(kind)
