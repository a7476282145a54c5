from __future__ import annotations

import pytest

from litefuse.testing import became

NAME = "non_max_suppression_padded_v2"
SCALARS = "int32[] float32[] float32[]"
FLAGS = "bool[] bool[] int32[]"


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        (f"float32[?,4] float32[?] {SCALARS} {FLAGS}", "int32[?,?] int32[]"),
        (f"float32[100,4] float32[100] {SCALARS}", "int32[1,10] int32[]"),
        (f"float32[100,?] float32[?] {SCALARS} bool[] {FLAGS}", "int32[10] int32[]"),
    ],
)
def test_accepted(arguments: str, results: str) -> None:
    assert became(NAME, arguments, results).reason is None


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("float32[4,4] float32[4] int32[] float32[]", "int32[1,5] int32[]", "it has 4 arguments, not boxes"),
        ("float32[4,4] float32[4]", "int32[1,5] int32[]", "it has 2 arguments"),
        (f"float32[4,4] float32[4] {SCALARS}", "", "it has 0 results, not 2"),
        (f"float32[4,4] float32[4] {SCALARS}", "int32[1,5] int32[] int32[]", "it has 3 results, not 2"),
        (f"float32[2,4,4] float32[2,4] {SCALARS}", "int32[2,5] int32[2]", "boxes is float32[2,4,4]; .* one image"),
        (f"float32[*] float32[4] {SCALARS}", "int32[1,5] int32[]", "boxes is float32[*]"),
        (f"float64[4,4] float32[4] {SCALARS}", "int32[1,5] int32[]", "boxes is float64[4,4]; .* float32 of rank 2"),
        (f"float32[4,5] float32[4] {SCALARS}", "int32[1,5] int32[]", "a box has 4 coordinates"),
        (f"float32[4,4] float32[2,4] {SCALARS}", "int32[1,5] int32[]", "scores is float32[2,4]; .* one image"),
        (f"float32[4,4] float32[5] {SCALARS}", "int32[1,5] int32[]", "one box has one score"),
        (
            "float32[4,4] float32[4] int64[] float32[] float32[]",
            "int32[1,5] int32[]",
            "max_output_size is int64[]; .* int32 of rank 0",
        ),
        ("float32[4,4] float32[4] int32[1] float32[] float32[]", "int32[1,5] int32[]", "max_output_size is int32[1]"),
        ("float32[4,4] float32[4] int32[] float16[] float32[]", "int32[1,5] int32[]", "iou_threshold is float16[]"),
        ("float32[4,4] float32[4] int32[] float32[] float32[1]", "int32[1,5] int32[]", "score_threshold is float32[1]"),
        (f"float32[4,4] float32[4] {SCALARS}", "int64[1,5] int32[]", "result 0 is int64[1,5]"),
        (f"float32[4,4] float32[4] {SCALARS}", "int32[*] int32[]", "result 0 is int32[*]"),
        (f"float32[4,4] float32[4] {SCALARS}", "int32[2,5] int32[]", "result 0 is int32[2,5]: a batch of 2"),
        (f"float32[4,4] float32[4] {SCALARS}", "int32[1,5] int32[1]", "result 1 is int32[1]"),
    ],
)
def test_refused_with_the_reason(arguments: str, results: str, expected: str) -> None:
    found = became(NAME, arguments, results).reason
    assert found is not None
    for part in expected.split(" .* "):
        assert part in found
