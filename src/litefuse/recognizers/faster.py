"""Which form of a recurrent layer is the faster one."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["loop_is_faster", "unrolled_is_faster"]


class _Limits(NamedTuple):
    """Up to how many units the fused op is faster, and from how many steps on up to how many."""

    units: int
    steps: int
    units_of_many_steps: int


# Measured by benchmarks/recurrent.py: see docs/recurrent.md. The loop's products are XNNPACK's and win as soon as they
# are large; what it costs to hand a buffer of outputs from turn to turn grows with the square of the steps.
_LIMITS = {
    "lstm_loop": _Limits(units=48, steps=400, units_of_many_steps=128),
    "rnn_loop": _Limits(units=96, steps=400, units_of_many_steps=384),
}

# An unrolled layer has XNNPACK's copy of the weights for each step: up to 4 MB it is faster than the op, from 16 MB on
# slower.
_GATES = {"lstm_loop": 4, "rnn_loop": 1}
_UNROLLED_WEIGHTS = 2**20


def loop_is_faster(composite: str, units: int, steps: int | None) -> bool:
    """Whether a recurrent layer runs faster as a loop than as its fused op, for a batch of one.

    Args:
        composite: The name of the layer's composite, which says what it is: ``lstm_loop``.
        units: Its units.
        steps: Its steps; None if they are not known.
    """
    if composite not in _LIMITS:
        return False
    limits = _LIMITS[composite]
    many = steps is not None and steps >= limits.steps
    return units > (limits.units_of_many_steps if many else limits.units)


def unrolled_is_faster(composite: str, units: int, steps: int) -> bool:
    """Whether an unrolled layer runs faster than its fused op, for a batch of one and as many inputs as units.

    Args:
        composite: The name of the layer's composite.
        units: Its units.
        steps: Its steps.
    """
    return composite in _GATES and 2 * _GATES[composite] * units**2 * steps <= _UNROLLED_WEIGHTS
