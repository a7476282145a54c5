"""The rules of the integer LSTM's scales, and the ranges inside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.conversion.quantization.recurrent.inner_ranges import inner_ranges
from litefuse.conversion.quantization.recurrent.operands import (
    BIASES,
    CELL_STATE,
    INPUT_WEIGHTS,
    LSTMS,
    OUTPUT_STATE,
    RECURRENT_WEIGHTS,
    LstmNumbers,
)
from litefuse.conversion.quantization.recurrent.quantized_forms import (
    asymmetric,
    cell_scale,
    constants_of,
    quantized,
    symmetric,
)
from litefuse.litert.export.editor import GraphEditor, Scale
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.support.options.quantization import Quantization
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph


@pytest.mark.parametrize(
    ("largest", "exponent"), [(1.0, -15), (1.01, -14), (2.0, -14), (64.0, -9), (0.2, -15), (0.0, -15)]
)
def test_the_scale_of_the_cell_state_is_a_power_of_two(largest: float, exponent: int) -> None:
    assert cell_scale(largest) == Scale(2.0**exponent)


@pytest.mark.parametrize("ends", [(-1.0, 3.0), (0.5, 2.0), (-3.0, -1.0), (-1e-6, 1e-6)])
def test_zero_and_both_ends_are_integers(ends: tuple[float, float]) -> None:
    scale = asymmetric(*ends)
    least, largest = (scale.scale * (each - scale.zero) for each in (-128, 127))
    assert -128 <= scale.zero <= 127
    assert least <= min(ends[0], 0) + scale.scale
    assert largest >= max(ends[1], 0) - scale.scale


def test_what_is_zero_everywhere_has_a_scale() -> None:
    assert asymmetric(0.0, 0.0).scale > 0
    assert symmetric(0.0, 8).scale > 0


def test_weights_use_both_signs_alike() -> None:
    value = np.array([-2.0, -1.0, 0.0, 2.0], np.float32)
    np.testing.assert_array_equal(quantized(value, symmetric(2.0, 8), np.int8), [-127, -64, 0, 127])


def numbers(weight: float, bias: float, units: int = 2) -> LstmNumbers:
    values: dict[int, npt.NDArray[np.float32]] = {}
    for each in (*INPUT_WEIGHTS, *RECURRENT_WEIGHTS):
        values[each] = np.full((units, units), weight, np.float32)
    for each in BIASES:
        values[each] = np.full(units, bias, np.float32)
    return LstmNumbers(values, 0.0, 0.0, time_major=False)


@pytest.mark.parametrize("weight", [0.0, 1e-12, 0.5])
@pytest.mark.parametrize("bias", [0.0, -0.3, 1e4])
def test_biases_are_kept_where_weights_are_small(weight: float, bias: float) -> None:
    found = constants_of(numbers(weight, bias), Scale(0.01), Scale(0.01))
    for position in BIASES:
        integers, scale = found[position]
        assert integers.dtype == np.int32
        np.testing.assert_allclose(integers * scale.scale, bias, rtol=1e-3, atol=2**-12)
        weights, scale_of_weights = found[INPUT_WEIGHTS[BIASES.index(position)]]
        assert scale.scale == pytest.approx(scale_of_weights.scale * 0.01, rel=1e-6)
        np.testing.assert_allclose(weights * scale_of_weights.scale, weight, atol=scale_of_weights.scale)


def test_ranges_inside() -> None:
    """Of a cell that adds half of the hyperbolic tangent of 1 in each step, and forgets half."""
    x, start = np.zeros((1, 3, 2), np.float32), np.zeros((1, 2), np.float32)
    values = numbers(0.0, 0.0).constants | {BIASES[2]: np.full(2, 1.0, np.float32)}
    found = inner_ranges(LstmNumbers(values, 0.0, 0.0, time_major=False), x, start, start)
    cell = 0.5 * np.tanh(1.0) * (1 + 0.5 + 0.25)
    assert found.cell == pytest.approx(cell, rel=1e-6)
    assert found.hidden == pytest.approx((0.0, 0.5 * np.tanh(cell)), rel=1e-6)
    clipped = inner_ranges(LstmNumbers(values, 0.4, 0.0, time_major=False), x, start, start)
    assert clipped.cell == pytest.approx(0.4)
    widened = found.widened(inner_ranges(LstmNumbers(values, 0.0, 0.0, time_major=False), x, start - 2, start + 3))
    assert widened.initial == (-2.0, 0.0)
    assert widened.cell == 3.0


STEPS = 80


def lstm(
    weight: float, gate: float, *, open_batch: bool = False, initial: float = 0.0, normalized: bool = False
) -> Graph:
    """Steps of four units, with all weights alike, and all biases, which alone are left where they are normalized."""
    graph, batch = Graph(), -1 if open_batch else 1
    x = graph.input("x", [1, STEPS, 2], signature=[batch, STEPS, 2])
    operands = [x, *(graph.tensor(f"w{each}", [4, 2], value=np.full((4, 2), weight)) for each in range(4))]
    operands += [graph.tensor(f"r{each}", [4, 4], value=np.full((4, 4), weight)) for each in range(4)]
    operands += [-1, -1, -1, *(graph.tensor(f"b{each}", [4], value=np.full(4, gate)) for each in range(4)), -1, -1]
    size = _packed_size(graph, x) if open_batch else graph.tensor("size", [2], np.int32, value=[1, 4])
    value = graph.tensor("value", [], value=initial)
    for state in ("h", "c"):
        operands.append(graph.tensor(state, [1, 4], signature=[batch, 4]))
        graph.builtin("FILL", [size, value], operands[-1:])
    y = graph.output("y", [1, STEPS, 4], signature=[batch, STEPS, 4])
    factors = [graph.tensor(f"n{each}", [4], value=np.full(4, 0.5)) if normalized else -1 for each in range(4)]
    graph.builtin("UNIDIRECTIONAL_SEQUENCE_LSTM", [*operands, *factors], [y])
    operator, options = graph.operators[-1][0], schema.UnidirectionalSequenceLSTMOptionsT()
    options.fusedActivationFunction = schema.ActivationFunctionType.TANH
    operator.builtinOptionsType = schema.BuiltinOptions.UnidirectionalSequenceLSTMOptions
    operator.builtinOptions = options
    graph.tensors[operands[18]][0].isVariable = graph.tensors[operands[19]][0].isVariable = True
    return graph


def _packed_size(graph: Graph, x: int) -> int:
    """The size of the states, which is not known before the call: the result of PACK."""
    shape, rows = graph.tensor("shape", [3], np.int32), graph.tensor("rows", [], np.int32)
    ends = [graph.tensor(name, [1], np.int32, value=[value]) for name, value in (("from", 0), ("to", 1), ("by", 1))]
    size, units = graph.tensor("size", [2], np.int32), graph.tensor("units", [], np.int32, value=4)
    graph.builtin("SHAPE", [x], [shape], outType=schema.TensorType.INT32)
    graph.builtin("STRIDED_SLICE", [shape, *ends], [rows], shrinkAxisMask=1)
    graph.builtin("PACK", [rows, units], [size], valuesCount=2)
    return size


@pytest.mark.parametrize(
    ("weight", "gate", "normalized"),
    [(0.01, 0.0, False), (0.02, -1.0, False), (0.5, 0.0, False), (0.5, 1.0, False), (0.5, -0.4, True)],
)
def test_cell_states_of_any_size_are_right(tmp_path: Path, weight: float, gate: float, *, normalized: bool) -> None:
    before, after = (
        saved(tmp_path / "before.tflite", lstm(weight, gate, normalized=normalized)),
        tmp_path / "after.tflite",
    )
    samples = [np.random.default_rng(number).normal(size=(1, STEPS, 2)).astype(np.float32) for number in range(8)]
    found = quantize_model(before, after, "int8", take_samples(samples))
    assert found.kinds.real == 0
    assert found.error is not None
    assert found.error < 0.08


def test_a_cell_state_beyond_what_there_is_a_kernel_for_stays_in_floating_point(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "before.tflite", lstm(0.01, 15.0)), tmp_path / "after.tflite"
    samples = [np.zeros((1, STEPS, 2), np.float32)] * 2
    floats = quantize_model(before, after, "int8", take_samples(samples)).floats
    (left,) = [each for each in floats if each.op == "UNIDIRECTIONAL_SEQUENCE_LSTM"]
    assert left.reason == "its cell state exceeds 64, which LiteRT has no integer kernel for"


@pytest.mark.parametrize("initial", [0.0, 0.5])
def test_states_of_any_batch_are_allocated_in_each_call(tmp_path: Path, initial: float) -> None:
    """What QUANTIZE writes would keep the memory of the first batch, and larger ones would be written beyond it."""
    graph = lstm(0.1, 0.0, open_batch=True, initial=initial)
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    random = np.random.default_rng(0)
    samples = [random.normal(size=(2, STEPS, 2)).astype(np.float32) for _ in range(8)]
    quantize_model(before, after, "int8", take_samples(samples))
    edited = GraphEditor(read_model(after), 0)
    (op,) = [each for each in edited.ops if edited.kind(each) in LSTMS]
    writers = [edited.producer(op.inputs[state]) for state in (OUTPUT_STATE, CELL_STATE)]
    assert [edited.kind(each) for each in writers] == ["FILL"] * 2
    original, quantized_model = (Interpreter(path).get_signature_runner() for path in (before, after))
    for batch in (1, 5, 2):
        x = random.normal(size=(batch, STEPS, 2)).astype(np.float32)
        expected = original(x=x)["y"]
        for _ in range(2):
            np.testing.assert_allclose(quantized_model(x=x)["y"], expected, atol=0.06)


def prefixed(graph: Graph, prefix: str) -> Graph:
    """A graph with names of its own, and half of its output, which other ops take so, as another one."""
    half = graph.tensor("half", [], value=0.5)
    graph.builtin("MUL", [graph.outputs[0], half], [graph.output("z", [1, STEPS, 4])])
    for tensor, _ in graph.tensors:
        tensor.name = f"{prefix}{tensor.name}"
    return graph


@pytest.mark.parametrize("quantized_io", [False, True])
def test_two_signatures_have_lstms_of_their_own(tmp_path: Path, quantized_io: bool) -> None:
    """Each is calibrated by its own samples, and its own outputs are integers or not."""
    graphs = [prefixed(lstm(0.5, 0.0), "one_"), prefixed(lstm(0.02, -1.0), "two_")]
    before = saved(tmp_path / "before.tflite", *graphs, signatures={"one": 0, "two": 1})
    after, random = tmp_path / "after.tflite", np.random.default_rng(0)
    samples = [
        (key, {f"{key}_x": random.normal(size=(1, STEPS, 2)).astype(np.float32) * by})
        for key, by in (("one", 1), ("two", 9))
        for _ in range(8)
    ]
    found = quantize_model(before, after, Quantization("int8", io=quantized_io), take_samples(samples))
    assert found.kinds.real == 0
    model = read_model(after)
    for index, (key, scale) in enumerate((("one", 1), ("two", 9))):
        edited = GraphEditor(model, index)
        (op,) = [each for each in edited.ops if edited.kind(each) in LSTMS]
        assert edited.is_type(op.inputs[0], "int8")
        (signature,) = [each for each in model.signatureDefs if each.subgraphIndex == index]
        assert [int(each.tensorIndex) for each in signature.outputs] == [int(each) for each in edited.graph.outputs]
        assert {edited.is_type(each, "float32") for each in edited.graph.outputs} == {not quantized_io}
        x = random.normal(size=(1, STEPS, 2)).astype(np.float32) * scale
        if quantized_io:
            continue
        original, quantized_model = (Interpreter(path).get_signature_runner(key) for path in (before, after))
        expected = original(**{f"{key}_x": x})
        for _ in range(2):
            for name, value in quantized_model(**{f"{key}_x": x}).items():
                np.testing.assert_allclose(value, expected[name], atol=0.06)


def test_what_is_kept_stays_in_floating_point_in_its_signature_alone(tmp_path: Path) -> None:
    graphs = [prefixed(lstm(0.5, 0.0), "one_"), prefixed(lstm(0.02, -1.0), "two_")]
    before = saved(tmp_path / "before.tflite", *graphs, signatures={"one": 0, "two": 1})
    samples = [(key, {f"{key}_x": np.ones((1, STEPS, 2), np.float32)}) for key in ("one", "two") for _ in range(2)]
    after = tmp_path / "after.tflite"
    quantize_model(before, after, Quantization("int8", keep_float=("one_y",)), take_samples(samples))
    model = read_model(after)
    kinds = [GraphEditor(model, index) for index in (0, 1)]
    types = [[graph.is_type(op.inputs[0], "int8") for op in graph.ops if graph.kind(op) in LSTMS] for graph in kinds]
    assert types == [[False], [True]]


@pytest.mark.parametrize(("inner", "expected"), [(True, ["hidden", "z"]), (False, ["y_quantized"])])
def test_integers_have_the_name_of_the_result(tmp_path: Path, *, inner: bool, expected: list[str]) -> None:
    """By which layers are compared; an output keeps its own."""
    graph = lstm(0.5, 0.0)
    if inner:
        hidden = graph.outputs.pop()
        graph.tensors[hidden][0].name = "hidden"
        graph.builtin("TANH", [hidden], [graph.output("z", [1, STEPS, 4])])
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    samples = take_samples([np.ones((1, STEPS, 2), np.float32)] * 2)
    quantize_model(before, after, Quantization("int8", io=not inner), samples)
    edited = GraphEditor(read_model(after), 0)
    made = [each for op in edited.ops for each in op.outputs if edited.is_type(each, "int8")]
    assert [edited.name(each) for each in made][-len(expected) :] == expected
