"""Whether the samples suffice: the tensors whose ranges still grew at the last ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.dataset import SampleProgress
from litefuse.conversion.quantization.difference import (
    Difference,
    Reference,
    calls_of_random_inputs,
    difference_on_random_inputs,
    layer_differences,
)
from litefuse.conversion.quantization.float_ops import ops_by_kind
from litefuse.conversion.quantization.samples import Calls, kind_of_calls
from litefuse.errors import QuantizationError
from litefuse.support.options.forms import INTEGER_ACTIVATIONS, QuantizationForm
from litefuse.support.report.quantized import MovingRange

# The part of the samples that counts as the last ones.
_LAST = 4
# The least growth that is told of: what is beyond a range is clipped to it.
_LEAST = 0.05


class RangeGrowth:
    """Compares the ranges of tensors after three quarters of a signature's samples with those after all of them."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, float]] = {}
        self._growth: dict[str, float] = {}

    def observe(self, ranges: Mapping[str, Mapping[str, Any]], number: int, count: int) -> None:
        """Takes notice of the ranges after a sample.

        Args:
            ranges: The ranges of all tensors until now; see ``calibration.Ranges``.
            number: The number of the sample among those of its signature, from 1.
            count: How many there are.
        """
        if number == count - max(1, count // _LAST):
            self._before = {name: _bounds(range_) for name, range_ in ranges.items()}
        elif number == count > 1:
            for name, range_ in ranges.items():
                growth = _growth(self._before.get(name), _bounds(range_))
                self._growth[name] = max(self._growth.get(name, 0.0), growth)

    def moving(self, apart: Collection[str] = ()) -> tuple[MovingRange, ...]:
        """Returns the tensors whose ranges grew, those that grew most first.

        Args:
            apart: The tensors that need no range.
        """
        moving = [
            MovingRange(name, growth) for name, growth in self._growth.items() if growth >= _LEAST and name not in apart
        ]
        return tuple(sorted(moving, key=lambda range_: (-range_.growth, range_.tensor)))


def _bounds(found: Mapping[str, Any]) -> tuple[float, float]:
    """Returns the range as it is quantized: one with 0 in it."""
    return min(float(found["min"][0]), 0.0), max(float(found["max"][0]), 0.0)


def _growth(before: tuple[float, float] | None, after: tuple[float, float]) -> float:
    """Returns the part of a range that is new."""
    width = after[1] - after[0]
    if not math.isfinite(width) or width == 0:
        return 0.0
    return 1.0 if before is None else 1.0 - (before[1] - before[0]) / width


class CalibrationObserver:
    """Announces the progress of a calibration, and finds out which ranges still grew at its end.

    Args:
        calls: The calls; none without calibration.
        announce: Called with the progress.
    """

    def __init__(self, calls: Calls, announce: Callable[[str], None]) -> None:
        self.samples = sum(map(len, calls.values()))
        self.growth = RangeGrowth()
        self._progress = SampleProgress(announce, "quantize", self.samples)

    def __call__(self, ranges: Ranges, number: int, count: int) -> None:
        self.growth.observe(ranges, number, count)
        self._progress.advance()


def measured_effect(
    before: Path,
    after: Path,
    form: QuantizationForm,
    calls: Calls | None,
    *,
    observation: CalibrationObserver,
    masked: Collection[str] = (),
    kept: Collection[str] = (),
    reasons: Mapping[str, str] = MappingProxyType({}),
    layers: bool = False,
) -> Difference:
    """Compares a model with the quantized one.

    Args:
        before: The model.
        after: The quantized model.
        form: The form of quantization.
        calls: The samples; None: random inputs are drawn.
        observation: What was observed during the calibration.
        masked: The names of tensors that stayed in floating point for their masks.
        kept: The names of tensors that the user wants in floating point.
        reasons: Why other ops stayed in floating point, by the names of their results.
        layers: Whether the tensors inside are compared, too.

    Raises:
        LitefuseError: LiteRT does not run one of the two.
    """
    effect = difference_on_random_inputs(before, after) if calls is None else Reference(before, calls).difference(after)
    kinds, floats = ops_by_kind(after, integer=form in INTEGER_ACTIVATIONS, masked=masked, kept=kept, reasons=reasons)
    inside = ()
    if layers:
        inside = layer_differences(before, after, calls_of_random_inputs(before) if calls is None else calls)
    return effect._replace(
        kinds=kinds,
        floats=floats,
        moving=observation.growth.moving(masked),
        samples=observation.samples,
        layers=inside,
        inputs=effect.inputs if calls is None else kind_of_calls(calls),
    )


def check_difference(error: float | None, unchecked: str | None, allowed: float, inputs: str) -> None:
    """Checks the largest difference that quantization makes to an output.

    Args:
        error: The difference, relative to the output's largest element; None if it was not measured.
        unchecked: Why not.
        allowed: The largest one that is allowed.
        inputs: What it was measured on.

    Raises:
        QuantizationError: It is larger, no number, or unknown.
    """
    if error is None:
        reason = f"the difference that quantization makes was not measured: {unchecked}"
        raise QuantizationError(reason, hint="Leave out max_error (on the command line, --max-error), or give samples.")
    if not error <= allowed:
        raise QuantizationError(
            f"quantization changes an output by {error:.2g} of its largest element on {inputs}; {allowed:g} is allowed",
            hint="Try another form of quantization, or other samples.",
            error=error,
        )
