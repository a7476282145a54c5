"""The numbers that a fake quantization rounds to, multiples of a step within bounds, and quantized element types."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.ir.mlir import ir

_LEAST, _MOST = -128, 127
_TYPE = re.compile(r"!quant\.uniform<i(\d+)(?:<[^>]*>)?:f32(?::(\d+))?, (.*)>")


@dataclass(frozen=True)
class Uniform:
    """An element type whose integers ``q`` represent the numbers ``(q - zero_point) * scale``.

    Attributes:
        scales: The scale, or one for each channel.
        zero_points: The zero points, as many.
        axis: The axis of the channels; None if there is one scale for all.
        bits: The bits of the signed integers.
    """

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None
    bits: int = 8

    @property
    def scale(self) -> float:
        """The only scale, or the first."""
        return self.scales[0]

    @property
    def zero_point(self) -> int:
        """The only zero point, or the first."""
        return self.zero_points[0]

    @property
    def low(self) -> float:
        """The least number that is represented."""
        return (-(2 ** (self.bits - 1)) - self.zero_point) * self.scale

    @property
    def high(self) -> float:
        """The largest number that is represented."""
        return (2 ** (self.bits - 1) - 1 - self.zero_point) * self.scale

    @property
    def element(self) -> ir.Type:
        """The MLIR type."""
        steps = [f"{scale:.17e}:{zero}" for scale, zero in zip(self.scales, self.zero_points, strict=True)]
        if self.axis is None:
            return ir.Type.parse(f"!quant.uniform<i{self.bits}:f32, {steps[0]}>")
        return ir.Type.parse(f"!quant.uniform<i{self.bits}:f32:{self.axis}, {{{','.join(steps)}}}>")

    def rounded(self, numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        """Returns the integers that represent numbers best, without bounds; of one scale only."""
        return np.rint(numbers.astype(np.float64) / self.scale).astype(np.int64) + self.zero_point

    def holds(self, numbers: npt.NDArray[np.float32]) -> bool:
        """Whether integers represent numbers exactly; of one scale only."""
        integers = self.rounded(numbers) if np.isfinite(numbers).all() else None
        if integers is None or (integers.size and (integers.min() < _LEAST or integers.max() > _MOST)):
            return False
        return bool(((integers - self.zero_point) * self.scale == numbers).all())

    def simplified(self) -> Uniform:
        """Returns the type with one scale if those of all channels are equal."""
        if self.axis is not None and len({*self.scales}) == len({*self.zero_points}) == 1:
            return replace(self, scales=self.scales[:1], zero_points=self.zero_points[:1], axis=None)
        return self


def uniform_of(kind: ir.Type) -> Uniform | None:
    """Returns a tensor's quantized element type; None for other tensors."""
    matched = _TYPE.fullmatch(str(ir.ShapedType(kind).element_type))
    if matched is None:
        return None
    bits, axis, steps = matched.groups()
    pairs = [step.strip().partition(":") for step in steps.strip("{}").split(",")]
    scales, zeros = tuple(float(scale) for scale, _, _ in pairs), tuple(int(zero or 0) for _, _, zero in pairs)
    return Uniform(scales, zeros, None if axis is None else int(axis), int(bits))


def quantized_type(kind: ir.Type, uniform: Uniform) -> ir.Type:
    """Returns the type of a tensor with another's shape, and quantized elements."""
    shaped = ir.ShapedType(kind)
    if not shaped.has_rank:
        return ir.UnrankedTensorType.get(uniform.element)
    return ir.RankedTensorType.get(list(shaped.shape), uniform.element)


class NotCovered(Exception):  # noqa: N818  not an error: the node is computed in floats
    """A fake quantization has no integers; the message is the reason, for the report."""


