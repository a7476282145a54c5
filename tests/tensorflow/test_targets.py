"""Models for microcontrollers and NPUs, run and compiled by what is made for these."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.scales import dequantized, quantized
from litefuse.support.options.limits import MAX_REVERSED_ITEMS
from tests.in_part import in_part
from tests.tensorflow import recurrent_models
from tests.tensorflow.checking import interpreter
from tests.tensorflow.microcontrollers import compiled, run_floats, run_integers, run_micro
from tests.tensorflow.recurrent_models import Case

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from litefuse.support.options.forms import QuantizationForm
    from tests.tensorflow.process import TensorFlow

STEPS, FEATURES, WORDS = 49, 40, 12


def spotter(tf: Any, framework: str) -> Any:
    """A keyword spotter of two LSTMs: Keras 2 fixes the batch, the export of Keras 3 leaves it open."""
    keras = importlib.import_module(framework)
    keras.utils.set_random_seed(1)
    batch = 1 if framework == "tf_keras" else None
    x = keras.Input((STEPS, FEATURES), batch_size=batch, name="x")
    value = keras.layers.LSTM(64, return_sequences=True)(x)
    value = keras.layers.LSTM(32)(value)
    model = keras.Model(x, keras.layers.Dense(WORDS, activation="softmax")(value))
    random = np.random.default_rng(1)
    model.set_weights(
        [each + 0.1 * random.standard_normal(each.shape).astype(np.float32) for each in model.get_weights()]
    )
    module = tf.Module()
    spec = tf.TensorSpec([batch, STEPS, FEATURES], tf.float32, name="x")

    def serve(x: Any) -> dict[str, Any]:
        return {"y": model(x)}

    module.serve = tf.function(serve, input_signature=[spec])
    module.tracked = list(module.serve.get_concrete_function().graph.variables)
    return module, {"serving_default": module.serve}


def sounds(number: int, seed: int) -> list[npt.NDArray[np.float32]]:
    random = np.random.default_rng(seed)
    return [random.standard_normal((1, STEPS, FEATURES)).astype(np.float32) for _ in range(number)]


def stock(tf: Any, path: str, samples: list[npt.NDArray[np.float32]]) -> bytes:
    """What the stock converter makes: int8 throughout, inputs and outputs too."""
    converter = tf.lite.TFLiteConverter.from_saved_model(path)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([each] for each in samples)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    return bytes(converter.convert())


@pytest.mark.parametrize("framework", ["tf_keras", "keras"])
def test_keyword_spotter(tensorflow: TensorFlow, tmp_path: Path, framework: str) -> None:
    path = tensorflow.save(spotter, framework)
    samples, calls = sounds(100, 1), [each for each in sounds(30, 2) for _ in range(2)]
    result = litefuse.convert(
        path,
        target="ethos-u",
        quantize=litefuse.Quantization("int8", io=True, samples=[{"x": each} for each in samples]),
    )
    assert result.report.op_counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 2
    assert result.report.batch_taken == (None if framework == "tf_keras" else 1)
    assert ("a batch of 1" in result.report.details()) == (framework == "keras")

    given, found, numbers = run_integers(result.model_bytes, calls)
    for each, again in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_array_equal(each, again)
    # The two runtimes approximate tanh differently.
    for ours, theirs in zip(found, run_micro(result.model_bytes, given), strict=True):
        assert np.abs(ours.astype(int) - theirs).max() <= 1

    made = compiled(result.model_bytes, tmp_path)
    assert made.on_cpu == 0
    assert made.on_npu > 2 * STEPS
    assert not made.states_read

    expected = [each["y"] for each in tensorflow.run_calls(path, [("serving_default", {"x": each}) for each in calls])]
    error = np.mean([np.abs(a - b).max() for a, b in zip(numbers, expected, strict=True)])
    assert error < 0.003
    if framework == "tf_keras":
        theirs = tensorflow.call(stock, str(path), samples)
        assert len(result.model_bytes) <= len(theirs)
        assert compiled(theirs, tmp_path).states_read  # the check can tell: theirs start where the last call ended
        # In the first call of an interpreter, the stock converter's file starts from zero as well.
        firsts = [run_integers(theirs, [each])[2][0] for each in calls[::2]]
        reference = np.mean([np.abs(a - b).max() for a, b in zip(firsts, expected[::2], strict=True)])
        assert error <= reference * 1.02


MICRO = [
    Case("keras", "sequence LSTM", None, 6),
    Case("keras", "bidirectional LSTM", None, 6),
    Case("keras", "backwards LSTM", 1, 6),
    Case("keras", "stack LSTM", 1, 6),
    Case("keras", "unrolled LSTM", 1, 6),
    Case("tf_keras", "last LSTM", 1, 6),
    Case("tf_keras", "bidirectional LSTM", 1, 6),
]


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("quantize", [None, "int8"])
@pytest.mark.parametrize("case", in_part(MICRO, 3), ids=str)
def test_microcontroller(tensorflow: TensorFlow, case: Case, quantize: QuantizationForm | None, batch: int) -> None:
    """The file gives LiteRT's numbers in tflite-micro, in every call, and nearly TensorFlow's."""
    if batch != 1 and case.batch is not None:
        case = case._replace(batch=batch)
    path = tensorflow.save(recurrent_models.build, *case)
    random = np.random.default_rng(7)
    drawn = [random.standard_normal((batch, 6, recurrent_models.FEATURES)).astype(np.float32) for _ in range(200)]
    samples = [{"x": each} for each in drawn] if quantize else None
    quantization = litefuse.Quantization(quantize, io=quantize is not None, samples=samples)
    options: dict[str, Any] = {"target": "micro", "quantize": quantization}
    options["checks"] = litefuse.Checks(targets=False)  # the test does it
    result = litefuse.convert(path, batch=batch if case.batch is None else None, **options)
    assert result.report.batch_taken is None
    calls = [each for each in drawn[:5] for _ in range(2)]
    given, found, numbers = (
        run_integers(result.model_bytes, calls) if quantize else run_floats(result.model_bytes, calls)
    )
    for ours, theirs in zip(found, run_micro(result.model_bytes, given), strict=True):
        np.testing.assert_allclose(ours.astype(float), theirs.astype(float), atol=2 if quantize else 1e-6)
    expected = tensorflow.run_calls(path, [("serving_default", {"x": each}) for each in calls])
    for ours, each in zip(numbers, expected, strict=True):
        np.testing.assert_allclose(ours, each["y0"], atol=0.03 if quantize else 1e-5)


def masked(tf: Any, ids: bool) -> Any:
    keras = importlib.import_module("keras")
    keras.utils.set_random_seed(3)
    x = keras.Input((4,), dtype="int32", name="x") if ids else keras.Input((4, 3), name="x")
    mask = keras.layers.Embedding(20, 3, mask_zero=True) if ids else keras.layers.Masking(0.0)
    model = keras.Model(x, keras.layers.LSTM(3, bias_initializer="random_normal")(mask(x)))
    module = tf.Module()
    module.model = model
    spec = [tf.TensorSpec([1, *x.shape[1:]], x.dtype, name="x")]

    def serve(x: Any) -> Any:
        return {"y": model(x)}

    module.serve = tf.function(serve, input_signature=spec)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("ids", [True, False], ids=["Embedding", "Masking"])
def test_masks_on_a_microcontroller(tensorflow: TensorFlow, ids: bool) -> None:
    """tflite-micro has no SELECT, no REDUCE_ANY, and SELECT_V2 not of ids, of which -1 is the last row."""
    path = tensorflow.save(masked, ids)
    result = litefuse.convert(path, target="micro")
    random = np.random.default_rng(4)
    drawn = [random.integers(-20, 20, (1, 4)) * np.array([1, 1, 0, 1]) for _ in range(3)]
    calls = [each.astype(np.int32) if ids else (each[..., None] * [1, 0, 2]).astype(np.float32) for each in drawn]
    expected = tensorflow.run_calls(path, [("serving_default", {"x": each}) for each in calls])
    runner = interpreter(result.model_bytes).get_signature_runner()
    twice = [each for each in calls for _ in range(2)]
    for number, micro in enumerate(run_micro(result.model_bytes, [[each] for each in twice])):
        np.testing.assert_allclose(micro, runner(x=twice[number])["y"], atol=1e-6)
        np.testing.assert_allclose(micro, expected[number // 2]["y"], atol=1e-5)


def test_what_a_microcontroller_lacks(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(recurrent_models.build, *Case("keras", "sequence LSTM", None, None))
    reason = r"'x' is \?,\?,4, and tflite-micro supports no dynamic dimensions"
    with pytest.raises(litefuse.LitefuseError, match=reason):
        litefuse.convert(path, target="micro")


def test_an_lstm_that_microcontrollers_have_no_op_of(tensorflow: TensorFlow) -> None:
    """It stays a loop; without one, it is refused."""
    path = tensorflow.save(recurrent_models.build, *Case("v1", "peepholes LSTM", 1, 6))
    with pytest.raises(litefuse.LitefuseError, match="peepholes, a projection"):
        litefuse.convert(path, target="ethos-u")
    result = litefuse.convert(path, target="micro")
    assert "WHILE" in result.report.op_counts
    assert [check.verdict for check in result.report.target_checks] == ["accelerated"]


def test_given_states_of_dynamic_sizes(tensorflow: TensorFlow) -> None:
    """The sizes that states are broadcast to are constant: tflite-micro takes no others."""
    case = Case("keras", "initial_state LSTM", None, None)
    path = tensorflow.save(recurrent_models.build, *case)
    result = litefuse.convert(path, target="micro", batch=2, shapes={"x": (2, 6, recurrent_models.FEATURES)})
    assert "SHAPE" not in result.report.op_counts
    random = np.random.default_rng(8)
    state = (2, recurrent_models.UNITS)
    shapes = {"s0": state, "s1": state, "x": (2, 6, recurrent_models.FEATURES)}
    calls = [{name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()} for _ in range(3)]
    expected = tensorflow.run_calls(path, [("serving_default", each) for each in calls])
    with content_of(result.model_bytes) as content:
        order = [*Model(content).signatures["serving_default"].inputs]
    found = run_micro(result.model_bytes, [[each[name] for name in order] for each in calls])
    runner = interpreter(result.model_bytes).get_signature_runner()
    for call, micro, each in zip(calls, found, expected, strict=True):
        np.testing.assert_allclose(micro, each["y0"], atol=1e-5)
        np.testing.assert_allclose(runner(**call)["y0"], each["y0"], atol=1e-5)


def test_given_states_in_integers(tensorflow: TensorFlow) -> None:
    """States beyond the layer's own outputs make their steps larger, of which one is all that runtimes differ in."""
    case = Case("keras", "initial_state LSTM", 1, 6)
    path = tensorflow.save(recurrent_models.build, *case)
    samples = [{name: each[:1] for name, each in recurrent_models.inputs(case, seed)[0].items()} for seed in range(100)]
    errors: list[float] = []
    for factor in (3.0, 0.1):
        drawn = [{**each, "s0": each["s0"] * np.float32(factor)} for each in samples]
        options: dict[str, Any] = {"quantize": litefuse.Quantization("int8", io=True, samples=drawn)}
        result = litefuse.convert(path, target="ethos-u", **options)
        # Two are of the states, and two of the last states.
        assert result.report.op_counts["QUANTIZE"] == 4
        runner = interpreter(result.model_bytes).get_signature_runner()
        takes, gives = runner.get_input_details(), runner.get_output_details()
        calls = [{name: quantized(each[name], takes[name]) for name in takes} for each in drawn[:20]]
        with content_of(result.model_bytes) as content:
            order = [*Model(content).signatures["serving_default"].inputs]
        micro = run_micro(result.model_bytes, [[each[name] for name in order] for each in calls])
        expected = tensorflow.run_calls(path, [("serving_default", each) for each in drawn[:20]])
        for each, theirs, exact in zip(calls, micro, expected, strict=True):
            found = runner(**each)["y0"]
            np.testing.assert_array_equal(runner(**each)["y0"], found)
            assert np.abs(found.astype(int) - theirs).max() <= 1
            errors.append(np.abs(dequantized(found, gives["y0"]) - exact["y0"]).mean())
    assert np.mean(errors[:20]) < 0.05
    assert np.mean(errors[20:]) < 0.01


