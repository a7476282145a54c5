# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Recurrent models as Keras 3, Keras 2 and TensorFlow 1 export them: every family, open or fixed batch and time.

``cases()`` names them, ``build`` makes one in the TensorFlow process, ``inputs`` makes what to call it with.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

FEATURES = 4
UNITS = 5
_IMAGE = 5
_LAYERS = ("LSTM", "GRU", "SimpleRNN")
_TIMES = (6, None)


class Case(NamedTuple):
    """One model.

    Attributes:
        framework: ``keras`` (3), ``tf_keras`` (2) or ``v1`` (TensorFlow 1 cells, control flow v2).
        family: A key of the builders, with the layer's name where it is about one: ``masked LSTM``.
        batch: The batch size; None leaves it open.
        time: The number of steps; None leaves it open.
    """

    framework: str
    family: str
    batch: int | None
    time: int | None

    def __str__(self) -> str:
        return f"{self.framework}-{self.family.replace(' ', '_')}-b{self.batch or 'N'}-t{self.time or 'N'}"


def cases() -> Iterator[Case]:
    """Every model that can exist: an unrolled one needs to know its steps, a stateful one its batch size."""
    families = [f"{kind} {layer}" for kind in _OF_ONE_LAYER for layer in _LAYERS]
    families += [f"reset_before {layer}" for layer in ("GRU",)] + [f"hard_sigmoid {layer}" for layer in ("LSTM", "GRU")]
    for framework, names in (("keras", [*families, *_OTHERS]), ("tf_keras", [*families, *_OTHERS]), ("v1", [*_V1])):
        for family in names:
            for batch in (None, 1):
                for time in _TIMES:
                    kind = family.split()[0]
                    if kind in {"unrolled", "static"} and time is None:
                        continue
                    if kind == "stateful" and batch is None:
                        continue
                    if framework == "keras" and kind == "time_distributed" and time is None:
                        continue  # the SavedModel itself takes the batch size for the number of steps
                    yield Case(framework, family, batch, time)


def spread() -> Iterator[Case]:
    """Some of the cases: every family of Keras 3 and some of the others, with open sizes and not in turn."""
    families: dict[tuple[str, str], list[Case]] = {}
    for case in cases():
        families.setdefault((case.framework, case.family), []).append(case)
    count = {"keras": 0, "tf_keras": 0, "v1": 0}
    for (framework, _), variants in families.items():
        count[framework] += 1
        if framework == "keras" or count[framework] % 4 == 1:
            yield variants[count[framework] % len(variants)]


def build(tf: Any, framework: str, family: str, batch: int | None, time: int | None) -> tuple[Any, dict[str, Any]]:
    """A module and its signature, with random weights and biases."""
    case = Case(framework, family, batch, time)
    specs = [tf.TensorSpec(shape, dtype, name=name) for name, (shape, dtype) in _specs(case).items()]
    module = tf.Module()
    if framework == "v1":
        serve = _V1[family](tf, module)
    else:
        keras = importlib.import_module(framework)
        kind, _, layer = family.partition(" ")
        tensors = {
            name: keras.Input(shape[1:], batch_size=batch, dtype=dtype, name=name)
            for name, (shape, dtype) in _specs(case).items()
        }
        make = _OTHERS[family] if family in _OTHERS else _layered(kind, layer)
        model = keras.Model(list(tensors.values()), make(keras, **tensors))
        _randomize(model)

        def serve(*values: Any) -> dict[str, Any]:
            given = list(values)
            results = model(given if len(given) > 1 else given[0])
            flat = tf.nest.flatten(results)
            return {f"y{number}": value for number, value in enumerate(flat)}

    module.serve = tf.function(serve, input_signature=specs)
    # The model itself would be saved with all the functions of its layers, which nobody calls.
    module.tracked = list(module.serve.get_concrete_function().graph.variables)
    return module, {"serving_default": module.serve}


def inputs(case: Case, seed: int = 5) -> list[dict[str, npt.NDArray[Any]]]:
    """Several sets of inputs: batches of 1 and 3 where that is open, and another length where that is."""
    random = np.random.default_rng(seed)
    sets: list[dict[str, npt.NDArray[Any]]] = []
    for batch, time in ((1, 6), (3, 6), (3, 4)):
        found: dict[str, npt.NDArray[Any]] = {}
        for name, (shape, dtype) in _specs(case).items():
            known = [batch if axis == 0 else time for axis in range(2)]
            sizes = [known[axis] if size is None else size for axis, size in enumerate(shape)]
            if dtype == "float32":
                found[name] = random.standard_normal(sizes).astype(np.float32)
            elif name == "length":
                found[name] = random.integers(1, time + 1, sizes).astype(np.int32)
            else:
                ids = random.integers(1, 9, sizes).astype(np.int32)
                ids[:, 2:] *= np.arange(2, sizes[1]) < random.integers(2, sizes[1] + 1, [sizes[0], 1])  # padding
                ids[0, 1] = 0
                found[name] = ids
        if not sets or {k: v.shape for k, v in found.items()} != {k: v.shape for k, v in sets[-1].items()}:
            sets.append(found)
    return sets


