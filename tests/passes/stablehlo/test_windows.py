"""Windows and convolutions, against their definitions written out in numpy."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.passes.stablehlo.rules.windows import padding_name
from tests.passes.stablehlo.running import run

_Array = npt.NDArray[Any]
RANDOM = np.random.default_rng(1)


def padded(x: _Array, pads: Sequence[tuple[int, int]], value: float) -> _Array:
    return np.pad(x, pads, constant_values=value)


def windows(
    x: _Array,
    sizes: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    compute: Callable[[_Array], Any],
) -> _Array:
    """What is computed of each window of an array that is padded already."""
    spans = [(size - 1) * dilation + 1 for size, dilation in zip(sizes, dilations, strict=True)]
    counts = [(extent - span) // stride + 1 for extent, span, stride in zip(x.shape, spans, strides, strict=True)]
    result = np.empty(counts, x.dtype)
    for place in itertools.product(*map(range, counts)):
        at = tuple(
            slice(index * stride, index * stride + span, dilation)
            for index, stride, span, dilation in zip(place, strides, spans, dilations, strict=True)
        )
        result[place] = compute(x[at])
    return result


@pytest.mark.parametrize(
    ("op", "init", "compute"),
    [("add", "0.0", np.sum), ("maximum", "0xFF800000", np.max), ("minimum", "0x7F800000", np.min)],
)
@pytest.mark.parametrize(
    ("pads", "strides", "dilations"),
    [
        ([(0, 0)] * 4, [1, 1, 1, 1], [1, 1, 1, 1]),
        ([(0, 0), (1, 1), (0, 1), (0, 0)], [1, 2, 2, 1], [1, 1, 1, 1]),
        ([(0, 0), (2, 0), (0, 2), (0, 0)], [1, 1, 2, 1], [1, 1, 1, 1]),
        ([(0, 0)] * 4, [1, 1, 1, 1], [1, 2, 1, 1]),
    ],
)
def test_reduce_window(
    op: str,
    init: str,
    compute: Callable[[_Array], Any],
    pads: list[tuple[int, int]],
    strides: list[int],
    dilations: list[int],
) -> None:
    x = RANDOM.integers(-9, 9, (2, 6, 5, 3)).astype(np.float32)
    sizes = [1, 3, 2, 1]
    empty = {"add": 0.0, "maximum": -np.inf, "minimum": np.inf}[op]
    expected = windows(padded(x, pads, empty), sizes, strides, dilations, compute)
    shape = "x".join(map(str, expected.shape))
    body = f"""
        %i = stablehlo.constant dense<{init}> : tensor<f32>
        %y = "stablehlo.reduce_window"(%x0, %i) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %r = stablehlo.{op} %a, %b : tensor<f32>
          stablehlo.return %r : tensor<f32>
        }}) {{
          window_dimensions = array<i64: {", ".join(map(str, sizes))}>,
          window_strides = array<i64: {", ".join(map(str, strides))}>,
          window_dilations = array<i64: {", ".join(map(str, dilations))}>,
          padding = dense<{[list(each) for each in pads]}> : tensor<4x2xi64>
        }} : (tensor<2x6x5x3xf32>, tensor<f32>) -> tensor<{shape}xf32>
    """
    np.testing.assert_allclose(run(body, f"{shape}xf32", x), expected, rtol=1e-6)


def convolved(x: _Array, k: _Array, strides: Sequence[int], dilations: Sequence[int], groups: int = 1) -> _Array:
    """Images ``[n, h, w, c]`` that are padded already, by filters ``[h, w, c / groups, features]``."""
    height, width, depth, features = k.shape
    spans = [(size - 1) * dilation + 1 for size, dilation in zip((height, width), dilations, strict=True)]
    counts = [(x.shape[1 + axis] - spans[axis]) // strides[axis] + 1 for axis in (0, 1)]
    result = np.zeros((len(x), *counts, features), np.float32)
    for row, column, feature in itertools.product(*map(range, counts), range(features)):
        group = feature // (features // groups)
        rows = slice(row * strides[0], row * strides[0] + spans[0], dilations[0])
        columns = slice(column * strides[1], column * strides[1] + spans[1], dilations[1])
        patch = x[:, rows, columns, group * depth : (group + 1) * depth]
        result[:, row, column, feature] = (patch * k[..., feature]).sum((1, 2, 3))
    return result


def convolution(shapes: Sequence[str], result: str, window: str, groups: int = 1, form: str = "") -> str:
    dims = form or "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
    x, k = (f"tensor<{shape}xf32>" for shape in shapes)
    return f"""
        %y = stablehlo.convolution(%x0, %x1) dim_numbers = {dims}, window = {{{window}}} {{
          batch_group_count = 1 : i64, feature_group_count = {groups} : i64
        }} : ({x}, {k}) -> tensor<{result}xf32>
    """


@pytest.mark.parametrize(
    ("window", "pads", "strides", "dilations"),
    [
        ("", [(0, 0), (0, 0)], [1, 1], [1, 1]),
        ("stride = [2, 1], pad = [[1, 1], [0, 1]]", [(1, 1), (0, 1)], [2, 1], [1, 1]),
        ("rhs_dilate = [2, 2]", [(0, 0), (0, 0)], [1, 1], [2, 2]),
        ("pad = [[2, 2], [2, 2]], rhs_dilate = [2, 2]", [(2, 2), (2, 2)], [1, 1], [2, 2]),
    ],
)
def test_convolution(window: str, pads: list[tuple[int, int]], strides: list[int], dilations: list[int]) -> None:
    x = RANDOM.normal(size=(2, 7, 6, 3)).astype(np.float32)
    k = RANDOM.normal(size=(3, 2, 3, 4)).astype(np.float32)
    expected = convolved(padded(x, [(0, 0), *pads, (0, 0)], 0), k, strides, dilations)
    shape = "x".join(map(str, expected.shape))
    found = run(convolution(["2x7x6x3", "3x2x3x4"], shape, window), f"{shape}xf32", x, k)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_padding_may_be_cut_off() -> None:
    """Negative padding leaves out what is at the borders."""
    x = RANDOM.normal(size=(1, 6, 6, 2)).astype(np.float32)
    k = RANDOM.normal(size=(2, 2, 2, 3)).astype(np.float32)
    expected = convolved(x[:, 1:, :-1], k, [1, 1], [1, 1])
    found = run(convolution(["1x6x6x2", "2x2x2x3"], "1x4x4x3", "pad = [[-1, 0], [0, -1]]"), "1x4x4x3xf32", x, k)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("groups", "features"), [(2, 4), (4, 4), (4, 8)])
def test_groups_of_features(groups: int, features: int) -> None:
    x = RANDOM.normal(size=(2, 5, 5, 4)).astype(np.float32)
    k = RANDOM.normal(size=(3, 3, 4 // groups, features)).astype(np.float32)
    expected = convolved(x, k, [1, 1], [1, 1], groups)
    shape = f"2x3x3x{features}"
    found = run(convolution(["2x5x5x4", f"3x3x{4 // groups}x{features}"], shape, "", groups), f"{shape}xf32", x, k)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_channels_first_and_filters_in_another_order() -> None:
    x = RANDOM.normal(size=(2, 3, 6, 5)).astype(np.float32)
    k = RANDOM.normal(size=(4, 3, 3, 2)).astype(np.float32)
    expected = convolved(np.transpose(x, (0, 2, 3, 1)), np.transpose(k, (2, 3, 1, 0)), [1, 1], [1, 1])
    expected = np.transpose(expected, (0, 3, 1, 2))
    form = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]"
    found = run(convolution(["2x3x6x5", "4x3x3x2"], "2x4x4x4", "", form=form), "2x4x4x4xf32", x, k)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_transposed_convolution() -> None:
    """A dilated input: zeros between its elements."""
    x = RANDOM.normal(size=(1, 3, 3, 2)).astype(np.float32)
    k = RANDOM.normal(size=(3, 3, 2, 4)).astype(np.float32)
    spread = np.zeros((1, 5, 5, 2), np.float32)
    spread[:, ::2, ::2] = x
    expected = convolved(padded(spread, [(0, 0), (2, 2), (2, 2), (0, 0)], 0), k, [1, 1], [1, 1])
    window = "pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2]"
    found = run(convolution(["1x3x3x2", "3x3x2x4"], "1x7x7x4", window), "1x7x7x4xf32", x, k)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_one_dimension() -> None:
    x = RANDOM.normal(size=(2, 8, 3)).astype(np.float32)
    k = RANDOM.normal(size=(3, 3, 5)).astype(np.float32)
    expected = convolved(x[:, :, np.newaxis], k[:, np.newaxis], [2, 1], [1, 1])[:, :, 0]
    form = "[b, 0, f]x[0, i, o]->[b, 0, f]"
    found = run(convolution(["2x8x3", "3x3x5"], "2x3x5", "stride = [2]", form=form), "2x3x5xf32", x, k)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("size", "extent", "stride", "pair", "name"),
    [
        (5, 3, 1, (0, 0), "VALID"),
        (5, 3, 1, (1, 1), "SAME"),
        (5, 3, 2, (1, 1), "SAME"),
        (6, 3, 2, (0, 1), "SAME"),
        (6, 3, 2, (1, 1), None),
        (7, 2, 3, (0, 1), "SAME"),
        (7, 5, 3, (2, 2), "SAME"),
        (8, 5, 3, (1, 2), "SAME"),
        (None, 4, 1, (1, 2), "SAME"),
        (None, 3, 2, (1, 1), None),
    ],
)
def test_the_name_of_a_padding(
    size: int | None, extent: int, stride: int, pair: tuple[int, int], name: str | None
) -> None:
    """``SAME`` gives a position for each stride that begins within, and adds the odd element behind."""
    assert padding_name([size], [extent], [stride], [pair]) == name


@pytest.mark.parametrize("direction", ["GE", "GT", "LE", "LT"])
def test_what_is_chosen_of_windows_that_reach_over_the_border(direction: str) -> None:
    sign = -1 if direction.startswith("G") else 1  # so that nothing is as far from the border's number as zeros are
    image = sign * (1 + RANDOM.permutation(20).astype(np.float32).reshape(4, 5))
    source = RANDOM.integers(1, 9, (2, 3)).astype(np.float32)
    expected = np.zeros_like(image)
    for row, column in itertools.product(range(2), range(3)):
        rows, columns = range(2 * row, min(2 * row + 3, 4)), range(max(2 * column - 1, 0), min(2 * column + 2, 5))
        window = [*itertools.product(rows, columns)]
        chosen = max(window, key=lambda place: image[place] if direction.startswith("G") else -image[place])
        expected[chosen] += source[row, column]
    body = f"""
        %i = stablehlo.constant dense<0.0> : tensor<f32>
        %y = "stablehlo.select_and_scatter"(%x0, %x1, %i) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %r = stablehlo.compare {direction}, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %r : tensor<i1>
        }}, {{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %r = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %r : tensor<f32>
        }}) {{
          window_dimensions = array<i64: 3, 3>,
          window_strides = array<i64: 2, 2>,
          padding = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>
        }} : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32>
    """
    np.testing.assert_array_equal(run(body, "4x5xf32", image, source), expected)
