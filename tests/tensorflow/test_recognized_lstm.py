# pyright: reportUnknownLambdaType=false
"""LSTM layers that nobody annotated: recognized in their loops, fused, and right in every call."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import LitefuseError
from tests.every import every
from tests.in_part import in_part
from tests.tensorflow import recurrent_models
from tests.tensorflow.checking import check, normal, op_counts
from tests.tensorflow.recurrent_models import FEATURES, UNITS, Case

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.tensorflow.process import TensorFlow

SEQUENCE = "UNIDIRECTIONAL_SEQUENCE_LSTM"

# How many layers each has.
FAMILIES = {
    "backwards LSTM": 1,
    "backwards_last LSTM": 1,
    "bidirectional LSTM": 2,
    "bidirectional_last LSTM": 2,
    "bidirectional_sum LSTM": 2,
    "cell LSTM": 1,
    "dropout LSTM": 1,
    "initial_state LSTM": 1,
    "last LSTM": 1,
    "no_bias LSTM": 1,
    "return_state LSTM": 1,
    "sequence LSTM": 1,
    "stack LSTM": 2,
    "stateful LSTM": 1,
    "time_distributed LSTM": 1,
}
SIZES = [(None, None), (None, 6), (1, 6), (1, None)]


def recognized() -> list[Case]:
    """Every family once, with sizes in turn; two of them and all that Keras 2 does not annotate itself with more."""
    cases = [
        Case("keras", family, *SIZES[2 if family == "stateful LSTM" else number % 4])
        for number, family in enumerate(FAMILIES)
        if family not in {"sequence LSTM", "last LSTM", "time_distributed LSTM"}
    ]
    cases += [Case("keras", family, *sizes) for family in ("sequence LSTM", "last LSTM") for sizes in SIZES]
    cases.append(Case("keras", "time_distributed LSTM", None, 6))
    cases += [Case("tf_keras", family, None, None) for family in ("no_bias LSTM", "dropout LSTM", "cell LSTM")]
    return cases


def fused_layers(result: litefuse.ConversionResult) -> int:
    """How many recognized layers were fused; every one was checked."""
    composites = [each for each in result.report.composites if each.name == "lstm_loop"]
    for composite in composites:
        assert (composite.outcome, composite.reason, composite.unchecked) == ("fused", None, None)
        assert composite.error is not None
        assert composite.error < 1e-5
    count = sum(composite.call_sites for composite in composites)
    assert op_counts(result.model_bytes)[SEQUENCE] == count
    return count


@pytest.mark.parametrize("case", recognized(), ids=str)
def test_layer_is_fused(tensorflow: TensorFlow, case: Case) -> None:
    result = check(tensorflow, tensorflow.save(recurrent_models.build, *case), recurrent_models.inputs(case))
    assert fused_layers(result) == FAMILIES[case.family]
    assert result.report.loops == ()
    counts = op_counts(result.model_bytes)
    assert counts["WHILE"] == counts["DYNAMIC_UPDATE_SLICE"] == 0


def export(_tf: Any, path: str, units: int, sequences: bool) -> None:
    """A model as Keras itself exports it: the batch is open whatever the model says."""
    keras = importlib.import_module("keras")
    x = keras.Input((None, FEATURES), name="x")
    bias = keras.initializers.RandomNormal(stddev=0.5, seed=1)
    model = keras.Model(x, keras.layers.LSTM(units, return_sequences=sequences, bias_initializer=bias)(x))
    model.export(path, verbose=False)


@pytest.mark.parametrize("sequences", [False, True])
@pytest.mark.parametrize("units", [1, 7])
def test_export(tensorflow: TensorFlow, tmp_path: Path, units: int, sequences: bool) -> None:
    tensorflow.call(export, str(tmp_path / "model"), units, sequences)
    inputs = [normal({"x": (batch, time, FEATURES)})[0] for batch, time in ((1, 5), (3, 5), (3, 9), (1, 1))]
    result = check(tensorflow, tmp_path / "model", inputs)
    assert fused_layers(result) == 1
    (composite,) = result.report.composites
    assert "lstm" in composite.function
    assert op_counts(result.model_bytes)["WHILE"] == 0


def loop_model(tf: Any, kind: str) -> Any:
    """A loop around TensorArrays whose step is that of an LSTM, or nearly so."""
    random = np.random.default_rng(6)

    def weight(*shape: int) -> Any:
        return tf.Variable((random.standard_normal(shape) * 0.5).astype(np.float32))

    kernel, recurrent, bias, peephole = (
        weight(FEATURES, 4 * UNITS),
        weight(UNITS, 4 * UNITS),
        weight(4 * UNITS),
        weight(UNITS),
    )

    second = weight(4 * UNITS)
    rows = weight(4 * UNITS, FEATURES), weight(4 * UNITS, UNITS)
    by_gate = [(weight(FEATURES, UNITS), weight(UNITS, UNITS), weight(UNITS)) for _ in range(4)]

    def gates(x: Any, h: Any) -> Any:
        if kind == "outputs first":
            return tf.split(tf.matmul(h, rows[1], transpose_b=True) + tf.matmul(x, rows[0], transpose_b=True), 4, 1)
        if kind == "outputs first, two biases":
            of_x = tf.matmul(x, rows[0], transpose_b=True) + bias
            return tf.split(of_x + (tf.matmul(h, rows[1], transpose_b=True) + second), 4, 1)
        if kind == "columns":
            of_x, of_h = tf.matmul(rows[0], x, transpose_b=True), tf.matmul(rows[1], h, transpose_b=True)
            return tf.split(tf.transpose(of_x + of_h) + bias, 4, 1)
        if kind == "two biases":
            return tf.split((tf.matmul(x, kernel) + second) + (tf.matmul(h, recurrent) + bias), 4, 1)
        if kind == "matrix per gate":
            return [tf.matmul(x, one) + (tf.matmul(h, other) + b) for one, other, b in by_gate]
        if kind == "matrix per gate, one bias":
            return [tf.matmul(x, one) + (tf.matmul(h, other) + peephole) for one, other, _ in by_gate]
        if kind == "one matrix for all gates":
            ((one, other, _), *_) = by_gate
            return [tf.matmul(x, one) + (tf.matmul(h, other) + b) for _, _, b in by_gate]
        return tf.split(bias + (tf.matmul(h, recurrent) + tf.matmul(x, kernel)), 4, 1)

    def step(x: Any, h: Any, c: Any) -> tuple[Any, Any]:
        i, f, g, o = gates(x, h)
        if kind == "one gate twice":
            o = i
        if kind == "peephole":
            i = i + c * peephole
        if kind == "another cell's input":
            i = tf.split(tf.matmul(x, kernel), 4, 1)[0]
        old, new = c * tf.sigmoid(f), tf.tanh(g) * tf.sigmoid(i)
        c = old - new if kind == "difference" else tf.identity(new + old)
        if kind == "unequal limits":
            c = tf.clip_by_value(c, -0.5, 1.0)
        if kind == "limited state alone":
            return tf.tanh(c) * tf.sigmoid(o), tf.clip_by_value(c, -0.5, 0.5)
        return tf.tanh(c) * tf.sigmoid(h if kind == "output's own gate" else o), c

    def serve(x: Any) -> dict[str, Any]:
        items = tf.TensorArray(tf.float32, size=tf.shape(x)[1]).unstack(tf.transpose(x, [1, 0, 2]))
        steps = tf.shape(x)[1]
        outputs = tf.TensorArray(tf.float32, size=steps + 1 if kind == "longer" else steps, element_shape=[None, UNITS])
        h = c = tf.zeros([tf.shape(x)[0], UNITS])
        first = 1 if kind == "from the second step" else 0
        last = steps - 1 if kind == "without the last step" else steps
        stride = 2 if kind == "every other step" else 1

        def body(t: Any, h: Any, c: Any, outputs: Any) -> Any:
            position = steps - 1 - t if kind == "backwards" else t
            h, c = step(items.read(position), h, c)
            return t + stride, h, c, outputs.write(t, c if kind == "cell states" else h)

        t, h, c, outputs = tf.while_loop(lambda t, *_: t < last, body, [first, h, c, outputs])
        found = {"y": outputs.stack(), "h": h, "c": c}
        return found | {"t": t} if kind == "counts" else found

    module = tf.Module()
    module.weights = [kernel, recurrent, bias, peephole, second, *rows, *by_gate]
    module.serve = tf.function(
        serve, input_signature=[tf.TensorSpec([None, None, FEATURES], name="x")], autograph=False
    )
    return module, {"serving_default": module.serve}


BY_HAND = [
    "columns",
    "lstm",
    "matrix per gate",
    "outputs first",
    "outputs first, two biases",
    "two biases",
]


@pytest.mark.parametrize("kind", BY_HAND)
def test_loop_written_by_hand(tensorflow: TensorFlow, kind: str) -> None:
    inputs = [normal({"x": (batch, time, FEATURES)})[0] for batch, time in ((1, 5), (3, 5), (2, 8))]
    result = check(tensorflow, tensorflow.save(loop_model, kind), inputs)
    assert fused_layers(result) == 1
    assert op_counts(result.model_bytes)["WHILE"] == 0


ALMOST = [
    "another cell's input",
    "backwards",
    "cell states",
    "counts",
    "difference",
    "every other step",
    "from the second step",
    "limited state alone",
    "longer",
    "matrix per gate, one bias",
    "one gate twice",
    "one matrix for all gates",
    "output's own gate",
    "peephole",
    "unequal limits",
    "without the last step",
]


@pytest.mark.parametrize("kind", ALMOST)
def test_almost_an_lstm_stays_a_loop(tensorflow: TensorFlow, kind: str) -> None:
    inputs = [normal({"x": (batch, time, FEATURES)})[0] for batch, time in ((1, 5), (3, 5), (2, 8))]
    result = check(tensorflow, tensorflow.save(loop_model, kind), inputs)
    assert result.report.composites == ()
    counts = op_counts(result.model_bytes)
    assert (counts["WHILE"], counts[SEQUENCE]) == (1, 0)


# Cells by what is unusual about them, in words that `ways` looks for.
WAYS = [
    "order=foci",
    "order=ifoc forget_bias=1.5",
    "joint order=ifco",
    "joint h_first order=oicf forget_bias=1",
    "by_gate",
    "by_gate joint forget_bias=1 peepholes",
    "by_gate joint h_first coupled",
    "coupled order=cfo",
    "coupled joint order=ofc peepholes forget_bias=0.5",
    "coupled by_gate projection",
    "peepholes order=ifco",
    "peepholes projection order=ofic",
    "clip=0.4",
    "peepholes projection clip=0.4 forget_bias=1",
    "outputs_first order=coif peepholes",
    "parts_of_weights order=ofic forget_bias=2 peepholes",
]


def written(unrolled: bool) -> list[str]:
    """The ways to test, of which unrolled ones are large."""
    return in_part(WAYS, 3) if unrolled else WAYS


def ways(tf: Any, unrolled: bool) -> Any:
    """LSTMs in all these ways: each a loop of its own, or two steps."""
    random = np.random.default_rng(6)
    weights: list[Any] = []

    def weight(*shape: int) -> Any:
        weights.append(tf.Variable((random.standard_normal(shape) * 0.5).astype(np.float32)))
        return weights[-1]

    def cell(way: str) -> tuple[Any, int]:
        options = {name: value for name, _, value in (part.partition("=") for part in way.split())}
        order = options.get("order", "ifco" if "coupled" not in options else "fco")
        outputs, count = 3 if "projection" in options else UNITS, len(order)
        by_gate = "by_gate" in options
        size = UNITS if by_gate else count * UNITS
        rows = [FEATURES + outputs] if "joint" in options else [FEATURES, outputs]
        shapes = [(size, row) if "outputs_first" in options else (row, size) for row in rows]
        kernels = [[weight(*shape) for shape in shapes] for _ in range(count if by_gate else 1)]
        biases = [weight(size) for _ in kernels]
        peepholes = {gate: weight(UNITS) for gate in order if gate != "c"} if "peepholes" in options else {}
        projection = weight(UNITS, outputs)

        def sums(x: Any, h: Any) -> list[Any]:
            if "parts_of_weights" in options:
                parts = zip(*(tf.split(each, count, -1) for each in (*kernels[0], biases[0])), strict=True)
                return [x @ k + b + h @ r for k, r, b in parts]
            pair = [h, x] if "h_first" in options else [x, h]
            values = [tf.concat(pair, 1)] if "joint" in options else [x, h]
            transposed = "outputs_first" in options
            found: list[Any] = []
            for of_gate, z in zip(kernels, biases, strict=True):
                for value, kernel in zip(values, of_gate, strict=True):
                    z = tf.matmul(value, kernel, transpose_b=transposed) + z  # noqa: PLW2901
                found.append(z)
            return found if by_gate else tf.split(found[0], count, 1)

        def step(x: Any, h: Any, c: Any) -> tuple[Any, Any]:
            z = dict(zip(order, sums(x, h), strict=True))
            for gate in set(peepholes) - {"o"}:
                z[gate] += peepholes[gate] * c
            f = tf.sigmoid(z["f"] + float(options["forget_bias"]) if "forget_bias" in options else z["f"])
            c = (1.0 - f if "coupled" in options else tf.sigmoid(z["i"])) * tf.tanh(z["c"]) + f * c
            if "clip" in options:
                c = tf.clip_by_value(c, -float(options["clip"]), float(options["clip"]))
            h = tf.sigmoid(z["o"] + peepholes["o"] * c if peepholes else z["o"]) * tf.tanh(c)
            if "projection" in options:
                h = h @ projection
                h = tf.clip_by_value(h, -0.25, 0.25) if "clip" in options else h
            return h, c

        return step, outputs

    cells = [cell(way) for way in written(unrolled)]

    def run(step: Any, outputs: int, x: Any) -> dict[str, Any]:
        batch, steps = tf.shape(x)[0], tf.shape(x)[1]
        h, c = tf.fill([batch, outputs], 0.3), tf.fill([batch, UNITS], -0.7)
        if unrolled:
            for index in range(2):
                h, c = step(x[:, index], h, c)
            return {"h": h, "c": c}
        items = tf.TensorArray(tf.float32, size=steps).unstack(tf.transpose(x, [1, 0, 2]))
        array = tf.TensorArray(tf.float32, size=steps, element_shape=[None, outputs])

        def body(t: Any, h: Any, c: Any, array: Any) -> Any:
            h, c = step(items.read(t), h, c)
            return t + 1, h, c, array.write(t, h)

        _, h, c, array = tf.while_loop(lambda t, *_: t < steps, body, [0, h, c, array])
        return {"y": array.stack(), "h": h, "c": c}

    def serve(x: Any) -> dict[str, Any]:
        found = [run(step, outputs, x) for step, outputs in cells]
        return {f"{name}{number}": y for number, each in enumerate(found) for name, y in each.items()}

    module = tf.Module()
    module.weights = weights
    spec = tf.TensorSpec([None, None, FEATURES], name="x")
    module.serve = tf.function(serve, input_signature=[spec], autograph=False)
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize("unrolled", [False, True])
def test_ways_to_write_it(tensorflow: TensorFlow, unrolled: bool) -> None:
    inputs = [normal({"x": (batch, time, FEATURES)})[0] for batch, time in ((1, 5), (3, 5), (2, 2))]
    result = check(tensorflow, tensorflow.save(ways, unrolled), inputs, rnn="fused" if unrolled else "auto")
    assert [f"{loop.layer}: {loop.reason}" for loop in result.report.loops] == []
    assert fused_layers(result) == len(written(unrolled))


def test_form_can_be_chosen(tensorflow: TensorFlow) -> None:
    case = Case("keras", "sequence LSTM", None, None)
    path = tensorflow.save(recurrent_models.build, *case)
    result = check(tensorflow, path, recurrent_models.inputs(case), composites={"lstm_loop": "inline"})
    (composite,) = result.report.composites
    assert (composite.outcome, composite.reason) == ("inlined", "its form was chosen to be inline")
    assert op_counts(result.model_bytes)["WHILE"] == 1


def of_many_units(tf: Any, steps: int) -> Any:
    """Two layers that are faster as loops, of 300 and 60 units."""
    keras = importlib.import_module("keras")
    layers = [keras.layers.LSTM(units, return_sequences=True, bias_initializer="random_normal") for units in (300, 60)]
    model = keras.Sequential([keras.Input((steps, FEATURES)), *layers])
    spec = tf.TensorSpec([None, steps, FEATURES], tf.float32, name="x")
    module = tf.Module()
    module.layers_of_model = model.variables
    module.serve = tf.function(lambda x: {"y": model(x)}, input_signature=[spec], autograph=False)  # pyright: ignore[reportUnknownLambdaType]
    return module, {"serving_default": module.serve}


@pytest.mark.parametrize(("steps", "rnn", "fused"), [(5, "auto", 0), (401, "auto", 1), (5, "fused", 2), (5, "loop", 0)])
def test_the_faster_form_is_chosen(tensorflow: TensorFlow, steps: int, rnn: Any, fused: int) -> None:
    path = tensorflow.save(of_many_units, steps)
    result = check(tensorflow, path, normal({"x": (None, steps, FEATURES)}, batches=(1, 3)), rnn=rnn)
    assert fused_layers(result) == fused
    assert op_counts(result.model_bytes)["WHILE"] == 2 - fused
    assert result.report.taken_by == (("cpu", "micro", "ethos-u") if fused else ())
    reasons = [loop.reason for loop in result.report.loops]
    if rnn == "auto":
        above = 44 if steps == 5 else 160
        text = f"an LSTM of 300 units over {steps} steps: above {above} units, the fused op is not 1.1 times as fast as"
        assert any(reason.startswith(f"{text} the loop, ") for reason in reasons)
        assert every(reason.endswith("one UNIDIRECTIONAL_SEQUENCE_LSTM, for cpu, micro, ethos-u") for reason in reasons)
    if rnn == "loop":
        assert "an LSTM of 60 units, a loop by choice (--rnn)" in reasons


@pytest.mark.parametrize(
    ("options", "chosen_by"),
    [
        ({"quantize": "weights"}, "--quantize"),
        ({"quantize": "weights", "rnn": "loop"}, "--rnn"),
        ({"composites": "custom"}, "--composites custom"),
    ],
    ids=str,
)
def test_what_chose_the_form_is_named(tensorflow: TensorFlow, options: dict[str, Any], chosen_by: str) -> None:
    report = litefuse.convert(tensorflow.save(of_many_units, 5), **options).report
    for loop in report.loops:
        assert f" by choice ({chosen_by})" in loop.reason


def test_there_is_no_other_form(tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match=r"rnn is 'slow'(.|\n)*auto, fused, loop"):
        litefuse.convert(tmp_path, rnn="slow")  # pyright: ignore[reportArgumentType]


def layer(**options: Any) -> Any:
    keras = importlib.import_module("keras")
    made = keras.layers.LSTM(UNITS, **options)
    made.build((None, None, FEATURES))
    random = np.random.default_rng(3)
    made.set_weights([(random.standard_normal(w.shape) * 0.5).astype(np.float32) for w in made.get_weights()])
    return made


def behind_open_sizes(tf: Any, kind: str) -> Any:
    """Layers whose states or inputs have a size that only the call decides."""
    lstm = layer(return_sequences=True)

    def chosen(x: Any) -> Any:
        return tf.gather(x, tf.where(x[:, 0, 0] > -1e9)[:, 0])

    def states(x: Any) -> Any:
        h = chosen(x)[:, 0, :]
        h = tf.concat([h, h[:, :1]], 1)
        h.set_shape([None, UNITS])
        return h

    kinds: dict[str, Callable[[Any], Any]] = {
        "inputs": lambda x: lstm(chosen(x)),
        "states": lambda x: lstm(x, initial_state=[states(x), 2.0 * states(x)]),
        "loop": lambda x: lstm(
            x,
            initial_state=tf.while_loop(
                lambda i, *_: i < 3, lambda i, h, c: (i + 1, tf.tanh(h + 0.5), c - h), [0, states(x), states(x)]
            )[1:],
        ),
    }
    module = tf.Module()
    serve = tf.function(
        lambda x: {"y": kinds[kind](x)}, input_signature=[tf.TensorSpec([None, None, FEATURES], name="x")]
    )
    module.serve = serve
    module.tracked = list(serve.get_concrete_function().graph.variables)
    return module, {"serving_default": serve}


@pytest.mark.parametrize("kind", ["inputs", "states", "loop"])
def test_sizes_that_the_call_decides(tensorflow: TensorFlow, kind: str) -> None:
    inputs = [normal({"x": (batch, 6, FEATURES)})[0] for batch in (1, 3, 2, 1)]
    result = check(tensorflow, tensorflow.save(behind_open_sizes, kind), inputs)
    assert fused_layers(result) == 1


def export_autoencoder(_tf: Any, path: str, units: int) -> None:
    """The second layer's states have the shape of the first one's output, which the runtime knows before the call."""
    keras = importlib.import_module("keras")
    bias = keras.initializers.RandomNormal(stddev=0.5, seed=1)
    x = keras.Input((6, FEATURES), name="x")
    y = keras.layers.RepeatVector(4)(keras.layers.LSTM(units, bias_initializer=bias)(x))
    y = keras.layers.LSTM(units, return_sequences=True, bias_initializer=bias)(y)
    keras.Model(x, y).export(path, verbose=False)


@pytest.mark.parametrize("units", [3, 8])
def test_states_of_a_batch_that_grows(tensorflow: TensorFlow, tmp_path: Path, units: int) -> None:
    tensorflow.call(export_autoencoder, str(tmp_path / "model"), units)
    inputs = [normal({"x": (batch, 6, FEATURES)})[0] for batch in (1, 3, 2, 7, 40, 1)]
    assert fused_layers(check(tensorflow, tmp_path / "model", inputs, rnn="fused")) == 2
