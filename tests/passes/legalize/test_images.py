# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Rewritings of ops on images, against Python and numpy."""

from __future__ import annotations

import colorsys
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.passes.legalize.one_op import Array, Constant, Static, check

F = np.float32


def images(*shape: int) -> Array:
    return np.random.default_rng(0).uniform(size=shape).astype(F)


def colors() -> Array:
    """Random ones, grays, and those of which two channels are the largest."""
    some = [[0, 0, 0], [1, 1, 1], [0.3, 0.3, 0.3], [0.8, 0.8, 0.1], [0.8, 0.1, 0.8], [0.1, 0.8, 0.8], [1, 0, 0]]
    return np.concatenate([images(17, 3), np.array(some, F)]).reshape(2, 3, 4, 3)


def test_colors() -> None:
    x = colors()

    def each(function: Callable[..., tuple[float, float, float]]) -> Array:
        return np.array([function(*map(float, color)) for color in x.reshape(-1, 3)], F).reshape(x.shape)

    check("RGBToHSV", [x], each(colorsys.rgb_to_hsv), rtol=1e-5, atol=1e-6)
    check("HSVToRGB", [x], each(colorsys.hsv_to_rgb), rtol=1e-5, atol=1e-6)
    for change in (0.4, -0.7):

        def turned(*color: float, change: float = change) -> tuple[float, float, float]:
            hue, saturation, value = colorsys.rgb_to_hsv(*color)
            return colorsys.hsv_to_rgb((hue + change) % 1, saturation, value)

        check("AdjustHue", [x, np.array(change, F)], each(turned), rtol=1e-5, atol=2e-6)
    for factor in (0.5, 2.5):

        def stronger(*color: float, factor: float = factor) -> tuple[float, float, float]:
            hue, saturation, value = colorsys.rgb_to_hsv(*color)
            return colorsys.hsv_to_rgb(hue, min(saturation * factor, 1), value)

        check("AdjustSaturation", [x, np.array(factor, F)], each(stronger), rtol=1e-5, atol=2e-6)


def test_contrast() -> None:
    x = images(2, 3, 4, 3)
    mean = x.mean((1, 2), keepdims=True)
    check("AdjustContrastv2", [x, Constant(F(1.5))], (x - mean) * F(1.5) + mean, rtol=1e-5, atol=1e-6)


def iou(one: Array, other: Array) -> float:
    """The intersection over union of two boxes, corners in any order."""
    (low, high), (others_low, others_high) = (
        (np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])) for box in (one, other)
    )
    common = np.prod(np.maximum(np.minimum(high, others_high) - np.maximum(low, others_low), 0))
    union = np.prod(high - low) + np.prod(others_high - others_low) - common
    return float(common / union) if union > 0 else 0.0


def kept_boxes(
    boxes: Array, scores: Array, number: int, limit: float, least: float, sigma: float = 0.0
) -> list[tuple[int, float]]:
    """The boxes that suppression keeps, with their scores.

    Source: tensorflow/core/kernels/image/non_max_suppression_op.cc, DoNonMaxSuppressionOp.
    """
    left = {place: float(score) for place, score in enumerate(scores) if score > least}
    kept: list[tuple[int, float]] = []
    while left and len(kept) < number:
        best = max(left, key=lambda place: (left[place], -place))
        kept.append((best, left.pop(best)))
        overlap = {place: iou(boxes[best], boxes[place]) for place in left}
        decayed = {
            place: score * math.exp(-0.5 * overlap[place] ** 2 / sigma) if sigma > 0 else score
            for place, score in left.items()
            if sigma > 0 or overlap[place] <= limit
        }
        left = {place: score for place, score in decayed.items() if score > least}
    return kept


def some_boxes(count: int) -> tuple[Array, Array]:
    """Boxes of which many overlap, corners in any order, one empty; and their scores, of which two are equal."""
    random = np.random.default_rng(count)
    corners = random.uniform(size=(count, 2))
    boxes = np.concatenate([corners, corners + random.uniform(-0.6, 0.6, size=(count, 2))], 1).astype(F)
    boxes[3, 2:], boxes[5] = boxes[3, :2], boxes[6]
    scores = random.uniform(size=count).astype(F)
    scores[2] = scores[7]
    return boxes, scores


