"""What the passes tell."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Decomposed"]


class Decomposed(NamedTuple):
    """What became of one op.

    Attributes:
        op: The TensorFlow op's name.
        form: ``rewritten``: builtin ops stand in its place; ``composite``: a composite with these as decomposition;
            ``narrowed``: builtin ops that compute its int64 values in int32; ``widened``: builtin ops that compute its
            float16 or bfloat16 values in float32, between casts.
    """

    op: str
    form: Literal["rewritten", "composite", "narrowed", "widened"]
