"""The recurrent ops of a model: which of them become integers, why others do not, and what litert-quantizer leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.quantization.recurrent.inner_ranges import InnerRanges
from litefuse.conversion.quantization.recurrent.lstms import FloatLayer, LstmOps, enclose_states
from litefuse.conversion.quantization.recurrent.operands import (
    OPERANDS,
    LstmNumbers,
    cell_reads,
    is_copy,
    lstm_ops,
    reason_for_float,
)
from litefuse.litert.export.editor import GraphEditor
from litefuse.litert.runtime.schema_objects import objects_of
from tests.conversion.quantization.models import saved
from tests.conversion.quantization.test_integer_composites import ops_of
from tests.conversion.quantization.test_needless_conversions import integers
from tests.litert.runtime.models import Graph, model

#: As LiteRT's lstm_shared.h has them.
POSITIONS = {
    1: "kernel_i",
    2: "kernel_f",
    3: "kernel_c",
    4: "kernel_o",
    5: "recurrent_i",
    6: "recurrent_f",
    7: "recurrent_c",
    8: "recurrent_o",
    9: "peephole_i",
    10: "peephole_f",
    11: "peephole_o",
    12: "bias_i",
    13: "bias_f",
    14: "bias_c",
    15: "bias_o",
    16: "projection",
    17: "projection_bias",
    20: "scale_i",
    21: "scale_f",
    22: "scale_c",
    23: "scale_o",
}
UNITS = 3
RANGES = {"x": (-1, 1), "y": (-0.5, 0.5)}
INNER = InnerRanges(cell=1.5, initial=(-0.25, 0.5), hidden=(-0.5, 1.0), gates=(1.0, 2.0, 3.0, 4.0))
SEQUENCE = "UNIDIRECTIONAL_SEQUENCE_LSTM"


def shape_of(position: int, outputs: int, inputs: int) -> list[int]:
    if position <= 4:
        return [UNITS, inputs]
    if position <= 8:
        return [UNITS, outputs]
    return [outputs, UNITS] if position == 16 else [outputs if position == 17 else UNITS]


def layer(
    graph: Graph,
    *optional: int,
    prefix: str = "",
    inputs: int = 2,
    outputs: int = UNITS,
    op: str = SEQUENCE,
    computed: Sequence[int] = (),
    weights: Any = np.float32,
    x: int | None = None,
    **options: Any,
) -> Graph:
    """An op with kernels, recurrent weights and biases, and some of the other operands; the last states are read."""
    given = graph.input(f"{prefix}x", [1, 2] if op == "LSTM" else [1, 5, 2]) if x is None else x
    operands = [given]
    for position in range(1, 24):
        name = f"{prefix}{POSITIONS.get(position, 'h' if position == 18 else 'c')}"
        if position in {18, 19}:
            operands.append(graph.tensor(name, [1, outputs if position == 18 else UNITS]))
            graph.tensors[-1][0].isVariable = True
        elif position in {*range(1, 9), *range(12, 16), *optional}:
            shape = shape_of(position, outputs, inputs)
            value = None if position in computed else np.full(shape, 0.25)
            operands.append(graph.tensor(name, shape, weights if position <= 8 else np.float32, value=value))
        else:
            operands.append(-1)
    y = graph.output(f"{prefix}y", [1, outputs] if op == "LSTM" else [1, 5, outputs])
    graph.builtin(op, operands, [y])
    made = schema.LSTMOptionsT() if op == "LSTM" else schema.UnidirectionalSequenceLSTMOptionsT()
    made.fusedActivationFunction = schema.ActivationFunctionType.TANH
    for name, value in options.items():
        setattr(made, name, value)
    graph.operators[-1][0].builtinOptions = made
    graph.operators[-1][0].builtinOptionsType = getattr(schema.BuiltinOptions, type(made).__name__[:-1])
    return graph


def other(graph: Graph, op: str, name: str) -> Graph:
    """Another recurrent op; RNNs have weights and a bias."""
    x = graph.input(f"{name}_x", [1, 5, 2])
    weights = [graph.tensor(f"{name}_{kind}", [2, 2], value=np.ones((2, 2))) for kind in ("kernel", "recurrent")]
    bias = graph.tensor(f"{name}_bias", [2], value=np.zeros(2))
    graph.builtin(op, [x, *weights, bias, graph.tensor(f"{name}_h", [1, 2])], [graph.output(name, [1, 5, 2])])
    return graph


def edited(*graphs: Graph) -> GraphEditor:
    return GraphEditor(objects_of(model(*graphs)), 0)


def only(graph: GraphEditor) -> Any:
    (op,) = lstm_ops(graph)
    return op


# Operands.


def test_positions() -> None:
    assert OPERANDS == POSITIONS


def test_constants_and_options() -> None:
    """All operands but the input and the states, which are none of the op's own numbers though they may be constant."""
    graph = edited(layer(Graph(), 9, 16, 17, 21, outputs=2, timeMajor=True, cellClip=3.0, projClip=2.0))
    op = only(graph)
    numbers = LstmNumbers.of(graph, op)
    assert [*numbers.constants] == [*range(1, 10), *range(12, 18), 21]
    assert (numbers.cell_clip, numbers.projection_clip, numbers.time_major) == (3.0, 2.0, True)
    assert (numbers.normalized, numbers.projected) == (True, True)
    op.inputs = [*op.inputs]
    for position in (0, 18, 19):
        op.inputs[position] = graph.add_constant("constant", np.ones(2, np.float32))
    assert [*LstmNumbers.of(graph, op).constants] == [*numbers.constants]
    graph = edited(layer(Graph(), 20, op="LSTM"))
    numbers = LstmNumbers.of(graph, only(graph))
    assert (numbers.time_major, numbers.normalized, numbers.projected) == (False, False, False)


