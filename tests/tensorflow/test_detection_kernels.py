# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""A kernel stands for what follows a detector: a right one is compared and stays, one with one mistake is refused."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

import litefuse
from litefuse.litert.runtime.custom_op import custom_op
from tests.tensorflow import detection_kernels
from tests.tensorflow.detection_kernels import ANCHORS, CLASSES, PRIORS, STRIDES, VARIANCES

if TYPE_CHECKING:
    from litefuse.support.report import CompositeReport
    from tests.tensorflow.process import TensorFlow


def _yolo(tf: Any) -> Any:
    @tf.function(experimental_implements="Yolo")
    def post(*levels: Any) -> Any:
        values = []
        for number, level in enumerate(levels):
            height, width = tf.shape(level)[0], tf.shape(level)[1]
            x = tf.reshape(level, [height, width, 3, 5 + CLASSES])
            grid = tf.cast(tf.stack(tf.meshgrid(tf.range(width), tf.range(height)), -1), tf.float32)[:, :, None]
            centers = (tf.sigmoid(x[..., :2]) * 2 - 0.5 + grid) * STRIDES[number]
            sizes = tf.exp(tf.minimum(x[..., 2:4], 4.0)) * ANCHORS[number]
            scores = tf.reshape(tf.sigmoid(x[..., 4:5]) * tf.sigmoid(x[..., 5:]), [-1, CLASSES])
            boxes = tf.reshape(tf.concat([centers - sizes / 2, centers + sizes / 2], -1), [-1, 4])
            values.append((boxes, tf.reduce_max(scores, -1), tf.argmax(scores, -1, output_type=tf.int32)))
        boxes, scores, classes = (tf.concat(parts, 0) for parts in zip(*values, strict=True))
        some = tf.where(scores > 0.25)[:, 0]
        boxes, scores, classes = (tf.gather(value, some) for value in (boxes, scores, classes))
        picked = tf.image.non_max_suppression(tf.gather(boxes, [1, 0, 3, 2], axis=1), scores, 20, 0.45)
        count = tf.size(picked)
        rows = [tf.gather(value, picked) for value in (boxes, scores, classes)]
        rows = [tf.pad(row, [[0, 20 - count], [0, 0]][: row.shape.rank]) for row in rows]
        return *(tf.ensure_shape(row, [20, *row.shape[1:]]) for row in rows), count

    return post


def _ssd(tf: Any) -> Any:
    @tf.function(experimental_implements="Ssd")
    def post(deltas: Any, logits: Any) -> Any:
        priors = tf.constant(PRIORS, tf.float32)
        deltas = deltas * VARIANCES
        centers = deltas[:, :2] * priors[:, 2:] + priors[:, :2]
        sizes = tf.exp(deltas[:, 2:]) * priors[:, 2:]
        boxes = tf.clip_by_value(tf.concat([centers - sizes / 2, centers + sizes / 2], 1), 0.0, 1.0)
        scores = tf.nn.softmax(logits)
        values = []
        for kind in range(1, CLASSES):
            picked, count = tf.image.non_max_suppression_padded(
                boxes, scores[:, kind], 10, 0.6, 0.3, pad_to_max_output_size=True
            )
            picked_scores = tf.where(tf.range(10) < count, tf.gather(scores[:, kind], picked), 0.0)
            values.append((tf.gather(boxes, picked), picked_scores, tf.fill([10], kind)))
        boxes, scores, kinds = (tf.concat(parts, 0) for parts in zip(*values, strict=True))
        top, at = tf.math.top_k(scores, 15)
        there = top > 0
        kinds = tf.where(there, tf.gather(kinds, at), 0)
        return tf.where(there[:, None], tf.gather(boxes, at), 0.0), kinds, top, tf.reduce_sum(tf.cast(there, tf.int32))

    return post


def _model(tf: Any, name: str) -> Any:
    shapes = [[None, None, 27]] * 2 if name == "Yolo" else [[24, 4], [24, 4]]
    module = tf.Module()
    module.post = _yolo(tf) if name == "Yolo" else _ssd(tf)

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32) for shape in shapes])
    def serve(one: Any, other: Any) -> dict[str, Any]:
        return {f"result_{number}": value for number, value in enumerate(module.post(one, other))}

    return module, {"serving_default": serve}


