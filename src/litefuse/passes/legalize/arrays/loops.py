"""Counted loops before lowering, as only the engine lowers a loop; coordinates and row-major indices of elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from litefuse.ir.mlir import ir
from litefuse.ir.op_creation import create_op
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder, MixedSize
    from litefuse.ir.tensors import Tensor


def count_to(
    b: Builder,
    count: MixedSize,
    values: Sequence[ir.Value],
    body: Callable[[Tensor, Sequence[Tensor]], Sequence[ir.Value]],
) -> Sequence[Tensor]:
    """Emits a ``tf.WhileRegion`` that counts from 0 to ``count - 1``.

    Args:
        b: Emits the ops.
        count: The number of iterations.
        values: The loop-carried values before the first iteration.
        body: Emits an iteration: returns the next values, of the same types, for the int32 counter and the values.

    Returns:
        The values after the last iteration.
    """
    start, end = b.constant(np.array(0), "int32"), b.scalar(count)
    operands = [start, *values]
    kinds = [value.type for value in operands]
    loop = ir.Operation.create(
        "tf.WhileRegion",
        results=kinds,
        operands=operands,
        attributes={
            "is_stateless": ir.BoolAttr.get(True),
            "parallel_iterations": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1),
        },
        regions=2,
    )
    condition, turn = (region.blocks.append(*kinds) for region in loop.regions)
    with ir.InsertionPoint(condition):
        _yield([Tensor(condition.arguments[0]) < end])
    with ir.InsertionPoint(turn):
        counter, *changing = map(Tensor, turn.arguments)
        changed = body(counter, changing)
        _yield([counter + 1, *changed])
    return [Tensor(result) for result in loop.results[1:]]


def write_row(b: Builder, value: Tensor, row: Tensor, index: Tensor) -> Tensor:
    """Emits a value with one of its rows, along the first dimension, replaced."""
    zero = b.constant(np.array(0), "int32")
    begins = b.stack([index, *[zero] * (len(value.shape) - 1)], 0)
    return b.op("XlaDynamicUpdateSlice", [value, b.expand(row, 0), begins], value.shape, value.dtype)


def _yield(values: Sequence[ir.Value]) -> None:
    create_op("tf.Yield", [], values)


def element_numbers(b: Builder, indices: Tensor, sizes: Sequence[Tensor]) -> Tensor:
    """Emits the row-major index of the element at each index vector.

    Args:
        b: Emits ops.
        indices: The index vectors, ``[..., len(sizes)]``.
        sizes: The size of each dimension, as scalars of the indices' dtype; at least one.
    """
    last = len(indices.shape) - 1
    parts = [b.gather(indices, b.constant(axis, "int32"), last) for axis in range(len(sizes))]
    numbers = parts[0]
    for part, size in zip(parts[1:], sizes[1:], strict=True):
        numbers = numbers * size + part
    return numbers


def coordinates(numbers: Tensor, sizes: Sequence[Tensor]) -> list[Tensor]:
    """Emits the coordinates of the elements with these row-major indices, dimension by dimension.

    From the last dimension to the first, each is the remainder of the previous quotient by the dimension's size.
    """
    found: list[Tensor] = []
    for size in reversed(sizes):
        found.insert(0, numbers % size)
        numbers = numbers // size
    return found


def around_axis(b: Builder, value: Tensor, axis: int) -> tuple[Tensor, list[MixedSize]]:
    """Emits the value as ``[before, size, after]``, for ops that support few dimensions; also returns its own sizes."""
    sizes = b.sizes(value)
    return b.reshape(value, [b.product(sizes[:axis]), sizes[axis], b.product(sizes[axis + 1 :])]), sizes


@decomposition("UnravelIndex")
def unravel_index(op: TensorFlowOp, b: Builder) -> Tensor:
    """From the last dimension to the first, coordinate d is the remainder of the previous quotient by ``dims[d]``.

    Definition: https://www.tensorflow.org/api_docs/python/tf/unravel_index.
    """
    op.shape(0, 0, 1)
    (count,) = op.shape(1, 1)
    if not count:
        raise NotDecomposed("the number of dimensions is unknown")
    op.require(0, "int32")
    numbers, dims = op.operands
    return b.stack(coordinates(numbers, [b.element(dims, axis) for axis in range(count)]), 0)
