# pyright: reportUnknownLambdaType=false
"""Recurrent models of every family give the numbers of their SavedModels, in every call and for every size."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.in_part import ALL
from tests.tensorflow import recurrent_models
from tests.tensorflow.checking import check, op_counts

if TYPE_CHECKING:
    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow


# All of them take an hour.
_CASES = [*recurrent_models.cases()] if ALL else [*recurrent_models.spread()]


@pytest.mark.parametrize("case", _CASES, ids=str)
def test_recurrent_model(tensorflow: TensorFlow, case: recurrent_models.Case) -> None:
    result = check(tensorflow, tensorflow.save(recurrent_models.build, *case), recurrent_models.inputs(case))
    assert not [name for name in op_counts(result.model_bytes) if name.startswith("Flex")]


def serving(tf: Any, function: Any, *specs: tuple[str, list[int | None], str]) -> Any:
    """A module that serves ``function``; each spec is an input's name, shape and dtype."""
    module = tf.Module()
    signature = [tf.TensorSpec(shape, dtype, name=name) for name, shape, dtype in specs]
    module.serve = tf.function(function, input_signature=signature)
    module.tracked = list(module.serve.get_concrete_function().graph.variables)
    return module, {"serving_default": module.serve}


def layer(name: str, units: int, features: int, **options: Any) -> Any:
    """A built layer of Keras with random weights, biases included."""
    keras = importlib.import_module("keras")
    made = getattr(keras.layers, name)(units, **options)
    made.build((None, None, features) if "Cell" not in name and name != "Dense" else (None, features))
    random = np.random.default_rng(units)
    made.set_weights([(random.standard_normal(w.shape) * 0.5).astype(np.float32) for w in made.get_weights()])
    return made


def exported(tf: Any) -> Any:
    """A text classifier as ``model.export`` writes it, which leaves the batch open whatever the model says."""
    keras = importlib.import_module("keras")
    ids = keras.Input((None,), dtype="int32", name="ids")
    value = keras.layers.Embedding(9, 6, mask_zero=True)(ids)
    value = keras.layers.Bidirectional(keras.layers.LSTM(8))(value)
    return keras.Model(ids, keras.layers.Dense(3, activation="softmax")(value))


def conv_gru(tf: Any) -> Any:
    """As for speech commands."""
    keras = importlib.import_module("keras")
    x = keras.Input((None, 10))
    value = keras.layers.BatchNormalization()(keras.layers.Conv1D(8, 3, strides=2, activation="relu")(x))
    value = keras.layers.GRU(6)(keras.layers.GRU(6, return_sequences=True)(value))
    model = keras.Model(x, keras.layers.Dense(4, activation="softmax")(value))
    return serving(tf, lambda x: {"y": model(x)}, ("x", [None, None, 10], "float32"))


def attention(tf: Any) -> Any:
    """Translation: the decoder begins with the encoder's state and looks at all of its outputs."""
    keras = importlib.import_module("keras")
    layers = keras.layers
    ids, given = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
    encoder = layers.LSTM(8, return_sequences=True, return_state=True)
    encoded, h, c = encoder(layers.Embedding(9, 6, mask_zero=True)(ids))
    decoder = layers.LSTM(8, return_sequences=True)
    decoded = decoder(layers.Embedding(9, 6)(given), initial_state=[h, c])
    seen = layers.Concatenate()([decoded, layers.Attention()([decoded, encoded])])
    model = keras.Model([ids, given], layers.Dense(9)(seen))
    return serving(
        tf,
        lambda ids, given: {"y": model([ids, given])},
        ("ids", [None, None], "int32"),
        ("given", [None, None], "int32"),
    )


def greedy_decoder(tf: Any) -> Any:
    """It stops when every row has ended; how many steps that takes, the values decide."""
    cell, embedding, dense = layer("LSTMCell", 5, 4), tf.Variable(tf.random.normal([9, 4])), layer("Dense", 9, 5)

    def serve(h: Any, c: Any) -> Any:
        batch = tf.shape(h)[0]
        tokens = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        scores = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        token, ended, step = tf.fill([batch], 1), tf.zeros([batch], tf.bool), tf.constant(0)
        while step < 7 and not tf.reduce_all(ended):
            output, (h, c) = cell(tf.gather(embedding, token), [h, c])
            score = dense(output)
            token = tf.argmax(score, -1, output_type=tf.int32)
            ended = ended | (token < 3)
            tokens, scores = tokens.write(step, token), scores.write(step, score)
            step += 1
        return {"tokens": tf.transpose(tokens.stack()), "scores": scores.stack(), "steps": step}

    return serving(tf, serve, ("h", [None, 5], "float32"), ("c", [None, 5], "float32"))


