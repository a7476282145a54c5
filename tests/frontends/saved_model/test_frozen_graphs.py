"""The inputs and outputs of frozen graphs, which have no signatures."""

from __future__ import annotations

from pathlib import Path

import pytest

from litefuse.errors import SignatureError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.graph_def import load_graph
from litefuse.frontends.saved_model.messages import AttrValue, GraphDef, NodeDef, VersionDef
from litefuse.frontends.saved_model.model import SavedModel
from tests.frontends.saved_model.model_writer import shape

FLOAT = AttrValue(type=DataType.FLOAT32)
X = NodeDef(name="x", op="Placeholder", attr={"dtype": FLOAT, "shape": AttrValue(shape=shape(None, 3))})


def loaded(folder: Path, *nodes: NodeDef, producer: int = 0) -> SavedModel:
    path = folder / "graph.pb"
    path.write_bytes(GraphDef(node=nodes, versions=VersionDef(producer=producer)).SerializeToString())
    return load_graph(path)


def unary(name: str, op: str, operand: str) -> NodeDef:
    return NodeDef(name=name, op=op, input=[operand], attr={"T": FLOAT})


def test_the_output_is_the_op_that_nothing_reads(tmp_path: Path) -> None:
    others = [
        NodeDef(name="unused", op="Placeholder", attr={"dtype": FLOAT}),
        NodeDef(name="number", op="Const", attr={"dtype": FLOAT}),
        NodeDef(name="init", op="NoOp", input=["^y"]),
        NodeDef(name="check", op="Assert", input=["x"]),
        NodeDef(name="before", op="NoOp"),
    ]
    model = loaded(tmp_path, X, unary("y", "Relu", "x"), unary("z", "Abs", "y"), *others)
    (signature,) = model.signatures.values()
    assert [spec.name for spec in signature.inputs] == ["x"]
    assert [spec.name for spec in signature.outputs] == ["z"]


def test_several_ops_that_nothing_reads_are_named(tmp_path: Path) -> None:
    with pytest.raises(SignatureError, match="the nodes that nothing reads are 'y', 'z'"):
        loaded(tmp_path, X, unary("z", "Abs", "x"), unary("y", "Relu", "x"))


def test_identities_of_what_is_no_variable_stay(tmp_path: Path) -> None:
    model = loaded(tmp_path, X, unary("i", "Identity", "x"), unary("j", "Identity", "i"), unary("y", "Relu", "j"))
    (signature,) = model.signatures.values()
    body = model.functions[signature.function].node_def
    assert [(node.op, list(node.input)) for node in body] == [
        ("Identity", ["x"]),
        ("Identity", ["i"]),
        ("Relu", ["j"]),
    ]


@pytest.mark.parametrize(("producer", "expected"), [(0, None), (23, None), (24, ()), (1000, ())])
def test_scalars_of_old_graphs_have_an_unknown_shape(
    producer: int, expected: tuple[int, ...] | None, tmp_path: Path
) -> None:
    """Before version 24, a placeholder of unknown shape was written as a scalar."""
    x = NodeDef(name="x", op="Placeholder", attr={"dtype": FLOAT, "shape": AttrValue(shape=shape())})
    model = loaded(tmp_path, x, unary("y", "Relu", "x"), producer=producer)
    (signature,) = model.signatures.values()
    assert [spec.shape for spec in signature.inputs] == [expected]
