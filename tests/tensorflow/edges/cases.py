"""Ops, and the numbers at the edge of what floats can hold that they are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
Function: TypeAlias = Callable[[Any, Any], Any]
FunctionOfTwo: TypeAlias = Callable[[Any, Any, Any], Any]

LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).tiny)
DENORMAL = 1e-40
_NAN, _INF = float("nan"), float("inf")

_UNARY = (
    *(_NAN, _INF, -_INF, LARGEST, -LARGEST, 1e38, 1e30, -1e30, 2e15, 3e9, 1e8, 1e6, 1e4, 300.0, -300.0),
    *(104.0, -104.0, 89.0, -88.0, 20.0, 2.5, 1.5, -1.5, 1.0, -1.0, 0.5, -0.5, 0.0, -0.0),
    *(SMALLEST, -SMALLEST, DENORMAL, -DENORMAL),
)
# Numbers of float16: its largest, its smallest that is not denormal, and one that is.
_HALF = (_NAN, _INF, -_INF, 65504.0, -65504.0, 1e4, 300.0, -300.0, 12.0, -12.0, 1.5, 0.0, -0.0, 2.0**-14, 2.0**-24)
_BINARY = (_NAN, _INF, -_INF, LARGEST, -LARGEST, 3.0, -2.0, 0.5, 0.0, -0.0, SMALLEST)
_WIDTH = 12
_PLAIN = tuple(float(number % 4 + 1) for number in range(_WIDTH))


@dataclass(frozen=True)
class Family:
    """Ops with the same inputs.

    Attributes:
        name: What they have in common.
        inputs: The inputs: an element, or a row, for each case.
        labels: What the cases are called.
        ops: The ops by their names: functions of ``tf`` and of the inputs, with a result for each case.
    """

    name: str
    inputs: tuple[Array, ...]
    labels: Sequence[str]
    ops: Mapping[str, Function] | Mapping[str, FunctionOfTwo]


def text(value: float) -> str:
    """What a number is called."""
    names = {LARGEST: "max", SMALLEST: "tiny", 0.0: "0", DENORMAL: "denormal"}
    if np.isnan(value):
        return "NaN"
    size = float(np.abs(value))
    digits, _, exponent = f"{size:.6g}".partition("e")
    plain = f"{digits}e{int(exponent)}" if exponent else digits
    name = next((name for number, name in names.items() if np.float32(size) == np.float32(number)), plain)
    return f"-{name}" if np.signbit(value) else name


def _floats(values: Sequence[float] | Sequence[Sequence[float]]) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return np.array(values, np.float32)


_UNARY_OPS: Mapping[str, Function] = {
    "abs": lambda tf, x: tf.abs(x),
    "negative": lambda tf, x: tf.negative(x),
    "sign": lambda tf, x: tf.sign(x),
    "floor": lambda tf, x: tf.floor(x),
    "ceil": lambda tf, x: tf.math.ceil(x),
    "round": lambda tf, x: tf.round(x),
    "exp": lambda tf, x: tf.exp(x),
    "expm1": lambda tf, x: tf.math.expm1(x),
    "log": lambda tf, x: tf.math.log(x),
    "log1p": lambda tf, x: tf.math.log1p(x),
    "square": lambda tf, x: tf.square(x),
    "sqrt": lambda tf, x: tf.sqrt(x),
    "rsqrt": lambda tf, x: tf.math.rsqrt(x),
    "reciprocal": lambda tf, x: tf.math.reciprocal(x),
    "sin": lambda tf, x: tf.sin(x),
    "cos": lambda tf, x: tf.cos(x),
    "tan": lambda tf, x: tf.tan(x),
    "atan": lambda tf, x: tf.atan(x),
    "sinh": lambda tf, x: tf.sinh(x),
    "cosh": lambda tf, x: tf.cosh(x),
    "tanh": lambda tf, x: tf.tanh(x),
    "erf": lambda tf, x: tf.math.erf(x),
    "sigmoid": lambda tf, x: tf.sigmoid(x),
    "log_sigmoid": lambda tf, x: tf.math.log_sigmoid(x),
    "softplus": lambda tf, x: tf.nn.softplus(x),
    "softsign": lambda tf, x: tf.nn.softsign(x),
    "elu": lambda tf, x: tf.nn.elu(x),
    "selu": lambda tf, x: tf.nn.selu(x),
    "relu": lambda tf, x: tf.nn.relu(x),
    "relu6": lambda tf, x: tf.nn.relu6(x),
    "leaky_relu": lambda tf, x: tf.nn.leaky_relu(x),
    "silu": lambda tf, x: tf.nn.silu(x),
    "gelu": lambda tf, x: tf.nn.gelu(x),
    "gelu, approximate": lambda tf, x: tf.nn.gelu(x, approximate=True),
    "hard_swish": lambda tf, x: x * tf.nn.relu6(x + 3.0) / 6.0,
    "hard_sigmoid": lambda tf, x: tf.nn.relu6(x + 3.0) / 6.0,
    "clip_by_value": lambda tf, x: tf.clip_by_value(x, -2.0, 2.0),
    "x ** 3": lambda tf, x: x**3,
    "2 ** x": lambda tf, x: 2.0**x,
    "x * 0": lambda tf, x: x * tf.constant(0.0),
    "fake_quant": lambda tf, x: tf.quantization.fake_quant_with_min_max_args(x, -6.0, 6.0),
    "is_nan": lambda tf, x: tf.math.is_nan(x),
    "is_inf": lambda tf, x: tf.math.is_inf(x),
    "is_finite": lambda tf, x: tf.math.is_finite(x),
    "cast to bool": lambda tf, x: tf.cast(x, tf.bool),
    "cast to int8": lambda tf, x: tf.cast(x, tf.int8),
    "cast to uint8": lambda tf, x: tf.cast(x, tf.uint8),
    "cast to int16": lambda tf, x: tf.cast(x, tf.int16),
    "cast to int32": lambda tf, x: tf.cast(x, tf.int32),
    "cast to int64": lambda tf, x: tf.cast(x, tf.int64),
    "cast to float16": lambda tf, x: tf.cast(tf.cast(x, tf.float16), tf.float32),
}

# EXP and DIV of float16 are ops of XNNPACK alone.
_OF_HALVES = (
    *("abs", "sign", "round", "log", "square", "sqrt", "rsqrt", "sin", "tanh", "sigmoid", "softplus", "elu", "selu"),
    *("relu", "relu6", "silu", "clip_by_value", "cast to int32"),
)
_HALF_OPS: Mapping[str, Function] = {f"{name}, float16": _UNARY_OPS[name] for name in _OF_HALVES}

_BINARY_OPS: Mapping[str, FunctionOfTwo] = {
    "add": lambda tf, a, b: tf.add(a, b),
    "subtract": lambda tf, a, b: tf.subtract(a, b),
    "multiply": lambda tf, a, b: tf.multiply(a, b),
    "divide": lambda tf, a, b: tf.divide(a, b),
    "divide_no_nan": lambda tf, a, b: tf.math.divide_no_nan(a, b),
    "floordiv": lambda tf, a, b: tf.math.floordiv(a, b),
    "floormod": lambda tf, a, b: tf.math.floormod(a, b),
    "truncatemod": lambda tf, a, b: tf.truncatemod(a, b),
    "pow": lambda tf, a, b: tf.pow(a, b),
    "maximum": lambda tf, a, b: tf.maximum(a, b),
    "minimum": lambda tf, a, b: tf.minimum(a, b),
    "squared_difference": lambda tf, a, b: tf.math.squared_difference(a, b),
    "atan2": lambda tf, a, b: tf.atan2(a, b),
    "equal": lambda tf, a, b: tf.equal(a, b),
    "not_equal": lambda tf, a, b: tf.not_equal(a, b),
    "less": lambda tf, a, b: tf.less(a, b),
    "less_equal": lambda tf, a, b: tf.less_equal(a, b),
    "where(a > b, a, b)": lambda tf, a, b: tf.where(a > b, a, b),
    "prelu": lambda tf, a, b: tf.where(a > 0.0, a, a * b),
}


def _image(tf: Any, x: Any) -> Any:
    return tf.reshape(x, [-1, 2, 2, 3])


def _weights(*shape: int) -> npt.NDArray[np.float32]:
    """Weights from 0 to 1: sums of large numbers are infinite, and do not depend on their order."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 5 / 4.0


