"""Matrix products and other linear algebra."""

from __future__ import annotations

from contextlib import suppress

from litefuse.ir.ops.dims import Dim, broadcast_dims, minimum
from litefuse.ir.ops.facts import (
    Answer,
    Dims,
    Op,
    PartialDims,
    Rule,
    ShapeError,
    Undecided,
    broadcast_shapes,
    meet_dims,
    text,
)


def _swapped(shape: Dims, swap: bool) -> Dims:
    return (*shape[:-2], shape[-1], shape[-2]) if swap else shape


def _check_inner(a: Dims, b: Dims) -> None:
    inner, other = a[-1], b[-2]
    if isinstance(inner, int) and isinstance(other, int) and inner != other:
        raise ShapeError(f"matrices of shapes {text(a)} and {text(b)} cannot be multiplied")


def _mat_mul(op: Op) -> Answer:
    a = _swapped(op.ranked(0, 2), op.attribute("transpose_a", False))
    b = _swapped(op.ranked(1, 2), op.attribute("transpose_b", False))
    _check_inner(a, b)
    return (a[0], b[1])


def _batch_mat_mul(op: Op) -> Answer:
    shapes = op.shape(0), op.shape(1)
    if min(map(len, shapes)) < 2:
        raise ShapeError(f"the shapes {text(shapes[0])} and {text(shapes[1])} are not those of matrices")
    a = _swapped(shapes[0], op.attribute("adj_x", False))
    b = _swapped(shapes[1], op.attribute("adj_y", False))
    _check_inner(a, b)
    return (*broadcast_shapes([a[:-2], b[:-2]]), a[-2], b[-1])


def _einsum(op: Op) -> Answer:
    equation = op.attribute("equation").replace(" ", "")
    terms, arrow, output = equation.partition("->")
    if not arrow:
        raise Undecided("the result's dimensions are not stated")
    sizes: dict[str, Dim] = {}
    middle: Dims = ()
    for index, term in enumerate(terms.split(",")):
        left, dots, right = term.partition("...")
        shape = op.shape(index) if dots else op.ranked(index, len(term))
        if len(left) + len(right) > len(shape):
            raise ShapeError(f"an operand of shape {text(shape)} is not {term!r} of {equation!r}")
        end = len(shape) - len(right)
        middle = broadcast_shapes([middle, shape[len(left) : end]])
        for label, size in zip(left + right, (*shape[: len(left)], *shape[end:]), strict=True):
            known = sizes.get(label, size)
            common = broadcast_dims(known, size)
            if common is None:
                raise ShapeError(f"dimension {label!r} of {equation!r} is both {known} and {size}")
            sizes[label] = common
    left, dots, right = output.partition("...")
    return (
        *(sizes[label] for label in left),
        *(middle if dots else ()),
        *(sizes[label] for label in right),
    )


def _matrices(op: Op, index: int) -> Dims:
    shape = op.shape(index)
    if len(shape) < 2:
        raise ShapeError(f"the shape {text(shape)} is not that of matrices")
    return shape


def _square(op: Op) -> Answer:
    *batch, rows, columns = _matrices(op, 0)
    size = meet_dims(rows, columns)
    return (*batch, size, size)


def _solve(op: Op) -> Answer:
    """Has the shape of the right-hand sides; the matrices of the systems of equations are square."""
    matrices, sides = _matrices(op, 0), _matrices(op, 1)
    size = meet_dims(meet_dims(matrices[-1], matrices[-2]), sides[-2])
    return (*broadcast_shapes([matrices[:-2], sides[:-2]]), size, sides[-1])


def _qr(op: Op) -> Answer:
    *batch, rows, columns = _matrices(op, 0)
    inner = rows if op.attribute("full_matrices", False) else minimum(rows, columns)
    return [(*batch, rows, inner), (*batch, inner, columns)]


def _lu(op: Op) -> Answer:
    square = _square(op)
    assert isinstance(square, tuple)
    return [square, square[:-1]]


def _log_determinant(op: Op) -> Answer:
    batch = _matrices(op, 0)[:-2]
    return [batch, batch]


def _eigenvectors(op: Op) -> Answer:
    try:
        square = _square(op)
    except Undecided:
        square = None
    assert square is None or isinstance(square, tuple)
    values = None if square is None else square[:-1]
    return [values, square if op.attribute("compute_v", True) else (0,)]


def _singular_vectors(op: Op) -> Answer:
    vectors: list[PartialDims] = [None, None, None]
    with suppress(Undecided):
        *batch, rows, columns = _matrices(op, 0)
        count = minimum(rows, columns)
        left, right = (rows, columns) if op.attribute("full_matrices", False) else (count, count)
        vectors = [(*batch, count), (*batch, rows, left), (*batch, columns, right)]
    if not op.attribute("compute_uv", True):
        vectors[1:] = [(0,), (0,)]
    return vectors


def _fourier(op: Op) -> Answer:
    """A Fourier transform whose last dimensions have the lengths that an operand states."""
    shape = op.shape(0)
    try:
        lengths = op.vector(1)
    except Undecided:
        count = 2 if op.name.endswith("2D") else 1
        return (*shape[:-count], *[None] * count)
    if len(shape) < len(lengths):
        raise ShapeError(f"{text(shape)} has fewer dimensions than are transformed")
    if not op.name.startswith("I"):
        lengths[-1] = lengths[-1] // 2 + 1
    return (*shape[: -len(lengths)], *lengths)


RULES: dict[str, Rule] = {
    "BatchMatMul": _batch_mat_mul,
    "BatchMatMulV2": _batch_mat_mul,
    "BatchMatMulV3": _batch_mat_mul,
    "Cholesky": _square,
    "Einsum": _einsum,
    "IRFFT": _fourier,
    "IRFFT2D": _fourier,
    "LogMatrixDeterminant": _log_determinant,
    "Lu": _lu,
    "MatMul": _mat_mul,
    "MatrixDeterminant": lambda op: _matrices(op, 0)[:-2],
    "MatrixInverse": _square,
    "MatrixSolve": _solve,
    "MatrixTriangularSolve": _solve,
    "Qr": _qr,
    "RFFT": _fourier,
    "RFFT2D": _fourier,
    "SelfAdjointEigV2": _eigenvectors,
    "Svd": _singular_vectors,
}