def test_choices_win_over_the_target(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(recurrent_models.build, "keras", "sequence LSTM", None, None)
    result = litefuse.convert(path, target="micro", rnn="loop", batch=3, shapes={"x": (None, 6, None)})
    assert result.report.op_counts["WHILE"] == 1
    x = np.random.default_rng(1).standard_normal((3, 6, 4)).astype(np.float32)
    (expected,) = tensorflow.run_calls(path, [("serving_default", {"x": x})])
    for found in run_micro(result.model_bytes, [x, x]):
        np.testing.assert_allclose(found, expected["y0"], atol=1e-5)


def test_cpu_changes_nothing(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(recurrent_models.build, "keras", "sequence LSTM", None, None)
    assert litefuse.convert(path, target="cpu").model_bytes == litefuse.convert(path).model_bytes
    with pytest.raises(litefuse.LitefuseError, match="unknown target 'npu'"):
        litefuse.convert(path, target="npu")  # type: ignore[arg-type]


@pytest.mark.parametrize("framework", ["tf_keras", "keras"])
@pytest.mark.parametrize("target", ["litert", "gpu"])
def test_no_variable_tensors(tensorflow: TensorFlow, framework: str, target: str) -> None:
    """Recurrent layers are loops, or unrolled, annotated ones too: ``CompiledModel`` takes no variable tensors."""
    case = Case(framework, "sequence LSTM", None if target == "litert" else 2, 6)
    path = tensorflow.save(recurrent_models.build, *case)
    result = litefuse.convert(path, target=target)
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM" not in result.report.op_counts
    assert result.report.op_counts.get("WHILE", 0) == (target == "litert")
    calls = [{"x": np.random.default_rng(1).standard_normal((2, 6, 4)).astype(np.float32)}] * 2
    runner = interpreter(result.model_bytes).get_signature_runner()
    for call, each in zip(
        calls, tensorflow.run_calls(path, [("serving_default", each) for each in calls]), strict=True
    ):
        np.testing.assert_allclose(runner(**call)["y0"], each["y0"], atol=1e-5)
    (check,) = result.report.target_checks
    assert check.target == target
    assert (
        check.verdict == "accelerated" if target == "litert" else check.verdict in {"accelerated", "partly", "unknown"}
    )
    fused = litefuse.convert(path, target=target, rnn="fused", require_fused=framework == "tf_keras")
    assert fused.report.op_counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 1
    (check,) = fused.report.target_checks
    assert check.verdict == ("refused" if target == "litert" else check.verdict)
    assert "variable tensors" in check.refused[0]


@pytest.mark.parametrize("quantize", [None, "weights", "int8"])
@pytest.mark.parametrize("steps", [6, None])
@pytest.mark.parametrize("family", ["sequence LSTM", "stack GRU", "bidirectional LSTM"])
def test_loops_in_openvino(
    tensorflow: TensorFlow, family: str, steps: int | None, quantize: QuantizationForm | None
) -> None:
    """Loops write their steps without DYNAMIC_UPDATE_SLICE, of whatever number these and the rows are."""
    path = tensorflow.save(recurrent_models.build, *Case("keras", family, None, steps))
    random = np.random.default_rng(4)
    features = recurrent_models.FEATURES
    rows = [{"x": each} for each in random.standard_normal((50, 1, 6, features)).astype(np.float32)]
    quantization = litefuse.Quantization(quantize, samples=rows if quantize == "int8" else None)
    result = litefuse.convert(path, target="openvino", quantize=quantization)
    assert "WHILE" in result.report.op_counts
    assert not {"DYNAMIC_UPDATE_SLICE", "UNIDIRECTIONAL_SEQUENCE_LSTM"} & result.report.op_counts.keys()
    (check,) = result.report.target_checks
    assert check.verdict == "accelerated"
    runner = interpreter(result.model_bytes).get_signature_runner()
    for rows, count in ((1, 6), (3, 6), (2, steps or 9), (1, 6)):
        x = random.standard_normal((rows, count, features)).astype(np.float32)
        (expected,) = tensorflow.run_calls(path, [("serving_default", {"x": x})])
        for _ in range(2):
            atol = {None: 1e-5, "weights": 0.02}.get(quantize, 0.05)
            np.testing.assert_allclose(runner(x=x)["y0"], expected["y0"], atol=atol)


def test_several_targets(tensorflow: TensorFlow) -> None:
    """The file has the form that all of them take, and each says what it makes of it."""
    path = tensorflow.save(recurrent_models.build, "keras", "sequence LSTM", None, 6)
    result = litefuse.convert(path, target=["litert", "micro"])
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM" not in result.report.op_counts
    assert [form.form for form in result.report.forms if form.chosen] == ["a loop"]
    assert [(each.target, each.verdict) for each in result.report.target_checks] == [
        ("litert", "accelerated"),
        ("micro", "accelerated"),
    ]
    text = str(result.report)
    assert "target   litert, micro: litert takes all of it, and gives LiteRT's numbers" in text
    assert "; a batch of 1" in text
    assert litefuse.check(result, "micro").accelerated
    with pytest.raises(litefuse.LitefuseError, match="there are none"):
        litefuse.convert(path, target=[])


NPU = [
    "last LSTM",
    "backwards LSTM",
    "bidirectional LSTM",
    "unrolled LSTM",
    "unrolled GRU",
    "return_state LSTM",
    "initial_state LSTM",
]


@pytest.mark.parametrize("family", NPU)
def test_npu(tensorflow: TensorFlow, tmp_path: Path, family: str) -> None:
    """Every operator is compiled for the NPU, and no state is left from the last call."""
    case = Case("keras", family, None, 6)
    path = tensorflow.save(recurrent_models.build, *case)
    samples = [{name: each[:1] for name, each in recurrent_models.inputs(case, seed)[0].items()} for seed in range(100)]
    options: dict[str, Any] = {"quantize": litefuse.Quantization("int8", io=True, samples=samples)}
    result = litefuse.convert(path, target="ethos-u", checks=litefuse.Checks(targets=False), **options)
    made = compiled(result.model_bytes, tmp_path)
    assert made.on_cpu == 0
    assert not made.states_read
    if family != "bidirectional LSTM":
        return
    # Microcontrollers have REVERSE_V2, through which the backward layer gets the scale of both layers.
    other = litefuse.convert(path, target="micro", **options)
    assert compiled(other.model_bytes, tmp_path).on_cpu == other.report.op_counts["REVERSE_V2"] == 2
    assert result.report.op_counts["QUANTIZE"] == other.report.op_counts["QUANTIZE"]
    calls = [each["x"] for each in samples[:5] for _ in range(2)]
    (given, found, _), (_, expected, _) = (run_integers(each.model_bytes, calls) for each in (result, other))
    micro = run_micro(result.model_bytes, given)
    for ours, theirs, each in zip(found, expected, micro, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1)
        assert np.abs(ours.astype(int) - each).max() <= 1


def reversal(tf: Any, shape: list[int], axes: list[int]) -> Any:
    module = tf.Module()
    spec = tf.TensorSpec(shape, tf.float32, name="x")

    def serve(x: Any) -> dict[str, Any]:
        return {"y": tf.nn.relu(tf.reverse(x, axes))}

    module.serve = tf.function(serve, input_signature=[spec])
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize(
    ("shape", "axes", "left"),
    [([2, 5, 3, 4], [0, 2], 0), ([1, MAX_REVERSED_ITEMS, 2], [1], 0), ([1, MAX_REVERSED_ITEMS + 1, 2], [1], 1)],
    ids=str,
)
def test_reversals(tensorflow: TensorFlow, tmp_path: Path, shape: list[int], axes: list[int], left: int) -> None:
    """An NPU has none: up to a limit, items are copied instead, in integers of one scale."""
    path = tensorflow.save(reversal, shape, axes)
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    expected = np.maximum(np.flip(x, tuple(axes)), 0)
    result = litefuse.convert(path, target="ethos-u")
    for _ in range(2):
        np.testing.assert_array_equal(interpreter(result.model_bytes).get_signature_runner()(x=x)["y"], expected)
    options: dict[str, Any] = {"quantize": litefuse.Quantization("int8", io=True, samples=[{"x": x}])}
    result = litefuse.convert(path, target="ethos-u", **options)
    assert result.report.op_counts.get("REVERSE_V2", 0) == left
    assert (compiled(result.model_bytes, tmp_path).on_cpu == 0) == (not left)
    _, _, found = run_integers(result.model_bytes, [x, x])
    for each in found:
        np.testing.assert_allclose(each, expected, atol=0.03)
