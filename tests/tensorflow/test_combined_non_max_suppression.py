"""``tf.image.combined_non_max_suppression`` in detail: thresholds, no detection, odd boxes, open sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow


def suppression(tf: Any, boxes: tuple[int | None, ...], scores: tuple[int | None, ...], options: dict[str, Any]) -> Any:
    module = tf.Module()

    @tf.function(
        input_signature=[
            tf.TensorSpec(boxes, tf.float32, name="boxes"),
            tf.TensorSpec(scores, tf.float32, name="scores"),
        ]
    )
    def serve(boxes: Any, scores: Any) -> Any:
        found = tf.image.combined_non_max_suppression(boxes, scores, **options)
        return dict(zip(("boxes", "scores", "classes", "valid"), found, strict=True))

    module.serve = serve
    return module, {"serving_default": serve}


def random_inputs(seed: int, batch: int, places: int, sets: int, classes: int) -> dict[str, npt.NDArray[Any]]:
    """Boxes that overlap, reach out of the image, have no area, and have their corners in any order."""
    random = np.random.default_rng(seed)
    centers = random.uniform(-0.1, 1.1, (batch, places, sets, 2))
    sizes = random.uniform(-0.3, 0.5, (batch, places, sets, 2))
    sizes[:, ::5] = 0  # of no area
    boxes = np.concatenate([centers - sizes, centers + sizes], -1).astype(np.float32)
    scores = random.permutation(batch * places * classes).reshape(batch, places, classes) / 100 - 0.5
    return {"boxes": boxes, "scores": scores.astype(np.float32)}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"score_threshold": 0.2, "iou_threshold": 0.0},
        {"clip_boxes": False, "pad_per_class": True},
        {"score_threshold": 1e6},
    ],
    ids=["defaults", "thresholds", "pad per class", "no detection"],
)
@pytest.mark.parametrize("sets", [1, 3])
def test_suppression(tensorflow: TensorFlow, options: dict[str, Any], sets: int) -> None:
    sizes = {"max_output_size_per_class": 5, "max_total_size": 12}
    path = tensorflow.save(suppression, (None, None, sets, 4), (None, None, 3), sizes | options)
    inputs = [random_inputs(seed, *size, sets, 3) for seed, size in enumerate([(1, 20), (3, 31), (2, 2)])]
    result = check(tensorflow, path, inputs)
    assert op_counts(result.model_bytes)["WHILE"] == 1
    assert not result.report.custom_ops


def test_fixed_sizes_and_more_places_than_detections(tensorflow: TensorFlow) -> None:
    options = {"max_output_size_per_class": 3, "max_total_size": 50}
    path = tensorflow.save(suppression, (1, 6, 1, 4), (1, 6, 2), options)
    check(tensorflow, path, [random_inputs(seed, 1, 6, 1, 2) for seed in (4, 5)])
