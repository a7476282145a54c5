"""Ops with an operand that states the result's shape: fills, ranges, random numbers, diagonals."""

from __future__ import annotations

from litefuse.ir.ops.dims import Dim, Formula, is_size, maximum, minimum
from litefuse.ir.ops.facts import Answer, Op, PartialDims, Rule, ShapeError, Undecided, meet, normal_axis, text
from litefuse.ir.ops.rules.layout import stated_shape


def _stated(index: int) -> Rule:
    return lambda op: stated_shape(op, index)


def _shape(op: Op) -> Answer:
    shape = op.operands[0].shape
    return (None if shape is None else len(shape),)


def range_length(start: Dim, limit: Dim, delta: Dim) -> Dim | None:
    """Returns the count of numbers from ``start`` to ``limit`` in steps of ``delta``; None if unknown."""
    if delta == 0 or isinstance(delta, Formula):
        return None
    span = limit - start if delta > 0 else start - limit
    step = abs(delta)
    count = span if step == 1 else (span + (step - 1)) // step
    return count if is_size(count) else maximum(count, 0)


def _range(op: Op) -> Answer:
    try:
        return (range_length(op.scalar(0), op.scalar(1), op.scalar(2)),)
    except Undecided:
        return (None,)


def _one_hot(op: Op) -> Answer:
    shape = op.shape(0)
    axis = normal_axis(op.attribute("axis", -1), len(shape) + 1)
    return (*shape[:axis], op.size(1), *shape[axis:])


def _scalar(_op: Op) -> Answer:
    return ()


def _multinomial(op: Op) -> Answer:
    return (op.ranked(0, 2)[0], op.size(1))


def _diag_part(op: Op) -> Answer:
    shape = op.shape(0)
    if len(shape) % 2:
        raise ShapeError(f"a tensor of shape {text(shape)} has no diagonal: its rank is odd")
    half = len(shape) // 2
    return meet(shape[:half], shape[half:])


def _matrix_diag(op: Op) -> Answer:
    shape = op.shape(0)
    if not shape:
        raise ShapeError("a scalar is not a diagonal")
    if op.name == "MatrixDiag":
        return (*shape, shape[-1])
    if _is_one_unknown(op, 1):
        return (*shape[:-1], None, None)
    lower, upper = _diagonals(op, 1)
    batch = shape[:-1] if lower == upper else shape[:-2]
    try:
        rows, columns = op.number(2), op.number(3)
    except Undecided:
        return (*batch, None, None)
    length = shape[-1]
    smallest_rows = length - min(upper, 0)
    smallest_columns = length + max(lower, 0)
    if rows == -1 and columns == -1:
        size = maximum(smallest_rows, smallest_columns)
        return (*batch, size, size)
    return (*batch, smallest_rows if rows == -1 else rows, smallest_columns if columns == -1 else columns)


def _diagonals(op: Op, index: int) -> tuple[int, int]:
    """Returns the lowest and the highest diagonal that an operand specifies."""
    numbers = op.numbers(index)
    if len(numbers) not in (1, 2):
        raise ShapeError(f"{numbers} are not one or two diagonals")
    return numbers[0], numbers[-1]


def _is_one_unknown(op: Op, index: int) -> bool:
    """Whether an operand specifies one diagonal, which the model computes."""
    diagonal = op.operands[index]
    return diagonal.shape in ((), (1,)) and (diagonal.values is None or not isinstance(op.scalar(index), int))


def _matrix_diag_part(op: Op) -> Answer:
    shape = op.shape(0)
    if len(shape) < 2:
        raise ShapeError(f"a tensor of shape {text(shape)} has no diagonal")
    *batch, rows, columns = shape
    if op.name == "MatrixDiagPart":
        return (*batch, minimum(rows, columns))
    if _is_one_unknown(op, 1):
        return (*batch, None)
    lower, upper = _diagonals(op, 1)
    length = minimum(rows + min(upper, 0), columns - max(lower, 0))
    return (*batch, length) if lower == upper else (*batch, upper - lower + 1, length)


def _matrix_set_diag(op: Op) -> Answer:
    """Has the shape of the matrices, whose batch is that of the diagonals."""
    matrices, diagonals = op.operands[0].shape, op.operands[1].shape
    if diagonals is None or (op.name != "MatrixSetDiag" and op.operands[2].values is None):
        return matrices
    one = op.name == "MatrixSetDiag" or len(set(_diagonals(op, 2))) == 1
    batch = diagonals[:-1] if one else diagonals[:-2]
    return meet(matrices, (*batch, None, None))


def _broadcast_args(op: Op) -> Answer:
    (first,), (second,) = op.ranked(0, 1), op.ranked(1, 1)
    return (maximum(first, second),)


def _dynamic_stitch(op: Op) -> Answer:
    count = len(op.operands) // 2
    rest: PartialDims = None
    for indices, data in zip(op.operands[:count], op.operands[count:], strict=True):
        if indices.shape is not None and data.shape is not None:
            rest = meet(rest, data.shape[len(indices.shape) :])
    if rest is None:
        raise Undecided("no operand's rank is known")
    size: Dim | None = 0
    for index in range(count):
        try:
            numbers = op.numbers(index)
        except Undecided:
            size = None
            break
        size = max([size, *(number + 1 for number in numbers)])
    return (size, *rest)


RULES: dict[str, Rule] = {
    "BroadcastArgs": _broadcast_args,
    "Diag": lambda op: op.shape(0) * 2,
    "DiagPart": _diag_part,
    "DynamicStitch": _dynamic_stitch,
    "Empty": _stated(0),
    "Fill": _stated(0),
    "LinSpace": lambda op: (op.size(2),),
    "MatrixDiag": _matrix_diag,
    "MatrixDiagPart": _matrix_diag_part,
    "MatrixDiagPartV2": _matrix_diag_part,
    "MatrixDiagPartV3": _matrix_diag_part,
    "MatrixDiagV2": _matrix_diag,
    "MatrixDiagV3": _matrix_diag,
    "MatrixSetDiag": _matrix_set_diag,
    "MatrixSetDiagV2": _matrix_set_diag,
    "MatrixSetDiagV3": _matrix_set_diag,
    "Multinomial": _multinomial,
    "OneHot": _one_hot,
    "ParallelDynamicStitch": _dynamic_stitch,
    "Range": _range,
    "Rank": _scalar,
    "Shape": _shape,
    "ShapeN": lambda op: [(None if operand.shape is None else len(operand.shape),) for operand in op.operands],
    "Size": _scalar,
    "SparseToDense": _stated(1),
    "StatelessMultinomial": _multinomial,
    "ToBool": _scalar,
    **dict.fromkeys(
        [
            "ParameterizedTruncatedNormal",
            "RandomStandardNormal",
            "RandomUniform",
            "RandomUniformInt",
            "StatelessRandomGammaV2",
            "StatelessRandomGammaV3",
            "StatelessRandomNormal",
            "StatelessRandomNormalV2",
            "StatelessRandomUniform",
            "StatelessRandomUniformFullInt",
            "StatelessRandomUniformFullIntV2",
            "StatelessRandomUniformInt",
            "StatelessRandomUniformIntV2",
            "StatelessRandomUniformV2",
            "StatelessTruncatedNormal",
            "StatelessTruncatedNormalV2",
            "TruncatedNormal",
        ],
        _stated(0),
    ),
}
