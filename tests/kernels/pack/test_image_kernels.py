"""The kernels of pooling, cropping and warping: values, refusals and bounds; TensorFlow is in ``tests/tensorflow``."""

from __future__ import annotations

import struct
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from litefuse.errors import KernelError
from tests.kernels.pack import one_op
from tests.kernels.pack.one_op import FORMS

NAN = float("nan")
INT32, INT64 = 2, 4

pytestmark = pytest.mark.parametrize("form", FORMS)


def run(
    op: str, inputs: list[Any], dtypes: list[Any], options: Any = b"", *, form: str, constants: tuple[int, ...] = ()
) -> list[npt.NDArray[Any]]:
    return one_op.run(op, inputs, [np.dtype(dtype) for dtype in dtypes], options, form=form, constants=constants)


def floats(*values: float, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    return np.array(values, np.float32).reshape(shape)


def argmax_options(**changed: Any) -> dict[str, Any]:
    return {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID", "Targmax": INT64, **changed}


def pool_options(**changed: Any) -> dict[str, Any]:
    return {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID", **changed}


UNPOOL = {"pool_size": [2, 2], "strides": [2, 2], "padding": "SAME"}


# MaxPoolWithArgmax


def test_argmax_of_ties_is_the_first(form: str) -> None:
    images = floats(1, 3, 3, 3, 0, 0, -0.0, 0, shape=(1, 2, 4, 1))
    best, argmax = run("MaxPoolWithArgmax", [images], ["float32", "int64"], argmax_options(), form=form)
    assert best.ravel().tolist() == [3, 3]
    assert argmax.ravel().tolist() == [1, 2]


def test_argmax_counts_a_nan_that_comes_first_only(form: str) -> None:
    images = floats(1, NAN, NAN, 2, NAN, 5, 6, 7, shape=(1, 2, 4, 1))
    best, argmax = run("MaxPoolWithArgmax", [images], ["float32", "int64"], argmax_options(), form=form)
    np.testing.assert_array_equal(best.ravel(), [5, NAN])
    assert argmax.ravel().tolist() == [5, 2]


@pytest.mark.parametrize(("number", "dtype"), [(INT32, "int32"), (INT64, "int64"), (3, "int32"), (9, "int64")])
@pytest.mark.parametrize("batch", [False, True])
def test_argmax_index(number: int, dtype: str, batch: bool, form: str) -> None:
    images = np.arange(2 * 2 * 2 * 3, dtype=np.int8).reshape(2, 2, 2, 3)
    options = argmax_options(Targmax=number, include_batch_in_index=batch)
    best, argmax = run("MaxPoolWithArgmax", [images], ["int8", dtype], options, form=form)
    assert best.tolist() == [[[[9, 10, 11]]], [[[21, 22, 23]]]]
    assert argmax.dtype == dtype
    assert argmax.tolist() == [[[[9, 10, 11]]], [[[21, 22, 23] if batch else [9, 10, 11]]]]


@pytest.mark.parametrize("shape", [(0, 4, 4, 1), (2, 0, 4, 1), (2, 4, 4, 0)])
def test_argmax_of_nothing(shape: tuple[int, ...], form: str) -> None:
    options = argmax_options(padding="SAME")
    best, argmax = run("MaxPoolWithArgmax", [np.zeros(shape, np.float32)], ["float32", "int64"], options, form=form)
    assert best.shape == argmax.shape == (shape[0], (shape[1] + 1) // 2, 2, shape[3])


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((4, 4, 1), {}, "input"),
        ((1, 4, 4, 1), {"ksize": [1, 2, 2]}, r"ksize must be \[1, n, n, 1\] with positive numbers, not \[1, 2, 2\]"),
        ((1, 4, 4, 1), {"ksize": [2, 2, 2, 1]}, "ksize must be"),
        ((1, 4, 4, 1), {"ksize": [1, 1, 1, 2]}, "ksize must be"),
        ((1, 4, 4, 1), {"strides": [1, 0, 2, 1]}, "strides must be"),
        ((1, 4, 4, 1), {"strides": [1, 2, -2, 1]}, "strides must be"),
        ((1, 4, 4, 1), {"padding": "EXPLICIT"}, "padding must be SAME or VALID, not 'EXPLICIT'"),
        ((1, 1, 4, 1), {"ksize": [1, 4, 4, 1], "strides": [1, 1, 1, 1]}, "a window of 4 positions does not fit into 1"),
    ],
)
def test_argmax_refuses(shape: tuple[int, ...], options: dict[str, Any], message: str, form: str) -> None:
    with pytest.raises(KernelError, match=message):
        run(
            "MaxPoolWithArgmax",
            [np.zeros(shape, np.float32)],
            ["float32", "int64"],
            argmax_options(**options),
            form=form,
        )


def test_argmax_refuses_other_types(form: str) -> None:
    with pytest.raises(KernelError, match="real numbers"):
        run("MaxPoolWithArgmax", [np.zeros((1, 2, 2, 1), np.bool_)], ["bool", "int64"], argmax_options(), form=form)


def test_a_missing_option(form: str) -> None:
    options = argmax_options()
    del options["ksize"]
    with pytest.raises(KernelError, match="ksize"):
        run("MaxPoolWithArgmax", [np.zeros((1, 2, 2, 1), np.float32)], ["float32", "int64"], options, form=form)


# MaxPool3D, AvgPool3D


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ml_dtypes.bfloat16])
@pytest.mark.parametrize(("op", "expected"), [("MaxPool3D", [7, 17]), ("AvgPool3D", [3.5, 13.5])])
def test_pool_3d(op: str, expected: list[float], dtype: Any, form: str) -> None:
    # Two planes of two rows and three columns; SAME pads the columns, and padding does not count.
    volumes = np.array([0, 1, 10, 2, 3, 11, 4, 5, 16, 6, 7, 17]).reshape(1, 2, 2, 3, 1).astype(dtype)
    (found,) = run(op, [volumes], [volumes.dtype], pool_options(padding="SAME"), form=form)
    assert found.shape == (1, 1, 1, 2, 1)
    assert found.astype(np.float64).ravel().tolist() == expected


