"""The graphs of TensorFlow models, from their messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from litefuse.errors import SignatureError
from litefuse.frontends.saved_model.messages import NodeDef
from litefuse.tools.demo import SAVED_MODEL
from litefuse.tools.page.graph import Graph, Model, Node
from litefuse.tools.page.original import OriginalJob, graphs_of, read_original
from tests.every import every
from tests.frontends.saved_model.test_frozen_graphs import FLOAT, X, loaded, unary
from tests.ir.importer.function_defs import shapes


def demo() -> Model:
    return read_original(OriginalJob(SAVED_MODEL), lambda _: None)


def graph_of(model: Model, name: str) -> Graph:
    return next(each for each in model.graphs if each.name == name)


def nodes(graph: Graph, mark: str) -> list[Node]:
    return [each for each in graph.nodes if each.mark == mark]


def test_signatures_begin_behind_their_wrappers() -> None:
    model = demo()
    for entry in model.entries:
        assert "signature_wrapper" not in entry.graph
        assert nodes(graph_of(model, entry.graph), "input")


def test_composites_open_their_bodies() -> None:
    model = demo()
    found = [each for graph in model.graphs for each in nodes(graph, "composite")]
    assert found
    for each in found:
        (body,) = each.opens
        graph = graph_of(model, body)
        assert graph.title == each.op
        assert ("composite", each.op) in graph.facts


def test_nodes_come_after_what_they_read() -> None:
    for graph in demo().graphs:
        reads = [(number, each) for number, node in enumerate(graph.nodes) for each in node.inputs]
        assert every(0 <= each < number for number, each in reads)


def test_constants_and_variables_are_facts_of_what_reads_them() -> None:
    model = demo()
    ops = {each.op for graph in model.graphs for each in graph.nodes}
    assert not ops & {"Const", "ReadVariableOp", "NoOp"}
    read = [text for graph in model.graphs for each in graph.nodes for name, text in each.facts if name == "reads"]
    assert any(each.startswith("constant ") for each in read)


def test_types_of_results_are_facts(tmp_path: Path) -> None:
    """With their shapes, if the node tells them."""
    shaped = NodeDef(name="shaped", op="Relu", input=["x"], attr={"T": FLOAT, "_output_shapes": shapes((-1, 2))})
    (graph,) = graphs_of(loaded(tmp_path, X, shaped, unary("y", "Abs", "shaped"))).graphs
    facts = {one.op: dict(one.facts) for one in graph.nodes}
    assert facts["Relu"].items() >= {"result": "float32 [?,2]"}.items()
    assert facts["Abs"].items() >= {"dtype": "float32"}.items()


def test_only_chosen_signatures() -> None:
    model = read_original(OriginalJob(SAVED_MODEL, signatures=()), lambda _: None)
    assert model == Model()
    with pytest.raises(SignatureError, match="no signature 'serve_it'"):
        read_original(OriginalJob(SAVED_MODEL, signatures=("serve_it",)), lambda _: None)
