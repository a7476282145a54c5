"""Matrix factorizations, by loops that process a column of all matrices of a batch per iteration.

All matrices are float32 and in batches of one dimension: ``[batch, rows, columns]``. The algorithms are the unblocked
ones of LAPACK (https://www.netlib.org/lapack/lug/): results agree with LAPACK's except for rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from litefuse.ir.tensors import Tensor, equal, minimum, select, sqrt, square
from litefuse.passes.legalize.arrays.loops import count_to

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize

# The dimensions.
_ROWS, _COLUMNS = 1, 2


class Triangles(NamedTuple):
    """The LU factors of matrices, packed into one.

    Attributes:
        factors: ``[batch, rows, columns]``: the upper triangular factor, and below the diagonal the lower one, whose
            diagonal is 1.
        pivots: int32 ``[batch, min(rows, columns)]``: the index of the row that each row was exchanged with, in order.
    """

    factors: Tensor
    pivots: Tensor


def product(b: Builder, left: Tensor, right: Tensor, *, transpose_left: bool = False) -> Tensor:
    """Emits the matrices' products."""
    rows = left.shape[_COLUMNS if transpose_left else _ROWS]
    shape = (left.shape[0], rows, right.shape[_COLUMNS])
    return b.op("BatchMatMulV2", [left, right], shape, left.dtype, adj_x=transpose_left, adj_y=False)


def place(b: Builder, value: Tensor, index: Tensor, axis: int) -> Tensor:
    """Emits the slice at one position of a dimension, whose size becomes 1."""
    return b.gather(value, b.reshape(index, [1]), axis)


def eye(b: Builder, rows: MixedSize, columns: MixedSize) -> Tensor:
    """Emits ``[1, rows, columns]``: 1 on the diagonal, else 0."""
    on_diagonal = equal(_numbers(b, rows, _ROWS), _numbers(b, columns, _COLUMNS))
    return b.cast(on_diagonal, "float32")


def triangle(b: Builder, matrices: Tensor, *, lower: bool) -> Tensor:
    """Emits the matrices with 0 on the other side of the diagonal."""
    rows, columns = _numbers_of(b, matrices)
    return select(b.compare("GreaterEqual" if lower else "LessEqual", rows, columns), matrices, 0.0)


def cholesky(b: Builder, matrices: Tensor) -> Tensor:
    """Emits the lower triangular factors whose products with their transposes are the matrices.

    Args:
        b: Emits the ops.
        matrices: ``[batch, n, n]``, symmetric; elements above the diagonal are ignored.

    Returns:
        ``[batch, n, n]``; NaN on and below the diagonal if a matrix is not positive definite.
    """
    batch, size, _ = b.sizes(matrices)
    rows, columns = _numbers_of(b, matrices)

    def turn(k: Tensor, changing: Sequence[Tensor]) -> Sequence[Tensor]:
        (factor,) = changing
        known = b.reduce("Sum", factor * place(b, factor, k, _ROWS), _COLUMNS, keep_dims=True)
        rest = place(b, matrices, k, _COLUMNS) - known
        column = rest / sqrt(place(b, rest, k, _ROWS))
        column = select(rows >= k, column, 0.0)
        return [select(equal(columns, k), column, factor)]

    (factor,) = count_to(b, size, [b.fill([batch, size, size], 0, "float32")], turn)
    # NaN if any element is not finite, else 0.
    spread = b.reduce("Sum", factor * 0.0, _COLUMNS, keep_dims=True)
    spread = b.reduce("Sum", spread, _ROWS, keep_dims=True)
    return triangle(b, factor + spread, lower=True)


