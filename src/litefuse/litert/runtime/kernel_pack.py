"""Index of the pack's kernels: the classes of ``litefuse.kernels.pack`` that are decorated with ``pack_kernel``.

It is built from their source, without importing their modules.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, TypeVar

from litefuse.support.plug_ins.own_classes import OwnClass, own_classes

if TYPE_CHECKING:
    from litefuse.litert.runtime.custom_op import CustomOp

__all__ = ["PACK", "kernel_classes", "pack_kernel"]

_Kernel = TypeVar("_Kernel", bound="CustomOp")


def pack_kernel(
    op: str,
    *,
    native: bool | Literal["partly"] = False,  # noqa: ARG001  read from the source
    limited: bool = False,  # noqa: ARG001
) -> Callable[[type[_Kernel]], type[_Kernel]]:
    """Class decorator that makes a class the pack's kernel of an op. Its arguments are literals.

    Args:
        op: The op's name.
        native: Whether the pack also has the kernel in C++; ``partly`` if that does not support all attributes, in
            which case the class is a ``PartlyNativeKernel``.
        limited: Whether the kernel does not support all forms of the op; then the class is a ``LimitedKernel``.
    """

    def named(kernel: type[_Kernel]) -> type[_Kernel]:
        kernel.op_name = op
        return kernel

    return named


@functools.cache
def kernel_classes() -> Mapping[str, OwnClass]:
    """Returns the decorated classes by the names of their ops."""
    found = own_classes("litefuse.kernels.pack", "pack_kernel")
    return {each.arguments[0]: each for each in sorted(found, key=lambda each: each.name)}


class _Pack(Mapping[str, "type[CustomOp]"]):
    def __getitem__(self, op: str) -> type[CustomOp]:
        return kernel_classes()[op].load()

    def __contains__(self, op: object) -> bool:
        return op in kernel_classes()

    def __iter__(self) -> Iterator[str]:
        return iter(kernel_classes())

    def __len__(self) -> int:
        return len(kernel_classes())


PACK: Mapping[str, type[CustomOp]] = _Pack()
"""The kernels by the names of their ops. A kernel that is registered with ``custom_op`` takes precedence."""
