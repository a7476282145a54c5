# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Models trained for integers with several signatures, loops, branches, large or shared weights, and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import LitefuseError, QuantizationError
from litefuse.litert.runtime.model_reader import Model
from tests.tensorflow.checking import check, check_calls, interpreter, op_counts, op_histogram
from tests.tensorflow.trained_models import build

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

STEP = 8 / 255


def _act(tf: Any, x: Any, **options: Any) -> Any:
    return tf.quantization.fake_quant_with_min_max_vars(x, -4.0, 4.0, **options)


def _module(tf: Any, *shape: int) -> Any:
    module = tf.Module()
    value = (np.random.default_rng(2).normal(size=shape) / shape[0] ** 0.5).astype(np.float32)
    module.kernel, bound = tf.Variable(value), float(np.abs(value).max())
    module.bias = tf.Variable((np.random.default_rng(3).normal(size=shape[-1]) * 0.1).astype(np.float32))
    fake = tf.quantization.fake_quant_with_min_max_vars
    return module, lambda: fake(module.kernel, -bound, bound, narrow_range=True)


def _inputs(*shape: int, batches: tuple[int, ...] = (1, 3)) -> list[dict[str, Any]]:
    random = np.random.default_rng(5)
    return [{"x": random.normal(size=(batch, *shape)).astype(np.float32)} for batch in batches]


def wide(tf: Any) -> Any:
    """Weights of 240 KB, which stay mapped where nothing reads them."""
    module, kernel = _module(tf, 200, 300)

    def serve(x: Any) -> Any:
        return {"y": _act(tf, tf.matmul(_act(tf, x), kernel()) + module.bias)}

    signature = [tf.TensorSpec((None, 200), tf.float32, name="x")]
    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def shared(tf: Any) -> Any:
    """Two signatures and three products with one kernel, once without its nodes."""
    module, kernel = _module(tf, 60, 60)
    signature = [tf.TensorSpec((None, 60), tf.float32, name="x")]

    def trained(x: Any) -> Any:
        y = _act(tf, tf.matmul(_act(tf, x), kernel()))
        return {"y": _act(tf, tf.matmul(y, kernel()) + module.bias)}

    module.trained = tf.function(trained, input_signature=signature, autograph=False)
    module.plain = tf.function(lambda x: {"y": tf.matmul(x, module.kernel)}, input_signature=signature, autograph=False)
    return module, {"trained": module.trained, "plain": module.plain}