@pytest.mark.parametrize("op", [SEQUENCE, "LSTM"])
def test_ops_of_real_numbers(op: str) -> None:
    graph = other(layer(layer(Graph(), prefix="a_", op=op), prefix="b_", op=op, weights=np.int8), "RNN", "rnn")
    editor = edited(graph)
    assert [editor.name(one.outputs[0]) for one in lstm_ops(editor)] == ["a_y"]
    editor.tensor(only(editor).inputs[0]).type = schema.TensorType.INT8
    assert [*lstm_ops(editor)] == []


def read_cells(graph: Graph) -> Graph:
    """The last cell state is concatenated as it is, and as a copy of a copy, and is negated."""
    cell, y = next(index for index, (tensor, _) in enumerate(graph.tensors) if tensor.name == "c"), graph.outputs[0]
    copies = [graph.tensor(f"copy{number}", [1, UNITS]) for number in range(2)]
    graph.builtin("MAXIMUM", [cell, cell], [copies[0]])
    graph.builtin("MAXIMUM", [copies[0], copies[0]], [copies[1]])
    graph.builtin("MAXIMUM", [cell, copies[0]], [graph.tensor("no_copy", [1, UNITS])])
    graph.builtin("NEG", [cell], [graph.tensor("negative", [1, UNITS])])
    for number, read in enumerate((cell, copies[1])):
        joined = graph.tensor(f"joined{number}", [2, UNITS])
        graph.builtin("CONCATENATION", [read, read], [joined])
        graph.builtin("ABS", [joined], [graph.tensor(f"taken{number}", [2, UNITS])])
    graph.builtin("CONCATENATION", [y, y], [graph.tensor("unrelated", [2, 5, UNITS])])
    graph.builtin("CONCATENATION", [len(graph.tensors) - 7], [graph.tensor("of_negative", [1, UNITS])])
    return graph


def test_reads_of_the_last_cell_state() -> None:
    graph = edited(read_cells(layer(Graph())))
    names = [graph.name(read.outputs[0]) for read in cell_reads(graph, only(graph))]
    assert names == ["joined0", "joined1"]
    kinds = {graph.name(op.outputs[0]): is_copy(graph, op) for op in graph.ops}
    assert {name for name, copied in kinds.items() if copied} == {"copy0", "copy1"}
    assert not is_copy(graph, None)


@pytest.mark.parametrize(
    ("optional", "options", "reason", "hybrid"),
    [
        ((), {}, None, None),
        (POSITIONS, {}, None, None),
        ((9, 10, 11, 16, 17), {"outputs": UNITS}, None, None),
        ((16, 17), {"outputs": 2}, None, None),
        ((9, 10, 11, 16, 17), {"outputs": 2}, "peepholes are wrong where a projection has another size", None),
        ((), {"fusedActivationFunction": schema.ActivationFunctionType.RELU}, "only for the activation tanh", None),
        ((), {"diagonalRecurrentTensors": True}, "recurrent weights that are vectors", "weights that are vectors"),
        *(((position,), {"computed": [position]}, "weights are computed", "are computed") for position in POSITIONS),
    ],
)
def test_reasons(optional: Any, options: dict[str, Any], reason: str | None, hybrid: str | None) -> None:
    graph = edited(layer(Graph(), *optional, **options))
    told = [reason_for_float(graph, only(graph), hybrid=of_weights) or "" for of_weights in (False, True)]
    for text, words in zip((reason, hybrid), told, strict=True):
        assert words == "" if text is None else text in words


