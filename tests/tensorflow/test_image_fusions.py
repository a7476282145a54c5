# pyright: reportUnknownLambdaType=false
"""Pooling, unpooling, warping and cropping in SavedModels: fused, converted, and run with the kernel pack."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.auditing import operators
from tests.tensorflow.checking import check, normal, op_counts

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def unpooling(tf: Any, pool_size: list[int], strides: list[int], padding: str, index: str, wrong: bool) -> Any:
    """An image pooled and unpooled again, by the function of TensorFlow Addons' documentation."""
    lists = ["".join(f" i: {n}" for n in value) for value in (pool_size, strides)]
    annotation = (
        'name: "addons:MaxUnpooling2D" '
        f'attr {{ key: "pool_size" value {{ list {{{lists[0]} }} }} }} '
        f'attr {{ key: "strides" value {{ list {{{lists[1]} }} }} }} '
        f'attr {{ key: "padding" value {{ s: "{padding}" }} }}'
    )

    @tf.function(experimental_implements=annotation)
    def unpool(updates: Any, mask: Any) -> Any:
        mask = tf.cast(mask, tf.int32)
        sizes = [
            size * stride if padding == "SAME" else (size - 1) * stride + pool
            for size, stride, pool in zip(updates.shape[1:3], strides, pool_size, strict=True)
        ]
        batch, rows, cols, depth = (tf.shape(updates)[axis] for axis in range(4))
        b, _, _, c = tf.meshgrid(tf.range(batch), tf.range(rows), tf.range(cols), tf.range(depth), indexing="ij")
        y, x = mask // (sizes[1] * depth), mask // depth % sizes[1]
        if wrong:
            x = sizes[1] - 1 - x
        return tf.scatter_nd(tf.stack([b, y, x, c], -1), updates, tf.stack([batch, *sizes, depth]))

    @tf.function(input_signature=[tf.TensorSpec([None, 12, 12, 2], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        best, argmax = tf.nn.max_pool_with_argmax(
            x, pool_size, strides, padding, output_dtype=getattr(tf, index), include_batch_in_index=False
        )
        return {"y": unpool(best, argmax)}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize(
    ("pool_size", "strides", "padding", "index"),
    [([2, 2], [2, 2], "SAME", "int32"), ([3, 2], [3, 2], "VALID", "int64"), ([3, 3], [2, 2], "SAME", "int64")],
    ids=["same", "valid", "overlapping"],
)
def test_max_unpooling(
    tensorflow: TensorFlow, pool_size: list[int], strides: list[int], padding: str, index: str
) -> None:
    path = tensorflow.save(unpooling, pool_size, strides, padding, index, False)
    result = check(
        tensorflow,
        path,
        normal({"x": (None, 12, 12, 2)}),
        kernel_pack=True,
        require_fused=True,
        allow_custom_ops=["MaxPoolWithArgmax"],
    )
    assert op_counts(result.model_bytes)["MaxUnpooling2D"] == 1
    (composite,) = result.report.composites
    assert (composite.fused_into, composite.unchecked) == ("MaxUnpooling2D", None)
    assert composite.error == 0.0
    (found,) = [op for _, _, name, op in operators(result.model_bytes) if name == "MaxUnpooling2D"]
    fields = (1 if padding == "SAME" else 2, *reversed(strides), *reversed(pool_size), 0, 0, 0, 0, 0)
    assert struct.unpack("<10i", bytes(bytearray(found.customOptions))) == fields


def test_body_that_is_no_unpooling_is_kept(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(unpooling, [2, 2], [2, 2], "SAME", "int32", True)
    result = check(
        tensorflow,
        path,
        normal({"x": (None, 12, 12, 2)}),
        kernel_pack=True,
        allow_custom_ops=["MaxPoolWithArgmax"],
    )
    (composite,) = result.report.composites
    assert composite.outcome == "inlined"
    assert "it computes something else" in (composite.reason or "")


def warping(tf: Any, shape: tuple[int | None, ...], wrong: bool) -> Any:
    """An image warped by a flow, by the function of TensorFlow Addons' documentation."""

    @tf.function(experimental_implements="addons:DenseImageWarp")
    def warp(image: Any, flow: Any) -> Any:
        _, rows, cols, _ = (tf.shape(image)[axis] for axis in range(4))
        y, x = tf.meshgrid(tf.range(rows), tf.range(cols), indexing="ij")
        grid = tf.cast(tf.stack([y, x], -1), tf.float32)
        grid = tf.expand_dims(grid, 0)
        queries = grid + flow if wrong else grid - flow
        parts: list[Any] = []
        floors: list[Any] = []
        for axis, size in enumerate((rows, cols)):
            query = queries[..., axis]
            floor = tf.minimum(tf.maximum(0.0, tf.floor(query)), tf.cast(size - 2, tf.float32))
            parts.append(tf.expand_dims(tf.minimum(tf.maximum(0.0, query - floor), 1.0), -1))
            floors.append(tf.cast(floor, tf.int32))
        batch = tf.reshape(tf.range(tf.shape(image)[0]), [-1, 1, 1]) + tf.zeros_like(floors[0])

        def pixels(y: Any, x: Any) -> Any:
            return tf.gather_nd(image, tf.stack([batch, y, x], -1))

        y, x = floors
        upper, lower = (parts[1] * (pixels(row, x + 1) - pixels(row, x)) + pixels(row, x) for row in (y, y + 1))
        return parts[0] * (lower - upper) + upper

    @tf.function(
        input_signature=[
            tf.TensorSpec(shape, tf.float32, name="image"),
            tf.TensorSpec([*shape[:3], 2], tf.float32, name="flow"),
        ]
    )
    def serve(image: Any, flow: Any) -> Any:
        return {"y": warp(image, 2.0 * flow)}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("shape", [(None, 7, 6, 3), (None, None, None, 3)], ids=["batch", "sizes"])
def test_dense_image_warp(tensorflow: TensorFlow, shape: tuple[int | None, ...]) -> None:
    path = tensorflow.save(warping, shape, False)
    sizes = [7 if size is None else size for size in shape[1:3]]
    inputs = normal({"image": (None, *sizes, 3), "flow": (None, *sizes, 2)})
    result = check(tensorflow, path, inputs, kernel_pack=True, require_fused=True)
    assert op_counts(result.model_bytes)["DenseImageWarp"] == 1
    (composite,) = result.report.composites
    assert (composite.fused_into, composite.unchecked) == ("DenseImageWarp", None)
    assert composite.error is not None
    assert composite.error < 1e-5


def test_body_that_warps_the_other_way_is_kept(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(warping, (None, 7, 6, 3), True)
    inputs = normal({"image": (None, 7, 6, 3), "flow": (None, 7, 6, 2)})
    result = check(tensorflow, path, inputs)
    (composite,) = result.report.composites
    assert composite.outcome == "inlined"
    assert "it computes something else" in (composite.reason or "")


def pooling_3d(tf: Any, op: str) -> Any:
    @tf.function(input_signature=[tf.TensorSpec([None, 5, 6, 7, 3], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        return {"y": getattr(tf.nn, op)(x, [2, 3, 2], [2, 2, 1], "SAME")}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize(("op", "name"), [("max_pool3d", "MaxPool3D"), ("avg_pool3d", "AvgPool3D")])
def test_pooling_of_volumes(tensorflow: TensorFlow, op: str, name: str) -> None:
    path = tensorflow.save(pooling_3d, op)
    check(tensorflow, path, normal({"x": (None, 5, 6, 7, 3)}), kernel_pack=True, rtol=1e-6, allow_custom_ops=[name])


def cropping(tf: Any, constant: bool, method: str) -> Any:
    @tf.function(
        input_signature=[
            tf.TensorSpec([None, 8, 9, 2], tf.float32, name="image"),
            tf.TensorSpec([None, 4], tf.float32, name="boxes"),
            tf.TensorSpec([None], tf.int32, name="numbers"),
            tf.TensorSpec([2], tf.int32, name="size"),
        ]
    )
    def serve(image: Any, boxes: Any, numbers: Any, size: Any) -> Any:
        crops = tf.image.crop_and_resize(
            image, boxes, numbers, [3, 4] if constant else size, method=method, extrapolation_value=0.5
        )
        return {"y": 2.0 * crops, "sum": tf.reduce_sum(crops) + tf.cast(size[0], tf.float32)}

    module = tf.Module()
    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("constant", [True, False], ids=["constant", "computed"])
def test_cropping(tensorflow: TensorFlow, constant: bool, method: str) -> None:
    random = np.random.default_rng(3)
    inputs = [
        {
            "image": random.normal(0, 1, (batch, 8, 9, 2)).astype(np.float32),
            "boxes": random.uniform(-0.2, 1.2, (boxes, 4)).astype(np.float32),
            "numbers": random.integers(0, batch, boxes).astype(np.int32),
            "size": np.array(size, np.int32),
        }
        for batch, boxes, size in ((1, 2, (3, 4)), (3, 5, (2, 1)), (1, 1, (6, 6)))
    ]
    path = tensorflow.save(cropping, constant, method)
    check(tensorflow, path, inputs, kernel_pack=True, allow_custom_ops=["CropAndResize"])
