"""How LiteRT's kernels compute LSTMs in integers."""

from __future__ import annotations

from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.quantization.recurrent.inner_ranges import inner_ranges
from litefuse.conversion.quantization.recurrent.operands import CELL_STATE, LstmNumbers, lstm_ops
from litefuse.conversion.quantization.recurrent.quantized_forms import asymmetric, make_integers, symmetric
from litefuse.litert.export.editor import GraphEditor, Scale
from tests.ir.engine.faults.graph import Array, WrittenGraph, run
from tests.ir.engine.faults.reproducer import differ, reproducer

_BATCH, _STEPS, _INPUTS, _UNITS = 4, 3, 2, 8
_X: Array = np.random.default_rng(0).normal(size=(_BATCH, _STEPS, _INPUTS)).astype(np.float32)
# A few steps of int8.
_TOLERANCE = 0.05


def _float_lstm(outputs: int, *, peepholes: bool) -> bytes:
    graph, random = WrittenGraph(f"{_BATCH}x{_STEPS}x{_INPUTS}xf32"), np.random.default_rng(1)

    def weight(*sizes: int, mean: float = 0.0) -> Any:
        return graph.constant(random.normal(mean, 0.5, size=sizes))

    none = graph.none()
    operands = [
        *graph.inputs,
        *(weight(_UNITS, _INPUTS) for _ in range(4)),
        *(weight(_UNITS, outputs) for _ in range(4)),
    ]
    operands += [weight(_UNITS) if peepholes else none for _ in range(3)]
    operands += [weight(_UNITS, mean=2.0) for _ in range(4)]  # so that what is projected is above zero
    states = [
        graph.op("tfl.fill", [graph.constant([_BATCH, size]), graph.constant(0.0)], f"{_BATCH}x{size}xf32")
        for size in (outputs, _UNITS)
    ]
    operands += [weight(outputs, _UNITS), none, *states, *[none] * 4]
    options = {"fused_activation_function": "TANH", "cell_clip": 0.0, "proj_clip": 0.0, "time_major": False}
    shape = f"{_BATCH}x{_STEPS}x{outputs}xf32"
    return graph.returns(graph.op("tfl.unidirectional_sequence_lstm", operands, shape, **options)).model()


def _is_wrong(
    outputs: int, *, peepholes: bool = False, zero_point: bool = False, cell_exponent: int | None = None
) -> bool:
    """Whether integers give another result than floating point.

    Args:
        outputs: The size of the projection.
        peepholes: Whether there are any.
        zero_point: Whether what is projected has one.
        cell_exponent: That of the cell state's scale; None: what its range takes.
    """
    content = _float_lstm(outputs, peepholes=peepholes)
    (expected,) = run(content, _X)
    model: Any = schema.ModelT.InitFromPackedBuf(content, 0)
    graph = GraphEditor(model, 0)
    (op,) = lstm_ops(graph)
    start = np.zeros((_BATCH, outputs), np.float32), np.zeros((_BATCH, _UNITS), np.float32)
    inner = inner_ranges(LstmNumbers.of(graph, op), _X, *start)
    ends = [(float(each.min()), float(each.max())) for each in (_X, expected)]
    make_integers(graph, op, "lstm", inner, ends[0], ends[1])
    hidden: Scale = asymmetric(*inner.hidden) if zero_point else symmetric(max(map(abs, inner.hidden)), 8)
    parameters = graph.tensor(op.intermediates[4]).quantization
    parameters.scale, parameters.zeroPoint = [hidden.scale], [hidden.zero]
    if cell_exponent is not None:
        graph.tensor(op.inputs[CELL_STATE]).quantization.scale = [2.0**cell_exponent]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return differ(run(bytes(builder.Output()), _X), expected, tolerance=_TOLERANCE * float(np.abs(expected).max()))


@reproducer
def integer_peepholes() -> bool:
    return _is_wrong(_UNITS // 2, peepholes=True) and not _is_wrong(_UNITS, peepholes=True)


@reproducer
def projected_zero_point() -> bool:
    return _is_wrong(_UNITS, zero_point=True) and not _is_wrong(_UNITS)


@reproducer
def cell_state_of_other_ranges() -> bool:
    return _is_wrong(_UNITS, cell_exponent=-8) and not _is_wrong(_UNITS, cell_exponent=-9)
