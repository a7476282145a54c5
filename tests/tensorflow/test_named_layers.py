"""Layers of Keras are named, each of them, and kept as composites they compute the same."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.support.options.forms import CompositeForm
from tests.tensorflow.checking import check
from tests.tensorflow.test_transformers import BACKBONES, Backbone, backbone, draw, input_shapes

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

_KEPT: dict[str, CompositeForm] = {"odml.*": "keep", "litefuse.*": "keep"}
_INLINED: dict[str, CompositeForm] = {"odml.*": "inline", "litefuse.*": "inline"}


def normalizations(tf: Any, name: str, options: Mapping[str, Any], length: int | None) -> int:
    """How often normalizations of Keras or Keras Hub are called in a backbone."""
    keras: Any = importlib.import_module("keras")
    module, signatures = backbone(tf, name, options, length)
    calls = 0
    call = keras.layers.Layer.__call__

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += "Norm" in type(self).__name__
        return call(self, *args, **kwargs)

    keras.layers.Layer.__call__ = counted
    try:
        signatures["serving_default"].get_concrete_function()
    finally:
        keras.layers.Layer.__call__ = call
    del module
    return calls


_OTHERS = {
    "GemmaBackbone": {"rotary embedding": 2, "GeGLU": 1},
    "LlamaBackbone": {"rotary embedding": 2, "SwiGLU": 1},
    "MistralBackbone": {"rotary embedding": 2, "SwiGLU": 1},
    "Phi3Backbone": {"rotary embedding": 2, "SwiGLU": 1},
    "DebertaV3Backbone": {"GELU": 1},
    "FNetBackbone": {"GELU": 1},
    "BertBackbone": {"GELU": 1},
    "GPT2Backbone": {"GELU": 1},
    "WhisperBackbone": {"GELU": 4},
}


@pytest.mark.parametrize("case", BACKBONES, ids=str)
def test_backbone(tensorflow: TensorFlow, case: Backbone) -> None:
    arguments = (case.name, dict(case.options), case.length)
    path = tensorflow.save(backbone, *arguments)
    shapes = tensorflow.call(input_shapes, *arguments)
    result = check(tensorflow, path, [draw(shapes, batch) for batch in (1, 3)], composites=_KEPT)
    found = Counter(each.kind for each in result.report.layers)
    expected = tensorflow.call(normalizations, *arguments)
    assert sum(count for kind, count in found.items() if kind.endswith("normalization")) == expected > 0
    others = {kind: count for kind, count in found.items() if not kind.endswith(("normalization", "attention"))}
    assert others == _OTHERS.get(case.name, {})
    kept = [each for each in result.report.layers if each.became == "STABLEHLO_COMPOSITE"]
    assert len(kept) == len(result.report.layers) == result.report.op_counts["STABLEHLO_COMPOSITE"]


def test_the_file_is_the_same_unless_a_layer_is_kept(tensorflow: TensorFlow) -> None:
    case = BACKBONES[0]
    path = tensorflow.save(backbone, case.name, dict(case.options), case.length)
    plain = litefuse.convert(path)
    named = litefuse.convert(path, composites=_INLINED)
    assert not plain.report.layers
    assert {each.became for each in named.report.layers} == {"inlined", "GELU, MUL"}
    assert plain.model_bytes == named.model_bytes
    assert plain.model_bytes != litefuse.convert(path, composites=_KEPT).model_bytes


def layers_of_keras_2(tf: Any) -> Any:
    keras: Any = importlib.import_module("tf_keras")
    x = keras.Input((6, 6, 8))
    y = keras.layers.LayerNormalization(epsilon=1e-3)(x)  # as a batch normalization
    y = keras.layers.LayerNormalization(epsilon=1e-6)(y * 2.0)
    y = keras.layers.GroupNormalization(4)(y + x)
    y = keras.layers.GroupNormalization(-1, scale=False, center=False)(y + 1.0)
    model = keras.Model(x, keras.layers.Activation("gelu")(y))
    random = np.random.default_rng(0)
    for weight in model.trainable_variables:
        weight.assign(weight + 0.1 * random.standard_normal(weight.shape).astype(np.float32))
    module = tf.Module()
    module.model = model
    specs = [tf.TensorSpec([None, 6, 6, 8], tf.float32, name="x")]

    @tf.function(input_signature=specs, autograph=False)
    def serve(x: Any) -> Any:
        return {"y": model(x)}

    module.serve = serve
    return module, {"serving_default": module.serve}


def test_layers_of_keras_2(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(layers_of_keras_2)
    random = np.random.default_rng(1)
    inputs = [{"x": random.standard_normal([batch, 6, 6, 8]).astype(np.float32)} for batch in (1, 3)]
    result = check(tensorflow, path, inputs, composites={"odml.*": "keep"})
    assert [(each.kind, each.became) for each in result.report.layers] == [
        *[("layer normalization", "STABLEHLO_COMPOSITE")] * 2,
        *[("group normalization", "STABLEHLO_COMPOSITE")] * 2,
        ("GELU", "GELU"),
    ]
    assert result.report.near_layers == ()


def layers_anywhere(tf: Any) -> Any:
    random = np.random.default_rng(0)
    scale, offset = (tf.Variable(random.standard_normal(8), dtype=tf.float32) for _ in range(2))
    module = tf.Module()
    module.weights = [scale, offset]

    def norm(x: Any) -> Any:
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-5)

    def loop(x: Any) -> Any:
        def step(i: Any, y: Any) -> Any:
            return i + 1, norm(y)

        shapes = [tf.TensorShape([]), tf.TensorShape([None, 8])]
        return tf.while_loop(lambda i, _: i < 3, step, [0, x], shape_invariants=shapes)[1]  # pyright: ignore[reportUnknownLambdaType]

    def branch(x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0, lambda: norm(x), lambda: x)

    def signature(function: Any, shape: Any) -> Any:
        spec = tf.TensorSpec(shape, tf.float32, name="x")
        return tf.function(lambda x: {"größe": function(x)}, input_signature=[spec], autograph=False)  # pyright: ignore[reportUnknownLambdaType]

    module.loop, module.branch = signature(loop, [None, 8]), signature(branch, [None, 8])
    module.twice = signature(lambda x: norm(norm(x)), [None, None, 8])  # pyright: ignore[reportUnknownLambdaType]
    return module, {name: getattr(module, name) for name in ("loop", "branch", "twice")}


def test_layers_are_named_in_loops_branches_and_all_signatures(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(layers_anywhere)
    random = np.random.default_rng(1)
    for signature, shape in (("loop", [3, 8]), ("branch", [3, 8]), ("twice", [2, 3, 8])):
        inputs = [{"x": random.standard_normal(shape).astype(np.float32)} for _ in range(2)]
        result = check(tensorflow, path, inputs, signature=signature, composites={"odml.*": "keep"})
        assert [each.became for each in result.report.layers] == ["STABLEHLO_COMPOSITE"] * 4
