"""Reads the values of a LiteRT model's intermediate tensors, in the process that runs the model.

Each value is from a run whose outputs equal, bit for bit, those of an unobserved run: where a delegate fuses ops or
plans memory differently because a tensor is read, fewer tensors are read in one run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.conversion.verify.layers.observed_copy import LayerGraph, LayerTensor, ObservedCopy, chunks, layer_graph
from litefuse.conversion.verify.model_process import ModelJob
from litefuse.conversion.verify.original import Arrays, Call
from litefuse.errors import LitefuseError
from litefuse.litert.results.difference import difference
from litefuse.litert.runtime.custom_op import CustomOp
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.scales import dequantized, quantized
from litefuse.support.progress.stages import Step

# How many runs it may take to find tensors that can be read without a change.
_MOST_RUNS = 100


@dataclass(frozen=True)
class ObservationJob:
    """The job of the process: the tensors to read.

    Attributes:
        job: The model, and its kernels.
        calls: The calls, from the initial state of the model; the tensors of the last one are read.
        folder: Where the values are written.
        names: The names of the tensors to read; None for all.
    """

    job: ModelJob
    calls: tuple[Call, ...]
    folder: Path
    names: frozenset[str] | None = None


class Seen(NamedTuple):
    """A tensor that was read.

    Attributes:
        shape: Its shape.
        dtype: Its dtype, as a real number if it is quantized.
        change: How far the outputs of that run are from those of an unobserved run: 0 if they are the same.
    """

    shape: tuple[int, ...]
    dtype: str
    change: float


class Observation(NamedTuple):
    """The tensors that were read.

    Attributes:
        graph: The subgraph.
        seen: The tensors by their indices; the values are in files, see :func:`values_file`.
    """

    graph: LayerGraph
    seen: dict[int, Seen]


def values_file(folder: Path, index: int) -> Path:
    """Returns the file of a tensor's values, as ``numpy.save`` writes it."""
    return folder / f"{index}.npy"


def observe_model(job: ObservationJob, announce: Callable[[str], None]) -> Observation:
    """Runs a model, and a copy of it whose intermediate tensors are read.

    Raises:
        LitefuseError: It cannot be run, or its tensors cannot be read.
    """
    announce("import the kernels")
    custom_ops = job.job.load_kernels()
    announce("read the model")
    signature = job.calls[-1].signature
    graph = layer_graph(job.job.model, signature)
    looking = _Looking(job, graph, custom_ops)
    announce("run the model")
    looking.run_unobserved()
    copy = ObservedCopy(job.job.model, job.folder / "observed.tflite", graph.subgraph)
    wanted = {
        tensor.index: tensor
        for tensor in graph.tensors
        if tensor.readable and (job.names is None or tensor.name in job.names)
    }
    seen: dict[int, Seen] = {}
    parts = [*chunks(wanted.values(), looking.size_of)]
    for number, chunk in enumerate(parts):
        announce(Step(f"look into the model: part {number + 1} of {len(parts)}", number, len(parts)))
        looking.look(copy, chunk, seen)
    copy.path.unlink()
    announce("close the model")
    return Observation(graph, seen)


class _Looking:
    def __init__(self, job: ObservationJob, graph: LayerGraph, custom_ops: Sequence[type[CustomOp] | str]) -> None:
        self._job = job
        self._graph = graph
        self._custom_ops = custom_ops
        self._sizes: dict[int, int] = {}
        self._expected: Arrays = {}
        self._runs = 0
        self._repeated = False

    def run_unobserved(self) -> None:
        interpreter, self._expected = self._run(self._job.job.model)
        details: list[dict[str, Any]] = interpreter.get_tensor_details(self._graph.subgraph)
        self._sizes = {detail["index"]: int(np.prod(detail["shape"], dtype=np.int64)) * 8 for detail in details}

    def size_of(self, tensor: LayerTensor) -> int:
        """Returns the size of a tensor in the last call, in bytes."""
        return self._sizes.get(tensor.index, 0)

    def look(self, copy: ObservedCopy, tensors: Sequence[LayerTensor], seen: dict[int, Seen]) -> None:
        """Reads tensors: fewer at once where that changes the outputs."""
        own = self._graph.outputs
        copy.set_outputs([*own, *(tensor.index for tensor in tensors if tensor.index not in own)])
        self._runs += 1
        interpreter, outputs = self._run(str(copy.path))
        change = _change(outputs, self._expected)
        if change and not self._repeated:
            self._repeated = True
            if _change(self._run(self._job.job.model)[1], self._expected):
                raise LitefuseError("it gives other outputs in each run, as a model with random numbers does")
        if change and len(tensors) > 1 and self._runs < _MOST_RUNS:
            del interpreter, outputs
            middle = len(tensors) // 2
            self.look(copy, tensors[:middle], seen)
            self.look(copy, tensors[middle:], seen)
            return
        for tensor in tensors:
            values = self._values(interpreter, tensor)
            if values is not None:
                np.save(values_file(self._job.folder, tensor.index), values, allow_pickle=values.dtype == object)
                seen[tensor.index] = Seen(values.shape, str(values.dtype), change)

    def _values(self, interpreter: Interpreter, tensor: LayerTensor) -> npt.NDArray[Any] | None:
        detail = _detail(interpreter, tensor.index, self._graph.subgraph)
        if 0 in detail["shape"]:
            return np.empty(tuple(detail["shape"]), detail["dtype"])
        try:
            values: npt.NDArray[Any] = np.array(interpreter.get_tensor(tensor.index, self._graph.subgraph))
        except ValueError:  # the runtime has no memory for it: the op did not run here but, for example, in a delegate
            return None
        return dequantized(values, detail)

    def _run(self, model: str | bytes) -> tuple[Interpreter, Arrays]:
        interpreter = Interpreter(model, custom_ops=self._custom_ops or None)
        outputs: Arrays = {}
        for call in self._job.calls:
            runner = interpreter.get_signature_runner(call.signature)
            takes: dict[str, Any] = runner.get_input_details()
            outputs = runner(**{name: quantized(value, takes[name]) for name, value in call.inputs.items()})
        return interpreter, outputs


def _detail(interpreter: Interpreter, index: int, subgraph: int) -> dict[str, Any]:
    native: Any = interpreter
    return native._get_tensor_details(index, subgraph)  # noqa: SLF001  the public one gives those of all tensors


def _change(found: Arrays, expected: Arrays) -> float:
    """Returns how far outputs are from the expected ones; 0 if they have the same bits."""
    changes = [0.0]
    for name, value in expected.items():
        a, b = np.asarray(found[name]), np.asarray(value)
        same = np.array_equal(a, b) if a.dtype == object else a.shape == b.shape and a.tobytes() == b.tobytes()
        if not same:
            # Zeros of the other sign and NaN of other bits have no measurable difference.
            changes.append(max(difference(a, b).error, sys.float_info.min))
    return max(changes)