def test_reasons_of_the_form_of_operands() -> None:
    graph = edited(layer(Graph()))
    op = only(graph)
    graph.tensor(op.inputs[6]).shape = [UNITS]
    assert "vectors" in (reason_for_float(graph, op) or "")
    op.inputs = op.inputs[:20]
    assert reason_for_float(graph, op) == "it has 20 operands in place of 24"
    graph = edited(layer(Graph(), 20, op="LSTM"))
    assert reason_for_float(graph, only(graph)) is None


def test_reasons_of_the_first_tensor() -> None:
    """The input, as a weight and as a peephole."""
    for position, outputs, reason in ((3, UNITS, "its weights are computed"), (10, 2, "peepholes are wrong")):
        graph = edited(layer(Graph(), 9, 10, 11, 16, outputs=outputs))
        op = only(graph)
        op.inputs = [
            0 if place == position else -1 if place in {9, 11} else int(x) for place, x in enumerate(op.inputs)
        ]
        assert reason in (reason_for_float(graph, op) or "")


# The ops of a model.


@pytest.mark.parametrize(
    "op",
    [
        *("LSTM", SEQUENCE, "RNN", "UNIDIRECTIONAL_SEQUENCE_RNN"),
        *("BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN"),
    ],
)
def test_models_with_recurrent_ops(tmp_path: Path, op: str) -> None:
    """Also within loops."""
    graph = Graph()
    graph.builtin("ABS", [graph.input("x", [2])], [graph.output("y", [2])])
    assert LstmOps(saved(tmp_path / "model.tflite", graph, other(Graph(), op, "y"))).present


def test_models_without_them(tmp_path: Path) -> None:
    graph = Graph()
    graph.builtin("ABS", [graph.input("x", [2])], [graph.output("y", [2])])
    ops = LstmOps(saved(tmp_path / "model.tflite", graph))
    assert not ops.present
    assert [*ops.kept_results()] == ops.left_because("") == []
    assert ops.make_integers(None, {}, {}) == ops.make_smaller(None, "dynamic") == []
    assert ops.observed({"serve": []}) == {}


def test_results_that_litert_quantizer_must_leave(tmp_path: Path) -> None:
    ops = LstmOps(saved(tmp_path / "model.tflite", read_cells(layer(Graph()))))
    assert [*ops.kept_results()] == ["h", "c", "joined0", "taken0", "joined1", "copy1", "copy1", "taken1"]


def test_ranges_of_ops_that_have_an_integer_form(tmp_path: Path) -> None:
    """In the graphs of signatures."""
    graph = layer(layer(Graph(), prefix="a_"), prefix="b_", fusedActivationFunction=schema.ActivationFunctionType.RELU)
    inner = layer(Graph(), prefix="inner_")
    ops = LstmOps(saved(tmp_path / "model.tflite", inner, graph, signatures={"serve": 1}))
    x = np.ones((1, 5, 2), np.float32)
    assert ops.observed({"serve": [{"a_x": x, "b_x": x}]}).keys() == {"a_y"}


def made(
    folder: Path, make: Callable[[LstmOps, Any], list[FloatLayer]], *graphs: Graph, **signatures: int
) -> tuple[dict[str, str], list[list[str]]]:
    """Why ops stay in floating point, by their names, and the names of the constants that each op got."""
    path = saved(folder / "model.tflite", *graphs, signatures=signatures)
    written = objects_of(path.read_bytes())
    left = make(LstmOps(path), written)
    editors = [GraphEditor(written, number) for number in range(len(graphs))]
    return dict(left), [
        [editor.name(op.inputs[1]) for op in editor.ops if "RNN" in editor.kind(op) or "LSTM" in editor.kind(op)]
        for editor in editors
    ]


