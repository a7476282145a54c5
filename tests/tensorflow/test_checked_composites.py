# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""Composites of ops that are rewritten before lowering, or that LiteRT lacks: the self-check converts them alike.

A composite's body is compared with a fused op that computes the same in numpy, and with one that does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import litefuse
from litefuse.litert.runtime.custom_op import registered_kernels
from litefuse.testing import assert_fused, assert_refused
from tests.tensorflow.checking import check
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from tests.tensorflow.process import TensorFlow

_RANDOM = np.random.default_rng(5)
_MATRIX = _RANDOM.standard_normal([4, 3]).astype(np.float32)
_IDS = np.array([0, 0, 2, 4], np.int32)
# What tf.random.stateless_uniform([2, 2], [3, 7]) gives.
_UNIFORM = [[0.8822014331817627, 0.028234124183654785], [0.9534571170806885, 0.003298521041870117]]
_CELL = _RANDOM.standard_normal([8, 16]).astype(np.float32)


class Specification(NamedTuple):
    """A composite of ``x``, and in numpy the same.

    Attributes:
        body: Of tf and the argument.
        same: Of the argument, as an array.
        shape: The argument's.
    """

    body: Callable[[Any, Any], Any]
    same: Callable[[Any], Any]
    shape: tuple[int | None, ...] = (None, 4)


def _segments(x: Any) -> Any:
    sums = np.zeros([5, x.shape[1]], x.dtype)
    np.add.at(sums, _IDS, x)
    return sums


def _erf(x: Any) -> Any:
    return np.vectorize(math.erf)(x)


def _cell(tf: Any, x: Any) -> Any:
    i, f, g, o = tf.split(tf.matmul(x, _CELL), 4, axis=1)
    c = tf.sigmoid(f + 1.0) * x[:, :4] + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(c)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _same_cell(x: Any) -> Any:
    i, f, g, o = np.split(x @ _CELL, 4, axis=1)
    return _sigmoid(o) * np.tanh(_sigmoid(f + 1) * x[:, :4] + _sigmoid(i) * np.tanh(g))


def _norm(tf: Any, x: Any) -> Any:
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3)


SPECIFICATIONS: Mapping[str, Specification] = {
    "atan2": Specification(lambda tf, x: tf.atan2(x, x[:1] + 1), lambda x: np.arctan2(x, x[:1] + 1)),
    "einsum": Specification(lambda tf, x: tf.einsum("abc->ca", x), lambda x: x.sum(1).T, (None, 3, 4)),
    "stateless_uniform": Specification(
        lambda tf, x: x + tf.random.stateless_uniform([2, 2], [3, 7]),
        lambda x: x + np.array(_UNIFORM, np.float32),
        (None, 2, 2),
    ),
    "seven_dimensions": Specification(
        lambda tf, x: tf.reduce_sum(x, [1, 3, 5]), lambda x: x.sum((1, 3, 5)), (None, 2, 2, 2, 2, 2, 3)
    ),
    "reverse": Specification(lambda tf, x: tf.reverse(x, [1, 3]), lambda x: x[:, ::-1, :, ::-1], (None, 3, 2, 4)),
    "segment_sum": Specification(lambda tf, x: tf.math.segment_sum(x, _IDS), _segments, (4, 3)),
    "softplus": Specification(lambda tf, x: tf.nn.softplus(60 * x), lambda x: np.logaddexp(0, 60 * x)),
    "cumprod": Specification(lambda tf, x: tf.math.cumprod(x, 1), lambda x: np.cumprod(x, 1)),
    "erf": Specification(lambda tf, x: x * 0.5 * (1 + tf.math.erf(x)), lambda x: x * 0.5 * (1 + _erf(x))),
    "is_inf": Specification(
        lambda tf, x: tf.cast(tf.math.is_inf(x / tf.nn.relu(x)), tf.float32),
        lambda x: np.where(np.maximum(x, 0) == 0, np.where(x == 0, 0, 1), 0),
    ),
    "expm1": Specification(lambda tf, x: tf.math.expm1(x * 1e-4) * 1e4, lambda x: np.expm1(x * 1e-4) * 1e4),
    "log1p": Specification(lambda tf, x: tf.math.log1p(x * x * 1e-4) * 1e4, lambda x: np.log1p(x * x * 1e-4) * 1e4),
    "powers": Specification(lambda tf, x: tf.pow(x, 3) + tf.pow(x * x + 1, -0.5), lambda x: x**3 + (x * x + 1) ** -0.5),
    "tile": Specification(lambda tf, x: tf.tile(x, [2, 1]) * 0.15, lambda x: np.tile(x, [2, 1]) * 0.15),
    "product_with_zeros": Specification(
        lambda tf, x: tf.matmul(x * tf.constant([0.0, 0, 0, 0]) + x, _MATRIX), lambda x: x @ _MATRIX
    ),
    "tan": Specification(lambda tf, x: tf.tan(tf.tanh(x)), lambda x: np.tan(np.tanh(x))),
    "lstm_cell": Specification(_cell, _same_cell, (None, 8)),
    "layer_norm": Specification(
        _norm, lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-3)
    ),
    "inverse": Specification(
        lambda tf, x: tf.linalg.inv(x * 0.1 + 2 * tf.eye(3)),
        lambda x: np.linalg.inv(x * 0.1 + 2 * np.eye(3)),
        (None, 3, 3),
    ),
}


