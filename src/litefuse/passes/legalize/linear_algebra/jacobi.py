"""Eigenvalues and singular values by Jacobi rotations, which rotate ``columns / 2`` pairs of columns at once.

All matrices are float32 and in batches of one dimension. The pairs change in each turn as in a round-robin tournament,
so that each column is paired with each other one in a sweep of ``columns - 1`` turns. The methods: Golub and Van Loan,
Matrix Computations, 8.5 (Jacobi) and 8.6.3 (one-sided Jacobi).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from litefuse.ir.tensors import Tensor, maximum, minimum, rsqrt, select, sqrt
from litefuse.passes.legalize.arrays.loops import count_to
from litefuse.passes.legalize.linear_algebra.factorizations import eye, householder, householder_product, product

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize

# Convergence is quadratic in the end: this many sweeps more than the number of columns has bits.
_MORE_SWEEPS = 3
# A dynamic number of columns is assumed to have this many bits at most.
_MOST_BITS = 10
# The largest cotangent; rotations by smaller angles do not change a float32.
_FLATTEST = 1e9


class SingularVectors(NamedTuple):
    """A singular value decomposition ``u diag(values) v^T``.

    Attributes:
        values: ``[batch, min(rows, columns)]``, the largest first.
        left: ``[batch, rows, rows]``, u, or its first ``min(rows, columns)`` columns.
        right: ``[batch, columns, columns]``, v, or its first ``min(rows, columns)`` columns.
    """

    values: Tensor
    left: Tensor
    right: Tensor


class _Rotation(NamedTuple):
    """Rotations of pairs of columns, each ``[batch, 1, pairs]``."""

    cosine: Tensor
    sine: Tensor


class _Tournament:
    """The pairing of columns, which is the same in each turn.

    Attributes:
        size: The number of columns, padded to an even one.
        half: The number of pairs: each column of the first half is paired with the one this much further on.
        turns: The number of turns.
    """

    def __init__(self, b: Builder, columns: MixedSize) -> None:
        self.size = _even(columns)
        self.half = self.size // 2
        bits = columns.bit_length() if isinstance(columns, int) else _MOST_BITS
        self.turns = (self.size - 1) * (bits + _MORE_SWEEPS)
        # For each position in the next turn: the column that moves there (after a sweep, all are back), its partner,
        # their pair, and the sign of the sine.
        self._order = _next(b, self.size, self.half)
        half = b.scalar(self.half)
        in_second = self._order >= half
        self._partner = select(in_second, self._order - half, self._order + half)
        self._pair = minimum(self._order, self._partner)
        sign = b.cast(in_second, "float32") * 2.0 - 1.0
        self._sign = b.reshape(sign, [1, 1, self.size])

    def halves(self, b: Builder, value: Tensor, axis: int) -> tuple[Tensor, Tensor]:
        """Emits the two halves of a value along an axis, which are the members of the pairs."""
        return b.slice(value, axis, 0, self.half), b.slice(value, axis, self.half, None)

    def rotated(self, b: Builder, value: Tensor, rotation: _Rotation, axis: int) -> Tensor:
        """Emits a value with the pairs along an axis rotated and moved to their next positions."""
        cosine, sine = (b.gather(each, self._pair, 2) for each in rotation)
        sine = sine * self._sign
        if axis == 1:
            cosine, sine = (b.transpose(each, [0, 2, 1]) for each in (cosine, sine))
        own, other = b.gather(value, self._order, axis), b.gather(value, self._partner, axis)
        return cosine * own + sine * other


def _even(columns: MixedSize) -> MixedSize:
    return columns + columns % 2


def _next(b: Builder, size: MixedSize, half: MixedSize) -> Tensor:
    """Emits int32 ``[size]``, the source of each column: the first one stays, the others rotate by one position."""
    places = b.range(size)
    last = b.scalar(size - 1)
    order = places + 1
    order = select(places < b.scalar(half), places - 1, order)
    order = select(b.compare("Equal", places, 1), b.scalar(half), order)
    order = select(b.compare("Equal", places, 0), b.scalar(0), order)
    before_half = maximum(half - 1, 1)
    return select(b.compare("Equal", places, last), b.scalar(before_half), order)


def eigenvalues(b: Builder, matrices: Tensor) -> Tensor:
    """Emits the eigenvalues of symmetric matrices ``[batch, n, n]``, the smallest first; reads the lower triangle."""
    values, _ = _diagonalized(b, matrices, [])
    return _sorted(b, values, _order(b, values, upwards=True))


def eigenvectors(b: Builder, matrices: Tensor) -> tuple[Tensor, Tensor]:
    """Emits the eigenvalues and eigenvectors of symmetric matrices.

    Args:
        b: Emits the ops.
        matrices: ``[batch, n, n]``; elements above the diagonal are ignored.

    Returns:
        ``[batch, n]``, the smallest first; ``[batch, n, n]``, whose columns are orthonormal. An eigenvector is unique
        only up to its sign; for equal eigenvalues, only the space that their eigenvectors span is.
    """
    values, (vectors,) = _diagonalized(b, matrices, [_columns_of_one(b, matrices)])
    order = _order(b, values, upwards=True)
    return _sorted(b, values, order), product(b, _cut(b, vectors, matrices), order)


def _diagonalized(b: Builder, matrices: Tensor, others: Sequence[Tensor]) -> tuple[Tensor, Sequence[Tensor]]:
    """Diagonalizes symmetric matrices ``[batch, n, n]``, and rotates the columns of the others like theirs.

    Returns the diagonal, ``[batch, n]``, and the rotated others.
    """
    count = b.size(matrices, 1)
    tournament = _Tournament(b, count)
    lower = b.reshape(b.range(count), [1, count, 1]) > b.reshape(b.range(count), [1, 1, count])
    below = select(lower, matrices, 0.0)
    on_diagonal = b.compare("Equal", eye(b, count, count), 1.0)
    value = select(on_diagonal, matrices, below + b.transpose(below, [0, 2, 1]))
    more = tournament.size - count
    value = b.pad(value, [(0, 0), (0, more), (0, more)])
    pairs = b.compare("Equal", eye(b, tournament.half, tournament.half), 1.0)

    def diagonal(square: Tensor) -> Tensor:
        return b.reduce("Sum", select(pairs, square, 0.0), 1, keep_dims=True)

    def turn(_: Tensor, changing: Sequence[Tensor]) -> Sequence[Tensor]:
        value, *others = changing
        upper, lower = tournament.halves(b, value, 1)
        first, beside = tournament.halves(b, upper, 2)
        _, second = tournament.halves(b, lower, 2)
        rotation = _rotation(b, diagonal(first), diagonal(second), diagonal(beside))
        rotated = [tournament.rotated(b, other, rotation, 2) for other in (value, *others)]
        return [tournament.rotated(b, rotated[0], rotation, 1), *rotated[1:]]

    value, *others = count_to(b, tournament.turns, [value, *others], turn)
    value = _cut(b, value, matrices)
    return b.reduce("Sum", select(on_diagonal, value, 0.0), 1), others


def singular_values(b: Builder, matrices: Tensor) -> Tensor:
    """Emits the singular values of matrices, the largest first, ``[batch, min(rows, columns)]``."""
    columns, _ = _orthogonal(b, _upright(b, matrices)[0], [])
    values = _lengths(b, columns)
    values = _sorted(b, values, _order(b, values, upwards=False))
    return b.slice(values, 1, 0, b.dims("Minimum", *b.sizes(matrices)[1:]))


def singular_vectors(b: Builder, matrices: Tensor, *, full: bool) -> SingularVectors:
    """Emits the singular values and vectors of matrices.

    Args:
        b: Emits the ops.
        matrices: ``[batch, rows, columns]``.
        full: Whether to compute as many vectors as there are rows and columns.
    """
    matrices, turned = _upright(b, matrices)
    _, rows, columns = b.sizes(matrices)
    count = minimum(rows, columns)
    rotated, (right,) = _orthogonal(b, matrices, [_columns_of_one(b, matrices)])
    values = _lengths(b, rotated)
    order = _order(b, values, upwards=False)
    values, rotated = _sorted(b, values, order), product(b, rotated, order)
    right = product(b, _cut(b, right, matrices), order)
    # The rotated columns are those of u times the values. They are orthogonal, so reflections make them diagonal, and u
    # is the product of these, even if a value is 0.
    vectors, factors = householder(b, rotated)
    left = householder_product(b, vectors, factors, rows if full else count)
    on_diagonal = b.compare("Equal", eye(b, rows, columns), 1.0)
    signs = b.reduce("Sum", select(on_diagonal, vectors, 0.0), 2, keep_dims=True)
    negative = b.cast(b.transpose(signs, [0, 2, 1]) < 0.0, "float32")
    signs = 1.0 - negative * 2.0
    left = left * (signs if full else b.slice(signs, 2, 0, count))
    right = right if full else b.slice(right, 2, 0, count)
    return SingularVectors(b.slice(values, 1, 0, count), *((right, left) if turned else (left, right)))


def _upright(b: Builder, matrices: Tensor) -> tuple[Tensor, bool]:
    """Transposes matrices with more columns than rows, if the sizes are static; returns whether it did, too."""
    _, rows, columns = matrices.shape
    turned = rows is not None and columns is not None and rows < columns
    return b.transpose(matrices, [0, 2, 1]) if turned else matrices, turned


def _orthogonal(b: Builder, matrices: Tensor, others: Sequence[Tensor]) -> tuple[Tensor, Sequence[Tensor]]:
    """Rotates the columns of matrices until they are orthogonal, and others with them, as in ``_diagonalized``."""
    count = b.size(matrices, 2)
    tournament = _Tournament(b, count)
    value = b.pad(matrices, [(0, 0), (0, 0), (0, tournament.size - count)])

    def scalar_product(first: Tensor, second: Tensor) -> Tensor:
        return b.reduce("Sum", first * second, 1, keep_dims=True)

    def turn(_: Tensor, changing: Sequence[Tensor]) -> Sequence[Tensor]:
        first, second = tournament.halves(b, changing[0], 2)
        lengths = scalar_product(first, first), scalar_product(second, second)
        rotation = _rotation(b, *lengths, scalar_product(first, second))
        return [tournament.rotated(b, each, rotation, 2) for each in changing]

    value, *others = count_to(b, tournament.turns, [value, *others], turn)
    return b.slice(value, 2, 0, count), others


def _columns_of_one(b: Builder, matrices: Tensor) -> Tensor:
    """Emits the identity for each matrix, with as many columns as its tournament has."""
    size = _even(b.size(matrices, 2))
    return b.broadcast(eye(b, size, size), [b.size(matrices, 0), size, size])


def _cut(b: Builder, value: Tensor, matrices: Tensor) -> Tensor:
    """Emits the value without the rows and columns that pad it for the tournament."""
    count = b.size(matrices, 2)
    return b.slices(value, {1: (0, count, 1), 2: (0, count, 1)})


def _lengths(b: Builder, columns: Tensor) -> Tensor:
    return sqrt(b.reduce("Sum", b.unary("Square", columns), 1))


def _rotation(b: Builder, first: Tensor, second: Tensor, beside: Tensor) -> _Rotation:
    """Emits the rotation by at most 45 degrees that diagonalizes ``[[first, beside], [beside, second]]``."""
    done = b.compare("Equal", beside, 0.0)
    divisor = select(done, 1.0, beside + beside)
    cotangent = (second - first) / divisor
    cotangent = maximum(minimum(cotangent, _FLATTEST), -_FLATTEST)
    root = sqrt(b.unary("Square", cotangent) + 1.0)
    positive = 1.0 / (abs(cotangent) + root)
    tangent = select(cotangent < 0.0, -positive, positive)
    tangent = select(done, 0.0, tangent)
    cosine = rsqrt(b.unary("Square", tangent) + 1.0)
    return _Rotation(cosine, cosine * tangent)


def _order(b: Builder, values: Tensor, *, upwards: bool) -> Tensor:
    """Emits the permutation matrices ``[batch, count, count]`` that sort values ``[batch, count]``.

    Products with them are exact. (TOPK_V2 computes the shapes of its results in each call, so that LiteRT prepares the
    ops after it in the middle of the call.)
    """
    count = b.size(values, 1)
    numbers = b.range(count)
    rows, columns = b.reshape(numbers, [1, count, 1]), b.reshape(numbers, [1, 1, count])
    one, other = b.expand(values, 2), b.expand(values, 1)
    equal = b.compare("Equal", one, other) & (rows < columns)
    before = b.compare("Less" if upwards else "Greater", one, other) | equal
    place = b.expand(b.reduce("Sum", b.cast(before, "float32"), 1), 2)
    return b.cast(b.compare("Equal", place, b.cast(columns, "float32")), "float32")


def _sorted(b: Builder, values: Tensor, order: Tensor) -> Tensor:
    return b.reduce("Sum", b.expand(values, 2) * order, 1)
