"""An op that LiteRT lacks: a composite that runs by its decomposition, or by the kernel pack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.kernels import ExtractImagePatches
from litefuse.support.report import LackingOpReport
from tests.tensorflow.checking import check, interpreter, op_histogram

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

IMAGE = np.arange(1, 101, dtype=np.float32).reshape(1, 10, 10, 1)


def patches(tf: Any, padding: str, dtype: str, size: int, stride: int, rate: int, batch: int | None) -> Any:
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([batch, 10, 10, 1], dtype, name="images")])
    def serve(images: Any) -> Any:
        extracted = tf.image.extract_patches(
            images, [1, size, size, 1], [1, stride, stride, 1], [1, rate, rate, 1], padding, name="the_patches"
        )
        return {"patches": extracted}

    module.extract = serve
    return module, {"serving_default": serve}


DEFAULT = ("SAME", "float32", 3, 1, 1, None)


@pytest.mark.parametrize("kernel_pack", [False, True], ids=["stock", "kernel"])
@pytest.mark.parametrize("allow", [False, True], ids=["by-default", "all"])
def test_becomes_a_composite(tensorflow: TensorFlow, allow: Any, kernel_pack: bool) -> None:
    random = np.random.default_rng(1)
    inputs = [{"images": random.standard_normal([batch, 10, 10, 1]).astype(np.float32)} for batch in (1, 3, 1)]
    path = tensorflow.save(patches, *DEFAULT)
    result = check(tensorflow, path, inputs, rtol=0.0, kernel_pack=kernel_pack, allow_custom_ops=allow)
    assert op_histogram(result.model_bytes)["main", "STABLEHLO_COMPOSITE"] == 1
    assert result.report.custom_ops == ()
    assert result.report.lacking_ops == (LackingOpReport("ExtractImagePatches", "composite", count=1),)


def test_by_name_it_is_a_custom_op(tensorflow: TensorFlow) -> None:
    inputs = [{"images": np.full((batch, 10, 10, 1), batch, np.float32)} for batch in (1, 3, 1)]
    path = tensorflow.save(patches, *DEFAULT)
    result = check(tensorflow, path, inputs, rtol=0.0, kernel_pack=True, allow_custom_ops=["ExtractImagePatches"])
    assert op_histogram(result.model_bytes) == {("main", "ExtractImagePatches"): 1}
    assert result.report.custom_ops == ("ExtractImagePatches",)


def test_the_kernel_claims_the_composite(tensorflow: TensorFlow) -> None:
    seen: list[dict[str, Any]] = []

    class Watched(ExtractImagePatches):
        def prepare(self, images: Any, **options: Any) -> Any:
            seen.append(options)
            return super().prepare(images, **options)

    result = litefuse.convert(tensorflow.save(patches, "VALID", "float32", 2, 3, 2, None))
    runner = interpreter(result.model_bytes, custom_ops=[Watched]).get_signature_runner("serving_default")
    assert runner(images=IMAGE)["patches"].shape == (1, 3, 3, 4)
    assert seen[0] == {"ksizes": [1, 2, 2, 1], "strides": [1, 3, 3, 1], "rates": [1, 2, 2, 1], "padding": "VALID"}


def test_patches_of_the_numbers_from_1_to_100(tensorflow: TensorFlow) -> None:
    result = litefuse.convert(tensorflow.save(patches, *DEFAULT))
    runner = interpreter(result.model_bytes, kernel_pack=True).get_signature_runner("serving_default")
    for _ in range(2):
        extracted = runner(images=IMAGE)["patches"]
        assert extracted.shape == (1, 10, 10, 9)
        assert extracted[0, 0, 0].tolist() == [0, 0, 0, 0, 1, 2, 0, 11, 12]
        assert extracted[0, 9, 9].tolist() == [89, 90, 0, 99, 100, 0, 0, 0, 0]


@pytest.mark.parametrize("batch", [None, 2], ids=["dynamic", "static"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "int64"])
@pytest.mark.parametrize(("padding", "size", "stride", "rate"), [("SAME", 3, 2, 2), ("VALID", 2, 3, 2)])
def test_windows_and_dtypes(
    tensorflow: TensorFlow, padding: str, dtype: str, size: int, stride: int, rate: int, batch: int | None
) -> None:
    path = tensorflow.save(patches, padding, dtype, size, stride, rate, batch)
    random = np.random.default_rng(1)
    inputs = [
        {"images": random.integers(0, 100, [count, 10, 10, 1]).astype(dtype)}
        for count in ([batch] if batch else [1, 3])
    ]
    check(tensorflow, path, inputs, rtol=0.0, kernel_pack=True)
