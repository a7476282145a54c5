# pyright: reportUnknownLambdaType=false
"""The composites that litefuse brings conversion code for, against TensorFlow and the stock converter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import NotFusedError
from tests.tensorflow.checking import check, custom_options, op_counts, run_calls

if TYPE_CHECKING:
    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow


def suppression(tf: Any, options: dict[str, Any], tensors: bool, shape: tuple[int | None, ...]) -> Any:
    """Non-maximum suppression with its parameters as tensors or as Python numbers."""
    module = tf.Module()

    @tf.function(
        input_signature=[
            tf.TensorSpec([*shape, 4], tf.float32, name="boxes"),
            tf.TensorSpec(shape, tf.float32, name="scores"),
        ]
    )
    def serve(boxes: Any, scores: Any) -> Any:
        size, iou, score = (tf.constant(value) if tensors else value for value in (5, 0.4, 0.3))
        indices, count = tf.image.non_max_suppression_padded(
            boxes, scores, size, iou, score, **{"pad_to_max_output_size": True, **options}
        )
        return {"indices": indices, "count": count}

    module.serve = serve
    return module, {"serving_default": serve}


def boxes_and_scores(*counts: int, ordered: bool = False) -> list[dict[str, npt.NDArray[Any]]]:
    """Boxes of positive area, the lower corner first, at positive coordinates."""
    random = np.random.default_rng(4)
    sets: list[dict[str, npt.NDArray[Any]]] = []
    for count in counts:
        corner = random.uniform(0, 1, (count, 2))
        boxes = np.concatenate([corner, corner + random.uniform(0.3, 1, (count, 2))], axis=1)
        scores = random.permutation(np.linspace(0.05, 0.95, count))
        scores = np.sort(scores)[::-1] if ordered else scores
        sets.append({"boxes": boxes.astype(np.float32), "scores": scores.astype(np.float32)})
    return sets


@pytest.mark.parametrize("tensors", [True, False], ids=["tensors", "numbers"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"canonicalized_coordinates": True, "tile_size": 8},
        {"sorted_input": True},
        {"pad_to_max_output_size": False},
    ],
    ids=["default", "canonical", "sorted", "unpadded"],
)
def test_non_max_suppression(tensorflow: TensorFlow, options: dict[str, Any], tensors: bool) -> None:
    path = tensorflow.save(suppression, options, tensors, (None,))
    inputs = boxes_and_scores(30, 2, 12, ordered="sorted_input" in options)
    result = check(tensorflow, path, inputs, require_fused=True)
    assert op_counts(result.model_bytes)["NON_MAX_SUPPRESSION_V4"] == 1
    (composite,) = result.report.composites
    unpadded = options.get("pad_to_max_output_size") is False
    assert composite.fused_into == ("NON_MAX_SUPPRESSION_V4, RESHAPE" if unpadded else "NON_MAX_SUPPRESSION_V4")
    assert (composite.error, composite.unchecked) == (0.0, None)  # the body of TensorFlow itself was run


def test_non_max_suppression_of_fixed_size(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(suppression, {}, True, (20,))
    result = check(tensorflow, path, boxes_and_scores(20, 20), require_fused=True)
    assert op_counts(result.model_bytes)["NON_MAX_SUPPRESSION_V4"] == 1


def test_non_max_suppression_of_a_batch_is_refused(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(suppression, {}, True, (2, 20))
    with pytest.raises(NotFusedError, match="call the composite for each image of a batch"):
        litefuse.convert(path, require_fused=True)


def test_non_max_suppression_against_the_stock_converter(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(suppression, {}, True, (20,))
    stock = tensorflow.stock_convert(path)
    assert isinstance(stock, bytes), stock
    ours = litefuse.convert(path, require_fused=True).model_bytes
    assert op_counts(stock)["NON_MAX_SUPPRESSION_V4"] == op_counts(ours)["NON_MAX_SUPPRESSION_V4"] == 1
    calls = [("serving_default", each) for each in boxes_and_scores(20, 20)]
    for found, expected in zip(run_calls(ours, calls), run_calls(stock, calls), strict=True):
        assert found["count"] == expected["count"]
        assert found["indices"].tolist() == expected["indices"].tolist()


def wrong_suppression(tf: Any) -> Any:
    """The annotation on a body that takes the boxes of the lowest scores."""
    module = tf.Module()

    @tf.function(experimental_implements="non_max_suppression_padded_v2")
    def suppress(boxes: Any, scores: Any, size: Any, iou: Any, score: Any) -> Any:
        del boxes, iou
        _, indices = tf.math.top_k(-scores, size)
        count = tf.reduce_sum(tf.cast(tf.gather(scores, indices) > score, tf.int32))
        return indices, count

    @tf.function(
        input_signature=[
            tf.TensorSpec([20, 4], tf.float32, name="boxes"),
            tf.TensorSpec([20], tf.float32, name="scores"),
        ]
    )
    def serve(boxes: Any, scores: Any) -> Any:
        indices, count = suppress(boxes, scores, tf.constant(5), tf.constant(0.4), tf.constant(0.3))
        return {"indices": indices, "count": count}

    module.serve = serve
    return module, {"serving_default": serve}


def test_body_that_is_no_suppression_is_kept(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(wrong_suppression), boxes_and_scores(20))
    (composite,) = result.report.composites
    assert composite.outcome == "inlined"
    assert composite.reason is not None
    assert "it computes something else" in composite.reason


DETECTION: dict[str, Any] = {
    "max_detections": 6,
    "max_classes_per_detection": 1,
    "num_classes": 3,
    "nms_score_threshold": 0.3,
    "nms_iou_threshold": 0.5,
    "y_scale": 10.0,
    "x_scale": 8.0,
    "h_scale": 5.0,
    "w_scale": 4.0,
}


def _field(value: bool | float) -> str:
    """An attribute's value in protobuf's text format."""
    if isinstance(value, bool):
        return f"b: {str(value).lower()}"
    return f"i: {value}" if isinstance(value, int) else f"f: {value}"


def detection(tf: Any, attributes: dict[str, Any], background: int, placeholder: str, on_entry: bool) -> Any:
    """A detector's postprocessing whose body is a placeholder: of scalars, or of the shapes of the kernel's results."""
    pairs = [f'attr {{ key: "{name}" value {{ {_field(value)} }} }}' for name, value in attributes.items()]
    annotation = " ".join(['name: "TFLite_Detection_PostProcess"', *pairs])
    count = attributes["max_detections"] * attributes["max_classes_per_detection"]
    shapes: list[list[int]] = [[1, count, 4], [1, count], [1, count], [1]] if placeholder == "shapes" else [[]] * 4
    specs = [
        tf.TensorSpec([1, 40, 4], tf.float32, name="encodings"),
        tf.TensorSpec([1, 40, attributes["num_classes"] + background], tf.float32, name="class_scores"),
        tf.TensorSpec([40, 4], tf.float32, name="anchors"),
    ]
    names = ("boxes", "classes", "scores", "total")  # in this order also when sorted, as a dict is in TensorFlow

    def body(encodings: Any, class_scores: Any, anchors: Any) -> Any:
        del encodings, class_scores, anchors
        return dict(zip(names, (tf.zeros(shape) for shape in shapes), strict=True))

    module = tf.Module()
    if on_entry:
        module.serve = tf.function(body, experimental_implements=annotation, input_signature=specs)
    else:
        postprocess = tf.function(lambda *args: tuple(body(*args).values()), experimental_implements=annotation)
        module.serve = tf.function(
            lambda encodings, class_scores, anchors: dict(
                zip(names, postprocess(encodings, class_scores, anchors), strict=True)
            ),
            input_signature=specs,
        )
    return module, {"serving_default": module.serve}


def detection_inputs(classes: int, seed: int) -> dict[str, npt.NDArray[Any]]:
    random = np.random.default_rng(seed)
    return {
        "encodings": random.normal(0, 2, (1, 40, 4)).astype(np.float32),
        "class_scores": random.uniform(0, 1, (1, 40, classes)).astype(np.float32),
        "anchors": np.concatenate([random.uniform(0, 1, (40, 2)), random.uniform(0.2, 0.5, (40, 2))], 1).astype(
            np.float32
        ),
    }


def detect(attributes: dict[str, Any], inputs: dict[str, npt.NDArray[Any]]) -> list[tuple[int, float, Any]]:
    """The detections of the op's definition: class, score and box of each, the best first."""
    y, x, h, w = np.moveaxis(inputs["encodings"][0].astype(np.float64), 1, 0)
    ay, ax, ah, aw = np.moveaxis(inputs["anchors"].astype(np.float64), 1, 0)
    center_y, center_x = y / attributes["y_scale"] * ah + ay, x / attributes["x_scale"] * aw + ax
    half_h = 0.5 * np.exp(h / attributes["h_scale"]) * ah
    half_w = 0.5 * np.exp(w / attributes["w_scale"]) * aw
    boxes = np.stack([center_y - half_h, center_x - half_w, center_y + half_h, center_x + half_w], 1)
    scores = inputs["class_scores"][0][:, -attributes["num_classes"] :]

    def suppress(values: npt.NDArray[Any], limit: int) -> list[int]:
        kept: list[int] = []
        for candidate in np.argsort(-values, kind="stable"):
            far = all(overlap(boxes[candidate], boxes[other]) <= attributes["nms_iou_threshold"] for other in kept)
            if values[candidate] >= attributes["nms_score_threshold"] and far and len(kept) < limit:
                kept.append(int(candidate))
        return kept

    if attributes.get("use_regular_nms"):
        limit = attributes.get("detections_per_class", 100)
        found = [
            (label, float(scores[box, label]), boxes[box])
            for label in range(attributes["num_classes"])
            for box in suppress(scores[:, label], limit)
        ]
        return sorted(found, key=lambda one: -one[1])[: attributes["max_detections"]]
    labels = min(attributes["max_classes_per_detection"], attributes["num_classes"])
    return [
        (int(label), float(scores[box, label]), boxes[box])
        for box in suppress(scores.max(1), attributes["max_detections"])
        for label in np.argsort(-scores[box])[:labels]
    ]


