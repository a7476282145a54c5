"""Diagonals of matrices whose sizes, or the diagonals themselves, only the running model knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from litefuse.ir.tensorflow_op import TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, maximum, minimum, select
from litefuse.passes.legalize.arrays.carrier import carried, carried_number, delivered
from litefuse.passes.legalize.arrays.diagonals import alignment, band_operand, places_beside_main
from litefuse.passes.legalize.decomposition import Decomposition, before_engine, decomposition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.ir.builder import Builder, MixedSize


# The engine makes the third version of MatrixDiag and MatrixSetDiag.
@decomposition(
    *("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3", "MatrixDiagV2", "MatrixDiagV3"),
    *("MatrixSetDiagV2", "MatrixSetDiagV3"),
    order=1,
)
# The engine treats each diagonal as the main one, and crashes at bands: fault `band-of-diagonals`.
@before_engine("MatrixDiagV2", "MatrixDiagV3", "MatrixSetDiagV2", "MatrixSetDiagV3", order=1)
class OpenDiagonal(Decomposition):
    """Gathers matrices from diagonals, or diagonals from matrices, at positions that the model computes.

    Where the model computes how many diagonals there are, they have a dimension of their own only if there are several:
    so the model computes the rank of the result as well.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/diag, diag_part, set_diag.
    """

    def before_lowering(self, op: TensorFlowOp) -> bool:
        return places_beside_main(op)

    def rewrite(self, op: TensorFlowOp, b: Builder) -> Tensor:
        value = carried(b, op.operands[0])
        if op.name.startswith("MatrixDiagPart"):
            return _diagonals_of(op, b, value)
        return (_with_diagonals if op.name.startswith("MatrixSetDiag") else _matrices_of)(op, b, value)


class _Band(NamedTuple):
    """The diagonals of matrices from one to another, in the array that holds them.

    Attributes:
        lower: The lowest; the main one is 0, those above it are positive.
        upper: The highest, which is the first in the array.
        rows: The number of rows of a matrix.
        columns: The number of its columns.
        align: Where the elements of a diagonal are that is shorter than others, as ``align`` of the ops says.
    """

    lower: MixedSize
    upper: MixedSize
    rows: MixedSize
    columns: MixedSize
    align: str

    def number(
        self,
    ) -> MixedSize:
        return 1 if self.lower == self.upper else self.upper - self.lower + 1

    def longest(
        self,
    ) -> MixedSize:
        """Returns the length of the longest diagonal."""
        rows = self.rows + minimum(self.upper, 0)
        return minimum(rows, self.columns - maximum(self.lower, 0))

    def lengths(self, b: Builder, diagonals: Tensor) -> Tensor:
        rows = minimum(diagonals, 0) + b.scalar(self.rows)
        columns = b.scalar(self.columns) - maximum(diagonals, 0)
        return minimum(rows, columns)

    def offsets(self, b: Builder, diagonals: Tensor) -> Tensor | int:
        """Emits where in the array each of some diagonals begins."""
        above, below = (side == "RIGHT" for side in self.align.split("_"))
        if self.lower == self.upper or not (above or below):
            return 0
        right = b.scalar(self.longest()) - self.lengths(b, diagonals)
        if above and below:
            return right
        return select(b.compare("GreaterEqual" if above else "Less", diagonals, 0), right, 0)

    def places(self, b: Builder) -> tuple[Tensor, Tensor]:
        """Emits for each element of a matrix whether it is on one of the diagonals, and its place in the array."""
        row, column = b.expand(b.range(self.rows), 1), b.expand(b.range(self.columns), 0)
        diagonals = column - row
        inside = (diagonals >= b.scalar(self.lower)) & (diagonals <= b.scalar(self.upper))
        along = minimum(row, column) + self.offsets(b, diagonals)
        before = (b.scalar(self.upper) - diagonals) * b.scalar(self.longest())
        return inside, before + along


def _diagonals_of(op: TensorFlowOp, b: Builder, matrices: Tensor) -> Tensor:
    *batch, rows, columns = b.sizes(matrices)
    several = _are_several(op, len(batch) + 2)
    band = _Band(*_limits(op, b, several), rows, columns, alignment(op))
    number, longest, count = band.number(), band.longest(), rows * columns
    diagonals = b.scalar(band.upper) - b.expand(b.range(number), 1)
    along = b.expand(b.range(longest), 0) - band.offsets(b, diagonals)
    inside = (along >= 0) & (along < band.lengths(b, diagonals))
    row = along - minimum(diagonals, 0)
    column = along + maximum(diagonals, 0)
    place = row * b.scalar(columns) + column
    flat = _padded(op, b, b.reshape(matrices, [b.product(batch), count]), 2)
    moved = delivered(b, _gathered(b, flat, select(inside, place, b.scalar(count))), op.types[0].dtype)
    if several is not None:
        return b.reshape(moved, [*batch, *([number] if several else []), longest])
    return _reshaped(b, moved, [*batch, number, longest], len(batch), b.scalar(number) > 1)


def _matrices_of(op: TensorFlowOp, b: Builder, elements: Tensor) -> Tensor:
    *outer, longest = b.sizes(elements)
    several = _are_several(op, len(outer) + 1)
    lower, upper = _limits(op, b, several)
    rows = longest - minimum(upper, 0)
    columns = longest + maximum(lower, 0)
    band = _Band(lower, upper, *_matrix_sizes(op, b, rows, columns), alignment(op))
    number = band.number()
    batch = outer[:-1] if several else outer
    every = b.product(batch) if several is not None else b.product(outer) // number
    count = number * longest
    flat = _padded(op, b, b.reshape(elements, [every, count]), 4)
    inside, place = band.places(b)
    moved = delivered(b, _gathered(b, flat, select(inside, place, b.scalar(count))), op.types[0].dtype)
    sizes = [*batch, band.rows, band.columns]
    if several is not None:
        return b.reshape(moved, sizes)
    return _reshaped(b, moved, sizes, len(batch) - 1, equal(b.scalar(number), 1))


def _with_diagonals(op: TensorFlowOp, b: Builder, matrices: Tensor) -> Tensor:
    *batch, rows, columns = sizes = b.sizes(matrices)
    band = _Band(*_limits(op, b, len(op.shape(1)) == len(sizes)), rows, columns, alignment(op))
    every, count = b.product(batch), rows * columns
    elements = b.reshape(carried(b, op.operands[1]), [every, band.number() * band.longest()])
    flat = b.concat([b.reshape(matrices, [every, count]), elements], 1)
    inside, place = band.places(b)
    own = b.expand(b.range(rows), 1) * b.scalar(columns) + b.expand(b.range(columns), 0)
    moved = _gathered(b, flat, select(inside, place + b.scalar(count), own))
    return b.reshape(delivered(b, moved, op.types[0].dtype), sizes)


def _are_several(op: TensorFlowOp, rank: int) -> bool | None:
    """Whether an op takes several diagonals, so that its result has this rank; None if only the running model knows."""
    operand = band_operand(op)
    if len(op.operands) <= operand or op.types[operand].shape in ((), (1,)):
        return False
    numbers = op.constants[operand]
    if numbers is not None:
        return bool(numbers[0] != numbers[-1])
    return None if op.results[0].rank is None else op.results[0].rank == rank


def _limits(op: TensorFlowOp, b: Builder, several: bool | None) -> tuple[MixedSize, MixedSize]:
    """Returns the lowest and the highest diagonal; the same value twice if there is one."""
    operand = band_operand(op)
    if len(op.operands) <= operand:
        return 0, 0
    numbers = op.constants[operand]
    if numbers is not None:
        lower, upper = (int(number) for number in (numbers.min(), numbers.max()))
        return lower, upper
    vector, shape = op.operands[operand], op.shape(operand, 0, 1)
    count = 1 if not shape else shape[0]
    if count is None:
        lower, upper = (b.reduce(name, vector, 0) for name in ("Min", "Max"))
        return lower, lower if several is False else upper
    vector = vector if shape else b.expand(vector, 0)
    lower = b.element(vector, 0)
    return lower, b.element(vector, count - 1) if several is not False else lower


def _matrix_sizes(op: TensorFlowOp, b: Builder, rows: MixedSize, columns: MixedSize) -> tuple[MixedSize, MixedSize]:
    """Returns the numbers of rows and columns: the given ones, else the smallest, of a square if none is given."""
    given_rows, given_columns = (b.numbers(op, operand, 1)[0] for operand in (2, 3))
    square = maximum(rows, columns)
    rows = _if_absent(b, given_columns, square, rows)
    columns = _if_absent(b, given_rows, square, columns)
    return _if_absent(b, given_rows, rows, given_rows), _if_absent(b, given_columns, columns, given_columns)


def _if_absent(b: Builder, size: MixedSize, absent: MixedSize, present: MixedSize) -> MixedSize:
    """Returns one of two sizes, by whether another is -1."""
    if isinstance(size, int):
        return absent if size == -1 else present
    return select(equal(size, -1), b.scalar(absent), b.scalar(present))


def _padded(op: TensorFlowOp, b: Builder, flat: Tensor, operand: int) -> Tensor:
    """Emits a column of the padding value, which an operand may give, after the others."""
    filler: Tensor | float = 0
    if len(op.operands) > operand:
        known = op.constants[operand]
        number = None if known is None else known.reshape(-1)[0].item()
        filler = carried(b, op.operands[operand]) if number is None else carried_number(number, op.types[0].dtype)
    return b.pad(flat, [(0, 0), (0, 1)], filler)


def _gathered(b: Builder, flat: Tensor, places: Tensor) -> Tensor:
    return b.gather(flat, b.reshape(places, [b.product(b.sizes(places))]), 1)


def _reshaped(b: Builder, value: Tensor, sizes: Sequence[MixedSize], optional: int, kept: Tensor) -> Tensor:
    """Emits a value in a shape, one dimension of which is left out unless a condition holds."""
    always = b.constant(np.array(True), "bool")
    present = [kept if axis == optional else always for axis in range(len(sizes))]
    shape = b.gather(b.vector(sizes), b.places(b.stack(present, 0)))
    return b.reshape_to(value, shape)
