"""Base classes of string kernels, checks of their inputs, and string arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.supported import LimitedKernel
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.tensors import STRING

# This many strings, even empty ones, take half a gigabyte as Python objects and in the runtime's buffer.
_MOST_STRINGS = 2**24


def check_row_splits_spec(name: str, splits: TensorSpec) -> int:
    """Checks the type of row splits, and returns the number of rows.

    Raises:
        KernelError: They are not a vector of at least one int32 or int64.
    """
    if splits.dtype.name not in ("int32", "int64"):
        raise KernelError(f"{name} must be int32 or int64, not {splits.dtype}")
    if splits.shape is None or len(splits.shape) != 1 or splits.shape[0] < 1:
        raise KernelError(f"{name} must be of rank 1 with one element or more, not {splits.shape}")
    return splits.shape[0] - 1


def check_row_splits(name: str, splits: npt.NDArray[Any], size: int) -> None:
    """Checks that row splits begin with 0, do not decrease, and end with the number of values.

    Definition: https://www.tensorflow.org/api_docs/python/tf/RaggedTensor#row_partitioning.

    Raises:
        KernelError: They do not.
    """
    if splits[0] != 0:
        raise KernelError(f"{name} begins with {splits[0]}, not 0")
    if splits[-1] != size:
        raise KernelError(f"{name} ends with {splits[-1]}, not with {size}, the number of what it splits")
    falls = np.flatnonzero(splits[1:] < splits[:-1])
    if len(falls):
        at = falls[0]
        raise KernelError(f"{name} falls from {splits[at]} to {splits[at + 1]} after position {at}")


def check_strings(name: str, spec: TensorSpec, rank: int | None = None) -> tuple[int, ...]:
    """Checks that an input is of strings, and returns its shape.

    Raises:
        KernelError: It has another dtype or rank.
    """
    if spec.dtype != STRING:
        raise KernelError(f"{name} must be of strings, not {spec.dtype}")
    assert spec.shape is not None
    if rank is not None and len(spec.shape) != rank:
        raise KernelError(f"{name} must be of rank {rank}, not {spec.shape}")
    return spec.shape


def check_dtype(name: str, spec: TensorSpec, *dtypes: str) -> tuple[int, ...]:
    """Checks that an input has one of some dtypes, and returns its shape.

    Raises:
        KernelError: It has another dtype.
    """
    if spec.dtype.name not in dtypes:
        raise KernelError(f"{name} must be of {' or '.join(dtypes)}, not {spec.dtype}")
    assert spec.shape is not None
    return spec.shape


def check_scalar(name: str, spec: TensorSpec) -> None:
    """Checks that an input has one element.

    Raises:
        KernelError: It has none or several.
    """
    if spec.shape is None or np.prod(spec.shape) != 1:
        raise KernelError(f"{name} must be a scalar, not {spec.shape}")


def check_count(shape: Sequence[int]) -> None:
    """Checks the number of strings of an output before the array is allocated.

    Raises:
        KernelError: It is above the limit of Python kernels.
    """
    if math.prod(shape) > _MOST_STRINGS:
        raise KernelError(f"an output {list(shape)} is of more strings than the {_MOST_STRINGS:,} that Python makes")


def as_bytes(option: str | bytes) -> bytes:
    """Returns a string option as bytes, which it already is if it is not valid UTF-8."""
    return option.encode() if isinstance(option, str) else option


def decoded(text: bytes) -> str:
    """Returns the characters of UTF-8; a byte that is not valid becomes one that only itself equals."""
    return text.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """Returns the bytes of a decoded text."""
    return text.encode("utf-8", "surrogateescape")


def string_array(strings: Iterable[bytes], shape: Sequence[int] | None = None) -> npt.NDArray[Any]:
    """Returns strings as an array, of rank 1 unless a shape is given."""
    values = list(strings)
    array = np.empty(len(values), STRING)
    array[:] = values
    return array if shape is None else array.reshape(tuple(shape))


class OfStringsOnly(LimitedKernel):
    """Base class of kernels that support an op for strings only, because LiteRT has it for numbers."""

    dtypes: ClassVar[tuple[str, ...]] = ("string",)

    @classmethod
    def refusal(cls, dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
        """Accepts ops that return strings."""
        del attributes
        return None if "string" in dtypes else ""


class OfEachString(CustomOp):
    """Base class of kernels that map each string to a string."""

    dtypes: ClassVar[tuple[str, ...]] = ("string",)

    def prepare(self, text: TensorSpec) -> TensorSpec:
        return TensorSpec(check_strings("input", text), STRING)