def test_ops_become_integers(tmp_path: Path) -> None:
    relu = schema.ActivationFunctionType.RELU
    graph = Graph()
    for prefix, options in (("a_", {}), ("kept_", {}), ("b_", {}), ("relu_", {"fusedActivationFunction": relu})):
        layer(graph, prefix=prefix, **options)
    for prefix in ("loop_", "large_", "largest_"):
        layer(graph, prefix=prefix)
    other(graph, "RNN", "rnn")
    second = layer(Graph(), prefix="c_")
    inner = dict.fromkeys(["a_y", "kept_y", "b_y", "relu_y", "c_y"], INNER)
    inner |= {"large_y": INNER._replace(cell=64.5), "largest_y": INNER._replace(cell=64.0)}
    ranges: Any = {"a_x": {"min": np.array([-2.0]), "max": np.array([3.1])}}

    def make(ops: LstmOps, written: Any) -> list[FloatLayer]:
        return ops.make_integers(written, inner, ranges, kept=["kept_y"])

    left, kernels = made(tmp_path, make, graph, second, serve=0)
    assert left == {
        "relu_y": "LiteRT has integers only for the activation tanh",
        "loop_y": "it is in a loop or a branch",
        "large_y": "its cell state exceeds 64, which LiteRT has no integer kernel for",
        "rnn": "LiteRT's RNN takes integers only as weights",
    }
    float_kernels = ["relu_kernel_i", "loop_kernel_i", "large_kernel_i"]
    assert kernels == [
        [*("lstm1/kernel_i", "kept_kernel_i", "lstm2/kernel_i"), *float_kernels, "lstm3/kernel_i", "rnn_kernel"],
        ["lstm4/kernel_i"],
    ]


def test_ranges_of_operands(tmp_path: Path) -> None:
    """Where none is known, as of what is never computed, all is 0."""
    graph = layer(layer(Graph(), prefix="a_"), prefix="b_")
    ranges: Any = {
        name: {"min": np.array([least]), "max": np.array([largest])}
        for name, least, largest in (("a_x", -2.0, 3.1), ("a_y", -1.0, 1.55))
    }
    path = saved(tmp_path / "model.tflite", graph)
    written = objects_of(path.read_bytes())
    LstmOps(path).make_integers(written, {"a_y": INNER, "b_y": INNER}, ranges)
    editor = GraphEditor(written, 0)
    scales = {editor.name(index): editor.scale(index) for index in range(len(editor.graph.tensors))}
    assert scales["a_x_int8"] == pytest.approx((0.02, -28), rel=1e-6)
    assert scales["a_y_int8"] == pytest.approx((0.01, -28), rel=1e-6)
    assert scales["b_x_int8"] == (1.0, 0)


def test_what_integers_make_superfluous_is_dropped(tmp_path: Path) -> None:
    """Two ops that follow each other hand integers on, and the float weights are gone."""
    graph = layer(Graph(), prefix="a_")
    hidden = graph.outputs.pop()
    layer(graph, prefix="b_", x=hidden, inputs=UNITS)
    path = saved(tmp_path / "model.tflite", graph)
    written = objects_of(path.read_bytes())
    ranges: Any = {name: {"min": np.array([-1.0]), "max": np.array([1.55])} for name in ("a_y",)}
    LstmOps(path).make_integers(written, {"a_y": INNER, "b_y": INNER}, ranges)
    assert [line for line in ops_of(written, 0) if "LSTM" not in line] == [
        "QUANTIZE: a_x -> a_x_int8",
        "DEQUANTIZE: b_y_int8 -> b_y",
    ]
    assert not {"a_kernel_i", "b_kernel_i"} & {tensor.name.decode() for tensor in written.subgraphs[0].tensors}


def test_conversions_stay_where_no_op_becomes_integers(tmp_path: Path) -> None:
    graph = layer(Graph())
    q, again = (integers(graph, graph.tensor(name, [1, 5, UNITS], np.int8), 0.5) for name in ("q", "again"))
    graph.builtin("QUANTIZE", [graph.outputs[0]], [q])
    graph.builtin("DEQUANTIZE", [q], [graph.tensor("real", [1, 5, UNITS])])
    graph.builtin("QUANTIZE", [len(graph.tensors) - 1], [again])
    graph.builtin("ABS", [again], [integers(graph, graph.output("z", [1, 5, UNITS], np.int8), 0.5)])
    path = saved(tmp_path / "model.tflite", graph)
    written = objects_of(path.read_bytes())
    before = ops_of(written, 0)
    LstmOps(path).make_integers(written, {"y": INNER}, {}, kept=["y"])
    assert ops_of(written, 0) == before


