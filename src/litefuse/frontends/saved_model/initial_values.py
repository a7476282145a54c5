"""Values that variables are set to when a SavedModel is loaded, after its checkpoint is restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.messages import CollectionDef
from litefuse.frontends.saved_model.nodes import Nodes, node_of
from litefuse.frontends.saved_model.tables import TableNodes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from litefuse.frontends.saved_model.messages import MetaGraphDef
    from litefuse.frontends.saved_model.op_registry import OpRegistry

__all__ = ["initial_values"]

# The op that TensorFlow runs is an output of this signature, or else in the first of these collections.
_SIGNATURE = "__saved_model_init_op"
_COLLECTIONS = ("saved_model_main_op", "legacy_init_op", "saved_model_legacy_init_op")
_ASSIGNS = frozenset({"Assign", "AssignVariableOp"})


def initial_values(
    meta_graph: MetaGraphDef, nodes: Nodes, registry: OpRegistry
) -> dict[str, Callable[[], NDArray[Any]]]:
    """Returns functions that compute the values set by the graph's initialization, by the variables' node names.

    Each raises SavedModelError if the value is not a constant.

    Source: tensorflow/cc/saved_model/loader.cc and loader_util.cc.
    """
    values: dict[str, Callable[[], NDArray[Any]]] = {}
    constants = TableNodes(nodes, registry)
    for node in nodes.needed(_initialization(meta_graph)):
        if node.op in _ASSIGNS and len(node.input) > 1:
            variable = node_of(node.input[0])
            values[variable] = _reader(constants, node.input[1], variable)
    return values


def _reader(constants: TableNodes, tensor: str, variable: str) -> Callable[[], NDArray[Any]]:
    return lambda: constants.value(tensor, f"the initial value of variable {variable!r}")


def _initialization(meta_graph: MetaGraphDef) -> list[str]:
    if _SIGNATURE in meta_graph.signature_def:
        return [output.name for output in meta_graph.signature_def[_SIGNATURE].outputs.values()]
    name = next((name for name in _COLLECTIONS if name in meta_graph.collection_def), None)
    if name is None:
        return []
    try:
        return list(CollectionDef.FromString(meta_graph.collection_def[name]).node_list.value)
    except ValueError as reason:
        raise SavedModelError(f"its collection {name!r} is damaged: {reason}") from None