def loop(tf: Any) -> Any:
    module, kernel = _module(tf, 12, 12)

    def serve(x: Any) -> Any:
        def body(step: Any, y: Any) -> Any:
            return step + 1, _act(tf, tf.nn.relu(tf.matmul(_act(tf, y), kernel()) + module.bias))

        _, y = tf.while_loop(lambda step, _: step < 4, body, (0, _act(tf, x)))
        return {"y": tf.cond(tf.reduce_sum(y) > 1.0, lambda: _act(tf, _act(tf, y) + _act(tf, x)), lambda: y)}

    signature = [tf.TensorSpec((None, 12), tf.float32, name="x")]
    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def loops(tf: Any) -> Any:
    """A loop whose state is rounded when it is read, and one that carries sums that nothing rounds."""
    module, kernel = _module(tf, 12, 12)

    def serve(x: Any) -> Any:
        def rounding(step: Any, y: Any, z: Any) -> Any:
            given = _act(tf, tf.matmul(_act(tf, y), kernel()) + module.bias)
            return step + 1, given, tf.where(z > 0, given, z)

        def summing(step: Any, y: Any) -> Any:
            return step + 1, y + 0.1 * _act(tf, tf.matmul(_act(tf, y), kernel()))

        _, y, z = tf.while_loop(lambda step, *_: step < 4, rounding, (0, 1.01 * x, _act(tf, x)))
        _, s = tf.while_loop(lambda step, _: step < 4, summing, (0, 1.01 * x))
        return {"y": y, "z": z, "s": s}

    signature = [tf.TensorSpec((None, 12), tf.float32, name="x")]
    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def open_sizes(tf: Any) -> Any:
    module, kernel = _module(tf, 3, 3, 3, 8)

    def serve(x: Any) -> Any:
        y = _act(tf, tf.nn.relu(tf.nn.conv2d(_act(tf, x), kernel(), 2, "SAME") + module.bias))
        return {"y": _act(tf, tf.reduce_mean(y, [1, 2])), "z": y}

    signature = [tf.TensorSpec((None, None, None, 3), tf.float32, name="x")]
    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def without_nodes(tf: Any) -> Any:
    module, _ = _module(tf, 4, 4)
    signature = [tf.TensorSpec((None, 4), tf.float32, name="x")]
    module.serve = tf.function(lambda x: {"y": tf.matmul(x, module.kernel)}, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def composite(tf: Any) -> Any:
    """A function of a name, which computes between nodes of its own."""
    module = tf.Module()

    @tf.function(experimental_implements="my_layer", autograph=False)
    def layer(x: Any, y: Any) -> Any:
        x, y = _act(tf, x), _act(tf, y)
        return _act(tf, _act(tf, tf.nn.relu(x + y)) * y)

    signature = [tf.TensorSpec((None, 12), tf.float32, name="x")]
    module.serve = tf.function(lambda x: {"y": layer(x, layer(x, x))}, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def constants(tf: Any) -> Any:
    """A rounded constant that is a result as well; a product with a channel that training made 0."""
    module, _ = _module(tf, 12, 5)
    module.kernel.assign(module.kernel * np.array([1, 0, 1, 1, 1], np.float32))
    bound = np.abs(module.kernel.numpy()).max(axis=0)

    def serve(x: Any) -> Any:
        fake = tf.quantization.fake_quant_with_min_max_vars_per_channel
        kernel = fake(module.kernel, -bound, bound, narrow_range=True)
        bias = _act(tf, module.bias)
        return {"y": _act(tf, tf.matmul(_act(tf, x), kernel)), "z": _act(tf, _act(tf, x[:, :5]) + bias), "bias": bias}

    signature = [tf.TensorSpec((None, 12), tf.float32, name="x")]
    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def sequence(tf: Any) -> Any:
    """Rows of several steps, multiplied with weights without nodes, and a layer of such products."""
    module, _ = _module(tf, 8, 6)
    cell = tf.keras.layers.GRU(5, unroll=False)
    cell.build((None, 4, 8))
    module.variables_of_cell = cell.variables

    def serve(x: Any) -> Any:
        x = _act(tf, x)
        return {"y": tf.matmul(x, module.kernel), "z": _act(tf, cell(x))}

    signature = [tf.TensorSpec((None, 4, 8), tf.float32, name="x")]
    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def scalar(tf: Any) -> Any:
    module = tf.Module()
    signature = [tf.TensorSpec((), tf.float32, name="x")]
    module.serve = tf.function(
        lambda x: {"y": _act(tf, _act(tf, x) * 0.75)}, input_signature=signature, autograph=False
    )
    return module, {"serving_default": module.serve}


def test_constants_are_results(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(constants), _inputs(12), rtol=0, atol=1.01 * STEP, quantize="qat")
    assert result.report.quantization is not None
    assert result.report.quantization.floats == ()
    assert op_counts(result.model_bytes)["FULLY_CONNECTED"] == 1


@pytest.mark.parametrize("options", [{}, {"target": "micro", "batch": 2}])
def test_products_of_sequences_with_weights_without_nodes(tensorflow: TensorFlow, options: dict[str, Any]) -> None:
    """Their operand is floats again."""
    inputs = _inputs(4, 8, batches=(2,) if options else (1, 3))
    result = check(
        tensorflow, tensorflow.save(sequence), inputs, rtol=1e-5, atol=1.01 * STEP, quantize="qat", **options
    )
    assert op_counts(result.model_bytes)["DEQUANTIZE"] >= 2


def test_scalars(tensorflow: TensorFlow) -> None:
    inputs: list[dict[str, Any]] = [{"x": np.float32(each)} for each in (1.5, -3)]
    result = check(tensorflow, tensorflow.save(scalar), inputs, rtol=0, atol=1.01 * STEP, quantize="qat")
    assert op_counts(result.model_bytes) == {"QUANTIZE": 1, "MUL": 1, "DEQUANTIZE": 1}


@pytest.mark.parametrize("form", ["inline", "keep"])
def test_composites(tensorflow: TensorFlow, form: str) -> None:
    """A composite that is kept takes and gives floats, and computes in integers."""
    path = tensorflow.save(composite)
    result = check(tensorflow, path, _inputs(12), rtol=0, atol=2.01 * STEP, quantize="qat", composites=form)
    counts = op_counts(result.model_bytes)
    assert counts["STABLEHLO_COMPOSITE"] == (2 if form == "keep" else 0)
    assert result.report.quantization is not None
    stayed = {each.op for each in result.report.quantization.floats}
    assert stayed == ({"STABLEHLO_COMPOSITE"} if form == "keep" else set())


def test_large_weights(tensorflow: TensorFlow) -> None:
    result = check(
        tensorflow, tensorflow.save(wide), _inputs(200, batches=(1, 3, 0)), rtol=0, atol=1.01 * STEP, quantize="qat"
    )
    assert len(result.model_bytes) < 200 * 300 + 4 * 300 + 3000
    assert op_counts(result.model_bytes) == {"QUANTIZE": 1, "FULLY_CONNECTED": 1, "DEQUANTIZE": 1}


def test_signatures_share_weights(tensorflow: TensorFlow) -> None:
    calls = [(key, each) for each in _inputs(60) for key in ("trained", "plain", "trained")]
    result = check_calls(tensorflow, tensorflow.save(shared), calls, rtol=1e-6, atol=2.01 * STEP, quantize="qat")
    assert op_histogram(result.model_bytes)["plain", "FULLY_CONNECTED"] == 1
    assert len(result.model_bytes) < (4 + 1) * 60 * 60 + 4000, "the kernel once in floats, and once as integers"


def test_loops_and_branches(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(loop), _inputs(12), rtol=0, atol=3.01 * STEP, quantize="qat")
    assert result.report.quantization is not None
    stayed = {each.op for each in result.report.quantization.floats}
    assert stayed == {"IF", "SUM"}, "the condition"
    assert op_counts(result.model_bytes)["FULLY_CONNECTED"] == 1


def test_loops_carry_integers_where_these_are_all_that_they_give(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(loops), _inputs(12), rtol=0, atol=4.01 * STEP, quantize="qat")
    carried = [
        {graph.dtype_name(index) for index in (*op.inputs, *op.outputs)}
        for graph in Model(result.model_bytes).graphs
        for op in graph.ops
        if op.name == "WHILE"
    ]
    assert sorted(map(sorted, carried)) == [["float32", "int32"], ["int32", "int8"]]


def test_open_sizes(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(1)
    inputs = [{"x": random.normal(size=size).astype(np.float32)} for size in ((1, 9, 7, 3), (2, 4, 12, 3))]
    result = check(tensorflow, tensorflow.save(open_sizes), inputs, rtol=0, atol=1.01 * STEP, quantize="qat")
    assert op_counts(result.model_bytes) == {"QUANTIZE": 1, "CONV_2D": 1, "MEAN": 1, "DEQUANTIZE": 2}


@pytest.mark.parametrize("options", [{"batch": 2}, {"shapes": {"x": (2, 8, 8, 3)}}, {"debug": {"in_process": True}}])
def test_options(tensorflow: TensorFlow, options: dict[str, Any]) -> None:
    inputs = _inputs(8, 8, 3, batches=(2,))
    check(tensorflow, tensorflow.save(open_sizes), inputs, rtol=0, atol=1.01 * STEP, quantize="qat", **options)


def test_integer_inputs_and_outputs(tensorflow: TensorFlow) -> None:
    """The steps are those of the nodes."""
    path = tensorflow.save(open_sizes)
    model = litefuse.convert(path, quantize=litefuse.Quantization("qat", io=True)).model_bytes
    assert op_counts(model) == {"CONV_2D": 1, "MEAN": 1}
    runner = interpreter(model).get_signature_runner()
    floats = _inputs(8, 8, 3, batches=(2,))[0]["x"]
    (taken,), given = runner.get_input_details().values(), runner.get_output_details()
    scale, zero = taken["quantization"]
    assert (taken["dtype"], scale) == (np.int8, np.float32(8 / 255))
    expected = tensorflow.run_calls(path, [("serving_default", {"x": floats})])[0]
    for _ in range(2):
        outputs = runner(x=np.clip(np.rint(floats / scale) + zero, -128, 127).astype(np.int8))
        for name, value in outputs.items():
            step, zero_point = given[name]["quantization"]
            assert (value.dtype, step) == (np.int8, np.float32(8 / 255))
            assert np.abs((value.astype(float) - zero_point) * step - expected[name]).max() < 1.01 * STEP


def test_largest_difference(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(wide)
    with pytest.raises(QuantizationError, match="quantization changes an output by"):
        litefuse.convert(
            tensorflow.save(build, "convolutions, 4 bits throughout"),
            quantize=litefuse.Quantization("qat", max_error=1e-6),
        )
    result = litefuse.convert(path, quantize=litefuse.Quantization("qat", max_error=0.05))
    assert result.report.quantization is not None
    assert "quantized  int8, with the ranges that training found" in str(result.report)
    assert result.report.quantization.size_before > 4 * 200 * 300


def test_a_model_without_nodes_is_refused(tensorflow: TensorFlow) -> None:
    with pytest.raises(LitefuseError, match="the model has no fake quantization that gives ranges") as raised:
        litefuse.convert(tensorflow.save(without_nodes), quantize="qat")
    assert "--quantize int8" in str(raised.value)


def test_samples_are_refused(tensorflow: TensorFlow) -> None:
    with pytest.raises(LitefuseError, match="samples is only for"):
        litefuse.convert(tensorflow.save(wide), quantize=litefuse.Quantization("qat", samples=_inputs(200)))
