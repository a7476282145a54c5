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
    "rnn_loop": _Limits(units=128, steps=400, units_of_many_steps=256),
}


def loop_is_faster(composite: str, units: int, steps: int | None) -> bool:
    """Whether a recurrent layer runs faster as a loop than as its fused op, for a batch of one.

    Args:
        composite: The name of the layer's composite, which says what it is: ``lstm_loop``.
        units: Its units.
        steps: Its steps; None if they are not known.
    """
    limits = _LIMITS[composite]
    many = steps is not None and steps >= limits.steps
    return units > (limits.units_of_many_steps if many else limits.units)


def unrolled_is_faster(composite: str, units: int, steps: int) -> bool:
    """Whether an unrolled layer runs faster than its fused op, for a batch of one; arguments as above."""
    del composite, steps
    return units > 128
