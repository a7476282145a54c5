"""What a form of the sweep is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["BOOLEANS", "DTYPES", "FLOATS", "INTEGERS", "NUMBERS", "SIGNED", "Form", "Maker", "numpy_dtype"]

FLOATS = ("float32", "float16", "bfloat16", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = (*SIGNED, "uint8", "uint16", "uint32", "uint64")
BOOLEANS = ("bool",)
NUMBERS = (*FLOATS, *INTEGERS)
DTYPES = (*NUMBERS, *BOOLEANS)


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

Family: TypeAlias = Mapping[str, Form]


def _converted(value: Any, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(kind)


def numpy_dtype(dtype: str) -> npt.DTypeLike:
    """The numpy dtype of a name."""
    if dtype == "bfloat16":
        import ml_dtypes

        return ml_dtypes.bfloat16
    return np.dtype(dtype)
