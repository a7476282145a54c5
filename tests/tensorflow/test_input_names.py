# pyright: reportUnknownLambdaType=false
"""Names of inputs in nested arguments, in the signature of a live function or model."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from litefuse.frontends.saved_model.loader import load
from litefuse.frontends.source_of import source_of
from tests.tensorflow.checking import normal
from tests.tensorflow.live_models import check_there, error_there, keras_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.tensorflow.process import TensorFlow


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclasses.dataclass
class Scaled:
    """A data class as TensorFlow takes it."""

    scale: float
    left: Any
    right: Any

    def __tf_flatten__(self) -> tuple[Any, Any]:
        return (self.scale,), (self.left, self.right)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> Scaled:
        return cls(*metadata, *components)


def names_of(tf: Any, model: Any) -> tuple[list[str], list[str]]:
    del tf
    with tempfile.TemporaryDirectory() as folder:
        write = source_of(model).write
        assert write is not None
        write(Path(folder, "model"))
        signature = load(Path(folder, "model")).signatures["serving_default"]
        return sorted(each.name for each in signature.inputs), sorted(each.name for each in signature.outputs)


def traced(tf: Any, case: str) -> Any:
    """A function with arguments of some structure, that adds up all that is in them."""
    row = tf.TensorSpec([None], tf.float32)

    def named(name: str) -> Any:
        return tf.TensorSpec([None], tf.float32, name)

    def total(*structures: Any) -> Any:
        tensors = [each for each in tf.nest.flatten(structures, expand_composites=True) if tf.is_tensor(each)]
        return tf.add_n([each for each in tensors if each.dtype == tf.float32])

    def by_keyword(x: Any, *, z: Any, past: Any = None, flag: bool = True, a: int = 3) -> Any:
        assert flag
        assert a == 3
        return total(x, z, past)

    def two(x: Any, y: Any = None) -> Any:
        return total(x, y)

    def starred(*args: Any, **kwargs: Any) -> Any:
        return total(args, kwargs)

    cases: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
        "dictionary": (two, ({"ids": row, "past": ((row, row), [row])},), {}),
        "beside another": (two, ({"ids": row, "past": [row]}, row), {}),
        "list": (two, ([row, (row, row)],), {}),
        "two dictionaries": (two, ({"a": row}, {"b": row, "c": {"d": row}}), {}),
        "equal keys": (two, ({"a": row, "b": row}, {"a": row}), {}),
        "a key like an argument": (two, ({"y": row, "b": row}, row), {}),
        "keys that run together": (two, ({"a_0": row, "a": [row]},), {}),
        "numbers as keys": (two, ({0: row, 7: row},), {}),
        "by keyword": (by_keyword, (row,), {"z": row, "past": [row, row]}),
        "any arguments": (starred, (row, [row], {"k": row}), {"b": row, "a": {"c": row}}),
        "without tensors": (two, ({"a": None, "b": (None, row), "c": "text", "d": 3, "e": [], "f": {}},), {}),
        "specs": (two, ({"a": named("mine"), "b": row, "c": [named("other/one")]},), {}),
        "equal specs": (two, ({"a": named("mine"), "b": row, "c": named("mine")},), {}),
        "characters": (two, ({"größe": row, "b c": row, "class": row, "_x": row, "日本": row, "": row},), {}),
        "characters of specs": (two, (named("größe"), named("x:0")), {}),
        "named tuple": (two, (Pair(row, Pair(row, row)),), {}),
        "data class": (lambda x: Scaled(3.0, x.left, x.right + 1.0), (Scaled(2.0, row, row),), {}),
        "ragged": (two, ({"r": tf.RaggedTensorSpec([None, None]), "a": [row]},), {}),
        "ragged alone": (two, (tf.RaggedTensorSpec([None, None]),), {}),
        "an object": (two, ({"a": row}, tf.TensorShape([1])), {}),
        "none": (lambda: tf.constant(1.0), (), {}),
    }
    function, args, kwargs = cases[case]
    return tf.function(function, autograph=False).get_concrete_function(*args, **kwargs)


def names_of_case(tf: Any, case: str) -> Any:
    return names_of(tf, traced(tf, case))


@pytest.mark.parametrize(
    ("case", "names"),
    [
        ("dictionary", ["ids", "past_0_0", "past_0_1", "past_1_0"]),
        ("beside another", ["ids", "past_0", "y"]),
        ("list", ["x_0", "x_1_0", "x_1_1"]),
        ("two dictionaries", ["a", "b", "c_d"]),
        ("equal keys", ["x_a", "x_b", "y_a"]),
        ("a key like an argument", ["x_b", "x_y", "y"]),
        ("keys that run together", ["x_a_0", "x_a_0_1"]),
        ("numbers as keys", ["x_0", "x_7"]),
        ("by keyword", ["past_0", "past_1", "x", "z"]),
        ("any arguments", ["args_0", "args_1_0", "b", "c", "k"]),
        ("without tensors", ["b_1"]),
        ("specs", ["b", "mine", "other/one"]),
        ("equal specs", ["b", "mine", "mine_1"]),
        ("characters", ["b_c", "gr__e", "input_", "input__1", "input_class", "input_x"]),
        ("characters of specs", ["gr__e", "x_0"]),
        ("named tuple", ["left", "right_left", "right_right"]),
        ("data class", ["left", "right"]),
        ("ragged", ["a_0", "r", "r_1"]),
        ("ragged alone", ["x", "x_1"]),
        ("an object", ["x"]),  # as TensorFlow names it: it does not keep what the function was called with
        ("none", []),
    ],
)
def test_inputs_are_named_by_the_keys_that_lead_to_them(
    tensorflow: TensorFlow, case: str, names: Sequence[str]
) -> None:
    inputs, outputs = tensorflow.call(names_of_case, case)
    assert inputs == names
    assert outputs == (["left", "right"] if case == "data class" else ["output_0"])


def wrapped_and_loaded(tf: Any) -> dict[str, Any]:
    """Functions that were not traced here: their inputs have names already, which stay."""
    spec = tf.TensorSpec([None], tf.float32)
    function = tf.function(lambda x: x["a"] * x["b"][0])
    concrete = function.get_concrete_function({"a": spec, "b": [spec]})
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(tf.Module(), folder, signatures=concrete)
        loaded = tf.saved_model.load(folder)
        wrapped = tf.compat.v1.wrap_function(lambda x: x * 2.0, [spec])
        models = {"wrapped": wrapped, "loaded": loaded, "signature": loaded.signatures["serving_default"]}
        return {name: names_of(tf, model) for name, model in models.items()}


def given_a_variable(tf: Any) -> Any:
    variable = tf.Variable(1.0)
    return tf.function(lambda x: x["a"] * x["b"]).get_concrete_function({"a": tf.TensorSpec([2]), "b": variable})


def test_a_variable_as_an_input_is_refused_by_tensorflow(tensorflow: TensorFlow) -> None:
    text, _ = tensorflow.call(error_there, given_a_variable, ())
    assert "Functions that expect tf.Variable inputs cannot be exported as signatures" in text


def test_names_that_tensorflow_fixed_stay(tensorflow: TensorFlow) -> None:
    names = tensorflow.call(wrapped_and_loaded)
    assert names["loaded"] == names["signature"] == (["x", "x_1"], ["output_0"])
    assert names["wrapped"] == (["tensor_0"], ["output_0"])


def with_a_cache(tf: Any, kind: str) -> Any:
    """One step of a decoder: what it returns is called as what it takes."""
    keras = keras_of(tf, "keras")
    dense = keras.layers.Dense(3)
    dense.build((None, 3))

    def step(inputs: Mapping[str, Any]) -> Any:
        key, value = inputs["cache"][0]
        x = dense(inputs["x"][:, None]) / 10.0
        key, value = tf.concat([key, x], 1), tf.concat([value, x * 2.0], 1)
        return {"y": tf.reduce_sum(key * value, 1), "cache": ((key, value),)}

    class Step(keras.Model):
        def call(self, inputs: Any) -> Any:
            return step(inputs)

    row, cache = tf.TensorSpec([None, 3]), tf.TensorSpec([None, None, 3])

    def named(outputs: Any) -> Any:
        return {"y": outputs["y"], "cache_0_0": outputs["cache"][0][0], "cache_0_1": outputs["cache"][0][1]}

    def begin(x: Any) -> Any:
        return step({"x": x, "cache": ((x[:, None], x[:, None]),)})

    if kind == "module":
        model = tf.Module()
        model.begin = tf.function(begin, input_signature=[row])
        model.step = tf.function(step, input_signature=[{"x": row, "cache": ((cache, cache),)}])
    elif kind == "function":
        model = tf.function(step, input_signature=[{"x": row, "cache": ((cache, cache),)}])
    else:
        model = Step()
        model({"x": np.ones((1, 3), np.float32), "cache": ((np.ones((1, 4, 3), np.float32),) * 2,)})

    def reference(x: Any, cache_0_0: Any, cache_0_1: Any) -> Any:
        return named(step({"x": x, "cache": ((cache_0_0, cache_0_1),)}))

    return model, {"serving_default": reference, "step": reference, "begin": lambda x: named(begin(x))}


@pytest.mark.parametrize("kind", ["function", "model", "module"])
def test_caches_go_in_and_out_under_the_same_names(tensorflow: TensorFlow, kind: str) -> None:
    lengths = (4, 4, 4) if kind == "model" else (0, 5, 1)
    inputs = [
        {**each, **normal({"cache_0_0": (batch, length, 3), "cache_0_1": (batch, length, 3)})[0]}
        for length, batch in zip(lengths, (1, 2, 3), strict=True)
        for each in normal({"x": (batch, 3)})[:1]
    ]
    if kind != "module":
        check_there(tensorflow, with_a_cache, kind, inputs=inputs)
        return
    calls = [
        (key, {"x": each["x"]} if key == "begin" else each) for each in inputs for key in ("begin", "step", "step")
    ]
    check_there(tensorflow, with_a_cache, kind, calls=calls)
