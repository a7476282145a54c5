"""The terms and the result of a self-check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["CheckResult", "CheckTerms", "InputsOfSize"]

#: Returns the inputs for a size of the dynamic dimensions; None if any random values will do.
InputsOfSize: TypeAlias = "Callable[[int, np.random.Generator], Sequence[npt.NDArray[Any]] | None]"


class CheckTerms(NamedTuple):
    """A fusion's terms for the comparison with the composite.

    Attributes:
        tolerance: The largest allowed relative difference of float results; others must be equal.
        inputs: Returns the inputs, if the composite is not defined for any random values.
        open_results: The indices of results of which only shape and dtype are compared.
        ids_in_range: Whether out-of-range ids are left out.
    """

    tolerance: float
    inputs: InputsOfSize | None = None
    open_results: Collection[int] = ()
    ids_in_range: bool = False


class CheckResult(NamedTuple):
    """The result of a self-check.

    Attributes:
        error: The largest difference between the two, relative to the largest value (at least 1); None if nothing could
            be compared.
        problem: Why the fused op is not equivalent to the composite; None if it is, or if nothing could be compared.
        unchecked: Why nothing could be compared.
    """

    error: float | None = None
    problem: str | None = None
    unchecked: str | None = None
