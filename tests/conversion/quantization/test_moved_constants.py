"""What is made of constants alone: ranges, scales, and integers that ops move which litert-quantizer does not know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert import schema_py_generated as schema

import litefuse
from litefuse.conversion.quantization.adjusted_ranges import share_ranges
from litefuse.conversion.quantization.calibration import ranges_of, read_once
from litefuse.conversion.quantization.litert_quantizer import read_model
from litefuse.conversion.quantization.moved_constants import move_integers
from litefuse.conversion.quantization.post_training import quantize_model
from litefuse.conversion.quantization.samples import calls_of
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Model
from litefuse.support.options.forms import QuantizationForm
from litefuse.support.report.quantized import OpKinds
from tests.conversion.quantization.models import saved, take_samples
from tests.litert.runtime.models import Graph

VALUES = np.linspace(-0.4, 0.2, 6, dtype=np.float32)
OPS = ["EXPAND_DIMS", "FILL", "REVERSE_V2", "TILE"]
ROWS = [np.random.default_rng(seed).normal(size=(2, 6)).astype(np.float32) for seed in range(12)]


def moved(op: str, *, width: int = 6, returned: bool = False) -> tuple[Graph, npt.NDArray[np.float32]]:
    """A constant that an op moves, behind twice the input, and the value that it then has."""
    graph = Graph()
    x = graph.input("x", [2, width], signature=[2, -1])  # so that its size is known when the model is prepared
    values = np.resize(VALUES, width).astype(np.float32)
    if op == "FILL":
        operands = [graph.tensor("sizes", [2], np.int32, value=[2, width]), graph.tensor("value", [], value=0.3)]
        result = np.full((2, width), 0.3, np.float32)
    elif op == "TILE":
        constant = graph.tensor("constant", [1, width], value=values[None])
        operands = [constant, graph.tensor("times", [2], np.int32, value=[2, 1])]
        result = np.stack([values, values])
    elif op == "EXPAND_DIMS":
        operands = [graph.tensor("constant", [width], value=values), graph.tensor("axis", [], np.int32, value=0)]
        result = values[None]
    else:
        constant = graph.tensor("constant", [1, width], value=values[None])
        operands = [constant, graph.tensor("axes", [1], np.int32, value=[1])]
        result = values[None, ::-1]
    rows = len(result)
    made = graph.output("made", [rows, width]) if returned else graph.tensor("made", [rows, width])
    y, doubled = graph.output("y", [rows + 2, width]), graph.tensor("doubled", [2, width])
    graph.builtin("MUL", [x, graph.tensor("two", [], value=2.0)], [doubled])
    graph.builtin(op, operands, [made])
    graph.builtin("CONCATENATION", [made, doubled], [y], axis=0)
    return graph, np.ascontiguousarray(result)


@pytest.mark.parametrize("form", ["int8", "int16"])
@pytest.mark.parametrize("op", OPS)
def test_they_are_integers(tmp_path: Path, op: str, form: QuantizationForm) -> None:
    graph, constant = moved(op)
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    found = quantize_model(before, after, form, take_samples(ROWS))
    assert found.kinds == OpKinds(3, 0, 0)
    runner = Interpreter(after).get_signature_runner()
    for x in (ROWS[3], ROWS[4]):
        y = runner(x=x)["y"]
        np.testing.assert_allclose(y, np.concatenate([constant, 2 * x]), atol=0.05 if form == "int8" else 3e-4)
    read = Model(after.read_bytes()).graphs[0]
    (concatenation,) = [each for each in read.ops if each.name == "CONCATENATION"]
    tensors = [read.tensor(index) for index in (*concatenation.inputs, *concatenation.outputs)]
    assert len({(each.scale, each.zero) for each in tensors}) == 1


@pytest.mark.parametrize("op", OPS)
def test_the_ranges_of_what_litert_prepares(tmp_path: Path, op: str) -> None:
    graph, constant = moved(op)
    before = saved(tmp_path / "before.tflite", graph)
    ranges = ranges_of(before, calls_of(take_samples(ROWS), before))
    assert (ranges["made"]["min"], ranges["made"]["max"]) == (constant.min(), constant.max())
    assert ranges["made"]["min"].shape == ranges["made"]["max"].shape == (1,)
    assert read_once(before) == {"made"}
    # However small it is, it has the range of what it becomes a part of.
    assert share_ranges(read_model(before), ranges, constants={"made"})["made"] == ranges["y"]
    assert share_ranges(read_model(before), ranges)["made"] == ranges["made"]


def test_a_large_constant(tmp_path: Path) -> None:
    graph, constant = moved("TILE", width=100_000)
    rows = [np.resize(row, (2, 100_000)).astype(np.float32) for row in ROWS]
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    found = quantize_model(before, after, "int8", take_samples(rows))
    assert found.kinds == OpKinds(3, 0, 0)
    assert after.stat().st_size < 0.3 * before.stat().st_size
    y = Interpreter(after).get_signature_runner()(x=rows[0])["y"]
    np.testing.assert_allclose(y, np.concatenate([constant, 2 * rows[0]]), atol=0.05)


def test_outputs_and_what_the_user_keeps_stay_in_floating_point(tmp_path: Path) -> None:
    graph, constant = moved("TILE", returned=True)
    before, after = saved(tmp_path / "before.tflite", graph), tmp_path / "after.tflite"
    assert quantize_model(before, after, "int8", take_samples(ROWS)).kinds == OpKinds(2, 0, 1)
    np.testing.assert_array_equal(Interpreter(after).get_signature_runner()(x=ROWS[0])["made"], constant)
    before = saved(tmp_path / "before.tflite", moved("TILE")[0])
    options = litefuse.Quantization("int8", keep_float=["^made;"])
    assert quantize_model(before, after, options, take_samples(ROWS)).kinds == OpKinds(2, 0, 1)


def test_a_signature_without_ops(tmp_path: Path) -> None:
    graph, constant = moved("TILE")
    identity = Graph()
    identity.outputs = [identity.input("through", [2, 6])]
    before = saved(tmp_path / "before.tflite", graph, identity, signatures={"serve": 0, "through": 1})
    after = tmp_path / "after.tflite"
    samples = [("serve", {"x": row}) for row in ROWS] + [("through", {"through": ROWS[0]})]
    assert quantize_model(before, after, "int8", take_samples(samples)).kinds == OpKinds(3, 0, 0)
    y = Interpreter(after).get_signature_runner("serve")(x=ROWS[0])["y"]
    np.testing.assert_allclose(y, np.concatenate([constant, 2 * ROWS[0]]), atol=0.05)


TABLE = np.random.default_rng(7).normal(size=(5000, 6)) * np.linspace(0.02, 1, 5000)[:, None]
IDS = [np.random.default_rng(seed).integers(0, 5000, 4).astype(np.int32) for seed in range(40)]


def looked_up(readers: int = 1) -> Graph:
    """Rows of a table, twice as large; another op may read the table, too."""
    graph = Graph()
    ids, table = graph.input("ids", [4], np.int32), graph.tensor("table", TABLE.shape, value=TABLE)
    rows, y = graph.tensor("rows", [4, 6]), graph.output("y", [4, 6])
    graph.builtin("EMBEDDING_LOOKUP", [ids, table], [rows])
    graph.builtin("MUL", [rows, graph.tensor("two", [], value=2.0)], [y])
    if readers > 1:
        graph.builtin("FULLY_CONNECTED", [y, table, -1], [graph.output("scores", [4, 5000])])
    return graph


@pytest.mark.parametrize(("form", "readers"), [("int8", 1), ("int8", 2), ("int16", 1)])
def test_rows_of_a_table(tmp_path: Path, form: QuantizationForm, readers: int) -> None:
    before, after = saved(tmp_path / "before.tflite", looked_up(readers)), tmp_path / "after.tflite"
    quantize_model(before, after, form, take_samples(IDS))
    read = Model(after.read_bytes()).graphs[0]
    (lookup,) = [each for each in read.ops if each.name == "EMBEDDING_LOOKUP"]
    table, rows = read.tensor(lookup.inputs[1]), read.tensor(lookup.outputs[0])
    assert (table.name, table.dtype) == ("table", np.int8)
    # There is no lookup of int16, and a table that others read is not stored twice.
    whole = form == "int8" and readers == 1
    assert rows.dtype == (np.int8 if whole else np.float32)
    assert lookup.version == (1 if whole else 4)
    assert after.stat().st_size < 6 * 5000 + (5000 if whole else 65_000) + 5000
    runner = Interpreter(after).get_signature_runner()
    for ids in (IDS[3], np.array([0, 4999, 0, 2500], np.int32), IDS[3]):
        found = runner(ids=ids)
        np.testing.assert_allclose(found["y"], 2 * TABLE[ids], atol=0.02 * 2 * np.abs(TABLE).max())


@pytest.mark.parametrize("one_scale", [False, True])
def test_a_table_of_one_scale(tmp_path: Path, one_scale: bool) -> None:
    """With ``granularity="tensor"``, or where a target reads one scale alone, as tflite-micro does."""
    before, after = saved(tmp_path / "before.tflite", looked_up()), tmp_path / "after.tflite"
    options = litefuse.Quantization("int16", granularity="channel" if one_scale else "tensor")
    quantize_model(before, after, options, take_samples(IDS), lookups_of_one_scale=one_scale)
    (lookup,) = [each for each in Model(after.read_bytes()).graphs[0].ops if each.name == "EMBEDDING_LOOKUP"]
    assert lookup.version == 1
    y = Interpreter(after).get_signature_runner()(ids=IDS[5])["y"]
    np.testing.assert_allclose(y, 2 * TABLE[IDS[5]], atol=0.01 * 2 * np.abs(TABLE).max())


def test_integers_that_are_moved_stay(tmp_path: Path) -> None:
    """They have a zero point of their own, unlike the rows of a table."""
    graph = Graph()
    x = graph.input("x", [2, 6])
    constant = graph.tensor("constant", [1, 6], np.int8, value=[range(6)])
    made, other, real = (
        graph.tensor(name, [2, 6], kind) for name, kind in zip("abc", ["INT8", "INT8", "FLOAT32"], strict=True)
    )
    graph.builtin("TILE", [constant, graph.tensor("times", [2], np.int32, value=[2, 1])], [made])
    graph.builtin("QUANTIZE", [made], [other])
    graph.builtin("DEQUANTIZE", [other], [real])
    graph.builtin("ADD", [x, real], [graph.output("y", [2, 6])])
    read = read_model(saved(tmp_path / "model.tflite", graph))
    for tensor in read.subgraphs[0].tensors:
        if tensor.type == schema.TensorType.INT8:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale = [0.2 if tensor.name == b"b" else 0.1]
            tensor.quantization.zeroPoint = [3]
    assert not move_integers(read, ())
