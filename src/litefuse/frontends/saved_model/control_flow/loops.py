"""Conversion of loops of control flow v1 to While.

A loop is a frame: values enter through Enter and leave through Exit. Each of its variables is a cycle, ::

    Enter -> Merge -> Switch(LoopCond) -> body -> NextIteration -> Merge
                             |-> Exit

The definition is that of "Implementation of Control Flow in TensorFlow", a white paper of the TensorFlow team.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from litefuse.errors import GraphError
from litefuse.frontends.saved_model.control_flow.flat_function import FlatFunction, kind
from litefuse.frontends.saved_model.control_flow.region import Arguments, Region
from litefuse.frontends.saved_model.messages import AttrValue, FunctionDef, NameAttrList, NodeDef
from litefuse.frontends.saved_model.nodes import control_inputs, data_inputs, node_of

Frame = tuple[str, ...]


def loops_to_while(function: FlatFunction, symbol: Callable[[str], str]) -> list[FunctionDef]:
    """Replaces each loop by a While, the inner ones first.

    Args:
        function: The function; it is changed.
        symbol: Makes a unique function name from the given one.

    Returns:
        The bodies and the conditions.

    Raises:
        GraphError: A frame is not a loop of this form.
    """
    members: defaultdict[Frame, list[str]] = defaultdict(list)
    for name, frame in _frames(function).items():
        members[frame].append(name)
    made: list[FunctionDef] = []
    for frame in sorted((frame for frame in members if frame), key=len, reverse=True):
        node, functions = _Loop.of(function, frame[-1], members[frame]).to_while(symbol)
        members[frame[:-1]].append(node)
        made += functions
    function.prune()
    return made


def _frames(function: FlatFunction) -> dict[str, Frame]:
    """Returns each node's frame as the names of all enclosing frames; an Exit belongs to the loop that it leaves."""
    outputs: dict[str, Frame] = {}
    frames: dict[str, Frame] = {}
    for name in function.order():
        node = function.nodes[name]
        frame = max((outputs[name] for name in map(node_of, node.input) if name in outputs), key=len, default=())
        frames[name] = outputs[name] = frame
        if kind(node) == "Enter":
            frames[name] = outputs[name] = (*frame, node.attr["frame_name"].s.decode(errors="replace"))
        elif kind(node) == "Exit":
            outputs[name] = frame[:-1]
    return frames


@dataclass(frozen=True)
class _Variable:
    """A loop variable.

    Attributes:
        merge: The Merge whose output is its value in each iteration.
        first: The tensor outside the loop that is its initial value.
        next: The tensor of the body that is its next value.
        waits: The nodes that must run before the next iteration.
    """

    merge: str
    first: str
    next: str
    waits: tuple[str, ...]


