# pyright: reportUnknownLambdaType=false
"""Live models: converted from the process that has them, compared with what they compute there."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from litefuse.frontends.source_of import source_of
from tests.tensorflow.checking import interpreter, normal
from tests.tensorflow.live_models import check_there, error_there, keras_of, randomize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tensorflow.process import TensorFlow


# Keras models


def sequential(tf: Any, package: str) -> Any:
    keras = keras_of(tf, package)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((6, 6, 2), name="image"),
            layers.Conv2D(3, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.Flatten(),
            layers.Dense(4),
        ],
        name="mnist",
    )
    model.layers[0].trainable = False
    randomize(model)
    model.layers[1].set_weights([np.abs(each) + 0.1 for each in model.layers[1].get_weights()])
    name = model.inputs[0].name
    return model, {"serving_default": lambda **inputs: {"output_0": model(inputs[name], training=False)}}


@pytest.mark.parametrize("package", ["keras", "tf_keras"])
def test_sequential_of_keras(tensorflow: TensorFlow, package: str) -> None:
    converted = check_there(tensorflow, sequential, package, inputs=normal({"image": (None, 6, 6, 2)}))
    assert converted.exported
    assert converted.report.source == f"{package}.Sequential 'mnist'"
    assert converted.report.signatures == ("serving_default",)


def functional(tf: Any, package: str, form: str) -> Any:
    keras = keras_of(tf, package)
    a, b, c = keras.Input((4,), name="a"), keras.Input((3,), name="b"), keras.Input((), dtype="int32", name="c")
    hidden = keras.layers.Dense(5, activation="tanh")(keras.layers.Concatenate()([a, b]))
    row = keras.layers.Embedding(7, 5)(c)
    total = keras.layers.Add()([hidden, row])
    if form == "dict":
        model = keras.Model({"x": a, "y": b, "z": c}, {"total": total, "row": row})
        names = {"x": "a", "y": "b", "z": "c"}
        call = lambda inputs: model({key: inputs[name] for key, name in names.items()})  # noqa: E731
    elif form == "list":
        model = keras.Model([a, b, c], [total, row])
        call = lambda inputs: dict(zip(("output_0", "output_1"), model(list(inputs.values())), strict=True))  # noqa: E731
    else:
        model = keras.Model({"p": [a, b], "q": (c,)}, {"out": [total, {"in": row}], "h": hidden})

        def call(inputs: Any) -> Any:
            result = model({"p": [inputs["a"], inputs["b"]], "q": (inputs["c"],)})
            return {"out_0": result["out"][0], "out_1_in": result["out"][1]["in"], "h": result["h"]}

    randomize(model)
    return model, {"serving_default": lambda **inputs: call(inputs)}


@pytest.mark.parametrize(
    ("package", "form"), [("keras", "dict"), ("keras", "list"), ("keras", "nested"), ("tf_keras", "dict")]
)
def test_functional_models_of_keras(tensorflow: TensorFlow, package: str, form: str) -> None:
    inputs = [
        {**each, "c": np.arange(len(each["a"]), dtype=np.int32) + 2}
        for each in normal({"a": (None, 4), "b": (None, 3)})
    ]
    converted = check_there(tensorflow, functional, package, form, inputs=inputs)
    assert bool(converted.exported) is (form != "nested")  # which model.export() refuses
    assert converted.report.source.startswith(f"{package}.Functional ")


def subclassed(tf: Any, package: str) -> Any:
    keras = keras_of(tf, package)

    class Classifier(keras.Model):
        def __init__(self) -> None:
            super().__init__(name="classifier")
            self.dense = keras.layers.Dense(3)
            self.noise = keras.layers.GaussianNoise(0.9)

        def call(self, inputs: Any, training: bool = True) -> Any:
            return {"scores": self.noise(self.dense(inputs), training=training)}

    model = Classifier()
    model(np.zeros((2, 4), np.float32))
    randomize(model)
    return model, {"serving_default": lambda **inputs: model(*inputs.values(), training=False)}


@pytest.mark.parametrize(("package", "name"), [("keras", "args_0"), ("tf_keras", "input_1")])
def test_a_subclassed_model_that_was_called(tensorflow: TensorFlow, package: str, name: str) -> None:
    # It is converted for inference, although call() says otherwise; and for any batch size.
    converted = check_there(tensorflow, subclassed, package, inputs=normal({name: (None, 4)}))
    assert converted.report.source == f"Classifier 'classifier' ({package}.Model)"


def fixed_batch(tf: Any, package: str, stateful: bool) -> Any:
    keras = keras_of(tf, package)
    x = keras.Input(batch_shape=(2, 5, 3), name="x")
    y = keras.layers.LSTM(4, return_sequences=True, stateful=stateful)(x)
    model = keras.Model(x, keras.layers.Dense(2)(y))
    random = np.random.default_rng(3)
    for weight in model.trainable_weights:
        weight.assign(random.normal(0, 0.5, weight.shape).astype(np.float32))
    return model, {"serving_default": lambda x: {"output_0": model(x, training=False)}}


@pytest.mark.parametrize(("package", "stateful"), [("keras", False), ("keras", True), ("tf_keras", False)])
def test_a_fixed_batch_size_is_kept(tensorflow: TensorFlow, package: str, stateful: bool) -> None:
    inputs = normal({"x": (2, 5, 3)}, batches=(2,))
    converted = check_there(tensorflow, fixed_batch, package, stateful, inputs=inputs)
    runner = interpreter(converted.model).get_signature_runner("serving_default")
    assert runner.get_input_details()["x"]["shape_signature"].tolist() == [2, 5, 3]


# tf.function


def two_traces_apart(tf: Any, which: str) -> Any:
    scale = tf.Variable([1.5, -2.0, 0.5])

    def compute(x: Any, *, shift: Any) -> Any:
        return {"y": x * scale + shift}

    function = tf.function(compute)
    specs = tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([3], tf.float32)
    if which == "signature":
        function = tf.function(lambda x, shift: compute(x, shift=shift), input_signature=specs)
    concrete = function.get_concrete_function(specs[0], shift=specs[1]) if which != "signature" else None
    model = concrete if which == "concrete" else function
    return model, {"serving_default": lambda x, shift: compute(x, shift=shift)}


@pytest.mark.parametrize("which", ["signature", "trace", "concrete"])
def test_functions_with_a_variable_that_nobody_tracks(tensorflow: TensorFlow, which: str) -> None:
    inputs = normal({"x": (None, 3), "shift": (3,)})
    converted = check_there(tensorflow, two_traces_apart, which, inputs=inputs)
    kind = "concrete function" if which == "concrete" else "tf.function"
    assert converted.report.source.startswith(f"{kind} '")
    assert [each.verdict for each in converted.report.variables] == ["frozen"]


def nested_function(tf: Any) -> Any:
    @tf.function(
        input_signature=[
            {"a": tf.TensorSpec([None, 2]), "b": [tf.TensorSpec([None, 2]), tf.TensorSpec([2])]},
            tf.TensorSpec([2], name="other"),
        ]
    )
    def function(x: Any, y: Any) -> Any:
        return (x["a"] * y, {"inner": [x["b"][0] + 1.0, None]}, x["b"][1])

    def reference(a: Any, b_0: Any, b_1: Any, other: Any) -> Any:
        return {"output_0": a * other, "output_1_inner_0": b_0 + 1.0, "output_2": b_1}

    return function, {"serving_default": reference}


def test_nested_inputs_and_outputs(tensorflow: TensorFlow) -> None:
    shapes: dict[str, Any] = {"a": (None, 2), "b_0": (None, 2), "b_1": (2,), "other": (2,)}
    check_there(tensorflow, nested_function, inputs=normal(shapes))


def counter(tf: Any) -> Any:
    count = tf.Variable(0, name="count")
    function = tf.function(lambda: {"count": count.assign_add(1)}, input_signature=[])
    seen: list[int] = []

    def reference() -> Any:
        seen.append(1)
        return {"count": np.int32(len(seen))}

    return function, {"serving_default": reference}


def test_a_function_without_inputs_that_keeps_state(tensorflow: TensorFlow) -> None:
    converted = check_there(tensorflow, counter, inputs=[{}, {}])
    assert [(each.name, each.verdict) for each in converted.report.variables] == [("count", "mutable")]


def annotated(tf: Any, call: bool) -> Any:
    table = tf.Variable(np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32))

    @tf.function(
        experimental_implements="embedding_matmul",
        input_signature=[tf.TensorSpec([5, 4], name="table"), tf.TensorSpec([None], tf.int32, name="ids")],
    )
    def look_up(table: Any, ids: Any) -> Any:
        return tf.matmul(tf.one_hot(ids, 5), table)

    if not call:
        return look_up, {"serving_default": lambda table, ids: {"output_0": look_up(table, ids)}}
    caller = tf.function(
        lambda ids: {"rows": look_up(table, ids)}, input_signature=[tf.TensorSpec([None], tf.int32, name="ids")]
    )
    return caller, {"serving_default": caller}


@pytest.mark.parametrize("call", [False, True])
def test_an_annotated_function_is_fused(tensorflow: TensorFlow, call: bool) -> None:
    inputs: list[dict[str, Any]] = [{"ids": np.array(ids, np.int32)} for ids in ([4], [0, 3, 1])]
    if not call:
        table = normal({"table": (5, 4)})[0]
        inputs = [{**each, **table} for each in inputs]
    converted = check_there(tensorflow, annotated, call, inputs=inputs, require_fused=True)
    assert [each.fused_into for each in converted.report.composites] == ["EMBEDDING_LOOKUP"]


def with_tables(tf: Any, kind: str) -> Any:
    """A table that is an attribute of nothing, or that of a Keras layer."""
    keras = keras_of(tf, "keras")
    if kind == "keras":
        layer = keras.layers.StringLookup(vocabulary=["a", "b"])
        return keras.Sequential([keras.Input((1,), dtype="string", name="words"), layer])
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), 0)
    shift = tf.Variable(0)
    return tf.function(
        lambda words: {"output_0": table.lookup(words) + shift},
        input_signature=[tf.TensorSpec([None, 1], tf.string, name="words")],
    )


def look_up(tf: Any, kind: str) -> list[int]:
    """What the SavedModel of a function that uses a table answers, when nothing else is left of it."""
    with tempfile.TemporaryDirectory() as folder:
        write = source_of(with_tables(tf, kind)).write
        assert write is not None
        write(Path(folder, "model"))
        del write
        gc.collect()
        signature = tf.saved_model.load(str(Path(folder, "model"))).signatures["serving_default"]
        (answer,) = signature(tf.constant([["b"], ["?"], ["a"]])).values()
        return np.asarray(answer).ravel().tolist()


@pytest.mark.parametrize(("kind", "answer"), [("function", [2, 0, 1]), ("keras", [2, 0, 1])])
def test_tables_are_exported(tensorflow: TensorFlow, kind: str, answer: list[int]) -> None:
    assert tensorflow.call(look_up, kind) == answer


def served(tf: Any, traces: int) -> Any:
    """A model of transformers, as far as its ``serving`` goes."""

    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = tf.Variable([[1.0], [2.0]])

        @property
        def input_signature(self) -> Any:
            return {"ids": tf.TensorSpec([None, 2], name="ids"), "mask": tf.TensorSpec([None, 2], name="mask")}

        @tf.function
        def serving(self, inputs: Any) -> Any:
            return {"logits": tf.matmul(inputs["ids"] * inputs["mask"], self.weight)}

    model = KEPT.setdefault("model", Model())
    for size in range(traces):
        model.serving.get_concrete_function({name: tf.TensorSpec([2 + size, 2]) for name in ("ids", "mask")})
    return model.serving, {"serving_default": lambda ids, mask: model.serving({"ids": ids, "mask": mask})}


KEPT: dict[str, Any] = {}  # a function does not keep the model that it is a method of


@pytest.mark.parametrize("traces", [0, 2])
def test_serving_has_the_signature_of_its_model(tensorflow: TensorFlow, traces: int) -> None:
    check_there(tensorflow, served, traces, inputs=normal({"ids": (None, 2), "mask": (None, 2)}))


# tf.Module


def module_of(tf: Any, kind: str) -> Any:
    spec = [tf.TensorSpec([None, 2], tf.float32, name="x")]

    class Scaler(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = tf.Variable([2.0, -1.0])
            self.inner = tf.Module()
            self.inner.shift = tf.Variable(0.5)
            self.unused = tf.function(lambda x: x)  # neither signature nor trace

        @property
        def broken(self) -> Any:
            raise RuntimeError("nobody may ask for this")

        @tf.function(input_signature=spec)
        def __call__(self, x: Any) -> Any:
            return x * self.scale + self.inner.shift

    class Model(Scaler):
        def __init__(self) -> None:
            super().__init__()
            self.shift = tf.function(lambda x: {"shifted": x + self.scale}, input_signature=spec)
            self.traced = tf.function(lambda x: [x, (x - self.scale,)])
            self.traced.get_concrete_function(*spec)

        @tf.function(input_signature=spec)
        def _private(self, x: Any) -> Any:
            return x

    module = Scaler() if kind == "call" else Model()
    references: dict[str, Any] = {"serving_default": lambda x: {"output_0": module(x)}}
    if kind != "call":
        references["shift"] = module.shift
        references["traced"] = lambda x: {"output_0": x, "output_1_0": x - module.scale}
    if kind == "loaded":
        keep = {key: function for key, function in references.items() if key != "traced"}
        with tempfile.TemporaryDirectory() as folder:
            signatures = {"serving_default": module.__call__, "shift": module.shift}
            tf.saved_model.save(module, folder, signatures=signatures)
            return tf.saved_model.load(folder), keep
    return module, references


@pytest.mark.parametrize("kind", ["call", "several", "loaded"])
def test_modules(tensorflow: TensorFlow, kind: str) -> None:
    keys = {"call": (), "several": ("shift", "traced"), "loaded": ("shift",)}[kind]
    calls = [(key, each) for each in normal({"x": (None, 2)}) for key in ("serving_default", *keys, "serving_default")]
    converted = check_there(tensorflow, module_of, kind, calls=calls)
    assert sorted(converted.report.signatures) == ["serving_default", *keys]
    variables = {"scale", "inner.shift"}
    assert {each.name for each in converted.report.variables} == variables
    names = {
        "call": "Scaler (tf.Module)",
        "several": "Model (tf.Module)",
        "loaded": "what tf.saved_model.load returned",
    }
    assert converted.report.source == names[kind]


def functions_by_keys(tf: Any) -> Any:
    scale = tf.Variable(3.0)
    spec = tf.TensorSpec([None, 2], name="x")
    up = tf.function(lambda x: x * scale, input_signature=[spec])
    down = tf.function(lambda x: {"y": x / scale, "half": x / 2.0}).get_concrete_function(spec)
    references: dict[str, Any] = {
        "up": lambda **inputs: {"output_0": up(**inputs)},
        "down ä": down,
    }
    return {"up": up, "down ä": down}, references


def test_functions_by_the_keys_of_signatures(tensorflow: TensorFlow) -> None:
    calls = [(key, each) for each in normal({"x": (None, 2)}) for key in ("up", "down ä", "up")]
    converted = check_there(tensorflow, functions_by_keys, calls=calls)
    assert {*converted.report.signatures} == {"up", "down ä"}
    assert converted.report.source == "functions 'up', 'down ä'"


# What cannot be converted as it is


def with_a_dead_variable(tf: Any) -> Any:
    variable = tf.Variable(1.0)
    return tf.function(variable.read_value, input_signature=[]).get_concrete_function()


def unusable(tf: Any, kind: str) -> Any:
    keras = keras_of(tf, "keras")

    class Empty(tf.Module):
        @tf.function
        def predict(self, x: Any) -> Any:
            return x

    class Two(keras.Model):
        def call(self, first: Any, second: Any) -> Any:
            return first + second

    class Pretrained(keras_of(tf, "tf_keras").Model):
        @property
        def dummy_inputs(self) -> Any:
            raise NotImplementedError  # transformers does so where it does not know the sizes

    two = Two()
    two(np.zeros((1, 2)), np.zeros((1, 2)))
    traced = tf.function(lambda x: x + 1)
    for shape in ([1], [2]):
        traced.get_concrete_function(tf.TensorSpec(shape, name="x"))
    orphan = with_a_dead_variable(tf)
    made: dict[str, Any] = {
        "unbuilt": lambda: keras.Sequential([keras.layers.Dense(2)], name="late"),
        "unbuilt of transformers": lambda: Pretrained(name="early"),
        "layer": lambda: keras.layers.Dense(2, name="alone"),
        "two arguments": lambda: two,
        "sparse": lambda: keras.Model(x := keras.Input((3,), sparse=True, name="few"), keras.layers.Dense(2)(x)),
        "untraced": lambda: tf.function(lambda x: x),
        "two traces": lambda: traced,
        "dead": lambda: orphan,
        "nothing": lambda: tf.function(lambda: None, input_signature=[]),
        "no mapping": dict,
        "mapping of no functions": lambda: {"f": tf.constant(1.0)},
        "mapping of numbers": lambda: {1: tf.function(lambda x: x, input_signature=[tf.TensorSpec([1])])},
        "no functions": tf.Module,
        "untraced functions": Empty,
        "tensor": lambda: tf.constant(1.0),
        "unsupported": lambda: tf.function(
            lambda x: tf.raw_ops.Polygamma(a=x, x=x), input_signature=[tf.TensorSpec([2])]
        ),
    }
    return made[kind]()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("unbuilt", ["keras.Sequential 'late'", "has not been built", "keras.Input(shape)"]),
        ("unbuilt of transformers", ["Pretrained 'early'", "has not been built", "model(model.dummy_inputs)"]),
        ("layer", ["keras.Dense 'alone'", "a layer, not a model", "keras.Sequential("]),
        ("two arguments", ["Two 'two", " (keras.Model)", "second", "tf.function(lambda x: model("]),
        ("sparse", ["the input 'few' is sparse"]),
        ("untraced", ["tf.function '<lambda>'", "never called", "input_signature=["]),
        ("two traces", ["2 traces", "shape=(1,)", "shape=(2,)", "get_concrete_function"]),
        ("dead", ["concrete function", "deleted"]),
        ("nothing", ["returns no tensor"]),
        ("no mapping", ["the mapping has no functions"]),
        ("mapping of no functions", ["the mapping has 'f': EagerTensor", "by the keys of signatures"]),
        ("mapping of numbers", ["the mapping has 1: Function", "'serving_default': function"]),
        ("no functions", ["tf.Module", "none of its attributes is a tf.function", "input_signature"]),
        ("untraced functions", ["Empty (tf.Module)", "predict: no traces", "module.predict.get_concrete_function"]),
        ("tensor", ["an EagerTensor cannot be converted"]),
        ("unsupported", ["tf.function '<lambda>'", "Polygamma"]),
    ],
)
def test_what_to_do_is_said(tensorflow: TensorFlow, kind: str, words: Sequence[str]) -> None:
    text, left = tensorflow.call(error_there, unusable, (kind,))
    for word in words:
        assert word in text
    assert "litefuse-" not in text  # the temporary folder
    assert left == []
