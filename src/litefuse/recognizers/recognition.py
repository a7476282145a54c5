"""The recognizer pass's record of one layer."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Recognition"]


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
