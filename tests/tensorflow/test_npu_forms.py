"""What the target of Intel's NPUs makes of models: one partition, with the numbers of TensorFlow and of the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.litert.targets.intel import intel_npu, on_linux
from tests.tensorflow import recurrent_models
from tests.tensorflow.checking import check
from tests.tensorflow.recurrent_models import Case
from tests.tensorflow.test_transformers import BACKBONES, LENGTH, backbone, draw, input_shapes

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

pytestmark = on_linux
SHAPE = [2, 4, 4, 6]


def special(tf: Any) -> Any:
    """Ops that Intel's plug-in lacks; with two of them as the last ones."""
    module = tf.Module()

    def serve(x: Any) -> dict[str, Any]:
        y = tf.nn.relu6(5 * x) + tf.nn.elu(x) - tf.nn.log_softmax(x) + tf.nn.selu(x)
        y += tf.floor(3 * x) * tf.math.ceil(2 * x) + tf.reduce_min(x, [1, 2], keepdims=True)
        one, two = tf.split(y, [2, 4], -1)
        least = tf.argmin(x, -1, tf.int32)
        return {"y": -one, "z": tf.squeeze(two[:, :1], [1]), "least": least, "any": tf.reduce_any(x > 1, [1])}

    module.serve = tf.function(serve, input_signature=[tf.TensorSpec(SHAPE, tf.float32, name="x")])
    return module, {"serving_default": module.serve}


def one_partition(result: litefuse.ConversionResult) -> bool:
    (asked,) = result.report.target_checks
    assert (asked.verdict, asked.refused) == ("accelerated", ())
    return dict(asked.facts)["partitions"] == "1"


def test_ops_that_the_plug_in_lacks(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(special)
    x = np.random.default_rng(1).standard_normal(SHAPE).astype(np.float32)
    x[0, 0, 0, :2] = -200, 200
    assert one_partition(check(tensorflow, path, {"x": x}, target=intel_npu(), allow_custom_ops="never"))
    plain = litefuse.convert(path)
    left = {each.op for each in litefuse.check(plain, intel_npu()).reports[0].refused}
    assert {"ELU", "LOG_SOFTMAX", "FLOOR", "CEIL", "REDUCE_MIN", "ARG_MIN", "REDUCE_ANY"} <= left


@pytest.mark.parametrize("case", [case for case in BACKBONES if case.name in {"LlamaBackbone", "T5Backbone"}], ids=str)
def test_transformers(tensorflow: TensorFlow, case: Any) -> None:
    """Layer norms, rotary embeddings and masks, with an open batch, which is 1 there."""
    arguments = (case.name, dict(case.options), LENGTH)
    path = tensorflow.save(backbone, *arguments)
    shapes = tensorflow.call(input_shapes, *arguments)
    assert one_partition(check(tensorflow, path, draw(shapes, 1), target=intel_npu(), allow_custom_ops="never"))


@pytest.mark.parametrize("family", ["sequence LSTM", "bidirectional GRU"])
def test_recurrent_layers_are_unrolled(tensorflow: TensorFlow, family: str) -> None:
    case = Case("keras", family, None, 6)
    path = tensorflow.save(recurrent_models.build, *case)
    x = np.random.default_rng(2).standard_normal((2, 6, recurrent_models.FEATURES)).astype(np.float32)
    assert one_partition(check(tensorflow, path, {"x": x}, target=intel_npu(), batch=2))
