"""Calibration: the ranges of a model's tensors."""

from __future__ import annotations

import importlib
import os
import struct
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.samples import WHERE, Calls
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Graph, Model
from litefuse.litert.runtime.schema_objects import dtype_of, tensor_name

Ranges = dict[str, dict[str, npt.NDArray[np.float32]]]
"""The minimum and maximum of each tensor, ``min`` and ``max`` of shape ``[1]``, by the tensor's name."""

OnSample: TypeAlias = Callable[[Ranges, int, int], None]
"""A function of the ranges until now, and of the sample's number, from 1, among those of its signature."""


def ranges_of(path: Path, calls: Calls, on_sample: OnSample = lambda _ranges, _number, _count: None) -> Ranges:
    """Returns the ranges of all tensors of a model over all calls, also in loops and branches.

    TFLiteConverter calibrates in the same way. litert-quantizer's own calibration averages ranges over calls, and lacks
    kernels of custom ops; as there, LiteRT itself observes the tensors after each op.

    All calls are of one interpreter. Signatures that only reset states come first; those that only read them come last,
    and in turn after each call of those that change them, so that they see all that the states become.

    Raises:
        InterpreterError: The model does not run on a sample.
    """
    ranges: Ranges = {}
    effects = _effects(path, calls)
    readers = [signature for signature, effect in effects.items() if effect is _Effect.READS and calls[signature]]
    calibration = _Calibration(path, calls, ranges)
    for signature in sorted(effects, key=lambda key: effects[key].value):
        of_signature = calls[signature]
        for number in range(1, len(of_signature) + 1):
            calibration.call(signature, number)
            for reader in readers if effects[signature] is _Effect.WRITES else ():
                calibration.call(reader, (number - 1) % len(calls[reader]) + 1)
            on_sample(ranges, number, len(of_signature))
        ranges |= ranges_of_prepared(path, calibration.interpreter, signature, ranges)
    return ranges


class _Effect(Enum):
    """The effect of a signature on states, in the order of calibration."""

    RESETS = 0
    WRITES = 1
    READS = 2
    NONE = 3


def _effects(path: Path, signatures: Collection[str]) -> dict[str, _Effect]:
    with content_of(path) as content:
        model = Model(content)
        return {key: _effect(model.graphs[model.signatures[key].graph]) for key in signatures}


def _effect(graph: Graph) -> _Effect:
    written = [op.inputs[1] for op in graph.ops if op.name == "ASSIGN_VARIABLE"]
    if any(op.callees and op.name != "CALL_ONCE" for op in graph.ops):
        return _Effect.WRITES  # or what it calls may do so
    if not written:
        return _Effect.READS if any(op.name == "READ_VARIABLE" for op in graph.ops) else _Effect.NONE
    constants = {*derived_of_constants(graph)}
    resets = all(graph.is_constant(value) or value in constants for value in written)
    return _Effect.RESETS if resets else _Effect.WRITES


class _Calibration:
    """An interpreter that widens ranges in each call.

    Args:
        path: A LiteRT model.
        calls: Calls of its signatures.
        ranges: The ranges, which change.
    """

    def __init__(self, path: Path, calls: Calls, ranges: Ranges) -> None:
        self.interpreter: Any = Interpreter(
            path,
            num_threads=os.cpu_count(),
            # Where XNNPACK fuses several ops, the tensors between them must still be observed.
            experimental_disable_delegate_node_fusion=True,
            experimental_force_delegate_node_profiling=True,
        )
        self._calls = calls
        self._ranges = ranges
        self._runners: dict[str, tuple[Any, _Observed]] = {}

    def call(self, signature: str, number: int) -> None:
        """Calls a signature with one of its samples, which are numbered from 1."""
        if signature not in self._runners:
            runner: Any = self.interpreter.get_signature_runner(signature)
            observed = _Observed(self.interpreter, runner._interpreter_wrapper)  # noqa: SLF001
            runner._interpreter_wrapper = observed  # noqa: SLF001  the object whose Invoke the runner calls
            self._runners[signature] = runner, observed
        runner, observed = self._runners[signature]
        try:
            runner(**self._calls[signature][number - 1])
        except (LitefuseError, RuntimeError, ValueError) as error:
            raise InterpreterError(
                f"the model does not run on it: {error}", where=f"{WHERE}, sample {number} of {signature!r}"
            ) from error
        _widen(self._ranges, observed.ranges)


