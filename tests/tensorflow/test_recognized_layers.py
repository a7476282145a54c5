# pyright: reportUnknownLambdaType=false
"""Recurrent layers of all kinds that nobody annotated: what each is recognized as, and what it becomes."""

from __future__ import annotations

import importlib
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.tensorflow.checking import check, custom_options, op_counts, op_histogram

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

FEATURES = 3
LSTM, RNN = "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN"
NO_GRU = "LiteRT has no op for it"

# Layers of Keras 3 by name: the class, its options, and the op that it becomes, or what the report says of it.
KERAS: dict[str, tuple[str, dict[str, Any], str]] = {
    "simple": ("SimpleRNN", {"return_sequences": True}, RNN),
    "simple_last": ("SimpleRNN", {"go_backwards": True, "use_bias": False}, RNN),
    "simple_relu": ("SimpleRNN", {"activation": "relu", "return_state": True}, RNN),
    "simple_relu6": ("SimpleRNN", {"activation": "relu6", "return_sequences": True}, RNN),
    "simple_masked": ("SimpleRNN", {"return_sequences": True}, f"a masked SimpleRNN of 4 units: {RNN} takes no mask"),
    "simple_sigmoid": (
        "SimpleRNN",
        {"activation": "sigmoid"},
        f"a SimpleRNN of 4 units whose activations {RNN} does not have (Sigmoid)",
    ),
    "lstm_relu": ("LSTM", {"activation": "relu", "return_sequences": True}, LSTM),
    "lstm_relu6": ("LSTM", {"activation": "relu6", "use_bias": False, "dropout": 0.2}, LSTM),
    "lstm_hard": (
        "LSTM",
        {"recurrent_activation": "hard_sigmoid", "return_sequences": True},
        f"an LSTM of 4 units whose activations {LSTM} does not have (AddV2(3), Relu6, RealDiv(6))",
    ),
    "lstm_masked": ("LSTM", {"return_sequences": True}, f"a masked LSTM of 4 units: {LSTM} takes no mask"),
    "lstm_masked_zeros": (
        "LSTM",
        {"return_sequences": True, "zero_output_for_mask": True},
        f"a masked LSTM of 4 units: {LSTM} takes no mask",
    ),
    "lstm_masked_last": ("LSTM", {"go_backwards": True}, f"a masked LSTM of 4 units: {LSTM} takes no mask"),
    "gru": ("GRU", {"return_sequences": True}, f"a GRU of 4 units: {NO_GRU}"),
    "gru_no_bias": ("GRU", {"use_bias": False, "go_backwards": True}, f"a GRU of 4 units: {NO_GRU}"),
    "gru_gates": ("GRU", {"dropout": 0.2, "recurrent_dropout": 0.1}, f"a GRU of 4 units: {NO_GRU}"),
    "gru_before": ("GRU", {"reset_after": False, "activation": "relu"}, f"a GRU of 4 units: {NO_GRU}"),
    "gru_before_gates": ("GRU", {"reset_after": False, "dropout": 0.2}, f"a GRU of 4 units: {NO_GRU}"),
    "gru_masked": ("GRU", {"return_sequences": True}, f"a masked GRU of 4 units: {NO_GRU}"),
}

# Cells of TensorFlow 1 by name: the class in tf_keras, its options, and what a loop of it becomes, or is called.
V1: dict[str, tuple[str, dict[str, Any], str]] = {
    "basic": ("BasicLSTMCell", {"forget_bias": 0.5, "activation": "relu"}, LSTM),
    "plain": ("LSTMCell", {}, LSTM),
    "peepholes": ("LSTMCell", {"use_peepholes": True}, LSTM),
    "projection": ("LSTMCell", {"num_proj": 3, "forget_bias": 0.0}, LSTM),
    "both": ("LSTMCell", {"num_proj": 3, "use_peepholes": True}, LSTM),
    "rnn": ("BasicRNNCell", {}, RNN),
    "gru": ("GRUCell", {}, f"a GRU of 4 units: {NO_GRU}"),
    "lengths": ("LSTMCell", {}, f"a masked LSTM of 4 units: {LSTM} takes no mask"),
    "clipped": ("LSTMCell", {"cell_clip": 0.5, "num_proj": 3, "proj_clip": 0.25}, LSTM),
}