@pytest.mark.parametrize("at", range(8))
def test_a_nan_in_a_volume(at: int, form: str) -> None:
    volumes = np.arange(16, dtype=np.float32).reshape(1, 2, 2, 2, 2)
    volumes[0, ..., 0].flat[at] = NAN
    for op, other in (("MaxPool3D", 15), ("AvgPool3D", 8)):
        (found,) = run(op, [volumes], ["float32"], pool_options(), form=form)
        np.testing.assert_array_equal(found.ravel(), [NAN, other])


def test_a_window_of_minus_infinity(form: str) -> None:
    volumes = np.full((1, 3, 3, 3, 1), -np.inf, np.float32)
    (found,) = run("MaxPool3D", [volumes], ["float32"], pool_options(padding="SAME"), form=form)
    np.testing.assert_array_equal(found, np.full((1, 2, 2, 2, 1), -np.inf))


@pytest.mark.parametrize("op", ["MaxPool3D", "AvgPool3D"])
@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((4, 4, 4, 1), {}, "input"),
        ((1, 4, 4, 4, 1), {"ksize": [1, 2, 2, 1]}, r"ksize must be \[1, n, n, n, 1\]"),
        ((1, 4, 4, 4, 1), {"data_format": "NCDHW"}, r"ksize must be \[1, 1, n, n, n\]"),
        ((1, 4, 4, 4, 1), {"strides": [1, 2, 2, 0, 1]}, "strides must be"),
        ((1, 4, 4, 4, 1), {"data_format": "NHWC"}, "data_format must be NDHWC or NCDHW, not 'NHWC'"),
        ((1, 4, 4, 4, 1), {"padding": ""}, "padding must be SAME or VALID"),
        ((1, 4, 1, 4, 1), {"ksize": [1, 1, 4, 1, 1], "strides": [1] * 5}, "a window of 4 positions does not fit"),
    ],
)
def test_pool_3d_refuses(op: str, shape: tuple[int, ...], options: dict[str, Any], message: str, form: str) -> None:
    with pytest.raises(KernelError, match=message):
        run(op, [np.zeros(shape, np.float32)], ["float32"], pool_options(**options), form=form)


