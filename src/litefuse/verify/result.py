"""What a self-check found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["CheckResult", "InputsOfSize"]

#: The inputs for a size of the unknown dimensions; None when any random values will do.
InputsOfSize: TypeAlias = "Callable[[int, np.random.Generator], Sequence[npt.NDArray[Any]] | None]"


class CheckResult(NamedTuple):
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
