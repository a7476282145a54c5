"""Inlines function calls of a TensorFlow graph, so that each node's value can be read.

Works on TensorFlow's own messages (graph.proto, function.proto), in the process with TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from litefuse.frontends.saved_model.nodes import inlined_name

_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
# Between these, TensorFlow 1's control flow nodes compute in a loop, or not at all.
_OPENING = frozenset({"Enter", "RefEnter", "Switch", "RefSwitch", "_SwitchN"})
_CLOSING = frozenset({"Exit", "RefExit"})
_MERGING = frozenset({"Merge", "RefMerge"})
_LOOPING = frozenset({"NextIteration", "RefNextIteration"})


@dataclass
class FlatGraph:
    """The graph with calls inlined.

    Attributes:
        definition: The GraphDef.
        nodes: The names of its nodes by the names that they had in their functions, one for each call, and by these
            within the scopes of the calls.
        depths: The length of the longest path from the inputs to each node.
        conditional: The nodes in a loop or a branch of TensorFlow 1: they have no value of their own.
        ends: By the names of calls in the graph itself, the nodes that wait for all that a call does.
        results: By the names of calls in the graph itself, the tensors that they return.
    """

    definition: Any
    nodes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    depths: dict[str, int] = field(default_factory=dict[str, int])
    conditional: set[str] = field(default_factory=set[str])
    ends: dict[str, str] = field(default_factory=dict[str, str])
    results: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def tensor(self, name: str) -> str:
        """Returns the new name of a tensor of the graph itself, ``node:0``."""
        node, _, port = name.partition(":")
        return self.results[node][int(port or 0)] if node in self.results else f"{node}:{port or 0}"


def flatten(graph: Any, definition_of: Callable[[str], Any]) -> FlatGraph:
    """Replaces function calls by the functions' bodies. Loops and branches keep theirs."""
    flat = FlatGraph(type(graph)(versions=graph.versions))
    flat.definition.library.CopyFrom(graph.library)
    _Inlining(flat, {function.signature.name: function for function in graph.library.function}, definition_of).graph(
        graph
    )
    _measure(flat)
    return flat


@dataclass
class _Scope:
    """One body while it is copied.

    Attributes:
        prefix: The prefix of its nodes' names in the graph.
        call: The name of the node that calls it, within the scopes of the calls around.
        nodes: Its nodes, by their names.
        tensors: The replacements of its arguments' and calls' tensors, by their names in the body.
        ends: The replacements of control dependencies on its calls.
        start: The node that waits for the call's control inputs; empty if there are none.
        attributes: The attributes of the call, which types of the body may refer to.
        functions: The functions that it is nested in.
    """

    prefix: str
    call: str
    nodes: Mapping[str, Any]
    tensors: dict[str, list[str]]
    ends: dict[str, str]
    start: str
    attributes: Mapping[str, Any]
    functions: frozenset[str]


@dataclass
class _Inlining:
    flat: FlatGraph
    functions: Mapping[str, Any]
    definition_of: Callable[[str], Any]
    count: int = 0

    def graph(self, graph: Any) -> None:
        scope = _Scope("", "", {node.name: node for node in graph.node}, {}, {}, "", {}, frozenset())
        self._copy(scope, graph.node)
        self.flat.ends, self.flat.results = scope.ends, scope.tensors

    def _copy(self, scope: _Scope, nodes: Sequence[Any]) -> None:
        calls = {node.name: name for node in nodes if (name := self._callee(node, scope)) is not None}
        for node in _operands_first(nodes, set(calls)):
            if node.name in calls:
                self._call(scope, node, self.functions[calls[node.name]])
                continue
            copy = self.flat.definition.node.add()
            copy.op, copy.name = node.op, scope.prefix + node.name
            copy.input.extend(self._inputs(scope, node))
            for key, value in node.attr.items():
                if key != "_class":  # names nodes to be colocated with
                    placeholder = value.placeholder if value.WhichOneof("value") == "placeholder" else ""
                    copy.attr[key].CopyFrom(scope.attributes.get(placeholder, value) if placeholder else value)
            if scope.prefix and "frame_name" in copy.attr:
                copy.attr["frame_name"].s = scope.prefix.encode() + copy.attr["frame_name"].s
            for name in {node.name: None, inlined_name(node.name, scope.call): None}:
                self.flat.nodes.setdefault(name, []).append(copy.name)

    def _callee(self, node: Any, scope: _Scope) -> str | None:
        """Returns the name of the function that a node calls; None if there is none, or it is recursive."""
        name: str = node.attr["f"].func.name if node.op in _CALLS else node.op
        return name if name in self.functions and name not in scope.functions else None

    def _call(self, scope: _Scope, node: Any, function: Any) -> None:
        self.count += 1
        prefix = f"litefuse.call.{self.count}/"
        inputs = self._inputs(scope, node)
        waits, given = (
            [input_ for input_ in inputs if input_[0] == "^"],
            [input_ for input_ in inputs if input_[0] != "^"],
        )
        start = self._waiting(f"{prefix}start", waits) if waits else ""
        tensors = {arg.name: [value] for arg, value in zip(function.signature.input_arg, given, strict=True)}
        attributes = dict((node.attr["f"].func if node.op in _CALLS else node).attr.items())
        body = {inner_node.name: inner_node for inner_node in function.node_def}
        functions = scope.functions | {function.signature.name}
        inner = _Scope(prefix, inlined_name(node.name, scope.call), body, tensors, {}, start, attributes, functions)
        self._copy(inner, function.node_def)
        results = [self._tensor(inner, function.ret[arg.name]) for arg in function.signature.output_arg]
        controls = [self._wait(inner, control) for control in function.control_ret.values()]
        scope.tensors[node.name] = results
        ends = [*dict.fromkeys([*controls, *(f"^{result.partition(':')[0]}" for result in results)])]
        scope.ends[node.name] = self._waiting(f"{prefix}end", ends or waits)
        self.flat.nodes.setdefault(node.name, [])

    def _waiting(self, name: str, waits: Iterable[str]) -> str:
        copy = self.flat.definition.node.add()
        copy.op, copy.name = "NoOp", name
        copy.input.extend(waits)
        return name

    def _inputs(self, scope: _Scope, node: Any) -> list[str]:
        inputs = [self._wait(scope, name[1:]) if name[0] == "^" else self._tensor(scope, name) for name in node.input]
        # The nodes of the arguments do not wait for the call's control inputs, so every node of the body does.
        waits = dict.fromkeys(input_ for input_ in inputs if input_[0] == "^")
        if scope.start:
            waits[f"^{scope.start}"] = None
        return [*(input_ for input_ in inputs if input_[0] != "^"), *waits]

    def _wait(self, scope: _Scope, name: str) -> str:
        if name in scope.ends:
            return f"^{scope.ends[name]}"
        if name in scope.nodes:
            return f"^{scope.prefix}{name}"
        return f"^{scope.tensors[name][0].partition(':')[0]}"  # an argument

    def _tensor(self, scope: _Scope, name: str) -> str:
        """Returns the replacement of a tensor: ``node:1`` in a graph, ``argument``, ``node:output:1`` in a function."""
        node, *rest = name.split(":")
        if not scope.prefix:
            port = int(rest[0]) if rest else 0
        elif not rest:
            return scope.tensors[node][0]
        elif node in scope.tensors and len(rest) == 1:  # an argument may be written so
            port = int(rest[0])
        else:
            port = self._port(scope.nodes[node], scope, rest[0], int(rest[1]))
        return scope.tensors[node][port] if node in scope.tensors else f"{scope.prefix}{node}:{port}"

    def _port(self, node: Any, scope: _Scope, output: str, index: int) -> int:
        """Returns the number of an output among all outputs of a node."""
        function = self.functions.get(node.op)
        definition = self.definition_of(node.op) if function is None else function.signature
        port = 0
        for arg in definition.output_arg:
            if arg.name == output:
                return port + index
            port += _length(node, arg, scope.attributes)
        raise KeyError(f"{node.name} ({node.op}) has no output {output!r}")


