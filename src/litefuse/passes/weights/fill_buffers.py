"""Fills large initial values of loops at run time."""

from __future__ import annotations

import math
from typing import ClassVar

from litefuse.ir.litert_ops import create_fill, splat
from litefuse.ir.mlir import ir
from litefuse.ir.passes import visit_ops

__all__ = ["FillBuffers"]

# The dtypes of LiteRT's FILL that such a buffer may have.
_DTYPES = frozenset({"f16", "f32", "i1", "i8", "i16", "i32", "i64"})
_MIN_ELEMENTS = 256


class FillBuffers:
    """Creates the buffer that a loop collects its results in at run time, instead of storing it in the file::

        %z = arith.constant dense<0.0> : tensor<500x1x512xf32>         %z = tfl.fill([500, 1, 512], 0.0)
        tfl.while(%z)                                             -->  tfl.while(%z)

    The engine folds a fill of known size into a constant, so this pass comes after it. The runtime copies a loop
    variable's first value in any case.
    """

    name: ClassVar[str] = "fill-buffers"

    def run(self, module: ir.Module) -> bool:
        return visit_ops(module, {"tfl.while": _fill_operands})


def _fill_operands(op: ir.OpView) -> bool:
    splats = [(position, _large_splat(value)) for position, value in enumerate(op.operands)]
    large = [(elements, position) for position, elements in splats if elements is not None]
    for elements, position in large:
        _fill(elements, op, position)
    return bool(large)


def _large_splat(value: ir.Value) -> ir.DenseElementsAttr | None:
    elements = splat(value)
    if elements is None or str(elements.type.element_type) not in _DTYPES:
        return None
    return elements if math.prod(elements.type.shape) >= _MIN_ELEMENTS else None


def _fill(elements: ir.DenseElementsAttr, loop: ir.OpView, position: int) -> None:
    constant = loop.operands[position].owner
    assert not isinstance(constant, ir.Block)
    with ir.InsertionPoint(loop), constant.location:
        loop.operands[position] = create_fill(elements, elements.type)
    if not list(constant.results[0].uses):  # otherwise it would be written to the file
        constant.erase()
