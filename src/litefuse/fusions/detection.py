"""Detections: the postprocessing of single shot detectors, and non-maximum suppression."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from litefuse.fusions.fusion import Fusion, Inputs, count_problem, fusion

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.ops.dims import Shape
    from litefuse.ir.types import TensorType

_ARGUMENTS = (("the box encodings", 3), ("the class scores", 3), ("the anchors", 2))
_RESULTS = ("boxes", "classes", "scores", "count")
_REQUIRED = {
    "max_detections": int,
    "max_classes_per_detection": int,
    "num_classes": int,
    "nms_score_threshold": float,
    "nms_iou_threshold": float,
    "y_scale": float,
    "x_scale": float,
    "h_scale": float,
    "w_scale": float,
}
_OPTIONAL = {"use_regular_nms": bool, "detections_per_class": int}
_POSITIVE = ("max_detections", "max_classes_per_detection", "num_classes", "detections_per_class")


@fusion("TFLite_Detection_PostProcess")
class DetectionPostprocess(Fusion):
    """The postprocessing of a single shot detector becomes the custom op TFLite_Detection_PostProcess.

    ``f(box_encodings [1, n, 4 or more], class_scores [1, n, num_classes (+ 1)], anchors [n, 4]) ->
    (boxes [1, d, 4], classes [1, d], scores [1, d], count [1])``, all float32, with
    ``d = max_detections * max_classes_per_detection``. LiteRT's interpreter has the kernel.

    The annotation's attributes are the op's options: the ints ``max_detections``, ``max_classes_per_detection`` and
    ``num_classes``, the floats ``nms_score_threshold``, ``nms_iou_threshold``, ``y_scale``, ``x_scale``, ``h_scale``
    and ``w_scale``; optional are the bool ``use_regular_nms`` (false) and the int ``detections_per_class`` (100).
    Definition: https://github.com/tensorflow/tensorflow/blob/master/tensorflow/lite/kernels/detection_postprocess.cc.
    """

    unchecked: ClassVar[str | None] = "the body of a detector's postprocessing is a placeholder"

    def verify(self, composite: Composite) -> str | None:
        names = ["box encodings", "class scores", "anchors"]
        if (problem := count_problem(composite, names, _RESULTS)) is not None:
            return problem
        return (
            _attribute_problem(composite.attributes)
            or _argument_problem(composite.arg_types, composite.attributes["num_classes"])
            or _result_problem(composite.result_tensor_types, composite.attributes)
        )

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        attributes = composite.attributes
        options = {name: attributes[name] for name in _REQUIRED}
        options["use_regular_nms"] = int(attributes.get("use_regular_nms", False))  # as TFLiteConverter writes it
        if "detections_per_class" in attributes:
            options["detections_per_class"] = attributes["detections_per_class"]
        return b.custom("TFLite_Detection_PostProcess", composite.args, composite.result_types, options)


def _attribute_problem(attributes: Mapping[str, Any]) -> str | None:
    for name, kind in (_REQUIRED | _OPTIONAL).items():
        if name not in attributes:
            if name in _OPTIONAL:
                continue
            return f"it needs the attribute {name} ({kind.__name__}); it has {sorted(attributes)}"
        if type(attributes[name]) is not kind:  # a bool is not an int here
            return f"the attribute {name} is {attributes[name]!r}; TFLite_Detection_PostProcess takes {_a(kind)}"
    unknown = sorted(
        name for name in attributes if name not in _REQUIRED and name not in _OPTIONAL and name != "tfl_fusable_op"
    )
    if unknown:
        return f"TFLite_Detection_PostProcess has no attribute {', '.join(unknown)}"
    for name in _POSITIVE:
        if name in attributes and attributes[name] < 1:
            return f"the attribute {name} is {attributes[name]}; it is 1 or more"
    if not 0 < attributes["nms_iou_threshold"] <= 1:
        return f"the attribute nms_iou_threshold is {attributes['nms_iou_threshold']:g}; it is above 0 and at most 1"
    for name in ("y_scale", "x_scale", "h_scale", "w_scale"):
        if attributes[name] == 0 or not math.isfinite(attributes[name]):
            return f"the attribute {name} is {attributes[name]:g}, which nothing can be divided by"
    return None


def _a(kind: type) -> str:
    return f"an {kind.__name__}" if kind is int else f"a {kind.__name__}"


def _argument_problem(arguments: Sequence[TensorType], num_classes: int) -> str | None:
    shapes: list[Shape] = []
    for (name, rank), kind in zip(_ARGUMENTS, arguments, strict=True):
        if kind.dtype != "float32" or kind.shape is None or kind.rank != rank:
            return f"{name} are {kind}; TFLite_Detection_PostProcess takes float32 of rank {rank}"
        shapes.append(kind.shape)
    boxes, scores, anchors = shapes
    for (name, _), kind, batch in zip(_ARGUMENTS, arguments, (boxes[0], scores[0]), strict=False):
        if batch not in {1, None}:
            return f"{name} are {kind}; TFLite_Detection_PostProcess takes one image, a batch of 1"
    if boxes[2] is not None and boxes[2] < 4:
        return f"the box encodings are {arguments[0]}; a box has 4 coordinates (y, x, h, w) or more"
    if anchors[1] not in {4, None}:
        return f"the anchors are {arguments[2]}; an anchor has 4 coordinates (y, x, h, w)"
    if scores[2] not in {num_classes, num_classes + 1, None}:
        return f"the class scores are {arguments[1]}, but num_classes is {num_classes} (with the background one more)"
    if len({boxes[1], scores[1], anchors[0]} - {None}) > 1:
        return (
            "the box encodings, class scores and anchors are " + ", ".join(map(str, arguments)) + ": not as many each"
        )
    return None


def _result_problem(results: Sequence[TensorType], attributes: Mapping[str, Any]) -> str | None:
    """Returns why the results do not fit the op; the scalar results of a placeholder body fit any shape."""
    count = attributes["max_detections"] * attributes["max_classes_per_detection"]
    shapes = ((1, count, 4), (1, count), (1, count), (1,))
    for index, (name, kind, shape) in enumerate(zip(_RESULTS, results, shapes, strict=True)):
        fits = kind.shape in {None, ()} or (
            kind.rank == len(shape)
            and all(actual in {size, None} for actual, size in zip(kind.shape or (), shape, strict=True))
        )
        if kind.dtype != "float32" or not fits:
            return f"result {index} ({name}) is {kind}, that of TFLite_Detection_PostProcess {_float32(shape)}"
    return None


def _float32(shape: tuple[int, ...]) -> str:
    return f"float32[{','.join(map(str, shape))}]"


# name, dtype and rank of the op's arguments
_NMS_ARGUMENTS = (
    ("boxes", "float32", 2),
    ("scores", "float32", 1),
    ("max_output_size", "int32", 0),
    ("iou_threshold", "float32", 0),
    ("score_threshold", "float32", 0),
)


@fusion("non_max_suppression_padded_v2")
class NonMaxSuppression(Fusion):
    """``tf.image.non_max_suppression_padded`` of one image's boxes becomes the builtin NON_MAX_SUPPRESSION_V4.

    The interface is that of the function that TensorFlow itself annotates:
    ``f(boxes [n, 4], scores [n], max_output_size, iou_threshold, score_threshold, sorted_input,
    canonicalized_coordinates, tile_size) -> (indices [1, max_output_size], count [])``. The last three control how to
    compute it and state properties of the inputs. The op does not need them, and its result is the same.
    Definition: https://www.tensorflow.org/api_docs/python/tf/image/non_max_suppression_padded.
    """

    def verify(self, composite: Composite) -> str | None:
        kinds = composite.arg_types
        if len(kinds) < len(_NMS_ARGUMENTS):
            return (
                f"it has {len(kinds)} arguments, not {', '.join(name for name, _, _ in _NMS_ARGUMENTS)} "
                "and any that follow these"
            )
        if len(composite.result_types) != 2:
            return f"it has {len(composite.result_types)} results, not 2 (indices, count)"
        for (name, dtype, rank), kind in zip(_NMS_ARGUMENTS, kinds, strict=False):
            if kind.dtype != dtype or kind.rank != rank:
                return f"{name} is {kind}; NON_MAX_SUPPRESSION_V4 takes {dtype} of rank {rank}{_batches(name, kind)}"
        boxes, scores = kinds[:2]
        assert boxes.shape is not None
        assert scores.shape is not None
        if boxes.shape[1] not in {4, None}:
            return f"boxes is {boxes}; a box has 4 coordinates"
        if None not in (boxes.shape[0], scores.shape[0]) and boxes.shape[0] != scores.shape[0]:
            return f"boxes is {boxes} and scores {scores}: one box has one score"
        return _indices_problem(*composite.result_tensor_types)

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        boxes, scores, max_output_size, iou_threshold, score_threshold = composite.args[: len(_NMS_ARGUMENTS)]
        shape = composite.result_tensor_types[0].shape
        assert shape is not None
        indices, count = b.non_max_suppression(
            boxes, scores, max_output_size, iou_threshold, score_threshold, size=shape[-1]
        )
        # TensorFlow's function keeps a batch dimension in the indices of a single image.
        return (b.expand_dims(indices, 0) if len(shape) == 2 else indices), count

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        boxes, scores = composite.arg_types[:2]
        shape = composite.result_tensor_types[0].shape
        assert boxes.shape is not None
        assert scores.shape is not None
        assert shape is not None
        n = boxes.shape[0] or scores.shape[0] or 4 * size
        # Boxes of positive area at positive coordinates, the lower corner first, by descending score: the arguments
        # sorted_input and canonicalized_coordinates may state this, and only then is TensorFlow's function defined.
        corner, extent = random.uniform(0, 1, (n, 2)), random.uniform(0.5, 1, (n, 2))
        values: list[npt.NDArray[Any]] = [
            np.concatenate([corner, corner + extent], axis=1).astype(np.float32),
            np.sort(random.uniform(0, 1, n).astype(np.float32))[::-1].copy(),
            np.array(shape[-1] if shape[-1] is not None else max(1, n // 2), np.int32),
            np.array(random.uniform(0.1, 0.6), np.float32),
            np.array(random.uniform(0.1, 0.4), np.float32),
        ]
        for kind in composite.arg_types[len(_NMS_ARGUMENTS) :]:
            if kind.rank != 0 or kind.dtype not in {"bool", "int32"}:
                return None
            values.append(np.array(random.integers(2), np.bool_) if kind.dtype == "bool" else np.array(4, np.int32))
        return values


def _batches(name: str, kind: TensorType) -> str:
    batched = (name == "boxes" and kind.rank == 3) or (name == "scores" and kind.rank == 2)
    return ", one image: call the composite for each image of a batch" if batched else ""


def _indices_problem(indices: TensorType, count: TensorType) -> str | None:
    if indices.dtype != "int32" or indices.rank not in {1, 2}:
        return f"result 0 is {indices}; the indices are int32 of rank 1, or 2 with a batch of one"
    assert indices.shape is not None
    if indices.rank == 2 and indices.shape[0] not in {1, None}:
        return f"result 0 is {indices}: a batch of {indices.shape[0]}, not of one"
    if count.dtype != "int32" or count.rank != 0:
        return f"result 1 is {count}; the count is an int32 scalar"
    return None
