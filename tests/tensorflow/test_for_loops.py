# pyright: reportUnknownLambdaType=false
"""TensorFlow's loop over a range, and the ops that write into their operand, which its bodies have."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, op_counts
from tests.tensorflow.control_flow import assert_uses
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow


def _internals() -> tuple[Any, Any]:
    """TensorFlow's modules ``function`` and ``functional_ops``, which are not public."""
    names = ("framework.function", "ops.functional_ops")
    function, functional_ops = (importlib.import_module(f"tensorflow.python.{name}") for name in names)
    return function, functional_ops


def polynomial(tf: Any, start: int | None, limit: int | None, delta: int | None) -> Any:
    """``None`` stands for an input of the model."""
    function, functional_ops = _internals()

    bounds = {"start": start, "limit": limit, "delta": delta}
    inputs = [name for name, value in bounds.items() if value is None]

    def serve(x: Any, *given: Any) -> Any:
        @function.Defun(tf.int32, tf.float32, tf.int32)
        def step(i: Any, y: Any, count: Any) -> Any:
            return y * 0.5 + tf.cast(i, tf.float32), count + 1

        known = dict(zip(inputs, given, strict=True))
        values = [known.get(name, value) for name, value in bounds.items()]
        y, count = functional_ops.For(*values, [x, tf.constant(0)], step)
        return {"y": y, "count": count}

    specs: list[tuple[str, list[int | None], str]] = [(name, [], "int32") for name in inputs]
    return serving(tf, serve, ("x", [None, 2], "float32"), *specs)


@pytest.mark.parametrize(
    ("start", "limit", "delta"), [(0, 4, 1), (4, 0, -1), (0, 5, 2), (5, -4, -3), (3, 3, 1), (-2, 1, 1), (7, 9, 5)]
)
@pytest.mark.parametrize("open_bounds", [(), ("limit",), ("start", "limit", "delta")], ids=len)
def test_for(tensorflow: TensorFlow, start: int, limit: int, delta: int, open_bounds: tuple[str, ...]) -> None:
    bounds = {"start": start, "limit": limit, "delta": delta}
    path = tensorflow.save(polynomial, *(None if name in open_bounds else value for name, value in bounds.items()))
    assert_uses(tensorflow, path, "For")
    given = {name: np.array(bounds[name], np.int32) for name in open_bounds}
    inputs = [{"x": np.random.default_rng(n).standard_normal([n, 2]).astype(np.float32)} | given for n in (1, 3, 2)]
    check(tensorflow, path, inputs)


def nested(tf: Any) -> Any:
    """A loop in a loop, with a variable that both read, and one that the inner one writes."""
    _, functional_ops = _internals()

    module = tf.Module()
    module.weight = tf.Variable(np.arange(1, 4, dtype=np.float32))
    module.calls = tf.Variable(np.zeros([], np.float32))
    spec = tf.TensorSpec

    @tf.function(input_signature=[spec([], tf.int32), spec([3], tf.float32)])
    def inner(i: Any, y: Any) -> Any:
        module.calls.assign_add(1.0)
        return y + module.weight * tf.cast(i, tf.float32)

    @tf.function(input_signature=[spec([], tf.int32), spec([3], tf.float32)])
    def outer(i: Any, y: Any) -> Any:
        (z,) = functional_ops.For(0, i, 1, [y], inner.get_concrete_function())
        return tf.cond(i > 1, lambda: z - module.weight, lambda: z)

    @tf.function(input_signature=[spec([3], tf.float32, name="x"), spec([], tf.int32, name="n")])
    def serve(x: Any, n: Any) -> Any:
        (y,) = functional_ops.For(0, n, 1, [x], outer.get_concrete_function())
        return {"y": y, "calls": module.calls.read_value()}

    module.serve = serve
    return module, {"serving_default": serve}


def test_nested_loops_over_ranges_with_variables(tensorflow: TensorFlow) -> None:
    x = np.array([1, -2, 3], np.float32)
    inputs = [{"x": x, "n": np.array(n, np.int32)} for n in (3, 0, 1, 4)]
    result = check(tensorflow, tensorflow.save(nested), inputs)
    assert op_counts(result.model_bytes)["WHILE"] == 2