def randomize(weights: Sequence[Any]) -> None:
    random = np.random.default_rng(3)
    for weight in weights:
        weight.assign((random.standard_normal(weight.shape) * 0.5).astype(np.float32))


def serving(tf: Any, function: Any, *specs: Any) -> Any:
    module = tf.Module()
    module.serve = tf.function(function, input_signature=specs, autograph=False)
    module.tracked = list(module.serve.get_concrete_function().graph.variables)
    return module, {"serving_default": module.serve}


def flat(tf: Any, results: dict[str, Any]) -> dict[str, Any]:
    return {f"{name}_{i}": y for name, result in results.items() for i, y in enumerate(tf.nest.flatten(result))}


def keras_layers(tf: Any, names: Sequence[str], batch: int | None, time: int | None) -> Any:
    keras = importlib.import_module("keras")
    layers = {name: getattr(keras.layers, KERAS[name][0])(4, name=name, **KERAS[name][1]) for name in names}
    for layer in layers.values():
        layer.build((batch, time, FEATURES))
        randomize([each for each in layer.weights if each.dtype == "float32"])

    def serve(x: Any) -> dict[str, Any]:
        mask = x[:, :, 0] > -0.5
        return flat(tf, {name: layer(x, mask=mask if "masked" in name else None) for name, layer in layers.items()})

    return serving(tf, serve, tf.TensorSpec([batch, time, FEATURES], name="x"))


def v1_cells(tf: Any, names: Sequence[str], batch: int | None, time: int | None) -> Any:
    legacy = importlib.import_module("tf_keras.src.layers.rnn.legacy_cells")
    cells = {name: getattr(legacy, V1[name][0])(4, **V1[name][1]) for name in names}
    for cell in cells.values():
        cell.build([None, FEATURES])
        randomize(cell.weights)

    def serve(x: Any) -> dict[str, Any]:
        lengths = tf.minimum(tf.shape(x)[1], 1 + tf.range(tf.shape(x)[0]))
        results = {
            name: tf.compat.v1.nn.dynamic_rnn(
                cell, x, lengths if name == "lengths" else None, dtype=tf.float32, scope=name
            )
            for name, cell in cells.items()
        }
        return flat(tf, results)

    return serving(tf, serve, tf.TensorSpec([batch, time, FEATURES], name="x"))


STEPS = 4


def unrolled_layers(tf: Any, batch: int | None) -> Any:
    """Stacked, in both directions, of all or the last step, and what LiteRT has no op for."""
    keras = importlib.import_module("keras")
    layers = keras.layers
    options = {"unroll": True, "return_sequences": True, "bias_initializer": "random_normal"}
    lower, upper = layers.LSTM(4, **options), layers.LSTM(5, **options | {"use_bias": False, "return_state": True})
    both = layers.Bidirectional(layers.SimpleRNN(3, **options | {"activation": "relu"}))
    last = layers.LSTM(4, **options | {"return_sequences": False, "go_backwards": True})
    gru = layers.GRU(4, **options)
    keras.utils.set_random_seed(2)

    def serve(x: Any) -> dict[str, Any]:
        return flat(tf, {"stack": upper(lower(x)), "both": both(x), "last": last(x), "gru": gru(x)})

    return serving(tf, serve, tf.TensorSpec([batch, STEPS, FEATURES], name="x"))


UNROLLED = [*[LSTM] * 3, *[RNN] * 2, f"an unrolled GRU of 4 units: {NO_GRU}"]