def with_ends_of_rank(rank: int, ranges: Ranges) -> Ranges:
    """Returns ranges whose ends have a rank: 1, or 0, as litert-quantizer needs them.

    It brings the scale that an op's constants take from a result to their rank, by one axis more for each of theirs: a
    scale of rank 1 becomes one of 4 where they have 3, and is refused.

    Args:
        rank: The rank, 0 or 1.
        ranges: The ranges of a model's tensors.
    """
    return {
        name: {end: np.reshape(value, [1] * rank) for end, value in range_.items()} for name, range_ in ranges.items()
    }


def check_finite(ranges: Ranges, apart: Collection[str]) -> None:
    """Checks that all tensors have finite ranges.

    Args:
        ranges: The ranges of a model's tensors.
        apart: The tensors that need no range.

    Raises:
        InterpreterError: A tensor is not finite.
    """
    for name, range_ in ranges.items():
        if name not in apart and not np.isfinite([range_["min"], range_["max"]]).all():
            raise InterpreterError(
                f"the tensor {name!r} is not finite on the samples, and has no range",
                where=WHERE,
                hint="Where the model masks with infinity that it computes, a large constant does as well.",
            )


class _Observed:
    """The native interpreter, observed while it runs.

    Attributes:
        ranges: The ranges of the last run, by the tensors' names.
    """

    ranges: Mapping[str, Any]

    def __init__(self, interpreter: Any, binding: Any) -> None:
        self._binding = binding
        self._handle = interpreter._native_handle()  # noqa: SLF001  as litert-quantizer does
        self._invoke: Any = importlib.import_module("ai_edge_litert._pywrap_tfl_calibration").InvokeWithCalibration

    def __getattr__(self, name: str) -> Any:
        return getattr(self._binding, name)

    def Invoke(self, subgraph: int) -> None:  # noqa: N802  the native interpreter's name for it
        self.ranges = self._invoke(self._handle, subgraph)


def _widen(ranges: Ranges, found: Mapping[str, Any]) -> None:
    for name, observed in found.items():
        known = ranges.get(name, {"min": np.full(1, np.inf, np.float32), "max": np.full(1, -np.inf, np.float32)})
        ranges[name] = {"min": np.minimum(known["min"], observed.min), "max": np.maximum(known["max"], observed.max)}


#: The ops whose results depend on the shapes of their operands alone.
OF_SHAPES = frozenset({"RANK", "SHAPE"})


def ranges_of_prepared(
    path: Path, interpreter: Any, signature: str, known: Container[str]
) -> dict[str, dict[str, npt.NDArray[np.float32]]]:
    """Returns the ranges of a signature's tensors that depend on constants and shapes alone.

    LiteRT computes these once, while it prepares a model, and keeps them between calls, such as a class token that is
    repeated by the batch: calibration observes nothing of them.
    """
    ranges: dict[str, dict[str, npt.NDArray[np.float32]]] = {}
    with content_of(path) as content:
        model = Model(content)
        number = model.signatures[signature].graph
        graph = model.graphs[number]
        for index in derived_of_constants(graph):
            tensor = graph.tensor(index)
            if tensor.dtype != np.float32 or tensor.name in known:
                continue
            values = interpreter.get_tensor(index, number)
            if values.size:
                ranges[tensor.name] = {
                    "min": values.min(keepdims=True).ravel(),
                    "max": values.max(keepdims=True).ravel(),
                }
    return ranges


def read_once(path: Path) -> set[str]:
    """Returns the names of the tensors that depend on constants and shapes alone, and that one operand reads.

    A file that cannot be read has none: litert-quantizer says what is wrong with it.
    """
    names: set[str] = set()
    with content_of(path) as content, suppress(struct.error, IndexError, ValueError):
        for graph in Model(content).graphs:
            readers = Counter(operand for op in graph.ops for operand in op.inputs) + Counter(graph.outputs)
            names |= {graph.tensor(index).name for index in derived_of_constants(graph) if readers[index] == 1}
    return names


def derived_of_constants(graph: Graph) -> Iterator[int]:
    """Yields the results of ops of builtin kinds that depend on constants and shapes alone, in the order of the ops."""
    derived: set[int] = set()
    for op in graph.ops:
        if op.custom or op.callees:
            continue
        operands = () if op.name in OF_SHAPES else op.inputs
        if all(operand < 0 or operand in derived or graph.is_constant(operand) for operand in operands):
            yield from op.outputs
            derived.update(op.outputs)


def ranges_of_empty_tensors(model: Any) -> Ranges:
    """Returns ranges of the tensors without elements, which have none in any call: 0 to 0."""
    zero = np.zeros(1, np.float32)
    return {
        tensor_name(tensor): {"min": zero, "max": zero}
        for graph in model.subgraphs
        for tensor in graph.tensors
        if tensor.shape is not None and 0 in tensor.shape and dtype_of(tensor) == "float32"
    }
