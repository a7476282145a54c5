"""``litefuse kernels test``: the native pack against TensorFlow's own ops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litefuse.kernels import native_library
from litefuse.litert.cpp.compiler import native_sources
from litefuse.litert.cpp.kernel_library import build_kernels
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


REAL = """
#include "tensorflow/lite/kernels/kernel_util.h"

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteIntArray* shape = tflite::GetInput(context, node, 0)->dims;
  return context->ResizeTensor(context, tflite::GetOutput(context, node, 0), TfLiteIntArrayCopy(shape));
}

TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* from = tflite::GetInput(context, node, 0);
  for (int i = 0; i < tflite::NumElements(from); ++i) {
    tflite::GetOutput(context, node, 0)->data.f[i] = from->data.f[2 * i];
  }
  return kTfLiteOk;
}

TfLiteRegistration* Register_Real() {
  static TfLiteRegistration registration = {nullptr, nullptr, Prepare, Eval};
  return &registration;
}
"""


def pooled_and_real(tf: Any) -> Any:
    class Model(tf.Module):
        @tf.function(
            input_signature=[tf.TensorSpec([None, 6, 4, 2], tf.float32), tf.TensorSpec([None, 3], tf.complex64)]
        )
        def __call__(self, x: Any, z: Any) -> Any:
            pooled, places = tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", output_dtype=tf.int32)
            return {"pooled": pooled, "places": places, "real": tf.math.real(z)}

    return Model()


def test_attributes_that_are_types_are_read_by_their_names(tensorflow: TensorFlow, tmp_path: Path) -> None:
    (tmp_path / "real.cc").write_text(REAL)
    pack = native_sources() / "kernels"
    sources = [tmp_path / "real.cc", pack / "max_pool_with_argmax.cc"]
    build_kernels(sources, tmp_path / "lib.so", includes=[pack], options=["-O0"])
    checked = check_kernels(tmp_path / "lib.so", tensorflow.save(pooled_and_real))
    assert [(call.op, call.verdict, call.problem) for call in checked] == [
        ("MaxPoolWithArgmax", "equal", ""),
        ("Real", "equal", ""),
    ]
