"""Dtypes by kind, and forms of ops, that the pack's kernels support. The conversion reports others, not the runtime."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy.typing as npt

from litefuse.litert.runtime.custom_op import CustomOp
from litefuse.litert.runtime.kernel_pack import kernel_classes

#: The inputs of a kernel without optional ones.
Arrays: TypeAlias = "tuple[npt.NDArray[Any], ...]"

# The dtypes that kernels support; their lists name these kinds.
INDICES = ("int32", "int64")
INTEGERS = ("int8", "int16", *INDICES, "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = (*INTEGERS, *FLOATS)
NUMBERS = (*REAL, *COMPLEX)
ANY = ("bool", *NUMBERS)


class LimitedKernel(CustomOp):
    """Base class of kernels that do not support all forms of their op."""

    @classmethod
    @abstractmethod
    def refusal(cls, dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
        """Returns why the kernel does not support an op; see the function of the same name."""


def refusal(op: str, dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
    """Returns why the pack's kernel does not support an op.

    Args:
        op: The op's name; the pack has a kernel for it.
        dtypes: The dtypes of its results.
        attributes: Its attributes as Python values.

    Returns:
        The reason; empty if LiteRT has the op for other dtypes and a better reason is known elsewhere; None if the
        kernel supports it.
    """
    class_ = kernel_classes()[op]
    if not class_.keywords.get("limited"):
        return None
    kernel: type[LimitedKernel] = class_.load()
    return kernel.refusal(dtypes, attributes)