def _length(node: Any, arg: Any, attributes: Mapping[str, Any]) -> int:
    """Returns how many tensors an output consists of."""
    key = arg.number_attr or arg.type_list_attr
    if not key:
        return 1
    value = node.attr[key]
    if value.WhichOneof("value") == "placeholder":
        value = attributes[value.placeholder]
    return value.i if arg.number_attr else len(value.list.type)


def _source(name: str) -> str:
    return name.lstrip("^").partition(":")[0]


def _operands_first(nodes: Sequence[Any], calls: set[str]) -> Iterator[Any]:
    """Yields the nodes, users of calls after the calls: a call's replacement is known once the call is copied."""
    by_name = {node.name: node for node in nodes}
    if not calls:
        yield from nodes
        return
    for name in in_order({name: [_source(input_) for input_ in node.input] for name, node in by_name.items()}):
        yield by_name[name]


def in_order(operands: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yields names, each after its operands; a cycle begins with any of its names."""
    seen: set[str] = set()
    for first in operands:
        if first in seen:
            continue
        seen.add(first)
        pending = [(first, iter(operands[first]))]
        while pending:
            name, rest = pending[-1]
            operand = next((input_ for input_ in rest if input_ in operands and input_ not in seen), None)
            if operand is None:
                pending.pop()
                yield name
            else:
                seen.add(operand)
                pending.append((operand, iter(operands[operand])))


def _measure(flat: FlatGraph) -> None:
    """Computes the depths of nodes, and finds those that are conditional."""
    nodes = {node.name: node for node in flat.definition.node}
    # A loop's back edge is its NextIteration, which has no inputs here.
    inputs = {name: () if node.op in _LOOPING else tuple(node.input) for name, node in nodes.items()}
    levels: dict[str, int] = {}
    for name in in_order({name: [_source(input_) for input_ in given] for name, given in inputs.items()}):
        node = nodes[name]
        known = [input_ for input_ in inputs[name] if _source(input_) in levels]
        flat.depths[name] = 1 + max((flat.depths[_source(input_)] for input_ in known if input_[0] != "^"), default=0)
        levels[name] = max((levels[_source(input_)] for input_ in known), default=0)
        if node.op in _LOOPING or (node.op in _OPENING and not _leaves_loop(node, nodes)):
            levels[name] += 1
        elif node.op in _CLOSING or (node.op in _MERGING and not _begins_loop(node, nodes)):
            levels[name] -= 1
    flat.conditional = {name for name, level in levels.items() if level > 0}


def _leaves_loop(node: Any, nodes: Mapping[str, Any]) -> bool:
    """Whether a Switch belongs to a loop, which ends with Exit instead of Merge."""
    return len(node.input) > 1 and nodes[_source(node.input[1])].op == "LoopCond"


def _begins_loop(merge: Any, nodes: Mapping[str, Any]) -> bool:
    return any(nodes[_source(input_)].op in _LOOPING for input_ in merge.input)
