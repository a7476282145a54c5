"""Conversions for the target ``web``: inputs and outputs are of dtypes that JavaScript has arrays of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.litert.runtime.model_reader import Model
from tests.tensorflow import recurrent_models
from tests.tensorflow.checking import interpreter
from tests.tensorflow.recurrent_models import Case

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

_WITHOUT = litefuse.Checks(targets=False)  # tests/tensorflow/on_web.py asks the browser


def lookup(tf: Any) -> Any:
    module = tf.Module()
    module.table = tf.Variable(np.random.default_rng(1).standard_normal((9, 4)).astype(np.float32))

    def serve(ids: Any, flag: Any) -> dict[str, Any]:
        rows = tf.gather(module.table, ids)
        return {
            "rows": rows,
            "twice": ids * 2 - (1 << 40) + (1 << 40),
            "best": tf.argmax(rows, -1),
            "both": tf.math.logical_and(flag, tf.reduce_any(ids > 3)),
        }

    specs = [tf.TensorSpec([None, 3], tf.int64, name="ids"), tf.TensorSpec([], tf.bool, name="flag")]
    module.serve = tf.function(serve, input_signature=specs)
    return module, {"serving_default": module.serve}


def far(tf: Any) -> Any:
    module = tf.Module()

    def serve(x: Any) -> dict[str, Any]:
        return {"y": x, "limit": tf.constant([7, 1 << 35], tf.int64)}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec([1], tf.float32, name="x")])
    return module, {"serving_default": module.serve}


def test_inputs_and_outputs_are_float32_int32_or_uint8(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(lookup)
    result = litefuse.convert(path, target="web", batch=2, checks=_WITHOUT)
    retyped = {(entry.what, entry.name, entry.dtype, entry.new_dtype) for entry in result.report.narrowed}
    assert retyped == {
        ("input", "serving_default:ids", "int64", "int32"),
        ("input", "serving_default:flag", "bool", "uint8"),
        ("output", "serving_default:twice", "int64", "int32"),
        ("output", "serving_default:best", "int64", "int32"),
        ("output", "serving_default:both", "bool", "uint8"),
    }
    assert "ids is int32 for int64" in str(result.report)
    runner = interpreter(result.model_bytes).get_signature_runner()
    for ids, flag in (([[0, 5, 3], [1, 1, 8]], True), ([[0, 3, 3], [1, 1, 2]], True), ([[8, 8, 8]] * 2, False)):
        inputs = {"ids": np.array(ids, np.int64), "flag": np.array(flag)}
        (expected,) = tensorflow.run_calls(path, [("serving_default", inputs)])
        for _ in range(2):
            outputs = runner(ids=np.array(ids, np.int32), flag=np.array(flag, np.uint8))
            dtypes = {name: value.dtype for name, value in outputs.items()}
            assert dtypes == {"rows": np.float32, "twice": np.int32, "best": np.int32, "both": np.uint8}
            for name, value in expected.items():
                np.testing.assert_allclose(outputs[name], value.astype(np.float64), rtol=1e-6)
    plain = Model(litefuse.convert(path, batch=2).model_bytes)
    kinds = {str(plain.graphs[0].tensor(index).dtype) for index in plain.signatures["serving_default"].inputs.values()}
    assert kinds == {"int64", "bool"}


def test_a_constant_that_int32_does_not_hold_is_refused(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(far)
    with pytest.raises(
        litefuse.LitefuseError, match="output 'limit' of serving_default is int64 with the constant 343"
    ):
        litefuse.convert(path, target="web", checks=_WITHOUT)


@pytest.mark.parametrize("quantize", [None, "int8"])
@pytest.mark.parametrize("family", ["sequence LSTM", "stack GRU"])
def test_loops_update_tensors_of_rank_4(tensorflow: TensorFlow, family: str, quantize: Any) -> None:
    path = tensorflow.save(recurrent_models.build, *Case("keras", family, None, 6))
    random = np.random.default_rng(4)
    rows = [{"x": row} for row in random.standard_normal((50, 1, 6, recurrent_models.FEATURES)).astype(np.float32)]
    quantization = litefuse.Quantization(quantize, samples=rows if quantize else None)
    result = litefuse.convert(path, target="web", quantize=quantization, checks=_WITHOUT)
    assert result.report.batch_taken == 1
    assert "WHILE" in result.report.op_counts
    model = Model(result.model_bytes)
    updated = [
        len(graph.tensor(op.inputs[0]).shape)
        for graph in model.graphs
        for op in graph.ops
        if op.name == "DYNAMIC_UPDATE_SLICE"
    ]
    assert updated
    assert set(updated) == {4}
    runner = interpreter(result.model_bytes).get_signature_runner()
    for row in rows[:2]:
        (expected,) = tensorflow.run_calls(path, [("serving_default", row)])
        for _ in range(2):
            np.testing.assert_allclose(runner(**row)["y0"], expected["y0"], atol=0.05 if quantize else 1e-5)
