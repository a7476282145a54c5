"""Ops that move strings, which LiteRT has for numbers only: joining, selecting, padding, and tensors made dense."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

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
from litefuse.kernels.pack.supported import INDICES, Arrays
from litefuse.litert.runtime.custom_op import TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs
from litefuse.litert.runtime.tensors import STRING


@pack_kernel("ConcatV2", limited=True)
class ConcatV2(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.concat``), of strings.

    Inputs: strings, whose shapes may differ in one dimension only; ``axis``, int32 or int64: this dimension.

    Output: the inputs, concatenated along it.
    """

    def prepare(self, *inputs: TensorSpec) -> TensorSpec:
        """Returns the output's shape, if the axis is a constant."""
        *texts, axis = inputs
        shapes = [check_strings(f"input {place}", text) for place, text in enumerate(texts)]
        check_dtype("axis", axis, *INDICES)
        check_scalar("axis", axis)
        if axis.value is None:
            return TensorSpec(None, STRING)
        try:
            joined = np.concatenate([np.empty(shape, np.bool_) for shape in shapes], int(axis.value.item()))
        except ValueError:
            raise KernelError(f"inputs {shapes} cannot be joined along axis {axis.value.item()}") from None
        return TensorSpec(joined.shape, STRING)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        *texts, axis = inputs
        outputs[0] = np.concatenate(texts, int(axis.item()))


@pack_kernel("Pack", limited=True)
class Pack(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.stack``), of strings.

    Inputs: strings of one shape. Output: the inputs, stacked along a new dimension.

    Options: ``axis``, the new dimension, 0 if missing.
    """

    def prepare(self, *inputs: TensorSpec, axis: int = 0) -> TensorSpec:
        shapes = {check_strings(f"input {place}", text) for place, text in enumerate(inputs)}
        if len(shapes) != 1:
            raise KernelError(f"inputs must be of one shape, not {' and '.join(map(str, sorted(shapes)))}")
        (shape,) = shapes
        if not -len(shape) - 1 <= axis <= len(shape):
            raise KernelError(f"axis must be from {-len(shape) - 1} to {len(shape)}, not {axis}")
        place = axis % (len(shape) + 1)
        return TensorSpec([*shape[:place], len(inputs), *shape[place:]], STRING)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, axis: int = 0) -> None:
        outputs[0] = np.stack(inputs, axis)


@pack_kernel("SelectV2", limited=True)
class SelectV2(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.where`` with three arguments), of strings.

    Inputs: ``condition``, bool; ``t`` and ``e``, strings; their shapes broadcast.

    Output: ``t`` where the condition is true, otherwise ``e``.
    """

    def prepare(self, condition: TensorSpec, t: TensorSpec, e: TensorSpec) -> TensorSpec:
        shapes = [check_dtype("condition", condition, "bool"), check_strings("t", t), check_strings("e", e)]
        try:
            return TensorSpec(np.broadcast_shapes(*shapes), STRING)
        except ValueError:
            raise KernelError(f"the shapes {', '.join(map(str, shapes))} do not broadcast to one") from None

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        outputs[0] = np.where(*inputs)


@pack_kernel("Select", limited=True)
class Select(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.compat.v1.where``), of strings.

    Inputs: ``condition``, bool; ``t`` and ``e``, strings of one shape. The condition has this shape, or is a scalar,
    or a vector that selects whole rows.

    Output: ``t`` where the condition is true, otherwise ``e``.
    """

    def prepare(self, condition: TensorSpec, t: TensorSpec, e: TensorSpec) -> TensorSpec:
        chosen, shape = check_dtype("condition", condition, "bool"), check_strings("t", t)
        if check_strings("e", e) != shape:
            raise KernelError(f"t and e must be of one shape, not {shape} and {e.shape}")
        if chosen not in {(), shape, shape[:1]}:
            raise KernelError(f"condition {chosen} must be of the shape of t {shape}, a scalar, or one for each row")
        return TensorSpec(shape, STRING)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        condition, t, e = inputs
        if condition.ndim < t.ndim:
            condition = condition.reshape(condition.shape + (1,) * (t.ndim - condition.ndim))
        outputs[0] = np.where(condition, t, e)


@pack_kernel("Pad", limited=True)
class Pad(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.pad``), of strings.

    Inputs: ``input``, strings; ``paddings``, ``[rank, 2]`` of int32 or int64: how many are added before and after in
    each dimension.

    Output: the strings, padded with empty ones.
    """

    def prepare(self, text: TensorSpec, paddings: TensorSpec) -> TensorSpec:
        """Returns the output's shape, if the paddings are constants."""
        return _padded_shape(text, paddings)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        text, paddings = inputs
        outputs[0] = _padded(text, paddings, b"")


@pack_kernel("PadV2", limited=True)
class PadV2(OfStringsOnly):
    """TensorFlow's op of the same name (``tf.pad`` with a value), of strings.

    Inputs: those of ``Pad``, and ``constant_values``, a string.

    Output: the strings, padded with this one.
    """

    def prepare(self, text: TensorSpec, paddings: TensorSpec, value: TensorSpec) -> TensorSpec:
        """Returns the output's shape, if the paddings are constants."""
        check_strings("constant_values", value)
        check_scalar("constant_values", value)
        return _padded_shape(text, paddings)

    def invoke(self, inputs: Arrays, outputs: Outputs) -> None:
        text, paddings, value = inputs
        outputs[0] = _padded(text, paddings, value.item())


def _padded_shape(text: TensorSpec, paddings: TensorSpec) -> TensorSpec:
    shape = check_strings("input", text)
    if check_dtype("paddings", paddings, *INDICES) != (len(shape), 2):
        raise KernelError(f"paddings must be of shape {(len(shape), 2)}, not {paddings.shape}")
    if paddings.value is None:
        return TensorSpec(None, STRING)
    return TensorSpec([size + int(sum(pair)) for size, pair in zip(shape, paddings.value, strict=True)], STRING)


def _padded(text: npt.NDArray[Any], paddings: npt.NDArray[Any], value: bytes) -> npt.NDArray[Any]:
    if np.any(paddings < 0):
        raise KernelError(f"paddings must not be negative, as in {paddings.tolist()}")
    check_count([size + sum(pair) for size, pair in zip(text.shape, paddings.tolist(), strict=True)])
    return np.pad(text, paddings, constant_values=value) if text.ndim else text


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
        """Returns the output's shape, if it is a constant."""
        check_dtype("sparse_indices", indices, *INDICES)
        check_dtype("output_shape", shape, *INDICES)
        check_strings("sparse_values", values)
        check_strings("default_value", default)
        check_scalar("default_value", default)
        return TensorSpec(None if shape.value is None else shape.value.tolist(), STRING)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, validate_indices: bool = True) -> None:
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
        """Checks the inputs; the longest row is known only once the rows are."""
        check_dtype("shape", shape, *INDICES)
        check_strings("values", values)
        check_strings("default_value", default)
        first, *rest = row_partition_types
        if first == "ROW_SPLITS" and set(rest) <= {first}:
            return TensorSpec(None, STRING)
        if first == "FIRST_DIM_SIZE" and set(rest) == {"VALUE_ROWIDS"}:
            return TensorSpec(None, STRING)
        raise KernelError(f"rows are described by {', '.join(row_partition_types)}")

    def invoke(self, inputs: Arrays, outputs: Outputs, *, row_partition_types: Sequence[str]) -> None:
        """Fills the rows level by level, the innermost first."""
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
    """Returns the row splits of each level, from the first size and the row index of each value."""
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