def test_pool_3d_refuses_integers(form: str) -> None:
    with pytest.raises(KernelError, match="int32"):
        run("MaxPool3D", [np.zeros((1, 2, 2, 2, 1), np.int32)], ["int32"], pool_options(), form=form)


# MaxUnpooling2D


def pool_parameters(padding: int, strides: tuple[int, int], pool_size: tuple[int, int]) -> bytes:
    """LiteRT's C struct, as TFLiteConverter writes it."""
    return struct.pack("<10i", padding, strides[1], strides[0], pool_size[1], pool_size[0], 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    "options",
    [
        {"pool_size": [2, 3], "strides": [4, 5], "padding": "VALID"},
        pool_parameters(2, (4, 5), (2, 3)),
    ],
    ids=["map", "struct"],
)
def test_unpooling_valid(options: Any, form: str) -> None:
    values = floats(1, 2, 3, 4, shape=(1, 2, 2, 1))
    mask = np.array([0, 9, 40, 47], np.int32).reshape(1, 2, 2, 1)
    (found,) = run("MaxUnpooling2D", [values, mask], ["float32"], options, form=form)
    assert found.shape == (1, 6, 8, 1)
    expected = np.zeros(48)
    expected[[0, 9, 40, 47]] = [1, 2, 3, 4]
    assert found.ravel().tolist() == expected.tolist()


def test_unpooling_adds_in_each_channel_of_each_image(form: str) -> None:
    values = np.arange(1, 9, dtype=np.int32).reshape(2, 1, 2, 2)
    mask = np.array([0, 1, 0, 1, 2, 2, 14, 15], np.int64).reshape(2, 1, 2, 2)
    (found,) = run("MaxUnpooling2D", [values, mask], ["int32"], UNPOOL, form=form)
    expected = np.zeros((2, 2, 4, 2), np.int32)
    expected[0, 0, 0] = [1 + 3, 2 + 4]
    expected[1, 0, 1] = [5, 6]
    expected[1, 1, 3] = [7, 8]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16, "float64", "int8", "uint8", "int16", "uint64"])
def test_unpooling_dtypes(dtype: Any, form: str) -> None:
    values = np.array([1, 100, 100, 3]).reshape(1, 2, 2, 1).astype(dtype)
    mask = np.array([5, 0, 0, 15], np.int32).reshape(1, 2, 2, 1)
    (found,) = run("MaxUnpooling2D", [values, mask], [values.dtype], UNPOOL, form=form)
    expected = np.zeros(16, np.int64)
    expected[[5, 15, 0]] = 1, 3, 200
    np.testing.assert_array_equal(found.ravel(), expected.astype(dtype))  # int8 wraps around


def test_unpooling_undoes_pooling(form: str) -> None:
    images = np.random.default_rng(0).normal(0, 1, (3, 6, 8, 5)).astype(np.float32)
    best, argmax = run("MaxPoolWithArgmax", [images], ["float32", "int64"], argmax_options(), form=form)
    (found,) = run("MaxUnpooling2D", [best, argmax], ["float32"], UNPOOL, form=form)
    tiled = best.repeat(2, axis=1).repeat(2, axis=2)
    np.testing.assert_array_equal(found, np.where(images == tiled, images, 0))


@pytest.mark.parametrize("position", [-1, 16, 2**31 - 1, -(2**31), 2**40])
def test_positions_outside_of_the_image(position: int, form: str) -> None:
    dtype = np.int32 if abs(position) <= 2**31 - 1 else np.int64
    mask = np.array([0, 3, position, 5], dtype).reshape(1, 2, 2, 1)
    with pytest.raises(KernelError, match=f"mask holds {position}, which lies outside of an image of 4 x 4 x 1"):
        run("MaxUnpooling2D", [np.ones((1, 2, 2, 1), np.float32), mask], ["float32"], UNPOOL, form=form)


