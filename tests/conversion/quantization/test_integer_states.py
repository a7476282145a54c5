"""Variables of integer forms: they hold integers of one scale, and what passes through them is rounded once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.conversion.quantization.difference import Difference
from litefuse.conversion.quantization.float_ops import require_integer
from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.errors import QuantizationError
from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.export.editor import Scale, editors_of
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.scales import dequantized, quantized
from litefuse.litert.runtime.schema_objects import dtype_of
from litefuse.support.options.quantization import Quantization
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

WIDTH, KEPT, CALLS = 3, 4, 200
NUMBERS = itertools.count()

Body = Callable[[Graph, int, int], tuple[int, int]]
"""Adds the ops of a model to a graph; of the input and the state, makes what is written and what is returned."""


def handle(graph: Graph, name: str) -> int:
    index = graph.tensor(f"handle_{name}_{next(NUMBERS)}", [], "RESOURCE")
    graph.builtin("VAR_HANDLE", [], [index], sharedName=name, container="")
    return index


def initializing(states: dict[str, npt.NDArray[Any]]) -> Graph:
    graph = Graph()
    for name, value in states.items():
        constant = graph.tensor(f"initial_{name}", value.shape, value.dtype, value=value)
        graph.builtin("ASSIGN_VARIABLE", [handle(graph, name), constant], [])
    return graph


def streaming(body: Body, shape: Sequence[int], initializer: int = 1) -> Graph:
    """``y, state = body(x, state)``."""
    graph = Graph()
    x, read = graph.input("x", [1, WIDTH]), graph.tensor("read", shape)
    graph.builtin("CALL_ONCE", [], [], initSubgraphIndex=initializer)
    graph.builtin("READ_VARIABLE", [handle(graph, "s")], [read])
    written, returned = body(graph, x, read)
    graph.outputs.append(returned)
    graph.builtin("ASSIGN_VARIABLE", [handle(graph, "s"), written], [])
    return graph


def ring(graph: Graph, x: int, read: int) -> tuple[int, int]:
    """The last rows, and what they and the new one are."""
    joined, written = graph.tensor("joined", [KEPT + 1, WIDTH]), graph.tensor("written", [KEPT, WIDTH])
    begin, size = (graph.tensor(name, [2], np.int32, value=value) for name, value in (("b", [1, 0]), ("n", [-1, -1])))
    graph.builtin("CONCATENATION", [read, x], [joined], axis=0)
    graph.builtin("SLICE", [joined, begin, size], [written])
    return written, joined


def cell(graph: Graph, x: int, read: int) -> tuple[int, int]:
    """``tanh(x + state / 2)``."""
    half, halved, total = graph.tensor("half", [], value=0.5), *(graph.tensor(name, [1, WIDTH]) for name in "ht")
    written = graph.tensor("written", [1, WIDTH])
    graph.builtin("MUL", [read, half], [halved])
    graph.builtin("ADD", [halved, x], [total])
    graph.builtin("TANH", [total], [written])
    return written, written


def frames(count: int = CALLS, seed: int = 0) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    return [{"x": random.normal(size=(1, WIDTH)).clip(-2, 2).astype(np.float32)} for _ in range(count)]


def made(path: Path, graph: Graph, initial: npt.NDArray[Any], form: Any = "int8", **options: Any) -> Difference:
    """Writes ``before.tflite`` and the quantized ``after.tflite``, whose inputs and outputs are integers."""
    before = saved(path / "before.tflite", graph, initializing({"s": initial}))
    samples = take_samples([*frames(seed=1), {"x": np.full((1, WIDTH), 2.0, np.float32)}])
    options.setdefault("io", True)
    return quantize_model(before, path / "after.tflite", Quantization(form, **options), samples)


def called(path: Path, calls: Sequence[dict[str, Any]]) -> list[npt.NDArray[Any]]:
    runner = Interpreter(path).get_signature_runner("serve")
    (takes,), ((name, gives),) = runner.get_input_details().values(), runner.get_output_details().items()
    return [np.array(dequantized(runner(x=quantized(call["x"], takes))[name], gives)) for call in calls]


def errors(path: Path) -> npt.NDArray[np.float64]:
    """The largest error of each call, in steps of the output."""
    calls = frames()
    (gives,) = Interpreter(path / "after.tflite").get_signature_runner("serve").get_output_details().values()
    pairs = zip(called(path / "before.tflite", calls), called(path / "after.tflite", calls), strict=True)
    return np.array([np.abs(before - after).max() for before, after in pairs]) / gives["quantization"][0]


def states(path: Path) -> set[tuple[str, Scale | None]]:
    """The dtypes and scales of what reads and writes variables, initial values among them."""
    return {
        (dtype_of(graph.tensor(index)), graph.scale(index))
        for graph in editors_of(read_model(path))
        for op in graph.ops or ()
        for index in {"READ_VARIABLE": op.outputs, "ASSIGN_VARIABLE": op.inputs[1:]}.get(graph.kind(op), ())
    }


@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize("start", [0.0, -1.5, 7.0])
def test_what_a_ring_buffer_hands_on_is_rounded_once(tmp_path: Path, form: str, start: float) -> None:
    difference = made(tmp_path, streaming(ring, [KEPT, WIDTH]), np.full((KEPT, WIDTH), start, np.float32), form)
    require_integer(difference.floats)
    assert not {"QUANTIZE", "DEQUANTIZE"} & inspect_litert_model(tmp_path / "after.tflite").op_counts.keys()
    ((dtype, scale),) = states(tmp_path / "after.tflite")
    assert dtype == form
    assert scale is not None
    assert errors(tmp_path).max() < 0.51


def spoil(path: Path, change: Callable[[Any, Any], None]) -> None:
    """Changes the tensors that a file reads from variables."""

    def edit(model: Any) -> bool:
        for graph in editors_of(model):
            for op in graph.ops or ():
                if graph.kind(op) == "READ_VARIABLE":
                    change(graph, graph.tensor(op.outputs[0]))
        return True

    edit_file(path, edit)


def test_another_scale_is_seen(tmp_path: Path) -> None:
    made(tmp_path, streaming(ring, [KEPT, WIDTH]), np.zeros((KEPT, WIDTH), np.float32))
    taken = errors(tmp_path)

    def requantize(graph: Any, tensor: Any) -> None:
        """Has the reader have a scale of its own, with QUANTIZE behind, as if ranges were not tied."""
        index = next(number for number, other in enumerate(graph.graph.tensors) if other is tensor)
        scale = graph.scale(index)
        own = graph.add_tensor("own", graph.shape(index), "int8", Scale(scale.scale * 1.1, scale.zero))
        reader = graph.producer(index)
        reader.outputs = [own]
        graph.add_op(graph.after(reader), "QUANTIZE", [own], [index])

    spoil(tmp_path / "after.tflite", requantize)
    spoiled = errors(tmp_path)
    assert taken.max() < 0.51
    assert spoiled.max() > 2


@pytest.mark.parametrize("form", ["int8", "int16"])
def test_a_state_has_the_fixed_scale_of_what_writes_it(tmp_path: Path, form: str) -> None:
    difference = made(tmp_path, streaming(cell, [1, WIDTH]), np.zeros((1, WIDTH), np.float32), form)
    require_integer(difference.floats)
    assert not {"QUANTIZE", "DEQUANTIZE"} & inspect_litert_model(tmp_path / "after.tflite").op_counts.keys()
    assert states(tmp_path / "after.tflite") == {(form, Scale(1 / 128 if form == "int8" else 1 / 32768))}
    found = errors(tmp_path)
    assert found[-50:].mean() < 1.1 * found[:50].mean() + 0.1
    assert found.max() < (4 if form == "int8" else 40)


def test_an_initial_value_that_a_fixed_scale_does_not_hold_has_another_one(tmp_path: Path) -> None:
    difference = made(tmp_path, streaming(cell, [1, WIDTH]), np.full((1, WIDTH), 5.0, np.float32))
    require_integer(difference.floats)
    ((dtype, scale),) = states(tmp_path / "after.tflite")
    assert dtype == "int8"
    assert scale is not None
    assert 127 * scale.scale - scale.zero * scale.scale == pytest.approx(5.0, rel=1e-2)
    assert errors(tmp_path)[0] < 4


def test_inputs_and_outputs_in_floating_point(tmp_path: Path) -> None:
    made(tmp_path, streaming(ring, [KEPT, WIDTH]), np.zeros((KEPT, WIDTH), np.float32), io=False)
    counts = inspect_litert_model(tmp_path / "after.tflite").op_counts
    assert (counts["QUANTIZE"], counts["DEQUANTIZE"]) == (1, 1)  # of the input and of the output
    assert {dtype for dtype, _ in states(tmp_path / "after.tflite")} == {"int8"}


def test_an_initial_value_that_is_computed(tmp_path: Path) -> None:
    filled = Graph()
    dims, number = filled.tensor("dims", [2], np.int32, value=[KEPT, WIDTH]), filled.tensor("number", [], value=-1.5)
    value = filled.tensor("filled", [KEPT, WIDTH])
    filled.builtin("FILL", [dims, number], [value])
    filled.builtin("ASSIGN_VARIABLE", [handle(filled, "s"), value], [])
    before = saved(tmp_path / "before.tflite", streaming(ring, [KEPT, WIDTH]), filled)
    difference = quantize_model(
        before, tmp_path / "after.tflite", Quantization("int8", io="uint8"), take_samples(frames())
    )
    require_integer(difference.floats)
    assert len(states(tmp_path / "after.tflite")) == 1
    assert errors(tmp_path).max() < 1.01  # int8 of what uint8 is


def delayed(graph: Graph, x: int, read: int) -> tuple[int, int]:
    """A second variable takes what the first one held in the last call."""
    old, total = graph.tensor("old", [1, WIDTH]), graph.tensor("total", [1, WIDTH])
    graph.builtin("READ_VARIABLE", [handle(graph, "t")], [old])
    graph.builtin("ASSIGN_VARIABLE", [handle(graph, "t"), read], [])
    graph.builtin("ADD", [old, x], [total])
    return x, total


def test_variables_that_hand_on_to_each_other_have_one_scale(tmp_path: Path) -> None:
    path = tmp_path / "before.tflite"
    initial = {"s": np.full((1, WIDTH), -3, np.float32), "t": np.full((1, WIDTH), 4, np.float32)}
    saved(path, streaming(delayed, [1, WIDTH]), initializing(initial))
    difference = quantize_model(path, tmp_path / "after.tflite", Quantization("int8", io=True), take_samples(frames()))
    require_integer(difference.floats)
    assert len(states(tmp_path / "after.tflite")) == 1
    assert "QUANTIZE" not in inspect_litert_model(tmp_path / "after.tflite").op_counts
    assert errors(tmp_path).max() < 2


def test_a_variable_that_is_kept_stays_and_is_named(tmp_path: Path) -> None:
    zeros = np.zeros((KEPT, WIDTH), np.float32)
    difference = made(tmp_path, streaming(ring, [KEPT, WIDTH]), zeros, keep_float=("^read;",))
    assert {dtype for dtype, _ in states(tmp_path / "after.tflite")} == {"float32"}
    kept = {op.op: op.reason for op in difference.floats}
    assert kept["READ_VARIABLE"] == "kept in floating point, as requested"
    assert "this state is kept" in kept["ASSIGN_VARIABLE"]
    with pytest.raises(QuantizationError, match=r"ASSIGN_VARIABLE, 1 .*: this state is kept"):
        require_integer(difference.floats)


def branching(graph: Graph, x: int, read: int) -> tuple[int, int]:
    """A branch reads the variable."""
    zero, flag, taken = graph.tensor("zero", [], value=0.0), graph.tensor("f", [], np.bool_), graph.tensor("i", [1, 3])
    first = graph.tensor("first", [])
    axes = graph.tensor("axes", [2], np.int32, value=[0, 1])
    graph.builtin("REDUCE_MAX", [x, axes], [first], keepDims=False)
    graph.builtin("GREATER", [first, zero], [flag])
    graph.builtin("IF", [flag, x], [taken], thenSubgraphIndex=2, elseSubgraphIndex=2)
    total = graph.tensor("total", [1, WIDTH])
    graph.builtin("ADD", [taken, read], [total])
    return x, total


def test_a_variable_of_a_branch_stays_and_is_named(tmp_path: Path) -> None:
    branch = Graph()
    x, old, y = branch.input("bx", [1, WIDTH]), branch.tensor("old", [1, WIDTH]), branch.output("by", [1, WIDTH])
    branch.builtin("READ_VARIABLE", [handle(branch, "s")], [old])
    branch.builtin("SUB", [old, x], [y])
    graphs = streaming(branching, [1, WIDTH]), initializing({"s": np.zeros((1, WIDTH), np.float32)}), branch
    before = saved(tmp_path / "before.tflite", *graphs)
    difference = quantize_model(before, tmp_path / "after.tflite", "int8", take_samples(frames()))
    reasons = {op.reason for op in difference.floats if op.op in {"READ_VARIABLE", "ASSIGN_VARIABLE"}}
    assert "a loop or a branch reads or writes this state, in floating point" in reasons
    assert {dtype for dtype, _ in states(tmp_path / "after.tflite")} == {"float32"}
    assert errors(tmp_path).max() >= 0  # it runs


def counting(graph: Graph, x: int, read: int) -> tuple[int, int]:
    """A state of float64, which nothing but a cast computes with."""
    wide, y = graph.tensor("wide", [1, WIDTH], np.float64), graph.tensor("y", [1, WIDTH])
    narrow = graph.tensor("narrow", [1, WIDTH])
    graph.builtin("CAST", [x], [wide])
    graph.builtin("CAST", [read], [narrow])
    graph.builtin("ADD", [narrow, x], [y])
    return wide, y


def test_a_variable_of_another_dtype_stays_and_is_named(tmp_path: Path) -> None:
    graph = streaming(counting, [1, WIDTH])
    read = next(tensor for tensor, _ in graph.tensors if tensor.name == "read")
    read.type = next(tensor for tensor, _ in graph.tensors if tensor.name == "wide").type
    difference = made(tmp_path, graph, np.zeros((1, WIDTH)), io=False)
    reasons = {op.op: op.reason for op in difference.floats}
    assert reasons["READ_VARIABLE"] == reasons["ASSIGN_VARIABLE"] == "of float64: only float32 becomes integers"


def mean_of(kept: float) -> Body:
    """A running mean, which keeps a part of what it was."""

    def body(graph: Graph, x: int, read: int) -> tuple[int, int]:
        parts = [graph.tensor(f"factor{n}", [], value=value) for n, value in enumerate((kept, 1 - kept))]
        old, new, written = (graph.tensor(name, [1, WIDTH]) for name in ("old", "new", "written"))
        y = graph.tensor("y", [1, WIDTH])
        graph.builtin("MUL", [read, parts[0]], [old])
        graph.builtin("MUL", [x, parts[1]], [new])
        graph.builtin("ADD", [old, new], [written])
        graph.builtin("MUL", [written, parts[0]], [y])
        return written, y

    return body


@pytest.mark.parametrize(
    ("kept", "form", "held"), [(0.9, "int8", "int8"), (0.998, "int8", "float32"), (0.998, "int16", "int16")]
)
def test_a_slow_mean_is_no_int8(tmp_path: Path, kept: float, form: str, held: str) -> None:
    difference = made(tmp_path, streaming(mean_of(kept), [1, WIDTH]), np.ones((1, WIDTH), np.float32), form)
    assert {dtype for dtype, _ in states(tmp_path / "after.tflite")} == {held}
    if held == "float32":
        assert {op.op for op in difference.floats} == {"ADD", "ASSIGN_VARIABLE", "MUL", "READ_VARIABLE"}
        with pytest.raises(QuantizationError, match="this state sums up what calls add to it"):
            require_integer(difference.floats)
    else:
        require_integer(difference.floats)
    found = errors(tmp_path)
    assert found[-50:].mean() < 3 * found[:50].mean()
    assert found.max() < (5 if form == "int8" else 50)


def running(graph: Graph, x: int, read: int) -> tuple[int, int]:
    """The largest number until now."""
    written, y = graph.tensor("written", [1, WIDTH]), graph.tensor("y", [1, WIDTH])
    graph.builtin("MAXIMUM", [read, x], [written])
    graph.builtin("MUL", [written, graph.tensor("two", [], value=2.0)], [y])
    return written, y


@pytest.mark.parametrize(
    ("start", "held"), [(-np.inf, "float32"), (-3e38, "float32"), (-1e5, "float32"), (-4.0, "int8")]
)
def test_an_initial_value_that_stands_for_infinity_is_a_mask(tmp_path: Path, start: float, held: str) -> None:
    difference = made(tmp_path, streaming(running, [1, WIDTH]), np.full((1, WIDTH), start, np.float32))
    assert {dtype for dtype, _ in states(tmp_path / "after.tflite")} == {held}
    assert errors(tmp_path)[10:].max() < 2  # the samples begin with other numbers
    assert bool(difference.floats) == (held == "float32")


def test_signatures_see_the_states_of_the_others(tmp_path: Path) -> None:
    reset, query = Graph(), Graph()
    zeros = reset.tensor("zeros", [KEPT, WIDTH], value=np.zeros((KEPT, WIDTH), np.float32))
    reset.builtin("CALL_ONCE", [], [], initSubgraphIndex=1)
    reset.builtin("ASSIGN_VARIABLE", [handle(reset, "s"), zeros], [])
    reset.outputs.append(zeros)
    held, y = query.tensor("held", [KEPT, WIDTH]), query.output("q", [KEPT, WIDTH])
    query.builtin("CALL_ONCE", [], [], initSubgraphIndex=1)
    query.builtin("READ_VARIABLE", [handle(query, "s")], [held])
    query.builtin("MUL", [held, query.tensor("two", [], value=2.0)], [y])
    graphs = streaming(ring, [KEPT, WIDTH]), initializing({"s": np.zeros((KEPT, WIDTH), np.float32)}), query, reset
    signatures = {"ask": 2, "reset": 3, "serve": 0}
    before, after = saved(tmp_path / "before.tflite", *graphs, signatures=signatures), tmp_path / "after.tflite"
    samples = take_samples([("serve", frame) for frame in frames(seed=1)])
    require_integer(quantize_model(before, after, Quantization("int8", io=True), samples).floats)
    assert len(states(after)) == 1

    def asked(path: Path) -> list[npt.NDArray[Any]]:
        interpreter = Interpreter(path)
        serve, ask, clear = (interpreter.get_signature_runner(key) for key in ("serve", "ask", "reset"))
        (takes,), ((name, gives),) = serve.get_input_details().values(), ask.get_output_details().items()
        answers: list[npt.NDArray[Any]] = []
        for number, frame in enumerate(frames()):
            serve(x=quantized(frame["x"], takes))
            if number == CALLS // 2:
                clear()
            answers.append(np.array(dequantized(ask()[name], gives)))
        return answers

    for expected, actual in zip(asked(before), asked(after), strict=True):
        assert np.abs(expected - actual).max() < 0.05