@pytest.mark.parametrize("number", [4, 30])
@pytest.mark.parametrize(("limit", "least"), [(0.3, 0.2), (0.0, 0.0), (1.0, 0.5)])
def test_boxes_that_overlap_are_left_out(number: int, limit: float, least: float) -> None:
    boxes, scores = some_boxes(12)
    kept = kept_boxes(boxes, scores, number, limit, least)
    places, values = np.array([place for place, _ in kept], np.int32), np.array([score for _, score in kept], F)
    every = np.array([place for place, _ in kept_boxes(boxes, scores, number, limit, -1)], np.int32)
    size = np.array(number, np.int32)
    threshold, least_score = np.array(limit, F), np.array(least, F)
    for constant in (False, True):
        operands = [boxes, scores, *([Constant(size), Constant(threshold)] if constant else [size, threshold])]
        check("NonMaxSuppressionV2", operands, every, dynamic=[not constant])
        check("NonMaxSuppressionV3", [*operands, least_score], places, dynamic=[not constant])
        padded, count = np.pad(places, (0, number - len(places))), np.array(len(places), np.int32)
        options = {"pad_to_max_output_size": True}
        check("NonMaxSuppressionV4", [*operands, least_score], padded, count, attributes=options, dynamic=[constant])
        soft = [*operands, least_score, Constant(F(0))]
        check("NonMaxSuppressionV5", soft, places, values, count, dynamic=[constant])
    options = {"iou_threshold": limit}
    check("NonMaxSuppression", [boxes, scores, size], every, attributes=options, dynamic=[True])


@pytest.mark.parametrize("sigma", [0.0, 0.5])
@pytest.mark.parametrize("number", [5, 30])
def test_scores_of_boxes_that_overlap_decay(sigma: float, number: int) -> None:
    boxes, scores = some_boxes(12)
    kept = kept_boxes(boxes, scores, number, 0.3, 0.15, sigma)
    places, values = np.array([place for place, _ in kept], np.int32), np.array([score for _, score in kept], F)
    count, size = np.array(len(kept), np.int32), np.array(number, np.int32)
    numbers = [np.array(each, F) for each in (0.3, 0.15, sigma)]
    check("NonMaxSuppressionV5", [boxes, scores, size, *numbers], places, values, count, rtol=1e-5, dynamic=[True])
    operands = [boxes, scores, *map(Constant, (size, *numbers))]
    padded = [np.pad(each, (0, number - len(kept))) for each in (places, values)]
    options = {"pad_to_max_output_size": True}
    check("NonMaxSuppressionV5", operands, *padded, count, rtol=1e-5, dynamic=[False], attributes=options)


@pytest.mark.parametrize("of_classes", [1, 3])
@pytest.mark.parametrize(("per_class", "total", "clip"), [(2, 4, True), (4, 20, False)])
def test_the_best_boxes_of_all_classes(of_classes: int, per_class: int, total: int, *, clip: bool) -> None:
    sets = [[some_boxes(10 + 7 * image + kind) for kind in range(3)] for image in range(2)]
    boxes = np.stack([np.stack([boxes[:8] for boxes, _ in image[:of_classes]], 1) for image in sets])
    scores = np.random.default_rng(0).permutation(48).astype(F).reshape(2, 8, 3) / 48  # of equal ones, any may be first
    found: list[Array] = [np.zeros(shape, F) for shape in ((2, total, 4), (2, total), (2, total))]
    counts = np.zeros(2, np.int32)
    for image in range(2):
        best: list[tuple[float, int, int]] = []
        for kind in range(3):
            own = boxes[image, :, kind % of_classes]
            kept = kept_boxes(own, scores[image, :, kind], per_class, 0.3, 0.25)
            best += [(score, kind, place) for place, score in kept]
        best = sorted(best, reverse=True)[:total]
        counts[image] = len(best)
        for at, (score, kind, place) in enumerate(best):
            box = boxes[image, place, kind % of_classes]
            found[0][image, at], found[1][image, at], found[2][image, at] = (
                np.clip(box, 0, 1) if clip else box,
                score,
                kind,
            )
    numbers = [Constant(np.int32(per_class)), Constant(np.int32(total)), np.array(0.3, F), np.array(0.25, F)]
    for pads, width in ((False, total), (True, min(total, 3 * per_class))):
        results = [each[:, :width] for each in found]
        options = {"pad_per_class": pads, "clip_boxes": clip}
        check(
            "CombinedNonMaxSuppression",
            [boxes, scores, *numbers],
            *results,
            counts,
            attributes=options,
            dynamic=[False],
        )


