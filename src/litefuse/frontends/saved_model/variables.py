"""Variables of a SavedModel, from the object graph and the checkpoint."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from litefuse.errors import CheckpointError
from litefuse.frontends.saved_model.captures import Variable
from litefuse.frontends.saved_model.dtypes import DataType, shape_from_proto
from litefuse.frontends.saved_model.messages import SavedVariable, TrackableObjectGraph
from litefuse.frontends.saved_model.tensor_bundle import TensorBundle

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from litefuse.frontends.saved_model.object_graph import ObjectGraph

_OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def load_variables(folder: Path, graph: ObjectGraph, paths: Mapping[int, tuple[str, ...]]) -> dict[int, Variable]:
    """Returns the variable of each variable node; nodes that share a checkpoint key share the object.

    Args:
        folder: The SavedModel's folder, symbolic links resolved.
        graph: Its object graph.
        paths: The readable paths from :meth:`ObjectGraph.paths`.

    Raises:
        CheckpointError: There are variables, but the checkpoint's index is missing or damaged.
        SavedModelError: A variable has an unknown type.
    """
    saved = {i: node.variable for i, node in enumerate(graph.nodes) if node.WhichOneof("kind") == "variable"}
    if not saved:
        return {}
    bundle = TensorBundle.open(folder)
    keys = {
        node: by_name["VARIABLE_VALUE"]
        for node, by_name in checkpoint_keys(bundle, graph).items()
        if "VARIABLE_VALUE" in by_name
    }
    captured = {node for function in graph.concrete_functions.values() for node in function.bound_inputs}
    names = _readable_names(saved, paths, captured)
    variables: dict[int, Variable] = {}
    by_key: dict[str, Variable] = {}
    for node, proto in saved.items():
        key = keys.get(node)
        variable = by_key.get(key) if key is not None else None
        if variable is None:
            dtype = DataType.from_proto(proto.dtype, f"variable {names[node]!r}")
            shape = shape_from_proto(proto.shape)
            variable = Variable(node, names[node], proto.name, dtype, shape, proto.trainable, key, bundle)
            if key is not None:
                by_key[key] = variable
        variables[node] = variable
    return variables


def checkpoint_keys(bundle: TensorBundle, graph: ObjectGraph) -> dict[int, dict[str, str]]:
    """Returns the checkpoint keys of each node's values by their names (``VARIABLE_VALUE`` for a variable's value).

    Raises:
        CheckpointError: The checkpoint has no object graph, or it is damaged.
    """
    if _OBJECT_GRAPH_KEY not in bundle:
        message = "it holds no object graph: it was written by TensorFlow 1, or by something else"
        raise CheckpointError(message, where=str(bundle.folder / bundle.prefix))
    data = bundle.read(_OBJECT_GRAPH_KEY)
    try:
        trackable = TrackableObjectGraph.FromString(data.item() if data.dtype == object and data.size == 1 else b"\xff")
    except (DecodeError, UnicodeDecodeError) as reason:
        message = f"its object graph is damaged: {reason}"
        raise CheckpointError(message, where=str(bundle.folder / bundle.prefix)) from None
    return {
        node: {attribute.name: attribute.checkpoint_key for attribute in trackable.nodes[other].attributes}
        for node, other in graph.checkpoint_nodes(trackable).items()
    }


def _readable_names(
    saved: Mapping[int, SavedVariable], paths: Mapping[int, tuple[str, ...]], captured: set[int]
) -> dict[int, str]:
    """Returns a unique readable name for each variable.

    A path is readable if its attributes are public and it does not end in a list of variables: then the user finds the
    variable there. Otherwise the name it was created with says more, if no other variable has it. Keras saves each
    variable a second time under another node: the one that functions capture takes precedence.
    """
    names: dict[int, str] = {}
    taken: set[str] = set()
    groups = [[node for node in saved if node in captured], [node for node in saved if node not in captured]]
    for group in groups:
        own_names = Counter(saved[node].name for node in group)
        for node in group:
            path, own = paths.get(node, ()), saved[node].name
            is_own = own not in ("", "Variable") and own_names[own] == 1 and own not in taken
            name = own if is_own and not _is_readable(path) else ".".join(path) or own or "variable"
            # A path may equal another variable's own name, and nodes may be unreachable.
            names[node] = name = name if name not in taken else f"{name}@{node}"
            taken.add(name)
    return names


def _is_readable(path: tuple[str, ...]) -> bool:
    is_public = all((step.isidentifier() and not step.startswith("_")) or step.isdecimal() for step in path)
    return is_public and bool(path) and path[-1].isidentifier()
