"""The kernel pack: Python kernels of TensorFlow ops that LiteRT lacks, or supports for numbers but not for strings.

Each kernel's class is an attribute of this package. Its module is imported at the first access, since most models need
no kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litefuse.litert.runtime.custom_op import PACK
from litefuse.litert.runtime.kernel_pack import kernel_classes, native_library

if TYPE_CHECKING:
    from litefuse.litert.runtime.custom_op import CustomOp

    PYTHON_ONLY: frozenset[str]
    """The ops whose kernels have no native form and run in Python only: most string ops."""

__all__ = ["PACK", "PYTHON_ONLY", "native_library"]


def __getattr__(name: str) -> type[CustomOp]:
    if name == "PYTHON_ONLY":  # its type is declared above
        value: Any = frozenset(op for op, class_ in kernel_classes().items() if not class_.keywords.get("native"))
    else:
        class_ = next((class_ for class_ in kernel_classes().values() if class_.name == name), None)
        if class_ is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = class_.load()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), "PYTHON_ONLY", *(class_.name for class_ in kernel_classes().values())})