_ROW_OPS: Mapping[str, Function] = {
    "reduce_sum": lambda tf, x: tf.reduce_sum(x, -1),
    "reduce_mean": lambda tf, x: tf.reduce_mean(x, -1),
    "reduce_prod": lambda tf, x: tf.reduce_prod(x, -1),
    "reduce_max": lambda tf, x: tf.reduce_max(x, -1),
    "reduce_min": lambda tf, x: tf.reduce_min(x, -1),
    "reduce_variance": lambda tf, x: tf.math.reduce_variance(x, -1),
    "reduce_logsumexp": lambda tf, x: tf.reduce_logsumexp(x, -1),
    "argmax": lambda tf, x: tf.argmax(x, -1),
    "argmin": lambda tf, x: tf.argmin(x, -1),
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "log_softmax": lambda tf, x: tf.nn.log_softmax(x),
    "l2_normalize": lambda tf, x: tf.math.l2_normalize(x, -1),
    "cumsum": lambda tf, x: tf.cumsum(x, -1),
    "top_k": lambda tf, x: tf.math.top_k(x, 3)[0],
    "top_k, places": lambda tf, x: tf.math.top_k(x, 3)[1],
    "sort": lambda tf, x: tf.sort(x, -1),
    "batch_normalization": lambda tf, x: tf.nn.batch_normalization(x, 1.0, 4.0, 0.5, 2.0, 1e-3),
    "max_pool2d": lambda tf, x: tf.nn.max_pool2d(_image(tf, x), 2, 1, "SAME"),
    "avg_pool2d": lambda tf, x: tf.nn.avg_pool2d(_image(tf, x), 2, 1, "SAME"),
    "resize, bilinear": lambda tf, x: tf.image.resize(_image(tf, x), [3, 3]),
    "matmul": lambda tf, x: tf.matmul(x, _weights(_WIDTH, 3)),
    "conv2d": lambda tf, x: tf.nn.conv2d(_image(tf, x), _weights(2, 2, 3, 3), 1, "SAME"),
    "depthwise_conv2d": lambda tf, x: tf.nn.depthwise_conv2d(_image(tf, x), _weights(2, 2, 3, 1), [1] * 4, "SAME"),
    "conv2d and relu": lambda tf, x: tf.nn.relu(tf.nn.conv2d(_image(tf, x), _weights(2, 2, 3, 3), 1, "SAME")),
}


