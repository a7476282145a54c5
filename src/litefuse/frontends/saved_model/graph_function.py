"""Extraction of a function from a graph, for the signatures of TensorFlow 1, whose tensors are nodes of the top level.

Variables and tables are nodes there. They become arguments that follow the explicit ones, as in the functions of
TensorFlow 2. Reference variables (``VariableV2``), whose value is an output of the node itself, become resource
variables with explicit reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NodeDef, OpDef
from litefuse.frontends.saved_model.nodes import Nodes, data_inputs, node_of, split_tensor_name
from litefuse.frontends.saved_model.tables import TABLE_OPS

if TYPE_CHECKING:
    from litefuse.frontends.saved_model.op_registry import OpRegistry

REFERENCE_VARIABLES = frozenset({"Variable", "VariableV2"})
VARIABLE_OPS = REFERENCE_VARIABLES | {"VarHandleOp"}

# Ops that only hold a value, or say where one is: nothing waits for them.
_VALUES = frozenset({"Placeholder", "PlaceholderV2"}) | VARIABLE_OPS | TABLE_OPS
# Ops that write reference variables, and the equivalent ops on resource variables.
_WRITES = {"Assign": "AssignVariableOp", "AssignAdd": "AssignAddVariableOp", "AssignSub": "AssignSubVariableOp"}
# Ops that forward a reference into a branch or a loop, and the equivalent ops on handles.
_HANDS_ON = {"RefSwitch": "Switch", "RefEnter": "Enter", "RefExit": "Exit"}
_IDENTITIES = frozenset({"Identity", "RefIdentity"})
# Ops on tables whose handle is a reference to a string, and the same ops on resources.
_TABLE_USES = {"LookupTableFind": "LookupTableFindV2", "LookupTableSize": "LookupTableSizeV2"}


class GraphFunction(NamedTuple):
    """A function, and the nodes that its last arguments represent.

    Attributes:
        function: The function; its first arguments are the inputs.
        resources: The variables and tables, in the order of the arguments that follow.
    """

    function: FunctionDef
    resources: tuple[NodeDef, ...]


def function_of_graph(
    name: str,
    nodes: Nodes,
    registry: OpRegistry,
    inputs: Sequence[tuple[str, DataType]],
    outputs: Sequence[tuple[str, DataType]],
) -> GraphFunction:
    """Makes the function that computes some tensors of a graph from others.

    Args:
        name: Its name.
        nodes: The nodes of the graph by name.
        registry: The definitions of the ops.
        inputs: The tensors that are fed, such as ``x:0``, and their types: placeholders, or any others.
        outputs: The tensors that are fetched, and their types.

    Raises:
        SavedModelError: The graph lacks one of these tensors, or the outputs depend on something that is not fed.
    """
    graph = _Graph(name, nodes, registry, {})
    return graph.function(inputs, outputs)


@dataclass
class _Graph:
    """The part of a graph that is being turned into a function; ``fed`` has the arguments in place of fed tensors."""

    name: str
    nodes: Nodes
    registry: OpRegistry
    fed: dict[tuple[str, int], str]
    _resources: dict[str, NodeDef] = field(default_factory=dict[str, "NodeDef"])
    _body: list[NodeDef] = field(default_factory=list["NodeDef"])
    _taken: set[str] = field(default_factory=set[str])
    _written: set[str] = field(default_factory=set[str])  # the reference variables that are written

    def function(
        self, inputs: Sequence[tuple[str, DataType]], outputs: Sequence[tuple[str, DataType]]
    ) -> GraphFunction:
        signature = OpDef(name=self.name)
        self._taken = set(self.nodes)
        for tensor, dtype in inputs:
            self._check_exists(tensor)
            node, index = split_tensor_name(tensor)
            self._refuse_handle(self.nodes[node])
            is_placeholder = self.nodes[node].op.startswith("Placeholder") and not index
            argument = node if is_placeholder else self._fresh(f"{node}_{index}_fed")
            self.fed[node, index] = argument
            signature.input_arg.add(name=argument, type=int(dtype))
        for tensor, _ in outputs:
            self._check_exists(tensor)
        live = self._live([tensor for tensor, _ in outputs])
        self._written = set(filter(None, (self._written_by(self.nodes[name]) for name in live)))
        for node in self.nodes.values():  # in the graph's order, to keep the order of side effects
            if node.name in live:
                self._add(node)
        function = FunctionDef(signature=signature)
        for position, (tensor, dtype) in enumerate(outputs):
            function.signature.output_arg.add(name=f"output_{position}", type=int(dtype))
            function.ret[f"output_{position}"] = self._value(tensor, None)
        for resource in self._resources.values():
            function.signature.input_arg.add(name=resource.name, type=int(DataType.RESOURCE))
        function.node_def.extend(self._body)
        return GraphFunction(function, tuple(self._resources.values()))

    def _check_exists(self, tensor: str) -> None:
        if split_tensor_name(tensor)[0] not in self.nodes:
            raise SavedModelError(f"the graph has no tensor {tensor!r}", where=self.name)

    def _refuse_handle(self, node: NodeDef) -> None:
        """Rejects a placeholder for a resource: the graph of a function has one for each resource it captured."""
        if node.op.startswith("Placeholder") and node.attr["dtype"].type == DataType.RESOURCE:
            raise SavedModelError(
                f"the placeholder {node.name!r} is a resource, such as a hash table, that the graph lacks",
                where=self.name,
                hint="Freezing a function (convert_variables_to_constants_v2) leaves its tables out: convert the "
                "SavedModel, or the function itself.",
            )

    def _fresh(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _live(self, outputs: Sequence[str]) -> set[str]:
        """Returns the nodes that the outputs depend on, up to the fed tensors."""
        live: set[str] = set()
        pending = [(tensor, tensor) for tensor in outputs]
        while pending:
            reference, reader = pending.pop()
            control = reference.startswith("^")
            node_name, index = split_tensor_name(reference.removeprefix("^"))
            if node_name in live or (not control and (node_name, index) in self.fed):
                continue
            node = self.nodes.get(node_name)
            if node is None:
                raise SavedModelError(f"{reader} reads from {node_name!r}, which does not exist", where=self.name)
            if node.op in {"Placeholder", "PlaceholderV2"}:
                if control:  # it does nothing
                    continue
                self._refuse_handle(node)
                raise SavedModelError(
                    f"{reader} depends on the placeholder {node_name!r}, which is not among the inputs",
                    where=self.name,
                    hint="Name it as an input too.",
                )
            live.add(node_name)
            if node.op not in VARIABLE_OPS | TABLE_OPS:
                pending.extend((reference, node_name) for reference in node.input)
        return live

    def _add(self, node: NodeDef) -> None:
        if node.op in VARIABLE_OPS | TABLE_OPS:
            self._resources[node.name] = node
            return
        made = NodeDef()
        made.CopyFrom(node)
        if node.op == "PlaceholderWithDefault":
            made.op = "Identity"
            made.ClearField("attr")
            for key in ("dtype", "_output_shapes"):
                if key in node.attr:
                    made.attr["T" if key == "dtype" else key].CopyFrom(node.attr[key])
        made.op = _TABLE_USES.get(made.op, made.op)
        del made.input[:]
        controls = self._controls(node)
        references = data_inputs(node)
        handle = self._reference(references[0]) if references else None
        if handle is not None and node.op in _WRITES:
            made.op = _WRITES[node.op]
            made.ClearField("attr")
            made.attr["dtype"].type = self._variable(handle).attr["dtype"].type
            made.input.extend([handle, *(self._value(reference, node) for reference in references[1:])])
        elif handle is not None and node.op in _HANDS_ON:
            made.op = _HANDS_ON[node.op]
            made.ClearField("attr")
            for key in node.attr:
                if not key.startswith("_"):
                    made.attr[key].CopyFrom(node.attr[key])
            made.attr["T"].type = DataType.RESOURCE
            made.input.extend([handle, *(self._value(reference, node) for reference in references[1:])])
        elif handle is not None and node.op in _IDENTITIES:
            self._body.append(self._read(node.name, handle, [*controls, *self._after(references[0])]))
            return
        else:
            if node.op == "RefMerge":  # merges what either branch leaves in a variable, which each branch reads
                made.op = "Merge"
            else:
                self._refuse_references(node, references)
            made.input.extend(self._value(reference, node) for reference in references)
        made.input.extend(controls)
        self._body.append(made)

    def _controls(self, node: NodeDef) -> list[str]:
        """Returns the control inputs that wait for something that runs, rather than for a mere value."""
        return [
            reference
            for reference in node.input
            if reference.startswith("^")
            and ((source := self.nodes.get(reference[1:])) is None or source.op not in _VALUES)
        ]

    def _reference(self, reference: str) -> str | None:
        """Returns the handle of the variable that a tensor refers to, or None."""
        name, index = split_tensor_name(reference)
        if (name, index) in self.fed:
            return None
        node = self.nodes.get(name)
        if node is not None and node.op in REFERENCE_VARIABLES:
            return name
        if node is not None and node.op in _WRITES and node.input:
            return self._reference(node.input[0])
        if node is not None and node.op in _HANDS_ON and node.input and self._reference(node.input[0]) is not None:
            return f"{name}:{index}"
        # The tensor that is used as the variable everywhere (``Variable.value()``): it shares the variable's memory, so
        # that its readers get the value at the time they read it.
        if node is not None and _is_alias(node):
            handle = self._reference(node.input[0])
            return handle if handle is not None and self._variable(handle).name in self._written else None
        return None

    def _written_by(self, node: NodeDef) -> str | None:
        """Returns the name of the reference variable that a node writes, or None."""
        handle = self._reference(node.input[0]) if node.op in _WRITES and node.input else None
        return None if handle is None else self._variable(handle).name

    def _variable(self, handle: str) -> NodeDef:
        node = self.nodes[node_of(handle)]
        while node.op not in REFERENCE_VARIABLES:
            node = self.nodes[node_of(node.input[0])]
        return node

    def _after(self, reference: str) -> list[str]:
        """Returns the control input of a read through the result of an assignment."""
        node = self.nodes[node_of(reference)]
        while _is_alias(node):
            node = self.nodes[node_of(node.input[0])]
        return [f"^{node.name}"] if node.op in _WRITES else []

    def _refuse_references(self, node: NodeDef, references: Sequence[str]) -> None:
        definition = self.registry.get(node.op)
        if definition is None:
            return
        for argument, reference in zip(definition.input_arg, references, strict=False):
            if argument.is_ref and self._reference(reference) is not None:
                raise SavedModelError(
                    f"{node.op} changes a reference variable of TensorFlow 1, which cannot be converted",
                    where=f"node {node.name}",
                    hint="Use resource variables: tf.compat.v1.enable_resource_variables() before building the graph.",
                )

    def _value(self, reference: str, reader: NodeDef | None) -> str:
        """Returns the reference to a tensor's value in the function."""
        name, index = split_tensor_name(reference)
        argument = self.fed.get((name, index))
        if argument is not None:
            return argument
        handle = self._reference(reference)
        if handle is None:
            return reference
        controls = self._controls(reader) if reader else []
        read = self._read(self._fresh(f"{name}/read"), handle, [*controls, *self._after(reference)])
        self._body.append(read)
        return read.name

    def _read(self, name: str, handle: str, controls: Sequence[str]) -> NodeDef:
        variable = self._variable(handle)
        node = NodeDef(name=name, op="ReadVariableOp", input=[handle, *controls])
        node.attr["dtype"].type = variable.attr["dtype"].type
        shapes = AttrValue.ListValue(shape=[variable.attr["shape"].shape])
        node.attr["_output_shapes"].list.CopyFrom(shapes)
        return node


def _is_alias(node: NodeDef) -> bool:
    """Whether a node's output is always its only input."""
    return node.op in _IDENTITIES and len(node.input) == 1
