"""Checks that ops on a handle fit the resource behind it."""

from __future__ import annotations

from typing import ClassVar

from litefuse.errors import GraphError
from litefuse.ir.call_graph import functions, is_call, operations
from litefuse.ir.locations import node_text
from litefuse.ir.mlir import ir, producer
from litefuse.ir.types import is_resource, tensor_type_of

__all__ = ["CheckHandles"]

_TABLE, _VARIABLE = "tf.HashTableV2", "tf.VarHandleOp"
_OF_TABLES = ("tf.LookupTable", "tf.InitializeTable", "tf.WordpieceTokenizeWithOffsets")
# Ops that forward a handle.
_NEUTRAL = frozenset({"func.return", "tf.Identity", "tf.IdentityN", "tf.VarIsInitializedOp"})
# For each op of tables with keys or values, the places of these: operands, then results.
_KEYS = {"tf.LookupTableFindV2": 1, "tf.LookupTableImportV2": 1, "tf.LookupTableInsertV2": 1}
_VALUES = {"tf.LookupTableFindV2": 2, "tf.LookupTableImportV2": 2, "tf.LookupTableInsertV2": 2}


class CheckHandles:
    """Refuses tables that are read as variables, lookups in variables, and keys or values of other dtypes.

    The passes and the engine assume what TensorFlow only checks when it runs the op. Handles must be next to their uses
    (``sink-handles``).

    Raises:
        GraphError: There is one; the message names the node, the op, and the expected and actual type.
    """

    name: ClassVar[str] = "check-handles"

    def run(self, module: ir.Module) -> bool:
        for function in functions(module).values():
            for op in operations(function):
                for position, operand in enumerate(op.operands):
                    if is_resource(operand) and not is_call(op) and op.name not in _NEUTRAL:
                        _check(op, position, operand)
        return False


def _check(op: ir.OpView, position: int, handle: ir.Value) -> None:
    maker = producer(handle, _TABLE, _VARIABLE)
    if maker is None:
        return
    expected = _TABLE if op.name.startswith(_OF_TABLES) else _VARIABLE
    name = ir.StringAttr(maker.attributes["shared_name"]).value
    if maker.name != expected:
        wanted, found = ("a table", "the variable") if expected == _TABLE else ("a variable", "the table")
        raise _error(op, f"its operand {position} takes {wanted}, but it is {found} {name!r}")
    if expected == _TABLE:
        for places, what in ((_KEYS, "key_dtype"), (_VALUES, "value_dtype")):
            if op.name in places and len(op.operands) > places[op.name]:
                wanted = tensor_type_of(ir.UnrankedTensorType.get(ir.TypeAttr(maker.attributes[what]).value)).dtype
                found = tensor_type_of(op.operands[places[op.name]]).dtype
                if wanted != found:
                    message = (
                        f"its operand {places[op.name]} is {found}, but the table {name!r} has the {what} {wanted}"
                    )
                    raise _error(op, message)


def _error(op: ir.OpView, message: str) -> GraphError:
    where = f"{node_text(op)} ({op.name.removeprefix('tf.')})"
    return GraphError(message, where=where, hint="The model contradicts itself: save it again.")
