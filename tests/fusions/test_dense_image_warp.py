from __future__ import annotations

import pytest

from litefuse.testing import became

NAME = "addons:DenseImageWarp"
IMAGE, FLOW = "float32[2,4,5,3]", "float32[2,4,5,2]"


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        (f"{IMAGE} {FLOW}", IMAGE),
        ("float32[?,4,5,3] float32[?,4,5,2]", "float32[?,4,5,3]"),
        ("float32[?,?,?,?] float32[?,?,?,?]", "float32[?,?,?,?]"),
    ],
)
def test_accepted(arguments: str, results: str) -> None:
    assert became(NAME, arguments, results).reason is None


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        (IMAGE, IMAGE, "it has 1 arguments, not 2 (image, flow)"),
        (f"{IMAGE} {FLOW} float32[]", IMAGE, "it has 3 arguments"),
        (f"{IMAGE} {FLOW}", f"{IMAGE} float32[]", "it has 2 results, not 1"),
        (f"{IMAGE} {FLOW}", "", "it has 0 results"),
        (f"float32[4,5,3] {FLOW}", IMAGE, "image is float32[4,5,3]; DenseImageWarp takes and gives float32 of rank 4"),
        (f"float32[?] {FLOW}", IMAGE, "image is float32[?]"),
        (f"float32[*] {FLOW}", IMAGE, "image is float32[*]"),
        (f"{IMAGE} float32[4,5,2]", IMAGE, "flow is float32[4,5,2]"),
        (f"{IMAGE} {FLOW}", "float32[4,5,3]", "the result is float32[4,5,3]"),
        (f"int32[2,4,5,3] {FLOW}", IMAGE, "image is int32[2,4,5,3]"),
        (f"float16[2,4,5,3] {FLOW}", "float16[2,4,5,3]", "image is float16[2,4,5,3]"),
        (f"{IMAGE} float64[2,4,5,2]", IMAGE, "flow is float64[2,4,5,2]"),
        (f"{IMAGE} {FLOW}", "int32[2,4,5,3]", "the result is int32[2,4,5,3]"),
        ("float32[2,1,5,3] float32[2,1,5,2]", "float32[2,1,5,3]", "2 rows and columns or more"),
        (f"{IMAGE} float32[2,4,5,3]", IMAGE, "a flow vector has 2 components"),
        (f"{IMAGE} float32[2,4,4,2]", IMAGE, "each pixel has one vector"),
        (f"{IMAGE} {FLOW}", "float32[2,4,5,1]", "that of DenseImageWarp float32[2,4,5,3]"),
    ],
)
def test_refused_with_the_reason(arguments: str, results: str, expected: str) -> None:
    found = became(NAME, arguments, results).reason
    assert found is not None
    assert expected in found


def test_attributes_are_refused() -> None:
    refused = became(NAME, f"{IMAGE} {FLOW}", IMAGE, {"interpolation": "nearest"}).reason
    assert refused == "DenseImageWarp has no attribute interpolation"
