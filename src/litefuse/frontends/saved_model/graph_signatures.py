"""Signatures of TensorFlow 1, whose tensors the top-level graph computes, and values that it sets when it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.captures import Variable
from litefuse.frontends.saved_model.dtypes import DataType, shape_from_proto
from litefuse.frontends.saved_model.graph_function import VARIABLE_OPS, function_of_graph
from litefuse.frontends.saved_model.messages import CollectionDef
from litefuse.frontends.saved_model.nodes import Nodes, constant_value, node_of, split_tensor_name
from litefuse.frontends.saved_model.signatures import Signature, TensorSpec, check_dense, tensor_spec
from litefuse.frontends.saved_model.tables import TableNodes
from litefuse.frontends.saved_model.tensor_bundle import TensorBundle

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from litefuse.frontends.saved_model.captures import Asset, Table
    from litefuse.frontends.saved_model.messages import FunctionDef, MetaGraphDef, NodeDef, SignatureDef, TensorInfo
    from litefuse.frontends.saved_model.op_registry import OpRegistry

_IDENTITIES = frozenset({"Identity", "Reshape"})
# The op that TensorFlow runs is an output of this signature, or else in the first of these collections.
_SIGNATURE = "__saved_model_init_op"
_COLLECTIONS = ("saved_model_main_op", "legacy_init_op", "saved_model_legacy_init_op")
_ASSIGNS = frozenset({"Assign", "AssignVariableOp"})


@dataclass
class GraphSignatures:
    """Extracts the functions of signatures from a graph.

    Attributes:
        folder: The SavedModel's folder, symbolic links resolved; None for a graph without variables.
        nodes: The nodes of the graph by name.
        registry: The definitions of the ops.
        assets: The files that the graph names, by the names of the nodes that hold their paths.
        functions: The function library; extracted functions are added to it.
        first_id: The first number that no object of the model has.
        initial: Functions that compute the values to which variables are set on loading, by their nodes' names.
        beside: The folder of a frozen graph's file, symbolic links resolved, for files that the graph names.
    """

    folder: Path | None
    nodes: Nodes
    registry: OpRegistry
    assets: Mapping[str, Asset]
    functions: dict[str, FunctionDef]
    first_id: int
    initial: Mapping[str, Callable[[], NDArray[Any]]] = field(default_factory=dict[str, "Callable[[], NDArray[Any]]"])
    beside: Path | None = None
    _captures: dict[str, Variable | Table] = field(default_factory=dict[str, "Variable | Table"])
    _keys: dict[str, tuple[str, str]] | None = None
    _bundle: TensorBundle | None = None

    def read(self, key: str, definition: SignatureDef) -> Signature:
        """Resolves a signature; inputs and outputs are sorted by name, those of an exported program in its own order.

        Raises:
            SavedModelError: It cannot be used.
            CheckpointError: The index of the variables is missing or damaged.
        """
        where = f"signature {key!r}"
        check_dense(definition, where)
        inputs = [
            (tensor_spec(name, definition.inputs[name], where), definition.inputs[name].name)
            for name in self._in_order(definition.inputs)
        ]
        outputs = [
            (tensor_spec(name, definition.outputs[name], where), definition.outputs[name].name)
            for name in self._in_order(definition.outputs)
        ]
        return self.signature(key, inputs, outputs)

    def _in_order(self, tensors: Mapping[str, TensorInfo]) -> list[str]:
        """Returns the names of tensors in the order of a signature, whose messages have none.

        TensorFlow 1 has no function with arguments. The graph of an exported program of JAX has a node for each.
        """
        if not any(node.op == "XlaCallModule" for node in self.nodes.values()):
            return sorted(tensors)
        places = {name: place for place, name in enumerate(self.nodes)}
        made_by = {key: split_tensor_name(info.name) for key, info in tensors.items()}
        return sorted(tensors, key=lambda key: (places.get(made_by[key][0], len(places)), made_by[key][1], key))

    def signature(
        self, key: str, inputs: list[tuple[TensorSpec, str]], outputs: list[tuple[TensorSpec, str]]
    ) -> Signature:
        """Makes the signature with these inputs and outputs, each given with the name of its tensor in the graph.

        Raises:
            SavedModelError: The outputs cannot be computed from the inputs.
            CheckpointError: The index of the variables is missing or damaged.
        """
        name = f"graph of {key}"
        made = function_of_graph(
            name,
            self.nodes,
            self.registry,
            [(tensor, spec.dtype) for spec, tensor in inputs],
            [(tensor, spec.dtype) for spec, tensor in outputs],
        )
        self.functions[name] = made.function
        return Signature(
            key=key,
            function=name,
            inputs=tuple(spec for spec, _ in inputs),
            input_indices=tuple(range(len(inputs))),
            outputs=tuple(spec for spec, _ in outputs),
            output_indices=tuple(range(len(outputs))),
            input_tensors=tuple(tensor for _, tensor in inputs),
            output_tensors=tuple(tensor for _, tensor in outputs),
            captures=tuple(self._capture(node) for node in made.resources),
        )

    def _capture(self, node: NodeDef) -> Variable | Table:
        capture = self._captures.get(node.name)
        if capture is None:
            number = self.first_id + len(self._captures)
            if node.op in VARIABLE_OPS:
                capture = self._variable(node, number)
            else:
                tables = TableNodes(self.nodes, self.registry, assets=self.assets, folder=self.beside)
                capture = tables.table(node, number)
            self._captures[node.name] = capture
        return capture

    def _variable(self, node: NodeDef, number: int) -> Variable:
        where = f"variable {node.name!r}"
        if self.folder is None:
            raise SavedModelError(
                f"the graph is not frozen: it has the variable {node.name!r}, whose value is not in the file",
                hint="Convert the SavedModel that it belongs to.",
            )
        own = node.attr["shared_name"].s.decode(errors="replace") if "shared_name" in node.attr else ""
        variable = Variable(
            node_id=number,
            name=node.name,
            shared_name=own,
            dtype=DataType.from_proto(node.attr["dtype"].type, where),
            shape=shape_from_proto(node.attr["shape"].shape),
            trainable=True,
            checkpoint_key=None,
            _bundle=None,
        )
        reason: SavedModelError | None = None
        if node.name in self.initial:
            try:
                return replace(variable, initial=self.initial[node.name]())
            except SavedModelError as error:
                reason = error  # the checkpoint may still have a value
        if self._keys is None or self._bundle is None:
            self._keys, self._bundle = _checkpoint_keys(self.nodes), TensorBundle.open(self.folder)
        key, spec = self._keys.get(node.name, (node.name if node.name in self._bundle else own or node.name, ""))
        variable = replace(variable, checkpoint_key=key, _bundle=self._bundle, extent=_extent(spec, where))
        if reason is not None and not variable.has_value:
            hint = "Save the model again, with this variable among those that are saved: GLOBAL_VARIABLES."
            raise SavedModelError(reason.message, where=where, hint=hint) from None
        return variable


def _checkpoint_keys(nodes: Nodes) -> dict[str, tuple[str, str]]:
    """Returns each variable's checkpoint key and its slice of that tensor, from the ops that restore it."""
    keys: dict[str, tuple[str, str]] = {}
    for node in nodes.values():
        if node.op not in {"Assign", "AssignVariableOp"} or len(node.input) < 2:
            continue
        name, index = split_tensor_name(nodes.origin(node.input[1], _IDENTITIES))
        restore = nodes.get(name)
        if restore is None or restore.op != "RestoreV2" or len(restore.input) < 3:
            continue
        texts = [_strings(nodes, restore.input[position]) for position in (1, 2)]
        if all(index < len(text) for text in texts):
            key, spec = (text[index].decode(errors="replace") for text in texts)
            keys[node_of(node.input[0])] = (key, spec)
    return keys


def _strings(nodes: Nodes, tensor: str) -> list[bytes]:
    value = constant_value(nodes.producer(tensor))
    return [] if value is None else [text for text in value.ravel().tolist() if isinstance(text, bytes)]


def _extent(spec: str, where: str) -> tuple[tuple[int, int] | None, ...] | None:
    """Parses ``shape_and_slices``: the shape of the whole, then start and length in each dimension, or a dash."""
    if not spec:
        return None
    try:
        return tuple(
            None if extent == "-" else (int(extent.partition(",")[0]), int(extent.partition(",")[2]))
            for extent in spec.rsplit(" ", maxsplit=1)[-1].split(":")
        )
    except ValueError:
        raise SavedModelError(f"{spec!r} does not say which part of a tensor it is", where=where) from None


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
