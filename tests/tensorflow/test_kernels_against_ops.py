"""``litefuse kernels test``: the native pack against TensorFlow's own ops."""

from __future__ import annotations

from typing import Any

from litefuse.kernels import native_library
from litefuse.tools.kernel_check.check import check_kernels
from tests.tensorflow.process import TensorFlow


def patches_and_roll(tf: Any) -> Any:
    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 6, 5, 2], tf.float32, name="x")])
        def __call__(self, x: Any) -> Any:
            patches = tf.raw_ops.ExtractImagePatches(
                images=x, ksizes=[1, 2, 3, 1], strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], padding="SAME"
            )
            return {"y": tf.raw_ops.Roll(input=patches, shift=[1, 2], axis=[1, 2])}

    return Model()


def test_kernels_are_compared_with_the_ops_of_tensorflow(tensorflow: TensorFlow) -> None:
    library = native_library()
    assert library is not None
    model = tensorflow.save(patches_and_roll)
    found = check_kernels(library, model, ops=["ExtractImagePatches", "Roll", "Erf"])
    checked = {each.op: each for each in found}
    assert set(checked) == {"ExtractImagePatches", "Roll"}
    for op, each in checked.items():
        assert each.original == f"TensorFlow's {op}"
        assert each.verification is not None, each.problem
        assert (each.verification.verdict, each.verification.error) == ("equal", 0)
