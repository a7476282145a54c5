"""Rewritings of ops on images, against Python and numpy."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

from tests.passes.legalize.one_op import Array, Constant, check

F = np.float32


def images(*shape: int) -> Array:
    return np.random.default_rng(0).uniform(size=shape).astype(F)


def test_colors() -> None:
    x = images(1, 2, 4, 3)
    expected = np.array([colorsys.rgb_to_hsv(*map(float, color)) for color in x.reshape(-1, 3)], F).reshape(x.shape)
    check("RGBToHSV", [x], expected, rtol=1e-5, atol=1e-6)


def test_contrast() -> None:
    x = images(2, 3, 4, 3)
    mean = x.mean((1, 2), keepdims=True)
    check("AdjustContrastv2", [x, Constant(F(1.5))], (x - mean) * F(1.5) + mean, rtol=1e-5, atol=1e-6)


def test_boxes_that_overlap_are_left_out() -> None:
    boxes = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1], [0, 2, 1, 3], [5, 5, 6, 6], [8, 8, 9, 9]], F)
    scores = np.array([0.7, 0.9, 0.2, 0.8, 0.6], F)
    operands = [boxes, scores, Constant(np.int32(4)), Constant(F(0.5)), Constant(F(0.1))]
    check("NonMaxSuppressionV3", operands, np.array([1, 3, 4, 2], np.int32))


def test_an_image_of_blocks_of_means() -> None:
    x = images(1, 4, 6, 2)
    expected = x.reshape(1, 2, 2, 3, 2, 2).mean((2, 4))
    size = Constant(np.array([2, 3], np.int32))
    check("ResizeArea", [x, size], expected, rtol=1e-5, dynamic=[False], attributes={"align_corners": False})


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_integers_that_are_interpolated(dtype: str) -> None:
    image = np.array([-7, 20_000], dtype).reshape(1, 1, 2, 1)
    expected = np.array([-7, 9996.5, 20_000, 20_000], np.float32).reshape(1, 1, 4, 1)
    attributes = {"align_corners": False, "half_pixel_centers": False}
    check("ResizeBilinear", [image, Constant(np.array([1, 4], np.int32))], expected, attributes=attributes)


def test_a_crop() -> None:
    x = images(1, 5, 5, 1)
    boxes = np.array([[0.25, 0.25, 0.75, 0.75]], F)
    operands = [x, boxes, Constant(np.array([0], np.int32)), Constant(np.array([3, 3], np.int32))]
    options = {"method": "bilinear", "extrapolation_value": 0.0}
    check("CropAndResize", operands, x[:, 1:4, 1:4], form="composite", rtol=1e-5, attributes=options)
