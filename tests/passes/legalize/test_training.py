# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Rewritings of ops that training needs, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from tests.passes.legalize.one_op import Constant, check, normal

F = np.float32


def test_the_loss_of_a_class_and_its_gradient() -> None:
    x = normal(3, 4)
    labels = np.array([2, 0, 3], np.int32)
    exponentials = np.exp(x - x.max(1, keepdims=True))
    chances = exponentials / exponentials.sum(1, keepdims=True)
    loss = -np.log(chances[np.arange(3), labels])
    gradient = chances - np.eye(4, dtype=F)[labels]
    op = "SparseSoftmaxCrossEntropyWithLogits"
    check(op, [x, labels], loss, gradient, dynamic=[True], rtol=1e-5, atol=1e-6)


_SCALE, _SCALE_ALPHA = 1.0507009873554805, 1.7580993408473768
GRADIENTS: dict[str, Callable[[Any, Any], Any]] = {  # of (gradient, features or outputs), but (output, gradient) below
    "EluGrad": lambda d, y: np.where(y < 0, d * (y + 1), d),
    "LeakyReluGrad": lambda d, x: np.where(x > 0, d, 0.3 * d),
    "Relu6Grad": lambda d, x: np.where((x > 0) & (x < 6), d, 0),
    "ReluGrad": lambda d, x: np.where(x > 0, d, 0),
    "SeluGrad": lambda d, y: np.where(y < 0, d * (y + _SCALE_ALPHA), d * _SCALE),
    "SoftplusGrad": lambda d, x: d / (1 + np.exp(-x)),
    "SoftsignGrad": lambda d, x: d / (1 + np.abs(x)) ** 2,
    "InvGrad": lambda y, d: -d * y**2,
    "ReciprocalGrad": lambda y, d: -d * y**2,
    "RsqrtGrad": lambda y, d: -0.5 * d * y**3,
    "SigmoidGrad": lambda y, d: d * y * (1 - y),
    "SqrtGrad": lambda y, d: 0.5 * d / y,
    "TanhGrad": lambda y, d: d * (1 - y**2),
}


@pytest.mark.parametrize("op", GRADIENTS)
def test_gradients_of_functions(op: str) -> None:
    first, second = normal(4, 5), normal(5, 4).T * 3
    first[0, 0], second[1], second[2, 0] = 0.5, 0, 6
    first[1] = 2
    if op == "SeluGrad":
        second[1] = 1
    attributes = {"alpha": 0.3} if op == "LeakyReluGrad" else {}
    expected = GRADIENTS[op](first, second).astype(F)
    check(op, [first, second], expected, rtol=1e-5, atol=1e-6, attributes=attributes, form="any")


def test_which_dimensions_a_gradient_is_summed_over() -> None:
    shapes = [np.array(each, np.int32) for each in ([2, 3, 1], [3, 4])]
    expected = np.array([2], np.int32), np.array([0], np.int32)
    check("BroadcastGradientArgs", [Constant(each) for each in shapes], *expected, form=None, dynamic=[False])
    check("BroadcastGradientArgs", shapes, *expected, dynamic=[False])


