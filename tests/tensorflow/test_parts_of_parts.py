"""Slices of what is stacked, concatenated or padded take what was put in, wherever they do so exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.tensorflow.checking import check_calls
from tests.tensorflow.test_caches import ops_by_signature

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

_Take = Callable[[Any, Any, Any], Any]

# What is taken of x and y, of shape [?, 4, 6] both, and which ops must be gone; "" where one of them must stay.
_FOLDED: dict[str, tuple[_Take, str]] = {
    "stack": (lambda tf, x, y: tf.stack([x, y], 1)[:, 1], "PACK STRIDED_SLICE"),
    "stack_from_the_end": (lambda tf, x, y: tf.stack([x, y], -1)[..., -2], "PACK STRIDED_SLICE"),
    "stack_and_more": (lambda tf, x, y: tf.stack([x, y], 1)[:, 0, 1:, tf.newaxis, ::-2], "PACK"),
    "stacks": (lambda tf, x, y: tf.stack([tf.stack([x, y], 1), tf.stack([y, x], 1)], 0)[1, :, 0], "PACK STRIDED_SLICE"),
    "second_part": (lambda tf, x, y: tf.concat([x, y], 1)[:, 4:8], "CONCATENATION STRIDED_SLICE"),
    "in_second_part": (lambda tf, x, y: tf.concat([x, y], 1)[:, -3:-1, ::2], "CONCATENATION"),
    "reversed_part": (lambda tf, x, y: tf.concat([x, y], 2)[..., 5::-1], "CONCATENATION"),
    "reversed_inside": (lambda tf, x, y: tf.concat([x, y], 2)[..., 10:6:-2], "CONCATENATION"),
    "one_of_part": (lambda tf, x, y: tf.concat([x, y], 1)[:, -1], "CONCATENATION"),
    "strides_in_part": (lambda tf, x, y: tf.concat([x, y], 1)[:, 1:5:3], ""),
    "both_parts": (lambda tf, x, y: tf.concat([x, y], 1)[:, 3:5], ""),
    "open_parts": (lambda tf, x, y: tf.concat([x, y], 0)[1:2], ""),
    "other_axis": (lambda tf, x, y: tf.concat([x, y], 1)[:, :, 2:4], ""),
    "padded": (lambda tf, x, y: tf.pad(x, [[0, 0], [2, 1], [0, 3]])[:, 2:6, :6], "PAD STRIDED_SLICE"),
    "in_padded": (lambda tf, x, y: tf.pad(x, [[0, 0], [2, 1], [0, 0]], constant_values=5.0)[:, -4:-2], "PADV2"),
    "with_padding": (lambda tf, x, y: tf.pad(x, [[0, 0], [2, 1], [0, 0]])[:, 1:4], ""),
    "padded_twice": (lambda tf, x, y: tf.pad(x, [[0, 0], [2, 1], [1, 1]])[:, 2:6], ""),
    "part_of_stack": (lambda tf, x, y: tf.concat([tf.stack([x, y], 1), tf.zeros_like(x)[:, None]], 1)[:, 1], "PACK"),
    "row_of_rows": (lambda tf, x, y: tf.stack([x, y], 1)[:, 0:1], ""),
}
_SLICING = {"STRIDED_SLICE", "SLICE", "PACK", "CONCATENATION", "PAD", "PADV2"}


def parts(tf: Any) -> Any:
    module = tf.Module()
    specs = [tf.TensorSpec([None, 4, 6], name=name) for name in "xy"]

    def signature(take: _Take) -> Any:
        def serve(x: Any, y: Any) -> Any:
            return {"z": take(tf, x, y) * 2.0}

        return tf.function(serve, input_signature=specs, autograph=False)

    module.functions = {name: signature(take) for name, (take, _) in _FOLDED.items()}
    return module, {name: function.get_concrete_function() for name, function in module.functions.items()}


def test_parts_of_parts(tensorflow: TensorFlow) -> None:
    numbers = np.random.default_rng(8)
    calls = [
        (name, {key: numbers.standard_normal((batch, 4, 6)).astype(np.float32) for key in "xy"})
        for name in _FOLDED
        for batch in (1, 3)
    ]
    result = check_calls(tensorflow, tensorflow.save(parts), calls)
    left = ops_by_signature(result.model_bytes)
    for name, (_, gone) in _FOLDED.items():
        slicing = _SLICING & left[name].keys()
        assert not slicing & set(gone.split()) if gone else len(slicing) > 1, (name, left[name])
