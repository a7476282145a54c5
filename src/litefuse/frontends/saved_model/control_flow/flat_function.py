"""Functions whose tensors are all named ``node:index``, as in a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.messages import FunctionDef, NodeDef, TensorProto, TensorShapeProto
from litefuse.frontends.saved_model.nodes import Nodes, control_inputs, data_inputs, node_of
from litefuse.frontends.saved_model.op_registry import OpRegistry, Statefulness, input_count, statefulness_of

if TYPE_CHECKING:
    from litefuse.frontends.saved_model.messages import AttrValue

SWITCHES = frozenset({"Switch", "_SwitchN"})

_REFERENCE_FORMS = frozenset({"RefSwitch", "RefMerge", "RefEnter", "RefExit", "RefNextIteration"})


def kind(node: NodeDef | None) -> str:
    """Returns a node's op, in the value form if it works on references; empty for an argument of the function."""
    if node is None:
        return ""
    return node.op.removeprefix("Ref") if node.op in _REFERENCE_FORMS else node.op


def constant_node(name: str, tensor: TensorProto) -> NodeDef:
    """Makes a Const."""
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = tensor.dtype
    node.attr["value"].tensor.CopyFrom(tensor)
    return node


@dataclass
class FlatFunction:
    """A function that is being rewritten.

    Attributes:
        source: The original function; its signature and attributes are kept.
        registry: The definitions of the ops and of the functions that it may call.
        nodes: The nodes that its results and side effects depend on, in the function's order. Their data inputs are
            ``node:index`` or ``argument:0``.
        results: The tensor of each result.
        effects: The node of each side effect.
    """

    source: FunctionDef
    registry: OpRegistry
    nodes: Nodes
    results: dict[str, str]
    effects: dict[str, str]

    @classmethod
    def of(cls, function: FunctionDef, registry: OpRegistry) -> FlatFunction:
        """Makes the flat form of a function.

        Raises:
            GraphError: An input names no existing node or output, or a node has too many or too few inputs.
            SavedModelError: A node lacks an attribute that determines its inputs and outputs.
        """
        nodes = Nodes.of(function.node_def)
        if len(nodes) != len(function.node_def):
            raise GraphError("two nodes have the same name", where=f"function {function.signature.name}")
        made = cls(function, registry, nodes, dict(function.ret), dict(function.control_ret))
        made.prune()
        for node in made.nodes.values():
            definition = registry.get(node.op)
            given = len(data_inputs(node))
            if definition and (taken := input_count(node, definition, registry.attribute)) != given:
                raise GraphError(f"it has {given} inputs; its op takes {taken}", where=made.where(node.name))
        made.results = {name: made._flat(reference) for name, reference in made.results.items()}
        for node in list(made.nodes.values()):
            copied = NodeDef()
            copied.CopyFrom(node)
            copied.input[:] = [name if name.startswith("^") else made._flat(name) for name in node.input]
            nodes[node.name] = copied
        made.nodes = Nodes({name: nodes[name] for name in made.nodes})
        return made

    @property
    def name(self) -> str:
        return self.source.signature.name

    def where(self, node: str) -> str:
        """Returns the location of a node for an error."""
        return f"function {self.name}, node {node}"

    def dtype(self, tensor: str) -> int:
        """Returns the element type of a tensor."""
        name, _, index = tensor.partition(":")
        node = self.nodes.get(name)
        if node is None:
            return next(argument.type for argument in self.source.signature.input_arg if argument.name == name)
        types = [dtype for _, dtypes in self.registry.outputs(node) for dtype in dtypes]
        if int(index) >= len(types):
            raise GraphError(f"{node.op} has no output {index}", where=self.where(name))
        return types[int(index)]

    def is_stateful(self, node: NodeDef) -> bool:
        """Whether a node has or may have side effects or state."""
        definition = self.registry.get(node.op)
        return definition is not None and definition.is_stateful

    def is_repeatable(self, node: NodeDef) -> bool:
        """Whether a node may run once more: it only computes, or reads."""
        definition = self.registry.get(node.op)
        return definition is None or statefulness_of(definition) in {Statefulness.PURE, Statefulness.READING}

    def shape(self, tensor: str) -> TensorShapeProto:
        name, _, index = tensor.partition(":")
        node = self.nodes.get(name)
        if node is None:
            position = [argument.name for argument in self.source.signature.input_arg].index(name)
            known = position in self.source.arg_attr
            return _listed(self.source.arg_attr[position].attr if known else {}, "_output_shapes", 0)
        key = "output_shapes" if "output_shapes" in node.attr else "_output_shapes"
        return _listed(node.attr, key, int(index))

    def order(self) -> list[str]:
        """Returns the nodes in topological order, ignoring the back edges of loops."""
        depends = {
            node.name: [
                source
                for source in map(node_of, node.input)
                if source in self.nodes and not (kind(node) == "Merge" and kind(self.nodes[source]) == "NextIteration")
            ]
            for node in self.nodes.values()
        }
        try:
            return list(TopologicalSorter(depends).static_order())
        except CycleError as error:
            raise GraphError("the graph has a cycle", where=self.where(min(error.args[1]))) from None

    def fresh(self, name: str, taken: Iterable[str] = ()) -> str:
        """Returns a name that no node or argument has."""
        used = {*self.nodes, *taken, *(argument.name for argument in self.source.signature.input_arg)}
        while name in used:
            name += "_"
        return name

    def rename(self, tensors: Mapping[str, str], nodes: Mapping[str, str | None]) -> None:
        """Replaces uses of tensors and control inputs; drops control inputs whose replacement is None."""
        self.results = {name: _last(tensors, tensor) for name, tensor in self.results.items()}
        self.effects = {name: _last(nodes, node) or "" for name, node in self.effects.items()}
        self.effects = {name: node for name, node in self.effects.items() if node}
        for node in self.nodes.values():
            waits = [_last(nodes, input_) for input_ in control_inputs(node)]
            controls = [f"^{fromkey}" for fromkey in dict.fromkeys(waits) if fromkey]
            node.input[:] = [*(_last(tensors, input_) for input_ in data_inputs(node)), *controls]

    def replace(self, names: Sequence[str], node: NodeDef) -> None:
        """Replaces some nodes by one, at the position of the first."""
        gone = set(names)
        made = Nodes()
        for name, kept in self.nodes.items():
            if name not in gone:
                made[name] = kept
            else:
                made.setdefault(node.name, node)
        self.nodes = made

    def prune(self) -> None:
        """Drops the nodes that neither results nor side effects depend on.

        Raises:
            GraphError: An input names a node that does not exist.
        """
        arguments = {argument.name for argument in self.source.signature.input_arg}
        live = self.nodes.live([*self.results.values(), *self.effects.values()], arguments, self.name)
        self.nodes = Nodes({name: node for name, node in self.nodes.items() if name in live})

    def function(self) -> FunctionDef:
        """Returns the function in its current state."""
        made = FunctionDef()
        made.CopyFrom(self.source)
        del made.node_def[:]
        made.node_def.extend(self.nodes.values())
        for fields, values in ((made.ret, self.results), (made.control_ret, self.effects)):
            fields.clear()
            fields.update(values)
        return made

    def _flat(self, reference: str) -> str:
        """Converts ``node:output:index``, ``node:output``, ``node``, or an argument, to ``node:index``."""
        name, _, port = reference.partition(":")
        output, _, index = port.rpartition(":")
        if not output and port and not port.isdecimal():
            output, index = port, "0"
        if not output:
            return f"{name}:{index or 0}"
        offset = 0
        for known, dtypes in self.registry.outputs(self.nodes[name]):
            if known == output and index.isdecimal() and int(index) < len(dtypes):
                return f"{name}:{offset + int(index)}"
            offset += len(dtypes)
        raise GraphError(f"the input {reference!r} does not exist", where=f"function {self.name}")


def _listed(attributes: Mapping[str, AttrValue], key: str, index: int) -> TensorShapeProto:
    shapes = attributes[key].list.shape if key in attributes else ()
    return shapes[index] if index < len(shapes) else TensorShapeProto(unknown_rank=True)


def _last(names: Mapping[str, str] | Mapping[str, str | None], name: str) -> str:
    last: str | None = name
    while last is not None and last in names:
        last = names[last]
    return last or ""
