"""What a form of the sweep is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

FLOATS = ("float32", "float16", "bfloat16", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = (*SIGNED, "uint8", "uint16", "uint32", "uint64")

NUMBERS = (*FLOATS, *INTEGERS)
DTYPES = (*NUMBERS, "bool")


class Maker(NamedTuple):
    """What a form is made with.

    Attributes:
        tf: The module ``tensorflow``.
        dtype: The name of the dtype that the form is made in.
    """

    tf: Any
    dtype: str

    def __call__(self, value: Any) -> Any:
        """A constant of the dtype."""
        return self.tf.constant(_converted(value, numpy_dtype(self.dtype)), self.dtype)


Form: TypeAlias = Callable[[Maker, Any, Any], Any]
"""Makes a tensor from two inputs ``[3, 4]`` of the dtype, none of whose second one's elements is 0."""

Named: TypeAlias = "tuple[str, tuple[str, ...], Form]"
"""A form with its name, and the dtypes that it is made in."""


def _converted(value: Any, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(kind)


def numpy_dtype(dtype: str) -> npt.DTypeLike:
    """The numpy dtype of a name."""
    if dtype == "bfloat16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return np.dtype(dtype)


def largest_float(dtype: str) -> float:
    """The largest finite number of a dtype of floats."""
    return {"float16": 65504.0, "bfloat16": 2.0**128 - 2.0**120, "float32": 2.0**128 - 2.0**104}.get(
        dtype, float(np.finfo(np.float64).max)
    )