def _rows() -> tuple[list[str], list[tuple[float, ...]]]:
    """Rows of plain numbers with others in their place: at the beginning, within and at the end."""
    cases: dict[str, tuple[float, ...]] = {"1, 2, 3, 4, ...": _PLAIN}
    for value in (_NAN, _INF, -_INF, LARGEST, -LARGEST, 1e30, DENORMAL):
        for place, where in ((0, "first"), (6, "amid"), (_WIDTH - 1, "last")):
            cases[f"{text(value)} {where}"] = (*_PLAIN[:place], value, *_PLAIN[place + 1 :])
        cases[f"all {text(value)}"] = (value,) * _WIDTH
    for pair in ((_INF, -_INF), (_NAN, _INF), (LARGEST, LARGEST), (_INF, LARGEST)):
        cases[" and ".join(map(text, pair))] = (*pair, *_PLAIN[2:])
    cases |= {"all 0": (0.0,) * _WIDTH, "all 1e38": (1e38,) * _WIDTH, "all -300": (-300.0,) * _WIDTH}
    return [*cases], [*cases.values()]


_PAIRS = [(a, b) for a in _BINARY for b in _BINARY]
_LABELS, _ROWS = _rows()
FAMILIES = (
    Family("unary", (_floats(_UNARY),), [text(value) for value in _UNARY], _UNARY_OPS),
    Family(
        "binary",
        (_floats([a for a, _ in _PAIRS]), _floats([b for _, b in _PAIRS])),
        [f"{text(a)}, {text(b)}" for a, b in _PAIRS],
        _BINARY_OPS,
    ),
    Family("float16", (np.array(_HALF, np.float16),), [text(value) for value in _HALF], _HALF_OPS),
    Family("rows", (_floats(_ROWS),), _LABELS, _ROW_OPS),
)


def module(tf: Any, name: str, ops: Sequence[str] | None) -> Any:
    """A model of ops of a family, with an output for each; all of them if none are named."""
    family = next(family for family in FAMILIES if family.name == name)
    functions: list[Callable[..., Any]] = [family.ops[op] for op in (family.ops if ops is None else ops)]

    def serve(*inputs: Any) -> dict[str, Any]:
        return {f"y{number:03}": function(tf, *inputs) for number, function in enumerate(functions)}

    made = tf.Module()
    specifications = [tf.TensorSpec(x.shape, x.dtype, name=f"x{number}") for number, x in enumerate(family.inputs)]
    made.serve = tf.function(serve, input_signature=specifications, autograph=False)
    return made, {"serving_default": made.serve}
