"""Non-maximum suppression of boxes that are equal, without area, inverted or nested, in all its forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

_INFINITY = float("inf")


def _outputs(tf: Any, boxes: Any, scores: Any, m: Any, iou: Any, least: Any, sigma: Any) -> dict[str, Any]:
    """The results of all forms; vectors get an end, since no empty result can be read in Python."""
    common = {"boxes": boxes, "scores": scores, "max_output_size": m, "iou_threshold": iou}
    to_v5 = {**common, "score_threshold": least, "soft_nms_sigma": sigma}
    raw = tf.raw_ops
    results = [
        raw.NonMaxSuppressionV2(**common),
        raw.NonMaxSuppressionV3(**common, score_threshold=least),
        *raw.NonMaxSuppressionV4(**common, score_threshold=least, pad_to_max_output_size=True),
        *raw.NonMaxSuppressionV5(**to_v5, pad_to_max_output_size=True),
        *raw.NonMaxSuppressionV5(**to_v5, pad_to_max_output_size=False),
    ]
    ends = [tf.concat([tf.reshape(result, [-1]), tf.constant([-1], result.dtype)], 0) for result in results]
    return {f"y{index}": result for index, result in enumerate(ends)}


def suppression(tf: Any, count: int | None, iou: float | None, sigma: float) -> Any:
    """All forms; the parameters are inputs if there is no threshold."""
    made = tf.Module()
    specifications = [tf.TensorSpec([count, 4], name="boxes"), tf.TensorSpec([count], name="scores")]
    if iou is None:
        kinds = {"m": tf.int32, "iou": tf.float32, "least": tf.float32, "sigma": tf.float32}
        specifications += [tf.TensorSpec([], kind, name=name) for name, kind in kinds.items()]

    def serve(boxes: Any, scores: Any, m: Any = 5, iou: Any = iou, least: Any = 0.1, sigma: Any = sigma) -> Any:
        return _outputs(tf, boxes, scores, m, iou, least, sigma)

    made.serve = tf.function(serve, input_signature=specifications, autograph=False)
    return made, {"serving_default": made.serve}


def padded(tf: Any) -> Any:
    """TensorFlow's own function; it adds 1e-8 to unions, which counts where overlaps are at the threshold."""
    made = tf.Module()

    def serve(boxes: Any, scores: Any) -> Any:
        indices, count = tf.image.non_max_suppression_padded(boxes, scores, 6, 0.47, 0.1, pad_to_max_output_size=True)
        return {"indices": indices, "count": count}

    specifications = [tf.TensorSpec([None, 4], name="boxes"), tf.TensorSpec([None], name="scores")]
    made.serve = tf.function(serve, input_signature=specifications, autograph=False)
    return made, {"serving_default": made.serve}


def drawn(seed: int, count: int, *, inverted: bool = True) -> dict[str, npt.NDArray[Any]]:
    """Boxes of every odd kind; half of them on a grid, so that overlaps are at the thresholds, and scores are equal."""
    random = np.random.default_rng(seed)
    low, size = random.uniform(0.01, 1, (count, 2)), random.uniform(0.1, 0.8, (count, 2))
    scores = random.uniform(0, 1, count)
    if seed % 2:
        low, size = np.round(low * 3) / 4 + 0.25, np.maximum(np.round(size * 4) / 4, 0.25)
        scores = np.round(scores * 4) / 4
    boxes = np.concatenate([low, low + size], 1)
    for box in boxes:
        other = boxes[random.integers(count)].copy()
        kind = random.choice(["as it is", "equal", "line", "point", "nested", "inverted", "far", "tiny"])
        if kind == "equal":
            box[:] = other
        elif kind == "line":
            box[2] = box[0]
        elif kind == "point":
            box[2:] = box[:2]
        elif kind == "nested":
            box[:] = [*(other[:2] * 0.75 + other[2:] * 0.25), *(other[:2] * 0.25 + other[2:] * 0.75)]
        elif inverted and kind != "as it is":
            # TensorFlow's own function asks for corners in order, and for numbers above zero.
            turned = {"inverted": [2, 1, 0, 3], "far": [2, 3, 0, 1]}.get(kind, [0, 1, 2, 3])
            factor = {"far": -1e3, "tiny": 1e-25}.get(kind, 1.0)
            box[:] = box[turned] * factor
    return {"boxes": boxes.astype(np.float32), "scores": scores.astype(np.float32)}