def cubic(x: float, a: float) -> float:
    if x >= 2:
        return 0.0
    return ((a + 2) * x - (a + 3)) * x * x + 1 if x <= 1 else ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def lanczos(radius: float) -> Callable[[float], float]:
    return lambda x: float(np.sinc(x) * np.sinc(x / radius)) if x <= radius else 0.0


def mitchell(x: float) -> float:
    if x >= 2:
        return 0.0
    return ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9 if x >= 1 else (7 / 6 * x - 2) * x * x + 8 / 9


FILTERS: dict[str, tuple[float, Callable[[float], float]]] = {
    "box": (1, lambda x: 1.0 if x < 0.5 else 0.5 if x == 0.5 else 0.0),
    "gaussian": (1.5, lambda x: math.exp(-x * x / 2 / 0.5**2) if x < 1.5 else 0.0),
    "keyscubic": (2, lambda x: cubic(x, -0.5)),
    "lanczos1": (1, lanczos(1)),
    "lanczos3": (3, lanczos(3)),
    "lanczos5": (5, lanczos(5)),
    "mitchellcubic": (2, mitchell),
    "triangle": (1, lambda x: max(1 - x, 0.0)),
}


def filtered(kind: str, before: int, after: int, scale: float, offset: float, *, antialias: bool) -> Array:
    """The weights of each source pixel, ``[after, before]``.

    Source: tensorflow/core/kernels/image/scale_and_translate_op.cc, ComputeSpansCore.
    """
    radius, weight = FILTERS[kind]
    width = max(1 / scale, 1) if antialias else 1.0
    weights = np.zeros((after, before))
    for row in range(after):
        place = (row + 0.5 - offset) / scale
        if 0 <= place <= before:
            first = max(math.ceil(place - radius * width - 0.5), 0)
            last = min(math.floor(place + radius * width - 0.5), before - 1)
            for pixel in range(first, last + 1):
                weights[row, pixel] = weight(abs(pixel + 0.5 - place) / width)
            if abs(weights[row].sum()) >= 1e-30:
                weights[row] /= weights[row].sum()
    return weights


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("kind", FILTERS)
def test_scaled_and_moved_images(kind: str, *, antialias: bool) -> None:
    x, scales, offsets = images(2, 6, 7, 2), np.array([0.55, 1.7], F), np.array([1.25, -2.4], F)
    rows, columns = (
        filtered(kind, before, after, float(scale), float(offset), antialias=antialias)
        for before, after, scale, offset in zip((6, 7), (5, 11), scales, offsets, strict=True)
    )
    expected = np.einsum("ai,bj,nijc->nabc", rows, columns, x).astype(F)
    size, options = np.array([5, 11], np.int32), {"kernel_type": kind, "antialias": antialias}
    operands = [x, Constant(size), Constant(scales), Constant(offsets)]
    check("ScaleAndTranslate", operands, expected, rtol=1e-4, atol=1e-5, dynamic=[False], attributes=options)
    if antialias:
        operands = [x, Static(size), Static(scales), Static(offsets)]
        check("ScaleAndTranslate", operands, expected, rtol=1e-4, atol=1e-5, dynamic=[True], attributes=options)


def weights_of(op: str, before: int, after: int, *, corners: bool, centers: bool) -> Array:
    """The weights of each source pixel, ``[after, before]``, from the definitions in resize_*_op.cc."""
    step = (before - 1) / (after - 1) if corners and after > 1 else before / after
    weights = np.zeros((after, before))
    for row in range(after):
        place = (row + 0.5) * step - 0.5 if centers else row * step
        base = math.floor(place)
        share = place - base
        match op:
            case "ResizeNearestNeighbor":
                at = (row + 0.5) * step if centers else row * step
                weights[row, min(max(math.floor(at + 0.5) if corners else math.floor(at), 0), before - 1)] = 1
            case "ResizeBilinear":
                weights[row, max(base, 0)] += 1 - share
                weights[row, min(math.ceil(place), before - 1)] += share
            case "ResizeArea":
                for pixel in range(math.floor(row * step), math.ceil((row + 1) * step - 1e-9)):
                    common = min(pixel + 1, (row + 1) * step) - max(pixel, row * step)
                    weights[row, min(pixel, before - 1)] += common / step
            case _:
                share = round(share * 1024) / 1024
                for offset in (-1, 0, 1, 2):
                    weight = cubic(abs(offset - share), -0.5 if centers else -0.75)
                    if not centers or 0 <= base + offset < before:
                        weights[row, min(max(base + offset, 0), before - 1)] += weight
                if centers:
                    weights[row] /= weights[row].sum()
    return weights


