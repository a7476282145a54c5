"""The operands of UNIDIRECTIONAL_SEQUENCE_LSTM and LSTM, by their positions in the op (LiteRT's lstm_shared.h)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from litefuse.litert.export.editor import GraphEditor
from litefuse.litert.runtime.model_tables import ACTIVATIONS

INPUT = 0
#: Four each: of the input, forget, cell and output gate.
INPUT_WEIGHTS = range(1, 5)
RECURRENT_WEIGHTS = range(5, 9)
#: Of the input, forget and output gate.
PEEPHOLES = range(9, 12)
BIASES = range(12, 16)
PROJECTION = 16
PROJECTION_BIAS = 17
OUTPUT_STATE = 18
CELL_STATE = 19
NORMALIZATIONS = range(20, 24)

#: The names of the ops.
LSTMS = ("UNIDIRECTIONAL_SEQUENCE_LSTM", "LSTM")
_GATES = "ifco"
_PEEPHOLES = "ifo"
#: Short names of the constant operands, by position: they are much of a small file.
OPERANDS = {
    **{position: f"kernel_{gate}" for position, gate in zip(INPUT_WEIGHTS, _GATES, strict=True)},
    **{position: f"recurrent_{gate}" for position, gate in zip(RECURRENT_WEIGHTS, _GATES, strict=True)},
    **{position: f"peephole_{gate}" for position, gate in zip(PEEPHOLES, _PEEPHOLES, strict=True)},
    **{position: f"bias_{gate}" for position, gate in zip(BIASES, _GATES, strict=True)},
    PROJECTION: "projection",
    PROJECTION_BIAS: "projection_bias",
    **{position: f"scale_{gate}" for position, gate in zip(NORMALIZATIONS, _GATES, strict=True)},
}

_COUNT = 24


@dataclass(frozen=True)
class LstmNumbers:
    """The constants and options of one op, for n outputs and u cells.

    Attributes:
        constants: The constants by position; those that are absent have no entry.
        cell_clip: The cell state's largest absolute value; 0 for no limit.
        projection_clip: The projection's; 0 for no limit.
        time_major: Whether the input is time-major.
    """

    constants: dict[int, npt.NDArray[np.float32]]
    cell_clip: float
    projection_clip: float
    time_major: bool

    @property
    def normalized(self) -> bool:
        """Whether the sums of the gates are normalized."""
        return NORMALIZATIONS[1] in self.constants

    @property
    def projected(self) -> bool:
        """Whether the output is a projection of the cells'."""
        return PROJECTION in self.constants

    @classmethod
    def of(cls, graph: GraphEditor, op: Any) -> LstmNumbers:
        """Reads an op whose weights are float32."""
        positions = [
            position for position in range(len(op.inputs)) if position not in {INPUT, OUTPUT_STATE, CELL_STATE}
        ]
        values = {position: graph.constant(op.inputs[position]) for position in positions}
        options = op.builtinOptions
        return cls(
            {position: value for position, value in values.items() if value is not None},
            float(options.cellClip),
            float(options.projClip),
            bool(getattr(options, "timeMajor", False)),
        )


def lstm_ops(graph: GraphEditor) -> Iterator[Any]:
    """Yields the ops with float32 inputs and weights: over all steps, or of one."""
    for op in [*graph.ops]:
        if graph.kind(op) in LSTMS and all(
            graph.is_type(op.inputs[position], "float32") for position in (INPUT, INPUT_WEIGHTS[1])
        ):
            yield op


def cell_reads(graph: GraphEditor, op: Any) -> Iterator[Any]:
    """Yields the CONCATENATION ops that read the last cell state, which the op leaves in the memory of its operand.

    Between them may be a copy, MAXIMUM of the state and itself.
    """
    states = [int(op.inputs[CELL_STATE])]
    for state in states:  # grows
        for consumer in graph.consumers(state):
            if graph.kind(consumer) == "CONCATENATION":
                yield consumer
            elif is_copy(graph, consumer):
                states.append(int(consumer.outputs[0]))


def is_copy(graph: GraphEditor, op: Any | None) -> bool:
    """Whether an op copies a tensor, as litefuse has it copied: the maximum of it and itself."""
    if op is None or graph.kind(op) != "MAXIMUM":
        return False
    return len({int(input_) for input_ in op.inputs}) == 1


def reason_for_float(graph: GraphEditor, op: Any, *, hybrid: bool = False) -> str | None:
    """Returns why LiteRT has no integer form of an op; None if it has one.

    Args:
        graph: The op's graph.
        op: The op.
        hybrid: Whether it is about integers for the weights alone.
    """
    options = op.builtinOptions
    if len(op.inputs) != _COUNT:
        return f"it has {len(op.inputs)} operands in place of {_COUNT}"
    if not hybrid and ACTIVATIONS.get(options.fusedActivationFunction) != "TANH":
        return "LiteRT has integers only for the activation tanh"
    if getattr(options, "diagonalRecurrentTensors", False) or len(graph.shape(op.inputs[RECURRENT_WEIGHTS[1]])) != 2:
        return "LiteRT has no integers for recurrent weights that are vectors"
    units = graph.shape(op.inputs[BIASES[1]])
    if not hybrid and op.inputs[PEEPHOLES[1]] >= 0 and graph.shape(op.inputs[OUTPUT_STATE])[1:] != units:
        # The fault `integer-peepholes`.
        return "LiteRT's integers for peepholes are wrong where a projection has another size than the cells"
    given = {*range(1, 18), *NORMALIZATIONS}
    if any(op.inputs[position] >= 0 and graph.constant(op.inputs[position]) is None for position in given):
        return "its weights are computed"
    return None
