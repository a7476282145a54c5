"""Measurement of the quantization error in LiteRT: of the outputs before and after, and of the tensors inside."""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.litert_quantizer import not_run
from litefuse.conversion.quantization.samples import Calls, Inputs
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.litert.inputs.model_inputs import LEVELS, OTHER_NUMBERS, Manner, ModelInputs, signatures_to_call
from litefuse.litert.results.difference import movement
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.interpreter import Interpreter, without_large_copies
from litefuse.litert.runtime.model_reader import Graph, Model, Op
from litefuse.litert.runtime.scales import dequantized, quantized
from litefuse.support.report.quantized import (
    FloatOp,
    LayerDifference,
    MixedPrecision,
    MovingRange,
    OpKinds,
    OutputDifference,
)

#: How many samples of each signature are compared.
COMPARED_SAMPLES = 16
# So many if it has states, in which errors may grow from call to call.
_COMPARED_OF_STATES = 256


class Difference(NamedTuple):
    """The effect of quantization on a model's outputs.

    Attributes:
        error: The largest difference, on random inputs of each signature or on samples, relative to the largest
            element of each output; None if it was not measured.
        unchecked: Why it was not measured, or which outputs did not change with the inputs.
        outputs: The difference of each output; empty if it was not measured.
        kinds: The number of ops by the numbers that they compute with.
        floats: The ops that stayed in floating point; see ``float_ops.OpsByKind``.
        moving: The tensors whose ranges still grew at the last samples.
        samples: The number of samples; 0 if there were none.
        layers: The difference of each tensor inside, if that was requested.
        mixed: The forms that automatic mixed precision chose.
        inputs: The inputs it was measured on, for reports.
    """

    error: float | None
    unchecked: str | None = None
    outputs: tuple[OutputDifference, ...] = ()
    kinds: OpKinds = OpKinds()
    floats: tuple[FloatOp, ...] = ()
    moving: tuple[MovingRange, ...] = ()
    samples: int = 0
    layers: tuple[LayerDifference, ...] = ()
    mixed: MixedPrecision | None = None
    inputs: str = "random inputs"


def difference_on_random_inputs(before: Path, after: Path) -> Difference:
    """Returns the difference between two models on random inputs drawn for the first one's graph.

    Each signature is called twice, and again with other numbers while an output does not change: the comparison of
    constant outputs proves nothing.

    Raises:
        LitefuseError: LiteRT runs the first, but not the second.
    """
    inputs = ModelInputs.of_file(before)
    unchecked = ""
    for size, limit in product(_OPEN_SIZES, LEVELS):
        try:
            calls, expected = _drawn(before, inputs, size, limit)
        except _NOT_RUN as reason:
            message = reason.message if isinstance(reason, LitefuseError) else reason
            unchecked = unchecked or f"the model does not run on random inputs: {message}"
            continue
        still = _still(inputs, expected)
        moving = sum(len(inputs.moving[key]) for key in calls)
        if moving and len(still) == moving:
            return Difference(None, "no output changes with random inputs, so they prove nothing")
        differences = _difference_of(expected, after, calls)
        return differences._replace(unchecked=f"{', '.join(still)} did not move with them") if still else differences
    return Difference(None, unchecked)


def calls_of_random_inputs(before: Path) -> Calls:
    """Returns calls of each signature with inputs drawn for the graph; none if the model does not run on any."""
    inputs = ModelInputs.of_file(before)
    for size, limit in product(_OPEN_SIZES, LEVELS):
        with suppress(*_NOT_RUN):
            return _drawn(before, inputs, size, limit)[0]
    return {}


def _drawn(before: Path, inputs: ModelInputs, size: int, limit: int | None) -> tuple[Calls, list[_Outputs]]:
    """Draws calls of all signatures, more while outputs do not change; returns them with the model's outputs."""
    random = Random(0)
    drawers = {key: inputs.drawer(key, random) for key in signatures_to_call(before, inputs)}
    takes = _takes(before)

    def draw(key: str, manner: Manner) -> dict[str, npt.NDArray[Any]]:
        drawn = drawers[key].draw(inputs.shapes(key, batch=1, size=size), manner._replace(limit=limit))
        return {name: dequantized(value, takes[key][name]) for name, value in drawn.items()}

    calls: Calls = {key: [draw(key, Manner()), draw(key, Manner())] for key in drawers}
    expected = list(_outputs(before, calls))
    for manner in OTHER_NUMBERS:
        if not _still(inputs, expected):
            break
        more = {key: [*drawn, draw(key, manner)] for key, drawn in calls.items()}
        with suppress(*_NOT_RUN):  # the model may reject such numbers
            expected = list(_outputs(before, more))
            calls = more
    return calls, expected


