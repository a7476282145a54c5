# ruff: noqa: E501  (MLIR does not wrap)
"""Fusions that are wrong for some kinds of numbers or sizes only, and others that round differently but are right."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify.self_check import self_check
from litefuse.fusions.composites.outcome import CheckResult, CheckTerms
from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import ir, mlir_context
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec, custom_op
from litefuse.litert.runtime.outputs import Outputs
from tests.conversion.verify.tensorflow_text import Argument, Formula, Graph, Value, function

_X: Argument = (None, 4), "f32"
_ROWS: Argument = (None, None), "f32"


def check(
    body: Formula,
    fused: Formula,
    argument: Argument = _X,
    tolerance: float = 1e-5,
    *,
    thorough: bool = True,
) -> CheckResult:
    with mlir_context():
        module = ir.Module.parse(function("body", argument, body) + function("fused", argument, fused))
        both = functions(module)
        return self_check(module, both["body"], both["fused"], CheckTerms(tolerance), thorough=thorough)


def relu(g: Graph, x: Value) -> Value:
    return g.unary("Relu", x)


def layer_norm(epsilon: float, g: Graph, x: Value) -> Value:
    centred = x - g.reduce("Mean", x)
    variance = g.reduce("Mean", g.unary("Square", centred))
    return centred * g.unary("Rsqrt", variance + epsilon)


def layer_norm_of_moments(epsilon: float, g: Graph, x: Value) -> Value:
    mean = g.reduce("Mean", x)
    variance = g.reduce("Mean", g.binary("SquaredDifference", x, mean))
    scale = g.constant(1.0) / g.unary("Sqrt", variance + epsilon)
    return x * scale - mean * scale


def rms_norm(epsilon: float, g: Graph, x: Value) -> Value:
    return x * g.unary("Rsqrt", g.reduce("Mean", x * x) + epsilon)


def rms_norm_by_division(epsilon: float, g: Graph, x: Value) -> Value:
    return x / g.unary("Sqrt", g.reduce("Sum", g.unary("Square", x)) * 0.25 + epsilon)


def l2_norm(epsilon: float, g: Graph, x: Value) -> Value:
    return x * g.unary("Rsqrt", g.binary("Maximum", g.reduce("Sum", x * x), epsilon))


def l2_norm_by_division(epsilon: float, g: Graph, x: Value) -> Value:
    return x / g.unary("Sqrt", g.binary("Maximum", g.reduce("Sum", g.unary("Square", x)), epsilon))


def clipped(limit: float, g: Graph, x: Value) -> Value:
    return g.binary("Minimum", relu(g, x), limit)


def half_up(g: Graph, x: Value) -> Value:
    return g.unary("Floor", x + 0.5)


def steps_half_up(g: Graph, x: Value) -> Value:
    return half_up(g, x / 0.25) * 0.25


def steps(g: Graph, x: Value) -> Value:
    return g.unary("Round", x / 0.25) * 0.25


def argmax(g: Graph, x: Value) -> Value:
    return g.op("ArgMax", [x, g.constant(-1, "i32")], x.sizes[:-1], "i32")


def last_argmax(g: Graph, x: Value) -> Value:
    backwards = g.op("ReverseV2", [x, g.constant([1], "i32")], x.sizes)
    return g.binary("Sub", g.constant(3, "i32"), argmax(g, backwards))


def argmax_of_softmax(g: Graph, x: Value) -> Value:
    return argmax(g, g.unary("Softmax", x))


def stable_softplus(g: Graph, x: Value) -> Value:
    return relu(g, x) + g.unary("Log1p", g.unary("Exp", -g.unary("Abs", x)))


def plain_softplus(g: Graph, x: Value) -> Value:
    return g.unary("Log", g.unary("Exp", x) + 1.0)


def softplus(g: Graph, x: Value) -> Value:
    return g.unary("Softplus", x)


def without_nan(g: Graph, x: Value) -> Value:
    return g.where(g.unary("IsNan", x, "i1"), g.constant(0.0), x)


def same(g: Graph, x: Value) -> Value:
    return g.unary("Identity", x)


def _beside(number: float, factor: float, g: Graph, x: Value) -> Value:
    """A large number in the first column, small ones in the others."""
    scale, large = g.constant([0, factor, factor, factor]), g.constant([number, 0, 0, 0])
    return x * scale + large


def threshold(name: str, limit: float, g: Graph, x: Value) -> Value:
    return g.where(g.compare(name, x, limit), x, 0.0)


def score(limit: float, g: Graph, x: Value) -> Value:
    return g.where(g.compare("Greater", g.unary("Sigmoid", x), limit), x, 0.0)


def score_of_logits(limit: float, g: Graph, x: Value) -> Value:
    return g.where(g.compare("Greater", x, math.log(limit / (1 - limit))), x, 0.0)


def capped_exp(g: Graph, x: Value) -> Value:
    return g.unary("Exp", g.binary("Minimum", x, 10.0))


def exp(g: Graph, x: Value) -> Value:
    return g.unary("Exp", x)


def cell(cap: float | None, g: Graph, x: Value) -> Value:
    state = x
    for _ in range(3):
        state = state + g.unary("Tanh", x) * x
        if cap is not None:
            state = g.binary("Minimum", g.binary("Maximum", state, -cap), cap)
    return g.unary("Tanh", state * 0.1)


def total(g: Graph, x: Value) -> Value:
    return g.reduce("Sum", x)


def total_of_first(count: int, g: Graph, x: Value) -> Value:
    return total(g, g.first(x, count))


def gelu(g: Graph, x: Value) -> Value:
    return x * 0.5 * (g.unary("Erf", x * math.sqrt(0.5)) + 1.0)


def gelu_by_erfc(g: Graph, x: Value) -> Value:
    return x * g.unary("Erfc", x * -math.sqrt(0.5)) * 0.5


def tanh_gelu(g: Graph, x: Value) -> Value:
    inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    return x * 0.5 * (g.unary("Tanh", inner) + 1.0)


def tanh_gelu_by_sigmoid(g: Graph, x: Value) -> Value:
    return x * g.unary("Sigmoid", x * (g.unary("Square", x) * 0.044715 + 1.0) * (2 * math.sqrt(2 / math.pi)))


def log_variance(epsilon: float, g: Graph, x: Value) -> Value:
    return g.unary("Log", g.binary("Maximum", x * x, epsilon))


def softmax(g: Graph, x: Value) -> Value:
    return g.unary("Softmax", x)


def softmax_by_division(g: Graph, x: Value) -> Value:
    powers = g.unary("Exp", x - g.reduce("Max", x))
    return powers / g.reduce("Sum", powers)


def log_softmax(g: Graph, x: Value) -> Value:
    return g.unary("LogSoftmax", x)


def log_of_sum(g: Graph, x: Value) -> Value:
    largest = g.reduce("Max", x)
    return g.unary("Log", g.reduce("Sum", g.unary("Exp", x - largest))) + largest


def x_without_log_of_sum(g: Graph, x: Value) -> Value:
    return x - log_of_sum(g, x)


def product(g: Graph, x: Value) -> Value:
    weights = g.constant(np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32))
    return g.op("MatMul", [x, weights], x.sizes, attributes="transpose_a = false, transpose_b = false")


def product_of_columns(g: Graph, x: Value) -> Value:
    """The same sums in another order."""
    weights = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    backwards = g.op("ReverseV2", [x, g.constant([1], "i32")], x.sizes)
    return g.op(
        "MatMul", [backwards, g.constant(weights[::-1])], x.sizes, attributes="transpose_a = false, transpose_b = false"
    )


def total_of_mean(g: Graph, x: Value) -> Value:
    return g.reduce("Mean", x) * 4.0


def distance(g: Graph, x: Value) -> Value:
    return g.reduce("Sum", g.unary("Square", x - 1.5))


def distance_by_products(g: Graph, x: Value) -> Value:
    return g.reduce("Sum", x * x) - g.reduce("Sum", x) * 3.0 + 9.0


def is_near(limit: float, g: Graph, x: Value) -> Value:
    return g.where(g.compare("Less", g.reduce("Sum", x * x), limit), g.constant([[1.0]]), 0.0)


def score_of_two(limit: float, g: Graph, x: Value) -> Value:
    return g.where(g.compare("Greater", g.unary("Sigmoid", x) * g.unary("Sigmoid", x * 0.5 - 1.0), limit), x, 0.0)


def is_largest(g: Graph, x: Value) -> Value:
    return g.where(g.compare("GreaterEqual", x, g.reduce("Max", x)), x, 0.0)


def is_not_less(g: Graph, x: Value) -> Value:
    return g.where(g.compare("Less", x, g.reduce("Max", x)), g.constant(0.0), x)


def count(g: Graph, x: Value) -> Value:
    return x * 3 + 1


def count_by_sums(g: Graph, x: Value) -> Value:
    return x + x + x + 1


WRONG: Mapping[str, tuple[Formula, Formula, Argument]] = {
    "epsilon 1e-5 for 1e-6": (partial(layer_norm, 1e-6), partial(layer_norm, 1e-5), _X),
    "epsilon 0 for 1e-6": (partial(rms_norm, 1e-6), partial(rms_norm, 0.0), _X),
    "epsilon 1.01e-3 for 1e-3": (partial(layer_norm, 1e-3), partial(layer_norm, 1.01e-3), _X),
    "epsilon 1e-6 for 1e-12": (partial(l2_norm, 1e-12), partial(l2_norm, 1e-6), _X),
    "epsilon of a logarithm": (partial(log_variance, 1e-10), partial(log_variance, 1e-9), _X),
    "half up for half to even": (lambda g, x: g.unary("Round", x), half_up, _X),
    "half up in steps": (steps, steps_half_up, _X),
    "the last of equal maxima": (argmax, last_argmax, _X),
    "no clip at 6": (partial(clipped, 6.0), relu, _X),
    "clip at 6.01": (partial(clipped, 6.0), partial(clipped, 6.01), _X),
    "no clip at 10": (partial(clipped, 10.0), relu, _X),
    "no clip at 100": (partial(clipped, 100.0), relu, _X),
    "no truncation to 4": (partial(total_of_first, 4), total, _ROWS),
    "no truncation to 128": (partial(total_of_first, 128), total, _ROWS),
    "NaN is kept": (without_nan, same, _X),
    "softplus that overflows": (softplus, plain_softplus, _X),
    "1 % beside -1e9": (partial(_beside, -1e9, 1.0), partial(_beside, -1e9, 1.01), _X),
    "50 % beside 1e6": (partial(_beside, 1e6, 1.0), partial(_beside, 1e6, 1.5), _X),
    "not less for greater": (partial(threshold, "Greater", 0.3), partial(threshold, "GreaterEqual", 0.3), _X),
    "not less for greater, of 0": (
        lambda g, x: g.op("Cast", [g.compare("Greater", x, 0.0)], x.sizes),
        lambda g, x: g.op("Cast", [g.compare("GreaterEqual", x, 0.0)], x.sizes),
        _X,
    ),
    "a threshold that is moved": (partial(threshold, "Greater", 0.5), partial(threshold, "Greater", 0.505), _X),
    "a score that is moved": (partial(score, 0.5), partial(score, 0.51), _X),
    "a product of scores that is moved": (partial(score_of_two, 0.01), partial(score_of_two, 0.0101), _X),
    "a distance that is moved": (partial(is_near, 1e-3), partial(is_near, 1.1e-3), _X),
    "no truncation to 256": (partial(total_of_first, 256), total, _ROWS),
    "exp without a cap": (capped_exp, exp, _X),
    "a cell without a cap": (partial(cell, 10.0), partial(cell, None), _X),
    "gelu by tanh": (gelu, tanh_gelu, _X),
}

RIGHT: Mapping[str, tuple[Formula, Formula, Argument]] = {
    "layer norm": (partial(layer_norm, 1e-6), partial(layer_norm_of_moments, 1e-6), _X),
    "layer norm, the other way round": (partial(layer_norm_of_moments, 1e-3), partial(layer_norm, 1e-3), _X),
    "rms norm": (partial(rms_norm, 1e-6), partial(rms_norm_by_division, 1e-6), _X),
    "l2 norm": (partial(l2_norm, 1e-12), partial(l2_norm_by_division, 1e-12), _X),
    "gelu": (gelu, gelu_by_erfc, _X),
    "gelu, the other way round": (gelu_by_erfc, gelu, _X),
    "gelu by tanh": (tanh_gelu, tanh_gelu_by_sigmoid, _X),
    "gelu by sigmoid": (tanh_gelu_by_sigmoid, tanh_gelu, _X),
    "softplus": (softplus, stable_softplus, _X),
    "softplus that the body lets overflow": (plain_softplus, softplus, _X),
    "argmax of softmax": (argmax_of_softmax, argmax, _X),
    "argmax of what overflows": (lambda g, x: argmax(g, g.unary("Exp", x)), argmax, _X),
    "a score's logits": (partial(score, 0.3), partial(score_of_logits, 0.3), _X),
    "a large number beside": (
        partial(_beside, -1e9, 1.0),
        lambda g, x: _beside(-1e9, 0.5, g, x) + _beside(0, 0.5, g, x),
        _X,
    ),
    "round": (steps, lambda g, x: g.unary("Round", x * 4.0) * 0.25, _X),
    "softmax": (softmax, softmax_by_division, _X),
    "softmax, the other way round": (softmax_by_division, softmax, _X),
    "log softmax": (log_softmax, x_without_log_of_sum, _X),
    "log softmax, the other way round": (x_without_log_of_sum, log_softmax, _X),
    "product": (product, product_of_columns, _X),
    "mean": (total, total_of_mean, _X),
    "distance": (distance, distance_by_products, _X),
    "distance, the other way round": (distance_by_products, distance, _X),
    "the largest": (is_largest, is_not_less, _X),
    "integers": (count, count_by_sums, ((None, 4), "i32")),
    "1 - sigmoid": (lambda g, x: g.constant(1.0) - g.unary("Sigmoid", x), lambda g, x: g.unary("Sigmoid", -x), _X),
    "sigmoid by tanh": (
        lambda g, x: g.unary("Sigmoid", x),
        lambda g, x: g.unary("Tanh", x * 0.5) * 0.5 + 0.5,
        _X,
    ),
    "square of a difference": (
        lambda g, x: g.unary("Square", x - 3.0),
        lambda g, x: x * x - x * 6.0 + 9.0,
        _X,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_fusion_is_refused(name: str) -> None:
    result = check(*WRONG[name])
    assert "it computes something else" in (result.problem or ""), result
    assert "with " in (result.problem or "")


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_fusion_is_not(name: str) -> None:
    result = check(*RIGHT[name])
    assert (result.problem, result.unchecked) == (None, None)
    assert result.error is not None


@custom_op("KeepsScratch")
class KeepsScratch(CustomOp):
    """Sums rows in memory that grows and is not cleared."""

    memory = np.zeros((0, 4), np.float32)

    def prepare(self, x: TensorSpec) -> TensorSpec:
        assert x.shape is not None
        if x.shape[0] > len(self.memory):
            self.memory = np.zeros(x.shape, np.float32)
        return TensorSpec((4,), x.dtype)

    def invoke(self, inputs: Any, outputs: Outputs, **_: Any) -> None:
        self.memory[: len(inputs[0])] = inputs[0]
        outputs[0][...] = self.memory.sum(0)


def test_memory_that_stays_when_a_size_shrinks_is_found() -> None:
    axis = "value = dense<0> : tensor<i32>"
    text = f"""
