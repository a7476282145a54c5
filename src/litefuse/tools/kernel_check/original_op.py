"""Entry point of the process that makes a SavedModel of one TensorFlow op, as the original of a kernel."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from litefuse.conversion.verify.original import load_tensorflow
from litefuse.errors import LitefuseError
from litefuse.kernels.generator.op_calls import Call, CallTensor
from litefuse.litert.runtime.model_tables import TENSOR_TYPES

#: The function to run in the process.
SAVE = "litefuse.tools.kernel_check.original_op:save_original"


@dataclass(frozen=True)
class OriginalOp:
    """The job of the process.

    Attributes:
        op: The name of the TensorFlow op.
        call: The call of it. The options are the op's attributes.
        folder: The SavedModel to write. Its signature has the names of the call's inputs and outputs.
    """

    op: str
    call: Call
    folder: str


def save_original(job: OriginalOp, announce: Callable[[str], None]) -> None:
    """Writes the SavedModel.

    Raises:
        LitefuseError: TensorFlow is not installed, has no such op, or does not take its inputs and attributes.
    """
    tf = load_tensorflow(announce)
    announce(f"call the original: {job.op}")
    definition = _definition(job.op)
    if definition is None:
        raise LitefuseError(f"TensorFlow has no op {job.op!r}")
    call = job.call
    given = [input_ for input_ in call.inputs if input_ is not None and input_.data is None]

    def function(*arguments: Any) -> Mapping[str, Any]:
        taken = iter(arguments)
        values = [_value(tf, input_, taken) for input_ in call.inputs if input_ is not None]
        named = {**_inputs(definition, values, call.options or {}), **_attributes(tf, definition, call.options or {})}
        result: Any = getattr(tf.raw_ops, job.op)(**named)
        results = cast("Sequence[Any]", result) if isinstance(result, (list, tuple)) else [result]
        return {output.name: value for output, value in zip(call.outputs, results, strict=True)}

    try:
        specs = [tf.TensorSpec(tensor.shape, tensor.dtype, name=tensor.name) for tensor in given]
        concrete = tf.function(function, input_signature=specs).get_concrete_function()
        tf.saved_model.save(tf.Module(), job.folder, signatures={"serving_default": concrete})
    except Exception as error:  # whatever TensorFlow raises for inputs and attributes that do not fit
        raise LitefuseError(f"TensorFlow does not take the call: {str(error).splitlines()[0]}", where=job.op) from error


def _definition(op: str) -> Any:
    registry: Any = importlib.import_module("tensorflow.python.framework.op_def_registry")
    return registry.get(op)


def _value(tf: Any, tensor: CallTensor, taken: Iterator[Any]) -> Any:
    if tensor.data is None:
        return next(taken)
    shape = [size or 0 for size in tensor.shape or ()]
    return tf.constant(np.frombuffer(tensor.data, tf.as_dtype(tensor.dtype).as_numpy_dtype).reshape(shape))


def _inputs(definition: Any, values: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Names the inputs; one that is a list takes as many as its attribute says, or all that the others leave."""
    inputs: dict[str, Any] = {}
    lists = [argument for argument in definition.input_arg if argument.number_attr or argument.type_list_attr]
    rest = len(values) - (len(definition.input_arg) - len(lists))
    position = 0
    for argument in definition.input_arg:
        if argument in lists:
            count = int(options.get(argument.number_attr, rest))
            inputs[argument.name] = list(values[position : position + count])
            position += count
        else:
            inputs[argument.name] = values[position]
            position += 1
    return inputs


def _attributes(tf: Any, definition: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the attributes that are not inferred from the inputs; in the options, types are LiteRT's numbers."""
    inferred = {
        name
        for argument in definition.input_arg
        for name in (argument.type_attr, argument.number_attr, argument.type_list_attr)
    }
    attributes: dict[str, Any] = {}
    for attribute in definition.attr:
        if attribute.name in inferred or attribute.name not in options:
            continue
        value = options[attribute.name]
        if attribute.type == "type":
            value = _dtype(tf, value)
        elif attribute.type == "list(type)":
            value = [_dtype(tf, number) for number in value]
        attributes[attribute.name] = value
    return attributes


def _dtype(tf: Any, number: int) -> Any:
    return tf.as_dtype(TENSOR_TYPES[number].lower())