# What stands in the right kernel, and what in its place.
_WRONG = {
    "Yolo": [
        ("np.float32(0.25)", "np.float32(0.26)"),
        ("np.float32(0.25)", "np.float32(0.251)"),
        ("20, 0.45", "20, 0.46"),
        ("20, 0.45", "20, 0.451"),
        ("20, 0.45", "19, 0.45"),
        ("scores > np.float32(0.25)", "scores >= np.float32(0.25)"),
        ('np.argsort(-scores, kind="stable")', 'np.argsort(scores, kind="stable")[::-1]'),
        ("row[:] = 0", "pass"),
        ("[33, 23]", "[34, 23]"),
        ("[59, 119]", "[62, 45]"),
        ("np.minimum(x[..., 2:4], np.float32(4.0))", "x[..., 2:4]"),
        ("np.float32(4.0)", "np.float32(4.01)"),
        ("np.float32(0.5)", "np.float32(0.49)"),
        ("(8.0, 16.0)", "(8.0, 8.0)"),
        ("sigmoid(x[..., 4:5]) * ", ""),
        ("centers + sizes / 2]", "centers + sizes[..., ::-1] / 2]"),
        ("scores.argmax(-1)", "CLASSES - 1 - scores[:, ::-1].argmax(-1)"),
        ("scores.max(-1)", "sigmoid(x[..., 4]).reshape(-1)"),
        ("np.maximum(sides, 0)", "sides"),
        ("np.float32(0.25)", "np.float32(0.2505)"),
        ("20, 0.45", "20, 0.449"),
        ("20, 0.45", "20, 0.4505"),
        ("areas[box] + areas[kept] - common", "areas[box] + areas[kept] - common + np.float32(1)"),
    ],
    "Ssd": [
        ("[0.1, 0.1, 0.2, 0.2]", "[0.1, 0.1, 0.1, 0.1]"),
        ("[0.1, 0.1, 0.2, 0.2]", "[0.1, 0.11, 0.2, 0.2]"),
        ("np.float32(0.3)", "np.float32(0.31)"),
        ("range(1, CLASSES)", "range(CLASSES)"),
        ("[:15]", "[:14]"),
        ("np.clip(np.concatenate([centers - sizes / 2, centers + sizes / 2], 1), 0, 1)",
         "np.concatenate([centers - sizes / 2, centers + sizes / 2], 1)"),
        ("odds / odds.sum(1, keepdims=True)", "sigmoid(logits)"),
        ("PRIORS.astype(np.float32)", "PRIORS.astype(np.float32) + np.eye(24, 4, -2, np.float32) / 100"),
        ("np.float32(0.3)", "np.float32(0.301)"),
        ("10, 0.6)", "10, 0.601)"),
        ("10, 0.6)", "9, 0.6)"),
        ('np.argsort(-scores[some, kind], kind="stable")', 'np.argsort(scores[some, kind], kind="stable")[::-1]'),
    ],
}  # fmt: skip


def _converted(
    tensorflow: TensorFlow, name: str, right: str = "", other: str = "", *, check: Any = True
) -> CompositeReport:
    """Returns what becomes of a composite that a kernel stands for, of which one place may be changed."""
    source = inspect.getsource(detection_kernels)
    assert right in source
    namespace: dict[str, Any] = {"__name__": "kernels"}
    exec(source.replace(right, other, 1) if right else source, namespace)
    custom_op(name, replace=True)(namespace[name])
    path = tensorflow.save(_model, name)
    result = litefuse.convert(
        path,
        composites={name: "custom"},
        debug=litefuse.Debugging(in_process=True),
        checks=litefuse.Checks(fusions=check, file=False),
    )
    (composite,) = (composite for composite in result.report.composites if composite.name == name)
    return composite


@pytest.mark.parametrize(("name", "check_fusions"), [("Yolo", True), ("Yolo", "thorough"), ("Ssd", True)])
def test_a_right_kernel_stays(tensorflow: TensorFlow, name: str, check_fusions: Any) -> None:
    composite = _converted(tensorflow, name, check=check_fusions)
    assert composite.outcome == "fused", composite
    assert composite.compared.startswith("checked"), composite


@pytest.mark.parametrize(
    ("name", "right", "other"), [(name, *change) for name, changes in _WRONG.items() for change in changes]
)
def test_a_wrong_kernel_is_refused(tensorflow: TensorFlow, name: str, right: str, other: str) -> None:
    composite = _converted(tensorflow, name, right, other)
    assert composite.outcome != "fused", composite
    assert "it computes something else" in (composite.reason or ""), composite
