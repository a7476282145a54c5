"""LSTM layers in integers: their fused op stays fused, and gives nearly the same numbers, in every call."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import QuantizationError
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.scales import dequantized, quantized
from litefuse.support.report import QuantizationReport
from tests.in_part import in_part
from tests.tensorflow import recurrent_models
from tests.tensorflow.checking import check, check_calls, interpreter, normal
from tests.tensorflow.recurrent_models import Case
from tests.tensorflow.test_lstm_fusions import CELLS, cells

if TYPE_CHECKING:
    import numpy.typing as npt

    from litefuse.support.options.forms import QuantizationForm
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


@pytest.mark.parametrize("case", in_part(CASES, 2), ids=str)
def test_layers(tensorflow: TensorFlow, case: Case) -> None:
    result = check(
        tensorflow,
        tensorflow.save(recurrent_models.build, *case),
        recurrent_models.inputs(case),
        rtol=TOLERANCE,
        rnn="fused",
        quantize=litefuse.Quantization("int8", samples=samples(case)),
    )
    assert result.report.op_counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] >= 1
    assert "WHILE" not in result.report.op_counts
    assert lstm_dtypes(result.model_bytes) == {INTEGERS}


def lstm_dtypes(model: bytes) -> set[tuple[str, ...]]:
    """The dtypes of each LSTM op's input, weights, states and output."""
    return {
        tuple(
            str(graph.tensor(index).dtype) for index in (*(op.inputs[each] for each in (0, 2, 18, 19)), op.outputs[0])
        )
        for graph in Model(model).graphs
        for op in graph.ops
        if op.name in {"LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM"}
    }


INTEGERS = ("int8", "int8", "int8", "int16", "int8")
HYBRID = ("float32", "int8", "float32", "float32", "float32")


def drawn(shape: tuple[int, ...], number: int = 200) -> list[dict[str, npt.NDArray[np.float32]]]:
    random = np.random.default_rng(9)
    return [{"x": random.standard_normal(shape).astype(np.float32)} for _ in range(number)]


@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("form", ["int8", "dynamic"])
def test_cells(tensorflow: TensorFlow, form: QuantizationForm, batch: int | None) -> None:
    """One step with a projection, with layer normalization and without an input gate."""
    samples: dict[str, Any] = {"samples": drawn((3, 3))} if form == "int8" else {}
    rnn = "auto" if form == "int8" else "fused"  # with floats between the products, the ops of a step are faster
    calls = normal({"x": (None, 3)}, batches=(1, 3, 2) if batch is None else (3, 3))
    # Eight bits for weights of normal distribution, and outputs of up to 2.
    result = check(
        tensorflow,
        tensorflow.save(cells, CELLS, batch),
        calls,
        rtol=0.06,
        rnn=rnn,
        quantize=litefuse.Quantization(form, **samples),
    )
    assert lstm_dtypes(result.model_bytes) == {INTEGERS if form == "int8" else HYBRID}
    assert result.report.op_counts["LSTM"] == 8


def peepholes(tf: Any, projected: int | None) -> Any:
    """A cell of TensorFlow 1 with peepholes, over six steps."""
    legacy = importlib.import_module("tf_keras.src.layers.rnn.legacy_cells")
    module = tf.Module()
    module.cell = legacy.LSTMCell(5, use_peepholes=True, num_proj=projected)
    module.cell.build([None, 4])
    random = np.random.default_rng(4)
    for weight in module.cell.weights:
        weight.assign((random.standard_normal(weight.shape) * 0.4).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None, 6, 4], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": tf.compat.v1.nn.dynamic_rnn(module.cell, x, dtype=tf.float32)[0]}

    module.serve = serve
    return module, {"serving_default": serve}


def reasons(quantization: QuantizationReport) -> list[str]:
    """Why recurrent ops stay in floating point."""
    return [each.reason for each in quantization.floats if "SEQUENCE" in each.op]


@pytest.mark.parametrize("projected", [None, 5, 3])
def test_peepholes(tensorflow: TensorFlow, projected: int | None) -> None:
    calls = normal({"x": (None, 6, 4)}, batches=(1, 3, 2))
    options: dict[str, Any] = {"rnn": "fused", "quantize": litefuse.Quantization("int8", samples=drawn((3, 6, 4)))}
    result = check(tensorflow, tensorflow.save(peepholes, projected), calls, rtol=0.05, **options)
    quantization = result.report.quantization
    assert quantization is not None
    if projected == 3:  # which LiteRT computes wrongly in integers
        assert lstm_dtypes(result.model_bytes) == {("float32",) * 5}
        (reason,) = reasons(quantization)
        assert "peepholes" in reason
        assert reason in result.report.details()
    else:
        assert lstm_dtypes(result.model_bytes) == {INTEGERS}
        assert not reasons(quantization)


@pytest.mark.parametrize("case", [CASES[0], CASES[7], Case("tf_keras", "stack LSTM", 1, 6)], ids=str)
def test_integer_weights_alone(tensorflow: TensorFlow, case: Case) -> None:
    path, calls = tensorflow.save(recurrent_models.build, *case), recurrent_models.inputs(case)
    result = check(tensorflow, path, calls, rtol=TOLERANCE, rnn="fused", quantize="dynamic")
    assert lstm_dtypes(result.model_bytes) == {HYBRID}


def test_simple_rnn_has_no_integers(tensorflow: TensorFlow) -> None:
    case = Case("keras", "sequence SimpleRNN", None, 6)
    path, calls = tensorflow.save(recurrent_models.build, *case), recurrent_models.inputs(case)
    integers = litefuse.Quantization("int8", samples=samples(case))
    result = check(tensorflow, path, calls, rtol=TOLERANCE, rnn="fused", quantize=integers)
    assert result.report.quantization is not None
    (reason,) = reasons(result.report.quantization)
    assert "UNIDIRECTIONAL_SEQUENCE_RNN" in reason
    check(tensorflow, path, calls, rtol=TOLERANCE, rnn="fused", quantize="dynamic")
    with pytest.raises(QuantizationError, match="would stay in floating point"):
        litefuse.convert(path, rnn="fused", quantize=litefuse.Quantization("int16", samples=samples(case)))


