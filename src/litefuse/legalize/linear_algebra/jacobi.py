"""Eigenvalues and singular values by rotations, of half as many pairs of columns at once as there are columns.

All matrices are of float32 and in batches of one dimension. Which columns are pairs changes from turn to turn as the
players of a tournament do, so that each meets each other one in a sweep of ``columns - 1`` turns. The methods: Golub
and Van Loan, Matrix Computations, 8.5 (Jacobi) and 8.6.3 (one-sided Jacobi).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from litefuse.legalize.arrays.loops import count_to
from litefuse.legalize.linear_algebra.factorizations import eye, householder, householder_product, product

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.mlir import ir

__all__ = ["SingularVectors", "eigenvalues", "eigenvectors", "singular_values", "singular_vectors"]

# Convergence is quadratic in the end: so many sweeps more than the number of columns has bits.
_MORE_SWEEPS = 3
# For an open number of columns, of less than this many bits.
_MOST_BITS = 10
# The tangent of a smaller angle changes no float32.
_FLATTEST = 1e9


class SingularVectors(NamedTuple):
    """``u diag(values) v^T`` is the matrix.

    Attributes:
        values: ``[batch, min(rows, columns)]``, the largest first.
        left: ``[batch, rows, rows]``, u, or its first ``min(rows, columns)`` columns.
        right: ``[batch, columns, columns]``, v, or likewise.
    """

    values: ir.Value
    left: ir.Value
    right: ir.Value


class _Rotation(NamedTuple):
    """Rotations of pairs.

    Attributes:
        cosine: ``[batch, 1, pairs]``.
        sine: ``[batch, 1, pairs]``.
    """

    cosine: ir.Value
    sine: ir.Value


class _Tournament:
    """What the turns have in common.

    Attributes:
        size: The number of columns, an even one.
        half: The number of pairs: each column of the first half with the one so much further on.
        turns: How many turns there are.
    """

    def __init__(self, b: Builder, columns: MixedSize) -> None:
        self.size = _even(b, columns)
        self.half = b.dims("FloorDiv", self.size, 2)
        bits = columns.bit_length() if isinstance(columns, int) else _MOST_BITS
        self.turns = b.dims("Mul", b.dims("Sub", self.size, 1), bits + _MORE_SWEEPS)
        # Which column is in each one's place in the next turn (after a sweep, all are back), with which it was a pair,
        # which pair that was, and the sign of the sine.
        self._order = _next(b, self.size, self.half)
        half = b.scalar(self.half)
        in_second = b.compare("GreaterEqual", self._order, half)
        self._partner = b.select(in_second, b.binary("Sub", self._order, half), b.binary("AddV2", self._order, half))
        self._pair = b.binary("Minimum", self._order, self._partner)
        sign = b.binary("Sub", b.binary("Mul", b.cast(in_second, "float32"), 2.0), 1.0)
        self._sign = b.reshape(sign, [1, 1, self.size])

    def halves(self, b: Builder, value: ir.Value, axis: int) -> tuple[ir.Value, ir.Value]:
        """The two parts of a value that are pairs along an axis."""
        return b.slice(value, axis, 0, self.half), b.slice(value, axis, self.half, None)

    def rotated(self, b: Builder, value: ir.Value, rotation: _Rotation, axis: int) -> ir.Value:
        """The pairs along an axis rotated, and in their next places."""
        cosine, sine = (b.gather(each, self._pair, 2) for each in rotation)
        sine = b.binary("Mul", sine, self._sign)
        if axis == 1:
            cosine, sine = (b.transpose(each, [0, 2, 1]) for each in (cosine, sine))
        own, other = b.gather(value, self._order, axis), b.gather(value, self._partner, axis)
        return b.binary("AddV2", b.binary("Mul", cosine, own), b.binary("Mul", sine, other))


def _even(b: Builder, columns: MixedSize) -> MixedSize:
    return b.dims("AddV2", columns, b.dims("FloorMod", columns, 2))


def _next(b: Builder, size: MixedSize, half: MixedSize) -> ir.Value:
    """The first column stays, the others move on by one place, around: int32 ``[size]``, from where each comes."""
    places = b.range(size)
    last = b.scalar(b.dims("Sub", size, 1))
    order = b.binary("AddV2", places, 1)
    order = b.select(b.compare("Less", places, b.scalar(half)), b.binary("Sub", places, 1), order)
    order = b.select(b.compare("Equal", places, 1), b.scalar(half), order)
    order = b.select(b.compare("Equal", places, 0), b.scalar(0), order)
    before_half = b.dims("Maximum", b.dims("Sub", half, 1), 1)
    return b.select(b.compare("Equal", places, last), b.scalar(before_half), order)


def eigenvalues(b: Builder, matrices: ir.Value) -> ir.Value:
    """Those of symmetric matrices ``[batch, n, n]``, of which the lower triangle is looked at, the smallest first."""
    values, _ = _diagonalized(b, matrices, [])
    return _sorted(b, values, _order(b, values, upwards=True))


def eigenvectors(b: Builder, matrices: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The eigenvalues and eigenvectors of symmetric matrices.

    Args:
        b: Emits the ops.
        matrices: ``[batch, n, n]``; what is above the diagonal is not looked at.

    Returns:
        ``[batch, n]``, the smallest first; ``[batch, n, n]``, whose columns are orthonormal. Each is determined up to
        its sign only, and where eigenvalues are equal, the space of theirs is.
    """
    values, (vectors,) = _diagonalized(b, matrices, [_columns_of_one(b, matrices)])
    order = _order(b, values, upwards=True)
    return _sorted(b, values, order), product(b, _cut(b, vectors, matrices), order)


