"""The difference that quantization makes inside a model, tensor by tensor."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.difference import COMPARED_SAMPLES
from litefuse.conversion.quantization.lazy_calls import Calls, Inputs
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Graph, Model, Op
from litefuse.litert.runtime.scales import dequantized, quantized
from litefuse.support.report.quantized import LayerDifference

__all__ = ["layer_differences"]


def layer_differences(before: Path, after: Path, calls: Calls) -> tuple[LayerDifference, ...]:
    """Compares the tensors of two models that have the same names, in the main subgraph of each signature.

    Both run with LiteRT's builtin kernels, without the delegate, whose results inside cannot be read.

    Args:
        before: The model.
        after: The quantized model.
        calls: Calls of each signature, of which the first 16 are made.

    Returns:
        The differences in the order of the model before.

    Raises:
        InterpreterError: One of the two does not run.
    """
    return tuple(each for key in calls for each in _of_signature(before, after, key, calls[key][:COMPARED_SAMPLES]))


def _of_signature(before: Path, after: Path, key: str, calls: Any) -> Iterator[LayerDifference]:
    with content_of(before) as content, content_of(after) as other_content:
        model, other = Model(content), Model(other_content)
        index, other_index = model.signatures[key].graph, other.signatures[key].graph
        graph, others = model.graphs[index], other.graphs[other_index]
        names = {others.tensor(output).name: output for op in others.ops for output in op.outputs}
        compared = {
            result: names[name]
            for op in graph.ops
            for result in op.outputs
            if (name := graph.tensor(result).name) in names and _is_real(graph, result)
        }
        first, second = _Observed(before, key, index), _Observed(after, key, other_index)
        sums: dict[int, npt.NDArray[np.float64]] = {}
        for number, inputs in enumerate(calls, 1):
            for each in (first, second):
                each.run(inputs, number)
            for result, partner in compared.items():
                expected, found = first.values(result), second.values(partner)
                if expected is not None and found is not None and expected.shape == found.shape:
                    squares = np.square(np.abs(expected - found)).sum(), np.square(np.abs(expected)).sum()
                    sums[result] = sums.get(result, np.zeros(2)) + squares
        errors = {result: math.sqrt(error / (size or 1.0)) for result, (error, size) in sums.items()}
        dtypes = {result: str(others.tensor(partner).dtype) for result, partner in compared.items()}
        yield from _differences(graph, key, errors, dtypes)


def _differences(graph: Graph, key: str, errors: dict[int, float], dtypes: dict[int, str]) -> Iterator[LayerDifference]:
    nearest = dict(errors)  # of a tensor that is not compared, the largest error of what it is computed from
    for op in graph.ops:
        given = max((nearest.get(input_, 0.0) for input_ in op.inputs), default=0.0)
        for result in op.outputs:
            if result in errors:
                error = errors[result]
                yield LayerDifference(
                    key, graph.tensor(result).name, _name(op), dtypes[result], error, max(error - given, 0.0)
                )
            else:
                nearest[result] = given


def _name(op: Op) -> str:
    return op.composite or op.name


def _is_real(graph: Graph, index: int) -> bool:
    dtype = graph.tensor(index).dtype
    return dtype is not None and dtype.kind in "fc"


class _Observed:
    """A model whose tensors are all kept."""

    def __init__(self, path: Path, key: str, subgraph: int) -> None:
        litert: Any = importlib.import_module("ai_edge_litert.interpreter")
        self._interpreter = Interpreter(
            path,
            experimental_op_resolver_type=litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
            experimental_preserve_all_tensors=True,
        )
        self._runner = self._interpreter.get_signature_runner(key)
        self._takes: Any = self._runner.get_input_details()
        self._key = key
        self._subgraph = subgraph
        self._details: dict[int, Any] = {}

    def run(self, inputs: Inputs, number: int) -> None:
        try:
            self._runner(**{name: quantized(value, self._takes[name]) for name, value in inputs.items()})
        except (LitefuseError, RuntimeError, ValueError) as error:
            raise InterpreterError(
                f"the model does not run without the delegate, so that its layers cannot be compared: {error}",
                where=f"sample {number} of {self._key!r}",
            ) from error
        if not self._details:
            details: Any = self._interpreter.get_tensor_details(self._subgraph)
            self._details = {detail["index"]: detail for detail in details}

    def values(self, index: int) -> npt.NDArray[Any] | None:
        """Returns the real numbers of a tensor after a run; None if the runtime frees it, as of what a loop returns."""
        try:
            value = self._interpreter.get_tensor(index, self._subgraph)
        except ValueError:
            return None
        value = dequantized(value, self._details[index])
        return value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)
