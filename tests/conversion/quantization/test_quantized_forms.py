"""Recurrent ops as integers, in graphs made by hand: which tensors they take and give, and in which scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.quantization.recurrent.inner_ranges import InnerRanges
from litefuse.conversion.quantization.recurrent.operands import (
    BIASES,
    CELL_STATE,
    INPUT,
    INPUT_WEIGHTS,
    NORMALIZATIONS,
    OUTPUT_STATE,
    RECURRENT_WEIGHTS,
    LstmNumbers,
)
from litefuse.conversion.quantization.recurrent.quantized_forms import (
    asymmetric,
    constants_of,
    integers_of,
    make_hybrid,
    make_integers,
    symmetric,
)
from litefuse.litert.export.editor import GraphEditor, Scale
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.schema_objects import flatbuffer_of, objects_of
from tests.conversion.quantization.test_integer_composites import ops_of
from tests.conversion.quantization.test_needless_conversions import integers
from tests.conversion.quantization.test_recurrent import lstm
from tests.litert.runtime.models import Graph, model

INNER = InnerRanges(cell=1.5, initial=(-0.25, 0.5), hidden=(-0.5, 1.0), gates=(1.0, 2.0, 3.0, 4.0))
KEPT = [f"{kind}_{gate}" for kind in ("kernel", "recurrent") for gate in "ifco"]


@pytest.mark.parametrize(
    ("least", "largest", "step", "zero"),
    [
        (-1.0, 1.55, 0.01, -28),
        (0.5, 2.55, 0.01, -128),
        (-2.55, -0.5, 0.01, 127),
        (-255.0, 1e-9, 1.0, 127),
        (0.0, 0.0, 1.0, 0),
        (-1e-30, 0.0, 1e-30 / 255, 127),
    ],
)
def test_scales_with_zero_points(least: float, largest: float, step: float, zero: int) -> None:
    scale = asymmetric(least, largest)
    assert scale.scale == pytest.approx(step, rel=1e-6)
    assert scale.zero == zero


@pytest.mark.parametrize(("largest", "bits", "step"), [(1.27, 8, 0.01), (3.2767, 16, 1e-4), (0.0, 8, 1.0)])
def test_scales_around_zero(largest: float, bits: int, step: float) -> None:
    assert symmetric(largest, bits) == pytest.approx((step, 0), rel=1e-6)


def made(
    graph: Graph, inner: InnerRanges = INNER, output: tuple[float, float] = (-1.0, 1.0)
) -> tuple[GraphEditor, Any]:
    """The graph whose op is made of integers, and that op."""
    editor = GraphEditor(objects_of(model(graph)), 0)
    (op,) = [op for op in editor.ops if editor.kind(op) == "UNIDIRECTIONAL_SEQUENCE_LSTM"]
    make_integers(editor, op, "lstm1", inner, (-2.0, 3.1), output)
    return editor, op


def others(editor: GraphEditor) -> list[str]:
    """The ops, but for the LSTM itself."""
    return [line for line in ops_of(editor.model, 0) if not line.startswith("UNIDIRECTIONAL")]


def test_an_op_between_floats() -> None:
    editor, op = made(lstm(0.5, 0.0))
    zeros = [line for line in others(editor) if "zeros" in line]
    assert zeros == ["QUANTIZE: zeros -> lstm1/h", "QUANTIZE: zeros -> lstm1/c"]
    assert others(editor)[2] == "QUANTIZE: x -> x_int8"
    assert others(editor)[-1] == "DEQUANTIZE: y_int8 -> y"
    assert [editor.name(int(op.inputs[place])) for place in range(1, 9)] == [f"lstm1/{name}" for name in KEPT]
    assert editor.scale(op.inputs[INPUT]) == asymmetric(-2.0, 3.1)
    assert editor.scale(op.outputs[0]) == editor.scale(op.inputs[OUTPUT_STATE]) == asymmetric(-1.0, 1.0)
    assert editor.scale(op.inputs[CELL_STATE]) == Scale(2.0**-14)
    states = [int(op.inputs[place]) for place in (OUTPUT_STATE, CELL_STATE)]
    assert [editor.is_type(*pair) for pair in zip(states, ("int8", "int16"), strict=True)] == [True, True]
    assert [editor.tensor(state).isVariable for state in states] == [True, True]
    assert [tensor.isVariable for tensor in editor.graph.tensors if tensor.name in {b"h", b"c"}] == [False, False]
    *gates, hidden = map(int, op.intermediates)
    assert [editor.name(gate) for gate in gates] == ["lstm1/gate"] * 4
    assert (editor.name(hidden), editor.scale(hidden)) == ("lstm1/hidden", asymmetric(-1.0, 1.0))
    assert {editor.shape(index) for index in (*gates, hidden)} == {(0,)}


def test_the_output_holds_what_comes_before_the_first_step() -> None:
    initial = INNER._replace(initial=(-3.0, 2.0))
    editor, op = made(lstm(0.5, 0.0), initial)
    assert editor.scale(op.outputs[0]) == asymmetric(-3.0, 2.0)


def test_sums_that_are_normalized() -> None:
    editor, op = made(lstm(0.5, 0.0, normalized=True))
    assert [editor.scale(int(gate)) for gate in op.intermediates[:4]] == [symmetric(size, 16) for size in INNER.gates]
    assert [editor.name(int(gate)) for gate in op.intermediates[:4]] == [f"lstm1/gate_{index}" for index in range(4)]
    assert {editor.shape(int(gate)) for gate in op.intermediates} == {(0,)}
    bias, factor = (editor.scale(op.inputs[places[1]]) for places in (BIASES, NORMALIZATIONS))
    assert factor is not None
    assert factor == symmetric(0.5, 16)
    assert bias == (pytest.approx(factor.scale / 1024), 0)


def test_gates_without_biases() -> None:
    """Where the input gate is that of the forget gate, it has none."""
    values = {place: np.ones((2, 2), np.float32) for place in (*INPUT_WEIGHTS, *RECURRENT_WEIGHTS)}
    values |= {place: np.full(2, 0.5, np.float32) for place in BIASES[1:]}
    numbers = LstmNumbers(values, 0.0, 0.0, time_major=False)
    constants = constants_of(numbers, Scale(0.5), Scale(0.25))
    assert constants.keys() == values.keys()
    assert [constants[place][1].scale for place in BIASES[1:]] == [pytest.approx(symmetric(1.0, 8).scale / 2)] * 3
    assert [constants[place][0].tolist() for place in BIASES[1:]] == [[127, 127]] * 3


@pytest.mark.parametrize("kind", ["dequantized", "dequantized int16", "quantized before", "quantized after"])
def test_where_the_input_comes_from(kind: str) -> None:
    graph = lstm(0.5, 0.0)
    x = graph.inputs[0]
    dtype = np.int16 if kind.endswith("int16") else np.int8
    q = integers(graph, graph.tensor("q", graph.tensors[x][0].shape, dtype), 0.5)
    graph.builtin(*("DEQUANTIZE", [q], [x]) if kind.startswith("dequantized") else ("QUANTIZE", [x], [q]))
    if kind != "quantized after":
        graph.operators.insert(0, graph.operators.pop())
    editor, op = made(graph)
    assert editor.name(int(op.inputs[INPUT])) == ("q" if kind in {"dequantized", "quantized before"} else "x_int8")


@pytest.mark.parametrize(
    ("scale", "taken"),
    [
        (Scale(2 / 255, 0), True),
        (Scale(2 / 256, 0), True),
        (Scale(1 / 255, 0), False),
        (Scale(2 / 255, 20), False),
        (Scale(2 / 255, -20), False),
    ],
)
def test_an_op_that_makes_integers_of_the_result(scale: Scale, taken: bool) -> None:
    """Theirs are the op's, if their scale holds its range, but for a step."""
    graph = lstm(0.5, 0.0)
    y = graph.outputs.pop()
    graph.tensors[y][0].name = "hidden"
    q = integers(graph, graph.tensor("q", graph.tensors[y][0].shape, np.int8), scale.scale, scale.zero)
    graph.builtin("QUANTIZE", [y], [q])
    graph.builtin("ABS", [q], [graph.output("z", graph.tensors[y][0].shape, np.int8)])
    editor, op = made(graph)
    assert editor.scale(op.outputs[0]) == (pytest.approx(scale) if taken else asymmetric(-1.0, 1.0))
    assert others(editor)[-(2 + (not taken)) :] == (
        ["DEQUANTIZE: hidden -> hidden_dequantized", "ABS: hidden -> z"]
        if taken
        else ["DEQUANTIZE: hidden -> hidden_dequantized", "QUANTIZE: hidden_dequantized -> q", "ABS: q -> z"]
    )


