"""LSTM layers in integers: their fused op stays fused, and gives nearly the same numbers, in every call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.tensorflow import recurrent_models
from tests.tensorflow.checking import check
from tests.tensorflow.recurrent_models import Case

if TYPE_CHECKING:
    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

# The outputs of LSTMs are at most 1: a few of the 255 steps that they take in int8.
TOLERANCE = 0.03

CASES = [
    Case("keras", "sequence LSTM", None, None),
    Case("keras", "last LSTM", None, 6),
    Case("keras", "stack LSTM", 1, 6),
    Case("keras", "bidirectional LSTM", None, 6),
    Case("keras", "backwards LSTM", 1, 6),
    Case("keras", "return_state LSTM", None, 6),
    Case("keras", "initial_state LSTM", 1, 6),
    Case("keras", "initial_state LSTM", None, None),
    Case("keras", "no_bias LSTM", 1, 6),
    Case("keras", "unrolled LSTM", None, 6),
    Case("tf_keras", "stack LSTM", 1, 6),
    Case("tf_keras", "return_state LSTM", None, None),
    Case("v1", "dynamic LSTM", None, 6),
]


def samples(case: Case, number: int = 60) -> list[dict[str, npt.NDArray[Any]]]:
    """Inputs like those of the calls, of other numbers."""
    return [each for seed in range(number) for each in recurrent_models.inputs(case, 100 + seed)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_layers(tensorflow: TensorFlow, case: Case) -> None:
    result = check(
        tensorflow,
        tensorflow.save(recurrent_models.build, *case),
        recurrent_models.inputs(case),
        rtol=TOLERANCE,
        rnn="fused",
        quantize="int8",
        representative_dataset=samples(case),
    )
    assert result.report.op_counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] >= 1
    assert "WHILE" not in result.report.op_counts
    assert lstm_dtypes(result.model_bytes) == {("int8", "int8", "int8", "int16", "int8")}


def lstm_dtypes(model: bytes) -> set[tuple[str, ...]]:
    """The dtypes of each LSTM op's input, weights, states and output."""
    from litefuse.inputs.graph import Model

    return {
        tuple(
            str(graph.tensor(index).dtype) for index in (*(op.inputs[each] for each in (0, 2, 18, 19)), op.outputs[0])
        )
        for graph in Model(model).graphs
        for op in graph.ops
        if op.name == "UNIDIRECTIONAL_SEQUENCE_LSTM"
    }
