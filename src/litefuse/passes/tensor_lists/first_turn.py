"""Computes a value of a loop's first iteration before the loop, to get its size."""

from __future__ import annotations

from litefuse.ir.call_graph import call_operands, is_call
from litefuse.ir.mlir import ir
from litefuse.ir.purity import is_repeatable
from litefuse.ir.types import is_variant
from litefuse.passes.tensor_lists.list_groups import Web
from litefuse.passes.tensor_lists.sizes import Unknown

__all__ = ["FirstTurn"]

_READERS = frozenset({"tf.TensorListElementShape", "tf.TensorListGetItem", "tf.TensorListLength"})
_MAKER = "tf.TensorListFromTensor"


class FirstTurn:
    """Copies what computes a value inside a function to the place of the op that calls it.

    The size of the value in the first turn of a loop is then taken for that of all; what relies on it has to make an
    item of another size an error when the model runs.
    """

    def __init__(self, webs: dict[ir.Value, Web]) -> None:
        self._webs = webs
        self._copies: dict[ir.Value, ir.Value] = {}

    def __call__(self, value: ir.Value, call: ir.OpView) -> ir.Value:
        """The copy of a value.

        Raises:
            Unknown: It is computed by ops that cannot be copied.
        """
        needed: list[ir.OpView] = []
        seen: set[ir.Value] = set()
        waiting = [value]
        while waiting:
            current = waiting.pop()
            if isinstance(current.owner, ir.Block) or current in self._copies or current in seen:
                continue
            op = current.owner.opview
            if is_call(op) or not is_repeatable(op.name):
                raise Unknown(f"it depends on the result of {op.name}")
            if any(map(is_variant, (*op.operands, *op.results))) and op.name not in {*_READERS, _MAKER}:
                raise Unknown(f"it depends on the result of {op.name}")
            seen.update(op.results)
            needed.append(op)
            waiting += op.operands
        body = needed[0].operation.block if needed else None
        for op in list(body.operations) if body is not None else ():
            if op.operation not in [each.operation for each in needed]:
                continue
            copy = op.operation.clone(ip=ir.InsertionPoint(call))
            for position, operand in enumerate(op.operands):
                copy.operands[position] = self._outside(operand, call)
            if op.name == _MAKER:
                web = self._webs[copy.results[0]] = self._webs[op.results[0]]
                web.values.append(copy.results[0])
                web.ops.append(copy.opview)
            elif any(map(is_variant, copy.operands)):
                self._webs[copy.operands[0]].ops.append(copy.opview)
            self._copies.update(zip(op.results, copy.results, strict=True))
        return self._outside(value, call)

    def is_copy(self, value: ir.Value) -> bool:
        """Whether a value is one of the copies."""
        return value in self._copies.values()

    def _outside(self, value: ir.Value, call: ir.OpView) -> ir.Value:
        if isinstance(value.owner, ir.Block):
            return call_operands(call)[ir.BlockArgument(value).arg_number]
        return self._copies[value]
