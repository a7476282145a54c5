"""``SparseToDense`` and ``RaggedTensorToTensor`` of strings, such as the tokens of texts as a matrix.

For numbers, LiteRT has the first op, and ops that the second can be decomposed into; for strings it has neither.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import (
    OfStringsOnly,
    check_count,
    check_dtype,
    check_row_splits,
    check_scalar,
    check_strings,
)
from litefuse.kernels.pack.supported import INDICES
from litefuse.litert.runtime.custom_op import TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["RaggedTensorToTensor", "SparseToDense"]


@pack_kernel("SparseToDense", limited=True)
class SparseToDense(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.sparse.to_dense``), of strings.

    Inputs: ``sparse_indices``, int32 or int64: the positions of the values, ``[n, rank]``, or fewer dimensions for a
    vector; ``output_shape``; ``sparse_values``, a vector of strings, or one string for all positions;
    ``default_value``, a string.

    Output: the values at their positions, and the default elsewhere.

    Options: ``validate_indices``, true if missing: whether the positions must be sorted and unique.

    Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops/SparseToDense.
    """

    def prepare(self, indices: TensorSpec, shape: TensorSpec, values: TensorSpec, default: TensorSpec) -> TensorSpec:
        """Returns the output's shape, if it is a constant.

        Raises:
            KernelError: An input has a wrong dtype or shape.
        """
        check_dtype("sparse_indices", indices, *INDICES)
        check_dtype("output_shape", shape, *INDICES)
        check_strings("sparse_values", values)
        check_strings("default_value", default)
        check_scalar("default_value", default)
        return TensorSpec(None if shape.value is None else shape.value.tolist(), STRING)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, validate_indices: bool = True) -> None:
        """Writes each value at its position.

        Raises:
            KernelError: A position is out of bounds, or they are not sorted and unique.
        """
        indices, shape, values, default = inputs
        sizes: list[int] = shape.tolist()
        places = indices.reshape(-1, max(len(sizes), 1)) if indices.size else np.zeros((0, len(sizes)), np.int64)
        if np.any(places < 0) or np.any(places >= np.array(sizes)):
            raise KernelError(f"sparse_indices must lie within {sizes}")
        rows: list[tuple[int, ...]] = [tuple(place) for place in places.tolist()]
        if validate_indices and any(after <= before for before, after in itertools.pairwise(rows)):
            raise KernelError("sparse_indices must be in order, and none twice")
        check_count(sizes)
        dense = np.full(sizes, default.item(), STRING)
        for row, value in zip(rows, np.broadcast_to(values, [len(rows)]).tolist(), strict=True):
            dense[row] = value
        outputs[0] = dense


@pack_kernel("RaggedTensorToTensor", limited=True)
class RaggedTensorToTensor(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.RaggedTensor.to_tensor``), of strings.

    Inputs: ``shape``, int32 or int64: the sizes of the result, where a negative one means that of the longest row, and
    a scalar means so for all; ``values``; ``default_value``, a string or strings of the values' inner shape; then the
    row partitions: ``ROW_SPLITS`` for each level, or ``FIRST_DIM_SIZE`` and ``VALUE_ROWIDS`` for each, according to the
    option ``row_partition_types``.

    Output: the rows, padded with the default or truncated.

    Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops/RaggedTensorToTensor.
    """

    def prepare(
        self,
        shape: TensorSpec,
        values: TensorSpec,
        default: TensorSpec,
        *partitions: TensorSpec,  # noqa: ARG002
        row_partition_types: Sequence[str],
    ) -> TensorSpec:
        """Checks the inputs; the longest row is known only once the rows are.

        Raises:
            KernelError: An input has a wrong dtype, or the kernel does not support a type of row partition.
        """
        check_dtype("shape", shape, *INDICES)
        check_strings("values", values)
        check_strings("default_value", default)
        first, *rest = row_partition_types
        if first == "ROW_SPLITS" and set(rest) <= {first}:
            return TensorSpec(None, STRING)
        if first == "FIRST_DIM_SIZE" and set(rest) == {"VALUE_ROWIDS"}:
            return TensorSpec(None, STRING)
        raise KernelError(f"rows are described by {', '.join(row_partition_types)}")

    def invoke(
        self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, row_partition_types: Sequence[str]
    ) -> None:
        """Fills the rows level by level, the innermost first.

        Raises:
            KernelError: Row splits are invalid for their values.
        """
        shape, values, default, *partitions = inputs
        levels = partitions if row_partition_types[0] == "ROW_SPLITS" else _row_splits(partitions)
        sizes: list[int] = shape.tolist() if shape.ndim else [-1] * (len(levels) + values.ndim)
        inner = values.shape[1:]
        for level in reversed(range(len(levels))):
            splits = levels[level]
            check_row_splits(f"the row splits of level {level}", splits, len(values))
            width = sizes[level + 1]
            if width < 0:
                width = int(np.max(np.diff(splits), initial=0))
            check_count([len(splits) - 1, width, *values.shape[1:]])
            filled = np.empty((len(splits) - 1, width, *values.shape[1:]), STRING)
            filled[...] = np.broadcast_to(default, inner) if inner else default.item()
            for row, (start, end) in enumerate(zip(splits[:-1].tolist(), splits[1:].tolist(), strict=True)):
                kept = min(end - start, width)
                filled[row, :kept] = values[start : start + kept]
            values = filled
        if sizes[0] >= 0:
            check_count([sizes[0], *values.shape[1:]])
            rows = np.empty((sizes[0], *values.shape[1:]), STRING)
            rows[...] = np.broadcast_to(default, inner) if inner else default.item()
            rows[: len(values)] = values[: sizes[0]]
            values = rows
        outputs[0] = values


def _row_splits(partitions: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """Returns the row splits of each level, from the first size and the row index of each value.

    Raises:
        KernelError: A row index is out of range.
    """
    count = int(partitions[0].item())
    check_count([count])
    levels: list[npt.NDArray[Any]] = []
    for ids in partitions[1:]:
        if np.any(ids < 0) or np.any(ids >= count):
            raise KernelError(f"values must be in rows from 0 to {count - 1}")
        lengths = np.bincount(ids, minlength=count)
        levels.append(np.concatenate([[0], np.cumsum(lengths)]))
        count = len(ids)
    return levels
