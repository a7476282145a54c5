"""Diagonals of matrices of static sizes, moved by a gather at constant positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, select
from litefuse.passes.legalize.arrays.carrier import carried, carried_number, delivered
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition
from litefuse.support.options.limits import check_constant

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize

_MAX_ELEMENTS = 1 << 20


@decomposition(
    *("Diag", "DiagPart", "MatrixDiag", "MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3", "MatrixDiagV2"),
    *("MatrixDiagV3", "MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3"),
)
# The engine treats each diagonal as the main one, and crashes at bands: fault `band-of-diagonals`.
@before_engine("MatrixDiagV2", "MatrixDiagV3", "MatrixSetDiagV2", "MatrixSetDiagV3")
class Diagonal(Decomposition):
    """Gathers matrices from diagonals, or diagonals from matrices.

    A table with the result's inner shape contains the position of each element in the operand, to which the second
    operand (the diagonals that replace others, or one padding) is appended. The matrices must have static sizes.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/diag, diag_part, set_diag.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return places_beside_main(op)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        shape = op.shape(0)
        value = carried(b, op.operands[0])
        dtype = op.types[0].dtype
        align = alignment(op)
        if op.name in {"Diag", "DiagPart"}:
            inner = len(shape) if op.name == "Diag" else len(shape) // 2
            sizes = _known(shape[:inner])
            count = math.prod(sizes)
            both = [*sizes, *sizes]
            if op.name == "Diag":
                moved = _gathered(b, b.reshape(value, [count]), 0, _matrix_of(count, count, 0, 0, align), [0])
                return delivered(b, b.reshape(moved, both), dtype)
            flat = b.reshape(value, [count * count])
            moved = _gathered(b, flat, 0, _diagonal_of(count, count, 0, 0, align), [])
            return delivered(b, b.reshape(moved, sizes), dtype)
        batch = b.sizes(value)
        padding: Any = 0
        if op.name.startswith("MatrixDiagPart"):
            rows, columns = _known(shape[-2:])
            lower, upper = _band(op)
            padding = self._padding(op, 2, b)
            table = _diagonal_of(rows, columns, lower, upper, align)
            return self._build(b, value, batch[:-2], rows * columns, table, padding, dtype)
        if op.name.startswith("MatrixSetDiag"):
            rows, columns = _known(shape[-2:])
            lower, upper = _band(op)
            table = _matrix_of(rows, columns, lower, upper, align)
            own = np.arange(rows * columns).reshape(rows, columns)
            count = math.prod(_known(op.shape(1)[len(shape) - 2 :]))
            table = np.where(table < count, table + rows * columns, own)
            flat = b.reshape(value, [*batch[:-2], rows * columns])
            diagonals = b.reshape(carried(b, op.operands[1]), [*batch[:-2], count])
            together = b.concat([flat, diagonals], len(shape) - 2)
            moved = _gathered(b, together, len(shape) - 2, table, [])
            return delivered(b, b.reshape(moved, [*batch[:-2], rows, columns]), dtype)
        lower, upper = _band(op)
        inner_rank = 1 if lower == upper else 2
        inner = _known(shape[len(shape) - inner_rank :])
        smallest = inner[-1] + max(-upper, 0), inner[-1] + max(lower, 0)
        rows, columns = (self._size(op, 2 + axis) for axis in (0, 1))
        if rows == -1 and columns == -1:
            rows = columns = max(smallest[0], smallest[1])
        elif rows == -1 or columns == -1:
            rows, columns = max(rows, smallest[0]), max(columns, smallest[1])
        table = _matrix_of(rows, columns, lower, upper, align)
        padding = self._padding(op, 4, b)
        return self._build(b, value, batch[: len(shape) - inner_rank], math.prod(inner), table, padding, dtype)

    def _build(
        self,
        b: Builder,
        value: Tensor,
        batch: Sequence[MixedSize],
        count: int,
        table: npt.NDArray[np.int64],
        padding: float | Tensor,
        dtype: str,
    ) -> Tensor:
        flat = b.reshape(value, [*batch, count])
        extra: list[float] = []
        if (table >= count).any():
            if isinstance(padding, (int, float)):
                extra = [padding]
            else:
                row = b.unary("ZerosLike", b.slice(flat, len(batch), 0, 1)) + padding
                flat = b.concat([flat, row], len(batch))
        moved = _gathered(b, flat, len(batch), table, extra)
        return delivered(b, b.reshape(moved, [*batch, *table.shape]), dtype)

    def _padding(self, op: TensorFlowOp, operand: int, b: Builder) -> float | Tensor:
        if len(op.operands) > operand and op.types[0].dtype == "complex64":  # complex constants cannot be read
            return carried(b, op.operands[operand])
        number = op.constant(operand).reshape(-1)[0].item() if len(op.operands) > operand else 0
        return carried_number(number, op.types[0].dtype)

    def _size(self, op: TensorFlowOp, operand: int) -> int:
        return int(op.constant(operand).reshape(-1)[0]) if len(op.operands) > operand else -1