def lu(b: Builder, matrices: Tensor) -> Triangles:
    """Emits the LU factors of matrices, with partial pivoting.

    Args:
        b: Emits the ops.
        matrices: ``[batch, rows, columns]``.
    """
    batch, height, width = b.sizes(matrices)
    count = minimum(height, width)
    rows, columns = _numbers_of(b, matrices)
    order = b.reshape(b.range(count), [1, count])

    def turn(k: Tensor, changing: Sequence[Tensor]) -> Sequence[Tensor]:
        value, pivots = changing
        below, here = rows > k, equal(rows, k)
        sizes = select(rows < k, -1.0, abs(place(b, value, k, _COLUMNS)))
        found = b.op("ArgMax", [sizes, b.constant(_ROWS, "int32")], [value.shape[0], 1], "int32")
        upper, replaced = _rows_at(b, value, found), place(b, value, k, _ROWS)
        there = equal(rows, b.reshape(found, [batch, 1, 1]))
        value = select(here, upper, select(there, replaced, value))
        pivot = place(b, upper, k, _COLUMNS)
        pivot = select(equal(pivot, 0.0), 1.0, pivot)  # then the column is 0 already
        factors = select(below, place(b, value, k, _COLUMNS) / pivot, 0.0)
        rest = select(columns > k, upper, 0.0)
        value = value - factors * rest
        value = select(below & equal(columns, k), factors, value)
        return [value, select(equal(order, k), found, pivots)]

    none = b.fill([batch, count], 0, "int32")
    return Triangles(*count_to(b, count, [matrices, none], turn))


def permutation_of(b: Builder, pivots: Tensor, rows: MixedSize) -> Tensor:
    """Emits the permutation of the pivots: the index of each row before rows were exchanged.

    Args:
        b: Emits the ops.
        pivots: ``Triangles.pivots``.
        rows: The number of rows.

    Returns:
        int32 ``[batch, rows]``.
    """
    batch, count = b.sizes(pivots)
    numbers = b.reshape(b.range(rows), [1, rows])

    def turn(k: Tensor, changing: Sequence[Tensor]) -> Sequence[Tensor]:
        (order,) = changing
        other = place(b, pivots, k, 1)
        here, there = equal(numbers, k), equal(numbers, other)
        first, second = (
            place(b, order, k, 1),
            b.op("GatherV2", [order, other, b.constant(1, "int32")], other.shape, "int32", batch_dims=1),
        )
        return [select(here, second, select(there, first, order))]

    (order,) = count_to(b, count, [b.broadcast(numbers, [batch, rows])], turn)
    return order


def solve_triangular(
    b: Builder, matrices: Tensor, sides: Tensor, *, lower: bool, unit_diagonal: bool = False
) -> Tensor:
    """Solves triangular systems of equations by forward or back substitution.

    Args:
        b: Emits the ops.
        matrices: ``[batch, n, n]``; elements on the other side of the diagonal are ignored.
        sides: ``[batch, n, k]``, the right-hand sides.
        lower: Whether the matrices are lower triangular; otherwise upper.
        unit_diagonal: Whether the diagonal is assumed to be 1.

    Returns:
        ``[batch, n, k]``.
    """
    size = b.size(matrices, _ROWS)
    matrices = triangle(b, matrices, lower=lower)
    rows = _numbers(b, size, _ROWS)
    last = b.scalar(size - 1)

    def turn(k: Tensor, changing: Sequence[Tensor]) -> Sequence[Tensor]:
        (solution,) = changing
        at = k if lower else last - k
        row = place(b, matrices, at, _ROWS)
        value = place(b, sides, at, _ROWS) - product(b, row, solution)
        if not unit_diagonal:
            value = value / place(b, row, at, _COLUMNS)
        return [select(equal(rows, at), value, solution)]

    (solution,) = count_to(b, size, [b.fill(b.sizes(sides), 0, "float32")], turn)
    return solution


