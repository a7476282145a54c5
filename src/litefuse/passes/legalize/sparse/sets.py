"""Operations on sets, which are the rows of tensors, and their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, maximum
from litefuse.passes.legalize.arrays.loops import coordinates, element_numbers
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    from litefuse.ir.builder import Builder

# The dtypes in which LiteRT compares others.
_COMPARED_IN = {**dict.fromkeys(["int8", "int16", "uint8", "uint16"], "int32"), "int32": "int32", "int64": "int64"}


@decomposition("DenseToDenseSetOperation")
def set_operation(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Keeps the first of equal elements of a row, by whether the other operand's row has it, and sorts them.

    Each element is compared with each other one of its row. Its place among those that are kept is the number of
    smaller ones.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sets/difference, intersection, union.
    """
    rank = len(op.shape(0))
    op.require(0, *_COMPARED_IN)
    if rank != len(op.shape(1)) or not rank:
        raise NotDecomposed("its operands are not of one rank")
    dtype = op.types[0].dtype
    groups = b.sizes(op.operands[0])[:-1]
    count = b.product(groups)
    rows, others = (
        b.reshape(b.cast(operand, _COMPARED_IN[dtype]), [count, b.size(operand, -1)]) for operand in op.operands[:2]
    )
    operation = str(op.attributes["set_operation"])
    if operation == "union":
        rows = b.concat([rows, others], 1)
    elif operation == "b-a":
        rows, others = others, rows
    equal = b.compare("Equal", b.expand(rows, 1), b.expand(rows, 2))
    kept = ~b.reduce("Any", _and_earlier(b, equal), 2)
    if operation != "union":
        equal = b.compare("Equal", b.expand(rows, 2), b.expand(others, 1))
        shared = b.reduce("Any", equal, 2)
        shared = shared if operation == "intersection" else ~shared
        kept = kept & shared
    smaller = b.expand(rows, 1) < b.expand(rows, 2)
    before = smaller & b.expand(kept, 1)
    places = b.reduce("Sum", b.cast(before, "int32"), 2)
    numbers = b.reduce("Sum", b.cast(kept, "int32"), 1)
    found = b.cast(b.op("Where", [kept], [None, 2], "int64"), "int32")
    total = b.size(found, 0)
    group = b.reshape(b.slice(found, 1, 0, 1), [total])
    place = b.op("GatherNd", [places, found], [None], "int32")
    at = b.gather(b.cumsum(numbers, 0, exclusive=True), group) + place
    values = b.op("GatherNd", [rows, found], [None], rows.dtype)
    values, place = (
        b.op("ScatterNd", [b.expand(at, 1), each, b.vector([total])], [None], each.dtype) for each in (values, place)
    )
    # Elements are found row by row, so sorting those of each row leaves the rows as they are.
    divisors = [b.scalar(maximum(size, 1)) for size in groups]
    columns = [*coordinates(group, divisors), place]
    largest = maximum(b.reduce("Max", numbers, 0), 0)
    return [
        b.cast(b.stack(columns, 1), "int64"),
        b.cast(values, dtype),
        b.cast(b.vector([*groups, largest]), "int64"),
    ]


@decomposition("SetSize")
def set_size(op: TensorFlowOp, b: Builder) -> Tensor:
    """Counts the elements of each row that no equal one is before, each compared with each other one.

    Definition: https://www.tensorflow.org/api_docs/python/tf/sets/size.
    """
    _, rank = op.shape(0, 2)
    op.require(1, *_COMPARED_IN)
    if rank is None or rank < 2:
        raise NotDecomposed("the number of dimensions is unknown, or too small for rows")
    indices, values, shape = op.operands
    groups = b.sizes_in(shape, [None] * rank)[:-1] if op.constants[2] is None else op.constants[2][:-1].tolist()
    compared = b.cast(values, _COMPARED_IN[op.types[1].dtype])
    group = element_numbers(b, b.cast(indices, "int32"), [b.scalar(size) for size in groups])
    equal, same = _equal_to_each(b, compared), _equal_to_each(b, group)
    repeated = equal & same
    first = ~b.reduce("Any", _and_earlier(b, repeated), 1)
    count = b.product(groups)
    sizes = b.op("UnsortedSegmentSum", [b.cast(first, "int32"), group, b.scalar(count)], b.known([count]), "int32")
    return b.reshape(sizes, groups)


def _equal_to_each(b: Builder, values: Tensor) -> Tensor:
    return b.compare("Equal", b.expand(values, 0), b.expand(values, 1))


def _and_earlier(b: Builder, equal: Tensor) -> Tensor:
    """Emits which of the equal elements, in the last dimension, are before an element, in that before it."""
    numbers = b.range(b.size(equal, -1))
    earlier = b.expand(numbers, 0) < b.expand(numbers, 1)
    return equal & earlier
