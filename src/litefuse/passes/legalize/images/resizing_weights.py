"""Weights of resizing: for one dimension, a matrix ``[after, before]`` of each source pixel's weight in each result.

The formulas are numpy's, applied to its arrays if the sizes are known. If the model computes a size, the arrays are
those of ``numpy_formulas``. Everything is float32, as in TensorFlow: the rounding of a position determines which
pixels are under a filter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

# TensorFlow looks up the cubic filter in a table with this many steps between pixels.
_TABLE = 1024
_where: Callable[[Any, Any, Any], Any] = np.where
# Weights with a smaller sum are not divided by it.
_SMALLEST_SUM = 1000 * 1.17549435e-38


class Line(NamedTuple):
    """One dimension of the images, in float32.

    Attributes:
        before: The number of pixels before resizing, ``[1, 1]``.
        after: The number of pixels after resizing, ``[1, 1]``.
        pixels: The positions before resizing, ``[1, before]``.
        rows: The positions after resizing, ``[after, 1]``.
    """

    before: Any
    after: Any
    pixels: Any
    rows: Any


def scale(line: Line, *, align_corners: bool) -> Any:
    """Returns the source distance between adjacent result pixels.

    Source: tensorflow/core/util/image_resizer_state.h.
    """
    plain = line.before / line.after
    if not align_corners:
        return plain
    return _where(line.after > 1, (line.before - 1) / np.maximum(line.after - 1, 1), plain)


def nearest(line: Line, step: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    """Selects the nearest pixel.

    Source: tensorflow/core/kernels/image, resize_nearest_neighbor_op.cc.
    """
    place = (line.rows + 0.5 if half_pixel_centers else line.rows) * step
    at = np.floor(place + 0.5 if align_corners else place)
    return _where(line.pixels == _inside(line, at), 1.0, 0.0)


def bilinear(line: Line, step: Any, *, half_pixel_centers: bool) -> Any:
    """Weights the two pixels around a position by their nearness.

    Source: tensorflow/core/kernels/image, resize_bilinear_op.cc.
    """
    place = _place(line, step, half_pixel_centers=half_pixel_centers)
    share = place - np.floor(place)
    low = _where(line.pixels == np.maximum(np.floor(place), 0), 1 - share, 0.0)
    return low + _where(line.pixels == np.minimum(np.ceil(place), line.before - 1), share, 0.0)


def area(line: Line, step: Any) -> Any:
    """Averages the area of each result pixel; rounded positions beyond the last pixel count as that one.

    Source: tensorflow/core/kernels/image, resize_area_op.cc.
    """
    begin, end = line.rows * step, (line.rows + 1) * step
    common = np.maximum(np.minimum(line.pixels + 1, end) - np.maximum(line.pixels, begin), 0)
    shares = _where((line.pixels < begin) & (line.pixels + 1 > end), step, common)
    behind = _where(line.pixels == line.before - 1, np.maximum(end - line.before, 0), 0.0)
    return (shares + behind) / step


def bicubic(line: Line, step: Any, *, half_pixel_centers: bool) -> Any:
    """Applies Keys' cubic filter, with -0.5 for half pixel centers, where outer weights are dropped, else -0.75."""
    place = _place(line, step, half_pixel_centers=half_pixel_centers)
    base = np.floor(place)
    share = np.rint((place - base) * _TABLE) / _TABLE
    matrix: Any = 0.0
    for offset in (-1, 0, 1, 2):
        at = base + offset if half_pixel_centers else _inside(line, base + offset)
        weight = _cubic(np.absolute(offset - share), -0.5 if half_pixel_centers else -0.75)
        matrix = matrix + _where(line.pixels == at, weight, 0.0)
    return _normalized(matrix, otherwise=matrix) if half_pixel_centers else matrix


def filtered(
    line: Line, scale: Any, offset: Any, radius: float, weight: Callable[[Any], Any], *, antialias: bool
) -> Any:
    """Returns a filter's weights around each result pixel's position, wider where the images are reduced.

    Args:
        line: The dimension.
        scale: The factor by which the images grow, ``[1, 1]``.
        offset: The translation, in result pixels, ``[1, 1]``.
        radius: The filter's radius.
        weight: Returns the filter's weight at a distance.
        antialias: Whether the filter is wider where the images are reduced.
    """
    inverse = 1 / scale
    width = np.maximum(inverse, 1) if antialias else 1.0
    place = (line.rows + 0.5) * inverse - inverse * offset
    first, last = np.ceil(place - radius * width - 0.5), np.floor(place + radius * width - 0.5)
    weights = weight(np.absolute(line.pixels + 0.5 - place) * (1 / width))
    matrix = _where((line.pixels >= first) & (line.pixels <= last), weights, 0.0)
    return _where((place >= 0) & (place <= line.before), _normalized(matrix, otherwise=0.0), 0.0)


def _place(line: Line, step: Any, *, half_pixel_centers: bool) -> Any:
    return (line.rows + 0.5) * step - 0.5 if half_pixel_centers else line.rows * step


def _inside(line: Line, at: Any) -> Any:
    return np.minimum(np.maximum(at, 0), line.before - 1)


def _normalized(matrix: Any, otherwise: Any) -> Any:
    total = np.sum(matrix, axis=1, keepdims=True)
    enough = np.absolute(total) >= _SMALLEST_SUM
    return _where(enough, matrix / _where(enough, total, 1.0), otherwise)


def _cubic(x: Any, a: float) -> Any:
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    return _where(x <= 1, near, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a)


def _lanczos(radius: float) -> Callable[[Any], Any]:
    def weight(x: Any) -> Any:
        angle = math.pi * np.maximum(x, 1e-3)
        wave = radius * np.sin(angle) * np.sin(angle / radius) / (angle * angle)
        return _where(x > radius, 0.0, _where(x <= 1e-3, 1.0, wave))

    return weight


def _gaussian(x: Any) -> Any:
    return _where(x < 1.5, np.exp(x * x * -2.0), 0.0)  # of standard deviation 0.5


def _box(x: Any) -> Any:
    return _where(x < 0.5, 1.0, _where(x == 0.5, 0.5, 0.0))


def _keys(x: Any) -> Any:
    return _where(x < 2, _cubic(x, -0.5), 0.0)


def _mitchell(x: Any) -> Any:
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return _where(x >= 2, 0.0, _where(x >= 1, far, (7 / 6 * x - 2) * x * x + 8 / 9))


def _triangle(x: Any) -> Any:
    return np.maximum(1 - x, 0)


FILTERS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "box": (1.0, _box),
    "gaussian": (1.5, _gaussian),
    "keyscubic": (2.0, _keys),
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "mitchellcubic": (2.0, _mitchell),
    "triangle": (1.0, _triangle),
}
"""The radius of each filter, and the function of its weight at a distance."""
