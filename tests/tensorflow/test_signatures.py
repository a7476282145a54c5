# pyright: reportUnknownLambdaType=false
"""Signatures: their names, inputs and outputs are the SavedModel's, their tensors' names the stock converter's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, check_calls, interpreter, normal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow


def details(model: bytes) -> Mapping[str, Any]:
    """What a LiteRT model says of its signatures: name, dtype and shape (-1: dynamic) of each input and output."""
    engine = interpreter(model)
    runners = {name: engine.get_signature_runner(name) for name in engine.get_signature_list()}

    def described(tensors: Mapping[str, Any]) -> dict[str, tuple[str, str, list[int]]]:
        return {
            name: (tensor["name"], np.dtype(tensor["dtype"]).name, tensor["shape_signature"].tolist())
            for name, tensor in tensors.items()
        }

    return {
        name: {"inputs": described(runner.get_input_details()), "outputs": described(runner.get_output_details())}
        for name, runner in runners.items()
    }


def assert_details_equal_stock(tensorflow: TensorFlow, path: Path, result: litefuse.ConversionResult) -> None:
    stock = tensorflow.stock_convert(path)
    assert isinstance(stock, bytes), stock
    assert details(result.model_bytes) == details(stock)


def three_signatures(tf: Any) -> Any:
    module = tf.Module()
    module.kernel = tf.Variable(np.random.default_rng(1).standard_normal([4, 2]).astype(np.float32), name="kernel")
    spec = [tf.TensorSpec([None, 4], tf.float32, name="x")]
    # No attribute `serve`: the stock converter takes a module that has one for Keras's and drops other signatures.
    module.project = tf.function(lambda x: {"y": tf.matmul(x, module.kernel)}, input_signature=spec)
    module.score = tf.function(
        lambda x: {"best": tf.argmax(tf.matmul(x, module.kernel), 1), "sum": tf.reduce_sum(x)}, input_signature=spec
    )
    module.scale = tf.function(
        lambda z, a: {"out": z * a},
        input_signature=[tf.TensorSpec([None], tf.float32, name="z"), tf.TensorSpec([], tf.float32, name="a")],
    )
    return module, {"serving_default": module.project, "score": module.score, "scale": module.scale}


def test_several_signatures(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(three_signatures)
    matrices = normal({"x": (None, 4)})
    scaled = normal({"z": (None,), "a": ()})
    calls = [
        call
        for x, z in zip(matrices, scaled, strict=True)
        for call in [("serving_default", x), ("score", x), ("scale", z), ("scale", z), ("score", x)]
    ]
    result = check_calls(tensorflow, path, calls)
    assert result.report.left_out == ()
    assert interpreter(result.model_bytes).get_signature_list().keys() == {"serving_default", "score", "scale"}
    assert_details_equal_stock(tensorflow, path, result)


@pytest.mark.parametrize("chosen", [["score"], ["scale", "serving_default"]])
def test_chosen_signatures(tensorflow: TensorFlow, chosen: list[str]) -> None:
    inputs = {"serving_default": {"x": (None, 4)}, "score": {"x": (None, 4)}, "scale": {"z": (None,), "a": ()}}
    calls = [(name, each) for name in chosen for each in normal(inputs[name]) for _ in range(2)]
    result = check_calls(tensorflow, tensorflow.save(three_signatures), calls, signatures=chosen)
    assert interpreter(result.model_bytes).get_signature_list().keys() == set(chosen)
    left = {each.signature: each.reason for each in result.report.left_out}
    assert left == {
        key: f"it was not selected; signatures=['{key}'] (--signature={key}) converts it"
        for key in inputs
        if key not in chosen
    }


def odd_names(tf: Any) -> Any:
    module = tf.Module()
    module.serve = tf.function(
        lambda first, second: {"out-put/1:ü": first - second, "a b": second, "_": first * 2.0, "42": second + 1.0},
        input_signature=[
            tf.TensorSpec([None], tf.float32, name="the/first.input-1"),
            tf.TensorSpec([None], tf.float32, name="2nd-input"),
        ],
    )
    return module, {"my signature/1:ü": module.serve}


def test_names_with_odd_characters(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(odd_names)
    inputs = normal({"the/first.input-1": (None,), "2nd-input": (None,)})
    result = check(tensorflow, path, inputs, signature="my signature/1:ü")
    assert_details_equal_stock(tensorflow, path, result)


def orders(tf: Any) -> Any:
    """Inputs and outputs whose order in the function, in the signature and in the alphabet differ."""
    module = tf.Module()
    names = ["zeta", "alpha", "mid", "b10", "b9"]

    def serve(*inputs: Any) -> Any:
        total = inputs[0]
        outputs: dict[str, Any] = {}
        for name, value in zip(names, inputs, strict=True):
            total = total * 2.0 + value
            outputs[f"after_{name}"] = total
        return outputs

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([None], tf.float32, name=name) for name in names])
    return module, {"serving_default": module.serve}


def test_order_of_inputs_and_outputs(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(orders)
    shapes: dict[str, tuple[int | None, ...]] = dict.fromkeys(["zeta", "alpha", "mid", "b10", "b9"], (None,))
    result = check(tensorflow, path, normal(shapes))
    assert_details_equal_stock(tensorflow, path, result)


def no_inputs(tf: Any) -> Any:
    module = tf.Module()
    module.state = tf.Variable([1.0, 2.0], name="state")
    module.serve = tf.function(
        lambda: {"state": module.state * 2.0, "constant": tf.constant([1, 2, 3])}, input_signature=[]
    )
    return module, {"serving_default": module.serve}


def test_no_inputs(tensorflow: TensorFlow) -> None:
    check(tensorflow, tensorflow.save(no_inputs), {})


def passed_through(tf: Any) -> Any:
    module = tf.Module()

    def serve(x: Any, y: Any, unused: Any) -> Any:
        del unused
        total = x + y
        return {"x": x, "sum": total, "sum_again": total, "y": tf.identity(y), "x_again": x, "one": tf.constant(1.0)}

    module.serve = tf.function(
        serve, input_signature=[tf.TensorSpec([None, 2], tf.float32, name=name) for name in ("x", "y", "unused")]
    )
    return module, {"serving_default": module.serve}


def test_inputs_passed_through_outputs_twice_and_unused_inputs(tensorflow: TensorFlow) -> None:
    inputs = normal({"x": (None, 2), "y": (None, 2), "unused": (None, 2)})
    check(tensorflow, tensorflow.save(passed_through), inputs)


def typed(tf: Any, dtype: str) -> Any:
    module = tf.Module()

    def serve(x: Any, scalar: Any) -> Any:
        return {"rows": tf.gather(x, [0, 0]), "both": tf.concat([x, tf.reshape(scalar, [1])], 0), "scalar": scalar}

    module.serve = tf.function(
        serve, input_signature=[tf.TensorSpec([None], dtype, name="x"), tf.TensorSpec([], dtype, name="scalar")]
    )
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int16", "int32", "int64", "bool"])
def test_dtype(tensorflow: TensorFlow, dtype: str) -> None:
    path = tensorflow.save(typed, dtype)
    inputs = [{"x": np.array(x).astype(dtype), "scalar": np.array(1).astype(dtype)} for x in ([5], [0, 1, 100], [2])]
    result = check(tensorflow, path, inputs)
    assert_details_equal_stock(tensorflow, path, result)


def strings(tf: Any) -> Any:
    module = tf.Module()
    module.serve = tf.function(
        lambda x: {"x": x, "rows": tf.gather(x, [0, 0]), "same": tf.equal(x, ["a"])},
        input_signature=[tf.TensorSpec([None], tf.string, name="x")],
    )
    return module, {"serving_default": module.serve}


def test_strings(tensorflow: TensorFlow) -> None:
    inputs: Sequence[Any] = [{"x": np.array(x, object)} for x in ([b"a"], [b"bc", b"", b"a"])]
    check(tensorflow, tensorflow.save(strings), inputs)


def scalar_inputs(tf: Any) -> Any:
    module = tf.Module()
    module.serve = tf.function(
        lambda a, b, flag: {"y": tf.where(flag, a * 2.0, tf.cast(b, tf.float32)), "n": b + 1, "not": ~flag},
        input_signature=[
            tf.TensorSpec([], tf.float32, name="a"),
            tf.TensorSpec([], tf.int32, name="b"),
            tf.TensorSpec([], tf.bool, name="flag"),
        ],
    )
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("flag", [True, False])
def test_scalar_inputs(tensorflow: TensorFlow, flag: bool) -> None:
    inputs = {"a": np.array(1.5, np.float32), "b": np.array(-4, np.int32), "flag": np.array(flag)}
    check(tensorflow, tensorflow.save(scalar_inputs), inputs)


def static(tf: Any) -> Any:
    module = tf.Module()
    module.serve = tf.function(
        lambda x: {"y": tf.reshape(x, [4, -1]) * 2.0, "n": tf.shape(x)},
        input_signature=[tf.TensorSpec([2, 6], tf.float32, name="x")],
    )
    return module, {"serving_default": module.serve}


def test_static_shapes(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(static)
    result = check(tensorflow, path, normal({"x": (2, 6)}, batches=(1,)))
    assert_details_equal_stock(tensorflow, path, result)


def keras_two_inputs(tf: Any) -> Any:
    keras = tf.keras
    left, right = keras.Input([6], name="left"), keras.Input([3], name="right")
    joined = keras.layers.Concatenate()([keras.layers.Dense(4, bias_initializer="uniform")(left), right])
    scores = keras.layers.Dense(2, activation="softmax", name="scores")(joined)
    return keras.Model({"left": left, "right": right}, {"scores": scores, "joined": joined})


def test_keras_model_with_named_inputs_and_outputs(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(keras_two_inputs)
    result = check(tensorflow, path, normal({"left": (None, 6), "right": (None, 3)}))
    assert_details_equal_stock(tensorflow, path, result)
    reason = "it computes the same as serving_default; signatures=['serve'] (--signature=serve) converts it"
    assert [(each.signature, each.reason) for each in result.report.left_out] == [("serve", reason)]
    assert f"left out    serve: {reason}" in result.report.details()
    assert "serve:" not in str(result.report)
    assert result.report.to_json()["left_out"] == [{"signature": "serve", "reason": reason, "usable": True}]
    both = litefuse.convert(path, signatures=["serve", "serving_default"]).report
    assert (both.signatures, both.left_out) == (("serve", "serving_default"), ())
