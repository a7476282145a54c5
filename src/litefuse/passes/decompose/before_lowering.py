"""The pass before the engine: ops that it would make something wrong of, rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from litefuse.decompositions.early import EARLY, Early
from litefuse.engine.mlir import ir
from litefuse.fusions.composite import tensor_type_of
from litefuse.passes.call_graph import functions, nested_operations
from litefuse.passes.custom_ops import withhold
from litefuse.passes.decompose.decomposed import Decomposed

if TYPE_CHECKING:
    from litefuse.decompositions.decomposition import Decomposition

__all__ = ["RewriteBeforeLowering"]


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
            ops = list(nested_operations(function.entry_block))
            while ops:
                rewritten = [early for op in ops if (early := self._rewriting(op)) is not None]
                modified |= bool(rewritten)
                # The op in another dtype may be one of those that are rewritten.
                recast = any(early.recast for early in rewritten)
                ops = list(nested_operations(function.entry_block)) if recast else []
        return modified

    def _rewriting(self, op: ir.OpView) -> Early | None:
        """What rewrote the op; None if it stays, or is withheld."""
        name = op.name.removeprefix("tf.")
        if op.name == name or name not in EARLY or not any(True for result in op.results for _ in result.uses):
            return None
        reasons: list[str] = []
        for early in EARLY[name]:
            if not _may_be_needed(op, early):
                continue
            # Few models have such an op, and most need neither the decompositions nor what they are built with.
            from litefuse.decompositions.decomposition import NotDecomposed

            try:
                if self._rewritten(op, name, early.load()):
                    return early
            except NotDecomposed as reason:
                if not early.optional:
                    reasons.append(str(reason))
        if reasons:
            withhold(op, reasons[0])
        return None

    def _rewritten(self, op: ir.OpView, name: str, decomposition: Decomposition) -> bool:
        """Whether the decomposition took the op's place.

        Raises:
            NotDecomposed: It should, but it does not apply.
        """
        from litefuse.decompositions.decomposition import NotDecomposed
        from litefuse.passes.decompose.seen_ops import replace_results, tensorflow_op_of

        seen = tensorflow_op_of(op, name, list(op.operands))
        if not decomposition.before_lowering(seen):
            return False
        from litefuse.decompositions.builder import Builder

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
            from litefuse.decompositions.widened import is_widened_float

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
