from __future__ import annotations

from typing import Any

import pytest

from tests.fusions.fusing import reason

NAME = "TFLite_Detection_PostProcess"
ARGUMENTS = "1x64x4xf32 1x64x3xf32 64x4xf32"
RESULTS = "1x20x4xf32 1x20xf32 1x20xf32 1xf32"
ATTRIBUTES: dict[str, Any] = {
    "max_detections": 10,
    "max_classes_per_detection": 2,
    "num_classes": 2,
    "nms_score_threshold": 0.25,
    "nms_iou_threshold": 0.5,
    "y_scale": 10.0,
    "x_scale": 10.0,
    "h_scale": 5.0,
    "w_scale": 5.0,
}


@pytest.mark.parametrize(
    ("arguments", "results", "attributes"),
    [
        (ARGUMENTS, RESULTS, {}),
        (ARGUMENTS, RESULTS, {"use_regular_nms": True, "detections_per_class": 7, "tfl_fusable_op": True}),
        (ARGUMENTS, "f32 f32 f32 f32", {}),  # a placeholder's scalars
        ("?x?x6xf32 1x?x2xf32 64x?xf32", "*xf32 ?x?xf32 1x20xf32 ?xf32", {}),
    ],
)
def test_accepted(arguments: str, results: str, attributes: dict[str, Any]) -> None:
    assert reason(NAME, arguments, results, ATTRIBUTES | attributes) is None


@pytest.mark.parametrize("missing", sorted(ATTRIBUTES))
def test_required_attribute(missing: str) -> None:
    found = reason(NAME, ARGUMENTS, RESULTS, {k: v for k, v in ATTRIBUTES.items() if k != missing})
    assert found is not None
    assert f"it needs the attribute {missing} ({type(ATTRIBUTES[missing]).__name__})" in found


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("max_detections", 10.0, "the attribute max_detections is 10.0; TFLite_Detection_PostProcess takes an int"),
        ("max_detections", True, "takes an int"),
        ("y_scale", 10, "the attribute y_scale is 10; TFLite_Detection_PostProcess takes a float"),
        ("y_scale", "10", "takes a float"),
        ("use_regular_nms", 1, "the attribute use_regular_nms is 1; TFLite_Detection_PostProcess takes a bool"),
        ("detections_per_class", 1.0, "takes an int"),
        ("detections_per_class", 0, "the attribute detections_per_class is 0; it is 1 or more"),
        ("num_classes", -1, "the attribute num_classes is -1"),
        ("nms_iou_threshold", 0.0, "nms_iou_threshold is 0; it is above 0 and at most 1"),
        ("nms_iou_threshold", 1.5, "it is above 0 and at most 1"),
        ("w_scale", 0.0, "the attribute w_scale is 0"),
        ("use_regular_mns", True, "has no attribute use_regular_mns"),
        ("num_classes", 4, "but num_classes is 4"),
    ],
)
def test_wrong_attribute(name: str, value: Any, expected: str) -> None:
    found = reason(NAME, ARGUMENTS, RESULTS, {**ATTRIBUTES, name: value})
    assert found is not None
    assert expected in found


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("1x64x4xf32 1x64x3xf32", RESULTS, "it has 2 arguments, not 3"),
        (ARGUMENTS, "1x20x4xf32 1x20xf32 1x20xf32", "it has 3 results, not 4"),
        ("64x4xf32 1x64x3xf32 64x4xf32", RESULTS, "the box encodings are float32[64,4]"),
        ("1x64x4xf32 *xf32 64x4xf32", RESULTS, "the class scores are float32[*]"),
        ("1x64x4xf32 1x64x3xf32 1x64x4xf32", RESULTS, "the anchors are float32[1,64,4]"),
        ("1x64x4xf16 1x64x3xf32 64x4xf32", RESULTS, "the box encodings are float16[1,64,4]"),
        ("3x64x4xf32 3x64x3xf32 64x4xf32", RESULTS, "a batch of 1"),
        ("1x64x3xf32 1x64x3xf32 64x4xf32", RESULTS, "a box has 4 coordinates"),
        ("1x64x4xf32 1x64x3xf32 64x5xf32", RESULTS, "an anchor has 4 coordinates"),
        ("1x64x4xf32 1x63x3xf32 64x4xf32", RESULTS, "not as many each"),
        (ARGUMENTS, "1x10x4xf32 1x20xf32 1x20xf32 1xf32", "result 0 (boxes) is float32[1,10,4]"),
        (ARGUMENTS, "1x20x4xf32 1x20xi32 1x20xf32 1xf32", "result 1 (classes) is int32[1,20]"),
        (ARGUMENTS, "1x20x4xf32 1x20xf32 1x20xf32 2xf32", "result 3 (count) is float32[2]"),
    ],
)
def test_wrong_types(arguments: str, results: str, expected: str) -> None:
    found = reason(NAME, arguments, results, ATTRIBUTES)
    assert found is not None
    assert expected in found