def in_branches(tf: Any) -> Any:
    one, other = layer("LSTM", 5, 4, return_sequences=True), layer("GRU", 5, 4, return_sequences=True)

    def serve(x: Any) -> Any:
        return {"y": tf.cond(tf.reduce_sum(x) > 0.0, lambda: one(x), lambda: other(x))}

    return serving(tf, serve, ("x", [None, None, 4], "float32"))


def called_twice(tf: Any) -> Any:
    lstm = layer("LSTM", 4, 4, return_sequences=True)
    function = tf.function(lstm.__call__)
    return serving(tf, lambda x: {"y": function(function(x)) + function(x[:, ::-1])}, ("x", [None, None, 4], "float32"))


def in_each_step(tf: Any) -> Any:
    """A loop in a loop, the outer one over the steps of the model, the inner one over those of the layer."""
    keras = importlib.import_module("keras")
    x = keras.Input((3, 6, 4))
    model = keras.Model(x, keras.layers.TimeDistributed(keras.layers.LSTM(5))(x))
    return serving(tf, lambda x: {"y": model(x)}, ("x", [None, 3, 6, 4], "float32"))


def in_map_fn(tf: Any) -> Any:
    gru = layer("GRU", 5, 4, return_sequences=True)
    return serving(tf, lambda x: {"y": tf.map_fn(gru, x)}, ("x", [None, 2, None, 4], "float32"))


def growing_state(tf: Any) -> Any:
    """A loop variable that grows beside a list of items that do not."""

    def serve(x: Any) -> Any:
        array, state = tf.TensorArray(tf.float32, size=0, dynamic_size=True), x[:, :1]
        for i in tf.range(4):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(state, tf.TensorShape([None, None]))])
            array = array.write(i, tf.reduce_sum(state, 1))
            state = tf.concat([state, tf.reduce_sum(state, 1, keepdims=True)], 1)
        return {"y": array.stack(), "state": state}

    return serving(tf, serve, ("x", [None, 3], "float32"))


_SIZES = ((1, 6), (3, 6), (2, 4))
_MODELS: list[tuple[Any, dict[str, tuple[str, ...]]]] = [
    (attention, {"ids": ("batch", "steps"), "given": ("batch", "others")}),
    (called_twice, {"x": ("batch", "steps", "4")}),
    (conv_gru, {"x": ("batch", "others", "10")}),
    (exported, {"ids": ("batch", "steps")}),
    (greedy_decoder, {"h": ("batch", "5"), "c": ("batch", "5")}),
    (growing_state, {"x": ("batch", "3")}),
    (in_branches, {"x": ("batch", "steps", "4")}),
    (in_each_step, {"x": ("batch", "3", "6", "4")}),
    (in_map_fn, {"x": ("batch", "2", "steps", "4")}),
]


@pytest.mark.parametrize(("builder", "shapes"), _MODELS, ids=lambda value: getattr(value, "__name__", ""))
def test_model_with_loops(tensorflow: TensorFlow, builder: Any, shapes: dict[str, tuple[str, ...]]) -> None:
    random = np.random.default_rng(2)
    sets: list[dict[str, npt.NDArray[Any]]] = []
    for batch, steps in _SIZES:
        sizes = {"batch": batch, "steps": steps, "others": 2 * steps + 1}
        values: dict[str, npt.NDArray[Any]] = {}
        for name, shape in shapes.items():
            filled = [sizes[size] if size in sizes else int(size) for size in shape]
            values[name] = random.standard_normal(filled).astype(np.float32)
            if name in {"ids", "given"}:
                values[name] = random.integers(1, 9, filled).astype(np.int32)
                values[name][-1, 3:] = 0
        sets.append(values)
        sets.append({name: -value if value.dtype == np.float32 else value for name, value in values.items()})
    check(tensorflow, tensorflow.save(builder), sets)
