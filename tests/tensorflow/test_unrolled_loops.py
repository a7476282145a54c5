# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Layers that LiteRT has no op for, unrolled for targets that take no loops."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.litert.runtime.scales import dequantized
from litefuse.support.options.limits import MAX_UNROLLED_STEPS
from tests.in_part import in_part
from tests.tensorflow import recurrent_models
from tests.tensorflow.checking import interpreter
from tests.tensorflow.microcontrollers import compiled, run_floats, run_integers, run_micro
from tests.tensorflow.recurrent_models import Case

if TYPE_CHECKING:
    from pathlib import Path

    from litefuse.support.options.forms import QuantizationForm
    from tests.tensorflow.process import TensorFlow

STEPS, FEATURES, WORDS = 49, 40, 12


def spotter(tf: Any, framework: str) -> Any:
    """A keyword spotter of two GRUs: Keras 2 fixes the batch, the export of Keras 3 leaves it open."""
    keras = importlib.import_module(framework)
    batch = 1 if framework == "tf_keras" else None
    x = keras.Input((STEPS, FEATURES), batch_size=batch, name="x")
    value = keras.layers.GRU(64, return_sequences=True)(x)
    value = keras.layers.GRU(32)(value)
    model = keras.Model(x, keras.layers.Dense(WORDS, activation="softmax")(value))
    random = np.random.default_rng(1)
    model.set_weights(
        [each + 0.1 * random.standard_normal(each.shape).astype(np.float32) for each in model.get_weights()]
    )
    module = tf.Module()
    spec = tf.TensorSpec([batch, STEPS, FEATURES], tf.float32, name="x")
    module.serve = tf.function(lambda x: {"y": model(x)}, input_signature=[spec])
    module.tracked = list(module.serve.get_concrete_function().graph.variables)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("framework", ["tf_keras", "keras"])
def test_keyword_spotter(tensorflow: TensorFlow, tmp_path: Path, framework: str) -> None:
    path = tensorflow.save(spotter, framework)
    random = np.random.default_rng(2)
    samples = [random.standard_normal((1, STEPS, FEATURES)).astype(np.float32) for _ in range(50)]
    calls = [each for each in samples[:5] for _ in range(2)]
    result = litefuse.convert(
        path,
        target="ethos-u",
        checks=litefuse.Checks(targets=False),
        quantize=litefuse.Quantization(
            "int8", io=True, samples=[{"x": each} for each in samples], require_integer=True
        ),
    )
    assert result.report.op_counts["FULLY_CONNECTED"] >= 2 * STEPS
    assert not {"WHILE", "GATHER", "DYNAMIC_UPDATE_SLICE"} & result.report.op_counts.keys()
    assert [each.reason.split("; ")[-1] for each in result.report.loops] == [f"unrolled into {STEPS} steps"] * 2
    # The weights of all steps are one array.
    weights = 3 * (64 * (FEATURES + 64) + 32 * (64 + 32)) + WORDS * 32
    assert weights < len(result.model_bytes) < STEPS * weights

    given, found, numbers = run_integers(result.model_bytes, calls)
    for each, again in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_array_equal(each, again)
    for ours, theirs in zip(found, run_micro(result.model_bytes, given), strict=True):
        assert np.abs(ours.astype(int) - theirs).max() <= 4
    expected = [each["y"] for each in tensorflow.run_calls(path, [("serving_default", {"x": each}) for each in calls])]
    assert np.mean([np.abs(a - b).max() for a, b in zip(numbers, expected, strict=True)]) < 0.02

    made = compiled(result.model_bytes, tmp_path)
    assert made.on_cpu == 0
    assert made.on_npu > 2 * STEPS


UNROLLED = [
    Case("keras", "sequence GRU", None, 6),
    Case("keras", "reset_before GRU", 1, 6),
    Case("keras", "backwards GRU", None, 6),
    Case("keras", "stack GRU", None, 6),
    Case("keras", "bidirectional GRU", 1, 6),
    Case("keras", "sequence SimpleRNN", None, 6),
    Case("keras", "unrolled SimpleRNN", 1, 6),
    Case("keras", "hard_sigmoid LSTM", 1, 6),
    Case("tf_keras", "sequence GRU", 1, 6),
    Case("tf_keras", "last GRU", 1, 6),
]