_Specs = dict[str, tuple[list["int | None"], str]]


def _specs(case: Case) -> _Specs:
    kind = case.family.split()[0]
    batch, time = case.batch, case.time
    values: _Specs = {"x": ([batch, time, FEATURES], "float32")}
    if kind in {
        "masked",
        "masked_last",
        "bidirectional_masked",
        "zero_output_for_mask",
        "masked_stack",
        "stateful_masked",
    }:
        return {"ids": ([batch, time], "int32")}
    if case.family in {"conv_lstm", "conv_lstm_last", "time_distributed Conv2D"}:
        return {"x": ([batch, time, _IMAGE, _IMAGE, 2], "float32")}
    if kind == "initial_state":
        return values | {f"s{n}": ([batch, UNITS], "float32") for n in range(2 if "LSTM" in case.family else 1)}
    if kind == "seq2seq":
        return {"ids": ([batch, time], "int32"), "x": ([batch, time, FEATURES], "float32")}
    if kind == "sequence_length":
        return values | {"length": ([batch], "int32")}
    return values


def _randomize(model: Any) -> None:
    random = np.random.default_rng(3)
    model.set_weights(
        [
            (random.standard_normal(value.shape) * 0.4).astype(np.float32) if value.dtype == np.float32 else value
            for value in model.get_weights()
        ]
    )


def _layered(kind: str, layer: str) -> Callable[..., Any]:
    """The functional model of one family of one layer."""
    options = dict(_OPTIONS.get(kind, {}))

    def recurrent(keras: Any, **more: Any) -> Any:
        return getattr(keras.layers, layer)(UNITS, **options, **more)

    def make(keras: Any, x: Any = None, ids: Any = None, **states: Any) -> Any:
        layers = keras.layers
        value = x if ids is None else layers.Embedding(9, FEATURES, mask_zero=True)(ids)
        if kind in {"stack", "masked_stack"}:
            return recurrent(keras)(recurrent(keras, return_sequences=True)(value))
        if kind.startswith("bidirectional"):
            merge = "sum" if kind == "bidirectional_sum" else "concat"
            return layers.Bidirectional(recurrent(keras), merge_mode=merge)(value)
        if states:
            return recurrent(keras)(value, initial_state=list(states.values()))
        return recurrent(keras)(value)

    return make


_SEQUENCES = {"return_sequences": True}
_OPTIONS: dict[str, dict[str, Any]] = {
    "backwards": {"go_backwards": True, **_SEQUENCES},
    "backwards_last": {"go_backwards": True},
    "bidirectional": _SEQUENCES,
    "bidirectional_masked": _SEQUENCES,
    "bidirectional_sum": _SEQUENCES,
    "dropout": {"dropout": 0.3, "recurrent_dropout": 0.2, **_SEQUENCES},
    "hard_sigmoid": {"recurrent_activation": "hard_sigmoid", **_SEQUENCES},
    "initial_state": {"return_state": True, **_SEQUENCES},
    "masked": _SEQUENCES,
    "no_bias": {"use_bias": False, **_SEQUENCES},
    "relu": {"activation": "relu", **_SEQUENCES},
    "reset_before": {"reset_after": False, **_SEQUENCES},
    "return_state": {"return_state": True, **_SEQUENCES},
    "sequence": _SEQUENCES,
    "stateful": {"stateful": True, **_SEQUENCES},
    "stateful_masked": {"stateful": True, **_SEQUENCES},
    "unrolled": {"unroll": True, **_SEQUENCES},
    "unrolled_last": {"unroll": True},
}
_OF_ONE_LAYER = (
    "backwards",
    "backwards_last",
    "bidirectional",
    "bidirectional_last",
    "bidirectional_masked",
    "bidirectional_sum",
    "dropout",
    "initial_state",
    "last",
    "masked",
    "masked_last",
    "masked_stack",
    "no_bias",
    "relu",
    "return_state",
    "sequence",
    "stack",
    "stateful",
    "unrolled",
)


