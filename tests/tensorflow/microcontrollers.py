"""Runs models in tflite-micro, and compiles them for an Ethos-U NPU with Vela."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from litefuse.litert.runtime.scales import dequantized, quantized
from tests.tensorflow.checking import interpreter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

_ARENA = 1 << 20


def run_micro(model: bytes, calls: Sequence[npt.NDArray[Any] | Sequence[npt.NDArray[Any]]]) -> list[npt.NDArray[Any]]:
    """The first output of each call, with one input or several in order, on one interpreter of tflite-micro."""
    runtime: Any = importlib.import_module("tflite_micro.python.tflite_micro.runtime")
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=_ARENA)
    found: list[npt.NDArray[Any]] = []
    for values in calls:
        for index, value in enumerate([values] if isinstance(values, np.ndarray) else values):
            interpreter.set_input(np.ascontiguousarray(value), index)
        interpreter.invoke()
        found.append(np.array(interpreter.get_output(0)))
    return found


def run_integers(
    model: bytes, calls: list[npt.NDArray[np.float32]]
) -> tuple[list[npt.NDArray[Any]], list[npt.NDArray[Any]], list[npt.NDArray[Any]]]:
    """The integers that a model takes and gives in LiteRT, and the numbers that it gives."""
    runner = interpreter(model).get_signature_runner()
    (takes,), (gives,) = runner.get_input_details().values(), runner.get_output_details().values()
    given = [quantized(each, takes) for each in calls]
    (name,) = runner.get_input_details()
    found = [np.array(*runner(**{name: each}).values()) for each in given]
    return given, found, [dequantized(each, gives) for each in found]


def run_floats(model: bytes, calls: list[npt.NDArray[np.float32]]) -> tuple[list[Any], list[Any], list[Any]]:
    """As ``run_integers``, for a model in floating point."""
    runner = interpreter(model).get_signature_runner()
    found = [np.array(*runner(x=each).values()) for each in calls]
    return [*calls], found, found


class Compiled(NamedTuple):
    """What Vela makes of a model.

    Attributes:
        on_cpu: How many operators stay on the CPU.
        on_npu: How many run on the NPU.
        states_read: Whether the NPU reads variables at the beginning of a call, which hold what the last one left.
    """

    on_cpu: int
    on_npu: int
    states_read: bool


def compiled(model: bytes, folder: Path) -> Compiled:
    """Compiles a model with Vela, for an Ethos-U55 of 128 MACs a cycle."""
    path = folder / "model.tflite"
    path.write_bytes(model)
    vela = [sys.executable, "-m", "ethosu.vela"]
    command = [*vela, str(path), "--accelerator-config", "ethos-u55-128", "--output-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(re.findall(r"^(CPU|NPU) operators = (\d+)", done.stdout, re.MULTILINE))
    schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
    made = schema.ModelT.InitFromPackedBuf((folder / "model_vela.tflite").read_bytes(), 0)
    read = [graph.tensors[index] for graph in made.subgraphs for op in graph.operators for index in op.inputs]
    return Compiled(int(counts["CPU"]), int(counts["NPU"]), any(each.isVariable for each in read))