@pytest.mark.parametrize(("initial", "open_batch"), [(0.5, False), (0.5, True), (0.0, True)])
def test_initial_states(initial: float, open_batch: bool) -> None:
    editor, op = made(lstm(0.5, 0.0, initial=initial, open_batch=open_batch))
    written = [line for line in others(editor) if "lstm1/" in line]
    if open_batch:
        assert written == [
            line
            for name in "hc"
            for line in (
                f"QUANTIZE: value -> lstm1/{name}/initial",
                f"FILL: size, lstm1/{name}/initial -> lstm1/{name}",
            )
        ]
        fills = [editor.producer(op.inputs[place]) for place in (OUTPUT_STATE, CELL_STATE)]
        assert [editor.model.operatorCodes[fill.opcodeIndex].version for fill in fills if fill is not None] == [3, 3]
    else:
        assert written == ["QUANTIZE: h -> lstm1/h", "QUANTIZE: c -> lstm1/c"]


@pytest.mark.parametrize(("shape", "source"), [((1, 4), "start"), ((4,), "h")])
def test_states_that_are_broadcast(shape: tuple[int, ...], source: str) -> None:
    graph = lstm(0.5, 0.0)
    start = graph.input("start", shape)
    fill, _, _ = graph.operators[0]
    size, state = fill.inputs[0], fill.outputs[0]
    graph.operators = graph.operators[1:]
    graph.builtin("BROADCAST_TO", [start, size], [state])
    graph.operators.insert(0, graph.operators.pop())
    editor, _ = made(graph)
    assert f"QUANTIZE: {source} -> lstm1/h" in others(editor)