@pytest.mark.parametrize("shape", [(0, 2, 2, 3), (1, 2, 2, 0), (2, 0, 2, 3)])
def test_unpooling_nothing(shape: tuple[int, ...], form: str) -> None:
    (found,) = run(
        "MaxUnpooling2D", [np.ones(shape, np.float32), np.zeros(shape, np.int32)], ["float32"], UNPOOL, form=form
    )
    assert found.shape == (shape[0], 2 * shape[1], 4, shape[3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**UNPOOL, "padding": "NO"}, "padding must be SAME or VALID, not 'NO'"),
        ({**UNPOOL, "pool_size": [2]}, r"pool_size must be \[rows, cols\] with positive numbers, not \[2\]"),
        ({**UNPOOL, "strides": [2, 0]}, "strides must be"),
        (pool_parameters(3, (1, 1), (1, 1)), "padding must be SAME or VALID, not 'number 3'"),
        (pool_parameters(1, (-1, 1), (1, 1)), "strides must be"),
        (pool_parameters(1, (1, 1), (1, 1))[:36], "option"),
        (b"", "option"),
    ],
)
def test_unpooling_refuses(options: Any, message: str, form: str) -> None:
    inputs = [np.ones((1, 2, 2, 1), np.float32), np.zeros((1, 2, 2, 1), np.int32)]
    with pytest.raises(KernelError, match=message):
        run("MaxUnpooling2D", inputs, ["float32"], options, form=form)


@pytest.mark.parametrize(
    ("values", "mask", "message"),
    [
        (np.ones((2, 2, 1), np.float32), np.zeros((2, 2, 1), np.int32), "updates"),
        (np.ones((1, 2, 2, 1), np.float32), np.zeros((1, 2, 1, 1), np.int32), "mask"),
        (np.ones((1, 2, 2, 1), np.float32), np.zeros((1, 2, 2, 1), np.float64), "mask"),
        (np.ones((1, 2, 2, 1), np.bool_), np.zeros((1, 2, 2, 1), np.int32), "real numbers"),
    ],
)
def test_unpooling_refuses_inputs(values: Any, mask: Any, message: str, form: str) -> None:
    with pytest.raises(KernelError, match=message):
        run("MaxUnpooling2D", [values, mask], [values.dtype], UNPOOL, form=form)


# DenseImageWarp


def test_warping_by_whole_pixels_stays_in_the_image(form: str) -> None:
    image = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)
    flow = np.broadcast_to(np.array([1, -2], np.float32), (1, 3, 4, 2))
    (found,) = run("DenseImageWarp", [image, flow], ["float32"], form=form)
    assert found[0, :, :, 0].tolist() == [[2, 3, 3, 3], [2, 3, 3, 3], [6, 7, 7, 7]]


def test_warping_between_pixels(form: str) -> None:
    image = floats(0, 1, 10, 11, shape=(1, 2, 2, 1))
    flow = np.zeros((1, 2, 2, 2), np.float32)
    flow[0, 1, 1] = [0.25, 0.5]
    (found,) = run("DenseImageWarp", [image, flow], ["float32"], form=form)
    assert found.ravel().tolist() == [0, 1, 10, 8]


@pytest.mark.parametrize("value", [NAN, np.inf, -np.inf, 3e38, -3e38])
def test_flow_that_leads_nowhere(value: float, form: str) -> None:
    image = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    flow = np.full((1, 2, 2, 2), value, np.float32)
    (found,) = run("DenseImageWarp", [image, flow], ["float32"], form=form)
    corner = [NAN, NAN] if np.isnan(value) else [0, 1] if value > 0 else [6, 7]
    np.testing.assert_array_equal(found, np.broadcast_to(corner, (1, 2, 2, 2)))


def test_flow_of_a_large_image_in_half_precision(form: str) -> None:
    image = np.ones((1, 2, 2053, 1), np.float32)
    (found,) = run("DenseImageWarp", [image, np.zeros((1, 2, 2053, 2), np.float16)], ["float32"], form=form)
    np.testing.assert_array_equal(found, image)


