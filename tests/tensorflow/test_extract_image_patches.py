"""An op that LiteRT lacks: refused by name, or kept as a custom op that the kernel pack runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import UnsupportedOpsError
from tests.tensorflow.checking import check, custom_options, interpreter, op_counts

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


def test_refused_by_default_with_node_dtype_and_shape(tensorflow: TensorFlow) -> None:
    with pytest.raises(UnsupportedOpsError) as caught:
        litefuse.convert(tensorflow.save(patches, *DEFAULT))
    (op,) = caught.value.ops
    assert op.op == "ExtractImagePatches"
    assert "the_patches" in op.node
    assert op.operands == ("float32[?,10,10,1]",)
    assert op.results == ("float32[?,10,10,9]",)
    message = str(caught.value)
    for part in ["ExtractImagePatches", "the_patches", "float32[?,10,10,1]", "allow"]:
        assert part in message


def test_refused_when_only_other_ops_are_allowed(tensorflow: TensorFlow) -> None:
    with pytest.raises(UnsupportedOpsError, match="ExtractImagePatches"):
        litefuse.convert(tensorflow.save(patches, *DEFAULT), allow_custom_ops=["SomethingElse"])


@pytest.mark.parametrize("allow", [True, ["ExtractImagePatches"]], ids=["all", "by-name"])
def test_allowed_op_runs_with_the_kernel_pack(tensorflow: TensorFlow, allow: Any) -> None:
    random = np.random.default_rng(1)
    inputs = [{"images": random.standard_normal([batch, 10, 10, 1]).astype(np.float32)} for batch in (1, 3, 1)]
    result = check(
        tensorflow, tensorflow.save(patches, *DEFAULT), inputs, rtol=0.0, kernel_pack=True, allow_custom_ops=allow
    )
    assert op_counts(result.model_bytes) == {"ExtractImagePatches": 1}
    assert result.report.custom_ops == ("ExtractImagePatches",)


def test_patches_of_the_numbers_from_1_to_100(tensorflow: TensorFlow) -> None:
    result = litefuse.convert(tensorflow.save(patches, *DEFAULT), allow_custom_ops=True)
    runner = interpreter(result.model_bytes, kernel_pack=True).get_signature_runner("serving_default")
    for _ in range(2):
        extracted = runner(images=IMAGE)["patches"]
        assert extracted.shape == (1, 10, 10, 9)
        assert extracted[0, 0, 0].tolist() == [0, 0, 0, 0, 1, 2, 0, 11, 12]
        assert extracted[0, 9, 9].tolist() == [89, 90, 0, 99, 100, 0, 0, 0, 0]


def test_options_are_the_attributes(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(patches, "VALID", "float32", 2, 3, 2, None)
    options = custom_options(litefuse.convert(path, allow_custom_ops=True).model_bytes)
    assert options == {
        "ExtractImagePatches": [
            {
                "ksizes": [1, 2, 2, 1],
                "strides": [1, 3, 3, 1],
                "rates": [1, 2, 2, 1],
                "padding": "VALID",
                "T": 0,  # TensorType.FLOAT32 of LiteRT's schema
            }
        ]
    }
    stock = tensorflow.stock_convert(path, allow_custom_ops=True)
    assert isinstance(stock, bytes), stock
    assert options == custom_options(stock)


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
    check(tensorflow, path, inputs, rtol=0.0, kernel_pack=True, allow_custom_ops=True)
