"""The hybrid form of LiteRT's recurrent ops: int8 weights, with inputs that LiteRT quantizes at each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from litefuse.conversion.quantization.recurrent.operands import (
    INPUT_WEIGHTS,
    OPERANDS,
    PEEPHOLES,
    PROJECTION,
    RECURRENT_WEIGHTS,
    LstmNumbers,
)
from litefuse.conversion.quantization.recurrent.scales import quantized, symmetric
from litefuse.litert.export.editor import GraphEditor

__all__ = ["make_hybrid", "make_hybrid_rnn"]

# The first version that quantizes inputs with a zero point.
_VERSION = 3


def make_hybrid(graph: GraphEditor, op: Any, name: str) -> None:
    """Makes int8 of the matrices and peepholes of a float op; all else stays in floating point.

    Args:
        graph: The op's graph.
        op: The op, whose weights are constants.
        name: What its new tensors are named after.
    """
    matrices = {*INPUT_WEIGHTS, *RECURRENT_WEIGHTS, *PEEPHOLES, PROJECTION}
    given = LstmNumbers.of(graph, op).constants
    _quantize(graph, op, {matrix: f"{name}/{OPERANDS[matrix]}" for matrix in matrices & given.keys()})


def make_hybrid_rnn(graph: GraphEditor, op: Any, name: str) -> None:
    """Makes int8 of the two matrices of UNIDIRECTIONAL_SEQUENCE_RNN, likewise."""
    weights = [int(op.inputs[each]) for each in (1, 2)]
    if all(graph.constant(weight) is not None and graph.is_type(weight, "float32") for weight in weights):
        _quantize(graph, op, {1: f"{name}/kernel", 2: f"{name}/recurrent"})


def _quantize(graph: GraphEditor, op: Any, names: dict[int, str]) -> None:
    inputs = [int(input_) for input_ in op.inputs]
    for position, name in sorted(names.items()):
        value = graph.constant(inputs[position])
        assert value is not None
        scale = symmetric(float(np.abs(value).max(initial=0)), 8)
        inputs[position] = graph.add_constant(name, quantized(value, scale, np.int8), scale)
    op.inputs = inputs
    op.builtinOptions.asymmetricQuantizeInputs = True
    graph.set_version(op, _VERSION)
