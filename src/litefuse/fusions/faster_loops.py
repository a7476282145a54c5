"""Decides which form of a recurrent layer is faster on a CPU."""

from __future__ import annotations

__all__ = ["loop_is_faster", "unrolled_is_faster"]

# The fused op is faster up to this many units, by the least number of steps, for a batch of one. Measured by
# benchmarks/recurrent.py: see docs/guides/recurrent.md. The loop's products run in XNNPACK and win as soon as they are
# large; the cost of passing a buffer of outputs between iterations grows with the square of the steps.
_LIMITS = {
    "lstm_loop": {0: 48, 60: 56, 400: 224},
    "rnn_loop": {0: 64, 60: 112, 400: 320},
}
# With a larger batch, the loop is even faster: XNNPACK computes the rows of a product together, the op one by one.
_OF_BATCH = 0.6

# An unrolled layer has XNNPACK's copy of the weights for each step: up to 4 MB it is faster than the op, from 16 MB on
# slower.
_GATES = {"lstm_loop": 4, "rnn_loop": 1}
_UNROLLED_WEIGHTS = 2**20


def loop_is_faster(composite: str, units: int, steps: int | None, batch: int | None) -> bool:
    """Whether a recurrent layer runs faster as a loop than as its fused op.

    Args:
        composite: The name of the layer's composite, which gives its kind: ``lstm_loop``.
        units: Its units.
        steps: Its steps; None if unknown, which counts as few.
        batch: Its batch size; None if unknown, which counts as one.
    """
    if composite not in _LIMITS:
        return False
    limit = max(limit for least, limit in _LIMITS[composite].items() if (steps or 0) >= least)
    return units * (batch or 1) ** _OF_BATCH > limit


def unrolled_is_faster(composite: str, units: int, steps: int) -> bool:
    """Whether an unrolled layer runs faster than its fused op, for a batch of one and as many inputs as units.

    Args:
        composite: The name of the layer's composite.
        units: Its units.
        steps: Its steps.
    """
    return composite in _GATES and 2 * _GATES[composite] * units**2 * steps <= _UNROLLED_WEIGHTS
