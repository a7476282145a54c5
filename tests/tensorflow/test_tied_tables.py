"""Tables that rows are looked up in and that are multiplied with, in all forms: each is in the file once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.support.options.forms import INTEGER_ACTIVATIONS, QUANTIZATIONS
from tests.tensorflow.checking import difference, run_calls

if TYPE_CHECKING:
    from pathlib import Path

    from litefuse.support.options.forms import QuantizationForm
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
    "fewer dimensions than the table": "tf.matmul(h[:, 0], t[None], transpose_b=True)",
    "a table of other rows": "tf.matmul(tf.repeat(h, 2, -1), tf.reshape(t, [1000, 64]), transpose_b=True)",
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


# The table's bytes in the file, of those in float32; how far logits may be off, in units of the largest one.
QUANTIZED: dict[QuantizationForm, tuple[float, float]] = {
    "dynamic": (0.25, 0.06),
    "weights": (0.25, 0.04),
    "float16": (0.5, 2e-3),
    "int8": (0.25, 0.1),
    "int16": (0.25, 0.06),
}


@pytest.mark.parametrize("quantize", [form for form in QUANTIZATIONS if form not in {"auto", "qat"}])
@pytest.mark.parametrize("form", ["transposed operand", "fewer dimensions than the table", "scaled rows"])
def test_quantized(tensorflow: TensorFlow, form: str, quantize: QuantizationForm) -> None:
    path = tensorflow.save(tied, FORMS[form], "variable", None)
    inputs = [ids(1, 5), ids(3, 4)]
    samples = inputs if quantize in INTEGER_ACTIVATIONS else None
    model = litefuse.convert(path, quantize=litefuse.Quantization(quantize, samples=samples)).model_bytes
    calls = [("serving_default", each) for each in inputs for _ in range(2)]
    share, tolerance = QUANTIZED[quantize]
    for found, wanted in zip(run_calls(model, calls), tensorflow.run_calls(path, calls), strict=True):
        assert np.abs(found["y"] - wanted["y"]).max() <= tolerance * np.abs(wanted["y"]).max()
    if not form.startswith("fewer"):  # where the shapes differ, so do the quantized bytes, or the scales
        scales = 2 * (4 + 8) * ROWS  # and zero points, of each tensor
        assert share * TABLE_BYTES <= len(model) <= share * TABLE_BYTES + scales + 8192


def tied_by_signatures(tf: Any) -> Any:
    module, signatures = tied(tf, FORMS["list of one"], "variable", None)

    @tf.function(input_signature=[tf.TensorSpec([None, WIDTH], tf.float32, name="h")])
    def score(h: Any) -> Any:
        return {"y": h @ tf.transpose(module.table) * 0.5}

    module.score = score
    return module, {**signatures, "score": score}


def test_two_signatures(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(tied_by_signatures)
    model = litefuse.convert(path).model_bytes
    rows = np.random.default_rng(4).standard_normal((3, WIDTH)).astype(np.float32)
    calls = [("serving_default", ids(2, 3)), ("score", {"h": rows}), ("score", {"h": rows[:1]})]
    for found, wanted in zip(run_calls(model, calls), tensorflow.run_calls(path, calls), strict=True):
        assert not (problem := difference(found["y"], wanted["y"], rtol=1e-5)), problem
    assert TABLE_BYTES <= len(model) <= 1.02 * TABLE_BYTES + 8192


def written(tf: Any) -> Any:
    module = tf.Module()
    table = np.random.default_rng(1).standard_normal((ROWS, WIDTH)).astype(np.float32)
    module.table, module.copy = tf.Variable(table), tf.Variable(table[None])

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.int32, name="x")])
    def serve(x: Any) -> Any:
        y = tf.matmul(tf.gather(module.table, x), module.copy, transpose_b=True)
        module.copy.assign(module.copy * 0.5)
        return {"y": y}

    module.serve = serve
    return module, {"serving_default": serve}


def test_variable_that_begins_with_a_table(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(written)
    check(tensorflow, path, [ids(1, 2), ids(3, 2)], TABLE_BYTES)