MODES = [(False, False), (True, False), (False, True)]


@pytest.mark.parametrize(("corners", "centers"), MODES)
@pytest.mark.parametrize("op", ["ResizeArea", "ResizeBicubic"])
def test_resized_images(op: str, *, corners: bool, centers: bool) -> None:
    options = {"align_corners": corners, "half_pixel_centers": centers}
    for before, after in (((5, 7), (8, 3)), ((6, 4), (1, 9))):
        x = images(2, *before, 2)
        rows, columns = (
            weights_of(op, *sizes, corners=corners, centers=centers) for sizes in zip(before, after, strict=True)
        )
        expected = np.einsum("ai,bj,nijc->nabc", rows, columns, x).astype(F)
        check(
            op,
            [x, Constant(np.array(after, np.int32))],
            expected,
            rtol=1e-4,
            atol=1e-5,
            dynamic=[False],
            attributes=options,
        )
    operands = [x, Static(np.array(after, np.int32))]
    check(op, operands, expected, rtol=1e-4, atol=1e-5, dynamic=[True], attributes=options)


@pytest.mark.parametrize(("corners", "centers"), MODES)
@pytest.mark.parametrize("op", ["ResizeNearestNeighbor", "ResizeBilinear", "ResizeBicubic"])
def test_gradients_of_resized_images(op: str, *, corners: bool, centers: bool) -> None:
    options = {"align_corners": corners, "half_pixel_centers": centers}
    before, after = (5, 7), (8, 3)
    gradient, x = images(2, *after, 2), images(2, *before, 2)
    rows, columns = (
        weights_of(op, *sizes, corners=corners, centers=centers) for sizes in zip(before, after, strict=True)
    )
    expected = np.einsum("ai,bj,nabc->nijc", rows, columns, gradient).astype(F)
    size = np.array(before, np.int32)
    other, constant = (Static(size), Constant(size)) if op == "ResizeNearestNeighbor" else (x, x)
    check(f"{op}Grad", [gradient, constant], expected, rtol=1e-4, atol=1e-5, dynamic=[False], attributes=options)
    check(f"{op}Grad", [gradient, other], expected, rtol=1e-4, atol=1e-5, dynamic=[True], attributes=options)


def mapped(place: float, size: int, mode: str) -> float:
    """A coordinate, moved inside the image. Source: tensorflow/core/kernels/image/image_ops.h, MapCoordinate."""
    if mode == "CONSTANT":
        return place
    if mode == "REFLECT" and not 0 <= place <= size - 1:
        place = math.fmod(place, 2 * size)
        if place < 0:
            place = place + 2 * size if place < -size else -place - 1
        elif place >= size:
            place = 2 * size - place - 1
    if mode == "WRAP" and place < 0:
        place += size * (int(-place / (size - 1)) + 1)
    elif mode == "WRAP" and place > size - 1:
        place -= size * int(place / (size - 1))
    return min(max(place, 0), size - 1)