def _custom_cell(keras: Any) -> Any:
    """A cell of two states of different sizes whose output is neither of them."""

    class Cell(keras.layers.Layer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.state_size = [UNITS, 2]
            self.output_size = 3
            self.inner = keras.layers.Dense(UNITS)
            self.outer = keras.layers.Dense(3, activation="tanh")
            self.gate = keras.layers.Dense(2, activation="sigmoid")

        def build(self, input_shape: Any) -> None:
            self.inner.build((None, FEATURES + UNITS))
            self.outer.build((None, UNITS + 2))
            self.gate.build((None, FEATURES))
            self.built = True

        def call(self, inputs: Any, states: Any) -> Any:
            join = (keras.ops if hasattr(keras, "ops") else keras.backend).concatenate
            h, g = states
            h = h * 0.5 + self.inner(join([inputs, h], axis=-1))
            g = g * 0.9 + self.gate(inputs)
            return self.outer(join([h, g], axis=-1)), [h, g]

    return Cell()


def _seq2seq(keras: Any, ids: Any, x: Any) -> Any:
    layers = keras.layers
    encoded = layers.Embedding(9, FEATURES, mask_zero=True)(ids)
    _, h, c = layers.LSTM(UNITS, return_state=True)(encoded)
    decoded = layers.LSTM(UNITS, return_sequences=True)(x, initial_state=[h, c])
    return layers.Dense(3)(decoded)


def _of_x(make: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda keras, x: make(keras)(x)


_OTHERS: dict[str, Callable[..., Any]] = {
    "cell LSTM": _of_x(lambda k: k.layers.RNN(k.layers.LSTMCell(UNITS), return_sequences=True)),
    "conv_lstm": _of_x(
        lambda k: k.layers.ConvLSTM2D(3, 3, padding="same", return_sequences=True, recurrent_activation="sigmoid")
    ),
    "conv_lstm_last": _of_x(lambda k: k.layers.ConvLSTM2D(3, 3)),
    "custom_cell": _of_x(lambda k: k.layers.RNN(_custom_cell(k), return_sequences=True)),
    "custom_cell_state": _of_x(lambda k: k.layers.RNN(_custom_cell(k), return_state=True)),
    "seq2seq": _seq2seq,
    "stacked_cells": _of_x(
        lambda k: k.layers.RNN([k.layers.LSTMCell(UNITS), k.layers.GRUCell(3)], return_sequences=True)
    ),
    "time_distributed Conv2D": _of_x(lambda k: k.layers.TimeDistributed(k.layers.Conv2D(3, 3))),
    "time_distributed Dense": _of_x(lambda k: k.layers.TimeDistributed(k.layers.Dense(3))),
    "time_distributed LSTM": lambda k, x: k.layers.TimeDistributed(k.layers.Dense(3))(
        k.layers.LSTM(UNITS, return_sequences=True)(x)
    ),
    "zero_output_for_mask": lambda k, ids: k.layers.RNN(
        k.layers.GRUCell(UNITS), return_sequences=True, zero_output_for_mask=True
    )(k.layers.Embedding(9, FEATURES, mask_zero=True)(ids)),
}


def _dynamic(cell: str, *, time_major: bool = False, both: bool = False, **options: Any) -> Any:
    """``tf.compat.v1.nn.dynamic_rnn`` (or its bidirectional form)."""

    def make(tf: Any, module: Any) -> Callable[..., Any]:
        v1 = tf.compat.v1
        count = 2 if both else 1
        module.cells = [_cell(tf, cell, **options) for _ in range(count)]

        def serve(x: Any, length: Any = None) -> dict[str, Any]:
            value = tf.transpose(x, [1, 0, 2]) if time_major else x
            more = {"dtype": tf.float32, "sequence_length": length, "time_major": time_major}
            if both:
                results = v1.nn.bidirectional_dynamic_rnn(*module.cells, value, **more)
            else:
                results = v1.nn.dynamic_rnn(*module.cells, value, **more)
            return {f"y{number}": each for number, each in enumerate(tf.nest.flatten(results))}

        return serve

    return make


def _cell(tf: Any, name: str, **options: Any) -> Any:
    """A cell of TensorFlow 1 whose weights are random, biases included."""
    legacy = importlib.import_module("tf_keras.src.layers.rnn.legacy_cells")
    cell = getattr(legacy, f"{name}Cell" if name != "RNN" else "BasicRNNCell")(UNITS, **options)
    cell.build([None, FEATURES])
    random = np.random.default_rng(4)
    for weight in cell.weights:
        weight.assign((random.standard_normal(weight.shape) * 0.4).astype(np.float32))
    return cell


def _static(cell: str) -> Any:
    def make(tf: Any, module: Any) -> Callable[..., Any]:
        module.cell = _cell(tf, cell)

        def serve(x: Any) -> dict[str, Any]:
            results = tf.compat.v1.nn.static_rnn(module.cell, tf.unstack(x, axis=1), dtype=tf.float32)
            return {f"y{number}": each for number, each in enumerate(tf.nest.flatten(results))}

        return serve

    return make


_V1: dict[str, Callable[..., Any]] = {
    **{f"static {name}": _static(name) for name in ("LSTM", "GRU", "RNN")},
    **{f"dynamic {name}": _dynamic(name) for name in ("LSTM", "GRU", "RNN")},
    **{f"bidirectional {name}": _dynamic(name, both=True) for name in ("LSTM", "GRU")},
    **{f"sequence_length {name}": _dynamic(name) for name in ("LSTM", "GRU", "RNN")},
    "time_major LSTM": _dynamic("LSTM", time_major=True),
    "peepholes LSTM": _dynamic("LSTM", use_peepholes=True, num_proj=3),
}