def test_offsets_of_what_is_concatenated() -> None:
    shapes = [np.array(each, np.int32) for each in ([2, 3, 4], [2, 5, 4], [2, 1, 4])]
    expected = [np.array([0, offset, 0], np.int32) for offset in (0, 3, 8)]
    for operands in (shapes, [Constant(shapes[0]), shapes[1], Constant(shapes[2])]):
        check("ConcatOffset", [Constant(np.int32(-2)), *operands], *expected, dynamic=[False])


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_the_gradient_of_a_mirrored_border(mode: Literal["reflect", "symmetric"], dtype: str) -> None:
    pads = [(2, 1), (0, 0), (0, 2), (1, 0)]
    x = np.arange(4 * 2 * 3 * 2).reshape(4, 2, 3, 2)
    source = np.pad(x, pads, mode=mode)
    gradient = (10 * normal(*source.shape)).astype(dtype)
    expected = np.zeros(x.size, dtype)
    np.add.at(expected, source.reshape(-1), gradient.reshape(-1))
    operands = [gradient, Constant(np.array(pads, np.int32))]
    attributes = {"mode": mode.upper()}
    check("MirrorPadGrad", operands, expected.reshape(x.shape), attributes=attributes, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums_of_exponentials(*, exclusive: bool, reverse: bool) -> None:
    x = normal(2, 5, 3) * 4
    for axis in (1, -3):
        values = np.flip(x, axis) if reverse else x
        expected = np.logaddexp.accumulate(values, axis)
        if exclusive:
            none = np.full_like(values.take([0], axis), -np.inf)
            expected = np.concatenate([none, expected], axis).take(range(x.shape[axis]), axis)
        expected = np.flip(expected, axis) if reverse else expected
        options, operands = {"exclusive": exclusive, "reverse": reverse}, [x, Constant(np.int32(axis))]
        check("CumulativeLogsumexp", operands, expected, rtol=1e-5, atol=1e-6, attributes=options)


@pytest.mark.parametrize("axes", [[0], [-1, 1]])
def test_euclidean_norms(axes: list[int]) -> None:
    x = normal(2, 3, 4)
    for keep in (False, True):
        expected = np.sqrt((x**2).sum(tuple(axes), keepdims=keep))
        operands = [x, Constant(np.array(axes, np.int32))]
        check("EuclideanNorm", operands, expected, rtol=1e-5, attributes={"keep_dims": keep})


@pytest.mark.parametrize("share", [1.0, 0.25])
@pytest.mark.parametrize("training", [False, True])
def test_normalized_batches(share: float, *, training: bool) -> None:
    x, scale, offset = normal(2, 3, 4, 5) * 3 + 1, normal(5) + 2, normal(5)
    mean, variance = normal(5) / 2, normal(5) ** 2 + 1
    before = [mean, variance]
    options = {"epsilon": 0.01, "is_training": training, "data_format": "NHWC", "exponential_avg_factor": share}
    if training:
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    averages = [mean, variance * (24 / 23 if training else 1)]
    if training:
        averages = [share * new + (1 - share) * old for new, old in zip(averages, before, strict=True)]
    y = (x - mean) / np.sqrt(variance + 0.01) * scale + offset
    results = [each.astype(F) for each in (y, *averages, mean, variance)]
    operands = [x, scale, offset, *before]
    check("FusedBatchNormV3", operands, *results, attributes=options, rtol=1e-4, atol=1e-5, form="any", unread=1)


@pytest.mark.parametrize("training", [False, True])
def test_gradients_of_normalized_batches(*, training: bool) -> None:
    d, x, scale = normal(2, 3, 4, 5), normal(5, 4, 3, 2).T.copy(), normal(5) + 2
    mean, variance = (x.mean((0, 1, 2)), x.var((0, 1, 2))) if training else (normal(5) / 2, normal(5) ** 2 + 1)
    inverse, centered = 1 / np.sqrt(variance + 0.01), x - mean
    by_input = d * inverse * scale
    if training:
        rest = d.mean((0, 1, 2)) + centered * (d * centered).mean((0, 1, 2)) / (variance + 0.01)
        by_input = inverse * scale * (d - rest)
    expected = [by_input, (d * centered).sum((0, 1, 2)) * inverse, d.sum((0, 1, 2))]
    options = {"epsilon": 0.01, "is_training": training, "data_format": "NHWC"}
    results = [each.astype(F) for each in expected]
    operands = [d, x, scale, mean, variance, Constant(np.zeros(0, F))]
    check("FusedBatchNormGradV3", operands, *results, attributes=options, rtol=1e-4, atol=1e-5, unread=2)


def test_the_loss_of_chances_and_its_gradient() -> None:
    x, labels = normal(3, 4) * 3, np.abs(normal(4, 3).T)
    chances = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    loss = -(labels * np.log(chances)).sum(1)
    check("SoftmaxCrossEntropyWithLogits", [x, labels], loss, chances - labels, rtol=1e-5, atol=1e-6, form=None)


@pytest.mark.parametrize(("blank", "merged"), [(-1, True), (-1, False), (0, True), (-2, False)])
def test_the_best_classes_of_sequences(blank: int, *, merged: bool) -> None:
    x, lengths = normal(7, 3, 4), np.array([7, 4, 0], np.int32)
    x[2:4, 0] = x[3, 0]
    best = x.argmax(2).T
    places: list[tuple[int, int]] = []
    values: list[int] = []
    for row, (classes, length) in enumerate(zip(best.tolist(), lengths.tolist(), strict=True)):
        decoded = [
            each
            for step, each in enumerate(classes[:length])
            if each != blank % 4 and not (merged and step and classes[step - 1] == each)
        ]
        places += [(row, place) for place in range(len(decoded))]
        values += decoded
    width = max(place for _, place in places) + 1
    sums = -np.array([[row[:length].sum()] for row, length in zip(x.max(2).T, lengths, strict=True)], F)
    results = [np.array(places), np.array(values), np.array([3, width]), sums]
    options = {"merge_repeated": merged, "blank_index": blank}
    check("CTCGreedyDecoder", [x, lengths], *results, rtol=1e-5, attributes=options, dynamic=[True])
