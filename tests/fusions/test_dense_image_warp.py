from __future__ import annotations

import pytest

from tests.fusions.fusing import reason

NAME = "addons:DenseImageWarp"
IMAGE, FLOW = "2x4x5x3xf32", "2x4x5x2xf32"


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        (f"{IMAGE} {FLOW}", IMAGE),
        ("?x4x5x3xf32 ?x4x5x2xf32", "?x4x5x3xf32"),
        ("?x?x?x?xf32 ?x?x?x?xf32", "?x?x?x?xf32"),
    ],
)
def test_accepted(arguments: str, results: str) -> None:
    assert reason(NAME, arguments, results) is None


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        (IMAGE, IMAGE, "it has 1 arguments, not 2 (image, flow)"),
        (f"{IMAGE} {FLOW} f32", IMAGE, "it has 3 arguments"),
        (f"{IMAGE} {FLOW}", f"{IMAGE} f32", "it has 2 results, not 1"),
        (f"{IMAGE} {FLOW}", "", "it has 0 results"),
        (f"4x5x3xf32 {FLOW}", IMAGE, "image is float32[4,5,3]; DenseImageWarp takes and gives float32 of rank 4"),
        (f"?xf32 {FLOW}", IMAGE, "image is float32[?]"),
        (f"*xf32 {FLOW}", IMAGE, "image is float32[*]"),
        (f"{IMAGE} 4x5x2xf32", IMAGE, "flow is float32[4,5,2]"),
        (f"{IMAGE} {FLOW}", "4x5x3xf32", "the result is float32[4,5,3]"),
        (f"2x4x5x3xi32 {FLOW}", IMAGE, "image is int32[2,4,5,3]"),
        (f"2x4x5x3xf16 {FLOW}", "2x4x5x3xf16", "image is float16[2,4,5,3]"),
        (f"{IMAGE} 2x4x5x2xf64", IMAGE, "flow is float64[2,4,5,2]"),
        (f"{IMAGE} {FLOW}", "2x4x5x3xi32", "the result is int32[2,4,5,3]"),
        ("2x1x5x3xf32 2x1x5x2xf32", "2x1x5x3xf32", "2 rows and columns or more"),
        (f"{IMAGE} 2x4x5x3xf32", IMAGE, "a flow vector has 2 components"),
        (f"{IMAGE} 2x4x4x2xf32", IMAGE, "each pixel has one vector"),
        (f"{IMAGE} {FLOW}", "2x4x5x1xf32", "that of DenseImageWarp float32[2,4,5,3]"),
    ],
)
def test_refused_with_the_reason(arguments: str, results: str, expected: str) -> None:
    found = reason(NAME, arguments, results)
    assert found is not None
    assert expected in found


def test_attributes_are_refused() -> None:
    found = reason(NAME, f"{IMAGE} {FLOW}", IMAGE, {"interpolation": "nearest"})
    assert found == "DenseImageWarp has no attributes, and it has ['interpolation']"
