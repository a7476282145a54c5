"""Hides casts from the engine if it would move a gather before them, to a dtype that LiteRT's GATHER lacks.

The engine replaces a gather from a cast with a cast of a gather::

    %c = tfl.cast(%x : tensor<?x4xf16>) : tensor<?x4xf32>            %g = tfl.gather(%x, %i)     refused: float16
    %y = tfl.gather(%c, %i)                                   -->    %y = tfl.cast(%g)

Fault ``gathered-conversion``.
"""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import contextmanager

from litefuse.ir.attributes import custom_code, custom_op_attributes
from litefuse.ir.call_graph import all_operations
from litefuse.ir.defining_ops import is_constant
from litefuse.ir.mlir import ir, producer
from litefuse.ir.op_creation import create_op

_GATHERS = frozenset({"tf.Gather", "tf.GatherV2", "tfl.gather"})
_CASTS = frozenset({"tf.Cast", "tfl.cast"})
_GATHERED = frozenset({"f32", "i1", "i4", "i8", "i16", "i32", "i64", "ui8", "!tf_type.string"})
_NOT_CAST = frozenset({"ui64"})  # LiteRT's CAST does not take it: the engine leaves such a cast
_HIDDEN = "litefuse.cast"


@contextmanager
def hidden_casts(module: ir.Module) -> Generator[None]:
    """Replaces these casts by custom ops, and restores them afterwards."""
    casts = _misplaced(module)
    for op in casts:
        _replace(op, "tfl.custom", custom_op_attributes(_HIDDEN, b""))
    try:
        yield
    finally:
        for op in all_operations(module) if casts else ():
            if custom_code(op) == _HIDDEN:
                _replace(op, "tf.Cast" if _element_type(op.operands[0]) in _NOT_CAST else "tfl.cast", {})


def _misplaced(module: ir.Module) -> Collection[ir.OpView]:
    """Returns the casts from such dtypes that a gather reads; a constant is folded instead."""
    casts: dict[ir.Value, ir.OpView] = {}
    for gather in all_operations(module):
        cast = producer(gather.operands[0], *_CASTS) if gather.name in _GATHERS else None
        if cast is not None:
            before, after = map(_element_type, (cast.operands[0], cast.result))
            if before not in _GATHERED and after in _GATHERED and not is_constant(cast.operands[0]):
                casts[cast.result] = cast.opview
    return casts.values()


def _element_type(value: ir.Value) -> str:
    return str(ir.ShapedType(value.type).element_type)


def _replace(op: ir.OpView, name: str, attributes: dict[str, ir.Attribute]) -> None:
    with ir.InsertionPoint(op), op.location:
        kinds, operands = [op.results[0].type], list(op.operands)
        if name == "tf.Cast":
            made = create_op("Cast", kinds, operands)
        else:
            made = ir.Operation.create(name, kinds, operands, attributes)
    op.results[0].replace_all_uses_with(made.result)
    op.operation.erase()