def _diagonalized(b: Builder, matrices: ir.Value, others: Sequence[ir.Value]) -> tuple[ir.Value, Sequence[ir.Value]]:
    """What is on the diagonal of symmetric matrices when nothing is beside it any more: ``[batch, n]``.

    Args:
        b: Emits the ops.
        matrices: ``[batch, n, n]``.
        others: What has columns that are rotated as those of the matrices are.

    Returns:
        The diagonal, and what became of the others.
    """
    count = b.size(matrices, 1)
    tournament = _Tournament(b, count)
    lower = b.compare("Greater", b.reshape(b.range(count), [1, count, 1]), b.reshape(b.range(count), [1, 1, count]))
    below = b.select(lower, matrices, 0.0)
    on_diagonal = b.compare("Equal", eye(b, count, count), 1.0)
    value = b.select(on_diagonal, matrices, b.binary("AddV2", below, b.transpose(below, [0, 2, 1])))
    more = b.dims("Sub", tournament.size, count)
    value = b.pad(value, [(0, 0), (0, more), (0, more)])
    pairs = b.compare("Equal", eye(b, tournament.half, tournament.half), 1.0)

    def diagonal(square: ir.Value) -> ir.Value:
        return b.reduce("Sum", b.select(pairs, square, 0.0), 1, keep_dims=True)

    def turn(_: ir.Value, changing: Sequence[ir.Value]) -> Sequence[ir.Value]:
        value, *others = changing
        upper, lower = tournament.halves(b, value, 1)
        first, beside = tournament.halves(b, upper, 2)
        _, second = tournament.halves(b, lower, 2)
        rotation = _rotation(b, diagonal(first), diagonal(second), diagonal(beside))
        rotated = [tournament.rotated(b, each, rotation, 2) for each in (value, *others)]
        return [tournament.rotated(b, rotated[0], rotation, 1), *rotated[1:]]

    value, *others = count_to(b, tournament.turns, [value, *others], turn)
    value = _cut(b, value, matrices)
    return b.reduce("Sum", b.select(on_diagonal, value, 0.0), 1), others


def singular_values(b: Builder, matrices: ir.Value) -> ir.Value:
    """Those of matrices ``[batch, rows, columns]``, the largest first: ``[batch, min(rows, columns)]``."""
    columns, _ = _orthogonal(b, _upright(b, matrices)[0], [])
    values = _lengths(b, columns)
    values = _sorted(b, values, _order(b, values, upwards=False))
    return b.slice(values, 1, 0, b.dims("Minimum", *b.sizes(matrices)[1:]))


def singular_vectors(b: Builder, matrices: ir.Value, *, full: bool) -> SingularVectors:
    """The singular values and vectors of matrices.

    Args:
        b: Emits the ops.
        matrices: ``[batch, rows, columns]``.
        full: Whether the vectors are as many as there are rows and columns.
    """
    matrices, turned = _upright(b, matrices)
    _, rows, columns = b.sizes(matrices)
    count = b.dims("Minimum", rows, columns)
    rotated, (right,) = _orthogonal(b, matrices, [_columns_of_one(b, matrices)])
    values = _lengths(b, rotated)
    order = _order(b, values, upwards=False)
    values, rotated = _sorted(b, values, order), product(b, rotated, order)
    right = product(b, _cut(b, right, matrices), order)
    # The columns of u times the values are orthogonal: reflections make the values of them, and u is their product,
    # also where a value is 0.
    vectors, factors = householder(b, rotated)
    left = householder_product(b, vectors, factors, rows if full else count)
    on_diagonal = b.compare("Equal", eye(b, rows, columns), 1.0)
    signs = b.reduce("Sum", b.select(on_diagonal, vectors, 0.0), 2, keep_dims=True)
    negative = b.cast(b.compare("Less", b.transpose(signs, [0, 2, 1]), 0.0), "float32")
    signs = b.binary("Sub", 1.0, b.binary("Mul", negative, 2.0))
    left = b.binary("Mul", left, signs if full else b.slice(signs, 2, 0, count))
    right = right if full else b.slice(right, 2, 0, count)
    return SingularVectors(b.slice(values, 1, 0, count), *((right, left) if turned else (left, right)))


