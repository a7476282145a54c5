"""Entry point of the process that watches which memory a kernel writes: all of its outputs, and none of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import chain
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.model_process import ModelJob, call_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.scales import quantized

#: The function to run in the process.
WATCH = "litefuse.tools.kernel_check.kernel_memory:watch_memory"

# What outputs are filled with before a call, and then before the same call again.
_FILLINGS = (0xA5, 0x5A)


def watch_memory(job: ModelJob, announce: Callable[[str], None]) -> tuple[str, ...]:
    """Calls a model of one op as a verification does, and looks at the memory of its inputs and outputs.

    Returns:
        What is wrong: which inputs the kernel overwrites, and which outputs it leaves unfilled.

    Raises:
        LitefuseError: The model cannot be loaded or called.
    """
    calls = [*chain.from_iterable(call_model(job, announce).rounds)]
    interpreter = Interpreter(job.model, custom_ops=job.load_kernels())
    takes, gives = _details(interpreter)
    outputs = {name: int(detail["index"]) for name, detail in gives.items()}
    announce("watch the kernel")
    problems: dict[str, None] = {}
    for call in calls:
        inputs = {
            name: (int(takes[name]["index"]), quantized(value, takes[name])) for name, value in call.inputs.items()
        }
        problems |= dict.fromkeys(_problems(interpreter, inputs, outputs))
    return tuple(problems)


def _details(interpreter: Interpreter) -> tuple[Mapping[str, Mapping[str, Any]], Mapping[str, Mapping[str, Any]]]:
    runner: Any = interpreter.get_signature_runner()  # while it is there, the interpreter itself does not run
    return runner.get_input_details(), runner.get_output_details()


def _problems(
    interpreter: Interpreter, inputs: Mapping[str, tuple[int, npt.NDArray[Any]]], outputs: Mapping[str, int]
) -> Iterable[str]:
    for index, value in inputs.values():
        interpreter.resize_tensor_input(index, value.shape)
    interpreter.allocate_tensors()
    unfilled: dict[str, npt.NDArray[np.bool_]] = {}
    for filling in _FILLINGS:
        for index, value in inputs.values():
            if value.size:
                interpreter.set_tensor(index, value)
        for index in outputs.values():
            _fill(interpreter, index, filling)
        interpreter.invoke()
        for name, (index, value) in inputs.items():
            if not value.dtype.hasobject and interpreter.get_tensor(index).tobytes() != value.tobytes():
                yield f"the kernel overwrites its input {name}"
        for name, index in outputs.items():
            result = interpreter.get_tensor(index)
            if not result.dtype.hasobject:
                elements = np.frombuffer(result.tobytes(), np.uint8).reshape(result.size, -1)
                unfilled[name] = np.logical_and(unfilled.get(name, True), (elements == filling).all(axis=1))
    for name, left in unfilled.items():
        if left.any():
            yield f"the kernel leaves {'elements' if not left.all() else 'all'} of its output {name} unfilled"


def _fill(interpreter: Interpreter, index: int, filling: int) -> None:
    details: list[Any] = interpreter.get_output_details()
    (detail,) = (detail for detail in details if detail["index"] == index)
    dtype = np.dtype(detail["dtype"])
    if dtype.kind in "OSU":
        return
    shape = [int(size) for size in detail["shape"]]
    content = bytes([filling]) * (dtype.itemsize * prod(shape))
    with suppress(ValueError):  # it is empty, or its memory comes with the call
        interpreter.set_tensor(index, np.frombuffer(content, dtype).reshape(shape))