@decomposition("MatrixBandPart")
def band_part(op: TensorFlowOp, b: Builder) -> Tensor:
    """``0 <= row - column <= lower`` or ``0 <= column - row <= upper``; negative limits are unbounded.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/band_part.
    """
    rank = len(op.shape(0))
    value = carried(b, op.operands[0])
    rows, columns = b.sizes(value)[-2:]
    below = b.expand(b.range(rows), 1) - b.expand(b.range(columns), 0)
    inside = b.op("OnesLike", [below], below.shape, "int32")
    inside = inside > 0
    for operand, distance in ((1, below), (2, -below)):
        known = op.constants[operand]
        if known is not None and int(known) < 0:
            continue
        limit = b.cast(op.operands[operand], "int32")
        within = distance <= limit
        if known is None:
            unbounded = limit < 0
            within = within | unbounded
        inside = inside & within
    while len(inside.shape) < rank and rank > 4:
        inside = b.expand(inside, 0)
    return delivered(b, select(inside, value, 0), op.types[0].dtype)


def alignment(op: TensorFlowOp) -> str:
    """Returns where an op has the elements of short diagonals: above the main one, and below it."""
    return str(op.attributes.get("align", "LEFT_LEFT" if op.name.endswith("V2") else "RIGHT_LEFT"))


def band_operand(op: TensorFlowOp) -> int:
    """Returns the index of the operand that states an op's diagonals; those of the first version have none."""
    return 2 if op.name.startswith("MatrixSetDiag") else 1


def places_beside_main(op: TensorFlowOp) -> bool:
    """Whether an op writes diagonals other than the main one, which the engine lowers wrongly."""
    if not op.name.startswith(("MatrixDiagV", "MatrixSetDiagV")):
        return False
    numbers = op.constants[band_operand(op)]
    return numbers is not None and bool(numbers.any())


def _band(op: TensorFlowOp) -> tuple[int, int]:
    """Returns the lowest and the highest of an op's diagonals; the main one is 0, those above it are positive."""
    operand = band_operand(op)
    if len(op.operands) <= operand:
        return 0, 0
    numbers = op.constant(operand).reshape(-1)
    return int(numbers[0]), int(numbers[-1])


def _known(sizes: Sequence[int | None]) -> list[int]:
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes) or math.prod(known) > _MAX_ELEMENTS:
        raise NotDecomposed("the matrices' sizes are unknown or too large")
    return known


def _places(
    rows: int, columns: int, lower: int, upper: int, align: str
) -> tuple[tuple[int, ...], Callable[[int, int], tuple[int, int]]]:
    """Returns the shape of an array of diagonals, and a function from (row, column) to the position in it."""
    longest = min(rows + min(upper, 0), columns - max(lower, 0))

    def place(row: int, column: int) -> tuple[int, int]:
        diagonal = column - row
        length = min(rows + min(diagonal, 0), columns - max(diagonal, 0))
        super_side, sub_side = align.split("_")
        right = (super_side if diagonal >= 0 else sub_side) == "RIGHT"
        return upper - diagonal, min(row, column) + (longest - length if right else 0)

    return (longest,) if lower == upper else (upper - lower + 1, longest), place


def _diagonal_of(rows: int, columns: int, lower: int, upper: int, align: str) -> npt.NDArray[np.int64]:
    """Returns the position in the matrix of each element of an array of diagonals; the matrix's size for padding."""
    shape, place = _places(rows, columns, lower, upper, align)
    check_constant(8 * (upper - lower + 1) * shape[-1], 0, "a table of diagonals")
    table = np.full((upper - lower + 1, shape[-1]), rows * columns, np.int64)
    for row in range(rows):
        for column in range(max(row + lower, 0), min(row + upper + 1, columns)):
            table[place(row, column)] = row * columns + column
    return table.reshape(shape)


def _matrix_of(rows: int, columns: int, lower: int, upper: int, align: str) -> npt.NDArray[np.int64]:
    """Returns the position in an array of diagonals of each element of a matrix; the array's size for the others."""
    shape, place = _places(rows, columns, lower, upper, align)
    check_constant(8 * rows * columns, 0, "a table of diagonals")
    table = np.full((rows, columns), math.prod(shape), np.int64)
    for row in range(rows):
        for column in range(max(row + lower, 0), min(row + upper + 1, columns)):
            diagonal, position = place(row, column)
            table[row, column] = diagonal * shape[-1] + position
    return table


def _gathered(b: Builder, flat: Tensor, axis: int, table: npt.NDArray[np.int64], padding: Sequence[float]) -> Tensor:
    if padding:
        nothing = [(0, 0)] * axis
        flat = b.pad(flat, [*nothing, (0, 1)], padding[0])
    return b.gather(flat, b.constant(table.reshape(-1), "int32"), axis)