@pytest.mark.parametrize("mode", ["CONSTANT", "NEAREST", "REFLECT", "WRAP"])
@pytest.mark.parametrize("method", ["NEAREST", "BILINEAR"])
def test_projected_images(method: str, mode: str) -> None:
    x = images(2, 4, 5, 2)
    transforms = np.array([[1.3, 0.4, -2.7, -0.3, 1.2, -1.1, 0.02, 0.05], [-3.1, 1, 7.3, 0.6, -2.7, 6.2, 0, -0.25]], F)
    fill = 0.75 if mode == "CONSTANT" else 0.0
    expected = np.full((2, 6, 7, 2), fill)

    def read(image: int, row: float, column: float) -> Any:
        inside = 0 <= row < 4 and 0 <= column < 5
        return x[image, int(row), int(column)] if inside else np.full(2, fill)

    for image, row, column in itertools.product(range(2), range(6), range(7)):
        a0, a1, a2, b0, b1, b2, c0, c1 = transforms[image].astype(np.float64)
        if depth := c0 * column + c1 * row + 1:
            at_column = mapped((a0 * column + a1 * row + a2) / depth, 5, mode)
            at_row = mapped((b0 * column + b1 * row + b2) / depth, 4, mode)
            if method == "NEAREST":
                rounded = (math.copysign(math.floor(abs(each) + 0.5), each) for each in (at_row, at_column))
                expected[image, row, column] = read(image, *rounded)
                continue
            top, left = math.floor(at_row), math.floor(at_column)
            down, across = at_row - top, at_column - left
            for rows, part in ((top, 1 - down), (top + 1, down)):
                upper = (1 - across) * read(image, rows, left) + across * read(image, rows, left + 1)
                expected[image, row, column] += part * upper - (fill if rows == top else 0)
    size, options = np.array([6, 7], np.int32), {"interpolation": method, "fill_mode": mode}
    operands = [x, transforms, Constant(size), *([np.array(fill, F)] if fill else [])]
    op = "ImageProjectiveTransformV3" if fill else "ImageProjectiveTransformV2"
    check(op, operands, expected.astype(F), rtol=1e-4, atol=1e-4, dynamic=[False], attributes=options)
    operands = [*operands[:2], Static(size), *operands[3:]]
    check(op, operands, expected.astype(F), rtol=1e-4, atol=1e-4, dynamic=[True], attributes=options)


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
def test_integers_that_are_interpolated(dtype: str) -> None:
    image = np.array([-7, 20_000], dtype).reshape(1, 1, 2, 1)
    expected = np.array([-7, 9996.5, 20_000, 20_000], np.float32).reshape(1, 1, 4, 1)
    attributes = {"align_corners": False, "half_pixel_centers": False}
    check("ResizeBilinear", [image, Constant(np.array([1, 4], np.int32))], expected, attributes=attributes)


@pytest.mark.parametrize("op", ["ResizeNearestNeighbor", "ResizeBilinear"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_small_integers_are_resized(op: str, dtype: str) -> None:
    x = np.random.default_rng(0).integers(0, 100, (2, 3, 4, 2)).astype(dtype)
    rows, columns = (weights_of(op, *sizes, corners=False, centers=False) for sizes in ((3, 6), (4, 2)))
    expected = np.einsum("ai,bj,nijc->nabc", rows, columns, x)
    expected = expected.astype(F if op == "ResizeBilinear" else dtype)
    attributes = {"align_corners": False, "half_pixel_centers": False}
    check(op, [x, Constant(np.array([6, 2], np.int32))], expected, rtol=1e-5, attributes=attributes, form="any")


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_crops(method: str, dtype: str) -> None:
    """Definition: https://www.tensorflow.org/api_docs/python/tf/image/crop_and_resize."""
    x = (100 * images(2, 5, 6, 3)).astype(dtype)
    boxes = np.array([[0.25, 0.2, 0.75, 1], [0, 1, 1, 0], [-0.3, 0.1, 0.6, 1.2]], F)
    numbers = np.array([0, 1, 1], np.int32)
    options = {"method": method, "extrapolation_value": 7.0}
    for height, width in ((3, 4), (1, 5)):
        expected = np.full((3, height, width, 3), 7, F)
        for box, row, column in itertools.product(range(3), range(height), range(width)):
            begin, end, image = boxes[box, :2].astype(float), boxes[box, 2:].astype(float), x[numbers[box]]
            places: list[float] = []
            for axis, (at, count) in enumerate(((row, height), (column, width))):
                share = at / (count - 1) if count > 1 else 0.5
                places.append((begin[axis] + share * (end[axis] - begin[axis])) * (image.shape[axis] - 1))
            if not all(-1e-6 <= place <= size - 1 + 1e-6 for place, size in zip(places, image.shape, strict=False)):
                continue
            if method == "nearest":
                at_row, at_column = (math.floor(place + 0.5) for place in places)
                expected[box, row, column] = image[at_row, at_column]
                continue
            down, across = (place - math.floor(place + 1e-6) for place in places)
            (top, bottom), (left, right) = ((math.floor(place + 1e-6), math.ceil(place - 1e-6)) for place in places)
            upper = image[top, left] * (1 - across) + image[top, right] * across
            lower = image[bottom, left] * (1 - across) + image[bottom, right] * across
            expected[box, row, column] = upper * (1 - down) + lower * down
        size = np.array([height, width], np.int32)
        check(
            "CropAndResize",
            [x, boxes, numbers, Constant(size)],
            expected,
            form="composite",
            rtol=1e-4,
            attributes=options,
        )
        operands = [x, boxes, numbers, Static(size)]
        check("CropAndResize", operands, expected, form="composite", rtol=1e-4, attributes=options, dynamic=[True])
