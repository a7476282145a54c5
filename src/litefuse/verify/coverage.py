"""How much of a model was reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Coverage"]


@dataclass(frozen=True)
class Coverage:
    """How many rows of a table calls picked, how many words of a vocabulary they had, or how many branches they took.

    Attributes:
        signature: The signature's key.
        name: The name of the table, or of the condition, in the model.
        reached: How many.
        size: Of how many.
        sampled: Whether there are so many that only the ends and a sample are picked.
        kind: What they are; words count as rows.
    """

    signature: str
    name: str
    reached: int
    size: int
    sampled: bool
    kind: Literal["rows", "branches"] = "rows"

    @property
    def complete(self) -> bool:
        """Whether nothing was left out that should have been reached."""
        return self.sampled or self.reached >= self.size

    def __str__(self) -> str:
        return f"{self.reached:,} of {self.size:,}" + (", a sample" if self.sampled else "")
