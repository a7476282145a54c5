"""Files that other tools wrote, completed: data inside the flatbuffer, op codes, and the least runtime."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter
from flatbuffers import flexbuffers

from litefuse.litert.export.edited_file import complete_file, edit_file
from litefuse.litert.inspection.litert_model import facts_of
from litefuse.litert.runtime.model_reader import Model
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
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
