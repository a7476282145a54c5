"""What a self-check found."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CheckResult"]


@dataclass(frozen=True)
class CheckResult:
    """What a self-check found.

    Attributes:
        error: The largest difference between the two, relative to the largest value (at least 1); None when nothing
            could be compared.
        problem: Why the fused op is not what the composite says; None when it is, or when nothing could be compared.
        unchecked: Why nothing could be compared.
    """

    error: float | None = None
    problem: str | None = None
    unchecked: str | None = None
