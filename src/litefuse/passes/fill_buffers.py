"""Large constants of one value that loops begin with."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from litefuse.engine.mlir import ir
from litefuse.passes.call_graph import functions

__all__ = ["FillBuffers"]

_CONSTANTS = frozenset({"arith.constant", "tfl.pseudo_const"})
# The dtypes of LiteRT's FILL that such a buffer may have.
_DTYPES = frozenset({"f16", "f32", "i1", "i8", "i16", "i32", "i64"})
_MIN_ELEMENTS = 256


@dataclass(frozen=True)
class FillBuffers:
    """Makes what a loop collects its results in when the model runs, instead of storing it in the file::

        %z = arith.constant dense<0.0> : tensor<500x1x512xf32>         %z = tfl.fill([500, 1, 512], 0.0)
        tfl.while(%z)                                             -->  tfl.while(%z)

    The engine folds a fill of known size into a constant, so this pass comes after it. The runtime copies a loop
    variable's first value in any case.
    """

    name: ClassVar[str] = "fill-buffers"

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            if not function.is_external:
                for loop in _loops(function.entry_block):
                    for position, value in enumerate(list(loop.operands)):
                        if _is_large_splat(value):
                            _fill(value, loop, position)
                            modified = True
        return modified


def _loops(block: ir.Block) -> Iterator[ir.OpView]:
    for op in list(block.operations):
        if op.name == "tfl.while":
            yield op
        for region in op.regions:
            for inner in region.blocks:
                yield from _loops(inner)


def _is_large_splat(value: ir.Value) -> bool:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in _CONSTANTS:
        return False
    attribute = owner.attributes["value"]
    return (
        isinstance(attribute, ir.DenseElementsAttr)
        and attribute.is_splat
        and str(attribute.type.element_type) in _DTYPES
        and math.prod(attribute.type.shape) >= _MIN_ELEMENTS
    )


def _fill(value: ir.Value, loop: ir.OpView, position: int) -> None:
    constant = value.owner
    assert not isinstance(constant, ir.Block)
    attribute = ir.DenseElementsAttr(constant.attributes["value"])
    kind = attribute.type
    number = ir.DenseElementsAttr.get_splat(ir.RankedTensorType.get([], kind.element_type), attribute.get_splat_value())
    dims = ir.DenseElementsAttr.get(np.array(kind.shape, np.int32))
    with ir.InsertionPoint(loop), constant.location:
        operands = [
            ir.Operation.create("tfl.pseudo_const", [each.type], [], {"value": each}).result for each in (dims, number)
        ]
        loop.operands[position] = ir.Operation.create("tfl.fill", [kind], operands).result
    if not list(value.uses):  # it would be written to the file nevertheless
        constant.erase()