def overlap(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    common = float(np.prod(np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0)))
    return common / (float(np.prod(a[2:] - a[:2])) + float(np.prod(b[2:] - b[:2])) - common)


@pytest.mark.parametrize("placeholder", ["scalars", "shapes"])
@pytest.mark.parametrize(
    ("attributes", "background"),
    [
        ({}, 0),
        ({"use_regular_nms": False, "max_classes_per_detection": 2}, 1),
        ({"use_regular_nms": True}, 1),
        ({"use_regular_nms": True, "detections_per_class": 1}, 0),
    ],
    ids=["fast", "two-classes", "regular", "one-per-class"],
)
def test_detection_postprocess(
    tensorflow: TensorFlow, attributes: dict[str, Any], background: int, placeholder: str
) -> None:
    options = DETECTION | attributes
    path = tensorflow.save(detection, options, background, placeholder, False)
    result = litefuse.convert(path, require_fused=True)
    assert op_counts(result.model_bytes) == {"TFLite_Detection_PostProcess": 1}
    assert (result.report.custom_ops, result.report.runtime_ops) == ((), ("TFLite_Detection_PostProcess",))
    assert "needs kernels" not in result.report.details()
    (composite,) = result.report.composites
    assert composite.unchecked == "the body of a detector's postprocessing is a placeholder"
    inputs = [detection_inputs(options["num_classes"] + background, seed) for seed in (1, 1, 2)]
    outputs = run_calls(result.model_bytes, [("serving_default", each) for each in inputs])
    for each, found in zip(inputs, outputs, strict=True):
        expected = detect(options, each)
        per_box = 1 if options.get("use_regular_nms") else options["max_classes_per_detection"]
        assert found["total"].tolist() == [len(expected) / per_box]
        assert found["boxes"].shape == (1, options["max_detections"] * options["max_classes_per_detection"], 4)
        assert found["classes"][0, : len(expected)].tolist() == [label for label, _, _ in expected]
        np.testing.assert_allclose(found["scores"][0, : len(expected)], [score for _, score, _ in expected], atol=1e-6)
        np.testing.assert_allclose(found["boxes"][0, : len(expected)], [box for _, _, box in expected], atol=1e-5)