@pytest.mark.parametrize("framework", ["keras", "tf_keras"])
@pytest.mark.parametrize("batch", [None, 1])
def test_integer_states_as_outputs(tensorflow: TensorFlow, framework: str, batch: int | None) -> None:
    """With integers in and out, the last cell state is one as well."""
    case = Case(framework, "return_state LSTM", batch, 6)
    path = tensorflow.save(recurrent_models.build, *case)
    quantization = litefuse.Quantization("int8", io=True, samples=samples(case))
    result = litefuse.convert(path, rnn="fused", quantize=quantization)
    runner = interpreter(result.model_bytes).get_signature_runner()
    takes, gives = runner.get_input_details(), runner.get_output_details()
    for inputs in recurrent_models.inputs(case) * 2:
        (expected,) = tensorflow.run_calls(path, [("serving_default", inputs)])
        found = runner(**{name: quantized(value, takes[name]) for name, value in inputs.items()})
        for name, value in found.items():
            assert value.dtype == np.int8
            np.testing.assert_allclose(dequantized(value, gives[name]), expected[name], atol=TOLERANCE)


def hostile(tf: Any) -> Any:
    """Two signatures of a layer that is called twice, with non-ASCII names, and one without weights or biases."""
    keras = importlib.import_module("keras")
    shared = keras.layers.LSTM(5, return_sequences=True, return_state=True)
    empty = keras.layers.LSTM(3, return_sequences=True, kernel_initializer="zeros", recurrent_initializer="zeros")
    for each in (shared, empty):
        each.build((None, None, 4))
    random = np.random.default_rng(3)
    shared.set_weights([(random.standard_normal(each.shape) * 0.5).astype(np.float32) for each in shared.get_weights()])
    start = [tf.constant(random.uniform(-0.5, 0.5, (1, 5)).astype(np.float32)) for _ in range(2)]
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None, None, 4], tf.float32, name="value")])
    def twice(value: Any) -> Any:
        first, h, c = shared(value)
        return {"höhe": first, "änderung": shared(-value, initial_state=[h, c])[0], "leer": empty(value)}

    @tf.function(input_signature=[tf.TensorSpec([1, 1, 4], tf.float32, name="x")])
    def once(x: Any) -> Any:
        return dict(zip("abc", shared(x, initial_state=start), strict=True))

    module.twice, module.once = twice, once
    module.tracked = [*shared.weights, *empty.weights, *start]
    return module, {"zweimal": twice, "einmal": once}


def test_several_signatures(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(hostile)
    random = np.random.default_rng(5)

    def call(key: str, batch: int = 1, time: int = 1) -> Any:
        name = "value" if key == "zweimal" else "x"
        return key, {name: random.standard_normal((batch, time, 4)).astype(np.float32)}

    samples = [call(key, 2, 5) if key == "zweimal" else call(key) for key in ("zweimal", "einmal") for _ in range(300)]
    calls = [call("zweimal", 3, 4), call("einmal"), call("zweimal", 1, 6), call("einmal"), call("zweimal", 1, 1)]
    calls = [each for each in calls for _ in range(2)]
    options: dict[str, Any] = {"rnn": "fused", "quantize": litefuse.Quantization("int8", samples=samples)}
    result = check_calls(tensorflow, path, calls, rtol=0.05, **options)
    assert lstm_dtypes(result.model_bytes) == {INTEGERS}
    assert result.report.op_counts["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 4


def nested(tf: Any) -> Any:
    """A layer in a loop over windows."""
    keras = importlib.import_module("keras")
    layer = keras.layers.LSTM(5)
    layer.build((None, 3, 4))
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([1, 9, 4], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        total = tf.zeros([1, 5])
        for start in tf.range(6):
            total += layer(tf.slice(x, [0, start, 0], [1, 3, 4]))
        return {"y": total}

    module.serve = serve
    module.tracked = layer.weights
    return module, {"serving_default": serve}


def test_layer_in_a_loop_stays_in_floating_point(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(nested)
    options: dict[str, Any] = {"rnn": "fused", "quantize": litefuse.Quantization("int8", samples=drawn((1, 9, 4), 30))}
    result = check(tensorflow, path, normal({"x": (1, 9, 4)}, batches=(1, 1)), rtol=0.05, **options)
    assert lstm_dtypes(result.model_bytes) == {("float32",) * 5}
    assert result.report.quantization is not None
    lstms = [each for each in result.report.quantization.floats if each.op == "UNIDIRECTIONAL_SEQUENCE_LSTM"]
    assert [each.reason for each in lstms] == ["it is in a loop or a branch"]


@pytest.mark.parametrize("quantize", ["int8", "dynamic"])
def test_layers_that_are_kept(tensorflow: TensorFlow, quantize: QuantizationForm) -> None:
    case = CASES[0]
    path = tensorflow.save(recurrent_models.build, *case)
    options: dict[str, Any] = {"samples": samples(case)} if quantize == "int8" else {}
    result = litefuse.convert(
        path,
        rnn="fused",
        quantize=litefuse.Quantization(quantize, keep_float_ops=["UNIDIRECTIONAL_SEQUENCE_LSTM"], **options),
    )
    assert lstm_dtypes(result.model_bytes) == {("float32",) * 5}
    assert result.report.quantization is not None
    assert reasons(result.report.quantization) == ["kept in floating point, as requested"]