@pytest.mark.parametrize("quantize", [None, "int8"])
@pytest.mark.parametrize("case", in_part(UNROLLED, 3), ids=str)
def test_microcontroller(tensorflow: TensorFlow, case: Case, quantize: QuantizationForm | None) -> None:
    """The file gives LiteRT's numbers in tflite-micro, in every call, and nearly TensorFlow's."""
    path = tensorflow.save(recurrent_models.build, *case)
    random = np.random.default_rng(7)
    drawn = [random.standard_normal((1, 6, recurrent_models.FEATURES)).astype(np.float32) for _ in range(200)]
    options: dict[str, Any] = {"samples": [{"x": each} for each in drawn], "io": True} if quantize else {}
    quantization, checks = litefuse.Quantization(quantize, **options), litefuse.Checks(targets=False)
    result = litefuse.convert(path, target="micro", quantize=quantization, checks=checks)
    assert not {"WHILE", "GATHER", "DYNAMIC_UPDATE_SLICE", "REVERSE_V2"} & result.report.op_counts.keys()
    calls = [each for each in drawn[:5] for _ in range(2)]
    given, found, numbers = (
        run_integers(result.model_bytes, calls) if quantize else run_floats(result.model_bytes, calls)
    )
    for ours, theirs in zip(found, run_micro(result.model_bytes, given), strict=True):
        np.testing.assert_allclose(ours.astype(float), theirs.astype(float), atol=4 if quantize else 1e-6)
    expected = tensorflow.run_calls(path, [("serving_default", {"x": each}) for each in calls])
    for ours, each in zip(numbers, expected, strict=True):
        np.testing.assert_allclose(ours, each["y0"], atol=0.08 if quantize else 1e-5)


NPU = [
    "bidirectional GRU",
    "sequence GRU",
    "return_state GRU",
    "backwards GRU",
    "initial_state GRU",
    "sequence SimpleRNN",
]


@pytest.mark.parametrize("family", in_part(NPU, 3))
def test_npu(tensorflow: TensorFlow, tmp_path: Path, family: str) -> None:
    """Every operator is in integers, and compiled for the NPU; the outputs are nearly TensorFlow's."""
    case = Case("keras", family, None, 6)
    path = tensorflow.save(recurrent_models.build, *case)
    samples = [{name: each[:1] for name, each in recurrent_models.inputs(case, seed)[0].items()} for seed in range(100)]
    options: dict[str, Any] = {"quantize": litefuse.Quantization("int8", io=True, samples=samples)}
    result = litefuse.convert(path, target="ethos-u", checks=litefuse.Checks(targets=False), **options)
    assert result.report.quantization is not None
    assert not result.report.quantization.floats
    made = compiled(result.model_bytes, tmp_path)
    assert made.on_cpu == 0
    assert not made.states_read

    options["quantize"] = litefuse.Quantization("int8", samples=samples)
    result = litefuse.convert(path, target="ethos-u", checks=litefuse.Checks(targets=False), **options)
    runner = interpreter(result.model_bytes).get_signature_runner()
    expected = tensorflow.run_calls(path, [("serving_default", each) for each in samples[:3]])
    for each, values in zip(samples, expected, strict=False):
        for _ in range(2):
            found = runner(**each)
            assert found.keys() == values.keys()
            for name, value in values.items():
                np.testing.assert_allclose(found[name], value, atol=0.08, err_msg=name)


MASKED = ["masked LSTM", "masked GRU", "masked_last GRU", "bidirectional_masked GRU", "masked_stack LSTM"]


