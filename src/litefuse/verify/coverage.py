"""How much of a table was reached."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Coverage"]


@dataclass(frozen=True)
class Coverage:
    """How many rows of a table the inputs of calls picked, or how many words of a vocabulary they were.

    Attributes:
        signature: The signature's key.
        name: The table's name in the model.
        reached: How many.
        size: Of how many.
        sampled: Whether there are so many that only the ends and a sample are picked.
    """

    signature: str
    name: str
    reached: int
    size: int
    sampled: bool

    @property
    def complete(self) -> bool:
        """Whether nothing was left out that should have been reached."""
        return self.sampled or self.reached >= self.size

    def __str__(self) -> str:
        return f"{self.reached:,} of {self.size:,}" + (", a sample" if self.sampled else "")
