"""Tables that rows are looked up in and that are multiplied with, in all forms: each is in the file once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import difference, run_calls

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import Arrays, TensorFlow

ROWS, WIDTH = 2000, 32
TABLE_BYTES = 4 * ROWS * WIDTH

# How the rows of ids become logits: `t` is the table, and `h` what was made of its rows.
FORMS = {
    "transposed operand": "tf.matmul(h, t, transpose_b=True)",
    "transposition": "h @ tf.transpose(t)",
    "einsum": "tf.einsum('bld,vd->blv', h, t)",
    "einsum of columns": "tf.einsum('bld,dv->blv', h, tf.transpose(t))",
    "flat rows": "tf.reshape(tf.matmul(tf.reshape(h, [-1, 32]), t, transpose_b=True), [tf.shape(x)[0], -1, 2000])",
    "list of one": "tf.matmul(h, [t], transpose_b=True)",
    "a batch of one": "tf.matmul(h, t[None], transpose_b=True)",
    "a batch of one, transposed": "h @ tf.transpose(t[None], [0, 2, 1])",
    "with a bias": "tf.nn.relu(tf.matmul(h, t, transpose_b=True) + tf.linspace(-1.0, 1.0, 2000))",
    "scaled rows": "tf.matmul(h * 32**-0.5, t, transpose_b=True)",
    "scaled rows, list of one": "tf.matmul(h * 32**-0.5, [t], transpose_b=True)",
    "scaled logits": "tf.matmul(h, t, transpose_b=True) * 0.25",
    "normalized rows": "tf.matmul(h * tf.linspace(0.5, 1.5, 32) + 0.5, t, transpose_b=True)",
}


def tied(tf: Any, form: str, kept_as: str, length: int | None) -> Any:
    module = tf.Module()
    table = np.random.default_rng(1).standard_normal((ROWS, WIDTH)).astype(np.float32)
    if kept_as == "variable":
        module.table = tf.Variable(table)
    elif kept_as == "columns":
        module.columns = tf.Variable(table.T.copy())
    elif kept_as == "two variables":
        module.table, module.copy = tf.Variable(table), tf.Variable(table[None])
    scope = {"tf": tf}

    @tf.function(input_signature=[tf.TensorSpec([None if length is None else 1, length], tf.int32, name="x")])
    def serve(x: Any) -> Any:
        if kept_as == "constant":
            t = tf.constant(table)
        else:
            t = tf.transpose(module.columns) if kept_as == "columns" else module.table
        h = tf.tanh(tf.gather(t, x))
        if kept_as == "two variables":
            t = tf.squeeze(module.copy, 0)
        return {"y": eval(form, scope, {"h": h, "t": t, "x": x})}

    module.serve = serve
    return module, {"serving_default": serve}


def ids(batch: int, length: int) -> Arrays:
    found = np.random.default_rng(batch).integers(0, ROWS, (batch, length)).astype(np.int32)
    found.flat[0], found.flat[-1] = 0, ROWS - 1
    return {"x": found}


def check(tensorflow: TensorFlow, path: Path, inputs: list[Arrays], most: float) -> bytes:
    model = litefuse.convert(path).model_bytes
    calls = [("serving_default", each) for each in inputs for _ in range(2)]
    for found, wanted in zip(run_calls(model, calls), tensorflow.run_calls(path, calls), strict=True):
        assert not (problem := difference(found["y"], wanted["y"], rtol=1e-5)), problem
    assert most <= len(model) <= 1.02 * most + 4096 + 4 * ROWS  # a bias may be as long as the table
    return model


@pytest.mark.parametrize("form", FORMS)
def test_forms(tensorflow: TensorFlow, form: str) -> None:
    path = tensorflow.save(tied, FORMS[form], "variable", None)
    check(tensorflow, path, [ids(1, 5), ids(3, 4), ids(2, 1)], TABLE_BYTES)


@pytest.mark.parametrize("form", ["transposed operand", "list of one", "scaled rows"])
@pytest.mark.parametrize("kept_as", ["variable", "columns", "two variables", "constant"])
def test_fixed_length(tensorflow: TensorFlow, form: str, kept_as: str) -> None:
    path = tensorflow.save(tied, FORMS[form], kept_as, 5)
    check(tensorflow, path, [ids(1, 5), ids(1, 5)], TABLE_BYTES)
