"""Matrix products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from litefuse.ir.builder import MixedSize
from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.translation import Result, Rules, Translation

_NARROW = frozenset({"bool", "int16", "int8", "uint16", "uint32", "uint8"})
_ARRANGING = frozenset({"tf.Cast", "tf.Identity", "tf.Reshape", "tf.Transpose"})


def _dot_general(op: Any, t: Translation) -> Result:
    numbers = t.dialect.DotDimensionNumbers(op.dot_dimension_numbers)
    return _product(
        op,
        t,
        (list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)),
        (list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)),
    )


def _dot(op: Any, t: Translation) -> Result:
    last = len(t.shape(op.operands[0])) - 1
    return _product(op, t, ([], []), ([last], [0]))


def _product(
    op: Any, t: Translation, batching: tuple[list[int], list[int]], contracting: tuple[list[int], list[int]]
) -> Result:
    """Emits a product: the batch dimensions come first, then those of the left factor, then those of the right one.

    Definition: https://openxla.org/stablehlo/spec#dot_general.
    """
    b, operands = t.b, list(op.operands)
    wanted = t.dtype(op.results[0])
    dtype = wide_dtype(wanted)
    values = [b.cast(b.cast(t.value(value), wanted), dtype) for value in operands]
    shapes = [t.shape(value) for value in operands]
    free = [
        [axis for axis in range(len(shapes[side])) if axis not in batching[side] and axis not in contracting[side]]
        for side in (0, 1)
    ]
    if not any(contracting):
        return b.cast(_outer(t, op, values, batching, free), wanted)
    if not batching[0] and len(free[0]) > 1 and len(free[1]) == 1 and len(contracting[0]) == 1:
        # A dense layer on an operand of rank 3 or more: the engine lowers it to one FULLY_CONNECTED.
        values[0] = b.transpose(values[0], [*free[0], *contracting[0]])
        return b.cast(_matrices(t, values, (False, free[1] == [0]), t.shape(op.results[0]), dtype), wanted)
    factors = [_arranged(t, op, values[side], side, batching[side], free[side], contracting[side]) for side in (0, 1)]
    shape: list[int | None] = [shapes[0][axis] for axis in batching[0]]
    shape += [_product_of([shapes[side][axis] for axis in free[side]]) for side in (0, 1)]
    product = _matrices(t, [value for value, _ in factors], (factors[0][1], factors[1][1]), shape, dtype)
    product = b.cast(product, wanted)
    if len(free[0]) == 1 and len(free[1]) == 1:
        return product
    dims = [t.dims(operands[0])[axis] for axis in batching[0]]
    return b.reshape(product, [*dims, *(t.dims(operands[side])[axis] for side in (0, 1) for axis in free[side])])


def wide_dtype(dtype: str) -> str:
    """Returns the dtype in which products of a dtype are added up: sums of integers are the same modulo its range."""
    if dtype.startswith("float8"):
        return "float32"
    return "int32" if dtype in _NARROW else dtype


def _matrices(
    t: Translation, factors: Sequence[ir.Value], adjoint: tuple[bool, bool], shape: Sequence[int | None], dtype: str
) -> ir.Value:
    if all(len(t.b.shape(factor)) == 2 for factor in factors) and _may_be_weights(factors[1]):
        return t.b.op("MatMul", factors, shape, dtype, transpose_a=adjoint[0], transpose_b=adjoint[1])
    return t.b.op("BatchMatMulV2", factors, shape, dtype, adj_x=adjoint[0], adj_y=adjoint[1])


def _may_be_weights(value: ir.Value) -> bool:
    """Whether a value is an argument of the program, or a constant: FULLY_CONNECTED is better for weights only."""
    arranged = False
    while not isinstance(value.owner, ir.Block) and value.owner.name in _ARRANGING:
        arranged |= value.owner.name in {"tf.Reshape", "tf.Transpose"}
        value = value.owner.operands[0]
    if isinstance(value.owner, ir.Block):
        return not arranged
    return value.owner.name in {"tf.Const", "tf.ReadVariableOp"}


def _product_of(sizes: Sequence[int | None]) -> int | None:
    return None if None in sizes else math.prod(cast("Sequence[int]", sizes))


def _arranged(
    t: Translation, op: Any, value: ir.Value, side: int, batching: list[int], free: list[int], contracting: list[int]
) -> tuple[ir.Value, bool]:
    """Returns a factor as matrices behind its batch dimensions, and whether they are to be transposed."""
    rows, columns = (free, contracting) if side == 0 else (contracting, free)
    in_order = sorted([*batching, *free, *contracting])

    def cost(order: list[int]) -> int:
        return 0 if order == in_order else 1 if order[-1] == in_order[-1] else 2

    adjoint = cost([*batching, *columns, *rows]) < cost([*batching, *rows, *columns])
    if adjoint:
        rows, columns = columns, rows
    value = t.b.transpose(value, [*batching, *rows, *columns])
    if len(rows) == 1 and len(columns) == 1:
        return value, adjoint
    dims = t.dims(op.operands[side])
    matrix = [t.b.product([dims[axis] for axis in axes]) for axes in (rows, columns)]
    return t.b.reshape(value, [*(dims[axis] for axis in batching), *matrix]), adjoint


def _outer(
    t: Translation, op: Any, values: Sequence[ir.Value], batching: tuple[list[int], list[int]], free: list[list[int]]
) -> ir.Value:
    """Emits a product without a sum."""
    dims = [t.dims(operand) for operand in op.operands]
    shared = [dims[0][axis] for axis in batching[0]]
    factors: list[ir.Value] = []
    for side in (0, 1):
        value = t.b.transpose(values[side], [*batching[side], *free[side]])
        own = [dims[side][axis] for axis in free[side]]
        ones: list[MixedSize] = [1] * len(free[1 - side])
        factors.append(t.b.reshape(value, [*shared, *own, *ones] if side == 0 else [*shared, *ones, *own]))
    return t.b.binary("Mul", *factors)


RULES: Rules = {"stablehlo.dot": _dot, "stablehlo.dot_general": _dot_general}
