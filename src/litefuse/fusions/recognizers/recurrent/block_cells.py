"""Lowers the recurrent cells that TensorFlow 1 has as single ops to other ops."""

from __future__ import annotations

from typing import ClassVar

from litefuse.ir.call_graph import functions, operations
from litefuse.ir.mlir import ir

__all__ = ["ExpandBlockCells"]


class ExpandBlockCells:
    """Expands LSTMBlockCell, GRUBlockCell, BlockLSTM and BlockLSTMV2, the last two as loops over the steps::

        %h = tf.LSTMBlockCell(%x, %c, %h, %w, ...)  -->  %z = tf.MatMul(tf.ConcatV2(%x, %h), %w) + %b ...

    These are the ops of the block cells in ``tf.contrib.rnn``, also of its LSTMBlockFusedCell. Once expanded, they are
    recognized as layers. What each computes is in ``tensorflow/core/kernels/rnn/lstm_ops.cc`` and ``gru_ops.cc``.
    Float16 ops stay.
    """

    name: ClassVar[str] = "expand-block-cells"

    def run(self, module: ir.Module) -> bool:
        found = [op for function in functions(module).values() for op in operations(function) if op.name in _EXPANDED]
        modified = False
        for op in filter(_is_known, found):
            # Few models have one.
            from litefuse.fusions.recognizers.recurrent.block_cell_ops import expanded

            with ir.InsertionPoint(op), op.location:
                results = expanded(module, op)
            for old, new in zip(op.results, results, strict=True):
                if new is not None:
                    old.replace_all_uses_with(new)
            op.operation.erase()
            modified = True
        return modified


_EXPANDED = frozenset({"tf.BlockLSTM", "tf.BlockLSTMV2", "tf.GRUBlockCell", "tf.LSTMBlockCell"})


def _is_known(op: ir.OpView) -> bool:
    kinds = [ir.ShapedType(operand.type) for operand in list(op.operands)[-6:]]
    kinds += [ir.ShapedType(result.type) for result in op.results]
    return all(kind.has_rank and kind.element_type == ir.F32Type.get() for kind in kinds)
