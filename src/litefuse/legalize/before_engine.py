"""The pass before the engine: ops that it would make something wrong of, rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from litefuse.ir.call_graph import functions, nested_operations
from litefuse.ir.mlir import ir
from litefuse.ir.types import tensor_type_of
from litefuse.legalize.decomposed import Decomposed
from litefuse.legalize.early import EARLY, Early
from litefuse.legalize.lacking_ops import withhold

if TYPE_CHECKING:
    from litefuse.legalize.decomposition import Decomposition

__all__ = ["RewriteBeforeLowering"]

# Rewritings hold ops that are rewritten in turn: as in another dtype, and there in another form.
_MAX_ROUNDS = 4


class RewriteBeforeLowering:
    """Rewrites the ops that the engine takes, but makes something wrong of.

    ::

        tf.IsInf(%x)  -->  |%x| > 3.4e38          The engine's own form of it is never true.

    What cannot be rewritten is withheld from the engine, and so is left over, as an op that LiteRT lacks.

    Args:
        decomposed: Filled with the ops that are rewritten.
    """

    name: ClassVar[str] = "rewrite-before-lowering"

    def __init__(self, decomposed: list[Decomposed]) -> None:
        self._decomposed = decomposed

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            if function.is_external:
                continue
            for _ in range(_MAX_ROUNDS):
                rewritten = self._rewritten_once(list(nested_operations(function.entry_block)))
                # What took an op's place may have ops among it that are rewritten, too.
                if not rewritten:
                    break
                modified = True
        return modified

    def _rewritten_once(self, ops: Sequence[ir.OpView]) -> bool:
        """Whether any of the ops was rewritten."""
        last: list[ir.OpView] = []
        rewritten = [op for op in ops if self._is_rewritten(op, last)]
        return bool([op for op in last if self._is_rewritten(op, None)]) or bool(rewritten)

    def _is_rewritten(self, op: ir.OpView, last: list[ir.OpView] | None) -> bool:
        """Whether the op was rewritten, and not only withheld.

        Args:
            op: The op.
            last: Filled with ops that are tried after all others; None: now they are.
        """
        name = op.name.removeprefix("tf.")
        if op.name == name or name not in EARLY or not any(True for result in op.results for _ in result.uses):
            return False
        if last is not None and EARLY[name][0].last:
            last.append(op)
            return False
        reasons: list[str] = []
        for early in EARLY[name]:
            if not _may_be_needed(op, early):
                continue
            # Few models have such an op, and most need neither the decompositions nor what they are built with.
            from litefuse.ir.tensorflow_op import NotDecomposed

            try:
                if self._rewritten(op, name, early.load()):
                    return True
            except NotDecomposed as reason:
                if not early.optional:
                    reasons.append(str(reason))
        if reasons:
            withhold(op, reasons[0])
        return False

    def _rewritten(self, op: ir.OpView, name: str, decomposition: Decomposition) -> bool:
        """Whether the decomposition took the op's place.

        Raises:
            NotDecomposed: It should, but it does not apply.
        """
        from litefuse.ir.tensorflow_op import NotDecomposed
        from litefuse.legalize.seen_ops import replace_results, tensorflow_op_of

        seen = tensorflow_op_of(op, name, list(op.operands))
        if not decomposition.before_lowering(seen):
            return False
        from litefuse.ir.builder import Builder

        with ir.InsertionPoint(op), op.location:
            begin = ir.Operation.create("tf.NoOp")
            try:
                answer = decomposition.rewrite(seen, Builder())
            except NotDecomposed:
                _erase(begin, op)
                raise
        begin.erase()
        results: Sequence[ir.Value] = [answer] if isinstance(answer, ir.Value) else answer
        replace_results(op, results)
        op.operation.erase()
        if not decomposition.folds:
            from litefuse.legalize.dtypes.widened import is_widened_float

            widened = is_widened_float(decomposition, seen.types)
            self._decomposed.append(Decomposed(name, "widened" if widened else "rewritten"))
        return True


def _erase(begin: ir.Operation, end: ir.OpView) -> None:
    """Erases the ops from one to another of its block, without the latter: what was built in vain."""
    built: list[ir.OpView] = []
    for each in end.operation.block.operations:
        if each.operation == end.operation:
            break
        if built or each.operation == begin:
            built.append(each)
    for each in reversed(built):
        each.operation.erase()


def _may_be_needed(op: ir.OpView, early: Early) -> bool:
    if early.empty and not any(0 in (tensor_type_of(result).shape or ()) for result in op.results):
        return False
    if early.dtypes is not None or early.above_rank >= 0 or early.of_none:
        kind = tensor_type_of(op.operands[early.operand])
        if early.dtypes is not None and kind.dtype not in early.dtypes:
            return False
        if len(kind.shape or ()) <= early.above_rank or (early.of_none and 0 not in (kind.shape or ())):
            return False
    if early.common_bits is not None:
        first, second = (ir.IntegerAttr(op.attributes[mask]).value for mask in early.common_bits)
        if not first & second:
            return False
    if early.attribute is None:
        return True
    name, text = early.attribute
    return name in op.attributes and ir.StringAttr(op.attributes[name]).value == text
