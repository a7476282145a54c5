from __future__ import annotations

import pytest

from tests.fusions.fusing import reason

NAME = "non_max_suppression_padded_v2"
SCALARS = "i32 f32 f32"
FLAGS = "i1 i1 i32"


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        (f"?x4xf32 ?xf32 {SCALARS} {FLAGS}", "?x?xi32 i32"),
        (f"100x4xf32 100xf32 {SCALARS}", "1x10xi32 i32"),
        (f"100x?xf32 ?xf32 {SCALARS} i1 {FLAGS}", "10xi32 i32"),
    ],
)
def test_accepted(arguments: str, results: str) -> None:
    assert reason(NAME, arguments, results) is None


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("4x4xf32 4xf32 i32 f32", "1x5xi32 i32", "it has 4 arguments, not boxes"),
        ("4x4xf32 4xf32", "1x5xi32 i32", "it has 2 arguments"),
        (f"4x4xf32 4xf32 {SCALARS}", "", "it has 0 results, not 2"),
        (f"4x4xf32 4xf32 {SCALARS}", "1x5xi32 i32 i32", "it has 3 results, not 2"),
        (f"2x4x4xf32 2x4xf32 {SCALARS}", "2x5xi32 2xi32", "boxes is float32[2,4,4]; .* one image"),
        (f"*xf32 4xf32 {SCALARS}", "1x5xi32 i32", "boxes is float32[*]"),
        (f"4x4xf64 4xf32 {SCALARS}", "1x5xi32 i32", "boxes is float64[4,4]; .* float32 of rank 2"),
        (f"4x5xf32 4xf32 {SCALARS}", "1x5xi32 i32", "a box has 4 coordinates"),
        (f"4x4xf32 2x4xf32 {SCALARS}", "1x5xi32 i32", "scores is float32[2,4]; .* one image"),
        (f"4x4xf32 5xf32 {SCALARS}", "1x5xi32 i32", "one box has one score"),
        ("4x4xf32 4xf32 i64 f32 f32", "1x5xi32 i32", "max_output_size is int64[]; .* int32 of rank 0"),
        ("4x4xf32 4xf32 1xi32 f32 f32", "1x5xi32 i32", "max_output_size is int32[1]"),
        ("4x4xf32 4xf32 i32 f16 f32", "1x5xi32 i32", "iou_threshold is float16[]"),
        ("4x4xf32 4xf32 i32 f32 1xf32", "1x5xi32 i32", "score_threshold is float32[1]"),
        (f"4x4xf32 4xf32 {SCALARS}", "1x5xi64 i32", "result 0 is int64[1,5]"),
        (f"4x4xf32 4xf32 {SCALARS}", "*xi32 i32", "result 0 is int32[*]"),
        (f"4x4xf32 4xf32 {SCALARS}", "2x5xi32 i32", "result 0 is int32[2,5]: a batch of 2"),
        (f"4x4xf32 4xf32 {SCALARS}", "1x5xi32 1xi32", "result 1 is int32[1]"),
    ],
)
def test_refused_with_the_reason(arguments: str, results: str, expected: str) -> None:
    found = reason(NAME, arguments, results)
    assert found is not None
    for part in expected.split(" .* "):
        assert part in found