@dataclass(frozen=True)
class Grid:
    """The numbers ``step * k`` for whole ``k`` from ``first`` to ``last``.

    Attributes:
        step: float32 scalar, or one for each channel.
        first: int64, of the same shape.
        last: int64, likewise.
        half_to_even: Whether halves are rounded to the even multiple; else up.
    """

    step: npt.NDArray[np.float32]
    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    half_to_even: bool = False

    def multiples(self, numbers: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
        """Returns which multiples numbers are rounded to; channels are their last axis."""
        low, high = self.first.astype(np.float32) * self.step, self.last.astype(np.float32) * self.step
        inverse: Any = np.reciprocal(self.step)
        if self.half_to_even:
            return np.clip(np.rint(numbers * inverse).astype(np.int64), self.first, self.last)
        return np.floor((np.clip(numbers, low, high) - low) * inverse + np.float32(0.5)).astype(np.int64) + self.first

    def uniform(self, zero_point: int, axis: int | None = None) -> Uniform:
        """Returns int8 elements of this step, with one zero point."""
        steps = tuple(float(step) for step in np.ravel(self.step))
        return Uniform(steps, (zero_point,) * len(steps), axis)

    def activation_zero_point(self) -> int:
        """Returns the zero point with which saturating int8 clips at the first multiple, if not at both ends.

        A narrow range of 8 bits keeps TensorFlow's zero point, and one more step below.
        """
        first, last = int(self.first), int(self.last)
        return _LEAST - first + (last - first == _MOST - _LEAST - 1)

    def weight_zero_point(self, multiples: npt.NDArray[np.int64]) -> int:
        """Returns the zero point for a constant: 0, which products need, if that represents it."""
        if multiples.size == 0 or (multiples.min() >= -_MOST and multiples.max() <= _MOST):
            return 0
        if self.first.size > 1 and np.ptp(self.first):
            raise NotCovered("the channels' zero points differ")
        return _LEAST - int(np.ravel(self.first)[0])


def affine_grid(low: Any, high: Any, bits: int, *, narrow: bool) -> Grid:
    """Returns the grid of ``FakeQuantWithMinMax*``, in float32 as TensorFlow computes it.

    Definition: tensorflow/core/kernels/fake_quant_ops_functor.h (``Nudge``).

    Raises:
        NotCovered: A range is empty, or more than 8 bits are asked for.
    """
    _check_bits(bits)
    low = np.asarray(low, np.float32)
    high = np.asarray(high, np.float32)
    least, most = np.float32(narrow), np.float32(2**bits - 1)
    unused = (low == 0) & (high == 0)
    if not ((low < high) | unused).all():
        raise NotCovered("a range is empty or not finite")
    steps: Any = np.divide(high - low, np.float32(2**bits - 1 - narrow))
    step: Any = _steps(steps, unused)
    zero: Any = np.floor(np.clip(least - np.divide(low, step), least, most) + np.float32(0.5))
    first, last = (np.where(unused, 0, end - zero).astype(np.int64) for end in (least, most))
    return Grid(step, first, last)


def symmetric_grid(low: Any, high: Any, bits: int, attributes: Mapping[str, Any]) -> Grid:
    """Returns the grid of ``QuantizeAndDequantize*``, in float32 as TensorFlow computes it.

    Args:
        low: The ranges' lower ends, a scalar or one for each channel.
        high: Their upper ends.
        bits: The number of bits.
        attributes: ``signed_input``, ``narrow_range`` and ``round_mode``.

    Definition: tensorflow/core/kernels/quantize_and_dequantize_op.h (``ComputeQuantizationRange``).

    Raises:
        NotCovered: A range is empty, or the bits are more than 8.
    """
    _check_bits(bits)
    signed = bool(attributes.get("signed_input", True))
    least = -(2 ** (bits - 1)) + bool(attributes.get("narrow_range", False)) if signed else 0
    most = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    # The larger of the two steps; one that the sign of its end excludes does not count.
    steps = [np.where(high > 0, high / np.float32(most), np.float32(0))]
    if least:
        steps.append(np.where(low < 0, low / np.float32(least), np.float32(0)))
    unused = (low == 0) & (high == 0)
    step = _steps(np.maximum.reduce(steps).astype(np.float32), unused)
    half_to_even = str(attributes.get("round_mode", "HALF_TO_EVEN")) == "HALF_TO_EVEN"
    first, last = (np.where(unused, 0, np.full_like(step, end, np.int64)) for end in (least, most))
    return Grid(step, first, last, half_to_even)


def _steps(steps: npt.NDArray[np.float32], unused: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    """Returns the steps, of which those of unused channels are replaced by the least of the others.

    Channels whose range is 0 to 0, as weights have that training made 0, are 0 in any step.

    Raises:
        NotCovered: A range is empty or not finite, or all are 0 to 0.
    """
    used = steps[~unused]
    if not used.size or not (used > 0).all() or not np.isfinite(used).all():
        raise NotCovered("a range is empty or not finite")
    return np.where(unused, used.min(), steps).astype(np.float32)


def _check_bits(bits: int) -> None:
    if not 2 <= bits <= 8:
        raise NotCovered(f"it has {bits} bits, and int8 has 8")
