"""Ops that read and write at positions, sort and move elements: against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.passes.stablehlo.running import run, run_program

_Array = npt.NDArray[Any]
X = np.reshape(np.arange(24, dtype=np.float32), (4, 6))
VOLUME = np.reshape(np.arange(60, dtype=np.float32), (3, 4, 5))


def i32(values: Any) -> _Array:
    return np.array(values, np.int32)


def gathered(sizes: str, offset: str, collapsed: str, start: str, axis: int, types: str) -> str:
    return f"""
        %y = "stablehlo.gather"(%x0, %x1) {{
          dimension_numbers = #stablehlo.gather<
            offset_dims = [{offset}], collapsed_slice_dims = [{collapsed}], start_index_map = [{start}],
            index_vector_dim = {axis}>,
          slice_sizes = array<i64: {sizes}>, indices_are_sorted = false
        }} : {types}
    """


def test_gather_of_rows() -> None:
    rows = i32([[2], [0], [3]])
    types = "(tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>"
    np.testing.assert_array_equal(run(gathered("1, 6", "1", "0", "0", 1, types), "3x6xf32", X, rows), X[[2, 0, 3]])


def test_gather_of_columns() -> None:
    columns = i32([5, 1])
    types = "(tensor<4x6xf32>, tensor<2xi32>) -> tensor<4x2xf32>"
    np.testing.assert_array_equal(run(gathered("4, 1", "0", "1", "1", 1, types), "4x2xf32", X, columns), X[:, [5, 1]])


def test_gather_of_elements() -> None:
    places = i32([[0, 5], [3, 2]])
    types = "(tensor<4x6xf32>, tensor<2x2xi32>) -> tensor<2xf32>"
    found = run(gathered("1, 1", "", "0, 1", "0, 1", 1, types), "2xf32", X, places)
    np.testing.assert_array_equal(found, [X[0, 5], X[3, 2]])


def test_gather_of_windows_that_begin_within() -> None:
    """A start is moved so that the window is within the operand."""
    starts = i32([[1], [9], [-4]])
    types = "(tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x2x6xf32>"
    found = run(gathered("2, 6", "1, 2", "", "0", 1, types), "3x2x6xf32", X, starts)
    np.testing.assert_array_equal(found, [X[1:3], X[2:4], X[0:2]])


def scattered(combine: str) -> str:
    """Rows of updates put into rows of ``[4, 6]``."""
    return f"""
        %y = "stablehlo.scatter"(%x0, %x1, %x2) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          {combine}
        }}) {{
          scatter_dimension_numbers = #stablehlo.scatter<
            update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
            index_vector_dim = 1>,
          indices_are_sorted = false, unique_indices = false
        }} : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
    """


@pytest.mark.parametrize(("op", "ufunc"), [("add", np.add), ("maximum", np.maximum), ("minimum", np.minimum)])
def test_scatter_combines_all_updates_of_a_row(op: str, ufunc: np.ufunc) -> None:
    rows, updates = i32([[2], [0], [2]]), np.array([[9], [-9], [1]], np.float32) * np.ones((1, 6), np.float32)
    expected = np.array(X)
    ufunc.at(expected, rows[:, 0], updates)
    body = scattered(f"%r = stablehlo.{op} %a, %b : tensor<f32>\n          stablehlo.return %r : tensor<f32>")
    np.testing.assert_array_equal(run(body, "4x6xf32", X, rows, updates), expected)


def test_scatter_replaces_and_leaves_out_what_is_outside() -> None:
    rows, updates = i32([[3], [7], [-1]]), np.array([[1], [2], [3]], np.float32) * np.ones((1, 6), np.float32)
    expected = np.array(X)
    expected[3] = 1
    found = run(scattered("stablehlo.return %b : tensor<f32>"), "4x6xf32", X, rows, updates)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("row", "column"), [(1, 2), (9, 9), (-3, 0)])
def test_dynamic_slices_stay_within(row: int, column: int) -> None:
    at = min(max(row, 0), 2), min(max(column, 0), 3)
    window = np.s_[at[0] : at[0] + 2, at[1] : at[1] + 3]
    body = """
        %y = stablehlo.dynamic_slice %x0, %x1, %x2, sizes = [2, 3]
          : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    """
    np.testing.assert_array_equal(run(body, "2x3xf32", X, i32(row), i32(column)), X[window])
    update = np.full((2, 3), -1, np.float32)
    expected = np.array(X)
    expected[window] = update
    body = """
        %y = stablehlo.dynamic_update_slice %x0, %x1, %x2, %x3
          : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    """
    np.testing.assert_array_equal(run(body, "4x6xf32", X, update, i32(row), i32(column)), expected)


@pytest.mark.parametrize(("direction", "sign"), [("LT", 1), ("GT", -1)])
@pytest.mark.parametrize("axis", [0, 1])
def test_sort(direction: str, sign: int, axis: int) -> None:
    x = np.random.default_rng(3).permutation(24).astype(np.float32).reshape(4, 6)
    body = f"""
        %y = "stablehlo.sort"(%x0) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %c = stablehlo.compare {direction}, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }}) {{dimension = {axis} : i64, is_stable = true}} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    """
    np.testing.assert_array_equal(run(body, "4x6xf32", x), sign * np.sort(sign * x, axis))


def test_sort_of_keys_and_values_is_stable() -> None:
    keys, values = i32([3, 1, 3, 0, 1]), np.arange(5, dtype=np.float32)
    text = """
        func.func public @main(%k: tensor<5xi32>, %v: tensor<5xf32>) -> (tensor<5xi32>, tensor<5xf32>) {
          %0:2 = "stablehlo.sort"(%k, %v) ({
          ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>):
            %e = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %e : tensor<i1>
          }) {dimension = 0 : i64, is_stable = true} : (tensor<5xi32>, tensor<5xf32>) -> (tensor<5xi32>, tensor<5xf32>)
          return %0#0, %0#1 : tensor<5xi32>, tensor<5xf32>
        }"""
    order = np.argsort(keys, kind="stable")
    for found, expected in zip(run_program(text, keys, values), (keys[order], values[order]), strict=True):
        np.testing.assert_array_equal(found, expected)


def interleaved(x: _Array, low: tuple[int, int], high: tuple[int, int], interior: tuple[int, int]) -> _Array:
    sizes = [(n - 1) * (gap + 1) + 1 for n, gap in zip(x.shape, interior, strict=True)]
    spread = np.full(sizes, 7, x.dtype)
    spread[:: interior[0] + 1, :: interior[1] + 1] = x
    grown = np.pad(spread, [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)], constant_values=7)
    cut = tuple(
        slice(max(-a, 0), grown.shape[axis] - max(-b, 0)) for axis, (a, b) in enumerate(zip(low, high, strict=True))
    )
    return grown[cut]


@pytest.mark.parametrize(
    ("low", "high", "interior"),
    [((1, 0), (0, 2), (0, 0)), ((0, 0), (0, 0), (1, 2)), ((-1, 0), (0, -2), (0, 0)), ((2, -1), (-1, 0), (1, 0))],
)
def test_pad(low: tuple[int, int], high: tuple[int, int], interior: tuple[int, int]) -> None:
    expected = interleaved(X, low, high, interior)
    shape = "x".join(map(str, expected.shape))
    body = f"""
        %seven = stablehlo.constant dense<7.0> : tensor<f32>
        %y = stablehlo.pad %x0, %seven, low = {list(low)}, high = {list(high)}, interior = {list(interior)}
          : (tensor<4x6xf32>, tensor<f32>) -> tensor<{shape}xf32>
    """
    np.testing.assert_array_equal(run(body, f"{shape}xf32", X), expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%y = stablehlo.reverse %x0, dims = [0, 2] : tensor<3x4x5xf32>", VOLUME[::-1, :, ::-1]),
        (
            "%y = stablehlo.transpose %x0, dims = [2, 0, 1] : (tensor<3x4x5xf32>) -> tensor<5x3x4xf32>",
            np.transpose(VOLUME, (2, 0, 1)),
        ),
        (
            "%y = stablehlo.slice %x0 [0:3:2, 1:4, 4:5] : (tensor<3x4x5xf32>) -> tensor<2x3x1xf32>",
            VOLUME[0:3:2, 1:4, 4:5],
        ),
        (
            "%i = stablehlo.iota dim = 1 : tensor<3x4x5xf32>\n%y = stablehlo.add %x0, %i : tensor<3x4x5xf32>",
            VOLUME + np.arange(4, dtype=np.float32)[:, np.newaxis],
        ),
    ],
)
def test_moved(body: str, expected: _Array) -> None:
    np.testing.assert_array_equal(run(body, f"{'x'.join(map(str, expected.shape))}xf32", VOLUME), expected)