def _upright(b: Builder, matrices: ir.Value) -> tuple[ir.Value, bool]:
    """Matrices that have no more columns than rows, where the sizes are known; and whether they were transposed."""
    _, rows, columns = b.shape(matrices)
    turned = rows is not None and columns is not None and rows < columns
    return b.transpose(matrices, [0, 2, 1]) if turned else matrices, turned


def _orthogonal(b: Builder, matrices: ir.Value, others: Sequence[ir.Value]) -> tuple[ir.Value, Sequence[ir.Value]]:
    """Matrices whose columns were rotated until they are orthogonal, and others with them, as in ``_diagonalized``."""
    count = b.size(matrices, 2)
    tournament = _Tournament(b, count)
    value = b.pad(matrices, [(0, 0), (0, 0), (0, b.dims("Sub", tournament.size, count))])

    def scalar_product(first: ir.Value, second: ir.Value) -> ir.Value:
        return b.reduce("Sum", b.binary("Mul", first, second), 1, keep_dims=True)

    def turn(_: ir.Value, changing: Sequence[ir.Value]) -> Sequence[ir.Value]:
        first, second = tournament.halves(b, changing[0], 2)
        lengths = scalar_product(first, first), scalar_product(second, second)
        rotation = _rotation(b, *lengths, scalar_product(first, second))
        return [tournament.rotated(b, each, rotation, 2) for each in changing]

    value, *others = count_to(b, tournament.turns, [value, *others], turn)
    return b.slice(value, 2, 0, count), others


def _columns_of_one(b: Builder, matrices: ir.Value) -> ir.Value:
    """The identity for each matrix, with as many columns as a tournament of theirs has."""
    size = _even(b, b.size(matrices, 2))
    return b.broadcast(eye(b, size, size), [b.size(matrices, 0), size, size])


def _cut(b: Builder, value: ir.Value, matrices: ir.Value) -> ir.Value:
    """The rows and columns that are not there for the tournament alone."""
    count = b.size(matrices, 2)
    return b.slices(value, {1: (0, count, 1), 2: (0, count, 1)})


def _lengths(b: Builder, columns: ir.Value) -> ir.Value:
    return b.unary("Sqrt", b.reduce("Sum", b.unary("Square", columns), 1))


def _rotation(b: Builder, first: ir.Value, second: ir.Value, beside: ir.Value) -> _Rotation:
    """The rotation by at most 45 degrees that makes ``beside`` zero in ``[[first, beside], [beside, second]]``."""
    done = b.compare("Equal", beside, 0.0)
    divisor = b.select(done, 1.0, b.binary("AddV2", beside, beside))
    cotangent = b.binary("RealDiv", b.binary("Sub", second, first), divisor)
    cotangent = b.binary("Maximum", b.binary("Minimum", cotangent, _FLATTEST), -_FLATTEST)
    root = b.unary("Sqrt", b.binary("AddV2", b.unary("Square", cotangent), 1.0))
    positive = b.binary("RealDiv", 1.0, b.binary("AddV2", b.unary("Abs", cotangent), root))
    tangent = b.select(b.compare("Less", cotangent, 0.0), b.unary("Neg", positive), positive)
    tangent = b.select(done, 0.0, tangent)
    cosine = b.unary("Rsqrt", b.binary("AddV2", b.unary("Square", tangent), 1.0))
    return _Rotation(cosine, b.binary("Mul", cosine, tangent))


def _order(b: Builder, values: ir.Value, *, upwards: bool) -> ir.Value:
    """In which order values ``[batch, count]`` are to be: ``[batch, count, count]``, 1 where a column gets a row's.

    A product with it is exact. (LiteRT knows the shapes of what TOPK_V2 finds only when it has run, and prepares what
    comes after it in the middle of each call.)
    """
    count = b.size(values, 1)
    numbers = b.range(count)
    rows, columns = b.reshape(numbers, [1, count, 1]), b.reshape(numbers, [1, 1, count])
    one, other = b.expand(values, 2), b.expand(values, 1)
    equal = b.binary("LogicalAnd", b.compare("Equal", one, other), b.compare("Less", rows, columns))
    before = b.binary("LogicalOr", b.compare("Less" if upwards else "Greater", one, other), equal)
    place = b.expand(b.reduce("Sum", b.cast(before, "float32"), 1), 2)
    return b.cast(b.compare("Equal", place, b.cast(columns, "float32")), "float32")


def _sorted(b: Builder, values: ir.Value, order: ir.Value) -> ir.Value:
    return b.reduce("Sum", b.binary("Mul", b.expand(values, 2), order), 1)
