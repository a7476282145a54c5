"""RowStandardize from a function in TensorFlow to a file that runs, in litefuse's interpreter and in the stock one."""

import litefuse
import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter, load_delegate

import row_standardize

tf = pytest.importorskip("tensorflow")


# EDIT: what the op computes.
def formula(x):
    centered = x - tf.reduce_mean(x, -1, keepdims=True)
    return centered / (tf.sqrt(tf.reduce_mean(tf.square(centered), -1, keepdims=True)) + 0.001)


annotated = tf.function(formula, experimental_implements=litefuse.annotation("RowStandardize", epsilon=0.001))


@pytest.mark.parametrize("function", [annotated, formula], ids=["annotated", "recognized"])
def test_it_is_converted_and_runs(function):
    model = tf.function(lambda x: {"y": function(x)}, input_signature=[tf.TensorSpec([None, 4], tf.float32, "x")])
    result = litefuse.convert(model, require_fused=["RowStandardize"])
    assert [composite.unchecked for composite in result.report.composites] == [None]  # compared with the function

    delegates = [load_delegate(row_standardize.library())]
    stock = Interpreter(model_content=result.model_bytes, experimental_delegates=delegates)
    for interpreter in (litefuse.Interpreter(result.model_bytes), stock):
        call = interpreter.get_signature_runner()
        for rows in (1, 3, 1):
            x = np.random.default_rng(rows).standard_normal((rows, 4), np.float32)
            np.testing.assert_allclose(call(x=x)["y"], model(tf.constant(x))["y"], rtol=1e-5, atol=1e-6)
