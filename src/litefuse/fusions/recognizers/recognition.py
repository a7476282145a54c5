"""The recognizer pass's record of one layer."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["HOISTED", "Recognition"]

#: What a reason says of a layer that stays a loop.
HOISTED = "; a loop with its input projection hoisted"


class Recognition(NamedTuple):
    """The outcome for one loop.

    Attributes:
        layer: The layer's name, from the loop's node.
        name: The annotation that it got; None if it was not recognized.
        reason: Why it was not recognized, or why it was left unchanged.
    """

    layer: str
    name: str | None
    reason: str | None = None