@pytest.mark.parametrize("family", in_part(MASKED, 3))
def test_masks_on_an_npu(tensorflow: TensorFlow, tmp_path: Path, family: str) -> None:
    """An NPU has no selections: the steps have limits instead, which give the same numbers."""
    case = Case("keras", family, 2, 6)
    path = tensorflow.save(recurrent_models.build, *case)
    random = np.random.default_rng(9)
    samples = [{"ids": random.integers(1, 9, [2, 6], np.int32)} for _ in range(100)]
    for each in samples:
        each["ids"][0, random.integers(1, 7) :] = each["ids"][1, random.integers(6)] = 0
    options: dict[str, Any] = {"quantize": litefuse.Quantization("int8", io=True, samples=samples)}
    results = [litefuse.convert(path, target=target, **options) for target in ("ethos-u", "micro")]
    limited, selected = (each.report.op_counts for each in results)
    assert limited["MAXIMUM"] == limited["MINIMUM"] // 2 == selected["SELECT_V2"]
    # Those of all steps are made at once, two for each state of each layer.
    assert limited["SELECT_V2"] <= 2 * 4
    ours, others = (interpreter(each.model_bytes).get_signature_runner() for each in results)
    details = ours.get_output_details()
    calls = samples[:20]
    expected = tensorflow.run_calls(path, [("serving_default", each) for each in calls])
    for each, values in zip(calls, expected, strict=True):
        for _ in range(2):
            found = ours(**each)
            for name, value in others(**each).items():
                np.testing.assert_array_equal(found[name], value)
                np.testing.assert_allclose(dequantized(value, details[name]), values[name], atol=0.08)
    made, reference = (compiled(each.model_bytes, tmp_path) for each in results)
    assert made.on_cpu - limited["SELECT_V2"] <= 7  # the embedding and the mask itself
    # The selections of each step, one for each state.
    assert reference.on_cpu >= 7 + selected["SELECT_V2"] >= 7 + 6


@pytest.mark.parametrize(
    "case",
    [
        Case("keras", "masked LSTM", None, 6),
        Case("keras", "masked GRU", 1, 6),
        Case("keras", "masked_last GRU", 1, 6),
        Case("tf_keras", "masked LSTM", 1, 6),
        Case("keras", "return_state GRU", None, 6),
        Case("keras", "initial_state GRU", 1, 6),
        Case("keras", "time_distributed Conv2D", 1, 6),
        Case("keras", "conv_lstm", 1, 6),
        Case("v1", "dynamic GRU", 1, 6),
    ],
    ids=str,
)
def test_outputs(tensorflow: TensorFlow, case: Case) -> None:
    """All outputs are TensorFlow's, twice in a row."""
    path = tensorflow.save(recurrent_models.build, *case)
    result = litefuse.convert(path, target="micro", checks=litefuse.Checks(targets=False))
    assert "WHILE" not in result.report.op_counts
    runner = interpreter(result.model_bytes).get_signature_runner()
    calls = [{name: each[:1] for name, each in recurrent_models.inputs(case, seed)[0].items()} for seed in range(4)]
    expected = tensorflow.run_calls(path, [("serving_default", each) for each in calls])
    for each, values in zip(calls, expected, strict=True):
        for _ in range(2):
            found = runner(**each)
            assert found.keys() == values.keys()
            for name, value in values.items():
                np.testing.assert_allclose(found[name], value, atol=1e-5, err_msg=name)


def custom_loops(tf: Any) -> Any:
    """Loops that are no layers: they count down, look back, skip places, nest, and write variables."""
    module = tf.Module()
    module.total = tf.Variable(tf.zeros([3]), name="total")

    def countdown(x: Any) -> Any:
        return tf.while_loop(
            lambda n, _: n > 0, lambda n, y: (n - 3, tf.tanh(y) + tf.cast(n, tf.float32)), [tf.constant(7, tf.int64), x]
        )[1]

    def backward_looking(x: Any) -> Any:
        array = tf.TensorArray(tf.float32, 6, element_shape=[3], clear_after_read=False).write(0, x)
        _, array = tf.while_loop(
            lambda n, _: n < 5, lambda n, a: (n + 1, a.write(n, a.read(n - 1) * 2.0 + x)), [tf.constant(1), array]
        )
        return array.stack()

    def table(x: Any) -> Any:
        def row(i: Any) -> Any:
            return tf.map_fn(lambda j: x * tf.cast(i * j, tf.float32), tf.range(2), fn_output_signature=tf.float32)

        return tf.map_fn(row, tf.range(4), fn_output_signature=tf.float32)

    def flags(x: Any) -> Any:
        return tf.map_fn(lambda i: x > tf.cast(i, tf.float32), tf.range(12), fn_output_signature=tf.bool)

    def counted(x: Any) -> Any:
        def step(n: Any) -> Any:
            module.total.assign_add(x * tf.cast(n, tf.float32))
            return n + 1

        tf.while_loop(lambda n: n < 4, step, [tf.constant(0)])
        return module.total.read_value()

    def serve(x: Any) -> dict[str, Any]:
        return {
            "countdown": countdown(x),
            "backward_looking": backward_looking(x),
            "table": table(x),
            "flags": flags(x),
            "counted": counted(x),
        }

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([3], tf.float32, name="x")])
    return module, {"serving_default": module.serve}