def householder(b: Builder, matrices: Tensor) -> tuple[Tensor, Tensor]:
    """Makes matrices upper triangular by Householder reflections.

    Args:
        b: Emits the ops.
        matrices: ``[batch, rows, columns]``.

    Returns:
        ``[batch, rows, columns]``: the upper triangular matrices, and below the diagonal the vectors of the
        reflections, whose elements on the diagonal are 1. ``[batch, min(rows, columns)]``: the factors of the
        reflections ``1 - factor * vector * vector^T``.
    """
    batch, height, width = b.sizes(matrices)
    count = minimum(height, width)
    rows, columns = _numbers_of(b, matrices)
    order = b.reshape(b.range(count), [1, 1, count])

    def turn(k: Tensor, changing: Sequence[Tensor]) -> Sequence[Tensor]:
        value, factors = changing
        below, here = rows > k, equal(rows, k)
        column = place(b, value, k, _COLUMNS)
        first = place(b, column, k, _ROWS)
        tail = select(below, column, 0.0)
        # Scaled by the largest element, so that squares neither overflow nor underflow.
        largest = b.reduce("Max", abs(column), _ROWS, keep_dims=True)
        unit = select(equal(largest, 0.0), 1.0, largest)
        squares = b.reduce("Sum", square(tail / unit), _ROWS, keep_dims=True)
        norm = square(first / unit) + squares
        norm = sqrt(norm) * unit
        reflected = select(first >= 0.0, -norm, norm)
        done = equal(squares, 0.0)
        reflected = select(done, first, reflected)
        divisor = select(done, 1.0, reflected)
        factor = (reflected - first) / divisor
        below_one = tail / select(done, 1.0, first - reflected)
        vector = select(here, 1.0, below_one)
        change = vector * (factor * product(b, vector, value, transpose_left=True))
        column = select(here, reflected, select(below, below_one, column))
        value = select(columns > k, value - change, value)
        value = select(equal(columns, k), column, value)
        return [value, select(equal(order, k), factor, factors)]

    value, factors = count_to(b, count, [matrices, b.fill([batch, 1, count], 0, "float32")], turn)
    return value, b.reshape(factors, [batch, count])


def householder_product(b: Builder, vectors: Tensor, factors: Tensor, columns: MixedSize) -> Tensor:
    """Emits the product of Householder reflections, which is orthogonal.

    Args:
        b: Emits the ops.
        vectors: ``[batch, rows, n]``; elements on and above the diagonal are ignored.
        factors: ``[batch, k]``, ``k <= n``, those of the first k reflections.
        columns: The number of columns of the product to compute.

    Returns:
        ``[batch, rows, columns]``.
    """
    batch, height, _ = b.sizes(vectors)
    count = b.size(factors, 1)
    rows = _numbers(b, height, _ROWS)
    last = b.scalar(count - 1)
    factors = b.reshape(factors, [batch, 1, count])

    def turn(k: Tensor, changing: Sequence[Tensor]) -> Sequence[Tensor]:
        (result,) = changing
        at = last - k
        below = select(rows > at, place(b, vectors, at, _COLUMNS), 0.0)
        vector = select(equal(rows, at), 1.0, below)
        seen = place(b, factors, at, _COLUMNS) * product(b, vector, result, transpose_left=True)
        return [result - vector * seen]

    (result,) = count_to(b, count, [b.broadcast(eye(b, height, columns), [batch, height, columns])], turn)
    return result


def _rows_at(b: Builder, value: Tensor, found: Tensor) -> Tensor:
    """Emits a row of each matrix: ``[batch, 1, columns]`` for int32 ``[batch, 1]``."""
    shape = (value.shape[0], 1, value.shape[_COLUMNS])
    return b.op("GatherV2", [value, found, b.constant(_ROWS, "int32")], shape, value.dtype, batch_dims=1)


def _numbers_of(b: Builder, matrices: Tensor) -> tuple[Tensor, Tensor]:
    """Emits the indices of rows, ``[1, rows, 1]``, and of columns, ``[1, 1, columns]``."""
    _, rows, columns = b.sizes(matrices)
    return _numbers(b, rows, _ROWS), _numbers(b, columns, _COLUMNS)


def _numbers(b: Builder, count: MixedSize, axis: int) -> Tensor:
    dims: list[MixedSize] = [1, 1, 1]
    dims[axis] = count
    return b.reshape(b.range(count), dims)
