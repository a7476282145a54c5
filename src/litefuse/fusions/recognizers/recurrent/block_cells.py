"""Lowers the recurrent cells that TensorFlow 1 has as single ops to other ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from litefuse.ir.mlir import ir
from litefuse.ir.passes import visit_ops

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
        return visit_ops(module, dict.fromkeys(_EXPANDED, lambda op: _expanded(module, op)), nested=False)


def _expanded(module: ir.Module, op: ir.OpView) -> Sequence[ir.Value | None] | None:
    if not _is_known(op):
        return None
    # Few models have one.
    from litefuse.fusions.recognizers.recurrent.block_cell_ops import expanded

    return expanded(module, op)


_EXPANDED = frozenset({"tf.BlockLSTM", "tf.BlockLSTMV2", "tf.GRUBlockCell", "tf.LSTMBlockCell"})


def _is_known(op: ir.OpView) -> bool:
    kinds = [ir.ShapedType(operand.type) for operand in list(op.operands)[-6:]]
    kinds += [ir.ShapedType(result.type) for result in op.results]
    return all(kind.has_rank and kind.element_type == ir.F32Type.get() for kind in kinds)