def test_states_that_stay_between_calls() -> None:
    graph = lstm(0.5, 0.0)
    graph.operators = graph.operators[2:]
    editor, op = made(graph)
    assert [editor.producer(op.inputs[place]) for place in (OUTPUT_STATE, CELL_STATE)] == [None, None]


@pytest.mark.parametrize("copied", [False, True])
def test_reads_of_the_cell_state(copied: bool) -> None:
    """They are of int16, as is what is joined with it."""
    graph = lstm(0.5, 0.0)
    cell = graph.operators[1][0].outputs[0]
    last, joined = graph.tensor("last", [1, 4]), graph.tensor("joined", [1, 8])
    graph.builtin("NEG", [cell], [last])  # what is computed of the state is no copy of it
    copy = graph.tensor("copy", [1, 4])
    if copied:
        graph.builtin("MAXIMUM", [cell, cell], [copy])
    graph.builtin("CONCATENATION", [last, copy if copied else cell], [joined], axis=1)
    sizes = [graph.tensor(name, [2], np.int32, value=[0, 4]) for name in ("begin", "size")]
    graph.builtin("SLICE", [joined, *sizes], [graph.output("z", [1, 4])])
    editor, _ = made(graph)
    lines = others(editor)
    assert lines[lines.index("QUANTIZE: last -> last_int16") :] == [
        "QUANTIZE: last -> last_int16",
        "CONCATENATION: last_int16, lstm1/c -> joined_int16",
        "SLICE: joined_int16, begin, size -> z_int16",
        "DEQUANTIZE: z_int16 -> z",
    ]
    scales = [
        editor.scale(index) for index, tensor in enumerate(editor.graph.tensors) if tensor.name.endswith(b"_int16")
    ]
    assert scales == [Scale(2.0**-14)] * 3
    codes = [(editor.kind(op), editor.model.operatorCodes[op.opcodeIndex].version) for op in editor.ops]
    assert {code for code in codes if code[0] in {"CONCATENATION", "SLICE"}} == {("CONCATENATION", 3), ("SLICE", 4)}


def test_weights_alone() -> None:
    graph = lstm(0.5, 0.25)
    editor = GraphEditor(objects_of(model(graph)), 0)
    op = editor.ops[-1]
    before = [*map(int, op.inputs)]
    make_hybrid(editor, op, "lstm1")
    changed = {place: editor.name(index) for place, index in enumerate(op.inputs) if index != before[place]}
    assert changed == {place: f"lstm1/{name}" for place, name in enumerate(KEPT, 1)}
    assert {editor.scale(op.inputs[place]) for place in changed} == {symmetric(0.5, 8)}
    value = editor.constant(op.inputs[1], np.int8)
    assert value is not None
    assert {*value.reshape(-1).tolist()} == {127}
    assert op.builtinOptions.asymmetricQuantizeInputs
    assert editor.model.operatorCodes[op.opcodeIndex].version == 3


@pytest.mark.parametrize("scale", [Scale(0.05, 3), Scale(0.0123, -7), Scale(0.25), Scale(1e-3, 11)])
@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_the_integers_are_those_of_quantize(scale: Scale, dtype: str) -> None:
    """A division by these scales, or one in float64, rounds some of the halves otherwise."""
    scale = scale if dtype == "int8" else Scale(scale.scale)
    halves = (np.arange(-200, 200) + 0.5 * (dtype == "int8")) * scale.scale
    values = np.concatenate([halves, np.random.default_rng(8).normal(size=5000)]).astype(np.float32)
    if dtype == "int16":  # whose halves and infinities depend on the processor
        values = values[np.abs(values / np.float32(scale.scale) % 1 - 0.5) > 1e-3]
    else:
        values = np.append(values, np.array([np.inf, -np.inf], np.float32))
    graph = Graph()
    x, y = graph.input("x", values.shape), graph.output("y", values.shape, dtype.upper())
    graph.builtin("QUANTIZE", [x], [y])
    loaded = objects_of(model(graph, signatures={"serve": 0}))
    parameters = GraphEditor(loaded, 0).tensor(y).quantization = schema.QuantizationParametersT()
    parameters.scale, parameters.zeroPoint = [scale.scale], [scale.zero]
    expected = Interpreter(model_content=bytes(flatbuffer_of(loaded))).get_signature_runner()(x=values)["y"]
    least = -128 if dtype == "int8" else -32767  # which kernels of int16 take
    np.testing.assert_array_equal(integers_of(values, scale, dtype), np.maximum(expected, least))
    nothing = integers_of(np.full(1, np.nan, np.float32), scale, dtype)
    assert (nothing.dtype, nothing.item()) == (np.dtype(dtype), scale.zero)
