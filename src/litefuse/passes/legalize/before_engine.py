"""The pass before the engine, which rewrites the ops that it would lower wrongly."""

from __future__ import annotations

from collections.abc import Sequence

from litefuse.ir.attributes import attribute_value
from litefuse.ir.call_graph import functions, nested_operations
from litefuse.ir.mlir import ir
from litefuse.ir.purity import is_used
from litefuse.ir.tensorflow_op import NotDecomposed
from litefuse.ir.types import tensor_type_of
from litefuse.passes.legalize.decomposition import Decomposed, Decomposition, before_engine, forms_before_engine
from litefuse.passes.legalize.lacking_ops import withhold

# Rewritings contain ops that are rewritten in turn: in another dtype, for example, and then in another form.
_MAX_ROUNDS = 4


class RewriteBeforeLowering:
    """Rewrites the ops that the engine supports, but lowers wrongly.

    ::

        tf.IsInf(%x)  -->  |%x| == inf            The engine's own lowering is never true.

    An op that cannot be rewritten is withheld from the engine, and so is left over like an op that LiteRT lacks.

    Args:
        decomposed: Filled with a record of each op that is rewritten.
    """

    name = "rewrite-before-lowering"

    def __init__(self, decomposed: list[Decomposed]) -> None:
        self._decomposed = decomposed

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in functions(module).values():
            if function.is_external:
                continue
            for _ in range(_MAX_ROUNDS):
                rewritten = self._rewritten_once(list(nested_operations(function.entry_block)))
                # The ops of a rewriting may have to be rewritten too.
                if not rewritten:
                    break
                modified = True
        return modified

    def _rewritten_once(self, ops: Sequence[ir.OpView]) -> bool:
        """Rewrites each of the ops once, if needed; returns whether any was rewritten."""
        last: list[ir.OpView] = []
        rewritten = [op for op in ops if self._is_rewritten(op, last)]
        return bool([op for op in last if self._is_rewritten(op, None)]) or bool(rewritten)

    def _is_rewritten(self, op: ir.OpView, last: list[ir.OpView] | None) -> bool:
        """Rewrites or withholds an op, if needed; returns whether it was rewritten.

        ``last`` takes the ops that are tried after all others; it is None while these are tried.
        """
        name = op.name.removeprefix("tf.")
        tried = forms_before_engine().get(name, ())
        if op.name == name or not tried or not is_used(op):
            return False
        if last is not None and any(each.form.last for each in tried):
            last.append(op)
            return False
        reasons: list[str] = []
        for each in tried:
            if not _is_of_form(op, each.form):
                continue
            try:
                if self._rewritten(op, name, each.load()):
                    return True
            except NotDecomposed as reason:
                reasons.append(str(reason))
        if reasons:
            withhold(op, reasons[0])
        return False

    def _rewritten(self, op: ir.OpView, name: str, decomposition: Decomposition) -> bool:
        """Replaces the op by the decomposition, if needed; returns whether it was replaced."""
        # Imported late: most models have no such op, and need neither the decompositions nor the builder.
        from litefuse.passes.legalize.seen_ops import replace_results, tensorflow_op_of

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
            from litefuse.passes.legalize.dtypes.widened import is_widened_float

            widened = is_widened_float(decomposition, seen.types)
            self._decomposed.append(Decomposed(name, "widened" if widened else "rewritten"))
        return True


def _erase(begin: ir.Operation, end: ir.OpView) -> None:
    """Erases the ops of a block from ``begin`` to before ``end``: those of a rewriting that failed."""
    built: list[ir.OpView] = []
    for each in end.operation.block.operations:
        if each.operation == end.operation:
            break
        if built or each.operation == begin:
            built.append(each)
    for each in reversed(built):
        each.operation.erase()


def _is_of_form(op: ir.OpView, form: before_engine) -> bool:
    if form.dtypes or form.above_rank >= 0 or form.empty:
        kind = tensor_type_of(op.operands[form.operand])
        if form.dtypes and kind.dtype not in form.dtypes:
            return False
        if len(kind.sizes) <= form.above_rank:
            return False
        if form.empty and 0 not in kind.sizes and all(0 not in tensor_type_of(result).sizes for result in op.results):
            return False
    return all(
        key in op.attributes and attribute_value(op.attributes[key]) != value for key, value in form.other_than.items()
    )
