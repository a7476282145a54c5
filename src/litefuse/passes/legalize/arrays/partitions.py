"""Partition of rows into several tensors, and its inverse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor, equal, maximum
from litefuse.passes.legalize.arrays.carrier import carried, delivered
from litefuse.passes.legalize.decomposition import decomposition

if TYPE_CHECKING:
    import numpy.typing as npt

    from litefuse.ir.builder import Builder


@decomposition("DynamicPartition")
def dynamic_partition(op: TensorFlowOp, b: Builder) -> Sequence[Tensor]:
    """Gathers for each partition the rows with its number.

    Definition: https://www.tensorflow.org/api_docs/python/tf/dynamic_partition.
    """
    shape = op.shape(0)
    rank = len(op.shape(1))
    if not rank:
        raise NotDecomposed("there is one partition for all")
    data, partitions = op.operands
    parts: list[Tensor] = []
    for number in range(len(op.results)):
        places = b.op("Where", [equal(partitions, number)], [None, rank], "int64")
        parts.append(b.op("GatherNd", [data, b.cast(places, "int32")], [None, *shape[rank:]], data.dtype))
    return parts


@decomposition("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(op: TensorFlowOp, b: Builder) -> Tensor:
    """Gathers the row of each position; if there are several, the last.

    A position without any gets the first row: TensorFlow leaves it undefined.

    Definition: https://www.tensorflow.org/api_docs/python/tf/dynamic_stitch, parallel_stitch.
    """
    count = len(op.operands) // 2
    places: list[Tensor] = []
    rows: list[Tensor] = []
    for number in range(count):
        rank = len(op.shape(number))
        data = carried(b, op.operands[count + number])
        sizes = b.sizes(data)
        length = b.product(sizes[:rank])
        places.append(b.reshape(op.operands[number], [length]))
        rows.append(b.reshape(data, [length, *sizes[rank:]]))
    constants = [value.reshape(-1) for value in op.constants[:count] if value is not None]
    if len(constants) == count:
        last = b.constant(_last_for_each(np.concatenate(constants)), "int32")
    else:
        place = b.concat(places, 0)
        total = b.reduce("Max", place, 0) + 1
        found = b.op("UnsortedSegmentMax", [b.range(b.size(place, 0)), place, total], [None], "int32")
        last = maximum(found, 0)
    return delivered(b, b.gather(b.concat(rows, 0), last), op.types[count].dtype)


def _last_for_each(places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns for each number the position of its last occurrence, 0 if it does not occur."""
    last = np.zeros(places.max(initial=-1) + 1, np.int32)
    last[places] = np.arange(places.size)
    return last
