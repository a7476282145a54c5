from __future__ import annotations

from typing import Any

import pytest

from litefuse.testing import became

NAME = "TFLite_Detection_PostProcess"
ARGUMENTS = "float32[1,64,4] float32[1,64,3] float32[64,4]"
RESULTS = "float32[1,20,4] float32[1,20] float32[1,20] float32[1]"
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
        (ARGUMENTS, "float32[] float32[] float32[] float32[]", {}),  # a placeholder's scalars
        ("float32[?,?,6] float32[1,?,2] float32[64,?]", "float32[*] float32[?,?] float32[1,20] float32[?]", {}),
    ],
)
def test_accepted(arguments: str, results: str, attributes: dict[str, Any]) -> None:
    assert became(NAME, arguments, results, ATTRIBUTES | attributes).reason is None


@pytest.mark.parametrize("missing", sorted(ATTRIBUTES))
def test_required_attribute(missing: str) -> None:
    found = became(NAME, ARGUMENTS, RESULTS, {k: v for k, v in ATTRIBUTES.items() if k != missing}).reason
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
    found = became(NAME, ARGUMENTS, RESULTS, {**ATTRIBUTES, name: value}).reason
    assert found is not None
    assert expected in found


@pytest.mark.parametrize(
    ("arguments", "results", "expected"),
    [
        ("float32[1,64,4] float32[1,64,3]", RESULTS, "it has 2 arguments, not 3"),
        (ARGUMENTS, "float32[1,20,4] float32[1,20] float32[1,20]", "it has 3 results, not 4"),
        ("float32[64,4] float32[1,64,3] float32[64,4]", RESULTS, "the box encodings are float32[64,4]"),
        ("float32[1,64,4] float32[*] float32[64,4]", RESULTS, "the class scores are float32[*]"),
        ("float32[1,64,4] float32[1,64,3] float32[1,64,4]", RESULTS, "the anchors are float32[1,64,4]"),
        ("float16[1,64,4] float32[1,64,3] float32[64,4]", RESULTS, "the box encodings are float16[1,64,4]"),
        ("float32[3,64,4] float32[3,64,3] float32[64,4]", RESULTS, "a batch of 1"),
        ("float32[1,64,3] float32[1,64,3] float32[64,4]", RESULTS, "a box has 4 coordinates"),
        ("float32[1,64,4] float32[1,64,3] float32[64,5]", RESULTS, "an anchor has 4 coordinates"),
        ("float32[1,64,4] float32[1,63,3] float32[64,4]", RESULTS, "not as many each"),
        (ARGUMENTS, "float32[1,10,4] float32[1,20] float32[1,20] float32[1]", "result 0 (boxes) is float32[1,10,4]"),
        (ARGUMENTS, "float32[1,20,4] int32[1,20] float32[1,20] float32[1]", "result 1 (classes) is int32[1,20]"),
        (ARGUMENTS, "float32[1,20,4] float32[1,20] float32[1,20] float32[2]", "result 3 (count) is float32[2]"),
    ],
)
def test_wrong_types(arguments: str, results: str, expected: str) -> None:
    found = became(NAME, arguments, results, ATTRIBUTES).reason
    assert found is not None
    assert expected in found
