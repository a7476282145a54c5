"""Types of FILL ops whose sizes are constant, for runtimes that take no dynamic dimension."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from litefuse.ir.call_graph import all_operations
from litefuse.ir.constants import elements_of_constant
from litefuse.ir.mlir import ir

__all__ = ["TypeFills"]


class TypeFills:
    """Gives the results of FILL their shapes where the sizes are constant, as those of states are::

    tfl.fill([1, 64], 0.0) : tensor<?x64xf32>  -->  tfl.fill([1, 64], 0.0) : tensor<1x64xf32>
    """

    name: ClassVar[str] = "type-fills"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for op in all_operations(module):
            if op.name != "tfl.fill":
                continue
            kind = ir.ShapedType(op.results[0].type)
            elements = elements_of_constant(op.operands[0], "arith.constant", "tfl.pseudo_const")
            if elements is not None and not (kind.has_rank and kind.has_static_shape):
                sizes = np.array(elements).reshape(-1).tolist()
                op.results[0].set_type(ir.RankedTensorType.get(sizes, kind.element_type))
                modified = True
        return modified
