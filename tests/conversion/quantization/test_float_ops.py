"""The ops of a quantized model that stayed in floating point, and why."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.conversion.quantization.difference import Difference
from litefuse.conversion.quantization.float_ops import ops_by_kind, require_integer
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.errors import QuantizationError
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.options.quantization import Quantization
from litefuse.support.report.quantized import FloatOp, OpKinds
from tests.conversion.quantization.models import dense, masked_scores, saved, take_samples
from tests.litert.runtime.models import Graph, model

RANDOM = np.random.default_rng(1)
WEIGHTS = RANDOM.normal(size=(32, 64)).astype(np.float32)
SQUARE = RANDOM.normal(size=(32, 32)).astype(np.float32)


def reasons(ops: tuple[FloatOp, ...]) -> dict[str, str]:
    return {each.name: each.reason for each in ops}


def mixed(op: str) -> Graph:
    """Two products, an op, and another product; the names are not ASCII."""
    graph = Graph()
    x = graph.input("x", [1, 64])
    first = graph.tensor("first", [32, 64], value=WEIGHTS)
    second = graph.tensor("second", [32, 32], value=SQUARE)
    hidden, between = graph.tensor("größe", [1, 32]), graph.tensor("zwischen", [1, 32])
    other = graph.tensor("andere", [1, 32])
    graph.builtin("FULLY_CONNECTED", [x, first, -1], [hidden])
    graph.builtin("FULLY_CONNECTED", [hidden, second, -1], [other])
    graph.builtin(op, [hidden, other], [between])
    graph.builtin("FULLY_CONNECTED", [between, second, -1], [graph.output("y", [1, 32])])
    return graph


def quantized(tmp_path: Path, graph: Graph, form: QuantizationForm = "int8", rows: int = 64) -> Difference:
    before = saved(tmp_path / "before.tflite", graph)
    random = np.random.default_rng(2)
    samples = [{"x": random.normal(size=(1, rows)).astype(np.float32)} for _ in range(8)]
    given = take_samples(samples) if form in {"int8", "int16"} else None
    return quantize_model(before, tmp_path / "after.tflite", form, given)


@pytest.mark.parametrize("form", ["int8", "int16"])
def test_all_integers(tmp_path: Path, form: QuantizationForm) -> None:
    found = quantized(tmp_path, dense(WEIGHTS), form)
    assert (found.kinds, found.floats) == (OpKinds(1, 0, 0), ())
    require_integer(found.floats)


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ("ATAN2", "LiteRT has no integer kernel of it"),
        ("FLOOR_MOD", "it has no integer form"),
    ],
)
def test_an_op_without_an_integer_form(tmp_path: Path, op: str, reason: str) -> None:
    found = quantized(tmp_path, mixed(op))
    assert found.kinds == OpKinds(3, 0, 1)
    assert found.floats == (FloatOp(op, "zwischen", "float", reason, 0),)
    with pytest.raises(QuantizationError, match="1 op would not compute in integers throughout") as raised:
        require_integer(found.floats)
    assert f"  {op}, 1 (zwischen): {reason}" in raised.value.message
    assert "--require-integer" in raised.value.hint


def test_masks_that_are_read(tmp_path: Path) -> None:
    graph = masked_scores([0, 0, -1e9])
    graph.outputs.append(next(at for at, (tensor, _) in enumerate(graph.tensors) if tensor.name == "masked"))
    before = saved(tmp_path / "before.tflite", graph)
    rows = [np.array([row], np.float32) for row in ([1, -2, 3], [-3, 2, 1])]
    found = quantize_model(before, tmp_path / "after.tflite", "int8", take_samples(rows))
    masks = "masks are among its numbers, whose scale leaves nothing of the others"
    assert reasons(found.floats) == {"masked": masks, "y": masks}
    assert found.kinds.integer == 1  # the product with 2


def looped() -> tuple[Graph, Graph, Graph]:
    """Three times a product with ``[32, 32]`` weights, in a loop."""
    graph, condition, body = Graph(), Graph(), Graph()
    zero = graph.tensor("zero", [], np.int32, value=0)
    x = graph.input("x", [1, 32])
    count = graph.tensor("count", [], np.int32)
    graph.builtin("WHILE", [zero, x], [count, graph.output("y", [1, 32])], condSubgraphIndex=1, bodySubgraphIndex=2)
    at, _ = condition.input("at", [], np.int32), condition.input("unused", [1, 32])
    three = condition.tensor("three", [], np.int32, value=3)
    condition.builtin("LESS", [at, three], [condition.output("more", [], np.bool_)])
    number, rows = body.input("number", [], np.int32), body.input("rows", [1, 32])
    one, weights = body.tensor("one", [], np.int32, value=1), body.tensor("inner", [32, 32], value=SQUARE * 0.1)
    body.builtin("ADD", [number, one], [body.output("next", [], np.int32)])
    body.builtin("FULLY_CONNECTED", [rows, weights, -1], [body.output("product", [1, 32])])
    return graph, condition, body


def test_a_loop_that_is_kept(tmp_path: Path) -> None:
    """Only weights become integers in it; without that, all does."""
    before = saved(tmp_path / "before.tflite", *looped())
    samples = take_samples([np.random.default_rng(4).normal(size=(1, 32)).astype(np.float32) for _ in range(4)])
    kept = Quantization("int8", keep_float_ops=("WHILE",))
    found = quantize_model(before, tmp_path / "after.tflite", kept, samples)
    assert found.kinds == OpKinds(0, 1, 1)
    loop, product = sorted(found.floats, key=lambda each: each.op != "WHILE")
    assert (loop.op, loop.reason) == ("WHILE", "kept in floating point, as requested")
    assert product == FloatOp(
        "FULLY_CONNECTED",
        "product",
        "hybrid",
        "in a loop that stays in floating point, where only weights become integers",
        32 * 32,
    )
    assert quantize_model(before, tmp_path / "after.tflite", "int8", samples).kinds == OpKinds(2, 0, 0)


def test_reasons_in_a_file_that_is_not_quantized(tmp_path: Path) -> None:
    """A custom op, another dtype, an op that the user wants so, and one that could have become an integer op."""
    graph = Graph()
    x, wide = graph.input("x", [1, 4]), graph.input("wide", [1, 4], np.float64)
    names = ("custom", "kept", "plain", "other")
    custom, kept, plain = (graph.tensor(name, [1, 4]) for name in names[:3])
    other = graph.output("other", [1, 4], np.float64)
    graph.custom("Mine", [x], [custom])
    graph.builtin("TANH", [custom], [kept])
    graph.builtin("TANH", [kept], [plain])
    graph.builtin("ADD", [wide, wide], [other])
    found = ops_by_kind(saved(tmp_path / "model.tflite", graph), integer=True, kept={"kept"})
    assert reasons(found.floats) == {
        "custom": "a custom op, whose kernel takes floating point",
        "kept": "kept in floating point, as requested",
        "plain": "it has no integer form with these operands",
        "other": "of float64: only float32 becomes integers",
    }


def test_without_samples_only_weights_count(tmp_path: Path) -> None:
    """A sum with a large constant stays as it is, and a product with a constant first factor."""
    graph = Graph()
    large = graph.tensor("large", [1, 2048], value=np.ones((1, 2048)))
    x, moved = graph.input("x", [1, 2048]), graph.output("moved", [1, 2048])
    graph.builtin("ADD", [x, large], [moved])
    small = graph.tensor("small", [], value=2.0)
    graph.builtin("MUL", [x, small], [graph.output("twice", [1, 2048])])
    factor = graph.tensor("factor", [1, 64], value=WEIGHTS[:1])
    rows = graph.input("rows", [32, 64])
    graph.builtin("FULLY_CONNECTED", [factor, rows, -1], [graph.output("product", [1, 32])])
    before = saved(tmp_path / "before.tflite", graph)
    found = quantize_model(before, tmp_path / "after.tflite", "dynamic")
    assert [(each.op, each.name, each.weights) for each in found.floats] == [
        ("ADD", "moved", 8192),
        ("FULLY_CONNECTED", "product", 256),
    ]
    assert found.floats[0].reason == "litert-quantizer makes no smaller weights of this op"


def test_an_error_stays_short() -> None:
    ops = [FloatOp("COS", f"layer_{number}", "float", f"reason {number // 3}") for number in range(60)]
    with pytest.raises(QuantizationError) as raised:
        require_integer(ops)
    lines = raised.value.message.splitlines()
    assert lines[1] == "  COS, 3 (layer_0 and others): reason 0"
    assert len(lines) == 14
    assert lines[-1] == "  and 8 kinds more"


#: Ops that take two operands.
BINARY = {"ATAN2", "POW"}


@pytest.mark.parametrize("op", ["ATAN2", "CEIL", "COS", "FLOOR", "POW", "ROUND", "SIGN", "SIN", "SQUARE", "ZEROS_LIKE"])
def test_litert_has_no_integer_kernel_of_what_is_said_to_have_none(op: str) -> None:
    from litefuse.litert.runtime.interpreter import Interpreter

    graph = Graph()
    operands = [graph.input(f"x{index}", [1, 4], np.int8) for index in range(1 + (op in BINARY))]
    graph.builtin(op, operands, [graph.output("y", [1, 4], np.int8)])
    for tensor, _ in graph.tensors:
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale, tensor.quantization.zeroPoint = [0.1], [0]
    x = np.ones((1, 4), np.int8)
    runner = Interpreter(model_content=model(graph, signatures={"serve": 0})).get_signature_runner()
    with pytest.raises((RuntimeError, ValueError)):
        runner(**{f"x{index}": x for index in range(len(operands))})
