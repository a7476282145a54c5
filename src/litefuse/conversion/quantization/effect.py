"""The effect of quantization on a model: ops, outputs and layers, and whether the samples sufficed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.difference import (
    Difference,
    calls_of_random_inputs,
    difference_on_random_inputs,
    difference_on_samples,
)
from litefuse.conversion.quantization.float_ops import ops_by_kind
from litefuse.conversion.quantization.layers import layer_differences
from litefuse.conversion.quantization.lazy_calls import Calls
from litefuse.conversion.quantization.progress import SampleProgress
from litefuse.conversion.quantization.range_growth import RangeGrowth
from litefuse.errors import QuantizationError
from litefuse.support.options.forms import INTEGER_ACTIVATIONS, Quantization

__all__ = ["CalibrationObserver", "check_difference", "measured_effect"]


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
    form: Quantization,
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
    found = difference_on_random_inputs(before, after) if calls is None else difference_on_samples(before, after, calls)
    kinds, floats = ops_by_kind(after, integer=form in INTEGER_ACTIVATIONS, masked=masked, kept=kept, reasons=reasons)
    inside = ()
    if layers:
        inside = layer_differences(before, after, calls_of_random_inputs(before) if calls is None else calls)
    return found._replace(
        kinds=kinds,
        floats=floats,
        moving=observation.growth.moving(masked),
        samples=observation.samples,
        layers=inside,
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
