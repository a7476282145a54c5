"""Where data and options of a file are, inside of the flatbuffer or behind it, and what reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.conversion.verify.failing_op import failing_op
from litefuse.errors import InterpreterError
from litefuse.litert.inspection.litert_model import facts_of
from litefuse.litert.runtime.flatbuffer import root
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.model_tables import BUFFERS, data_of
from litefuse.litert.runtime.soundness import check_soundness
from tests.every import every
from tests.litert.differences.edited import edited
from tests.litert.runtime.models import Graph, model, unary
from tests.litert.targets.models import buffers_behind, dense


def test_options_of_an_op_are_read_from_behind() -> None:
    content = buffers_behind(unary("MyOp", {"axis": 1}))
    (op,) = Model(content).graphs[0].ops
    assert op.custom_options == {"axis": 1}


def test_data_are_the_same_on_either_side() -> None:
    content = dense()
    inside, behind = (
        [data_of(table) for table in root(form).tables(BUFFERS)] for form in (content, buffers_behind(content))
    )
    assert inside == behind
    assert any(inside)


def test_an_offset_of_1_stands_for_no_data() -> None:
    def empty(loaded: Any) -> None:
        loaded.buffers[0].offset = loaded.buffers[0].size = 1

    content = edited(dense(), empty)
    graph = Model(content).graphs[0]
    assert [graph.is_constant(index) for index in range(graph.size)] == [False, True, True, False]
    assert not Model(content).has_buffers_behind
    check_soundness(content, "model")
    assert [tensor.size for tensor in facts_of(content).tensors] == [0, 128, 16, 0]
    interpreter = Interpreter(model_content=content)  # which takes it so as well
    interpreter.allocate_tensors()


def strings(data: bytes) -> bytes:
    """A model of strings behind the flatbuffer, which are broken off unless they are ``a`` and ``b``."""
    graph = Graph()
    words = graph.tensor("words", (2,), "STRING", value=[b"a", b"b"])
    y = graph.output("y", (2,), "STRING")
    graph.builtin("RESHAPE", [words, graph.tensor("shape", (1,), np.int32, value=[2])], [y], newShape=[2])
    whole = model(graph)

    def change(loaded: Any) -> None:
        loaded.buffers[1].data = list(bytes(loaded.buffers[1].data)[: len(data)])

    return buffers_behind(edited(whole, change))


def test_strings_behind_the_flatbuffer_are_checked() -> None:
    check_soundness(strings(bytes(100)), "model")
    with pytest.raises(InterpreterError, match="does not hold 2 strings"):
        check_soundness(strings(bytes(6)), "model")


def test_the_failing_op_of_a_file_with_data_behind(tmp_path: Path) -> None:
    graph = Graph()
    two = graph.tensor("two", (4,), value=[2] * 4)
    first, second, y = graph.tensor("first", (4,)), graph.tensor("second", (4,)), graph.output("y", (4,))
    x = graph.input("x", (4,))
    graph.builtin("MUL", [x, two], [first])
    graph.custom("Fails", [first], [second], {"axis": 1})
    graph.builtin("MUL", [second, two], [y])
    path = tmp_path / "model.tflite"
    path.write_bytes(buffers_behind(model(graph, signatures={"serving_default": 0})))

    def fails(beginning: Path) -> bool:
        made = Model(beginning.read_bytes()).graphs[0]
        assert every(made.constant(0) == [2] * 4)
        return any(op.custom_options == {"axis": 1} for op in made.ops)

    place = failing_op(path, fails)
    assert place is not None
    assert "Fails" in str(place)
