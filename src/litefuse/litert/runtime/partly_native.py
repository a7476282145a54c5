"""Ops that run in Python because the pack's C++ kernel does not support their attributes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from litefuse.litert.runtime.custom_op import CustomOp
from litefuse.litert.runtime.kernel_pack import kernel_classes

__all__ = ["PartlyNativeKernel", "is_beyond_native", "is_partly_native"]


class PartlyNativeKernel(CustomOp):
    """Base class of kernels whose C++ form does not support all attributes."""

    @classmethod
    @abstractmethod
    def is_beyond_native(cls, attributes: Mapping[str, Any]) -> bool:
        """Whether the C++ kernel does not support an op with these attributes."""


def is_partly_native(op: str) -> bool:
    """Whether the C++ kernel of an op supports it only with some attributes."""
    class_ = kernel_classes().get(op)
    return class_ is not None and class_.keywords.get("native") == "partly"


def is_beyond_native(op: str, attributes: Mapping[str, Any]) -> bool:
    """Whether the C++ kernel of an op, which must exist, does not support it with these attributes."""
    if not is_partly_native(op):
        return False
    kernel: type[PartlyNativeKernel] = kernel_classes()[op].load()
    return kernel.is_beyond_native(attributes)