def test_loops_that_are_no_layers(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(custom_loops)
    result = litefuse.convert(path, target="micro", checks=litefuse.Checks(targets=False))
    assert "WHILE" not in result.report.op_counts
    runner = interpreter(result.model_bytes).get_signature_runner()
    calls = [{"x": np.array([0.5, -1.0, 2.0], np.float32)}, {"x": np.array([3.0, 1.5, 0.0], np.float32)}] * 2
    for each, values in zip(
        calls, tensorflow.run_calls(path, [("serving_default", each) for each in calls]), strict=True
    ):
        found = runner(**each)
        for name, value in values.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-5, err_msg=name)


def looping(tf: Any, steps: int | None, width: int = 1) -> Any:
    """A loop of so many steps; None: as many as an input says."""

    def step(n: Any, y: Any) -> Any:
        for _ in range(width):
            y = tf.tanh(y) + 1.0
        return n + 1, y

    def serve(n: Any, x: Any) -> dict[str, Any]:
        return {"y": tf.while_loop(lambda i, _: i < (n if steps is None else steps), step, [tf.constant(0), x])[1]}

    module = tf.Module()
    specs = [tf.TensorSpec([], tf.int32, name="n"), tf.TensorSpec([3], tf.float32, name="x")]
    module.serve = tf.function(serve, input_signature=specs)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize(
    ("steps", "width", "reason"),
    [
        (None, 1, "1 would stay:\n.*the number of its steps is known only in the call"),
        (MAX_UNROLLED_STEPS + 1, 1, "it has more than 128 steps, the limit"),
        (100, 25, r"its 100 steps would be 5,\d00 ops, and 4,096 is the limit for all loops"),
    ],
)
def test_what_stays_a_loop(tensorflow: TensorFlow, steps: int | None, width: int, reason: str) -> None:
    path = tensorflow.save(looping, steps, width)
    with pytest.raises(litefuse.LitefuseError, match=reason):
        litefuse.convert(path, target="micro", checks=litefuse.Checks(targets=False))
    kept = litefuse.convert(path, target="micro", rnn="loop", checks=litefuse.Checks(targets=False))
    assert kept.report.op_counts["WHILE"] == 1


def test_as_many_steps_as_the_limit(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(looping, MAX_UNROLLED_STEPS)
    result = litefuse.convert(path, target="micro", checks=litefuse.Checks(targets=False))
    assert result.report.op_counts["TANH"] == MAX_UNROLLED_STEPS
    assert "unrolled into 128 steps" in result.report.details()
    assert litefuse.convert(path).report.op_counts["WHILE"] == 1


def test_steps_of_a_shape(tensorflow: TensorFlow) -> None:
    """Steps that are open in the model are known where their number is given."""
    path = tensorflow.save(recurrent_models.build, "keras", "sequence GRU", None, None)
    result = litefuse.convert(path, target="micro", checks=litefuse.Checks(targets=False), shapes={"x": (1, 9, 4)})
    (loop,) = result.report.loops
    assert loop.reason == "a GRU of 5 units: LiteRT has no op for it; unrolled into 9 steps"
    assert "unrolled into 9 steps" in result.report.details()
    x = np.random.default_rng(1).standard_normal((1, 9, 4)).astype(np.float32)
    (expected,) = tensorflow.run_calls(path, [("serving_default", {"x": x})])
    for found in run_micro(result.model_bytes, [x, x]):
        np.testing.assert_allclose(found, expected["y0"], atol=1e-5)


def test_a_chosen_op_is_not_unrolled(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(recurrent_models.build, "keras", "sequence SimpleRNN", 1, 6)
    with pytest.raises(litefuse.LitefuseError, match="UNIDIRECTIONAL_SEQUENCE_RNN"):
        litefuse.convert(path, target="micro", rnn="fused")
