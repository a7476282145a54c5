"""The final check of a lowered module's constants."""

from __future__ import annotations

from typing import ClassVar

from litefuse.errors import LoweringError
from litefuse.ir.call_graph import function_symbol, functions, operations
from litefuse.ir.constants import DENSE_CONSTANTS, stored
from litefuse.ir.mlir import ir

__all__ = ["CheckConstants"]


class CheckConstants:
    """Refuses constants of dynamic shape, which the faults ``zero-factor`` and ``constants-of-open-shape`` create.

    Raises:
        LoweringError: There is such a constant.
    """

    name: ClassVar[str] = "check-constants"

    def run(self, module: ir.Module) -> bool:
        for function in functions(module).values():
            for op in operations(function):
                value = stored(op.results[0]) if op.name in DENSE_CONSTANTS else None
                if value is not None and not value.type.has_static_shape:
                    raise LoweringError(
                        f"the engine made a constant of the dynamic shape {value.type} of an op; "
                        "the model would be wrong",
                        where=f"function {function_symbol(function)}, {op.location}",
                        hint="Fix the sizes of the inputs, or leave out a multiplication by a constant zero.",
                    )
        return False
