"""Changes to a graph of the schema's objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from litefuse.errors import QuantizationError
from litefuse.litert.export.editor import GraphEditor, Scale, editors_of
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.schema_objects import flatbuffer_of, objects_of
from tests.litert.runtime.models import Graph, model

WEIGHTS = np.arange(6, dtype=np.float32).reshape(2, 3)


def edited() -> GraphEditor:
    """``y = tanh(x + w); z = w + w; u = unpack(x)``, with the weights in the second subgraph, too."""
    graph, other = Graph(), Graph()
    x, w = graph.input("x", (2, 3), signature=[-1, 3]), graph.tensor("w", (2, 3), value=WEIGHTS)
    total, y, z = graph.tensor("total", (2, 3)), graph.output("y", (2, 3)), graph.output("z", (2, 3))
    other_w = other.tensor("other w", (2, 3), value=WEIGHTS)
    graph.builtin("ADD", [x, w], [total])
    graph.builtin("TANH", [total], [y])
    graph.custom("My", [w, w, -1], [z])
    other.builtin("TANH", [other_w], [other.output("v", (2, 3))])
    edited = objects_of(model(graph, other, Graph()))
    edited.subgraphs[1].tensors[other_w].buffer = edited.subgraphs[0].tensors[w].buffer
    return editors_of(edited)[0]


def test_what_is_there() -> None:
    editor = edited()
    assert [editor.kind(op) for op in editor.ops] == ["ADD", "TANH", "CUSTOM"]
    assert (editor.name(0), editor.shape(0), editor.shape(1)) == ("x", (-1, 3), (2, 3))
    assert editor.is_type(0, "float32")
    assert not editor.is_type(0, "int8")
    assert editor.is_output(3)
    assert not editor.is_output(2)
    add, tanh, custom = editor.ops
    assert editor.producer(2) is add
    assert editor.producer(0) is None
    assert [*editor.consumers(1)] == [add, custom]
    assert (editor.after(add), editor.after(custom)) == (tanh, None)
    assert editor.before(custom) == [add, tanh]
    assert len(editors_of(editor.model)) == 3
    editor.tensor(0).shapeSignature = []
    editor.tensor(1).shape = None
    assert (editor.shape(0), editor.shape(1)) == ((2, 3), ())


def test_constants() -> None:
    editor = edited()
    value = editor.constant(1)
    assert value is not None
    assert value.tolist() == WEIGHTS.tolist()
    assert editor.constant(0) is editor.constant(-1) is None
    editor.tensor(0).buffer, editor.tensor(0).shapeSignature = editor.tensor(1).buffer, None
    first = editor.constant(0)
    assert first is not None
    assert first.tolist() == WEIGHTS.tolist()
    editor.tensor(1).shape = [2, 2]
    with pytest.raises(QuantizationError, match=r"w has 24 bytes, not those of float32\[2, 2\]"):
        editor.constant(1)


def test_who_reads_a_constant() -> None:
    editor = edited()
    assert editor.shares_constant(1)
    add, _, custom = editor.ops
    custom.inputs = []
    assert editor.shares_constant(1)  # the other subgraph reads it, too
    add.inputs = [0, 0]
    assert not editor.shares_constant(1)
    del editor.model.subgraphs[1].operators[0]
    assert editor.shares_constant(1)  # whoever reads what nobody reads is not alone


@pytest.mark.parametrize(
    ("scales", "zeros", "expected"),
    [
        ([0.5], [3], Scale(0.5, 3)),
        ([0.5], None, Scale(0.5)),
        ([0.5], [], Scale(0.5)),
        ([0.5, 0.25], [0, 0], None),
        ([], [], None),
        (None, None, None),
    ],
)
def test_scales(scales: Any, zeros: Any, expected: Scale | None) -> None:
    editor = edited()
    assert editor.scale(0) is None
    editor.tensor(0).quantization = editor.tensor(editor.add_tensor("s", (), "int8", Scale(1.0))).quantization
    editor.tensor(0).quantization.scale, editor.tensor(0).quantization.zeroPoint = scales, zeros
    assert editor.scale(0) == expected


def test_what_is_added() -> None:
    editor = edited()
    add, tanh, custom = editor.ops
    state = editor.add_tensor("state", (-1, 0, 3), "int8", Scale(0.5, -3), variable=True)
    constant = editor.add_constant("c", np.array([1, 2], np.int16))
    zeros = editor.zeros((2,))
    assert editor.zeros((2,)) == zeros
    assert editor.zeros((3,)) == zeros + 1
    first = editor.add_op(tanh, "RELU", [2], [state])
    last = editor.add_op(None, "ADD", [constant, zeros], [4])
    assert editor.ops == [add, first, tanh, custom, last]
    editor.replace_input(custom, 1, constant)
    assert custom.inputs == [constant, constant, -1]
    editor.remove_op(tanh)
    assert editor.ops == [add, first, custom, last]

    graph = Model(bytes(flatbuffer_of(editor.model))).graphs[0]
    tensor = graph.tensor(state)
    assert (tensor.name, tensor.shape, tensor.dtype, tensor.is_variable) == ("state", (None, 0, 3), np.int8, True)
    assert editor.shape(state) == (-1, 0, 3)
    assert (editor.tensor(state).shape, editor.tensor(state).buffer) == ([1, 0, 3], 0)
    assert (editor.scale(state), editor.scale(zeros)) == (Scale(0.5, -3), Scale(1.0))
    assert not graph.tensor(constant).is_variable
    assert [
        value.tolist() for value in map(editor.constant, (constant, zeros), (np.int16, np.int8)) if value is not None
    ] == [[1, 2], [0, 0]]
    assert editor.tensor(constant).shapeSignature is None


def test_versions_of_ops_that_share_a_code() -> None:
    editor = edited()
    add = editor.ops[0]
    other = editor.add_op(None, "ADD", [2, 2], [4])
    assert other.opcodeIndex == add.opcodeIndex
    editor.set_version(other, 3)
    assert other.opcodeIndex == 3 != add.opcodeIndex
    codes: Any = editor.model.operatorCodes
    assert [(editor.kind(op), codes[op.opcodeIndex].version) for op in (add, other)] == [("ADD", 1), ("ADD", 3)]
    editor.set_version(add, 3)
    assert add.opcodeIndex == other.opcodeIndex
