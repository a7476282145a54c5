"""Inference of output shapes from input shapes, based on the calls in a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from litefuse.kernels.generator.op_calls import Call


@dataclass(frozen=True)
class Size:
    """The size of one dimension of an output.

    Attributes:
        input: The input that has this size on ``axis``; None if there is none.
        axis: The axis of the input.
        constant: The size if it is the same in all calls and no input has it; None if it is unknown.
    """

    input: int | None = None
    axis: int | None = None
    constant: int | None = None


def output_sizes(calls: Sequence[Call], output: int) -> tuple[Size, ...] | None:
    """Infers the sizes of an output's dimensions; None if its rank is unknown or differs between calls.

    A size comes from the first input of the same rank that has the same size, known or not, on the same axis in all
    calls; else from such an input of another rank; else it is the constant that it is in all calls.
    """
    shapes = [call.outputs[output].shape for call in calls]
    ranks = {None if shape is None else len(shape) for shape in shapes}
    rank = next(iter(ranks))
    if len(ranks) != 1 or rank is None:
        return None
    return tuple(_size(calls, output, axis, rank) for axis in range(rank))


def whole_input(calls: Sequence[Call], sizes: Sequence[Size]) -> int | None:
    """Returns the input whose entire shape these sizes are, or None."""
    index = sizes[0].input if sizes else None
    if index is None or any((size.input, size.axis) != (index, axis) for axis, size in enumerate(sizes)):
        return None
    shapes = [tensor.shape for call in calls if (tensor := call.inputs[index]) is not None]
    return index if all(shape is not None and len(shape) == len(sizes) for shape in shapes) else None


def _size(calls: Sequence[Call], output: int, axis: int, rank: int) -> Size:
    inputs = min(len(call.inputs) for call in calls)
    for same_rank in (True, False):
        for index in range(inputs):
            if all(_agrees(call, output, axis, index, rank if same_rank else None) for call in calls):
                return Size(input=index, axis=axis)
    sizes = {shape[axis] for call in calls if (shape := call.outputs[output].shape) is not None}
    return Size(constant=next(iter(sizes))) if len(sizes) == 1 else Size()


def _agrees(call: Call, output: int, axis: int, index: int, rank: int | None) -> bool:
    tensor, shape = call.inputs[index], call.outputs[output].shape
    if tensor is None or tensor.shape is None or shape is None or axis >= len(tensor.shape):
        return False
    if tensor.data is not None and rank is None:
        return False  # weights of another rank: equal by accident
    return (rank is None or len(tensor.shape) == rank) and tensor.shape[axis] == shape[axis]
