"""Which form of a recurrent layer is the faster one."""

from __future__ import annotations

__all__ = ["lstm_loop_is_faster"]

# Measured by benchmarks/recurrent.py: see docs/recurrent.md. The loop's products are XNNPACK's and win as soon as they
# are large; what it costs to hand a buffer of outputs from turn to turn grows with the square of the steps.
_SMALL_UNITS = 48
_MANY_STEPS = 400
_MIDDLE_UNITS = 128


def lstm_loop_is_faster(units: int, steps: int | None) -> bool:
    """Whether an LSTM layer runs faster as a loop than as UNIDIRECTIONAL_SEQUENCE_LSTM, for a batch of one.

    Args:
        units: Its units.
        steps: Its steps; None if they are not known.
    """
    many = steps is not None and steps >= _MANY_STEPS
    return units > (_MIDDLE_UNITS if many else _SMALL_UNITS)
