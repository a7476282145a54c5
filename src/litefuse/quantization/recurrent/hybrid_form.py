"""The hybrid form of LiteRT's LSTM op: int8 weights, with inputs that LiteRT quantizes at each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from litefuse.quantization.recurrent.editor import GraphEditor
from litefuse.quantization.recurrent.operands import (
    INPUT_WEIGHTS,
    OPERANDS,
    PEEPHOLES,
    PROJECTION,
    RECURRENT_WEIGHTS,
    LstmNumbers,
)
from litefuse.quantization.recurrent.scales import quantized, symmetric

__all__ = ["make_hybrid"]

# The first version that quantizes inputs with a zero point.
_VERSION = 3


def make_hybrid(graph: GraphEditor, op: Any, name: str) -> None:
    """Makes int8 of the matrices and peepholes of a float op; all else stays in floating point.

    Args:
        graph: The op's graph.
        op: The op, whose weights are constants.
        name: What its new tensors are named after.
    """
    inputs = [int(each) for each in op.inputs]
    for position, value in LstmNumbers.of(graph, op).constants.items():
        if position in {*INPUT_WEIGHTS, *RECURRENT_WEIGHTS, *PEEPHOLES, PROJECTION}:
            scale = symmetric(float(np.abs(value).max(initial=0)), 8)
            integers = quantized(value, scale, np.int8)
            inputs[position] = graph.add_constant(f"{name}/{OPERANDS[position]}", integers, scale)
    op.inputs = inputs
    op.builtinOptions.asymmetricQuantizeInputs = True
    graph.set_version(op, _VERSION)
