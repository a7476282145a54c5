"""``StringJoin``, ``ReduceJoin`` and ``UnsortedSegmentJoin``: concatenation of strings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.strings import (
    as_bytes,
    check_count,
    check_dtype,
    check_scalar,
    check_strings,
    string_array,
)
from litefuse.kernels.pack.supported import INDICES, Arrays
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.outputs import Outputs
from litefuse.litert.runtime.tensors import STRING


@pack_kernel("StringJoin", native=True)
class StringJoin(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.join``).

    Inputs: strings, all of one shape, or scalars, which are broadcast to it.

    Output: of this shape, the strings at the same position in all inputs, joined in the order of the inputs.

    Options: ``separator``, placed between two strings; empty if missing.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/join.
    """

    dtypes = ("string",)

    def prepare(self, *texts: TensorSpec) -> TensorSpec:
        shapes = {check_strings(f"input {place}", text) for place, text in enumerate(texts)}
        shapes = shapes - {()} or {()}
        if len(shapes) > 1:
            raise KernelError(f"inputs must be of one shape or scalars, not {' and '.join(map(str, sorted(shapes)))}")
        return TensorSpec(shapes.pop(), STRING)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, separator: str | bytes = "") -> None:
        """Joins the strings at one position after the other."""
        between = as_bytes(separator)
        arrays = np.broadcast_arrays(*inputs)
        lists = [array.ravel().tolist() for array in arrays]
        outputs[0] = string_array(map(between.join, zip(*lists, strict=True)), arrays[0].shape)


@pack_kernel("ReduceJoin", native=True)
class ReduceJoin(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.reduce_join``).

    Inputs: ``inputs``, strings of any shape; ``reduction_indices``, int32: the dimensions to join along, a scalar or
    a vector; the first ones vary fastest. Without any, the strings are unchanged.

    Output: the joined strings, without these dimensions, or with size 1 in each.

    Options: ``keep_dims``, false if missing; ``separator``, placed between two strings, empty if missing.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/reduce_join.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, axes: TensorSpec, *, keep_dims: bool = False) -> TensorSpec:
        """Returns the reduced shape, if the dimensions are constants."""
        shape = check_strings("inputs", text)
        if len(check_dtype("reduction_indices", axes, "int32")) > 1:
            raise KernelError(f"reduction_indices must be a scalar or a vector, not of shape {axes.shape}")
        if axes.value is None:
            return TensorSpec(None, STRING)
        return TensorSpec(_left(shape, _axes(axes.value, len(shape)), keep_dims=bool(keep_dims)), STRING)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, keep_dims: bool = False, separator: str | bytes = "") -> None:
        """Joins the strings for one element of the output after the other."""
        text, indices = inputs
        axes = _axes(indices, text.ndim)
        shape = _left(text.shape, axes, keep_dims=bool(keep_dims))
        rest = [axis for axis in range(text.ndim) if axis not in axes]
        count = math.prod(text.shape[axis] for axis in axes)
        rows = np.transpose(text, [*rest, *reversed(axes)]).reshape(math.prod(shape), count).tolist()
        outputs[0] = string_array(map(as_bytes(separator).join, rows), shape)


def _axes(indices: npt.NDArray[Any], rank: int) -> list[int]:
    axes: list[int] = indices.ravel().tolist()
    for axis in axes:
        if not -rank <= axis < rank:
            raise KernelError(f"reduction_indices must be from {-rank} to {rank - 1}, not {axis}")
    positive = [axis % rank for axis in axes]
    if len(set(positive)) < len(positive):
        raise KernelError(f"reduction_indices must not be given twice, as in {axes}")
    return positive


def _left(shape: tuple[int, ...], axes: list[int], *, keep_dims: bool) -> list[int]:
    return [1 if axis in axes else size for axis, size in enumerate(shape) if keep_dims or axis not in axes]


@pack_kernel("UnsortedSegmentJoin")
class UnsortedSegmentJoin(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.unsorted_segment_join``).

    Inputs: ``inputs``, strings; ``segment_ids``, int32 or int64, not negative: the segments of their first dimensions;
    ``num_segments``, an int32 or int64 scalar.

    Output: ``[num_segments, ...]``, the strings of each segment, joined in order; empty for a segment without strings.

    Options: ``separator``, placed between two strings, except after empty ones at the start; empty if missing.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/unsorted_segment_join.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, ids: TensorSpec, count: TensorSpec) -> TensorSpec:
        """Returns the output's shape, if the number of segments is a constant."""
        shape, outer = check_strings("inputs", text), check_dtype("segment_ids", ids, *INDICES)
        check_dtype("num_segments", count, *INDICES)
        check_scalar("num_segments", count)
        if shape[: len(outer)] != outer:
            raise KernelError(f"segment_ids {outer} must be the first sizes of inputs {shape}")
        known = None if count.value is None else (int(count.value.item()), *shape[len(outer) :])
        return TensorSpec(known, STRING)

    def invoke(self, inputs: Arrays, outputs: Outputs, *, separator: str | bytes = "") -> None:
        text, ids, number = inputs
        count = int(number.item())
        inner = text.shape[ids.ndim :]
        check_count([count, *inner])
        between = as_bytes(separator)
        width = math.prod(inner)
        joined = [b""] * (count * width)
        rows: list[list[bytes]] = text.reshape(ids.size, width).tolist()
        segments: list[int] = ids.ravel().tolist()
        for row, segment in zip(rows, segments, strict=True):
            if not 0 <= segment < count:
                raise KernelError(f"segment_ids must be from 0 to {count - 1}, not {segment}")
            for place, one in enumerate(row, segment * width):
                before = joined[place]
                joined[place] = before + between + one if before else one
        outputs[0] = string_array(joined, [count, *inner])