@pytest.mark.parametrize(
    ("image", "flow", "message"),
    [
        (np.ones((1, 2, 2), np.float32), np.ones((1, 2, 2, 2), np.float32), "image"),
        (np.ones((1, 1, 2, 1), np.float32), np.ones((1, 1, 2, 2), np.float32), "2 rows and columns or more"),
        (np.ones((1, 2, 2, 1), np.float32), np.ones((1, 2, 2, 3), np.float32), "flow must be"),
        (np.ones((1, 2, 2, 1), np.float32), np.ones((2, 2, 2, 2), np.float32), "flow must be"),
        (np.ones((1, 2, 2, 1), np.int32), np.ones((1, 2, 2, 2), np.float32), "image"),
        (np.ones((1, 2, 2, 1), np.float32), np.ones((1, 2, 2, 2), np.int32), "flow"),
    ],
)
def test_warping_refuses(image: Any, flow: Any, message: str, form: str) -> None:
    with pytest.raises(KernelError, match=message):
        run("DenseImageWarp", [image, flow], [image.dtype], form=form)


# CropAndResize


def crop(
    form: str,
    boxes: Any,
    size: Any = (2, 2),
    *,
    numbers: Any = None,
    image: Any = None,
    constants: tuple[int, ...] = (3,),
    **options: Any,
) -> npt.NDArray[Any]:
    boxes = np.array(boxes, np.float32)
    inputs = [
        np.arange(16, dtype=np.uint8).reshape(1, 4, 4, 1) if image is None else image,
        boxes,
        np.zeros(len(boxes), np.int32) if numbers is None else np.array(numbers, np.int32),
        np.array(size, np.int32),
    ]
    return run("CropAndResize", inputs, ["float32"], options, form=form, constants=constants)[0]


@pytest.mark.parametrize("constants", [(), (3,)], ids=["dynamic", "constant"])
def test_cropping(constants: tuple[int, ...], form: str) -> None:
    found = crop(form, [[0, 0, 1, 1], [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]], constants=constants)
    assert found.shape == (3, 2, 2, 1)
    assert found.reshape(3, 4).tolist() == [[0, 3, 12, 15], [15, 12, 3, 0], [7.5] * 4]


def test_cropping_beyond_the_image(form: str) -> None:
    found = crop(form, [[-0.5, 0, 0.5, 1]], (3, 1), extrapolation_value=-1.0)
    assert found.ravel().tolist() == [-1, 1.5, 7.5]


def test_cropping_to_the_nearest(form: str) -> None:
    found = crop(form, [[1 / 6, 0.5, 5 / 6, 5 / 6]], (3, 3), method="nearest")
    assert found.reshape(3, 3).tolist() == [[6, 6, 7], [10, 10, 11], [14, 14, 15]]


@pytest.mark.parametrize(
    ("boxes", "more", "message"),
    [
        ([[0, 0, 1, 1]], {"numbers": [1]}, "box_ind holds 1, and there are 1 images"),
        ([[0, 0, 1, 1]], {"numbers": [-1]}, "box_ind holds -1"),
        ([[0, 0, 1, NAN]], {}, "boxes must be finite, and hold nan"),
        ([[0, 0, -np.inf, 1]], {}, "boxes must be finite, and hold -inf"),
        ([[0, 0, 1, 1]], {"size": [0, 2]}, r"crop_size must be positive, not \[0, 2\]"),
        ([[0, 0, 1, 1]], {"size": [0, 2], "constants": ()}, "crop_size must be positive"),
        ([[0, 0, 1, 1]], {"size": [2, 2, 2]}, "crop_size must be"),
        ([[0, 0, 1]], {}, r"boxes must be float32 \[n, 4\]"),
        ([[0, 0, 1, 1]], {"numbers": [0, 0]}, r"box_ind must be int32 \[1\]"),
        ([[0, 0, 1, 1]], {"method": "bicubic"}, "method must be bilinear or nearest, not 'bicubic'"),
        ([[0, 0, 1, 1]], {"image": np.zeros((1, 0, 4, 1), np.float32)}, "image must be"),
        ([[0, 0, 1, 1]], {"image": np.zeros((4, 4, 1), np.float32)}, "image"),
        ([[0, 0, 1, 1]], {"image": np.zeros((1, 4, 4, 1), np.complex64)}, "real numbers"),
    ],
)
def test_cropping_refuses(boxes: Any, more: dict[str, Any], message: str, form: str) -> None:
    with pytest.raises(KernelError, match=message):
        crop(form, boxes, **more)