func.func private @body(%x: tensor<?x4xf32>) -> tensor<4xf32> {{
  %axis = "tf.Const"() {{{axis}}} : () -> tensor<i32>
  %0 = "tf.Sum"(%x, %axis) {{keep_dims = false}} : (tensor<?x4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}
func.func private @fused(%x: tensor<?x4xf32>) -> tensor<4xf32> {{
  %0 = "tfl.custom"(%x) {{custom_code = "KeepsScratch", custom_option = #tfl<const_bytes : "0x">}} : (tensor<?x4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}
"""
    with mlir_context():
        module = ir.Module.parse(text)
        both = functions(module)
        result = self_check(module, both["body"], both["fused"], CheckTerms(1e-5))
    assert re.search(r"it computes something else: .*\(call \d+, size \d+\)$", result.problem or ""), result


@custom_op("ScaledNorm")
class ScaledNorm(CustomOp):
    """``1.1 * layer_norm(x)``; where x is the mean, two products differ that would be equal."""

    def prepare(self, x: TensorSpec) -> TensorSpec:
        return x

    def invoke(self, inputs: Any, outputs: Outputs, **_: Any) -> None:
        (x,) = inputs
        mean = x.mean(-1, keepdims=True)
        scale = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + np.float32(1e-3))
        outputs[0] = x * (scale * np.float32(1.1)) - mean * scale * np.float32(1.1)


def test_equal_numbers_need_not_be_equal_products() -> None:
    kernel = """
func.func private @fused(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = "tfl.custom"(%x) {custom_code = "ScaledNorm", custom_option = #tfl<const_bytes : "0x">} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
"""
    with mlir_context():
        module = ir.Module.parse(function("body", _X, lambda g, x: layer_norm(1e-3, g, x) * 1.1) + kernel)
        both = functions(module)
        result = self_check(module, both["body"], both["fused"], CheckTerms(1e-5), thorough=True)
    assert result.problem is None
    assert result.error is not None


@pytest.mark.parametrize(
    ("given", "other", "problem"),
    [("1.0, 2.0", "3.0, 4.0", False), ("1.0, 2.0", "-3.0, 4.0", True), ("1.0, 2.0", None, True)],
)
def test_constants_of_the_calls_are_what_they_are(given: str, other: str | None, problem: bool) -> None:
    """The fused op is right for weights that are not negative."""

    def call(number: int, weights: str | None) -> str:
        constant = f'"tf.Const"() {{value = dense<[{weights}]> : tensor<2xf32>}} : () -> tensor<2xf32>'
        weight = constant if weights is not None else '"tf.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>'
        return f"""
  %w{number} = {weight}
  %{number} = "tf.PartitionedCall"(%x, %w{number}) {{f = @body, config = "", config_proto = "", executor_type = ""}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
"""

    text = f"""
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {{
  {call(0, given)}
  {call(1, other)}
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}}
func.func private @body(%x: tensor<2xf32>, %w: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = "tf.Mul"(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}}
func.func private @fused(%x: tensor<2xf32>, %w: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = "tf.Relu"(%w) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tf.Mul"(%x, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}}
"""
    with mlir_context():
        module = ir.Module.parse(text)
        both = functions(module)
        result = self_check(module, both["body"], both["fused"], CheckTerms(1e-5))
    assert (result.problem is not None) == problem, result
    assert ("with other constants than the model's" in (result.note or "")) == (not problem)


def test_a_refusal_says_which_numbers_show_it() -> None:
    result = check(*WRONG["no clip at 10"])
    assert result.problem is not None
    assert re.search(
        r"the relative error is \d+(\.\d+)?, and 1e-05 is allowed: \d+(\.\d+)? for 10 at \[\d+, \d\], "
        r"with (numbers times 200|columns of different numbers) \(call \d+, size \d+\)$",
        result.problem,
    ), result.problem


def test_what_only_nan_shows_is_noted() -> None:
    def by_mask(g: Graph, x: Value) -> Value:
        return x * g.op("Cast", [g.compare("Greater", x, 0.0)], x.sizes)

    result = check(by_mask, relu)
    assert result.problem is None
    assert "for nan at" in (result.note or "")
    assert "with NaN and infinities" in (result.note or "")