def static_cells(tf: Any, batch: int | None) -> Any:
    """Cells of TensorFlow 1, whose outputs are stacked with the batch first, or used one by one."""
    legacy = importlib.import_module("tf_keras.src.layers.rnn.legacy_cells")
    cells = [legacy.LSTMCell(4, use_peepholes=True, num_proj=3), legacy.BasicRNNCell(4)]
    for cell in cells:
        cell.build([None, FEATURES])
        randomize(cell.weights)

    def serve(x: Any) -> dict[str, Any]:
        (outputs, state), (others, _) = (
            tf.compat.v1.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32, scope=str(number))
            for number, cell in enumerate(cells)
        )
        sums = [one + tf.nn.relu(other) for one, other in itertools.pairwise(others)]
        return flat(tf, {"stacked": tf.stack(outputs, 1), "state": state, "sums": tf.add_n(sums)})

    return serving(tf, serve, tf.TensorSpec([batch, STEPS, FEATURES], name="x"))


def chain(tf: Any, kind: str) -> Any:
    """A SimpleRNN step by step, or nearly so."""
    random = np.random.default_rng(5)

    def weight(*shape: int) -> Any:
        return tf.Variable((random.standard_normal(shape) * 0.5).astype(np.float32))

    kernel, recurrent, bias, other = weight(FEATURES, FEATURES), weight(FEATURES, FEATURES), weight(FEATURES), weight(3)

    def serve(x: Any) -> dict[str, Any]:
        h = tf.zeros_like(x[:, 0])
        y: dict[str, Any] = {}
        for step in range(STEPS):
            inputs = x[:, step]
            if kind == "feedback" and step == 2:
                inputs = tf.nn.softmax(h)
            b = other if kind == "another bias" and step % 2 else bias
            rows = kind.startswith("outputs first")  # both kernels are square
            z = tf.matmul(h, recurrent, transpose_b=rows) + (b + tf.matmul(inputs, kernel, transpose_b=rows))
            if kind == "outputs first, two biases":
                z = z + other
            if kind == "sum is used" and step == 1:
                y["z"] = z
            h = tf.nn.softsign(z) if kind == "another activation" and step % 2 else tf.tanh(z)
            y[f"h{step}"] = h
        return y

    return serving(tf, serve, tf.TensorSpec([None, STEPS, FEATURES], name="x"))


