"""Diagonals of matrices of dynamic sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.legalize.arrays.carrier import carried, carried_number, delivered
from litefuse.legalize.arrays.diagonals import band, places_beside_main
from litefuse.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.mlir import ir

__all__ = ["OpenDiagonal"]


@decomposition(
    *("MatrixDiag", "MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3", "MatrixDiagV2"),
    *("MatrixDiagV3", "MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3"),
    order=1,
)
# The engine treats each diagonal as the main one, and crashes at bands: fault `band-of-diagonals`.
@before_engine("MatrixDiagV2", "MatrixDiagV3", "MatrixSetDiagV2", "MatrixSetDiagV3", order=1)
class OpenDiagonal(Decomposition):
    """Reads or writes one diagonal of matrices, at ``column - row = k``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/diag, diag_part, set_diag.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return places_beside_main(op)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> ir.Value:
        value, dtype = carried(b, op.operands[0]), op.types[0].dtype
        batch = len(op.shape(0)) - 2
        if op.name.startswith("MatrixDiagPart"):
            diagonal = _diagonal(op)
            *others, rows, columns = b.sizes(value)
            below, beside = max(-diagonal, 0), max(diagonal, 0)
            count = b.dims("Minimum", b.dims("Sub", rows, below), b.dims("Sub", columns, beside))
            flat = b.reshape(value, [*others, b.dims("Mul", rows, columns)])
            steps = b.binary("Mul", b.range(count), b.scalar(b.dims("AddV2", columns, 1)))
            first = b.dims("AddV2", b.dims("Mul", columns, below), beside)
            places = b.binary("AddV2", steps, b.scalar(first))
            return delivered(b, b.gather(flat, places, batch), dtype)
        if op.name.startswith("MatrixSetDiag"):
            rows, columns = b.sizes(value)[-2:]
            elements = carried(b, op.operands[1])
            moved = self._matrix(b, elements, _diagonal(op), rows, columns, value)
            return delivered(b, moved, dtype)
        diagonal = _diagonal(op)
        if any(int(op.constant(operand)) != -1 for operand in (2, 3) if len(op.operands) > operand):
            raise NotDecomposed("the sizes of the matrices are given, that of the diagonals is unknown")
        size = b.dims("AddV2", b.size(value, -1), abs(diagonal))
        padding = op.constant(4).reshape(-1)[0].item() if len(op.operands) > 4 else 0
        return delivered(b, self._matrix(b, value, diagonal, size, size, carried_number(padding, dtype)), dtype)

    def _matrix(
        self,
        b: Builder,
        elements: ir.Value,
        diagonal: int,
        rows: MixedSize,
        columns: MixedSize,
        others: ir.Value | float,
    ) -> ir.Value:
        """Emits matrices with ``elements`` on a diagonal, and ``others`` beside it."""
        before = max(-diagonal, 0)
        after = b.dims("Sub", b.dims("Sub", rows, before), b.size(elements, -1))
        rank = len(b.shape(elements))
        column = b.expand(b.pad(elements, [(0, 0)] * (rank - 1) + [(before, after)]), rank)
        distance = b.binary("Sub", b.expand(b.range(columns), 0), b.expand(b.range(rows), 1))
        return b.select(b.compare("Equal", distance, diagonal), column, others)


def _diagonal(op: TensorFlowOp) -> int:
    lowest, highest = band(op)
    if lowest != highest:
        raise NotDecomposed("the matrices' sizes are unknown or too large for several diagonals")
    return lowest
