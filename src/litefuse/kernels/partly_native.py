"""Which ops of a kernel that the pack has in C++ run in Python all the same."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from litefuse.kernels.index import kernel_classes
from litefuse.runtime.custom_op import CustomOp

__all__ = ["PartlyNativeKernel", "is_beyond_native", "is_partly_native"]


class PartlyNativeKernel(CustomOp):
    """Base of kernels whose form in C++ does not take all attributes."""

    @classmethod
    @abstractmethod
    def is_beyond_native(cls, attributes: Mapping[str, Any]) -> bool:
        """Whether an op with such attributes is beyond the kernel in C++."""


def is_partly_native(op: str) -> bool:
    """Whether the attributes of an op decide if the kernel in C++ takes it; there is one of its name."""
    found = kernel_classes().get(op)
    return found is not None and found.keywords.get("native") == "partly"


def is_beyond_native(op: str, attributes: Mapping[str, Any]) -> bool:
    """Whether an op with such attributes is beyond the kernel in C++; there is one of its name."""
    if not is_partly_native(op):
        return False
    kernel: type[PartlyNativeKernel] = kernel_classes()[op].load()
    return kernel.is_beyond_native(attributes)
