"""The LSTM composites against TensorFlow: several calls in a row on one interpreter, which must not remember any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import litefuse
from tests.every import every
from tests.tensorflow.checking import check, normal, op_counts, run_calls
from tests.tensorflow.saved_models import serving

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tests.tensorflow.process import TensorFlow

SEQUENCE = "UNIDIRECTIONAL_SEQUENCE_LSTM"


def keras_models(tf: Any, shape: tuple[int | None, ...], models: Sequence[tuple[str, dict[str, Any]]]) -> Any:
    """Keras 2 models of one input with random weights, biases too, as one signature.

    Args:
        tf: The module ``tensorflow``.
        shape: Of the input.
        models: What is around or after an LSTM layer, and the layer's options.
    """
    import tf_keras  # pyright: ignore[reportMissingTypeStubs, reportMissingImports]

    keras: Any = tf_keras
    inputs = keras.Input(batch_shape=shape)
    outputs: list[Any] = []
    for wrapper, options in models:
        layer = lstm(keras, **options)
        if wrapper == "masked":
            found = layer(keras.layers.Masking()(inputs))
        elif wrapper == "bidirectional":
            found = keras.layers.Bidirectional(layer)(inputs)
        elif wrapper == "stacked":
            found = keras.layers.LSTM(3)(layer(inputs))
        elif wrapper == "shared":
            found = [layer(inputs), layer(inputs), layer(-inputs)]
        else:
            found = layer(inputs)
        outputs += cast("list[Any]", found) if isinstance(found, list) else [found]
    return served(tf, keras.Model(inputs, outputs), [tf.TensorSpec(shape, tf.float32, name="x")])


def lstm(keras: Any, units: int = 5, **options: Any) -> Any:
    return keras.layers.LSTM(units, bias_initializer=keras.initializers.RandomNormal(seed=3), **options)


def served(tf: Any, model: Any, specs: Sequence[Any]) -> Any:
    """A signature that calls the model, whose outputs are y0, y1...; the layers are not saved, which takes long."""

    def serve(*inputs: Any) -> Any:
        found = model(inputs[0] if len(inputs) == 1 else list(inputs))
        outputs = cast("list[Any]", found) if isinstance(found, list) else [found]
        return {f"y{index}": value for index, value in enumerate(outputs)}

    module = tf.Module()
    module.variables_of_model = model.variables
    module.serve = tf.function(serve, input_signature=specs, autograph=False)
    return module, {"serving_default": module.serve}


def fused_ops(result: litefuse.ConversionResult) -> list[str | None]:
    """What the composites became; every one was checked."""
    for composite in result.report.composites:
        assert composite.outcome == "fused", composite.reason
        assert composite.unchecked is None
        assert composite.error is not None
        assert composite.error < 1e-5
    return [composite.fused_into for composite in result.report.composites]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"return_sequences": True},
    {"return_sequences": True, "return_state": True},
    {"return_state": True, "go_backwards": True},
    {"return_sequences": True, "go_backwards": True},
    {"unit_forget_bias": False, "implementation": 1},
]


@pytest.mark.parametrize("shape", [(None, 6, 3), (1, 6, 3), (None, None, 3)], ids=str)
def test_keras_lstm(tensorflow: TensorFlow, shape: tuple[int | None, ...]) -> None:
    path = tensorflow.save(keras_models, shape, [("", options) for options in OPTIONS])
    batches = (1, 3, 2) if shape[0] is None else (shape[0],) * 2
    inputs = normal({"x": (None, shape[1] or 4, 3)}, batches=batches)
    result = check(tensorflow, path, inputs, require_fused=True)
    assert fused_ops(result) == [SEQUENCE] * 6
    counts = op_counts(result.model_bytes)
    assert (counts[SEQUENCE], counts["FILL"]) == (6, 12)
    assert counts["WHILE"] == counts["TRANSPOSE"] == counts["SPLIT"] == counts["TILE"] == 0


@pytest.mark.parametrize("batch", [None, 3])
def test_time_major(tensorflow: TensorFlow, batch: int | None) -> None:
    common = {"time_major": True, "return_state": True}
    models = [
        ("", {**common, "go_backwards": go_backwards, "return_sequences": sequences})
        for go_backwards in (False, True)
        for sequences in (False, True)
    ]
    path = tensorflow.save(keras_models, (6, batch, 3), models)
    inputs = [normal({"x": (6, size, 3)}, batches=(1,))[0] for size in ((1, 3, 1) if batch is None else (batch,))]
    result = check(tensorflow, path, inputs, require_fused=True)
    assert fused_ops(result) == [SEQUENCE] * 4


@pytest.mark.parametrize("batch", [None, 3])
def test_several_layers(tensorflow: TensorFlow, batch: int | None) -> None:
    models = [(wrapper, {"return_sequences": True}) for wrapper in ("bidirectional", "stacked", "shared")]
    path = tensorflow.save(keras_models, (batch, 6, 3), models)
    inputs = normal({"x": (None, 6, 3)}, batches=(1, 3, 3, 2) if batch is None else (batch,))
    result = check(tensorflow, path, inputs, require_fused=True)
    assert set(fused_ops(result)) == {SEQUENCE}
    counts = op_counts(result.model_bytes)
    assert (counts[SEQUENCE], counts["FILL"]) == (7, 14)


def save_with_keras(tf: Any, path: str) -> None:
    """A Keras 2 model as its own ``save`` writes it, which traces every layer several times."""
    import tf_keras  # pyright: ignore[reportMissingTypeStubs, reportMissingImports]

    keras: Any = tf_keras
    tf.random.set_seed(0)
    layers = [lstm(keras, return_sequences=True), lstm(keras), keras.layers.Dense(2, name="y")]
    keras.Sequential([keras.Input(shape=(6, 3), name="x"), *layers]).save(path, save_format="tf")


def test_keras_save(tensorflow: TensorFlow) -> None:
    path = tensorflow.directory / "keras_save"
    tensorflow.call(save_with_keras, str(path))
    result = check(tensorflow, path, normal({"x": (None, 6, 3)}), require_fused=True)
    assert fused_ops(result) == [SEQUENCE] * 2
    assert op_counts(result.model_bytes)["WHILE"] == 0


def with_initial_states(tf: Any, batch: int | None) -> Any:
    """Layers whose initial states are inputs, the same input twice, what a layer computes, and large constants."""
    import tf_keras  # pyright: ignore[reportMissingTypeStubs, reportMissingImports]

    keras: Any = tf_keras
    shapes = {"x": (batch, 6, 3), "h": (batch, 5), "c": (batch, 5)}
    x, h, c = (keras.Input(batch_shape=shape) for shape in shapes.values())
    values = np.random.default_rng(1).normal(0, 15, (2, 1, 5)).astype(np.float32)

    def constant(value: npt.NDArray[Any]) -> Any:
        return keras.layers.Lambda(lambda c: tf.tile(value, [tf.shape(c)[0], 1]))(c)  # pyright: ignore[reportUnknownLambdaType]

    kinds = [[h, c], [h, h], [keras.layers.Dense(5)(h), h + c], [constant(value) for value in values]]
    outputs: list[Any] = []
    for states in kinds:
        outputs += lstm(keras, return_state=True)(x, initial_state=states)
        # The states are read again after the layer: it must not have changed them.
        outputs += [state * 2.0 for state in states]
    model = keras.Model([x, h, c], outputs)
    return served(tf, model, [tf.TensorSpec(shape, tf.float32, name=name) for name, shape in shapes.items()])


@pytest.mark.parametrize("batch", [None, 3])
def test_initial_state(tensorflow: TensorFlow, batch: int | None) -> None:
    path = tensorflow.save(with_initial_states, batch)
    inputs = normal(
        {"x": (None, 6, 3), "h": (None, 5), "c": (None, 5)}, batches=(1, 3, 3) if batch is None else (batch,)
    )
    for each in inputs:
        each["c"] *= 20  # a limit of the cell state, which Keras has not, would show
    result = check(tensorflow, path, inputs, require_fused=True)
    assert fused_ops(result) == [SEQUENCE] * 4


def stateful(tf: Any, batch: int) -> Any:
    """A layer that goes on from the last call's states."""
    import tf_keras  # pyright: ignore[reportMissingTypeStubs, reportMissingImports]

    keras: Any = tf_keras
    x = keras.Input(batch_shape=(batch, 6, 3))
    layer = lstm(keras, stateful=True, return_sequences=True)
    module, signatures = served(tf, keras.Model(x, layer(x)), [tf.TensorSpec((batch, 6, 3), tf.float32, name="x")])
    module.states = layer.states
    return module, signatures


