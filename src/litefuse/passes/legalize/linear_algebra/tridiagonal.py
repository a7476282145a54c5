"""Products and systems of equations with tridiagonal matrices, and batches of matrices with one batch dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, maximum, select
from litefuse.passes.legalize.arrays.loops import count_to
from litefuse.passes.legalize.decomposition import decomposition
from litefuse.passes.legalize.linear_algebra.factorizations import place

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize


@decomposition("TridiagonalMatMul")
def tridiagonal_product(op: TensorFlowOp, b: Builder) -> Tensor:
    """The sum of the products of the three diagonals with rows.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/tridiagonal_matmul.
    """
    above, main, below, sides = _computed(op, b)
    last = len(sides.shape) - 1
    diagonals = [b.reshape(each, [*b.sizes(each)[:-2], b.size(each, -1), 1]) for each in (above, main, below)]
    nothing = [(0, 0)] * (last - 1)
    next_row = b.pad(b.slice(sides, last - 1, 1, None), [*nothing, (0, 1), (0, 0)])
    row_before = b.pad(sides, [*nothing, (1, 0), (0, 0)])
    row_before = b.slice(row_before, last - 1, 0, b.size(sides, last - 1))
    rows = (next_row, sides, row_before)
    products = [x * y for x, y in zip(diagonals, rows, strict=True)]
    result = products[0] + products[1] + products[2]
    return b.cast(result, op.results[0].dtype)


@decomposition("TridiagonalSolve")
def tridiagonal_system(op: TensorFlowOp, b: Builder) -> Tensor:
    """Systems of equations with tridiagonal matrices, by elimination with partial pivoting.

    Definition: https://www.tensorflow.org/api_docs/python/tf/linalg/tridiagonal_solve.
    """
    if op.attributes.get("perturb_singular", False):
        raise NotDecomposed("singular matrices cannot be made regular")
    (diagonals, sides), outer = in_one_batch(b, *_computed(op, b))
    above, main, below = (b.slice(diagonals, 1, row, row + 1) for row in range(3))
    solution = solve_tridiagonal(b, below, main, above, sides)
    return b.cast(b.reshape(solution, [*outer, *b.sizes(sides)[1:]]), op.results[0].dtype)


def solve_tridiagonal(b: Builder, below: Tensor, main: Tensor, above: Tensor, sides: Tensor) -> Tensor:
    """Solves systems of equations with tridiagonal matrices, as LAPACK's ``gtsv`` does.

    Args:
        b: Emits the ops.
        below: ``[batch, 1, n]``: the elements before the diagonal in each row; the first one is ignored.
        main: ``[batch, 1, n]``: the diagonal.
        above: ``[batch, 1, n]``: the elements after it; the last one is ignored.
        sides: ``[batch, n, k]``, the right-hand sides.

    Returns:
        ``[batch, n, k]``.
    """
    batch, size, width = b.sizes(sides)
    rows = b.reshape(b.range(size), [1, size, 1])
    columns = [b.transpose(each, [0, 2, 1]) for each in (below, main, above)]
    nothing = b.fill([batch, 1, 1], 0, "float32")
    last = b.scalar(size - 1)
    # After the last row, an equation whose unknown is 0.
    below, main = b.pad(columns[0], [(0, 0), (0, 1), (0, 0)]), b.pad(columns[1], [(0, 0), (0, 1), (0, 0)], 1)
    above = b.pad(select(equal(rows, last), 0.0, columns[2]), [(0, 0), (0, 1), (0, 0)])
    padded = b.pad(sides, [(0, 0), (0, 1), (0, 0)])

    def first(value: Tensor) -> Tensor:
        return b.slice(value, 1, 0, 1)

    def eliminate(k: Tensor, changing: Sequence[Tensor]) -> Sequence[Tensor]:
        *written, here, beside, side = changing
        following = k + 1
        left, middle, right, other = (place(b, each, following, 1) for each in (below, main, above, padded))
        exchanged = abs(left) > abs(here)
        upper = [select(exchanged, x, y) for x, y in ((left, here), (middle, beside), (right, nothing), (other, side))]
        lower = [select(exchanged, x, y) for x, y in ((here, left), (beside, middle), (nothing, right), (side, other))]
        factor = lower[0] / upper[0]
        rest = [x - factor * y for x, y in zip(lower[1:], upper[1:], strict=True)]
        at = equal(rows, k)
        return [*(select(at, new, old) for new, old in zip(upper, written, strict=True)), *rest]

    column, matrix = b.fill([batch, size, 1], 0, "float32"), b.fill([batch, size, width], 0, "float32")
    start = [column, column, column, matrix, first(main), first(above), first(padded)]
    *eliminated, _, _, _ = count_to(b, size, start, eliminate)

    def substitute(k: Tensor, changing: Sequence[Tensor]) -> Sequence[Tensor]:
        solution, following, second = changing
        at = last - k
        pivot, beside, further, side = (place(b, each, at, 1) for each in eliminated)
        known = beside * following + further * second
        unknown = (side - known) / pivot
        return [select(equal(rows, at), unknown, solution), unknown, following]

    row = b.fill([batch, 1, width], 0, "float32")
    solution, _, _ = count_to(b, size, [matrix, row, row], substitute)
    return solution


def _computed(op: TensorFlowOp, b: Builder) -> list[Tensor]:
    """Emits the operands in float32."""
    for operand in range(len(op.operands)):
        if 0 in op.shape(operand) or len(op.shape(operand)) < 2:
            raise NotDecomposed(f"operand {operand} holds no matrices")
        op.require(operand, "float32", "float16")
    return [b.cast(value, "float32") for value in op.operands]


def in_one_batch(b: Builder, *values: Tensor) -> tuple[Sequence[Tensor], Sequence[MixedSize]]:
    """Emits matrices whose batch dimensions are broadcast to one shape and merged into one.

    Args:
        b: Emits the ops.
        *values: ``[..., rows, columns]``.

    Returns:
        Each value as ``[batch, rows, columns]``, and the sizes of the batch dimensions.
    """
    sizes = [b.sizes(value) for value in values]
    rank = max(map(len, sizes)) - 2
    outer: list[list[MixedSize]] = [[*[1] * (rank + 2 - len(size)), *size[:-2]] for size in sizes]
    batch = outer[0]
    for other in outer[1:]:
        batch = [_broadcast(x, y) for x, y in zip(batch, other, strict=True)]
    flat: list[Tensor] = []
    for value, own, before in zip(values, sizes, outer, strict=True):
        matrix = own[-2:]
        if not all(map(_same, before, batch)):
            value = b.broadcast(value, [*batch, *matrix])  # noqa: PLW2901
        flat.append(b.reshape(value, [b.product(batch), *matrix]))
    return flat, batch


def _broadcast(x: MixedSize, y: MixedSize) -> MixedSize:
    for size, other in ((x, y), (y, x)):
        if isinstance(size, int):
            return other if size == 1 else size
    return maximum(x, y)


def _same(x: MixedSize, y: MixedSize) -> bool:
    return x == y if isinstance(x, int) and isinstance(y, int) else x is y
