"""What the pass tells of one layer."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Recognition"]


class Recognition(NamedTuple):
    """What was seen in one loop.

    Attributes:
        layer: The layer's name, from the loop's node.
        name: The annotation that it got; None if it was not recognized.
        reason: Why it was not, or why it was left as it is.
    """

    layer: str
    name: str | None
    reason: str | None = None
