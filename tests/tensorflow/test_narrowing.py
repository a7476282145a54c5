# pyright: reportUnknownLambdaType=false
"""Models in float64 and int64, narrowed on request, against TensorFlow's numbers in the wide dtypes."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import GraphError, UnsupportedOpsError
from litefuse.tools.cli.app import app
from tests.tensorflow.checking import difference, op_counts, run_calls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

Arrays = dict[str, "npt.NDArray[Any]"]
NARROW = {"float64": np.float32, "complex128": np.complex64}


def narrow(values: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    return {name: value.astype(NARROW.get(str(value.dtype), value.dtype)) for name, value in values.items()}


def check_narrowed(
    tensorflow: TensorFlow, path: Path, inputs: Sequence[Arrays], **options: Any
) -> litefuse.ConversionResult:
    """Every input twice in a row; what is of a wide dtype in TensorFlow is of a narrow one here."""
    result = litefuse.convert(path, dtypes="narrow", **options)
    calls = [("serving_default", each) for each in inputs for _ in range(2)]
    narrowed = [(key, narrow(each)) for key, each in calls]
    expected = tensorflow.run_calls(path, calls)
    for ours, theirs in zip(run_calls(result.model_bytes, narrowed), expected, strict=True):
        wanted = narrow(theirs)
        assert ours.keys() == wanted.keys()
        for name, value in wanted.items():
            assert not (problem := difference(ours[name], value, rtol=1e-5)), f"{name} {problem}"
    return result


def normal(*shape: int, seed: int = 3) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).standard_normal(shape)


def of(tf: Any, name: str, *specs: tuple[tuple[int | None, ...], str]) -> Any:
    """A module that serves a function of this file, with a few variables of float64."""
    random = np.random.default_rng(1)
    module = tf.Module()
    module.kernel = tf.Variable(random.standard_normal([4, 5]), name="kernel", dtype=tf.float64)
    module.large = tf.Variable(random.standard_normal([60, 70]), name="large", dtype=tf.float64)
    module.bias = tf.Variable(random.standard_normal([5]), name="bias", dtype=tf.float64)
    module.total = tf.Variable(0.5, name="total", dtype=tf.float64)
    signature = [tf.TensorSpec(shape, dtype, name=f"x{number}") for number, (shape, dtype) in enumerate(specs)]

    def serve(*values: Any) -> Any:
        return globals()[name](tf, module, *values)

    module.serve = tf.function(serve, input_signature=signature)
    return module, {"serving_default": module.serve}


def dense(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.nn.softmax(tf.nn.relu(tf.matmul(x, module.kernel) + module.bias))}


def test_dense(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "dense", ((None, 4), "float64"))
    result = check_narrowed(tensorflow, path, [{"x0": normal(n, 4)} for n in (1, 3)])
    assert op_counts(result.model_bytes) == {"FULLY_CONNECTED": 1, "SOFTMAX": 1}
    found = {(each.what, each.name): (each.dtype, each.new_dtype) for each in result.report.narrowed}
    assert found["input", "serving_default:x0"] == found["output", "serving_default:y"] == ("float64", "float32")
    assert {name for what, name in found if what == "variable"} == {"kernel", "bias"}
    assert ("op", "MatMul") in found
    text = result.report.details()
    assert "input   serving_default:x0  float64, now float32" in text
    assert "Also narrowed: 2 variables" in text


def test_without_being_asked_nothing_is_narrowed(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "dense", ((None, 4), "float64"))
    with pytest.raises(UnsupportedOpsError) as caught:
        litefuse.convert(path)
    assert "--dtypes narrow computes float64 in float32" in caught.value.hint


def test_command(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tensorflow.save(of, "dense", ((None, 4), "float64"))
    target = tmp_path / "model.tflite"
    answer = CliRunner().invoke(app, ["convert", str(path), "-o", str(target), "--dtypes", "narrow", "--json"])
    assert answer.exit_code == 0, answer.stderr
    found = json.loads(answer.stdout)["narrowed"]
    assert {
        "what": "output",
        "name": "serving_default:y",
        "dtype": "float64",
        "new_dtype": "float32",
        "count": 1,
    } in found
    assert target.exists()


def large_weight(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.matmul(x, module.large) + tf.constant(np.linspace(0, 1, 70))}


def test_weight_that_is_mapped(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "large_weight", ((None, 60), "float64"))
    result = check_narrowed(tensorflow, path, [{"x0": normal(n, 60)} for n in (1, 3)])
    assert result.report.size < 25000  # 60 * 70 numbers of four bytes


def casts(tf: Any, module: Any, x: Any) -> Any:
    wide = tf.cast(x, tf.float64) * np.pi
    return {"whole": tf.cast(wide, tf.int32), "half": tf.cast(wide, tf.float32) / 2, "wide": tf.math.sqrt(wide)}


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "bool", "uint8"])
def test_casts(tensorflow: TensorFlow, dtype: str) -> None:
    path = tensorflow.save(of, "casts", ((None,), dtype))
    check_narrowed(tensorflow, path, [{"x0": np.arange(n).astype(dtype)} for n in (1, 6)])


def reductions(tf: Any, module: Any, x: Any) -> Any:
    return {
        "sum": tf.reduce_sum(x, 0),
        "mean": tf.reduce_mean(x, 1, keepdims=True),
        "max": tf.reduce_max(x),
        "least": tf.reduce_min(tf.where(x > 0, x, tf.float64.max), 1),
        "logsumexp": tf.reduce_logsumexp(x, 1),
        "std": tf.math.reduce_std(x, 0),
        "cumsum": tf.cumsum(x, 1),
        "sorted": tf.sort(x, 1),
        "index": tf.argmax(x, 1),
        "norm": tf.linalg.norm(x, axis=1),
        "segments": tf.math.unsorted_segment_max(x, tf.constant([0, 1, 0]), 2),
    }


def test_reductions(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "reductions", ((3, 4), "float64"))
    check_narrowed(tensorflow, path, [{"x0": normal(3, 4, seed=seed)} for seed in (1, 2)])


def loop(tf: Any, module: Any, x: Any) -> Any:
    steps = tf.shape(x)[0]
    states = tf.TensorArray(tf.float64, size=steps, element_shape=[None, 5])
    inputs = tf.TensorArray(tf.float64, size=steps).unstack(x)
    start = tf.zeros([tf.shape(x)[1], 5], tf.float64)

    def body(step: Any, state: Any, written: Any) -> Any:
        state = tf.tanh(tf.matmul(inputs.read(step), module.kernel) + module.bias + state)
        return step + 1, state, written.write(step, state)

    _, last, states = tf.while_loop(lambda step, _state, _written: step < steps, body, [0, start, states])
    return {"last": last, "states": states.stack(), "doubled": tf.map_fn(lambda row: row * 2, x)}


def test_loop_with_tensor_arrays(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "loop", ((None, None, 4), "float64"))
    check_narrowed(tensorflow, path, [{"x0": normal(steps, batch, 4)} for steps, batch in ((3, 2), (1, 1), (5, 3))])


def branches(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x), lambda: tf.square(x) + module.bias[0])}


def test_branches(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "branches", ((None,), "float64"))
    check_narrowed(tensorflow, path, [{"x0": np.abs(normal(3))}, {"x0": -np.abs(normal(3))}])


def counting(tf: Any, module: Any, x: Any) -> Any:
    module.total.assign_add(tf.reduce_sum(x))
    return {"y": x + module.total}


def test_state(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "counting", ((2,), "float64"))
    result = check_narrowed(tensorflow, path, [{"x0": normal(2, seed=seed)} for seed in range(3)])
    (variable,) = result.report.variables
    assert (variable.dtype, variable.verdict) == ("float32", "mutable")


def complex_numbers(tf: Any, module: Any, x: Any) -> Any:
    product = tf.complex(x, x + 1) * tf.constant(2 - 3j, tf.complex128)
    return {"real": tf.math.real(product), "size": tf.abs(product), "spectrum": tf.abs(tf.signal.rfft(x))}


def test_complex_numbers(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "complex_numbers", ((2, 8), "float64"))
    check_narrowed(tensorflow, path, [{"x0": normal(2, 8)}])


def with_table(tf: Any) -> Any:
    module = tf.Module()
    initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0.25, 1e5], tf.float64))
    module.table = tf.lookup.StaticHashTable(initializer, -1.0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="x0")])
    def serve(x: Any) -> Any:
        return {"y": module.table.lookup(x) * 2}

    module.serve = serve
    return module, {"serving_default": serve}


def test_table(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(with_table)
    words = np.array([b"b", b"c", b"a"], object)
    result = check_narrowed(tensorflow, path, [{"x0": words}])
    assert {(each.what, each.dtype) for each in result.report.narrowed} >= {("table", "float64"), ("output", "float64")}


def keras_model(tf: Any, kind: str) -> Any:
    keras: Any = importlib.import_module("keras")
    keras.backend.set_floatx("float64")
    try:
        keras.utils.set_random_seed(5)
        if kind == "convolution":
            layers: list[Any] = [
                keras.Input((8, 8, 3), batch_size=2),
                keras.layers.Conv2D(4, 3, activation="relu"),
                keras.layers.BatchNormalization(),
                keras.layers.MaxPooling2D(),
                keras.layers.Flatten(),
                keras.layers.Dense(3, activation="softmax"),
            ]
        else:
            layers = [keras.Input((6, 4), batch_size=2), keras.layers.LSTM(5), keras.layers.Dense(3)]
        model = keras.Sequential(layers)
        module = tf.Module()
        module.model = model

        @tf.function(input_signature=[tf.TensorSpec(model.input_shape, tf.float64, name="x0")])
        def serve(x: Any) -> Any:
            return {"y": model(x, training=False)}

        module.serve = serve
        serve.get_concrete_function()
    finally:
        keras.backend.set_floatx("float32")
    return module, {"serving_default": serve}


def test_keras_convolution(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(keras_model, "convolution")
    result = check_narrowed(tensorflow, path, [{"x0": normal(2, 8, 8, 3, seed=seed)} for seed in (1, 2)])
    assert op_counts(result.model_bytes)["CONV_2D"] == 1


def test_keras_lstm_is_recognized(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(keras_model, "lstm")
    result = check_narrowed(tensorflow, path, [{"x0": normal(2, 6, 4, seed=seed)} for seed in (1, 2)])
    assert op_counts(result.model_bytes)["UNIDIRECTIONAL_SEQUENCE_LSTM"] == 1


def too_large(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.multiply(x, tf.constant([1.0, 1e300, 2.0], tf.float64), name="scaled")}


def too_small(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.math.log(x + 1e-300)}


def bits(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.bitcast(x, tf.int64)}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("too_large", "the value 1e+300 is out of float32's range"),
        ("too_small", "the value 1e-300 is out of float32's range"),
        ("bits", "Bitcast of float64 has no form in float32"),
    ],
)
def test_what_does_not_fit_is_refused(tensorflow: TensorFlow, name: str, message: str) -> None:
    path = tensorflow.save(of, name, ((3,), "float64"))
    with pytest.raises(GraphError) as caught:
        litefuse.convert(path, dtypes="narrow")
    assert message in caught.value.message
    assert "node" in caught.value.where


def least_and_largest(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.minimum(x, tf.float64.max), "z": tf.math.log(tf.abs(x) + np.finfo(np.float64).tiny)}


def test_the_largest_number_becomes_the_largest(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "least_and_largest", ((3,), "float64"))
    check_narrowed(tensorflow, path, [{"x0": np.array([1.0, -2.0, 3e30])}])


# int64


def extremes(tf: Any, module: Any, x: Any, y: Any) -> Any:
    return {
        "segments": tf.math.unsorted_segment_max(x, tf.constant([0, 1, 0]), 2),
        "least": tf.tensor_scatter_nd_min(x, [[1]], y[:1]),
    }


def test_int64_is_computed_in_int32_where_it_must(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "extremes", ((3,), "int64"), ((3,), "int64"))
    with pytest.raises(UnsupportedOpsError) as caught:
        litefuse.convert(path)
    assert "--dtypes narrow computes int64 in int32" in caught.value.hint
    inputs = [{"x0": np.array([1, -7, 5]), "x1": np.array([-3, 2, 4])}]
    result = check_narrowed(tensorflow, path, inputs)
    outcomes = {each.op: each.outcome for each in result.report.lacking_ops}
    assert outcomes["UnsortedSegmentMax"] == "narrowed"
    assert not result.report.narrowed
    assert "its int64 computed in int32" in result.report.details()


def large_numbers(tf: Any, module: Any, x: Any) -> Any:
    return {"y": x * 3 + 2**40, "z": tf.maximum(x, -(2**50))}


def test_int64_that_litert_computes_stays(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "large_numbers", ((None,), "int64"))
    result = check_narrowed(tensorflow, path, [{"x0": np.array([2**41, -(2**55), 3])}])
    assert not result.report.lacking_ops


def decoded(tf: Any, module: Any, words: Any) -> Any:
    return {"y": tf.io.decode_raw(words, tf.int64)}


def drawn(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.raw_ops.RandomPoissonV2(shape=x, rate=2.0)}


@pytest.mark.parametrize(
    ("name", "dtype", "op"),
    [("decoded", "string", "DecodeRaw"), ("drawn", "int64", "RandomPoissonV2")],
)
def test_narrowing_is_not_proposed_where_it_does_not_help(
    tensorflow: TensorFlow, name: str, dtype: str, op: str
) -> None:
    path = tensorflow.save(of, name, ((3,), dtype))
    with pytest.raises(UnsupportedOpsError, match=op) as caught:
        litefuse.convert(path, allow_custom_ops="never")  # without the kernel of the pack
    assert "narrow" not in caught.value.hint.lower()


def large_extreme(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.math.unsorted_segment_max(tf.constant([2**40, 3, 1], tf.int64), x, 2, name="largest")}


def test_int64_constant_that_does_not_fit(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "large_extreme", ((3,), "int64"))
    with pytest.raises(UnsupportedOpsError) as caught:
        litefuse.convert(path, dtypes="narrow")
    (op,) = caught.value.ops
    assert op.reason == "its constant 1099511627776 does not fit int32"
    assert "largest" in op.node
    assert "narrow" not in caught.value.hint


# float64 that begins with integers and ends with what is no float64


def log_buckets(tf: Any, module: Any, x: Any) -> Any:
    positions = tf.range(tf.shape(x)[0])
    positions = positions[:, None] - positions[None, :]
    sizes = tf.maximum(tf.abs(positions), 8)
    found = 8 + tf.cast(tf.math.log(sizes / 8) / np.log(16) * 8, tf.int32)
    return {"buckets": found, "logarithms": tf.cast(tf.math.log(sizes / 8), tf.float32), "x": x}


def test_float64_between_integers_is_narrowed_without_being_asked(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "log_buckets", ((None,), "int32"))
    result = litefuse.convert(path)
    calls = [("serving_default", {"x0": np.zeros(size, np.int32)}) for size in (1, 30, 30, 130)]
    for found, wanted in zip(run_calls(result.model_bytes, calls), tensorflow.run_calls(path, calls), strict=True):
        assert not (problem := difference(found["logarithms"], wanted["logarithms"], rtol=1e-5)), problem
        # A logarithm that is next to a whole number may be truncated to the one below.
        differing = np.argwhere(found["buckets"] != wanted["buckets"])
        distances = {abs(int(row - column)) for row, column in differing}
        assert distances <= {16, 32, 64, 128}
        assert np.abs(found["buckets"] - wanted["buckets"]).max() <= 1
    assert {each.what for each in result.report.narrowed} == {"op"}
    assert "Ops of float64, computed in float32: Log, Mul, RealDiv" in result.report.details()


def rounded_sizes(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.math.log(tf.cast(x, tf.float64))}


def asked_for(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.cast(tf.math.log(tf.cast(x, tf.float64)), tf.float32)}


def with_a_tiny_constant(tf: Any, module: Any, x: Any) -> Any:
    return {"y": tf.cast(tf.math.log(tf.cast(x, tf.float64) + 1e-300), tf.float32)}


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("rounded_sizes", "int32"),
        ("asked_for", "float32"),
        ("asked_for", "float64"),
        ("with_a_tiny_constant", "int32"),
    ],
)
def test_float64_that_somebody_asked_for_is_not_narrowed(tensorflow: TensorFlow, name: str, dtype: str) -> None:
    path = tensorflow.save(of, name, ((None,), dtype))
    with pytest.raises(UnsupportedOpsError, match="Log"):
        litefuse.convert(path)


def rounded_quotients(tf: Any, module: Any, x: Any, y: Any) -> Any:
    quotients = tf.cast(x, tf.float64) / tf.cast(y, tf.float64)
    rounded = {"round": tf.round(quotients), "floor": tf.floor(quotients), "ceil": tf.math.ceil(quotients)}
    return {name: tf.cast(each, tf.float32) for name, each in rounded.items()}


def test_quotients_of_large_integers_are_rounded_exactly(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(of, "rounded_quotients", ((None,), "int32"), ((None,), "int32"))
    result = litefuse.convert(path)
    random = np.random.default_rng(5)
    divisors = random.integers(1, 1 << 20, 3000) * random.choice([-1, 1], 3000)
    near = divisors * random.integers(-1000, 1000, 3000) + random.integers(-1, 2, 3000)  # whole numbers, or almost
    ties = divisors * random.integers(-500, 500, 3000) + divisors // 2 + random.integers(-1, 2, 3000)
    x, y = np.concatenate([near, ties, [5, -5, 0]]), np.concatenate([divisors, divisors, [0, 0, 0]])
    call = ("serving_default", {"x0": x.astype(np.int32), "x1": y.astype(np.int32)})
    found = run_calls(result.model_bytes, [call, call])
    for ours, theirs in zip(found, tensorflow.run_calls(path, [call, call]), strict=True):
        for name, value in theirs.items():
            np.testing.assert_array_equal(ours[name], value)
    assert {each.name for each in result.report.narrowed} >= {"RealDiv", "Round", "Floor", "Ceil"}