@dataclass(frozen=True)
class _Loop:
    """A loop without nested loops; its members are all nodes of the frame, in the function's order."""

    outer: FlatFunction
    frame: str
    members: dict[str, None]
    condition: NodeDef
    variables: list[_Variable]

    @classmethod
    def of(cls, outer: FlatFunction, frame: str, members: list[str]) -> _Loop:
        belongs = set(members)
        present = {name: None for name in outer.nodes if name in belongs}
        conditions = [outer.nodes[name] for name in present if kind(outer.nodes[name]) == "LoopCond"]
        if len(conditions) != 1:
            raise GraphError(
                f"the loop {frame!r} has {len(conditions)} conditions, not one", where=outer.where(members[0])
            )
        variables = [
            variable
            for name in present
            if kind(outer.nodes[name]) == "Merge" and (variable := _variable(outer, frame, name)) is not None
        ]
        return cls(outer, frame, present, conditions[0], variables)

    def to_while(self, symbol: Callable[[str], str]) -> tuple[str, tuple[FunctionDef, FunctionDef]]:
        """Replaces the loop by a While; returns its name, its body and its condition."""
        outer = self.outer
        arguments = Arguments(outer, {f"{variable.merge}:0": variable.merge for variable in self.variables})
        border = {
            *(variable.merge for variable in self.variables),
            *(name for name in self.members if kind(outer.nodes[name]) in {"Enter", "LoopCond"}),
            *(name for name in self.members if self._leaves_or_repeats(outer.nodes[name])),
        }
        inside = self.members.keys() - border
        body, condition = (Region(outer, arguments, inside, border, self._alias) for _ in range(2))
        condition.take(data_inputs(self.condition), control_inputs(self.condition))
        body.take(
            [variable.next for variable in self.variables],
            [name for variable in self.variables for name in variable.waits],
        )
        captured = list(arguments.names)[len(self.variables) :]
        body.take(captured)
        name = outer.fresh(self.condition.name.rpartition("/")[0] or "while")
        functions = body.function(symbol(f"{name}_body")), condition.function(symbol(f"{name}_cond"))
        inputs = [*(variable.first for variable in self.variables), *captured]
        enters = [outer.nodes[member] for member in self.members if kind(outer.nodes[member]) == "Enter"]
        waits = {*body.waits, *condition.waits}.union(*map(control_inputs, enters))
        node = NodeDef(
            name=name,
            op="While" if any(function.signature.is_stateful for function in functions) else "StatelessWhile",
            input=[
                *inputs,
                *(f"^{wait}" for wait in sorted(waits - self.members.keys() - {*map(node_of, inputs)})),
            ],
        )
        node.attr["T"].CopyFrom(arguments.types())
        node.attr["output_shapes"].list.CopyFrom(AttrValue.ListValue(shape=arguments.shapes()))
        for key, called in zip(("body", "cond"), functions, strict=True):
            node.attr[key].CopyFrom(AttrValue(func=NameAttrList(name=called.signature.name)))
        node.attr["parallel_iterations"].i = enters[0].attr["parallel_iterations"].i or 10
        exits = {member: self._exit(member) for member in self.members if kind(outer.nodes[member]) == "Exit"}
        outer.replace([*self.members], node)
        outer.rename(
            {f"{exit_}:0": f"{name}:{position}" for exit_, position in exits.items()}, dict.fromkeys(exits, name)
        )
        return name, functions

    def _alias(self, tensor: str) -> str | None:
        """Returns the tensor that a tensor of the frame equals in every iteration, if there is one."""
        node = self.outer.nodes.producer(tensor)
        if node is None or node.name not in self.members:
            return None
        if kind(node) == "Enter":
            if not node.attr["is_constant"].b:
                raise GraphError(
                    f"what enters the loop {self.frame!r} is used in its first iteration only",
                    where=self.outer.where(node.name),
                )
            return node.input[0]
        if kind(node) == "LoopCond" or (self._leaves_or_repeats(node) and tensor.endswith(":1")):
            return node.input[0]
        return None

    def _leaves_or_repeats(self, node: NodeDef) -> bool:
        """Whether a node is a Switch between the next iteration and the loop's exit."""
        return kind(node) == "Switch" and data_inputs(node)[1] == f"{self.condition.name}:0"

    def _exit(self, name: str) -> int:
        """Returns the index of the loop variable that an Exit outputs."""
        tensor = self.outer.nodes[name].input[0]
        node = self.outer.nodes.producer(tensor)
        if node is not None and self._leaves_or_repeats(node) and tensor.endswith(":0"):
            for position, variable in enumerate(self.variables):
                if node.input[0] == f"{variable.merge}:0":
                    return position
        raise GraphError(f"it does not return a variable of the loop {self.frame!r}", where=self.outer.where(name))


def _variable(outer: FlatFunction, frame: str, merge: str) -> _Variable | None:
    """Returns the loop variable of a Merge; None for a Merge that joins branches."""
    producers = [outer.nodes.producer(tensor) for tensor in data_inputs(outer.nodes[merge])]
    sources = {kind(node): node for node in producers}
    enter, repeat = sources.get("Enter"), sources.get("NextIteration")
    if repeat is None:
        return None
    if enter is None or len(producers) != 2:
        raise GraphError(f"it joins no Enter with a NextIteration in the loop {frame!r}", where=outer.where(merge))
    return _Variable(merge, enter.input[0], repeat.input[0], tuple(control_inputs(repeat)))