def test_weights_become_integers(tmp_path: Path) -> None:
    graph = layer(layer(layer(Graph(), prefix="a_"), prefix="kept_"), 9, prefix="computed_", computed=[9])
    layer(graph, prefix="relu_", fusedActivationFunction=schema.ActivationFunctionType.RELU)
    for name in ("rnn", "kept_rnn"):
        other(graph, "UNIDIRECTIONAL_SEQUENCE_RNN", name)
    other(graph, "RNN", "plain")
    kept = ["kept_y", "kept_rnn"]
    second = other(layer(Graph(), prefix="b_"), "UNIDIRECTIONAL_SEQUENCE_RNN", "last")
    left, kernels = made(
        tmp_path, lambda ops, written: ops.make_smaller(written, "dynamic", kept), graph, second, serve=0
    )
    assert left == {"computed_y": "its weights are computed"}
    assert kernels == [
        [
            "lstm1/kernel_i",
            "kept_kernel_i",
            "computed_kernel_i",
            "lstm2/kernel_i",
            "rnn3/kernel",
            "kept_rnn_kernel",
            "plain_kernel",
        ],
        ["lstm4/kernel_i", "rnn5/kernel"],
    ]
    path = saved(tmp_path / "model.tflite", graph)
    written = objects_of(path.read_bytes())
    LstmOps(path).make_smaller(written, "dynamic")
    assert "a_kernel_i" not in {tensor.name.decode() for tensor in written.subgraphs[0].tensors}


def test_ops_that_are_left_for_one_reason(tmp_path: Path) -> None:
    graph = other(layer(Graph()), "RNN", "rnn")
    left = LstmOps(saved(tmp_path / "model.tflite", graph, layer(Graph(), prefix="b_"))).left_because("it is so")
    reason = "LiteRT's RNN takes integers only as weights"
    assert left == [("y", "it is so"), ("b_y", "it is so"), ("rnn", reason)]


@pytest.mark.parametrize(
    ("initial", "expected"), [((-2.0, 0.0), (-2.0, 0.5)), ((0.0, 2.0), (-0.5, 2.0)), ((-0.25, 0.25), (-0.5, 0.5))]
)
def test_ranges_enclose_initial_states(initial: tuple[float, float], expected: tuple[float, float]) -> None:
    ranges: Any = {
        name: {"min": np.array([-0.5], np.float32), "max": np.array([0.5], np.float32)} for name in ("y", "other")
    }
    inner = dict.fromkeys(["y", "absent"], INNER._replace(initial=initial))
    states = enclose_states(ranges, inner)
    ends = {name: (range_["min"].item(), range_["max"].item()) for name, range_ in states.items()}
    assert ends == {"y": expected, "other": (-0.5, 0.5)}
    assert ranges["y"]["min"].item() == ranges["other"]["min"].item() == -0.5


# Outputs that another op takes as well: litert-quantizer changes the graph or the signature, not both.


@pytest.mark.parametrize("quantized_io", [False, True])
@pytest.mark.parametrize("in_graph", ["float32", "int8"])
def test_graph_and_signature_agree_on_outputs(tmp_path: Path, *, quantized_io: bool, in_graph: str) -> None:
    graph = layer(Graph())
    y = graph.outputs[0]
    q = integers(graph, graph.tensor("q", [1, 5, UNITS], np.int8), 0.5)
    if in_graph == "int8":
        graph.builtin("QUANTIZE", [y], [q])
        named, listed = y, q
    else:
        real = graph.tensor("real", [1, 5, UNITS])
        graph.builtin("QUANTIZE", [y], [q])
        graph.builtin("DEQUANTIZE", [q], [real])
        named, listed = q, real
    negative, absolute = graph.tensor("negative", [1, 5, UNITS]), graph.output("absolute", [1, 5, UNITS])
    graph.builtin("NEG", [named if in_graph == "int8" else listed], [negative])
    graph.builtin("ABS", [named if in_graph == "int8" else listed], [absolute])
    graph.outputs.reverse()
    path = saved(tmp_path / "model.tflite", graph, layer(Graph()), signatures={"other": 1, "serve": 0})
    written = objects_of(path.read_bytes())
    written.subgraphs[0].outputs = [absolute, negative, listed, graph.inputs[0]]
    second, first = written.signatureDefs[1].outputs
    assert (first.tensorIndex, second.tensorIndex) == (y, absolute)
    first.tensorIndex = named
    options: dict[str, Any] = {"quantized_io": True} if quantized_io else {}
    LstmOps(path).make_integers(written, {}, {}, **options)
    names = [tensor.name.decode() for tensor in written.subgraphs[0].tensors]
    outputs = [names[index] for index in written.subgraphs[0].outputs]
    told = names[first.tensorIndex]
    before = {named: ("y", "q") if in_graph == "int8" else ("q", "real")}[named]
    wanted = before[0] if (in_graph == "float32") == quantized_io else before[1]
    assert outputs == ["absolute", "negative", wanted, "x"]
    assert told == wanted
    assert names[second.tensorIndex] == "absolute"
    assert [names_of.tensorIndex for names_of in written.signatureDefs[0].outputs] == written.subgraphs[1].outputs
