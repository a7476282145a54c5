"""Files that other tools wrote, completed: data inside the flatbuffer, op codes, and the least runtime."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter
from flatbuffers import flexbuffers

from litefuse.errors import InterpreterError
from litefuse.litert.export.edited_file import (
    PLAN,
    Edit,
    complete_file,
    edit_file,
    name_tensors,
    refuse_first_scales,
    sign,
    sign_file,
)
from litefuse.litert.inspection.litert_model import facts_of
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.schema_objects import made, objects_of, tensor_name
from tests.litert.differences.edited import edited
from tests.litert.runtime.models import Graph, model
from tests.litert.targets.models import buffers_behind

if TYPE_CHECKING:
    import numpy.typing as npt

WEIGHTS = np.random.default_rng(0).normal(size=(40, 50)).astype(np.float32)
X = np.random.default_rng(1).normal(size=(3, 50)).astype(np.float32)
EXPECTED = cast("npt.NDArray[np.float64]", X @ WEIGHTS.T + np.arange(40))


def dense() -> bytes:
    graph = Graph()
    x = graph.input("x", (3, 50))
    weights = graph.tensor("w", (40, 50), value=WEIGHTS)
    small = graph.tensor("b", (40,), value=np.arange(40))
    graph.builtin("FULLY_CONNECTED", [x, weights, small], [graph.output("größe", (3, 40))])
    return model(graph, signatures={"serve": 0})


def saved(folder: Path, content: bytes) -> Path:
    path = folder / "model.tflite"
    path.write_bytes(content)
    return path


def output_of(path: Path) -> Any:
    """The output of two calls, which are the same."""
    interpreter = Interpreter(str(path))
    interpreter.allocate_tensors()
    for _ in range(2):
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], X)
        interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def recorded_runtime(path: Path) -> bytes:
    loaded: Any = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
    (entry,) = [entry for entry in loaded.metadata if entry.name == b"min_runtime_version"]
    return bytes(loaded.buffers[entry.buffer].data)


@pytest.mark.parametrize("behind", [False, True])
def test_data_comes_inside(tmp_path: Path, behind: bool) -> None:
    path = saved(tmp_path, buffers_behind(dense()) if behind else dense())
    assert Model(path.read_bytes()).has_buffers_behind is behind
    complete_file(path)
    assert not Model(path.read_bytes()).has_buffers_behind
    np.testing.assert_allclose(output_of(path), EXPECTED, rtol=1e-5, atol=1e-5)
    assert recorded_runtime(path) == b"1.5.0".ljust(16, b"\0")
    once = path.read_bytes()
    complete_file(path)
    assert path.read_bytes() == once
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("behind", [False, True])
def test_data_stays_behind_a_flatbuffer_that_would_be_too_large(tmp_path: Path, behind: bool) -> None:
    path = saved(tmp_path, buffers_behind(dense()) if behind else dense())
    complete_file(path, max_flatbuffer=4000)
    assert Model(path.read_bytes()).has_buffers_behind
    np.testing.assert_allclose(output_of(path), EXPECTED, rtol=1e-5, atol=1e-5)


def test_weights_are_aligned(tmp_path: Path) -> None:
    path = saved(tmp_path, dense())
    complete_file(path)
    assert path.read_bytes().index(WEIGHTS.tobytes()) % 16 == 0


def test_options_behind_the_flatbuffer_come_inside(tmp_path: Path) -> None:
    options = bytes(flexbuffers.Dumps({"size": 7}))
    graph = Graph()
    graph.custom("MyOp", [graph.input("x", (2,))], [graph.output("y", (2,))])
    content = model(graph)

    def change(place: int) -> bytes:
        def move(loaded: Any) -> None:
            op = loaded.subgraphs[0].operators[0]
            op.largeCustomOptionsOffset, op.largeCustomOptionsSize = place, len(options)

        return edited(content, move)

    path = saved(tmp_path, change(len(change(1))) + options)
    assert facts_of(path.read_bytes()).custom_operators[0].options == {"size": 7}
    assert edit_file(path, lambda model: bool(model.subgraphs))
    (op,) = Model(path.read_bytes()).graphs[0].ops
    assert op.custom_options == {"size": 7}


def test_nothing_is_written_without_a_change(tmp_path: Path) -> None:
    path = saved(tmp_path, buffers_behind(dense()))
    before = path.read_bytes()
    assert not edit_file(path, lambda _: False)
    assert path.read_bytes() == before


def test_a_change_that_fails_leaves_the_file(tmp_path: Path) -> None:
    path = saved(tmp_path, dense())
    before = path.read_bytes()

    def fail(_: Any) -> bool:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        edit_file(path, fail)

    def spoil(loaded: Any) -> bool:
        loaded.subgraphs[0].operators[0].inputs = [99]
        return True

    with pytest.raises(IndexError):
        edit_file(path, spoil)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(("size", "last"), [(1023, False), (1024, True)])
def test_large_data_stands_behind_the_tables(tmp_path: Path, size: int, last: bool) -> None:
    graph = Graph()
    value = np.full(size, 7, np.int8)
    graph.builtin("ABS", [graph.tensor("c", (size,), np.int8, value=value)], [graph.output("y", (size,), np.int8)])
    path = saved(tmp_path, model(graph))
    complete_file(path)
    assert path.read_bytes().endswith(value.tobytes()) is last
    assert path.read_bytes().count(value.tobytes()) == 1


def test_all_changes_are_made(tmp_path: Path) -> None:
    """Each of them, also behind one that changes nothing, or something."""
    made_by: list[str] = []

    def change(name: str, answer: bool) -> Edit:
        def add(_: Any) -> bool:
            made_by.append(name)
            return answer

        return add

    path = saved(tmp_path, dense())
    assert edit_file(path, change("a", False), change("b", True), change("c", True), change("d", False))
    assert made_by == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("op", "channels", "refused"),
    [
        ("DEQUANTIZE", [2], True),
        ("DEQUANTIZE", [1], False),
        ("EMBEDDING_LOOKUP", [1, 2], True),
        ("EMBEDDING_LOOKUP", [2, 1], False),
        ("EMBEDDING_LOOKUP", [2], False),
        ("DEQUANTIZE", [None], False),
        ("ABS", [2], False),
    ],
)
def test_first_scales(op: str, channels: list[int | None], refused: bool) -> None:
    """tflite-micro gets a plan of no tensors in the place of a model of which it would take the first scale."""
    graph = Graph()
    operands = [graph.input(f"x{index}", (2, 2), np.int8) for index, _ in enumerate(channels)]
    graph.builtin(op, operands, [graph.output("y", (2, 2))])
    loaded = objects_of(model(Graph(), graph))
    for operand, count in zip(operands, channels, strict=True):
        scales = None if count is None else [0.5] * count
        loaded.subgraphs[1].tensors[operand].quantization = made("QuantizationParameters", scale=scales)
    refuse_first_scales(loaded)
    plans = [entry for entry in loaded.metadata or () if entry.name in {PLAN, PLAN.encode()}]
    assert len(plans) == refused
    if refused:
        assert bytes(loaded.buffers[plans[0].buffer].data) == bytes(12)


def test_names_and_a_signature() -> None:
    graph, other = Graph(), Graph()
    for name in ("x", "", "x", "x#2", ""):
        graph.input(name, (1,))
    graph.outputs = [1, 1, 0]
    other.input("x", (1,))
    loaded = objects_of(model(graph, other))
    assert name_tensors(loaded)
    names = [[tensor_name(tensor) for tensor in graph.tensors] for graph in loaded.subgraphs]
    assert names == [["x", "tensor#2", "x#3", "x#2", "tensor#3"], ["x#4"]]
    assert not name_tensors(loaded)
    assert sign(loaded)
    (signature,) = loaded.signatureDefs
    assert (signature.signatureKey, signature.subgraphIndex) == (b"serving_default", 0)
    assert [(entry.name, entry.tensorIndex) for entry in signature.inputs][:2] == [(b"x", 0), (b"tensor#2", 1)]
    assert [(entry.name, entry.tensorIndex) for entry in signature.outputs] == [(b"tensor#2", 1), (b"x", 0)]
    assert not sign(loaded)


def test_only_files_without_names_or_signature_are_signed(tmp_path: Path) -> None:
    path = saved(tmp_path, dense())
    before = path.read_bytes()
    sign_file(path)
    assert path.read_bytes() == before
    path.write_bytes(before[:200])
    with pytest.raises(InterpreterError, match="the model cannot be read"):
        sign_file(path)
    with pytest.raises(OSError, match="No such file"):
        sign_file(tmp_path / "missing")
