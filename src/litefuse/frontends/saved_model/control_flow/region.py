"""Outlining of a part of a function: a branch, or the body or the condition of a loop."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from math import prod

from litefuse.frontends.saved_model.control_flow.flat_function import (
    SWITCHES,
    FlatFunction,
    kind,
)
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NodeDef, OpDef, TensorShapeProto
from litefuse.frontends.saved_model.nodes import control_inputs, data_inputs, node_of

# Small constants are copied into regions, since shape inference and conditions use their values.
_SMALL = 64


@dataclass
class Arguments:
    """The arguments that the functions of one op share.

    Attributes:
        outer: The function that they are outlined from.
        names: The argument that represents each of its tensors.
    """

    outer: FlatFunction
    names: dict[str, str] = field(default_factory=dict[str, str])

    def name(self, tensor: str) -> str:
        """Returns the argument for a tensor; adds one if needed."""
        if tensor not in self.names:
            wanted = tensor.replace(":", "_")
            self.names[tensor] = self.outer.fresh(wanted, self.names.values())
        return self.names[tensor]

    def types(self) -> AttrValue:
        return AttrValue(list=AttrValue.ListValue(type=[self.outer.dtype(tensor) for tensor in self.names]))

    def shapes(self) -> list[TensorShapeProto]:
        return [self.outer.shape(tensor) for tensor in self.names]


@dataclass
class Region:
    """Copies the part of a function that some tensors depend on.

    Attributes:
        outer: The function.
        arguments: The arguments for tensors from outside of the region.
        inside: The nodes that belong to the region.
        border: The nodes that lead into it. They have no effect, so nothing waits for them.
        alias: Returns the tensor that replaces a tensor within the region, or None.
        waits: The nodes outside that nodes of the region wait for.
    """

    outer: FlatFunction
    arguments: Arguments
    inside: Container[str]
    border: Container[str]
    alias: Callable[[str], str | None]
    waits: dict[str, None] = field(default_factory=dict[str, None])
    nodes: dict[str, NodeDef] = field(default_factory=dict[str, NodeDef])
    _pending: list[str] = field(default_factory=list[str])
    _results: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    _effects: dict[str, None] = field(default_factory=dict[str, None])

    def take(self, results: Sequence[str], effects: Sequence[str] = ()) -> None:
        """Adds results, and nodes that must run in a call, with all their dependencies."""
        self._results += [(self._value(tensor), self.outer.dtype(tensor)) for tensor in results]
        for name in effects:
            self._effects.update(dict.fromkeys(self._controls(name)))
        self._finish()

    def add(self, node: NodeDef, dtype: int) -> None:
        """Adds a result that a new node computes from tensors of the function."""
        self.nodes[node.name] = self._copy(node)
        self._results.append((f"{node.name}:0", dtype))
        self._finish()

    def function(self, name: str) -> FunctionDef:
        """Makes the function, which takes all arguments; call this when all arguments have been added."""
        signature = OpDef(name=name, is_stateful=any(map(self.outer.is_stateful, self.nodes.values())))
        made = FunctionDef(signature=signature)
        for position, (tensor, argument) in enumerate(self.arguments.names.items()):
            made.signature.input_arg.add(name=argument, type=self.outer.dtype(tensor))
            shapes = AttrValue.ListValue(shape=[self.outer.shape(tensor)])
            made.arg_attr[position].attr["_output_shapes"].list.CopyFrom(shapes)
        for position, (value, dtype) in enumerate(self._results):
            made.signature.output_arg.add(name=f"output_{position}", type=dtype)
            made.ret[f"output_{position}"] = value
        for effect in self._effects:
            made.control_ret[effect] = effect
        ordered = [node for node in self.outer.nodes if node in self.nodes]
        made.node_def.extend(self.nodes[fromkey] for fromkey in dict.fromkeys([*ordered, *self.nodes]))
        return made

    def _finish(self) -> None:
        while self._pending:
            name = self._pending.pop()
            if name not in self.nodes:
                self.nodes[name] = self._copy(self.outer.nodes[name])

    def _copy(self, node: NodeDef) -> NodeDef:
        made = NodeDef()
        made.CopyFrom(node)
        waits = {control: None for name in control_inputs(node) for control in self._controls(name)}
        made.input[:] = [*map(self._value, data_inputs(node)), *(f"^{wait}" for wait in waits)]
        return made

    def _tensor(self, tensor: str) -> str:
        """Resolves the aliases of a tensor."""
        while tensor not in self.arguments.names and (other := self.alias(tensor)) is not None:
            self._wait(control_inputs(self.outer.nodes[node_of(tensor)]))
            tensor = other
        return tensor

    def _value(self, tensor: str) -> str:
        tensor = self._tensor(tensor)
        name = node_of(tensor)
        if tensor not in self.arguments.names and (name in self.inside or self._is_small(name)):
            self._pending.append(name)
            return tensor
        return f"{self.arguments.name(tensor)}:0"

    def _controls(self, name: str) -> list[str]:
        """Returns the nodes to wait for instead of one: an Identity or NoOp is replaced by its own inputs."""
        controls: dict[str, None] = {}
        pending, seen = [name], set[str]()
        while pending:
            name = pending.pop()
            node = self.outer.nodes.get(name)
            if name in seen or node is None:
                continue
            seen.add(name)
            if name in self.border:
                self._wait(control_inputs(node))
            elif name not in self.inside:
                self._wait([name])
            elif kind(node) in {"Identity", "NoOp"} and not self._is_pivot(node):
                pending += [node_of(self._tensor(input_)) for input_ in data_inputs(node)] + control_inputs(node)
            else:
                controls[name] = None
                self._pending.append(name)
        return list(controls)

    def _is_pivot(self, node: NodeDef) -> bool:
        """Whether waiting for a node places the waiting node in a branch of a nested conditional."""
        sources = [node_of(self._tensor(tensor)) for tensor in data_inputs(node)]
        return any(name in self.inside and kind(self.outer.nodes[name]) in SWITCHES for name in sources)

    def _wait(self, names: Sequence[str]) -> None:
        self.waits.update(dict.fromkeys(name for name in names if name not in self.inside))

    def _is_small(self, name: str) -> bool:
        node = self.outer.nodes.get(name)
        if node is None or node.op != "Const" or node.input:
            return False
        return prod(dim.size for dim in node.attr["value"].tensor.tensor_shape.dim) <= _SMALL
