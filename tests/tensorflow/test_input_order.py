# pyright: reportUnknownLambdaType=false
"""Indices of inputs and outputs: they are in the order of the model's own arguments and results."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.frontends.saved_model import load
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.inspection.saved_model_facts import InspectionJob, SavedModelFacts
from litefuse.litert.runtime.model_reader import Model
from litefuse.support.processes.process import run_in_worker
from tests.tensorflow.checking import interpreter
from tests.tensorflow.live_models import keras_of, randomize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

WAYS = ("live", "saved", "saved again")


def rows(count: int) -> list[npt.NDArray[np.float32]]:
    """Inputs of one shape and a batch of 3, which only their order tells apart."""
    random = np.random.default_rng(11)
    return [random.standard_normal([3, 2]).astype(np.float32) for _ in range(count)]


def converted(tf: Any, builder: Callable[..., Any], args: Sequence[Any], way: str, inputs: Any) -> tuple[bytes, Any]:
    """The file of a model, and what its signatures give for arguments in their own order, in two calls each."""
    model, functions, calls = builder(tf, *args)
    with tempfile.TemporaryDirectory() as folder:
        given = model
        if way != "live":
            given = str(Path(folder, "model"))
            if functions is None:  # of Keras
                (model.save if hasattr(model, "save_spec") else functools.partial(model.export, verbose=False))(given)
            else:
                tf.saved_model.save(model, given, signatures=functions)
        if way == "saved again":
            loaded = tf.saved_model.load(given)
            given = str(Path(folder, "again"))
            tf.saved_model.save(loaded, given, signatures=dict(loaded.signatures))
        data = litefuse.convert(given).model_bytes
    return data, {
        key: [[np.asarray(value) for value in call(*map(tf.constant, inputs[key]))] for _ in range(2)]
        for key, call in calls.items()
    }


def by_index(model: bytes, key: str, inputs: Sequence[Any]) -> list[list[Any]]:
    """The outputs of two calls of a signature, given and taken by indices, as in C and on microcontrollers."""
    facts = Model(model)
    signature = facts.signatures[key]
    graph = facts.graphs[signature.graph]
    assert {*graph.inputs} == {*signature.inputs.values()}
    taken = {index: name for name, index in signature.inputs.items()}
    given = {index: name for name, index in signature.outputs.items()}
    engine = interpreter(model)
    if signature.graph == 0:
        assert [each["index"] for each in engine.get_input_details()] == list(graph.inputs)
        assert [each["index"] for each in engine.get_output_details()] == list(graph.outputs)
    run = engine.get_signature_runner(key)
    named = {taken[index]: value for index, value in zip(graph.inputs, inputs, strict=True)}
    results = [{name: value.copy() for name, value in run(**named).items()} for _ in range(2)]
    return [[each[given[index]] for index in graph.outputs] for each in results]


def check(tensorflow: TensorFlow, builder: Callable[..., Any], *args: Any, way: str, counts: dict[str, int]) -> bytes:
    inputs = {key: rows(count) for key, count in counts.items()}
    model, expected = tensorflow.call(converted, builder, args, way, inputs)
    assert len(expected) == len(counts)
    for key, calls in expected.items():
        for actual, wanted in zip(by_index(model, key, inputs[key]), calls, strict=True):
            assert len(actual) == len(wanted)
            for one, other in zip(actual, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    return model


def keras_model(tf: Any, package: str, form: str) -> Any:
    keras = keras_of(tf, package)
    names: Sequence[str] = [f"row{number}" for number in range(12)] if form == "many" else ["zeta", "alpha", "mid"]
    inputs = [keras.Input((2,), name=name) for name in names]
    hidden = keras.layers.Concatenate()(inputs)
    if form == "many":  # 12 outputs, too
        outputs = [keras.layers.Dense(2, name=f"out{number}")(hidden) for number in range(12)]
    else:
        outputs = [keras.layers.Dense(size, name=name)(hidden) for size, name in ((2, "z_out"), (3, "a_out"))]
    if form == "dict":
        model = keras.Model(dict(zip(names, inputs, strict=True)), {"z": outputs[0], "a": outputs[1]})
        order = [tensor.name for tensor in model.inputs] if package == "keras" else model.input_names
        assert order == sorted(names)  # Keras sorts the keys of dictionaries
        call: Callable[..., Any] = lambda *rows: [model(dict(zip(order, rows, strict=True)))[key] for key in ("a", "z")]  # noqa: E731
    else:
        model = keras.Model(inputs, outputs)
        call = lambda *rows: model([*rows])  # noqa: E731
    randomize(model)
    return model, None, {"serving_default": call}


@pytest.mark.parametrize("form", ["list", "dict", "many"])
@pytest.mark.parametrize("way", WAYS)
def test_keras_model(tensorflow: TensorFlow, way: str, form: str) -> None:
    check(tensorflow, keras_model, "keras", form, way=way, counts={"serving_default": 12 if form == "many" else 3})


@pytest.mark.parametrize("form", ["list", "many", "dict"])
@pytest.mark.parametrize("way", ["live", "saved"])
def test_keras_2_model(tensorflow: TensorFlow, way: str, form: str) -> None:
    counts = {"serving_default": 12 if form == "many" else 3}
    check(tensorflow, keras_model, "tf_keras", form, way=way, counts=counts)


def functions(tf: Any) -> Any:
    """Two signatures, one with a state, whose arguments and results are in the order of neither names nor shapes."""
    module = tf.Module()
    module.total = tf.Variable(tf.zeros([2]))
    row = tf.TensorSpec([None, 2], tf.float32)

    @tf.function(input_signature=[row] * 12)
    def many(*values: Any) -> Any:
        return [value * (number + 1.0) for number, value in enumerate(values)]

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name) for name in ("zeta", "alpha", "mid")])
    def stateful(one: Any, two: Any, three: Any) -> Any:
        module.total.assign_add(tf.reduce_sum(one, 0))
        return one - 2.0 * two, module.total + three, tf.nn.relu(two)

    module.many, module.stateful = many, stateful
    return module, {"many": many, "stateful": stateful}, {"many": many, "stateful": stateful}


@pytest.mark.parametrize("way", WAYS)
def test_signatures_of_functions(tensorflow: TensorFlow, way: str) -> None:
    check(tensorflow, functions, way=way, counts={"many": 12, "stateful": 3})


def swapping(tf: Any) -> Any:
    """A function that does nothing but call another one with its arguments in another order."""
    module = tf.Module()
    row = tf.TensorSpec([None, 2], tf.float32)
    inner = tf.function(lambda one, two: (one - 2.0 * two, one * two), autograph=False)

    @tf.function(input_signature=[row, row], autograph=False)
    def outer(zeta: Any, alpha: Any) -> Any:
        first, second = inner(alpha, zeta)
        return second, first

    module.outer = outer
    return module, {"serving_default": outer}, {"serving_default": outer}


@pytest.mark.parametrize("way", ["saved", "saved again"])
def test_own_order_of_a_function_that_calls_another(tensorflow: TensorFlow, way: str) -> None:
    check(tensorflow, swapping, way=way, counts={"serving_default": 2})


def oddly_named(tf: Any) -> Any:
    """Names that are not ASCII, that are equal once they are valid, and arguments by keyword."""
    row = tf.TensorSpec([None, 2], tf.float32)

    @tf.function(autograph=False)
    def compute(values: Any, *, zeta: Any, alpha: Any) -> Any:
        first, second, third = (values[key] for key in ("a b", "a_b", "größe"))
        return {"z": first - 2.0 * second, "y": third * zeta, "ä": zeta - alpha}

    concrete = compute.get_concrete_function({"a b": row, "a_b": row, "größe": row}, zeta=row, alpha=row)

    def call(first: Any, second: Any, third: Any, zeta: Any, alpha: Any) -> Any:
        results = compute({"a b": first, "a_b": second, "größe": third}, zeta=zeta, alpha=alpha)
        return [results[key] for key in sorted(results)]

    return concrete, None, {"serving_default": call}


def test_odd_names(tensorflow: TensorFlow) -> None:
    model = check(tensorflow, oddly_named, way="live", counts={"serving_default": 5})
    assert {*Model(model).signatures["serving_default"].inputs} == {"a_b", "a_b_1", "gr__e", "zeta", "alpha"}


def test_listing_of_a_file(tensorflow: TensorFlow, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    litefuse.convert(tensorflow.save(functions_to_save)).save(path)
    listed = {each.key: each for each in inspect_litert_model(path).signatures}
    assert [each.name for each in listed["stateful"].inputs] == ["zeta", "alpha", "mid"]
    assert [each.name for each in listed["many"].outputs] == [f"output_{number}" for number in range(12)]
    assert [*Model(path.read_bytes()).signatures["many"].outputs] == [f"output_{number}" for number in range(12)]


def test_listing_of_a_saved_model(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(functions_to_save)
    signature = load(path).signatures["stateful"]
    assert [each.name for each in signature.inputs] == ["zeta", "alpha", "mid"]
    assert signature.input_indices == (2, 0, 1)
    facts: SavedModelFacts = run_in_worker("litefuse.tools.saved_models.inspection:inspect_model", InspectionJob(path))
    listed = {each.key: [tensor.name for tensor in each.inputs] for each in facts.signatures}
    assert listed["stateful"] == ["zeta", "alpha", "mid"]


def functions_to_save(tf: Any) -> Any:
    module, signatures, _ = functions(tf)
    return module, signatures
