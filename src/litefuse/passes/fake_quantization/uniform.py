"""Quantized element types: integers of one step, or of a step for each channel."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from litefuse.ir.mlir import ir

__all__ = ["Uniform", "quantized_type", "uniform_of"]

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
