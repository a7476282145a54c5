"""Ops' calls in a SavedModel, which is converted with these ops as custom ops, and the shapes that they tell of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from litefuse.errors import ConversionError, UnsupportedOpsError
from litefuse.frontends.keras_file import is_keras_file
from litefuse.frontends.saved_model import is_graph_file
from litefuse.frontends.source_of import source_of
from litefuse.kernels.generator.op_calls import Call, read_calls
from litefuse.litert.inspection.saved_model_facts import INSPECT, InspectionJob, SavedModelFacts
from litefuse.support.files.readable import check_there
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.options.names import OpNotInModelError
from litefuse.support.processes.process import run_in_worker

if TYPE_CHECKING:
    from litefuse.support.result import ConversionResult


def has_to_be_converted(model: Path) -> bool:
    """Whether a model is one of TensorFlow's or Keras's: a folder, a Keras file or a frozen graph."""
    return check_there(model).is_dir() or is_keras_file(model) or is_graph_file(model)


def called_ops(model: Path, on_step: Callable[[str], None]) -> list[str]:
    """Returns the names of custom ops and composites in a ``.tflite`` file, or of all ops of another model.

    Raises:
        LitefuseError: The model cannot be read.
    """
    if not has_to_be_converted(model):
        return read_calls(model, ())[1]
    source = source_of(model)
    with make_temporary_folder() as temporary:
        folder = source.folder(Path(temporary, "saved_model"))
        with source.opened(folder, on_step):
            job = InspectionJob(folder, None, nodes=False)
            facts: SavedModelFacts = run_in_worker(INSPECT, job, on_step)
    return sorted({*facts.op_counts, *(function.name for function in facts.annotated)})


def read_saved_model(
    folder: Path, ops: Collection[str], on_step: Callable[[str], None]
) -> tuple[dict[str, list[Call]], list[str]]:
    """Converts a SavedModel so that each of the ops remains one op, and reads its calls.

    Args:
        folder: The SavedModel, or another file to convert: a Keras file or a frozen graph.
        ops: The names of composites or TensorFlow ops.
        on_step: Called with each step's name.

    Returns:
        The calls of each op, which have the body of a composite as their reference, and the names of all custom ops and
        composites in the converted model.

    Raises:
        LitefuseError: The model cannot be converted even like this, or a composite cannot be kept.
    """
    with make_temporary_folder() as work:
        result = _converted(folder, ops, on_step)
        path = result.save(Path(work, "converted.tflite"))
        calls, names = read_calls(path, ops)
    for composite in result.report.composites:
        if not calls.get(composite.name, True) and composite.outcome != "fused":
            reason = composite.reason
            raise ConversionError(f"the composite cannot be kept as one op: {reason}", where=composite.name)
    return calls, names


def _converted(folder: Path, ops: Collection[str], on_step: Callable[[str], None]) -> ConversionResult:
    """Converts the model with the ops as custom ops, and with others only where LiteRT lacks them."""
    from litefuse.conversion.api import convert
    from litefuse.support.options.conversion import Checks

    custom = {*ops}
    while True:
        try:
            return convert(
                folder,
                allow_custom_ops=custom,
                composites="keep",
                checks=Checks(file=False),
                on_step=on_step,
            )
        except OpNotInModelError as error:  # they may be composites, or there is none
            custom -= {*error.ops}
        except UnsupportedOpsError as error:
            lacking = {op.op for op in error.ops} - custom
            if not lacking:
                raise
            custom |= lacking


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
