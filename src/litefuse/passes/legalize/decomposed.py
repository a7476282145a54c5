"""The record of a rewritten op, which the passes report."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Decomposed"]


class Decomposed(NamedTuple):
    """An op that was rewritten.

    Attributes:
        op: The TensorFlow op's name.
        form: What replaced it. ``rewritten``: builtin ops; ``composite``: a composite with these as its decomposition;
            ``narrowed``: builtin ops that compute its int64 values in int32; ``widened``: builtin ops that compute its
            float16 or bfloat16 values in float32, between casts.
    """

    op: str
    form: Literal["rewritten", "composite", "narrowed", "widened"]
