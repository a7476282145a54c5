"""Sums, products, bounds and comparisons with constants that the engine folds, merges or takes for other ops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.tensorflow.rewritings.form import FLOATS, INTEGERS, NUMBERS, SIGNED, Form, Maker, numpy_dtype


def _end(m: Maker, name: str) -> Any:
    kind = numpy_dtype(m.dtype)
    return getattr(np.iinfo(kind) if m.dtype in INTEGERS else m.tf.as_dtype(m.dtype), name)


def _highest(m: Maker) -> Any:
    return m(_end(m, "max"))


def _lowest(m: Maker) -> Any:
    return m(_end(m, "min"))


_NUMBERS: Mapping[str, Form] = {
    "x + 0": lambda m, x, _: x + m(0),
    "0 + x": lambda m, x, _: m(0) + x,
    "x + zeros": lambda m, x, _: x + m([[0, 0, 0, 0]]),
    "x - 0": lambda m, x, _: x - m(0),
    "0 - x": lambda m, x, _: m(0) - x,
    "x * 1": lambda m, x, _: x * m(1),
    "1 * x": lambda m, x, _: m(1) * x,
    "x * ones": lambda m, x, _: x * m(np.ones([2, 1, 1])),
    "x * 0": lambda m, x, _: x * m(0),
    "0 * x": lambda m, x, _: m(0) * x,
    "x * zeros": lambda m, x, _: x * m(np.zeros([2, 1, 1])),
    "x * -1": lambda m, x, _: x * m(0 if m.dtype.startswith("u") else -1),
    "x - x": lambda _m, x, _: x - x,
    "y // y": lambda _m, _, y: y // y,
    "x // 1": lambda m, x, _: x // m(1),
    "x // y": lambda _m, x, y: x // y,
    "x % y": lambda _m, x, y: x % y,
    "x % 1": lambda m, x, _: x % m(1),
    "x % 3": lambda m, x, _: x % m(3),
    "truncated": lambda m, x, y: m.tf.truncatediv(x, y) if m.dtype in INTEGERS else x,
    "truncated remainder": lambda m, x, y: m.tf.truncatemod(x, y) if m.dtype not in ("float16", "uint8") else x,
    "x - x // y * y": lambda _m, x, y: x - x // y * y,
    "no nan": lambda m, x, y: m.tf.math.divide_no_nan(x, y) if m.dtype in FLOATS else x,
    "multiplied no nan": lambda m, x, _: m.tf.math.multiply_no_nan(x, m(0)) if m.dtype in FLOATS else x,
    "maximum with lowest": lambda m, x, _: m.tf.maximum(x, _lowest(m)),
    "lowest first": lambda m, x, _: m.tf.maximum(_lowest(m), x),
    "minimum with highest": lambda m, x, _: m.tf.minimum(x, _highest(m)),
    "maximum with highest": lambda m, x, _: m.tf.maximum(x, _highest(m)),
    "minimum with lowest": lambda m, x, _: m.tf.minimum(x, _lowest(m)),
    "maximum with lowest matrix": lambda m, x, _: m.tf.maximum(x, m(np.full([3, 4], _end(m, "min")))),
    "minimum with highest matrix": lambda m, x, _: m.tf.minimum(x, m(np.full([3, 4], _end(m, "max")))),
    "maximum with itself": lambda m, x, _: m.tf.maximum(x, x),
    "squared difference from itself": lambda m, x, _: m.tf.math.squared_difference(x, x),
    "squared difference from 0": lambda m, x, _: m.tf.math.squared_difference(x, m(0)),
    "x + (y - y)": lambda _m, x, y: x + (y - y),
    "(y - y) + x": lambda _m, x, y: (y - y) + x,
    "x + zeros_like": lambda m, x, y: x + m.tf.zeros_like(y),
    "zeros_like + x": lambda m, x, y: m.tf.zeros_like(y) + x,
    "x - zeros_like": lambda m, x, y: x - m.tf.zeros_like(y),
    "zeros_like - x": lambda m, x, y: m.tf.zeros_like(y) - x,
    "x * zeros_like": lambda m, x, y: x * m.tf.zeros_like(y),
    "x * ones_like": lambda m, x, y: x * m.tf.ones_like(y),
    "add n": lambda m, x, y: m.tf.add_n([x, m(np.zeros([3, 4])), y]),
    "bias": lambda m, x, _: m.tf.nn.bias_add(x, m([0, 1, 0, 2])),
    "pow 0": lambda m, x, _: m.tf.pow(x, m(0)),
    "pow 1": lambda m, x, _: m.tf.pow(x, m(1)),
    "pow 2": lambda m, x, _: m.tf.pow(x, m(2)),
    "pow 3": lambda m, x, _: m.tf.pow(x, m(3)),
    "pow of 2": lambda m, x, _: m.tf.pow(m(2), m.tf.abs(x) if m.dtype in SIGNED else x),
}
_OF_FLOATS: Mapping[str, Form] = {
    "x / 1": lambda m, x, _: x / m(1),
    "y / y": lambda _m, _, y: y / y,
    "x / y": lambda _m, x, y: x / y,
    "x / 3": lambda m, x, _: x / m(3),
    "x / vector": lambda m, x, _: x / m([3, -7, 0.5, 11]),
    "x / matrix": lambda m, x, _: x / m([[3, -7, 0.5, 11]]),
    "x / 0": lambda m, x, _: x / m(0),
    "1 / y": lambda m, _, y: m(1) / y,
    "x * (1 / y)": lambda m, x, y: x * (m(1) / y),
    "x / (1 / y)": lambda m, x, y: x / (m(1) / y),
    "reciprocal": lambda m, x, y: x * m.tf.math.reciprocal(y),
    "floor of quotient": lambda m, x, y: m.tf.floor(x / y),
    "maximum with -inf": lambda m, x, _: m.tf.maximum(x, m(-np.inf)),
    "minimum with inf": lambda m, x, _: m.tf.minimum(x, m(np.inf)),
    "maximum with inf": lambda m, x, _: m.tf.maximum(x, m(np.inf)),
    "minimum with -inf": lambda m, x, _: m.tf.minimum(x, m(-np.inf)),
    "maximum with -inf matrix": lambda m, x, _: m.tf.maximum(x, m(np.full([3, 4], -np.inf))),
    "x + inf": lambda m, x, _: x + m(np.inf),
    "x * inf": lambda m, x, _: x * m(np.inf),
    "x + -0": lambda m, x, _: m(1) / (x + m(-0.0)),
    "0 / y": lambda m, _, y: m(0) / y,
    "pow .5": lambda m, _, y: m.tf.pow(m.tf.abs(y), m(0.5)),
    "pow -.5": lambda m, _, y: m.tf.pow(m.tf.abs(y), m(-0.5)),
    "pow -1": lambda m, _, y: m.tf.pow(y, m(-1)),
    "pow .7": lambda m, _, y: m.tf.pow(m.tf.abs(y), m(0.7)),
    "root of square": lambda m, x, _: m.tf.sqrt(m.tf.square(x)),
    "one over root": lambda m, _, y: m(1) / m.tf.sqrt(m.tf.abs(y)),
    "over root": lambda m, x, y: x / m.tf.sqrt(m.tf.abs(y)),
    "times reciprocal root": lambda m, x, y: x * m.tf.math.rsqrt(m.tf.abs(y)),
    "over reciprocal root": lambda m, x, y: x / m.tf.math.rsqrt(m.tf.abs(y)),
    "log of exp": lambda m, x, _: m.tf.math.log(m.tf.exp(x)),
    "log of softmax": lambda m, x, _: m.tf.math.log(m.tf.nn.softmax(x)),
    "exp of log": lambda m, _, y: m.tf.exp(m.tf.math.log(m.tf.abs(y))),
    "round of round": lambda m, x, _: m.tf.round(m.tf.round(x)),
    "floor of ceil": lambda m, x, _: m.tf.floor(m.tf.math.ceil(x)),
    "xdivy": lambda m, x, y: m.tf.math.xdivy(x, y),
    "xlogy": lambda m, x, y: m.tf.math.xlogy(x, m.tf.abs(y)),
    "is inf": lambda m, x, y: m.tf.math.is_inf(x / (y * m(0))),
    "is nan": lambda m, x, y: m.tf.math.is_nan(x / (y * m(0))),
    "is finite": lambda m, x, y: m.tf.math.is_finite(x / (y * m(0))),
}

_REORDERED: Mapping[str, Form] = {
    "(x + a) + b": lambda m, x, _: (x + m(5)) + m(7),
    "(x + a) - b": lambda m, x, _: (x + m(5)) - m(7),
    "(x - a) + b": lambda m, x, _: (x - m(5)) + m(7),
    "(x - a) - b": lambda m, x, _: (x - m(5)) - m(7),
    "(a - x) - b": lambda m, x, _: (m(5) - x) - m(7),
    "a - (b - x)": lambda m, x, _: m(5) - (m(7) - x),
    "a + (b - x)": lambda m, x, _: m(5) + (m(7) - x),
    "(x * a) * b": lambda m, x, _: (x * m(5)) * m(7),
    "(x + a) * b": lambda m, x, _: (x + m(5)) * m(7),
    "(x * a) + b": lambda m, x, _: (x * m(5)) + m(7),
    "(x // a) // b": lambda m, x, _: (x // m(2)) // m(3),
    "(x // a) * b": lambda m, x, _: (x // m(2)) * m(3),
    "(x * a) // b": lambda m, x, _: (x * m(2)) // m(3),
    "(x + highest) + highest": lambda m, x, _: (x + _highest(m)) + _highest(m),
    "(x * highest) * highest": lambda m, x, _: (x * _highest(m)) * _highest(m),
    "(x + vector) + vector": lambda m, x, _: (x + m([1, 2, 3, 4])) + m([[5], [6], [7]]),
    "constant + constant": lambda m, x, _: x + (_highest(m) + m(1)),
    "constant - constant": lambda m, x, _: x + (_lowest(m) - m(1)),
    "constant * constant": lambda m, x, _: x + _highest(m) * m(3),
    "constant // constant": lambda m, x, _: x + m([7, 7, 100, 9]) // m([2, 3, 7, 5]),
    "constant % constant": lambda m, x, _: x + m([7, 7, 100, 9]) % m([2, 3, 7, 5]),
    "constant maximum": lambda m, x, _: x + m.tf.maximum(_highest(m), m([1, 2, 3, 4])),
    "constant minimum": lambda m, x, _: x + m.tf.minimum(_highest(m), m([1, 2, 3, 4])),
    "constant square": lambda m, x, _: x + m.tf.square(m([7, 100, 120, 0])),
    "constant sum": lambda m, x, _: x + m.tf.reduce_sum(m([[100, 100, 100, 100], [1, 2, 3, 4]]), 0),
    "constant product": lambda m, x, _: x + m.tf.reduce_prod(m([[100, 100, 100, 100], [1, 2, 3, 4]]), 0),
    "constant largest": lambda m, x, _: x + m.tf.reduce_max(m([[100, 0, 100, 0], [1, 2, 3, 4]]), 0),
    "constant running sum": lambda m, x, _: x + m.tf.cumsum(m([100, 100, 100, 100])),
    "constant range": lambda m, x, _: x + m.tf.cast(m.tf.range(0, 4), m.dtype),
    "-x + y": lambda _m, x, y: -x + y,
    "x + -y": lambda _m, x, y: x + -y,
    "x - -y": lambda _m, x, y: x - -y,
    "-x * -y": lambda _m, x, y: -x * -y,
    "-(x - y)": lambda _m, x, y: -(x - y),
    "-(0 - x)": lambda m, x, _: -(m(0) - x),
    "negative twice": lambda m, x, _: m.tf.negative(m.tf.negative(x)),
    "-(5 - x)": lambda m, x, _: -(m(5) - x),
    "|-x|": lambda m, x, _: m.tf.abs(-x),
    "(-x) ** 2": lambda m, x, _: m.tf.square(-x),
    "sign of product": lambda m, x, y: m.tf.sign(x * y),
    "reshaped + c": lambda m, x, _: m.tf.reshape(x, [2, 6]) + m(3),
    "reshaped + vector": lambda m, x, _: m.tf.reshape(x, [3, 1, 4]) * m([1, 2, 3, 4]),
    "reshaped - reshaped": lambda m, x, y: m.tf.reshape(x, [12]) - m.tf.reshape(y, [12]),
    "reshaped maximum": lambda m, x, _: m.tf.maximum(m.tf.reshape(x, [3, 1, 4]), m([1, 2, 3, 4])),
    "reshaped // c": lambda m, x, _: m.tf.reshape(x, [3, 1, 4]) // m([1, 2, 3, 4]),
    "reshaped % c": lambda m, x, _: m.tf.reshape(x, [3, 1, 4]) % m([1, 2, 3, 4]),
    "reshaped < c": lambda m, x, _: m.tf.reshape(x, [3, 1, 4]) < m([1, 2, 3, 4]),
    "reshaped >= reshaped": lambda m, x, y: m.tf.reshape(x, [12]) >= m.tf.reshape(y, [12]),
    "transposed - c": lambda m, x, _: m.tf.transpose(x) - m([1, 2, 3]),
    "c - transposed": lambda m, x, _: m([1, 2, 3]) - m.tf.transpose(x),
    "c // transposed": lambda m, _, y: m([1, 2, 3]) // m.tf.transpose(y),
    "c % transposed": lambda m, _, y: m([1, 2, 3]) % m.tf.transpose(y),
    "c < transposed": lambda m, x, _: m([1, 2, 3]) < m.tf.transpose(x),
    "c <= transposed": lambda m, x, _: m([[1, 2, 3]]) <= m.tf.transpose(x),
    "transposed > c": lambda m, x, _: m.tf.transpose(x) > m([[1, 2, 3]]),
    "c ** transposed": lambda m, _, y: m.tf.pow(
        m(np.full([4, 3], 2)), m.tf.abs(m.tf.transpose(y)) if m.dtype in (*SIGNED, *FLOATS) else m.tf.transpose(y)
    ),
    "transposed maximum": lambda m, x, _: m.tf.maximum(m(np.arange(12).reshape(4, 3)), m.tf.transpose(x)),
    "matrix // transposed": lambda m, _, y: m(np.arange(12).reshape(4, 3)) // m.tf.transpose(y),
    "matrix - transposed": lambda m, _, y: m(np.arange(12).reshape(4, 3)) - m.tf.transpose(y),
    "matrix > transposed": lambda m, _, y: m(np.arange(12).reshape(4, 3)) > m.tf.transpose(y),
    "matrix squared difference": lambda m, _, y: m.tf.math.squared_difference(
        m(np.arange(12).reshape(4, 3)), m.tf.transpose(y)
    ),
    "transposed - transposed": lambda m, x, y: m.tf.transpose(x) - m.tf.transpose(y),
    "transposed // transposed": lambda m, x, y: m.tf.transpose(x) // m.tf.transpose(y),
    "transposed absolute": lambda m, x, _: m.tf.transpose(m.tf.abs(m.tf.transpose(x))),
    "tiled * c": lambda m, x, _: m.tf.tile(x, [2, 1]) * m(3),
    "broadcast + x": lambda m, x, _: m.tf.broadcast_to(m([1, 2, 3, 4]), [3, 4]) + x,
    "broadcast - x": lambda m, x, y: m.tf.broadcast_to(y[:1], [3, 4]) - x,
    "broadcast // x": lambda m, x, y: m.tf.broadcast_to(x[:1], [3, 4]) // y,
    "filled * x": lambda m, x, _: m.tf.fill([3, 4], m(3)) * x,
    "x // filled": lambda m, x, _: x // m.tf.fill([3, 4], m(3)),
    "expanded, negative": lambda m, x, _: -m.tf.expand_dims(x, 1),
    "squeezed, square": lambda m, x, _: m.tf.square(m.tf.squeeze(m.tf.reshape(x, [3, 1, 4]))),
    "depth to space, absolute": lambda m, x, _: m.tf.abs(m.tf.nn.depth_to_space(m.tf.reshape(x, [1, 3, 1, 4]), 2)),
}
_REORDERED_OF_FLOATS: Mapping[str, Form] = {
    "(x + large) - large": lambda m, x, _: (x + m(1e3)) - m(1e3),
    "(x + large) + -large": lambda m, x, _: (x + m(1e3)) + m(-1e3),
    "(x - large) + large": lambda m, x, _: (x - m(1e3)) + m(1e3),
    "-large + (x + large)": lambda m, x, _: m(-1e3) + (m(1e3) + x),
    "rounded": lambda m, x, _: (x + m(2.0**20)) + m(-(2.0**20)) if m.dtype != "float16" else x,
    "constant mean": lambda m, x, _: x + m.tf.reduce_mean(m([[100, 100, 100, 100], [1, 2, 3, 4]]), 0),
    "(x / a) / b": lambda m, x, _: (x / m(3)) / m(7),
    "(x / a) * b": lambda m, x, _: (x / m(3)) * m(7),
    "(x * a) / b": lambda m, x, _: (x * m(3)) / m(7),
    "a / (b / y)": lambda m, _, y: m(3) / (m(7) / y),
    "constant / constant": lambda m, x, _: x + m([7, 1, 100, 9]) / m([2, 3, 7, 0.3]),
    "constant / 0": lambda m, x, _: x + m([7, 1, -100, 9]) / m([0, 3, 0, 1]),
    "constant root": lambda m, x, _: x + m.tf.sqrt(m([7, 1, 100, 9])),
    "constant reciprocal root": lambda m, x, _: x + m.tf.math.rsqrt(m([7, 1, 100, 9])),
    "constant exp": lambda m, x, _: x + m.tf.exp(m([7, 1, -100, 9])),
    "constant log": lambda m, x, _: x + m.tf.math.log(m([7, 1, 100, 9])),
    "constant sine": lambda m, x, _: x + m.tf.sin(m([7, 1, 100, 9])) + m.tf.cos(m([7, 1, 100, 9])),
    "constant tanh": lambda m, x, _: x + m.tf.tanh(m([7, 1, -100, 0.5])),
    "constant sigmoid": lambda m, x, _: x + m.tf.sigmoid(m([7, 1, -100, 0.5])),
    "constant floor": lambda m, x, _: (
        x + m.tf.floor(m([-0.5, 1.5, -100, 0.5])) + m.tf.math.ceil(m([-0.5, 1.5, -100, 0.5]))
    ),
    "constant round": lambda m, x, _: x + m.tf.round(m([-0.5, 1.5, 2.5, 0.5])),
    "constant absolute": lambda m, x, _: x + m.tf.abs(m([-0.5, 1.5, 2.5, -np.inf])),
    "constant negative": lambda m, x, _: x + -m([-0.5, 1.5, 2.5, -np.inf]),
    "constant pow": lambda m, x, _: x + m.tf.pow(m([0.5, 1.5, 2.5, 3]), m([2, 0.5, -1, 3])),
    "constant rectified": lambda m, x, _: x + m.tf.nn.relu(m([0.5, -1.5, 2.5, 3])),
    "constant squared difference": lambda m, x, _: x + m.tf.math.squared_difference(m([0.5, -1.5, 2.5, 3]), m(2)),
    "c / transposed": lambda m, _, y: m([[1, 2, 3]]) / m.tf.transpose(y),
    "matrix / transposed": lambda m, _, y: m(np.arange(12).reshape(4, 3)) / m.tf.transpose(y),
    "reshaped / c": lambda m, x, _: m.tf.reshape(x, [3, 1, 4]) / m([1, 2, 3, 4]),
    "transposed, exp": lambda m, x, _: m.tf.exp(m.tf.transpose(x)),
    "broadcast / y": lambda m, x, y: m.tf.broadcast_to(x[:1], [3, 4]) / y,
}


def _clipped(low: float, high: float) -> dict[str, Form]:
    return {
        f"minimum of maximum, {low}, {high}": lambda m, x, _: m.tf.minimum(m.tf.maximum(x, m(low)), m(high)),
        f"maximum of minimum, {low}, {high}": lambda m, x, _: m.tf.maximum(m.tf.minimum(x, m(high)), m(low)),
        f"constants first, {low}, {high}": lambda m, x, _: m.tf.maximum(m(low), m.tf.minimum(m(high), x)),
        f"clipped, {low}, {high}": lambda m, x, _: m.tf.clip_by_value(x, m(low), m(high)),
    }


_ACTIVATIONS: dict[str, Form] = {
    **_clipped(0, 6),
    **_clipped(0, 1),
    **_clipped(2, 5),
    "rectified": lambda m, x, _: m.tf.nn.relu(x),
    "rectified sum": lambda m, x, y: m.tf.nn.relu(x + y),
    "rectified difference": lambda m, x, y: m.tf.nn.relu(x - y),
    "rectified product": lambda m, x, y: m.tf.nn.relu(x * y),
    "rectified (x + a) + b": lambda m, x, _: m.tf.nn.relu((x + m(3)) + m(2)),
    "rectified (x + a) - b": lambda m, x, _: m.tf.nn.relu((x + m(3)) - m(2)),
    "rectified minimum": lambda m, x, _: m.tf.nn.relu(m.tf.minimum(x, m(6))),
    "minimum of rectified": lambda m, x, _: m.tf.minimum(m.tf.nn.relu(x), m(6)),
    "minimum of rectified 7": lambda m, x, _: m.tf.minimum(m.tf.nn.relu(x), m(7)),
    "rectified square": lambda m, x, y: m.tf.nn.relu(m.tf.math.squared_difference(x, y)),
    "rectified twice": lambda m, x, _: m.tf.nn.relu(m.tf.nn.relu(x)),
    "rectified largest": lambda m, x, _: m.tf.nn.relu(m.tf.reduce_max(x, 0)),
    "maximum with 0": lambda m, x, _: m.tf.maximum(x, m(0)),
    "maximum with zeros": lambda m, x, _: m.tf.maximum(x, m([[0, 0, 0, 0]])),
    "maximum of sum": lambda m, x, y: m.tf.maximum(x + y, m(0)),
    "clipped sum": lambda m, x, y: m.tf.minimum(m.tf.maximum(x + y, m(0)), m(6)),
    "clipped difference": lambda m, x, y: m.tf.minimum(m.tf.maximum(x - y, m(0)), m(6)),
    "clipped product": lambda m, x, y: m.tf.minimum(m.tf.maximum(x * y, m(0)), m(6)),
    "relu6": lambda m, x, _: m.tf.nn.relu6(x),
    "relu6 of sum": lambda m, x, y: m.tf.nn.relu6(x + y),
    "relu6 of difference": lambda m, x, y: m.tf.nn.relu6(x - y),
    "relu6 of product": lambda m, x, y: m.tf.nn.relu6(x * y),
    "rectified over transposed": lambda m, x, y: m.tf.nn.relu(m.tf.transpose(x) - m.tf.transpose(y)),
    "max of product": lambda m, x, _: m.tf.maximum(x * m(2), x),
    "sum of rectified": lambda m, x, _: m.tf.nn.relu(x) + m.tf.nn.relu(-x) * m([2, 1, 3, 1]),
}
_ACTIVATIONS_OF_SIGNED: dict[str, Form] = {
    **_clipped(-1, 1),
    **_clipped(-2, 2),
    "relu1 of sum": lambda m, x, y: m.tf.maximum(m.tf.minimum(x + y, m(1)), m(-1)),
    "relu1 of product": lambda m, x, y: m.tf.maximum(m.tf.minimum(x * y, m(1)), m(-1)),
    "maximum with -x": lambda m, x, _: m.tf.maximum(x, -x),
    "prelu": lambda m, x, _: m.tf.nn.relu(x) + m.tf.nn.relu(-x) * m([-2, 1, 3, -1]),
    "prelu of difference": lambda m, x, _: m.tf.nn.relu(x) - m([[2, 1, 3, 1]]) * m.tf.nn.relu(-x),
    "leaky, selected": lambda m, x, _: m.tf.where(x >= m(0), x, x * m(3)),
}


def _reduced(m: Maker, x: Any, **options: Any) -> Any:
    return m.tf.reduce_sum(m.tf.square(x), -1, **({"keepdims": True} | options))


def _shares(m: Maker, x: Any, axis: int) -> Any:
    return x / m.tf.reduce_sum(x, axis, keepdims=True)


def _log_shares(m: Maker, x: Any) -> Any:
    return x - m.tf.math.log(m.tf.reduce_sum(m.tf.exp(x), -1, keepdims=True))


def _gelu(m: Maker, x: Any) -> Any:
    inner = m(np.sqrt(2 / np.pi)) * (x + m(0.044715) * m.tf.pow(x, m(3)))
    return x * m(0.5) * (m.tf.tanh(inner) + m(1))


_ACTIVATIONS_OF_FLOATS: dict[str, Form] = {
    "relu6 of quotient": lambda m, x, y: m.tf.nn.relu6(x / y),
    "rectified quotient": lambda m, x, y: m.tf.nn.relu(x / y),
    "leaky": lambda m, x, _: m.tf.nn.leaky_relu(x, 0.2),
    "leaky, maximum": lambda m, x, _: m.tf.maximum(x * m(0.25), x),
    "leaky, maximum of vector": lambda m, x, _: m.tf.maximum(x * m([0.25]), x),
    "leaky, negative": lambda m, x, _: m.tf.maximum(x * m(-0.25), x),
    "leaky, above 1": lambda m, x, _: m.tf.maximum(x * m(1.5), x),
    "leaky, selected": lambda m, x, _: m.tf.where(x > m(0), x, x * m(0.25)),
    "leaky, selected at 0": lambda m, x, _: m.tf.where(x >= m(0), x, m(0.25) * x),
    "elu": lambda m, x, _: m.tf.nn.elu(x),
    "elu, selected": lambda m, x, _: m.tf.where(x > m(0), x, m.tf.exp(x) - m(1)),
    "elu, of two selections": lambda m, x, _: m.tf.where(x > m(0), x, m.tf.math.expm1(m.tf.where(x > m(0), m(0), x))),
    "selu": lambda m, x, _: m.tf.nn.selu(x),
    "hard swish": lambda m, x, _: x * m.tf.nn.relu6(x + m(3)) * m(1 / 6),
    "hard swish, inner": lambda m, x, _: x * (m.tf.nn.relu6(x + m(3)) * m(1 / 6)),
    "hard swish, divided": lambda m, x, _: x * (m.tf.nn.relu6(x + m(3)) / m(6)),
    "hard sigmoid": lambda m, x, _: m.tf.nn.relu6(x + m(3)) * m(1 / 6),
    "hard swish of others": lambda m, x, _: x * m.tf.nn.relu6(x + m(2)) * m(1 / 6),
    "swish": lambda m, x, _: x * m.tf.sigmoid(x),
    "sigmoid": lambda m, x, _: m(1) / (m(1) + m.tf.exp(-x)),
    "gelu": lambda m, x, _: _gelu(m, x),
    "gelu, exact": lambda m, x, _: m(0.5) * x * (m(1) + m.tf.math.erf(x / m(np.sqrt(2)))),
    "gelu, erfc": lambda m, x, _: m(0.5) * x * m.tf.math.erfc(-x * m(np.sqrt(0.5))),
    "gelu, of tensorflow": lambda m, x, _: m.tf.nn.gelu(x, approximate=True),
    "softplus": lambda m, x, _: m.tf.math.softplus(x),
    "softsign": lambda m, x, _: m.tf.nn.softsign(x),
    "mish": lambda m, x, _: x * m.tf.tanh(m.tf.math.softplus(x)),
    "softmax": lambda m, x, _: m.tf.nn.softmax(x),
    "softmax, of exp": lambda m, x, _: m.tf.exp(x) / m.tf.reduce_sum(m.tf.exp(x), -1, keepdims=True),
    "softmax, first axis": lambda m, x, _: _shares(m, m.tf.exp(x), 0),
    "softmax, one exp": lambda m, x, _: _shares(m, m.tf.exp(x), -1),
    "softmax, normalized": lambda m, x, _: m.tf.nn.softmax(x - m.tf.reduce_max(x, -1, keepdims=True)),
    "log softmax": lambda m, x, _: m.tf.nn.log_softmax(x),
    "log softmax, composed": lambda m, x, _: _log_shares(m, x - m.tf.reduce_max(x, -1, keepdims=True)),
    "argmax of softmax": lambda m, x, _: m.tf.argmax(m.tf.nn.softmax(x), -1),
    # XNNPACK's SOFTMAX of float16 has no subnormal numbers: shares of less than 6e-5 are 0.
    "argmin of softmax": lambda m, x, _: m.tf.argmin(m.tf.nn.softmax(x * m(0.5)), -1, m.tf.int32),
    "argmax of log softmax": lambda m, x, _: m.tf.argmax(m.tf.nn.log_softmax(x), -1),
    "norm": lambda m, x, _: m.tf.nn.l2_normalize(x, -1),
    "norm, root": lambda m, x, _: x / m.tf.sqrt(_reduced(m, x)),
    "norm, reciprocal root": lambda m, x, _: x * m.tf.math.rsqrt(_reduced(m, x)),
    "norm, bounded": lambda m, x, _: x * m.tf.math.rsqrt(m.tf.maximum(_reduced(m, x), m(1e-4))),
    "norm, with epsilon": lambda m, x, _: x / m.tf.sqrt(_reduced(m, x) + m(5e-4)),
    "norm, small epsilon": lambda m, x, _: x / m.tf.sqrt(_reduced(m, x) + m(1e-12)),
    "norm, of all": lambda m, x, _: x / m.tf.sqrt(m.tf.reduce_sum(m.tf.square(x), [0, 1], keepdims=True)),
    "norm, reshaped": lambda m, x, _: x / m.tf.reshape(m.tf.sqrt(m.tf.reduce_sum(x * x, -1)), [3, 1]),
    "norm, epsilon behind": lambda m, x, _: x / m.tf.reshape(m.tf.sqrt(m.tf.reduce_sum(x * x, -1)) + m(5e-4), [3, 1]),
    "norm, bound behind": lambda m, x, _: (
        x / m.tf.reshape(m.tf.maximum(m.tf.sqrt(m.tf.reduce_sum(x * x, -1)), m(5e-4)), [3, 1])
    ),
    "norm, first axis": lambda m, x, _: x / m.tf.sqrt(m.tf.reduce_sum(m.tf.square(x), 0, keepdims=True)),
    "layer norm": lambda m, x, _: (
        (x - m.tf.reduce_mean(x, -1, keepdims=True))
        / m.tf.sqrt(m.tf.math.reduce_variance(x, -1, keepdims=True) + m(1e-3))
    ),
}

_COMPARISONS: Mapping[str, Form] = {
    "not <": lambda m, x, y: m.tf.logical_not(x < y),
    "not <=": lambda m, x, y: m.tf.logical_not(x <= y),
    "not >": lambda m, x, y: m.tf.logical_not(x > y),
    "not >=": lambda m, x, y: m.tf.logical_not(x >= y),
    "not ==": lambda m, x, y: m.tf.logical_not(m.tf.equal(x, y)),
    "not !=": lambda m, x, y: m.tf.logical_not(m.tf.not_equal(x, y)),
    "< constant": lambda m, x, _: x < m(2),
    "> highest": lambda m, x, _: x > _highest(m),
    ">= lowest": lambda m, x, _: x >= _lowest(m),
    "== highest": lambda m, x, _: m.tf.equal(x, _highest(m)),
    "== itself": lambda m, x, _: m.tf.equal(x, x),
    "!= itself": lambda m, x, _: m.tf.not_equal(x, x),
    "== series": lambda m, x, _: m.tf.equal(m.tf.reshape(x, [3, 4, 1]), m([0, 1, 2, 3])),
    "== series of one": lambda m, x, _: m.tf.equal(m.tf.reshape(x, [3, 4, 1]), m([0])),
    "series == x": lambda m, x, _: m.tf.equal(m([0, 1, 2, 3]), m.tf.reshape(x, [3, 4, 1])),
    "cast == series": lambda m, x, _: m.tf.cast(m.tf.equal(m.tf.reshape(x, [3, 4, 1]), m([0, 1, 2, 3])), m.tf.float32),
    "constants <": lambda m, x, y: m.tf.where(_highest(m) < m([1, 2, 3, 4]), x, y),
    "constants >": lambda m, x, y: m.tf.where(_highest(m) > m([1, 2, 3, 4]), x, y),
    "constants <=": lambda m, x, y: m.tf.where(_highest(m) <= m([1, 2, 3, 4]), x, y),
    "constants >=": lambda m, x, y: m.tf.where(_highest(m) >= m([1, 2, 3, 4]), x, y),
    "constants ==": lambda m, x, y: m.tf.where(m.tf.equal(m(1), m([1, 2, 3, 1])), x, y),
    "constants !=": lambda m, x, y: m.tf.where(m.tf.not_equal(m(1), m([1, 2, 3, 1])), x, y),
    "lowest < highest": lambda m, x, y: m.tf.where(_lowest(m) < _highest(m), x, y),
    "selected, true": lambda m, x, y: m.tf.where(m.tf.constant([[True]] * 3), x, y),
    "selected, false": lambda m, x, y: m.tf.where(m.tf.constant(False), x, y[:1]),
    "selected, not": lambda m, x, y: m.tf.where(m.tf.logical_not(x < y), x, y),
    "selected constants": lambda m, x, y: m.tf.where(x < y, m(1), m(0)),
    "selected constants of matrices": lambda m, x, y: m.tf.where(x < y, m(np.ones([3, 4])), m(np.zeros([3, 4]))),
    "selected truths": lambda m, x, y: m.tf.where(x < y, True, False),
    "selected falsehoods": lambda m, x, y: m.tf.where(
        x < y, m.tf.zeros([3, 4], m.tf.bool), m.tf.ones([3, 4], m.tf.bool)
    ),
    "and true": lambda m, x, y: m.tf.logical_and(x < y, [[True] * 4]),
    "and false": lambda m, x, y: m.tf.logical_and(x < y, False),
    "or true": lambda m, x, y: m.tf.logical_or(x < y, [[True] * 4] * 3),
    "or false": lambda m, x, y: m.tf.logical_or(x < y, [[[False]]] * 2),
    "cast of < == 0": lambda m, x, y: m.tf.equal(m.tf.cast(x < y, m.dtype), m(0)),
    "0 == cast of <": lambda m, x, y: m.tf.equal(m(0), m.tf.cast(x < y, m.dtype)),
    "cast of < != 0": lambda m, x, y: m.tf.not_equal(m.tf.cast(x < y, m.dtype), m(0)),
    "cast of < > 0": lambda m, x, y: m.tf.cast(x < y, m.dtype) > m(0),
    "cast of < < 0": lambda m, x, y: m.tf.cast(x < y, m.dtype) < m(0),
    "cast of < >= 0": lambda m, x, y: m.tf.cast(x < y, m.dtype) >= m(0),
    "cast of < <= 0": lambda m, x, y: m.tf.cast(x < y, m.dtype) <= m(0),
    "0 < cast of <": lambda m, x, y: m(0) < m.tf.cast(x < y, m.dtype),
    "0 > cast of <": lambda m, x, y: m(0) > m.tf.cast(x < y, m.dtype),
    "0 <= cast of <": lambda m, x, y: m(0) <= m.tf.cast(x < y, m.dtype),
    "0 >= cast of <": lambda m, x, y: m(0) >= m.tf.cast(x < y, m.dtype),
    "cast of x == 0": lambda m, x, _: m.tf.equal(m.tf.cast(x, m.tf.int32), 0),
    "cast of x > 0": lambda m, x, _: m.tf.cast(x, m.tf.int32) > 0,
    "0 >= cast of x": lambda m, x, _: m.tf.cast(x, m.tf.int32) <= 0,
    "cast to bool == 0": lambda m, x, _: m.tf.equal(m.tf.cast(m.tf.cast(x, m.tf.bool), m.dtype), m(0)),
}

NEUTRAL = [*((n, NUMBERS, f) for n, f in _NUMBERS.items()), *((n, FLOATS, f) for n, f in _OF_FLOATS.items())]
REORDERED = [
    *((n, NUMBERS, f) for n, f in _REORDERED.items()),
    *((n, FLOATS, f) for n, f in _REORDERED_OF_FLOATS.items()),
]
ACTIVATIONS = [
    *((n, NUMBERS, f) for n, f in _ACTIVATIONS.items()),
    *((n, (*FLOATS, *SIGNED), f) for n, f in _ACTIVATIONS_OF_SIGNED.items()),
    *((f"{n} (floats)", FLOATS, f) for n, f in _ACTIVATIONS_OF_FLOATS.items()),
]
COMPARISONS = [(n, NUMBERS, f) for n, f in _COMPARISONS.items()]
