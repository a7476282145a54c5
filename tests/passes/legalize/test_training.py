# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Rewritings of ops that training needs, against numpy."""

from __future__ import annotations

import numpy as np

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


def test_gradients_of_activations() -> None:
    """``EluGrad`` and ``SoftplusGrad`` take the gradient first, ``InvGrad`` what the function gave."""
    first, second = normal(2, 5), normal(2, 5) * 2
    check("EluGrad", [first, second], np.where(second < 0, first * (second + 1), first), rtol=1e-5, atol=1e-6)
    check("SoftplusGrad", [first, second], first / (1 + np.exp(-second)), rtol=1e-5, atol=1e-6)
    check("InvGrad", [first, second], -(first**2) * second, rtol=1e-5, atol=1e-6)


def test_which_dimensions_a_gradient_is_summed_over() -> None:
    shapes = [np.array(each, np.int32) for each in ([2, 3, 1], [3, 4])]
    expected = np.array([2], np.int32), np.array([0], np.int32)
    check("BroadcastGradientArgs", [Constant(each) for each in shapes], *expected, form=None, dynamic=[False])
    check("BroadcastGradientArgs", shapes, *expected, dynamic=[False])


def test_the_gradient_of_a_mirrored_border() -> None:
    x = normal(6)
    expected = x[1:5].copy()
    expected[1] += x[0]
    expected[2] += x[5]
    check(
        "MirrorPadGrad",
        [x, Constant(np.array([[1, 1]], np.int32))],
        expected,
        dynamic=[False],
        attributes={"mode": "REFLECT"},
    )


def test_running_sums_of_exponentials() -> None:
    x = normal(2, 5)
    options = {"exclusive": False, "reverse": False}
    check(
        "CumulativeLogsumexp",
        [x, Constant(np.int32(1))],
        np.logaddexp.accumulate(x, 1),
        rtol=1e-5,
        atol=1e-6,
        attributes=options,
    )


def test_the_best_class_of_each_step() -> None:
    """Of the classes 0, 1 and the blank: twice 1, a blank and 1 again are two."""
    best = [1, 1, 2, 1, 0, 0]
    x = np.zeros((6, 1, 3), F)
    x[np.arange(6), 0, best] = 5
    indices, values, shape = np.array([[0, 0], [0, 1], [0, 2]]), np.array([1, 1, 0]), np.array([1, 3])
    operands = [x, Constant(np.array([6], np.int32))]
    logarithm = np.array([[-30]], F)
    check(
        "CTCGreedyDecoder",
        operands,
        indices,
        values,
        shape,
        logarithm,
        rtol=1e-6,
        attributes={"merge_repeated": True, "blank_index": -1},
    )