def growing(tf: Any) -> Any:
    """What is handed on gets longer with each step."""
    function, functional_ops = _internals()

    def serve(x: Any, n: Any) -> Any:
        @function.Defun(tf.int32, tf.float32)
        def step(i: Any, y: Any) -> Any:
            return tf.concat([y, tf.reshape(tf.cast(i, tf.float32), [1])], 0)

        (y,) = functional_ops.For(0, n, 1, [x], step)
        return {"y": y}

    return serving(tf, serve, ("x", [None], "float32"), ("n", [], "int32"))


def test_what_a_loop_over_a_range_hands_on_may_grow(tensorflow: TensorFlow) -> None:
    inputs = [{"x": np.array([5, 6], np.float32), "n": np.array(n, np.int32)} for n in (1, 4, 0, 2)]
    check(tensorflow, tensorflow.save(growing), inputs)


_PLACES = {
    "one": [1],
    "counted from the end": [-1],
    "beyond the end": [4, -5],
    "several": [2, 0],
    "twice the same": [1, 2, 1],
    "all": [2, 1, 0],
}


def inplace(tf: Any, op: str, dtype: str, shape: tuple[int | None, ...], places: list[int] | None) -> Any:
    def serve(x: Any, v: Any, *given: Any) -> Any:
        places_of = given[0] if given else tf.constant(places)
        copy = tf.raw_ops.DeepCopy(x=x)
        return {"y": getattr(tf.raw_ops, op)(x=copy, i=places_of, v=v), "x": tf.identity(x)}

    indices: list[tuple[str, list[int | None], str]] = [] if places else [("i", [None], "int32")]
    rows: list[int | None] = [len(places) if places else None, *shape[1:]]
    return serving(tf, serve, ("x", [*shape], dtype), ("v", rows, dtype), *indices)


@pytest.mark.parametrize("open_places", [False, True], ids=["constant", "open"])
@pytest.mark.parametrize("places", _PLACES.values(), ids=list(_PLACES))
@pytest.mark.parametrize("op", ["InplaceUpdate", "InplaceAdd", "InplaceSub"])
def test_inplace(tensorflow: TensorFlow, op: str, places: list[int], open_places: bool) -> None:
    path = tensorflow.save(inplace, op, "float32", (None, 2, 2), None if open_places else places)
    given = {"i": np.array(places, np.int32)} if open_places else {}
    random = np.random.default_rng(0)
    v = random.standard_normal([len(places), 2, 2]).astype(np.float32)
    inputs = [{"x": random.standard_normal([n, 2, 2]).astype(np.float32), "v": v} | given for n in (3, 5)]
    check(tensorflow, path, inputs)


@pytest.mark.parametrize("shape", [(3,), (3, 4)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "bool", "uint8", "float16", "complex64"])
def test_inplace_update_of_other_dtypes(tensorflow: TensorFlow, dtype: str, shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)

    def values(*shape: int) -> Any:
        return random.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)

    path = tensorflow.save(inplace, "InplaceUpdate", dtype, shape, [2, 0])
    check(tensorflow, path, {"x": values(*shape), "v": values(2, *shape[1:])})


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "float16", "uint8", "int64", "complex64"])
def test_empty_tensors_that_are_written(tensorflow: TensorFlow, dtype: str) -> None:
    numbers = np.arange(6).reshape(3, 2).astype(dtype)
    check(tensorflow, tensorflow.save(_filled, dtype), [{"v": numbers}, {"v": numbers[1:2]}])


def _filled(tf: Any, dtype: str) -> Any:
    def serve(v: Any) -> Any:
        x = tf.raw_ops.Empty(shape=tf.shape(v), dtype=dtype, init=True)
        return {"y": tf.raw_ops.InplaceUpdate(x=x, i=tf.zeros([1], tf.int32), v=v[:1])}

    return serving(tf, serve, ("v", [None, 2], dtype))
