"""Automatic mixed precision: the smallest file whose outputs are close enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tensorflow.process import Arrays, TensorFlow

WIDTH = 64


def module(tf: Any, first: float = 1.0) -> Any:
    """An embedding, shared by two lookups, and dense layers of which the last ones have weights of several sizes."""
    random = np.random.default_rng(0)

    def weights(*shape: int, scale: float = 1.0) -> Any:
        return tf.Variable((random.normal(size=shape) * scale / np.sqrt(shape[0])).astype(np.float32))

    result = tf.Module()
    result.table = weights(500, WIDTH, scale=np.sqrt(500))
    result.layers = [(weights(WIDTH, WIDTH, scale=first), weights(WIDTH)) for _ in range(4)]
    result.small = (weights(WIDTH, 10), weights(10))

    def serve(ids: Any, more: Any) -> dict[str, Any]:
        y = tf.reduce_mean(tf.gather(result.table, ids), 1) + tf.reduce_mean(tf.gather(result.table, more), 1)
        for kernel, bias in result.layers:
            y = y + tf.nn.relu(y @ kernel + bias)
        return {"y": y @ result.small[0] + result.small[1]}

    specification = [tf.TensorSpec([None, 8], tf.int32, name=name) for name in ("ids", "more")]
    result.serve = tf.function(serve, input_signature=specification, autograph=False)
    return result, {"serving_default": result.serve}


def without_weights(tf: Any) -> Any:
    result, specification = tf.Module(), [tf.TensorSpec([None, 3], name="x")]

    def serve(x: Any) -> dict[str, Any]:
        return {"y": tf.cos(x)}

    result.serve = tf.function(serve, input_signature=specification, autograph=False)
    return result, {"serving_default": result.serve}


def calls(*batches: int) -> list[Arrays]:
    random = np.random.default_rng(1)
    return [
        {name: random.integers(0, 500, (batch, 8)).astype(np.int32) for name in ("ids", "more")} for batch in batches
    ]


@pytest.mark.parametrize("limit", [0.1, 0.01, 0.001, 0.0])
def test_the_error_is_within_the_limit(tensorflow: TensorFlow, limit: float) -> None:
    path = tensorflow.save(module)
    # The error is measured on drawn inputs: on others it is of the same size.
    result = check(
        tensorflow,
        path,
        calls(1, 3, 2),
        rtol=max(3 * limit, 1e-5),
        quantize=litefuse.Quantization("auto", max_error=limit),
    )
    quantization = result.report.quantization
    assert quantization is not None
    assert quantization.error is not None
    assert quantization.error <= limit
    assert quantization.mixed is not None
    forms = {each.form for each in quantization.mixed.layers}
    if limit == 0.0:
        assert forms == {"float32"}
    assert len(quantization.mixed.layers) == 5, "the table once; the last layer's weights are too few"
    curve = quantization.mixed.curve
    assert [each.size for each in curve] == sorted(each.size for each in curve)
    assert [each.error for each in curve] == sorted((each.error for each in curve), reverse=True)
    assert any(each.size == result.report.size for each in curve)


def test_it_is_smaller_than_one_form_for_all(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(module)
    int8 = litefuse.convert(path, quantize="dynamic")
    assert int8.report.quantization is not None
    assert int8.report.quantization.error is not None
    int4 = litefuse.convert(path, quantize=litefuse.Quantization("dynamic", weight_bits=4))
    assert int4.report.quantization is not None
    assert int4.report.quantization.error is not None
    assert int8.report.quantization.error < int4.report.quantization.error / 4
    mixed = litefuse.convert(
        path, quantize=litefuse.Quantization("auto", max_error=int4.report.quantization.error * 0.9)
    )
    assert int4.report.size < mixed.report.size < int8.report.size


def test_layers_can_be_kept_and_samples_given(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(module)
    plain = litefuse.convert(path, quantize=litefuse.Quantization("auto", max_error=0.1))
    assert plain.report.quantization is not None
    assert plain.report.quantization.mixed is not None
    table = next(each.layer for each in plain.report.quantization.mixed.layers if each.op == "EMBEDDING_LOOKUP")
    samples = calls(*[1] * 20)
    kept = litefuse.convert(
        path, quantize=litefuse.Quantization("auto", max_error=0.1, keep_float=[table], samples=lambda: iter(samples))
    )
    assert kept.report.quantization is not None
    assert kept.report.quantization.inputs == "samples"
    assert kept.report.quantization.mixed is not None
    assert table not in {each.layer for each in kept.report.quantization.mixed.layers}
    assert kept.report.size > plain.report.size + 3 * 500 * WIDTH


def test_what_has_no_weights_is_refused(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tensorflow.save(without_weights)
    with pytest.raises(litefuse.LitefuseError, match="no weights whose form"):
        litefuse.convert(path, quantize=litefuse.Quantization("auto", max_error=0.1))
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, "needs max_error"),
        ({"max_error": -1}, "a number of at least 0"),
        ({"max_error": 0.1, "weight_bits": 4}, "weight_bits has no effect"),
        ({"max_error": 0.1, "io": True}, "needs samples"),
        ({"max_error": 0.1, "require_integer": True}, "needs samples"),
    ]
    for options, message in refused:
        with pytest.raises(litefuse.LitefuseError, match=message):
            litefuse.convert(path, quantize=litefuse.Quantization("auto", **options))
    model = litefuse.convert(path)
    model.save(tmp_path / "model.tflite")
    with pytest.raises(litefuse.LitefuseError, match="no weights whose form"):
        litefuse.quantize(tmp_path / "model.tflite", litefuse.Quantization("auto", max_error=0.1))
    assert op_counts(model.model_bytes) == {"COS": 1}
