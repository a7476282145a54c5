"""Images of a folder as inputs of a model, for users who give no function of their own.

An image becomes RGB (or gray, for one channel) of the input's height and width. Its values are 0 to 255 where the input
has integers, or where the model scales them itself: by the constants that it first computes with, or by those that
became part of the first layer's weights. Otherwise, they are 0 to 1.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from litefuse.conversion.quantization.dataset import ImageFiles, opened_image
from litefuse.errors import InterpreterError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.input_specs import InputSpec, fitting
from litefuse.litert.runtime.model_reader import Graph, Model

_HINT = (
    "Pass preprocess: a function of a PIL.Image.Image, or FILE.py:FUNCTION (on the command line, --preprocess); or fix "
    "the sizes of the input (shapes, --shape)."
)
# What passes values on, before the model computes with them.
_PASSING = frozenset({"CAST", "DEQUANTIZE", "PAD", "QUANTIZE", "RESHAPE", "STRIDED_SLICE", "TRANSPOSE"})
# Factors below the first, and summands above the second, are for values up to 255.
_SMALL_FACTOR, _LARGE_SUMMAND = 1 / 16, 2.0
# The axis of output channels of weights, which are the second operand.
_CHANNEL_AXES = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0}


class ImageInputs:
    """Makes an input of each image.

    Attributes:
        key: The signature that is called.
        about: The range of the values, and what it was derived from, for reports.

    Raises:
        InterpreterError: The model does not take one image of a fixed size, in one signature.
    """

    def __init__(self, images: ImageFiles, specs: Mapping[str, Sequence[InputSpec]], model: str | Path | bytes) -> None:
        inputs = [(key, spec) for key, of_signature in specs.items() for spec in of_signature]
        if len(inputs) != 1:
            raise InterpreterError(
                f"a folder of images is for a model with one input, not {len(inputs)}",
                where=str(images.files[0].parent),
                hint=_HINT,
            )
        ((self.key, self._spec),) = inputs
        _, *sizes = self._spec.shape or (None,)
        self._channels_first = len(sizes) == 3 and sizes[0] in {1, 3} and sizes[2] not in {1, 3}
        channels: int | None
        height: int | None
        width: int | None
        channels, height, width = sizes if self._channels_first else (*sizes[2:], *sizes[:2], *[None] * 3)[:3]
        if len(sizes) != 3 or channels not in {1, 3} or height is None or width is None:
            raise InterpreterError(
                f"images do not fit the input {self._spec.name!r}, {self._spec}",
                where=str(images.files[0].parent),
                hint=_HINT,
            )
        self._images = images
        self._mode, self._size = "RGB" if channels == 3 else "L", (int(width), int(height))
        why = f"as the input takes {self._spec.dtype}"
        self._divisor = 1.0
        if self._spec.dtype.kind == "f":
            with content_of(model) as content:
                self._divisor = 1.0 if scales_itself(Model(content), self.key) else 255.0
            why = "as the model scales them" if self._divisor == 1.0 else "as the model does not scale them"
        self.about = f"images with values 0 to {255 // self._divisor:g}, {why}"

    def __getitem__(self, number: int) -> dict[str, npt.NDArray[Any]]:
        resampling = importlib.import_module("PIL.Image").Resampling.BILINEAR
        path = self._images.files[number]
        image = opened_image(path).convert(self._mode).resize(self._size, resampling)
        values = cast("Any", np.asarray(image, np.uint8)).reshape(1, self._size[1], self._size[0], -1)
        if self._channels_first:
            values = values.transpose(0, 3, 1, 2)
        if self._spec.dtype.kind == "f":
            values = values.astype(self._spec.dtype) / self._divisor
        return {self._spec.name: fitting(values, self._spec, str(path))}


def scales_itself(model: Model, key: str) -> bool:
    """Whether a model takes values up to 255: the first constants that it computes with are for these."""
    signature = model.signatures.get(key)
    graph = model.graphs[0 if signature is None else signature.graph]
    reached = {*graph.inputs[:1]} if signature is None else {*signature.inputs.values()}
    for op in graph.ops:
        if reached.isdisjoint(op.inputs):
            continue
        if op.name in _PASSING:
            reached |= {*op.outputs}
            continue
        if op.name in _CHANNEL_AXES:
            return _has_small_weights(graph, op.inputs[1], _CHANNEL_AXES[op.name])
        constants = [value for index in op.inputs if (value := _number(graph, index)) is not None]
        if op.name not in {"ADD", "DIV", "MUL", "SUB"} or not constants:
            return False
        largest = max(float(np.max(np.abs(value), initial=0.0)) for value in constants)
        if op.name in {"DIV", "MUL"}:
            return largest < _SMALL_FACTOR if op.name == "MUL" else largest > 1 / _SMALL_FACTOR
        return largest > _LARGE_SUMMAND
    return False


def _has_small_weights(graph: Graph, index: int, axis: int) -> bool:
    """Whether a layer's weights are for values up to 255: the norm of a channel is about 1 for values up to 1."""
    weights = graph.constant(index)
    if weights is None:
        return False
    channels = np.moveaxis(weights.astype(np.float64), axis, 0).reshape(weights.shape[axis], -1)
    if (scales := graph.quantization(index)) is not None and len(scales.scales):
        channels = channels * np.reshape(scales.scales, (-1, 1))
    norms = np.linalg.norm(channels, axis=1)
    return bool(norms.size) and 0 < float(np.median(norms)) < _SMALL_FACTOR


def _number(graph: Graph, index: int) -> npt.NDArray[Any] | None:
    """Returns the real numbers of a constant; None if it is not one."""
    value = graph.constant(index) if index >= 0 else None
    if value is None or value.dtype.kind not in "iuf":
        return None
    scales = graph.quantization(index)
    if scales is None or len(scales.scales) != 1:
        return value.astype(np.float64)
    return (value.astype(np.float64) - scales.zeros[0]) * scales.scales[0]