@pytest.mark.parametrize("batch", [1, 3])
def test_stateful_layer(tensorflow: TensorFlow, batch: int) -> None:
    path = tensorflow.save(stateful, batch)
    inputs = normal({"x": (batch, 6, 3)}, batches=(1, 1))
    result = check(tensorflow, path, inputs, require_fused=True)
    assert fused_ops(result) == [SEQUENCE]
    counts = op_counts(result.model_bytes)
    assert (counts["READ_VARIABLE"], counts["ASSIGN_VARIABLE"]) == (2, 4)  # each is also given its first value


def test_the_stock_converter_forgets_what_is_kept_here(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(keras_models, (1, 6, 3), [("", {})])
    stock = tensorflow.stock_convert(path)
    assert isinstance(stock, bytes), stock
    assert op_counts(stock)[SEQUENCE] == 1
    ours = litefuse.convert(path, require_fused=True).model_bytes
    (inputs,) = normal({"x": (1, 6, 3)}, batches=(1,))
    calls = [("serving_default", inputs)] * 2
    first, second = (each["y0"] for each in run_calls(stock, calls))
    ours_first, ours_second = (each["y0"] for each in run_calls(ours, calls))
    np.testing.assert_allclose(ours_first, first, atol=1e-6)
    assert np.abs(second - first).max() > 1e-3  # the stock converter's model goes on from the first call's state
    np.testing.assert_array_equal(ours_second, ours_first)


def test_masked_layer_is_kept_with_the_reason(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(keras_models, (1, 6, 3), [("masked", {})])
    (inputs,) = normal({"x": (1, 6, 3)}, batches=(1,))
    inputs["x"][:, 4:] = 0
    result = check(tensorflow, path, inputs)
    (composite,) = result.report.composites
    assert composite.outcome == "inlined"
    assert composite.reason is not None
    assert "it has 7 arguments: a mask" in composite.reason
    assert op_counts(result.model_bytes)["WHILE"] == 1


def annotated(tf: Any, name: str, cell: str, batch: int | None) -> Any:
    """A function with the annotation of Keras 2, written by hand: its steps are unrolled."""
    random = np.random.default_rng(2)
    diagonal = name.startswith("indy_")
    weights = [
        random.normal(0, 0.5, shape).astype(np.float32) for shape in ((3, 20), (5, 4 if diagonal else 20), (20,))
    ]

    def body(inputs: Any, h: Any, c: Any, kernel: Any, recurrent: Any, bias: Any) -> Any:
        outputs: list[Any] = []
        for step in range(4):
            again = tf.concat([h * recurrent[:, gate] for gate in range(4)], 1) if diagonal else h @ recurrent
            i, f, g, o = tf.split(inputs[:, step] @ kernel + again + bias, 4, 1)
            if cell == "hard":
                i, f, o = (tf.clip_by_value(0.2 * gate + 0.5, 0.0, 1.0) for gate in (i, f, o))
            else:
                i, f, o = (tf.sigmoid(gate) for gate in (i, f, o))
            c = f * c + i * (tf.nn.relu(g) if cell == "relu" else tf.tanh(g))
            if cell == "clipped":
                c = tf.clip_by_value(c, -10.0, 10.0)
            h = o * tf.tanh(c)
            outputs.append(h)
        return h, tf.stack(outputs, 1), h, c, tf.constant(1.0)

    specs = [
        tf.TensorSpec([batch, 4, 3], tf.float32),
        *[tf.TensorSpec([batch, 5], tf.float32)] * 2,
        *(tf.TensorSpec(weight.shape, tf.float32) for weight in weights),
    ]
    function = tf.function(
        body,
        input_signature=specs,
        autograph=False,
        experimental_attributes={"api_implements": name, "time_major": False, "go_backwards": False},
    )
    module = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([batch, 4, 3], tf.float32, name="x")])
    def serve(x: Any) -> Any:
        states = [tf.zeros([tf.shape(x)[0], 5]) for _ in range(2)]
        last, outputs, _, c, _ = function(x, *states, *map(tf.constant, weights))
        return {"last": last, "outputs": outputs, "c": c}

    module.serve = serve
    return module, {"serving_default": serve}


