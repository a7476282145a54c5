"""Limits on the sizes of constants: of those that the engine would fold, and of a module's total."""

from __future__ import annotations

import math
from typing import NamedTuple

from litefuse.errors import LimitError
from litefuse.ir.constants import CONSTANTS, DENSE_CONSTANTS, PLACEHOLDER
from litefuse.ir.locations import node_name
from litefuse.ir.mlir import ir
from litefuse.support.options.limits import check_constant

_ITEM_SIZES = {"bf16": 2, "f16": 2, "f64": 8, "i1": 1, "i8": 1, "ui8": 1, "i16": 2, "ui16": 2, "i64": 8, "ui64": 8}


class _Known(NamedTuple):
    """A value that is computed from constants only: its bytes, and theirs, where a splat counts as one element."""

    size: int
    held: int


def check_folding(module: ir.Module) -> None:
    """Refuses values that are computed from constants only and above the limit, before the engine folds them.

    The engine folds ranges and broadcasts, and then the ops on their results.

    Raises:
        LimitError: There is such a value; the error names its node.
    """
    known: dict[ir.Value, _Known] = {}
    refused: list[LimitError] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        results = op.results
        if op.name in CONSTANTS:
            known[results[0]] = _constant(op)
        elif len(results) and len(op.operands) and all(operand in known for operand in op.operands):
            operands = {operand: known[operand] for operand in op.operands}
            held = sum(operand.held for operand in operands.values())
            for result in results:
                size = _size(result.type)
                if size is not None:
                    what = f"the constant that {op.name.removeprefix('tf.')} makes, {result.type},"
                    try:
                        check_constant(size, held, what, f"node {node_name(op.location)}")
                    except LimitError as error:  # the bindings would turn it into another error
                        refused.append(error)
                        return ir.WalkResult.INTERRUPT
                    known[result] = _Known(size, min(held, size))
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    if refused:
        raise refused[0]


def check_constants(module: ir.Module, held: int) -> None:
    """Refuses a module whose constants have a total size above the limit, before they are written.

    Args:
        module: The module; weights that stay in the checkpoint do not count, and equal constants count once.
        held: The bytes that the model's files hold.

    Raises:
        LimitError: The total size is above the limit.
    """
    sizes: dict[ir.Attribute, int] = {}

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name in DENSE_CONSTANTS:
            size = _size(op.results[0].type)
            if size is not None and size >= _NOTABLE:
                sizes[op.attributes["value"]] = size
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    check_constant(sum(sizes.values()), held, "the constants of the model")


# Smaller constants are ignored: only about a million of them would matter.
_NOTABLE = 1 << 10


def _constant(op: ir.Operation) -> _Known:
    size = _size(op.results[0].type) or 0
    if op.name == PLACEHOLDER:
        return _Known(size, size)
    try:
        value = op.attributes["value"]
    except TypeError:  # complex elements, which the bindings do not support
        return _Known(size, size)
    repeated = isinstance(value, ir.DenseElementsAttr) and value.is_splat
    return _Known(size, _item_size(op.results[0].type) if repeated else size)


def _size(kind: ir.Type) -> int | None:
    """Returns the bytes of a tensor; None for a dynamic shape, or a type that is not a tensor."""
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
        return None
    return math.prod(kind.shape) * _item_size(kind)


def _item_size(kind: ir.Type) -> int:
    return _ITEM_SIZES.get(str(ir.ShapedType(kind).element_type), 4)
