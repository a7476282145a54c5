"""How much of a model the calls reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Coverage"]


@dataclass(frozen=True)
class Coverage:
    """How many rows of a table, words of a vocabulary, or branches the calls reached.

    Attributes:
        signature: The signature's key.
        name: The name of the table, or of the condition, in the model.
        reached: The number that was reached.
        size: The number that there are.
        sampled: Whether there are so many that only the ends and a sample are picked.
        kind: What is counted; words count as rows.
    """

    signature: str
    name: str
    reached: int
    size: int
    sampled: bool
    kind: Literal["rows", "branches"] = "rows"

    @property
    def complete(self) -> bool:
        """Whether everything was reached that should have been."""
        return self.sampled or self.reached >= self.size

    def __str__(self) -> str:
        return f"{self.reached:,} of {self.size:,}" + (", a sample" if self.sampled else "")
