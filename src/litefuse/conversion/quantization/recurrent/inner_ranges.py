"""The ranges inside LSTM ops, which they do not expose: the op in numpy, on what it gets in a model's calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from ai_edge_litert.interpreter import OpResolverType

from litefuse.conversion.quantization.recurrent.operands import (
    BIASES,
    CELL_STATE,
    INPUT,
    INPUT_WEIGHTS,
    NORMALIZATIONS,
    OUTPUT_STATE,
    PEEPHOLES,
    PROJECTION,
    PROJECTION_BIAS,
    RECURRENT_WEIGHTS,
    LstmNumbers,
)
from litefuse.conversion.quantization.samples import Calls
from litefuse.litert.export.editor import GraphEditor
from litefuse.litert.runtime.interpreter import Interpreter

_Array = npt.NDArray[Any]

# LiteRT's guard against a variance of zero (kernels/internal/reference/portable_tensor_utils.cc).
_VARIANCE = np.float32(1e-8)
_I, _F, _C, _O = range(4)


class InnerRanges(NamedTuple):
    """Ranges over all steps and calls.

    Attributes:
        cell: The largest absolute value of the cell state.
        initial: The least and the largest output before the first step, which has the scale of the outputs.
        hidden: The least and the largest output of the cells, before a projection.
        gates: The largest absolute value of each gate's sum before it is normalized, input, forget, cell and output.
    """

    cell: float
    initial: tuple[float, float]
    hidden: tuple[float, float]
    gates: tuple[float, float, float, float]

    def widened(self, other: InnerRanges) -> InnerRanges:
        """Returns the ranges of both."""
        gates: Any = tuple(map(max, self.gates, other.gates))
        initial, hidden = _joined(self.initial, other.initial), _joined(self.hidden, other.hidden)
        return InnerRanges(max(self.cell, other.cell), initial, hidden, gates)


def inner_ranges(numbers: LstmNumbers, x: _Array, h: _Array, c: _Array) -> InnerRanges:
    """Computes the op on an input, and returns the ranges of what is inside.

    Args:
        numbers: The op's weights and options.
        x: ``[batch, time, inputs]``, or ``[time, batch, inputs]`` if it is time-major; of one step,
            ``[batch, inputs]``.
        h: The output before the first step ``[batch, n]``.
        c: The cell state before it ``[batch, u]``.
    """
    weights: dict[int, Any] = {**numbers.constants}
    given: Any = x
    steps: Any = given[None] if x.ndim == 2 else given if numbers.time_major else given.swapaxes(0, 1)
    hidden: Any = np.zeros((1, 1), np.float32)
    initial = _ends(h)
    ranges = InnerRanges(_largest(c), initial, (0.0, 0.0), (0.0, 0.0, 0.0, 0.0))
    for step in steps:
        sums: list[_Array] = [np.zeros(0, np.float32)] * 4

        def gate(index: int, cell: _Array | None, x: _Array = step, h: _Array = h, sums: list[_Array] = sums) -> _Array:
            total = x @ weights[INPUT_WEIGHTS[index]].T + h @ weights[RECURRENT_WEIGHTS[index]].T
            peephole = weights.get(PEEPHOLES[{_I: 0, _F: 1}.get(index, 2)]) if cell is not None else None
            if peephole is not None and cell is not None:
                total = total + peephole * cell
            sums[index] = total
            if numbers.normalized:
                centered = total - total.mean(-1, keepdims=True)
                deviation = np.sqrt((centered**2).mean(-1, keepdims=True) + _VARIANCE)
                total = centered / deviation * weights[NORMALIZATIONS[index]]
            return total + weights[BIASES[index]]

        forget = _sigmoid(gate(_F, c))
        update = _sigmoid(gate(_I, c)) if INPUT_WEIGHTS[_I] in weights else 1 - forget
        c = forget * c + update * np.tanh(gate(_C, None))
        if numbers.cell_clip > 0:
            c = np.clip(c, -numbers.cell_clip, numbers.cell_clip)
        hidden = _sigmoid(gate(_O, c)) * np.tanh(c)
        h = hidden
        if numbers.projected:
            h = hidden @ weights[PROJECTION].T + weights.get(PROJECTION_BIAS, np.float32(0))
            if numbers.projection_clip > 0:
                h = np.clip(h, -numbers.projection_clip, numbers.projection_clip)
        ranges = ranges.widened(InnerRanges(_largest(c), initial, _ends(hidden), (*map(_largest, sums),)))  # pyright: ignore[reportArgumentType]
    return ranges


def _ends(value: _Array) -> tuple[float, float]:
    return float(value.min(initial=0)), float(value.max(initial=0))


def _joined(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return min(one[0], other[0]), max(one[1], other[1])


def _largest(value: _Array) -> float:
    return float(np.abs(value).max(initial=0))


def _sigmoid(value: _Array) -> _Array:
    return (1 + np.tanh(value / 2)) / 2


def observed_ranges(
    path: Path,
    ops: Mapping[int, list[Any]],
    graphs: Mapping[int, GraphEditor],
    signatures: Mapping[str, int],
    calls: Calls,
) -> dict[str, InnerRanges]:
    """Returns the ranges inside LSTM ops over all calls, by the names of the ops' outputs.

    Args:
        path: The model in floating point.
        ops: The ops of each graph.
        graphs: The graphs.
        signatures: The graph of each signature.
        calls: The calls.
    """
    by_output: dict[str, InnerRanges] = {}
    for signature, of_signature in calls.items():
        graph = graphs.get(signatures[signature])
        if graph is None or not ops.get(signatures[signature]):
            continue
        # Without delegates, each op's result is kept as it was.
        interpreter: Any = Interpreter(
            path,
            experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
            experimental_preserve_all_tensors=True,
        )
        runner: Any = interpreter.get_signature_runner(signature)
        lstms = [(op, LstmNumbers.of(graph, op)) for op in ops[signatures[signature]]]
        for inputs in of_signature:
            runner(**inputs)

            def read(index: int, where: int = signatures[signature], interpreter: Any = interpreter) -> Any:
                return interpreter.get_tensor(index, where)

            for op, numbers in lstms:
                ranges = inner_ranges(numbers, read(op.inputs[INPUT]), *_states(graph, op, read))
                name = graph.name(op.outputs[0])
                by_output[name] = ranges.widened(by_output[name]) if name in by_output else ranges
    return by_output


def _states(graph: GraphEditor, op: Any, read: Any) -> Iterator[npt.NDArray[np.float32]]:
    """Yields the states before the first step: the op has changed their memory, so it is computed once more."""
    for position in (OUTPUT_STATE, CELL_STATE):
        shape = read(op.inputs[position]).shape
        producer = graph.producer(op.inputs[position])
        if producer is None:
            yield np.zeros(shape, np.float32)
        elif graph.kind(producer) == "FILL":
            yield np.full(shape, read(producer.inputs[1]), np.float32)
        else:  # BROADCAST_TO
            yield np.broadcast_to(read(producer.inputs[0]), shape).astype(np.float32)
