# pyright: reportUnknownLambdaType=false
"""Constants beside activations, and what is made of constants alone, in models that compute in integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.conversion.quantization.float_ops import ops_by_kind
from litefuse.support.report.quantized import OpKinds
from tests.tensorflow.checking import check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    from litefuse.support.options.forms import QuantizationForm
    from tests.tensorflow.process import TensorFlow

FORMS: list[QuantizationForm] = ["int8", "int16"]
SHAPES: dict[int, list[int]] = {0: [], 1: [8], 2: [4, 8], 3: [3, 4, 8], 4: [2, 3, 4, 8]}
# Some steps of int8, of the largest output; products have weights of int8 in either form.
TOLERANCES: dict[QuantizationForm, float] = {"int8": 0.03, "int16": 0.001}


OPS = ["add", "concat", "maximum", "mul", "select", "stack", "sub", "update"]


def numbers(seed: int, *shape: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def checked(
    tensorflow: TensorFlow, path: Path, calls: list[Any], form: QuantizationForm, tolerance: float
) -> litefuse.ConversionResult:
    """Outputs are those of TensorFlow, in two calls of one interpreter, and each op computes in integers."""
    largest = max(float(np.abs(value).max()) for call in calls for value in tensorflow.run(path, call)[0].values())
    result = check(
        tensorflow,
        path,
        calls,
        rtol=tolerance * min(1.0, largest),
        quantize=litefuse.Quantization(form, samples=[*calls, *({"x": -call["x"]} for call in calls)]),
    )
    quantization = result.report.quantization
    assert quantization is not None
    assert quantization.floats == ()
    return result


def beside(tf: Any, op: str, rank: int, left: bool, batch: int | None) -> Any:
    constant = tf.constant(numbers(rank, *SHAPES[rank]))
    ops: dict[str, Callable[[Any, Any], Any]] = {
        "add": tf.add,
        "concat": lambda a, b: tf.concat([a, b], 0),
        "maximum": tf.maximum,
        "mul": tf.multiply,
        "select": lambda a, b: tf.where(tf.constant([True, False] * 4), a, b),
        "squared_difference": tf.math.squared_difference,
        "stack": lambda a, b: tf.stack([a, b], -1),
        "sub": tf.subtract,
        "update": lambda a, b: tf.tensor_scatter_nd_update(a, [[0]], b[:1]),
    }
    of_one_rank = op in {"concat", "stack", "update"}
    shape = SHAPES[rank] if of_one_rank else SHAPES[3]
    spec = tf.TensorSpec([batch, *shape[1:]] if batch is None else shape, tf.float32, name="x")
    module = tf.Module()
    module.serve = tf.function(
        lambda x: {"y": ops[op](constant, x) if left else ops[op](x, constant)}, input_signature=[spec]
    )
    return module, {"serving_default": module.serve}


# LiteRT has SQUARED_DIFFERENCE of int8 alone.
@pytest.mark.parametrize(
    ("op", "form"), [*((op, form) for op in OPS for form in FORMS), ("squared_difference", "int8")]
)
@pytest.mark.parametrize("batch", [3, None])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("rank", SHAPES)
def test_constants_of_any_rank(
    tensorflow: TensorFlow, op: str, rank: int, left: bool, batch: int | None, form: QuantizationForm
) -> None:
    of_one_rank = op in {"concat", "stack", "update"}
    if of_one_rank and (not rank or (batch is None and op != "concat")):
        batch, rank = 3, max(rank, 1)  # these have one size
    path = tensorflow.save(beside, op, rank, left, batch)
    shape = SHAPES[rank] if of_one_rank else SHAPES[3]
    sizes = [shape[0]] * 2 if batch else [3, 3]
    calls = [{"x": numbers(seed, size, *shape[1:])} for seed, size in enumerate(sizes, 20)]
    checked(tensorflow, path, calls, form, TOLERANCES[form])


def class_token(tf: Any, batch: int | None, size: float) -> Any:
    """Patches of an image behind a class token, which is repeated by the batch, and what else is made of constants."""
    module = tf.Module()
    module.kernel = tf.Variable(numbers(1, 8, 8))
    module.token = tf.Variable(numbers(2, 1, 1, 8) * size)

    def serve(x: Any) -> Any:
        rows = tf.shape(x)[0]
        hidden = tf.nn.relu(tf.matmul(x, module.kernel))
        token = tf.repeat(module.token, rows, 0)
        table = tf.tile(tf.reverse(module.token, [2]), [rows, 1, 1])
        return {"y": tf.concat([token, hidden, table, tf.fill([rows, 1, 8], 0.7)], 1)}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([batch, 4, 8], tf.float32, name="x")])
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1.0, 1e-3])
@pytest.mark.parametrize("batch", [3, None])
def test_class_token(tensorflow: TensorFlow, batch: int | None, size: float, form: QuantizationForm) -> None:
    path = tensorflow.save(class_token, batch, size)
    calls = [{"x": numbers(seed, rows, 4, 8)} for seed, rows in enumerate([3] * 2 if batch else [1, 3, 2], 5)]
    result = checked(tensorflow, path, calls, form, 0.03)  # of weights
    # One scale for all that is concatenated: nothing is converted between.
    assert result.report.op_counts["QUANTIZE"] == 1


def read_twice(tf: Any) -> Any:
    """What is made of a constant is read by ops that take it in scales of their own."""
    module = tf.Module()
    token = tf.constant(numbers(2, 1, 8))

    def serve(x: Any) -> Any:
        repeated = tf.tile(token, [tf.shape(x)[0], 1])
        return {"sum": x + repeated, "both": tf.concat([repeated, 5.0 * x], -1), "larger": tf.maximum(repeated, x)}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([None, 8], tf.float32, name="x")])
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_made_of_a_constant_has_several_readers(tensorflow: TensorFlow, form: QuantizationForm) -> None:
    calls = [{"x": numbers(seed, rows, 8)} for seed, rows in ((1, 1), (2, 3), (3, 2))]
    checked(tensorflow, tensorflow.save(read_twice), calls, form, TOLERANCES[form])


def first_factor(tf: Any) -> Any:
    module = tf.Module()
    # Channels of sizes far apart have scales of their own, were it the second factor.
    constant = tf.constant(numbers(1, 3, 5) * np.array([[0.1], [1], [10]], np.float32))
    spec = tf.TensorSpec([5, 8], tf.float32, name="x")
    module.serve = tf.function(lambda x: {"y": tf.matmul(constant, x)}, input_signature=[spec])
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("form", FORMS)
def test_a_constant_is_the_first_factor(tensorflow: TensorFlow, form: QuantizationForm, tmp_path: Path) -> None:
    calls = [{"x": numbers(seed, 5, 8)} for seed in (1, 2)]
    path = tensorflow.save(first_factor)
    result = check(tensorflow, path, calls, rtol=0.03, quantize=litefuse.Quantization(form, samples=calls))
    (tmp_path / "model.tflite").write_bytes(result.model_bytes)
    kinds = ops_by_kind(tmp_path / "model.tflite", integer=True).kinds
    # LiteRT multiplies no int8 with activations of int16, which only weights may be.
    assert kinds == (OpKinds(2, 0, 0) if form == "int8" else OpKinds(1, 0, 1))


@pytest.mark.parametrize("batch", [3, None])
def test_as_many_float_ops_as_in_the_stock_converters_file(
    tensorflow: TensorFlow, batch: int | None, tmp_path: Path
) -> None:
    path = tensorflow.save(class_token, batch, 1.0)
    calls = [{"x": numbers(seed, 3, 4, 8)} for seed in (1, 2)]
    stock = tensorflow.call(stock_int8, str(path), calls)
    (tmp_path / "stock.tflite").write_bytes(stock)
    theirs = ops_by_kind(tmp_path / "stock.tflite", integer=True).kinds
    result = checked(tensorflow, path, calls, "int8", 0.03)
    (tmp_path / "ours.tflite").write_bytes(result.model_bytes)
    ours = ops_by_kind(tmp_path / "ours.tflite", integer=True).kinds
    assert (ours.hybrid, ours.real) == (theirs.hybrid, theirs.real) == (0, 0)


def stock_int8(tf: Any, path: str, calls: list[Any]) -> bytes:
    converter = tf.lite.TFLiteConverter.from_saved_model(path)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: iter(calls)
    return bytes(converter.convert())
