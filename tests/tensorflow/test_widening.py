"""Models in float16 and bfloat16, widened on request, against TensorFlow's numbers of the same models in float32."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import litefuse
from litefuse.tools.cli.app import app
from tests.tensorflow.checking import difference, normal, run_calls

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

POLICIES = ("mixed_float16", "mixed_bfloat16", "float16", "bfloat16")


def network(tf: Any, policy: str) -> Any:
    """A model of Keras in a dtype policy; its weights are the same for all of them, as far as they can hold them."""
    keras = tf.keras
    keras.mixed_precision.set_global_policy(policy)
    try:
        image = keras.Input((12, 12, 3), name="image")
        x = keras.layers.Conv2D(8, 3, padding="same")(image)
        x = keras.layers.ReLU()(keras.layers.BatchNormalization()(x))
        x = keras.layers.DepthwiseConv2D(3, strides=2)(x)
        x = keras.layers.Reshape((25, 8))(x)
        x = keras.layers.LayerNormalization()(x + keras.layers.MultiHeadAttention(2, 4)(x, x))
        x = keras.layers.LSTM(6, return_sequences=True, recurrent_initializer="glorot_uniform")(x)
        x = keras.layers.GlobalAveragePooling1D()(x)
        model = keras.Model(image, keras.layers.Dense(5, activation="softmax")(x))
    finally:
        keras.mixed_precision.set_global_policy("float32")
    random = np.random.default_rng(2)
    for weight in model.weights:
        if "seed" in weight.path:
            continue
        values = random.normal(0, 0.4, tuple(weight.shape))
        if "variance" in weight.path:
            values = 0.5 + np.abs(values)
        # Of few digits, so that all dtypes have them.
        weight.assign(np.round(values * 32) / 32)
    return model


@pytest.mark.parametrize("policy", POLICIES)
def test_the_numbers_are_those_of_float32(tensorflow: TensorFlow, policy: str) -> None:
    path = tensorflow.save(network, policy)
    inputs = normal({"image": (None, 12, 12, 3)}, batches=(3, 1, 5))
    calls = [("serving_default", each) for each in inputs for _ in "12"]
    expected = tensorflow.run_calls(tensorflow.save(network, "float32"), calls)
    result = litefuse.convert(path, dtypes="widen")
    for ours, theirs in zip(run_calls(result.model_bytes, calls), expected, strict=True):
        (output,), (wanted,) = ours.values(), theirs.values()
        assert not (problem := difference(output, wanted, rtol=1e-5)), problem
    assert "CAST" not in result.report.op_counts
    assert [(each.name, each.outcome) for each in result.report.composites] == [("lstm_loop", "fused")]
    assert {each.dtype for each in result.report.widened} == {policy.removeprefix("mixed_")}
    assert {each.new_dtype for each in result.report.widened} == {"float32"}
    assert not result.report.narrowed


def state(tf: Any) -> Any:
    """float16 in an input, an output, a variable that changes, a constant, and a loop."""
    module = tf.Module()
    module.total = tf.Variable([0.5, -2.0], dtype=tf.float16, name="total")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float16, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        total = module.total.assign_add(tf.reduce_sum(x, 0) * tf.constant([2.0, 0.25], tf.float16))

        def below(y: Any) -> Any:
            return tf.reduce_sum(y) < 100.0

        def double(y: Any) -> Any:
            return [y * 2.0]

        (doubled,) = tf.while_loop(below, double, [tf.abs(x) + 1.0])
        return {"total": total, "doubled": doubled, "half": tf.cast(x, tf.float32) / 2.0}

    module.serve = serve
    return module, {"serving_default": serve}


def test_signatures_and_states(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path, target = tensorflow.save(state), tmp_path / "model.tflite"
    answer = CliRunner().invoke(app, ["convert", str(path), "-o", str(target), "--dtypes", "widen", "--json"])
    assert answer.exit_code == 0, answer.stderr
    found = json.loads(answer.stdout)["widened"]
    assert {
        "what": "input",
        "name": "serving_default:x",
        "dtype": "float16",
        "new_dtype": "float32",
        "count": 1,
    } in found
    assert {each["what"] for each in found} == {"input", "output", "variable", "op"}
    # Numbers of few digits, which are the same in float16.
    inputs = [{"x": np.arange(2 * n, dtype=np.float32).reshape(n, 2) / 4 - 1} for n in (2, 3)]
    calls = [("serving_default", each) for each in inputs for _ in "12"]
    halves = [(key, {"x": each["x"].astype(np.float16)}) for key, each in calls]
    for ours, theirs in zip(run_calls(target.read_bytes(), calls), tensorflow.run_calls(path, halves), strict=True):
        for name, value in theirs.items():
            assert not (problem := difference(ours[name], value.astype(np.float32), rtol=1e-5)), f"{name} {problem}"


def test_without_being_asked_nothing_is_widened(tensorflow: TensorFlow) -> None:
    report = litefuse.convert(tensorflow.save(network, "mixed_bfloat16")).report
    assert not report.widened
    assert "widened" in {each.outcome for each in report.lacking_ops}
    assert "With --dtypes widen, float16 and bfloat16 become float32 throughout" in report.details()
    # Weights of layers that compute in bfloat16 are rounded to it at conversion, not in each call.
    assert report.op_counts["CONV_2D"] == report.op_counts["DEPTHWISE_CONV_2D"] == 1
    with pytest.raises(litefuse.LitefuseError, match="variable 'total' is written and is float16") as caught:
        litefuse.convert(tensorflow.save(state))
    assert "--dtypes widen" in caught.value.hint