def test_detections_per_class_matters() -> None:
    inputs = detection_inputs(3, 1)
    regular = DETECTION | {"use_regular_nms": True}
    assert len(detect(regular | {"detections_per_class": 1}, inputs)) == 3
    assert len(detect(regular, inputs)) == 6


@pytest.mark.parametrize("regular", [True, False])
def test_detection_options_are_those_of_the_stock_converter(tensorflow: TensorFlow, regular: bool) -> None:
    options = DETECTION | {"use_regular_nms": regular}
    path = tensorflow.save(detection, options, 1, "shapes", True)
    stock = tensorflow.stock_convert(path, allow_custom_ops=True)
    assert isinstance(stock, bytes), stock
    ours = litefuse.convert(path, require_fused=True).model_bytes
    assert repr(custom_options(ours)) == repr(custom_options(stock))  # True is not 1
    (ours_options,) = custom_options(ours)["TFLite_Detection_PostProcess"]
    assert ours_options == pytest.approx(options | {"use_regular_nms": int(regular)})


def test_detections_per_class_is_kept(tensorflow: TensorFlow) -> None:
    options = DETECTION | {"use_regular_nms": True, "detections_per_class": 4}
    path = tensorflow.save(detection, options, 1, "shapes", True)
    (found,) = custom_options(litefuse.convert(path).model_bytes)["TFLite_Detection_PostProcess"]
    assert found["detections_per_class"] == 4