def grus(tf: Any) -> Any:
    """A GRU step by step, by its name, and what nearly is one."""
    random = np.random.default_rng(5)

    def weight(*shape: int) -> Any:
        return tf.Variable((random.standard_normal(shape) * 0.5).astype(np.float32))

    kernel, recurrent, bias = weight(FEATURES, 12), weight(4, 12), weight(2, 12)

    def step(kind: str, x: Any, h: Any) -> Any:
        of_x, of_h = tf.matmul(x, kernel) + bias[0], tf.matmul(h, recurrent) + bias[1]
        (x_z, x_r, x_g), (h_z, h_r, h_g) = tf.split(of_x, 3, 1), tf.split(of_h, 3, 1)
        z, r = tf.sigmoid(x_z + h_z), tf.sigmoid(x_r + h_r)
        if kind == "gates in another order":
            z, r = r, z
        if kind == "another activation":
            r = tf.tanh(x_r + h_r)
        g = tf.tanh(x_g + (h_g if kind == "no reset" else r * h_g))
        return (1.0 - z) * h + z * g if kind == "updates swapped" else (1.0 - z) * g + h * z

    def serve(x: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for kind in ("plain", "gates in another order", "another activation", "no reset", "updates swapped"):
            h = tf.zeros([tf.shape(x)[0], 4])
            with tf.name_scope(kind.replace(" ", "_")):
                for index in range(3):
                    h = step(kind, x[:, index], h)
            found[kind.replace(" ", "_")] = h
        return found

    return serving(tf, serve, tf.TensorSpec([None, 3, FEATURES], name="x"))


def inputs(*sizes: tuple[int, int]) -> list[dict[str, npt.NDArray[Any]]]:
    random = np.random.default_rng(8)
    return [{"x": random.standard_normal((*size, FEATURES)).astype(np.float32)} for size in sizes]


OPEN, FIXED = inputs((1, 5), (3, 5), (3, 7)), inputs((1, 5))


def found(result: litefuse.ConversionResult) -> list[str]:
    """The ops that layers became, each checked, and the reasons of the others."""
    for composite in result.report.composites:
        assert (composite.outcome, composite.reason, composite.unchecked) == ("fused", None, None)
    fused = [composite.fused_into or "" for composite in result.report.composites for _ in range(composite.call_sites)]
    reasons = [loop.reason for loop in result.report.loops]
    assert not [reason for reason in reasons if reason not in result.report.details()]
    return sorted([*fused, *reasons])


def assert_found(result: litefuse.ConversionResult, expected: Sequence[str]) -> None:
    for text, beginning in zip(found(result), sorted(expected), strict=True):
        assert text.startswith(beginning)
    counts = op_counts(result.model_bytes)
    assert [counts[op] for op in (LSTM, RNN)] == [list(expected).count(op) for op in (LSTM, RNN)]


@pytest.mark.parametrize("sizes", ["open", "fixed"])
@pytest.mark.parametrize("kind", ["simple", "lstm", "gru"])
def test_keras(tensorflow: TensorFlow, kind: str, sizes: str) -> None:
    names = [name for name in KERAS if name.split("_")[0] == kind]
    path = tensorflow.save(keras_layers, names, *((None, None) if sizes == "open" else (1, 5)))
    result = check(tensorflow, path, OPEN if sizes == "open" else FIXED)
    assert_found(result, [KERAS[name][2] for name in names])


@pytest.mark.parametrize("sizes", ["open", "fixed"])
def test_tensorflow_1(tensorflow: TensorFlow, sizes: str) -> None:
    path = tensorflow.save(v1_cells, list(V1), *((None, None) if sizes == "open" else (1, 5)))
    result = check(tensorflow, path, OPEN if sizes == "open" else FIXED)
    assert_found(result, [expected for _, _, expected in V1.values()])


def test_input_projections_of_loops_are_hoisted(tensorflow: TensorFlow) -> None:
    """So that the body of each loop has the product of the state alone."""
    names = ["gru", "lstm_hard", "lstm_masked", "gru_masked"]
    result = check(tensorflow, tensorflow.save(keras_layers, names, None, None), OPEN)
    histogram = op_histogram(result.model_bytes)
    graphs = {graph for graph, op in histogram if op in {"FULLY_CONNECTED", "BATCH_MATMUL"}}
    (main,) = {graph for graph, op in histogram if op == "WHILE"}
    products = [
        histogram[graph, "FULLY_CONNECTED"] + histogram[graph, "BATCH_MATMUL"] for graph in graphs if graph != main
    ]
    assert products == [1] * len(names)


def pieces_of_weights(tf: Any, batch: int | None) -> Any:
    """Layers whose kernels and biases are taken apart in each step."""
    keras = importlib.import_module("keras")
    layers = [
        keras.layers.GRU(4, return_sequences=True),
        keras.layers.GRU(4, reset_after=False, dropout=0.2, recurrent_dropout=0.1),
        keras.layers.ConvLSTM2D(2, (1, 2), padding="same"),
    ]
    for layer, shape in zip(layers, [(batch, 5, 3), (batch, 5, 3), (batch, 5, 1, 3, 1)], strict=True):
        layer.build(shape)
        randomize([each for each in layer.weights if each.dtype == "float32"])

    def serve(x: Any) -> dict[str, Any]:
        image = x[:, :, None, :, None]
        return {"gru": layers[0](x), "gates": layers[1](x), "conv": layers[2](image)}

    return serving(tf, serve, tf.TensorSpec([batch, 5, FEATURES], name="x"))


@pytest.mark.parametrize("batch", [None, 2])
def test_weights_are_taken_apart_before_the_loop(tensorflow: TensorFlow, batch: int | None) -> None:
    path = tensorflow.save(pieces_of_weights, batch)
    result = check(tensorflow, path, inputs((2, 5)) if batch else inputs((1, 5), (3, 5), (2, 5)))
    counts, histogram = op_counts(result.model_bytes), op_histogram(result.model_bytes)
    (main,) = {graph for graph, op in histogram if op == "WHILE"}
    in_loops = {op: counts[op] - histogram[main, op] for op in counts}
    assert counts["BATCH_MATMUL"] == in_loops["TRANSPOSE"] == counts["SQUEEZE"] == counts["UNPACK"] == 0
    assert (counts["FULLY_CONNECTED"], in_loops["FULLY_CONNECTED"]) == (2 + 6, 1 + 3)
    # All products have their biases: what is left is the algebra, and the two counters of each loop.
    assert in_loops["ADD"] == 4 + 4 + 5 + 3 * 2


def test_input_projections_of_tensorflow_1_are_hoisted(tensorflow: TensorFlow) -> None:
    """The GRU has two kernels, of its gates and of its candidate."""
    result = check(tensorflow, tensorflow.save(v1_cells, ["plain", "gru"], None, None), OPEN, rnn="loop")
    histogram = op_histogram(result.model_bytes)
    (main,) = {graph for graph, op in histogram if op == "WHILE"}
    products = {graph: count for (graph, op), count in histogram.items() if op == "FULLY_CONNECTED"}
    assert sorted(count for graph, count in products.items() if graph != main) == [1, 2]


@pytest.mark.parametrize("batch", [None, 1])
def test_unrolled(tensorflow: TensorFlow, batch: int | None) -> None:
    sets = inputs((1, STEPS), (3, STEPS)) if batch is None else inputs((1, STEPS))
    result = check(tensorflow, tensorflow.save(unrolled_layers, batch), sets, rnn="fused")
    assert_found(result, UNROLLED)


@pytest.mark.parametrize("batch", [None, 1])
def test_unrolled_in_tensorflow_1(tensorflow: TensorFlow, batch: int | None) -> None:
    sets = inputs((1, STEPS), (3, STEPS)) if batch is None else inputs((1, STEPS))
    assert_found(check(tensorflow, tensorflow.save(static_cells, batch), sets, rnn="fused"), [LSTM, RNN])


FUSED_CHAINS = ["plain", "outputs first", "outputs first, two biases"]


@pytest.mark.parametrize("kind", [*FUSED_CHAINS, "another activation", "another bias", "feedback", "sum is used"])
def test_steps_one_by_one(tensorflow: TensorFlow, kind: str) -> None:
    result = check(tensorflow, tensorflow.save(chain, kind), inputs((1, STEPS), (3, STEPS)), rnn="fused")
    assert op_counts(result.model_bytes)[RNN] == (1 if kind in FUSED_CHAINS else 0)
    stays = "an unrolled SimpleRNN of 3 units, which stays as it is: "
    reasons = {
        "feedback": [f"{stays}its inputs depend on its outputs, or come too late"],
        "sum is used": [f"{stays}something between its steps is used elsewhere"],
    }
    assert [loop.reason for loop in result.report.loops] == reasons.get(kind, [])


@pytest.mark.parametrize("form", ["keep", "inline"])
def test_gru_is_a_composite_if_its_form_is_chosen(tensorflow: TensorFlow, form: str) -> None:
    path = tensorflow.save(keras_layers, ["gru", "gru_before"], None, None)
    result = check(tensorflow, path, OPEN, composites={"gru_loop": form})
    names = [(composite.name, composite.call_sites) for composite in result.report.composites]
    assert names == [("gru_loop", 1)] * 2
    counts = op_counts(result.model_bytes)
    assert counts["STABLEHLO_COMPOSITE"] == (2 if form == "keep" else 0)
    assert result.report.loops == ()


def test_gru_is_a_custom_op_if_that_is_chosen(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(keras_layers, ["gru", "gru_before"], None, None)
    result = litefuse.convert(path, composites={"gru_loop": "custom"}, allow_custom_ops=True)
    options = custom_options(result.model_bytes)["gru_loop"]
    assert options == [{"reset_after": True}, {"reset_after": False, "activation": "relu"}]


def test_what_is_nearly_a_gru_is_none(tensorflow: TensorFlow) -> None:
    result = check(tensorflow, tensorflow.save(grus), inputs((1, 3), (3, 3)))
    assert {(loop.layer, loop.reason) for loop in result.report.loops} == {
        (kind, f"an unrolled GRU of 4 units: {NO_GRU}")
        for kind in ("plain", "gates_in_another_order", "updates_swapped")
    }
    assert result.report.composites == ()
