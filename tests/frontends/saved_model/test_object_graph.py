from __future__ import annotations

from litefuse.frontends.saved_model.messages import SavedObject, SavedObjectGraph, TrackableObjectGraph
from litefuse.frontends.saved_model.object_graph import ObjectGraph

Trackable = TrackableObjectGraph.TrackableObject


def edges(**children: int) -> list[TrackableObjectGraph.TrackableObject.ObjectReference]:
    return [Trackable.ObjectReference(node_id=node, local_name=name) for name, node in children.items()]


def graph(*nodes: SavedObject) -> ObjectGraph:
    return ObjectGraph.from_proto(SavedObjectGraph(nodes=nodes))


def test_paths_prefer_public_then_short_then_first() -> None:
    leaf = SavedObject()
    found = graph(
        SavedObject(children=edges(_private=3, zebra=1, apple=1, public=2)),
        SavedObject(),
        SavedObject(children=edges(long=4)),
        leaf,
        SavedObject(children=edges(way=3)),
    ).paths()
    assert found == {0: (), 1: ("zebra",), 2: ("public",), 4: ("public", "long"), 3: ("public", "long", "way")}


def test_paths_do_not_go_through_functions() -> None:
    function = SavedObject(children=edges(capture_0=2))
    function.bare_concrete_function.concrete_function_name = "f"
    assert graph(SavedObject(children=edges(call=1)), function, SavedObject()).paths() == {0: (), 1: ("call",)}


def test_empty_graph() -> None:
    empty = graph()
    assert empty.paths() == {}
    assert empty.signature_functions() == {}
    assert empty.checkpoint_nodes(TrackableObjectGraph(nodes=[Trackable()])) == {}


def test_checkpoint_nodes_follow_the_names_not_the_numbers() -> None:
    saved = graph(SavedObject(children=edges(a=1, b=2, only_here=3)), SavedObject(), SavedObject(), SavedObject())
    trackable = TrackableObjectGraph(nodes=[Trackable(children=edges(b=1, a=2, gone=9)), Trackable(), Trackable()])
    assert saved.checkpoint_nodes(trackable) == {0: 0, 1: 2, 2: 1}


def test_checkpoint_nodes_ignore_numbers_out_of_range() -> None:
    saved = graph(SavedObject(children=edges(a=1, b=2)), SavedObject(), SavedObject())
    assert saved.checkpoint_nodes(TrackableObjectGraph(nodes=[Trackable(children=edges(a=5, b=-1))])) == {0: 0}
    assert saved.checkpoint_nodes(TrackableObjectGraph()) == {}


def test_slot_variables_are_found_by_variable_and_name() -> None:
    def slot(variable: int, name: str, node: int) -> TrackableObjectGraph.TrackableObject.SlotVariableReference:
        return Trackable.SlotVariableReference(
            original_variable_node_id=variable, slot_name=name, slot_variable_node_id=node
        )

    optimizer = SavedObject(slot_variables=[slot(1, "m", 3), slot(1, "v", 4), slot(1, "absurd", 99)])
    saved = graph(SavedObject(children=edges(w=1, optimizer=2)), SavedObject(), optimizer, SavedObject(), SavedObject())
    trackable = TrackableObjectGraph(
        nodes=[
            Trackable(children=edges(optimizer=1, w=2)),
            Trackable(slot_variables=[slot(2, "v", 3), slot(2, "m", 4), slot(2, "absurd", -5)]),
            *[Trackable()] * 3,
        ]
    )
    assert saved.checkpoint_nodes(trackable) == {0: 0, 1: 2, 2: 1, 3: 4, 4: 3}