@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("name", ["lstm_1", "indy_lstm_1"])
def test_hand_written_function(tensorflow: TensorFlow, name: str, batch: int | None) -> None:
    path = tensorflow.save(annotated, name, "lstm", batch)
    inputs = normal({"x": (None, 4, 3)}, batches=(1, 3) if batch is None else (batch,))
    result = check(tensorflow, path, inputs, require_fused=True)
    assert fused_ops(result) == [SEQUENCE]


def of_any_form(tf: Any, name: str, time_major: bool, go_backwards: bool, difference: int | None) -> Any:
    """A layer as Keras 2 annotates it, of which no result means anything after the fourth; one may be wrong."""
    random = np.random.default_rng(3)
    columns = 4 if name.startswith("indy") else 20
    weights = [random.normal(0, 0.5, shape).astype(np.float32) for shape in ((3, 20), (5, columns), (20,))]

    def body(inputs: Any, h: Any, c: Any, kernel: Any, recurrent: Any, bias: Any) -> Any:
        outputs: list[Any] = []
        steps = tf.unstack(inputs, 4, 0 if time_major else 1)
        for x in steps[::-1] if go_backwards else steps:
            again = tf.tile(h, [1, 4]) * tf.reshape(tf.transpose(recurrent), [-1]) if columns == 4 else h @ recurrent
            i, f, g, o = tf.split(x @ kernel + again + bias, 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
            outputs.append(h)
        results = [h, tf.stack(outputs, 0 if time_major else 1), h, c, tf.constant(0.0)]
        if difference is not None:
            results[difference] += 0.5
        return results

    shape = [4, None, 3] if time_major else [None, 4, 3]
    function = tf.function(
        body,
        input_signature=[
            tf.TensorSpec(shape, tf.float32),
            *[tf.TensorSpec([None, 5], tf.float32)] * 2,
            *(tf.TensorSpec(weight.shape, tf.float32) for weight in weights),
        ],
        autograph=False,
        experimental_attributes={"api_implements": name, "time_major": time_major, "go_backwards": go_backwards},
    )

    def serve(x: Any) -> Any:
        states = [tf.zeros([tf.shape(x)[1 if time_major else 0], 5]) for _ in range(2)]
        return dict(zip("abcd", function(x, *states, *map(tf.constant, weights)), strict=False))

    return serving(tf, serve, ("x", shape, "float32"))


@pytest.mark.parametrize("go_backwards", [False, True])
@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("name", ["lstm_1", "indy_lstm_1"])
def test_last_result_means_nothing(tensorflow: TensorFlow, name: str, time_major: bool, go_backwards: bool) -> None:
    shape = (4, None, 3) if time_major else (None, 4, 3)
    path = tensorflow.save(of_any_form, name, time_major, go_backwards, None)
    result = check(tensorflow, path, normal({"x": shape}), require_fused=True)
    assert fused_ops(result) == [SEQUENCE]
    (composite,) = result.report.composites
    assert composite.error is not None


@pytest.mark.parametrize("difference", range(5))
def test_a_result_that_differs_is_named(tensorflow: TensorFlow, difference: int) -> None:
    path = tensorflow.save(of_any_form, "lstm_1", False, False, difference)
    result = check(tensorflow, path, normal({"x": (None, 4, 3)}))
    (composite,) = result.report.composites
    if difference == 4:  # of which nothing is asked
        assert composite.outcome == "fused"
    else:
        assert f"it computes something else: the relative error of result {difference} (float32[" in str(
            composite.reason
        )


@pytest.mark.parametrize("cell", ["relu", "hard", "clipped"])
def test_function_of_another_cell_is_kept(tensorflow: TensorFlow, cell: str) -> None:
    path = tensorflow.save(annotated, "lstm_1", cell, None)
    result = check(tensorflow, path, normal({"x": (None, 4, 3)}))
    (composite,) = result.report.composites
    assert composite.outcome == "inlined"
    assert composite.reason is not None
    assert "it computes something else" in composite.reason


def cells(tf: Any, names: Sequence[str], batch: int | None, body: str = "") -> Any:
    """For each name a function of one LSTM step from zero states, annotated with it and called twice."""
    module = tf.Module()
    functions = [cell(tf, name, body) for name in names]
    module.weights = [[tf.Variable(weight) for weight in weights] for _, weights in functions]

    @tf.function(input_signature=[tf.TensorSpec([batch, 3], tf.float32, name="x")], autograph=False)
    def serve(x: Any) -> Any:
        outputs: dict[str, Any] = {}
        for index, ((function, _), weights) in enumerate(zip(functions, module.weights, strict=True)):
            values = [tf.convert_to_tensor(weight) for weight in weights]
            outputs |= {f"y{index}": function(x, *values), f"z{index}": function(2.0 * x, *values)}
        return outputs

    module.serve = serve
    return module, {"serving_default": serve}


def cell(tf: Any, name: str, body: str) -> tuple[Any, list[npt.NDArray[Any]]]:
    """The function of one LSTM step, and its weights."""
    n_in, n_cell, n_out = 3, 5, 4
    gates = 3 if "Couple" in name else 4
    random = np.random.default_rng(2)
    shapes = [(n_in + n_out, gates * n_cell), (gates * n_cell,), (n_cell, n_out), (gates * n_cell,)]
    weights = [random.normal(0, 1, shape).astype(np.float32) for shape in shapes]
    if "LayerNorm" not in name:
        del weights[3]

    def step(x: Any, weight: Any, bias: Any, projection: Any, scale: Any = None) -> Any:
        zeros = tf.zeros([tf.shape(x)[0], n_out])
        sums = tf.split(tf.concat([x, zeros], 1) @ weight, gates, 1)
        if scale is not None:
            normalized: list[Any] = []
            for part in sums:
                mean, variance = tf.nn.moments(part, [1], keepdims=True)
                normalized.append((part - mean) * tf.math.rsqrt(variance + 1e-8))
            sums = [part * factor for part, factor in zip(normalized, tf.split(scale, gates), strict=True)]
        sums = [part + one for part, one in zip(sums, tf.split(bias, gates), strict=True)]
        forget = tf.sigmoid(sums[-2])
        inward = 1.0 - forget if gates == 3 else tf.sigmoid(sums[1])
        c = inward * (tf.nn.relu(sums[0]) if body == "relu" else tf.tanh(sums[0]))
        return (tf.sigmoid(sums[-1]) * tf.tanh(c)) @ projection

    def plain(x: Any, weight: Any, bias: Any, projection: Any) -> Any:
        return step(x, weight, bias, projection)

    implementation = step if len(weights) == 4 else plain
    return tf.function(implementation, experimental_implements=name, autograph=False), weights


CELLS = [
    f"{name}{suffix}"
    for name in ("LSTMCellSimple", "LayerNormalizedLstmCellSimple")
    for suffix in ("", ",CoupleInputForgetGates")
]


@pytest.mark.parametrize(
    ("model", "arguments", "reason"),
    [
        (
            keras_models,
            ((None, 6, 3), [("", {"units": 64})]),
            "an LSTM of 64 units over 6 steps: above 44 units,",
        ),
        (cells, (["LSTMCellSimple"], 1), "one step of its ops is faster"),
    ],
    ids=["layer", "cell"],
)
def test_the_faster_form_is_taken_unless_one_is_chosen(
    tensorflow: TensorFlow, model: Any, arguments: Any, reason: str
) -> None:
    path = tensorflow.save(model, *arguments)
    shape, batches = ((None, 6, 3), (1, 2)) if model is keras_models else ((None, 3), (1, 1))
    result = check(tensorflow, path, normal({"x": shape}, batches=batches))
    (composite,) = result.report.composites
    assert (composite.outcome, composite.better_inlined) == ("inlined", True)
    assert reason in str(composite.reason)
    assert "not fused" not in result.report.details()
    ways: list[dict[str, Any]] = [
        {"rnn": "fused"},
        {"require_fused": True},
        {"composites": {composite.name: "fuse"}},
        {"target": "micro"},
    ]
    for options in ways if model is keras_models else ways[:3]:
        (fused,) = litefuse.convert(path, **options).report.composites
        assert fused.outcome == "fused", options
    if model is keras_models:  # whose op has states, in variable tensors
        report = litefuse.convert(path, target="gpu").report
        assert "takes no variable tensors" in str(report.composites[0].reason)
        assert SEQUENCE not in report.op_counts


@pytest.mark.parametrize("batch", [None, 1, 3])
def test_cell(tensorflow: TensorFlow, batch: int | None) -> None:
    path = tensorflow.save(cells, CELLS, batch)
    result = check(
        tensorflow,
        path,
        normal({"x": (None, 3)}, batches=(1, 3, 2) if batch is None else (batch,) * 2),
        require_fused=True,
    )
    assert fused_ops(result) == ["LSTM"] * 4
    assert {composite.name for composite in result.report.composites} == set(CELLS)
    counts = dict(op_counts(result.model_bytes))
    prepared = {"SHAPE", "SLICE", "CONCATENATION"} if batch is None else set[str]()
    assert set(counts) == {"LSTM", "FILL", "MUL"} | prepared
    assert (counts["LSTM"], counts["FILL"]) == (8, 16)


def test_cell_of_another_activation_is_kept(tensorflow: TensorFlow) -> None:
    path = tensorflow.save(cells, CELLS, 1, "relu")
    result = check(tensorflow, path, normal({"x": (None, 3)}, batches=(1,)), rnn="fused")
    assert [composite.outcome for composite in result.report.composites] == ["inlined"] * 4
    assert every("it computes something else" in str(composite.reason) for composite in result.report.composites)
