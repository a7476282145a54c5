"""Convolutions between blocks of space: dilated ones where they are such, and else what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, difference, normal, op_counts, run_calls

if TYPE_CHECKING:
    from tests.tensorflow.process import Call, TensorFlow

Form = Callable[[Any, Any], Any]

_RANDOM = np.random.default_rng(3)


def _weights(*shape: int) -> Any:
    return _RANDOM.standard_normal(shape).astype(np.float32)


_ODD, _EVEN, _FULL = _weights(3, 3, 4, 2), _weights(3, 4, 4, 2), _weights(3, 2, 4, 6)
_ROW, _VOLUME, _BIAS, _WIDE_BIAS = _weights(3, 4, 6), _weights(2, 3, 2, 4, 5), _weights(6), _weights(8)
_POINTS = _weights(1, 1, 8, 3)
_ONE = [1, 1, 1, 1]
_NONE = [[0, 0], [0, 0]]


def _blocks(tf: Any, x: Any, block: Any, pads: Any) -> Any:
    return tf.raw_ops.SpaceToBatchND(input=x, block_shape=block, paddings=pads)


def _space(tf: Any, x: Any, block: Any, crops: Any) -> Any:
    return tf.raw_ops.BatchToSpaceND(input=x, block_shape=block, crops=crops)


def _depthwise(tf: Any, x: Any, kernel: Any = _ODD, stride: int = 1, padding: str = "VALID") -> Any:
    strides = [1, stride, stride, 1]
    return tf.raw_ops.DepthwiseConv2dNative(input=x, filter=kernel, strides=strides, padding=padding)


def _phases(tf: Any, x: Any, rates: Any, padding: str, kernel: Any = _FULL) -> Any:
    """A convolution as TensorFlow wrote it before its ops had rates."""
    rank = len(rates)
    convolution = {1: tf.nn.conv1d, 2: tf.nn.conv2d, 3: tf.nn.conv3d}[rank]

    def convolve(value: Any, _sizes: Any, valid: str) -> Any:
        return convolution(value, kernel, [1] * (rank + 2) if rank == 3 else 1, valid)

    return tf.nn.with_space_to_batch(x, rates, padding, convolve, kernel.shape, spatial_dims=range(1, rank + 1))


def _between(tf: Any, x: Any, pads: Any, crops: Any, **options: Any) -> Any:
    return _space(tf, _depthwise(tf, _blocks(tf, x, [2, 2], pads), **options), [2, 2], crops)


def _both(tf: Any, x: Any) -> Any:
    blocks = _blocks(tf, x, [2, 2], [[2, 2], [2, 2]])
    return _space(tf, _depthwise(tf, blocks), [2, 2], _NONE) + tf.reduce_sum(blocks)


def _result_twice(tf: Any, x: Any) -> Any:
    phases = _depthwise(tf, _blocks(tf, x, [2, 2], [[2, 2], [2, 2]]))
    return _space(tf, phases, [2, 2], _NONE) + tf.reduce_sum(phases)


# Of images, and what is left of them: a convolution, and perhaps what is before it.
DILATED: Mapping[str, tuple[Form, dict[str, int]]] = {
    "depthwise": (
        lambda tf, x: tf.nn.depthwise_conv2d(x, _ODD, _ONE, "SAME", dilations=[2, 3]),
        {"DEPTHWISE_CONV_2D": 1},
    ),
    "depthwise of an even window": (
        lambda tf, x: tf.nn.depthwise_conv2d(x, _EVEN, _ONE, "SAME", dilations=[3, 2]),
        {"DEPTHWISE_CONV_2D": 1},
    ),
    "depthwise without padding": (
        lambda tf, x: tf.nn.depthwise_conv2d(x, _ODD, _ONE, "VALID", dilations=[2, 3]),
        {"DEPTHWISE_CONV_2D": 1},
    ),
    "full": (lambda tf, x: _phases(tf, x, [2, 3], "SAME"), {"CONV_2D": 1}),
    "full without padding": (lambda tf, x: _phases(tf, x, [2, 3], "VALID"), {"CONV_2D": 1}),
    "activated": (
        lambda tf, x: tf.nn.relu(tf.nn.bias_add(_phases(tf, x, [2, 2], "SAME"), _BIAS)),
        {"CONV_2D": 1},
    ),
    "atrous": (lambda tf, x: tf.nn.atrous_conv2d(x, _FULL, 2, "SAME"), {"CONV_2D": 1}),
    "separable": (
        lambda tf, x: tf.nn.separable_conv2d(x, _ODD, _POINTS, _ONE, "SAME", dilations=[2, 2]),
        {"CONV_2D": 1, "DEPTHWISE_CONV_2D": 1},
    ),
    "a bias between": (
        lambda tf, x: _space(
            tf,
            tf.nn.bias_add(_depthwise(tf, _blocks(tf, x, [2, 2], [[2, 2], [2, 2]])), _WIDE_BIAS),
            [2, 2],
            _NONE,
        ),
        {"DEPTHWISE_CONV_2D": 1},
    ),
    "what is padded between is cropped": (
        lambda tf, x: _space(
            tf,
            tf.pad(_depthwise(tf, _blocks(tf, x, [2, 2], _NONE)), [[0, 0], [1, 0], [0, 1], [0, 0]]),
            [2, 2],
            [[2, 0], [0, 2]],
        ),
        {"DEPTHWISE_CONV_2D": 1},
    ),
    "rates of both": (
        lambda tf, x: _space(
            tf,
            tf.nn.conv2d(_blocks(tf, x, [2, 2], [[4, 4], [1, 1]]), _FULL, 1, "VALID", dilations=[2, 1]),
            [2, 2],
            [[0, 0], [0, 0]],
        ),
        {"CONV_2D": 1},
    ),
}

# More than is cropped, less, and phases that are padded: beside a convolution, what makes up for it.
UNUSUAL: Mapping[str, Form] = {
    "other pads": lambda tf, x: _between(tf, x, [[3, 1], [0, 2]], [[0, 1], [1, 0]]),
    "crops only": lambda tf, x: _between(tf, x, _NONE, [[1, 2], [0, 1]]),
    "pads only": lambda tf, x: _between(tf, x, [[4, 6], [2, 2]], _NONE),
    "padded phases": lambda tf, x: _between(tf, x, _NONE, _NONE, kernel=_EVEN, padding="SAME"),
    "blocks that are used twice": _both,
}

# No dilated convolutions.
OTHERS: Mapping[str, Form] = {
    "strides": lambda tf, x: _between(tf, x, _NONE, _NONE, kernel=_ODD[:2, :2], stride=2),
    "strides of a full one": lambda tf, x: _space(
        tf, tf.nn.conv2d(_blocks(tf, x, [2, 2], _NONE), _FULL[:2], 2, "VALID"), [2, 2], _NONE
    ),
    "other blocks": lambda tf, x: _space(tf, _depthwise(tf, _blocks(tf, x, [2, 2], _NONE)), [4, 1], _NONE),
    "padding that stays": lambda tf, x: _space(
        tf,
        tf.pad(_depthwise(tf, _blocks(tf, x, [2, 2], _NONE)), [[0, 0], [1, 0], [0, 1], [0, 0]]),
        [2, 2],
        [[0, 0], [0, 1]],
    ),
    "activated between": lambda tf, x: _space(
        tf, tf.nn.sigmoid(_depthwise(tf, _blocks(tf, x, [2, 2], [[2, 2], [2, 2]]))), [2, 2], _NONE
    ),
    "used twice": _result_twice,
}

_FORMS = {name: form for name, (form, _) in DILATED.items()} | UNUSUAL | OTHERS

# What they pad and crop is written, and fits multiples of the blocks.
_FITTING = {"a bias between", "what is padded between is cropped", "rates of both"}

SIZES = {"known": (2, 8, 12), "open batch": (None, 8, 12), "odd": (None, 9, 11), "open": (None, None, None)}


def images(tf: Any, form: str, sizes: tuple[int | None, ...]) -> Any:
    module = tf.Module()
    specification = tf.TensorSpec([*sizes, 4], tf.float32, name="x")

    def serve(x: Any) -> dict[str, Any]:
        return {"y": _FORMS[form](tf, x)}

    module.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return module, {"serving_default": module.serve}


def _inputs(sizes: tuple[int | None, ...], form: str = "") -> list[dict[str, Any]]:
    batches = (2,) if sizes[0] is not None else (1, 3, 2)
    every = [tuple(size or other for size, other in zip(sizes[1:], (8, 12), strict=True))]
    if None in sizes[1:] and form in DILATED:
        every += [(10, 14)] if form in _FITTING else [(11, 9), (10, 13)]
    return [each for height, width in every for each in normal({"x": (None, height, width, 4)}, batches=batches)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("form", DILATED)
def test_dilated(tensorflow: TensorFlow, form: str, sizes: str) -> None:
    if sizes == "odd" and form in _FITTING:
        sizes = "open batch"
    given = SIZES[sizes]
    result = check(tensorflow, tensorflow.save(images, form, given), _inputs(given, form))
    counts = op_counts(result.model_bytes)
    assert counts == DILATED[form][1]


@pytest.mark.parametrize("sizes", ["known", "open batch", "open"])
@pytest.mark.parametrize("form", [*UNUSUAL, *OTHERS])
def test_as_it_is_written(tensorflow: TensorFlow, form: str, sizes: str) -> None:
    given = SIZES[sizes]
    result = check(tensorflow, tensorflow.save(images, form, given), _inputs(given))
    counts = op_counts(result.model_bytes)
    if form in UNUSUAL:
        assert "BATCH_TO_SPACE_ND" not in counts


ROWS: Mapping[str, Form] = {
    "padded": lambda tf, x: tf.nn.bias_add(_phases(tf, x, [3], "SAME", _ROW), _BIAS),
    "without padding": lambda tf, x: _phases(tf, x, [3], "VALID", _ROW),
    "causal": lambda tf, x: _phases(tf, tf.pad(x, [[0, 0], [6, 0], [0, 0]]), [3], "VALID", _ROW),
}


def rows(tf: Any, form: str, sizes: tuple[int | None, ...]) -> Any:
    module = tf.Module()
    specification = tf.TensorSpec([*sizes, 4], tf.float32, name="x")

    def serve(x: Any) -> dict[str, Any]:
        return {"y": ROWS[form](tf, x)}

    module.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("sizes", [(2, 12), (None, 11), (None, None)])
@pytest.mark.parametrize("form", ROWS)
def test_rows(tensorflow: TensorFlow, form: str, sizes: tuple[int | None, ...]) -> None:
    batches = (2,) if sizes[0] else (1, 3, 2)
    lengths = [sizes[1]] if sizes[1] else [10, 13]
    inputs = [each for length in lengths for each in normal({"x": (None, length, 4)}, batches=batches)]
    result = check(tensorflow, tensorflow.save(rows, form, sizes), inputs)
    counts = op_counts(result.model_bytes)
    assert counts["CONV_2D"] == 1
    assert not counts.keys() & {"BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND", "TRANSPOSE"}


def volumes(tf: Any, padding: str, sizes: tuple[int | None, ...]) -> Any:
    module = tf.Module()
    specification = tf.TensorSpec([*sizes, 4], tf.float32, name="x")

    def serve(x: Any) -> dict[str, Any]:
        return {"y": _phases(tf, x, [2, 1, 2], padding, _VOLUME)}

    module.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("sizes", [(None, 4, 5, 6), (None, None, None, None)])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_volumes(tensorflow: TensorFlow, padding: str, sizes: tuple[int | None, ...]) -> None:
    inputs = normal({"x": (None, 4, 5, 6, 4)}, batches=(1, 3, 2))
    result = check(tensorflow, tensorflow.save(volumes, padding, sizes), inputs)
    assert op_counts(result.model_bytes)["CONV_3D"] == 1


def layouts(tf: Any, kind: str, padding: str, first: bool) -> Any:
    """A dilated convolution of images ``[?, 8, 12, 4]``, or whose channels come first."""
    module = tf.Module()
    layout = "NCHW" if first else "NHWC"
    shape = [None, 4, 8, 12] if first else [None, 8, 12, 4]
    rates, spatial = [2, 3], [2, 3] if first else [1, 2]

    def convolve(value: Any, _sizes: Any, valid: str) -> Any:
        options = {"strides": _ONE, "padding": valid, "data_format": layout}
        if kind == "depthwise":
            return tf.raw_ops.DepthwiseConv2dNative(input=value, filter=_ODD, **options)
        return tf.raw_ops.Conv2D(input=value, filter=_FULL, **options)

    kernel = _ODD if kind == "depthwise" else _FULL
    specification = tf.TensorSpec(shape, tf.float32, name="x")

    def serve(x: Any) -> dict[str, Any]:
        return {"y": tf.nn.with_space_to_batch(x, rates, padding, convolve, kernel.shape, spatial, layout)}

    module.serve = tf.function(serve, input_signature=[specification], autograph=False)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("kind", ["depthwise", "full"])
def test_channels_first(tensorflow: TensorFlow, kind: str, padding: str) -> None:
    """TensorFlow's kernels on CPUs lack this layout; the other one tells."""
    inputs = normal({"x": (None, 8, 12, 4)}, batches=(1, 3, 1))
    calls: list[Call] = [("serving_default", each) for each in inputs for _ in range(2)]
    expected = tensorflow.run_calls(tensorflow.save(layouts, kind, padding, False), calls)
    model = litefuse.convert(tensorflow.save(layouts, kind, padding, True)).model_bytes
    assert not op_counts(model).keys() & {"BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND"}
    moved: list[Call] = [(key, {"x": np.transpose(each["x"], (0, 3, 1, 2))}) for key, each in calls]
    for ours, theirs in zip(run_calls(model, moved), expected, strict=True):
        assert not difference(np.transpose(ours["y"], (0, 2, 3, 1)), theirs["y"], rtol=1e-5)