def _takes(path: Path) -> dict[str, Any]:
    interpreter = Interpreter(path)
    return {key: interpreter.get_signature_runner(key).get_input_details() for key in interpreter.get_signature_list()}


def _still(inputs: ModelInputs, outputs: Sequence[_Outputs]) -> list[str]:
    """Returns the outputs that depend on inputs, but are the same in all calls."""
    first: _Outputs = {}
    moved: set[tuple[str, str]] = set()
    for output in outputs:
        for key, value in output.items():
            if movement(first.setdefault(key, value), value) > _LEAST_MOVEMENT:
                moved.add(key)
    return [name for key, name in first if name in inputs.moving[key] and (key, name) not in moved]


class Reference:
    """The outputs of a model on the first samples of each signature, with which others are compared.

    Args:
        before: The model.
        calls: The samples.
        count: How many of each signature are taken; None for as many as tell the error.

    Raises:
        LitefuseError: LiteRT does not run the model.
    """

    def __init__(self, before: Path, calls: Calls, count: int | None = None) -> None:
        count = count or (_COMPARED_OF_STATES if _has_states(before) else COMPARED_SAMPLES)
        self._calls = {key: inputs[:count] for key, inputs in calls.items()}
        self._expected = list(_outputs(before, self._calls))

    def difference(self, after: Path) -> Difference:
        """Returns the difference of another model.

        Raises:
            LitefuseError: LiteRT does not run it.
        """
        return _difference_of(self._expected, after, self._calls)


def _has_states(path: Path) -> bool:
    with content_of(path) as content:
        return any(op.name == "ASSIGN_VARIABLE" for graph in Model(content).graphs for op in graph.ops)


# The sizes tried for dynamic dimensions other than the first: few image models, for example, take the smallest.
_OPEN_SIZES = (1, 32, 224)
# How much an output has to change, relative to its largest element.
_LEAST_MOVEMENT = 1e-4
# The exceptions of LiteRT when it rejects a model or a call.
_NOT_RUN = (LitefuseError, RuntimeError, ValueError)

_Outputs: TypeAlias = dict[tuple[str, str], npt.NDArray[Any]]


def _difference_of(expected: Sequence[_Outputs], after: Path, calls: Calls) -> Difference:
    try:
        outputs_after = list(_outputs(after, calls))
    except _NOT_RUN as error:
        raise not_run(error, after) from error
    pairs = list(zip(expected, outputs_after, strict=True))
    outputs = tuple(
        OutputDifference(*key, *_difference((one[key], other[key]) for one, other in pairs if key in one))
        for key in dict.fromkeys(itertools.chain.from_iterable(expected))
    )
    # Unlike the builtin function, numpy's passes on what is not a number.
    return Difference(float(np.max([output.error for output in outputs], initial=0.0)), outputs=outputs)


def _outputs(path: Path, calls: Calls) -> Iterator[_Outputs]:
    """Yields the outputs of each call of all signatures, dequantized, by signature and name."""
    interpreter = Interpreter(path, **without_large_copies(path))
    for key, of_signature in calls.items():
        runner = interpreter.get_signature_runner(key)
        takes, gives = runner.get_input_details(), runner.get_output_details()
        for inputs in of_signature:
            outputs = runner(**{name: quantized(value, takes[name]) for name, value in inputs.items()})
            yield {(key, name): dequantized(np.array(value), gives[name]) for name, value in outputs.items()}


def _difference(pairs: Iterable[tuple[npt.NDArray[Any], npt.NDArray[Any]]]) -> tuple[float, float]:
    """Returns the largest difference of an output in any call, and its mean over all; see :class:`OutputDifference`."""
    largest = total = size = 0.0
    for before, after in pairs:
        if before.dtype.kind in "OSU" or not before.size:
            continue
        wide = np.complex128 if before.dtype.kind == "c" else np.float64
        sizes = np.abs(before.astype(wide))
        errors = np.abs(before.astype(wide) - after.astype(wide))
        error = float(errors.max()) / (float(sizes.max()) or 1.0)
        largest = error if math.isnan(error) else max(largest, error)
        total += float(errors.sum())
        size += float(sizes.sum())
    return largest, total / (size or 1.0)


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
    return tuple(layer for key in calls for layer in _of_signature(before, after, key, calls[key][:COMPARED_SAMPLES]))


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
            for observed in (first, second):
                observed.run(inputs, number)
            for result, partner in compared.items():
                expected, actual = first.values(result), second.values(partner)
                if expected is not None and actual is not None and expected.shape == actual.shape:
                    squares = np.square(np.abs(expected - actual)).sum(), np.square(np.abs(expected)).sum()
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
                f"the model does not run without the delegate, so its layers cannot be compared: {error}",
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
