"""Models that litert-quantizer quantizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.conversion.quantization.dataset import Samples
from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.conversion.quantization.recurrent.lstms import FloatLayer
from litefuse.conversion.quantization.recurrent.operands import CELL_STATE, LSTMS, OUTPUT_STATE
from litefuse.errors import InterpreterError, LitefuseError
from litefuse.litert.export.editor import GraphEditor, editors_of
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.options.quantization import Quantization
from tests.conversion.quantization.models import dense, masked_scores, saved, take_samples
from tests.conversion.quantization.test_recurrent import STEPS, lstm
from tests.litert.runtime.models import Graph

RANDOM = np.random.default_rng(1)
WEIGHTS = RANDOM.normal(size=(32, 64)).astype(np.float32)


def samples() -> Samples:
    random = np.random.default_rng(2)
    return take_samples([{"x": random.normal(size=(1, 64)).astype(np.float32)} for _ in range(4)])


def output(path: Path, x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.array(Interpreter(path).get_signature_runner("serve")(x=x)["y"])


@pytest.mark.parametrize(("form", "size"), [("dynamic", 0.4), ("weights", 0.4), ("float16", 0.65)])
def test_weights(tmp_path: Path, form: QuantizationForm, size: float) -> None:
    before, after = saved(tmp_path / "before.tflite", dense(WEIGHTS)), tmp_path / "after.tflite"
    found = quantize_model(before, after, form)
    assert found.unchecked is None
    assert found.error is not None
    assert 0 < found.error < (0.001 if form == "float16" else 0.03)
    assert after.stat().st_size < size * before.stat().st_size
    x = np.random.default_rng(3).normal(size=(1, 64)).astype(np.float32)
    expected = output(before, x)
    np.testing.assert_allclose(output(after, x), expected, atol=0.03 * np.abs(expected).max())


@pytest.mark.parametrize("quantized_io", [False, True])
@pytest.mark.parametrize("form", ["int8", "int16"])
def test_integers(tmp_path: Path, form: QuantizationForm, quantized_io: bool) -> None:
    before, after = saved(tmp_path / "before.tflite", dense(WEIGHTS)), tmp_path / "after.tflite"
    found = quantize_model(before, after, Quantization(form, io=quantized_io), samples())
    assert found.error is not None
    assert 0 < found.error < 0.05
    counts = inspect_litert_model(after).op_counts
    assert (counts.get("QUANTIZE", 0) == 0) == quantized_io
    details = Interpreter(after).get_signature_runner("serve").get_input_details()["x"]
    assert np.dtype(details["dtype"]).name == (form if quantized_io else "float32")


def test_masks_stay_in_floating_point(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", masked_scores([0, 0, -1e9])), tmp_path / "after.tflite"
    rows = [np.array([row], np.float32) for row in ([1, -2, 3], [-3, 2, 1])]
    found = quantize_model(before, after, "int8", take_samples(rows))
    assert found.error is not None
    assert found.error < 0.05
    np.testing.assert_allclose(output(after, rows[1])[0, 2], 0, atol=0.01)


def test_a_constant_first_factor_stays_a_number(tmp_path: Path) -> None:
    graph = Graph()
    factor = graph.tensor("factor", [1, 64], value=WEIGHTS[:1])
    x, y = graph.input("x", [32, 64]), graph.output("y", [1, 32])
    graph.builtin("FULLY_CONNECTED", [factor, x, -1], [y])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    assert quantize_model(before, after, "dynamic").error == 0


def test_samples_of_another_model(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.tflite", dense(WEIGHTS, input_name="z"))
    with pytest.raises(InterpreterError, match="has no input 'x'"):
        quantize_model(before, tmp_path / "after.tflite", "int8", samples())


def test_what_litert_quantizer_raises_says_what_to_do(tmp_path: Path) -> None:
    before = tmp_path / "before.tflite"
    before.write_bytes(b"no model")
    with pytest.raises(LitefuseError, match="litert-quantizer refused the model") as raised:
        quantize_model(before, tmp_path / "after.tflite", "weights")
    assert "Convert it without quantization" in raised.value.hint


# What is told of a quantization, and what reaches it.


def test_names_that_no_op_has(tmp_path: Path) -> None:
    before = saved(tmp_path / "before.tflite", dense(WEIGHTS))
    with pytest.raises(LitefuseError, match="nobody"):
        quantize_model(before, tmp_path / "after.tflite", Quantization("dynamic", keep_float=("nobody",)))


def test_samples_are_counted(tmp_path: Path) -> None:
    before, steps = saved(tmp_path / "before.tflite", dense(WEIGHTS)), list[str]()
    found = quantize_model(before, tmp_path / "after.tflite", "int8", samples(), announce=steps.append)
    assert (found.samples, found.layers, found.mixed) == (4, (), None)
    assert quantize_model(before, tmp_path / "after.tflite", "dynamic").samples == 0
    auto = quantize_model(before, tmp_path / "after.tflite", Quantization("auto", max_error=0.5))
    assert auto.mixed is not None
    assert auto.error is not None
    assert 0 < auto.error <= 0.5


@pytest.mark.parametrize(("max_error", "smaller"), [(0.05, True), (0.0, False)])
def test_a_form_for_each_layer(tmp_path: Path, *, max_error: float, smaller: bool) -> None:
    """Sizes that are open stay so."""
    graph = Graph()
    x, weights = graph.input("x", [1, 64], signature=[-1, 64]), graph.tensor("weights", [32, 64], value=WEIGHTS)
    graph.builtin("FULLY_CONNECTED", [x, weights, -1], [graph.output("y", [1, 32], signature=[-1, 32])])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    found = quantize_model(before, after, Quantization("auto", max_error=max_error))
    reason = "in any smaller form it costs too much of the outputs' accuracy"
    assert [(op.name, op.reason) for op in found.floats] == ([] if smaller else [("y", reason)])
    details = Interpreter(after).get_input_details()[0]
    assert details["shape_signature"].tolist() == [-1, 64]


def test_a_model_of_booleans_has_nothing_to_quantize(tmp_path: Path) -> None:
    graph = Graph()
    graph.builtin("LOGICAL_NOT", [graph.input("x", [4], np.bool_)], [graph.output("y", [4], np.bool_)])
    before = saved(tmp_path / "before.tflite", graph)
    with pytest.raises(LitefuseError, match="computes nothing in float32"):
        quantize_model(before, tmp_path / "after.tflite", "int8", take_samples([np.ones(4, np.bool_)]))


def test_ranges_that_are_infinite(tmp_path: Path) -> None:
    graph = Graph()
    logarithm = graph.tensor("logarithm", [4])
    graph.builtin("LOG", [graph.input("x", [4])], [logarithm])
    graph.builtin("TANH", [logarithm], [graph.output("y", [4])])
    before = saved(tmp_path / "before.tflite", graph)
    with pytest.raises(LitefuseError, match="logarithm"):
        quantize_model(before, tmp_path / "after.tflite", "int8", take_samples([np.zeros(4, np.float32)] * 2))


@pytest.mark.parametrize(
    ("form", "reason"),
    [("float16", "its weights are an output of the model"), ("weights", "its weights are an output of the model")],
)
def test_weights_that_are_an_output(tmp_path: Path, form: QuantizationForm, reason: str) -> None:
    graph = dense(WEIGHTS)
    graph.outputs.append(1)
    before = saved(tmp_path / "before.tflite", graph)
    (left,) = quantize_model(before, tmp_path / "after.tflite", form).floats
    assert (left.op, left.reason) == ("FULLY_CONNECTED", reason)


@pytest.mark.parametrize(
    ("form", "types", "reason"),
    [
        ("dynamic", ("float32", "int8"), None),
        ("weights", ("float32", "float32"), None),
        ("int8", ("int8", "int8"), None),
        ("int16", ("float32", "int8"), "LiteRT has no LSTM of int16 inputs and outputs"),
        ("recipe", ("float32", "float32"), "litert-quantizer's recipes know no LSTM"),
    ],
)
def test_forms_of_lstms(tmp_path: Path, form: QuantizationForm, types: tuple[str, str], reason: str | None) -> None:
    before, after = saved(tmp_path / "before.tflite", lstm(0.5, 0.0)), tmp_path / "after.tflite"
    left: list[FloatLayer] = []
    given = take_samples([np.ones((1, STEPS, 2), np.float32)] * 2) if form not in {"dynamic", "weights"} else None
    recipe = ({"regex": ".*", "operation": "*", "algorithm_key": "no_quantize"},) if form == "recipe" else None
    quantization = Quantization(None if recipe else form, recipe=recipe)
    quantize_model(before, after, quantization, given, left=left)
    assert left == ([] if reason is None else [("y", reason)])
    edited = GraphEditor(read_model(after), 0)
    (op,) = [op for op in edited.ops if edited.kind(op) in LSTMS]
    assert edited.is_type(op.inputs[0], types[0])
    assert edited.is_type(op.inputs[1], types[1])


def test_results_of_lstms_have_the_scale_of_their_initial_states(tmp_path: Path) -> None:
    """What follows takes their integers as they are."""
    graph = lstm(0.001, -4.0, initial=0.75)
    hidden = graph.outputs.pop()
    graph.tensors[hidden][0].name = "hidden"
    graph.builtin("TANH", [hidden], [graph.output("z", [1, STEPS, 4])])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    quantize_model(before, after, "int8", take_samples([np.ones((1, STEPS, 2), np.float32)] * 2))
    edited = GraphEditor(read_model(after), 0)
    (op,) = [op for op in edited.ops if edited.kind(op) in LSTMS]
    scale = edited.scale(op.outputs[0])
    assert scale is not None
    assert scale.scale * (127 - scale.zero) == pytest.approx(0.75, rel=0.01)
    assert [edited.kind(taker) for taker in edited.consumers(op.outputs[0])] == ["TANH"]
    writers = [edited.producer(op.inputs[state]) for state in (OUTPUT_STATE, CELL_STATE)]
    assert [edited.kind(writer) for writer in writers] == ["FILL"] * 2


def test_the_last_cell_state_is_read_where_the_op_leaves_it(tmp_path: Path) -> None:
    graph = lstm(0.5, 0.0)
    cell = next(index for index, (tensor, _) in enumerate(graph.tensors) if tensor.name == "c")
    joined, begin, size = (
        graph.tensor("joined", [1, 8]),
        *(graph.tensor(name, [2], np.int32, value=value) for name, value in (("begin", [0, 4]), ("count", [1, 4]))),
    )
    graph.builtin("CONCATENATION", [cell, cell], [joined], axis=1)
    graph.builtin("SLICE", [joined, begin, size], [graph.output("last", [1, 4])])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    x = np.random.default_rng(5).normal(size=(4, 1, STEPS, 2)).astype(np.float32)
    quantize_model(before, after, "int8", take_samples([*x]))
    wanted, made = (Interpreter(path).get_signature_runner()(x=x[0])["last"] for path in (before, after))
    np.testing.assert_allclose(made, wanted, atol=0.05 * np.abs(wanted).max())


@pytest.mark.parametrize("form", ["int8", "int16"])
def test_loops_stay_in_floating_point(tmp_path: Path, form: QuantizationForm) -> None:
    """Their subgraphs have the types of their op."""
    condition, body, graph = Graph(), Graph(), Graph()
    inner, limit = condition.input("c", [1]), condition.tensor("limit", [1], value=[8.0])
    condition.builtin("LESS", [inner, limit], [condition.output("go", [1], np.bool_)])
    given, step = body.input("b", [1]), body.tensor("step", [1], value=[1.0])
    body.builtin("ADD", [given, step], [body.output("added", [1])])
    x, last = graph.input("x", [1]), graph.tensor("last", [1])
    graph.builtin("WHILE", [x], [last], condSubgraphIndex=1, bodySubgraphIndex=2)
    graph.builtin("TANH", [last], [graph.output("y", [1])])
    before, after = saved(tmp_path / "before.tflite", graph, condition, body), tmp_path / "after.tflite"
    found = quantize_model(before, after, form, take_samples([np.full(1, value, np.float32) for value in (0, 3)]))
    assert found.error is not None
    assert found.error < 0.02
    assert inspect_litert_model(after).op_counts["ADD"] == 1
    of_loop = [(edited, op) for edited in editors_of(read_model(after))[2:] for op in edited.ops]
    assert [edited.is_type(op.outputs[0], "float32") for edited, op in of_loop] == [True]
