"""The view of the nodes of functions and graphs."""

from __future__ import annotations

import pytest

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.messages import AttrValue, NameAttrList, NodeDef
from litefuse.frontends.saved_model.nodes import Nodes, control_inputs, data_inputs, functions_in, node_of


def node(name: str, op: str, *inputs: str) -> NodeDef:
    return NodeDef(name=name, op=op, input=inputs)


NODES = Nodes.of(
    [
        node("a", "Const"),
        node("b", "Identity", "a", "^c"),
        node("c", "NoOp"),
        node("d", "Identity", "b:output:0"),
        node("e", "Neg", "x"),
    ]
)


@pytest.mark.parametrize("reference", ["a", "a:0", "a:output:0", "^a"])
def test_references_name_nodes(reference: str) -> None:
    assert node_of(reference) == "a"


def test_inputs_are_read_or_waited_for() -> None:
    assert data_inputs(NODES["b"]) == ["a"]
    assert control_inputs(NODES["b"]) == ["c"]


def test_an_origin_is_behind_what_hands_it_on() -> None:
    assert NODES.origin("d:output:0", {"Identity"}) == "a"
    assert NODES.origin("e:0", {"Identity"}) == "e:0"
    circle = Nodes.of([node("a", "Identity", "b"), node("b", "Identity", "a")])
    assert circle.origin("a", {"Identity"}) in {"a", "b"}


def test_needed_nodes_are_those_behind_inputs_of_both_kinds() -> None:
    assert {needed.name for needed in NODES.needed(["d:0"])} == {"a", "b", "c", "d"}


def test_live_nodes_have_sources_that_are_no_arguments() -> None:
    assert NODES.live(["d", "^e"], {"x"}, "f") == {"e": [], "d": ["b"], "b": ["a", "c"], "a": [], "c": []}
    with pytest.raises(GraphError, match="node e reads from 'x', which does not exist"):
        NODES.live(["e"], (), "f")


def test_an_attribute_names_functions() -> None:
    one, other = NameAttrList(name="one"), NameAttrList(name="other")
    assert [function.name for function in functions_in(AttrValue(func=one))] == ["one"]
    several = AttrValue(list=AttrValue.ListValue(func=[one, other]))
    assert [function.name for function in functions_in(several)] == ["one", "other"]
    assert functions_in(AttrValue(i=1)) == []
