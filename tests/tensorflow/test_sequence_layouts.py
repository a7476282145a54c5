"""Recurrent layers without changes of the layout that nothing needs, and with few ops for their first states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

STEPS, FEATURES = 7, 3
LAYOUTS = ("RESHAPE", "TRANSPOSE")


def layers(tf: Any, form: str) -> Any:
    """A model of several recurrent layers, with random weights and biases."""
    k = tf.keras.layers
    x = tf.keras.Input((STEPS, FEATURES), name="x")
    outputs: Any
    if form == "stack":
        outputs = k.SimpleRNN(4)(k.LSTM(5, return_sequences=True)(k.LSTM(5, return_sequences=True)(x)))
    elif form == "both directions":
        hidden = k.Bidirectional(k.LSTM(4, return_sequences=True))(x)
        outputs = k.Bidirectional(k.SimpleRNN(5, return_sequences=True))(hidden)
    elif form == "states":
        hidden, h, c = k.LSTM(5, return_sequences=True, return_state=True)(x)
        outputs = [k.LSTM(5, return_sequences=True)(hidden, initial_state=[h, c]), h, c]
    else:
        hidden = k.Dense(4, "tanh")(k.LSTM(5, return_sequences=True)(x))
        outputs = k.LSTM(6, go_backwards=True, return_sequences=True)(hidden)
    model = tf.keras.Model(x, outputs)
    random = np.random.default_rng(6)
    model.set_weights([random.normal(0, 0.5, weight.shape) for weight in model.get_weights()])
    return model


def sequences(*batches: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(7)
    return [{"x": random.normal(size=(batch, STEPS, FEATURES)).astype(np.float32)} for batch in batches]


# The numbers of ops with a batch of 1, and with an open one.
FORMS = {"stack": (10, 18), "both directions": (16, 30), "states": (9, 23), "dense between": (9, 21)}


@pytest.mark.parametrize("form", FORMS)
def test_a_batch_of_one(tensorflow: TensorFlow, form: str) -> None:
    result = check(tensorflow, tensorflow.save(layers, form), sequences(1, 1), batch=1)
    assert not {*LAYOUTS} & set(result.report.op_counts)
    assert sum(result.report.op_counts.values()) == FORMS[form][0]


@pytest.mark.parametrize("form", FORMS)
def test_open_batch(tensorflow: TensorFlow, form: str) -> None:
    result = check(tensorflow, tensorflow.save(layers, form), sequences(1, 3, 1, 8))
    assert result.report.op_counts["PACK"] <= 4
    assert sum(result.report.op_counts.values()) == FORMS[form][1]


def test_a_larger_batch_stays_behind_the_steps(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(layers, "both directions"), sequences(4, 4), batch=4)
    assert result.report.op_counts["TRANSPOSE"] == 3  # of the inputs, and of the outputs of each direction
