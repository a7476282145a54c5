# pyright: reportUnknownLambdaType=false
"""Recurrent layers of all kinds that nobody annotated: what each is recognised as, and what it becomes."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.tensorflow.checking import check, op_counts, op_histogram

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    import litefuse
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
    "gru": ("GRUCell", {}, f"a GRU of 4 units: {NO_GRU}; a loop"),
    "lengths": ("LSTMCell", {}, f"a masked LSTM of 4 units: {LSTM} takes no mask"),
    "clipped": ("LSTMCell", {"cell_clip": 0.5}, "not recognised as an LSTM: "),
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
    assert all(reason in str(result.report) for reason in reasons)
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
    if importlib.util.find_spec("tf_keras") is None:
        pytest.skip("tf_keras is not installed")
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