def _annotation(name: str) -> str:
    return f"checked_{name}"


@litefuse.custom_op("InNumpy")
class InNumpy(litefuse.CustomOp):
    """Computes what a composite computes; ``off`` is added to all of it."""

    def prepare(self, x: litefuse.TensorSpec) -> litefuse.TensorSpec:
        return litefuse.TensorSpec(None, x.dtype)

    def invoke(self, inputs: Any, outputs: Any, *, composite: str, off: float) -> None:
        outputs[0] = (SPECIFICATIONS[composite].same(inputs[0]) + off).astype(np.float32)


@litefuse.fusion(*map(_annotation, SPECIFICATIONS), *(f"{_annotation(name)}_off" for name in SPECIFICATIONS))
class Checked(litefuse.Fusion):
    """What a composite computes, or nearly."""

    def rewrite(self, composite: Composite, b: Builder) -> Any:
        name = composite.name.removeprefix("checked_")
        options = {"composite": name.removesuffix("_off"), "off": 1e-3 if name.endswith("_off") else 0.0}
        return b.custom("InNumpy", composite.args, composite.result_types, options)


def annotated(tf: Any, name: str, ending: str = "") -> Any:
    body, _, shape = SPECIFICATIONS[name]
    function = tf.function(lambda x: body(tf, x), experimental_implements=_annotation(name) + ending)
    return serving(tf, lambda x: {"y": function(x)}, ("x", [*shape], "float32"))


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_equal_composites_are_checked_and_fused(tensorflow: TensorFlow, name: str) -> None:
    shape = SPECIFICATIONS[name].shape
    path = tensorflow.save(annotated, name)
    random = np.random.default_rng(1)
    sizes = (2, 1) if None in shape else (1,)
    inputs = [
        {"x": random.standard_normal([size if each is None else each for each in shape]).astype(np.float32)}
        for size in sizes
    ]
    result = check(tensorflow, path, inputs, rtol=2e-5, custom_ops=[InNumpy], require_fused=True)
    (composite,) = result.report.composites
    assert (composite.outcome, composite.unchecked) == ("fused", None)
    assert composite.error is not None


@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_composites_that_differ_are_not_fused(tensorflow: TensorFlow, name: str) -> None:
    assert_refused(tensorflow.save(annotated, name, "_off"), "checked_*", "it computes something else")


class Doubled(litefuse.CustomOp):
    """Twice its argument."""

    def prepare(self, x: litefuse.TensorSpec) -> litefuse.TensorSpec:
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Any) -> None:
        outputs[0][...] = inputs[0] * 2


class Dawsn(Doubled):
    """In the place of an op that LiteRT lacks; not what TensorFlow computes, which the self-check cannot know."""

    def invoke(self, inputs: Any, outputs: Any) -> None:
        if np.any(inputs[0] > 1e6):
            raise ZeroDivisionError("too large")
        outputs[0][...] = inputs[0] * 2


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litefuse.litert.runtime.custom_op._registered", registered_kernels())
    litefuse.custom_op("Doubled")(Doubled)
    litefuse.custom_op("Dawsn")(Dawsn)