def test_each_form_with_parameters_of_the_call(tensorflow: TensorFlow) -> None:
    calls: list[dict[str, npt.NDArray[Any]]] = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        calls.append(
            drawn(seed, (0, 1, 2, 7, 20, 40)[seed % 6])
            | {
                "m": np.array(random.integers(0, 25), np.int32),
                "iou": np.array(random.choice([0.0, 0.25, 0.5, 0.6, 1.0]), np.float32),
                "least": np.array(random.choice([-_INFINITY, 0.0, 0.3]), np.float32),
                "sigma": np.array(random.choice([0.0, 0.3]), np.float32),
            }
        )
    check(tensorflow, tensorflow.save(suppression, None, None, 0.0), calls, repeat=2)


@pytest.mark.parametrize(("iou", "sigma"), [(0.5, 0.0), (1.0, 0.0), (0.0, 0.5)])
def test_each_form_with_parameters_that_are_known(tensorflow: TensorFlow, iou: float, sigma: float) -> None:
    inputs = [drawn(seed, 12) for seed in range(60)]
    result = check(tensorflow, tensorflow.save(suppression, 12, iou, sigma), inputs)
    assert op_counts(result.model_bytes)["WHILE"] == (2 if sigma else 0)
    assert op_counts(result.model_bytes)["NON_MAX_SUPPRESSION_V4"] == 2


def test_the_function_of_tensorflow(tensorflow: TensorFlow) -> None:
    inputs = [drawn(seed, 1 + seed % 20, inverted=False) for seed in range(60)]
    check(tensorflow, tensorflow.save(padded), inputs, require_fused=True)


def boxes_that_are_known(tf: Any, boxes: list[list[float]]) -> Any:
    made = tf.Module()

    def serve(scores: Any) -> Any:
        return {"indices": tf.image.non_max_suppression(tf.constant(boxes), scores, 2, 0.5)}

    specification = tf.TensorSpec([3], name="scores")
    made.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return made, {"serving_default": made.serve}


def test_boxes_that_are_known_are_made_distinct_at_conversion(tensorflow: TensorFlow) -> None:
    boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0], [0.0, 2.0, 0.0, 3.0]]
    inputs = [{"scores": np.array(scores, np.float32)} for scores in ([0.9, 0.8, 0.7], [0.1, 0.1, 0.9])]
    result = check(tensorflow, tensorflow.save(boxes_that_are_known, boxes), inputs)
    assert "REDUCE_PROD" not in op_counts(result.model_bytes)


def boxes_that_are_computed(tf: Any) -> Any:
    """Boxes and scores that are far enough apart for the same ones to be selected in integers."""
    made = tf.Module()
    of_corners = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32) * 0.3
    of_scores = np.random.default_rng(1).normal(size=(8, 1)).astype(np.float32)

    def serve(x: Any) -> Any:
        corners, scores = tf.sigmoid(tf.matmul(x, of_corners)), tf.sigmoid(tf.matmul(x, of_scores))[:, 0]
        boxes = tf.concat([corners[:, :2], corners[:, :2] + corners[:, 2:]], 1)
        chosen, _ = tf.image.non_max_suppression_padded(boxes, scores, 6, 0.3, pad_to_max_output_size=True)
        combined = tf.image.combined_non_max_suppression(boxes[None, :, None], scores[None, :, None], 6, 6, 0.3, 0.0)
        return {"padded": tf.gather(boxes, chosen), "combined": combined[0]}

    specification = tf.TensorSpec([20, 8], name="x")
    made.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return made, {"serving_default": made.serve}


def test_what_prepares_boxes_stays_in_floating_point(tensorflow: TensorFlow) -> None:
    random = np.random.default_rng(0)
    samples = [{"x": random.normal(size=(20, 8)).astype(np.float32)} for _ in range(20)]
    path = tensorflow.save(boxes_that_are_computed)
    check(
        tensorflow, path, samples[0], atol=0.02, quantize=litefuse.Quantization("int8", samples=lambda: iter(samples))
    )
