# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Files with wrong fusions that were not checked: wrong for some kinds of numbers only, as ``verify`` has to draw."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import litefuse
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from tests.tensorflow.process import TensorFlow


class Body(NamedTuple):
    """A composite of ``x``.

    Attributes:
        body: Of tf and the argument.
        computed: The same in numpy, of the argument in float64 and a constant.
        right: The right constant.
        wrong: A wrong one.
    """

    body: Callable[[Any, Any], Any]
    computed: Callable[[Any, float], Any]
    right: float
    wrong: float


def _norm(tf: Any, x: Any) -> Any:
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3)


def _same_norm(x: Any, epsilon: float) -> Any:
    x = np.asarray(x)
    norm: Any = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    return norm


def _nearest(x: Any, way: float) -> Any:
    return np.where(np.mod(x, 1) == 0.5, np.floor(x + way) if way else np.rint(x), np.rint(x))


def _beside(x: Any, factor: float, large: float) -> Any:
    return x * [0, factor, factor, factor] + [large, 0, 0, 0]


def _from_one(x: Any, factor: float) -> Any:
    """One step of a tanh is all that is left of it beside -1."""
    return (np.tanh(x.astype(np.float32)) + 1) * np.where(x < -1, factor, 1)


def _by_score(x: Any, factor: float) -> Any:
    """Of scores that float32 makes equal, any may come first."""
    return np.take_along_axis(x, np.argsort(1 / (1 + np.exp(-x)), axis=-1, kind="stable"), -1) * factor


BODIES: Mapping[str, Body] = {
    "epsilon": Body(_norm, _same_norm, 1e-3, 1.01e-3),
    "root": Body(
        lambda tf, x: x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-6),
        lambda x, epsilon: x / np.sqrt(np.mean(x * x, -1, keepdims=True) + epsilon),
        1e-6,
        1e-5,
    ),
    "half": Body(lambda tf, x: tf.round(x), _nearest, 0.0, 0.5),
    "undefined": Body(
        lambda tf, x: tf.where(tf.math.is_nan(x), tf.zeros_like(x), x),
        lambda x, value: np.where(np.isnan(x), value, x),
        0.0,
        np.nan,
    ),
    "six": Body(lambda tf, x: tf.nn.relu6(x), lambda x, cap: x.clip(0, cap), 6.0, 6.01),
    "ten": Body(lambda tf, x: tf.exp(tf.minimum(x, 10.0)), lambda x, cap: np.exp(np.minimum(x, cap)), 10.0, 80.0),
    "hundred": Body(lambda tf, x: tf.clip_by_value(x, 0.0, 100.0), lambda x, cap: x.clip(0, cap), 100.0, 1e9),
    "overflow": Body(lambda tf, x: tf.nn.softplus(x), lambda x, cap: np.logaddexp(0, x) / (x < cap), np.inf, 88.0),
    "mask": Body(lambda tf, x: x * [0.0, 1, 1, 1] + [-1e9, 0, 0, 0], lambda x, one: _beside(x, one, -1e9), 1.0, 1.01),
    "offset": Body(lambda tf, x: x * [0.0, 1, 1, 1] + [1e6, 0, 0, 0], lambda x, one: _beside(x, one, 1e6), 1.0, 1.5),
    "greater": Body(
        lambda tf, x: tf.where(x > 0.25, x, tf.zeros_like(x)),
        lambda x, limit: np.where(x > limit, x, 0),
        0.25,
        0.24999999,
    ),
    "score": Body(
        lambda tf, x: tf.where(tf.sigmoid(x) > 0.3, x, tf.zeros_like(x)),
        lambda x, limit: np.where(1 / (1 + np.exp(-x)) > limit, x, 0),
        0.3,
        0.31,
    ),
    "cancels": Body(lambda tf, x: tf.tanh(x) + 1.0, _from_one, 1.0, 1.01),
    "order": Body(
        lambda tf, x: tf.gather(x, tf.argsort(tf.sigmoid(x), stable=True), batch_dims=1), _by_score, 1.0, 1.01
    ),
}
# Numbers that move results of the others make all scores equal.
TOGETHER = {name: body for name, body in BODIES.items() if name != "order"}


@litefuse.custom_op("Nearly")
class Nearly(litefuse.CustomOp):
    """Computes what a composite computes, with a constant."""

    def prepare(self, x: litefuse.TensorSpec) -> litefuse.TensorSpec:
        return litefuse.TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Any, *, name: str, constant: float) -> None:
        with np.errstate(all="ignore"):
            outputs[0] = BODIES[name].computed(inputs[0].astype(np.float64), constant).astype(np.float32)


@litefuse.fusion(*(f"nearly_{name}_{how}" for name in BODIES for how in ("right", "wrong")))
class NearlyFused(litefuse.Fusion):
    """A composite by the kernel."""

    def rewrite(self, composite: Composite, b: Builder) -> Any:
        _, name, how = composite.name.split("_")
        constant = getattr(BODIES[name], how)
        return b.custom("Nearly", composite.args, composite.result_types, {"name": name, "constant": constant})


def several(tf: Any) -> Any:
    composites = {
        f"{name}_{how}": tf.function(
            partial(body.body, tf), experimental_implements=f"nearly_{name}_{how}", autograph=False
        )
        for name, body in TOGETHER.items()
        for how in ("right", "wrong")
    }
    return serving(
        tf, lambda x: {name: composite(x) for name, composite in composites.items()}, ("x", [None, 4], "float32")
    )


def test_each_wrong_fusion_differs_and_no_right_one(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(several)
    result = litefuse.convert(path, checks=litefuse.Checks(fusions=False), require_fused=True)
    verification = litefuse.verify_model(result, path)
    assert {each.name: each.verdict for each in verification.outputs} == {
        f"{name}_{how}": verdict for name in TOGETHER for how, verdict in (("right", "equal"), ("wrong", "differs"))
    }
    differing = [each.problem for each in verification.outputs if not each.ok]
    assert sum(" for " in problem and ", with " in problem for problem in differing) >= 6, differing


def frozen(tf: Any, path: str, name: str, dtype: str) -> None:
    composite = tf.function(partial(BODIES[name].body, tf), experimental_implements=f"nearly_{name}_right")
    both = tf.function(lambda x: (composite(x), x * 2), autograph=False)
    concrete = both.get_concrete_function(tf.TensorSpec([None, 4], dtype, "x"))
    tf.io.write_graph(concrete.graph.as_graph_def(), *os.path.split(path), as_text=False)


@pytest.mark.parametrize(("name", "dtype"), [("cancels", "float64"), ("order", "float32")])
def test_a_frozen_graph_whose_rounding_the_file_hides_is_equal(
    tensorflow: TensorFlow, tmp_path: Path, name: str, dtype: str
) -> None:
    path = tmp_path / "model.pb"
    tensorflow.call(frozen, str(path), name, dtype)
    options: dict[str, Any] = {
        "graph": litefuse.Graph(outputs=["Identity"]),
        "dtypes": "narrow",
        "rename": {"x": "image"},
    }
    result = litefuse.convert(path, checks=litefuse.Checks(fusions=False), require_fused=True, **options)
    assert litefuse.verify_model(result, path).verdict == "equal"