@litefuse.fusion("doubling")
class Doubling(litefuse.Fusion):
    """Twice its argument."""

    def rewrite(self, composite: Composite, b: Builder) -> Any:
        return b.custom("Doubled", composite.args, composite.result_types, {})


_BODIES: Mapping[str, Callable[[Any, Any], Any]] = {
    "a kernel of the pack": lambda tf, x: x * tf.strings.to_number(tf.strings.regex_replace("2#", "#", "")),
    "a registered kernel": lambda tf, x: tf.raw_ops.Dawsn(x=x),
    "no kernel": lambda tf, x: tf.raw_ops.Expint(x=x) * 0 + x * 2,
    "a kernel that raises": lambda tf, x: tf.raw_ops.Dawsn(x=x * 0 + 1e9) * 0 + x * 2,
}


def doubled(tf: Any, kind: str) -> Any:
    doubling = tf.function(lambda x: _BODIES[kind](tf, x), experimental_implements="doubling", autograph=False)
    return serving(tf, lambda x: {"y": doubling(x)}, ("x", [None, 4], "float32"))


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(
    ("kind", "unchecked"),
    [
        ("a kernel of the pack", None),
        ("a registered kernel", None),
        ("no kernel", "LiteRT has no op for Expint; it is checked where there are kernels"),
        ("a kernel that raises", "the composite does not run on random inputs: too large"),
    ],
)
def test_composites_of_ops_that_kernels_compute(tensorflow: TensorFlow, kind: str, unchecked: str | None) -> None:
    assert_fused(tensorflow.save(doubled, kind), "doubling", into="Doubled", unchecked=unchecked)


def wide(tf: Any) -> Any:
    doubling = tf.function(
        lambda x: tf.math.floordiv(x * 4, tf.constant(2, tf.int64)), experimental_implements="doubling"
    )
    return serving(tf, lambda x: {"y": doubling(x)}, ("x", [None, 4], "int64"))


@pytest.mark.usefixtures("kernels")
def test_composites_of_narrowed_models_are_narrowed_too(tensorflow: TensorFlow) -> None:
    assert_fused(tensorflow.save(wide), "doubling", dtypes="narrow")


class Answering(litefuse.CustomOp):
    """A kernel that answers wrongly in one of several ways."""

    def prepare(self, x: litefuse.TensorSpec, *, slip: str) -> Any:
        specs = {"nothing": None, "a shape": x.shape, "another dtype": litefuse.TensorSpec(x.shape, np.int32)}
        return specs.get(slip, litefuse.TensorSpec(x.shape, x.dtype))

    def invoke(self, inputs: Any, outputs: Any, *, slip: str) -> Any:
        if slip == "another shape":
            outputs[0] = np.zeros([7, 4], np.float32)
        elif slip == "an exception":
            raise ValueError("oh")
        return inputs[0] if slip == "a result" else None


@litefuse.fusion("answering")
def answering(b: Builder, x: Any, *, slip: str) -> Any:
    """Runs the kernel that answers wrongly."""
    return b.custom("Answering", [x], [x.type], {"slip": slip})


def answered(tf: Any, slip: str) -> Any:
    composite = tf.function(lambda x: x * 2.0, experimental_implements=litefuse.annotation("answering", slip=slip))
    return serving(tf, lambda x: {"y": composite(x)}, ("x", [None, 4], "float32"))


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(
    ("slip", "problem"),
    [
        ("nothing", "prepare returned None, not a TensorSpec or a sequence of them. Return TensorSpec(shape, dtype)"),
        ("a shape", "prepare returned (1, 4), not a TensorSpec"),
        ("another dtype", "is float32 in the model, but prepare returned int32"),
        ("another shape", "is float32[1, 4], but invoke assigned float32[7, 4]"),
        ("an exception", "ValueError: oh"),
        ("a result", "invoke returned ndarray, but it returns nothing. Write to outputs[0][...]"),
    ],
)
def test_kernels_that_answer_wrongly_are_named(tensorflow: TensorFlow, slip: str, problem: str) -> None:
    litefuse.custom_op("Answering")(Answering)
    result = assert_refused(tensorflow.save(answered, slip), "answering", problem)
    assert f"{__file__}" in (result.report.composites[0].reason or "")
