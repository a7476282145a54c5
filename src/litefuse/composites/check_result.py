"""What a self-check is asked, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["CheckResult", "CheckTerms", "InputsOfSize"]

#: The inputs for a size of the unknown dimensions; None when any random values will do.
InputsOfSize: TypeAlias = "Callable[[int, np.random.Generator], Sequence[npt.NDArray[Any]] | None]"


class CheckTerms(NamedTuple):
    """What a fusion says of the comparison with the composite.

    Attributes:
        tolerance: The largest relative difference of float results that is allowed; others must be equal.
        inputs: Where the inputs come from, if the composite is not defined for any random values.
        open_results: The indices of results of which only shape and dtype are compared.
        ids_in_range: Whether ids are left out that no table has.
    """

    tolerance: float
    inputs: InputsOfSize | None = None
    open_results: Collection[int] = ()
    ids_in_range: bool = False


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
