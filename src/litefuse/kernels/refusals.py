"""Which forms of ops the pack's kernels do not take, so that a conversion says so and not the runtime."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from litefuse.kernels.index import kernel_classes
from litefuse.runtime.custom_op import CustomOp

__all__ = ["LimitedKernel", "refusal"]


class LimitedKernel(CustomOp):
    """Base of kernels that do not take all forms of their op."""

    @classmethod
    @abstractmethod
    def refusal(cls, dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
        """Why the kernel does not take an op of some form; see the function of the same name."""


def refusal(op: str, dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
    """Why the pack's kernel does not take an op of some form.

    Args:
        op: The op's name; the pack has a kernel for it.
        dtypes: The dtypes of its results.
        attributes: Its attributes as Python values.

    Returns:
        The reason; empty where LiteRT has such an op, of other dtypes, and why it is left is known better elsewhere;
        None if the kernel takes it.
    """
    found = kernel_classes()[op]
    if not found.keywords.get("limited"):
        return None
    kernel: type[LimitedKernel] = found.load()
    return kernel.refusal(dtypes, attributes)
