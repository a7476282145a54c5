"""Infers shapes and small integers through a whole module: every op once, loops until a fixed point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from litefuse.errors import GraphError
from litefuse.ir.attributes import WITHHELD
from litefuse.ir.locations import node_name
from litefuse.ir.ops.dims import Formula, as_size
from litefuse.ir.ops.facts import INTEGERS, Op, PartialTensor, ShapeError, Tensor, Values, array_of, meet, text
from litefuse.ir.ops.results import results_of
from litefuse.ir.ops.rules import RULES
from litefuse.ir.shapes.graph import Function, ModuleGraph, Node

# Loop variables are widened as they change; after this many iterations, all of them at once.
_PATIENCE = 6


class Inference:
    """Infers the facts about every value of a module.

    Attributes:
        graph: The module, in which each called function has one caller.
        tensors: What is known of each value; None for values of unreachable functions.
        visited: The reachable functions, by symbol.
    """

    def __init__(self, graph: ModuleGraph) -> None:
        self.graph = graph
        self.tensors: list[Tensor | None] = [None] * len(graph.values)
        self.visited: dict[str, Function] = {}
        self._declared: list[Tensor | None] = [None] * len(graph.values)

    def run(self) -> None:
        """Infers every function without callers, and their callees.

        Raises:
            GraphError: Shapes contradict each other.
        """
        functions = self.graph.functions
        called = {
            symbol
            for function in functions.values()
            for node in function.nodes
            for symbol in node.callees
            if node.name != "tfl.custom"
        }
        for symbol, function in functions.items():
            if symbol not in called:
                self._function(function, [None] * len(function.arguments))

    def tensor(self, value: int) -> Tensor:
        """Returns what is known of a value of a reachable function."""
        tensor = self.tensors[value]
        assert tensor is not None
        return tensor

    def _function(self, function: Function, arguments: Sequence[Tensor | None]) -> list[Tensor]:
        self.visited[function.symbol] = function
        for value, tensor in zip(function.arguments, self._entered(function, arguments), strict=True):
            self.tensors[value] = tensor
        for node in function.nodes:
            try:
                self._node(node)
            except ShapeError as error:
                raise self._error(function, node, error) from None
        return [self.tensor(value) for value in function.returned]

    def _entered(self, function: Function, arguments: Sequence[Tensor | None]) -> list[Tensor]:
        """Returns what is known of a function's arguments from their types and from the call."""
        tensors: list[Tensor] = []
        for position, (value, given) in enumerate(zip(function.arguments, arguments, strict=True)):
            try:
                tensors.append(self._declared_tensor(value) if given is None else self._merged(value, given))
            except ShapeError as error:
                raise GraphError(f"argument {position}: {error}", where=f"function {function.symbol}") from None
        return tensors

    def _node(self, node: Node) -> None:
        is_call = node.callees and node.name != "tfl.custom"  # a composite's decomposition has many callers
        results = self._call(node) if is_call else self._by_rules(node)
        for value, tensor in zip(node.results, results, strict=True):
            self.tensors[value] = self._declared_tensor(value) if tensor is None else self._merged(value, tensor)

    def _by_rules(self, node: Node) -> Sequence[PartialTensor | None]:
        name = node.name.removesuffix(WITHHELD)
        if name not in RULES:
            return [None] * len(node.results)
        operands = [self.tensor(value) for value in node.operands]
        results = [self._declared_tensor(value) for value in node.results]
        rules = results_of(Op(name, operands, results, node.attributes))
        if name == node.name:
            return rules
        # A kernel is to compute the values: nothing else may take its place.
        return [
            None if result is None or result.shape is None else PartialTensor(result.shape, None) for result in rules
        ]

    def _declared_tensor(self, value: int) -> Tensor:
        tensor = self._declared[value]
        if tensor is None:
            tensor = self._declared[value] = self.graph.tensor(value)
        return tensor

    def _merged(self, value: int, inferred: PartialTensor | Tensor) -> Tensor:
        declared = self.graph.declared[value]
        common = meet(inferred.shape, declared.shape)
        for elements in (inferred.values, inferred.numbers):
            if elements is not None:
                common = meet(common, elements.shape)
        if common is None:
            return Tensor(declared.dtype, None)
        shape = tuple(
            self.graph.size_symbol(value, axis) if size is None else as_size(size) for axis, size in enumerate(common)
        )
        values = inferred.values
        if values is None and declared.dtype in INTEGERS:
            values = self.graph.element_symbols(value, shape)
        return Tensor(declared.dtype, shape, values, inferred.numbers)

    def _error(self, function: Function, node: Node, error: ShapeError) -> GraphError:
        operands = ", ".join(_text(self.tensor(operand)) for operand in node.operands)
        results = ", ".join(_text(self._declared_tensor(result)) for result in node.results)
        return GraphError(
            f"the op {node.name} cannot be computed: {error}; its operands are {operands or 'none'}, its results are "
            f"declared as {results or 'none'}",
            where=f"function {function.symbol}, node {node_name(node.op.location) or node.op.location}",
            hint="Check the shapes that you gave, or the model.",
        )

    def _call(self, node: Node) -> Sequence[Tensor | None]:
        operands = [self.tensor(value) for value in node.operands]
        callees = [self.graph.functions[symbol] for symbol in node.callees if symbol in self.graph.functions]
        if len(callees) < len(node.callees):  # a function without a body
            return [None] * len(node.results)
        if node.name == "While":
            return self._loop(node, callees[0], callees[1], operands)
        arguments = [operands] * len(callees)
        if node.name in {"If", "Case"}:
            arguments = [self._in_branch(node, branch, operands[1:]) for branch in range(len(callees))]
            taken = self.branch_taken(node)
            if taken is not None:
                callees, arguments = [callees[taken]], [arguments[taken]]
        results = [self._function(callee, given) for callee, given in zip(callees, arguments, strict=True)]
        return [self._common(value, tensors) for value, *tensors in zip(node.results, *results, strict=True)]

    def _in_branch(self, node: Node, branch: int, operands: Sequence[Tensor]) -> list[Tensor]:
        """Returns the arguments of a branch, in which the condition of an ``If`` is known."""
        condition = self.tensor(node.operands[0])
        if node.name == "Case" or condition.dtype != "i1" or condition.shape != ():
            return list(operands)
        here = condition._replace(values=array_of([int(not branch)], []))
        return [
            here if value == node.operands[0] else operand
            for value, operand in zip(node.operands[1:], operands, strict=True)
        ]

    def branch_taken(self, node: Node) -> int | None:
        """Returns the index of the branch that an ``If`` always takes; None if that is dynamic, or for a ``Case``."""
        number = _only_number(self.tensor(node.operands[0])) if node.name == "If" else None
        return None if number is None else int(not number)

    def _common(self, value: int, tensors: Sequence[Tensor]) -> Tensor:
        """Merges what all branches say of a result."""
        first, *others = tensors
        shape, values, numbers = first.shape, first.values, first.numbers
        for other in others:
            if shape is None or other.shape is None or len(shape) != len(other.shape):
                return Tensor(first.dtype, None)
            shape = tuple(
                size if size == another else self.graph.size_symbol(value, axis)
                for axis, (size, another) in enumerate(zip(shape, other.shape, strict=True))
            )
            values = values if _equal_values(values, other.values) else None
            numbers = numbers if _equal_values(numbers, other.numbers) else None
        return Tensor(first.dtype, shape, values, numbers)

    def _loop(self, node: Node, condition: Function, body: Function, operands: Sequence[Tensor]) -> list[Tensor]:
        """Returns the loop variables after any number of iterations.

        What is known of a variable before the loop holds in every iteration if the body preserves it. What the body
        changes becomes unknown and is propagated through the body again, until nothing changes.
        """
        turn = 0
        state = self._entered(body, operands)
        while True:
            returned = self._function(body, state)
            everything = turn >= _PATIENCE
            widened = [
                self._widened(value, before, after, everything=everything)
                for value, before, after in zip(body.arguments, state, returned, strict=True)
            ]
            widened = self._entered(body, widened)
            if all(map(_equal, state, widened)):
                break
            state, turn = widened, turn + 1
        self._function(condition, state)
        return [
            self._afterwards(argument, result) for argument, result in zip(body.arguments, node.results, strict=True)
        ]

    def _widened(self, argument: int, before: Tensor, after: Tensor, *, everything: bool) -> Tensor:
        """Returns a loop variable with symbols in place of what an iteration changes."""
        if before.shape is None or after.shape is None or len(before.shape) != len(after.shape):
            return Tensor(before.dtype, None)
        shape = tuple(
            size if size == new and not everything else self.graph.size_symbol(argument, axis)
            for axis, (size, new) in enumerate(zip(before.shape, after.shape, strict=True))
        )
        values = before.values
        if values is not None and not _equal_values(values, after.values):
            symbols = self.graph.element_symbols(argument, shape)
            if symbols is not None and after.values is not None and after.values.shape == values.shape:
                symbols = np.where(values == after.values, values, symbols)
            values = symbols
        numbers = before.numbers if _equal_values(before.numbers, after.numbers) else None
        return Tensor(before.dtype, shape, values, numbers)

    def _afterwards(self, argument: int, result: int) -> Tensor:
        """Returns a loop variable after the loop, with other symbols than in the body for what changes."""
        inside = self.tensor(argument)
        if inside.shape is None:
            return Tensor(inside.dtype, None)
        graph = self.graph
        shape = tuple(
            graph.size_symbol(result, axis) if size == graph.size_symbol(argument, axis) else size
            for axis, size in enumerate(inside.shape)
        )
        values = inside.values
        symbols = graph.element_symbols(argument, inside.shape)
        outside = graph.element_symbols(result, inside.shape)
        if values is not None and symbols is not None and outside is not None:
            values = np.asarray(np.where(values == symbols, outside, values), object)
        return Tensor(inside.dtype, shape, values, inside.numbers)


def _only_number(tensor: Tensor) -> int | None:
    """Returns the value of a known scalar."""
    if tensor.values is None or tensor.values.shape:
        return None
    element = tensor.values.item()
    return None if isinstance(element, Formula) else element


def _equal(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and _equal_values(a.values, b.values) and _equal_values(a.numbers, b.numbers)


def _equal_values(a: Values | None, b: Values | None) -> bool:
    if a is None or b is None:
        return a is b
    return a is b or (a.shape == b.shape and bool(np.all(a == b)))


def _text(tensor: Tensor) -> str:
    """A tensor's type for messages, such as ``f32[?,28]``."""
    return f"{tensor.dtype} {text(None)}" if tensor.shape is None else f"{tensor.dtype}{text(tensor.shape)}"
