"""Masks of attention become sums and products, where several layers use one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.tensorflow.checking import check_calls
from tests.tensorflow.test_caches import ops_by_signature

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

# The number that masks scores, the one that masks weights, how many layers, and the SELECT_V2 that must be left.
_FORMS = {
    "as_keras": (-1e9, 0.0, 4, 2),
    "lowest": (float(np.finfo(np.float32).min), 0.0, 3, 2),
    "two_layers": (-1e9, 0.0, 2, 4),
    "small": (-100.0, 0.0, 3, 6),
    "infinite": (-np.inf, 0.0, 3, 6),
    "other_weights": (-1e9, 0.5, 3, 6),
}
_NEIGHBOURS = {"own_masks": 6, "read_between": 6}


def masks(tf: Any) -> Any:
    module = tf.Module()
    specs = [tf.TensorSpec([None, 2, 5, 7], name="x"), tf.TensorSpec([None, 1, 5, 7], tf.bool, name="m")]

    def form(low: float, weight: float, layers: int, _: int) -> Any:
        def serve(x: Any, m: Any) -> Any:
            for _ in range(layers):
                x = tf.where(m, tf.nn.softmax(tf.where(m, 4.0 * x, low)), weight) - 0.3
            return {"y": x}

        return tf.function(serve, input_signature=specs)

    def own_masks(x: Any, m: Any) -> Any:
        for layer in range(3):
            mask = tf.roll(m, layer + 1, -1)
            x = tf.where(mask, tf.nn.softmax(tf.where(mask, 4.0 * x, -1e9)), 0.0) - 0.3
        return {"y": x}

    def read_between(x: Any, m: Any) -> Any:
        weights: list[Any] = []
        for _ in range(3):
            weights.append(tf.nn.softmax(tf.where(m, 4.0 * x, -1e9)))
            x = tf.where(m, weights[-1], 0.0) - 0.3
        return {"y": x, "weights": tf.stack(weights)}

    module.functions = {
        **{name: form(*values) for name, values in _FORMS.items()},
        **{
            neighbour.__name__: tf.function(neighbour, input_signature=specs) for neighbour in (own_masks, read_between)
        },
    }
    return module, {name: function.get_concrete_function() for name, function in module.functions.items()}


def test_masks_are_added(tensorflow: TensorFlow) -> None:
    numbers = np.random.default_rng(2)
    calls: list[Any] = []
    for name in (*_FORMS, *_NEIGHBOURS):
        for batch in (1, 3, 3):
            mask = numbers.random((batch, 1, 5, 7)) < 0.5
            mask[:, :, 1:3] = [[False], [True]]  # rows that are masked as a whole, and not at all
            x = (30 * numbers.standard_normal((batch, 2, 5, 7))).astype(np.float32)
            calls.append((name, {"x": x, "m": mask}))
    result = check_calls(tensorflow, tensorflow.save(masks), calls)
    selections = {name: ops["SELECT_V2"] for name, ops in ops_by_signature(result.model_bytes).items()}
    assert selections == {**{name: left for name, (*_, left) in _FORMS.items()}, **_NEIGHBOURS}
