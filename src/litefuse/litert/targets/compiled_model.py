"""Compiles and runs models with LiteRT's ``CompiledModel``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.targets.question import Arrays, Question, TargetCall
from litefuse.litert.targets.target import installed


def software() -> str:
    """Returns the name and the version of the software."""
    return installed("LiteRT", "ai-edge-litert")


def compile_model(question: Question, accelerators: str) -> Any:
    """Returns a ``CompiledModel`` of the file.

    Args:
        question: What is asked.
        accelerators: The names of ``HardwareAccelerator``, joined by ``|``.

    Raises:
        RuntimeError: It cannot be compiled; LiteRT prints why.
    """
    from ai_edge_litert.compiled_model import CompiledModel
    from ai_edge_litert.hardware_accelerator import HardwareAccelerator

    chosen = HardwareAccelerator(0)
    for name in accelerators.split("|"):
        chosen |= HardwareAccelerator[name]
    return CompiledModel.from_file(question.model, hardware_accel=chosen)


def not_callable(question: Question) -> str:
    """Returns why the calls cannot be made from Python; empty if they can."""
    values = [value for calls in question.rounds for call in calls for value in call.inputs.values()]
    strings = any(value.dtype.kind in "OSU" for value in values)
    return "the Python interface of CompiledModel passes no strings" if strings else ""


def run_rounds(question: Question, accelerators: str, model: Any) -> tuple[tuple[Arrays, ...], ...]:
    """Returns the outputs of all calls; rounds after the first begin with a new ``CompiledModel``."""
    rounds: list[tuple[Arrays, ...]] = []
    for number, calls in enumerate(question.rounds):
        current = compile_model(question, accelerators) if number else model
        rounds.append(tuple(_called(current, call) for call in calls))
    return tuple(rounds)


def _called(model: Any, call: TargetCall) -> Arrays:
    key, index = call.signature, model.get_signature_index(call.signature)
    inputs: dict[str, Any] = {}
    for position, name in enumerate(model.get_signature_list()[key]["inputs"]):
        value = np.ascontiguousarray(call.inputs[name])
        if tuple(model.get_input_tensor_details(key)[name]["shape"]) != value.shape:
            model.resize_input_tensor(position, value.shape, index)
        inputs[name] = model.create_input_buffer_by_name(key, name)
        inputs[name].write(_as_known(value))
    outputs = {
        name: model.create_output_buffer_by_name(key, name) for name in model.get_signature_list()[key]["outputs"]
    }
    model.run_by_name(key, inputs, outputs)
    details = model.get_output_tensor_details(key)
    return {name: _read(buffer, details[name]) for name, buffer in outputs.items()}


# The dtypes that the buffers of the Python interface know; they copy the bytes of others as well.
_KNOWN = {np.dtype(dtype) for dtype in (np.float32, np.float16, np.int32, np.int8, np.uint8, np.bool_)}


def _as_known(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return value if value.dtype in _KNOWN else value.reshape(-1).view(np.int8)


def _read(buffer: Any, detail: Any) -> Any:
    dtype: np.dtype[Any] = np.dtype(detail["dtype"])
    shape = tuple(int(size) for size in detail["shape"])
    if dtype in _KNOWN:
        return np.array(buffer.read(math.prod(shape), dtype.type)).reshape(shape)
    return np.array(buffer.read(math.prod(shape) * dtype.itemsize, np.int8)).view(dtype).reshape(shape)
