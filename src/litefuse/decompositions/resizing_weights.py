"""The weight of each pixel before a resizing in each one after it: matrices ``[after, before]`` of one dimension."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["FILTERS", "area", "bicubic", "bilinear", "filtered", "nearest", "scale"]

# TensorFlow looks the cubic filter up in a table of so many steps between pixels.
_TABLE = 1024


def scale(before: int, after: int, *, align_corners: bool) -> float:
    """How many pixels before lie between two after.

    Source: tensorflow/core/util/image_resizer_state.h, which computes it in float32.
    """
    corners = align_corners and after > 1
    return float(_float32(before - 1) / _float32(after - 1) if corners else _float32(before) / _float32(after))


def nearest(before: int, after: int, *, align_corners: bool, half_pixel_centers: bool) -> npt.NDArray[Any]:
    """The pixel that is nearest.

    Source: tensorflow/core/kernels/image, resize_nearest_neighbor_op.cc.
    """
    step = _float32(scale(before, after, align_corners=align_corners))
    matrix = np.zeros((after, before))
    for row in range(after):
        place = (_float32(row) + _float32(0.5 if half_pixel_centers else 0.0)) * step
        at = math.floor(place + _float32(0.5)) if align_corners else math.floor(place)
        matrix[row, min(max(at, 0), before - 1)] = 1
    return matrix


def bilinear(before: int, after: int, *, align_corners: bool, half_pixel_centers: bool) -> npt.NDArray[Any]:
    """The two pixels around a place, each by its nearness.

    Source: tensorflow/core/kernels/image, resize_bilinear_op.cc.
    """
    step = _float32(scale(before, after, align_corners=align_corners))
    half = _float32(0.5 if half_pixel_centers else 0.0)
    matrix = np.zeros((after, before))
    for row in range(after):
        place = (_float32(row) + half) * step - half
        share = float(place - np.floor(place))
        matrix[row, max(math.floor(place), 0)] += 1 - share
        matrix[row, min(math.ceil(place), before - 1)] += share
    return matrix


def area(before: int, after: int, step: float) -> npt.NDArray[Any]:
    """Means of what lies under each pixel."""
    matrix = np.zeros((after, before))
    for row in range(after):
        begin, end = row * step, (row + 1) * step
        for position in range(math.floor(begin), math.ceil(end)):
            share = min(position + 1, end) - max(position, begin)
            matrix[row, min(max(position, 0), before - 1)] += share / step
    return matrix


def bicubic(before: int, after: int, step: float, *, half_pixel_centers: bool) -> npt.NDArray[Any]:
    """Keys' cubic filter, with -0.5 for half pixel centres, whose weights outside are left out, else -0.75."""
    a = -0.5 if half_pixel_centers else -0.75
    matrix = np.zeros((after, before))
    for row in range(after):
        place = (row + 0.5) * step - 0.5 if half_pixel_centers else row * step
        base = math.floor(place)
        share = round((place - base) * _TABLE) / _TABLE
        weights = [_cubic(abs(offset - share), a) for offset in (-1, 0, 1, 2)]
        positions = [base + offset for offset in (-1, 0, 1, 2)]
        if half_pixel_centers:
            weights = [w if 0 <= at < before else 0.0 for w, at in zip(weights, positions, strict=True)]
            total = sum(weights)
            weights = [weight / total for weight in weights] if abs(total) >= 1000 * 1.17549435e-38 else weights
        for weight, position in zip(weights, positions, strict=True):
            matrix[row, min(max(position, 0), before - 1)] += weight
    return matrix


def _cubic(x: float, a: float) -> float:
    if x <= 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def filtered(
    before: int,
    after: int,
    scale: float,
    offset: float,
    radius: float,
    weight: Callable[[float], float],
    *,
    antialias: bool,
) -> npt.NDArray[Any]:
    """Weights of a filter around the place of each pixel, as wide as the pixel is in the image where it is reduced.

    Places are computed in float32, as TensorFlow does: its rounding decides which pixels lie at a filter's very edge.
    """
    matrix = np.zeros((after, before))
    inverse = _float32(1) / _float32(scale)
    width = max(inverse, _float32(1)) if antialias else _float32(1)
    reach, shift = _float32(radius) * width, inverse * _float32(offset)
    for row in range(after):
        place = _float32(row + 0.5) * inverse - shift
        if not 0 <= place <= before:
            continue
        first = min(max(math.ceil(place - reach - _float32(0.5)), 0), before - 1)
        last = min(max(math.floor(place + reach - _float32(0.5)), 0), before - 1)
        distances = [abs(_float32(at + 0.5) - place) * (_float32(1) / width) for at in range(first, last + 1)]
        weights = np.array([weight(float(distance)) for distance in distances])
        total = weights.sum()
        matrix[row, first : last + 1] = weights / total if abs(total) >= 1000 * 1.17549435e-38 else 0.0
    return matrix


def _float32(value: float) -> Any:
    return np.float32(value)


def _lanczos(radius: float) -> Callable[[float], float]:
    def weight(x: float) -> float:
        if x > radius:
            return 0.0
        return (
            1.0 if x <= 1e-3 else radius * math.sin(math.pi * x) * math.sin(math.pi * x / radius) / (math.pi * x) ** 2
        )

    return weight


def _gaussian(x: float) -> float:
    return math.exp(-(x**2) / (2 * 0.5**2)) if x < 1.5 else 0.0


def _box(x: float) -> float:
    return 1.0 if x < 0.5 else 0.5 if x == 0.5 else 0.0


def _keys(x: float) -> float:
    return _cubic(x, -0.5) if x < 2 else 0.0


def _mitchell(x: float) -> float:
    if x >= 2:
        return 0.0
    if x >= 1:
        return ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return (7 / 6 * x - 2) * x * x + 8 / 9


FILTERS: dict[str, tuple[float, Callable[[float], float]]] = {
    "box": (1.0, _box),
    "gaussian": (1.5, _gaussian),
    "keyscubic": (2.0, _keys),
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "mitchellcubic": (2.0, _mitchell),
    "triangle": (1.0, lambda x: max(1 - x, 0.0)),
}
"""The radius of each filter, and its weight at a distance."""
