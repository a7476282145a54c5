"""Calls of an op in a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from litefuse.support.report.sections import shape_text

__all__ = ["Call", "CallTensor", "Scales"]


class Scales(NamedTuple):
    """How real numbers became the integers of a tensor.

    Attributes:
        scales: One, or one for each slice along the axis.
        zero_points: Likewise.
        axis: The axis.
    """

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int


@dataclass(frozen=True)
class CallTensor:
    """An input or output of an op.

    Attributes:
        name: Its name, a valid identifier.
        dtype: Its dtype, such as ``float32``.
        shape: Its shape; None for an unknown dimension, or instead of the tuple for an unknown rank.
        data: Its value as bytes if it is a constant of the model; it does not distinguish calls.
        scales: Its scales and zero points if it is quantized, which do not distinguish calls either.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    data: bytes | None = None
    scales: Scales | None = None

    def __str__(self) -> str:
        return f"{self.dtype} {shape_text(self.shape)}"


@dataclass(frozen=True)
class Call:
    """A call of an op in a model.

    Attributes:
        inputs: Its inputs; None for an optional one that is absent.
        outputs: Its outputs.
        options: Its decoded options; None when they have another format.
        raw_options: The options as they are in the file.
        reference: A model that computes the op's outputs, from its body; None when there is none.
    """

    inputs: tuple[CallTensor | None, ...]
    outputs: tuple[CallTensor, ...]
    options: Mapping[str, Any] | None
    raw_options: bytes
    reference: bytes | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """The types and options that distinguish this call from others of the same op."""
        types = [[tensor and (tensor.dtype, tensor.shape) for tensor in each] for each in (self.inputs, self.outputs)]
        return str(types), self.raw_options
