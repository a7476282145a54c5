"""LiteRT's LSTM op in numpy, for the ranges of the intermediate values that the op does not expose."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.recurrent.operands import (
    BIASES,
    INPUT_WEIGHTS,
    NORMALIZATIONS,
    PEEPHOLES,
    PROJECTION,
    PROJECTION_BIAS,
    RECURRENT_WEIGHTS,
    LstmNumbers,
)

__all__ = ["InnerRanges", "inner_ranges"]

_Array = npt.NDArray[Any]

# LiteRT's guard against a variance of zero (kernels/internal/reference/portable_tensor_utils.cc).
_VARIANCE = np.float32(1e-8)
_I, _F, _C, _O = range(4)


class InnerRanges(NamedTuple):
    """Ranges over all steps and calls.

    Attributes:
        cell: The largest absolute value of the cell state.
        initial: The least and the largest output before the first step, which has the scale of the outputs.
        hidden: The least and the largest output of the cells, before a projection.
        gates: The largest absolute value of each gate's sum before it is normalized, input, forget, cell and output.
    """

    cell: float
    initial: tuple[float, float]
    hidden: tuple[float, float]
    gates: tuple[float, float, float, float]

    def widened(self, other: InnerRanges) -> InnerRanges:
        """Returns the ranges of both."""
        gates: Any = tuple(map(max, self.gates, other.gates))
        initial, hidden = _joined(self.initial, other.initial), _joined(self.hidden, other.hidden)
        return InnerRanges(max(self.cell, other.cell), initial, hidden, gates)


def inner_ranges(numbers: LstmNumbers, x: _Array, h: _Array, c: _Array) -> InnerRanges:
    """Computes the op on an input, and returns the ranges of what is inside.

    Args:
        numbers: The op's weights and options.
        x: ``[batch, time, inputs]``, or ``[time, batch, inputs]`` if it is time-major; of one step,
            ``[batch, inputs]``.
        h: The output before the first step ``[batch, n]``.
        c: The cell state before it ``[batch, u]``.
    """
    weights: dict[int, Any] = {**numbers.constants}
    given: Any = x
    steps: Any = given[None] if x.ndim == 2 else given if numbers.time_major else given.swapaxes(0, 1)
    hidden: Any = np.zeros((1, 1), np.float32)
    initial = _ends(h)
    ranges = InnerRanges(_largest(c), initial, (0.0, 0.0), (0.0, 0.0, 0.0, 0.0))
    for step in steps:
        sums: list[_Array] = [np.zeros(0, np.float32)] * 4

        def gate(index: int, cell: _Array | None, x: _Array = step, h: _Array = h, sums: list[_Array] = sums) -> _Array:
            total = x @ weights[INPUT_WEIGHTS[index]].T + h @ weights[RECURRENT_WEIGHTS[index]].T
            peephole = weights.get(PEEPHOLES[{_I: 0, _F: 1}.get(index, 2)]) if cell is not None else None
            if peephole is not None and cell is not None:
                total = total + peephole * cell
            sums[index] = total
            if numbers.normalized:
                centered = total - total.mean(-1, keepdims=True)
                deviation = np.sqrt((centered**2).mean(-1, keepdims=True) + _VARIANCE)
                total = centered / deviation * weights[NORMALIZATIONS[index]]
            return total + weights[BIASES[index]]

        forget = _sigmoid(gate(_F, c))
        update = _sigmoid(gate(_I, c)) if INPUT_WEIGHTS[_I] in weights else 1 - forget
        c = forget * c + update * np.tanh(gate(_C, None))
        if numbers.cell_clip > 0:
            c = np.clip(c, -numbers.cell_clip, numbers.cell_clip)
        hidden = _sigmoid(gate(_O, c)) * np.tanh(c)
        h = hidden
        if numbers.projected:
            h = hidden @ weights[PROJECTION].T + weights.get(PROJECTION_BIAS, np.float32(0))
            if numbers.projection_clip > 0:
                h = np.clip(h, -numbers.projection_clip, numbers.projection_clip)
        ranges = ranges.widened(InnerRanges(_largest(c), initial, _ends(hidden), (*map(_largest, sums),)))  # pyright: ignore[reportArgumentType]
    return ranges


def _ends(value: _Array) -> tuple[float, float]:
    return float(value.min(initial=0)), float(value.max(initial=0))


def _joined(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return min(one[0], other[0]), max(one[1], other[1])


def _largest(value: _Array) -> float:
    return float(np.abs(value).max(initial=0))


def _sigmoid(value: _Array) -> _Array:
    return (1 + np.tanh(value / 2)) / 2
